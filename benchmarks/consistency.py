"""Regret against the Bayes order on distributions that are known: does it go to 0?

Labels of `make_label_ranking`: ridge is well specified for every target loss, so its regret
should fall like 1/n (slope -1 in log-log) wherever the decoder is exact. Then a model fitted
for one loss under another: rows are what was fitted, columns what it is judged by. At last,
LambdaRank and losses of pairs where labels contradict each other.
"""

import numpy as np

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.calibration import conditional_regret
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.target_losses import PairwiseDisagreement
from lowrank_rank.target_losses._names import resolve_target_loss

from ._common import print_table
from ._conflicts import conflict_rows

BINARY = (
    "precision@1",
    "precision@2",
    "recall@2",
    "precision@50%",
    "prbep",
    "auc",
    "map",
    "ndcg",
    "dcg@2",
    "pd",
    "kendall",
)
GRADED = ("dcg@2", "ndcg", "ndcg@2", "ndcg_exp", "eru", "spearman", "pd-difference")


def add_arguments(parser):
    parser.add_argument("--items", type=int, default=5)
    parser.add_argument(
        "--labels", type=int, default=8, help="size of the label's support"
    )
    parser.add_argument(
        "--seeds", type=int, default=5, help="distributions averaged over"
    )


def run(args):
    """Regret by sample size with its slope, then the cross tables."""
    sizes = [50, 200] if args.tiny else [100, 400, 1600, 6400, 25600]
    seeds = range(1 if args.tiny else args.seeds)
    rows = []
    for labels, names, n_grades in (("binary", BINARY, 2), ("grades 0-4", GRADED, 5)):
        problems = [Problem(sizes[-1], args, n_grades, seed) for seed in seeds]
        slopes = slope_rows(labels, names, sizes, problems)
        print_table(f"Mean conditional regret by training size, {labels}", slopes)
        crossed = cross_rows(labels, names, sizes[-1], problems)
        print_table(
            f"Regret of the row's model under the column's loss, {labels}", crossed
        )
        rows += slopes + crossed
    conflicts = conflict_rows(3 if args.tiny else 400)
    print_table("Labels that contradict each other: wrong orders, by loss", conflicts)
    return rows + conflicts


class Problem:
    """Training and test part of one draw of `make_label_ranking`."""

    def __init__(self, n_train, args, n_grades, seed):
        n_test = 200 if args.tiny else 2000
        data = make_label_ranking(
            n_train + n_test,
            args.items,
            n_labels=args.labels,
            n_grades=n_grades,
            random_state=seed,
        )
        self.X, self.y = data.data[:n_train], data.target[:n_train]
        self.X_test, self.probabilities = (
            data.data[n_train:],
            data.probabilities[n_train:],
        )
        self.support = data.support

    def ranks(self, loss, n):
        """Test ranks of the default ridge, fitted for `loss` on the first n samples."""
        return (
            LowRankSurrogateRanker(target_loss=loss, estimator="ridge")
            .fit(self.X[:n], self.y[:n])
            .rank(self.X_test)
        )

    def regret(self, loss, ranks):
        """Mean over the test part."""
        return conditional_regret(loss, self.support, self.probabilities, ranks).mean()


def loss_of(name):
    return (
        PairwiseDisagreement("difference")
        if name == "pd-difference"
        else resolve_target_loss(name)
    )


def slope_rows(labels, names, sizes, problems):
    """Regret at each size, mean over the problems, and the slope of log regret in log n."""
    rows = []
    for name in names:
        loss = loss_of(name)
        regrets = [
            np.mean([p.regret(loss, p.ranks(loss, n)) for p in problems]) for n in sizes
        ]
        positive = np.maximum(regrets, np.finfo(float).tiny)
        slope = np.polyfit(np.log(sizes), np.log(positive), 1)[0]
        columns = {f"n={n}": regret for n, regret in zip(sizes, regrets, strict=True)}
        rows.append({"labels": labels, "loss": name, **columns, "slope": slope})
    return rows


def cross_rows(labels, names, n, problems):
    """One row per fitted loss, one column per judging loss."""
    losses = {name: loss_of(name) for name in names}
    rows = []
    for fitted, loss in losses.items():
        ranks = [problem.ranks(loss, n) for problem in problems]
        regrets = {
            name: np.mean(
                [p.regret(judge, r) for p, r in zip(problems, ranks, strict=True)]
            )
            for name, judge in losses.items()
        }
        rows.append({"labels": labels, "fitted": fitted, **regrets})
    return rows
