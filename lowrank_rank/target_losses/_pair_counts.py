"""Numbers of discordant and of tied pairs of each list.

One integer for each item holds its label code and its place by score. Sorting these
integers brings the places into the order of the labels, and discordant pairs are
inversions.
"""

import numpy as np

from ..lists._lists import bounded_blocks

_COMPARED = 32  # the width of halved rows at which all pairs are compared


def pair_counts(y, scores, lists, *, max_entries=2**18):
    """Count the pairs of each list by the order of labels and scores, both grouped.

    Returns the pairs in strictly opposite orders, and those tied in the scores, in y,
    in both. About `max_entries` entries are counted at once.
    """
    counts = np.empty((4, lists.n_lists))
    widths = _row_widths(lists)
    for width in np.unique(widths):
        members = np.flatnonzero(widths == width)
        for block in bounded_blocks(len(members), width, max_entries):
            lists_of_block = members[block]
            lengths = lists.lengths[lists_of_block][:, np.newaxis]
            # Padding repeats the last item of a list until it is masked below.
            columns = np.minimum(np.arange(width), lengths - 1)
            items = lists.starts[lists_of_block][:, np.newaxis] + columns
            counts[:, lists_of_block] = _counts_of_rows(
                np.take(y, items), np.take(scores, items), lengths
            )
    return counts


def _row_widths(lists):
    """Choose the width of the matrix row that holds each list.

    Rows of more than 255 columns and ragged lists get a power of two, which
    `inversions` halves.
    """
    r = lists.common_length
    if r is not None and r <= 255:
        return lists.lengths
    powers = 2 ** np.ceil(np.log2(lists.lengths)).astype(np.intp)
    return np.maximum(powers, _COMPARED)


def _counts_of_rows(y, scores, lengths):
    """Compute `pair_counts` of the rows of padded matrices."""
    width = y.shape[1]
    is_item = None
    if not np.all(lengths == width):
        is_item = np.arange(width) < lengths
        scores = np.where(is_item, scores, -np.inf)
    codes, n_codes = _codes(y)
    order = np.argsort(scores, axis=1)[:, ::-1]
    codes = np.take_along_axis(codes, order, axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    is_tied = _equals_left(sorted_scores, is_item)
    tied_scores = _tied_pairs(is_tied)
    tied_both = np.zeros(len(y))
    if tied_scores.any():
        codes, tied_both = _sort_ties(codes, n_codes, is_tied, is_item)
    places, tied_labels = _places_by_label(codes, lengths, is_item)
    return inversions(places), tied_scores, tied_labels, tied_both


def _codes(y):
    """Return codes 0, 1, ... of the labels in each row, and an upper bound of them."""
    width = y.shape[1]
    codes = y - y.min()
    is_small = codes.max() <= np.iinfo(np.uint16).max
    if is_small and np.array_equal(codes, np.floor(codes)):
        # Whole numbers are codes already.
        n_codes = int(codes.max()) + 1
    else:
        n_codes = width
        order = np.argsort(y, axis=1)
        is_new = ~_equals_left(np.take_along_axis(y, order, axis=1))
        codes = np.empty(y.shape, dtype=np.intp)
        np.put_along_axis(codes, order, np.cumsum(is_new, axis=1) - 1, axis=1)
    # One integer must hold a code together with a place.
    fits_32_bits = n_codes.bit_length() + width.bit_length() < 32
    return codes.astype(np.uint32 if fits_32_bits else np.uint64), n_codes


def _sort_ties(codes, n_codes, is_tied, is_item):
    """Sort items of tied scores by descending label: their pairs are not discordant.

    Returns the codes in this order, and the number of pairs tied in scores and labels.
    """
    integer = codes.dtype.type
    # The upper bits of a key are the block of ties, the lower bits the inverted code.
    n_bits = (n_codes - 1).bit_length()
    highest = integer(2**n_bits - 1)
    block = np.cumsum(~is_tied, axis=1, dtype=integer)
    keys = (block << integer(n_bits)) | (highest - codes)
    _sort_keys(keys, is_item)
    tied_both = _tied_pairs(_equals_left(keys, is_item))
    return highest - (keys & highest), tied_both


def _places_by_label(codes, lengths, is_item):
    """Return the place by score of each item in the order of the labels.

    Places count from the worst score. Equal labels stand by ascending place, so that
    only discordant pairs are inversions. Also returns the number of pairs of equal
    labels.
    """
    width = codes.shape[1]
    integer = codes.dtype.type
    # The upper bits of a key are the code, the lower bits the place.
    n_bits = integer(width.bit_length())
    place = np.maximum(lengths - 1 - np.arange(width), 0).astype(integer)
    keys = (codes << n_bits) | place
    _sort_keys(keys, is_item)
    tied_labels = _tied_pairs(_equals_left(keys >> n_bits, is_item))
    places = keys & ((integer(1) << n_bits) - integer(1))
    if is_item is not None:
        # Padding stands last, in order: it does not add inversions.
        columns = np.arange(width, dtype=integer)
        np.copyto(places, columns, where=~is_item)
    return places, tied_labels


def _sort_keys(keys, is_item):
    """Sort each row in place, with padding last."""
    if is_item is not None:
        keys[~is_item] = np.iinfo(keys.dtype).max
    keys.sort(axis=1)


def _equals_left(ordered, is_item=None):
    """Return the mask of the entries that equal their left neighbour."""
    is_equal = np.zeros(ordered.shape, dtype=bool)
    np.equal(ordered[:, 1:], ordered[:, :-1], out=is_equal[:, 1:])
    if is_item is not None:
        is_equal &= is_item
    return is_equal


def _tied_pairs(is_equal):
    """Count the pairs in the runs of equal entries of each row."""
    if not is_equal.any():
        return np.zeros(len(is_equal))
    starts = np.flatnonzero(~is_equal)
    # m (m - 1) / 2 pairs in a run of m entries.
    m = np.diff(starts, append=is_equal.size)
    is_run = m > 1
    row = starts[is_run] // is_equal.shape[1]
    m = m[is_run]
    return np.bincount(row, weights=m * (m - 1.0) / 2.0, minlength=len(is_equal))


def inversions(values):
    """Count the pairs i < j with values[i] > values[j] in each row.

    Each row is a permutation of 0, 1, ... Long rows, of a width that is a power of two,
    are halved. The places of the smaller half of the values show how often a larger
    value stands before a smaller one. Both halves keep their order and are halved
    again, until all pairs of short rows can be compared.
    """
    n, width = values.shape
    count = np.zeros(n)
    while width > _COMPARED and width & (width - 1) == 0:
        half = width // 2
        is_small = values < half
        small = np.flatnonzero(is_small).reshape(-1, half)
        large = np.flatnonzero(~is_small).reshape(-1, half)
        # Compare the sum of the places with their sum if all small values came first.
        first = np.arange(len(values)) * width
        sum_if_first = first * half + half * (half - 1) // 2
        count += (small.sum(axis=1) - sum_if_first).reshape(n, -1).sum(axis=1)
        halves = np.take(values, np.stack([small, large], axis=1))
        # The large values become 0, 1, ... too.
        values = halves.reshape(-1, half) & (half - 1)
        width = half
    return count + _compared_inversions(values).reshape(n, -1).sum(
        axis=1, dtype=np.intp
    )


def _compared_inversions(values):
    """Count the inversions of each short row by comparing all pairs."""
    columns = np.ascontiguousarray(values.T.astype(np.uint8))
    n_inversions = np.zeros(len(values), dtype=np.uint16)
    for distance in range(1, len(columns)):
        is_larger = columns[:-distance] > columns[distance:]
        n_inversions += np.add.reduce(is_larger.view(np.uint8), axis=0, dtype=np.uint8)
    return n_inversions
