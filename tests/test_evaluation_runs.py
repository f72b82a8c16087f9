"""Runs against judgements: trec_eval's values where nothing is tied, expectation where it is."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lowrank_rank
from lowrank_rank.evaluation import compare_runs, evaluate_run
from lowrank_rank.target_losses import DCG, TargetLoss

from .internals import names_of, resolve_measure
from .refusals import refused_by

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
        run=run,
        qrels=qrels,
        measure=list(SHARED),
        average=None,
        zero_division=0,
        all_queries=all_queries,
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
    with refused_by("measure of whole lists"):
        evaluate_run(run=run, qrels=qrels, measure="auc")
    assert {"ndcg@10", "map", "eru", "prbep", "dcg_exp"} <= set(taken)
    ours = evaluate_run(run=run, qrels=qrels, measure=taken)
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
        run=run,
        qrels=qrels,
        measure=["map", "recall@5", "ndcg@5", "precision@5", "mrr", "err"],
    )
    for name, value in values.items():
        assert value == pytest.approx(
            resolve_measure(name).measure(y, scores, one_list=True), abs=1e-5
        ), name


def test_one_tie_is_the_mean_of_both_orders():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    both = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}]
    names = ["mrr", "map", "ndcg", "precision@1", "err"]
    mean = np.mean(
        [list(evaluate_run(run=r, qrels=qrels, measure=names).values()) for r in both],
        axis=0,
    )
    assert_allclose(
        list(evaluate_run(run=run, qrels=qrels, measure=names).values()),
        mean,
        rtol=1e-12,
    )


def test_frames_and_dicts_and_numbers_as_ids_mean_the_same():
    run, qrels = {7: {1: 0.5, 2: 0.25}}, {"7": {"2": 3}}
    expected = evaluate_run(run=run, qrels=qrels, measure="ndcg")
    assert expected == {"ndcg": pytest.approx(1 / np.log2(3))}
    frame = pd.DataFrame({"query_id": [7, 7], "doc_id": [1, 2], "score": [0.5, 0.25]})
    judged = pd.DataFrame({"qid": ["7"], "docno": ["2"], "label": [3]})
    assert evaluate_run(run=frame, qrels=judged, measure="ndcg") == expected
    assert (
        evaluate_run(run=frame.to_records(index=False), qrels=judged, measure="ndcg")
        == expected
    )
    polars = pytest.importorskip("polars")
    assert (
        evaluate_run(
            run=polars.DataFrame(frame.to_dict("list")), qrels=judged, measure="ndcg"
        )
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
    wrapped = evaluate_run(
        run=OfRanx(run), qrels=OfRanx(qrels), measure=names, zero_division=0
    )
    assert wrapped == pytest.approx(
        evaluate_run(run=run, qrels=qrels, measure=names, zero_division=0)
    )


def test_undefined_queries_and_cuts():
    run, qrels = (
        {"a": {"d": 1.0}, "b": {"d": 1.0}},
        {"a": {"d": 1}, "b": {"d": 0, "e": 0}},
    )
    assert evaluate_run(
        run=run, qrels=qrels, measure=["ndcg", "precision"], k=[1, 2]
    ) == {
        "ndcg@1": 1.0,
        "ndcg@2": 1.0,
        "precision@1": 0.5,
        "precision@2": 0.25,
    }
    assert evaluate_run(run=run, qrels=qrels, measure="map", zero_division=0) == {
        "map": 0.5
    }
    empty = evaluate_run(
        run={"a": {}}, qrels={"a": {"x": 0}}, measure=["dcg", "map"], average=None
    )
    assert empty["dcg"].tolist() == [0.0]
    assert np.isnan(empty["map"]).all()


def test_bad_input():
    qrels = {"q": {"d": 1}}
    with refused_by("no shared query"):
        evaluate_run(run={"p": {"d": 1.0}}, qrels=qrels)
    with pytest.raises(NotImplementedError, match="must define values"):
        TargetLoss().values_of_run(None, None, None, None)
    assert DCG.takes_runs
    assert lowrank_rank.evaluation.evaluate_run is evaluate_run


def test_judged_queries_without_an_answer_count_and_are_warned_of():
    run, qrels = {"a": {"d": 1.0}}, {q: {"d": 1} for q in ("a", "b", "c")}
    with pytest.warns(UserWarning, match="The run lacks 2 of 3 queries, such as 'b'"):
        found = evaluate_run(run=run, qrels=qrels, measure="mrr")
    assert found == {"mrr": pytest.approx(1 / 3)}
    assert evaluate_run(run=run, qrels=qrels, measure="mrr", all_queries=False) == {
        "mrr": 1.0
    }


def test_a_run_whose_documents_have_other_ids_is_refused():
    qrels = {q: {"d1": 1, "d2": 0} for q in ("a", "b")}
    with refused_by("no shared document"):
        evaluate_run(run={q: {"e1": 1.0} for q in qrels}, qrels=qrels)
    # One known document is enough; a run that retrieved nothing has no wrong ids.
    assert evaluate_run(
        run={"a": {"d2": 1.0}, "b": {"e1": 1.0}}, qrels=qrels, measure="mrr"
    ) == {"mrr": 0.0}
    assert evaluate_run(run={"a": {}, "b": {}}, qrels=qrels, measure="mrr") == {
        "mrr": 0.0
    }


def test_lists_best_first_and_sets_of_relevant_documents():
    rng = np.random.RandomState(0)
    lists = {f"q{i}": [f"d{j}" for j in rng.permutation(9)[:6]] for i in range(8)}
    relevant = {q: {f"d{j}" for j in rng.permutation(9)[:3]} for q in lists}
    scored = {
        q: {d: -float(i) for i, d in enumerate(found)} for q, found in lists.items()
    }
    graded = {q: dict.fromkeys(found, 1) for q, found in relevant.items()}
    names = ["ndcg@3", "map", "mrr", "recall@2"]
    expected = evaluate_run(run=scored, qrels=graded, measure=names)
    assert evaluate_run(run=lists, qrels=relevant, measure=names) == expected
    mixed = {q: tuple(found) if q < "q4" else scored[q] for q, found in lists.items()}
    frozen = {q: frozenset(found) for q, found in relevant.items()}
    assert evaluate_run(run=mixed, qrels=frozen, measure=names) == expected
    with refused_by("document twice"):
        evaluate_run(run={"q": ["d1", "d1"]}, qrels={"q": {"d1"}})


GOLD = {
    "lists": {"q": ["d1", "d2"], "p": ["d3"]},
    "tuples": {"q": ("d1", "d2"), "p": ("d3",)},
    "sets": {"q": {"d1", "d2"}, "p": frozenset({"d3"})},
    "arrays": {"q": np.array(["d1", "d2"]), "p": np.array(["d3"], dtype=object)},
    "integers": {"q": [1, 2], "p": np.array([3])},
    "a set of tuples": {"q": {("d", 1), ("d", 2)}, "p": {("d", np.int64(3))}},
}


@pytest.mark.parametrize("kind", GOLD)
def test_gold_lists_of_retrieval_tests(kind):
    name = {"integers": int, "a set of tuples": lambda i: ("d", int(i))}
    name = name.get(kind, lambda i: f"d{i}")
    run = {"q": {name(9): 3.0, name(2): 2.0}, "p": {name(3): 1.0}}
    graded = {"q": {name(1): 1, name(2): 1}, "p": {name(3): 1}}
    names = ["map", "ndcg@10", "recall@1"]
    wanted = evaluate_run(qrels=graded, run=run, measure=names)
    assert evaluate_run(qrels=GOLD[kind], run=run, measure=names) == wanted
    if kind != "a set of tuples":
        ranked = {"q": [name(9), name(2)], "p": [name(3)]}
        assert evaluate_run(qrels=GOLD[kind], run=ranked, measure=names) == wanted


@pytest.mark.parametrize(
    ("qrels", "run", "words"),
    [
        ({"q": {"d1"}}, {"q": {"d1"}}, r"run\['q'\] is a set, which has no order"),
        ({"q": {"d1"}}, {"q": [("d1", 0.5)]}, r"run\['q'\]\[0\] is \('d1', 0.5\): if"),
        ({"q": [("d1", 2)]}, {"q": ["d1"]}, r"qrels\['q'\]\[0\] is \('d1', 2\): if"),
        (
            {"q": {"d1"}},
            {"q": ["d1", 0.5]},
            r"run\['q'\]\[1\] is 0.5: a list holds ids",
        ),
        ({"q": [1.0, 0.0]}, {"q": ["d1"]}, r"qrels\['q'\]\[0\] is 1.0: a list holds"),
        ({"q": [True]}, {"q": ["d1"]}, r"qrels\['q'\]\[0\] is True: a list holds"),
        ({"q": [["d1"]]}, {"q": ["d1"]}, r"qrels\['q'\]\[0\] is \['d1'\]: a list"),
        ({"q": [None]}, {"q": ["d1"]}, r"qrels\['q'\]\[0\] is None: a list holds"),
        ({"q": "d1"}, {"q": ["d1"]}, r"qrels\['q'\] is 'd1': give .*lists or sets"),
        ({"q": 3}, {"q": ["d1"]}, r"qrels\['q'\] is 3: give"),
        (
            {"q": ["d1"]},
            {"a": {"q": {"d1": 1.0}}},
            r"run\['a'\]\['q'\] is a dict: run h",
        ),
        ([["d1"]], {"q": ["d1"]}, r"qrels must be a dict .* got list"),
    ],
    ids=str,
)
def test_what_is_no_list_of_ids_is_named(qrels, run, words):
    with pytest.raises(TypeError, match=words) as error:
        evaluate_run(qrels=qrels, run=run)
    assert isinstance(qrels, list) or "must be a dict" not in str(error.value)


def test_runs_and_judgements_go_by_name():
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 2.0}}
    words = r"by name: evaluate_run\(qrels=\.\.\., run=\.\.\.\)"
    for given in ((run, qrels), (qrels, run), (run,), (run, qrels, "map")):
        with pytest.raises(TypeError, match=words):
            evaluate_run(*given)
    with pytest.raises(TypeError, match="'run'"):
        evaluate_run(qrels=qrels)


class Run(dict):
    """A run as ranx has it, by its name and module."""


class Qrels(dict):
    """Judgements as ranx has them."""


Run.__module__ = Qrels.__module__ = "ranx.data_structures"


@pytest.mark.parametrize("library", ["pandas", "polars", "ranx"])
def test_types_that_say_what_they_are_are_not_swapped(library):
    if library == "ranx":
        qrels, run = Qrels(q={"d1": 1}), Run(q={"d1": 2.0})
    else:
        frames = pytest.importorskip(library)
        ids = {"qid": ["q"], "docno": ["d1"]}
        run = frames.DataFrame({**ids, "score": [2.0]})
        qrels = frames.DataFrame({**ids, "relevance": [1]})
    assert evaluate_run(qrels=qrels, run=run, measure="map") == {"map": 1.0}
    with refused_by("run in place of judgements", TypeError):
        evaluate_run(qrels=qrels, run=qrels)
    with refused_by("run in place of judgements", TypeError):
        evaluate_run(qrels=run, run=run)
    with refused_by("run in place of judgements", TypeError):
        compare_runs(run, {"a": run})
    with refused_by("run in place of judgements", TypeError):
        compare_runs(qrels, {"a": qrels})


def test_swapped_arguments_of_compare_runs_are_a_sentence():
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(50)} for i in range(50)}
    runs = {"a": {q: dict.fromkeys(found, 0.5) for q, found in qrels.items()}}
    with refused_by("runs in place of judgements", TypeError) as error:
        compare_runs(runs, qrels)
    assert error.value.remedies == ("qrels, runs = runs, qrels",)
    assert len(str(error.value)) < 300


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
        run=run,
        qrels=qrels,
        measure=f"mrr@{k}",
        zero_division=0,
        all_queries=False,
        average=None,
    )[f"mrr@{k}"]
    assert_allclose(ours, [theirs[q]["recip_rank"] for q in run], atol=1e-9)


def test_other_names_of_success_and_map():
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1}}
    names = ["success@2", "hit_rate@2", "hit@2", "hits@2", "success_2"]
    assert set(evaluate_run(run=run, qrels=qrels, measure=names).values()) == {1.0}
    assert evaluate_run(
        run=run, qrels=qrels, measure=["success@1", "map_cut_1", "map_cut_2", "RR@1"]
    ) == {
        "success@1": 0.0,
        "map_cut_1": 0.0,
        "map_cut_2": 0.5,
        "RR@1": 0.0,
    }


def test_dicts_checked_in_bulk_are_those_read_one_by_one():
    rng = np.random.default_rng(0)
    run = {f"q{q}": {f"d{d}": float(rng.random()) for d in range(q)} for q in range(9)}
    qrels = {q: {d: int(rng.integers(3)) for d in run[q]} for q in run}
    copies = copy.deepcopy((run, qrels))
    table = evaluate_run(qrels=qrels, run=run, measure=["ndcg@5", "map"])
    assert (run, qrels) == copies
    slow_run = {q: {d: np.float64(x) for d, x in run[q].items()} for q in run}
    slow_qrels = {q: {d: np.int64(x) for d, x in qrels[q].items()} for q in run}
    slow = evaluate_run(qrels=slow_qrels, run=slow_run, measure=["ndcg@5", "map"])
    for name in ("ndcg@5", "map"):
        assert_array_equal(table[name], slow[name])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 10**400, "1", None, {"d": 1.0}])
def test_one_bad_value_among_many_is_named(bad):
    run = {f"q{q}": {f"d{d}": 1.0 for d in range(50)} for q in range(50)}
    qrels = {q: {"d0": 1} for q in run}
    run["q7"]["d9"] = bad
    with pytest.raises((TypeError, ValueError), match=r"run\['q7'\]\['d9'\] is"):
        evaluate_run(qrels=qrels, run=run, measure="ndcg@5")


def test_a_run_without_judged_first_documents_is_named():
    qrels = {f"q{q}": {"d1": 1, "d2": 0} for q in range(30)}
    run = {q: [*(f"x{i}" for i in range(10)), "d1"] for q in qrels}
    for call in (
        lambda: evaluate_run(qrels=qrels, run=run, measure="ndcg@10"),
        lambda: compare_runs(qrels, {"run": run}, measure="ndcg@10"),
    ):
        with pytest.warns(UserWarning, match="judgement of the first 10 documents"):
            call()
    run["q0"] = ["d2", "d1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_run(qrels=qrels, run=run, measure="ndcg@10")


def test_the_judged_fraction_is_a_measure_of_a_run():
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d3": 0}}
    run = {"q1": ["d1", "x", "d2"], "q2": ["x", "y", "d1"]}
    names = ["judged@1", "mrr", "judged@3"]
    found = evaluate_run(qrels=qrels, run=run, measure=names)
    assert found["judged@1"] == 0.5
    assert found["judged@3"] == pytest.approx(0.5)
    assert evaluate_run(qrels=qrels, run=run, measure="judged@1") == {"judged@1": 0.5}
    named = evaluate_run(qrels=qrels, run=run, measure={"judged": "judged@1"})
    assert named == {"judged": 0.5}
    table = evaluate_run(qrels=qrels, run=run, measure=names, average=None)
    assert np.asarray(table["judged@1"]).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="judged@0"):
        evaluate_run(qrels=qrels, run=run, measure="judged@0")
