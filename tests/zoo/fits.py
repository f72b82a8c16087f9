"""Queries of a fit, columns of a frame, and scorers in a search."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import (
    LowRankSurrogateRanker,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
)
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split

from .shapes import honest, mistake


def linear():
    return LowRankSurrogateRanker(target_loss="ndcg", estimator="ridge")


def tree():
    """A model that takes gaps."""
    return WrappedRanker(DecisionTreeRegressor(max_depth=2))


def documents(rng, n=16, column=None, gaps=0.0, text=False):
    """Features and grades of n lists of twelve documents, and their ids."""
    qid = np.repeat(np.arange(n), 12)
    X = rng.normal(size=(len(qid), 4))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=len(qid))), 0, 3)
    X[rng.random(X.shape) < gaps] = np.nan
    if column is not None:
        X = np.column_stack([np.tile(column, n), X])
    if text:
        X = pd.DataFrame(X).assign(shop=rng.choice(list("abcdef"), len(qid)))
    return X, y, qid


@cache
def fitted(gaps=0.0):
    """A model that is fitted once, to other data than those of the draws."""
    X, y, qid = documents(np.random.default_rng(10**6), gaps=gaps)
    return (tree() if gaps else linear()).fit(X, y, qid=qid)


def split(X, qid):
    query_train_test_split(X, qid=qid, random_state=0)


# Copied queries -----------------------------------------------------------------------


def score_others(rng, gaps=0.0):
    X, y, qid = documents(rng, gaps=gaps)
    make_ranking_scorer("ndcg@10")(fitted(gaps), X, y, qid=qid + 1000)


@honest("copied queries")
def other_queries(rng):
    score_others(rng)


@honest("copied queries")
def nanoseconds(rng):
    X, _, qid = documents(rng, column=rng.integers(18000, 20000, 12) * 86400 * 10**9)
    split(X, qid)


@honest("copied queries")
def hashes_of_64_bits(rng):
    X, _, qid = documents(rng, column=rng.integers(2**62, 2**63, 12).astype(float))
    split(X, qid)


@honest("copied queries")
def other_queries_with_gaps(rng):
    score_others(rng, gaps=0.3)


@honest("copied queries")
def pairs_of_few_grades(rng):
    split(rng.integers(0, 4, (400, 3)).astype(float), np.repeat(np.arange(200), 2))


@honest("copied queries")
def the_same_items_in_every_list(rng):
    X = np.tile(rng.normal(size=(10, 4)), (100, 1))
    split(X, np.repeat(np.arange(100), 10))


@honest("copied queries")
def lists_of_a_catalogue(rng):
    rows = rng.permuted(np.tile(np.arange(200), (50, 1)), axis=1)[:, :10].ravel()
    split(rng.normal(size=(200, 4))[rows], np.repeat(np.arange(50), 10))


@honest("copied queries")
def frames_of_text(rng):
    X, _, qid = documents(rng, text=True)
    split(X, qid)


@honest("copied queries")
def positions_of_two_retrievers(rng):
    first = np.tile(np.arange(10), (100, 1))
    second = rng.permuted(first, axis=1)
    split(
        np.column_stack([first.ravel(), second.ravel()]), np.repeat(np.arange(100), 10)
    )


@honest("copied queries")
def half_of_the_list_again(rng):
    """A query that is written in two ways finds partly the same documents."""
    X, _, qid = documents(rng)
    again = X.copy()
    is_new = np.arange(len(qid)) % 12 >= 6
    again[is_new] = rng.normal(size=(is_new.sum(), 4))
    split(np.concatenate([X, again]), np.append(qid, qid + 100))


def split_copies(rng, gaps=0.0, reordered=False, text=False):
    X, _, qid = documents(rng, gaps=gaps, text=text)
    order = np.arange(len(qid))
    if reordered:
        order = np.lexsort((rng.random(len(qid)), qid))
    twice = np.concatenate([np.arange(len(qid)), order])
    X = pd.DataFrame(X).iloc[twice].reset_index(drop=True) if text else X[twice]
    split(X, np.append(qid, qid + 100))


@mistake("copied queries")
def copied_sessions(rng):
    split_copies(rng)


@mistake("copied queries")
def copied_sessions_with_gaps(rng):
    split_copies(rng, gaps=0.1)


@mistake("copied queries")
def copied_sessions_in_another_order(rng):
    split_copies(rng, reordered=True)


@mistake("copied queries")
def copied_sessions_with_text(rng):
    split_copies(rng, text=True)


# Training queries ---------------------------------------------------------------------


def compare_on(model, X, y, qid):
    compare_rankers(y, {"model": model}, X=X, qid=qid, measure="precision@5")


@honest("training queries")
def test_queries_numbered_again(rng):
    """The test file counts its queries from 0, too."""
    X, y, qid = documents(rng)
    compare_on(fitted(), X, y, qid)


@honest("training queries")
def the_next_week_of_the_same_users(rng):
    """Features of the user stay, those of the documents are new."""
    user = np.repeat(rng.normal(size=(16, 2)), 12, axis=0)
    X, y, qid = documents(rng)
    model = linear().fit(np.hstack([user, X]), y, qid=qid)
    X, y, qid = documents(rng)
    compare_on(model, np.hstack([user, X]), y, qid)


@mistake("training queries")
def training_queries(rng):
    X, y, qid = documents(rng)
    compare_on(linear().fit(X, y, qid=qid), X, y, qid)


@mistake("training queries")
def training_queries_with_gaps(rng):
    X, y, qid = documents(rng, gaps=0.1)
    compare_on(tree().fit(X, y, qid=qid), X, y, qid)


# Long texts ---------------------------------------------------------------------------


def fit_columns(rng, draw):
    """Fit 20 columns of texts at once: each is a draw."""
    texts = {f"text{j}": draw(60) for j in range(20)}
    stack = StackingRanker(weights={"linear": 1.0, "trees": 1.0, "forest": 0.0})
    stack.set_params(trees__max_iter=1)
    stack.fit(pd.DataFrame(texts), rng.integers(0, 3, 60), qid=np.arange(60) // 10)


@honest("long texts", draws_a_call=20)
def names_of_shops(rng):
    """Few categories of two words."""
    names = [f"shop {i}" for i in range(12)]
    fit_columns(rng, lambda n: rng.choice(names, n))


@honest("long texts", draws_a_call=20)
def codes_of_products(rng):
    """Many categories of one word."""
    fit_columns(rng, lambda n: [f"p{i}" for i in rng.integers(0, 10**6, n)])


@mistake("long texts", draws_a_call=20)
def titles(rng):
    words = ["red", "blue", "old", "new", "shoe", "hat", "coat", "bag"]
    fit_columns(rng, lambda n: list(map(" ".join, rng.choice(words, (n, 5)))))


# Scorers ------------------------------------------------------------------------------


def rows_of_days(rng):
    X = rng.normal(size=(120, 2))
    return X, 1 * (X[:, 0] + rng.normal(size=120) > 1)


@cache
def fitted_classifier():
    """A plain classifier that is fitted once, to other rows than those of the draws."""
    return LogisticRegression().fit(*rows_of_days(np.random.default_rng(10**6)))


def score_days(rng, scoring):
    scoring(fitted_classifier(), *rows_of_days(rng))


@honest()
def share_of_all_rows(rng):
    score_days(rng, make_ranking_scorer("precision@10%"))


@honest()
def auc_of_all_rows(rng):
    score_days(rng, make_ranking_scorer("auc"))


@mistake("count of the rows of a fold")
def k_a_day(rng):
    score_days(rng, make_ranking_scorer("precision@5"))


@mistake("one list")
def a_measure_in_make_scorer(rng):
    X, y, qid = documents(rng, 36)
    cross_val_score(
        linear(),
        X,
        y,
        cv=list(GroupKFold(2).split(X, y, qid)),
        params={"qid": qid},
        scoring=make_scorer(ndcg_score),
        error_score="raise",
    )
