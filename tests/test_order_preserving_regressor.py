"""OrderPreservingRegressor: its objective, layouts, weights, links and bounds, tools, bad input."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.calibration import conditional_regret, regret_bound
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.surrogates import SURROGATES, BregmanSurrogate, surrogate_loss
from lowrank_rank.target_losses import (
    NDCG,
    MeanAveragePrecision,
    PositionalLoss,
    PrecisionAtK,
    RecallAtK,
)

from .internals import (
    TARGET_LOSSES,
    PrecisionAtShare,
    RankingLists,
    resolve_target_loss,
)
from .losses import IDS, LOSSES, graded
from .reference import dcg
from .refusals import refused_by
from .surrogate_cases import (
    BOUNDED,
    ORDER_PRESERVING,
    PAIRWISE,
    PROPORTIONAL,
    by_hand,
    with_eta,
)

CrossEntropy = SURROGATES["cross_entropy"]
PairwiseSquared = SURROGATES["pairwise_squared"]
PairwiseSquaredHinge = SURROGATES["pairwise_squared_hinge"]
PointwiseExponential = SURROGATES["pointwise_exponential"]
PointwiseLogistic = SURROGATES["pointwise_logistic"]
PointwiseSmoothHinge = SURROGATES["pointwise_smooth_hinge"]
PointwiseSquared = SURROGATES["pointwise_squared"]
PointwiseSquaredHinge = SURROGATES["pointwise_squared_hinge"]

every_surrogate = pytest.mark.parametrize("name", SURROGATES)
SQUARED = ["pointwise_squared", "pairwise_squared", "bregman_squared"]
LINKED = [name for name in SURROGATES if SURROGATES[name]().has_link]
POSITIONAL = [
    pytest.param(*case, id=name)
    for case, name in zip(LOSSES, IDS, strict=True)
    if case[0].is_positional
]


#: Where some item is never relevant and its free intercept is not what is looked at.
may_have_no_minimum = pytest.mark.filterwarnings("ignore:.*has no minimum here")


@pytest.fixture(scope="module")
def documents():
    """Ragged lists under strings, rows in any order, one list without relevant items."""
    X, y, qid = make_ranking(25, (1, 8), n_features=3, random_state=0)
    y[qid == 3] = 0.0
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], np.array([f"q{q}" for q in qid])[order]


@pytest.fixture(scope="module")
def ordered_documents():
    """Lists one after the other."""
    return make_ranking(30, (2, 9), n_features=4, random_state=0)


@pytest.fixture(scope="module")
def items():
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    return data.data, data.target


def exact(**settings):
    """To the last digits: the default tolerance is that of the order."""
    return OrderPreservingRegressor(
        **{"alpha": 0.1, "tol": 1e-9, "max_iter": 1000} | settings
    )


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
    return np.array(
        [g * mean / ideal[q] if g else 0.0 for g, q in zip(y, qid, strict=True)]
    ), mean


def objective_by_hand(name, X, v, lists, w, alpha):
    """A function of coefficients (d, p + 1) of features as they came; w, v, lists (n, d)."""
    fraction = w.max(axis=1) / w.max(axis=1).sum()
    deviation = np.sqrt(fraction @ (X - fraction @ X) ** 2)
    if lists.shape[1] == 1:  # of documents, levels of lists do not count
        each = [lists[:, 0] == q for q in np.unique(lists[w > 0])]
        means = [np.average(X[here], axis=0, weights=fraction[here]) for here in each]
        squares = [
            fraction[here] @ (X[here] - mean) ** 2
            for here, mean in zip(each, means, strict=True)
        ]
        deviation = np.sqrt(np.sum(squares, axis=0))
    eta = 1.5 * v[w > 0].max()
    total = (w * v).sum() if name in PROPORTIONAL else w.sum()
    places = [np.nonzero(lists == q) for q in np.unique(lists)]

    def objective(theta):
        scores, value = X @ theta[:, :-1].T + theta[:, -1], 0.0
        for at in places:
            if w[at].sum() > 0:
                one = by_hand(name)(v[at], scores[at], w[at], eta)
                value += one / w[at].sum() if name in PAIRWISE else one
        return value / total + alpha / 2 * ((theta[:, :-1] * deviation) ** 2).sum()

    return objective


def assert_minimal(ranker, objective, intercept=True, h=1e-5):
    theta = np.column_stack(
        [np.atleast_2d(ranker.coef_), np.atleast_1d(ranker.intercept_)]
    )
    assert objective(theta) == pytest.approx(ranker.objective_, rel=1e-9)
    for place in np.ndindex(theta.shape):
        if place[1] == theta.shape[1] - 1 and not intercept:
            assert theta[place] == 0.0
            continue
        step = np.zeros(theta.shape)
        step[place] = h
        slope = (objective(theta + step) - objective(theta - step)) / (2 * h)
        assert abs(slope) < 1e-6, (place, slope)
        assert objective(theta + 1000 * step) > ranker.objective_ - 1e-12


@every_surrogate
@pytest.mark.parametrize("weighted", [False, True])
def test_optimal_on_documents(name, weighted, documents):
    X, y, qid = documents
    X = X * [1.0, 10.0, 0.3] + [0.0, 5.0, -1.0]
    w = row_weights(len(y)) if weighted else np.ones(len(y))
    w[qid == "q7"] = 1.0 - weighted
    ranker = exact(surrogate=name, target_loss="ndcg@4")
    ranker.fit(X, y, qid=qid, sample_weight=w if weighted else None)
    v, _ = utilities_of_ndcg(y, qid, w, 4)
    objective = objective_by_hand(name, X, v[:, None], qid[:, None], w[:, None], 0.1)
    assert_minimal(
        ranker, objective, intercept=not SURROGATES[name]().is_shift_invariant
    )
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
    ranker = exact(surrogate=name, target_loss="dcg").fit(X, y, sample_weight=w)
    lists = np.tile(np.arange(25)[:, None], (1, 4))
    v = np.nan_to_num(y)
    by_hand = objective_by_hand(name, X, v, lists, each, 0.1)
    if missing:  # a row's weight is that of its features
        assert np.all(each.max(axis=1) == w)
    assert_minimal(ranker, by_hand)
    assert ranker.coef_.shape == (4, 3)


@pytest.mark.parametrize("name", SURROGATES)
def test_intercepts_are_fitted_where_they_matter(name, documents, items):
    """Documents under a shift-invariant surrogate have none; nor do their mean scores matter."""
    X, y, qid = documents
    has_none = SURROGATES[name]().is_shift_invariant
    assert (
        exact(surrogate=name, target_loss="dcg").fit(X, y, qid=qid).intercept_ == 0
    ) == has_none
    assert np.all(exact(surrogate=name, target_loss="dcg").fit(*items).intercept_ != 0)


class IteratedSquares(PointwiseSquared):
    """The sum of squares by L-BFGS."""

    is_squared = False


class IteratedPairs(PairwiseSquared):
    """The sum over pairs by L-BFGS."""

    is_squared = False


@pytest.mark.parametrize(
    ("name", "iterated"),
    [("pointwise_squared", IteratedSquares()), ("pairwise_squared", IteratedPairs())],
)
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.0}, {"standardize": False}])
def test_closed_form_is_the_iterative_solution(
    name, iterated, settings, documents, items
):
    for X, y, qid in (documents, (*items, None)):
        X = X[:, :3]
        w = row_weights(len(y))
        closed, iterative = (
            exact(surrogate=one, target_loss="dcg", tol=1e-11, **settings).fit(
                X, y, qid=qid, sample_weight=w
            )
            for one in (name, iterated)
        )
        assert closed.n_iter_ == 1 < iterative.n_iter_
        assert closed.gradient_norm_ == 0.0
        found = [closed.coef_, iterative.coef_]
        if (
            name.startswith("pairwise") and qid is None
        ):  # the same for all items changes nothing
            found = [coef - coef.mean(axis=0) for coef in found]
        np.testing.assert_allclose(*found, atol=1e-8)
        np.testing.assert_allclose(closed.intercept_, iterative.intercept_, atol=1e-8)
        assert closed.objective_ == pytest.approx(iterative.objective_, abs=1e-12)


class HalfWeights(PointwiseSquared):
    """No longer the plain sum of squares, and does not say so."""

    def evaluate(self, v, s, lists, weights):
        return super().evaluate(v, s, lists, weights * np.where(v > 0, 1.0, 0.5))


class Renamed(PointwiseSquared):
    """The sum of squares under another name."""


def test_what_is_solved_in_closed_form_is_declared(documents):
    X, y, qid = documents
    assert exact(surrogate=Renamed()).fit(X, y, qid=qid).gradient_norm_ == 0.0
    ranker = exact(surrogate=HalfWeights()).fit(X, y, qid=qid)
    assert ranker.n_iter_ > 1
    assert ranker.gradient_norm_ <= 1e-9


@every_surrogate
def test_sparse_features_of_items_are_scaled_by_their_entries(name, items):
    """Not by their standard deviations, by which rare words would be large."""
    X, y = items
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    scale = np.sqrt((X**2).sum(axis=0) / np.maximum(np.count_nonzero(X, axis=0), 1))
    scale[scale == 0] = 1.0
    model = exact(surrogate=name, target_loss="dcg", tol=1e-10)
    thin = clone(model).fit(sparse.csr_matrix(X), y)
    plain = clone(model).set_params(standardize=False).fit(X / scale, y)
    np.testing.assert_allclose(thin.coef_ * scale, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(thin.intercept_, plain.intercept_, atol=1e-6)


def test_pairwise_squared_is_the_centred_ridge(documents):
    X, y, qid = documents
    w = row_weights(len(y))
    ours = exact(target_loss="ndcg@5", surrogate="pairwise_squared", alpha=0.3).fit(
        X, y, qid=qid, sample_weight=w
    )
    ridge = LowRankSurrogateRanker(
        target_loss="ndcg@5", alpha=0.15
    )  # of half the squares
    ridge.fit(X, y, qid=qid, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, atol=1e-10)


# Iterations ---------------------------------------------------------------------------


def test_stopping_early_says_what_to_do(documents):
    X, y, qid = documents
    ranker = exact(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol or alpha"):
        ranker.fit(X, y, qid=qid)
    assert ranker.n_iter_ == 1
    assert ranker.gradient_norm_ > 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lazy = exact(max_iter=1, tol=10.0).fit(X, y, qid=qid)
        exact(max_iter=1, surrogate="pairwise_squared").fit(X, y, qid=qid)
    assert lazy.gradient_norm_ <= 10.0


def test_warns_exactly_if_the_gradient_is_above_tol(documents):
    """Iterations that ran out are no excuse, however near."""
    X, y, qid = documents
    near = 0
    for max_iter in range(1, 30):
        ranker = exact(max_iter=max_iter, tol=1e-9)
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
    exact().fit(X, y, qid=qid)
    assert capsys.readouterr().out == ""
    ranker = exact(verbose=2).fit(X, y, qid=qid)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == ranker.n_iter_ // 2
    assert lines[0].startswith("[OrderPreservingRegressor] iteration 2: objective ")
    exact(verbose=1, surrogate="pairwise_squared").fit(X, y, qid=qid)
    assert "closed form" in capsys.readouterr().out


# Weights and lists --------------------------------------------------------------------


@every_surrogate
def test_weights_are_list_weights_and_copies(name, documents, items):
    X, y, qid = documents
    heavy = np.isin(qid, ["q1", "q4", "q9"])
    ranker = exact(surrogate=name, target_loss="ndcg@3")
    weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=1.0 + heavy)
    ids = np.concatenate([qid, np.char.add(qid[heavy], "again")])
    X2, y2 = np.vstack([X, X[heavy]]), np.concatenate([y, y[heavy]])
    twice = clone(ranker).fit(X2, y2, qid=ids)
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    assert not np.allclose(
        weighted.coef_, clone(ranker).fit(X, y, qid=qid).coef_, atol=1e-4
    )

    rows = (
        np.arange(len(y)) % 3 == 0
    )  # in their own list: for a measure without a normaliser
    ranker.set_params(target_loss="dcg")
    weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=1.0 + rows)
    X2, y2 = np.vstack([X, X[rows]]), np.concatenate([y, y[rows]])
    twice = clone(ranker).fit(X2, y2, qid=np.concatenate([qid, qid[rows]]))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)

    X, y = items
    weighted = clone(ranker).fit(X, y, sample_weight=1.0 + (np.arange(60) < 20))
    twice = clone(ranker).fit(np.vstack([X, X[:20]]), np.vstack([y, y[:20]]))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)


@every_surrogate
def test_lists_without_weight_or_relevant_items(name, documents):
    X, y, qid = documents
    ranker = exact(surrogate=name, standardize=False)
    full = clone(ranker).fit(X, y, qid=qid, sample_weight=(qid != "q5").astype(float))
    left = clone(ranker).fit(X[qid != "q5"], y[qid != "q5"], qid=qid[qid != "q5"])
    assert full.n_lists_ == left.n_lists_ == 24
    np.testing.assert_allclose(full.coef_, left.coef_, atol=1e-7)
    full, left = (
        clone(ranker).fit(X[at], y[at], qid=qid[at]) for at in (qid != "", qid != "q3")
    )
    lists = RankingLists([3])
    nothing = with_eta(name).evaluate(np.zeros(3), np.arange(3.0), lists, np.ones(3))
    unchanged = not np.any(nothing.gradient)
    if (
        unchanged and name not in PROPORTIONAL
    ):  # they add nothing but to the number of rows
        left.set_params(alpha=0.1 * np.mean(qid != "q3") ** -1).fit(
            X[qid != "q3"], y[qid != "q3"], qid=qid[qid != "q3"]
        )
    assert np.allclose(full.coef_, left.coef_, atol=1e-7) == unchanged


def test_rare_items_take_few_iterations():
    """Their intercepts are hardly curved; the solution is the same in any units."""
    rng = np.random.default_rng(0)
    X, n_items = rng.normal(size=(300, 5)), 60
    z = X @ rng.normal(size=(5, n_items)) + 3.0 * rng.gumbel(size=(300, n_items))
    z -= 3.0 * np.log(np.arange(1, n_items + 1))
    y = (z >= np.sort(z, axis=1)[:, [-3]]).astype(float)
    y[np.arange(n_items), np.arange(n_items)] = 1.0
    ranker = OrderPreservingRegressor(target_loss="dcg", alpha=0.1).fit(X, y)
    assert ranker.n_iter_ < 40
    p = np.exp(ranker.predict(X))
    errors = y.sum(axis=1, keepdims=True) * p / p.sum(axis=1, keepdims=True) - y
    slopes = (X - X.mean(axis=0)).T @ errors / X.std(axis=0)[:, np.newaxis] / y.sum()
    slopes += 0.1 * (ranker.coef_ * X.std(axis=0)).T
    np.testing.assert_allclose(slopes, 0.0, atol=1e-5)
    np.testing.assert_allclose(errors.sum(axis=0) / y.sum(), 0.0, atol=1e-5)


@every_surrogate
@may_have_no_minimum
@pytest.mark.filterwarnings("ignore:No label has any utility")
def test_nothing_relevant_gives_no_coefficients(name, documents):
    X, y, qid = documents
    ranker = exact(surrogate=name).fit(X, 0.0 * y, qid=qid)
    np.testing.assert_allclose(ranker.coef_, 0.0, atol=1e-7)
    assert np.isfinite(ranker.objective_)


#: What falls without end for an item that is never relevant.
WITH_TAILS = [
    "pointwise_logistic",
    "pointwise_exponential",
    "pairwise_logistic",
    "pairwise_exponential",
    "cross_entropy",
    "ranknet",
]


@every_surrogate
def test_an_item_that_is_never_relevant_has_no_best_intercept(name, items):
    """The scores then depend on tol: said where it is so, for no other surrogate or labels."""
    X, y = items[0], np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float)
    with_tail = name in WITH_TAILS
    ranker = exact(surrogate=name, target_loss="dcg").fit(X, y)
    y[:, 2] = 0.0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        spread = [
            np.ptp(ranker.set_params(tol=t).fit(X, y).predict(X)) for t in (1e-4, 1e-8)
        ]
    said = [
        str(one.message) for one in seen if "has no minimum here" in str(one.message)
    ]
    assert len(said) == 2 * with_tail
    assert all("items [2]" in one and "squared surrogate" in one for one in said)
    assert (spread[1] > 1.2 * spread[0]) == with_tail


@pytest.mark.parametrize("scale", [1e-3, 1.0, 7.0, 1e6])
def test_loss_of_cross_entropy_is_free_of_the_scale_of_the_weights(scale, documents):
    X, y, qid = documents
    w = row_weights(len(y))
    plain = exact().fit(X, y, qid=qid, sample_weight=w)
    scaled = exact().fit(X, y, qid=qid, sample_weight=scale * w)
    assert plain.objective_ > 0
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-8)


# Consistency --------------------------------------------------------------------------


def one_hot(labels, n=120, r=4, kinds=6):
    """One distribution of the label per x: any surrogate can have its population minimiser."""
    rng = np.random.default_rng(0)
    y, x = labels(rng, n, r), rng.integers(0, kinds, n)
    p = (x == np.arange(kinds)[:, None]) / np.bincount(x, minlength=kinds)[:, None]
    return np.eye(kinds)[x], y, p, np.eye(kinds)


GRADED = [case for case in POSITIONAL if case.values[1] is graded]


@pytest.mark.parametrize(
    ("name", "case"),
    [(ORDER_PRESERVING[0], case) for case in POSITIONAL]
    + [(name, case) for name in ORDER_PRESERVING[1:] for case in GRADED[::4]],
    ids=lambda one: getattr(one, "id", one),
)
def test_no_regret_at_the_population_minimiser(name, case):
    """A surrogate under every positional measure, and the others under some of grades."""
    loss, labels = case.values
    X, y, p, kinds = one_hot(labels)
    ranker = exact(
        target_loss=loss, surrogate=name, alpha=1e-8, standardize=False, tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(
        conditional_regret(loss, y, p, ranker.rank(kinds)), 0.0, atol=1e-5
    )


@pytest.mark.parametrize("name", ORDER_PRESERVING)
def test_map_is_right_for_independent_labels_and_has_no_bound(name):
    """Independent labels are in P_reinforce; the other distribution is not."""
    labels = np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T
    q = np.array([0.3, 0.8, 0.1, 0.6])
    outside = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    for y, p, regret in [
        (labels, np.prod(np.where(labels > 0, q, 1.0 - q), axis=1), 0.0),
        (outside, np.array([0.65, 0.35]), 0.0375),  # .767 - .729 by hand
    ]:
        ranker = exact(target_loss="map", surrogate=name, alpha=1e-8, tol=1e-10)
        ranker.fit(np.ones((len(y), 1)), y, sample_weight=p)
        found = conditional_regret("map", y, p[np.newaxis], ranker.rank([[1.0]]))
        np.testing.assert_allclose(found, regret, atol=1e-9)
        assert np.isnan(ranker.regret_bound(1.0))
    with refused_by("measure without places"):
        regret_bound(name, [[0.7, 0.3]], "map", [0.1])


@pytest.mark.parametrize("name", ORDER_PRESERVING)
@may_have_no_minimum
def test_regret_falls_with_more_data(name):
    """X is linear in the probabilities: exact for the squared ones, close for the others."""
    data = make_label_ranking(4000, 4, n_labels=5, n_grades=3, random_state=1)
    regrets = []
    for n in (40, 4000):
        ranker = exact(target_loss="dcg", surrogate=name, alpha=0.1 / n)
        ranks = ranker.fit(data.data[:n], data.target[:n]).rank(data.data)
        regrets.append(
            conditional_regret("dcg", data.support, data.probabilities, ranks).mean()
        )
    at_random = conditional_regret(
        "dcg", data.support, data.probabilities, np.tile([1, 2, 3, 4], (4000, 1))
    ).mean()
    assert regrets[1] < regrets[0] / 2
    assert regrets[1] < (0.002 if name in SQUARED else 0.05) * at_random


# Links and bounds ---------------------------------------------------------------------


@pytest.mark.parametrize("name", LINKED)
@may_have_no_minimum
def test_utilities_are_estimated_by_the_link(name):
    X, y, p, kinds = one_hot(lambda rng, n, r: rng.integers(0, 4, (n, r)).astype(float))
    ranker = exact(target_loss="dcg", surrogate=name, alpha=1e-9)
    estimates = ranker.fit(X, y).predict_utility(kinds)
    np.testing.assert_allclose(estimates, p @ y, atol=1e-3)
    if hasattr(ranker.surrogate_, "eta"):
        assert ranker.surrogate_.eta == 1.5 * y.max()
    data = make_label_ranking(4000, 4, n_labels=5, n_grades=3, random_state=1)
    ranker.fit(data.data, data.target)
    error = ranker.predict_utility(data.data) - data.probabilities @ data.support
    assert np.abs(error).mean() < (0.03 if name in SQUARED else 0.1)


@pytest.mark.parametrize("name", sorted(set(SURROGATES) - set(LINKED)))
def test_no_utilities_without_a_link(name, items):
    ranker = exact(surrogate=name, target_loss="dcg")
    assert not hasattr(ranker, "predict_utility")
    assert not hasattr(ranker.fit(*items), "predict_utility")
    with pytest.raises(AttributeError, match="predict_utility"):
        ranker.predict_utility(items[0])


def test_utilities_of_documents(ordered_documents):
    X, y, qid = ordered_documents
    ranker = exact(surrogate="pointwise_logistic").fit(X, y, qid=qid)
    u = ranker.predict_utility(X)
    eta = ranker.surrogate_.eta
    np.testing.assert_allclose(u, eta / (1 + np.exp(-ranker.predict(X))))
    assert u.shape == (len(y),)


@pytest.mark.parametrize("name", BOUNDED)
@may_have_no_minimum
def test_bound_is_that_of_one_list_repeated(name, items):
    X, _ = items
    label = np.array([0.0, 3.0, 1.0, 1.0])
    ranker = exact(surrogate=name, target_loss="dcg@3")
    ranker.fit(X, np.tile(label, (60, 1)))
    for regret in (0.0, 0.3, 2.0):
        bound = regret_bound(ranker.surrogate_, label[None], "dcg@3", [regret])[0]
        assert ranker.regret_bound(regret) == pytest.approx(bound)
        assert isinstance(ranker.regret_bound(regret), float)
    assert ranker.regret_bound([0.3, 2.0]).shape == (2,)
    mixed = ranker.fit(
        X, np.vstack([np.tile(label, (30, 1)), np.tile(2 * label, (30, 1))])
    )
    squares = [
        regret_bound(ranker.surrogate_, scale * label[None], "dcg@3", [1.0])[0] ** 2
        for scale in (1, 2)
    ]
    assert mixed.bound_factor_ == pytest.approx(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
def test_bound_of_documents_is_in_the_unit_of_the_measure(name, scale):
    """NDCG is the same for grades of any scale; fitted utilities are not."""
    X, _, qid = make_ranking(20, 4, n_features=2, random_state=0)
    label = scale * np.array([2.0, 1.0, 0.0, 0.0])
    y = np.tile(label, 20)
    ranker = exact(target_loss="ndcg", surrogate=name).fit(X, y, qid=qid)
    own = regret_bound(ranker.surrogate_, label[None], "ndcg", [1.0])[0]
    assert ranker.bound_factor_ == pytest.approx(own / dcg(label))
    if name in SQUARED:  # the worst scores of a wrong order all but tie
        tie = label.mean() + 1e-6 * np.arange(4)
        over = surrogate_loss(ranker.surrogate_, label, tie)[0]
        lost = 1.0 - ndcg_score(label, tie)
        assert 0.7 < lost / ranker.regret_bound(over) <= 1.0


def test_lists_of_different_lengths_have_their_own_constant(ordered_documents):
    X, y, qid = ordered_documents
    weight = (qid % 3 > 0).astype(float)
    ranker = exact(target_loss="dcg", surrogate="pairwise_squared")
    ranker.fit(X, y, qid=qid, sample_weight=weight)
    squares = [
        regret_bound("pairwise_squared", y[qid == q][None], "dcg", [1.0])[0] ** 2
        for q in range(30)
        if q % 3
    ]
    assert ranker.bound_factor_ == pytest.approx(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("name", sorted(set(SURROGATES) - set(BOUNDED)))
def test_no_bound_where_there_is_none(name, items):
    ranker = exact(surrogate=name, target_loss="dcg").fit(*items)
    assert np.isnan(ranker.regret_bound(1.0))


# Labels, layouts, scikit-learn's tools ------------------------------------------------


@pytest.mark.parametrize(("loss", "labels"), POSITIONAL)
def test_labels_of_every_positional_measure(loss, labels):
    rng = np.random.default_rng(0)
    y = labels(rng, 40, 5)
    X = rng.normal(size=(40, 3))
    ranker = exact(target_loss=loss).fit(X, y)
    assert ranker.predict(X).shape == (40, 5)
    assert np.isfinite(ranker.score(X, y))
    rows = np.column_stack([y.ravel() + rng.normal(size=200), rng.normal(size=200)])
    qid = np.repeat(np.arange(40), 5)
    ranker.fit(rows, y.ravel(), qid=qid)
    assert ranker.coef_[0] > abs(ranker.coef_[1])
    assert ranker.n_items_ is None
    assert sorted(ranker.rank(rows, qid=qid)[:5]) == [1, 2, 3, 4, 5]


def test_pipelines_searches_and_scorers(ordered_documents):
    X, y, qid = ordered_documents
    target = ranking_target(y, qid)
    pipe = make_pipeline(MinMaxScaler(), exact(target_loss="ndcg@5"))
    grid = {
        "orderpreservingregressor__surrogate": [
            "cross_entropy",
            "ranknet",
            PointwiseLogistic(9),
        ],
        "orderpreservingregressor__alpha": [0.01, 1.0],
    }
    search = GridSearchCV(
        pipe,
        grid,
        cv=GroupKFold(3),
        scoring=make_ranking_scorer("ndcg@3"),
        error_score="raise",
    ).fit(X, target, groups=qid)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.6
    with config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            exact(), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3)
        )
    carried = cross_val_score(exact(), X, target, groups=qid, cv=GroupKFold(3))
    np.testing.assert_allclose(scores, carried)


def test_surrogate_objects_are_left_alone(items):
    X, y = items
    own = with_eta("pointwise_exponential", eta=7.0)
    ranker = exact(surrogate=own, target_loss="dcg").fit(X, y)
    assert ranker.surrogate_ is not own
    assert ranker.surrogate_.eta == own.eta == 7.0
    assert SURROGATES["pointwise_exponential"]().eta == 1.0


@may_have_no_minimum
def test_eta_is_above_the_utilities_that_count(items):
    X, y = items
    w = (y.max(axis=1) < 2).astype(float)
    assert 0 < w.sum() < len(w)
    assert y.max() == 2
    settings = {"target_loss": "dcg"}
    for surrogate in ("pointwise_logistic", PointwiseLogistic(eta=None)):
        ranker = exact(surrogate=surrogate, **settings)
        assert ranker.fit(X, y, sample_weight=w).surrogate_.eta == 1.5
        assert ranker.fit(X, y).surrogate_.eta == 3.0
    own = exact(surrogate=PointwiseLogistic(eta=1.2), **settings)
    assert own.fit(X, y, sample_weight=w).surrogate_.eta == 1.2
    with refused_by("eta below a utility"):
        own.fit(X, y)


# Bad input ----------------------------------------------------------------------------

BAD = {
    "pd": ({"target_loss": "pd"}, ValueError, "LowRankSurrogateRanker takes other"),
    "share": ({"target_loss": "precision@25%"}, ValueError, "needs utilities"),
    "share object": (
        {"target_loss": PrecisionAtShare(share=0.5)},
        ValueError,
        "needs utilities",
    ),
    "measure": ({"target_loss": "mrr"}, ValueError, "cannot be fitted here"),
    "surrogate": (
        {"surrogate": "hinge"},
        ValueError,
        "surrogate must be .* got 'hinge'",
    ),
    "no surrogate": ({"surrogate": None}, TypeError, "surrogate must be one of"),
    "a class": (
        {"surrogate": PointwiseExponential},
        TypeError,
        r"write PointwiseExponential\(\)",
    ),
    "eta": (
        {"surrogate": PointwiseExponential(eta=2.0)},
        ValueError,
        "largest is 2: increase eta",
    ),
    "alpha": ({"alpha": -1.0}, ValueError, "alpha must be"),
    "infinite alpha": ({"alpha": np.inf}, ValueError, "alpha must be"),
    "tol": ({"tol": 0.0}, ValueError, "tol must be"),
    "max_iter": ({"max_iter": 0}, ValueError, "max_iter must be"),
    "standardize": ({"standardize": "yes"}, ValueError, "standardize must be"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_leave_no_trace(case, items):
    X, y = items
    parameters, error, message = BAD[case]
    ranker = exact(target_loss="dcg").fit(X, y)
    ranker.set_params(**parameters)
    before = dict(vars(ranker))
    with pytest.raises(error, match=message):
        ranker.fit(X, y)
    assert vars(ranker) == before
    with pytest.raises(error, match=message):
        exact(**{"target_loss": "dcg"} | parameters).fit(X, y)


def test_the_message_names_what_is_taken(items):
    """All losses with utilities in the table, each of them with a name that resolves."""
    X, _ = items
    with refused_by("loss without utilities") as caught:
        exact(target_loss="pd").fit(X, np.ones((len(X), 4)))
    named = re.findall(
        r"'([^']+)'", str(caught.value).partition("use one of")[2].split("]")[0]
    )
    kinds = {type(resolve_target_loss(name)) for name in named}
    table = {entry.measure for entry in TARGET_LOSSES.values()}
    with_utilities = PositionalLoss | MeanAveragePrecision
    documents = {kind for kind in table if issubclass(kind, with_utilities)}
    assert kinds == documents - {PrecisionAtShare}


def test_a_start_at_the_minimum_is_an_iteration():
    """All grades are relevant: nothing is to be ordered, and scikit-learn wants n_iter_ >= 1."""
    X, y = np.arange(6.0)[:, np.newaxis], np.arange(1.0, 7.0)
    for name in ("auc", "precision@5"):
        assert exact(target_loss=name).fit(X, y).n_iter_ == 1


def test_no_method_has_the_name_of_a_fitted_attribute():
    methods = [
        name for name in dir(OrderPreservingRegressor) if not name.startswith("_")
    ]
    assert "regret_bound" in methods
    assert not [name for name in methods if name.endswith("_")]


@pytest.mark.parametrize(
    ("loss", "y", "settings", "message"),
    [
        (NDCG(), [[1.0, np.nan], [0.0, 1.0]], {}, "needs every item judged"),
        (RecallAtK(k=1), [[1.0, -1.0], [0.0, 1.0]], {}, "0 or 1|negative grade"),
        (PrecisionAtK(k=1), [[1.0, np.nan], [0.0, np.nan]], {}, "no query judges"),
        ("dcg", [[1.0, -1.0], [0.0, 1.0]], {}, "negative|>= 0"),
        ("dcg", [[1.0, 2.0], [0.0, 1.0]], {"qid": [0, 1]}, "takes no qid"),
        ("dcg", [1.0, 0.0], {"qid": [0, 0, 1]}, "one query id for each row"),
        (
            "dcg",
            [1.0, 0.0],
            {"sample_weight": [0.0, 0.0]},
            "at least one row must count",
        ),
        ("dcg", [1.0, np.nan], {}, "drop the rows"),
    ],
)
def test_bad_labels_are_named(loss, y, settings, message):
    ranker = exact(target_loss=loss)
    with pytest.raises(ValueError, match=message):
        ranker.fit([[0.0], [1.0]], np.array(y), **settings)
    assert not hasattr(ranker, "coef_")


# Bounds that do not hold are not given ------------------------------------------------


def test_no_bound_where_items_of_a_list_weigh_differently():
    """Two documents, E v = (.3, .7): down-weighting one lets the surrogate put it first cheaply."""
    rng = np.random.default_rng(0)
    X, qid = np.tile(np.eye(2), (500, 1)), np.repeat(np.arange(500), 2)
    y = (rng.uniform(size=1000) < np.tile([0.3, 0.7], 500)).astype(float)
    ranker = exact(target_loss="precision@1", surrogate="pointwise_squared")
    assert np.isfinite(ranker.fit(X, y, qid=qid).regret_bound(0.1))
    assert np.isfinite(ranker.fit(X, y, qid=qid, sample_weight=qid + 1.0).bound_factor_)
    ranker.fit(X, y, qid=qid, sample_weight=np.tile([1.0, 0.01], 500))
    assert np.isnan(ranker.regret_bound(0.1))
    matrix = y.reshape(-1, 2)
    matrix[::3, 0] = np.nan
    ranker.fit(np.zeros((500, 1)), matrix)
    assert np.isnan(ranker.bound_factor_)


def test_regrets_below_zero_are_rounding():
    X, y = [[0.0], [1.0]], [0.0, 1.0]
    with pytest.raises(NotFittedError):
        exact().regret_bound(1.0)
    assert exact().fit(X, y).regret_bound(-1e-12) == 0.0


# Accuracy -----------------------------------------------------------------------------


def test_a_looser_tolerance_is_no_dearer():
    X, y, qid = make_ranking(60, 20, random_state=0)
    calls = {}
    for tol in (1e-3, 1e-9):
        counted = CountedLogistic()
        ranker = exact(surrogate=counted, tol=tol).fit(X, y, qid=qid)
        calls[tol] = CountedLogistic.calls
        CountedLogistic.calls = 0
        assert ranker.gradient_norm_ <= tol
    assert calls[1e-3] < calls[1e-9]


class CountedLogistic(PointwiseLogistic):
    calls = 0

    def __init__(self, eta=None):
        super().__init__(eta)

    def evaluate(self, v, s, lists, weights):
        CountedLogistic.calls += 1
        return super().evaluate(v, s, lists, weights)


@pytest.mark.parametrize("size", [1e-12, 1e12, 1e20])
def test_utilities_of_any_size(size):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 4, 200) * size
    for name in ("pointwise_logistic", "pointwise_squared_hinge", "bregman_squared"):
        ranker = exact(surrogate=name, target_loss="dcg").fit(X, y)
        assert np.isfinite(ranker.coef_).all()


@pytest.mark.parametrize(
    "surrogate",
    [
        PointwiseSquaredHinge(eta=9.0, t=-1.0),
        PointwiseSmoothHinge(eta=9.0, a=0.0),
        PointwiseLogistic(eta=np.inf),
        PointwiseLogistic(eta="1"),
        BregmanSurrogate(psi=np.square, link=np.abs, mu=0.0),
    ],
)
def test_parameters_of_surrogates_are_checked(surrogate):
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        exact(surrogate=surrogate).fit([[0.0], [1.0]], [0.0, 1.0])


class CountedCrossEntropy(CrossEntropy):
    calls = 0

    def evaluate(self, v, s, lists, weights):
        type(self).calls += 1
        return super().evaluate(v, s, lists, weights)


class CountedPairwiseSquaredHinge(PairwiseSquaredHinge):
    calls = 0

    def evaluate(self, v, s, lists, weights):
        type(self).calls += 1
        return super().evaluate(v, s, lists, weights)


@pytest.mark.parametrize(
    ("surrogate", "most"),
    [(CountedCrossEntropy, 10), (CountedPairwiseSquaredHinge, 12)],
)
def test_the_default_tolerance_takes_few_evaluations_and_orders_alike(surrogate, most):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(4000, 10)), np.arange(4000) // 50
    y = np.floor(np.clip(X[:, :3].sum(axis=1) + 2.0 * rng.normal(size=4000), 0.0, 4.0))
    ranker = OrderPreservingRegressor(surrogate=surrogate(), alpha=0.1).fit(
        X, y, qid=qid
    )
    assert surrogate.calls <= most
    tight = exact(surrogate=surrogate(), alpha=0.1).fit(X, y, qid=qid)
    values = [ndcg_score(y, one.predict(X), qid=qid, k=10) for one in (ranker, tight)]
    assert abs(values[0] - values[1]) <= 1e-4


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_features_that_are_constant_but_for_rounding_teach_nothing(to):
    """Sums of squares of equal rows cancel; what is left of them is no scale."""
    row = np.array([0.4661425411019174, -1.4100572393814113, 1.7028478191350345])
    for first in range(6):
        y = (np.arange(6) == first) * 1.0
        model = OrderPreservingRegressor(max_iter=3).fit(to(np.tile(row, (6, 1))), y)
        np.testing.assert_allclose(
            model.predict(to(np.tile(row, (6, 1)))), 0.0, atol=1e-12
        )


def test_a_list_with_too_many_pairs_is_refused():
    """A million rows, a thousand of them relevant, are 10**9 pairs: one more is refused."""
    X = sparse.csr_matrix(([1.0], ([0], [0])), shape=(1_000_000, 1))
    y = np.zeros(1_000_000)
    y[:1001] = 1.0
    qid = np.zeros(len(y))
    ranker = OrderPreservingRegressor(surrogate="ranknet", target_loss="dcg")
    words = '1000000 rows has too many pairs (.|\n)*surrogate = "cross_entropy"'
    with pytest.raises(ValueError, match=words):
        ranker.fit(X, y, qid=qid)
    assert not hasattr(ranker, "coef_")
    ranker.set_params(surrogate="cross_entropy", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(X, y, qid=qid)


@pytest.fixture(scope="module")
def races():
    """Features, winners and ids of races of unequal length, and a fit to them."""
    rng = np.random.default_rng(0)
    race = np.repeat(np.arange(100), rng.integers(4, 10, size=100))
    X = rng.normal(size=(len(race), 3)) * [1.0, 10.0, 0.1]
    speed = X @ [0.5, 0.05, 8.0] + rng.gumbel(size=len(race))
    fastest = [speed[race == one].max() for one in range(100)]
    has_won = np.isin(speed, fastest).astype(int)
    ranker = OrderPreservingRegressor(alpha=0).fit(X, has_won, qid=race)
    return X, has_won, race, ranker


def chances_to_win(X, race, coef):
    odds = np.exp(X @ coef)
    return odds / np.bincount(race, odds)[race]


def test_races_without_a_penalty_are_a_conditional_logit(races):
    X, has_won, race, ranker = races

    def loss(coef):
        return -np.log(chances_to_win(X, race, coef)[has_won == 1]).sum()

    def gradient(coef):
        return -X.T @ (has_won - chances_to_win(X, race, coef))

    by_hand = minimize(loss, np.zeros(3), jac=gradient, options={"gtol": 1e-8}).x
    found, expected = (chances_to_win(X, race, b) for b in (ranker.coef_, by_hand))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_races_are_the_conditional_logit_of_statsmodels(races):
    models = pytest.importorskip("statsmodels.discrete.conditional_models")
    X, has_won, race, ranker = races
    theirs = models.ConditionalLogit(has_won, X, groups=race).fit(disp=0).params
    found, expected = (chances_to_win(X, race, b) for b in (ranker.coef_, theirs))
    np.testing.assert_allclose(found, expected, atol=1e-4)
