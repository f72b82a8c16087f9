"""Checks of the top of lists: labels, places at the top, batches and later calls."""

import numpy as np

from ._check import Check
from ._columns import shown

# Target losses ----------------------------------------------------------------------


def _finds_no_top(given):
    """Find a loss that does not look at the top of the list."""
    if given.has_top:
        return None
    *names, last = map(repr, given.names())
    return {"loss": repr(given.loss), "names": ", ".join(names), "last": last}


def _finds_threshold(given):
    """Find grades of relevance where there are two classes."""
    threshold = getattr(given.loss, "relevance_threshold", None)
    if threshold is None:
        return None
    return {
        "loss": repr(given.loss),
        "line": (
            f"y = numpy.asarray(y) >= {threshold!r}\n"
            "target_loss = sklearn.base.clone(target_loss)"
            ".set_params(relevance_threshold=None)"
        ),
    }


def _finds_no_solver(given):
    """Find a surrogate that the solver does not train."""
    if given.surrogates is None or given.surrogate in given.surrogates:
        return None
    return {
        "surrogate": given.surrogate,
        "solver": given.solver,
        "names": " or ".join(map(repr, given.surrogates)),
        "first": given.surrogates[0],
    }


CHECKS_OF_TOP_LOSSES = [
    Check(
        name="loss without a top",
        finds=_finds_no_top,
        sentence=(
            "{loss} does not look at the top of the list: use {names} or {last} here, "
            "and LowRankSurrogateRanker for other losses."
        ),
    ),
    Check(
        name="threshold of two classes",
        finds=_finds_threshold,
        sentence="{loss}: a classifier takes two classes, not grades.",
        remedies={"": "{line}"},
    ),
    Check(
        name="solver of other surrogates",
        finds=_finds_no_solver,
        sentence=(
            "solver={solver!r} trains surrogate={names}, not surrogate={surrogate!r}."
        ),
        remedies={
            "For this solver": "surrogate = {first!r}",
            "For this surrogate": 'solver = "averaged"',
        },
    ),
]

# Labels and places ------------------------------------------------------------------


def _finds_nothing_to_rank(given):
    """Find lists of which none has positives and negatives."""
    if np.any((given.n_positives > 0) & (given.n_negatives > 0)):
        return None
    return {}


def _finds_lists_of_cutting_planes(given):
    """Find queries for the solver of one list."""
    if given.solver == "cutting_plane" and given.has_ids:
        return {}
    return None


def _finds_few_positives(given):
    """Find a count at the top of one list that has fewer positives."""
    n_positives = given.n_positives[0]
    if given.k is None or given.has_ids or given.is_recall or given.k <= n_positives:
        return None
    return {"loss": repr(given.loss), "k": given.k, "n_positives": n_positives}


def _finds_whole_list(given):
    """Find a top of one list that is the whole list."""
    n_rows = int(given.n_positives.sum() + given.n_negatives.sum())
    if given.k is None or given.has_ids or given.k < n_rows:
        return None
    return {"loss": repr(given.loss), "n_rows": n_rows}


def _finds_only_whole_lists(given):
    """Find lists whose places at the top are all of them."""
    if given.places is None or np.any(given.places > 0):
        return None
    return {"loss": repr(given.loss)}


CHECKS_OF_TOP = [
    Check(
        name="nothing to rank",
        finds=_finds_nothing_to_rank,
        sentence="No list has both positives and negatives: there is nothing to rank.",
    ),
    Check(
        name="fewer positives than places",
        finds=_finds_few_positives,
        sentence=(
            "{loss} looks at the top {k}, but there are only {n_positives} positives."
        ),
        remedies={
            "For as many places as positives": (
                'target_loss = "precision@{n_positives}"'
            ),
            "For half as many places as positives": 'target_loss = "precision@50%"',
            "For the positives within {k} places": 'target_loss = "recall@{k}"',
        },
    ),
    Check(
        name="top of all rows",
        finds=_finds_whole_list,
        sentence="{loss} takes all {n_rows} rows: all orders are equal.",
    ),
    Check(
        name="solver of one list",
        finds=_finds_lists_of_cutting_planes,
        sentence="solver='cutting_plane' takes one list of rows, without qid.",
        remedies={"For the top of each query": 'solver = "sgd"'},
    ),
    Check(
        name="top of all lists",
        finds=_finds_only_whole_lists,
        sentence="The top of {loss} covers every list: all orders are equal.",
    ),
]

# Batches ----------------------------------------------------------------------------


def _finds_small_batches(given):
    """Find batches of which some would have no positive, negative or place."""
    too_few = [what for n, what in given.limits if given.n_batches > n]
    if not too_few:
        return None
    fewest = min(n for n, _ in given.limits)
    return {
        "batch_size": given.batch_size,
        "n_rows": given.n_rows,
        "n_batches": given.n_batches,
        "what": " and ".join(too_few),
        "least": -(-given.n_rows // fewest),  # rounded up
    }


CHECKS_OF_BATCHES = [
    Check(
        name="small batches",
        finds=_finds_small_batches,
        sentence=(
            "batch_size={batch_size} cuts the {n_rows} rows into {n_batches} batches, "
            "but there are {what}."
        ),
        remedies={
            "The smallest batches": "batch_size = {least}",
            "The default": 'batch_size = "auto"',
        },
    ),
]

# One scored list --------------------------------------------------------------------


def _finds_other_labels(given):
    """Find labels other than 0 and 1."""
    is_wrong = ~((given.y == 0) | (given.y == 1))
    if not is_wrong.any():
        return None
    row = int(np.argmax(is_wrong))
    return {"row": row, "label": f"{given.y[row]:g}"}


def _finds_no_place(given):
    """Find a number of places that the positives do not fill."""
    n_positives = int(np.count_nonzero(given.y == 1))
    if 1 <= given.k <= n_positives and given.k == int(given.k):
        return None
    return {"n_positives": n_positives, "k": shown(given.k)}


CHECKS_OF_SCORED_TOP = [
    Check(
        name="labels of a scored list",
        finds=_finds_other_labels,
        sentence="y must hold the labels 0 and 1, but y[{row}] is {label}.",
        remedies={"If the labels above 0 are positive": "y = numpy.asarray(y) > 0"},
    ),
    Check(
        name="places of a scored list",
        finds=_finds_no_place,
        sentence=(
            "k must be a whole number from 1 to {n_positives}, the number of "
            "positives; got {k}."
        ),
    ),
]
