"""What may be wrong with models that users give, and with their folds and weights.

`CHECKS_OF_KEYWORDS` look at the arguments of fit, `CHECKS_OF_WRAPPED` and
`CHECKS_OF_STACKS` at the models inside a ranker, `CHECKS_OF_FOLDS` at the folds of a
stack, and `CHECKS_OF_DISPLAYS`, `CHECKS_OF_CURVES` and `CHECKS_OF_IMPORTANCES` at what
is drawn.
"""

from inspect import signature

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from ._check import Check
from ._columns import shown

# Arguments of other packages ----------------------------------------------------------

_QID = "qid= has the query id of each row"
_AGAIN = "fit starts again, and takes all rows, also the earlier ones"
_POSITION = (
    "sample_weight= takes one over the propensity of each position, which "
    "clicks.propensities_from_clicks estimates"
)

#: Arguments of other packages, and what a ranker of this package takes instead.
_INSTEAD = {
    "group": _QID,
    "group_id": _QID,
    "groups": _QID,
    "query_id": _QID,
    "eval_set": "early_stopping",
    "eval_group": "early_stopping",
    "eval_qid": "early_stopping",
    "n_estimators": "max_iter",
    "iterations": "max_iter",
    "init_model": _AGAIN,
    "xgb_model": _AGAIN,
    "position": _POSITION,
    "positions": _POSITION,
}

#: What a parameter does, with a value to set.
_MEANING = {
    "early_stopping": ("early_stopping=True", "holds out queries by itself"),
    "max_iter": ("max_iter=", "sets the number of iterations"),
}


def _finds_too_many_by_position(given):
    """Find weights or ids by position, which are read by name."""
    if not given.takes_qid or given.n_given < given.n_positional:
        return None
    return {"model": type(given.model).__name__, "method": given.method}


def _finds_keyword_of_another_package(given):
    """Find an argument that other packages have."""
    unknown = [name for name in given.names if name in _INSTEAD]
    if not unknown:
        return None
    name = unknown[0]
    instead = _INSTEAD[name]
    if instead in _MEANING:
        instead = _words_of_parameter(given.model, instead)
    return {"model": type(given.model).__name__, "name": name, "instead": instead}


def _words_of_parameter(model, name):
    """Say which parameter does what another package does by an argument of fit."""
    setting, meaning = _MEANING[name]
    parameters = signature(type(model)).parameters
    if name in parameters:
        return f"its parameter {setting} {meaning}"
    if name == "max_iter" and "estimator" in parameters:
        return "the number of trees is a parameter of its estimator"
    return f"{setting} of HistGradientBoostingRanker {meaning}"


CHECKS_OF_KEYWORDS = [
    Check(
        name="arguments by position",
        finds=_finds_too_many_by_position,
        sentence=(
            "{model}.{method} takes X and y by position, and the rest by name: qid= "
            "has the query id of each row."
        ),
        raises=TypeError,
    ),
    Check(
        name="argument of another package",
        finds=_finds_keyword_of_another_package,
        sentence="{model} does not take {name}=: {instead}.",
        raises=TypeError,
    ),
]

# Models inside a ranker -------------------------------------------------------------


def libraries_of(estimator):
    """Return the names of the libraries of an estimator's class and its bases."""
    classes = type(estimator).__mro__
    return {one.__module__.partition(".")[0] for one in classes}


def _finds_matrix_of_grades(given):
    """Find more than one grade a row, for a model of rows."""
    if given.y is None or given.y.ndim == 1:
        return None
    return {"ranker": given.ranker, "shape": given.y.shape}


def _finds_model_of_clusters(given):
    """Find a model of Dask, which fits collections."""
    kind = type(given.last).__name__
    return {"model": kind} if kind.startswith("Dask") else None


def _finds_model_without_early_stopping(given):
    """Find a model that cannot be watched as it grows."""
    if not given.early_stopping:
        return None
    if {"lightgbm", "xgboost"} & libraries_of(given.estimator):
        return None
    return {"model": shown(given.estimator)}


def _finds_model_without_weights(given):
    """Find weights for a model whose fit does not take them."""
    if given.weights is None or given.options is not None:
        return None
    return {"model": shown(given.estimator)}


CHECKS_OF_WRAPPED = [
    Check(
        name="matrix of grades",
        finds=_finds_matrix_of_grades,
        sentence=(
            "{ranker} takes one grade per row, y of shape (n_rows,), got {shape}. A "
            "matrix y carries no query ids: the estimator itself may take it."
        ),
    ),
    Check(
        name="model of clusters",
        finds=_finds_model_of_clusters,
        sentence=(
            "{model} fits collections of Dask, but WrappedRanker fits rows in memory: "
            "give it the model without Dask."
        ),
    ),
    Check(
        name="model without early stopping",
        finds=_finds_model_without_early_stopping,
        sentence=(
            "early_stopping needs a model of LightGBM or XGBoost, which can be watched "
            "as it grows: {model} cannot."
        ),
        remedies={"": "early_stopping = False"},
    ),
    Check(
        name="model without sample weights",
        finds=_finds_model_without_weights,
        sentence="{model} does not take sample_weight in fit.",
    ),
]

# Stacks -----------------------------------------------------------------------------

#: A parameter of each default part.
_SETTINGS = {
    "linear": "linear__alpha=0.1",
    "trees": "trees__max_leaf_nodes=31",
    "forest": "forest__n_estimators=200",
}


def _finds_part_that_fit_makes(given):
    """Find a default part that is set to a model."""
    for name, setting in _SETTINGS.items():
        if name in (given.params or {}):
            return {"name": repr(name), "setting": setting}
    return None


def _finds_settings_of_no_part(given):
    """Find a parameter of a default part that other labels have."""
    for key in given.settings or {}:
        name = key.partition("__")[0]
        if name not in given.names:
            kind = "documents" if given.ndim == 1 else "fixed items"
            return {"key": repr(key), "kind": kind, "names": shown(list(given.names))}
    return None


def _finds_sparse_default_parts(given):
    """Find sparse features for the default parts, of which one is trees."""
    if given.parts is not None or not issparse(given.X):
        return None
    return {}


def _finds_weights_of_other_parts(given):
    """Find weights of a stack that are not one for each part."""
    weights = given.weights
    if weights is None or given.names is None:
        return None
    if set(weights) == set(given.names) and sum(weights.values()) > 0:
        return None
    return {"names": shown(list(given.names)), "weights": weights}


def _finds_classifier_without_scores(given):
    """Find a part that does not give scores to items."""
    if given.ndim is None or given.ndim == 1:
        return None
    for name, part in given.parts or ():
        if is_classifier(part) and not hasattr(part, "decision_function"):
            return {"name": repr(name), "model": type(part).__name__}
    return None


CHECKS_OF_STACKS = [
    Check(
        name="part that fit makes",
        finds=_finds_part_that_fit_makes,
        sentence=(
            "StackingRanker makes the part {name} in fit: set its parameters, such as "
            "{setting}, or give all parts as estimators."
        ),
    ),
    Check(
        name="settings of no default part",
        finds=_finds_settings_of_no_part,
        sentence=(
            "StackingRanker has no part for {key} with {kind}: its parts are {names}."
        ),
    ),
    Check(
        name="sparse features of default parts",
        finds=_finds_sparse_default_parts,
        sentence=(
            "StackingRanker(estimators=None) includes trees, which take no sparse X."
        ),
        remedies={"If it fits into memory": "X = X.toarray()"},
        raises=TypeError,
    ),
    Check(
        name="weights of other parts",
        finds=_finds_weights_of_other_parts,
        sentence=(
            "weights must have a number >= 0 for each of {names}, not all of them 0, "
            "got {weights}."
        ),
    ),
    Check(
        name="classifier without scores of items",
        finds=_finds_classifier_without_scores,
        sentence=(
            "The part {name} of StackingRanker: {model} has no decision_function, "
            "which scores the items of a row. The regressor of the same kind, or "
            "LowRankSurrogateRanker, has scores."
        ),
    ),
]


def _finds_cut_lists(given):
    """Find lists with rows in the training and the test part of a fold."""
    if given.ids is None:
        return None
    n_cut = len(np.intersect1d(given.ids[given.train], given.ids[given.test]))
    if n_cut == 0:
        return None
    line = ""
    if hasattr(given.cv, "get_n_splits"):
        line = f"cv = {given.cv.get_n_splits()}"
    elif isinstance(given.cv, list | tuple) and len(given.cv) > 1:
        line = f"cv = {len(given.cv)}"
    return {"n_cut": n_cut, "line": line}


def _finds_fold_without_weight(given):
    """Find a fold without a row of positive weight in training or test."""
    weights = given.weights
    if weights is None:
        return None
    if weights[given.train].any() and weights[given.test].any():
        return None
    return {}


CHECKS_OF_FOLDS = [
    Check(
        name="lists cut by folds",
        finds=_finds_cut_lists,
        sentence=(
            "cv puts rows of {n_cut} lists into the training and the test part of one "
            "fold. A number of folds, or GroupKFold, keeps queries whole."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="fold without weight",
        finds=_finds_fold_without_weight,
        sentence=(
            "A fold of cv has no row of positive weight in training or test: there are "
            "too many folds."
        ),
    ),
]

# Displays ---------------------------------------------------------------------------


def _finds_no_single_matrix(given):
    """Find preferences that are not a matrix."""
    if given.preferences is None or given.preferences.ndim == 2:
        return None
    line = ""
    if given.preferences.ndim == 3 and len(given.preferences) == 1:
        line = "preferences = numpy.asarray(preferences)[0]"
    return {"shape": given.preferences.shape, "line": line}


def _finds_number_of_item_names(given):
    """Find names for more or fewer items than there are."""
    if given.preferences is None or given.item_names is None:
        return None
    if len(given.item_names) == len(given.preferences):
        return None
    return {"n_names": len(given.item_names), "n_items": len(given.preferences)}


def _finds_ranker_without_preferences(given):
    """Find an estimator that does not predict preferences."""
    if given.estimator is None or hasattr(given.estimator, "predict_preferences"):
        return None
    return {"model": type(given.estimator).__name__}


def _finds_several_queries(given):
    """Find features of several queries, of which one can be drawn."""
    if given.tables is None or len(given.tables) == 1:
        return None
    return {"n_queries": len(given.tables)}


CHECKS_OF_DISPLAYS = [
    Check(
        name="preferences of several lists",
        finds=_finds_no_single_matrix,
        sentence="preferences must be of one list, (r, r), got {shape}.",
        remedies={"": "{line}"},
    ),
    Check(
        name="names of drawn items",
        finds=_finds_number_of_item_names,
        sentence="item_names names {n_names} of {n_items} items.",
    ),
    Check(
        name="ranker without preferences",
        finds=_finds_ranker_without_preferences,
        sentence=(
            "{model} does not predict preferences, as PairwiseDAGRanker does (for a "
            "Pipeline, give its last step and the transformed X); from_preferences "
            "draws a matrix."
        ),
        raises=TypeError,
    ),
    Check(
        name="several queries to draw",
        finds=_finds_several_queries,
        sentence="Only one list can be drawn, but X holds {n_queries} queries.",
        remedies={"To draw the first": "X = X[:1]"},
    ),
]


def _finds_parameter_of_other_curve(given):
    """Find a parameter that the other kind of curve has."""
    if given.kind == "gains" and given.relevance_threshold is not None:
        line = "relevance_threshold = None"
    elif given.kind == "precision" and given.normalize:
        line = "normalize = False"
    else:
        return None
    return {"kind": repr(given.kind), "line": line}


def _finds_no_gain(given):
    """Find lists without a gain above 0 to divide by."""
    if not given.normalize or given.total.any():
        return None
    return {}


CHECKS_OF_CURVES = [
    Check(
        name="parameter of another curve",
        finds=_finds_parameter_of_other_curve,
        sentence=(
            "relevance_threshold belongs to kind='precision' and normalize to "
            "kind='gains', got kind={kind}."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="lists without gain",
        finds=_finds_no_gain,
        sentence="No list has a gain above 0: there is nothing to divide by.",
        remedies={"To draw the gains themselves": "normalize = False"},
    ),
]


def _finds_several_measures(given):
    """Find importances of several measures, by name."""
    if hasattr(given.found, "importances"):
        return None
    if not isinstance(given.found, dict) or not given.found:
        return {"got": type(given.found).__name__, "line": ""}
    names = list(given.found)
    return {"got": f"a dict of {names}", "line": f"found = found[{names[0]!r}]"}


CHECKS_OF_IMPORTANCES = [
    Check(
        name="importances of several measures",
        finds=_finds_several_measures,
        sentence=(
            "found must be a result of query_permutation_importance for one measure, "
            "got {got}."
        ),
        remedies={"": "{line}"},
        raises=TypeError,
    ),
]
