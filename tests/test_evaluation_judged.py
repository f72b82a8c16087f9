"""Unjudged documents of runs: the judged fraction, the warning, pairs without a verdict."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank.evaluation import (
    compare_judged_runs,
    compare_runs,
    compare_values,
    evaluate_run,
    mean_intervals,
)
from lowrank_rank.plotting import RankerComparisonDisplay

RELEVANT = {f"d{i}" for i in range(6)}
DOCUMENTS = [f"d{i}" for i in range(30)]
MESSAGE = "new has .* of its first 4 documents judged, old 100%"


def runs_of(signals, n_queries=40, seed=0, depth=10):
    """Runs of `depth` documents of 30; a larger signal finds more of the 6 relevant ones."""
    rng = np.random.default_rng(seed)
    runs = {}
    for name, signal in signals.items():
        runs[name] = {}
        for q in range(n_queries):
            scores = {d: signal * (d in RELEVANT) + rng.normal() for d in DOCUMENTS}
            best_first = sorted(scores, key=lambda d: -scores[d])
            runs[name][f"q{q}"] = {d: scores[d] for d in best_first[:depth]}
    return runs


def judged_from(runs, names):
    """Judgements of the first 4 documents of some runs."""
    return {
        q: {d: int(d in RELEVANT) for name in names for d in list(runs[name][q])[:4]}
        for q in runs[names[0]]
    }


def test_judgements_of_the_old_run_alone_give_no_verdict():
    runs = runs_of({"new": 1.5, "old": 1.0})
    qrels = judged_from(runs, ["old"])
    with pytest.warns(UserWarning, match=MESSAGE) as caught:
        found = compare_runs(qrels, runs, measure="precision@4")
    assert len(caught) == 1
    fractions = [
        np.mean([d in qrels[q] for d in list(run)[:4]])
        for q, run in runs["new"].items()
    ]
    assert_allclose(found.means.judged["judged@4"], [np.mean(fractions), 1.0])
    assert found.means.to_frame().set_index("name").loc["old", "judged@4"] == 1.0
    assert found.difference[0] < 0
    assert np.isnan(found.p_value).all()
    assert np.isnan(found.p_adjusted).all()
    assert np.isnan(found.interval).all()
    assert found.tied_with_best.all()
    assert found.unjudged == str(caught[0].message)
    # The warning is not printed again.
    assert found.unjudged not in repr(found)
    line = "no verdict on new - old: unjudged documents could change it"
    assert repr(found).endswith(line)
    assert line in found._repr_html_()
    # Both runs answer all queries.
    assert "n_unanswered" not in repr(found)
    # The message has the difference with the documents of new alone as relevant.
    filled = {
        q: judged | dict.fromkeys(set(list(runs["new"][q])[:4]) - set(judged), 1)
        for q, judged in qrels.items()
    }
    for_new, for_old = (
        evaluate_run(qrels=filled, run=run, measure="precision@4")["precision@4"]
        for run in runs.values()
    )
    assert f"and {for_new - for_old:+.3f} if those" in found.unjudged
    assert "more pairs" not in found.unjudged


def test_judgements_of_both_runs_give_a_verdict():
    runs = runs_of({"new": 1.5, "old": 1.0})
    qrels = judged_from(runs, ["old", "new"])
    found = compare_runs(qrels, runs, measure="precision@4")  # and no warning
    assert_array_equal(found.means.judged["judged@4"], [1.0, 1.0])
    assert found.difference[0] > 0
    assert found.p_value[0] < 0.05
    assert found.unjudged == ""


def test_a_verdict_for_the_run_that_is_judged_less_stands():
    runs = runs_of({"new": 5.0, "old": 0.0})
    qrels = judged_from(runs, ["old"])
    for q, documents in runs["new"].items():
        qrels[q] |= {d: int(d in RELEVANT) for d in list(documents)[:3]}
    found = compare_runs(qrels, runs, measure="precision@4")
    assert found.means.judged["judged@4"][0] < 1.0
    assert found.p_value[0] < 0.05
    assert found.difference[0] > 0


def test_a_clear_loser_stays_the_loser():
    runs = runs_of({"new": 0.0, "old": 5.0})
    qrels = judged_from(runs, ["old", "new"])
    for q in list(qrels)[:10]:  # in ten queries, the last document of new
        last = list(runs["new"][q])[3]
        if last not in list(runs["old"][q])[:4]:
            qrels[q].pop(last)
    found = compare_runs(qrels, runs, measure="precision@4")
    assert found.means.judged["judged@4"][0] < 1.0
    assert found.p_value[0] < 0.05
    assert found.difference[0] < 0


def with_lost_judgements(seed):
    """Equal runs; 6 % of the first documents that "new" alone has are unjudged."""
    runs = runs_of({"new": 1.0, "old": 1.0}, n_queries=150, seed=seed)
    qrels = judged_from(runs, ["old", "new"])
    rng = np.random.default_rng(seed)
    for q, judged in qrels.items():
        old = list(runs["old"][q])[:4]
        qrels[q] = {d: g for d, g in judged.items() if d in old or rng.random() > 0.06}
    return qrels, runs


@pytest.mark.parametrize("seed", [34, 36])
def test_a_difference_that_stays_in_its_interval_has_no_warning(seed):
    qrels, runs = with_lost_judgements(seed)
    found = compare_runs(qrels, runs, measure="precision@4")  # and no warning
    assert found.means.judged["judged@4"][0] < 0.96
    assert found.p_value[0] > 0.05
    # The lost judgements could make it significant, but the interval holds that.
    for q, run in runs["new"].items():
        first = dict.fromkeys(set(list(run)[:4]) - set(list(runs["old"][q])[:4]), 1)
        qrels[q] = first | qrels[q]
    filled = compare_runs(qrels, runs, measure="precision@4")
    assert filled.p_value[0] <= 0.05
    assert filled.difference[0] < found.interval[0, 1]


@pytest.mark.parametrize(("seed", "sign"), [(23, -1), (5, 1)])
def test_a_lost_verdict_and_a_difference_beyond_the_interval_are_named(seed, sign):
    qrels, runs = with_lost_judgements(seed)
    with pytest.warns(UserWarning, match=MESSAGE):
        found = compare_runs(qrels, runs, measure="precision@4")
    assert np.sign(found.difference[0]) == sign


def test_what_is_judged_is_unknown_from_relevant_documents_alone():
    runs = runs_of({"new": 1.5, "old": 1.0})
    qrels = judged_from(runs, ["old"])
    relevant = {
        q: {d for d, grade in judged.items() if grade} for q, judged in qrels.items()
    }
    found = compare_runs(relevant, runs, measure="precision@4", zero_division=0)
    assert found.means.judged is None
    assert "judged@4" not in repr(found)
    line = "judged@k is unknown: these judgements hold relevant documents alone"
    assert line in repr(found)
    assert line in found._repr_html_()
    assert found.p_value[0] < 0.05
    one = compare_runs(relevant, {"new": runs["new"]}, zero_division=0)
    assert line in repr(one)
    judged = compare_runs(judged_from(runs, ["old", "new"]), runs, zero_division=0)
    assert "judged@k is unknown" not in repr(judged)
    assert "judged@k is unknown" not in repr(compare_values({"a": [0, 1], "b": [1, 1]}))


def test_only_the_pair_without_a_verdict_has_none():
    runs = runs_of({"new": 1.5, "old": 1.0, "poor": -1.0, "late": 1.5})
    qrels = judged_from(runs, ["old", "poor"])
    with pytest.warns(UserWarning, match=r"new has .* The same holds for \d more pair"):
        found = compare_runs(qrels, runs, measure="precision@4")
    has_verdict = dict(zip(found.pairs, ~np.isnan(found.p_value), strict=True))
    assert not has_verdict[0, 1]
    assert has_verdict[1, 2]
    assert has_verdict[0, 3]
    # Holm's correction counts all six pairs.
    assert found.p_adjusted[found.pairs.index((1, 2))] >= found.p_value[3]
    assert found.tied_with_best[[0, 1, 3]].all()
    with pytest.warns(UserWarning, match="new has"):
        against = compare_runs(qrels, runs, measure="precision@4", baseline="poor")
    assert_array_equal(against.means.rank_interval, found.means.rank_interval)
    display = RankerComparisonDisplay(found).plot()
    (right,) = display.ax_.child_axes
    labels = [label.get_text() for label in right.get_yticklabels()]
    assert [label == "no verdict" for label in labels] == np.isnan(
        found.p_value
    ).tolist()


@pytest.mark.parametrize("measure", ["map", "ndcg@4", "recall@4"])
def test_measures_and_weights_and_families(measure):
    runs = runs_of({"new": 2.5, "old": 1.0})
    qrels = judged_from(runs, ["old"])
    weights = {q: 1.0 + (i % 3) for i, q in enumerate(qrels)}
    family = {q: i // 2 for i, q in enumerate(qrels)}
    message = "new has .* documents judged, old"
    for options in ({"sample_weight": weights}, {"groups": family}, {}):
        with pytest.warns(UserWarning, match=message):
            found = compare_runs(
                qrels, runs, measure=measure, zero_division=0, **options
            )
        assert np.isnan(found.p_value).all()
    with pytest.warns(UserWarning, match=message):
        at_looks = found.at_every_look()
    assert np.isnan(at_looks.p_value).all()
    assert [one.rule for one in at_looks.findings] == ["unjudged documents"]
    k = 10 if measure == "map" else 4
    assert list(found.means.judged) == [f"judged@{k}"]


@pytest.mark.parametrize("measure", ["map", "ndcg", "ndcg@4", "recall@4"])
@pytest.mark.parametrize("are_tied", [False, True])
def test_the_sentence_has_the_difference_if_documents_alone_are_relevant(
    measure, are_tied
):
    """Some of these documents are below the first ones of the other run."""
    runs = runs_of({"new": 2.5, "old": 1.0}, n_queries=60, depth=25)
    if are_tied:
        runs = {
            name: {q: {d: round(s) for d, s in run[q].items()} for q in run}
            for name, run in runs.items()
        }
    k = 4 if measure.endswith("@4") else 10

    def first_documents(scores):
        lowest = sorted(scores.values(), reverse=True)[:k][-1]
        return {d for d, score in scores.items() if score >= lowest}

    qrels = judged_from(runs, ["old"])
    if_relevant = {}
    for q, grades in qrels.items():
        alone = first_documents(runs["new"][q]) - first_documents(runs["old"][q])
        if_relevant[q] = dict.fromkeys(alone, 1) | grades
        # The order of a dict says nothing: its scores do.
        of_old = runs["old"][q]
        unread = [d for d in of_old if d in alone]
        runs["old"][q] = {d: of_old[d] for d in [*unread, *of_old]}
    means = {
        name: evaluate_run(qrels=if_relevant, run=run, measure=measure, zero_division=0)
        for name, run in runs.items()
    }
    difference = means["new"][measure] - means["old"][measure]
    message = re.escape(f"and {difference:+.3f} if those that new alone has")
    with pytest.warns(UserWarning, match=message):
        compare_runs(qrels, runs, measure=measure, zero_division=0)


@pytest.mark.parametrize("measure", ["map", "ndcg"])
def test_a_measure_of_whole_runs_needs_judgements_below_the_tenth(measure):
    """The first ten of both runs are judged; below them only those of one."""
    runs = runs_of({"new": 1.0, "old": 1.0}, n_queries=300, depth=15)
    qrels = {}
    for q in runs["new"]:  # the documents of a run are in its order
        judged = [*runs["old"][q], *list(runs["new"][q])[:10]]
        qrels[q] = {d: int(d in RELEVANT) for d in judged}
    with pytest.warns(UserWarning, match="of its first 15 documents judged, old 100%"):
        found = compare_runs(qrels, runs, measure=measure, zero_division=0)
    assert np.isnan(found.p_value).all()
    assert found.means.judged["judged@15"][0] < 1.0


@pytest.mark.parametrize("measure", ["map", "ndcg", "prbep"])
def test_below_the_depth_of_a_common_pool_nothing_need_be_judged(measure):
    """Two runs share half of their documents with each other, and few with the third."""
    rng = np.random.default_rng(0)
    runs = {"one": {}, "other": {}, "apart": {}}
    qrels = {}
    for q in range(40):
        relevant = rng.random(400) < 0.05
        shared = rng.normal(size=400) + relevant
        scores = {name: shared + rng.normal(size=400) for name in runs}
        scores["apart"] = rng.normal(size=400) + relevant
        qrels[f"q{q}"] = {}
        for name, of_run in scores.items():
            first = np.argsort(-of_run)[:150].tolist()
            runs[name][f"q{q}"] = {f"d{i}": of_run[i] for i in first}
            qrels[f"q{q}"] |= {f"d{i}": int(relevant[i]) for i in first[:20]}
    found = compare_runs(qrels, runs, measure=measure)  # and no warning
    assert found.means.judged["judged@20"].tolist() == [1, 1, 1]
    assert not np.isnan(found.p_value).any()


def test_the_remedy_of_the_message_gives_a_verdict():
    runs = runs_of({"new": 2.5, "old": 1.0}, n_queries=300)
    old = judged_from(runs, ["old"])
    complete = judged_from(runs, ["old", "new"])
    people = {q: complete[q] for q in list(complete)[::6]}
    found = compare_judged_runs(people, old, runs, measure="precision@4")
    assert found.means.judged is None
    assert found.interval[0, 0] > 0


def test_runs_without_documents_lack_no_judgement():
    runs = runs_of({"new": 1.5, "old": 1.0}, n_queries=6)
    qrels = judged_from(runs, ["old", "new"])
    runs["new"]["q0"] = {}
    found = compare_runs(qrels, runs, measure="precision@4")
    assert_array_equal(found.means.judged["judged@4"], [1.0, 1.0])


def test_tables_of_values_have_no_judged_fraction():
    assert mean_intervals([0.1, 0.5]).judged is None
    assert compare_values({"a": [1, 2], "b": [2, 3]}).means.judged is None


def test_judged_fractions_are_weighted_means():
    """Queries without weight do not count, as in the means beside them."""
    qrels = {f"q{i}": {f"d{j}": j % 2 for j in range(10)} for i in range(6)}
    runs = {"a": {}, "b": {}}
    for i, query in enumerate(qrels):
        known = "d" if i < 3 else "x"
        runs["a"][query] = {f"{known}{j}": 1 / (j + 1) for j in range(10)}
        runs["b"][query] = {f"d{j}": float(j) for j in range(10)}
    weights = {query: float(i < 3) for i, query in enumerate(qrels)}
    found = compare_runs(qrels, runs, measure="precision@5", sample_weight=weights)
    assert found.means.judged["judged@5"].tolist() == [1, 1]


def test_documents_alone_have_the_largest_grade_of_all_judgements():
    """Grades 0 to 3: the sentence says what relevant documents of grade 3 would change."""
    runs = runs_of({"new": 2.5, "old": 1.0})
    qrels = {
        q: {d: 3 * grade for d, grade in judged.items()}
        for q, judged in judged_from(runs, ["old"]).items()
    }
    if_relevant = {}
    for q, grades in qrels.items():
        alone = set(list(runs["new"][q])[:4]) - set(list(runs["old"][q])[:4])
        if_relevant[q] = dict.fromkeys(alone, 3) | grades
    means = {
        name: evaluate_run(qrels=if_relevant, run=run, measure="dcg@4")["dcg@4"]
        for name, run in runs.items()
    }
    message = re.escape(f"and {means['new'] - means['old']:+.3f} if those that new")
    with pytest.warns(UserWarning, match=message):
        compare_runs(qrels, runs, measure="dcg@4")
