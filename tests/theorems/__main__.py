"""Count the rows of the table, or run their proofs on the data of a seed.

``--first`` stops at the first proof that fails.
"""

import argparse
import signal
import sys
import time
import traceback
import warnings
from collections import Counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import run_proof, sources

#: CPU seconds after which a proof fails: a wrong formula may never end. The longest
#: proof takes 3 s.
LONGEST = 20


def give_up(*_):
    """Fail a proof that takes too long."""
    raise TimeoutError(f"more than {LONGEST} s of CPU")


def holds(row, proof, seed):
    """Run a proof, print its CPU seconds, and return whether it holds."""
    name = proof if isinstance(proof, str) else proof.__name__
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    start = time.process_time()
    error = None
    try:
        run_proof(proof, np.random.default_rng(seed))
    except BaseException as failure:
        error = failure
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    seconds = time.process_time() - start
    result = "" if error is None else "  FAILED"
    print(f"  {seconds:6.2f} s  {row.number}: {name}{result}", flush=True)
    if isinstance(error, KeyboardInterrupt):
        raise error
    if error is not None:
        traceback.print_exception(error)
    return error is None


def main():
    """Print the counts; with a seed, also run the proofs; return the number of failures."""
    parser = argparse.ArgumentParser(prog="tests.theorems", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?")
    parser.add_argument("--first", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGVTALRM, give_up)
    # As in the test suite.
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "The hinge of")
    n_failed = 0
    for source in sources():
        counts = Counter(row.kind for row in source.rows)
        found = ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts))
        print(f"{source.title}: {len(source.rows)} rows, {found}")
        if given.seed is None:
            continue
        done = set()
        for row in source.rows:
            for proof in (*row.checks, *row.tests):
                if proof in done:
                    continue
                done.add(proof)
                n_failed += not holds(row, proof, given.seed)
                if n_failed and given.first:
                    return n_failed
    return n_failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
