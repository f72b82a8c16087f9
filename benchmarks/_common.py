"""What every benchmark needs: timing, tables, optional peers, the data folder."""

import importlib
import json
import os
import sys
from pathlib import Path
from time import perf_counter

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


def ratio_rows(group, seconds, ours, bars):
    """One row per peer: our seconds over its seconds, and the bar where there is one."""
    return [
        bar_row(
            group=group,
            peer=peer,
            ours_s=seconds[ours],
            peer_s=seconds[peer],
            value=seconds[ours] / seconds[peer],
            at_most=bar,
        )
        for peer, bar in bars.items()
        if peer in seconds
    ]


def bar_row(*, value, at_most, **columns):
    """A row with a number, the most that it should be (None: no bar), and the verdict."""
    verdict = "" if at_most is None else ("ok" if value <= at_most else "MISSED")
    return {**columns, "value": value, "at_most": at_most, "verdict": verdict}


def print_table(title, rows):
    """Rows as an aligned table; columns are the keys of the first row."""
    print(f"\n{title}")
    if not rows:
        print("  (nothing)")
        return
    cells = [list(rows[0])] + [[_format(row.get(key)) for key in rows[0]] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  " + "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())
    sys.stdout.flush()


def _format(value):
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_rows(rows, path):
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row, default=float) + "\n" for row in rows))
