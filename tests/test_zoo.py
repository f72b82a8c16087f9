"""Rules that speak of honest data in more than one of 200 draws fail; so do rules that miss their mistake."""

import re
from pathlib import Path

import pytest

from .internals import RULES
from .zoo import HONEST, MISTAKES, count
from .zoo.shapes import N_DRAWS_OF_MISTAKES

GUIDE = Path(__file__).parents[1] / "doc/user_guide/fool_yourself.rst"


@pytest.mark.parametrize("name", HONEST)
def test_honest_shapes_are_silent(name):
    alarms = count(HONEST[name])
    assert max(alarms.values(), default=0) <= 1, alarms


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_noticed(name):
    mistake = MISTAKES[name]
    noticed = count(mistake, N_DRAWS_OF_MISTAKES)
    assert noticed[mistake.rule] >= mistake.share * N_DRAWS_OF_MISTAKES, noticed


def test_each_rule_has_a_mistake_and_two_honest_shapes():
    honest = [shape.rule for shape in HONEST.values()]
    assert set(RULES) <= {shape.rule for shape in MISTAKES.values()}
    assert all(honest.count(rule) >= 2 for rule in RULES)


@pytest.mark.skipif(not GUIDE.is_file(), reason="doc is not beside the tests")
def test_the_guide_has_a_line_of_each_rule():
    """`python -m tests.zoo` prints the numbers."""
    text = GUIDE.read_text(encoding="utf-8")
    rows = dict(re.findall(r'^"([\w ]+)" +(\w+) +\d+ +[01]$', text, re.MULTILINE))
    assert set(rows) == set(RULES)
    assert all(MISTAKES[mistake].rule == rule for rule, mistake in rows.items())
