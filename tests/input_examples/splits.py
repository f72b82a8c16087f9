"""Splits, curves and importances by whole queries."""

import numpy as np

from lowrank_rank import OrderPreservingRegressor, ranking_target

from . import Example


def documents():
    """Six queries of four documents, with three features, a day each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 24).astype(float)
    y[::4] = 0.0
    qid = np.repeat(np.arange(6), 4)
    days = np.datetime64("2024-01-28") + np.array([3, 0, 5, 1, 4, 2])
    return {
        "X": rng.normal(size=(24, 3)),
        "y": y,
        "qid": qid,
        "groups": qid,
        "time": days[qid],
        "days": days[qid],
        "n_splits": 3,
        "train_sizes": [2, 4],
        "model": OrderPreservingRegressor(),
    }


def matrices():
    """Six lists of four items."""
    rng = np.random.default_rng(1)
    return {
        **documents(),
        "X": rng.normal(size=(6, 3)),
        "y": rng.integers(0, 3, (6, 4)),
        "qid": None,
        "groups": np.arange(6),
        "time": np.arange(6)[::-1],
        "model": lowrank_ranker(),
    }


def lowrank_ranker():
    from lowrank_rank import LowRankSurrogateRanker

    return LowRankSurrogateRanker()


PARTS = """
from lowrank_rank.model_selection import query_train_test_split
parts = query_train_test_split(*arrays, qid=qid, random_state=0)
result = numpy.ravel(parts[0])
"""
BY_TIME = """
from lowrank_rank.model_selection import QueryTimeSeriesSplit
parts = QueryTimeSeriesSplit(n_splits).split(X, y, groups, time=time)
result = numpy.concatenate([rows for part in parts for rows in part])
"""
CURVE = """
from lowrank_rank.model_selection import query_learning_curve
result = numpy.concatenate(query_learning_curve(
    model, X, y, qid=qid, train_sizes=train_sizes, cv=3, random_state=0
)[1:])
"""
IMPORTANCE = """
from lowrank_rank.model_selection import query_permutation_importance
fitted = sklearn.clone(model).fit(numpy.asarray(X if not hasattr(X, "toarray") else X.toarray()), y, qid=qid)
result = query_permutation_importance(
    fitted, X, y, qid=qid, random_state=0
).importances
"""


def arrays():
    clean = documents()
    return {**clean, "arrays": [clean["X"], clean["y"]]}


def dated():
    """Grades that carry their ids and times."""
    clean = documents()
    return {
        **clean,
        "y": ranking_target(clean["y"], clean["qid"], time=clean["time"]),
        "groups": None,
        "time": None,
    }


#: Times in another order than those of `dated`.
OTHER_TIMES = "time = numpy.repeat(numpy.arange(6), 4)"
#: What time there is, as text of the ids.
IDS_ARE_DAYS = "time = None; groups = days.astype(str)"

EXAMPLES = [
    Example("no array to split", arrays, "arrays = []", PARTS),
    Example("ids that are not a column", arrays, "qid = 'query'", PARTS),
    Example(
        "ids that are not a column",
        arrays,
        "arrays[0] = pandas.DataFrame(X); qid = 'query'",
        PARTS,
    ),
    Example("arrays without ids", arrays, "qid = None", PARTS),
    Example("one query to split", arrays, "qid = numpy.zeros(24)", PARTS),
    Example("few starting times", documents, "n_splits = 6", BY_TIME),
    Example("few starting times", documents, "time = numpy.ones(24)", BY_TIME),
    Example("queries of a matrix", matrices, "groups = None", BY_TIME, [""]),
    Example(
        "queries of a matrix",
        matrices,
        "groups = None; y = pandas.DataFrame(y); X = scipy.sparse.csr_array(X)",
        BY_TIME,
        [""],
    ),
    Example("rows without groups", documents, "groups = None", BY_TIME, [""]),
    Example(
        "rows without groups",
        documents,
        "groups = None; y = pandas.Series(y)",
        BY_TIME,
        [""],
    ),
    Example("rows without groups", documents, "groups = y = None", BY_TIME, [""]),
    Example(
        "times given twice",
        dated,
        OTHER_TIMES,
        BY_TIME,
        ["", "y = numpy.zeros(24); groups = qid; " + OTHER_TIMES],
    ),
    Example("rows without times", documents, "time = None", BY_TIME),
    Example("rows without times", documents, IDS_ARE_DAYS, BY_TIME, [""]),
    Example(
        "rows without times",
        documents,
        IDS_ARE_DAYS + ".tolist()",
        BY_TIME,
        [""],
    ),
    Example(
        "rows without times",
        documents,
        IDS_ARE_DAYS + "; groups = pandas.Series(groups)",
        BY_TIME,
        [""],
    ),
    Example(
        "rows without times",
        documents,
        IDS_ARE_DAYS + "; groups = polars.Series(groups)",
        BY_TIME,
        [""],
    ),
    Example(
        "rows without times",
        documents,
        "time = None; groups = None; y = ranking_target(y, days.astype(str))",
        BY_TIME,
        [""],
    ),
    Example(
        "rows without times",
        documents,
        "time = None; groups = [day.strftime('%d.%m.%Y') for day in days.tolist()]",
        BY_TIME,
    ),
    Example(
        "sparse features to permute",
        documents,
        "X = scipy.sparse.csr_array(X)",
        IMPORTANCE,
        [""],
    ),
    Example(
        "sparse features to permute",
        documents,
        "X = scipy.sparse.coo_matrix(X)",
        IMPORTANCE,
        [""],
    ),
    Example("lists to permute", matrices, "", IMPORTANCE),
    Example("ids of a matrix", matrices, "qid = numpy.arange(6)", CURVE, [""]),
    Example(
        "ids of a matrix",
        matrices,
        "y = polars.DataFrame(y); qid = polars.Series(numpy.arange(6))",
        CURVE,
        [""],
    ),
    Example("documents without ids", documents, "qid = None", CURVE),
    Example("documents without ids", documents, "qid = None; y = list(y)", CURVE),
    Example("sizes of training parts", documents, "train_sizes = [2, 50]", CURVE),
    Example("sizes of training parts", documents, "train_sizes = []", CURVE),
    Example("sizes of training parts", documents, "train_sizes = [0.5, 1.5]", CURVE),
]
