"""Warnings that name the line of the caller, once for each search."""

import inspect
import re
import threading
import warnings
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from joblib import Parallel

_PACKAGE = str(Path(__file__).parents[1])
#: Sentences of the warnings of each search. scikit-learn changes the filters in each
#: fold, so that Python forgets them.
_SENTENCES_OF_SEARCHES: WeakKeyDictionary = WeakKeyDictionary()
#: The list of `collecting` or `WarningsOnce`, or None.
_COLLECTED: ContextVar = ContextVar("collected", default=None)
#: What may differ between two warnings of one sentence: numbers, outside quotes.
_NUMBERS = re.compile(r"('[^']*')|\b\d[\d.,e+-]*\b")


def warn(message, category=UserWarning):
    """Warn at the line of code outside this package that led here.

    Within the fit of a search, of another model with ``cv``, or a call of joblib, as in
    cross-validation, each sentence comes once, whatever its numbers.
    """
    collected = _COLLECTED.get()
    if collected is not None:
        collected.append(_as_text(message, category))
        return
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    search = _search_around(frame)
    if search is not None:
        sentences = _SENTENCES_OF_SEARCHES.setdefault(search, set())
        sentence = _sentence_of(str(message))
        if sentence in sentences:
            return
        sentences.add(sentence)
    warnings.warn(message, category, stacklevel=level)


def collecting(function, *args):
    """Call a function, perhaps in a worker; return its result and its warnings.

    A warning is a pair (message, category), and is not given. Warnings of other
    packages are among them, if the filters let them pass; those of a thread are given.
    """
    collected: list = []
    token = _COLLECTED.set(collected)
    # Python has one place for the recorded warnings of all threads.
    is_main = threading.current_thread() is threading.main_thread()
    recording: Any = warnings.catch_warnings(record=True)
    try:
        with recording if is_main else nullcontext(()) as others:
            result = function(*args)
    finally:
        _COLLECTED.reset(token)
    collected += [_as_text(one.message, one.category) for one in others]
    return result, collected


class WarningsOnce:
    """Context that gives each warning of its block once, at the end.

    Of warnings that differ in numbers only, as in folds, the last one is given.
    """

    def __enter__(self):
        self.collected: list = []
        self.token = _COLLECTED.set(self.collected)

    def __exit__(self, *error):
        _COLLECTED.reset(self.token)
        last = {}
        for message, category in self.collected:
            last[_sentence_of(message)] = (message, category)
        for message, category in last.values():
            warn(message, category)


def _as_text(message, category):
    """Return the text of a warning, and a category that takes a text alone.

    `message` may be a warning. One with other arguments gets the class that it extends.
    """
    if isinstance(message, Warning):
        category = type(message)
    classes: Any = category.__mro__
    of_text = next(one for one in classes if not isinstance(one.__init__, FunctionType))
    return str(message), of_text


def _sentence_of(message):
    """Return a message without its numbers."""
    return _NUMBERS.sub(r"\1", message)


def _search_around(frame):
    """Return the outermost search, or call of joblib, that runs.

    A search is a model with ``cv`` and ``estimator``.
    """
    search = None
    while frame is not None:
        model = frame.f_locals.get("self")
        has_fit = hasattr(type(model), "fit")
        is_search = has_fit and hasattr(model, "cv") and hasattr(model, "estimator")
        if is_search or isinstance(model, Parallel):
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
