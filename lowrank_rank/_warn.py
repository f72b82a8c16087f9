"""Warnings that name the line of the caller."""

import inspect
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn(message, category=UserWarning):
    """Warn at the line of code outside this package that led here."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
