"""Solvers: arrays in, coefficients out; they do not know which loss they serve."""

from ._ridge import RidgeStatistics, solve_iteratively

__all__ = ["RidgeStatistics", "solve_iteratively"]
