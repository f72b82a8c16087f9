"""Linear scores under a surrogate, over blocks of whole lists.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = X B' + b

X holds the standardised features. B and b have one row for documents and r rows for
fixed items. The intercepts b have no penalty, and are 0 for documents under a
shift-invariant surrogate. A fit reads its rows as `Blocks` of whole lists: one block in
memory, several on disk, or the futures of a cluster. Sums over the blocks give the
objective.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._blocks import EarlierLists, check_has_ids
from ..fitting._encoding import (
    encode_documents,
    encode_items,
    items_decoder,
    mean_normaliser,
)
from ..fitting._linear_problem import LinearProblem, lbfgs
from ..fitting._ridge import MAX_FEATURES_GRAM
from ..fitting._statistics import Moments, SecondMoments, chosen_alpha
from ..lists._lists import RankingLists
from ..target_losses._positional import discounts_of, falls_of_discounts
from ..validation._arrays import is_finite
from ..validation._check import refuse
from ..validation._checks_of_surrogates import (
    CHECKS_OF_LAYOUTS,
    CHECKS_OF_START,
)
from ..validation._labels import (
    refuse_unjudged_item,
    refuse_zero_weights,
)
from ._surrogates import (
    PairwiseLogistic,
    check_pairs,
    checked_values,
    resolve_surrogate,
    surrogate_for,
)

# One block --------------------------------------------------------------------------


def encode(rows, loss):
    """Return `Data`, and the `Encoding` of their labels as utilities."""
    if rows.y.ndim == 1:
        return rows, encode_documents(rows, loss)
    return rows, encode_items(rows.y, loss, items_decoder("sort", loss, rows.y))


def utilities_and_weights(rows, encoding):
    """Return utilities (n, d) and weights (n, d).

    Utilities are not yet multiplied by `Problem.mean_normaliser`. Unjudged items have
    the weight 0.
    """
    is_judged = ~np.isnan(encoding.targets)
    weights = rows.weights[:, np.newaxis] * is_judged
    return np.nan_to_num(encoding.targets), weights


def has_closed_form(rows, encoding, surrogate):
    """Whether ridge regression of few enough features minimises the surrogate."""
    is_judged = is_finite(encoding.targets[rows.weights > 0])
    is_small = rows.X.shape[1] <= MAX_FEATURES_GRAM
    return surrogate.is_squared and is_judged and is_small


def second_moments_of(rows, encoding, surrogate):
    """Compute the `SecondMoments` of a block under a squared surrogate.

    Squared differences of two documents centre features and targets within each list.
    Squared differences of two fixed items centre the targets of each row.
    """
    targets = np.nan_to_num(encoding.targets)
    codes = encoding.codes if surrogate.is_pairwise else None
    if surrogate.is_pairwise and codes is None:
        targets -= targets.mean(axis=1, keepdims=True)
    return SecondMoments.of(rows.X, targets, rows.weights, codes)


@dataclass(frozen=True)
class Sums:
    """Sums over blocks from which `Problem` starts; they add up.

    Attributes
    ----------
    n_items : int or None
        Number of fixed items; None for documents.
    has_qid : bool
    features : Moments
    second_moments : SecondMoments or None
        For ridge regression; None if a block rules out the closed form.
    normaliser_sums : ndarray of shape (2,)
        As of `Encoding`.
    n_lists : int
        Number of lists of positive weight.
    smallest, largest : float
        Range of the utilities of positive weight, before `Problem.mean_normaliser`.
    has_order : bool
        Whether a list of documents has two different utilities; True for fixed items.
    utility : ndarray of shape (d,)
        Sum of the weights times the utilities of each item, before this factor.
    item_weights : ndarray of shape (d,)
        Sum of the weights of the rows that judge an item.
    """

    n_items: int | None
    has_qid: bool
    features: Moments
    second_moments: SecondMoments | None
    normaliser_sums: np.ndarray
    n_lists: int
    smallest: float
    largest: float
    has_order: bool
    utility: np.ndarray
    item_weights: np.ndarray

    @classmethod
    def of(cls, block, earlier_lists, surrogate):
        """Compute the sums over a block; refuse a list with rows in an earlier one."""
        rows, encoding = block
        earlier_lists.add(rows.ids)
        v, weights = utilities_and_weights(rows, encoding)
        counted = v[weights > 0]
        with np.errstate(over="ignore"):  # `Problem` refuses grades of such a size
            utility = (weights * v).sum(axis=0)
        second_moments = None
        if has_closed_form(rows, encoding, surrogate):
            second_moments = second_moments_of(rows, encoding, surrogate)
        if second_moments is not None and surrogate.is_pairwise:
            features = second_moments.features
        else:
            features = Moments.of(rows.X, rows.weights, encoding.codes)
        n_items = None
        has_order = True
        if rows.y.ndim > 1:
            n_items = rows.y.shape[1]
        else:
            has_order = rows.lists.has_order(rows.lists.group(v[:, 0]))
        return cls(
            n_items=n_items,
            has_qid=rows.ids is not None,
            features=features,
            second_moments=second_moments,
            normaliser_sums=np.asarray(encoding.normaliser_sums),
            n_lists=rows.n_lists,
            smallest=counted.min(initial=np.inf),
            largest=counted.max(initial=-np.inf),
            has_order=has_order,
            utility=utility,
            item_weights=weights.sum(axis=0),
        )

    def __add__(self, later):
        """Add the sums over later blocks; refuse blocks of two layouts."""
        refuse(CHECKS_OF_LAYOUTS, one=self.n_items, other=later.n_items)
        check_has_ids(self.has_qid, later.has_qid)
        second_moments = None
        if self.second_moments is not None and later.second_moments is not None:
            second_moments = self.second_moments + later.second_moments
        return Sums(
            n_items=self.n_items,
            has_qid=self.has_qid or later.has_qid,
            features=self.features + later.features,
            second_moments=second_moments,
            normaliser_sums=self.normaliser_sums + later.normaliser_sums,
            n_lists=self.n_lists + later.n_lists,
            smallest=min(self.smallest, later.smallest),
            largest=max(self.largest, later.largest),
            has_order=self.has_order or later.has_order,
            utility=self.utility + later.utility,
            item_weights=self.item_weights + later.item_weights,
        )


class ScoredLists(NamedTuple):
    """The lists of a block, with what is constant in their scores.

    A shift-invariant surrogate is constant for a list of one row, 0 for all of ours:
    such lists are left out.

    Attributes
    ----------
    linear : LinearProblem
        Scores of all rows of the block.
    places : ndarray of int, shape (n,), or slice
        Places of the grouped rows among the scores, row by row.
    lists : RankingLists
        Of the grouped rows.
    v, weights : ndarray of shape (n,)
        Utilities and weights. Weights add up to one over all blocks: pairs take their
        squares, which could vanish.
    list_factor : ndarray of shape (n_lists,)
        Factor of each list in the mean surrogate.
    n_left_out : int
        Number of lists of positive weight that are left out.
    """

    linear: LinearProblem
    places: Any
    lists: RankingLists
    v: np.ndarray
    weights: np.ndarray
    list_factor: np.ndarray
    n_left_out: int


def scored_lists(block, surrogate, mean, scale, mean_normaliser, total_weight, total):
    """Return the `ScoredLists` of a block.

    Parameters
    ----------
    block : tuple of Data and Encoding
    surrogate : Surrogate
    mean, scale : ndarray of shape (p,)
        What standardises the features.
    mean_normaliser : float
        Factor of the utilities.
    total_weight : float
        Sum of the weights of the items of all blocks.
    total : float
        Divisor of the sum over lists.
    """
    rows, encoding = block
    v, weights = utilities_and_weights(rows, encoding)
    linear = linear_problem(rows.X, v.shape[1], mean, scale)
    lists = rows.lists
    v = lists.group((mean_normaliser * v).ravel())
    weights = lists.group((weights / total_weight).ravel())
    places = slice(None) if lists.order is None else lists.order
    n_left_out = 0
    is_single = lists.lengths == 1
    if surrogate.is_shift_invariant and is_single.any():
        n_left_out = int(np.count_nonzero(lists.sum(weights)[is_single]))
        is_kept = lists.repeat(~is_single)
        places = lists.group(np.arange(lists.n_rows))[is_kept]
        v = v[is_kept]
        weights = weights[is_kept]
        lists, _ = lists.select(is_kept)
    if isinstance(surrogate, PairwiseLogistic):
        n_relevant = lists.sum((v > 0).astype(np.int64))
        check_pairs(lists, n_relevant, line='surrogate = "cross_entropy"')
    return ScoredLists(
        linear=linear,
        places=places,
        lists=lists,
        v=v,
        weights=weights,
        list_factor=list_factors(surrogate, lists.sum(weights)) / total,
        n_left_out=n_left_out,
    )


def linear_problem(X, n_columns, mean, scale):
    """Return the `LinearProblem` of standardised features.

    The coefficients are scaled instead of X. X is copied only where a mean is far from
    0, to keep digits.
    """
    is_far = np.abs(mean) > 1e3 * scale  # products would cancel digits
    if is_far.any() and not sparse.issparse(X):
        X = X - np.where(is_far, mean, 0.0)
        mean = np.where(is_far, 0.0, mean)
    return LinearProblem(X, n_columns, intercept=True, mean=mean, scale=scale)


def list_factors(surrogate, list_weights):
    """Return the factor of each list in the sum over lists, 0 without weight."""
    if not surrogate.is_pairwise:
        return (list_weights > 0) * 1.0
    # The sum over pairs grows with the square of the weight of a list.
    divisor = np.maximum(list_weights, np.finfo(float).tiny)
    return (list_weights > 0) / divisor


def value_and_gradient(scored, surrogate, theta):
    """Compute the mean surrogate of `ScoredLists` at theta (d, p + 1).

    Its gradient follows, flat.
    """
    scores = scored.linear.scores(theta)
    lists = scored.lists
    value = 0.0
    slopes = np.zeros(scores.size)
    if lists.n_lists:
        s = scores.ravel()[scored.places]
        losses = checked_values(surrogate, scored.v, s, lists, scored.weights)
        value = float((losses.values * scored.list_factor).sum())
        slopes[scored.places] = losses.gradient * lists.repeat(scored.list_factor)
    gradient = scored.linear.gradient(slopes.reshape(scores.shape))
    return np.append(value, gradient)


def squared_bounds(scored, surrogate, loss, mean_normaliser):
    """Sum (c C_phi(2))**2 over the lists with a weight, and count these lists.

    The sum is nan without a bound: if the surrogate or the measure has none, or if the
    items of a list have different weights, which the measure does not know.
    """
    lists = scored.lists
    has_weight = lists.sum(scored.weights) > 0
    first_weight = lists.repeat(scored.weights[lists.starts])
    is_unequal = np.any(scored.weights != first_weight)
    if is_unequal or not (surrogate.has_bound and loss.is_positional):
        return np.array([np.nan, 1.0])
    lengths, which = np.unique(lists.lengths, return_inverse=True)
    constants = [falls_of_discounts(discounts_of(loss, r)) for r in lengths]
    # c C_phi(2), in units of the utilities without this factor
    c = surrogate.bound_constant(scored.v, lists)
    bounds = c * np.array(constants)[which] / mean_normaliser
    with np.errstate(over="ignore"):  # infinite for utilities above 1e150
        squares = (bounds[has_weight] ** 2).sum()
    return np.array([squares, has_weight.sum() + scored.n_left_out])


# All blocks -------------------------------------------------------------------------


class Problem:
    """Penalised mean surrogate over `Blocks` of rows, a function of theta (d, p + 1).

    theta holds the coefficients of standardised features, and the intercepts.

    Attributes
    ----------
    n_items, n_lists, has_qid
        As of `Sums`, over all blocks.
    surrogate : Surrogate
        With its eta.
    is_flat : bool
        Whether equal scores are the minimum, since no list has two utilities.
    mean_normaliser : float
        Factor of all utilities: for documents, the mean normaliser of the measure.
    utility, item_weights : ndarray of shape (d,)
        As of `Sums`, over all blocks.
    total : float
        Divisor of the sum over lists, of weights that add up to one: 1, or the mean
        utility.
    mean, scale : ndarray of shape (p,)
        What standardises the features.
    alpha : float
        The penalty in use.
    """

    def __init__(self, rows, loss, surrogate, alpha, standardize):
        encoded = rows.map(encode, loss)
        parts = encoded.map(Sums.of, EarlierLists(), resolve_surrogate(surrogate))
        sums = reduce(add, parts)
        self.loss = loss
        self.n_items = sums.n_items
        self.n_lists = sums.n_lists
        self.has_qid = sums.has_qid
        self.utility = sums.utility
        self.item_weights = sums.item_weights
        self.second_moments = sums.second_moments
        features = sums.features
        if not features.total > 0:
            refuse_zero_weights()
        if not self.item_weights.all():
            refuse_unjudged_item(f"Column {int(np.argmin(self.item_weights))} of y")
        if not np.isfinite(self.utility.sum()):
            refuse(CHECKS_OF_START, values=self.utility.sum())

        # The surrogate
        self.mean_normaliser = mean_normaliser(sums.normaliser_sums)
        extremes = np.array([sums.smallest, sums.largest])
        self.surrogate = surrogate_for(surrogate, self.mean_normaliser * extremes)
        self.is_flat = self.surrogate.is_shift_invariant and not sums.has_order
        self.has_intercept = (
            self.n_items is not None or not self.surrogate.is_shift_invariant
        )
        total_weight = self.item_weights.sum()
        mean_utility = self.mean_normaliser * self.utility.sum() / total_weight
        self.total = 1.0
        if self.surrogate.is_proportional and mean_utility > 0:
            self.total = mean_utility

        # The standardised features, and their penalty
        self.mean = features.mean
        self.scale = np.ones(len(self.mean))
        if standardize:
            self.scale = features.scale
        # Curvature of the mean loss at equal scores
        curvature = 1.0 if self.surrogate.is_squared else 1.0 / (self.n_items or 1)
        self.alpha = chosen_alpha(
            alpha, features.n_features, features.n_lists, curvature
        )
        self.blocks = encoded.map(
            scored_lists,
            self.surrogate,
            self.mean,
            self.scale,
            self.mean_normaliser,
            total_weight,
            self.total,
        )

    def value_and_gradient(self, theta):
        """Compute the objective at theta, and its gradient."""
        with np.errstate(over="ignore"):  # an infinite value is refused, or a long step
            sums = self.blocks.sum(value_and_gradient, self.surrogate, theta)
            coef = theta[:, :-1]
            value = sums[0] + 0.5 * self.alpha * (coef**2).sum()
            gradient = sums[1:].reshape(theta.shape)
            gradient[:, :-1] += self.alpha * coef
            gradient[:, -1] *= self.has_intercept
            return value, gradient

    def solve_ridge(self):
        """Solve a squared surrogate by ridge regression; returns what `lbfgs` does."""
        # A squared surrogate is twice the half squared error of `SecondMoments.solve`.
        penalty = 0.5 * self.alpha * (self.item_weights.sum() * self.total)
        coef, intercept = self.second_moments.solve(penalty, self.scale)
        coef = self.mean_normaliser * coef.T
        intercept = self.mean_normaliser * intercept
        # Of standardised features
        theta = np.column_stack([coef * self.scale, intercept + coef @ self.mean])
        value, _ = self.value_and_gradient(theta)
        if not np.isfinite(value):
            refuse(CHECKS_OF_START, values=value)
        return theta, value, 0.0, 1

    def minimise(self, report, tol, max_iter):
        """Minimise from zero by `lbfgs`, with gradients relative to the largest there.

        ``report(n_iter, value, gradient_norm)`` is called after each iteration.
        """
        unit = self._units()
        start = np.zeros(unit.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            start_value, start_gradient = self.value_and_gradient(start)
        size = np.abs(start_gradient).max() or 1.0
        if not np.isfinite([start_value, size]).all():
            refuse(CHECKS_OF_START, values=[start_value, size])
        if self.is_flat:  # the gradient is rounding
            return start, start_value, 0.0, 0

        def objective(theta):
            value, gradient = start_value, start_gradient
            if theta.any():
                value, gradient = self.value_and_gradient(theta * unit)
            return value / size, gradient * unit / size

        def report_iteration(n_iter, _, value, gradient_norm):
            report(n_iter, size * value, gradient_norm)

        theta, value, gradient_norm, n_iter = lbfgs(
            objective,
            start,
            tol=tol,
            max_iter=max_iter,
            report=report_iteration,
            memory=30,
            polish=True,
        )
        return theta * unit, size * value, gradient_norm, n_iter

    def _units(self):
        """Compute units (d, p + 1) of theta in which its curvatures are about equal.

        Units are 1 or more. Under a surrogate proportional to the utilities, the
        curvature of an item's score is about its fraction of them.
        """
        score_curvature = np.ones(len(self.utility))
        if self.surrogate.is_proportional:
            fractions = self.utility / (self.utility.sum() or 1.0)
            # Items without utility may fall without bound.
            smallest = fractions[fractions > 1e-6].min(initial=1.0)
            score_curvature = np.maximum(fractions, smallest)
        penalties = np.append(np.full(len(self.mean), self.alpha), 0.0)
        curvature = score_curvature[:, np.newaxis] + penalties
        return np.sqrt(curvature.max() / curvature)

    def bound_factor(self):
        """Compute the root of the mean of (c C_phi(2))**2 over the lists with a weight.

        It is nan without a bound.
        """
        squares, n_lists = self.blocks.sum(
            squared_bounds, self.surrogate, self.loss, self.mean_normaliser
        )
        return float(np.sqrt(squares / n_lists)) if n_lists else np.nan
