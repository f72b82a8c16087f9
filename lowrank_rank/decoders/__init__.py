"""From surrogate vectors to ranks; each decoder says whether it is exact."""

from ._assignment import decode_assignment
from ._average_precision import (
    MOST_ITEMS,
    MOST_ITEMS_EXACT,
    average_precision_value,
    decode_diagonal,
    decode_subsets,
)
from ._local_search import (
    average_precision_bound,
    average_precision_gap,
    decode_local_search,
)
from ._sorting import decode_sort

__all__ = [
    "MOST_ITEMS",
    "MOST_ITEMS_EXACT",
    "average_precision_bound",
    "average_precision_gap",
    "average_precision_value",
    "decode_assignment",
    "decode_diagonal",
    "decode_local_search",
    "decode_sort",
    "decode_subsets",
]
