"""StructuredHingeClassifier: classes with costs, the batch perceptron."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from lowrank_rank import LowRankSurrogateClassifier
from lowrank_rank.structured import StructuredHingeClassifier

from .refusals import refused_by


def test_the_0_1_loss_is_crammer_and_singer():
    """The objective of the quadratic program with a slack for each row, from their paper.

    LinearSVC solves the same, but liblinear as scikit-learn 1.6 has it fails to converge now and
    then.
    """
    X, y = load_iris(return_X_y=True)
    X, y = np.column_stack([X, np.ones(150)])[::5], y[::5]
    ours = StructuredHingeClassifier(alpha=0.01, standardize=False, tol=1e-6).fit(
        X[:, :-1], y
    )

    def hinges(weights):
        scores = X @ weights.reshape(5, 3)
        return scores + 1 - np.eye(3)[y] - scores[np.arange(30), y][:, np.newaxis]

    found = minimize(
        lambda z: 0.005 * z[:15] @ z[:15] + z[15:].mean(),
        np.r_[np.zeros(15), np.ones(30)],
        jac=lambda z: np.r_[0.01 * z[:15], np.full(30, 1 / 30)],
        constraints={
            "type": "ineq",
            "fun": lambda z: (z[15:, np.newaxis] - hinges(z[:15])).ravel(),
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    assert_allclose(ours.objective_, found.fun, rtol=1e-5)
    weights = np.column_stack([ours.coef_, ours.intercept_]).T
    penalty = 0.005 * np.sum(weights**2)
    assert_allclose(ours.objective_, penalty + hinges(weights).max(axis=1).mean())


def test_costs_and_an_abstention():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=400) > 0, "yes", "no")
    costs = [[0, 5, 1], [5, 0, 1]]
    model = StructuredHingeClassifier(
        loss_matrix=costs, classes=["no", "yes"], decisions=["no", "yes", "abstain"]
    ).fit(X, y)
    found = model.predict(X)
    assert {"no", "yes"} <= set(found) <= {"no", "yes", "abstain"}
    mean = np.mean(
        [
            costs[int(a == "yes")][["no", "yes", "abstain"].index(b)]
            for a, b in zip(y, found, strict=True)
        ]
    )
    assert_allclose(model.score(X, y), 1 - mean)
    assert mean < 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"loss_matrix": [[1, 2, 1], [1, 0, 1], [1, 1, 0]]},
            "class 0 costs 1 for itself|for itself",
        ),
        (
            {"loss_matrix": [[0, 1], [1, 0], [1, 1]], "decisions": [0, 1]},
            "not among the decisions",
        ),
        ({"loss_matrix": -np.ones((3, 3)) + np.eye(3)}, "takes costs >= 0"),
        ({"loss_matrix": [[0, 1], [1, 0]]}, "2 rows but y holds 3 labels"),
    ],
)
def test_costs_that_do_not_fit_are_refused(params, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        StructuredHingeClassifier(**params).fit(X, y)


def test_one_class_and_unknown_labels_are_refused():
    X, y = load_iris(return_X_y=True)
    with refused_by("one class"):
        StructuredHingeClassifier().fit(X, np.zeros(150))
    model = StructuredHingeClassifier().fit(X, y)
    with refused_by("label of no class"):
        model.score(X, np.full(150, 7))


def test_example_17_1_one_versus_all_fails_and_the_multivector_does_not(seed):
    centers = [[-3.0, 0.0], [0.0, 0.0], [3.0, 0.0]]
    X, y = make_blobs(
        [80, 40, 80],
        centers=np.add(centers, [[0, 0], [0, 1], [0, 0]]),
        cluster_std=0.3,
        random_state=seed,
    )
    assert StructuredHingeClassifier(alpha=1e-3).fit(X, y).score(X, y) == 1.0


def test_the_perceptron_makes_no_more_mistakes_than_its_bound():
    X, y = make_blobs(120, centers=3, cluster_std=0.6, random_state=2)
    model = StructuredHingeClassifier(solver="perceptron", standardize=False).fit(X, y)
    assert model.score(X, y) == 1.0
    constant = np.column_stack([X, np.ones(120)])
    other = StructuredHingeClassifier(alpha=1e-5, standardize=False).fit(X, y)
    coef = np.column_stack([other.coef_, other.intercept_])
    scores, own = constant @ coef.T, np.eye(3, dtype=bool)[y]
    margin = (scores[own] - np.where(own, -np.inf, scores).max(axis=1)).min()
    assert margin > 0
    radius, norm = np.linalg.norm(constant, axis=1).max(), np.linalg.norm(coef) / margin
    assert model.n_iter_ <= 2 * (norm * radius) ** 2 < np.inf
    X, y = make_blobs(120, centers=3, cluster_std=5.0, random_state=2)
    wrong = []
    for max_iter in (5, 20, 80):
        model = StructuredHingeClassifier(solver="perceptron", max_iter=max_iter)
        with pytest.warns(ConvergenceWarning, match="never converges"):
            wrong.append(model.fit(X, y).objective_)
        assert 1.0 - model.score(X, y) == pytest.approx(wrong[-1])
    assert wrong == sorted(wrong, reverse=True)  # the best weights on the way are kept


def test_steps_over_calls_know_all_classes():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order] - X.mean(axis=0), y[order]
    model = StructuredHingeClassifier(solver="sgd", alpha=0.01)
    for _ in range(30):
        model.partial_fit(X[:75], y[:75], classes=[0, 1, 2]).partial_fit(X[75:], y[75:])
    assert model.score(X, y) > 0.8
    with refused_by("other classes than before"):
        model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("solver", ["lbfgs", "cutting_plane", "sgd"])
def test_a_row_of_weight_2_is_the_row_twice(solver):
    X, y = (part[::4] for part in load_iris(return_X_y=True))
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y))
    twice = rng.permutation(np.repeat(np.arange(len(y)), weights))
    settings = {
        "alpha": 0.1,
        "tol": 0.05,
        "max_iter": 30,
    }  # the penalty holds back some rows
    model = StructuredHingeClassifier(solver=solver, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = clone(model).fit(X, y, sample_weight=weights)
        repeated = clone(model).fit(X[twice], y[twice])
        once = clone(model).fit(X, y)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert not np.allclose(weighted.coef_, once.coef_, rtol=1e-4)


def test_weights_of_steps_over_calls_count():
    X = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    y, weights = np.array([0, 1, 0, 1]), np.array([9.0, 1.0, 1.0, 9.0])
    model = StructuredHingeClassifier(solver="sgd", alpha=0.1)
    for _ in range(30):
        model.partial_fit(X, y, sample_weight=weights)
    assert model.predict([[1.0], [-1.0]]).tolist() == [0, 1]


def soft_labels(sharpness, n_classes=20, seed=0):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(3000, 10)), rng.normal(size=(10, n_classes))
    scores = sharpness * X @ W
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def test_zero_weights_are_told():
    """No class has a probability above one half: all scores equal are the minimum."""
    X, y = soft_labels(0.4)
    model = StructuredHingeClassifier()
    with pytest.warns(
        UserWarning, match="minimum at zero weights.*LowRankSurrogateClassifier"
    ):
        model.fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) < 0.1
    other = LowRankSurrogateClassifier().fit(X[:2000], y[:2000])
    assert other.score(X[2000:], y[2000:]) > 0.2
    StructuredHingeClassifier().fit(*soft_labels(3.0))  # silent


def test_a_constant_decision_that_costs_less_is_told():
    """Of two classes the hinge decides for the likelier one, whatever the costs."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), np.where(rng.random(1000) < 0.3, "ill", "well")
    costs = pd.DataFrame([[0.0, 10.0], [1.0, 0.0]], index=["ill", "well"])
    with pytest.warns(UserWarning, match="'ill'.*LowRankSurrogateClassifier") as told:
        model = StructuredHingeClassifier(loss_matrix=costs).fit(X, y)
    best, own = (
        np.mean(y == "well"),
        10.0 * np.mean((y == "ill") & (model.predict(X) == "well")),
    )
    own += np.mean((y == "well") & (model.predict(X) == "ill"))
    assert re.search(f"cost {own:.4g} on .*cost {best:.4g}. ", str(told[0].message))
    assert (
        LowRankSurrogateClassifier(loss_matrix=costs).fit(X, y).score(X, y)
        >= 1.0 - best
    )
    weights = np.where(y == "ill", 10.0, 1.0)  # costs of rows: nothing to tell
    StructuredHingeClassifier().fit(X, y, sample_weight=weights)
    X[y == "ill"] += 3.0
    StructuredHingeClassifier(loss_matrix=costs).fit(X, y)


def test_six_bits_with_both_labels_in_many_cells():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (8000, 6)).astype(float)
    chance = expit(X @ [2.0, -1.5, 1.0, 0.7, -1.2, 0.3] - 0.5)
    y = (rng.random(8000) < chance).astype(int)
    for form in (np.asarray, sparse.csr_matrix):
        train, test = form(X[:4000]), form(X[4000:])
        ours = StructuredHingeClassifier().fit(train, y[:4000]).score(test, y[4000:])
        peer = LinearSVC(loss="hinge", random_state=0).fit(train, y[:4000])
        assert ours >= peer.score(test, y[4000:]) - 0.01
