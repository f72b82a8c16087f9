"""Honest shapes of data and mistakes by name: `python -m tests.zoo` counts what the rules say of each."""

from . import fits, lists, runs, scores, tables, votes
from .shapes import HONEST, MISTAKES, Shape, count, noticed

__all__ = [
    "HONEST",
    "MISTAKES",
    "Shape",
    "count",
    "fits",
    "lists",
    "noticed",
    "runs",
    "scores",
    "tables",
    "votes",
]
