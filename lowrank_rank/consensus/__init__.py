"""Orders and strengths of items from votes and duels: Kemeny and Bradley-Terry."""

from ._consensus import ConsensusRanking, RankIntervals, consensus_ranking
from ._duels import BradleyTerry, bradley_terry

__all__ = [
    "BradleyTerry",
    "ConsensusRanking",
    "RankIntervals",
    "bradley_terry",
    "consensus_ranking",
]
