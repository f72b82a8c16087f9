"""Checks of surrogates, their bounds, and losses of boosted trees."""

import numpy as np

from ._check import Check
from ._columns import first_text, shown

# Surrogates and utilities -----------------------------------------------------------


def _finds_no_value(given):
    """Find a loss of trees that has derivatives and no value."""
    if not isinstance(given.surrogate, str) or given.surrogate != "lambdarank":
        return None
    return {}


CHECKS_OF_VALUES = [
    Check(
        name="surrogate without value",
        finds=_finds_no_value,
        sentence=(
            "'lambdarank' has no value, only derivatives, so only boosted trees "
            "take it (HistGradientBoostingRanker, boosting_objective)."
        ),
        remedies={"For the surrogate of ListNet": 'surrogate = "cross_entropy"'},
    ),
]


def _finds_negative_utility(given):
    """Find a utility below 0 for a surrogate that does not take it."""
    if given.surrogate.takes_negative or not np.any(given.v < 0):
        return None
    return {"surrogate": repr(given.surrogate), "least": f"{given.v.min():g}"}


def _finds_low_eta(given):
    """Find an eta that is not above every utility."""
    if given.eta is None:
        return None
    largest = given.v.max(initial=0.0)
    if given.eta > largest:
        return None
    return {"eta": f"{given.eta:g}", "largest": f"{largest:g}"}


CHECKS_OF_UTILITIES = [
    Check(
        name="negative utility",
        finds=_finds_negative_utility,
        sentence=(
            "{surrogate} takes utilities >= 0, got {least}: add one number to all of "
            "them, which changes no expected order, or use 'pointwise_squared'."
        ),
    ),
    Check(
        name="eta below a utility",
        finds=_finds_low_eta,
        sentence=(
            "eta={eta} must be above every utility, the largest is {largest}: increase "
            "eta, or give the estimator the name of the surrogate, which sets eta."
        ),
    ),
]


def _finds_many_pairs(given):
    """Find a list with too many pairs of its first rows with all rows."""
    n_pairs = given.n_first * given.lists.lengths
    if n_pairs.max(initial=0) <= given.most:
        return None
    longest = int(given.lists.lengths[np.argmax(n_pairs)])
    return {"longest": longest, "otherwise": given.otherwise or "", "line": given.line}


CHECKS_OF_PAIRS = [
    Check(
        name="many pairs of rows",
        finds=_finds_many_pairs,
        sentence=(
            "A list of {longest} rows has too many pairs for this loss{otherwise}."
        ),
        remedies={"Without pairs": "{line}"},
    ),
]


def _finds_no_utilities(given):
    """Find a target loss that gives a document no utility."""
    if given.has_utilities:
        return None
    return {
        "who": given.who,
        "loss": repr(given.loss),
        "names": given.names,
    }


CHECKS_OF_UTILITY_LOSSES = [
    Check(
        name="loss without utilities",
        finds=_finds_no_utilities,
        sentence=(
            "{who} needs utilities of single documents, which {loss} does not have: "
            "use one of {names}. LowRankSurrogateRanker takes other target losses, "
            "StackingRanker any measure."
        ),
    ),
]

# Sums over blocks -------------------------------------------------------------------


def _finds_two_layouts(given):
    """Find blocks of documents beside blocks of items, or of other items."""
    if given.one == given.other:
        return None
    return {"one": given.one or "documents", "other": given.other or "documents"}


CHECKS_OF_LAYOUTS = [
    Check(
        name="blocks of two layouts",
        finds=_finds_two_layouts,
        sentence=(
            "Blocks have different layouts, {one} and {other} (a number counts fixed "
            "items)."
        ),
    ),
]


def _finds_overflow(given):
    """Find sums that are not finite where all scores are 0."""
    return None if np.all(np.isfinite(given.values)) else {}


CHECKS_OF_START = [
    Check(
        name="overflow of the surrogate",
        finds=_finds_overflow,
        sentence=(
            "The surrogate overflows where all scores are 0: bring the grades to a "
            "smaller scale."
        ),
    ),
]

# Regret bounds ----------------------------------------------------------------------


def _finds_increasing_discounts(given):
    """Find discounts that are not one array that does not increase."""
    phi = given.phi
    if phi is None or (phi.ndim == 1 and not np.any(np.diff(phi) > 1e-12)):
        return None
    return {"shape": phi.shape}


def _finds_measure_without_places(given):
    """Find a measure that is not a sum over places."""
    if given.loss is None or given.loss.is_positional:
        return None
    return {"loss": repr(given.loss), "names": given.names}


CHECKS_OF_DISCOUNTS = [
    Check(
        name="measure without places",
        finds=_finds_measure_without_places,
        sentence=(
            "Surrogates and bounds need a positional measure, which {loss} is not: use "
            "one of {names}. LowRankSurrogateRanker takes other target losses."
        ),
    ),
    Check(
        name="discounts that increase",
        finds=_finds_increasing_discounts,
        sentence=(
            "Discounts phi(1..r) must be one array that does not increase, got an "
            "array of shape {shape}."
        ),
    ),
]


def _finds_shapes_of_regret(given):
    """Find a regret that is not one number for each list."""
    expected = given.expected
    if expected.ndim == 2 and given.regret.shape == (len(expected),):
        return None
    return {"expected": expected.shape, "regret": given.regret.shape}


def _finds_negative_regret(given):
    """Find a regret below 0, beyond the error of a numerical minimum."""
    if not np.any(given.regret < -1e-6):
        return None
    row = int(np.argmin(given.regret))
    return {"row": row, "regret": f"{given.regret[row]:g}"}


def _finds_no_bound(given):
    """Find a surrogate without a regret bound."""
    return None if given.surrogate.has_bound else {"surrogate": repr(given.surrogate)}


CHECKS_OF_REGRET = [
    Check(
        name="shapes of a regret",
        finds=_finds_shapes_of_regret,
        sentence=(
            "expected must be (n, r), surrogate_regret (n,), got {expected}, {regret}."
        ),
    ),
    Check(
        name="negative regret",
        finds=_finds_negative_regret,
        sentence="surrogate_regret[{row}] is {regret}, but a regret is never negative.",
    ),
    Check(
        name="surrogate without bound",
        finds=_finds_no_bound,
        sentence="{surrogate} has no regret bound: it defines no bound_constant.",
    ),
]

# Losses of boosted trees ------------------------------------------------------------


def _finds_table_of_numbers(given):
    """Find a table, or grades with ids, where one number for each row is needed."""
    for name, values in given.columns.items():
        has_ids = bool(getattr(getattr(values, "dtype", None), "names", None))
        if values is None or (not has_ids and np.ndim(values) == 1):
            continue
        # A column is one number for each row too.
        is_column = np.ndim(values) == 2 and np.shape(values)[1] == 1
        line = f"{name} = numpy.ravel({name})" if is_column else ""
        return {"name": name, "line": line}
    return None


CHECKS_OF_COLUMNS_OF_TREES = [
    Check(
        name="table of numbers of trees",
        finds=_finds_table_of_numbers,
        sentence=(
            "{name} must have shape (n,), without ids: give lists as group or qid."
        ),
        remedies={"": "{line}"},
    ),
]


def _finds_scores_of_several_outputs(given):
    """Find more or fewer scores than rows."""
    if given.scores is None or given.scores.size == given.n_rows:
        return None
    return {"shape": given.scores.shape, "n_rows": given.n_rows}


def _finds_no_lists(given):
    """Find rows that nothing divides into lists."""
    return {"give": given.give} if given.group is None and given.qid is None else None


def _finds_lists_given_twice(given):
    """Find groups beside query ids."""
    return {} if given.group is not None and given.qid is not None else None


def _finds_qid_of_other_rows(given):
    """Find query ids of more or fewer rows."""
    if given.qid is None or len(given.qid) == given.n_rows:
        return None
    return {"n_ids": len(given.qid), "n_rows": given.n_rows}


def _finds_groups_of_other_rows(given):
    """Find groups that do not add up to the rows."""
    group = given.group
    if group is None:
        return None
    is_count = (group >= 0) & (group == np.floor(group))
    if is_count.all() and group.sum() == given.n_rows:
        return None
    changes = 1 + np.count_nonzero(group[1:] != group[:-1])
    is_grouped = len(group) == given.n_rows and len(np.unique(group)) == changes
    line = ""
    if is_grouped:  # ids of the rows, equal ones side by side
        line = (
            "group = numpy.asarray(group)\n"
            "starts = numpy.r_[True, group[1:] != group[:-1], True]\n"
            "group = numpy.diff(numpy.flatnonzero(starts))"
        )
    return {"sum": f"{group.sum():g}", "n_rows": given.n_rows, "line": line}


CHECKS_OF_LISTS_OF_TREES = [
    Check(
        name="scores of several outputs",
        finds=_finds_scores_of_several_outputs,
        sentence=(
            "There are scores of shape {shape} for {n_rows} rows: a ranking has one "
            "score per row, so do not set num_class or multi_strategy."
        ),
    ),
    Check(
        name="no lists of trees",
        finds=_finds_no_lists,
        sentence="No lists are known for these rows: give {give}.",
    ),
    Check(
        name="lists given twice",
        finds=_finds_lists_given_twice,
        sentence="The lists are given twice, as groups and to boosting_objective.",
        remedies={"To use the groups": "qid = None"},
    ),
    Check(
        name="qid of other rows",
        finds=_finds_qid_of_other_rows,
        sentence=(
            "boosting_objective was given the qid of {n_ids} rows, but training has "
            "{n_rows}: give the qid of exactly the rows in fit (LGBMRanker passes "
            "groups)."
        ),
    ),
    Check(
        name="groups of other rows",
        finds=_finds_groups_of_other_rows,
        sentence=(
            "The groups add up to {sum} rows, but the data set has {n_rows}: give the "
            "number of rows of each list, or as qid one id per row."
        ),
        remedies={"If these are the ids of the rows": "{line}"},
    ),
]


def _finds_items_of_trees(given):
    """Find fixed items where trees of documents are grown."""
    if given.y.ndim == 1:
        return None
    return {"model": type(given.model).__name__, "shape": given.y.shape}


CHECKS_OF_GRADES_OF_TREES = [
    Check(
        name="fixed items of trees",
        finds=_finds_items_of_trees,
        sentence=(
            "{model} takes one grade per row, y of shape (n_rows,), got {shape}."
        ),
        remedies={
            "For fixed items": (
                'model = lowrank_rank.LowRankSurrogateRanker(estimator="trees")'
            )
        },
    ),
]


def _finds_text_of_category(given):
    """Find a column of text that had a category dtype in fit."""
    for name in given.columns:
        if first_text(np.asarray(given.X[name], dtype=object)) is None:
            continue
        line = f'X = X.assign(**{{{name!r}: X[{name!r}].astype("category")}})'
        if hasattr(given.X, "with_columns"):  # polars
            cast = f"polars.col({name!r}).cast(polars.Categorical)"
            line = f"X = X.with_columns({cast})"
        elif not isinstance(name, str):
            line = f'X[{name!r}] = X[{name!r}].astype("category")'
        return {"column": shown(name), "line": line}
    return None


CHECKS_OF_CATEGORIES = [
    Check(
        name="text of a category",
        finds=_finds_text_of_category,
        sentence=(
            "Column {column} of X had a category dtype in fit, but now holds text."
        ),
        remedies={"": "{line}"},
    ),
]


def _finds_other_trees(given):
    """Find a warm start that cannot add trees to those of the fit before."""
    is_more = not given.early_stopping and given.earlier_n_iter <= given.n_iter
    if is_more and given.is_same:
        return None
    return {
        "n_iter": given.earlier_n_iter,
        "n_features": given.n_features,
        "losses": given.losses,
    }


CHECKS_OF_WARM_STARTS = [
    Check(
        name="other trees than before",
        finds=_finds_other_trees,
        sentence=(
            "warm_start adds trees to a fit of {n_iter} rounds with {n_features} "
            "features and loss={losses}, without early_stopping: give a larger "
            "max_iter and the same features and loss, or start again."
        ),
        remedies={"To start again": "warm_start = False"},
    ),
]
