"""Decoders by sorting, by assignment and by a program over subsets; checks of their data."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._arrays import LARGEST, ArrayLike, check_finite, numbers
from .._lists import RankingLists, ranks_from_scores
from .._parameters import check_parameter, count


class Decoder(NamedTuple):
    """A decoder of surrogate vectors to ranks.

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
        return None if self.bounds is None else np.abs(self.values - self.bounds)

    @property
    def optimal(self) -> np.ndarray | None:
        """Mask of the orders that are certified as optimal; None without bounds."""
        return None if self.bounds is None else self.values == self.bounds


def checked_vectors(u, n_columns=None, of="", layout="", largest=LARGEST):
    """Surrogate vectors u as finite floats of shape (n_lists, n_columns); None is any number.

    `of` and `layout` are words for messages: the number of items, and the meaning of
    the columns. The default `largest` absolute value keeps sums finite.
    """
    u = numbers(u, "u")
    if u.ndim != 2 or n_columns not in (None, u.shape[1]):
        columns = "r" if n_columns is None else n_columns
        raise ValueError(
            f"u has shape {u.shape}; {of}it must be (n_lists, {columns}){layout}."
        )
    return check_finite(u, "u", largest)


def compared_ranks(ranks, n_lists, n_items):
    """Check the ranks of a user: finite floats >= 1 of shape (n_lists, n_items)."""
    ranks = numbers(ranks, "ranks")
    if ranks.shape != (n_lists, n_items):
        raise ValueError(
            f"ranks have shape {ranks.shape}; they must be {(n_lists, n_items)}."
        )
    if ranks.size and not check_finite(ranks, "ranks").min() >= 1:
        raise ValueError(f"ranks start at 1 = best, got {ranks.min():g}.")
    return ranks


# Sorting and assignment -------------------------------------------------------------


def decode_sort(u: ArrayLike) -> np.ndarray:
    """Ranks by descending u (n_lists, r), 1 = best; equal entries keep the order of the items.

    Sorting minimises ``<u, -phi(rank)>`` exactly for every non-increasing phi, hence it
    is exact for every positional loss (Ramaswamy, Agarwal & Tewari, NIPS 2013, theorem
    3).
    """
    u = checked_vectors(u, largest=np.inf)
    if u.size == 0:
        return np.empty(u.shape, dtype=np.intp)
    return ranks_from_scores(u.ravel(), RankingLists.equal(*u.shape)).reshape(u.shape)


def decode_assignment(u: ArrayLike, n_items: int) -> np.ndarray:
    """Ranks that maximise the sum of u[i, rank(i)] over the first positions; exact.

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
    u = checked_vectors(u)
    depth, left_over = divmod(u.shape[1], n_items)
    if left_over or not depth:
        raise ValueError(
            f"u has shape {u.shape}; for {n_items} items it must be (n_lists, {n_items} * depth), "
            "the value of each item at each of the first positions, item by item."
        )
    worth = u.reshape(len(u), n_items, depth)
    ranks = depth + decode_sort(worth.sum(axis=2))
    for ranks_of_list, worth_of_list in zip(ranks, worth, strict=True):
        # Rounding makes ties of values that differ in the last digits only.
        largest = np.abs(worth_of_list).max()
        rounded = (
            np.round(worth_of_list / largest, 12) if largest > 0 else worth_of_list
        )
        items, positions = linear_sum_assignment(rounded, maximize=True)
        ranks_of_list[items] = positions + 1
    return decode_sort(-ranks.astype(float))


def insertion(source, gap, n_items):
    """Moves of one item of each order to a gap between two items.

    Parameters
    ----------
    source : ndarray of int, shape (n,)
        Positions of the items.
    gap : ndarray of int, shape (n,)
        0 is in front of all items, n_items behind them.
    n_items : int

    Returns
    -------
    taken : ndarray of int, shape (n, n_items)
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
    target = (gap - (gap > source))[:, np.newaxis]
    source, position = source[:, np.newaxis], np.arange(n_items)
    up = (position >= source) & (position < target)
    down = (position <= source) & (position > target)
    shift = down.astype(np.intp) - up
    return np.where(position == target, source, position - shift), shift


# Programs over subsets --------------------------------------------------------------


def subsets_by_size(n_items):
    """Bit masks of the subsets of r items, one array for each size 1..r."""
    masks = np.arange(2**n_items, dtype=np.int32)
    size = np.zeros(2**n_items, dtype=np.int8)
    for i in range(n_items):
        size[2**i : 2 ** (i + 1)] = size[: 2**i] + 1
    by_size = np.argsort(size, kind="stable")
    return np.split(masks[by_size], np.cumsum(np.bincount(size)))[1:-1]


def trace_back(best, added=lambda inside: 0.0):
    """Ranks from the table of a program over subsets, from the last item to the first.

    Row T of the table `best` (2**r, n_lists) holds, for each list, the best value of
    the items in T as the first items of an order; a subset is a bit mask.
    ``added(inside)`` returns the value (n_lists, r) that each item adds as the last one
    of the subset `inside`; 0 if all items add the same.
    """
    n_items, n_lists = len(best).bit_length() - 1, best.shape[1]
    bits = 1 << np.arange(n_items)
    lists = np.arange(n_lists)
    subset = np.full(n_lists, len(best) - 1)
    ranks = np.empty((n_lists, n_items), dtype=np.intp)
    for p in range(n_items, 0, -1):
        inside = (subset[:, np.newaxis] & bits) > 0
        values = best[subset[:, np.newaxis] & ~bits, lists[:, np.newaxis]] + added(
            inside
        )
        values = np.where(inside, values, -np.inf)
        last = (
            n_items - 1 - np.argmax(values[:, ::-1], axis=1)
        )  # in ties the later item
        ranks[lists, last] = p
        subset = subset ^ bits[last]
    return ranks
