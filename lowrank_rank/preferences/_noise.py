"""The noise conditions under which a cheaper decoder, or a score, is calibrated."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..decoders._average_precision import symmetric_matrices
from ..decoders.feedback_arcs._graphs import (
    acyclic,
    acyclic_edges,
    check_preference_matrices,
    net_preferences,
    net_scores,
)
from ..target_losses import MeanAveragePrecision, PairwiseDisagreement
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_preferences import (
    CHECKS_OF_NOISE,
    CHECKS_OF_SCORES_OF_PREFERENCES,
)
from ..validation._kinds import arrive
from ..validation._labels import read_distributions
from ..validation._parameters import checked, number


class NoiseReport(NamedTuple):
    """Whether a cheaper decoder is exact; see `noise_report`.

    Attributes
    ----------
    in_p_f, in_p_dag : ndarray of bool, shape (n_lists,), or None
        Preferences: lists for which sorting the scores, or algorithm 1, is exact.
    deleted : ndarray of shape (n_lists,) or None
        Preferences: weight of the edges that algorithm 1 deletes, as a fraction of the
        list's total weight.
    enough : {"borda", "dag", "diagonal", "exact"}
        The cheapest decoder that is exact on all lists; "borda" stands for sorting the
        scores.
    in_p_reinforce : ndarray of bool, shape (n_lists,), or None
        Average precision: lists for which the diagonal decoder is exact.
    """

    in_p_f: np.ndarray | None
    in_p_dag: np.ndarray | None
    deleted: np.ndarray | None
    enough: str
    in_p_reinforce: np.ndarray | None = None

    def __str__(self) -> str:
        reason = {
            "borda": "Sorting net preferences is exact on every list.",
            "dag": "Algorithm 1 is exact on every list, sorting net preferences is "
            "not.",
            "diagonal": "Sorting the diagonal is exact on every list.",
            "exact": "Some graphs have cycles: algorithm 1 need not be exact there.",
        }
        if self.in_p_reinforce is not None:
            reason["exact"] = "Sorting the diagonal need not be exact on the others."
        means = {
            "sorting net preferences is exact (P_f)": self.in_p_f,
            "graph without a cycle (P_DAG)": self.in_p_dag,
            "weight that algorithm 1 deletes, mean": self.deleted,
            "sorting the diagonal is exact (P_reinforce)": self.in_p_reinforce,
        }
        fractions = {
            what: values for what, values in means.items() if values is not None
        }
        n_lists = len(next(iter(fractions.values())))
        lines = [f"{n_lists} lists"]
        for what, values in fractions.items():
            lines.append(f"{what:41}{np.mean(values):7.1%}")
        lines.append(f"decoder that is enough: {self.enough!r}. {reason[self.enough]}")
        return "\n".join(lines)


@checked(target_loss=["pd", "map"], tol=[number(0)])
def noise_report(
    u: ArrayLike,
    *,
    probabilities: ArrayLike | None = None,
    score_function: str | Callable[..., Any] = "dmj",
    scores: ArrayLike | None = None,
    target_loss: str = "pd",
    tol: float = 1e-12,
) -> NoiseReport:
    """Report the decoder that is enough for expected labels, or for predictions.

    For preferences u_ij ("pd"), an edge i -> j means ``u_ij > u_ji``:

    * P_DAG (theorem 7 of [1]_): the graph of the edges has no cycle. Algorithm 1 is
      calibrated.
    * P_f (theorem 6): an edge i -> j implies ``E f_i(Y) > E f_j(Y)``. Sorting the
      scores f is calibrated. P_f is contained in P_DAG.

    For "map", ``u = E alpha(Y)``:

    * P_reinforce (theorem 4): for all i, j, ``u_ii >= u_jj`` implies ``u_ii >= u_jj +
      sum_{g != i, j} (u_jg - u_ig)_+``, in both directions if they are equal. The
      diagonal decoder is calibrated.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r), list of arrays of shape (r, r), or labels
        Expected preferences, such as ``PairwiseDAGRanker.predict_preferences`` returns.
        For "map" lower triangles, (n_lists, r(r+1)/2), as `MeanAveragePrecision.encode`
        makes them. With `probabilities`, labels: preferences (n_labels, r, r), or
        grades (n_labels, r), which count by unit weights; for "map" relevance
        (n_labels, r).
    probabilities : array-like of shape (n_lists, n_labels) or None, default=None
        Distributions over the labels, one in each row.
    score_function : {"dmj"} or callable, default="dmj"
        The f of P_f: "dmj" is f_i(y) = sum_j (y_ij - y_ji) ([2]_), whose expectation
        follows from u; a callable takes preferences (n_labels, r, r), returns scores
        (n_labels, r), and needs `probabilities`.
    scores : array-like of shape (n_lists, r), list of arrays of shape (r,), or None, \
default=None
        E f(Y), if it is known or estimated separately, instead of `score_function`.
    target_loss : {"pd", "map"}, default="pd"
        The measure of the labels.
    tol : float, default=1e-12
        Differences up to it are rounding, not preferences.

    Returns
    -------
    NoiseReport
        See `NoiseReport`: prints as a short table.

    Raises
    ------
    ValueError
        If there is no list, a matrix is not square and finite, shapes do not fit, or a
        callable comes without `probabilities`.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013.
    .. [2] J. Duchi, L. Mackey, M. Jordan, "On the Consistency of Ranking Algorithms",
       ICML 2010.

    Examples
    --------
    >>> from lowrank_rank.calibration import noise_report
    >>> cycle = [[0, 2, 0], [0, 0, 2], [1, 0, 0]]
    >>> report = noise_report([cycle, [[0, 1, 1], [0, 0, 1], [0, 0, 0]]])
    >>> report.in_p_dag, report.deleted, report.enough
    (array([False,  True]), array([0.2, 0. ]), 'exact')

    Three orders in a cycle, and one of them more often than the others together:

    >>> grades = [[2, 1, 0], [0, 2, 1], [1, 0, 2]]
    >>> probabilities = [[1 / 3, 1 / 3, 1 / 3], [0.6, 0.2, 0.2]]
    >>> noise_report(grades, probabilities=probabilities).in_p_dag
    array([False,  True])

    The counter-example of average precision: items 1 and 2 are relevant with
    probability .65, and item 0 alone with .35.

    >>> labels = [[0, 1, 1], [1, 0, 0]]
    >>> report = noise_report(labels, probabilities=[[0.65, 0.35]], target_loss="map")
    >>> report.in_p_reinforce
    array([False])
    """
    arrive(u=u, probabilities=probabilities, scores=scores)
    refuse(
        CHECKS_OF_NOISE,
        u=u,
        probabilities=probabilities,
        score_function=score_function,
        scores=scores,
        target_loss=target_loss,
    )
    if target_loss == "map":
        expected = _expected(u, probabilities, MeanAveragePrecision().encode)
        in_p_reinforce = _in_p_reinforce(expected, tol)
        return NoiseReport(
            in_p_f=None,
            in_p_dag=None,
            deleted=None,
            enough="diagonal" if in_p_reinforce.all() else "exact",
            in_p_reinforce=in_p_reinforce,
        )
    preferences = PairwiseDisagreement().preferences
    if scores is None and callable(score_function):
        scores = _expected(u, probabilities, lambda u: score_function(preferences(u)))
    return _report_of_preferences(_expected(u, probabilities, preferences), scores, tol)


def _expected(u, probabilities, encode):
    """Return expectations of encoded labels; without a distribution they are u."""
    if probabilities is None:
        return u
    targets = np.asarray(encode(u))
    distributions = read_distributions(probabilities, len(targets))
    return np.tensordot(distributions, targets, axes=1)


def _report_of_preferences(u, scores, tol):
    """Report on expected preferences (r, r) of each list, and scores if given."""
    lengths = np.array([len(table) for table in u])
    refuse(CHECKS_OF_SCORES_OF_PREFERENCES, scores=scores, lengths=lengths)
    in_p_f = np.zeros(len(u), dtype=bool)
    in_p_dag = np.zeros(len(u), dtype=bool)
    deleted = np.zeros(len(u))
    for length in np.unique(lengths):  # lists of one length at a time
        members = np.flatnonzero(lengths == length)
        tables = check_preference_matrices(np.array([u[q] for q in members]))
        net = net_preferences(tables)
        edges = np.where(net > tol, net, 0.0)  # smaller differences are rounding
        f = net_scores(tables)
        if scores is not None:
            f = np.array([scores[q] for q in members], dtype=np.float64)
        # In P_f each edge i -> j has f_i > f_j.
        is_higher = f[:, :, np.newaxis] > f[:, np.newaxis, :] + tol
        in_p_f[members] = ~np.any((edges > 0) & ~is_higher, axis=(1, 2))
        in_p_dag[members] = acyclic(edges)
        weight = edges.sum(axis=(1, 2))
        deleted_weight = (edges * ~acyclic_edges(edges)).sum(axis=(1, 2))
        deleted[members] = np.divide(
            deleted_weight, weight, out=np.zeros(len(weight)), where=weight > 0
        )
    enough = "exact"
    if in_p_f.all():
        enough = "borda"
    elif in_p_dag.all():
        enough = "dag"
    return NoiseReport(in_p_f=in_p_f, in_p_dag=in_p_dag, deleted=deleted, enough=enough)


def _in_p_reinforce(u, tol):
    """Return whether lower triangles u = E alpha(Y) are in P_reinforce."""
    n_items = int(np.sqrt(2 * np.shape(u)[-1]))  # of r(r+1)/2 entries
    matrices = symmetric_matrices(u, n_items)
    diagonal = np.arange(n_items)
    # [n, i, j, g] is (u_jg - u_ig)_+, and 0 for g = i and g = j.
    excess = matrices[:, np.newaxis, :, :] - matrices[:, :, np.newaxis, :]
    excess = np.maximum(excess, 0.0)
    excess[:, diagonal, :, diagonal] = 0.0
    excess[:, :, diagonal, diagonal] = 0.0
    # u_ii - u_jj
    own = matrices[:, diagonal, diagonal]
    gap = own[:, :, np.newaxis] - own[:, np.newaxis, :]
    gap[np.abs(gap) <= tol] = 0.0
    holds = (gap < 0) | (gap >= excess.sum(axis=3) - tol)
    return np.all(holds, axis=(1, 2))
