"""Query ids from the sizes of groups, as boosters write them."""

import numpy as np

from .._arrays import ArrayLike, numbers


def qid_from_group(sizes: ArrayLike) -> np.ndarray:
    """Query ids 0, 1, ... of rows whose lists stand one after the other.

    The inverse of ``group=`` in LightGBM and XGBoost.

    Parameters
    ----------
    sizes : array-like of shape (n_lists,)
        Number of rows of each list; a list of size 0 has an id that no row bears.

    Returns
    -------
    ndarray of int, shape (sum of sizes,)

    Raises
    ------
    ValueError
        If the sizes are no whole numbers >= 0.

    Examples
    --------
    >>> from lowrank_rank.datasets import qid_from_group
    >>> qid_from_group([2, 3])
    array([0, 0, 1, 1, 1])
    """
    counts = numbers(sizes, "sizes")
    wrong = np.zeros(0, dtype=bool) if counts.ndim != 1 else ~((counts >= 0) & (counts % 1 == 0))
    if counts.ndim != 1 or wrong.any() or not np.isfinite(counts).all():
        what = f"shape {counts.shape}" if counts.ndim != 1 else f"{counts[wrong][:1]}"
        raise ValueError(f"sizes must be one whole number >= 0 for each list, got {what}.")
    return np.repeat(np.arange(len(counts)), counts.astype(np.intp))
