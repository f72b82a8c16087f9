"""SVMlight files are read as by scikit-learn, in chunks; errors name the line."""

import gzip
import io
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from lowrank_rank.datasets import dump_run, iter_lists, load_letor, load_run

from .refusals import refused_by

PIECES = [*"0123456789 .:-+e#|_\t\n", "qid:", " qid:1 ", "\r\n", " 1:", " 2:0.5", "nan"]


def assert_same(triple, text, **options):
    X, y, ids = triple
    expected, grades, qid = load_svmlight_file(
        io.BytesIO(text), query_id=True, zero_based=False, **options
    )
    assert (X.dtype, X.shape) == (expected.dtype, expected.shape)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(expected, name))
    np.testing.assert_array_equal(y, grades)
    np.testing.assert_array_equal(ids, qid)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [20, 5000])  # one chunk, several chunks
def test_lines_are_read_as_by_scikit_learn(tmp_path, dtype, n_rows):
    rng = np.random.default_rng(0)
    lines = []
    for row in range(n_rows):
        columns = np.sort(rng.choice(30, rng.integers(0, 9), replace=False)) + 1
        values = rng.standard_normal(len(columns)) * 10.0 ** rng.integers(
            -300, 30, len(columns)
        )
        pairs = " ".join(
            f"{j}:{v!r}" for j, v in zip(columns, values.tolist(), strict=True)
        )
        comment = "#docid = G_1 inc = 1" if row % 3 == 0 else ""
        lines.append(
            f"{int(rng.integers(0, 5)) / 4!r}  qid:{row // 7}\t{pairs} {comment}\r\n"
        )
    lines.append("1 qid:9007199254740993 1:1\r\n\n")  # no float64 represents this id
    text = ("# head\n\n" + "".join(lines)).encode()[:-2]
    path = tmp_path / "log.txt"
    path.write_bytes(b"\xef\xbb\xbf" + text)
    assert_same(load_letor(path, dtype=dtype), text, dtype=dtype)


READ = [
    "1 qid:-1 1:1",
    "1 qid:1 +1:1",
    " 1 qid:+1 1:1",
    "1 qid:1 1:nan",
    "nan qid:1",
    "",
    "# _",
]
REFUSED = [
    "1 qid:1 2:1 1:1", "1 qid:1 1:1 1:2", "1 qid:1 0:1", "1 qid:1 1.0:1", "1 qid:1.5 1:1",
    "1 qid:99999999999999999999 1:1", "1 qid:1 1:1e999", "1e999 qid:1", "1 qid:1 1:1-2",
    "1 qid:1 1:1 2", "1 2:1", "qid:1 1:1", "1 qid:1 1: 2:1", "1 qid: 1:1", "1|1 1:1",
    "1 qid:1 1:2:3", "1 qid:1 qid:2", "1 qid:1 1:1_0", "1 qid:1_0 1:1", "1 qid:1 3000000000:1",
    "1 qid:1 1:0x1", "1 qid:1 1:.", "1 qid:1 1:1e", "1 qid:1 1:inf", "1_0 qid:1", "1# qid:1",
]  # fmt: skip


@pytest.mark.parametrize("line", [*READ, *REFUSED])
@pytest.mark.parametrize("n_before", [0, 1, 5432])
def test_unusual_lines_are_read_or_refused_by_number(tmp_path, line, n_before):
    text = "1 qid:1 1:1\n" * n_before + f"{line}\n" + "2 qid:1 1:1\n" * 3
    path = tmp_path / "log.txt"
    path.write_text(text)
    if line in READ:
        assert_same(load_letor(path), text.encode())
    else:
        with pytest.raises(
            ValueError, match=rf"log\.txt, line {n_before + 1}: not readable, .*"
        ):
            load_letor(path)


def test_random_lines_are_read_as_by_scikit_learn_or_refused(tmp_path):
    rng = np.random.default_rng(1)
    path, n_read = tmp_path / "log.txt", 0
    for _ in range(600):
        text = "1 qid:1 1:0.5 2:1\n" * 2
        for _ in range(rng.integers(1, 3)):
            at = rng.integers(len(text))
            text = text[:at] + rng.choice(PIECES) + text[at + rng.integers(0, 2) :]
        path.write_bytes(text.encode())
        try:
            triple = load_letor(path)
        except ValueError as error:
            if not str(error).startswith(f"{path}, line "):
                raise
        else:
            assert_same(triple, text.encode())
            n_read += 1
    assert n_read > 80


def test_the_first_of_several_wrong_lines_is_named(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("1 qid:1 1:1\n" * 70 + "1 qid:x 1:1\n1 qid:1 1:1e999\n" * 40)
    with refused_by("qid of text in file"):
        list(iter_lists(path))


def test_long_blanks_take_linear_time(tmp_path):
    path = tmp_path / "log.txt"
    blanks = " " * 1_000_000
    path.write_text(f"{blanks}\n{blanks}1 qid:1{blanks}1:1{blanks}#{blanks}\n{blanks}x")
    start = time.perf_counter()
    with refused_by("line without qid"):
        load_letor(path)
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t"])
@pytest.mark.parametrize(
    "place", ["after the grade", "before a value", "alone", "in a comment"]
)
def test_long_runs_of_blanks_take_no_time(tmp_path, blank, place):
    """A run of blanks, which packs to nothing, costs what its bytes cost."""
    blanks = blank * (2**20 // len(blank))
    lines = {
        "after the grade": b"1 qid:1" + blanks + b"1:2\n",
        "before a value": b"1 qid:1 1:2" + blanks + b"2:x\n",
        "alone": blanks + b"\n1 qid:1 1:2\n",
        "in a comment": b"1 qid:1 1:2 #" + blanks + b"\n",
    }
    path = tmp_path / "rows.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(lines[place])
    start = time.process_time()
    if place == "before a value":
        with refused_by("text as value of feature"):
            load_letor(path)
    else:
        assert load_letor(path)[0].toarray().tolist() == [[2.0]]
    assert time.process_time() - start < 5.0  # minutes, where the time is quadratic


def test_lines_have_a_limit(tmp_path):
    path = tmp_path / "rows.txt.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"1 qid:1 1:2\n")
        for _ in range(65):
            file.write(b" " * 2**20)
    with refused_by("long line"):
        load_letor(path)


def test_documents_of_letor_lines_make_a_run(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    first.write_text(
        "# head docid = X\n"
        "1 qid:7 1:1 #docid = GX0-1 inc = 0.1 prob = 0.2\n"
        "0 qid:7 2:1 # d2\n\n"
        "0 qid:8 1:3\n"
        "0 qid:8 1:4 # two words\n"
    )
    with gzip.open(second, "wt") as file:
        file.write("2 qid:7 3:1 # docid=GX9\n")
    data = load_letor(first, as_bunch=True)
    assert data.docid.tolist() == ["GX0-1", "d2", None, None]
    X, y, qid = load_letor(first)
    assert (data.data != X).nnz == 0
    assert (data.target.tolist(), data.qid.tolist()) == (y.tolist(), qid.tolist())
    days = load_letor([first, second], as_bunch=True, dense=True)
    assert days.data.shape == (5, 3)
    assert days.qid.tolist() == ["0:7", "0:7", "0:8", "0:8", "1:7"]
    assert days.docid[-1] == "GX9"
    run = {"qid": days.qid[[0, 1, 4]], "docno": days.docid[[0, 1, 4]]}
    path = tmp_path / "run.txt"
    dump_run(pd.DataFrame({**run, "score": [1.0, 2.0, 3.0]}), path)
    assert load_run(path) == {"0:7": {"d2": 2.0, "GX0-1": 1.0}, "1:7": {"GX9": 3.0}}
