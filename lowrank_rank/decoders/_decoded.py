"""Decoders by sorting, assignment and programs over subsets; checks of their data."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..lists._lists import RankingLists
from ..lists._ranks import ranks_from_scores
from ..validation._arrays import LARGEST, ArrayLike, numbers
from ..validation._check import refuse
from ..validation._checks_of_decoders import CHECKS_OF_RANKS, CHECKS_OF_VECTORS
from ..validation._kinds import arrive
from ..validation._parameters import check_parameter, count


class Decoder(NamedTuple):
    """A decoder of surrogate vectors to ranks, in ``decoders`` of a `TargetLoss`.

    Parameters
    ----------
    decode : callable
        ``decode(u, n_items)`` with u (n_lists, d), returning ranks (n_lists, n_items).
        A decoder of preferences is ``decode(u, *, bound=False)`` with u (n_lists, r,
        r), returning `Decoded`.
    exact : bool
        Whether the decoded ranks are Bayes-optimal at u = E[targets] for every
        distribution of the label.
    of_scores : bool
        Whether u estimates `TargetLoss.score_targets` (d = r) rather than `encode`.
    max_items : int or None
        Largest length of a list.

    Examples
    --------
    A custom loss whose decoder sorts by the first r entries of u:

    >>> from lowrank_rank.target_losses import NDCG, Decoder
    >>> class MyLoss(NDCG):
    ...     @property
    ...     def decoders(self):
    ...         def decode(u, n_items):
    ...             return (-u[:, :n_items]).argsort(axis=1).argsort(axis=1) + 1
    ...         return {"mine": Decoder(decode, exact=True)}
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> ranker = LowRankSurrogateRanker(target_loss=MyLoss(), decoder="mine")
    >>> ranker.fit([[0.0], [1.0]], [[1, 0, 2], [0, 2, 1]]).rank([[0.0]])
    array([[2, 3, 1]])
    """

    decode: Callable
    exact: bool
    of_scores: bool = False
    max_items: int | None = None


class Decoded(NamedTuple):
    """Orders with their values and, where known, bounds on the best possible values.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_lists, r)
        1 = best.
    values : ndarray of shape (n_lists,)
        Value of each order in the decoder's objective.
    bounds : ndarray of shape (n_lists,) or None
        A lower bound of the least cost, or an upper bound of the largest value. None
        unless the caller asked for bounds. A bound within rounding of the value equals
        the value.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_pd_dag
    >>> decoded = decode_pd_dag([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]], bound=True)
    >>> decoded.ranks, decoded.values, decoded.optimal
    (array([[1, 2, 3]]), array([1.]), array([ True]))
    """

    ranks: np.ndarray
    values: np.ndarray
    bounds: np.ndarray | None = None

    @property
    def gaps(self) -> np.ndarray | None:
        """How far each value may be from the best one, >= 0; None without bounds."""
        if self.bounds is None:
            return None
        return np.abs(self.values - self.bounds)

    @property
    def optimal(self) -> np.ndarray | None:
        """Mask of the orders that are certified as optimal; None without bounds."""
        if self.bounds is None:
            return None
        return self.values == self.bounds


def checked_vectors(u, n_columns=None, of="", layout="", largest=LARGEST, n_items=None):
    """Check surrogate vectors u, finite floats of shape (n_lists, n_columns).

    Parameters
    ----------
    u : array-like
    n_columns : int or None
        None is any number.
    of, layout : str
        Words for messages: the number of items, and the meaning of the columns.
    largest : float
        Largest absolute value; the default keeps sums finite.
    n_items : int or None
        Number of items, each with as many columns.
    """
    arrive(u=u)
    u = numbers(u, "u")
    refuse(
        CHECKS_OF_VECTORS,
        u=u,
        n_columns=n_columns,
        n_items=n_items,
        of=of,
        layout=layout,
        largest=largest,
    )
    return u


def compared_ranks(ranks, n_lists, n_items):
    """Check ranks, finite floats >= 1 of shape (n_lists, n_items)."""
    arrive(ranks=ranks)
    ranks = numbers(ranks, "ranks")
    refuse(CHECKS_OF_RANKS, ranks=ranks, shape=(n_lists, n_items))
    return ranks


# Sorting and assignment -------------------------------------------------------------


def decode_sort(u: ArrayLike) -> np.ndarray:
    """Rank by descending u (n_lists, r), 1 = best; ties keep the order of the items.

    Sorting minimises ``<u, -phi(rank)>`` exactly for every non-increasing phi, hence it
    is exact for every positional loss (Ramaswamy, Agarwal & Tewari, NIPS 2013, theorem
    3).
    """
    u = checked_vectors(u, largest=np.inf)
    if u.size == 0:
        return np.empty(u.shape, dtype=np.intp)
    return ranks_from_scores(u.ravel(), RankingLists.equal(*u.shape)).reshape(u.shape)


def decode_assignment(u: ArrayLike, n_items: int) -> np.ndarray:
    """Maximise the sum of u[i, rank(i)] over the first positions; exact.

    For losses that are linear in the indicators [rank(i) = p].

    Parameters
    ----------
    u : array-like of shape (n_lists, n_items * depth)
        ``u[q, i * depth + p]`` is the value of item i at position p + 1.
    n_items : int
        Number of items r of each list.

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, n_items)
        1 = best. The items below the first `depth` positions are sorted by descending
        total value.

    Raises
    ------
    ValueError
        If u is not a matrix of finite numbers, the same number of columns for each
        item.

    Examples
    --------
    >>> from lowrank_rank.decoders._decoded import decode_assignment
    >>> decode_assignment([[3.0, 2.0, 2.0, 0.0, 0.0, 0.0]], n_items=3)  # depth 2
    array([[2, 1, 3]])
    """
    check_parameter("n_items", n_items, [count()])
    u = checked_vectors(u, n_items=n_items)
    depth = u.shape[1] // n_items
    values = u.reshape(len(u), n_items, depth)
    # Items without an assignment come behind the first positions, by their sums.
    ranks = depth + decode_sort(values.sum(axis=2))
    for ranks_of_list, values_of_list in zip(ranks, values, strict=True):
        # Values that differ by rounding, relative to the largest, are tied.
        largest = np.abs(values_of_list).max()
        if largest > 0:
            values_of_list = np.round(values_of_list / largest, 12)
        items, positions = linear_sum_assignment(values_of_list, maximize=True)
        ranks_of_list[items] = positions + 1
    return decode_sort(-ranks.astype(float))


def insertion(source, gap, n_items):
    """Move one item of each order to a gap between two items.

    Parameters
    ----------
    source : ndarray of int, shape (n,)
        Positions of the items.
    gap : ndarray of int, shape (n,)
        0 is in front of all items, n_items behind them.
    n_items : int

    Returns
    -------
    old_position : ndarray of int, shape (n, n_items)
        The old position of the item at each new position.
    shift : ndarray of int, shape (n, n_items)
        Each new position minus the old one, 0 for the item that moves.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.decoders._decoded import insertion
    >>> insertion(np.array([0]), np.array([3]), 4)
    (array([[1, 2, 0, 3]]), array([[-1, -1,  0,  0]]))
    """
    # The gaps behind the item move up by one when it leaves its position.
    target = (gap - (gap > source))[:, np.newaxis]
    source = source[:, np.newaxis]
    position = np.arange(n_items)
    moves_up = (position >= source) & (position < target)
    moves_down = (position <= source) & (position > target)
    shift = moves_down.astype(np.intp) - moves_up
    old_position = np.where(position == target, source, position - shift)
    return old_position, shift


# Programs over subsets --------------------------------------------------------------


def subsets_by_size(n_items):
    """List the bit masks of the subsets of r items, one array for each size 1..r."""
    masks = np.arange(2**n_items, dtype=np.int32)
    size = np.zeros(2**n_items, dtype=np.int8)
    for i in range(n_items):
        # Add item i to the subsets of the items before it.
        size[2**i : 2 ** (i + 1)] = size[: 2**i] + 1
    by_size = np.argsort(size, kind="stable")
    ends = np.cumsum(np.bincount(size))
    _, *parts, _ = np.split(masks[by_size], ends)  # without the empty subset
    return parts


def trace_back(best, added=None):
    """Read ranks off the table of a program over subsets, from the last item back.

    Parameters
    ----------
    best : ndarray of shape (2**r, n_lists)
        Row T holds, for each list, the best value of the items in T as the first items
        of an order; a subset is a bit mask.
    added : callable or None
        ``added(inside)`` is the value (n_lists, r) that each item adds as the last one
        of the subset `inside` (n_lists, r). None if all items add the same.

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    n_items = len(best).bit_length() - 1
    n_lists = best.shape[1]
    bits = 1 << np.arange(n_items)
    lists = np.arange(n_lists)
    subset = np.full(n_lists, len(best) - 1)
    ranks = np.empty((n_lists, n_items), dtype=np.intp)
    for p in range(n_items, 0, -1):
        inside = (subset[:, np.newaxis] & bits) > 0
        values = best[subset[:, np.newaxis] & ~bits, lists[:, np.newaxis]]
        if added is not None:
            values = values + added(inside)
        values = np.where(inside, values, -np.inf)
        # The last item; ties go to the later one.
        last = n_items - 1 - np.argmax(values[:, ::-1], axis=1)
        ranks[lists, last] = p
        subset = subset ^ bits[last]
    return ranks
