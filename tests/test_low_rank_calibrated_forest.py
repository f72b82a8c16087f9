"""The forest of classes: its probabilities are honest, and each tree is fitted once."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from lowrank_rank import LowRankSurrogateClassifier

from .internals import CalibratedForest


def draw(seed, n_rows=200, n_classes=3):
    """Features and noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    scores = X @ np.random.default_rng(9).normal(size=(4, n_classes))
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def sigmoids_by_hand(votes, is_class):
    """Platt's sigmoid of each class: each row is positive for a part of its weight."""
    n_positive = is_class.sum()
    n_negative = len(is_class) - n_positive
    fraction = np.where(
        is_class, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    )
    model = LogisticRegression(C=1e8, tol=1e-10, max_iter=10_000)
    return model.fit(
        np.r_[votes, votes][:, np.newaxis],
        np.repeat([1, 0], len(votes)),
        sample_weight=np.r_[fraction, 1 - fraction],
    )


def test_probabilities_are_sigmoids_of_votes_out_of_the_bootstraps():
    X, y = draw(0)
    model = CalibratedForest(random_state=0).fit(X, y)
    of_rows, of_new = np.zeros((200, 3)), np.zeros((50, 3))
    new = draw(1, 50)[0]
    for kind, forest in zip(
        (RandomForestClassifier, ExtraTreesClassifier), model.forests_, strict=True
    ):
        by_hand = kind(
            50, bootstrap=True, oob_score=True, random_state=forest.random_state
        ).fit(X, y)
        of_rows += by_hand.oob_decision_function_ / 2
        of_new += by_hand.predict_proba(new) / 2
    wanted = np.column_stack(
        [
            sigmoids_by_hand(of_rows[:, c], y == c).predict_proba(of_new[:, [c]])[:, 1]
            for c in range(3)
        ]
    )
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-3)
    assert (model.predict(new) == wanted.argmax(axis=1)).all()


def test_log_loss_of_held_out_digits_is_not_worse_than_of_five_forests():
    X, y = load_digits(return_X_y=True)
    train, new = slice(500), slice(500, 1500)
    forest = RandomForestClassifier(50, random_state=0)
    ours, five_forests, votes = (
        log_loss(y[new], model.fit(X[train], y[train]).predict_proba(X[new]))
        for model in (
            CalibratedForest(random_state=0),
            CalibratedClassifierCV(forest),
            CalibratedForest(calibrated=False, random_state=0),
        )
    )
    assert ours < five_forests
    assert ours < votes - 0.1


def test_each_tree_is_fitted_once(monkeypatch):
    fits = []
    fit = DecisionTreeClassifier._fit
    monkeypatch.setattr(
        DecisionTreeClassifier,
        "_fit",
        lambda self, *args, **options: fits.append(self) or fit(self, *args, **options),
    )
    X, y = draw(0, 60)
    CalibratedForest(random_state=0).fit(X, y)
    assert len(fits) == 100


def test_weights_times_a_number_change_nothing_and_zero_is_no_row():
    X, y = draw(0)
    new = draw(1, 50)[0]
    weights = np.arange(200) % 3 / 2
    model = CalibratedForest(random_state=0)
    found = clone(model).fit(X, y, weights).predict_proba(new)
    scaled = clone(model).fit(X, y, 1e6 * weights).predict_proba(new)
    np.testing.assert_allclose(scaled, found, rtol=1e-6)
    kept = weights > 0
    fewer = clone(model).fit(X[kept], y[kept], weights[kept]).predict_proba(new)
    np.testing.assert_array_equal(fewer, found)
    heavy = clone(model).fit(X, y, np.where(y == 2, 20.0, 1.0)).predict_proba(new)
    assert heavy[:, 2].mean() > found[:, 2].mean() + 0.2


def test_classes_that_bootstraps_lack_have_probabilities():
    """A bootstrap lacks the only row of a class with probability 1/e."""
    X, y = draw(0, 40)
    y[0] = 7
    model = CalibratedForest(random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert 0 < p[:, 3].mean() < 0.2


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_and_one_class(n_rows):
    X, y = np.arange(n_rows)[:, np.newaxis], np.arange(n_rows) % 2
    p = CalibratedForest(random_state=0).fit(X, y).predict_proba([[0.0], [9.0]])
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    one = CalibratedForest(random_state=0).fit(X, np.zeros(n_rows))
    assert one.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_rows_in_every_bootstrap_have_even_votes():
    """With two trees there are such rows, and the probabilities remain numbers."""
    X, y = draw(0, 30)
    model = CalibratedForest(2, random_state=0).fit(X, y)
    votes = np.zeros((30, 3))
    for half in model.forests_:
        by_hand = clone(half).set_params(oob_score=True)
        with pytest.warns(UserWarning, match="do not have OOB scores"):
            votes += by_hand.fit(X, y).oob_decision_function_
    assert (votes.sum(axis=1) == 0).any()
    assert np.isfinite(model.predict_proba(X)).all()


def test_frames_sparse_matrices_and_gaps():
    X, y = draw(0)
    model = LowRankSurrogateClassifier(estimator="trees", random_state=0)
    wanted = clone(model).fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = clone(model).fit(frame, y)
    np.testing.assert_array_equal(named.predict_proba(frame), wanted)
    np.testing.assert_array_equal(
        clone(model).fit(csr_matrix(X), y).predict_proba(csr_matrix(X)), wanted
    )
    assert named.feature_importances_.shape == (4,)
    assert named.feature_importances_.sum() == pytest.approx(1.0)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert np.isfinite(clone(model).fit(gaps, y).predict_proba(gaps)).all()


def test_clones_copies_and_jobs_give_the_same_numbers():
    X, y = draw(0)
    names = np.array(["high", "low", "none"])[y]
    model = LowRankSurrogateClassifier(
        loss_matrix=[[0, 1, 5], [1, 0, 1], [5, 1, 0]],
        classes=["none", "low", "high"],
        estimator="trees",
        random_state=0,
    )
    fitted = clone(model).fit(X, names)
    p = fitted.predict_proba(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), p)
    parallel = clone(model).set_params(n_jobs=2).fit(X, names)
    np.testing.assert_array_equal(parallel.predict_proba(X), p)
    assert [forest.n_jobs for forest in parallel.estimator_.forests_] == [None, None]
    assert (clone(fitted).fit(X, names).predict(X) == fitted.predict(X)).all()
    other = clone(model).set_params(random_state=1).fit(X, names)
    assert not np.array_equal(other.predict_proba(X), p)


def test_a_copy_of_the_model_has_no_number_for_each_row():
    X, y = draw(0, 400)
    model = CalibratedForest(random_state=0).fit(X > 0, y)
    many = CalibratedForest(random_state=0).fit(
        np.repeat(X > 0, 8, axis=0), np.repeat(y, 8)
    )
    small, large = (len(pickle.dumps(one)) for one in (model, many))
    assert large < 1.2 * small
