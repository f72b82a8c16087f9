"""The noise conditions of Ramaswamy, Agarwal & Tewari 2013, and the remark of its section 6."""

import numpy as np

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.calibration import conditional_regret, noise_report
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.decoders import decode_pd_dag
from lowrank_rank.decoders._average_precision import decode_map_diagonal
from lowrank_rank.decoders.feedback_arcs._decoders import decode_pd_borda
from lowrank_rank.target_losses import (
    ExpectedRankUtility,
    MeanAveragePrecision,
    PairwiseDisagreement,
)

from ._common import print_table

DATA = "none, all data are generated."


def add_arguments(parser):
    parser.add_argument(
        "--labels", type=int, default=6, help="size of a distribution's support"
    )


def run(args):
    return member_rows(args) + remark_rows(args)


def binary_supports(rng, n_labels, r):
    """Binary labels with a relevant item each."""
    labels = rng.integers(0, 2, (n_labels, r)).astype(float)
    none = labels.sum(axis=1) == 0
    labels[none, rng.integers(0, r, none.sum())] = 1.0
    return labels


def order_supports(rng, n_labels, r):
    """Grades of random orders without ties."""
    return rng.permuted(np.tile(np.arange(float(r)), (n_labels, 1)), axis=1)


def map_members(support, p):
    u = p @ MeanAveragePrecision().encode(support)
    r = support.shape[1]
    ranks = decode_map_diagonal(u, r).ranks
    yield (
        "P_reinforce, map",
        noise_report(u, target_loss="map").in_p_reinforce,
        ranks,
        MeanAveragePrecision(),
    )


def order_members(support, p):
    u = np.einsum("nl,lij->nij", p, PairwiseDisagreement().preferences(support))
    report = noise_report(u)
    yield (
        "P_f, net preferences",
        report.in_p_f,
        decode_pd_borda(u).ranks,
        PairwiseDisagreement(),
    )
    yield (
        "P_DAG, algorithm 1",
        report.in_p_dag,
        decode_pd_dag(u).ranks,
        PairwiseDisagreement(),
    )


def member_rows(args):
    """Fraction of random distributions inside each condition, regret of its decoder in and out."""
    n_supports, n_each = (3, 10) if args.tiny else (40, 50)
    found = {}
    for r in (3, 4) if args.tiny else (3, 4, 5, 6):
        rng = np.random.default_rng(r)
        for _ in range(n_supports):
            for draw, members in (
                (binary_supports, map_members),
                (order_supports, order_members),
            ):
                support = draw(rng, args.labels, r)
                p = rng.dirichlet(np.ones(args.labels), n_each)
                for name, inside, ranks, loss in members(support, p):
                    regret = np.maximum(
                        conditional_regret(loss, support, p, ranks), 0.0
                    )
                    found.setdefault((name, r), []).append((inside, regret))
    rows = []
    for (name, r), parts in sorted(found.items()):
        inside, regret = (np.concatenate(part) for part in zip(*parts, strict=True))
        rows.append(
            {
                "table": "conditions",
                "condition, decoder": name,
                "items": r,
                "inside": inside.mean(),
                "max regret inside": regret[inside].max(initial=0.0),
                "wrong outside": np.mean(regret[~inside] > 1e-9)
                if not inside.all()
                else 0.0,
                "mean regret outside": regret[~inside].mean()
                if not inside.all()
                else 0.0,
                "max regret outside": regret[~inside].max(initial=0.0),
            }
        )
    print_table(
        "Random distributions: inside the condition, and regret in and out of it", rows
    )
    return rows


def remark_rows(args):
    """Regret of MAP in and out of P_reinforce by what the scores or the encoding stand for."""
    n_train, n_test = (300, 200) if args.tiny else (20_000, 1000)
    utility = ExpectedRankUtility(neutral=0.0)  # v = y
    models = {
        "low rank, exact": (
            LowRankSurrogateRanker(
                target_loss="map", estimator="ridge", decoder="exact", alpha=1e-3
            ),
            False,
        ),
        "low rank, diagonal": (
            LowRankSurrogateRanker(
                target_loss="map", estimator="ridge", decoder="diagonal", alpha=1e-3
            ),
            False,
        ),
    }
    for surrogate in ("pointwise_squared", "pairwise_logistic", "cross_entropy"):
        for standardised in (True, False):
            v = "y / sum(y)" if standardised else "y"
            model = OrderPreservingRegressor(
                surrogate=surrogate, target_loss=utility, alpha=1e-4
            )
            models[f"{surrogate}, {v}"] = (model, standardised)
    found = {name: [] for name in models}
    for seed in range(1 if args.tiny else 3):
        data = make_label_ranking(n_train + n_test, 5, n_labels=8, random_state=seed)
        X, y, new = data.data[:n_train], data.target[:n_train], data.data[n_train:]
        p = data.probabilities[n_train:]
        inside = noise_report(
            data.support, probabilities=p, target_loss="map"
        ).in_p_reinforce
        for name, (model, standardised) in models.items():
            labels = y / y.sum(axis=1, keepdims=True) if standardised else y
            regret = conditional_regret(
                "map", data.support, p, model.fit(X, labels).rank(new)
            )
            found[name].append((inside, regret))
    rows = []
    for name, parts in found.items():
        inside, regret = (np.concatenate(part) for part in zip(*parts, strict=True))
        rows.append(
            {
                "table": "section 6",
                "model": name,
                "inside": regret[inside].mean() if inside.any() else None,
                "outside": regret[~inside].mean() if not inside.all() else None,
                "fraction inside": inside.mean(),
            }
        )
    print_table(
        f"Regret of MAP inside and outside P_reinforce, {n_train} samples", rows
    )
    return rows
