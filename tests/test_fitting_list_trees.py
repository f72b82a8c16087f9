"""scikit-learn's histogram trees under derivatives of our own."""

import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from .internals import ListLoss, fit_list_trees, read_lists, resolve_target_loss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4)).round(1)
Y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * RNG.normal(size=500)
Y -= Y.mean()  # scikit-learn's trees begin at the mean, ours at 0


def trees(**params):
    given = {"max_iter": 20, "early_stopping": False, "random_state": 0, **params}
    return HistGradientBoostingRegressor(**given)


def test_the_squared_loss_gives_scikit_learns_own_trees():
    seen = []

    def derivatives(s):
        seen.append(s.copy())
        return s - Y, np.ones(500)

    ours = fit_list_trees(trees(), X, derivatives)
    assert_allclose(ours.predict(X), trees().fit(X, Y).predict(X), atol=1e-6)
    assert len(seen) == 20
    assert_array_equal(seen[0], np.zeros(500))
    for scores, stage in zip(seen[1:], ours.staged_predict(X), strict=False):
        assert_allclose(scores, stage, atol=1e-12)  # in the order of the rows


@pytest.mark.parametrize("name", ["lambdarank", "cross_entropy", "pairwise_logistic"])
def test_each_tree_is_a_newton_step(name):
    """scikit-learn's own next tree under squared loss, of targets s - g / h with the weights h."""
    qid = RNG.integers(0, 40, 500)  # no list stands together
    grades, weights = (
        np.digitize(Y, [0.0, 0.7]).astype(float),
        RNG.uniform(0.5, 2.0, 500),
    )
    measure, lists = resolve_target_loss("ndcg@10"), read_lists(qid)
    derivatives = ListLoss(name, measure, grades, weights, lists)
    for n_trees in (2, 10):
        ours = fit_list_trees(trees(max_iter=n_trees), X, derivatives)
        s = ours.predict(X)
        gradient, curvature = derivatives(s)
        step = copy.deepcopy(ours).set_params(warm_start=True, max_iter=n_trees + 1)
        step.fit(X, s - gradient / curvature, sample_weight=curvature)
        more = fit_list_trees(trees(max_iter=n_trees + 1), X, derivatives).predict(X)
        assert_allclose(more, step.predict(X), atol=1e-10)
        assert np.abs(more - s).max() > 1e-3


def test_fitted_trees_keep_none_of_the_rows():
    ours = fit_list_trees(trees(), X, lambda s: (s - Y, np.ones(500)))
    expected = ours.predict(X)
    assert ours.loss == "squared_error"
    for again in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert_array_equal(again.predict(X), expected)
    plain = trees().fit(X, Y)
    assert len(pickle.dumps(ours)) < 1.1 * len(pickle.dumps(plain))
    assert clone(ours).get_params() == plain.get_params()
    longer = fit_list_trees(
        ours.set_params(warm_start=True, max_iter=30),
        X,
        lambda s: (s - Y, np.ones(500)),
    )
    at_once = fit_list_trees(trees(max_iter=30), X, lambda s: (s - Y, np.ones(500)))
    assert_allclose(longer.predict(X), at_once.predict(X), atol=1e-12)


def test_the_loss_is_free_after_the_fit():
    class Derivatives:
        def __call__(self, s):
            return s - Y, np.ones(500)

    derivatives = Derivatives()
    alive = weakref.ref(derivatives)
    ours = fit_list_trees(trees(max_iter=1), X, derivatives)
    del derivatives
    gc.collect()
    assert alive() is None
    assert len(ours.predict(X)) == 500


def test_a_scikit_learn_without_the_private_class_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn._loss.loss", None)
    with pytest.raises(
        ImportError, match=r"sklearn._loss.loss.*WrappedRanker\(LGBMRanker"
    ):
        fit_list_trees(trees(), X, lambda s: (s, s))
