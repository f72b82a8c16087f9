"""PairwiseDAGRanker on documents: pairs within lists and the models of their preferences."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import (
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_duels, make_ranking
from lowrank_rank.decoders import decode_pd_dag
from lowrank_rank.estimators import _pair_models
from lowrank_rank.estimators._pairs import pair_of_code, pairs_within
from lowrank_rank.metrics import pairwise_disagreement_loss
from lowrank_rank.solvers._skew import _Problem
from lowrank_rank.target_losses import PairwiseDisagreement

MODELS = [
    {},
    {"pair_features": "bilinear"},
    {"pair_features": "concatenation"},
    {"estimator": DecisionTreeRegressor(random_state=0)},
    {"estimator": Ridge(), "pair_features": "bilinear"},
    {"pair_features": lambda a, b: np.hstack([a - b, a**2 - b**2])},
    {"decoder": "score"},
    {"decoder": "score", "estimator": DecisionTreeRegressor(random_state=0)},
]


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(12, (1, 8), n_features=4, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))  # ids in any order
    return X[order], y[order], np.array([f"q{i}" for i in qid])[order]


def all_pairs(y, qid, weights, list_weights, loss):
    """Every pair of a list, as written in the formula."""
    power = {"rows": 0, "lists": -1, "pairs": 1}[list_weights]
    rows = []
    for i in range(len(y)):
        for j in range(i + 1, len(y)):
            if qid[i] == qid[j]:
                inside = qid == qid[i]
                weight = inside.sum() ** float(power) / weights[inside].sum()
                target = y[i] - y[j] if loss == "difference" else np.sign(y[i] - y[j])
                rows.append((i, j, target, weight * weights[i] * weights[j]))
    return [np.array(column) for column in zip(*rows, strict=True)]


# Pairs ------------------------------------------------------------------------------


def test_codes_number_the_pairs():
    i, j = pair_of_code(np.arange(300 * 299 // 2))
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == 300 * 299 // 2
    assert np.all((i >= 0) & (i < j) & (j < 300))
    for large in (10**6, 94_906_266):  # codes near 2**52
        j = np.array([large - 1, large])
        code = j * (j - 1) // 2
        np.testing.assert_array_equal(pair_of_code(code), [[0, 0], j])
        np.testing.assert_array_equal(pair_of_code(code - 1), [j - 2, j - 1])


@pytest.mark.parametrize("list_weights", ["rows", "lists", "pairs"])
@pytest.mark.parametrize("kind", ["unit", "difference"])
def test_each_pair_of_a_list_once(documents, list_weights, kind):
    _, y, qid = documents
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    pairs = pairs_within(
        RankingLists.from_qid(qid),
        y,
        weights,
        PairwiseDisagreement(kind),
        list_weights,
        None,
        np.random.RandomState(0),
    )
    i, j, target, weight = all_pairs(y, qid, weights, list_weights, kind)
    flip = np.where(pairs.first < pairs.second, 1.0, -1.0)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    order = np.lexsort((high, low))
    np.testing.assert_array_equal(low[order], i)
    np.testing.assert_array_equal(high[order], j)
    np.testing.assert_allclose((pairs.targets * flip)[order], target)
    np.testing.assert_allclose(pairs.weights[order], weight, rtol=2e-6)  # 20 bits of the factor


def test_samples_are_distinct_fair_and_repeatable(documents):
    _, y, qid = documents
    lists, loss, ones = RankingLists.from_qid(qid), PairwiseDisagreement(), np.ones(len(y))
    whole = pairs_within(lists, y, ones, loss, "pairs", None, np.random.RandomState(0))
    count = np.zeros((len(y), len(y)))
    for seed in range(300):
        some = pairs_within(lists, y, ones, loss, "pairs", 20, np.random.RandomState(seed))
        assert len(some.first) == 20
        assert some.n_all == len(whole.first)
        assert some.weights.sum() == pytest.approx(whole.weights.sum())
        count[some.first, some.second] += 1
        assert len(set(zip(some.first.tolist(), some.second.tolist(), strict=True))) == 20
    drawn = count[whole.first, whole.second] / 300
    assert count.sum() == 6000
    assert np.abs(drawn - 20 / len(whole.first)).max() < 0.12
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    ranker = PairwiseDAGRanker(estimator=Ridge(), max_pairs=20, random_state=3)
    first, second = (ranker.fit(X, y, qid=qid).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert ranker.n_pairs_ == 20


# Models -----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("list_weights", ["rows", "lists", "pairs"])
@pytest.mark.parametrize("kind", ["unit", "difference"])
def test_difference_model_is_least_squares_on_pairs(documents, kind, list_weights, weighted):
    X, y, qid = documents
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    loss = PairwiseDisagreement(kind)
    settings = {"target_loss": loss, "list_weights": list_weights, "alpha": 0.0}
    ranker = PairwiseDAGRanker(**settings).fit(X, y, qid=qid, sample_weight=weights)
    i, j, target, weight = all_pairs(y, qid, weights, list_weights, kind)
    by_hand = LinearRegression(fit_intercept=False).fit(X[i] - X[j], target, sample_weight=weight)
    np.testing.assert_allclose(ranker.coef_, by_hand.coef_, rtol=1e-8)
    other = LowRankSurrogateRanker(**settings).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_allclose(ranker.coef_, other.coef_)
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(ranker.predict(X), (X - mean) @ by_hand.coef_, rtol=1e-8)


def test_gradient_of_the_bilinear_objective():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    i, j = np.triu_indices(20, 1)
    pairs = SimpleNamespace(
        first=i, second=j, targets=rng.normal(size=len(i)), weights=rng.uniform(size=len(i))
    )
    problem = _Problem(X, X.mean(axis=0), pairs, 0.7)
    theta = rng.normal(size=5 * 4)
    value, gradient = problem.value_and_gradient(theta)
    error = check_grad(
        lambda t: problem.value_and_gradient(t)[0],
        lambda t: problem.value_and_gradient(t)[1],
        theta,
    )
    assert error < 1e-5 * np.linalg.norm(gradient)
    w, p, q = theta[:4], theta[4:12].reshape(2, 4), theta[12:].reshape(2, 4)
    A, Z = p.T @ q - q.T @ p, X - X.mean(axis=0)
    g = (Z[i] - Z[j]) @ w + np.einsum("ma,ab,mb->m", Z[i], A, Z[j])
    by_hand = pairs.weights @ (g - pairs.targets) ** 2 + 0.7 * (w @ w + (A**2).sum() / 2.0)
    assert value == pytest.approx(by_hand)


def test_full_rank_bilinear_model_is_ridge_on_products():
    """With enough planes the factors reach the minimum of the convex problem."""
    data = make_duels(300, n_features=4, cyclic=0.7, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    ranker = PairwiseDAGRanker(pair_features="bilinear", n_components=2, tol=1e-12).fit(
        X, y, qid=qid
    )
    Z = X - X.mean(axis=0)
    a, b = np.arange(0, 600, 2), np.arange(1, 600, 2)
    i, j = np.triu_indices(4, 1)
    features = np.hstack([Z[a] - Z[b], Z[a][:, i] * Z[b][:, j] - Z[a][:, j] * Z[b][:, i]])
    by_hand = Ridge(alpha=1.0, fit_intercept=False)
    by_hand.fit(features, np.sign(y[a] - y[b]), sample_weight=np.full(300, 0.5))
    A = ranker.components_[0].T @ ranker.components_[1]
    A = A - A.T
    np.testing.assert_allclose(ranker.coef_, by_hand.coef_[:4], atol=1e-6)
    np.testing.assert_allclose(A[i, j], by_hand.coef_[4:], atol=1e-6)


@pytest.mark.parametrize("settings", MODELS, ids=range(len(MODELS)))
def test_preferences_are_antisymmetric_and_decoded(documents, settings):
    X, y, qid = documents
    ranker = PairwiseDAGRanker(**settings).fit(X, y, qid=qid)
    tables = ranker.predict_preferences(X, qid=qid)
    ids = list(dict.fromkeys(qid))
    assert [len(table) for table in tables] == [int((qid == q).sum()) for q in ids]
    scores = ranker.predict(X, qid=qid)
    for q, table in zip(ids, tables, strict=True):
        np.testing.assert_array_equal(table, -table.T)
        mine = scores[qid == q]
        if "components_" in vars(ranker) or "n_pairs_" in vars(ranker):
            ranks = decode_pd_dag(table[np.newaxis]).ranks[0]
            np.testing.assert_array_equal(mine, len(table) - ranks)
        else:  # a difference of scores
            np.testing.assert_allclose(table, mine[:, None] - mine[None, :], atol=1e-12)
    np.testing.assert_array_equal(ranker.predict_surrogate(X)[:, 0], ranker.predict(X))
    one = np.array([ranker.predict(row[np.newaxis])[0] for row in X])
    np.testing.assert_allclose(one, ranker.predict(X), atol=1e-14)  # a base may use BLAS
    value = ranker.score(X, y, qid=qid)
    assert value == -pairwise_disagreement_loss(y, scores, qid=qid)
    ranks = ranker.rank(X, qid=qid)
    for q in ids:
        assert sorted(ranks[qid == q]) == list(range(1, (qid == q).sum() + 1))
    shuffled = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        ranker.predict(X[shuffled], qid=qid[shuffled]) if not tied(tables) else scores[shuffled],
        scores[shuffled],
    )


def tied(tables):
    """Whether the order of equal items, or of equal edges, follows the rows."""
    return any(
        len(np.unique(np.abs(t[np.triu_indices(len(t), 1)]))) < len(t) * (len(t) - 1) // 2
        for t in tables
    )


@pytest.mark.parametrize("settings", MODELS[:3], ids=range(3))
def test_sparse_is_dense(documents, settings):
    X, y, qid = documents
    dense = PairwiseDAGRanker(**settings).fit(X, y, qid=qid)
    thin = PairwiseDAGRanker(**settings).fit(sparse.csr_matrix(X), y, qid=qid)
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), atol=1e-6)
    np.testing.assert_allclose(
        thin.predict(sparse.csr_matrix(X), qid=qid), dense.predict(X, qid=qid), atol=1e-12
    )


def test_many_features_start_from_singular_vectors():
    data = make_duels(400, n_features=30, cyclic=1.0, noise=0.1, random_state=0)
    ranker = PairwiseDAGRanker(pair_features="bilinear", n_components=1)
    ranker.fit(data.data, data.target, qid=data.qid)
    A = ranker.components_[0].T @ ranker.components_[1]
    A = A - A.T
    assert np.corrcoef(A.ravel(), data.interaction.ravel())[0, 1] > 0.7


def test_circular_duels_need_the_bilinear_term():
    data = make_duels(3000, cyclic=1.0, noise=0.2, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    train, test = slice(0, 4000), slice(4000, None)
    share = {}
    for name, ranker in {
        "scores": PairwiseDAGRanker(),
        "tree scores": LowRankSurrogateRanker(
            target_loss="pd", estimator=DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
        ),
        "bilinear": PairwiseDAGRanker(pair_features="bilinear"),
    }.items():
        ranker.fit(X[train], y[train], qid=qid[train])
        share[name] = -ranker.score(X[test], y[test], qid=qid[test])
    bayes = np.mean(np.minimum(data.probabilities, 1 - data.probabilities)[2000:])
    assert share["bilinear"] < bayes + 0.03
    assert min(share["scores"], share["tree scores"]) > 0.3


def test_transitive_duels_do_not():
    data = make_duels(3000, cyclic=0.0, noise=0.2, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    train, test = slice(0, 4000), slice(4000, None)
    scores = [
        PairwiseDAGRanker(pair_features=kind)
        .fit(X[train], y[train], qid=qid[train])
        .score(X[test], y[test], qid=qid[test])
        for kind in ("difference", "bilinear")
    ]
    assert abs(scores[0] - scores[1]) < 0.02


# Inside scikit-learn, and bad input -------------------------------------------------


def test_cross_validation_decodes_each_list(documents):
    X, y, qid = documents
    model = make_pipeline(StandardScaler(), PairwiseDAGRanker(pair_features="bilinear"))
    target = ranking_target(y, qid)
    scorer = make_ranking_scorer("pd")
    model.fit(X, target)
    decoded = model[-1].predict(model[:-1].transform(X), qid=qid)
    assert scorer(model, X, target) == -pairwise_disagreement_loss(y, decoded, qid=qid)
    result = cross_validate(
        model, X, target, groups=qid, cv=GroupKFold(3), scoring=scorer, error_score="raise"
    )
    assert np.isfinite(result["test_score"]).all()


def test_no_pairs_at_all():
    X, y = np.arange(6.0).reshape(3, 2), [2.0, 1.0, 0.0]
    for settings in MODELS[:5]:
        ranker = PairwiseDAGRanker(**settings)
        with pytest.warns(UserWarning, match="No label prefers one item") as caught:
            ranker.fit(X, y, qid=[0, 1, 2])
        assert len(caught) == 1
        with pytest.warns(UserWarning, match="or equal grades"):
            ranker.fit(X, np.ones(3))
        np.testing.assert_array_equal(ranker.predict(X), 0.0)


def test_bad_documents(documents):
    X, y, qid = documents
    wrong = y.copy()
    wrong[3] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        PairwiseDAGRanker().fit(X, wrong, qid=qid)
    with pytest.raises(ValueError, match="list_weights='pairs'"):
        PairwiseDAGRanker(estimator=KNeighborsRegressor()).fit(X, y, qid=qid)
    PairwiseDAGRanker(estimator=KNeighborsRegressor(), list_weights="pairs").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="one row for each pair"):
        PairwiseDAGRanker(pair_features=lambda a, b: a[0]).fit(X, y, qid=qid)
    with pytest.raises((TypeError, ValueError), match=r"dense|[Ss]parse"):
        PairwiseDAGRanker(estimator=Ridge(), pair_features="bilinear").fit(
            sparse.csr_matrix(X), y, qid=qid
        )
    ranker = PairwiseDAGRanker().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="qid has 2 entries"):
        ranker.predict(X, qid=[0, 1])
    with pytest.raises(ValueError, match="without qid"):
        ranker.score(X, y)


def test_iterations_that_do_not_suffice_warn(documents, capsys):
    X, y, qid = documents
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        PairwiseDAGRanker(pair_features="bilinear", max_iter=1).fit(X, y, qid=qid)
    PairwiseDAGRanker(pair_features="bilinear", verbose=1).fit(X, y, qid=qid)
    assert "L-BFGS iteration 10" in capsys.readouterr().out


def test_one_list_without_ids_is_decoded(documents):
    X, y, qid = documents
    one = qid == qid[0]
    ranker = PairwiseDAGRanker(pair_features="bilinear").fit(X, y, qid=qid)
    zeros = np.zeros(one.sum())
    np.testing.assert_array_equal(ranker.rank(X[one]), ranker.rank(X[one], qid=zeros))
    single = PairwiseDAGRanker(pair_features="bilinear").fit(X[one], y[one])
    assert single.score(X[one], y[one]) == single.score(X[one], y[one], qid=zeros)
    scorer = make_ranking_scorer("pd")
    assert scorer(single, X[one], y[one]) == single.score(X[one], y[one])


def test_list_too_long_to_decode():
    ranker = PairwiseDAGRanker(pair_features="bilinear").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="10000 documents at a time"):
        ranker.rank(np.zeros((10_001, 1)))
    assert ranker.predict(np.zeros((10_001, 1))).shape == (10_001,)


def test_regressors_are_antisymmetrised(documents):
    X, y, qid = documents
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    ranker = PairwiseDAGRanker(estimator=tree, pair_features="concatenation").fit(X, y, qid=qid)
    (h,) = ranker.estimators_
    a, b = X[:5], X[5:10]
    forth, back = h.predict(np.hstack([a, b])), h.predict(np.hstack([b, a]))
    assert not np.allclose(forth, -back), "a tree is not antisymmetric by itself"
    for i in range(5):
        table = ranker.predict_preferences(np.vstack([a[i], b[i]]))[0]
        assert table[0, 1] == pytest.approx((forth[i] - back[i]) / 2.0)
    middle = np.tile(ranker.mean_, (5, 1))
    average = h.predict(np.hstack([a, middle])) - h.predict(np.hstack([middle, a]))
    np.testing.assert_allclose(ranker.predict(a), average / 2.0)


def test_own_score_functions_reach_their_documents():
    """Equal lists, rows in any order: r times the share that the default regresses."""
    X, y, qid = make_ranking(20, 5, n_features=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    own = PairwiseDAGRanker(
        decoder="score", score_function=lambda u: u.sum(axis=2) - u.sum(axis=1), alpha=0.0
    ).fit(X, y, qid=qid)
    default = PairwiseDAGRanker(decoder="score", alpha=0.0).fit(X, y, qid=qid)
    np.testing.assert_allclose(own.coef_, 5.0 * default.coef_)


def test_rows_of_no_weight_form_no_pairs(documents):
    X, y, qid = documents
    weights = np.ones(len(y))
    weights[::3] = 0.0
    ranker = PairwiseDAGRanker(estimator=Ridge(), pair_features="bilinear")
    ranker.fit(X, y, qid=qid, sample_weight=weights)
    kept = weights > 0
    fewer = PairwiseDAGRanker(estimator=Ridge(), pair_features="bilinear")
    fewer.fit(X[kept], y[kept], qid=qid[kept])
    assert ranker.n_pairs_ == fewer.n_pairs_
    np.testing.assert_allclose(ranker.predict(X), fewer.predict(X))


def test_own_score_functions_and_weights():
    X, y, qid = make_ranking(6, 10, n_features=3, random_state=0)
    weights = (np.random.default_rng(0).uniform(size=len(y)) < 0.6).astype(float)

    def own():
        return PairwiseDAGRanker(decoder="score", score_function=lambda u: u.sum(2) - u.sum(1))

    some = own().fit(X, y, qid=qid, sample_weight=weights)
    kept = weights > 0
    np.testing.assert_allclose(some.coef_, own().fit(X[kept], y[kept], qid=qid[kept]).coef_)
    weights[kept] = np.arange(1, kept.sum() + 1)
    with pytest.raises(ValueError, match="takes no weights inside a list"):
        own().fit(X, y, qid=qid, sample_weight=weights)


def test_many_sparse_features_make_no_square_matrix():
    rng = np.random.default_rng(0)
    X = sparse.random(60, 20_000, 0.002, format="csr", random_state=0)
    y, qid = rng.integers(0, 2, 60), np.repeat(np.arange(20), 3)
    tracemalloc.start()
    ranker = PairwiseDAGRanker(pair_features="bilinear", max_iter=3)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(X, y, qid=qid)
    ranker.predict(X, qid=qid)
    trees = PairwiseDAGRanker(estimator=Ridge(), pair_features="concatenation").fit(X, y, qid=qid)
    trees.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # a square matrix has 3.2 GB


def test_too_many_numbers_of_pairs(monkeypatch):
    monkeypatch.setattr(_pair_models, "_MOST_ENTRIES", 1000)
    X, y, qid = make_ranking(20, 5, n_features=3, random_state=0)
    with pytest.raises(ValueError, match="smaller max_pairs"):
        PairwiseDAGRanker(estimator=Ridge()).fit(X, y, qid=qid)


def test_features_of_the_fit_are_those_of_predict(documents):
    X, y, qid = documents
    ranker = PairwiseDAGRanker(estimator=Ridge(), pair_features=lambda a, b: a - b)
    ranker.fit(X, y, qid=qid)
    before = ranker.predict(X)
    ranker.set_params(pair_features=lambda a, b: b - a)
    np.testing.assert_array_equal(ranker.predict(X), before)
