"""Classes, decisions and costs: labels that are read and those that are refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    PrecisionAtKPerceptron,
    ranking_target,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
)

from .refusals import refused_by

BOTH = [LowRankSurrogateClassifier, StructuredHingeClassifier]


def fitted(y, **parameters):
    """A fit to the labels y, its predictions, and their mean cost by `score`."""
    y = np.asarray(y)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    model = LowRankSurrogateClassifier(estimator="ridge", **parameters).fit(X, y)
    return model, model.predict(X), 1.0 - model.score(X, y)


def test_the_0_1_loss_is_of_the_labels_seen():
    y = np.array(["b", "a", "b", "a", "b"])
    model, predicted, cost = fitted(y)
    assert model.classes_.tolist() == model.decisions_.tolist() == ["a", "b"]
    assert cost == pytest.approx(np.mean(predicted != y))


@pytest.mark.parametrize(
    "model", [*BOTH, PrecisionAtKPerceptron, StructuredHingeBinaryClassifier]
)
def test_strings_of_numpy_2(model):
    string = getattr(getattr(np, "dtypes", None), "StringDType", None)
    if string is None:
        pytest.skip("NumPy before 2.0")
    X = np.random.default_rng(0).normal(size=(60, 2))
    words = np.where(X[:, 0] > 0, "sick", "well")
    settings = {} if model in BOTH else {"pos_label": "sick"}
    plain, new = (model(**settings).fit(X, y) for y in (words, words.astype(string())))
    assert_array_equal(new.predict(X), plain.predict(X))
    assert new.score(X, words.astype(string())) == plain.score(X, words)
    ids = words.astype(string())
    target = ranking_target(X[:, 1] > 0, ids)
    assert LowRankSurrogateRanker().fit(X, target).n_lists_ == 2


def test_a_data_frame_names_rows_and_columns():
    frame = pd.DataFrame(
        [[0, 1, 2], [3, 0, 4]], index=["x", "y"], columns=["x", "y", "z"]
    )
    y = ["y", "x", "y", "x", "x"]
    model, predicted, cost = fitted(y, loss_matrix=frame)
    assert model.classes_.tolist() == ["x", "y"]
    assert model.decisions_.tolist() == ["x", "y", "z"]
    costs = [frame.loc[label, one] for label, one in zip(y, predicted, strict=True)]
    assert cost == pytest.approx(np.mean(costs))
    named, _, _ = fitted(y, loss_matrix=frame, decisions=list("abc"))
    assert named.decisions_.tolist() == list("abc")
    with refused_by("index of costs"):
        fitted(["w", "x"], loss_matrix=frame)


def test_columns_that_are_no_classes_are_numbered():
    model, _, _ = fitted([5, 7], loss_matrix=[[0, 1, 2], [1, 0, 2]])
    assert model.classes_.tolist() == [5, 7]
    assert model.decisions_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("model", BOTH)
def test_labels_that_are_no_classes_are_named(model):
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.array(list("abcabc"))
    fitted = model(loss_matrix="absolute", classes=["c", "b", "a"]).fit(X, y)
    assert fitted.score(X[:2], ["a", "c"]) + 2 >= 0
    with refused_by("label of no class"):
        fitted.score(X[:2], ["a", "d"])


@pytest.mark.parametrize("model", BOTH)
def test_y_is_asked_for(model):
    with refused_by("no labels"):
        model().fit(np.zeros((2, 1)), None)
