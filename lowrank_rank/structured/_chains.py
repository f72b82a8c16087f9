"""Hinges of label sequences, and dynamic programs over all label sequences (17.4, 17.5).

    score(labels) = sum_t emissions[t, labels_t] + sum_{t>1} transitions[labels_{t-1},
    labels_t]

Sequences of equal length are one array: there is a loop over positions, none over
sequences.
"""

import numpy as np
from scipy.special import logsumexp

from ._solvers import HingeProblem, Tangent


def viterbi(emissions, transitions, lists):
    """Labels with the largest score of each sequence; ties go to the first label.

    `emissions` are the scores (n_rows, n_labels) of grouped rows; transitions[i, j] is
    the score of j after i.
    """
    labels = np.empty(len(emissions), dtype=np.intp)
    onto = np.ascontiguousarray(transitions.T)  # [label, label before]
    for members, rows in lists.same_length:
        best, before, every = emissions[rows[:, 0]], [], np.arange(len(members))
        for t in range(1, rows.shape[1]):
            reached = best[:, np.newaxis, :] + onto
            origin = reached.argmax(axis=2)
            before.append(origin)
            best = np.take_along_axis(reached, origin[:, :, np.newaxis], axis=2)[
                :, :, 0
            ]
            best = best + emissions[rows[:, t]]
        label = best.argmax(axis=1)
        labels[rows[:, -1]] = label
        for t in range(rows.shape[1] - 2, -1, -1):
            label = before[t][every, label]
            labels[rows[:, t]] = label
    return labels


_LOW = 1e-200  # smaller sums may have lost terms to underflow


def chain_marginals(emissions, transitions, lists, weights):
    """The distribution over label sequences proportional to exp(score), by forward and backward
    sums.

    Returns the logarithm of the sum over all label sequences of each list, the
    probability of each label at each row, and the expected number of transitions
    (n_labels, n_labels) over all sequences, weighted by their `weights`.
    """
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
            of_labels = _exp(forward[:, t] + backward)
            labels[rows[:, t]] = of_labels / of_labels.sum(axis=1, keepdims=True)
            if t:
                right = own[:, t] + backward
                pairs += _pairs(
                    forward[:, t - 1], right, factor, shifted, weights[members]
                )
                backward = _passed_on(right, factor.T, shifted.T)
        log_sums[members] = _passed_on(
            forward[:, -1], np.ones((q, 1)), np.zeros((q, 1))
        )[:, 0]
        log_sums[members] += (rows.shape[1] - 1) * shift
    return log_sums, labels, pairs


def _exp(logs):
    """exp of each row, divided by its largest entry."""
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def _passed_on(logs, factor, log_factor):
    """log(exp(logs) @ factor) of each row, safe against underflow."""
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

    With the `part` of each list the shape is (n_parts, n_labels, n_labels).
    """
    follows = lists.positions[1:] > 1
    before, after, which = (
        labels[:-1][follows],
        labels[1:][follows],
        lists.index[1:][follows],
    )
    codes, n_parts = before * n_labels + after, 1
    if part is not None:
        codes, n_parts = codes + part[which] * n_labels**2, part.max() + 1
    counts = np.bincount(codes, weights=weights[which], minlength=n_parts * n_labels**2)
    counts = counts.reshape(n_parts, n_labels, n_labels)
    return counts[0] if part is None else counts


class ChainProblem(HingeProblem):
    """Hinges of label sequences, with scores of rows and scores of transitions.

    `hinge` is a `ListHinge` of the true labels. w has the coefficients of the rows
    first, then the transitions. A wrong element costs 1 in all sequences: terms have
    weights per element.
    """

    is_smooth = True

    def __init__(self, X, hinge, weights, n_columns, **options):
        super().__init__(X, hinge, weights, n_columns, **options)
        self.n_emissions = self.size
        self.size += n_columns**2
        self.costs = 1.0 - np.eye(n_columns)[hinge.y]
        self.true_pairs = transition_counts(hinge.y, hinge.lists, n_columns, weights)

    def split(self, w):
        return super().split(w[: self.n_emissions])

    def transitions(self, w):
        return w[self.n_emissions :].reshape(self.n_columns, self.n_columns)

    def worst(self, w):
        labels, slopes, costs = self._worst_labels(w)
        cost = float(costs.sum())
        pairs = transition_counts(
            labels, self.hinge.lists, self.n_columns, self.weights
        )
        slope = np.append(self.gradient(slopes), (pairs - self.true_pairs).ravel())
        return Tangent(cost + float(slope @ w), slope, cost)

    def worst_of_parts(self, w, part):
        labels, slopes, costs = self._worst_labels(w)
        hinge, n_parts = self.hinge, part.max() + 1
        of_rows = hinge.lists.repeat(part)
        pairs, true_pairs = (
            transition_counts(of, hinge.lists, self.n_columns, self.weights, part)
            for of in (labels, hinge.y)
        )
        emissions = self.gradients_of_parts(slopes, of_rows, n_parts)
        slopes = np.hstack([emissions, (pairs - true_pairs).reshape(n_parts, -1)])
        return np.bincount(of_rows, costs) + slopes @ w, slopes

    def _worst_labels(self, w):
        """The worst labels, and the weighted slopes and cost of each row."""
        hinge, emissions = self.hinge, self.scores(w)
        labels = viterbi(emissions + self.costs, self.transitions(w), hinge.lists)
        rows, every = hinge.lists.repeat(self.weights), np.arange(len(labels))
        slopes = np.zeros_like(emissions)
        slopes[every, labels] += rows
        slopes[every, hinge.y] -= rows
        return labels, slopes, self.costs[every, labels] * rows

    def soft(self, w, gamma):
        hinge = self.hinge
        emissions, transitions, lists = self.scores(w), self.transitions(w), hinge.lists
        log_sums, labels, pairs = chain_marginals(
            (emissions + self.costs) / gamma, transitions / gamma, lists, self.weights
        )
        rows, every = lists.repeat(self.weights), np.arange(len(emissions))
        true = float(emissions[every, hinge.y] @ rows)
        true += float(np.sum(self.true_pairs * transitions))
        slopes = labels * rows[:, np.newaxis]
        cost = float(np.sum(self.costs * slopes))
        slopes[every, hinge.y] -= rows
        slope = np.append(self.gradient(slopes), (pairs - self.true_pairs).ravel())
        return Tangent(gamma * float(log_sums @ self.weights) - true, slope, cost)
