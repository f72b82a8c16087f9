"""Binary labels made ready for steps on precision at the top: classes, k, mini-batches."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ..metrics._positional import check_k, places_of_share
from ..solvers import ListBatch, ListGroup, MatrixBatch, take_rows
from ..target_losses import PrecisionAtK, PrecisionAtShare, RecallAtK, resolve_target_loss

# With batch_size="auto":
_ROWS = 1000  # of a batch
_BATCHES = 10  # at least, of fewer rows then
_POSITIVES = 20  # of a batch at least; the rarer class, whichever it is
_LISTS = 32  # of a batch of matrix rows at least, and at most 100 batches


class Top(NamedTuple):
    """Where the top of a list ends: at a count of places or at a share of its positives.

    The surrogates want k <= P. A count above P is taken as P, but for recall: positives that
    miss a top of k > P are those among the last n - k <= N, so that the mirrored list,
    negatives in the place of positives and all scores negated, has the same mistakes.

    Attributes
    ----------
    n_places : int or None
    share : float or None
    recall : bool
    """

    n_places: int | None
    share: float | None = None
    recall: bool = False

    def places(self, n_positives, n_negatives):
        """k of a list, and whether to mirror it; k is 0 where no order makes a mistake."""
        if self.n_places is None:
            return int(places_of_share(self.share, n_positives)), False
        if self.recall and self.n_places > n_positives:
            return max(0, n_positives + n_negatives - self.n_places), True
        return min(self.n_places, n_positives), False

    def of_part(self, n_rows, n_positives, share):
        """The same top in a part of one list: its positives' share, or as many of its rows."""
        if self.n_places is None:
            return self
        if self.recall and self.n_places > n_positives:
            places = min(max(round(share * self.n_places), 1), round(share * n_rows) - 1)
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
        raise ValueError(
            f"{loss!r} has no top of the list to aim at: take 'precision@25%', 'precision@10', "
            "'recall@10', 'prbep' or 'wta' here, and LowRankSurrogateRanker for other losses."
        )
    if loss.relevance_threshold is not None:
        raise ValueError(
            f"{loss!r}: a classifier takes two classes, not grades. Leave relevance_threshold out "
            "and give y = (grade >= threshold)."
        )
    return loss, TOPS[type(loss)](loss)


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
        self.k, self.mirrored = top.places(*sizes)
        self.above = self.below = []
        if 0 in sizes or self.k == 0:
            return  # nothing to compare
        n_batches = number_of_batches(*sizes, batch_size)
        if random_state is not None:
            for part in rows:
                random_state.shuffle(part)
        if self.mirrored:
            rows.reverse()
        self.share = top.share or self.k / len(rows[0])
        self.above, self.below = (_cut(take_rows(X, part), n_batches) for part in rows)

    @property
    def n_batches(self):
        return len(self.above)

    def batches(self):
        """The mini-batches of one pass, each with the same share of the list's top."""
        orders = [np.arange(len(self.above))] * 2
        if self.random_state is not None:
            orders = [self.random_state.permutation(order) for order in orders]
        for i, j in zip(*orders, strict=True):
            k = int(places_of_share(self.share, self.above[i].shape[0]))
            yield ListBatch(self.above[i], self.below[j], k, mirrored=self.mirrored)


class ManyLists:
    """Batches that are whole lists already; their order is drawn anew in each pass."""

    def __init__(self, batches, random_state):
        self.parts, self.random_state = batches, random_state

    @classmethod
    def of_queries(cls, X, labels, top, random_state):
        """One batch for each query that has both positives and negatives."""
        positive, lists = labels.positive, labels.lists
        order = np.arange(len(positive)) if lists.order is None else lists.order
        parts = []
        for first, last in pairwise(lists.offsets):
            rows = order[first:last]
            above, below = rows[positive[rows]], rows[~positive[rows]]
            k, mirrored = top.places(len(above), len(below))
            if len(above) and len(below) and k:
                above, below = (below, above) if mirrored else (above, below)
                above, below = take_rows(X, above), take_rows(X, below)
                parts.append(ListBatch(above, below, k, mirrored=mirrored))
        return cls(parts, random_state)

    @classmethod
    def of_matrix(cls, X, labels, top, batch_size, random_state):
        """Batches of rows, each a list of the same items."""
        positive = labels.positive
        n_positives = positive.sum(axis=1)
        rows = np.flatnonzero((n_positives > 0) & (n_positives < positive.shape[1]))
        if random_state is not None:
            random_state.shuffle(rows)
        size = max(_LISTS, len(rows) // 100) if batch_size == "auto" else batch_size
        parts = [
            (part, _groups(positive[part], top))
            for part in np.array_split(rows, max(1, -(-len(rows) // size)))
        ]
        batches = [MatrixBatch(take_rows(X, part), groups) for part, groups in parts if groups]
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


def number_of_batches(n_positives, n_negatives, batch_size):
    """Mini-batches of one list; refuses those too small to hold a positive and a negative."""
    n_rows = n_positives + n_negatives
    rarer = min(n_positives, n_negatives)
    if batch_size == "auto":
        return max(1, min(max(round(n_rows / _ROWS), _BATCHES), round(rarer / _POSITIVES)))
    n_batches = max(1, round(n_rows / batch_size))
    if n_batches > rarer:
        kind = "positives" if rarer == n_positives else "negatives"
        raise ValueError(
            f"batch_size={batch_size} cuts the {n_rows} rows into {n_batches} batches, but there "
            f"are only {rarer} {kind} and every batch needs one: take batch_size of at least "
            f"{-(-n_rows // rarer)}, or batch_size='auto'."
        )
    return n_batches


def _cut(rows, n_parts):
    edges = np.linspace(0, rows.shape[0], n_parts + 1).astype(int)
    return [rows[first:last] for first, last in pairwise(edges)]


def _groups(positive, top):
    """The lists of a matrix by their number of positives, as `MatrixBatch` takes them."""
    n_positives, n_items = positive.sum(axis=1), positive.shape[1]
    groups = []
    for n in np.unique(n_positives):
        k, mirrored = top.places(int(n), n_items - int(n))
        if k:
            rows = np.flatnonzero(n_positives == n)
            by_label = np.argsort(~positive[rows], axis=1, kind="stable")
            above, below = by_label[:, :n], by_label[:, n:]
            above, below = (below, above) if mirrored else (above, below)
            groups.append(ListGroup(rows, above, below, k, -1 if mirrored else 1))
    return groups
