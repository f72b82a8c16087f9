"""Runs against judgements: trec_eval's values where nothing is tied, expectation where it is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from lowrank_rank import metrics
from lowrank_rank.metrics import evaluate_run
from lowrank_rank.target_losses import DCG, TargetLoss

from .internals import names_of, resolve_measure

#: Ours, and what pytrec_eval is asked for and answers.
SHARED = {
    "ndcg": ("ndcg", "ndcg"),
    "map": ("map", "map"),
    "mrr": ("recip_rank", "recip_rank"),
    "prbep": ("Rprec", "Rprec"),
    **{f"map@{k}": (f"map_cut.{k}", f"map_cut_{k}") for k in (1, 3, 5, 10, 30)},
    **{f"success@{k}": (f"success.{k}", f"success_{k}") for k in (1, 3, 5, 10, 30)},
    **{f"ndcg@{k}": (f"ndcg_cut.{k}", f"ndcg_cut_{k}") for k in (1, 3, 5, 10, 30)},
    **{f"precision@{k}": (f"P.{k}", f"P_{k}") for k in (1, 3, 5, 10, 30)},
    **{f"recall@{k}": (f"recall.{k}", f"recall_{k}") for k in (1, 3, 5, 10, 30)},
}


def system(seed=0, n_queries=60):
    """A run without ties and judgements, each with documents and queries the other has not."""
    rng = np.random.RandomState(seed)
    run, qrels = {}, {}
    for q in range(n_queries):
        documents = [f"d{j}" for j in rng.permutation(60)]
        found, judged = rng.randint(1, 25), rng.randint(1, 25)
        scores = rng.permutation(100)[:found] / 8.0  # apart in single precision too
        if q % 9 != 1:
            run[f"q{q}"] = dict(zip(documents[:found], scores.tolist(), strict=True))
        if q % 9 != 2:
            grades = rng.choice(4, p=[0.5, 0.2, 0.2, 0.1], size=judged) * (q % 9 != 3)
            if q % 5 == 0:
                grades[0] = -1  # not judged
            some = rng.permutation(documents)[:judged].tolist()
            qrels[f"q{q}"] = dict(zip(some, grades.tolist(), strict=True))
    return run, qrels


@pytest.mark.filterwarnings("ignore:The run")
@pytest.mark.parametrize("all_queries", [False, True])
def test_trec_eval_on_every_shared_measure(all_queries):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = system()
    missed = sum(
        v > 0 and d not in run.get(q, {})
        for q, g in qrels.items()
        for d, v in g.items()
    )
    unjudged = sum(d not in qrels.get(q, {}) for q, docs in run.items() for d in docs)
    assert min(missed, unjudged) > 100
    asked = {theirs for theirs, _ in SHARED.values()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    ours = evaluate_run(
        run, qrels, list(SHARED), average=None, zero_division=0, all_queries=all_queries
    )
    answered = [query for query in run if query in qrels]
    assert list(theirs) == answered or set(theirs) == set(answered)
    for name, (_, answer) in SHARED.items():
        values = np.array([theirs[query][answer] for query in answered])
        assert_allclose(
            ours.loc[answered, name], values, rtol=0, atol=1e-9, err_msg=name
        )
    rest = ours.drop(index=answered)
    assert len(rest) == (sum(query not in run for query in qrels) if all_queries else 0)
    assert (rest == 0).all(axis=None)


def test_equal_to_the_functions_where_all_that_is_judged_was_retrieved():
    rng = np.random.RandomState(0)
    y, scores = rng.randint(4, size=(20, 9)), np.round(rng.normal(size=(20, 9)))  # tied
    names = [f"d{j}" for j in range(9)]
    qrels, run = (
        {
            str(q): dict(zip(names, row, strict=True))
            for q, row in enumerate(table.tolist())
        }
        for table in (y, scores)
    )
    taken = names_of(lambda one: one.takes_runs, scored=True)
    with pytest.raises(
        ValueError, match=r"use one of .*map, mrr, success@10, err, with"
    ):
        evaluate_run(run, qrels, "auc")
    assert {"ndcg@10", "map", "eru", "prbep", "dcg_exp"} <= set(taken)
    ours = evaluate_run(run, qrels, taken)
    for name in taken:
        assert ours[name] == pytest.approx(
            resolve_measure(name).measure(y, scores), abs=1e-14
        ), name


def test_relevant_documents_that_were_not_retrieved_are_as_good_as_last():
    """Rank 10**6 instead: what has a discount tends to the value of the run."""
    y, scores = np.zeros(10**6), -np.arange(1.0, 10**6 + 1)
    y[[0, 3, -1]] = 2, 1, 3
    run = {"q": {f"d{j}": -float(j) for j in range(6)}}
    qrels = {"q": {"d0": 2, "d3": 1, "far": 3}}
    values = evaluate_run(
        run, qrels, ["map", "recall@5", "ndcg@5", "precision@5", "mrr", "err"]
    )
    for name, value in values.items():
        assert value == pytest.approx(
            resolve_measure(name).measure(y, scores), abs=1e-5
        ), name


def test_one_tie_is_the_mean_of_both_orders():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    both = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}]
    names = ["mrr", "map", "ndcg", "precision@1", "err"]
    mean = np.mean([list(evaluate_run(r, qrels, names).values()) for r in both], axis=0)
    assert_allclose(list(evaluate_run(run, qrels, names).values()), mean, rtol=1e-12)


def test_frames_and_dicts_and_numbers_as_ids_mean_the_same():
    run, qrels = {7: {1: 0.5, 2: 0.25}}, {"7": {"2": 3}}
    expected = evaluate_run(run, qrels, "ndcg")
    assert expected == {"ndcg": pytest.approx(1 / np.log2(3))}
    frame = pd.DataFrame({"query_id": [7, 7], "doc_id": [1, 2], "score": [0.5, 0.25]})
    judged = pd.DataFrame({"qid": ["7"], "docno": ["2"], "label": [3]})
    assert evaluate_run(frame, judged, "ndcg") == expected
    assert evaluate_run(frame.to_records(index=False), judged, "ndcg") == expected
    polars = pytest.importorskip("polars")
    assert (
        evaluate_run(polars.DataFrame(frame.to_dict("list")), judged, "ndcg")
        == expected
    )


class OfRanx:
    """What `ranx.Run` and `ranx.Qrels` have; `benchmarks fuzz --kind files` takes ranx itself."""

    def __init__(self, table):
        self.table = table

    def to_dict(self):
        return self.table


def test_runs_of_ranx():
    run, qrels = system(1)
    run = {q: d for q, d in run.items() if q in qrels}
    qrels = {q: {d: max(g, 0) for d, g in qrels[q].items()} for q in run}
    names = ["ndcg@10", "map", "precision@5"]
    wrapped = evaluate_run(OfRanx(run), OfRanx(qrels), names, zero_division=0)
    assert wrapped == pytest.approx(evaluate_run(run, qrels, names, zero_division=0))


def test_undefined_queries_and_cuts():
    run, qrels = (
        {"a": {"d": 1.0}, "b": {"d": 1.0}},
        {"a": {"d": 1}, "b": {"d": 0, "e": 0}},
    )
    assert evaluate_run(run, qrels, ["ndcg", "precision"], k=[1, 2]) == {
        "ndcg@1": 1.0,
        "ndcg@2": 1.0,
        "precision@1": 0.5,
        "precision@2": 0.25,
    }
    assert evaluate_run(run, qrels, "map", zero_division=0) == {"map": 0.5}
    empty = evaluate_run({"a": {}}, {"a": {"x": 0}}, ["dcg", "map"], average=None)
    assert empty["dcg"].tolist() == [0.0]
    assert np.isnan(empty["map"]).all()


@pytest.mark.parametrize("name", ["auc", "spearman", "pd", "kendall"])
def test_measures_of_whole_orders_are_refused(name):
    with pytest.raises(ValueError, match="orders only those"):
        evaluate_run({"q": {"d": 1.0}}, {"q": {"d": 1}}, name)


def test_bad_input():
    qrels = {"q": {"d": 1}}
    with pytest.raises(
        ValueError, match="The run shares no query with the judgements: it has"
    ):
        evaluate_run({"p": {"d": 1.0}}, qrels)
    with pytest.raises(NotImplementedError, match="must define values"):
        TargetLoss().values_of_run(None, None, None, None)
    assert DCG.takes_runs
    assert metrics.evaluate_run is evaluate_run


def test_judged_queries_without_an_answer_count_and_are_warned_of():
    run, qrels = {"a": {"d": 1.0}}, {q: {"d": 1} for q in ("a", "b", "c")}
    with pytest.warns(UserWarning, match="The run lacks 2 of 3 queries, such as 'b'"):
        found = evaluate_run(run, qrels, "mrr")
    assert found == {"mrr": pytest.approx(1 / 3)}
    assert evaluate_run(run, qrels, "mrr", all_queries=False) == {"mrr": 1.0}


def test_a_run_whose_documents_have_other_ids_is_refused():
    qrels = {q: {"d1": 1, "d2": 0} for q in ("a", "b")}
    with pytest.raises(
        ValueError, match=r"The run shares no document .* 'a' it has \['D1'\]"
    ):
        evaluate_run({q: {"D1": 1.0} for q in qrels}, qrels)
    # One known document is enough; a run that retrieved nothing has no wrong ids.
    assert evaluate_run({"a": {"d2": 1.0}, "b": {"D1": 1.0}}, qrels, "mrr") == {
        "mrr": 0.0
    }
    assert evaluate_run({"a": {}, "b": {}}, qrels, "mrr") == {"mrr": 0.0}


def test_lists_best_first_and_sets_of_relevant_documents():
    rng = np.random.RandomState(0)
    lists = {f"q{i}": [f"d{j}" for j in rng.permutation(9)[:6]] for i in range(8)}
    relevant = {q: {f"d{j}" for j in rng.permutation(9)[:3]} for q in lists}
    scored = {
        q: {d: -float(i) for i, d in enumerate(found)} for q, found in lists.items()
    }
    graded = {q: dict.fromkeys(found, 1) for q, found in relevant.items()}
    names = ["ndcg@3", "map", "mrr", "recall@2"]
    expected = evaluate_run(scored, graded, names)
    assert evaluate_run(lists, relevant, names) == expected
    mixed = {q: tuple(found) if q < "q4" else scored[q] for q, found in lists.items()}
    frozen = {q: frozenset(found) for q, found in relevant.items()}
    assert evaluate_run(mixed, frozen, names) == expected
    with pytest.raises(ValueError, match="contains the document 'd1' of 'q' twice"):
        evaluate_run({"q": ["d1", "d1"]}, {"q": {"d1"}})
    with pytest.raises(
        TypeError, match=r"to lists of ids as text, best first; .* got set"
    ):
        evaluate_run({"q": {"d1"}}, {"q": {"d1"}})
    with pytest.raises(TypeError, match=r"to sets of relevant documents; .* got list"):
        evaluate_run({"q": ["d1"]}, {"q": ["d1"]})
    with pytest.raises(TypeError, match="run must be a dict"):
        evaluate_run({"q": [("d1", 0.5)]}, {"q": {"d1"}})
    with pytest.raises(TypeError, match="run must be a dict"):  # ids, or scores?
        evaluate_run({"q": [3, 1, 2]}, {"q": {3}})


@pytest.mark.parametrize("k", [1, 3, 10])
def test_mrr_at_k_is_that_of_cut_runs(k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run, qrels = system()
    run = {q: found for q, found in run.items() if q in qrels}
    first = {
        q: dict(sorted(d.items(), key=lambda x: -x[1])[:k]) for q, d in run.items()
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(first)
    ours = evaluate_run(
        run, qrels, f"mrr@{k}", zero_division=0, all_queries=False, average=None
    )[f"mrr@{k}"]
    assert_allclose(ours, [theirs[q]["recip_rank"] for q in run], atol=1e-9)


def test_other_names_of_success_and_map():
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1}}
    names = ["success@2", "hit_rate@2", "hit@2", "hits@2", "success_2"]
    assert set(evaluate_run(run, qrels, names).values()) == {1.0}
    assert evaluate_run(
        run, qrels, ["success@1", "map_cut_1", "map_cut_2", "RR@1"]
    ) == {
        "success@1": 0.0,
        "map_cut_1": 0.0,
        "map_cut_2": 0.5,
        "RR@1": 0.0,
    }
