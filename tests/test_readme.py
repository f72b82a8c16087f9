"""The first page: its links lead somewhere, its jobs are short, and the guide's front tells the same."""

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(
    not README.is_file(), reason="README.md is not beside the tests"
)

LINK = r"\]\((?!https?:)([^)\s]+)\)"
#: Sections of four jobs, then that of the four estimators.
JOBS = ("Rank search", "Compare the runs", "Find the most", "Make one order")


def text():
    return README.read_text(encoding="utf-8")


def code_of(heading):
    """Examples of the section whose heading starts with these words."""
    sections = re.split(r"^## ", text(), flags=re.M)
    (section,) = [one for one in sections if one.startswith(heading)]
    return doctest.DocTestParser().get_examples(section)


def anchors(path):
    """Anchors of the headings of a page in Markdown, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    kept = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {words.strip().replace(" ", "-") for words in kept}


def test_links_lead_to_files_and_headings_of_the_checkout():
    targets = [target.partition("#") for target in re.findall(LINK, text())]
    assert len(targets) > 10
    for name, _, heading in targets:
        path = ROOT / name if name else README
        assert path.exists(), name
        assert not heading or heading in anchors(path), (name, heading)


def test_every_named_file_is_a_link():
    prose = re.sub(r"^```.*?^```", "", text(), flags=re.M | re.S)
    named = set(re.findall(r"`([\w/]+\.(?:md|rst|cff|py|txt))`", prose))
    assert not named


@pytest.mark.parametrize("heading", JOBS)
def test_a_job_is_six_lines_that_run_alone(heading):
    pytest.importorskip("pandas")
    lines = [
        line
        for example in code_of(heading)
        for line in example.source.splitlines()
        if not re.match(r"(import|from) ", line)
    ]
    assert len(lines) <= 6
    job = doctest.DocTest(code_of(heading), {}, heading, str(README), 0, "")
    assert doctest.DocTestRunner(verbose=False).run(job).failed == 0


def test_the_front_of_the_guide_has_the_jobs_of_the_first_page():
    index = ROOT / "doc" / "index.rst"
    if not index.is_file():
        pytest.skip("doc is not beside the tests")
    front = doctest.DocTestParser().get_examples(index.read_text(encoding="utf-8"))
    jobs = [example for heading in JOBS for example in code_of(heading)]
    assert [ast.dump(ast.parse(one.source)) for one in front] == [
        ast.dump(ast.parse(one.source)) for one in jobs
    ]
    assert [one.want for one in front] == [one.want for one in jobs]


def test_the_first_page_is_short():
    assert len(text().split()) <= 1650
