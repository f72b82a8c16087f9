"""The one reader of labels: y, the query ids that it may carry, NaN, and weights.

Estimators, measures, scorers, surrogates and boosting objectives all read their input
here. So the same input means the same everywhere, and errors have the same words. The
results are plain float arrays, and the lists that their rows form.
"""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, column_or_1d

from ._arrays import (
    QUERY,
    ArrayLike,
    check_same_columns,
    check_same_index,
    check_same_labels,
    check_unmasked,
    column_names,
    exact_scores,
    is_finite,
    is_frame,
    numbers,
    without_string_dtype,
)
from ._lists import RankingLists, id_array, is_missing, same_id
from ._warn import warn


def ranking_target(y: ArrayLike, qid: ArrayLike) -> np.ndarray:
    """Pack grades and query ids into one array that scikit-learn slices as one.

    Every tool of scikit-learn that takes rows out of `y` (cross-validation, bagging,
    a learning curve) then takes the ids out with them, without any configuration.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Grades, higher is better.
    qid : array-like of shape (n_rows,)
        Query id of each row: any hashable ids, in any order.

    Returns
    -------
    target : structured ndarray of shape (n_rows,)
        An array with the fields "y" and "qid". Estimators, measures and scorers of this
        package take it wherever they take `y`.

    Raises
    ------
    ValueError
        If the lengths differ, `y` is not one-dimensional or an id is missing.

    Examples
    --------
    >>> from lowrank_rank import ranking_target
    >>> target = ranking_target([2, 0, 1], ["a", "a", "b"])
    >>> target["y"].tolist(), target["qid"].tolist()
    ([2.0, 0.0, 1.0], ['a', 'a', 'b'])
    """
    check_same_index(y=y, qid=qid)
    if getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError(
            "y carries a qid already: give ranking_target the grades alone, y['y']."
        )
    try:
        y = np.asarray(y, dtype=np.float64)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"ranking_target takes numeric grades: {error}. If y holds class names, give "
            "y == name of the relevant class, or pass y and qid to fit separately."
        ) from None
    if y.ndim != 1:
        raise ValueError(
            f"ranking_target takes one grade per row, y of shape (n_rows,), got shape {y.shape}. "
            "Each row of a matrix y is a list, so a matrix needs no qid."
        )
    lists = RankingLists.from_qid(
        qid
    )  # checks the ids here, where the user can still see them
    qid = lists.ids[lists.codes]
    if len(qid) != len(y):
        raise ValueError(
            f"y has the length {len(y)}, and qid {len(qid)}: give an id for each row."
        )
    qid = without_string_dtype(qid)
    target = np.empty(len(y), dtype=[("y", np.float64), ("qid", qid.dtype)])
    target["y"], target["qid"] = y, qid
    return target


def split_target(y, qid=None, X=None):
    """The labels alone, and the query ids, given beside y or carried by it.

    y carries ids as a `ranking_target`, or in an index with a level "qid", "query_id"
    or "q_id". Refuses ids that are given twice and differ, and ids that only the index
    of X has.
    """
    refuse_ids_beside_grades(y)
    if not carries_qid(y):
        if qid is None and (level := _qid_level(X)) and np.ndim(y) == 1:
            raise ValueError(
                f'X has ids in the level "{level}" of its index, and y has none: all rows would be '
                f'one list. Pass qid=X.index.get_level_values("{level}"), or y with the same index.'
            )
        return y, qid
    if isinstance(y, np.ndarray):
        if set(y.dtype.names) != {"y", "qid"}:
            raise ValueError(
                f"y is a structured array with the fields {y.dtype.names}; a ranking target has "
                "the fields 'y' and 'qid': build it with ranking_target(y, qid)."
            )
        y, carried = y["y"], y["qid"]
    else:
        carried = y.index.get_level_values(_qid_level(y)).to_numpy()
        y = y.to_numpy()
    if qid is None:
        check_same_index(X=X, qid=carried)
        return y, carried
    one, two = id_array(carried), id_array(qid)
    if one.dtype.kind != two.dtype.kind:  # NumPy does not compare strings with numbers
        one, two = one.astype(object), two.astype(object)
    same = map(same_id, one, two) if one.dtype == object else one == two
    if len(one) != len(two) or not all(same):
        raise ValueError(
            "qid is given twice, in y and by itself, and the two differ: give one."
        )
    return y, carried


def refuse_ids_beside_grades(y):
    """Refuse a table y that has a column of query ids: it would be an item."""
    names = column_names(y) if is_frame(y) and not isinstance(y, np.ndarray) else []
    ids = [name for name in names if str(name).lower() in (*QUERY, "query", "group")]
    grades = [name for name in names if name not in ids]
    if ids and grades:
        grade = grades[0] if len(grades) == 1 else "relevance"
        raise ValueError(
            f"y has a column {ids[0]!r} of query ids, and would be read as grades of {len(names)} "
            f"items: give ranking_target(y[{grade!r}], y[{ids[0]!r}]), or rename the column."
        )


def carries_qid(y):
    """Whether y is a structured array, or rows of documents whose index has a level of ids."""
    if isinstance(y, np.ndarray):
        return y.dtype.names is not None
    # In this order: ragged labels are refused here, first of all.
    return one_label_per_row(y) and _qid_level(y) is not None


def _qid_level(values):
    """The name of the level of an index that holds query ids, or None."""
    names = getattr(getattr(values, "index", None), "names", None) or ()
    return next((name for name in QUERY if name in names), None)


def refuse_lost_qid(model):
    """Refuse to score y with query ids by a model that was fitted without."""
    raise ValueError(
        f"y carries query ids, but {model} was fitted without them: all rows were one list. A tool "
        "that makes an array of y (RFE, bagging, voting, ...) loses the index of a Series: give it "
        "ranking_target(y, qid). If all rows are one list, pass qid=np.zeros(len(X)) to fit."
    )


def one_label_per_row(y):
    """Whether y labels documents: a matrix of several columns holds a list in each row."""
    if isinstance(y, list | tuple):
        lengths = {len(row) for row in y if isinstance(row, list | tuple)}
        if len(lengths) > 1:
            raise ValueError(
                f"y is ragged, its rows have lengths {sorted(lengths)}. If lists have different "
                "items, give one row per document and qid=...; otherwise use NaN for missing ones."
            )
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return len(shape) == 1 or shape[1:] == (1,)


# Arrays -----------------------------------------------------------------------------


def read_item_names(estimator, y, *, reset):
    """Keep the names of the columns of y as `item_names_` if `reset`, else refuse other names."""
    if not is_frame(y) or one_label_per_row(y):
        return
    known = getattr(estimator, "item_names_", None)
    if reset:
        estimator.item_names_ = id_array(column_names(y))
    elif known is not None:
        check_same_columns(fit=dict.fromkeys(known.tolist()), y=y)


def check_given(y, estimator):
    """Refuse y=None, in scikit-learn's words."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )


def read_labels(y, name="y", estimator=None, accept_sparse=False):
    """y as a float array of 1 (documents), 2 (items) or 3 (preferences) dimensions.

    `check_judged` refuses NaN later. A single column is documents, with scikit-learn's
    warning. With `accept_sparse` a sparse y becomes a CSR matrix whose entries are all
    > 0.
    """
    check_given(y, estimator)
    if accept_sparse and sparse.issparse(y):
        return _read_sparse(y, name)
    what, options = "numbers, grades that are higher for better", {"allow_nd": True}
    y = _checked(
        y, name, what, ensure_all_finite="allow-nan", estimator=estimator, **options
    )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim > 3:
        raise ValueError(
            f"{name} must have one, two or three dimensions, got shape {y.shape}."
        )
    return y


def _read_sparse(y, name):
    """Sparse labels as a CSR copy: sorted columns, sums of duplicates, no explicit zeros."""
    y = sparse.csr_matrix(y, dtype=np.float64, copy=True)
    y.sum_duplicates()
    y.eliminate_zeros()
    if y.shape[1] < 2:
        raise ValueError(
            f"One column, and grades of documents must be dense: give {name}.toarray()."
        )
    wrong = ~(np.isfinite(y.data) & (y.data > 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        row = int(np.searchsorted(y.indptr, at, side="right")) - 1
        raise ValueError(
            f"{name}[{row}, {y.indices[at]}] is {y.data[at]:g}: entries of a sparse {name} must "
            f"be finite and >= 0. NaN, for items that are not judged, needs a dense {name}."
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
    """scikit-learn's check of an array of floats, which leaves some sentences to NumPy."""
    check_unmasked(values, name)
    try:
        return check_array(
            values, ensure_2d=False, dtype=np.float64, input_name=name, **options
        )
    except (OverflowError, TypeError, ValueError) as error:
        if not str(error).startswith(_NO_NUMBERS):
            raise
        words = (
            "Map words to numbers first." if "could not convert" in str(error) else ""
        )
        words = (
            "MultiLabelBinarizer makes numbers of tags."
            if "'set'" in str(error)
            else words
        )
        raise ValueError(
            f"{name} must hold {what}: {error}. {words}".rstrip()
        ) from None


def refuse_missing_labels(y):
    """Name the row of a class label that is missing: None, NaN or the NA of data frames."""
    check_unmasked(y, "y")
    try:
        values = np.asarray(y)
        if values.dtype.kind == "O" and any(
            isinstance(v, set | frozenset) for v in values.flat
        ):
            raise ValueError("sets")
    except ValueError:
        raise ValueError(
            "The rows of y are sets or differ in length: y must hold one class label per row, or "
            "be a matrix of 0 and 1 for tags (MultiLabelBinarizer)."
        ) from None
    if values.ndim != 1 or values.dtype.kind not in "Of":
        return
    if values.dtype.kind == "f" and not np.isnan(values).any():
        return  # at once, where there may be many rows
    missing = [np.ndim(v) == 0 and is_missing(v) for v in values]
    if any(missing):
        raise ValueError(
            f"Input y contains NaN: the label of row {missing.index(True)} is missing. Every row "
            "needs the label of a class; drop the rows that have none."
        )


def lists_of(y, qid, name="y"):
    """The lists that y's rows form; a matrix y is its own lists."""
    if y.ndim == 1:
        return RankingLists.from_qid(qid, len(y))
    if qid is not None:
        raise ValueError(
            f"{name} of shape {y.shape} holds one list per row and takes no qid. qid goes with a "
            f"one-dimensional {name}, one row per document."
        )
    return RankingLists.equal(*y.shape[:2])


def warn_of_single_items(lists):
    """Warn if there are several lists, each with a single row: any scores rank them.

    This is no error: a subset of the queries may be so by chance, and a regressor of
    grades still learns from such rows.
    """
    if lists.ids is not None and lists.n_lists > 1 and lists.n_rows == lists.n_lists:
        warn(
            f"Each of the {lists.n_lists} lists has a single item: there is no order to learn "
            "or to measure. Is qid the number of the row instead of the query?"
        )


def check_judged(y, allow_missing, *, who="this measure", name="y", others=()):
    """Refuse NaN: of rows and of preferences always, in a matrix unless `allow_missing`.

    The message calls y `name` and the measure or estimator `who`, and offers the
    measures `others`, which take missing judgements.
    """
    if is_finite(y):
        return
    missing = np.isnan(y)
    if not missing.any():
        return
    place = tuple(int(i) for i in np.argwhere(missing)[0])
    if y.ndim == 1:
        raise ValueError(
            f"Input {name} contains NaN (row {place[0]}): drop the rows that are not judged."
        )
    if y.ndim == 3:
        raise ValueError(
            f"Input {name} contains NaN ({name}{list(place)}): give the weight 0 to a "
            "preference that nobody stated."
        )
    if not allow_missing:
        without = ", ".join(others)
        call = ", fit with target_loss='dcg@10'" if name == "y" and others else ""
        raise ValueError(
            f"Input {name} contains NaN (query {place[0]}, item {place[1]}): {who} needs every "
            f"item judged. Judge it, drop the query{call}"
            f"{without and f', or use a measure that does not ({without})'}."
        )


def check_items_judged(y, weights):
    """Refuse a matrix y in which no row that counts judges one of the items."""
    if y.ndim != 2:
        return
    nobody = np.isnan(y)[weights > 0].all(axis=0)
    if nobody.any():
        refuse_unjudged_item(f"Column {int(np.argmax(nobody))} of y")


def refuse_unjudged_item(column):
    """Refuse a fixed item that no row judges."""
    raise ValueError(
        f"{column} is NaN in every row that counts: no query judges this item. Drop the column."
    )


def refuse_no_qid(estimator, remedy):
    """Refuse rows without the query ids that a model was fitted with."""
    raise ValueError(
        f"This {type(estimator).__name__} was fitted with query ids, and without qid all rows "
        f"would be one list. Pass qid=...; {remedy}. A Pipeline or a search hands qid on with "
        "sklearn.set_config(enable_metadata_routing=True)."
    )


def refuse_zero_weights():
    """Refuse weights that are all zero."""
    raise ValueError("All sample weights are zero: at least one row must count.")


def read_weights(sample_weight, n_rows, n_lists=None, *, whole=True):
    """Weights >= 0 of rows, or of lists if `n_lists` is given; None is ones.

    Refuses weights that are all 0, unless y is not the `whole` of the data but one
    batch of it.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weights = _checked(sample_weight, "sample_weight")
    if weights.shape not in ((n_rows,), (n_lists,)):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must be ({n_rows},), one weight per row."
        )
    if np.any(weights < 0):
        raise ValueError(f"sample_weight[{int(np.argmax(weights < 0))}] is negative.")
    if whole and not np.any(weights > 0):
        refuse_zero_weights()
    with np.errstate(over="ignore"):
        total = float(np.sum(weights))
    if not 1e-305 <= total <= 1e305 and total:
        raise ValueError(f"sample_weight has the sum {total:g}: divide it by its mean.")
    return weights


def read_distributions(probabilities, n_labels):
    """Distributions over labels, (n, n_labels), as floats; refuses rows that do not sum to 1."""
    p = numbers(probabilities, "probabilities")
    if p.ndim != 2 or p.shape[1] != n_labels:
        raise ValueError(
            f"probabilities must have the shape (n, {n_labels}), one distribution over the labels "
            f"in each row, got {p.shape}."
        )
    wrong = ~(np.all(p >= 0, axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= 1e-6))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"probabilities[{row}] must be numbers >= 0 with the sum 1, got {p[row].tolist()}."
        )
    return p


def read_scored(y_true, y_score, qid=None, sample_weight=None, *, check):
    """Labels and scores of a measure, flat, with their lists and the weight of each list.

    Weights are of rows (a list has the mean weight of its rows) or of lists. ``check(y)
    -> y`` gets the labels as the user laid them out, to name a wrong one's place.
    Preferences keep the shape (n_lists, r, r).
    """
    check_same_labels(
        y_true=y_true, y_score=y_score, qid=qid, sample_weight=sample_weight
    )
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true")
    check_unmasked(y_score, "y_score")
    scores = _checked(exact_scores(y_score), "y_score", allow_nd=True)
    scores = scores.ravel() if y.ndim == 1 and scores.shape == (len(y), 1) else scores
    if scores.shape != y.shape[:2]:
        raise ValueError(
            f"y_score has shape {scores.shape} but y_true has shape {y.shape}."
        )
    lists = lists_of(y, qid, "y_true")
    warn_of_single_items(lists)
    y = check(y)
    if sample_weight is None:
        weights = np.ones(lists.n_lists)
    else:
        weights = read_weights(sample_weight, lists.n_rows, lists.n_lists)
    if sample_weight is not None and weights.shape == (lists.n_rows,):
        weights = lists.sum(lists.group(weights)) / lists.lengths
    return (y if y.ndim == 3 else y.ravel()), scores.ravel(), lists, weights
