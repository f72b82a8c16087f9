"""What may be wrong with votes: their kind, their columns, ranks, counts and weights.

`CHECKS_OF_ORDERS` look at the arguments, `CHECKS_OF_LONG_TABLES` and `CHECKS_OF_VOTES`
at the numbers read from them.
"""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from numbers import Integral, Number

import numpy as np
from scipy.stats import rankdata

from ..lists._lists import is_missing, plain
from ._arrays import column_names, is_frame
from ._check import Check
from ._columns import shown
from ._frames import holds_ids, is_beyond
from ._kinds import kind_of
from ._lines_of_tables import (
    line_to_assign,
    line_to_drop,
    line_to_pandas,
    line_to_rename,
)

# The kind of the votes --------------------------------------------------------------

#: Columns of a long table, and other names that they are given.
_LONG = {
    "voter": ["voter", "voter_id", "ballot", "ballot_id", "judge", "rater", "user"],
    "item": ["item", "candidate", "choice", "alternative", "option"],
    "rank": ["rank", "place", "position"],
    "grade": ["grade", "score", "rating"],
}


def _finds_other_names(given):
    """Find a long table whose columns have other names."""
    columns = given.columns
    if given.said is not None or (given.kind is not None and given.items is not None):
        return None
    word_of = {
        name: word
        for name in columns
        for word in _LONG
        if str(name).lower() in _LONG[word]
    }
    if not {"voter", "item"} < set(word_of.values()):
        return None
    renamed = {
        name: word
        for name, word in word_of.items()
        if name != word and word not in columns
    }
    return {"line": line_to_rename(given.name, given.orders, renamed)}


def _finds_ranks_and_grades(given):
    """Find a long table with ranks and grades."""
    if given.said != "ranks" or "grade" not in given.columns:
        return None
    return {
        name: line_to_drop(given.name, given.orders, name) for name in ("rank", "grade")
    }


def _finds_other_kind(given):
    """Find a kind that differs from the kind that the votes state."""
    if given.said is None or given.kind in (None, given.said):
        return None
    return {"argument": given.name, "said": given.said, "kind": shown(given.kind)}


def _finds_no_kind(given):
    """Find votes that do not say what they are."""
    if given.said is not None or given.kind is not None:
        return None
    to_frame = ""
    if isinstance(given.orders, Mapping):
        to_frame = line_to_pandas(given.name, given.orders)
    words = dict.fromkeys(["orders", "grades", "ranks", "counts"], "")
    for kind in _kinds_that_fit(given.orders):
        words[kind] = f"{to_frame}kind = {kind!r}"
    return {"argument": given.name, **words}


def _kinds_that_fit(orders):
    """List the kinds of votes that a list or a table can hold."""
    rows = _rows_of(orders)
    if not rows or not all(isinstance(row, list | tuple) and row for row in rows):
        return []
    kinds = []
    if all(map(_are_different_items, rows)):
        kinds.append("orders")
    try:
        numbers = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        return kinds
    if numbers.ndim != 2 or np.isinf(numbers).any():
        return kinds
    kinds.append("grades")
    if first_wrong_rank(numbers) is None:
        kinds.append("ranks")
    is_square = len(numbers) == numbers.shape[1]
    if is_square and not np.diag(numbers).any() and (numbers >= 0).all():
        kinds.append("counts")
    return kinds


def _rows_of(orders):
    """List the rows of votes; none of anything that has no rows."""
    if is_frame(orders) or isinstance(orders, Mapping):
        try:
            columns = [list(orders[name]) for name in column_names(orders)]
            return list(zip(*columns, strict=True))
        except (TypeError, ValueError):
            return []
    if isinstance(orders, str | bytes) or not np.iterable(orders):
        return []
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in orders]


def _are_different_items(row):
    """Whether a row can be an order: items once each, missing ones at the end."""
    row = list(row)
    while row and is_missing(row[-1]):
        row.pop()
    try:
        return bool(row) and len(set(row)) == len(row) and not any(map(is_missing, row))
    except TypeError:  # a tie is a list
        return False


def _kind(given):
    """Return the kind of the votes, as given or as they state it."""
    return given.said if given.kind is None else given.kind


def _finds_mapping(given):
    """Find a dict of columns of items, which must be a frame."""
    if given.said is not None or not isinstance(given.orders, Mapping):
        return None
    line = line_to_pandas(given.name, given.orders).strip()
    return {"argument": given.name, "columns": shown(given.columns[:5]), "line": line}


# Columns of items -------------------------------------------------------------------

#: Names of columns that stand beside the items or places of a table of votes.
_BESIDE = re.compile(r"(voter|ballot|judge|weight|count)s?([ _]?id)?", re.IGNORECASE)


def _finds_items_without_column(given):
    """Find items that should select columns, but are not among them."""
    if not is_frame(given.orders) or given.items is None:
        return None
    if given.is_long or _kind(given) in (None, "orders"):
        return None
    columns = given.columns
    items = list(given.items)
    unknown = [name for name in items if name not in columns]
    if not unknown:
        return None
    anew = ""
    if len(items) == len(columns) and _column_beside(given.orders) is None:
        to_frame = line_to_pandas(given.name, given.orders)
        if kind_of(given.orders) == "polars":
            to_frame = ""
        anew = f"{to_frame}{given.name} = {given.name}.to_numpy()"
    return {
        "item": shown(unknown[0]),
        "argument": given.name,
        "columns": shown(columns),
        "anew": anew,
    }


def _finds_column_beside_items(given):
    """Find a column of a table of votes that holds ids, weights or another type."""
    if given.is_long or not is_frame(given.orders):
        return None
    selects = _kind(given) not in (None, "orders")
    if selects and given.items is not None:
        return None
    index = list(getattr(given.orders, "index", ()))
    if given.kind == "counts" and index == given.columns:
        # The same names in rows and columns are items, even if one is "group".
        return None
    found = _column_beside(given.orders)
    if found is None:
        return None
    name, reason = found
    items = ""
    columns = column_names(given.orders)
    others = [plain(column) for column in columns if column != name]
    if selects and given.name == "orders" and len(others) < 20:
        items = f"items = {others}"
    return {
        "column": shown(name),
        "argument": given.name,
        "reason": reason,
        "drop": line_to_drop(given.name, given.orders, name),
        "items": items,
    }


def _column_beside(table):
    """Return the first column that is not an item, and why; None where all are."""
    columns = column_names(table)
    types = [_type_of(np.asarray(table[name])) for name in columns]
    # If two types are equally common, the items have the last one: ids come first.
    frequent = Counter(filter(None, reversed(types))).most_common(1)
    usual = frequent[0][0] if frequent else ""
    for name, column_type in zip(columns, types, strict=True):
        if holds_ids(table, name):
            return name, "holds ids, by its name and its entries"
        if _BESIDE.fullmatch(str(name).strip()) and is_beyond(table, name):
            return name, "holds voters or weights, by its name and its entries"
        if column_type not in ("", usual):
            return name, f"holds {column_type}, but most columns hold {usual}"
    return None


def _type_of(column):
    """Describe the types of the entries of a column that are not missing."""
    if column.dtype == object:
        entries = chain.from_iterable(map(_entries_of, column))
    else:
        entries = column[column == column][:1]  # NaN is not equal to itself
    types = {_type_name(entry) for entry in entries if not is_missing(entry)}
    return " and ".join(sorted(types))


def _entries_of(entry):
    """Return the entries of a tie, or the entry itself."""
    if isinstance(entry, list | tuple | set | frozenset | np.ndarray):
        return entry
    return [entry]


def _type_name(entry):
    """Name the type of an entry; all numbers have one name."""
    if isinstance(entry, str):
        return "text"
    if isinstance(entry, bool):
        return "bool"
    if isinstance(entry, Number):
        return "numbers"
    return type(entry).__name__


def _finds_other_index(given):
    """Find counts whose rows are other items than the columns."""
    if given.kind != "counts" or kind_of(given.orders) != "pandas":
        return None
    index = list(given.orders.index)
    columns = given.columns
    rows = index
    if given.items is not None:
        columns = [name for name in columns if name in list(given.items)]
        rows = [name for name in index if name in columns]
    # An index that only numbers the rows says nothing about the names of the columns.
    numbers_rows = index == list(range(len(index)))
    has_numbers = any(isinstance(name, Integral) for name in columns)
    if rows == columns or (numbers_rows and not has_numbers):
        return None
    words = {
        "argument": given.name,
        "rows": shown(rows[:5]),
        "columns": shown(columns[:5]),
        "line": "",
    }
    if not set(rows) & set(columns):
        return words
    names = "items"
    lines = ""
    if given.items is None:
        names = "names"
        lines = f"names = {given.name}.index.union({given.name}.columns)\n"
    reindex = f"{given.name}.reindex(index={names}, columns={names}, fill_value=0)"
    words["line"] = f"{lines}{given.name} = {reindex}"
    return words


CHECKS_OF_ITEM_COLUMNS = [
    Check(
        name="items are not columns",
        finds=_finds_items_without_column,
        sentence=(
            "items names {item}, which is not a column of {argument}, {columns}: items "
            "select columns of a frame."
        ),
        remedies={"If items are new names of all columns": "{anew}"},
    ),
    Check(
        name="column beside the items",
        finds=_finds_column_beside_items,
        sentence=(
            "The column {column} of {argument} {reason}, and would be read as an item."
        ),
        remedies={
            "If it is not an item": "{drop}",
            "Or to read the other columns alone": "{items}",
        },
    ),
]

CHECKS_OF_ORDERS = [
    Check(
        name="ranks beside grades",
        finds=_finds_ranks_and_grades,
        sentence="orders has both columns 'rank' and 'grade', but only one is read.",
        remedies={
            "If the ranks count": "{grade}",
            "If the grades count": "{rank}",
        },
    ),
    Check(
        name="other kind of votes",
        finds=_finds_other_kind,
        sentence="{argument} says that it holds {said}, but kind is {kind}.",
        remedies={"": "kind = None"},
    ),
    Check(
        name="names of a long table",
        finds=_finds_other_names,
        sentence=(
            "A long table of votes has the columns 'voter', 'item' and 'rank' "
            "(1 = best) or 'grade' (higher is better)."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="no kind of votes",
        finds=_finds_no_kind,
        sentence=(
            "{argument} can be read in several ways: say what the votes are. No kind "
            "is needed for a list of lists of names, the result of load_preflib, "
            "preferences (n, r, r), and a long table with the columns 'voter', 'item' "
            "and 'rank' or 'grade'."
        ),
        remedies={
            "If each row lists items, best first": "{orders}",
            "If each row has a number for each item, higher is better": "{grades}",
            "If each row has a rank for each item, 1 = best": "{ranks}",
            "If each entry counts the votes for 'i before j'": "{counts}",
        },
    ),
    Check(
        name="dict of items",
        finds=_finds_mapping,
        sentence="{argument} is a dict of the columns {columns}: a frame is needed.",
        remedies={"": "{line}"},
    ),
    *CHECKS_OF_ITEM_COLUMNS,
    Check(
        name="other items in the rows of counts",
        finds=_finds_other_index,
        sentence=(
            "Counts of votes need the same items as index and columns, got {rows} and "
            "{columns}."
        ),
        remedies={"": "{line}"},
    ),
]

# Long tables ------------------------------------------------------------------------


def _finds_unknown_items(given):
    """Find items of a long table that are not in `items`."""
    if given.items is None:
        return None
    items = list(given.items)
    unknown = [plain(name) for name in given.names if name not in items]
    if not unknown:
        return None
    drop = ""
    if given.said == "grades":  # ranks without these items have gaps
        test = f"{given.name}[{given.name}['item'].isin(items)]"
        if kind_of(given.orders) == "polars":
            test = f"{given.name}.filter(polars.col('item').is_in(items))"
        else:
            drop = line_to_pandas(given.name, given.orders)
        drop += f"{given.name} = {test}"
    add = ""
    if len(unknown) < 20:
        add = f"items = [*items, {', '.join(map(repr, unknown))}]"
    return {
        "item": shown(unknown[0]),
        "items": shown(items),
        "add": add,
        "drop": drop,
    }


def _finds_repeated_items(given):
    """Find a voter who ranks an item twice."""
    r = len(given.names)
    cells = given.voter * r + given.item
    _, first, n_rows = np.unique(cells, return_index=True, return_counts=True)
    if not np.any(n_rows > 1):
        return None
    row = first[np.argmax(n_rows > 1)]
    line = ""
    value_of_cell = np.zeros(cells.max() + 1)
    value_of_cell[cells] = given.values
    if np.array_equal(value_of_cell[cells], given.values):
        line = (
            f"{line_to_pandas(given.name, given.orders)}{given.name} = "
            f"{given.name}.drop_duplicates(['voter', 'item'])"
        )
        if kind_of(given.orders) == "polars":
            columns = "['voter', 'item']"
            line = f"{given.name} = {given.name}.unique({columns}, maintain_order=True)"
    return {
        "voter": plain(given.voters[given.voter[row]]),
        "item": plain(given.names[given.item[row]]),
        "line": line,
    }


def _finds_weights_twice(given):
    """Find weights as a column and as an argument."""
    if "weight" not in given.columns or given.weights is None:
        return None
    return {"drop": line_to_drop(given.name, given.orders, "weight")}


def _finds_two_weights(given):
    """Find a voter with two weights in a column, or with NaN."""
    if "weight" not in given.columns or given.weights is not None:
        return None
    weights = np.zeros(len(given.voters))
    weights[given.voter] = given.weight_of_row
    differs = ~(weights[given.voter] == given.weight_of_row)
    if not differs.any():
        return None
    row = int(np.argmax(differs))
    return {
        "voter": plain(given.voters[given.voter[row]]),
        "weight": f"{given.weight_of_row[row]:g}",
        "row": row,
    }


CHECKS_OF_LONG_TABLES = [
    Check(
        name="items of a long table",
        finds=_finds_unknown_items,
        sentence="orders rank {item}, which is not in items {items}.",
        remedies={
            "If it is an item": "{add}",
            "To leave out its rows": "{drop}",
        },
    ),
    Check(
        name="item twice in a vote",
        finds=_finds_repeated_items,
        sentence="Voter '{voter}' ranks the item '{item}' twice.",
        remedies={"": "{line}"},
    ),
    Check(
        name="weights twice",
        finds=_finds_weights_twice,
        sentence="weights are given twice, as a column and as an argument.",
        remedies={
            "If the column counts": "weights = None",
            "If the argument counts": "{drop}",
        },
    ),
    Check(
        name="two weights of a voter",
        finds=_finds_two_weights,
        sentence="Voter '{voter}' must have one weight, got {weight} in row {row}.",
    ),
]

# Numbers ----------------------------------------------------------------------------


def _finds_no_matrix(given):
    """Find grades or ranks that are not a matrix."""
    if given.kind == "counts" or given.labels.ndim == 2:
        return None
    shape = given.labels.shape
    as_row = ""
    if len(shape) == 1:
        as_row = f"{given.name} = numpy.atleast_2d({given.name})"
    as_counts = ""
    if len(shape) == 3 and shape[1] == shape[2]:
        as_counts = "kind = 'counts'"
    return {
        "kind": shown(given.kind),
        "shape": shape,
        "as_row": as_row,
        "as_counts": as_counts,
    }


def _finds_no_square(given):
    """Find counts that are not square."""
    if given.kind != "counts":
        return None
    shape = given.labels.shape
    if given.labels.ndim in (2, 3) and shape[-2] == shape[-1]:
        return None
    return {"shape": shape}


def _finds_weights_of_counts(given):
    """Find weights beside one matrix of counts."""
    if given.kind != "counts" or given.labels.ndim != 2 or given.weights is None:
        return None
    return {}


def first_wrong_rank(ranks):
    """Return the place of a rank below 1, or above a gap; None where there is none."""
    # Without a gap, a rank is at most the number of items that have no larger rank or
    # are not ranked.
    rank_or_lowest = np.where(np.isnan(ranks), -np.inf, ranks)
    largest = rankdata(rank_or_lowest, "max", axis=1)
    wrong = np.argwhere((ranks < 1) | (ranks > largest))
    return tuple(wrong[0].tolist()) if len(wrong) else None


def _finds_wrong_rank(is_below):
    """Return a finder of ranks below 1, or of ranks with a gap below them."""

    def finds(given):
        if given.kind != "ranks" or 0 in given.labels.shape:
            return None
        place = first_wrong_rank(given.labels)
        if place is None:
            return None
        rank = given.labels[place]
        if (rank < 1) != is_below:
            return None
        words = {"vote": place[0], "rank": f"{rank:g}", "order": "", "missing": ""}
        if not np.isinf(given.labels).any():
            words["order"] = _line_of_order(given)
        others = np.where(given.labels == rank, np.nan, given.labels)
        has_ranks = not np.isnan(others).all()
        if has_ranks and first_wrong_rank(others) is None:
            words["missing"] = _line_of_missing(given, f"{rank:g}")
        return words

    return finds


def _line_of_order(given):
    """Return the line that makes ranks of numbers of which the least is best."""
    if given.is_long:
        return line_to_assign(
            given.name,
            given.orders,
            "rank",
            lambda column: f"{given.name}.groupby('voter')['rank'].rank()",
            lambda column: f"{column}.rank().over('voter')",
        )
    if is_frame(given.orders):
        selected = "" if given.items is None else "[list(items)]"
        to_frame = line_to_pandas(given.name, given.orders)
        return f"{to_frame}{given.name} = {given.name}{selected}.rank(axis=1)"
    array = f"numpy.asarray({given.name}, float)"
    return f"{given.name} = scipy.stats.rankdata({array}, axis=1, nan_policy='omit')"


def _line_of_missing(given, rank):
    """Return the line that makes NaN of a number that marks what is not ranked."""
    if given.is_long:
        return line_to_assign(
            given.name,
            given.orders,
            "rank",
            lambda column: f"{column}.where({column} != {rank})",
            lambda column: f"polars.when({column} != {rank}).then({column})",
        )
    if is_frame(given.orders):
        to_frame = line_to_pandas(given.name, given.orders)
        return f"{to_frame}{given.name} = {given.name}.where({given.name} != {rank})"
    test = f"numpy.equal({given.name}, {rank})"
    return f"{given.name} = numpy.where({test}, numpy.nan, {given.name})"


def _finds_no_votes(given):
    """Find votes without any voters or items."""
    if 0 not in given.labels.shape:
        return None
    return {"argument": given.name, "shape": given.labels.shape}


def _finds_infinite_votes(given):
    """Find infinite grades, ranks or counts."""
    is_infinite = np.isinf(given.labels)
    if not is_infinite.any():
        return None
    place = [int(i) for i in np.argwhere(is_infinite)[0]]
    return {"argument": given.name, "place": place}


def _finds_missing_counts(given):
    """Find counts that are NaN."""
    if given.kind != "counts" or not np.isnan(given.labels).any():
        return None
    line = f"{given.name} = numpy.nan_to_num(numpy.asarray({given.name}, float))"
    if is_frame(given.orders):
        to_frame = line_to_pandas(given.name, given.orders)
        line = f"{to_frame}{given.name} = {given.name}.fillna(0)"
    place = [int(i) for i in np.argwhere(np.isnan(given.labels))[0]]
    return {"argument": given.name, "place": place, "line": line}


def _finds_negative_counts(given):
    """Find counts below 0."""
    if given.kind != "counts" or not (given.labels < 0).any():
        return None
    place = tuple(np.argwhere(given.labels < 0)[0].tolist())
    return {
        "argument": given.name,
        "place": list(place),
        "count": f"{given.labels[place]:g}",
    }


def _finds_votes_for_oneself(given):
    """Find counts of votes for an item before itself."""
    if given.kind != "counts":
        return None
    if not np.diagonal(given.labels, axis1=-2, axis2=-1).any():
        return None
    line = ""
    if not is_frame(given.orders):
        off = f"1 - numpy.eye({given.labels.shape[-1]})"
        line = f"{given.name} = numpy.multiply({given.name}, {off})"
    elif given.items is None and kind_of(given.orders) == "pandas":
        line = f"{given.name} = {given.name} * (1 - numpy.eye(len({given.name})))"
    return {"argument": given.name, "line": line}


def _finds_number_of_names(given):
    """Find more or fewer names than items."""
    r = given.labels.shape[1]
    if given.names is None or len(given.names) == r:
        return None
    return {"n_names": len(given.names), "n_items": r}


def _finds_equal_names(given):
    """Find a name of items that is there twice."""
    first: dict = {}
    for i, name in enumerate(given.names or ()):
        if first.setdefault(name, i) != i:
            return {"item": shown(name)}
    return None


def _finds_number_of_weights(given):
    """Find weights that are not one for each vote."""
    n = len(given.labels)
    if given.weights is None or given.weights.shape == (n,):
        return None
    return {"shape": given.weights.shape, "n_votes": n}


def _finds_wrong_weight(given):
    """Find a weight that is negative, NaN or infinite."""
    if given.weights is None:
        return None
    is_wrong = ~(given.weights >= 0) | np.isinf(given.weights)
    if not is_wrong.any():
        return None
    row = int(np.argmax(is_wrong))
    weight = given.weights[row]
    fault = "negative" if weight < 0 else "not a finite number"
    return {"row": row, "weight": f"{weight:g}", "fault": fault}


def _finds_weights_of_zero(given):
    """Find weights that are all 0."""
    if given.weights is None or np.any(given.weights > 0):
        return None
    return {}


def _finds_sum_of_weights(given):
    """Find weights whose sum leaves the range of floats."""
    if given.weights is None:
        return None
    with np.errstate(over="ignore"):
        total = float(np.sum(given.weights))
    # Products of such a sum and a weight stay in the floating range.
    return None if 1e-305 <= total <= 1e305 else {"total": f"{total:g}"}


def _finds_unranked_of_counts(given):
    """Find `unranked` beside counts or preferences."""
    return {} if given.kind == "counts" and given.unranked is not None else None


def _finds_partial_vote(given):
    """Find a vote that ranks some of the items, without `unranked` for the others.

    A vote that ranks nothing, or has weight 0, does not need it.
    """
    if not given.are_orders or given.unranked is not None:
        return None
    n_items = given.labels.shape[1]
    n_ranked = np.count_nonzero(~np.isnan(given.labels), axis=1)
    is_partial = (n_ranked > 0) & (n_ranked < n_items)
    if given.weights is not None:
        is_partial &= given.weights > 0
    if not is_partial.any():
        return None
    vote = int(np.argmax(is_partial))
    return {"vote": vote, "n_ranked": n_ranked[vote], "n_items": n_items}


CHECKS_OF_VOTES = [
    Check(
        name="votes that are not a matrix",
        finds=_finds_no_matrix,
        sentence="kind={kind} needs a matrix (n_voters, r), got the shape {shape}.",
        remedies={
            "If they are one vote": "{as_row}",
            "If they are preferences (n_voters, r, r)": "{as_counts}",
        },
    ),
    Check(
        name="counts that are not square",
        finds=_finds_no_square,
        sentence="Counts of votes need the shape (r, r), got {shape}.",
    ),
    Check(
        name="weights of counts",
        finds=_finds_weights_of_counts,
        sentence="Counts (r, r) are numbers of votes: they take no weights.",
        remedies={"": "weights = None"},
    ),
    Check(
        name="no votes",
        finds=_finds_no_votes,
        sentence=(
            "{argument} must hold at least one vote and one item, got the shape "
            "{shape}."
        ),
    ),
    Check(
        name="rank below 1",
        finds=_finds_wrong_rank(is_below=True),
        sentence="Vote {vote} has the rank {rank}, but ranks start at 1 = best.",
        remedies={
            "If the least number is best": "{order}",
            "If {rank} is not a rank, and marks what is not ranked": "{missing}",
        },
    ),
    Check(
        name="gap in ranks",
        finds=_finds_wrong_rank(is_below=False),
        sentence="Vote {vote} has the rank {rank}, but there is a gap in its ranks.",
        remedies={
            "If the least number is best": "{order}",
            "If {rank} is not a rank, and marks what is not ranked": "{missing}",
        },
    ),
    Check(
        name="infinite votes",
        finds=_finds_infinite_votes,
        sentence="{argument}{place} is infinite.",
    ),
    Check(
        name="missing counts",
        finds=_finds_missing_counts,
        sentence="{argument}{place} is a missing count.",
        remedies={"If nobody compared these items": "{line}"},
    ),
    Check(
        name="negative counts",
        finds=_finds_negative_counts,
        sentence="{argument}{place} is {count}: counts are at least 0.",
    ),
    Check(
        name="votes for an item before itself",
        finds=_finds_votes_for_oneself,
        sentence=(
            "{argument} prefer an item to itself: the diagonal of counts must be 0."
        ),
        remedies={"If the diagonal has no meaning": "{line}"},
    ),
    Check(
        name="number of names of items",
        finds=_finds_number_of_names,
        sentence="items has {n_names} names for {n_items} items.",
    ),
    Check(
        name="equal names of items",
        finds=_finds_equal_names,
        sentence="items names {item} twice: names must be unique.",
    ),
    Check(
        name="number of weights of votes",
        finds=_finds_number_of_weights,
        sentence=(
            "weights has shape {shape}; it must be ({n_votes},), one for each vote."
        ),
    ),
    Check(
        name="wrong weight of a vote",
        finds=_finds_wrong_weight,
        sentence="weights[{row}] is {weight}, which is {fault}.",
    ),
    Check(
        name="weights of votes are 0",
        finds=_finds_weights_of_zero,
        sentence="All weights are zero: at least one vote must count.",
    ),
    Check(
        name="sum of the weights of votes",
        finds=_finds_sum_of_weights,
        sentence="weights have the sum {total}, which leaves the range of numbers.",
        remedies={"": "weights = numpy.divide(weights, numpy.max(weights))"},
    ),
    Check(
        name="unranked items of counts",
        finds=_finds_unranked_of_counts,
        sentence=(
            "Counts and preferences leave out no item: unranked is for orders, ranks "
            "and grades."
        ),
        remedies={"": "unranked = None"},
    ),
    Check(
        name="items that a vote leaves out",
        finds=_finds_partial_vote,
        sentence=(
            "Vote {vote} ranks {n_ranked} of {n_items} items: say what the others are. "
            "If each voter saw some items and ranked the first ones of these, neither "
            "line below is right: give kind='ranks', one last rank for what was seen, "
            "NaN for the rest, and unranked='unknown'."
        ),
        remedies={
            "If voters named their first ones of all items, and the others are below": (
                "unranked = 'last'"
            ),
            "If voters ranked what they saw, and the others are not compared": (
                "unranked = 'unknown'"
            ),
        },
    ),
]

# The consensus ----------------------------------------------------------------------


def _finds_too_many_items(given):
    """Find more items than "kemeny" takes."""
    r = len(given.total)
    if given.method != "kemeny" or r <= given.max_items:
        return None
    return {"max_items": given.max_items, "n_items": r}


def _finds_item_without_opponent(given):
    """Find an item without a win rate, of partial votes."""
    if given.method != "borda" or not given.votes.are_partial or len(given.total) < 2:
        return None
    met_no_other = ~(given.total + given.total.T).any(axis=1)
    if not met_no_other.any():
        return None
    return {"item": shown(given.votes.items[int(np.argmax(met_no_other))])}


CHECKS_OF_METHODS = [
    Check(
        name="many items for kemeny",
        finds=_finds_too_many_items,
        sentence=(
            "method='kemeny' takes at most {max_items} items, but there are {n_items}."
        ),
        remedies={"To sort net preferences": "method = 'borda'"},
    ),
    Check(
        name="item that met no other",
        finds=_finds_item_without_opponent,
        sentence=(
            "The item {item} met no other, and method='borda' needs its win rate: "
            "leave the item out."
        ),
    ),
]


def _finds_parts_of_votes(given):
    """Find counts that are not whole numbers."""
    labels = given.votes.labels
    if not given.votes.are_counts or np.all(labels == np.round(labels)):
        return None
    return {}


def _finds_one_voter(given):
    """Find a single voter."""
    weights = given.votes.weights
    are_whole = np.all(weights == np.round(weights))
    n_voters = weights.sum() if are_whole else np.count_nonzero(weights)
    return {} if not given.votes.are_counts and n_voters < 2 else None


CHECKS_OF_RESAMPLES = [
    Check(
        name="counts that are not whole",
        finds=_finds_parts_of_votes,
        sentence=(
            "Votes are resampled one by one: pairwise counts must be whole numbers."
        ),
    ),
    Check(
        name="one voter",
        finds=_finds_one_voter,
        sentence=(
            "Intervals come from resampled voters, but there is only one voter: "
            "several votes are needed, or counts with kind='counts'."
        ),
    ),
]
