"""Checks of rankers that are compared, of runs, and of values of queries."""

from itertools import pairwise
from typing import Any

import numpy as np

from ..lists._lists import is_missing, plain
from ._arrays import column_names, shown
from ._check import Check
from ._columns import first_text
from ._kinds import kind_of
from ._near_ids import difference_of, near_pairs

# Rankers and their labels ------------------------------------------------------------


def _finds_no_names(given):
    """Find rankers or runs without names."""
    name = "runs" if given.are_runs else "rankers"
    ones = given.runs if given.are_runs else given.rankers
    if given.table_name is not None or (isinstance(ones, dict) and ones):
        return None
    what = "runs" if given.are_runs else "scores or fitted models"
    return {"name": name, "what": what}


def _finds_exchanged(given):
    """Find runs by name in place of judgements."""
    if not isinstance(given.qrels, dict):
        return None
    for name, queries in given.qrels.items():
        of_queries = queries.items() if isinstance(queries, dict) else ()
        for query, documents in of_queries:
            if isinstance(documents, dict):
                return {"place": f"qrels[{shown(name)}][{shown(query)}]"}
    return None


def _finds_no_labels(given):
    """Find judgements of documents, or a table of values, in place of labels."""
    if not given.are_documents:
        return None
    function = "compare_judged_runs" if given.has_judge else "compare_runs"
    return {"name": given.labels_name, "function": function}


def _finds_skipped(given):
    """Find queries that are skipped, beside a judge."""
    if not given.has_judge or not np.isnan(given.fallback):
        return None
    return {}


def _finds_name_of_column(given):
    """Find the name of a column, or a column of text that is still in the table."""
    if given.table is None:
        return None
    columns = column_names(given.table)
    values = {"groups": given.groups, "sample_weight": given.sample_weight}
    for argument, value in values.items():
        is_name = isinstance(value, str)
        name = value if is_name else getattr(value, "name", None)
        if name not in columns:
            continue
        if not is_name and first_text(np.asarray(given.table[name])) is None:
            continue
        table = given.table_name
        drop = {
            "pandas": f"{table} = {table}.drop(columns={name!r})",
            "polars": f"{table} = {table}.drop({name!r})",
        }.get(kind_of(given.table), "")
        take = f"{argument} = {table}[{name!r}]\n" if is_name and drop else ""
        return {"name": repr(name), "argument": argument, "remedy": take + drop}
    return None


def _is_model(ranker):
    return hasattr(ranker, "fit") or hasattr(ranker, "predict")


def _finds_no_features(given):
    """Find a model without the rows that it scores."""
    for name, ranker in (given.rankers or {}).items():
        if _is_model(ranker) and given.X is None:
            return {"name": repr(name)}
    return None


def _finds_function(given):
    """Find a function in place of scores."""
    for name, ranker in (given.rankers or {}).items():
        if callable(ranker) and not _is_model(ranker):
            return {"name": repr(name)}
    return None


CHECKS_OF_COMPARED = [
    Check(
        name="rankers without names",
        finds=_finds_no_names,
        sentence="{name} must be a dict from names to {what}.",
    ),
    Check(
        name="runs in place of judgements",
        finds=_finds_exchanged,
        sentence=(
            "{place} is a dict: qrels holds tables by name, and must be one table."
        ),
        remedies={
            "If qrels and runs are exchanged, write": "qrels, runs = runs, qrels"
        },
        raises=TypeError,
    ),
    Check(
        name="judgements in place of labels",
        finds=_finds_no_labels,
        sentence=(
            "{name} must be labels of rows, but is a dict, a file or a table of "
            "documents. Give judgements of documents and runs to {function}, and a "
            "table of values of rankers to compare_values."
        ),
        raises=TypeError,
    ),
    Check(
        name="skipped queries beside a judge",
        finds=_finds_skipped,
        sentence=(
            "zero_division must be a number: people and judge can leave different "
            "queries undefined, and skipping them would bias the means."
        ),
        remedies={"": "zero_division = 0"},
    ),
    Check(
        name="column of the table",
        finds=_finds_name_of_column,
        sentence=(
            "{name} is a column of the table, and not a ranker: give its values as "
            "{argument}=, and drop it from the table."
        ),
        remedies={"Write": "{remedy}"},
    ),
    Check(
        name="model without features",
        finds=_finds_no_features,
        sentence="The ranker {name} is a model: give X, the rows to score.",
    ),
    Check(
        name="function in place of scores",
        finds=_finds_function,
        sentence=(
            "The ranker {name} is a function: give the scores that it returns, or a "
            "fitted model."
        ),
        raises=TypeError,
    ),
]

# Runs -------------------------------------------------------------------------------


def _finds_unjudged_query(given):
    """Find a query that the judge did not label."""
    if given.by_judge is None:
        return None
    missing = sorted(given.by_people.keys() - given.by_judge.keys())
    return {"query": shown(missing[0])} if missing else None


def _finds_measure_of_lists(given):
    """Find a measure that compares all documents of a query."""
    for name, measure in given.measures.items():
        if not measure.takes_runs:
            return {"name": repr(name), "usable": ", ".join(given.usable())}
    return None


def _finds_families_of_table(given):
    """Find families or weights where no mean is asked for."""
    is_mean = given.is_mean is not False
    if is_mean or (given.groups is None and given.sample_weight is None):
        return None
    return {}


CHECKS_OF_RUNS = [
    Check(
        name="queries that the judge lacks",
        finds=_finds_unjudged_query,
        sentence="judge has no query {query}: it must label all queries.",
    ),
    Check(
        name="measure of whole lists",
        finds=_finds_measure_of_lists,
        sentence=(
            "{name} compares all documents of a query, and a run orders only those "
            "that it retrieved: use one of {usable}, with their cut-offs."
        ),
    ),
    Check(
        name="families of a table",
        finds=_finds_families_of_table,
        sentence=(
            "groups and sample_weight are for a mean, but average=None gives a table "
            "of the queries. mean_intervals takes this table with both."
        ),
        remedies={
            "For the mean": 'average = "mean"',
            "For the table": "groups = sample_weight = None",
        },
    ),
]

# Labels of people and of a judge ----------------------------------------------------


def _has_no_label(y):
    """Return whether all labels of a row are NaN."""
    return np.isnan(y).reshape(len(y), -1).all(axis=1)


def _finds_shape_of_judge(given):
    """Find labels of a judge of another shape."""
    if given.y.shape == given.judge.shape:
        return None
    return {"shape": given.y.shape, "of_judge": given.judge.shape}


def _finds_unjudged_row(given):
    """Find a row that the judge did not label."""
    is_unjudged = _has_no_label(given.judge)
    return {"row": int(np.argmax(is_unjudged))} if is_unjudged.any() else None


def _finds_labels_in_part(given):
    """Find a query of which people labelled some rows."""
    n_missing = np.bincount(given.list_of_row, weights=_has_no_label(given.y))
    lengths = np.bincount(given.list_of_row)
    is_partial = (n_missing > 0) & (n_missing < lengths)
    if not is_partial.any():
        return None
    place = int(np.argmax(is_partial))
    query = place if given.ids is None else given.ids[place]
    return {
        "n": f"{n_missing[place]:.0f}",
        "length": lengths[place],
        "query": shown(query),
    }


def _finds_other_items(given):
    """Find an item that only one of people and the judge left out."""
    if given.y.ndim < 2:
        return None
    is_different = np.isnan(given.y) != np.isnan(given.judge)
    is_different[_has_no_label(given.y)] = False
    if not is_different.any():
        return None
    row, item = np.argwhere(is_different)[0][:2]
    return {"row": row, "item": item}


CHECKS_OF_JUDGE = [
    Check(
        name="shape of the judge's labels",
        finds=_finds_shape_of_judge,
        sentence=(
            "people has the shape {shape}, and judge {of_judge}: they must be equal."
        ),
    ),
    Check(
        name="rows that the judge lacks",
        finds=_finds_unjudged_row,
        sentence="judge is NaN in row {row}: it must label all rows.",
    ),
    Check(
        name="queries labelled in part",
        finds=_finds_labels_in_part,
        sentence=(
            "people has NaN in {n} of {length} rows of query {query}: people must "
            "label all rows of a query or none."
        ),
    ),
    Check(
        name="items of people and of the judge",
        finds=_finds_other_items,
        sentence=(
            "Only one of people and judge is NaN in row {row}, item {item}: people "
            "must label all items of the row that the judge labels, or none."
        ),
    ),
]

# Compared queries -------------------------------------------------------------------


def _finds_no_baseline(given):
    """Find a baseline that is not a ranker."""
    if given.baseline is None or given.baseline in given.names:
        return None
    return {"baseline": shown(given.baseline), "names": shown(given.names)}


def _finds_few_queries(given):
    """Find a measure that is defined on fewer than two queries."""
    for measure, is_compared in given.is_compared.items():
        if given.has_judge or is_compared.sum() >= 2:
            continue
        need = "a zero_division"
        if given.unit == "tasks":
            need = "more rows with all values"
        elif len(is_compared) == 1 and given.are_runs:
            need = "more queries"
        elif len(is_compared) == 1:
            need = "qid, the query of each row"
        return {
            "measure": measure,
            "n": is_compared.sum(),
            "n_all": len(is_compared),
            "unit": given.unit,
            "need": need,
        }
    return None


CHECKS_OF_RANKED = [
    Check(
        name="baseline that is not a ranker",
        finds=_finds_no_baseline,
        sentence="baseline {baseline} is not one of the rankers, {names}.",
    ),
    Check(
        name="few compared queries",
        finds=_finds_few_queries,
        sentence=(
            "{measure} is defined on {n} of {n_all} {unit}: at least two are needed. "
            "Give {need}."
        ),
    ),
]

# Values of each query ---------------------------------------------------------------


def _finds_values_by_place(given):
    """Find values of the queries of runs without their ids."""
    if given.keys is not None or not given.of_runs:
        return None
    return {"name": given.name}


def _finds_text_of_values(given):
    """Find a text in place of values."""
    if not isinstance(given.argument, str):
        return None
    return {"name": given.name, "text": repr(given.argument)}


def _finds_number_of_values(given):
    """Find another number of values than of queries."""
    if given.keys is not None or len(given.values) == given.n_queries:
        return None
    return {"name": given.name, "n": len(given.values), "n_queries": given.n_queries}


def _finds_two_values(given):
    """Find an id with two values."""
    if given.keys is None or len(set(given.keys)) == len(given.keys):
        return None
    remedy = ""
    found: dict = {}
    for key, value in zip(given.keys, given.values, strict=True):
        found.setdefault(key, []).append(value)
    are_equal = all(
        one == other for values in found.values() for one, other in pairwise(values)
    )
    index: Any = getattr(given.argument, "index", None)
    is_series = getattr(index, "nlevels", 0) == 1
    if is_series and are_equal and index.nunique() == len(found):
        remedy = f"{given.name} = {given.name}[~{given.name}.index.duplicated()]"
    return {"name": given.name, "n": len(given.keys), "remedy": remedy}


def _finds_no_value(given):
    """Find a query without a value."""
    if given.keys is None:
        return None
    keys = set(given.keys)
    query = next((query for query in given.ids if query not in keys), None)
    if query is None:
        return None
    example = shown(given.keys[0]) if given.keys else "none"
    words = {"name": given.name, "query": shown(query), "example": example, "near": ""}
    pairs = near_pairs(dict.fromkeys(given.keys), dict.fromkeys(given.ids))
    if pairs:
        own, other = pairs[0]
        words["query"] = shown(other)
        words["example"] = shown(own)
        words["near"] = (
            f" {shown(own)} and {shown(other)} differ only in "
            f"{difference_of(own, other)}."
        )
    return words


def _finds_low_weights(given):
    """Find weights below 0, or weights that are all 0."""
    weights = given.weights
    if weights is None or ((weights >= 0).all() and weights.any()):
        return None
    return {"lowest": f"{weights.min():.3g}", "highest": f"{weights.max():.3g}"}


def _finds_no_family(given):
    """Find a query without a family."""
    if given.name != "groups":
        return None
    place = next((i for i, one in enumerate(given.values) if is_missing(one)), None)
    if place is None:
        return None
    kind = kind_of(given.argument)
    if kind == "mapping":
        remedy = (
            "groups = {query: f'query {query}' if pandas.isna(family) else family"
            " for query, family in groups.items()}"
        )
    else:
        remedy = (
            "[f'query {i}' if pandas.isna(family) else family"
            " for i, family in enumerate(groups)]"
        )
        has_index = hasattr(getattr(given.argument, "index", None), "equals")
        if has_index:
            remedy = f"pandas.Series({remedy}, groups.index)"
        remedy = f"groups = {remedy}"
    return {"family": shown(given.values[place]), "query": place, "remedy": remedy}


def _finds_one_family(given):
    """Find queries that are all of one family."""
    if given.name != "groups" or len(set(map(plain, given.values))) > 1:
        return None
    return {"n": given.n_queries}


CHECKS_OF_QUERY_VALUES = [
    Check(
        name="values of runs by place",
        finds=_finds_values_by_place,
        sentence=("For runs, {name} must be a dict or a pandas Series, by query id."),
    ),
    Check(
        name="text in place of values",
        finds=_finds_text_of_values,
        sentence="{name} is the text {text}: give the values, one for each query.",
    ),
    Check(
        name="number of values",
        finds=_finds_number_of_values,
        sentence=(
            "{name} has {n} values for {n_queries} queries: give one for each query in "
            "the order of first appearance, or a dict by query id."
        ),
    ),
    Check(
        name="id with two values",
        finds=_finds_two_values,
        sentence=(
            "{name} has {n} values and an id twice: give one value for each query."
        ),
        remedies={"": "{remedy}"},
    ),
    Check(
        name="query without a value",
        finds=_finds_no_value,
        sentence=(
            "{name} has no value for query {query}; its ids look like {example}."
            "{near} Give one for each query by its id, or an array in the order of "
            "first appearance."
        ),
    ),
    Check(
        name="query without a family",
        finds=_finds_no_family,
        sentence="groups has no family for query {query}, but {family}.",
        remedies={"To make each such query a family of its own": "{remedy}"},
    ),
    Check(
        name="one family",
        finds=_finds_one_family,
        sentence="groups has one family for {n} queries: at least two are needed.",
        remedies={"Without families": "groups = None"},
    ),
    Check(
        name="weights of queries",
        finds=_finds_low_weights,
        sentence=(
            "sample_weight must be >= 0, and above 0 for some query, got {lowest} to "
            "{highest}."
        ),
    ),
]

# Means ------------------------------------------------------------------------------


def _finds_few_values(given):
    """Find a column with fewer than two values."""
    if given.n_defined.min() >= 2:
        return None
    name = given.names[np.argmin(given.n_defined)] or "people"
    n_defined = given.n_defined.min()
    return {"name": name, "n": n_defined, "n_all": len(given.h), "unit": given.unit}


def _finds_single_weight(given):
    """Find weights that are nearly all of one value."""
    if given.weights is None:
        return None
    weights = np.where(np.isnan(given.h), 0.0, given.weights[:, np.newaxis])
    # n = 1 / sum p**2 for the weights p with the sum 1.
    p = weights / weights.sum(axis=0)
    n = 1.0 / np.sum(p**2, axis=0)
    return {"n": f"{n.min():.3g}"} if n.min() < 2.0 else None


def _finds_beyond_bounds(given):
    """Find values beyond the bounds, other than by rounding errors."""
    if given.bounds is None:
        return None
    lowest, highest = given.bounds
    rounding = 1e-9 * (highest - lowest)
    values = given.h[~np.isnan(given.h)]
    if values.min() >= lowest - rounding and values.max() <= highest + rounding:
        return None
    return {
        "bounds": tuple(given.bounds),
        "lowest": f"{values.min():.3g}",
        "highest": f"{values.max():.3g}",
    }


CHECKS_OF_MEANS = [
    Check(
        name="few values",
        finds=_finds_few_values,
        sentence="{name} is defined on {n} of {n_all} {unit}: at least two are needed.",
    ),
    Check(
        name="weight of a single query",
        finds=_finds_single_weight,
        sentence=(
            "sample_weight gives nearly all weight to one query: together they count "
            "as {n} queries of equal weight, and at least two are needed."
        ),
    ),
    Check(
        name="values beyond bounds",
        finds=_finds_beyond_bounds,
        sentence=(
            "bounds must be the lowest and the highest possible value, got {bounds} "
            "and values from {lowest} to {highest}."
        ),
        remedies={"For values of unknown range": "bounds = None"},
    ),
]

# Looks ------------------------------------------------------------------------------


#: Lines that leave the judge out of a comparison, and of means.
_COMPARISON_OF_PEOPLE = """\
from lowrank_rank.evaluation import compare_values
found = compare_values(dict(zip(found.names, found.values.T)))"""
_MEANS_OF_PEOPLE = """\
from lowrank_rank.evaluation import mean_intervals
found = mean_intervals(people)"""


def _finds_judge_at_looks(given):
    """Find a judge, whose intervals are for one look."""
    if given.means.judge_weight is None:
        return None
    remedy = _COMPARISON_OF_PEOPLE if given.is_comparison else _MEANS_OF_PEOPLE
    return {"remedy": remedy}


def _finds_without_look(given):
    """Find what has no interval that holds at every look."""
    means = given.means
    if means.unit == "families":
        return {
            "what": "families",
            "reason": "each further query of a family changes the family's average",
        }
    if means.n_effective is not None:
        return {
            "what": "unequal weights",
            "reason": "the bets take each query once, when it comes",
        }
    return None


def _finds_unbounded(given):
    """Find values outside [0, 1], beyond rounding errors of sums over documents."""
    lowest = np.nanmin(given.h)
    highest = np.nanmax(given.h)
    if lowest >= -1e-9 and highest <= 1.0 + 1e-9:
        return None
    return {"lowest": f"{lowest:.3g}", "highest": f"{highest:.3g}"}


CHECKS_OF_LOOKS = [
    Check(
        name="looks with a judge",
        finds=_finds_judge_at_looks,
        sentence=(
            "at_every_look() has no intervals with a judge: its weight is estimated "
            "from all queries, for one look. Fix the number of labels before looking, "
            "or look at the values by people alone."
        ),
        remedies={"By people alone": "{remedy}"},
    ),
    Check(
        name="result without looks",
        finds=_finds_without_look,
        sentence="at_every_look() has no intervals with {what}: {reason}.",
    ),
    Check(
        name="values without bounds",
        finds=_finds_unbounded,
        sentence=(
            "at_every_look() needs values in [0, 1], as those of 'ndcg@10', got "
            "{lowest} to {highest}: divide by the largest possible value. The bets "
            "need bounds that hold for all later queries too."
        ),
    ),
]

# Values of people and of a judge -----------------------------------------------------


def _finds_shapes_of_values(given):
    """Find values of people and of a judge of shapes that do not fit."""
    shape = given.h.shape
    if shape == given.j.shape and shape[1:] == given.j_unlabelled.shape[1:]:
        return None
    return {
        "people": shape,
        "judge": given.j.shape,
        "unlabelled": given.j_unlabelled.shape,
    }


def _finds_few_judged(given):
    """Find too few values for the weight of a judge."""
    if len(given.h) >= 5 and len(given.j_unlabelled) >= 2:
        return None
    return {"n": len(given.h), "n_unlabelled": len(given.j_unlabelled)}


CHECKS_OF_JUDGED_VALUES = [
    Check(
        name="shapes of judged values",
        finds=_finds_shapes_of_values,
        sentence=(
            "people has the shape {people}, judge {judge}, judge_unlabelled "
            "{unlabelled}: give people and judge of one shape, (n,) or (n, k), "
            "judge_unlabelled (N,) or (N, k)."
        ),
    ),
    Check(
        name="few judged values",
        finds=_finds_few_judged,
        sentence=(
            "{n} values have labels of people and {n_unlabelled} only the judge's "
            "labels: at least 5 and 2 are needed."
        ),
    ),
]
