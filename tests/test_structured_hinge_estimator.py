"""What the estimators of structured hinges share: settings, warnings, progress."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)


@pytest.fixture
def documents():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(240, 4)), np.repeat(np.arange(20), 12)
    y = np.clip(np.round(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=240)), 0, 2)
    return X, y, qid


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"target_loss": "map"}, "no structured hinge here: use one of kendall"),
        ({"target_loss": "nonsense"}, "Unknown target loss"),
        ({"solver": "lbfgs", "target_loss": "ndcg@10"}, "needs a smooth hinge"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"alpha": 0}, "alpha must be 'auto' or a finite number > 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(params, message, documents):
    X, y, qid = documents
    with pytest.raises((ValueError, TypeError), match=message):
        StructuredHingeRanker(**params).fit(X, y, qid=qid)


def test_a_fit_that_does_not_converge_says_what_to_change(documents):
    X, y, qid = documents
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol or alpha"):
        StructuredHingeRanker(max_iter=1).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    "estimator",
    [
        StructuredHingeRanker,
        StructuredHingeClassifier,
        StructuredHingeBinaryClassifier,
        StructuredHingeSequenceClassifier,
    ],
)
def test_nothing_is_printed_by_default(estimator, documents, capsys):
    X, y, _ = documents
    model = estimator(solver="cutting_plane")
    ids = {}
    if estimator is StructuredHingeRanker:
        ids["qid"] = np.zeros(len(X))
    model.fit(X, (y > 0).astype(int), **ids)
    assert capsys.readouterr().out == ""


def test_progress_is_printed(documents, capsys):
    X, y, qid = documents
    StructuredHingeRanker(target_loss="ndcg@10", verbose=1).fit(X, y, qid=qid)
    assert "[StructuredHingeRanker] iteration 1: objective" in capsys.readouterr().out
