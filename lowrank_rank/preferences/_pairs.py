"""Pairs of documents of the same list: which they are, what they weigh, their features."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from ..regression._any_regressor import round_significant
from ..regression._encoding import LIST_WEIGHTS


@dataclass(frozen=True)
class Pairs:
    """Pairs (first, second) of rows, each unordered pair once.

    Attributes
    ----------
    first, second : ndarray of int, shape (m,)
        Rows of X.
    targets : ndarray of shape (m,)
        Net preference for the first.
    weights : ndarray of shape (m,)
    n_all : int
        Number of pairs before any sampling.
    """

    first: np.ndarray
    second: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_all: int


def pairs_within(lists, y, weights, loss, factors, max_pairs, rng):
    """All pairs of each list, or a uniform sample of them.

    A sample's weights are scaled up to the total.

    Parameters
    ----------
    lists : RankingLists
    y, weights : ndarray of shape (n_rows,)
        In the order of the rows; weights > 0.
    loss : PairwiseDisagreement
    factors : ndarray of shape (n_lists,)
        From `pair_factors`: the pair i, j of a list weighs ``w_i w_j`` times that of its list.
    max_pairs : int or None
    rng : RandomState

    Returns
    -------
    Pairs
    """
    counts = lists.lengths * (lists.lengths - 1) // 2
    ends = np.cumsum(counts)
    total = int(ends[-1])
    if max_pairs is None or total <= max_pairs:
        code = np.arange(total)
    else:
        code = np.sort(sample_without_replacement(total, max_pairs, random_state=rng))
    index = np.searchsorted(ends, code, side="right")
    i, j = pair_of_code(code - (ends - counts)[index])
    rows = np.arange(lists.n_rows) if lists.order is None else lists.order
    first, second = rows[lists.starts[index] + i], rows[lists.starts[index] + j]
    scale = total / max(len(code), 1)
    return Pairs(
        first,
        second,
        loss.net_preference(y[first], y[second]),
        weights[first] * weights[second] * factors[index] * scale,
        total,
    )


def pair_factors(lists, weights, list_weights, *, bits=None):
    """What the products of row weights in each list are multiplied by, (n_lists,).

    One over the total weight W of the list, times the weight of the list: constant row weights
    are then list weights, and a row of weight 2 counts as the row twice. `bits` rounds to so many
    significant ones, by which sums of weights are exact.
    """
    mass = lists.sum(lists.group(weights))
    factors = lists.lengths.astype(float) ** LIST_WEIGHTS[list_weights] / mass
    return factors if bits is None else round_significant(factors, bits)


def pair_of_code(code):
    """The pair i < j with code ``j (j-1) / 2 + i``."""
    j = ((1.0 + np.sqrt(1.0 + 8.0 * code)) / 2.0).astype(np.intp)
    j -= j * (j - 1) // 2 > code  # the root may be rounded up, or down
    j += (j + 1) * j // 2 <= code
    return code - j * (j - 1) // 2, j


# Features ---------------------------------------------------------------------------


def _difference(a, b):
    return a - b


def _concatenation(a, b):
    return sparse.hstack([a, b], format="csr") if sparse.issparse(a) else np.hstack([a, b])


def _bilinear(a, b):
    if sparse.issparse(a):
        raise ValueError(
            "pair_features='bilinear' with an estimator needs all products of two features, which "
            "are dense: take estimator='ridge' (a low-rank term, sparse X welcome), or dense X."
        )
    i, j = np.triu_indices(a.shape[1], 1)
    return np.hstack([a - b, a[:, i] * b[:, j] - a[:, j] * b[:, i]])


#: Features of a pair of rows by name; "bilinear" are differences and exterior products.
PAIR_FEATURES = {
    "difference": _difference,
    "concatenation": _concatenation,
    "bilinear": _bilinear,
}


def pair_features(kind, a, b):
    """Features (m, k) of pairs of rows, by name or by the user's function."""
    if not callable(kind):
        return PAIR_FEATURES[kind](a, b)
    features = kind(a, b)
    shape = np.shape(features)
    if len(shape) != 2 or shape[0] != a.shape[0]:
        raise ValueError(
            f"pair_features must return an array of shape ({a.shape[0]}, n), one row for each "
            f"pair, got shape {shape}."
        )
    return features
