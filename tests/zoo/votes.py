"""Duels and ballots: `bradley_terry` and `consensus_ranking`."""

import numpy as np
import pandas as pd
from scipy.special import expit

from lowrank_rank.votes import bradley_terry, consensus_ranking

from .shapes import honest, mistake

# Duels --------------------------------------------------------------------------------


def draw_pairs(rng, strengths, n):
    """Pairs of different items, and whether the first one won."""
    strengths = np.asarray(strengths, dtype=float)
    pairs = rng.integers(0, len(strengths), (n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    difference = strengths[pairs[:, 0]] - strengths[pairs[:, 1]]
    return pairs, rng.random(len(pairs)) < expit(difference)


def read(pairs, first_won, half_games=0.0):
    winner = np.where(first_won, "model_a", "model_b")
    duels = {"model_a": pairs[:, 0], "model_b": pairs[:, 1], "winner": winner}
    bradley_terry(pd.DataFrame(duels), half_games=half_games)


def with_item_first(pairs, first_won, item=0):
    """Write the duels of an item with the item first."""
    is_second = pairs[:, 1] == item
    pairs = np.where(is_second[:, np.newaxis], pairs[:, ::-1], pairs)
    return pairs, first_won ^ is_second


@honest("always first")
def duels_of_eight(rng):
    read(*draw_pairs(rng, rng.normal(0, 1, 8), 500), half_games=2.0)


@honest("always first")
def winners_first(rng):
    """The first column is the winner, and one item wins nearly always."""
    pairs, first_won = draw_pairs(rng, [4, 1, 0.5, 0, -0.5, -1], 400)
    pairs = np.where(first_won[:, np.newaxis], pairs, pairs[:, ::-1])
    read(pairs, np.ones(len(pairs), dtype=bool), half_games=2.0)


@honest("always first")
def items_in_the_order_of_names(rng):
    pairs, first_won = draw_pairs(rng, rng.normal(0, 0.5, 4), 400)
    is_sorted = pairs[:, 0] < pairs[:, 1]
    read(np.sort(pairs, axis=1), first_won == is_sorted)


@honest("always first")
def a_baseline_against_all(rng):
    """Others are second only: there are no duels between them."""
    pairs = np.column_stack([np.zeros(300, dtype=int), rng.integers(1, 5, 300)])
    read(pairs, rng.random(300) < 0.5)


@mistake("always first")
def new_model_first(rng):
    """Equal models, and the first one has an advantage."""
    pairs, _ = with_item_first(*draw_pairs(rng, np.zeros(4), 400))
    read(pairs, rng.random(len(pairs)) < 0.6)


# Cycles -------------------------------------------------------------------------------


@honest("cycles")
def few_duels_with_ties(rng):
    pairs, first_won = draw_pairs(rng, [1, 0.5, 0, -1], 120)
    winner = np.where(first_won, "model_a", "model_b")
    winner = np.where(rng.random(len(pairs)) < 0.2, "tie", winner)
    duels = {"model_a": pairs[:, 0], "model_b": pairs[:, 1], "winner": winner}
    bradley_terry(pd.DataFrame(duels), half_games=2)


@honest("cycles")
def a_slight_cycle_of_many_duels(rng):
    """Each item wins 53 % against the next: significant, and of no account."""
    wins = rng.binomial(4000, 0.53, 3)
    counts = np.zeros((3, 3), dtype=int)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        counts[one, other] = wins[one]
        counts[other, one] = 4000 - wins[one]
    bradley_terry(counts)


@mistake("cycles")
def cycles(rng):
    counts = [[0, 80, 20, 95], [20, 0, 80, 80], [80, 20, 0, 80], [5, 20, 20, 0]]
    bradley_terry(rng.poisson(counts))


# Other columns ------------------------------------------------------------------------


def long_table(rng, **columns):
    """A row for each of 15 voters and four items."""
    ranks = rng.permuted(np.tile(np.arange(1, 5), (15, 1)), axis=1).ravel()
    voter = np.repeat(np.arange(15), 4)
    table = {"voter": voter, "item": np.tile(list("abcd"), 15), "rank": ranks}
    return pd.DataFrame(table | columns)


@honest("other columns")
def weights_of_voters(rng):
    weight = np.repeat(rng.integers(1, 5, 15), 4)
    consensus_ranking(long_table(rng, weight=weight))


@honest("other columns")
def voters_by_name(rng):
    """The names of the columns are read, whatever their order and the index."""
    table = long_table(rng)[["rank", "item", "voter"]]
    consensus_ranking(table.set_index(table["voter"].map("voter {}".format)))


@mistake("other columns")
def number_of_voters_under_another_name(rng):
    consensus_ranking(long_table(rng, n=np.repeat(rng.integers(1, 5, 15), 4)))


# Marks of votes -----------------------------------------------------------------------


def orders_of(rng, names, **options):
    consensus_ranking([rng.permutation(names).tolist() for _ in range(12)], **options)


@honest("marks of votes")
def blank_is_an_item(rng):
    """Colours of paper, and a list of candidates with an empty line."""
    orders_of(rng, ["blank", "write-in", "red", "white"])


@honest("marks of votes")
def songs_about_skipping(rng):
    orders_of(rng, ["Skipped a beat", "Overvoted", "Undervote me", "Skip"])


@honest("marks of votes")
def all_items_are_named(rng):
    orders_of(rng, ["skipped", "played"], items=["skipped", "played"])


@mistake("marks of votes")
def marks_of_ballots(rng):
    orders_of(rng, ["Ann", "Bob", "overvote"])


# Ballots ------------------------------------------------------------------------------


def ranks_by_voters(rng, n=100):
    noisy = np.array([1.0, 0.7, 0.2, -0.3]) + rng.gumbel(size=(n, 4))
    ranks = np.argsort(np.argsort(-noisy, axis=1), axis=1) + 1.0
    return pd.DataFrame(ranks, columns=["price", "quality", "service", "brand"])


@honest("items that a vote leaves out")
def whole_ballots(rng):
    consensus_ranking(ranks_by_voters(rng), kind="ranks")


@honest("items that a vote leaves out")
def grades_with_gaps(rng):
    grades = 5 - ranks_by_voters(rng)
    consensus_ranking(grades.where(rng.random(grades.shape) < 0.7), kind="grades")


@honest("items that a vote leaves out")
def one_first_place_of_all(rng):
    orders = [["a", *rng.permutation(["b", "c", "d"])] for _ in range(15)]
    consensus_ranking(pd.DataFrame(orders), kind="orders")


@honest("items that a vote leaves out")
def short_orders_of_many_items(rng):
    orders = [rng.permutation(list("abcdef"))[:4].tolist() for _ in range(8)]
    orders[0][3] = None
    consensus_ranking(pd.DataFrame(orders), kind="orders", unranked="last")


@mistake("items that a vote leaves out")
def ballots_that_stop(rng):
    ranks = ranks_by_voters(rng)
    lengths = rng.integers(1, 3, len(ranks))
    consensus_ranking(ranks.where(ranks.le(lengths, axis=0)), kind="ranks")


@mistake("items that a vote leaves out")
def two_favourites(rng):
    ranks = ranks_by_voters(rng)
    consensus_ranking(ranks.where(ranks <= 2), kind="ranks")


@mistake("column that shares no item")
def district_beside_orders(rng):
    orders = [
        [rng.choice(["N", "S"]), *rng.permutation(list("abc"))] for _ in range(20)
    ]
    consensus_ranking(pd.DataFrame(orders), kind="orders")
