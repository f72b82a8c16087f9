"""Hinges of label sequences, dynamic programs over all label sequences (17.4, 17.5).

    score(labels) = sum_t emissions[t, labels_t] + sum_{t>1} transitions[labels_{t-1},
    labels_t]

Sequences of equal length are one array: there is a loop over positions, none over
sequences.
"""

import numpy as np
from scipy.special import logsumexp

from ._solvers import HingeProblem, Tangent

# Dynamic programs -------------------------------------------------------------------


def viterbi(emissions, transitions, lists):
    """Return the labels with the largest score of each sequence; ties go to the first.

    `emissions` are the scores (n_rows, n_labels) of grouped rows; transitions[i, j] is
    the score of j after i.
    """
    labels = np.empty(len(emissions), dtype=np.intp)
    transitions_onto = np.ascontiguousarray(transitions.T)  # [label, label before]
    for members, rows in lists.same_length:
        every = np.arange(len(members))
        n_positions = rows.shape[1]
        # Largest score of the first t elements that ends with each label, and the label
        # before it there.
        best = emissions[rows[:, 0]]
        labels_before = []
        for t in range(1, n_positions):
            scores = best[:, np.newaxis, :] + transitions_onto
            before = scores.argmax(axis=2)
            labels_before.append(before)
            best = np.take_along_axis(scores, before[:, :, np.newaxis], axis=2)[..., 0]
            best = best + emissions[rows[:, t]]
        label = best.argmax(axis=1)
        labels[rows[:, -1]] = label
        for t in range(n_positions - 2, -1, -1):
            label = labels_before[t][every, label]
            labels[rows[:, t]] = label
    return labels


def chain_marginals(emissions, transitions, lists, weights):
    """Return log sums of exp(score) over label sequences, and their marginals.

    The sums are computed forward and backward, and a label sequence has the probability
    exp(score) over the sum. Returns the logarithm of the sum of each list, the
    probability of each label at each row, and the expected number of transitions
    (n_labels, n_labels) over all sequences, weighted by their `weights`.
    """
    q = emissions.shape[1]
    log_sums = np.empty(lists.n_lists)
    labels = np.empty_like(emissions)
    pairs = np.zeros((q, q))
    # The largest transition is subtracted: exp cannot overflow.
    shift = transitions.max(initial=0.0)
    log_factors = transitions - shift
    factors = np.exp(log_factors)
    for members, rows in lists.same_length:
        n_positions = rows.shape[1]
        own = emissions[rows]  # (sequence, position, label)
        # Logarithms of the sums over the elements up to t, by the label of element t.
        forward = own.copy()
        for t in range(1, n_positions):
            forward[:, t] += _log_product(forward[:, t - 1], factors, log_factors)
        # Logarithms of the sums over the elements after t, by the label of element t.
        backward = np.zeros((len(members), q))
        for t in range(n_positions - 1, -1, -1):
            probabilities = _exp_of_rows(forward[:, t] + backward)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            labels[rows[:, t]] = probabilities
            if t > 0:
                left = forward[:, t - 1]
                right = own[:, t] + backward
                pairs += _expected_pairs(
                    left, right, factors, log_factors, weights[members]
                )
                backward = _log_product(right, factors.T, log_factors.T)
        last = _log_product(forward[:, -1], np.ones((q, 1)), np.zeros((q, 1)))
        log_sums[members] = last[:, 0]
        log_sums[members] += (n_positions - 1) * shift
    return log_sums, labels, pairs


_LEAST_SUM = 1e-200  # smaller sums may have lost terms to underflow


def _exp_of_rows(logs):
    """Return exp of each row, divided by its largest entry."""
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def _log_product(logs, factors, log_factors):
    """Return log(exp(logs) @ factors) of each row, safe against underflow."""
    largest = logs.max(axis=1, keepdims=True)
    sums = np.exp(logs - largest) @ factors
    underflows = np.flatnonzero((sums < _LEAST_SUM).any(axis=1))
    sums[underflows] = 1.0
    log_sums = np.log(sums) + largest
    if len(underflows) > 0:
        terms = logs[underflows][:, :, np.newaxis] + log_factors
        log_sums[underflows] = logsumexp(terms, axis=1)
    return log_sums


def _expected_pairs(left, right, factors, log_factors, weights):
    """Return the weighted sum of the distributions of two neighbouring labels.

    The probability of labels i, j is exp(left_i) factors_ij exp(right_j) over its sum.
    """
    exp_left = _exp_of_rows(left)
    exp_right = _exp_of_rows(right)
    total = np.sum(exp_left @ factors * exp_right, axis=1)
    underflows = np.flatnonzero(total < _LEAST_SUM)
    total[underflows] = np.inf
    exp_left *= (weights / total)[:, np.newaxis]
    pairs = factors * (exp_left.T @ exp_right)
    if len(underflows) > 0:
        logs = left[underflows][:, :, np.newaxis] + log_factors
        logs = logs + right[underflows][:, np.newaxis, :]
        logs -= logsumexp(logs, axis=(1, 2), keepdims=True)
        pairs += np.tensordot(weights[underflows], np.exp(logs), 1)
    return pairs


def transition_counts(labels, lists, n_labels, weights, part=None):
    """Return how often label j follows label i, weighted, shape (n_labels, n_labels).

    With the `part` of each list the shape is (n_parts, n_labels, n_labels).
    """
    follows = lists.positions[1:] > 1
    before = labels[:-1][follows]
    after = labels[1:][follows]
    list_of_pair = lists.index[1:][follows]
    codes = before * n_labels + after
    n_parts = 1
    if part is not None:
        codes = codes + part[list_of_pair] * n_labels**2
        n_parts = part.max() + 1
    counts = np.bincount(codes, weights[list_of_pair], minlength=n_parts * n_labels**2)
    counts = counts.reshape(n_parts, n_labels, n_labels)
    if part is None:
        return counts[0]
    return counts


# The problem ------------------------------------------------------------------------


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

    def slopes_of_terms(self):
        """Return an upper bound of ``|Psi(x, y') - Psi(x, y)|`` for each sequence.

        Each label is one in its row and one in its transition from the label before.
        """
        emissions = super().slopes_of_terms()
        transitions = 2.0 * (self.hinge.lists.lengths - 1)
        return np.hypot(emissions, transitions)

    def split(self, w):
        """Return the coefficients and intercepts of the rows."""
        return super().split(w[: self.n_emissions])

    def transitions(self, w):
        """Return the scores of transitions, shape (n_columns, n_columns)."""
        return w[self.n_emissions :].reshape(self.n_columns, self.n_columns)

    def worst(self, w):
        """Return the `Tangent` of F at w."""
        labels, slopes, costs = self._worst_labels(w)
        cost = float(costs.sum())
        pairs = transition_counts(
            labels, self.hinge.lists, self.n_columns, self.weights
        )
        slope = self._slope(slopes, pairs)
        return Tangent(cost + float(slope @ w), slope, cost)

    def worst_of_parts(self, w, part):
        """Return values (n_parts,) and slopes (n_parts, size) of the parts of F."""
        labels, slopes, costs = self._worst_labels(w)
        lists = self.hinge.lists
        n_parts = part.max() + 1
        part_of_row = lists.repeat(part)
        emissions = self.gradients_of_parts(slopes, part_of_row, n_parts)
        pairs = transition_counts(labels, lists, self.n_columns, self.weights, part)
        true_pairs = transition_counts(
            self.hinge.y, lists, self.n_columns, self.weights, part
        )
        transitions = (pairs - true_pairs).reshape(n_parts, -1)
        slopes = np.hstack([emissions, transitions])
        return np.bincount(part_of_row, costs) + slopes @ w, slopes

    def soft(self, w, gamma):
        """Return the `Tangent` of ``gamma log sum exp(score / gamma)`` over labels."""
        lists = self.hinge.lists
        every = np.arange(lists.n_rows)
        weights = lists.repeat(self.weights)
        emissions = self.scores(w)
        transitions = self.transitions(w)
        log_sums, probabilities, pairs = chain_marginals(
            (emissions + self.costs) / gamma, transitions / gamma, lists, self.weights
        )
        true_score = float(emissions[every, self.hinge.y] @ weights)
        true_score += float(np.sum(self.true_pairs * transitions))
        slopes = probabilities * weights[:, np.newaxis]
        cost = float(np.sum(self.costs * slopes))
        slopes[every, self.hinge.y] -= weights
        value = gamma * float(log_sums @ self.weights) - true_score
        return Tangent(value, self._slope(slopes, pairs), cost)

    def _worst_labels(self, w):
        """Return the worst labels, and the weighted slopes and cost of each row."""
        hinge = self.hinge
        emissions = self.scores(w)
        labels = viterbi(emissions + self.costs, self.transitions(w), hinge.lists)
        weights = hinge.lists.repeat(self.weights)
        every = np.arange(len(labels))
        slopes = np.zeros_like(emissions)
        slopes[every, labels] += weights
        slopes[every, hinge.y] -= weights
        return labels, slopes, self.costs[every, labels] * weights

    def _slope(self, slopes, pairs):
        """Return the gradient in w: that of the rows, then that of the transitions."""
        by_transition = (pairs - self.true_pairs).ravel()
        return np.append(self.gradient(slopes), by_transition)
