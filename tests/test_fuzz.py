"""The fuzzer of `python -m benchmarks fuzz` for some seconds; and that it sees what it is for."""

import warnings
from argparse import ArgumentParser, Namespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

import lowrank_rank
from lowrank_rank import LowRankSurrogateRanker

from .fuzz.cases import PARAMETERS, Choices
from .fuzz.fuzz import (
    Caller,
    FuzzFailure,
    Refused,
    add_arguments,
    check_close,
    run,
    run_case,
)
from .fuzz.invariances import run_invariance
from .internals import decode_sort


@settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=120,
    suppress_health_check=list(HealthCheck),
)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_drawn_cases(data, seed):
    """Cases of hypothesis, which shrinks a failure to the plainest choices."""
    run_case(
        Choices(lambda n: data.draw(st.integers(0, n - 1)), np.random.default_rng(seed))
    )


@pytest.mark.parametrize("first", range(0, 600, 200))
def test_cases_of_seeds(first):
    """As the benchmark makes them; the message of a failure names its seed."""
    for seed in range(first, first + 200):
        try:
            run_case(Choices.of_seed(seed))
        except FuzzFailure as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_what_changes_nothing():
    """Two fits a case: of the data, and of the data in another form."""
    calls, seed = 0, 0
    while calls < 120:
        try:
            calls += run_invariance(Choices.of_seed(seed))["calls"]
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        seed += 1


def test_what_changes_something_is_seen(monkeypatch):
    """A fit that depends on the order of the rows, with the reader of labels for it."""
    turned = LowRankSurrogateRanker.fit

    def fit(self, X, y, **given):
        return turned(self, X, y[::-1] if np.ndim(y) == 1 else y, **given)

    monkeypatch.setattr(LowRankSurrogateRanker, "fit", fit)
    with pytest.raises(AssertionError, match="with_"):
        [run_invariance(Choices.of_seed(seed)) for seed in range(90, 300)]  # 94 sees it


@pytest.mark.parametrize("kind", ["calls", "invariance"])
def test_the_command_prints_its_seeds(capsys, kind):
    parser = ArgumentParser()
    add_arguments(parser)
    options = ["--calls", "30", "--seed", "5", "--kind", kind]
    rows = run(parser.parse_args(options, Namespace(tiny=False)))
    assert rows[0]["value"] == 0
    assert rows[0]["calls"] >= 30
    assert capsys.readouterr().out.startswith("seeds 5 to ")


PUBLIC = [*vars(lowrank_rank).values(), *vars(lowrank_rank.structured).values()]


def test_every_estimator_is_fuzzed():
    public = [value for value in PUBLIC if isinstance(value, type)]
    estimators = {cls for cls in public if issubclass(cls, BaseEstimator)}
    of_others = {lowrank_rank.WrappedRanker, lowrank_rank.StackingRanker}
    assert set(PARAMETERS) | of_others == estimators


# The oracle ---------------------------------------------------------------------------


def raises_raw():
    return np.zeros(2) + np.zeros(3)


def key_error():
    return {}["key"]


def divides_by_zero():
    return np.float64(1.0) / np.float64(0.0)


def changes_its_input(values):
    values += 1.0
    return values


@pytest.mark.parametrize("function", [raises_raw, key_error, divides_by_zero])
def test_raw_errors_and_runtime_warnings_are_failures(function):
    with pytest.raises(FuzzFailure, match=function.__name__):
        Caller()(function)


def test_changed_input_is_a_failure():
    with pytest.raises(FuzzFailure, match="changed its input"):
        Caller()(changes_its_input, np.zeros(2))


def test_sentences_are_refusals_and_other_warnings_pass():
    caller = Caller()
    with pytest.raises(Refused):
        caller(decode_sort, [[np.nan]])
    assert caller(lambda: warnings.warn("only said", UserWarning, stacklevel=1)) is None
    assert dict(caller.counts) == {"calls": 2, "refused": 1}


def test_what_differs_by_more_than_the_tolerance_is_a_failure():
    check_close([1.0, 1.0 + 1e-9], np.ones(2), 1e-6, "this")
    with pytest.raises(FuzzFailure, match=r"this: by 0\.1 of the largest"):
        check_close([1.0, 1.1], np.array([1.0, 1.0]), 1e-6, "this")
