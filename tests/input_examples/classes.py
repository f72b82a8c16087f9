"""Class labels, binary labels, sets of labels and costs of decisions."""

import numpy as np

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    PrecisionAtKPerceptron,
)
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)

from . import Example


def classes():
    """Forty-eight rows of three classes, with costs of the decisions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 2))
    index = np.digitize(X[:, 0] + 0.5 * rng.normal(size=48), [-0.5, 0.5])
    return {
        "X": X,
        "y": index,
        "words": np.array(["a", "b", "c"])[index],
        "classes": [0, 1, 2],
        "sample_weight": None,
        "loss_matrix": np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]]),
        "decisions": None,
        "estimator": "ridge",
        "model": LowRankSurrogateClassifier(estimator="ridge"),
    }


def stages():
    """The same rows with text as labels, and a frame of costs with names."""
    arguments = classes()
    labels = ["a", "b", "c"]
    import pandas as pd

    arguments["y"] = arguments["words"]
    arguments["classes"] = labels
    arguments["loss_matrix"] = pd.DataFrame(
        arguments["loss_matrix"], index=labels, columns=labels
    )
    return arguments


def hinge():
    """The same rows, for the structured hinge."""
    return {**classes(), "model": StructuredHingeClassifier(max_iter=200)}


def binary():
    """Forty-eight rows of two classes, with grades too."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(48, 2))
    grades = np.digitize(X[:, 0] + 0.3 * rng.normal(size=48), [0.0, 1.0])
    return {
        "X": X,
        "y": (grades > 0).astype(int),
        "grades": grades,
        "classes": [0, 1],
        "pos_label": None,
        "sample_weight": None,
        "model": PrecisionAtKPerceptron(target_loss="precision@50%"),
    }


def words():
    """The same rows with words as labels."""
    arguments = binary()
    arguments["y"] = np.where(arguments["y"] == 1, "yes", "no")
    return {**arguments, "classes": ["no", "yes"], "pos_label": "yes"}


def sets():
    """Forty rows with sets of three labels."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = (X + 0.5 * rng.normal(size=(40, 3)) > 0).astype(int)
    # Some row has no label, and the rows of two labels are 20.
    return {
        "X": X,
        "y": y,
        "tags": [
            [tag for tag, has in zip("abc", row, strict=True) if has] for row in y
        ],
        "target_loss": "f1",
        "estimator": "auto",
        "sample_weight": None,
        "model": LowRankSurrogateMultilabelClassifier(),
    }


def pairs_of_tags():
    """Forty rows with two of three tags."""
    arguments = sets()
    left_out = np.digitize(arguments["X"][:, 0], [-0.5, 0.5])
    arguments["y"] = 1 - np.eye(3, dtype=int)[left_out]
    arguments["tags"] = [["bc", "ac", "ab"][i] for i in left_out]
    arguments["tags"] = [list(pair) for pair in arguments["tags"]]
    return arguments


def sequences():
    """Sequences of binary labels."""
    arguments = binary()
    model = StructuredHingeSequenceClassifier(solver="sgd", alpha=0.01)
    return {**arguments, "model": model, "qid": np.repeat(np.arange(12), 4)}


FIT = """
model.fit(X, y)
result = model.predict(X)
"""
FIT_COSTS = """
model.set_params(loss_matrix=loss_matrix, classes=classes, decisions=decisions)
model.fit(X, y)
result = model.decision_function(X)
"""
FIT_MATRIX = """
model.set_params(loss_matrix=loss_matrix).fit(X, y)
result = model.predict_surrogate(X) @ numpy.array([[1.0], [2.0]])
"""
FIRST_CALL = """
model.partial_fit(X, y, classes=classes)
result = model.decision_function(X)
"""
FIRST_CALL_OF_COSTS = """
model.set_params(loss_matrix=loss_matrix).partial_fit(X, y, classes=classes)
result = model.decision_function(X)
"""
LATER_CALL = """
model.partial_fit(X, y, classes=[0, 1, 2])
model.partial_fit(X + 1.0, y, classes=classes)
result = model.decision_function(X)
"""
BLOCKS = """
model.fit_blocks(blocks, classes=[0, 1, 2])
result = model.decision_function(X)
"""
HINGE = """
model.set_params(loss_matrix=loss_matrix, classes=classes, decisions=decisions)
result = model.fit(X, y).decision_function(X)
"""
SCORE = """
model.fit(X, index)
result = model.score(X, y)
"""
ONE_CLASS = """
model.partial_fit(X, y * 0, classes=classes)
model.partial_fit(X, y)
result = model.decision_function(X)
"""
ONE_CLASS_OF_SEQUENCES = """
model.partial_fit(X, y * 0, classes=classes, qid=qid)
model.partial_fit(X, y, qid=qid + 50)
result = model.coef_
"""
POSITIVE = """
model.set_params(pos_label=pos_label).fit(X, y)
result = model.decision_function(X)
"""
LATER_POSITIVE = """
model.set_params(pos_label="yes").partial_fit(X, y)
model.set_params(pos_label=pos_label).partial_fit(X + 1.0, y)
result = model.decision_function(X)
"""
WEIGHTED = """
model = lowrank_rank.structured.StructuredHingeBinaryClassifier()
result = model.fit(X, y, sample_weight).decision_function(X)
"""
SETS = """
model.set_params(target_loss=target_loss, estimator=estimator).fit(X, y)
result = model.predict_surrogate(X)
"""
SCORE_OF_SETS = """
result = model.fit(X, sets).score(X, y)
"""
PROBABILITIES = """
model.set_params(estimator=estimator).fit(X, y)
result = model.predict_proba(X)
"""
#: A model for each column, written by hand.
EACH = """
class Each:
    def __init__(self, model):
        self.model = model
    def fit(self, X, y):
        columns = numpy.asarray(y).T
        self.models = [sklearn.base.clone(self.model).fit(X, y) for y in columns]
    def predict(self, X):
        return numpy.column_stack([model.predict(X) for model in self.models])
model = Each(model)
"""
COLUMNS = "y = numpy.column_stack([y, X[:, 1] > 0]).astype(int)\n"


def with_index():
    """The classes, with a copy of the labels of fit."""
    arguments = classes()
    return {**arguments, "index": arguments["y"].copy()}


def with_sets():
    """The sets, with a copy of the labels of fit."""
    arguments = sets()
    return {**arguments, "sets": arguments["y"]}


def with_blocks():
    """The classes, in two blocks with weights."""
    arguments = classes()
    X = arguments["X"]
    y = arguments["y"]
    weights = 1.0 + np.arange(48.0)
    rows = np.arange(48) % 2 == 0
    arguments["blocks"] = [
        (X[rows], y[rows], None, weights[rows]),
        (X[~rows], y[~rows], None, weights[~rows]),
    ]
    return arguments


IDS = "blocks = [(X, y, numpy.zeros(len(y)), w) for X, y, _, w in blocks]"

EXAMPLES = [
    # Lists of classes
    Example(
        "classes with ids",
        classes,
        "y = ranking_target(y, numpy.zeros(len(y)))",
        FIT,
        [""],
    ),
    Example(
        "classes with ids",
        classes,
        "y = numpy.array([(v,) for v in y], dtype=[('label', int)])",
        FIT,
    ),
    Example("classes not passed", classes, "classes = None", FIRST_CALL),
    Example("repeated classes", classes, "classes = [0, 1, 2, 1]", FIRST_CALL, [""]),
    Example("repeated classes", classes, "classes = y", FIRST_CALL, [""]),
    Example(
        "repeated classes", classes, "classes = pandas.Series(y)", FIRST_CALL, [""]
    ),
    Example(
        "repeated classes", classes, "classes = polars.Series(y)", FIRST_CALL, [""]
    ),
    Example("repeated classes", classes, "classes = [0, 1, 1]", FIT_COSTS),
    Example("repeated classes", classes, "classes = [[0, 1, 2]]", FIRST_CALL),
    Example("other classes than before", classes, "classes = [0, 1]", LATER_CALL),
    Example(
        "other pos_label than before", words, "pos_label = 'no'", LATER_POSITIVE, [""]
    ),
    Example("blocks of classes with ids", with_blocks, IDS, BLOCKS, [""]),
    # Costs
    Example(
        "index of costs",
        stages,
        "loss_matrix = loss_matrix.loc[['c', 'a', 'b']]",
        FIT_COSTS,
        ["", "loss_matrix = loss_matrix.to_numpy()[[2, 0, 1]]"],
    ),
    Example(
        "index of costs",
        stages,
        "loss_matrix.index = ['u', 'v', 'w']",
        FIT_COSTS,
        ["loss_matrix = loss_matrix.to_numpy()"],
    ),
    Example(
        "index of costs",
        stages,
        "loss_matrix.index = ['u', 'v', 'w']; classes = None",
        FIT_COSTS,
    ),
    Example("rows of costs", classes, "loss_matrix = loss_matrix[:2]", FIT_COSTS),
    Example(
        "unclear rows of costs",
        stages,
        "loss_matrix = loss_matrix.to_numpy()",
        FIT_MATRIX,
        [""],
    ),
    Example(
        "unclear rows of costs",
        stages,
        "loss_matrix = loss_matrix.to_numpy(); y = pandas.Series(y, dtype='category')",
        FIT_MATRIX,
        [""],
    ),
    Example(
        "unclear rows of costs",
        stages,
        "loss_matrix = loss_matrix.to_numpy().tolist()",
        FIRST_CALL_OF_COSTS,
        [""],
    ),
    Example("number of decisions", classes, "decisions = ['x', 'y']", FIT_COSTS),
    Example("class without decision", hinge, "decisions = [0, 1, 7]", HINGE),
    Example(
        "cheaper than the right decision", hinge, "loss_matrix[1, 2] = -1.0", HINGE
    ),
    Example(
        "cost of the right decision",
        hinge,
        "loss_matrix = loss_matrix + [[1.0], [-2.0], [3.0]]",
        HINGE,
        [""],
    ),
    Example(
        "cost of the right decision",
        hinge,
        "loss_matrix = (loss_matrix + 4.0).tolist()",
        HINGE,
        [""],
    ),
    Example(
        "cost of the right decision",
        hinge,
        "names = ['a', 'b', 'c']; y = words; classes = None\n"
        "loss_matrix = pandas.DataFrame(loss_matrix + 4.0, names, names)",
        HINGE,
        [""],
    ),
    Example(
        "cost of the right decision",
        hinge,
        "loss_matrix = polars.DataFrame(loss_matrix + 4.0)",
        HINGE,
        [""],
    ),
    Example(
        "classifier without probabilities",
        classes,
        "estimator = sklearn.svm.LinearSVC()",
        PROBABILITIES,
        [
            "estimator = sklearn.calibration.CalibratedClassifierCV("
            "sklearn.svm.LinearSVC(), cv=5)"
        ],
    ),
    # Labels among the classes
    Example(
        "collections as labels",
        with_index,
        "y = y.astype(object); y[3] = (['a'],)[0]",
        SCORE,
    ),
    Example(
        "label of no class",
        with_index,
        "y[3] = 9",
        "model.set_params(loss_matrix=loss_matrix)" + SCORE,
    ),
    Example("label of no class", with_index, "y = y.astype(str)", SCORE, [""]),
    Example("label of no class", with_index, "y = y.astype(str).tolist()", SCORE, [""]),
    Example(
        "label of no class", with_index, "y = pandas.Series(y.astype(str))", SCORE, [""]
    ),
    Example(
        "label of no class", with_index, "y = polars.Series(y.astype(str))", SCORE, [""]
    ),
    Example(
        "label of no class", with_index, "index = y.astype(str).tolist()", SCORE, [""]
    ),
    # Binary labels
    Example("labels in columns", binary, COLUMNS, FIT, [COLUMNS + EACH]),
    Example(
        "labels in columns",
        binary,
        COLUMNS + "y = pandas.DataFrame(y, columns=['one', 'two'])",
        FIT,
        [COLUMNS + EACH],
    ),
    Example(
        "labels in columns",
        binary,
        COLUMNS + "y = scipy.sparse.csr_matrix(y)",
        FIT,
        [COLUMNS + EACH],
    ),
    Example(
        "labels of several types",
        binary,
        "y = y.astype(object); y[y == 1] = 'yes'; y[0] = 0",
        FIT,
    ),
    Example(
        "more than two classes",
        binary,
        "y = grades",
        FIT,
        ["y = (grades == 2)", "y = (grades >= 1)"],
    ),
    Example(
        "more than two classes",
        binary,
        "y = grades.tolist()",
        FIT,
        ["y = (grades == 2)", "y = (grades >= 1)"],
    ),
    Example(
        "more than two classes",
        binary,
        "y = polars.Series(grades)",
        FIT,
        ["y = (grades == 2)", "y = (grades >= 1)"],
    ),
    Example(
        "more than two classes",
        binary,
        "y = pandas.Series(numpy.array(['a', 'b', 'c'])[grades])",
        FIT,
        ["y = (grades == 2)"],
    ),
    Example(
        "more than two classes", words, "y[0] = 'perhaps'", POSITIVE
    ),  # pos_label stays a label
    Example("one class", binary, "y = y * 0", FIT),
    Example("one class", binary, "classes = None", ONE_CLASS, [""]),
    Example("one class", binary, "y = y > 0; classes = None", ONE_CLASS, ["y = y > 0"]),
    Example("one class", sequences, "classes = [0]", ONE_CLASS_OF_SEQUENCES, [""]),
    Example("one class", hinge, "y = y * 0", FIT),
    Example(
        "one class",
        lambda: {
            **binary(),
            "model": StructuredHingeClassifier(solver="sgd", alpha=0.01),
        },
        "classes = None",
        ONE_CLASS,
        [""],
    ),
    Example("not two classes", binary, "classes = [0, 1, 2]", FIRST_CALL),
    Example("a third label", binary, "classes = [1, 2]", FIRST_CALL),
    Example("pos_label of no class", words, "pos_label = 'Yes'", POSITIVE),
    Example(
        "one class of positive weight",
        binary,
        "sample_weight = 1.0 * (y == 0)",
        WEIGHTED,
    ),
    # Sets of labels
    Example("lists of tags", sets, "y = tags", SETS, [""]),
    Example("lists of tags", sets, "y = list(map(tuple, tags))", SETS, [""]),
    Example("lists of tags", sets, "y = pandas.Series(tags)", SETS, [""]),
    Example("lists of tags", sets, "y = polars.Series(tags)", SETS, [""]),
    Example("lists of tags", sets, "y = numpy.array(tags, dtype=object)", SETS, [""]),
    Example("sets of other numbers", pairs_of_tags, "y = tags", SETS, [""]),
    Example(
        "sets of other numbers",
        pairs_of_tags,
        "y = pandas.DataFrame(tags, columns=['one', 'two'])",
        SETS,
        [""],
    ),
    Example("sets of other numbers", sets, "y = 2 * y - 1", SETS, [""]),
    Example("sets of other numbers", sets, "y = (2 * y).tolist()", SETS, [""]),
    Example(
        "sets of other numbers",
        sets,
        "y = scipy.sparse.csr_matrix(2 * y)",
        SETS,
        [""],
    ),
    Example(
        "sets of other numbers",
        sets,
        "y = pandas.DataFrame(2 * y, columns=['u', 'v', 'w'])",
        SETS,
        [""],
    ),
    Example(
        "sets of other numbers",
        sets,
        "y = numpy.where(y == 1, 'yes', 'no')",
        SETS,
        ["y = 1 - y", ""],
    ),
    Example(
        "sets of other numbers",
        sets,
        "y = numpy.where(y == 1, 'yes', 'no').tolist()",
        SETS,
        ["y = 1 - y", ""],
    ),
    Example(
        "sets of other numbers",
        sets,
        "y = polars.DataFrame(numpy.where(y == 1, 'yes', 'no'))",
        SETS,
        ["y = 1 - y", ""],
    ),
    Example(
        "sets of other numbers",
        sets,
        "y = 2.0 * y; y[3, 1] = numpy.nan",
        SETS,
    ),
    Example("number of labels", with_sets, "y = y[:, :2]", SCORE_OF_SETS),
    Example(
        "unknown labels of sets",
        sets,
        "y = numpy.where(numpy.eye(40, 3) == 1, numpy.nan, y); estimator = 'trees'",
        SETS,
        [
            "y = numpy.where(numpy.eye(40, 3) == 1, numpy.nan, y)\n"
            "estimator, target_loss = 'logistic', 'hamming'"
        ],
    ),
    Example(
        "unknown labels of sets",
        sets,
        "y = numpy.where(numpy.arange(120).reshape(40, 3) % 3 == 1, numpy.nan, y)\n"
        "y[:20, 0] = numpy.nan; y[20:, 1] = 1; y[20:, 2] = numpy.nan",
        SETS,
        [
            "y = numpy.where(numpy.arange(120).reshape(40, 3) % 3 == 1, numpy.nan, y)\n"
            "y[:20, 0] = numpy.nan; y[20:, 1] = 1; y[20:, 2] = numpy.nan\n"
            "estimator, target_loss = 'logistic', 'hamming'"
        ],
    ),
]
