"""Parameters of estimators, checked by a table for each class; and fits that are all or nothing.

A class lists in ``_parameters`` the alternatives that each of its parameters may be:

    _parameters = {
        "alpha": [number(0)],
        "max_iter": [count(), None],
        "solver": ["auto", "gram", "lsqr"],
        "centered": [bool],
        "estimator": [regressor, None],
    }

A string or None stands for itself, `bool` for True and False, `callable` for any callable; the
rest are rules of this module.
"""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_scalar

from ._arrays import plain


class Rule(NamedTuple):
    """What a parameter may be: a test, and its words in messages."""

    accepts: Callable[[Any], bool]
    words: str


class InvalidParameterError(ValueError, TypeError):
    """A parameter that is none of what it may be, by type or by value (as scikit-learn's)."""


def number(minimum=None, maximum=None, *, above=None, below=None):
    """A finite real number within bounds; `above` and `below` leave the bound itself out."""
    low, high = (minimum if above is None else above), (maximum if below is None else below)
    closed = "both"
    if above is not None or below is not None:
        closed = "left" if minimum is not None else "right" if maximum is not None else "neither"
    words = [
        f"{sign} {bound}"
        for sign, bound in ((">=", minimum), (">", above), ("<=", maximum), ("<", below))
        if bound is not None
    ]
    return Rule(
        lambda value: _is_scalar(value, Real, low, high, closed) and _is_finite(value),
        " and ".join(["a finite number " + words[0], *words[1:]]) if words else "a finite number",
    )


def count(minimum=1):
    """An integer of at least `minimum`, small enough to count something."""
    return Rule(
        lambda value: _is_scalar(value, Integral, minimum, sys.maxsize), f"an integer >= {minimum}"
    )


def _is_scalar(value, kind, low=None, high=None, closed="both"):
    if isinstance(value, bool | np.bool_):
        return False
    try:
        check_scalar(value, "value", kind, min_val=low, max_val=high, include_boundaries=closed)
    except (TypeError, ValueError):
        return False
    return True


def _is_finite(value):
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # an integer beyond the floating range
        return False


def _takes_fit_and_predict(estimator):
    fits = hasattr(estimator, "fit") and hasattr(type(estimator), "predict")
    return fits and not isinstance(estimator, type)


#: What can be fitted to real targets; a class, or a classifier, cannot.
regressor = Rule(
    lambda value: _takes_fit_and_predict(value) and not is_classifier(value),
    "an instance of a regressor with fit and predict",
)

#: What can be fitted to grades, as numbers or as classes.
predictor = Rule(
    _takes_fit_and_predict, "an instance of a regressor or classifier with fit and predict"
)


def _is_random_state(value):
    seed = _is_scalar(value, Integral, 0, 2**32 - 1)
    return seed or value is None or value is np.random or isinstance(value, np.random.RandomState)


#: What scikit-learn's `check_random_state` takes.
random_state = Rule(_is_random_state, "None, an integer in [0, 2**32 - 1] or a RandomState")

#: How many jobs joblib starts: -1 is one for each processor.
jobs = Rule(
    lambda value: value is None or (_is_scalar(value, Integral) and value != 0),
    "None or an integer other than 0",
)

#: How much is printed: a flag or a level.
verbosity = Rule(
    lambda value: isinstance(value, bool | np.bool_) or _is_scalar(value, Integral, 0),
    "True, False or an integer >= 0",
)

#: What estimators that draw, run in parallel and report have in common.
RUNTIME = {"n_jobs": [jobs], "random_state": [random_state], "verbose": [verbosity]}

#: A name of which only the target loss knows whether there is one of it.
name_of_decoder = Rule(lambda value: isinstance(value, str), "a name")

_SPELLED = {
    None: Rule(lambda value: value is None, "None"),
    bool: Rule(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    callable: Rule(callable, "a callable"),
}


def _rules_of(alternatives):
    names = [one for one in alternatives if isinstance(one, str)]
    if names:
        words = f"one of {sorted(names)}" if len(names) > 1 else repr(names[0])
        yield Rule(lambda value: isinstance(value, str) and value in names, words)
    for one in alternatives:
        if not isinstance(one, str):
            yield _SPELLED.get(one, one)


def check_parameter(name, value, alternatives):
    """Refuse a value that is none of the alternatives, in one sentence.

    Raises
    ------
    InvalidParameterError
        Naming the parameter, what it may be, and what it is.
    """
    rules = list(_rules_of(alternatives))
    if not any(rule.accepts(value) for rule in rules):
        words = " or ".join(rule.words for rule in rules)
        raise InvalidParameterError(f"{name} must be {words}, got {plain(value)!r}.")


def check_parameters(estimator):
    """Refuse the first parameter of an estimator that its class's table does not take."""
    for name, alternatives in estimator._parameters.items():
        check_parameter(name, getattr(estimator, name), alternatives)


@contextmanager
def all_or_nothing(estimator):
    """Leave the estimator exactly as it was if anything in the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def fresh_fit(estimator):
    """`all_or_nothing` for a fit that starts anew: no fitted attribute of an earlier one is left.

    Fitted attributes, public and private, end in an underscore.
    """
    with all_or_nothing(estimator):
        for name in [n for n in vars(estimator) if n.endswith("_") and not n.startswith("__")]:
            delattr(estimator, name)
        yield


def is_ridge(estimator):
    """Whether the fit to documents is ridge regression."""
    return isinstance(estimator, str) and estimator in ("auto", "ridge")


def is_linear(estimator):
    """Whether a linear model of ours is all that sees X."""
    return isinstance(estimator, str) and estimator != "trees"
