"""Solvers that more than one family uses: they do not know which loss they serve."""

from ._cutting_plane import cutting_plane
from ._lbfgs import lbfgs

__all__ = ["cutting_plane", "lbfgs"]
