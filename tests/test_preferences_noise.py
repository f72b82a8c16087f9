"""Theorems 4, 6 and 7 and the conditions that they name."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from lowrank_rank.calibration import conditional_regret, noise_report
from lowrank_rank.target_losses import MeanAveragePrecision, PairwiseDisagreement

from .internals import decode_sort


def in_p_dag(u, **given):
    return noise_report(u, **given).in_p_dag


def in_p_f(u, f="dmj", **given):
    return noise_report(u, score_function=f, **given).in_p_f


def in_p_reinforce(u, **given):
    return noise_report(u, target_loss="map", **given).in_p_reinforce


def p_reinforce_by_hand(u):
    r = len(u)
    return all(
        u[i, i]
        >= u[j, j] + sum(max(u[j, g] - u[i, g], 0) for g in range(r) if g not in (i, j))
        for i in range(r)
        for j in range(r)
        if i != j and u[i, i] >= u[j, j]
    )


@pytest.mark.parametrize("r", [2, 3, 4])
def test_condition_as_printed(r, seed):
    rng = np.random.default_rng([seed, r])
    row, column = np.tril_indices(r)
    for _ in range(100):
        u = np.zeros((r, r))
        u[row, column] = u[column, row] = rng.uniform(size=len(row))
        u[np.diag_indices(r)] += rng.uniform(0, r) * np.arange(r)
        assert in_p_reinforce(u[row, column][np.newaxis])[0] == p_reinforce_by_hand(u)


def exact_expectation(labels, counts):
    """E alpha(Y) of MAP in fractions, for labels that occur so often."""
    r, total = len(labels[0]), sum(counts)
    u = [[Fraction(0)] * r for _ in range(r)]
    for y, count in zip(labels, counts, strict=True):
        for i, j in itertools.product(range(r), repeat=2):
            if y[i] and y[j]:
                u[i][j] += Fraction(count, total * sum(y))
    return u


def test_condition_at_exact_ties():
    """Equal u_ii and u_jj imply it both ways, whatever the order in which labels are summed."""
    rng, members, ties = np.random.default_rng(0), [], 0
    for _ in range(800):
        r = int(rng.integers(3, 5))
        labels = rng.integers(0, 2, (5, r))
        labels[labels.sum(axis=1) == 0, 0] = 1
        counts = rng.integers(1, 8, 5)
        u = np.array(exact_expectation(labels.tolist(), counts.tolist()))
        ties += len(set(np.diag(u))) < r
        members.append(p_reinforce_by_hand(u))
        for order in (np.arange(5), rng.permutation(5)):
            p = (counts / counts.sum())[np.newaxis, order]
            found = in_p_reinforce(labels[order].astype(float), probabilities=p)
            assert found.tolist() == members[-1:]
    assert ties > 80
    assert 40 < sum(members) < 760


@pytest.mark.parametrize("r", [3, 4, 5])
def test_theorem_4(r, seed):
    """Inside P_reinforce the diagonal decoder is Bayes-optimal; outside it fails somewhere."""
    loss, rng = MeanAveragePrecision(), np.random.default_rng([seed, r])
    inside, worst = 0, 0.0
    for trial in range(300):
        support = rng.integers(0, 2, (6, r)).astype(float)
        if trial % 2:  # independent labels, in expectation: always inside
            support = np.array(np.meshgrid(*[[0.0, 1.0]] * r)).reshape(r, -1).T
            q = rng.uniform(size=r)
            p = np.prod(np.where(support > 0, q, 1 - q), axis=1)[np.newaxis]
        else:
            p = rng.dirichlet(np.full(6, 0.5), size=1)
        u = p @ loss.encode(support)
        ranks = loss.decoders["diagonal"].decode(u, r)
        regret = conditional_regret(loss, support, p, ranks)[0]
        if in_p_reinforce(u)[0]:
            inside += 1
            assert regret < 1e-9
        else:
            assert trial % 2 == 0, "independent labels are inside"
            worst = max(worst, regret)
    assert inside >= 150
    assert worst > 1e-3


def test_corollary_5_sorts_the_diagonal(seed):
    loss = MeanAveragePrecision()
    y = np.random.default_rng(seed).integers(0, 2, (30, 5)).astype(float)
    diagonal = [i * (i + 1) // 2 + i for i in range(5)]
    np.testing.assert_allclose(loss.score_targets(y), loss.encode(y)[:, diagonal])


def random_preferences(rng, n_labels, r):
    """Labels: each a random order with some of its pairs, of random weights."""
    before = np.triu(
        rng.uniform(size=(n_labels, r, r)) * (rng.uniform(size=(n_labels, r, r)) < 0.7),
        1,
    )
    order = np.argsort(rng.uniform(size=(n_labels, r)), axis=1)
    rows = np.arange(n_labels)[:, None, None]
    return before[rows, order[:, :, None], order[:, None, :]]


def count_beaten(y):
    """A score function that is not linear in y: how many items each is preferred to."""
    return (y > 0).sum(axis=2).astype(float)


def has_cycle(u):
    """Reachability by hand."""
    reach = (u > u.T).astype(int)
    for _ in range(len(u)):
        reach = ((reach + reach @ reach) > 0).astype(int)
    return bool(np.trace(reach))


@pytest.mark.parametrize("r", [3, 4, 5])
def test_theorem_7(r, seed):
    """Inside P_DAG algorithm 1 is Bayes-optimal, as is every decoder; outside only r > 3 fails."""
    loss, rng, worst, inside = (
        PairwiseDisagreement(),
        np.random.default_rng([seed, r]),
        0.0,
        0,
    )
    n_rounds = {3: 25, 4: 15, 5: 10}[r]
    for _ in range(n_rounds):
        support = random_preferences(rng, 5, r)
        p = rng.dirichlet(np.full(5, 0.7), size=10)
        u = p @ loss.encode(support)
        member = in_p_dag(support, probabilities=p)
        expected = np.einsum("nl,lij->nij", p, support)
        assert member.tolist() == [not has_cycle(table) for table in expected]
        regret = {
            name: conditional_regret(loss, support, p, loss.decoders[name].decode(u, r))
            for name in ("dag", "exact", "local_search")
        }
        assert regret["exact"].max() < 1e-9
        assert all(values[member].max(initial=0.0) < 1e-9 for values in regret.values())
        inside += member.sum()
        worst = max(worst, regret["dag"].max())
    assert 0.05 < inside / (10 * n_rounds) < 0.95
    assert worst > 1e-3 if r > 3 else worst < 1e-9


def cubed(z):
    return np.abs(z) ** 3


@pytest.mark.parametrize("nu", [0.5, 3.0])
@pytest.mark.parametrize("penalty", [np.square, np.cosh, cubed])
def test_minimisers_of_psi_dmj_have_the_order_of_the_net_preferences(penalty, nu, seed):
    rng = np.random.default_rng(seed)
    support, p = random_preferences(rng, 5, 4), rng.dirichlet(np.ones(5))

    def expectation(u):
        contradicted = np.einsum(
            "l,lij,ij->", p, support, u[np.newaxis, :] - u[:, np.newaxis]
        )
        return contradicted + nu * penalty(u).sum()

    scores = (
        p @ PairwiseDisagreement().score_targets(support) * 4
    )  # of a mean over 4 items
    found = minimize(expectation, np.zeros(4), tol=1e-10).x
    np.testing.assert_array_equal(np.argsort(found), np.argsort(scores))
    if penalty is np.square:
        np.testing.assert_allclose(2 * nu * found, scores, atol=1e-5)


@pytest.mark.parametrize("f", ["dmj", count_beaten])
@pytest.mark.parametrize("r", [3, 4])
def test_theorem_6(r, f, seed):
    """Inside P_f sorting E f is Bayes-optimal, outside it fails somewhere; P_f is in P_DAG."""
    loss, rng, worst = PairwiseDisagreement(), np.random.default_rng([seed, r]), 0.0
    inside = only_dag = 0
    for _ in range(150):
        support = random_preferences(rng, 5, r)
        p = rng.dirichlet(np.full(5, 0.7), size=1)
        scores = p @ (loss.score_targets(support) if f == "dmj" else f(support))
        regret = conditional_regret(loss, support, p, decode_sort(scores))[0]
        member = in_p_f(support, f, probabilities=p)[0]
        acyclic = in_p_dag(support, probabilities=p)[0]
        assert member == in_p_f(np.einsum("nl,lij->nij", p, support), scores=scores)[0]
        if member:
            inside += 1
            assert acyclic
            assert regret < 1e-9
        else:
            only_dag += acyclic
            worst = max(worst, regret)
    assert inside > 20
    assert only_dag > 20, "P_f is a strict part of P_DAG"
    assert worst > 1e-3


def test_expected_and_labelled_forms_agree():
    rng = np.random.default_rng(0)
    grades, p = (
        rng.integers(0, 4, (6, 4)).astype(float),
        rng.dirichlet(np.ones(6), size=50),
    )
    u = np.einsum("nl,lij->nij", p, PairwiseDisagreement().preferences(grades))
    np.testing.assert_array_equal(in_p_dag(grades, probabilities=p), in_p_dag(u))
    np.testing.assert_array_equal(in_p_f(grades, probabilities=p), in_p_f(u))
    binary = (grades > 1).astype(float)
    binary[binary.sum(axis=1) == 0, 0] = 1.0
    np.testing.assert_array_equal(
        in_p_reinforce(binary, probabilities=p),
        in_p_reinforce(p @ MeanAveragePrecision().encode(binary)),
    )


def test_rounding_makes_no_preference():
    assert in_p_dag([[[0, 1e-15, 0], [0, 0, 1e-15], [1e-15, 0, 0]]])[0]
    assert not in_p_dag([[[0, 1e-15, 0], [0, 0, 1e-15], [1e-15, 0, 0]]], tol=0.0)[0]


def test_noise_report():
    cycle, chain = np.zeros((2, 3, 3))
    cycle[[0, 1, 2], [1, 2, 0]] = [2.0, 2.0, 1.0]
    chain[[0, 0, 1], [1, 2, 2]] = 1.0
    only_dag = np.array([[0, 0.1, 0], [0, 0, 1], [0, 0, 0]])
    report = noise_report(np.array([cycle, chain, only_dag]))
    assert report.in_p_dag.tolist() == [False, True, True]
    assert report.in_p_f.tolist() == [False, True, False]
    np.testing.assert_allclose(report.deleted, [0.2, 0.0, 0.0])
    assert report.enough == "exact"
    assert noise_report([chain, only_dag]).enough == "dag"
    assert noise_report([chain]).enough == "borda"
    assert "66.7%" in str(report)
    longer = np.zeros((4, 4))
    mixed = noise_report([cycle, longer, chain])
    assert mixed.in_p_dag.tolist() == [False, True, True]
    np.testing.assert_allclose(mixed.deleted, [0.2, 0.0, 0.0])
    scores = [[3.0, 2.0, 1.0], np.zeros(4), [1.0, 2.0, 3.0]]
    assert noise_report([cycle, longer, chain], scores=scores).in_p_f.tolist() == [
        False, True, False,
    ]  # fmt: skip
    assert report.in_p_reinforce is None


def test_noise_report_of_average_precision():
    labels, p = [[0, 1, 1], [1, 0, 0]], [[0.65, 0.35], [0.2, 0.8]]
    report = noise_report(labels, probabilities=p, target_loss="map")
    assert report.in_p_reinforce.tolist() == [False, True]
    assert report.enough == "exact"
    assert "50.0%" in str(report)
    assert report.in_p_dag is report.in_p_f is report.deleted is None
    assert (
        noise_report(labels, probabilities=p[1:], target_loss="map").enough
        == "diagonal"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noise_report([]), "at least one list"),
        (lambda: noise_report([[[0, 1, 2], [0, 0, 1]]]), "shape"),
        (lambda: in_p_dag([[0, 1], [0, 0]]), "n_lists, r, r"),
        (
            lambda: in_p_f([[[0, 1], [0, 0]]], count_beaten),
            "together with probabilities",
        ),
        (lambda: in_p_f([[[0, 1], [0, 0]]], scores=[[1.0]]), "must be"),
        (
            lambda: in_p_f([[[0, 1], [0, 0]]], scores=[[1, 0], [1, 0]]),
            "of 2 lists .* for 1 lists",
        ),
        (lambda: in_p_dag([[1, 0]], probabilities=[[0.5, 0.5]]), r"shape \(n, 1\)"),
        (lambda: in_p_reinforce([[1.0, 0, 0]], scores=[[1.0, 0]]), "has no scores"),
        (lambda: in_p_reinforce([[1.0, 0]]), "lower triangles"),
        (lambda: noise_report([[1, 0]], target_loss="ndcg"), "target_loss must be"),
    ],
)
def test_bad_preferences(call, message):
    with pytest.raises(ValueError, match=message):
        call()
