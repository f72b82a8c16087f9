"""Judges that are models, duels of models, clicks without propensities, lists that are cut.

Every bar is printed beside its plain control. Parts: "duels", strengths, errors and intervals of
ranks of `bradley_terry`, and the pairs that `next_duels` chooses beside random pairs.
"""

from . import _judges_duels
from ._common import print_table

#: Title and rows of each part: ``rows(tiny)`` gives one dict for each number.
PARTS = {"duels": ("Duels: strengths, errors, intervals of ranks, next pairs", _judges_duels.rows)}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=sorted(PARTS), default=list(PARTS))


def run(args):
    found = []
    for part in args.part:
        title, rows_of = PARTS[part]
        rows = [{"part": part, **row} for row in rows_of(args.tiny)]
        print_table(title, rows)
        found += rows
    return found
