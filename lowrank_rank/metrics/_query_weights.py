"""Families and weights of queries: one value for each query, by order or by id."""

from typing import Any

import numpy as np

from .._arrays import check_finite, column_names, numbers, plain, shown
from .._lists import id_text, is_missing


def ids_of_table(table):
    """Return the index of a frame, the field "qid" of a structured array, or None."""
    if isinstance(table, np.ndarray) and "qid" in column_names(table):
        return table["qid"]
    index = getattr(table, "index", None)
    if hasattr(index, "equals"):  # lists have a method `index`
        return np.asarray(index, dtype=object)
    return None


def read_weights(sample_weight, ids, n_queries, of_runs=False):
    """Read a weight >= 0 of each query; None if there is none, or all are equal.

    Parameters
    ----------
    sample_weight : array-like of shape (n_queries,), dict, Series or None
    ids : sequence of shape (n_queries,), or None
        Ids of the queries; None numbers them.
    n_queries : int
    of_runs : bool
        Whether ids are text, and an order of the queries is unknown to the user.
    """
    if sample_weight is None:
        return None
    given = _of_each_query(sample_weight, "sample_weight", ids, n_queries, of_runs)
    weights = numbers(given, "sample_weight")
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


def read_groups(groups, ids, n_queries, of_runs=False):
    """Read the family of each query.

    Parameters are those of `read_weights`.

    Returns
    -------
    names : ndarray of shape (n_families,)
        In the order of first appearance.
    family : ndarray of int, shape (n_queries,)
        Place of the query's family in `names`.
    """
    given = _of_each_query(groups, "groups", ids, n_queries, of_runs)
    places: dict = {}
    family = np.empty(n_queries, dtype=int)
    for i, group in enumerate(given):
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


def _of_each_query(given, name, ids, n_queries, of_runs):
    """Return one value for each query, from a sequence or by the ids."""
    is_dict = isinstance(given, dict)
    index: Any = getattr(given, "index", None)
    if is_dict or hasattr(index, "equals"):
        keys = list(given) if is_dict else list(index)
        values = list(given.values()) if is_dict else list(np.asarray(given))
        return _by_id(keys, values, name, ids, n_queries, of_runs)
    if of_runs:
        raise ValueError(
            f"{name} of runs goes by the ids of queries: a dict or pandas Series, "
            f"{name}={{'q1': ...}}."
        )
    values = list(given)
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


def average_families(values, family, weights=None):
    """Average the rows of each family, NaN left out.

    Parameters
    ----------
    values : ndarray of shape (n_queries, k)
    family : ndarray of int, shape (n_queries,)
    weights : ndarray of shape (n_queries,), or None

    Returns
    -------
    averages : ndarray of shape (n_families, k)
        NaN where a family has no value.
    family_weights : ndarray of shape (n_families,), or None
        The mean weight of the queries of each family.
    """
    query_weights = np.ones(len(family))
    sizes = np.bincount(family)
    family_weights = None
    if weights is not None:
        query_weights = weights
        family_weights = np.bincount(family, weights) / sizes
    averages = np.full((len(sizes), values.shape[1]), np.nan)
    for column, average in zip(values.T, averages.T, strict=True):
        is_defined = ~np.isnan(column)
        counted = np.where(is_defined, query_weights, 0.0)
        total = np.bincount(family, counted)
        sums = np.bincount(family, counted * np.where(is_defined, column, 0.0))
        np.divide(sums, total, out=average, where=total > 0)
    return averages, family_weights


def compared_units(values, weights, family):
    """Average families, and drop the units that lack a value or have no weight.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_rankers)
    weights, family : ndarray of shape (n_queries,), or None

    Returns
    -------
    compared : ndarray of shape (n_compared, n_rankers)
    compared_weights : ndarray of shape (n_compared,), or None
    is_compared : ndarray of bool, shape (n_queries,) or (n_families,)
    """
    if family is not None:
        values, weights = average_families(values, family, weights)
    is_compared = ~np.isnan(values).any(axis=1)
    if weights is None:
        return values[is_compared], None, is_compared
    is_compared &= weights > 0
    return values[is_compared], weights[is_compared], is_compared
