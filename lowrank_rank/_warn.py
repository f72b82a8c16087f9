"""Warnings that name the line of the caller."""

import inspect
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn(message, category=UserWarning):
    """Warn at the line of code outside this package that led here."""
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_other_columns(columns, expected, who):
    """Warn of columns that a function does not read; `who` begins the sentence."""
    others = [name for name in columns if name not in expected]
    if others:
        warn(f"{who} does not read the columns {others[:5]}: it reads {expected}.")
