"""Binary labels of rows, and sets of labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from lowrank_rank import LowRankSurrogateMultilabelClassifier, PrecisionAtKPerceptron
from lowrank_rank.structured import StructuredHingeBinaryClassifier

from .internals import read_binary_labels, read_label_sets
from .refusals import refused_by

MODEL = PrecisionAtKPerceptron()


def test_labels_of_two_classes():
    positive, classes, pos_label = read_binary_labels([0, 1, 1, 0], None, None, MODEL)
    assert_array_equal(positive, [False, True, True, False])
    assert classes.tolist() == [0, 1]
    assert pos_label == 1


def test_one_class_is_enough_where_both_are_known():
    positive, classes, _ = read_binary_labels([1, 1], [0, 1], None, MODEL)
    assert classes.tolist() == [0, 1]
    assert positive.all()
    with refused_by("one class"):
        read_binary_labels([1, 1], None, None, MODEL)
    with refused_by("a third label"):
        read_binary_labels([1, 5], [0, 1], None, MODEL)


@pytest.mark.parametrize("model", [MODEL, StructuredHingeBinaryClassifier()])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_matrix_has_a_classifier_for_each_column(model, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = (X @ rng.normal(size=(3, 4)) > 0.5).astype(int)
    with refused_by("labels in columns"):
        model.fit(X, make(Y))
    each = OneVsRestClassifier(model).fit(X, Y)
    assert each.decision_function(X).shape == Y.shape
    assert_array_equal(
        MultiOutputClassifier(model).fit(X, Y).predict(X), each.predict(X)
    )


def test_sets_are_a_matrix_or_one_label_per_row():
    sets, classes = read_label_sets([[0, 1], [1, 1]], None, MODEL)
    assert_array_equal(sets, [[0, 1], [1, 1]])
    assert classes.tolist() == [0, 1]
    sets, classes = read_label_sets(
        ["a", "b"], None, LowRankSurrogateMultilabelClassifier()
    )
    assert_array_equal(sets, [[0], [1]])
    assert classes.tolist() == ["a", "b"]
    with refused_by("sets of other numbers"):
        read_label_sets([[0, 2]], None, MODEL)
