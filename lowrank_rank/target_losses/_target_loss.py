"""Base classes of measures and target losses.

A measure has one value for each list. A target loss is a measure with a low-rank form,

    loss(y, order) = offset(y) + <encode(y), rank_features(ranks(order))>

A regressor that learns E[encode(Y) | x] and a decoder that minimises
``<u, rank_features(ranks)>`` are together consistent for the loss (Ramaswamy, Agarwal &
Tewari 2013, theorem 3).
"""

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_consistent_length

from .._arrays import ArrayLike, check_same_labels, check_size, plain, take_rows
from .._labels import check_judged, lists_of, read_labels, read_scored, read_weights
from .._lists import bounded_blocks
from .._parameters import check_parameter, check_parameters, inherit_docstrings, number
from .._typing import BaseEstimator
from .._warn import warn
from ..decoders._decoded import Decoder, decode_sort

# Labels and values ------------------------------------------------------------------


def check_zero_division(value):
    """The value of undefined lists as a float; refuse all but finite numbers and nan."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"zero_division must be a number, got {plain(value)!r}.")
    if np.isinf(float(value)):
        raise ValueError(f"zero_division must be finite, or nan, got {plain(value)!r}.")
    return float(value)


def check_grades(y):
    """Refuse negative grades, naming the first."""
    if np.any(y < 0):
        place = tuple(int(i) for i in np.argwhere(y < 0)[0])
        raise ValueError(
            f"y holds a negative grade ({y[place]:g}, first at {place[0] if y.ndim == 1 else place}"
            "): grades must be >= 0, higher is better. Shift them, or give a ranking as r - rank."
        )
    return y


def relevance(y, relevance_threshold=None):
    """1 for relevant items, grade > 0 or >= `relevance_threshold`, else 0; NaN stays."""
    check_grades(y)
    relevant = y > 0 if relevance_threshold is None else y >= relevance_threshold
    return np.where(np.isnan(y), np.nan, relevant)


#: The parameter of measures with labels "binary".
RELEVANCE = {"relevance_threshold": [number(), None]}
#: Names of some target losses with `allow_missing`, for messages.
NAMES_WITH_MISSING = ["precision@10", "dcg", "eru", "pd", "kendall"]


def mean_of_lists(values, weights, *, average="mean", zero_division=np.nan):
    """Weighted mean over lists; `zero_division` replaces nan values, nan excludes such lists."""
    check_parameter("average", average, ["mean", None])
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
    if not np.isfinite([mean, total]).all():  # the sums overflow
        weights = weights / weights.max() / len(weights)
        mean = values @ weights / weights.sum()
    return float(mean)


def reciprocal(normalisers):
    """1 / normaliser, or 0 if that is 0: a list without relevant items has utility 0."""
    return np.divide(
        1.0, normalisers, out=np.zeros(len(normalisers)), where=normalisers > 0
    )


def check_pairs_fit(loss, n_lists, n_items):
    """Refuse an encoding of the pairs of fixed items that is larger than memory."""
    check_size(
        f"The targets of {loss!r}, {n_lists} lists of {n_items} items, one for each pair,",
        8 * n_lists * n_items * (n_items + 1),  # the targets and their factors
        "use a target loss of single items such as 'ndcg', or give documents, one row each",
    )


# Decoders ---------------------------------------------------------------------------


#: The decoder that sorts scores.
SORT = Decoder(lambda u, n_items: decode_sort(u), exact=True, of_scores=True)


def ranks_of(decode):
    """A function that returns the ranks of a combinatorial decoder without their values."""
    return lambda u, n_items: decode(u, n_items).ranks


# Classes ----------------------------------------------------------------------------


class RankingMeasure(BaseEstimator):
    """A measure of one order against one label.

    Subclasses define ``values(y, scores, lists)``, which returns the values of all
    lists at once. Class attributes declare the labels and the name; messages, tags and
    documentation follow.

    Attributes
    ----------
    labels : {"binary", "graded", "any"}
        "graded": numbers >= 0. "binary": the same, and grades > 0, or >=
        `relevance_threshold` if the measure has it, are relevant. "any": real numbers.
    at : {"", "k", "[k]", "p%"}
        The syntax of the name after "@": nothing, the parameter `k`, an optional `k`,
        or the parameter `share` in per cent.
    takes_preferences : bool
        Whether y may be preferences (n_lists, r, r).
    allow_missing : bool
        Whether NaN in a matrix y means "not judged". This needs a measure of pairs, or
        one in which the utility of an item depends on its own grade alone.
    reaches_one : bool
        Whether the best order always has the value 1; scikit-learn's checks ask for it.
    undefined : float
        The mean if no list has a value.
    takes_runs : bool
        Whether the measure is defined if some items were not retrieved, and so have no
        position. Such a measure defines `values_of_run`.
    """

    labels: ClassVar[str] = "graded"
    at: ClassVar[str] = ""
    takes_preferences: ClassVar[bool] = False
    allow_missing: ClassVar[bool] = False
    reaches_one: ClassVar[bool] = True
    undefined: ClassVar[float] = 0.0
    takes_runs: ClassVar[bool] = False
    _parameters: ClassVar[dict] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherit_docstrings(cls)

    def check_labels(self, y: np.ndarray) -> np.ndarray:
        """Check the labels and the parameters; return the labels as the measure uses them.

        Parameters
        ----------
        y : ndarray of float, any shape
            May hold NaN; `check_judged` refuses it.

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
        if y.ndim == 3 and not self.takes_preferences:
            raise ValueError(
                f"{self!r} takes grades, one per item, got preferences between items, an array of "
                f"shape {y.shape}: only pairwise disagreement takes those."
            )
        if y.ndim == 3 and y.shape[1] != y.shape[2]:
            raise ValueError(
                f"Preferences must have the shape (n_lists, r, r), got {y.shape}."
            )
        if y.ndim == 3 and np.any(y < 0):
            place = tuple(int(i) for i in np.argwhere(y < 0)[0])
            raise ValueError(
                f"y{list(place)} = {y[place]:g}: preferences y[q, i, j] are weights >= 0 of 'i "
                "before j'; put the weight of the opposite preference into y[q, j, i]."
            )
        if y.ndim == 3:
            return y
        if self.labels == "binary":
            return relevance(y, getattr(self, "relevance_threshold", None))
        if self.labels not in ("graded", "any"):
            raise ValueError(
                f"labels must be 'binary', 'graded' or 'any', got {self.labels!r}."
            )
        return check_grades(y) if self.labels == "graded" else y

    def __repr__(self, **how: Any) -> str:
        text, k = super().__repr__(**how), getattr(self, "k", None)
        if k is None or "k=" in text:
            return text
        return text.replace("(", f"(k={k}" if text.endswith("()") else f"(k={k}, ", 1)

    def warn_without_utility(self, y: Any) -> None:
        """Warn if no grade has any utility: a fit would give all rows the same score.

        Parameters
        ----------
        y : ndarray
            Labels of fit.
        """
        least = getattr(self, "relevance_threshold", None)
        neutral = getattr(self, "neutral", None if self.labels == "any" else 0.0)
        if neutral is None or (self.labels != "any" and np.any(y < 0)):  # refused later
            return
        if np.any(y > neutral if least is None else y >= least):
            return
        sign = ">" if least is None else ">="
        warn(
            f"No label has any utility for {self!r}: grades {sign} "
            f"{neutral if least is None else least:g} count, and the largest is "
            f"{np.fmax.reduce(y, axis=None, initial=-np.inf):g}."
        )

    def check_judged(self, y: Any, name: str = "y") -> None:
        """Refuse NaN that does not mean "not judged", naming measures that accept it.

        Parameters
        ----------
        y : ndarray of 1, 2 or 3 dimensions
            Labels.
        name : str, default="y"
            The name of y in messages.

        Raises
        ------
        ValueError
            Naming the place and the remedy.
        """
        check_judged(
            y, self.allow_missing, who=self, name=name, others=NAMES_WITH_MISSING
        )

    def values(self, y: np.ndarray, scores: np.ndarray, lists: Any) -> np.ndarray:
        """The measure of each list, higher is better, nan if undefined.

        Parameters
        ----------
        y, scores : ndarray of shape (n_rows,)
            Grouped; y has passed `check_labels`. If `takes_preferences`, y may be
            preferences (n_lists, r, r).
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        ndarray of shape (n_lists,)
            The measure of each list; NaN if undefined.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define values(y, scores, lists)."
        )

    def values_of_orders(
        self, y: np.ndarray, scores: np.ndarray, lists: Any
    ) -> np.ndarray:
        """The mean of `values` over all orders that agree with the scores.

        Most measures average over ties in `values` already; Kendall's tau counts ties.

        Parameters
        ----------
        y, scores, lists
            See `values`.

        Returns
        -------
        ndarray of shape (n_lists,)
            The measure of each list; NaN if undefined.
        """
        return self.values(y, scores, lists)

    def values_of_run(
        self, y: np.ndarray, scores: np.ndarray, lists: Any, retrieved: Any
    ) -> np.ndarray:
        """`values` if some items were not retrieved; for measures with `takes_runs`.

        Items that were not retrieved add nothing, but count in the normaliser.

        Parameters
        ----------
        y, scores : ndarray of shape (n_rows,)
            See `values`; items that were not retrieved have lower scores than all
            others.
        lists : RankingLists
            Lists of the rows.
        retrieved : ndarray of bool, shape (n_rows,)
            Whether the run has the row.

        Returns
        -------
        ndarray of shape (n_lists,)
            The measure of each list; NaN if undefined.
        """
        value = self.values(np.where(retrieved, y, 0.0), scores, lists)
        return np.where(np.isnan(value) & (lists.sum(y) > 0), 0.0, value)

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
        """The mean of the measure over the lists for which it is defined, higher is better.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
            Labels; a sparse matrix (n_lists, r) is read some rows at a time.
        y_score : array-like of shape (n_rows,) or (n_lists, r)
            Scores, higher is better; ties count as the mean over their orders. For
            sparse y_true also a function from the indices of some rows to their scores.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids of the rows.
        sample_weight : array-like, default=None
            Weights of rows (a list has the mean weight of its rows) or of lists.
        average : {"mean", None}, default="mean"
            None gives one value per list, in order of first appearance.
        zero_division : float or None, default=None
            Value of a list for which the measure is undefined; nan excludes such lists
            from the mean. None does so too, and then the mean over no list at all is
            `undefined`.

        Returns
        -------
        float or ndarray of shape (n_lists,)
            The measure: the larger, the better.

        Raises
        ------
        ValueError
            If labels, scores, ids or weights do not fit, or the value overflows.
        """
        fallback = (
            np.nan if zero_division is None else check_zero_division(zero_division)
        )
        values_of = self._values_of_sparse if issparse(y_true) else self._values_of
        values, weights = values_of(y_true, y_score, qid, sample_weight)
        if np.any(np.isinf(values)):
            raise ValueError(
                f"{self!r} overflows on list {int(np.argmax(np.isinf(values)))} (the first is 0): "
                "bring the grades to a smaller scale."
            )
        value = mean_of_lists(values, weights, average=average, zero_division=fallback)
        if zero_division is not None or average is None or not np.isnan(value):
            return value
        warn(
            f"{self!r} is undefined on all {len(values)} lists, and the mean is set to "
            f"{self.undefined:g}: do they hold relevant items? Or set zero_division.",
            UndefinedMetricWarning,
        )
        return self.undefined

    def _values_of(self, y_true, y_score, qid=None, sample_weight=None):
        """The value and the weight of each list."""

        def check(y):
            self.check_judged(y, "y_true")
            return self.check_labels(y)

        y, scores, lists, weights = read_scored(
            y_true, y_score, qid, sample_weight, check=check
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return self._values_of_judged(y, scores, lists), weights

    def _values_of_sparse(self, y_true, y_score, qid, sample_weight, max_entries=2**24):
        """`_values_of` sparse labels, which become dense for a few rows at a time."""
        y = read_labels(y_true, "y_true", accept_sparse=True)
        lists_of(y, qid, "y_true")  # refuses qid
        if not callable(y_score):
            check_consistent_length(y, y_score)
            y_score = partial(take_rows, y_score)
        n, r = y.shape
        rows = [np.arange(n)[some] for some in bounded_blocks(n, r, max_entries)]
        parts = [self._values_of(y[some].toarray(), y_score(some))[0] for some in rows]
        return np.concatenate(parts), read_weights(sample_weight, n)

    def _values_of_judged(self, y, scores, lists, *, of_orders=False):
        """`values` of the judged items alone; nan for a list without any."""
        measure = self.values_of_orders if of_orders else self.values
        judged = ~np.isnan(y) if self.allow_missing and y.ndim == 1 else None
        if judged is None or judged.all():
            return measure(lists.group(y), lists.group(scores), lists)
        kept, kept_lists = lists.select(judged)  # rows of a matrix: grouped already
        values = np.full(lists.n_lists, np.nan)
        if kept.n_lists:
            values[kept_lists] = measure(y[judged], scores[judged], kept)
        return values


class BinaryMeasure(RankingMeasure):
    """Base of measures whose one parameter says which grades are relevant."""

    labels = "binary"
    _parameters: ClassVar = RELEVANCE

    def __init__(self, *, relevance_threshold: float | None = None) -> None:
        self.relevance_threshold = relevance_threshold


class TargetLoss(RankingMeasure):
    """A measure with a low-rank form, a target loss of `LowRankSurrogateRanker`.

    Subclasses define ``encode``, ``rank_features``, ``offset``, ``row_targets``
    (documents) and, unless sorting `encode` is the decoder, ``decoders``.
    `testing.check_target_loss` checks the formula of the module.

    Attributes
    ----------
    is_positional : bool
        Whether it is a `PositionalLoss`, a target loss of order-preserving surrogates.
    takes_documents : bool
        Whether it has a form for documents, one row each.
    """

    is_positional: ClassVar[bool] = False

    @property
    def takes_documents(self) -> bool:
        return type(self).row_targets is not TargetLoss.row_targets

    def encode(self, y: ArrayLike) -> np.ndarray:
        """Targets alpha(y), shape (n_lists, d), of labels y (n_lists, r) or (n_lists, r, r).

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.

        Returns
        -------
        ndarray of shape (n_lists, d)
            alpha(y), what a regression learns.
        """
        raise NotImplementedError(f"{type(self).__name__} must define encode(y).")

    def rank_features(self, ranks: Any) -> np.ndarray:
        """beta(ranks), shape (n, d), of ranks (n, r): the loss is linear in them.

        Parameters
        ----------
        ranks : ndarray of int, shape (n_lists, r)
            Ranks of the items, 1 = best.

        Returns
        -------
        ndarray of shape (n_lists, d)
            beta(ranks).
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define rank_features(ranks)."
        )

    def offset(self, y: ArrayLike) -> np.ndarray:
        """The part of the loss that does not depend on the order, shape (n_lists,).

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.

        Returns
        -------
        ndarray of shape (n_lists,)
            The offset of each list.
        """
        raise NotImplementedError(f"{type(self).__name__} must define offset(y).")

    def loss(self, y: ArrayLike, ranks: Any) -> np.ndarray:
        """Loss of each label y[q] under ranks[q], shape (n_lists,); lower is better.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.
        ranks : ndarray of int, shape (n_lists, r)
            Ranks of the items, 1 = best.

        Returns
        -------
        ndarray of shape (n_lists,)
            The loss of each list.
        """
        check_same_labels(y=y, ranks=ranks)
        return self.offset(y) + np.einsum(
            "nd,nd->n", self.encode(y), self.rank_features(ranks)
        )

    @property
    def decoders(self) -> dict[str, Decoder]:
        """Decoders for lists of fixed items by name; documents are always sorted."""
        return {"sort": SORT}

    def auto_decoder(self, n_items: Any, y: np.ndarray | None = None) -> str:
        """The decoder that "auto" selects by the settings and the shape of y alone.

        Parameters
        ----------
        n_items : int
            Length r of the lists.
        y : ndarray or None, default=None
            Labels; None stands for grades that are all judged.

        Returns
        -------
        str
            A name in `decoders`.
        """
        return next(iter(self.decoders))

    def regression_targets(self, y: ArrayLike) -> np.ndarray:
        """`encode`, with NaN for the targets that a regression ignores.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.

        Returns
        -------
        ndarray of shape (n_lists, d)
            Targets, NaN where nothing is known.
        """
        return self.encode(y)

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Targets (n_lists, r) of the score-and-sort form, for decoder="sort".

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.

        Returns
        -------
        ndarray of shape (n_lists, r)
            A target for each item.
        """
        return self.encode(y)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Targets of documents: gains and the normaliser of each list.

        The regression target of a row is ``gain * mean(normaliser) / normaliser``, or 0
        if the normaliser is 0.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels, checked.
        lists : RankingLists
            Lists of the rows.
        weights : ndarray of shape (n_rows,)
            Importance of each row.

        Returns
        -------
        gains : ndarray of shape (n_rows,)
            Gain of each row.
        normalisers : ndarray of shape (n_lists,)
            Normaliser of each list.
        """
        raise ValueError(
            f"{self!r} has no form for documents (one row each): its decoder needs the whole "
            "list. Give y as a matrix (one row per query), or use another target loss; "
            "StackingRanker takes any measure."
        )
