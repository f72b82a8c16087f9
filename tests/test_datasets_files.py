"""SVMlight lines with a qid: read as by scikit-learn, refused by line."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from lowrank_rank.datasets import iter_lists, load_letor


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lines_are_read_as_by_scikit_learn(tmp_path, dtype):
    """Comments, tabs, blanks, ends of lines of Windows, a byte order mark, and no last newline."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(200):
        columns = np.sort(rng.choice(30, rng.integers(0, 9), replace=False)) + 1
        values = rng.standard_normal(len(columns)) * 10.0 ** rng.integers(-300, 30, len(columns))
        pairs = " ".join(f"{j}:{v!r}" for j, v in zip(columns, values.tolist(), strict=True))
        comment = "#docid = G_1 inc = 1" if row % 3 == 0 else ""
        lines.append(f"{int(rng.integers(0, 5)) / 4!r}  qid:{row // 7}\t{pairs} {comment}\r\n")
    lines.append("1 qid:9007199254740993 1:1")  # no float64
    path, plain = tmp_path / "log.txt", tmp_path / "plain.txt"
    text = ("# head\n\n" + "".join(lines)).encode()
    path.write_bytes(b"\xef\xbb\xbf" + text)
    plain.write_bytes(text)
    X, y, qid = load_letor(path, dtype=dtype)
    expected, grades, ids = load_svmlight_file(plain, dtype=dtype, query_id=True, zero_based=False)
    assert X.dtype == dtype
    for name in ("data", "indices", "indptr", "shape"):
        np.testing.assert_array_equal(getattr(X, name), getattr(expected, name))
    np.testing.assert_array_equal(y, grades)
    np.testing.assert_array_equal(qid, ids)


WRONG = {
    "1 qid:1 2:1 1:1": "(ascend|sorted)",
    "1 qid:1 1:1 1:2": "(ascend|sorted|unique|duplicate)",
    "1 qid:1 0:1": "feature 0.*zero_based=True",
    "1 qid:1 1.0:1": "'1.0:1' is not",
    "1 qid:1.5 1:1": "the qid '1.5' is not an integer",
    "1 qid:9999999999999999999 1:1": "does not fit 64 bits",
    "1 qid:1 1:1e999": "infinite",
    "1e999 qid:1": "infinite",
    "1 qid:1 1:nan": "NaN",
    "1 qid:1 1:1-2": "could not convert",
    "1 qid:1 1:1 2": "'2' is not",
    "1 2:1": "no qid",
    "1 qid: 1:1": "the qid '' is not an integer",
    "1 qid:1 1:2:3": "'1:2:3' is not",
    "1 qid:1 1:1_0": "a '_'",
    "1 qid:1 3000000000:1": "",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_named(tmp_path, line):
    path = tmp_path / "log.txt"
    good = "1 qid:1 1:1 # ok\n"
    path.write_text(good * 70 + f"{line}\n" + good * 20)
    with pytest.raises(ValueError, match=rf"log\.txt, line 71: .*(?:{WRONG[line]})"):
        load_letor(path)
    with pytest.raises(ValueError, match=r"log\.txt, line 71: "):
        list(iter_lists(path, n_features=5))


def test_long_blanks_take_no_time(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("1 qid:1" + " " * 2**19 + "1:1\n")
    start = time.process_time()
    X, _, _ = load_letor(path)
    assert X.toarray().tolist() == [[1.0]]
    assert time.process_time() - start < 10.0  # a quadratic search took minutes


def test_files_of_many_chunks(tmp_path):
    """Ten megabytes, several chunks of text; an error in the last one."""
    path = tmp_path / "log.txt"
    rows = [f"{i % 3} qid:{i // 10} 1:{i} 3:0.5\n" for i in range(10_000)]
    path.write_text("".join(rows) * 50)
    X, y, qid = load_letor(path)
    np.testing.assert_array_equal(X[:, 0].toarray()[:, 0], np.tile(np.arange(10_000), 50))
    np.testing.assert_array_equal(y, np.tile(np.arange(10_000) % 3, 50))
    np.testing.assert_array_equal(qid, np.tile(np.arange(10_000) // 10, 50))
    with open(path, "a") as file:
        file.write("1 qid:x 1:1\n")
    with pytest.raises(ValueError, match=r"log\.txt, line 500001: .*not an integer"):
        load_letor(path)
