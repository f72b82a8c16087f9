"""Costs: every path over a peer and over a floor, its memory, and its growth with the rows.

A case of `_cases` has data, our call, a call of a peer and a floor: a product, a pass or a sort
that has to be done in any case. "peer" and "floor" are ratios of CPU seconds, ours over theirs,
best of alternating repeats in one process; "of" names the library of the peer, lowrank_rank if the
peer is code of this package. "memory" is the peak that Python and NumPy allocate in our call, in
multiples of the data. "MISSED" is a ratio to the peer above its bar; without the peer a row has no
verdict. Rows "a row of" have as a peer 100 rows at once.

growth: the slope of log seconds over log rows; 1 is linear. sizes: the same over the number of
items or the length of lists, of all of them. Run with OMP_NUM_THREADS=1.
"""

import tracemalloc
import warnings
from functools import partial
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from ._cases import CASES, SIZES, size_of
from ._common import best_seconds, optional_peer, print_table

GROUPS = list(dict.fromkeys(case.group for case in CASES.values()))


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=["rows"])
    parser.add_argument(
        "--row", nargs="+", choices=[*GROUPS, *CASES, *SIZES], metavar="ROW",
        help=f"names of cases, or groups: {', '.join(GROUPS)}",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5)


def run(args):
    """Rows of the parts asked for."""
    asked = set(args.row or [*GROUPS, *SIZES])
    chosen = {n: case for n, case in CASES.items() if {n, case.group} & asked}
    sizes = {name: case for name, case in SIZES.items() if name in asked}
    args.scale = 0.01 if args.tiny else 1.0
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of lists of one row, and of fits that stop early
        for part in args.part:
            of_part = sizes if part == "sizes" else chosen
            table = [PARTS[part](name, case, args) for name, case in of_part.items()]
            print_table(part, table)
            rows += [{"part": part, **row} for row in table]
    return rows


def calls_of(case, data):
    """Our call, and those of the peer and of the floor where they can be made."""
    calls = {"ours": partial(case.ours, *data)}
    for name in ("peer", "floor"):
        call = getattr(case, name)
        if isinstance(call, tuple):  # a library, and a function of it and of the data
            library = optional_peer(call[0])
            call = library and partial(call[1], library)
        if call is not None:
            calls[name] = partial(call, *data)
    return calls


def limit_row(name, case, args):
    """Ratios of one case."""
    data = case.data(args.scale)
    calls = calls_of(case, data)
    once = best_seconds(
        calls, 1 if args.tiny else 2, process_time
    )  # loads and compiles
    many = 20 if once["ours"] < 0.02 else 1
    seconds = (
        once if args.tiny else best_seconds(calls, many * args.repeats, process_time)
    )
    tracemalloc.start()
    calls["ours"]()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = size_of(data)
    ratios = {n: max(seconds["ours"], 1e-9) / max(seconds[n], 1e-9) for n in seconds}
    row = {"row": name, "ms": 1e3 * seconds["ours"]}
    row |= {n: ratios.get(n) for n in ("peer", "floor")}
    row["of"] = case.peer[0] if isinstance(case.peer, tuple) else None
    row |= {
        "memory": peak / size if size else None,
        "MB": peak / 1e6,
        "at_most": case.bar,
    }
    verdict = ""
    if case.bar is not None and "peer" in ratios:
        verdict = "MISSED" if ratios["peer"] > case.bar else "ok"
    return {**row, "verdict": verdict}


def growth_row(name, case, args):
    """Slope of one case, from an eighth of its rows to all of them."""
    scales = args.scale * np.array([0.125, 0.25, 0.5, 1.0])
    calls = {scale: partial(case.ours, *case.data(scale)) for scale in scales}
    return slope_row(name, calls, args)


def sizes_row(name, case, args):
    """Slope of one case over the number of items or the length of lists."""
    data, ours, sizes = case
    if args.tiny:
        sizes = sizes[:2]
    calls = {size: partial(ours, *data(size)) for size in sizes}
    row = slope_row(name, calls, args)
    return {**row, "from": sizes[0], "to": sizes[-1]}


def slope_row(name, calls, args):
    """Slope of log seconds over the logarithm of the size, the key of each call."""
    seconds = best_seconds(calls, 1 if args.tiny else args.repeats, process_time)
    sizes = list(calls)
    times = np.maximum([seconds[size] for size in sizes], 1e-9)
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return {
        "row": name,
        "least_ms": 1e3 * times[0],
        "most_ms": 1e3 * times[-1],
        "slope": slope,
    }


PARTS = {"rows": limit_row, "growth": growth_row, "sizes": sizes_row}
