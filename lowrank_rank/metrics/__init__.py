"""Ranking measures, and the names of scorers."""

from ._scorer import get_ranking_scorer_names
from ._scores import measure_score, ndcg_score

__all__ = ["get_ranking_scorer_names", "measure_score", "ndcg_score"]
