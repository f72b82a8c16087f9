"""Structured hinges over plain linear models of the same data: rows of the benchmark of limits.

``ROWS`` is a table as that of ``_fit_limits``: a row yields what was timed, the seconds of it,
those of its floor, and the most that their ratio should be. A binary classifier that does not
converge, or data on which a linear model is no better than chance, make no row.
"""

import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from lowrank_rank import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
)
from lowrank_rank.datasets import make_label_ranking

from ._fit_limits import documents, over


def rare(n_rows, n_features, share, bar, tiny):
    """The default binary classifier over LogisticRegression; dense rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300 if tiny else n_rows, n_features))
    score = X[:, :5].sum(axis=1) + rng.standard_normal(len(X))
    y = score > np.quantile(score, 1.0 - share)
    what = f"F1 hinge / LogisticRegression, {n_rows} x {n_features}, {share:.0%} positive"
    return binary(what, X, y, bar)


def rare_sparse(bar, tiny):
    """The same of sparse rows with 20 positive entries in the mean."""
    rng = np.random.default_rng(0)
    n, p = (300, 200) if tiny else (5_000, 2_000)
    X = sparse.random(n, p, density=20 / p, format="csr", random_state=0)
    score = X @ rng.standard_normal(p)
    y = score > np.quantile(score, 0.9)
    return binary("F1 hinge / LogisticRegression, 5000 x 2000 sparse", X, y, bar)


def binary(what, X, y, bar):
    model = StructuredHingeBinaryClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not converged, or vacuous: a time would say nothing
        model.fit(X, y)
    print(what, model.n_iter_, model.dual_gap_, model.objective_, model.is_vacuous_)
    return over(what, partial(model.fit, X, y), partial(LogisticRegression().fit, X, y), bar)


def of_documents(measure, bar, tiny):
    """The default ranker of 10,000 documents over Ridge on the rows."""
    X, y, qid = documents(10_000, 50, tiny)
    model = StructuredHingeRanker(target_loss=measure)
    model.fit(X, y, qid=qid)
    print(model.n_iter_, model.dual_gap_, model.objective_)
    what = f"{measure} hinge / Ridge, 10000 documents, lists of 20"
    return over(what, partial(model.fit, X, y, qid=qid), partial(Ridge().fit, X, y), bar)


def of_items(n_rows, bar, tiny):
    """The default ranker of 20 items, with 20 features, over Ridge of 20 targets."""
    data = make_label_ranking(200 if tiny else n_rows, 20, n_features=20, random_state=0)
    X, y = data.data, data.target
    model = StructuredHingeRanker().fit(X, y)
    print(model.n_iter_, model.dual_gap_, model.objective_)
    calls = partial(model.fit, X, y), partial(Ridge().fit, X, y)
    return over(f"Kendall hinge / Ridge, {n_rows} x 20, 20 items", *calls, bar)


def of_classes(n_classes, kind, bar, tiny):
    """The default classifier over LogisticRegression."""
    rng = np.random.default_rng(0)
    n = 20 * n_classes if tiny else 5_000
    X = rng.standard_normal((n, 50))
    X = sparse.csr_matrix(np.where(X > 1.0, X, 0.0)) if kind == "sparse" else X
    scores = X @ rng.standard_normal((50, n_classes)) 
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    peer = LogisticRegression(max_iter=1000)
    right = peer.fit(X, y).score(X, y)
    print(right, right > 0.7, StructuredHingeClassifier().fit(X, y).score(X, y))
    what = f"hinge of classes / LogisticRegression, {n_classes} classes, {kind}"
    return over(
        what, partial(StructuredHingeClassifier().fit, X, y), partial(peer.fit, X, y), bar
    )


ROWS = {
    "f1 hinge 5 %": partial(rare, 1_000, 20, 0.05, 20.0),
    "f1 hinge 20 %": partial(rare, 1_000, 20, 0.2, 20.0),
    "f1 hinge 10,000 rows": partial(rare, 10_000, 50, 0.2, 12.0),
    "f1 hinge 2 %": partial(rare, 2_000, 20, 0.02, 20.0),
    "f1 hinge sparse": partial(rare_sparse, 60.0),
    "hinge kendall": partial(of_documents, "kendall", 18.0),
    "hinge ndcg": partial(of_documents, "ndcg@10", 150.0),
    "hinge items 1,000": partial(of_items, 1_000, 55.0),
    "hinge items 5,000": partial(of_items, 5_000, 130.0),
    "hinge classes 5": partial(of_classes, 5, "dense", 2.0),
    "hinge classes 20": partial(of_classes, 20, "dense", 2.0),
    "hinge classes 100": partial(of_classes, 100, "dense", 2.0),
    "hinge classes 5 sparse": partial(of_classes, 5, "sparse", 4.0),
    "hinge classes 20 sparse": partial(of_classes, 20, "sparse", 4.0),
}
