"""Displays in the style of scikit-learn: an object holds the data, and ``plot`` draws it."""

from ._comparison import RankerComparisonDisplay
from ._learning import QueryLearningCurveDisplay
from ._lengths import MeasureByLengthDisplay
from ._preferences import PreferenceMatrixDisplay
from ._rank_intervals import RankIntervalDisplay
from ._top import CumulativeGainsDisplay, PrecisionAtKDisplay

__all__ = [
    "CumulativeGainsDisplay",
    "MeasureByLengthDisplay",
    "PrecisionAtKDisplay",
    "PreferenceMatrixDisplay",
    "QueryLearningCurveDisplay",
    "RankIntervalDisplay",
    "RankerComparisonDisplay",
]
