"""Parameters of estimators, checked by a table of each class; fits that are all or nothing.

A class lists in ``_parameters`` the alternatives of each of its parameters:

    _parameters = {
        "alpha": [number(0)],
        "max_iter": [count(), None],
        "decoder": ["auto", "sort"],
        "centered": [bool],
        "estimator": [regressor, "auto"],
    }

A string or None stands for itself, `bool` for True and False, `str` for any name,
`callable` for any callable. The other alternatives are rules of this module.
"""

import inspect
import operator
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from ._arrays import plain


class Rule(NamedTuple):
    """A test of a parameter, and its words in messages."""

    accepts: Callable[[Any], bool]
    words: str


class InvalidParameterError(ValueError, TypeError):
    """A parameter of a wrong type or value (as scikit-learn's error of this name)."""


_SIGNS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


def number(minimum=None, maximum=None, *, above=None, below=None):
    """A finite real number within bounds; `above` and `below` exclude the bound itself."""
    limits = zip(_SIGNS, (minimum, above, maximum, below), strict=True)
    bounds = [(sign, bound) for sign, bound in limits if bound is not None]

    def accepts(value):
        within = _is_a(value, Real) and all(
            _SIGNS[sign](value, bound) for sign, bound in bounds
        )
        try:
            return within and bool(np.isfinite(float(value)))
        except OverflowError:  # an integer beyond the floating range
            return False

    words = " and ".join(f"{sign} {bound}" for sign, bound in bounds)
    return Rule(accepts, f"a finite number {words}".rstrip())


def count(minimum=1):
    """An integer of at least `minimum`, small enough to count something."""
    return Rule(
        lambda value: _is_a(value, Integral) and minimum <= value <= sys.maxsize,
        f"an integer >= {minimum}",
    )


def _is_a(value, kind):
    """Whether a value is a number of this kind; True and False are none."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def _fits_and_predicts(estimator):
    fits = hasattr(estimator, "fit") and hasattr(type(estimator), "predict")
    return fits and not isinstance(estimator, type)


#: Models of real targets; a class, or a classifier, cannot be fitted to them.
regressor = Rule(
    lambda value: _fits_and_predicts(value) and not is_classifier(value),
    "an instance of a regressor with fit and predict",
)

#: Models of grades, which are numbers or classes.
predictor = Rule(
    _fits_and_predicts, "an instance of a regressor or classifier with fit and predict"
)


def _is_random_state(value):
    try:
        return not isinstance(value, bool | np.bool_) and bool(
            check_random_state(value)
        )
    except ValueError:
        return False


#: Values that scikit-learn's `check_random_state` takes.
random_state = Rule(
    _is_random_state, "None, an integer in [0, 2**32 - 1] or a RandomState"
)

#: Number of jobs of joblib; -1 is one for each processor.
jobs = Rule(
    lambda value: value is None or (_is_a(value, Integral) and value != 0),
    "None or an integer other than 0",
)

#: Amount of printed progress: a flag or a level.
verbosity = Rule(
    lambda value: (
        isinstance(value, bool | np.bool_) or (_is_a(value, Integral) and value >= 0)
    ),
    "True, False or an integer >= 0",
)

#: The level of confidence intervals.
LEVEL = [number(above=0, below=1)]
#: Parameters of all estimators that draw, run in parallel and report.
RUNTIME = {"n_jobs": [jobs], "random_state": [random_state], "verbose": [verbosity]}

_SPELLED = {
    None: Rule(lambda value: value is None, "None"),
    bool: Rule(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    str: Rule(lambda value: isinstance(value, str), "a name"),
    callable: Rule(callable, "a callable"),
}


def check_parameter(name, value, alternatives):
    """Refuse a value that is none of the alternatives, in one sentence.

    Raises
    ------
    InvalidParameterError
        The message names the parameter, its alternatives and the value.
    """
    rules = [_SPELLED.get(one, one) for one in alternatives if not isinstance(one, str)]
    names = sorted(one for one in alternatives if isinstance(one, str))
    if names:
        words = f"one of {names}" if len(names) > 1 else repr(names[0])
        rules.insert(
            0, Rule(lambda value: isinstance(value, str) and value in names, words)
        )
    if not any(rule.accepts(value) for rule in rules):
        words = " or ".join(rule.words for rule in rules)
        raise InvalidParameterError(f"{name} must be {words}, got {plain(value)!r}.")


_Function = TypeVar("_Function", bound=Callable)


def checked(**table: list) -> Callable[[_Function], _Function]:
    """Decorate a function whose arguments are checked by a table, as parameters of estimators.

    Arguments with a name of `RUNTIME` are checked by `RUNTIME`, unless they are in the
    table.
    """

    def decorate(function):
        signature = inspect.signature(function)
        names = [name for name in RUNTIME if name in signature.parameters]
        rules = {**{name: RUNTIME[name] for name in names}, **table}

        @wraps(function)
        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, alternatives in rules.items():
                check_parameter(name, bound.arguments[name], alternatives)
            return function(*args, **kwargs)

        return call

    return cast(Callable[[_Function], _Function], decorate)


def check_parameters(estimator):
    """Refuse the first parameter of an estimator that is not in the table of its class."""
    for name, alternatives in estimator._parameters.items():
        check_parameter(name, getattr(estimator, name), alternatives)


def say(estimator, line):
    """Print a line of progress if the estimator is `verbose`."""
    if estimator.verbose:
        print(f"[{type(estimator).__name__}] {line}", flush=True)


@contextmanager
def all_or_nothing(estimator, *, forget=False):
    """Check the parameters; restore the estimator's state if the block raises.

    With `forget` the fitted attributes, which end in an underscore, are removed first.
    """
    check_parameters(estimator)
    before = dict(vars(estimator))
    if forget:
        for name in before:
            if name.endswith("_") and not name.startswith("__"):
                delattr(estimator, name)
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def fresh_fit(estimator):
    """Run a new fit, `all_or_nothing`, without the attributes of an earlier fit."""
    return all_or_nothing(estimator, forget=True)


def inherit_docstrings(cls):
    """Give the public methods of a class what their docstrings share with those they replace.

    A method without a docstring gets the whole of it; a method whose docstring has no
    section gets the sections, from "Parameters" on.
    """
    for name, value in vars(cls).items():
        is_method = inspect.isroutine(value) or isinstance(value, property)
        if name.startswith("_") or not is_method or not hasattr(super(cls, cls), name):
            continue
        replaced = inspect.getdoc(getattr(super(cls, cls), name)) or ""
        own, start = (
            inspect.cleandoc(value.__doc__ or ""),
            replaced.find("\n\nParameters\n"),
        )
        if not own:
            value.__doc__ = replaced
        elif start > 0 and "\n---" not in own:
            value.__doc__ = own + replaced[start:]
