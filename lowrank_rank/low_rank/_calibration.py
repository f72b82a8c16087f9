"""Calibration of a target loss: its factorisation and its decoders, by enumeration."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from .._tables import TableMixin
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss
from ..target_losses._target_loss import Decoder
from ..validation._arrays import ArrayLike, numbers
from ..validation._check import refuse
from ..validation._checks_of_preferences import (
    CHECKS_OF_SUPPORT,
    CHECKS_OF_TARGETS_OF_SUPPORT,
)
from ..validation._ids import check_ranks
from ..validation._kinds import arrive
from ..validation._labels import read_distributions
from ..validation._parameters import checked, count

_MAX_ITEMS = 8  # 8! orders


class CalibrationCheck(NamedTuple):
    """A line of `CalibrationReport`; without a counter-example its fields are None.

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
        """Whether nothing that is declared exact has a counter-example."""
        return all(
            check.labels is None for check in self.checks if check.declared == "exact"
        )

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
    """Search for counter-examples to the factorisation and decoders of a target loss.

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
    support : array-like of shape (n_labels, r) or (n_labels, r, r), or None, \
            default=None
        Labels of the loss, r at most 6. None means all labels of five items: relevance
        0 and 1 for a binary loss, grades 0, 1 and 2 for others. A cut-off has an effect
        only if it is below r.
    decoder : callable or None, default=None
        A custom decoder, ``decode(u, n_items)`` with u (n_lists, d), which
        returns ranks (n_lists, n_items). It is tried in addition to the decoders of the
        loss.
    n_distributions : int, default=500
        Number of distributions, at least 1.
    random_state : int, default=0
        Seed of the distributions.

    Returns
    -------
    CalibrationReport
        See `CalibrationReport`: a table when printed. A search without result is not a
        proof.

    Raises
    ------
    ValueError
        If an argument is out of range, the loss refuses a label, or a decoder does not
        return ranks.

    Examples
    --------
    Items 1 and 2 are relevant with probability 0.66, and item 0 alone with 0.34. Two
    decoders put item 0 first (ranks 1, 2, 3), although an order with 1 and 2 on top has
    a higher expected AP.

    >>> from lowrank_rank.calibration import calibration_report
    >>> report = calibration_report("map", [[0, 1, 1], [1, 0, 0]])
    >>> report  # doctest: +NORMALIZE_WHITESPACE
    name           declared   tried                   error  found
    factorisation  exact      2 labels, all orders        0  no counter-example
    exact          exact      500 distributions           0  no counter-example
    local_search   not exact  500 distributions           0  no counter-example
    diagonal       not exact  500 distributions     0.04833  0.66: [0, 1, 1],
                                                             0.34: [1, 0, 0]
    sort           not exact  500 distributions     0.04833  0.66: [0, 1, 1],
                                                             0.34: [1, 0, 0]
    >>> report.checks[-1].ranks
    array([1, 2, 3])
    """
    arrive(support=support)
    loss = resolve_target_loss(loss)
    if support is None:
        grades = range(2 if loss.labels == "binary" else 3)
        support = list(product(grades, repeat=5))
    support = _read_support(support)
    errors = factorisation_errors(loss, support)
    worst = int(np.argmax(errors))
    factorisation = _check(
        "factorisation",
        exact=True,
        tried=f"{len(support)} labels, all orders",
        error=errors[worst],
        labels=support[[worst]],
        probabilities=np.ones(1),
    )
    checks = [factorisation]
    if factorisation.labels is not None:
        return CalibrationReport(loss, checks)
    probabilities = _random_distributions(len(support), n_distributions, random_state)
    decoders = dict(loss.decoders)
    if decoder is not None:
        name = getattr(decoder, "__name__", "decoder")
        decoders[name] = Decoder(decoder, exact=False)
    for name, candidate in decoders.items():
        ranks = decoded_ranks(loss, name, support, probabilities, candidate)
        regrets = conditional_regret(loss, support, probabilities, ranks)
        worst = int(np.argmax(regrets))
        is_used = probabilities[worst] > 0
        check = _check(
            name,
            exact=candidate.exact,
            tried=f"{n_distributions} distributions",
            error=regrets[worst],
            labels=support[is_used],
            probabilities=probabilities[worst, is_used],
            ranks=ranks[worst],
        )
        checks.append(check)
    return CalibrationReport(loss, checks)


def _read_support(support):
    """Return the labels as an array (n, r) or (n, r, r)."""
    support = numbers(support, "support")
    refuse(CHECKS_OF_SUPPORT, support=support, most=_MAX_ITEMS)
    return support


def _random_distributions(n_labels, n_distributions, random_state):
    """Draw distributions of up to three labels, shape (n_distributions, n_labels).

    Probabilities are hundredths, which are easy to read.
    """
    rng = np.random.default_rng(random_state)
    expected = rng.dirichlet(np.ones(3), n_distributions)
    hundredths = rng.multinomial(100, expected)
    labels = rng.integers(n_labels, size=hundredths.shape)
    probabilities = np.zeros((n_distributions, n_labels))
    rows = np.arange(n_distributions)[:, np.newaxis]
    np.add.at(probabilities, (rows, labels), hundredths / 100)
    return probabilities


def _check(
    name, exact, tried, error, labels, probabilities, ranks=None, tolerance=1e-8
):
    """Return a line of the report; rounding errors are not counter-examples."""
    declared = "exact" if exact else "not exact"
    if error <= tolerance:
        return CalibrationCheck(
            name=name,
            declared=declared,
            tried=tried,
            error=0.0,
            found="no counter-example",
        )
    terms = []
    for probability, label in zip(probabilities, labels, strict=True):
        text = np.array2string(
            label, separator=", ", formatter={"float": "{:g}".format}
        )
        one_line = " ".join(text.split())
        terms.append(f"{probability:.3g}: {one_line}")
    return CalibrationCheck(
        name=name,
        declared=declared,
        tried=tried,
        error=float(error),
        found=", ".join(terms),
        labels=labels,
        probabilities=probabilities,
        ranks=ranks,
    )


def factorisation_errors(loss, support):
    """Return the range over all orders of factorised loss plus measure, for each label.

    The range is 0 if the factorisation is right.
    """
    orders = all_ranks(support.shape[1])
    features = loss.rank_features(orders)
    targets = loss.encode(support)
    shapes = (np.shape(targets), np.shape(features))
    d = shapes[1][-1]
    if shapes != ((len(support), d), (len(orders), d)):
        raise AssertionError(
            f"{loss!r}: encode and rank_features differ in their columns, shapes "
            f"{shapes[0]} and {shapes[1]}: they must be ({len(support)}, d) and "
            f"({len(orders)}, d)"
        )
    refuse(CHECKS_OF_TARGETS_OF_SUPPORT, loss=loss, support=support, targets=targets)
    # offset(y) + <alpha(y), beta(order)>, and then the measure.
    sums = loss.offset(support)[:, np.newaxis] + targets @ features.T
    for label, sums_of_label in zip(support, sums, strict=True):
        copies = np.repeat(label[np.newaxis], len(orders), axis=0)
        measures = loss.measure(copies, -orders, average=None)
        sums_of_label += np.where(np.isnan(measures), loss.undefined, measures)
    return np.ptp(sums, axis=1)


def decoded_ranks(loss, name, support, probabilities, decoder=None):
    """Return the ranks that a decoder finds for expected targets, by distribution."""
    decoder = decoder or loss.decoders[name]
    n_items = support.shape[1]
    encode = loss.score_targets if decoder.of_scores else loss.encode
    targets = encode(support)
    ranks = decoder.decode(probabilities @ np.nan_to_num(targets), n_items)
    what = f"What the decoder {name!r} of {loss!r} returns"
    return check_ranks(ranks, what, (len(probabilities), n_items))


# Risks ------------------------------------------------------------------------------


def all_ranks(n_items: int) -> np.ndarray:
    """Return the ranks of every order of at most 8 items, shape (n_items!, n_items)."""
    return np.array(list(permutations(range(1, n_items + 1))))


def conditional_regret(
    loss: TargetLoss | str, support: Any, probabilities: ArrayLike, ranks: ArrayLike
) -> np.ndarray:
    """Compute how much more each order costs than the Bayes order, in expectation.

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
        If a row of `probabilities` is not a distribution, a row of `ranks` is not an
        order 1..r, the loss refuses a label, or shapes differ.

    Examples
    --------
    >>> from lowrank_rank.calibration import conditional_regret
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> support = [[1, 0], [0, 1]]
    >>> conditional_regret(PrecisionAtK(k=1), support, [[0.75, 0.25]], [[2, 1]])
    array([0.5])
    """
    arrive(support=support, probabilities=probabilities, ranks=ranks)
    loss = resolve_target_loss(loss)
    support = _read_support(support)
    expected_targets = read_distributions(probabilities, len(support))
    expected_targets = expected_targets @ loss.encode(support)
    ranks = check_ranks(ranks, "ranks", (len(expected_targets), support.shape[1]))
    # The expected loss of an order is <u, beta(order)>, up to a constant.
    features = loss.rank_features(ranks)
    costs = np.einsum("nd,nd->n", expected_targets, features)
    all_features = loss.rank_features(all_ranks(ranks.shape[1]))
    return costs - (expected_targets @ all_features.T).min(axis=1)
