"""Boosted trees of lists over LGBMRanker, and what their derivatives take: a part of the limits.

``rows(args)`` yields (path, what, ours, floor, bar), CPU seconds of one thread, or bytes.
"""

import tracemalloc
from functools import partial
from time import process_time

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from lowrank_rank import HistGradientBoostingRanker, LowRankSurrogateRanker
from lowrank_rank._lists import RankingLists
from lowrank_rank.order_preserving._list_loss import ListLoss
from lowrank_rank.target_losses._names import resolve_target_loss

from ._cells import lightgbm
from ._common import best_seconds, optional_peer

SIZES = (40_000, 200_000, 1_000_000)
N_FEATURES = 50
LEAVES = 31


def graded(n_rows, lengths, seed=0):
    """Normal features, grades 0 to 4 that depend on them up to noise, lists of these lengths."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES))
    score = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + 3.0 * rng.standard_normal(n_rows)
    y = np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9, 0.97])).astype(float)
    drawn = rng.integers(*lengths, n_rows, endpoint=True)
    return X, y, np.searchsorted(np.cumsum(drawn), np.arange(n_rows), side="right")


def boosted(n_trees, **settings):
    return HistGradientBoostingRanker(
        max_iter=n_trees, max_leaf_nodes=LEAVES, random_state=0, **settings
    )


def derivatives(X, y, qid, target_loss="ndcg@10", loss="lambdarank"):
    """A call that evaluates a loss at scores that are all different."""
    lists = RankingLists.from_qid(qid, len(y))
    target = resolve_target_loss(target_loss)
    evaluate = ListLoss(loss, target, y, np.ones(len(y)), lists)
    return partial(evaluate, np.random.default_rng(1).standard_normal(len(y)))


def seconds_of_a_tree(X, y, repeats):
    """Seconds of one more tree of squared loss."""
    n = 10
    trees = partial(HistGradientBoostingRegressor, max_leaf_nodes=LEAVES, early_stopping=False)
    calls = {m: partial(trees(max_iter=m).fit, X, y) for m in (1, 1 + n)}
    best = best_seconds(calls, repeats, process_time)
    return (best[1 + n] - best[1]) / n


def repeats_for(args, n_rows):
    """The largest fits take half a minute each."""
    return 1 if args.tiny or n_rows > 500_000 else min(args.repeats, 3)


def fits(args):
    """Fits over LGBMRanker with as many trees of as many leaves and the gains of the measure."""
    n_trees = 3 if args.tiny else 100
    peer = optional_peer("lightgbm") and lightgbm(
        n_estimators=n_trees, num_leaves=LEAVES, label_gain=list(range(5))
    )
    for n_rows in (2_000,) if args.tiny else SIZES:
        X, y, qid = graded(n_rows, (10, 200))
        repeats = repeats_for(args, n_rows)
        if peer is not None:
            calls = {"ours": boosted(n_trees), "peer": peer}
            calls = {name: partial(model.fit, X, y, qid=qid) for name, model in calls.items()}
            best = best_seconds(calls, repeats, process_time)
            what = f"{n_trees} trees / LGBMRanker, {n_rows} x {N_FEATURES}, lists of 10 to 200"
            yield "fit", what, best["ours"], best["peer"], 1.4
        one = best_seconds({"ours": derivatives(X, y, qid)}, max(3, repeats), process_time)
        what = f"an evaluation / a tree, {n_rows} rows"
        yield "derivatives", what, one["ours"], seconds_of_a_tree(X, y, repeats), 2.5
        tracemalloc.start()
        boosted(2 if args.tiny else 5).fit(X, y, qid=qid)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        yield "memory", f"bytes of a fit over those of X, {n_rows} rows", peak, X.nbytes, 3.0


def long_lists(args):
    """Ten trees with lists of one length over those with lists of 10; pairs without a cut."""
    n_rows = 2_000 if args.tiny else 100_000
    n_trees = 2 if args.tiny else 10
    lengths = (10, 200) if args.tiny else (10, 200, 1_000, 10_000, 100_000)
    X, y, _ = graded(n_rows, (10, 10))
    calls, evaluations = {}, {}
    for length in lengths:
        qid = np.arange(n_rows) // length
        calls[length] = partial(boosted(n_trees).fit, X, y, qid=qid)
        evaluations[length] = derivatives(X, y, qid)
    best = best_seconds(calls, repeats_for(args, n_rows), process_time)
    of_evaluations = best_seconds(evaluations, repeats_for(args, n_rows), process_time)
    for length in lengths:
        what = f"{n_trees} trees, {n_rows} rows in lists of {length} / of {lengths[0]}"
        yield "length", what, best[length], best[lengths[0]], None
        what = f"an evaluation, {n_rows} rows in lists of {length} / of {lengths[0]}"
        yield "length", what, of_evaluations[length], of_evaluations[lengths[0]], None
    n = 500 if args.tiny else 31_000
    for loss in ("lambdarank", "pairwise_logistic"):
        call = derivatives(X[:n], y[:n], np.zeros(n, dtype=int), "ndcg", loss)
        seconds = best_seconds({"one": call}, 1, process_time)["one"]
        what = f"{loss}, an evaluation without a cut, one list of {n}, seconds"
        yield "pairs", what, seconds, 1.0, None


def weights(args):
    """estimator="trees" with weights of rows that differ over the same without weights."""
    n_rows = 500 if args.tiny else 3_000
    X, y, qid = graded(n_rows, (10, 20))
    given = np.random.default_rng(1).uniform(0.5, 2.0, n_rows)
    model = LowRankSurrogateRanker(estimator="trees", random_state=0)
    calls = {
        "with": partial(model.fit, X, y, qid=qid, sample_weight=given),
        "without": partial(model.fit, X, y, qid=qid),
    }
    best = best_seconds(calls, repeats_for(args, n_rows), process_time)
    what = f"estimator='trees', weights that differ / none, {n_rows} rows"
    yield "weights", what, best["with"], best["without"], None


def rows(args):
    with threadpool_limits(1):
        for part in (fits, long_lists, weights):
            yield from part(args)
