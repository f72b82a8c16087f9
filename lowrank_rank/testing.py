"""Checks of custom target losses, decoders and surrogates."""

import pickle
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ._lists import RankingLists
from .calibration import all_ranks, conditional_regret, is_order_preserving
from .surrogates import PairwiseSquared, PointwiseSquared, Surrogate, resolve_surrogate
from .target_losses import resolve_target_loss

_TOLERANCE = 1e-9


def check_target_loss(loss, support, *, n_distributions=20, random_state=0):
    """Check a target loss by enumeration: its identity, decoders and conventions.

    * ``offset(y) + <encode(y), rank_features(ranks)>`` differs from minus the measure by one
      constant for all orders of a label;
    * every decoder that calls itself exact is Bayes-optimal at u = E[targets] for random
      distributions over `support`;
    * decoders permute with the items; the loss clones, pickles, and does not change y.

    Parameters
    ----------
    loss : TargetLoss or str
    support : array-like of shape (n_labels, r) or (n_labels, r, r)
        Labels that it takes, r at most 6.
    n_distributions : int, default=20
    random_state : int, default=0

    Raises
    ------
    ValueError
        If `support` has another shape, or holds what the loss does not take.
    AssertionError
        Saying what does not hold.

    Examples
    --------
    >>> from lowrank_rank.target_losses import NDCG
    >>> from lowrank_rank.testing import check_target_loss
    >>> check_target_loss(NDCG(k=2), [[2, 0, 1], [0, 0, 1], [1, 2, 0]])
    """
    loss = resolve_target_loss(loss)
    support = np.asarray(support, dtype=np.float64)
    if support.ndim not in (2, 3) or 0 in support.shape:
        raise ValueError(
            "support must hold labels, of shape (n_labels, r) or (n_labels, r, r), got "
            f"{support.shape}."
        )
    before = support.copy()
    _check_identity(loss, support)
    probabilities = np.random.default_rng(random_state).dirichlet(
        np.full(len(support), 0.5), size=n_distributions
    )
    for name, decoder in loss.decoders.items():
        check_decoder(loss, name, support, probabilities)
        if decoder.exact:
            ranks = decoder.decode(probabilities @ _targets(loss, decoder, support), _r(support))
            regret = conditional_regret(loss, support, probabilities, ranks).max()
            _require(
                regret < _TOLERANCE,
                f"{loss!r}: the decoder {name!r} calls itself exact but has "
                f"regret {regret:.3g} at the expectation of the targets",
            )
    same = np.array_equal(support, before, equal_nan=True)
    _require(same, f"{loss!r} changes the labels that it is given")
    for copy in (clone(loss), pickle.loads(pickle.dumps(loss))):
        same = np.array_equal(copy.encode(support), loss.encode(support), equal_nan=True)
        _require(same, f"{loss!r} encodes differently after clone or pickle")


def check_decoder(loss, name, support, probabilities):
    """Check that a decoder returns ranks 1..r and follows a permutation of the items.

    The value that it reaches must be the same however the items are numbered; the orders may
    differ where several are as good.

    Parameters
    ----------
    loss : TargetLoss
    name : str
        One of ``loss.decoders``.
    support : ndarray of shape (n_labels, r) or (n_labels, r, r)
    probabilities : ndarray of shape (n, n_labels)

    Raises
    ------
    AssertionError
        Saying what does not hold.
    """
    decoder, r = loss.decoders[name], _r(support)
    ranks = decoder.decode(probabilities @ _targets(loss, decoder, support), r)
    _require(
        np.array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, r + 1), (len(ranks), 1))),
        f"{loss!r}: the decoder {name!r} does not return ranks 1..{r}",
    )
    if not decoder.exact:
        return
    shuffled = support[:, ::-1] if support.ndim == 2 else support[:, ::-1, ::-1]
    other = decoder.decode(probabilities @ _targets(loss, decoder, shuffled), r)
    here = conditional_regret(loss, support, probabilities, ranks)
    there = conditional_regret(loss, shuffled, probabilities, other)
    _require(
        np.allclose(here, there, atol=_TOLERANCE),
        f"{loss!r}: the decoder {name!r} depends on how the items are numbered",
    )


def check_surrogate(surrogate, *, n_trials=20, random_state=0):
    """Check a surrogate in score space: its derivatives, convexity, weights and promises.

    * the gradient is that of the values, the curvature no smaller than its diagonal slope;
    * values are convex along random segments;
    * an item of weight 2 counts as the item twice, one of weight 0 as none: exactly, or, where
      ``is_shift_invariant``, but for a constant that no score changes;
    * weights three times as large give values three times as large, nine times where
      ``is_pairwise``: a list of weight 3 is the list three times;
    * where ``is_shift_invariant``, a constant added to a list's scores changes nothing;
    * where ``is_proportional``, utilities twice as large give values twice as large;
    * where ``is_squared``, the values are the sums of squared errors, of items or of pairs;
    * where ``is_order_preserving``, no counter-example is found (`is_order_preserving`).

    Utilities lie in [0, 1): a surrogate with an eta needs one of at least 1.

    Parameters
    ----------
    surrogate : str or Surrogate
    n_trials : int, default=20
    random_state : int, default=0

    Raises
    ------
    AssertionError
        Saying what does not hold.
    TypeError
        If ``evaluate`` returns anything but `SurrogateValues`, or arrays of other shapes.

    Examples
    --------
    >>> from lowrank_rank.testing import check_surrogate
    >>> check_surrogate("cross_entropy")
    """
    surrogate, rng = resolve_surrogate(surrogate), np.random.default_rng(random_state)
    for _ in range(n_trials):
        lengths = rng.integers(1, 5, 4)
        n = int(lengths.sum())
        v = rng.uniform(0, 1, n) * (rng.uniform(size=n) < 0.7)
        point = _Point(surrogate, v, rng.uniform(0.5, 2.0, n), RankingLists(lengths))
        s, t = rng.normal(size=(2, n))
        surrogate.prepare(v, point.lists, point.weights)(s)  # refuses what is of another shape
        _check_derivatives(point, s)
        middle = point.value((s + t) / 2.0)
        _require(
            middle <= (point.value(s) + point.value(t)) / 2.0 + _TOLERANCE,
            f"{surrogate!r} is not convex",
        )
        _check_flags(point, s, s + np.repeat(rng.normal(size=len(lengths)), lengths))
        _check_copies(surrogate, v, s, t)
        _check_list_weights(point, s)
    if surrogate.is_order_preserving:
        found = is_order_preserving(surrogate, n_distributions=n_trials, random_state=random_state)
        _require(
            found.holds,
            f"{surrogate!r} calls itself order-preserving but has the scores {found.scores} at the "
            f"minimum where the expected utilities are {found.expected}",
        )


class _Point(NamedTuple):
    """A surrogate at fixed utilities, as a function of the scores."""

    surrogate: Surrogate
    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists

    def at(self, s):
        return self.surrogate.evaluate(self.v, s, self.lists, self.weights)

    def value(self, s):
        return self.at(s).values.sum()


def _check_derivatives(point, s, step=1e-5):
    found = point.at(s)
    moves = step * np.eye(len(s))
    slope = [(point.value(s + m) - point.value(s - m)) / (2 * step) for m in moves]
    _require(
        np.allclose(found.gradient, slope, atol=1e-5, rtol=1e-5),
        f"{point.surrogate!r}: the gradient is not that of the values",
    )
    curvature = [
        (point.at(s + m).gradient[i] - point.at(s - m).gradient[i]) / (2 * step)
        for i, m in enumerate(moves)
    ]
    newton = point.surrogate.newton_values(point.v, s, point.lists, point.weights).curvature
    _require(
        np.all(np.minimum(found.curvature, newton) >= np.array(curvature) - 1e-4),
        f"{point.surrogate!r}: the curvature is below the second derivative",
    )


def _check_flags(point, s, shifted):
    """Check the flags of the class, at scores and at scores shifted within lists."""
    surrogate = point.surrogate
    if surrogate.is_shift_invariant:
        _require(
            np.isclose(point.value(s), point.value(shifted)),
            f"{surrogate!r} calls itself shift-invariant but changes with a shift",
        )
    if surrogate.is_proportional:
        half = point._replace(v=0.5 * point.v)
        _require(
            np.isclose(2.0 * half.value(s), point.value(s)),
            f"{surrogate!r} calls itself proportional to the utilities but is not",
        )
    if surrogate.is_squared:
        plain = PairwiseSquared() if surrogate.is_pairwise else PointwiseSquared()
        _require(
            np.isclose(point.value(s), point._replace(surrogate=plain).value(s)),
            f"{surrogate!r} calls itself squared but is not the sum of squared errors",
        )


def _check_copies(surrogate, v, s, t):
    """The first item with weight 2, twice, and a further one of weight 0, in one list."""
    v, s, t = v[:4], s[:4], t[:4]
    ones, two = np.ones(len(v) + 1), np.ones(len(v))
    two[0] = 2.0
    one = _Point(surrogate, v, two, RankingLists([len(v)]))
    twice = _Point(surrogate, np.append(v, v[0]), ones, RankingLists([len(v) + 1]))
    more = _Point(surrogate, np.append(v, 0.5), np.append(two, 0.0), twice.lists)
    excess = [twice.value(np.append(x, x[0])) - one.value(x) for x in (s, t)]
    # Copies of an item that are compared with each other add what no score changes.
    expected = excess[1] if surrogate.is_shift_invariant else 0.0
    _require(np.isclose(excess[0], expected), f"{surrogate!r}: weight 2 is not the item twice")
    _require(
        np.isclose(one.value(s), more.value(np.append(s, 9.0))),
        f"{surrogate!r}: an item of weight 0 counts",
    )


def _check_list_weights(point, s):
    factor = 9.0 if point.surrogate.is_pairwise else 3.0
    thrice = point._replace(weights=3.0 * point.weights)
    _require(
        np.allclose(thrice.at(s).values, factor * point.at(s).values),
        f"{point.surrogate!r}: weights three times as large do not give {factor:g} times the value",
    )


def _check_identity(loss, support):
    orders = all_ranks(_r(support))
    features = loss.rank_features(orders)
    targets = loss.encode(support)
    _require(
        targets.shape == (len(support), features.shape[1]),
        f"{loss!r}: encode gives {targets.shape} but rank_features gives {features.shape}",
    )
    if np.isnan(targets).any() and np.isnan(support).any():
        raise ValueError(
            f"{loss!r} has no target for an item that is not judged: give a support without NaN."
        )
    linear = loss.offset(support)[:, np.newaxis] + targets @ features.T
    for y, values in zip(support, linear, strict=True):
        labels = np.repeat(y[np.newaxis], len(orders), axis=0)
        measures = loss.measure(labels, -orders, average=None)
        constant = values + np.where(np.isnan(measures), loss.undefined, measures)
        _require(
            np.ptp(constant) < _TOLERANCE,
            f"{loss!r}: loss + measure is not constant over the orders of the label {y.tolist()}",
        )


def _targets(loss, decoder, support):
    return loss.score_targets(support) if decoder.of_scores else loss.encode(support)


def _r(support):
    return support.shape[1]


def _require(fact, message):
    if not fact:
        raise AssertionError(message)
