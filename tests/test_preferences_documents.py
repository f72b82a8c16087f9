"""PairwiseDAGRanker on documents: the models of their preferences."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import (
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_duels, make_ranking
from lowrank_rank.decoders import decode_pd_dag
from lowrank_rank.target_losses import PairwiseDisagreement

from .measures import disagreement
from .preference_cases import all_pairs, products
from .refusals import refused_by


def both(a, b):
    """Rows of two documents side by side, of which the model takes the antisymmetric part."""
    return sparse.hstack([a, b]) if sparse.issparse(a) else np.hstack([a, b])


MODELS = [
    {},
    {"pair_features": both},
    {"pair_features": products},
    {"pair_features": lambda a, b: np.hstack([a - b, a**2 - b**2])},
    {"decoder": "score"},
]


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(12, (1, 8), n_features=4, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))  # ids in any order
    return X[order], y[order], np.array([f"q{i}" for i in qid])[order]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["unit", "difference"])
def test_difference_model_is_least_squares_on_pairs(documents, kind, weighted):
    X, y, qid = documents
    weights = (
        np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        if weighted
        else np.ones(len(y))
    )
    loss = PairwiseDisagreement(kind)
    settings = {"target_loss": loss, "alpha": 0.0}
    ranker = PairwiseDAGRanker(**settings).fit(X, y, qid=qid, sample_weight=weights)
    i, j, target, weight = all_pairs(y, qid, weights, kind)
    by_hand = LinearRegression(fit_intercept=False).fit(
        X[i] - X[j], target, sample_weight=weight
    )
    np.testing.assert_allclose(ranker.coef_, by_hand.coef_, rtol=1e-8)
    other = LowRankSurrogateRanker(**settings).fit(X, y, qid=qid, sample_weight=weights)
    np.testing.assert_allclose(ranker.coef_, other.coef_)
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(ranker.predict(X), (X - mean) @ by_hand.coef_, rtol=1e-8)


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
        if "pair_features" in settings:
            ranks = decode_pd_dag(table[np.newaxis]).ranks[0]
            np.testing.assert_array_equal(mine, len(table) - ranks)
        else:  # a difference of scores
            np.testing.assert_allclose(table, mine[:, None] - mine[None, :], atol=1e-12)
    np.testing.assert_array_equal(ranker.predict_surrogate(X)[:, 0], ranker.predict(X))
    one = np.array([ranker.predict(row[np.newaxis])[0] for row in X])
    np.testing.assert_allclose(
        one, ranker.predict(X), atol=1e-14
    )  # a base may use BLAS
    value = ranker.score(X, y, qid=qid)
    assert value == -disagreement(y, scores, qid=qid)
    ranks = ranker.rank(X, qid=qid)
    for q in ids:
        assert sorted(ranks[qid == q]) == list(range(1, (qid == q).sum() + 1))
    shuffled = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        ranker.predict(X[shuffled], qid=qid[shuffled])
        if not tied(tables)
        else scores[shuffled],
        scores[shuffled],
    )


def tied(tables):
    """Whether the order of equal items, or of equal edges, follows the rows."""
    return any(
        len(np.unique(np.abs(t[np.triu_indices(len(t), 1)])))
        < len(t) * (len(t) - 1) // 2
        for t in tables
    )


@pytest.mark.parametrize("settings", MODELS[:2], ids=range(2))
def test_sparse_is_dense(documents, settings):
    X, y, qid = documents
    dense = PairwiseDAGRanker(**settings).fit(X, y, qid=qid)
    thin = PairwiseDAGRanker(**settings).fit(sparse.csr_matrix(X), y, qid=qid)
    np.testing.assert_allclose(
        thin.predict(sparse.csr_matrix(X)), dense.predict(X), atol=1e-6
    )
    np.testing.assert_allclose(
        thin.predict(sparse.csr_matrix(X), qid=qid),
        dense.predict(X, qid=qid),
        atol=1e-12,
    )


def test_circular_duels_need_products_of_features():
    data = make_duels(3000, cyclic=1.0, noise=0.2, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    train, test = slice(0, 4000), slice(4000, None)
    share = {}
    for name, ranker in {
        "scores": PairwiseDAGRanker(),
        "tree scores": LowRankSurrogateRanker(
            target_loss="pd",
            estimator=DecisionTreeRegressor(min_samples_leaf=20, random_state=0),
        ),
        "products": PairwiseDAGRanker(pair_features=products),
    }.items():
        ranker.fit(X[train], y[train], qid=qid[train])
        share[name] = -ranker.score(X[test], y[test], qid=qid[test])
    bayes = np.mean(np.minimum(data.probabilities, 1 - data.probabilities)[2000:])
    assert share["products"] < bayes + 0.03
    assert min(share["scores"], share["tree scores"]) > 0.3


def test_transitive_duels_do_not():
    data = make_duels(3000, cyclic=0.0, noise=0.2, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    train, test = slice(0, 4000), slice(4000, None)
    scores = [
        PairwiseDAGRanker(pair_features=kind)
        .fit(X[train], y[train], qid=qid[train])
        .score(X[test], y[test], qid=qid[test])
        for kind in ("difference", products)
    ]
    assert abs(scores[0] - scores[1]) < 0.02


def test_cross_validation_decodes_each_list(documents):
    X, y, qid = documents
    model = make_pipeline(StandardScaler(), PairwiseDAGRanker(pair_features=both))
    target = ranking_target(y, qid)
    scorer = make_ranking_scorer("pd")
    model.fit(X, target)
    decoded = model[-1].predict(model[:-1].transform(X), qid=qid)
    assert scorer(model, X, target) == -disagreement(y, decoded, qid=qid)
    result = cross_validate(
        model,
        X,
        target,
        groups=qid,
        cv=GroupKFold(3),
        scoring=scorer,
        error_score="raise",
    )
    assert np.isfinite(result["test_score"]).all()


def test_no_pairs_at_all():
    X, y = np.arange(6.0).reshape(3, 2), [2.0, 1.0, 0.0]
    for settings in MODELS[:4]:
        ranker = PairwiseDAGRanker(**settings)
        with pytest.warns(UserWarning, match="Each of|No label") as caught:
            ranker.fit(X, y, qid=[0, 1, 2])
        words = [" ".join(str(one.message).split()[:3]) for one in caught]
        assert words == ["Each of the", "No label prefers"]
        with pytest.warns(UserWarning, match="No label prefers"):
            ranker.fit(X, np.ones(3))
        np.testing.assert_array_equal(ranker.predict(X), 0.0)


def test_bad_documents(documents):
    X, y, qid = documents
    wrong = y.copy()
    wrong[3] = np.nan
    with refused_by("missing labels"):
        PairwiseDAGRanker().fit(X, wrong, qid=qid)
    with pytest.raises(ValueError, match="one row for each pair"):
        PairwiseDAGRanker(pair_features=lambda a, b: a[0]).fit(X, y, qid=qid)
    ranker = PairwiseDAGRanker().fit(X, y, qid=qid)
    with refused_by("another number of ids"):
        ranker.predict(X, qid=[0, 1])
    with refused_by("ids lost in score"):
        ranker.score(X, y)


def test_one_list_without_ids_is_decoded(documents):
    X, y, qid = documents
    one = qid == qid[0]
    ranker = PairwiseDAGRanker(pair_features=both).fit(X, y, qid=qid)
    zeros = np.zeros(one.sum())
    with refused_by("ids lost in score"):
        ranker.rank(X[one])
    assert sorted(ranker.rank(X[one], qid=zeros)) == list(range(1, one.sum() + 1))
    single = PairwiseDAGRanker(pair_features=both).fit(X[one], y[one])
    np.testing.assert_array_equal(single.rank(X[one]), single.rank(X[one], qid=zeros))
    with pytest.warns(UserWarning, match="was fitted without query ids"):
        assert single.score(X[one], y[one]) == single.score(X[one], y[one], qid=zeros)
    scorer = make_ranking_scorer("pd", one_list=True)
    assert scorer(single, X[one], y[one]) == single.score(X[one], y[one], qid=zeros)


def test_list_too_long_to_decode():
    ranker = PairwiseDAGRanker(pair_features=both).fit([[0.0], [1.0]], [0, 1])
    with refused_by("many pairs of documents"):
        ranker.rank(np.zeros((10_001, 1)))
    assert ranker.predict(np.zeros((10_001, 1))).shape == (10_001,)


def test_own_score_functions_reach_their_documents():
    """Equal lists, rows in any order: r times the share that the default regresses."""
    X, y, qid = make_ranking(20, 5, n_features=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    own = PairwiseDAGRanker(
        decoder="score",
        score_function=lambda u: u.sum(axis=2) - u.sum(axis=1),
        alpha=0.0,
    ).fit(X, y, qid=qid)
    default = PairwiseDAGRanker(decoder="score", alpha=0.0).fit(X, y, qid=qid)
    np.testing.assert_allclose(own.coef_, 5.0 * default.coef_)


def test_own_score_functions_and_weights():
    X, y, qid = make_ranking(6, 10, n_features=3, random_state=0)
    weights = (np.random.default_rng(0).uniform(size=len(y)) < 0.6).astype(float)

    def own():
        return PairwiseDAGRanker(
            decoder="score", score_function=lambda u: u.sum(2) - u.sum(1)
        )

    some = own().fit(X, y, qid=qid, sample_weight=weights)
    kept = weights > 0
    np.testing.assert_allclose(
        some.coef_, own().fit(X[kept], y[kept], qid=qid[kept]).coef_
    )
    weights[kept] = np.arange(1, kept.sum() + 1)
    with refused_by("weights within a list"):
        own().fit(X, y, qid=qid, sample_weight=weights)


def test_features_of_the_fit_are_those_of_predict(documents):
    X, y, qid = documents
    ranker = PairwiseDAGRanker(pair_features=lambda a, b: a - b)
    ranker.fit(X, y, qid=qid)
    before = ranker.predict(X)
    ranker.set_params(pair_features=lambda a, b: b - a)
    np.testing.assert_array_equal(ranker.predict(X), before)


@pytest.mark.parametrize(
    "estimator", ["trees", "logistic", DecisionTreeRegressor()], ids=str
)
@pytest.mark.parametrize(
    "settings", [{}, {"pair_features": products}, {"decoder": "score"}]
)
def test_regressors_of_documents_are_refused_with_the_line_to_write(
    documents, settings, estimator
):
    X, y, qid = documents
    line = r"LowRankSurrogateRanker takes it. Write estimator = \"auto\""
    with pytest.raises(ValueError, match=line):
        PairwiseDAGRanker(estimator=estimator, **settings).fit(X, y, qid=qid)
