"""Preferences between items, learnt in pairs (Ramaswamy, Agarwal & Tewari 2013, section 7)."""

from ._consensus import ConsensusRanking, RankIntervals, consensus_ranking
from ._duels import BradleyTerry, bradley_terry
from ._ranker import PairwiseDAGRanker

__all__ = [
    "BradleyTerry",
    "ConsensusRanking",
    "PairwiseDAGRanker",
    "RankIntervals",
    "bradley_terry",
    "consensus_ranking",
]
