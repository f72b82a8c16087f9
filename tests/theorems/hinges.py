"""Hinges by enumeration: every label y' with its Delta and its psi(y') - psi(y)."""

from itertools import pairwise, permutations, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.special import logsumexp, softmax
from scipy.stats import rankdata

from lowrank_rank.target_losses import NDCG, FBeta

from ..internals import (
    Best,
    ChainProblem,
    ClassHinge,
    HingeProblem,
    ListHinge,
    RankingLists,
    published_sgd,
    resolve_hinge,
)
from . import assert_close


class Labels(NamedTuple):
    """All labels y' of a term: Delta (n,), and psi(y') - psi(y) (n, *shape of scores)."""

    delta: np.ndarray
    psi: np.ndarray

    def values(self, scores):
        """Return Delta + <scores, psi> of every label."""
        return self.delta + self.psi.reshape(len(self.psi), -1) @ scores.ravel()


# Labels of each hinge ---------------------------------------------------------------


def labels_of_pairs(y, is_kendall):
    """Each pair is right (0) or wrong: Delta 1 and -1 for the better item, over all."""
    r = len(y)
    pairs = [(i, j) for i in range(r) for j in range(r) if y[i] > y[j]]
    n_tied = r * (r - 1) // 2 - len(pairs)
    scale = 1 / len(pairs)
    fixed = 0.0
    if is_kendall:  # over all pairs; those with tied labels are wrong
        scale = 2 / (r * (r - 1))
        fixed = n_tied * scale
    wrong = np.array(list(product([0, 1], repeat=len(pairs))))
    step = np.zeros((len(pairs), r))
    for n, (i, j) in enumerate(pairs):
        step[n, i], step[n, j] = -1, 1
    return Labels(fixed + scale * wrong.sum(axis=1), scale * wrong @ step)


def labels_of_places(y, k, gain):
    """Each order: one minus its NDCG, and places from the bottom (ties: mid-ranks)."""
    r = len(y)
    gains = y if gain == "linear" else 2.0**y - 1
    places = np.arange(1, r + 1)
    discount = (places <= k) / np.log2(1 + places)
    orders = np.array(list(permutations(places)))
    ideal = np.sort(gains)[::-1] @ discount
    delta = 1 - discount[orders - 1] @ gains / ideal
    return Labels(delta, (r + 1 - orders - rankdata(y)).astype(float))


def labels_of_counts(y, name, k, beta):
    """Each set of marks of V: the loss of its counts, and marks minus true marks."""
    positive = y > 0
    marks = np.array(list(product([-1, 1], repeat=len(y))))
    n_marked = (marks > 0).sum(axis=1)
    if name == "precision":
        marks = marks[n_marked >= k]
    if name == "recall":
        marks = marks[n_marked <= k]
    delta = []
    for one in marks > 0:
        a = (one & positive).sum()
        b = (one & ~positive).sum()
        c = (~one & positive).sum()
        d = (~one & ~positive).sum()
        if name == "precision":
            delta.append(1 - a / (a + b))
        elif name == "recall":
            delta.append(1 - a / (a + c))
        elif name == "f":
            # (1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)
            weight = 1 + beta**2
            delta.append(1 - weight * a / (weight * a + b + beta**2 * c))
        else:
            delta.append(1 - (a / (a + c) + d / (b + d)) / 2)
    return Labels(np.array(delta), (marks - np.where(positive, 1, -1)).astype(float))


def random_term(rng, name, r):
    """Draw labels of a list, and return them with their measure and all labels y'."""
    y = rng.integers(0, 4, r).astype(float)
    first, other = rng.permutation(r)[:2]
    y[first], y[other] = 3.0, 0.0
    P = int((y > 0).sum())
    if name == "kendall":
        return "kendall", False, y, labels_of_pairs(y, True)
    if name == "auc":
        y = np.minimum(y, 1.0)
        return "auc", False, y, labels_of_pairs(y, False)
    if name == "ndcg":
        k = int(rng.integers(1, r + 2))
        gain = str(rng.choice(["linear", "exponential"]))
        return NDCG(k, gain=gain), False, y, labels_of_places(y, k, gain)
    y = np.minimum(y, 1.0)
    k = int(rng.integers(1, P + 1))
    if name == "recall":
        k = int(rng.integers(P, r + 1))
    if name in ("precision", "recall"):
        return f"{name}@{k}", False, y, labels_of_counts(y, name, k, None)
    if name == "f":
        beta = rng.uniform(0.3, 3.0)
        return FBeta(beta=beta), True, y, labels_of_counts(y, name, None, beta)
    return "balanced_accuracy", True, y, labels_of_counts(y, name, None, None)


MEASURES = ["kendall", "auc", "ndcg", "precision", "recall", "f", "balanced"]
#: The longest lists; pairs have 2^(r (r-1) / 2) labels.
LONGEST = {"kendall": 4, "auc": 5}


def random_scores(rng, shape):
    """Draw scores, of which some are whole: ties, and hinges of exactly 0."""
    scores = rng.normal(size=shape) * rng.choice([0.1, 1.0, 10.0])
    return np.round(scores) if rng.random() < 0.3 else scores


def random_hinge(rng, name, r):
    """Return the hinge of a list, and all labels y'."""
    measure, of_classes, y, labels = random_term(rng, name, r)
    measure, hinge = resolve_hinge(measure, of_classes=of_classes)
    return hinge(y, RankingLists([r]), measure=measure), labels


def random_classes(rng, n, q):
    """Return the hinge of rows with costs of classes, and the labels of each row."""
    y = rng.integers(0, q, n)
    costs = rng.uniform(0.1, 2.0, (n, q))
    costs[np.arange(n), y] = 0.0
    eye = np.eye(q)
    labels = [Labels(costs[i], eye - eye[y[i]]) for i in range(n)]
    return ClassHinge(y, costs), labels


def assert_worst(labels, scores, value, slope):
    """The value is the largest, and the slope that of a label that reaches it."""
    every = labels.values(scores)
    assert_close(value, every.max())
    size = 1 + np.abs(scores).sum()
    is_worst = every >= every.max() - 1e-9 * size
    distance = np.abs(labels.psi[is_worst] - slope)
    assert distance.reshape(is_worst.sum(), -1).max(axis=1).min() <= 1e-9


# Hinges -----------------------------------------------------------------------------


def worst_labels(rng):
    """Values are maxima over all labels, slopes are psi(y') - psi(y) of a worst one."""
    for name in MEASURES:
        for _ in range(8):
            r = int(rng.integers(2, LONGEST.get(name, 5) + 1))
            hinge, labels = random_hinge(rng, name, r)
            scores = random_scores(rng, (r, 1))
            (value,), slopes = hinge.worst(scores.copy())
            assert_worst(
                labels._replace(psi=labels.psi[..., np.newaxis]), scores, value, slopes
            )
    for _ in range(8):
        hinge, labels = random_classes(rng, 6, int(rng.integers(2, 5)))
        scores = random_scores(rng, hinge.costs.shape)
        values, slopes = hinge.worst(scores.copy())
        for i, label in enumerate(labels):
            assert_worst(label, scores[i], values[i], slopes[i])
        some = hinge.subset(np.array([4, 1]))
        assert_close(some.worst(scores[[4, 1]])[0], values[[4, 1]])


def large_offsets(rng):
    """A number added to all scores changes no hinge, and loses no digit of it."""
    for name in ("kendall", "auc", "ndcg"):
        for _ in range(12):
            r = int(rng.integers(3, LONGEST.get(name, 5) + 1))
            hinge, _ = random_hinge(rng, name, r)
            # Sums of places times scores are exact: halves beside 2^47.
            scores = rng.integers(-2, 3, (r, 1)) / 2
            values, _ = hinge.worst(scores.copy())
            far, _ = hinge.worst(scores + 2.0**47)
            assert_close(far, values)


def largest_slopes(rng):
    """The bounds of slopes hold for all labels, and some labels reach them."""
    for name in MEASURES:
        for _ in range(4):
            r = int(rng.integers(2, LONGEST.get(name, 5) + 1))
            hinge, labels = random_hinge(rng, name, r)
            reached = np.abs(labels.psi).max()
            norms = rng.uniform(0.1, 2.0, r)
            assert reached <= hinge.largest_slopes()[0] + 1e-12
            total = (np.abs(labels.psi).max(axis=0) * norms).sum()
            assert total <= hinge.sum_of_largest_slopes(norms)[0] + 1e-12
            # Fixed items: the row of the list, in the block of each item.
            hinge.n_items = r
            longest = np.linalg.norm(labels.psi, axis=1).max()
            assert longest * 0.7 <= hinge.sum_of_largest_slopes(np.array([0.7]))[0]
    y = rng.permutation(4) + 1.0
    for name, labels in (
        ("kendall", labels_of_pairs(y, True)),
        ("ndcg", labels_of_places(y, 4, "linear")),
    ):
        measure, hinge = resolve_hinge(name)
        found = hinge(y, RankingLists([4]), measure=measure).largest_slopes()
        assert_close(found, np.abs(labels.psi).max())
    hinge, labels = random_hinge(rng, "f", 4)
    norms = rng.uniform(0.1, 2.0, 4)
    # All marks are wrong: |psi| is 2 for each item.
    assert_close(hinge.sum_of_largest_slopes(norms), 2 * norms.sum())
    hinge.n_items = 4
    assert_close(hinge.sum_of_largest_slopes(np.ones(1)), 2 * np.sqrt(4))
    # As in the book: |Psi(x, y)| <= rho / 2.
    classes, _ = random_classes(rng, 4, 3)
    assert_close(classes.sum_of_largest_slopes(norms), 2 * norms)


def assert_soft(labels, shapes, weights, scores, found, by_hand):
    """Compare a smooth approximation with its form by hand, and its bounds of F."""
    value, slope, cost = by_hand
    assert_close(found.value, value)
    assert_close(found.slope, slope)
    assert_close(found.cost, cost)
    exact = sum(
        weight * one.values(scores[rows]).max()
        for weight, one, rows in zip(weights, labels, shapes, strict=True)
    )
    assert_close(found.exact, exact)


def soft_pairs(rng):
    """max over m in [0, 1] of m z - gamma m^2 / 2 in place of each max(0, z)."""
    for name in ("kendall", "auc"):
        for _ in range(4):
            hinge, labels = random_hinge(rng, name, 4)
            gamma = rng.uniform(0.1, 1.5)
            weight = rng.uniform(0.5, 2.0, 1)
            s = random_scores(rng, (4, 1))
            found = hinge.soft(s.copy(), gamma, weight)
            y = hinge.y
            pairs = [(i, j) for i in range(4) for j in range(4) if y[i] > y[j]]
            scale = weight[0] / len(pairs)
            tied = 0.0
            if name == "kendall":
                scale = weight[0] / 6
                tied = scale * (6 - len(pairs))
            value, cost, slope = tied, tied, np.zeros((4, 1))
            for i, j in pairs:
                z = 1 - (s[i, 0] - s[j, 0])
                m = min(max(z / gamma, 0.0), 1.0)
                value += scale * (m * z - gamma * m**2 / 2)
                cost += scale * m
                slope[i] -= scale * m
                slope[j] += scale * m
            every = slice(None)
            by_hand = value, slope, cost
            assert_soft([labels], [every], weight, s, found, by_hand)


def soft_classes(rng):
    """gamma log sum exp(z / gamma), with the probabilities of its labels."""
    for _ in range(4):
        hinge, labels = random_classes(rng, 5, 3)
        gamma = rng.uniform(0.1, 1.5)
        weights = rng.uniform(0.5, 2.0, 5)
        s = random_scores(rng, (5, 3))
        found = hinge.soft(np.array(s, order="F"), gamma, weights)
        value, cost, slope = 0.0, 0.0, np.zeros((5, 3))
        for i, one in enumerate(labels):
            z = one.values(s[i]) / gamma
            p = softmax(z)
            value += weights[i] * gamma * logsumexp(z)
            cost += weights[i] * p @ one.delta
            slope[i] = weights[i] * p @ one.psi
        assert_soft(labels, range(5), weights, s, found, (value, slope, cost))


# Problems ---------------------------------------------------------------------------


def random_problem(rng, name):
    """Return a problem of linear scores, with Delta and Psi(y') - Psi(y) by term."""
    intercept = bool(rng.integers(2))
    shift = rng.normal(size=2) * rng.integers(2)
    if name == "classes":
        hinge, labels = random_classes(rng, 5, 3)
        X = rng.normal(size=(5, 2))
        rows = [slice(i, i + 1) for i in range(5)]
        n_columns = 3
    else:
        lengths = [3, 4, 3]
        n_columns = 1
        lists = RankingLists(lengths)
        X = rng.normal(size=(10, 2))
        measure, of_classes, y, _ = random_term(rng, name, 3)
        while True:  # one measure for all lists
            y = rng.integers(0, 2, 10).astype(float)
            parts = np.split(y, [3, 7])
            if all(0 < part.sum() < len(part) for part in parts):
                break
        rows = [slice(0, 3), slice(3, 7), slice(7, 10)]
        if name == "kendall":
            labels = [labels_of_pairs(part, True) for part in parts]
        elif name == "ndcg":
            measure = "ndcg@2"
            labels = [labels_of_places(part, 2, "linear") for part in parts]
        else:
            labels = [labels_of_counts(part, "f", None, measure.beta) for part in parts]
        measure, kind = resolve_hinge(measure, of_classes=of_classes)
        hinge = kind(y, lists, measure=measure)
    n_terms = len(labels)
    weights = rng.uniform(0.5, 2.0, n_terms)
    problem = HingeProblem(
        X, hinge, weights, n_columns, intercept=intercept, shift=shift
    )
    features = X - shift
    if intercept:
        features = np.column_stack([features, np.ones(len(X))])
    by_hand = []
    for one, part in zip(labels, rows, strict=True):
        # Sum over rows of psi (row, column) times the features of the row.
        psi = one.psi.reshape(len(one.psi), -1, n_columns)
        big = np.einsum("nic,ip->ncp", psi, features[part])
        by_hand.append(Labels(one.delta, big.reshape(len(psi), -1)))
    return problem, by_hand, features, weights


def linear_problems(rng):
    """F, its slope, Delta, its parts and rho, by enumeration of Psi(x, y') - Psi(x, y)."""
    for name in ("classes", "kendall", "ndcg", "f"):
        for _ in range(3):
            problem, labels, features, weights = random_problem(rng, name)
            n = len(labels)
            w = rng.normal(size=problem.size)
            found = problem.worst(w)
            every = [one.values(w) for one in labels]
            worst = [int(values.argmax()) for values in every]
            slopes = np.array([labels[t].psi[worst[t]] for t in range(n)])
            delta = np.array([labels[t].delta[worst[t]] for t in range(n)])
            values = np.array([values.max() for values in every])
            assert_close(found.value, weights @ values)
            assert_close(found.slope, weights @ slopes)
            assert_close(found.cost, weights @ delta)
            assert_close(problem.squared_norms(), (features**2).sum(axis=1))
            # Parts, terms and batches.
            part = np.arange(n) % 2
            of_parts = problem.worst_of_parts(w, part)
            for p in range(2):
                own = (part == p) * weights
                assert_close(of_parts[0][p], own @ values)
                assert_close(of_parts[1][p], own @ slopes)
            some = problem.subset(np.array([2, 0]))
            assert_close(some.worst(w).value, weights[[2, 0]] @ values[[2, 0]])
            batches = problem.batches(2)
            assert_close(sum(one.worst(w).value for one in batches), found.value)
            assert_close(sum(one.worst(w).slope for one in batches), found.slope)
            # rho is above |Psi(x, y') - Psi(x, y)| of all labels of all terms.
            bounds = problem.slopes_of_terms()
            for bound, one in zip(bounds, labels, strict=True):
                assert np.linalg.norm(one.psi, axis=1).max() <= bound + 1e-12
            assert_close(problem.largest_slope(), bounds.max())
            if not problem.is_smooth:
                continue
            for gamma in (0.05, 0.5):
                # A convex combination of labels: a lower bound of F everywhere.
                soft = problem.soft(w, gamma)
                assert_close(soft.exact, found.value)
                for other in rng.normal(size=(5, problem.size)) * 3:
                    there = problem.worst(other).value
                    assert soft.cost + soft.slope @ other <= there + 1e-9
                step = 1e-5 * rng.normal(size=problem.size)
                ends = [problem.soft(w + sign * step, gamma).value for sign in (1, -1)]
                assert_close(ends[0] - ends[1], 2 * soft.slope @ step, atol=1e-11)


def lower_bounds(rng):
    """The dual value d - |g|^2 / (2 alpha) is below the minimum, and reaches it."""
    for name in ("classes", "kendall", "f"):
        problem, labels, _, _ = random_problem(rng, name)
        # Enough penalty that zero weights have one worst label in each term: then the
        # minimum is at w = -g / alpha, and F is linear between.
        tangent = problem.worst(np.zeros(problem.size))
        ahead = min(
            np.diff(np.sort(one.values(np.zeros(problem.size)))[-2:])[0]
            for one in labels
        )
        if ahead < 1e-3:  # several labels are worst
            continue
        largest = max(np.abs(one.psi).max() for one in labels)
        alpha = 4 * largest * np.abs(tangent.slope).sum() / ahead
        w = -tangent.slope / alpha
        best = Best(problem, alpha, 1e-6)
        assert_close(best.objective, tangent.value)
        best.evaluate(w)
        assert_close(best.w, w)
        assert_close(best.objective, alpha / 2 * w @ w + problem.worst(w).value)
        assert_close(best.lower, best.objective)
        assert best.gap <= 1e-9


def chains(rng):
    """Labels of sequences: worst, parts, smooth and rho by enumeration."""
    lengths = [3, 1, 2]
    lists = RankingLists(lengths)
    q = 3
    X = rng.normal(size=(6, 2))
    y = rng.integers(0, q, 6)
    weights = rng.uniform(0.5, 2.0, 3)
    intercept = bool(rng.integers(2))
    hinge = ListHinge(y, lists, n_items=None)
    problem = ChainProblem(X, hinge, weights, q, intercept=intercept)
    features = np.column_stack([X, np.ones(6)]) if intercept else X

    def big(rows, letters):
        pairs = np.zeros((q, q))
        for before, after in pairwise(letters):
            pairs[before, after] += 1
        own = np.eye(q)[list(letters)].T @ features[rows]
        return np.append(own, pairs)

    labels = []
    for start, length in zip(lists.starts, lengths, strict=True):
        rows = slice(start, start + length)
        every = list(product(range(q), repeat=length))
        delta = [(np.array(letters) != y[rows]).sum() for letters in every]
        psi = [big(rows, letters) - big(rows, y[rows]) for letters in every]
        labels.append(Labels(np.array(delta, float), np.array(psi)))
    w = rng.normal(size=problem.size)
    worst = [int(one.values(w).argmax()) for one in labels]
    delta = np.array([one.delta[n] for one, n in zip(labels, worst, strict=True)])
    slopes = np.array([one.psi[n] for one, n in zip(labels, worst, strict=True)])
    values = delta + slopes @ w
    found = problem.worst(w)
    assert_close(found.value, weights @ values)
    assert_close(found.slope, weights @ slopes)
    assert_close(found.cost, weights @ delta)
    part = np.array([0, 1, 0])
    of_parts = problem.worst_of_parts(w, part)
    for p in range(2):
        own = (part == p) * weights
        assert_close(of_parts[0][p], own @ values)
        assert_close(of_parts[1][p], own @ slopes)
    whole = problem.worst_of_parts(w, np.zeros(3, dtype=int))
    assert_close(whole[1][0], found.slope)
    for bound, one in zip(problem.slopes_of_terms(), labels, strict=True):
        assert np.linalg.norm(one.psi, axis=1).max() <= bound + 1e-12
    gamma = rng.uniform(0.1, 1.5)
    soft = problem.soft(w, gamma)
    value, cost, slope = 0.0, 0.0, np.zeros(problem.size)
    for weight, one in zip(weights, labels, strict=True):
        z = one.values(w) / gamma
        p = softmax(z)
        value += weight * gamma * logsumexp(z)
        cost += weight * p @ one.delta
        slope += weight * p @ one.psi
    assert_close(soft.value, value)
    assert_close(soft.cost, cost)
    assert_close(soft.slope, slope)


def features_of_zeros(rng):
    """Without features the steps of section 17.2.5 leave zero weights; rho may be 1."""
    y = np.array([0, 1, 2])
    hinge = ClassHinge(y, 1.0 - np.eye(3))
    nothing = HingeProblem(np.zeros((3, 2)), hinge, np.ones(3), 3)
    assert_close(published_sgd(nothing, 1.0, 5, np.random.RandomState(0)), np.zeros(6))
    half = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0]])
    problem = HingeProblem(half, hinge, np.ones(3), 3)
    assert problem.largest_slope() == 1.0
    radius = rng.uniform(0.5, 2.0)
    found = published_sgd(problem, radius, 1, np.random.RandomState(0))
    assert_close(found, np.zeros(6))  # the mean of w_1 = 0
    assert published_sgd(problem, radius, 3, np.random.RandomState(0)).any()


def transport(rng):
    """Long lists: the hinge of NDCG at k is the linear program (17.10), with ties."""
    for _ in range(3):
        r = int(rng.integers(5, 9))
        k = int(rng.integers(1, r + 1))
        y = rng.integers(0, 3, r).astype(float)
        y[0] = 2.0
        s = random_scores(rng, r) * 0.1
        places = np.arange(1, r + 1)
        discount = (places <= k) / np.log2(1 + places)
        ideal = np.sort(y)[::-1] @ discount
        profit = np.outer(s, r + 1 - places) - np.outer(y / ideal, discount)
        rows = np.kron(np.eye(r), np.ones(r))
        columns = np.kron(np.ones(r), np.eye(r))
        found = linprog(
            -profit.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.ones(2 * r)
        )
        value = 1 - found.fun - rankdata(y) @ s
        measure, hinge = resolve_hinge(f"ndcg@{k}")
        (own,), _ = hinge(y, RankingLists([r]), measure=measure).worst(s[:, np.newaxis])
        assert_close(own, value, atol=1e-7)
