"""Decoders of surrogate vectors to ranks.

Decoding for MAP and for preferences is combinatorial. Their decoders return the value
of each order and, if asked, a bound on the best one, see `Decoded`.
"""

from ._average_precision import decode_map_exact
from .feedback_arcs._decoders import decode_pd_borda, decode_pd_dag, decode_pd_exact

__all__ = ["decode_map_exact", "decode_pd_borda", "decode_pd_dag", "decode_pd_exact"]
