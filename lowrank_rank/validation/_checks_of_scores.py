"""Checks of labels and scores that are measured, of measures and of scorers."""

from inspect import signature

import numpy as np

from ._arrays import QUERY, shown
from ._check import Check

# Labels of a measure ----------------------------------------------------------------


def _first_place(mask):
    """Return the indices of the first entry that is True."""
    return np.argwhere(mask)[0].tolist()


def _finds_preferences(given):
    """Find preferences between items where a measure takes grades."""
    if given.y.ndim < 3 or given.measure.takes_preferences:
        return None
    return {"measure": given.measure, "shape": given.y.shape}


def _finds_no_squares(given):
    """Find preferences that are not square matrices."""
    if given.y.ndim < 3 or given.y.shape[1] == given.y.shape[2]:
        return None
    return {"shape": given.y.shape}


def _finds_negative_preference(given):
    """Find preferences below 0."""
    if given.y.ndim < 3 or not np.any(given.y < 0):
        return None
    place = _first_place(given.y < 0)
    return {"y": given.name, "place": place, "value": f"{given.y[tuple(place)]:g}"}


def _finds_own_preference(given):
    """Find preferences of an item over itself."""
    if given.y.ndim < 3:
        return None
    is_own = np.einsum("qii->qi", given.y) != 0
    if not np.any(is_own):
        return None
    q, i = _first_place(is_own)
    value = f"{given.y[q, i, i]:g}"
    return {"y": given.name, "place": [q, i, i], "value": value, "r": len(is_own.T)}


def _finds_kind_of_labels(given):
    """Find a user's measure with an unknown kind of labels."""
    if given.measure.labels in ("binary", "graded", "any"):
        return None
    return {"labels": repr(given.measure.labels)}


def _finds_negative_grade(given):
    """Find grades below 0 for a measure that does not take them."""
    if given.y.ndim > 2 or given.measure.labels == "any" or not np.any(given.y < 0):
        return None
    place = _first_place(given.y < 0)
    value = f"{given.y[tuple(place)]:g}"
    named_place = place[0] if len(place) == 1 else tuple(place)
    return {"y": given.name, "value": value, "place": named_place}


def _finds_high_grade(given):
    """Find grades above the largest one of a measure."""
    largest = given.measure._largest_grade
    if given.y.ndim > 2 or largest is None:
        return None
    highest = np.fmax.reduce(given.y, axis=None, initial=0.0)
    if highest <= largest:
        return None
    way_out = "gain='linear' has no largest grade."
    if hasattr(given.measure, "max_grade"):
        way_out = "Set max_grade, or bring the grades to a smaller scale."
    return {
        "y": given.name,
        "highest": f"{highest:g}",
        "measure": given.measure,
        "largest": f"{largest:g}",
        "way_out": way_out,
    }


CHECKS_OF_LABELS = [
    Check(
        name="preferences of a measure of grades",
        finds=_finds_preferences,
        sentence=(
            "{measure!r} takes grades, one per item, got preferences between items, an "
            "array of shape {shape}: only pairwise disagreement takes those."
        ),
    ),
    Check(
        name="preferences that are not square",
        finds=_finds_no_squares,
        sentence="Preferences must have the shape (n_lists, r, r), got {shape}.",
    ),
    Check(
        name="negative preferences",
        finds=_finds_negative_preference,
        sentence=(
            "{y}{place} = {value}: preferences {y}[q, i, j] are weights >= 0 of 'i "
            "before j'."
        ),
        remedies={
            "To read negative weights as the opposite preference": (
                "{y} = numpy.asarray({y})\n"
                "{y} = numpy.maximum({y}, 0) + numpy.maximum(-{y}, 0).swapaxes(1, 2)"
            )
        },
    ),
    Check(
        name="preferences of an item over itself",
        finds=_finds_own_preference,
        sentence="{y}{place} = {value}: no item comes before itself.",
        remedies={"": "{y} = numpy.multiply({y}, 1 - numpy.eye({r}))"},
    ),
    Check(
        name="unknown kind of labels",
        finds=_finds_kind_of_labels,
        sentence="labels must be 'binary', 'graded' or 'any', got {labels}.",
    ),
    Check(
        name="negative grades",
        finds=_finds_negative_grade,
        sentence=(
            "{y} holds a negative grade ({value}, first at {place}): grades must be "
            ">= 0, higher is better. Add a number to all of them, write 0 for those "
            "that mean not relevant, r - rank for a ranking, or use non_negative=True "
            "in utilities_from_clicks."
        ),
    ),
    Check(
        name="high grades",
        finds=_finds_high_grade,
        sentence=(
            "{y} holds {highest}, but the largest grade of {measure!r} is {largest}: "
            "it overflows or is not defined above. {way_out}"
        ),
    ),
]

# Measures ---------------------------------------------------------------------------


def _finds_no_measure(given):
    """Find what is neither a name nor a measure."""
    if isinstance(given.measure, str) or given.is_measure:
        return None
    return {"kind": given.kind, "measure": shown(given.measure)}


def _finds_only_measures(given):
    """Find a measure where a target loss is fitted."""
    if given.can_be_fitted is not False:
        return None
    return {"measure": given.measure}


CHECKS_OF_MEASURES = [
    Check(
        name="not a measure",
        finds=_finds_no_measure,
        sentence=(
            "A {kind} is a name such as 'ndcg@10' or an object such as NDCG(k=10), "
            "got {measure}. A measure of your own is a subclass of "
            "target_losses.PositionalLoss, or of TargetLoss with values(); scoring= "
            "also takes mine(estimator, X, y) with y['y'], y['qid']."
        ),
        raises=TypeError,
    ),
    Check(
        name="only a measure",
        finds=_finds_only_measures,
        sentence=(
            "{measure!r} is only a measure, and cannot be fitted here: use it in "
            "make_ranking_scorer, or in StackingRanker, which weighs its parts by it."
        ),
    ),
]


def _finds_name_elsewhere(given):
    """Find the name of a measure of other packages."""
    return given.words if given.is_elsewhere else None


def _finds_unknown_name(given):
    """Find a name that is not in the table."""
    return None if given.is_known else given.words


def _finds_no_cut(given):
    """Find a name that ends with the @."""
    return given.words if given.at and not given.cut else None


def _finds_wrong_cut(given):
    """Find a cut-off that a measure cannot take."""
    return given.words if given.error is not None else None


#: The words are those of the module of names: shown, kind, known, hint and reason.
CHECKS_OF_NAMES = [
    Check(
        name="name of a measure elsewhere",
        finds=_finds_name_elsewhere,
        sentence=(
            "The {kind} {shown} is not here; ir_measures has it. Known names: {known}."
        ),
    ),
    Check(
        name="unknown name of a measure",
        finds=_finds_unknown_name,
        sentence="Unknown {kind} {shown}.{hint} Known names: {known}.",
    ),
    Check(
        name="name without a cut-off",
        finds=_finds_no_cut,
        sentence="Nothing follows the @ in {shown}: give a count such as 10.",
    ),
    Check(
        name="cut-off in a name",
        finds=_finds_wrong_cut,
        sentence="In {shown}: {reason}{hint}",
    ),
]


def _finds_no_names(given):
    """Find an empty list of measures."""
    return None if given.measures else {}


def _finds_no_cutoffs(given):
    """Find an empty list of cut-offs."""
    if given.cutoffs is None or given.cutoffs:
        return None
    return {}


def _finds_idle_cutoffs(given):
    """Find cut-offs that no measure takes."""
    if given.is_k_used is not False:
        return None
    return {
        "k": shown(given.cutoffs),
        "names": shown(list(given.measures)),
        "with_k": ", ".join(sorted(given.names_with_k)),
    }


def _finds_other_value(given):
    """Find a parameter with another value in the name of a measure."""
    for name, stated in (given.stated or {}).items():
        for key, value in stated.items():
            if given.params.get(key, value) != value:
                return {
                    "name": repr(name),
                    "stated": f"{key}={value!r}",
                    "given": f"{key}={given.params[key]!r}",
                }
    return None


def _finds_no_parameter(given):
    """Find a parameter that no measure has."""
    names = {name for own in given.parameters or [] for name in own}
    for key in given.params or {}:
        if key not in names:
            return {
                "key": repr(key),
                "measures": ", ".join(map(repr, given.measures.values())),
                "names": sorted(names),
            }
    return None


#: Measures by name with what is given for all of them.
CHECKS_OF_NAMED_MEASURES = [
    Check(
        name="no measure",
        finds=_finds_no_names,
        sentence="There is no measure: name at least one, such as 'ndcg@10'.",
    ),
    Check(
        name="no cut-off",
        finds=_finds_no_cutoffs,
        sentence="k is empty: it holds no cut-off.",
        remedies={"To cut at ten": "k = 10", "Without a cut-off": "k = None"},
    ),
    Check(
        name="cut-offs of no measure",
        finds=_finds_idle_cutoffs,
        sentence=(
            "k={k} is given, but no measure among {names} takes it. Names without a "
            "cut-off of their own take it: {with_k}."
        ),
        remedies={"Without it": "k = None"},
    ),
    Check(
        name="parameter with two values",
        finds=_finds_other_value,
        sentence="The name {name} says {stated}, but {given} is given.",
    ),
    Check(
        name="parameter of no measure",
        finds=_finds_no_parameter,
        sentence=(
            "Invalid parameter {key}: none of {measures} has it. Their parameters: "
            "{names}."
        ),
    ),
]

# Measures as scorers -----------------------------------------------------------------


def _finds_measure_as_scorer(given):
    return {"name": given.name, "measure": given.name.removesuffix("_score")}


#: Given the name of a measure that gets an estimator, X and y.
CHECKS_OF_MEASURES_AS_SCORERS = [
    Check(
        name="measure as a scorer",
        finds=_finds_measure_as_scorer,
        sentence=(
            "{name}(y_true, y_score) is a measure and not a scorer: it does not take "
            "an estimator."
        ),
        remedies={"": "scoring = make_ranking_scorer('{measure}')"},
        raises=TypeError,
    ),
]

# Models under a scorer --------------------------------------------------------------


def _finds_lost_ids(given):
    """Find labels with ids, and a model that lost them in `fit`."""
    if not given.is_carried or all(given.with_qid):
        return None
    names = getattr(getattr(given.y, "index", None), "names", ())
    level = next((name for name in QUERY if name in names), None)
    remedy = ""
    if level is not None:
        remedy = f"y = ranking_target(y, y.index.get_level_values({level!r}))"
    return {"estimator": given.estimator, "remedy": remedy}


def _finds_no_ids(given):
    """Find labels without ids, of a model that was fitted with ids."""
    if given.n_rows is None or given.has_ids or not any(given.with_qid):
        return None
    if given.one_list:
        return None
    y = "y" if given.name is None else "y_true"
    several = one = ""
    if given.n_lists != 1:
        several = f"{y} = ranking_target({y}, qid)"
    elif given.name is None:
        one = "scoring.set_params(one_list=True)"
    else:
        one = f"{y} = ranking_target({y}, numpy.zeros({given.n_rows}))"
    return {"n_lists": given.n_lists, "several": several, "one": one}


def _finds_no_lists(given):
    """Find labels without ids, where nothing says that they are one list."""
    is_said = given.n_rows is None or given.has_ids or given.one_list
    if is_said or given.ranks_all_rows:
        return None
    if given.name is not None:
        return {"remedy": "y_true = ranking_target(y_true, qid)", "one": ""}
    return {
        "remedy": "y = ranking_target(y, qid)",
        "one": "scoring.set_params(one_list=True)",
    }


def _finds_counts_of_rows(given):
    """Find a count of the first rows of a fold, for a classifier without ids."""
    is_said = given.n_rows is None or given.has_ids or given.one_list
    if is_said or not given.ranks_all_rows:
        return None
    counted = {
        name: measure
        for name, measure in given.measures.items()
        if getattr(measure, "k", None) is not None
    }
    if not counted:
        return None
    measure = next(iter(counted.values()))
    y = "y" if given.name is None else "y_true"
    wrapped = ""
    if "qid" not in signature(given.model.fit).parameters:
        place = "estimator" if given.name is None else f"rankers[{given.name!r}]"
        wrapped = f"{place} = WrappedRanker({place})\n"
    share = ""
    word = _WORDS_OF_SHARES.get(type(measure).__name__)
    if given.name is None and word is not None and len(given.measures) == 1:
        share = f"scoring = make_ranking_scorer('{word}@5%')"
    one = ""
    if given.name is None:
        one = "scoring.set_params(one_list=True)"
    return {
        "measure": repr(measure),
        "k": measure.k,
        "n": given.n_rows,
        "lists": f"{wrapped}{y} = ranking_target({y}, qid)",
        "share": share,
        "one": one,
    }


#: Names of the shares of measures that count.
_WORDS_OF_SHARES = {"PrecisionAtK": "precision", "RecallAtK": "recall"}

_WITH_QID = "With the query of each row in qid (or by metadata routing)"

CHECKS_OF_SCORED_MODELS = [
    Check(
        name="ids lost by a tool",
        finds=_finds_lost_ids,
        sentence=(
            "y carries query ids, but a model inside this {estimator} was fitted "
            "without them: all rows were one list."
        ),
        remedies={
            "A tool that makes an array of y (RFE, bagging, voting) loses the index of "
            "a Series, and keeps": "{remedy}"
        },
    ),
    Check(
        name="no ids for a scorer",
        finds=_finds_no_ids,
        sentence=(
            "There is no qid, but the model was fitted on rows with query ids "
            "({n_lists} lists): all rows would be ranked as one list."
        ),
        remedies={_WITH_QID: "{several}", "If all rows are one list": "{one}"},
    ),
    Check(
        name="one list or several",
        finds=_finds_no_lists,
        sentence=(
            "There is no qid beside the labels, and the model was not fitted with "
            "query ids."
        ),
        remedies={_WITH_QID: "{remedy}", "If all rows are one list": "{one}"},
    ),
    Check(
        name="count of the rows of a fold",
        finds=_finds_counts_of_rows,
        sentence=(
            "{measure} takes the first {k} of all {n} rows, since a classifier has no "
            "lists: the value depends on the number of rows."
        ),
        remedies={
            "For each day or query, with its ids in qid, before the fit": "{lists}",
            "For a share in place of a count": "{share}",
            "If all rows are one list": "{one}",
        },
    ),
]

# Classes under a scorer -------------------------------------------------------------


def _finds_several_scores(given):
    """Find several scores of a row that has one label."""
    if given.n_scores is None:
        return None
    return {"estimator": given.estimator, "n_scores": given.n_scores}


def _finds_two_classes(given):
    """Find a relevant class of the scorer that is not that of the model."""
    if None in (given.pos_label, given.pos_label_of_model):
        return None
    if given.pos_label == given.pos_label_of_model:
        return None
    return {
        "pos_label": shown(given.pos_label),
        "of_model": repr(given.pos_label_of_model),
    }


def _finds_names_of_classes(given):
    """Find names of classes without a relevant class, or that the model lacks."""
    classes = given.classes or []
    labels = given.labels or []
    has_names = any(isinstance(label, str) for label in labels + classes)
    are_classes = set(labels) <= set(classes)
    pos_label = given.pos_label
    if pos_label is None:
        pos_label = given.pos_label_of_model
    if not has_names or (pos_label is not None and are_classes):
        return None
    relevant = [pos_label] if pos_label in classes else classes
    first, second = [*relevant, None][:2]
    return {
        "classes": shown(classes),
        "label": shown(labels[0]),
        "first": repr(first),
        "first_line": _lines_of_class(given, first, are_classes),
        "second": repr(second),
        "second_line": _lines_of_class(given, second, are_classes),
    }


def _lines_of_class(given, relevant, are_classes):
    """Write what makes a class the relevant one, "" for None."""
    if relevant is None:
        return ""
    if given.name is None:
        return f"scoring.set_params(pos_label={relevant!r})" if are_classes else ""
    place = given.classes.index(relevant)
    scores = f"predict_proba(X)[:, {place}]"
    sign = ""
    if not hasattr(given.model, "predict_proba"):
        scores = "decision_function(X)"
        sign = "" if place else "-"
    model = f"rankers[{given.name!r}]"
    lines = f"{model} = {sign}{model}.{scores}"
    if are_classes:
        is_list = isinstance(given.y, list | tuple)
        y = "numpy.asarray(y_true)" if is_list else "y_true"
        lines += f"\ny_true = {y} == {relevant!r}"
    return lines


def _finds_no_class(given):
    """Find a relevant class that the model does not know."""
    classes = given.classes
    if classes is None or given.pos_label is None or given.pos_label in classes:
        return None
    return {"pos_label": shown(given.pos_label), "classes": shown(classes)}


CHECKS_OF_SCORED_CLASSES = [
    Check(
        name="several scores of a row",
        finds=_finds_several_scores,
        sentence=(
            "{estimator} gives {n_scores} scores per row, but y has one label per row: "
            "a classifier must be binary."
        ),
    ),
    Check(
        name="two relevant classes",
        finds=_finds_two_classes,
        sentence=(
            "The scorer has pos_label={pos_label}, but the model has {of_model} and "
            "ranks that class at the top."
        ),
        remedies={
            "To score by the class of the model": "scoring.set_params(pos_label=None)"
        },
    ),
    Check(
        name="names of classes",
        finds=_finds_names_of_classes,
        sentence=(
            "The classes of the model are {classes}, but y holds {label}. A scorer "
            "needs y with these names, and the relevant class."
        ),
        remedies={
            "If {first} is the relevant class": "{first_line}",
            "If {second} is the relevant class": "{second_line}",
        },
    ),
    Check(
        name="unknown relevant class",
        finds=_finds_no_class,
        sentence="pos_label={pos_label} is not a class of the model, {classes}.",
    ),
]
