"""Scores and labels of documents: `compare_rankers`."""

import numpy as np
from scipy.special import expit

from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.target_losses import MeanAveragePrecision

from .shapes import honest, mistake

#: Rankers that one call compares: each is a draw.
N_RANKERS = 20


def lists_of(rng, n, low, high):
    """Ids of lists of random lengths."""
    return np.repeat(np.arange(n), rng.integers(low, high + 1, n))


def log(rng, n=40, low=5, high=20, share=0.15):
    """Ids, and clicks at random."""
    qid = lists_of(rng, n, low, high)
    return qid, 1.0 * (rng.random(len(qid)) < share)


def skilled(rng, y, skill):
    """Scores of a model: the label times its skill, and noise."""
    return skill * y + rng.normal(size=y.shape)


def compare(y, qid, draw, measure="precision@1"):
    """Compare twenty rankers whose scores `draw` returns."""
    rankers = {f"ranker {i}": draw() for i in range(N_RANKERS)}
    compare_rankers(y, rankers, qid=qid, measure=measure, baseline="ranker 0")


# Reversed scores ----------------------------------------------------------------------


@honest("reversed scores", draws_a_call=N_RANKERS)
def click_log(rng):
    qid, y = log(rng)
    compare(y, qid, lambda: expit(skilled(rng, y, 0.3)))


@honest("reversed scores", draws_a_call=N_RANKERS)
def random_model(rng):
    qid, y = log(rng, 100)
    compare(y, qid, lambda: rng.random(len(y)))


@honest("reversed scores", draws_a_call=N_RANKERS)
def random_model_rare_relevance(rng):
    qid, y = log(rng, 30, 50, 50, 0.03)
    compare(y, qid, lambda: rng.random(len(y)))


@honest("reversed scores", draws_a_call=N_RANKERS)
def random_model_of_twelve_queries(rng):
    qid, y = log(rng, 12, 8, 20, 0.2)
    compare(y, qid, lambda: rng.random(len(y)))


@honest("reversed scores", draws_a_call=N_RANKERS)
def one_relevant_of_twenty(rng):
    """Values are skewed: most lie below the random order."""
    y = np.zeros((10, 20))
    y[:, 0] = 1
    compare(y, None, lambda: rng.random(y.shape))


@honest("reversed scores", draws_a_call=N_RANKERS)
def fixed_items_with_gaps(rng):
    y = rng.integers(0, 5, (40, 8)).astype(float)
    y[rng.random(y.shape) < 0.3] = np.nan
    compare(y, None, lambda: rng.random(y.shape), measure="ndcg@5")


@mistake("reversed scores", draws_a_call=N_RANKERS)
def distances(rng):
    qid, y = log(rng)
    compare(y, qid, lambda: np.exp(-skilled(rng, y, 1)))


@mistake("reversed scores", 0.8)
def distances_of_twelve_queries(rng):
    qid, y = log(rng, 12, 8, 20, 0.2)
    compare_rankers(y, {"d": np.exp(-skilled(rng, y, 1))}, qid=qid)


@mistake("reversed scores", draws_a_call=N_RANKERS)
def ranks(rng):
    y = 1.0 * (rng.random((40, 10)) < 0.15)
    compare(y, None, lambda: np.argsort(np.argsort(-skilled(rng, y, 1))) + 1)


@mistake("reversed scores", draws_a_call=N_RANKERS)
def dearest_first(rng):
    """A right baseline, in a shop where people avoid high prices.

    Its data are those of distances: no rule can tell, and the warning asks.
    """
    qid = lists_of(rng, 40, 8, 20)
    price = rng.lognormal(2, 1, len(qid))
    y = 1.0 * (rng.random(len(qid)) < expit(1 - np.log(price)))
    compare(y, qid, lambda: price * rng.lognormal(0, 0.1, len(qid)))


# Two scores ---------------------------------------------------------------------------


@honest("two scores", draws_a_call=N_RANKERS)
def whole_scores_0_to_20(rng):
    qid, y = log(rng)
    compare(
        y,
        qid,
        lambda: np.clip(np.round(3 * skilled(rng, y, 0.5) + 8), 0, 20).astype(int),
    )


@honest("two scores", draws_a_call=N_RANKERS)
def binary_feature_of_floats(rng):
    qid, y = log(rng)
    compare(y, qid, lambda: 1.0 * (skilled(rng, y, 0.5) > 1))


@honest("two scores", draws_a_call=N_RANKERS)
def binary_feature_of_booleans(rng):
    qid, y = log(rng)
    compare(y, qid, lambda: skilled(rng, y, 0.5) > 1)


@honest("two scores", draws_a_call=N_RANKERS)
def votes_in_pairs(rng):
    """In lists of two documents a vote is all that a judge says."""
    qid = np.repeat(np.arange(60), 2)
    better = rng.integers(0, 2, 60)

    def votes():
        vote = np.where(rng.random(60) < 0.7, better, 1 - better)
        return np.column_stack([vote, 1 - vote]).ravel()

    compare(np.column_stack([better, 1 - better]).ravel(), qid, votes)


@honest("two scores")
def the_clicks_themselves(rng):
    """The best order of a click log, as the upper end of a table."""
    qid, y = log(rng)
    clicks = y.astype(int)
    compare_rankers(clicks, {"best": clicks}, qid=qid, measure="precision@1")


@honest("two scores", draws_a_call=N_RANKERS)
def small_counts(rng):
    """Most documents were bought once or never."""
    qid, y = log(rng)
    compare(y, qid, lambda: rng.poisson(0.2 + 0.3 * y))


@mistake("two scores", draws_a_call=N_RANKERS)
def classes_of_integers(rng):
    qid, y = log(rng)
    compare(y, qid, lambda: (skilled(rng, y, 2) > 1).astype(int))


@mistake("two scores", draws_a_call=N_RANKERS)
def classes_of_booleans(rng):
    """The classes of a classifier have the type of its labels."""
    qid, y = log(rng)
    compare(y > 0, qid, lambda: skilled(rng, y, 2) > 1)


# All relevant -------------------------------------------------------------------------


def compare_on_grades(rng, grades, measure):
    qid = lists_of(rng, 30, 5, 15)
    y = rng.choice(grades, len(qid)).astype(float)
    compare_rankers(y, {"a": skilled(rng, y, 0.5)}, qid=qid, measure=measure)


@honest("all relevant")
def stars(rng):
    compare_on_grades(rng, np.arange(1, 6), "ndcg@10")


@honest("all relevant")
def counts_from_one(rng):
    compare_on_grades(rng, np.arange(1, 30), "ndcg@10")


@honest("all relevant")
def four_stars_are_relevant(rng):
    compare_on_grades(rng, np.arange(1, 6), MeanAveragePrecision(relevance_threshold=4))


@honest("all relevant")
def half_stars_from_zero(rng):
    compare_on_grades(rng, np.arange(0, 5.5, 0.5), "map")


@mistake("all relevant")
def stars_as_relevance(rng):
    compare_on_grades(rng, np.arange(1, 6), "map")


# Ids in blocks: no rule can know whether the rows of an id are one list ---------------


def compare_blocks(rng, qid, y=None):
    if y is None:
        y = rng.integers(0, 3, len(qid))
    compare_rankers(y, {"a": skilled(rng, y, 0.5)}, qid=qid, measure="precision@1")


def compare_in_order_of(rng, key):
    qid = lists_of(rng, 30, 5, 15)
    y = rng.integers(0, 3, len(qid))
    order = np.argsort(key(y), kind="stable")
    compare_blocks(rng, qid[order], y[order])


@honest()
def sorted_by_label(rng):
    compare_in_order_of(rng, lambda y: -y)


@honest()
def two_dates_of_the_same_users(rng):
    compare_in_order_of(rng, lambda y: rng.integers(0, 2, len(y)))


@honest()
def twelve_months(rng):
    compare_in_order_of(rng, lambda y: rng.integers(0, 12, len(y)))


@honest()
def shuffled(rng):
    compare_in_order_of(rng, lambda y: rng.random(len(y)))


@honest()
def two_retrievers(rng):
    compare_blocks(rng, np.tile(np.repeat(np.arange(25), 10), 2))


@honest()
def two_weeks_of_partly_the_same_users(rng):
    users = [np.sort(rng.choice(100, n, replace=False)) for n in (75, 90)]
    compare_blocks(rng, np.repeat(np.concatenate(users), 3))
