"""When aiming pays: aimed models against the same regressors on pooled rows, paired over queries.

On each set ridge, logistic regression and boosted trees on the pooled grades, which know nothing of
queries and of the measure, and models of the same kinds aimed at NDCG@10. All with their defaults,
except that the pooled ridge chooses its penalty by leave-one-out, and that trees are also shown
with targets centred within lists; 5 folds over queries, each query judged once. The control of the
linear models is the better of pooled ridge and pooled logistic regression on the test folds.
Differences are paired over queries, with 95 % bootstrap intervals.

digits: image retrieval from a catalogue in which some digits are common and others rare, with lists
of 10 to 200 candidates (`lowrank_rank.datasets.load_digits_retrieval`, no file needed).
letter: the same task on the 26 letters of ``binary/letter.scale.gz``; nothing was chosen on it.
The LETOR sets are those of ``python -m benchmarks quality``.
"""

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    WrappedRanker,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.datasets._digits import draw_candidates
from lowrank_rank.metrics import ndcg_score

from ._common import print_table
from ._letor import DATASETS as LETOR
from ._letor import load_synthetic
from .quality import bootstrap_interval

CONTROLS = {"linear": ("pooled ridge", "pooled logistic"), "trees": ("pooled trees",)}


def trees():
    return HistGradientBoostingRegressor(learning_rate=0.05, random_state=0)


MODELS = {
    "pooled ridge": lambda: WrappedRanker(
        make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
    ),
    "pooled logistic": lambda: WrappedRanker(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    ),
    "aimed ridge": lambda: LowRankSurrogateRanker(target_loss="ndcg@10"),
    "aimed cross-entropy": lambda: OrderPreservingRegressor(target_loss="ndcg@10"),
    "pooled trees": lambda: WrappedRanker(trees()),
    "aimed trees": lambda: LowRankSurrogateRanker(target_loss="ndcg@10", estimator=trees()),
    "aimed trees, centred": lambda: LowRankSurrogateRanker(
        target_loss="ndcg@10", estimator=trees(), centered=True
    ),
}


def digits_catalogue(data, n_queries=1000):
    """Image retrieval from a catalogue of digits; the frequencies go by 1 / rank."""
    digits = load_digits_retrieval(
        n_queries=n_queries, n_candidates=(10, 200), popularity=1.0 / np.arange(1, 11)
    )
    return digits.data, ranking_target(digits.target, digits.qid)


def letter_catalogue(data):
    """The same with 26 letters: features of a pair compare the 16 features of two letters."""
    X, letter = load_svmlight_file(str(data / "binary" / "letter.scale.gz"))
    rng = np.random.RandomState(0)
    drawn = rng.permutation(X.shape[0])[:3000]
    X, letter = X[drawn].toarray(), letter[drawn].astype(int) - 1
    weights = 1.0 / (1.0 + rng.permutation(26))[letter]
    query, candidate, qid = draw_candidates(rng, weights, 1000, 10, 200)
    a, b = X[query[qid]], X[candidate]
    distances = np.abs(a - b).sum(axis=1), np.sqrt(((a - b) ** 2).sum(axis=1))
    features = np.column_stack([np.abs(a - b), a * b, *distances])
    return features, ranking_target(letter[query[qid]] == letter[candidate], qid)


DATASETS = {"digits": digits_catalogue, "letter": letter_catalogue, **LETOR}


def add_arguments(parser):
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=list(DATASETS))


def run(args):
    """A table for each set: NDCG@10, and what was gained over the control of the same kind."""
    loaders = {"synthetic": load_synthetic} if args.tiny else {n: DATASETS[n] for n in args.dataset}
    rows = []
    for dataset, load in loaders.items():
        X, target = load(args.data)
        n_folds = 2 if args.tiny else 5
        values = {name: per_query_ndcg(build, X, target, n_folds) for name, build in MODELS.items()}
        table = [{"dataset": dataset, **row} for row in differences(values)]
        print_table(f"{dataset}: NDCG@10, and the gain over the same kind on pooled rows", table)
        rows += table
    return rows


def per_query_ndcg(build, X, target, n_folds):
    """NDCG@10 of each query, held out in one of the folds."""
    values, folds = [], GroupKFold(n_folds, shuffle=True, random_state=0)
    for train, test in folds.split(X, groups=target["qid"]):
        scores = build().fit(X[train], target[train]).predict(X[test])
        y, qid = target["y"][test], target["qid"][test]
        values.append(ndcg_score(y, scores, qid=qid, k=10, average=None))
    values = np.concatenate(values)
    return values[~np.isnan(values)]


def differences(values):
    best = {kind: max(of, key=lambda name: values[name].mean()) for kind, of in CONTROLS.items()}
    for name, value in values.items():
        row = {"model": name, "queries": len(value), "ndcg@10": value.mean()}
        row |= dict.fromkeys(("gain", "low", "high"))
        kind = "trees" if "trees" in name else "linear"
        if name not in CONTROLS[kind]:
            gain = value - values[best[kind]]
            low, high = bootstrap_interval(gain)
            row |= {"gain": gain.mean(), "low": low, "high": high}
        yield row
