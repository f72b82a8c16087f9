"""What the theorems speak of: regret of an order, conditions on the distribution, margins."""

from ._margins import PrecisionMargins, precision_margins, precision_mistake_bound
from ._noise import NoiseReport, in_p_dag, in_p_f, in_p_reinforce, noise_report
from ._risks import all_ranks, conditional_regret, conditional_risks

__all__ = [
    "NoiseReport",
    "PrecisionMargins",
    "all_ranks",
    "conditional_regret",
    "conditional_risks",
    "in_p_dag",
    "in_p_f",
    "in_p_reinforce",
    "noise_report",
    "precision_margins",
    "precision_mistake_bound",
]
