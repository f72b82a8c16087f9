"""Clicks: users who look at some positions, and what the clicks say about documents."""

from ._clicks import make_clicks, utilities_from_clicks
from ._propensities import propensities_from_clicks

__all__ = [
    "make_clicks",
    "propensities_from_clicks",
    "utilities_from_clicks",
]
