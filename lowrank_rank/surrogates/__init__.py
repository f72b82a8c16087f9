"""Surrogates in score space: values and subgradients, usable without any estimator."""

from ._precision import PRECISION_SURROGATES, perceptron_step, precision_surrogate

__all__ = ["PRECISION_SURROGATES", "perceptron_step", "precision_surrogate"]
