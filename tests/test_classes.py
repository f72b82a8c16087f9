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

from .internals import class_indices, read_classes, read_costs

BOTH = [LowRankSurrogateClassifier, StructuredHingeClassifier]


def test_the_0_1_loss_is_of_the_labels_seen():
    matrix, classes, decisions = read_costs(None, None, None, np.array(["b", "a", "b"]))
    assert_array_equal(matrix, [[0, 1], [1, 0]])
    assert classes.tolist() == decisions.tolist() == ["a", "b"]


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
    target = ranking_target(X[:, 0] > 0, ids)
    assert LowRankSurrogateRanker().fit(X, target).n_lists_ == 2


def test_a_data_frame_names_rows_and_columns():
    frame = pd.DataFrame(
        [[0, 1, 2], [3, 0, 4]], index=["x", "y"], columns=["x", "y", "z"]
    )
    matrix, classes, decisions = read_costs(frame, None, None, np.array(["y"]))
    assert_array_equal(matrix, frame)
    assert classes.tolist() == ["x", "y"]
    assert decisions.tolist() == ["x", "y", "z"]
    assert read_costs(frame, None, list("abc"), np.array(["y"]))[2].tolist() == list(
        "abc"
    )
    with pytest.raises(ValueError, match=r"lacks the labels \['w'\]"):
        read_costs(frame, None, None, np.array(["w"]))


def test_columns_that_are_no_classes_are_numbered():
    _, classes, decisions = read_costs(
        [[0, 1, 2], [1, 0, 2]], None, None, np.array([5, 7])
    )
    assert classes.tolist() == [5, 7]
    assert decisions.tolist() == [0, 1, 2]


def test_positions_among_classes_in_any_order():
    assert class_indices(np.array(["a", "c"]), np.array(["c", "b", "a"])).tolist() == [
        2,
        0,
    ]
    with pytest.raises(ValueError, match=r"y\[1\] = 'd' is not among the classes"):
        class_indices(np.array(["a", "d"]), np.array(["a", "b"]))
    with pytest.raises(ValueError, match="y must hold one class label per row"):
        class_indices(np.array([{}, {}]), np.array(["a", "b"]))


def test_y_is_asked_for():
    with pytest.raises(ValueError, match="requires y to be passed"):
        read_classes(StructuredHingeClassifier(), np.zeros((2, 1)), None)
