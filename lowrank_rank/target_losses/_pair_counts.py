"""Numbers of discordant and of tied pairs of each list.

One integer for each item holds its label code and its place by score. Sorting these
integers brings the places into the order of the labels, and discordant pairs are
inversions.
"""

import numpy as np

from .._lists import bounded_blocks

_COMPARED = 32  # the width of halved rows at which all pairs are compared


def pair_counts(y, scores, lists, *, max_entries=2**18):
    """Count the pairs of each list by the order of labels and scores, both grouped.

    Returns the pairs in strictly opposite orders, and those tied in the scores, in y,
    in both. About `max_entries` entries are counted at once.
    """
    counts = np.empty((4, lists.n_lists))
    # Each list becomes a row of a matrix. `inversions` needs a power of two beyond 255
    # columns.
    r = lists.common_length
    if r is not None and r <= 255:
        widths = lists.lengths
    else:
        widths = np.maximum(
            2 ** np.ceil(np.log2(lists.lengths)).astype(np.intp), _COMPARED
        )
    for width in np.unique(widths):
        members = np.flatnonzero(widths == width)
        for some in bounded_blocks(len(members), width, max_entries):
            of = members[some]
            lengths = lists.lengths[of][:, np.newaxis]
            # Padding repeats the last item of a list until it is masked below.
            rows = lists.starts[of][:, np.newaxis] + np.minimum(
                np.arange(width), lengths - 1
            )
            counts[:, of] = _counts_of_rows(
                np.take(y, rows), np.take(scores, rows), lengths
            )
    return counts


def _counts_of_rows(y, scores, lengths):
    """`pair_counts` of the rows of padded matrices."""
    width = y.shape[1]
    is_item = None if np.all(lengths == width) else np.arange(width) < lengths
    codes, n_codes = _codes(y)
    if is_item is not None:
        scores = np.where(is_item, scores, -np.inf)
    order = np.argsort(scores, axis=1)[:, ::-1]
    codes = np.take_along_axis(codes, order, axis=1)
    tied = _equal_before(np.take_along_axis(scores, order, axis=1), is_item)
    tied_scores, tied_both = _tied_pairs(tied), np.zeros(len(y))
    if (
        tied_scores.any()
    ):  # sort tied items by label, so that their pairs are not discordant
        highest = codes.dtype.type(2 ** (n_codes - 1).bit_length() - 1)
        bits = codes.dtype.type(int(highest).bit_length())
        keys = (np.cumsum(~tied, axis=1, dtype=codes.dtype) << bits) | (highest - codes)
        if is_item is not None:
            keys[~is_item] = np.iinfo(keys.dtype).max
        keys.sort(axis=1)
        tied_both = _tied_pairs(_equal_before(keys, is_item))
        codes = highest - (keys & highest)
    # Sort by label, equal labels by descending place: only discordant pairs become
    # inversions.
    bits = codes.dtype.type(int(width).bit_length())
    keys = (codes << bits) | np.maximum(lengths - 1 - np.arange(width), 0).astype(
        codes.dtype
    )
    if is_item is not None:
        keys[~is_item] = np.iinfo(keys.dtype).max
    keys.sort(axis=1)
    tied_labels = _tied_pairs(_equal_before(keys >> bits, is_item))
    places = keys & ((codes.dtype.type(1) << bits) - codes.dtype.type(1))
    if is_item is not None:
        np.copyto(places, np.arange(width, dtype=places.dtype), where=~is_item)
    return inversions(places), tied_scores, tied_labels, tied_both


def _codes(y):
    """Codes 0, 1, ... of the labels of each row in their order, and an upper bound of them."""
    width = y.shape[1]
    codes = y - y.min()
    if codes.max() <= np.iinfo(np.uint16).max and np.array_equal(
        codes, np.floor(codes)
    ):
        n_codes = int(codes.max()) + 1  # whole numbers are codes already
    else:
        n_codes, order = width, np.argsort(y, axis=1)
        new = ~_equal_before(np.take_along_axis(y, order, axis=1))
        codes = np.empty(y.shape, dtype=np.intp)
        np.put_along_axis(codes, order, np.cumsum(new, axis=1) - 1, axis=1)
    # One integer must hold a code together with a place.
    few = n_codes.bit_length() + width.bit_length() < 32
    return codes.astype(np.uint32 if few else np.uint64), n_codes


def _equal_before(ordered, is_item=None):
    """Mask of the entries that equal their left neighbour."""
    equal = np.zeros(ordered.shape, dtype=bool)
    np.equal(ordered[:, 1:], ordered[:, :-1], out=equal[:, 1:])
    return equal if is_item is None else equal & is_item


def _tied_pairs(equal):
    """Pairs in the runs of equal entries of each row."""
    if not equal.any():
        return np.zeros(len(equal))
    starts = np.flatnonzero(~equal)
    m = np.diff(starts, append=equal.size)
    starts, m = starts[m > 1], m[m > 1]
    return np.bincount(
        starts // equal.shape[1], weights=m * (m - 1.0) / 2.0, minlength=len(equal)
    )


def inversions(values):
    """Number of pairs i < j with values[i] > values[j], in each row, a permutation of 0, 1, ...

    Long rows, of a width that is a power of two, are halved. The places of the smaller
    half of the values show how often a larger value stands before a smaller one. Both
    halves keep their order and are halved again, until all pairs of short rows can be
    compared.
    """
    n, width = values.shape
    count = np.zeros(n)
    while width > _COMPARED and width & (width - 1) == 0:
        half = width // 2
        is_small = values < half
        small = np.flatnonzero(is_small)
        large = np.flatnonzero(~is_small)
        # Compare the sum of the places with their sum if all small values came first.
        base = np.arange(len(values)) * width * half + half * (half - 1) // 2
        count += (small.reshape(-1, half).sum(axis=1) - base).reshape(n, -1).sum(axis=1)
        halves = np.stack([small.reshape(-1, half), large.reshape(-1, half)], axis=1)
        values, width = np.take(values, halves).reshape(-1, half) & (half - 1), half
    columns = np.ascontiguousarray(values.T.astype(np.uint8))
    inside = np.zeros(len(values), dtype=np.uint16)
    for distance in range(1, width):
        is_larger = columns[:-distance] > columns[distance:]
        inside += np.add.reduce(is_larger.view(np.uint8), axis=0, dtype=np.uint8)
    return count + inside.reshape(n, -1).sum(axis=1, dtype=np.intp)
