"""The models of the quality benchmark: each an estimator on `ranking_target` and its grid.

The peers are wrapped so that they take the target that carries its qid, and one
GridSearchCV tunes all models alike.
"""

import numpy as np
from scipy import optimize
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    WrappedRanker,
    boosting_objective,
)
from lowrank_rank.structured import StructuredHingeRanker
from lowrank_rank.target_losses import NDCG, MeanAveragePrecision, PrecisionAtK

from ._common import optional_peer

TREES = {"n_estimators": [50, 150], "leaves": [7, 31]}
TINY_TREES = {"n_estimators": [5], "leaves": [3]}

#: What our models may aim at, chosen on the inner folds together with the other settings: linear
#: or exponential gain; 1 / (number of relevant) or no normaliser; ideal DCG@10 or of all ranks.
RELEVANT = {"relevance_threshold": 1}
TREE_TARGETS = {
    "ndcg@10": [NDCG(k=10), NDCG(k=10, gain="exponential")],
    "map": [MeanAveragePrecision(**RELEVANT), PrecisionAtK(**RELEVANT)],
}
RIDGE_TARGETS = {"ndcg@10": [NDCG(k=10), NDCG()], "map": TREE_TARGETS["map"]}


class LinearRankSVM(BaseEstimator):
    """Linear RankSVM: squared hinge on all pairs of unequal grade in a query.

    Minimises ``|w|^2 / 2 + C * mean over pairs of max(0, 1 - (s_better - s_worse))^2``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean loss over pairs against the penalty.
    binary : bool, default=False
        Pairs of grade >= 1 against grade 0 only.
    solver : {"lbfgs", "liblinear"}, default="lbfgs"
        L-BFGS on scores, which never forms the differences of pairs (after Chapelle and
        Keerthi 2010), or scikit-learn's LinearSVC on those differences; the minimiser is one.
    """

    def __init__(self, C=1.0, binary=False, solver="lbfgs"):
        self.C = C
        self.binary = binary
        self.solver = solver

    def fit(self, X, y):
        grades, qid, order = by_query(y)
        pairs = unequal_pairs(grades >= 1 if self.binary else grades, qid)
        solve = {"lbfgs": solve_on_scores, "liblinear": solve_on_differences}[self.solver]
        self.coef_ = solve(X[order], *pairs, self.C / len(pairs[0]))
        return self

    def predict(self, X):
        return X @ self.coef_


def solve_on_scores(X, better, worse, C):
    """Coefficients by L-BFGS: pairs are differences of scores, their slopes sums over rows."""

    def objective(w):
        scores = X @ w
        slack = np.maximum(0.0, 1.0 - (scores[better] - scores[worse]))
        slope = np.bincount(worse, slack, len(X)) - np.bincount(better, slack, len(X))
        return 0.5 * w @ w + C * slack @ slack, w + 2.0 * C * (slope @ X)

    start = np.zeros(X.shape[1])
    return optimize.minimize(objective, start, jac=True, method="L-BFGS-B").x


def solve_on_differences(X, better, worse, C):
    """Coefficients by LinearSVC; half of the pairs are turned round, it wants two classes."""
    sign = np.where(np.arange(len(better)) % 2, -1.0, 1.0)
    differences = (X[better] - X[worse]) * sign[:, np.newaxis]
    svm = LinearSVC(C=C, dual=False, fit_intercept=False).fit(differences, sign)
    return svm.coef_[0]


def by_query(target):
    """Grades in order of query, query codes 0, 1, ... in that order, and the order."""
    qid = np.unique(target["qid"], return_inverse=True)[1]
    order = np.argsort(qid, kind="stable")
    return target["y"][order], qid[order], order


def unequal_pairs(grades, qid):
    """Row indices (better, worse) of all pairs of unequal grade within a query."""
    better, worse = [], []
    for rows in np.split(np.arange(len(qid)), np.flatnonzero(np.diff(qid)) + 1):
        i, j = np.nonzero(grades[rows][:, np.newaxis] > grades[rows])
        better.append(rows[i])
        worse.append(rows[j])
    return np.concatenate(better), np.concatenate(worse)


def tree_grid(prefix, tiny, leaves="num_leaves"):
    """The one grid of tree settings, under the names of a library."""
    trees = TINY_TREES if tiny else TREES
    return {f"{prefix}n_estimators": trees["n_estimators"], f"{prefix}{leaves}": trees["leaves"]}


def binary(measure):
    """What makes boosters fit on grade >= 1 where the measure knows relevant or not."""
    return RELEVANT if measure == "map" else {}


def lightgbm_settings():
    """What is not tuned."""
    return {"learning_rate": 0.1, "min_child_samples": 20, "n_jobs": 1, "verbose": -1}


def lightgbm_ranker(measure, tiny):
    """LGBMRanker: lambdarank with its own gain 2**y - 1."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return None
    ranker = lightgbm.LGBMRanker(**lightgbm_settings())
    return WrappedRanker(ranker, **binary(measure)), tree_grid("estimator__", tiny)


def xgboost_ranker(measure, tiny):
    """XGBRanker: rank:ndcg on grades; for MAP rank:map on grade >= 1."""
    xgboost = optional_peer("xgboost")
    if xgboost is None:
        return None
    ranker = xgboost.XGBRanker(
        objective="rank:map" if measure == "map" else "rank:ndcg",
        learning_rate=0.1,
        max_depth=0,
        grow_policy="lossguide",
        tree_method="hist",
        n_jobs=1,
    )
    grid = tree_grid("estimator__", tiny, leaves="max_leaves")
    return WrappedRanker(ranker, **binary(measure)), grid


def rank_svm(measure, tiny):
    """Linear RankSVM, C tuned."""
    grid = {"linearranksvm__C": [1.0] if tiny else [0.01, 0.1, 1.0, 10.0, 100.0]}
    return make_pipeline(StandardScaler(), LinearRankSVM(binary=measure == "map")), grid


def our_trees(measure, tiny):
    """LowRankSurrogateRanker with LightGBM's regressor, targets not centred."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return None
    ranker = LowRankSurrogateRanker(
        estimator=lightgbm.LGBMRegressor(**lightgbm_settings()),
        centered=False,
    )
    return ranker, {**tree_grid("estimator__", tiny), "target_loss": TREE_TARGETS[measure]}


def our_ridge(measure, tiny):
    """LowRankSurrogateRanker with its default, ridge centred within lists."""
    ranker = make_pipeline(StandardScaler(), LowRankSurrogateRanker())
    alphas = [0.1] if tiny else [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]
    grid = {"alpha": alphas, "target_loss": RIDGE_TARGETS[measure]}
    return ranker, {f"lowranksurrogateranker__{name}": values for name, values in grid.items()}


def order_preserving(surrogate):
    """OrderPreservingRegressor with its defaults: nothing is tuned."""

    def build(measure, tiny):
        return OrderPreservingRegressor(surrogate=surrogate), {}

    return build


def structured(target_loss):
    """StructuredHingeRanker, alpha tuned."""

    def build(measure, tiny):
        tol = 1.0 if tiny else 1e-2
        ranker = StructuredHingeRanker(target_loss=target_loss, tol=tol, max_iter=200)
        alphas = [1e-2] if tiny else [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
        return ranker, {"alpha": alphas}

    return build


def boosted(surrogate):
    """LightGBM's trees under a surrogate of ours, small trees as the guide advises."""

    def build(measure, tiny):
        lightgbm = optional_peer("lightgbm")
        if lightgbm is None:
            return None
        ranker = lightgbm.LGBMRanker(
            objective=boosting_objective(surrogate, "ndcg@10"),
            num_leaves=7,
            **{**lightgbm_settings(), "min_child_samples": 5 if tiny else 50},
        )
        trees = [5] if tiny else [50, 150, 400]
        return WrappedRanker(ranker), {"estimator__n_estimators": trees}

    return build


def xendcg_ranker(measure, tiny):
    """LGBMRanker with rank_xendcg."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return None
    ranker = lightgbm.LGBMRanker(objective="rank_xendcg", random_state=0, **lightgbm_settings())
    return WrappedRanker(ranker, **binary(measure)), tree_grid("estimator__", tiny)


MODELS = {
    "lightgbm": lightgbm_ranker,
    "xendcg": xendcg_ranker,
    "xgboost": xgboost_ranker,
    "ranksvm": rank_svm,
    "our trees": our_trees,
    "our ridge": our_ridge,
    "cross-entropy": order_preserving("cross_entropy"),
    "pairwise logistic": order_preserving("pairwise_logistic"),
    "pairwise squared": order_preserving("pairwise_squared"),
    "pointwise squared": order_preserving("pointwise_squared"),
    "structured ndcg": structured("ndcg@10"),
    "structured kendall": structured("kendall"),
    "boosted cross-entropy": boosted("cross_entropy"),
    "boosted pairwise squared": boosted("pairwise_squared"),
}
