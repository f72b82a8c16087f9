"""Rows match by position: pandas objects with different indices are refused, never re-aligned."""

import numpy as np
import pandas as pd
import pytest

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
    WrappedRanker,
)
from lowrank_rank.metrics import ndcg_score

RANKERS = [
    LowRankSurrogateRanker(),
    LowRankSurrogateRanker(estimator="trees", random_state=0),
    OrderPreservingRegressor(),
    PairwiseDAGRanker(),
    StructuredHingeRanker(),
    WrappedRanker(LowRankSurrogateRanker(estimator="ridge").set_params(target_loss="dcg")),
    PrecisionAtKPerceptron(),
    StructuredHingeSequenceClassifier(),
]
CLASSIFIERS = [
    LowRankSurrogateClassifier(),
    StructuredHingeClassifier(),
    StructuredHingeBinaryClassifier(),
]


def make_frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    y = pd.Series((X["a"] + rng.normal(size=40) > 0).astype(int), name="y")
    return X, y, pd.Series(np.arange(40) // 5, name="qid")


def shuffled(series):
    return series.sample(frac=1.0, random_state=0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", RANKERS, ids=lambda model: type(model).__name__)
def test_rankers(model):
    X, y, qid = make_frame()
    with pytest.raises(ValueError, match=r"X and y have different indices \(row 0: 0 and \d+\)"):
        model.fit(X, shuffled(y), qid=qid)
    with pytest.raises(ValueError, match=r"X and qid have different indices"):
        model.fit(X, y, qid=shuffled(qid))
    rows = np.random.default_rng(0).permutation(40)
    model.fit(X.iloc[rows], y.iloc[rows], qid=qid.iloc[rows])  # one index, in any order
    if hasattr(model, "rank"):
        with pytest.raises(ValueError, match=r"X and qid have different indices"):
            model.rank(X, qid=shuffled(qid))
    with pytest.raises(ValueError, match="have different indices"):
        model.score(X, shuffled(y), qid=qid)
    assert np.isfinite(model.score(X, shuffled(y).to_numpy(), qid=qid))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers(model):
    X, y, _ = make_frame()
    with pytest.raises(ValueError, match="X and y have different indices"):
        model.fit(X, shuffled(y))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="X and y have different indices"):
            model.partial_fit(X, shuffled(y), classes=[0, 1])
    model.fit(X, y)
    with pytest.raises(ValueError, match="have different indices"):
        model.score(X, shuffled(y))
    model.fit(X, shuffled(y).to_numpy())


def test_weights_and_measures():
    X, y, qid = make_frame()
    weights = pd.Series(np.ones(40), index=np.arange(1, 41))
    with pytest.raises(ValueError, match="X and sample_weight have different indices"):
        LowRankSurrogateRanker().fit(X, y, qid=qid, sample_weight=weights)
    with pytest.raises(ValueError, match="y_true and y_score have different indices"):
        ndcg_score(y, shuffled(y), qid=qid)


def test_ids_in_the_index_of_both():
    X, y, qid = make_frame()
    index = pd.MultiIndex.from_arrays([qid, np.arange(40)], names=["qid", "row"])
    X, y = X.set_axis(index), y.set_axis(index)
    model = LowRankSurrogateRanker().fit(X, y)
    assert model.n_lists_ == 8
    with pytest.raises(ValueError, match="X and y have different indices"):
        LowRankSurrogateRanker().fit(X, y[::-1])
