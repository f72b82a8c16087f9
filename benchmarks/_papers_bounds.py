"""Theorem 3.3 and the regret bounds of Calauzenes, Usunier & Gallinari 2013."""

import warnings
from functools import partial
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.calibration import conditional_regret, regret_bound
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.low_rank._calibration import all_ranks
from lowrank_rank.metrics import measure_score
from lowrank_rank.order_preserving._surrogates import resolve_surrogate
from lowrank_rank.surrogates import SURROGATES, surrogate_loss
from lowrank_rank.target_losses import NDCG

from ._common import print_table

DATA = "none, all data are generated."

#: By measure: two lists of (label, weight), the best orders of both having item 0 before item 1;
#: in their sum every best order has item 1 before item 0.
COUNTER_EXAMPLES = {
    "AP": (
        [((0, 1, 1), 6), ((1, 0, 0), 4)],
        [((0, 0, 1), 1), ((1, 0, 1), 1)],
    ),
    "ERR": (
        [((0, 0, 1), 1), ((1, 0, 1), 1)],
        [((0, 1, 0), 3), ((1, 0, 1), 4), ((1, 1, 0), 1)],
    ),
}
MEASURES = {
    "AP": partial(measure_score, "map"),
    "ERR": partial(measure_score, "err", max_grade=1.0),
}
BOUNDED = [name for name, surrogate in SURROGATES.items() if surrogate().has_bound]
#: Scores at which the expected surrogate is least, by E v = u and eta.
LEAST = {
    "pointwise_logistic": lambda u, eta: np.log(u / (eta - u)),
    "pointwise_exponential": lambda u, eta: np.log(u / (eta - u)) / 2,
    "pointwise_squared_hinge": lambda u, eta: u / eta,
    "pointwise_smooth_hinge": lambda u, eta: u / eta,
    "pairwise_logistic": lambda u, eta: np.log(u),
    "pairwise_exponential": lambda u, eta: np.log(u) / 2,
    "cross_entropy": lambda u, eta: np.log(u),
}
#: The constants c of table 2, by the larger of two utilities and eta, with t = a = mu = 1.
PAPER = {
    "pointwise_squared": lambda u, eta: np.sqrt(2.0),
    "pointwise_logistic": lambda u, eta: np.sqrt(eta),
    "pointwise_exponential": lambda u, eta: np.sqrt(eta),
    "pointwise_squared_hinge": lambda u, eta: np.sqrt(2.0 * eta),
    "pointwise_smooth_hinge": lambda u, eta: 4.0 * np.sqrt(eta),
    "pairwise_squared": lambda u, eta: 1.0,
    "pairwise_logistic": lambda u, eta: 2.0 * np.sqrt(u),
    "pairwise_exponential": lambda u, eta: 2.0 * np.sqrt(u),
    "bregman_squared": lambda u, eta: 2.0,
}
ETA = 10.0  # above every utility of the constants


def add_arguments(parser):
    pass


def run(args):
    return counter_rows() + regret_rows(args) + constant_rows(args)


def values_of_orders(measure, weighted):
    """Expected measure of each order for labels with weights."""
    ranks = all_ranks(len(weighted[0][0]))
    labels, weights = zip(*weighted, strict=True)
    return np.average(
        [
            MEASURES[measure](np.tile(y, (len(ranks), 1)), -ranks, average=None)
            for y in labels
        ],
        axis=0,
        weights=weights,
    )


def counter_rows():
    """The best value with item 0 before item 1, and with item 1 before item 0."""
    ranks, rows = all_ranks(3), []
    first = ranks[:, 0] < ranks[:, 1]
    for measure, (one, other) in COUNTER_EXAMPLES.items():
        for name, weighted in {
            "one": one,
            "other": other,
            "mixture": one + other,
        }.items():
            values = values_of_orders(measure, weighted)
            rows.append(
                {
                    "table": "theorem 3.3",
                    "measure": measure,
                    "distribution": name,
                    "0 before 1": values[first].max(),
                    "1 before 0": values[~first].max(),
                }
            )
    print_table("Theorem 3.3: no utility can order items 0 and 1 in all three", rows)
    return rows


def with_eta(name, eta):
    surrogate = resolve_surrogate(name)
    return (
        surrogate.set_params(eta=eta) if "eta" in surrogate.get_params() else surrogate
    )


def least(name, u, eta):
    return LEAST[name](u, eta) if name in LEAST else u


def regret_rows(args):
    """Regret of NDCG and the bound of it, means over new lists, by training size."""
    sizes = (200,) if args.tiny else (100, 1000, 10_000)
    n_test, rows = 300, []
    data = make_label_ranking(
        n_test + sizes[-1], 5, n_labels=8, n_grades=3, random_state=0
    )
    p = data.probabilities[:n_test]
    u = np.maximum(p @ NDCG().encode(data.support), 1e-12)
    for name in BOUNDED:
        surrogate, columns = with_eta(name, 1.5), {}
        floor = surrogate_loss(surrogate, u, least(name, u, 1.5))
        above = 0
        for n in sizes:
            part = slice(n_test, n_test + n)
            model = OrderPreservingRegressor(
                target_loss="ndcg", surrogate=surrogate, alpha=1e-4
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                scores = model.fit(data.data[part], data.target[part]).predict(
                    data.data[:n_test]
                )
            over = np.maximum(surrogate_loss(surrogate, u, scores) - floor, 0.0)
            ranks = model.rank(data.data[:n_test])
            regret = conditional_regret("ndcg", data.support, p, ranks)
            bound = regret_bound(surrogate, u, "ndcg", over)
            columns |= {f"regret n={n}": regret.mean(), f"bound n={n}": bound.mean()}
            above += int(np.sum(regret > bound + 1e-9))
        rows.append({"table": "bound", "surrogate": name, **columns, "above": above})
    print_table(
        f"Regret of NDCG and its bound, means of {n_test} lists; lists above it", rows
    )
    return rows


def constant_rows(args):
    """c of the paper, ours, and the largest ratio that two items need, over each of them.

    Two items with equal scores, the worse one first: precision@1 loses u_1 - u_2, C_phi is 1.
    """
    n_values, n_ties = (7, 51) if args.tiny else (37, 201)
    u = np.array(list(product(np.linspace(0.5, 9.5, n_values), repeat=2)))
    u = u[u[:, 0] > u[:, 1]]
    cases = {name: (name, with_eta(name, ETA), PAPER.get(name)) for name in BOUNDED}
    blunt = with_eta("pointwise_smooth_hinge", ETA).set_params(a=4.0)
    cases["pointwise_smooth_hinge, a = 4"] = (
        "pointwise_smooth_hinge",
        blunt,
        lambda u, eta: 4.0 * np.sqrt(eta / 4.0),
    )
    rows = []
    for label, (name, surrogate, paper) in cases.items():
        best = least(name, u, ETA)
        floor = surrogate_loss(surrogate, u, best)
        ties = np.linspace(best[:, 1], best[:, 0], n_ties)
        over = np.min(
            [surrogate_loss(surrogate, u, np.stack([t, t], axis=1)) for t in ties],
            axis=0,
        )
        needed = (u[:, 0] - u[:, 1]) / np.sqrt(over - floor)
        ours = regret_bound(surrogate, u, [1.0, 0.0], np.ones(len(u)))
        table = None if paper is None else paper(u[:, 0], ETA)
        rows.append(
            {
                "table": "constants",
                "surrogate": label,
                "c of the paper": None if table is None else float(np.max(table)),
                "c here": float(np.max(ours)),
                "needed / paper": None
                if table is None
                else float(np.max(needed / table)),
                "needed / here": float(np.max(needed / ours)),
            }
        )
    print_table(f"Constants c for two items, utilities up to 9.5, eta = {ETA:g}", rows)
    return rows
