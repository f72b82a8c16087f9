"""Annotations: code that a type checker must accept, and lines that it must refuse."""

from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api")
FILES = Path(__file__).parent / "typing"


def errors_of(name):
    path = FILES / name
    options = ["--no-error-summary", "--ignore-missing-imports", "--follow-imports=silent"]
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
