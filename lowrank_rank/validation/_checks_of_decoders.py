"""Checks of surrogate vectors, preferences and ranks that are decoded."""

import numpy as np

from ._arrays import LARGEST, shown
from ._check import Check

# Shapes -----------------------------------------------------------------------------


def _finds_shape(given):
    """Find vectors that are not a matrix with the expected number of columns."""
    if given.u.ndim == 2 and given.n_columns in (None, given.u.shape[1]):
        return None
    columns = "r" if given.n_columns is None else given.n_columns
    return {
        "shape": given.u.shape,
        "of": given.of or "",
        "columns": columns,
        "layout": given.layout or "",
    }


def _finds_positions(given):
    """Find vectors that do not have the same number of columns for each item."""
    if given.n_items is None:
        return None
    depth, left_over = divmod(given.u.shape[1], given.n_items)
    if depth and not left_over:
        return None
    return {"shape": given.u.shape, "n_items": given.n_items}


def _finds_no_matrices(given):
    """Find preferences that are not a batch of square matrices."""
    is_batch = given.u.ndim == 3 or (given.is_any and given.u.ndim > 1)
    is_square = is_batch and given.u.shape[-2] == given.u.shape[-1]
    if is_square and (given.is_any or given.u.shape[-1]):
        return None
    remedy = ""
    if given.u.ndim == 2 and given.u.shape[0] == given.u.shape[1] > 0:
        remedy = "u = [u]"
    lists = "..." if given.is_any else "n_lists"
    return {"shape": given.u.shape, "lists": lists, "remedy": remedy}


def _finds_not_finite(given):
    """Find entries that are NaN or so large that their sums overflow."""
    most = min(given.largest or LARGEST, np.finfo(np.float64).max)
    is_wrong = ~(np.abs(given.u) <= most)
    if not is_wrong.any():
        return None
    place = [int(i) for i in np.argwhere(is_wrong)[0]]
    bound = "" if most > LARGEST else f", at most {most:g}"
    return {"place": place, "value": f"{given.u[tuple(place)]:g}", "bound": bound}


NOT_FINITE = Check(
    name="vectors that are not finite",
    finds=_finds_not_finite,
    sentence="u{place} is {value}: it must be finite{bound}.",
)

CHECKS_OF_VECTORS = [
    Check(
        name="shape of vectors",
        finds=_finds_shape,
        sentence="u has shape {shape}; {of}it must be (n_lists, {columns}){layout}.",
    ),
    Check(
        name="vectors of positions",
        finds=_finds_positions,
        sentence=(
            "u has shape {shape}; for {n_items} items it must be (n_lists, {n_items} * "
            "depth), the value of each item at each of the first positions, item by "
            "item."
        ),
    ),
    NOT_FINITE,
]

CHECKS_OF_PREFERENCES = [
    Check(
        name="shape of preferences",
        finds=_finds_no_matrices,
        sentence="Preferences must have the shape ({lists}, r, r), got {shape}.",
        remedies={"For one matrix": "{remedy}"},
    ),
    NOT_FINITE,
]

# Ranks ------------------------------------------------------------------------------


def _finds_shape_of_ranks(given):
    """Find ranks that are not those of all items."""
    if given.ranks.shape == given.shape:
        return None
    return {"shape": given.ranks.shape, "expected": given.shape}


def _finds_low_ranks(given):
    """Find ranks below 1, or that are not numbers."""
    is_wrong = ~((given.ranks >= 1) & np.isfinite(given.ranks))
    if not is_wrong.any():
        return None
    remedy = ""
    integers = np.arange(given.ranks.shape[1])
    if np.array_equal(np.sort(given.ranks), np.tile(integers, (len(given.ranks), 1))):
        remedy = "ranks = numpy.add(ranks, 1)"
    place = np.argwhere(is_wrong)[0].tolist()
    rank = f"{given.ranks[tuple(place)]:g}"
    return {"place": place, "rank": rank, "remedy": remedy}


CHECKS_OF_RANKS = [
    Check(
        name="shape of ranks",
        finds=_finds_shape_of_ranks,
        sentence="ranks have shape {shape}; they must be {expected}.",
    ),
    Check(
        name="ranks below 1",
        finds=_finds_low_ranks,
        sentence="ranks{place} is {rank}: ranks are finite and start at 1 = best.",
        remedies={"If ranks start at 0": "{remedy}"},
    ),
]

# Decoders ---------------------------------------------------------------------------


def _finds_many_items(given):
    """Find more items than a decoder can take."""
    if given.max_items is None or given.n_items <= given.max_items:
        return None
    return {
        "who": given.who,
        "most": given.max_items,
        "n_items": given.n_items,
        "others": given.others,
    }


def _finds_unknown_decoder(given):
    """Find what is neither the name of a decoder nor a function."""
    if given.names is None or given.decoder in given.names:
        return None
    return {"names": given.names, "decoder": shown(given.decoder)}


CHECKS_OF_DECODERS = [
    Check(
        name="unknown decoder",
        finds=_finds_unknown_decoder,
        sentence=(
            "decoder must be one of {names}, 'auto' or a function of preferences "
            "(n_lists, r, r) that returns ranks, got {decoder}."
        ),
    ),
    Check(
        name="many items",
        finds=_finds_many_items,
        sentence="{who} takes at most {most} items, got {n_items}: use {others}.",
    ),
]
