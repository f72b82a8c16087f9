"""Models, parts, folds and curves that do not fit."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, Ridge

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.model_selection import QueryImportances

from . import Example


def documents():
    """Six queries of four documents, with three features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 24).astype(float)
    y[::4] = 0.0
    return {
        "X": rng.normal(size=(24, 3)),
        "y": y,
        "qid": np.repeat(np.arange(6), 4),
        "sample_weight": None,
        "estimator": LinearRegression(),
        "early_stopping": False,
        "options": {},
    }


WRAPPED = """
model = WrappedRanker(estimator, early_stopping=early_stopping)
model.fit(X, y, qid=qid, sample_weight=sample_weight, **options)
result = model.predict(X)
"""


class WithoutWeights(RegressorMixin, BaseEstimator):
    """A regressor whose fit takes no weights."""

    def fit(self, X, y):
        """Fit nothing."""
        return self

    def predict(self, X):
        """Predict the first feature."""
        return X[:, 0]


class DaskLGBMRanker(WithoutWeights):
    """A stand-in with the name of a class for clusters."""


BOOSTER = "type('Booster', (), {'__module__': 'lightgbm.basic'})()"

KEYWORDS = [
    Example(
        "arguments by position",
        documents,
        "",
        "result = OrderPreservingRegressor().fit(X, y, qid)",
    ),
    *[
        Example(
            "argument of another package", documents, f"options = {options}", WRAPPED
        )
        for options in (
            {"eval_set": []},
            {"eval_group": []},
            {"group": [4, 4]},
            {"init_model": None},
            {"n_estimators": 3},
            {"position": []},
        )
    ],
    Example("booster", documents, f"estimator = {BOOSTER}", WRAPPED),
    Example(
        "booster",
        documents,
        f"parts = [('a', estimator), ('b', {BOOSTER})]",
        "result = StackingRanker(parts).fit(X, y, qid=qid)",
    ),
    Example(
        "iterator",
        lambda: {**documents(), "cv": [(np.arange(12), np.arange(12, 24))]},
        "cv = iter(cv)",
        "parts = [('a', OrderPreservingRegressor()), ('b', estimator)]\n"
        "result = StackingRanker(parts, cv=cv).fit(X, y, qid=qid).predict(X)",
        [""],
    ),
]

MODELS_INSIDE = [
    Example(
        "matrix of grades",
        documents,
        "y = numpy.ones((24, 3)); qid = None",
        WRAPPED,
    ),
    Example(
        "model of clusters",
        lambda: {**documents(), "cluster": DaskLGBMRanker()},
        "estimator = cluster",
        WRAPPED,
    ),
    Example(
        "model without early stopping",
        documents,
        "early_stopping = True",
        WRAPPED,
        [""],
    ),
    Example(
        "model without sample weights",
        lambda: {**documents(), "estimator": WithoutWeights()},
        "sample_weight = numpy.ones(24)",
        WRAPPED,
    ),
]


def stack():
    """Parts of a stack, with a number of folds."""
    return {
        **documents(),
        "estimators": [("one", OrderPreservingRegressor()), ("two", Ridge())],
        "cv": 3,
        "weights": None,
        "params": {},
    }


STACK = """
model = StackingRanker(estimators, cv=cv, weights=weights)
model.set_params(**params)
model.fit(X, y, qid=qid, sample_weight=sample_weight)
result = model.predict(X)
"""


def items():
    """Grades of three items in each row."""
    arguments = stack()
    arguments["y"] = np.random.default_rng(1).integers(0, 2, size=(24, 3))
    arguments["qid"] = None
    arguments["estimators"] = [("one", LowRankSurrogateRanker())]
    arguments["weights"] = {"one": 1.0}
    arguments["forest"] = RandomForestClassifier()
    return arguments


STACKS = [
    Example(
        "part that fit makes",
        stack,
        "estimators = None; params = {'trees': OrderPreservingRegressor()}",
        STACK,
    ),
    Example(
        "settings of no default part",
        items,
        "estimators = {'forest__n_estimators': 9}; weights = None",
        STACK,
    ),
    Example(
        "sparse features of default parts",
        lambda: {
            **stack(),
            "estimators": None,
            "weights": {"linear": 1, "trees": 0, "forest": 0},
        },
        "X = scipy.sparse.csr_matrix(X)",
        STACK,
        [""],
    ),
    Example("weights of other parts", stack, "weights = {'one': 1.0}", STACK),
    Example("weights of other parts", stack, "weights = {'one': 0, 'two': 0}", STACK),
    Example(
        "classifier without scores of items",
        items,
        "estimators = [('forest', forest)]; weights = {'forest': 1.0}",
        STACK,
    ),
    Example(
        "model without sample weights",
        lambda: {**stack(), "part": WithoutWeights()},
        "estimators = [('part', part)]; sample_weight = numpy.ones(24)",
        STACK,
    ),
    Example(
        "lists cut by folds",
        lambda: {**stack(), "cv": 4},
        "cv = sklearn.model_selection.KFold(4)",
        STACK,
        ["cv = sklearn.model_selection.GroupKFold(4)"],
    ),
    Example(
        "lists cut by folds",
        stack,
        "cv = [(numpy.arange(10), numpy.arange(7, 24)), "
        "(numpy.arange(14, 24), numpy.arange(14))]",
        STACK,
        ["cv = sklearn.model_selection.GroupKFold(2)"],
    ),
    Example(
        "fold without weight",
        stack,
        "sample_weight = (qid < 3) * 1.0\n"
        "cv = [(numpy.arange(12), numpy.arange(12, 24))]",
        STACK,
    ),
]


def preferences():
    """Preferences of one list."""
    rng = np.random.default_rng(0)
    return {
        "preferences": rng.uniform(size=(4, 4)) * (1 - np.eye(4)),
        "item_names": None,
    }


MATRIX = """
import matplotlib
matplotlib.use("Agg")
display = lowrank_rank.plotting.PreferenceMatrixDisplay.from_preferences(
    preferences, item_names=item_names
)
result = [display.cost, *display.ranks]
matplotlib.pyplot.close()
"""


def queries():
    """A fitted ranker of items, and a query."""
    from lowrank_rank import PairwiseDAGRanker

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = rng.integers(0, 4, size=(20, 3))
    return {"estimator": PairwiseDAGRanker().fit(X, y), "X": X[:1], "rows": X}


QUERY = """
import matplotlib
matplotlib.use("Agg")
display = lowrank_rank.plotting.PreferenceMatrixDisplay.from_estimator(estimator, X)
result = display.preferences
matplotlib.pyplot.close()
"""


def curves():
    """Scores of three lists."""
    return {
        "y_true": [0, 1, 2, 1, 0, 0, 2, 0, 1],
        "y_score": [3, 1, 2, 1, 3, 2, 2, 1, 3],
        "qid": [0, 0, 0, 1, 1, 1, 2, 2, 2],
        "kind": "precision",
        "normalize": False,
        "relevance_threshold": None,
    }


CURVE = """
import matplotlib
matplotlib.use("Agg")
display = lowrank_rank.plotting.PrecisionAtKDisplay.from_predictions(
    y_true,
    y_score,
    qid=qid,
    kind=kind,
    normalize=normalize,
    relevance_threshold=relevance_threshold,
)
result = [display.k, display.values]
matplotlib.pyplot.close()
"""


def importances():
    found = QueryImportances(
        importances=np.array([[0.1, 0.2], [0.5, 0.3]]),
        feature_names=np.array(["a", "b"]),
    )
    return {"found": found}


IMPORTANCES = """
import matplotlib
matplotlib.use("Agg")
display = lowrank_rank.plotting.PermutationImportanceDisplay.from_importances(found)
result = display.importances
matplotlib.pyplot.close()
"""

DISPLAYS = [
    Example(
        "preferences of several lists",
        preferences,
        "preferences = preferences[numpy.newaxis].tolist()",
        MATRIX,
        [""],
    ),
    Example(
        "preferences of several lists",
        preferences,
        "preferences = numpy.zeros((2, 3, 3))",
        MATRIX,
    ),
    Example("names of drawn items", preferences, "item_names = ['a', 'b']", MATRIX),
    Example(
        "ranker without preferences",
        queries,
        "estimator = OrderPreservingRegressor()",
        QUERY,
    ),
    *[
        Example("several queries to draw", queries, fault, QUERY, [""])
        for fault in (
            "X = rows",
            "X = rows.tolist()",
            "X = pandas.DataFrame(rows).to_numpy()",
            "X = scipy.sparse.csr_matrix(rows)",
        )
    ],
    Example("parameter of another curve", curves, "normalize = True", CURVE, [""]),
    Example(
        "parameter of another curve",
        lambda: {**curves(), "kind": "gains"},
        "relevance_threshold = 2",
        CURVE,
        [""],
    ),
    Example(
        "lists without gain",
        lambda: {**curves(), "kind": "gains", "y_true": [0] * 9},
        "normalize = True",
        CURVE,
        [""],
    ),
    Example(
        "importances of several measures",
        importances,
        "found = {'ndcg@10': found, 'map': found}",
        IMPORTANCES,
        [""],
    ),
    Example("importances of several measures", importances, "found = 3", IMPORTANCES),
]

EXAMPLES = [*KEYWORDS, *MODELS_INSIDE, *STACKS, *DISPLAYS]
