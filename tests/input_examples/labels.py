"""Labels, weights and scores, in each kind of table."""

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    WrappedRanker,
    ranking_target,
)

from . import Example
from .features import FRAME, POLARS
from .kinds import FIT, documents

SCORE = "result = model.score(X, y, qid=qid, sample_weight=sample_weight)"
FIT_CLASSES = "result = model.fit(X, y).predict(X)"
SCORE_ONE_LIST = "result = model.score(X, y, qid=qid, one_list=one_list)"
FIT_ONE_LIST = "result = model.fit(X, y, qid=qid, one_list=one_list).predict(X)[:5]"
FIT_TARGET = "result = model.fit(X, y, one_list=one_list).predict(X)[:5]"
MEASURE_ONE_LIST = (
    "result = lowrank_rank.metrics.ndcg_score(y, X[:, 0], qid=qid, one_list=one_list)"
)
RANK = "result = model.rank(X, qid=qid, one_list=one_list)"
NDCG = "result = lowrank_rank.metrics.ndcg_score(y_true, y_score)"
TARGET = "result = ranking_target(y, qid)\nresult = [result['y'].tolist(), result['qid'].tolist()]"
WITHOUT_5 = (
    "X = numpy.delete(X, 5, axis=0)\ny = numpy.delete(y, 5)\nqid = numpy.delete(qid, 5)"
)
FIT_TO_5 = FIT + "result = result[:5]"
WEIGHTS = "numpy.arange(1.0, 7.0)"


def items():
    """Grades of three items in 24 queries."""
    rng = np.random.default_rng(1)
    return {
        "X": rng.normal(size=(24, 3)),
        "y": rng.integers(0, 4, size=(24, 3)).astype(float),
        "qid": None,
        "sample_weight": None,
        "model": LowRankSurrogateRanker(target_loss="dcg@10", alpha=0.1),
    }


def fitted():
    """Documents and a model that is fitted to them with query ids."""
    data = documents()
    data["model"].fit(data["X"], data["y"], qid=data["qid"])
    return {**data, "one_list": False}


def fitted_without_ids():
    """Documents and a model that is fitted to them as one list."""
    data = documents()
    data["model"].fit(data["X"], data["y"])
    return data


def fitted_items():
    """Documents and a model of items."""
    data = items()
    data["model"].fit(data["X"], data["y"])
    return data


def documents_or_one_list():
    """Documents that may be one list."""
    return {**documents(), "one_list": False}


def items_or_one_list():
    """Items, of which each row is a list."""
    return {**items(), "one_list": False}


def many_rows():
    """240 documents with their ids."""
    data = documents()
    y = np.tile(data["y"], 10)
    qid = np.repeat(np.arange(60), 4)
    return {
        "X": np.arange(720.0).reshape(240, 3) % 7,
        "grades": y,
        "y": ranking_target(y, qid),
        "qid": qid,
        "model": data["model"],
        "one_list": False,
    }


def selection():
    """The same, and a selection of features by their classes."""
    data = many_rows()
    model = make_pipeline(SelectKBest(k=2), data["model"])
    return {**data, "model": WrappedRanker(model)}


def many_rows_of_a_fit():
    """The same, and a model of few rows without ids."""
    data = many_rows()
    data["model"].fit(data["X"][:50], data["grades"][:50])
    return data


def classes():
    """Documents of three classes."""
    data = documents()
    return {**data, "model": LowRankSurrogateClassifier()}


def scores():
    """Labels and scores of four lists of three items."""
    rng = np.random.default_rng(2)
    return {"y_true": rng.integers(0, 4, (4, 3)), "y_score": rng.normal(size=(4, 3))}


def scores_of_rows():
    """Labels and scores of one list."""
    rng = np.random.default_rng(2)
    return {"y_true": rng.integers(0, 2, 12), "y_score": rng.normal(size=12)}


def grades():
    """Grades and ids for a ranking target."""
    return {"y": np.array([2.0, 0.0, 1.0, 1.0]), "qid": np.array([7, 7, 8, 8])}


def distributions():
    """Distributions over the six orders of three items."""
    rng = np.random.default_rng(0)
    p = rng.random((5, 2))
    return {"probabilities": p / p.sum(axis=1, keepdims=True)}


EXAMPLES = [
    # Values
    Example(
        "masked values",
        items,
        "y = numpy.ma.masked_array(y, numpy.arange(72).reshape(24, 3) == 5)",
        FIT,
        ["y[1, 2] = numpy.nan"],
    ),
    Example(
        "masked values",
        documents,
        "sample_weight = numpy.ma.masked_array(numpy.ones(24), numpy.arange(24) == 5)",
        FIT,
    ),
    Example(
        "dates instead of numbers",
        documents,
        "y = numpy.array(['2024-01-01'] * 24, dtype='datetime64[D]')",
        FIT,
    ),
    *(
        Example("text instead of numbers", documents, fault, FIT, [""])
        for fault in (
            "y = y.astype(str)",
            "y = y.astype(str).tolist()",
            "y = pandas.Series(y).astype(str)",
            "y = polars.Series(y).cast(polars.String)",
            "y = y.astype(object)\ny[3] = str(y[3])\ny[4] = str(y[4])",
        )
    ),
    *(
        Example(
            "text instead of numbers",
            documents,
            fault,
            FIT,
            ["y = 1.0 * (y > 0)", "y = 1.0 * (y == 0)"],
        )
        for fault in (
            "y = numpy.where(y > 0, 'good', 'poor')",
            "y = numpy.where(y > 0, 'good', 'poor').tolist()",
            "y = pandas.Series(numpy.where(y > 0, 'good', 'poor'))",
            "y = polars.Series(numpy.where(y > 0, 'good', 'poor').tolist())",
        )
    ),
    Example("text instead of numbers", documents, "y = 'grade'", FIT),
    Example(
        "text instead of numbers",
        documents,
        "y = ['good', 'poor', 'fair'] * 8",
        FIT,
    ),
    Example("dict instead of numbers", documents, "y = dict(enumerate(y))", FIT),
    Example(
        "sets instead of numbers",
        items,
        "y = [{j for j in range(3) if row[j] > 1} for row in y]",
        FIT,
        ["y = 1.0 * (y > 1)"],
    ),
    Example(
        "objects instead of numbers",
        documents,
        "y = y.astype(object)\ny[3] = 10**400",
        FIT,
    ),
    # Labels
    Example("no labels", documents, "y = None", FIT),
    Example("ragged labels", items, "y = [*y.tolist()[1:], [0.0]]", FIT),
    Example(
        "long table of grades",
        items,
        "y = pandas.DataFrame(y, columns=['a', 'b', 'c'])\n"
        "y = y.melt(ignore_index=False).reset_index(names='query')",
        FIT,
        ["y = pandas.DataFrame(y, columns=['a', 'b', 'c'])"],
    ),
    Example(
        "long table of grades",
        items,
        "y = polars.DataFrame(y, schema=['a', 'b', 'c'])\n"
        "y = y.with_row_index('query').unpivot(index='query')",
        FIT,
        ["y = pandas.DataFrame(y, columns=['a', 'b', 'c'])"],
    ),
    *(
        Example(
            "long table of grades",
            items,
            frame.replace("X", "y") + added,
            FIT,
            [""],
        )
        for frame, added in (
            (FRAME, "y['judge'] = ['Ann', 'Bob'] * 12"),
            (POLARS, "y = y.with_columns(judge=polars.Series(['Ann', 'Bob'] * 12))"),
        )
    ),
    *(
        Example("ids beside grades", items, frame.replace("X", "y") + added, FIT, [""])
        for frame, added in (
            (FRAME, "y['query_id'] = numpy.arange(24)"),
            (POLARS, "y = y.with_columns(query_id=polars.Series(range(24)))"),
        )
    ),
    Example(
        "ids beside grades",
        documents,
        "y = pandas.DataFrame({'grade': y, 'qid': qid})\nqid = None",
        FIT,
        ["", "qid = None"],
    ),
    Example(
        "ids beside grades",
        documents,
        "y = polars.DataFrame({'grade': y, 'qid': qid})\nqid = None",
        FIT,
        ["", "qid = None"],
    ),
    Example(
        "other fields than a ranking target",
        documents,
        "y = numpy.array(list(zip(y, qid)), dtype=[('grade', float), ('qid', int)])\n"
        "qid = None",
        FIT,
    ),
    *(
        Example(
            "ids in the index of X alone",
            documents,
            f"X = pandas.DataFrame(X, index=pandas.Index(qid, name='qid'))\nqid = None{more}",
            FIT,
            [""],
        )
        for more in ("", "\ny = polars.Series(y)")
    ),
    Example(
        "two different qid",
        documents,
        "y = ranking_target(y, qid)\nqid = numpy.repeat(numpy.arange(4), 6)",
        FIT,
        [""],
    ),
    Example("four dimensions", items, "y = y[:, :, None, None]", FIT),
    Example(
        "sparse grades of documents",
        scores_of_rows,
        "y_true = scipy.sparse.csr_array(y_true[:, None])",
        NDCG,
        [""],
    ),
    Example(
        "sparse grades that are not positive",
        scores,
        "y_true = scipy.sparse.csr_array(-1.0 * y_true)",
        NDCG,
    ),
    # Labels of classes
    Example(
        "masked classes", classes, "y = numpy.ma.masked_array(y, y == 1)", FIT_CLASSES
    ),
    Example("sets of classes", classes, "y = [{label} for label in y]", FIT_CLASSES),
    Example(
        "sets of classes",
        classes,
        "y = [[0, 1], *([one] for one in y[1:])]",
        FIT_CLASSES,
    ),
    *(
        Example("missing class", classes, fault, FIT_CLASSES)
        for fault in (
            "y = numpy.where(y == 1, numpy.nan, y)",
            "y = [None, *y[1:].tolist()]",
            "y = pandas.Series([None, *y[1:].astype(str)], dtype='string')",
            "y = polars.Series([None, *y[1:].astype(str).tolist()])",
        )
    ),
    # Rows
    Example(
        "labels of queries",
        documents,
        "y = y.reshape(6, 4)",
        FIT,
        [""],
    ),
    Example("another number of rows", documents, "y = y[:-1]", FIT),
    Example("another number of rows", fitted, "X = X[:-1]", SCORE),
    Example("X without rows", fitted, "X = None", SCORE),
    Example("X is a dict", fitted, "X = dict(zip('abc', X.T))", SCORE, [""]),
    Example("ids beside a matrix", items, "qid = numpy.arange(24)", FIT, [""]),
    # Missing judgements
    *(
        Example("missing labels", documents, fault, FIT_TO_5, [WITHOUT_5])
        for fault in (
            "y[5] = numpy.nan",
            "y[5] = numpy.nan\nX = X.tolist()\ny = y.tolist()\nqid = qid.tolist()",
            FRAME + "y[5] = numpy.nan\ny = pandas.Series(y)\nqid = pandas.Series(qid)",
            FRAME + "y[5] = numpy.nan\ny = pandas.Series(y, dtype='Float64')",
            POLARS + "y[5] = numpy.nan\ny = polars.Series(y)\nqid = polars.Series(qid)",
            "y[5] = numpy.nan\nX = scipy.sparse.csr_array(X)",
            "y[5] = numpy.nan\ny = ranking_target(y, qid)\nqid = None",
        )
    ),
    Example(
        "missing preferences",
        lambda: {**items(), "model": LowRankSurrogateRanker(target_loss="pd")},
        "y = 1.0 * (y[:, :, None] > y[:, None, :])\ny[0, 0, 1] = numpy.nan",
        FIT,
        [
            "y = 1.0 * (y[:, :, None] > y[:, None, :])\ny[0, 0, 1] = 0.0",
        ],
    ),
    Example(
        "missing judgements",
        lambda: {**items(), "model": LowRankSurrogateRanker(alpha=0.1)},
        "y[1, 2] = numpy.nan",
        FIT,
    ),
    *(
        Example(
            "item never judged",
            items,
            "y[:, 1] = numpy.nan\n" + frame,
            FIT,
            ["y = y[:, [0, 2]]"],
        )
        for frame in (
            "",
            FRAME.replace("X", "y"),
            POLARS.replace("X", "y"),
            "y = y.tolist()",
        )
    ),
    # Scores of a fitted model
    Example("documents for a model of items", fitted_items, "y = y[:, 0]", SCORE),
    Example(
        "ids lost in fit",
        fitted_without_ids,
        "y = ranking_target(y, qid)\nqid = None",
        SCORE,
    ),
    Example(
        "ids lost in score",
        fitted,
        "qid = None",
        SCORE_ONE_LIST,
        ["qid = numpy.zeros(24)"],
    ),
    Example(
        "ids lost in score",
        fitted,
        "qid = None",
        RANK,
        ["qid = numpy.zeros(24)"],
    ),
    # One list
    Example(
        "one list of fixed items",
        items_or_one_list,
        "one_list = True",
        FIT_ONE_LIST,
        [""],
    ),
    *(
        Example(
            "one list with ids",
            documents_or_one_list,
            "one_list = True",
            call,
            ["", "one_list = True; qid = None"],
        )
        for call in (FIT_ONE_LIST, MEASURE_ONE_LIST)
    ),
    Example(
        "one list with ids",
        documents_or_one_list,
        "y = ranking_target(y, qid); qid = None; one_list = True",
        FIT_ONE_LIST,
        ["", "one_list = True; qid = None"],
    ),
    *(
        Example(
            "many rows without ids",
            many_rows,
            plant,
            FIT_TARGET,
            ["", "y = grades; one_list = True"],
        )
        for plant in ("y = grades", "y = grades.tolist()", "y = pandas.Series(grades)")
    ),
    Example(
        "many rows without ids",
        many_rows_of_a_fit,
        "y = grades",
        "model.fit(X[:50], y[:50])\n" + "result = model.score(X, y, one_list=one_list)",
        ["", "y = grades; one_list = True"],
    ),
    Example(
        "rows of a target as classes",
        selection,
        "model = model.estimator",
        "result = model.fit(X, y).predict(X)[:5]",
        [""],
    ),
    # Weights
    *(
        Example(
            "weights of lists, not of rows",
            documents,
            f"qid = 5 - qid\nsample_weight = {WEIGHTS}{kind}",
            FIT,
            [
                f"qid = 5 - qid\nsample_weight = numpy.repeat({WEIGHTS}[::-1], 4)",
                f"qid = 5 - qid\nsample_weight = numpy.repeat({WEIGHTS}, 4)",
            ],
        )
        for kind in ("", ".tolist()")
    ),
    Example(
        "weights of lists, not of rows",
        documents,
        f"qid = polars.Series(qid)\nsample_weight = polars.Series({WEIGHTS})",
        FIT,
        [f"sample_weight = numpy.repeat({WEIGHTS}, 4)"] * 2,
    ),
    Example(
        "another number of weights", documents, "sample_weight = numpy.ones(23)", FIT
    ),
    Example(
        "negative weight",
        documents,
        "sample_weight = numpy.r_[-1.0, numpy.ones(23)]",
        FIT,
    ),
    Example("all weights zero", documents, "sample_weight = numpy.zeros(24)", FIT),
    *(
        Example(
            "weights out of range",
            documents,
            f"sample_weight = (numpy.repeat({WEIGHTS}, 4) * {scale}){kind}",
            FIT,
            [f"sample_weight = numpy.repeat({WEIGHTS}, 4) / 3.5"],
        )
        for scale, kind in (
            ("1e306", ""),
            ("1e307", ".tolist()"),
            ("1e-308", ""),
        )
    ),
    # Scores and probabilities
    Example(
        "another shape of scores",
        scores,
        "y_score = y_score[0]",
        NDCG,
        ["y_score[:] = y_score[0]"],
    ),
    Example(
        "another shape of scores",
        scores_of_rows,
        "y_score = numpy.column_stack([-y_score, y_score])",
        NDCG,
        [""],
    ),
    Example("another shape of scores", scores_of_rows, "y_score = y_score[1:]", NDCG),
    Example(
        "another shape of distributions",
        distributions,
        "probabilities = probabilities[0]",
        "from lowrank_rank.validation._labels import read_distributions\n"
        "result = read_distributions(probabilities, 2)",
    ),
    *(
        Example(
            "not a distribution",
            distributions,
            f"probabilities = (3.0 * probabilities){kind}",
            "from lowrank_rank.validation._labels import read_distributions\n"
            "result = read_distributions(probabilities, 2)",
            [""],
        )
        for kind in ("", ".tolist()")
    ),
    # Grades of a ranking target
    Example(
        "target instead of grades", grades, "y = ranking_target(y, qid)", TARGET, [""]
    ),
    Example(
        "text instead of grades",
        lambda: {**grades(), "qid": np.array(["a", "a", "b", "b"])},
        "y = y.astype(int)\ny, qid = qid, y",
        TARGET,
        [
            "",
            "y, qid = [1.0, 1.0, 0.0, 0.0], [2, 0, 1, 1]",
            "y, qid = [0.0, 0.0, 1.0, 1.0], [2, 0, 1, 1]",
        ],
    ),
    Example(
        "text instead of grades",
        grades,
        "y, qid = ['a7', 'a7', 'b8', 'c9'], y.astype(int)",
        TARGET,
        ["y, qid = [2, 0, 1, 1], ['a7', 'a7', 'b8', 'c9']"],
    ),
    *(
        Example(
            "text instead of grades",
            lambda: {**grades(), "qid": np.array(["a", "a", "b", "b"])},
            fault,
            TARGET,
            ["y = [1.0, 0.0, 1.0, 1.0]", "y = [0.0, 1.0, 0.0, 0.0]"],
        )
        for fault in (
            "y = numpy.array(['hit', 'miss', 'hit', 'hit'])",
            "y = ['hit', 'miss', 'hit', 'hit']",
            "y = pandas.Series(['hit', 'miss', 'hit', 'hit'])",
        )
    ),
    Example("grades that NumPy cannot read", grades, "y = [1, 2, {}, 4]", TARGET),
    Example("a matrix of grades", grades, "y = y.reshape(2, 2)", TARGET),
    Example("another number of grades", grades, "y = y[1:]", TARGET),
    Example(
        "another number of grades",
        grades,
        "qid = numpy.array([1, 3])",
        TARGET,
        ["qid = numpy.array([0, 1, 1, 1])"],
    ),
]
