"""LowRankSurrogateRanker: the regression it solves, batches, layouts, weights, bad input."""

import os
import pickle
import re
import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import (
    LowRankSurrogateRanker,
    make_ranking_scorer,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import (
    DCG,
    NDCG,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
)

from .internals import TARGET_LOSSES
from .losses import IDS, LOSSES
from .reference import wide
from .refusals import refused_by


@pytest.fixture(scope="module")
def documents():
    return make_ranking(40, (2, 12), n_features=6, random_state=0)


@pytest.fixture(scope="module")
def items():
    data = make_label_ranking(
        60, 5, n_labels=4, n_grades=3, n_features=5, random_state=0
    )
    return data.data, data.target


def shuffled(X, y, qid, seed=0):
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order], qid[order]


# The regression that is solved ------------------------------------------------------


def scaled_ridge(alpha, X):
    """scikit-learn's ridge of standardised features, alpha beside the mean loss."""
    return make_pipeline(StandardScaler(), Ridge(alpha=alpha * len(X)))


def test_centred_ridge_is_the_pairwise_squared_loss(documents):
    """The gradient of sum_{i<j} (v_i - v_j - (s_i - s_j))^2 over pairs vanishes."""
    X, y, qid = documents
    weights = np.bincount(qid)[qid]  # a list of r documents has r times as many pairs
    ranker = LowRankSurrogateRanker(target_loss="dcg", alpha=0.7).fit(
        X, y, qid=qid, sample_weight=weights
    )
    squares = sum(
        weights[qid == q] @ (X[qid == q] - X[qid == q].mean(axis=0)) ** 2
        for q in np.unique(qid)
    )
    residual = y - X @ ranker.coef_
    gradient = 0.7 * squares * ranker.coef_
    for q in np.unique(qid):
        here = np.flatnonzero(qid == q)
        for a in here:
            for b in here[here > a]:
                gradient -= (residual[a] - residual[b]) * (X[a] - X[b])
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)


def test_uncentred_and_item_form_are_ridge_with_an_intercept(documents, items):
    X, y, qid = documents
    ours = LowRankSurrogateRanker(target_loss="dcg", centered=False, alpha=0.3)
    ours.fit(X, y, qid=qid)
    np.testing.assert_allclose(
        ours.predict(X), scaled_ridge(0.3, X).fit(X, y).predict(X)
    )
    X, y = items
    ours = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha=0.3).fit(
        X, y
    )
    theirs = scaled_ridge(0.3, X).fit(X, y)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), theirs[-1].coef_, atol=1e-10)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-10)


def test_one_factor_common_to_all_targets(documents):
    """Targets are gain * mean(Z) / Z: NDCG regresses in units of the gain."""
    X, y, qid = documents
    ideal = np.array([ndcg_denominator(y[qid == q]) for q in range(40)])
    lengths = np.bincount(qid)
    targets = np.divide(y, ideal[qid], out=np.zeros(len(y)), where=ideal[qid] > 0)
    positive = ideal > 0
    mean_ideal = np.average(ideal[positive], weights=lengths[positive])
    ours = LowRankSurrogateRanker(target_loss="ndcg", centered=False, alpha=0.1)
    ours.fit(X, y, qid=qid)
    theirs = scaled_ridge(0.1, X).fit(X, targets * mean_ideal)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def ndcg_denominator(y):
    return sum(g / np.log2(1 + p) for p, g in enumerate(sorted(y, reverse=True), 1))


@pytest.mark.parametrize("target_loss", ["ndcg", "dcg@3", "spearman", "pd"])
@pytest.mark.parametrize("centered", [True, False])
def test_sparse_dense_and_iterative_agree(documents, target_loss, centered):
    X, y, qid = shuffled(*documents)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    settings = {"target_loss": target_loss, "centered": centered, "alpha": 0.1}
    dense = LowRankSurrogateRanker(**settings).fit(X, y, qid=qid, sample_weight=w)
    assert dense.solver_ == "gram"
    many = np.hstack([X, np.zeros((len(X), 4000))])
    for solver, data in [
        ("gram", sparse.csr_matrix(X)),
        ("lsqr", many),
        ("lsqr", wide(X)),
    ]:
        other = LowRankSurrogateRanker(**settings, tol=1e-12)
        other.fit(data, y, qid=qid, sample_weight=w)
        assert other.solver_ == solver
        np.testing.assert_allclose(other.coef_[: X.shape[1]], dense.coef_, atol=1e-7)
        np.testing.assert_allclose(other.predict(data), dense.predict(X), atol=1e-6)


def test_many_features_iterate_and_say_so(capsys):
    rng = np.random.default_rng(0)
    X = sparse.random(300, 5000, 0.01, format="csr", random_state=0)
    y, qid = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    ranker = LowRankSurrogateRanker(target_loss="ndcg", verbose=1).fit(X, y, qid=qid)
    assert ranker.solver_ == "lsqr"
    assert ranker.n_iter_ > 1
    assert "'lsqr'" in capsys.readouterr().out
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LowRankSurrogateRanker(target_loss="ndcg", max_iter=2, tol=1e-12).fit(
            X, y, qid=qid
        )


# Batches ----------------------------------------------------------------------------


def test_fit_forgets_and_partial_fit_goes_on_from_fit(documents):
    X, y, qid = documents
    first = qid < 20
    whole = LowRankSurrogateRanker(alpha=0.1).fit(X, y, qid=qid)
    ranker = LowRankSurrogateRanker(alpha=0.1).fit(X[first], y[first], qid=qid[first])
    ranker.partial_fit(X[~first], y[~first], qid=qid[~first])
    np.testing.assert_allclose(ranker.coef_, whole.coef_, atol=1e-10)
    np.testing.assert_allclose(ranker.fit(X, y, qid=qid).coef_, whole.coef_)


def test_memory_of_statistics_does_not_grow(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)

    def size():
        return len(pickle.dumps(ranker))

    before = size()
    for step in range(1, 4):
        ranker.partial_fit(X, y, qid=qid + 100 * step)
    assert size() == before


def test_list_cut_across_calls_is_refused_and_nothing_changes(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker().partial_fit(X[:30], y[:30], qid=qid[:30])
    before, coef = dict(vars(ranker)), ranker.coef_.copy()
    assert qid[29] == qid[30]
    with pytest.raises(ValueError, match="is split"):
        ranker.partial_fit(X[30:], y[30:], qid=qid[30:])
    with pytest.raises(ValueError, match="set estimator='ridge'"):
        ranker.partial_fit(np.zeros((2, 6)), np.zeros((2, 3)))
    ranker.estimator = "ridge"
    with pytest.raises(
        ValueError, match="had one row per document, this one has 3 items"
    ):
        ranker.partial_fit(np.zeros((2, 6)), np.zeros((2, 3)))
    ranker.estimator = "auto"
    assert before.keys() == vars(ranker).keys()
    assert all(value is vars(ranker)[name] for name, value in before.items())
    assert np.array_equal(ranker.coef_, coef)


def test_partial_fit_needs_the_default_estimator():
    ranker = LowRankSurrogateRanker(estimator=Ridge())
    assert not hasattr(ranker, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        ranker.partial_fit([[0.0]], [1.0])


# Layouts, decoders, losses ----------------------------------------------------------


@pytest.mark.filterwarnings("ignore:No label has any utility")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", TARGET_LOSSES)
def test_every_name_fits_scores_and_ranks(name, documents, items):
    name = name.replace("[@k]", "@3").replace("@k", "@3").replace("@p%", "@50%")
    X, y = items
    y = np.minimum(y, 1)
    ranker = LowRankSurrogateRanker(target_loss=name).fit(X, y)
    ranks = ranker.rank(X)
    assert np.array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, 6), (60, 1)))
    assert ranker.score(X, y) == pytest.approx(
        ranker.target_loss_.measure(y, ranker.predict(X)), abs=1e-12
    )
    assert ranker.n_items_ == 5
    X, y, qid = documents
    y = np.minimum(y, 1)
    if name in ("prbep", "precision@50%"):
        with pytest.raises(ValueError, match="y as a matrix"):
            LowRankSurrogateRanker(target_loss=name).fit(X, y, qid=qid)
        return
    ranker = LowRankSurrogateRanker(target_loss=name).fit(X, y, qid=qid)
    random_score = ranker.target_loss_.measure(
        y, np.random.default_rng(0).uniform(size=len(y)), qid=qid
    )
    if name != "eru":  # its neutral grade is 2, these labels are 0 and 1
        assert ranker.score(X, y, qid=qid) > random_score
    ranks = ranker.rank(X, qid=qid)
    assert all(
        sorted(ranks[qid == q]) == list(range(1, sum(qid == q) + 1)) for q in range(40)
    )


@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_population_minimiser_is_bayes_optimal(loss, labels, seed):
    """One-hot x (one distribution per x): least squares is the conditional expectation.

    With the exact decoder the fitted ranker then has no regret at all against the empirical
    distribution of the labels at each x.
    """
    from lowrank_rank.calibration import conditional_regret

    rng = np.random.default_rng(seed)
    y = labels(rng, 60, 4)
    x = rng.integers(0, 6, 60)
    for name, decoder in loss.decoders.items():
        if not decoder.exact:
            continue
        ranker = LowRankSurrogateRanker(
            target_loss=loss, decoder=name, alpha=1e-10
        ).fit(np.eye(6)[x], y)
        probabilities = (x == np.arange(6)[:, None]) / np.bincount(x, minlength=6)[
            :, None
        ]
        ranks = ranker.rank(np.eye(6))
        regret = conditional_regret(loss, y, probabilities, ranks)
        np.testing.assert_allclose(regret, 0.0, atol=1e-7)


def test_map_decoders_in_item_form(items):
    X, y = items
    y = np.minimum(y, 1)
    assert LowRankSurrogateRanker(target_loss="map").fit(X, y).decoder_ == "exact"
    scores = {}
    for decoder in ("exact", "local_search", "diagonal", "sort"):
        ranker = LowRankSurrogateRanker(target_loss="map", decoder=decoder).fit(X, y)
        scores[decoder] = ranker.predict(X)
        assert ranker.predict_surrogate(X).shape == (60, 5 if decoder == "sort" else 15)
        np.testing.assert_array_equal(
            np.argsort(-scores[decoder], axis=1, kind="stable"),
            np.argsort(ranker.rank(X), axis=1),
        )
    np.testing.assert_array_equal(
        scores["exact"][0],
        np.sort(scores["exact"][0])[np.argsort(np.argsort(scores["exact"][0]))],
    )
    assert set(scores["exact"].ravel()) == set(range(5))
    long = np.random.default_rng(0).integers(0, 2, (10, 20)).astype(float)
    assert (
        LowRankSurrogateRanker(target_loss="map").fit(X[:10], long).decoder_
        == "local_search"
    )


def test_preferences(items):
    X, y = items
    preferences = (y[:, :, None] > y[:, None, :]).astype(float)
    by_grades = LowRankSurrogateRanker(target_loss="pd", estimator="ridge").fit(X, y)
    by_preferences = clone(by_grades).fit(X, preferences)
    np.testing.assert_array_equal(by_grades.rank(X), by_preferences.rank(X))
    assert by_preferences.score(X, preferences) == pytest.approx(by_grades.score(X, y))
    with pytest.raises(ValueError, match="target_loss='pd'"):
        LowRankSurrogateRanker(target_loss="ndcg").fit(X, preferences)


def test_a_dummy_regressor_is_the_order_of_the_item_means(items):
    """The constant that the guide prints beside models of items, with gaps too."""
    X, y = items
    y = y.astype(float)
    y[::3, 1] = np.nan
    constant = LowRankSurrogateRanker(target_loss="dcg", estimator=DummyRegressor())
    scores = constant.fit(X, y).predict(X)
    np.testing.assert_allclose(scores, np.tile(np.nanmean(y, axis=0), (len(y), 1)))


def test_the_refusal_of_missing_labels_names_a_target_loss_that_works(items):
    X, y = items
    y = y.astype(float)
    y[0, 1] = np.nan
    with pytest.raises(ValueError, match="needs every item judged") as refused:
        LowRankSurrogateRanker().fit(X, y)
    losses = re.search(r"Measures that do not: (.+)\.", str(refused.value))[1].split(
        ", "
    )
    for loss in set(losses) - {"precision@10", "eru"}:  # ten items, grades above 2
        ranker = LowRankSurrogateRanker(target_loss=loss)
        assert ranker.fit(X, y).rank(X).shape == y.shape


# Weights ----------------------------------------------------------------------------


def test_list_of_weight_zero_is_no_list(documents):
    X, y, qid = documents
    weight = (qid >= 10).astype(float)
    kept = qid >= 10
    for base in ("ridge", DecisionTreeRegressor(random_state=0)):
        ranker = LowRankSurrogateRanker(target_loss="ndcg@3", estimator=base)
        weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=weight)
        without = clone(ranker).fit(X[kept], y[kept], qid=qid[kept])
        assert weighted.n_lists_ == without.n_lists_ == 30
        np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-8)


def test_weights_of_score_are_list_weights(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(target_loss="ndcg").fit(X, y, qid=qid)
    weight = np.random.default_rng(0).uniform(size=40)[qid]
    expected = ndcg_score(y, ranker.predict(X), qid=qid, sample_weight=weight)
    assert ranker.score(X, y, qid=qid, sample_weight=weight) == pytest.approx(expected)


# Missing labels ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "base", ["ridge", Ridge(), DecisionTreeRegressor(random_state=0), SVR()]
)
def test_not_judged_is_left_out_of_its_coordinate(items, base):
    X, y = items
    y = y.copy()
    y[np.random.default_rng(0).uniform(size=y.shape) < 0.3] = np.nan
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator=base).fit(X, y)
    u = ranker.predict_surrogate(X)
    for j in range(5):
        judged = ~np.isnan(y[:, j])
        is_own = base == "ridge"
        Z = X / X.std(axis=0) if is_own else X  # of all rows
        alone = Ridge(alpha=ranker.alpha_ * len(X)) if is_own else clone(base)
        alone.fit(Z[judged], y[judged, j])
        np.testing.assert_allclose(u[:, j], alone.predict(Z), atol=1e-8)
    assert np.isfinite(ranker.score(X, y))
    if is_own:
        many = np.hstack([X, np.zeros((len(X), 4000))])
        ranker.set_params(alpha=ranker.alpha_, tol=1e-12).fit(many, y)
        assert ranker.solver_ == "lsqr"
        np.testing.assert_allclose(ranker.predict_surrogate(many), u, atol=1e-6)


# Base regressors --------------------------------------------------------------------

BASES = [
    Ridge(),
    LinearRegression(),
    DecisionTreeRegressor(random_state=0),
    RandomForestRegressor(5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5),
    KNeighborsRegressor(),
    SVR(),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline(StandardScaler(), SVR()),
]


@pytest.mark.parametrize("base", BASES, ids=lambda b: type(b).__name__)
def test_any_regressor_both_layouts(documents, items, base):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(target_loss="ndcg", estimator=base).fit(
        X, y, qid=qid
    )
    assert ranker.predict(X).shape == y.shape
    assert ranker.predict_surrogate(X).shape == (len(y), 1)
    X, y = items
    ranker = LowRankSurrogateRanker(target_loss="ndcg", estimator=base, n_jobs=2).fit(
        X, y
    )
    assert ranker.predict(X).shape == y.shape
    columns = np.column_stack(
        [clone(base).fit(X, t).predict(X) for t in NDCG().encode(y).T]
    )
    if isinstance(base, KNeighborsRegressor | Ridge | LinearRegression | SVR):
        np.testing.assert_allclose(ranker.predict_surrogate(X), columns, atol=1e-3)
    assert hasattr(ranker, "coef_") == isinstance(base, Ridge | LinearRegression)


def test_regressor_gets_centred_targets_and_weights(documents):
    """By hand: grades minus their weighted mean in the list."""
    X, y, qid = documents
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    means = np.bincount(qid, w * y) / np.bincount(qid, w)
    base = DecisionTreeRegressor(max_depth=3, random_state=0)
    by_hand = clone(base).fit(X, y - means[qid], sample_weight=w)
    ours = LowRankSurrogateRanker(target_loss="dcg", estimator=base)
    ours.fit(X, y, qid=qid, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), by_hand.predict(X), atol=1e-8)
    by_rows = clone(base).fit(X, y, sample_weight=w)
    ours.set_params(centered=False).fit(X, y, qid=qid, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), by_rows.predict(X), atol=1e-8)


def centred_loss(y, scores, qid):
    residual = y - scores
    return np.sum(
        (residual - (np.bincount(qid, residual) / np.bincount(qid))[qid]) ** 2
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_named_trees_update_the_list_offsets_while_they_grow(documents, weighted):
    """By hand: ten trees, the mean residual of each list taken off, ten more on the same model."""
    X, y, qid = documents
    X = X.round(1)  # few values: scikit-learn's bins of weighted rows are the same
    w = (
        np.random.default_rng(0).uniform(0.5, 2.0, len(y))
        if weighted
        else np.ones(len(y))
    )
    named = LowRankSurrogateRanker(target_loss="dcg", estimator="trees", random_state=0)
    named.fit(X, y, qid=qid, sample_weight=w if weighted else None)
    by_hand = clone(named.estimator_).set_params(warm_start=True)
    scores = np.zeros(len(y))
    for n_iter in range(10, 201, 10):
        offsets = np.bincount(qid, w * (y - scores)) / np.bincount(qid, w)
        by_hand.set_params(max_iter=n_iter).fit(X, y - offsets[qid], sample_weight=w)
        scores = by_hand.predict(X)
    np.testing.assert_allclose(named.predict(X), scores, atol=1e-6)
    once = LowRankSurrogateRanker(
        target_loss="dcg", estimator=clone(named.estimator_)
    ).fit(X, y, qid=qid)
    if not weighted:
        assert centred_loss(y, named.predict(X), qid) < centred_loss(
            y, once.predict(X), qid
        )


def test_named_trees_are_boosted_in_documents_and_a_forest_of_fixed_items(
    documents, items
):
    X, y, qid = documents
    named = LowRankSurrogateRanker(estimator="trees", random_state=0).fit(X, y, qid=qid)
    assert isinstance(named.estimator_, HistGradientBoostingRegressor)
    assert (named.n_iter_, named.estimator_.n_iter_) == (1, 200)
    assert named.score(X, y, qid=qid) > LowRankSurrogateRanker().fit(
        X, y, qid=qid
    ).score(X, y, qid=qid)
    X, y = items
    named = LowRankSurrogateRanker(
        target_loss="dcg", estimator="trees", random_state=0
    ).fit(X, y)
    seed = named.estimator_.random_state
    seeded = ExtraTreesRegressor(random_state=seed).fit(X, y)
    X = X[::-1] + 0.5 * X  # rows that are new: each tree knows those of fit by heart
    np.testing.assert_allclose(named.predict(X), seeded.predict(X), atol=1e-9)


def test_named_trees_do_not_see_the_level_of_a_list(documents):
    """What no order can see: a number added to all grades of a list."""
    X, y, qid = documents
    levels = np.random.default_rng(0).integers(0, 50, qid.max() + 1).astype(float)
    trees = LowRankSurrogateRanker(target_loss="dcg", estimator="trees", random_state=0)
    scores = trees.fit(X, y, qid=qid).predict(X)
    np.testing.assert_allclose(
        trees.fit(X, y + levels[qid], qid=qid).predict(X), scores, atol=1e-6
    )
    plain = clone(trees).set_params(centered=False)
    assert not np.allclose(
        plain.fit(X, y, qid=qid).predict(X),
        plain.fit(X, y + levels[qid], qid=qid).predict(X),
        0.1,
    )


def test_linear_attributes_come_and_go(items):
    X, y = items
    ranker = LowRankSurrogateRanker(target_loss="ndcg", estimator=Ridge()).fit(X, y)
    assert ranker.coef_.shape == (5, 5)
    assert ranker.intercept_.shape == (5,)
    ranker.set_params(estimator=KNeighborsRegressor()).fit(X, y)
    assert not hasattr(ranker, "coef_")
    ranker.set_params(estimator="ridge").fit(X, y)
    assert ranker.coef_.shape == (5, 5)
    assert not hasattr(ranker, "estimators_")


def test_weights_reach_the_regressor_or_are_refused(documents):
    X, y, qid = documents
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    base = make_pipeline(StandardScaler(), DecisionTreeRegressor(random_state=0))
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator=base, centered=False)
    expected = clone(base).fit(X, y, decisiontreeregressor__sample_weight=w).predict(X)
    np.testing.assert_allclose(
        ranker.fit(X, y, qid=qid, sample_weight=w).predict(X), expected
    )
    with pytest.raises(ValueError, match="does not take sample_weight"):
        LowRankSurrogateRanker(estimator=KNeighborsRegressor()).fit(
            X, y, qid=qid, sample_weight=w
        )


@pytest.mark.parametrize("ensemble", [VotingRegressor, StackingRegressor])
def test_weights_reach_the_members_of_an_ensemble(ensemble, documents):
    X, y, qid = documents
    fit = {"qid": qid, "sample_weight": 1.0 + (qid % 3)}
    members = [("a", Ridge()), ("b", LinearRegression())]
    plain = LowRankSurrogateRanker(estimator=ensemble(members)).fit(X, y, qid=qid)
    weighted = LowRankSurrogateRanker(estimator=ensemble(members)).fit(X, y, **fit)
    assert np.abs(plain.predict(X) - weighted.predict(X)).max() > 1e-6
    without = LowRankSurrogateRanker(
        estimator=ensemble([*members, ("c", KNeighborsRegressor())])
    )
    with pytest.raises((ValueError, TypeError), match=r"sample.weight"):
        without.fit(X, y, **fit)


def test_random_state_makes_fits_repeatable(documents):
    X, y, qid = documents
    base = RandomForestRegressor(3)
    a, b = (
        LowRankSurrogateRanker(estimator=base, random_state=1).fit(X, y, qid=qid)
        for _ in range(2)
    )
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    fixed = LowRankSurrogateRanker(
        estimator=RandomForestRegressor(3, random_state=5), random_state=1
    )
    assert fixed.fit(X, y, qid=qid).estimators_[0].random_state == 5


def test_nan_features_where_the_regressor_takes_them(documents):
    X, y, qid = documents
    X = X.copy()
    X[::7, 0] = np.nan
    base = HistGradientBoostingRegressor(max_iter=3)
    assert (
        LowRankSurrogateRanker(estimator=base).fit(X, y, qid=qid).predict(X).shape
        == y.shape
    )
    with refused_by("NaN among the features"):
        LowRankSurrogateRanker().fit(X, y, qid=qid)


# Bad input --------------------------------------------------------------------------


def bad_cases():
    X, y, qid = np.arange(8.0).reshape(4, 2), np.array([0.0, 1, 1, 0]), [1, 1, 2, 2]
    items = np.array([[0.0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    with_nan = items.copy()
    with_nan[2, 1] = np.nan
    nobody = items.copy()
    nobody[:, 1] = np.nan
    huge = np.array([0.0, 1, 5000, 0])
    infinite = X.copy()
    infinite[1, 1] = np.inf
    return {
        "lengths of X and y": ({}, (X, y[:3]), {}, "inconsistent"),
        "length of qid": ({}, (X, y), {"qid": [1, 2]}, "length 2, but there are 4 rows"),
        "length of weights": ({}, (X, y), {"sample_weight": [1, 2]}, "one weight per row"),
        "weights of queries": (
            {}, (X, y), {"qid": [2, 2, 1, 1], "sample_weight": [1, 2]},
            r"sample_weight\)\[numpy.unique\(qid, return_inverse=True\)\[1\]\]"),
        "a class as a loss": ({"target_loss": PrecisionAtK}, (X, y), {}, r"write PrecisionAtK\(\)"),
        "a class as a decoder": (
            {"target_loss": "pd", "decoder": PrecisionAtK}, (X, y), {}, r"write PrecisionAtK\(\)"),
        "inf in X": ({}, (infinite, y), {}, "infinity"),
        "nan in qid": ({}, (X, y), {"qid": [1, 1, np.nan, 2]}, "row 2"),
        "inf in qid": ({}, (X, y), {"qid": [1, 1, np.inf, 2]}, "row 2"),
        "nan in document y": ({}, (X, [0, np.nan, 1, 0]), {"qid": qid}, "row 1"),
        "nan in item y": ({}, (X, with_nan), {}, r"query 2, item 1.*needs every item judged"),
        "item judged by nobody": ({"target_loss": "dcg"}, (X, nobody), {}, "Column 1"),
        "negative grades for a binary loss": (
            {"target_loss": "map"}, (X, y - 1), {"qid": qid}, "negative grade"),
        "negative grades": ({}, (X, y - 1), {"qid": qid}, "negative grade"),
        "overflow": ({"target_loss": "ndcg_exp"}, (X, huge), {"qid": qid}, "overflows"),
        "k below 1": ({"target_loss": PrecisionAtK(k=0)}, (X, y), {}, "integer >= 1"),
        "share": ({"target_loss": "precision@101%"}, (X, items), {}, r"\(0, 1\]"),
        "unknown name": ({"target_loss": "ndgc@10"}, (X, y), {}, "ndcg"),
        "matrix y with qid": ({}, (X, items), {"qid": qid}, "takes no qid"),
        "empty": ({}, (X[:0], y[:0]), {}, "0 sample"),
        "weights all zero": ({}, (X, y), {"sample_weight": np.zeros(4)}, "zero"),
        "negative weight": ({}, (X, y), {"sample_weight": [1, -1, 1, 1]}, r"\[1\] is negative"),
        "decoder for documents": (
            {"target_loss": "map", "decoder": "exact"}, (X, y), {}, "fixed items"),
        "unknown decoder": ({"decoder": "exact"}, (X, items), {}, r"\['sort'\]"),
        "alpha": ({"alpha": -1.0}, (X, y), {}, "alpha must be .* or a finite number >= 0"),
        "four dimensions": ({}, (X, np.zeros((4, 2, 2, 2))), {}, "one, two or three"),
        "negative preference": (
            {"target_loss": "pd"}, (X, -np.ones((4, 2, 2))), {}, "opposite preference"),
    }  # fmt: skip


@pytest.mark.parametrize("case", bad_cases())
@pytest.mark.parametrize("base", ["auto", DecisionTreeRegressor(random_state=0)])
def test_bad_input_is_named_and_nothing_is_half_fitted(case, base):
    params, args, kwargs, message = bad_cases()[case]
    ranker = LowRankSurrogateRanker(**params, estimator=base)
    with pytest.raises(ValueError, match=message):
        ranker.fit(*args, **kwargs)
    assert vars(ranker).keys() == LowRankSurrogateRanker().get_params().keys()
    good = LowRankSurrogateRanker(estimator=base).fit([[0.0], [1.0]], [0, 1])
    fitted = dict(vars(good))
    with pytest.raises(ValueError, match=message):
        good.set_params(**params).fit(*args, **kwargs)
    changed = {k for k, v in vars(good).items() if v is not fitted[k]} - params.keys()
    assert not changed


def test_unknown_kinds():
    with refused_by("not a measure", TypeError):
        LowRankSurrogateRanker(target_loss=7).fit([[0.0], [1.0]], [0, 1])
    with refused_by("unhashable id", TypeError):
        LowRankSurrogateRanker().fit([[0.0], [1.0]], [0, 1], qid=[[1], [2]])


def test_a_fit_without_ids_is_of_one_list(documents):
    X, y, _ = documents
    model = LowRankSurrogateRanker().fit(X, y, one_list=True)
    assert np.array_equal(model.rank(X), model.rank(X, qid=np.zeros(len(y))))
    assert model.score(X, y) == model.score(X, y, qid=np.zeros(len(y)))
    model.partial_fit(X, y, qid=np.zeros(len(y)))  # from here on ids are known
    with refused_by("ids lost in score"):
        model.rank(X)


def test_score_and_rank_want_a_fitted_model(documents):
    X, y, _ = documents
    for call in (lambda m: m.score(X, y), lambda m: m.rank(X), lambda m: m.predict(X)):
        with pytest.raises(NotFittedError):
            call(LowRankSurrogateRanker())


def test_rank_checks_qid(documents, items):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    with refused_by("another number of ids"):
        ranker.rank(X, qid=[1, 2])
    X, y = items
    with pytest.raises(ValueError, match="takes no qid"):
        LowRankSurrogateRanker().fit(X, y).rank(X, qid=np.zeros(60))


DEGENERATE = {
    "no relevant item": np.array([0.0, 0, 0, 0, 1, 0, 0]),
    "one item": np.array([1.0, 0, 0, 1, 0, 1, 0]),
    "all relevant": np.array([1.0, 1, 1, 1, 1, 0, 1]),
    "nothing relevant at all": np.zeros(7),
}


@pytest.mark.filterwarnings("ignore:All grades of each query are equal")
@pytest.mark.filterwarnings("ignore:No label has any utility")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    "name", [n for n in TARGET_LOSSES if "p%" not in n and n != "prbep"]
)
@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.filterwarnings("ignore:Each of the . lists has a single item")
@pytest.mark.parametrize(
    "x", [np.zeros((7, 2)), np.arange(14.0).reshape(7, 2)], ids=["equal", "x"]
)
def test_degenerate_lists(name, case, x):
    """No other warning, no NaN, in fit, predict and score."""
    name = name.replace("[@k]", "").replace("@k", "@3")
    y, qid = DEGENERATE[case], ["a", "a", "a", "a", "b", "b", "c"]
    if case == "one item":
        qid = list("abcdefg")
    ranker = LowRankSurrogateRanker(target_loss=name).fit(x, y, qid=qid)
    assert np.all(np.isfinite(ranker.predict(x)))
    assert np.isfinite(ranker.score(x, y, qid=qid))
    assert np.isfinite(ranker.score(x[:4], y[:4], qid=qid[:4]))


@pytest.mark.filterwarnings("ignore:No label has any utility")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_degenerate_fixed_items(loss, labels):
    y = labels(np.random.default_rng(0), 6, 3)
    y[0], y[1] = 0, y[1].max()
    if y.ndim == 3:
        y[1] -= np.diag(np.diag(y[1]))
    X = np.zeros((6, 2))
    ranker = LowRankSurrogateRanker(target_loss=loss).fit(X, y)
    assert np.all(np.isfinite(ranker.predict(X)))
    assert np.isfinite(ranker.score(X, y))


def test_column_vector_is_documents():
    from sklearn.exceptions import DataConversionWarning

    X, y = [[0.0], [1.0], [2.0]], [[0], [1], [2]]
    with pytest.warns(DataConversionWarning):
        ranker = LowRankSurrogateRanker().fit(X, y)
    assert ranker.predict(X).shape == (3,)


def test_a_fitted_model_keeps_its_loss(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(target_loss=NDCG(k=3)).fit(X, y, qid=qid)
    before = ranker.score(X, y, qid=qid)
    ranker.set_params(target_loss__k=1)
    assert ranker.target_loss_.k == 3
    assert ranker.score(X, y, qid=qid) == before


def test_parameters_of_the_loss_can_be_set(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(target_loss=DCG(k=3)).set_params(target_loss__k=7)
    assert ranker.fit(X, y, qid=qid).target_loss_.k == 7
    assert "target_loss__gain" in ranker.get_params()
    assert isinstance(LowRankSurrogateRanker(target_loss="map").target_loss, str)
    given = MeanAveragePrecision(relevance_threshold=2)
    assert given.get_params() == {"k": None, "relevance_threshold": 2}
    assert PairwiseDisagreement().get_params() == {"weights": "unit"}


# What reviews found -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["prbep", "precision@50%", "map", "ndcg"])
def test_fixed_items_do_not_depend_on_the_batch(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X @ rng.normal(size=(5, 8)) + rng.normal(size=(300, 8)) > 1).astype(float)
    for estimator in ("ridge", "logistic"):
        ranker = LowRankSurrogateRanker(target_loss=name, estimator=estimator).fit(X, y)
        alone = np.vstack([ranker.predict(row[np.newaxis]) for row in X])
        np.testing.assert_array_equal(ranker.predict(X), alone)
    ranker.set_params(estimator="ridge").fit(X, y)
    parts = LowRankSurrogateRanker(target_loss=name, estimator="ridge")
    parts.partial_fit(X[:130], y[:130]).partial_fit(X[130:], y[130:])
    np.testing.assert_array_equal(parts.rank(X), ranker.rank(X))


def test_no_penalty_with_features_of_very_different_scales(documents):
    X, y, _ = documents
    X = X * np.array([1.0, 1e6, 1e-6, 1.0, 1e8, 1.0])
    ours = LowRankSurrogateRanker(target_loss="dcg", alpha=0.0, centered=False).fit(
        X, y, one_list=True
    )
    truth = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), truth.predict(X), atol=1e-6)


def test_sparse_offsets_do_not_cancel(documents):
    X, y, qid = documents
    plain = LowRankSurrogateRanker().fit(X, y, qid=qid)
    shifted = sparse.csr_matrix(X + np.array([0, 1e8, 0, 1e6, 0, 0]))
    np.testing.assert_allclose(
        LowRankSurrogateRanker().fit(shifted, y, qid=qid).coef_, plain.coef_, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [({"target_loss": "dcg"}, "target_loss"), ({"centered": False}, "centered")],
)
def test_partial_fit_refuses_statistics_of_another_kind(documents, change, what):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker().partial_fit(
        X[qid < 20], y[qid < 20], qid=qid[qid < 20]
    )
    coef = ranker.coef_
    with pytest.raises(ValueError, match=f"Earlier batches had {what}"):
        ranker.set_params(**change).partial_fit(
            X[qid >= 20], y[qid >= 20], qid=qid[qid >= 20]
        )
    assert ranker.coef_ is coef


def test_partial_fit_refuses_a_batch_that_lost_its_ids(documents):
    X, y, qid = documents
    first, second = qid < 20, qid >= 20
    ranker = LowRankSurrogateRanker().partial_fit(X[first], y[first], qid=qid[first])
    with pytest.raises(
        ValueError, match="this one has none, so its rows would be one list"
    ):
        ranker.partial_fit(X[second], y[second])
    assert ranker.n_lists_ == len(np.unique(qid[first]))


def by_the_diagonal(u, n_items):
    """A decoder of MAP's encoding: descending u_ii, from lower triangles row by row."""
    i = np.arange(n_items)
    return (
        np.argsort(
            np.argsort(-u[:, i * (i + 1) // 2 + i], axis=1, kind="stable"), axis=1
        )
        + 1
    )


def test_a_function_decodes(items):
    X, y = items
    y = (y > 1).astype(float)
    named = LowRankSurrogateRanker(target_loss="map", decoder="diagonal").fit(X, y)
    ranker = LowRankSurrogateRanker(target_loss="map", decoder=by_the_diagonal).fit(
        X, y
    )
    assert ranker.decoder_ is by_the_diagonal
    np.testing.assert_array_equal(
        ranker.predict_surrogate(X), named.predict_surrogate(X)
    )
    np.testing.assert_array_equal(ranker.predict(X), named.predict(X))
    for copy in (clone(ranker).fit(X, y), pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_array_equal(copy.predict(X), ranker.predict(X))
    ridge = clone(ranker).set_params(estimator="ridge")
    parts = clone(ridge).partial_fit(X[:20], y[:20])
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(parts.coef_, ridge.fit(X, y).coef_, atol=1e-10)
    with pytest.raises(ValueError, match="had decoder <function by_the_diagonal"):
        parts.set_params(decoder="diagonal").partial_fit(X, y)
    orders = LowRankSurrogateRanker(
        target_loss="map", decoder=lambda u, n: np.argsort(-u[:, :n])
    )
    with pytest.raises(
        ValueError, match=r"decoder returns\[0\] must be the ranks 1\.\."
    ):
        orders.fit(X, y).predict(X)
    with pytest.raises(ValueError, match="needs lists of fixed items"):
        ranker.fit(X, y[:, 0], qid=np.arange(len(X)) // 5)


def test_partial_fit_refuses_another_decoder_and_lost_statistics(items):
    X, y = items
    y = np.minimum(y, 1)
    ranker = LowRankSurrogateRanker(target_loss="map", estimator="ridge").partial_fit(
        X, y
    )
    with pytest.raises(ValueError, match="had decoder exact"):
        ranker.set_params(decoder="sort").partial_fit(X, y)
    iterated = LowRankSurrogateRanker(estimator="ridge").fit(wide(X), y)
    with pytest.raises(ValueError, match="keeps no sums"):
        iterated.partial_fit(wide(X), y)


def test_partial_fit_takes_a_batch_in_which_an_item_is_not_judged(items):
    X, y = items
    y = y.copy()
    y[:20, 1] = np.nan
    whole = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge").fit(X, y)
    parts = clone(whole)
    for rows in np.array_split(np.arange(60), 6):
        parts.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-8)
    counts = np.isnan(y[:, 1]).astype(float)
    with refused_by("item never judged"):
        whole.fit(X, y, sample_weight=counts)


def test_constant_weights_reach_the_regressor(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(
        target_loss="dcg", estimator=Ridge(), centered=False
    )
    twice = np.full(len(y), 2.0)
    by_hand = Ridge().fit(X, y, sample_weight=twice)
    np.testing.assert_allclose(
        ranker.fit(X, y, qid=qid, sample_weight=twice).coef_, by_hand.coef_, atol=1e-8
    )


def test_pipelines_and_searches_as_estimator(documents):
    X, y, qid = documents
    with_gaps = X.copy()
    with_gaps[::5, 2] = np.nan
    imputing = make_pipeline(SimpleImputer(), Ridge())
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]})
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            for base, data in ((imputing, with_gaps), (search, X)):
                ranker = LowRankSurrogateRanker(estimator=base)
                ranker.fit(data, y, qid=qid, sample_weight=w)
                assert np.all(np.isfinite(ranker.predict(data)))


def test_frame_of_fixed_items_may_be_indexed_by_qid(items):
    X, y = items
    frame = pd.DataFrame(y, index=pd.Index(range(100, 160), name="qid"))
    ranker = LowRankSurrogateRanker().fit(X, frame)
    assert ranker.n_items_ == 5
    assert ranker.score(X, frame) == LowRankSurrogateRanker().fit(X, y).score(X, y)
    with refused_by("documents for a model of items"):
        ranker.score(X, y[:, 0])


def test_unfit_estimators_and_losses_are_named_early(items):
    X, _ = items
    for base in (StandardScaler(), "lasso", Ridge, None):
        with pytest.raises(TypeError, match="regressor with fit and predict"):
            LowRankSurrogateRanker(estimator=base).fit(X, X[:, 0])
    long = np.ones((60, 25))
    long[:, ::2] = 0
    with pytest.raises(ValueError, match="at most 22 items"):
        LowRankSurrogateRanker(target_loss="map", decoder="exact").fit(X, long)
    bad = LowRankSurrogateRanker(target_loss="foo")
    assert is_regressor(bad)
    assert "foo" in bad._repr_html_()
    for params in ({"max_iter": 0}, {"centered": "no"}, {"alpha": np.inf}):
        with pytest.raises(ValueError, match=next(iter(params))):
            LowRankSurrogateRanker(**params).fit(X, X[:, 0] ** 2)


def test_one_function_for_all_lists_need_not_be_consistent():
    """Lists {a,b}, {b,c}, {a,c} with differences .1, 1, .1: a > b > c everywhere, b comes first."""
    X = np.eye(3)[[0, 1, 1, 2, 0, 2]]
    grades = np.array([1.1, 1.0, 2.0, 1.0, 1.1, 1.0])
    qid = [1, 1, 2, 2, 3, 3]
    a, b, c = (
        LowRankSurrogateRanker(target_loss="dcg", alpha=1e-9)
        .fit(X, grades, qid=qid)
        .coef_
    )
    assert b > a > c


def test_columns_of_labels_are_not_pooled_either(documents):
    X, y, qid = documents
    ranker, scorer = (
        LowRankSurrogateRanker().fit(X, y, qid=qid),
        make_ranking_scorer("ndcg"),
    )
    for column in (y[:, np.newaxis], pd.DataFrame({"y": y}), y[:, np.newaxis].tolist()):
        with refused_by("ids lost in score"):
            ranker.score(X, column)
        with refused_by("no ids for a scorer"):
            scorer(ranker, X, column)


@pytest.mark.filterwarnings("ignore:No label has any utility")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", ["prbep", "map"])
def test_nothing_relevant_in_fixed_items(name):
    ranker = LowRankSurrogateRanker(target_loss=name).fit(
        np.arange(4.0)[:, None], np.zeros((4, 3))
    )
    assert ranker.rank([[1.0]]).shape == (1, 3)
    assert ranker.score([[1.0]], [[0, 0, 0]]) == 0.0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_constant_features_are_ignored_without_a_penalty(kind):
    X = np.column_stack([np.linspace(-1, 1, 12), np.full(12, 0.1)])
    y = (X[:, 0] > 0).astype(float)
    for centered in (True, False):
        ranker = LowRankSurrogateRanker(target_loss="dcg", alpha=0.0, centered=centered)
        ranker.fit(kind(X), y, qid=np.arange(12) // 4)
        assert ranker.coef_[1] == 0.0
        assert abs(ranker.coef_[0]) < 10


def test_iterations_take_features_of_very_different_scales(documents):
    X, y, qid = documents
    X = X * np.array([1.0, 1e6, 1e-3, 1.0, 1e5, 1.0])
    exact = LowRankSurrogateRanker(alpha=0.1).fit(X, y, qid=qid)
    for data in (np.hstack([X, np.zeros((len(X), 4000))]), wide(X)):
        iterated = LowRankSurrogateRanker(alpha=0.1, tol=1e-8).fit(data, y, qid=qid)
        assert iterated.solver_ == "lsqr"
        np.testing.assert_allclose(
            iterated.coef_[:6], exact.coef_, rtol=1e-5, atol=1e-9
        )


def test_unusual_regressors(documents):
    X, y, qid = documents
    for base in (
        StackingRegressor([("a", Ridge())]),
        MultiOutputRegressor(Ridge()),
        PLSRegression(2),
    ):
        ranker = LowRankSurrogateRanker(estimator=base).fit(X, y, qid=qid)
        assert ranker.predict(X).shape == y.shape
        if hasattr(ranker, "coef_"):
            np.testing.assert_allclose(
                X @ ranker.coef_ + ranker.intercept_, ranker.predict(X)
            )
    sparse_x = sparse.csr_matrix(X)
    svr = LowRankSurrogateRanker(estimator=SVR(kernel="linear")).fit(
        sparse_x, y, qid=qid
    )
    assert isinstance(svr.coef_, np.ndarray)
    assert LowRankSurrogateRanker(estimator=Ridge()).fit(
        sparse_x, y, qid=qid
    ).coef_.shape == (6,)


def test_partial_fit_compares_losses_by_their_parameters(documents):
    X, y, qid = documents
    ranker = LowRankSurrogateRanker(target_loss=NDCG(k=5)).partial_fit(X, y, qid=qid)
    ranker.set_params(target_loss=NDCG(k=np.int64(5))).partial_fit(X, y, qid=qid + 100)
    assert ranker.n_lists_ == 80


def test_a_wrong_label_is_named_by_its_own_row():
    """Not by its place after the rows of a query were brought together."""
    X, qid, y = np.zeros((4, 1)), ["b", "a", "b", "a"], np.array([0.0, -7.0, 1.0, 0.0])
    ranker = LowRankSurrogateRanker(target_loss="map")
    with refused_by("negative grades"):
        ranker.fit(X, y, qid=qid)
    ranker.fit(X, np.maximum(y, 0), qid=qid)
    with refused_by("negative grades"):
        ranker.score(X, y, qid=qid)
    with refused_by("negative grades"):
        ranker.target_loss_.measure([[0, 1], [-7, 0]], [[1, 2], [1, 2]])
    with refused_by("text instead of numbers"):
        ranker.fit(X, ["x"] * 4, qid=qid)


def test_grades_of_any_height_go_by_name_into_binary_losses(documents):
    """The grid of the README, ["ndcg@10", "map"], on graded data: grade > 0 is relevant."""
    X, y, qid = documents
    assert y.max() > 1
    for name in ("map", "precision@5", "auc"):
        ranker = LowRankSurrogateRanker(target_loss=name, alpha=0.1)
        graded = clone(ranker).fit(X, y, qid=qid)
        binary = clone(ranker).fit(X, y > 0, qid=qid)
        np.testing.assert_array_equal(graded.coef_, binary.coef_)
        assert graded.score(X, y, qid=qid) == binary.score(X, y > 0, qid=qid)


def test_ids_may_change_their_type_between_batches():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    ranker = LowRankSurrogateRanker().partial_fit(X, y, qid=[1, 2, 2])
    ranker.partial_fit(X, y, qid=[(2, 1), (2, 1), (3, 1)])
    assert ranker.n_lists_ == 4
    with pytest.raises(ValueError, match="is split"):
        ranker.partial_fit(X, y, qid=[(3, 1), (2, 1), (2, 1)])


def test_a_decoder_that_is_no_name_is_named():
    for y in ([0, 1, 2], np.eye(3)):
        with pytest.raises(
            ValueError, match=r"decoder must be a name or a callable, got \{\}"
        ):
            LowRankSurrogateRanker(decoder={}).fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("scale", [1e100, 1e-100, 1e-300])
def test_weights_beyond_single_precision(documents, centered, scale):
    """Roots of them leave its range: the coefficients of float32 features are those of 1."""
    X, y, qid = documents
    X, weights = X.astype(np.float32), np.full(len(y), scale)
    ranker = LowRankSurrogateRanker(centered=centered, alpha=0.1)
    coef = ranker.fit(X, y, qid=qid).coef_.copy()
    weighted = ranker.fit(X, y, qid=qid, sample_weight=weights).coef_
    np.testing.assert_allclose(weighted, coef, rtol=1e-4)


@pytest.mark.parametrize(("n_rows", "leaves"), [(20_000, 7), (20_001, 31)])
def test_trees_are_larger_above_20000_rows(n_rows, leaves):
    X = np.random.default_rng(0).normal(size=(n_rows, 1)).round(1)
    y, qid = (X[:, 0] > 0).astype(float), np.arange(n_rows) // 10
    ranker = LowRankSurrogateRanker(estimator="trees", random_state=0).fit(
        X, y, qid=qid
    )
    assert ranker.estimator_.max_leaf_nodes == leaves


def test_pairs_of_items_are_fitted_and_ranked_in_blocks():
    """Sixty items have 1,770 targets: 37 rows in a block."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)) + 1e3
    y = np.digitize(X[:, :1] + rng.normal(size=(600, 60)), [1e3, 1e3 + 1]).astype(float)
    weights = rng.integers(0, 3, 600)
    model = LowRankSurrogateRanker(target_loss="pd", estimator="ridge", decoder="borda")
    fitted = clone(model).fit(X, y, sample_weight=weights)
    blocks = [(X[i::2], y[i::2], None, weights[i::2]) for i in (0, 1)]
    np.testing.assert_allclose(
        fitted.coef_, clone(model).fit_blocks(blocks).coef_, atol=1e-12
    )
    ranks = fitted.rank(X)
    np.testing.assert_array_equal(ranks[590:], fitted.rank(X[590:]))
    tracemalloc.start()
    clone(model).fit(X, y)
    fitted.rank(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * 8 * 600 * 1770  # less than an array of all targets


def test_logistic_regression_takes_some_pairs_at_a_time():
    """A pair has the coefficients of its two items alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    y = np.digitize(X[:, :1] + rng.normal(size=(1000, 60)), [0, 1]).astype(float)
    weights = rng.integers(0, 3, 1000)
    model = LowRankSurrogateRanker(
        target_loss="pd", decoder="borda", alpha=0.01, tol=1e-7
    )
    tracemalloc.start()
    fitted = clone(model).fit(X, y, sample_weight=weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * 8 * 1000 * 1770  # less than an array of all targets
    pairs = list(combinations(range(60), 2))
    for at in (0, 127, 128, 900, 1769):
        alone = clone(model).fit(X, y[:, pairs[at]], sample_weight=weights)
        for name in ("coef_", "intercept_", "low_", "high_"):
            expected = getattr(alone, name)[0]
            np.testing.assert_allclose(getattr(fitted, name)[at], expected, atol=1e-5)


def test_a_row_of_any_block_is_named():
    class Broken(PairwiseDisagreement):
        def encode(self, y):
            targets = super().encode(y)
            targets[y[:, 0] > 100.0] = np.inf
            return targets

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.normal(size=(600, 60))
    y[599, 0] = 1e3
    ranker = LowRankSurrogateRanker(
        target_loss=Broken(), estimator="ridge", decoder="borda"
    )
    with pytest.raises(ValueError, match="gives inf for row 599 of y"):
        ranker.fit(X, y)


@pytest.mark.parametrize("n_missing", [0, 1])
def test_coefficients_of_pairs_beyond_memory_are_refused(monkeypatch, n_missing):
    """66 pairs of 12 items: parts and whole of 66 x (p + 1) coefficients, 16 bytes."""
    n_bytes = 16 * 66 * (2000 + 1)
    sizes = {"SC_PHYS_PAGES": n_bytes - n_missing, "SC_PAGE_SIZE": 1}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    X = np.random.default_rng(0).normal(size=(3, 2000))
    y = np.random.default_rng(1).permuted(np.tile(np.arange(12), (3, 1)), axis=1)
    ranker = LowRankSurrogateRanker(target_loss="pd", max_iter=2, tol=10.0)
    if n_missing:
        with pytest.raises(ValueError, match="coefficients of 66 pairs would take"):
            ranker.fit(X, y)
    else:
        assert ranker.fit(X, y).coef_.shape == (66, 2000)


def test_pairs_in_parts_are_those_of_encode():
    """20 items have 210 pairs, solved in parts; a subclass may encode others."""

    class Doubled(MeanAveragePrecision):
        def encode(self, y):
            return 2.0 * super().encode(y)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (rng.random((60, 20)) < 0.3).astype(float)
    ranker = LowRankSurrogateRanker(target_loss="map").fit(X, y)
    doubled = LowRankSurrogateRanker(target_loss=Doubled()).fit(X, y)
    targets = MeanAveragePrecision().encode(y)
    np.testing.assert_array_equal(ranker.high_, targets.max(axis=0))
    np.testing.assert_array_equal(doubled.high_, 2.0 * targets.max(axis=0))
