"""Decoders against brute force; the heuristic reports its gap."""

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_exact

from .internals import (
    all_ranks,
    average_precision_bound,
    average_precision_value,
    decode_assignment,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
    decode_pd_local_search,
    decode_sort,
    differences_from_matrices,
    matrices_from_differences,
    net_preferences,
    net_scores,
    pd_decoder,
    preference_cost,
)
from .refusals import refused_by
from .vectors import worked_cases


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


def test_worked_numbers():
    for case in worked_cases("map_decoder.json"):
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
def test_subset_program_is_exact(r, seed):
    u = random_triangles(np.random.default_rng([seed, r]), 60, r)
    ranks, values, bounds = decode_map_exact(u, r)
    np.testing.assert_array_equal(
        np.sort(ranks, axis=1), np.tile(np.arange(1, r + 1), (60, 1))
    )
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
    with refused_by("many items"):
        decode_map_exact(np.zeros((1, 23 * 12)), 23)
    with refused_by("shape of vectors"):
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
    u = np.array(
        [[1.0, 0.0, 2.0, 0.0, 0.0, 3.0]]
    )  # no links: the diagonal order is best
    for decode in (decode_map_diagonal, decode_map_local_search, decode_map_exact):
        assert decode(u, 3, bound=True).optimal[0]
        without = decode(u, 3, bound=False)
        assert without.bounds is None
        assert without.gaps is None
        assert without.optimal is None
    assert decode_map_diagonal(u, 3).bounds is None


@pytest.mark.parametrize("r", [2, 8, 20])
def test_local_search_stops_where_no_insertion_helps(r):
    rng = np.random.default_rng(1)
    u = random_triangles(rng, 5, r)
    ranks, found, _ = decode_map_local_search(u, r)
    for q in range(5):
        order = np.argsort(ranks[q])
        for i in range(r):
            for place in range(r):
                moved = np.insert(np.delete(order, i), place, order[i])
                other = np.empty((1, r), dtype=int)
                other[0, moved] = np.arange(1, r + 1)
                assert average_precision_value(u[[q]], other)[0] <= found[q] + 1e-9


def test_assignment_is_exact():
    rng = np.random.default_rng(2)
    for r, depth in [(2, 1), (4, 2), (4, 4), (5, 3)]:
        u = rng.normal(size=(20, r * depth))
        ranks = decode_assignment(u, r)
        orders = all_ranks(r)
        features = (orders[:, :, None] == np.arange(1, depth + 1)).reshape(
            len(orders), -1
        )
        here = (ranks[:, :, None] == np.arange(1, depth + 1)).reshape(20, -1)
        np.testing.assert_allclose((u * here).sum(axis=1), (u @ features.T).max(axis=1))


@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-9, 1e9])
def test_assignment_takes_values_equal_up_to_rounding_as_ties(scale):
    """Ties go to the items in their order, however the values were summed."""
    equal = scale * np.array([[0.3, 0.3, 0.3, 0.6, 0.6, 0.6]])  # depth 2
    rounded = scale * np.array([[0.3, 0.1 + 0.2, 0.3, 0.6, 0.6, 0.2 + 0.4]])
    rounded = np.concatenate(
        [rounded, scale * np.array([[0.1 + 0.2, 0.3, 0.3, 0.6, 0.2 + 0.4, 0.6]])]
    )
    assert np.any(rounded != equal)
    np.testing.assert_array_equal(
        decode_assignment(rounded, 3), np.tile(decode_assignment(equal, 3), (2, 1))
    )
    ties = scale * np.array([[0.3, 0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3, 0.3]])  # depth 1
    np.testing.assert_array_equal(decode_assignment(ties, 3)[:, 0], 1)


def test_assignment_without_differences_keeps_the_order_of_the_items():
    for u in (np.zeros((1, 8)), np.full((1, 8), 0.7)):
        np.testing.assert_array_equal(decode_assignment(u, 4), [[1, 2, 3, 4]])


def test_assignment_sorts_the_other_items_by_their_total():
    np.testing.assert_array_equal(
        decode_assignment([[5.0, 1.0, 3.0, 3.0]], 4), [[1, 4, 2, 3]]
    )
    # Positions 1 and 2 go to the items 3 and 0; of the others, item 2 has the larger total.
    u = [[0.0, 9.0, 1.0, 1.0, 2.0, 2.0, 9.0, 0.0]]
    np.testing.assert_array_equal(decode_assignment(u, 4), [[2, 4, 3, 1]])


def test_sort_keeps_the_order_of_equal_items():
    np.testing.assert_array_equal(decode_sort([[1.0, 2.0, 2.0, 0.0]]), [[3, 1, 2, 4]])


NAN = np.full((2, 3), np.nan)
CYCLE = [[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]
OF_TRIANGLES = [
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
    average_precision_bound,
]
BAD_INPUT = {
    "sort nan": (lambda: decode_sort(NAN), r"u\[0, 0\] is nan"),
    "sort inf": (lambda: decode_sort([[1.0, np.inf]]), r"u\[0, 1\] is inf"),
    "sort one list": (
        lambda: decode_sort([1.0, 2.0]),
        r"shape \(2,\); it must be \(n_lists, r\)",
    ),
    "sort words": (lambda: decode_sort([["a"]]), "u must be an array of numbers"),
    "assignment nan": (lambda: decode_assignment(NAN, 3), r"u\[0, 0\] is nan"),
    "assignment empty": (lambda: decode_assignment(np.zeros((1, 0)), 3), r"3 \* depth"),
    "assignment one list": (lambda: decode_assignment([1.0] * 3, 3), "it must be"),
    "assignment no items": (
        lambda: decode_assignment([[1.0]], 0),
        "n_items must be an integer",
    ),
    "value nan rank": (
        lambda: average_precision_value([[1, 2, 3]], [[1, np.nan]]),
        r"ranks\[0, 1\]",
    ),
    "value rank 0": (
        lambda: average_precision_value([[1, 2, 3]], [[0, 1]]),
        r"ranks\[0, 0\] is 0",
    ),
    "value shape": (
        lambda: average_precision_value([[1, 2, 3]], [1, 2]),
        "ranks have shape",
    ),
    "value nan": (
        lambda: average_precision_value(NAN, [[1, 2]] * 2),
        r"u\[0, 0\] is nan",
    ),
    "value no triangle": (
        lambda: average_precision_value([[1, 2]], [[1, 2]]),
        "lower triangles",
    ),
    "sweeps": (
        lambda: decode_map_local_search([[1, 2, 3]], 2, max_sweeps="a"),
        "max_sweeps must",
    ),
    "cost nan rank": (
        lambda: preference_cost(CYCLE, [[1, np.nan, 2]]),
        r"ranks\[0, 1\] is nan",
    ),
    "cost nan": (lambda: preference_cost([[[np.nan]]], [[1]]), r"u\[0, 0, 0\] is nan"),
    "cost words": (lambda: preference_cost("u", [[1]]), "must be an array of numbers"),
    "net shape": (lambda: net_preferences([[1, 2, 3]]), r"shape \(\.\.\., r, r\)"),
    "net vector": (lambda: net_scores([1, 2, 3]), r"shape \(\.\.\., r, r\)"),
    "net words": (lambda: net_scores("u"), "must be an array of numbers"),
    "differences nan": (
        lambda: matrices_from_differences([[1, np.nan, 2]], 3),
        r"u\[0, 1\] is nan",
    ),
    "differences items": (
        lambda: matrices_from_differences([[1.0]], "a"),
        "n_items must be",
    ),
    "matrices": (
        lambda: differences_from_matrices([[1, 2]]),
        r"shape \(\.\.\., r, r\)",
    ),
    "decoder": (lambda: pd_decoder({}, 3), "decoder must be one of"),
    "items": (lambda: pd_decoder("auto", "a"), "n_items must be"),
    "seconds": (lambda: decode_pd_exact(CYCLE, time_limit="a"), "time_limit must be"),
    "restarts": (
        lambda: decode_pd_local_search(CYCLE, n_restarts="a"),
        "n_restarts must be",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_named(case):
    call, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("decode", OF_TRIANGLES, ids=lambda d: d.__name__)
def test_bad_triangles_are_named(decode):
    for u, n_items, message in [
        (NAN, 2, r"u\[0, 0\] is nan: it must be finite"),
        ([[1, np.inf, 2]], 2, r"u\[0, 1\] is inf"),
        ([["a", "b", "c"]], 2, "u must be an array of numbers"),
        ([1.0, 2.0, 3.0], 2, "lower triangles"),
        ([[1.0, 2.0, 3.0]], "a", "n_items must be an integer >= 1"),
        ([[1.0, 2.0, 3.0]], 2.0, "n_items must be an integer >= 1"),
        ([[1.0, 2.0, 3.0]], 0, "n_items must be an integer >= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            decode(u, n_items)


def test_no_list_is_decoded_to_no_ranks():
    assert decode_assignment(np.zeros((0, 6)), 3).shape == (0, 3)
    assert decode_map_exact(np.zeros((0, 3)), 2).ranks.shape == (0, 2)


def test_preferences_of_unsigned_and_boolean_types_do_not_wrap():
    for dtype in (np.uint8, bool):
        u = np.array([[0, 1], [0, 0]], dtype=dtype)
        np.testing.assert_array_equal(net_preferences(u), [[0, 1], [-1, 0]])
        np.testing.assert_array_equal(
            differences_from_matrices(u.T[np.newaxis]), [[-1]]
        )


def test_sums_of_preferences_stay_finite():
    with refused_by("vectors that are not finite"):
        net_scores([[0.0, 1e306], [0.0, 0.0]])
    with pytest.raises(ValueError, match="must be an array of numbers"):
        differences_from_matrices([[1.0], [1.0, 2.0]])


def test_words_that_read_as_numbers_are_words():
    with refused_by("text instead of numbers"):
        decode_map_diagonal([["1.0", "2.0", "3.0"]], 2)
