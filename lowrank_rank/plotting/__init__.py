"""Displays as in scikit-learn: an object holds the data, and ``plot`` draws it."""

from ._comparison import RankerComparisonDisplay
from ._importances import PermutationImportanceDisplay
from ._preferences import PreferenceMatrixDisplay
from ._rank_intervals import RankIntervalDisplay
from ._top import PrecisionAtKDisplay

__all__ = [
    "PermutationImportanceDisplay",
    "PrecisionAtKDisplay",
    "PreferenceMatrixDisplay",
    "RankIntervalDisplay",
    "RankerComparisonDisplay",
]
