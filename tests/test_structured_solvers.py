"""Solvers of structured hinges: reference optima, true gaps."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris

from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import structured_hinge

from .internals import row_codes
from .refusals import refused_by

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:The hinge of:UserWarning",
)

ALPHA = 0.05


def case(estimator, X, y, tangent, weights, **fit):
    """A data set, an estimator, the hinge at weights w, and the w of a fitted model."""
    return SimpleNamespace(
        estimator=estimator, X=X, y=y, tangent=tangent, weights=weights, fit=fit
    )


def tangent_of_scores(X, measure, y, qid, intercept=False):
    """The mean hinge of lists at linear scores, and its slope, as a function of w."""
    if intercept:
        X = np.column_stack([X, np.ones(len(X))])

    def tangent(w):
        values, slopes = structured_hinge(measure, y, X @ w, qid=qid)
        return values.mean(), X.T @ slopes / len(values)

    return tangent


def tangent_of_classes(X, y):
    def tangent(w):
        scores = X @ w.reshape(3, -1).T
        augmented = scores + 1 - np.eye(3)[y]
        worst = augmented.argmax(axis=1)
        every = np.arange(len(y))
        value = np.mean(augmented[every, worst] - scores[every, y])
        slopes = np.eye(3)[worst] - np.eye(3)[y]
        return value, (slopes.T @ X).ravel() / len(y)

    return tangent


def tangent_of_chains(X, y, parts):
    """All label sequences are enumerated; w has intercepts and then transitions."""
    X = np.column_stack([X, np.ones(len(X))])

    def features(rows, labels):
        pairs = np.zeros((3, 3))
        np.add.at(pairs, (labels[:-1], labels[1:]), 1.0)
        return np.append((np.eye(3)[labels].T @ X[rows]).ravel(), pairs.ravel())

    tables = []
    for rows in parts:
        every = itertools.product(range(3), repeat=rows.stop - rows.start)
        every = [np.array(labels) for labels in every]
        psi = np.array([features(rows, labels) for labels in every])
        delta = np.array([np.sum(labels != y[rows]) for labels in every])
        tables.append((psi - features(rows, y[rows]), delta))

    def tangent(w):
        value, slope = 0.0, np.zeros(len(w))
        for psi, delta in tables:
            worst = np.argmax(delta + psi @ w)
            value += delta[worst] + psi[worst] @ w
            slope += psi[worst]
        return value / len(y), slope / len(y)

    return tangent


def cases(seed=0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(24, 3)), np.repeat([0, 1, 2], [6, 8, 10])
    grades = (X @ [1.0, -1.0, 0.0] + rng.normal(size=24) > 0.5) + 1.0 * (X[:, 0] > 1)
    positive = (grades > 0).astype(int)
    classes = rng.integers(0, 3, 24)
    plain = {"alpha": ALPHA, "standardize": False}
    slope_size = np.mean([6**2, 8**2, 10**2]) / 4
    n_twice = 2 * positive.sum()
    n = 12
    chains, parts = np.repeat([0, 1, 2], [3, 4, 5]), [(0, 3), (3, 7), (7, 12)]
    parts = [slice(*part) for part in parts]
    return {
        "kendall": case(
            StructuredHingeRanker(target_loss="kendall", **plain),
            X,
            grades,
            tangent_of_scores(X, "kendall", grades, qid),
            lambda model: model.coef_,
            qid=qid,
        ),
        "ndcg": case(
            StructuredHingeRanker(target_loss="ndcg@4", **plain),
            X,
            grades,
            tangent_of_scores(X / slope_size, "ndcg@4", grades, qid),
            lambda model: model.coef_ * slope_size,
            qid=qid,
        ),
        "f1": case(
            StructuredHingeBinaryClassifier(threshold="hinge", **plain),
            X,
            positive,
            tangent_of_scores(X / n_twice, "f1", positive, None, intercept=True),
            lambda model: np.append(model.coef_ * n_twice, model.intercept_),
        ),
        "classes": case(
            StructuredHingeClassifier(fit_intercept=False, **plain),
            X,
            classes,
            tangent_of_classes(X, classes),
            lambda model: model.coef_.ravel(),
        ),
        "chains": case(
            StructuredHingeSequenceClassifier(alpha=ALPHA),
            X[:n],
            classes[:n],
            tangent_of_chains(X[:n], classes[:n], parts),
            lambda model: np.append(
                np.column_stack([model.coef_, model.intercept_]), model.transitions_
            ),
            qid=chains,
        ),
    }


NAMES = list(cases())
SMOOTH = ["kendall", "classes", "chains"]
STEPS = ["kendall", "ndcg", "classes", "chains"]


def solve(case, solver, *, container=np.asarray, **params):
    params = {"tol": 1e-7, "max_iter": 400, **params}
    case.estimator.set_params(solver=solver, **params)
    return case.estimator.fit(container(case.X), case.y, **case.fit)


def reference(case):
    """The objective at the optimum, by cutting planes and SLSQP in (w, slack)."""
    planes, w = [], np.zeros_like(case.weights(solve(case, "cutting_plane")))
    for _ in range(300):
        value, slope = case.tangent(w)
        planes.append((slope, value - slope @ w))
        slopes, costs = (np.array(p) for p in zip(*planes, strict=True))
        found = minimize(
            lambda v: ALPHA / 2 * v[:-1] @ v[:-1] + v[-1],
            np.append(w, max(costs + slopes @ w)),
            jac=lambda v: np.append(ALPHA * v[:-1], 1.0),
            constraints={
                "type": "ineq",
                "fun": lambda v: v[-1] - costs - slopes @ v[:-1],  # noqa: B023
                "jac": lambda v: np.column_stack([-slopes, np.ones(len(costs))]),  # noqa: B023
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        w = found.x[:-1]
        value = ALPHA / 2 * w @ w + case.tangent(w)[0]
        if value - found.fun < 1e-8:
            break
    return value


@pytest.mark.parametrize("name", NAMES)
def test_solvers_reach_the_reference_optimum(name, seed):
    case = cases(seed)[name]
    optimum = reference(case)
    fits = [("cutting_plane", {})]
    if name != "f1":  # one list; else a slack for each term, and one for all
        fits = [("cutting_plane", {"batch_size": size}) for size in (1, 2, 100)]
    if name in SMOOTH:
        fits.append(("lbfgs", {"tol": 1e-6, "max_iter": 2000}))
    fits = [(*fit, np.asarray) for fit in fits]
    for solver, params, container in [*fits, (*fits[0][:2], csr_matrix)]:
        model = solve(case, solver, container=container, **params)
        assert_allclose(model.objective_, optimum, rtol=2e-6)
        w = case.weights(model)
        value = ALPHA / 2 * w @ w + case.tangent(w)[0]
        assert_allclose(model.objective_, value)


@pytest.mark.parametrize("solver", ["lbfgs", "cutting_plane"])
@pytest.mark.parametrize("name", NAMES)
def test_the_gap_is_a_true_bound(name, solver):
    if solver == "lbfgs" and name not in SMOOTH:
        pytest.skip("no smooth form")
    case = cases()[name]
    optimum = solve(case, "cutting_plane", tol=1e-9).objective_
    for max_iter in (1, 3, 30):
        model = solve(case, solver, tol=1e-6, max_iter=max_iter)
        assert -1e-8 <= model.objective_ - optimum <= model.dual_gap_ + 1e-8
    at_zero, _ = case.tangent(np.zeros_like(case.weights(model)))
    model = solve(case, solver, tol=0.02, max_iter=2000)
    assert model.dual_gap_ <= 0.02 * at_zero


@pytest.mark.parametrize("name", ["kendall", "classes"])
def test_the_smooth_form_reaches_the_optimum_to_many_digits(name):
    """The minimisers of two stages are extrapolated to no smoothing."""
    case = cases()[name]
    exact = case.weights(solve(case, "cutting_plane", tol=1e-9))
    smooth = case.weights(solve(case, "lbfgs", tol=1e-8, max_iter=2000))
    assert_allclose(smooth, exact, atol=1e-4 * np.abs(exact).max())


@pytest.mark.parametrize("name", STEPS)
def test_steps_come_near_the_optimum(name):
    case = cases()[name]
    optimum = solve(case, "cutting_plane").objective_
    at_zero, _ = case.tangent(np.zeros_like(case.weights(case.estimator)))
    model = solve(case, "sgd", batch_size=1, random_state=0, max_iter=100)
    assert model.objective_ - optimum <= model.dual_gap_
    assert model.objective_ - optimum < 0.5 * (at_zero - optimum)
    model = clone(case.estimator)
    for _ in range(200):  # each a pass, in the same order
        model.partial_fit(case.X, case.y, **case.fit)
    w = case.weights(model)
    objective = ALPHA / 2 * w @ w + case.tangent(w)[0]
    assert -1e-8 <= objective - optimum < 0.1 * (at_zero - optimum)


def test_steps_stop_where_the_objective_no_longer_falls():
    case = cases()["classes"]
    passes = [
        solve(case, "sgd", batch_size=1, random_state=0, tol=tol, max_iter=500).n_iter_
        for tol in (0.05, 1e-4)
    ]
    assert 5 < passes[0] < passes[1] < 500


# SGD as published -------------------------------------------------------------------


def book_loop(X, y, n_classes, radius, n_steps, seed, chances):
    """Section 17.2.5, word for word, with a joint feature vector for each class."""

    def psi(x, label):
        blocks = np.zeros((n_classes, len(x)))
        blocks[label] = x
        return blocks.ravel()

    rho = 2 * max(np.linalg.norm(psi(x, 0)) for x in X)
    eta = np.sqrt(radius**2 / (rho**2 * n_steps))
    w = np.zeros(n_classes * X.shape[1])
    iterates = []
    draws = np.random.RandomState(seed).choice(len(y), size=n_steps, p=chances)
    for row in draws:
        iterates.append(w)
        scores = [
            (label != y[row]) + w @ (psi(X[row], label) - psi(X[row], y[row]))
            for label in range(n_classes)
        ]
        v = psi(X[row], int(np.argmax(scores))) - psi(X[row], y[row])
        w = w - eta * v
    return np.mean(iterates, axis=0)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_published_sgd_is_the_loop_of_the_book(intercept, container, seed):
    X, y = load_iris(return_X_y=True)
    model = StructuredHingeClassifier(
        radius=3.0,
        standardize=False,
        fit_intercept=intercept,
        max_iter=400,
        random_state=seed,
    ).fit(container(X), y)
    # The estimator sorts distinct rows; one pair of rows of iris is equal.
    order = row_codes(X, y)
    rows = np.array([np.flatnonzero(order == code)[0] for code in np.unique(order)])
    copies = np.bincount(order)
    assert copies.max() == 2
    rows = X[rows], y[rows]
    full = np.column_stack([rows[0], np.ones(len(rows[0]))]) if intercept else rows[0]
    w = book_loop(full, rows[1], 3, 3.0, 400, seed, copies / copies.sum())
    w = w.reshape(3, -1)
    assert_allclose(model.coef_, w[:, :4], atol=1e-12)
    if intercept:
        assert_allclose(model.intercept_, w[:, 4], atol=1e-12)
    assert (model.solver_, model.n_iter_, model.alpha_) == ("published_sgd", 400, 0.0)
    # One parameter, near the least hinge: .3 here, and 1 at zero weights.
    assert model.objective_ < 0.75


def test_published_sgd_keeps_the_bound_of_corollary_17_2(seed):
    """The mean over draws is at most B rho / sqrt(T) above the best of |u| <= B."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = (X + 0.5 * rng.normal(size=X.shape)).argmax(axis=1)
    tangent = tangent_of_classes(X, y)
    rho = 2 * np.linalg.norm(X, axis=1).max()
    for radius, n_steps in ((1.0, 100), (3.0, 400)):
        found = minimize(
            lambda u: tangent(u)[0],
            np.zeros(9),
            jac=lambda u: tangent(u)[1],
            constraints={"type": "ineq", "fun": lambda u: radius**2 - u @ u},  # noqa: B023
            method="SLSQP",
        )
        model = StructuredHingeClassifier(
            radius=radius, standardize=False, fit_intercept=False, max_iter=n_steps
        )
        values = []
        for draw in range(6):
            w = model.set_params(random_state=draw).fit(X, y).coef_.ravel()
            values.append(tangent(w)[0])
            assert_allclose(model.objective_, values[-1])
        bound = radius * rho / np.sqrt(n_steps)
        assert found.fun + bound < 1.6
        assert found.fun - 1e-6 <= np.mean(values) <= found.fun + bound
        assert np.mean(values) < 0.9  # zero weights have 1


def test_published_sgd_is_no_other_solver():
    X, y = load_iris(return_X_y=True)
    with refused_by("solver beside radius"):
        StructuredHingeClassifier(radius=1.0, solver="sgd").fit(X, y)
