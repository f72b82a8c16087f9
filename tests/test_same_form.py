"""The same rows as a dense array, as CSR and as a data frame give the same model."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
)

N = 200


def rows():
    """Columns with 0, 1, 49, 51 and 100 % zeros, an offset, booleans and whole numbers."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 9))
    for j, zeros in enumerate([0, 2, 98, 102, 200, 0, 198, 90, 40]):
        Z[rng.permutation(N)[:zeros], j] = 0.0
    X = Z.copy()
    X[:, 5] = 1e4 + Z[:, 5]
    X[:, 7] = Z[:, 7] != 0
    X[:, 8] = np.round(3 * Z[:, 8])
    score = Z[:, :4] @ rng.normal(size=(4, 5)) + Z[:, 5:6] + rng.normal(size=(N, 5))
    return X, score


X, SCORE = rows()
ITEMS = np.clip(np.round(SCORE + 1.5), 0, 3)
GAPS = np.where(np.random.default_rng(1).random(ITEMS.shape) < 0.2, np.nan, ITEMS)
SETS = (SCORE > 0.5).astype(int)
CLASSES = SCORE[:, :3].argmax(axis=1)
RARE = (SCORE[:, 0] > 1.5).astype(int)
QID = np.repeat(np.arange(N // 8), 8)
MARKS = 1.0 * ((ITEMS[:, 0] > 1) | (np.arange(N) % 8 == 0))  # one in each list
WEIGHTS = np.random.default_rng(2).integers(1, 4, N // 8)[QID].astype(float)
DCG = {"target_loss": "dcg"}
EXACT = {"tol": 1e-8}

FORMS = (np.asarray, sparse.csr_matrix)
#: Name to model and y.
CLOSED = {
    "documents": (LowRankSurrogateRanker(), ITEMS[:, 0]),
    "documents, pairs": (PairwiseDAGRanker(), ITEMS[:, 0]),
    "documents, not centred": (LowRankSurrogateRanker(centered=False), ITEMS[:, 0]),
    "items": (LowRankSurrogateRanker(estimator="ridge"), ITEMS),
    "items, gaps": (LowRankSurrogateRanker(**DCG, estimator="ridge"), GAPS),
    "items, pairs": (PairwiseDAGRanker(estimator="ridge"), ITEMS),
    "items, squares": (OrderPreservingRegressor(surrogate="pointwise_squared"), ITEMS),
    "classes": (LowRankSurrogateClassifier(estimator="ridge"), CLASSES),
    "sets": (LowRankSurrogateMultilabelClassifier(estimator="ridge"), SETS),
}
ITERATIVE = {
    "items": (LowRankSurrogateRanker(**EXACT), ITEMS),
    "items, cross-entropy": (OrderPreservingRegressor(**EXACT), ITEMS),
    "documents, cross-entropy": (OrderPreservingRegressor(**EXACT), ITEMS[:, 0]),
    "classes": (LowRankSurrogateClassifier(**EXACT), CLASSES),
    "sets": (LowRankSurrogateMultilabelClassifier(**EXACT), SETS),
}
HINGES = {
    "classes": (StructuredHingeClassifier(tol=1e-4), CLASSES),
    "items": (StructuredHingeRanker(tol=1e-4), ITEMS),
    "documents": (StructuredHingeRanker(tol=1e-4), ITEMS[:, 0]),
    "documents that see levels": (
        StructuredHingeRanker(target_loss="precision@1", alpha=0.01, tol=1e-4), MARKS,
    ),
    "one class of two": (StructuredHingeBinaryClassifier(alpha=0.01), RARE),
}  # fmt: skip


def forms(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["x7"], frame["x8"] = frame["x7"].astype(bool), frame["x8"].astype(int)
    return {"dense": X, "CSR": sparse.csr_matrix(X), "frame": frame}


def fits(model, y):
    """The model of each form, with query ids and weights where `fit` takes them."""
    known = signature(model.fit).parameters
    given = {"qid": QID} if "qid" in known and y.ndim == 1 else {}
    given |= {"sample_weight": WEIGHTS} if "sample_weight" in known else {}
    return {name: clone(model).fit(form, y, **given) for name, form in forms(X).items()}


def assert_same_coefficients(found, tolerance):
    """Coefficients in units of the features, and predictions."""
    dense = found["dense"]
    unit = X.std(axis=0)
    size = np.abs(dense.coef_ * unit).max()
    assert size > 1e-3
    u = (
        dense.predict_surrogate(X)
        if hasattr(dense, "predict_surrogate")
        else dense.predict(X)
    )
    for name, form in forms(X).items():
        other = found[name]
        assert_allclose(other.alpha_, dense.alpha_, rtol=1e-9)
        assert_allclose(
            other.coef_ * unit, dense.coef_ * unit, rtol=0, atol=tolerance * size
        )
        own = (
            other.predict_surrogate
            if hasattr(other, "predict_surrogate")
            else other.predict
        )
        assert_allclose(own(form), u, rtol=0, atol=10 * tolerance * np.abs(u).max())


@pytest.mark.parametrize("case", CLOSED)
def test_closed_forms_have_the_same_coefficients(case):
    assert_same_coefficients(fits(*CLOSED[case]), 1e-9)


@pytest.mark.parametrize("case", ITERATIVE)
def test_iterations_find_the_same_coefficients(case):
    assert_same_coefficients(fits(*ITERATIVE[case]), 1e-5)


@pytest.mark.parametrize("case", HINGES)
def test_hinges_have_the_same_objective(case):
    found = fits(*HINGES[case])
    for other in found.values():
        assert_allclose(other.alpha_, found["dense"].alpha_, rtol=1e-9)
        assert_allclose(other.objective_, found["dense"].objective_, rtol=1e-3)
    assert np.abs(found["dense"].coef_).max() > 0


def test_nothing_is_centred_without_an_intercept():
    model = StructuredHingeRanker(fit_intercept=False)
    dense, other = (clone(model).fit(form(X[:, :5]), ITEMS) for form in FORMS)
    assert_allclose(other.alpha_, dense.alpha_, rtol=1e-9)
    assert_allclose(other.objective_, dense.objective_, rtol=1e-3)


def test_logistic_regression_in_place_of_a_vacuous_hinge():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.03).astype(int)
    words = rng.random((2000, 3)) < [0.05, 0.3, 0.7]
    Z = (rng.normal(size=(2000, 3)) + 2.0 + 0.7 * y[:, np.newaxis]) * words
    found = []
    for form in FORMS:
        with pytest.warns(UserWarning, match="within 2 % of its value"):
            found.append(StructuredHingeBinaryClassifier().fit(form(Z), y))
    assert_allclose(found[0].coef_, found[1].coef_, rtol=1e-3)


@pytest.mark.parametrize("zeros", [0, 2, 98, 100, 102, 198])
def test_the_share_of_zeros_moves_a_model_by_little(zeros):
    """One entry more or less is no jump, at one half neither."""
    rng = np.random.default_rng(3)
    x, order = rng.normal(size=N), rng.permutation(N)
    found = []
    for k in (zeros, zeros + 1):
        column = np.where(np.isin(np.arange(N), order[:k]), 0.0, x)
        rows = np.column_stack([column, X[:, 0]])
        model = LowRankSurrogateRanker(estimator="ridge", **DCG).fit(rows, ITEMS)
        found.append(model.alpha_)
    assert_allclose(found[0], found[1], rtol=0.03)


def test_units_and_offsets_change_nothing_where_at_most_half_are_zeros():
    kept = [0, 1, 2, 8]
    plain = LowRankSurrogateRanker(estimator="ridge", **DCG).fit(X[:, kept], ITEMS)
    units = 2.0 ** np.array([20, -9, 3, 1])
    moved = (X[:, kept] + [0.0, 3.0, 100.0, -5.0]) * units
    for form in FORMS:
        other = clone(plain).fit(form(moved), ITEMS)
        assert_allclose(other.coef_ * units, plain.coef_, rtol=1e-7)
