"""One order of items from many: Kemeny's, Borda's, Copeland's, algorithm 1's."""

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

from .._arrays import ArrayLike, plain
from .._lists import batches, ranks_from_orders
from .._parameters import check_parameter, count, number
from .._parameters import random_state as seed
from .._tables import TableMixin
from ..decoders import Decoded, decode_pd_exact, preference_cost
from ..decoders._decoded import subsets_by_size
from ..decoders.feedback_arcs._decoders import pd_decoder
from ..decoders.feedback_arcs._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS
from ..decoders.feedback_arcs._graphs import (
    acyclic,
    matrices_from_differences,
    net_preferences,
    net_scores,
    strong_components,
)
from ..decoders.feedback_arcs._local_search import search, shakes_of
from ..target_losses import PairwiseDisagreement
from ._votes import Votes, read_votes


@dataclass(frozen=True, eq=False, repr=False)
class RankIntervals(TableMixin):
    """Bootstrap intervals of ranks; returned by `ConsensusRanking.rank_intervals`.

    Printed, and in ``to_frame()``, the best item comes first.

    Attributes
    ----------
    items : ndarray of shape (r,)
        Names; the other arrays are in the order of the items.
    ranks : ndarray of int, shape (r,)
        Rank of each item in the consensus, 1 = best.
    low, high : ndarray of int, shape (r,)
        Ends of the intervals.
    confidence_level : float
    samples : ndarray of int, shape (n_resamples, r)
        Ranks of each resample.

    Examples
    --------
    >>> from lowrank_rank import consensus_ranking
    >>> consensus = consensus_ranking([["a", "b", "c"]] * 30 + [["a", "c", "b"]] * 29)
    >>> intervals = consensus.rank_intervals(random_state=0)
    >>> intervals
    rank  item  low  high
       1  a       1     1
       2  b       2     3
       3  c       2     3
    >>> intervals.low
    array([1, 2, 2])
    """

    items: np.ndarray
    ranks: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    samples: np.ndarray

    def _columns(self):
        best_first = np.argsort(self.ranks)
        columns = {"rank": self.ranks, "item": self.items, "low": self.low, "high": self.high}
        return {name: values[best_first] for name, values in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusRanking(TableMixin):
    """An order of the items with its cost; returned by `consensus_ranking`.

    Printed, and in ``to_frame()``, the best item comes first.

    Attributes
    ----------
    items : ndarray of shape (r,)
        Names.
    ranks : ndarray of int, shape (r,)
        Rank of each item, 1 = best.
    method : str
    preferences : ndarray of shape (r, r)
        Weight of the votes for "i before j".
    cost : float
        Weight of the violated preferences, lower is better. For complete strict orders it is the
        number of pairs that voters order the other way.
    bound : float or None
        No order costs less; None for the methods that do not minimise the cost, all but "kemeny".
    scores : ndarray of shape (r,) or None
        Scores of "borda" and "copeland".

    Examples
    --------
    >>> from lowrank_rank import consensus_ranking
    >>> consensus = consensus_ranking([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]])
    >>> print(consensus)
    rank  item
       1  a
       2  b
       3  c
    kemeny: cost 3, no order costs less; no other order costs as little
    """

    items: np.ndarray
    ranks: np.ndarray
    method: str
    preferences: np.ndarray
    cost: float
    bound: float | None
    scores: np.ndarray | None
    votes: Votes = field(repr=False)
    time_limit: float | None = 60.0

    @property
    def order(self) -> np.ndarray:
        """Names of the items, best first."""
        return self.items[np.argsort(self.ranks)]

    @property
    def optimal(self) -> bool | None:
        """Whether the order is proved to cost least; None without a bound."""
        return None if self.bound is None else self.cost == self.bound

    @property
    def condorcet_winner(self) -> Any:
        """The item that a majority prefers to every other item, or None."""
        wins = (clear_net(self.preferences) > 0).sum(axis=1)
        best = int(np.argmax(wins))
        return self.items.tolist()[best] if wins[best] == len(wins) - 1 else None

    @property
    def has_cycle(self) -> bool:
        """Whether majorities prefer in a cycle."""
        return not acyclic(clear_net(self.preferences)[np.newaxis])[0]

    # Ties -----------------------------------------------------------------------------

    @cached_property
    def _optima(self):
        if not self.optimal:
            return None, np.zeros(self.preferences.shape, dtype=bool), None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The (time|solver's) limit")  # is_unique is None
            return find_optima(self.preferences, self.ranks, self.time_limit)

    @property
    def is_unique(self) -> bool | None:
        """Whether every other order costs more; None if it is not known, as without a proof.

        A component of more than 18 items needs an integer program for each pair of neighbours,
        together within `time_limit`.
        """
        _, _, is_unique = self._optima
        return is_unique

    @property
    def n_optima(self) -> int | None:
        """Number of orders of least cost, None where they were not counted (see `is_unique`)."""
        components, _, _ = self._optima
        return None if components is None else prod(int(n) for _, _, n, _ in components)

    def optima(self, max_orders: int = 1000) -> np.ndarray:
        """Orders of least cost, at most `max_orders` of them.

        Parameters
        ----------
        max_orders : int, default=1000
            Largest number of orders to return.

        Returns
        -------
        ndarray of shape (n_orders, r)
            Names, best first.

        Raises
        ------
        ValueError
            If they were not counted.
        """
        check_parameter("max_orders", max_orders, [count()])
        components, _, _ = self._optima
        if components is None:
            raise ValueError(
                "The orders of least cost were not counted: the order is not proved to cost least, "
                "or a cycle of majorities joins more than 18 items. is_unique may be known."
            )
        return self.items[first_orders(components, max_orders)]

    @property
    def tied_pairs(self) -> list[tuple]:
        """Pairs of names, the better ranked one first, that the method leaves open.

        "kemeny": some orders of least cost have them one way and some the other; "borda" and
        "copeland": equal scores; "dag": neighbours that can change places without a cost.
        """
        if self.method == "kemeny":
            _, tied, _ = self._optima
        elif self.scores is not None:
            tied = self.scores == self.scores[:, np.newaxis]
        else:
            neighbours = np.abs(self.ranks - self.ranks[:, np.newaxis]) == 1
            tied = neighbours & (clear_net(self.preferences) == 0)
        first, second = np.nonzero(tied & (self.ranks[:, np.newaxis] < self.ranks))
        by_rank = np.lexsort((self.ranks[second], self.ranks[first]))
        better, worse = self.items[first[by_rank]], self.items[second[by_rank]]
        return list(zip(better.tolist(), worse.tolist(), strict=True))

    # Resampling -----------------------------------------------------------------------

    def rank_intervals(
        self,
        *,
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        random_state: int | np.random.RandomState | None = None,
    ) -> RankIntervals:
        """Percentile intervals of the ranks, from a bootstrap over votes.

        Whole voters are drawn again, with replacement, and their order is found again. Whole
        weights count voters, others are importances of one voter each; of counts (r, r) each
        comparison is one vote.

        Parameters
        ----------
        n_resamples : int, default=1000
            Number of resamples of the votes.
        confidence_level : float, default=0.95
            Confidence level of each single interval.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        RankIntervals
            See `RankIntervals`.

        Raises
        ------
        ValueError
            If pairwise counts are not whole numbers.

        Notes
        -----
        Items of equal scores in a resample take all their ranks. "kemeny" of more than 12 items is
        a local search in resamples, from the consensus and from net preferences. No bootstrap of
        ranks is exact for (nearly) tied items [1]_: read overlapping intervals as "not
        distinguished" rather than as 95 %.

        References
        ----------
        .. [1] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for Ranks with
           Applications to Mobility across Neighbourhoods and Academic Achievement across
           Countries", Review of Economic Studies 91, 2024.
        """
        check_parameter("n_resamples", n_resamples, [count()])
        check_parameter("confidence_level", confidence_level, [number(above=0, below=1)])
        check_parameter("random_state", random_state, [seed])
        rng = check_random_state(random_state)
        r = len(self.ranks)
        shakes = shakes_of(r, 2, np.random.RandomState(0))
        low, high, ranks = [], [], []
        for totals in resampled_totals(self.votes, n_resamples, rng):
            if self.method == "kemeny" and r > MAX_ITEMS_SUBSETS:
                orders, scores = search(net_preferences(totals), shakes, self.ranks), None
                ranks.append(ranks_from_orders(orders))
            else:
                decoded, scores = decode_votes(self.method, totals, self.votes.are_counts)
                ranks.append(decoded.ranks)
            first = last = ranks[-1]
            if scores is not None:  # equal scores take all their ranks
                others, own = scores[:, np.newaxis, :], scores[:, :, np.newaxis]
                first, last = (others > own).sum(axis=2) + 1, (others >= own).sum(axis=2)
            low.append(first)
            high.append(last)
        tail = (1.0 - confidence_level) / 2.0
        return RankIntervals(
            self.items,
            self.ranks,
            np.quantile(np.concatenate(low), tail, axis=0, method="lower"),
            np.quantile(np.concatenate(high), 1.0 - tail, axis=0, method="higher"),
            confidence_level,
            np.concatenate(ranks),
        )

    def _columns(self):
        best_first = np.argsort(self.ranks)
        scores = {} if self.scores is None else {"score": self.scores[best_first]}
        return {"rank": self.ranks[best_first], "item": self.order, **scores}

    def __str__(self):
        found = f"{self!r}\n{self.method}: cost {self.cost:g}"
        if self.bound is None:
            return found
        if not self.optimal:
            return f"{found}, no order costs less than {self.bound:g}"
        longest = max(map(len, ordered_components(clear_net(self.preferences))))
        if longest > MAX_ITEMS_COUNTED and "_optima" not in vars(self):
            # The search takes a while.
            return f"{found}, no order costs less; is_unique looks for others"
        if self.is_unique:
            return f"{found}, no order costs less; no other order costs as little"
        others = "another order costs" if self.is_unique is False else "others may cost"
        if self.n_optima is not None:
            others = f"{self.n_optima - 1} other{'s' * (self.n_optima > 2)} cost"
        return f"{found}, no order costs less; {others} as little"


def consensus_ranking(
    orders: Any,
    *,
    weights: ArrayLike | None = None,
    items: Any = None,
    method: str = "kemeny",
    kind: str | None = None,
    ranks: bool = False,
    pairwise: bool = False,
    time_limit: float | None = 60.0,
) -> ConsensusRanking:
    """One order of items from the orders, grades or comparisons of many voters.

    The cost of an order is the weight of the violated preferences, ``sum_ij C_ij [rank(i) >
    rank(j)]``. C_ij is the weight of the voters who prefer i to j. A tie, and an item that a voter
    does not rank, is no preference.

    Parameters
    ----------
    orders : array-like, DataFrame, Bunch or sequence of sequences
        One of

        * an array or frame of grades (n_voters, r), higher is better, NaN for what is not ranked; a
          frame's columns name the items; with ``ranks=True`` ranks, 1 = best; numbers that may be
          ranks or orders as well are refused without `kind` or `ranks`;
        * what `datasets.load_preflib` returns, or any Bunch with ``target``; ``counts`` are the
          weights and ``item_names`` the names, unless others are given;
        * a list or Series of orders, best first: ``[["a", "b", "c"], ["c", ("a", "b")]]``. Items
          are names or numbers, tied items stand in a tuple, and orders need not be complete; or a
          table of names, a row for each voter, best first;
        * a long frame, or mapping of columns, "voter", "item" and "rank" (1 = best) or "grade", and
          optionally "weight", one for each voter. A warning names other columns;
        * with ``pairwise=True`` counts (r, r) of the votes for "i before j", of a frame with the
          same items as index and columns; preferences (n_voters, r, r) are always known by their
          shape.
    weights : array-like of shape (n_voters,) or None, default=None
        Number of voters behind each row, or its importance; of long frames in the order in which
        voters appear, or a Series by voter.
    items : sequence of length r or None, default=None
        Names of the items; None numbers them where nothing names them.
    method : {"kemeny", "borda", "copeland", "dag"}, default="kemeny"
        "kemeny" is the order of least cost of at most 200 items. "borda" sorts net preferences
        ``sum_j (C_ij - C_ji)``; of counts, the mean win rate over the opponents that an item met.
        "copeland" sorts majorities won minus lost. "dag" is algorithm 1: it deletes the smallest
        majorities until no cycle is left. The last three leave ties in the order of the items, and
        can cost more than the least.
    kind : {"orders", "grades"} or None, default=None
        How to read `orders`: "orders" lists items, best first; "grades" has a number for each item.
        None takes lists as orders, and arrays and frames as grades.
    ranks, pairwise : bool, default=False
        Whether a matrix holds ranks, or counts.
    time_limit : float or None, default=60.0
        Seconds for "kemeny"; None is no limit.

    Returns
    -------
    ConsensusRanking
        See `ConsensusRanking`: ``ranks``, ``order``, ``cost``, ``bound``, ``optimal``;
        ``n_optima``, ``is_unique``, ``optima()`` and ``tied_pairs``; ``rank_intervals()``.

    Raises
    ------
    ValueError
        If orders, weights or names do not fit, or there are too many items.

    Warns
    -----
    ConvergenceWarning
        If the time limit was reached: the best order found is returned, with its bound.
    UserWarning
        If what is read as grades looks like pairwise counts.

    See Also
    --------
    PairwiseDAGRanker : Orders that depend on features.
    lowrank_rank.plotting.RankIntervalDisplay : Ranks with intervals, drawn.

    References
    ----------
    .. [1] J. Kemeny, "Mathematics without Numbers", Daedalus 88, 1959.
    .. [2] H. Young, A. Levenglick, "A Consistent Extension of Condorcet's Election Principle",
       SIAM Journal on Applied Mathematics 35, 1978.

    Examples
    --------
    Seven of ten prefer a to b, six b to c, and six c to a. One of the two smallest majorities has
    to be given up:

    >>> from lowrank_rank import consensus_ranking
    >>> votes = [[0, 7, 4], [3, 0, 6], [6, 4, 0]]
    >>> consensus = consensus_ranking(votes, items=["a", "b", "c"], pairwise=True)
    >>> consensus.order.tolist(), consensus.cost, consensus.optimal
    (['c', 'a', 'b'], 13.0, True)
    >>> consensus.n_optima, consensus.optima().tolist()
    (2, [['c', 'a', 'b'], ['a', 'b', 'c']])
    >>> consensus.tied_pairs
    [('c', 'a'), ('c', 'b')]
    """
    check_parameter("method", method, ["kemeny", "borda", "copeland", "dag"])
    check_parameter("kind", kind, ["orders", "grades", None])
    check_parameter("ranks", ranks, [bool])
    check_parameter("pairwise", pairwise, [bool])
    check_parameter("time_limit", time_limit, [number(above=0), None])
    votes = read_votes(orders, weights, items, kind, ranks, pairwise)
    total = votes.total()
    r = len(total)
    if method == "kemeny" and r > MAX_ITEMS_ORDERING:
        raise ValueError(
            f"method='kemeny' takes at most {MAX_ITEMS_ORDERING} items, there are {r}: use "
            "'borda', 'copeland' or 'dag'."
        )
    if method == "borda" and votes.are_counts and r > 1:
        alone = ~(total + total.T).any(axis=1)
        if alone.any():
            item = plain(votes.items[int(np.argmax(alone))])
            raise ValueError(
                f"method='borda' needs the win rate of each item, but item {item!r} met no other: "
                "drop it, or use another method."
            )
    decoded, scores = decode_votes(method, total[np.newaxis], votes.are_counts, time_limit)
    cost = float(preference_cost(total[np.newaxis], decoded.ranks)[0])
    bound = None if decoded.bounds is None else float(decoded.bounds[0])
    scores = None if scores is None else scores[0]
    found = votes.items, decoded.ranks[0], method, total, cost, bound, scores, votes, time_limit
    return ConsensusRanking(*found)


# Methods ------------------------------------------------------------------------------


def decode_votes(method, totals, are_counts, time_limit=None):
    """`Decoded` of total preferences (m, r, r), and the scores that were sorted or None."""
    if method == "kemeny":
        return decode_pd_exact(totals, time_limit=time_limit), None
    if method == "dag":
        return pd_decoder("dag", totals.shape[1]).decode(totals), None
    largest = max(float(totals.sum(axis=(1, 2)).max()), 1e-200)
    if method == "copeland":
        scores = np.sign(clear_net(totals)).sum(axis=2)
    elif are_counts:  # mean win rates over the opponents met: numbers of games may differ
        games = totals + totals.swapaxes(1, 2)
        rates = np.divide(totals, games, out=np.zeros(totals.shape), where=games > 0)
        n_met = (games > 0).sum(axis=2)
        scores = np.divide(rates.sum(axis=2), n_met, out=np.full(n_met.shape, 0.5), where=n_met > 0)
        largest = 1.0
    else:
        scores = net_scores(totals)
    # Scores that differ by rounding, relative to the largest, are tied.
    scores = np.round(scores, 12 - int(np.ceil(np.log10(largest))))
    ranks = ranks_from_orders(np.argsort(-scores, axis=1, kind="stable"))
    return Decoded(ranks, preference_cost(totals, ranks)), scores


# Resampling --------------------------------------------------------------------------


def resampled_totals(votes, n_resamples, rng):
    """Iterate over total preferences (m, r, r) of resampled votes."""
    labels, r, loss = votes.labels, votes.labels.shape[1], PairwiseDisagreement()
    weights = votes.labels.ravel() if votes.are_counts else votes.weights
    whole = np.all(weights == np.round(weights))
    if votes.are_counts and not whole:
        raise ValueError("Votes are resampled one by one: pairwise counts must be whole numbers.")
    if not whole:
        weights = weights > 0
    n_drawn = int(weights.sum())
    if n_drawn < 2 and not votes.are_counts:
        raise ValueError(
            "Intervals come from voters who are resampled, and there is only one voter. Give "
            "several votes, or counts with pairwise=True."
        )
    chances = weights / max(n_drawn, 1)
    for some in batches(n_resamples, max(chances.size, r * r), 2**24):
        drawn: Any = rng.multinomial(n_drawn, chances, size=len(range(n_resamples)[some]))
        if not votes.are_counts:
            # Counts below 2**24 are exact in single precision. Products of net counts of the pairs
            # i < j then take a quarter of the time.
            exact = whole and labels.ndim == 2 and n_drawn < 2**24
            dtype, encode = (np.float32, loss.encode) if exact else (np.float64, loss.preferences)
            times, drawn = (drawn if whole else drawn * votes.weights).astype(dtype), 0.0
            for rows in batches(len(labels), r * r):
                preferences = encode(labels[rows]).astype(dtype)
                drawn += times[:, rows] @ preferences.reshape(len(preferences), -1)
        for part in batches(len(drawn), r * r):
            if drawn.shape[1] == r * r:
                yield drawn[part].reshape(-1, r, r).astype(float)
            else:
                net = net_preferences(matrices_from_differences(drawn[part], r))
                yield np.maximum(net, 0.0)


MAX_ITEMS_COUNTED = 18  # of one component: 2**18 subsets


def find_optima(preferences, ranks, time_limit=None, max_counted=MAX_ITEMS_COUNTED):
    """Orders of least cost of preferences (r, r); `ranks` is one of them.

    Strong components of more than `max_counted` items are not counted. For each pair of neighbours
    in the order, the best order with this pair reversed costs more, or is another optimum.

    Returns
    -------
    components : list of tuple or None
        Results of `count_orders`: best orders follow these components one after another. None if
        they were not counted.
    tied : ndarray of bool, shape (r, r)
        Pairs for which both orders were found.
    is_unique : bool or None
        None if it is unknown.
    """
    net = clear_net(preferences)
    tied = np.zeros(net.shape, dtype=bool)
    components, unique = [], []
    for members in ordered_components(net):
        if len(members) <= max_counted:
            component = count_orders(members, np.maximum(net[np.ix_(members, members)], 0.0))
            *_, n_orders, before = component
            tied[np.ix_(members, members)] = (before > 0) & (before.T > 0)
            components.append(component)
            unique.append(n_orders == 1)
        else:
            unique.append(neighbours_are_fixed(net, members, ranks, tied, time_limit))
    is_unique = False if False in unique else (None if None in unique else True)
    return components if len(components) == len(unique) else None, tied, is_unique


def clear_net(preferences):
    """Net preferences (..., r, r), those within rounding of the votes as 0."""
    net = net_preferences(preferences)
    scale = np.abs(preferences).sum(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(net) > 1e-12 * scale, net, 0.0)


def ordered_components(net):
    """Strong components of the graph with i -> j where j is not preferred to i, best first."""
    r = len(net)
    even = (net >= 0) & ~np.eye(r, dtype=bool)
    edges = (np.zeros(even.sum(), dtype=int), *np.nonzero(even))
    component = strong_components(edges, (1, r))[0][0]
    # Between two of them all pairs are preferred one way: who beats more comes first.
    beaten = np.array([(net[component == c] > 0).sum(axis=1).min() for c in np.unique(component)])
    return [np.flatnonzero(component == c) for c in np.unique(component)[np.argsort(-beaten)]]


def count_orders(members, weights):
    """Best orders of a component with edges of these weights (s, s).

    Returns
    -------
    members : ndarray of int, shape (s,)
    last : ndarray of bool, shape (2**s, s)
        Whether some best order of a subset ends with an item.
    n_orders : float
        Number of best orders.
    before : ndarray of shape (s, s)
        Number of best orders that put i before j.
    """
    s = len(members)
    bits = 1 << np.arange(s)
    inside = (np.arange(2**s)[:, np.newaxis] & bits) > 0
    pays = inside @ weights.T  # of an item that comes after the subset
    tolerance = 1e-9 * weights.sum()
    least, counts = np.zeros(2**s), np.zeros(2**s)
    last = np.zeros((2**s, s), dtype=bool)
    counts[0] = 1.0
    for subsets in subsets_by_size(s):
        rest = np.where(inside[subsets], subsets[:, np.newaxis] ^ bits, 0)
        cost = np.where(inside[subsets], least[rest] + pays[rest, np.arange(s)], np.inf)
        least[subsets] = cost.min(axis=1)
        last[subsets] = cost <= least[subsets][:, np.newaxis] + tolerance
        counts[subsets] = (counts[rest] * last[subsets]).sum(axis=1)
    ways = np.zeros(2**s)  # from each subset on to the whole
    ways[-1] = 1.0
    before = np.zeros((s, s))
    for subsets in reversed(list(subsets_by_size(s))):
        for i in range(s):
            ending = subsets[last[subsets, i] & (ways[subsets] > 0)]
            rest = ending ^ bits[i]
            ways[rest] += ways[ending]
            before[:, i] += (ways[ending] * counts[rest]) @ inside[rest]
    return members, last, counts[-1], before


def neighbours_are_fixed(net, members, ranks, tied, time_limit):
    """Whether these items have one best order; marks tied pairs, None if a search was cut short.

    Every other order reverses some pair of neighbours.
    """
    members = members[np.argsort(ranks[members])]
    weights = np.maximum(net[np.ix_(members, members)], 0.0)
    cost = float(np.tril(weights).sum())
    free = np.flatnonzero(weights[np.arange(len(members) - 1), np.arange(1, len(members))] == 0)
    for i in free.tolist():  # a swap without a cost
        tied[members[i], members[i + 1]] = tied[members[i + 1], members[i]] = True
    if len(free):
        return False
    limit = None if time_limit is None else time_limit / (len(members) - 1)
    unique: bool | None = True
    for i in range(len(members) - 1):
        turned = weights.copy()
        turned[i + 1, i] += 2.0 * weights.sum()
        found = decode_pd_exact(turned[np.newaxis], time_limit=limit)
        ranks_found = found.ranks[0]
        value = np.sum(weights * (ranks_found[:, np.newaxis] > ranks_found))
        if value <= cost + 1e-9 * weights.sum():
            tied[members[i], members[i + 1]] = tied[members[i + 1], members[i]] = True
            return False
        if cast(np.ndarray, found.bounds)[0] <= cost + 1e-9 * weights.sum():
            unique = None
    return unique


def best_orders(members, last, subset):
    """Iterate over the best orders of a subset of a component, as tuples of item numbers."""
    if subset == 0:
        yield ()
    for i in np.flatnonzero(last[subset]):
        for head in best_orders(members, last, subset ^ (1 << int(i))):
            yield (*head, int(members[i]))


def first_orders(components, n):
    """At most n of the best orders, (m, r)."""
    each = [
        islice(best_orders(members, last, len(last) - 1), n) for members, last, *_ in components
    ]
    return np.array([np.concatenate(order) for order in islice(product(*each), n)], dtype=np.intp)
