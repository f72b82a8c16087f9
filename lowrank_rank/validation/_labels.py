"""The one reader of labels: y, the query ids that it may carry, NaN, and weights.

Estimators, measures, scorers, surrogates and boosting objectives all read their input
here. So the same input means the same everywhere, and errors have the same words. The
results are plain float arrays, and the lists that their rows form.
"""

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
)

from ..lists._lists import RankingLists, same_id
from ._arrays import (
    ArrayLike,
    check_same_columns,
    check_same_index,
    check_same_labels,
    exact_scores,
    is_array,
    is_finite,
    look_for_names_of_ids,
    n_rows,
    numbers,
)
from ._check import Given, InputError, refuse
from ._checks_of_labels import (
    CHECKS_OF_CLASS_LABELS,
    CHECKS_OF_DISTRIBUTIONS,
    CHECKS_OF_MISSING,
    CHECKS_OF_ONE_LIST,
    CHECKS_OF_ROWS,
    CHECKS_OF_SCORES,
    CHECKS_OF_SORTED_TARGETS,
    CHECKS_OF_TARGET,
    CHECKS_OF_VALUES,
    CHECKS_OF_VALUES_THAT_FAILED,
    CHECKS_OF_WEIGHTS,
    CHECKS_OF_Y,
    MANY_ROWS,
)
from ._frames import column_names, is_frame, name_of_level, without_string_dtype
from ._ids import id_array, read_lists
from ._kinds import arrive
from ._parameters import check_parameter
from ._rules import look_for
from ._times import dates_of, read_times


def ranking_target(
    y: ArrayLike, qid: ArrayLike, *, time: ArrayLike | None = None
) -> np.ndarray:
    """Pack grades and query ids into one array that scikit-learn slices as one.

    Every tool of scikit-learn that takes rows out of `y` (cross-validation, bagging,
    a learning curve) then takes the ids out with them, without any configuration.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Grades, higher is better.
    qid : array-like of shape (n_rows,)
        Query id of each row: any hashable ids, in any order.
    time : array-like of shape (n_rows,) or None, default=None
        Time of each row, for `model_selection.QueryTimeSeriesSplit`: numbers, dates,
        periods or durations, no text. Nothing else reads it.

    Returns
    -------
    target : structured ndarray of shape (n_rows,)
        An array with the fields "y" and "qid", and "time" if it is given. Estimators,
        measures and scorers of this package take it wherever they take `y`. A last
        field raises an error if rows are sorted: a tool that takes plain grades would
        take pairs of grade and id for classes. `WrappedRanker` gives it the grades.

    Raises
    ------
    ValueError
        If the lengths differ, `y` is not one-dimensional, an id or a time is missing,
        or a time is text.

    Examples
    --------
    >>> from lowrank_rank import ranking_target
    >>> target = ranking_target([2, 0, 1], ["a", "a", "b"])
    >>> target["y"].tolist(), target["qid"].tolist()
    ([2.0, 0.0, 1.0], ['a', 'a', 'b'])
    """
    arrive(y=y, qid=qid, time=time)
    check_same_index(y=y, qid=qid, time=time)
    y = _grades_of_target(y, qid)
    # Ids are checked here, where the user can still see them.
    lists = read_lists(qid)
    qid = lists.ids[lists.codes]
    if len(qid) != len(y):
        refuse(CHECKS_OF_TARGET, y=y, n_ids=len(qid), qid=qid)
    look_for("swapped ids", y, lists, "ranking_target(y, qid)")
    if time is not None:
        time = read_times(time)
        check_consistent_length(y, time)
    return joined_target(y, without_string_dtype(qid), time)


def _grades_of_target(y, qid):
    """Convert one grade a row to floats."""
    given = Given(y=y, qid=qid)
    grades = None
    if not (is_array(y) and y.ndim == 1):
        try:
            refuse(CHECKS_OF_TARGET, given)
            grades = np.asarray(y, dtype=np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            given.error = error
            refuse(CHECKS_OF_TARGET, given)
            raise
    else:
        grades = y.astype(np.float64, copy=False)
    return grades


class NeverClasses:
    """Entry of each row of a `ranking_target`, which raises when rows are sorted.

    Tools that take the labels for classes sort them first, and would take each pair of
    grade and query id for a class.
    """

    def _refuse(self, other):
        refuse(CHECKS_OF_SORTED_TARGETS)

    __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __repr__(self) -> str:
        return "..."

    def __reduce__(self) -> str:
        return "NEVER_CLASSES"


#: The one entry of all rows: copies and other processes have the same.
NEVER_CLASSES = NeverClasses()

#: The field of this entry. NumPy shows it where a tool converts y to floats.
HINT = "use WrappedRanker"


def joined_target(y, qid, time=None):
    """Join checked labels, query ids and times into the array of a `ranking_target`."""
    fields = {"y": y, "qid": qid}
    if time is not None:
        fields["time"] = time
    types = [(name, values.dtype) for name, values in fields.items()]
    target = np.empty(len(y), dtype=[*types, (HINT, object)])
    for name, values in fields.items():
        target[name] = values
    target[HINT] = NEVER_CLASSES
    return target


# Query ids that y carries -----------------------------------------------------------


def split_target(y, qid=None, X=None):
    """Split y into the labels alone and the query ids, given beside y or carried by it.

    y carries ids as a `ranking_target`, or in an index with a level "qid", "query_id"
    or "q_id". Refuses ids that are given twice and differ, and ids that only the index
    of X has.
    """
    if is_array(y) and X is None:
        return y, qid
    refuse_ids_beside_grades(y)
    if not carries_qid(y):
        if qid is None and name_of_level(X) is not None:
            refuse(CHECKS_OF_Y, y=y, name="y", X=X)
        return y, qid
    if isinstance(y, np.ndarray):
        refuse(CHECKS_OF_Y, y=y, name="y")
        carried_qid = y["qid"]
        labels = y["y"]
    else:
        carried_qid = y.index.get_level_values(name_of_level(y)).to_numpy()
        labels = y.to_numpy()
    if qid is None:
        check_same_index(X=X, qid=carried_qid)
    elif not _are_same_ids(id_array(carried_qid), id_array(qid)):
        refuse(CHECKS_OF_Y, y=y, name="y", ids_differ=True)
    return labels, carried_qid


def carried_times(y):
    """Return the field "time" of a `ranking_target`, or None."""
    if isinstance(y, np.ndarray) and "time" in (y.dtype.names or ()):
        return y["time"]
    return None


def times_of_rows(y, qid):
    """Return the times that y carries, else ids that are dates, else None."""
    times = carried_times(y)
    if times is not None:
        return times
    for ids in (qid, split_target(y)[1]):
        dates = None if ids is None else dates_of(ids)
        if dates is not None:
            return dates
    return None


def _are_same_ids(one, two):
    """Whether two arrays have the same ids row by row."""
    if len(one) != len(two):
        return False
    if one.dtype.kind != two.dtype.kind:
        # NumPy does not compare strings with numbers.
        one = one.astype(object)
        two = two.astype(object)
    if one.dtype == object:
        return all(map(same_id, one, two))
    return all(one == two)


def refuse_ids_beside_grades(y, name="y"):
    """Refuse a table y that has a column of ids or row numbers: it would be an item.

    A table of one column has the labels of documents.
    """
    if is_frame(y) and not isinstance(y, np.ndarray) and len(column_names(y)) > 1:
        refuse(CHECKS_OF_Y, y=y, name=name)
        look_for_names_of_ids(y, name, "an item")


def carries_qid(y):
    """Whether y is a structured array, or documents whose index has a level of ids."""
    if isinstance(y, np.ndarray):
        return y.dtype.names is not None
    # In this order: ragged labels are refused here, first of all.
    return one_label_per_row(y) and name_of_level(y) is not None


def one_label_per_row(y):
    """Whether y labels documents; each row of a matrix of several columns is a list."""
    if isinstance(y, list | tuple):
        lengths = {len(row) for row in y if isinstance(row, list | tuple)}
        if len(lengths) > 1:
            refuse(CHECKS_OF_Y, y=y, name="y")
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return len(shape) == 1 or shape[1:] == (1,)


# Labels -----------------------------------------------------------------------------


def read_item_names(estimator, y, *, reset):
    """Keep the names of y's columns as `item_names_` if `reset`, else refuse others."""
    if not is_frame(y) or one_label_per_row(y):
        return
    item_names = getattr(estimator, "item_names_", None)
    if reset:
        estimator.item_names_ = id_array(column_names(y))
    elif item_names is not None:
        check_same_columns(fit=dict.fromkeys(item_names.tolist()), y=y)


def check_given(y, estimator):
    """Refuse y=None, in scikit-learn's words."""
    if y is None:
        refuse(CHECKS_OF_Y, y=None, model=estimator)


def read_labels(y, name="y", estimator=None, accept_sparse=False):
    """Read y as floats of 1 (documents), 2 (items) or 3 (preferences) dimensions.

    `check_judged` refuses NaN later. A single column is documents, with scikit-learn's
    warning. With `accept_sparse` a sparse y becomes a CSR matrix whose entries are all
    > 0.
    """
    if is_array(y) and 1 <= y.ndim <= 3 and y.size and y.shape[1:] != (1,):
        y = y.astype(np.float64, copy=False)
        if not np.isinf(y).any():
            return y
    check_given(y, estimator)
    if accept_sparse and sparse.issparse(y):
        return _read_sparse(y, name)
    y = numbers_of(
        y,
        name,
        what="hold numbers, grades that are higher for better",
        allow_nd=True,
        ensure_all_finite="allow-nan",
        estimator=estimator,
    )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim > 3:
        refuse(CHECKS_OF_Y, y=y, name=name)
    return y


def _read_sparse(y, name):
    """Copy sparse labels to CSR, with sorted columns and without explicit zeros."""
    y = sparse.csr_matrix(y, dtype=np.float64, copy=True)
    y.sum_duplicates()
    y.eliminate_zeros()
    if y.shape[1] < 2 or not np.all((y.data > 0) & np.isfinite(y.data)):
        refuse(CHECKS_OF_Y, y=y, name=name)
    return y


def numbers_of(values, name, what="hold numbers", **options):
    """Check an array of floats by scikit-learn, and reword NumPy's message."""
    given = Given(value=values, name=name, what=what)
    if not is_array(values):
        refuse(CHECKS_OF_VALUES, given)
    try:
        return check_array(
            values, ensure_2d=False, dtype=np.float64, input_name=name, **options
        )
    except (OverflowError, TypeError, ValueError) as error:
        given.error = error
        refuse(CHECKS_OF_VALUES_THAT_FAILED, given)
        raise


def refuse_missing_labels(y):
    """Refuse class labels that are missing: None, NaN or the NA of data frames.

    The message names the row. Refuses sets and ragged rows too.
    """
    if not (is_array(y) and y.dtype.kind in "biu"):
        refuse(CHECKS_OF_CLASS_LABELS, y=y)


# Lists of the rows of y -------------------------------------------------------------


def lists_of(y, qid, name="y"):
    """Return the lists of y's rows; each row of a matrix y is a list of its own."""
    if y.ndim == 1:
        return read_lists(qid, len(y))
    if qid is not None:
        refuse(CHECKS_OF_ROWS, y=y, qid=qid, name=name, n_rows=y.shape[0])
    n_lists, n_items = y.shape[:2]
    return RankingLists.equal(n_lists, n_items)


# Missing judgements -----------------------------------------------------------------


def check_judged(y, allow_missing, *, who="this measure", name="y", others=()):
    """Refuse NaN in rows and preferences; in a matrix unless `allow_missing`.

    The message calls y `name` and the measure or estimator `who`, and offers the
    measures `others`, which take missing judgements.
    """
    if not is_finite(y):
        refuse(
            CHECKS_OF_MISSING,
            y=y,
            name=name,
            who=who,
            others=others,
            allow_missing=allow_missing,
        )


def check_items_judged(y, weights, arguments=None):
    """Refuse a matrix y in which no row that counts judges one of the items.

    `arguments` are those of the call, for the lines of the message.
    """
    if y.ndim == 2 and not is_finite(y):
        refuse(
            CHECKS_OF_MISSING,
            y=y,
            weights=weights,
            allow_missing=True,
            arguments=arguments,
        )


def refuse_unjudged_item(column):
    """Refuse a fixed item that no row judges."""
    raise ValueError(
        f"{column} is NaN in every row that counts: no query judges this item. Drop "
        "the column."
    )


# Weights and probabilities ----------------------------------------------------------


def read_weights(sample_weight, n_rows, n_lists=None, *, whole=True, lists=None):
    """Read weights >= 0 of rows, or of lists if `n_lists` is given; None is ones.

    The `lists` of the rows are for messages: weights of lists become weights of rows.
    Refuses weights that are all 0, unless y is one block and not the `whole` of the
    data.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weights = numbers_of(sample_weight, "sample_weight")
    shapes = ((n_rows,), (n_lists,))
    with np.errstate(over="ignore"):
        is_usual = weights.shape in shapes and 1e-305 <= np.sum(weights) <= 1e305
    if not is_usual or np.any(weights < 0):
        refuse(
            CHECKS_OF_WEIGHTS,
            weights=weights,
            shapes=shapes,
            lists=lists,
            is_whole=whole,
        )
    return weights


def refuse_zero_weights():
    """Refuse weights that are all zero."""
    raise ValueError("All sample weights are zero: at least one row must count.")


def read_distributions(probabilities, n_labels):
    """Read distributions over labels, (n, n_labels); refuse rows without the sum 1."""
    p = numbers(probabilities, "probabilities")
    refuse(CHECKS_OF_DISTRIBUTIONS, probabilities=p, n_labels=n_labels)
    return p


# Labels and scores ------------------------------------------------------------------


def read_scored(y_true, y_score, qid=None, sample_weight=None, *, check):
    """Read labels and scores of a measure, flat, with their lists and list weights.

    Weights are of rows (a list has the mean weight of its rows) or of lists. ``check(y)
    -> y`` gets the labels as the user laid them out, to name a wrong one's place.
    Preferences keep the shape (n_lists, r, r).
    """
    refuse_ids_beside_grades(y_true, "y_true")
    refuse_ids_beside_grades(y_score, "y_score")
    check_same_labels(
        y_true=y_true, y_score=y_score, qid=qid, sample_weight=sample_weight
    )
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true")
    scores = read_scores(y_score, y)
    lists = lists_of(y, qid, "y_true")
    look_for("single items", lists)
    y = check(y)
    if y.ndim < 3:
        y = y.ravel()
    return y, scores, lists, list_weights(sample_weight, lists)


def read_scores(y_score, y):
    """Read the scores of the labels y as flat floats."""
    is_float = is_array(y_score) and y_score.dtype == np.float64
    if is_float and y_score.shape == y.shape[:2] and is_finite(y_score):
        return y_score.ravel()
    scores = numbers_of(exact_scores(y_score), "y_score", allow_nd=True)
    if y.ndim == 1 and scores.shape == (len(y), 1):
        scores = scores.ravel()
    if scores.shape != y.shape[:2]:
        refuse(CHECKS_OF_SCORES, y=y, scores=scores)
    return scores.ravel()


def list_weights(sample_weight, lists):
    """Weight of each list, from weights of rows or of lists."""
    if sample_weight is None:
        return np.ones(lists.n_lists)
    weights = read_weights(sample_weight, lists.n_rows, lists.n_lists)
    if weights.shape == (lists.n_rows,):
        # Mean weight of the rows.
        weights = lists.sum(lists.group(weights)) / lists.lengths
    return weights


def check_one_list(
    one_list, *, labels=None, qid=None, y=None, n_items=None, model=None
):
    """Refuse many rows without ids, and ``one_list=True`` where it says nothing.

    Parameters
    ----------
    one_list : bool
        Whether the caller says that all rows are one list.
    labels : ndarray or None, default=None
        Labels as they are read; with None, ids are not required.
    qid : array-like or None, default=None
        Query ids, beside y or carried by it.
    y : array-like or None, default=None
        Labels as they are given.
    n_items : int or None, default=None
        Number of fixed items of a model.
    model : estimator or None, default=None
        A classifier ranks all rows, and needs no ids.
    """
    check_parameter("one_list", one_list, [bool])
    n_documents = 0
    if labels is not None:
        shape = labels.shape if hasattr(labels, "shape") else np.shape(labels)
        if shape[1:] not in ((), (1,)):
            n_items = shape[1]
        elif model is None or not is_classifier(model):
            n_documents = shape[0]
    is_plain = qid is None and n_items is None
    if one_list or (is_plain and n_documents > MANY_ROWS):
        refuse(
            CHECKS_OF_ONE_LIST,
            one_list=one_list,
            n_items=n_items,
            n_rows=n_documents,
            qid=qid,
            y=y,
        )


def look_at_lists(one_list, y, qid):
    """Look for many rows of a measure without ids, which nobody says are one list."""
    if not one_list:
        if qid is None and one_label_per_row(y) and not carries_qid(y):
            look_for("one list", n_rows(y))
        return
    _, qid = split_target(y, qid)
    check_one_list(one_list, labels=y, qid=qid, y=y)
