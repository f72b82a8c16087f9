"""Decoders against brute force; the heuristic reports its gap."""

import numpy as np
import pytest

from lowrank_rank.calibration import all_ranks
from lowrank_rank.decoders import (
    average_precision_bound,
    average_precision_value,
    decode_assignment,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
    decode_sort,
)


def random_triangles(rng, n, r):
    """Some positive, some of both signs, some with ties."""
    u = rng.normal(size=(n, r * (r + 1) // 2))
    u[: n // 3] = np.abs(u[: n // 3])
    u[-n // 3 :] = np.round(u[-n // 3 :])
    return u


def best_by_enumeration(u, r):
    orders = all_ranks(r)
    row, column = np.tril_indices(r)
    return (u @ (1.0 / np.maximum(orders[:, row], orders[:, column])).T).max(axis=1)


def test_worked_numbers(vectors):
    for case in vectors("map_decoder.json"):
        r = len(case["u"])
        u = np.array(case["u"])[np.tril_indices(r)][np.newaxis]
        exact, diagonal = decode_map_exact(u, r), decode_map_diagonal(u, r, bound=True)
        local = decode_map_local_search(u, r, bound=True)
        assert exact.values[0] == pytest.approx(case["max_value"], abs=1e-9)
        assert exact.values[0] == exact.bounds[0]
        assert diagonal.values[0] == pytest.approx(case["diagonal_value"], abs=1e-9)
        assert diagonal.values[0] - 1e-12 <= local.values[0] <= case["max_value"] + 1e-9
        assert min(diagonal.bounds[0], local.bounds[0]) >= case["max_value"] - 1e-9
        for decoded in (exact, diagonal, local):
            np.testing.assert_allclose(
                decoded.values, average_precision_value(u, decoded.ranks), atol=1e-12
            )


@pytest.mark.parametrize("r", [1, 2, 3, 4, 5, 6, 7])
def test_subset_program_is_exact(r):
    u = random_triangles(np.random.default_rng(r), 60, r)
    ranks, values, bounds = decode_map_exact(u, r)
    np.testing.assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, r + 1), (60, 1)))
    np.testing.assert_allclose(values, best_by_enumeration(u, r), atol=1e-12)
    np.testing.assert_array_equal(values, average_precision_value(u, ranks))
    np.testing.assert_array_equal(values, bounds)


def test_lists_are_decoded_alone():
    """A list's order does not depend on the batch, nor on how it is cut into pieces."""
    u = random_triangles(np.random.default_rng(0), 40, 6)
    for decode in (decode_map_exact, decode_map_local_search, decode_map_diagonal):
        whole = decode(u, 6, bound=True)
        alone = [decode(row[None], 6, bound=True) for row in u]
        np.testing.assert_array_equal(whole.ranks, np.vstack([d.ranks for d in alone]))
        np.testing.assert_allclose(whole.values, np.hstack([d.values for d in alone]))
        np.testing.assert_allclose(whole.bounds, np.hstack([d.bounds for d in alone]))


def test_many_items_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="local_search"):
        decode_map_exact(np.zeros((1, 23 * 12)), 23)
    with pytest.raises(ValueError, match="lower triangles"):
        decode_map_exact(np.zeros((1, 5)), 3)


@pytest.mark.parametrize("r", [1, 2, 4, 6])
def test_local_search_between_diagonal_and_bound(r):
    u = random_triangles(np.random.default_rng(r), 90, r)
    best = best_by_enumeration(u, r)
    decoded = decode_map_local_search(u, r, bound=True)
    found = decoded.values
    assert np.all(found >= decode_map_diagonal(u, r).values - 1e-12)
    assert np.all(found <= best + 1e-12)
    assert np.all(average_precision_bound(u, r) >= best - 1e-12)
    assert np.all(decoded.bounds >= best - 1e-12)
    assert np.all(decoded.gaps >= best - found - 1e-12)
    np.testing.assert_array_equal(decoded.optimal, decoded.gaps == 0)
    np.testing.assert_allclose(found[decoded.optimal], best[decoded.optimal], atol=1e-9)
    assert np.mean(found > best - 1e-9) > 0.8


def test_map_bounds_are_given_where_asked_for():
    """Where sorting attains the bound the diagonal order is certified."""
    u = np.array([[1.0, 0.0, 2.0, 0.0, 0.0, 3.0]])  # no links: the diagonal order is best
    for decode in (decode_map_diagonal, decode_map_local_search, decode_map_exact):
        assert decode(u, 3, bound=True).optimal[0]
        without = decode(u, 3, bound=False)
        assert without.bounds is None
        assert without.gaps is None
        assert without.optimal is None
    assert decode_map_diagonal(u, 3).bounds is None


def test_local_search_stops_where_no_insertion_helps():
    rng = np.random.default_rng(1)
    u = random_triangles(rng, 5, 8)
    ranks, found, _ = decode_map_local_search(u, 8)
    for q in range(5):
        order = np.argsort(ranks[q])
        for i in range(8):
            for place in range(8):
                moved = np.insert(np.delete(order, i), place, order[i])
                other = np.empty((1, 8), dtype=int)
                other[0, moved] = np.arange(1, 9)
                assert average_precision_value(u[[q]], other)[0] <= found[q] + 1e-9


def test_assignment_is_exact():
    rng = np.random.default_rng(2)
    for r, depth in [(2, 1), (4, 2), (4, 4), (5, 3)]:
        u = rng.normal(size=(20, r * depth))
        ranks = decode_assignment(u, r)
        orders = all_ranks(r)
        features = (orders[:, :, None] == np.arange(1, depth + 1)).reshape(len(orders), -1)
        here = (ranks[:, :, None] == np.arange(1, depth + 1)).reshape(20, -1)
        np.testing.assert_allclose((u * here).sum(axis=1), (u @ features.T).max(axis=1))


def test_sort_keeps_the_order_of_equal_items():
    np.testing.assert_array_equal(decode_sort([[1.0, 2.0, 2.0, 0.0]]), [[3, 1, 2, 4]])
