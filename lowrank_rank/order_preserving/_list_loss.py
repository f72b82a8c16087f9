"""Losses of lists as boosted trees see them: gradient and curvature at the scores of all rows."""

from math import ceil

import numpy as np

from .._base import Rows
from ..fitting._encoding import checked_row_targets, encode_documents
from ..target_losses import MeanAveragePrecision
from ..target_losses._names import names_of
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
            f"one of {names}. LowRankSurrogateRanker takes the other target losses."
        )


def check_loss(surrogate, target_loss, who):
    """Refuse a surrogate that is unknown, and a target loss without utilities of documents."""
    if isinstance(surrogate, str) and surrogate not in {"lambdarank", "listnet", *SURROGATES}:
        known = ["lambdarank", *sorted(SURROGATES)]
        raise ValueError(f"{who}: unknown loss {surrogate!r}: use one of {known}.")
    if not isinstance(surrogate, str):
        resolve_surrogate(surrogate)
    check_has_utilities(target_loss, who)


class ListLoss:
    """Values and derivatives of a loss at any scores of the same rows.

    The unit is such that the mean curvature of a row is 1 where all scores are equal. A sum over
    pairs of a list is divided by the weight of the list.

    Parameters
    ----------
    surrogate : str or Surrogate
        "lambdarank" has derivatives alone, and no values.
    target_loss : TargetLoss
    y, weights : ndarray of shape (n_rows,)
    lists : RankingLists
    """

    def __init__(self, surrogate, target_loss, y, weights, lists):
        self.lists, self.weights = lists, lists.group(weights)
        values_of = _lambdarank if surrogate == "lambdarank" else _surrogate
        self._of_scores, is_pairwise = values_of(surrogate, target_loss, y, weights, lists)
        mass = lists.sum(self.weights)
        self.factor = np.ones(lists.n_lists)
        if is_pairwise:
            np.divide(1.0, mass, out=self.factor, where=mass > 0)
        total = float(self.evaluate(np.zeros(lists.n_rows)).curvature.sum())
        if total > 0:
            self.factor *= mass.sum() / total

    def evaluate(self, s):
        """`SurrogateValues` in grouped order at grouped scores."""
        values, gradient, curvature = self._of_scores(s)
        factor = self.lists.spread(self.factor)
        values = None if values is None else self.factor * values
        return SurrogateValues(values, factor * gradient, factor * curvature)

    def __call__(self, s):
        """Gradient and curvature in the order of the rows; curvatures are at least 1e-6 w."""
        _, gradient, curvature = self.evaluate(self.lists.group(s))
        curvature = np.maximum(curvature, 1e-6 * self.weights)
        return self.lists.ungroup(gradient), self.lists.ungroup(curvature)


def _surrogate(surrogate, target_loss, y, weights, lists):
    """``values(s)`` of a surrogate, and whether it is a sum over pairs."""
    encoding = encode_documents(Rows(None, y, lists, weights), target_loss, centered=False)
    v, w = lists.group(encoding.scaled_targets(weights)[:, 0]), lists.group(weights)
    surrogate = surrogate_for(surrogate, v)
    if isinstance(surrogate, PairwiseLogistic):
        _check_pairs(lists, lists.sum((v > 0).astype(np.int64)))
    return lambda s: surrogate.newton_values(v, s, lists, w), surrogate.is_pairwise


def _lambdarank(_, target_loss, y, weights, lists):
    """``values(s)`` of LambdaRank for the gains of the target loss, a sum over pairs."""
    labels, w = lists.group(target_loss.check_labels(y)), lists.group(weights)
    gains, _ = checked_row_targets(target_loss, labels, lists, w)
    resolve_surrogate("ranknet").check_utilities(gains)
    cut = target_loss.cutoff(labels, lists) if hasattr(target_loss, "cutoff") else None
    longest = int(lists.lengths.max())
    top = longest if cut is None else min(longest, max(30, ceil(1.5 * np.max(cut))))
    _check_pairs(lists, np.minimum(lists.lengths, top))
    pairs = LambdaRank(gains, w, lists, top)
    return lambda s: SurrogateValues(None, *pairs(s)), True


def _check_pairs(lists, n_first):
    """Refuse a list with too many pairs of the first `n_first` rows with all."""
    pairs = n_first * lists.lengths
    if pairs.max() > _MAX_PAIRS:
        longest = int(lists.lengths[np.argmax(pairs)])
        raise ValueError(
            f"A list of {longest} rows has too many pairs for this loss: take "
            "loss='cross_entropy', which forms none, or a measure with a cut, such as 'ndcg@10'."
        )
