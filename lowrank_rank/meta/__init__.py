"""Meta-estimators: several rankers in one, and other models as rankers."""

from ._stacking import StackingRanker
from ._wrapped import WrappedRanker

__all__ = ["StackingRanker", "WrappedRanker"]
