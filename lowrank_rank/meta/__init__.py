"""Meta-estimators: other models as rankers."""

from ._boosters import BoosterRanker
from ._pointwise import PointwiseRanker

__all__ = ["BoosterRanker", "PointwiseRanker"]
