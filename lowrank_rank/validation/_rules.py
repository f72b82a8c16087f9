"""Rules of data that can be meant, but are nearly always a mistake: a table.

A row has a name, a function that finds the data and returns a sentence, or None, and
the category of the warning. `look_for` applies a rule where the data pass. It does not
change results. Rules of suspicious data warn in at most 1 of 200 cases in which the
practice is right: the tests and the page "Ten ways to fool yourself" have the numbers.
"""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import special, stats
from sklearn.base import clone

from ..lists._lists import RankingLists, plain
from ..lists._ranks import mid_ranks
from ._checks_of_labels import MANY_ROWS
from ._findings import found
from ._lines_of_tables import line_without_item

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


class Rule(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    finds : callable
        Takes the data; returns a sentence or None.
    category : type of warning
    """

    finds: Callable
    category: type[Warning] = UserWarning


def look_for(name, *data, about=None):
    """Add a finding if the rule of this name finds something in the data.

    `about` tells findings of one rule apart, as in `Finding`. Returns the sentence of
    the rule, or None.
    """
    rule = RULES[name]
    sentence = rule.finds(*data)
    if sentence is None:
        return None
    text = sentence
    if rule.category is SuspiciousDataWarning:
        link = f"fool_yourself.html#fool-{name.replace(' ', '-')}"
        text = f"{name}: {sentence} ({link} in the user guide)"
    found(name, text, rule.category, about)
    return sentence


# Lists --------------------------------------------------------------------------------


def _single_items(lists):
    """Find several lists, each, or nearly each of many, with a single row.

    Any scores rank them. This is not an error: a subset of the queries may be so by
    chance, and a regressor of grades still learns from such rows.
    """
    if lists.ids is None or lists.n_lists <= 1:
        return None
    n_single = int(np.sum(lists.lengths == 1))
    if n_single == lists.n_lists:
        return (
            f"Each of the {lists.n_lists} lists has a single item: there is no order "
            "to learn or to measure. Is qid the number of the row instead of the query?"
        )
    if lists.n_lists < 20 or n_single < 0.95 * lists.n_lists:
        return None
    return (
        f"{n_single} of the {lists.n_lists} lists have a single item, and so no order "
        "to learn or to measure. Is qid a time instead of the query or the day?"
    )


def _one_list(n_rows):
    """Find a measure of many rows without query ids."""
    if n_rows <= MANY_ROWS:
        return None
    return (
        f"All {n_rows:,} rows are measured as one list. If they are, write "
        "one_list=True, else qid=qid, the query of each row."
    )


def _equal_grades(lists, y):
    """Find lists with equal grades: there is no order to learn.

    Lists of one row each have the rule "single items".
    """
    if y.ndim > 1 or lists.ids is None or lists.n_rows == lists.n_lists:
        return None
    if lists.has_order(lists.group(y)):
        return None
    return (
        f"All grades of each query are equal ({lists.n_lists} queries): there is "
        "no order to learn, and documents of a query should get equal scores. Are "
        "these the grades?"
    )


def _swapped_ids(y, lists, call):
    """Find grades that look like query ids, beside ids that look like grades.

    Rows of a query follow one another, and there are many more queries than grades. Ids
    of text are not grades. Sorted grades look similar: few values, decreasing ones, or
    many values of one row each do not count as ids. `call` has the right order.
    """
    if lists.ids is None or lists.ids.dtype.kind not in "biuf" or y.ndim > 1:
        return None
    n_queries = lists.n_lists
    if lists.order is None or n_queries > 50:
        return None
    n_grades = len(np.unique(y))
    run_starts = np.flatnonzero(np.append(True, y[1:] != y[:-1]))
    run_lengths = np.diff(np.append(run_starts, len(y)))
    n_runs_of_qid = 1 + np.count_nonzero(np.diff(lists.codes))
    # Three equal pairs of few grades are hardly neighbours by chance.
    follow_one_another = len(run_lengths) == n_grades <= len(y) - 3
    is_id = follow_one_another and n_grades >= max(10, 2 * n_queries)
    is_grade = np.mean(run_lengths == 1) > 0.1 or np.all(y[1:] <= y[:-1])
    if not is_id or is_grade or n_runs_of_qid <= n_queries:
        return None
    return (
        f"y has {n_grades} values, equal ones in neighbouring rows, and qid has "
        f"{n_queries}, in rows far apart: is it {call}, grades first?"
    )


# Tables -------------------------------------------------------------------------------


def _other_columns(columns, expected, who, remedy=""):
    """Find columns that a function does not read.

    `who` begins the first sentence, and `remedy` is the second one.
    """
    expected = [name for name in expected if name is not None]
    others = [name for name in columns if name not in expected]
    if not others:
        return None
    return f"{who} does not read the columns {others[:5]}: it reads {expected}.{remedy}"


#: What election offices' exports of ballots write for a choice without a candidate
#: (RCTab's labels of overvotes and undervotes). "blank" and "write-in" may be items.
MARKS_OF_VOTES = ("overvote", "undervote", "skipped")


def _marks_of_votes(names, argument, orders):
    """Find a mark of cast-vote records among the names of the items."""
    for name in map(plain, names):
        if isinstance(name, str) and name.strip().lower() in MARKS_OF_VOTES:
            line = line_without_item(argument, orders, name).replace("\n", "\n    ")
            return (
                f"{argument} name {name!r}, which cast-vote records write for a "
                "choice without a candidate, and which is an item here. If it is "
                "one, name all items by items=[...]; if not, leave it out"
                f"{line and ':'}\n    {line}".rstrip()
            )
    return None


def _long_texts(name, texts):
    """Find a column of titles or sentences, which is read as categories.

    `texts` are the texts of the rows, or None.
    """
    distinct = set(texts) - {None}
    n_with_spaces = sum(" " in text for text in distinct)
    is_long = len(distinct) > max(20, len(texts) / 10)
    if not is_long or n_with_spaces <= len(distinct) / 2:
        return None
    return (
        f"Column {name!r} of X has {len(distinct)} texts in {len(texts)} rows: a "
        "text is one category, and its words are not read. Use "
        "TfidfVectorizer, or drop it."
    )


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
        f"the documents below: compare at @{cut}."
    )


def _unjudged_top(name, k):
    """Find a run whose first k documents have no judgement, in any query.

    `k` is None if some of them have one.
    """
    if k is None:
        return None
    return (
        f"No query has a judgement of the first {k} documents of {name!r}, which count "
        f"as not relevant: judge them. (evaluate_run has the judged fraction, "
        f"measure='judged@{k}'.)"
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
    """Find scores that `are_reversed` below the random order by a measure too."""
    is_compared = ~np.isnan(values - random_values)
    mean = values[is_compared].mean()
    random_mean = random_values[is_compared].mean()
    if not mean < random_mean:
        return None
    return (
        f"{name!r} is below the random order, {mean:.3f} to {random_mean:.3f} "
        "(p < .001): are lower scores better (distances, ranks)? Then give -scores."
    )


def centred_labels(y, lists):
    """Subtract its mean from each labelled list, of the first 1,000 lists.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Labels of the rows as given; NaN is not a label.
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
    """Return whether the ranks of scores are against the labels, beyond random orders.

    The arguments are from `centred_labels`. Under a random order of each list, the sum
    of products of centred ranks and centred labels y has the mean 0 and the variance
    ``sum_q sum_i rank_qi**2 sum_i y_qi**2 / (r_q - 1)`` for lists q of r_q documents.
    Fewer than ten lists are not a sample of queries.
    """
    if lists.n_lists < 10:
        return False
    ranks = mid_ranks(scores[rows], lists)
    ranks -= lists.repeat((lists.lengths + 1) / 2.0)
    with np.errstate(over="ignore", invalid="ignore"):
        # Rank 1 is the best: a sum above 0 has high labels at low scores.
        total = np.sum(ranks * centred)
        squares = lists.sum(ranks**2) * lists.sum(centred**2)
        variance = np.sum(squares / np.maximum(lists.lengths - 1, 1))
        # z > 3.3 in LEVEL / 2 of the cases.
        return bool(total > 3.3 * np.sqrt(variance))


def _two_scores(name, dtype, dtype_of_labels, scores, y, lists):
    """Find scores of two whole values, such as classes, in lists of several rows.

    `dtype` is the type of the scores as given: a feature of floats may be 0 or 1, and
    one of booleans is an answer, yes or no. A classifier predicts booleans only if its
    labels are booleans.
    """
    is_of_classes = dtype.kind in "iu" or dtype.kind == dtype_of_labels.kind == "b"
    if not is_of_classes:
        return None
    if lists.n_rows < 5 * lists.n_lists or lists.n_rows < 50:
        return None
    if len(set(scores[:50].tolist())) > 2:
        return None
    lowest = scores.min()
    highest = scores.max()
    if lowest == highest:
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
    known = scored.contents[scored_places]
    n = np.count_nonzero((fitted.contents[places] == known) & (known > 0))
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
    is_known = scored.contents > 0
    is_copy = is_known & np.isin(scored.contents, fitted.contents)
    if is_copy.any():
        is_copy &= ~np.isin(scored.keys, fitted.keys)
    n = int(is_copy.sum())
    n_known = np.count_nonzero(is_known)
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
                f"{names[i]!r} has {counts[i]} undefined values of "
                f"{len(is_undefined)} and {names[j]!r} {counts[j]}: the means are "
                "over different queries. Say what such a query counts: "
                "table.fillna(0), or zero_division=0."
            )
    return None


def _chosen_queries(j, j_unlabelled):
    """Find queries with human labels on which the judge's values are unlike others.

    Tests each column, and of several also its difference from their mean.
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
    """Find strengths that contradict the duels of two items, in a fit that is bad.

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


RULES: dict[str, Rule] = {
    "single items": Rule(_single_items),
    "one list": Rule(_one_list),
    "equal grades": Rule(_equal_grades),
    "swapped ids": Rule(_swapped_ids),
    "other columns": Rule(_other_columns),
    "marks of votes": Rule(_marks_of_votes),
    "long texts": Rule(_long_texts),
    "depth": Rule(_depth, SuspiciousDataWarning),
    "unjudged top": Rule(_unjudged_top),
    "all relevant": Rule(_all_relevant, SuspiciousDataWarning),
    "reversed scores": Rule(_reversed_scores, SuspiciousDataWarning),
    "two scores": Rule(_two_scores, SuspiciousDataWarning),
    "training queries": Rule(_training_queries, SuspiciousDataWarning),
    "copied queries": Rule(_copied_queries, SuspiciousDataWarning),
    "undefined queries": Rule(_undefined_queries, SuspiciousDataWarning),
    "chosen queries": Rule(_chosen_queries, SuspiciousDataWarning),
    "always first": Rule(_always_first, SuspiciousDataWarning),
    "cycles": Rule(_cycles, SuspiciousDataWarning),
}
