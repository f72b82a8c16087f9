"""Structured hinges over linear models of the same data: rows of the benchmark of limits.

``ROWS`` is a table of functions ``row(tiny)``, as in ``_fit_limits``. A time means nothing if the
minimum of the hinge is at zero weights, if the fit does not converge, or if LogisticRegression does
not learn the labels. Such a row is an error.
"""

import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TunedThresholdClassifierCV

from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
)

from ._fit_limits import documents, over


def over_peer(what, model, peer, bar, X, y, **rows):
    """Seconds of both. Warnings of our fit are errors: that its gap is above tol among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, **rows)
    return over(what, partial(model.fit, X, y, **rows), partial(peer.fit, X, y), bar)


def tuned_threshold(what, X, y):
    """The default binary classifier over logistic regression with a tuned threshold."""
    peer = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1")
    what = f"F1 hinge / TunedThresholdClassifierCV, {what}"
    return over_peer(what, StructuredHingeBinaryClassifier(), peer, 1.0, X, y)


def rare(n_rows, n_features, share, tiny):
    """Normal features, few positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300 if tiny else n_rows, n_features))
    score = X[:, :5].sum(axis=1) + rng.standard_normal(len(X))
    y = score > np.quantile(score, 1.0 - share)
    return tuned_threshold(f"{n_rows} x {n_features}, {share:.0%} positive", X, y)


def rare_sparse(tiny):
    """20 entries in a sparse row."""
    n, p = (300, 200) if tiny else (5_000, 2_000)
    X = sparse.random(n, p, density=20 / p, format="csr", random_state=0)
    score = X @ np.random.default_rng(0).standard_normal(p)
    y = score > np.quantile(score, 0.9)
    return tuned_threshold("5000 x 2000 sparse, 10% positive", X, y)


def of_documents(measure, n_features, bar, tiny):
    """The default ranker of documents over Ridge on the rows."""
    X, y, qid = documents(10_000, n_features, tiny)
    model = StructuredHingeRanker(target_loss=measure)
    what = f"{measure} hinge / Ridge, 10000 x {n_features}, lists of 20"
    return over_peer(what, model, Ridge(), bar, X, y, qid=qid)


def of_items(n_rows, bar, tiny):
    """The default ranker of 20 items over Ridge of 20 targets."""
    data = make_label_ranking(200 if tiny else n_rows, 20, n_features=20, random_state=0)
    what = f"Kendall hinge / Ridge, {n_rows} x 20, 20 items"
    return over_peer(what, StructuredHingeRanker(), Ridge(), bar, data.data, data.target)


def of_classes(n_classes, kind, noise, right, bar, tiny):
    """The default classifier over LogisticRegression, which is right for a share of the rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20 * n_classes if tiny else 5_000, 50))
    X = sparse.csr_matrix(np.where(X > 1.0, X, 0.0)) if kind == "sparse" else X
    scores = X @ rng.standard_normal((50, n_classes))
    y = (scores + noise * rng.gumbel(size=scores.shape)).argmax(axis=1)
    peer = LogisticRegression(max_iter=1000)
    share = peer.fit(X, y).score(X, y)
    if share <= right:
        raise RuntimeError(f"LogisticRegression is right for {share:.2f} <= {right} of the rows.")
    what = f"hinge of classes / LogisticRegression, {n_classes} classes, {kind}, {share:.2f} right"
    return over_peer(what, StructuredHingeClassifier(), peer, bar, X, y)


ROWS = {
    "hinge f1 5 %": partial(rare, 1_000, 20, 0.05),
    "hinge f1 20 %": partial(rare, 1_000, 20, 0.2),
    "hinge f1 10,000 rows": partial(rare, 10_000, 50, 0.2),
    "hinge f1 2 %": partial(rare, 2_000, 20, 0.02),
    "hinge f1 sparse": rare_sparse,
    "hinge kendall": partial(of_documents, "kendall", 50, 18.0),
    "hinge kendall 136 features": partial(of_documents, "kendall", 136, 18.0),
    "hinge ndcg": partial(of_documents, "ndcg", 50, 150.0),
    "hinge ndcg@10": partial(of_documents, "ndcg@10", 50, 150.0),
    "hinge items 1,000": partial(of_items, 1_000, 55.0),
    "hinge items 5,000": partial(of_items, 5_000, 130.0),
    "hinge classes 5": partial(of_classes, 5, "dense", 1.0, 0.7, 2.0),
    "hinge classes 20": partial(of_classes, 20, "dense", 1.0, 0.7, 2.0),
    "hinge classes 100": partial(of_classes, 100, "dense", 1.0, 0.7, 2.0),
    "hinge classes 20 hard": partial(of_classes, 20, "dense", 3.0, 0.4, 2.0),
    "hinge classes 100 hard": partial(of_classes, 100, "dense", 2.0, 0.4, 2.0),
    "hinge classes 5 sparse": partial(of_classes, 5, "sparse", 1.0, 0.7, 4.0),
    "hinge classes 20 sparse": partial(of_classes, 20, "sparse", 1.0, 0.4, 4.0),
}
