"""testing.check_surrogate: all of ours pass, and each kind of broken one is found."""

import numpy as np
import pytest

from lowrank_rank.surrogates import SURROGATES, PairwiseSquared, PointwiseSquared, RankNet
from lowrank_rank.surrogates import SurrogateValues as Values
from lowrank_rank.testing import check_surrogate


@pytest.mark.parametrize("name", SURROGATES)
def test_ours_keep_the_contract(name):
    check_surrogate(name)


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
    shift_invariant = True


class IgnoresWeights(PointwiseSquared):
    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, np.ones_like(weights))


class ForgetsThePairs(PairwiseSquared):
    of_pairs = False

    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, np.sqrt(weights))


class ClaimsToPreserveOrder(RankNet):
    order_preserving = True


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (WrongGradient, "gradient is not that of the values"),
        (WrongCurvature, "curvature is below"),
        (Concave, r"curvature|convex"),
        (Moves, "changes with a shift"),
        (IgnoresWeights, "weight 2 is not the item twice"),
        (ForgetsThePairs, "weight 2 is not the item twice"),
        (ClaimsToPreserveOrder, "calls itself order-preserving"),
    ],
)
def test_broken_ones_are_found(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_surrogate(broken())
