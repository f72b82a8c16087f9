"""Decoders of preferences against enumeration and a literal algorithm 1; their certificates."""

import re

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact
from lowrank_rank.target_losses import PairwiseDisagreement

from .internals import (
    PD_DECODERS,
    Decoded,
    bounded_blocks,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
    decode_pd_borda,
    decode_pd_local_search,
    differences_from_matrices,
    matrices_from_differences,
    net_preferences,
    net_scores,
    pd_decoder,
    preference_cost,
)
from .preference_cases import (
    KINDS,
    along_an_order,
    assert_ranks,
    costs,
    decode_by_cuts,
    least_costs,
    padded,
    pair_costs,
    preference_bound,
    preferences,
)
from .reference import algorithm_1
from .refusals import refused_by
from .vectors import worked_cases

DECODERS = [entry.decode for entry in PD_DECODERS.values()]
EXACT = [decode_pd_exact, decode_by_cuts]
ALL = [*DECODERS, decode_by_cuts]


COUNTER_EXAMPLE = np.zeros((1, 4, 4))
COUNTER_EXAMPLE[0, [0, 1, 2, 3, 3], [2, 2, 3, 0, 1]] = [3, 2, 4, 5, 6]


@pytest.mark.parametrize("exact", EXACT)
def test_worked_numbers(exact):
    for case in worked_cases("pd_decoder.json"):
        u = np.array(case["u"])[np.newaxis]
        np.fill_diagonal(u[0], 7.0)
        decoded = exact(u)
        assert decoded.values[0] == pytest.approx(case["min_value"], abs=1e-9)
        assert decoded.optimal[0]
        ranks = decode_pd_dag(u).ranks[0]
        assert all(ranks[i] < ranks[j] for i, j in case["algorithm1_edges"])


@pytest.mark.parametrize("exact", EXACT)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_orders_cost_least(exact, kind, seed):
    for r in (1, 2, 3, 5, 7):
        u = preferences(kind, 8, r, seed)
        ranks, values, bounds = exact(u)
        assert_ranks(ranks)
        scale = np.abs(u).sum(axis=(1, 2))
        assert np.all(np.abs(values - least_costs(u)) <= 1e-13 * scale)
        assert np.all(np.abs(values - costs(u, ranks)) <= 1e-13 * scale)
        np.testing.assert_array_equal(values, bounds)  # optimal, and no warning
        np.testing.assert_allclose(values, preference_cost(u, ranks))


def test_both_methods_agree_beyond_enumeration():
    u = preferences("normal", 6, 11)
    subsets, cuts = decode_pd_exact(u), decode_by_cuts(u)
    np.testing.assert_array_equal(
        subsets.ranks, cuts.ranks
    )  # normal: the optimum is unique
    assert cuts.optimal.all()


@pytest.mark.parametrize("kind", ["normal", "whole", "sparse", "constant", "negative"])
def test_algorithm_1_is_the_literal_one(kind, seed):
    for r in (1, 2, 3, 5, 8):
        u = preferences(kind, 30, r, seed)
        decoded = decode_pd_dag(u)
        for q, matrix in enumerate(u):
            _, order = algorithm_1(matrix.tolist())
            np.testing.assert_array_equal(np.argsort(decoded.ranks[q]), order)
        np.testing.assert_allclose(decoded.values, costs(u, decoded.ranks), atol=1e-12)


def test_ties_are_deleted_by_row_then_column():
    """A cycle of equal weights loses 0 -> 1, and only that."""
    u = np.zeros((1, 3, 3))
    u[0, [0, 1, 2], [1, 2, 0]] = 1.0
    np.testing.assert_array_equal(decode_pd_dag(u).ranks, [[3, 1, 2]])


def test_free_items_stand_by_net_preference():
    """Only 2 -> 0 and 3 -> 1 are edges; of 2 and 3 the heavier one comes first."""
    u = np.zeros((1, 4, 4))
    u[0, 2, 0], u[0, 3, 1] = 1.0, 5.0
    assert decode_pd_dag(u).ranks.tolist() == [[3, 4, 2, 1]]
    assert decode_pd_borda(u).ranks.tolist() == [[3, 4, 2, 1]]
    assert decode_pd_dag(np.zeros((1, 3, 3))).ranks.tolist() == [[1, 2, 3]]


def test_net_preference_order_is_sorted():
    u = preferences("normal", 20, 6)
    net = (u - u.transpose(0, 2, 1)).sum(axis=2)
    ranks, values, bounds = decode_pd_borda(u)
    np.testing.assert_array_equal(np.argsort(ranks, axis=1), np.argsort(-net, axis=1))
    np.testing.assert_allclose(values, costs(u, ranks))
    assert bounds is None


@pytest.mark.parametrize("exact", EXACT)
def test_algorithm_1_is_not_exact_for_four_items(exact):
    assert decode_pd_dag(COUNTER_EXAMPLE).values.tolist() == [5.0]
    assert exact(COUNTER_EXAMPLE).values.tolist() == [4.0]
    certified = decode_pd_dag(COUNTER_EXAMPLE, bound=True)
    assert certified.gaps.tolist() == [1.0]
    assert certified.optimal.tolist() == [False]
    assert decode_pd_local_search(COUNTER_EXAMPLE, bound=True).optimal.tolist() == [
        True
    ]


def test_three_items_cannot_fail():
    u = np.concatenate(
        [preferences(kind, 2000, 3) for kind in ("normal", "whole", "sparse")]
    )
    np.testing.assert_allclose(
        decode_pd_dag(u).values, decode_pd_exact(u).values, atol=1e-12
    )


@pytest.mark.parametrize("r", [2, 6, 15])
def test_acyclic_graphs_cost_the_pairs_only(r):
    """Theorem 7's case: every decoder that follows the graph is certified."""
    u, ranks = along_an_order(np.random.default_rng(r), 12, r)
    for decode in (decode_pd_dag, decode_pd_local_search, decode_pd_exact):
        decoded = decode(u, bound=True)
        np.testing.assert_array_equal(decoded.values, pair_costs(u))
        np.testing.assert_array_equal(decoded.ranks, ranks)
        assert decoded.optimal.all()
        np.testing.assert_array_equal(decoded.bounds, decoded.values)


def test_cycles_are_found_list_by_list():
    u = np.zeros((3, 4, 4))
    u[0, [0, 1, 2], [1, 2, 0]] = 1.0
    u[1, [0, 1, 0], [1, 2, 2]] = 1.0
    u[2, [1, 3, 0], [3, 1, 1]] = 1.0, 2.0, 1.0
    np.testing.assert_array_equal(decode_pd_dag(u).values, [1.0, 0.0, 1.0])


@pytest.mark.parametrize("decode", ALL)
def test_lists_are_decoded_alone(decode):
    """The order of a list does not depend on the batch."""
    u = np.concatenate(
        [preferences(kind, 4, 5) for kind in ("normal", "whole", "sparse")]
    )
    whole = decode(u, bound=True)
    parts = [decode(v[np.newaxis], bound=True) for v in u]
    for ours, theirs in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(ours, np.concatenate(theirs))
    assert decode(u[:0], bound=True).ranks.shape == (0, 5)
    assert decode(u, bound=False).bounds is None


def test_batches_larger_than_one_piece():
    """Long lists and many subsets are decoded in several pieces."""
    u, ranks = along_an_order(np.random.default_rng(0), 106, 200)
    first, _, third = np.argsort(ranks[-1])[:3]
    u[-1, third, first] = u[-1, first, third] + 1.0  # a cycle with an edge of weight 1
    decoded = decode_pd_exact(u)
    np.testing.assert_array_equal(decoded.ranks, ranks)
    np.testing.assert_array_equal(
        decoded.values, pair_costs(u) + (np.arange(106) == 105)
    )
    np.testing.assert_array_equal(decoded.values, decoded.bounds)
    net = net_scores(u)
    np.testing.assert_array_equal(
        np.argsort(decode_pd_borda(u).ranks, axis=1),
        np.argsort(-net, axis=1, kind="stable"),
    )
    u = preferences("normal", 1030, 12)
    decoded = decode_pd_exact(u)
    last = decode_pd_exact(u[1020:])
    np.testing.assert_array_equal(decoded.ranks[1020:], last.ranks)
    np.testing.assert_array_equal(decoded.values[1020:], last.bounds)


def test_batches_hold_every_list_once():
    assert bounded_blocks(5, 3, 7) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert bounded_blocks(2, 9, 7) == [slice(0, 1), slice(1, 2)]
    assert bounded_blocks(0, 0) == [slice(0, 0)]


@pytest.mark.parametrize("exact", EXACT)
def test_relabelled_items_cost_the_same(exact):
    u = preferences("whole", 20, 7)
    new = np.random.default_rng(0).permutation(7)
    relabelled = u[:, new][:, :, new]
    np.testing.assert_array_equal(exact(u).values, exact(relabelled).values)


@pytest.mark.parametrize("decode", ALL)
def test_symmetric_parts_and_the_diagonal_change_no_ranks(decode):
    u = preferences("whole", 15, 6)
    symmetric = preferences("whole", 15, 6, seed=1)
    symmetric += symmetric.transpose(0, 2, 1)
    i, j = np.triu_indices(6, 1)
    expected, other = decode(u), decode(u + symmetric)
    np.testing.assert_array_equal(other.ranks, expected.ranks)
    np.testing.assert_array_equal(
        other.values, expected.values + symmetric[:, i, j].sum(axis=1)
    )
    diagonal = decode(u + 1e20 * np.eye(6))
    np.testing.assert_array_equal(diagonal.ranks, expected.ranks)
    np.testing.assert_array_equal(diagonal.values, expected.values)


@pytest.mark.parametrize("exact", EXACT)
def test_the_transpose_reverses(exact):
    """An order costs in the transpose what its reverse costs."""
    u = preferences("normal", 15, 6)
    forward, backward = exact(u), exact(u.transpose(0, 2, 1))
    np.testing.assert_allclose(forward.values, backward.values)
    np.testing.assert_array_equal(forward.ranks, 7 - backward.ranks)  # unique optima
    off_diagonal = (u * (1 - np.eye(6))).sum(axis=(1, 2))
    np.testing.assert_allclose(
        preference_cost(u, 7 - forward.ranks), off_diagonal - forward.values
    )


@pytest.mark.parametrize("lengthen", [np.asarray, padded])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_every_order(lengthen, kind):
    for r in (1, 3, 6):
        u = preferences(kind, 4, r)
        best, scale = least_costs(u), np.abs(u).sum(axis=(1, 2))
        u = lengthen(u)  # further items without preferences cost nothing
        bounds = preference_bound(u)
        assert np.all(bounds <= best + 1e-13 * scale)
        assert np.all(bounds >= pair_costs(u) - 1e-13 * scale)
        for decode in DECODERS[:3]:
            decoded = decode(u, bound=True)
            assert np.all(decoded.bounds <= decoded.values)
            assert np.all(decoded.bounds <= best + 1e-9 * scale)
            assert np.all(
                decoded.values[decoded.optimal] - best[decoded.optimal]
                <= 1e-9 * scale[decoded.optimal]
            )


def test_bounds_of_few_items_are_the_least_costs():
    """Tenths: optimal orders, of which there are several, differ by rounding."""
    for u in (preferences("normal", 20, 6), 0.1 * preferences("whole", 60, 6)):
        np.testing.assert_allclose(preference_bound(u), least_costs(u), atol=1e-12)
        for decode in DECODERS:
            found = decode(u, bound=True)
            np.testing.assert_array_equal(
                found.optimal, found.values <= least_costs(u) + 1e-9
            )
            assert np.all(found.bounds <= found.values)


def test_differences_are_the_pairs_in_order():
    u = preferences("normal", 10, 5)
    i, j = np.triu_indices(5, 1)
    matrices = matrices_from_differences((u - u.transpose(0, 2, 1))[:, i, j], 5)
    np.testing.assert_array_equal(
        decode_pd_exact(matrices).ranks, decode_pd_exact(u).ranks
    )
    ranks = decode_pd_dag(u).ranks
    constant = u[:, j, i].sum(axis=1)
    np.testing.assert_allclose(
        preference_cost(u, ranks), constant + preference_cost(matrices, ranks)
    )


def test_bounds_come_with_gaps():
    decoded = Decoded(np.array([[1], [1]]), np.array([2.0, 3.0]), np.array([2.0, 1.0]))
    assert decoded.gaps.tolist() == [0.0, 2.0]
    assert decoded.optimal.tolist() == [True, False]
    assert Decoded(*decoded[:2]).gaps is None
    assert Decoded(*decoded[:2]).optimal is None


@pytest.mark.parametrize("decode", DECODERS)
def test_bad_preferences_are_refused(decode):
    for shape in [(2, 3, 4), (3, 3), (3,), (2, 0, 0)]:
        with refused_by("shape of preferences"):
            decode(np.zeros(shape))
    for bad in (np.nan, np.inf):
        u = np.zeros((2, 3, 3))
        u[1, 2, 0] = bad
        with refused_by("vectors that are not finite"):
            decode(u)


def test_too_many_items_are_refused_with_the_remedy():
    u = np.zeros((1, 201, 201))
    for call in (
        decode_pd_exact,
        preference_bound,
        lambda u: decode_pd_dag(u, bound=True),
    ):
        with refused_by("many items"):
            call(u)
    assert decode_pd_exact(u[:, 1:, 1:]).optimal.all()
    assert decode_pd_dag(u).values.tolist() == [0.0]


def test_a_wrong_number_of_differences_is_refused():
    for differences in (np.zeros((2, 4)), np.zeros(3)):
        with refused_by("shape of vectors"):
            matrices_from_differences(differences, 3)


@pytest.mark.parametrize("decode", DECODERS)
def test_an_edge_that_outweighs_all_others_hides_no_gap(decode):
    """No good order goes against it: certificates are as they are without it."""
    outside = np.zeros((1, 6, 6))
    outside[0, :4, :4] = COUNTER_EXAMPLE[0]
    outside[0, 4, 5] = 1e12
    decoded = decode(outside, bound=True)
    assert decoded.bounds[0] == 4.0
    assert decoded.optimal[0] == (decoded.values[0] == 4.0)
    inside = np.random.RandomState(13).randint(0, 4, (1, 13, 13)).astype(float)
    inside[0, 0, 1] = 1e12
    least = preference_cost(inside, decode_pd_exact(inside).ranks)[0]
    assert least == 94.0
    found = decode(inside, bound=True)
    assert found.optimal[0] == (found.values[0] == least)


def test_empty_batches():
    for decode in (decode_map_diagonal, decode_map_local_search, decode_map_exact):
        assert decode(np.zeros((0, 6)), 3, bound=True).ranks.shape == (0, 3)


# The table --------------------------------------------------------------------------


@pytest.mark.parametrize("name", PD_DECODERS)
def test_decoders_of_the_table_keep_what_it_says(name):
    entry = PD_DECODERS[name]
    for kind in ("normal", "whole", "sparse"):
        u = preferences(kind, 40, 6)
        decoded = entry.decode(u, bound=True)
        assert_ranks(decoded.ranks)
        least = least_costs(u)
        assert np.all(decoded.values >= least - 1e-12)
        assert np.all(decoded.bounds <= least + 1e-12)
        if entry.exact:
            np.testing.assert_allclose(decoded.values, least, atol=1e-12)
            assert decoded.optimal.all()
    if entry.max_items is not None:
        with refused_by("many items"):
            pd_decoder(name, entry.max_items + 1)
    assert pd_decoder(name, 3) is entry


def test_auto_is_exact_while_the_subsets_are_few():
    names = ["exact"] * 2 + ["short_search"] * 2 + ["dag"] * 2
    for n_items, name in zip((1, 12, 13, 40, 41, 5000), names, strict=True):
        assert PD_DECODERS[name].exact == (n_items <= 12)
        assert pd_decoder("auto", n_items) is PD_DECODERS[name]
        assert PairwiseDisagreement().auto_decoder(n_items) == name


@pytest.mark.parametrize("n_items", [5, 13, 25, 41])
def test_auto_is_never_worse_than_algorithm_1(n_items):
    auto = pd_decoder("auto", n_items)
    for kind in ("normal", "whole", "sparse"):
        u = preferences(kind, 10, n_items)
        found, dag = auto.decode(u, bound=False), decode_pd_dag(u)
        assert np.all(found.values <= dag.values + 1e-9)
        if kind == "normal" and n_items < 41:
            assert np.any(found.values < dag.values - 1e-9)
    acyclic, ranks = along_an_order(np.random.default_rng(0), 5, n_items)
    np.testing.assert_array_equal(auto.decode(acyclic, bound=False).ranks, ranks)


def test_losses_list_the_decoders_of_the_table():
    decoders = PairwiseDisagreement().decoders
    assert set(decoders) == {*PD_DECODERS, "sort"}
    for name, entry in PD_DECODERS.items():
        assert decoders[name].exact == entry.exact


def test_unknown_decoders_and_long_lists_name_the_others():
    names = re.escape(str(sorted(PD_DECODERS)))
    with pytest.raises(
        ValueError, match=rf"one of {names}, 'auto' or a function.*'sort'"
    ):
        pd_decoder("sort", 3)
    with pytest.raises(ValueError, match=r"got 201: use one of .*'local_search'"):
        pd_decoder("exact", 201)


def test_custom_decoders_are_valued_and_bounded():
    u = preferences("whole", 5, 4)
    ranks = np.array([np.random.default_rng(q).permutation(4) + 1 for q in range(5)])
    custom = pd_decoder(lambda v: ranks, 4)
    without, decoded = custom.decode(u), custom.decode(u, bound=True)
    assert without.bounds is None
    np.testing.assert_array_equal(decoded.ranks, ranks)
    np.testing.assert_allclose(decoded.values, costs(u, ranks))
    np.testing.assert_allclose(decoded.bounds, least_costs(u))
    np.testing.assert_array_equal(
        pd_decoder(decode_pd_dag, 4).decode(u).ranks, decode_pd_dag(u).ranks
    )
    wrong = pd_decoder(lambda v: [[1, 2, 3, 4], [1, 2, 3, 3]], 4)
    with pytest.raises(
        ValueError, match=r"returns\[1\] must be the ranks 1..4 .*\[1, 2, 3, 3\]"
    ):
        wrong.decode(u[:2])


def test_one_net_preference():
    """u_ij - u_ji and its row sums, of one matrix or many, each list by itself."""
    u = preferences("normal", 7, 5)
    net = net_preferences(u)
    for q, matrix in enumerate(u):
        np.testing.assert_array_equal(net_preferences(matrix), net[q])
        np.testing.assert_array_equal(net_scores(matrix), net_scores(u)[q])
        by_hand = [sum(matrix[i, j] - matrix[j, i] for j in range(5)) for i in range(5)]
        np.testing.assert_allclose(net_scores(u)[q], by_hand, atol=1e-12)
    np.testing.assert_array_equal(
        matrices_from_differences(differences_from_matrices(u), 5), np.triu(net)
    )
