"""Preferences between items, learnt in pairs (Ramaswamy, Agarwal & Tewari 2013, section 7)."""

from ._consensus import ConsensusRanking, RankIntervals, consensus_ranking
from ._ranker import PairwiseDAGRanker

__all__ = ["ConsensusRanking", "PairwiseDAGRanker", "RankIntervals", "consensus_ranking"]
