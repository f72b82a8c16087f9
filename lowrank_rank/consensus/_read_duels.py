"""Readers of duels: counts, lists and tables become one row for each duel."""

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_consistent_length

from ..validation._arrays import (
    LARGEST,
    check_finite,
    check_same_index,
    check_size,
    column_names,
    numbers,
    refuse_same_names,
    shown,
)
from ..validation._columns import first_text
from ..validation._ids import coded, codes_of, id_array
from ..validation._suspicious import warn_if_suspicious
from ..validation._warn import warn_of_other_columns
from ._votes import read_votes

#: Words for a tie, also of logs of arenas.
_TIES = ["tie", "tied", "draw", "tie (bothbad)", "bothbad", "both_bad"]


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


def read_duels(duels, covariates, of_rows, item_a, item_b, result):
    """Read and check the arguments of `bradley_terry` into `Duels`.

    Without covariates, groups and judges equal duels are counted: one row for each
    pair and outcome.

    Parameters
    ----------
    duels, covariates, item_a, item_b, result
        As in `bradley_terry`.
    of_rows : dict
        The arguments weight, group and judge by name: a column's name, an array or
        None.
    """
    columns = column_names(duels)
    if isinstance(covariates, str):
        covariates = [covariates]
    result_columns = [item_a, item_b, result]
    missing = [column for column in result_columns if column not in columns]
    is_default = result_columns == ["model_a", "model_b", "winner"]
    if missing and not is_default:
        raise ValueError(
            f"duels have the columns {shown(columns)}, and not {missing[0]!r}."
        )

    sides = ["winner", "loser"]
    # Covariates are first side minus second; times `sign` they are winner minus loser.
    sign = np.ones(1)
    if not missing and not (is_default and "loser" in columns):
        sides = [item_a.removeprefix("model_"), item_b.removeprefix("model_")]
        pairs, items, tied, sign = _read_results(duels, item_a, item_b, result)
        weights = np.ones(len(pairs))
        known = result_columns
        if covariates is None:
            first = np.where(sign > 0, pairs[:, 0], pairs[:, 1])
            second = np.where(sign > 0, pairs[:, 1], pairs[:, 0])
            warn_if_suspicious("always first", first, second, items)
    elif "winner" in columns and "loser" in columns:
        pairs, items, tied = _read_winners(duels, columns)
        weights = np.ones(len(pairs))
        known = ["winner", "loser", "tie"]
    else:
        named = {"covariates": covariates, **of_rows}
        pairs, items, tied, weights = _read_without_columns(duels, columns, named)
        columns = []  # the columns of counts are items
        known = []

    n = len(pairs)
    check_consistent_length(*[duels[name] for name in known if name in columns])
    values = {
        name: _values_of_rows(duels, columns, name, value, n)
        for name, value in of_rows.items()
    }
    known = [*known, *_columns_of_arguments(covariates, of_rows, sides)]
    if covariates is None or _are_names(covariates):
        remedy = " Name others in weight=, group=, judge= or covariates=."
        warn_of_other_columns(columns, known, "bradley_terry", remedy)
    group, judge, judges = _read_groups(values["group"], values["judge"], n)
    if values["weight"] is not None:
        weights = numbers(values["weight"], "weight")
    _check_duels(pairs, items, tied, weights)
    table = Duels(
        items=items,
        winner=pairs[:, 0].astype(np.intp),
        loser=pairs[:, 1].astype(np.intp),
        tied=tied.astype(np.intp),
        weights=weights,
        covariates=_read_covariates(duels, covariates, sides, n) * sign[:, np.newaxis],
        group=group.astype(np.intp),
        judge=judge,
        judges=judges,
    )
    return _distinct_duels(table, values["group"] is not None, covariates)


def _distinct_duels(table, has_groups, covariates):
    """Drop duels of weight 0, and count equal ones where no column tells them apart."""
    if covariates is None and not has_groups and table.judge is None:
        return _count_equal_duels(table)
    table = _drop_weightless(table)
    if not has_groups:
        return table
    return table._replace(n_groups=len(np.unique(table.group)))


# Layouts ----------------------------------------------------------------------------


def _read_results(duels, item_a, item_b, result):
    """Read two columns of items and one that says who won.

    Returns
    -------
    pairs : ndarray of int, shape (n, 2)
        Codes of the winner and the loser.
    items : ndarray of shape (r,)
        Names of the items.
    tied : ndarray of bool, shape (n,)
    sign : ndarray of shape (n,)
        -1 where the second item won, else 1.
    """
    columns = [item_a, item_b, result]
    codes, names = _coded(duels, columns, "'tie'")
    first, second, outcome = codes.T
    words = [str(name).strip().lower() for name in names]

    def outcome_in(accepted):
        return np.array([word in accepted for word in words])[outcome]

    # Results by name: every row has the item that won, or a tie if no item is so named.
    first_named = outcome == first
    second_named = outcome == second
    is_named = first_named | second_named
    item_words = {words[code] for code in np.unique(codes[:, :2])}
    by_name = is_named | outcome_in(set(_TIES) - item_words)

    # Results by word: every row has the word of a side, or of a tie. Where the result
    # is also the name of an item, the two must agree.
    first_worded = outcome_in([item_a.lower(), "a"])
    second_worded = outcome_in([item_b.lower(), "b"])
    tie_worded = outcome_in(_TIES)
    is_word = first_worded | second_worded | tie_worded
    names_agree = (first_worded | ~first_named) & (second_worded | ~second_named)
    by_word = is_word & names_agree

    if is_named.all() or (by_name.all() and not is_word.all()):
        second_won = second_named
        tied = ~is_named
    elif by_word.all():
        second_won = second_worded
        tied = tie_worded
    else:
        # The first row that does not fit the reading that fits more rows.
        fits = by_name
        if is_word.all() or by_word.sum() > by_name.sum():
            fits = by_word
        row = int(np.argmin(fits))
        got = shown(names[outcome[row]])
        one = shown(names[first[row]])
        other = shown(names[second[row]])
        remedy = (
            "every row names the item that won, or every row has a word, "
            f"{item_a!r}, 'a', {item_b!r} or 'b'. A tie is one of {_TIES}."
        )
        if not is_named.any():
            results = names[np.unique(outcome)].tolist()
            remedy = _line_of_numbers(results, item_a, item_b, result) or remedy
        raise ValueError(
            f"{result!r} is {got} in row {row}, a duel of {one} and {other}: {remedy}"
        )
    winner_loser = np.where(second_won, [second, first], [first, second])
    # `names` also holds the results: keep the names of items alone.
    used, pairs = np.unique(winner_loser, return_inverse=True)
    return pairs.reshape(2, -1).T, names[used], tied, np.where(second_won, -1.0, 1.0)


def _coded(duels, columns, tie):
    """Codes of columns of a table of duels; `tie` says how the table has a tie."""
    try:
        return coded([duels[name] for name in columns], columns)
    except ValueError as error:
        for name in columns:
            problem = f"{name!r} contains a missing or infinite id "
            if str(error).startswith(problem):
                line = f"duels.dropna(subset=[{name!r}])"
                if "inf): " in str(error):  # dropna keeps infinite ids
                    infinite = "[numpy.inf, -numpy.inf]"
                    line = f"duels[~duels[{name!r}].isin({infinite})]"
                raise ValueError(
                    str(error).removesuffix("every row needs an id.")
                    + f"drop the row, {line}. A tie is {tie}."
                ) from None
        raise


def _line_of_numbers(results, item_a, item_b, result):
    """Return the line that makes words of results that are numbers, or ""."""
    words = [item_a, item_b, "tie"]
    # Numbers for the first item, for the second one and for a tie.
    for usual in [(1, 0, 0.5), (1, 2, 0), (1, -1, 0)]:
        word_of = dict(zip(usual, words, strict=True))
        try:
            used = {one: word_of[float(one)] for one in results}
        except (KeyError, ValueError, TypeError, OverflowError):  # also dates
            continue
        return (
            f"if 1 is a win of {item_a!r}, write duels[{result!r}] = "
            f"duels[{result!r}].map({used})."
        )
    return ""


def _read_winners(duels, columns):
    """Read the columns "winner", "loser" and, where given, "tie".

    Returns codes (n, 2) of winners and losers, the names of the items, and ties.
    """
    sides = ["winner", "loser"]
    pairs, items = _coded(duels, sides, "1 in a column 'tie'")
    # Refuse a word for a tie, or a missing value, as a winner or a loser.
    words = [str(item).strip().lower() for item in items]
    is_result = np.array([word in ["", *_TIES] for word in words], bool)
    for row, side in np.argwhere(is_result[pairs])[:1]:
        got = str(items[pairs[row, side]])
        problem = "empty"
        if got.strip():
            problem = "a result, not an item: use a column 'tie'"
        raise ValueError(f"{sides[side]!r} in row {row}: {shown(got)} is {problem}.")
    tied = np.zeros(len(pairs))
    if "tie" in columns:
        tied = numbers(duels["tie"], "The column 'tie'")
    return pairs, items, tied


def _read_without_columns(duels, columns, named):
    """Read pairs or counts; `named` are arguments that have a value for each duel.

    Returns codes (n, 2) of winners and losers, the names of the items, ties and
    weights.
    """
    shape: Any = getattr(duels, "shape", ())
    if not columns and shape[1:] == (2,):
        is_counts = shape[0] == 2 and duels.dtype.kind not in "OUT"
        if not is_counts:
            pairs, items = coded(duels.T, ["winner", "loser"])
            return pairs, items, np.zeros(len(pairs)), np.ones(len(pairs))
    if isinstance(duels, list | tuple) or len(shape) == 1:
        pairs, items, tied = _read_list(list(duels))
        return pairs, items, tied, np.ones(len(pairs))
    refuse_same_names(columns, "duels")
    try:
        votes = read_votes(duels, "counts")
    except ValueError as error:
        reason: Any = error
        texts = [name for name in columns if first_text(duels[name]) is not None]
        if "model_a" in columns and "model_b" in columns:
            reason = 'Say who won, as result="outcome".'
        elif texts and len(columns) == 2:
            table = "pandas.DataFrame(duels)" if isinstance(duels, dict) else "duels"
            names = dict(zip(columns, ["winner", "loser"], strict=True))
            reason = f"If the first one won: {table}.rename(columns={names})."
        elif len(texts) == 3:
            one, other, result = map(repr, texts)
            reason = f"Say item_a={one}, item_b={other}, result={result}?"
        elif texts:
            reason = "Name your columns in these three."
        elif shape[1:] == (3,) and not columns:
            reason = (
                "Of an array of three columns: pandas.DataFrame(duels, "
                "columns=['model_a', 'model_b', 'winner'])."
            )
        got = f", got the columns {shown(columns, 60)}" if columns else ""
        raise ValueError(
            "duels must be lists of [winner, loser], counts, or a table with the "
            "columns 'winner' and 'loser', or two items and a result (item_a=, "
            f"item_b=, result=){got}. {reason}"
        ) from None
    for name, value in named.items():
        if value is not None:
            raise ValueError(
                f"{name} needs a row for each duel, and these are counts: give a list "
                "or a frame of duels."
            )
    counts = votes.total()
    pairs = np.argwhere(counts)
    return pairs, votes.items, np.zeros(len(pairs)), counts[tuple(pairs.T)]


def _read_list(duels):
    """Read a list of pairs; a tie is a pair in a list.

    Returns codes (n, 2) of winners and losers, the names of the items, and ties.
    """
    tied = np.zeros(len(duels))
    types = set(map(type, duels))
    has_pairs_alone = types <= {list, tuple} and set(map(len, duels)) == {2}
    if not has_pairs_alone:
        tied[:] = [isinstance(duel, list | tuple) and len(duel) == 1 for duel in duels]
        duels = [
            duel[0] if tie else duel for duel, tie in zip(duels, tied, strict=True)
        ]
        for row, pair in enumerate(duels):
            if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
                raise ValueError(
                    f"duels[{row}] is {shown(pair)}: a list of duels holds [winner, "
                    "loser], and a tie is a pair in a list, [('a', 'b')]; "
                    "consensus_ranking takes orders of more items."
                )
    names = id_array(list(chain.from_iterable(duels)))
    pairs, items = coded([names[::2], names[1::2]], ["winner", "loser"])
    return pairs, items, tied


# Columns ----------------------------------------------------------------------------


def _values_of_rows(duels, columns, argument, value, n):
    """Return the values of weight=, group= or judge=, of a column or an array."""
    if value is None:
        return None
    if isinstance(value, str) or not hasattr(value, "__len__"):
        if value not in columns:
            raise ValueError(
                f"{argument}={shown(value)} is not a column of duels, which have "
                f"{shown(columns)}: name one, or give an array of {n} values."
            )
        value = duels[value]
    check_same_index(duels=duels, **{argument: value})
    if len(value) != n:
        raise ValueError(
            f"{argument} has {len(value)} values: give one for each of the {n} duels."
        )
    return value


def _columns_of_arguments(covariates, of_rows, sides):
    """List the columns that the caller names, or gives as a Series of this name."""
    names = []
    for value in of_rows.values():
        names.append(value if isinstance(value, str) else getattr(value, "name", None))
    if _are_names(covariates):
        names += [f"{name}_{side}" for name in covariates for side in sides]
    return names


def _are_names(covariates):
    """Whether covariates are a list of names of columns."""
    is_sequence = isinstance(covariates, list | tuple)
    return is_sequence and {type(name) for name in covariates} == {str}


def _read_groups(group, judge, n):
    """Read codes of groups and of judges, and the names of the judges.

    Each row is a group of its own if there are judges and no groups.
    """
    group_codes = np.full(n, -1)
    judge_codes = None
    judges = None
    if judge is not None:
        judge_codes, judges = codes_of(judge, "judge")
        group_codes = np.arange(n)
    if group is not None:
        group_codes, _ = codes_of(group, "group")
    return group_codes, judge_codes, judges


def _check_duels(pairs, items, tied, weights):
    """Refuse wrong ties and weights, an item against itself, and too many items."""
    is_flag = (tied == 0) | (tied == 1)
    _check_rows("tie", tied, is_flag, "True or False")
    is_count = (weights >= 0) & (weights <= LARGEST)
    _check_rows("weight", weights, is_count, "finite and >= 0")
    for row in np.flatnonzero(pairs[:, 0] == pairs[:, 1])[:1]:
        item = shown(items[pairs[row, 0]])
        raise ValueError(f"duels[{row}] pairs {item} with itself.")
    check_size("The information matrix", 8 * len(items) ** 2, "drop rare items")


def _check_rows(name, values, is_right, words):
    """Refuse a column that is wrong in some row."""
    if values.ndim == 1 and is_right.all():
        return
    row = 0
    if values.ndim == 1:
        row = int(np.argmin(is_right))
    got = shown(values[row])
    raise ValueError(f"'{name}' must be {words} in each row, got {got} in row {row}.")


def _read_covariates(duels, covariates, sides, n):
    """Read covariates (n, n_covariates) of the first side minus the second.

    A name is read from two columns: "length" from "length_winner" and "length_loser".
    """
    if covariates is None:
        return np.empty((n, 0))
    if _are_names(covariates):
        columns = column_names(duels)
        differences = []
        for name in covariates:
            one, other = (f"{name}_{side}" for side in sides)
            for needed in (one, other):
                if needed not in columns:
                    raise ValueError(
                        f"covariates={shown(covariates)} need the column {needed!r}, "
                        "which duels do not have. Give differences as an array."
                    )
            differences.append(numbers(duels[one], one) - numbers(duels[other], other))
        covariates = np.transpose(differences)
    check_same_index(duels=duels, covariates=covariates)
    values = check_finite(numbers(covariates, "covariates"), "covariates")
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(
            f"covariates has the shape {values.shape}: give a row for each of the {n} "
            "duels."
        )
    return values.reshape(n, -1)


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


def check_connected(table):
    """Refuse items that did not meet the rest, never lost or never won.

    Finite strengths exist only if the graph of "beat" is strongly connected (Ford).
    """
    is_tie = table.tied == 1
    winner = np.append(table.winner, table.loser[is_tie])
    loser = np.append(table.loser, table.winner[is_tie])
    r = len(table.items)
    beat = sparse.csr_matrix((np.ones(len(winner)), (winner, loser)), shape=(r, r))
    _, weak = connected_components(beat, connection="weak")
    _, strong = connected_components(beat, connection="strong")
    # "The rest" is the strong component of more than half of the items, if any.
    is_small = 2 * np.bincount(strong)[strong] <= r
    if not is_small.any():
        return

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
            names = table.items[has_problem]
            others = " and others" if len(names) > 5 else ""
            causes.append(f"{names[:5].tolist()}{others} {problem}")
    raise ValueError(
        f"No finite strengths exist: {' and '.join(causes)}. Add duels, or take "
        "half_games=2."
    )
