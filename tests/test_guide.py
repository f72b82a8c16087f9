"""Pages of the guide: underlines of headings, tests and benchmarks that they name."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOC = TESTS.parent / "doc"
GENERATED = {"_build", "generated", "auto_examples"}
pytestmark = pytest.mark.skipif(not DOC.is_dir(), reason="doc is not beside the tests")

UNDERLINE = r"[-=.~^\"'`#*+_:<>]{4,}"


def pages():
    """Pages that a person wrote."""
    return [path for path in DOC.rglob("*.rst") if not GENERATED & set(path.parts)]


def test_underlines_of_headings_are_of_one_character():
    """Sphinx shows a heading with a mixed underline as text, without a warning."""
    assert len(pages()) > 20
    mixed = [
        f"{path.name}: {line}"
        for path in pages()
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.fullmatch(UNDERLINE, line) and len(set(line)) > 1
    ]
    assert not mixed


NAMED = r"``(test_\w+\.py)::(test_\w+)``"


def test_named_tests_exist():
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    named = {name for text in texts for name in re.findall(NAMED, text)}
    assert len(named) > 2
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (TESTS / file).is_file()
        or f"\ndef {name}(" not in (TESTS / file).read_text(encoding="utf-8")
    ]
    assert not missing


BENCHMARKS = DOC.parent / "benchmarks"


@pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="benchmarks is not beside the tests"
)
def test_named_benchmarks_are_commands():
    from benchmarks.__main__ import COMMANDS

    texts = [*pages(), DOC.parent / "README.md", BENCHMARKS / "README.md"]
    named = {
        (path.name, name)
        for path in texts
        for name in re.findall(
            r"python -m\s+benchmarks\s+([a-z]\w*)", path.read_text(encoding="utf-8")
        )
    }
    assert len(named) > 20
    assert not [(file, name) for file, name in sorted(named) if name not in COMMANDS]


def test_results_on_data_sets_name_their_benchmark():
    number = "two|three|four|five|six|seven|eight|nine|ten|twelve"
    results = [
        (path.name, " ".join(paragraph.split()))
        for path in (DOC / "user_guide").glob("*.rst")
        for paragraph in path.read_text(encoding="utf-8").split("\n\n")
        if re.search(rf"\b(?:{number}) (?:\w+ )?sets\b", paragraph)
    ]
    assert len(results) > 5
    assert not [result for result in results if "python -m benchmarks" not in result[1]]
