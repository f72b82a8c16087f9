"""Tables of values: `compare_values`, `mean_intervals` and a judge."""

import numpy as np
import pandas as pd

from lowrank_rank.evaluation import (
    compare_values,
    judged_mean_intervals,
    mean_intervals,
)

from .shapes import honest, mistake

# Values of tasks: no rule can know their unit -----------------------------------------


@honest()
def human_normalised_scores(rng):
    random, new = rng.uniform(0, 0.2, 26), rng.lognormal(0.6, 1, 26)
    compare_values({"random": random, "new": new})


@honest()
def accuracies(rng):
    compare_values({"a": rng.random(26), "b": rng.random(26)})


# Undefined queries --------------------------------------------------------------------


def means_with_gaps(rng, is_undefined, names=("new", "old")):
    values = np.where(is_undefined, np.nan, rng.random(is_undefined.shape))
    mean_intervals(pd.DataFrame(values, columns=names))


@honest("undefined queries")
def equal_rates_undefined(rng):
    means_with_gaps(rng, rng.random((300, 2)) < 0.15)


@honest("undefined queries")
def queries_without_a_relevant_document(rng):
    """Undefined for both systems; a few sessions of one system are lost, too."""
    is_undefined = np.repeat(rng.random((300, 1)) < 0.2, 2, axis=1)
    is_undefined[rng.choice(300, 4, replace=False), 1] = True
    means_with_gaps(rng, is_undefined)


@honest("undefined queries")
def measures_of_one_system(rng):
    """AUC is undefined where all documents are relevant."""
    is_undefined = rng.random((300, 2)) < [0.0, 0.3]
    means_with_gaps(rng, is_undefined, names=("ndcg@10", "auc"))


@mistake("undefined queries")
def more_undefined(rng):
    means_with_gaps(rng, rng.random((300, 2)) < [0.15, 0.35])


# Chosen queries -----------------------------------------------------------------------


def judged(rng, chosen, judge):
    """People agree with the judge, with noise."""
    people = np.clip(judge + rng.normal(0, 0.1, judge.shape), 0, 1)
    rest = np.setdiff1d(np.arange(len(judge)), chosen)
    judged_mean_intervals(people[chosen], judge[chosen], judge[rest])


@honest("chosen queries")
def people_at_random(rng):
    judged(rng, rng.permutation(500)[:100], rng.beta(2, 2, 500))


@honest("chosen queries")
def the_first_queries_of_a_log(rng):
    """Values of 0, .5 and 1, many of them equal."""
    judged(rng, np.arange(60), rng.integers(0, 3, 300) / 2)


@honest("chosen queries")
def three_systems_at_random(rng):
    hard = rng.beta(2, 2, (400, 1))
    judge = np.clip(hard + rng.normal(0, 0.1, (400, 3)), 0, 1)
    judged(rng, rng.permutation(400)[:80], judge)


@mistake("chosen queries")
def people_of_the_worst(rng):
    judge = rng.beta(2, 2, 500)
    judged(rng, np.argsort(judge)[:100], judge)


@mistake("chosen queries", 0.8)
def people_of_whole_families(rng):
    """Queries of a family are alike, and the sample has five families of 25."""
    judge = np.repeat(rng.beta(2, 2, 25), 20)
    family = np.arange(500) // 20
    judged(rng, np.flatnonzero(np.isin(family, rng.permutation(25)[:5])), judge)
