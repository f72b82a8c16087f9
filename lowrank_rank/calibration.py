"""Quantities of the theorems: regret, its bounds, conditions on the distribution, margins."""

from .low_rank._calibration import CalibrationCheck, CalibrationReport, calibration_report
from .low_rank._risks import all_ranks, conditional_regret, conditional_risks
from .order_preserving._bounds import C_phi, OrderCheck, is_order_preserving, regret_bound
from .precision_at_top._surrogates import (
    PrecisionMargins,
    precision_margins,
    precision_mistake_bound,
)
from .preferences._noise import NoiseReport, in_p_dag, in_p_f, in_p_reinforce, noise_report
from .structured._classifiers import perceptron_mistake_bound

__all__ = [
    "C_phi",
    "CalibrationCheck",
    "CalibrationReport",
    "NoiseReport",
    "OrderCheck",
    "PrecisionMargins",
    "all_ranks",
    "calibration_report",
    "conditional_regret",
    "conditional_risks",
    "in_p_dag",
    "in_p_f",
    "in_p_reinforce",
    "is_order_preserving",
    "noise_report",
    "perceptron_mistake_bound",
    "precision_margins",
    "precision_mistake_bound",
    "regret_bound",
]
