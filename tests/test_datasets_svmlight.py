"""The fast way through SVMlight lines: the same as scikit-learn's reader, or left to it."""

import io
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from lowrank_rank.datasets import _svmlight

FLOAT64 = np.dtype(np.float64)
PIECES = [*"0123456789 .:-+e#|_\t\n", "qid:", " qid:1 ", "\r\n", " 1:", " 2:0.5", "nan"]


def assert_same(part, text, dtype=FLOAT64, zero_based=False):
    X, y, ids = part
    options = {"dtype": dtype, "query_id": True, "zero_based": zero_based}
    expected, grades, qid = load_svmlight_file(io.BytesIO(text), **options)
    assert X.dtype == dtype
    assert X.shape == expected.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(expected, name))
    np.testing.assert_array_equal(y, grades)
    np.testing.assert_array_equal(ids, qid)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_plain_lines_are_read_as_by_scikit_learn(dtype):
    rng = np.random.default_rng(0)
    lines = []
    for row in range(200):
        columns = np.sort(rng.choice(30, rng.integers(0, 9), replace=False)) + 1
        values = rng.standard_normal(len(columns)) * 10.0 ** rng.integers(-300, 30, len(columns))
        pairs = " ".join(f"{j}:{v!r}" for j, v in zip(columns, values.tolist(), strict=True))
        comment = "#docid = G1 inc = 1" if row % 3 == 0 else ""
        lines.append(f"{int(rng.integers(0, 5)) / 4!r}  qid:{row // 7}\t{pairs} {comment}\r\n")
    lines.append("1 qid:9007199254740993 1:1\r\n")  # no float64
    text = ("# head\n\n" + "".join(lines)).encode()[:-2]
    part = _svmlight._parse(text, np.dtype(dtype), False)
    assert part is not None
    assert_same(part, text, np.dtype(dtype))


UNUSUAL = [
    "1 qid:1 2:1 1:1", "1 qid:1 1:1 1:2", "1 qid:1 0:1", "1 qid:1 1.0:1", "1 qid:1 +1:1",
    "1 qid:1.5 1:1", "1 qid:-1 1:1", "1 qid:9999999999999999999 1:1", "1 qid:1 1:1e999",
    "1e999 qid:1", "1 qid:1 1:1-2", "1 qid:1 1:1 2", "1 2:1", "qid:1 1:1", "1 qid:1 1: 2:1",
    "1 qid: 1:1", "1 qid:1 1:nan", "1|1 1:1", "1 qid:1 1:2:3", " 1 qid:1 1:1", "1 qid:1 qid:2",
    "1 qid:1 1:1_0", "1 qid:1 3000000000:1", "1 qid:1 1:0x1", "1 qid:1 1:.", "1 qid:1 1:1e", "",
]  # fmt: skip


@pytest.mark.parametrize("line", UNUSUAL)
def test_whatever_is_unusual_is_left_to_the_careful_reader(line):
    text = f"1 qid:1 1:1\n{line}\n2 qid:1 1:1\n".encode()
    assert (_svmlight._parse(text, FLOAT64, False) is None) == bool(line)
    assert _svmlight._parse(b"# nothing\n", FLOAT64, False) is None


def test_random_lines_are_read_alike_or_left_alone():
    """Pieces of lines in random order: what the fast way reads, the other reads the same."""
    rng = np.random.default_rng(1)
    n_read = 0
    for _ in range(600):
        text = "1 qid:1 1:0.5 2:1\n" * 2
        for _ in range(rng.integers(1, 3)):
            at = rng.integers(len(text))
            text = text[:at] + rng.choice(PIECES) + text[at + rng.integers(0, 2) :]
        text = text.encode()
        part = _svmlight._parse(text, FLOAT64, False)
        if part is not None:
            assert_same(part, text)
            n_read += 1
    assert n_read > 80


@pytest.mark.parametrize("n_bytes", [1, 40, 10**6])
def test_chunks_of_any_size_are_one_file(tmp_path, n_bytes):
    text = "".join(f"{i % 3} qid:{i // 4} {i % 5 + 1}:{i / 7!r}\n" for i in range(50))
    path = tmp_path / "log.txt"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("qid:3 ", "qid:3   ").encode())
    parts = list(_svmlight.read_chunks(path, FLOAT64, False, n_bytes=n_bytes))
    assert len(parts) == {1: 50, 40: len(parts), 10**6: 1}[n_bytes]
    assert_same(_svmlight.join_chunks(parts), text.encode())


def test_errors_name_the_line_in_any_chunk(tmp_path):
    path = Path(tmp_path / "log.txt")
    for wrong, message in (("1 qid:x 1:1", "not an integer"), ("1 qid:1 1:1e999", "infinite")):
        path.write_text("1 qid:1 1:1\n" * 70 + f"{wrong}\n")
        with pytest.raises(ValueError, match=f"log.txt, line 71: .*{message}"):
            list(_svmlight.read_chunks(path, FLOAT64, False, n_bytes=100))
