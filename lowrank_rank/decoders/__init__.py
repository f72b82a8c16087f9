"""From surrogate vectors to ranks; each decoder says whether it is exact.

Decoding for MAP and for preferences is combinatorial: those decoders return the value of each
order and, if asked, a bound on the best one, see `Decoded`.
"""

from ._assignment import decode_assignment
from ._average_precision import (
    MOST_ITEMS,
    MOST_ITEMS_EXACT,
    average_precision_bound,
    average_precision_value,
    decode_map_diagonal,
    decode_map_exact,
)
from ._average_precision_search import decode_map_local_search
from ._decoded import Decoded
from ._exact_preferences import (
    MOST_ITEMS_ORDERING,
    MOST_ITEMS_SUBSETS,
    decode_pd_exact,
    preference_bound,
)
from ._feedback_arcs import dag_edges, decode_pd_borda, decode_pd_dag
from ._preference_search import decode_pd_local_search
from ._preferences import matrices_from_differences, preference_cost
from ._sorting import decode_sort

#: Decoders of preference matrices by name.
PD_DECODERS = {
    "dag": decode_pd_dag,
    "exact": decode_pd_exact,
    "local_search": decode_pd_local_search,
    "borda": decode_pd_borda,
}

__all__ = [
    "MOST_ITEMS",
    "MOST_ITEMS_EXACT",
    "MOST_ITEMS_ORDERING",
    "MOST_ITEMS_SUBSETS",
    "PD_DECODERS",
    "Decoded",
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
    "matrices_from_differences",
    "preference_bound",
    "preference_cost",
]
