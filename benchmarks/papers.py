"""The experiments of three of the papers, on a small scale.

top: Kar, Narasimhan & Jain 2015, figures 2 and 3: precision at the top against time, depth and
batch length, methods as published.
bounds: Calauzenes, Usunier & Gallinari 2013: theorem 3.3 by a counter-example; the regret bound
(9) against realised regret by sample size; its constants.
conditions: Ramaswamy, Agarwal & Tewari 2013: random distributions inside P_reinforce, P_f and
P_DAG, regret outside; order-preserving surrogates of y / sum(y) for MAP (section 6).

Each part prints first which data it needs.
"""

from . import _papers_bounds, _papers_conditions, _papers_top

PARTS = {"top": _papers_top, "bounds": _papers_bounds, "conditions": _papers_conditions}


def add_arguments(parser):
    parser.add_argument(
        "--part", nargs="+", choices=sorted(PARTS), default=sorted(PARTS)
    )
    for part in PARTS.values():
        part.add_arguments(parser)


def run(args):
    rows = []
    for part in args.part:
        print(f"Data of --part {part}: {PARTS[part].DATA}")
        rows += PARTS[part].run(args)
    return rows
