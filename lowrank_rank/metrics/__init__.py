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

# Last: scorers stand above the target losses, which import the measures above.
from ._scorer import (  # isort: skip
    MultiRankingScorer,
    RankingScorer,
    get_ranking_scorer_names,
    make_ranking_scorer,
)

__all__ = [
    "MultiRankingScorer",
    "RankingScorer",
    "auc_score",
    "dcg_score",
    "expected_rank_utility_score",
    "expected_reciprocal_rank_score",
    "get_ranking_scorer_names",
    "kendall_tau_loss",
    "make_ranking_scorer",
    "mean_average_precision_score",
    "ndcg_score",
    "pairwise_disagreement_loss",
    "precision_at_k_score",
    "recall_at_k_score",
    "reciprocal_rank_score",
    "spearman_score",
]
