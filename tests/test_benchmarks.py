"""Every command of the benchmarks runs on tiny input and returns sound rows."""

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytestmark = [
    pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
]  # of tiny data
if not (Path(__file__).resolve().parent.parent / "benchmarks").is_dir():
    pytest.skip("benchmarks/ is not beside tests/", allow_module_level=True)

from benchmarks.__main__ import COMMANDS, main  # noqa: E402
from benchmarks._common import (  # noqa: E402
    best_seconds,
    coverage_row,
    default_data_folder,
    optional_peer,
    paired,
)
from benchmarks._lolib import load_instances  # noqa: E402
from benchmarks._recommend import found_by_each  # noqa: E402
from benchmarks._sets import FILES, load_binary, load_clueweb09, load_lightgbm_example  # noqa: E402


def run_tiny(command, *options):
    return main([command, "--tiny", *options])


def of(rows, **columns):
    """The rows that have these values."""
    return [
        row
        for row in rows
        if all(row.get(key) == value for key, value in columns.items())
    ]


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name, module in COMMANDS.items():
        assert name in printed
        assert module.__doc__.partition("\n")[0] in printed


def test_output_is_json_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = run_tiny("decoders", "--part", "map", "--output", str(path))
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows


def test_best_seconds_alternates():
    seen = []
    seconds = best_seconds(
        {"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 2
    )
    assert seen == ["a", "b", "a", "b"]
    assert set(seconds) == {"a", "b"}


def test_paired_differences_and_coverage():
    found = paired([1.0, 2.0, 3.0, np.nan], [0.0, 0.0, 0.0, 1.0])
    assert (found.n, found.mean) == (3, 2.0)
    assert_allclose(
        [found.se, found.low], [3**-0.5, 2.0 - 4.302653 * 3**-0.5], rtol=1e-6
    )
    row = coverage_row(np.array([0.0, 2.0]), np.array([2.0, 3.0]), 1.0, what="ends")
    assert row == {"what": "ends", "covered": 0.5, "width": 1.5}


def test_sets_have_the_documented_shape():
    data = default_data_folder()
    if not (data / "letor").is_dir():
        pytest.skip(f"no data sets in {data}")
    for load, shape, n_queries in (
        (load_lightgbm_example, (3773, 300), 251),
        (load_clueweb09, (15579, 42), 36),
    ):
        X, y, qid = load(data)
        assert (X.shape, len(y), len(np.unique(qid))) == (shape, shape[0], n_queries)
    found = {name: int(load_binary(data, name)[1].sum()) for name in FILES}
    counts = {"letter": 594, "ijcnn1": 4853, "a9a": 7841, "mammography": 260}
    assert found == {**counts, "cover": 2747, "magic": 6688}


def test_linear_ordering_instances(tmp_path):
    assert load_instances(tmp_path) == []
    if not (default_data_folder() / "linear_ordering").is_dir():
        pytest.skip(f"no linear ordering instances in {default_data_folder()}")
    by_name = {i.name: i for i in load_instances(default_data_folder())}
    assert [len(i.u) for i in by_name.values()] == sorted(
        len(i.u) for i in by_name.values()
    )
    assert [i.name for i in by_name.values() if i.best is None] == ["usa79"]
    assert (by_name["t65l11xx"].best, by_name["t65l11xx"].total) == (16719.0, 16938.0)


def test_quality_draws_differences_of_models_sets_and_sizes(tmp_path):
    for needed in ("lightgbm", "matplotlib"):
        pytest.importorskip(needed)
    picture, equal = tmp_path / "figure.png", "LGBMRanker, as many trees"
    models = ["linear", equal, "LGBMRanker + LGBMRegressor"]
    rows = run_tiny("quality", "--png", str(picture), "--models", *models)
    assert len(rows) == 2 * 2 * 4  # sets, sizes, models
    values = {(row["set"], row["queries"], row["model"]): row for row in rows}
    for (dataset, size, _), row in values.items():
        reference = values[dataset, size, "LGBMRanker()"]["ndcg@10"]
        assert_allclose(row["difference"], row["ndcg@10"] - reference, atol=1e-12)
    assert values["digits", 10, "linear"]["difference"] > 0  # linear data
    assert picture.stat().st_size > 10_000


def test_quality_without_a_peer_leaves_its_rows_out(monkeypatch, capsys):
    missing = partial(optional_peer, "no_such_peer")
    monkeypatch.setattr("benchmarks.quality.optional_peer", lambda module: missing())
    options = (
        "--reference",
        "linear",
        "--models",
        "ridge",
        "XGBRanker()",
        "CatBoost YetiRank",
    )
    assert {row["model"] for row in run_tiny("quality", *options)} == {
        "linear",
        "ridge",
    }
    assert "needs no_such_peer: pip install .[benchmark]" in capsys.readouterr().err


def test_items_and_classes_are_compared_with_plain_models():
    rows = run_tiny("items", "--folds", "2")
    assert all(row["low"] <= row["difference"] <= row["high"] for row in rows)
    (ridge,) = of(rows, part="classes", model="ridge")
    assert ridge["high"] < 0  # masks the class between the others
    (means,) = of(rows, part="items", model="item means")
    assert means["value"] == min(row["value"] for row in of(rows, part="items"))


def test_the_recipe_for_histories_finds_what_ease_finds(data_folder):
    """On the films that at least 40 users rated, for users and for new users."""
    for found in found_by_each(data_folder, least=40).values():
        difference = paired(found["recipe"], found["EASE"])
        assert difference.high > 0.0
        assert np.nanmean(found["recipe"]) > np.nanmean(found["popularity"]) + 0.05


def test_ratings_are_compared_with_the_item_means():
    rows = run_tiny("items", "--part", "ratings")
    (constant, *models) = rows
    assert constant["model"] == "item means"
    assert {"stack", "ridge, gcv"} <= {row["model"] for row in models}
    assert all(row["low"] > 0.0 for row in models)


def test_costs_and_rated_histories_are_compared_with_peers_and_the_constant():
    rows = run_tiny("items", "--part", "costs", "rated histories")
    models = {row["model"] for row in of(rows, part="costs")}
    assert {"trees", "forest", "logistic", "constant"} <= models
    (constant,) = of(rows, part="costs", set="all", measure="cost", model="constant")
    assert constant["difference"] > 0.5
    (recipe,) = of(rows, part="rated histories", model="recipe")
    assert recipe["low"] > 0.0


def test_the_default_penalty_is_compared_with_its_multiples():
    rows = run_tiny("rules", "--family", "documents", "--multiples", "3")
    *cells, family = rows
    for cell in cells:
        assert cell["regret"] >= 0.0
        assert (cell["multiple"] == 1.0) == (cell["regret"] == 0.0)
    assert family["mean"] == pytest.approx(np.mean([cell["regret"] for cell in cells]))


def test_duels_with_cycles_need_models_of_pairs():
    rows = {row["duels"]: row for row in run_tiny("preferences", "--part", "duels")}
    assert rows["circular"]["pairs: products"] < 0.3 < rows["circular"]["score: linear"]
    assert rows["transitive"]["score: linear"] < 0.2


def test_multilabel_gains():
    rows = {
        row["model"]: row
        for row in run_tiny("multilabel", "--part", "thresholds", "--repeats", "1")
    }
    assert rows["ours"]["fit"] > 1
    for row in rows.values():
        assert row["gain"] == pytest.approx(rows["ours"]["f1"] - row["f1"])
        assert row["low"] <= row["gain"] <= row["high"]


@pytest.mark.filterwarnings("ignore:All [0-9,]+ rows are one list")
def test_top_against_tuned_models_on_small_data_and_by_trees():
    rows = run_tiny("top", "--seeds", "0", "2")
    for row in of(rows, table="tuned"):
        assert row["best"] == max(row[name] for name in ("logistic", "svc", "ridge"))
        assert row["difference"] == pytest.approx(row["ours"] - row["best"], abs=1e-12)
    *cells, whole = of(rows, table="small")
    assert whole["difference"] == pytest.approx(
        np.mean([row["difference"] for row in cells])
    )
    assert whole["better"] == sum(row["difference"] > 2 * row["se"] for row in cells)
    easy, hard = (
        [r["ranker"] for r in of(rows, data=kind)] for kind in ("easy", "hard")
    )
    assert min(easy) > max(hard)


def test_structured_hinges_of_rare_classes_and_words():
    rows = run_tiny("structured")
    for row in of(rows, part="f1") + of(rows, part="balanced accuracy"):
        assert row["difference"] == pytest.approx(row["ours"] - row["logistic"])
    words = of(rows, part="words")
    assert all(row["words"] < row["letters"] for row in words)


def test_clicks_judge_by_true_grades():
    rows = run_tiny("clicks", "--part", "trust", "estimated")
    labels = {row["labels"] for row in of(rows, part="trust")}
    assert labels == {"true grades", "clicks", "ips", "unbiased"}
    base = of(rows, labels="unbiased", surrogate="cross_entropy")
    assert [row["difference"] for row in base] == [0.0] * 2
    (best,) = of(rows, target="dcg@10", labels="true grades", surrogate="cross_entropy")
    assert best["difference"] > 0
    mild, _ = of(rows, part="estimated")
    assert mild["error"] < mild["error of click rates"]


def test_learned_fusion_beats_fixed_sums_of_unequal_runs():
    rows = {row["fusion"]: row for row in run_tiny("fusion")}
    assert rows["mean of scaled scores"]["difference"] == 0.0
    assert (
        rows["learned from 50 queries"]["low"]
        > 0
        > rows["reciprocal ranks"]["difference"]
    )


def test_intervals_cover_means_and_ranks():
    parts = ("means", "votes", "chosen")
    rows = run_tiny("intervals", "--part", *parts)
    assert {row["part"] for row in rows} == set(parts)
    assert np.mean([row["covered"] for row in rows if "covered" in row]) > 0.8
    widths = {row["gap"]: row["width"] for row in of(rows, method="borda")}
    assert widths[0.5] < widths[0.2] < widths[0.05]


def test_intervals_of_bounded_values_cover_and_a_judge_is_for_one_look():
    rows = run_tiny("intervals", "--part", "bounded", "once", "--repetitions", "300")
    # No interval knows of failures that no draw showed.
    of_means = [
        row for row in rows if "width" in row and not row["values"].startswith("98 %")
    ]
    assert np.mean([row["covered"] for row in of_means]) > 0.93
    assert min(row["covered"] for row in of_means) > 0.8
    for name in ("precision@10", "mrr@10", "Beta, mean 0.99"):
        of_name = [row for row in of_means if row["values"].startswith(name)]
        covered, student = (
            np.mean([row[key] for row in of_name]) for key in ("covered", "student")
        )
        assert covered > student
    for row in of(rows, part="once"):
        assert row["people, at_every_look"] < 0.08
        assert row["judge, every look"] > row["judge, one look"]


def test_runs_of_two_kinds_of_documents_have_few_wrong_verdicts():
    rows = run_tiny("comparisons", "--part", "kinds")
    for n in (8, 15, 30):
        wrong = [row["wrong"] for row in of(rows, queries=n)]
        assert wrong == sorted(wrong, reverse=True)


def test_comparisons_cover_and_seldom_reject():
    options = ["--part", "all", "--kinds", "ndcg@10", "right .6", "--sizes", "20"]
    for row in run_tiny("comparisons", *options):
        assert row["difference"] > 85.0
        assert row["rank"] > 90.0
        assert row["best is tied"] > 80.0
        assert row["p <= .05"] < 20.0


def test_comparisons_of_few_queries_and_families_cover():
    rows = run_tiny(
        "comparisons", "--part", "rare", "judged", "families", "--repetitions", "20"
    )
    assert min(row["least"] for row in rows if "least" in row) > 0.7
    assert {row["contradictions"] for row in of(rows, part="rare")} == {0}
    of_families = of(rows, part="families")
    covered = np.mean([row["covered"] for row in of_families])
    assert covered > np.mean([row["over queries"] for row in of_families])


def test_looks_find_differences_of_equal_rankers_by_the_t_test_alone():
    rows = run_tiny("comparisons", "--part", "looks")
    for row in of(rows, effect=0.0):
        assert row["anytime, every query"] < 0.06 < row["t, every tenth"]
    medians = [row["median queries"] for row in rows if "median queries" in row]
    assert medians == sorted(medians, reverse=True)
    assert min(row["covered"] for row in rows if "covered" in row) > 0.9


def test_holes_of_one_pool_are_warned_of():
    rows = run_tiny("comparisons", "--part", "holes")
    for row in of(rows, pool="one-sided"):
        assert row["wrong, unwarned t"] >= row["wrong, once"]
        assert row["wrong, once"] == 0.0
    (lost,) = of(rows, pool="one-sided", truth="new better")
    assert lost["warned"] == 1.0
    for row in of(rows, pool="complete"):
        assert row["warned"] == 0.0


def test_intervals_of_few_values_and_weights_cover():
    rows = run_tiny("intervals", "--part", "few", "weights", "--repetitions", "50")
    assert min(row["least"] for row in rows if "least" in row) > 0.75
    assert np.mean([row["covered"] for row in of(rows, part="weights")]) > 0.9


def test_intervals_narrow_with_a_good_judge_and_know_of_prompts():
    rows = run_tiny("intervals", "--part", "judged", "duels", "--repetitions", "10")
    width = {
        row["agreement"]: row["width"] for row in of(rows, statistic="mean", n=200)
    }
    assert width[0.95] < width[0.8] < width[None] < 1.05
    covered = {row["what"]: row["covered"] for row in of(rows, part="duels")}
    plain, by_prompt = (covered[what] for what in covered if "by prompt" in what)
    assert plain < by_prompt


def test_intervals_of_few_groups_are_wider_than_normal_ones():
    rows = run_tiny("duels")
    for row in of(rows, part="groups"):
        assert row["normal"] <= row["covered"]
        assert row["normal ranks"] <= row["ranks"]
    assert all(0.5 < row["slope"] < 1.5 for row in of(rows, part="judges"))
    assert all(row["covered"] > 0.5 for row in of(rows, part="documents"))
    for row in of(rows, part="separated"):
        if "spread 0.5" in row["what"]:  # nearly equal strengths
            assert row["half_games=2"] < row["half_games=0.5"]


def test_limits_are_ratios_to_a_peer_and_to_a_floor():
    names = [
        "documents",
        "ndcg@10",
        "pairs of 5",
        "a query, linear",
        "load_letor",
        "dag",
    ]
    rows = run_tiny("limits", "--row", *names, "sparse")
    assert {row["row"]: row["of"] for row in rows}["dag"] == "lowrank_rank"
    assert {*names, "sparse"} <= {row["row"] for row in rows}
    assert all(row["peer"] > 0 and row["MB"] > 0 for row in rows if row["row"] in names)
    (ndcg,) = of(rows, row="ndcg@10")
    assert ndcg["floor"] > 0
    for row in rows:
        verdict = "" if row["at_most"] is None else "MISSED"
        assert row["verdict"] == (
            verdict if (row["peer"] or 0) > (row["at_most"] or 0) else "ok"
        )


def test_growth_with_the_number_of_items_is_a_slope():
    (row,) = run_tiny("limits", "--part", "sizes", "--row", "items: map local search")
    assert (row["from"], row["to"]) == (20, 40)
    assert row["slope"] == pytest.approx(
        np.log2(row["most_ms"] / row["least_ms"]), rel=1e-6
    )


def test_memory_is_measured_in_a_process_of_its_own():
    ((name, gib),) = (
        (r["fit"], r["GiB"]) for r in run_tiny("memory", "--part", "sparse")
    )
    assert "lsqr" in name
    assert 0.01 < gib < 2


@pytest.mark.skipif(
    not os.environ.get("CI"),
    reason="starts two processes: set CI=true, as .ci/run does",
)
@pytest.mark.filterwarnings("ignore")  # of Dask and of tiny data
def test_workers_of_a_cluster_grow_trees_of_the_quality_of_one_process():
    rows = run_tiny("cluster", "--part", "generated")
    values = {row["model"]: row["NDCG@10"] for row in rows}
    cluster = values["two losses, two workers"]
    assert cluster == pytest.approx(values["two losses, one process"], abs=0.1)


def test_decoders_never_exceed_an_optimum():
    rows = run_tiny("decoders", "--part", "ordering", "orders", "map")
    known = {row["decoder"]: row for row in of(rows, table="ordering")}
    assert all(
        known[name]["max_gap"] == 0 for name in ("dag", "local_search", "exact")
    )  # planted
    assert known["exact"]["proved"] == known["exact"]["of"] == 1
    for row in of(rows, table="orders"):
        assert row["proved"] == row["of"]
        assert -1e-9 <= row["local_search"] <= min(row["dag"], row["borda"])
    (local,), (diagonal,) = (
        of(rows, decoder="local search"),
        of(rows, decoder="diagonal"),
    )
    assert -1e-12 <= local["mean_gap"] <= diagonal["mean_gap"]
    assert local["mean_gap"] <= local["mean_certified_gap"] + 1e-12


def test_consistency_regret_falls_and_every_model_suits_its_own_loss_best():
    rows = run_tiny("consistency")
    assert all(row["slope"] < 0 for row in rows if "slope" in row)
    crossed = {
        row["fitted"]: row for row in of(rows, labels="grades 0-4") if "fitted" in row
    }
    assert crossed["eru"]["eru"] < crossed["spearman"]["eru"]
    for loss in ("cross-entropy", "pairwise logistic"):
        assert of(rows, loss=loss)[-1]["wrong"] == 0  # these are proved


def test_papers_bounds_hold_and_conditions_leave_no_regret():
    rows = run_tiny("papers")
    assert len(of(rows, table="time")) == len(of(rows, table="depth")) == 8  # methods
    assert all(0 <= row["prec 5"] <= 1 for row in of(rows, table="time"))
    turned = of(rows, table="theorem 3.3")
    assert [np.sign(row["0 before 1"] - row["1 before 0"]) for row in turned] == [
        1,
        1,
        -1,
    ] * 2
    assert all(row["above"] == 0 for row in of(rows, table="bound"))
    constants = {row["surrogate"]: row for row in of(rows, table="constants")}
    assert all(0.9 < row["needed / here"] <= 1 + 1e-6 for row in constants.values())
    assert (
        constants["pointwise_smooth_hinge, a = 4"]["needed / paper"] > 1.9
    )  # theirs is broken
    assert all(row["max regret inside"] < 1e-9 for row in of(rows, table="conditions"))
