"""What is fitted: where the top of a list ends, its mini-batches, and the start of the steps."""

import warnings
from itertools import pairwise
from typing import NamedTuple

import numpy as np
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
from ._batches import Grid, ListBatch, ListsBatch, MatrixBatch, scores_of, take_rows
from ._mini_batch import Columns, Trajectory, mean_hits, weights_shape
from ._surrogates import Places

# With batch_size="auto":
_ROWS = 1000  # of a batch
_BATCHES = 10  # at least, of fewer rows then
_POSITIVES = 20  # of a batch, about; the rarer class, whichever it is. And a place at the top
_LISTS, _PARTS = 32, 25  # of a batch of matrix rows at least; and at most so many batches
_ROWS_OF_LISTS, _BATCHES_OF_LISTS = 2000, 100  # of a batch of queries at most; at least
# Where start and end are compared:
_FOLDS, _ENOUGH_PLACES = 2, 200  # at most; places that are enough
_MANY_LISTS = 2000  # of more a part will do
_CLEARLY_WORSE, _MANY_PLACES = 0.2, 30  # than the start, lost: worth a warning
_TINY = np.finfo(float).tiny
_ALIKE = 1e-9  # of scores, in units of the margin: no order at all
_ROUNDING = 1 / 8  # of all places, by which those of the batches may differ for a fraction


class Top(NamedTuple):
    """Where the top of a list ends: at a count of places or at a fraction of its positives.

    The surrogates want k <= P. A count above P is taken as P, but for recall: positives that
    miss a top of k > P are those among the last n - k <= N, so that the mirrored list,
    negatives in the place of positives and all scores negated, has the same mistakes.

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

        A count is handed out whole. A fraction is that of each batch, as if it were a list by
        itself, unless rounding makes much more or less of it than k in all.
        """
        if self.n_places is None:
            of_each = places_of_share(self.fraction, n_above).astype(int)
            if abs(of_each.sum() - k) <= _ROUNDING * k:
                return of_each
        places = np.full(len(n_above), k // len(n_above))
        places[np.argsort(-n_above, kind="stable")[: k % len(n_above)]] += 1
        return places

    def of_part(self, n_rows, n_positives, fraction):
        """The same top in a part of one list: its positives' fraction, or as many of its rows."""
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
    loss = clone(resolve_target_loss(target_loss))  # what is set on it later is of the next fit
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

    Of one long list the top must be relative to the list: a fraction of its positives, or a count
    of these very rows.
    """
    lists, qid = labels.lists, None
    if lists is not None:
        qid = lists.ungroup(lists.index)
    elif labels.one_list:
        by_fraction = top.n_places is None
        loss = PrecisionAtShare(top.fraction) if by_fraction else RecallAtK(top.n_places)
    grades = labels.positive.astype(float)
    return lambda scores: loss.measure(grades, scores, qid=qid)


def diverged(estimator):
    """The error of scores that are not finite."""
    remedy = "bring the features to one scale (StandardScaler)"
    if estimator.update != "perceptron":
        remedy = f"lower eta0={estimator.eta0:g}, or {remedy}"
    return ValueError(f"The steps diverged: the scores are not finite. To fix it {remedy}.")


# Going on ---------------------------------------------------------------------------


class Earlier(NamedTuple):
    """What earlier weights are for, and where their steps have got to."""

    path: Trajectory
    classes: np.ndarray
    pos_label: object

    def check_continues(self, X, labels):
        """Refuse data of another shape, or of other classes, than the weights are for."""
        shape = weights_shape(X, labels)
        if (
            self.path.start.shape == shape
            and np.array_equal(self.classes, labels.classes)
            and self.pos_label == labels.pos_label
        ):
            return
        raise ValueError(
            "The data do not fit the earlier weights: those are for "
            f"{_described(self.path.start.shape, self.classes, self.pos_label)}, these have "
            f"{_described(shape, labels.classes, labels.pos_label)}. Start anew, with fit and "
            "without warm_start."
        )


def _described(shape, classes, pos_label):
    if len(shape) == 2:
        return f"{shape[0] - 1} features and {shape[1]} labels a row"
    return f"{shape[0]} features and the classes {classes.tolist()}, {str(pos_label)!r} positive"


# Batches ----------------------------------------------------------------------------


def make_problem(X, labels, top, batch_size, random_state):
    """The mini-batches of one long list, of queries, or of the rows of a matrix y.

    `random_state` None keeps the rows in order, and the batches as they are in each pass.
    """
    if labels.positive.ndim == 2:
        return ManyLists.of_matrix(X, labels, top, batch_size, random_state)
    if labels.lists is not None:
        return ManyLists.of_queries(X, labels, top, batch_size, random_state)
    return LongList(X, labels, top, batch_size, random_state)


def whole_list(X, labels, top):
    """One list as a single batch, its rows in order."""
    above, below = X[labels.positive], X[~labels.positive]
    k, mirrored = top.places(above.shape[0], below.shape[0])
    above, below = (below, above) if mirrored else (above, below)
    return ListBatch(above, below, int(k), mirrored=bool(mirrored))


class LongList:
    """One list cut into mini-batches of positives and negatives, paired anew in each pass.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    labels : Labels
    top : Top
    batch_size : int or "auto"
    random_state : RandomState or None
        None keeps the rows in order and the pairs fixed.
    """

    def __init__(self, X, labels, top, batch_size, random_state):
        self.random_state = random_state
        rows = [np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)]
        sizes = [len(part) for part in rows]
        k, mirrored = top.places(*sizes)
        self.k, self.mirrored = int(k), bool(mirrored)
        self.above = self.below = []
        if 0 in sizes or self.k == 0:
            return  # nothing to compare
        n_batches = number_of_batches(
            sizes[0], sizes[1], batch_size, self.k, mirrored=self.mirrored
        )
        if random_state is not None:
            for part in rows:
                random_state.shuffle(part)
        if self.mirrored:
            rows.reverse()
        self.above, self.below = (_cut(take_rows(X, part), n_batches) for part in rows)
        n_above = np.array([part.shape[0] for part in self.above])
        self.places = top.places_of_batches(self.k, n_above)
        self._places: dict = {}  # by their numbers: a few kinds of batches

    @property
    def n_batches(self):
        return len(self.above)

    def batches(self):
        """The mini-batches of one pass, whose places at the top add up to the list's."""
        orders = [np.arange(len(self.above))] * 2
        if self.random_state is not None:
            orders = [self.random_state.permutation(order) for order in orders]
        for i, j in zip(*orders, strict=True):
            above, below, k = self.above[i], self.below[j], int(self.places[i])
            shape = above.shape[0], min(k, below.shape[0]), k
            if shape not in self._places:
                self._places[shape] = Places(*([n] for n in shape))
            places = self._places[shape]
            yield ListBatch(above, below, k, mirrored=self.mirrored, places=places)


class ManyLists:
    """Batches of whole lists; their order is drawn anew in each pass."""

    def __init__(self, batches, random_state):
        self.parts, self.random_state = batches, random_state

    @classmethod
    def of_queries(cls, X, labels, top, batch_size, random_state):
        """Batches of queries that have both positives and negatives."""
        lists, positive = labels.lists, labels.lists.group(labels.positive)
        n_positives = lists.sum(positive.astype(int))
        n_negatives = lists.lengths - n_positives
        k, mirrored = top.places(n_positives, n_negatives)
        taken = np.flatnonzero((n_positives > 0) & (n_negatives > 0) & (k > 0))
        if not len(taken):
            return cls([], random_state)
        if random_state is not None:
            random_state.shuffle(taken)
        n_above = np.where(mirrored, n_negatives, n_positives)
        place = np.full(lists.n_lists, lists.n_lists)
        place[taken] = np.arange(len(taken))
        above = positive ^ lists.spread(mirrored)
        rows = np.lexsort((~above, lists.spread(place)))[: lists.lengths[taken].sum()]
        rows = rows if lists.order is None else lists.order[rows]
        ends = np.cumsum(lists.lengths[taken])
        if batch_size == "auto":
            batch_size = max(1, min(_ROWS_OF_LISTS, ends[-1] / min(_BATCHES_OF_LISTS, len(taken))))
        number = ((ends - lists.lengths[taken]) / batch_size).astype(int)
        cuts = np.flatnonzero(np.diff(number)) + 1
        parts = [
            ListsBatch(
                take_rows(X, part),
                n_above[of],
                lists.lengths[of] - n_above[of],
                k[of],
                mirrored[of],
            )
            for of, part in zip(np.split(taken, cuts), np.split(rows, ends[cuts - 1]), strict=True)
        ]
        return cls(parts, random_state)

    @classmethod
    def of_matrix(cls, X, labels, top, batch_size, random_state):
        """Batches of rows, each a list of the same items."""
        positive = labels.positive
        n_positives, n_items = positive.sum(axis=1), positive.shape[1]
        k, mirrored = top.places(n_positives, n_items - n_positives)
        rows = np.flatnonzero((n_positives > 0) & (n_positives < n_items) & (k > 0))
        if random_state is not None:
            random_state.shuffle(rows)
        size = max(_LISTS, len(rows) // _PARTS) if batch_size == "auto" else batch_size
        parts = np.array_split(rows, -(-len(rows) // size)) if len(rows) else []
        grid = Grid.of(max(map(len, parts), default=0), n_items)
        batches = [
            MatrixBatch(
                take_rows(X, part),
                positive.take(part, axis=0) ^ mirrored[part, np.newaxis],
                k[part],
                mirrored[part],
                grid,
            )
            for part in parts
        ]
        return cls(batches, random_state)

    @property
    def n_batches(self):
        return len(self.parts)

    def batches(self):
        """The batches of one pass."""
        order = np.arange(len(self.parts))
        if self.random_state is not None:
            order = self.random_state.permutation(order)
        return (self.parts[i] for i in order)


def number_of_batches(n_positives, n_negatives, batch_size, k, *, mirrored=False):
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


def _cut(rows, n_parts):
    edges = np.linspace(0, rows.shape[0], n_parts + 1).astype(int)
    return [rows[first:last] for first, last in pairwise(edges)]


def minimise_struct(X, batch, descent, *, tol, max_iter, report):
    """Weights that minimise struct and the penalty of one list, and the cutting planes' fit."""
    mean_square(X)  # refuses features out of range
    columns = Columns.of(X)
    inverse = columns.inverse_scale if descent.standardize else np.ones(X.shape[1])
    pull = descent.pull(columns, batch.n_places) * columns.mean_square(descent.standardize)

    def tangent(weights):  # of x / scale
        value, slope, hits = batch.tangent(weights * inverse, descent.rule)
        return value, slope * inverse, hits

    penalty = max(pull, _TINY)
    fit = cutting_plane(
        tangent,
        np.zeros(X.shape[1]),
        penalty=penalty,
        tol=tol or 0.0,
        max_iter=max_iter,
        report=report,
    )
    weights, trouble = (fit.weights * inverse).astype(X.dtype), []
    if not fit.converged:
        trouble.append(
            f"stopped after {len(fit.curve)} rounds with a duality gap of {fit.gap:.3g}, above "
            f"tol={tol}: increase max_iter, alpha or tol"
        )
    if np.ptp(scores_of(X, weights)) <= _ALIKE:
        trouble.append(
            "end at weights that score all rows alike, as the minimum does where the penalty "
            f"alpha={descent.alpha:g} is too strong: lower alpha, or take solver='mini_batch'"
        )
    if trouble:
        message = f"The cutting planes {', and '.join(trouble)}."
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
    return weights, fit


# Start and end ----------------------------------------------------------------------


class Part(NamedTuple):
    """Some rows, their labels, and the top that they have to themselves."""

    X: object
    labels: object
    top: Top

    @classmethod
    def of(cls, X, labels, top, rows):
        if labels.one_list:  # queries and rows of a matrix keep theirs
            n_rows, n_positives = len(labels.positive), np.count_nonzero(labels.positive)
            top = top.of_part(n_rows, n_positives, len(rows) / n_rows)
        return cls(take_rows(X, rows), labels.pick(rows), top)


def _held_out_parts(X, labels, top, random_state):
    """Rows to learn from, held-out batches and their number of places, fold by fold."""
    for rest, held in labels.folds(_FOLDS, random_state):
        rest, held = (_some_lists(labels, rows, random_state) for rows in (rest, held))
        aim = Part.of(X, labels, top, held)
        problem = make_problem(aim.X, aim.labels, aim.top, len(held), None)
        batches = list(problem.batches())
        if batches:
            yield rest, batches, sum(batch.n_places for batch in batches)


def better_start(X, labels, top, start, seed):
    """The `Start`, or that of `Start.others` which held-out rows prefer, by their top; its weights.

    `seed` None cuts the rows in order.
    """
    random_state = None if seed is None else np.random.RandomState(seed)
    starts, n_places = [start, *start.others()], 0.0
    if len(starts) == 1:
        return start, start.weights()
    hits = np.zeros(len(starts))
    for rest, batches, places in _held_out_parts(X, labels, top, random_state):
        hits += [mean_hits(batches, each.weights(rest)) for each in starts]
        n_places += places
        if n_places >= _ENOUGH_PLACES:
            break
    chosen = starts[int(np.argmax(hits))]
    return chosen, chosen.weights()


def steps_pay(X, labels, top, start, steps, random_state):
    """Whether steps on some rows end no worse than they begin, on the other rows.

    Start and end are both found anew without those rows. A surrogate that is not convex may end
    worse than it began, and where a linear model is right there is nothing to be gained.

    Parameters
    ----------
    X, labels, top
        As `make_problem` takes them.
    start : Start
    steps : callable
        ``steps(part, weights)``, the weights after steps on a `Part`.
    random_state : RandomState or None
        None cuts the rows in order.
    """
    before = after = n_places = 0.0
    for rest, batches, places in _held_out_parts(X, labels, top, random_state):
        first = start.weights(rest)
        try:
            last = steps(Part.of(X, labels, top, rest), first)
        except ValueError:  # too few rows of a class for their batches
            continue
        before += mean_hits(batches, first)
        after += mean_hits(batches, last) if np.all(np.isfinite(last)) else 0.0
        n_places += places
        if n_places >= _ENOUGH_PLACES:
            break
    _warn_where_worse(before, after, n_places)
    return after >= before


def _some_lists(labels, rows, random_state):
    """Rows of `_MANY_LISTS` lists, or a few more, where the rows are of many more lists."""
    labels = labels.pick(rows)
    n_parts = labels.n_lists // _MANY_LISTS
    if n_parts < 2:
        return rows
    _, some = next(labels.folds(n_parts, random_state), (None, slice(None)))
    return rows[some]


def _warn_where_worse(before, after, n_places):
    lost = (before - after) / max(before, _TINY)
    if lost > _CLEARLY_WORSE and lost * n_places >= _MANY_PLACES:
        warnings.warn(
            f"The steps made the top of held-out rows worse, by {lost:.0%} of what is right at the "
            "start, whose weights are kept. Features with heavy tails are a common cause: try "
            "QuantileTransformer or logarithms; else a smaller eta0, or a larger top to aim at.",
            ConvergenceWarning,
            stacklevel=6,
        )
