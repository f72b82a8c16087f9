"""What all rankers share: the range of features, scores that are finite, equal rows that tie."""

import re
import warnings
from operator import sub

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Lasso, Ridge
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    make_ranking_scorer,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import StructuredHingeRanker

from .internals import mean_square
from .refusals import refused_by

SKLEARN_IS_OLD = parse_version(sklearn.__version__) < parse_version("1.7")
X, y, qid = make_ranking(n_lists=30, n_items=(3, 8), n_features=5, random_state=0)
TOP = (y >= 2).astype(int)
TWO_ITEMS = np.column_stack([y, 4 - y])


def rank_documents(ranker):
    return lambda X: ranker.fit(X, y, qid=qid)


#: Fits on X, in the layouts and solvers that read it each in their own way.
FITS = {
    "low rank": rank_documents(LowRankSurrogateRanker()),
    "partial_fit": lambda X: LowRankSurrogateRanker().partial_fit(X, y, qid=qid),
    "items": lambda X: LowRankSurrogateRanker(target_loss="dcg", estimator="ridge").fit(
        X, TWO_ITEMS
    ),
    "logistic items": lambda X: LowRankSurrogateRanker(target_loss="dcg").fit(
        X, TWO_ITEMS
    ),
    "logistic": lambda X: LowRankSurrogateClassifier().fit(X, y),
    "classifier": lambda X: LowRankSurrogateClassifier(estimator="ridge").fit(X, y),
    "pairs": rank_documents(PairwiseDAGRanker()),
    "function of pairs": rank_documents(PairwiseDAGRanker(pair_features=sub)),
    "cross-entropy": rank_documents(OrderPreservingRegressor()),
    "squared": rank_documents(OrderPreservingRegressor(surrogate="pointwise_squared")),
    "top": lambda X: PrecisionAtKPerceptron(random_state=0).fit(X, TOP),
}
every_fit = pytest.mark.parametrize("name", FITS)
kinds = pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"]
)


def one_cell(value):
    cells = X.copy()
    cells[3, 2] = value
    return cells


# Range --------------------------------------------------------------------------------


@every_fit
@kinds
@pytest.mark.parametrize(
    "features",
    [X * 1e155, one_cell(1.7e308), one_cell(-1e180), X * 1e-160],
    ids=["large", "one cell", "one negative cell", "small"],
)
def test_features_out_of_range_are_refused(name, kind, features):
    with pytest.raises(
        ValueError, match=r"features are too large or too small.*StandardScaler"
    ):
        FITS[name](kind(features))


@every_fit
@kinds
@pytest.mark.parametrize("unit", [1e-35, 1e35])
def test_features_within_the_range_give_a_model(name, kind, unit):
    """Without a RuntimeWarning, which is an error in these tests."""
    model = FITS[name](kind(unit * X))
    assert np.all(np.isfinite(model.coef_))
    # Of tiny sparse features scikit-learn 1.6's Ridge finds zeros.
    assert np.any(model.coef_) or (
        unit < 1 and kind is sparse.csr_matrix and SKLEARN_IS_OLD
    )


def test_a_second_batch_is_read_alike():
    ranker = LowRankSurrogateRanker().partial_fit(X, y, qid=qid)
    before = ranker.coef_
    with pytest.raises(ValueError, match="features are too large"):
        ranker.partial_fit(1e155 * X, y, qid=qid + 100)
    assert_array_equal(ranker.coef_, before)


def test_other_regressors_keep_their_own_range():
    tree = LowRankSurrogateRanker(
        estimator=DecisionTreeRegressor(max_depth=3, random_state=0)
    )
    scores = tree.fit(X, y, qid=qid).predict(X)
    huge = (
        X * 2.0**100
    )  # the same splits: trees see the order alone, in single precision
    assert_allclose(tree.fit(huge, y, qid=qid).predict(huge), scores)


@kinds
def test_mean_square(kind):
    assert mean_square(kind([[3.0, 4.0], [0.0, 1.0]])) == 13.0
    assert mean_square(kind(np.zeros((2, 2)))) == 0.0
    assert mean_square(np.array([[3.0, np.nan], [0.0, 4.0]])) > 0
    for unit, degree in [
        (1e154, 2),
        (1e-154, 2),
        (1e300, 2),
        (1e-300, 2),
        (1e40, 8),
        (1e-40, 8),
    ]:
        with pytest.raises(ValueError, match="too large or too small"):
            mean_square(kind(unit * np.eye(2)), degree)
    assert mean_square(kind(1e30 * np.eye(2)), 8) == pytest.approx(1e60)


@pytest.mark.parametrize(
    "X", [np.ones((300, 70), order="F"), np.ones((600, 140))[::2, ::2]]
)
def test_mean_square_of_any_memory_layout(X):
    assert mean_square(X) == 70.0


@every_fit
@kinds
def test_scores_that_overflow_are_refused(name, kind):
    model = FITS[name](kind(X))
    far = X.copy()
    largest = int(np.abs(np.atleast_2d(model.coef_)).max(axis=0).argmax()) % X.shape[1]
    far[7, largest] = 1.7e308
    model.coef_ = 2.0 * model.coef_ / np.abs(model.coef_).max()
    fitted = getattr(model, "_model_", None)
    if fitted is not None:  # of these coef_ is a copy for users
        model._model_ = steeper(fitted, np.atleast_2d(model.coef_))
    predict = getattr(model, "decision_function", model.predict)
    assert np.all(np.isfinite(predict(kind(X))))
    with pytest.raises(
        ValueError, match=r"row 7 of X overflows.*too large for the coefficients"
    ):
        predict(kind(far))


def steeper(model, coef):
    """The fitted model with other coefficients."""
    if hasattr(model, "linear"):
        return model._replace(linear=model.linear._replace(coef=coef))
    if hasattr(model, "coef"):
        return model._replace(coef=coef)
    model.model = steeper(model.model, coef)  # of pairs
    return model


def test_preferences_that_overflow_are_refused():
    model = PairwiseDAGRanker(pair_features=lambda a, b: a * a - b * b).fit(
        X, y, qid=qid
    )
    for call in (model.predict, model.predict_preferences, model.rank):
        with pytest.raises(ValueError, match=r"overflow.*Scale X as in fit"):
            call(1e200 * X, qid=qid)


# Lists of single items ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    "ranker",
    [
        LowRankSurrogateRanker(),
        LowRankSurrogateRanker(centered=False),
        LowRankSurrogateRanker(estimator=Ridge()),
        OrderPreservingRegressor(),
        PairwiseDAGRanker(),
        WrappedRanker(Ridge()),
        StructuredHingeRanker(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:No label prefers")
def test_the_number_of_the_row_is_no_query_id(ranker):
    rows = np.arange(len(y))
    with pytest.warns(
        UserWarning, match="Each of the .* lists has a single item"
    ) as caught:
        ranker.fit(X, y, qid=rows)
    assert sum("Each of" in str(one.message) for one in caught) == 1
    for score in (
        ranker.score,
        lambda *a, **k: make_ranking_scorer("map")(ranker, *a, **k),
    ):
        with pytest.warns(UserWarning, match="Each of the .* lists has a single item"):
            score(X, TOP, qid=rows)


# One query at a time ------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranker",
    [
        LowRankSurrogateRanker(),
        OrderPreservingRegressor(),
        PairwiseDAGRanker(),
        WrappedRanker(Ridge()),
    ],
    ids=repr,
)
def test_the_rows_of_one_query_need_no_ids(ranker):
    ranker.fit(X, y, qid=qid)
    some = X[qid == 3]
    assert_array_equal(
        ranker.rank(some, one_list=True), ranker.rank(some, qid=np.zeros(len(some)))
    )
    assert sorted(ranker.rank(X, one_list=True)) == list(range(1, len(X) + 1))
    with refused_by("one list with ids"):
        ranker.rank(X, qid=qid, one_list=True)
    with refused_by("ids lost in score"):
        ranker.rank(some)


def test_one_list_is_for_documents():
    model = FITS["items"](X)
    with refused_by("one list of fixed items"):
        model.rank(X, one_list=True)


# Regressors ---------------------------------------------------------------------------


class Predicts(DummyRegressor):
    """Predicts what it is told, of another shape or not finite."""

    def __init__(self, what="nan"):
        super().__init__()
        self.what = what

    def predict(self, X):
        made = {
            "nan": lambda n: np.where(np.arange(n) == 2, np.nan, 1.0),
            "inf": lambda n: np.where(np.arange(n) == 2, -np.inf, 1.0),
            "three columns": lambda n: np.ones((n, 3)),
            "one row less": lambda n: np.ones(n - 1),
            "a number": lambda n: 1.0,
        }
        return made[self.what](X.shape[0])


@pytest.mark.parametrize(
    "what", ["nan", "inf", "three columns", "one row less", "a number"]
)
@pytest.mark.parametrize(
    "ranker", [LowRankSurrogateRanker, WrappedRanker], ids=lambda c: c.__name__
)
def test_what_a_regressor_predicts_is_checked(ranker, what):
    ranker = ranker(estimator=Predicts(what)).fit(X, y, qid=qid)
    message = {"nan": "nan for row 2 of X", "inf": "-inf for row 2 of X"}
    for call in (lambda: ranker.rank(X, qid=qid), lambda: ranker.predict(X)):
        with pytest.raises(
            ValueError, match=f"Predicts predicts {message.get(what, 'an array')}"
        ):
            call()


def test_what_a_regressor_of_items_predicts_is_checked():
    ranker = LowRankSurrogateRanker(
        target_loss="dcg", estimator=Predicts("three columns")
    )
    ranker.fit(X, TWO_ITEMS)
    with pytest.raises(ValueError, match=re.escape(f"({len(y)}, 3) where ({len(y)}, ")):
        ranker.rank(X)


# Equal rows ---------------------------------------------------------------------------

WIDE = np.random.default_rng(0).normal(size=(150, 37))
GRADES = np.random.default_rng(1).integers(0, 4, 150).astype(float)
LISTS = np.arange(150) // 6
ITEMS = make_label_ranking(150, 6, n_features=37, random_state=0).target
TIE = {
    "low rank": LowRankSurrogateRanker(),
    "ridge": LowRankSurrogateRanker(estimator=Ridge()),
    "lasso": LowRankSurrogateRanker(estimator=Lasso(alpha=1e-3)),
    "order preserving": OrderPreservingRegressor(),
    "pairs": PairwiseDAGRanker(),
    "function of pairs": PairwiseDAGRanker(pair_features=sub),
    "custom pairs": PairwiseDAGRanker(
        pair_features=lambda a, b: np.hstack([a, b, a * b])
    ),
    "score": PairwiseDAGRanker(decoder="score"),
}


def batches_with_one_row(row, rng):
    """Batches of many lengths in which one row stands in several places."""
    for n in (1, 2, 3, 5, 8, 17, 33, 100):
        batch = WIDE[rng.integers(0, 150, n)]
        places = rng.choice(n, size=min(n, 3), replace=False)
        batch[places] = row
        yield batch, places


@pytest.mark.parametrize("name", TIE)
@kinds
def test_equal_rows_have_equal_scores_to_the_last_bit(name, kind):
    kind = np.asarray if name == "custom pairs" else kind
    model = TIE[name].fit(kind(WIDE), GRADES, qid=LISTS)
    rng = np.random.default_rng(2)
    for row in WIDE[:5]:
        found = [
            model.predict(kind(b))[places]
            for b, places in batches_with_one_row(row, rng)
        ]
        assert len(np.unique(np.concatenate(found))) == 1


@pytest.mark.parametrize("name", ["function of pairs", "custom pairs"])
def test_equal_rows_of_a_list_have_equal_preferences(name):
    model = TIE[name].fit(WIDE, GRADES, qid=LISTS)
    rng = np.random.default_rng(3)
    for row in WIDE[:5]:
        for batch, places in batches_with_one_row(row, rng):
            table = model.predict_preferences(batch)[0]
            assert_array_equal(table[np.ix_(places, places)], 0.0)
            assert_array_equal(
                table[places], table[places[:1]].repeat(len(places), axis=0)
            )
            assert_array_equal(table, -table.T)


@pytest.mark.parametrize(
    "model",
    [
        LowRankSurrogateRanker(target_loss="dcg"),
        LowRankSurrogateRanker(target_loss="dcg", estimator=Ridge()),
        OrderPreservingRegressor(target_loss="dcg", surrogate="pairwise_squared"),
        PairwiseDAGRanker(decoder="score"),
    ],
    ids=repr,
)
def test_equal_queries_have_equal_scores_to_the_last_bit(model):
    model.fit(WIDE, ITEMS)
    rng = np.random.default_rng(4)
    for row in WIDE[:5]:
        found = [
            model.predict(batch)[places]
            for batch, places in batches_with_one_row(row, rng)
        ]
        assert len(np.unique(np.vstack(found), axis=0)) == 1


@every_fit
def test_a_fit_is_the_same_to_the_last_bit(name):
    one = FITS[name](X)
    coef, scores = one.coef_.copy(), one.predict(X)
    two = FITS[name](X.copy())
    assert_array_equal(two.coef_, coef)
    assert_array_equal(two.predict(X), scores)


@pytest.mark.parametrize("name", ["low rank", "function of pairs", "order preserving"])
def test_threads_do_not_change_the_scores_of_a_model(name):
    model = TIE[name].fit(WIDE, GRADES, qid=LISTS)
    with threadpool_limits(1):
        one = model.predict(WIDE)
    with threadpool_limits(2):
        assert_array_equal(model.predict(WIDE), one)


@pytest.mark.parametrize(
    "ranker",
    [
        LowRankSurrogateRanker(alpha=0.1),
        PairwiseDAGRanker(alpha=0.1),
        OrderPreservingRegressor(tol=1e-10),
        OrderPreservingRegressor(surrogate="pairwise_squared"),
    ],
)
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
def test_the_level_of_a_feature_in_a_list_does_not_matter(ranker, as_matrix):
    """An order within a list cannot depend on it, and it is not penalised for its spread."""
    X, y, qid = make_ranking(n_lists=30, n_items=(3, 8), n_features=4, random_state=0)
    level = np.random.default_rng(1).normal(scale=30.0, size=30)[qid]
    moved = X + np.outer(level, [1.0, 0.0, -2.0, 0.0])
    plain = clone(ranker).fit(as_matrix(X), y, qid=qid)
    other = clone(ranker).fit(as_matrix(moved), y, qid=qid)
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-5, atol=1e-7)


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr array": getattr(sparse, "csr_array", sparse.csr_matrix),
}


@every_fit
@pytest.mark.parametrize("layout", LAYOUTS)
def test_float32_of_any_layout_gives_the_model_of_float64(name, layout):
    single = np.where(X > 0, X, 0.0).astype(np.float32)
    given = LAYOUTS[layout](
        single
    )  # sparse features of items and classes have scales of their own
    double = sparse.csr_matrix(single) if sparse.issparse(given) else single
    expected, found = (
        scores_of(FITS[name](form), single)
        for form in (double.astype(np.float64), given)
    )
    atol = 1e-2 if name == "top" else 1e-4  # the top ends where rounding leads it
    assert_allclose(found, expected, rtol=0, atol=atol * np.abs(expected).max())


def scores_of(model, rows):
    """What a fitted model says of rows, as numbers."""
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    if isinstance(model, LowRankSurrogateClassifier):
        return model.predict_surrogate(rows)
    return model.predict(rows)


def test_a_verbose_score_prints_the_random_order(capsys):
    model = OrderPreservingRegressor(verbose=1).fit(X, y, qid=qid)
    capsys.readouterr()
    score = model.score(X, y, qid=qid)
    by_chance = ndcg_score(y, np.zeros(len(y)), qid=qid)
    assert capsys.readouterr().out == (
        f"[OrderPreservingRegressor] NDCG(k=10) {score:.4g}, "
        f"random order {by_chance:.4g}\n"
    )


def test_a_printed_score_warns_once_of_lists_without_a_value(capsys):
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    model.set_params(verbose=1)
    with pytest.warns(UndefinedMetricWarning) as caught:
        model.score(X, np.zeros(len(y)), qid=qid)
    assert len(caught) == 1
    assert "random order 0" in capsys.readouterr().out


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_score_says_each_finding_once(verbose):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 3
    ranker = OrderPreservingRegressor(verbose=verbose).fit(X, y, qid=np.arange(30) % 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.score(X, y, qid=np.arange(30) + 100)
    assert ["single item" in str(one.message) for one in caught] == [True]


@pytest.mark.parametrize("has_ids", [True, False])
def test_ranks_of_a_frame_have_its_index(has_ids):
    pd = pytest.importorskip("pandas")
    X, y, qid = make_ranking(n_lists=20, random_state=0)
    names = [f"doc {i}" for i in range(len(X))][::-1]
    frame = pd.DataFrame(X, index=names).add_prefix("x")
    ranker = OrderPreservingRegressor().fit(frame, y, qid=qid)
    lists = {"qid": qid} if has_ids else {"one_list": True}
    ranks = ranker.rank(frame, **lists, as_frame=True)
    assert ranks.name == "rank"
    assert ranks.index.tolist() == names
    assert_array_equal(ranks, ranker.rank(frame, **lists))
    with refused_by("rows without an index"):
        ranker.rank(frame.to_numpy(), **lists, as_frame=True)


def test_ranks_of_fixed_items_have_the_index_and_the_items():
    pd = pytest.importorskip("pandas")
    data = make_label_ranking(20, random_state=0)
    X, y = data.data, data.target
    frame = pd.DataFrame(X, index=[f"user {i}" for i in range(len(X))]).add_prefix("x")
    labels = pd.DataFrame(y, index=frame.index).add_prefix("item ")
    ranker = LowRankSurrogateRanker(target_loss="ndcg").fit(frame, labels)
    ranks = ranker.rank(frame, as_frame=True)
    assert ranks.index.tolist() == frame.index.tolist()
    assert ranks.columns.tolist() == labels.columns.tolist()
    assert_array_equal(ranks, ranker.rank(frame))
    unnamed = LowRankSurrogateRanker(target_loss="ndcg").fit(frame, y)
    assert unnamed.rank(frame, as_frame=True).columns.tolist() == list(
        range(y.shape[1])
    )
