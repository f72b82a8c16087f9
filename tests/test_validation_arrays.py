"""Arrays as users give them: numbers, no mask, finite, no larger than the machine."""

import os
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeRanker,
)
from lowrank_rank.surrogates import precision_surrogate

from .internals import preference_cost
from .refusals import refused_by

X, Y, QID = (
    np.arange(12.0).reshape(6, 2) % 5,
    np.array([0, 1, 0, 1, 0, 1]),
    [1, 1, 1, 2, 2, 2],
)
ESTIMATORS = [
    LowRankSurrogateClassifier(),
    LowRankSurrogateRanker(),
    OrderPreservingRegressor(),
    PairwiseDAGRanker(),
    WrappedRanker(Ridge()),
    PrecisionAtKPerceptron(),
]


def masked(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask.flat[0] = True
    return np.ma.masked_array(values, mask=mask)


def test_what_numbers_are():
    for good in (
        [1, 2],
        [True, False],
        pd.Series([1, 2]),
        np.ma.masked_array([1, 2]),
        np.array([1, Decimal("2.5")], dtype=object),
    ):
        value, _ = precision_surrogate([1, 0], good, k=1)
        expected, _ = precision_surrogate([1, 0], np.asarray(good, dtype=float), k=1)
        assert value == expected
    for bad in (
        "x",
        ["a"],
        [[1], [1, 2]],
        {},
        np.array([1j]),
        [1j],
        object(),
        [10**400],
    ):
        with pytest.raises(ValueError, match="must be an array of"):
            precision_surrogate([1, 0], bad, k=1)
    with refused_by("masked values"):
        precision_surrogate([1, 0], masked([1, 2]), k=1)


def test_the_first_number_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match=r"scores\[1\] is nan: it must be finite\."):
        precision_surrogate([1, 0, 0], [1.0, np.nan, np.inf], k=1)
    u = np.zeros((1, 2, 2))
    u[0, 1, 0] = -1e300
    with refused_by("vectors that are not finite"):
        preference_cost(u, [[1, 2]])
    u[0, 0, 1] = np.inf
    with refused_by("vectors that are not finite"):
        preference_cost(u, [[1, 2]])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_mask_is_not_ignored(estimator):
    with refused_by("masked X"):
        estimator.fit(masked(X), Y)
    with pytest.raises(ValueError, match="y is a masked array"):
        estimator.fit(X, masked(Y))
    if not isinstance(estimator, LowRankSurrogateClassifier):
        with refused_by("masked ids"):
            estimator.fit(X, Y, qid=masked(QID))
    fitted = estimator.fit(
        np.ma.masked_array(X), np.ma.masked_array(Y)
    )  # nothing is masked
    assert np.isfinite(fitted.predict(X)).all()


def test_masks_of_measures_and_weights():
    for arguments in ((masked(Y), X[:, 0]), (Y, masked(X[:, 0]))):
        with refused_by("masked values"):
            ndcg_score(*arguments)
    with refused_by("masked values"):
        ndcg_score(Y, X[:, 0], sample_weight=masked(np.ones(6)))


# Memory -----------------------------------------------------------------------------


@pytest.fixture
def memory(monkeypatch):
    """Set the memory of the machine, in bytes; None is unknown."""

    def set_to(n_bytes):
        def sysconf(name):
            if n_bytes is None:
                raise ValueError(name)
            return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": n_bytes // 4096}[name]

        monkeypatch.setattr(os, "sysconf", sysconf, raising=False)

    return set_to


def test_a_size_beyond_memory_is_named(memory):
    wide = sparse.csr_matrix((6, 10**6))  # four vectors of this length
    memory(2**24)
    with pytest.raises(
        ValueError,
        match=r"would take 0\.0298 GiB, more than the 0\.01562 GiB.*: select",
    ):
        LowRankSurrogateRanker(alpha=1.0).fit(wide, Y, qid=QID)
    for enough in (2**30, None):  # nothing is refused where memory is unknown
        memory(enough)
        LowRankSurrogateRanker(alpha=1.0).fit(wide, Y, qid=QID)


KNOW_THEIR_FEATURES = [e for e in ESTIMATORS if not isinstance(e, WrappedRanker)]


@pytest.mark.parametrize(
    "estimator", KNOW_THEIR_FEATURES, ids=lambda e: type(e).__name__
)
def test_two_billion_columns(estimator, memory):
    """Refused before any vector of that length is taken, on machines of any size."""
    memory(16 * 2**30)
    wide = sparse.csr_matrix((6, 2 * 10**9))
    with pytest.raises(ValueError, match=r"2000000000 features would take 59\.6 GiB"):
        estimator.fit(wide, Y)


def test_pairs_of_many_fixed_items(memory):
    y = np.zeros((200, 5000), dtype=np.int8)
    y[:, 0] = 1
    memory(16 * 2**30)
    with pytest.raises(ValueError, match=r"one for each pair, would take 37\.26 GiB"):
        PairwiseDAGRanker().fit(np.ones((200, 1)), y)
    memory(2**28)
    for loss in ("map", "pd"):  # a part of the pairs at a time
        with pytest.raises(
            ValueError, match=r"coefficients of 1\d{7} pairs would take 0\.37"
        ):
            LowRankSurrogateRanker(target_loss=loss).fit(np.ones((10, 1)), y[:10])


def test_ridge_statistics(memory):
    memory(2**20)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 400))
    for model in (LowRankSurrogateRanker(), LowRankSurrogateClassifier()):
        model.set_params(estimator="ridge")
        with pytest.raises(
            ValueError, match=r"sums of ridge regression, .* would take"
        ):
            model.fit(X, np.arange(20) % 2)


@pytest.mark.parametrize(
    "model", [StructuredHingeRanker(), StructuredHingeBinaryClassifier()]
)
def test_copies_of_rows_of_one_list(model, memory):
    memory(2**21)
    weights = 10**4 * np.arange(1, 7)  # 210,000 copies
    with pytest.raises(ValueError, match=r"copies of rows would take 0\.02816 GiB"):
        model.fit(X[:, :1], np.arange(6) % 2, sample_weight=weights)


def test_scores_are_finite_whatever_their_sum():
    model = OrderPreservingRegressor().fit(X, Y, qid=QID)
    model.coef_ = np.array([1e300, 0.0])
    model.intercept_ = 0.0
    scores = model.predict([[1e8, 0.0], [1e8, 0.0], [-1e8, 0.0]])  # the sum is not
    assert scores.tolist() == [1e308, 1e308, -1e308]
    with pytest.raises(ValueError, match="score of row 1 of X overflows"):
        model.predict([[1e8, 0.0], [1e9, 0.0], [-1e9, 0.0]])
