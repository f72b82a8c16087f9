"""Clicks: estimates of relevance from clicks at known positions, and a simulator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Bunch
from ..lists._lists import RankingLists
from ..validation._arrays import (
    ArrayLike,
    by_label,
    check_finite,
    check_same_index,
    check_same_shape,
    numbers,
)
from ..validation._check import refuse
from ..validation._checks_of_clicks import (
    CHECKS_OF_CLICKS,
    CHECKS_OF_EXAMINATION,
    CHECKS_OF_GRADES_TO_CLICK,
    CHECKS_OF_PROBABILITIES,
)
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import read_labels
from ..validation._parameters import Rule, check_parameter, checked, count, number

_pair = Rule(
    lambda value: isinstance(value, tuple | list) and len(value) == 2,
    "a pair (eps_plus, eps_minus)",
)


@checked(min_propensity=[number(0, 1)], non_negative=[bool])
def utilities_from_clicks(
    clicks: ArrayLike,
    position: ArrayLike,
    *,
    propensity: float | ArrayLike | Callable[..., Any],
    trust: tuple[Any, Any] | None = None,
    min_propensity: float = 0.0,
    non_negative: bool = False,
) -> np.ndarray:
    """Estimate relevance from clicks at known positions, without bias.

    A document at position p is examined with probability theta_p; examined, it is
    clicked with probability eps_plus_p if it is relevant and eps_minus_p if it is not.
    Then

        v = (click - theta_p eps_minus_p) / (theta_p (eps_plus_p - eps_minus_p))

    has the expectation P(relevant) for every order of the documents [2]_. Without
    `trust`, readers click every examined relevant document and no other. Then v is
    click / theta_p, inverse propensity scoring [1]_.

    Parameters
    ----------
    clicks : array-like of shape (n_rows,)
        0 or 1 for each document of each session, or mean clicks at a position, >= 0.
    position : array-like of int, shape (n_rows,)
        Position of the document on the page, 1 = first.
    propensity : float, array-like of shape (n_positions,) or callable
        theta_p: entry p - 1 of an array, the entry with the label p of a Series,
        ``propensity(positions)`` of a callable, or ``(1 / p)**eta`` for a number eta >=
        0. It has no default, because wrong propensities reverse comparisons:
        `propensities_from_clicks` estimates them from a log.
    trust : (eps_plus, eps_minus) or None, default=None
        Each is a number, an array of shape (n_positions,) or a Series by position, with
        eps_plus > eps_minus. Readers who trust the first positions click irrelevant
        documents there. None is (1, 0).
    min_propensity : float, default=0.0
        Lower bound of the propensities: less variance, but a bias.
    non_negative : bool, default=False
        Whether to add ``max_p eps_minus_p / (eps_plus_p - eps_minus_p)`` over the
        positions of the data to all rows, so that no v is below 0. This changes no
        expected order.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        v. Clicks at rarely examined positions have v > 1; likely clicks that did not
        happen have v < 0.

    Raises
    ------
    ValueError
        If shapes differ, a position has no propensity, or probabilities are not in [0,
        1].

    See Also
    --------
    make_clicks : Clicks with a known truth.

    Notes
    -----
    Documents that are never shown have no estimate. The estimates are unbiased for
    losses that are linear in the utilities, such as "dcg" under every order-preserving
    surrogate. They are biased for NDCG, which divides by a function of the label, and
    for precision, which thresholds labels.

    References
    ----------
    .. [1] T. Joachims, A. Swaminathan, T. Schnabel, "Unbiased Learning-to-Rank with
       Biased Feedback", WSDM 2017.
    .. [2] A. Vardasbi, H. Oosterhuis, M. de Rijke, "When Inverse Propensity Scoring
       does not Work: Affine Corrections for Unbiased Learning to Rank", CIKM 2020.

    Examples
    --------
    Half of the readers examine position 2, so a click there counts twice:

    >>> from lowrank_rank.clicks import utilities_from_clicks
    >>> utilities_from_clicks([1, 1, 0], [1, 2, 3], propensity=1.0)
    array([1., 2., 0.])

    Readers click 80 % of the examined relevant documents and 30 % of the others. A
    document without a click is then below 0:

    >>> model = {"propensity": 1.0, "trust": (0.8, 0.3)}
    >>> utilities_from_clicks([1, 1, 0], [1, 2, 3], **model).round(6)
    array([ 1.4,  3.4, -0.6])
    >>> v = utilities_from_clicks([1, 1, 0], [1, 2, 3], **model, non_negative=True)
    >>> v.round(6)
    array([2., 4., 0.])
    """
    arrive(clicks=clicks, position=position, propensity=propensity)
    check_same_index(clicks=clicks, position=position)
    clicks = check_finite(numbers(clicks, "clicks"), "clicks")
    position = check_positions(position)
    check_same_shape(clicks=clicks, position=position)
    refuse(CHECKS_OF_CLICKS, clicks=clicks)
    theta = np.maximum(
        _probabilities_at("propensity", propensity, position), min_propensity
    )
    eps_plus, eps_minus = _trust_at(trust, position)
    refuse(
        CHECKS_OF_EXAMINATION,
        position=position,
        theta=theta,
        eps_plus=eps_plus,
        eps_minus=eps_minus,
    )
    # v = click / (theta (eps_plus - eps_minus)) - eps_minus / (eps_plus - eps_minus)
    offset = eps_minus / (eps_plus - eps_minus)
    v = clicks / (theta * (eps_plus - eps_minus)) - offset
    if non_negative:
        v = v + offset.max(initial=0.0)
    return v


def check_positions(position):
    """Return positions as integers, all >= 1."""
    position = check_finite(numbers(position, "position"), "position")
    refuse(CHECKS_OF_CLICKS, position=position)
    return position.astype(np.intp)


def _probabilities_at(name, value, position):
    """Return probabilities at 1-based positions.

    Parameters
    ----------
    name : {"propensity", "trust"}
        A number is the exponent eta of a propensity, or itself a probability of trust.
    value : float, array-like, Series by position or callable
    position : ndarray of int, shape (n_rows,)

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    table = None
    if callable(value):
        probabilities = numbers(value(position), name)
    elif np.ndim(value) == 0 and name == "propensity":
        check_parameter(f"{name} (as eta)", value, [number(0)])
        probabilities = (1.0 / position) ** float(value)
    elif np.ndim(value) == 0:
        probabilities = np.full(position.shape, numbers(value, name))
    elif hasattr(value, "index") and not isinstance(value, list | tuple):
        labels, index = np.unique(position, return_inverse=True)
        probabilities = numbers(by_label(value, labels, name), name)[index]
    else:
        table = numbers(value, name)
        probabilities = table
        if table.ndim == 1 and position.max(initial=1) <= len(table):
            probabilities = table[position - 1]
    refuse(
        CHECKS_OF_PROBABILITIES,
        name=name,
        position=position,
        values=probabilities,
        table=table,
        is_answer=callable(value),
    )
    return probabilities


def _trust_at(trust, position):
    """Return eps_plus and eps_minus at the positions."""
    if trust is None:
        return np.ones(position.shape), np.zeros(position.shape)
    check_parameter("trust", trust, [_pair, None])
    eps_plus = _probabilities_at("trust", trust[0], position)
    eps_minus = _probabilities_at("trust", trust[1], position)
    return eps_plus, eps_minus


@checked(
    n_sessions=[count()],
    max_grade=[number(above=0), None],
    temperature=[number(0)],
    cutoff=[count(), None],
)
def make_clicks(
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    scores: ArrayLike | None = None,
    n_sessions: int = 1000,
    max_grade: float | None = None,
    propensity: float | ArrayLike | Callable[..., Any] = 1.0,
    trust: tuple[Any, Any] | None = None,
    temperature: float = 0.0,
    cutoff: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate clicks of readers on lists of documents with known grades.

    Each session draws a query at random and shows its documents in the order of
    `scores`. A document is relevant to the reader with probability grade / max_grade.
    The reader examines position p with probability theta_p, and clicks an examined
    document with probability eps_plus_p if it is relevant, else eps_minus_p.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Grades >= 0.
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of the rows; None is one list.
    scores : array-like of shape (n_rows,) or None, default=None
        Scores of the ranker that orders the lists, ties in random order; None is random
        orders.
    n_sessions : int, default=1000
        Number of result pages shown.
    max_grade : float or None, default=None
        Grade that is relevant to every reader; None is the largest grade.
    propensity, trust
        As in `utilities_from_clicks`.
    temperature : float, default=0.0
        Scale of Gumbel noise added to the scores in each session, to explore other
        orders.
    cutoff : int or None, default=None
        Number of positions; documents below have no rows.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        One entry for each document of each session: ``clicks`` 0 or 1, ``position``,
        ``session`` and ``row``, the row of y. Also the truth: ``relevance`` (n_rows,),
        the probability that a row is relevant, and ``click_probability`` of each entry.

    Raises
    ------
    ValueError
        If a parameter is out of range or shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.clicks import make_clicks, utilities_from_clicks
    >>> grades = [2, 0, 1]
    >>> log = make_clicks(grades, scores=[1, 3, 2], n_sessions=20_000, random_state=0)
    >>> log.position[:3].tolist(), log.row[:3].tolist()
    ([1, 2, 3], [1, 2, 0])
    >>> shown = np.bincount(log.row)
    >>> (np.bincount(log.row, log.clicks) / shown).round(2)  # the best is shown last
    array([0.33, 0.  , 0.25])
    >>> v = utilities_from_clicks(log.clicks, log.position, propensity=1.0)
    >>> (np.bincount(log.row, v) / shown).round(1), log.relevance
    (array([1. , 0. , 0.5]), array([1. , 0. , 0.5]))
    """
    arrive(y=y, qid=qid, scores=scores, propensity=propensity)
    check_same_index(y=y, qid=qid, scores=scores)
    y = read_labels(y)
    refuse(CHECKS_OF_GRADES_TO_CLICK, y=y, max_grade=max_grade)
    if scores is None:
        scores = np.zeros(len(y))
    scores = check_finite(numbers(scores, "scores"), "scores")
    check_same_shape(scores=scores, y=y)
    if max_grade is None:
        max_grade = y.max()
    rng = check_random_state(random_state)
    # No document is relevant if all grades are 0.
    relevance = y / (float(max_grade) or 1.0)
    lists = read_lists(qid, len(y))
    session, row, position = _draw_sessions(lists, scores, n_sessions, temperature, rng)
    if cutoff is not None:
        is_shown = position <= cutoff
        session = session[is_shown]
        row = row[is_shown]
        position = position[is_shown]
    theta = _probabilities_at("propensity", propensity, position)
    eps_plus, eps_minus = _trust_at(trust, position)
    refuse(
        CHECKS_OF_EXAMINATION,
        position=position,
        theta=np.ones(1),  # a propensity of 0 gives no clicks
        eps_plus=eps_plus,
        eps_minus=eps_minus,
    )
    is_relevant = rng.uniform(size=len(row)) < relevance[row]
    # P(click | relevant or not)
    probability = theta * np.where(is_relevant, eps_plus, eps_minus)
    clicks = (rng.uniform(size=len(row)) < probability).astype(float)
    # P(click) = theta (eps_minus + (eps_plus - eps_minus) P(relevant))
    click_probability = theta * (eps_minus + (eps_plus - eps_minus) * relevance[row])
    return Bunch(
        clicks=clicks,
        position=position,
        session=session,
        row=row,
        relevance=relevance,
        click_probability=click_probability,
    )


def _draw_sessions(lists, scores, n_sessions, temperature, rng):
    """Draw the query of each session, and order its documents by noisy scores.

    Returns
    -------
    session, row, position : ndarray of shape (n_shown,)
        Number of the session, row of y and position of each document that is shown,
        best first.
    """
    drawn = rng.randint(lists.n_lists, size=n_sessions)
    sessions = RankingLists(lists.lengths[drawn])
    # `row` numbers the rows sorted by list, then the rows as they are given.
    row = lists.starts[drawn][sessions.index] + sessions.positions - 1
    if lists.order is not None:
        row = lists.order[row]
    noise = temperature * rng.gumbel(size=len(row))
    tie_breaks = rng.uniform(size=len(row))
    order = np.lexsort((tie_breaks, -(scores[row] + noise), sessions.index))
    return sessions.index, row[order], sessions.positions
