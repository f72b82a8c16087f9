"""Cases of the fuzzer: estimators, losses, decoders, shapes, types, ids and weights, good and bad.

Every case follows from `Choices`, which come from a seed here and from hypothesis in the tests.
Of every list of options the first is the plainest: that is what hypothesis shrinks to.
"""

import datetime
from fractions import Fraction
from operator import sub
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    ranking_target,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import SURROGATES
from lowrank_rank.target_losses import FBeta, PairwiseDisagreement, PrecisionAtK

from ..internals import names_of

#: By which features, and labels, are multiplied where their scale is odd.
SCALES_OF_FEATURES = [1e3, 1e-3, 1e50, 1e-50, 1e100, 1e155, 1e-200, 1e-308, 1e307]
SCALES_OF_LABELS = [1e6, 1e-6, 1e100, 1e-300, 1e307]
_PER_CENT_BAD = 8  # of parameters and of each part of the input


class Choices:
    """Choices of a case.

    Parameters
    ----------
    draw : callable
        ``draw(n)`` is one of 0, ..., n - 1.
    rng : numpy.random.Generator
        Of the numbers that fill the arrays.
    """

    def __init__(self, draw, rng):
        self.draw, self.rng = draw, rng

    @classmethod
    def of_seed(cls, seed):
        rng = np.random.default_rng(seed)
        return cls(lambda n: int(rng.integers(n)), rng)

    def one(self, options):
        """One of the options."""
        options = list(options)
        return options[self.draw(len(options))]

    def chance(self, per_cent):
        """Whether something happens; not, where hypothesis shrinks."""
        return self.draw(100) >= 100 - per_cent


class Batch(NamedTuple):
    """What fit takes.

    Attributes
    ----------
    layout : {"documents", "items", "preferences", "classes"}
    X, y, qid, weights : object
    is_nice : bool
        Whether every part is as it should be, on a scale near 1.
    """

    layout: str
    X: Any
    y: Any
    qid: Any
    weights: Any
    is_nice: bool


# Parameters ---------------------------------------------------------------------------

BAD_VALUES = [
    "x",
    -1,
    None,
    {},
    [],
    float("nan"),
    float("inf"),
    10**400,
    0,
    1.5,
    (),
    True,
    object(),
]
REGRESSORS = [
    "ridge",
    Ridge(),
    DecisionTreeRegressor(max_depth=3, random_state=0),
    KNeighborsRegressor(2),
]
BOOSTED = GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0)
SOLVER = {
    "alpha": [1.0, "auto", 0.01, 100.0, 0.0],
    "tol": [1e-10, 1e-6],
}
HINGE = {
    "solver": ["auto", "lbfgs", "cutting_plane", "sgd"],
    "alpha": ["auto", 1e-3, 0.1, 1.0],
    "max_iter": [20, 50],
    "fit_intercept": [True, False],
    "random_state": [0],
}
SCALED_HINGE = {**HINGE, "standardize": [True, False]}
PARAMETERS = {
    LowRankSurrogateRanker: {
        "target_loss": ["ndcg", *names_of(), PrecisionAtK(k=2, relevance_threshold=2)],
        "estimator": [*REGRESSORS, BOOSTED, "trees", "auto", "logistic"],
        "decoder": [
            "auto",
            "sort",
            "exact",
            "local_search",
            "diagonal",
            "dag",
            "borda",
        ],
        "centered": [True, False],
        **SOLVER,
    },
    HistGradientBoostingRanker: {
        "loss": ["lambdarank", "cross_entropy", "pairwise_logistic"],
        "target_loss": ["ndcg", "precision@2", "auc", "dcg"],
        "max_iter": [3, 10],
        "max_leaf_nodes": [4, "auto"],
        "min_samples_leaf": [1, 20],
        "early_stopping": [False, False, True],
        "n_iter_no_change": [5],
        "random_state": [0],
    },
    LowRankSurrogateClassifier: {
        "estimator": [*REGRESSORS, "trees", "auto", "logistic"],
        "n_components": [None, 1],
        **SOLVER,
    },
    LowRankSurrogateMultilabelClassifier: {
        "target_loss": ["f1", "hamming", FBeta(beta=2)],
        "estimator": [*REGRESSORS, "auto", "logistic"],
        **SOLVER,
    },
    PairwiseDAGRanker: {
        "target_loss": ["pd", "kendall", PairwiseDisagreement("difference")],
        "decoder": ["dag", "exact", "local_search", "borda", "score", "auto"],
        "pair_features": ["difference", sub],
        "estimator": [*REGRESSORS, "trees", "auto", "logistic"],
        "max_iter": [1000, 20],
        "random_state": [0],
        **SOLVER,
    },
    OrderPreservingRegressor: {
        "target_loss": ["ndcg@10", "map", *names_of(lambda loss: loss.is_positional)],
        "surrogate": ["cross_entropy", *SURROGATES],
        "alpha": [0.1, "auto", 1.0, 1e-6, 0.0],
        "standardize": [True, False],
        "max_iter": [200, 3],
    },
    PrecisionAtKPerceptron: {
        "target_loss": ["precision@25%", "precision@1", "recall@2", "prbep"],
        "surrogate": ["ramp", "avg", "max", "struct"],
        "solver": ["averaged", "averaged", "perceptron", "sgd", "cutting_plane"],
        "max_iter": [3],
        "random_state": [0],
    },
    StructuredHingeRanker: {
        "target_loss": ["ndcg@10", "kendall", "precision@1", "recall@2", "auc"],
        **SCALED_HINGE,
    },
    StructuredHingeBinaryClassifier: {
        "target_loss": ["f1", "auc", "precision@1"],
        "threshold": ["tuned", "hinge"],
        **{
            name: values
            for name, values in SCALED_HINGE.items()
            if name != "random_state"
        },
    },
    StructuredHingeClassifier: SCALED_HINGE,
    StructuredHingeSequenceClassifier: HINGE,
    WrappedRanker: {
        "estimator": [
            Ridge(),
            LogisticRegression(max_iter=20),
            DecisionTreeRegressor(max_depth=3, random_state=0),
        ],
        "target_loss": ["ndcg@10", "map", "pd"],
    },
}


CLASSIFIERS = (
    LowRankSurrogateClassifier,
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)
HINGES = (
    StructuredHingeRanker,
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)


def make_estimator(choices):
    """An estimator with some of its parameters drawn, seldom with a bad one."""
    cls = choices.one(PARAMETERS)
    table = PARAMETERS[cls]
    params = {name: choices.one(table[name]) for name in table if choices.chance(40)}
    if cls is WrappedRanker:
        params.setdefault("estimator", Ridge())
    if issubclass(cls, HINGES) and params.get("max_iter") is None:
        params["max_iter"] = 50  # of 1000 rounds with more planes in each
    estimator = cls(**params)
    if choices.chance(_PER_CENT_BAD):
        name = choices.one(sorted(estimator.get_params(deep=False)))
        value = choices.one(
            BAD_VALUES
        )  # of which -1 is a good number of jobs, and slow
        estimator.set_params(**{name: 0 if name == "n_jobs" else value})
    return estimator


# Input ----------------------------------------------------------------------------------


def make_batch(choices, estimator, layout=None, p=None):
    """Rows for fit, parts of them seldom bad.

    The layout, one that the estimator may take, and the number of features are drawn if not given.
    """
    rng = choices.rng
    n, p = choices.one([6, 1, 2, 3, 5, 9, 14]), p or choices.one([2, 1, 3, 4])
    if layout is None:
        layout = choices.one(["documents", "documents", "items", "preferences"])
        if isinstance(estimator, CLASSIFIERS):
            layout = choices.one(["classes"] * 5 + [layout])
    X, X_nice = make_features(choices, n, p)
    y, y_nice = make_labels(choices, n, layout)
    qid, ids_nice = None, True
    if choices.chance(75 if layout == "documents" else _PER_CENT_BAD):
        qid, ids_nice = make_ids(choices, n)
    weights, weights_nice = make_weights(choices, n)
    y = pack(choices, y, qid) if qid is not None and ids_nice and y_nice else y
    rng.random()
    return Batch(
        layout, X, y, qid, weights, X_nice and y_nice and ids_nice and weights_nice
    )


def make_features(choices, n, p):
    """Features, and whether they are nice."""
    rng = choices.rng
    X = choices.one(
        [
            lambda: rng.normal(size=(n, p)),
            lambda: rng.integers(-2, 3, size=(n, p)).astype(float),
            lambda: np.repeat(rng.normal(size=(1, p)), n, axis=0),
            lambda: np.zeros((n, p)),
        ]
    )()
    nice = True
    if choices.chance(15):
        X, nice = X * choices.one(SCALES_OF_FEATURES), False
    if choices.chance(_PER_CENT_BAD):
        return choices.one(BAD_FEATURES)(X), False
    kind = choices.one(sorted(TYPES_OF_FEATURES))
    return TYPES_OF_FEATURES[kind](X), nice and kind in ("a", "b", "c", "d", "e", "f")


def _with(value):
    def change(X):
        X = X.copy()
        X.flat[:1] = value
        return X

    return change


def _named(X, first):
    """Names of the columns of X, or of the items of y: a first one, and numbers."""
    return [first, *range(1, X.shape[1])]


def _integers(X):
    return np.clip(np.nan_to_num(X), -1e9, 1e9).astype(int)


TYPES_OF_FEATURES = {
    "a": lambda X: X,
    "b": np.asfortranarray,
    "c": sparse.csr_matrix,
    "d": sparse.csc_array,
    "e": pd.DataFrame,
    "f": lambda X: X.tolist(),
    "g": _integers,
    "h": lambda X: np.clip(X, -1e30, 1e30).astype(np.float32),
    "s": lambda X: sparse.csr_matrix(np.clip(X, -1e30, 1e30).astype(np.float32)),
    "i": lambda X: X > 0,
    "j": lambda X: X.astype(object),
    "k": sparse.coo_matrix,
    "l": lambda X: pd.DataFrame(X.astype(object), columns=_named(X, "task_id")),
}
BAD_FEATURES = [
    _with(np.nan),
    lambda X: pd.DataFrame(X.astype(object)).replace({X.flat[0]: "n/a"}),
    lambda X: _with("n/a")(X.astype(object)),
    lambda X: pd.DataFrame(X).astype(str),
    lambda X: pd.DataFrame(X).map(lambda value: [value]),
    _with(1.79769313486e308),
    _with(np.inf),
    lambda X: X[:, 0],
    lambda X: X[np.newaxis],
    lambda X: X[:, :0],
    lambda X: X[:0],
    lambda X: X[1:],
    lambda X: X.astype(str),
    lambda X: X.astype(complex) + 1j,
    lambda X: None,
    lambda X: {},
    lambda X: np.ma.masked_array(X, mask=X.flat[0] == X),
    lambda X: sparse.csr_matrix(_with(np.nan)(X)),
    lambda X: [[1.0], [1.0, 2.0]],
    lambda X: "abc",
]


def make_labels(choices, n, layout):
    """Labels, and whether they are nice; y of a matrix may have NaN, not judged."""
    rng = choices.rng
    r = choices.one([3, 1, 2, 4, 5])
    shape = {"documents": n, "classes": n, "items": (n, r), "preferences": (n, r, r)}[
        layout
    ]
    y = choices.one(
        [
            lambda: rng.integers(0, 4, size=shape).astype(float),
            lambda: rng.integers(0, 2, size=shape).astype(float),
            lambda: np.zeros(shape),
            lambda: rng.normal(size=shape),
            lambda: rng.exponential(size=shape),
        ]
    )()
    if layout == "classes" and choices.chance(50):
        y = np.array(["a", "b", "c", "d"], dtype=choices.one(["U1", object]))[
            np.abs(y).astype(int) % 4
        ]
        return y, True
    if layout == "preferences" and choices.chance(50):
        y = np.triu(np.abs(y), 1)  # no cycle
    nice = True
    if choices.chance(5):
        y, nice = y * choices.one(SCALES_OF_LABELS), False
    if layout == "items" and choices.chance(15):
        y[rng.random(y.shape) < 0.3] = np.nan
    if choices.chance(_PER_CENT_BAD):
        return choices.one(BAD_LABELS)(y), False
    return choices.one(TYPES_OF_LABELS)(y), nice


TYPES_OF_LABELS = [
    lambda y: y,
    lambda y: y.tolist(),
    lambda y: pd.Series(y) if y.ndim == 1 else y,
    lambda y: (
        np.nan_to_num(y).astype(int) if np.all(np.abs(np.nan_to_num(y)) < 1e9) else y
    ),
    lambda y: y > 0 if not np.isnan(y).any() else y,
]
BAD_LABELS = [
    _with(np.nan),
    _with(np.inf),
    _with(-1.0),
    lambda y: y[1:],
    lambda y: y[:0],
    lambda y: y.astype(str),
    lambda y: y.astype(complex) + 1j,
    lambda y: None,
    lambda y: {},
    lambda y: 3,
    lambda y: "abc",
    lambda y: [None] * len(y),
    lambda y: ["a", 1, None][: len(y)],
    lambda y: np.zeros(np.shape(y), dtype="datetime64[D]"),
    lambda y: np.ones(np.shape(y), dtype="timedelta64[s]"),
    lambda y: np.full(len(y), b"1"),
    lambda y: np.ma.masked_array(y, mask=y == y.max(initial=0)),
    lambda y: y[..., np.newaxis],
    lambda y: y[np.newaxis],
    lambda y: [[1.0], [1.0, 2.0]],
    lambda y: sparse.csr_matrix(
        np.atleast_2d(y if y.ndim < 3 else y.reshape(-1, y.shape[2]))
    ),
]


def make_ids(choices, n):
    """Query ids, and whether they are nice."""
    codes = choices.rng.integers(0, choices.one([2, 1, 3, n + 1]), size=n)
    codes = np.sort(codes) if choices.chance(50) else codes
    if choices.chance(_PER_CENT_BAD):
        return choices.one(BAD_IDS)(codes), False
    return choices.one(RENAMED)(codes), True


#: Ways to name lists that are numbered, all of them the same lists.
RENAMED = [
    lambda q: q,
    lambda q: q.tolist(),
    lambda q: q * 7.5 - 3.0,
    lambda q: np.array([f"query {i}" for i in q]),
    lambda q: [f"query {i}" for i in q],
    lambda q: [(int(i), "a") for i in q],
    lambda q: pd.Series(q).astype("category"),
    lambda q: np.datetime64("2026-01-01") + q,
    lambda q: [datetime.date(2026, 1, 1 + int(i)) for i in q],
    lambda q: [Fraction(int(i), 3) for i in q],
    lambda q: [int(i) if i % 2 else str(i) for i in q],
    lambda q: q.astype(np.uint8),
    lambda q: [int(i) + 2**70 for i in q],
]
BAD_IDS = [
    lambda q: q[1:],
    lambda q: q[:0],
    lambda q: np.append(q, 0),
    lambda q: 3,
    lambda q: "query",
    lambda q: {},
    lambda q: set(range(len(q))),
    lambda q: dict.fromkeys(range(len(q))),
    lambda q: [None] * len(q),
    lambda q: np.where(q == q[0], np.nan, q),
    lambda q: np.where(q == q[0], np.inf, q),
    lambda q: [np.array([1, 2])] * len(q),
    lambda q: [[1]] * len(q),
    lambda q: [{}] * len(q),
    lambda q: q[:, np.newaxis],
    lambda q: np.ma.masked_array(q, mask=q == q[0]),
    lambda q: [pd.NA] * len(q),
    lambda q: [object()] * len(q),
]


def pack(choices, y, qid):
    """Labels that carry their ids, sometimes."""
    if np.ndim(y) != 1 or not choices.chance(20):
        return y
    if choices.chance(50):
        return pd.Series(
            np.asarray(y), index=pd.Index(list(qid), name="qid", tupleize_cols=False)
        )
    if np.asarray(y).dtype.kind not in "iufb":
        return y
    time = choices.one(
        [None, np.arange(len(y)), np.full(len(y), "2025-01-31", "M8[s]")]
    )
    return ranking_target(y, qid, time=time)


def make_weights(choices, n):
    """Weights, and whether they are nice."""
    rng = choices.rng
    if not choices.chance(35):
        return None, True
    if choices.chance(_PER_CENT_BAD):
        return choices.one(BAD_WEIGHTS)(np.ones(n)), False
    return choices.one(
        [
            lambda: (np.ones(n), True),
            lambda: (rng.integers(0, 3, size=n).astype(float), True),
            lambda: (rng.random(n).tolist(), True),
            lambda: (np.full(n, 1e-300), False),
            lambda: (np.full(n, 1e100), False),
        ]
    )()


BAD_WEIGHTS = [
    lambda w: -w,
    lambda w: w[1:],
    lambda w: np.append(w, 1.0),
    lambda w: 0.0 * w,
    lambda w: w * np.nan,
    lambda w: w * np.inf,
    lambda w: w.astype(str),
    lambda w: ["a"] * len(w),
    lambda w: 2.0,
    lambda w: {},
    lambda w: w[:, np.newaxis],
    lambda w: np.ma.masked_array(w, mask=w > 0),
]


# Tables of numbers with ids ----------------------------------------------------------------

#: Names of columns that hold ids or row numbers, and names that only look like these.
ID_NAMES = ["index", "id", "qid", "task_id", "userId", "Unnamed: 0", "level_0", "seed"]
OTHER_NAMES = ["a", "hybrid", "GRID", "Madrid", "indexed", 0, "bm25"]


def make_table(choices, name):
    """A frame of numbers whose first column has a name; it may hold the row numbers."""
    n, r = choices.one([6, 2, 5, 9]), choices.one([3, 2, 4])
    numbers = choices.rng.integers(0, 3, size=(n, r)).astype(float)
    if choices.chance(50):
        numbers[:, 0] = np.arange(n)
    table = pd.DataFrame(numbers, columns=_named(numbers, name))
    return table.astype(choices.one([float, int, object]))


# Functions ------------------------------------------------------------------------------


def make_scores(choices, shape):
    """Scores of documents or items, seldom bad."""
    scores = np.round(choices.rng.normal(size=shape), choices.one([3, 0]))
    scores = scores * choices.one([1.0, 1.0, 1.0, 1e-300, 1e300])
    if choices.chance(_PER_CENT_BAD):
        return choices.one(BAD_LABELS)(scores)
    return scores


def make_surrogate_vectors(choices, n_lists, n_items, layout):
    """What decoders take: of items, of pairs i >= j, of pairs i < j, or preferences (r, r)."""
    r = n_items
    width = {
        "items": (r,),
        "triangle": (r * (r + 1) // 2,),
        "matrix": (r, r),
        "depth": (2 * r,),
    }
    u = choices.rng.normal(size=(n_lists, *width[layout]))
    u = np.round(u, choices.one([3, 0])) * choices.one(
        [1.0, 1.0, 1.0, 1e-300, 1e100, 1e306]
    )
    if choices.chance(2 * _PER_CENT_BAD):
        return choices.one([*BAD_LABELS, lambda u: u.tolist(), lambda u: u > 0])(u)
    return u
