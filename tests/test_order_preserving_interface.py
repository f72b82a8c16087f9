"""OrderPreservingRegressor: links and bounds, consistency, scikit-learn's tools, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

from lowrank_rank import OrderPreservingRegressor, make_ranking_scorer, ranking_target
from lowrank_rank.calibration import conditional_regret, regret_bound
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.surrogates import (
    SURROGATES,
    PointwiseExponential,
    PointwiseLogistic,
    Surrogate,
    surrogate_loss,
)
from lowrank_rank.target_losses import (
    DCG,
    NDCG,
    PositionalLoss,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
)

from .losses import IDS, LOSSES
from .reference import dcg
from .surrogate_cases import ORDER_PRESERVING, with_eta

LINKED = [name for name in SURROGATES if type(SURROGATES[name]).utility is not Surrogate.utility]
POSITIONAL = [
    pytest.param(*case, id=name)
    for case, name in zip(LOSSES, IDS, strict=True)
    if isinstance(case[0], PositionalLoss)
]


@pytest.fixture(scope="module")
def documents():
    return make_ranking(30, (2, 9), n_features=4, random_state=0)


@pytest.fixture(scope="module")
def items():
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    return data.data, data.target


# Consistency --------------------------------------------------------------------------


def one_hot(labels, n=400, r=4, kinds=6):
    """One distribution of the label per x: any surrogate can have its population minimiser."""
    rng = np.random.default_rng(0)
    y, x = labels(rng, n, r), rng.integers(0, kinds, n)
    p = (x == np.arange(kinds)[:, None]) / np.bincount(x, minlength=kinds)[:, None]
    return np.eye(kinds)[x], y, p, np.eye(kinds)


@pytest.mark.parametrize("name", ORDER_PRESERVING)
@pytest.mark.parametrize(("loss", "labels"), POSITIONAL)
def test_no_regret_at_the_population_minimiser(name, loss, labels):
    X, y, p, kinds = one_hot(labels)
    ranker = OrderPreservingRegressor(
        target_loss=loss, surrogate=name, alpha=1e-8, standardize=False, tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(conditional_regret(loss, y, p, ranker.rank(kinds)), 0.0, atol=1e-5)


@pytest.mark.parametrize("name", ["ranknet", "ranksvm"])
def test_usual_pairwise_losses_keep_a_regret(name):
    """Item 1 has grade 1, item 2 has 3 with .4, else 0."""
    y = np.repeat([[1.0, 0.0], [1.0, 3.0]], [6, 4], axis=0)
    settings = {"target_loss": "dcg", "alpha": 1e-6}
    wrong = OrderPreservingRegressor(surrogate=name, **settings).fit(np.ones((10, 1)), y)
    right = OrderPreservingRegressor(surrogate="pairwise_logistic", **settings)
    assert wrong.rank([[1.0]]).tolist() == [[1, 2]]
    assert right.fit(np.ones((10, 1)), y).rank([[1.0]]).tolist() == [[2, 1]]


@pytest.mark.parametrize("name", ORDER_PRESERVING)
def test_regret_falls_with_more_data(name):
    """X is linear in the probabilities: exact for the squared ones, close for the others."""
    data = make_label_ranking(4000, 4, n_labels=5, n_grades=3, random_state=1)
    regrets = []
    for n in (40, 4000):
        ranker = OrderPreservingRegressor(target_loss="dcg", surrogate=name, alpha=0.1 / n)
        ranks = ranker.fit(data.data[:n], data.target[:n]).rank(data.data)
        regrets.append(conditional_regret("dcg", data.support, data.probabilities, ranks).mean())
    at_random = conditional_regret(
        "dcg", data.support, data.probabilities, np.tile([1, 2, 3, 4], (4000, 1))
    ).mean()
    assert regrets[1] < regrets[0] / 2
    assert regrets[1] < (0.002 if "squared" in name and "hinge" not in name else 0.05) * at_random


# Links and bounds ---------------------------------------------------------------------


@pytest.mark.parametrize("name", LINKED)
def test_utilities_are_estimated_by_the_link(name):
    X, y, p, kinds = one_hot(lambda rng, n, r: rng.integers(0, 4, (n, r)).astype(float))
    ranker = OrderPreservingRegressor(target_loss="dcg", surrogate=name, alpha=1e-9)
    estimates = ranker.fit(X, y).predict_utility(kinds)
    np.testing.assert_allclose(estimates, p @ y, atol=1e-3)
    if hasattr(ranker.surrogate_, "eta"):
        assert ranker.surrogate_.eta == 1.5 * y.max()
    data = make_label_ranking(4000, 4, n_labels=5, n_grades=3, random_state=1)
    ranker.fit(data.data, data.target)
    error = ranker.predict_utility(data.data) - data.probabilities @ data.support
    assert np.abs(error).mean() < (0.03 if name.endswith("squared") else 0.1)


@pytest.mark.parametrize("name", sorted(set(SURROGATES) - set(LINKED)))
def test_no_utilities_without_a_link(name, items):
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="dcg")
    assert not hasattr(ranker, "predict_utility")
    assert not hasattr(ranker.fit(*items), "predict_utility")
    with pytest.raises(AttributeError, match="predict_utility"):
        ranker.predict_utility(items[0])


def test_utilities_of_documents(documents):
    X, y, qid = documents
    ranker = OrderPreservingRegressor(surrogate="pointwise_logistic").fit(X, y, qid=qid)
    u = ranker.predict_utility(X)
    eta = ranker.surrogate_.eta
    np.testing.assert_allclose(u, eta / (1 + np.exp(-ranker.predict(X))))
    assert u.shape == (len(y),)


@pytest.mark.parametrize("name", ORDER_PRESERVING)
def test_bound_is_that_of_one_list_repeated(name, items):
    X, _ = items
    label = np.array([0.0, 3.0, 1.0, 1.0])
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="dcg@3")
    ranker.fit(X, np.tile(label, (60, 1)))
    for regret in (0.0, 0.3, 2.0):
        bound = regret_bound(ranker.surrogate_, label[None], "dcg@3", [regret])[0]
        assert ranker.regret_bound_(regret) == pytest.approx(bound)
        assert isinstance(ranker.regret_bound_(regret), float)
    assert ranker.regret_bound_([0.3, 2.0]).shape == (2,)
    mixed = ranker.fit(X, np.vstack([np.tile(label, (30, 1)), np.tile(2 * label, (30, 1))]))
    squares = [
        regret_bound(ranker.surrogate_, scale * label[None], "dcg@3", [1.0])[0] ** 2
        for scale in (1, 2)
    ]
    assert mixed.bound_factor_ == pytest.approx(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("name", ORDER_PRESERVING)
@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
def test_bound_of_documents_is_in_the_unit_of_the_measure(name, scale):
    """NDCG is the same for grades of any scale; fitted utilities are not."""
    X, _, qid = make_ranking(20, 4, n_features=2, random_state=0)
    label = scale * np.array([2.0, 1.0, 0.0, 0.0])
    y = np.tile(label, 20)
    ranker = OrderPreservingRegressor(target_loss="ndcg", surrogate=name).fit(X, y, qid=qid)
    own = regret_bound(ranker.surrogate_, label[None], "ndcg", [1.0])[0]
    assert ranker.bound_factor_ == pytest.approx(own / dcg(label))
    if name.endswith("squared"):  # the worst scores of a wrong order all but tie
        tie = label.mean() + 1e-6 * np.arange(4)
        over = surrogate_loss(ranker.surrogate_, label, tie)[0]
        lost = 1.0 - ndcg_score(label, tie)
        assert 0.7 < lost / ranker.regret_bound_(over) <= 1.0


def test_lists_of_different_lengths_have_their_own_constant(documents):
    X, y, qid = documents
    weight = (qid % 3 > 0).astype(float)
    ranker = OrderPreservingRegressor(target_loss="dcg", surrogate="pairwise_squared")
    ranker.fit(X, y, qid=qid, sample_weight=weight)
    squares = [
        regret_bound("pairwise_squared", y[qid == q][None], "dcg", [1.0])[0] ** 2
        for q in range(30)
        if q % 3
    ]
    assert ranker.bound_factor_ == pytest.approx(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("name", ["ranknet", "ranksvm"])
def test_no_bound_where_there_is_none(name, items):
    ranker = OrderPreservingRegressor(surrogate=name, target_loss="dcg").fit(*items)
    assert np.isnan(ranker.regret_bound_(1.0))


# Labels, layouts, scikit-learn's tools ------------------------------------------------


@pytest.mark.parametrize(("loss", "labels"), POSITIONAL)
def test_labels_of_every_positional_measure(loss, labels):
    rng = np.random.default_rng(0)
    y = labels(rng, 40, 5)
    X = rng.normal(size=(40, 3))
    ranker = OrderPreservingRegressor(target_loss=loss).fit(X, y)
    assert ranker.predict(X).shape == (40, 5)
    assert np.isfinite(ranker.score(X, y))
    rows = np.column_stack([y.ravel() + rng.normal(size=200), rng.normal(size=200)])
    qid = np.repeat(np.arange(40), 5)
    ranker.fit(rows, y.ravel(), qid=qid)
    assert ranker.coef_[0] > abs(ranker.coef_[1])
    assert ranker.n_items_ is None
    assert sorted(ranker.rank(rows, qid=qid)[:5]) == [1, 2, 3, 4, 5]


def test_names_of_measures(documents):
    X, y, qid = documents
    for name, labels in [
        ("precision@3", y > 1),
        ("recall@3", y > 1),
        ("auc", y > 1),
        ("spearman", y),
        ("eru", y),
        ("ndcg_exp@5", y),
    ]:
        ranker = OrderPreservingRegressor(target_loss=name).fit(X, 1.0 * labels, qid=qid)
        flipped = -ranker.predict(X)
        measure = ranker.target_loss_.measure
        assert ranker.score(X, 1.0 * labels, qid=qid) > measure(1.0 * labels, flipped, qid=qid)


def test_pipelines_searches_and_scorers(documents):
    X, y, qid = documents
    target = ranking_target(y, qid)
    pipe = make_pipeline(MinMaxScaler(), OrderPreservingRegressor(target_loss="ndcg@5"))
    grid = {
        "orderpreservingregressor__surrogate": ["cross_entropy", "ranknet", PointwiseLogistic(9)],
        "orderpreservingregressor__alpha": [0.01, 1.0],
    }
    search = GridSearchCV(
        pipe, grid, cv=GroupKFold(3), scoring=make_ranking_scorer("ndcg@3"), error_score="raise"
    ).fit(X, target, groups=qid)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.6
    with config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            OrderPreservingRegressor(), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3)
        )
    carried = cross_val_score(OrderPreservingRegressor(), X, target, groups=qid, cv=GroupKFold(3))
    np.testing.assert_allclose(scores, carried)


def test_clone_pickle_and_names(documents):
    X, y, qid = documents
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = OrderPreservingRegressor(surrogate="pointwise_logistic", target_loss=DCG(k=3))
    ranker.fit(frame, y, qid=qid)
    assert ranker.feature_names_in_.tolist() == list("abcd")
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
    np.testing.assert_array_equal(clone(ranker).fit(frame, y, qid=qid).coef_, ranker.coef_)
    assert ranker.surrogate == "pointwise_logistic"
    assert ranker.target_loss_ is not ranker.target_loss
    ranker.target_loss.k = 1
    assert ranker.target_loss_.k == 3
    with pytest.raises(NotFittedError):
        clone(ranker).predict(frame)
    with pytest.raises(NotFittedError):
        clone(ranker).regret_bound_(1.0)
    assert get_tags(ranker).input_tags.sparse


def test_surrogate_objects_are_left_alone(items):
    X, y = items
    own = with_eta("pointwise_exponential", eta=7.0)
    ranker = OrderPreservingRegressor(surrogate=own, target_loss="dcg").fit(X, y)
    assert ranker.surrogate_ is not own
    assert ranker.surrogate_.eta == own.eta == 7.0
    assert SURROGATES["pointwise_exponential"].eta == 1.0


def test_eta_is_above_the_utilities_that_count(items):
    X, y = items
    w = (y.max(axis=1) < 2).astype(float)
    assert 0 < w.sum() < len(w)
    assert y.max() == 2
    settings = {"target_loss": "dcg"}
    for surrogate in ("pointwise_logistic", PointwiseLogistic(eta=None)):
        ranker = OrderPreservingRegressor(surrogate=surrogate, **settings)
        assert ranker.fit(X, y, sample_weight=w).surrogate_.eta == 1.5
        assert ranker.fit(X, y).surrogate_.eta == 3.0
    own = OrderPreservingRegressor(surrogate=PointwiseLogistic(eta=1.2), **settings)
    assert own.fit(X, y, sample_weight=w).surrogate_.eta == 1.2
    with pytest.raises(ValueError, match="increase eta"):
        own.fit(X, y)


# Bad input ----------------------------------------------------------------------------

BAD = {
    "map": ({"target_loss": "map"}, ValueError, "need a positional measure.*'ndcg@10'"),
    "pd": ({"target_loss": "pd"}, ValueError, "LowRankSurrogateRanker takes the others"),
    "share": ({"target_loss": "precision@25%"}, ValueError, "positional"),
    "share object": ({"target_loss": PrecisionAtShare(share=0.5)}, ValueError, "positional"),
    "measure": ({"target_loss": "mrr"}, ValueError, "without a low-rank form"),
    "surrogate": ({"surrogate": "hinge"}, ValueError, "Unknown surrogate 'hinge'"),
    "no surrogate": ({"surrogate": None}, TypeError, "a name or a Surrogate"),
    "eta": ({"surrogate": PointwiseExponential(eta=2.0)}, ValueError, "largest is 2: increase eta"),
    "solver": ({"solver": "gram"}, ValueError, "solver must be one of"),
    "alpha": ({"alpha": -1.0}, ValueError, "alpha must be"),
    "infinite alpha": ({"alpha": np.inf}, ValueError, "alpha must be"),
    "tol": ({"tol": 0.0}, ValueError, "tol must be"),
    "max_iter": ({"max_iter": 0}, ValueError, "max_iter must be"),
    "standardize": ({"standardize": "yes"}, ValueError, "standardize must be"),
    "fit_intercept": ({"fit_intercept": None}, ValueError, "fit_intercept must be"),
    "warm_start": ({"warm_start": 2}, ValueError, "warm_start must be"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_leave_no_trace(case, items):
    X, y = items
    parameters, error, message = BAD[case]
    ranker = OrderPreservingRegressor(target_loss="dcg").fit(X, y)
    ranker.set_params(**parameters)
    before = dict(vars(ranker))
    with pytest.raises(error, match=message):
        ranker.fit(X, y)
    assert vars(ranker) == before
    with pytest.raises(error, match=message):
        OrderPreservingRegressor(**{"target_loss": "dcg"} | parameters).fit(X, y)


@pytest.mark.parametrize(
    ("loss", "y", "settings", "message"),
    [
        (NDCG(), [[1.0, np.nan], [0.0, 1.0]], {}, "normaliser"),
        (RecallAtK(k=1), [[1.0, 2.0], [0.0, 1.0]], {}, "0 or 1"),
        (PrecisionAtK(k=1), [[1.0, np.nan], [0.0, np.nan]], {}, "no query judges"),
        ("dcg", [[1.0, -1.0], [0.0, 1.0]], {}, "negative|>= 0"),
        ("dcg", [[1.0, 2.0], [0.0, 1.0]], {"qid": [0, 1]}, "takes no qid"),
        ("dcg", [1.0, 0.0], {"qid": [0, 0, 1]}, "one query id for each row"),
        ("dcg", [1.0, 0.0], {"sample_weight": [0.0, 0.0]}, "at least one row must count"),
        ("dcg", [1.0, np.nan], {}, "leave out the rows"),
    ],
)
def test_bad_labels_are_named(loss, y, settings, message):
    ranker = OrderPreservingRegressor(target_loss=loss)
    with pytest.raises(ValueError, match=message):
        ranker.fit([[0.0], [1.0]], np.array(y), **settings)
    assert not hasattr(ranker, "coef_")
