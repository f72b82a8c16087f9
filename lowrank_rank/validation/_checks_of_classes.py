"""Checks of class labels, binary labels, sets of labels and costs of decisions."""

import numpy as np
from sklearn.utils.multiclass import type_of_target

from ..lists._lists import plain
from ._check import Check
from ._columns import lines_of_words, shown


def _array_of(value, name):
    """Code for an argument as an array of NumPy."""
    return name if isinstance(value, np.ndarray) else f"numpy.asarray({name})"


# Labels as given --------------------------------------------------------------------


def _finds_fields(given):
    """Find a structured array."""
    fields = getattr(getattr(given.y, "dtype", None), "names", None)
    if not fields:
        return None
    return {
        "fields": fields,
        "model": type(given.estimator).__name__,
        "line": 'y = y["y"]' if "y" in fields else "",
    }


CHECKS_OF_GIVEN_CLASSES = [
    Check(
        name="classes with ids",
        finds=_finds_fields,
        sentence=(
            "y carries query ids or other fields, {fields}, but {model} takes one "
            "class label per row, without lists."
        ),
        remedies={"": "{line}"},
    ),
]

# Lists of classes -------------------------------------------------------------------


def _are_repeated(classes):
    """Return whether classes are repeated; None if they are not a list of labels."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) == 0:
        return None
    try:
        return len(np.unique(labels)) < len(labels)
    except TypeError:
        return None


def _finds_repeated_classes(given):
    """Find classes that are listed twice, or that are not a list of labels."""
    if given.named_classes is None:
        return None
    repeats = _are_repeated(given.named_classes)
    if repeats is False:
        return None
    has_rows = given.loss_matrix is not None and not isinstance(given.loss_matrix, str)
    line = "classes = list(dict.fromkeys(classes))"
    if repeats is None or has_rows:  # a row of costs for each entry
        line = ""
    return {"classes": shown(given.named_classes), "line": line}


def _finds_unnamed_classes(given):
    """Find a batch of rows without a list of all classes."""
    if given.named_classes is None and given.y is None:
        return {}
    return None


def _finds_other_index(given):
    """Find a frame of costs whose index does not name the classes."""
    if given.row_labels is None:
        return None
    rows = list(given.loss_matrix.index)
    words = {"rows": rows, "by_name": "", "by_place": ""}
    if given.classes is not None and list(given.classes) != rows:
        if len(rows) == len(given.classes):
            words["by_place"] = "loss_matrix = loss_matrix.to_numpy()"
        if set(given.classes) == set(rows):
            words["by_name"] = "loss_matrix = loss_matrix.loc[list(classes)]"
        return {**words, "wrong": f"is not classes={shown(list(given.classes))}"}
    if given.y is not None:
        missing = sorted(set(np.unique(given.y).tolist()) - set(rows), key=str)
        if missing:
            return {**words, "wrong": f"lacks the labels {missing}"}
    return None


CHECKS_OF_NAMED_CLASSES = [
    Check(
        name="index of costs",
        finds=_finds_other_index,
        sentence=(
            "The index {rows} of the data frame loss_matrix {wrong}: its index must "
            "name the classes of the rows."
        ),
        remedies={
            "If the index is right": "{by_name}",
            "If the rows are in the order of classes": "{by_place}",
        },
    ),
    Check(
        name="classes not passed",
        finds=_finds_unnamed_classes,
        sentence=(
            "classes must be passed on the first call to partial_fit, and to "
            "fit_blocks, or be set as the parameter: a batch may lack some labels."
        ),
    ),
    Check(
        name="repeated classes",
        finds=_finds_repeated_classes,
        sentence="classes must be a list of distinct labels, got {classes}.",
        remedies={"": "{line}"},
    ),
]


def _finds_one_class(given):
    """Find a single class where two are needed."""
    if given.classes is not None or len(given.labels) > 1:
        return None
    line = ""
    if given.takes_classes and set(given.labels.tolist()) <= {0, 1}:
        line = "classes = [0, 1]"
    more = " partial_fit takes all labels as classes=." if given.takes_classes else ""
    return {
        "name": given.name or "y",
        "labels": shown(given.labels.tolist()),
        "more": more,
        "line": line,
    }


CHECK_OF_ONE_CLASS = Check(
    name="one class",
    finds=_finds_one_class,
    sentence=("{name} holds one class only, {labels}: at least two are needed.{more}"),
    remedies={"": "{line}"},
)

CHECKS_OF_SEVERAL_CLASSES = [CHECK_OF_ONE_CLASS]


def _finds_other_classes(given):
    """Find classes that differ from the classes of the model, in any order."""
    if given.classes is None:
        return None
    labels = np.asarray(given.classes).tolist()
    known = given.known.tolist()
    if set(labels) == set(known):
        return None
    return {"labels": shown(labels), "known": shown(known)}


def _finds_other_positive_class(given):
    """Find another positive class than in earlier calls."""
    if given.pos_label is None or given.pos_label == given.known_pos_label:
        return None
    return {
        "pos_label": shown(given.pos_label),
        "known": shown(given.known_pos_label),
        "line": f"pos_label = {plain(given.known_pos_label)!r}",
    }


def _finds_ids_of_classes(given):
    """Find query ids in a block of class labels."""
    if given.qid is None:
        return None
    return {"model": type(given.estimator).__name__}


CHECKS_OF_LATER_CLASSES = [
    Check(
        name="other classes than before",
        finds=_finds_other_classes,
        sentence="classes={labels} are not the same as before, {known}: use fit.",
    ),
    Check(
        name="other pos_label than before",
        finds=_finds_other_positive_class,
        sentence="pos_label={pos_label} differs from {known}, of earlier calls.",
        remedies={"": "{line}"},
    ),
    Check(
        name="blocks of classes with ids",
        finds=_finds_ids_of_classes,
        sentence="{model} takes no query ids: a block is (X, y).",
        remedies={"": "blocks = [(X, y, None, *more) for X, y, qid, *more in blocks]"},
    ),
]

# Costs ------------------------------------------------------------------------------


def _finds_rows_of_costs(given):
    """Find a cost matrix with more or fewer rows than classes."""
    n_classes = len(given.labels)
    if given.matrix.ndim != 2 or len(given.matrix) == n_classes:
        return None
    return {
        "n_rows": len(given.matrix),
        "source": "y holds" if given.classes is None else "classes has",
        "n_classes": n_classes,
    }


def _finds_unclear_rows(given):
    """Find a matrix whose rows may belong to text labels in several orders.

    Every order may mean the same costs: then nothing is found.
    """
    matrix = given.matrix
    labels = given.labels.tolist()
    has_text = any(isinstance(label, str) for label in labels)
    if given.named_classes is not None or matrix.ndim != 2 or not has_text:
        return None
    if given.decisions is None and matrix.shape[0] == matrix.shape[1]:
        # One cost on the diagonal and one beside it.
        is_own = np.eye(len(matrix), dtype=bool)
        must_be_equal = [matrix[is_own], matrix[~is_own]]
    else:
        # One cost for each decision.
        must_be_equal = matrix.T
    if not any(np.any(costs != costs[:1]) for costs in must_be_equal):
        return None
    return {"labels": shown(labels), "line": f"model.set_params(classes={labels!r})"}


def _finds_number_of_decisions(given):
    """Find decisions that do not name the columns of the matrix."""
    decisions = given.decisions
    n_decisions = given.matrix.shape[-1] if given.matrix.ndim == 2 else 0
    if decisions is None or np.shape(decisions) == (n_decisions,):
        return None
    return {"shape": np.shape(decisions), "n_decisions": n_decisions}


CHECKS_OF_COSTS = [
    Check(
        name="rows of costs",
        finds=_finds_rows_of_costs,
        sentence=(
            "loss_matrix has {n_rows} rows but {source} {n_classes} labels: it needs "
            "one row per class. If y may lack some classes, give the labels of the "
            "rows as classes."
        ),
    ),
    Check(
        name="unclear rows of costs",
        finds=_finds_unclear_rows,
        sentence=(
            "Which row of loss_matrix belongs to which label? Another order than "
            "{labels} would mean other costs. Give the order of the rows by the "
            "parameter classes, the index of a data frame, or y as an ordered "
            "Categorical."
        ),
        remedies={"If the rows have this order": "{line}"},
    ),
    Check(
        name="number of decisions",
        finds=_finds_number_of_decisions,
        sentence=(
            "decisions has shape {shape} but loss_matrix has {n_decisions} columns."
        ),
    ),
]


def _finds_class_without_decision(given):
    """Find a class that is not among the decisions."""
    has_own = given.is_own.any(axis=1)
    if has_own.all():
        return None
    label = given.labels[int(np.argmin(has_own))]
    return {"label": shown(label), "decisions": given.decisions.tolist()}


def _finds_cheaper_decision(given):
    """Find a class for which a wrong decision costs less than the right one."""
    own_cost = given.costs[given.is_own]
    is_wrong = given.costs < own_cost[:, np.newaxis]
    if not is_wrong.any():
        return None
    i, j = np.argwhere(is_wrong)[0]
    return {
        "label": shown(given.labels[i]),
        "own": f"{own_cost[i]:g}",
        "cost": f"{given.costs[i, j]:g}",
        "i": i,
        "j": j,
    }


def _finds_own_cost(given):
    """Find a class that costs something for itself."""
    own_cost = given.costs[given.is_own]
    if not np.any(own_cost != 0):
        return None
    i = int(np.argmax(own_cost != 0))
    array = "numpy.asarray(loss_matrix)"
    # The names of a data frame of pandas stay.
    table = "loss_matrix" if hasattr(given.loss_matrix, "iloc") else array
    return {
        "label": shown(given.labels[i]),
        "own": f"{own_cost[i]:g}",
        "line": f"loss_matrix = {table} - {array}.min(axis=1, keepdims=True)",
    }


CHECKS_OF_HINGE_COSTS = [
    CHECK_OF_ONE_CLASS,
    Check(
        name="class without decision",
        finds=_finds_class_without_decision,
        sentence=(
            "The class {label} is not among the decisions {decisions}: add it as a "
            "column, or use LowRankSurrogateClassifier."
        ),
    ),
    Check(
        name="cheaper than the right decision",
        finds=_finds_cheaper_decision,
        sentence=(
            "loss_matrix[{i}, {j}] is {cost}, less than {own}, the cost of the right "
            "decision for the class {label}: the hinge takes costs >= 0, and 0 for "
            "the right decision. LowRankSurrogateClassifier takes any costs."
        ),
    ),
    Check(
        name="cost of the right decision",
        finds=_finds_own_cost,
        sentence=(
            "The class {label} costs {own} for itself: the right decision must cost 0."
        ),
        remedies={"Subtracting a number from a row changes no regret": "{line}"},
    ),
]


def _finds_no_probabilities(given):
    """Find a classifier that does not estimate probabilities."""
    if hasattr(given.estimator, "predict_proba"):
        return None
    return {"estimator": shown(given.estimator)}


CHECKS_OF_PROBABILITIES = [
    Check(
        name="classifier without probabilities",
        finds=_finds_no_probabilities,
        sentence=(
            "{estimator} has no predict_proba, and expected costs need probabilities."
        ),
        remedies={
            "To estimate them": (
                "from sklearn.calibration import CalibratedClassifierCV\n"
                "estimator = CalibratedClassifierCV(estimator)"
            )
        },
    ),
]

# Labels among the classes -----------------------------------------------------------


def _finds_collections(given):
    """Find labels that cannot be looked up, such as lists."""
    if given.y.dtype != object:
        return None
    for row, label in enumerate(given.y.tolist()):
        try:
            hash(label)
        except TypeError:
            return {"row": row, "label": shown(label)}
    return None


#: Names of types that labels may be converted to.
_TYPES = {"i": "int", "f": "float", "U": "str", "O": "str"}


def _finds_unknown_label(given):
    """Find a label that is not among the classes."""
    labels = given.y.tolist()
    known = set(given.classes.tolist())
    is_other = np.array([label not in known for label in labels])
    if not is_other.any():
        return None
    # Other labels of the same type may be accepted.
    is_same_type = given.y.dtype.kind == given.classes.dtype.kind
    if given.accept_others and is_same_type and not is_other.all():
        return None
    row = int(np.argmax(is_other))
    type_name = _TYPES.get(given.classes.dtype.kind, "str")
    line = ""
    try:
        converted = given.y.astype(type_name)
        if not is_same_type and set(converted.tolist()) <= known:
            line = f"y = numpy.asarray(y).astype({type_name})"
    except (TypeError, ValueError):
        pass
    return {
        "row": row,
        "label": shown(labels[row]),
        "classes": shown(given.classes.tolist()),
        "line": line,
    }


CHECKS_OF_LABELS = [
    Check(
        name="collections as labels",
        finds=_finds_collections,
        sentence="y must hold one class label per row, but y[{row}] is {label}.",
    ),
    Check(
        name="label of no class",
        finds=_finds_unknown_label,
        sentence="y[{row}] = {label} is not among the classes {classes}.",
        remedies={"": "{line}"},
    ),
]

# Binary labels ----------------------------------------------------------------------


def _finds_columns(given):
    """Find several labels for each row."""
    if given.y.ndim != 2 or given.y.shape[1] < 2:
        return None
    return {"shape": given.y.shape, "model": type(given.estimator).__name__}


def _finds_kinds_of_labels(given):
    """Find labels that cannot be compared with one another."""
    try:
        np.unique(given.y)
    except TypeError:
        return {}
    return None


CHECKS_OF_BINARY_SHAPE = [
    Check(
        name="labels in columns",
        finds=_finds_columns,
        sentence=("y has shape {shape}, but {model} takes one label per row."),
        remedies={
            "For a model of each column": (
                "from sklearn.multioutput import MultiOutputClassifier\n"
                "model = MultiOutputClassifier(model)"
            )
        },
    ),
    Check(
        name="labels of several types",
        finds=_finds_kinds_of_labels,
        sentence="y mixes types of labels: every row needs one of two labels.",
    ),
]


def _finds_many_classes(given):
    """Find more than two classes."""
    if len(given.labels) <= 2:
        return None
    first, *_, last = given.labels.tolist()
    words = {
        "type": type_of_target(given.y),
        "n_classes": len(given.labels),
        "last": shown(last),
        "equal": "",
        "above": "",
        "first": shown(first),
    }
    if given.pos_label is None:
        words["equal"] = f"y = numpy.asarray(y) == {last!r}"
        if given.labels.dtype.kind in "iuf":
            words["above"] = f"y = numpy.asarray(y) > {first!r}"
    return words


def _finds_no_pair_of_classes(given):
    """Find named classes that are not two."""
    if given.classes is None or len(given.classes) == 2:
        return None
    return {"classes": shown(given.classes.tolist())}


def _finds_third_label(given):
    """Find a label that is not one of the two classes."""
    if given.classes is None:
        return None
    others = np.setdiff1d(given.labels, given.classes)
    if len(others) == 0:
        return None
    return {
        "label": shown(others.tolist()[0]),
        "classes": shown(given.classes.tolist()),
    }


def _finds_no_positive_class(given):
    """Find a positive class that is neither of the two."""
    classes = given.labels if given.classes is None else given.classes
    if given.pos_label is None or given.pos_label in classes.tolist():
        return None
    return {"pos_label": shown(given.pos_label), "classes": shown(classes.tolist())}


CHECKS_OF_BINARY_LABELS = [
    Check(
        name="more than two classes",
        finds=_finds_many_classes,
        sentence=(
            "Only binary classification is supported. The type of the target is "
            "{type}, y holds {n_classes} classes."
        ),
        remedies={
            "If only {last} is to be at the top": "{equal}",
            "If all above {first} are to be at the top": "{above}",
        },
    ),
    CHECK_OF_ONE_CLASS,
    Check(
        name="not two classes",
        finds=_finds_no_pair_of_classes,
        sentence="classes must hold two labels, got {classes}.",
    ),
    Check(
        name="a third label",
        finds=_finds_third_label,
        sentence="The label {label} is not among the classes {classes}.",
    ),
    Check(
        name="pos_label of no class",
        finds=_finds_no_positive_class,
        sentence=(
            "pos_label={pos_label} is not a valid label: it should be one of "
            "{classes}. If another estimator encodes labels, their codes are the "
            "labels here."
        ),
    ),
]


def _finds_one_class_of_weight(given):
    """Find weights that leave rows of a single class."""
    if given.positive.all() or not given.positive.any():
        return {}
    return None


CHECKS_OF_WEIGHTED_CLASSES = [
    Check(
        name="one class of positive weight",
        finds=_finds_one_class_of_weight,
        sentence=(
            "sample_weight leaves one class only: both classes need rows of positive "
            "weight."
        ),
    ),
]

# Sets of labels ---------------------------------------------------------------------


def _finds_tags(given):
    """Find a list of tags for each row, of several lengths."""
    rows = np.asarray(given.y, dtype=object)
    if rows.ndim != 1:
        return None
    for row, tags in enumerate(rows):
        if hasattr(tags, "__iter__") and not isinstance(tags, str | bytes):
            return {"row": row, "tags": shown(list(tags), 80)}
    return None


CHECKS_OF_GIVEN_SETS = [
    Check(
        name="lists of tags",
        finds=_finds_tags,
        sentence="y must hold 0 and 1 for each label, but y[{row}] is {tags}.",
        remedies={
            "For a column of 0 and 1 for each tag": (
                "from sklearn.preprocessing import MultiLabelBinarizer\n"
                "y = MultiLabelBinarizer().fit_transform(y)"
            )
        },
    ),
]


def _finds_other_entries(given):
    """Find entries of a matrix that are not 0, 1 or NaN where NaN may be."""
    labels = given.labels
    is_wrong = ~((labels == 0) | (labels == 1) | given.is_unknown)
    if not is_wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(is_wrong)[0])
    words = {"place": list(place), "label": shown(labels[place])}
    lines = {"first": "", "second": "", "above": "", "tags": ""}
    entries = labels.ravel().tolist()
    array = _array_of(given.y, "y")
    if lines_of_words(entries, given.y, "y"):
        first, second = sorted(set(entries))
        words.update(one=repr(first), other=repr(second))
        lines["first"] = f"y = {array} == {first!r}"
        lines["second"] = f"y = {array} == {second!r}"
    elif all(isinstance(entry, str) for entry in entries):
        lines["tags"] = (
            "from sklearn.preprocessing import MultiLabelBinarizer\n"
            f"y = MultiLabelBinarizer().fit_transform({array})"
        )
    elif labels.dtype.kind in "iuf" and not given.is_unknown.any():
        lines["above"] = "y = y > 0" if given.is_sparse else f"y = {array} > 0"
    return {"one": "", "other": "", **words, **lines}


CHECKS_OF_SETS = [
    Check(
        name="sets of other numbers",
        finds=_finds_other_entries,
        sentence="A matrix y must hold 0 and 1, but y{place} is {label}.",
        remedies={
            "If {one} means that the label applies": "{first}",
            "If {other} means that the label applies": "{second}",
            "If a number above 0 means that the label applies": "{above}",
            "If each row lists its tags": "{tags}",
        },
    ),
]


def _finds_number_of_labels(given):
    """Find sets of more or fewer labels than in fit."""
    if given.sets.shape[1] == given.n_labels:
        return None
    return {"n": given.sets.shape[1], "n_labels": given.n_labels}


CHECKS_OF_LATER_SETS = [
    Check(
        name="number of labels",
        finds=_finds_number_of_labels,
        sentence="y has {n} labels, but had {n_labels} in fit.",
    ),
]


def _finds_unknown_sets(given):
    """Find NaN where whole sets are needed."""
    is_known = given.is_known
    if given.has_trees:
        is_enough = is_known.all()
    elif given.needs_sizes:
        is_enough = is_known.any()
    else:
        is_enough = True
    return None if is_enough else {}


CHECKS_OF_KNOWN_SETS = [
    Check(
        name="unknown labels of sets",
        finds=_finds_unknown_sets,
        sentence=(
            "y has NaN: estimator='trees' or 'logistic+trees' needs every label, and "
            "the F-measure needs some rows with all labels."
        ),
        remedies={
            "To leave out unknown labels": 'target_loss = "hamming"\nestimator = "auto"'
        },
    ),
]


def _finds_large_set(given):
    """Find a set of more labels than the largest of the fit."""
    if given.largest <= given.max_size:
        return None
    return {"largest": given.largest, "max_size": given.max_size}


CHECKS_OF_SIZES = [
    Check(
        name="large set",
        finds=_finds_large_set,
        sentence="A row of y has {largest} labels, more than max_size={max_size}.",
        remedies={"": "max_size = {largest}"},
    ),
]


def _finds_no_matrix(given):
    """Find costs that are not a matrix."""
    if given.matrix.ndim == 2 and 0 not in given.matrix.shape:
        return None
    return {"shape": given.matrix.shape}


CHECKS_OF_MATRICES = [
    Check(
        name="costs that are not a matrix",
        finds=_finds_no_matrix,
        sentence="loss_matrix must be a matrix, one row per class, got {shape}.",
    ),
]
