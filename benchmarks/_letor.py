"""The LETOR sets of the quality benchmark, and a synthetic one that needs no file."""

import numpy as np
from sklearn.datasets import load_svmlight_files

from lowrank_rank import ranking_target
from lowrank_rank.datasets import load_letor, make_ranking


def load_lightgbm_example(data):
    """LightGBM's ranking example, train and test pooled; .query files give rows per query."""
    folder = data / "letor" / "lightgbm_example"
    parts = ("train", "test")
    loaded = load_svmlight_files([str(folder / f"rank.{part}.gz") for part in parts])
    lengths = np.concatenate(
        [np.loadtxt(folder / f"rank.{part}.query", dtype=int, ndmin=1) for part in parts]
    )
    X = np.vstack([x.toarray() for x in loaded[::2]])
    return X, ranking_target(
        np.concatenate(loaded[1::2]), np.repeat(np.arange(len(lengths)), lengths)
    )


def load_clueweb09(data):
    """The ClueWeb09 near-duplicate study, folds 1-3 pooled."""
    folder = data / "letor" / "clueweb09"
    folds = load_letor([folder / f"fold{fold}.txt.gz" for fold in (1, 2, 3)])
    X = np.vstack([x.toarray() for x, _, _ in folds])
    return X, ranking_target(*(np.concatenate(part) for part in list(zip(*folds, strict=True))[1:]))


def load_synthetic(data):
    """A small set of `make_ranking`."""
    X, y, qid = make_ranking(n_lists=30, n_items=(4, 9), n_features=5, random_state=0)
    return X, ranking_target(y, qid)


DATASETS = {"lightgbm_example": load_lightgbm_example, "clueweb09": load_clueweb09}
