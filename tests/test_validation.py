"""Every row of the checks: plant its fault, read its sentence, run each remedy.

The right result comes from data that never had the fault.
"""

import importlib
import pkgutil
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.utils.fixes import parse_version

import lowrank_rank.validation

from . import input_examples
from .internals import Check, InputError

MODULES = [
    importlib.import_module(f"{package.__name__}.{info.name}")
    for package in (lowrank_rank.validation, input_examples)
    for info in pkgutil.iter_modules(package.__path__)
]
#: Every check of the package: a table is a list of checks at the level of a module.
CHECKS = {
    id(check): check
    for module in MODULES
    for table in vars(module).values()
    if isinstance(table, list)
    for check in table
    if isinstance(check, Check)
}.values()
EXAMPLES = [
    example for module in MODULES for example in getattr(module, "EXAMPLES", [])
]


def arguments_of(example, *codes):
    """Clean arguments of an example, changed by code."""
    words = {**input_examples.WORDS, **example.clean()}
    for code in codes:
        exec(code, words)
    return words


def result_of(example, words):
    """Result of the call of an example."""
    exec(example.call, words)
    return words["result"]


def assert_same_result(one, two):
    """Compare numbers up to rounding; tables and texts by what they hold."""
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two, rtol=1e-7)
        return
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for name in one:
            assert_same_result(one[name], two[name])
        return
    values = np.asarray(one)
    if values.dtype.kind in "biuf":
        assert_allclose(values, np.asarray(two), rtol=1e-7, atol=1e-12)
    else:
        assert values.tolist() == np.asarray(two).tolist()


#: What the oldest versions cannot hold or do not see: check, clean data, a part of the fault.
NEWER = {
    ("dates among the features", "documents", "duration[ns][pyarrow]"): (
        "pandas 2.1 has no .dt of Arrow's durations"
    ),
    ("numbers as text", "trees", "polars.Series(['n/a'"): (
        "trees of scikit-learn 1.6 read no categories of polars"
    ),
    ("text of a category", "with_polars", "cast(polars.String)"): (
        "trees of scikit-learn 1.6 read no categories of polars"
    ),
    ("columns in another order", "fitted_polars", "X = X[["): (
        "scikit-learn 1.6 reads no names of polars"
    ),
    ("number beyond the floats", "documents", "10**400"): (
        "pandas 2.1 refuses such integers itself"
    ),
}
IS_OLD = parse_version(sklearn.__version__) < parse_version("1.7")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.check)
def test_a_fault_is_named_and_its_remedies_give_the_right_result(example):
    for (check, clean, part), reason in NEWER.items():
        is_this = (check, clean) == (example.check, example.clean.__name__)
        if IS_OLD and is_this and part in example.fault:
            pytest.skip(reason)
    with pytest.raises(InputError) as raised:
        result_of(example, arguments_of(example, example.fault))
    error = raised.value
    assert error.check == example.check, str(error)
    assert len(error.remedies) == len(example.right), str(error)
    for remedy, right in zip(error.remedies, example.right, strict=True):
        for line in remedy.splitlines():
            assert line in str(error)
        mended = result_of(example, arguments_of(example, example.fault, remedy))
        expected = result_of(example, arguments_of(example, right))
        assert_same_result(mended, expected)


def test_every_check_has_an_example_and_a_name_of_its_own():
    names = Counter(check.name for check in CHECKS)
    assert {name for name, n in names.items() if n > 1} == set()
    assert set(names) == {example.check for example in EXAMPLES}


def test_errors_keep_their_kind_and_are_sent_between_processes():
    import pickle

    example = next(one for one in EXAMPLES if one.check == "booster")
    with pytest.raises(TypeError) as raised:
        result_of(example, arguments_of(example, example.fault))
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.check) == (str(raised.value), "booster")
