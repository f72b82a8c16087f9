"""Runs and judgements: `evaluate_run` and `compare_runs`."""

import numpy as np

from lowrank_rank.evaluation import compare_runs, evaluate_run

from .shapes import honest, mistake


def run_of(rng, strength=1.0):
    """Judgements of 30 documents for each of 20 queries, and a run of the best 15."""
    relevant = rng.random((20, 30)) < 0.15
    first = np.argsort(-(relevant + 0.5 * rng.normal(size=(20, 30))), axis=1)[:, :15]
    scores = strength * (relevant + 0.5 * rng.normal(size=(20, 30)))
    scores -= scores.min(axis=1, keepdims=True)
    documents = list(map(str, range(30)))
    qrels = {}
    run = {}
    for q in range(20):
        qrels[str(q)] = dict(
            zip(documents, relevant[q].astype(int).tolist(), strict=True)
        )
        run[str(q)] = {documents[d]: scores[q, d].item() for d in first[q]}
    return qrels, run


def evaluate(qrels, run):
    evaluate_run(qrels=qrels, run=run, measure="ndcg@10", zero_division=0)


# Reversed scores ----------------------------------------------------------------------


@honest("reversed scores")
def a_run(rng):
    evaluate(*run_of(rng))


@honest("reversed scores")
def a_run_of_noise(rng):
    evaluate(*run_of(rng, strength=0.0))


@mistake("reversed scores")
def a_run_of_distances(rng):
    evaluate(*run_of(rng, strength=-1.0))


# Unjudged top -------------------------------------------------------------------------


@honest("unjudged top")
def few_ratings_with_dislikes(rng):
    """A recommender: 12 of 300 items are rated, and a few hits are among the first."""
    qrels = {}
    run = {}
    for user in map(str, range(12)):
        rated = rng.choice(300, 12, replace=False)
        liked = (rng.random(12) < 0.7).astype(int)
        qrels[user] = dict(zip(map(str, rated), liked.tolist(), strict=True))
        scores = rng.random(300)
        scores[rated] += 0.3 * rng.random(12)
        first = np.argpartition(-scores, 20)[:20]
        run[user] = {str(i): scores[i].item() for i in first}
    evaluate(qrels, run)


@honest("unjudged top")
def purchases_alone(rng):
    """What was bought is known, three of 100 items, and nothing else."""
    qrels = {}
    run = {}
    for user in range(20):
        qrels[user] = dict.fromkeys(rng.integers(0, 100, 3).tolist(), 1)
        first = rng.permutation(100)[:15].tolist()
        run[user] = dict(zip(first, rng.random(15).tolist(), strict=True))
    evaluate(qrels, run)


@honest("unjudged top")
def judgements_of_an_older_run(rng):
    """A new run finds eight new documents above each of the old ones."""
    qrels, run = run_of(rng)
    for of_query in run.values():
        of_query.update({f"new{i}": 10.0 + i for i in range(8)})
    evaluate(qrels, run)


@mistake("unjudged top")
def no_first_document_is_judged(rng):
    qrels, run = run_of(rng)
    for of_query in run.values():
        of_query.update({f"new{i}": 10.0 + i for i in range(10)})
    evaluate(qrels, run)


@mistake("ids that nearly meet")
def lost_zeros(rng):
    qrels, run = run_of(rng)
    qrels = {q: {f"{int(d):04d}": g for d, g in of.items()} for q, of in qrels.items()}
    qrels["0"]["7"] = 0
    evaluate(qrels, run)


# Depth --------------------------------------------------------------------------------


def compare_depths(rng, short, long, measure):
    """Two runs at random; `short` and `long` are numbers of documents of each query."""
    qrels = {}
    runs = {"short": {}, "long": {}}
    for q in range(10):
        qrels[q] = dict.fromkeys(rng.integers(0, 15, 4).tolist(), 1)
        runs["short"][q] = rng.permutation(15)[: short[q]].tolist()
        runs["long"][q] = rng.permutation(15)[: long[q]].tolist()
    compare_runs(qrels, runs, measure=measure, zero_division=0)


@honest("depth")
def depths_beyond_k(rng):
    compare_depths(rng, [4] * 10, [12] * 10, "ndcg@4")


@honest("depth")
def a_search_for_all_words(rng):
    """A boolean search finds what it finds, and at most six."""
    found = np.minimum(rng.geometric(0.2, 10), 6)
    compare_depths(rng, found, [12] * 10, "map")


@honest("depth")
def depths_that_hardly_differ(rng):
    compare_depths(rng, [8] * 10, [12] * 10, "map")


@mistake("depth")
def depths_of_map(rng):
    compare_depths(rng, [4] * 10, [12] * 10, "map")
