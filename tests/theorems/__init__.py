"""The numbered items of the four sources: what each says, its callable and its proof.

``python -m tests.theorems`` counts the rows by source, and
``python -m tests.theorems SEED`` runs their proofs on the data of a seed; with
``--first`` it stops at the first that fails.
``doc/generate.py`` writes the page of theorems from the same rows.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from numpy.testing import assert_allclose


class Row(NamedTuple):
    """A numbered item, or a section whose formulas have no number.

    The proof is functions of a random generator, `checks`, and names of `tests`,
    "test_module::test_name". An item without both is a step of a proof, `step_of`, or
    is not in the package, `missing`.
    """

    number: str
    says: str
    name: str = ""
    checks: tuple[Callable[[Any], None], ...] = ()
    tests: tuple[str, ...] = ()
    step_of: str = ""
    missing: str = ""

    @property
    def kind(self) -> str:
        """Return "proved", "step" or "missing"."""
        if self.checks or self.tests:
            return "proved"
        return "step" if self.step_of else "missing"

    @property
    def proofs(self) -> list[str]:
        """Name the checks and the tests."""
        checks = [
            f"{check.__module__.removeprefix('tests.')}.{check.__name__}"
            for check in self.checks
        ]
        return [*checks, *self.tests]


class Source(NamedTuple):
    """A paper or a chapter, with its rows in the order of the source."""

    title: str
    rows: list[Row]


def sources() -> list[Source]:
    """List the four sources."""
    from . import calauzenes, kar, ramaswamy, shalev_shwartz

    return [module.SOURCE for module in (ramaswamy, calauzenes, kar, shalev_shwartz)]


def assert_close(found, expected, atol=1e-9):
    """Compare numbers up to rounding."""
    assert_allclose(found, expected, rtol=1e-7, atol=atol)


def run_proof(proof, rng):
    """Run a check on data of `rng`, or a test by its name: all its parameters."""
    if callable(proof):
        proof(rng)
        return
    test = named_test(proof)
    done = []
    for arguments in parameters_of(test):
        seed = arguments.pop("seed", 0)  # the first of the test's own list
        if arguments in done:
            continue
        done.append(arguments)
        if "seed" in inspect.signature(test).parameters:
            arguments = {**arguments, "seed": seed}
        test(**arguments)


def named_test(proof):
    """Return the test of a name "test_module::test_name"."""
    module, name = proof.split("::")
    return getattr(import_module(f"tests.{module}"), name)


def parameters_of(test):
    """List the arguments of each call of a parametrized test."""
    marks = [
        mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"
    ]
    tables = []
    for mark in marks:
        names, values = mark.args[:2]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        rows = []
        for value in values:
            value = getattr(value, "values", value) if is_param(value) else value
            row = value if len(names) > 1 or is_param(value) else (value,)
            rows.append(dict(zip(names, row, strict=True)))
        tables.append(rows)
    for parts in itertools.product(*tables):
        yield {name: value for part in parts for name, value in part.items()}


def is_param(value):
    """Return whether a value is a ``pytest.param``."""
    return type(value).__name__ == "ParameterSet"
