"""Ramaswamy, Agarwal & Tewari 2013: low-rank losses."""

from itertools import permutations

import numpy as np

from lowrank_rank.calibration import noise_report
from lowrank_rank.decoders import decode_pd_exact
from lowrank_rank.target_losses import (
    ExpectedRankUtility,
    MatrixLoss,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
)

from . import Row, Source, assert_close


def orders(r):
    """Return the ranks of all orders of r items."""
    return np.array(list(permutations(range(1, r + 1))))


def losses_of_orders(loss, y, ranks):
    """Return the loss of one label for each row of ranks."""
    return loss.loss(np.tile(y, (len(ranks),) + (1,) * y.ndim), ranks)


def theorem_2(rng):
    """Decisions of vectors that converge to the minimiser converge to the best ones."""
    for _ in range(20):
        matrix = rng.uniform(size=(4, 5))
        loss = MatrixLoss(matrix)
        p = rng.dirichlet(np.ones(4))
        expected = p @ loss.encode(np.arange(4))
        step = rng.normal(size=expected.shape)
        costs = p @ matrix
        for distance in (1e-8, 1e-10):
            decision = loss.decode((expected + distance * step)[np.newaxis])[0]
            assert costs[decision] - costs.min() <= 100 * distance


def section_4(rng):
    """1 - (1/q) sum_i y_i 1(sigma(i) <= q), for q = 1 winner takes all."""
    ranks = orders(4)
    for q in (1, 2, 3):
        y = rng.integers(0, 2, 4).astype(float)
        by_hand = [1 - sum(y[s <= q]) / q for s in ranks]
        assert_close(losses_of_orders(PrecisionAtK(k=q), y, ranks), by_hand)


def section_5(rng):
    """z - sum_i max(y_i - v, 0) 2^((1 - sigma(i)) / (w - 1))."""
    ranks = orders(4)
    for _ in range(5):
        v, w, s = float(rng.integers(0, 3)), rng.uniform(1.5, 4.0), 4
        y = rng.integers(0, s + 1, 4).astype(float)
        loss = ExpectedRankUtility(neutral=v, half_life=w, max_grade=s)
        z = sum((s - v) * 2 ** ((1 - p) / (w - 1)) for p in range(1, 5))
        utility = [
            sum(max(y[i] - v, 0) * 2 ** ((1 - o[i]) / (w - 1)) for i in range(4))
            for o in ranks
        ]
        assert_close(losses_of_orders(loss, y, ranks), z - np.array(utility))


def section_6(rng):
    """The loss of MAP, and its sum over i >= j with the larger of two ranks."""
    ranks, loss = orders(4), MeanAveragePrecision()
    y = rng.integers(0, 2, 4).astype(float)
    y[rng.integers(4)] = 1.0
    relevant = [i for i in range(4) if y[i]]
    printed = []
    for s in ranks:
        above = {i: sum(y[j] for j in range(4) if s[j] <= s[i]) for i in relevant}
        printed.append(1 - sum(above[i] / s[i] for i in relevant) / len(relevant))
    low_rank = [
        1
        - sum(
            y[i] * y[j] / y.sum() / max(s[i], s[j])
            for i in range(4)
            for j in range(i + 1)
        )
        for s in ranks
    ]
    assert_close(printed, low_rank)
    assert_close(losses_of_orders(loss, y, ranks), printed)
    pairs = [y[i] * y[j] / y.sum() for i in range(4) for j in range(i + 1)]
    assert_close(loss.encode(y[np.newaxis])[0], pairs)


def section_7(rng):
    """Sum of y_ij over the pairs in the other order, of graphs and of grades."""
    ranks, loss = orders(4), PairwiseDisagreement()
    graph = np.triu(rng.uniform(size=(4, 4)), 1)
    order = rng.permutation(4)
    graph = graph[np.ix_(order, order)]
    grades = rng.integers(0, 3, 4).astype(float)
    for label, weights in (
        (graph, graph),
        (grades, (grades[:, np.newaxis] > grades) * 1.0),
    ):
        by_hand = [
            sum(
                weights[i, j]
                for i in range(4)
                for j in range(4)
                if i != j and s[i] > s[j]
            )
            for s in ranks
        ]
        assert_close(losses_of_orders(loss, label, ranks), by_hand)


def equation_1(rng):
    """Least squares is minimal at E Y_ij; its decoder is a feedback arc set."""
    ranks, loss = orders(4), PairwiseDisagreement()
    support = rng.uniform(size=(5, 4, 4)) * (rng.uniform(size=(5, 4, 4)) < 0.5)
    support[:, np.arange(4), np.arange(4)] = 0.0
    support = np.where(support > support.transpose(0, 2, 1), support, 0.0)
    p = rng.dirichlet(np.ones(5))
    costs = p @ [losses_of_orders(loss, y, ranks) for y in support]
    expected = np.einsum("n,nij->ij", p, support)
    decoded = decode_pd_exact(expected[np.newaxis])
    assert_close(decoded.values[0], costs.min())
    found = np.flatnonzero((ranks == decoded.ranks[0]).all(axis=1))[0]
    assert_close(costs[found], costs.min())


def p_reinforce_at_ties(rng):
    """u_ii >= u_jj implies u_ii - u_jj >= sum of (u_jg - u_ig)+, at equality too."""
    seen = set()
    for _ in range(150):
        r = int(rng.integers(2, 5))
        u = rng.integers(0, 3, (r, r)) / 8  # sums are exact
        u = np.tril(u) + np.tril(u, -1).T
        u[np.diag_indices(r)] += rng.integers(0, 3, r) * rng.integers(0, 3) / 8
        gap = u.diagonal()[:, np.newaxis] - u.diagonal()
        holds, kind = True, set()
        for i, j in permutations(range(r), 2):
            others = [g for g in range(r) if g not in (i, j)]
            needed = sum(max(u[j, g] - u[i, g], 0.0) for g in others)
            if gap[i, j] >= 0:
                holds &= gap[i, j] >= needed
                kind.add((gap[i, j] == 0, bool(np.sign(gap[i, j] - needed) == 0)))
        triangle = u[np.tril_indices(r)][np.newaxis]
        for tol in (0.0, 1e-12):
            found = noise_report(triangle, target_loss="map", tol=tol)
            assert found.in_p_reinforce[0] == holds
        seen |= {(holds, *one) for one in kind}
    # Equal diagonals that break it, and differences that are just enough.
    assert {(False, True, False), (True, False, True), (True, True, True)} <= seen


def graphs_at_ties(rng):
    """An edge is u_ij > u_ji, and P_f needs f_i > f_j: equality is neither, up to tol."""
    seen = set()
    for _ in range(60):
        r = int(rng.integers(2, 5))
        u = rng.integers(0, 4, (r, r)) / 8
        u[np.diag_indices(r)] = 0.0
        f = rng.integers(0, 4, r) / 8
        for tol in (0.0, 1 / 8):
            edges = u - u.T > tol
            higher = f[:, np.newaxis] - f > tol
            in_p_f = not np.any(edges & ~higher)
            reach = edges.copy()
            for g in range(r):
                reach |= np.outer(reach[:, g], reach[g])
            in_p_dag = not reach.diagonal().any()
            found = noise_report([u], scores=[f], tol=tol)
            assert found.in_p_f[0] == in_p_f
            assert found.in_p_dag[0] == in_p_dag
            # Without the smallest edges the graph has no cycle: all of one weight go.
            net = np.where(edges, u - u.T, 0.0)
            assert (found.deleted[0] > 0) == (not in_p_dag)
            assert found.deleted[0] < 1 or net.sum() == 0
            if in_p_f and in_p_dag:
                assert found.enough == "borda"
            elif in_p_dag:
                assert found.enough == "dag"
            else:
                assert found.enough == ("borda" if in_p_f else "exact")
            own = np.sum(u - u.T, axis=1)
            dmj = noise_report([u], tol=tol)
            is_higher = own[:, np.newaxis] - own > tol
            assert dmj.in_p_f[0] == (not np.any(edges & ~is_higher))
            seen.add((in_p_f, in_p_dag, bool(edges.any())))
    assert len(seen) >= 4


NOISE = "test_preferences_noise"
ARCS = "test_decoders_feedback_arcs"
RANKER = "test_low_rank_surrogate_ranker"
LOSSES = "test_target_losses"

ROWS = [
    Row(
        "definition 1",
        "A surrogate with its decoder is calibrated on a set of distributions if only "
        "vectors with the best decisions minimise its expectation.",
        "calibration.calibration_report",
        tests=("test_low_rank_calibration::test_claims_of_our_losses_hold",),
    ),
    Row(
        "theorem 2",
        "For a calibrated surrogate, decisions become the best ones as the expected "
        "surrogate goes to its least value.",
        "target_losses.MatrixLoss",
        checks=(theorem_2,),
    ),
    Row(
        "theorem 3",
        "A loss ⟨alpha(y), β(t)⟩ + c has a calibrated surrogate, least squares on alpha with "
        "the decoder argmin ⟨u, β(t)⟩.",
        "LowRankSurrogateRanker",
        tests=(
            f"{LOSSES}::test_contract_by_enumeration",
            f"{LOSSES}::test_matrix_loss_is_calibrated",
            f"{RANKER}::test_population_minimiser_is_bayes_optimal",
        ),
    ),
    Row(
        "section 4",
        "Precision at q and winner takes all: alpha = y, decoded by sorting.",
        "target_losses.PrecisionAtK",
        checks=(section_4,),
    ),
    Row(
        "section 5",
        "Expected rank utility: alpha = max(y - v, 0), decoded by sorting.",
        "target_losses.ExpectedRankUtility",
        checks=(section_5,),
    ),
    Row(
        "section 6",
        "MAP: alpha = y_i y_j / Σ y in r(r+1)/2 dimensions, decoded by a quadratic "
        "assignment problem.",
        "target_losses.MeanAveragePrecision",
        checks=(section_6,),
        tests=(
            "test_decoders::test_subset_program_is_exact",
            "test_decoders::test_worked_numbers",
        ),
    ),
    Row(
        "section 6, documents",
        "The r(r+1)/2 targets of MAP for lists of documents.",
        missing="a target of two documents needs features of pairs; fixed items have "
        "these targets",
    ),
    Row(
        "theorem 4",
        "Sorting the diagonal u_ii is calibrated for MAP on P_reinforce.",
        "calibration.noise_report",
        checks=(p_reinforce_at_ties,),
        tests=(f"{NOISE}::test_condition_as_printed", f"{NOISE}::test_theorem_4"),
    ),
    Row(
        "corollary 5",
        "So is the surrogate in r dimensions that regresses y_i / Σ y and sorts.",
        "target_losses.MeanAveragePrecision",
        tests=(
            f"{NOISE}::test_corollary_5_sorts_the_diagonal",
            "test_order_preserving_regressor"
            "::test_map_is_right_for_independent_labels_and_has_no_bound",
        ),
    ),
    Row(
        "section 7",
        "Pairwise disagreement: the sum of y_ij over the pairs in the other order.",
        "target_losses.PairwiseDisagreement",
        checks=(section_7,),
    ),
    Row(
        "equation (1)",
        "Its calibrated surrogate is least squares on y_ij, decoded by a minimum "
        "weighted feedback arc set.",
        "decoders.decode_pd_exact",
        checks=(equation_1,),
        tests=(
            f"{ARCS}::test_exact_orders_cost_least",
            f"{ARCS}::test_worked_numbers",
        ),
    ),
    Row(
        "theorem 6",
        "Least squares on any scores f(y), sorted, is calibrated for pairwise "
        "disagreement on P_f.",
        "PairwiseDAGRanker",
        tests=(f"{NOISE}::test_theorem_6",),
    ),
    Row(
        "section 7.1",
        "The surrogate of Duchi, Mackey & Jordan orders as f_i = Σ_j (y_ij - y_ji); "
        "λ(z) = z² is least squares on f.",
        "PairwiseDAGRanker",
        tests=(
            f"{NOISE}::test_minimisers_of_psi_dmj_have_the_order_of_the_net_preferences",
        ),
    ),
    Row(
        "section 7.1, λ",
        "The surrogate of Duchi, Mackey & Jordan for another λ than z².",
        missing="its minimiser has the same order for every λ, and z² has a closed "
        "form",
    ),
    Row(
        "algorithm 1",
        "Delete the smallest edges (u_ij - u_ji)₊ until the graph has no cycle, and "
        "sort it topologically.",
        "decoders.decode_pd_dag",
        tests=(f"{ARCS}::test_algorithm_1_is_the_literal_one",),
    ),
    Row(
        "theorem 7",
        "Algorithm 1 is calibrated on P_DAG, which contains every P_f.",
        "calibration.noise_report",
        checks=(graphs_at_ties,),
        tests=(f"{NOISE}::test_theorem_7", f"{NOISE}::test_noise_report"),
    ),
]

SOURCE = Source("Ramaswamy, Agarwal & Tewari 2013: low-rank losses", ROWS)
