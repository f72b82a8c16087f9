"""Classes, decisions and their costs: the one reader of a cost matrix and the labels it names."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from ._arrays import as_array, numbers
from ._labels import refuse_missing_labels


class Costs(NamedTuple):
    """What each decision costs each class.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_decisions)
    classes : ndarray of shape (n_classes,)
    decisions : ndarray of shape (n_decisions,)
    """

    matrix: np.ndarray
    classes: np.ndarray
    decisions: np.ndarray


def read_classes(estimator, X, y):
    """Class labels of the rows of X; refuses what is not one label for each."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    y = class_labels(estimator, y)
    if y.dtype.kind == "f":
        check_array(y, ensure_2d=False, input_name="y")
    check_classification_targets(y)
    check_consistent_length(X, y)
    return y


def class_labels(estimator, y):
    """y as one class label per row, none of them missing."""
    if getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError(
            f"y carries query ids or other fields, {y.dtype.names}, and {type(estimator).__name__} "
            "takes one class label per row, without lists: give it y['y']."
        )
    refuse_missing_labels(y)
    return column_or_1d(y, warn=True)


def read_costs(loss_matrix, classes, decisions, y):
    """`Costs` of the parameters of a classifier and the labels seen in fit.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions) or None
        None is the 0-1 loss; a data frame names rows and columns.
    classes, decisions : array-like or None
        Labels of the rows and columns.
    y : ndarray of shape (n_rows,) or None
        None where not all rows are at hand: the parameters must then name the classes.
    """
    rows, columns = _frame_labels(loss_matrix, y, classes)
    given = rows if classes is None else classes
    if given is None and y is None:
        raise ValueError(
            "classes must be passed on the first call to partial_fit, and to fit_blocks: a batch "
            "need not hold all labels. Or name them by the parameter classes=[...]."
        )
    labels = np.unique(y) if given is None else distinct_labels(given)
    matrix = _matrix(loss_matrix, labels, classes is not None)
    return Costs(
        matrix,
        labels,
        _decision_labels(matrix.shape, labels, columns if decisions is None else decisions),
    )


def _matrix(loss_matrix, labels, given):
    n = len(labels)
    if loss_matrix is None:
        return 1.0 - np.eye(n)
    matrix = numbers(loss_matrix, "loss_matrix")
    if matrix.ndim == 2 and len(matrix) != n:
        source = "classes has" if given else "y holds"
        raise ValueError(
            f"loss_matrix has {len(matrix)} rows but {source} {n} labels: give one row per "
            "class, and classes=[...] with the labels of the rows if some may be missing in y."
        )
    return matrix


def _decision_labels(shape, labels, given):
    n_decisions = shape[-1] if len(shape) == 2 else 0
    if given is not None:
        decisions = np.asarray(given)
        if decisions.shape != (n_decisions,):
            raise ValueError(
                f"decisions has shape {decisions.shape} but loss_matrix has {n_decisions} columns."
            )
        return decisions
    return labels if n_decisions == len(labels) else np.arange(n_decisions)


def _frame_labels(loss_matrix, y, classes):
    """Labels of the rows and columns of a data frame of costs, None where it names none."""
    if not hasattr(loss_matrix, "columns") or not hasattr(loss_matrix, "index"):
        return None, None
    rows, columns = list(loss_matrix.index), list(loss_matrix.columns)
    if rows == list(range(len(rows))):
        return None, None  # the default index names nothing
    missing = sorted(set(() if y is None else y.tolist()) - set(rows), key=str)
    if missing or (classes is not None and list(classes) != rows):
        wrong = f"lacks the labels {missing}" if missing else f"is not classes={list(classes)}"
        raise ValueError(
            f"The index {rows} of the data frame loss_matrix {wrong}: its index must name the "
            "classes of the rows, or give loss_matrix.to_numpy()."
        )
    return np.asarray(rows), None if columns == list(range(len(columns))) else np.asarray(columns)


def names_classes(loss_matrix, classes):
    """Whether the parameters of a classifier say which classes there are."""
    return classes is not None or _frame_labels(loss_matrix, None, None)[0] is not None


def check_same_classes(labels, classes):
    """Refuse labels of a batch that are not those of the model, in whatever order."""
    if set(labels.tolist()) != set(classes.tolist()):
        raise ValueError(
            f"classes={labels.tolist()} are not the same as before, {classes.tolist()}: those of "
            "the first call to partial_fit, of an earlier fit or of the parameters. Use fit to "
            "start anew."
        )


def distinct_labels(classes):
    """Labels of classes as an array; refuses what is not a list of distinct ones."""
    labels = as_array(classes)
    try:
        known = labels.ndim == 1 and len(np.unique(labels)) == len(labels) > 0
    except TypeError:  # labels that cannot be compared
        known = False
    if not known:
        raise ValueError(f"classes must be a list of distinct labels, got {classes!r}.")
    return labels


def class_indices(y, classes):
    """Position of each label among the classes, which need not be sorted."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    try:
        index = np.fromiter((place.get(label, -1) for label in y.tolist()), np.intp, len(y))
    except TypeError as error:
        raise ValueError(f"y must hold one class label per row: {error}.") from None
    if np.any(index < 0):
        row = int(np.argmax(index < 0))
        raise ValueError(
            f"y[{row}] = {y.tolist()[row]!r} is not among the classes {classes.tolist()}."
        )
    return index
