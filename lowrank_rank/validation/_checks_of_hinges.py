"""Checks of structured hinges: weights of lists, measures, solvers and later calls."""

import numpy as np

from ..lists._lists import plain
from ._check import Check

# Weights ----------------------------------------------------------------------------


def _finds_parts_of_copies(given):
    """Find weights that are not whole numbers of copies."""
    weights = given.weights
    is_part = weights != np.round(weights)
    if not is_part.any():
        return None
    row = int(np.argmax(is_part))
    smallest = float(weights[weights > 0].min())
    copies = weights / smallest
    line = ""
    if np.allclose(copies, np.round(copies), rtol=1e-9, atol=0.0):
        weight = "numpy.asarray(sample_weight)"
        line = f"sample_weight = numpy.round({weight} / {smallest!r})"
    return {"row": row, "weight": f"{weights[row]:g}", "line": line, **given.words}


CHECKS_OF_COPIES = [
    Check(
        name="parts of copies",
        finds=_finds_parts_of_copies,
        sentence=(
            "sample_weight[{row}] is {weight}: all rows are one list here, and the "
            "weights of its rows count copies. They must be whole numbers{otherwise}."
        ),
        remedies={"In proportion": "{line}"},
    ),
]


#: A weight for each row, one for all rows of an id.
_MEANS_OF_LISTS = (
    "sample_weight = pandas.Series(list(sample_weight)).groupby("
    'pandas.Series(list(qid))).transform("mean").to_numpy()'
)


def _finds_weights_within_list(given):
    """Find a list whose rows have several weights."""
    lists = given.lists
    differs = np.flatnonzero(given.weights != lists.repeat(given.first))
    if len(differs) == 0:
        return None
    row = differs[0]
    which = lists.index[row]
    has_ids = given.ids is not None
    return {
        "id": repr(given.ids.tolist()[which]) if has_ids else "of all rows",
        "line": _MEANS_OF_LISTS if has_ids else "",
        "one": f"{given.first[which]:g}",
        "other": f"{given.weights[row]:g}",
        **given.words,
    }


CHECKS_OF_WEIGHTS_OF_LISTS = [
    Check(
        name="weights within a list",
        finds=_finds_weights_within_list,
        sentence=(
            "sample_weight differs within the {what} {id} ({one} and {other}): rows "
            "of a {what} must share one.{otherwise}"
        ),
        remedies={
            "For the mean weight of the rows of each id": "{line}",
        },
    ),
]

# Measures ---------------------------------------------------------------------------


def _finds_no_hinge(given):
    """Find a measure that has no hinge here."""
    has_share = getattr(given.measure, "share", None) is not None
    if type(given.measure) in given.known and not has_share:
        return None
    return {"measure": repr(given.measure), "names": ", ".join(given.names)}


CHECKS_OF_HINGE_MEASURES = [
    Check(
        name="measure without hinge",
        finds=_finds_no_hinge,
        sentence=(
            "{measure} has no structured hinge here: use one of {names}. "
            "LowRankSurrogateRanker takes every measure with a low-rank form."
        ),
    ),
]


def _finds_no_bound(given):
    """Find a list for which the hinge is not a bound of the loss."""
    if not given.is_wrong.any():
        return None
    first = int(np.argmax(given.is_wrong))
    ids = given.lists.ids
    return {
        "measure": repr(given.measure),
        "list": first,
        "id": "" if ids is None else f" ({ids.tolist()[first]!r})",
        "P": int(given.n_relevant[first]),
        "k": given.measure.k,
        "marks": given.marks,
        "sign": given.sign,
    }


CHECKS_OF_BOUNDS_OF_HINGES = [
    Check(
        name="k and the number of relevant items",
        finds=_finds_no_bound,
        sentence=(
            "The hinge of {measure} bounds the loss of the items that it marks "
            "({marks}) only for k {sign} P, the number of relevant items: list "
            "{list}{id} has P={P} and k={k}."
        ),
        remedies={"Another k, or a measure without k": 'target_loss = "auc"'},
    ),
]

# Parameters that exclude one another ------------------------------------------------


def _finds_solver_beside_radius(given):
    """Find a solver that would not be used."""
    if given.radius is None or given.solver == "auto":
        return None
    return {"radius": f"{given.radius:g}", "solver": repr(plain(given.solver))}


def _finds_solver_of_smooth_hinges(given):
    """Find L-BFGS for a hinge without a smooth form."""
    if given.solver != "lbfgs" or given.problem is None or given.problem.is_smooth:
        return None
    return {}


CHECKS_OF_HINGE_SOLVERS = [
    Check(
        name="solver beside radius",
        finds=_finds_solver_beside_radius,
        sentence=(
            "radius={radius} runs SGD as published (section 17.2.5), and "
            "solver={solver} is another algorithm."
        ),
        remedies={
            "For SGD as published": 'solver = "auto"',
            "For the other algorithm": "radius = None",
        },
    ),
    Check(
        name="solver of smooth hinges",
        finds=_finds_solver_of_smooth_hinges,
        sentence="solver='lbfgs' needs a smooth hinge.",
        remedies={"": 'solver = "cutting_plane"'},
    ),
]

# Later calls ------------------------------------------------------------------------


def _finds_change_of_layout(given):
    """Find a call of `partial_fit` unlike the calls before."""
    for what, (before, now) in given.layout.items():
        if before != now:
            return {"what": what, "before": before, "now": now}
    return None


CHECKS_OF_LATER_LISTS = [
    Check(
        name="another layout than before",
        finds=_finds_change_of_layout,
        sentence="Earlier calls had {what} {before}, this one {now}: use fit.",
    ),
]
