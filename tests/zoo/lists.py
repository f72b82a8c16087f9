"""What a row is: lists, grades and ids, as `fit` and `ranking_target` read them."""

import numpy as np

from lowrank_rank import (
    LowRankSurrogateRanker,
    PrecisionAtKPerceptron,
    ranking_target,
)

from .scores import lists_of
from .shapes import honest, mistake


def fit(rng, y, qid=None):
    X = rng.normal(size=(len(y), 2))
    LowRankSurrogateRanker(target_loss="ndcg", estimator="ridge").fit(X, y, qid=qid)


# Single items -------------------------------------------------------------------------


@honest("single items")
def short_lists(rng):
    """Most sessions show one document."""
    qid = lists_of(rng, 40, 1, 2)
    fit(rng, rng.integers(0, 3, len(qid)), qid)


@honest("single items")
def one_list_of_a_few_documents(rng):
    fit(rng, np.arange(5), np.zeros(5))


@mistake("single items")
def row_numbers_as_ids(rng):
    fit(rng, rng.integers(0, 3, 100), np.arange(100))


@mistake("single items")
def times_as_ids(rng):
    """Two in a hundred payments fall into the same second."""
    fit(rng, rng.integers(0, 3, 100), np.r_[0, np.arange(99)])


# One list -----------------------------------------------------------------------------


@honest("one list")
def one_list_of_two_hundred(rng):
    fit(rng, rng.integers(0, 3, 200))


@honest("one list")
def one_list_with_its_id(rng):
    fit(rng, ranking_target(rng.integers(0, 3, 400), np.zeros(400)))


@honest("one list")
def the_top_of_all_rows(rng):
    X = rng.normal(size=(250, 2))
    y = 1 * (X[:, 0] + rng.normal(size=250) > 1)
    PrecisionAtKPerceptron(surrogate="avg", solver="perceptron", max_iter=1).fit(X, y)


@mistake("many rows without ids")
def forgotten_ids(rng):
    fit(rng, rng.integers(0, 3, 400))


# Equal grades -------------------------------------------------------------------------


@honest("equal grades")
def few_sessions_with_a_click(rng):
    qid = np.repeat(np.arange(40), 10)
    y = np.zeros(400)
    y[rng.choice(400, 2, replace=False)] = 1
    fit(rng, y, qid)


@honest("equal grades")
def many_equal_lists(rng):
    """Queries of the shop's own name: all that is shown is relevant."""
    qid = np.repeat(np.arange(40), 10)
    y = np.where(qid < 35, 2, rng.integers(0, 3, 400))
    fit(rng, y, qid)


@mistake("equal grades")
def grades_of_queries(rng):
    """A grade of each query, such as how hard it is, in place of the documents'."""
    qid = np.repeat(np.arange(40), 10)
    fit(rng, rng.integers(0, 3, 40)[qid], qid)


# Swapped ids --------------------------------------------------------------------------


@honest("swapped ids")
def sorted_stars_of_users(rng):
    user = rng.integers(0, 30, 400)
    ranking_target(np.sort(rng.integers(1, 6, 400)), user)


@honest("swapped ids")
def sales_of_days_in_five_shops(rng):
    """Counts of sales, as many as there are ids, in the order of the days."""
    shop = np.tile(np.arange(5), 60)
    ranking_target(rng.poisson(40, 300), shop)


@honest("swapped ids")
def best_sellers_first(rng):
    department = rng.integers(0, 8, 300)
    ranking_target(np.sort(rng.integers(0, 100, 300))[::-1], department)


@mistake("swapped ids")
def ids_for_grades(rng):
    qid = np.repeat(np.arange(40), 10)
    ranking_target(qid, rng.integers(0, 5, 400))
