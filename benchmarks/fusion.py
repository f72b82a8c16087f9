"""Fusion of runs: the best run, fixed sums, and weights learned from judged queries.

The runs of digits are the first documents by three of its features, those of LightGBM's example by
its five best features, those of the generated set by grades with noise. The table has NDCG@10 of
the documents that some run has, and the difference from the mean of scaled scores with its
interval. Choices and weights come from other folds of queries.
"""

import numpy as np
from sklearn.model_selection import GroupKFold

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.datasets import load_digits_retrieval, make_ranking, runs_to_features
from lowrank_rank.metrics import ndcg_score

from ._common import paired, print_table
from ._sets import load_lightgbm_example

BASELINE = "mean of scaled scores"


def add_arguments(parser):
    """No options of its own."""


def run(args):
    """One row per set and way of fusing."""
    sets = {"generated": generated(20 if args.tiny else 300)}
    if not args.tiny:
        sets["digits"] = digits()
        sets["lightgbm_example"] = best_features(*load_lightgbm_example(args.data))
    rows = []
    for name, (runs, qrels) in sets.items():
        joined = runs_to_features(runs, qrels)
        values = {
            way: ndcg_score(joined.target, scores, qid=joined.qid, k=10, average=None)
            for way, scores in fused(joined).items()
        }
        for way, found in values.items():
            difference = paired(found, values[BASELINE])
            row = {"set": name, "fusion": way, "ndcg@10": float(np.nanmean(found))}
            row |= {
                "difference": difference.mean,
                "low": difference.low,
                "high": difference.high,
            }
            rows.append(row)
    print_table(
        f"Fusion of runs: NDCG@10, and the difference from the {BASELINE}", rows
    )
    return rows


def generated(n_lists):
    """Four runs of 20 documents of 50: grades with more and more noise, one on another scale."""
    _, y, qid = make_ranking(n_lists=n_lists, n_items=50, random_state=0)
    rng = np.random.RandomState(0)
    systems = [y + noise * rng.normal(size=len(y)) for noise in (1.0, 2.0, 3.0, 4.0)]
    systems[3] = -1.0 / (5.0 + systems[3] - systems[3].min())
    return runs_and_qrels(np.column_stack(systems), y, qid, depth=20)


def digits():
    """Runs of the fifteen first of 40 images by three of the features."""
    data = load_digits_retrieval(n_queries=250, as_frame=True)
    scores = data.data[["correlation", "best_shift"]].assign(
        profile=-data.data["row_profile"]
    )
    return runs_and_qrels(
        scores.to_numpy(), data.target.to_numpy(), data.qid.to_numpy(), depth=15
    )


def best_features(X, y, qid):
    """Runs of the eight first documents by each of the five features of the largest NDCG@10."""
    values = [ndcg_score(y, x, qid=qid, k=10) for x in X.T]
    return runs_and_qrels(X[:, np.argsort(values)[-5:]], y, qid, depth=8)


def runs_and_qrels(scores, y, qid, depth):
    runs: dict = {f"run {j}": {} for j in range(scores.shape[1])}
    qrels = {}
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        qrels[query] = dict(zip(rows, y[rows], strict=True))
        for run, column in zip(runs.values(), scores.T, strict=True):
            first = rows[np.argsort(-column[rows], kind="stable")[:depth]]
            run[query] = dict(zip(first, column[first], strict=True))
    return runs, qrels


def fused(joined):
    """Scores of each way of fusing."""
    X, y, qid = joined.data, joined.target, joined.qid
    scores = X[
        :, ::2
    ]  # the scaled scores of the runs, without the columns of their ranks
    best, few, learned, tuned = np.zeros((4, len(y)))
    for train, test in GroupKFold(5).split(X, y, qid):
        known = y[train], qid[train]
        values = [
            ndcg_score(known[0], one, qid=known[1], k=10) for one in scores[train].T
        ]
        best[test] = scores[test, np.argmax(values)]
        judged = np.random.RandomState(0).permutation(np.unique(qid[train]))[:50]
        some = train[np.isin(qid[train], judged)]
        ranker = OrderPreservingRegressor().fit(scores[some], y[some], qid=qid[some])
        few[test] = ranker.predict(scores[test])
        ranker = LowRankSurrogateRanker().fit(X[train], known[0], qid=known[1])
        learned[test] = ranker.predict(X[test])
        tuned[test] = scores[test] @ best_weights(scores[train], *known)
    return {
        BASELINE: scores.mean(axis=1),
        "best run": best,
        "reciprocal ranks": X[:, 1::2].sum(axis=1),
        "learned from 50 queries": few,
        "learned": learned,
        "tuned weighted sum": tuned,
    }


def best_weights(scores, y, qid):
    """Weights of the largest NDCG@10, found one by one in three passes."""
    weights = np.ones(scores.shape[1])
    best = ndcg_score(y, scores @ weights, qid=qid, k=10)
    for j in 3 * list(range(len(weights))):
        for weight in (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0):
            trial = weights.copy()
            trial[j] = weight
            if (
                trial.any()
                and (value := ndcg_score(y, scores @ trial, qid=qid, k=10)) > best
            ):
                weights, best = trial, value
    return weights
