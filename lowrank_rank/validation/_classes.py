"""Readers of class labels, binary labels and costs of decisions."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._arrays import numbers, shown, without_string_dtype
from ._columns import lines_of_words
from ._labels import (
    check_given,
    read_weights,
    refuse_ids_beside_grades,
    refuse_missing_labels,
)
from ._warn import warn

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
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields:
        raise ValueError(
            f"y carries query ids or other fields, {fields}, and "
            f"{type(estimator).__name__} takes one class label per row, without lists: "
            "give it y['y']."
        )
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
    dtype: Any = getattr(y, "dtype", None)
    if y is not None:
        y = np.asarray(without_string_dtype(y))
    row_labels, column_labels = _frame_labels(loss_matrix, y, classes)
    # Where the rows are named: the parameter, a frame, or an ordered Categorical.
    named_classes = row_labels if classes is None else classes
    is_ordered = loss_matrix is not None and getattr(dtype, "ordered", False)
    if named_classes is None and is_ordered:
        named_classes = dtype.categories
    if named_classes is None and y is None:
        raise ValueError(
            "classes must be passed on the first call to partial_fit, and to "
            "fit_blocks: a batch may lack some labels. Or set the parameter "
            "classes=[...]."
        )
    labels = (
        np.unique(np.asarray(y))
        if named_classes is None
        else distinct_labels(named_classes)
    )
    source = "y holds" if classes is None else "classes has"
    matrix = _cost_matrix(loss_matrix, labels, source)
    if named_classes is None:
        _check_order(matrix, labels, decisions)
    n_decisions = matrix.shape[-1] if matrix.ndim == 2 else 0
    if decisions is None:
        decisions = column_labels
    if decisions is None:
        decisions = labels if n_decisions == len(labels) else np.arange(n_decisions)
    elif np.shape(decisions) != (n_decisions,):
        raise ValueError(
            f"decisions has shape {np.shape(decisions)} but loss_matrix has "
            f"{n_decisions} columns."
        )
    return matrix, labels, np.asarray(decisions)


def _frame_labels(loss_matrix, y, classes):
    """Labels of the rows and columns of a data frame of costs, or None for each."""
    if not hasattr(loss_matrix, "columns") or not hasattr(loss_matrix, "index"):
        return None, None
    rows = list(loss_matrix.index)
    columns = list(loss_matrix.columns)
    if rows == list(range(len(rows))):
        return None, None  # the default index names nothing
    wrong = ""
    if classes is not None and list(classes) != rows:
        wrong = f"is not classes={shown(list(classes))}"
    if y is not None:
        missing = sorted(set(np.unique(y).tolist()) - set(rows), key=str)
        if missing:
            wrong = f"lacks the labels {missing}"
    if wrong:
        raise ValueError(
            f"The index {rows} of the data frame loss_matrix {wrong}: its index must "
            "name the classes of the rows, or give loss_matrix.to_numpy()."
        )
    if columns == list(range(len(columns))):
        return np.asarray(rows), None
    return np.asarray(rows), np.asarray(columns)


def names_classes(loss_matrix, classes):
    """Whether the parameters of a classifier name the classes."""
    if classes is not None:
        return True
    row_labels, _ = _frame_labels(loss_matrix, None, None)
    return row_labels is not None


def _cost_matrix(loss_matrix, labels, source):
    """Matrix of costs with a row for each label; `source` says where these are from."""
    n_classes = len(labels)
    if loss_matrix is None:
        return 1.0 - np.eye(n_classes)
    if isinstance(loss_matrix, str):
        if loss_matrix not in ("absolute", "squared"):
            raise ValueError(
                f"loss_matrix={shown(loss_matrix)} is unknown: give a matrix, "
                "'absolute' or 'squared'."
            )
        # |i - j| or (i - j)^2
        differences = np.subtract.outer(np.arange(n_classes), np.arange(n_classes))
        return np.abs(differences) ** (2.0 if loss_matrix == "squared" else 1.0)
    matrix = numbers(loss_matrix, "loss_matrix")
    if matrix.ndim == 2 and len(matrix) != n_classes:
        raise ValueError(
            f"loss_matrix has {len(matrix)} rows but {source} {n_classes} labels: give "
            "one row per class, and classes=[...] with the labels of the rows if some "
            "may be missing in y."
        )
    return matrix


def _check_order(matrix, labels, decisions):
    """Refuse to guess which rows of the matrix belong to which strings.

    Accepts a matrix for which every order of the labels means the same costs.
    """
    has_text = any(isinstance(label, str) for label in labels.tolist())
    if matrix.ndim != 2 or not has_text:
        return
    if decisions is None and matrix.shape[0] == matrix.shape[1]:
        # One cost on the diagonal and one beside it.
        is_own = np.eye(len(matrix), dtype=bool)
        must_be_equal = [matrix[is_own], matrix[~is_own]]
    else:
        # One cost for each decision.
        must_be_equal = matrix.T
    if any(np.any(costs != costs[:1]) for costs in must_be_equal):
        raise ValueError(
            "Which rows of loss_matrix belong to which labels? Another order than "
            f"{shown(labels.tolist())} means other costs. Give classes=[...] in the "
            "order of the rows, or name them: a data frame with index and columns, or "
            "y as an ordered Categorical."
        )


def check_same_classes(labels, classes):
    """Refuse labels that differ from the classes of the model, in any order."""
    if set(labels.tolist()) != set(classes.tolist()):
        raise ValueError(
            f"classes={shown(labels.tolist())} are not the same as before, "
            f"{shown(classes.tolist())}: use fit."
        )


def distinct_labels(classes):
    """Labels of classes as an array; refuses repeated labels."""
    labels = np.asarray(classes)
    try:
        are_distinct = labels.ndim == 1 and len(np.unique(labels)) == len(labels) > 0
    except TypeError:  # labels that cannot be compared
        are_distinct = False
    if not are_distinct:
        raise ValueError(
            f"classes must be a list of distinct labels, got {shown(classes)}."
        )
    return labels


def class_indices(y, classes, *, accept_others=False):
    """Index of each label in the classes, in their order; -1 for others, if accepted.

    Labels of another type than the classes are refused, and so are labels if none is a
    class.
    """
    index_of = {label: i for i, label in enumerate(classes.tolist())}
    try:
        indices = (index_of.get(label, -1) for label in y.tolist())
        index = np.fromiter(indices, dtype=np.intp, count=len(y))
    except TypeError as error:
        raise ValueError(f"y must hold one class label per row: {error}.") from None
    is_other = index < 0
    if not is_other.any():
        return index
    is_same_type = y.dtype.kind == classes.dtype.kind
    if not (accept_others and is_same_type and not is_other.all()):
        row = int(np.argmax(is_other))
        raise ValueError(
            f"y[{row}] = {shown(y.tolist()[row])} is not among the classes "
            f"{shown(classes.tolist())}."
        )
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


def read_binary_labels(y, classes, pos_label, estimator, remedy=""):
    """Read whether each row is positive, the two classes and the positive class.

    Refuses other labels. y may hold only one of the `classes`, if they are given.
    Without `pos_label` the last of the sorted classes is positive.
    """
    y = _label_array(y, estimator)
    if y.ndim == 2 and y.shape[1] > 1:
        name = type(estimator).__name__
        raise ValueError(
            f"y has shape {y.shape}, and {name} takes one label per row. Fit one "
            f"classifier for each column: OneVsRestClassifier({name}()), or "
            f"MultiOutputClassifier({name}())."
        )
    y = column_or_1d(y, warn=True)
    try:
        check_classification_targets(y)
        classes = _two_classes(y, classes, remedy)
    except TypeError:  # labels that cannot be compared
        raise ValueError(
            "y mixes kinds of labels: every row needs one of two labels."
        ) from None
    if pos_label is None:
        pos_label = classes[1]
        if classes.dtype.kind in "OUS" and hasattr(estimator, "pos_label"):
            warn(
                f"pos_label is None: the last of {shown(classes.tolist())}, "
                f"{str(pos_label)!r}, is ranked at the top. Name the positive class: "
                "pos_label=..."
            )
    elif pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label={shown(pos_label)} is not a valid label: it should be one of "
            f"{shown(classes.tolist())} (if another estimator encodes labels, y = "
            "(label == pos_label))."
        )
    return y == pos_label, classes, pos_label


def _two_classes(y, classes, remedy):
    """Return the two classes, from the labels or as given, sorted."""
    labels = np.unique(y)
    if len(labels) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, y holds {len(labels)} classes: give y == label or y "
            ">= grade."
        )
    if classes is None:
        return check_two_classes(labels, remedy=remedy)
    classes = np.unique(np.asarray(classes))
    if len(classes) != 2:
        raise ValueError(
            f"classes must hold two labels, got {shown(classes.tolist())}."
        )
    others = np.setdiff1d(labels, classes)
    if len(others):
        raise ValueError(
            f"The label {shown(others.tolist()[0])} is not among the classes "
            f"{shown(classes.tolist())}."
        )
    return classes


#: The remedy of a first `partial_fit` with one class, for messages.
ALL_CLASSES = " Give all labels: partial_fit(X, y, classes=[...])."


def check_two_classes(labels, name="y", remedy=""):
    """Return the labels of y, or of another `name`; refuse a single one."""
    if len(labels) < 2:
        raise ValueError(
            f"{name} holds one class only, {shown(labels.tolist())}: at least two are "
            f"needed.{remedy}"
        )
    return labels


def read_label_sets(y, classes, estimator, *, least_columns=1, allow_missing=False):
    """Read a matrix of 0 and 1, or one binary label per row, and the classes.

    y of at least `least_columns` columns is a matrix, and its classes are the indices
    of the columns. Else y holds two labels; if both are given as `classes`, y may hold
    only one of them. A matrix may have NaN, an unknown label, if `allow_missing`.
    """
    refuse_ids_beside_grades(y)
    labels = _label_array(y, estimator, allow_missing=allow_missing)
    if labels.ndim != 2 or labels.shape[1] < least_columns:
        positive, classes, _ = read_binary_labels(y, classes, None, estimator)
        return positive[:, np.newaxis].astype(int), classes
    if labels.dtype.kind in "US":
        labels = labels.astype(object)  # text is compared one by one
    is_unknown = labels != labels
    is_wrong = ~((labels == 0) | (labels == 1) | is_unknown)
    if is_wrong.any():
        place = tuple(int(i) for i in np.argwhere(is_wrong)[0])
        remedy = "Lists of tags become such a matrix by MultiLabelBinarizer."
        if lines := lines_of_words(labels.ravel(), y, "y"):
            remedy = f"Give {lines}, whichever says that a label holds."
        raise ValueError(
            f"A matrix y must hold 0 and 1, but y{list(place)} is "
            f"{shown(labels[place])}. {remedy}"
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


# Thresholds -------------------------------------------------------------------------


def threshold_between(scores, n_above):
    """Find a threshold with at most `n_above` scores above it; ties stay together.

    The threshold is midway between the highest score below it and the next larger
    score.
    """
    scores = scores.ravel()
    if n_above >= len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    # The highest score that is not above the threshold.
    place = len(scores) - n_above - 1
    lower = np.partition(scores, place)[place]
    upper = np.min(scores, where=scores > lower, initial=np.inf)
    if upper == np.inf:
        return float(np.nextafter(lower, np.inf))
    middle = lower + (upper - lower) / 2
    # No float lies between two neighbours.
    return float(middle if middle > lower else upper)
