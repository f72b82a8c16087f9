"""alpha="auto": the penalty that is found depends on what the lists hold, and on nothing else."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from lowrank_rank import LowRankSurrogateClassifier, LowRankSurrogateRanker, PairwiseDAGRanker
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.regression import _penalties
from lowrank_rank.regression._penalties import ALPHAS, N_FOLDS, folds_of, list_keys

AUTO = LowRankSurrogateRanker(alpha="auto")


@pytest.fixture(scope="module")
def documents():
    return make_ranking(n_lists=60, n_items=(3, 9), n_features=8, random_state=0)


@pytest.fixture
def no_errors(monkeypatch):
    """The best penalty, however little better it is."""
    monkeypatch.setattr(_penalties, "_N_ERRORS", 0.0)


@pytest.fixture
def few_rows(monkeypatch):
    """Judged by some of the lists only."""
    monkeypatch.setattr(_penalties, "_MAX_SCORES", 100)


def same(one, other, rtol=1e-8):
    np.testing.assert_allclose(one.alpha_scores_, other.alpha_scores_, rtol=1e-12)
    assert one.alpha_ == other.alpha_
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=1e-10)


def test_scores_are_those_of_fits_without_the_fold(documents, no_errors):
    X, y, qid = documents
    found = clone(AUTO).fit(X, y, qid=qid)
    lists = RankingLists.from_qid(qid)
    of_row = folds_of(list_keys(X, y, lists, np.ones(len(y))))[qid]
    for a in (0, 9, 19):
        scores = np.empty(len(y))
        for k in range(N_FOLDS):
            held_out = of_row == k
            model = LowRankSurrogateRanker(alpha=ALPHAS[a])
            model.fit(X[~held_out], y[~held_out], qid=qid[~held_out])
            scores[held_out] = model.predict(X[held_out])
        assert found.alpha_scores_[a] == pytest.approx(ndcg_score(y, scores, qid=qid, k=10))
    assert found.alpha_ == ALPHAS[np.argmax(found.alpha_scores_)]
    constant = LowRankSurrogateRanker(alpha=found.alpha_).fit(X, y, qid=qid)
    np.testing.assert_allclose(found.coef_, constant.coef_, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, np.float32, sparse.csr_matrix])
def test_neither_ids_nor_places_nor_layout_matter(documents, no_errors, few_rows, kind):
    X, y, qid = documents
    X = X.astype(np.float32).astype(float)
    order = np.random.default_rng(0).permutation(len(y))
    one = clone(AUTO).fit(X, y, qid=qid)
    other = clone(AUTO).fit(kind(X[order]), y[order], qid=[f"q{-q}" for q in qid[order]])
    same(one, other, rtol=1e-4 if kind is np.float32 else 1e-8)


def test_batches_find_the_same_penalty(documents, no_errors, few_rows):
    X, y, qid = documents
    parts = clone(AUTO)
    for some in np.array_split(np.random.default_rng(1).permutation(60), 7):
        rows = np.isin(qid, some)
        parts.partial_fit(X[rows], y[rows], qid=qid[rows])
    whole = clone(AUTO).fit(X, y, qid=qid)
    same(parts, whole)
    alpha = whole.alpha_  # which a fit keeps while more batches come
    whole.partial_fit(X, y, qid=qid + 100)
    assert whole.alpha_ == alpha


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_matrix])
def test_batches_may_be_dense_and_sparse(documents, no_errors, first):
    X, y, qid = documents
    second = sparse.csr_matrix if first is np.asarray else np.asarray
    parts, half = clone(AUTO), qid < 30
    parts.partial_fit(first(X[half]), y[half], qid=qid[half])
    parts.partial_fit(second(X[~half]), y[~half], qid=qid[~half])
    same(parts, clone(AUTO).fit(X, y, qid=qid))


def test_weight_two_is_the_list_twice_and_zero_no_list(documents, no_errors, few_rows):
    X, y, qid = documents
    again, gone = qid < 20, qid >= 50
    weights = 1.0 * ~gone + again
    weighted = clone(AUTO).fit(X, y, qid=qid, sample_weight=weights)
    rows = np.concatenate([np.flatnonzero(~gone), np.flatnonzero(again)])
    copies = np.append(qid[~gone], qid[again] + 100)
    same(weighted, clone(AUTO).fit(X[rows], y[rows], qid=copies))
    same(weighted, clone(AUTO).fit(X, y, qid=qid, sample_weight=5.0 * weights))


def test_what_is_in_the_noise_leaves_the_constant(documents):
    X, y, qid = documents
    rng = np.random.default_rng(0)
    constant = 0.1 * 100 * 8 / len(y)  # of too few rows for 8 features
    nearest = ALPHAS[np.argmin(np.abs(np.log(ALPHAS / constant)))]
    assert clone(AUTO).fit(X, rng.integers(0, 3, len(y)), qid=qid).alpha_ == nearest
    fine = X @ rng.normal(size=8)  # no noise: the less the better
    fine = np.exp(fine / fine.std())
    model = clone(AUTO).set_params(target_loss="eru").fit(X, fine, qid=qid)
    assert model.alpha_scores_[9] <= model.alpha_scores_.max()


@pytest.mark.parametrize("loss", ["kendall", "pd", "map", "precision@25%", "dcg", "spearman"])
def test_fixed_items(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.argsort(np.argsort(X @ rng.normal(size=(3, 4)) + rng.normal(size=(80, 4)))) * 1.0
    y = y > 1 if loss in ("map", "precision@25%") else y
    model = LowRankSurrogateRanker(target_loss=loss, estimator=None).fit(X, y)
    assert model.alpha_ in ALPHAS
    assert np.isfinite(model.alpha_scores_).all()
    halves = clone(model).partial_fit(X[:30], y[:30])
    same(halves.partial_fit(X[30:], y[30:]), model)


@pytest.mark.parametrize(("loss", "decoder"), [("dcg", "sort"), ("kendall", "borda")])
def test_missing_labels(loss, decoder, no_errors):
    """Scores are those of fits without the fold, and the order of the items does not matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = np.exp(X @ rng.normal(size=(12, 4)) / 3 + rng.normal(size=(60, 4)))
    y[rng.random(y.shape) < 0.4] = np.nan
    ranker = LowRankSurrogateRanker(target_loss=loss, decoder=decoder)
    found = clone(ranker).fit(X, y)
    folds, a = folds_of(list_keys(X, y, None, np.ones(60))), 12
    scores = np.empty(y.shape)
    for k in range(N_FOLDS):
        held_out = folds == k
        model = clone(ranker).set_params(alpha=ALPHAS[a])
        scores[held_out] = model.fit(X[~held_out], y[~held_out]).predict(X[held_out])
    values = found.target_loss_.measure(y, scores, average=None)
    assert found.alpha_scores_[a] == pytest.approx(np.nanmean(values))
    order = [2, 0, 3, 1]
    other = clone(ranker).fit(X, y[:, order])
    np.testing.assert_allclose(other.alpha_scores_, found.alpha_scores_, rtol=1e-12)
    np.testing.assert_allclose(other.predict(X), found.predict(X)[:, order])
    parts = clone(ranker).partial_fit(X[:20], y[:20])
    same(parts.partial_fit(X[20:], y[20:]), found)


@pytest.mark.parametrize("n_parts", [2, 3])
def test_costly_searches_hold_out_fewer_parts(n_parts, no_errors, monkeypatch):
    """As many as the time allows: folds together, and scores are those of fits without them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = np.exp(X @ rng.normal(size=(12, 4)) / 3 + rng.normal(size=(60, 4)))
    y[rng.random(y.shape) < 0.4] = np.nan
    monkeypatch.setattr(_penalties, "_OF_FIT", 0.0)
    of_one = 4 * _penalties._PER_CUBE * 12.0**3
    monkeypatch.setattr(_penalties, "_SECONDS_OF_MISSING", (n_parts + 0.5) * of_one)
    ranker = LowRankSurrogateRanker(target_loss="dcg", decoder="sort")
    found = clone(ranker).fit(X, y)
    part, a = folds_of(list_keys(X, y, None, np.ones(60))) % n_parts, 12
    scores = np.empty(y.shape)
    for k in range(n_parts):
        held_out = part == k
        model = clone(ranker).set_params(alpha=ALPHAS[a])
        scores[held_out] = model.fit(X[~held_out], y[~held_out]).predict(X[held_out])
    values = found.target_loss_.measure(y, scores, average=None)
    assert found.alpha_scores_[a] == pytest.approx(np.nanmean(values))
    parts = clone(ranker).partial_fit(X[:20], y[:20])
    same(parts.partial_fit(X[20:], y[20:]), found)
    monkeypatch.setattr(_penalties, "_SECONDS_OF_MISSING", 1.5 * of_one)
    unsearched = clone(ranker).fit(X, y)
    assert unsearched.alpha_ == 1.0  # the constant of labels that miss
    assert not hasattr(unsearched, "alphas_")


def test_few_known_labels_are_not_below_the_means_of_the_items():
    """30 items, each known in a part of 80 rows, of 60 features that say little."""
    rng = np.random.default_rng(0)
    X, levels = rng.normal(size=(400, 60)), rng.normal(size=30)
    y = levels + 0.1 * X @ rng.normal(size=(60, 30)) + rng.normal(size=(400, 30))
    y = np.where(rng.random(y.shape) < 0.4, y, np.nan)
    train, test = slice(200), slice(200, None)
    model = LowRankSurrogateRanker(target_loss="kendall").fit(X[train], y[train])
    means = np.tile(np.nanmean(y[train], axis=0), (200, 1))
    measure = model.target_loss_.measure
    assert model.score(X[test], y[test]) > measure(y[test], means)
    constant = clone(model).set_params(alpha=0.1).fit(X[train], y[train])
    assert constant.score(X[test], y[test]) < measure(y[test], means)


def test_one_feature(documents):
    X, y, qid = documents
    model = LowRankSurrogateRanker().fit(X[:, :1], y, qid=qid)
    assert model.alpha_scores_.shape == (20,)
    assert np.ptp(model.alpha_scores_) == 0.0  # one order, whatever the penalty
    assert model.alpha_ == 0.1


def test_progress_names_the_penalty(documents, capsys):
    X, y, qid = documents
    model = LowRankSurrogateRanker(verbose=1).fit(X, y, qid=qid)
    assert f"alpha={model.alpha_:.3g}, of 20 penalties" in capsys.readouterr().out
    LowRankSurrogateRanker(verbose=1, alpha=1.0).fit(X, y, qid=qid)
    assert "penalties" not in capsys.readouterr().out


def test_equal_features_with_other_orders_are_two_lists():
    X, y = np.eye(3)[np.arange(60) % 3], np.tile([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], (30, 1))
    keys = list_keys(X, y, None, np.ones(60))
    assert len(np.unique(keys)) == 6
    assert len(np.unique(folds_of(keys)[::6])) == 1
    np.testing.assert_array_equal(
        folds_of(list_keys(X, y[:, ::-1], None, np.ones(60))), folds_of(keys)
    )


def test_classifier_and_pairs(documents):
    X, y = load_iris(return_X_y=True)
    model = LowRankSurrogateClassifier(estimator=None, alpha="auto").fit(X, y)
    assert 0.7 < 1.0 + model.alpha_scores_.max() <= 1.0
    X, y, qid = documents
    pairs = PairwiseDAGRanker(alpha="auto").fit(X, y, qid=qid)
    assert pairs.alpha_ in ALPHAS
    assert len(pairs.alpha_scores_) == 20
    for features in ("bilinear", "concatenation"):
        other = PairwiseDAGRanker(alpha="auto", pair_features=features, tol=1e-2)
        assert other.fit(X, y, qid=qid).alpha_ == pairs.alpha_


@pytest.mark.parametrize("case", ["19 lists", "one list", "lsqr", "many features"])
def test_where_nothing_is_searched_it_is_the_constant(documents, case, monkeypatch):
    X, y, qid = documents
    model = clone(AUTO)
    if case == "many features":
        monkeypatch.setattr(_penalties, "MAX_FEATURES", 7)
    if case == "19 lists":
        X, y, qid = X[qid < 19], y[qid < 19], qid[qid < 19]
    model.set_params(solver="lsqr" if case == "lsqr" else "auto")
    model.fit(X, y, qid=None if case == "one list" else qid)
    assert model.alpha_ == pytest.approx(0.1 * 100 * 8 / len(y))
    assert not hasattr(model, "alphas_")


def test_sums_of_all_folds_but_one():
    for folds in ([1, 2, 4, 8, 16], [None, 2, None, 8, 16]):
        known = [fold or 0 for fold in folds]
        assert _penalties._sums_of_others(folds) == [sum(known) - fold for fold in known]


FITS = {
    "searched": lambda X, y, qid: LowRankSurrogateRanker().fit(X, y, qid=qid),
    "given": lambda X, y, qid: LowRankSurrogateRanker(alpha=0.1).fit(X, y, qid=qid),
    "items": lambda X, y, qid: LowRankSurrogateRanker().fit(X, np.column_stack([y, y[::-1]])),
    "blocks": lambda X, y, qid: LowRankSurrogateRanker().fit_blocks([(X, y, qid)]),
    "lsqr": lambda X, y, qid: LowRankSurrogateRanker(solver="lsqr").fit(X, y, qid=qid),
    "classes": lambda X, y, qid: LowRankSurrogateClassifier().fit(X, y.astype(int)),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=list(FITS))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("order", ["C", "F"])
def test_features_are_checked_by_their_sums(fit, bad, order):
    """Wherever it stands, one entry is found, and no warning of NumPy's comes first."""
    X, y, qid = make_ranking(60, (3, 12), n_features=6, random_state=0)
    message = "contains NaN" if np.isnan(bad) else "infinity" if np.isinf(bad) else "too large"
    for dtype in (np.float64,) if bad == 1e200 else (np.float64, np.float32):
        for place in ((0, 0), (len(y) // 2, 3), (slice(None), 5)):
            wrong = np.array(X, dtype=dtype, order=order)
            wrong[place] = bad
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(ValueError, match=message):
                    fit(wrong, y, qid)
