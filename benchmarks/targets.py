"""New target losses of the same theory: sparse labels, and very many of them.

many_labels: LowRankSurrogateRanker with sparse y against Ridge(solver="cholesky") with dense y,
time and memory in processes of their own; 100,000 labels; a long tail of labels.
"""

from . import _many_labels

#: Parts by name: functions of the arguments that print tables and return rows.
PARTS = {"many_labels": _many_labels.run}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))


def run(args):
    """The rows of each part."""
    return [row for name in args.part for row in PARTS[name](args)]
