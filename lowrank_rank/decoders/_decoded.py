"""What a combinatorial decoder returns, and batches of lists that fit into memory."""

from typing import NamedTuple

import numpy as np


class Decoded(NamedTuple):
    """Orders with what they are worth and, where known, how much better any could be.

    Attributes
    ----------
    ranks : ndarray of int, shape (n_lists, r)
        1 = best.
    values : ndarray of shape (n_lists,)
        Value of each order in the decoder's objective.
    bounds : ndarray of shape (n_lists,) or None
        What no order can improve on: a lower bound of a cost, an upper bound of a value;
        None where the decoder was not asked for it. Where it is met within rounding it equals
        the value.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_pd_dag
    >>> decoded = decode_pd_dag([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]], bound=True)
    >>> decoded.ranks, decoded.values, decoded.optimal
    (array([[1, 2, 3]]), array([1.]), array([ True]))
    """

    ranks: np.ndarray
    values: np.ndarray
    bounds: np.ndarray | None = None

    @property
    def gaps(self):
        """How far each value may be from the best one, >= 0; None without bounds."""
        return None if self.bounds is None else np.abs(self.values - self.bounds)

    @property
    def optimal(self):
        """Which orders are certified as optimal; None without bounds."""
        return None if self.bounds is None else self.values == self.bounds


def snapped(bounds, values, scale):
    """Bounds that agree with the values but for rounding, as the values themselves."""
    return np.where(np.abs(bounds - values) <= 1e-9 * scale, values, bounds)


def joined(parts):
    """One `Decoded` of those of consecutive batches."""
    ranks, values, bounds = zip(*parts, strict=True)
    return Decoded(
        np.concatenate(ranks),
        np.concatenate(values),
        None if bounds[0] is None else np.concatenate(bounds),
    )


def batches(n_lists, entries, most=2**22):
    """Slices of lists with at most `most` entries together, at least one list each."""
    step = max(1, most // max(entries, 1))
    return [slice(first, first + step) for first in range(0, max(n_lists, 1), step)]
