"""Propensities estimated from a log: their error, their intervals, and rankers fitted with them.

Generated queries with grades 0-4, 200 to learn from and 200 to be judged on. A ranker fitted to one
query shows the first ten documents of each session, with Gumbel noise of scale 0.3 on scores whose
standard deviation is 1.
Position p is examined with probability p ** -eta. Labels are mean clicks of each document, and mean
estimates with propensities 1 / p, with the true ones and with those of `propensities_from_clicks`.
All are fitted by `OrderPreservingRegressor(target_loss="dcg@10")` and judged by NDCG@10 of the true
grades.
"""

import numpy as np

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.datasets import (
    make_clicks,
    make_ranking,
    propensities_from_clicks,
    utilities_from_clicks,
)
from lowrank_rank.metrics import ndcg_score

from ._common import bar_row, print_table
from .clicks import mean_of_rows

PLACES = 10


def add_arguments(parser):
    """No arguments of its own."""


def run(args):
    """One row for each number and each steepness of the propensities, with its bar."""
    n_runs, n_queries, n_sessions = (2, 40, 1_000) if args.tiny else (30, 200, 10_000)
    rows = []
    for eta in (0.5, 1.5):
        found = [one_run(seed, eta, n_queries, n_sessions) for seed in range(n_runs)]
        mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        bars = {
            "mean |log error|": (mean["error"], 0.10, mean["error of click rates"]),
            "intervals that miss the truth": (1 - mean["covered"], 0.09, None),
            "NDCG@10, |estimated - true propensities|": (
                abs(mean["estimated"] - mean["true"]),
                0.003,
                abs(mean["raw clicks"] - mean["true"]),
            ),
        }
        for what, (value, bar, control) in bars.items():
            rows.append(bar_row(eta=eta, what=what, value=value, at_most=bar, control=control))
        names = ("raw clicks", "1 / p", "true", "estimated")
        print(f"eta={eta}: NDCG@10", *(f"{name} {mean[name]:.4f}" for name in names), sep=", ")
    print_table(f"propensities from clicks, {n_runs} runs; control: click rates, raw clicks", rows)
    return rows


def one_run(seed, eta, n_queries, n_sessions):
    """Errors, coverage and NDCG@10 by labels of one generated log."""
    X, y, qid = make_ranking(2 * n_queries, (10, 30), random_state=seed)
    logged, test, few = qid < n_queries, qid >= n_queries, qid < 1
    shown_by = OrderPreservingRegressor().fit(X[few], y[few], qid=qid[few])
    scores = shown_by.predict(X[logged])
    log = make_clicks(
        y[logged],
        qid[logged],
        scores=scores / scores.std(),
        n_sessions=n_sessions,
        propensity=eta,
        temperature=0.3,
        cutoff=PLACES,
        random_state=seed,
    )
    truth = np.arange(1.0, PLACES + 1) ** -eta
    found = propensities_from_clicks(log.clicks, log.position, log.row)
    best = int(np.argmax(found.propensity))
    covered = (found.low <= truth / truth[best]) & (truth / truth[best] <= found.high)
    rate = np.bincount(log.position, log.clicks)[1:] / np.bincount(log.position)[1:]
    values = {
        "error": log_error(found.propensity, truth),
        "error of click rates": log_error(rate / rate.max(), truth),
        "covered": covered[np.arange(PLACES) != best].mean(),
    }
    labels = {"raw clicks": log.clicks}
    for name, theta in {"1 / p": 1.0, "true": truth, "estimated": found.propensity}.items():
        labels[name] = utilities_from_clicks(log.clicks, log.position, propensity=theta)
    for name, label in labels.items():
        ranker = OrderPreservingRegressor(target_loss="dcg@10")
        ranker.fit(X[logged], mean_of_rows(log, label), qid=qid[logged])
        values[name] = ndcg_score(y[test], ranker.predict(X[test]), qid=qid[test], k=10)
    return values


def log_error(propensity, truth):
    return np.abs(np.log(propensity) - np.log(truth)).mean()
