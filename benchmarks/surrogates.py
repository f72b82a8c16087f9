"""Times of fits under the order-preserving surrogates, and of boosting with them.

One thread (OMP_NUM_THREADS=1). Generated documents, 42 features, 61 lists of 427: squared pairs
against scikit-learn's Ridge, seconds of the others, and twice the lists against once. Boosting:
LightGBM's own lambdarank and our objectives, 100 trees of the same settings, in turns.

rare: generated long lists with ten relevant documents each, LightGBM untuned under our objectives
and its own, precision@10 on held-out lists, paired intervals against ours, and the largest score.
"""

from functools import partial

import numpy as np
from sklearn.linear_model import Ridge

from lowrank_rank import OrderPreservingRegressor, boosting_objective
from lowrank_rank.metrics import precision_at_k_score

from ._common import bar_row, best_seconds, optional_peer, print_table, ratio_rows

SECONDS = {"cross_entropy": 0.5, "pairwise_logistic": 3.0, "pairwise_exponential": None}
RARE = ("cross_entropy", "pointwise_logistic", "pairwise_logistic")
BOOSTED = {"cross_entropy": 1.5, "pairwise_squared": 1.5, "pairwise_logistic": None}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=sorted(PARTS), default=sorted(PARTS))
    parser.add_argument("--repeats", type=int, default=3)


def run(args):
    rows = []
    for part in args.part:
        rows += PARTS[part](args)
    return rows


def documents(n_lists, length, n_features=42, seed=0):
    """Documents of which a fifth have a grade above 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_lists * length, n_features))
    score = X[:, :5].sum(axis=1) + 3.0 * rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(score, [0.82, 0.9, 0.96, 0.99]), score).astype(float)
    return X, y, np.repeat(np.arange(n_lists), length)


def fit_rows(args):
    """Seconds of linear fits."""
    n_lists, length = (4, 20) if args.tiny else (61, 427)
    X, y, qid = documents(n_lists, length)

    def fit(surrogate, X, y, qid):
        return partial(OrderPreservingRegressor(surrogate=surrogate).fit, X, y, qid=qid)

    repeats = 1 if args.tiny else args.repeats
    calls = {name: fit(name, X, y, qid) for name in ("pairwise_squared", *SECONDS)}
    calls["Ridge"] = partial(Ridge().fit, X, y)
    seconds = best_seconds(calls, repeats)
    rows = ratio_rows("fit", seconds, "pairwise_squared", {"Ridge": 2.0})
    print_table("Squared pairs in closed form", rows)
    table = [
        bar_row(surrogate=name, value=seconds[name], at_most=bar) for name, bar in SECONDS.items()
    ]
    print_table(f"Seconds of a fit, {X.shape[0]} documents in {n_lists} lists", table)
    twice = documents(2 * n_lists, length)
    calls = {name: fit(name, X, y, qid) for name in SECONDS}
    doubled = {f"{name}, twice": fit(name, *twice) for name in SECONDS}
    both = best_seconds({**calls, **doubled}, repeats)
    growth = [
        {"surrogate": name, "twice the lists": both[f"{name}, twice"] / both[name]}
        for name in SECONDS
    ]
    print_table("Seconds for twice the lists over those for once", growth)
    return rows + table + growth


def boost_rows(args):
    """Seconds of LightGBM with our objectives over its own."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return []
    n_lists, length = (10, 20) if args.tiny else (300, 60)
    X, y, qid = documents(n_lists, length)
    settings = {
        "n_estimators": 3 if args.tiny else 100,
        "min_child_samples": 5 if args.tiny else 20,
        "n_jobs": 1,
        "verbose": -1,
    }

    def train(objective):
        ranker = lightgbm.LGBMRanker(objective=objective, **settings)
        return partial(ranker.fit, X, y.astype(int), group=np.bincount(qid))

    calls = {name: train(boosting_objective(name)) for name in BOOSTED}
    calls["lambdarank"] = train("lambdarank")
    seconds = best_seconds(calls, 1 if args.tiny else args.repeats)
    rows = [
        bar_row(
            objective=name,
            ours_s=seconds[name],
            lambdarank_s=seconds["lambdarank"],
            value=seconds[name] / seconds["lambdarank"],
            at_most=bar,
        )
        for name, bar in BOOSTED.items()
    ]
    print_table(f"LightGBM, {settings['n_estimators']} trees, {len(X)} documents", rows)
    return rows


# Long lists with few relevant documents ---------------------------------------------


def rare_documents(n_lists, length, n_relevant, seed):
    """Lists of which the ten documents of the largest noisy nonlinear score are relevant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_lists, length, 10))
    score = 2.0 * np.sin(X[..., 0]) * X[..., 1] + X[..., 2] ** 2 + X[..., 3]
    score += 2.0 * np.abs(X[..., 4]) + rng.normal(size=score.shape)
    y = np.zeros(score.shape)
    np.put_along_axis(y, np.argpartition(-score, n_relevant)[:, :n_relevant], 1.0, axis=1)
    return X.reshape(-1, 10), y.ravel(), np.full(n_lists, length)


def rare_rows(args):
    """Precision of boosted trees on long lists with few relevant documents."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return []
    n_lists, length = (6, 100) if args.tiny else (30, 2_000)
    X, y, group = rare_documents(n_lists, length, 10, seed=0)
    X_test, y_test, group_test = rare_documents(2 * n_lists, length, 10, seed=1)
    qid = np.repeat(np.arange(len(group_test)), group_test)
    objectives = {name: boosting_objective(name, "precision@10") for name in RARE}
    precision, rows = {}, []
    for name, objective in {**objectives, "lambdarank": None, "rank_xendcg": None}.items():
        trees = lightgbm.LGBMRanker(
            objective=objective or name,
            n_estimators=3 if args.tiny else 100,
            n_jobs=1,
            verbose=-1,
            random_state=0,
        ).fit(X, y.astype(int), group=group)
        scores = trees.predict(X_test)
        precision[name] = precision_at_k_score(y_test, scores, qid=qid, k=10, average=None)
        difference = precision[name] - precision["cross_entropy"]
        margin = 1.96 * difference.std() / np.sqrt(len(difference))
        rows.append(
            {
                "objective": name,
                "precision@10": precision[name].mean(),
                "minus cross_entropy": difference.mean(),
                "+-": margin,
                "largest score": np.abs(scores).max(),
            }
        )
    print_table(f"LightGBM, {n_lists} lists of {length} with 10 relevant documents", rows)
    return rows


PARTS = {"fit": fit_rows, "boost": boost_rows, "rare": rare_rows}
