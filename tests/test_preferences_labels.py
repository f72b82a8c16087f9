"""Labels of preferences: cycles and opposite preferences are named, or net ones are taken."""

from itertools import pairwise

import numpy as np
import pytest

from lowrank_rank.preferences._labels import check_acyclic_labels
from lowrank_rank.target_losses import KendallTau, PairwiseDisagreement


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


@pytest.mark.parametrize(
    "loss", [PairwiseDisagreement(), PairwiseDisagreement("difference"), KendallTau()]
)
def test_mean_votes_of_grades_are_the_preferences_both_ways(loss):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (3000, 7)).astype(float)  # more than a block
    y[rng.random(y.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, len(y)).astype(float)
    both_ways = loss.preferences(y) + loss.preferences(y).transpose(0, 2, 1)
    expected = np.average(both_ways, axis=0, weights=weights)
    found = loss.mean_votes(y, weights, loss.encode(y))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
