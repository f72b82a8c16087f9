"""Recommend unseen items: the recipes of the guide, EASE, SVD, popularity and means."""

import numpy as np
from scipy.sparse.linalg import svds

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


def read_histories(data, least=100):
    """Ratings (users, items), NaN where unknown, of items with `least` ratings."""
    ratings, _ = read_movielens(data)
    counts = ratings["movieId"].value_counts()
    ratings = ratings[ratings["movieId"].isin(counts.index[counts >= least])]
    wide = ratings.pivot_table(index="userId", columns="movieId", values="rating")
    return wide.to_numpy()[wide.notna().sum(axis=1) >= 10]


def split_ratings(ratings):
    """Means of items, ratings less the mean of the user's residuals, and histories."""
    item = np.nanmean(ratings, axis=0)
    user = np.nanmean(ratings - item, axis=1, keepdims=True)
    taste = ratings - user
    return item, taste, np.nan_to_num(taste - item)


def recipe_of_ratings(ratings, copies=5):
    """Scores of all items, with another fifth of each history hidden in turn."""
    _, taste, history = split_ratings(ratings)
    hidden = np.random.RandomState(0).randint(copies, size=ratings.shape)
    X = np.vstack([history * (hidden != i) for i in range(copies)])
    y = np.vstack([np.where(hidden == i, taste, np.nan) for i in range(copies)])
    model = LowRankSurrogateRanker(target_loss="dcg@10", estimator="ridge", alpha="gcv")
    return model.fit(X, y - np.nanmin(y)).predict(history)


def item_means(ratings):
    """The mean of each item, less the users' means: the same for all users."""
    _, taste, _ = split_ratings(ratings)
    return np.tile(np.nanmean(taste, axis=0), (len(ratings), 1))


def svd_of_residuals(ratings, rank=5):
    """Item means plus the best approximation of rank 5 of the residuals, 0 unknown."""
    _, _, history = split_ratings(ratings)
    U, singular, V = svds(history, k=rank, random_state=0)
    return item_means(ratings) + U * singular @ V


RATERS = {
    "item means": item_means,
    "recipe": recipe_of_ratings,
    "SVD": svd_of_residuals,
}


def scores_of_ratings(data, seed=0, tiny=False):
    """NDCG@5 of a fifth of the ratings of each user, held out, by recommender."""
    rng = np.random.default_rng(seed)
    if tiny:
        scores = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 20))
        ratings = np.clip(np.round(3.0 + scores), 0.0, 5.0)
    else:
        ratings = read_histories(data)
    is_held_out = rng.random(ratings.shape) < 0.2
    known = np.where(is_held_out, np.nan, ratings)
    is_kept = (~np.isnan(known)).any(axis=1)
    truth = np.where(is_held_out, ratings, np.nan)[is_kept]
    return {
        name: measure_score("ndcg@5", truth, scores(known[is_kept]), average=None)
        for name, scores in RATERS.items()
    }
