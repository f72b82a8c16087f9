"""Losses of lists for boosted trees: derivatives at the scores of all rows."""

from dataclasses import replace
from math import ceil

import numpy as np

from ..fitting._encoding import checked_row_targets, encode_documents
from ..target_losses import DCG
from ..target_losses._positional import discounts
from ..target_losses._target_loss import reciprocal
from ..validation._parameters import check_parameter
from ..validation._read import Data
from ._lambdarank import LambdaRank
from ._surrogates import (
    SURROGATES,
    PairwiseLogistic,
    check_has_utilities,
    check_pairs,
    resolve_surrogate,
    surrogate_for,
)

_FEWER_PAIRS = (
    ": use loss='cross_entropy', which does not form pairs, or a measure with a cut, "
    "such as 'ndcg@10'"
)

# Checks -----------------------------------------------------------------------------


def check_loss(surrogate, target_loss, who):
    """Refuse an unknown surrogate, and a target loss without utilities of documents."""
    if not isinstance(surrogate, str):
        resolve_surrogate(surrogate)
    elif surrogate != "listnet":
        check_parameter(f"The loss of {who}", surrogate, ["lambdarank", *SURROGATES])
    check_has_utilities(target_loss, who)


# One loss ---------------------------------------------------------------------------


class ListLoss:
    """Gradient and curvature of a loss at any scores of the same rows.

    The unit is such that the mean curvature of a row is 1 where all scores are equal.
    The pairs of a surrogate are divided by the weight of their list, the pairs of
    LambdaRank by its mean weight. So the loss is their plain sum, and a list of weight
    2 is the list twice.

    Parameters
    ----------
    surrogate : str or Surrogate
        "lambdarank" has derivatives alone, and no values.
    target_loss : TargetLoss
    y, weights : ndarray of shape (n_rows,)
    lists : RankingLists
    is_term : bool, default=False
        Whether scores of other losses are added. The gains of a squared loss, whose
        scores have their unit, are then divided by half of their standard deviation
        within lists.
    normaliser_sums, curvature_sums : ndarray of shape (2,) or None, default=None
        Sums over more rows than these, on a cluster. They set the units of the
        utilities and of the loss. None takes the sums over these rows.

    Attributes
    ----------
    curvature_sums : ndarray of shape (2,)
        Sum of the weights of these rows, and of their curvatures where all scores are
        equal, before the division by their mean. They add up over blocks.
    """

    def __init__(
        self,
        surrogate,
        target_loss,
        y,
        weights,
        lists,
        *,
        is_term=False,
        normaliser_sums=None,
        curvature_sums=None,
    ):
        self.lists = lists
        self.weights = lists.group(weights)
        list_weights = lists.sum(self.weights)
        if surrogate == "lambdarank":
            n_weighted = lists.sum(1.0 * (self.weights > 0))
            mean_weights = list_weights * reciprocal(n_weighted)
            relative = self.weights * lists.repeat(reciprocal(mean_weights))
            self.derivatives = lambdarank(target_loss, y, relative, lists)
            self.list_factor = mean_weights
        else:
            at_utilities = SurrogateAtUtilities.of_labels(
                surrogate, target_loss, y, weights, lists, is_term, normaliser_sums
            )
            self.derivatives = at_utilities
            self.list_factor = np.ones(lists.n_lists)
            if at_utilities.surrogate.is_pairwise:
                self.list_factor = reciprocal(list_weights)
        # Mean curvature 1 at equal scores
        _, curvature = self.derivatives(np.zeros(lists.n_rows))
        total = float((lists.repeat(self.list_factor) * curvature).sum())
        self.curvature_sums = np.array([list_weights.sum(), total])
        if curvature_sums is None:
            curvature_sums = self.curvature_sums
        weight, total = curvature_sums
        if total > 0:
            self.list_factor *= weight / total
        self.row_factor = lists.repeat(self.list_factor)

    def __call__(self, s):
        """Compute gradient and curvature at scores, in the order of the rows.

        Curvatures are at least 1e-6 times the weight.
        """
        gradient, curvature = self.derivatives(self.lists.group(s))
        curvature = np.maximum(self.row_factor * curvature, 1e-6 * self.weights)
        gradient = self.row_factor * gradient
        return self.lists.ungroup(gradient), self.lists.ungroup(curvature)

    def value(self, s):
        """Compute the sum over lists at scores; "lambdarank" has none."""
        values = self.derivatives.values(self.lists.group(s))
        return float((self.list_factor * values).sum())


class SurrogateAtUtilities:
    """A surrogate at given utilities, as a function of grouped scores.

    Parameters
    ----------
    surrogate : Surrogate
    v, weights : ndarray of shape (n_rows,)
        Grouped utilities, and importances of the rows.
    lists : RankingLists
    """

    def __init__(self, surrogate, v, weights, lists):
        self.surrogate = surrogate
        self.v = v
        self.weights = weights
        self.lists = lists
        # Equal scores are the minimum if no list has two utilities.
        self.is_flat = surrogate.is_shift_invariant and not lists.has_order(v)

    @classmethod
    def of_labels(
        cls, surrogate, target_loss, y, weights, lists, is_term, normaliser_sums
    ):
        """Make it from the labels; arguments as of `ListLoss`."""
        rows = Data(None, y, lists, weights)
        encoding = encode_documents(rows, target_loss, centered=False)
        if normaliser_sums is not None:
            encoding = replace(encoding, normaliser_sums=normaliser_sums)
        v = lists.group(encoding.scaled_targets(weights)[:, 0])
        grouped_weights = lists.group(weights)
        if is_term and resolve_surrogate(surrogate).is_squared:
            v = 2.0 * v / deviation_within(v, lists.index, grouped_weights)
        surrogate = surrogate_for(surrogate, v)
        if isinstance(surrogate, PairwiseLogistic):
            check_pairs(lists, lists.sum((v > 0).astype(np.int64)), _FEWER_PAIRS)
        return cls(surrogate, v, grouped_weights, lists)

    def __call__(self, s):
        """Compute gradient and curvature for a Newton step, (n_rows,) each."""
        evaluated = self.surrogate.newton_values(self.v, s, self.lists, self.weights)
        gradient = evaluated.gradient
        if self.is_flat:  # the gradient is rounding
            gradient = np.zeros(len(gradient))
        return gradient, evaluated.curvature

    def values(self, s):
        """Compute the value of each list."""
        evaluated = self.surrogate.newton_values(self.v, s, self.lists, self.weights)
        return evaluated.values


def lambdarank(target_loss, y, weights, lists):
    """Make `LambdaRank` for the gains of a target loss and grouped weights."""
    labels = lists.group(target_loss.check_labels(y))
    gains, _ = checked_row_targets(target_loss, labels, lists, weights)
    resolve_surrogate("ranknet").check_utilities(gains)
    cut = target_loss.cutoff(labels, lists) if hasattr(target_loss, "cutoff") else None
    # Relevant rows beyond the cut push those behind them, too.
    top = int(lists.lengths.max())
    if cut is not None:
        top = min(top, max(30, ceil(1.5 * np.max(cut))))
    check_pairs(lists, np.minimum(lists.lengths, top), _FEWER_PAIRS)
    # The best DCG of each list sorts its gains.
    order = np.lexsort((-gains, lists.index))
    best = lists.sum(gains[order] * discounts(DCG().discount, lists, cut))
    v = gains * lists.repeat(reciprocal(best))
    return LambdaRank(v, weights, lists, top)


def deviation_within(scores, groups, weights=None):
    """Compute the standard deviation of scores within lists.

    It is 1 if the scores of each list are equal.
    """
    return deviation_of(squares_within(scores, groups, weights))


def squares_within(scores, groups, weights=None):
    """Sum squares of the scores of all lists; the sums add up over blocks of lists.

    Returns
    -------
    ndarray of shape (3,)
        Weighted sums of the squared differences from the mean of the list and of the
        squared scores, and the sum of the weights.
    """
    if weights is None:
        weights = np.ones(len(groups))
    if scores.ndim == 1:
        totals = np.bincount(groups, weights)
        safe_totals = np.where(totals > 0, totals, 1.0)
        means = np.bincount(groups, weights * scores) / safe_totals
        squares = (scores - means[groups]) ** 2
    else:
        squares = np.var(scores, axis=1)
        scores = np.sqrt(np.mean(scores**2, axis=1))
    return np.array(
        [
            (weights * squares).sum(),
            (weights * scores**2).sum(),
            weights.sum(),
        ]
    )


def deviation_of(sums):
    """Compute the standard deviation of scores within lists from `squares_within`.

    It is 1 if the scores of each list are equal, up to rounding.
    """
    squares, total_squares, weight = sums
    if not squares > 1e-24 * total_squares:
        return 1.0
    return float(np.sqrt(squares / weight))


# Several losses ---------------------------------------------------------------------


class LossesInTurn:
    """Derivatives of losses that alternate, each at the scores of its own trees.

    A tree is grown after each call, and is the difference of the scores of two calls.

    Parameters
    ----------
    losses : list of ListLoss
    n_rows : int
    stages : iterable of ndarray of shape (n_rows,)
        Scores after each tree that is there already.
    """

    def __init__(self, losses, n_rows, stages=()):
        self.losses = losses
        self.scores_of_loss = np.zeros((len(losses), n_rows))
        self.n_trees = 0
        self.latest_scores = np.zeros(n_rows)
        for s in stages:
            self._add_tree(s)
        # The scores of the first call may differ from the last stage: bins of other
        # rows change trees in the last digits, or in more.
        self.is_first_call = True

    def __call__(self, s):
        """Compute gradient and curvature for the next tree."""
        if self.is_first_call:
            self.is_first_call = False
            self.latest_scores = s.copy()
        else:
            self._add_tree(s)
        turn = self.n_trees % len(self.losses)
        return self.losses[turn](self.scores_of_loss[turn])

    def _add_tree(self, s):
        """Add the tree that led to the scores `s`."""
        turn = self.n_trees % len(self.losses)
        self.scores_of_loss[turn] += s - self.latest_scores
        self.latest_scores = s.copy()  # the caller updates it in place
        self.n_trees += 1
