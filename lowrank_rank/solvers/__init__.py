"""Solvers that more than one family uses: they do not know which loss they serve."""

from ._cutting_plane import cutting_plane

__all__ = ["cutting_plane"]
