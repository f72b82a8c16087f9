"""Order-preserving surrogates and regret bounds (Calauzènes, Usunier & Gallinari 2013)."""

from ._hist_gradient_boosting import HistGradientBoostingRanker
from ._regressor import OrderPreservingRegressor

__all__ = ["HistGradientBoostingRanker", "OrderPreservingRegressor"]
