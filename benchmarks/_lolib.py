"""Linear ordering instances of LOLIB, as preferences with the best values that are known."""

import csv
from typing import NamedTuple

import numpy as np


class Instance(NamedTuple):
    """One matrix; ``best`` is the largest known sum above the diagonal, None if there is none."""

    name: str
    u: np.ndarray
    best: float | None
    proved: bool

    @property
    def total(self):
        """What the values above the diagonal and the cost of an order add up to."""
        return self.u.sum()


def load_instance(folder, name):
    """One file of linear_ordering/IO, the diagonal set to zero."""
    text = (folder / "linear_ordering" / "IO" / name).read_text().split()
    u = np.array(text[1:], dtype=float).reshape(int(text[0]), int(text[0]))
    np.fill_diagonal(u, 0.0)
    known = best_known(folder).get(name)
    if known is None:
        return Instance(name, u, None, False)
    best = float(known["best_found_above_diagonal"])
    return Instance(name, u, best, known["proved_optimal"] == "1")


def best_known(folder):
    """Rows of IO_best_known.csv by the name of the file."""
    with open(folder / "linear_ordering" / "IO_best_known.csv", newline="") as lines:
        return {row["instance"]: row for row in csv.DictReader(lines)}


def load_instances(folder):
    """All instances by size; none without the folder."""
    files = folder / "linear_ordering" / "IO"
    names = sorted(path.name for path in files.iterdir()) if files.is_dir() else []
    return sorted(
        (load_instance(folder, name) for name in names), key=lambda i: len(i.u)
    )


def random_instances(seeds, n_items):
    """Random whole weights, of which no best value is known."""
    return [
        Instance(f"random {seed}", _random_weights(seed, n_items), None, False)
        for seed in seeds
    ]


def _random_weights(seed, n_items):
    u = (
        np.random.default_rng(seed)
        .integers(0, 100, size=(n_items, n_items))
        .astype(float)
    )
    np.fill_diagonal(u, 0.0)
    return u


def planted_instance(n_items):
    """Random weights of which every larger one of a pair agrees with one order."""
    u = _random_weights(0, n_items)
    u = np.triu(np.maximum(u, u.T)) + np.tril(np.minimum(u, u.T))
    shuffled = np.random.default_rng(0).permutation(n_items)
    return Instance("planted", u[np.ix_(shuffled, shuffled)], np.triu(u).sum(), True)
