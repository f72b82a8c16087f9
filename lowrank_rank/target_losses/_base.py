"""What a target loss is: encode, decode and the measure.

    loss(y, order) = offset(y) + <encode(y), rank_features(ranks(order))>

A regressor that learns E[encode(Y) | x] and a decoder that minimises
``<u, rank_features(ranks)>`` are together consistent for the loss (Ramaswamy, Agarwal &
Tewari 2013, theorem 3). Everything that knows the loss is in these classes.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..decoders import decode_sort
from ..metrics._evaluate import check_grades, evaluate, relevant


class Decoder(NamedTuple):
    """A way back from surrogate vectors to ranks.

    Parameters
    ----------
    decode : callable
        ``decode(u, n_items)`` with u (n_lists, d), returning ranks (n_lists, n_items).
    exact : bool
        Whether the decoded ranks are Bayes-optimal at u = E[targets] for every
        distribution of the label.
    of_scores : bool
        Whether u estimates `TargetLoss.score_targets` (d = r) rather than `encode`.
    most_items : int or None
        Longest lists that it takes.
    """

    decode: Callable
    exact: bool
    of_scores: bool = False
    most_items: int | None = None


def sorting(exact=True, of_scores=True):
    """The decoder that sorts scores; its argument n_items is implied by u."""
    return Decoder(lambda u, n_items: decode_sort(u), exact, of_scores)


def ranks_of(decode):
    """The ranks alone of a decoder that also values them."""
    return lambda u, n_items: decode(u, n_items).ranks


class RankingMeasure(BaseEstimator):
    """A measure of one order against one label, with the labels that it takes.

    Subclasses define ``_kernel()``, which returns ``kernel(y, scores, lists)`` on grouped
    flat arrays: one value per list, higher is better, nan where undefined.

    Attributes
    ----------
    labels : {"binary", "graded", "any"}
        0 and 1 (or grades with a `relevance_threshold`), grades >= 0, or any real numbers.
    takes_preferences : bool
        Whether y may be preferences (n_lists, r, r).
    allow_missing : bool
        Whether NaN in a matrix y means "not judged" (spec: where the utility of an item
        depends on its own grade alone).
    reaches_one : bool
        Whether the best order has the value 1 whatever the label.
    undefined : float
        The mean where no list has a value.
    """

    labels: ClassVar[str] = "graded"
    takes_preferences: ClassVar[bool] = False
    allow_missing: ClassVar[bool] = False
    reaches_one: ClassVar[bool] = True
    undefined: ClassVar[float] = 0.0

    def check_labels(self, y):
        """Labels as the loss uses them; refuses those that it cannot take.

        Parameters
        ----------
        y : ndarray of float, any shape
            NaN passes; whether it is allowed is checked with the data.

        Returns
        -------
        ndarray of the same shape

        Raises
        ------
        ValueError
            Naming the place, the label and the remedy.
        """
        return LABEL_CHECKS[self.labels](self, y)

    def _kernel(self):
        raise NotImplementedError(f"{type(self).__name__} must define _kernel().")

    def measure(self, y_true, y_score, *, qid=None, sample_weight=None, average="mean"):
        """The measure of scores, greater is better, mean over the lists where it is defined.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
            Labels.
        y_score : array-like of shape (n_rows,) or (n_lists, r)
            Scores, higher is better; ties count as the mean over their orders.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids of the rows.
        sample_weight : array-like, default=None
            Weights of rows (a list has the mean weight of its rows) or of lists.
        average : {"mean", None}, default="mean"
            None gives one value per list, nan where undefined.

        Returns
        -------
        float or ndarray
            `undefined` where the mean is over no list at all.
        """
        value = evaluate(
            self._kernel(),
            y_true,
            y_score,
            qid=qid,
            sample_weight=sample_weight,
            average=average,
            allow_missing=self.allow_missing,
            takes_preferences=self.takes_preferences,
            check=self.check_labels,
        )
        return self.undefined if average == "mean" and np.isnan(value) else value


class TargetLoss(RankingMeasure):
    """A measure with a low-rank form: what `LowRankSurrogateRanker` can aim at.

    Subclasses define ``encode``, ``rank_features``, ``offset``, ``row_targets`` (documents)
    and, where sorting `encode` is not the decoder, ``decoders``.
    `testing.check_target_loss` holds the promise of the module's formula.
    """

    def encode(self, y):
        """Targets alpha(y), shape (n_lists, d), of labels y (n_lists, r) or (n_lists, r, r)."""
        raise NotImplementedError(f"{type(self).__name__} must define encode(y).")

    def rank_features(self, ranks):
        """beta(ranks), shape (n, d), of ranks (n, r): the loss is linear in them."""
        raise NotImplementedError(f"{type(self).__name__} must define rank_features(ranks).")

    def offset(self, y):
        """The part of the loss that no order changes, shape (n_lists,)."""
        raise NotImplementedError(f"{type(self).__name__} must define offset(y).")

    def loss(self, y, ranks):
        """Loss of each label y[q] under ranks[q], shape (n_lists,); lower is better."""
        return self.offset(y) + np.einsum("nd,nd->n", self.encode(y), self.rank_features(ranks))

    @property
    def decoders(self):
        """Decoders for lists of fixed items by name; documents are always sorted."""
        return {"sort": sorting()}

    def auto_decoder(self, n_items, y=None):
        """The name that "auto" stands for with lists of this many items, and the labels y."""
        return next(iter(self.decoders))

    def score_targets(self, y):
        """Targets (n_lists, r) of the score-and-sort form, what decoder="sort" regresses."""
        return self.encode(y)

    def row_targets(self, y, lists, weights):
        """Targets of documents: gains and the normaliser of each list.

        The regression target of a row is ``gain * mean(normaliser) / normaliser``, 0 in a
        list whose normaliser is 0. Called with checked labels.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels.
        lists : RankingLists
        weights : ndarray of shape (n_rows,)
            Importance of each row.

        Returns
        -------
        gains : ndarray of shape (n_rows,)
        normalisers : ndarray of shape (n_lists,)
        """
        raise ValueError(
            f"{self!r} has no form for documents (one row each): its decoder needs the whole "
            "list. Give y as a matrix (one row per query), or take another target loss."
        )


# Labels -----------------------------------------------------------------------------


def _graded(loss, y):
    return check_grades(y)


def _any(loss, y):
    return y


def _binary(loss, y):
    threshold = loss.relevance_threshold
    if threshold is not None:
        return np.where(np.isnan(y), np.nan, relevant(y, threshold))
    wrong = ~((y == 0) | (y == 1) | np.isnan(y))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        name = type(loss).__name__
        raise ValueError(
            f"{name} takes binary labels, 0 or 1, but y holds {y[place]:g} (first at "
            f"{place[0] if len(place) == 1 else place}). Say from which grade on an item is "
            f"relevant: {name}(..., relevance_threshold=1)."
        )
    return y


LABEL_CHECKS: dict[str, Callable] = {"binary": _binary, "graded": _graded, "any": _any}
