"""Readers of votes: matrices, PrefLib, orders of names, long tables."""

from collections.abc import Mapping
from itertools import chain
from numbers import Integral, Number
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..datasets._orders import check_item_columns, check_unique, flat, named_grades
from ..lists._ids import is_missing
from ..target_losses import PairwiseDisagreement
from ..validation._arrays import (
    by_label,
    check_same_index,
    check_size,
    column_names,
    is_frame,
    numbers,
    shown,
)
from ..validation._ids import codes_of, id_array
from ..validation._labels import read_weights
from ..validation._warn import warn_of_other_columns

_KINDS = """say what the votes are, by one of these words:
kind='orders': items, best first, as in [[2, 0, 1], [1, 2]];
kind='grades': a number for each item, higher is better, as in \
[[4.5, 3, 5], [1, nan, 2]];
kind='ranks': a rank for each item, 1 = best, as in [[2, 3, 1], [1, nan, 2]];
kind='counts': the number of votes for "i before j", (r, r), as in [[0, 7], [3, 0]].
No kind is needed by a list of lists of names, the result of load_preflib, \
preferences (n, r, r), and a long table with the columns 'voter', 'item' and 'rank' or \
'grade'."""

#: Columns of a long table, with other names that the message about them translates.
_LONG = {
    "voter": ["voter", "voter_id", "ballot", "ballot_id", "judge", "rater", "user"],
    "item": ["item", "candidate", "choice", "alternative", "option"],
    "rank": ["rank", "place", "position"],
    "grade": ["grade", "score", "rating"],
}


class Votes(NamedTuple):
    """Votes on r items.

    Attributes
    ----------
    labels : ndarray of shape (n, r) or (n, r, r)
        Grades, higher is better, NaN for what is not ranked; or preferences, both ways.
    weights : ndarray of shape (n,)
    items : ndarray of shape (r,)
        Names.
    are_counts : bool
        Whether `labels` is one matrix of counts, in which each comparison is one vote.
    """

    labels: np.ndarray
    weights: np.ndarray
    items: np.ndarray
    are_counts: bool = False

    @property
    def are_partial(self) -> bool:
        """Whether voters compared some of the items only, or may have done so."""
        if self.are_counts:
            return True
        is_missing = np.isnan(self.labels[self.weights > 0])
        is_missing = is_missing.reshape(len(is_missing), -1)
        is_empty = is_missing.all(axis=1)
        return bool(is_missing[~is_empty].any())

    def voters_of_items(self) -> np.ndarray:
        """Weight of the voters who ranked each item, (r,)."""
        return self.weights @ ~np.isnan(self.labels)

    def total(self) -> np.ndarray:
        """Weight of the votes for "i before j", (r, r)."""
        return PairwiseDisagreement().total_preferences(self.labels, self.weights)


def read_votes(orders, kind=None, items=None, weights=None):
    """Read the arguments of `consensus_ranking` into `Votes`.

    Raises
    ------
    ValueError
        Naming what does not fit.
    """
    if isinstance(orders, Mapping) and {"target", "item_names"} <= set(orders):
        _check_kind(kind, "grades")
        kind = "grades"
        if weights is None:
            weights = orders.get("counts")
        if items is None:
            items = orders["item_names"]
        orders = orders["target"]
    columns = set(column_names(orders))
    if {"voter", "item"} <= columns and {"rank", "grade"} & columns:
        labels, items, weights, kind = _read_long_table(orders, items, weights, kind)
    else:
        labels, items, kind = _read_wide_table(orders, items, weights, kind)
    labels, are_counts = _labels_of_kind(labels, kind, weights)
    try:
        weights = read_weights(weights, len(labels))
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "weights")) from None
    labels = _check_labels(labels)
    r = labels.shape[1]
    names = list(range(r) if items is None else items)
    if len(names) != r:
        raise ValueError(f"items has {len(names)} names for {r} items.")
    check_unique(names)
    return Votes(
        labels=labels,
        weights=weights,
        items=id_array(names),
        are_counts=are_counts,
    )


def _check_kind(kind, kind_of_orders):
    """Refuse a kind that differs from what orders say themselves."""
    if kind not in (None, kind_of_orders):
        raise ValueError(
            f"orders says that it holds {kind_of_orders}, and kind is {shown(kind)}: "
            "omit kind."
        )


# Long tables: a row for each voter and item ------------------------------------------


def _read_long_table(orders, items, weights, kind):
    """Read grades or ranks (n, r), names of the items, weights, and the kind."""
    columns = column_names(orders)
    known = ["voter", "item", "rank", "grade", "weight"]
    warn_of_other_columns(columns, known, "consensus_ranking")
    if "rank" in columns and "grade" in columns:
        raise ValueError(
            "orders has both columns 'rank' and 'grade': drop one of them."
        )
    column = "rank" if "rank" in columns else "grade"
    _check_kind(kind, f"{column}s")
    voter, voters = codes_of(orders["voter"], "the column 'voter'")
    item, names = codes_of(orders["item"], "the column 'item'")
    if items is not None:
        # Codes in the order of `items`.
        place = {name: i for i, name in enumerate(items)}
        unknown = [name for name in names if name not in place]
        if unknown:
            raise ValueError(
                f"orders rank '{unknown[0]}', which is not in items "
                f"{shown(list(items))}."
            )
        item = np.array([place[name] for name in names])[item]
        names = items
    n_voters = int(voter.max()) + 1
    r = len(names)
    check_size("The grades", 8 * n_voters * r, "give fewer voters at a time")
    is_repeated = np.bincount(voter * r + item) > 1
    if is_repeated.any():
        q, i = divmod(int(np.argmax(is_repeated)), r)
        raise ValueError(
            f"Voter '{voters[q]}' ranks the item '{names[i]}' twice: give it once."
        )
    labels = np.full((n_voters, r), np.nan)
    labels[voter, item] = numbers(orders[column], f"The column {column!r}")
    if "weight" in columns:
        if weights is not None:
            raise ValueError(
                "weights are given twice, as a column and as an argument: give one."
            )
        weights = _weights_of_voters(orders["weight"], voter, voters)
    return labels, names, by_label(weights, voters.tolist(), "weights"), f"{column}s"


def _weights_of_voters(column, voter, voters):
    """Read the weight of each voter, which all rows of the voter repeat."""
    weight_of_row = numbers(column, "The column 'weight'")
    weights = np.zeros(len(voters))
    weights[voter] = weight_of_row
    differs = ~(weights[voter] == weight_of_row)  # NaN differs from itself
    for row in np.flatnonzero(differs)[:1]:
        raise ValueError(
            f"Voter '{voters[voter[row]]}' must have one weight, got "
            f"{weight_of_row[row]:g} in row {row}."
        )
    return weights


# Wide tables: a row for each voter, or a matrix of counts -----------------------------


def _read_wide_table(orders, items, weights, kind):
    """Read labels of a kind, names of the items or None, and the kind."""
    columns = column_names(orders)
    _refuse_other_names(columns, kind, items)
    shape = tuple(getattr(orders, "shape", ()))
    if kind is None and len(shape) == 3 and shape[1] == shape[2]:
        kind = "counts"
    if kind is None and not _names_items(orders):
        raise ValueError(_KINDS)
    if isinstance(orders, Mapping):
        raise ValueError(
            f"orders maps {shown(columns[:5])}: give pandas.DataFrame(orders)."
        )
    check_same_index(orders=orders, weights=weights)
    if kind in (None, "orders"):
        labels, items = named_grades(orders, items)
    else:
        labels, items = _read_matrix(orders, items, kind)
    return labels, items, kind


def _refuse_other_names(columns, kind, items):
    """Refuse a long table whose columns have other names."""
    word_of = {
        name: word
        for name in columns
        for word in _LONG
        if str(name).lower() in _LONG[word]
    }
    has_long_columns = {"voter", "item"} < set(word_of.values())
    if has_long_columns and (kind is None or items is None):
        renamed = {
            name: word
            for name, word in word_of.items()
            if name != word and word not in columns
        }
        raise ValueError(
            "A long table of votes has the columns 'voter', 'item' and 'rank' "
            "(1 = best) or 'grade' (higher is better): use "
            f"orders.rename(columns={renamed})."
        )


def _names_items(orders):
    """Return whether orders is a list, or a Series, of lists or tuples of names.

    Numbers are no names.
    """
    if getattr(orders, "ndim", 0) == 1 and not is_frame(orders):
        orders = list(orders)
    if not isinstance(orders, list | tuple):
        return False
    if not {type(order) for order in orders} <= {list, tuple}:
        return False
    return not any(
        isinstance(entry, Number | np.bool_ | np.ndarray) and not is_missing(entry)
        for entry in chain.from_iterable(map(flat, orders))
    )


def _read_matrix(orders, items, kind):
    """Read grades, ranks, counts or preferences, and names of the items or None."""
    if not is_frame(orders):
        return numbers(orders, "orders"), items
    selected = items
    if kind == "counts" and items is None:
        index = list(getattr(orders, "index", ()))
        if index == column_names(orders):
            # The same names in rows and columns are items, even if one is "group".
            selected = index
    columns = check_item_columns(orders, selected)
    labels = np.column_stack(
        [numbers(orders[name], f"The column {name!r}") for name in columns]
    )
    names = columns if items is None else list(items)
    places = [columns.index(name) for name in names]
    if kind != "counts":
        return labels[:, places], names

    # An index that only numbers the rows says nothing about the names of the columns.
    index = list(getattr(orders, "index", range(len(labels))))
    numbers_rows = index == list(range(len(index)))
    if not numbers_rows or any(isinstance(name, Integral) for name in columns):
        rows = index
        if items is not None:
            rows = [name for name in index if name in columns]
        if rows != columns:
            raise ValueError(
                "Counts of votes need the same items as index and columns, got "
                f"{shown(rows[:5])} and {shown(columns[:5])}: use "
                "frame.reindex(index=items, columns=items, fill_value=0)."
            )
        labels = labels[[index.index(name) for name in columns]]
    labels = labels[:, places]
    if len(labels) == len(places):  # `_labels_of_kind` refuses other shapes
        labels = labels[places]
    return labels, names


# Labels -------------------------------------------------------------------------------


def _labels_of_kind(labels, kind, weights):
    """Convert labels to grades (n, r) or preferences (n, r, r).

    Returns
    -------
    labels : ndarray of shape (n, r) or (n, r, r)
    are_counts : bool
        Whether the preferences are one matrix of counts.
    """
    if kind == "counts":
        if labels.ndim not in (2, 3) or labels.shape[-2] != labels.shape[-1]:
            raise ValueError(
                f"Counts of votes need the shape (r, r), got {labels.shape}."
            )
        if labels.ndim == 3:
            return labels, False
        if weights is not None:
            raise ValueError(
                "Counts (r, r) are numbers of votes: they take no weights."
            )
        return labels[np.newaxis], True
    if labels.ndim != 2:
        raise ValueError(
            f"kind={shown(kind)} needs a matrix (n_voters, r), got {labels.shape}."
        )
    if kind == "ranks":
        _check_ranks(labels)
        labels = -labels
    return labels, False


def _check_ranks(ranks):
    """Refuse ranks below 1, and gaps between ranks."""
    # Without a gap, a rank is at most the number of items that have no larger rank or
    # are not ranked.
    rank_or_lowest = np.where(np.isnan(ranks), -np.inf, ranks)
    largest = rankdata(rank_or_lowest, "max", axis=1)
    for row, item in np.argwhere((ranks < 1) | (ranks > largest))[:1]:
        problem = "there is a gap in its ranks"
        if ranks[row, item] < 1:
            problem = "ranks start at 1 = best"
        raise ValueError(
            f"Vote {row} has the rank {ranks[row, item]:g}, but {problem}. If 0 or NaN "
            "is not ranked, or a mark such as 99, give NaN: numpy.where(ranks > 0, "
            "ranks, numpy.nan). Gaps are closed by scipy.stats.rankdata(ranks, axis=1, "
            "nan_policy='omit')."
        )


def _check_labels(labels):
    """Refuse labels that are empty, infinite, missing, or prefer an item to itself."""
    if 0 in labels.shape:
        raise ValueError(
            f"orders must hold at least one vote and one item, got {labels.shape}."
        )
    if np.isinf(labels).any() or (labels.ndim == 3 and np.isnan(labels).any()):
        raise ValueError(
            "orders hold numbers that are infinite, or counts that are missing."
        )
    if labels.ndim == 3 and np.einsum("qii->qi", labels).any():
        raise ValueError(
            "orders prefer an item to itself: the diagonal of counts must be 0."
        )
    return PairwiseDisagreement().check_labels(labels)
