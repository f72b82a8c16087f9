"""The top of lists, mini-batches of lists with binary labels, and their subgradients.

A batch holds its rows and the number of places at the top. Given weights it returns a surrogate,
its subgradient (or the step of a perceptron) and the precision at the top. Dense and CSR X share the code;
CSR rows are never densified.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._parameters import check_parameters
from .._warn import warn
from ..target_losses import PrecisionAtK, PrecisionAtShare, RecallAtK
from ..target_losses._names import names_of, resolve_target_loss
from ..target_losses._positional import places_of_share
from ._surrogates import SortedLists

# The top of a list ------------------------------------------------------------------


class Top(NamedTuple):
    """End of the top of a list: a count of places, or a fraction of the positives.

    The surrogates need k <= P. A larger count of precision is reduced to P. For recall with k > P
    the list is mirrored: classes exchanged, scores negated, k' = n - k <= N. The positives outside
    the top are then the mistakes among the first k'.

    Attributes
    ----------
    n_places : int or None
    fraction : float or None
    recall : bool
    """

    n_places: int | None
    fraction: float | None = None
    recall: bool = False

    def places(self, n_positives, n_negatives):
        """k of each list, and whether to mirror it; k is 0 if no order makes a mistake."""
        if self.n_places is None:
            k = places_of_share(self.fraction, n_positives).astype(int)
            return k, np.zeros(np.shape(k), dtype=bool)
        mirrored = np.logical_and(self.recall, self.n_places > np.asarray(n_positives))
        below = np.maximum(0, n_positives + n_negatives - self.n_places)
        return np.where(mirrored, below, np.minimum(self.n_places, n_positives)), mirrored

    def places_of_batches(self, k, n_above):
        """k of each batch of a list, at least 1; `n_above` rows of a batch belong above.

        A count is distributed over the batches. A fraction applies to each batch, unless rounding
        changes the sum by more than an eighth of k.
        """
        if self.n_places is None:
            of_each = places_of_share(self.fraction, n_above).astype(int)
            if abs(of_each.sum() - k) <= k / 8:
                return of_each
        places = np.full(len(n_above), k // len(n_above))
        places[np.argsort(-n_above, kind="stable")[: k % len(n_above)]] += 1
        return places


#: The end of the top for each target loss that has one.
TOPS = {
    PrecisionAtK: lambda loss: Top(loss.k),
    PrecisionAtShare: lambda loss: Top(None, loss.share),
    RecallAtK: lambda loss: Top(loss.k, recall=True),
}


def resolve_top(target_loss):
    """The target loss as an object and its `Top`; refuses losses without a top."""
    loss = clone(resolve_target_loss(target_loss))  # later changes apply to the next fit
    if type(loss) not in TOPS:
        names = [repr(name) for name in names_of(lambda loss: type(loss) in TOPS, one_each=True)]
        raise ValueError(
            f"{loss!r} has no top of the list: use {', '.join(names[:-1])} or "
            f"{names[-1]} here, and LowRankSurrogateRanker for other losses."
        )
    if loss.relevance_threshold is not None:
        raise ValueError(
            f"{loss!r}: a classifier takes two classes, not grades. Drop relevance_threshold and "
            "give y = (grade >= threshold)."
        )
    check_parameters(loss)
    return loss, TOPS[type(loss)](loss)


def check_top(labels, loss, top):
    """Refuse labels without anything to compare, and a count that exceeds one list."""
    if not labels.comparable:
        raise ValueError("No list has both positives and negatives: there is nothing to rank.")
    if top.n_places is None:
        return
    (n_positives, n_rows), k = labels.counts, top.n_places
    if labels.lists is not None and not top.recall:
        n_few = np.count_nonzero((n_positives > 0) & (n_positives < k))
        if n_few:
            warn(
                f"{n_few} of {labels.n_lists} queries have fewer than {k} positives: fit looks "
                f"only at the top P of a query with P positives. If {k} is a budget for each "
                f"query, such as cases a day, use target_loss='recall@{k}'."
            )
    if not labels.one_list:
        return
    if k > n_positives and not top.recall:
        raise ValueError(
            f"{loss!r} looks at the top {k}, but there are only {n_positives} "
            f"positives: use k of at most {n_positives}, a fraction such as 'precision@50%', or "
            f"'recall@{k}'."
        )
    if k >= n_rows:
        raise ValueError(f"{loss!r} looks at the top {k} of {n_rows} rows: all orders are equal.")


def tops_of_lists(labels, top):
    """Positives, negatives, k and mirroring of queries or rows of a matrix, and which count.

    A list counts if it has positives and negatives, and is longer than the top.
    """
    n_positives, n_rows = labels.counts
    n_negatives = n_rows - n_positives
    k, mirrored = top.places(n_positives, n_negatives)
    return n_positives, n_negatives, k, mirrored, (n_positives > 0) & (n_negatives > 0) & (k > 0)


# Batches ----------------------------------------------------------------------------


class _Batch:
    """Lists that are sorted together. A subclass defines `_scores` and `_combined`."""

    _scores: Any
    _combined: Any
    first: Any = 0  # of rows of `kind` that are sorted apart, the first item

    def __init__(self, X, n_above, n_below, k, mirrored, shift=0.0):
        self.X, self.n_rows, self.n_lists = X, X.shape[0], len(k)
        self.shift = np.broadcast_to(np.asarray(shift, dtype=X.dtype), X.shape[1])
        self.n_above, self.n_below, self.k = n_above, n_below, k
        lengths = n_above + n_below
        most = np.minimum(k, n_below)
        self.n_places, self.scale = int(most.sum()), 1.0 / np.maximum(most, 1)
        self.sign = np.repeat(np.where(mirrored, -1, 1), lengths).astype(X.dtype)
        self.factor = self.sign * np.repeat(self.scale, lengths).astype(X.dtype)

    def step(self, weights, surrogate, averaged=True):
        """The surrogate of the batch at the weights, a subgradient, and the precision there.

        Parameters
        ----------
        weights : ndarray
        surrogate : callable
            From `SortedLists` to values and slopes.
        averaged : bool, default=True
            Whether value and slopes of a list are divided by the places at its top.

        Returns
        -------
        value : float
            Sum over the lists.
        direction : ndarray, shape of the weights
            Its subgradient, to be subtracted from the weights.
        hits : float
            Sum over the lists of one minus the mistakes at the top over their largest number.
        """
        scores = self.sign * self._scores(weights)
        keys = self.kind - _squashed(scores).reshape(self.kind.shape)
        order = (np.argsort(keys) + self.first).ravel()
        lists = SortedLists(scores[order], self.n_above, self.n_below, self.k)
        values, slopes = surrogate(lists)
        slope = np.empty(len(order), dtype=weights.dtype)
        slope[order] = slopes
        slope *= self.factor if averaged else self.sign
        value = float(values @ self.scale if averaged else values.sum())
        return value, self._combined(slope), float(self.n_lists - lists.mistakes() @ self.scale)

    @cached_property
    def kind(self):
        """The number of the list and class of each row, in the order of the sort."""
        return np.repeat(np.arange(2.0 * self.n_lists), np.column_stack([self.n_above, self.n_below]).ravel())


class ListsBatch(_Batch):
    """Rows of one list or more.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        List after list, in each the rows that belong above before the rows that belong below.
    n_above, n_below, k : ndarray of int, shape (m,)
        At least 1 each, k <= n_above.
    mirrored : ndarray of bool, shape (m,)
        Whether the scores of a list are to be negated.
    shift : ndarray of shape (p,) or float, default=0.0
        Subtracted from the rows: the means of sparse X.
    """

    def _scores(self, weights):
        return self.X @ weights - self.shift @ weights

    def _combined(self, slope):
        return slope @ self.X - slope.sum() * self.shift


class MatrixBatch(_Batch):
    """Rows of X, each a list of the same L items, with weights of shape (p + 1, L).

    The last row of the weights is the intercept of each item.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    above : ndarray of bool, shape (n, L)
        Items that belong above; some, but not all, of each row.
    k : ndarray of int, shape (n,)
        1 <= k <= number above.
    mirrored : ndarray of bool, shape (n,)
        Whether the scores of a row are to be negated.
    shift : ndarray of shape (p,) or float, default=0.0
        As for `ListsBatch`.
    """

    def __init__(self, X, above, k, mirrored, shift=0.0):
        n_above = above.sum(axis=1)
        super().__init__(X, n_above, above.shape[1] - n_above, k, mirrored, shift)
        self.kind = 2.0 - above
        self.first = above.shape[1] * np.arange(len(above))[:, np.newaxis]

    def _scores(self, weights):
        coef, intercept = weights[:-1], weights[-1] - self.shift @ weights[:-1]
        return (self.X @ coef + intercept).ravel()

    def _combined(self, slope):
        slope = slope.reshape(self.n_rows, -1)
        sums = np.ones(len(slope), dtype=slope.dtype) @ slope  # faster than a sum
        return np.vstack([self.X.T @ slope - np.outer(self.shift, sums), sums])


def _squashed(scores):
    """Scores mapped to [0, 1/2]: one sort by kind minus score then keeps kinds apart."""
    low, high = float(scores.min()), float(scores.max())
    squashed = np.subtract(scores, low, dtype=np.float64)
    squashed *= 0.5 / max(high - low, np.finfo(float).tiny)
    return squashed


# Lists cut into batches -------------------------------------------------------------


def make_batches(X, labels, top, batch_size, random_state, shift=0.0):
    """Mini-batches of one long list, of queries, or of the rows of a matrix y.

    The rows keep their order if `random_state` is None. The sizes for "auto" were chosen by
    `benchmarks top`; the docstring of the estimator has them.
    """
    if labels.one_list:
        make = _batches_of_one_list
    else:
        make = _batches_of_matrix if labels.lists is None else _batches_of_queries
    return make(X, labels, top, batch_size, random_state, shift)


def _batches_of_one_list(X, labels, top, batch_size, random_state, shift):
    """Batches stratified by class; each batch is a list."""
    rows = [np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)]
    n_positives, n_negatives = len(rows[0]), len(rows[1])
    k, mirrored = (value.item() for value in top.places(n_positives, n_negatives))
    if 0 in (n_positives, n_negatives, k):
        return []  # nothing to compare
    n_batches = number_of_batches(n_positives, n_negatives, batch_size, k, mirrored)
    if random_state is not None:
        for of_class in rows:
            random_state.shuffle(of_class)
    if mirrored:
        rows.reverse()
    above, below = (np.array_split(of_class, n_batches) for of_class in rows)
    n_above, n_below = (np.array([[len(some)] for some in each]) for each in (above, below))
    places = top.places_of_batches(k, n_above.ravel())[:, np.newaxis]
    mirror = np.array([mirrored])
    return [
        ListsBatch(X[np.concatenate([a, b])], n_above[i], n_below[i], places[i], mirror, shift)
        for i, (a, b) in enumerate(zip(above, below, strict=True))
    ]


def _batches_of_queries(X, labels, top, batch_size, random_state, shift):
    """Batches of queries that have both positives and negatives."""
    n_positives, n_negatives, k, mirrored, counts = tops_of_lists(labels, top)
    lists, taken = labels.lists, np.flatnonzero(counts)
    if not len(taken):
        return []
    if random_state is not None:
        random_state.shuffle(taken)
    n_above = np.where(mirrored, n_negatives, n_positives)
    n_below = lists.lengths - n_above
    place = np.full(lists.n_lists, lists.n_lists)
    place[taken] = np.arange(len(taken))
    above = lists.group(labels.positive) ^ lists.spread(mirrored)
    ends = np.cumsum(lists.lengths[taken])
    rows = np.lexsort((~above, lists.spread(place)))[: ends[-1]]
    rows = rows if lists.order is None else lists.order[rows]
    if batch_size == "auto":
        batch_size = max(1, min(2000, ends[-1] / min(100, len(taken))))
    number = ((ends - lists.lengths[taken]) / batch_size).astype(int)
    cuts = np.flatnonzero(np.diff(number)) + 1
    return [
        ListsBatch(X[some], n_above[of], n_below[of], k[of], mirrored[of], shift)
        for of, some in zip(np.split(taken, cuts), np.split(rows, ends[cuts - 1]), strict=True)
    ]


def _batches_of_matrix(X, labels, top, batch_size, random_state, shift):
    """Batches of rows, each a list of the same items."""
    *_, k, mirrored, counts = tops_of_lists(labels, top)
    rows = np.flatnonzero(counts)
    if random_state is not None:
        random_state.shuffle(rows)
    size = max(32, len(rows) // 25) if batch_size == "auto" else batch_size
    above = labels.positive ^ mirrored[:, np.newaxis]
    return [
        MatrixBatch(X[some], above[some], k[some], mirrored[some], shift)
        for some in (np.array_split(rows, -(-len(rows) // size)) if len(rows) else [])
    ]


def number_of_batches(n_positives, n_negatives, batch_size, k, mirrored=False):
    """Number of mini-batches of one list; refuses a `batch_size` that is too small."""
    n_rows = n_positives + n_negatives
    rarer = min(n_positives, n_negatives)
    if batch_size == "auto":
        return max(1, min(max(round(n_rows / 1000), 10), round(rarer / 20), k))
    n_batches = max(1, round(n_rows / batch_size))
    kind = "positives" if rarer == n_positives else "negatives"
    places = f"only {k} places outside the top" if mirrored else f"only k={k} places at the top"
    for count, what in ((rarer, f"only {rarer} {kind}"), (k, places)):
        if n_batches > count:
            raise ValueError(
                f"batch_size={batch_size} cuts the {n_rows} rows into {n_batches} batches, but "
                f"there are {what} and every batch needs one: use batch_size of at least "
                f"{-(-n_rows // count)}, or batch_size='auto'."
            )
    return n_batches
