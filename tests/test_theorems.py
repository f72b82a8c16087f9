"""The table of theorems: every row holds on fresh data, and every number has a row."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.multiclass  # named by a row

import lowrank_rank

from .theorems import run_proof, sources

TESTS = Path(__file__).parent
SOURCES = {source.title.split(",")[0].split(" ")[0]: source for source in sources()}
#: Fresh in each run; a failure prints it, and LOWRANK_RANK_SEED repeats it.
SEED = int(
    os.environ.get("LOWRANK_RANK_SEED", np.random.SeedSequence().generate_state(1)[0])
)
every_source = pytest.mark.parametrize("name", SOURCES)


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:The hinge of:UserWarning",
)
@every_source
def test_every_check_holds_on_fresh_data(name):
    print(f"LOWRANK_RANK_SEED={SEED}")
    for row in SOURCES[name].rows:
        for check in row.checks:
            try:
                run_proof(check, np.random.default_rng(SEED))
            except BaseException as error:
                error.add_note(f"{row.number}, LOWRANK_RANK_SEED={SEED}")
                raise


#: The numbered items of each source.
NUMBERED = {
    "Ramaswamy": """definition 1, theorems 2-4, corollary 5, theorems 6-7,
        equation 1, algorithm 1""",
    "Calauzènes": """definitions 2.1-2.4, definition 3.1, equations 1-13, theorems
        3.2-3.3, theorem 4.2, theorems 5.2-5.4, lemma 4.1, lemma 4.4, lemma 5.1,
        corollary 4.3, corollary 4.5, tables 1-2, figure 1""",
    "Kar": """equations 1-7, claim 1, definition 2, claim 3, definitions 4-5, claim 6,
        theorem 7, corollary 8, theorem 9, corollary 10, definition 11, theorems 12-13,
        corollary 14, theorem 15, lemma 16, claim 17, lemmas 18-23, theorems 24-25,
        lemmas 26-27, theorem 28, corollary 29, algorithms 1-4, figures 1-3""",
    "Shalev-Shwartz": """example 17.1, equations 17.1-17.14, corollaries 17.1-17.2,
        claim 17.3, lemma 17.4, theorem 17.5, exercises 1-5""",
}


def numbers_in(text):
    """List "theorem 2", "theorem 3", ... of "theorems 2-3"."""
    items = []
    for entry in text.split(","):
        kind, numbers = entry.split()
        kind = kind.replace("corollaries", "corollary").removesuffix("s")
        first, _, last = numbers.partition("-")
        stem, _, start = first.rpartition(".")
        stem = f"{stem}." if stem else ""
        end = (last or first).rpartition(".")[2]
        items += [f"{kind} {stem}{n}" for n in range(int(start), int(end) + 1)]
    return items


@every_source
def test_every_number_has_a_row(name):
    rows = {re.sub(r"[()]", "", row.number) for row in SOURCES[name].rows}
    assert not [item for item in numbers_in(NUMBERED[name]) if item not in rows]
    assert len(rows) == len(SOURCES[name].rows)


def test_a_row_has_a_callable_and_a_proof_or_a_reason():
    for row in (row for source in sources() for row in source.rows):
        assert row.says.endswith((".", '"')), row
        is_proved = bool(row.checks or row.tests)
        assert is_proved + bool(row.step_of) + bool(row.missing) == 1, row
        assert bool(row.name) == is_proved, row
        if not row.name:
            continue
        value = sklearn if row.name.startswith("sklearn.") else lowrank_rank
        for part in row.name.removeprefix("sklearn.").split("."):
            value = getattr(value, part)


def test_named_tests_exist():
    for row in (row for source in sources() for row in source.rows):
        for test in row.tests:
            module, name = test.split("::")
            text = (TESTS / f"{module}.py").read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text, test
