"""Base classes of measures, with a value for each list, and of target losses, which encode and
decode.

    loss(y, order) = offset(y) + <encode(y), rank_features(ranks(order))>

A regressor that learns E[encode(Y) | x] and a decoder that minimises
``<u, rank_features(ranks)>`` are together consistent for the loss (Ramaswamy, Agarwal &
Tewari 2013, theorem 3). Everything that knows the loss is in these classes.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .._arrays import ArrayLike, check_size, plain
from .._labels import check_judged, read_scored
from .._parameters import check_parameters, number
from ..decoders import decode_sort

#: Names of the measures that take NaN as "not judged", for messages.
WITH_MISSING = ("precision@10", "dcg", "eru", "pd", "kendall")

# Labels and values ------------------------------------------------------------------


def check_zero_division(value):
    """The value of undefined lists as a float; refuses all but finite numbers and nan."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"zero_division must be a number, got {plain(value)!r}.")
    if np.isinf(float(value)):
        raise ValueError(
            f"zero_division must be finite, or nan to leave undefined lists out, got "
            f"{plain(value)!r}."
        )
    return float(value)


def check_grades(y):
    """Refuse negative grades, naming the first."""
    if not y.min(initial=0.0) >= 0.0 and np.any(y < 0):  # the least is NaN where there is any
        place = tuple(int(i) for i in np.argwhere(y < 0)[0])
        raise ValueError(
            f"y holds a negative grade ({y[place]:g}, first at {place[0] if y.ndim == 1 else place}"
            "): grades must be >= 0, higher is better. Shift them, or give a ranking as r - rank."
        )
    return y


def relevance(y, relevance_threshold=None):
    """1 where an item is relevant, grade > 0 or >= `relevance_threshold`; NaN stays."""
    check_grades(y)
    relevant = y > 0 if relevance_threshold is None else y >= relevance_threshold
    found = relevant.astype(np.float64)
    missing = np.isnan(y)
    if missing.any():
        found[missing] = np.nan
    return found


def check_preferences(y):
    """Refuse preferences that are not square, or negative."""
    if y.shape[1] != y.shape[2]:
        raise ValueError(f"Preferences y[q, i, j] have the shape (n_lists, r, r), got {y.shape}.")
    if np.any(y < 0):
        place = tuple(int(i) for i in np.argwhere(y < 0)[0])
        raise ValueError(
            f"y{list(place)} = {y[place]:g}: preferences y[q, i, j] are weights >= 0 of 'i before "
            "j'; put the weight of the opposite preference into y[q, j, i]."
        )
    return y


#: The parameter of measures of items that are relevant or not.
RELEVANCE = {"relevance_threshold": [number(), None]}
LABEL_CHECKS: dict[str, Callable] = {
    "binary": lambda measure, y: relevance(y, measure.relevance_threshold),
    "graded": lambda measure, y: check_grades(y),
    "any": lambda measure, y: y,
}


def mean_of_lists(values, weights, *, average="mean", zero_division=np.nan):
    """Mean over lists; undefined lists have the value `zero_division`, and nan skips them."""
    if average not in ("mean", None):
        raise ValueError(f"average must be 'mean' or None, got {average!r}.")
    values = np.where(np.isnan(values), zero_division, values)
    if average is None:
        return values
    weights = np.where(np.isnan(values), 0.0, weights)
    total = weights.sum()
    if total == 0:
        return float(zero_division)
    values = np.nan_to_num(values)
    with np.errstate(over="ignore"):
        mean = values @ weights / total
    if not np.isfinite([mean, total]).all():  # sums of the largest numbers
        weights = weights / weights.max() / len(weights)
        mean = values @ weights / weights.sum()
    return float(mean)


def reciprocal(normalisers):
    """1 / normaliser, and 0 where that is 0: a list without relevant items has utility 0."""
    out = np.zeros(len(normalisers))
    return np.divide(1.0, normalisers, out=out, where=normalisers > 0)


def check_pairs_fit(loss, n_lists, n_items):
    """Refuse an encoding of the pairs of fixed items that is larger than memory."""
    check_size(
        f"The targets of {loss!r}, {n_lists} lists of {n_items} items, one for each pair,",
        8 * n_lists * n_items * (n_items + 1),  # with the products of which they are made
        "take a target loss of single items such as 'ndcg', or give documents, one row each",
    )


# Decoders ---------------------------------------------------------------------------


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
    max_items : int or None
        Longest lists that it takes.
    """

    decode: Callable
    exact: bool
    of_scores: bool = False
    max_items: int | None = None


def sorting(exact=True, of_scores=True):
    """The decoder that sorts scores; its argument n_items is implied by u."""
    return Decoder(lambda u, n_items: decode_sort(u), exact, of_scores)


def ranks_of(decode):
    """The ranks alone of a decoder that also values them."""
    return lambda u, n_items: decode(u, n_items).ranks


# Classes ----------------------------------------------------------------------------


class RankingMeasure(BaseEstimator):
    """A measure of one order against one label, with the labels that it takes.

    Subclasses define ``values(y, scores, lists)``: one value for each list of grouped flat arrays,
    all lists at once, higher is better, nan where undefined. Class attributes declare the abilities
    of a measure; messages, tags and documentation follow from them.

    Attributes
    ----------
    labels : {"binary", "graded", "any"}
        "binary" are grades >= 0, relevant if > 0 (or >= the parameter `relevance_threshold`).
        "grades" are >= 0, "any" are real numbers.
    at : {"", "k", "[k]", "p%"}
        Pattern after "@" in its name: nothing, the parameter `k`, optional `k`, or the parameter
        `share` in per cent.
    takes_preferences : bool
        Whether y may be preferences (n_lists, r, r).
    allow_missing : bool
        Whether NaN in a matrix y means "not judged": where the utility of an item depends on its
        own grade alone, or pairs count.
    reaches_one : bool
        Whether the best order has the value 1 for every label.
    undefined : float
        The mean where no list has a value.
    takes_runs : bool
        Whether it has a value where some items were not retrieved, so that nothing orders them:
        it then defines `values_of_run`.
    """

    labels: ClassVar[str] = "graded"
    at: ClassVar[str] = ""
    takes_preferences: ClassVar[bool] = False
    allow_missing: ClassVar[bool] = False
    reaches_one: ClassVar[bool] = True
    undefined: ClassVar[float] = 0.0
    takes_runs: ClassVar[bool] = False
    _parameters: ClassVar[dict] = {}

    def check_labels(self, y: np.ndarray) -> np.ndarray:
        """Labels as the measure uses them; refuses those that it cannot take, and its parameters.

        Parameters
        ----------
        y : ndarray of float, any shape
            NaN passes; `check_judged` refuses it.

        Returns
        -------
        ndarray of the same shape
            Relevance 0 or 1 where `labels` is "binary".

        Raises
        ------
        ValueError
            Naming the place, the label and the remedy; or a parameter out of range.
        """
        check_parameters(self)
        if y.ndim < 3:
            return LABEL_CHECKS[self.labels](self, y)
        if not self.takes_preferences:
            raise ValueError(
                f"{self!r} takes grades, one per item, got preferences between items, an array of "
                f"shape {y.shape}: those go with pairwise disagreement only."
            )
        return check_preferences(y)

    def check_judged(self, y: Any, name: str = "y") -> None:
        """Refuse NaN, unless it means "not judged".

        Parameters
        ----------
        y : ndarray of 1, 2 or 3 dimensions
        name : str, default="y"
            Name in messages.

        Raises
        ------
        ValueError
            The message names the place and the measures that take missing labels.
        """
        check_judged(y, self.allow_missing, who=self, name=name, others=WITH_MISSING)

    def values(self, y: np.ndarray, scores: np.ndarray, lists: Any) -> np.ndarray:
        """The measure of each list, higher is better; nan if it is undefined.

        Parameters
        ----------
        y, scores : ndarray of shape (n_rows,)
            Grouped; y has passed `check_labels` (and may be preferences, (n_lists, r, r), where
            `takes_preferences`).
        lists : RankingLists

        Returns
        -------
        ndarray of shape (n_lists,)
        """
        raise NotImplementedError(f"{type(self).__name__} must define values(y, scores, lists).")

    def values_of_orders(self, y: np.ndarray, scores: np.ndarray, lists: Any) -> np.ndarray:
        """Mean of `values` over the orders that agree with the scores.

        This is `values` itself, except for measures with a value of their own for ties.

        Parameters
        ----------
        y, scores, lists
            As in `values`.

        Returns
        -------
        ndarray of shape (n_lists,)
        """
        return self.values(y, scores, lists)

    def values_of_run(
        self, y: np.ndarray, scores: np.ndarray, lists: Any, retrieved: Any
    ) -> np.ndarray:
        """`values` of lists with items that were not retrieved, if `takes_runs`.

        They add nothing, but count in what the measure divides by.

        Parameters
        ----------
        y, scores : ndarray of shape (n_rows,)
            Arguments of `values`; items that were not retrieved have lower scores than retrieved
            items.
        lists : RankingLists
        retrieved : ndarray of bool, shape (n_rows,)

        Returns
        -------
        ndarray of shape (n_lists,)
        """
        raise NotImplementedError(f"{type(self).__name__} has no value for a run.")

    def measure(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        average: Any = "mean",
        zero_division: float | None = None,
    ) -> float | np.ndarray:
        """The measure of scores, greater is better: the mean over its defined lists.

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
            None gives one value per list, in order of first appearance.
        zero_division : float or None, default=None
            Finite value of an undefined list; nan skips it in the mean. None does so too, and the
            mean over no list at all is then `undefined`.

        Returns
        -------
        float or ndarray of shape (n_lists,)

        Raises
        ------
        ValueError
            If labels, scores, ids or weights do not fit, or the value overflows.
        """
        fallback = np.nan if zero_division is None else check_zero_division(zero_division)
        y, scores, lists, weights = read_scored(
            y_true, y_score, qid, sample_weight, check=self._check_true
        )
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values_of_judged(y, scores, lists)
        if np.any(np.isinf(values)):
            raise ValueError(
                f"{self!r} overflows on list {int(np.argmax(np.isinf(values)))} (the first is 0): "
                "bring the grades to a smaller scale."
            )
        value = mean_of_lists(values, weights, average=average, zero_division=fallback)
        no_list = zero_division is None and average == "mean" and np.isnan(value)
        return self.undefined if no_list else value

    def _check_true(self, y):
        self.check_judged(y, "y_true")
        return self.check_labels(y)

    def _values_of_judged(self, y, scores, lists, *, of_orders=False):
        """`values` without the items that are not judged; nan for a list in which none is."""
        measure = self.values_of_orders if of_orders else self.values
        judged = ~np.isnan(y) if self.allow_missing and y.ndim == 1 else None
        if judged is None or judged.all():
            return measure(lists.group(y), lists.group(scores), lists)
        kept, kept_lists = lists.select(judged)  # rows of a matrix: grouped already
        values = np.full(lists.n_lists, np.nan)
        if kept.n_lists:
            values[kept_lists] = measure(y[judged], scores[judged], kept)
        return values


class TargetLoss(RankingMeasure):
    """A measure with a low-rank form, for which `LowRankSurrogateRanker` can be trained.

    Subclasses define ``encode``, ``rank_features``, ``offset``, ``row_targets`` (documents)
    and, where sorting `encode` is not the decoder, ``decoders``.
    `testing.check_target_loss` holds the promise of the module's formula.

    Attributes
    ----------
    is_positional : bool
        Whether it is a `PositionalLoss`, for order-preserving surrogates.
    takes_documents : bool
        Whether it has a form for documents, one row each.
    """

    is_positional: ClassVar[bool] = False

    @property
    def takes_documents(self) -> bool:
        return type(self).row_targets is not TargetLoss.row_targets

    def encode(self, y: ArrayLike) -> np.ndarray:
        """Targets alpha(y), shape (n_lists, d), of labels y (n_lists, r) or (n_lists, r, r)."""
        raise NotImplementedError(f"{type(self).__name__} must define encode(y).")

    def rank_features(self, ranks: Any) -> np.ndarray:
        """beta(ranks), shape (n, d), of ranks (n, r): the loss is linear in them."""
        raise NotImplementedError(f"{type(self).__name__} must define rank_features(ranks).")

    def offset(self, y: ArrayLike) -> np.ndarray:
        """The part of the loss that no order changes, shape (n_lists,)."""
        raise NotImplementedError(f"{type(self).__name__} must define offset(y).")

    def loss(self, y: ArrayLike, ranks: Any) -> np.ndarray:
        """Loss of each label y[q] under ranks[q], shape (n_lists,); lower is better."""
        return self.offset(y) + np.einsum("nd,nd->n", self.encode(y), self.rank_features(ranks))

    @property
    def decoders(self) -> dict[str, Decoder]:
        """Decoders for lists of fixed items by name; documents are always sorted."""
        return {"sort": sorting()}

    def auto_decoder(self, n_items: Any, y: ArrayLike | None = None) -> str:
        """The name that "auto" stands for, by the settings, and the shape of the labels y alone."""
        return next(iter(self.decoders))

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Targets (n_lists, r) of the score-and-sort form, what decoder="sort" regresses."""
        return self.encode(y)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
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
