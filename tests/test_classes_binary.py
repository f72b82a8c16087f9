"""Labels of precision at the top: one list, queries, or rows of a matrix."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank._classes import read_binary_labels

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
    part = labels.pick([1, 2])
    assert part.n_lists == 2
    assert not part.comparable


def test_rows_of_a_matrix():
    labels = labels_of([[0, 1], [1, 1], [0, 0]])
    assert labels.positive.shape == (3, 2)
    assert not labels.one_list
    assert labels.n_lists == 3
    assert labels.comparable
    assert not labels.pick([1, 2]).comparable


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


def test_held_out_rows_are_stratified_and_queries_stay_whole():
    y = (np.arange(200) < 40).astype(int)
    labels = labels_of(y)
    rest, held = labels.hold_out(0.1, labels.positive, np.random.RandomState(0))
    assert_array_equal(np.sort(np.r_[rest, held]), np.arange(200))
    assert len(held) == 20
    assert y[held].sum() == 4
    qid = np.arange(200) % 20
    strata = np.arange(20) < 10
    rest, held = labels_of(y, qid).hold_out(0.1, strata, np.random.RandomState(0))
    assert not np.intersect1d(qid[rest], qid[held]).size
    assert sorted(np.unique(qid[held]) < 10) == [False, True]
    matrix = labels_of(np.column_stack([y, 1 - y]))
    rest, held = matrix.hold_out(0.1, np.ones(200, dtype=bool), np.random.RandomState(0))
    assert len(held) == 20


def test_rows_that_cannot_be_held_out():
    labels = labels_of([0, 1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"validation_fraction=0.1 of 6 rows with 1 positives"):
        labels.hold_out(0.1, labels.positive, np.random.RandomState(0))
    labels = labels_of([0, 1, 0, 0], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="in one part no list has both"):
        labels.hold_out(0.5, np.array([True, False]), np.random.RandomState(0))
