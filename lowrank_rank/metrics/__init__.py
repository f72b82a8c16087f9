"""Ranking measures, one function each, and scorers for model selection."""

from ._cascade import (
    expected_reciprocal_rank_score,
    mean_average_precision_score,
    reciprocal_rank_score,
)
from ._graded_scores import (
    dcg_score,
    expected_rank_utility_score,
    ndcg_score,
    spearman_score,
)
from ._pairwise import kendall_tau_loss, pairwise_disagreement_loss
from ._relevance_scores import auc_score, precision_at_k_score, recall_at_k_score

__all__ = [
    "auc_score",
    "dcg_score",
    "expected_rank_utility_score",
    "expected_reciprocal_rank_score",
    "kendall_tau_loss",
    "mean_average_precision_score",
    "ndcg_score",
    "pairwise_disagreement_loss",
    "precision_at_k_score",
    "recall_at_k_score",
    "reciprocal_rank_score",
    "spearman_score",
]
