"""`radius`: the SGD of section 17.2.5 of the book, for each structured hinge."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import structured_hinge

from .internals import row_codes

pytestmark = pytest.mark.filterwarnings("ignore:The hinge of:UserWarning")


class Case(NamedTuple):
    """An estimator with its data, and the terms of its hinge written out.

    `terms` are functions from w to the hinge of a term and its subgradient v, in the
    order of the draws; `rho` is the bound of ``|Psi(x, y') - Psi(x, y)|`` in the
    docstring, and `weights` is w of a fitted model.
    """

    estimator: object
    data: dict
    terms: list
    rho: float
    size: int
    weights: object


def norms(X):
    return np.linalg.norm(X, axis=1)


def of_classes(rng):
    """17.3: the multivector construction."""
    X, y = rng.normal(size=(12, 2)), rng.permutation(np.arange(12) % 3)
    codes = row_codes(X, y)
    order = np.argsort(codes)

    def term(x, label):
        def tangent(w):
            scores = w.reshape(3, 2) @ x + (np.arange(3) != label)
            worst = int(scores.argmax())
            v = np.zeros((3, 2))
            v[worst] += x
            v[label] -= x
            return scores[worst] - w.reshape(3, 2)[label] @ x, v.ravel()

        return tangent

    model = StructuredHingeClassifier(standardize=False, fit_intercept=False)
    terms = [term(X[i], y[i]) for i in order]
    rho = 2 * norms(X).max()
    return Case(model, {"X": X, "y": y}, terms, rho, 6, lambda m: m.coef_.ravel())


def of_pairs(rng):
    """Section 17.4: the mean over pairs of max(0, 1 - sign(y_i - y_j) <w, x_i - x_j>)."""
    X, qid = rng.normal(size=(24, 2)), np.repeat(np.arange(6), 4)
    y = np.concatenate([rng.permutation(4) for _ in range(6)]).astype(float)

    def term(x, grades):
        def tangent(w):
            value, v = 0.0, np.zeros(2)
            for i, j in itertools.combinations(range(4), 2):
                difference = np.sign(grades[i] - grades[j]) * (x[i] - x[j])
                if 1 - difference @ w > 0:
                    value += (1 - difference @ w) / 6
                    v -= difference / 6
            return value, v

        return tangent

    model = StructuredHingeRanker(standardize=False)
    terms = [term(X[qid == q], y[qid == q]) for q in range(6)]
    # An item has three of the six pairs.
    rho = max(norms(X[qid == q]).sum() * 3 / 6 for q in range(6))
    data = {"X": X, "y": y, "qid": qid}
    return Case(model, data, terms, rho, 2, lambda m: m.coef_)


def of_places(rng):
    """(17.8): all orders of four documents; Psi is divided by r^2 / 4 = 4."""
    X, qid = rng.normal(size=(24, 2)), np.repeat(np.arange(6), 4)
    y = np.concatenate([rng.permutation(4) for _ in range(6)]) + 1.0
    orders = np.array(list(itertools.permutations(range(1, 5))))
    discount = 1 / np.log2(4 - np.arange(1, 5) + 2)  # of places from the bottom

    def term(x, grades):
        own = np.argsort(np.argsort(grades)) + 1
        best = discount[own - 1] @ grades
        delta = 1 - discount[orders - 1] @ grades / best

        def tangent(w):
            psi = (orders - own) @ x / 4
            worst = int(np.argmax(delta + psi @ w))
            return delta[worst] + psi[worst] @ w, psi[worst]

        return tangent

    model = StructuredHingeRanker(target_loss="ndcg", standardize=False)
    terms = [term(X[qid == q], y[qid == q]) for q in range(6)]
    rho = max(norms(X[qid == q]).sum() * 3 / 4 for q in range(6))
    data = {"X": X, "y": y, "qid": qid}
    return Case(model, data, terms, rho, 2, lambda m: 4 * m.coef_)


def of_counts(rng):
    """(17.14): all label vectors of seven rows; Psi is divided by 2 P = 6."""
    X, y = rng.normal(size=(7, 2)), rng.permutation([1, 1, 1, 0, 0, 0, 0])
    signs = np.array(list(itertools.product([-1, 1], repeat=7)))
    a = (signs > 0) @ y
    b = (signs > 0) @ (1 - y)
    delta = 1 - 2 * a / (2 * a + b + (3 - a))
    psi = (signs - (2 * y - 1)) @ np.column_stack([X / 6, np.ones(7)])

    def tangent(w):
        values = delta + psi @ w
        # Several label vectors are worst at w = 0: the same one as in the package.
        scores = X @ w[:2] / 6 + w[2]
        found, slopes = structured_hinge("f1", y, scores)
        assert_allclose(found, values.max())
        v = slopes @ np.column_stack([X / 6, np.ones(7)])
        assert_allclose(values[(np.abs(psi - v) < 1e-9).all(axis=1)].max(), found)
        return values.max(), v

    model = StructuredHingeBinaryClassifier(standardize=False, threshold="hinge")
    rho = 2 * np.sqrt(norms(X / 6) ** 2 + 1).sum()
    return Case(
        model,
        {"X": X, "y": y},
        [tangent],
        rho,
        3,
        lambda m: np.append(6 * m.coef_[0], m.intercept_),
    )


def of_sequences(rng):
    """(17.4) and (17.5): all label sequences of three elements with two labels."""
    X, qid = rng.normal(size=(18, 2)), np.repeat(np.arange(6), 3)
    y = rng.integers(0, 2, 18)
    y[:2] = 0, 1
    every = np.array(list(itertools.product(range(2), repeat=3)))

    def features(x, labels):
        pairs = np.zeros((2, 2))
        np.add.at(pairs, (labels[:-1], labels[1:]), 1.0)
        return np.append(np.eye(2)[labels].T @ x, pairs)

    def term(x, labels):
        psi = np.array([features(x, other) for other in every]) - features(x, labels)
        delta = (every != labels).sum(axis=1)

        def tangent(w):
            worst = int(np.argmax(delta + psi @ w))
            return delta[worst] + psi[worst] @ w, psi[worst]

        return tangent

    model = StructuredHingeSequenceClassifier(fit_intercept=False)
    codes = row_codes(X, y).reshape(6, 3)
    order = np.lexsort(codes.T[::-1])
    terms = [term(X[qid == q], y[qid == q]) for q in order]
    # Two labels differ in each row, and in each of two transitions.
    rho = max(np.hypot(2 * norms(X[qid == q]).sum(), 2 * 2) for q in range(6))
    data = {"X": X, "y": y, "qid": qid}
    return Case(
        model,
        data,
        terms,
        rho,
        8,
        lambda m: np.append(m.coef_.ravel(), m.transitions_.ravel()),
    )


CASES = {
    "classes": of_classes,
    "pairs": of_pairs,
    "places": of_places,
    "counts": of_counts,
    "sequences": of_sequences,
}
every_case = pytest.mark.parametrize("name", CASES)


def book(case, radius, n_steps, seed):
    """Section 17.2.5: sample a term, find the worst label, step against v_t; the mean."""
    eta = np.sqrt(radius**2 / (case.rho**2 * n_steps))
    n_terms = len(case.terms)
    chances = np.full(n_terms, 1 / n_terms)
    draws = np.random.RandomState(seed).choice(n_terms, size=n_steps, p=chances)
    w, total = np.zeros(case.size), np.zeros(case.size)
    for term in draws:
        total += w
        _, v = case.terms[term](w)
        w = w - eta * v
    return total / n_steps


@every_case
def test_a_fit_is_the_loop_of_the_book(name, seed):
    case = CASES[name](np.random.default_rng(seed))
    model = case.estimator.set_params(radius=3.0, max_iter=60)
    if name != "counts":
        model.set_params(random_state=seed)
    model.fit(**case.data)
    assert_allclose(case.weights(model), book(case, 3.0, 60, seed), atol=1e-9)
    assert (model.solver_, model.n_iter_, model.alpha_) == ("published_sgd", 60, 0.0)
    assert np.isnan(model.dual_gap_)


def mean_hinge(case, w):
    found = [term(w) for term in case.terms]
    return np.mean([value for value, _ in found]), np.mean(
        [v for _, v in found], axis=0
    )


@every_case
def test_the_bound_of_corollary_17_2(name, seed):
    """The mean over draws is at most B rho / sqrt(T) above the least of |u| <= B."""
    radius, n_steps = 1.0, 100
    case = CASES[name](np.random.default_rng(seed))
    least = minimize(
        lambda u: mean_hinge(case, u),
        np.zeros(case.size),
        jac=True,
        constraints={"type": "ineq", "fun": lambda u: radius**2 - u @ u},
        method="SLSQP",
    ).fun
    model = case.estimator.set_params(radius=radius, max_iter=n_steps)
    values = []
    for draw in range(6):
        if name != "counts":
            model.set_params(random_state=draw)
        w = case.weights(model.fit(**case.data))
        assert all(np.linalg.norm(term(w)[1]) <= case.rho for term in case.terms)
        values.append(mean_hinge(case, w)[0])
    assert np.mean(values) <= least + radius * case.rho / np.sqrt(n_steps)


def test_another_solver_is_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    for model in (
        StructuredHingeRanker(radius=1.0, solver="sgd"),
        StructuredHingeBinaryClassifier(radius=1.0, solver="cutting_plane"),
        StructuredHingeClassifier(radius=1.0, solver="perceptron"),
        StructuredHingeSequenceClassifier(radius=1.0, solver="lbfgs"),
    ):
        with pytest.raises(ValueError, match="is another algorithm"):
            model.fit(X, y)
