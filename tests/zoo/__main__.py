"""Print what the rules say of each shape: `python -m tests.zoo [draws] [part of a name]`."""

import sys
import time
from collections import Counter

from ..internals import RULES
from . import HONEST, MISTAKES, count
from .shapes import N_DRAWS


def print_counts(n_draws, part):
    """Print a line for each shape.

    Returns the first mistake of each rule with its count, and the largest count of each rule in an
    honest shape.
    """
    largest = Counter()
    found = {}
    for kind, shapes in (("honest", HONEST), ("mistake", MISTAKES)):
        for name, shape in shapes.items():
            if part not in name:
                continue
            start = time.process_time()
            counts = count(shape, n_draws)
            milliseconds = 1e3 * (time.process_time() - start) / n_draws
            if kind == "honest":
                largest |= counts
            elif shape.rule in RULES:
                found.setdefault(shape.rule, (name, counts[shape.rule]))
            said = ", ".join(f"{rule} {n}" for rule, n in counts.items()) or "-"
            print(f"{kind:8s} {name:38s} {said:32s} {milliseconds:5.1f} ms", flush=True)
    return found, largest


def main(n_draws=N_DRAWS, part=""):
    found, largest = print_counts(int(n_draws), part)
    print(
        "\nThe first mistake of each rule, its draws that are found, most alarms of honest shapes:"
    )
    for rule, (name, n) in found.items():
        rule_in_quotes = f'"{rule}"'
        print(f"{rule_in_quotes:20s} {name:36s} {n:5d} {largest[rule]:3d}")


if __name__ == "__main__":
    main(*sys.argv[1:])
