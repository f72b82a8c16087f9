"""What a column of objects or text holds."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from lowrank_rank import StackingRanker

from .internals import kind_of_entries
from .refusals import refused_by


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        ([], "missing"),
        ([None, np.nan, pd.NA, pd.NaT, np.float32("nan"), Decimal("nan")], "missing"),
        (["", None], "text"),
        ([1, 2.5, Decimal("0.1"), Fraction(1, 3), np.int8(1), np.inf, None], "number"),
        ([True, np.bool_(False), None], "boolean"),
        ([True, 1], "number as text"),
        ([date(2024, 1, 1), None], "date"),
        ([np.datetime64("2024-01-01")], "date"),
        ([pd.Timestamp("2024-01-01"), "never"], "date"),
        (["1", "a"], "number as text"),
        (["1", "a", "a", "a"], "number as text"),  # distinct values count
        (["1", "a", "b"], "text"),
        (["1", "a", "b", "2", None], "number as text"),
        (["-1", "+.5", "1.", " 1e-3 ", "2E5"], "number as text"),
        (["1,5", ",5", "1,234,567", "1,234.5", "1.234,5"], "number as text"),
        (["00123", "04109"], "number as text"),
        (["nan", "inf", "-", "e5", "."], "text"),
        (["1_000", "1.2.3", "12:30", "2024-01-01", "0x1f"], "text"),
        (["38", "S", "M", "L"], "text"),
        ([38, "S", "M"], "text"),
        ([[1], {"a": 1}, np.arange(2)], "collection"),
        (["a", [1]], "collection"),
        ([("a", 1), b"a"], "text"),
        (np.array(["1", "2"], dtype=object), "number as text"),
    ],
)
def test_kinds(entries, kind):
    assert kind_of_entries(entries) == kind


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (["1", "n/a", "2", "x"], "'n/a' in row 1"),
        (["1", "2"], "'1' in row 0"),
        ([1.5, "2,5"], "'2,5' in row 1"),
        ([2, True], "True in row 1"),
        (["1", "x" * 10_000, "2"], "'xxx"),
    ],
)
def test_the_first_value_that_is_no_number_is_named(entries, words):
    frame = pd.DataFrame({"zip": pd.Series(entries, dtype=object)})
    rows = np.arange(len(entries))
    with refused_by("numbers as text") as said:
        StackingRanker().fit(frame, rows, qid=rows // 2)
    assert words in str(said.value)
    assert len(str(said.value)) < 400
