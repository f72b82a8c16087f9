"""Decoders of preferences on linear ordering instances and against igraph; MAP's decoders.

Run it on one thread, OMP_NUM_THREADS=1.

ordering: the input-output instances of LOLIB, 44 to 79 items. A gap is relative to the best value
known, the sum above the diagonal. `exact` has 60 s for a list. Without the folder, random weights.

sublists: two draws of items of each instance. "lost" is the part of the best sum above the diagonal
that an order loses, in %; times are those of all lists of a length at once.

orders: lists of 40 items from 15 orders, uniformly random or noisy ones of a common truth. "counts"
is how many orders have i before j, "majority" is 1 for more than half. `exact` stops after 10 s.

igraph: `feedback_arc_set`, heuristic "eades" and exact program "ip", which is stopped after --limit
seconds, on random tournaments. Ratios are of the weight of the arcs to that of our exact decoder.

map: `decode_map_local_search` and the order of the diagonal against `decode_map_exact`.
"""

import json
import subprocess
import sys
import warnings
from functools import partial
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.decoders import (
    decode_pd_dag,
    decode_pd_exact,
)
from lowrank_rank.decoders._average_precision import (
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from lowrank_rank.decoders.feedback_arcs._decoders import (
    decode_pd_borda,
    decode_pd_local_search,
    pd_decoder,
)
from lowrank_rank.target_losses import MeanAveragePrecision

from ._common import REPOSITORY, optional_peer, print_table
from ._lolib import load_instances, planted_instance, random_instances

HEURISTICS = {
    "dag": decode_pd_dag,
    "borda": decode_pd_borda,
    "local_search": decode_pd_local_search,
}
N_ORDERS = 15


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds for igraph's program"
    )


def run(args):
    """Rows of the parts asked for."""
    rows = []
    for part in args.part:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # the column "proved" says it
            table = list(PARTS[part](args))
        print_table(part, table)
        rows += [{"table": part, **row} for row in table]
    return rows


def timed(decode, u):
    """Cost, whether it is proved, and CPU seconds of one list."""
    start = process_time()
    decoded = decode(u[np.newaxis])
    seconds = process_time() - start
    proved = decoded.bounds is not None and bool(decoded.optimal[0])
    return float(decoded.values[0]), proved, seconds


def decoders(time_limit):
    return {**HEURISTICS, "exact": partial(decode_pd_exact, time_limit=time_limit)}


def instances_for(args):
    """All of LOLIB; random ones for a smoke test or without the folder."""
    if args.tiny:
        return [*random_instances([0], 13), planted_instance(13)]
    return load_instances(args.data) or random_instances(range(5), 40)


def ordering_part(args):
    """A row for each decoder, over the instances with a known value (all, if none has one)."""
    instances = instances_for(args)
    instances = [i for i in instances if i.best is not None] or instances
    for name, decode in decoders(2.0 if args.tiny else 60.0).items():
        cost, proved, seconds = np.transpose([timed(decode, i.u) for i in instances])
        above = np.array([i.total for i in instances]) - cost
        best = np.array([i.best or i.total for i in instances])
        gap = 100 * (best - above) / best
        yield {
            "decoder": name,
            "mean_gap": gap.mean(),
            "max_gap": gap.max(),
            "equal": int(np.sum(above == best)),
            "better": int(np.sum(above > best)),
            "proved": int(proved.sum()),
            "of": len(instances),
            "median_s": float(np.median(seconds)),
            "max_s": seconds.max(),
        }


def sublists_part(args):
    """Kept weight that "dag" and "auto" lose."""
    for n_items in (13,) if args.tiny else (12, 13, 20, 30, 40):
        u = np.array(
            [sublist(i.u, n_items, s) for i in instances_for(args) for s in (0, 1)]
        )
        least = decode_pd_exact(u, time_limit=20.0)
        for name in ("dag", "auto"):
            start = process_time()
            cost = pd_decoder(name, n_items).decode(u, bound=False).values
            milliseconds = 1e3 * (process_time() - start) / len(u)
            lost = 100 * (cost - least.values) / (u.sum(axis=(1, 2)) - least.values)
            row = {
                "items": n_items,
                "decoder": name,
                "lost": lost.mean(),
                "largest": lost.max(),
            }
            yield {
                **row,
                "ms": milliseconds,
                "proved": int(least.optimal.sum()),
                "of": len(u),
            }


def sublist(u, n_items, seed):
    items = np.random.default_rng(seed).choice(len(u), n_items, replace=False)
    return u[np.ix_(items, items)]


def orders_part(args):
    """Seconds of the exact decoder, and the gap of the others to it in % of the weights."""
    few, many, n_seeds = (9, 13, 2) if args.tiny else (15, 40, 20)
    families = {f"normal, {few}": [tournament(seed, few) for seed in range(n_seeds)]}
    for kind in ("uniform", "noisy"):
        counts = [order_counts(seed, many, kind) for seed in range(n_seeds)]
        families[f"{kind} orders, counts, {many}"] = counts
        families[f"{kind} orders, majority, {many}"] = [
            1.0 * (u > N_ORDERS / 2) for u in counts
        ]
    for name, lists in families.items():
        lists = [np.maximum(u - u.T, 0.0) for u in lists]
        found = {
            decoder: np.transpose([timed(decode, u) for u in lists])
            for decoder, decode in decoders(10.0).items()
        }
        cost, proved, seconds = found["exact"]
        row = {
            "lists": name,
            "median_s": float(np.median(seconds)),
            "max_s": seconds.max(),
        }
        gaps = {
            d: 100 * (found[d][0] - cost).sum() / (cost.sum() or 1.0)
            for d in HEURISTICS
        }
        yield {**row, "proved": int(proved.sum()), "of": n_seeds, **gaps}


def tournament(seed, n_items):
    return np.random.default_rng(seed).normal(size=(n_items, n_items))


def order_counts(seed, n_items, kind):
    """u_ij: how many of the orders have i before j."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) if kind == "noisy" else 0.0
    places = truth + n_items / 3 * rng.normal(size=(N_ORDERS, n_items))
    return (places[:, :, np.newaxis] < places[:, np.newaxis]).sum(axis=0).astype(float)


# igraph -----------------------------------------------------------------------------------

#: Run in a process of its own, which can be stopped.
IGRAPH = """
import json, sys, time
import igraph, numpy as np
task = json.load(sys.stdin)
net = np.array(task["net"])
graph = igraph.Graph(n=len(net), edges=np.argwhere(net > 0).tolist(), directed=True)
weights, start = net[net > 0], time.process_time()
arcs = graph.feedback_arc_set(weights.tolist(), task["method"])
print(json.dumps([float(weights[arcs].sum()), time.process_time() - start]))
"""


def igraph_part(args):
    """A row for each number of items and decoder, over the lists that it finished."""
    if optional_peer("igraph") is None:
        return
    sizes, seeds, limit = (
        ([6], 2, 20.0) if args.tiny else ((10, 15, 20, 25), 5, args.limit)
    )
    for n_items in sizes:
        nets = [u - u.T for u in (tournament(seed, n_items) for seed in range(seeds))]
        results = {
            name: [timed(decode, np.maximum(net, 0.0))[::2] for net in nets]
            for name, decode in decoders(limit).items()
        }
        least = [cost for cost, _ in results["exact"]]
        for method in ("eades", "ip"):
            results[f"igraph {method}"] = [
                feedback_arcs(net, method, limit) for net in nets
            ]
        for name, found in results.items():
            done = [
                (f[0] / one, f[1]) for f, one in zip(found, least, strict=True) if f
            ]
            ratios, seconds = zip(*done, strict=True) if done else ([np.nan], [np.nan])
            row = {
                "items": n_items,
                "decoder": name,
                "finished": f"{len(done)}/{len(nets)}",
            }
            yield {**row, "mean_ratio": float(np.mean(ratios)), "max_s": max(seconds)}


def feedback_arcs(net, method, time_limit):
    """Weight of igraph's feedback arc set and its seconds; None when time is over."""
    task = json.dumps({"net": net.tolist(), "method": method})
    options = {"capture_output": True, "text": True, "check": True, "cwd": REPOSITORY}
    try:
        done = subprocess.run(
            [sys.executable, "-c", IGRAPH], input=task, timeout=time_limit, **options
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


# Average precision ------------------------------------------------------------------------


def surrogate_vectors(rng, n_lists, n_items, n_labels=20, noise=0.1):
    """Expected encodings of MAP under random distributions over labels, plus noise."""
    labels = rng.random((n_lists * n_labels, n_items)) < 0.3
    labels[np.arange(len(labels)), rng.integers(n_items, size=len(labels))] = True
    encoded = MeanAveragePrecision().encode(labels).reshape(n_lists, n_labels, -1)
    mean = np.einsum(
        "nl,nld->nd", rng.dirichlet(np.full(n_labels, 0.3), n_lists), encoded
    )
    return mean + noise * mean.std() * rng.standard_normal(mean.shape)


def map_part(args):
    """Relative loss of value, how often the order is best, and the certified bound on the loss."""
    n_lists, n_items = (3, 8) if args.tiny else (20, 18)
    u = surrogate_vectors(np.random.default_rng(0), n_lists, n_items)
    exact = decode_map_exact(u, n_items).values
    for name, decode in {
        "local search": decode_map_local_search,
        "diagonal": decode_map_diagonal,
    }.items():
        decoded = decode(u, n_items, bound=True)
        gap = (exact - decoded.values) / exact
        yield {
            "decoder": name,
            "mean_gap": gap.mean(),
            "max_gap": gap.max(),
            "best": float(np.mean(gap < 1e-9)),
            "mean_certified_gap": float(np.mean(decoded.gaps / exact)),
        }


PARTS = {
    "ordering": ordering_part,
    "sublists": sublists_part,
    "orders": orders_part,
    "igraph": igraph_part,
    "map": map_part,
}
