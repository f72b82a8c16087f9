"""HistGradientBoostingRanker against LGBMRanker and XGBRanker.

sets: NDCG@10 at several numbers of judged queries, with the peers as they come and with trees and
gains equal to ours. Verdicts are those of Holm's procedure over the table.

job: README's main job on several draws of the data, as it comes and with 100 and 300 trees; seconds
are CPU seconds of the fit.

one list: the 400 best of 8,000 rows of two classes, against HistGradientBoostingClassifier.
"""

from functools import partial
from time import process_time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from lowrank_rank import HistGradientBoostingRanker, LowRankSurrogateRanker
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import ndcg_score

from . import _cells
from ._common import optional_peer, print_table

PARTS = ("sets", "job", "one list")


def add_arguments(parser):
    _cells.add_arguments(parser)
    parser.set_defaults(sizes=[20, 100])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=6)


def models():
    return {"boosted": HistGradientBoostingRanker(random_state=0)}


def peers(*given):
    return {**_cells.plain_peers(*given), **_cells.equal_peers(*given)}


def run(args):
    if optional_peer("lightgbm") is None or optional_peer("xgboost") is None:
        return []
    rows = []
    with threadpool_limits(1):
        if "sets" in args.part:
            rows += _cells.table(args, models, peers, "boosted")
        if "job" in args.part:
            rows += job(args)
        if "one list" in args.part:
            rows += one_list(args)
    return rows


def job(args):
    """NDCG@10 and CPU seconds on README's job, for each seed and in the mean."""
    sizes = {"n_estimators": 5} if args.tiny else {}
    trees = {"max_iter": 5} if args.tiny else {}
    boosted = partial(HistGradientBoostingRanker, random_state=0, max_leaf_nodes=31)
    kinds = {
        "boosted": HistGradientBoostingRanker(random_state=0, **trees),
        "boosted, 100 trees": boosted(max_iter=100, **trees) if not trees else boosted(**trees),
        "LGBMRanker, 100 trees": _cells.lightgbm(**sizes),
        "LGBMRanker, 300 trees": _cells.lightgbm(**(sizes or {"n_estimators": 300})),
        "'trees' of LowRankSurrogateRanker": LowRankSurrogateRanker(
            estimator="trees", random_state=0
        ),
    }
    found = {name: [] for name in kinds}
    for seed in range(1 if args.tiny else args.seeds):
        data = load_digits_retrieval(
            n_queries=100 if args.tiny else 1600,
            n_candidates=(10, 200),
            popularity=1 / np.arange(1, 11),
            random_state=seed,
        )
        X, y, qid = data.data, data.target, data.qid
        train = qid < (50 if args.tiny else 600)
        for name, model in kinds.items():
            start = process_time()
            model.fit(X[train], y[train], qid=qid[train])
            seconds = process_time() - start
            scores = model.predict(X[~train])
            found[name].append((ndcg_score(y[~train], scores, qid=qid[~train], k=10), seconds))
    rows = []
    for name, values in found.items():
        values = np.array(values)
        rows.append(
            {
                "model": name,
                "seed 0": values[0, 0],
                "mean": values[:, 0].mean(),
                "least": values[:, 0].min(),
                "seconds": values[:, 1].mean(),
            }
        )
    print_table("README's job: NDCG@10 over seeds, CPU seconds", rows)
    return rows


def one_list(args):
    """Precision among the best 5 % of one list, three draws."""
    n, rows = 1000 if args.tiny else 8000, []
    for seed in range(3):
        X, y = make_classification(
            4 * n, 30, n_informative=10, flip_y=0.1, weights=[0.85], random_state=seed
        )
        k = n // 20
        ranker = HistGradientBoostingRanker(target_loss=f"precision@{k}", random_state=0)
        scores = ranker.fit(X[:n], y[:n]).predict(X[n:])
        classifier = HistGradientBoostingClassifier(random_state=0).fit(X[:n], y[:n])
        probabilities = classifier.predict_proba(X[n:])[:, 1]
        ours, theirs = (
            float(np.mean([y[n:][rows][np.argsort(-s[rows])[:k]].mean() for rows in thirds(n)]))
            for s in (scores, probabilities)
        )
        error = float(np.sqrt(theirs * (1 - theirs) / (3 * k)))
        rows.append({"seed": seed, "ranker": ours, "classifier": theirs, "standard_error": error})
    print_table("precision among the best 5 % of one list", rows)
    return rows


def thirds(n):
    """Three test lists of n rows."""
    return np.split(np.arange(3 * n), 3)
