"""Docstrings of public objects: every parameter and every result is described."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest

import lowrank_rank

validate = pytest.importorskip("numpydoc.validate").validate

#: No docstring; parameters that are missing, unknown, in another order or not described; results
#: likewise.
CODES = {"GL08", "PR01", "PR02", "PR03", "PR07", "RT03"}


def public_modules():
    for info in iter_modules(lowrank_rank.__path__, "lowrank_rank."):
        if "._" not in info.name and info.name != "lowrank_rank.dask":
            module = import_module(info.name)
            if hasattr(module, "__all__"):
                yield module
    yield lowrank_rank


def public_objects():
    """Names of the public functions and classes, and of the methods that the package writes."""
    found = {}
    for module in public_modules():
        for name in module.__all__:
            value, path = getattr(module, name), f"{module.__name__}.{name}"
            if callable(value):
                found[id(value)] = path
            for method in written_methods(value) if inspect.isclass(value) else ():
                found[id(value), method] = f"{path}.{method}"
    return found.values()


def written_methods(cls):
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("lowrank_rank")
        for name, value in vars(base).items()
        if not name.startswith("_")
        and inspect.isroutine(getattr(value, "__func__", value))
    }


def test_parameters_and_results_are_described():
    wrong = {}
    for name in public_objects():
        found = validate(name)
        for code, text in found["errors"]:
            if code in CODES:
                wrong.setdefault(name, []).append(f"{code}: {text}")
    assert not wrong


@pytest.mark.parametrize("module", ["metrics", "plotting", "model_selection"])
def test_what_only_evaluates_takes_a_measure(module):
    """`target_loss` is what an estimator is trained for."""
    module = import_module(f"lowrank_rank.{module}")
    evaluating = [getattr(module, name) for name in module.__all__]
    for value in [
        *evaluating,
        lowrank_rank.boosting.boosting_metric,
        lowrank_rank.make_ranking_scorer,
    ]:
        assert "target_loss" not in inspect.signature(value).parameters, value


@pytest.mark.parametrize(
    "function",
    [lowrank_rank.make_ranking_scorer, lowrank_rank.boosting.boosting_metric],
)
def test_the_measure_of_scorers_and_metrics_has_its_name(function):
    made = function(measure="precision@1")
    assert "recision" in str(made.measure)
