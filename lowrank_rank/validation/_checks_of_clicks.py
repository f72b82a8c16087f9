"""Faults of clicks, positions, propensities and grades of simulated clicks."""

import numpy as np

from ._check import Check


def _finds_negative_clicks(given):
    if given.clicks is None or not np.any(given.clicks < 0):
        return None
    row = int(np.argmax(given.clicks < 0))
    return {"row": row, "value": f"{given.clicks[row]:g}"}


def _finds_position(given):
    position = given.position
    if position is None:
        return None
    is_wrong = (position < 1) | (position != np.round(position))
    if not is_wrong.any():
        return None
    row = int(np.argmax(is_wrong))
    from_0 = ""
    if position.min() == 0 and np.all(position == np.round(position)):
        from_0 = "position = numpy.asarray(position) + 1"
    return {"row": row, "value": f"{position[row]:g}", "code": from_0}


#: Given clicks, or position: arrays of finite floats.
CHECKS_OF_CLICKS = [
    Check(
        name="negative clicks",
        finds=_finds_negative_clicks,
        sentence="clicks must be >= 0: clicks[{row}] is {value}.",
    ),
    Check(
        name="position below 1",
        finds=_finds_position,
        sentence=(
            "position must hold integers >= 1, 1 = first: position[{row}] is {value}."
        ),
        remedies={"If positions are counted from 0, write": "{code}"},
    ),
]


# Propensities of positions ----------------------------------------------------------


def _finds_shape(given):
    if given.is_answer and given.values.shape != given.position.shape:
        return {
            "name": given.name,
            "shape": given.values.shape,
            "n": given.position.shape,
        }
    return None


def _finds_length(given):
    if given.is_answer or given.values.shape == given.position.shape:
        return None
    last = int(given.position.max(initial=1))
    code = ""
    if given.table is not None and given.table.ndim == 1 and given.name == "propensity":
        code = (
            f"keep = numpy.asarray(position) <= {len(given.table)}\n"
            "clicks = numpy.asarray(clicks)[keep]\n"
            "position = numpy.asarray(position)[keep]"
        )
    return {"name": given.name, "last": last, "code": code}


def _finds_probability(given):
    # NaN is refused as well.
    is_right = (given.values >= 0) & (given.values <= 1)
    if is_right.all():
        return None
    row = int(np.argmin(is_right))
    return {
        "name": given.name,
        "value": f"{given.values[row]:g}",
        "position": int(given.position[row]),
    }


#: Given name ("propensity" or "trust"), position, values (at each position), is_answer
#: (whether a callable returned them), and table (by position, if it is too short).
CHECKS_OF_PROBABILITIES = [
    Check(
        name="shape of returned propensities",
        finds=_finds_shape,
        sentence="{name} returned shape {shape} for {n} positions.",
    ),
    Check(
        name="length of propensities",
        finds=_finds_length,
        sentence=("{name} must have one entry for each position, up to {last}."),
        remedies={"To leave out rows of later positions, write": "{code}"},
    ),
    Check(
        name="probability",
        finds=_finds_probability,
        sentence=(
            "{name} must hold probabilities in [0, 1], and is {value} at position "
            "{position}."
        ),
    ),
]


def _finds_no_propensity(given):
    if not np.any(given.theta == 0):
        return None
    p = int(given.position[np.argmax(given.theta == 0)])
    return {"position": p}


def _finds_no_trust(given):
    if np.all(given.eps_plus > given.eps_minus):
        return None
    row = int(np.argmin(given.eps_plus > given.eps_minus))
    return {
        "eps_plus": f"{given.eps_plus[row]:g}",
        "eps_minus": f"{given.eps_minus[row]:g}",
        "position": int(given.position[row]),
    }


#: Given position, theta, eps_plus and eps_minus (at each position).
CHECKS_OF_EXAMINATION = [
    Check(
        name="propensity 0",
        finds=_finds_no_propensity,
        sentence=(
            "The propensity of position {position} is 0: its clicks tell nothing."
        ),
        remedies={"For a small bias, write": "min_propensity = 0.01"},
    ),
    Check(
        name="trust that tells nothing",
        finds=_finds_no_trust,
        sentence=(
            "trust: eps_plus must be above eps_minus, or clicks tell nothing; at "
            "position {position} they are {eps_plus} and {eps_minus}."
        ),
    ),
]


def _finds_no_grades(given):
    if given.y.ndim == 1 and np.all(given.y >= 0):
        return None
    return {"shape": given.y.shape, "least": f"{np.min(given.y):g}"}


def _finds_grade_above(given):
    if given.max_grade is None or given.y.max() <= given.max_grade:
        return None
    return {"max_grade": f"{float(given.max_grade):g}", "grade": f"{given.y.max():g}"}


#: Given y (an array) and max_grade.
CHECKS_OF_GRADES_TO_CLICK = [
    Check(
        name="grades to click",
        finds=_finds_no_grades,
        sentence=(
            "y must hold grades >= 0, one for each document, shape (n_rows,), got "
            "shape {shape} and the least grade {least}."
        ),
    ),
    Check(
        name="grade above max_grade",
        finds=_finds_grade_above,
        sentence="max_grade={max_grade} is below the grade {grade}.",
        remedies={"For the largest grade, write": "max_grade = None"},
    ),
]


# Propensities from clicks -----------------------------------------------------------


def _lines_without(positions):
    """Return the lines that leave out rows of some positions."""
    return (
        f"keep = ~numpy.isin(position, {positions})\n"
        "clicks = numpy.asarray(clicks)[keep]\n"
        "position = numpy.asarray(position)[keep]\n"
        "document = numpy.asarray(document)[keep]"
    )


def _finds_no_clicks(given):
    return None if given.n_clicks.any() else {}


def _finds_position_without_click(given):
    has_no_click = given.n_clicks == 0
    if not has_no_click.any():
        return None
    positions = given.positions[has_no_click].tolist()
    return {"positions": positions, "code": _lines_without(positions)}


def _finds_unconnected(given):
    if given.component is None or given.component.max() == 0:
        return None
    largest = np.bincount(given.component).argmax()
    others = given.positions[given.component != largest].tolist()
    return {"positions": others, "code": _lines_without(others)}


#: Given positions, n_clicks (at each), and component (of each, of the graph of
#: positions that can be compared).
CHECKS_OF_LOGS = [
    Check(
        name="no clicks",
        finds=_finds_no_clicks,
        sentence="clicks are all 0: nothing can be estimated.",
    ),
    Check(
        name="positions without clicks",
        finds=_finds_position_without_click,
        sentence="Positions {positions} have no clicks.",
        remedies={"To leave out their rows, write": "{code}"},
    ),
    Check(
        name="positions that cannot be compared",
        finds=_finds_unconnected,
        sentence=(
            "Positions {positions} cannot be compared with the others: no documents "
            "with clicks were shown both there and elsewhere. A longer log may have "
            "such documents."
        ),
        remedies={"To leave out their rows, write": "{code}"},
    ),
]
