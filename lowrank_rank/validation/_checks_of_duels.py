"""What may be wrong with duels: their layout, missing items, results and weights.

`CHECKS_OF_DUELS` look at the arguments, `CHECKS_OF_ROWS` at the codes and numbers read
from them, and `CHECKS_OF_BOARDS` at questions to the result.
"""

from difflib import get_close_matches

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ._arrays import LARGEST, column_names
from ._check import Check
from ._columns import first_text, shown
from ._ids import id_array, missing_ids
from ._kinds import kind_of
from ._lines_of_tables import line_to_assign, line_to_pandas, line_to_rename

#: Words for a tie, also those in logs of arenas.
TIES = ["tie", "tied", "draw", "tie (bothbad)", "bothbad", "both_bad"]

# The layout -------------------------------------------------------------------------


def _finds_no_column_of_results(given):
    """Find a name of a column of items or results that is not there."""
    names = {name: getattr(given, name) for name in ("item_a", "item_b", "result")}
    if list(names.values()) == ["model_a", "model_b", "winner"]:
        return None
    for argument, name in names.items():
        if name not in given.columns:
            return {
                "columns": shown(given.columns),
                **_close_name(given, argument, name),
            }
    return None


def _close_name(given, argument, name):
    """Return the words of a name that is not a column, and the line of a close one."""
    texts = [column for column in given.columns if isinstance(column, str)]
    close = []
    if isinstance(name, str):
        close = get_close_matches(name, texts, n=1, cutoff=0.8)
    line = f"{argument} = {close[0]!r}" if close else ""
    return {"argument": argument, "name": shown(name), "line": line}


def _finds_no_layout(given):
    """Find duels that are not a list, not counts, and without known columns."""
    if given.layout != "unknown":
        return None
    duels = given.duels
    columns = given.columns
    words = {"got": f", got the columns {shown(columns, 60)}" if columns else ""}
    words.update(dict.fromkeys(["who", "first", "sides", "array"], ""))
    texts = [name for name in columns if holds_text(duels, name)]
    others = [name for name in columns if name not in ("model_a", "model_b")]
    shape = getattr(duels, "shape", ())
    if len(columns) - len(others) == 2:
        results = others if len(others) == 1 else [*set(texts) & set(others)]
        if len(results) == 1:
            words["who"] = f"result = {results[0]!r}"
    elif texts and len(columns) == 2:
        renamed = dict(zip(columns, ["winner", "loser"], strict=True))
        words["first"] = line_to_rename("duels", duels, renamed)
    elif len(texts) == 3:
        one, other, result = map(repr, texts)
        words["sides"] = f"item_a = {one}\nitem_b = {other}\nresult = {result}"
    elif shape[1:] == (3,) and not columns and duels.dtype.kind in "OUT":
        names = ["model_a", "model_b", "winner"]
        words["array"] = f"duels = pandas.DataFrame(duels, columns={names})"
    return words


def holds_text(table, name):
    """Whether a column of a table has a text."""
    return first_text(np.asarray(table[name], dtype=object)) is not None


def _finds_no_pair(given):
    """Find an entry of a list of duels that is not a pair, and not a tie."""
    if given.layout != "list":
        return None
    duels = list(given.duels)
    types = set(map(type, duels))
    if types <= {list, tuple} and set(map(len, duels)) == {2}:
        return None
    for row, duel in enumerate(duels):
        pair = duel
        if isinstance(duel, list | tuple) and len(duel) == 1:
            pair = duel[0]
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            return {"row": row, "pair": shown(pair)}
    return None


def _finds_missing_item(given):
    """Find a missing item or result, where the columns could not be read."""
    if given.error is None:
        return None
    for name in given.columns_of_items:
        entries = id_array(given.duels[name])
        is_missing = missing_ids(entries)
        if is_missing.any():
            row = int(np.argmax(is_missing))
            return _words_of_missing(given, name, row, entries[row])
    return None


def _words_of_missing(given, name, row, entry):
    """Return the words of a missing item, and the lines that fix it."""
    is_infinite = isinstance(entry, float | np.floating) and np.isinf(entry)
    words = {
        "column": repr(name),
        "row": row,
        "entry": shown(entry),
        "tie": "1 in a column 'tie'",
        "drop": "",
        "fill": "",
    }
    if _has_arrays(given):
        drop = ""
    elif kind_of(given.duels) == "polars":
        drop = f"duels = duels.drop_nulls([{name!r}])"
        if isinstance(entry, float):
            drop = f"duels = duels.filter(polars.col({name!r}).is_finite())"
    else:
        drop = line_to_pandas("duels", given.duels)
        if is_infinite:  # dropna keeps infinite ids
            infinite = "[numpy.inf, -numpy.inf]"
            drop += f"duels = duels[~duels[{name!r}].isin({infinite})]"
        else:
            drop += f"duels = duels.dropna(subset=[{name!r}])"
    words["drop"] = drop
    if given.layout == "results":
        words["tie"] = "'tie'"
        if name == given.result and not is_infinite:
            words["fill"] = line_to_assign(
                "duels",
                given.duels,
                name,
                lambda column: f"{column}.fillna('tie')",
                lambda column: f"{column}.fill_null('tie')",
            )
    return words


def _has_arrays(given):
    """Whether values of the duels are given as arrays, which stay as long."""
    values = [given.weight, given.group, given.judge, given.covariates]
    return any(value is not None and not isinstance(value, str) for value in values)


def _finds_values_beside_counts(given):
    """Find values of each duel, where duels are counts."""
    if given.layout != "counts":
        return None
    for name in ("covariates", "weight", "group", "judge"):
        if getattr(given, name) is not None:
            return {"argument": name}
    return None


def _finds_no_column_of_values(given):
    """Find a name of weight, group or judge that is not a column."""
    for argument in ("weight", "group", "judge"):
        name = getattr(given, argument)
        if name is None or (hasattr(name, "__len__") and not isinstance(name, str)):
            continue
        if name not in given.columns:
            words = _close_name(given, argument, name)
            return {"columns": shown(given.columns), **words}
    return None


def are_names(covariates):
    """Whether covariates are a list of names of columns."""
    is_sequence = isinstance(covariates, list | tuple)
    return is_sequence and {type(name) for name in covariates} == {str}


def _finds_no_column_of_covariates(given):
    """Find a covariate without a column for each of the two items."""
    covariates = given.covariates
    if isinstance(covariates, str):
        covariates = [covariates]
    if given.layout == "counts" or not are_names(covariates):
        return None
    columns = column_names(given.duels)
    for name in covariates:
        for side in given.sides:
            if f"{name}_{side}" not in columns:
                return {"names": shown(covariates), "column": f"{name}_{side}"}
    return None


CHECKS_OF_DUELS = [
    Check(
        name="column of results",
        finds=_finds_no_column_of_results,
        sentence="duels have the columns {columns}, but not {name}.",
        remedies={"": "{line}"},
    ),
    Check(
        name="layout of duels",
        finds=_finds_no_layout,
        sentence=(
            "duels must be lists of [winner, loser], counts, or a table with the "
            "columns 'winner' and 'loser', or two items and a result (item_a=, "
            "item_b=, result=){got}."
        ),
        remedies={
            "If this column says who won": "{who}",
            "If the first one won": "{first}",
            "If the third of them says who won": "{sides}",
            "If the third column says who won": "{array}",
        },
    ),
    Check(
        name="pair of a duel",
        finds=_finds_no_pair,
        sentence=(
            "duels[{row}] is {pair}: a list of duels holds [winner, loser], and a tie "
            "is a pair in a list, [('a', 'b')]; consensus_ranking takes orders of more "
            "items."
        ),
    ),
    Check(
        name="missing item of a duel",
        finds=_finds_missing_item,
        sentence=(
            "{column} contains a missing or infinite id (row {row}: {entry}). A tie is "
            "{tie}."
        ),
        remedies={
            "If it is a tie": "{fill}",
            "To leave out such duels": "{drop}",
        },
    ),
    Check(
        name="values beside counts",
        finds=_finds_values_beside_counts,
        sentence=(
            "{argument} needs a row for each duel, but these are counts: give a list "
            "or a frame of duels."
        ),
    ),
    Check(
        name="column of weights, groups or judges",
        finds=_finds_no_column_of_values,
        sentence=(
            "{argument}={name} is not a column of duels, which have {columns}: give "
            "the name of a column, or an array with a value for each duel."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="columns of covariates",
        finds=_finds_no_column_of_covariates,
        sentence=(
            "covariates={names} need the column {column!r}, which duels do not have. "
            "Differences can be given as an array."
        ),
    ),
]

# Rows -------------------------------------------------------------------------------


def line_of_numbers(given):
    """Return the lines that make words of results that are numbers, or ""."""
    words = [given.item_a, given.item_b, "tie"]
    # Numbers for the first item, for the second one and for a tie.
    for usual in [(1, 0, 0.5), (1, 2, 0), (1, -1, 0)]:
        word_of = dict(zip(usual, words, strict=True))
        try:
            used = {one: word_of[float(one)] for one in given.results}
        except (KeyError, ValueError, TypeError, OverflowError):  # also dates
            continue
        return line_to_assign(
            "duels",
            given.duels,
            given.result,
            lambda column, used=used: f"{column}.map({used})",
            lambda column, used=used: f"{column}.replace_strict({used})",
        )
    return ""


def _finds_unclear_result(given):
    """Find a result that is neither an item of the duel nor a word for a side."""
    if given.unclear_row is None:
        return None
    line = ""
    if not given.has_named_results:
        line = line_of_numbers(given)
    rule = ""
    if not line:
        rule = (
            ": every row names the item that won, or every row has a word, "
            f"{given.item_a!r}, 'a', {given.item_b!r} or 'b'. A tie is one of {TIES}"
        )
    one, other, got = (shown(name) for name in given.unclear_duel)
    return {
        "result": repr(given.result),
        "got": got,
        "row": given.unclear_row,
        "one": one,
        "other": other,
        "rule": rule,
        "first": repr(given.item_a),
        "line": line,
    }


def _finds_word_for_item(given):
    """Find a word for a tie, or an empty text, as a winner or a loser."""
    if given.layout != "winners":
        return None
    words = [str(item).strip().lower() for item in given.names]
    is_result = np.array([word in ["", *TIES] for word in words], bool)
    places = np.argwhere(is_result[given.pairs])
    if not len(places):
        return None
    row, side = places[0].tolist()
    got = str(given.names[given.pairs[row, side]])
    problem = "empty"
    if got.strip():
        problem = "a result, not an item: a tie is 1 in a column 'tie'"
    return {
        "side": repr(["winner", "loser"][side]),
        "row": row,
        "got": shown(got),
        "problem": problem,
    }


def _finds_wrong_tie(given):
    """Find a tie that is not True or False."""
    is_flag = (given.tied == 0) | (given.tied == 1)
    return _first_wrong(given.tied, is_flag)


def _finds_wrong_weight(given):
    """Find a weight that is negative, NaN, or too large."""
    is_count = (given.weights >= 0) & (given.weights <= LARGEST)
    return _first_wrong(given.weights, is_count)


def _first_wrong(values, is_right):
    """Return the words of the first wrong value of a column."""
    if values.ndim == 1 and is_right.all():
        return None
    row = 0
    if values.ndim == 1:
        row = int(np.argmin(is_right))
    return {"got": shown(values[row]), "row": row}


def _finds_number_of_values(given):
    """Find weights, groups or judges that are not one for each duel."""
    n = len(given.pairs)
    for argument, value in given.values.items():
        if value is not None and len(value) != n:
            return {"argument": argument, "n_values": len(value), "n_duels": n}
    return None


def _finds_number_of_covariates(given):
    """Find covariates that are not a row for each duel."""
    n = len(given.pairs)
    if given.differences is None:
        return None
    if given.differences.ndim in (1, 2) and len(given.differences) == n:
        return None
    return {"shape": given.differences.shape, "n_duels": n}


def _finds_duel_with_oneself(given):
    """Find a duel of an item with itself."""
    is_same = given.pairs[:, 0] == given.pairs[:, 1]
    if not is_same.any():
        return None
    row = int(np.argmax(is_same))
    return {
        "row": row,
        "item": shown(given.names[given.pairs[row, 0]]),
        "line": "" if _has_arrays(given) else _line_of_two_items(given),
    }


def _line_of_two_items(given):
    """Return the line that leaves out duels of an item with itself."""
    if given.layout == "list":
        test = "len(duel) == 1 or duel[0] != duel[1]"
        return f"duels = [duel for duel in duels if {test}]"
    if given.layout == "pairs":
        return "duels = duels[duels[:, 0] != duels[:, 1]]"
    one, other, *_ = given.columns_of_items
    if kind_of(given.duels) == "polars":
        return f"duels = duels.filter(polars.col({one!r}) != polars.col({other!r}))"
    to_frame = line_to_pandas("duels", given.duels)
    return f"{to_frame}duels = duels[duels[{one!r}] != duels[{other!r}]]"


def _finds_items_without_strength(given):
    """Find items that did not meet the rest, never lost or never won.

    Finite strengths exist only if the graph of "beat" is strongly connected (Ford).
    """
    if given.half_games != 0:
        return None
    is_positive = given.weights > 0
    first, second = given.pairs[is_positive].T
    is_tie = given.tied[is_positive] == 1
    winner = np.append(first, second[is_tie])
    loser = np.append(second, first[is_tie])
    r = len(given.names)
    beat = sparse.csr_matrix((np.ones(len(winner)), (winner, loser)), shape=(r, r))
    _, weak = connected_components(beat, connection="weak")
    _, strong = connected_components(beat, connection="strong")
    # "The rest" is the strong component of more than half of the items, if any.
    is_small = 2 * np.bincount(strong)[strong] <= r
    if not is_small.any():
        return None

    # Strong components that beat, or lost to, another one.
    is_between = strong[winner] != strong[loser]
    has_won = np.isin(strong, strong[winner[is_between]])
    has_lost = np.isin(strong, strong[loser[is_between]])
    problems = {
        "did not meet the rest": weak != np.bincount(weak).argmax(),
        "never lost to the rest": is_small & has_won & ~has_lost,
        "never won against the rest": is_small & has_lost & ~has_won,
    }
    causes = []
    for problem, has_problem in problems.items():
        if has_problem.any():
            names = given.names[has_problem]
            others = " and others" if len(names) > 5 else ""
            causes.append(f"{names[:5].tolist()}{others} {problem}")
    return {"causes": " and ".join(causes)}


CHECKS_OF_ROWS = [
    Check(
        name="unclear result of a duel",
        finds=_finds_unclear_result,
        sentence="{result} is {got} in row {row}, a duel of {one} and {other}{rule}.",
        remedies={"If 1 is a win of {first}": "{line}"},
    ),
    Check(
        name="word in place of an item",
        finds=_finds_word_for_item,
        sentence="{side} in row {row}: {got} is {problem}.",
    ),
    Check(
        name="values of duels",
        finds=_finds_number_of_values,
        sentence=(
            "{argument} has {n_values} values, but there are {n_duels} duels: give "
            "one for each duel."
        ),
    ),
    Check(
        name="covariates of duels",
        finds=_finds_number_of_covariates,
        sentence=(
            "covariates has the shape {shape}, but there are {n_duels} duels: give a "
            "row for each duel."
        ),
    ),
    Check(
        name="tie of a duel",
        finds=_finds_wrong_tie,
        sentence="'tie' must be True or False in each row, got {got} in row {row}.",
    ),
    Check(
        name="weight of a duel",
        finds=_finds_wrong_weight,
        sentence=(
            "'weight' must be finite and >= 0 in each row, got {got} in row {row}."
        ),
    ),
    Check(
        name="duel of an item with itself",
        finds=_finds_duel_with_oneself,
        sentence="duels[{row}] pairs {item} with itself.",
        remedies={"To leave out such duels": "{line}"},
    ),
    Check(
        name="items without finite strengths",
        finds=_finds_items_without_strength,
        sentence="No finite strengths exist: {causes}. More duels are needed.",
        remedies={
            "Or to add two wins and two losses against a virtual item": "half_games = 2"
        },
    ),
]

# Questions to a board ---------------------------------------------------------------

#: Fewest groups for errors that are clustered by them: with 2 or 3, Student's quantiles
#: at 95 % are above 4, and the effective number of groups is hardly known.
LEAST_GROUPS = 5


def has_few_groups(board):
    """Whether the errors of a board are clustered by too few groups."""
    return board.n_groups is not None and board.n_groups < LEAST_GROUPS


def _finds_few_groups(given):
    """Find errors that are clustered by few groups."""
    if given.errors is None or not has_few_groups(given.board):
        return None
    return {
        "errors": given.errors,
        "n_groups": given.board.n_groups,
        "least": LEAST_GROUPS,
    }


def _finds_unknown_item(given):
    """Find a name that is not an item of the board."""
    items = given.board.items.tolist()
    for name in given.names or ():
        if name not in items:
            return {"name": repr(name), "items": items[:10]}
    return None


def _finds_top_of_all(given):
    """Find a top that is as large as the number of items."""
    r = len(given.board.items)
    if given.top is None or given.top < r:
        return None
    return {"top": given.top, "n_items": r}


CHECKS_OF_BOARDS = [
    Check(
        name="few groups",
        finds=_finds_few_groups,
        sentence=(
            "{errors}: {n_groups} group(s) are too few, errors clustered by groups "
            "need {least}. Omit group=, or name a column of more groups, such as the "
            "prompt."
        ),
    ),
    Check(
        name="item of a board",
        finds=_finds_unknown_item,
        sentence="{name} is not one of the items, {items}.",
    ),
    Check(
        name="top of all items",
        finds=_finds_top_of_all,
        sentence="top={top} must be smaller than the number of items, {n_items}.",
    ),
]
