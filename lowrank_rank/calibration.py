"""Quantities of the theorems: regret, its bounds, noise conditions and margins."""

from .low_rank._calibration import calibration_report, conditional_regret
from .order_preserving._bounds import is_order_preserving, regret_bound
from .precision_at_top._surrogates import precision_margins
from .preferences._noise import noise_report

__all__ = [
    "calibration_report",
    "conditional_regret",
    "is_order_preserving",
    "noise_report",
    "precision_margins",
    "regret_bound",
]
