"""Simulated annealing over insertions, for lists that are too long for many restarts."""

from time import monotonic

import numpy as np

_HOT, _COLD = 3.0, 0.3  # temperatures, in mean absolute net preferences
_NOISE = 2**16  # random numbers from which every move takes a window


def annealed_order(net, order, n_sweeps, rng, time_limit=None):
    """Order of one list, found by moving one item after another to a random position.

    An item goes to position t with a probability proportional to exp(-cost(t) / temperature), by
    Gumbel noise: the costs of all its positions are cumulative sums of its net preferences.
    The temperature falls geometrically, from 3 to .3 mean absolute net preferences.

    Parameters
    ----------
    net : ndarray of shape (r, r)
        Antisymmetric.
    order : ndarray of int, shape (r,)
        Item indices, best first.
    n_sweeps : int
        Moves for each item, in the mean.
    rng : RandomState
    time_limit : float or None
        Seconds after which it has cooled down at the latest.

    Returns
    -------
    ndarray of int, shape (r,)

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.decoders.feedback_arcs._annealing import annealed_order
    >>> net = np.sign(np.arange(6) - np.arange(6)[:, np.newaxis]) * 9.0  # 0 before 1 before ...
    >>> annealed_order(net, np.arange(6)[::-1], 50, np.random.RandomState(0)).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    r, order, start = len(order), order.copy(), monotonic()
    scale = np.abs(net).sum() / max(r * (r - 1), 1)
    if scale == 0:
        return order
    noise, rows = rng.gumbel(size=_NOISE + r + 1), list(net)
    sums, costs = np.zeros(r + 1), np.empty(r + 1)  # before each position, and at the end
    for sweep in range(n_sweeps):
        progress = sweep / n_sweeps
        if time_limit is not None:
            progress = max(progress, (monotonic() - start) / time_limit)
        if progress >= 1:
            break
        scaled = noise * (scale * _HOT * (_COLD / _HOT) ** progress)
        windows = rng.randint(_NOISE, size=r).tolist()
        for source, window in zip(rng.randint(r, size=r).tolist(), windows, strict=True):
            item = order[source]
            rows[item].take(order).cumsum(out=sums[1:])
            target = np.subtract(sums, scaled[window : window + r + 1], out=costs).argmin()
            if target < source:
                order[target + 1 : source + 1] = order[target:source]
                order[target] = item
            elif target > source + 1:  # it leaves a gap above
                order[source : target - 1] = order[source + 1 : target]
                order[target - 1] = item
    return order
