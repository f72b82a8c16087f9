"""Evaluation by people and by models, of which each part has a plain control.

means: intervals of one mean, and runs in compare_rankers beside evaluate_run.
ppi: prediction-powered intervals of compare_rankers and mean_intervals: coverage, and widths
against the human labels alone, with judges made by flipping labels.
fusion: runs joined by runs_to_features: the best run, reciprocal rank fusion, the mean of scaled
scores, and weights learned from 50 or from all judged queries.
clicks: propensities estimated from a log, and rankers fitted with them, against raw clicks.
duels: strengths, errors and intervals of ranks of bradley_terry, and the pairs that next_duels
chooses beside random pairs.
cut: RecallCut, against the same number of rows of each list.
"""

from . import _judges_clicks, _judges_cut, _judges_duels, _judges_fusion, _judges_means, _judges_ppi

PARTS = {
    "means": _judges_means,
    "ppi": _judges_ppi,
    "fusion": _judges_fusion,
    "duels": _judges_duels,
    "clicks": _judges_clicks,
    "cut": _judges_cut,
}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=sorted(PARTS), default=sorted(PARTS))
    for part in PARTS.values():
        part.add_arguments(parser)


def run(args):
    """The rows of the parts, each of which prints its table."""
    rows = []
    for part in args.part:
        rows += PARTS[part].run(args)
    return rows
