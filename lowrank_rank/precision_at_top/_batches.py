"""The top of lists with binary labels, and mini-batches of lists with their subgradients.

Given weights, a batch returns a surrogate, its subgradient (or the step of a
perceptron) and the precision at the top. Dense and CSR X share the code; CSR rows are
never densified.
"""

import numpy as np
from sklearn.base import clone

from .._parameters import check_parameters
from .._warn import warn
from ..fitting._linear_problem import LinearProblem
from ..target_losses import PrecisionAtK, PrecisionAtShare, RecallAtK
from ..target_losses._names import names_of, resolve_target_loss
from ..target_losses._positional import places_of_share
from ._surrogates import SortedLists

# The top of a list ------------------------------------------------------------------


def resolve_top_loss(target_loss):
    """The target loss as an object; refuses losses without a top."""

    def has_top(loss):
        return type(loss) in (PrecisionAtK, PrecisionAtShare, RecallAtK)

    loss = clone(
        resolve_target_loss(target_loss)
    )  # later changes apply to the next fit
    if not has_top(loss):
        names = [repr(name) for name in names_of(has_top, one_each=True)]
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
    return loss


def places_at_top(loss, n_positives, n_negatives):
    """The places k at the top of each list, and whether the list is mirrored.

    The surrogates need k <= P. A larger count of precision is reduced to P. For recall
    with k > P the list is mirrored: classes exchanged, scores negated, k' = n - k <= N.
    The positives outside the top are then the mistakes among the first k'. k is 0 if no
    order makes a mistake.
    """
    if isinstance(loss, PrecisionAtShare):
        k = places_of_share(loss.share, n_positives).astype(int)
        return k, np.zeros(np.shape(k), dtype=bool)
    mirrored = isinstance(loss, RecallAtK) & (loss.k > np.asarray(n_positives))
    n_outside = np.maximum(0, n_positives + n_negatives - loss.k)
    return np.where(mirrored, n_outside, np.minimum(loss.k, n_positives)), mirrored


def places_of_batches(loss, k, n_above):
    """k of each batch of a list, at least 1; `n_above` rows of a batch belong above.

    A count is distributed over the batches. A fraction applies to each batch, unless
    rounding changes the sum by more than an eighth of k.
    """
    if isinstance(loss, PrecisionAtShare):
        of_each = places_of_share(loss.share, n_above).astype(int)
        if abs(of_each.sum() - k) <= k / 8:
            return of_each
    places = np.full(len(n_above), k // len(n_above))
    places[np.argsort(-n_above, kind="stable")[: k % len(n_above)]] += 1
    return places


def count_classes(positive, lists):
    """Number of positives and of negatives of each list."""
    n_positives = lists.sum(lists.group(positive).astype(int))
    return n_positives, lists.lengths - n_positives


def check_top(loss, positive, lists):
    """Refuse labels without anything to compare, and a count that exceeds one list."""
    n_positives, n_negatives = count_classes(positive, lists)
    if not np.any((n_positives > 0) & (n_negatives > 0)):
        raise ValueError(
            "No list has both positives and negatives: there is nothing to rank."
        )
    if isinstance(loss, PrecisionAtShare):
        return
    k, is_recall = loss.k, isinstance(loss, RecallAtK)
    if lists.ids is not None:
        n_few = np.count_nonzero((n_positives > 0) & (n_positives < k))
        if n_few and not is_recall:
            warn(
                f"{n_few} of {lists.n_lists} queries have fewer than {k} positives: fit looks "
                f"only at the top P of a query with P positives. If {k} is a budget for each "
                f"query, such as cases a day, use target_loss='recall@{k}'."
            )
        return
    if k > n_positives[0] and not is_recall:
        raise ValueError(
            f"{loss!r} looks at the top {k}, but there are only {n_positives[0]} "
            f"positives: use k of at most {n_positives[0]}, a fraction such as 'precision@50%', or "
            f"'recall@{k}'."
        )
    if k >= lists.n_rows:
        raise ValueError(f"{loss!r} of {lists.n_rows} rows: all orders are equal.")


# Batches ----------------------------------------------------------------------------


class Batch(LinearProblem):
    """Rows of one list or more.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        List after list, in each the rows that belong above before the rows that belong
        below.
    n_above, n_below, k : ndarray of int, shape (m,)
        At least 1 each, k <= n_above.
    mirrored : ndarray of bool, shape (m,)
        Whether the scores of a list are to be negated.
    shift : ndarray of shape (p,) or float, default=0.0
        Subtracted from the rows: the means of sparse X.
    """

    def __init__(self, X, n_above, n_below, k, mirrored, shift=0.0):
        super().__init__(X, mean=shift)
        self.n_above, self.n_below, self.k, self.n_lists = n_above, n_below, k, len(k)
        largest = np.minimum(k, n_below)  # number of mistakes at the top
        self.n_places, self.scale = int(largest.sum()), 1.0 / largest
        lengths = n_above + n_below
        self.sign = np.repeat(np.where(mirrored, -1.0, 1.0), lengths)
        self.factor = self.sign * np.repeat(self.scale, lengths)
        # The number of the list and class of each row, in the order of the sort.
        sizes = np.column_stack([n_above, n_below]).ravel()
        self.kind = np.repeat(np.arange(2.0 * self.n_lists), sizes)

    def step(self, weights, surrogate, averaged=True):
        """Sum over lists of the surrogate at the weights, a subgradient, and the hits there.

        `surrogate` takes `SortedLists` to values and slopes. If `averaged`, both are
        divided by the places at the top of their list. Hits are the sum over lists of
        one minus the mistakes at the top over their largest number.
        """
        scores = self.sign * self.scores(weights)[:, 0]
        order = np.argsort(self.kind - _squashed(scores))
        lists = SortedLists(scores[order], self.n_above, self.n_below, self.k)
        values, sorted_slopes = surrogate(lists)
        slopes = np.empty(len(order))
        slopes[order] = sorted_slopes
        slopes *= self.factor if averaged else self.sign
        value = float(values @ self.scale if averaged else values.sum())
        hits = float(self.n_lists - lists.mistakes() @ self.scale)
        return value, self.gradient(slopes[:, np.newaxis]), hits


def _squashed(scores):
    """Scores mapped to [0, 1/2]: one sort by kind minus score then keeps kinds apart."""
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) * (0.5 / max(high - low, np.finfo(float).tiny))


# Lists cut into batches -------------------------------------------------------------


def make_batches(X, positive, lists, loss, batch_size, random_state, shift=0.0):
    """Mini-batches of one long list, or of queries.

    The rows keep their order if `random_state` is None. The sizes for "auto" were
    chosen by `benchmarks top`; the docstring of the estimator has them.
    """
    if lists.ids is None:
        return _batches_of_one_list(X, positive, loss, batch_size, random_state, shift)
    return _batches_of_queries(
        X, positive, lists, loss, batch_size, random_state, shift
    )


def _batches_of_one_list(X, positive, loss, batch_size, random_state, shift):
    """Batches stratified by class; each batch is a list."""
    rows = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    n_positives, n_negatives = len(rows[0]), len(rows[1])
    k, mirrored = (
        value.item() for value in places_at_top(loss, n_positives, n_negatives)
    )
    if 0 in (n_positives, n_negatives, k):
        return []  # nothing to compare
    n_batches = number_of_batches(n_positives, n_negatives, batch_size, k, mirrored)
    if random_state is not None:
        for of_class in rows:
            random_state.shuffle(of_class)
    if mirrored:
        rows.reverse()
    above, below = (np.array_split(of_class, n_batches) for of_class in rows)
    n_above, n_below = (
        np.array([[len(part)] for part in parts]) for parts in (above, below)
    )
    places = places_of_batches(loss, k, n_above.ravel())[:, np.newaxis]
    return [
        Batch(
            X[np.concatenate([a, b])],
            n_above[i],
            n_below[i],
            places[i],
            [mirrored],
            shift,
        )
        for i, (a, b) in enumerate(zip(above, below, strict=True))
    ]


def _batches_of_queries(X, positive, lists, loss, batch_size, random_state, shift):
    """Batches of queries that have positives and negatives, and are longer than the top."""
    n_positives, n_negatives = count_classes(positive, lists)
    k, mirrored = places_at_top(loss, n_positives, n_negatives)
    kept = np.flatnonzero((n_positives > 0) & (n_negatives > 0) & (k > 0))
    if not len(kept):
        return []
    if random_state is not None:
        random_state.shuffle(kept)
    n_above = np.where(mirrored, n_negatives, n_positives)
    n_below = lists.lengths - n_above
    place = np.full(lists.n_lists, lists.n_lists)
    place[kept] = np.arange(len(kept))
    above = lists.group(positive) ^ lists.repeat(mirrored)
    ends = np.cumsum(lists.lengths[kept])
    rows = np.lexsort((~above, lists.repeat(place)))[: ends[-1]]
    rows = rows if lists.order is None else lists.order[rows]
    if batch_size == "auto":
        batch_size = max(1, min(2000, ends[-1] / min(100, len(kept))))
    number = ((ends - lists.lengths[kept]) / batch_size).astype(int)
    cuts = np.flatnonzero(np.diff(number)) + 1
    return [
        Batch(X[some], n_above[of], n_below[of], k[of], mirrored[of], shift)
        for of, some in zip(
            np.split(kept, cuts), np.split(rows, ends[cuts - 1]), strict=True
        )
    ]


def number_of_batches(n_positives, n_negatives, batch_size, k, mirrored=False):
    """Number of mini-batches of one list; refuses a `batch_size` that is too small."""
    n_rows = n_positives + n_negatives
    rarer = min(n_positives, n_negatives)
    if batch_size == "auto":
        return max(1, min(max(round(n_rows / 1000), 10), round(rarer / 20), k))
    n_batches = max(1, round(n_rows / batch_size))
    kind = "positives" if rarer == n_positives else "negatives"
    places = (
        f"only {k} places outside the top"
        if mirrored
        else f"only k={k} places at the top"
    )
    for count, what in ((rarer, f"only {rarer} {kind}"), (k, places)):
        if n_batches > count:
            raise ValueError(
                f"batch_size={batch_size} cuts the {n_rows} rows into {n_batches} batches, but "
                f"there are {what}: use batch_size of at least {-(-n_rows // count)}, or 'auto'."
            )
    return n_batches
