"""Ranking data: files, votes, clicks, generators with known truth, small tables."""

from ._clicks import make_clicks, utilities_from_clicks
from ._digits import load_digits_retrieval
from ._generators import make_label_ranking, make_ranking
from ._iter_lists import iter_lists
from ._letor import dump_letor, load_letor
from ._orders import grades_from_orders
from ._preferences import make_duels, make_preferences
from ._preflib import load_preflib
from ._propensities import propensities_from_clicks
from ._trec import dump_qrels, dump_run, load_qrels, load_run, runs_to_features
from ._wine import load_wine_tasting

__all__ = [
    "dump_letor",
    "dump_qrels",
    "dump_run",
    "grades_from_orders",
    "iter_lists",
    "load_digits_retrieval",
    "load_letor",
    "load_preflib",
    "load_qrels",
    "load_run",
    "load_wine_tasting",
    "make_clicks",
    "make_duels",
    "make_label_ranking",
    "make_preferences",
    "make_ranking",
    "propensities_from_clicks",
    "runs_to_features",
    "utilities_from_clicks",
]
