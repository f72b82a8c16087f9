"""Calauzènes, Usunier & Gallinari 2013: order-preserving losses."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

from lowrank_rank.calibration import conditional_regret, regret_bound
from lowrank_rank.metrics import measure_score
from lowrank_rank.surrogates import SURROGATES, BregmanSurrogate, surrogate_loss
from lowrank_rank.target_losses import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    PositionalLoss,
    PrecisionAtK,
    RecallAtK,
)

from ..internals import C_phi, RankingLists, resolve_measure
from . import Row, Source, assert_close

# Measures ---------------------------------------------------------------------------


def discounted(r, k):
    """Return [p <= k] / log2(1 + p) for p = 1, ..., r."""
    places = np.arange(1, r + 1)
    return (places <= k) / np.log2(1 + places)


def ideal(gains, k):
    """Return the DCG@k of the best order."""
    return np.sort(gains)[::-1] @ discounted(len(gains), k)


def positional(name, y, k):
    """Return the measure of a name with its utilities, discounts and offset b(y)."""
    r = len(y)
    places = np.arange(1, r + 1)
    binary = (y > 0) * 1.0
    if name == "precision":
        return PrecisionAtK(k), binary, (places <= k) / k, 0.0
    if name == "recall":
        return RecallAtK(k), binary / binary.sum(), (places <= k) * 1.0, 0.0
    if name == "dcg":
        return DCG(k), y, discounted(r, k), 0.0
    if name == "dcg_exp":
        return DCG(k, gain="exponential"), 2.0**y - 1, discounted(r, k), 0.0
    if name == "ndcg":
        return NDCG(k), y / ideal(y, k), discounted(r, k), 0.0
    if name == "auc":
        P = binary.sum()
        N = r - P
        return AUC(), binary / (P * N), r - places, -(P - 1) / (2 * N)
    if name == "spearman":
        # The best item has the largest label, and rho_i = 1.
        rho = r - np.argsort(np.argsort(y))
        utilities = 12 * (r - rho) / (r * (r**2 - 1))
        return (
            resolve_measure("spearman"),
            utilities,
            r - places,
            -3 * (r - 1) / (r + 1),
        )
    half_life = 1.0 + k
    phi = 2.0 ** ((1 - places) / (half_life - 1))
    loss = ExpectedRankUtility(neutral=1.0, half_life=half_life)
    return loss, np.maximum(y - 1.0, 0.0), phi, 0.0


class Given(PositionalLoss):
    """The grades times discounts that are given."""

    labels = "graded"

    def __init__(self, phi):
        self.phi = phi

    def discount(self, p, r):
        return np.asarray(self.phi)[p - 1]


NAMES = ["precision", "recall", "dcg", "dcg_exp", "ndcg", "auc", "spearman", "eru"]


def labels(rng, name, r):
    """Draw labels with a relevant and an irrelevant item, or an order."""
    if name == "spearman":
        return rng.permutation(r).astype(float)
    y = rng.integers(0, 2 if name in ("precision", "recall", "auc") else 5, r) * 1.0
    first, other = rng.permutation(r)[:2]
    y[first], y[other] = 1.0 if y.max() < 2 else 3.0, 0.0
    return y


def table_1(rng):
    """r(y, order) = b(y) + sum_i phi(rank(i)) v_i(y), for all orders."""
    for name in NAMES:
        for r in (2, 4):
            y = labels(rng, name, r)
            measure, v, phi, b = positional(name, y, int(rng.integers(1, r + 1)))
            for order in permutations(range(1, r + 1)):
                ranks = np.array(order)
                value = measure_score(measure, y, -ranks)
                assert_close(value, b + phi[ranks - 1] @ v)


def discounts_do_not_increase(rng):
    """Equal discounts are taken, and one that rises is refused, in each place."""
    for r in (2, 3, 5):
        phi = np.sort(rng.uniform(size=r))[::-1]
        for place in range(1, r):
            level = phi.copy()
            level[place] = level[place - 1]
            level[place:] = np.minimum(level[place:], level[place])
            half = r // 2
            falls = level[:half] - level[::-1][:half]
            assert_close(C_phi(level), np.sqrt((falls**2).sum()))
            assert_close(Given(level).C_phi(r), C_phi(level))
            y = rng.integers(0, 5, r).astype(float)
            value = measure_score(Given(level), y, -np.arange(r))
            assert_close(value, y @ level)
            level[place] += 1e-6
            for call in (
                lambda level=level: C_phi(level),
                lambda level=level, y=y: measure_score(Given(level), y, y),
            ):
                with pytest.raises(ValueError, match="not increase"):
                    call()


def ndcg_of_extreme_gains(rng):
    """Gains times a power of two have the same NDCG, near the ends of the floats too."""
    r = 4
    y = rng.integers(0, 8, 2 * r).astype(float)
    y[[0, r]] = 5.0
    scores = rng.integers(0, 3, 2 * r).astype(float)
    qid = np.repeat([0, 1], r)
    plain = measure_score("ndcg@3", y, scores, qid=qid, average=None)
    for exponent in (-1060, -1000, -901, -900, -899, 0, 890, 899, 900, 901, 950):
        for both in (True, False):
            scaled = np.ldexp(y, exponent)
            if not both:  # a list of usual gains beside it
                scaled[r:] = y[r:]
            found = measure_score("ndcg@3", scaled, scores, qid=qid, average=None)
            assert_close(found, plain)


def problem(rng, r):
    """Draw expected utilities and discounts that decrease strictly."""
    v = rng.uniform(size=(4, r))
    p = rng.dirichlet(np.ones(4))
    return v, p, discounted(r, r)


def equation_2(rng):
    """Orders by E v have no regret, and all others have some."""
    for r in (2, 3, 4):
        v, p, _ = problem(rng, r)
        expected = p @ v
        for order in permutations(range(1, r + 1)):
            ranks = np.array([order])
            regret = conditional_regret("dcg", v, p[np.newaxis], ranks)[0]
            is_sorted = np.all(np.diff(expected[np.argsort(ranks[0])]) <= 0)
            assert (regret < 1e-12) == is_sorted


def equation_6(rng):
    """Swapping i and j changes the measure by (U_i - U_j) times two discounts."""
    v, p, phi = problem(rng, 5)
    expected = p @ v
    for i, j in combinations(range(5), 2):
        ranks = rng.permutation(5) + 1
        swapped = ranks.copy()
        swapped[[i, j]] = ranks[[j, i]]
        both = np.array([ranks, swapped])
        before, after = conditional_regret("dcg", v, np.array([p, p]), both)
        change = (expected[i] - expected[j]) * (phi[ranks[j] - 1] - phi[ranks[i] - 1])
        assert_close(before - after, change)


def disjoint_sets(pairs):
    """Yield the sets of pairs without a common item."""
    yield []
    for n, (i, j) in enumerate(pairs):
        rest = [pair for pair in pairs[n + 1 :] if not {i, j} & set(pair)]
        for chosen in disjoint_sets(rest):
            yield [(i, j), *chosen]


def misordered(expected, ranks):
    """List the pairs (i, j) with U_i > U_j and j above i."""
    items = range(len(ranks))
    return [
        (i, j)
        for i in items
        for j in items
        if expected[i] > expected[j] and ranks[i] > ranks[j]
    ]


def lemma_4_1(rng):
    """Some set of disjoint pairs in the wrong order bounds the regret."""
    for _ in range(20):
        v, p, phi = problem(rng, 5)
        expected = p @ v
        best = np.argsort(np.argsort(-expected))
        ranks = rng.permutation(5) + 1
        regret = conditional_regret("dcg", v, p[np.newaxis], ranks[np.newaxis])[0]
        largest = max(
            sum(
                (expected[i] - expected[j]) * (phi[best[i]] - phi[best[j]])
                for i, j in chosen
            )
            for chosen in disjoint_sets(misordered(expected, ranks))
        )
        assert regret <= largest + 1e-12


def lemma_5_1(rng):
    """Hölder: C_phi(p) times the q-norm of the differences bounds the same sums."""
    for power in (1.5, 2.0, 3.0):
        q = power / (power - 1)
        v, p, phi = problem(rng, 5)
        expected = p @ v
        best = np.argsort(np.argsort(-expected))
        pairs = misordered(expected, rng.permutation(5))
        for chosen in disjoint_sets(pairs):
            differences = np.array([expected[i] - expected[j] for i, j in chosen])
            of_phi = np.array([phi[best[i]] - phi[best[j]] for i, j in chosen])
            bound = DCG().C_phi(5, p=power) * (differences**q).sum() ** (1 / q)
            assert differences @ of_phi <= bound + 1e-12
    assert_close(
        C_phi(phi, p=3.0),
        ((phi[0] - phi[4]) ** 3 + (phi[1] - phi[3]) ** 3) ** (1 / 3),
    )


# Surrogates -------------------------------------------------------------------------

POINTWISE = [
    "pointwise_squared",
    "pointwise_logistic",
    "pointwise_exponential",
    "pointwise_squared_hinge",
    "pointwise_smooth_hinge",
]
PAIRWISE = ["pairwise_squared", "pairwise_logistic", "pairwise_exponential"]


def of_eta(name, eta):
    """Return the surrogate of a name, with eta if it has one."""
    surrogate = SURROGATES[name]()
    if name in POINTWISE[1:]:
        surrogate.set_params(eta=eta)
    return surrogate


def constant(surrogate, expected):
    """Return c of the bound (9): C_phi of the discounts (1, 0) is 1."""
    return regret_bound(surrogate, [expected], [1.0, 0.0], [1.0])[0]


def least(function):
    """Return the least value of a convex function of one number in [-12, 12]."""
    found = minimize_scalar(
        function, bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-9}
    )
    return found.fun


def equation_11(rng):
    """c^2 times the cost of a tie is at least the squared difference of utilities."""
    for name in POINTWISE:
        surrogate = of_eta(name, eta=1.0)

        def risk(u, s, surrogate=surrogate):
            """Sum over items of the same score s."""
            return surrogate_loss(surrogate, u, np.full(len(u), s))[0]

        closest = 0.0
        for trial in range(6):
            middle = rng.uniform(0.2, 0.8) if trial else 0.5
            step = 0.1 * rng.uniform(0.02, 1.0) if trial else 0.005
            u = np.array([middle + step, middle - step])
            least_costs = [least(lambda s, v=v: risk(v, s)) for v in (u, u[:1], u[1:])]
            tie = least_costs[0] - least_costs[1] - least_costs[2]
            squared = constant(surrogate, u) ** 2 * tie
            assert squared >= (u[0] - u[1]) ** 2 * (1 - 1e-4)
            closest = max(closest, (u[0] - u[1]) ** 2 / squared)
        assert closest > 0.9  # a smaller c would not do


def equation_13(rng):
    """c^2 times the cost of a difference <= 0 is at least (U_i - U_j)^2, i before j."""
    for name in PAIRWISE:
        closest = 0.0
        for trial in range(10):
            middle = rng.uniform(0.2, 3.0)
            step = middle * (rng.uniform(0.01, 0.9) if trial else 0.01)
            u = np.array([middle + step, middle - step])
            surrogate = SURROGATES[name]()

            def risk(d, surrogate=surrogate, u=u):
                return surrogate_loss(surrogate, u, [d, 0.0])[0]

            # The least cost of d <= 0 is at d = 0: the risk is convex.
            excess = risk(0.0) - least(risk)
            squared = constant(surrogate, u) ** 2 * excess
            assert squared >= (u[0] - u[1]) ** 2 * (1 - 1e-4)
            closest = max(closest, (u[0] - u[1]) ** 2 / squared)
        assert closest > 0.9


def entropy(v):
    """Compute v log v + (1 - v) log(1 - v), which is 4-strongly convex."""
    return xlogy(v, v) + xlogy(1 - v, 1 - v)


def equation_12(rng):
    """psi(t x + (1 - t) y) is below the chord by mu t (1 - t) |x - y|^2 / 2."""
    x, y, t = rng.uniform(size=(3, 200))
    chord = t * entropy(x) + (1 - t) * entropy(y)
    between = entropy(t * x + (1 - t) * y)
    assert np.all(between <= chord - 4 / 2 * t * (1 - t) * (x - y) ** 2 + 1e-12)
    # The divergence is then at least mu / 2 times the squared distance.
    surrogate = BregmanSurrogate(entropy, expit, mu=4.0)
    divergence = surrogate_loss(surrogate, x, np.log(y / (1 - y)))[0]
    assert divergence >= 4 / 2 * ((x - y) ** 2).sum()


def theorem_5_3(rng):
    """The regret is at most 2 C_phi(2) / sqrt(mu) times the root of the surrogate's."""
    surrogate = BregmanSurrogate(entropy, expit, mu=4.0)
    for _ in range(50):
        v, p, _ = problem(rng, 4)
        expected = p @ v
        scores = rng.normal(size=4)
        best = np.log(expected / (1 - expected))
        risks = [
            p @ [surrogate_loss(surrogate, one, s)[0] for one in v]
            for s in (scores, best)
        ]
        ranks = np.argsort(np.argsort(-scores))[np.newaxis] + 1
        regret = conditional_regret("dcg", v, p[np.newaxis], ranks)[0]
        bound = 2 * DCG().C_phi(4) / np.sqrt(4.0) * np.sqrt(risks[0] - risks[1])
        found = regret_bound(surrogate, [expected], "dcg", [risks[0] - risks[1]])[0]
        assert regret <= bound + 1e-9
        assert_close(found, bound)


def equation_1(rng):
    """Scores that converge to the minimiser have the best value of the measure."""
    from ..surrogate_cases import MINIMISER

    for name, minimiser in MINIMISER.items():
        v, p, _ = problem(rng, 4)
        eta = 1.2
        best = minimiser(p @ v, eta)
        surrogate = of_eta(name, eta)

        def risk(s, v=v, p=p, surrogate=surrogate):
            return p @ [surrogate_loss(surrogate, one, s)[0] for one in v]

        step = rng.normal(size=4)
        excess = [risk(best + t * step) - risk(best) for t in (1.0, 0.1, 1e-5)]
        assert excess[0] > excess[1] > excess[2] > -1e-9
        ranks = np.argsort(np.argsort(-(best + 1e-5 * step)))[np.newaxis] + 1
        assert conditional_regret("dcg", v, p[np.newaxis], ranks)[0] < 1e-4


def rows_of_no_weight(rng):
    """A row of weight 0 is as if it were not there, and so is a list without weight."""
    from ..surrogate_cases import CASES

    for surrogate in CASES.values():
        v = np.append(rng.uniform(0.2, 3.0, 4), rng.integers(0, 2, 5))
        s = rng.normal(size=9)
        w = rng.uniform(0.5, 2.0, 9)
        lists = RankingLists([4, 5])
        w[4:] = 0.0
        alone = surrogate.evaluate(v[:4], s[:4], RankingLists([4]), w[:4])
        found = surrogate.evaluate(v, s, lists, w)
        assert_close(found.values, [alone.values[0], 0.0])
        assert_close(found.gradient, np.append(alone.gradient, np.zeros(5)))
        for far in (-2000.0, 2000.0):
            at, own = int(rng.integers(5)), np.arange(5)
            utilities = np.insert(v[:4], at, rng.choice([0.0, 1.0]))
            scores = np.insert(s[:4], at, far)
            weights = np.insert(w[:4], at, 0.0)
            found = surrogate.evaluate(utilities, scores, RankingLists([5]), weights)
            assert_close(found.values, alone.values)
            assert_close(found.gradient[own != at], alone.gradient)
            assert found.gradient[at] == found.curvature[at] == 0.0


def far_scores(rng):
    """Losses that grow like the scores have their values hundreds of units apart."""
    from ..surrogate_cases import CASES

    def log_sum(z):
        return z.max() + np.log(np.exp(z - z.max()).sum())

    def logistic(v, s):
        return sum(
            v[i] * max(0.0, s[j] - s[i]) for i in range(4) for j in range(4) if i != j
        )

    by_hand = {
        "pairwise_logistic": logistic,
        "cross_entropy": lambda v, s: v.sum() * log_sum(s) - v @ s,
        "pointwise_logistic": lambda v, s: sum(
            v[i] * max(0.0, -s[i]) + (4.0 - v[i]) * max(0.0, s[i]) for i in range(4)
        ),
    }
    for name, value in by_hand.items():
        v = rng.uniform(0.2, 3.0, 4)
        # At least 100 units apart: log(1 + exp(z)) is max(0, z).
        s = rng.permutation([-900.0, -300.0, 150.0, 1000.0]) + rng.uniform(size=4)
        found = CASES[name].evaluate(v, s, RankingLists([4]), np.ones(4))
        assert_close(found.values[0], value(v, s))
    # An item without utility that is far below the others adds nothing.
    for name in ("pairwise_logistic", "pairwise_exponential", "cross_entropy"):
        v, s = rng.uniform(0.2, 3.0, 4), rng.normal(size=4)
        alone = CASES[name].evaluate(v, s, RankingLists([4]), np.ones(4))
        found = CASES[name].evaluate(
            np.append(v, 0.0), np.append(s, -2000.0), RankingLists([5]), np.ones(5)
        )
        assert_close(found.values, alone.values)
        assert_close(found.gradient, np.append(alone.gradient, 0.0))


def kinks(rng):
    """At a kink of the slope the curvature is the smaller one of both sides."""
    from ..surrogate_cases import CASES

    for name, t, a in (
        ("pointwise_squared_hinge", 1.0, None),
        ("squared_hinge_t2", 2.0, None),
        ("pointwise_smooth_hinge", 1.0, 1.0),
        ("smooth_hinge_a.25", 1.0, 0.25),
        ("smooth_hinge_a3", 1.0, 3.0),
    ):
        at = np.array([0.0, t] if a is None else [0.0, t, a, t - a])
        v = rng.uniform(0.5, 3.0, len(at))
        weights = np.ones(len(at))
        lists = RankingLists([len(at)])

        def derivatives(step, name=name, v=v, at=at, lists=lists, weights=weights):
            found = CASES[name].evaluate(v, at + step, lists, weights)
            return found.gradient, found.curvature

        slope, curvature = derivatives(0.0)
        sides = [derivatives(sign * 1e-9) for sign in (1, -1)]
        for side, _ in sides:  # the slope is continuous
            assert_close(slope, side, atol=1e-6)
        smaller = np.minimum(sides[0][1], sides[1][1])
        assert np.all(curvature <= smaller + 1e-9)
        if a != t:  # else both terms of an item have a kink at one score
            assert_close(curvature, smaller)


BOUNDS = "test_order_preserving_bounds"
VALUES = "test_order_preserving_surrogates"
UNIFORM = (
    "uniform calibration says that some regret bound exists; the bounds of section 5 "
    "are in the package"
)

ROWS = [
    Row(
        "section 2.1",
        "A measure of tied scores is its mean over the orders that agree with them.",
        "metrics.measure_score",
        tests=(
            "test_metrics::test_ties_in_the_head_and_below_it_by_enumeration",
            "test_metrics::test_ragged_batch_equals_the_reference_list_by_list",
            "test_metrics::test_worked_numbers",
        ),
    ),
    Row(
        "definition 2.1",
        "A positional measure is b(y) + Σ φ(rank) v(y), with φ that does not increase.",
        "target_losses.PositionalLoss",
        checks=(table_1, discounts_do_not_increase),
    ),
    Row(
        "table 1",
        "Utilities, discounts and offsets of (N)DCG, precision, recall, AUC and "
        "Spearman's rank correlation; AP and ERR.",
        "metrics.measure_score",
        checks=(table_1, ndcg_of_extreme_gains),
        tests=("test_target_losses::test_loss_is_constant_minus_measure",),
    ),
    Row(
        "definition 2.2",
        "A template loss is a function of the utilities v(y) and the scores.",
        "surrogates.surrogate_loss",
        checks=(rows_of_no_weight,),
        tests=(f"{VALUES}::test_values_are_the_sums_of_the_definition",),
    ),
    Row(
        "equation (1)",
        "The measure goes to its best value as the expected surrogate goes to its "
        "least.",
        "OrderPreservingRegressor",
        checks=(equation_1,),
    ),
    Row(
        "definition 2.3",
        "Calibration for a measure: only scores with its best value minimise.",
        "OrderPreservingRegressor",
        tests=(f"{BOUNDS}::test_minimiser_orders_as_expected_utilities",),
    ),
    Row("definition 2.4", "Uniform calibration.", missing=UNIFORM),
    Row(
        "equation (2)",
        "Orders by E v are best for every positional measure; if φ decreases strictly, "
        "no others are.",
        "calibration.conditional_regret",
        checks=(equation_2,),
    ),
    Row(
        "definition 3.1",
        "A loss is order-preserving if only scores in the order of E v minimise it.",
        "calibration.is_order_preserving",
        tests=(f"{BOUNDS}::test_counter_examples_are_valid",),
    ),
    Row(
        "equation (3)",
        "Pointwise losses Σ λ(v_i, s_i).",
        "surrogates.SURROGATES",
        checks=(kinks,),
        tests=(
            f"{VALUES}::test_values_are_the_sums_of_the_definition",
            f"{VALUES}::test_derivatives",
        ),
    ),
    Row(
        "equation (4)",
        "Pairwise losses Σ_{i<j} λ(v_i, v_j, s_i - s_j).",
        "surrogates.SURROGATES",
        checks=(far_scores,),
        tests=(
            f"{VALUES}::test_values_are_the_sums_of_the_definition",
            f"{VALUES}::test_convex_along_segments",
        ),
    ),
    Row(
        "equation (5)",
        "Bregman divergences B_ψ(v ‖ g(s)), here of separable ψ with their canonical "
        "link.",
        "surrogates.BregmanSurrogate",
        tests=(f"{VALUES}::test_bregman_of_the_entropy_is_the_logistic_loss",),
    ),
    Row(
        "equation (5), other links",
        "Bregman divergences with another link, or of functions that are not "
        "separable.",
        missing="they need not be convex in the scores",
    ),
    Row(
        "remark 2",
        "The usual losses of pairs, Σ [v_i > v_j] φ(s_i - s_j), are not "
        "order-preserving.",
        "calibration.is_order_preserving",
        tests=(f"{BOUNDS}::test_usual_pairwise_losses_put_the_wrong_item_first",),
    ),
    Row(
        "theorem 3.2",
        "An order-preserving loss is calibrated for every positional measure.",
        "OrderPreservingRegressor",
        tests=(f"{BOUNDS}::test_minimiser_orders_as_expected_utilities",),
    ),
    Row(
        "equation (6)",
        "The regret of an order is that of the order with two items swapped, plus the "
        "difference of their utilities times the difference of their discounts.",
        "calibration.conditional_regret",
        checks=(equation_6,),
    ),
    Row(
        "theorem 3.3",
        "No loss that preserves an order of utilities is calibrated for AP or ERR.",
        "target_losses._cascade.ExpectedReciprocalRank",
        tests=(
            f"{BOUNDS}::test_theorem_3_3_no_utility_orders_for_ap_or_err",
            f"{BOUNDS}::test_theorem_3_3_by_the_measures_of_the_package",
        ),
    ),
    Row(
        "lemma 4.1",
        "A sum over disjoint pairs in the wrong order bounds the regret.",
        "calibration.conditional_regret",
        checks=(lemma_4_1,),
    ),
    Row(
        "figure 1",
        "The exchange of items in the induction.",
        step_of="lemma 4.1",
    ),
    Row(
        "theorem 4.2",
        "Uniform calibration by the cost of one pair in the wrong order.",
        missing=UNIFORM,
    ),
    Row(
        "equation (7)",
        "The distributions with U_i - U_j ≥ ε.",
        step_of="theorem 4.2",
    ),
    Row(
        "equation (8)",
        "The scores with s_i ≤ s_j.",
        step_of="theorem 4.2",
    ),
    Row(
        "corollary 4.3",
        "On compact sets of distributions calibration is uniform.",
        missing=UNIFORM,
    ),
    Row(
        "lemma 4.4",
        "The least expectation of continuous functions is continuous.",
        step_of="corollary 4.5",
    ),
    Row(
        "corollary 4.5",
        "For finitely many labels calibration is uniform.",
        missing=UNIFORM,
    ),
    Row(
        "appendix A",
        "Uniform calibration for infinitely many labels.",
        missing=UNIFORM,
    ),
    Row(
        "equation (9)",
        "The regret is at most c C_φ(2) times the root of the surrogate's regret.",
        "calibration.regret_bound",
        tests=(
            f"{BOUNDS}::test_bound_on_random_distributions_and_scores",
            f"{BOUNDS}::test_bound_with_equal_scores",
        ),
    ),
    Row(
        "table 2",
        "The constants c.",
        "calibration.regret_bound",
        tests=(
            f"{BOUNDS}::test_constants_of_the_table",
            f"{BOUNDS}::test_bounds_are_tight",
            f"{BOUNDS}::test_smooth_hinge_constant_of_the_paper_is_wrong_for_large_a",
        ),
    ),
    Row(
        "equation (10)",
        "C_φ(p), the p-norm of φ(i) - φ(n - i + 1) over i ≤ n/2.",
        "target_losses.PositionalLoss.C_phi",
        tests=(f"{BOUNDS}::test_C_phi_by_hand", f"{BOUNDS}::test_C_phi_falls_with_p"),
    ),
    Row(
        "lemma 5.1",
        "C_φ(p) times the q-norm of U_i - U_j over the pairs of lemma 4.1 bounds the "
        "regret.",
        "target_losses.PositionalLoss.C_phi",
        checks=(lemma_5_1,),
    ),
    Row(
        "equation (11)",
        "The condition on a pointwise loss: a tie costs at least (U_i - U_j)² / c².",
        "surrogates.Surrogate.bound_constant",
        checks=(equation_11,),
    ),
    Row(
        "theorem 5.2",
        "Pointwise losses with (11) have the bound (9).",
        "calibration.regret_bound",
        checks=(equation_11,),
        tests=(f"{BOUNDS}::test_bound_on_random_distributions_and_scores",),
    ),
    Row(
        "equation (12)",
        "Strong convexity.",
        "surrogates.BregmanSurrogate",
        checks=(equation_12,),
    ),
    Row(
        "theorem 5.3",
        "Bregman divergences of a μ-strongly convex function: c = 2 / √μ.",
        "surrogates.BregmanSurrogate",
        checks=(theorem_5_3,),
    ),
    Row(
        "theorem 5.4",
        "Pairwise losses for which a difference ≤ 0 costs at least (U_i - U_j)² / c².",
        "surrogates.Surrogate.bound_constant",
        checks=(equation_13,),
    ),
    Row(
        "equation (13)",
        "The bound of pairwise losses.",
        "calibration.regret_bound",
        checks=(equation_13,),
        tests=(f"{BOUNDS}::test_bound_on_random_distributions_and_scores",),
    ),
]

SOURCE = Source("Calauzènes, Usunier & Gallinari 2013: order-preserving losses", ROWS)
