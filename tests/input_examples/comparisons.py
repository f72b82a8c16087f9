"""Rankers that are compared, runs, and values of queries."""

import numpy as np
import pandas as pd

from lowrank_rank.evaluation import (
    compare_judged,
    compare_rankers,
    compare_values,
    judged_mean_intervals,
)

from . import Example

# Arguments that do not go together --------------------------------------------------


def scores():
    """Two rankers of twelve queries of four documents."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 48).astype(float)
    y[::4] = 2.0
    X = rng.normal(size=(48, 3))
    return {
        "y_true": y,
        "rankers": {"a": y + rng.normal(size=48), "b": X[:, 0]},
        "X": X,
        "qid": np.repeat(np.arange(12), 4),
        "measure": "ndcg@3",
        "groups": None,
        "sample_weight": None,
        "zero_division": 0.0,
        "baseline": None,
    }


def judged():
    """Labels of a judge, and of people in every second query."""
    clean = scores()
    people = np.where(clean["qid"] % 2 == 0, clean["y_true"], np.nan)
    return {**clean, "judge": clean["y_true"], "people": people}


def items():
    """Labels of four items, by a judge and by people in every second query."""
    clean = judged()
    shape = (12, 4)
    rankers = {name: one.reshape(shape) for name, one in clean["rankers"].items()}
    return {
        **clean,
        "people": clean["people"].reshape(shape),
        "judge": clean["judge"].reshape(shape),
        "rankers": rankers,
        "qid": None,
        "X": None,
    }


def table():
    """Values of two systems in twelve tasks, and the topic of each task."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"a": rng.uniform(size=12), "b": rng.uniform(size=12)}, dtype=float
    )
    topic = pd.Series([f"topic {i % 5}" for i in range(12)], name="topic")
    return {
        "table": frame,
        "values": frame,
        "groups": topic.tolist(),
        "topic": topic,
        "sample_weight": None,
        "bounds": None,
        "baseline": None,
    }


def values():
    """Values of people and of a judge."""
    rng = np.random.default_rng(2)
    people = rng.uniform(size=12)
    return {
        "values": people,
        "people": people,
        "judge": people + 0.1,
        "judge_unlabelled": rng.uniform(size=40),
        "bounds": None,
        "groups": None,
        "sample_weight": None,
    }


def judged_means():
    """Means of values of people and of a judge."""
    clean = values()
    found = judged_mean_intervals(
        clean["people"], clean["judge"], clean["judge_unlabelled"]
    )
    return {**clean, "found": found, "compare_values": compare_values}


def judged_comparison():
    """A comparison by people and by a judge."""
    clean = judged()
    found = compare_judged(
        clean["people"],
        clean["judge"],
        clean["rankers"],
        qid=clean["qid"],
        measure=clean["measure"],
    )
    return {**clean, "found": found, "compare_rankers": compare_rankers}


def runs():
    """Two runs and the judgements of four queries, and of a judge."""
    rng = np.random.default_rng(3)
    documents = [f"d{i}" for i in range(8)]
    qrels = {}
    found = {"a": {}, "b": {}}
    for q in range(8):
        qrels[f"q{q}"] = dict(
            zip(documents, rng.integers(0, 3, 8).tolist(), strict=True)
        )
        for run in found.values():
            scores_of_query = rng.normal(size=8).tolist()
            run[f"q{q}"] = dict(zip(documents, scores_of_query, strict=True))
    return {
        **scores(),
        "qrels": qrels,
        "runs": found,
        "run": found["a"],
        "average": "mean",
    }


def judged_runs():
    """Two runs, and judgements of a judge and of people for five of the queries."""
    clean = runs()
    people = {q: clean["qrels"][q] for q in list(clean["qrels"])[:5]}
    return {**clean, "judge": clean["qrels"], "people": people}


LIGHT = """
import lightgbm
settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 2}
booster = lightgbm.train(settings, lightgbm.Dataset(X, y_true), 2)
"""
EXTREME = """
import xgboost
booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(X, y_true), 2)
"""
RESULT = """
result = numpy.concatenate([found.means.interval, found.interval]).ravel()
"""
COMPARE = (
    """
from lowrank_rank.evaluation import compare_rankers
found = compare_rankers(
    y_true, rankers, X=X, qid=qid, measure=measure, groups=groups,
    sample_weight=sample_weight, baseline=baseline, zero_division=zero_division,
)
"""
    + RESULT
)
COMPARE_VALUES = (
    """
from lowrank_rank.evaluation import compare_values
found = compare_values(
    table, groups=groups, sample_weight=sample_weight, baseline=baseline,
    bounds=bounds,
)
"""
    + RESULT
)
COMPARE_RUNS = (
    """
from lowrank_rank.evaluation import compare_runs
found = compare_runs(
    qrels, runs, measure=measure, groups=groups, sample_weight=sample_weight,
    baseline=baseline, zero_division=zero_division,
)
"""
    + RESULT
)
COMPARE_JUDGED = (
    """
from lowrank_rank.evaluation import compare_judged
found = compare_judged(
    people, judge, rankers, X=X, qid=qid, measure=measure, baseline=baseline,
    zero_division=zero_division,
)
"""
    + RESULT
)
COMPARE_JUDGED_RUNS = (
    """
from lowrank_rank.evaluation import compare_judged_runs
found = compare_judged_runs(
    people, judge, runs, measure=measure, baseline=baseline,
    zero_division=zero_division,
)
"""
    + RESULT
)
LOOKS = "found = found.at_every_look()"
INTERVALS = """
from lowrank_rank.evaluation import mean_intervals
found = mean_intervals(
    values, groups=groups, sample_weight=sample_weight, bounds=bounds,
)
result = found.interval
"""
JUDGED_INTERVALS = """
from lowrank_rank.evaluation import judged_mean_intervals
found = judged_mean_intervals(people, judge, judge_unlabelled)
result = found.interval
"""
FAMILIES = "groups = numpy.arange(12) % 5"
WEIGHTS = "sample_weight = numpy.arange(12) + 1.0"
WITH_TOPIC = "{0} = pandas.concat([{0}, topic], axis=1); groups = 'topic'"
OF_POLARS = "; {0} = polars.from_pandas({0})"

OF_ARGUMENTS = [
    Example(
        "booster",
        scores,
        LIGHT + "rankers['a'] = booster",
        COMPARE,
        [LIGHT + "rankers['a'] = booster.predict(X)"],
    ),
    Example(
        "booster",
        scores,
        EXTREME + "rankers['a'] = booster",
        COMPARE,
        [EXTREME + "rankers['a'] = booster.predict(xgboost.DMatrix(X))"],
    ),
    Example(
        "rankers without names", scores, "rankers = list(rankers.values())", COMPARE
    ),
    Example("rankers without names", scores, "rankers = {}", COMPARE),
    Example("rankers without names", runs, "runs = list(runs.values())", COMPARE_RUNS),
    Example("judgements in place of labels", scores, "y_true = {'q': {}}", COMPARE),
    Example(
        "judgements in place of labels",
        scores,
        "y_true = pandas.DataFrame({'qid': ['q'], 'docno': ['d'], 'relevance': [1]})",
        COMPARE,
    ),
    Example(
        "judgements in place of labels", judged, "people = {'q': {}}", COMPARE_JUDGED
    ),
    Example(
        "skipped queries beside a judge",
        judged,
        "zero_division = numpy.nan",
        COMPARE_JUDGED,
        [""],
    ),
    Example(
        "skipped queries beside a judge",
        judged_runs,
        "zero_division = numpy.nan",
        COMPARE_JUDGED_RUNS,
        [""],
    ),
    Example(
        "column of the table", table, WITH_TOPIC.format("table"), COMPARE_VALUES, [""]
    ),
    Example(
        "column of the table",
        table,
        WITH_TOPIC.format("table") + OF_POLARS.format("table"),
        COMPARE_VALUES,
        [""],
    ),
    Example("column of the table", table, WITH_TOPIC.format("values"), INTERVALS, [""]),
    Example(
        "column of the table",
        table,
        WITH_TOPIC.format("values") + OF_POLARS.format("values"),
        INTERVALS,
        [""],
    ),
    Example(
        "column of the table",
        table,
        WITH_TOPIC.format("values") + "; groups = topic",
        INTERVALS,
        [""],
    ),
    Example(
        "column of the table",
        table,
        "values = values.assign(traffic=1.0).to_records(); sample_weight = 'traffic'",
        INTERVALS,
    ),
    Example(
        "model without features",
        scores,
        "X = None; rankers['a'] = lowrank_rank.OrderPreservingRegressor()",
        COMPARE,
    ),
    Example("function in place of scores", scores, "rankers['a'] = len", COMPARE),
]
# Runs -------------------------------------------------------------------------------


RUN = """
from lowrank_rank.evaluation import evaluate_run
result = evaluate_run(
    qrels=qrels, run=run, measure=measure, average=average, groups=groups,
    sample_weight=sample_weight,
)
result = numpy.ravel(list(result.values()) if average else result.to_numpy())
"""
TRAFFIC = "sample_weight = {q: i + 1.0 for i, q in enumerate(qrels)}"
OF_RUNS = [
    Example(
        "queries that the judge lacks",
        judged_runs,
        "judge = {q: qrels[q] for q in list(qrels)[1:]}",
        COMPARE_JUDGED_RUNS,
    ),
    Example("measure of whole lists", runs, "measure = 'auc'", COMPARE_RUNS),
    Example("measure of whole lists", runs, "measure = 'kendall'", RUN),
    Example(
        "families of a table",
        runs,
        "average = None; " + TRAFFIC,
        RUN,
        [TRAFFIC, "average = None"],
    ),
]

# Labels of people and of a judge ----------------------------------------------------

OF_JUDGES = [
    Example(
        "shape of the judge's labels", judged, "judge = judge[:-4]", COMPARE_JUDGED
    ),
    Example(
        "rows that the judge lacks", judged, "judge[5] = numpy.nan", COMPARE_JUDGED
    ),
    Example("rows that the judge lacks", items, "judge[5] = numpy.nan", COMPARE_JUDGED),
    Example(
        "queries labelled in part", judged, "people[1] = numpy.nan", COMPARE_JUDGED
    ),
    Example(
        "items of people and of the judge", items, "people[2, 1] = None", COMPARE_JUDGED
    ),
]

# Compared queries -------------------------------------------------------------------

OF_RANKED = [
    Example("baseline that is not a ranker", scores, "baseline = 'c'", COMPARE),
    Example("few compared queries", scores, "qid = None", COMPARE),
    Example(
        "few compared queries",
        scores,
        "y_true[4:] = 0; zero_division = numpy.nan",
        COMPARE,
    ),
    Example(
        "few compared queries",
        table,
        "groups = None; table = table[:1]",
        COMPARE_VALUES,
    ),
]

# Values of each query ---------------------------------------------------------------


def grouped():
    """Scores, and families and weights of the queries."""
    topics = [f"topic {i % 5}" for i in range(12)]
    return {**scores(), "groups": topics, "topics": topics}


def indexed():
    """Families and weights by the ids of the queries."""
    clean = grouped()
    weights = pd.Series(np.arange(12) + 1.0, np.arange(12))
    return {
        **clean,
        "groups": pd.Series(clean["groups"], np.arange(12)),
        "sample_weight": weights,
    }


def alone():
    """The last two queries are families of their own."""
    clean = grouped()
    topics = clean["topics"][:10]
    return {**clean, "groups": [*topics, "x", "y"], "topics": topics}


WITHOUT = "groups = topics + [None, None]"
TWICE = "{0} = pandas.concat([{0}, {0}[:3]])"
OF_VALUES = [
    Example("values of runs by place", runs, "groups = [0, 1] * 4", COMPARE_RUNS),
    Example("values of runs by place", runs, "sample_weight = [1.0] * 8", RUN),
    Example("text in place of values", scores, "groups = 'topic'", COMPARE),
    Example("number of values", grouped, "groups = groups * 4", COMPARE),
    Example("number of values", scores, "sample_weight = [1.0, 2.0]", COMPARE),
    Example("id with two values", indexed, TWICE.format("groups"), COMPARE, [""]),
    Example(
        "id with two values", indexed, TWICE.format("sample_weight"), COMPARE, [""]
    ),
    Example(
        "id with two values",
        indexed,
        TWICE.format("sample_weight") + "; sample_weight.iloc[-1] = 9.0",
        COMPARE,
    ),
    Example(
        "id with two values",
        runs,
        "sample_weight = {1: 1.0, '1': 2.0}",
        RUN,
    ),
    Example("query without a value", indexed, "groups = groups[1:]", COMPARE),
    Example("query without a value", scores, "groups = {'q1': 'a'}", COMPARE),
    Example("query without a family", alone, WITHOUT, COMPARE, [""]),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = numpy.array(groups, dtype=object)",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = pandas.Series(groups)",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = pandas.Series(groups)[::-1]",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = pandas.Categorical(groups)",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = polars.Series(groups)",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        "groups = [*(int(one[-1]) for one in topics), numpy.nan, numpy.nan]",
        COMPARE,
        [""],
    ),
    Example(
        "query without a family",
        alone,
        WITHOUT + "; groups = dict(enumerate(groups))",
        COMPARE,
        [""],
    ),
    Example("one family", scores, "groups = ['a'] * 12", COMPARE, [""]),
    Example(
        "one family", scores, "groups = dict.fromkeys(range(12), 1)", COMPARE, [""]
    ),
    Example("weights of queries", scores, "sample_weight = numpy.zeros(12)", COMPARE),
    Example(
        "weights of queries", values, "sample_weight = [1, 2] * 5 + [-1, 1]", INTERVALS
    ),
]

# Means ------------------------------------------------------------------------------

OF_MEANS = [
    Example("few values", values, "values[1:] = numpy.nan", INTERVALS),
    Example("few values", values, "values = [0.5]", INTERVALS),
    Example(
        "weight of a single query",
        values,
        "sample_weight = [1e9] + [1.0] * 11",
        INTERVALS,
    ),
    Example("result without looks", values, FAMILIES, INTERVALS + LOOKS),
    Example("result without looks", values, WEIGHTS, INTERVALS + LOOKS),
    Example(
        "looks with a judge",
        judged_means,
        "",
        LOOKS + "; result = found.interval",
        ["found = compare_values({'a': people}).means"],
    ),
    Example(
        "looks with a judge",
        judged_comparison,
        "",
        LOOKS + RESULT,
        [
            """
kept = ~numpy.isnan(people)
found = compare_rankers(
    people[kept], {name: one[kept] for name, one in rankers.items()}, qid=qid[kept],
    measure=measure, zero_division=zero_division,
)
"""
        ],
    ),
    Example("values beyond bounds", values, "bounds = (0, 0.5)", INTERVALS, [""]),
    Example("values beyond bounds", table, "bounds = (0.5, 1)", COMPARE_VALUES, [""]),
    Example("result without looks", scores, FAMILIES, COMPARE + LOOKS),
    Example("values without bounds", values, "values *= 5", INTERVALS + LOOKS),
    Example("values without bounds", scores, "measure = 'dcg@3'", COMPARE + LOOKS),
    Example("shapes of judged values", values, "judge = judge[1:]", JUDGED_INTERVALS),
    Example(
        "few judged values",
        values,
        "people = people[:4]; judge = judge[:4]",
        JUDGED_INTERVALS,
    ),
]

EXAMPLES = [
    *OF_ARGUMENTS,
    *OF_RUNS,
    *OF_JUDGES,
    *OF_RANKED,
    *OF_VALUES,
    *OF_MEANS,
]
