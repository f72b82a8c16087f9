"""The problem that is fitted: where the top of a list ends, mini-batches, cutting planes."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._arrays import mean_square
from ..solvers import cutting_plane
from ..target_losses import (
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    names_of,
    resolve_target_loss,
)
from ..target_losses._positional import check_k, places_of_share
from ._batches import ListsBatch, MatrixBatch, scores_of, take_rows

# Sizes for batch_size="auto", chosen by `benchmarks top`; see the docstring of the estimator.
_ROWS, _BATCHES, _POSITIVES = 1000, 10, 20  # one list
_LISTS, _PARTS = 32, 25  # matrix y
_ROWS_OF_LISTS, _BATCHES_OF_LISTS = 2000, 100  # queries
_TINY = np.finfo(float).tiny
_ALIKE = 1e-9  # range of scores, in units of the margin, that is no order at all
_ROUNDING = 1 / 8  # relative difference of the sum over batches from k that a fraction may have


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
        """k of each list, and whether to mirror it; k is 0 where no order makes a mistake."""
        if self.n_places is None:
            k = places_of_share(self.fraction, n_positives).astype(int)
            return k, np.zeros(np.shape(k), dtype=bool)
        mirrored = np.logical_and(self.recall, self.n_places > np.asarray(n_positives))
        below = np.maximum(0, n_positives + n_negatives - self.n_places)
        return np.where(mirrored, below, np.minimum(self.n_places, n_positives)), mirrored

    def places_of_batches(self, k, n_above):
        """k of each batch of a list, at least 1, where each has as many rows that belong above.

        A count is distributed over the batches. A fraction applies to each batch by itself, unless
        rounding changes the sum by more than an eighth of k.
        """
        if self.n_places is None:
            of_each = places_of_share(self.fraction, n_above).astype(int)
            if abs(of_each.sum() - k) <= _ROUNDING * k:
                return of_each
        places = np.full(len(n_above), k // len(n_above))
        places[np.argsort(-n_above, kind="stable")[: k % len(n_above)]] += 1
        return places

    def of_part(self, n_rows, n_positives, fraction):
        """The top of a part of one list, with the same fraction of positives, or of rows."""
        if self.n_places is None:
            return self
        if self.recall and self.n_places > n_positives:
            places = min(max(round(fraction * self.n_places), 1), round(fraction * n_rows) - 1)
            return self._replace(n_places=places)
        return Top(None, min(1.0, self.n_places / n_positives))


#: Target losses that end a list at its top, and where.
TOPS = {
    PrecisionAtK: lambda loss: Top(check_k(loss.k)),
    RecallAtK: lambda loss: Top(check_k(loss.k), recall=True),
    PrecisionAtShare: lambda loss: Top(None, loss.checked_share()),
}


def resolve_top(target_loss):
    """The target loss and the `Top` that it means; refuses losses that have none."""
    loss = clone(resolve_target_loss(target_loss))  # later changes apply to the next fit
    if type(loss) not in TOPS:
        names = [repr(name) for name in names_of(lambda loss: type(loss) in TOPS, one_each=True)]
        raise ValueError(
            f"{loss!r} has no top of the list to aim at: take {', '.join(names[:-1])} or "
            f"{names[-1]} here, and LowRankSurrogateRanker for other losses."
        )
    if loss.relevance_threshold is not None:
        raise ValueError(
            f"{loss!r}: a classifier takes two classes, not grades. Leave relevance_threshold out "
            "and give y = (grade >= threshold)."
        )
    return loss, TOPS[type(loss)](loss)


def check_top(labels, loss, top):
    """Refuse labels that leave nothing to learn, and a count that one list cannot fill."""
    if not labels.comparable:
        raise ValueError(
            "No list has both positives and negatives: there is nothing to rank above something "
            "else."
        )
    if top.n_places is None or not labels.one_list:
        return
    n_rows, n_positives = len(labels.positive), np.count_nonzero(labels.positive)
    if top.n_places > n_positives and not top.recall:
        raise ValueError(
            f"{loss!r} looks at the top {top.n_places}, but there are only {n_positives} "
            f"positives: take k of at most {n_positives}, a fraction such as 'precision@50%', or "
            f"'recall@{top.n_places}'."
        )
    if top.n_places >= n_rows:
        raise ValueError(
            f"{loss!r} looks at the top {top.n_places} of {n_rows} rows: every order is right."
        )


def held_out_measure(labels, loss, top):
    """``f(scores)``, the measure of the target loss on held-out rows.

    The top of one long list must be relative to the list: a fraction of its positives, or a count
    of the held-out rows.
    """
    lists, qid = labels.lists, None
    if lists is not None:
        qid = lists.ungroup(lists.index)
    elif labels.one_list:
        by_fraction = top.n_places is None
        loss = PrecisionAtShare(top.fraction) if by_fraction else RecallAtK(top.n_places)
    grades = labels.positive.astype(float)
    return lambda scores: loss.measure(grades, scores, qid=qid)


def warn_of_start(start):
    """Warn that a start that was fitted is better than all passes."""
    if isinstance(start, str) and start == "logistic":
        name = "the initial logistic regression"
    elif hasattr(start, "fit"):
        name = f"the initial {type(start).__name__}"
    else:
        return
    warnings.warn(
        f"Training did not improve held-out precision at k; keeping {name}. If a few rows have "
        "huge values, take logarithms or QuantileTransformer first; else try a smaller eta0, or a "
        "larger top as target_loss.",
        ConvergenceWarning,
        stacklevel=3,
    )


def diverged(estimator):
    """The error of scores that are not finite."""
    remedy = "bring the features to one scale (StandardScaler)"
    if estimator.update != "perceptron":
        remedy = f"lower eta0={estimator.eta0:g}, or {remedy}"
    return ValueError(f"The steps diverged: the scores are not finite. To fix it {remedy}.")


class Part(NamedTuple):
    """Some rows, their labels, and the top of these rows alone."""

    X: Any
    labels: Any
    top: Top

    def pick(self, rows):
        """Some of the rows, in which one list has its part of the places."""
        top, positive = self.top, self.labels.positive
        if self.labels.one_list:
            n_rows = len(positive)
            top = top.of_part(n_rows, np.count_nonzero(positive), len(rows) / n_rows)
        return Part(take_rows(self.X, rows), self.labels.pick(rows), top)


def tops_of_lists(labels, top):
    """Positives, negatives, k and mirroring of queries or rows of a matrix, and which count.

    A list without positives or without negatives, and one that the top takes in whole, has no
    mistakes: the last array is False there.
    """
    if labels.positive.ndim == 2:
        n_positives, n_rows = labels.positive.sum(axis=1), labels.positive.shape[1]
    else:
        lists = labels.lists
        n_positives, n_rows = lists.sum(lists.group(labels.positive).astype(int)), lists.lengths
    n_negatives = n_rows - n_positives
    k, mirrored = top.places(n_positives, n_negatives)
    return n_positives, n_negatives, k, mirrored, (n_positives > 0) & (n_negatives > 0) & (k > 0)


def strata(labels, top):
    """Strata of `Labels.hold_out`: the classes of rows, or whether a list can have mistakes."""
    return labels.positive if labels.one_list else tops_of_lists(labels, top)[-1]


# Batches ----------------------------------------------------------------------------


class Problem:
    """Mini-batches, their order drawn anew in each pass.

    Parameters
    ----------
    batches : list of ListsBatch or MatrixBatch
    random_state : RandomState or None
        None keeps the order.
    """

    def __init__(self, batches, random_state):
        self.parts, self.random_state = batches, random_state
        self.n_places = sum(batch.n_places for batch in batches)

    def batches(self):
        """The batches of one pass."""
        order = range(len(self.parts))
        if self.random_state is not None:
            order = self.random_state.permutation(len(self.parts))
        return (self.parts[i] for i in order)


def make_problem(part, batch_size, random_state):
    """The mini-batches of one long list, of queries, or of the rows of a matrix y.

    `random_state` None keeps rows and batches in order.
    """
    make = _batches_of_matrix if part.labels.lists is None else _batches_of_queries
    if part.labels.one_list:
        make = _batches_of_one_list
    return Problem(make(part, batch_size, random_state), random_state)


def _batches_of_one_list(part, batch_size, random_state):
    """Batches stratified by class, each a list of its own."""
    X, labels, top = part
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
        ListsBatch(take_rows(X, np.concatenate([a, b])), n_above[i], n_below[i], places[i], mirror)
        for i, (a, b) in enumerate(zip(above, below, strict=True))
    ]


def _batches_of_queries(part, batch_size, random_state):
    """Batches of queries that have both positives and negatives."""
    X, labels, top = part
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
        batch_size = max(1, min(_ROWS_OF_LISTS, ends[-1] / min(_BATCHES_OF_LISTS, len(taken))))
    number = ((ends - lists.lengths[taken]) / batch_size).astype(int)
    cuts = np.flatnonzero(np.diff(number)) + 1
    return [
        ListsBatch(take_rows(X, some), n_above[of], n_below[of], k[of], mirrored[of])
        for of, some in zip(np.split(taken, cuts), np.split(rows, ends[cuts - 1]), strict=True)
    ]


def _batches_of_matrix(part, batch_size, random_state):
    """Batches of rows, each a list of the same items."""
    X, labels, top = part
    *_, k, mirrored, counts = tops_of_lists(labels, top)
    rows = np.flatnonzero(counts)
    if random_state is not None:
        random_state.shuffle(rows)
    size = max(_LISTS, len(rows) // _PARTS) if batch_size == "auto" else batch_size
    above = labels.positive ^ mirrored[:, np.newaxis]
    return [
        MatrixBatch(take_rows(X, some), above[some], k[some], mirrored[some])
        for some in (np.array_split(rows, -(-len(rows) // size)) if len(rows) else [])
    ]


def number_of_batches(n_positives, n_negatives, batch_size, k, mirrored=False):
    """Mini-batches of one list; refuses those too small to hold what each of them needs."""
    n_rows = n_positives + n_negatives
    rarer = min(n_positives, n_negatives)
    if batch_size == "auto":
        return max(1, min(max(round(n_rows / _ROWS), _BATCHES), round(rarer / _POSITIVES), k))
    n_batches = max(1, round(n_rows / batch_size))
    kind = "positives" if rarer == n_positives else "negatives"
    places = f"only {k} places outside the top" if mirrored else f"only k={k} places at the top"
    for count, what in ((rarer, f"only {rarer} {kind}"), (k, places)):
        if n_batches > count:
            raise ValueError(
                f"batch_size={batch_size} cuts the {n_rows} rows into {n_batches} batches, but "
                f"there are {what} and every batch needs one: take batch_size of at least "
                f"{-(-n_rows // count)}, or batch_size='auto'."
            )
    return n_batches


# Cutting planes ---------------------------------------------------------------------


def minimise_struct(part, descent, tol, max_iter, report):
    """The cutting planes' fit of struct and the penalty to one list."""
    if not part.labels.one_list:
        raise ValueError("solver='cutting_plane' takes one list of rows, without qid.")
    X = part.X
    (batch,) = make_problem(part, X.shape[0], None).batches()
    n_entries = (X.nnz if issparse(X) else np.count_nonzero(X)) / X.shape[0]
    penalty = descent.alpha * n_entries * mean_square(X) / batch.n_places
    fit = cutting_plane(
        lambda weights: batch.tangent(weights, descent.rule),
        np.zeros(X.shape[1]),
        penalty=max(penalty, _TINY),
        tol=tol or 0.0,
        max_iter=max_iter,
        report=report,
    )
    trouble = []
    if not fit.converged:
        trouble.append(
            f"stopped after {len(fit.curve)} rounds with a duality gap of {fit.gap:.3g}, above "
            f"tol={tol}: increase max_iter, alpha or tol"
        )
    if np.ptp(scores_of(X, fit.weights)) <= _ALIKE:
        trouble.append(
            "end at weights that score all rows alike, as the minimum does where the penalty "
            f"alpha={descent.alpha:g} is too strong: lower alpha, or take solver='mini_batch'"
        )
    if trouble:
        message = f"The cutting planes {', and '.join(trouble)}."
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return fit
