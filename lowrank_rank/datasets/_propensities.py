"""Propensities of positions, estimated from the clicks of a log."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm

from .._arrays import (
    ArrayLike,
    check_finite,
    check_same_index,
    check_same_shape,
    check_size,
    numbers,
)
from .._lists import codes_of
from .._parameters import LEVEL, checked
from .._typing import Bunch
from ._clicks import check_positions


@checked(confidence_level=LEVEL)
def propensities_from_clicks(
    clicks: ArrayLike,
    position: ArrayLike,
    document: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Bunch:
    """Estimate how often readers examine each position, from documents shown at several.

    A document with relevance r_d is clicked at position p with probability theta_p r_d.
    Given the number of its clicks, their positions do not depend on r_d. The expected
    share of position p is

        pi_dp = n_dp theta_p / sum_q n_dq theta_q,

    where n_dp is the number of times that the document was shown at p. The estimate
    maximises the conditional likelihood ``sum_dp c_dp log(pi_dp)``, concave in
    log(theta); c_dp are clicks. No experiment is needed if the order of the documents
    changes from session to session.

    Parameters
    ----------
    clicks : array-like of shape (n_rows,)
        0 or 1 for each document of each session, or a number of clicks >= 0.
    position : array-like of int, shape (n_rows,)
        Position of the document on the page, 1 = first.
    document : array-like of shape (n_rows,)
        Id of the query and the document together, because relevance depends on the
        query.
    confidence_level : float, default=0.95
        Coverage of the intervals.

    Returns
    -------
    found : Bunch
        ``propensity`` (n_positions,), entry p - 1 for position p, as
        `utilities_from_clicks` takes it: the largest is 1, and a position without rows
        is NaN. Also ``standard_error`` of log(propensity), clustered by document, and
        the ends ``low`` and ``high`` of intervals. All are relative to the position
        with propensity 1, which has error 0.

    Raises
    ------
    ValueError
        If shapes differ, a value is out of range, or some positions cannot be compared
        with the others: the message names them.

    See Also
    --------
    utilities_from_clicks : Relevance from clicks and propensities.

    Notes
    -----
    Only clicks of documents that were shown at two or more positions count. The
    intervals need some tens of documents; with one document they are NaN. If readers
    trust the first positions and click irrelevant documents there, the estimate
    contains this effect.

    References
    ----------
    .. [1] X. Wang, N. Golbandi, M. Bendersky, D. Metzler, M. Najork, "Position Bias Estimation for
       Unbiased Learning to Rank in Personal Search", WSDM 2018.
    .. [2] A. Agarwal, I. Zaitsev, X. Wang, C. Li, M. Najork, T. Joachims, "Estimating Position Bias
       without Intrusive Interventions", WSDM 2019.

    Examples
    --------
    Two of two readers clicked a document at position 1, and one of two at position 2:

    >>> from lowrank_rank.datasets import propensities_from_clicks
    >>> found = propensities_from_clicks([1, 1, 1, 0], [1, 1, 2, 2], ["a"] * 4)
    >>> found.propensity.round(6)
    array([1. , 0.5])
    """
    check_same_index(clicks=clicks, position=position, document=document)
    # Squares of larger numbers overflow.
    clicks = check_finite(numbers(clicks, "clicks"), "clicks", 1e150)
    position = check_positions(position)
    document = codes_of(document, "document")[0]
    check_same_shape(clicks=clicks, position=position, document=document)
    if np.any(clicks < 0):
        raise ValueError(f"clicks must be >= 0, got {clicks.min():g}.")
    places, place = np.unique(position, return_inverse=True)
    last = int(places[-1])
    n_bytes = 8 * (4 * last + 4 * len(places) ** 2)
    check_size(
        f"Propensities up to position {last}", n_bytes, "drop rows at late positions"
    )
    shape = (document.max() + 1, len(places))
    shows = csr_matrix((np.ones(len(clicks)), (document, place)), shape)
    clicked = csr_matrix((clicks, (document, place)), shape)
    _refuse_unconnected(shows, clicked, places)
    log_theta = _solve(shows, clicked)
    best = int(np.argmax(log_theta))
    error = _standard_errors(shows, clicked, log_theta, best)
    of_place = norm.isf((1 - confidence_level) / 2) * error
    log_theta -= log_theta[best]
    columns = {
        "propensity": np.exp(log_theta),
        "standard_error": error,
        "low": np.exp(log_theta - of_place),
        "high": np.exp(log_theta + of_place),
    }
    estimates = {name: np.full(last, np.nan) for name in columns}
    for name, values in columns.items():
        estimates[name][places - 1] = values
    return Bunch(**estimates)


def _refuse_unconnected(shows, clicked, places):
    """Refuse positions whose propensity has no finite maximum of the likelihood.

    As in the model of Bradley and Terry (Ford 1957), it is finite if and only if the
    graph with an edge from p to q, wherever a document with a click at p was shown at
    q, is strongly connected.
    """
    without = np.ravel(clicked.sum(axis=0)) == 0
    if without.all():
        raise ValueError("clicks are all 0: nothing can be estimated.")
    if without.any():
        raise ValueError(
            f"Positions {places[without].tolist()} have no click: drop their rows."
        )
    edges = ((clicked > 0).astype(float).T @ (shows > 0).astype(float)) > 0
    n_parts, part = connected_components(edges, connection="strong")
    if n_parts > 1:
        apart = places[part != np.bincount(part).argmax()].tolist()
        raise ValueError(
            f"Positions {apart} cannot be compared with the others: no documents with clicks were "
            "shown both there and elsewhere. Drop their rows, or use a longer log."
        )


def _shares(shows, log_theta):
    """pi_dp, and sum_q n_dq theta_q of each document."""
    weighted = shows @ diags(np.exp(log_theta))
    totals = np.ravel(weighted.sum(axis=1))
    return diags(1 / totals) @ weighted, totals


def _solve(shows, clicked):
    """Maximise the conditional likelihood; the first entry of log(theta) is 0."""
    of_document = np.ravel(clicked.sum(axis=1))
    of_place = np.ravel(clicked.sum(axis=0))
    n_clicks = of_place.sum()

    def value_and_gradient(beta):
        beta = np.append(0.0, beta)
        shares, totals = _shares(shows, beta)
        value = of_document @ np.log(totals) - of_place @ beta
        return value / n_clicks, (of_document @ shares - of_place)[1:] / n_clicks

    def hessian(beta):
        shares, _ = _shares(shows, np.append(0.0, beta))
        return _information(shares, of_document)[1:, 1:] / n_clicks

    start = np.zeros(len(of_place) - 1)
    if len(start) == 0:
        return np.zeros(1)
    settings = {"method": "trust-exact", "options": {"gtol": 1e-9}}
    solution = minimize(value_and_gradient, start, jac=True, hess=hessian, **settings)
    return np.append(0.0, solution.x)


def _information(shares, of_document):
    """Negative Hessian of the likelihood in log(theta)."""
    return (
        np.diag(of_document @ shares)
        - (shares.T @ diags(of_document) @ shares).toarray()
    )


def _standard_errors(shows, clicked, log_theta, best):
    """Sandwich errors of log(theta), relative to the best position, clustered by document."""
    shares, _ = _shares(shows, log_theta)
    of_document = np.ravel(clicked.sum(axis=1))
    scores = clicked - diags(of_document) @ shares
    others = np.arange(len(log_theta)) != best
    bread = np.linalg.inv(_information(shares, of_document)[np.ix_(others, others)])
    meat = (scores.T @ scores).toarray()[np.ix_(others, others)]
    error = np.zeros(len(log_theta))
    if np.count_nonzero((shows.getnnz(axis=1) > 1) & (of_document > 0)) == 1:
        error[others] = np.nan  # scores of a single document are all 0
        return error
    error[others] = np.sqrt(np.diag(bread @ meat @ bread))
    return error
