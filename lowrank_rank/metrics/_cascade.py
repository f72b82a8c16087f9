"""Average precision, reciprocal rank and expected reciprocal rank.

They look at the items above an item, so they are not positional; ties have closed forms
all the same.
"""

from numbers import Real

import numpy as np
from scipy.special import gammaln

from .._ranks import block_lengths, sort_lists, tie_blocks
from ._evaluate import check_grades, evaluate, relevant
from ._positional import check_k

# Kernels ----------------------------------------------------------------------------


def _sorted_blocks(values, scores, lists):
    """Values in sorted order, the blocks of ties (singletons too) and their lengths."""
    order = sort_lists(scores, lists)
    blocks = tie_blocks(scores[order], lists)
    if blocks is None:
        blocks = np.arange(len(values))
    return values[order], blocks, block_lengths(blocks, len(values))


def average_precision_values(y, scores, lists):
    """Average precision of each list of binary y, nan without a relevant item.

    A block of m ties at positions a+1..a+m that holds rho relevant items, with R relevant
    items above it, adds (rho/m) [(R+1) h + (rho-1)/(m-1) (m - (a+1) h)] / P to the mean
    over orders, where h = 1/(a+1) + ... + 1/(a+m).
    """
    y, blocks, m = _sorted_blocks(y, scores, lists)
    rho = np.add.reduceat(y, blocks)
    before = np.cumsum(y) - y  # counts are exact in floating point
    above = before[blocks] - before[lists.starts][lists.index[blocks]]
    a = lists.positions[blocks] - 1
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, lists.lengths.max() + 1))])
    h = np.where(m == 1, 1.0 / (a + 1), harmonic[a + m] - harmonic[a])
    inner = (rho - 1.0) / np.maximum(m - 1, 1) * np.where(m == 1, 0.0, m - (a + 1) * h)
    gained = rho / m * ((above + 1.0) * h + inner)
    total = np.bincount(lists.index[blocks], weights=gained, minlength=lists.n_lists)
    positives = lists.sum(y)
    return np.divide(total, positives, out=np.full(lists.n_lists, np.nan), where=positives > 0)


def reciprocal_rank_values(y, scores, lists):
    """1/rank of the first relevant item of each list, nan without one.

    In the first block that holds relevant items, rho of m, the first of them stands below
    t others of the block with probability C(m-t, rho) / C(m, rho).
    """
    y, blocks, m = _sorted_blocks(y, scores, lists)
    rho = np.add.reduceat(y, blocks)
    hits = np.flatnonzero(rho > 0)
    list_of_hit = lists.index[blocks[hits]]
    first = (
        hits[np.concatenate([[True], list_of_hit[1:] != list_of_hit[:-1]])] if len(hits) else hits
    )
    value = np.full(lists.n_lists, np.nan)
    if len(first) == 0:
        return value
    m, rho = m[first], rho[first]
    block = np.repeat(np.arange(len(first)), m)  # one entry per position of these blocks
    t = np.arange(len(block)) - np.repeat(np.cumsum(m) - m, m)
    mass = _chance_all_below(t, m[block], rho[block]) - _chance_all_below(
        t + 1, m[block], rho[block]
    )
    terms = mass / (lists.positions[blocks[first]][block] + t)
    value[lists.index[blocks[first]]] = np.bincount(block, weights=terms)
    return value


def _chance_all_below(t, m, rho):
    """C(m-t, rho) / C(m, rho): no relevant item among the first t of a shuffled block."""
    possible = m - t >= rho
    n = np.where(possible, m - t, m)
    log_ratio = gammaln(n + 1) - gammaln(n - rho + 1) - gammaln(m + 1) + gammaln(m - rho + 1)
    return np.where(possible, np.exp(log_ratio), 0.0)


def expected_reciprocal_rank_values(stop, scores, lists, k=None):
    """ERR of each list from stop probabilities in [0, 1), averaged over ties."""
    q, blocks, m = _sorted_blocks(1.0 - stop, scores, lists)
    reach = _product_above(q, lists)[blocks]
    a = lists.positions[blocks] - 1
    limit = np.inf if k is None else k
    gained = np.zeros(len(blocks))
    single = m == 1
    gained[single] = (1.0 - q[blocks[single]]) / (a[single] + 1)
    for size in np.unique(m[~single]):
        tied = np.flatnonzero(m == size)
        gained[tied] = _tied_cascade(
            q[blocks[tied][:, np.newaxis] + np.arange(size)], a[tied], limit
        )
    gained[a >= limit] = 0.0
    return np.bincount(lists.index[blocks], weights=reach * gained, minlength=lists.n_lists)


def _product_above(q, lists):
    """Product of q over the positions above each one, list by list.

    Lists of one length at a time; logarithms over all lists would lose digits.
    """
    product = np.ones(len(q))
    for _, rows in lists.same_length:
        product[rows[:, 1:]] = np.cumprod(q[rows[:, :-1]], axis=1)
    return product


def _tied_cascade(q, a, limit):
    """sum_t (e_{t-1} - e_t) / (a+t) for blocks of equal size, one block a row.

    e_t is the mean of the products of t of the q's, built one item after the other:
    e_t(j items) = (1 - t/j) e_t(j-1 items) + (t/j) q_j e_{t-1}(j-1 items), all of it
    convex combinations. By Maclaurin's inequality e_t <= mean(q)**t, so that terms
    below the last digit need not be built.
    """
    stops = q.min(axis=1) < 1.0
    if not stops.all():  # blocks without a relevant item add nothing
        gained = np.zeros(len(q))
        gained[stops] = _tied_cascade(q[stops], a[stops], limit) if stops.any() else 0.0
        return gained
    n_blocks, m = q.shape
    depth = m if np.isinf(limit) else int(min(m, limit))
    mean = q.mean(axis=1).max()
    if 0 < mean < 1:
        depth = min(depth, int(np.ceil(np.log(1e-20) / np.log(mean))) + 1)
    e = np.zeros((n_blocks, depth + 1))
    e[:, 0] = 1.0
    t = np.arange(1, depth + 1)
    for j in range(1, m + 1):
        share = np.minimum(t / j, 1.0)
        e[:, 1:] = (1.0 - share) * e[:, 1:] + share * q[:, [j - 1]] * e[:, :-1]
    place = a[:, np.newaxis] + t
    return np.where(place <= limit, (e[:, :-1] - e[:, 1:]) / place, 0.0).sum(axis=1)


# Measures ---------------------------------------------------------------------------


def mean_average_precision_score(
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    relevance_threshold=None,
):
    """Mean average precision (MAP).

    ``AP = (1 / sum_i y_i) * sum_{i: y_i = 1} (relevant items up to rank(i)) / rank(i)``,
    averaged over ties in closed form, and then over lists.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with no
        relevant item.
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative or shapes do not fit.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, section 6.

    Examples
    --------
    >>> from lowrank_rank.metrics import mean_average_precision_score
    >>> mean_average_precision_score([1, 0, 1], [3, 2, 1])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    return evaluate(
        lambda y, s, lists: average_precision_values(relevant(y, relevance_threshold), s, lists),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def reciprocal_rank_score(
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    relevance_threshold=None,
):
    """Mean reciprocal rank (MRR): one over the rank of the first relevant item.

    ``RR = 1 / min{rank(i): y_i = 1}``, averaged over ties in closed form.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with no
        relevant item.
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In (0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative or shapes do not fit.

    References
    ----------
    .. [1] E. Voorhees, "The TREC-8 Question Answering Track Report", TREC 1999.

    Examples
    --------
    >>> from lowrank_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 0], [3, 2, 1])
    0.5
    """
    return evaluate(
        lambda y, s, lists: reciprocal_rank_values(relevant(y, relevance_threshold), s, lists),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def expected_reciprocal_rank_score(
    y_true,
    y_score,
    *,
    qid=None,
    k=None,
    max_grade=4.0,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
):
    """Expected reciprocal rank (ERR) of a reader who stops when satisfied.

    ``ERR = sum_p (1/p) * R_(p) * prod_{t < p} (1 - R_(t))`` with the stop probability
    ``R_i = (2**y_i - 1) / 2**max_grade`` and (p) the item at rank p, averaged over ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades in 0..max_grade, higher is better.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int or None, default=None
        Cut-off; None is the whole list.
    max_grade : float, default=4.0
        The highest grade of the scale, whether or not it occurs.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined (none is here).
        nan leaves such lists out of the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1), higher is better.

    Raises
    ------
    ValueError
        If a grade is negative or above `max_grade`, or k is not an integer >= 1.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded
       relevance", CIKM 2009.

    Examples
    --------
    >>> from lowrank_rank.metrics import expected_reciprocal_rank_score
    >>> expected_reciprocal_rank_score([0, 1], [2, 1], max_grade=1)  # (1/2) * (1/2)
    0.25
    """
    k = k if k is None else check_k(k)

    def kernel(y, scores, lists):
        return expected_reciprocal_rank_values(stop_probability(y, max_grade), scores, lists, k)

    return evaluate(
        kernel,
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def stop_probability(y, max_grade):
    """(2**y - 1) / 2**max_grade, refusing grades above the scale."""
    check_grades(y)
    if not (isinstance(max_grade, Real) and 0 < max_grade <= 500):
        raise ValueError(f"max_grade must be a number in (0, 500], got {max_grade!r}.")
    if y.max(initial=0.0) > max_grade:
        raise ValueError(
            f"y holds the grade {y.max():g}, above max_grade={max_grade:g}: give the highest grade "
            "of your scale as max_grade."
        )
    return (np.exp2(y) - 1.0) / np.exp2(max_grade)
