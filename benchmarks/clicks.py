"""Rankers from simulated clicks, judged by the true grades on other queries.

Generated queries with grades 0 to 4, 200 to learn from and 200 to judge. A linear ranker shows the
lists. A document at position p is examined with probability 1 / p, and is relevant to a reader with
probability grade / 4. Labels are the true grades, the mean clicks of each document, or means of
estimates: inverse propensity ("ips"), or unbiased (affine under trust bias).
`OrderPreservingRegressor` is fitted to them, for "ndcg@10" or "dcg@10". The difference from the
unbiased labels with cross-entropy has a standard error over seeds.

poor, good: the ranker that shows the lists was fitted to one query, or to twenty. trust: as poor,
and .9 of the relevant and .3 / p of the other examined documents are clicked. estimated: a log of
10,000 sessions of ten documents with propensity p ** -eta; "error" is the mean absolute error of
the logarithm of `propensities_from_clicks`, or of click rates.
"""

import numpy as np

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.clicks import (
    make_clicks,
    propensities_from_clicks,
    utilities_from_clicks,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score

from ._common import paired, print_table, repeated

TRUST = np.full(30, 0.9), 0.3 / np.arange(1, 31)
#: Queries that the ranker of the lists was fitted to, and the trust of the readers.
LOGS = {"poor": (1, None), "good": (20, None), "trust": (1, TRUST)}
SURROGATES = ("cross_entropy", "pairwise_squared", "ranknet")
PLACES = 10


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=4000, help="20 for each query")


def run(args):
    """Rows of the parts asked for."""
    if args.tiny:
        args.seeds, args.sessions = 2, 300
    rows = []
    for part in args.part:
        table = list(PARTS[part](args, part, 30 if args.tiny else 200))
        print_table(f"{part}: NDCG@10 by true grades, {args.seeds} seeds", table)
        rows += [{"part": part, **row} for row in table]
    return rows


class Queries:
    """Documents of a seed: logged queries, and queries that judge."""

    def __init__(self, seed, n_queries, n_fitted):
        X, y, qid = make_ranking(2 * n_queries, (10, 30), random_state=seed)
        logged, few = qid < n_queries, qid < n_fitted
        shown_by = OrderPreservingRegressor().fit(X[few], y[few], qid=qid[few])
        self.X, self.y, self.qid = X[logged], y[logged], qid[logged]
        self.test = X[~logged], y[~logged], qid[~logged]
        self.scores = shown_by.predict(self.X)

    def ndcg(self, labels, target="dcg@10", surrogate="cross_entropy"):
        """NDCG@10 of a ranker that is fitted to the labels."""
        ranker = OrderPreservingRegressor(target_loss=target, surrogate=surrogate)
        X, y, qid = self.test
        scores = ranker.fit(self.X, labels, qid=self.qid).predict(X)
        return ndcg_score(y, scores, qid=qid, k=10)


def labels_part(args, part, n_queries):
    """A row for each target, label and surrogate."""
    n_fitted, trust = LOGS[part]
    found = {}
    for seed in repeated(range(args.seeds), "clicks"):
        queries = Queries(seed, n_queries, n_fitted)
        options = {"n_sessions": args.sessions, "trust": trust, "random_state": seed}
        log = make_clicks(queries.y, queries.qid, scores=queries.scores, **options)
        estimate = utilities_from_clicks(
            log.clicks, log.position, propensity=1.0, trust=trust, non_negative=True
        )
        labels = {"unbiased": estimate, "clicks": log.clicks}
        if trust is not None:
            labels["ips"] = utilities_from_clicks(
                log.clicks, log.position, propensity=1.0
            )
        labels = {name: mean_of_rows(log, values) for name, values in labels.items()}
        for name, values in {"true grades": queries.y, **labels}.items():
            for target in ("ndcg@10", "dcg@10"):
                for surrogate in SURROGATES:
                    value = queries.ndcg(values, target, surrogate)
                    found.setdefault((target, name, surrogate), []).append(value)
    for (target, name, surrogate), values in found.items():
        difference = paired(values, found[target, "unbiased", "cross_entropy"])
        row = {"target": target, "labels": name, "surrogate": surrogate}
        row |= {"ndcg@10": float(np.mean(values)), "difference": difference.mean}
        yield {**row, "se": difference.se}


def mean_of_rows(log, values):
    """Mean over the sessions that showed a document, 0 for documents that none showed."""
    n_rows = len(log.relevance)
    sums, shown = (
        np.bincount(log.row, values, n_rows),
        np.bincount(log.row, minlength=n_rows),
    )
    return sums / np.maximum(shown, 1)


def estimated_part(args, part, n_queries):
    """A row for each steepness eta of the propensities, the mean over seeds."""
    for eta in (0.5, 1.5):
        found = [
            estimated(seed, eta, n_queries, args)
            for seed in repeated(range(args.seeds), "clicks")
        ]
        yield {
            "eta": eta,
            **{name: float(np.mean([f[name] for f in found])) for name in found[0]},
        }


def estimated(seed, eta, n_queries, args):
    """Errors, coverage of the intervals, and NDCG@10 by the propensities of the labels."""
    queries = Queries(seed, n_queries, n_fitted=1)
    log = make_clicks(
        queries.y,
        queries.qid,
        scores=queries.scores / queries.scores.std(),
        n_sessions=1_000 if args.tiny else 10_000,
        propensity=eta,
        temperature=0.3,
        cutoff=PLACES,
        random_state=seed,
    )
    truth = np.arange(1.0, PLACES + 1) ** -eta
    found = propensities_from_clicks(log.clicks, log.position, log.row)
    best = int(np.argmax(found.propensity))
    relative = truth / truth[best]
    covered = ((found.low <= relative) & (relative <= found.high))[
        np.arange(PLACES) != best
    ]
    rate = np.bincount(log.position, log.clicks)[1:] / np.bincount(log.position)[1:]
    labels = {"raw clicks": log.clicks}
    for name, theta in {
        "1 / p": 1.0,
        "true": truth,
        "estimated": found.propensity,
    }.items():
        labels[name] = utilities_from_clicks(log.clicks, log.position, propensity=theta)
    return {
        "error": np.abs(np.log(found.propensity / truth)).mean(),
        "error of click rates": np.abs(np.log(rate / rate.max() / truth)).mean(),
        "covered": covered.mean(),
        **{
            name: queries.ndcg(mean_of_rows(log, values))
            for name, values in labels.items()
        },
    }


PARTS = {**dict.fromkeys(LOGS, labels_part), "estimated": estimated_part}
