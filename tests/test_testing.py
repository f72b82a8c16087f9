"""testing.check_surrogate: all of ours pass, and each kind of broken one is found."""

import numpy as np
import pytest

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.surrogates import SURROGATES, Surrogate
from lowrank_rank.surrogates import SurrogateValues as Values
from lowrank_rank.testing import check_surrogate

CrossEntropy = SURROGATES["cross_entropy"]
PairwiseSquared = SURROGATES["pairwise_squared"]
PointwiseSquared = SURROGATES["pointwise_squared"]
RankNet = SURROGATES["ranknet"]


@pytest.mark.parametrize("name", SURROGATES)
def test_ours_keep_the_contract(name):
    check_surrogate(name, n_trials=4)


class WrongGradient(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        found = super().evaluate(v, s, lists, weights)
        return found._replace(gradient=1.01 * found.gradient)


class WrongCurvature(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        found = super().evaluate(v, s, lists, weights)
        return found._replace(curvature=0.5 * found.curvature)


class Concave(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        return Values(*(-part for part in super().evaluate(v, s, lists, weights)))


class Moves(PointwiseSquared):
    is_shift_invariant = True


class IgnoresWeights(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, np.ones_like(weights))


class ForgetsThePairs(PairwiseSquared):
    is_pairwise = False

    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, np.sqrt(weights))


class WeighsItemsAlone(CrossEntropy):
    """What a list of weight 3 adds: 3 V log 3."""

    def evaluate(self, v, s, lists, weights):
        found = super().evaluate(v, s, lists, weights)
        logarithms = np.log(np.where(weights > 0, weights, 1.0))
        return found._replace(values=found.values + lists.sum(weights * v * logarithms))


class ClaimsToPreserveOrder(RankNet):
    is_order_preserving = True


class LogCosh(Surrogate):
    """log cosh(5 (s - v)): its minimiser is nearly a median, in few distributions."""

    def evaluate(self, v, s, lists, weights):
        error = 5.0 * (s - v)
        return Values(
            values=lists.sum(weights * np.log(np.cosh(error))),
            gradient=5.0 * weights * np.tanh(error),
            curvature=25.0 * weights / np.cosh(error) ** 2,
        )


class OfOtherUtilities(CrossEntropy):
    """Cross-entropy of a function of the utilities of each list."""

    def evaluate(self, v, s, lists, weights):
        return super().evaluate(self.of(v, lists), s, lists, weights)


class Clipped(OfOtherUtilities):
    def of(self, v, lists):
        return np.minimum(v, 1.0)


class Roots(OfOtherUtilities):
    def of(self, v, lists):
        return np.sqrt(v)


class NearlyItself(OfOtherUtilities):
    def of(self, v, lists):
        return v**1.05


class Shares(OfOtherUtilities):
    def of(self, v, lists):
        total = lists.sum(v)
        return v / lists.repeat(np.where(total > 0, total, 1.0))


class BinaryInLongLists(OfOtherUtilities):
    def of(self, v, lists):
        return np.where(lists.repeat(lists.lengths) > 4, v > 0, v).astype(float)


class ClippedSquares(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        return super().evaluate(np.minimum(v, 1.0), s, lists, weights)


@pytest.mark.parametrize("random_state", [0, 1, 2])
@pytest.mark.parametrize(
    "broken",
    [Clipped, Roots, NearlyItself, Shares, BinaryInLongLists, ClippedSquares],
)
def test_other_utilities_are_found(broken, random_state):
    with pytest.raises(AssertionError):
        check_surrogate(broken(), random_state=random_state)


class ClaimsToBeProportional(PointwiseSquared):
    is_proportional = True


class ClaimsToBeSquared(RankNet):
    is_squared = True


class ClaimsToBeTwiceSquared(PointwiseSquared):
    is_squared = True

    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, 2.0 * weights)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (WrongGradient, "gradient is not the derivative"),
        (WrongCurvature, "curvature is below"),
        (Concave, r"curvature|convex"),
        (Moves, "calls itself shift-invariant"),
        (IgnoresWeights, "weight 2 is not the item twice"),
        (ForgetsThePairs, "weight 2 is not the item twice"),
        (WeighsItemsAlone, "three times as large"),
        (ClaimsToPreserveOrder, "calls itself order-preserving"),
        (LogCosh, "calls itself order-preserving"),
        (ClaimsToBeProportional, "calls itself proportional"),
        (ClaimsToBeSquared, "calls itself squared"),
        (ClaimsToBeTwiceSquared, "calls itself squared|weight 2"),
    ],
)
def test_broken_ones_are_found(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_surrogate(broken())


class ReturnsNothing(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        return None


class SumsAllLists(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        found = super().evaluate(v, s, lists, weights)
        return found._replace(values=found.values.sum())


@pytest.mark.parametrize("broken", [ReturnsNothing, SumsAllLists])
def test_what_evaluate_must_return_is_said_by_the_check_and_by_a_fit(broken):
    message = (
        r"evaluate must return SurrogateValues\(values, gradient, curvature\) of shapes"
    )
    with pytest.raises(TypeError, match=message):
        check_surrogate(broken())
    model = OrderPreservingRegressor(surrogate=broken())
    with pytest.raises(TypeError, match=message):
        model.fit([[0.0], [1.0]], [0, 1], qid=["a", "a"])
