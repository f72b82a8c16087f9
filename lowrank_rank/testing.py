"""Checks of custom target losses, decoders and surrogates."""

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from .calibration import calibration_report, conditional_regret
from .lists._lists import RankingLists
from .low_rank._calibration import decoded_ranks
from .order_preserving._bounds import population_minimiser
from .order_preserving._surrogates import (
    SURROGATES,
    checked_values,
    resolve_surrogate,
    surrogate_for,
)
from .target_losses import PositionalLoss, SetLoss
from .target_losses._classes import SET_LOSSES, resolve_set_loss
from .target_losses._names import resolve_target_loss
from .validation._arrays import ArrayLike
from .validation._kinds import arrive

__all__ = ["check_surrogate", "check_target_loss"]


def check_target_loss(
    loss: Any, support: ArrayLike, *, n_distributions: int = 100, random_state: int = 0
) -> None:
    """Check a target loss by enumeration: its formula, decoders and conventions.

    Losses of orders:

    * The sum ``offset(y) + <encode(y), rank_features(ranks)>`` differs from minus the
      measure by one constant for all orders of a label.
    * That constant is one number for all labels, and gains are at least 0.
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
        does not return ranks.
    AssertionError
        If a check fails, with a sentence on it.

    Examples
    --------
    >>> from lowrank_rank.target_losses import NDCG
    >>> from lowrank_rank.testing import check_target_loss
    >>> check_target_loss(NDCG(k=2), [[2, 0, 1], [0, 0, 1], [1, 2, 0]])
    >>> check_target_loss("f1", [[0, 0, 0], [1, 0, 1], [0, 1, 0]])
    """
    arrive(support=support)
    if isinstance(loss, SetLoss) or (isinstance(loss, str) and loss in SET_LOSSES):
        _check_set_loss(loss, support, n_distributions, random_state)
    else:
        _check_order_loss(loss, support, n_distributions, random_state)


def _check_order_loss(loss, support, n_distributions, random_state):
    """Make the checks of `check_target_loss` for a loss of orders."""
    loss = resolve_target_loss(loss)
    support = np.asarray(support, dtype=np.float64)
    labels_before = support.copy()
    report = calibration_report(
        loss, support, n_distributions=n_distributions, random_state=random_state
    )
    for check in report.checks:
        holds = check.labels is None or check.declared != "exact"
        wrong = (
            f"the decoder {check.name!r} calls itself exact but is not Bayes-optimal"
        )
        if check.name == "factorisation":
            wrong = "loss + measure is not constant over the orders of a label"
        _require(holds, f"{loss!r}: {wrong} (error {check.error:.3g}; {check.found})")
    _check_offset(loss, support)
    _check_gains(loss, support)
    rng = np.random.default_rng(random_state)
    probabilities = rng.dirichlet(np.full(len(support), 0.5), size=n_distributions)
    mirrored = support[:, ::-1]
    if support.ndim == 3:
        mirrored = support[:, ::-1, ::-1]
    for name, decoder in loss.decoders.items():
        ranks = decoded_ranks(loss, name, support, probabilities)
        if not decoder.exact:
            continue
        # The value may not depend on the numbers of the items. The orders may, if
        # several are best.
        regret = conditional_regret(loss, support, probabilities, ranks)
        mirrored_ranks = decoded_ranks(loss, name, mirrored, probabilities)
        mirrored_regret = conditional_regret(
            loss, mirrored, probabilities, mirrored_ranks
        )
        _require(
            np.allclose(regret, mirrored_regret),
            f"{loss!r}: the decoder {name!r} depends on how the items are numbered",
        )
    _check_state(loss, support, labels_before)


def _check_offset(loss, support):
    """Check that loss + measure is one constant over the labels, for one order."""
    ranks = np.tile(np.arange(1, support.shape[1] + 1), (len(support), 1))
    sums = loss.loss(support, ranks) + loss.measure(support, -ranks, average=None)
    sums = sums[~np.isnan(sums)]  # without labels of an undefined measure
    _require(
        np.allclose(sums, sums[:1]),
        f"{loss!r}: loss + measure is not one constant for all labels: define "
        "offset(y), the part of the loss that no order changes",
    )


def _check_gains(loss, support):
    """Check that the gains of a positional measure are at least 0."""
    if not isinstance(loss, PositionalLoss):
        return
    labels, lists = loss._flat_labels(support)
    gains = loss.gains(labels, lists)
    _require(
        not np.any(gains < 0),
        f"{loss!r}: gains(y, lists) returns {np.nanmin(gains):g}: gains must be >= 0",
    )


def _check_state(loss, labels, labels_before):
    """Check that the labels are unchanged, and that copies of the loss encode alike."""
    is_unchanged = np.array_equal(labels, labels_before, equal_nan=True)
    _require(is_unchanged, f"{loss!r} changes the labels")
    targets = loss.encode(labels)
    for copy in (clone(loss), pickle.loads(pickle.dumps(loss))):
        is_same = np.array_equal(copy.encode(labels), targets, equal_nan=True)
        _require(is_same, f"{loss!r} encodes differently after clone or pickle")


def _check_set_loss(loss, support, n_distributions, random_state):
    """Make the checks of `check_target_loss` for a loss of sets."""
    loss = resolve_set_loss(loss)
    support = np.asarray(support)
    if support.ndim != 2 or not 1 <= support.shape[1] <= 8:
        raise ValueError(
            f"support must hold sets of 1 to 8 labels, got shape {support.shape}."
        )
    labels_before = support.copy()
    n, n_labels = support.shape
    max_size = int(support.sum(axis=1).max())
    # The losses of all 2**n_labels sets z, by definition and by
    # offset(y) + <encode(y), set_features(z)>.
    sets = (np.arange(2**n_labels)[:, np.newaxis] >> np.arange(n_labels)) & 1
    losses = np.array([loss.loss(np.tile(y, (len(sets), 1)), sets) for y in support])
    targets = loss.encode(support)
    features = loss.set_features(sets, max_size)
    low_rank_losses = loss.offset(support)[:, np.newaxis] + targets @ features.T
    _require(
        np.allclose(low_rank_losses, losses),
        f"{loss!r}: its low-rank form is not its loss",
    )
    rng = np.random.default_rng(random_state)
    probabilities = rng.dirichlet(np.full(n, 0.5), size=n_distributions)
    expected = probabilities @ targets
    random_vectors = rng.normal(size=(n_distributions, targets.shape[1]))
    for u in (expected, random_vectors, np.round(random_vectors)):
        least = (u @ features.T).min(axis=1)
        _require(
            np.allclose(_decoded_values(loss, u, n_labels, max_size), least),
            f"{loss!r}: decode does not find the best set",
        )
    mirrored = probabilities @ loss.encode(support[:, ::-1])
    least = (expected @ features.T).min(axis=1)
    _require(
        np.allclose(_decoded_values(loss, mirrored, n_labels, max_size), least),
        f"{loss!r}: decode depends on the order of the labels",
    )
    _check_state(loss, support, labels_before)


def _decoded_values(loss, u, n_labels, max_size):
    """Compute ``<u, set_features(z)>`` of the decoded sets z."""
    decoded = loss.decode(u, n_labels)
    is_set = decoded.shape == (len(u), n_labels) and np.isin(decoded, [0, 1]).all()
    _require(is_set, f"{loss!r}: decode does not return sets, 0 and 1 for each label")
    features = loss.set_features(decoded, max_size)
    return np.einsum("nd,nd->n", u, features)


def check_surrogate(
    surrogate: Any,
    *,
    n_trials: int = 20,
    max_utility: float = 15.0,
    random_state: int = 0,
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
    * With ``is_order_preserving``, the minimiser of the expected surrogate has the
      order of E v in ``10 * n_trials`` random distributions of utilities. That is not a
      proof: a surrogate that is wrong only for closer expected utilities than 2 %
      passes.

    Lists have 2 to 8 items with ties. Utilities are those of measures of five grades,
    0 to 4: gains ``2**grade - 1``, grades, shares of the relevant items, and gains over
    the ideal DCG. Half of the distributions have a rare large gain of one item and a
    certain small one of another, nearly equal in expectation.

    Parameters
    ----------
    surrogate : str or Surrogate
        Surrogate to check, or its name.
    n_trials : int, default=20
        Number of random sets of lists.
    max_utility : float, default=15.0
        The largest utility; 15 is the gain of grade 4. A surrogate with an eta of its
        own gets utilities up to two thirds of eta.
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
    surrogate, unit = _surrogate_and_unit(surrogate, max_utility)
    rng = np.random.default_rng(random_state)
    for _ in range(n_trials):
        lengths = rng.integers(2, 9, 4)
        lists = RankingLists(lengths)
        n = lists.n_rows
        v = unit * np.concatenate([_draw_utilities(rng, r) for r in lengths])
        weights = rng.uniform(0.5, 2.0, n)
        s, t = rng.normal(size=(2, n))
        shifted = s + np.repeat(rng.normal(size=len(lengths)), lengths)
        first = slice(lengths[0])
        checked_values(surrogate, v, s, lists, weights)  # refuses other shapes
        _check_derivatives(surrogate, v, s, lists, weights)
        _check_convexity(surrogate, v, s, t, lists, weights)
        _check_weight_of_two(surrogate, v[first], s[first], t[first])
        _check_weight_of_zero(surrogate, v[first], s[first])
        _check_weights_of_lists(surrogate, v, s, lists, weights)
        _check_flags(surrogate, v, s, shifted, lists, weights)
    if surrogate.is_order_preserving:
        for _ in range(10 * n_trials):
            _check_order(surrogate, *_draw_distribution(rng, unit))


# Gains 2**grade - 1 of the grades 0 to 4.
_LARGEST_GAIN = 15.0


def _surrogate_and_unit(surrogate, max_utility):
    """Return the surrogate with its eta, and the unit of its utilities."""
    has_name = isinstance(surrogate, str)
    resolved: Any = resolve_surrogate(surrogate)
    eta = getattr(resolved, "eta", None)
    if eta is None or has_name:
        resolved = surrogate_for(surrogate, np.array([max_utility]))
    elif eta <= max_utility:
        max_utility = eta / 1.5
    return resolved, max_utility / _LARGEST_GAIN


def _draw_utilities(rng, r, kind=None):
    """Draw the utilities of a list as one kind of measure gives them."""
    if kind is None:
        kind = rng.integers(4)
    grades = rng.integers(0, 5, r)
    grades[rng.integers(r)] = 4
    gains = 2.0**grades - 1.0
    if kind == 0:
        return gains
    if kind == 1:
        return grades.astype(float)
    if kind == 2:  # shares of the relevant items
        is_relevant = grades > 2
        return is_relevant / is_relevant.sum()
    discounts = 1.0 / np.log2(np.arange(2, r + 2))
    return gains / (np.sort(gains)[::-1] @ discounts)


def _draw_distribution(rng, unit):
    """Draw the utilities of some labels, and their probabilities."""
    r = int(rng.integers(2, 9))
    if rng.random() < 0.5:
        kind = rng.integers(4)
        utilities = np.array([_draw_utilities(rng, r, kind) for _ in range(3)])
        probabilities = (rng.dirichlet(np.ones(3)) + 1.0 / 3.0) / 2.0
    else:
        # A rare large gain of the first item, and a certain small one of the second.
        p = rng.uniform(0.02, 0.5)
        closeness = rng.choice([-1.0, 1.0]) * rng.uniform(0.03, 0.1)
        utilities = np.tile(rng.integers(1, 5, r), (2, 1)).astype(float)
        utilities[:, 0] = _LARGEST_GAIN, 0.0
        utilities[:, 1] = _LARGEST_GAIN * p * np.exp(closeness)
        probabilities = np.array([p, 1.0 - p])
    # E v > 0 makes the minimiser finite.
    utilities[0] = np.maximum(utilities[0], 0.1 * utilities.max())
    return unit * utilities[:, rng.permutation(r)], probabilities


def _check_order(surrogate, utilities, probabilities):
    """Check that the minimiser of the expected surrogate orders as E v does."""
    expected = probabilities @ utilities
    scores = population_minimiser(surrogate, utilities, probabilities)
    is_better = expected[:, np.newaxis] > 1.02 * expected
    is_below = scores[:, np.newaxis] < scores - 1e-3
    _require(
        not np.any(is_better & is_below),
        f"{surrogate!r} calls itself order-preserving, with scores {scores} at the "
        f"minimum of the expected utilities {expected}",
    )


def _check_derivatives(surrogate, v, s, lists, weights):
    """Compare the gradient and the curvature with finite differences."""
    step = 1e-5
    slope = np.zeros(len(s))
    second = np.zeros(len(s))
    for i, move in enumerate(step * np.eye(len(s))):
        above = surrogate.evaluate(v, s + move, lists, weights)
        below = surrogate.evaluate(v, s - move, lists, weights)
        slope[i] = (above.values.sum() - below.values.sum()) / (2 * step)
        second[i] = (above.gradient[i] - below.gradient[i]) / (2 * step)
    evaluated = surrogate.evaluate(v, s, lists, weights)
    _require(
        np.allclose(evaluated.gradient, slope, atol=1e-5, rtol=1e-5),
        f"{surrogate!r}: the gradient is not the derivative of the values",
    )
    newton_curvature = surrogate.newton_values(v, s, lists, weights).curvature
    curvature = np.minimum(evaluated.curvature, newton_curvature)
    _require(
        np.all(curvature >= second - 1e-4),
        f"{surrogate!r}: the curvature is below the second derivative",
    )


def _value(surrogate, v, s, lists, weights):
    """Compute the sum of the values of all lists."""
    return surrogate.evaluate(v, s, lists, weights).values.sum()


def _check_convexity(surrogate, v, s, t, lists, weights):
    """Compare the value at the middle of s and t with the mean at both ends."""
    middle = _value(surrogate, v, (s + t) / 2.0, lists, weights)
    at_s = _value(surrogate, v, s, lists, weights)
    at_t = _value(surrogate, v, t, lists, weights)
    mean = (at_s + at_t) / 2.0
    is_convex = middle <= mean or np.isclose(middle, mean)
    _require(is_convex, f"{surrogate!r} is not convex")


def _check_weight_of_two(surrogate, v, s, t):
    """Compare a first item of weight 2 with two copies of the item."""
    weights = np.ones(len(v))
    weights[0] = 2.0
    excess = []
    for scores in (s, t):
        weighted = _value(surrogate, v, scores, RankingLists([len(v)]), weights)
        copied = _value(
            surrogate,
            np.append(v, v[0]),
            np.append(scores, scores[0]),
            RankingLists([len(v) + 1]),
            np.ones(len(v) + 1),
        )
        excess.append(copied - weighted)
    # A pair of copies adds a constant to a pairwise surrogate.
    expected = excess[1] if surrogate.is_shift_invariant else 0.0
    _require(
        np.isclose(excess[0], expected),
        f"{surrogate!r}: weight 2 is not the item twice",
    )


def _check_weight_of_zero(surrogate, v, s):
    """Compare the value with that of a list with another item of weight 0."""
    weights = np.ones(len(v))
    value = _value(surrogate, v, s, RankingLists([len(v)]), weights)
    value_with_item = _value(
        surrogate,
        np.append(v, 0.5),
        np.append(s, 9.0),
        RankingLists([len(v) + 1]),
        np.append(weights, 0.0),
    )
    _require(
        np.isclose(value, value_with_item),
        f"{surrogate!r}: an item of weight 0 changes the value",
    )


def _check_weights_of_lists(surrogate, v, s, lists, weights):
    """Check the values at weights three times as large."""
    values = surrogate.evaluate(v, s, lists, weights).values
    larger = surrogate.evaluate(v, s, lists, 3.0 * weights).values
    factor = 9.0 if surrogate.is_pairwise else 3.0
    _require(
        np.allclose(larger, factor * values),
        f"{surrogate!r}: weights three times as large do not give {factor:g} times the "
        "value",
    )


def _check_flags(surrogate, v, s, shifted, lists, weights):
    """Check the flags of the class; scores `shifted` are s, shifted by lists."""
    # The value that each flag promises.
    promised = {}
    if surrogate.is_shift_invariant:
        promised["shift-invariant"] = _value(surrogate, v, shifted, lists, weights)
    if surrogate.is_proportional:
        half = _value(surrogate, 0.5 * v, s, lists, weights)
        promised["proportional to the utilities"] = 2.0 * half
    if surrogate.is_squared:
        name = "pairwise_squared" if surrogate.is_pairwise else "pointwise_squared"
        promised["squared"] = _value(SURROGATES[name](), v, s, lists, weights)
    value = _value(surrogate, v, s, lists, weights)
    for flag, promised_value in promised.items():
        _require(
            np.isclose(promised_value, value),
            f"{surrogate!r} calls itself {flag}, but its values are not",
        )


def _require(condition, message):
    if not condition:
        raise AssertionError(message)
