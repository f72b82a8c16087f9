"""Expected loss of orders, and their regret against the Bayes order, by enumeration."""

from itertools import permutations
from typing import Any

import numpy as np

from .._arrays import ArrayLike
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss

_MAX_ITEMS = 8  # 8! orders


def all_ranks(n_items: int) -> np.ndarray:
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
    >>> from lowrank_rank.low_rank._risks import all_ranks
    >>> all_ranks(2).tolist()
    [[1, 2], [2, 1]]
    """
    if not 1 <= n_items <= _MAX_ITEMS:
        raise ValueError(
            f"Enumerating orders takes 1 to {_MAX_ITEMS} items (r! orders), got {n_items}."
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

    Examples
    --------
    >>> from lowrank_rank.calibration import conditional_regret
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> conditional_regret(PrecisionAtK(k=1), [[1, 0], [0, 1]], [[0.75, 0.25]], [[2, 1]])
    array([0.5])
    """
    loss, ranks = resolve_target_loss(loss), np.asarray(ranks)
    u = np.asarray(probabilities) @ loss.encode(support)
    best = (u @ loss.rank_features(all_ranks(ranks.shape[1])).T).min(axis=1)
    return np.einsum("nd,nd->n", u, loss.rank_features(ranks)) - best
