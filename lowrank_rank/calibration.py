"""What the theorems speak of: regret of an order, conditions on the distribution, margins."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from .decoders._average_precision import symmetric_matrices
from .surrogates._precision import scores_by_class
from .target_losses import resolve_target_loss

_MOST_ITEMS = 8  # 8! orders


def all_ranks(n_items):
    """Ranks of every order of the items, shape (n_items!, n_items).

    Parameters
    ----------
    n_items : int
        At most 8.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> from lowrank_rank.calibration import all_ranks
    >>> all_ranks(2).tolist()
    [[1, 2], [2, 1]]
    """
    if not 1 <= n_items <= _MOST_ITEMS:
        raise ValueError(
            f"Enumerating orders takes 1 to {_MOST_ITEMS} items (r! orders), got {n_items}."
        )
    return np.array(list(permutations(range(1, n_items + 1))))


def conditional_risks(loss, support, probabilities, ranks):
    """Expected loss of each order for each distribution over a finite set of labels.

    Parameters
    ----------
    loss : TargetLoss or str
    support : array-like of shape (n_labels, r) or (n_labels, r, r)
        The labels.
    probabilities : array-like of shape (n, n_labels)
        One distribution a row.
    ranks : array-like of shape (n_orders, r)

    Returns
    -------
    ndarray of shape (n, n_orders)

    Examples
    --------
    >>> from lowrank_rank.calibration import conditional_risks
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> conditional_risks(PrecisionAtK(k=1), [[1, 0], [0, 1]], [[0.75, 0.25]], [[1, 2], [2, 1]])
    array([[0.25, 0.75]])
    """
    loss = resolve_target_loss(loss)
    losses = (
        loss.offset(support)[:, np.newaxis] + loss.encode(support) @ loss.rank_features(ranks).T
    )
    return np.asarray(probabilities) @ losses


def conditional_regret(loss, support, probabilities, ranks):
    """How much more each decoded order costs than the Bayes order, in expectation.

    The Bayes order is found among all r! orders.

    Parameters
    ----------
    loss : TargetLoss or str
    support : array-like of shape (n_labels, r) or (n_labels, r, r)
    probabilities : array-like of shape (n, n_labels)
    ranks : array-like of shape (n, r)
        One order for each distribution, r at most 8.

    Returns
    -------
    ndarray of shape (n,)
        >= 0 up to rounding.

    Examples
    --------
    >>> from lowrank_rank.calibration import conditional_regret
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> conditional_regret(PrecisionAtK(k=1), [[1, 0], [0, 1]], [[0.75, 0.25]], [[2, 1]])
    array([0.5])
    """
    loss, ranks = resolve_target_loss(loss), np.asarray(ranks)
    best = conditional_risks(loss, support, probabilities, all_ranks(ranks.shape[1])).min(axis=1)
    u = np.asarray(probabilities) @ loss.encode(support)
    risk = np.asarray(probabilities) @ loss.offset(support)
    return risk + np.einsum("nd,nd->n", u, loss.rank_features(ranks)) - best


def in_p_reinforce(u, n_items, *, tol=1e-12):
    """Whether MAP's diagonal decoder is calibrated at u = E alpha(Y) (theorem 4).

    ``u_ii >= u_jj`` must imply ``u_ii >= u_jj + sum_{g != i, j} (u_jg - u_ig)_+`` for all i, j.

    Parameters
    ----------
    u : array-like of shape (n, r(r+1)/2)
        Lower triangles, as `MeanAveragePrecision.encode` makes them.
    n_items : int
    tol : float, default=1e-12
        Slack for rounding.

    Returns
    -------
    ndarray of bool, shape (n,)

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 4.

    Examples
    --------
    The counter-example: labels (0,1,1) with .65, (1,0,0) with .35.

    >>> from lowrank_rank.calibration import in_p_reinforce
    >>> in_p_reinforce([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]], n_items=3)
    array([False])
    """
    full = symmetric_matrices(u, n_items)
    diagonal = np.arange(n_items)
    own = full[:, diagonal, diagonal]
    # excess[n, i, j] = sum over g != i, j of (u_jg - u_ig)_+; entries g = i, j are masked.
    excess = np.maximum(full[:, np.newaxis, :, :] - full[:, :, np.newaxis, :], 0.0)
    excess[:, diagonal, :, diagonal] = 0.0
    excess[:, :, diagonal, diagonal] = 0.0
    gap = own[:, :, np.newaxis] - own[:, np.newaxis, :]
    return np.all((gap < 0) | (gap >= excess.sum(axis=3) - tol), axis=(1, 2))


class PrecisionMargins(NamedTuple):
    """Margins of one scored list at k; see `precision_margins`."""

    weak: float
    average: float
    strong: float


def precision_margins(y, scores, k):
    """By how much the positives beat the best negative, in the three senses of precision at k.

    With positive scores ``a_1 >= ... >= a_P`` and the best negative score b:

    * weak: ``a_k - b``, some k positives beat every negative;
    * average: ``mean(a_k, ..., a_P) - b``, every P - k + 1 positives do so on average;
    * strong: ``a_P - b``, every positive does.

    The surrogates "ramp", "avg" and "max" are 0 if and only if the weak, the average and the
    strong margin are at least 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1, P of them 1.
    scores : array-like of shape (n,)
        Higher is better.
    k : int
        1 <= k <= P.

    Returns
    -------
    PrecisionMargins
        weak >= average >= strong, in units of the scores; infinite without negatives.

    Raises
    ------
    ValueError
        If k does not lie in 1..P, y is not 0 and 1 or scores are not finite.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision at the
       Top", ICML 2015, definitions 2, 5 and 4.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_margins
    >>> precision_margins([1, 1, 1, 0], [4.0, 2.0, 1.0, 0.5], k=2)
    PrecisionMargins(weak=1.5, average=1.0, strong=0.5)
    """
    above, below, k = scores_by_class(y, scores, k)
    best = below[0] if len(below) else -np.inf
    return PrecisionMargins(
        float(above[k - 1] - best), float(above[k - 1 :].mean() - best), float(above[-1] - best)
    )


def precision_mistake_bound(k, radius, norm, surrogate_loss=0.0):
    """Most mistakes at the top that the perceptrons make over a stream of mini-batches.

    ``(norm * radius * sqrt(4 k) + sqrt(surrogate_loss))**2``, for any weights w of that norm.

    Parameters
    ----------
    k : int
        Places at the top of each mini-batch.
    radius : float
        Largest norm of a row.
    norm : float
        Norm of w. If w of norm 1 has the margin gamma > 0 in every batch (the average margin
        for Perceptron@k-avg, the strong one for Perceptron@k-max) take ``norm = 1 / gamma`` and no
        surrogate loss: the bound is then ``4 k radius**2 / gamma**2``.
    surrogate_loss : float, default=0.0
        Sum over the batches of the surrogate "avg" (or "max") of the scores X w.

    Returns
    -------
    float
        Bound on the sum over the batches of the number of negatives in the top k.

    Raises
    ------
    ValueError
        If an argument is negative.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, ICML 2015, theorems 7 and 9.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_mistake_bound
    >>> round(precision_mistake_bound(k=2, radius=1.0, norm=1 / 0.5))  # 4 * 2 * 1 / 0.25
    32
    """
    values = {"k": k, "radius": radius, "norm": norm, "surrogate_loss": surrogate_loss}
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"{name} must be a number >= 0, got {value!r}.")
    return float((norm * radius * np.sqrt(4.0 * k) + np.sqrt(surrogate_loss)) ** 2)
