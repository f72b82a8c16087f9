"""Checks of splits, curves and importances by whole queries."""

import numpy as np
from scipy import sparse

from ._arrays import column_names, is_frame, n_rows, shown
from ._check import Check
from ._labels import carries_qid, one_label_per_row

# Arrays to split --------------------------------------------------------------------


def _finds_no_array(given):
    """Find a call without any array."""
    return None if given.arrays else {}


def _finds_no_column(given):
    """Find a name that is not a column of the first array."""
    if not isinstance(given.qid, str):
        return None
    table = given.arrays[0]
    if is_frame(table) and given.qid in column_names(table):
        return None
    return {"qid": shown(given.qid)}


def _finds_no_carrier(given):
    """Find arrays of which none carries query ids."""
    if given.qid is not None or any(map(carries_qid, given.arrays)):
        return None
    return {}


CHECKS_OF_ARRAYS = [
    Check(
        name="no array to split",
        finds=_finds_no_array,
        sentence="query_train_test_split got no array: give X, y, ... and qid.",
    ),
    Check(
        name="ids that are not a column",
        finds=_finds_no_column,
        sentence="qid={qid} must be a column of the first array, a frame.",
    ),
    Check(
        name="arrays without ids",
        finds=_finds_no_carrier,
        sentence=(
            "No array carries query ids: give qid, the query of each row, or y as a "
            "ranking_target."
        ),
    ),
]


def _finds_one_query(given):
    """Find rows that are all of one query."""
    return {} if given.n_queries is not None and given.n_queries < 2 else None


def _finds_few_starts(given):
    """Find fewer starting times than the splits need."""
    if given.n_starts is None:
        return None
    n_test = given.n_starts // (given.n_splits + 1)
    if n_test and given.n_starts - given.gap - n_test * given.n_splits > 0:
        return None
    return {"n": given.n_starts, "n_splits": given.n_splits, "gap": given.gap}


CHECKS_OF_PARTS = [
    Check(
        name="one query to split",
        finds=_finds_one_query,
        sentence="All rows are one query, but a split needs two.",
    ),
    Check(
        name="few starting times",
        finds=_finds_few_starts,
        sentence=(
            "The queries start at {n} distinct times, too few for n_splits={n_splits} "
            "and gap={gap}."
        ),
    ),
]

# Splits by time ---------------------------------------------------------------------


def _finds_rows_of_matrix(given):
    """Find a matrix of labels without the queries of its rows."""
    if given.groups is not None or given.y is None or one_label_per_row(given.y):
        return None
    return {"n": n_rows(given.X)}


def _finds_no_groups(given):
    """Find rows without a query id."""
    return {} if given.groups is None else None


def _finds_times_twice(given):
    """Find times that are given in y and by themselves, and differ."""
    if given.time is None or given.carried is None:
        return None
    return None if given.times.tolist() == given.carried.tolist() else {}


def _finds_no_times(given):
    """Find rows without a time; ids that are dates as text become dates."""
    if given.times is not None:
        return None
    remedy = ""
    if all(_is_iso_date(one) for one in np.ravel(given.groups).tolist()):
        remedy = "time = pandas.to_datetime({})"
        remedy = remedy.format("y['qid']" if given.is_carried else "groups")
    return {"remedy": remedy}


def _is_iso_date(text):
    """Whether a text is a date such as 2024-12-31, with or without a time of day."""
    try:
        return isinstance(text, str) and np.datetime64(text) >= np.datetime64("1000")
    except ValueError:
        return False


CHECKS_OF_SPLITS_BY_TIME = [
    Check(
        name="queries of a matrix",
        finds=_finds_rows_of_matrix,
        sentence=(
            "A matrix y holds one list per row, but a split by time needs groups too: "
            "each row is a query."
        ),
        remedies={"": "groups = numpy.arange({n})"},
    ),
    Check(
        name="rows without groups",
        finds=_finds_no_groups,
        sentence=(
            "The query of each row is needed: give it as groups, or y as a "
            "ranking_target."
        ),
        remedies={"With the query of each row in qid": "groups = qid"},
    ),
    Check(
        name="times given twice",
        finds=_finds_times_twice,
        sentence="time is given twice, in y and by itself, and the two differ.",
        remedies={
            "To split by the times in y": "time = None",
            "To split by time": 'y = ranking_target(y["y"], y["qid"])',
        },
    ),
    Check(
        name="rows without times",
        finds=_finds_no_times,
        sentence=(
            "Splits by time need the time of each row, because the order of rows is "
            "not a time: give time=, or y as a ranking_target with time=. Query ids "
            "that are dates need no time, but dates as text must become dates first."
        ),
        remedies={"": "{remedy}"},
    ),
]

# Curves and importances -------------------------------------------------------------


def _finds_sparse(given):
    """Find sparse features, whose columns are permuted."""
    return {} if given.is_permuted and sparse.issparse(given.X) else None


def _finds_lists_to_permute(given):
    """Find rows that are lists, where documents are permuted."""
    return {} if given.is_permuted and not one_label_per_row(given.y) else None


def _finds_ids_of_matrix(given):
    """Find ids beside a matrix of labels."""
    return None if given.qid is None or one_label_per_row(given.y) else {}


def _finds_no_queries(given):
    """Find documents without a query id."""
    if given.qid is not None or not one_label_per_row(given.y):
        return None
    return None if carries_qid(given.y) else {}


CHECKS_OF_QUERIES = [
    Check(
        name="sparse features to permute",
        finds=_finds_sparse,
        sentence="X is sparse, but its columns are permuted one by one.",
        remedies={"": "X = X.toarray()"},
    ),
    Check(
        name="lists to permute",
        finds=_finds_lists_to_permute,
        sentence="y must hold one grade per row: one row alone cannot be permuted.",
    ),
    Check(
        name="ids of a matrix",
        finds=_finds_ids_of_matrix,
        sentence="A matrix y holds one list per row and takes no qid.",
        remedies={"": "qid = None"},
    ),
    Check(
        name="documents without ids",
        finds=_finds_no_queries,
        sentence=(
            "The query of each row is needed: give it as qid, or y as a ranking_target."
        ),
    ),
]


def _finds_sizes(given):
    """Find sizes that are not fractions, or not numbers of the queries there are."""
    sizes = given.sizes
    largest = 1 if sizes.dtype.kind == "f" else given.n_available
    is_list = sizes.ndim == 1 and len(sizes) and sizes.dtype.kind in "iuf"
    if is_list and 0 < sizes.min() <= sizes.max() <= largest:
        return None
    return {"most": given.n_available, "sizes": shown(given.train_sizes)}


CHECKS_OF_SIZES = [
    Check(
        name="sizes of training parts",
        finds=_finds_sizes,
        sentence=(
            "train_sizes must be a list of numbers: fractions in (0, 1], or whole "
            "numbers between 1 and {most}, the queries of the smallest training part, "
            "got {sizes}."
        ),
    ),
]
