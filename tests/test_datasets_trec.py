"""TREC files: written and read back, refused by line, replaced only when complete."""

import numpy as np
import pandas as pd
import pytest

from lowrank_rank.datasets import (
    dump_qrels,
    dump_run,
    load_qrels,
    load_run,
    runs_to_features,
)
from lowrank_rank.evaluation import evaluate_run

from .internals import _trec
from .refusals import refused_by

RUN = {"q2": {"b": 0.1 + 0.2, "a": 5e-324, "c": 1e300}, "q1": {"ä": -1.0}}
QRELS = {"q2": {"b": 0, "x": 3}, "q1": {"ä": -1}}


@pytest.mark.parametrize("name", ["f.txt", "f.txt.gz", "f.bz2"])
def test_round_trip_without_loss(tmp_path, name):
    path = tmp_path / name
    dump_run(RUN, path, tag="mine")
    assert load_run(path) == RUN
    assert list(load_run(path)["q2"]) == ["c", "b", "a"]  # best first
    frame = load_run(path, as_frame=True)
    assert frame["docno"].tolist() == ["c", "b", "a", "ä"]
    dump_run(frame, path)
    assert load_run(path) == RUN
    dump_qrels(QRELS, path)
    assert load_qrels(path) == QRELS
    dump_qrels(load_qrels(path, as_frame=True), path)
    assert load_qrels(path) == QRELS


def test_pytrec_eval_reads_what_is_written(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    dump_run(RUN, tmp_path / "run")
    dump_qrels(QRELS, tmp_path / "qrels")
    with open(tmp_path / "run", encoding="utf-8") as file:
        assert pytrec_eval.parse_run(file) == RUN
    with open(tmp_path / "qrels", encoding="utf-8") as file:
        assert pytrec_eval.parse_qrel(file) == QRELS


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (
            load_run,
            "q Q0 d 1 0.5 t\nq Q0 d 2 0.5\n",
            "line 2: 5 words, .*; expected 'query Q0",
        ),
        (load_run, "q Q0 d 1 nan t\n", "line 1: 'nan' is not a finite number"),
        (load_run, "q Q0 d 1 1_0 t\n", "line 1: '1_0' is not a finite number"),
        (
            load_run,
            "q Q0 d 1 1 t\n\nq Q0 d 2 2 t\n",
            "line 3: the document 'd' of 'q' occurs",
        ),
        (
            load_qrels,
            "q 0 d 1.5\n",
            "line 1: '1.5' is not an integer of 64 bits; expected 'query iter",
        ),
        (load_qrels, "", "no data"),
        (
            load_qrels,
            f"q 0 d {10**20}\n",
            "line 1: '1000.*' is not an integer of 64 bits",
        ),
        (load_run, "q Q0 d 1 1e999 t\n", "line 1: '1e999' is not a finite number"),
    ],
)
def test_bad_files_are_named(tmp_path, load, text, message):
    path = tmp_path / "broken"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"broken.*{message}"):
        load(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 0 a", "3 words"),
        ("q1 0\n5 \0 q1 0 b 7", "2 words"),
        ("q1 0 d5009 1", "the document 'd5009' of 'q1' occurs twice"),
        ("q1 0 a 1_0\nq1 0 a", "'1_0' is not an integer"),
        ("q1 0 a 1\nq1 0 a 1", "the document 'a' of 'q1' occurs twice"),
        ("q1 0 a x #\nq1 0 a", "5 words"),
        ("q1 0 \udcff 1", "can't decode"),
    ],
)
def test_the_first_wrong_line_of_a_long_file_is_named(tmp_path, line, message):
    lines = [f"q{i // 5000} 0 d{i} {i % 3}" for i in range(20_000)]
    lines[0], lines[7], lines[8] = "# a comment of six words", "", "# 0 comment 1"
    lines[15_000:15_000] = line.split("\n")
    number = 15_002 if line.startswith("q1 0 a 1\n") else 15_001
    (tmp_path / "long").write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    with pytest.raises(
        ValueError, match=f"long, line {number}: .*{message}.*; expected"
    ):
        load_qrels(tmp_path / "long")


def test_lines_of_a_long_file_that_are_no_data(tmp_path):
    """Comments, blank lines, ends of Windows, any bytes in ids, no end of the last line."""
    lines = [f"q{i // 5000}\t0  d{i} {i % 3}\r" for i in range(20_000)]
    lines[9_000:9_000] = ["# 0 comment 1", " ", "q1 0 \0 7", "q1 \0 \1 7"]
    (tmp_path / "long").write_text("\n".join(lines), newline="")
    read = load_qrels(tmp_path / "long")
    assert [len(documents) for documents in read.values()] == [5000, 5002, 5000, 5000]
    assert read["q1"]["\0"] == read["q1"]["\1"] == 7
    assert read["q3"]["d19999"] == 19999 % 3


@pytest.mark.parametrize("form", ["grouped", "alternating", "blank lines", "comments"])
def test_reading_is_linear_in_the_lines(tmp_path, form, monkeypatch):
    """Each line is parsed at most twice, whatever the order of lines and comments."""
    n_parsed = []
    parse = _trec._parse

    def counting(block, *rest):
        n_parsed.append(block.count(b"\n"))
        return parse(block, *rest)

    monkeypatch.setattr(_trec, "_parse", counting)
    numbers = range(20_000)
    query = [i % 7 if form == "alternating" else i // 3000 for i in numbers]
    gap = {"blank lines": "\n", "comments": "# one\n"}.get(form, "")
    lines = [
        f"{gap}q{q} Q0 d{i} 1 {i} t\n" for q, i in zip(query, numbers, strict=True)
    ]
    (tmp_path / "run").write_text("".join(lines))
    run = load_run(tmp_path / "run")
    assert sum(map(len, run.values())) == len(lines)
    assert run[f"q{query[-1]}"]["d19999"] == 19999.0
    assert sum(n_parsed) <= 3 * len(lines)


def test_damaged_files_and_marks(tmp_path):
    path = tmp_path / "f.gz"
    dump_run({"q": {str(i): float(i) for i in range(5000)}}, path)
    path.write_bytes(path.read_bytes()[:-20])
    with refused_by("damaged file"):
        load_run(path)
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfq 0 d 1\r\n")
    assert load_qrels(tmp_path / "bom") == {"q": {"d": 1}}
    with pytest.raises(FileNotFoundError):
        load_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("dump", "content", "message"),
    [
        (dump_run, {"a b": {"d": 1.0}}, "without spaces"),
        (dump_run, {"a": {"": 1.0}}, "without spaces"),
        (dump_run, {"a": {"d": np.inf}}, "finite"),
        (dump_run, {"a": {}}, "no document"),
        (dump_qrels, {"a": {"d": 0.5}}, "integers only"),
        (dump_qrels, {"a": {"\ud800": 1}}, "UTF-8 text without spaces"),
    ],
)
def test_bad_content_leaves_the_old_file(tmp_path, dump, content, message):
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        dump(content, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("mark", ["\u00a0", "\x1c", "\x85", "\u2028", "é"])
def test_ids_that_can_be_read_can_be_written(tmp_path, mark):
    """Words end at white space of ASCII, when they are read and when they are written."""
    ids = [f"a{mark}b", f"{mark}a", f"a{mark}"]
    (tmp_path / "f").write_text(
        "".join(f"q 0 {one} 1\n" for one in ids), encoding="utf-8"
    )
    read = load_qrels(tmp_path / "f")
    assert read == {"q": dict.fromkeys(ids, 1)}
    dump_qrels(read, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "f").read_bytes()


def test_tags_are_words(tmp_path):
    with pytest.raises(ValueError, match="a word"):
        dump_run(RUN, tmp_path / "f", tag="two words")


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([1], TypeError, "run must be a dict"),
        ({"q": [0.5]}, TypeError, r"run\['q'\]\[0\] is 0.5: a list"),
        ({"q": {"d": np.nan}}, ValueError, r"run\['q'\]\['d'\] is nan"),
        (
            {"q": {"d": 10**400}},
            ValueError,
            r"run\['q'\]\['d'\] is 10*\.\.\.0: it must be a finite",
        ),
        ({"q": {"d": "1"}}, ValueError, "finite number"),
        ({1: {"d": 1.0}, "1": {}}, ValueError, "twice"),
        ({"q": {1: 1.0, "1": 2.0}}, ValueError, "twice"),
        (
            pd.DataFrame({"qid": [1], "docno": [1]}),
            ValueError,
            "must be called 'score'",
        ),
        (
            pd.DataFrame({"qid": [1, 1], "docno": [1, 1], "score": [1.0, 2.0]}),
            ValueError,
            "document 1 of 1 twice",
        ),
        (
            pd.DataFrame({"qid": [1], "docno": [1], "score": [np.inf]}),
            ValueError,
            "finite number",
        ),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, table, error, message):
    with pytest.raises(error, match=message):
        dump_run(table, tmp_path / "f")
    with pytest.raises(error, match=message):
        evaluate_run(run=table, qrels=QRELS)


def test_frames_there_and_back(tmp_path):
    run = {"b": {"2": 0.5, "1": 1.5}, "a": {"1": 2.0}}
    rows = [("b", 2, 0.5), ("b", 1, 1.5), ("a", 1, 2.0)]
    for columns in (["qid", "docno", "score"], ["q_id", "doc_id", "score"]):
        dump_run(pd.DataFrame(rows, columns=columns), tmp_path / "f")
        assert load_run(tmp_path / "f") == run
        assert list(load_run(tmp_path / "f")) == ["b", "a"]
    frame = load_run(tmp_path / "f", as_frame=True)
    assert list(frame.columns) == ["qid", "docno", "score"]
    assert frame["score"].tolist() == [1.5, 0.5, 2.0]


def test_runs_become_features_of_the_documents_that_any_has():
    runs = {
        "a": {"q1": {"x": 3.0, "y": 1.0, "z": 2.0}, "q2": {"x": 7.0}, "q3": {"x": 1.0}},
        "b": pd.DataFrame(
            {"qid": ["q1", "q1"], "docno": ["w", "y"], "score": [-1.0, -2.0]}
        ),
    }
    joined = runs_to_features(
        runs, {"q1": {"y": 2, "w": -1, "other": 3}, "q2": {}, "q4": {"x": 1}}
    )
    rows = list(zip(joined.qid, joined.docno, strict=True))
    assert rows == [("q1", "x"), ("q1", "y"), ("q1", "z"), ("q1", "w"), ("q2", "x")]
    assert joined.target.tolist() == [0.0, 2.0, 0.0, 0.0, 0.0]
    assert joined.data[:, 0].tolist() == [1.0, 0.0, 0.5, 0.0, 0.0]
    fused = dict.fromkeys(rows, 0.0)
    for run in ({"x": 1, "z": 2, "y": 3}, {"w": 1, "y": 2}):
        for document, rank in run.items():
            fused["q1", document] += 1 / (60 + rank)
    fused["q2", "x"] = 1 / 61
    np.testing.assert_allclose(joined.data[:, 1::2].sum(axis=1), [*fused.values()])
    alone = runs_to_features(runs)
    assert alone.target is None
    assert alone.qid.tolist() == ["q1"] * 4 + ["q2", "q3"]
    np.testing.assert_array_equal(alone.data[:5], joined.data)


def test_scale_and_shift_of_a_run_change_no_feature():
    scores = {"x": 3.0, "y": 1.0, "z": 1.0}
    moved = {document: 10.0 * score - 4.0 for document, score in scores.items()}
    one, two = (runs_to_features({"a": {"q": s}}) for s in (scores, moved))
    np.testing.assert_allclose(one.data, two.data)
    assert one.data[1, 1] == one.data[2, 1] == 1 / 62.5  # tied, of the ranks 2 and 3


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        ({}, ValueError, "runs must be a dict from names to runs"),
        ([RUN], ValueError, "runs must be a dict from names to runs"),
        (RUN, TypeError, r"runs is one run, .* Write runs = \{'run': runs\}"),
        ({"a": {"q9": {"x": 1.0}}}, ValueError, "share no query"),
        (
            {"a": {"q2": {"x": np.nan}}},
            ValueError,
            r"runs\['a'\]\['q2'\]\['x'\] is nan",
        ),
    ],
)
def test_runs_that_cannot_be_joined(runs, error, message):
    with pytest.raises(error, match=message):
        runs_to_features(runs, QRELS)


def test_ids_of_a_frame_are_text_and_never_missing():
    run = pd.DataFrame(
        {"qid": ["1", "1", "2"], "docno": [10.0, 11.0, 12.0], "score": [3, 2, 1]}
    )
    qrels = {"1": {"10": 1}, 2.0: {"12": 1}}
    assert evaluate_run(run=run, qrels=qrels, measure=["ndcg@10"]) == {"ndcg@10": 1.0}
    for column in ("qid", "docno"):
        missing = run.astype({column: object}).assign(**{column: ["1", None, 2.0]})
        with pytest.raises(
            ValueError, match=r"run \(row 1\) contains a missing or infinite id"
        ):
            evaluate_run(run=missing, qrels=qrels, measure=["ndcg@10"])
    with pytest.raises(ValueError, match="qrels contains a missing or infinite id"):
        evaluate_run(run=run, qrels={float("nan"): {"10": 1}}, measure=["ndcg@10"])


@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.int64, bool, np.bool_, float]
)
def test_scores_of_any_type_in_a_dict(kind):
    run = {"q": {"a": kind(0), "b": kind(1)}}
    assert evaluate_run(run=run, qrels={"q": {"a": 1}}, measure=["mrr"]) == {"mrr": 0.5}
    with refused_by("value of document"):
        evaluate_run(run={"q": {"a": 1j}}, qrels={"q": {"a": 1}}, measure=["mrr"])


def test_integers_beyond_the_exact_floats_keep_their_order():
    run = {"q": {"a": 2**53, "b": 2**53 + 1}}
    assert evaluate_run(run=run, qrels={"q": {"b": 1, "c": 1}}, measure=["mrr"]) == {
        "mrr": 1.0
    }


def test_comments_in_files(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("# judged in 2026\n1 0 a 1\n  # 1 0 c 1\n1 0 b#3 0\n")
    assert load_qrels(path) == {"1": {"a": 1, "b#3": 0}}
    with refused_by("query to write"):
        dump_qrels({"#1": {"a": 1}}, path)


def test_arrow_tables_are_frames():
    arrow = pytest.importorskip("pyarrow")
    run = arrow.table({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0]})
    assert evaluate_run(run=run, qrels={"1": {"a": 1}}, measure=["mrr"]) == {"mrr": 0.5}
