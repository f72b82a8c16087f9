"""The noise conditions under which a cheaper decoder, or a score, is calibrated."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._arrays import ArrayLike
from ..decoders import net_preferences, net_scores
from ..decoders._average_precision import symmetric_matrices
from ..decoders.feedback_arcs._graphs import acyclic, acyclic_edges, check_preference_matrices
from ..target_losses import MeanAveragePrecision, PairwiseDisagreement


def in_p_reinforce(
    u: ArrayLike, n_items: int, *, probabilities: ArrayLike | None = None, tol: float = 1e-12
) -> np.ndarray:
    """Whether MAP's diagonal decoder is calibrated at u = E alpha(Y) (theorem 4).

    For all i, j, ``u_ii >= u_jj`` must imply ``u_ii >= u_jj + sum_{g != i, j} (u_jg - u_ig)_+``, in
    both directions if they are equal.

    Parameters
    ----------
    u : array-like of shape (n, r(r+1)/2) or, with `probabilities`, (n_labels, r)
        Lower triangles, as `MeanAveragePrecision.encode` makes them; or binary labels.
    n_items : int
    probabilities : array-like of shape (n, n_labels) or None, default=None
        Distributions over the labels, one in each row.
    tol : float, default=1e-12
        Differences up to it are rounding: such u_ii and u_jj are equal.

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
    >>> in_p_reinforce([[0, 1, 1], [1, 0, 0]], n_items=3, probabilities=[[0.65, 0.35]])
    array([False])
    """
    if probabilities is not None:
        u = np.asarray(probabilities) @ MeanAveragePrecision().encode(u)
    full = symmetric_matrices(u, n_items)
    diagonal = np.arange(n_items)
    own = full[:, diagonal, diagonal]
    # excess[n, i, j] = sum over g != i, j of (u_jg - u_ig)_+; entries g = i, j are masked.
    excess = np.maximum(full[:, np.newaxis, :, :] - full[:, :, np.newaxis, :], 0.0)
    excess[:, diagonal, :, diagonal] = 0.0
    excess[:, :, diagonal, diagonal] = 0.0
    gap = own[:, :, np.newaxis] - own[:, np.newaxis, :]
    gap[np.abs(gap) <= tol] = 0.0
    return np.all((gap < 0) | (gap >= excess.sum(axis=3) - tol), axis=(1, 2))


def in_p_dag(u: Any, *, probabilities: ArrayLike | None = None, tol: float = 1e-12) -> np.ndarray:
    """Whether algorithm 1 is calibrated for expected preferences: their graph has no cycle.

    P_DAG of theorem 7: the graph with the edge i -> j where ``u_ij > u_ji`` is acyclic.

    Parameters
    ----------
    u : array-like of shape (n, r, r), or labels with `probabilities`
        Expected (or estimated) preferences E Y_ij; or preferences (n_labels, r, r) or grades
        (n_labels, r), which count by unit weights.
    probabilities : array-like of shape (n, n_labels) or None, default=None
        Distributions over the labels, one in each row.
    tol : float, default=1e-12
        Differences up to it are rounding, not preferences.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        If u does not hold square matrices of finite numbers.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 7.

    Examples
    --------
    Three orders in a cycle, and one of them more often than the others together:

    >>> from lowrank_rank.calibration import in_p_dag
    >>> grades = [[2, 1, 0], [0, 2, 1], [1, 0, 2]]
    >>> in_p_dag(grades, probabilities=[[1 / 3, 1 / 3, 1 / 3], [0.6, 0.2, 0.2]])
    array([False,  True])
    """
    return acyclic(_clear(_expected(u, probabilities), tol))


def in_p_f(
    u: Any,
    score_function: str | Callable[..., Any] = "dmj",
    *,
    probabilities: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    tol: float = 1e-12,
) -> np.ndarray:
    """Whether a score-based surrogate is calibrated (theorem 6).

    P_f: ``u_ij > u_ji`` must imply ``E f_i(Y) > E f_j(Y)``. It is contained in P_DAG.

    Parameters
    ----------
    u : array-like of shape (n, r, r), or labels with `probabilities`
        As in `in_p_dag`.
    score_function : {"dmj"} or callable, default="dmj"
        "dmj" is f_i(y) = sum_j (y_ij - y_ji), whose expectation follows from u; a callable takes
        preferences (n_labels, r, r), returns scores (n_labels, r), and needs `probabilities`.
    probabilities : array-like of shape (n, n_labels) or None, default=None
        Distributions over the labels, one in each row.
    scores : array-like of shape (n, r) or None, default=None
        E f(Y), if it is known or estimated separately, instead of `score_function`.
    tol : float, default=1e-12
        Differences up to it are rounding, not preferences.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        If u does not hold square matrices, or a callable comes without `probabilities`.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 6.
    .. [2] J. Duchi, L. Mackey, M. Jordan, "On the Consistency of Ranking Algorithms", ICML 2010.

    Examples
    --------
    E Y_01 = .1, E Y_12 = 1: no cycle, but the net preferences are (.1, .9, -1).

    >>> from lowrank_rank.calibration import in_p_dag, in_p_f
    >>> u = [[[0, 0.1, 0], [0, 0, 1], [0, 0, 0]]]
    >>> in_p_f(u), in_p_dag(u)
    (array([False]), array([ True]))
    """
    expected = _expected(u, probabilities)
    if scores is None:
        if score_function == "dmj":
            scores = net_scores(expected)
        elif callable(score_function) and probabilities is not None:
            preferences = PairwiseDisagreement().preferences(u)
            scores = np.asarray(probabilities) @ np.asarray(score_function(preferences))
        else:
            raise ValueError(
                f"score_function={score_function!r}: use 'dmj', or a function of preferences "
                "together with probabilities over labels, or give its expectation as scores."
            )
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != expected.shape[:2]:
        raise ValueError(f"scores have shape {scores.shape}; it must be {expected.shape[:2]}.")
    higher = scores[:, :, np.newaxis] > scores[:, np.newaxis, :] + tol
    return ~np.any((_clear(expected, tol) > 0) & ~higher, axis=(1, 2))


class NoiseReport(NamedTuple):
    """How far preferences are from an order; see `noise_report`.

    Attributes
    ----------
    in_p_f, in_p_dag : ndarray of bool, shape (n_lists,)
        Lists for which sorting the net preferences, algorithm 1, is exact.
    deleted : ndarray of shape (n_lists,)
        Weight of the edges that algorithm 1 deletes, as a fraction of the list's total weight.
    enough : {"borda", "dag", "exact"}
        The cheapest decoder that is exact on all lists.
    """

    in_p_f: np.ndarray
    in_p_dag: np.ndarray
    deleted: np.ndarray
    enough: str

    def __str__(self):
        reason = {
            "borda": "Sorting net preferences is exact on every list.",
            "dag": "Algorithm 1 is exact on every list, sorting net preferences is not.",
            "exact": "Some graphs have cycles: algorithm 1 need not be exact there.",
        }
        return (
            f"{len(self.deleted)} lists\n"
            f"sorting net preferences is exact (P_f)   {np.mean(self.in_p_f):7.1%}\n"
            f"graph without a cycle (P_DAG)            {np.mean(self.in_p_dag):7.1%}\n"
            f"weight that algorithm 1 deletes, mean    {np.mean(self.deleted):7.1%}\n"
            f"decoder that is enough: {self.enough!r}. {reason[self.enough]}"
        )


def noise_report(u: ArrayLike | list, *, tol: float = 1e-12) -> NoiseReport:
    """Report the decoder that is enough for expected preferences, or for predictions of a model.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r), or list of arrays of shape (r, r)
        Preferences, such as ``PairwiseDAGRanker.predict_preferences`` returns.
    tol : float, default=1e-12
        Differences up to it are rounding, not preferences.

    Returns
    -------
    NoiseReport
        Prints as a short table.

    Raises
    ------
    ValueError
        If there is no list, or a matrix is not square and finite.

    Examples
    --------
    >>> from lowrank_rank.calibration import noise_report
    >>> cycle = [[0, 2, 0], [0, 0, 2], [1, 0, 0]]
    >>> report = noise_report([cycle, [[0, 1, 1], [0, 0, 1], [0, 0, 0]]])
    >>> report.in_p_dag, report.deleted, report.enough
    (array([False,  True]), array([0.2, 0. ]), 'exact')
    """
    if len(u) == 0:
        raise ValueError("noise_report needs the preferences of at least one list.")
    sizes = np.array([len(table) for table in u])
    arrays = np.zeros(len(u), dtype=bool), np.zeros(len(u), dtype=bool), np.zeros(len(u))
    for size in np.unique(sizes):  # lists of one length at a time
        members = np.flatnonzero(sizes == size)
        tables = check_preference_matrices(np.array([u[q] for q in members]))
        net = np.maximum(_clear(tables, tol), 0.0)
        total, lost = net.sum(axis=(1, 2)), (net * ~acyclic_edges(net)).sum(axis=(1, 2))
        fraction = np.divide(lost, total, out=np.zeros(len(total)), where=total > 0)
        parts = in_p_f(tables, tol=tol), acyclic(net), fraction
        for array, part in zip(arrays, parts, strict=True):
            array[members] = part
    sort_is, dag_is, deleted = arrays
    return NoiseReport(
        sort_is, dag_is, deleted, "borda" if sort_is.all() else "dag" if dag_is.all() else "exact"
    )


def _expected(u, probabilities):
    """E Y_ij, (n, r, r), from preferences or from a distribution over labels."""
    if probabilities is None:
        return check_preference_matrices(u)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    labels = PairwiseDisagreement().preferences(u)
    if probabilities.ndim != 2 or probabilities.shape[1] != len(labels):
        raise ValueError(
            f"probabilities must have the shape (n, {len(labels)}), one distribution over the "
            f"labels in each row, got {probabilities.shape}."
        )
    return np.einsum("nl,lij->nij", probabilities, labels)


def _clear(u, tol):
    """Net preferences, those within rounding as 0."""
    net = net_preferences(u)
    return np.where(np.abs(net) > tol, net, 0.0)
