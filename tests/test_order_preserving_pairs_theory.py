"""When the minimiser of a sum over pairs of items orders them as their expected utilities do.

Let s minimise the sum over k, l of A_kl phi(s_k - s_l), with phi convex and phi' < 0. If
A_ij > A_ji, and A_ik >= A_jk and A_ki <= A_kj for every third item k, then s_i > s_j.

Were s_i <= s_j, then every term of the derivative by s_i would be at most its partner in the
derivative by s_j, and one of them smaller: the two could not both be 0. With A_kl = E v_k, the
pairwise losses of the package, i before j means E v_i > E v_j. Weights (v_k - v_l)+, the gains of
LambdaRank, have no such rows.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from lowrank_rank import HistGradientBoostingRanker
from lowrank_rank.calibration import is_order_preserving, regret_bound
from lowrank_rank.surrogates import (
    SURROGATES,
    Surrogate,
    SurrogateValues,
    surrogate_loss,
)

from .surrogate_cases import population_minimiser

PHI = {  # value and derivative
    "logistic": lambda d: (np.logaddexp(0.0, -d), -1.0 / (1.0 + np.exp(d))),
    "exponential": lambda d: (np.exp(-d), -np.exp(-d)),
}


def minimiser(A, phi):
    def risk(s):
        value, slope = phi(s[:, np.newaxis] - s)
        force = A * slope
        return np.sum(A * value), force.sum(axis=1) - force.sum(axis=0)

    options = {"gtol": 1e-10, "ftol": 1e-16, "maxiter": 1000}
    return minimize(
        risk, np.zeros(len(A)), jac=True, method="L-BFGS-B", options=options
    ).x


def random_weights(rng, ordered):
    """Positive weights of 2 to 6 items; `ordered`: item 0 is before item 1 as the lemma asks."""
    n = rng.integers(2, 7)
    A = rng.exponential(size=(n, n)) ** 2 + 0.01
    A[[0, 1], [1, 0]] = np.sort(A[[0, 1], [1, 0]])[::-1]
    if ordered:
        A[:2, 2:] = -np.sort(-A[:2, 2:], axis=0)
        A[2:, :2] = np.sort(A[2:, :2], axis=1)
    return A


@pytest.mark.parametrize("phi", PHI.values(), ids=PHI)
def test_an_item_that_is_before_another_in_every_weight_scores_higher(phi):
    rng = np.random.default_rng(0)
    scores = [minimiser(random_weights(rng, ordered=True), phi) for _ in range(60)]
    assert min(s[0] - s[1] for s in scores) > 0
    others = [minimiser(random_weights(rng, ordered=False), phi) for _ in range(60)]
    assert (
        min(s[0] - s[1] for s in others) < -0.1
    )  # by their own pair alone it is not enough


# Gains as weights -------------------------------------------------------------------------

#: Item 0 has the best mean and is 0 half of the time; item 1 is safe.
UTILITIES, HALF = np.array([[4.2, 2.0, 1.0], [0.0, 2.0, 1.0]]), np.array([0.5, 0.5])
EXPECTED = HALF @ UTILITIES


class GainRankNet(Surrogate):
    """Sum of (v_i - v_j)+ log(1 + exp(-(s_i - s_j))), one list after the other."""

    is_pairwise = is_shift_invariant = True

    def evaluate(self, v, s, lists, weights):
        values, gradient, curvature = np.zeros(lists.n_lists), *np.zeros((2, len(s)))
        for q, (start, stop) in enumerate(
            zip(lists.offsets, lists.offsets[1:], strict=False)
        ):
            rows = slice(start, stop)
            d = s[rows, np.newaxis] - s[rows]
            w = np.outer(weights[rows], weights[rows])
            w = w * np.maximum(v[rows, np.newaxis] - v[rows], 0.0)
            p = 1.0 / (1.0 + np.exp(d))
            values[q] = np.sum(w * np.logaddexp(0.0, -d))
            gradient[rows] = (w * p).sum(axis=0) - (w * p).sum(axis=1)
            curvature[rows] = (w * p * (1 - p)).sum(axis=0) + (w * p * (1 - p)).sum(
                axis=1
            )
        return SurrogateValues(values, gradient, curvature)


def of_trees(loss):
    """Scores by trees of one leaf for each item, of one list of each kind."""
    items = np.tile([[0.0], [1.0], [2.0]], (2, 1))
    model = HistGradientBoostingRanker(
        loss=loss,
        target_loss="dcg",
        max_iter=300,
        learning_rate=0.3,
        min_samples_leaf=1,
    )
    return model.fit(items, UTILITIES.ravel(), qid=[0, 0, 0, 1, 1, 1]).predict(
        items[:3]
    )


def test_gains_as_weights_put_the_safe_item_first():
    wrong = population_minimiser(GainRankNet(), UTILITIES, HALF)
    assert_allclose(wrong - wrong.mean(), [0.470, 0.652, -1.122], atol=1e-3)
    assert EXPECTED[0] > EXPECTED[1]
    found = of_trees(GainRankNet())
    assert_allclose(found - found.mean(), wrong - wrong.mean(), atol=1e-3)
    assert not is_order_preserving(
        GainRankNet(), n_items=4, n_distributions=500, random_state=0
    )


@pytest.mark.parametrize("name", ["pairwise_logistic", "cross_entropy"])
def test_order_preserving_losses_and_their_trees_put_the_best_mean_first(name):
    """Both are least at the logarithms of the expected utilities."""
    best = np.log(EXPECTED) - np.log(EXPECTED).mean()
    for scores in (
        population_minimiser(SURROGATES[name](), UTILITIES, HALF),
        of_trees(name),
    ):
        assert_allclose(scores - scores.mean(), best, atol=1e-3)
        assert_array_equal(np.argsort(-scores), [0, 1, 2])


# Linear scores ----------------------------------------------------------------------------


def test_close_documents_have_no_bound_among_linear_scores():
    """Weights of 1 and -1: nearly one surrogate, but the wrong order loses .4 of precision@1."""
    expected, x = np.array([[0.7, 0.3]]), np.array([[1e-3, 0.0]])
    right, wrong, best = (
        surrogate_loss("pairwise_squared", expected, scores)[0]
        for scores in (x, -x, expected)
    )
    among_linear, among_all = regret_bound(
        "pairwise_squared",
        np.repeat(expected, 2, axis=0),
        "precision@1",
        [wrong - right, wrong - best],
    )
    assert among_linear < 0.05 < 0.4 <= among_all
