"""What the theorems speak of: regret of an order, conditions on the distribution, margins."""

from ._margins import PrecisionMargins, precision_margins, precision_mistake_bound
from ._noise import NoiseReport, in_p_dag, in_p_f, in_p_reinforce, noise_report
from ._order_preserving import C_phi, OrderCheck, is_order_preserving, regret_bound
from ._risks import all_ranks, conditional_regret, conditional_risks

__all__ = [
    "C_phi",
    "NoiseReport",
    "OrderCheck",
    "PrecisionMargins",
    "all_ranks",
    "conditional_regret",
    "conditional_risks",
    "in_p_dag",
    "in_p_f",
    "in_p_reinforce",
    "is_order_preserving",
    "noise_report",
    "precision_margins",
    "precision_mistake_bound",
    "regret_bound",
]
