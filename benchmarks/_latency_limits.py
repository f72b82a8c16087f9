"""One query, one predict or one pass, in seconds or bytes: rows of the benchmark of limits.

``ROWS`` is a table of functions ``row(tiny)``, as in ``_fit_limits``. `BEFORE` has the value of
each row before the path became faster or smaller.
"""

import tracemalloc
from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from lowrank_rank import (
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    consensus_ranking,
)
from lowrank_rank.datasets import iter_lists
from lowrank_rank.decoders import decode_pd_dag, decode_pd_local_search
from lowrank_rank.structured import StructuredHingeRanker

from ._fit_limits import documents, labels, over

#: Name of a row to its value before, measured by the same row on one machine.
BEFORE = {
    "one query 20": 32.0,
    "one query 30": 39.9,
    "one query 40": 38.0,
    "rank intervals 200": 79.0,
    "rank intervals 5,000 of ten": 5.47,
    "NDCG hinge of items 20": 382.0,
    "NDCG hinge of items 50": 917.0,
    "multilabel predict": 36.2,
    "multilabel bytes": 76.8,
    "pairs of 50 items, bytes of fit": 5.8,
    "pairs of 320 items, bytes of fit": 13.3,
    "pairs of 50 items, bytes of logistic": 5.8,
    "pairs of 320 items, bytes of logistic": 13.1,
    "pairs of 50 items, bytes of rank": 10.1,
    "pairs of 320 items, bytes of rank": 22.9,
    "wide documents": 1.0,
    "sorted ids": 12.1,
}


def peak_of(call):
    """Largest number of bytes that a call has allocated at a time."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def one_query(n_items, bar, tiny):
    """Twenty restarts of local search of one list, over algorithm 1."""
    u = np.random.default_rng(0).normal(size=(1, n_items, n_items))
    calls = partial(decode_pd_local_search, u, n_restarts=20), partial(decode_pd_dag, u)
    return over(f"20 restarts / algorithm 1, one list of {n_items}", *calls, bar)


def intervals(n_voters, n_ranked, bar, tiny):
    """Rank intervals of 100 items, over the product of counts and preferences."""
    rng, r = np.random.default_rng(0), 20 if tiny else 100
    grades = rng.normal(size=(n_voters, r)) - np.arange(r) / (r / 3)
    for row in grades:
        row[rng.permutation(r)[n_ranked:]] = np.nan
    consensus = consensus_ranking(grades, time_limit=2.0 if tiny else 20.0)
    drawn, pairs = rng.random((1000, n_voters)), rng.random((n_voters, r * r))
    calls = partial(consensus.rank_intervals, random_state=0), lambda: drawn @ pairs
    return over(f"rank intervals / a product, {n_voters} voters, {r} items", *calls, bar)


def hinge_of_items(n_features, bar, tiny):
    """NDCG hinge of 3,000 lists of 12 items, over one-vs-rest logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60 if tiny else 3_000, n_features))
    scores = X @ rng.standard_normal((n_features, 12)) / n_features**0.5
    y = np.digitize(scores + rng.standard_normal(scores.shape), [0.0, 0.8, 1.5, 2.2]).astype(float)
    ours = partial(StructuredHingeRanker(target_loss="ndcg").fit, X, y)
    peer = partial(OneVsRestClassifier(LogisticRegression()).fit, X, (y > 0).astype(int))
    return over(f"NDCG hinge of items / one-vs-rest, 3000 x {n_features}", ours, peer, bar)


def multilabel(measure, bar, tiny):
    """Predict of 60 labels: seconds over one-vs-rest, or bytes over those of X."""
    X, Y = labels(5_000, 50, 8 if tiny else 60, tiny)
    Y = Y.astype(int)
    ours = LowRankSurrogateMultilabelClassifier(estimator="ridge").fit(X, Y)
    if measure == "bytes":
        peak = peak_of(partial(ours.predict, X))
        return "bytes of predict / those of X, 60 labels", peak, X.nbytes, bar
    peer = OneVsRestClassifier(LogisticRegression()).fit(X[:1000], Y[:1000])
    calls = partial(ours.predict, X), partial(peer.predict, X)
    return over("predict / one-vs-rest LogisticRegression, 60 labels", *calls, bar)


def pairs_of_items(method, estimator, n_items, bar, tiny):
    """Bytes of a fit or of `rank`, over four times those of the data and of the sums."""
    rng, n_items = np.random.default_rng(0), 10 if tiny else n_items
    X = rng.standard_normal((1_000, 50))
    y = (X @ rng.standard_normal((50, n_items))).argsort(axis=1).argsort(axis=1) * 1.0
    ranker = LowRankSurrogateRanker(target_loss="pd", estimator=estimator, decoder="borda")
    peak = peak_of(partial(ranker.fit, X, y))
    if method == "rank":
        peak = peak_of(partial(ranker.rank, X))
    size = 4 * (X.nbytes + y.nbytes + 4 * n_items**2 * X.shape[1])
    what = f"bytes of {method} / 4 times the data and sums, pairs of {n_items} items, {estimator}"
    return what, peak, size, bar


def wide_documents(n_features, bar, tiny):
    """Ridge regression of 5,000 documents over their second moments, which `partial_fit` takes."""
    X, y, qid = documents(5_000, n_features, tiny)
    ours = partial(LowRankSurrogateRanker().fit, X, y, qid=qid)
    sums = partial(LowRankSurrogateRanker().fit_blocks, [(X, y, qid)])
    return over(f"fit / second moments, 5000 x {n_features}", ours, sums, bar)


def sorted_ids(bar, tiny):
    """Bytes of a pass of `iter_lists` over 100,000 lists, over those of their ids."""
    n = 1_000 if tiny else 100_000
    blocks = iter_lists((np.zeros((n, 1)), np.zeros(n), np.arange(n)), rows_per_block=1_000)
    peak = peak_of(lambda: sum(1 for _ in blocks))
    return "bytes of a pass over sorted ids / those of the ids", peak, 8 * n, bar


ROWS = {
    **{
        f"one query {r}": partial(one_query, r, bar)
        for r, bar in ((20, 14.0), (30, 18.0), (40, 17.0))
    },
    "rank intervals 200": partial(intervals, 200, 100, 20.0),
    "rank intervals 5,000 of ten": partial(intervals, 5_000, 10, 1.4),
    "NDCG hinge of items 20": partial(hinge_of_items, 20, 153.0),
    "NDCG hinge of items 50": partial(hinge_of_items, 50, 367.0),
    "multilabel predict": partial(multilabel, "seconds", 12.0),
    "multilabel bytes": partial(multilabel, "bytes", 8.0),
    **{
        f"pairs of {r} items, bytes of {method}": partial(pairs_of_items, method, "ridge", r, 1.0)
        for method in ("fit", "rank")
        for r in (50, 320, 1000)
    },
    **{
        f"pairs of {r} items, bytes of logistic": partial(pairs_of_items, "fit", "auto", r, bar)
        for r, bar in ((50, 1.6), (320, 1.0))  # of 50 items, 8 MB of workspace
    },
    "wide documents": partial(wide_documents, 2_000, 0.3),
    "sorted ids": partial(sorted_ids, 4.0),
}
