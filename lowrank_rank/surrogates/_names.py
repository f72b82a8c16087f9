"""The names of the surrogates, and their values at given scores."""

import numpy as np
from sklearn.base import clone

from .._lists import RankingLists, split_target
from ._listwise import BregmanSurrogate, CrossEntropy, half_square, identity
from ._pairwise import PairwiseExponential, PairwiseLogistic, PairwiseSquared, RankNet, RankSVM
from ._template import (
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSmoothHinge,
    PointwiseSquared,
    PointwiseSquaredHinge,
    Surrogate,
)

_ETA = 1.5  # times the largest utility

#: Surrogates by name; the last two are not order-preserving and are there to compare with.
SURROGATES = {
    "pointwise_squared": PointwiseSquared(),
    "pointwise_logistic": PointwiseLogistic(),
    "pointwise_exponential": PointwiseExponential(),
    "pointwise_squared_hinge": PointwiseSquaredHinge(),
    "pointwise_smooth_hinge": PointwiseSmoothHinge(),
    "pairwise_squared": PairwiseSquared(),
    "pairwise_logistic": PairwiseLogistic(),
    "pairwise_exponential": PairwiseExponential(),
    "cross_entropy": CrossEntropy(),
    "bregman_squared": BregmanSurrogate(half_square, identity),
    "ranknet": RankNet(),
    "ranksvm": RankSVM(),
}


def resolve_surrogate(surrogate):
    """A surrogate of one's own, by name or as it is.

    Parameters
    ----------
    surrogate : str or Surrogate

    Returns
    -------
    Surrogate
        A copy.

    Raises
    ------
    ValueError
        If the name is unknown.
    TypeError
        If it is neither a name nor a Surrogate.

    Examples
    --------
    >>> from lowrank_rank.surrogates import resolve_surrogate
    >>> resolve_surrogate("cross_entropy")
    CrossEntropy()
    """
    if isinstance(surrogate, Surrogate):
        return clone(surrogate)
    if not isinstance(surrogate, str):
        raise TypeError(
            f"surrogate must be a name or a Surrogate, got {surrogate!r}. Names: "
            f"{sorted(SURROGATES)}."
        )
    if surrogate not in SURROGATES:
        raise ValueError(f"Unknown surrogate {surrogate!r}: take one of {sorted(SURROGATES)}.")
    return clone(SURROGATES[surrogate])


def surrogate_for(surrogate, v):
    """A surrogate for these utilities, (n,): checked, and with an eta where none is given.

    Of a two-sided pointwise surrogate that comes by name, or with eta=None, eta is 1.5 times the
    largest utility.
    """
    resolved = resolve_surrogate(surrogate)
    named = isinstance(surrogate, str)
    if "eta" in resolved.get_params() and (named or resolved.eta is None):
        largest = float(v.max(initial=0.0))
        resolved.set_params(eta=_ETA * largest if largest > 0 else 1.0)
    resolved.check_utilities(v)
    return resolved


def surrogate_loss(surrogate, v, s, *, qid=None, sample_weight=None):
    """Value of a surrogate at scores s and utilities v, for each list.

    Parameters
    ----------
    surrogate : str or Surrogate
    v, s : array-like of shape (n_rows,) or (n_lists, r)
        Utilities >= 0 and scores.
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of the rows; None is one list.
    sample_weight : array-like of the shape of v, or None, default=None

    Returns
    -------
    ndarray of shape (n_lists,)
        In order of first appearance.

    Raises
    ------
    ValueError
        If shapes differ, numbers are not finite, a matrix comes with a qid, or the surrogate
        cannot take the utilities.

    Examples
    --------
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("pairwise_squared", [[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    array([2.])
    """
    surrogate = resolve_surrogate(surrogate)
    v, qid = split_target(v, qid)
    v, s = np.asarray(v, dtype=np.float64), np.asarray(s, dtype=np.float64)
    weights = np.ones(v.shape) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if v.shape != s.shape or v.shape != weights.shape or v.ndim not in (1, 2):
        raise ValueError(
            f"v, s and sample_weight must have one shape, (n_rows,) or (n_lists, r), got "
            f"{v.shape}, {s.shape} and {weights.shape}."
        )
    finite = np.all(np.isfinite(v)) and np.all(np.isfinite(s)) and np.all(np.isfinite(weights))
    if v.size == 0 or not finite or np.any(weights < 0):
        raise ValueError("v, s and sample_weight >= 0 must be finite numbers, of one row at least.")
    if v.ndim == 2 and qid is not None:
        raise ValueError(f"v of shape {v.shape} holds one list per row and takes no qid.")
    surrogate.check_utilities(v)
    lists = RankingLists.equal(*v.shape) if v.ndim == 2 else RankingLists.from_qid(qid, len(v))
    grouped = (lists.group(array.ravel()) for array in (v, s))
    v, s = grouped
    return surrogate.evaluate(v, s, lists, lists.group(weights.ravel())).values
