"""Decoders of preferences to ranks.

Each returns the cost of each order and, if asked, a bound on the least one, see
`Decoded`. The decoders of a target loss are in its ``decoders``.
"""

from .feedback_arcs._decoders import decode_pd_dag, decode_pd_exact

__all__ = ["decode_pd_dag", "decode_pd_exact"]
