"""Propensities of positions, estimated from the clicks of a log."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags
from scipy.sparse.csgraph import connected_components
from scipy.stats import t as student

from .._typing import Bunch
from ..validation._arrays import (
    ArrayLike,
    check_finite,
    check_same_index,
    check_same_shape,
    check_size,
    numbers,
)
from ..validation._check import refuse
from ..validation._checks_of_clicks import CHECKS_OF_CLICKS, CHECKS_OF_LOGS
from ..validation._ids import codes_of
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, checked
from ._clicks import check_positions

#: Fewest documents for errors that are clustered by them, as groups of `bradley_terry`.
LEAST_DOCUMENTS = 5


@checked(confidence_level=LEVEL)
def propensities_from_clicks(
    clicks: ArrayLike,
    position: ArrayLike,
    document: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Bunch:
    """Estimate how often readers examine each position from documents shown at several.

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
    Bunch
        ``propensity`` (n_positions,), entry p - 1 for position p, as
        `utilities_from_clicks` takes it: the largest is 1, and a position without rows
        is NaN. Also ``standard_error`` of log(propensity), clustered by document, and
        the ends ``low`` and ``high`` of Student's intervals. All are relative to the
        position with propensity 1, which has error 0. Errors and intervals that rest on
        fewer than five documents are NaN.

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
    Only clicks of documents that were shown at two or more positions count. With c
    clicks of each such document at position p, its interval has
    ``sum(c)**2 / sum(c**2) - 1`` degrees of freedom, or those of the position with
    propensity 1 if these are fewer. Variances of n documents have the factor
    n / (n - 1). If readers trust the first positions and click irrelevant documents
    there, the estimate contains this effect.

    References
    ----------
    .. [1] X. Wang, N. Golbandi, M. Bendersky, D. Metzler, M. Najork, "Position Bias
       Estimation for Unbiased Learning to Rank in Personal Search", WSDM 2018.
    .. [2] A. Agarwal, I. Zaitsev, X. Wang, C. Li, M. Najork, T. Joachims, "Estimating
       Position Bias without Intrusive Interventions", WSDM 2019.

    Examples
    --------
    Two of two readers clicked a document at position 1, and one of two at position 2:

    >>> from lowrank_rank.clicks import propensities_from_clicks
    >>> estimates = propensities_from_clicks([1, 1, 1, 0], [1, 1, 2, 2], ["a"] * 4)
    >>> estimates.propensity.round(6)
    array([1. , 0.5])
    """
    arrive(clicks=clicks, position=position, document=document)
    check_same_index(clicks=clicks, position=position, document=document)
    # Squares of larger numbers overflow.
    clicks = check_finite(numbers(clicks, "clicks"), "clicks", 1e150)
    position = check_positions(position)
    document, _ = codes_of(document, "document")
    check_same_shape(clicks=clicks, position=position, document=document)
    refuse(CHECKS_OF_CLICKS, clicks=clicks)
    # The columns of all matrices are the distinct positions.
    positions, column = np.unique(position, return_inverse=True)
    last = int(positions[-1])
    n_bytes = 8 * (4 * last + 4 * len(positions) ** 2)
    check_size(
        f"Propensities up to position {last}", n_bytes, "drop rows at late positions"
    )
    shape = (document.max() + 1, len(positions))
    n = csr_matrix((np.ones(len(clicks)), (document, column)), shape)  # n_dp
    c = csr_matrix((clicks, (document, column)), shape)  # c_dp
    refuse(
        CHECKS_OF_LOGS,
        positions=positions,
        n_clicks=np.ravel(c.sum(axis=0)),
        component=_components(n, c),
    )
    log_theta = _solve(n, c)
    best = int(np.argmax(log_theta))
    error, freedom = _standard_errors(n, c, log_theta, best)
    half_width = student.isf((1 - confidence_level) / 2, freedom) * error
    log_theta -= log_theta[best]
    return Bunch(
        propensity=_by_position(np.exp(log_theta), positions),
        standard_error=_by_position(error, positions),
        low=_by_position(np.exp(log_theta - half_width), positions),
        high=_by_position(np.exp(log_theta + half_width), positions),
    )


def _by_position(values, positions):
    """Put the value of position p into entry p - 1; other entries are NaN."""
    by_position = np.full(positions[-1], np.nan)
    by_position[positions - 1] = values
    return by_position


def _components(n, c):
    """Return the component of each position: one, if the likelihood has a maximum.

    As in the model of Bradley and Terry (Ford 1957), its maximum is finite if and only
    if the graph with an edge from p to q, wherever a document with a click at p was
    shown at q, is strongly connected.
    """
    edges = ((c > 0).astype(float).T @ (n > 0).astype(float)) > 0
    _, component = connected_components(edges, connection="strong")
    return component


def _solve(n, c):
    """Maximise the conditional likelihood; the first entry of log(theta) is 0."""
    document_clicks = np.ravel(c.sum(axis=1))
    position_clicks = np.ravel(c.sum(axis=0))
    n_clicks = position_clicks.sum()
    n_free = len(position_clicks) - 1
    if n_free == 0:
        return np.zeros(1)

    def loss_and_gradient(free):
        log_theta = np.append(0.0, free)
        shares, totals = _shares(n, log_theta)
        # - sum_dp c_dp log(pi_dp), up to a constant
        loss = document_clicks @ np.log(totals) - position_clicks @ log_theta
        # sum_d (c_d pi_dp - c_dp), c_d the clicks of document d
        gradient = document_clicks @ shares - position_clicks
        return loss / n_clicks, gradient[1:] / n_clicks

    def hessian(free):
        shares, _ = _shares(n, np.append(0.0, free))
        return _information(shares, document_clicks)[1:, 1:] / n_clicks

    solution = minimize(
        loss_and_gradient,
        np.zeros(n_free),
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    return np.append(0.0, solution.x)


def _shares(n, log_theta):
    """Compute pi_dp, and sum_q n_dq theta_q of each document."""
    weighted = n @ diags(np.exp(log_theta))
    totals = np.ravel(weighted.sum(axis=1))
    return diags(1 / totals) @ weighted, totals


def _information(shares, document_clicks):
    """Compute the negative Hessian of the likelihood in log(theta)."""
    # diag(sum_d c_d pi_d) - sum_d c_d pi_d pi_d'
    second_moments = (shares.T @ diags(document_clicks) @ shares).toarray()
    return np.diag(document_clicks @ shares) - second_moments


def _standard_errors(n, c, log_theta, best):
    """Compute sandwich errors of log(theta) relative to the best position.

    They are clustered by document, and NaN where fewer than five documents inform them.

    Returns
    -------
    error, degrees_of_freedom : ndarray of shape (n_positions,)
    """
    document_clicks = np.ravel(c.sum(axis=1))
    is_informative = (n.getnnz(axis=1) > 1) & (document_clicks > 0)
    n = n[is_informative]
    c = c[is_informative]
    document_clicks = document_clicks[is_informative]
    n_informative = len(document_clicks)
    others = np.arange(len(log_theta)) != best
    error = np.zeros(len(log_theta))
    if n_informative < LEAST_DOCUMENTS:
        error[others] = np.nan
        return error, np.ones(len(log_theta))

    # The effective number of documents at each position, (sum c_d)^2 / sum c_d^2.
    is_shown = (n > 0).astype(float).T
    n_documents = np.ravel(is_shown.sum(axis=1))
    total = is_shown @ document_clicks
    effective = total**2 / (is_shown @ document_clicks**2)
    freedom = np.minimum(effective, effective[best]) - 1.0

    # The gradient of the likelihood of each document, c_dp - c_d pi_dp.
    shares, _ = _shares(n, log_theta)
    scores = c - diags(document_clicks) @ shares
    information = _information(shares, document_clicks)[np.ix_(others, others)]
    bread = np.linalg.inv(information)
    meat = (scores.T @ scores).toarray()[np.ix_(others, others)]
    variance = np.diag(bread @ meat @ bread)

    error[others] = np.sqrt(variance * n_informative / (n_informative - 1))
    few = np.minimum(n_documents, n_documents[best]) < LEAST_DOCUMENTS
    error[others & few] = np.nan
    return error, freedom
