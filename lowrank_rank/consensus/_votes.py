"""Votes in all the forms in which they come: matrices, PrefLib, orders of names, long tables."""

from collections.abc import Mapping
from itertools import chain
from numbers import Integral, Number
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._arrays import (
    by_label,
    check_same_index,
    check_size,
    column_names,
    is_frame,
    numbers,
)
from .._labels import read_weights
from .._lists import codes_of, id_array, is_missing
from .._warn import warn_of_other_columns
from ..datasets._orders import check_item_columns, check_unique, flat, named_grades
from ..target_losses import PairwiseDisagreement

_KINDS = """say what the votes are, by one of these words:
kind='orders': items, best first, as in [[2, 0, 1], [1, 2]];
kind='grades': a number for each item, higher is better, as in [[4.5, 3, 5], [1, nan, 2]];
kind='ranks': a rank for each item, 1 = best, as in [[2, 3, 1], [1, nan, 2]];
kind='counts': the number of votes for "i before j", (r, r), as in [[0, 7], [3, 0]].
No kind is needed by a list of lists of names, the result of load_preflib, preferences (n, r, r), \
and a long table with the columns 'voter', 'item' and 'rank' or 'grade'."""

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

    def total(self) -> np.ndarray:
        """Weight of the votes for "i before j", (r, r)."""
        return PairwiseDisagreement().total_preferences(self.labels, self.weights)


def read_votes(orders, kind=None, items=None, weights=None):
    """`Votes` of what `consensus_ranking` takes, see there.

    Raises
    ------
    ValueError
        Naming what does not fit.
    """
    if isinstance(orders, Mapping) and {"target", "item_names"} <= set(orders):
        _check_kind(kind, "grades")
        weights = orders.get("counts") if weights is None else weights
        items = orders["item_names"] if items is None else items
        kind, orders = "grades", orders["target"]
    columns, shape = column_names(orders), tuple(getattr(orders, "shape", ()))
    if {"voter", "item"} <= set(columns) and {"rank", "grade"} & set(columns):
        labels, items, weights, kind = _long_table(
            orders, columns, items, weights, kind
        )
    else:
        _refuse_other_names(columns, kind, items)
        if kind is None and len(shape) == 3 and shape[1] == shape[2]:
            kind = "counts"
        if kind is None and not _names_items(orders):
            raise ValueError(_KINDS)
        if isinstance(orders, Mapping):
            raise ValueError(
                f"orders maps {columns[:5]}: give pandas.DataFrame(orders)."
            )
        check_same_index(orders=orders, weights=weights)
        if kind in (None, "orders"):
            labels, items = named_grades(orders, items)
        else:
            labels, items = _matrix(orders, items, kind)
    labels, are_counts = _shaped(labels, kind, weights)
    try:
        weights = read_weights(weights, len(labels))
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "weights")) from None
    labels, r = _checked(labels), labels.shape[1]
    names = list(range(r) if items is None else items)
    if len(names) != r:
        raise ValueError(f"items has {len(names)} names for {r} items.")
    check_unique(names)
    return Votes(labels, weights, id_array(names), are_counts)


def _check_kind(kind, holds):
    if kind not in (None, holds):
        raise ValueError(
            f"orders says that it holds {holds}, and kind is {kind!r}: omit kind."
        )


def _refuse_other_names(columns, kind, items):
    """Refuse a long table whose columns have other names."""
    words = [
        (name, word)
        for name in columns
        for word in _LONG
        if str(name).lower() in _LONG[word]
    ]
    is_open = kind is None or items is None
    if is_open and {"voter", "item"} < {word for _, word in words}:
        other = {
            name: word for name, word in words if name != word and word not in columns
        }
        raise ValueError(
            "A long table of votes has the columns 'voter', 'item' and 'rank' (1 = best) or "
            f"'grade' (higher is better): use orders.rename(columns={other})."
        )


def _names_items(orders):
    """Whether orders is a list, or a Series, of lists or tuples of names, which are no numbers."""
    if getattr(orders, "ndim", 0) == 1 and not is_frame(orders):
        orders = list(orders)
    if not isinstance(orders, list | tuple) or {type(one) for one in orders} - {
        list,
        tuple,
    }:
        return False
    entries = chain.from_iterable(map(flat, orders))
    return not any(
        isinstance(one, Number | np.bool_ | np.ndarray) and not is_missing(one)
        for one in entries
    )


def _matrix(orders, items, kind):
    """Grades, ranks, counts or preferences as an array, and the names of the items or None."""
    if not is_frame(orders):
        return numbers(orders, "orders"), items
    columns = check_item_columns(orders, items)
    labels = np.column_stack(
        [numbers(orders[name], f"The column {name!r}") for name in columns]
    )
    names = columns if items is None else list(items)
    places = [columns.index(name) for name in names]
    if kind != "counts":
        return labels[:, places], names
    index = list(getattr(orders, "index", range(len(labels))))
    # An index that only numbers the rows says nothing about the names of the columns.
    if index != list(range(len(index))) or any(
        isinstance(name, Integral) for name in columns
    ):
        found = [name for name in index if items is None or name in columns]
        if found != columns:
            raise ValueError(
                f"Counts of votes need the same items as index and columns, got {found[:5]} and "
                f"{columns[:5]}: use frame.reindex(index=items, columns=items, fill_value=0)."
            )
        labels = labels[[index.index(name) for name in columns]]
    labels = labels[:, places]  # its rows follow if it is square, which is checked next
    return (labels[places] if len(labels) == len(places) else labels), names


def _long_table(orders, columns, items, weights, kind):
    """Grades or ranks (n, r), names of the items, weights of the voters, and the kind."""
    known = ["voter", "item", "rank", "grade", "weight"]
    warn_of_other_columns(columns, known, "consensus_ranking")
    if {"rank", "grade"} <= set(columns):
        raise ValueError(
            "orders has both columns 'rank' and 'grade': drop one of them."
        )
    column = "rank" if "rank" in columns else "grade"
    _check_kind(kind, f"{column}s")
    voter, voters = codes_of(orders["voter"], "the column 'voter'")
    item, names = codes_of(orders["item"], "the column 'item'")
    if items is not None:
        place = {name: i for i, name in enumerate(items)}
        unknown = [name for name in names if name not in place]
        if unknown:
            raise ValueError(
                f"orders rank '{unknown[0]}', which is not in items {list(items)}."
            )
        item = np.array([place[name] for name in names])[item]
        names = items
    shape = (int(voter.max()) + 1, len(names))
    check_size("The grades", 8 * shape[0] * shape[1], "give fewer voters at a time")
    twice = np.bincount(voter * shape[1] + item) > 1
    if twice.any():
        q, i = divmod(int(np.argmax(twice)), shape[1])
        raise ValueError(
            f"Voter '{voters[q]}' ranks the item '{names[i]}' twice: give it once."
        )
    labels = np.full(shape, np.nan)
    labels[voter, item] = numbers(orders[column], f"The column {column!r}")
    if "weight" in columns:
        if weights is not None:
            raise ValueError(
                "weights are given twice, as a column and as an argument: give one."
            )
        weights = _weights_of_voters(orders["weight"], voter, voters)
    return labels, names, by_label(weights, voters.tolist(), "weights"), f"{column}s"


def _weights_of_voters(column, voter, voters):
    """The weight of each voter, which all rows of the voter hold."""
    weight = numbers(column, "The column 'weight'")
    weights = np.zeros(len(voters))
    weights[voter] = weight
    for row in np.flatnonzero(~(weights[voter] == weight))[:1]:
        raise ValueError(
            f"Voter '{voters[voter[row]]}' must have one weight, got {weight[row]:g} in row {row}."
        )
    return weights


def _shaped(labels, kind, weights):
    """Grades (n, r) or preferences (n, r, r), and whether these are one matrix of counts."""
    if kind != "counts":
        if labels.ndim != 2:
            raise ValueError(
                f"kind={kind!r} needs a matrix (n_voters, r), got {labels.shape}."
            )
        return (-_checked_ranks(labels) if kind == "ranks" else labels), False
    if labels.ndim not in (2, 3) or labels.shape[-2] != labels.shape[-1]:
        raise ValueError(f"Counts of votes need the shape (r, r), got {labels.shape}.")
    if labels.ndim == 3:
        return labels, False
    if weights is not None:
        raise ValueError("Counts (r, r) are numbers of votes: they take no weights.")
    return labels[np.newaxis], True


def _checked_ranks(ranks):
    """Refuse ranks below 1, and beyond the number of items that are no worse or not ranked."""
    most = rankdata(np.where(np.isnan(ranks), -np.inf, ranks), "max", axis=1)
    for row, item in np.argwhere((ranks < 1) | (ranks > most))[:1]:
        what = (
            "ranks start at 1 = best"
            if ranks[row, item] < 1
            else "there is a gap in its ranks"
        )
        raise ValueError(
            f"Vote {row} has the rank {ranks[row, item]:g}, but {what}. If 0 or NaN is not ranked, "
            "or a mark such as 99, give NaN: numpy.where(ranks > 0, ranks, numpy.nan). Gaps are "
            "closed by scipy.stats.rankdata(ranks, axis=1, nan_policy='omit')."
        )
    return ranks


def _checked(labels):
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
