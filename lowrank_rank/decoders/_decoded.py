"""What a combinatorial decoder returns, and the check of what a custom one does."""

from typing import NamedTuple

import numpy as np

from .._arrays import LARGEST, check_finite, numbers


class Decoded(NamedTuple):
    """Orders with their values and, where known, bounds on the best possible values.

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
    def gaps(self) -> np.ndarray | None:
        """How far each value may be from the best one, >= 0; None without bounds."""
        return None if self.bounds is None else np.abs(self.values - self.bounds)

    @property
    def optimal(self) -> np.ndarray | None:
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


def checked_vectors(u, n_columns=None, of="", layout="", largest=LARGEST):
    """Surrogate vectors u as finite floats of shape (n_lists, n_columns).

    Parameters
    ----------
    u : array-like
    n_columns : int or None
        None is any number.
    of, layout : str
        What messages say of the items, and of the columns.
    largest : float
        Largest absolute value: that of which sums stay finite.

    Raises
    ------
    ValueError
        Naming what does not fit.
    """
    u = numbers(u, "u")
    if u.ndim != 2 or n_columns not in (None, u.shape[1]):
        columns = "r" if n_columns is None else n_columns
        raise ValueError(f"u has shape {u.shape}; {of}it must be (n_lists, {columns}){layout}.")
    return check_finite(u, "u", largest)


def compared_ranks(ranks, n_lists, n_items):
    """Ranks that a user gives to be valued, as finite floats >= 1 of shape (n_lists, n_items)."""
    ranks = numbers(ranks, "ranks")
    if ranks.shape != (n_lists, n_items):
        raise ValueError(
            f"ranks have shape {ranks.shape}; they must be {(n_lists, n_items)}, one for each item "
            "of each list of u."
        )
    if ranks.size and not check_finite(ranks, "ranks").min() >= 1:
        raise ValueError(f"ranks start at 1 = best, got {ranks.min():g}.")
    return ranks


def checked_ranks(decoded, shape):
    """Ranks that a custom decoder returned, alone or as `Decoded`.

    Parameters
    ----------
    decoded : Decoded or array-like
    shape : (int, int)
        Number of lists and of items.

    Returns
    -------
    ndarray of int

    Raises
    ------
    ValueError
        If they are not the ranks 1..r of each list.
    """
    returned = np.asarray(decoded.ranks if isinstance(decoded, Decoded) else decoded)
    ranks = numbers(returned, "What the decoder returned")
    if ranks.shape != shape:
        raise ValueError(
            f"The decoder returned an array of shape {ranks.shape} for {shape[0]} lists of "
            f"{shape[1]} items: it must return their ranks, of shape {shape}."
        )
    wrong = np.any(np.sort(ranks, axis=1) != np.arange(1, shape[1] + 1), axis=1)
    if wrong.any():
        q = int(np.argmax(wrong))
        raise ValueError(
            f"The decoder returned {returned[q].tolist()} for list {q}: it must return the rank of "
            f"each item, 1 to {shape[1]}, each once, 1 = best. An order, item indices best first, "
            "has the ranks np.argsort(order) + 1."
        )
    return ranks.astype(np.intp, copy=False)
