"""How input is refused: a check finds a fault, and prints lines that fix it.

A table of checks stands in each `_checks*.py`. `refuse` asks checks in their order and
raises for the first that finds something. A test plants each fault into clean data,
reads the sentence, runs each remedy, and compares the result with that of clean data.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

# What is raised ---------------------------------------------------------------------


class InputError(Exception):
    """The input does not fit.

    Attributes
    ----------
    check : str
        Name of the check that found the fault.
    remedies : tuple of str
        The lines of code of the message, in the names of the arguments.
    """

    def __init__(self, message, check="", remedies=()):
        super().__init__(message)
        self.check = check
        self.remedies = tuple(remedies)


class InputValueError(InputError, ValueError):
    """The input has the right type but wrong values."""


class InputTypeError(InputError, TypeError):
    """The input has the wrong type."""


_CLASSES = {ValueError: InputValueError, TypeError: InputTypeError}

# The table --------------------------------------------------------------------------


class Check(NamedTuple):
    """A fault that input may have.

    Attributes
    ----------
    name : str
        `tests/input_examples/` has an example of this name for each kind of object
        that may have the fault: lists, arrays, frames of pandas and polars, sparse.
    finds : callable
        Takes `Given`; returns the words of the sentence, a dict, or None without a
        fault.
    sentence : str
        What is wrong, where, and what to do, with the words in braces.
    remedies : dict of str to str
        Condition -> the code that fixes it, in the names of the arguments, with the
        words in braces. An empty remedy is not printed.
    raises : {ValueError, TypeError}
    """

    name: str
    finds: Callable[[Any], dict | None]
    sentence: str
    remedies: dict[str, str] = {}  # noqa: RUF012
    raises: type = ValueError


class Given(SimpleNamespace):
    """The arguments of a call by name, and what was read from them.

    An argument that a call does not have is None.
    """

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def refuse(checks, given=None, /, **arguments):
    """Raise the error of the first check that finds something.

    Parameters
    ----------
    checks : list of Check
    given : Given or None, default=None
    **arguments : dict
        The arguments of `Given`, where it is None.
    """
    if given is None:
        given = Given(**arguments)
    for check in checks:
        words = check.finds(given)
        if words is not None:
            raise error_of(check, words) from given.error


def error_of(check, words):
    """Word a fault: the sentence, and each remedy on lines of its own.

    One short remedy without a condition ends the sentence.
    """
    lines = [check.sentence.format(**words)]
    remedies = []
    for when, code in check.remedies.items():
        code = code.format(**words)
        if not code:  # of no use for this input
            continue
        remedies.append(code)
        if not when and "\n" not in code:
            lines[0] += f" Write {code}"
            continue
        lines.append(f"{when.format(**words) or 'Write'}:")
        lines += [f"    {line}" for line in code.splitlines()]
    return _CLASSES[check.raises]("\n".join(lines), check.name, remedies)
