"""Faults of input, planted into clean data: an example for each row of the checks.

A module for each area has `EXAMPLES` and the functions that make its clean data.
"""

import datetime
from collections.abc import Callable
from typing import NamedTuple

import numpy
import pandas
import polars
import scipy.sparse
import sklearn

import lowrank_rank

PUBLIC = [
    lowrank_rank,
    lowrank_rank.boosting,
    lowrank_rank.clicks,
    lowrank_rank.evaluation,
    lowrank_rank.votes,
]
#: What every line may use, beside the arguments of the call.
WORDS = {
    "datetime": datetime,
    "lowrank_rank": lowrank_rank,
    "numpy": numpy,
    "pandas": pandas,
    "polars": polars,
    "scipy": scipy,
    "sklearn": sklearn,
    **{name: getattr(module, name) for module in PUBLIC for name in module.__all__},
}


class Example(NamedTuple):
    """A fault, planted into clean data, and what each remedy is to give.

    Attributes
    ----------
    check : str
        Name of the check that finds it.
    clean : callable
        Makes the clean arguments of the call, a dict of names and values.
    fault : str
        Code that plants the fault into the arguments.
    call : str
        Code that computes `result` from the arguments.
    right : list of str
        For each remedy in order, code that makes, of clean arguments, those that the
        remedy is to give; "" where the remedy gives the clean arguments themselves.
        Never the remedy again: the right data are written by hand.
    """

    check: str
    clean: Callable
    fault: str
    call: str
    right: list = []  # noqa: RUF012
