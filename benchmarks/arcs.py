"""Decoders of preferences: linear ordering instances, igraph as a peer, and their seconds.

Run it on one thread, OMP_NUM_THREADS=1.

ordering: the input-output instances of LOLIB, 44 to 79 items. The value of an order is its sum
above the diagonal, a gap is relative to the best value known. Ours is the default local search
(100 restarts), and the exact decoder with 60 s for a list. Without the folder, random weights.

igraph: `feedback_arc_set` on the same net preferences, the heuristic "eades" and the exact
program "ip"; the latter in a process that is stopped after --limit seconds, on random
tournaments (u standard normal) and on the linear ordering instances. Weights are those of the
arcs, which is what an order pays beyond what all do, in relation to our exact decoder's.

long: sums of LOLIB's instances over 150 and 250 items, each scaled to a mean of 100 and laid over
random items until every pair is covered four times in the mean. The restarts that shorter lists
take, 1e6 / r**2 of them, as a yardstick of time; our annealing, and the best of runs eight times
as long. Gaps to that best one in % of the sum above the diagonal.

sublists: random items of each instance of LOLIB, two lists each. The weight that an order keeps is
its sum above the diagonal; what "dag" and "auto" lose of the largest one, in %, and milliseconds a
list, all lists of a length at once.

speed: standard normal u for the bars of algorithm 1 and of 15 items. Lists of 40 items are made
of 15 orders, either uniformly random or noisy ones of a common truth (positions plus normal
noise of a third of the items); "counts" are how many of them have i before j, "majority" is 1
for more than half. The exact decoder stops after 10 s there. Gaps are those of the weights of
feedback arcs summed over the lists, in % of the least ones.
"""

import warnings
from functools import partial
from time import perf_counter, process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.decoders import (
    decode_pd_borda,
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
)
from lowrank_rank.decoders.feedback_arcs import _local_search as local_search
from lowrank_rank.decoders.feedback_arcs._decoders import pd_decoder

from ._common import bar_row, best_seconds, optional_peer, print_table
from ._igraph import feedback_arcs
from ._linear_ordering import load_instances, planted_instance, random_instances, summed_instance

HEURISTICS = {
    "dag": decode_pd_dag,
    "borda": decode_pd_borda,
    "local_search": decode_pd_local_search,
}
N_ORDERS = 15
NOISE = 1 / 3  # of the number of items
TOURNAMENTS = (10, 15, 20, 25)  # items


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for igraph's program")
    parser.add_argument("--repeats", type=int, default=3)


def run(args):
    """Rows of the parts asked for."""
    return [{"table": part, **row} for part in args.part for row in PARTS[part](args)]


def ordering_part(args):
    """A row for each decoder over the instances with a known value, then bars, then the others."""
    instances = instances_for(args)
    found = {
        name: [timed(decode, i.u) for i in instances]
        for name, decode in {**HEURISTICS, "exact": exact_decoder(args)}.items()
    }
    known = [k for k, i in enumerate(instances) if i.best is not None]
    rows = [ordering_row(name, instances, found[name], known) for name in found] if known else []
    print_table(f"{len(known)} linear ordering instances with a known value, gaps in %", rows)
    bars = ordering_bars(instances, found, rows) if known else []
    print_table("Bars", bars)
    others = [
        other_row(name, instances[k], found[name][k])
        for k in range(len(instances))
        if instances[k].best is None
        for name in found
    ]
    print_table("Instances without a known value; above: sum above the diagonal", others)
    return rows + bars + others


def instances_for(args):
    """All of LOLIB; random ones for a smoke test or without the folder."""
    if args.tiny:
        return [*random_instances([0], 13), planted_instance(13)]
    return load_instances(args.data) or random_instances(range(5), 40)


def exact_decoder(args):
    return partial(decode_pd_exact, time_limit=2.0 if args.tiny else 60.0)


def timed(decode, u):
    """Cost, whether it is proved, and seconds of one list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # "proved" says so
        start = perf_counter()
        decoded = decode(u[np.newaxis])
        seconds = perf_counter() - start
    proved = decoded.bounds is not None and bool(decoded.optimal[0])
    gap = None if decoded.bounds is None else float(decoded.gaps[0])
    return {"cost": float(decoded.values[0]), "proved": proved, "gap": gap, "seconds": seconds}


def ordering_row(name, instances, found, known):
    """Gaps to the best known values and seconds."""
    best = np.array([instances[k].best for k in known])
    above = np.array([instances[k].total - found[k]["cost"] for k in known])
    gap = 100 * (best - above) / best
    optimum = np.array([instances[k].best if instances[k].proved else np.inf for k in known])
    return {
        "decoder": name,
        "mean_gap": gap.mean(),
        "max_gap": gap.max(),
        "equal": int(np.sum(above == best)),
        "better": int(np.sum(above > best)),
        "above_optimum": int(np.sum(above > optimum)),
        "proved": sum(found[k]["proved"] for k in known),
        "of": len(known),
        "median_s": float(np.median([found[k]["seconds"] for k in known])),
        "max_s": max(found[k]["seconds"] for k in known),
    }


def ordering_bars(instances, found, rows):
    """What the heuristic and the exact decoder should reach."""
    by_name = {row["decoder"]: row for row in rows}
    local, exact = by_name["local_search"], by_name["exact"]
    bars = [
        ("local_search, largest gap in %", local["max_gap"], 0.1),
        ("local_search, seconds", max(row["seconds"] for row in found["local_search"]), 3.0),
        ("exact, not proved", exact["of"] - exact["proved"], 4),
        ("values above a proved optimum", sum(row["above_optimum"] for row in rows), 0),
        ("exact, largest proved gap in %", proved_gap(instances, found["exact"]), 0.0),
    ]
    return [bar_row(bar=name, value=value, at_most=at_most) for name, value, at_most in bars]


def proved_gap(instances, found):
    """How far below the best known value an order is that claims to be optimal."""
    pairs = zip(instances, found, strict=True)
    gaps = [
        100 * (i.best - i.total + row["cost"]) / i.best
        for i, row in pairs
        if i.best is not None and row["proved"]
    ]
    return max(gaps, default=0.0)


def other_row(name, instance, found):
    return {
        "instance": instance.name,
        "items": len(instance.u),
        "decoder": name,
        "above": float(instance.total - found["cost"]),
        "proved": found["proved"],
        "certified_gap": found["gap"],
        "seconds": found["seconds"],
    }


def long_part(args):
    """Gaps of annealing to long runs, and its seconds over those of restarts."""
    lolib = load_instances(args.data) or random_instances(range(5), 40)
    sizes = ((101, 0.5),) if args.tiny else ((150, 0.3), (250, 0.5))
    seeds = range(1, 2 if args.tiny else 4)
    rows = []
    for n_items, bar in sizes:
        lists = [summed_instance(lolib, seed, n_items) for seed in seeds]
        for instance in lists:
            rows += long_rows(instance, bar, n_runs=1 if args.tiny else 2, tiny=args.tiny)
    print_table(
        "Long lists: gap in % to the best of long runs, seconds over those of restarts", rows
    )
    return rows


def long_rows(instance, bar, n_runs, tiny):
    u, r = instance.u, len(instance.u)
    usual = None if not tiny else 1
    long = 10 if tiny else 8 * 300_000 // (20 * r)
    restarts = local_search.shakes_of(r, 1 if tiny else 10**6 // r**2, np.random.RandomState(0))
    start = process_time()
    order = local_search.search((u - u.T)[np.newaxis], restarts)
    former = {"cost": np.tril(u[np.ix_(order[0], order[0])]).sum(), "s": process_time() - start}
    start = process_time()
    cost = decode_pd_local_search(u[np.newaxis], n_restarts=usual).values[0]
    ours = {"cost": cost, "s": process_time() - start}
    runs = [
        decode_pd_local_search(u[np.newaxis], n_restarts=long, random_state=seed).values[0]
        for seed in range(1, n_runs + 1)
    ]
    best = instance.total - min(*runs, cost, former["cost"])
    return [
        bar_row(
            instance=instance.name,
            items=r,
            decoder=name,
            seconds=found["s"],
            over_restarts=found["s"] / former["s"],
            value=100 * (best - (instance.total - found["cost"])) / best,
            at_most=bar if name == "annealing" else None,
        )
        for name, found in (("restarts", former), ("annealing", ours))
    ]


def igraph_part(args):
    """Ours and igraph's on random tournaments and on linear ordering instances."""
    if optional_peer("igraph") is None:
        return []
    sizes, seeds, limit = ([6], [0, 1], 20.0) if args.tiny else (TOURNAMENTS, range(5), args.limit)
    groups = {f"tournaments of {r}": [tournament(s, r) for s in seeds] for r in sizes}
    for instance in [] if args.tiny else load_instances(args.data):
        r = len(instance.u)
        groups.setdefault(f"linear ordering, {r}", []).append(instance.u)
    rows = []
    for group, lists in groups.items():
        rows += (found := peer_rows(group, lists, limit))
        print_table(f"Weight of feedback arcs over the least one, {limit:g} s for ip", found)
    return rows


def tournament(seed, n_items):
    return np.random.default_rng(seed).normal(size=(n_items, n_items))


def peer_rows(group, lists, limit):
    """One row for each of our decoders and igraph's, over the lists that it finished."""
    nets = [u - u.T for u in lists]
    ours = {
        name: [timed(decode, np.maximum(net, 0.0)) for net in nets]
        for name, decode in {**HEURISTICS, "exact": decode_pd_exact}.items()
    }
    least = np.array([row["cost"] for row in ours["exact"]])
    results = {
        name: [(row["cost"], row["seconds"]) for row in found] for name, found in ours.items()
    }
    for method in ("eades", "ip"):
        results[f"igraph {method}"] = [feedback_arcs(net, method, limit) for net in nets]
    return [peer_row(group, name, found, least) for name, found in results.items()]


def peer_row(group, name, found, least):
    done = [k for k, (weight, _) in enumerate(found) if weight is not None]
    ratio = [found[k][0] / least[k] for k in done if least[k] > 0]
    seconds = [found[k][1] for k in done]
    return {
        "lists": group,
        "decoder": name,
        "finished": f"{len(done)}/{len(found)}",
        "mean_ratio": float(np.mean(ratio)) if ratio else None,
        "max_ratio": max(ratio, default=None),
        "least_ratio": min(ratio, default=None),
        "median_s": float(np.median(seconds)) if done else None,
        "max_s": max(seconds, default=None),
    }


def sublists_part(args):
    """Kept weight that "dag" and "auto" lose, mean over the lists of a length."""
    instances, rows = instances_for(args), []
    for n_items in (13,) if args.tiny else (12, 13, 20, 30, 40):
        u = np.array([sublist(i.u, n_items, seed) for i in instances for seed in (0, 1)])
        least = decode_pd_exact(u, time_limit=20.0)
        for name in ("dag", "auto"):
            start = process_time()
            cost = pd_decoder(name, n_items).decode(u, bound=False).values
            seconds = process_time() - start
            lost = 100 * (cost - least.values) / (u.sum(axis=(1, 2)) - least.values)
            row = bar_row(
                items=n_items,
                decoder=name,
                value=lost.mean(),
                at_most=0.3 if name == "auto" else None,
            )
            row |= {"largest": lost.max(), "ms": 1e3 * seconds / len(u)}
            rows.append({**row, "proved": int(least.optimal.sum()), "of": len(u)})
    print_table("Sub-lists of linear ordering instances: kept weight lost in %", rows)
    return rows


def sublist(u, n_items, seed):
    items = np.random.default_rng(seed).choice(len(u), n_items, replace=False)
    return u[np.ix_(items, items)]


def speed_part(args):
    """Seconds of algorithm 1, then of the exact decoder with the gaps of the others."""
    shapes = (
        [(1, 20, 0.1), (50, 5, 1.0)]
        if args.tiny
        else [
            (1, 500, 0.1),
            (1, 2000, 2.0),
            (10_000, 10, 1.0),
        ]
    )
    rng = np.random.default_rng(0)
    calls, bars = {}, {}
    for n_lists, r, bar in shapes:
        name = f"dag, {n_lists} of {r}"
        calls[name], bars[name] = partial(decode_pd_dag, rng.normal(size=(n_lists, r, r))), bar
    seconds = best_seconds(calls, args.repeats)
    rows = [bar_row(decode=name, value=seconds[name], at_most=bars[name]) for name in calls]
    print_table("Algorithm 1, seconds (best of the repeats)", rows)
    return rows + exact_rows(*((9, 13, 2) if args.tiny else (15, 40, 20)))


def exact_rows(few, many, n_seeds):
    """Median and worst seconds over the seeds, and how far the heuristics are from the least."""
    families = {f"normal, {few}": ([tournament(seed, few) for seed in range(n_seeds)], 0.2)}
    for kind in ("uniform", "noisy"):
        counts = [order_counts(seed, many, kind) for seed in range(n_seeds)]
        families[f"{kind} orders, counts, {many}"] = (counts, 0.5)
        majority = [(u > N_ORDERS / 2).astype(float) for u in counts]
        families[f"{kind} orders, majority, {many}"] = (majority, 0.5)
    rows, gaps = [], []
    decode = partial(decode_pd_exact, time_limit=10.0)
    for name, (lists, bar) in families.items():
        lists = [np.maximum(u - u.T, 0.0) for u in lists]
        exact = [timed(decode, u) for u in lists]
        rows.append(seconds_row(name, exact, bar))
        gaps += [gap_row(name, heuristic, lists, exact) for heuristic in HEURISTICS]
    print_table(f"Exact decoder, seconds over {n_seeds} seeds; value is the median", rows)
    print_table("Gaps in %: to the exact decoder's costs, and certified ones of bound=True", gaps)
    return rows + gaps


def order_counts(seed, n_items, kind):
    """u_ij: how many of the orders have i before j."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) if kind == "noisy" else 0.0
    places = truth + NOISE * n_items * rng.normal(size=(N_ORDERS, n_items))
    return (places[:, :, np.newaxis] < places[:, np.newaxis]).sum(axis=0).astype(float)


def seconds_row(name, found, bar):
    seconds = np.array([row["seconds"] for row in found])
    row = bar_row(decode=f"exact, {name}", value=float(np.median(seconds)), at_most=bar)
    return {
        **row,
        "worst_s": seconds.max(),
        "over_the_bar": int(np.sum(seconds > bar)),
        "proved": sum(row["proved"] for row in found),
        "of": len(found),
    }


def gap_row(name, heuristic, lists, exact):
    """Against the exact decoder's cost, which is the least one where that is proved."""
    least = np.array([row["cost"] for row in exact])
    decoded = [HEURISTICS[heuristic](u[np.newaxis], bound=True) for u in lists]
    cost = np.array([d.values[0] for d in decoded])
    gap, whole = cost - least, least.sum() or 1.0
    return {
        "lists": name,
        "decoder": heuristic,
        "least": least.mean(),
        "gap": 100 * gap.sum() / whole,
        "certified_gap": 100 * sum(d.gaps[0] for d in decoded) / whole,
        "optimal": int(np.sum(gap <= 1e-9 * least)),
        "certified_optimal": sum(bool(d.optimal[0]) for d in decoded),
        "of": len(lists),
    }


PARTS = {
    "ordering": ordering_part,
    "long": long_part,
    "igraph": igraph_part,
    "sublists": sublists_part,
    "speed": speed_part,
}
