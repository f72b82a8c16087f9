"""Votes in all the forms in which they come: matrices, PrefLib, orders of names, long frames."""

from collections.abc import Mapping
from itertools import chain, zip_longest
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._arrays import by_label, check_same_index, check_size, column_names, is_frame, numbers
from .._labels import read_weights
from .._lists import codes_of, id_array, is_missing
from .._warn import warn
from ..datasets import grades_from_orders
from ..target_losses import PairwiseDisagreement

_GROUPS = (list, tuple, set, frozenset, np.ndarray)


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

    def total(self):
        """Weight of the votes for "i before j", (r, r)."""
        return PairwiseDisagreement().total_preferences(self.labels, self.weights)


def read_votes(orders, weights=None, items=None, kind=None, ranks=False, pairwise=False):
    """`Votes` of what `consensus_ranking` takes, see there.

    Raises
    ------
    ValueError
        Naming what does not fit.
    """
    if isinstance(orders, Mapping) and "target" in orders:
        weights = orders.get("counts") if weights is None else weights
        items = orders.get("item_names") if items is None else items
        orders = orders["target"]
    columns = column_names(orders)
    if {"voter", "item"} <= set(columns):  # a row for each voter and item
        labels, items, weights = _long_grades(orders, columns, items, weights)
    elif _are_orders(given := _as_lists(orders), kind, ranks or pairwise):
        check_same_index(orders=orders, weights=weights)
        orders = given if isinstance(given, list | tuple) else np.asarray(given)
        if items is None:  # in order of first appearance
            items = list(dict.fromkeys(chain.from_iterable(map(_flat, orders))))
            if any(map(is_missing, items)):
                raise ValueError(
                    "orders contain None or NaN, which is no item: drop what a vote does not rank."
                )
        labels = grades_from_orders(orders, items=items)
    else:
        check_same_index(orders=orders, weights=weights)
        items = columns if items is None and is_frame(orders) else items
        labels = _matrix(orders, pairwise)
    labels, are_counts = _shaped(labels, ranks, pairwise, weights)
    try:
        weights = read_weights(weights, len(labels))
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "weights")) from None
    labels, r = _checked(labels), labels.shape[1]
    names = list(range(r) if items is None else items)
    if len(names) != r:
        raise ValueError(f"items has {len(names)} names for {r} items.")
    if len(set(names)) < r:
        again = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"items names {again!r} twice: names must be unique.")
    return Votes(labels, weights, id_array(names), are_counts)


def _matrix(orders, pairwise):
    """Grades, ranks, counts or preferences as an array."""
    if pairwise and hasattr(orders, "columns") and hasattr(orders, "index"):
        index, columns = list(orders.index), list(orders.columns)
        named = not any(isinstance(name, Integral) for name in columns)
        # An index that only numbers the rows says nothing about the names of the columns.
        if index != columns and not (named and index == list(range(len(columns)))):
            row, column = next(p for p in zip_longest(index, columns) if p[0] != p[1])
            raise ValueError(
                "Counts of votes need the same items as index and columns, in one order: "
                f"{row!r} is in the place of {column!r}. Use frame.reindex(index=items, "
                "columns=items, fill_value=0)."
            )
    try:
        return numbers(orders, "orders")
    except ValueError as error:
        raise ValueError(
            f"{error} Orders of names, best first, are a list of lists such as [['b', 'a', 'c'], "
            "['c', 'a']]; a long frame has the columns 'voter', 'item' and 'rank' or 'grade'."
        ) from None


def warn_of_other_columns(columns, known, who):
    """Warn of columns that a function does not read; `who` begins the sentence."""
    if others := [name for name in columns if name not in known]:
        message = f"{who} does not read the columns {others[:5]}: it reads {known}."
        warn(message)


def _long_grades(orders, columns, items, weights):
    """Grades (n, r), names of the items and weights of the voters of a long frame."""
    warn_of_other_columns(
        columns, ["voter", "item", "rank", "grade", "weight"], "consensus_ranking"
    )
    if len({"rank", "grade"}.intersection(columns)) != 1:
        raise ValueError(
            "A long frame of orders has the columns 'voter', 'item' and one of 'rank' (1 = best) "
            f"and 'grade' (higher is better), got {sorted(map(str, columns))}."
        )
    voter, voters = codes_of(orders["voter"], "the column 'voter'")
    item, names = codes_of(orders["item"], "the column 'item'")
    if items is not None:
        place = {name: i for i, name in enumerate(items)}
        unknown = [name for name in names if name not in place]
        if unknown:
            raise ValueError(f"orders rank '{unknown[0]}', which is not in items {list(items)}.")
        item = np.array([place[name] for name in names])[item]
        names = items
    shape = (int(voter.max()) + 1, len(names))
    check_size("The grades", 8 * shape[0] * shape[1], "give fewer voters at a time")
    twice = np.bincount(voter * shape[1] + item) > 1
    if twice.any():
        q, i = divmod(int(np.argmax(twice)), shape[1])
        raise ValueError(
            f"Voter '{voters[q]}' ranks the item '{names[i]}' twice: one row for each voter and "
            "item."
        )
    kind = "rank" if "rank" in columns else "grade"
    values = numbers(orders[kind], f"The column {kind!r}")
    grades = np.full(shape, np.nan)
    grades[voter, item] = -values if kind == "rank" else values
    if "weight" not in columns:
        return grades, names, by_label(weights, voters.tolist(), "weights")
    if weights is not None:
        raise ValueError("weights are given twice, as a column and as an argument: give one.")
    return grades, names, _weights_of_voters(orders["weight"], voter, voters)


def _weights_of_voters(column, voter, voters):
    """The weight of each voter, which all rows of the voter hold."""
    weight = numbers(column, "The column 'weight'")
    weights = np.zeros(len(voters))
    weights[voter] = weight
    for row in np.flatnonzero(~(weights[voter] == weight))[:1]:
        raise ValueError(
            f"Voter '{voters[voter[row]]}' must have one weight, the same number in all rows of "
            f"the voter, got {weight[row]:g} in row {row}."
        )
    return weights


def _as_lists(orders):
    """Orders of names as lists, from a Series of lists or a table of names; others unchanged.

    Missing names at the end of a row only fill it up.
    """
    if isinstance(orders, list | tuple | Mapping):
        return orders
    array = np.asarray(orders)
    if array.dtype.kind not in "OUT" or not any(isinstance(v, (str, *_GROUPS)) for v in array.flat):
        return orders
    if array.ndim == 1:
        return list(array)
    rows = [list(row) for row in array]
    for row in rows:
        while row and is_missing(row[-1]):
            row.pop()
    return rows


def _are_orders(orders, kind, is_matrix):
    """Whether `orders` names items, best first; else it holds numbers, one for each item."""
    if kind is not None and is_matrix:
        raise ValueError(f"kind={kind!r} cannot be combined with ranks=True or pairwise=True.")
    if kind is not None or is_matrix:
        return kind == "orders"
    if _is_ambiguous(orders):
        raise ValueError(
            "Every row of orders holds the ranks of its own numbers, or the same integers: say "
            "kind='orders' if a row lists the items, best first, ranks=True if it has the rank of "
            "each item, 1 = best, or kind='grades' if it has grades, higher is better."
        )
    if not isinstance(orders, list | tuple):
        return False
    groups = [order for order in orders if isinstance(order, _GROUPS)]
    kinds = {type(entry) for order in groups for entry in _flat(order)}
    if any(issubclass(one, float | np.floating) for one in kinds) and str not in kinds:
        raise ValueError(
            "orders is a list, which is read as items, best first, but has floats: give grades "
            "as an array, or set kind='grades'."
        )
    return True


def _is_ambiguous(orders):
    """Whether numbers may be grades, ranks or orders: each row equals the ranks of its entries."""
    try:
        values = numbers(orders, "orders")
    except ValueError:  # names, or orders of several lengths
        return False
    if values.ndim != 2 or 0 in values.shape:
        return False
    if isinstance(orders, np.ndarray) and orders.dtype.kind in "iu" and values.shape[1] > 1:
        rows = np.sort(values, axis=1)
        if np.all(rows == rows[0, 0] + np.arange(values.shape[1])):  # also from 0 on
            return True
    unknown = np.isnan(values)
    last = np.where(unknown, np.inf, values)
    ways = (rankdata(last, method, axis=1) for method in ("dense", "min", "average"))
    each = [((ranks == values) | unknown).all(axis=1) for ranks in ways]
    has_order = np.where(unknown, -np.inf, values).max(axis=1) > last.min(axis=1)
    return bool(np.any(each, axis=0).all() and has_order.any())


def _flat(order):
    """The items of an order; a set is sorted, so that no hash decides."""
    for entry in order:
        if isinstance(entry, set | frozenset):
            yield from sorted(entry, key=repr)
        else:
            yield from entry if isinstance(entry, _GROUPS) else (entry,)


def _shaped(labels, ranks, pairwise, weights):
    """Grades (n, r) or preferences (n, r, r), and whether these are one matrix of counts."""
    if ranks and labels.ndim != 2:
        raise ValueError(f"ranks=True needs a matrix (n_voters, r), got {labels.shape}.")
    if ranks and np.any(labels < 1):
        raise ValueError(
            f"ranks=True: ranks start at 1 = best, got {np.nanmin(labels):g}. Use ranks=False "
            "for grades, which are higher for better items."
        )
    labels = -labels if ranks else labels
    square = labels.ndim == 2 and labels.shape[0] == labels.shape[1]
    if pairwise and labels.ndim == 2:
        if not square:
            raise ValueError(f"Counts of votes need the shape (r, r), got {labels.shape}.")
        if weights is not None:
            raise ValueError("Pairwise counts (r, r) are numbers of votes: they take no weights.")
        return labels[np.newaxis], True
    if labels.ndim == 3 and labels.shape[1] == labels.shape[2]:
        return labels, False
    if labels.ndim != 2 or pairwise:
        raise ValueError(
            "orders must be grades (n_voters, r), ranks of that shape with ranks=True, counts "
            f"(r, r) with pairwise=True, or preferences (n_voters, r, r), got {labels.shape}."
        )
    if square and len(labels) > 2 and not np.any(np.diag(labels)):
        warn(
            f"orders of shape {labels.shape} with zeros on the diagonal were read as the grades of "
            f"{len(labels)} voters. If they count who was preferred to whom, set pairwise=True."
        )
    return labels, False


def _checked(labels):
    if 0 in labels.shape:
        raise ValueError(f"orders must hold at least one vote and one item, got {labels.shape}.")
    if np.isinf(labels).any() or (labels.ndim == 3 and np.isnan(labels).any()):
        raise ValueError("orders hold numbers that are infinite, or counts that are missing.")
    if labels.ndim == 3 and np.einsum("qii->qi", labels).any():
        raise ValueError("orders prefer an item to itself: the diagonal of counts must be 0.")
    return PairwiseDisagreement().check_labels(labels)
