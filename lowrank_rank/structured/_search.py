"""alpha="auto": the penalty that is best on rows or lists that were held out.

From strong to weak, each fit going on from the one before.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..regression._penalties import MIN_LISTS, N_FOLDS, best_penalty, folds_of
from ..regression._ridge import Search
from ._problem import as_whole

ALPHA = 1e-2  # where nothing is searched
ALPHAS = np.array([0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5])
_PATIENCE = 2  # penalties in a row that are worse end the search
MAX_ROWS = 10_000  # by which the penalty is chosen: more hardly change it


class HeldOut(NamedTuple):
    """How blocks are told apart, and judged where they are held out.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_blocks,)
        See `list_keys`.
    lengths : ndarray of int, shape (n_blocks,)
        Rows of the blocks.
    judge : callable
        ``judge(blocks, scores)``, a value for each block, greater is better, nan where undefined.
    """

    keys: np.ndarray
    lengths: np.ndarray
    judge: Callable[[np.ndarray, np.ndarray], np.ndarray]


def search_alpha(problem, held_out, *, fit, report):
    """The penalty nearest to `ALPHA` within a standard error of the best mean in folds.

    Folds come from keys, which tell what blocks hold: neither their places nor how often they
    occur make a difference.

    Parameters
    ----------
    problem : LinearProblem
    held_out : HeldOut
    fit : callable
        ``fit(problem, alpha, start)`` returns weights; `start` is those of the last alpha or None.
    report : callable
        ``report(alpha, score)``.

    Returns
    -------
    Search
    """
    keys, lengths, judge = held_out
    order = np.argsort(keys, kind="stable")
    kept = order[np.cumsum(lengths[order]) <= MAX_ROWS]
    of_block = folds_of(keys[kept])
    folds = [
        (as_whole(problem.take(kept[of_block != k])), kept[of_block == k])
        for k in range(N_FOLDS)
        if 0 < np.count_nonzero(of_block == k) < len(kept)
    ]
    if len(kept) < MIN_LISTS or not folds:
        return Search(ALPHA)
    tests = [problem.take(blocks) for _, blocks in folds]
    weights = np.concatenate([test.weights for test in tests])
    fits, values, scores = [None] * len(folds), [], []
    for alpha in ALPHAS:
        fits = [fit(train, alpha, w) for (train, _), w in zip(folds, fits, strict=True)]
        found = [judge(folds[k][1], test.scores(fits[k])) for k, test in enumerate(tests)]
        values.append(np.concatenate(found))
        known = ~np.isnan(values[-1])
        if not np.any(weights[known] > 0):
            return Search(ALPHA)
        scores.append(float(np.average(values[-1][known], weights=weights[known])))
        report(alpha, scores[-1])
        if max(scores[-_PATIENCE:]) < max(scores):
            break
    alphas, means = ALPHAS[: len(scores)].copy(), np.array(scores)
    table = np.column_stack(values)[known]
    return Search(best_penalty(alphas, ALPHA, table, weights[known], means), alphas, means)
