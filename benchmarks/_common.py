"""Shared by the commands: timing, paired differences, tables, optional peers, the data folder."""

import importlib
import json
import os
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy import stats

from lowrank_rank.validation._progress import counted

REPOSITORY = Path(__file__).resolve().parent.parent


def default_data_folder():
    """$LOWRANK_RANK_DATA, else shared/data beside the checkout."""
    beside = REPOSITORY.parent / "shared" / "data"
    return Path(os.environ.get("LOWRANK_RANK_DATA", beside))


def optional_peer(module):
    """The imported module of a peer, or None and a sentence where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        print(f"needs {module}: pip install .[benchmark]; skipped", file=sys.stderr)
        return None


def repeated(steps, name):
    """Yield the repetitions of a simulation; a line a second on stderr has the time left."""
    return counted(steps, name, "repetitions", file=sys.stderr)


def best_seconds(calls, repeats, clock=perf_counter):
    """Least seconds of each call, the calls taking turns so that noise meets all alike.

    Parameters
    ----------
    calls : dict of str to callable
    repeats : int
    clock : callable
        `time.process_time` leaves out what other processes take, on one thread.

    Returns
    -------
    dict of str to float
    """
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


class Difference(NamedTuple):
    """Mean of paired differences, its standard error, and its 95 % interval by Student's t."""

    n: int
    mean: float
    se: float
    low: float
    high: float


def paired(ours, theirs):
    """`Difference` over the lists on which both have a value."""
    difference = np.asarray(ours) - np.asarray(theirs)
    difference = difference[~np.isnan(difference)]
    n, mean = len(difference), float(difference.mean())
    error = float(difference.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    half = float(stats.t.ppf(0.975, n - 1)) * error if n > 1 else float("nan")
    return Difference(n, mean, error, mean - half, mean + half)


def coverage_row(low, high, truth, **columns):
    """A row with the fraction of intervals that contain the truth, and their mean width."""
    inside = (np.asarray(low) <= truth) & (truth <= np.asarray(high))
    return {
        **columns,
        "covered": float(inside.mean()),
        "width": float(np.mean(high - low)),
    }


def summary_row(cells, **columns):
    """A row on many cells, dicts with the keys "covered", "plain" and "width"."""
    covered, plain, width = (
        np.array([cell[key] for cell in cells]) for key in ("covered", "plain", "width")
    )
    is_low = covered < 0.93
    return {
        **columns,
        "cells": len(cells),
        "least": float(covered.min()),
        "least plain": float(plain.min()),
        "below .93": int(is_low.sum()),
        "of these plain above": int((is_low & (plain >= 0.93)).sum()),
        "width": float(width.mean()),
    }


def print_table(title, rows):
    """Rows as an aligned table; columns are the keys of all rows."""
    print(f"\n{title}")
    if not rows:
        print("  (nothing)")
        return
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [keys] + [[_format(row.get(key)) for key in keys] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print(
            "  "
            + "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
        )
    sys.stdout.flush()


def _format(value):
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_rows(rows, path):
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row, default=float) + "\n" for row in rows))
