"""One order of many: votes, ratings and duels, and their files."""

from ._consensus import consensus_ranking
from ._duels import bradley_terry
from ._orders import grades_from_orders
from ._preflib import load_preflib

__all__ = [
    "bradley_terry",
    "consensus_ranking",
    "grades_from_orders",
    "load_preflib",
]
