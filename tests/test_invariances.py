"""What changes nothing: units, offsets, orders, copies, layouts, threads; for every estimator."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

import lowrank_rank
from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)

RNG = np.random.default_rng(0)
LENGTHS = RNG.integers(2, 9, 40)
QID = np.repeat(np.arange(40), LENGTHS)
N = len(QID)
X = RNG.normal(size=(N, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0] + RNG.normal(size=(40, 5))[QID]
X[:, 4] = np.round(X[:, 4])
WEIGHTS_OF_LISTS, WEIGHTS_OF_ROWS = RNG.integers(1, 3, 40)[QID], RNG.integers(1, 3, N)
SCORE = X @ [1.0, -0.5, 0.3, 0.0, 0.2] + RNG.normal(size=N)
GRADES = np.digitize(SCORE, np.quantile(SCORE, [0.5, 0.8])).astype(float)
ITEMS = np.digitize(X[:, :4] + RNG.normal(size=(N, 4)), [0.0, 1.0]).astype(float)
BINARY = (GRADES == 2).astype(int)
SETS = (ITEMS > 1).astype(int)
SPARSE = sparse.csr_matrix(np.where(np.abs(X) > 0.8, X, 0.0))

CLOSED, SMOOTH, HINGE, STEPS = 1e-6, 1e-6, 1e-4, 1e-6
#: Model, labels, whether they are of documents, and how near predictions are.
MODELS = {
    "ridge of documents": (LowRankSurrogateRanker(), GRADES, True, CLOSED),
    "pairs of documents": (PairwiseDAGRanker(), GRADES, True, CLOSED),
    "cross-entropy of documents": (OrderPreservingRegressor(tol=1e-8), GRADES, True, SMOOTH),
    "logistic losses of documents": (
        OrderPreservingRegressor(surrogate="pointwise_logistic", tol=1e-8), GRADES, True, SMOOTH,
    ),
    "hinge of documents": (StructuredHingeRanker(tol=1e-8), GRADES, True, HINGE),
    "logistic of items": (LowRankSurrogateRanker(tol=1e-8), ITEMS, False, SMOOTH),
    "ridge of items": (LowRankSurrogateRanker(estimator="ridge"), ITEMS, False, CLOSED),
    "pairs of items": (PairwiseDAGRanker(tol=1e-8), ITEMS, False, SMOOTH),
    "cross-entropy of items": (
        OrderPreservingRegressor(target_loss="dcg", tol=1e-8), ITEMS + 0.1, False, SMOOTH,
    ),
    "hinge of items": (StructuredHingeRanker(tol=1e-8), ITEMS, False, HINGE),
    "logistic of classes": (LowRankSurrogateClassifier(tol=1e-8), GRADES, False, SMOOTH),
    "ridge of classes": (LowRankSurrogateClassifier(estimator="ridge"), GRADES, False, CLOSED),
    "ridge of sets": (
        LowRankSurrogateMultilabelClassifier(estimator="ridge"), SETS, False, CLOSED,
    ),
    "hinge of classes": (StructuredHingeClassifier(tol=1e-8), GRADES, False, HINGE),
    "hinge of all rows": (StructuredHingeBinaryClassifier(tol=1e-8), BINARY, False, HINGE),
    "top": (PrecisionAtKPerceptron(random_state=0), BINARY, False, STEPS),
}  # fmt: skip
every_model = pytest.mark.parametrize("name", MODELS)
#: Steps depend on the order of the rows, and have no weights; nor has a list of all rows.
OF_ROWS = [name for name in MODELS if name != "top"]
WEIGHTED = [name for name in OF_ROWS if name != "hinge of all rows"]
#: They take features as they are, or are what another estimator makes of them.
LEFT_OUT = {
    StructuredHingeSequenceClassifier,
    lowrank_rank.HistGradientBoostingRanker,  # in a file of its own: bins are no scales
    lowrank_rank.WrappedRanker,
    lowrank_rank.StackingRanker,
}


PUBLIC = [*vars(lowrank_rank).values(), *vars(lowrank_rank.structured).values()]


def test_every_estimator_is_here():
    public = {value for value in PUBLIC if isinstance(value, type)}
    estimators = {cls for cls in public if issubclass(cls, BaseEstimator)}
    assert estimators == {type(model) for model, *_ in MODELS.values()} | LEFT_OUT


HINGES_STOP = (
    "ignore:lbfgs stopped:sklearn.exceptions.ConvergenceWarning"  # short of tol=1e-8
)
pytestmark = pytest.mark.filterwarnings(HINGES_STOP)


def scores(name, X, rows=slice(None), weights=None, at=None):
    """Scores of all rows `at` by a fit to some rows; documents minus the mean of their list."""
    model, y, is_documents, _ = MODELS[name]
    given = {"qid": QID[rows]} if is_documents else {}
    if weights is not None:
        given["sample_weight"] = weights
    model = clone(model).fit(X[rows], y[rows], **given)
    X = X if at is None else at
    if hasattr(model, "predict_surrogate"):
        found = model.predict_surrogate(X)
    elif hasattr(model, "decision_function"):
        found = model.decision_function(X)
    else:
        found = model.predict(X)
    found = found.reshape(N, -1)
    if not is_documents:
        return found
    means = np.array([found[q == QID].mean(axis=0) for q in range(40)])
    return found - means[QID]


def same(name, found, expected):
    size = np.abs(expected).max()
    assert size > 1e-3
    np.testing.assert_allclose(
        found / size, expected / size, rtol=0, atol=MODELS[name][3]
    )


@pytest.fixture(scope="module")
def plain():
    """Scores of each fit to X as it is, and to sparse X."""
    found = {}

    def of(name, X=X):
        key = name, sparse.issparse(X)
        if key not in found:
            found[key] = scores(name, X)
        return found[key]

    return of


@every_model
@pytest.mark.parametrize("unit", [1e6, [1.0, 1e6, 1e-3, 3.0, 7.0]])
def test_units(name, unit, plain):
    same(name, scores(name, X * unit), plain(name))


@every_model
def test_offsets(name, plain):
    same(name, scores(name, X + 1e6 * X.std(axis=0)), plain(name))


@every_model
def test_order_of_columns(name, plain):
    same(name, scores(name, X[:, [3, 0, 4, 2, 1]]), plain(name))


@pytest.mark.parametrize("name", OF_ROWS)
def test_order_of_rows_and_lists(name, plain):
    same(
        name,
        scores(name, X, np.random.default_rng(1).permutation(N), at=X),
        plain(name),
    )


@pytest.mark.parametrize("name", WEIGHTED)
def test_weight_two_is_twice(name):
    """The row twice, or for documents the list: its rows again under another id."""
    model, y, is_documents, _ = MODELS[name]
    weights = WEIGHTS_OF_LISTS if is_documents else WEIGHTS_OF_ROWS
    rows = np.concatenate([np.arange(N), np.flatnonzero(weights == 2)])
    ids = (
        {"qid": np.concatenate([QID, 100 + QID[weights == 2]])} if is_documents else {}
    )
    weighted = clone(model).fit(
        X, y, **{k: v[:N] for k, v in ids.items()}, sample_weight=weights
    )
    twice = clone(model).fit(X[rows], y[rows], **ids)
    assert getattr(weighted, "alpha_", 0) == pytest.approx(
        getattr(twice, "alpha_", 0), rel=1e-9
    )
    predict = "predict_surrogate" if hasattr(model, "predict_surrogate") else "predict"
    predict = "decision_function" if hasattr(model, "decision_function") else predict
    one, two = (getattr(fit, predict)(X).reshape(N, -1) for fit in (weighted, twice))
    if is_documents:
        one, two = one - one.mean(axis=0), two - two.mean(axis=0)
    same(name, one, two)


@every_model
@pytest.mark.parametrize(
    "layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]]
)
def test_layouts(name, layout, plain):
    same(name, scores(name, layout(X)), plain(name))


@every_model
def test_threads(name, plain):
    expected = plain(name)  # of one thread, see conftest.py
    with threadpool_limits(2):
        same(name, scores(name, X), expected)


def in_parts(X):
    """Each entry as the sum of two, some zeros said, columns in another order."""
    X = X.tocoo()
    zeros = np.arange(7)
    row = np.concatenate([X.row, X.row, zeros])
    column = np.concatenate([X.col, X.col, zeros % X.shape[1]])
    data = np.concatenate([0.25 * X.data, 0.75 * X.data, 0.0 * zeros])
    order = np.lexsort((-column, row))
    starts = np.searchsorted(row[order], np.arange(X.shape[0] + 1))
    return sparse.csr_matrix((data[order], column[order], starts), shape=X.shape)


@every_model
def test_entries_in_parts_and_explicit_zeros(name, plain):
    given = in_parts(SPARSE)
    assert given.nnz > 2 * SPARSE.nnz
    same(name, scores(name, given, at=SPARSE), plain(name, SPARSE))


@every_model
@pytest.mark.parametrize("unit", [1e-3, 1e6])
def test_units_of_sparse_columns(name, unit, plain):
    columns = sparse.diags([unit, 1.0, 1.0, unit, 1.0])
    same(name, scores(name, (SPARSE @ columns).tocsr()), plain(name, SPARSE))
