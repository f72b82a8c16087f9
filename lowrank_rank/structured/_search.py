"""alpha="auto" of the structured hinges, in the unit of their costs."""

import numpy as np

from ..regression._search import search_in_folds

#: Divided by the objective at zero weights, which has the unit of the costs: costs times c ask for
#: weights times c, whose squares weigh c times as much. Where nothing is searched, what is tried.
ALPHA = 1e-2
ALPHAS = np.array([3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5])
_TIMES = 3.0  # as many rows as ridge needs, for the constant to be enough


def constant_alpha(problem, shortage=0.0):
    """The penalty where nothing is searched.

    `shortage` is how many times as many rows ridge would need for its constant, see `DistinctRows`.
    """
    return ALPHA * max(1.0, _TIMES * shortage) / _unit(problem)


def _unit(problem):
    value = problem.worst(np.zeros(problem.size)).value
    return float(f"{value:.6g}") or 1.0  # but for rounding, however the rows are ordered


def search_alpha(problem, held_out, shortage, *, fit, report):
    """`Search` of the penalty, as `search_in_folds`."""
    candidates, constant = ALPHAS / _unit(problem), constant_alpha(problem, shortage)
    return search_in_folds(problem, held_out, candidates, constant, fit=fit, report=report)
