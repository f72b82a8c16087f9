"""Precision at the top of a list (Kar, Narasimhan & Jain 2015)."""

from ._perceptron import PrecisionAtKPerceptron

__all__ = ["PrecisionAtKPerceptron"]
