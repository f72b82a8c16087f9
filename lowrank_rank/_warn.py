"""Warnings that name the line of the caller, once for each search."""

import inspect
import warnings
from pathlib import Path
from weakref import WeakKeyDictionary

_PACKAGE = str(Path(__file__).parent)
#: Texts of the warnings of each search. scikit-learn changes the filters in each fold,
#: so that Python forgets them.
_TEXTS_OF_SEARCHES: WeakKeyDictionary = WeakKeyDictionary()


def warn(message, category=UserWarning):
    """Warn at the line of code outside this package that led here.

    Within the fit of a search, or of another model with ``cv``, each text comes once.
    """
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    search = _search_around(frame)
    if search is not None:
        texts = _TEXTS_OF_SEARCHES.setdefault(search, set())
        if message in texts:
            return
        texts.add(message)
    warnings.warn(message, category, stacklevel=level)


def _search_around(frame):
    """Return the outermost model with ``cv`` and ``estimator`` whose method runs."""
    search = None
    while frame is not None:
        model = frame.f_locals.get("self")
        has_fit = hasattr(type(model), "fit")
        if has_fit and hasattr(model, "cv") and hasattr(model, "estimator"):
            search = model
        frame = frame.f_back
    return search


def warn_of_other_columns(columns, expected, who, remedy=""):
    """Warn of columns that a function does not read.

    `who` begins the first sentence, and `remedy` is the second one.
    """
    expected = [name for name in expected if name is not None]
    others = [name for name in columns if name not in expected]
    if others:
        warn(
            f"{who} does not read the columns {others[:5]}: it reads {expected}."
            f"{remedy}"
        )
