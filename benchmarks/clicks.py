"""Rankers learnt from clicks, judged by the true grades: NDCG@10 on queries held out.

Generated documents with grades 0-4 (`make_ranking`), 200 queries to learn from, 200 to be judged
on. A linear ranker shows the lists, position p is examined with probability 1 / p, a document is
relevant to a reader with probability grade / 4. Labels are the true grades, the mean clicks of
each document, or the mean of their unbiased estimates: inverse propensity (ips), or affine under
trust bias. All are linear rankers of `OrderPreservingRegressor` with its default penalty, aimed
at "ndcg@10" or "dcg@10".

Parts: "poor", shown by a ranker that was fitted to one query; "good", to twenty; "trust", as
"poor", but of the documents examined .9 of the relevant and .3 / p of the others are clicked.
Differences from the unbiased labels with cross-entropy and the same target are paired, with a
bootstrap over seeds and over queries within them.
"""

from typing import NamedTuple

import numpy as np

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.datasets import make_clicks, make_ranking, utilities_from_clicks
from lowrank_rank.metrics import ndcg_score

from ._common import print_table


class Part(NamedTuple):
    n_queries: int  # that the ranker who shows the lists was fitted to
    trust: tuple | None = None


PARTS = {
    "poor": Part(1),
    "good": Part(20),
    "trust": Part(1, (np.full(30, 0.9), 0.3 / np.arange(1, 31))),
}
TARGETS = ("ndcg@10", "dcg@10")
SURROGATES = ("cross_entropy", "pairwise_squared", "ranknet")


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=sorted(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=4000, help="20 for each query")


def run(args):
    sizes = (2, 30, 300, 100) if args.tiny else (args.seeds, 200, args.sessions, 2000)
    return [row for part in args.part for row in part_rows(part, *sizes)]


def part_rows(part, n_seeds, n_queries, n_sessions, n_resamples):
    """One row for each label, surrogate and target."""
    values = {}
    for seed in range(n_seeds):
        for key, value in seed_values(PARTS[part], seed, n_queries, n_sessions).items():
            values.setdefault(key, []).append(value)
    rows = []
    for (target, labels, surrogate), found in values.items():
        difference = np.array(found) - np.array(values[target, "unbiased", "cross_entropy"])
        low, high = clustered_interval(difference, n_resamples)
        columns = {"part": part, "target": target, "labels": labels, "surrogate": surrogate}
        columns |= {"ndcg@10": float(np.mean(found)), "difference": float(difference.mean())}
        rows.append({**columns, "low": low, "high": high})
    print_table(f"Lists of a {part} ranker: NDCG@10 by true grades, {n_seeds} seeds", rows)
    return rows


def seed_values(part, seed, n_queries, n_sessions):
    """NDCG@10 of each query held out, by target, labels and surrogate."""
    X, y, qid = make_ranking(2 * n_queries, (10, 30), random_state=seed)
    logged, test, few = qid < n_queries, qid >= n_queries, qid < part.n_queries
    shown_by = OrderPreservingRegressor().fit(X[few], y[few], qid=qid[few])
    log = make_clicks(
        y[logged],
        qid[logged],
        scores=shown_by.predict(X[logged]),
        n_sessions=n_sessions,
        trust=part.trust,
        random_state=seed,
    )
    labels = {"true grades": y[logged], "clicks": mean_of_rows(log, log.clicks)}
    if part.trust is not None:
        labels["ips"] = mean_of_rows(log, utilities_from_clicks(log.clicks, log.position))
    v = utilities_from_clicks(log.clicks, log.position, trust=part.trust, non_negative=True)
    labels["unbiased"] = mean_of_rows(log, v)
    found = {}
    for target in TARGETS:
        for name, grades in labels.items():
            for surrogate in SURROGATES:
                ranker = OrderPreservingRegressor(target_loss=target, surrogate=surrogate)
                scores = ranker.fit(X[logged], grades, qid=qid[logged]).predict(X[test])
                found[target, name, surrogate] = ndcg_score(
                    y[test], scores, qid=qid[test], k=10, average=None
                )
    return found


def mean_of_rows(log, values):
    """Mean over the sessions that showed a document; a query that none showed has 0."""
    n_rows = len(log.relevance)
    sums, shown = np.bincount(log.row, values, n_rows), np.bincount(log.row, minlength=n_rows)
    return sums / np.maximum(shown, 1)


def clustered_interval(differences, n_resamples):
    """95 % bootstrap interval of the mean of (n_seeds, n_queries): seeds, then their queries."""
    rng = np.random.RandomState(0)
    n_seeds, n_queries = differences.shape
    means = np.empty(n_resamples)
    for b in range(n_resamples):
        seeds = rng.randint(n_seeds, size=(n_seeds, 1))
        means[b] = differences[seeds, rng.randint(n_queries, size=(n_seeds, n_queries))].mean()
    return tuple(float(end) for end in np.quantile(means, [0.025, 0.975]))
