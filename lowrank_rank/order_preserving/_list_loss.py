"""Losses of lists as boosted trees see them: gradient and curvature at the scores of all rows."""

from math import ceil
from typing import Any

import numpy as np

from .._base import Rows
from ..fitting._encoding import checked_row_targets, encode_documents
from ..target_losses import DCG, MeanAveragePrecision
from ..target_losses._names import names_of
from ..target_losses._positional import discounts
from ..target_losses._target_loss import reciprocal
from ._lambdarank import LambdaRank
from ._surrogates import (
    SURROGATES,
    PairwiseLogistic,
    SurrogateValues,
    resolve_surrogate,
    surrogate_for,
)

#: Pairs of one list: 10**9 take 2 s for each tree, 10 minutes for 300 trees.
_MAX_PAIRS = 10**9


def has_utilities(target_loss):
    """Whether a target loss gives each document a utility."""
    positional = getattr(target_loss, "is_positional", False)
    return positional or isinstance(target_loss, MeanAveragePrecision)


def check_has_utilities(target_loss, who):
    """Refuse a target loss without utilities of documents."""
    if not has_utilities(target_loss):
        names = names_of(has_utilities, one_each=True)
        raise ValueError(
            f"{who} needs utilities of single documents, which {target_loss!r} does not have: use "
            f"one of {names}. LowRankSurrogateRanker takes other target losses, StackingRanker any "
            "measure."
        )


def check_loss(surrogate, target_loss, who):
    """Refuse a surrogate that is unknown, and a target loss without utilities of documents."""
    if isinstance(surrogate, str) and surrogate not in {
        "lambdarank",
        "listnet",
        *SURROGATES,
    }:
        known = ["lambdarank", *sorted(SURROGATES)]
        raise ValueError(f"{who}: unknown loss {surrogate!r}: use one of {known}.")
    if not isinstance(surrogate, str):
        resolve_surrogate(surrogate)
    check_has_utilities(target_loss, who)


class ListLoss:
    """Values and derivatives of a loss at any scores of the same rows.

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
    """

    def __init__(self, surrogate, target_loss, y, weights, lists, *, is_term=False):
        self.lists, self.weights = lists, lists.group(weights)
        mass = lists.sum(self.weights)
        if surrogate == "lambdarank":
            self.factor = mass * reciprocal(lists.sum(1.0 * (self.weights > 0)))
            w = self.weights * lists.repeat(reciprocal(self.factor))
            self._of_scores = _lambdarank(target_loss, y, w, lists)
        else:
            found = _surrogate(surrogate, target_loss, y, weights, lists, is_term)
            self._of_scores, is_pairwise = found
            self.factor = reciprocal(mass) if is_pairwise else np.ones(lists.n_lists)
        total = float(self.evaluate(np.zeros(lists.n_rows)).curvature.sum())
        if total > 0:
            self.factor *= mass.sum() / total

    def evaluate(self, s):
        """`SurrogateValues` in grouped order at grouped scores."""
        values, gradient, curvature = self._of_scores(s)
        factor = self.lists.repeat(self.factor)
        values = None if values is None else self.factor * values
        return SurrogateValues(values, factor * gradient, factor * curvature)

    def __call__(self, s):
        """Gradient and curvature in the order of the rows; curvatures are at least 1e-6 w."""
        _, gradient, curvature = self.evaluate(self.lists.group(s))
        curvature = np.maximum(curvature, 1e-6 * self.weights)
        return self.lists.ungroup(gradient), self.lists.ungroup(curvature)


class LossesInTurn:
    """Derivatives of several losses that alternate, each at the scores of its own trees.

    A tree is grown after each call, and is the difference of the scores of two calls.

    Parameters
    ----------
    losses : list of ListLoss
    n_rows : int
    stages : iterable of ndarray of shape (n_rows,)
        Scores after each tree that is there already.
    """

    def __init__(self, losses, n_rows, stages=()):
        self.losses, self.n_trees = losses, 0
        self.scores = np.zeros((len(losses), n_rows))
        self.last: Any = np.zeros(n_rows)
        for s in stages:
            self._add_tree(s)
        self.last = None  # trees of other bins differ in the last digits, or in more

    def _add_tree(self, s):
        self.scores[self.n_trees % len(self.losses)] += s - self.last
        self.last = s.copy()  # the caller updates it in place
        self.n_trees += 1

    def __call__(self, s):
        """Gradient and curvature for the next tree."""
        if self.last is None:
            self.last = s.copy()
        else:
            self._add_tree(s)
        turn = self.n_trees % len(self.losses)
        return self.losses[turn](self.scores[turn])


def _surrogate(surrogate, target_loss, y, weights, lists, is_term):
    """``values(s)`` of a surrogate, and whether it is a sum over pairs."""
    encoding = encode_documents(
        Rows(None, y, lists, weights), target_loss, centered=False
    )
    v, w = lists.group(encoding.scaled_targets(weights)[:, 0]), lists.group(weights)
    if is_term and resolve_surrogate(surrogate).is_squared:
        v = 2.0 * v / spread_within(v, lists.index, w)
    surrogate = surrogate_for(surrogate, v)
    if isinstance(surrogate, PairwiseLogistic):
        _check_pairs(lists, lists.sum((v > 0).astype(np.int64)))
    return lambda s: surrogate.newton_values(v, s, lists, w), surrogate.is_pairwise


def spread_within(scores, groups, weights=None):
    """Standard deviation of scores within lists; 1 if the scores of each list are equal."""
    w = np.ones(len(groups)) if weights is None else weights
    if scores.ndim == 1:
        totals = np.bincount(groups, w)
        means = np.bincount(groups, w * scores) / np.where(totals > 0, totals, 1.0)
        squares = (scores - means[groups]) ** 2
    else:
        squares = np.var(scores, axis=1)
    spread = float(np.sqrt(np.average(squares, weights=w)))
    return spread if spread > 1e-12 * np.abs(scores).max(initial=0.0) else 1.0


def _lambdarank(target_loss, y, w, lists):
    """``values(s)`` of LambdaRank for the gains of the target loss and grouped weights."""
    labels = lists.group(target_loss.check_labels(y))
    gains, _ = checked_row_targets(target_loss, labels, lists, w)
    resolve_surrogate("ranknet").check_utilities(gains)
    cut = target_loss.cutoff(labels, lists) if hasattr(target_loss, "cutoff") else None
    longest = int(lists.lengths.max())
    top = longest if cut is None else min(longest, max(30, ceil(1.5 * np.max(cut))))
    _check_pairs(lists, np.minimum(lists.lengths, top))
    order = np.lexsort((-gains, lists.index))
    best = lists.sum(gains[order] * discounts(DCG().discount, lists, cut))
    pairs = LambdaRank(gains * lists.repeat(reciprocal(best)), w, lists, top)
    return lambda s: SurrogateValues(None, *pairs(s))


def _check_pairs(lists, n_first):
    """Refuse a list with too many pairs of the first `n_first` rows with all."""
    pairs = n_first * lists.lengths
    if pairs.max() > _MAX_PAIRS:
        longest = int(lists.lengths[np.argmax(pairs)])
        raise ValueError(
            f"A list of {longest} rows has too many pairs for this loss: take "
            "loss='cross_entropy', which forms none, or a measure with a cut, such as 'ndcg@10'."
        )
