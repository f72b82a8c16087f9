"""Labels of a binary classifier, one list of rows, lists by query id, or rows as lists."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ._labels import refuse_missing_labels
from ._lists import RankingLists


class Labels(NamedTuple):
    """What y says.

    Attributes
    ----------
    positive : ndarray of bool, shape (n,) or (n, L)
    classes : ndarray of shape (2,), or (L,) column indices for a matrix
    pos_label : object
        The positive one of the classes; 1 for a matrix.
    lists : RankingLists or None
        The queries of the rows where ids are given.
    """

    positive: np.ndarray
    classes: np.ndarray
    pos_label: object
    lists: RankingLists | None

    @property
    def one_list(self):
        return self.positive.ndim == 1 and self.lists is None

    @property
    def n_items(self):
        """Number of labels of a row of a matrix, else None."""
        return self.positive.shape[1] if self.positive.ndim == 2 else None

    @property
    def n_lists(self):
        if self.one_list:
            return 1
        return len(self.positive) if self.lists is None else self.lists.n_lists

    @property
    def comparable(self):
        """Whether some list has a positive and a negative, one to rank above the other."""
        if self.positive.ndim == 2:
            return bool(np.any(self.positive.any(axis=1) & ~self.positive.all(axis=1)))
        if self.lists is None:
            return bool(self.positive.any() and not self.positive.all())
        counts = self.lists.sum(self.lists.group(self.positive).astype(int))
        return bool(np.any((counts > 0) & (counts < self.lists.lengths)))

    def pick(self, rows):
        """The labels of some rows."""
        lists = self.lists
        if lists is not None:
            lists = RankingLists.from_qid(lists.ungroup(lists.index)[rows])
        return self._replace(positive=self.positive[rows], lists=lists)

    def hold_out(self, fraction, strata, random_state):
        """Indices of the rows to learn from and of the held-out rows; queries stay whole.

        Parameters
        ----------
        fraction : float
        strata : ndarray of bool, shape (n_units,)
            A unit is a query, or a row without query ids. The fraction is held out of both strata,
            one unit at least.
        random_state : RandomState
        """
        is_held = np.zeros(len(strata), dtype=bool)
        for units in (np.flatnonzero(strata), np.flatnonzero(~strata)):
            random_state.shuffle(units)
            is_held[units[: max(1, round(fraction * len(units)))]] = True
        if self.lists is not None:
            is_held = is_held[self.lists.ungroup(self.lists.index)]
        rest, held = np.flatnonzero(~is_held), np.flatnonzero(is_held)
        if not all(len(rows) and self.pick(rows).comparable for rows in (rest, held)):
            raise ValueError(
                f"early_stopping cannot hold out validation_fraction={fraction:g} of "
                f"{len(is_held)} rows with {np.count_nonzero(self.positive)} positives: in one "
                "part no list has both positives and negatives. Switch it off or change the "
                "fraction."
            )
        return rest, held


def read_binary_labels(y, qid, classes, pos_label, estimator):
    """`Labels` of y; refuses what is not binary, saying what to do.

    Parameters
    ----------
    y : array-like of shape (n,), or (n, L) of 0 and 1
    qid : array-like of shape (n,) or None
    classes : array-like of shape (2,) or None
        All labels, where y may hold only one of them.
    pos_label : object or None
        None is the last of the sorted classes.
    estimator : estimator
        Named in messages.
    """
    name = type(estimator).__name__
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    y = y.toarray() if issparse(y) else y
    refuse_missing_labels(y)
    # allow_nd leaves the complaint about dimensions to those who know them.
    y = check_array(
        y, ensure_2d=False, allow_nd=True, dtype=None, input_name="y", estimator=estimator
    )
    if y.ndim == 2 and y.shape[1] > 1:
        return _matrix_labels(y, qid, pos_label)
    y = column_or_1d(y, warn=True)
    try:
        check_classification_targets(y)
        classes = _two_classes(y, classes)
    except TypeError:  # labels that cannot be compared
        raise ValueError(
            "y mixes kinds of labels that cannot be compared: every row needs one of two labels."
        ) from None
    if pos_label is None:
        pos_label = classes[1]
        if classes.dtype.kind in "OUS":
            warnings.warn(
                f"pos_label is None: of {classes.tolist()} the last, {str(pos_label)!r}, is ranked "
                "at the top. Say which class is to be found: pos_label=...",
                stacklevel=4,
            )
    elif pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label={pos_label!r} is not a valid label: it should be one of "
            f"{classes.tolist()}. (Where another estimator has encoded the labels, give it "
            "y = (label == pos_label) and leave pos_label out.)"
        )
    lists = None if qid is None else RankingLists.from_qid(qid, len(y))
    return Labels(y == pos_label, classes, pos_label, lists)


def _matrix_labels(y, qid, pos_label):
    if qid is not None:
        raise ValueError(
            f"y of shape {y.shape} holds one list of labels per row and takes no qid. qid goes "
            "with a one-dimensional y."
        )
    if pos_label not in (None, 1):
        raise ValueError(f"A matrix y of 0 and 1 has pos_label 1, got {pos_label!r}.")
    wrong = ~((y == 0) | (y == 1))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"A matrix y must hold 0 and 1, but y{list(place)} is {y[place]}.")
    return Labels(y == 1, np.arange(y.shape[1]), 1, None)


def _two_classes(y, classes):
    seen = np.unique(y)
    if len(seen) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y holds {len(seen)} classes, {seen[:5].tolist()}"
            f"{', ...' if len(seen) > 5 else ''}. Say which rows are positive: y = (y == label), "
            "or y = (grade >= threshold)."
        )
    if classes is None:
        if len(seen) < 2:
            raise ValueError(
                f"y holds one class only, {seen.tolist()}: both positives and negatives are needed."
            )
        return seen
    classes = np.unique(np.asarray(classes))
    if len(classes) != 2:
        raise ValueError(
            f"Only binary classification is supported: classes must hold two labels, got "
            f"{classes.tolist()}."
        )
    unknown = np.setdiff1d(seen, classes)
    if len(unknown):
        raise ValueError(
            f"y holds the label {unknown.tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()} of this model."
        )
    return classes


def threshold_between(scores, n_above):
    """A threshold above which at most `n_above` scores lie; equal scores stay together.

    Midway between the highest score that is out and the next that is not equal to it.
    """
    scores = scores.ravel()
    if n_above >= len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    n_out = len(scores) - n_above
    parted = np.partition(scores, n_out - 1)
    highest_out, above = parted[n_out - 1], parted[n_out:]
    above = above[above > highest_out]
    if not len(above):
        return float(np.nextafter(highest_out, np.inf))
    middle = highest_out + (above.min() - highest_out) / 2
    return float(middle if middle > highest_out else above.min())
