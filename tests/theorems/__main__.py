"""Count the rows of the table, or run their proofs on the data of a seed."""

import sys
import time
from collections import Counter

import numpy as np

from . import run_proof, sources


def main(seed=None):
    """Print the counts; with a seed, also the CPU seconds of each proof."""
    for source in sources():
        counts = Counter(row.kind for row in source.rows)
        found = ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts))
        print(f"{source.title}: {len(source.rows)} rows, {found}")
        if seed is None:
            continue
        done = set()
        for row in source.rows:
            for proof in (*row.checks, *row.tests):
                if proof in done:
                    continue
                done.add(proof)
                start = time.process_time()
                run_proof(proof, np.random.default_rng(seed))
                seconds = time.process_time() - start
                name = proof if isinstance(proof, str) else proof.__name__
                print(f"  {seconds:6.2f} s  {row.number}: {name}")


main(*map(int, sys.argv[1:]))
