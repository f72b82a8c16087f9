"""Ranking data: files of documents and of votes, generators with known truth, small real tables."""

from ._digits import load_digits_retrieval
from ._generators import make_label_ranking, make_ranking
from ._letor import dump_letor, load_letor
from ._orders import grades_from_orders
from ._preferences import make_duels, make_preferences
from ._preflib import load_preflib
from ._wine import load_wine_tasting

__all__ = [
    "dump_letor",
    "grades_from_orders",
    "load_digits_retrieval",
    "load_letor",
    "load_preflib",
    "load_wine_tasting",
    "make_duels",
    "make_label_ranking",
    "make_preferences",
    "make_ranking",
]
