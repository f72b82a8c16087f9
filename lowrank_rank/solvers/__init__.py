"""Solvers: arrays in, coefficients out; they do not know which loss they serve."""

from ._batches import ListBatch, ListGroup, MatrixBatch, Rule, sum_of_squares, take_rows
from ._cutting_plane import cutting_plane
from ._mini_batch import Descent, Trajectory, descend, mean_hits, run_pass
from ._ridge import RidgeStatistics, solve_iteratively
from ._scores import fit_scores
from ._skew import fit_skew

__all__ = [
    "Descent",
    "ListBatch",
    "ListGroup",
    "MatrixBatch",
    "RidgeStatistics",
    "Rule",
    "Trajectory",
    "cutting_plane",
    "descend",
    "fit_scores",
    "fit_skew",
    "mean_hits",
    "run_pass",
    "solve_iteratively",
    "sum_of_squares",
    "take_rows",
]
