"""Ranking data: files, generators with known truth, small tables."""

from ._digits import load_digits_retrieval
from ._generators import make_label_ranking, make_ranking
from ._iter_lists import iter_lists
from ._letor import dump_letor, load_letor
from ._preferences import make_duels, make_preferences
from ._trec import dump_qrels, dump_run, load_qrels, load_run, runs_to_features
from ._wine import load_wine_tasting

__all__ = [
    "dump_letor",
    "dump_qrels",
    "dump_run",
    "iter_lists",
    "load_digits_retrieval",
    "load_letor",
    "load_qrels",
    "load_run",
    "load_wine_tasting",
    "make_duels",
    "make_label_ranking",
    "make_preferences",
    "make_ranking",
    "runs_to_features",
]
