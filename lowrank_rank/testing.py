"""Checks that a new target loss or decoder keeps the promises that the rest builds on."""

import pickle

import numpy as np
from sklearn.base import clone

from .calibration import all_ranks, conditional_regret
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
    _require(np.array_equal(support, before), f"{loss!r} changes the labels that it is given")
    for copy in (clone(loss), pickle.loads(pickle.dumps(loss))):
        same = np.array_equal(copy.encode(support), loss.encode(support))
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


def _check_identity(loss, support):
    orders = all_ranks(_r(support))
    features = loss.rank_features(orders)
    targets = loss.encode(support)
    _require(
        targets.shape == (len(support), features.shape[1]),
        f"{loss!r}: encode gives {targets.shape} but rank_features gives {features.shape}",
    )
    linear = loss.offset(support)[:, np.newaxis] + targets @ features.T
    for y, values in zip(support, linear, strict=True):
        measures = np.array([loss.measure(y[np.newaxis], -o[np.newaxis]) for o in orders])
        measures = np.asarray(measures, dtype=float)
        constant = values + measures
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
