"""Labels of precision at the top: one list, queries, or rows of a matrix."""

import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import PrecisionAtKPerceptron

from .internals import read_binary_labels
from .top_cases import labels_of


def test_one_list():
    labels = labels_of([0, 1, 1, 0])
    assert_array_equal(labels.positive, [False, True, True, False])
    assert labels.classes.tolist() == [0, 1]
    assert labels.pos_label == 1
    assert labels.one_list
    assert labels.n_lists == 1
    assert labels.comparable


def test_queries():
    labels = labels_of([0, 1, 1, 0], ["a", "a", "b", "c"])
    assert not labels.one_list
    assert labels.n_lists == 3
    assert labels.comparable
    assert not labels_of([0, 1, 1, 0], [0, 1, 2, 3]).comparable


def test_rows_of_a_matrix():
    labels = labels_of([[0, 1], [1, 1], [0, 0]])
    assert labels.positive.shape == (3, 2)
    assert not labels.one_list
    assert labels.n_lists == 3
    assert labels.comparable
    assert not labels_of([[1, 1], [0, 0]]).comparable


def test_one_class_is_enough_where_both_are_known():
    labels = read_binary_labels([1, 1], None, [0, 1], None, PrecisionAtKPerceptron())
    assert labels.classes.tolist() == [0, 1]
    assert not labels.comparable
    with pytest.raises(ValueError, match="one class only"):
        labels_of([1, 1])
    with pytest.raises(ValueError, match="the label 5, which is not among the classes"):
        read_binary_labels([1, 5], None, [0, 1], None, PrecisionAtKPerceptron())
    with pytest.raises(ValueError, match="has pos_label 1, got 0"):
        read_binary_labels([[1, 0]], None, None, 0, PrecisionAtKPerceptron())
