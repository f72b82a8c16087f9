"""Decoders of surrogate vectors to ranks.

Decoding for MAP and for preferences is combinatorial. Their decoders return the value of each
order and, if asked, a bound on the best one, see `Decoded`.
"""

from ._average_precision import (
    MAX_ITEMS,
    MAX_ITEMS_EXACT,
    average_precision_bound,
    average_precision_value,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from ._decoded import Decoded, decode_assignment, decode_sort
from .feedback_arcs._decoders import (
    PD_DECODERS,
    PDDecoder,
    auto_pd_decoder,
    dag_edges,
    decode_pd_borda,
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
    pd_decoder,
)
from .feedback_arcs._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS, preference_bound
from .feedback_arcs._graphs import (
    differences_from_matrices,
    matrices_from_differences,
    net_preferences,
    net_scores,
    preference_cost,
)

__all__ = [
    "MAX_ITEMS",
    "MAX_ITEMS_EXACT",
    "MAX_ITEMS_ORDERING",
    "MAX_ITEMS_SUBSETS",
    "PD_DECODERS",
    "Decoded",
    "PDDecoder",
    "auto_pd_decoder",
    "average_precision_bound",
    "average_precision_value",
    "dag_edges",
    "decode_assignment",
    "decode_map_diagonal",
    "decode_map_exact",
    "decode_map_local_search",
    "decode_pd_borda",
    "decode_pd_dag",
    "decode_pd_exact",
    "decode_pd_local_search",
    "decode_sort",
    "differences_from_matrices",
    "matrices_from_differences",
    "net_preferences",
    "net_scores",
    "pd_decoder",
    "preference_bound",
    "preference_cost",
]
