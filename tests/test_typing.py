"""Annotations: code that a type checker must accept, and lines that it must refuse."""

import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import lowrank_rank

FILES = Path(__file__).parent / "typing"


def errors_of(name):
    api, path = pytest.importorskip("mypy.api"), FILES / name
    options = [
        "--no-error-summary",
        "--ignore-missing-imports",
        "--follow-imports=silent",
    ]
    out, err, _ = api.run([*options, "--config-file=", str(path)])
    assert not err
    return [line for line in out.splitlines() if ": error:" in line], path.read_text()


def test_code_of_users_is_accepted():
    assert errors_of("accepted.py")[0] == []


def test_every_wrong_line_is_refused():
    errors, text = errors_of("refused.py")
    found = {int(line.split(":")[1]) for line in errors}
    lines = text.splitlines()
    start = max(i for i, line in enumerate(lines) if line.startswith("from")) + 2
    wrong = {number for number, line in enumerate(lines, 1) if number >= start and line}
    assert found == wrong


def test_types_of_what_is_public_are_known(tmp_path):
    """Except bases of scikit-learn, which has no types."""
    pytest.importorskip("basedpyright")
    command = [sys.executable, "-m", "basedpyright", "--verifytypes", "lowrank_rank"]
    path = {"PYTHONPATH": str(Path(lowrank_rank.__file__).parents[1])}
    run = subprocess.run(
        [*command, "--ignoreexternal"],
        cwd=tmp_path,
        env={**os.environ, **path},
        capture_output=True,
        text=True,
    )
    assert "Symbols exported by" in run.stdout, run.stdout + run.stderr
    lines = [line for line in run.stdout.splitlines() if "error: " in line]
    unknown = [
        one for one in lines if "base class" not in one and "metaclass" not in one
    ]
    assert len(unknown) <= 20, "\n".join(unknown)


def test_signatures_print_types_by_their_names():
    parameters = signature(lowrank_rank.LowRankSurrogateRanker.fit).parameters
    names = "lowrank_rank._typing.ArrayLike | lowrank_rank._typing.SparseMatrix"
    assert str(parameters["X"]) == f"X: {names}"
