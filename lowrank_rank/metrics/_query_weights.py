"""Families and weights of queries: one value for each query, by order or by id."""

from typing import Any

import numpy as np

from ..lists._ids import is_missing, plain
from ..validation._arrays import (
    check_finite,
    column_names,
    numbers,
    shown,
)
from ..validation._columns import first_text
from ..validation._ids import id_text


class Units:
    """Units of a mean: queries with their weights, or the families of queries.

    Parameters
    ----------
    sample_weight, groups : array-like of shape (n_queries,), dict, Series or None
        Weight >= 0 and family of each query.
    ids : sequence of shape (n_queries,), or None
        Ids of the queries; None numbers them.
    n_queries : int
    of_runs : bool
        Whether ids are text, and an order of the queries is unknown to the user.

    Attributes
    ----------
    weights : ndarray of shape (n_queries,), or None
        None if there are none, or all are equal.
    family : ndarray of int, shape (n_queries,), or None
        Place of the family of each query in `family_names`.
    family_names : ndarray of shape (n_families,), or None
        In the order of first appearance.
    """

    def __init__(self, sample_weight, groups, ids, n_queries, of_runs=False):
        self.weights = None
        self.family = None
        self.family_names = None
        if sample_weight is not None:
            self.weights = _read_weights(sample_weight, ids, n_queries, of_runs)
        if groups is not None:
            self.family_names, self.family = _read_groups(
                groups, ids, n_queries, of_runs
            )

    def average(self, values):
        """Average the queries of each family, NaN left out.

        Parameters
        ----------
        values : ndarray of shape (n_queries, k)

        Returns
        -------
        averages : ndarray of shape (n_units, k)
            NaN where a family has no value.
        weights : ndarray of shape (n_units,), or None
            The weight of a family is the mean weight of its queries.
        """
        if self.family is None:
            return values, self.weights
        query_weights = np.ones(len(self.family))
        sizes = np.bincount(self.family)
        family_weights = None
        if self.weights is not None:
            query_weights = self.weights
            family_weights = np.bincount(self.family, query_weights) / sizes
        averages = np.full((len(sizes), values.shape[1]), np.nan)
        for column, average in zip(values.T, averages.T, strict=True):
            is_defined = ~np.isnan(column)
            counted = np.where(is_defined, query_weights, 0.0)
            total = np.bincount(self.family, counted)
            sums = np.bincount(self.family, counted * np.where(is_defined, column, 0.0))
            np.divide(sums, total, out=average, where=total > 0)
        return averages, family_weights

    def compared(self, values):
        """Average families, and drop the units that lack a value or have no weight.

        Parameters
        ----------
        values : ndarray of shape (n_queries, n_rankers)

        Returns
        -------
        compared : ndarray of shape (n_compared, n_rankers)
        weights : ndarray of shape (n_compared,), or None
        is_compared : ndarray of bool, shape (n_units,)
        """
        averages, weights = self.average(values)
        is_compared = ~np.isnan(averages).any(axis=1)
        if weights is None:
            return averages[is_compared], None, is_compared
        is_compared &= weights > 0
        return averages[is_compared], weights[is_compared], is_compared


def ids_of_table(table):
    """Return the index of a frame, the field "qid" of a structured array, or None."""
    if isinstance(table, np.ndarray) and "qid" in column_names(table):
        return table["qid"]
    index = getattr(table, "index", None)
    if hasattr(index, "equals"):  # lists have a method `index`
        return np.asarray(index, dtype=object)
    return None


def _read_weights(sample_weight, ids, n_queries, of_runs):
    """Read a weight >= 0 of each query; None if all are equal."""
    values = _of_each_query(sample_weight, "sample_weight", ids, n_queries, of_runs)
    weights = numbers(values, "sample_weight")
    check_finite(weights, "sample_weight")
    if (weights < 0).any() or not weights.any():
        raise ValueError(
            "sample_weight must be >= 0, and above 0 for some query, got "
            f"{weights.min():.3g} to {weights.max():.3g}."
        )
    if np.ptp(weights) == 0:
        return None
    # The scale does not matter, and squares of large numbers overflow.
    return weights / weights.max()


def _read_groups(groups, ids, n_queries, of_runs):
    """Read the families; return their names, and the place of each query's family."""
    places: dict = {}
    family = np.empty(n_queries, dtype=int)
    families = _of_each_query(groups, "groups", ids, n_queries, of_runs)
    for i, group in enumerate(families):
        if is_missing(group):
            raise ValueError(
                f"groups has no family, {shown(group)}, for query {i}: give each "
                "query one, its own id if it is alone."
            )
        family[i] = places.setdefault(plain(group), len(places))
    if len(places) < 2:
        raise ValueError(
            f"groups has one family for {n_queries} queries: at least two are needed."
        )
    names = np.empty(len(places), dtype=object)
    names[:] = list(places)
    return names, family


def _of_each_query(argument, name, ids, n_queries, of_runs):
    """Return one value for each query, from a sequence or by the ids."""
    is_dict = isinstance(argument, dict)
    index: Any = getattr(argument, "index", None)
    if is_dict or hasattr(index, "equals"):
        keys = list(argument) if is_dict else list(index)
        values = list(argument.values()) if is_dict else list(np.asarray(argument))
        return _by_id(keys, values, name, ids, n_queries, of_runs)
    if of_runs:
        raise ValueError(
            f"{name} of runs goes by the ids of queries: a dict or pandas Series, "
            f"{name}={{'q1': ...}}."
        )
    if isinstance(argument, str):
        raise ValueError(
            f"{name} is the text {argument!r}: give the values, as frame[{argument!r}]."
        )
    values = list(argument)
    if len(values) != n_queries:
        raise ValueError(
            f"{name} has {len(values)} values for {n_queries} queries: give one for "
            "each query in the order of first appearance, or a dict by query id."
        )
    return values


def _by_id(keys, values, name, ids, n_queries, of_runs):
    """Return the value of each query by its id."""
    if of_runs:
        keys = [id_text(key, name) for key in keys]
    if ids is not None and keys == list(ids):
        return values  # a column of the same table, whose index may repeat
    of_id = dict(zip(keys, values, strict=True))
    if len(of_id) < len(keys):
        raise ValueError(
            f"{name} has an id twice among {len(keys)}: give one value for each query, "
            f"such as frame.groupby('qid')[{name!r}].first()."
        )
    if ids is None:
        ids = range(n_queries)
    for query in ids:
        if query not in of_id:
            example = shown(keys[0]) if keys else "none"
            raise ValueError(
                f"{name} has no value for query {shown(query)}; its ids are such as "
                f"{example}. Give one for each query by its id, or an array in the "
                "order of first appearance."
            )
    return [of_id[query] for query in ids]


def refuse_names_of_columns(table, **arguments):
    """Refuse the name of a column of the table where its values are needed.

    Refuses also the values of a column of text that is still in the table.
    """
    columns = column_names(table)
    for argument, value in arguments.items():
        is_name = isinstance(value, str)
        name = value if is_name else getattr(value, "name", None)
        if name not in columns:
            continue
        if is_name or first_text(np.asarray(table[name])) is not None:
            raise ValueError(
                f"{name!r} is a column of the table, and no ranker: give {argument}="
                f"table[{name!r}], and as the table table.drop(columns={name!r})."
            )


def check_no_judge(judge, groups, sample_weight):
    """Refuse families and weights of queries together with a judge."""
    if judge is None:
        return
    if groups is not None:
        raise ValueError(
            "groups= is not available with judge=: average the values of people and of "
            "the judge within each family, and give the averages to "
            "mean_intervals(human, judge=..., judge_unlabelled=...)."
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight= is not available with judge=: leave one of them out."
        )
