"""The sets of the benchmark of defaults: documents with query ids, lists of fixed items, classes.

Settings of the package were chosen with sight of those in CHOSEN_ON; the others are what they are
shown on.
"""

import csv
import gzip
from functools import partial

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import load_digits as load_digit_images
from sklearn.datasets import load_iris, load_svmlight_file, load_wine

from lowrank_rank import ranking_target
from lowrank_rank.datasets import grades_from_orders, load_digits_retrieval, make_ranking

from ._letor import load_clueweb09, load_lightgbm_example

CHOSEN_ON = ("lightgbm_example", "synthetic")


def load_digits(data):
    """Image retrieval with scikit-learn's digits, 100 queries."""
    found = load_digits_retrieval(n_queries=100)
    return found.data, ranking_target(found.target, found.qid)


def load_synthetic(data):
    """Scores that are linear but for noise."""
    X, y, qid = make_ranking(n_lists=150, n_items=(5, 20), n_features=20, random_state=0)
    return X, ranking_target(y, qid)


def read_labels(path):
    """Features (n, p) and grades (n, r) of a file of rankings such as b>a>c."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    names = sorted(rows[0][-1].split(">"))
    orders = [[names.index(name) for name in row[-1].split(">")] for row in rows]
    return np.array([row[:-1] for row in rows], dtype=float), grades_from_orders(orders)


def label_ranking(name):
    """Loader of a set whose rows order the same labels, as grades r - rank."""
    return lambda data: read_labels(data / "label_ranking" / f"{name}.txt")


def load_ratings(data, n_items=15, n_features=60):
    """Who has rated at least 5 of some films: their ratings of other films tell of these.

    Features are the ratings minus the user's mean, 0 where there is none, and whether there is one.
    """
    table = pd.read_csv(data / "ratings" / "movielens_small.csv.gz")
    films = table["movieId"].value_counts().index[: n_items + n_features]
    wide = table.pivot_table(index="userId", columns="movieId", values="rating")
    aimed = films[::3][:n_items]
    y, known = wide[aimed].to_numpy(), wide[films.difference(aimed)].to_numpy()
    kept = (~np.isnan(y)).sum(axis=1) >= 5
    y, known = y[kept], known[kept]
    seen = ~np.isnan(known)
    mean = np.nansum(known, axis=1) / np.maximum(seen.sum(axis=1), 1)
    return np.hstack([np.nan_to_num(known - mean[:, np.newaxis]), seen.astype(float)]), y


def multilabel(name, n_labels):
    """Loader of a set whose rows have some of the labels."""

    def load(data):
        path = data / "multilabel" / name / f"{name}.arff"
        packed = path.with_suffix(".arff.gz")
        with gzip.open(packed, "rt") if packed.exists() else path.open() as file:
            rows = arff.loadarff(file)[0].tolist()
        table = np.array(rows).astype(float)
        return table[:, :-n_labels], table[:, -n_labels:]

    return load


def first_label(name):
    """Loader of a set of orders of labels, of which the first one is the class."""

    def load(data):
        X, y = label_ranking(name)(data)
        return X, y.argmax(axis=1)

    return load


def load_magic(data, n_rows=5000):
    """Rows drawn of a set of two classes."""
    with np.load(data / "binary" / "magic.npz") as arrays:
        X, y = arrays["X"], arrays["y"].ravel()
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return X[rows].astype(float), y[rows].astype(int)


def letters(file, n_rows=5000):
    """Loader of the first rows of a set of 26 letters."""

    def load(data):
        X, y = load_svmlight_file(str(data / file))
        return X[:n_rows].toarray(), y[:n_rows].astype(int)

    return load


DOCUMENTS = {
    "lightgbm_example": load_lightgbm_example,
    "synthetic": load_synthetic,
    "clueweb09": load_clueweb09,
    "digits": load_digits,
}
#: With the measure of each.
ITEMS = {
    **{name: (label_ranking(name), "kendall") for name in ("iris", "glass", "wine", "vehicle")},
    "ratings": (load_ratings, "eru"),
    "ratings of 30": (partial(load_ratings, n_items=30), "eru"),
    "emotions": (multilabel("emotions", 6), "map"),
    "yeast": (multilabel("yeast", 14), "auc"),
    "emotions, top": (multilabel("emotions", 6), "precision@2"),
    "yeast, top": (multilabel("yeast", 14), "precision@2"),
}
CLASSES = {
    "iris": lambda data: load_iris(return_X_y=True),
    "wine": lambda data: load_wine(return_X_y=True),
    "digits": lambda data: load_digit_images(return_X_y=True),
    "letter": letters("binary/letter.scale.gz"),
    "words": letters("sequences/handwritten_words.gz"),
    **{f"first of {name}": first_label(name) for name in ("glass", "vehicle", "vowel")},
    "magic": load_magic,
}
