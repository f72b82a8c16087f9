"""Order preservation at the population minimiser, regret bounds, and where neither holds."""

from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from lowrank_rank.calibration import (
    conditional_regret,
    is_order_preserving,
    regret_bound,
)
from lowrank_rank.metrics import measure_score
from lowrank_rank.surrogates import (
    SURROGATES,
    BregmanSurrogate,
    Surrogate,
    SurrogateValues,
)
from lowrank_rank.target_losses import DCG, ExpectedRankUtility

from .internals import C_phi, RankingLists, all_ranks, decode_sort, resolve_target_loss
from .losses import binary, graded, rankings
from .refusals import refused_by
from .surrogate_cases import (
    BOUNDED,
    MINIMISER,
    ORDER_PRESERVING,
    population_minimiser,
    with_eta,
)

PairwiseSquaredHinge = SURROGATES["pairwise_squared_hinge"]
PointwiseLogistic = SURROGATES["pointwise_logistic"]
PointwiseSmoothHinge = SURROGATES["pointwise_smooth_hinge"]
PointwiseSquared = SURROGATES["pointwise_squared"]
PointwiseSquaredHinge = SURROGATES["pointwise_squared_hinge"]

every_order_preserving = pytest.mark.parametrize("name", ORDER_PRESERVING)


def risk(surrogate, utilities, probabilities, scores):
    """Expected surrogate, (n,), of scores (n, r) under distributions (n, l) over (n, l, r)."""
    n, n_labels, r = utilities.shape
    values = surrogate.evaluate(
        utilities.ravel(),
        np.repeat(scores, n_labels, axis=0).ravel(),
        RankingLists.equal(n * n_labels, r),
        np.ones(utilities.size),
    ).values
    return (probabilities * values.reshape(n, n_labels)).sum(axis=1)


# Order preservation -------------------------------------------------------------------


@every_order_preserving
@pytest.mark.parametrize("r", [2, 4])
def test_minimiser_orders_as_expected_utilities(name, r, seed):
    """Found numerically, it is as good as the one in closed form, and orders as E v does."""
    surrogate, rng = with_eta(name), np.random.default_rng([seed, r])
    for _ in range(8):
        utilities = rng.integers(0, 4, (3, r)).astype(float)
        utilities[0] = rng.permutation(np.linspace(0.5, 3.0, r))
        p = rng.dirichlet(np.ones(3))
        u = p @ utilities
        scores = population_minimiser(surrogate, utilities, p)
        np.testing.assert_array_equal(np.argsort(-scores), np.argsort(-u))
        if name not in MINIMISER:
            continue
        closed = MINIMISER[name](u, 4.0)
        least = risk(surrogate, utilities[None], p[None], closed[None])
        assert risk(surrogate, utilities[None], p[None], scores[None]) == pytest.approx(
            least
        )
        shift = (scores - closed).mean() if surrogate.is_shift_invariant else 0.0
        np.testing.assert_allclose(scores - shift, closed, atol=2e-3)


@pytest.mark.parametrize("name", ["pairwise_squared_hinge", "ranknet"])
def test_usual_pairwise_losses_put_the_wrong_item_first(name):
    """Item 1 has grade 1; item 2 grade 3 with .4, else 0: E v = (1, 1.2)."""
    utilities, p = np.array([[1.0, 0.0], [1.0, 3.0]]), np.array([0.6, 0.4])
    wrong = population_minimiser(SURROGATES[name](), utilities, p)
    assert wrong[0] > wrong[1] + 0.1
    assert conditional_regret("dcg", utilities, p[None], decode_sort(wrong[None]))[
        0
    ] == (pytest.approx(0.2 * (1 - 1 / np.log2(3))))
    template = population_minimiser(SURROGATES["pairwise_logistic"](), utilities, p)
    assert template[1] - template[0] == pytest.approx(np.log(1.2), abs=1e-4)
    assert (
        conditional_regret("dcg", utilities, p[None], decode_sort(template[None]))[0]
        == 0
    )


def test_utilities_divided_by_their_sum_are_not_calibrated_for_cross_entropy():
    gains, p = np.array([[7.0, 0.0], [0.0, 1.0]]), np.array([0.3, 0.7])
    right = population_minimiser(SURROGATES["cross_entropy"](), gains, p)
    wrong = population_minimiser(
        SURROGATES["cross_entropy"](), gains / gains.sum(axis=1, keepdims=True), p
    )
    assert right[0] - right[1] == pytest.approx(np.log(2.1 / 0.7), abs=1e-4)
    assert wrong[0] - wrong[1] == pytest.approx(np.log(0.3 / 0.7), abs=1e-4)


@every_order_preserving
def test_no_counter_example_of_the_order_preserving(name):
    check = is_order_preserving(name, n_items=4, n_distributions=25, random_state=1)
    assert check
    assert (
        check.utilities is check.probabilities is check.expected is check.scores is None
    )


class SquaredOfRoots(Surrogate):
    """Minimal at E sqrt(v): concave in v, so not of E v."""

    def evaluate(self, v, s, lists, weights):
        error = s - np.sqrt(v)
        return SurrogateValues(
            lists.sum(weights * error**2), 2 * weights * error, 2 * weights
        )


@pytest.mark.parametrize(
    "surrogate",
    ["ranknet", "pairwise_squared_hinge", PairwiseSquaredHinge(), SquaredOfRoots()],
)
def test_counter_examples_are_valid(surrogate):
    check = is_order_preserving(surrogate, margin=0.1, random_state=0)
    assert not check
    assert not check.holds
    u, s = check.expected, check.scores
    np.testing.assert_allclose(check.probabilities @ check.utilities, u)
    assert check.probabilities.sum() == pytest.approx(1.0)
    assert check.utilities.min() >= 0
    assert any(u[i] > u[j] + 0.1 and s[i] < s[j] for i in range(3) for j in range(3))
    if isinstance(surrogate, str):
        surrogate = SURROGATES[surrogate]()
    least = risk(
        surrogate,
        check.utilities[None],
        check.probabilities[None],
        s[None],
    )
    for step in np.random.default_rng(0).normal(scale=0.1, size=(50, 3)):
        assert least <= 1e-9 + risk(
            surrogate,
            check.utilities[None],
            check.probabilities[None],
            (s + step)[None],
        )
    again = is_order_preserving(surrogate, margin=0.1, random_state=0)
    np.testing.assert_array_equal(again.scores, s)


def test_differences_below_the_margin_are_passed_over():
    assert is_order_preserving("pairwise_squared_hinge", margin=0.74, random_state=0)
    assert not is_order_preserving("pairwise_squared_hinge", margin=0.0, random_state=0)


def test_the_check_takes_no_surrogate_that_cannot_take_its_utilities():
    with refused_by("eta below a utility"):
        is_order_preserving(PointwiseLogistic(eta=0.5))
    with refused_by("eta below a utility"):
        regret_bound("pointwise_logistic", [[2.0, 0.0]], "dcg", [1.0])
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        regret_bound(PointwiseLogistic(eta=None), [[2.0, 0.0]], "dcg", [1.0])


# The constant of the measure ----------------------------------------------------------


def test_C_phi_by_hand():
    dcg = 1 / np.log2([2, 3, 4, 5, 6])
    assert C_phi("dcg", 5) == pytest.approx(np.hypot(dcg[0] - dcg[4], dcg[1] - dcg[3]))
    assert C_phi("dcg@2", 4) == pytest.approx(np.hypot(1.0, dcg[1]))
    assert C_phi("ndcg@2", 3) == pytest.approx(1.0)
    assert C_phi("precision@2", 5) == pytest.approx(np.sqrt(0.5))
    assert C_phi("recall@2", 5) == pytest.approx(np.sqrt(2.0))
    assert C_phi("auc", 5) == pytest.approx(np.hypot(4, 2))
    assert C_phi("auc", 4, p=1) == pytest.approx(3 + 1)
    assert C_phi("spearman", 3) == pytest.approx(2.0)
    assert C_phi([0.3, 0.1 + 0.2], p=1.5) == 0.0  # equal up to rounding
    assert C_phi(ExpectedRankUtility(half_life=2.0), 2) == pytest.approx(0.5)
    assert C_phi([5.0]) == C_phi("dcg", 1) == 0.0
    assert C_phi(np.ones(4)) == 0.0


@pytest.mark.parametrize(
    "measure", ["dcg", "auc", "precision@3", [3.0, 2.5, 1.0, 0.5, 0.5, 0.0]]
)
def test_C_phi_falls_with_p(measure):
    """As norms do, from the sum to the largest difference."""
    values = [C_phi(measure, 6, p=p) for p in (1, 1.5, 2, 4, 50)]
    assert np.all(np.diff(values) <= 1e-12)
    phi = (
        np.sort(-resolve_target_loss(measure).rank_features(np.arange(1, 7)[None])[0])[
            ::-1
        ]
        if (isinstance(measure, str))
        else np.array(measure)
    )
    assert values[0] == pytest.approx((phi - phi[::-1])[:3].sum())
    assert values[-1] == pytest.approx(phi[0] - phi[-1], rel=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: C_phi([0.5, 1.0]), "not increase"),
        (lambda: C_phi([[1.0, 0.5]]), "one array"),
        (lambda: C_phi("dcg"), "n_items"),
        (lambda: C_phi(DCG()), "n_items"),
        (
            lambda: regret_bound("ranknet", [[1.0, 0.0]], "dcg", [1.0]),
            "no regret bound",
        ),
        (lambda: regret_bound("cross_entropy", [1.0, 0.0], "dcg", [1.0]), "must be"),
        (lambda: regret_bound("cross_entropy", [[1.0, 0.0]], "dcg", 1.0), "must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: C_phi("pd", 3),
        lambda: C_phi("map", 3),
        lambda: C_phi("precision@25%", 3),
        lambda: regret_bound("cross_entropy", [[0.7, 0.3, 0.2]], "pd", [0.5]),
    ],
)
def test_no_bound_of_measures_that_are_not_positional(call):
    with refused_by("measure without places"):
        call()


def test_sizes_of_the_constant_are_checked():
    for n_items in (0, 2.5):
        with pytest.raises(ValueError, match="n_items must be"):
            C_phi("dcg", n_items)
    with pytest.raises(ValueError, match="p must be"):
        C_phi([1.0, 0.5], p=0)


# The bound ----------------------------------------------------------------------------

MEASURES = [
    ("precision@1", binary),
    ("precision@2", binary),
    ("recall@2", binary),
    ("dcg", graded),
    ("dcg@2", graded),
    ("ndcg_exp@3", graded),
    ("auc", binary),
    ("spearman", rankings),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0), graded),
]
OTHER_SHAPES = {
    "squared_hinge_t2": (PointwiseSquaredHinge(t=2.0), lambda u, eta: 2.0 * u / eta),
    "smooth_hinge_a3": (PointwiseSmoothHinge(a=3.0), lambda u, eta: u / eta),
    "smooth_hinge_a.25": (
        PointwiseSmoothHinge(a=0.25),
        lambda u, eta: np.where(
            u < eta / 2,
            0.25 * u / (eta - u),
            1.0 - 0.25 * (eta - u) / np.maximum(u, 1e-9),
        ),
    ),
}
CASES = {
    name: (SURROGATES[name](), MINIMISER[name]) for name in MINIMISER
} | OTHER_SHAPES
every_bounded = pytest.mark.parametrize("name", CASES)


def random_pairs(surrogate, minimiser, measure, labels, r, n=300, seed=0):
    """Distributions with random scores, most of them in a wrong order but close by."""
    rng, loss = np.random.default_rng(seed), resolve_target_loss(measure)
    support = labels(rng, 5, r)
    utilities = loss.encode(support)
    p = rng.dirichlet(np.full(5, 0.6), size=n)
    eta = None
    if hasattr(surrogate, "eta"):
        eta = 1.2 * max(utilities.max(), 0.1)
        surrogate = clone(surrogate).set_params(eta=eta)
    u = p @ utilities
    best = minimiser(np.maximum(u, 1e-14), eta)
    worst = np.array(
        [a[np.argsort(np.argsort(b))] for a, b in zip(np.sort(u), -u, strict=True)]
    )
    mean = minimiser(
        np.maximum(np.broadcast_to(u.mean(axis=1)[:, None], u.shape), 1e-14), eta
    )
    noise = rng.normal(size=(n, r)) * 10.0 ** rng.uniform(-3, 1, size=(n, 1))
    near = mean + 1e-4 * (worst - u)  # all but equal, in the reversed order
    scores = np.where(rng.uniform(size=(n, 1)) < 0.5, best + noise, near)
    return surrogate, loss, support, utilities, p, u, best, scores


@every_bounded
def test_bound_on_random_distributions_and_scores(name, seed):
    surrogate, minimiser = CASES[name]
    closest = 0.0
    for measure, labels in MEASURES:
        for r in (2, 3, 5):
            taken, loss, support, v, p, u, best, scores = random_pairs(
                surrogate, minimiser, measure, labels, r, seed=seed
            )
            each = np.broadcast_to(v, (len(p), *v.shape))
            over = risk(taken, each, p, scores) - risk(taken, each, p, best)
            assert over.min() > -1e-6
            regret = conditional_regret(loss, support, p, decode_sort(scores))
            bound = regret_bound(taken, u, loss, over)
            assert np.all(regret <= bound + 1e-4)
            some = bound > 1e-2
            closest = max(closest, (regret[some] / bound[some]).max(initial=0.0))
    assert closest > 0.9, (
        "far from the bound everywhere: the pairs tried could not break it"
    )


@every_bounded
def test_bound_with_equal_scores(name, seed):
    """Ties cost the mean over the orders that agree with them."""
    surrogate, minimiser = CASES[name]
    taken, loss, support, v, p, u, best, _ = random_pairs(
        surrogate, minimiser, "dcg", graded, 3, seed=seed
    )
    each = np.broadcast_to(v, (len(p), *v.shape))
    over = risk(taken, each, p, np.zeros(u.shape)) - risk(taken, each, p, best)
    regret = np.mean(
        [
            conditional_regret(loss, support, p, np.tile(ranks, (len(p), 1)))
            for ranks in all_ranks(3)
        ],
        axis=0,
    )
    assert np.all(regret <= regret_bound(taken, u, loss, over) + 1e-6)
    assert regret.max() > 0.1


@pytest.mark.parametrize(
    "name", ["pointwise_squared", "pairwise_squared", "bregman_squared"]
)
def test_worst_scores_of_an_order_are_an_isotonic_regression(name, seed):
    """Of E v along the order: no scores in that order have less regret; and they are tight."""
    surrogate, rng, ratios = SURROGATES[name](), np.random.default_rng(seed), []
    for r in (2, 3, 5):
        lists, ones = RankingLists.equal(1, r), np.ones(r)
        ratios.append(0.0)
        for _ in range(150):
            phi = np.sort(rng.uniform(size=r) ** 3)[::-1]
            u = np.sort(rng.uniform(size=r))[::-1]
            wrong = np.arange(r)[::-1] if rng.uniform() < 0.7 else rng.permutation(r)
            worst = np.empty(r)
            worst[wrong] = isotonic_regression(u[wrong], increasing=False)

            def over(s, u=u, lists=lists, ones=ones):
                return surrogate.evaluate(u, s, lists, ones).values[0]

            for _ in range(10):
                other = np.empty(r)
                other[wrong] = np.sort(worst + rng.normal(scale=0.2, size=r))[::-1]
                assert over(worst) <= over(other) + 1e-12
            regret = phi @ u - phi @ u[wrong]
            bound = regret_bound(surrogate, u[None], phi, [over(worst)])[0]
            assert regret <= bound + 1e-12
            ratios[-1] = max(ratios[-1], regret / bound if bound > 1e-9 else 0.0)
    assert ratios[0] > 0.999
    assert min(ratios) > 0.95


#: Mean utility, relative to eta, around which small differences come close to the bound.
WHERE_TIGHT = {"smooth_hinge_a.25": 0.003}
DIFFERENCES = [name for name in CASES if CASES[name][0].is_shift_invariant]


@pytest.mark.parametrize("measure", ["precision@1", "dcg", "dcg@2", "auc"])
@pytest.mark.parametrize(
    ("name", "r"),
    [
        (name, r)
        for name in CASES
        for r in (2, 3, 6)
        if r == 2 or name not in DIFFERENCES or name == "pairwise_squared"
    ],
)
def test_bounds_are_tight(name, measure, r):
    """E v falls as the discounts do, about their middle; the scores all but tie in reverse.

    The constants of the other differences of items are tight for two items.
    """
    surrogate, minimiser = CASES[name]
    phi = -resolve_target_loss(measure).rank_features(np.arange(1, r + 1)[None])[0]
    eta = getattr(surrogate, "eta", 1.0)
    middle = WHERE_TIGHT.get(name, 0.5) * eta
    u = middle * (1.0 + 0.01 * (phi - phi[::-1]) / np.ptp(phi))[None]
    p = np.ones((1, 1))
    tie = np.full((1, r), float(minimiser(np.array([middle]), eta)[0]))
    best = minimiser(u, eta)
    over = risk(surrogate, u[None], p, tie) - risk(surrogate, u[None], p, best)
    regret = phi @ u[0] - phi @ u[0][::-1]
    assert 0.99 < regret / regret_bound(surrogate, u, measure, over)[0] <= 1.0 + 1e-6


@pytest.mark.parametrize("a", [0.25, 1.0, 2.0, 3.0, 4.0])
def test_smooth_hinge_constant_of_the_paper_is_wrong_for_large_a(a):
    """Its 4 sqrt(eta / a), for 0 < a < eta / 2, is above ours up to a = 2 and broken beyond."""
    eta, u, tie = 10.0, np.array([[5.5, 4.5]]), np.full((1, 2), 0.5)
    surrogate, paper = PointwiseSmoothHinge(eta, a=a), 4.0 * np.sqrt(eta / a)
    best = population_minimiser(surrogate, u, np.ones(1))[None]
    over = risk(surrogate, u[None], np.ones((1, 1)), tie) - risk(
        surrogate, u[None], np.ones((1, 1)), best
    )
    ours = surrogate.bound_constant(u.ravel(), RankingLists([2]))[0]
    regret, bounds = 1.0, [c * np.sqrt(over[0]) for c in (paper, ours)]
    assert regret_bound(surrogate, u, [1.0, 0.0], over)[0] == pytest.approx(bounds[1])
    assert regret <= bounds[1] + 1e-9
    if a > 2.0:
        assert bounds[0] < 0.9 * regret
    else:
        assert bounds[1] <= bounds[0] * (1.0 + 1e-12)


class NoLongerOrderPreserving(PointwiseSquared):
    is_order_preserving = False


def test_a_bound_is_of_what_is_order_preserving_and_has_a_constant():
    assert not {"ranknet", "pairwise_squared_hinge"} & set(BOUNDED)
    assert set(MINIMISER) <= set(BOUNDED)
    for surrogate in (NoLongerOrderPreserving(), SquaredOfRoots()):
        assert not surrogate.has_bound
        with refused_by("surrogate without bound"):
            regret_bound(surrogate, [[1.0, 0.0]], "dcg", [1.0])


def test_constants_of_the_table():
    u, lists = np.array([0.5, 0.2, 0.4, 0.9, 0.0]), RankingLists([3, 2])
    expected = {
        "pointwise_squared": np.sqrt([2, 2]),
        "pairwise_squared": np.sqrt([2 / 3, 2 / 2]),
        "pairwise_logistic": 2 * np.sqrt([0.5, 0.9]),
        "pairwise_exponential": 2 * np.sqrt([0.5, 0.9]),
        "cross_entropy": np.sqrt([2 * 0.9, 2 * 0.9]),
        "bregman_squared": [2, 2],
    }
    for name, c in expected.items():
        np.testing.assert_allclose(SURROGATES[name]().bound_constant(u, lists), c)
    for surrogate, c in [
        (with_eta("pointwise_logistic"), 2.0),
        (with_eta("pointwise_exponential"), 2.0),
        (PointwiseSquaredHinge(4.0, t=2.0), np.sqrt(2.0)),
        (PointwiseSmoothHinge(4.0, a=0.25), 8.0),
        (PointwiseSmoothHinge(4.0, a=4.0), 8.0),
        (BregmanSurrogate(None, None, mu=4.0), 1.0),
    ]:
        np.testing.assert_allclose(surrogate.bound_constant(u, lists), [c, c])
    equal = SURROGATES["cross_entropy"]().bound_constant(
        np.array([0.5, 0.5, 0.1]), RankingLists([3])
    )
    np.testing.assert_allclose(equal, np.sqrt(2.0))


def test_bound_falls_with_the_regret_to_nothing():
    bound = regret_bound(PointwiseSquared(), [[0.5, 0.2]] * 3, "dcg", [0.0, 1.0, 4.0])
    assert bound[0] == 0
    assert bound[2] == pytest.approx(2 * bound[1])
    assert regret_bound(PointwiseSquared(), [[0.5, 0.2]], "dcg", [-1e-12])[0] == 0


# Theorem 3.3 --------------------------------------------------------------------------


def average_precision(y, order):
    hits = [place for place, item in enumerate(order, 1) if y[item]]
    return sum(Fraction(n, place) for n, place in enumerate(hits, 1)) / len(hits)


def expected_reciprocal_rank(y, order):
    """Of grades 0 and 1: each relevant item stops the reader with probability 1/2."""
    hits = [place for place, item in enumerate(order, 1) if y[item]]
    return sum(Fraction(1, 2**n * place) for n, place in enumerate(hits, 1))


def dcg_of_two_places(y, order):
    return 2 * y[order[0]] + y[order[1]]


def item_0_first(measure, weighted):
    """Whether all best orders have item 0 before item 1 (True), item 1 before 0 (False), or both.

    `weighted` holds labels and their integer weights; everything is exact.
    """
    values = {
        order: sum(weight * measure(y, order) for y, weight in weighted)
        for order in permutations(range(3))
    }
    best = max(values.values())
    found = {
        order.index(0) < order.index(1) for order in values if values[order] == best
    }
    return found.pop() if len(found) == 1 else None


MIXTURES = [
    (
        average_precision,
        [((0, 1, 1), 6), ((1, 0, 0), 4)],
        [((0, 0, 1), 1), ((1, 0, 1), 1)],
    ),
    (
        expected_reciprocal_rank,
        [((0, 0, 1), 1), ((1, 0, 1), 1)],
        [((0, 1, 0), 3), ((1, 0, 1), 4), ((1, 1, 0), 1)],
    ),
]


@pytest.mark.parametrize(("measure", "one", "other"), MIXTURES)
def test_theorem_3_3_no_utility_orders_for_ap_or_err(measure, one, other):
    """E v_0 > E v_1 in two distributions holds in their mixture, where the best orders differ."""
    assert item_0_first(measure, one) is True
    assert item_0_first(measure, other) is True
    assert item_0_first(measure, one + other) is False


def test_positional_measures_have_no_such_mixtures():
    rng = np.random.default_rng(0)
    labels = [tuple(map(int, f"{code:03b}")) for code in range(1, 8)]
    drawn = []
    for _ in range(60):
        weights = rng.integers(0, 5, len(labels)).tolist()
        drawn.append([(y, w) for y, w in zip(labels, weights, strict=True) if w])
    first = [one for one in drawn if item_0_first(dcg_of_two_places, one) is True]
    assert len(first) > 10
    for one, other in pairwise(first):
        assert item_0_first(dcg_of_two_places, one + other) is True


@pytest.mark.parametrize(("measure", "one", "other"), MIXTURES)
def test_theorem_3_3_by_the_measures_of_the_package(measure, one, other):
    score = {
        average_precision: partial(measure_score, "map"),
        expected_reciprocal_rank: partial(measure_score, "err", max_grade=1.0),
    }[measure]
    orders = list(permutations(range(3)))
    for y, _ in one + other:
        scores = [[-order.index(item) for item in range(3)] for order in orders]
        expected = [float(measure(y, order)) for order in orders]
        values = score(np.tile(y, (6, 1)), scores, average=None)
        np.testing.assert_allclose(values, expected)
