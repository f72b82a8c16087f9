"""Families and weights of queries: one value for each query, by order or by id."""

from typing import Any

import numpy as np

from ..lists._lists import plain
from ..validation._arrays import check_finite, column_names, numbers
from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_QUERY_VALUES
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
    refuse(
        CHECKS_OF_QUERY_VALUES,
        name="sample_weight",
        values=values,
        weights=weights,
        n_queries=n_queries,
    )
    if np.ptp(weights) == 0:
        return None
    # The scale does not matter, and squares of large numbers overflow.
    return weights / weights.max()


def _read_groups(groups, ids, n_queries, of_runs):
    """Read the families; return their names, and the place of each query's family."""
    places: dict = {}
    families = _of_each_query(groups, "groups", ids, n_queries, of_runs)
    family = np.array(
        [places.setdefault(plain(group), len(places)) for group in families]
    )
    names = np.empty(len(places), dtype=object)
    names[:] = list(places)
    return names, family


def _of_each_query(argument, name, ids, n_queries, of_runs):
    """Return one value for each query, from a sequence or by the ids."""
    keys: Any = None
    if isinstance(argument, dict):
        keys = list(argument)
        values = list(argument.values())
    elif hasattr(getattr(argument, "index", None), "equals"):
        keys = list(argument.index)
        values = list(np.asarray(argument))
    else:
        values = list(argument)
    if keys is not None and of_runs:
        keys = [id_text(key, name) for key in keys]
    if ids is None:
        ids = range(n_queries)
    if keys is not None and keys == list(ids):
        # A column of the same table, whose index may repeat.
        keys = None
        of_runs = False
    refuse(
        CHECKS_OF_QUERY_VALUES,
        name=name,
        argument=argument,
        keys=keys,
        values=values,
        ids=ids,
        n_queries=n_queries,
        of_runs=of_runs,
    )
    if keys is None:
        return values
    of_id = dict(zip(keys, values, strict=True))
    return [of_id[query] for query in ids]
