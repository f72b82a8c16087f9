"""alpha="auto" of iterative fits: the penalty that is best on blocks that were held out.

From strong to weak, each fit going on from the one before. A block is a row, or a list of rows.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._penalties import MIN_LISTS, N_FOLDS, best_penalty, folds_of
from ._ridge import Search

_PATIENCE = 2  # penalties in a row that are worse end the search
_DIGITS = 12  # of means, which rounding and so the order of rows leaves alone
MAX_ROWS = 10_000  # by which the penalty is chosen, or 20 lists: more hardly change it


class HeldOutBlocks(NamedTuple):
    """How blocks are told apart, and judged where they are held out.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_blocks,)
        See `list_keys`.
    lengths : ndarray of int, shape (n_blocks,)
        Rows of the blocks.
    judge : callable
        ``judge(blocks, scores)``, a value for each block, greater is better, nan where undefined.
    max_rows : int
        Of the blocks that penalties are chosen by.
    """

    keys: np.ndarray
    lengths: np.ndarray
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray]
    max_rows: int = MAX_ROWS


def search_in_folds(problem, held_out, candidates, constant, *, fit, report):
    """The penalty nearest to the constant within a standard error of the best mean in folds.

    Folds come from keys, which tell what blocks hold, and equal blocks are one with their weights:
    neither their places nor how often they occur make a difference.

    Parameters
    ----------
    problem : object
        With ``weights``, ``take(blocks, weights)`` and ``scores(w)``.
    held_out : HeldOutBlocks
    candidates : ndarray of shape (n_alphas,)
        From strong to weak.
    constant : float
    fit : callable
        ``fit(problem, alpha, start)`` returns weights; `start` is those of the last alpha or None.
    report : callable
        ``report(alpha, score)``.

    Returns
    -------
    Search
    """
    blocks, weights, of_block = _sample(problem, held_out)
    folds = [
        (of_block != k, of_block == k)
        for k in range(N_FOLDS)
        if 0 < np.count_nonzero(of_block == k) < len(blocks)
    ]
    if len(blocks) < MIN_LISTS or not folds:
        return Search(constant)
    trains = [problem.take(blocks[out], weights[out] / weights[out].sum()) for out, _ in folds]
    tests = [problem.take(blocks[at]) for _, at in folds]
    fits, values, scores = [None] * len(folds), [], []
    for alpha in candidates:
        fits = [fit(train, alpha, w) for train, w in zip(trains, fits, strict=True)]
        found = np.full(len(blocks), np.nan)
        for (_, at), test, w in zip(folds, tests, fits, strict=True):
            found[at] = held_out.judge(blocks[at], test.scores(w))
        values.append(found)
        known = ~np.isnan(found)
        if not np.any(weights[known] > 0):
            return Search(constant)
        mean = float(np.average(found[known], weights=weights[known]))
        scores.append(float(f"{mean:.{_DIGITS}g}"))
        report(alpha, scores[-1])
        if max(scores[-_PATIENCE:]) < max(scores):
            break
    alphas, means = candidates[: len(scores)].copy(), np.array(scores)
    table = np.column_stack(values)[known]
    return Search(best_penalty(alphas, constant, table, weights[known], means), alphas, means)


def _sample(problem, held_out):
    """Blocks that differ, those of the least keys, up to a number of rows; weights and folds."""
    keys, first, which = np.unique(held_out.keys, return_index=True, return_inverse=True)
    weights = np.bincount(which.ravel(), weights=problem.weights)
    enough = np.cumsum(held_out.lengths[first]) > held_out.max_rows
    kept = np.flatnonzero(~enough | (np.arange(len(keys)) < MIN_LISTS))
    return first[kept], weights[kept], folds_of(keys[kept])
