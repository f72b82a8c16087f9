"""The one reader of labels: y, the query ids that it may carry, NaN, and weights.

Estimators, measures, scorers, surrogates and boosting objectives all read their input
here. So the same input means the same everywhere, and errors have the same words. The
results are plain float arrays, and the lists that their rows form.
"""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
)

from ..lists._ids import is_missing, same_id
from ..lists._lists import RankingLists
from ._arrays import (
    QUERY,
    ArrayLike,
    check_same_columns,
    check_same_index,
    check_same_labels,
    check_unmasked,
    column_names,
    exact_scores,
    is_data_frame,
    is_finite,
    is_frame,
    is_id_name,
    kinds_of_columns,
    numbers,
    refuse_id_columns,
    refuse_text_entries,
    shown,
    without_string_dtype,
)
from ._columns import kind_of_entries
from ._ids import id_array, read_lists
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
        measures and scorers of this package take it wherever they take `y`.

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
    check_same_index(y=y, qid=qid, time=time)
    if getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError(
            "y carries a qid already: give ranking_target the grades alone, y['y']."
        )
    try:
        _refuse_text_grades(y)
        y = np.asarray(y, dtype=np.float64)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"ranking_target takes numeric grades: {error}. If y holds class names, "
            "give y == name of the relevant class, or pass y and qid to fit separately."
        ) from None
    if y.ndim != 1:
        raise ValueError(
            "ranking_target takes one grade per row, y of shape (n_rows,), got shape "
            f"{y.shape}. Each row of a matrix y is a list, so a matrix needs no qid."
        )
    # Ids are checked here, where the user can still see them.
    lists = read_lists(qid)
    qid = lists.ids[lists.codes]
    if len(qid) != len(y):
        raise ValueError(
            f"y has the length {len(y)}, and qid {len(qid)}: give an id for each row."
        )
    look_for("swapped ids", y, lists, "ranking_target(y, qid)")
    if time is not None:
        time = read_times(time)
        check_consistent_length(y, time)
    return joined_target(y, without_string_dtype(qid), time)


def joined_target(y, qid, time=None):
    """Join checked labels, query ids and times into the array of a `ranking_target`."""
    fields = {"y": y, "qid": qid}
    if time is not None:
        fields["time"] = time
    target = np.empty(len(y), dtype=[(name, f.dtype) for name, f in fields.items()])
    for name, values in fields.items():
        target[name] = values
    return target


def _refuse_text_grades(y):
    """Refuse grades that are text, also text of numbers: it may be the query ids."""
    values = np.asarray(y)
    is_text = values.dtype.kind in "SUT"
    if values.dtype == object:
        is_text = any(isinstance(value, str | bytes) for value in values.flat)
    if is_text:
        first = next(value for value in values.flat if isinstance(value, str | bytes))
        raise ValueError(
            f"y holds the text {shown(first)}, and the order is ranking_target(y, qid)"
        )


# Query ids that y carries -----------------------------------------------------------


def split_target(y, qid=None, X=None):
    """Split y into the labels alone and the query ids, given beside y or carried by it.

    y carries ids as a `ranking_target`, or in an index with a level "qid", "query_id"
    or "q_id". Refuses ids that are given twice and differ, and ids that only the index
    of X has.
    """
    refuse_ids_beside_grades(y)
    if not carries_qid(y):
        level = _qid_level(X)
        if qid is None and level is not None and np.ndim(y) == 1:
            raise ValueError(
                f'X has ids in the level "{level}" of its index, and y has none: all '
                "rows would be one list. Pass "
                f'qid=X.index.get_level_values("{level}"), or y with the same index.'
            )
        return y, qid
    if isinstance(y, np.ndarray):
        if set(y.dtype.names) - {"time"} != {"y", "qid"}:
            raise ValueError(
                f"y is a structured array with the fields {y.dtype.names}; a ranking "
                "target has the fields 'y' and 'qid', and perhaps 'time': build it "
                "with ranking_target(y, qid)."
            )
        carried_qid = y["qid"]
        labels = y["y"]
    else:
        carried_qid = y.index.get_level_values(_qid_level(y)).to_numpy()
        labels = y.to_numpy()
    if qid is None:
        check_same_index(X=X, qid=carried_qid)
    elif not _are_same_ids(id_array(carried_qid), id_array(qid)):
        raise ValueError(
            "qid is given twice, in y and by itself, and the two differ: give one."
        )
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
    """Refuse a table y that has a column of ids or row numbers: it would be an item."""
    if not is_frame(y) or isinstance(y, np.ndarray):
        return
    names = column_names(y)
    if len(names) < 2:
        return  # labels of documents
    ids = [column for column in names if is_id_name(column)]
    _refuse_long_table(y, names, ids, name)
    otherwise = ""
    if len(ids) > 1:
        otherwise = (
            " Judgements and runs have the columns 'qid', 'docno' and 'relevance' or "
            "'score'."
        )
    elif len(names) == 2 and ids:
        [grade] = [column for column in names if column not in ids]
        otherwise = (
            f" For grades of documents give ranking_target({name}[{grade!r}], "
            f"{name}[{ids[0]!r}])."
        )
    refuse_id_columns("an item", otherwise, **{name: y})


def _refuse_long_table(y, names, ids, name):
    """Refuse a frame of grades with columns of text, or with two of ids and no more.

    `ids` are the columns that are called as ids are.
    """
    if not is_data_frame(y) or len(names) < 3 or set(QUERY) & set(names):
        return
    keys = []
    others = []
    for column, kind in zip(names, kinds_of_columns(y), strict=True):
        if column in ids or (kind == "text" and _are_words(np.asarray(y[column]))):
            keys.append(column)
        else:
            others.append(column)
    is_long = (len(keys), len(others)) == (2, 1)
    if not others or not (is_long or set(keys) - set(ids)):
        return
    pivot = "pivot(index=..., columns=..., values=...)"
    if is_long:
        pivot = f"pivot(index={keys[0]!r}, columns={keys[1]!r}, values={others[0]!r})"
    raise ValueError(
        f"{name} has columns of text or ids, {shown(keys, 60)}: a row of {name} has "
        f"the grades of all items. Of a long table give {name}.{pivot}; else drop them."
    )


def _are_words(entries):
    """Whether all entries are text; numbers with a mark of missing values are not."""
    are_texts = all(isinstance(entry, str) for entry in entries)
    return are_texts and kind_of_entries(entries) == "text"


def carries_qid(y):
    """Whether y is a structured array, or documents whose index has a level of ids."""
    if isinstance(y, np.ndarray):
        return y.dtype.names is not None
    # In this order: ragged labels are refused here, first of all.
    return one_label_per_row(y) and _qid_level(y) is not None


def _qid_level(values):
    """Name of the level of an index that holds query ids, or None."""
    levels = getattr(getattr(values, "index", None), "names", None) or ()
    for name in QUERY:
        if name in levels:
            return name
    return None


def refuse_lost_qid(model):
    """Refuse to score y with query ids by a model that was fitted without."""
    raise ValueError(
        f"y carries query ids, but {model} was fitted without them: all rows were one "
        "list. A tool that makes an array of y (RFE, bagging, voting, ...) loses the "
        "index of a Series: give it ranking_target(y, qid). If all rows are one list, "
        "pass qid=np.zeros(len(X)) to fit."
    )


def refuse_no_qid(estimator, remedy):
    """Refuse rows without the query ids that a model was fitted with."""
    raise ValueError(
        f"This {type(estimator).__name__} was fitted with query ids, and without qid "
        f"all rows would be one list. Pass qid=...; {remedy}. A Pipeline or a search "
        "loses the qid= that it gets, unless "
        "sklearn.set_config(enable_metadata_routing=True) was called: give it y as "
        "ranking_target(y, qid), and predict by search.best_estimator_."
    )


def one_label_per_row(y):
    """Whether y labels documents; each row of a matrix of several columns is a list."""
    if isinstance(y, list | tuple):
        lengths = {len(row) for row in y if isinstance(row, list | tuple)}
        if len(lengths) > 1:
            raise ValueError(
                f"y is ragged, its rows have lengths {shown(sorted(lengths))}. If "
                "lists have different items, give one row per document and qid=...; "
                "otherwise use NaN for missing ones."
            )
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
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but "
            "the target y is None."
        )


def read_labels(y, name="y", estimator=None, accept_sparse=False):
    """Read y as floats of 1 (documents), 2 (items) or 3 (preferences) dimensions.

    `check_judged` refuses NaN later. A single column is documents, with scikit-learn's
    warning. With `accept_sparse` a sparse y becomes a CSR matrix whose entries are all
    > 0.
    """
    check_given(y, estimator)
    if accept_sparse and sparse.issparse(y):
        return _read_sparse(y, name)
    y = _checked(
        y,
        name,
        what="numbers, grades that are higher for better",
        allow_nd=True,
        ensure_all_finite="allow-nan",
        estimator=estimator,
    )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim > 3:
        raise ValueError(
            f"{name} must have one, two or three dimensions, got shape {y.shape}."
        )
    return y


def _read_sparse(y, name):
    """Copy sparse labels to CSR, with sorted columns and without explicit zeros."""
    y = sparse.csr_matrix(y, dtype=np.float64, copy=True)
    y.sum_duplicates()
    y.eliminate_zeros()
    if y.shape[1] < 2:
        raise ValueError(
            f"One column, and grades of documents must be dense: give {name}.toarray()."
        )
    is_wrong = ~(np.isfinite(y.data) & (y.data > 0))
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        row = int(np.searchsorted(y.indptr, place, side="right")) - 1
        raise ValueError(
            f"{name}[{row}, {y.indices[place]}] is {y.data[place]:g}: entries of a "
            f"sparse {name} must be finite and >= 0. NaN, for items that are not "
            f"judged, needs a dense {name}."
        )
    return y


#: How NumPy begins what it says of values that are no numbers.
_NO_NUMBERS = (
    "int too large",
    "could not convert",
    "float() argument",
    "setting an array element",
)


def _checked(values, name, what="numbers", **options):
    """Check an array of floats by scikit-learn, and reword what NumPy says of it."""
    check_unmasked(values, name)
    refuse_text_entries(values, name, f"hold {what}")
    if isinstance(values, Mapping) and not sparse.issparse(values):
        raise ValueError(f"{name} is a dict, and must hold {what}, one for each row.")
    try:
        return check_array(
            values, ensure_2d=False, dtype=np.float64, input_name=name, **options
        )
    except (OverflowError, TypeError, ValueError) as error:
        message = str(error)
        if not message.startswith(_NO_NUMBERS):
            raise
        remedy = ""
        if "'set'" in message:
            remedy = " MultiLabelBinarizer makes numbers of tags."
        elif "could not convert" in message:
            remedy = " Map words to numbers first."
        raise ValueError(f"{name} must hold {what}: {message}.{remedy}") from None


def refuse_missing_labels(y):
    """Refuse class labels that are missing: None, NaN or the NA of data frames.

    The message names the row. Refuses sets and ragged rows too.
    """
    check_unmasked(y, "y")
    try:
        labels = np.asarray(y)
        if labels.dtype.kind == "O" and any(
            isinstance(label, set | frozenset) for label in labels.flat
        ):
            raise ValueError("sets")
    except ValueError:
        raise ValueError(
            "The rows of y are sets or differ in length: y must hold one class label "
            "per row, or be a matrix of 0 and 1 for tags (MultiLabelBinarizer)."
        ) from None
    if labels.ndim != 1 or labels.dtype.kind not in "Of":
        return
    if labels.dtype.kind == "f" and not np.isnan(labels).any():
        return  # at once, where there may be many rows
    for row, label in enumerate(labels):
        if np.ndim(label) == 0 and is_missing(label):
            raise ValueError(
                f"Input y contains NaN: the label of row {row} is missing. Every row "
                "needs the label of a class; drop the rows that have none."
            )


# Lists of the rows of y -------------------------------------------------------------


def lists_of(y, qid, name="y"):
    """Return the lists of y's rows; each row of a matrix y is a list of its own."""
    if y.ndim == 1:
        return read_lists(qid, len(y))
    if qid is not None:
        raise ValueError(
            f"{name} of shape {y.shape} holds one list per row and takes no qid. qid "
            f"goes with a one-dimensional {name}, one row per document."
        )
    n_lists, n_items = y.shape[:2]
    return RankingLists.equal(n_lists, n_items)


# Missing judgements -----------------------------------------------------------------


def check_judged(y, allow_missing, *, who="this measure", name="y", others=()):
    """Refuse NaN in rows and preferences; in a matrix unless `allow_missing`.

    The message calls y `name` and the measure or estimator `who`, and offers the
    measures `others`, which take missing judgements.
    """
    if is_finite(y):
        return
    is_nan = np.isnan(y)
    if not is_nan.any():
        return
    place = tuple(int(i) for i in np.argwhere(is_nan)[0])
    if y.ndim == 1:
        raise ValueError(
            f"Input {name} contains NaN (row {place[0]}): drop the rows that are not "
            "judged."
        )
    if y.ndim == 3:
        raise ValueError(
            f"Input {name} contains NaN ({name}{list(place)}): give the weight 0 to a "
            "preference that nobody stated."
        )
    if allow_missing:
        return
    remedy = "Judge it, drop the query"
    if others and name == "y":
        remedy += ", fit with target_loss='dcg@10'"
    if others:
        remedy += f", or use a measure that does not ({', '.join(others)})"
    raise ValueError(
        f"Input {name} contains NaN (query {place[0]}, item {place[1]}): {who} needs "
        f"every item judged. {remedy}."
    )


def check_items_judged(y, weights):
    """Refuse a matrix y in which no row that counts judges one of the items."""
    if y.ndim != 2:
        return
    is_unjudged = np.isnan(y)[weights > 0].all(axis=0)
    if is_unjudged.any():
        refuse_unjudged_item(f"Column {int(np.argmax(is_unjudged))} of y")


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
    weights = _checked(sample_weight, "sample_weight")
    if weights.shape not in ((n_rows,), (n_lists,)):
        remedy = ""
        has_ids = lists is not None and lists.ids is not None
        if has_ids and weights.shape == (lists.n_lists,):
            remedy = (
                " Weights of queries in the order of their ids: "
                "sample_weight[numpy.unique(qid, return_inverse=True)[1]]."
            )
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must be ({n_rows},), one "
            f"weight per row.{remedy}"
        )
    is_negative = weights < 0
    if np.any(is_negative):
        raise ValueError(f"sample_weight[{int(np.argmax(is_negative))}] is negative.")
    if whole and not np.any(weights > 0):
        refuse_zero_weights()
    with np.errstate(over="ignore"):
        total = float(np.sum(weights))
    # Products of such a sum and a weight stay in the floating range.
    if total != 0 and not 1e-305 <= total <= 1e305:
        raise ValueError(f"sample_weight has the sum {total:g}: divide it by its mean.")
    return weights


def refuse_zero_weights():
    """Refuse weights that are all zero."""
    raise ValueError("All sample weights are zero: at least one row must count.")


def read_distributions(probabilities, n_labels):
    """Read distributions over labels, (n, n_labels); refuse rows without the sum 1."""
    p = numbers(probabilities, "probabilities")
    if p.ndim != 2 or p.shape[1] != n_labels:
        raise ValueError(
            f"probabilities must have the shape (n, {n_labels}), one distribution over "
            f"the labels in each row, got {p.shape}."
        )
    is_distribution = np.all(p >= 0, axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= 1e-6)
    if not is_distribution.all():
        row = int(np.argmin(is_distribution))
        raise ValueError(
            f"probabilities[{row}] must be numbers >= 0 with the sum 1, got "
            f"{shown(p[row].tolist())}."
        )
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
    return y, scores, lists, _list_weights(sample_weight, lists)


def read_scores(y_score, y):
    """Read the scores of the labels y as flat floats."""
    check_unmasked(y_score, "y_score")
    scores = _checked(exact_scores(y_score), "y_score", allow_nd=True)
    if y.ndim == 1 and scores.shape == (len(y), 1):
        scores = scores.ravel()
    if scores.shape != y.shape[:2]:
        remedy = ""
        if y.ndim == 2 and scores.size == y.shape[1]:
            remedy = f" One order for all rows: numpy.tile(y_score, ({len(y)}, 1))."
        elif scores.shape == (len(y), 2):
            remedy = (
                " Of two classes give the scores of the relevant one: "
                "predict_proba(X)[:, 1]."
            )
        raise ValueError(
            f"y_score has shape {scores.shape} but y_true has shape {y.shape}.{remedy}"
        )
    return scores.ravel()


def _list_weights(sample_weight, lists):
    """Weight of each list, from weights of rows or of lists."""
    if sample_weight is None:
        return np.ones(lists.n_lists)
    weights = read_weights(sample_weight, lists.n_rows, lists.n_lists)
    if weights.shape == (lists.n_rows,):
        # Mean weight of the rows.
        weights = lists.sum(lists.group(weights)) / lists.lengths
    return weights
