"""Ranking measures, one function each, and scorers for model selection."""

from ._comparison import RankerComparison, compare_rankers
from ._mean_intervals import mean_intervals
from ._per_query import evaluate_run, per_query
from ._scorer import RankingScorer, get_ranking_scorer_names, make_ranking_scorer
from ._scores import (
    auc_score,
    dcg_score,
    expected_rank_utility_score,
    expected_reciprocal_rank_score,
    kendall_tau_loss,
    mean_average_precision_score,
    ndcg_score,
    pairwise_disagreement_loss,
    precision_at_k_score,
    recall_at_k_score,
    reciprocal_rank_score,
    spearman_score,
)

__all__ = [
    "RankerComparison",
    "RankingScorer",
    "auc_score",
    "compare_rankers",
    "dcg_score",
    "evaluate_run",
    "expected_rank_utility_score",
    "expected_reciprocal_rank_score",
    "get_ranking_scorer_names",
    "kendall_tau_loss",
    "make_ranking_scorer",
    "mean_average_precision_score",
    "mean_intervals",
    "ndcg_score",
    "pairwise_disagreement_loss",
    "per_query",
    "precision_at_k_score",
    "recall_at_k_score",
    "reciprocal_rank_score",
    "spearman_score",
]
