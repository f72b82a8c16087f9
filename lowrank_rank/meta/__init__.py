"""Meta-estimators: other models as rankers."""

from ._boosters import BoosterRanker
from ._pointwise import PointwiseRanker
from ._stacking import StackingRanker

__all__ = ["BoosterRanker", "PointwiseRanker", "StackingRanker"]
