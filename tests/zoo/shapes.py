"""The register of shapes, and what is noticed in a draw of one.

A shape is a function of a random generator that ends with the call of a user. Of an honest shape no
rule may speak in more than one of 200 draws, whatever the rule it is made for. A mistake has the
name of the rule or of the check that is to notice it, and the least share of draws.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..internals import InputError, reporting

#: Draws of each honest shape.
N_DRAWS = 200

#: Draws of each mistake in the tests; `python -m tests.zoo` takes 200.
N_DRAWS_OF_MISTAKES = 20

HONEST = {}
MISTAKES = {}


class Shape(NamedTuple):
    """A function of a generator, and the rule or check that it is made for."""

    call: Callable
    rule: str
    share: float
    draws_a_call: int


def honest(rule="", draws_a_call=1):
    """Register data of a right practice that this rule could take for its mistake."""

    def register(function):
        assert function.__name__ not in HONEST
        HONEST[function.__name__] = Shape(function, rule, 0.0, draws_a_call)
        return function

    return register


def mistake(rule, share=0.95, draws_a_call=1):
    """Register a mistake that this rule or check is to notice in this share of draws."""

    def register(function):
        assert function.__name__ not in MISTAKES
        MISTAKES[function.__name__] = Shape(function, rule, share, draws_a_call)
        return function

    return register


def noticed(shape, seed):
    """The rules that speak of a call, or the check that refuses it.

    A rule is there once, or once for each object that it names if these are the draws.
    """
    with reporting() as findings:
        try:
            shape.call(np.random.default_rng(seed))
            rules = [rule for rule, _ in findings]
        except InputError as error:
            rules = [error.check]
        findings.clear()
    return set(rules) if shape.draws_a_call == 1 else rules


def count(shape, n_draws=N_DRAWS):
    """The number of draws, of the seeds 0, 1, ..., in which each rule or check speaks."""
    seeds = range(n_draws // shape.draws_a_call)
    return Counter(rule for seed in seeds for rule in noticed(shape, seed))
