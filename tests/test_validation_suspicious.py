"""Practice that gives wrong numbers is named; practice that is right is not."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    SuspiciousDataWarning,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_letor, make_ranking
from lowrank_rank.evaluation import (
    compare_judged,
    compare_rankers,
    compare_runs,
    mean_intervals,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split
from lowrank_rank.votes import bradley_terry

from .internals import RULES

SUSPICIOUS = {
    name for name, rule in RULES.items() if rule.category is SuspiciousDataWarning
}

DATA = Path(os.environ.get("LOWRANK_RANK_DATA", "no_data"))
PIPELINE = make_pipeline(StandardScaler(), OrderPreservingRegressor())
N_DRAWS = int(os.environ.get("LOWRANK_RANK_DRAWS", "20"))
N_WRONG = max(N_DRAWS // 2, 1)  # a wrong practice is to be named nearly always


def rules_of(practice, seed):
    """The rules that warn of a practice."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        practice(seed)
    return {
        str(one.message).partition(":")[0]
        for one in caught
        if issubclass(one.category, SuspiciousDataWarning)
    }


def documents(seed, n_lists=100, **kwargs):
    """Documents of queries, and which of them are for training."""
    X, y, qid = make_ranking(n_lists=n_lists, random_state=seed, **kwargs)
    return X, y, qid, qid < n_lists // 2


def linear_scores(X, y, qid, train):
    return OrderPreservingRegressor().fit(X[train], y[train], qid=qid[train]).predict(X)


# Practices, wrong and right: each ends with the call that a user would make ----------


def runs_of_two_depths(seed, depth=10, k=None, n_found=40):
    rng = np.random.RandomState(seed)
    qrels, new, old = {}, {}, {}
    for q in range(40):
        relevant = rng.uniform(size=n_found) < 0.1
        qrels[q] = {d: int(one) for d, one in enumerate(relevant)}
        n_retrieved = rng.randint(1, n_found + 1) if depth is None else n_found
        order = np.argsort(-(relevant + 0.4 * rng.normal(size=n_found)))
        new[q] = [int(d) for d in order[: depth or n_retrieved]]
        order = np.argsort(-(relevant + 0.5 * rng.normal(size=n_found)))
        old[q] = [int(d) for d in order]
    measure = "ndcg" if k is None else f"ndcg@{k}"
    compare_runs(qrels, {"new": new, "old": old}, measure=measure)


def stars(seed, lowest=1, measure="map"):
    X, y, qid, train = documents(seed)
    scores = {
        "new": linear_scores(X, y, qid, train),
        "old": linear_scores(X[:, ::2], y, qid, train),
    }
    compare_rankers(y + lowest, scores, qid=qid, measure=measure)


def fit_to_stars(seed, lowest=1, target_loss="map"):
    X, y, qid, _ = documents(seed, n_lists=20)
    OrderPreservingRegressor(target_loss=target_loss).fit(X, y + lowest, qid=qid)


def stars_of_items(seed, lowest=1):
    rng = np.random.RandomState(seed)
    stars = rng.randint(0, 5, (60, 8)) + lowest
    scores = {"new": stars + rng.normal(size=stars.shape)}
    compare_rankers(stars, scores, measure="map", zero_division=0)


def scored_stars(seed, lowest=1, measure="map"):
    X, y, qid, _ = documents(seed, n_lists=20)
    ranker = OrderPreservingRegressor(target_loss="ndcg").fit(X, y + lowest, qid=qid)
    scorer = make_ranking_scorer(["ndcg@10", measure])
    scorer(ranker, X, ranking_target(y + lowest, qid))


def distances(seed):
    X, y, qid, train = documents(seed)
    scores = linear_scores(X, y, qid, train)
    compare_rankers(y, {"new": scores.max() - scores, "old": X[:, 0]}, qid=qid)


def ranks(seed):
    X, y, qid, train = documents(seed)
    ranker = OrderPreservingRegressor().fit(X[train], y[train], qid=qid[train])
    scores = {"new": ranker.rank(X, qid=qid), "old": X[:, 0]}
    compare_rankers(y, scores, qid=qid)


def runs_of_distances(seed, strength=-1.0):
    """Runs of the best 30 of 60 documents; those of noise have scores >= 0, too."""
    rng = np.random.RandomState(seed)
    qrels = {}
    runs = {"new": {}, "noise": {}}
    for q in range(40):
        relevant = rng.uniform(size=60) < 0.1
        qrels[q] = {d: int(one) for d, one in enumerate(relevant)}
        found = np.argsort(-(relevant + 0.5 * rng.normal(size=60)))[:30]
        similarity = strength * (relevant + 0.5 * rng.normal(size=60))
        score = similarity - similarity.min()
        runs["new"][q] = {int(d): float(score[d]) for d in found}
        runs["noise"][q] = {int(d): float(rng.uniform()) for d in found}
    compare_runs(qrels, runs, measure="ndcg@10", zero_division=0)


def runs_with_unjudged_documents(seed):
    """The judgements are of an old run; a new one finds other documents above them."""
    rng = np.random.RandomState(seed)
    qrels = {}
    runs = {"old": {}, "new": {}}
    for q in range(50):
        grades = np.zeros(300)
        by_words = np.arange(300) < rng.randint(2, 15)
        by_meaning = (np.arange(300) >= 100) & (np.arange(300) < 110)
        grades[by_words | by_meaning] = 1
        of_old = 3 * by_words + rng.normal(size=300) + 5
        of_new = 5 * by_meaning + 2 * by_words + rng.normal(size=300) + 5
        for name, score in {"old": of_old, "new": of_new}.items():
            first = np.argsort(-score)[:20].tolist()
            runs[name][q] = {d: float(score[d]) for d in first}
        qrels[q] = {d: int(grades[d]) for d in runs["old"][q]}
    compare_runs(qrels, runs, measure="ndcg@10", zero_division=0)


def items_with_gaps(seed, sign=-1):
    """Fixed items, a third of whose grades are unknown, under distances or scores."""
    rng = np.random.RandomState(seed)
    grades = rng.randint(0, 5, (60, 8)).astype(float)
    scores = sign * (grades + rng.normal(size=grades.shape))
    grades[rng.uniform(size=grades.shape) < 0.3] = np.nan
    grades[0] = np.nan
    noise = rng.uniform(size=grades.shape)
    scores = {"new": scores - scores.min(), "noise": noise}
    compare_rankers(grades, scores, measure="ndcg@5", zero_division=0)


def useful_and_useless_scores(seed):
    X, y, qid, train = documents(seed, noise=3.0)
    rng = np.random.RandomState(seed)
    scores = {
        "model": linear_scores(X, y, qid, train),
        "weak model": linear_scores(X[:, [seed % 20]], y, qid, train),
        "noise": rng.normal(size=len(y)),
        "shared noise": rng.normal(size=100)[qid] + rng.normal(size=len(y)),
        "five values": rng.randint(5, size=len(y)),
        "constant": np.zeros(len(y)),
    }
    test = ~train
    scores = {name: values[test] for name, values in scores.items()}
    for measure in ("ndcg@10", "mrr", "precision@5"):
        compare_rankers(y[test], scores, qid=qid[test], measure=measure)


def classes(seed, method="predict"):
    X, y, qid, train = documents(seed)
    relevant = (y >= 3).astype(int)
    model = LogisticRegression().fit(X[train], relevant[train])
    scores = getattr(model, method)(X[~train])
    if method == "predict_proba":
        scores = scores[:, 1]
    old = linear_scores(X[:, ::2], y, qid, train)[~train]
    scores = {"new": scores, "best": relevant[~train], "old": old}
    compare_rankers(relevant[~train], scores, qid=qid[~train])


def sessions_of_two_systems(seed, more=0.6):
    rng = np.random.RandomState(seed)
    n = 400
    first = np.where(rng.uniform(size=n) < 0.9, 1, 2)
    hard = rng.uniform(size=n) < 0.5
    found = rng.uniform(size=n) < more
    new = np.where(hard, np.where(found, 1 / rng.randint(3, 8, n), np.nan), 1 / first)
    also_found = rng.uniform(size=n) < (0.0 if more == 0.6 else more)
    old = np.where(hard & ~also_found, np.nan, 1 / first)
    mean_intervals({"new": new, "old": old})


def measures_of_one_system(seed):
    rng = np.random.RandomState(seed)
    table = pd.DataFrame(rng.uniform(size=(200, 2)), columns=["ndcg@10", "auc"])
    table.loc[rng.uniform(size=200) < 0.3, "auc"] = np.nan
    mean_intervals(table)


def judged_queries(seed, how="where new fails"):
    _, y, qid = make_ranking(n_lists=300, n_items=10, noise=2.0, random_state=seed)
    rng = np.random.RandomState(seed)
    new, old = (y + rng.normal(size=len(y)) * noise for noise in (1.5, 1.4))
    judge = np.clip(np.round(y + 1.0 * (new - y > 1.0)), 0, 4)
    values = [
        ndcg_score(judge, one, qid=qid, k=10, average=None, zero_division=0)
        for one in (new, old)
    ]
    if how == "at random":
        chosen = rng.permutation(300)[:60]
    elif how == "the first":
        chosen = np.arange(60)
    elif how == "where they differ":
        chosen = np.argsort(-np.abs(values[0] - values[1]))[:60]
    else:
        chosen = np.argsort(values[0])[:60]
    people = np.where(np.isin(qid, chosen), y, np.nan)
    compare_judged(people, judge, {"new": new, "old": old}, qid=qid, zero_division=0)


def duels_of_models(seed, *, always_first=True, sorted_names=False, covariates=False):
    rng = np.random.RandomState(seed)
    names = np.array(["new", "old1", "old2", "old3"])
    first = names[rng.randint(0, 4, 400)]
    second = names[rng.randint(0, 4, 400)]
    if always_first:
        swapped = second == "new"
        first, second = np.where(swapped, [second, first], [first, second])
    if sorted_names:
        first, second = np.sort([first, second], axis=0)
    is_duel = first != second
    first, second = first[is_duel], second[is_duel]
    first_won = rng.uniform(size=len(first)) < 0.6
    duels = pd.DataFrame(
        {
            "model_a": first,
            "model_b": second,
            "winner": np.where(first_won, "model_a", "model_b"),
        }
    )
    options = {"covariates": np.ones(len(duels))} if covariates else {}
    bradley_terry(duels, **options)


def duels_of_players(seed, cycle=True, n=60, ties=False):
    rng = np.random.RandomState(seed)
    strength = {"a": 1.0, "b": 0.5, "c": 0.0, "d": -1.0}
    wins = {
        (i, j): 1 / (1 + np.exp(strength[j] - strength[i]))
        for i in strength
        for j in strength
        if i < j
    }
    if cycle:
        wins.update({("a", "b"): 0.8, ("b", "c"): 0.8, ("a", "c"): 0.2})
        wins.update({("a", "d"): 0.95, ("b", "d"): 0.8, ("c", "d"): 0.8})
    duels = []
    for (i, j), p in wins.items():
        for _ in range(n):
            pair = (i, j) if rng.uniform() < p else (j, i)
            duels.append([pair] if ties and rng.uniform() < 0.2 else pair)
    board = bradley_terry(duels)
    assert ("strengths do not describe" in repr(board)) == cycle


def compared_on(seed, part="training", model=None, numbered_again=False):
    """A model and scores, compared on queries of the fit or on others."""
    X, y, qid, train = documents(seed, n_lists=60)
    model = OrderPreservingRegressor() if model is None else model
    if isinstance(model, Pipeline):
        model.fit(X[train], ranking_target(y[train], qid[train]))
    else:
        model.fit(X[train], y[train], qid=qid[train])
    rows = train if part == "training" else ~train
    ids = qid[rows]
    if numbered_again:  # the test file counts its queries from 0, too
        X = np.random.RandomState(seed).permutation(X)
        ids = ids - ids.min()
    rankers = {"model": model, "first": -X[rows, 0]}
    compare_rankers(y[rows], rankers, X=X[rows], qid=ids)


def sessions(seed, call="split", copies=3, kind="dense", jitter=0.0, n_items=10):
    """The same query under several ids, in a split or in the folds of a search."""
    X, y, qid = make_ranking(n_lists=40, n_items=n_items, random_state=seed)
    X = np.concatenate([X] * copies)
    X = X + jitter * np.random.RandomState(seed).normal(size=X.shape)
    y = np.tile(y, copies)
    ids = np.concatenate([qid + 1000 * i for i in range(copies)])
    if kind == "sparse":
        X = sparse.csr_matrix(X)
    elif kind == "discrete":
        X = (X > 1).astype(float)[:, :3]
    if kind == "frame":
        frame = pd.DataFrame(X).assign(qid=ids)
        query_train_test_split(frame, y, qid="qid", random_state=seed)
    elif call == "split":
        query_train_test_split(X, y, qid=ids, random_state=seed)
    else:
        folds = GroupKFold(3, shuffle=True, random_state=seed)
        pipeline = make_pipeline(StandardScaler(), OrderPreservingRegressor())
        cross_validate(
            OrderPreservingRegressor() if call == "search" else pipeline,
            X,
            ranking_target(y, ids),
            groups=ids,
            cv=folds,
            scoring=make_ranking_scorer("ndcg@10"),
            return_train_score=True,
            error_score="raise",
        )


def copied_sessions(seed, gaps=0.0, text=False):
    """The same queries under other ids, their rows in another order."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(60), 12)
    X = rng.normal(size=(len(qid), 6))
    X[rng.random(X.shape) < gaps] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    if text:
        frame["shop"] = rng.choice(["north", "south"], len(qid))
    shuffled = np.lexsort((rng.random(len(qid)), qid))
    frame = pd.concat([frame, frame.iloc[shuffled]], ignore_index=True)
    query_train_test_split(frame, qid=np.append(qid, qid + 100), random_state=seed)


def large_column(seed, unit=86400 * 10**9):
    """Other queries about the same dated items, in nanoseconds or in days."""
    rng = np.random.default_rng(seed)
    days = rng.integers(18000, 20000, 12) * unit
    qid = np.repeat(np.arange(100), 12)
    X = np.column_stack([np.tile(days, 100), rng.normal(size=(1200, 4))])
    query_train_test_split(X, qid=qid, random_state=seed)


def binary_feature(seed):
    """A feature of floats that is 0 or 1."""
    _, y, qid, _ = documents(seed, n_lists=40)
    rng = np.random.default_rng(seed)
    scores = {"in stock": 1.0 * (y + rng.normal(size=len(y)) > 2)}
    compare_rankers(y, scores, qid=qid)


def duels_of_winners_first(seed):
    """The first column is the winner, and one item always wins."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(1, 6, (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    best = np.column_stack([np.zeros(100, dtype=int), rng.integers(1, 6, 100)])
    first, second = np.concatenate([pairs, best]).T
    duels = {"model_a": first, "model_b": second, "winner": "model_a"}
    bradley_terry(pd.DataFrame(duels), half_games=2)


#: Rule, practice and its arguments.
WRONG = [
    ("depth", runs_of_two_depths, {}),
    ("depth", runs_of_two_depths, {"k": 20}),
    ("all relevant", stars, {}),
    ("all relevant", stars, {"measure": "mrr"}),
    ("all relevant", stars, {"measure": "precision@5"}),
    ("all relevant", stars, {"measure": "recall@5"}),
    ("all relevant", fit_to_stars, {}),
    ("all relevant", scored_stars, {}),
    ("all relevant", stars_of_items, {}),
    ("reversed scores", distances, {}),
    ("reversed scores", ranks, {}),
    ("reversed scores", items_with_gaps, {}),
    ("reversed scores", runs_of_distances, {}),
    ("two scores", classes, {}),
    ("training queries", compared_on, {}),
    ("training queries", compared_on, {"model": PIPELINE}),
    ("copied queries", sessions, {}),
    ("copied queries", sessions, {"n_items": 2}),
    ("copied queries", sessions, {"kind": "sparse"}),
    ("copied queries", sessions, {"kind": "frame"}),
    ("copied queries", copied_sessions, {}),
    ("copied queries", copied_sessions, {"gaps": 0.1}),
    ("copied queries", copied_sessions, {"text": True}),
    ("copied queries", sessions, {"call": "search"}),
    ("copied queries", sessions, {"call": "pipeline"}),
    ("undefined queries", sessions_of_two_systems, {}),
    ("chosen queries", judged_queries, {}),
    ("chosen queries", judged_queries, {"how": "where they differ"}),
    ("always first", duels_of_models, {}),
    ("cycles", duels_of_players, {}),
    ("cycles", duels_of_players, {"ties": True}),
]

RIGHT = [
    (runs_of_two_depths, {"k": 10}),
    (runs_of_two_depths, {"depth": 40}),
    (runs_of_two_depths, {"depth": 30}),
    (runs_of_two_depths, {"depth": None}),
    (large_column, {}),
    (large_column, {"unit": 1.0}),
    (binary_feature, {}),
    (duels_of_winners_first, {}),
    (stars, {"lowest": 0}),
    (stars, {"measure": "ndcg@10"}),
    (fit_to_stars, {"lowest": 0}),
    (scored_stars, {"lowest": 0}),
    (stars_of_items, {"lowest": 0}),
    (scored_stars, {"measure": "dcg@5"}),
    (fit_to_stars, {"target_loss": "ndcg"}),
    (useful_and_useless_scores, {}),
    (items_with_gaps, {"sign": 1}),
    (runs_of_distances, {"strength": 1.0}),
    (runs_of_distances, {"strength": 0.0}),
    (runs_with_unjudged_documents, {}),
    (classes, {"method": "decision_function"}),
    (classes, {"method": "predict_proba"}),
    (compared_on, {"part": "test"}),
    (compared_on, {"part": "test", "numbered_again": True}),
    (sessions, {"copies": 1}),
    (sessions, {"copies": 1, "kind": "discrete"}),
    (sessions, {"copies": 1, "kind": "frame"}),
    (sessions, {"copies": 1, "call": "search"}),
    (sessions_of_two_systems, {"more": 0.5}),
    (measures_of_one_system, {}),
    (judged_queries, {"how": "at random"}),
    (judged_queries, {"how": "the first"}),
    (duels_of_models, {"always_first": False}),
    (duels_of_models, {"sorted_names": True}),
    (duels_of_models, {"covariates": True}),
    (duels_of_players, {"cycle": False}),
    (duels_of_players, {"cycle": False, "n": 10, "ties": True}),
]


def name_of(practice, options):
    return " ".join([practice.__name__, *(f"{k}={v}" for k, v in options.items())])


@pytest.mark.parametrize(
    ("rule", "practice", "options"), WRONG, ids=[name_of(*one[1:]) for one in WRONG]
)
def test_wrong_practice_is_named(rule, practice, options):
    named = [
        rules_of(lambda seed: practice(seed, **options), seed)
        for seed in range(N_WRONG)
    ]
    assert sum(rule in rules for rules in named) >= 0.95 * N_WRONG, named


@pytest.mark.parametrize(
    ("practice", "options"), RIGHT, ids=[name_of(*one) for one in RIGHT]
)
def test_right_practice_is_not_named(practice, options):
    named = [
        rules_of(lambda seed: practice(seed, **options), seed)
        for seed in range(1000, 1000 + N_DRAWS)
    ]
    assert sum(bool(rules) for rules in named) <= N_DRAWS / 200, named


FOLDS = sorted(DATA.glob("letor/clueweb09/fold*.txt.gz"))


@pytest.mark.skipif(not FOLDS, reason="the real folds are not here")
@pytest.mark.parametrize("fold", FOLDS, ids=lambda path: path.name)
def test_a_real_fold_is_not_named(fold):
    X, y, qid = load_letor(fold, dense=True)[:3]
    train = qid < np.median(qid)

    def practice(seed):
        rankers = {
            "linear": OrderPreservingRegressor().fit(X[train], y[train], qid=qid[train])
        }
        for loss in ("map", "precision@5"):
            ranker = OrderPreservingRegressor(target_loss=loss)
            rankers[loss] = ranker.fit(X[train], y[train], qid=qid[train])
        test = {"X": X[~train], "qid": qid[~train]}
        compare_rankers(y[~train], rankers, measure=["ndcg@10", "map"], **test)
        scores = {name: one.predict(X[~train]) for name, one in rankers.items()}
        compare_rankers(y[~train], scores, measure="mrr", qid=qid[~train])

    assert rules_of(practice, 0) == set()


def test_each_rule_has_a_place_in_the_guide_and_in_the_docstring():
    guide = Path(__file__).parents[1] / "doc/user_guide/fool_yourself.rst"
    text = guide.read_text(encoding="utf-8")
    docstring = " ".join(SuspiciousDataWarning.__doc__.split())
    for rule in SUSPICIOUS:
        assert f".. _fool-{rule.replace(' ', '-')}:" in text
        assert f'"{rule}"' in docstring
    assert {rule for rule, *_ in WRONG} == SUSPICIOUS


def test_one_rule_is_silenced_by_its_name():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "all relevant", SuspiciousDataWarning)
        fit_to_stars(0)


def test_a_message_names_the_remedy_and_the_page():
    with pytest.warns(SuspiciousDataWarning) as caught:
        fit_to_stars(0)
    message = str(caught[0].message)
    assert "such as MeanAveragePrecision(relevance_threshold=4)" in message
    assert message.endswith("(fool_yourself.html#fool-all-relevant in the user guide)")


@pytest.mark.parametrize("step", [1, -1])
def test_cycles_name_the_stronger_item_first(step):
    """Item a is the strongest, and lost to c; a or c is in the first duel."""
    shares = {("a", "b"): 54, ("b", "c"): 48, ("a", "c"): 18}
    duels = []
    for (one, other), n in shares.items():
        duels += [(one, other)] * n + [(other, one)] * (60 - n)
    with pytest.warns(SuspiciousDataWarning, match="cycles") as caught:
        bradley_terry(duels[::step])
    assert "P(a beats c) fitted 0.60, seen 0.30." in str(caught[0].message)


@pytest.mark.parametrize("order", [1, -1])
def test_labels_of_a_classifier_do_not_reach_other_rankers(order):
    """The class of `pos_label` is 1 for the model that ranks it, and for it alone."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(400, 4))
    noisy = (X[:, 0] + rng.normal(size=400)).reshape(40, 10)
    y = np.where(noisy >= np.sort(noisy)[:, [7]], 2, 1).ravel()  # three of each query
    train, test = qid < 20, qid >= 20
    model = PrecisionAtKPerceptron().fit(X[train], y[train], qid=qid[train])
    rankers = {"scores": X[test, 1], "model": model}
    rankers = dict(list(rankers.items())[::order])
    found = compare_rankers(
        y[test], rankers, X=X[test], qid=qid[test], measure="ndcg@10"
    )
    alone = compare_rankers(
        y[test], {"scores": X[test, 1]}, qid=qid[test], measure="ndcg@10"
    )
    mean = found.mean[found.names.index("scores")]
    assert mean == pytest.approx(alone.mean[0])


def lists_of_ranks(rng):
    """Ranks by two retrievers, rows in the order of the first."""
    return np.vstack([np.c_[np.arange(10), rng.permutation(10)] for _ in range(100)])


def lists_of_a_catalogue(rng, n_documents, are_sorted=False):
    """Ten documents of a catalogue in each list, at random or in its order."""
    documents = rng.normal(size=(n_documents, 4))
    chosen = rng.permuted(np.tile(np.arange(n_documents), (100, 1)), axis=1)[:, :10]
    if are_sorted:
        chosen = np.sort(chosen, axis=1)
    return documents[chosen]


@pytest.mark.parametrize(
    "features",
    [
        lists_of_ranks,
        lambda rng: rng.permuted(np.arange(10) * np.ones((100, 1)), axis=1),
        lambda rng: np.sort(rng.integers(0, 4, size=(100, 10, 3)), axis=1),
        lambda rng: np.tile(rng.normal(size=(10, 4)), (100, 1)),
        lambda rng: lists_of_a_catalogue(rng, 200),
        lambda rng: lists_of_a_catalogue(rng, 50),
        lambda rng: lists_of_a_catalogue(rng, 200, are_sorted=True),
    ],
    ids=["ranks", "positions", "grades", "items", "catalogue", "small", "sorted"],
)
def test_equal_first_rows_are_no_copies(features):
    X = features(np.random.default_rng(0))
    X = X.reshape(1000, -1)
    qid = np.repeat(np.arange(100), 10)
    assert not names_of_warnings(query_train_test_split, X, qid=qid)


def test_copied_queries_are_counted():
    """Of 30 scored lists ten are copies; two copies are no practice."""
    X, y, qid = make_ranking(n_lists=60, n_items=10, random_state=0)
    train = qid < 40
    model = OrderPreservingRegressor().fit(X[train], y[train], qid=qid[train])
    test = qid >= 30
    with pytest.warns(SuspiciousDataWarning, match="33% of the test lists are copies"):
        model.score(X[test], y[test], qid=qid[test] + 1000)
    few = qid >= 38
    assert not names_of_warnings(model.score, X[few], y[few], qid=qid[few] + 1000)


def test_lists_of_one_document_are_no_copies():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(100, 4))
    lengths = rng.integers(1, 4, size=400)
    X = np.concatenate([documents[rng.permutation(100)[:n]] for n in lengths])
    qid = np.repeat(np.arange(400), lengths)
    assert not names_of_warnings(query_train_test_split, X, qid=qid)


def test_a_fold_of_one_query_may_have_relevant_documents_alone():
    """A third of the documents is not relevant, and no query is like the others."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(300), 20)
    y = rng.integers(0, 3, size=len(qid))
    y[:20] = np.maximum(y[:20], 1)
    X = rng.normal(size=(len(qid), 2))
    ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    score = make_ranking_scorer("map")
    assert not names_of_warnings(
        score, ranker, X[:20], ranking_target(y[:20], qid[:20])
    )


def test_frames_and_arrays_have_the_same_training_queries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))
    y = rng.integers(0, 3, size=400)
    qid = np.repeat(np.arange(40), 10)
    for table in (X, pd.DataFrame(X, columns=[f"f{j}" for j in range(40)])):
        model = OrderPreservingRegressor().fit(table, y, qid=qid)
        with pytest.warns(SuspiciousDataWarning, match="40 of the 40"):
            compare_rankers(y, {"a": model, "b": y + X[:, 0]}, X=table, qid=qid)


def test_a_judge_lets_no_rule_speak_twice():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 10)
    y = rng.integers(0, 3, size=400).astype(float)
    people = np.where(qid < 20, y, np.nan)
    scores = {"two": (y + rng.normal(size=400) > 1) * 1, "other": rng.normal(size=400)}
    found = names_of_warnings(
        compare_judged, people, y, scores, qid=qid, zero_division=0
    )
    assert found == ["two scores"]


def names_of_warnings(function, *args, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args, **options)
    rules = [one for one in caught if one.category is SuspiciousDataWarning]
    return [str(one.message).partition(":")[0] for one in rules]


def test_random_scores_of_few_queries_are_seldom_called_reversed():
    """Values of one relevant document are skewed: most are below the random order."""
    y = np.zeros((10, 20))
    y[:, 0] = 1
    rng = np.random.default_rng(0)
    n_said = 0
    for _ in range(400):
        scores = {"random": rng.random((10, 20))}
        n_said += bool(
            names_of_warnings(compare_rankers, y, scores, measure="precision@1")
        )
    assert n_said <= 2


def test_reversed_scores_name_both_means_of_the_same_queries():
    """Queries without a relevant document have no random order."""
    rng = np.random.default_rng(0)
    qrels = {}
    run = {}
    for q in range(40):
        grades = rng.integers(0, 2, 20) * (q % 2)
        qrels[q] = {d: int(grade) for d, grade in enumerate(grades)}
        run[q] = {d: float(rng.random() - grades[d] + 1) for d in range(20)}
    runs = {"new": run}
    with pytest.warns(SuspiciousDataWarning, match="reversed scores") as caught:
        compare_runs(qrels, runs, measure="recall@5", zero_division=1)
    mean, random_mean = re.findall(r"0\.\d{3}", str(caught[0].message))
    assert float(mean) < float(random_mean)


def test_reversed_scores_of_many_shuffled_lists_are_found():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 30_000)
    distances = rng.random(len(y)) - 0.2 * y + 1.0
    qid = rng.permutation(np.arange(len(y)) // 10)
    assert names_of_warnings(
        compare_rankers, y, {"new": distances}, qid=qid, measure="ndcg"
    ) == ["reversed scores"]


def test_reversed_scores_of_a_dozen_queries_are_found():
    n_found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        qid = np.repeat(np.arange(12), 15)
        y = (rng.random(len(qid)) < 0.2) * 1.0
        distances = np.exp(-y - rng.normal(size=len(y)))
        names = names_of_warnings(compare_rankers, y, {"new": distances}, qid=qid)
        n_found += names == ["reversed scores"]
    assert n_found >= 20
