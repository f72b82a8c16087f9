"""Surrogates in score space: values and gradients, usable without any estimator."""

from .order_preserving._bounds import surrogate_loss
from .order_preserving._surrogates import (
    SURROGATES,
    BregmanSurrogate,
    Surrogate,
    SurrogateValues,
)
from .precision_at_top._surrogates import precision_surrogate
from .structured._hinges import structured_hinge

__all__ = [
    "SURROGATES",
    "BregmanSurrogate",
    "Surrogate",
    "SurrogateValues",
    "precision_surrogate",
    "structured_hinge",
    "surrogate_loss",
]
