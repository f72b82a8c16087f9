"""Readers of class labels, binary labels and costs of decisions."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._arrays import numbers, shown, without_string_dtype
from ._check import Given, refuse
from ._checks_of_classes import (
    CHECKS_OF_BINARY_LABELS,
    CHECKS_OF_BINARY_SHAPE,
    CHECKS_OF_COSTS,
    CHECKS_OF_GIVEN_CLASSES,
    CHECKS_OF_GIVEN_SETS,
    CHECKS_OF_LABELS,
    CHECKS_OF_LATER_CLASSES,
    CHECKS_OF_NAMED_CLASSES,
    CHECKS_OF_SETS,
)
from ._findings import found
from ._kinds import arrive, kind_of
from ._labels import (
    check_given,
    read_weights,
    refuse_ids_beside_grades,
    refuse_missing_labels,
)
from ._parameters import Rule, check_parameter

#: A matrix of costs, beside its names.
MATRIX = Rule(lambda value: not isinstance(value, str), "a matrix")

# Classes and costs ------------------------------------------------------------------


def read_classes(estimator, X, y):
    """Read class labels, one for each row of X."""
    check_given(y, estimator)
    y = class_labels(estimator, y)
    if y.dtype.kind == "f":
        check_array(y, ensure_2d=False, input_name="y")
    check_classification_targets(y)
    check_consistent_length(X, y)
    return y


def class_labels(estimator, y):
    """Read y as one class label for each row; refuse missing labels."""
    refuse(CHECKS_OF_GIVEN_CLASSES, y=y, estimator=estimator)
    y = without_string_dtype(y)
    refuse_missing_labels(y)
    return column_or_1d(y, warn=True)


def read_costs(loss_matrix, classes, decisions, y):
    """Read the matrix of costs, and the labels of its rows and columns.

    Its rows are classes and its columns decisions. `loss_matrix`, `classes` and
    `decisions` are parameters of a classifier. y holds labels that `read_classes`
    accepts, and the order of an ordered Categorical is that of the rows; without y, for
    a part of the rows, the parameters must name the classes.
    """
    arrive(loss_matrix=loss_matrix, classes=classes, decisions=decisions)
    dtype: Any = getattr(y, "dtype", None)
    if y is not None:
        y = np.asarray(without_string_dtype(y))
    row_labels, column_labels = _frame_labels(loss_matrix)
    # Where the rows are named: the parameter, a frame, or an ordered Categorical.
    named_classes = row_labels if classes is None else classes
    is_ordered = loss_matrix is not None and getattr(dtype, "ordered", False)
    if named_classes is None and is_ordered:
        named_classes = dtype.categories
    given = Given(
        y=y,
        loss_matrix=loss_matrix,
        classes=classes,
        decisions=decisions,
        row_labels=row_labels,
        named_classes=named_classes,
    )
    refuse(CHECKS_OF_NAMED_CLASSES, given)
    given.labels = np.asarray(named_classes)
    if named_classes is None:
        given.labels = np.unique(np.asarray(y))
    given.matrix = _cost_matrix(loss_matrix, len(given.labels))
    refuse(CHECKS_OF_COSTS, given)
    n_decisions = given.matrix.shape[-1] if given.matrix.ndim == 2 else 0
    if decisions is None:
        decisions = column_labels
    if decisions is None:
        decisions = np.arange(n_decisions)
        if n_decisions == len(given.labels):
            decisions = given.labels
    return given.matrix, given.labels, np.asarray(decisions)


def _frame_labels(loss_matrix):
    """Labels of the rows and columns of a data frame of costs, or None for each."""
    if not hasattr(loss_matrix, "columns") or not hasattr(loss_matrix, "index"):
        return None, None
    rows = list(loss_matrix.index)
    columns = list(loss_matrix.columns)
    if rows == list(range(len(rows))):
        return None, None  # the default index names nothing
    if columns == list(range(len(columns))):
        return np.asarray(rows), None
    return np.asarray(rows), np.asarray(columns)


def names_classes(loss_matrix, classes):
    """Whether the parameters of a classifier name the classes."""
    if classes is not None:
        return True
    row_labels, _ = _frame_labels(loss_matrix)
    return row_labels is not None


def _cost_matrix(loss_matrix, n_classes):
    """Matrix of costs of a matrix or a name of costs."""
    if loss_matrix is None:
        return 1.0 - np.eye(n_classes)
    if isinstance(loss_matrix, str):
        check_parameter("loss_matrix", loss_matrix, ["absolute", "squared", MATRIX])
        # |i - j| or (i - j)^2
        differences = np.subtract.outer(np.arange(n_classes), np.arange(n_classes))
        return np.abs(differences) ** (2.0 if loss_matrix == "squared" else 1.0)
    return numbers(loss_matrix, "loss_matrix")


def check_same_classes(labels, classes):
    """Refuse labels that differ from the classes of the model, in any order."""
    refuse(CHECKS_OF_LATER_CLASSES, classes=labels, known=classes)


def class_indices(y, classes, *, accept_others=False):
    """Index of each label in the classes, in their order; -1 for others, if accepted.

    Labels of another type than the classes are refused, and so are labels if none is a
    class.
    """
    index_of = {label: i for i, label in enumerate(classes.tolist())}
    try:
        indices = (index_of.get(label, -1) for label in y.tolist())
        index = np.fromiter(indices, dtype=np.intp, count=len(y))
    except TypeError:  # a label without a hash
        index = np.array([-1])
    if (index < 0).any():
        refuse(CHECKS_OF_LABELS, y=y, classes=classes, accept_others=accept_others)
    return index


def decision_score(classifier, matrix, y, decisions, sample_weight):
    """One minus the mean cost of decisions, by their columns in the cost matrix.

    Every decision is wrong for a class that was not in fit; only the 0-1 loss knows its
    cost, 1.
    """
    labels = class_labels(classifier, y)
    is_zero_one = classifier.loss_matrix is None
    index = class_indices(labels, classifier.classes_, accept_others=is_zero_one)
    check_consistent_length(decisions, index)
    weights = read_weights(sample_weight, len(index))
    costs = np.where(index < 0, 1.0, matrix[index, decisions])
    return float(1.0 - np.average(costs, weights=weights))


# Binary labels ----------------------------------------------------------------------


def read_binary_labels(y, classes, pos_label, estimator, takes_classes=False):
    """Read whether each row is positive, the two classes and the positive class.

    Refuses other labels. y may hold only one of the `classes`, if they are given.
    Without `pos_label` the last of the sorted classes is positive. `takes_classes` says
    that the call has the argument `classes`.
    """
    y = _label_array(y, estimator)
    if y.ndim != 1:
        refuse(CHECKS_OF_BINARY_SHAPE, y=y, estimator=estimator)
    y = column_or_1d(y, warn=True)
    try:
        labels = np.unique(y)
    except TypeError:  # labels that cannot be compared
        refuse(CHECKS_OF_BINARY_SHAPE, y=y, estimator=estimator)
        raise
    check_classification_targets(y)
    if classes is not None:
        classes = np.unique(np.asarray(classes))
    is_usual = len(labels) == 2 and classes is None and pos_label is None
    if not is_usual:
        refuse(
            CHECKS_OF_BINARY_LABELS,
            y=y,
            labels=labels,
            classes=classes,
            pos_label=pos_label,
            takes_classes=takes_classes,
        )
    if classes is None:
        classes = labels
    if pos_label is None:
        pos_label = classes[1]
        if classes.dtype.kind in "OUS" and hasattr(estimator, "pos_label"):
            found(
                "positive class",
                f"pos_label is None: the last of {shown(classes.tolist())}, "
                f"{str(pos_label)!r}, is ranked at the top. Name the positive class: "
                "pos_label=...",
            )
    return y == pos_label, classes, pos_label


def read_label_sets(y, classes, estimator, *, least_columns=1, allow_missing=False):
    """Read a matrix of 0 and 1, or one binary label per row, and the classes.

    y of at least `least_columns` columns is a matrix, and its classes are the indices
    of the columns. Else y holds two labels; if both are given as `classes`, y may hold
    only one of them. A matrix may have NaN, an unknown label, if `allow_missing`.
    """
    refuse_ids_beside_grades(y)
    if kind_of(y) in ("other", "objects", "series"):
        refuse(CHECKS_OF_GIVEN_SETS, y=y)
    labels = _label_array(y, estimator, allow_missing=allow_missing)
    if labels.ndim != 2 or labels.shape[1] < least_columns:
        positive, classes, _ = read_binary_labels(y, classes, None, estimator)
        return positive[:, np.newaxis].astype(int), classes
    if labels.dtype.kind in "US":
        labels = labels.astype(object)  # text is compared one by one
    is_unknown = labels != labels
    refuse(
        CHECKS_OF_SETS, y=y, labels=labels, is_unknown=is_unknown, is_sparse=issparse(y)
    )
    sets = (labels == 1).astype(int)
    if is_unknown.any():
        sets = np.where(is_unknown, np.nan, sets)
    return sets, np.arange(sets.shape[1])


def _label_array(y, estimator, *, allow_missing=False):
    """Convert y to a dense array; refuse missing labels.

    A matrix may have NaN if `allow_missing`.
    """
    check_given(y, estimator)
    y = y.toarray() if issparse(y) else without_string_dtype(y)
    refuse_missing_labels(y)
    may_be_nan = allow_missing and np.asarray(y).ndim == 2
    return check_array(
        y,
        ensure_2d=False,
        allow_nd=True,
        dtype=None,
        ensure_all_finite="allow-nan" if may_be_nan else True,
        input_name="y",
        estimator=estimator,
    )
