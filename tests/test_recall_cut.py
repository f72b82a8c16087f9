"""RecallCut: the smallest cut by enumeration, the guarantee by simulation, invariances."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, PairwiseDAGRanker, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.model_selection import RecallCut

BY = ("mass", "score", "k")


class Column(RegressorMixin, BaseEstimator):
    """Scores are the first column of X, or all columns for fixed items."""

    def __init__(self, items=False, scale=1.0):
        self.items = items
        self.scale = scale

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.scale * (X if self.items else X[:, 0])


def draw(n_lists, rng, decimals=1):
    """Lists of 3 to 12 rows with rounded, hence tied, scores; some without a relevant row."""
    lengths = rng.integers(3, 13, n_lists)
    qid = np.repeat(np.arange(n_lists), lengths)
    scores = np.round(rng.normal(size=len(qid)), decimals)
    return scores[:, np.newaxis], (scores + rng.normal(size=len(qid)) > 1).astype(float), qid


def calibrated(X, y, qid, **params):
    return RecallCut(Column().fit(X, y), cv="prefit", **params).fit(X, y, qid=qid)


def mean_recall(kept, y, qid):
    found = [kept[(qid == q) & (y > 0)].mean() for q in np.unique(qid) if (y[qid == q] > 0).any()]
    return np.mean(found), len(found)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("recall", [0.7, 0.9])
def test_no_smaller_cut_satisfies_the_condition(by, recall):
    X, y, qid = draw(60, np.random.default_rng(1))
    model = calibrated(X, y, qid, by=by, recall=recall)
    kept = model.select(X, qid=qid)
    assert model.kept_ == kept.mean()

    def bound(rows):
        value, n = mean_recall(rows, y, qid)
        assert n == model.n_calibration_lists_
        return (n * (1 - value) + 1) / (n + 1)

    assert bound(kept) <= 1 - recall + 1e-12
    step = -1e-9 if by != "score" else 1e-9
    model.cut_ += step
    assert model.select(X, qid=qid).sum() < kept.sum()
    assert bound(model.select(X, qid=qid)) > 1 - recall


@pytest.mark.parametrize("by", BY)
def test_kept_rows_are_the_first_ones_with_ties_together(by):
    X, y, qid = draw(40, np.random.default_rng(2), decimals=0)
    kept = calibrated(X, y, qid, by=by, recall=0.6).select(X, qid=qid)
    for q in np.unique(qid):
        scores, marks = X[qid == q, 0], kept[qid == q]
        assert marks[scores == scores.max()].all()
        assert set(scores[marks]).isdisjoint(scores[~marks])
        if not marks.all():
            assert scores[marks].min() > scores[~marks].max()


@pytest.mark.parametrize("by", BY)
def test_expected_recall_on_a_new_query(by):
    """Over draws of calibration and test queries, the mean recall is at least the target."""
    rng = np.random.default_rng(3)
    values = []
    for _ in range(200):
        X, y, qid = draw(40, rng)
        model = calibrated(X, y, qid, by=by, recall=0.8)
        new = draw(10, rng)
        values.append(mean_recall(model.select(new[0], qid=new[2]), new[1], new[2])[0])
    assert np.mean(values) >= 0.8 - 2 * np.std(values) / np.sqrt(len(values))


def test_order_of_rows_and_unit_of_scores_change_nothing():
    X, y, qid = draw(50, np.random.default_rng(4))
    order = np.random.default_rng(0).permutation(len(y))
    kept = calibrated(X, y, qid).select(X, qid=qid)
    shuffled = calibrated(X[order], y[order], qid[order])
    np.testing.assert_array_equal(shuffled.select(X[order], qid=qid[order]), kept[order])
    other = RecallCut(Column(scale=1e5).fit(X, y), cv="prefit").fit(X, y, qid=qid)
    np.testing.assert_array_equal(other.select(X, qid=qid), kept)


def test_a_part_of_the_queries_fits_and_the_others_calibrate():
    X, y, qid = make_ranking(n_lists=80, random_state=0)
    model = RecallCut(make_pipeline(StandardScaler(), LowRankSurrogateRanker()), random_state=0)
    model.fit(X, y, qid=qid)
    assert model.n_calibration_lists_ == 40
    assert model.estimator_[-1].n_lists_ == 40
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))
    same = clone(model).fit(X, ranking_target(y, qid))
    np.testing.assert_array_equal(same.select(X, qid=qid), model.select(X, qid=qid))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), clone(model)).fit(X, y, qid=qid)
    assert routed[-1].n_calibration_lists_ == 40


def test_rankers_of_pairs_see_the_lists():
    X, y, qid = make_ranking(n_lists=60, random_state=0)
    model = RecallCut(PairwiseDAGRanker(pair_features="concatenation"), random_state=0, by="k")
    kept = model.fit(X, y, qid=qid).select(X, qid=qid)
    assert kept.shape == y.shape
    assert 0 < kept.mean() < 1


def test_fixed_items():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 6))
    y = np.where(rng.random(X.shape) < 0.1, np.nan, X + rng.normal(size=X.shape) > 1)
    model = RecallCut(Column(items=True).fit(X, y), cv="prefit", by="k").fit(X, y)
    kept = model.select(X)
    np.testing.assert_array_equal(kept.sum(axis=1), np.full(50, int(model.cut_)))
    assert kept[np.arange(50), X.argmax(axis=1)].all()


@pytest.mark.parametrize(("recall", "least"), [(0.9, 9), (0.95, 19), (0.99, 99)])
def test_too_few_calibration_queries(recall, least):
    X, y, qid = np.zeros((2 * least, 1)), np.tile([1, 0], least), np.repeat(np.arange(least), 2)
    assert calibrated(X, y, qid, recall=recall).n_calibration_lists_ == least
    with pytest.raises(ValueError, match=f"Only {least - 1} calibration .* at least {least}"):
        calibrated(X[2:], y[2:], qid[2:], recall=recall)


def test_bad_input():
    X, y, qid = draw(30, np.random.default_rng(6))
    with pytest.raises(ValueError, match="query of each row"):
        RecallCut(Column()).fit(X, y)
    with pytest.raises(NotFittedError):
        RecallCut(Column(), cv="prefit").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="recall must be a finite number > 0 and < 1"):
        RecallCut(Column(), recall=1).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="by must be one of"):
        RecallCut(Column(), by="rank").fit(X, y, qid=qid)
    with pytest.raises(NotFittedError):
        RecallCut(Column()).select(X, qid=qid)
    with pytest.raises(ValueError, match="Only 0 calibration"):
        RecallCut(Column().fit(X, y), recall=1e-12, cv="prefit").fit(X, 0 * y, qid=qid)


def test_labels_of_items_as_lists_and_frames():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    y = (X + rng.normal(size=X.shape) > 0).astype(float)
    cut = RecallCut(Column(items=True), random_state=0).fit(X, y)
    for labels in (y.tolist(), pd.DataFrame(y)):
        assert RecallCut(Column(items=True), random_state=0).fit(X, labels).cut_ == cut.cut_
    with pytest.raises(TypeError, match="Sparse data was passed for y"):
        RecallCut(Column(items=True)).fit(X, csr_matrix(y))
    with pytest.raises(ValueError, match="y must hold grades"):
        RecallCut(Column(items=True)).fit(X, np.ones((60, 3, 3)))


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y, qid = make_ranking(n_lists=40, n_features=3, random_state=0)
    cut = RecallCut(LowRankSurrogateRanker(), random_state=0)
    cut.fit(pd.DataFrame(X, columns=list("abc")), y, qid=qid)
    assert cut.n_features_in_ == 3
    assert cut.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_query_alone_keeps_what_it_keeps_in_a_batch():
    """Seventeen lists of six rows, one of them relevant: served alone, no relevant row is lost."""
    rng, lost = np.random.default_rng(0), 0
    for place in range(6):
        for _ in range(20):
            X = rng.normal(size=(17, 6)).round(2)
            X[:] = X[0]  # equal lists
            y = np.zeros((17, 6))
            y[:, np.argsort(-X[0])[place]] = 1.0
            qid = np.arange(17).repeat(6)
            cut = RecallCut(Column().fit(X, None), by="mass", recall=0.5, cv="prefit")
            cut.fit(X.reshape(-1, 1), y.ravel(), qid=qid)
            for q in range(17):
                kept = cut.select(X[q][:, np.newaxis], qid=np.zeros(6))
                lost += not kept[y[q] > 0].all()
    assert lost == 0
