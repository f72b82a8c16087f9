"""Parameters of estimators, checked by a table; fits that are all or nothing.

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

from ._arrays import shown
from ._findings import reporting
from ._kinds import arrive, kind_of


class InvalidParameterError(ValueError, TypeError):
    """A parameter of a wrong type or value (as scikit-learn's error of this name)."""


class Rule(NamedTuple):
    """A test of a parameter, and its words in messages."""

    accepts: Callable[[Any], bool]
    words: str


# Rules ------------------------------------------------------------------------------

_COMPARISONS = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


def number(minimum=None, maximum=None, *, above=None, below=None):
    """Accept a finite real number; `above` and `below` exclude the bound itself."""
    bounds = {">=": minimum, ">": above, "<=": maximum, "<": below}
    bounds = {sign: bound for sign, bound in bounds.items() if bound is not None}

    def accepts(value):
        if not _is_a(value, Real):
            return False
        for sign, bound in bounds.items():
            if not _COMPARISONS[sign](value, bound):
                return False
        try:
            return bool(np.isfinite(float(value)))
        except OverflowError:  # an integer beyond the floating range
            return False

    words = " and ".join(f"{sign} {bound}" for sign, bound in bounds.items())
    return Rule(accepts, f"a finite number {words}".rstrip())


def count(minimum=1):
    """Accept an integer of at least `minimum`, small enough to count something."""

    def accepts(value):
        return _is_a(value, Integral) and minimum <= value <= sys.maxsize

    return Rule(accepts, f"an integer >= {minimum}")


def _is_a(value, kind):
    """Whether a value is a number of this kind; True and False are not."""
    return isinstance(value, kind) and not _is_flag(value)


def _is_flag(value):
    return isinstance(value, bool | np.bool_)


def _is_number_or_nan(value):
    return _is_a(value, Real) and not np.isinf(float(value))


def _is_none(value):
    return value is None


def _is_name(value):
    return isinstance(value, str)


def _is_label(value):
    """Whether a value can be one label: it is compared with others as a whole."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_predictor(estimator):
    if isinstance(estimator, type):
        return False
    return hasattr(estimator, "fit") and hasattr(type(estimator), "predict")


def _is_regressor(estimator):
    return _is_predictor(estimator) and not is_classifier(estimator)


def _is_pair(value):
    if isinstance(value, str) or not np.iterable(value):
        return False
    ends = list(value)
    if len(ends) != 2 or not all(_is_a(end, Real) for end in ends):
        return False
    return bool(np.isfinite(ends).all() and ends[0] < ends[1])


def _is_random_state(value):
    if _is_flag(value):
        return False
    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


def _is_number_of_jobs(value):
    return value is None or (_is_a(value, Integral) and value != 0)


def _is_verbosity(value):
    return _is_flag(value) or (_is_a(value, Integral) and value >= 0)


#: Models of real targets; a class, or a classifier, cannot be fitted to them.
regressor = Rule(_is_regressor, "an instance of a regressor with fit and predict")

#: Models of grades, which are numbers or classes.
predictor = Rule(
    _is_predictor, "an instance of a regressor or classifier with fit and predict"
)

#: A class, or the name of a ranker.
label = Rule(_is_label, "one label")

#: The value of what is undefined; nan leaves it out.
number_or_nan = Rule(_is_number_or_nan, "a number, finite, or nan")

#: Values that scikit-learn's `check_random_state` takes.
random_state = Rule(
    _is_random_state, "None, an integer in [0, 2**32 - 1] or a RandomState"
)

#: Number of jobs of joblib; -1 is one for each processor.
jobs = Rule(_is_number_of_jobs, "None or an integer other than 0")

#: Amount of printed progress: a flag or a level.
verbosity = Rule(_is_verbosity, "True, False or an integer >= 0")

#: The lowest and the highest value possible.
PAIR = Rule(_is_pair, "a pair of finite numbers, the lower one first,")

#: The level of confidence intervals.
LEVEL = [number(above=0, below=1)]
#: Parameters of all estimators that draw, run in parallel and report.
RUNTIME = {"n_jobs": [jobs], "random_state": [random_state], "verbose": [verbosity]}

#: Rules of the alternatives that Python has a name for.
_NAMED_RULES = {
    None: Rule(_is_none, "None"),
    bool: Rule(_is_flag, "True or False"),
    str: Rule(_is_name, "a name"),
    callable: Rule(callable, "a callable"),
}


# Checks -----------------------------------------------------------------------------


def check_parameter(name, value, alternatives):
    """Refuse a value that is not one of the alternatives, in one sentence.

    Raises
    ------
    InvalidParameterError
        The message names the parameter, its alternatives and the value.
    """
    if callable in alternatives:
        refuse_class(value, name)
    names = []
    rules = []
    for alternative in alternatives:
        if isinstance(alternative, str):
            names.append(alternative)
        else:
            rules.append(_NAMED_RULES.get(alternative, alternative))
    if isinstance(value, str) and value in names:
        return
    if any(rule.accepts(value) for rule in rules):
        return
    is_tensor = kind_of(value) == "tensor"
    if not is_tensor:  # a tensor of one number needs a line of its own
        arrive(**{name: value})
    if isinstance(value, list | tuple):
        pairs = [one for one in value if isinstance(one, tuple) and len(one) == 2]
        arrive(**{part: model for part, model in pairs if isinstance(part, str)})
    words = [rule.words for rule in rules]
    if len(names) == 1:
        words.insert(0, repr(names[0]))
    elif names:
        words.insert(0, f"one of {sorted(names)}")
    got = shown(value)
    if is_tensor:
        got = f"a tensor: write {name}.item()"
    raise InvalidParameterError(f"{name} must be {' or '.join(words)}, got {got}.")


def refuse_class(value, name):
    """Refuse a class in place of an object of the class."""
    if isinstance(value, type):
        raise InvalidParameterError(
            f"{name} must be an object, got a class: write {value.__name__}()."
        )


def check_parameters(estimator):
    """Refuse the first parameter that is not in the table of the estimator's class."""
    for name, alternatives in estimator._parameters.items():
        check_parameter(name, getattr(estimator, name), alternatives)


_Function = TypeVar("_Function", bound=Callable)


def checked(**table: list) -> Callable[[_Function], _Function]:
    """Decorate a function whose arguments are checked by a table.

    Arguments with a name of `RUNTIME` are checked by `RUNTIME`, unless they are in the
    table.
    """

    def decorate(function):
        signature = inspect.signature(function)
        rules = {
            name: RUNTIME[name] for name in RUNTIME if name in signature.parameters
        }
        rules.update(table)

        @wraps(function)
        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, alternatives in rules.items():
                check_parameter(name, bound.arguments[name], alternatives)
            with reporting():
                return function(*args, **kwargs)

        return call

    return cast(Callable[[_Function], _Function], decorate)


def by_keyword(line: str) -> Callable[[_Function], _Function]:
    """Decorate a function without positional arguments; messages show the `line`."""

    def decorate(function):
        @wraps(function)
        def call(*args, **kwargs):
            if args:
                raise TypeError(
                    f"{function.__name__} takes its arguments by name: {line}."
                )
            return function(**kwargs)

        return call

    return cast(Callable[[_Function], _Function], decorate)


# Fits -------------------------------------------------------------------------------


def fresh_fit(estimator):
    """Run a new fit, `all_or_nothing`, without the attributes of an earlier fit."""
    return all_or_nothing(estimator, forget=True)


@contextmanager
def all_or_nothing(estimator, *, forget=False):
    """Check the parameters; restore the estimator's state if the block raises.

    With `forget` the fitted attributes, public and private, are removed first: their
    names end in an underscore.
    """
    check_parameters(estimator)
    before = dict(vars(estimator))
    if forget:
        for name in before:
            if name.endswith("_") and not name.startswith("__"):
                delattr(estimator, name)
    try:
        with reporting():  # a warning that is an error undoes the fit too
            yield
    except BaseException:  # an interrupted fit too
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def say(estimator, line):
    """Print a line of progress if the estimator is `verbose`."""
    if estimator.verbose:
        print(f"[{type(estimator).__name__}] {line}", flush=True)


# Docstrings -------------------------------------------------------------------------


def inherit_docstrings(cls):
    """Complete the docstrings of a class's public methods from those they replace.

    A method without a docstring gets the whole of it; a method whose docstring has no
    section gets the sections, from "Parameters" on.
    """
    parent = super(cls, cls)
    for name, method in vars(cls).items():
        is_method = inspect.isroutine(method) or isinstance(method, property)
        if name.startswith("_") or not is_method or not hasattr(parent, name):
            continue
        inherited = inspect.getdoc(getattr(parent, name)) or ""
        own = inspect.cleandoc(method.__doc__ or "")
        sections = inherited.find("\n\nParameters\n")
        has_sections = "\n---" in own
        if not own:
            method.__doc__ = inherited
        elif sections > 0 and not has_sections:
            method.__doc__ = own + inherited[sections:]
