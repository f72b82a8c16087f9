"""One order of items from many: Kemeny's, Borda's, Copeland's, algorithm 1's."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._tables import TableMixin
from ..decoders import decode_pd_dag, decode_pd_exact
from ..decoders.feedback_arcs._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS
from ..decoders.feedback_arcs._graphs import (
    acyclic,
    costs_of,
    matrices_from_differences,
    net_preferences,
    net_scores,
    preference_cost,
    strong_components,
)
from ..decoders.feedback_arcs._local_search import search, shakes_of
from ..lists._lists import RankingLists, bounded_blocks
from ..lists._ranks import mid_ranks, ranks_from_orders
from ..target_losses import PairwiseDisagreement
from ..target_losses._pair_counts import pair_counts
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_votes import CHECKS_OF_METHODS, CHECKS_OF_RESAMPLES
from ..validation._findings import Finding, findings_so_far, reporting, reports
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, check_parameter, checked, count, number
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
    >>> from lowrank_rank.votes import consensus_ranking
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
        columns = {
            "rank": self.ranks,
            "item": self.items,
            "low": self.low,
            "high": self.high,
        }
        return {name: values[best_first] for name, values in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusRanking(TableMixin):
    """An order of the items with its cost; returned by `consensus_ranking`.

    Printed, and in ``to_frame()``, the best item comes first. If voters leave out items
    that are "unknown", a column says how many voters ranked each item: items that
    voters choose to rank have an advantage.

    Attributes
    ----------
    items : ndarray of shape (r,)
        Names.
    ranks : ndarray of int, shape (r,)
        Rank of each item, 1 = best.
    method : str
    cost : float
        Weight of the violated preferences, lower is better. For complete strict orders
        it is the number of pairs that voters order the other way.
    bound : float or None
        Lower bound of the cost of every order; None for all methods but "kemeny", which
        do not minimise the cost.
    scores : ndarray of shape (r,) or None
        Scores of "borda" and "copeland".
    findings : tuple of Finding
        What the rules found, as in the warnings of the call: each has a `rule`, a
        `sentence` and a `category`.

    Examples
    --------
    >>> from lowrank_rank.votes import consensus_ranking
    >>> votes = [["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]
    >>> consensus = consensus_ranking(votes)
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
    cost: float
    bound: float | None
    scores: np.ndarray | None
    votes: Votes = field(repr=False)
    time_limit: float | None = 60.0
    findings: tuple[Finding, ...] = ()

    @cached_property
    def preferences(self) -> np.ndarray:
        """Weight of the votes for "i before j", shape (r, r)."""
        return self.votes.total()

    @property
    def order(self) -> np.ndarray:
        """Names of the items, best first."""
        return self.items[np.argsort(self.ranks)]

    @property
    def optimal(self) -> bool | None:
        """Whether the order is proved to cost least; None without a bound."""
        if self.bound is None:
            return None
        return self.cost == self.bound

    @property
    def condorcet_winner(self) -> Any:
        """The item that a majority prefers to every other item, or None."""
        wins = (clear_net(self.preferences) > 0).sum(axis=1)
        best = int(np.argmax(wins))
        if wins[best] < len(wins) - 1:
            return None
        return self.items.tolist()[best]

    @property
    def has_cycle(self) -> bool:
        """Whether majorities prefer in a cycle."""
        return not acyclic(clear_net(self.preferences)[np.newaxis])[0]

    @property
    def is_unique(self) -> bool | None:
        """Whether every other order costs more; None if that is not known.

        It is not known if the order is not proved to cost least. Any other order
        reverses some pair of neighbours: for each pair, an exact search looks for an
        order of the same cost, all within `time_limit` together. If there is one, the
        printed result shows it.
        """
        is_unique, _ = self._another_optimum
        return is_unique

    @cached_property
    def _another_optimum(self):
        """Whether the order is unique, and ranks of another optimum or None."""
        if not self.optimal:
            return None, None
        # `is_unique` is None where a search reached its limit.
        with reporting(ignore=ConvergenceWarning):
            return another_optimum(
                clear_net(self.preferences), self.ranks, self.time_limit
            )

    # Resampling -----------------------------------------------------------------------

    @checked(n_resamples=[count()], confidence_level=LEVEL)
    def rank_intervals(
        self,
        *,
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        random_state: int | np.random.RandomState | None = None,
    ) -> RankIntervals:
        """Compute percentile intervals of the ranks, from a bootstrap over votes.

        Voters are drawn with replacement, and their votes are ranked again. Weights
        that are whole numbers count voters, others are importances of one voter each.
        In counts (r, r) each comparison is one vote.

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
        Items of equal scores in a resample take all their ranks. "kemeny" of more than
        12 items is a local search in resamples, from the consensus and from net
        preferences. No bootstrap of ranks is exact for (nearly) tied items [1]_: read
        overlapping intervals as "not distinguished" rather than as 95 %.

        References
        ----------
        .. [1] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for Ranks with
           Applications to Mobility across Neighbourhoods and Academic Achievement
           across Countries", Review of Economic Studies 91, 2024.
        """
        refuse(CHECKS_OF_RESAMPLES, votes=self.votes)
        rng = check_random_state(random_state)
        samples = []
        low = []
        high = []
        # Win rates need the games of each pair, and not only who won more of them.
        takes_win_rates = self.method == "borda" and self.votes.are_partial
        for totals in resampled_totals(
            self.votes, n_resamples, rng, net=not takes_win_rates
        ):
            ranks, scores = self._rank_resamples(totals)
            first = ranks
            last = ranks
            if scores is not None:
                # Items of equal scores take all their ranks, first to last.
                own = scores[:, :, np.newaxis]
                others = scores[:, np.newaxis, :]
                first = (others > own).sum(axis=2) + 1
                last = (others >= own).sum(axis=2)
            samples.append(ranks)
            low.append(first)
            high.append(last)

        tail = (1.0 - confidence_level) / 2.0
        low = np.concatenate(low)
        high = np.concatenate(high)
        return RankIntervals(
            items=self.items,
            ranks=self.ranks,
            low=np.quantile(low, tail, axis=0, method="lower"),
            high=np.quantile(high, 1.0 - tail, axis=0, method="higher"),
            confidence_level=confidence_level,
            samples=np.concatenate(samples),
        )

    def _rank_resamples(self, totals):
        """Rank the items of each resample; return the ranks and the scores or None."""
        r = len(self.ranks)
        if self.method == "kemeny" and r > MAX_ITEMS_SUBSETS:
            shakes = shakes_of(r, 2, 0)
            orders = search(net_preferences(totals), shakes, self.ranks)
            return ranks_from_orders(orders), None
        ranks, _, scores = rank_totals(self.method, totals, self.votes.are_partial)
        return ranks, scores

    # Table ----------------------------------------------------------------------------

    def _columns(self):
        best_first = np.argsort(self.ranks)
        columns = {"rank": self.ranks[best_first], "item": self.order}
        if self.scores is not None:
            columns["score"] = self.scores[best_first]
        if self.votes.are_partial and not self.votes.are_counts:
            columns["voters"] = self.votes.voters_of_items()[best_first]
        return columns

    def __str__(self) -> str:
        text = f"{self!r}\n{self.method}: cost {self.cost:g}"
        if self.bound is None:
            return text
        if not self.optimal:
            return f"{text}, no order costs less than {self.bound:g}"
        text += ", no order costs less"
        # The search of many items may take `time_limit`: printing does not start it.
        is_searched = "_another_optimum" in vars(self)
        if len(self.ranks) > MAX_ITEMS_SUBSETS and not is_searched:
            return f"{text}; is_unique tells whether others cost as little"
        is_unique, ranks = self._another_optimum
        if is_unique:
            return f"{text}; no other order costs as little"
        if is_unique is None:
            return f"{text}; others may cost as little"
        other = ", ".join(map(str, self.items[np.argsort(ranks)].tolist()))
        return f"{text}; another order of this cost is {other}"


@reports
def consensus_ranking(
    orders: Any,
    *,
    kind: str | None = None,
    items: Any = None,
    weights: ArrayLike | None = None,
    unranked: str | None = None,
    method: str = "kemeny",
    time_limit: float | None = 60.0,
) -> ConsensusRanking:
    """Find one order of items from the orders, grades or comparisons of many voters.

    The cost of an order is the weight of the violated preferences, ``sum_ij C_ij
    [rank(i) > rank(j)]``. C_ij is the weight of the voters who prefer i to j. A tie is
    no preference.

    Parameters
    ----------
    orders : array-like, DataFrame, Bunch or sequence of sequences
        Without `kind`, one of these forms:

        * a list or Series of lists of names, best first: ``[["a", "b", "c"], ["c",
          ("a", "b")]]``. Tied items stand in a tuple;
        * a long frame, or mapping of columns, "voter", "item" and "rank" (1 = best) or
          "grade", and optionally "weight", one for each voter;
        * what `votes.load_preflib` returns, or any Bunch with the grades ``target`` and
          ``item_names``;
        * preferences (n_voters, r, r), the weight of "i before j" for each voter.

        Any other list, array or frame needs `kind`.
    kind : {"orders", "grades", "ranks", "counts"} or None, default=None
        What `orders` holds:

        * "orders": each row lists items, by names or numbers, best first;
        * "grades": a number for each item (n_voters, r), higher is better, NaN for what
          is not graded;
        * "ranks": a rank for each item (n_voters, r), 1 = best, NaN for what is not
          ranked; equal ranks are ties, gaps are refused;
        * "counts": the number of votes for "i before j" (r, r); a frame needs the same
          items as index and columns.

        A frame's columns are the items, or the places of "orders"; columns that cannot
        be either are refused.
    items : sequence of length r or None, default=None
        Names of the items, in the order of the result; None numbers them if nothing
        names them. For a frame of grades, ranks or counts, the columns that are items;
        others are left out.
    weights : array-like of shape (n_voters,) or None, default=None
        Number of voters behind each row; for long frames in the order in which voters
        appear, or a Series by voter.
    unranked : {"last", "unknown"} or None, default=None
        How to read items that a vote does not rank: "last" if voters name their
        favourites of all items; "unknown", not compared, if they rank all items that
        they saw. None refuses orders and ranks of some of the items; for grades it
        means "unknown".
    method : {"kemeny", "borda", "copeland", "dag"}, default="kemeny"
        "kemeny" is the order of least cost of at most 200 items. "borda" sorts net
        preferences ``sum_j (C_ij - C_ji)``; for counts, and for ballots that leave out
        items, mean win rates over the opponents that an item met. "copeland" sorts
        majorities won minus lost. "dag", algorithm 1 of `PairwiseDAGRanker`, deletes
        the smallest majorities until no cycle is left. The last three leave ties in the
        order of the items, and can cost more than the least.
    time_limit : float or None, default=60.0
        Seconds for "kemeny"; None means no limit.

    Returns
    -------
    ConsensusRanking
        See `ConsensusRanking`: ``ranks``, ``order``, ``cost``, ``bound``, ``optimal``;
        ``is_unique``; ``rank_intervals()``.

    Raises
    ------
    ValueError
        If orders, weights or names do not fit, `unranked` is needed,
        or there are too many items.

    Warns
    -----
    ConvergenceWarning
        If the time limit was reached: the best order found is returned, with its bound.
    UserWarning
        If a long table has columns that are not read, or an item is called "overvote",
        "undervote" or "skipped".

    See Also
    --------
    PairwiseDAGRanker : Orders that depend on features.
    lowrank_rank.plotting.RankIntervalDisplay : Ranks with intervals, drawn.

    References
    ----------
    .. [1] J. Kemeny, "Mathematics without Numbers", Daedalus 88, 1959.
    .. [2] H. Young, A. Levenglick, "A Consistent Extension of Condorcet's Election
       Principle", SIAM Journal on Applied Mathematics 35, 1978.

    Examples
    --------
    Seven of ten prefer a to b, six b to c, and six c to a. One of the two smallest
    majorities has to be given up:

    >>> from lowrank_rank.votes import consensus_ranking
    >>> votes = [[0, 7, 4], [3, 0, 6], [6, 4, 0]]
    >>> consensus = consensus_ranking(votes, kind="counts", items=["a", "b", "c"])
    >>> consensus.order.tolist(), consensus.cost, consensus.optimal
    (['c', 'a', 'b'], 13.0, True)
    >>> consensus.is_unique
    False
    >>> print(consensus)
    rank  item
       1  c
       2  a
       3  b
    kemeny: cost 13, no order costs less; another order of this cost is a, b, c
    """
    arrive(orders=orders, items=items, weights=weights)
    check_parameter("method", method, ["kemeny", "borda", "copeland", "dag"])
    check_parameter("kind", kind, ["orders", "grades", "ranks", "counts", None])
    check_parameter("unranked", unranked, ["last", "unknown", None])
    check_parameter("time_limit", time_limit, [number(above=0), None])
    votes = read_votes(orders, kind, items, weights, unranked)
    if method == "borda" and votes.labels.ndim == 2 and not votes.are_partial:
        return _borda_of_ballots(votes, time_limit)
    total = votes.total()
    refuse(
        CHECKS_OF_METHODS,
        method=method,
        votes=votes,
        total=total,
        max_items=MAX_ITEMS_ORDERING,
    )
    ranks, bounds, scores = rank_totals(
        method, total[np.newaxis], votes.are_partial, time_limit
    )
    consensus = ConsensusRanking(
        items=votes.items,
        ranks=ranks[0],
        method=method,
        cost=float(preference_cost(total[np.newaxis], ranks)[0]),
        bound=None if bounds is None else float(bounds[0]),
        scores=None if scores is None else scores[0],
        votes=votes,
        time_limit=time_limit,
        findings=findings_so_far(),
    )
    # The cached property has them already.
    vars(consensus)["preferences"] = total
    return consensus


# Methods ------------------------------------------------------------------------------


def _borda_of_ballots(votes, time_limit):
    """Sort the net preferences of complete ballots, each of which is sorted alone."""
    # A ballot that ranks nothing, or has weight 0, has no preferences.
    is_empty = np.isnan(votes.labels).any(axis=1)
    weights = np.where(is_empty, 0.0, votes.weights)
    grades = np.where(is_empty[:, np.newaxis], 0.0, votes.labels)
    n, r = grades.shape
    lists = RankingLists.equal(n, r)
    # An item of mean rank m has r - m items behind it and m - 1 items before it.
    net = r + 1.0 - 2.0 * mid_ranks(grades.ravel(), lists).reshape(n, r)
    # The largest total weight of the votes.
    scores = _rounded(weights @ net, weights.sum() * r * (r - 1) / 2.0)
    ranks = ranks_from_orders(np.argsort(-scores, kind="stable")[np.newaxis])[0]
    violated, *_ = pair_counts(grades.ravel(), np.tile(-ranks, n), lists)
    return ConsensusRanking(
        items=votes.items,
        ranks=ranks,
        method="borda",
        cost=float(weights @ violated),
        bound=None,
        scores=scores,
        votes=votes,
        time_limit=time_limit,
        findings=findings_so_far(),
    )


def rank_totals(method, totals, are_partial, time_limit=None):
    """Rank the items by a method, from total preferences (m, r, r).

    `are_partial` says that voters compared some of the items only.

    Returns
    -------
    ranks : ndarray of int, shape (m, r)
    bounds : ndarray of shape (m,) or None
        Lower bounds of the least cost, of "kemeny".
    scores : ndarray of shape (m, r) or None
        The scores that "borda" and "copeland" sort.
    """
    if method == "kemeny":
        decoded = decode_pd_exact(totals, time_limit=time_limit)
        return decoded.ranks, decoded.bounds, None
    if method == "dag":
        return decode_pd_dag(totals).ranks, None, None

    largest = 1.0
    if method == "copeland":
        scores = np.sign(clear_net(totals)).sum(axis=2)
    elif are_partial:
        scores = mean_win_rates(totals)
    else:
        scores = net_scores(totals)
        largest = float(totals.sum(axis=(1, 2)).max())
    scores = _rounded(scores, largest)
    orders = np.argsort(-scores, axis=1, kind="stable")
    return ranks_from_orders(orders), None, scores


def _rounded(scores, largest):
    """Tie scores that differ by rounding, relative to the largest."""
    return np.round(scores, 12 - int(np.ceil(np.log10(max(largest, 1e-200)))))


def mean_win_rates(totals):
    """Average the win rates of each item over the opponents that it met, (m, r).

    Pairs may differ in their numbers of games. Without any game the mean is 0.5.
    """
    games = totals + totals.swapaxes(1, 2)
    win_rates = np.divide(totals, games, out=np.zeros(totals.shape), where=games > 0)
    n_opponents = (games > 0).sum(axis=2)
    return np.divide(
        win_rates.sum(axis=2),
        n_opponents,
        out=np.full(n_opponents.shape, 0.5),
        where=n_opponents > 0,
    )


# Resampling --------------------------------------------------------------------------


def resampled_totals(votes, n_resamples, rng, net):
    """Iterate over total preferences (m, r, r) of resampled votes.

    With `net` they may be net preferences, which are faster to sum.
    """
    r = votes.labels.shape[1]
    n_votes = votes.labels.ravel() if votes.are_counts else votes.weights
    are_whole = np.all(n_votes == np.round(n_votes))
    if not are_whole:
        n_votes = n_votes > 0  # weights are importances of one voter each
    n_drawn = int(n_votes.sum())

    loss = PairwiseDisagreement()
    # Whole sums below 2**24 are exact in single precision. Sums of net preferences of
    # the pairs i < j then take a quarter of the time of sums of matrices.
    sums_pairs = net and are_whole and votes.labels.ndim == 2 and n_drawn < 2**24
    probabilities = n_votes / max(n_drawn, 1)
    for resamples in bounded_blocks(n_resamples, max(len(probabilities), r * r), 2**24):
        size = len(range(n_resamples)[resamples])
        drawn: Any = rng.multinomial(n_drawn, probabilities, size=size)
        if votes.are_counts:
            sums = drawn
        elif sums_pairs:
            sums = sum_votes(votes.labels, drawn.astype(np.float32), loss.encode)
        elif are_whole:
            sums = sum_votes(votes.labels, drawn.astype(float), loss.preferences)
        else:
            sums = sum_votes(votes.labels, drawn * votes.weights, loss.preferences)
        for part in bounded_blocks(size, r * r):
            if sums_pairs:
                differences = matrices_from_differences(sums[part], r)
                yield np.maximum(net_preferences(differences), 0.0)
            else:
                yield sums[part].reshape(-1, r, r).astype(float)


def sum_votes(labels, weights, encode):
    """Sum the encoded labels of the voters with each row of weights (m, n_voters)."""
    r = labels.shape[1]
    sums: Any = 0.0
    for voters in bounded_blocks(len(labels), r * r):
        encoded = encode(labels[voters]).astype(weights.dtype)
        sums += weights[:, voters] @ encoded.reshape(len(encoded), -1)
    return sums


# Other orders ------------------------------------------------------------------------


def clear_net(preferences):
    """Compute net preferences (..., r, r), with 0 for those within rounding of 0."""
    net = net_preferences(preferences)
    scale = np.abs(preferences).sum(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(net) > 1e-12 * scale, net, 0.0)


def another_optimum(net, ranks, time_limit=None):
    """Look for another order of least cost of net preferences (r, r); `ranks` is one.

    Every other order reverses some pair of neighbours. For each pair, the best order
    with this pair reversed costs more, or is another optimum.

    Returns
    -------
    is_unique : bool or None
        None if a search was cut short.
    ranks : ndarray of int, shape (r,), or None
        Another order of least cost, if one was found.
    """
    order = np.argsort(ranks)
    ahead = order[:-1]
    behind = order[1:]

    # Neighbours without a preference change places at no cost.
    tied_places = np.flatnonzero(net[ahead, behind] == 0)
    if len(tied_places):
        first = ahead[tied_places[0]]
        second = behind[tied_places[0]]
        swapped = ranks.copy()
        swapped[first] = ranks[second]
        swapped[second] = ranks[first]
        return False, swapped

    # Between two components of the graph of "not worse" all majorities go one way, so
    # that no best order reverses them. In the order of `ranks`, a component is a range
    # of places.
    not_worse = (net >= 0) & ~np.eye(len(net), dtype=bool)
    components, _ = strong_components(not_worse[np.newaxis])
    component = components[0]
    places = np.flatnonzero(component[ahead] == component[behind])
    is_unique: bool | None = True
    for place in places.tolist():
        members = np.flatnonzero(component[order] == component[order[place]])
        first_place = members[0]
        items = order[members]
        weights = np.maximum(net[np.ix_(items, items)], 0.0)
        limit = None if time_limit is None else time_limit / len(places)
        decoded = best_reversed(weights, place - first_place, limit)
        # The cost of the order of `ranks` within the component, up to rounding.
        least_cost = np.tril(weights).sum() + 1e-9 * weights.sum()
        if costs_of(weights[np.newaxis], decoded.ranks)[0] <= least_cost:
            other = ranks.copy()
            other[items] = first_place + decoded.ranks[0]
            return False, other
        bounds: Any = decoded.bounds
        if bounds[0] <= least_cost:
            is_unique = None
    return is_unique, None


def best_reversed(weights, first, time_limit):
    """Find the best order with item `first` + 1 before item `first`.

    `weights` (r, r) holds the weights of the edges of one list. A preference that
    weighs more than all others together reverses the pair.
    """
    with_reversed_pair = weights.copy()
    with_reversed_pair[first + 1, first] += 2.0 * weights.sum()
    return decode_pd_exact(with_reversed_pair[np.newaxis], time_limit=time_limit)
