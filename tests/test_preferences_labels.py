"""Labels of preferences: cycles and opposite preferences are named, or net ones are taken."""

from itertools import pairwise

import numpy as np
import pytest

from lowrank_rank.preferences._labels import check_acyclic_labels


def graph(r, *edges):
    y = np.zeros((1, r, r))
    for i, j, weight in edges:
        y[0, i, j] = weight
    return y


def test_acyclic_labels_are_left_as_they_are():
    y = np.concatenate([graph(3, (0, 1, 2.0), (1, 2, 1.0), (0, 2, 1.0)), graph(3)])
    assert check_acyclic_labels(y, "error") is y


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(1, 1, 2.0)], r"y\[0, 1, 1\] = 2: no item comes before itself"),
        ([(0, 2, 2.0), (2, 0, 1.0)], r"prefers item 0 to item 2 \(weight 2\) and 2 to 0"),
        ([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], "prefers in a cycle, "),
    ],
)
def test_what_no_order_follows_is_named(edges, message):
    with pytest.raises(ValueError, match=message):
        check_acyclic_labels(graph(4, *edges), "error")


@pytest.mark.parametrize("seed", range(20))
def test_the_cycle_that_is_named_is_one(seed):
    """Every step of it is a preference of the label, and it ends where it began."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)[:4]
    edges = [(order[k - 1], order[k], 1.0) for k in range(4)]  # a cycle through four of six
    with pytest.raises(ValueError, match="prefers in a cycle") as raised:
        check_acyclic_labels(graph(6, *edges), "error")
    named = str(raised.value).partition("cycle, ")[2].partition(",")[0]
    walk = [int(item) for item in named.split(" -> ")]
    assert walk[0] == walk[-1]
    assert set(pairwise(walk)) == {(i, j) for i, j, _ in edges}


def test_net_preferences_are_differences():
    y = graph(3, (0, 1, 3.0), (1, 0, 1.0), (1, 2, 1.0), (2, 0, 1.0))
    net = check_acyclic_labels(y, "net")
    np.testing.assert_array_equal(net, graph(3, (0, 1, 2.0), (1, 2, 1.0), (2, 0, 1.0)))
