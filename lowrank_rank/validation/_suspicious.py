"""Warnings of data that can be meant, but nearly always give a wrong number.

Each rule is a function that tests the data, and returns the sentence of the warning, or
None. `look_for` asks it from the one place where the data pass. A rule changes no
result. It warns in at most 1 of 200 cases in which the practice is right: the tests and
the page "Ten ways to fool yourself" have the numbers.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy import special, stats
from sklearn.base import clone

from ..lists._lists import RankingLists

#: Probability of a warning by chance, of the rules that test a hypothesis.
LEVEL = 1e-3


class SuspiciousDataWarning(UserWarning):
    """The data look like a practice that gives wrong numbers; the message has a remedy.

    The message begins with the name of its rule: "depth", "all relevant", "reversed
    scores", "two scores", "training queries", "copied queries", "undefined queries",
    "chosen queries", "always first" or "cycles".

    Examples
    --------
    Silence one rule, or all of them:

    >>> import warnings
    >>> from lowrank_rank import SuspiciousDataWarning
    >>> warnings.filterwarnings("ignore", "two scores", SuspiciousDataWarning)
    >>> warnings.filterwarnings("ignore", category=SuspiciousDataWarning)
    """


# Runs, labels and scores --------------------------------------------------------------


def _depth(depths, k):
    """Find a run that is cut above k, beside a run that is twice as deep.

    `depths` has the number of documents of each query by the name of the run.
    """
    depths = {name: of_run[of_run > 0] for name, of_run in depths.items()}
    depths = {name: of_run for name, of_run in depths.items() if len(of_run)}
    if len(depths) < 2:
        return None
    typical = {name: int(np.median(of_run)) for name, of_run in depths.items()}
    name = min(typical, key=lambda one: typical[one])
    cut = int(depths[name].max())
    deepest = max(typical.values())
    # A search that finds few documents has lists of several lengths.
    is_cut = np.mean(depths[name] == cut) >= 0.9 and len(depths[name]) >= 10
    if not is_cut or deepest < 2 * cut or (k is not None and k <= cut):
        return None
    return (
        f"k exceeds the depth of run {name!r} ({cut}, others {deepest}), which loses "
        f"what lies below: compare at @{cut}."
    )


def _all_relevant(measure, y):
    """Find grades that differ, all of them relevant."""
    if measure.labels != "binary" or y.ndim > 2 or y.size < 50:
        return None
    if getattr(measure, "relevance_threshold", 0) is not None:
        return None
    lowest = np.fmin.reduce(y, axis=None)
    highest = np.fmax.reduce(y, axis=None)
    if not 0 < lowest < highest:
        return None
    grades = np.unique(y[~np.isnan(y)])
    threshold = grades[grades > lowest / 2 + highest / 2][0].item()
    if threshold.is_integer():
        threshold = int(threshold)
    remedy = clone(measure).set_params(relevance_threshold=threshold)
    return (
        f"every label counts as relevant (the lowest is {lowest:g}, the highest "
        f"{highest:g}), so that all orders are equal: name the lowest relevant grade, "
        f"such as {remedy!r}."
    )


def _reversed_scores(name, values, random_values):
    """Find scores that are below the random order, query by query."""
    difference = values - random_values
    difference = difference[~np.isnan(difference)]
    difference[np.abs(difference) <= 1e-12] = 0.0
    n = len(difference)
    if n < 10 or difference.mean() >= 0:
        return None
    # The one-sided t test; no spread at all is a difference beyond doubt.
    standard_error = difference.std(ddof=1) / np.sqrt(n)
    quantile = stats.t.isf(LEVEL / 2, n - 1)
    if difference.mean() >= -quantile * standard_error:
        return None
    is_compared = ~np.isnan(values - random_values)
    mean = values[is_compared].mean()
    random_mean = random_values[is_compared].mean()
    return (
        f"{name!r} is below the random order, {mean:.3f} to {random_mean:.3f} "
        "(p < .001): are lower scores better (distances, ranks)? Then give -scores."
    )


def centred_labels(y, lists):
    """Subtract its mean from each labelled list, of the first 1,000 lists.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Labels of the rows as given; NaN is no label.
    lists : RankingLists

    Returns
    -------
    (rows, centred, labelled_lists), or None if lists have fewer than three labels
        The labelled rows, their centred labels and their lists.
    """
    lengths = lists.lengths[:1000]
    rows = np.arange(lengths.sum())
    if lists.order is not None:
        rows = lists.order[rows]
    lists = RankingLists(lengths)
    is_labelled = ~np.isnan(y[rows])
    if not is_labelled.all():
        rows = rows[is_labelled]
        lists, _ = lists.select(is_labelled)
    if lists.n_lists == 0 or lists.n_rows < 3 * lists.n_lists:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        means = lists.sum(y[rows]) / lists.lengths
        return rows, y[rows] - lists.repeat(means), lists


def are_reversed(scores, rows, centred, lists):
    """Return whether scores vary against labels.

    A fast test before that of the measure. The arguments are from `centred_labels`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        # Covariance of each list, times its length.
        covariance = lists.sum(scores[rows] * centred)
        total = covariance.sum()
        if total >= 0:
            return False
        # Under random scores the sum is normal: z < -3.3 in LEVEL / 2 of the cases. The
        # values of measures are skewed if few queries have few relevant documents.
        return total**2 > 3.3**2 * (covariance @ covariance)


def _two_scores(name, scores, y, lists):
    """Find scores of two whole values, such as classes, in lists of several rows."""
    if lists.n_rows < 5 * lists.n_lists or lists.n_rows < 50:
        return None
    if len(set(scores[:50].tolist())) > 2:
        return None
    lowest = scores.min()
    highest = scores.max()
    is_whole = lowest == np.floor(lowest) and highest == np.floor(highest)
    if lowest == highest or not is_whole:
        return None
    if not np.all((scores == lowest) | (scores == highest)):
        return None
    if y.size == scores.size and np.array_equal(scores, y.ravel()):
        return None  # the labels themselves, as the best ranker
    return (
        f"{name!r} has two distinct scores, {lowest:g} and {highest:g}. If they are "
        "classes, pass decision_function(X) or predict_proba(X)[:, 1] instead."
    )


# Queries of a fit ---------------------------------------------------------------------


def _training_queries(name, fitted, scored):
    """Find compared lists that are in the fit, with their ids and their rows.

    `fitted` and `scored` are the `KnownLists` of both.
    """
    if scored.contents is None:
        return None
    places, scored_places = fitted.shared_with(scored)
    is_same = fitted.contents[places] == scored.contents[scored_places]
    n = int(is_same.sum())
    if n < 5:
        return None
    return (
        f"{name!r} was fitted to {n} of the {len(scored.keys)} queries that are "
        "compared: compare on other queries, or the scores of cross_val_predict."
    )


def _copied_queries(fitted, scored):
    """Find lists that are copies of lists of the fit, under other ids."""
    if fitted.contents is None or scored.contents is None:
        return None
    is_copy = np.isin(scored.contents, fitted.contents)
    if is_copy.any():
        is_copy &= ~np.isin(scored.keys, fitted.keys)
    n = int(is_copy.sum())
    n_known = np.count_nonzero(~np.isnan(scored.contents))
    if n < 3 or n < 0.02 * n_known:
        return None
    return (
        f"{n / n_known:.0%} of the test lists are copies of training lists, under "
        "other ids: give equal queries one id, so that they are in one part."
    )


# Tables of values ---------------------------------------------------------------------


def _undefined_queries(names, is_undefined):
    """Find two systems with other numbers of undefined queries."""
    counts = is_undefined.sum(axis=0)
    if counts.min() == counts.max():
        return None
    pairs = list(combinations(range(len(names)), 2))
    for i, j in pairs:
        only_i = int(np.sum(is_undefined[:, i] & ~is_undefined[:, j]))
        only_j = int(np.sum(is_undefined[:, j] & ~is_undefined[:, i]))
        n = only_i + only_j
        if n and stats.binomtest(only_i, n).pvalue * len(pairs) < LEVEL:
            return (
                f"{names[i]!r} has {counts[i]} undefined values of {len(is_undefined)} "
                f"and {names[j]!r} {counts[j]}: the means are over other queries. Say "
                "what such a query counts: table.fillna(0), or zero_division=0."
            )
    return None


def _chosen_queries(j, j_unlabelled):
    """Find queries with human labels on which the judge's values are unlike others.

    Tests the columns, and with several what each differs from their mean.
    """
    columns = list(zip(j.T, j_unlabelled.T, strict=True))
    if j.shape[1] > 1:
        rest = [
            (values - values.mean(axis=1, keepdims=True)).T[1:]
            for values in (j, j_unlabelled)
        ]
        columns += list(zip(*rest, strict=True))
    p_values = [_kolmogorov_smirnov(one, other) for one, other in columns]
    if min(p_values) * len(p_values) >= LEVEL:
        return None
    return (
        f"the judge's values of the {len(j)} queries with human labels and of the "
        f"other {len(j_unlabelled)} differ (p < .001): people must label a random part "
        "of the queries."
    )


def _kolmogorov_smirnov(one, other):
    """Compute the p value of the two-sample test, by its limit distribution."""
    values = np.concatenate([one, other])
    below_one = np.searchsorted(np.sort(one), values, side="right") / len(one)
    below_other = np.searchsorted(np.sort(other), values, side="right") / len(other)
    distance = np.abs(below_one - below_other).max()
    return special.kolmogorov(
        distance * np.sqrt(len(one) * len(other) / (len(one) + len(other)))
    )


# Duels --------------------------------------------------------------------------------


def _always_first(first, second, items):
    """Find an item that is first in all its duels, where others are on both sides."""
    r = len(items)
    n_first = np.bincount(first, minlength=r)
    n_second = np.bincount(second, minlength=r)
    always = np.flatnonzero((n_second == 0) & (n_first >= 20))
    if len(always) != 1:
        return None
    item = always[0]
    is_other = first != item
    n_first = np.bincount(first[is_other], minlength=r)
    n_second = np.bincount(second[is_other], minlength=r)
    # Where all duels are written in one order of the items, others stay on a side too.
    has_duels = n_first + n_second >= 10
    one_sided = (n_first == 0) | (n_second == 0)
    if not has_duels.any() or np.any(one_sided & has_duels):
        return None
    return (
        f"{items[item]!r} is first in all its duels, so that its strength contains the "
        f"advantage of the first place: add covariates=numpy.ones({len(first)})."
    )


def _cycles(items, wins, probability, variance):
    """Find strengths that contradict the duels of two items, in a fit that is no fit.

    Parameters
    ----------
    items : ndarray of shape (r,)
    wins : ndarray of shape (r, r)
        Wins of one item over another, ties half.
    probability, variance : ndarray of shape (r, r)
        Fitted mean and variance of such a win.
    """
    games = wins + wins.T
    expected = games * probability
    # The approximation by chi-square needs five wins of each.
    is_tested = (expected >= 5) & (expected.T >= 5)
    one, other = np.nonzero(np.triu(is_tested, 1))
    freedom = len(one) - (len(items) - 1)
    if freedom < 1:
        return None
    n = games[one, other]
    p = probability[one, other]
    seen = wins[one, other] / n
    z = (seen - p) * np.sqrt(n / variance[one, other])
    if stats.chi2.sf(z @ z, freedom) >= LEVEL:
        return None
    # The stronger of the two items lost more often.
    z_of_contradiction = np.where((p - 0.5) * (seen - 0.5) < 0, np.abs(z), 0.0)
    pair = int(np.argmax(z_of_contradiction))
    # Many duels show differences that do not matter.
    if z_of_contradiction[pair] < 3.3 or np.abs(seen - p)[pair] < 0.2:
        return None
    stronger, weaker = items[[one[pair], other[pair]]].tolist()
    fitted_share = p[pair]
    seen_share = seen[pair]
    if fitted_share < 0.5:
        stronger, weaker = weaker, stronger
        fitted_share = 1.0 - fitted_share
        seen_share = 1.0 - seen_share
    return (
        f"strengths do not describe these duels (p < .001): P({stronger} beats "
        f"{weaker}) fitted {fitted_share:.2f}, seen {seen_share:.2f}. Look at the "
        "pairs themselves."
    )


# The table ----------------------------------------------------------------------------


RULES: dict[str, Callable] = {
    "depth": _depth,
    "all relevant": _all_relevant,
    "reversed scores": _reversed_scores,
    "two scores": _two_scores,
    "training queries": _training_queries,
    "copied queries": _copied_queries,
    "undefined queries": _undefined_queries,
    "chosen queries": _chosen_queries,
    "always first": _always_first,
    "cycles": _cycles,
}
