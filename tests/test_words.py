"""Words of documents with several labels: every default ranker is as good as the plain control."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import StructuredHingeRanker

N_TRAIN, N_LABELS, N_WORDS = 300, 12, 700


def reports(seed=0):
    """Counts of words, most of them rare, and which of twelve labels each report has."""
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, N_WORDS + 1)
    common /= common.sum()
    topics = np.array([rng.dirichlet(30.0 * common + 1e-4) for _ in range(N_LABELS)])
    y = (rng.random((700, N_LABELS)) < 0.12).astype(float)
    y[np.arange(700), rng.integers(0, N_LABELS, 700)] = 1.0
    words = 0.6 * common + 0.4 * (y @ topics) / y.sum(axis=1, keepdims=True)
    counts = rng.poisson(rng.integers(40, 120, 700)[:, np.newaxis] * words)
    return sparse.csr_matrix(counts), y


COUNTS, LABELS = reports()
FORMS = {
    "tf-idf": TfidfTransformer(sublinear_tf=True).fit_transform(COUNTS).tocsr(),
    "0 and 1": COUNTS.minimum(1).astype(float),
}
RANKERS = {
    "low rank": LowRankSurrogateRanker(),
    "low rank, ridge": LowRankSurrogateRanker(estimator="ridge"),
    "pairs": PairwiseDAGRanker(target_loss="kendall"),
    "cross-entropy": OrderPreservingRegressor(),
    "hinge": StructuredHingeRanker(target_loss="kendall"),
}


@pytest.fixture(scope="module")
def control():
    """NDCG of logistic regression of each label."""
    found = {}
    for form, X in FORMS.items():
        model = OneVsRestClassifier(LogisticRegression()).fit(
            X[:N_TRAIN], LABELS[:N_TRAIN]
        )
        found[form] = ndcg_score(LABELS[N_TRAIN:], model.decision_function(X[N_TRAIN:]))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RANKERS)
def test_rankers_of_words_are_as_good_as_logistic_regression_of_each_label(
    name, form, control
):
    X, model = FORMS[form], RANKERS[name]
    model.fit(X[:N_TRAIN], LABELS[:N_TRAIN])
    assert (
        0.7
        < control[form] - 0.02
        <= ndcg_score(LABELS[N_TRAIN:], model.predict(X[N_TRAIN:]))
    )
