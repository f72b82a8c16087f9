"""The measures as one would write them first: one list, one order, loops; ties by enumeration."""

from itertools import permutations

import numpy as np
from scipy import sparse


def orders_that_agree(scores):
    """All orders (item indices, best first) in which no item stands above a better score."""
    r = len(scores)
    return [
        order
        for order in permutations(range(r))
        if all(scores[order[p]] >= scores[order[p + 1]] for p in range(r - 1))
    ]


def over_ties(measure, y, scores):
    """Mean of measure(y in order) over the orders that agree with the scores."""
    y = np.asarray(y, dtype=float)
    return float(
        np.mean([measure(y[list(order)]) for order in orders_that_agree(scores)])
    )


def precision(y, k):
    return sum(y[:k]) / k


def recall(y, k):
    return sum(y[:k]) / sum(y)


def dcg(y, k=None, gain=lambda g: g):
    k = len(y) if k is None else k
    return sum(gain(g) / np.log2(1 + p) for p, g in enumerate(y[:k], 1))


def ndcg(y, k=None, gain=lambda g: g):
    return dcg(y, k, gain) / dcg(sorted(y, reverse=True), k, gain)


def eru(y, neutral, half_life):
    return sum(
        max(g - neutral, 0) * 2 ** ((1 - p) / (half_life - 1))
        for p, g in enumerate(y, 1)
    )


def average_precision(y, k=None):
    hits, total = 0, 0.0
    for p, relevant in enumerate(y, 1):
        if relevant:
            hits += 1
            total += hits / p if k is None or p <= k else 0.0
    return total / hits


def auc(y):
    pairs = [
        (a, b) for a in range(len(y)) for b in range(len(y)) if y[a] == 1 and y[b] == 0
    ]
    return sum(a < b for a, b in pairs) / len(pairs)


def reciprocal_rank(y, k=None):
    rank = 1 + list(y).index(1)
    return 1 / rank if k is None or rank <= k else 0.0


def err(y, max_grade, k=None):
    stop = [(2**g - 1) / 2**max_grade for g in y]
    k = len(y) if k is None else k
    return sum(stop[p] * np.prod([1 - s for s in stop[:p]]) / (p + 1) for p in range(k))


def spearman(y):
    """y in order; ties in y by enumeration of the rankings that agree."""
    r = len(y)
    values = []
    for ranking in orders_that_agree(y):
        rho = np.empty(r)
        rho[list(ranking)] = np.arange(1, r + 1)
        values.append(
            1
            - 6
            * sum((p - rho[p - 1]) ** 2 for p in range(1, r + 1))
            / (r * (r * r - 1))
        )
    return np.mean(values)


def disagreement(y, weight=lambda a, b: float(a > b)):
    return sum(weight(y[b], y[a]) for a in range(len(y)) for b in range(a + 1, len(y)))


def kendall(y, scores):
    r = len(y)
    wrong = sum(
        np.sign(y[i] - y[j]) != np.sign(scores[i] - scores[j])
        for i in range(r)
        for j in range(i + 1, r)
    )
    return wrong / (r * (r - 1) / 2)


def disagreement_cost(u, order):
    """Sum of u_ij over the pairs that the order (best first) has the other way round."""
    return sum(
        u[order[b]][order[a]]
        for a in range(len(order))
        for b in range(a + 1, len(order))
    )


def has_cycle(r, edges):
    """Whether taking away items without an incoming edge gets stuck."""
    items = set(range(r))
    while items:
        free = [j for j in items if not any(b == j and a in items for a, b in edges)]
        if not free:
            return True
        items.remove(free[0])
    return False


def algorithm_1(u):
    """Edges left, and the order along them: the free item of largest net preference first."""
    r = len(u)
    edges = [
        (i, j) for i in range(r) for j in range(r) if i != j and u[i][j] - u[j][i] > 0
    ]
    while has_cycle(r, edges):
        edges.remove(min(edges, key=lambda e: (u[e[0]][e[1]] - u[e[1]][e[0]], e)))
    net = [sum(u[i][j] - u[j][i] for j in range(r)) for i in range(r)]
    order = []
    while len(order) < r:
        left = [j for j in range(r) if j not in order]
        free = [j for j in left if not any(b == j and a in left for a, b in edges)]
        order.append(max(free, key=lambda j: (net[j], -j)))
    return edges, order


def insertions(order):
    """(source, target, order with the item at source at target) of all moves of one item."""
    for source in range(len(order)):
        rest = [i for p, i in enumerate(order) if p != source]
        for target in range(len(order)):
            yield source, target, rest[:target] + [order[source]] + rest[target:]


def wide(X):
    """X as a sparse matrix with empty columns, so many that ridge regression iterates."""
    return sparse.hstack(
        [sparse.csr_matrix(X), sparse.csr_matrix((len(X), 501))], format="csr"
    )


def scaled_features(X, weights=None):
    """Features by the rule for items, classes and sets, and the mean squared norm of their rows.

    The standard deviation is the unit; with fewer than half the entries of a feature not 0, rare
    features stay as large as common ones.
    """
    weights = np.ones(len(X)) if weights is None else weights
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    shares = np.average(X != 0, axis=0, weights=weights)
    Z = (X - mean) / deviation
    for j, q in enumerate(shares):
        if q < 0.5:
            Z[:, j] *= np.sqrt(2 * q)
    return Z, float(weights @ (Z**2).sum(axis=1) / weights.sum())
