"""Are the differences real? Rankers, runs and tables compared query by query."""

from ._comparison import compare_rankers
from ._mean_intervals import mean_intervals
from ._per_query import evaluate_run, per_query

__all__ = [
    "compare_rankers",
    "evaluate_run",
    "mean_intervals",
    "per_query",
]
