"""A parameter that a fit does not use is refused, or its docstring says so."""

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)

from .preference_cases import products
from .top_cases import SETTINGS

X, GRADES, QID = make_ranking(12, 6, n_features=3, random_state=0)
ITEMS = np.random.default_rng(0).integers(0, 4, size=(len(X), 5)).astype(float)
VOTES = np.maximum(ITEMS[:, :, None] - ITEMS[:, None] + X[:, :1, None], 0.0)
VOTES *= 1.0 - np.eye(5)
LABELS = {
    "documents": {"y": GRADES, "qid": QID},
    "items": {"y": ITEMS},
    "preferences": {"y": VOTES},
    "classes": {"y": np.argsort(np.argsort(X[:, 0] + X[:, 1] / 2)) // 18},
    "sets": {"y": (ITEMS > 2) | (X[:, :1] > 1)},
    "binary": {"y": GRADES > 0},
}
LABELS["sequences"] = {**LABELS["classes"], "qid": QID}
SOLVERS = ("lbfgs", "cutting_plane", "sgd")
#: An estimator, its layouts, and the settings for which every other value is tried.
ESTIMATORS = [
    (LowRankSurrogateRanker, ("documents", "items"), {}),
    (LowRankSurrogateRanker, ("documents", "items"), {"estimator": "ridge"}),
    (LowRankSurrogateRanker, ("documents", "items"), {"estimator": Ridge()}),
    (PairwiseDAGRanker, ("documents", "items", "preferences"), {}),
    (PairwiseDAGRanker, ("documents", "items"), {"decoder": "score"}),
    (PairwiseDAGRanker, ("documents",), {"pair_features": products}),
    (OrderPreservingRegressor, ("documents", "items"), {}),
    (OrderPreservingRegressor, ("documents",), {"surrogate": "pointwise_squared"}),
    (LowRankSurrogateClassifier, ("classes",), {}),
    (LowRankSurrogateMultilabelClassifier, ("sets",), {}),
    (LowRankSurrogateClassifier, ("classes",), {"estimator": "ridge"}),
    (LowRankSurrogateClassifier, ("classes",), {"estimator": "trees"}),
    (LowRankSurrogateMultilabelClassifier, ("sets",), {"estimator": "ridge"}),
    *((PrecisionAtKPerceptron, ("binary",), setting) for setting in SETTINGS),
    *((StructuredHingeRanker, ("documents",), {"solver": name}) for name in SOLVERS),
    *((StructuredHingeClassifier, ("classes",), {"solver": name}) for name in SOLVERS),
    (StructuredHingeClassifier, ("classes",), {"solver": "perceptron"}),
    (StructuredHingeRanker, ("items",), {}),
    (StructuredHingeBinaryClassifier, ("binary",), {}),
    *(
        (StructuredHingeSequenceClassifier, ("sequences",), {"solver": name})
        for name in SOLVERS
    ),
    (HistGradientBoostingRanker, ("documents",), {}),
    (HistGradientBoostingRanker, ("documents",), {"early_stopping": True}),
    (StackingRanker, ("documents", "items"), {}),
    # the measure of a wrapped model is that of `score`
    (WrappedRanker, ("documents",), {"estimator": Ridge(), "target_loss": "dcg"}),
]
CASES = [
    pytest.param(cls, layout, given, id=f"{cls.__name__}-{layout}-{'-'.join(given)}")
    for cls, layouts, given in ESTIMATORS
    for layout in layouts
]


def called(*arguments):
    raise ZeroDivisionError  # an error that no check raises


#: Values that change something wherever the parameter is used.
VALUES = {
    "target_loss": ["kendall", "precision@1", "dcg", "hamming"],
    "estimator": ["ridge", "trees", Ridge(alpha=1e9)],
    "decoder": ["borda", called],
    "pair_features": [called],
    "score_function": [called],
    "surrogate": ["pointwise_squared", "pairwise_logistic", "max", "struct"],
    "solver": ["lbfgs", "cutting_plane", "sgd"],
    "threshold": ["hinge"],
    "alpha": [30.0],
    "eta0": [1e-3],
    "tol": [0.9],
    "max_iter": [1],
    "batch_size": [25],
    "n_components": [1],
    "reject_cost": [0.01],
    "loss": ["cross_entropy"],
    "learning_rate": [0.9],
    "max_leaf_nodes": [2],
    "max_depth": [1],
    "min_samples_leaf": [1],
    "l2_regularization": [100.0],
    "max_features": [0.3],
    "max_bins": [2],
    "categorical_features": [[0]],
    "monotonic_cst": [[-1, -1, -1]],
    "interaction_cst": [[[0], [1], [2]]],
    "validation_fraction": [0.5],
    "n_iter_no_change": [1],
    "relevance_threshold": [3],
    "estimators": [[("ridge", Ridge()), ("linear", LowRankSurrogateRanker())]],
    "cv": [4],
    "weights": [{"linear": 1.0, "trees": 0.0, "forest": 0.0}],
    "loss_matrix": [[[0.0, 9, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]],
}
#: Parameters of smaller fits; other values of these are tried, too.
SMALL = {HistGradientBoostingRanker: {"max_iter": 40}, StackingRanker: {"cv": 2}}
#: What one fit of these data cannot show: seeds, progress, names of classes.
LEFT_OUT = {"n_jobs", "random_state", "verbose", "pos_label", "warm_start"}


def outcome(cls, layout, params):
    """Ranks, scores and iterations of a fit, or the type of its error."""
    labels = LABELS[layout]
    if "random_state" in inspect.signature(cls).parameters:
        params = {"random_state": 0, **params}
    model = cls(**{**SMALL.get(cls, {}), **params})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, **labels)
        if layout == "sequences":
            decoded = scores = model.predict(X, qid=QID)
        else:
            decoded = scores = model.predict(X)
        if layout == "documents":
            decoded = model.rank(X, qid=QID)
    except (ValueError, ZeroDivisionError) as error:
        return type(error).__name__
    for name in ("predict_surrogate", "decision_function"):
        if hasattr(model, name):
            scores = getattr(model, name)(X)
    return decoded.tolist(), scores.tolist(), getattr(model, "n_iter_", None)


def description(cls, name):
    """The entry of a parameter in the docstring of its class."""
    entry = re.search(rf"\n{name} : .*\n((?:    .*\n|\n)+)", inspect.getdoc(cls) + "\n")
    return entry[1]


#: What an entry says of a parameter that some fits do not use: whose it is.
WHOSE = re.compile(
    r"`\w+`:|Documents:|(of|for|by) (\"\w+\"|L-BFGS)|ha(s|ve) no|whatever|closed form"
    r"|ignores|only with"
)


def is_of_other_solvers(cls, name, given):
    """Whether the entry of a parameter names solvers, and not the given one."""
    named = [f'"{solver}"' for solver in cls._parameters.get("solver", ())]
    text = description(cls, name)
    own = f'"{given.get("solver")}"'
    return own not in text and any(solver in text for solver in named)


@pytest.mark.parametrize(("cls", "layout", "given"), CASES)
def test_a_value_changes_something_or_is_refused_or_documented(cls, layout, given):
    default = outcome(cls, layout, given)
    assert not isinstance(default, str)
    unused = []
    for name in inspect.signature(cls).parameters:
        if name in LEFT_OUT or name in given:
            continue
        values = VALUES.get(name, [True, False])
        outcomes = [outcome(cls, layout, {**given, name: value}) for value in values]
        is_used = any(each != default for each in outcomes)
        is_said = WHOSE.search(" ".join(description(cls, name).split()))
        if not (is_used or is_said or is_of_other_solvers(cls, name, given)):
            unused.append(name)
    assert not unused
