"""Readers of votes: matrices, PrefLib, orders of names, long tables."""

from collections.abc import Mapping
from itertools import chain
from numbers import Number
from typing import NamedTuple

import numpy as np

from ..lists._lists import is_missing
from ..target_losses import PairwiseDisagreement
from ..validation._arrays import (
    by_label,
    check_same_index,
    check_size,
    column_names,
    is_frame,
    look_for_names_of_ids,
    numbers,
)
from ..validation._check import Given, refuse
from ..validation._checks_of_votes import (
    CHECKS_OF_LONG_TABLES,
    CHECKS_OF_ORDERS,
    CHECKS_OF_VOTES,
)
from ..validation._ids import codes_of, id_array
from ..validation._rules import look_for
from ._orders import flat, named_grades


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


def read_votes(
    orders, kind=None, items=None, weights=None, unranked=None, name="orders"
):
    """Read the arguments of `consensus_ranking` into `Votes`.

    Messages call the votes by `name`.

    Raises
    ------
    InputError
        Naming what does not fit.
    """
    said = _kind_of_long_table(orders)
    is_long = said is not None
    is_preflib = False
    if isinstance(orders, Mapping) and {"target", "item_names"} <= set(orders):
        said = "grades"
        # The result of `load_preflib` has orders, others have grades.
        is_preflib = "data_type" in orders
        is_long = False
        if weights is None:
            weights = orders.get("counts")
        if items is None:
            items = orders["item_names"]
        orders = orders["target"]
    elif said is None and _holds_preferences(orders):
        said = "counts"
    elif said is None and kind is None and _names_items(orders):
        said = "orders"
    given = Given(
        name=name,
        orders=orders,
        kind=kind,
        said=said,
        is_long=is_long,
        items=items,
        weights=weights,
        unranked=unranked,
        columns=column_names(orders),
    )
    refuse(CHECKS_OF_ORDERS, given)
    if kind is None:
        given.kind = said
    given.are_orders = is_preflib or given.kind in ("orders", "ranks")
    if is_long:
        _read_long_table(given)
    else:
        _read_wide_table(given)
        if items is None and given.kind in ("ranks", "grades"):
            look_for_names_of_ids(orders, name, "an item")
    if given.weights is not None:
        given.weights = numbers(given.weights, "weights")
    refuse(CHECKS_OF_VOTES, given)
    return _votes_of(given)


def _kind_of_long_table(orders):
    """Return "ranks" or "grades" of a long table, which says it itself, or None."""
    columns = set(column_names(orders))
    if not {"voter", "item"} <= columns or not {"rank", "grade"} & columns:
        return None
    return "ranks" if "rank" in columns else "grades"


def _holds_preferences(orders):
    """Whether orders are preferences (n, r, r)."""
    shape = tuple(getattr(orders, "shape", ()))
    return len(shape) == 3 and shape[1] == shape[2]


def _votes_of(given):
    """Make `Votes` of checked labels, weights and names."""
    labels = given.labels
    are_counts = given.kind == "counts" and labels.ndim == 2
    if given.kind == "ranks":
        labels = -labels
    if are_counts:
        labels = labels[np.newaxis]
    if given.unranked == "last":
        labels = with_unranked_last(labels)
    weights = given.weights
    if weights is None:
        weights = np.ones(len(labels))
    names = given.names
    if names is None:
        names = list(range(labels.shape[1]))
    return Votes(
        labels=PairwiseDisagreement().check_labels(labels),
        weights=weights,
        items=id_array(names),
        are_counts=are_counts,
    )


def with_unranked_last(labels):
    """Give the items without a grade one grade below the others of their vote.

    A vote that ranks nothing stays empty.
    """
    lowest = np.fmin.reduce(labels, axis=1, keepdims=True)
    # Larger numbers are not changed by subtracting 1.
    below = lowest - np.maximum(1.0, np.abs(lowest))
    return np.where(np.isnan(labels), below, labels)


# Long tables: a row for each voter and item ------------------------------------------


def _read_long_table(given):
    """Read labels (n, r), names of the items and weights of a long table."""
    orders = given.orders
    columns = given.columns
    known = ["voter", "item", "rank", "grade", "weight"]
    look_for("other columns", columns, known, "consensus_ranking")
    column = given.kind.removesuffix("s")
    given.voter, given.voters = codes_of(orders["voter"], "the column 'voter'")
    given.item, given.names = codes_of(orders["item"], "the column 'item'")
    given.values = numbers(orders[column], f"The column {column!r}")
    if "weight" in columns:
        given.weight_of_row = numbers(orders["weight"], "The column 'weight'")
    n_voters = int(given.voter.max()) + 1
    r = len(given.names if given.items is None else list(given.items))
    check_size("The grades", 8 * n_voters * r, "give fewer voters at a time")
    refuse(CHECKS_OF_LONG_TABLES, given)
    if given.items is None:
        look_for("marks of votes", given.names.tolist(), given.name, orders)

    item = given.item
    names = list(given.names)
    if given.items is not None:
        # Codes in the order of `items`.
        place = {name: i for i, name in enumerate(given.items)}
        item = np.array([place[name] for name in names])[item]
        names = list(given.items)
    given.names = names
    given.labels = np.full((n_voters, r), np.nan)
    given.labels[given.voter, item] = given.values
    if "weight" in columns:
        given.weights = np.zeros(n_voters)
        given.weights[given.voter] = given.weight_of_row
    given.weights = by_label(given.weights, given.voters.tolist(), "weights")


# Wide tables: a row for each voter, or a matrix of counts -----------------------------


def _read_wide_table(given):
    """Read labels of a kind, and names of the items or None."""
    check_same_index(**{given.name: given.orders, "weights": given.weights})
    if given.kind == "orders":
        given.labels, names = named_grades(given.orders, given.items)
    elif is_frame(given.orders):
        given.labels, names = _read_columns(given.orders, given.items, given.kind)
    else:
        given.labels = numbers(given.orders, given.name)
        names = given.items
    given.names = None if names is None else list(names)


def _names_items(orders):
    """Return whether orders is a list, or a Series, of lists or tuples of names.

    Numbers are not names.
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


def _read_columns(orders, items, kind):
    """Read grades, ranks or counts of a frame, and names of the items."""
    columns = column_names(orders)
    if items is not None:
        columns = [name for name in columns if name in list(items)]
    labels = np.column_stack(
        [numbers(orders[name], f"The column {name!r}") for name in columns]
    )
    names = columns if items is None else list(items)
    places = [columns.index(name) for name in names]
    index = list(getattr(orders, "index", ()))
    if kind == "counts" and set(columns) <= set(index):
        labels = labels[[index.index(name) for name in columns]]
    labels = labels[:, places]
    if kind == "counts" and len(labels) == len(places):  # others are refused
        labels = labels[places]
    return labels, names
