"""Faults of labels, weights and scores, each with the lines that fix it."""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import issparse

from ..lists._lists import is_missing
from ._check import Check
from ._checks_of_ids import line_of_sizes
from ._columns import DATES, codes_of_words, first_text, kind_of_entries, shown
from ._entries import kinds_of_columns
from ._frames import (
    QUERY,
    column_names,
    holds_ids,
    is_data_frame,
    is_id_name,
    lines_to_keep,
    name_of_level,
)

# Values: labels, weights, scores and other numbers ------------------------------------


def _masked(given):
    """Find a masked array; a matrix of grades may hold NaN."""
    if not np.ma.is_masked(given.value):
        return None
    line = f"{given.name} = {given.name}.astype(float).filled(numpy.nan)"
    is_matrix = given.value.ndim == 2 and "grades" in given.what
    return {"name": given.name, "line": line if is_matrix else ""}


def _dict(given):
    is_dict = isinstance(given.value, Mapping) and not issparse(given.value)
    return {"name": given.name, "what": given.what} if is_dict else None


def _array_of(values):
    """Convert values as they are; None for ragged ones."""
    try:
        return np.asarray(values)
    except ValueError:
        return None


def _dates(given):
    array = _array_of(given.value)
    if array is None:
        return None
    has_dates = array.dtype.kind in "mM"
    if array.dtype.kind == "O":
        has_dates = any(isinstance(entry, DATES) for entry in array.flat)
    return {"name": given.name, "what": given.what} if has_dates else None


def _text(given):
    """Find text among numbers: of numbers, of two words, or the name of a column."""
    array = _array_of(given.value)
    if array is None or array.dtype.kind not in "OUTS":
        return None
    place = first_text(array.ravel())
    if place is None:
        return None
    name = given.name
    index = np.unravel_index(place[0], array.shape)
    cell = f"{name}{[int(i) for i in index]}" if array.ndim else name
    words = {"name": name, "what": given.what, "cell": cell, "text": shown(place[1])}
    words |= {"numbers": "", "one": "", "two": "", "hint": ""}
    words |= {"one_word": "", "other_word": ""}
    if array.ndim == 0:
        words["hint"] = f": give the values of the rows, as frame[{words['text']}]"
        return words
    if " " in name:  # not an expression
        return words
    lines = codes_of_words(array.ravel(), given.value, name)
    if lines:
        words["one_word"], words["other_word"] = lines
        words["one"], words["two"] = (f"{name} = {line}" for line in lines.values())
    elif _are_numbers(array):
        words["numbers"] = f"{name} = numpy.array({name}, dtype=float)"
    elif array.ndim == 2 and "grades" in given.what:
        words["hint"] = "; orders of names become grades by votes.grades_from_orders"
    return words


def _are_numbers(array):
    """Whether each text of an array is a number of Python, with a decimal point."""
    try:
        np.array(array, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        return False
    return True


def _sets(given):
    """Find rows that are sets of tags."""
    array = _array_of(given.value)
    if array is None or array.dtype != object or array.ndim != 1:
        return None
    if not all(isinstance(one, set | frozenset) for one in array):
        return None
    tags = f"sklearn.preprocessing.MultiLabelBinarizer().fit_transform({given.name})"
    return {
        "name": given.name,
        "what": given.what,
        "line": f"{given.name} = {tags}",
    }


def _failed(given):
    """Find other entries that NumPy could not read."""
    if not str(given.error).startswith(_NOT_READ):
        return None
    return {"name": given.name, "what": given.what, "error": given.error}


#: How NumPy's messages about values that are not numbers begin.
_NOT_READ = (
    "int too large",
    "could not convert",
    "float() argument",
    "setting an array element",
)

#: What values are, before they are converted to numbers.
CHECKS_OF_VALUES = [
    Check(
        name="masked values",
        finds=_masked,
        sentence=(
            "{name} is a masked array, and its mask would be ignored: drop the masked "
            "rows."
        ),
        remedies={"To make the masked grades NaN": "{line}"},
    ),
    Check(
        name="dates instead of numbers",
        finds=_dates,
        sentence="{name} must {what}, but holds dates or durations.",
    ),
    Check(
        name="text instead of numbers",
        finds=_text,
        sentence="{name} must {what}: {cell} is the text {text}{hint}.",
        remedies={
            "": "{numbers}",
            "If {one_word!r} is better": "{one}",
            "If {other_word!r} is better": "{two}",
        },
    ),
    Check(
        name="dict instead of numbers",
        finds=_dict,
        sentence="{name} is a dict, but must {what}, one for each row.",
    ),
]
#: Why values could not be converted.
CHECKS_OF_VALUES_THAT_FAILED = [
    Check(
        name="sets instead of numbers",
        finds=_sets,
        sentence="{name} must {what}, but its rows are sets.",
        remedies={"If they are tags": "{line}"},
    ),
    Check(
        name="objects instead of numbers",
        finds=_failed,
        sentence="{name} must {what}: {error}.",
    ),
]

# Labels -----------------------------------------------------------------------------


def _no_labels(given):
    if given.y is not None:
        return None
    return {"estimator": type(given.model).__name__}


def _ragged(given):
    """Find rows of different lengths."""
    if not isinstance(given.y, list | tuple):
        return None
    lengths = {len(row) for row in given.y if isinstance(row, list | tuple)}
    return {"lengths": shown(sorted(lengths))} if len(lengths) > 1 else None


def _dimensions(given):
    n_dimensions = getattr(given.y, "ndim", 0)
    if n_dimensions <= 3:
        return None
    return {"name": given.name, "shape": given.y.shape}


def _sparse_documents(given):
    is_column = issparse(given.y) and given.y.shape[1] < 2
    return {"name": given.name} if is_column else None


def _sparse_entries(given):
    """Find an entry that is not a positive number."""
    y = given.y
    if not issparse(y):
        return None
    y = y.tocsr()
    is_wrong = ~(np.isfinite(y.data) & (y.data >= 0))
    if not is_wrong.any():
        return None
    place = int(np.argmax(is_wrong))
    return {
        "name": given.name,
        "row": int(np.searchsorted(y.indptr, place, side="right")) - 1,
        "column": y.indices[place],
        "value": f"{y.data[place]:g}",
    }


def _long_table(given):
    """Find a frame of grades with columns of text, or with two of ids and one other."""
    y = given.y
    names = column_names(y)
    if not is_data_frame(y) or len(names) < 3 or set(QUERY) & set(names):
        return None
    keys = []
    others = []
    for column, kind in zip(names, kinds_of_columns(y), strict=True):
        is_key = holds_ids(y, column)
        if is_key or (kind == "text" and _are_words(np.asarray(y[column]))):
            keys.append(column)
        else:
            others.append(column)
    is_long = (len(keys), len(others)) == (2, 1)
    has_text = any(not is_id_name(key) for key in keys)
    if not others or not (is_long or has_text):
        return None
    line = f"y = y.drop(columns={keys})"
    if hasattr(y, "with_columns"):  # polars
        line = f"y = y.drop({keys})"
    words = {"name": given.name, "keys": shown(keys, 60), "pivot": "", "drop": line}
    if is_long:
        index, columns = keys
        pivot = f"index={index!r}, columns={columns!r}, values={others[0]!r}"
        if hasattr(y, "with_columns"):
            pivot = f"on={columns!r}, index={index!r}, values={others[0]!r}"
        words |= {"pivot": f"y.pivot({pivot})", "drop": ""}
        if hasattr(y, "with_columns"):
            words["pivot"] += f".drop({index!r})"
        words["pivot"] = f"y = {words['pivot']}"
    if given.name != "y":
        words |= {"pivot": "", "drop": ""}
    return words


def _are_words(entries):
    """Whether all entries are text; numbers with a mark of missing values are not."""
    are_texts = all(isinstance(entry, str) for entry in entries)
    return are_texts and kind_of_entries(entries) == "text"


def _ids_beside_grades(given):
    """Find a column of ids or row numbers, which would be an item."""
    y = given.y
    names = [] if isinstance(y, np.ndarray) else column_names(y)
    ids = [column for column in names if is_id_name(column)]
    if len(names) < 2 or not any(holds_ids(y, column) for column in ids):
        return None
    name = given.name
    words = {"name": name, "column": ids[0], "drop": "", "grades": "", "hint": ""}
    if len(ids) > 1:
        words["hint"] = (
            " Judgements and runs have the columns 'qid', 'docno' and 'relevance' or "
            "'score'."
        )
    if is_data_frame(y):
        drop = f"{ids}" if hasattr(y, "with_columns") else f"columns={ids}"
        words["drop"] = f"{name} = {name}.drop({drop})"
    if len(names) == 2 and len(ids) == 1:
        [grade] = [column for column in names if column not in ids]
        words["grades"] = (
            f"{name} = ranking_target({name}[{grade!r}], {name}[{ids[0]!r}])"
        )
    return words


def _other_fields(given):
    """Find a structured array that is not a `ranking_target`."""
    names = getattr(getattr(given.y, "dtype", None), "names", None)
    optional = {"time", "use WrappedRanker"}
    if names is None or set(names) - optional == {"y", "qid"}:
        return None
    return {"names": names}


def _ids_in_index_of_X(given):
    """Find ids in the index of X alone."""
    level = name_of_level(given.X)
    if level is None or name_of_level(given.y) is not None:
        return None
    if np.ndim(given.y) != 1 or getattr(given.y, "dtype", None) is None:
        return None
    return {"level": level}


def _ids_given_twice(given):
    return {} if given.ids_differ else None


#: Labels as they are given.
CHECKS_OF_Y = [
    Check(
        name="no labels",
        finds=_no_labels,
        sentence=(
            "This {estimator} estimator requires y to be passed, but the target y is "
            "None."
        ),
    ),
    Check(
        name="ragged labels",
        finds=_ragged,
        sentence=(
            "y is ragged, its rows have lengths {lengths}. If lists have different "
            "items, give one row per document and qid; otherwise use NaN for missing "
            "ones."
        ),
    ),
    Check(
        name="long table of grades",
        finds=_long_table,
        sentence=(
            "{name} has columns of text or ids, {keys}: a row of {name} must hold the "
            "grades of all items."
        ),
        remedies={"To make a row of each list": "{pivot}", "To drop them": "{drop}"},
    ),
    Check(
        name="ids beside grades",
        finds=_ids_beside_grades,
        sentence=(
            "The column {column!r} of {name} holds ids, by its name and its entries, "
            "and would be read as an item; rename it if it is an item.{hint}"
        ),
        remedies={"For documents": "{grades}", "For fixed items": "{drop}"},
    ),
    Check(
        name="other fields than a ranking target",
        finds=_other_fields,
        sentence=(
            "y is a structured array with the fields {names}; a ranking target has the "
            "fields 'y' and 'qid', and perhaps 'time': build it with "
            "ranking_target(y, qid)."
        ),
    ),
    Check(
        name="ids in the index of X alone",
        finds=_ids_in_index_of_X,
        sentence=(
            'X has ids in the level "{level}" of its index, and y has none: all rows '
            "would be one list."
        ),
        remedies={"": 'qid = X.index.get_level_values("{level}")'},
    ),
    Check(
        name="two different qid",
        finds=_ids_given_twice,
        sentence="qid is given twice, in y and by itself, and the two differ.",
        remedies={"To take the one of y": "qid = None"},
    ),
    Check(
        name="four dimensions",
        finds=_dimensions,
        sentence="{name} must have one, two or three dimensions, got shape {shape}.",
    ),
    Check(
        name="sparse grades of documents",
        finds=_sparse_documents,
        sentence="{name} has one column, but grades of documents must be dense.",
        remedies={"": "{name} = {name}.toarray()"},
    ),
    Check(
        name="sparse grades that are not positive",
        finds=_sparse_entries,
        sentence=(
            "{name}[{row}, {column}] is {value}: entries of a sparse {name} must be "
            "finite and >= 0. NaN, for items that are not judged, needs a dense {name}."
        ),
    ),
]

# Labels of classes ------------------------------------------------------------------


def _masked_classes(given):
    return {} if np.ma.is_masked(given.y) else None


def _sets_of_classes(given):
    """Find rows that are sets, or that differ in length."""
    labels = _array_of(given.y)
    if labels is None:
        return {}
    if labels.dtype.kind != "O":
        return None
    has_sets = any(isinstance(label, set | frozenset) for label in labels.flat)
    return {} if has_sets else None


def _missing_class(given):
    """Find a label that is None, NaN or the NA of data frames."""
    labels = np.asarray(given.y)
    if labels.ndim != 1 or labels.dtype.kind not in "Of":
        return None
    if labels.dtype.kind == "f" and not np.isnan(labels).any():
        return None  # at once, where there may be many rows
    for row, label in enumerate(labels):
        if np.ndim(label) == 0 and is_missing(label):
            return {"row": row}
    return None


CHECKS_OF_CLASS_LABELS = [
    Check(
        name="masked classes",
        finds=_masked_classes,
        sentence=(
            "y is a masked array, and its mask would be ignored: drop the masked rows."
        ),
    ),
    Check(
        name="sets of classes",
        finds=_sets_of_classes,
        sentence=(
            "The rows of y are sets or differ in length: y must hold one class label "
            "per row, or be a matrix of 0 and 1 for tags (MultiLabelBinarizer)."
        ),
    ),
    Check(
        name="missing class",
        finds=_missing_class,
        sentence=(
            "Input y contains NaN: the label of row {row} is missing. Every row needs "
            "the label of a class; drop the rows that have none."
        ),
    ),
]

# Rows -------------------------------------------------------------------------------


def _labels_of_queries(given):
    """Find a matrix of labels beside a row of X for each document."""
    y = given.y
    n_rows = given.n_rows
    if y.ndim != 2 or y.shape[0] == n_rows or n_rows != y.size:
        return None
    return {"shape": y.shape}


def _other_number_of_rows(given):
    n_labels = given.y.shape[0]
    if n_labels == given.n_rows:
        return None
    return {"n": given.n_rows, "n_labels": n_labels}


def _ids_beside_matrix(given):
    if given.qid is None or given.y.ndim == 1:
        return None
    line = "qid = None" if given.name == "y" else ""
    return {"name": given.name, "shape": given.y.shape, "line": line}


CHECKS_OF_ROWS = [
    Check(
        name="labels of queries",
        finds=_labels_of_queries,
        sentence=(
            "X has a row for each document, and y, of the shape {shape}, a row for "
            "each query."
        ),
        remedies={"To give both by document": "y = numpy.ravel(y)"},
    ),
    Check(
        name="another number of rows",
        finds=_other_number_of_rows,
        sentence=(
            "Found input variables with inconsistent numbers of samples: [{n}, "
            "{n_labels}]: y needs a label for each row of X."
        ),
    ),
    Check(
        name="ids beside a matrix",
        finds=_ids_beside_matrix,
        sentence=(
            "{name} of shape {shape} holds one list per row and takes no qid. qid "
            "goes with a one-dimensional {name}, one row per document."
        ),
        remedies={"": "{line}"},
    ),
]

# Missing judgements -----------------------------------------------------------------


def _missing_labels(given):
    """Find NaN in labels of documents."""
    y = given.y
    if y.ndim != 1 or not np.isnan(y).any():
        return None
    line = ""
    if given.arguments is not None:
        line = "\n".join(lines_to_keep(given.arguments))
    return {"name": given.name, "row": int(np.argmax(np.isnan(y))), "line": line}


def _missing_preferences(given):
    y = given.y
    if y.ndim != 3 or not np.isnan(y).any():
        return None
    place = np.argwhere(np.isnan(y))[0].tolist()
    line = f"{given.name} = numpy.nan_to_num({given.name})"
    return {"name": given.name, "place": place, "line": line}


def _missing_judgements(given):
    """Find NaN in a matrix, for a measure that does not take it."""
    y = given.y
    if y.ndim != 2 or given.allow_missing or not np.isnan(y).any():
        return None
    query, item = np.argwhere(np.isnan(y))[0].tolist()
    words = {"name": given.name, "query": query, "item": item, "who": given.who}
    words["others"] = ""
    if given.others:
        words["others"] = f" Measures that do not: {', '.join(given.others)}."
    return words


def _item_never_judged(given):
    """Find a column of a matrix that is NaN in every row of positive weight."""
    if given.y.ndim != 2 or given.weights is None:
        return None
    is_unjudged = np.isnan(given.y)[given.weights > 0].all(axis=0)
    if not is_unjudged.any():
        return None
    items = np.flatnonzero(is_unjudged).tolist()
    y = None if given.arguments is None else given.arguments["y"]
    line = f"y = numpy.delete(numpy.asarray(y), {items}, axis=1)"
    if is_data_frame(y):
        names = [column_names(y)[item] for item in items]
        drop = f"{names}" if hasattr(y, "with_columns") else f"columns={names}"
        line = f"y = y.drop({drop})"
    return {"item": items[0], "line": line}


CHECKS_OF_MISSING = [
    Check(
        name="missing labels",
        finds=_missing_labels,
        sentence=(
            "Input {name} contains NaN (row {row}): drop the rows that are not judged."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="missing preferences",
        finds=_missing_preferences,
        sentence=(
            "Input {name} contains NaN ({name}{place}): a preference that nobody "
            "stated has the weight 0."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="missing judgements",
        finds=_missing_judgements,
        sentence=(
            "Input {name} contains NaN (query {query}, item {item}): {who} needs "
            "every item judged.{others}"
        ),
    ),
    Check(
        name="item never judged",
        finds=_item_never_judged,
        sentence=(
            "Column {item} of y is NaN in every row that counts: no query judges this "
            "item."
        ),
        remedies={"To drop it": "{line}"},
    ),
]

# Scores of a fitted model -------------------------------------------------------------


def _documents_for_items(given):
    n_items = getattr(given.model, "n_items_", None)
    if n_items is None:
        return None
    return {"n_items": n_items, "shape": np.shape(given.y)}


def _ids_lost_in_fit(given):
    """Find ids that y carries, for a model that was fitted without."""
    if not given.is_carried or given.qid is None or given.has_ids_in_fit:
        return None
    return {"model": given.who}


def _ids_lost_in_score(given):
    """Find rows without ids, for a model that was fitted with ids."""
    if given.qid is not None or not given.has_ids_in_fit:
        return None
    one_list = "one_list = True" if given.one_list is None else given.one_list
    return {"model": type(given.model).__name__, "one_list": one_list}


#: Labels or rows of another kind than in fit.
CHECKS_OF_SCORED_ROWS = [
    Check(
        name="documents for a model of items",
        finds=_documents_for_items,
        sentence="y must have the shape (n_queries, {n_items}), got {shape}.",
    ),
    Check(
        name="ids lost in fit",
        finds=_ids_lost_in_fit,
        sentence=(
            "y carries query ids, but {model} was fitted without them: all rows were "
            "one list. A tool that makes an array of y (RFE, bagging, voting, ...) "
            "loses the index of a Series: give it ranking_target(y, qid)."
        ),
    ),
    Check(
        name="ids lost in score",
        finds=_ids_lost_in_score,
        sentence=(
            "This {model} was fitted with query ids, and without qid all rows would be "
            "one list. A Pipeline or a search loses the qid= that it gets, unless "
            "sklearn.set_config(enable_metadata_routing=True) was called: give it y as "
            "ranking_target(y, qid), and predict by search.best_estimator_."
        ),
        remedies={"If all rows are one list": "{one_list}"},
    ),
]

# One list -----------------------------------------------------------------------------

#: Rows that a fit takes as one list without asking: `check_estimator` fits as many.
MANY_ROWS = 200


def _one_list_of_items(given):
    if not given.one_list or given.n_items is None:
        return None
    return {"n_items": given.n_items}


def _one_list_with_ids(given):
    if not given.one_list or given.qid is None:
        return None
    is_target = isinstance(given.y, np.ndarray) and given.y.dtype.names is not None
    return {"line": 'y = y["y"]' if is_target else "qid = None"}


def _many_rows_without_ids(given):
    if given.one_list or given.qid is not None or given.n_rows <= MANY_ROWS:
        return None
    return {"n": given.n_rows}


#: Given one_list, qid, y as given, and the numbers of rows and of fixed items.
CHECKS_OF_ONE_LIST = [
    Check(
        name="one list of fixed items",
        finds=_one_list_of_items,
        sentence=(
            "one_list=True says that all rows are one list of documents, but every "
            "row has the same {n_items} items."
        ),
        remedies={"": "one_list = False"},
    ),
    Check(
        name="one list with ids",
        finds=_one_list_with_ids,
        sentence=(
            "There are query ids, which rank each query by itself, and one_list=True, "
            "which ranks all rows together."
        ),
        remedies={
            "For each query": "one_list = False",
            "For all rows together": "{line}",
        },
    ),
    Check(
        name="many rows without ids",
        finds=_many_rows_without_ids,
        sentence="There is no qid: all {n:,} rows would be one list.",
        remedies={
            "With the query of each row in qid": "y = ranking_target(y, qid)",
            "If all rows are one list": "one_list = True",
        },
    ),
]

# Weights ----------------------------------------------------------------------------


def _weights_of_queries(given):
    """Find a weight for each list instead of for each row."""
    weights = given.weights
    lists = given.lists
    if weights.shape in given.shapes or lists is None or lists.ids is None:
        return None
    if weights.shape != (lists.n_lists,):
        return None
    words = {"shape": weights.shape, "n_rows": given.shapes[0][0]}
    first = "pandas.factorize(numpy.asarray(qid))[0]"
    ordered = "numpy.unique(qid, return_inverse=True)[1]"
    take = "sample_weight = numpy.asarray(sample_weight)[{}]"
    return {**words, "first": take.format(first), "ordered": take.format(ordered)}


def _other_number_of_weights(given):
    if given.weights.shape in given.shapes:
        return None
    return {"shape": given.weights.shape, "n_rows": given.shapes[0][0]}


def _negative_weight(given):
    is_negative = given.weights < 0
    return {"row": int(np.argmax(is_negative))} if is_negative.any() else None


def _zero_weights(given):
    return {} if given.is_whole and not np.any(given.weights > 0) else None


def _weights_out_of_range(given):
    with np.errstate(over="ignore"):
        total = float(np.sum(given.weights))
    # Products of such a sum and a weight stay in the floating range.
    is_in_range = total == 0 or 1e-305 <= total <= 1e305
    return None if is_in_range else {"total": f"{total:g}"}


_SHAPE = "sample_weight has shape {shape}; it must be ({n_rows},), one weight per row."

CHECKS_OF_WEIGHTS = [
    Check(
        name="weights of lists, not of rows",
        finds=_weights_of_queries,
        sentence=_SHAPE,
        remedies={
            "If the queries are in the order of their ids": "{ordered}",
            "If they are in the order of their first rows": "{first}",
        },
    ),
    Check(
        name="another number of weights",
        finds=_other_number_of_weights,
        sentence=_SHAPE,
    ),
    Check(
        name="negative weight",
        finds=_negative_weight,
        sentence="sample_weight[{row}] is negative.",
    ),
    Check(
        name="all weights zero",
        finds=_zero_weights,
        sentence="All sample weights are zero: at least one row must count.",
    ),
    Check(
        name="weights out of range",
        finds=_weights_out_of_range,
        sentence="sample_weight has the sum {total}.",
        remedies={
            # The mean of such weights may be infinite.
            "To give them the mean 1": (
                "sample_weight = numpy.array(sample_weight) / max(sample_weight)\n"
                "sample_weight = sample_weight / numpy.mean(sample_weight)"
            )
        },
    ),
]

# Scores and probabilities -------------------------------------------------------------


def _other_shape_of_scores(given):
    y = given.y
    scores = given.scores
    words = {"shape": scores.shape, "y_shape": y.shape, "tile": "", "second": ""}
    if y.ndim == 2 and scores.size == y.shape[1]:
        words["tile"] = f"y_score = numpy.tile(y_score, ({len(y)}, 1))"
    elif scores.shape == (len(y), 2):
        words["second"] = "y_score = numpy.asarray(y_score)[:, 1]"
    return words


def _shape_of_distributions(given):
    p = given.probabilities
    if p.ndim == 2 and p.shape[1] == given.n_labels:
        return None
    return {"n_labels": given.n_labels, "shape": p.shape}


def _sums_of_distributions(given):
    p = given.probabilities
    is_distribution = np.all(p >= 0, axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= 1e-6)
    if is_distribution.all():
        return None
    row = int(np.argmin(is_distribution))
    line = ""
    if np.all(p >= 0) and np.all(p.sum(axis=1) > 0):
        line = (
            "probabilities = numpy.asarray(probabilities) / "
            "numpy.sum(probabilities, axis=1, keepdims=True)"
        )
    return {"row": row, "values": shown(p[row].tolist()), "line": line}


CHECKS_OF_SCORES = [
    Check(
        name="another shape of scores",
        finds=_other_shape_of_scores,
        sentence="y_score has shape {shape} but y_true has shape {y_shape}.",
        remedies={
            "For one order in all rows": "{tile}",
            "For the scores of the second class": "{second}",
        },
    ),
]
CHECKS_OF_DISTRIBUTIONS = [
    Check(
        name="another shape of distributions",
        finds=_shape_of_distributions,
        sentence=(
            "probabilities must have the shape (n, {n_labels}), one distribution over "
            "the labels in each row, got {shape}."
        ),
    ),
    Check(
        name="not a distribution",
        finds=_sums_of_distributions,
        sentence=(
            "probabilities[{row}] must be numbers >= 0 with the sum 1, got {values}."
        ),
        remedies={"To divide by the sums": "{line}"},
    ),
]

# Grades of a ranking target -----------------------------------------------------------


def _target_instead_of_grades(given):
    names = getattr(getattr(given.y, "dtype", None), "names", None)
    return {} if names and {"y", "qid"} <= set(names) else None


def _text_instead_of_grades(given):
    """Find text, also of numbers: it may be the query ids."""
    values = _array_of(given.y)
    if values is None or values.dtype.kind not in "OSUT":
        return None
    texts = [one for one in values.flat if isinstance(one, str | bytes)]
    if not texts:
        return None
    swapped = ""
    ids = _array_of(given.qid)
    if ids is not None and ids.dtype.kind in "biuf":
        swapped = "y, qid = qid, y"
    one = two = one_word = other_word = ""
    lines = codes_of_words(values.ravel(), given.y, "y")
    if lines:
        one_word, other_word = lines
        one, two = (f"y = {line}" for line in lines.values())
    return {
        "text": shown(texts[0]),
        "swapped": swapped,
        "one": one,
        "two": two,
        "one_word": one_word,
        "other_word": other_word,
    }


def _grades_not_read(given):
    return None if given.error is None else {"error": given.error}


def _matrix_of_grades(given):
    shape = np.shape(given.y) if given.error is None else (0,)
    return None if len(shape) == 1 else {"shape": shape}


def _other_number_of_grades(given):
    if given.n_ids is None or given.n_ids == len(given.y):
        return None
    line = line_of_sizes(given.qid, len(given.y))
    return {"n": len(given.y), "n_ids": given.n_ids, "line": line}


CHECKS_OF_TARGET = [
    Check(
        name="target instead of grades",
        finds=_target_instead_of_grades,
        sentence="y carries a qid already.",
        remedies={"To take the grades alone": "y = y['y']"},
    ),
    Check(
        name="text instead of grades",
        finds=_text_instead_of_grades,
        sentence=(
            "ranking_target takes numeric grades, but y holds the text {text}. The "
            "order of the arguments is ranking_target(y, qid)."
        ),
        remedies={
            "If these are the ids": "{swapped}",
            "If {one_word!r} is relevant": "{one}",
            "If {other_word!r} is relevant": "{two}",
        },
    ),
    Check(
        name="grades that NumPy cannot read",
        finds=_grades_not_read,
        sentence="ranking_target takes numeric grades: {error}.",
    ),
    Check(
        name="a matrix of grades",
        finds=_matrix_of_grades,
        sentence=(
            "ranking_target takes one grade per row, y of shape (n_rows,), got shape "
            "{shape}. Each row of a matrix y is a list, so a matrix needs no qid."
        ),
    ),
    Check(
        name="another number of grades",
        finds=_other_number_of_grades,
        sentence="y has the length {n}, but qid {n_ids}: give an id for each row.",
        remedies={"If these are the sizes of the queries": "{line}"},
    ),
]

# Rows of a ranking target -----------------------------------------------------------


def _always(given):
    return {}


#: Given nothing: rows of a `ranking_target` are being sorted.
CHECKS_OF_SORTED_TARGETS = [
    Check(
        name="rows of a target as classes",
        finds=_always,
        sentence=(
            "y carries query ids, but this step reads plain grades: it would take each "
            "pair of grade and id for a class. Folds by classes, such as cv=5 of a "
            "classifier, cut queries: GroupKFold keeps them whole."
        ),
        remedies={"A model, with the steps before it": "model = WrappedRanker(model)"},
        raises=TypeError,
    ),
]
