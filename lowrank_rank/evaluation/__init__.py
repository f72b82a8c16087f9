"""Are the differences real? Rankers, runs and tables compared query by query."""

from ._compare_rankers import compare_judged, compare_rankers
from ._compare_runs import compare_judged_runs, compare_runs
from ._compare_values import compare_values
from ._mean_intervals import judged_mean_intervals, mean_intervals
from ._per_query import evaluate_run, per_query

__all__ = [
    "compare_judged",
    "compare_judged_runs",
    "compare_rankers",
    "compare_runs",
    "compare_values",
    "evaluate_run",
    "judged_mean_intervals",
    "mean_intervals",
    "per_query",
]
