"""The top of lists with binary labels, and mini-batches with their subgradients.

Given weights, a batch returns a surrogate, its subgradient (or the step of a
perceptron) and the precision at the top. Dense and CSR X share the code; CSR rows are
never densified.
"""

from functools import partial
from typing import Any

import numpy as np

from ..fitting._linear_problem import LinearProblem
from ..target_losses import PrecisionAtK, RecallAtK
from ..target_losses._names import names_of, resolve_target_loss
from ..target_losses._positional import PrecisionAtShare, places_of_share
from ..validation._check import refuse
from ..validation._checks_of_top import (
    CHECKS_OF_BATCHES,
    CHECKS_OF_TOP,
    CHECKS_OF_TOP_LOSSES,
)
from ..validation._findings import found
from ..validation._parameters import check_parameters
from ._surrogates import SortedLists

# The top of a list ------------------------------------------------------------------


def resolve_top_loss(target_loss, surrogate=None, solver=None, surrogates=None):
    """Return the target loss as an object; refuses what does not go together.

    These are losses without a top, and a surrogate that the solver does not train:
    `surrogates` are those that it trains.
    """
    loss: Any = resolve_target_loss(target_loss, copied=True)
    refuse(
        CHECKS_OF_TOP_LOSSES,
        loss=loss,
        has_top=_has_top(loss),
        names=partial(names_of, _has_top, one_each=True),
        surrogate=surrogate,
        solver=solver,
        surrogates=surrogates,
    )
    check_parameters(loss)
    return loss


def _has_top(loss):
    return type(loss) in (PrecisionAtK, PrecisionAtShare, RecallAtK)


def places_at_top(loss, n_positives, n_negatives):
    """Return the places k at the top of each list, and whether it is mirrored.

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
    k = np.where(mirrored, n_outside, np.minimum(loss.k, n_positives))
    return k, mirrored


def places_of_batches(loss, k, n_above):
    """Distribute the k places of a list over its batches, at least 1 each.

    `n_above` rows of a batch belong above. A count is distributed over the batches. A
    fraction applies to each batch, unless rounding changes the sum by more than an
    eighth of k.
    """
    if isinstance(loss, PrecisionAtShare):
        places = places_of_share(loss.share, n_above).astype(int)
        if abs(places.sum() - k) <= k / 8:
            return places
    n_batches = len(n_above)
    places = np.full(n_batches, k // n_batches)
    # The batches with the most rows above get one place more, until k are given.
    largest = np.argsort(-n_above, kind="stable")[: k % n_batches]
    places[largest] += 1
    return places


def count_classes(positive, lists):
    """Return the number of positives and of negatives of each list."""
    n_positives = lists.sum(lists.group(positive).astype(int))
    return n_positives, lists.lengths - n_positives


def check_top(loss, positive, lists, solver):
    """Refuse labels without anything to compare, and a count that exceeds one list."""
    n_positives, n_negatives = count_classes(positive, lists)
    is_recall = isinstance(loss, RecallAtK)
    k = None if isinstance(loss, PrecisionAtShare) else loss.k
    places, _ = places_at_top(loss, n_positives, n_negatives)
    refuse(
        CHECKS_OF_TOP,
        loss=loss,
        k=k,
        is_recall=is_recall,
        has_ids=lists.ids is not None,
        solver=solver,
        n_positives=n_positives,
        n_negatives=n_negatives,
        places=places[(n_positives > 0) & (n_negatives > 0)],
    )
    if k is not None and lists.ids is not None:
        n_few = np.count_nonzero((n_positives > 0) & (n_positives < k))
        if n_few and not is_recall:
            found(
                "few positives",
                f"Some queries have fewer than {k} positives: fit looks only at the "
                f"top P of a query with P positives. If {k} is a budget for each "
                f"query, such as cases a day, use target_loss='recall@{k}'.",
            )


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
        self.n_above = n_above
        self.n_below = n_below
        self.k = k
        self.n_lists = len(k)
        # The largest number of mistakes at the top of each list.
        n_places = np.minimum(k, n_below)
        self.n_places = int(n_places.sum())
        self.list_factor = 1.0 / n_places
        lengths = n_above + n_below
        self.sign = np.repeat(np.where(mirrored, -1.0, 1.0), lengths)
        self.row_factor = self.sign * np.repeat(self.list_factor, lengths)
        # 2 i of the rows of list i that belong above, 2 i + 1 of those that do not.
        sizes = np.column_stack([n_above, n_below]).ravel()
        self.part = np.repeat(np.arange(2.0 * self.n_lists), sizes)

    def step(self, weights, surrogate, averaged=True):
        """Return the sum of the surrogate over the lists, a subgradient, and precision.

        `surrogate` takes `SortedLists` to values and slopes. If `averaged`, both are
        divided by the places at the top of their list. The precision is the sum over
        the lists of one minus the mistakes at the top over their largest number.
        """
        scores = self.sign * self.scores(weights)[:, 0]
        # One sort: scores in [0, 1/2] do not mix the parts.
        order = np.argsort(self.part - _to_half(scores))
        lists = SortedLists(scores[order], self.n_above, self.n_below, self.k)
        values, sorted_slopes = surrogate(lists)
        slopes = np.empty(len(order))
        slopes[order] = sorted_slopes
        if averaged:
            value = float(values @ self.list_factor)
            slopes *= self.row_factor
        else:
            value = float(values.sum())
            slopes *= self.sign
        precision = float(self.n_lists - lists.mistakes() @ self.list_factor)
        return value, self.gradient(slopes[:, np.newaxis]), precision


def _to_half(scores):
    """Map scores to [0, 1/2]."""
    low = float(scores.min())
    high = float(scores.max())
    return (scores - low) * (0.5 / max(high - low, np.finfo(float).tiny))


# Lists cut into batches -------------------------------------------------------------


def make_batches(X, positive, lists, loss, batch_size, random_state, shift=0.0):
    """Make mini-batches of one long list, or of queries.

    The rows keep their order if `random_state` is None. The sizes for "auto" were
    chosen by `benchmarks top`; the docstring of the estimator has them.
    """
    if lists.ids is None:
        return _batches_of_one_list(X, positive, loss, batch_size, random_state, shift)
    return _batches_of_queries(
        X, positive, lists, loss, batch_size, random_state, shift
    )


def _batches_of_one_list(X, positive, loss, batch_size, random_state, shift):
    """Make batches stratified by class; each batch is a list."""
    positives = np.flatnonzero(positive)
    negatives = np.flatnonzero(~positive)
    n_positives = len(positives)
    n_negatives = len(negatives)
    k, mirrored = places_at_top(loss, n_positives, n_negatives)
    k = k.item()
    mirrored = mirrored.item()
    if 0 in (n_positives, n_negatives, k):
        return []  # nothing to compare
    n_batches = number_of_batches(n_positives, n_negatives, batch_size, k, mirrored)
    if random_state is not None:
        random_state.shuffle(positives)
        random_state.shuffle(negatives)
    above = negatives if mirrored else positives
    below = positives if mirrored else negatives
    parts_above = np.array_split(above, n_batches)
    parts_below = np.array_split(below, n_batches)
    n_above = np.array([len(rows) for rows in parts_above])
    n_below = np.array([len(rows) for rows in parts_below])
    places = places_of_batches(loss, k, n_above)
    batches = []
    for i in range(n_batches):
        batch = Batch(
            X[np.concatenate([parts_above[i], parts_below[i]])],
            n_above=n_above[[i]],
            n_below=n_below[[i]],
            k=places[[i]],
            mirrored=[mirrored],
            shift=shift,
        )
        batches.append(batch)
    return batches


def number_of_batches(n_positives, n_negatives, batch_size, k, mirrored=False):
    """Return the number of mini-batches of one list; refuses too small batches."""
    n_rows = n_positives + n_negatives
    n_rarer = min(n_positives, n_negatives)
    if batch_size == "auto":
        return max(1, min(max(round(n_rows / 1000), 10), round(n_rarer / 20), k))
    n_batches = max(1, round(n_rows / batch_size))
    rarer_class = "positives" if n_rarer == n_positives else "negatives"
    places = f"only k={k} places at the top"
    if mirrored:
        places = f"only {k} places outside the top"
    refuse(
        CHECKS_OF_BATCHES,
        batch_size=batch_size,
        n_rows=n_rows,
        n_batches=n_batches,
        limits=((n_rarer, f"only {n_rarer} {rarer_class}"), (k, places)),
    )
    return n_batches


def _batches_of_queries(X, positive, lists, loss, batch_size, random_state, shift):
    """Make batches of whole queries, those whose top can hold a mistake."""
    n_positives, n_negatives = count_classes(positive, lists)
    k, mirrored = places_at_top(loss, n_positives, n_negatives)
    queries = np.flatnonzero((n_positives > 0) & (n_negatives > 0) & (k > 0))
    if not len(queries):
        return []
    if random_state is not None:
        random_state.shuffle(queries)
    n_above = np.where(mirrored, n_negatives, n_positives)
    n_below = lists.lengths - n_above
    # Rows query after query, in each those that belong above first. Other queries are
    # last, and left out.
    place = np.full(lists.n_lists, lists.n_lists)
    place[queries] = np.arange(len(queries))
    above = lists.group(positive) ^ lists.repeat(mirrored)
    ends = np.cumsum(lists.lengths[queries])
    n_rows = ends[-1]
    rows = np.lexsort((~above, lists.repeat(place)))[:n_rows]
    if lists.order is not None:
        rows = lists.order[rows]
    if batch_size == "auto":
        batch_size = max(1, min(2000, n_rows / min(100, len(queries))))
    # A query belongs to the batch in which its first row falls.
    starts = ends - lists.lengths[queries]
    number = (starts / batch_size).astype(int)
    cuts = np.flatnonzero(np.diff(number)) + 1
    queries_of_batches = np.split(queries, cuts)
    rows_of_batches = np.split(rows, ends[cuts - 1])
    batches = []
    for of_batch, batch_rows in zip(queries_of_batches, rows_of_batches, strict=True):
        batch = Batch(
            X[batch_rows],
            n_above=n_above[of_batch],
            n_below=n_below[of_batch],
            k=k[of_batch],
            mirrored=mirrored[of_batch],
            shift=shift,
        )
        batches.append(batch)
    return batches
