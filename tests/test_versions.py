"""One version in all files that state it, and the order of the changelog."""

import re
from pathlib import Path

import pytest

import lowrank_rank

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "CHANGELOG.md").is_file(), reason="the checkout is not here"
)
#: Files that state the version, and how.
STATED = {
    "lowrank_rank/_version.py": r'__version__ = "(.*)"',
    "CITATION.cff": r"^version: (.*)$",
    "doc/references.rst": r"version = \{(.*)\}",
    "CHANGELOG.md": r"^## (\S+)",  # the newest is the first
}
SECTIONS = ["Added", "Changed", "Removed", "Fixed"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STATED)
def test_every_file_states_the_same_version(name):
    found = re.search(STATED[name], read(name), re.M)
    assert found[1] == lowrank_rank.__version__


def test_the_steps_of_a_release_name_these_files():
    steps = read("CONTRIBUTING.md").partition("\n## Release\n")[2]
    assert steps
    assert not [name for name in STATED if f"`{name}`" not in steps]


def test_no_other_file_states_the_version():
    version = re.compile(rf"(?<![\d.]){re.escape(lowrank_rank.__version__)}(?![\d.])")
    paths = [*ROOT.glob("*"), *(ROOT / "doc").glob("*.*")]
    paths += [*(ROOT / "lowrank_rank").rglob("*.py")]
    texts = {".py", ".md", ".rst", ".cff", ".cfg", ".toml"}
    stating = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if path.suffix in texts and version.search(path.read_text(encoding="utf-8"))
    }
    assert stating == set(STATED)


def test_the_changelog_has_sections_in_order_and_no_entry_twice():
    versions = re.split(r"^## ", read("CHANGELOG.md"), flags=re.M)[1:]
    assert versions
    for version in versions:
        before, *sections = re.split(r"^### ", version, flags=re.M)
        assert "\n- " not in before
        names = [section.partition("\n")[0] for section in sections]
        assert names == [name for name in SECTIONS if name in names]
        entries = re.findall(r"^- (.*)$", version, re.M)
        beginnings = [entry[:50] for entry in entries]
        assert len(set(beginnings)) == len(entries) > 0
