"""Rows in an order that depends on their features alone, not on the order in which they are given.

A row of weight 2 is the row twice: once equal rows are merged and sorted by their features, both
are the same problem to the last bit, whatever the solver. The keys order rows and find copies;
nothing else depends on them.
"""

import numpy as np
from scipy.sparse import issparse

#: Factor of multiplicative hashing: odd, near 2**64 over the golden ratio (Knuth, TAOCP 3, 6.4).
_SCRAMBLE = np.uint64(0x9E3779B97F4A7C15)
_ROUNDED = np.uint64(24)  # bits, of 53


def row_keys(X):
    """A number for each row, the same for equal rows and hardly ever for others.

    The order of the keys is a pseudo-random order of the rows.
    """
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    # The rounding of BLAS depends on the place of a row in its block; that of einsum does not.
    along = X @ direction if issparse(X) else np.einsum("ij,j->i", X, direction)
    bits = (along + 0.0).view(np.uint64) >> _ROUNDED  # sums of sparse rows round differently
    return bits * _SCRAMBLE


def merged_rows(X, labels, weights):
    """Rows of positive weight, sorted, equal ones of equal label as one with their weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    labels : ndarray of int, shape (n_rows,)
    weights : ndarray of shape (n_rows,)

    Returns
    -------
    X, labels, weights
    """
    keys = row_keys(X)
    order = np.lexsort((labels, keys))
    order = order[weights[order] > 0]
    keys, labels, weights = keys[order], labels[order], weights[order]
    again = np.flatnonzero((keys[1:] == keys[:-1]) & (labels[1:] == labels[:-1])) + 1
    again = again[_equal_rows(X, order[again], order[again - 1])]
    is_new = np.ones(len(order), dtype=bool)
    is_new[again] = False
    weights = np.bincount(np.cumsum(is_new) - 1, weights)
    return X[order[is_new]], labels[is_new], weights


def _equal_rows(X, first, second):
    if issparse(X):
        return np.asarray((X[first] != X[second]).sum(axis=1)).ravel() == 0
    return np.all(X[first] == X[second], axis=1)


def copies(weights, n_rows):
    """Copies of each row of a single list, by its weight.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)

    Returns
    -------
    ndarray of int, shape (n_rows,)

    Raises
    ------
    ValueError
        If the weights are neither whole numbers nor all equal.
    """
    if np.all(weights == weights[0]):
        return np.ones(n_rows, dtype=np.intp)
    parts = np.flatnonzero(weights != np.round(weights))
    if len(parts):
        raise ValueError(
            f"sample_weight[{parts[0]}] is {weights[parts[0]]:g}: all rows are one list here, "
            "whose weight means nothing, and the weights of its rows say how often each occurs: "
            "give whole numbers, or qid and one weight for all rows of a list."
        )
    return weights.astype(np.intp)


def list_weights(weights, lists):
    """The weight of each list, which its rows must share."""
    first = weights[lists.starts]
    wrong = np.flatnonzero(weights != lists.spread(first))
    if len(wrong):
        which = lists.index[wrong[0]]
        name = lists.ids.tolist()[which]
        raise ValueError(
            f"sample_weight differs within the list {name!r} ({first[which]:g} and "
            f"{weights[wrong[0]]:g}): the hinge is that of a whole list, whose rows share one "
            "weight. LowRankSurrogateRanker and OrderPreservingRegressor take a weight for each "
            "row."
        )
    return first
