"""The first page: its links lead somewhere, and what stands first needs none of them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(
    not README.is_file(), reason="README.md is not beside the tests"
)

LINK = r"\]\((?!https?:|#)([^)\s]+)\)"


def test_relative_links_lead_to_files_of_the_checkout():
    targets = re.findall(LINK, README.read_text(encoding="utf-8"))
    assert targets
    missing = [
        target for target in targets if not (ROOT / target.split("#")[0]).exists()
    ]
    assert not missing, missing


def test_the_first_table_and_snippet_have_no_relative_links():
    """A package index shows the page without the checkout, where such a link is dead."""
    above, heading, _ = README.read_text(encoding="utf-8").partition("\n## Who wins")
    assert heading
    assert not re.findall(LINK, above)


def test_the_first_page_is_short():
    above, heading, _ = README.read_text(encoding="utf-8").partition(
        "\n## Documentation"
    )
    assert heading
    assert len(above.splitlines()) <= 135
