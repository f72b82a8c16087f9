"""Readers of duels: counts, lists and tables become one row for each duel."""

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..validation._arrays import (
    check_finite,
    check_same_index,
    check_size,
    column_names,
    numbers,
    refuse_same_names,
)
from ..validation._check import Given, refuse
from ..validation._checks_of_duels import (
    CHECKS_OF_DUELS,
    CHECKS_OF_ROWS,
    TIES,
    are_names,
    holds_text,
)
from ..validation._ids import coded, codes_of, id_array
from ..validation._rules import look_for
from ._votes import read_votes


class Duels(NamedTuple):
    """Rows of duels of positive weight. Items, groups and judges are integer codes.

    Attributes
    ----------
    items : ndarray of shape (r,)
        Names of the items.
    winner, loser : ndarray of int, shape (n,)
        In a tie the two items in any order.
    tied : ndarray of int, shape (n,)
        1 for a tie, else 0.
    weights : ndarray of shape (n,)
        Number of such duels.
    covariates : ndarray of shape (n, n_covariates)
        The winner's minus the loser's.
    group : ndarray of int, shape (n,)
        Errors are clustered by groups; -1 for none.
    n_groups : int or None
        Number of groups of the caller. None if there are none.
    judge : ndarray of int, shape (n,) or None
    judges : ndarray or None
        Names of the judges.
    """

    items: Any
    winner: Any
    loser: Any
    tied: Any
    weights: Any
    covariates: Any
    group: Any
    n_groups: Any = None
    judge: Any = None
    judges: Any = None


#: Columns of the two items and the result, where the caller names none.
_COLUMNS = {"item_a": "model_a", "item_b": "model_b", "result": "winner"}


def read_duels(duels, covariates, of_rows, item_a, item_b, result, half_games):
    """Read and check the arguments of `bradley_terry` into `Duels`.

    Without covariates, groups and judges equal duels are counted: one row for each
    pair and outcome.

    Parameters
    ----------
    duels, covariates, item_a, item_b, result, half_games
        As in `bradley_terry`.
    of_rows : dict
        The arguments weight, group and judge by name: a column's name, an array or
        None.
    """
    given = Given(
        duels=duels,
        columns=column_names(duels),
        covariates=covariates,
        item_a=item_a or _COLUMNS["item_a"],
        item_b=item_b or _COLUMNS["item_b"],
        result=result or _COLUMNS["result"],
        half_games=half_games,
        **of_rows,
    )
    may_be_names = (item_a, item_b, result, covariates, *of_rows.values())
    given.names_columns = any(
        isinstance(value, str) or are_names(value) for value in may_be_names
    )
    _find_layout(given)
    refuse(CHECKS_OF_DUELS, given)
    _READERS[given.layout](given)
    _read_rows(given)
    refuse(CHECKS_OF_ROWS, given)
    check_size("The information matrix", 8 * len(given.names) ** 2, "drop rare items")
    return _distinct_duels(_table_of(given), given)


def _read_rows(given):
    """Read the values of the rows: weights, groups, judges and covariates."""
    duels = given.duels
    columns = given.columns
    known = [name for name in given.columns_of_items if name in columns]
    check_consistent_length(*[duels[name] for name in known])
    of_rows = {name: getattr(given, name) for name in ("weight", "group", "judge")}
    given.values = {
        name: _values_of_rows(duels, name, value) for name, value in of_rows.items()
    }
    covariates = given.covariates
    if isinstance(covariates, str):
        covariates = [covariates]
    known = [*given.columns_of_items]
    known += _columns_of_arguments(covariates, of_rows, given.sides)
    # If the caller names a column, the others are left out. Covariates may be in an
    # array.
    if covariates is None and not given.names_columns:
        remedy = " Name others in weight=, group=, judge= or covariates=."
        look_for("other columns", columns, known, "bradley_terry", remedy)
    given.judge_codes, given.judges = _read_judges(given.values["judge"])
    given.group_codes = _read_groups(
        given.values["group"], given.judge_codes, len(given.pairs)
    )
    if given.values["weight"] is not None:
        given.weights = numbers(given.values["weight"], "weight")
    given.differences = _read_covariates(duels, covariates, given.sides)


def _table_of(given):
    """Return `Duels`, a row for each duel, of what was read."""
    n = len(given.pairs)
    differences = np.empty((n, 0))
    if given.differences is not None:
        differences = given.differences.reshape(n, -1)
    return Duels(
        items=given.names,
        winner=given.pairs[:, 0].astype(np.intp),
        loser=given.pairs[:, 1].astype(np.intp),
        tied=given.tied.astype(np.intp),
        weights=given.weights,
        covariates=differences * given.sign[:, np.newaxis],
        group=given.group_codes.astype(np.intp),
        judge=given.judge_codes,
        judges=given.judges,
    )


def _find_layout(given):
    """Set the layout of duels, its columns of items and the names of the two sides."""
    duels = given.duels
    columns = given.columns
    shape = getattr(duels, "shape", ())
    result_columns = [given.item_a, given.item_b, given.result]
    is_default = result_columns == list(_COLUMNS.values())
    has_results = set(result_columns) <= set(columns)
    given.columns_of_items = []
    given.sides = ["winner", "loser"]
    # Covariates are first side minus second; times `sign` they are winner minus loser.
    given.sign = np.ones(1)
    if has_results and not (is_default and "loser" in columns):
        given.layout = "results"
        given.columns_of_items = result_columns
        given.sides = [
            given.item_a.removeprefix("model_"),
            given.item_b.removeprefix("model_"),
        ]
    elif "winner" in columns and "loser" in columns:
        given.layout = "winners"
        given.columns_of_items = ["winner", "loser", "tie"]
    elif not columns and shape[1:] == (2,) and not _are_counts_of_two(duels):
        given.layout = "pairs"
    elif isinstance(duels, list | tuple) or len(shape) == 1:
        given.layout = "list"
    else:
        refuse_same_names(columns, "duels")
        given.layout = "counts" if _are_square(duels, columns) else "unknown"


def _are_counts_of_two(duels):
    """Whether an array of two columns holds the counts of two items."""
    return duels.shape[0] == 2 and duels.dtype.kind not in "OUT"


def _are_square(duels, columns):
    """Whether duels are numbers with a row and a column for each item."""
    if not columns:
        shape: Any = getattr(duels, "shape", ())
        return len(shape) in (2, 3) and shape[-1] == shape[-2]
    if isinstance(duels, dict) or any(holds_text(duels, name) for name in columns):
        return False
    index = getattr(duels, "index", ())
    return len(duels) == len(columns) or not set(columns).isdisjoint(index)


def _distinct_duels(table, given):
    """Drop duels of weight 0, and count equal ones where no column tells them apart."""
    has_groups = given.values["group"] is not None
    if given.covariates is None and not has_groups and table.judge is None:
        return _count_equal_duels(table)
    table = _drop_weightless(table)
    if not has_groups:
        return table
    return table._replace(n_groups=len(np.unique(table.group)))


# Layouts ----------------------------------------------------------------------------


class Outcomes(NamedTuple):
    """The column of results in one reading, by the names of items or by words.

    Attributes
    ----------
    second_won, tied : ndarray of bool, shape (n,)
        Where neither holds, the first item won.
    fits : ndarray of bool, shape (n,)
        Whether the row has a result in this reading.
    """

    second_won: np.ndarray
    tied: np.ndarray
    fits: np.ndarray


def _read_results(given):
    """Read two columns of items and one that says who won.

    Sets codes (n, 2) of winners and losers, the names of the items, ties, and a sign of
    each row, -1 where the second item won.
    """
    codes, names = _coded(given, [given.item_a, given.item_b, given.result])
    outcomes = _outcomes(given, codes, names)
    first, second, _ = codes.T
    winner_loser = np.where(outcomes.second_won, [second, first], [first, second])
    # `names` also holds the results: keep the names of items alone.
    used, pairs = np.unique(winner_loser, return_inverse=True)
    given.pairs = pairs.reshape(2, -1).T
    given.names = names[used]
    given.tied = outcomes.tied
    given.sign = np.where(outcomes.second_won, -1.0, 1.0)
    given.weights = np.ones(len(given.pairs))
    # Where no second item wins, the first column holds the winners.
    has_sides = outcomes.second_won.any()
    if has_sides and given.covariates is None and given.unclear_row is None:
        sides = np.where(outcomes.second_won, given.pairs[:, ::-1].T, given.pairs.T)
        look_for("always first", *sides, given.names)


def _outcomes(given, codes, names):
    """Read the results by name or by word; keep the first row that fits neither."""
    words = [str(name).strip().lower() for name in names]
    by_name = _outcomes_by_name(codes, words)
    by_word, is_word = _outcomes_by_word(codes, words, given)
    all_named = not by_name.tied.any()
    if all_named or (by_name.fits.all() and not is_word.all()):
        return by_name
    if by_word.fits.all():
        return by_word
    # The first row that does not fit the reading that fits more rows.
    fits = by_name.fits
    if is_word.all() or by_word.fits.sum() > fits.sum():
        fits = by_word.fits
    row = int(np.argmin(fits))
    given.unclear_row = row
    given.unclear_duel = names[codes[row]]
    given.has_named_results = not by_name.tied.all()
    given.results = names[np.unique(codes[:, 2])].tolist()
    return by_name


def _outcomes_by_name(codes, words):
    """Read the item that won, or a word for a tie that is not a name of an item.

    `codes` are of the first item, the second one and the result, and `words` are the
    names in lower case. A row without the name of an item counts as tied.
    """
    first, second, result = codes.T
    is_named = (result == first) | (result == second)
    item_words = {words[code] for code in np.unique(codes[:, :2])}
    tie_named = _are_among(set(TIES) - item_words, words, result)
    return Outcomes(
        second_won=result == second, tied=~is_named, fits=is_named | tie_named
    )


def _outcomes_by_word(codes, words, given):
    """Read the word of a side, or of a tie; tell also which results are such words.

    Where the result is also the name of an item, the two must agree.
    """
    first, second, result = codes.T
    first_worded = _are_among([given.item_a.lower(), "a"], words, result)
    second_worded = _are_among([given.item_b.lower(), "b"], words, result)
    tie_worded = _are_among(TIES, words, result)
    is_word = first_worded | second_worded | tie_worded
    agrees_first = first_worded | (result != first)
    agrees_second = second_worded | (result != second)
    outcomes = Outcomes(
        second_won=second_worded,
        tied=tie_worded,
        fits=is_word & agrees_first & agrees_second,
    )
    return outcomes, is_word


def _are_among(accepted, words, codes):
    """Whether the word of each code is an accepted one."""
    return np.array([word in accepted for word in words])[codes]


def _read_winners(given):
    """Read the columns "winner", "loser" and, where given, "tie"."""
    given.pairs, given.names = _coded(given, ["winner", "loser"])
    given.tied = np.zeros(len(given.pairs))
    if "tie" in given.columns:
        given.tied = numbers(given.duels["tie"], "The column 'tie'")
    given.weights = np.ones(len(given.pairs))


def _coded(given, columns):
    """Codes of columns of a table of duels, and the names."""
    try:
        return coded([given.duels[name] for name in columns], columns)
    except ValueError as error:
        given.error = error
        given.columns_of_items = columns
        refuse(CHECKS_OF_DUELS, given)
        raise


def _read_pairs(given):
    """Read an array of winners and losers."""
    given.pairs, given.names = coded(given.duels.T, ["winner", "loser"])
    given.tied = np.zeros(len(given.pairs))
    given.weights = np.ones(len(given.pairs))


def _read_list(given):
    """Read a list of pairs; a tie is a pair in a list."""
    duels = list(given.duels)
    given.tied = np.zeros(len(duels))
    types = set(map(type, duels))
    has_pairs_alone = types <= {list, tuple} and set(map(len, duels)) == {2}
    if not has_pairs_alone:
        is_tie = [isinstance(duel, list | tuple) and len(duel) == 1 for duel in duels]
        given.tied[:] = is_tie
        duels = [
            duel[0] if tie else duel for duel, tie in zip(duels, is_tie, strict=True)
        ]
    names = id_array(list(chain.from_iterable(duels)))
    given.pairs, given.names = coded([names[::2], names[1::2]], ["winner", "loser"])
    given.weights = np.ones(len(given.pairs))


def _read_counts(given):
    """Read the numbers of wins of each item over each other."""
    votes = read_votes(given.duels, "counts", name="duels")
    counts = votes.total()
    given.pairs = np.argwhere(counts)
    given.names = votes.items
    given.tied = np.zeros(len(given.pairs))
    given.weights = counts[tuple(given.pairs.T)]
    given.columns = []  # the columns of counts are items


_READERS = {
    "results": _read_results,
    "winners": _read_winners,
    "pairs": _read_pairs,
    "list": _read_list,
    "counts": _read_counts,
}

# Columns ----------------------------------------------------------------------------


def _values_of_rows(duels, argument, value):
    """Return the values of weight=, group= or judge=, of a column or an array."""
    if value is None:
        return None
    if isinstance(value, str) or not hasattr(value, "__len__"):
        value = duels[value]
    check_same_index(duels=duels, **{argument: value})
    return value


def _columns_of_arguments(covariates, of_rows, sides):
    """List the columns that the caller names, or gives as a Series of this name."""
    names = []
    for value in of_rows.values():
        names.append(value if isinstance(value, str) else getattr(value, "name", None))
    if are_names(covariates):
        names += [f"{name}_{side}" for name in covariates for side in sides]
    return names


def _read_judges(judge):
    """Read codes and names of the judges."""
    return (None, None) if judge is None else codes_of(judge, "judge")


def _read_groups(group, judge_codes, n):
    """Read codes of groups.

    Each row is a group of its own if there are judges and no groups.
    """
    if group is not None:
        group_codes, _ = codes_of(group, "group")
        return group_codes
    return np.full(n, -1) if judge_codes is None else np.arange(n)


def _read_covariates(duels, covariates, sides):
    """Read covariates (n, n_covariates) of the first side minus the second, or None.

    A name is read from two columns: "length" from "length_winner" and "length_loser".
    """
    if covariates is None:
        return None
    if are_names(covariates):
        differences = []
        for name in covariates:
            one, other = (f"{name}_{side}" for side in sides)
            differences.append(numbers(duels[one], one) - numbers(duels[other], other))
        covariates = np.transpose(differences)
    check_same_index(duels=duels, covariates=covariates)
    return check_finite(numbers(covariates, "covariates"), "covariates")


# Rows -------------------------------------------------------------------------------


def _count_equal_duels(table):
    """Reduce duels to a row for each pair and outcome, with the sum of the weights."""
    r = len(table.items)
    shape = (r, r, 2)
    cells = np.ravel_multi_index((table.winner, table.loser, table.tied), shape)
    weights = np.bincount(cells, table.weights)
    met = np.flatnonzero(weights)  # pairs that met with this outcome
    winner, loser, tied = np.unravel_index(met, shape)
    return table._replace(
        winner=winner,
        loser=loser,
        tied=tied,
        weights=weights[met],
        covariates=np.empty((len(met), 0)),
        group=np.full(len(met), -1),
    )


def _drop_weightless(table):
    """Drop the duels of weight 0."""
    is_positive = table.weights > 0
    judge = table.judge
    if judge is not None:
        judge = judge[is_positive]
    return table._replace(
        winner=table.winner[is_positive],
        loser=table.loser[is_positive],
        tied=table.tied[is_positive],
        weights=table.weights[is_positive],
        covariates=table.covariates[is_positive],
        group=table.group[is_positive],
        judge=judge,
    )
