"""Fit against the bare regressor, ndcg_score against its peers: ratios ours / peer.

fit: documents (136 features, lists of 100) and fixed items, against the same regressor
called directly on the encoded labels, which are made outside the clock.

ndcg_score@10 on 10,000 x 100, scores with and without ties (untied ones are a permutation of
each row). ranx and pytrec_eval need dictionaries or objects built first: the rows "evaluate"
time only their evaluation of what is already built (and, after the first repeat, already
sorted by ranx), the rows "from arrays" what a user with two arrays waits for. Neither, nor
scikit-learn with ignore_ties=True, averages ties.
"""

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import NDCG

from ._common import best_seconds, optional_peer, print_table, ratio_rows
from ._peer_measures import ranx_evaluate, to_runs

LENGTH = 100


def add_arguments(parser):
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--part", nargs="+", choices=["fit", "measure"], default=["fit", "measure"])


def run(args):
    """Rows of the parts asked for."""
    rows = []
    if "fit" in args.part:
        n_rows = 1_000 if args.tiny else 100_000
        rows += documents_fit(n_rows, args) + items_fit(n_rows // 5, args)
        print_table("fit: ours / the bare regressor on the encoded labels", rows)
    if "measure" in args.part:
        n_lists = 100 if args.tiny else 10_000
        measured = measure_rows(n_lists, args.repeats) + ragged_rows(n_lists, args.repeats)
        print_table("ndcg_score@10 of a matrix: ours / peer", measured)
        rows += measured
    return rows


# Fit --------------------------------------------------------------------------------


def regressors(tiny):
    """Regressors that go in as estimator=, beside ridge."""
    trees = {"max_depth": 4, "random_state": 0}
    found = {
        "DecisionTree": DecisionTreeRegressor(**trees),
        "HistGradientBoosting": HistGradientBoostingRegressor(
            max_iter=2 if tiny else 10, early_stopping=False, **trees
        ),
    }
    lightgbm = optional_peer("lightgbm")
    if lightgbm is not None:
        found["LightGBM"] = lightgbm.LGBMRegressor(
            n_estimators=2 if tiny else 20, n_jobs=1, verbose=-1
        )
    return found


def documents_fit(n_rows, args):
    """Documents in lists of LENGTH: NDCG@10's utilities as the bare regressor's target."""
    X, y = features_and_grades(n_rows, 1)
    y, qid = y[:, 0], np.arange(n_rows) // LENGTH
    encoded = NDCG(k=10).encode(y.reshape(-1, LENGTH)).ravel()
    rows = fit_rows(
        "documents, Ridge", X, y, encoded, {"qid": qid}, "ridge", Ridge(), 3 * args.repeats
    )
    for name, regressor in regressors(args.tiny).items():
        group = f"documents, {name}"
        rows += fit_rows(group, X, y, encoded, {"qid": qid}, regressor, regressor, args.repeats)
    return rows


def items_fit(n_rows, args, n_items=20):
    """Fixed items: a target of n_items coordinates."""
    X, y = features_and_grades(n_rows, n_items)
    encoded = NDCG(k=10).encode(y)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    return [
        *fit_rows("items, Ridge", X, y, encoded, {}, "ridge", Ridge(), 3 * args.repeats),
        *fit_rows("items, DecisionTree", X, y, encoded, {}, tree, tree, args.repeats),
    ]


def features_and_grades(n_rows, n_outputs, n_features=136):
    """Normal features, grades 0-4 that depend on them linearly up to noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    score = X @ rng.standard_normal((n_features, n_outputs)) / np.sqrt(n_features)
    score += rng.standard_normal(score.shape)
    return X, np.searchsorted([0.5, 1.2, 2.0, 2.8], score).astype(float)


def fit_rows(group, X, y, encoded, qid, estimator, bare, repeats):
    """Ours with `estimator` on grades against `bare` on the encoded labels."""
    ranker = LowRankSurrogateRanker(target_loss="ndcg@10", estimator=estimator, alpha=0.1)
    calls = {
        "ours": lambda: ranker.fit(X, y, **qid),
        "bare": lambda: clone(bare).fit(X, encoded),
    }
    return ratio_rows(group, best_seconds(calls, repeats), "ours", {"bare": 1.3})


# Measure ----------------------------------------------------------------------------


def grades_and_scores(n_lists, ties):
    rng = np.random.default_rng(0)
    y = rng.choice(5, p=[0.5, 0.25, 0.15, 0.07, 0.03], size=(n_lists, LENGTH)).astype(float)
    scores = rng.permuted(np.tile(np.arange(float(LENGTH)), (n_lists, 1)), axis=1)
    return y, np.floor(scores / 10) if ties else scores


def measure_rows(n_lists, repeats):
    """Our matrix call against every peer's, without and with ties."""
    bars = {
        "scikit-learn ignore_ties": 1.0,
        "scikit-learn": 0.1,
        "ranx evaluate": 0.1,
        "ranx from arrays": 0.1,
        "pytrec_eval evaluate": 0.1,
        "pytrec_eval from arrays": 0.1,
    }
    rows = []
    for ties in (False, True):
        y, scores = grades_and_scores(n_lists, ties)
        calls = {
            "ours": lambda y=y, s=scores: ndcg_score(y, s, k=10),
            "scikit-learn ignore_ties": lambda y=y, s=scores: sklearn_ndcg_score(
                y, s, k=10, ignore_ties=True
            ),
            "scikit-learn": lambda y=y, s=scores: sklearn_ndcg_score(y, s, k=10),
            **ranx_calls(y, scores),
            **trec_eval_calls(y, scores),
        }
        seconds = best_seconds(calls, repeats)
        rows += ratio_rows("10 tie groups" if ties else "no ties", seconds, "ours", bars)
    return rows


def ranx_calls(y, scores):
    ranx = optional_peer("ranx")
    if ranx is None:
        return {}

    def build():
        qrels, runs = to_runs(y, scores)
        return ranx.Qrels(qrels), ranx.Run(runs)

    built = build()
    ranx_evaluate(ranx, *built, "ndcg@10")  # compiles
    return {
        "ranx evaluate": lambda: ranx_evaluate(ranx, *built, "ndcg@10"),
        "ranx from arrays": lambda: ranx_evaluate(ranx, *build(), "ndcg@10"),
    }


def trec_eval_calls(y, scores):
    pytrec_eval = optional_peer("pytrec_eval")
    if pytrec_eval is None:
        return {}

    def build():
        qrels, runs = to_runs(y, scores)
        return pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}), runs

    evaluator, runs = build()

    def from_arrays():
        evaluator, runs = build()
        return evaluator.evaluate(runs)

    return {
        "pytrec_eval evaluate": lambda: evaluator.evaluate(runs),
        "pytrec_eval from arrays": from_arrays,
    }


def ragged_rows(n_lists, repeats):
    """Lists of 1 to 2 * LENGTH - 1 documents, as many in all as the matrix holds."""
    rows = []
    for ties in (False, True):
        y, scores = grades_and_scores(n_lists, ties)
        rng = np.random.default_rng(1)
        cuts = np.sort(rng.choice(np.arange(1, y.size), n_lists - 1, replace=False))
        qid = np.repeat(np.arange(n_lists), np.diff(np.concatenate([[0], cuts, [y.size]])))
        shuffled = rng.permutation(y.size)
        flat, flat_scores = y.ravel(), scores.ravel()
        calls = {
            "matrix": lambda y=y, s=scores: ndcg_score(y, s, k=10),
            "ragged": lambda y=flat, s=flat_scores, q=qid: ndcg_score(y, s, qid=q, k=10),
            "shuffled": lambda y=flat[shuffled], s=flat_scores[shuffled], q=qid[shuffled]: (
                ndcg_score(y, s, qid=q, k=10)
            ),
        }
        seconds = best_seconds(calls, 2 * repeats)
        group = "10 tie groups" if ties else "no ties"
        rows += ratio_rows(f"{group}, ragged lists", seconds, "ragged", {"matrix": 4.0})
        rows += ratio_rows(f"{group}, ragged and shuffled", seconds, "shuffled", {"matrix": None})
    return rows
