"""LightGBM and XGBoost: surrogates as objectives, measures of lists as metrics."""

from .order_preserving._boosting import boosting_metric, boosting_objective

__all__ = ["boosting_metric", "boosting_objective"]
