"""Structured hinges against peers: RankSVM, Crammer-Singer, F1, NDCG, handwritten words, cost.

Every part runs by itself: ``python -m benchmarks structured --part pairs words``.

* decoders: seconds of each loss-augmented decoder over those of one argsort of the scores, for
  growing numbers of rows; F1 of a million rows at 1 % and 30 % positive.
* slopes: log time of each decoder over log rows, from 50,000 to 800,000, in seconds of the process.
* pairs: the hinge of all pairs against ``LinearSVC(loss="hinge")`` on explicit pairs.
* classes: ``LinearSVC(multi_class="crammer_singer")``, the gap certified.
* f1, balanced accuracy: test values of the binary classifier with its defaults, 5 splits, against
  logistic regression with a tuned threshold, or with balanced class weights.
* ndcg: the NDCG hinge against the hinge of pairs, cross-entropy and RankSVM, by the protocol of
  ``quality``; differences from the NDCG hinge with paired 95 % intervals over queries.
* words: 5 folds over words of the handwritten words; nothing is tuned on test words.
"""

import warnings
from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import GroupKFold, StratifiedShuffleSplit, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank._lists import RankingLists
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.structured._chains import viterbi
from lowrank_rank.structured._hinges import ClassHinge
from lowrank_rank.surrogates import structured_hinge

from ._common import bar_row, best_seconds, print_table
from ._letor import DATASETS, load_synthetic
from ._rankers import unequal_pairs


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folds", type=int, default=5)


def run(args):
    """One table for each part."""
    rows = []
    for part in args.part:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = PARTS[part](args)
        print_table(part, table)
        rows += [{"part": part, **row} for row in table]
    return rows


def decoder_calls(n):
    """Each loss-augmented decoding of n rows, and the argsort of their scores; n in hundreds."""
    rng = np.random.default_rng(0)
    s, grades = rng.normal(size=n), rng.integers(0, 5, n)
    qid = np.repeat(np.arange(n // 100), 100)
    rare, common = rng.random(n) < 0.01, rng.random(n) < 0.3
    n_common, y = int(common.sum()), rng.integers(0, 10, n)
    costs = rng.random((n, 10))
    costs[np.arange(n), y] = 0.0
    classes, columns = ClassHinge(y, costs), rng.normal(size=(n, 10))
    sequences, transitions = RankingLists.equal(n // 10, 10), rng.normal(size=(10, 10))
    return {
        "argsort": lambda: np.argsort(s),
        "kendall": lambda: structured_hinge("kendall", grades, s),
        "kendall, lists of 100": lambda: structured_hinge("kendall", grades, s, qid=qid),
        "ndcg@10": lambda: structured_hinge("ndcg@10", grades, s / 1000),
        "ndcg@10, lists of 100": lambda: structured_hinge("ndcg@10", grades, s / 1000, qid=qid),
        "f1, 1 %": lambda: structured_hinge("f1", rare, s),
        "f1, 30 %": lambda: structured_hinge("f1", common, s),
        "precision@P/2": lambda: structured_hinge(f"precision@{n_common // 2}", common, s),
        "recall@2P": lambda: structured_hinge(f"recall@{2 * n_common}", common, s),
        "balanced accuracy": lambda: structured_hinge("balanced_accuracy", common, s),
        "auc": lambda: structured_hinge("auc", common, s),
        "10 classes with costs": lambda: classes.worst(columns),
        "sequences of 10": lambda: viterbi(columns, transitions, sequences),
    }


def decoders(args):
    """Seconds over one argsort, by number of rows: constant where the cost is linear."""
    rows = []
    for n in [2000] if args.tiny else [10_000, 100_000, 1_000_000]:
        seconds = best_seconds(decoder_calls(n), 1 if args.tiny else 3)
        bars = {"f1, 1 %": 3.0, "f1, 30 %": 8.0} if n == 1_000_000 else {}
        rows += [
            bar_row(
                decoder=name,
                rows=n,
                seconds=time,
                value=time / seconds["argsort"],
                at_most=bars.get(name),
            )
            for name, time in seconds.items()
        ]
    return rows


def slopes(args):
    """Slope of log time over log rows, fitted: 1 where the cost is linear, and that of argsort."""
    sizes = [1000, 2000] if args.tiny else [50_000, 100_000, 200_000, 400_000, 800_000]
    seconds = [
        best_seconds(decoder_calls(n), 1 if args.tiny else 5, clock=process_time) for n in sizes
    ]
    found = []
    for name in seconds[0]:
        times = [of_size[name] for of_size in seconds]
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        bar = None if name == "argsort" else 1.15
        found.append(
            bar_row(
                decoder=name,
                smallest_ms=1e3 * times[0],
                largest_ms=1e3 * times[-1],
                value=slope,
                at_most=bar,
            )
        )
    return found


def pairs(args):
    """Objective and seconds of the linear RankSVM, ours and liblinear's on explicit pairs."""
    rows = []
    loaders = {"synthetic": load_synthetic} if args.tiny else DATASETS
    for name, load in loaders.items():
        X, target = load(args.data)
        X = StandardScaler().fit_transform(X)
        qid = np.unique(target["qid"], return_inverse=True)[1]
        order = np.argsort(qid, kind="stable")
        X, y, qid = X[order], target["y"][order], qid[order]
        alpha, sizes = 1e-2, np.bincount(qid)
        start = process_time()
        ours = StructuredHingeRanker(
            target_loss="kendall", alpha=alpha, standardize=False, tol=1e-4, max_iter=5000
        )
        ours.fit(X, y, qid=qid)
        seconds = process_time() - start
        start = process_time()
        better, worse = unequal_pairs(y, qid)
        sign = np.where(np.arange(len(better)) % 2, -1.0, 1.0)
        differences = (X[better] - X[worse]) * sign[:, np.newaxis]
        weight = 2.0 / (sizes * (sizes - 1.0))[qid[better]] / ours.n_lists_ / alpha
        svm = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, max_iter=200, tol=1e-3)
        svm.fit(differences, sign, sample_weight=weight)
        peer_seconds = process_time() - start
        peer = objective_of_pairs(svm.coef_[0], X, y, qid, alpha)
        found = objective_of_pairs(ours.coef_, X, y, qid, alpha)
        rows.append(
            bar_row(
                data=name,
                pairs=len(better),
                peer_objective=peer,
                ours=found,
                gap=ours.dual_gap_,
                value=found / peer - 1,
                at_most=1e-4,
            )
        )
        rows.append(
            bar_row(
                data=f"{name}, seconds",
                ours=seconds,
                peer=peer_seconds,
                value=seconds / peer_seconds,
                at_most=1.0 if np.median(sizes) > 100 else None,
            )
        )
        memory = differences.nbytes / X.nbytes
        rows.append(bar_row(data=f"{name}, pairs over X in bytes", value=memory, at_most=None))
    return rows


def objective_of_pairs(coef, X, y, qid, alpha):
    values, _ = structured_hinge("kendall", y, X @ coef, qid=qid)
    return alpha / 2 * coef @ coef + np.nanmean(values)


def class_sets(args):
    if args.tiny:
        X, y = load_digits(return_X_y=True)
        return {"digits": (X[:300] / 16, y[:300])}
    X, y = load_svmlight_file(args.data / "binary" / "letter.scale.gz")
    digits, labels = load_digits(return_X_y=True)
    return {"letter": (X.toarray(), y), "digits": (digits / 16, labels)}


def classes(args):
    """Objective and seconds of Crammer & Singer at C = 1."""
    rows = []
    for name, (X, y) in class_sets(args).items():
        alpha = 1.0 / len(y)
        peer = LinearSVC(multi_class="crammer_singer", C=1.0).fit(X, y)
        tol = 0.9e-3 * class_objective(peer, X, y, alpha)  # of the objective, 1 at zero weights
        ours = StructuredHingeClassifier(alpha=alpha, standardize=False, tol=tol, max_iter=5000)
        seconds = best_seconds(
            {
                "ours": lambda m=ours, X=X, y=y: m.fit(X, y),
                "peer": lambda m=peer, X=X, y=y: m.fit(X, y),
            },
            1 if args.tiny else 3,
            clock=process_time,
        )
        theirs = class_objective(peer, X, y, alpha)
        rows.append(
            bar_row(
                data=name,
                peer_objective=theirs,
                ours=ours.objective_,
                value=ours.dual_gap_ / ours.objective_,
                at_most=1e-3,
            )
        )
        rows.append(
            bar_row(
                data=f"{name}, seconds",
                peer_objective=seconds["peer"],
                ours=seconds["ours"],
                value=seconds["ours"] / seconds["peer"],
                at_most=3.0 if name == "letter" else 5.0,
            )
        )
    return rows


def class_objective(model, X, y, alpha):
    scores = X @ model.coef_.T + model.intercept_
    true = np.searchsorted(model.classes_, y)
    every = np.arange(len(y))
    own = scores[every, true].copy()
    scores += 1.0
    scores[every, true] -= 1.0
    weights = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    return alpha / 2 * weights + np.mean(scores.max(axis=1) - own)


def rare_sets(args):
    folder = args.data / "binary"
    if args.tiny:
        X, y = load_digits(return_X_y=True)
        return {"digits, 3": (X[:400] / 16, y[:400] == 3)}
    with np.load(folder / "mammography.npz") as data:
        sets = {"mammography": (data["X"], data["y"] > 0)}
    X, y = load_svmlight_file(folder / "ijcnn1.trn.bz2")
    sets["ijcnn1"] = (X.toarray(), y > 0)
    X, y = load_svmlight_file(folder / "letter.scale.gz")
    sets["letter H"] = (X.toarray(), y == 8)
    # not looked at when the model to fall back to was chosen
    sets["letter Q"] = (sets["letter H"][0], y == 17)
    with np.load(folder / "magic.npz") as data:
        sets["magic"] = (data["X"], data["y"] > 0)
    return sets


#: Of all rows: the function, and the peer behind a scaler.
OF_ALL_ROWS = {
    "f1": (
        f1_score,
        TunedThresholdClassifierCV(LogisticRegression(max_iter=1000), scoring="f1"),
    ),
    "balanced_accuracy": (
        balanced_accuracy_score,
        LogisticRegression(max_iter=1000, class_weight="balanced"),
    ),
}


def of_all_rows(measure, args):
    """Mean test values, the difference of the peer's to ours and the standard error of that."""
    function, behind = OF_ALL_ROWS[measure]
    rows = []
    for name, (X, y) in rare_sets(args).items():
        found = {"ours": [], "peer": []}
        vacuous = 0
        splits = StratifiedShuffleSplit(
            2 if args.tiny else args.folds, test_size=0.3, random_state=0
        )
        for train, test in splits.split(X, y):
            ours = StructuredHingeBinaryClassifier(target_loss=measure)
            peer = make_pipeline(StandardScaler(), clone(behind))
            for key, model in {"ours": ours, "peer": peer}.items():
                predicted = model.fit(X[train], y[train]).predict(X[test])
                found[key].append(function(y[test], predicted))
            vacuous += ours.is_vacuous_
        difference = np.array(found["peer"]) - found["ours"]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        rows.append(
            bar_row(
                data=name,
                ours=np.mean(found["ours"]),
                logistic=np.mean(found["peer"]),
                vacuous=int(vacuous),
                value=difference.mean(),
                at_most=error,
            )
        )
    return rows


def ndcg(args):
    """NDCG@10 by the protocol of `quality`, with paired differences from the NDCG hinge."""
    from .defaults import paired
    from .quality import evaluate_models

    args.partitions = 1
    args.models = ["structured ndcg", "structured kendall", "cross-entropy", "ranksvm"]
    rows = []
    for dataset, load in ({"synthetic": load_synthetic} if args.tiny else DATASETS).items():
        values, _ = evaluate_models(*load(args.data), "ndcg@10", args)
        for name, of_queries in values.items():
            difference = paired(of_queries, values["structured ndcg"])
            rows.append(
                {
                    "data": dataset,
                    "model": name,
                    "queries": len(of_queries),
                    "mean": of_queries.mean(),
                    "difference": difference.mean,
                    "low": difference.low,
                    "high": difference.high,
                }
            )
    return rows


def load_words(args):
    if args.tiny:
        X, y = load_digits(return_X_y=True)
        return X[:300] / 16, y[:300], np.repeat(np.arange(60), 5)
    path = args.data / "sequences" / "handwritten_words.gz"
    X, y, qid = load_svmlight_file(path, query_id=True)
    return X.toarray(), y.astype(int), qid


def words(args):
    """Letters and words right on other words, and seconds of a fit."""
    X, y, qid = load_words(args)
    # alpha and tol were chosen by folds of the training words of the first fold
    models = {
        "lbfgs": StructuredHingeSequenceClassifier(),
        "sgd": StructuredHingeSequenceClassifier(solver="sgd", alpha=3e-4, random_state=0),
        "no transitions": StructuredHingeClassifier(),
    }
    rows = []
    folds = GroupKFold(2 if args.tiny else args.folds, shuffle=True, random_state=0)
    for name, model in models.items():
        letters, whole, seconds = [], [], []
        takes = name != "no transitions"
        for train, test in folds.split(X, groups=qid):
            start = process_time()
            model.fit(X[train], y[train], **({"qid": qid[train]} if takes else {}))
            seconds.append(process_time() - start)
            letters.append(model.score(X[test], y[test], **({"qid": qid[test]} if takes else {})))
            print(f"  {name}: {letters[-1]:.4f} in {seconds[-1]:.0f} s", flush=True)
            if takes:
                right = model.predict(X[test], qid=qid[test]) == y[test]
                whole.append(pd.Series(right).groupby(qid[test]).all().mean())
        rows.append(
            {
                "model": name,
                "letters": float(np.mean(letters)),
                "words": float(np.mean(whole)) if whole else None,
                "seconds": float(np.mean(seconds)),
                "sketch": "0.851 / 0.484 in 30 s" if takes else "logistic 0.769",
            }
        )
    return rows


PARTS = {
    "decoders": decoders,
    "slopes": slopes,
    "pairs": pairs,
    "classes": classes,
    "f1": partial(of_all_rows, "f1"),
    "balanced accuracy": partial(of_all_rows, "balanced_accuracy"),
    "ndcg": ndcg,
    "words": words,
}
