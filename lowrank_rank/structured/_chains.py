"""Best label sequences, and sums over all of them, by dynamic programming (17.4, 17.5).

    score(labels) = sum_t emissions[t, labels_t] + sum_{t>1} transitions[labels_{t-1}, labels_t]

All sequences of one length go together: a loop over positions, none over sequences.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp


def viterbi(emissions, transitions, lists):
    """Labels of the largest score of each sequence, ties to the first label.

    Parameters
    ----------
    emissions : ndarray of shape (n_rows, n_labels)
        Grouped; rows of a sequence in its order.
    transitions : ndarray of shape (n_labels, n_labels)
        Entry [i, j] is the score of j after i.
    lists : RankingLists

    Returns
    -------
    ndarray of int, shape (n_rows,)
    """
    labels = np.empty(len(emissions), dtype=np.intp)
    onto = np.ascontiguousarray(transitions.T)  # [label, label before]
    for members, rows in lists.same_length:
        best, before, every = emissions[rows[:, 0]], [], np.arange(len(members))
        for t in range(1, rows.shape[1]):
            reached = best[:, np.newaxis, :] + onto
            origin = reached.argmax(axis=2)
            before.append(origin)
            best = np.take_along_axis(reached, origin[:, :, np.newaxis], axis=2)[:, :, 0]
            best = best + emissions[rows[:, t]]
        label = best.argmax(axis=1)
        labels[rows[:, -1]] = label
        for t in range(rows.shape[1] - 2, -1, -1):
            label = before[t][every, label]
            labels[rows[:, t]] = label
    return labels


_LOW = 1e-200  # sums below may have lost their terms


class Marginals(NamedTuple):
    """The distribution over label sequences proportional to exp(score).

    Attributes
    ----------
    log_sums : ndarray of shape (n_lists,)
        Logarithm of the sum over all label sequences.
    labels : ndarray of shape (n_rows, n_labels)
        Probability of each label at each row.
    pairs : ndarray of shape (n_labels, n_labels)
        Weighted expected number of transitions, over all sequences.
    """

    log_sums: np.ndarray
    labels: np.ndarray
    pairs: np.ndarray


def chain_marginals(emissions, transitions, lists, weights):
    """`Marginals` by scaled sums forward and backward; `weights` of the sequences."""
    q = emissions.shape[1]
    labels, pairs = np.empty_like(emissions), np.zeros((q, q))
    log_sums = np.empty(lists.n_lists)
    shift = transitions.max(initial=0.0)
    shifted = transitions - shift
    factor = np.exp(shifted)
    for members, rows in lists.same_length:
        own = emissions[rows]  # (sequence, position, label)
        forward = own.copy()
        for t in range(1, rows.shape[1]):
            forward[:, t] += _passed_on(forward[:, t - 1], factor, shifted)
        backward = np.zeros((len(members), q))
        for t in range(rows.shape[1] - 1, -1, -1):
            labels[rows[:, t]] = _normalised(forward[:, t] + backward)
            if t:
                right = own[:, t] + backward
                pairs += _pairs(forward[:, t - 1], right, factor, shifted, weights[members])
                backward = _passed_on(right, factor.T, shifted.T)
        log_sums[members] = _passed_on(forward[:, -1], np.ones((q, 1)), np.zeros((q, 1)))[:, 0]
        log_sums[members] += (rows.shape[1] - 1) * shift
    return Marginals(log_sums, labels, pairs)


def _exp(logs):
    """exp of each row up to a factor, the largest 1."""
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def _normalised(logs):
    values = _exp(logs)
    values /= values.sum(axis=1, keepdims=True)
    return values


def _passed_on(logs, factor, log_factor):
    """log(exp(logs) @ factor) row by row; entry by entry where the product underflows."""
    top = logs.max(axis=1, keepdims=True)
    sums = np.exp(logs - top) @ factor
    low = np.flatnonzero((sums < _LOW).any(axis=1))
    sums[low] = 1.0
    passed = np.log(sums) + top
    if len(low):
        passed[low] = logsumexp(logs[low][:, :, np.newaxis] + log_factor, axis=1)
    return passed


def _pairs(left, right, factor, log_factor, weights):
    """Weighted sum of the distributions of two neighbouring labels."""
    from_left, from_right = _exp(left), _exp(right)
    total = np.sum(from_left @ factor * from_right, axis=1)
    low = np.flatnonzero(total < _LOW)
    total[low] = np.inf
    from_left *= (weights / total)[:, np.newaxis]
    pairs = factor * (from_left.T @ from_right)
    if len(low):
        joint = left[low][:, :, np.newaxis] + log_factor + right[low][:, np.newaxis, :]
        joint -= logsumexp(joint, axis=(1, 2), keepdims=True)
        pairs += np.tensordot(weights[low], np.exp(joint), 1)
    return pairs


def transition_counts(labels, lists, n_labels, weights, part=None):
    """Weighted number of times that label j follows label i, shape (n_labels, n_labels).

    With the `part` of each list, (n_parts, n_labels, n_labels).
    """
    follows = lists.positions[1:] > 1
    before, after, which = labels[:-1][follows], labels[1:][follows], lists.index[1:][follows]
    codes, n_parts = before * n_labels + after, 1
    if part is not None:
        codes, n_parts = codes + part[which] * n_labels**2, part.max() + 1
    counts = np.bincount(codes, weights=weights[which], minlength=n_parts * n_labels**2)
    counts = counts.reshape(n_parts, n_labels, n_labels)
    return counts[0] if part is None else counts
