"""The data sets: documents with query ids, lists of fixed items, classes, two classes.

A loader takes the folder of the data sets. Generated sets ignore it.
"""

import csv
import gzip
import sys
from functools import partial

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import (
    load_digits,
    load_iris,
    load_svmlight_file,
    load_svmlight_files,
    load_wine,
    make_friedman1,
)
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from lowrank_rank.clicks import make_clicks
from lowrank_rank.datasets import load_digits_retrieval, load_letor, make_ranking
from lowrank_rank.datasets._digits import draw_candidates
from lowrank_rank.votes import grades_from_orders

# Documents: features, grades, query ids ----------------------------------------------------


def load_lightgbm_example(data):
    """LightGBM's ranking example, train and test pooled; .query files give rows per query."""
    folder = data / "letor" / "lightgbm_example"
    parts = ("train", "test")
    loaded = load_svmlight_files([str(folder / f"rank.{part}.gz") for part in parts])
    lengths = np.concatenate(
        [
            np.loadtxt(folder / f"rank.{part}.query", dtype=int, ndmin=1)
            for part in parts
        ]
    )
    X = np.vstack([x.toarray() for x in loaded[::2]])
    return X, np.concatenate(loaded[1::2]), np.repeat(np.arange(len(lengths)), lengths)


def load_clueweb09(data):
    """The ClueWeb09 near-duplicate study, folds 1-3 pooled."""
    folder = data / "letor" / "clueweb09"
    folds = load_letor([folder / f"fold{fold}.txt.gz" for fold in (1, 2, 3)])
    X = np.vstack([x.toarray() for x, _, _ in folds])
    y, qid = (np.concatenate(part) for part in list(zip(*folds, strict=True))[1:])
    return X, y, pd.factorize(qid)[0]


def digits(data, n_queries=1797, **options):
    """Images of the same digit: labels without noise."""
    found = load_digits_retrieval(n_queries=n_queries, **options)
    return found.data, found.target.astype(float), found.qid


def noisy_digits(data, n_queries=1797):
    """The same images, graded 0 to 4 by one of three judges with tastes and noise."""
    X, y, qid = digits(data, n_queries)
    rng, Z = np.random.default_rng(0), StandardScaler().fit_transform(X)
    tastes = 0.3 * rng.normal(size=(3, Z.shape[1]))
    seen = 2.0 * y + (Z * tastes[qid % 3]).sum(axis=1) + rng.normal(size=len(y))
    return (
        X,
        np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97])).astype(float),
        qid,
    )


def noisy_grades(data, n_queries=1797, length=20):
    """Generated grades of three judges, as in examples/plot_quickstart.py."""
    rng = np.random.default_rng(0)
    qid = np.arange(n_queries).repeat(length)
    X = rng.normal(size=(len(qid), 12))
    tastes = 0.5 * rng.normal(size=(3, 12))
    utility = X[:, :4] @ [1.0, 0.7, 0.5, 0.5] + X[:, 4] * (X[:, 5] > 0)
    seen = utility + (X * tastes[qid % 3]).sum(axis=1) + 2.0 * rng.normal(size=len(qid))
    return (
        X,
        np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97])).astype(float),
        qid,
    )


def judges(data, n_queries=600, length=40, seed=0):
    """Generated grades of three judges; features have several scales and act together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * length, 12))
    X[:, 6:] = np.exp(X[:, 6:])
    utility = (
        X[:, 0]
        + 0.5 * X[:, 1]
        + X[:, 2] * (X[:, 3] > 0)
        + np.log1p(X[:, 6])
        - X[:, 4] ** 2
    )
    taste = rng.normal(size=(3, 6)) * 0.3
    judge = rng.integers(0, 3, n_queries).repeat(length)
    seen = utility + (X[:, :6] * taste[judge]).sum(axis=1) + rng.normal(size=len(X))
    y = np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97])).astype(float)
    return X, y, np.arange(n_queries).repeat(length)


def friedman(data, n_queries=2400, length=40, noise=0.0):
    """Generated grades of Friedman's function of five of ten features, which interact."""
    X, utility = make_friedman1(
        n_queries * length, n_features=10, noise=noise, random_state=0
    )
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.75, 0.9, 0.97]))
    return X, y.astype(float), np.arange(n_queries).repeat(length)


def without_linear_signal(data, n_queries=1200, length=20):
    """Grades by the product of two of eight features: no linear ranker sees it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_queries * length, 8))
    seen = np.sign(X[:, 0] * X[:, 1]) + 0.5 * X[:, 2] ** 2 + rng.normal(size=len(X))
    y = np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97]))
    return X, y.astype(float), np.arange(n_queries).repeat(length)


def shifted_queries(data, n_queries=1200, length=20):
    """Features have another offset in each query, five times their spread within it."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_queries * length, 8))
    seen = X[:, :4] @ [1.0, 0.7, 0.5, 0.5] + rng.normal(size=len(X))
    y = np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97]))
    offsets = 5.0 * rng.normal(size=(n_queries, 8)).repeat(length, axis=0)
    return X + offsets, y.astype(float), np.arange(n_queries).repeat(length)


def sparse_relevance(data, n_queries=2400, length=40):
    """Two in a hundred documents are relevant, by a noisy score of features that interact."""
    X, utility = make_friedman1(
        n_queries * length, n_features=20, noise=3.0, random_state=1
    )
    y = utility > np.quantile(utility, 0.98)
    return X, y.astype(float), np.arange(n_queries).repeat(length)


def clicks_of_sessions(data, n_queries=2400, length=40, sessions=5):
    """Clicks of five readers of each query, which a poor ranker of one feature showed."""
    X, y, qid = judges(data, n_queries, length, seed=2)
    log = make_clicks(
        y,
        qid,
        scores=X[:, 0],
        n_sessions=sessions * n_queries,
        random_state=0,
    )
    return X, np.bincount(log.row, log.clicks, len(y)), qid


def generated(data, n_lists=600, n_features=20, seed=1, **options):
    """Linear scores with noise: such data favour linear models."""
    return make_ranking(
        n_lists, (5, 20), n_features=n_features, random_state=seed, **options
    )


def letter_catalogue(data):
    """Retrieval from a catalogue of letters; some letters are common and others rare."""
    X, letter = load_svmlight_file(str(data / "binary" / "letter.scale.gz"))
    rng = np.random.RandomState(0)
    drawn = rng.permutation(X.shape[0])[:3000]
    X, letter = X[drawn].toarray(), letter[drawn].astype(int) - 1
    weights = 1.0 / (1.0 + rng.permutation(26))[letter]
    query, candidate, qid = draw_candidates(rng, weights, 1000, 10, 200)
    a, b = X[query[qid]], X[candidate]
    distances = np.abs(a - b).sum(axis=1), np.sqrt(((a - b) ** 2).sum(axis=1))
    features = np.column_stack([np.abs(a - b), a * b, *distances])
    return features, (letter[query[qid]] == letter[candidate]).astype(float), qid


CATALOGUE = {"n_candidates": (10, 200), "popularity": 1.0 / np.arange(1, 11)}
DOCUMENTS = {
    "digits": digits,
    "noisy digits": noisy_digits,
    "noisy grades": noisy_grades,
    "lightgbm_example": load_lightgbm_example,
    "clueweb09": load_clueweb09,
    "linear": generated,
    "judges": judges,
    "long lists": partial(judges, n_queries=1000, seed=1),
    "digits catalogue": partial(digits, n_queries=1000, **CATALOGUE),
    "letter catalogue": letter_catalogue,
    "README's job": partial(digits, n_queries=1600, **CATALOGUE),
    "clicks": clicks_of_sessions,
    "sparse relevance": sparse_relevance,
    "no linear signal": without_linear_signal,
    "shifted queries": shifted_queries,
    "friedman": friedman,
    "noisy friedman": partial(friedman, noise=5.0),
}

# Fixed items: features and labels (n, r) ----------------------------------------------------


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
    """Ratings of some films by users who rated at least 5 of them; NaN is an unknown rating.

    Features are the user's ratings of other films minus the mean of the user, 0 where there is
    none, and whether there is one.
    """
    table, _ = read_movielens(data)
    films = table["movieId"].value_counts().index[: n_items + n_features]
    wide = table.pivot_table(index="userId", columns="movieId", values="rating")
    aimed = films[::3][:n_items]
    y, known = wide[aimed].to_numpy(), wide[films.difference(aimed)].to_numpy()
    kept = (~np.isnan(y)).sum(axis=1) >= 5
    y, known = y[kept], known[kept]
    seen = ~np.isnan(known)
    mean = np.nansum(known, axis=1) / np.maximum(seen.sum(axis=1), 1)
    return np.hstack(
        [np.nan_to_num(known - mean[:, np.newaxis]), seen.astype(float)]
    ), y


def load_tastes(data, n_items=100):
    """Ratings of the films that most people rated, by what a user likes in general.

    Features are the shares of genres among the other films that the user rated, and the
    logarithm of their number: weak signals.
    """
    ratings, films = read_movielens(data)
    aimed = ratings["movieId"].value_counts().index[:n_items]
    is_aimed = ratings["movieId"].isin(aimed)
    wide = ratings[is_aimed].pivot_table(
        index="userId", columns="movieId", values="rating"
    )
    genres = films.set_index("movieId")["genres"].str.get_dummies()
    others = ratings[~is_aimed]
    counts = genres.loc[others["movieId"]].groupby(others["userId"].to_numpy()).sum()
    wide = wide[wide.count(axis=1) >= 10]
    counts = counts.reindex(wide.index, fill_value=0).to_numpy(dtype=float)
    total = counts.sum(axis=1, keepdims=True)
    X = np.hstack([counts / np.maximum(total, 1.0), np.log1p(total)])
    return X, wide.to_numpy()


def read_movielens(data):
    """Ratings and films of MovieLens, as frames."""
    folder = data / "ratings"
    ratings = pd.read_csv(folder / "movielens_small.csv.gz")
    return ratings, pd.read_csv(folder / "movielens_small_movies.csv.gz")


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


def generated_orders(data, kind, n_rows=600, n_items=6):
    """Orders by noisy scores of items: "linear", "trees" (steps) or "weak" signals."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8))
    features = (X > 0).astype(float) * (X[:, :1] > 0) if kind == "trees" else X
    scores = features @ rng.normal(size=(8, n_items))
    levels = rng.normal(size=n_items)
    if kind == "weak":
        scores *= 0.1
    scores += levels + rng.normal(size=scores.shape)
    return X, np.argsort(np.argsort(scores, axis=1), axis=1).astype(float)


#: Sets of orders of labels, and of ratings with gaps.
ORDERS = {
    **{
        name: label_ranking(name)
        for name in ("iris", "glass", "wine", "vowel", "vehicle")
    },
    "generated, linear": partial(generated_orders, kind="linear"),
    "generated, steps": partial(generated_orders, kind="trees"),
    "generated, weak": partial(generated_orders, kind="weak", n_rows=300),
}
RATINGS = {
    "15 films by 60 others": load_ratings,
    "30 films by 60 others": partial(load_ratings, n_items=30),
    "100 films by genres": load_tastes,
    "15 films by genres": partial(load_tastes, n_items=15),
}
#: Loader and measure of each set.
ITEMS = {
    **{
        name: (label_ranking(name), "kendall")
        for name in ("iris", "glass", "wine", "vowel", "vehicle")
    },
    "ratings": (load_ratings, "eru"),
    "ratings of 30": (partial(load_ratings, n_items=30), "eru"),
    "emotions": (multilabel("emotions", 6), "map"),
    "yeast": (multilabel("yeast", 14), "auc"),
}

# Classes --------------------------------------------------------------------------------------


def first_label(name):
    """Loader of a set of orders of labels; the class is the first label."""

    def load(data):
        X, y = label_ranking(name)(data)
        return X, y.argmax(axis=1)

    return load


def load_magic(data, n_rows=5000):
    """Rows drawn of a set of two classes."""
    X, y = load_binary(data, "magic")
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def letters(file, n_rows=5000):
    """Loader of the first rows of a set of 26 letters."""

    def load(data):
        X, y = load_svmlight_file(str(data / file))
        return X[:n_rows].toarray(), y[:n_rows].astype(int)

    return load


CLASSES = {
    "iris": lambda data: load_iris(return_X_y=True),
    "wine": lambda data: load_wine(return_X_y=True),
    "digits": lambda data: load_digits(return_X_y=True),
    "letter": letters("binary/letter.scale.gz"),
    "words": letters("sequences/handwritten_words.gz"),
    **{f"first of {name}": first_label(name) for name in ("glass", "vehicle", "vowel")},
    "magic": load_magic,
}

# Two classes ----------------------------------------------------------------------------------

FILES = {
    "letter": "letter.scale.gz",  # 26 classes; 1 is the letter A
    "ijcnn1": "ijcnn1.trn.bz2",
    "a9a": "a9a.gz",
    "mammography": "mammography.npz",
    "cover": "cover.npz",
    "magic": "magic.npz",
}


def load_binary(data, name, positive=1):
    """Dense features of one of FILES, and 1 where its label is `positive`, else 0."""
    path = data / "binary" / FILES[name]
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            X, y = arrays["X"], arrays["y"].ravel()
    else:
        X, y = load_svmlight_file(str(path))
        X = X.toarray()
    return np.ascontiguousarray(X, dtype=float), (y == positive).astype(int)


def generate_binary(n_rows, n_features, share):
    """Normal features; the rows of the highest noisy scores are positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    score = X @ rng.standard_normal(n_features) / np.sqrt(n_features)
    score += rng.standard_normal(n_rows)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def binary_sets(data, tiny):
    """Loaders by name; one generated set without the folder, and for a smoke test."""
    if not tiny and (data / "binary").is_dir():
        return {name: partial(load_binary, data, name) for name in FILES}
    if not tiny:
        print(
            f"No folder binary in {data}: generated data only. Set --data.",
            file=sys.stderr,
        )
    return {"generated": partial(generate_binary, 500 if tiny else 20_000, 20, 0.1)}


def standardised_split(X, y, seed, **sizes):
    """X_train, y_train, X_test, y_test: stratified, 70/30 by default, scaled as X_train."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, stratify=y, random_state=seed, **(sizes or {"test_size": 0.3})
    )
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test
