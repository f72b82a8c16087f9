"""Pairs of a list by how two sets of values order them; all lists at once.

Labels and places are packed into one integer for each item. A sort of these integers brings the
places into the order of the labels; then inversions are counted.
"""

import numpy as np

from .._lists import batches

_COMPARED = 32  # items of which all pairs are compared
_COMPARED_MANY, _MANY = 255, 100  # in many lists of one length; counts of a column fit 8 bits
_CHUNK = 2**18  # entries that are counted at once
_MAX_GRADES = 2**12  # labels that are whole numbers below it are codes as they are


def pair_counts(y, scores, lists):
    """Pairs of each list by how y and the scores order them.

    Parameters
    ----------
    y, scores : ndarray of shape (n_rows,)
        Grouped.
    lists : RankingLists

    Returns
    -------
    discordant, tied_scores, tied_labels, tied_both : ndarrays of shape (n_lists,)
        Pairs ordered strictly the opposite way; pairs tied in the scores, in y, in both.
    """
    counts = np.empty((4, lists.n_lists))
    width = _widths(lists)
    for w in np.unique(width):
        members = np.flatnonzero(width == w)
        for some in batches(len(members), w, _CHUNK):
            of = members[some]
            lengths = lists.lengths[of][:, np.newaxis]
            # what fills a row up has the label and the score of its last item, until it is sorted
            rows = lists.starts[of][:, np.newaxis] + np.minimum(np.arange(w), lengths - 1)
            counts[:, of] = _counts_of_rows(np.take(y, rows), np.take(scores, rows), lengths)
    return counts


def _widths(lists):
    """Number of columns of the matrix of lists: a power of two if rows are halved."""
    lengths, r = lists.lengths, lists.common_length
    if r is not None and r <= (_COMPARED_MANY if lists.n_lists >= _MANY else _COMPARED):
        return lengths
    return np.maximum(2 ** np.ceil(np.log2(lengths)).astype(np.intp), _COMPARED)


def _counts_of_rows(y, scores, lengths):
    """`pair_counts` of the rows of matrices, which are filled up at their ends."""
    width = y.shape[1]
    is_item = None if np.all(lengths == width) else np.arange(width) < lengths
    codes, n_codes = _codes(y)
    if is_item is not None:
        scores = np.where(is_item, scores, -np.inf)
    order = np.argsort(scores, axis=1)[:, ::-1]
    codes = np.take_along_axis(codes, order, axis=1)
    tied = _equal_before(np.take_along_axis(scores, order, axis=1), is_item)
    tied_scores, tied_both = _tied_pairs(tied), np.zeros(len(y))
    if tied_scores.any():  # among equal scores the better label first, which is not discordant
        highest = codes.dtype.type(2 ** (n_codes - 1).bit_length() - 1)
        bits = codes.dtype.type(int(highest).bit_length())
        keys = (np.cumsum(~tied, axis=1, dtype=codes.dtype) << bits) | (highest - codes)
        if is_item is not None:
            keys[~is_item] = np.iinfo(keys.dtype).max
        keys.sort(axis=1)
        tied_both = _tied_pairs(_equal_before(keys, is_item))
        codes = highest - (keys & highest)
    # The order is by label, and equal labels by descending place: only discordant pairs are
    # inverted.
    bits = codes.dtype.type(int(width).bit_length())
    keys = (codes << bits) | np.maximum(lengths - 1 - np.arange(width), 0).astype(codes.dtype)
    if is_item is not None:
        keys[~is_item] = np.iinfo(keys.dtype).max
    keys.sort(axis=1)
    tied_labels = _tied_pairs(_equal_before(keys >> bits, is_item))
    places = keys & ((codes.dtype.type(1) << bits) - codes.dtype.type(1))
    if is_item is not None:
        np.copyto(places, np.arange(width, dtype=places.dtype), where=~is_item)
    return inversions(places), tied_scores, tied_labels, tied_both


def _codes(y):
    """Codes 0, 1, ... in the order of the labels, in each row, and how many at most."""
    low, width = y.min(), y.shape[1]
    codes = y - low
    highest = codes.max()
    if highest < _MAX_GRADES and np.array_equal(codes, np.floor(codes)):
        n_codes = int(highest) + 1
        codes = codes.astype(_unsigned(n_codes, width))
    else:
        order = np.argsort(y, axis=1)
        new = ~_equal_before(np.take_along_axis(y, order, axis=1))
        n_codes = width
        codes = np.empty(y.shape, dtype=_unsigned(n_codes, width))
        np.put_along_axis(codes, order, np.cumsum(new, axis=1, dtype=codes.dtype) - 1, axis=1)
    return codes, n_codes


def _unsigned(n_codes, width):
    """The type that holds a code together with a place or a block of ties."""
    return np.uint32 if n_codes.bit_length() + int(width).bit_length() < 32 else np.uint64


def _equal_before(ordered, is_item=None):
    """Whether each entry equals the entry before it in its row."""
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
    return np.bincount(starts // equal.shape[1], weights=m * (m - 1.0) / 2.0, minlength=len(equal))


def inversions(values):
    """Number of pairs i < j with values[i] > values[j], in each row.

    Long rows are halved into larger and smaller values, which keep their order. The places of the
    smaller values say how often a larger value stands before a smaller one. All pairs of what is
    left are compared.

    Parameters
    ----------
    values : ndarray of int, shape (n, width)
        Each row a permutation of 0, ..., width - 1; a width beyond 255 is a power of two.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.target_losses._pair_counts import inversions
    >>> inversions(np.array([[0, 1, 2], [2, 0, 1]]))
    array([0., 2.])
    """
    n, width = values.shape
    count = np.zeros(n)
    while width > _COMPARED and width & (width - 1) == 0:
        half = width // 2
        is_small = values < half
        small = np.flatnonzero(is_small)
        large = np.flatnonzero(~is_small)
        # sum of the places in its group, less those that the smaller ones would have in front
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
