"""Ranking measures, and the names of scorers."""

from ._scorer import get_ranking_scorer_names
from ._scores import (
    dcg_score,
    expected_rank_utility_score,
    mean_average_precision_score,
    measure_score,
    ndcg_score,
    pairwise_disagreement_loss,
    precision_at_k_score,
    recall_at_k_score,
    reciprocal_rank_score,
)

__all__ = [
    "dcg_score",
    "expected_rank_utility_score",
    "get_ranking_scorer_names",
    "mean_average_precision_score",
    "measure_score",
    "ndcg_score",
    "pairwise_disagreement_loss",
    "precision_at_k_score",
    "recall_at_k_score",
    "reciprocal_rank_score",
]
