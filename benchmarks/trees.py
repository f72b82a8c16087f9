"""HistGradientBoostingRanker against LGBMRanker and XGBRanker.

sets: NDCG@10 at several numbers of judged queries, with the peers as they come and with trees and
gains equal to ours. Verdicts are those of Holm's procedure over the table. Intervals are over the
test queries, at the training queries drawn: what other draws would change is not in them.

job: README's main job on several draws of the data. HistGradientBoostingRanker() has 300 trees of
31 leaves there. Seconds are CPU seconds of the fit; differences are from LGBMRanker with as many
trees, paired over the draws.

one list: the 400 best of 8,000 rows of two classes, against HistGradientBoostingClassifier, on easy
data, where both are near the most that is possible (10 % of the labels are drawn at random), and on
hard data. The standard error is that of the classifier's precision.
"""

from functools import partial
from itertools import product
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
from .defaults import paired

PARTS = ("sets", "job", "one list")
#: Two classes, easy and hard to tell apart.
DATA = {"easy": {"weights": [0.85]}, "hard": {"weights": [0.95], "class_sep": 0.3}}


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
    equal = {
        "boosted": "LGBMRanker, 300 trees",
        "boosted, 100 trees": "LGBMRanker, 100 trees",
    }
    found = {name: [] for name in kinds}
    for seed in range(2 if args.tiny else args.seeds):
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
    found = {name: np.array(values) for name, values in found.items()}
    for name, values in found.items():
        difference = other = None
        if name in equal:
            other = found[equal[name]]
            difference = paired(values[:, 0], other[:, 0])
        rows.append(
            {
                "model": name,
                "seed 0": values[0, 0],
                "mean": values[:, 0].mean(),
                "least": values[:, 0].min(),
                "seconds": values[:, 1].mean(),
                "to_lightgbm": difference and difference.mean,
                "low": difference and difference.low,
                "high": difference and difference.high,
                "ratio": None if other is None else values[:, 1].sum() / other[:, 1].sum(),
            }
        )
    print_table("README's job: NDCG@10 over seeds, CPU seconds", rows)
    return rows


def one_list(args):
    """Precision among the best 5 % of one list, three draws of easy and of hard data."""
    n, rows = 1000 if args.tiny else 8000, []
    k = n // 20
    for (kind, settings), seed in product(DATA.items(), range(3)):
        X, y = make_classification(
            4 * n, 30, n_informative=10, flip_y=0.1, random_state=seed, **settings
        )
        ranker = HistGradientBoostingRanker(target_loss=f"precision@{k}", random_state=0)
        scores = ranker.fit(X[:n], y[:n]).predict(X[n:])
        classifier = HistGradientBoostingClassifier(random_state=0).fit(X[:n], y[:n])
        probabilities = classifier.predict_proba(X[n:])[:, 1]
        ours, theirs = (precision_of_thirds(y[n:], s, k) for s in (scores, probabilities))
        error = float(np.sqrt(theirs * (1 - theirs) / (3 * k)))
        rows.append(
            {
                "data": kind,
                "seed": seed,
                "ranker": ours,
                "classifier": theirs,
                "standard_error": error,
                "verdict": "ok" if ours >= theirs - 2 * error else "MISSED",
            }
        )
    print_table("precision among the best 5 % of one list", rows)
    return rows


def precision_of_thirds(y, scores, k):
    """Mean precision@k of three test lists."""
    return float(
        np.mean(
            [
                part[np.argsort(-s)[:k]].mean()
                for part, s in zip(np.split(y, 3), np.split(scores, 3), strict=True)
            ]
        )
    )
