"""Linear scores under a surrogate: encoded labels, their summary, and the objective.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = X B' + b

X holds the standardised features. B and b have one row for documents and r rows for
fixed items. The intercepts b have no penalty, and are 0 for documents under a
shift-invariant surrogate. A fit reads its rows as `Blocks` of whole lists: one block in
memory, several on disk, or the futures of a cluster. Sums over the blocks give the
objective.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._arrays import check_finite, numbers
from .._blocks import block_of, check_has_ids, check_new_lists
from .._labels import refuse_unjudged_item, refuse_zero_weights
from .._parameters import check_parameter, number
from ..fitting._encoding import (
    encode_documents,
    encode_items,
    items_decoder,
    mean_normaliser,
)
from ..fitting._lbfgs import lbfgs
from ..fitting._linear_problem import LinearProblem
from ..fitting._ridge import MAX_FEATURES_GRAM
from ..fitting._statistics import Moments, SecondMoments
from ..target_losses._names import names_of, resolve_target_loss
from ._surrogates import checked_values, surrogate_for

_OVERFLOW = "The surrogate overflows where all scores are 0: bring the grades to a smaller scale."

# Read and encode --------------------------------------------------------------------


def read(block, ranker, loss):
    """Read a block against the columns of the first block, which the ranker has."""
    X, y, qid, weights = block_of(block)
    return ranker._read(X, y, qid, weights, loss, reset=False, whole=False)


def encode(rows, loss):
    """`Rows` and the `Encoding` of their labels as utilities."""
    if rows.y.ndim == 1:
        return rows, encode_documents(rows, loss)
    return rows, encode_items(rows.y, loss, items_decoder("sort", loss, rows.y))


def _utilities_and_weights(rows, encoding):
    """Utilities (n, d), not yet times `Summary.unit`, and weights (n, d); unjudged items have 0."""
    judged = ~np.isnan(encoding.targets)
    return np.nan_to_num(encoding.targets), rows.weights[:, np.newaxis] * judged


@dataclass(frozen=True)
class Summary:
    """Sums over all lists, from which the surrogate, the penalty and the scaling follow.

    Attributes
    ----------
    n_items : int or None
        The number of fixed items; None for documents.
    has_qid : bool
    extremes : ndarray of shape (2,)
        Largest utility with a positive weight, and the largest negated utility, without
        the unit.
    features : Moments
    normalisers : ndarray of shape (2,)
        As of `Encoding`.
    n_lists : int
    utility : ndarray of shape (d,)
        Sum of the weights times the utilities of each item, without the unit.
    item_weights : ndarray of shape (d,)
        Sum of the weights of the rows that judge an item.
    unjudged : float
        Sum of the weights of unjudged items.
    """

    n_items: int | None
    has_qid: bool
    extremes: np.ndarray
    features: Moments
    normalisers: np.ndarray
    n_lists: int
    utility: np.ndarray
    item_weights: np.ndarray
    unjudged: float

    @classmethod
    def of(cls, block, earlier_ids):
        """Summarise `Rows` and their `Encoding`; refuse a list with rows in an earlier block."""
        rows, encoding = block
        check_new_lists(rows.ids, earlier_ids)
        v, weights = _utilities_and_weights(*block)
        counted = v[weights > 0]
        with np.errstate(over="ignore"):  # `resolve` refuses grades of such a size
            utility = (weights * v).sum(axis=0)
        return cls(
            n_items=rows.y.shape[1] if rows.y.ndim > 1 else None,
            has_qid=rows.ids is not None,
            extremes=np.array(
                [one.max(initial=-np.inf) for one in (counted, -counted)]
            ),
            features=Moments.of(rows.X, rows.weights, encoding.codes),
            normalisers=np.asarray(encoding.normalisers),
            n_lists=rows.n_lists,
            utility=utility,
            item_weights=weights.sum(axis=0),
            unjudged=float((rows.weights[:, np.newaxis] - weights).sum()),
        )

    def __add__(self, other):
        """Summary of the lists of both."""
        if self.n_items != other.n_items:
            raise ValueError(
                f"Blocks have different layouts, {self.n_items or 'documents'} and "
                f"{other.n_items or 'documents'} (a number counts fixed items)."
            )
        check_has_ids(self.has_qid, other.has_qid)
        sums = (
            "features",
            "normalisers",
            "n_lists",
            "utility",
            "item_weights",
            "unjudged",
        )
        return Summary(
            n_items=self.n_items,
            has_qid=self.has_qid or other.has_qid,
            extremes=np.maximum(self.extremes, other.extremes),
            **{name: getattr(self, name) + getattr(other, name) for name in sums},
        )

    def resolve(self, surrogate):
        """Return the surrogate for these utilities; refuse data in which nothing counts."""
        if not self.features.total > 0:
            refuse_zero_weights()
        if not self.item_weights.all():
            refuse_unjudged_item(f"Column {int(np.argmin(self.item_weights))} of y")
        if not np.isfinite(self.utility.sum()):
            raise ValueError(_OVERFLOW)
        return surrogate_for(surrogate, self.unit * self.extremes * [1.0, -1.0])

    @property
    def unit(self):
        """Factor of all utilities: for documents, the mean normaliser of the measure."""
        return mean_normaliser(self.normalisers)

    def total(self, surrogate):
        """Divisor of the sum over lists, of weights that add up to one: 1, or the mean utility."""
        mean = self.unit * self.utility.sum() / self.item_weights.sum()
        return mean if surrogate.is_proportional and mean > 0 else 1.0

    def units(self, surrogate, alpha):
        """Units (d, p + 1) of theta, 1 or more, in which its entries are about equally curved.

        Under a surrogate proportional to the utilities, the curvature of an item's
        score is about its share of them.
        """
        shares = self.utility / (self.utility.sum() or 1.0)
        if not surrogate.is_proportional:
            shares = np.ones(len(shares))
        least = shares[shares > 1e-6].min(
            initial=1.0
        )  # items without utility may fall without bound
        penalties = alpha * np.append(np.ones(len(self.features.mean)), 0.0)
        curvature = np.maximum(shares, least)[:, np.newaxis] + penalties
        return np.sqrt(curvature.max() / curvature)


# One block --------------------------------------------------------------------------


class ScoreProblem(LinearProblem):
    """Surrogate of a block of lists, as a function of scores or of linear coefficients.

    The `summary` is the one of all blocks. The coefficients are scaled instead of X, so
    no copy of X is made.
    """

    def __init__(self, block, surrogate, summary, scaling):
        v, weights = _utilities_and_weights(*block)
        X = block[0].X
        self.all_lists = self.lists = block[0].lists
        # Weights add up to one over all blocks: pairs take their squares, which could
        # vanish.
        weights = weights / summary.item_weights.sum()
        self.v, self.weights = (
            self.lists.group(a.ravel()) for a in (summary.unit * v, weights)
        )
        self.surrogate, self.shape = surrogate, v.shape
        self.kept: Any = slice(None)
        self.n_alone = 0
        alone = self.lists.lengths == 1
        if (
            surrogate.is_shift_invariant and alone.any()
        ):  # a constant, 0 for all of ours
            self.kept = self.lists.repeat(~alone)
            self.n_alone = int(np.count_nonzero(self.weights[~self.kept]))
            self.lists, _ = self.lists.select(self.kept)
            self.v, self.weights = self.v[self.kept], self.weights[self.kept]
        self.mass = self.lists.sum(self.weights)
        # The sum over pairs grows with the square of the weight: divide it by the
        # weight.
        power = (
            np.maximum(self.mass, np.finfo(float).tiny)
            if surrogate.is_pairwise
            else 1.0
        )
        self.list_factor = (self.mass > 0) / power / summary.total(surrogate)
        self.row_factor = self.lists.repeat(self.list_factor)
        mean, scale = scaling
        is_far = np.abs(mean) > 1e3 * scale  # products would cancel digits
        if is_far.any() and not sparse.issparse(X):
            X, mean = X - np.where(is_far, mean, 0.0), np.where(is_far, 0.0, mean)
        super().__init__(X, v.shape[1], intercept=True, mean=mean, scale=scale)

    def evaluate(self, scores):
        """Mean surrogate of scores (n, d), and its slopes in the scores."""
        slopes = np.zeros(scores.size)
        if not self.lists.n_lists:
            return 0.0, slopes.reshape(self.shape)
        s = self.all_lists.group(scores.ravel())[self.kept]
        losses = checked_values(self.surrogate, self.v, s, self.lists, self.weights)
        slopes[self.kept] = losses.gradient * self.row_factor
        value = float((losses.values * self.list_factor).sum())
        return value, self.all_lists.ungroup(slopes).reshape(self.shape)

    def value_and_gradient(self, theta):
        """Mean surrogate of linear scores, followed by its gradient, in one vector.

        theta holds the coefficients and intercepts, (d, p + 1).
        """
        value, slopes = self.evaluate(self.scores(theta))
        return np.append(value, self.gradient(slopes))

    def squared_bounds(self, loss, unit):
        """Sum of (c C_phi(2))**2 over the lists with a weight, and the number of these lists.

        The sum is nan without a bound: if the surrogate or the measure has none, or if
        the items of a list have different weights, which the measure does not know.
        """
        lists, counts = self.lists, self.mass > 0
        unequal = np.any(self.weights != lists.repeat(self.weights[lists.starts]))
        if unequal or not (self.surrogate.has_bound and loss.is_positional):
            return np.array([np.nan, 1.0])
        lengths, which = np.unique(lists.lengths, return_inverse=True)
        of_measure = np.array([C_phi(loss, int(r)) for r in lengths])[which]
        factors = self.surrogate.bound_constant(self.v, lists) * of_measure / unit
        with np.errstate(
            over="ignore"
        ):  # of utilities above 1e150: the bound is infinite
            return np.array([(factors[counts] ** 2).sum(), counts.sum() + self.n_alone])


# All blocks -------------------------------------------------------------------------


class Objective:
    """Penalised mean surrogate over `Blocks` of encoded lists, as a function of theta.

    theta holds the coefficients of standardised features and the intercepts, (d, p +
    1).
    """

    def __init__(self, encoded, surrogate, summary, scaling, alpha):
        self.encoded, self.surrogate, self.summary = encoded, surrogate, summary
        self.scaling, self.alpha = scaling, alpha
        self.problems = encoded.map(ScoreProblem, surrogate, summary, scaling)
        self.has_intercept = (
            summary.n_items is not None or not surrogate.is_shift_invariant
        )

    @property
    def has_closed_form(self):
        """Whether ridge regression is the minimum, of few enough features for `solve_ridge`."""
        is_ridge = self.surrogate.is_squared and self.summary.unjudged == 0
        return is_ridge and len(self.scaling.mean) <= MAX_FEATURES_GRAM

    def value_and_gradient(self, theta):
        """The objective at theta, and its gradient."""
        with np.errstate(
            over="ignore"
        ):  # an infinite value is a step too far, or refused
            sums = self.problems.sum(ScoreProblem.value_and_gradient, theta)
            value, gradient = sums[0], sums[1:].reshape(theta.shape)
            gradient[:, :-1] += self.alpha * theta[:, :-1]
            gradient[:, -1] *= self.has_intercept
            return value + 0.5 * self.alpha * (theta[:, :-1] ** 2).sum(), gradient

    def solve_ridge(self):
        """The result of `lbfgs` for a squared surrogate, by ridge regression."""
        summary, scaling = self.summary, self.scaling
        moments = self.encoded.sum(second_moments, self.surrogate.is_pairwise)
        total = summary.item_weights.sum() * summary.total(self.surrogate)
        coef, intercept = moments.solve(0.5 * self.alpha * total, scaling.scale)
        coef, intercept = summary.unit * coef.T, summary.unit * intercept
        theta = np.column_stack([coef * scaling.scale, intercept + coef @ scaling.mean])
        value = self.value_and_gradient(theta)[0]
        if not np.isfinite(value):
            raise ValueError(_OVERFLOW)
        return theta, value, 0.0, 1

    def minimise(self, report, **limits):
        """The result of `lbfgs` from zero, in units of `Summary.units`.

        Gradients are relative to the largest entry at zero coefficients.

        ``report(n_iter, value, gradient_norm)`` is called after each iteration. The
        limits are ``tol`` and ``max_iter`` of `lbfgs`.
        """
        unit = self.summary.units(self.surrogate, self.alpha)
        start = np.zeros(unit.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            at_zero = self.value_and_gradient(start)
        size = np.abs(at_zero[1]).max() or 1.0
        if not np.isfinite([at_zero[0], size]).all():
            raise ValueError(_OVERFLOW)

        def scaled(theta):
            value, gradient = (
                self.value_and_gradient(theta * unit) if theta.any() else at_zero
            )
            return value / size, gradient * unit / size

        callback = lambda n_iter, _, value, norm: report(n_iter, size * value, norm)  # noqa: E731
        theta, value, norm, n_iter = lbfgs(
            scaled, start, **limits, report=callback, memory=30, polish=True
        )
        return theta * unit, size * value, norm, n_iter

    def bound_factor(self, loss):
        """Root of the mean of (c C_phi(2))**2 over the lists with a weight; nan without a bound."""
        squares, n_lists = self.problems.sum(
            ScoreProblem.squared_bounds, loss, self.summary.unit
        )
        return float(np.sqrt(squares / n_lists)) if n_lists else np.nan


def second_moments(block, is_pairwise):
    """`SecondMoments` of `Rows` and their `Encoding` under a squared surrogate.

    Squared differences of two documents centre features and targets within each list.
    Squared differences of two fixed items centre the targets of each row.
    """
    rows, encoding = block
    targets, codes = (
        np.nan_to_num(encoding.targets),
        encoding.codes if is_pairwise else None,
    )
    if is_pairwise and codes is None:
        targets -= targets.mean(axis=1, keepdims=True)
    return SecondMoments.of(rows.X, targets, rows.weights, codes)


# The constant of the measure ----------------------------------------------------------


def C_phi(measure: Any, n_items: int | None = None, *, p: float = 2.0) -> float:
    """Compute the constant of a positional measure in the regret bound of a surrogate.

    For the discount phi, it is
    ``C_phi(p) = (sum_{i=1..floor(r/2)} (phi(i) - phi(r - i + 1))**p)**(1/p)``. The
    bound (9) of [1]_ has p = 2.

    Parameters
    ----------
    measure : str, PositionalLoss or array-like of shape (r,)
        A positional measure, or its discounts phi(1) >= ... >= phi(r).
    n_items : int or None, default=None
        The number r of items; a measure needs it.
    p : float, default=2.0
        Power of the differences, > 0.

    Returns
    -------
    float
        >= 0; 0 if all discounts are equal.

    Raises
    ------
    ValueError
        If discounts increase or are not finite, or a measure comes without `n_items`.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93,
       2013.

    Examples
    --------
    >>> from lowrank_rank.calibration import C_phi
    >>> C_phi([1.0, 0.5, 0.25])  # 1 - 0.25
    0.75
    >>> C_phi("precision@1", n_items=4)
    1.0
    """
    if isinstance(measure, str) or hasattr(measure, "rank_features"):
        if not isinstance(n_items, int | np.integer) or n_items < 1:
            raise ValueError(
                f"n_items must be an integer >= 1 for a measure, got {n_items!r}."
            )
        loss = resolve_target_loss(measure)
        if not loss.is_positional:
            names = names_of(lambda one: one.is_positional, one_each=True)
            raise ValueError(
                f"Surrogates and bounds need a positional measure, which {loss!r} is not: use one "
                f"of {names}. LowRankSurrogateRanker takes other target losses."
            )
        phi = -loss.rank_features(np.arange(1, n_items + 1)[np.newaxis])[0]
    else:
        phi = check_finite(numbers(measure, "measure"), "measure")
    check_parameter("p", p, [number(above=0)])
    if phi.ndim != 1 or np.any(np.diff(phi) > 1e-12):
        raise ValueError(
            "Discounts phi(1..r) must be one array that does not increase."
        )
    half = len(phi) // 2
    return float(((phi[:half] - phi[::-1][:half]) ** p).sum() ** (1.0 / p))
