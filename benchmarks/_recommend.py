"""Recommend unseen items: the recipe of the guide, EASE and popularity."""

import numpy as np

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.metrics import measure_score

from ._sets import read_movielens


def read_likes(data, least=10):
    """What each user rated and liked (4 and more), of items with `least` ratings."""
    ratings, _ = read_movielens(data)
    counts = ratings["movieId"].value_counts()
    ratings = ratings[ratings["movieId"].isin(counts.index[counts >= least])]
    wide = ratings.pivot_table(index="userId", columns="movieId", values="rating")
    rated = wide.notna().to_numpy()
    return rated, wide.to_numpy() >= 4.0


def recipe(likes):
    """Scores from histories, with another fifth of each history hidden in turn."""
    hidden = np.random.default_rng(0).integers(5, size=likes.shape)
    X = np.vstack([likes * (hidden != i) for i in range(5)])
    model = LowRankSurrogateRanker(
        target_loss="precision@10", estimator="ridge", alpha=0.3
    )
    return model.fit(X, np.tile(likes, (5, 1))).predict


def ease(likes, penalty=200.0):
    """Scores of the linear autoencoder without self-similarity (Steck 2019)."""
    P = np.linalg.inv(likes.T @ likes + penalty * np.eye(likes.shape[1]))
    B = -P / np.diag(P)
    np.fill_diagonal(B, 0.0)
    return lambda histories: histories @ B


def popularity(likes):
    """The number of users who like an item, the same for all."""
    counts = likes.sum(axis=0)
    return lambda histories: np.tile(counts, (len(histories), 1))


RECOMMENDERS = {"recipe": recipe, "EASE": ease, "popularity": popularity}


def found_likes(scores, seen, held_out):
    """Share of the held-out likes, of ten at most, in the first ten unseen items."""
    labels = np.where(seen, np.nan, held_out)
    precision = measure_score("precision@10", labels, scores, average=None)
    n_likes = held_out.sum(axis=1)
    share = np.full(len(labels), np.nan)
    np.divide(10.0 * precision, np.minimum(10, n_likes), out=share, where=n_likes > 0)
    return share


def found_by_each(data, seed=0, n_items=None, least=10):
    """Shares of each user and recommender: users of the training data, and new users.

    A fifth of the likes of each user is held out. New users are a fifth of all, and
    their histories are not in the training data. `n_items` draws likes instead.
    """
    if n_items is None:
        rated, liked = read_likes(data, least)
    else:
        rated, liked = draw_likes(n_items)
    rng = np.random.default_rng(seed)
    held_out = liked & (rng.random(liked.shape) < 0.2)
    history = (liked & ~held_out).astype(float)
    seen = rated & ~held_out
    is_new = rng.random(len(liked)) < 0.2
    tables = {"users of the training data": {}, "new users": {}}
    for name, fit in RECOMMENDERS.items():
        scores = fit(history)(history)
        tables["users of the training data"][name] = found_likes(scores, seen, held_out)
        scores = fit(history[~is_new])(history[is_new])
        found = found_likes(scores, seen[is_new], held_out[is_new])
        tables["new users"][name] = found
    return tables


def draw_likes(n_items):
    """Likes of 200 users with two tastes, for a smoke test."""
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(200, 2)) @ rng.normal(size=(2, n_items))
    rated = rng.random(taste.shape) < 0.5
    return rated, rated & (taste > 0.5)
