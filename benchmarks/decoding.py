"""Exact decoding of mean average precision, and local search against it.

u is the expectation of MAP's encoding under random label distributions, plus noise, so that
the diagonal order is not already the best one.
"""

from functools import partial

import numpy as np

from lowrank_rank.decoders import decode_map_exact, decode_map_local_search
from lowrank_rank.decoders._average_precision import decode_map_diagonal
from lowrank_rank.target_losses import MeanAveragePrecision

from ._common import bar_row, best_seconds, print_table


def add_arguments(parser):
    parser.add_argument("--repeats", type=int, default=3)


def run(args):
    """Seconds of the exact decoder, then gaps of the decoders that are not exact."""
    many, long, longest, n_gaps = (50, 8, 9, 3) if args.tiny else (10_000, 18, 20, 20)
    rng = np.random.default_rng(0)
    inputs = {  # by label: surrogate vectors, items, most seconds
        f"1 list of {long}": (surrogate_vectors(rng, 1, long), long, 0.5),
        f"{many} lists of 6": (surrogate_vectors(rng, many, 6), 6, 1.0),
        f"1 list of {longest}": (surrogate_vectors(rng, 1, longest), longest, 2.0),
    }
    first = best_seconds(decoding_calls(inputs), 1)
    best = best_seconds(decoding_calls(inputs), args.repeats)
    times = [
        bar_row(decode=label, first_s=first[label], value=best[label], at_most=bar)
        for label, (_, _, bar) in inputs.items()
    ]
    print_table("Exact decoding, seconds (best of the repeats; first_s with cold caches)", times)
    gaps = gap_rows(surrogate_vectors(rng, n_gaps, long), long)
    print_table(f"{n_gaps} lists of {long}: value against the exact decoder's", gaps)
    return times + gaps


def decoding_calls(inputs):
    return {label: partial(decode_map_exact, u, r) for label, (u, r, _) in inputs.items()}


def surrogate_vectors(rng, n_lists, n_items, n_labels=20, noise=0.1):
    """E alpha(Y) for random distributions over labels, each list its own, plus noise."""
    labels = rng.random((n_lists * n_labels, n_items)) < 0.3
    labels[np.arange(len(labels)), rng.integers(n_items, size=len(labels))] = True
    encoded = MeanAveragePrecision().encode(labels).reshape(n_lists, n_labels, -1)
    mean = np.einsum("nl,nld->nd", rng.dirichlet(np.full(n_labels, 0.3), n_lists), encoded)
    return mean + noise * mean.std() * rng.standard_normal(mean.shape)


def gap_rows(u, n_items):
    """Relative loss of value, how often exact, and the certified bound on the loss."""
    exact = decode_map_exact(u, n_items).values
    rows = []
    for name, decode in (
        ("local search", decode_map_local_search),
        ("diagonal", decode_map_diagonal),
    ):
        decoded = decode(u, n_items, bound=True)
        gap = (exact - decoded.values) / exact
        rows.append(
            {
                "decoder": name,
                "mean_gap": gap.mean(),
                "max_gap": gap.max(),
                "optimal_share": np.mean(gap < 1e-9),
                "mean_certified_gap": np.mean(decoded.gaps / exact),
            }
        )
    return rows
