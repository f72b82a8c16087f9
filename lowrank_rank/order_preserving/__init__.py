"""Order-preserving surrogates and regret bounds (Calauzènes, Usunier & Gallinari 2013)."""

from ._regressor import OrderPreservingRegressor

__all__ = ["OrderPreservingRegressor"]
