"""Our measures against scikit-learn (ties included), pytrec_eval and ranx (no ties).

Largest absolute difference over random lists; scikit-learn averages ties as we do, the
others break them by name or by row, so they are compared on scores without ties.
"""

from functools import partial

import numpy as np
from sklearn import metrics as sklearn_metrics

from lowrank_rank import metrics

from ._common import bar_row, optional_peer, print_table
from ._peer_measures import ranx_evaluate, to_runs

#: Ours, and what pytrec_eval and ranx call it; trec_eval's cut is part of the name.
MEASURES = {
    "ndcg": (metrics.ndcg_score, "ndcg", "ndcg"),
    "ndcg@5": (partial(metrics.ndcg_score, k=5), "ndcg_cut_5", "ndcg@5"),
    "map": (metrics.mean_average_precision_score, "map", "map"),
    "precision@5": (partial(metrics.precision_at_k_score, k=5), "P_5", "precision@5"),
    "recall@5": (partial(metrics.recall_at_k_score, k=5), "recall_5", "recall@5"),
    "mrr": (metrics.reciprocal_rank_score, "recip_rank", "mrr"),
}


def add_arguments(parser):
    parser.add_argument("--tolerance", type=float, default=1e-9)


def run(args):
    """One row per peer and measure."""
    n_lists, length = (20, 8) if args.tiny else (500, 40)
    rng = np.random.default_rng(0)
    y = rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=(n_lists, length))
    y[np.arange(n_lists), rng.integers(length, size=n_lists)] = 1  # something relevant in each
    untied = rng.permuted(np.tile(np.arange(float(length)), (n_lists, 1)), axis=1)
    differences = [
        *sklearn_differences(y, {"no ties": untied, "ties": np.floor(untied / 4)}),
        *trec_eval_differences(y, untied),
        *ranx_differences(y, untied),
    ]
    rows = [
        bar_row(peer=peer, measure=measure, scores=scores, value=value, at_most=args.tolerance)
        for peer, measure, scores, value in differences
    ]
    print_table(f"Largest absolute difference, {n_lists} lists of {length}", rows)
    return rows


def sklearn_differences(y, all_scores):
    """ndcg_score and dcg_score list by list, at several cut-offs."""
    for ties, scores in all_scores.items():
        for k in (None, 1, 5):
            for name in ("ndcg_score", "dcg_score"):
                ours = getattr(metrics, name)(y, scores, k=k, average=None)
                peer = getattr(sklearn_metrics, name)
                theirs = [peer(y[[i]], scores[[i]], k=k) for i in range(len(y))]
                yield "scikit-learn", f"{name} k={k}", ties, np.abs(ours - theirs).max()


def trec_eval_differences(y, scores):
    pytrec_eval = optional_peer("pytrec_eval")
    if pytrec_eval is None:
        return
    qrels, runs = to_runs(y, scores)
    asked = {"ndcg", "ndcg_cut.5", "map", "P.5", "recall.5", "recip_rank"}
    by_query = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(runs)
    for name, (ours, theirs, _) in MEASURES.items():
        values = np.array([by_query[query][theirs] for query in qrels])
        yield "pytrec_eval", name, "no ties", difference(ours, y, scores, values)


def ranx_differences(y, scores):
    ranx = optional_peer("ranx")
    if ranx is None:
        return
    qrels, runs = to_runs(y, scores)
    qrels, runs = ranx.Qrels(qrels), ranx.Run(runs)
    for name, (ours, _, theirs) in MEASURES.items():
        values = ranx_evaluate(ranx, qrels, runs, theirs, return_mean=False)
        yield "ranx", name, "no ties", difference(ours, y, scores, np.asarray(values))


def difference(ours, y, scores, theirs):
    return np.abs(ours(y, scores, average=None) - theirs).max()
