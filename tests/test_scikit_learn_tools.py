"""Tools of scikit-learn x our estimators: the result by hand, or the error that says why not."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    permutation_test_score,
)
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import ranking_target
from lowrank_rank.datasets import make_ranking

from .test_common import ESTIMATORS as CASES

DOC = Path(__file__).resolve().parent.parent / "doc"
if not DOC.is_dir():
    pytest.skip("doc/ is not beside tests/", allow_module_level=True)
sys.path.append(str(DOC))

from scikit_learn_tools import ESTIMATORS, TOOLS, WHY_NOT  # noqa: E402

#: An estimator of each class by its name.
MODELS = {type(one).__name__: one for one in reversed(CASES)}
X, GRADES, QID = make_ranking(30, 4, n_features=3, random_state=0)
LABELS = (GRADES > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "price", "size"])
SPLITS = list(GroupKFold(3).split(X, groups=QID))


def labels_of(model):
    """Labels, with query ids inside for what ranks documents or labels sequences."""
    name = type(model).__name__
    if name == "LowRankSurrogateMultilabelClassifier":
        return np.column_stack([LABELS, LABELS[::-1]])
    if name.endswith("Classifier"):
        return ranking_target(LABELS, QID) if "Sequence" in name else LABELS
    return ranking_target(LABELS if name == "PrecisionAtKPerceptron" else GRADES, QID)


def predictions(model, features):
    return model.predict(
        features, **({"qid": QID} if "Sequence" in repr(model) else {})
    )


def fold_by_fold(model, y, evaluate):
    return [evaluate(clone(model).fit(X[a], y[a]), X[b], y[b]) for a, b in SPLITS]


# Tools: each returns its result and the result by hand ----------------------------------


def of_cross_val_predict(model, y):
    wanted = fold_by_fold(model, y, lambda fitted, X, y: fitted.predict(X))
    found = cross_val_predict(model, X, y, cv=SPLITS)
    return found[np.concatenate([test for _, test in SPLITS])], np.concatenate(wanted)


def of_permutation_test_score(model, y):
    options = {"groups": QID, "cv": SPLITS, "n_permutations": 3, "random_state": 0}
    found, scores, p_value = permutation_test_score(model, X, y, **options)
    assert_allclose(p_value, (1 + np.sum(scores >= found)) / 4)
    return found, np.mean(
        fold_by_fold(model, y, lambda fitted, X, y: fitted.score(X, y))
    )


def of_feature_union(model, y):
    union = FeatureUnion([("raw", "passthrough"), ("scaled", StandardScaler())])
    Z = np.hstack([X, StandardScaler().fit_transform(X)])
    found = predictions(make_pipeline(union, model).fit(X, y), X)
    return found, predictions(clone(model).fit(Z, y), Z)


def of_set_output(model, y):
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    found = predictions(pipeline.fit(FRAME, y), FRAME)
    assert list(pipeline[-1].feature_names_in_) == list(FRAME)
    Z = StandardScaler().fit_transform(X)
    return found, predictions(clone(model).fit(Z, y), Z)


def of_frozen(model, y):
    fitted = clone(model).fit(X, y)
    frozen = clone(FrozenEstimator(fitted)).fit(X[:0], y[:0])
    return predictions(frozen, X), predictions(fitted, X)


def of_callbacks(model, y):
    pytest.importorskip("rich")  # which the bar prints with
    callback = pytest.importorskip("sklearn.callback").ProgressBar()
    search = GridSearchCV(model, {}, cv=SPLITS, error_score="raise").set_callbacks(
        callback
    )
    found = predictions(search.fit(X, y).best_estimator_, X)
    return found, predictions(clone(model).fit(X, y), X)


def of_own_callbacks(model, y):
    model.set_callbacks()


RUN = dict(
    zip(
        TOOLS,
        [
            of_cross_val_predict,
            of_permutation_test_score,
            of_feature_union,
            of_set_output,
            of_frozen,
            of_callbacks,
            of_own_callbacks,
        ],
        strict=True,
    )
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings(
    "ignore:The hinge of", "ignore:.* does not support callbacks"
)
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_tool_gives_the_result_by_hand_or_says_why_not(name, tool):
    model = clone(MODELS[name.split(".")[-1]])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if (name, tool) in WHY_NOT:
        with pytest.raises((ValueError, AttributeError), match=r"qid|set_callbacks"):
            RUN[tool](model, labels_of(model))
    else:
        found, wanted = RUN[tool](model, labels_of(model))
        assert_allclose(found, wanted, atol=1e-9)


def test_every_estimator_is_in_the_table():
    assert {name.split(".")[-1] for name in ESTIMATORS} == set(MODELS)
