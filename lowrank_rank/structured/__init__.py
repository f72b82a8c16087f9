"""Structured hinge losses: Shalev-Shwartz & Ben-David 2014, chapter 17."""

from ._classifiers import StructuredHingeBinaryClassifier, StructuredHingeClassifier
from ._hinge_ranker import StructuredHingeRanker
from ._sequences import StructuredHingeSequenceClassifier

__all__ = [
    "StructuredHingeBinaryClassifier",
    "StructuredHingeClassifier",
    "StructuredHingeRanker",
    "StructuredHingeSequenceClassifier",
]
