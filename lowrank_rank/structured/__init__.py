"""Structured hinge losses: Shalev-Shwartz & Ben-David 2014, chapter 17."""

from ._binary import StructuredHingeBinaryClassifier
from ._classifier import StructuredHingeClassifier
from ._ranker import StructuredHingeRanker
from ._sequence_classifier import StructuredHingeSequenceClassifier, sequence_accuracy_scorer

__all__ = [
    "StructuredHingeBinaryClassifier",
    "StructuredHingeClassifier",
    "StructuredHingeRanker",
    "StructuredHingeSequenceClassifier",
    "sequence_accuracy_scorer",
]
