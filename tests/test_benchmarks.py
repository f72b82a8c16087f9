"""Every benchmark runs on tiny input through its command line and returns sound rows."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank import ranking_target
from lowrank_rank.datasets import make_ranking

pytestmark = [  # of tiny data
    pytest.mark.filterwarnings("ignore:Liblinear failed to converge"),
]
REPOSITORY = Path(__file__).resolve().parent.parent
if not (REPOSITORY / "benchmarks").is_dir():
    pytest.skip("benchmarks/ is not beside tests/", allow_module_level=True)

from benchmarks.__main__ import COMMANDS, main  # noqa: E402
from benchmarks._binary import DEPTHS, FILES, binary_sets, load_binary  # noqa: E402
from benchmarks._common import best_seconds, default_data_folder, optional_peer, write_rows  # noqa: E402
from benchmarks._conflicts import LOSSES  # noqa: E402
from benchmarks._letor import DATASETS  # noqa: E402
from benchmarks._linear_ordering import load_instances  # noqa: E402
from benchmarks._papers_top import METHODS  # noqa: E402
from benchmarks._rankers import MODELS, LinearRankSVM, by_query, unequal_pairs  # noqa: E402
from benchmarks._top_tuned import PEERS  # noqa: E402
from benchmarks.arcs import order_counts  # noqa: E402
from benchmarks.defaults import Difference, paired, verdicts_by_holm  # noqa: E402
from benchmarks.quality import bootstrap_interval  # noqa: E402
from benchmarks.top import BASELINES, VARIANTS, verdict  # noqa: E402

LETOR_SHAPES = [
    ("lightgbm_example", (3773, 300), 251),
    ("clueweb09", (15579, 42), 36),
]
BINARY_SHAPES = [
    ("letter", (15000, 16), 594),
    ("ijcnn1", (49990, 22), 4853),
    ("a9a", (32561, 123), 7841),
    ("mammography", (11183, 6), 260),
    ("cover", (286048, 10), 2747),
    ("magic", (19020, 10), 6688),
]


def run_tiny(command, *options):
    return main([command, "--tiny", *options])


def of(rows, **columns):
    """The rows that hold these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in columns.items())]


@pytest.mark.filterwarnings("ignore:The hinge of")  # lists of noise
def test_quality_gives_values_differences_and_times():
    for peer in ("lightgbm", "xgboost"):
        pytest.importorskip(peer)
    rows = run_tiny("quality")
    values = of(rows, table="value", measure="map")
    assert [row["model"] for row in values] == list(MODELS)
    assert all(0 < row["mean"] <= 1 and row["queries"] == 30 for row in values)
    differences = of(rows, table="difference", measure="ndcg@10", ours="our trees")
    assert len(differences) == 4
    assert all(row["low"] <= row["difference"] <= row["high"] for row in differences)
    assert sum("best" in row["peer"] for row in differences) == 1


def test_quality_without_peers_leaves_their_rows_out(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks._rankers.optional_peer", lambda module: None)
    rows = run_tiny("quality", "--models", "xgboost", "our ridge", "--measure", "map")
    assert [row["model"] for row in of(rows, table="value")] == ["our ridge"]
    assert of(rows, table="difference") == []


def test_bootstrap_interval_of_known_differences():
    low, high = bootstrap_interval(np.r_[np.zeros(500), np.ones(500)])
    standard_error = 0.5 / np.sqrt(1000)
    assert low == pytest.approx(0.5 - 1.96 * standard_error, abs=3e-3)
    assert high == pytest.approx(0.5 + 1.96 * standard_error, abs=3e-3)


def test_rank_svm_is_linear_svc_on_the_pairs_within_queries():
    X, y, qid = make_ranking(n_lists=10, n_items=6, n_features=4, random_state=0)
    target = ranking_target(y, qid)
    better, worse = unequal_pairs(*by_query(target)[:2])
    assert np.all(y[better] > y[worse])
    assert np.all(qid[better] == qid[worse])
    assert len(better) == sum(np.sum(y[qid == q, None] > y[qid == q]) for q in range(10))
    ours, theirs = (
        LinearRankSVM(solver=solver).fit(X, target).coef_ for solver in ("lbfgs", "liblinear")
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_speed_compares_with_every_installed_peer(monkeypatch):
    """Without ranx, which compiles for half a minute."""
    monkeypatch.setattr(
        "benchmarks.speed.optional_peer",
        lambda module: None if module == "ranx" else optional_peer(module),
    )
    rows = run_tiny("speed", "--repeats", "1")
    assert all(row["value"] == pytest.approx(row["ours_s"] / row["peer_s"]) for row in rows)
    assert {"documents, Ridge", "items, Ridge"} <= {row["group"] for row in rows}
    assert of(rows, group="no ties", peer="scikit-learn", at_most=0.1)


@pytest.mark.parametrize("command", ["trees", "stack"])
def test_rankers_are_compared_with_boosters_as_they_come_and_with_equal_trees(command):
    for peer in ("lightgbm", "xgboost"):
        pytest.importorskip(peer)
    rows = run_tiny(command)
    compared = [row for row in rows if "difference" in row]
    assert all(row["low"] <= row["difference"] <= row["high"] for row in compared)
    others = {row["other"] for row in compared}
    assert {
        f"{name}{how}" for name in ("LGBMRanker", "XGBRanker") for how in ("()", ", equal")
    } <= others
    if command == "stack":
        assert {("stack", "linear"), ("stack", "boosted")} <= {
            (row["model"], row["other"]) for row in compared
        }
    else:
        assert sum("classifier" in row for row in rows) == 6


def test_figure_of_the_readme_draws_its_rows(tmp_path):
    for needed in ("lightgbm", "matplotlib"):
        pytest.importorskip(needed)
    picture = tmp_path / "figure.png"
    rows = run_tiny("figure", "--png", str(picture))
    models = {row["model"] for row in rows}
    assert {"OrderPreservingRegressor", "HistGradientBoostingRanker", "StackingRanker"} <= models
    assert len(rows) == 2 * 2 * len(models)  # sets, sizes
    assert all(row["low"] <= row["difference"] <= row["high"] for row in rows)
    assert all((row["interval"] == "above") == (row["low"] > 0) for row in rows)
    assert all((row["interval"] == "below") == (row["high"] < 0) for row in rows)
    assert picture.stat().st_size > 10_000


def test_figure_without_lightgbm_or_xgboost(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(
        "benchmarks.figure.optional_peer", lambda module: None if module == "lightgbm" else True
    )
    assert run_tiny("figure") == []
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(
        "benchmarks.figure.optional_peer", lambda module: None if module == "xgboost" else True
    )
    assert "XGBRanker()" not in {row["model"] for row in run_tiny("figure")}


def test_memory_is_measured_in_a_process_of_its_own():
    (row,) = run_tiny("memory")
    assert row["solver"] == "lsqr"
    assert 0.01 < row["value"] < 2


def test_memory_child_prints_one_json_line(capsys):
    run_tiny("memory", "--in-process")
    assert json.loads(capsys.readouterr().out)["fit_s"] > 0


def test_decoding_local_search_lies_between_diagonal_and_exact():
    rows = run_tiny("decoding", "--repeats", "1")
    (local,), (diagonal,) = of(rows, decoder="local search"), of(rows, decoder="diagonal")
    assert len([row for row in rows if "at_most" in row]) == 3
    assert -1e-12 <= local["mean_gap"] <= diagonal["mean_gap"]
    assert local["mean_gap"] <= local["mean_certified_gap"] + 1e-12


def test_arcs_certifies_and_never_exceeds_an_optimum():
    rows = run_tiny("arcs", "--part", "ordering", "speed", "--repeats", "1")
    known = {row["decoder"]: row for row in of(rows, table="ordering", of=1)}
    assert set(known) == {"dag", "borda", "local_search", "exact"}
    assert all(known[name]["max_gap"] == 0 for name in ("dag", "local_search", "exact"))  # planted
    assert all(row["above_optimum"] == 0 for row in known.values())
    assert known["exact"]["proved"] == 1
    assert of(rows, bar="exact, largest proved gap in %")[0]["verdict"] == "ok"
    above = {row["decoder"]: row["above"] for row in rows if "above" in row}
    assert above["exact"] >= above["local_search"] >= above["dag"]
    times = [row for row in rows if "worst_s" in row]
    assert len(times) == 5
    assert all(row["proved"] == row["of"] == 2 for row in times)
    gaps = [row for row in rows if "certified_gap" in row and "gap" in row]
    assert len(gaps) == 15
    assert all(-1e-9 <= row["gap"] <= row["certified_gap"] + 1e-9 for row in gaps)


def test_arcs_agrees_with_igraph():
    pytest.importorskip("igraph")
    rows = {row["decoder"]: row for row in run_tiny("arcs", "--part", "igraph")}
    assert all(row["finished"] == "2/2" for row in rows.values())
    assert rows["igraph ip"]["max_ratio"] == pytest.approx(1)
    assert rows["igraph eades"]["least_ratio"] >= 1 - 1e-9


def test_arcs_without_igraph_or_the_instances(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.arcs.optional_peer", lambda module: None)
    assert run_tiny("arcs", "--part", "igraph") == []
    assert load_instances(tmp_path) == []


def test_linear_ordering_instances_have_the_documented_shape():
    folder = default_data_folder()
    if not (folder / "linear_ordering").is_dir():
        pytest.skip(f"no linear ordering instances in {folder}")
    instances = load_instances(folder)
    assert [len(i.u) for i in instances] == sorted(len(i.u) for i in instances)
    assert (len(instances), len(instances[0].u), len(instances[-1].u)) == (50, 44, 79)
    assert [i.name for i in instances if i.best is None] == ["usa79"]
    by_name = {i.name: i for i in instances}
    assert (by_name["t65l11xx"].best, by_name["t65l11xx"].total) == (16719.0, 16938.0)
    assert not by_name["be75np"].proved


def test_orders_of_a_common_truth_agree_more():
    uniform, noisy = (order_counts(0, 20, kind) for kind in ("uniform", "noisy"))
    for counts in (uniform, noisy):
        np.testing.assert_array_equal(counts + counts.T, 15 * (1 - np.eye(20)))
    assert np.triu(noisy).sum() > 1.2 * np.triu(uniform).sum()


def test_agreement_with_scikit_learn_and_installed_peers():
    rows = run_tiny("agreement")
    assert {"no ties", "ties"} == {row["scores"] for row in of(rows, peer="scikit-learn")}
    assert all(row["verdict"] == "ok" for row in rows)


def test_coverage_of_intervals_that_are_known():
    rows = run_tiny("coverage", "--measures", "ndcg@5")
    assert [row["queries"] for row in rows] == [50, 500]
    assert all(80 <= row["coverage_%"] <= 100 for row in rows)  # of 40 repetitions
    assert all(row["rejected_%"] <= 40 for row in rows)


def test_consistency_regret_falls_and_every_model_suits_its_own_loss_best():
    rows = run_tiny("consistency")
    slopes = [row for row in rows if "slope" in row]
    assert all(row["slope"] < 0 for row in slopes)
    crossed = {row["fitted"]: row for row in of(rows, labels="grades 0-4") if "fitted" in row}
    assert crossed["eru"]["eru"] < crossed["spearman"]["eru"]
    assert crossed["spearman"]["spearman"] < crossed["eru"]["spearman"]
    assert all(of(rows, loss=loss)[-1]["wrong"] == 0 for loss in LOSSES[:2])  # these are proved


@pytest.mark.parametrize(("name", "shape", "n_queries"), LETOR_SHAPES)
def test_letor_sets_have_the_documented_shape(name, shape, n_queries):
    folder = default_data_folder()
    if not (folder / "letor").is_dir():
        pytest.skip(f"no LETOR sets in {folder}")
    X, target = DATASETS[name](folder)
    assert X.shape == shape
    assert len(np.unique(target["qid"])) == n_queries


def test_top_judges_every_model_at_every_depth():
    rows = of(run_tiny("top", "--part", "quality", "--variants"), table="quality")
    judged, counts = rows[:3], rows[3:]
    assert [row["depth"] for row in judged] == list(DEPTHS)
    models = [*BASELINES, "ours", *VARIANTS]
    assert all(0 < row[model] <= 1 for row in judged for model in models)
    assert all(row["best"] == max(row[name] for name in BASELINES) for row in judged)
    assert [row["model"] for row in counts] == ["ours", *VARIANTS]
    verdicts = [row["verdict"] for row in judged]
    assert counts[0]["MISSED"] == verdicts.count("MISSED")
    assert counts[0]["better"] == verdicts.count("better")


def test_top_verdict_allows_one_standard_error():
    assert verdict(0.81, 0.8, 0.02) == "better"
    assert verdict(0.8, 0.8, 0.0) == verdict(0.79, 0.8, 0.02) == "ok"
    assert verdict(0.77, 0.8, 0.02) == "MISSED"
    assert verdict(0.1 + 0.2, 0.3, 0.0) == verdict(0.3, 0.1 + 0.2, 0.0) == "ok"  # rounding


def test_top_times_fits_passes_and_cutting_planes():
    rows = run_tiny("top", "--part", "fit", "passes", "cutting_plane", "--repeats", "1")
    fits = of(rows, table="fit")
    assert [row["group"] for row in fits] == [f"generated, {depth}" for depth in DEPTHS]
    assert [row["at_most"] for row in fits] == [4.0, None, None]
    assert [row["peer"] for row in of(rows, table="passes", at_most=2.3)] == [1000, 2000, 4000]
    assert [row["at_most"] for row in of(rows, table="passes", peer="X @ w")] == [10.0, 4.0]
    (planes,) = of(rows, table="cutting_plane")
    assert 1 <= planes["rounds"] <= 20
    assert planes["gap"] >= -1e-9
    assert 0 < planes["precision"] <= 1


def test_top_times_many_lists():
    rows = of(run_tiny("top", "--part", "lists", "--repeats", "1"), table="lists")
    assert [row["at_most"] for row in rows] == [None, None, 3.0, None, None, 3.0, 4.0, 4.0]
    assert all(row["value"] > 0 for row in rows)


def test_top_on_small_data_counts_its_cells():
    rows = of(run_tiny("top", "--part", "small"), table="small")
    cells, (of_size, order) = rows[:-2], rows[-2:]
    assert [row["top"] for row in cells] == ["20", "100", "25%"]
    assert_allclose(of_size["mean"], np.mean([row["difference"] for row in cells]))
    for row in cells:
        beyond = {"WORSE": -1, "ok": 0, "better": 1}[row["verdict"]]
        assert beyond == np.sign(row["difference"]) * (abs(row["difference"]) > 2 * row["se"])
    assert of_size["of"] == 3
    assert abs(order["mean"]) < 0.1


def test_top_against_tuned_models():
    rows = of(run_tiny("top", "--part", "tuned", "--seeds", "0", "2"), table="tuned")
    assert [row["depth"] for row in rows] == list(DEPTHS)
    for row in rows:
        assert row["best"] == max(row[name] for name in PEERS)
        assert abs(row["difference"] - (row["ours"] - row["best"])) < 1e-12
        assert row["verdict"] in ("ahead", "ok", "BEHIND")


def test_top_wants_two_seeds_for_a_standard_error():
    with pytest.raises(SystemExit, match=r"--seeds 3 4: .* needs two"):
        run_tiny("top", "--seeds", "3", "4")


def test_top_without_its_sets_says_so_and_generates_one(tmp_path, capsys):
    (name,) = binary_sets(tmp_path, tiny=False)
    assert name == "generated"
    assert f"No folder binary in {tmp_path}" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "shape", "n_positives"), BINARY_SHAPES)
def test_binary_sets_have_the_documented_shape(name, shape, n_positives):
    folder = default_data_folder()
    if not (folder / "binary").is_dir():
        pytest.skip(f"no binary sets in {folder}")
    X, y = load_binary(folder, name)
    assert X.shape == shape
    assert sorted(np.unique(y)) == [0, 1]
    assert y.sum() == n_positives


def test_binary_shapes_cover_every_set():
    assert [name for name, _, _ in BINARY_SHAPES] == list(FILES)


def test_papers_bounds_hold_and_the_mixtures_contradict():
    rows = run_tiny("papers", "--part", "bounds")
    turned = of(rows, table="theorem 3.3")
    signs = [np.sign(row["0 before 1"] - row["1 before 0"]) for row in turned]
    assert signs == [1, 1, -1] * 2
    assert all(row["above"] == 0 for row in of(rows, table="bound"))
    constants = {row["surrogate"]: row for row in of(rows, table="constants")}
    assert all(0.9 < row["needed / here"] <= 1 + 1e-6 for row in constants.values())
    assert constants["pointwise_smooth_hinge, a = 4"]["needed / paper"] > 1.9  # theirs is broken


def test_papers_conditions_leave_no_regret_inside():
    rows = run_tiny("papers", "--part", "conditions")
    assert all(row["max regret inside"] < 1e-9 for row in of(rows, table="conditions"))
    by_model = {row["model"]: row for row in of(rows, table="section 6")}
    exact = by_model["low rank, exact"]
    assert all(exact["outside"] <= row["outside"] for row in by_model.values())


def test_papers_top_runs_every_method_as_published(tmp_path):
    picture = tmp_path / "papers.png"
    rows = run_tiny(
        "papers", "--part", "top", "--average", "last", "--radius", "10", "--draw", str(picture)
    )
    assert picture.stat().st_size > 10_000
    titles = [*METHODS, "SVMperf", "1PMB, centred", "SVMperf, centred"]
    assert [row["method"] for row in of(rows, table="time")] == titles
    assert [row["method"] for row in of(rows, table="depth")] == titles
    assert [row["method"] for row in of(rows, table="batch")] == [*METHODS, "1PMB, centred"]
    assert all(0 <= row["prec 5"] <= 1 and row["s 5"] > 0 for row in of(rows, table="time"))


def test_help_lists_every_subcommand(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_subcommand_is_its_docstring(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert COMMANDS[name].__doc__.partition("\n")[0] in capsys.readouterr().out


def test_output_is_json_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = run_tiny("decoding", "--output", str(path))
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert written == rows
    write_rows([{"a": np.float64(1.5)}, {"a": None}], path)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [{"a": 1.5}, {"a": None}]


def test_a_missing_peer_is_named_with_the_remedy(capsys):
    assert optional_peer("no_such_peer") is None
    assert "needs no_such_peer: pip install .[benchmark]" in capsys.readouterr().err


def test_best_seconds_alternates():
    seen = []
    seconds = best_seconds({"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 2)
    assert seen == ["a", "b", "a", "b"]
    assert set(seconds) == {"a", "b"}


def test_limits_rows_are_ratios_to_a_floor():
    rows = run_tiny("limits", "--part", "rows", "--row", "score pairs", "pairs of items")
    assert {row["path"] for row in rows} == {"score pairs", "pairs of items"}
    assert all(row["value"] == row["s"] / row["floor_s"] > 0 for row in rows)


def test_limits_slopes_and_peaks():
    slopes = run_tiny("limits", "--part", "slopes", "--repeats", "1")
    assert all(np.isfinite(row["value"]) for row in slopes)
    row = run_tiny("limits", "--in-process", "ridge", "float64", "csr")[0]
    assert row["X"] == "float64 csr"
    assert row["copies of X"] >= 0


def test_limits_of_trees_are_ratios_to_lightgbm_and_to_a_tree():
    pytest.importorskip("lightgbm")
    rows = run_tiny("limits", "--part", "trees")
    bars = {row["path"]: row["at_most"] for row in rows}
    assert (bars["fit"], bars["derivatives"], bars["memory"]) == (1.4, 2.5, 3.0)
    assert {"length", "pairs", "weights"} <= set(bars)
    assert all(row["value"] == row["s"] / row["floor_s"] > 0 for row in rows)


def test_surrogates_time_fits_and_boosting():
    rows = run_tiny("surrogates")
    assert {"cross_entropy", "pairwise_logistic"} <= {row.get("surrogate") for row in rows}
    assert all(row["value"] > 0 for row in rows if "value" in row)


def test_preferences_cross_validates_and_duels():
    rows = run_tiny("preferences", "--part", "duels")
    assert {row["duels"] for row in rows} == {"circular", "half and half", "transitive"}
    assert all(0.0 <= row["pairs: products"] <= 1.0 for row in rows)


def test_limits_of_ridge_measures_and_decoders_are_rows():
    """One row of each kind; the memory of a fit is traced, which takes long."""
    names = ["documents float32", "missing labels", "predictions", "sparse solver", "classes 5"]
    names += ["documents Fortran order", "documents Kendall hinge", "items pairs 10", "top sparse"]
    names += ["ndcg tied 20", "map 20", "kendall 20", "ids strings", "dag sparse 1000"]
    names += ["hinge f1 2 %", "hinge ndcg@10", "hinge items 1,000", "hinge classes 5 sparse"]
    rows = run_tiny("limits", "--part", "rows", "--row", *names)
    assert len(rows) == len(names)
    assert all(row["value"] > 0 for row in rows)


def test_limits_of_readers_and_dask_are_rows():
    pytest.importorskip("distributed")
    names = ["parquet", "parquet text ids", "letor blocks", "dask fit 100000 threads"]
    rows = run_tiny("limits", "--part", "rows", "--row", *names)
    assert len(rows) == len(names)
    assert all(row["value"] > 0 for row in rows)


def test_defaults_against_tuned_peers():
    rows = run_tiny("defaults", "--part", "documents")
    documents = {row["ours"] for row in of(rows, part="documents")}
    assert {"ridge", "cross-entropy", "hinge"} <= documents
    if find_spec("lightgbm") is not None:
        assert {"trees", "listwise", "boosted"} <= documents
    for row in rows:
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["verdict"] in ("ahead", "on par", "behind")


def test_rules_are_compared_with_searches():
    families = ["documents", "items"]
    rows = run_tiny("rules", "--part", "searched", "--family", *families)
    cells = [row for row in rows if "regret" in row]
    assert {row["family"] for row in cells} == set(families)
    assert all(row["low"] <= row["regret"] <= row["high"] for row in cells)
    table = [row for row in rows if "at_most" in row]
    assert [row["family"] for row in table] == families
    assert all(row["verdict"] in ("ok", "MISSED") for row in table)


def test_rules_of_few_lists():
    rows = run_tiny("rules", "--part", "few")
    assert {row["model"] for row in rows} == {"ridge", "cross-entropy", "hinge"}
    assert all(-1 < row["regret"] < 1 for row in rows)


def test_verdicts_by_holm():
    far, near = Difference(9, -1.0, -2.0, 0.0, 0.001), Difference(9, 1.0, 0.0, 2.0, 0.03)
    assert verdicts_by_holm([far, near, near]) == ["behind", "on par", "on par"]  # .03 > .05 / 2
    assert verdicts_by_holm([far, near]) == ["behind", "ahead"]
    assert paired(np.ones(4), np.ones(4)).p == 1.0
    assert paired(np.array([1.0, 2.0, np.nan]), np.array([0.0, 0.0, 1.0])).mean == 1.5


def test_targets_compare_sets_with_thresholds():
    rows = run_tiny("targets", "--part", "multilabel", "--repeats", "1")
    models = {row["model"]: row for row in rows if "model" in row}
    assert {"one threshold", "threshold per label", "independent"} < set(models)
    for model, row in models.items():
        if model != "ours":
            assert row["low"] <= row["gain"] <= row["high"]
            assert row["gain"] == pytest.approx(models["ours"]["f1"] - row["f1"])
    (time,) = [row for row in rows if "targets" in row]
    assert time["targets"] > time["labels"]


def test_clicks_judge_by_true_grades():
    rows = run_tiny("clicks", "--part", "trust")
    assert {row["labels"] for row in rows} == {"true grades", "clicks", "ips", "unbiased"}
    assert all(row["low"] <= row["difference"] <= row["high"] for row in rows)
    base = of(rows, labels="unbiased", surrogate="cross_entropy")
    assert [row["difference"] for row in base] == [0.0] * 2
    (best,) = of(rows, target="dcg@10", labels="true grades", surrogate="cross_entropy")
    assert best["difference"] > 0


def test_judges_have_coverage_and_width_beside_human_labels_alone():
    rows = run_tiny("judges", "--part", "ppi", "--judged-measures", "ndcg@10")
    assert len(rows) == 4 * 2 * 2  # judges, numbers of queries, statistics
    assert all(0.7 < row["covered"] <= 1 for row in rows)
    width = {row["agreement"]: row["width"] for row in of(rows, statistic="mean", n=200)}
    assert width[0.95] < width[0.8] < width[None] < 1.05


def test_judges_estimate_propensities_and_cut_lists():
    rows = run_tiny("judges", "--part", "clicks", "cut")
    error, missed, _ = of(rows, eta=0.5)
    assert 0 < error["value"] < error["control"]
    assert 0 <= missed["value"] < 0.5
    kept = {row["by"]: row["value"] for row in of(rows, what="kept")}
    assert set(kept) == {"mass", "score", "k"}
    assert all(0 < value < 1 for value in kept.values())
    assert all(row["reached"] > 0.5 for row in of(rows, what="kept"))


def test_judges_fuse_runs():
    rows = {row["fusion"]: row for row in run_tiny("judges", "--part", "fusion")}
    assert rows["mean of scaled scores"]["difference"] == 0.0
    assert rows["reciprocal ranks"]["low"] <= rows["reciprocal ranks"]["difference"]
    assert (
        rows["learned from 50 queries"]["difference"] > 0
    )  # the generated runs are of unequal quality
    assert all(0 < row["ndcg@10"] <= 1 for row in rows.values())


def test_consensus_intervals_hold_the_rank():
    rows = run_tiny("consensus")
    assert all(0.8 <= row["coverage"] <= 1 for row in rows)
    widths = {row["gap"]: row["width"] for row in of(rows, method="borda")}
    assert widths[0.5] < widths[0.2] < widths[0.05]


def test_judges_hold_bars_of_duels():
    rows = {row["what"].split(",")[0]: row for row in run_tiny("judges", "--part", "duels")}
    assert rows["largest difference to LogisticRegression"]["verdict"] == "ok"
    assert rows["joint coverage of ranks"]["value"] >= 0.9  # of 10 repetitions
    by_prompt = rows["coverage of strengths by prompt"]
    assert by_prompt["control"] < by_prompt["value"]
    found = rows["first ten of 50 found"]
    assert 0 < found["control"] <= 10


def test_aiming():
    rows = {row["model"]: row for row in run_tiny("aiming")}
    assert rows["pooled ridge"]["gain"] is rows["pooled trees"]["gain"] is None
    for model, control in {"aimed ridge": "pooled ridge", "aimed trees": "pooled trees"}.items():
        row = rows[model]
        assert row["low"] <= row["gain"] <= row["high"]
        assert row["gain"] == pytest.approx(row["ndcg@10"] - rows[control]["ndcg@10"])


def test_scale_has_a_floor_for_every_path():
    rows = run_tiny("scale")
    assert len(rows) == 4 + 4 + 2 + 2
    assert all(row["value"] > 0 for row in rows)


def test_scale_draws_time_against_rows(tmp_path):
    pytest.importorskip("matplotlib")
    rows = run_tiny("scale", "--figure", str(tmp_path / "scale.png"))
    assert len(rows) == 3 * 5
    assert all(row["seconds"] > 0 for row in rows)
    assert (tmp_path / "scale.png").stat().st_size > 1000


def test_reading_of_files_gives_ratios_and_peaks():
    rows = run_tiny("reading")
    assert {row["path"] for row in rows} == {"iter_lists", "iter_lists, dense", "load_letor"}
    assert all(row["value"] > 0 and row["peak_mb"] > 0 for row in rows)


def test_targets_of_many_labels():
    rows = run_tiny("targets", "--part", "many_labels")
    bars = [row["at_most"] for row in rows if "at_most" in row]
    assert bars == [1 / 8, 1 / 8, 15.0, 1.2, 8.0]
    tails = [row for row in rows if "gain" in row]
    assert [row["seed"] for row in tails] == [0, 1, 2]
    for row in tails:
        assert row["gain"] == pytest.approx(100 * (row["propensity_scored"] - row["plain"]))
        assert row["verdict"] == ("ok" if row["gain"] >= 2.5 else "MISSED")
