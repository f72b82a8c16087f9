"""OrderPreservingRegressor: the objective it minimises, layouts, weights, links, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    ranking_target,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.surrogates import (
    SURROGATES,
    Surrogate,
)

from .reference import dcg
from .surrogate_cases import BY_HAND, PAIRWISE

every_surrogate = pytest.mark.parametrize("name", SURROGATES)
OF_UTILITIES = [name for name in SURROGATES if SURROGATES[name].of_utilities]
LINKED = [name for name in SURROGATES if type(SURROGATES[name]).utility is not Surrogate.utility]


@pytest.fixture(scope="module")
def documents():
    """Ragged lists under strings, rows in any order, one list without relevant items."""
    X, y, qid = make_ranking(25, (1, 8), n_features=3, random_state=0)
    y[qid == 3] = 0.0
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], np.array([f"q{q}" for q in qid])[order]


@pytest.fixture(scope="module")
def items():
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    return data.data, data.target


def row_weights(n, seed=1):
    w = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    w[::7] = 0.0
    return w


# The objective ------------------------------------------------------------------------


def utilities_of_ndcg(y, qid, w, k=None):
    """g Z_mean / Z, with the weighted mean of the ideal DCG of the lists that have one."""
    ideal = {q: dcg(sorted(y[qid == q], reverse=True), k) for q in set(qid)}
    some = [q for q in ideal if ideal[q] > 0]
    mass = {q: w[qid == q].sum() for q in some}
    mean = sum(mass[q] * ideal[q] for q in some) / sum(mass.values())
    return np.array([g * mean / ideal[q] if g else 0.0 for g, q in zip(y, qid, strict=True)]), mean


def objective_by_hand(name, X, v, lists, w, alpha):
    """A function of coefficients (d, p + 1) of features as they came; w, v, lists (n, d)."""
    share = w.max(axis=1) / w.max(axis=1).sum()
    deviation = np.sqrt(share @ (X - share @ X) ** 2)
    eta = 1.5 * v[w > 0].max()
    total = (w * v).sum() if name in OF_UTILITIES else w.sum()
    places = [np.nonzero(lists == q) for q in np.unique(lists)]

    def objective(theta):
        scores, value = X @ theta[:, :-1].T + theta[:, -1], 0.0
        for at in places:
            if w[at].sum() > 0:
                one = BY_HAND[name](v[at], scores[at], w[at], eta)
                value += one / w[at].sum() if name in PAIRWISE else one
        return value / total + alpha / 2 * ((theta[:, :-1] * deviation) ** 2).sum()

    return objective


def assert_minimal(ranker, objective, intercept=True, h=1e-5):
    theta = np.column_stack([np.atleast_2d(ranker.coef_), np.atleast_1d(ranker.intercept_)])
    assert objective(theta) == pytest.approx(ranker.loss_, rel=1e-9)
    for place in np.ndindex(theta.shape):
        if place[1] == theta.shape[1] - 1 and not intercept:
            assert theta[place] == 0.0
            continue
        step = np.zeros(theta.shape)
        step[place] = h
        slope = (objective(theta + step) - objective(theta - step)) / (2 * h)
        assert abs(slope) < 1e-6, (place, slope)
        assert objective(theta + 1000 * step) > ranker.loss_ - 1e-12


@every_surrogate
@pytest.mark.parametrize("weighted", [False, True])
def test_optimal_on_documents(name, weighted, documents):
    X, y, qid = documents
    X = X * [1.0, 10.0, 0.3] + [0.0, 5.0, -1.0]
    w = row_weights(len(y)) if weighted else np.ones(len(y))
    w[qid == "q7"] = 1.0 - weighted
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="ndcg@4")
    ranker.fit(X, y, qid=qid, sample_weight=w if weighted else None)
    v, _ = utilities_of_ndcg(y, qid, w, 4)
    objective = objective_by_hand(name, X, v[:, None], qid[:, None], w[:, None], 0.1)
    assert_minimal(ranker, objective, intercept=not SURROGATES[name].shift_invariant)
    assert ranker.gradient_norm_ < 1e-7
    assert np.isscalar(ranker.intercept_)
    assert ranker.coef_.shape == (3,)


@every_surrogate
@pytest.mark.parametrize("missing", [False, True])
def test_optimal_on_fixed_items(name, missing, items):
    """NaN leaves the item out of that row's list."""
    X, y = items
    X, y = X[:25, :3], y[:25].copy()
    w = row_weights(25)
    each = np.tile(w[:, None], (1, 4))
    if missing:
        gaps = np.random.default_rng(2).uniform(size=y.shape) < 0.2
        y[gaps], each[gaps] = np.nan, 0.0
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="dcg").fit(X, y, sample_weight=w)
    lists = np.tile(np.arange(25)[:, None], (1, 4))
    v = np.nan_to_num(y)
    by_hand = objective_by_hand(name, X, v, lists, each, 0.1)
    if missing:  # a row's weight is that of its features
        assert np.all(each.max(axis=1) == w)
    assert_minimal(ranker, by_hand)
    assert ranker.coef_.shape == (4, 3)


@pytest.mark.parametrize("name", ["pointwise_squared", "cross_entropy"])
@pytest.mark.parametrize("layout", ["documents", "items"])
@pytest.mark.parametrize("sparse_X", [False, True])
def test_without_an_intercept(name, layout, sparse_X, documents, items):
    X, y, qid = (*items, None) if layout == "items" else documents
    ranker = OrderPreservingRegressor(
        surrogate=name, target_loss="dcg", fit_intercept=False, standardize=False
    ).fit(sparse.csr_matrix(X) if sparse_X else X, y, qid=qid)
    np.testing.assert_array_equal(ranker.intercept_, 0.0)
    v = y.reshape(len(y), -1)
    lists = np.tile(np.arange(len(y))[:, None], (1, v.shape[1])) if qid is None else qid[:, None]
    total = v.sum() if name in OF_UTILITIES else v.size
    theta = np.atleast_2d(ranker.coef_)

    def objective(coef):
        scores = X @ coef.T
        values = [
            BY_HAND[name](v[lists == q], scores[lists == q], np.ones(np.sum(lists == q)))
            for q in np.unique(lists)
        ]
        return sum(values) / total + 0.05 * (coef**2).sum()

    assert objective(theta) == pytest.approx(ranker.loss_)
    for place in np.ndindex(theta.shape):
        step = np.zeros(theta.shape)
        step[place] = 1e-5
        assert abs(objective(theta + step) - objective(theta - step)) < 2e-11


@pytest.mark.parametrize("name", ["pointwise_squared", "pairwise_squared"])
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.0}, {"standardize": False}])
def test_closed_form_is_the_iterative_solution(name, settings, documents, items):
    for X, y, qid in (documents, (*items, None)):
        X = X[:, :3]
        w = row_weights(len(y))
        closed, iterative = (
            OrderPreservingRegressor(
                surrogate=name, target_loss="dcg", solver=solver, tol=1e-11, **settings
            ).fit(X, y, qid=qid, sample_weight=w)
            for solver in ("auto", "lbfgs")
        )
        assert closed.n_iter_ == 1 < iterative.n_iter_
        assert closed.gradient_norm_ == 0.0
        np.testing.assert_allclose(closed.coef_, iterative.coef_, atol=1e-8)
        np.testing.assert_allclose(closed.intercept_, iterative.intercept_, atol=1e-8)
        assert closed.loss_ == pytest.approx(iterative.loss_, abs=1e-12)


@every_surrogate
def test_sparse_and_dense_agree(name, documents, items):
    for X, y, qid in (documents, (*items, None)):
        X = np.where(np.abs(X) < 0.3, 0.0, X)
        dense, thin = (
            OrderPreservingRegressor(surrogate=name, target_loss="dcg", tol=1e-10).fit(
                form, y, qid=qid
            )
            for form in (X, sparse.csr_matrix(X))
        )
        np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-8)
        np.testing.assert_allclose(dense.intercept_, thin.intercept_, atol=1e-8)
        np.testing.assert_allclose(dense.predict(X), thin.predict(sparse.csr_matrix(X)), atol=1e-7)


def test_pairwise_squared_is_the_centred_ridge(documents):
    X, y, qid = documents
    w = row_weights(len(y))
    ours = OrderPreservingRegressor(
        target_loss="ndcg@5", surrogate="pairwise_squared", alpha=0.3, standardize=False
    ).fit(X, y, qid=qid, sample_weight=w)
    ridge = LowRankSurrogateRanker(target_loss="ndcg@5", alpha=0.15 * w.sum())
    ridge.fit(X, y, qid=qid, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, atol=1e-10)


@every_surrogate
def test_scale_and_offset_of_features_do_not_matter_if_standardised(name, documents):
    X, y, qid = documents
    scale, offset = np.array([1e-3, 7.0, 200.0]), np.array([5.0, -3.0, 1e3])
    one, two = (
        OrderPreservingRegressor(surrogate=name).fit(form, y, qid=qid)
        for form in (X, X * scale + offset)
    )
    np.testing.assert_allclose(two.coef_ * scale, one.coef_, atol=1e-6)
    np.testing.assert_allclose(
        two.predict(X * scale + offset) - two.predict((X * scale + offset)[:1]),
        one.predict(X) - one.predict(X[:1]),
        atol=1e-6,
    )
    plain = OrderPreservingRegressor(surrogate=name, standardize=False).fit(X * scale, y, qid=qid)
    assert not np.allclose(plain.coef_ * scale, one.coef_, atol=1e-3)


def test_constant_features_have_no_coefficient(documents):
    X, y, qid = documents
    wide = np.column_stack([X, np.full(len(y), 7.3)])
    for form in (wide, sparse.csr_matrix(wide)):
        for name in ("cross_entropy", "pointwise_squared"):
            ranker = OrderPreservingRegressor(surrogate=name).fit(form, y, qid=qid)
            assert abs(ranker.coef_[3]) < 1e-6
            assert np.all(np.isfinite(ranker.coef_))


# Iterations ---------------------------------------------------------------------------


@every_surrogate
def test_warm_start_stays_at_the_solution(name, documents, items):
    for X, y, qid in (documents, (*items, None)):
        X = X * 3.0 + 1.0
        ranker = OrderPreservingRegressor(
            surrogate=name, target_loss="dcg", warm_start=True, solver="lbfgs"
        ).fit(X, y, qid=qid)
        coef, first = ranker.coef_, ranker.n_iter_
        assert ranker.fit(X, y, qid=qid).n_iter_ <= 2 < first
        np.testing.assert_allclose(ranker.coef_, coef, atol=1e-6)


def test_warm_start_of_another_shape(documents, items):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(warm_start=True, target_loss="dcg").fit(X, y, qid=qid)
    before = dict(vars(ranker))
    for other in ((X[:, :2], y, qid), (*items, None)):
        with pytest.raises(ValueError, match="warm_start=False"):
            ranker.fit(other[0], other[1], qid=other[2])
        assert vars(ranker) == before
    cold = ranker.set_params(warm_start=False).fit(*items)
    assert cold.coef_.shape == (4, 5)


def test_stopping_early_says_what_to_do(documents):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol or alpha"):
        ranker.fit(X, y, qid=qid)
    assert ranker.n_iter_ == 1
    assert ranker.gradient_norm_ > 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lazy = OrderPreservingRegressor(max_iter=1, tol=10.0).fit(X, y, qid=qid)
        OrderPreservingRegressor(max_iter=1, surrogate="pairwise_squared").fit(X, y, qid=qid)
    assert lazy.gradient_norm_ <= 10.0


def test_warns_exactly_if_the_gradient_is_above_tol(documents):
    """Iterations that ran out are no excuse, however near."""
    X, y, qid = documents
    near = 0
    for max_iter in range(1, 30):
        ranker = OrderPreservingRegressor(max_iter=max_iter, tol=1e-9)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker.fit(X, y, qid=qid)
        if ranker.n_iter_ == max_iter:
            assert bool(caught) == (ranker.gradient_norm_ > 1e-9)
            near += 1e-9 < ranker.gradient_norm_ < 1e-6
        else:
            assert not caught
    assert near


def test_verbose(documents, capsys):
    X, y, qid = documents
    OrderPreservingRegressor().fit(X, y, qid=qid)
    assert capsys.readouterr().out == ""
    ranker = OrderPreservingRegressor(verbose=2).fit(X, y, qid=qid)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == ranker.n_iter_ // 2
    assert lines[0].startswith("[OrderPreservingRegressor] iteration 2: objective ")
    OrderPreservingRegressor(verbose=1, surrogate="pairwise_squared").fit(X, y, qid=qid)
    assert "closed form" in capsys.readouterr().out


# Weights and lists --------------------------------------------------------------------


@every_surrogate
def test_weights_are_list_weights_and_copies(name, documents, items):
    X, y, qid = documents
    heavy = np.isin(qid, ["q1", "q4", "q9"])
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="ndcg@3")
    weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=1.0 + heavy)
    ids = np.concatenate([qid, np.char.add(qid[heavy], "again")])
    X2, y2 = np.vstack([X, X[heavy]]), np.concatenate([y, y[heavy]])
    np.testing.assert_allclose(weighted.coef_, clone(ranker).fit(X2, y2, qid=ids).coef_, atol=1e-7)
    assert not np.allclose(weighted.coef_, clone(ranker).fit(X, y, qid=qid).coef_, atol=1e-4)

    rows = np.arange(len(y)) % 3 == 0  # in their own list: for a measure without a normaliser
    ranker.set_params(target_loss="dcg")
    weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=1.0 + rows)
    X2, y2 = np.vstack([X, X[rows]]), np.concatenate([y, y[rows]])
    twice = clone(ranker).fit(X2, y2, qid=np.concatenate([qid, qid[rows]]))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)

    X, y = items
    weighted = clone(ranker).fit(X, y, sample_weight=1.0 + (np.arange(60) < 20))
    twice = clone(ranker).fit(np.vstack([X, X[:20]]), np.vstack([y, y[:20]]))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)


@every_surrogate
def test_lists_without_weight_or_relevant_items(name, documents):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(surrogate=name, standardize=False)
    full = clone(ranker).fit(X, y, qid=qid, sample_weight=(qid != "q5").astype(float))
    left = clone(ranker).fit(X[qid != "q5"], y[qid != "q5"], qid=qid[qid != "q5"])
    assert full.n_lists_ == left.n_lists_ == 24
    np.testing.assert_allclose(full.coef_, left.coef_, atol=1e-7)
    full, left = (clone(ranker).fit(X[at], y[at], qid=qid[at]) for at in (qid != "", qid != "q3"))
    unchanged = name in OF_UTILITIES or name.startswith("rank")
    if name.startswith("rank"):  # they add nothing but to the number of rows
        left.set_params(alpha=0.1 * np.mean(qid != "q3") ** -1).fit(
            X[qid != "q3"], y[qid != "q3"], qid=qid[qid != "q3"]
        )
    assert np.allclose(full.coef_, left.coef_, atol=1e-7) == unchanged


@every_surrogate
def test_order_of_rows_and_kinds_of_ids(name, documents):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(surrogate=name).fit(X, y, qid=qid)
    order = np.argsort(qid, kind="stable")
    again = clone(ranker).fit(X[order], ranking_target(y[order], [int(q[1:]) for q in qid[order]]))
    np.testing.assert_allclose(ranker.coef_, again.coef_, atol=1e-8)
    np.testing.assert_allclose(again.predict(X), ranker.predict(X), atol=1e-7)


@every_surrogate
def test_nothing_relevant_gives_no_coefficients(name, documents):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(surrogate=name).fit(X, 0.0 * y, qid=qid)
    np.testing.assert_allclose(ranker.coef_, 0.0, atol=1e-7)
    assert np.isfinite(ranker.loss_)
