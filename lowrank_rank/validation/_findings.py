"""Findings of rules while a public call runs; it warns of them when it ends."""

import contextlib
import inspect
import os
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

#: Files whose frames are skipped, so that a warning names the caller's line.
_OWN_FILES = (str(Path(__file__).parents[1]) + os.sep, contextlib.__file__)

#: Findings of the call that runs, by rule and object; None outside of all calls.
_OF_CALL: ContextVar = ContextVar("findings of the call", default=None)

_Function = TypeVar("_Function", bound=Callable)


class Finding(NamedTuple):
    """What a rule found.

    Attributes
    ----------
    rule : str
        Name of the rule.
    sentence : str
        The text of the warning.
    category : type
        The class of the warning.
    about : str or None
        What the sentence is about, such as a column. A call warns once for each rule
        and object, by the last sentence: those of folds differ only in numbers.
    """

    rule: str
    sentence: Any
    category: type[Warning] = UserWarning
    about: Any = None


def found(rule, sentence, category=UserWarning, about=None):
    """Add a finding to those of the public call; outside of a call, warn at once."""
    hand_on([Finding(rule, sentence, category, about)])


def hand_on(findings):
    """Give findings to the call that runs; outside of all calls, warn."""
    of_call = _OF_CALL.get()
    if of_call is None:
        emit(findings)
        return
    for finding in findings:
        of_call[finding.rule, finding.about] = finding


def emit(findings):
    """Warn of each finding at the line of code outside this package that led here."""
    level = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
        frame = frame.f_back
        level += 1
    for finding in findings:
        warnings.warn(finding.sentence, finding.category, stacklevel=level)


class reporting:
    """Context of a public call: warns of its findings at the end, also after an error.

    A call inside another one hands its findings to the outer one.

    Parameters
    ----------
    ignore : type of warning, or tuple of types, default=()
        Categories without a warning.
    """

    __slots__ = ("_findings", "_ignore", "_token")

    def __init__(self, ignore=()):
        self._ignore = ignore

    def __enter__(self):
        self._findings: dict = {}
        self._token = _OF_CALL.set(self._findings)
        return self._findings

    def __exit__(self, *error):
        _OF_CALL.reset(self._token)
        if self._findings:
            findings = self._findings.values()
            hand_on([f for f in findings if not issubclass(f.category, self._ignore)])


def reports(function: _Function) -> _Function:
    """Decorate a public function that warns of its findings when it ends."""

    @wraps(function)
    def call(*args, **kwargs):
        with reporting():
            return function(*args, **kwargs)

    return cast(_Function, call)


def findings_so_far():
    """Return the findings of the call that runs, for the result of the call."""
    return tuple((_OF_CALL.get() or {}).values())


def with_findings(function, *args):
    """Call a function, perhaps in a worker; return its result and its findings.

    The caller hands them on. If the function raises, the worker warns of them.
    """
    with reporting() as of_call:
        result = function(*args)
        findings = list(of_call.values())
        of_call.clear()
    return result, findings
