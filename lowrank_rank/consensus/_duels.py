"""Strengths of items from duels: the model of Bradley and Terry, with ties and covariates."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from .._arrays import (
    LARGEST,
    ArrayLike,
    check_finite,
    check_same_index,
    check_size,
    column_names,
    numbers,
    plain,
)
from .._lists import coded, codes_of, id_array, ranks_from_orders
from .._parameters import LEVEL, checked, count, number
from .._tables import TableMixin
from .._warn import warn_of_other_columns
from ._consensus import RankIntervals
from ._votes import read_votes

#: Words for a tie, also of logs of arenas.
_TIES = ["tie", "tied", "draw", "tie (bothbad)", "bothbad", "both_bad"]


@dataclass(frozen=True, eq=False, repr=False)
class BradleyTerry(TableMixin):
    """Strengths of items with their errors; returned by `bradley_terry`.

    Printed, and in ``to_frame()``, the best item comes first, with simultaneous 95 %
    intervals of the ranks.

    Attributes
    ----------
    items : ndarray of shape (r,)
        Names; the other arrays are in the order of the items.
    strengths : ndarray of shape (r,)
        Differences are log odds of a win. The mean is 0.
    standard_errors : ndarray of shape (r,)
        Sandwich standard errors of the strengths, clustered by group where groups are
        given.
    ranks : ndarray of int, shape (r,)
        Rank of each item, 1 = best.
    covariance : ndarray of shape (r, r)
        Sandwich covariance of the strengths.
    model_covariance : ndarray of shape (r, r)
        Inverse of the information, the covariance if the model is right. `next_duels`
        takes it.
    coefficients, coefficient_errors : ndarray of shape (n_covariates,)
        Log odds that one unit of a covariate adds, and sandwich standard errors.
    tie, tie_error : float
        Davidson's parameter, and its standard error: items of equal strength tie with
        probability ``tie / (2 + tie)``. Without ties both are 0.
    half_games : float
    judge_weights : dict or None
        Weight of each judge's duels, from 0.02 to 1. None without a column "judge".

    Examples
    --------
    a beats b in 6 of 8 duels: the odds are 3 to 1, the strengths differ by log 3.

    >>> from lowrank_rank import bradley_terry
    >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
    >>> board
    rank  item  strength  standard_error  low  high
       1  a       0.5493          0.4082    1     2
       2  b      -0.5493          0.4082    1     2
    """

    items: np.ndarray
    strengths: np.ndarray
    standard_errors: np.ndarray
    ranks: np.ndarray
    covariance: np.ndarray
    model_covariance: np.ndarray
    coefficients: np.ndarray
    coefficient_errors: np.ndarray
    tie: float
    tie_error: float
    half_games: float
    judge_weights: dict[Any, float] | None = None

    def _columns(self):
        found, errors = self.rank_intervals(random_state=0), self.standard_errors
        columns = {"rank": self.ranks, "item": self.items, "strength": self.strengths}
        columns |= {"standard_error": errors, "low": found.low, "high": found.high}
        return {
            name: values[np.argsort(self.ranks)] for name, values in columns.items()
        }

    @checked(n_resamples=[count()], confidence_level=LEVEL)
    def rank_intervals(
        self,
        *,
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        random_state: int | np.random.RandomState | None = None,
    ) -> RankIntervals:
        """Simultaneous intervals of the ranks: together they contain all ranks.

        An item is above another where the difference of their strengths exceeds its
        standard error times the quantile of ``max |t|`` over all pairs [1]_. Each item
        above raises the low end by one, each item below lowers the high end.

        Parameters
        ----------
        n_resamples : int, default=1000
            Number of draws of the strengths from their normal distribution.
        confidence_level : float, default=0.95
            Confidence level of all intervals together.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        RankIntervals
            See `RankIntervals`; ``samples`` are the ranks of the drawn strengths.

        References
        ----------
        .. [1] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for Ranks with
           Applications to Mobility across Neighbourhoods and Academic Achievement
           across Countries", Review of Economic Studies 91, 2024.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        normal = check_random_state(random_state).standard_normal(
            (n_resamples, len(values))
        )
        draws = normal @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        errors = np.sqrt(
            np.maximum(_of_differences(self.covariance), np.finfo(float).tiny)
        )
        largest = np.zeros(n_resamples)
        for i in range(1, len(errors)):
            t = np.abs(draws[:, :i] - draws[:, [i]]) / errors[i, :i]
            np.maximum(largest, t.max(axis=1), out=largest)
        margin = np.quantile(largest, confidence_level) * errors
        difference = self.strengths - self.strengths[:, np.newaxis]
        low = 1 + (difference > margin).sum(axis=1)
        high = len(errors) - (difference < -margin).sum(axis=1)
        drawn = ranks_from_orders(np.argsort(-(self.strengths + draws), axis=1))
        return RankIntervals(self.items, self.ranks, low, high, confidence_level, drawn)

    def probability(self, a: Any, b: Any) -> float:
        """Probability that item a beats item b; a tie counts half.

        Parameters
        ----------
        a, b : object
            Names of items.

        Returns
        -------
        float
            Probability that the first item wins.

        Raises
        ------
        ValueError
            If there is no such item.

        Examples
        --------
        >>> from lowrank_rank import bradley_terry
        >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
        >>> round(board.probability("a", "b"), 6)
        0.75
        """
        names = self.items.tolist()
        for item in (a, b):
            if item not in names:
                raise ValueError(f"{item!r} is not one of the items, {names[:10]}.")
        log_odds = self.strengths[names.index(a)] - self.strengths[names.index(b)]
        return float(_outcomes(log_odds, np.log(self.tie) if self.tie else -np.inf)[2])

    @checked(k=[count()], top=[count(), None])
    def next_duels(
        self, k: int = 1, *, top: int | None = None
    ) -> list[tuple[Any, Any]]:
        """The k pairs of items to compare next.

        Each pair is the one whose outcome is expected to reduce the sum of the
        variances of the strengths most, given the pairs chosen before. `top` weighs the
        variance of an item by the probability that it is on the wrong side of the
        boundary after the first `top` items.

        Parameters
        ----------
        k : int, default=1
            Number of pairs.
        top : int or None, default=None
            Number of items that shall be found; None orders all items.

        Returns
        -------
        list of tuple
            Pairs of names; a pair can occur more than once.

        Examples
        --------
        After few duels some items have not lost or not won yet: `half_games` is needed.

        >>> from lowrank_rank import bradley_terry
        >>> duels = [["a", "b"], ["b", "a"], ["a", "c"]]
        >>> bradley_terry(duels, half_games=0.5).next_duels()
        [('b', 'c')]
        """
        r = len(self.items)
        if top is not None and top >= r:
            raise ValueError(
                f"top={top} must be smaller than the number of items, {r}."
            )
        covariance, weights = self.model_covariance, np.ones(r)
        if top is not None:
            boundary = np.sort(self.strengths)[r - top - 1 : r - top + 1].mean()
            weights = ndtr(
                -np.abs(self.strengths - boundary) / np.sqrt(np.diag(covariance))
            )
        log_tie = np.log(self.tie) if self.tie else -np.inf
        differences = self.strengths[:, np.newaxis] - self.strengths
        information = _outcomes(differences, log_tie)[-1]
        names, pairs = self.items.tolist(), []
        for _ in range(k):
            share = information / (1.0 + information * _of_differences(covariance))
            saved = share * _of_differences(
                covariance @ (weights[:, np.newaxis] * covariance)
            )
            i, j = divmod(int(np.argmax(np.triu(saved, 1))), r)
            pairs.append((names[i], names[j]))
            change = covariance[i] - covariance[j]
            covariance = covariance - share[i, j] * np.outer(change, change)
        return pairs


@checked(half_games=[number(0)], ties=["davidson", "half"])
def bradley_terry(
    duels: Any,
    *,
    covariates: ArrayLike | None = None,
    half_games: float = 0.0,
    ties: str = "davidson",
    item_a: str = "model_a",
    item_b: str = "model_b",
    result: str = "winner",
) -> BradleyTerry:
    """Strengths of items from duels, a leaderboard: maximum likelihood of Bradley and Terry.

    The log odds that i beats j are ``s_i - s_j + x @ beta`` with strengths s and the
    covariates x of the duel. Standard errors are sandwich errors, which hold where the
    model is wrong.

    Parameters
    ----------
    duels : array-like, sequence of sequences, DataFrame or mapping
        One of

        * counts (r, r) of "i beat j", or a frame with the same items as index and
          columns; a tie may be half a win of each;
        * a list of ``[winner, loser]``; a tie is a pair in a list, ``[("a", "b")]``; or
          an array (n_duels, 2), but for numbers (2, 2), which are counts;
        * a frame or mapping with the columns "winner" and "loser", and optionally "tie"
          (whether neither won), "weight" (number of such duels), "group" (prompt or
          voter: errors are clustered by it) and "judge" (see Notes). A warning names
          other columns;
        * the same with the columns `item_a`, `item_b` and `result` in place of
          "winner", "loser" and "tie".
    covariates : array-like of shape (n_duels,) or (n_duels, n_covariates), list of str or None, \
default=None
        Numbers of each duel, such as the difference of the lengths of two answers: in a
        table with a result the first item's minus the second's, where a constant 1 is
        the advantage of being shown first; else the winner's minus the loser's (in a
        tie, the item in the place of the winner). Names are read from two columns each:
        "length" from "length_a" and "length_b", from "length_home" and "length_away"
        with ``item_a="home", item_b="away"``, from "length_winner" and "length_loser"
        in a table of these.
    half_games : float, default=0.0
        Number of wins, and of losses, that each item has against a virtual item of
        strength 0. Every item has a finite strength with 0.5.
    ties : {"davidson", "half"}, default="davidson"
        "davidson" makes ties a third outcome, with one parameter [2]_. "half" counts
        half a win and half a loss.
    item_a, item_b : str, default="model_a", "model_b"
        Columns of the two items of a duel.
    result : str, default="winner"
        Column that says who won: in every row the item itself, or in every row the name
        of one of these two columns, "a" or "b", in any case. Beside either, a tie is
        "tie", "tied", "draw", "tie (bothbad)", "bothbad" or "both_bad", beside names
        only if no item has that name.

    Returns
    -------
    BradleyTerry
        See `BradleyTerry`: ``items``, ``strengths``, ``standard_errors``, ``ranks``,
        ``coefficients``; ``rank_intervals()``, ``probability(a, b)``, ``next_duels()``,
        ``to_frame()``.

    Raises
    ------
    ValueError
        If duels do not fit, all are in one group, or no finite strengths exist: some
        items did not meet the rest, never won or never lost.

    See Also
    --------
    consensus_ranking : Orders of least disagreement, for preferences with cycles.
    lowrank_rank.plotting.RankIntervalDisplay : Ranks with intervals, drawn.

    Notes
    -----
    Weights count duels: weight 2 is the row twice. If weights are importances, give
    each row a group of its own. Variances clustered by n groups have the factor n / (n
    - 1); those without groups have no such factor.

    The model is fitted twice if there is a column "judge". A judge agrees with the
    first order in a fraction acc of its duels, ``(agreeing + 1) / (duels + 2)`` with
    ties as half, and the second fit weighs its duels by ``max(2 acc - 1, 0.02)``: a
    judge who guesses hardly counts. Each row is then a group of its own, unless there
    are groups. This cannot help if most judges err alike. ``group=judge`` is another
    thing, errors clustered by few judges, and nearly useless with ten.

    References
    ----------
    .. [1] R. Bradley, M. Terry, "Rank Analysis of Incomplete Block Designs", Biometrika 39, 1952.
    .. [2] R. Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired
       Comparison Experiments", Journal of the American Statistical Association 65,
       1970.

    Examples
    --------
    a beats b in 3 of 4 duels, and b beats c in 3 of 4:

    >>> from lowrank_rank import bradley_terry
    >>> duels = 3 * [["a", "b"], ["b", "c"]] + [["b", "a"], ["c", "b"]]
    >>> board = bradley_terry(duels)
    >>> board.items.tolist(), (board.strengths / board.strengths[0]).round(6).tolist()
    (['a', 'b', 'c'], [1.0, 0.0, -1.0])
    """
    table, weights, extra, items, judge, judges = _read(
        duels, covariates, item_a, item_b, result
    )
    if half_games == 0:
        _check_connected(table[0], table[1], table[2], items)
    r, p = len(items), len(items) + extra.shape[1]
    davidson = ties == "davidson" and bool(table[2].any())
    likelihood = _Likelihood(table, weights, extra, r, half_games, davidson)
    theta, inverse, residuals = likelihood.maximise()
    if judges is not None:
        # 2 acc - 1, for the fraction acc of duels as the order has them, shrunk.
        ahead = np.sign(theta[table[0]] - theta[table[1]]) * (1 - table[2])
        agreeing = np.bincount(judge, weights * (1.0 + ahead) / 2.0)
        accuracy = (agreeing + 1.0) / (np.bincount(judge, weights) + 2.0)
        trust = np.maximum(2.0 * accuracy - 1.0, 0.02)
        weights = weights * trust[judge]
        judges = dict(zip(judges.tolist(), trust.tolist(), strict=True))
        likelihood = _Likelihood(table, weights, extra, r, half_games, davidson)
        theta, inverse, residuals = likelihood.maximise()
    sandwich = inverse @ likelihood.squared_scores(*residuals) @ inverse
    errors = np.sqrt(np.maximum(np.diag(sandwich), 0.0))
    strengths, covariance = theta[:r] - theta[:r].mean(), _centred(sandwich[:r, :r])
    ranks = ranks_from_orders(np.argsort(-strengths, kind="stable")[np.newaxis])[0]
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    spread = deviation, ranks, covariance, _centred(inverse[:r, :r])
    tie = float(np.exp(theta[p])) if davidson else 0.0
    of_ties = tie, tie * float(errors[-1])
    found = items, strengths, *spread, theta[r:p], errors[r:p], *of_ties, half_games
    return BradleyTerry(*found, judge_weights=judges)


def _centred(covariance):
    """Covariance of the deviations from their mean."""
    columns = covariance.mean(axis=0)
    return covariance - columns - columns[:, np.newaxis] + columns.mean()


def _of_differences(covariance):
    """Variance of each difference of two items, (r, r)."""
    variances = np.diag(covariance)
    return variances[:, np.newaxis] + variances - 2.0 * covariance


def _outcomes(log_odds, log_tie):
    """Davidson's model: a win, a tie and a loss are proportional to e^(d/2), nu and e^(-d/2).

    Returns the log of their sum, the probability of a tie, and mean and variance of the
    score, which is 1, 0.5 or 0.
    """
    half = log_odds / 2.0
    total = np.logaddexp(np.logaddexp(half, -half), log_tie)
    win, tie, loss = (
        np.exp(half - total),
        np.exp(log_tie - total),
        np.exp(-half - total),
    )
    mean = win + tie / 2.0
    return (
        total,
        tie,
        mean,
        win * (1.0 - mean) ** 2 + tie * (0.5 - mean) ** 2 + loss * mean**2,
    )


class _Likelihood:
    """Likelihood of duels: theta holds strengths, coefficients and, of Davidson, log nu.

    Parameters
    ----------
    table : ndarray of int, shape (4, n)
        Winner, loser, whether they tied, and group, -1 for none.
    weights : ndarray of shape (n,)
    extra : ndarray of shape (n, n_covariates)
    r : int
        Number of items.
    half_games : float
    davidson : bool
    """

    def __init__(self, table, weights, extra, r, half_games, davidson):
        # A win and a loss of each item against the item r, which has no column.
        sides = np.stack([np.arange(r), np.full(r, r)])
        games = np.broadcast_arrays(*np.hstack([sides, sides[::-1]]), 0, -1)
        winner, loser, self.tied, self.group = np.hstack([table, np.stack(games)])
        self.weights = np.append(weights, np.full(2 * r, half_games))
        extra = np.pad(extra, ((0, 2 * r), (0, 0)))
        n, places = len(winner), np.column_stack([winner, loser]).ravel()
        signs = np.tile([1.0, -1.0], n)
        items = sparse.csr_matrix(
            (signs, places, 2 * np.arange(n + 1)), shape=(n, r + 1)
        )
        self.design = sparse.hstack([items[:, :r], extra], format="csr")
        self.columns = self.design.T.tocsr()
        self.davidson, self.r = davidson, r
        self.anchor = np.zeros(self.design.shape[1] + davidson)
        if half_games == 0:  # the strengths sum to 0
            self.anchor[:r] = np.sqrt(weights.sum()) / r

    def evaluate(self, theta):
        """Negative log likelihood, gradient, information, and the residuals of each row."""
        weights, p, q = self.weights, self.design.shape[1], len(theta)
        log_odds, log_tie = (
            self.design @ theta[:p],
            theta[p] if self.davidson else -np.inf,
        )
        total, tie, mean, variance = _outcomes(log_odds, log_tie)
        value = weights @ (total + (self.tied - 1.0) * log_odds / 2.0)
        value -= log_tie * (weights @ self.tied) if self.davidson else 0.0
        residual, tie_residual = 1.0 - self.tied / 2.0 - mean, self.tied - tie
        gradient = -np.append(
            self.columns @ (weights * residual), weights @ tie_residual
        )[:q]
        spread = self.design.multiply((weights * variance)[:, np.newaxis]).tocsr()
        cross = self.columns @ (weights * tie * (0.5 - mean))
        corner = weights @ (tie * (1.0 - tie))
        blocks = [
            [(self.columns @ spread).toarray(), cross[:, np.newaxis]],
            [cross, corner],
        ]
        information = np.block(blocks)[:q, :q] + np.outer(self.anchor, self.anchor)
        return value, gradient, information, (residual, tie_residual)

    def maximise(self):
        """Newton's method with halved steps: theta, inverse of the information, residuals."""
        theta, p, change = np.zeros(len(self.anchor)), self.design.shape[1], np.inf
        inverse = np.zeros((0, 0))
        unknown: Any = True
        start: Any = (np.inf,)
        value, gradient, information, residuals = self.evaluate(theta)
        with suppress(np.linalg.LinAlgError):
            for _ in range(
                30
            ):  # of separated duels the log odds grow by 1 with each step
                step, new = 2.0 * cho_solve(cho_factor(information), gradient), start
                while new[0] > value + 1e-12 * abs(value) and change > 1e-6:
                    step = step / 2.0
                    new = self.evaluate(theta - step)
                    change = np.abs(np.append(self.design @ step[:p], step[p:])).max()
                former = information
                theta, (value, gradient, information, residuals) = theta - step, new
                if change <= 1e-6:  # then collinear covariates have infinite variances
                    inverse = np.linalg.inv(former)
                    inflation = (np.diag(inverse) * np.diag(information))[self.r : p]
                    unknown = np.any((inflation <= 0) | (inflation > 1e10))
                    break
        if unknown:
            causes = {
                "covariates separate winners from losers, or follow from the items or from each "
                "other": p > self.r,
                "ties are too frequent for the model (set ties='half')": self.davidson,
            }
            words = [cause for cause, is_possible in causes.items() if is_possible]
            words = words or [
                "half_games is too small to keep the strengths finite (take 0.5)"
            ]
            raise ValueError(f"No finite estimate exists: {'; or '.join(words)}.")
        return theta, inverse, residuals

    def squared_scores(self, residual, tie_residual):
        """Sum over groups of the squared derivatives of the likelihood; a group -1 is one duel."""
        each = [
            self.design.multiply(residual[:, np.newaxis]),
            tie_residual[:, np.newaxis],
        ]
        scores = sparse.hstack(each, format="csr")[:, : len(self.anchor)]
        n, alone = len(residual), self.group < 0
        n_groups = len(np.unique(self.group[~alone]))
        times = np.where(alone, np.sqrt(self.weights), self.weights)
        row = np.where(alone, self.group.max() + 1 + np.arange(n), self.group)
        sums = sparse.csr_matrix((times, (row, np.arange(n)))) @ scores
        return (sums.T @ sums).toarray() * (
            n_groups / (n_groups - 1) if n_groups > 1 else 1.0
        )


# Reading ----------------------------------------------------------------------------


def _read(duels, covariates, item_a, item_b, result):
    """Winner, loser, tie and group of each row, weights, covariates, and the names of the items.

    Without covariates and groups equal duels are counted: one row for each pair and
    outcome.
    """
    columns, wanted, sides = (
        column_names(duels),
        [item_a, item_b, result],
        ["winner", "loser"],
    )
    missing = [column for column in wanted if column not in columns]
    is_default = wanted == ["model_a", "model_b", "winner"]
    if missing and not is_default:
        raise ValueError(f"duels have the columns {columns}, and not {missing[0]!r}.")
    sign, judge, judges = np.ones(1), np.zeros(1, np.intp), None
    if not missing and not (is_default and "loser" in columns):
        sides = [name.removeprefix("model_") for name in wanted[:2]]
        pairs, items, tied, sign = _with_result(duels, *wanted)
        weights, group, judge, judges = _of_rows(
            duels, columns, wanted, covariates, len(pairs)
        )
    elif {"winner", "loser"} <= set(columns):
        pairs, items = coded([duels[side] for side in sides], sides)
        _refuse_results(pairs, items, sides)
        tied = (
            numbers(duels["tie"], "The column 'tie'")
            if "tie" in columns
            else np.zeros(1)
        )
        wanted = [*sides, "tie"]
        weights, group, judge, judges = _of_rows(
            duels, columns, wanted, covariates, len(pairs)
        )
    else:
        pairs, items, tied, weights = _without_columns(duels, columns, covariates)
        group = np.full(1, -1)
    _check_rows("tie", tied, (tied == 0) | (tied == 1), "True or False")
    _check_rows(
        "weight", weights, (weights >= 0) & (weights <= LARGEST), "finite and >= 0"
    )
    for row in np.flatnonzero(pairs[:, 0] == pairs[:, 1])[:1]:
        raise ValueError(
            f"duels[{row}] pairs {plain(items[pairs[row, 0]])!r} with itself."
        )
    check_size("The information matrix", 8 * len(items) ** 2, "drop rare items")
    extra = _covariates(duels, covariates, sides, len(pairs)) * sign[:, np.newaxis]
    weights = np.broadcast_to(weights, len(pairs))
    table = np.stack(np.broadcast_arrays(*pairs.T, tied, group)).astype(np.intp)
    if covariates is None and not {"group", "judge"} & set(columns):
        shape = (len(items), len(items), 2)
        weights = np.bincount(np.ravel_multi_index(tuple(table[:3]), shape), weights)
        met = np.flatnonzero(weights)
        table = np.stack(np.broadcast_arrays(*np.unravel_index(met, shape), -1))
        weights, extra = weights[met], np.empty((len(met), 0))
    kept = weights > 0
    if "group" in columns and len(np.unique(group[kept])) == 1:
        raise ValueError(
            "'group' is the same in all rows: errors clustered by it need two groups, or omit it."
        )
    judge = np.broadcast_to(judge, len(kept))[kept]
    return table[:, kept], weights[kept], extra[kept], items, judge, judges


def _of_rows(duels, columns, known, covariates, n):
    """Weights, groups, codes of judges and the judges or None, of the columns of a table."""
    known = [*known, "weight", "group", "judge"]
    check_consistent_length(
        np.empty(n), *(duels[name] for name in known if name in columns)
    )
    if covariates is None:
        warn_of_other_columns(columns, known, "bradley_terry (but for covariates=)")
    judge, judges, group = np.zeros(1, np.intp), None, np.full(1, -1)
    if "judge" in columns:
        (judge, judges), group = codes_of(duels["judge"], "'judge'"), np.arange(n)
    group = codes_of(duels["group"], "'group'")[0] if "group" in columns else group
    weights = (
        numbers(duels["weight"], "Column 'weight'")
        if "weight" in columns
        else np.ones(1)
    )
    return weights, group, judge, judges


def _refuse_results(pairs, items, sides):
    """Refuse a word for a tie, or a missing value, as a winner or a loser."""
    is_result = np.array(
        [str(one).strip().lower() in ["", *_TIES] for one in items], bool
    )
    for row, side in np.argwhere(is_result[pairs])[:1]:
        got = str(items[pairs[row, side]])
        why = "a result, not an item: use a column 'tie'" if got.strip() else "empty"
        raise ValueError(f"{sides[side]!r} in row {row}: {got!r} is {why}.")


def _with_result(duels, item_a, item_b, result):
    """Codes (n, 2) of winners and losers, the items, whether each row is a tie, and its sign.

    The sign is -1 where the second item won.
    """
    given = item_a, item_b, result
    codes, names = coded([duels[name] for name in given], given)
    a, b, outcome = codes.T
    first, second = outcome == a, outcome == b
    known = [item_a.lower(), "a"], [item_b.lower(), "b"], _TIES
    words = [str(name).strip().lower() for name in names]
    won, lost, tied = (
        np.array([w in those for w in words])[outcome] for those in known
    )
    by_word = (is_word := won | lost | tied) & (won | ~first) & (lost | ~second)
    is_named, items = first | second, {words[code] for code in np.unique(codes[:, :2])}
    by_name = (
        is_named | np.array([w in _TIES and w not in items for w in words])[outcome]
    )
    if is_named.all() or (by_name.all() and not is_word.all()):
        lost, tied = second, ~is_named
    elif not by_word.all():
        row = int(
            np.argmin(
                by_word if is_word.all() or by_word.sum() > by_name.sum() else by_name
            )
        )
        got, one, other = (plain(names[code[row]]) for code in (outcome, a, b))
        raise ValueError(
            f"{result!r} is {got!r} in row {row}, a duel of {one!r} and {other!r}: every row names "
            f"the item that won, or every row has a word, {item_a!r}, 'a', {item_b!r} or 'b'. A "
            f"tie is one of {_TIES}."
        )
    used, pairs = np.unique(np.where(lost, [b, a], [a, b]), return_inverse=True)
    return pairs.reshape(2, -1).T, names[used], tied, np.where(lost, -1.0, 1.0)


def _check_rows(name, values, is_right, words):
    """Refuse a column that is wrong in some row."""
    if values.ndim != 1 or not is_right.all():
        row = int(np.argmin(is_right)) if values.ndim == 1 else 0
        got = plain(values[row])
        raise ValueError(
            f"'{name}' must be {words} in each row, got {got!r} in row {row}."
        )


def _without_columns(duels, columns, covariates):
    """Codes (n, 2) of winners and losers, the items, ties and weights of lists and counts."""
    shape: Any = getattr(duels, "shape", ())
    if (
        not columns
        and shape[1:] == (2,)
        and (shape[0] != 2 or duels.dtype.kind in "OUT")
    ):
        return *coded(duels.T, ["winner", "loser"]), np.zeros(1), np.ones(1)
    if isinstance(duels, list | tuple) or len(shape) == 1:
        return *_pairs_of(list(duels)), np.ones(1)
    if covariates is not None:
        raise ValueError(
            "covariates need a row for each duel: give a list or a frame of duels."
        )
    try:
        votes = read_votes(duels, "counts")
    except ValueError as error:
        why = (
            'Say who won, as result="outcome".'
            if {"model_a", "model_b"} <= {*columns}
            else error
        )
        raise ValueError(
            "duels must be lists of [winner, loser], counts, or a table with the columns 'winner' "
            "and 'loser', or two items and a result (item_a=, item_b=, "
            f"result=){f', got the columns {columns}' if columns else ''}. {why}"
        ) from None
    pairs = np.argwhere(total := votes.total())
    return pairs, votes.items, np.zeros(1), total[tuple(pairs.T)]


def _pairs_of(duels):
    """Codes (n, 2) of a list of pairs, the names of the items, and whether each is a tie."""
    tied = np.zeros(len(duels))
    if set(map(type, duels)) - {list, tuple} or set(map(len, duels)) != {2}:
        tied[:] = [isinstance(duel, list | tuple) and len(duel) == 1 for duel in duels]
        duels = [
            duel[0] if tie else duel for duel, tie in zip(duels, tied, strict=True)
        ]
        for q, pair in enumerate(duels):
            if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
                raise ValueError(
                    f"duels[{q}] is {pair!r}: a list of duels holds [winner, loser], and a tie is "
                    "a pair in a list, [('a', 'b')]; consensus_ranking takes orders of more items."
                )
    names = id_array(list(chain.from_iterable(duels)))
    return *coded([names[::2], names[1::2]], ["winner", "loser"]), tied


def _covariates(duels, covariates, sides, n):
    """Covariates (n, k); names are read from two columns each, the first item minus the second."""
    if covariates is None:
        return np.empty((n, 0))
    if isinstance(covariates, list | tuple) and {type(one) for one in covariates} == {
        str
    }:
        columns = [[f"{name}_{side}" for side in sides] for name in covariates]
        for name in chain.from_iterable(columns):
            if name not in column_names(duels):
                raise ValueError(
                    f"covariates={covariates} need the column {name!r}, which duels do not have."
                )
        covariates = np.transpose(
            [numbers(duels[a], a) - numbers(duels[b], b) for a, b in columns]
        )
    check_same_index(duels=duels, covariates=covariates)
    extra = check_finite(numbers(covariates, "covariates"), "covariates")
    if extra.ndim not in (1, 2) or len(extra) != n:
        raise ValueError(
            f"covariates has the shape {extra.shape}: give a row for each of the {n} duels."
        )
    return extra.reshape(n, -1)


def _check_connected(winner, loser, tied, items):
    """Refuse items that did not meet the rest, never lost or never won: Ford's condition."""
    winner, loser = (
        np.append(winner, loser[tied == 1]),
        np.append(loser, winner[tied == 1]),
    )
    shape = (len(items), len(items))
    beat = sparse.csr_matrix((np.ones(len(winner)), (winner, loser)), shape=shape)
    met = connected_components(beat, connection="weak")[1]
    part = connected_components(beat, connection="strong")[1]
    apart, few = part[winner] != part[loser], 2 * np.bincount(part)[part] <= len(items)
    won, lost = (np.isin(part, part[side[apart]]) for side in (winner, loser))
    found = {
        "did not meet the rest": met != np.bincount(met).argmax(),
        "never lost to the rest": few & won & ~lost,
        "never won against the rest": few & lost & ~won,
    }
    if few.any():
        named = [
            f"{items[those][:5].tolist()}{' and others' if those.sum() > 5 else ''} {words}"
            for words, those in found.items()
            if those.any()
        ]
        raise ValueError(
            f"No finite strengths exist: {' and '.join(named)}. Add duels, or take half_games=0.5."
        )
