"""Preferences between items, learnt in pairs (Ramaswamy, Agarwal & Tewari 2013, section 7)."""

from ._pairwise_dag import PairwiseDAGRanker

__all__ = ["PairwiseDAGRanker"]
