"""Strengths of items from duels: Bradley and Terry's model, with ties and covariates.

The log odds of a duel of i and j are d = s_i - s_j + x @ beta with strengths s and
covariates x. A win of i, a tie and a win of j have probabilities proportional to
e^(d/2), nu and e^(-d/2) (Davidson); without ties nu is 0. The parameters theta are the
strengths, beta and, with ties, log nu.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_ndtr, logit
from scipy.stats import t as student
from sklearn.utils import check_random_state

from .._tables import TableMixin
from ..lists._ranks import ranks_from_orders
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_duels import CHECKS_OF_BOARDS, LEAST_GROUPS, has_few_groups
from ..validation._findings import Finding, findings_so_far
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, checked, count, number
from ..validation._rules import look_for
from ._consensus import RankIntervals
from ._read_duels import read_duels

if TYPE_CHECKING:
    import pandas


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
    ranks : ndarray of int, shape (r,)
        Rank of each item, 1 = best.
    model_covariance : ndarray of shape (r, r)
        Inverse of the information, the covariance if the model is right. `next_duels`
        uses it.
    coefficients : ndarray of shape (n_covariates,)
        Log odds that one unit of a covariate adds.
    tie : float
        Davidson's parameter: items of equal strength tie with probability
        ``tie / (2 + tie)``. 0 without ties.
    half_games : float
        As given.
    n_groups : int or None
        Number of groups. None without `group`.
    degrees_of_freedom : float
        Of Student's distribution of the intervals: ``sum(n)**2 / sum(n**2) - 1`` for
        groups of n duels, the effective number of groups minus 1. Infinite without
        `group`.
    judge_weights : dict or None
        Weight of each judge by all its duels, from 0.02 to 1. None without `judge`.
    misfit : str or None
        A sentence on a pair that the strengths contradict, if a chi-square test of all
        pairs rejects them; printed below the table. None with covariates, groups or
        judges, which are not tested.
    findings : tuple of Finding
        What the rules found, as in the warnings of the call: each has a `rule`, a
        `sentence` and a `category`.

    Notes
    -----
    Errors and intervals that are clustered by fewer than five groups would be far too
    small. They raise a ValueError, and the table does not show them.

    Examples
    --------
    a beats b in 6 of 8 duels: the odds are 3 to 1, the strengths differ by log 3.

    >>> from lowrank_rank.votes import bradley_terry
    >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
    >>> board
    rank  item  strength  standard_error  rank_low  rank_high
       1  a       0.5493          0.4082         1          2
       2  b      -0.5493          0.4082         1          2
    """

    items: np.ndarray
    strengths: np.ndarray
    ranks: np.ndarray
    model_covariance: np.ndarray
    coefficients: np.ndarray
    tie: float
    half_games: float
    n_groups: int | None
    degrees_of_freedom: float
    judge_weights: dict[Any, float] | None
    misfit: str | None
    # Sandwich covariance of the strengths, the coefficients and, with ties, log nu.
    _sandwich: np.ndarray
    findings: tuple[Finding, ...] = ()

    @property
    def order(self) -> np.ndarray:
        """Names of the items, best first."""
        return self.items[np.argsort(self.ranks)]

    @property
    def covariance(self) -> np.ndarray:
        """Sandwich covariance (r, r) of the strengths."""
        refuse(CHECKS_OF_BOARDS, board=self, errors="covariance")
        r = len(self.items)
        return _centred(self._sandwich[:r, :r])

    @property
    def standard_errors(self) -> np.ndarray:
        """Sandwich standard errors (r,) of the strengths, clustered by group."""
        refuse(CHECKS_OF_BOARDS, board=self, errors="standard_errors")
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def coefficient_errors(self) -> np.ndarray:
        """Sandwich standard errors (n_covariates,) of the coefficients."""
        refuse(CHECKS_OF_BOARDS, board=self, errors="coefficient_errors")
        r = len(self.items)
        variances = np.diag(self._sandwich)[r : r + len(self.coefficients)]
        return np.sqrt(np.maximum(variances, 0.0))

    @property
    def tie_error(self) -> float:
        """Sandwich standard error of ``tie``, 0 without ties."""
        refuse(CHECKS_OF_BOARDS, board=self, errors="tie_error")
        if self.tie == 0.0:
            return 0.0
        # The delta method: the standard error of nu is nu times that of log nu.
        return self.tie * float(np.sqrt(max(self._sandwich[-1, -1], 0.0)))

    def _lines(self):
        lines = []
        if self.misfit is not None:
            lines.append(self.misfit)
        if has_few_groups(self):
            lines.append(
                f"No errors: {self.n_groups} group(s) are too few, they need "
                f"{LEAST_GROUPS}."
            )
        return lines

    def _columns(self):
        best_first = np.argsort(self.ranks)
        columns = {
            "rank": self.ranks,
            "item": self.items,
            "strength": self.strengths,
        }
        if not has_few_groups(self):
            intervals = self.rank_intervals(random_state=0)
            columns["standard_error"] = self.standard_errors
            columns["rank_low"] = intervals.low
            columns["rank_high"] = intervals.high
        return {name: values[best_first] for name, values in columns.items()}

    @checked(scale=["log_odds", "elo"])
    def to_frame(self, scale: str = "log_odds") -> "pandas.DataFrame":
        """Return the printed table, with the 95 % interval of each strength.

        Parameters
        ----------
        scale : {"log_odds", "elo"}, default="log_odds"
            "elo" adds a column of Elo points, ``1000 + 400 / log(10) * strength``.
            Their mean over the items is 1000, and 400 points are odds of 10 to 1.

        Returns
        -------
        DataFrame
            One row for each item, best first. The intervals are "strength_low" and
            "strength_high", of Elo points "elo_low" and "elo_high"; with fewer than
            five groups there are none.

        Examples
        --------
        The odds are 10 to 1, which is 400 points:

        >>> from lowrank_rank.votes import bradley_terry
        >>> board = bradley_terry(10 * [["a", "b"]] + [["b", "a"]])
        >>> board.to_frame(scale="elo")[["item", "elo"]]
          item     elo
        0    a  1200.0
        1    b   800.0
        """
        frame = super().to_frame()
        if not has_few_groups(self):
            low, high = self.interval()[np.argsort(self.ranks)].T
            place = frame.columns.get_loc("rank_low")
            frame.insert(place, "strength_low", low)
            frame.insert(place + 1, "strength_high", high)
        if scale == "elo":
            # Elo points are 400 log10(odds), around 1000.
            for name in ("strength", "strength_low", "strength_high"):
                if name in frame:
                    points = 1000.0 + 400.0 / np.log(10.0) * frame[name]
                    frame[name.replace("strength", "elo")] = points
        return frame

    @checked(confidence_level=LEVEL, of=["strengths", "coefficients"])
    def interval(
        self, confidence_level: float = 0.95, *, of: str = "strengths"
    ) -> np.ndarray:
        """Compute Student's intervals of the strengths or the coefficients, each alone.

        The rows are in the order of ``items``. ``to_frame()``, best first, has those of
        the strengths at 95 % as "strength_low" and "strength_high".

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of each interval.
        of : {"strengths", "coefficients"}, default="strengths"
            What to compute intervals of.

        Returns
        -------
        ndarray of shape (r, 2) or (n_covariates, 2)
            Low and high ends.

        Raises
        ------
        ValueError
            If there are fewer than five groups.

        Examples
        --------
        >>> from lowrank_rank.votes import bradley_terry
        >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
        >>> board.interval(0.9).round(2)
        array([[-0.12,  1.22],
               [-1.22,  0.12]])
        """
        refuse(CHECKS_OF_BOARDS, board=self, errors="interval")
        estimates = self.strengths
        errors = self.standard_errors
        if of == "coefficients":
            estimates = self.coefficients
            errors = self.coefficient_errors
        half_width = self._quantile(confidence_level) * errors
        return np.column_stack([estimates - half_width, estimates + half_width])

    def _quantile(self, confidence_level):
        """Compute the two-sided quantile of Student's distribution."""
        return student.isf((1.0 - confidence_level) / 2.0, self.degrees_of_freedom)

    @checked(n_resamples=[count()], confidence_level=LEVEL)
    def rank_intervals(
        self,
        *,
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        random_state: int | np.random.RandomState | None = None,
    ) -> RankIntervals:
        """Compute simultaneous intervals, which together contain all ranks.

        An item is above another where the difference of their strengths exceeds its
        standard error times the quantile of ``max |t|`` over all pairs [1]_. With
        groups it is Student's quantile with Bonferroni's correction for all pairs: few
        groups do not tell how the pairs depend on each other. Each item above raises
        the low end by one, each item below lowers the high end.

        Parameters
        ----------
        n_resamples : int, default=1000
            Number of draws of the strengths from their normal distribution, with groups
            from Student's multivariate distribution.
        confidence_level : float, default=0.95
            Confidence level of all intervals together.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        RankIntervals
            See `RankIntervals`; ``samples`` are the ranks of the drawn strengths.

        Raises
        ------
        ValueError
            If there are fewer than five groups.

        References
        ----------
        .. [1] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for Ranks with
           Applications to Mobility across Neighbourhoods and Academic Achievement
           across Countries", Review of Economic Studies 91, 2024.
        """
        refuse(CHECKS_OF_BOARDS, board=self, errors="rank_intervals")
        r = len(self.items)
        covariance = self.covariance
        rng = check_random_state(random_state)
        errors = _draw_errors(covariance, self.degrees_of_freedom, n_resamples, rng)
        variances = _variances_of_differences(covariance)
        standard_errors = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
        if self.n_groups is None:
            max_abs_t = _largest_of_pairs(errors, standard_errors)
            quantile = np.quantile(max_abs_t, confidence_level)
        else:
            n_pairs = r * (r - 1) / 2
            quantile = self._quantile(1.0 - (1.0 - confidence_level) / n_pairs)

        # Item j is above item i where s_j - s_i exceeds quantile * se_ij.
        margin = quantile * standard_errors
        difference = self.strengths - self.strengths[:, np.newaxis]
        n_above = (difference > margin).sum(axis=1)
        n_below = (difference < -margin).sum(axis=1)
        drawn_orders = np.argsort(-(self.strengths + errors), axis=1)
        return RankIntervals(
            items=self.items,
            ranks=self.ranks,
            low=1 + n_above,
            high=r - n_below,
            confidence_level=confidence_level,
            samples=ranks_from_orders(drawn_orders),
        )

    def probability(self, a: Any, b: Any) -> float:
        """Compute the probability that item a beats item b; a tie counts half.

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
        >>> from lowrank_rank.votes import bradley_terry
        >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
        >>> round(board.probability("a", "b"), 6)
        0.75
        """
        refuse(CHECKS_OF_BOARDS, board=self, names=[a, b])
        i, j = self._indices(a, b)
        log_odds = self.strengths[i] - self.strengths[j]
        return float(_Outcomes(log_odds, self._log_tie()).mean)

    @checked(confidence_level=LEVEL)
    def probability_interval(
        self, a: Any, b: Any, confidence_level: float = 0.95
    ) -> np.ndarray:
        """Compute Student's interval of the probability that item a beats item b.

        The interval is one of the log odds ``log(p / (1 - p))`` of this probability,
        with a tie as half a win, transformed back.

        Parameters
        ----------
        a, b : object
            Names of items.
        confidence_level : float, default=0.95
            Confidence level.

        Returns
        -------
        ndarray of shape (2,)
            Low and high end.

        Raises
        ------
        ValueError
            If there is no such item, or there are fewer than five groups.

        Examples
        --------
        >>> from lowrank_rank.votes import bradley_terry
        >>> board = bradley_terry(6 * [["a", "b"]] + 2 * [["b", "a"]])
        >>> board.probability_interval("a", "b").round(2)
        array([0.38, 0.94])
        """
        names = [a, b]
        refuse(CHECKS_OF_BOARDS, board=self, errors="probability_interval", names=names)
        i, j = self._indices(a, b)
        if i == j:
            return np.array([0.5, 0.5])
        outcomes = _Outcomes(self.strengths[i] - self.strengths[j], self._log_tie())
        # Gradient of p in theta: dp/dd = var(score), dp/d(log nu) = cov(score, tie).
        gradient = np.zeros(len(self._sandwich))
        gradient[i] = outcomes.variance
        gradient[j] = -outcomes.variance
        if self.tie > 0.0:
            gradient[-1] = outcomes.tie * (0.5 - outcomes.mean)
        standard_error = np.sqrt(max(gradient @ self._sandwich @ gradient, 0.0))
        # The delta method: d logit(p) / dp = 1 / (p (1 - p)).
        p = outcomes.mean
        half_width = self._quantile(confidence_level) * standard_error / (p * (1.0 - p))
        return expit(logit(p) + np.array([-half_width, half_width]))

    def _indices(self, *names):
        """Return the indices of items by name."""
        items = self.items.tolist()
        return [items.index(name) for name in names]

    @checked(k=[count()], top=[count(), None])
    def next_duels(
        self, k: int = 1, *, top: int | None = None
    ) -> list[tuple[Any, Any]]:
        """Choose the k pairs of items to compare next.

        Each pair is the one whose outcome is expected to reduce the sum of the
        variances of the strengths most, given the pairs chosen before. `top` weighs the
        variance of an item by the probability that it is on the wrong side of the
        boundary after the first `top` items.

        Parameters
        ----------
        k : int, default=1
            Number of pairs.
        top : int or None, default=None
            Number of best items to find; None orders all items.

        Returns
        -------
        list of tuple
            Pairs of names; a pair can occur more than once.

        Examples
        --------
        After few duels some items have not lost or not won yet: `half_games` is needed.

        >>> from lowrank_rank.votes import bradley_terry
        >>> duels = [["a", "b"], ["b", "a"], ["a", "c"]]
        >>> bradley_terry(duels, half_games=2).next_duels()
        [('b', 'c')]
        """
        refuse(CHECKS_OF_BOARDS, board=self, top=top)
        r = len(self.items)
        names = self.items.tolist()
        covariance = self.model_covariance
        weights = self._variance_weights(top)

        # Fisher information of a duel of each pair, (r, r): the variance of its score.
        differences = self.strengths[:, np.newaxis] - self.strengths
        information = _Outcomes(differences, self._log_tie()).variance

        first, second = np.triu_indices(r, 1)
        pairs = []
        for _ in range(k):
            # A duel of i and j, with c = e_i - e_j, changes the covariance V by
            # -gain_ij (V c)(V c)' (Sherman and Morrison).
            variances = _variances_of_differences(covariance)
            gain = information / (1.0 + information * variances)
            # The weighted sum of variances falls by gain_ij c' V diag(weights) V c.
            weighted = covariance @ (weights[:, np.newaxis] * covariance)
            reduction = gain * _variances_of_differences(weighted)
            best = np.argmax(reduction[first, second])
            i = first[best]
            j = second[best]
            pairs.append((names[i], names[j]))
            change = covariance[i] - covariance[j]
            covariance = covariance - gain[i, j] * np.outer(change, change)
        return pairs

    def _variance_weights(self, top):
        """Weigh the variance of each item in the criterion of `next_duels`.

        The weight is 1, or with `top` the probability that the item is on the wrong
        side of the boundary, over the largest one: after many duels all are tiny. The
        boundary is midway between the strengths of the items at the ranks top and top
        + 1.
        """
        r = len(self.items)
        if top is None:
            return np.ones(r)
        boundary = np.sort(self.strengths)[r - top - 1 : r - top + 1].mean()
        distance = np.abs(self.strengths - boundary)
        log_weights = log_ndtr(-distance / np.sqrt(np.diag(self.model_covariance)))
        return np.exp(log_weights - log_weights.max())

    def _log_tie(self):
        """Return log nu, -inf without ties."""
        if self.tie == 0.0:
            return -np.inf
        return np.log(self.tie)


@checked(
    item_a=[str, None],
    item_b=[str, None],
    result=[str, None],
    half_games=[number(0)],
    ties=["davidson", "half"],
)
def bradley_terry(
    duels: Any,
    *,
    covariates: ArrayLike | str | None = None,
    weight: Any = None,
    group: Any = None,
    judge: Any = None,
    half_games: float = 0.0,
    ties: str = "davidson",
    item_a: str | None = None,
    item_b: str | None = None,
    result: str | None = None,
) -> BradleyTerry:
    """Estimate strengths of items from duels by maximum likelihood, a leaderboard.

    The model is Bradley and Terry's [1]_, with ties and covariates. The log odds that i
    beats j are ``s_i - s_j + x @ beta`` with strengths s and the covariates x of the
    duel. Standard errors are sandwich errors, which hold even if the model is wrong.

    Parameters
    ----------
    duels : array-like, sequence of sequences, DataFrame or mapping
        One of

        * counts (r, r) of "i beat j", or a frame with the same items as index and
          columns; a tie may be half a win of each;
        * a list of ``[winner, loser]``; a tie is a pair in a list, ``[("a", "b")]``; or
          an array (n_duels, 2), except numbers (2, 2), which are counts;
        * a frame or mapping with the columns "winner" and "loser", and optionally "tie"
          (whether neither won);
        * a frame or mapping with the columns `item_a`, `item_b` and `result`.

        Other columns are read only if an argument names them; a warning lists the rest.
    covariates : array-like of shape (n_duels,) or (n_duels, n_covariates), str, list \
            of str or None, default=None
        Numbers of each duel, such as the difference of the lengths of two answers: in a
        table with a result the first item's minus the second's, where a constant 1 is
        the advantage of being shown first; else the winner's minus the loser's. Names
        are read from two columns each: "length" from "length_a" and "length_b", or from
        "length_winner" and "length_loser".
    weight : str, array-like of shape (n_duels,) or None, default=None
        Number of duels that a row stands for, a column's name or values.
    group : str, array-like of shape (n_duels,) or None, default=None
        Prompt or voter of each duel, a column's name or values: errors are clustered by
        it. With fewer than five groups there are strengths, but no errors.
    judge : str, array-like of shape (n_duels,) or None, default=None
        Judge of each duel, a column's name or values. Duels are weighed by the
        agreement of their judges, see Notes.
    half_games : float, default=0.0
        Number of wins, and of losses, that each item has against a virtual item of
        strength 0. Any number above 0 makes all strengths finite: use 2 if there are
        few duels.
    ties : {"davidson", "half"}, default="davidson"
        "davidson" makes ties a third outcome, with one parameter [2]_. "half" counts
        half a win and half a loss.
    item_a, item_b : str or None, default=None
        Columns of the two items of a duel; None is "model_a" and "model_b".
    result : str or None, default=None
        Column that says who won; None is "winner". Every row holds the winning item
        itself, or every row holds the name of one of these two columns, "a" or "b", in
        upper or lower case. A tie is "tie", "tied", "draw", "tie (bothbad)", "bothbad"
        or "both_bad", if no item has that name.

    Returns
    -------
    BradleyTerry
        See `BradleyTerry`: ``items``, ``strengths``, ``standard_errors``, ``ranks``,
        ``order``, ``coefficients``; ``interval()``, ``rank_intervals()``,
        ``probability(a, b)``, ``probability_interval(a, b)``, ``next_duels()``,
        ``to_frame()``.

    Raises
    ------
    ValueError
        If duels do not fit, or no finite strengths exist: some items did not meet the
        rest, never won or never lost.

    Warns
    -----
    UserWarning
        If no argument names a column, and the table has columns that are not read.

    See Also
    --------
    consensus_ranking : Orders of least disagreement, for preferences with cycles.
    lowrank_rank.plotting.RankIntervalDisplay : Ranks with intervals, drawn.

    Notes
    -----
    Weights count duels: weight 2 is the row twice. If weights are importances, give
    each row a group of its own. Variances clustered by n groups have the factor
    n / (n - 1).

    With `judge` the model is fitted twice. The second fit weighs each duel by
    ``max(2 acc - 1, 0.02)``, where acc is the fraction of the judge's other duels that
    agree with the first order. Each row is then a group of its own, unless there are
    groups.

    References
    ----------
    .. [1] R. Bradley, M. Terry, "Rank Analysis of Incomplete Block Designs", Biometrika
       39, 1952.
    .. [2] R. Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in
       Paired Comparison Experiments", Journal of the American Statistical Association
       65, 1970.

    Examples
    --------
    a beats b in 3 of 4 duels, and b beats c in 3 of 4:

    >>> from lowrank_rank.votes import bradley_terry
    >>> duels = 3 * [["a", "b"], ["b", "c"]] + [["b", "a"], ["c", "b"]]
    >>> board = bradley_terry(duels)
    >>> board.items.tolist(), (board.strengths / board.strengths[0]).round(6).tolist()
    (['a', 'b', 'c'], [1.0, 0.0, -1.0])
    """
    of_rows = {"weight": weight, "group": group, "judge": judge}
    arrive(duels=duels, covariates=covariates, **of_rows)
    table = read_duels(duels, covariates, of_rows, item_a, item_b, result, half_games)
    estimate_tie = ties == "davidson" and bool(table.tied.any())
    theta, inverse_information, sandwich, judge_weights, table = _maximise(
        table, half_games, estimate_tie
    )
    r = len(table.items)
    strengths = theta[:r] - theta[:r].mean()
    order = np.argsort(-strengths, kind="stable")
    tie = 0.0
    log_tie = -np.inf
    if estimate_tie:
        log_tie = theta[-1]
        tie = float(np.exp(log_tie))
    misfit = None
    if covariates is None and group is None and judge is None:
        outcomes = _Outcomes(strengths[:, np.newaxis] - strengths, log_tie)
        misfit = look_for(
            "cycles", table.items, _wins(table), outcomes.mean, outcomes.variance
        )
    return BradleyTerry(
        items=table.items,
        strengths=strengths,
        ranks=ranks_from_orders(order[np.newaxis])[0],
        model_covariance=_centred(inverse_information[:r, :r]),
        coefficients=theta[r : r + table.covariates.shape[1]],
        tie=tie,
        half_games=half_games,
        n_groups=table.n_groups,
        degrees_of_freedom=_degrees_of_freedom(table),
        judge_weights=judge_weights,
        misfit=misfit,
        findings=findings_so_far(),
        _sandwich=sandwich,
    )


def _draw_errors(covariance, degrees_of_freedom, n_draws, rng):
    """Draw errors of the strengths from N(0, covariance), shape (n_draws, r).

    With finite degrees of freedom from Student's multivariate distribution.
    """
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    root = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    errors = rng.standard_normal((n_draws, len(covariance))) @ root.T
    if np.isfinite(degrees_of_freedom):
        # One chi-square for each draw.
        chi_square = rng.chisquare(degrees_of_freedom, size=(n_draws, 1))
        errors = errors / np.sqrt(chi_square / degrees_of_freedom)
    return errors


def _largest_of_pairs(errors, standard_errors):
    """Compute max |t| over all pairs (i, j) of each draw, t = (e_j - e_i) / se_ij."""
    max_abs_t = np.zeros(len(errors))
    for i in range(1, errors.shape[1]):
        t = np.abs(errors[:, :i] - errors[:, [i]]) / standard_errors[i, :i]
        np.maximum(max_abs_t, t.max(axis=1), out=max_abs_t)
    return max_abs_t


def _maximise(table, half_games, estimate_tie):
    """Maximise the likelihood; with judges once more, each duel times their trust.

    Returns
    -------
    theta : ndarray of shape (n_parameters,)
    inverse_information : ndarray of shape (n_parameters, n_parameters)
    sandwich : ndarray of this shape
        Sandwich covariance of theta.
    judge_weights : dict or None
    table : Duels
        With the weights of the last fit.
    """
    likelihood = _Likelihood(table, half_games, estimate_tie)
    theta, inverse_information = likelihood.maximise()
    judge_weights = None
    if table.judges is not None:
        trust_of_duels, trust_of_judges = _trust(table, theta)
        names = table.judges.tolist()
        judge_weights = dict(zip(names, trust_of_judges.tolist(), strict=True))
        table = table._replace(weights=table.weights * trust_of_duels)
        likelihood = _Likelihood(table, half_games, estimate_tie)
        theta, inverse_information = likelihood.maximise()
    # H^-1 (sum over groups of g g') H^-1, with the information H and the gradient g of
    # a group.
    outer_products = likelihood.sum_of_outer_products(theta)
    sandwich = inverse_information @ outer_products @ inverse_information
    return theta, inverse_information, sandwich, judge_weights, table


def _wins(table):
    """Count the wins (r, r) of one item over another; a tie is half a win of each."""
    r = len(table.items)
    win = table.weights * (1.0 - table.tied / 2.0)
    half = table.weights * table.tied / 2.0
    rows = np.append(table.winner, table.loser)
    columns = np.append(table.loser, table.winner)
    cells = np.ravel_multi_index((rows, columns), (r, r))
    return np.bincount(cells, np.append(win, half), minlength=r * r).reshape(r, r)


class _Likelihood:
    """Likelihood of the parameters theta, from duels.

    Parameters
    ----------
    table : Duels
    half_games : float
        Wins, and losses, of each item against a virtual item of strength 0.
    estimate_tie : bool
        Whether the last parameter is log nu. Else a tie is half a win and half a loss.
    """

    def __init__(self, table, half_games, estimate_tie):
        r = len(table.items)
        n_games = 2 * r
        self.n_items = r
        self.estimate_tie = estimate_tie
        # Each item wins a game against the virtual item, of index r, and loses one.
        items = np.arange(r)
        virtual = np.full(r, r)
        winner = np.concatenate([table.winner, items, virtual])
        loser = np.concatenate([table.loser, virtual, items])
        self.tied = np.append(table.tied, np.zeros(n_games, np.intp))
        self.group = np.append(table.group, np.full(n_games, -1))
        self.weights = np.append(table.weights, np.full(n_games, half_games))
        covariates = np.pad(table.covariates, ((0, n_games), (0, 0)))

        # Design matrix of the log odds, (n, n_linear): 1 for the winner, -1 for the
        # loser, no column for the virtual item, whose strength is 0; then covariates.
        n = len(winner)
        signs = np.tile([1.0, -1.0], n)
        columns = np.column_stack([winner, loser]).ravel()
        starts = 2 * np.arange(n + 1)
        sides = sparse.csr_matrix((signs, columns, starts), shape=(n, r + 1))
        self.design = sparse.hstack([sides[:, :r], covariates], format="csr")
        self.design_transposed = self.design.T.tocsr()
        self.n_linear = self.design.shape[1]

        # Duels determine differences alone: v v' in the information sets the sum of
        # the strengths to 0. The virtual item does so too.
        self.anchor = np.zeros(self.n_linear + estimate_tie)
        if half_games == 0:
            self.anchor[:r] = np.sqrt(table.weights.sum()) / r

    def maximise(self):
        """Maximise the likelihood by Newton's method with halved steps.

        Returns
        -------
        theta : ndarray of shape (n_parameters,)
        inverse_information : ndarray of shape (n_parameters, n_parameters)
        """
        theta = np.zeros(len(self.anchor))
        outcomes = self.outcomes(theta)
        loss = self.loss(outcomes)
        try:
            # The log odds of separated duels grow by 1 with each step, without end.
            for _ in range(30):
                information = self.information(outcomes)
                gradient = self.gradient(outcomes)
                step = cho_solve(cho_factor(information), gradient)
                outcomes = self.outcomes(theta - step)
                new_loss = self.loss(outcomes)
                # Halve the step until the loss does not rise, up to rounding, or the
                # step is negligible.
                largest_loss = loss + 1e-12 * abs(loss)
                while new_loss > largest_loss and self.size(step) > 1e-6:
                    step = step / 2.0
                    outcomes = self.outcomes(theta - step)
                    new_loss = self.loss(outcomes)
                theta = theta - step
                loss = new_loss
                if self.size(step) <= 1e-6:
                    inverse_information = np.linalg.inv(information)
                    if self.is_determined(inverse_information, outcomes):
                        return theta, inverse_information
                    break
        except np.linalg.LinAlgError:  # the information is singular
            pass
        raise ValueError(f"No finite estimate exists: {self.possible_causes()}.")

    def outcomes(self, theta):
        """Compute the distribution of the outcomes of all rows."""
        log_odds = self.design @ theta[: self.n_linear]
        if self.estimate_tie:
            return _Outcomes(log_odds, theta[-1])
        return _Outcomes(log_odds, -np.inf)

    def loss(self, outcomes):
        """Compute the negative log likelihood.

        The log probability of a win is d/2 - log_total, and of a tie
        log nu - log_total.
        """
        log_odds = outcomes.log_odds
        half_odds = (self.tied - 1.0) * log_odds / 2.0
        loss = self.weights @ (outcomes.log_total + half_odds)
        if self.estimate_tie:
            loss -= outcomes.log_tie * (self.weights @ self.tied)
        return loss

    def residuals(self, outcomes):
        """Compute score minus its mean, and tie minus its probability, of each row."""
        score = 1.0 - self.tied / 2.0
        return score - outcomes.mean, self.tied - outcomes.tie

    def gradient(self, outcomes):
        """Compute the gradient of the negative log likelihood: -X' diag(w) residual."""
        residual, tie_residual = self.residuals(outcomes)
        gradient = -(self.design_transposed @ (self.weights * residual))
        if self.estimate_tie:
            gradient = np.append(gradient, -(self.weights @ tie_residual))
        return gradient

    def information(self, outcomes):
        """Compute the Fisher information, the Hessian of the negative log likelihood.

        X' diag(w var(score)) X, bordered with ties by w cov(score, tie) x and
        w var(tie), plus the anchor v v'.
        """
        variance = self.weights * outcomes.variance
        weighted_design = self.design.multiply(variance[:, np.newaxis]).tocsr()
        information = (self.design_transposed @ weighted_design).toarray()
        if self.estimate_tie:
            covariance = self.weights * outcomes.tie * (0.5 - outcomes.mean)
            border = self.design_transposed @ covariance
            corner = self.weights @ (outcomes.tie * (1.0 - outcomes.tie))
            information = np.block(
                [[information, border[:, np.newaxis]], [border, corner]]
            )
        return information + np.outer(self.anchor, self.anchor)

    def size(self, step):
        """Return the largest change of log odds, or of log nu, by a step of theta."""
        log_odds = self.design @ step[: self.n_linear]
        return np.abs(np.append(log_odds, step[self.n_linear :])).max()

    def is_determined(self, inverse_information, outcomes):
        """Check that collinearity does not inflate a variance beyond 1e10."""
        variances = np.diag(inverse_information) * np.diag(self.information(outcomes))
        inflation = variances[self.n_items : self.n_linear]
        return not np.any((inflation <= 0) | (inflation > 1e10))

    def possible_causes(self):
        """Say in words why there may be no finite estimate."""
        causes = []
        if self.n_linear > self.n_items:
            causes.append(
                "covariates separate winners from losers, or follow from the items or "
                "from each other"
            )
        if self.estimate_tie:
            causes.append("ties are too frequent for the model (set ties='half')")
        if not causes:
            causes.append(
                "half_games is too small to keep the strengths finite (use 2)"
            )
        return "; or ".join(causes)

    def sum_of_outer_products(self, theta):
        """Sum g g' over groups, with the gradient g of the log likelihood of a group.

        A row without a group, -1, stands for `weight` duels, each a group of its own.
        The sum has the factor n_groups / (n_groups - 1) if there are two or more.
        """
        residual, tie_residual = self.residuals(self.outcomes(theta))
        gradients = self.design.multiply(residual[:, np.newaxis])
        if self.estimate_tie:
            gradients = sparse.hstack([gradients, tie_residual[:, np.newaxis]])

        n = len(residual)
        has_no_group = self.group < 0
        own_group = self.group.max() + 1 + np.arange(n)
        group = np.where(has_no_group, own_group, self.group)
        weights = np.where(has_no_group, np.sqrt(self.weights), self.weights)
        summing = sparse.csr_matrix((weights, (group, np.arange(n))))
        sums = summing @ gradients.tocsr()
        outer_products = (sums.T @ sums).toarray()
        n_groups = len(np.unique(self.group[~has_no_group]))
        if n_groups > 1:
            outer_products *= n_groups / (n_groups - 1)
        return outer_products


def _degrees_of_freedom(table):
    """Compute the effective number of groups, (sum n)^2 / sum n^2, minus 1."""
    if table.n_groups is None:
        return np.inf
    sizes = np.bincount(table.group, table.weights)
    return float(sizes.sum() ** 2 / (sizes @ sizes) - 1.0)


def _trust(table, theta):
    """Compute the weight max(2 acc - 1, 0.02) of each duel, and of each judge.

    acc = (agreeing + 10 overall) / (duels + 10) is the fraction of the judge's duels
    that agree with the order of the strengths in theta, shrunk to the fraction of all
    duels. A duel's own weight leaves this duel out, so its outcome cannot raise it.
    """
    # 1 if the stronger item won, 0 if it lost, 1/2 for a tie.
    sign = np.sign(theta[table.winner] - theta[table.loser]) * (1 - table.tied)
    agrees = (1.0 + sign) / 2.0
    overall = np.average(agrees, weights=table.weights)

    def trust(agreeing, n_duels):
        accuracy = (agreeing + 10.0 * overall) / (n_duels + 10.0)
        return np.maximum(2.0 * accuracy - 1.0, 0.02)

    n_judges = len(table.judges)
    n_duels = np.bincount(table.judge, table.weights, minlength=n_judges)
    agreed = table.weights * agrees
    agreeing = np.bincount(table.judge, agreed, minlength=n_judges)
    # A row of a larger weight stands for several duels: one of them is left out.
    own = np.minimum(table.weights, 1.0)
    others_agreeing = agreeing[table.judge] - own * agrees
    trust_of_duels = trust(others_agreeing, n_duels[table.judge] - own)
    return trust_of_duels, trust(agreeing, n_duels)


class _Outcomes:
    """Distribution of the outcomes of duels; the score of a duel is 1, 0.5 or 0.

    Parameters
    ----------
    log_odds, log_tie : ndarray and float
        d and log nu.

    Attributes
    ----------
    log_total : ndarray
        log(e^(d/2) + nu + e^(-d/2)).
    tie : ndarray
        Probability of a tie.
    mean, variance : ndarray
        Mean and variance of the score.
    """

    def __init__(self, log_odds, log_tie):
        self.log_odds = log_odds
        self.log_tie = log_tie
        half = log_odds / 2.0
        self.log_total = np.logaddexp(np.logaddexp(half, -half), log_tie)
        win = np.exp(half - self.log_total)
        loss = np.exp(-half - self.log_total)
        self.tie = np.exp(log_tie - self.log_total)
        self.mean = win + self.tie / 2.0
        self.variance = (
            win * (1.0 - self.mean) ** 2
            + self.tie * (0.5 - self.mean) ** 2
            + loss * self.mean**2
        )


def _centred(covariance):
    """Compute the covariance of s - mean(s) from the covariance of s."""
    column_means = covariance.mean(axis=0)
    row_means = column_means[:, np.newaxis]
    return covariance - column_means - row_means + column_means.mean()


def _variances_of_differences(covariance):
    """Compute the variances (r, r) of s_i - s_j from the covariance of s."""
    variances = np.diag(covariance)
    return variances[:, np.newaxis] + variances - 2.0 * covariance
