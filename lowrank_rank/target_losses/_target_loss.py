"""Base classes of measures and target losses.

A measure has one value for each list. A target loss is a measure with a low-rank form,

    loss(y, order) = offset(y) + <encode(y), rank_features(ranks(order))>

A regressor that learns E[encode(Y) | x] and a decoder that minimises
``<u, rank_features(ranks)>`` are together consistent for the loss (Ramaswamy, Agarwal &
Tewari 2013, theorem 3).
"""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_consistent_length

from .._typing import BaseEstimator
from ..decoders._decoded import Decoder, decode_sort
from ..lists._lists import bounded_blocks
from ..validation._arrays import (
    ArrayLike,
    check_same_labels,
    check_size,
    is_finite,
    take_rows,
)
from ..validation._check import refuse
from ..validation._checks_of_scores import CHECKS_OF_LABELS
from ..validation._findings import found, reports
from ..validation._kinds import arrive
from ..validation._labels import (
    check_judged,
    lists_of,
    look_at_lists,
    read_labels,
    read_scored,
    read_scores,
    read_weights,
)
from ..validation._parameters import (
    check_parameter,
    check_parameters,
    inherit_docstrings,
    number,
    number_or_nan,
)

# Labels and values ------------------------------------------------------------------


def look_for_worthless_grades(measure, y):
    """Look whether no grade is above the neutral one of a measure: all values are 0."""
    if hasattr(measure, "neutral") and not issparse(y) and np.size(y) >= 20:
        measure.warn_without_utility(np.asarray(y))


def check_zero_division(value):
    """Return the value of undefined lists as a float, if it is finite or nan."""
    check_parameter("zero_division", value, [number_or_nan])
    return float(value)


def relevance(y, relevance_threshold=None):
    """Return 1 for relevant items, else 0; NaN stays.

    Grades > 0 are relevant, or grades of at least `relevance_threshold`.
    """
    is_relevant = y > 0
    if relevance_threshold is not None:
        is_relevant = y >= relevance_threshold
    return np.where(np.isnan(y), np.nan, is_relevant)


#: The parameter of measures with labels "binary".
RELEVANCE = {"relevance_threshold": [number(), None]}
#: Names of some target losses with `allow_missing`, for messages.
NAMES_WITH_MISSING = ["precision@10", "dcg", "eru", "pd", "kendall"]


def mean_of_lists(values, weights, *, average="mean", zero_division=np.nan):
    """Compute the weighted mean over lists; `zero_division` replaces nan values.

    A list whose value stays nan is left out. With ``average=None`` the values of the
    lists are returned.
    """
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
    if not np.isfinite([mean, total]).all():
        # The sums overflow: the scale of the weights does not matter.
        weights = weights / weights.max() / len(weights)
        mean = values @ weights / weights.sum()
    return float(mean)


def reciprocal(normalisers):
    """Compute 1 / normaliser, or 0 where that is 0: no item has any utility."""
    zeros = np.zeros(len(normalisers))
    return np.divide(1.0, normalisers, out=zeros, where=normalisers > 0)


def check_pairs_fit(loss, n_lists, n_items):
    """Refuse an encoding of the pairs of fixed items that is larger than memory."""
    n_bytes = 8 * n_lists * n_items * (n_items + 1)  # the targets and their factors
    check_size(
        f"The targets of {loss!r}, {n_lists} lists of {n_items} items, one for each "
        "pair,",
        n_bytes,
        "use a target loss of single items such as 'ndcg', or give documents, one row "
        "each",
    )


# Decoders ---------------------------------------------------------------------------


def _sort(u, n_items):
    return decode_sort(u)


#: The decoder that sorts scores.
SORT = Decoder(_sort, exact=True, of_scores=True)


def ranks_of(decode):
    """Make a function that returns the ranks of a combinatorial decoder alone."""

    def ranks(u, n_items):
        return decode(u, n_items).ranks

    return ranks


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
        Whether `fit` takes NaN, "not judged", in a matrix y; scores always leave such
        items out. This needs a measure of pairs, or one in which the utility of an item
        depends on its own grade alone.
    reaches_one : bool
        Whether the best order always has the value 1; scikit-learn's checks ask for it.
    bounds : pair of float
        The lowest and the highest value possible; -inf and inf if there is none.
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
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    undefined: ClassVar[float] = 0.0
    takes_runs: ClassVar[bool] = False
    _parameters: ClassVar[dict] = {}
    #: The largest grade that the measure takes; None for any.
    _largest_grade: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherit_docstrings(cls)

    def check_labels(self, y: np.ndarray) -> np.ndarray:
        """Check labels and parameters; return the labels as the measure uses them.

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
        return self._checked_labels(y, "y")

    def _checked_labels(self, y, name):
        """Check labels of this name, as `check_labels` does."""
        check_parameters(self)
        is_usual = self.labels == "any" or (
            self.labels in ("binary", "graded")
            and self._largest_grade is None
            and not np.any(y < 0)
        )
        if not is_usual or y.ndim > 2:
            refuse(CHECKS_OF_LABELS, y=y, name=name, measure=self)
        if self.labels == "binary" and y.ndim < 3:
            return relevance(y, getattr(self, "relevance_threshold", None))
        return y

    def __repr__(self, **how: Any) -> str:
        text = super().__repr__(**how)
        k = getattr(self, "k", None)
        # scikit-learn leaves out a k of the default value.
        if k is None or "k=" in text:
            return text
        name, parameters = text.split("(", 1)
        separator = "" if parameters == ")" else ", "
        return f"{name}(k={k}{separator}{parameters}"

    def warn_without_utility(self, y: Any) -> bool:
        """Warn if no grade has any utility: a fit would give all rows the same score.

        Parameters
        ----------
        y : ndarray
            Labels of fit.

        Returns
        -------
        bool
            Whether no grade has any utility.
        """
        threshold = getattr(self, "relevance_threshold", None)
        # Grades > 0 have a utility; of other labels only the measure can say.
        default = None if self.labels == "any" else 0.0
        neutral = getattr(self, "neutral", default)
        if neutral is None:
            return False
        if self.labels != "any" and np.any(y < 0):  # `check_labels` refuses them
            return False
        if threshold is None:
            sign = ">"
            limit = neutral
            has_utility = y > neutral
        else:
            sign = ">="
            limit = threshold
            has_utility = y >= threshold
        if np.any(has_utility):
            return False
        largest = np.fmax.reduce(y, axis=None, initial=-np.inf)
        remedy = ""
        if largest > 0 and hasattr(self, "neutral"):
            remedy = f" {type(self).__name__}(neutral=0) counts all grades above 0."
        elif largest > 0 and threshold is not None:
            remedy = f" Use relevance_threshold={largest:g}, or a lower number."
        found(
            "no utility",
            f"No label has any utility for {self!r}: grades {sign} {limit:g} count, "
            f"and the largest is {largest:g}.{remedy}",
            about=repr(self),
        )
        return True

    def check_judged(self, y: Any, name: str = "y") -> None:
        """Refuse NaN, except as "not judged"; name the measures that accept it.

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
        """Compute the measure of each list, higher is better, nan if undefined.

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
        """Compute the mean of `values` over all orders that agree with the scores.

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
        """Compute `values` if some items were not retrieved.

        This is for measures with `takes_runs`. Items that were not retrieved add
        nothing, but count in the normaliser.

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
        values = self.values(np.where(retrieved, y, 0.0), scores, lists)
        # Lists whose relevant items were not retrieved.
        is_missed = np.isnan(values) & (lists.sum(y) > 0)
        return np.where(is_missed, 0.0, values)

    @reports
    def measure(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        average: Any = "mean",
        zero_division: float | None = None,
        one_list: bool = False,
    ) -> float | np.ndarray:
        """Compute the mean of the measure over lists, higher is better.

        Lists for which the measure is undefined are left out.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
            Labels. NaN in a matrix (n_lists, r) leaves the item out; a sparse matrix is
            read some rows at a time.
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
            from the mean. None does so too; if no list has a value, the mean is then
            `undefined`.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids warn.

        Returns
        -------
        float or ndarray of shape (n_lists,)
            The measure: the larger, the better.

        Raises
        ------
        ValueError
            If labels, scores, ids or weights do not fit, or the value overflows.
        """
        arrive(y_true=y_true, y_score=y_score, qid=qid, sample_weight=sample_weight)
        value_if_undefined = np.nan
        if zero_division is not None:
            value_if_undefined = check_zero_division(zero_division)
        look_at_lists(one_list, y_true, qid)
        values, weights = finite_values(self, y_true, y_score, qid, sample_weight)
        mean = mean_of_lists(
            values, weights, average=average, zero_division=value_if_undefined
        )
        if zero_division is not None or average is None or not np.isnan(mean):
            return mean
        return _undefined_mean(self, len(values))


# Values of lists by a measure -------------------------------------------------------


def sums_of_lists(
    measure, y_true, y_score, qid=None, sample_weight=None, *, of_orders=False
):
    """Sum the weighted measure over its defined lists; sums add up over blocks.

    Parameters
    ----------
    measure : RankingMeasure
    y_true, y_score, qid, sample_weight
        As in `RankingMeasure.measure`.
    of_orders : bool
        Whether to take `values_of_orders`.

    Returns
    -------
    ndarray of shape (3,)
        Sum of the weighted values, sum of the weights of the defined lists, and the
        number of all lists.
    """
    values, weights = finite_values(
        measure, y_true, y_score, qid, sample_weight, of_orders=of_orders
    )
    is_defined = ~np.isnan(values)
    weights_of_defined = weights[is_defined]
    total = values[is_defined] @ weights_of_defined
    return np.array([total, weights_of_defined.sum(), len(values)])


def mean_of_sums(measure, sums):
    """Divide the sums of `sums_of_lists`."""
    total, weight, n_lists = sums
    if weight > 0:
        return float(total / weight)
    return _undefined_mean(measure, int(n_lists))


def mean_of_data(measure, data, scores):
    """Compute `RankingMeasure.measure` of the `Data` that a score has read."""
    mean = _mean_of_data(measure, data, read_scores(scores, data.y))
    return _undefined_mean(measure, data.lists.n_lists) if np.isnan(mean) else mean


def random_mean_of_data(measure, data):
    """Compute the mean on `Data` if each list is ordered at random.

    `undefined` without any value; `mean_of_data` warns of that.
    """
    equal_scores = np.zeros(data.lists.n_rows)
    mean = _mean_of_data(measure, data, equal_scores, of_orders=True)
    return measure.undefined if np.isnan(mean) else mean


def _mean_of_data(measure, data, scores, *, of_orders=False):
    """Compute the mean on `Data` at flat scores; nan if no list has a value."""
    y = scored_labels(measure, data.y)
    if y.ndim < 3:
        y = y.ravel()
    values = values_of_judged(measure, y, scores, data.lists, of_orders=of_orders)
    refuse_infinite(measure, values)
    return mean_of_lists(values, data.weights)


def mean_of_random_order(measure, y_true, qid=None, sample_weight=None):
    """Compute the mean of the measure if each list is ordered at random.

    `undefined` without any value; the mean of the scores warns of that.
    """
    shape = np.shape(y_true)[:2]
    equal_scores: Any = np.zeros(shape)
    if issparse(y_true):

        def equal_scores(rows):
            return np.zeros((len(rows), shape[1]))

    sums = sums_of_lists(
        measure, y_true, equal_scores, qid, sample_weight, of_orders=True
    )
    _, weight, _ = sums
    if weight == 0:
        return measure.undefined
    return mean_of_sums(measure, sums)


def _undefined_mean(measure, n_lists):
    """Warn that no list has a value; return the value that replaces the mean."""
    found(
        "undefined measure",
        f"{measure!r} is undefined on all {n_lists} lists, and the mean is set to "
        f"{measure.undefined:g}: do they hold relevant items? Or set zero_division.",
        UndefinedMetricWarning,
        about=repr(measure),
    )
    return measure.undefined


def finite_values(measure, y_true, y_score, qid, sample_weight, *, of_orders=False):
    """Compute the value and the weight of each list; refuse values that overflow."""
    values_of = _values_of_sparse if issparse(y_true) else values_of_lists
    values, weights = values_of(
        measure, y_true, y_score, qid, sample_weight, of_orders=of_orders
    )
    refuse_infinite(measure, values)
    return values, weights


def refuse_infinite(measure, values):
    """Refuse values of lists that overflow."""
    is_infinite = np.isinf(values)
    if np.any(is_infinite):
        raise ValueError(
            f"{measure!r} overflows on list {int(np.argmax(is_infinite))} (the first "
            "is 0): bring the grades to a smaller scale."
        )


def values_of_lists(
    measure, y_true, y_score, qid=None, sample_weight=None, *, of_orders=False
):
    """Compute the value of each list, and read the weights of the lists."""
    y, scores, lists, weights = read_scored(
        y_true, y_score, qid, sample_weight, check=partial(scored_labels, measure)
    )
    return values_of_judged(measure, y, scores, lists, of_orders=of_orders), weights


def scored_labels(measure, y):
    """Check labels that are scored, and return them as the measure uses them."""
    # NaN in a matrix leaves the item out, in every measure.
    if y.ndim != 2:
        measure.check_judged(y, "y_true")
    if type(measure).check_labels is not RankingMeasure.check_labels:
        return measure.check_labels(y)
    return measure._checked_labels(y, "y_true")


def _values_of_sparse(measure, y_true, y_score, qid, sample_weight, *, of_orders=False):
    """Compute `values_of_lists` of sparse labels, made dense some rows at a time.

    `y_score` may be a function from the indices of rows to their scores.
    """
    y = read_labels(y_true, "y_true", accept_sparse=True)
    lists_of(y, qid, "y_true")  # refuses qid
    scores_of = y_score
    if not callable(y_score):
        check_consistent_length(y, y_score)
        scores_of = partial(take_rows, y_score)
    n, r = y.shape
    parts = []
    for block in bounded_blocks(n, r, 2**24):
        rows = np.arange(n)[block]
        values, _ = values_of_lists(
            measure, y[rows].toarray(), scores_of(rows), of_orders=of_orders
        )
        parts.append(values)
    return np.concatenate(parts), read_weights(sample_weight, n)


def values_of_judged(measure, y, scores, lists, *, of_orders=False):
    """Compute `values` of the judged items alone, nan for a list without any."""
    values_of = measure.values_of_orders if of_orders else measure.values
    with np.errstate(over="ignore", invalid="ignore"):
        if is_finite(y):
            return values_of(lists.group(y), lists.group(scores), lists)
        # NaN occurs in a matrix only, whose rows are grouped already.
        is_judged = ~np.isnan(y)
        judged_lists, has_judged = lists.select(is_judged)
        values = np.full(lists.n_lists, np.nan)
        if judged_lists.n_lists:
            values[has_judged] = values_of(
                y[is_judged], scores[is_judged], judged_lists
            )
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

    Examples
    --------
    The sum of grades times ranks. The targets are the grades, and sorting decodes them.
    Tied items have the mean of their ranks:

    >>> import numpy as np
    >>> from scipy.stats import rankdata
    >>> from lowrank_rank.target_losses import TargetLoss
    >>> class GradeTimesRank(TargetLoss):
    ...     labels = "graded"
    ...     def values(self, y, scores, lists):
    ...         parts = (np.split(a, lists.starts[1:]) for a in (y, -scores))
    ...         return -np.array([grades @ rankdata(s) for grades, s in zip(*parts)])
    ...     def encode(self, y):
    ...         return np.asarray(y, dtype=float)
    ...     def rank_features(self, ranks):
    ...         return np.asarray(ranks, dtype=float)
    ...     def offset(self, y):
    ...         return np.zeros(len(y))

    Grades 2 and 1 in the places 1 and 3 have the measure -(2 + 3):

    >>> GradeTimesRank().measure([2, 0, 1], [0.9, 0.5, 0.1])
    -5.0
    >>> from lowrank_rank.calibration import calibration_report
    >>> calibration_report(GradeTimesRank())
    name           declared  tried                   error  found
    factorisation  exact     243 labels, all orders      0  no counter-example
    sort           exact     500 distributions           0  no counter-example
    """

    is_positional: ClassVar[bool] = False

    @property
    def takes_documents(self) -> bool:
        return type(self).row_targets is not TargetLoss.row_targets

    def encode(self, y: ArrayLike) -> np.ndarray:
        """Compute the targets alpha(y), shape (n_lists, d).

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
        """Compute beta(ranks), shape (n, d); the loss is linear in them.

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
        """Compute the part of the loss that does not depend on the order.

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
        """Compute the loss of each label y[q] under ranks[q]; lower is better.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.
        ranks : ndarray of int, shape (n_lists, r)
            Ranks of the items, 1 = best.

        Returns
        -------
        ndarray of shape (n_lists,)
            The loss of each list; nan where `measure` is undefined.
        """
        arrive({"y", "ranks"}, y=y, ranks=ranks)
        check_same_labels(y=y, ranks=ranks)
        # offset(y) + <alpha(y), beta(ranks)>
        offset = self.offset(y)
        alpha = self.encode(y)
        beta = self.rank_features(ranks)
        losses = offset + np.einsum("nd,nd->n", alpha, beta)
        values = self.measure(y, -np.asarray(ranks), average=None)
        return np.where(np.isnan(values), np.nan, losses)

    @property
    def decoders(self) -> dict[str, Decoder]:
        """Decoders for lists of fixed items by name; documents are always sorted."""
        return {"sort": SORT}

    def auto_decoder(self, n_items: Any, y: np.ndarray | None = None) -> str:
        """Return the name of the decoder that "auto" selects.

        The choice depends on the parameters and the shape of y alone.

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
        """Compute `encode` with NaN for the targets that a regression ignores.

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

    def _encode_part(self, y, part):
        """Compute a slice of the columns of `regression_targets`."""
        targets = self.regression_targets(y)
        if np.ndim(targets) != 2:  # the reader of targets refuses the shape
            return targets
        return targets[:, part]

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Compute the targets of the score-and-sort form, for decoder="sort".

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
        """Compute the targets of documents: gains and the normaliser of each list.

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
            f"{self!r} has no form for documents (one row each): its decoder needs the "
            "whole list. Give y as a matrix (one row per query), or use another target "
            "loss; StackingRanker takes any measure."
        )
