"""Checks of custom target losses, decoders and surrogates."""

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from ._arrays import ArrayLike
from ._lists import RankingLists
from .calibration import calibration_report, conditional_regret, is_order_preserving
from .low_rank._calibration import decoded_ranks
from .order_preserving._surrogates import SURROGATES, checked_values, resolve_surrogate
from .target_losses import SetLoss
from .target_losses._classes import SET_LOSSES, resolve_set_loss
from .target_losses._names import resolve_target_loss

__all__ = ["check_surrogate", "check_target_loss"]


def check_target_loss(
    loss: Any, support: ArrayLike, *, n_distributions: int = 100, random_state: int = 0
) -> None:
    """Check a target loss by enumeration: its identity, its decoders and its conventions.

    Losses of orders:

    * The sum ``offset(y) + <encode(y), rank_features(ranks)>`` differs from minus the
      measure by one constant for all orders of a label.
    * Every decoder with ``exact=True`` is Bayes-optimal at u = E[targets] for random
      distributions over `support`. `calibration.calibration_report` makes both checks
      too.
    * Decoders permute with the items.

    Losses of sets:

    * The sum ``offset(y) + <encode(y), set_features(z)>`` is one minus the measure.
    * The decoder is Bayes-optimal at u = E[encode(Y)] for random distributions over
      `support`.
    * It attains the least ``<u, set_features(z)>`` at random u, some with ties.
    * The attained loss does not depend on the order of the labels.

    Both: the loss can be cloned and pickled, and does not change y.

    Parameters
    ----------
    loss : TargetLoss, SetLoss or str
        Loss to check, or its name.
    support : array-like of shape (n_labels, r) or (n_labels, r, r)
        Labels of the loss, r at most 6; or sets of labels, 0 and 1, r at most 8.
    n_distributions : int, default=100
        Number of random distributions of labels.
    random_state : int, default=0
        Seed.

    Raises
    ------
    ValueError
        If `support` has another shape, holds labels that the loss refuses, or a decoder
        returns no ranks.
    AssertionError
        If a check fails, with a sentence on it.

    Examples
    --------
    >>> from lowrank_rank.target_losses import NDCG
    >>> from lowrank_rank.testing import check_target_loss
    >>> check_target_loss(NDCG(k=2), [[2, 0, 1], [0, 0, 1], [1, 2, 0]])
    >>> check_target_loss("f1", [[0, 0, 0], [1, 0, 1], [0, 1, 0]])
    """
    if isinstance(loss, SetLoss) or (isinstance(loss, str) and loss in SET_LOSSES):
        _check_set_loss(loss, support, n_distributions, random_state)
        return
    loss, support = resolve_target_loss(loss), np.asarray(support, dtype=np.float64)
    before, rng = support.copy(), np.random.default_rng(random_state)
    sizes: Any = {"n_distributions": n_distributions, "random_state": random_state}
    for check in calibration_report(loss, support, **sizes).checks:
        wrong = (
            f"the decoder {check.name!r} calls itself exact but is not Bayes-optimal"
        )
        if check.name == "factorisation":
            wrong = "loss + measure is not constant over the orders of a label"
        fits = check.labels is None or check.declared != "exact"
        _require(fits, f"{loss!r}: {wrong} (error {check.error:.3g}; {check.found})")
    probabilities = rng.dirichlet(np.full(len(support), 0.5), size=n_distributions)
    for name in loss.decoders:
        ranks = decoded_ranks(loss, name, support, probabilities)
        if not loss.decoders[name].exact:
            continue
        # The value may not depend on the numbers of the items. The orders may, if
        # several are best.
        reversed_ = support[:, ::-1] if support.ndim == 2 else support[:, ::-1, ::-1]
        other = decoded_ranks(loss, name, reversed_, probabilities)
        both = (support, ranks), (reversed_, other)
        one, two = (
            conditional_regret(loss, y, probabilities, found) for y, found in both
        )
        same = np.allclose(one, two)
        _require(
            same,
            f"{loss!r}: the decoder {name!r} depends on how the items are numbered",
        )
    _check_copies_of(loss, support, before)


def _check_copies_of(loss, support, before):
    """Check that a clone and a pickle encode alike, and that the labels are as before."""
    same = np.array_equal(support, before, equal_nan=True)
    _require(same, f"{loss!r} changes the labels")
    for copy in (clone(loss), pickle.loads(pickle.dumps(loss))):
        same = np.array_equal(
            copy.encode(support), loss.encode(support), equal_nan=True
        )
        _require(same, f"{loss!r} encodes differently after clone or pickle")


def _check_set_loss(loss, support, n_distributions, random_state):
    """`check_target_loss` of a loss of sets."""
    loss, support = resolve_set_loss(loss), np.asarray(support)
    if support.ndim != 2 or not 1 <= support.shape[1] <= 8:
        raise ValueError(
            f"support must hold sets of 1 to 8 labels, got shape {support.shape}."
        )
    (n, s), before, rng = (
        support.shape,
        support.copy(),
        np.random.default_rng(random_state),
    )
    sets = (np.arange(2**s)[:, np.newaxis] >> np.arange(s)) & 1
    losses = np.array([loss.loss(np.tile(y, (len(sets), 1)), sets) for y in support])
    targets, largest = loss.encode(support), int(support.sum(axis=1).max())
    features = loss.set_features(sets, largest)
    linear = loss.offset(support)[:, np.newaxis] + targets @ features.T
    _require(
        np.allclose(linear, losses), f"{loss!r}: its low-rank form is not its loss"
    )
    drawn = rng.dirichlet(np.full(n, 0.5), size=n_distributions)
    u = rng.normal(size=(n_distributions, targets.shape[1]))
    for vectors in (drawn @ targets, u, np.round(u)):
        decoded = np.einsum(
            "nd,nd->n", vectors, _decoded_features(loss, vectors, s, largest)
        )
        best = (vectors @ features.T).min(axis=1)
        _require(
            np.allclose(decoded, best), f"{loss!r}: decode does not find the best set"
        )
    turned = drawn @ loss.encode(support[:, ::-1])
    decoded = np.einsum("nd,nd->n", turned, _decoded_features(loss, turned, s, largest))
    same = np.allclose(decoded, (drawn @ targets @ features.T).min(axis=1))
    _require(same, f"{loss!r}: decode depends on the order of the labels")
    _check_copies_of(loss, support, before)


def _decoded_features(loss, u, n_labels, max_size):
    decoded = loss.decode(u, n_labels)
    is_set = decoded.shape == (len(u), n_labels) and np.isin(decoded, [0, 1]).all()
    _require(is_set, f"{loss!r}: decode does not return sets, 0 and 1 for each label")
    return loss.set_features(decoded, max_size)


def check_surrogate(
    surrogate: Any, *, n_trials: int = 20, random_state: int = 0
) -> None:
    """Check a surrogate in score space: its derivatives, convexity, weights and flags.

    * The gradient is the derivative of the values. The curvature is at least the second
      derivative by each score.
    * Values are convex along random segments.
    * An item of weight 2 counts as two copies of the item, an item of weight 0 does not
      count. The values may differ by a constant if ``is_shift_invariant``.
    * Weights times 3 give values times 3, or times 9 with ``is_pairwise``: a list of
      weight 3 is three copies of the list.
    * With ``is_shift_invariant``, a constant added to the scores of a list changes
      nothing.
    * With ``is_proportional``, utilities times 2 give values times 2.
    * With ``is_squared``, the values are sums of squared errors of items or of pairs.
    * With ``is_order_preserving``, no counter-example is found (`is_order_preserving`).

    Utilities lie in [0, 1): a surrogate with an eta needs one of at least 1.

    Parameters
    ----------
    surrogate : str or Surrogate
        Surrogate to check, or its name.
    n_trials : int, default=20
        Number of random lists.
    random_state : int, default=0
        Seed.

    Raises
    ------
    AssertionError
        If a check fails, with a sentence on it.
    TypeError
        If ``evaluate`` does not return `SurrogateValues` with arrays of the right
        shapes.

    Examples
    --------
    >>> from lowrank_rank.testing import check_surrogate
    >>> check_surrogate("cross_entropy")
    """
    surrogate, rng = resolve_surrogate(surrogate), np.random.default_rng(random_state)
    for _ in range(n_trials):
        lengths = rng.integers(1, 5, 4)
        n, lists = int(lengths.sum()), RankingLists(lengths)
        v = rng.uniform(0, 1, n) * (rng.uniform(size=n) < 0.7)
        weights = rng.uniform(0.5, 2.0, n)
        s, t = rng.normal(size=(2, n))
        checked_values(
            surrogate, v, s, lists, weights
        )  # refuses values of other shapes
        step, slope, second = 1e-5, np.zeros(len(s)), np.zeros(len(s))
        for i, move in enumerate(step * np.eye(len(s))):
            above, below = (
                surrogate.evaluate(v, s + m, lists, weights) for m in (move, -move)
            )
            slope[i] = (above.values.sum() - below.values.sum()) / (2 * step)
            second[i] = (above.gradient[i] - below.gradient[i]) / (2 * step)
        evaluated = surrogate.evaluate(v, s, lists, weights)
        same = np.allclose(evaluated.gradient, slope, atol=1e-5, rtol=1e-5)
        _require(
            same, f"{surrogate!r}: the gradient is not the derivative of the values"
        )
        newton = surrogate.newton_values(v, s, lists, weights).curvature
        bounds = np.all(np.minimum(evaluated.curvature, newton) >= second - 1e-4)
        _require(bounds, f"{surrogate!r}: the curvature is below the second derivative")
        middle, *ends = (
            _value(surrogate, v, x, lists, weights) for x in ((s + t) / 2.0, s, t)
        )
        is_convex = middle <= np.mean(ends) or np.isclose(middle, np.mean(ends))
        _require(is_convex, f"{surrogate!r} is not convex")
        shifted = s + np.repeat(rng.normal(size=len(lengths)), lengths)
        _check_copies(surrogate, v[:4], s[:4], t[:4])
        _check_flags(surrogate, v, s, shifted, lists, weights)
    if surrogate.is_order_preserving:
        check = is_order_preserving(
            surrogate, n_distributions=n_trials, random_state=random_state
        )
        where = (
            f"{check.scores} at the minimum of the expected utilities {check.expected}"
        )
        _require(
            check.holds,
            f"{surrogate!r} calls itself order-preserving, with scores {where}",
        )


def _value(surrogate, v, s, lists, weights):
    return surrogate.evaluate(v, s, lists, weights).values.sum()


def _check_flags(surrogate, v, s, shifted, lists, weights):
    """Check the flags of the class at scores, and at scores shifted within lists."""
    values = surrogate.evaluate(v, s, lists, weights).values
    factor = 9.0 if surrogate.is_pairwise else 3.0
    same = np.allclose(
        surrogate.evaluate(v, s, lists, 3.0 * weights).values, factor * values
    )
    _require(
        same,
        f"{surrogate!r}: weights three times as large: not {factor:g} times the value",
    )
    plain = SURROGATES[
        "pairwise_squared" if surrogate.is_pairwise else "pointwise_squared"
    ]()
    flags = {
        "shift-invariant": (surrogate.is_shift_invariant, surrogate, v, shifted, 1.0),
        "proportional to the utilities": (
            surrogate.is_proportional,
            surrogate,
            0.5 * v,
            s,
            2.0,
        ),
        "squared": (surrogate.is_squared, plain, v, s, 1.0),
    }
    for flag, (is_set, other, utilities, scores, times) in flags.items():
        value = times * _value(other, utilities, scores, lists, weights)
        same = not is_set or np.isclose(value, values.sum())
        _require(same, f"{surrogate!r} calls itself {flag}, and its values say no")


def _check_copies(surrogate, v, s, t):
    """Compare a first item of weight 2 with two copies, and add an item of weight 0."""
    one, longer = RankingLists([len(v)]), RankingLists([len(v) + 1])
    weights = np.ones(len(v))
    weights[0] = 2.0

    def value(x):
        return _value(surrogate, v, x, one, weights)

    twice, ones = np.append(v, v[0]), np.ones(len(v) + 1)
    of_copies = [
        _value(surrogate, twice, np.append(x, x[0]), longer, ones) for x in (s, t)
    ]
    excess = of_copies[0] - value(s), of_copies[1] - value(t)
    # A pair of copies adds a constant to a pairwise surrogate.
    expected = excess[1] if surrogate.is_shift_invariant else 0.0
    _require(
        np.isclose(excess[0], expected),
        f"{surrogate!r}: weight 2 is not the item twice",
    )
    of_more = np.append(v, 0.5), np.append(s, 9.0), longer, np.append(weights, 0.0)
    without = _value(surrogate, *of_more)
    _require(
        np.isclose(value(s), without),
        f"{surrogate!r}: an item of weight 0 changes the value",
    )


def _require(fact, message):
    if not fact:
        raise AssertionError(message)
