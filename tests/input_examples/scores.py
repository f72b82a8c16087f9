"""Labels and scores that are measured, measures and scorers."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from lowrank_rank import (
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)

from . import Example

# Labels -----------------------------------------------------------------------------


def grades():
    """Six queries of four documents."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 24).astype(float)
    y[::4] = 2.0
    return {
        "y_true": y,
        "y_score": rng.normal(size=24),
        "qid": np.repeat(np.arange(6), 4),
        "measure": "ndcg",
        "k": None,
        "target_loss": "ndcg",
        "labels": "graded",
        "params": {},
        "X": rng.normal(size=(24, 3)),
    }


def preferences():
    """Weights of pairs of four items in five lists."""
    rng = np.random.default_rng(1)
    y = np.triu(rng.integers(1, 9, (5, 4, 4)), 1).astype(float)
    return {
        "y_true": y,
        "y_score": rng.normal(size=(5, 4)),
        "measure": "pd",
        "X": rng.normal(size=(5, 2)),
    }


MEASURE = """
from lowrank_rank.metrics import measure_score
result = measure_score(measure, y_true, y_score, qid=globals().get('qid'))
"""
WITH_PARAMS = """
from lowrank_rank.metrics import measure_score
result = measure_score(measure, y_true, y_score, qid=qid, **params)
"""
OF_YOUR_OWN = """
from lowrank_rank.target_losses import NDCG
class Mine(NDCG):
    pass
Mine.labels = labels
result = Mine().measure(y_true, y_score, qid=qid)
"""
PER_QUERY = """
from lowrank_rank.evaluation import per_query
result = per_query(y_true, y_score, qid=qid, measure=measure, k=k)
"""
SCORER = "result = str(make_ranking_scorer(measure, **params))"
FIT = """
model = lowrank_rank.LowRankSurrogateRanker(target_loss=target_loss)
result = model.fit(X, y_true, qid=qid).predict(X)
"""
#: The weight of the pair (2, 1) of the first list, given as minus that of (1, 2).
OPPOSITE = "y_true[0, 2, 1] = -y_true[0, 1, 2]; y_true[0, 1, 2] = 0.0"
OWN = "y_true[2, 3, 3] = 5.0"
EXPONENTIAL = "measure = 'ndcg_exp'; y_true[3] = 1e4"

OF_LABELS = [
    Example(
        "preferences of a measure of grades", preferences, "measure = 'ndcg'", MEASURE
    ),
    Example(
        "preferences that are not square",
        preferences,
        "y_true = y_true[:, :, :3]",
        MEASURE,
    ),
    Example("negative preferences", preferences, OPPOSITE, MEASURE, [""]),
    Example(
        "negative preferences",
        preferences,
        OPPOSITE + "; y_true = y_true.tolist()",
        MEASURE,
        [""],
    ),
    Example("preferences of an item over itself", preferences, OWN, MEASURE, [""]),
    Example(
        "preferences of an item over itself",
        preferences,
        OWN + "; y_true = y_true.tolist()",
        MEASURE,
        [""],
    ),
    Example("unknown kind of labels", grades, "labels = 'grades'", OF_YOUR_OWN),
    Example("negative grades", grades, "y_true[7] = -1", MEASURE),
    Example("negative grades", grades, "y_true = -y_true; target_loss = 'map'", FIT),
    Example("high grades", grades, EXPONENTIAL, MEASURE),
    Example("high grades", grades, "measure = 'err'; y_true[3] = 5", MEASURE),
]

# Measures ---------------------------------------------------------------------------

OF_MEASURES = [
    Example("not a measure", grades, "measure = len", MEASURE),
    Example("not a measure", grades, "measure = None", SCORER),
    Example("only a measure", grades, "target_loss = 'mrr'", FIT),
    Example(
        "only a measure",
        grades,
        "target_loss = make_ranking_scorer('mrr').measure",
        FIT,
    ),
    Example("name of a measure elsewhere", grades, "measure = 'bpref'", MEASURE),
    Example("unknown name of a measure", grades, "measure = 'ncdg@10'", SCORER),
    Example("unknown name of a measure", grades, "target_loss = 'precision'", FIT),
    Example("name without a cut-off", grades, "measure = 'ndcg@'", MEASURE),
    Example("cut-off in a name", grades, "measure = 'ndcg@ten'", MEASURE),
    Example("cut-off in a name", grades, "measure = 'precision@0%'", SCORER),
    Example("no measure", grades, "measure = []", SCORER),
    Example("no measure", grades, "measure = {}", PER_QUERY),
    Example("no cut-off", grades, "k = []", PER_QUERY, ["k = [10]", ""]),
    Example(
        "cut-offs of no measure",
        grades,
        "measure = ['ndcg@2', 'auc']; k = 3",
        PER_QUERY,
        ["measure = ['ndcg@2', 'auc']"],
    ),
    Example(
        "parameter with two values",
        grades,
        "measure = 'ndcg@5'; params = {'k': 10}",
        SCORER,
    ),
    Example(
        "parameter of no measure",
        grades,
        "measure = ['auc', 'ndcg']; params = {'depth': 10}",
        SCORER,
    ),
    Example(
        "parameter with two values",
        grades,
        "measure = 'precision@5'; params = {'k': 10}",
        WITH_PARAMS,
    ),
    Example(
        "parameter of no measure",
        grades,
        "measure = 'precision@5'; params = {'share': 0.5}",
        WITH_PARAMS,
    ),
]

# Models under a scorer --------------------------------------------------------------


class AsArray(RegressorMixin, BaseEstimator):
    """A tool that loses the index of a Series, and passes on a `ranking_target`."""

    def fit(self, X, y):
        y = y if y.__class__.__module__ == "numpy" else np.asarray(y)
        self.estimator_ = OrderPreservingRegressor().fit(X, y)
        return self

    def predict(self, X):
        return self.estimator_.predict(X)


def scored():
    """Grades with their ids, a model fitted with both, and its scorer."""
    clean = grades()
    target = ranking_target(clean["y_true"], clean["qid"])
    return {
        "X": clean["X"],
        "y": target,
        "grades": clean["y_true"],
        "qid": clean["qid"],
        "estimator": OrderPreservingRegressor(),
        "scoring": make_ranking_scorer("ndcg@3"),
        "folds": [(np.arange(12), np.arange(12, 24))],
        "one_list": False,
    }


def lists_of_one():
    """The same rows, of one list."""
    clean = scored()
    zeros = np.zeros(24)
    return {**clean, "y": ranking_target(clean["grades"], zeros), "qid": zeros}


CROSS_VAL = """
from sklearn.model_selection import cross_val_score
result = cross_val_score(
    estimator, X, y, cv=folds, scoring=scoring, error_score='raise'
)
"""
FITTED = """
fitted = sklearn.clone(estimator).fit(X, grades, qid=qid)
result = scoring(fitted, X, y)
"""
#: A model that says nothing of lists.
RIDGE = """
from sklearn.linear_model import Ridge
result = scoring(Ridge().fit(X, grades), X, y)
"""
TOOL = "from sklearn.base import clone; fitted = clone(estimator).fit(X, y)\n"
TOOL += "result = scoring(fitted, X, y)"
COMPARED = """
from sklearn.linear_model import Ridge
from lowrank_rank.evaluation import compare_rankers
rankers = {'ridge': Ridge().fit(X, grades), 'first': X[:, 0]}
result = compare_rankers(y_true, rankers, X=X).mean
"""


def compared():
    clean = scored()
    return {**clean, "y_true": clean["y"]}


def bagged():
    clean = scored()
    return {**clean, "estimator": AsArray()}


SERIES = """
index = pandas.MultiIndex.from_arrays([qid, numpy.arange(24)], names=['qid', 'row'])
y = pandas.Series(grades, index)
"""
PLAIN = "estimator = estimator.estimator; y = grades; "
SHARE = "scoring = make_ranking_scorer('{}@5%')"
COUNT = "scoring = make_ranking_scorer('{}@2'{})"
COMPARED_CASES = """
from lowrank_rank.evaluation import compare_rankers
rankers['a'].fit(X, y_true)
result = compare_rankers(y_true, rankers, X=X, measure='precision@2').mean
"""


def cases_of_days():
    """Cases of days, of which two a day are checked, and a classifier."""
    clean = scored()
    grades = (clean["grades"] > 0).astype(int)
    return {
        **clean,
        "y": ranking_target(grades, clean["qid"]),
        "grades": grades,
        "estimator": WrappedRanker(LogisticRegression()),
        "scoring": make_ranking_scorer("precision@2"),
    }


def cases_of_a_perceptron():
    """The same, for a classifier that takes ids."""
    model = PrecisionAtKPerceptron(target_loss="precision@50%", random_state=0)
    return {**cases_of_days(), "estimator": model}


def compared_cases():
    """The same, beside a feature."""
    clean = cases_of_days()
    rankers = {"a": clean["estimator"], "b": clean["X"][:, 0]}
    return {**clean, "y_true": clean["y"], "rankers": rankers}


OF_MODELS = [
    Example(
        "measure as a scorer",
        scored,
        "scoring = lowrank_rank.metrics.ndcg_score",
        CROSS_VAL,
        ["scoring = make_ranking_scorer('ndcg')"],
    ),
    Example("ids lost by a tool", bagged, SERIES, TOOL, [""]),
    Example(
        "ids lost by a tool",
        bagged,
        SERIES + "y = y.rename_axis(['query_id', 'row'])",
        CROSS_VAL,
        [""],
    ),
    Example("no ids for a scorer", scored, "y = grades", FITTED, [""]),
    Example("no ids for a scorer", scored, "y = grades.tolist()", FITTED, [""]),
    Example("no ids for a scorer", scored, "y = pandas.Series(grades)", FITTED, [""]),
    Example("no ids for a scorer", scored, "y = polars.Series(grades)", FITTED, [""]),
    Example("no ids for a scorer", lists_of_one, "y = grades", FITTED, [""]),
    Example(
        "one list or several",
        scored,
        "y = grades",
        RIDGE,
        ["", "y = ranking_target(grades, numpy.zeros(24))"],
    ),
    Example(
        "one list or several",
        scored,
        "y = pandas.Series(grades)",
        RIDGE,
        ["", "y = ranking_target(grades, numpy.zeros(24))"],
    ),
    Example("one list or several", compared, "y_true = grades", COMPARED, [""]),
    *(
        Example(
            "count of the rows of a fold",
            cases_of_days,
            PLAIN + kind,
            CROSS_VAL,
            [
                kind,
                PLAIN + SHARE.format(word),
                PLAIN + COUNT.format(word, ", one_list=True"),
            ],
        )
        for kind, word in (("", "precision"), (COUNT.format("recall", ""), "recall"))
    ),
    Example(
        "count of the rows of a fold",
        cases_of_a_perceptron,
        "y = grades",
        CROSS_VAL,
        [
            "",
            "y = grades; " + SHARE.format("precision"),
            "y = grades; " + COUNT.format("precision", ", one_list=True"),
        ],
    ),
    Example(
        "count of the rows of a fold",
        compared_cases,
        "rankers['a'] = rankers['a'].estimator; y_true = grades",
        COMPARED_CASES,
        [""],
    ),
]

# Classes ----------------------------------------------------------------------------


def classes():
    """Forty letters, a quarter of them spam, and a model of names."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    is_spam = X[:, 0] + rng.normal(size=40) > 0.7
    y = np.where(is_spam, "spam", "ham")
    return {
        "X": X,
        "y": y,
        "y_true": is_spam,
        "is_spam": is_spam,
        "qid": np.repeat(np.arange(4), 10),
        "estimator": LogisticRegression(),
        "scoring": make_ranking_scorer("precision@5", pos_label="spam", one_list=True),
        "rankers": None,
    }


def perceptron():
    clean = classes()
    model = PrecisionAtKPerceptron(pos_label="ham", random_state=0)
    return {**clean, "estimator": model.fit(clean["X"], clean["y"])}


def compared_classes():
    clean = classes()
    model = LogisticRegression().fit(clean["X"], clean["y"])
    scores = model.predict_proba(clean["X"])[:, 1]
    return {**clean, "model": model, "rankers": {"a": scores, "b": clean["X"][:, 0]}}


def compared_decisions():
    clean = classes()
    model = RidgeClassifier().fit(clean["X"], clean["y"])
    scores = model.decision_function(clean["X"])
    return {**clean, "model": model, "rankers": {"a": scores, "b": clean["X"][:, 0]}}


CLASSIFIER = "result = scoring(sklearn.clone(estimator).fit(X, y), X, y)"
COMPARE = """
from lowrank_rank.evaluation import compare_rankers
result = compare_rankers(y_true, rankers, X=X, qid=qid, measure='precision@3').means.mean
"""
OF_HAM = "scoring.set_params(pos_label='ham')"
HAM = "rankers['a'] = -rankers['a']; y_true = ~is_spam"
#: As the first class, where the labels stay those of spam.
REVERSED = "rankers['a'] = -rankers['a']"
MODEL = "rankers['a'] = model; "

OF_CLASSES = [
    Example("several scores of a row", classes, "y = numpy.arange(40) % 3", CLASSIFIER),
    Example(
        "two relevant classes",
        perceptron,
        "",
        "result = scoring(estimator, X, y)",
        [OF_HAM],
    ),
    Example(
        "names of classes",
        classes,
        "scoring.set_params(pos_label=None)",
        CLASSIFIER,
        [OF_HAM, ""],
    ),
    Example(
        "names of classes",
        classes,
        "scoring.set_params(pos_label=None); y = y.tolist()",
        CLASSIFIER,
        [OF_HAM, ""],
    ),
    Example(
        "names of classes",
        perceptron,
        "y = is_spam; scoring.set_params(pos_label=None)",
        "result = scoring(estimator, X, y)",
    ),
    Example("names of classes", compared_classes, MODEL, COMPARE, [REVERSED, ""]),
    Example("names of classes", compared_decisions, MODEL, COMPARE, [REVERSED, ""]),
    Example(
        "names of classes", compared_classes, MODEL + "y_true = y", COMPARE, [HAM, ""]
    ),
    Example(
        "names of classes",
        compared_decisions,
        MODEL + "y_true = y.tolist()",
        COMPARE,
        [HAM, ""],
    ),
    Example(
        "names of classes",
        compared_classes,
        MODEL + "y_true = pandas.Series(y)",
        COMPARE,
        [HAM, ""],
    ),
    Example(
        "names of classes",
        compared_classes,
        MODEL + "y_true = pandas.Series(y, dtype='category')",
        COMPARE,
        [HAM, ""],
    ),
    Example(
        "names of classes",
        compared_classes,
        MODEL + "y_true = polars.Series(y)",
        COMPARE,
        [HAM, ""],
    ),
    Example(
        "unknown relevant class",
        classes,
        "scoring.set_params(pos_label='Spam')",
        CLASSIFIER,
    ),
]

EXAMPLES = [*OF_LABELS, *OF_MEASURES, *OF_MODELS, *OF_CLASSES]
