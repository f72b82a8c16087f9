"""Calibration of a target loss: its factorisation and its decoders, by enumeration."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from .._arrays import ArrayLike, numbers
from .._labels import read_distributions
from .._lists import check_ranks
from .._parameters import checked, count
from .._tables import TableMixin
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss
from ..target_losses._target_loss import Decoder

_MAX_ITEMS = 8  # 8! orders


class CalibrationCheck(NamedTuple):
    """A line of `CalibrationReport`; the fields of the counter-example are None without one.

    Attributes
    ----------
    name : str
        "factorisation", or the name of a decoder.
    declared : str
        "exact" if the loss claims that it is exact, else "not exact".
    tried : str
    error : float
        Largest regret of the decoder. For the factorisation, the largest change of loss
        plus measure over the orders of one label, which should be 0.
    found : str
        The counter-example with the largest error in one line: the probability of each
        label, and the label.
    labels : ndarray of shape (n_labels, r) or (n_labels, r, r), or None
        Labels of that counter-example.
    probabilities : ndarray of shape (n_labels,) or None
    ranks : ndarray of shape (r,) or None
        Decoded ranks, 1 = best.
    """

    name: str
    declared: str
    tried: str
    error: float
    found: str
    labels: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    ranks: np.ndarray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationReport(TableMixin):
    """Checks of a target loss and their results; returned by `calibration_report`.

    Attributes
    ----------
    loss : TargetLoss
    checks : list of CalibrationCheck
        The factorisation, then each decoder.

    Examples
    --------
    >>> from lowrank_rank.calibration import calibration_report
    >>> report = calibration_report("auc")
    >>> report.holds, report.checks[1].name, report.checks[1].labels is None
    (True, 'sort', True)
    """

    loss: TargetLoss
    checks: list[CalibrationCheck]

    @property
    def holds(self) -> bool:
        """Whether the search found no counter-example to anything that is declared exact."""
        return all(c.labels is None for c in self.checks if c.declared == "exact")

    def _columns(self):
        names = CalibrationCheck._fields[:5]
        return {name: [getattr(check, name) for check in self.checks] for name in names}


@checked(decoder=[callable, None], n_distributions=[count()], random_state=[count(0)])
def calibration_report(
    loss: TargetLoss | str,
    support: Any = None,
    *,
    decoder: Callable | None = None,
    n_distributions: int = 500,
    random_state: int = 0,
) -> CalibrationReport:
    """Search for counter-examples to the factorisation and the decoders of a target loss.

    The factorisation is compared with the measure for every order of every label. Then
    each decoder gets the minimiser of the squared surrogate, the expected targets, for
    random distributions of up to three labels. The regret of its order is computed by
    enumeration. If the factorisation fails, the decoders are not tried.
    `testing.check_target_loss` is for tests: it raises an error where a claim of the
    loss is wrong.

    Parameters
    ----------
    loss : TargetLoss or str
        Loss to check, or its name.
    support : array-like of shape (n_labels, r) or (n_labels, r, r), or None, default=None
        Labels of the loss, r at most 6. None means all labels of five items: relevance
        0 and 1 for a binary loss, grades 0, 1 and 2 for others. A cut-off has an effect
        only if it is below r.
    decoder : callable or None, default=None
        A decoder of one's own, ``decode(u, n_items)`` with u (n_lists, d), which
        returns ranks (n_lists, n_items). It is tried in addition to the decoders of the
        loss.
    n_distributions : int, default=500
        Number of distributions, at least 1.
    random_state : int, default=0
        Seed of the distributions.

    Returns
    -------
    CalibrationReport
        See `CalibrationReport`: a table when printed. A search without result is no
        proof.

    Raises
    ------
    ValueError
        If an argument is out of range, the loss refuses a label, or a decoder returns
        no ranks.

    Examples
    --------
    Items 1 and 2 are relevant with probability 0.66, and item 0 alone with 0.34. Two
    decoders put item 0 first (ranks 1, 2, 3), although an order with 1 and 2 on top has
    a higher expected AP.

    >>> from lowrank_rank.calibration import calibration_report
    >>> report = calibration_report("map", [[0, 1, 1], [1, 0, 0]])
    >>> report
    name           declared   tried                   error  found
    factorisation  exact      2 labels, all orders        0  no counter-example
    exact          exact      500 distributions           0  no counter-example
    local_search   not exact  500 distributions           0  no counter-example
    diagonal       not exact  500 distributions     0.04833  0.66: [0, 1, 1], 0.34: [1, 0, 0]
    sort           not exact  500 distributions     0.04833  0.66: [0, 1, 1], 0.34: [1, 0, 0]
    >>> report.checks[-1].ranks
    array([1, 2, 3])
    """
    loss = resolve_target_loss(loss)
    if support is None:
        support = list(product(range(2 if loss.labels == "binary" else 3), repeat=5))
    support, rng = _read_support(support), np.random.default_rng(random_state)
    errors, tried = (
        factorisation_errors(loss, support),
        f"{len(support)} labels, all orders",
    )
    worst = int(np.argmax(errors))
    checks = [
        _check(
            "factorisation", True, tried, errors[worst], support[[worst]], np.ones(1)
        )
    ]
    # Each distribution has up to three labels, with probabilities in hundredths: easy
    # to read.
    counts = rng.multinomial(100, rng.dirichlet(np.ones(3), n_distributions))
    probabilities, rows = np.zeros((len(counts), len(support))), np.arange(len(counts))
    labels = rng.integers(len(support), size=counts.shape)
    np.add.at(probabilities, (rows[:, np.newaxis], labels), counts / 100)
    tried = f"{len(counts)} distributions"
    decoders = dict(loss.decoders)
    if decoder is not None:
        decoders[getattr(decoder, "__name__", "decoder")] = Decoder(
            decoder, exact=False
        )
    for name, one in decoders.items() if checks[0].labels is None else ():
        ranks = decoded_ranks(loss, name, support, probabilities, one)
        regrets = conditional_regret(loss, support, probabilities, ranks)
        worst = int(np.argmax(regrets))
        used = probabilities[worst] > 0
        example = support[used], probabilities[worst, used], ranks[worst]
        checks.append(_check(name, one.exact, tried, regrets[worst], *example))
    return CalibrationReport(loss, checks)


def _read_support(support):
    support = numbers(support, "support")
    if support.ndim not in (2, 3) or 0 in support.shape:
        raise ValueError(
            f"support must hold labels, (n, r) or (n, r, r), got {support.shape}."
        )
    return support


def _check(
    name, exact, tried, error, labels, probabilities, ranks=None, tolerance=1e-8
):
    """A line of the report; an error within rounding of the sums is no counter-example."""
    line = name, "exact" if exact else "not exact", tried
    if error <= tolerance:
        return CalibrationCheck(*line, 0.0, "no counter-example")
    text = [
        np.array2string(y, separator=", ", formatter={"float": "{:g}".format})
        for y in labels
    ]
    pairs = zip(probabilities, text, strict=True)
    distribution = ", ".join(f"{p:.3g}: {' '.join(y.split())}" for p, y in pairs)
    return CalibrationCheck(
        *line, float(error), distribution, labels, probabilities, ranks
    )


def factorisation_errors(loss, support):
    """How much the factorised loss plus the measure varies over all orders, for each label."""
    orders = all_ranks(support.shape[1])
    features, targets = loss.rank_features(orders), loss.encode(support)
    if targets.shape != (len(support), features.shape[1]):
        raise AssertionError(
            f"{loss!r}: encode and rank_features differ in their columns"
        )
    if np.isnan(targets).any() and np.isnan(support).any():
        raise ValueError(
            f"{loss!r} has no target for an item that is not judged: give a support without NaN."
        )
    sums = loss.offset(support)[:, np.newaxis] + targets @ features.T
    for y, values in zip(support, sums, strict=True):
        labels = np.repeat(y[np.newaxis], len(orders), axis=0)
        measures = loss.measure(labels, -orders, average=None)
        values += np.where(np.isnan(measures), loss.undefined, measures)
    return np.ptp(sums, axis=1)


def decoded_ranks(loss, name, support, probabilities, decoder=None):
    """Ranks that a decoder returns for the expected targets of each distribution."""
    decoder, r = decoder or loss.decoders[name], support.shape[1]
    targets = loss.score_targets(support) if decoder.of_scores else loss.encode(support)
    decoded = decoder.decode(probabilities @ np.nan_to_num(targets), r)
    name = f"What the decoder {name!r} of {loss!r} returns"
    return check_ranks(decoded, name, (len(probabilities), r))


# Risks ------------------------------------------------------------------------------


def all_ranks(n_items: int) -> np.ndarray:
    """Ranks of every order of at most 8 items, shape (n_items!, n_items)."""
    if not 1 <= n_items <= _MAX_ITEMS:
        raise ValueError(
            f"Orders of 1 to {_MAX_ITEMS} items are enumerated, got {n_items}."
        )
    return np.array(list(permutations(range(1, n_items + 1))))


def conditional_regret(
    loss: TargetLoss | str, support: Any, probabilities: ArrayLike, ranks: ArrayLike
) -> np.ndarray:
    """How much more each decoded order costs than the Bayes order, in expectation.

    The Bayes order is found among all r! orders.

    Parameters
    ----------
    loss : TargetLoss or str
        Loss, or its name.
    support : array-like of shape (n_labels, r) or (n_labels, r, r)
        Labels that can occur.
    probabilities : array-like of shape (n, n_labels)
        Probability of each label, for each list.
    ranks : array-like of shape (n, r)
        One order for each distribution, r at most 8.

    Returns
    -------
    ndarray of shape (n,)
        >= 0 up to rounding.

    Raises
    ------
    ValueError
        If a row of `probabilities` is no distribution, a row of `ranks` is no order
        1..r, the loss refuses a label, or shapes differ.

    Examples
    --------
    >>> from lowrank_rank.calibration import conditional_regret
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> conditional_regret(PrecisionAtK(k=1), [[1, 0], [0, 1]], [[0.75, 0.25]], [[2, 1]])
    array([0.5])
    """
    loss, support = resolve_target_loss(loss), _read_support(support)
    u = read_distributions(probabilities, len(support)) @ loss.encode(support)
    ranks = check_ranks(ranks, "ranks", (len(u), support.shape[1]))
    best = (u @ loss.rank_features(all_ranks(ranks.shape[1])).T).min(axis=1)
    return np.einsum("nd,nd->n", u, loss.rank_features(ranks)) - best
