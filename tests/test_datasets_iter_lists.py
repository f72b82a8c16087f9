"""Blocks of whole lists: the same rows whatever the source and wherever it is cut."""

import gzip
import tracemalloc
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lowrank_rank.datasets import dump_letor, iter_lists, make_ranking

from .refusals import refused_by


@pytest.fixture(scope="module")
def data():
    """Lists one after the other, their ids in no order."""
    X, y, qid = make_ranking(40, (1, 9), n_features=4, random_state=0)
    order = np.argsort(qid, kind="stable")
    return X[order], y[order].astype(float), (qid[order] * 7) % 41


def whole(blocks):
    X, y, qid = zip(*blocks, strict=True)
    X = [one.toarray() if sparse.issparse(one) else np.asarray(one) for one in X]
    return np.concatenate(X), np.concatenate(y), np.concatenate(qid)


def assert_whole_lists(blocks, data, size):
    """Two passes give the data; no list is in two blocks; only a long list exceeds the size."""
    for _ in range(2):
        for part, expected in zip(whole(blocks), data, strict=True):
            np.testing.assert_array_equal(part, expected)
    ids = [list(dict.fromkeys(qid.tolist())) for _, _, qid in blocks]
    assert sum(map(len, ids)) == len(set().union(*ids)) == len(set(data[2].tolist()))
    lengths = [len(y) for _, y, _ in blocks]
    assert all(n <= size or len(one) == 1 for n, one in zip(lengths, ids, strict=True))
    assert all(a + b > size for a, b in pairwise(lengths)) or size < 9


@pytest.mark.parametrize("size", [1, 5, 30, 1000])
def test_arrays_and_memory_maps_give_views(tmp_path, data, size):
    blocks = iter_lists(data, rows_per_block=size)
    assert_whole_lists(blocks, data, size)
    assert all(np.shares_memory(X, data[0]) for X, _, _ in blocks)
    paths = [tmp_path / f"{name}.npy" for name in ("X", "y", "qid")]
    for path, part in zip(paths, data, strict=True):
        np.save(path, part)
    mapped = iter_lists(tuple(paths), rows_per_block=size)
    assert_whole_lists(mapped, data, size)
    assert all(isinstance(X, np.memmap) for X, _, _ in mapped)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("size", [4, 25])
def test_chunks_cut_anywhere_are_joined(data, kind, size):
    rng = np.random.default_rng(0)
    for n_cuts in (0, 3, 60):
        ends = np.sort(rng.choice(np.arange(1, len(data[1])), n_cuts, replace=False))
        parts = [np.split(part, ends) for part in data]
        chunks = [(kind(X), y, qid) for X, y, qid in zip(*parts, strict=True)]
        assert_whole_lists(iter_lists(chunks, rows_per_block=size), data, size)
        assert_whole_lists(
            iter_lists(lambda c=chunks: iter(c), rows_per_block=size), data, size
        )
        assert type(next(iter(iter_lists(chunks)))[0]) is type(chunks[0][0])


def test_a_list_longer_than_a_block_is_one(data):
    long = [([[float(i)]], [0], ["a"]) for i in range(50)] + [([[0.0]], [1], ["b"])]
    assert [len(y) for _, y, _ in iter_lists(long, rows_per_block=3)] == [50, 1]
    for ids, lengths in (
        ([1] * 7 + [2], [7, 1]),
        ([1] * 7, [7]),
        ([0, 1, 1, 1, 2], [1, 3, 1]),
    ):
        arrays = np.zeros((len(ids), 1)), np.zeros(len(ids)), np.array(ids)
        assert [len(y) for _, y, _ in iter_lists(arrays, rows_per_block=2)] == lengths


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("dense", [False, True])
def test_letor_files_in_chunks(tmp_path, data, suffix, dense):
    """Lists that are cut by files, and by the chunks of 4,000 lines in which files are read."""
    X, y, qid = (np.concatenate([part] * 45) for part in data)
    data = X, y, qid + np.repeat(np.arange(45) * 100, len(data[1]))
    paths = [tmp_path / f"{i}.{suffix}" for i in range(2)]
    half = 4100 + int(
        np.argmax(data[2][4100:] == data[2][4099:-1])
    )  # a list that the files cut
    for path, rows in zip(paths, (slice(half), slice(half, None)), strict=True):
        dump_letor(data[0][rows], data[1][rows], data[2][rows], path)
    blocks = iter_lists(paths, rows_per_block=300, dense=dense)
    assert_whole_lists(blocks, data, 300)
    assert all(sparse.issparse(X) != dense for X, _, _ in blocks)
    wide = iter_lists(paths[0], n_features=9, dtype=np.float32)
    assert {(X.shape[1], X.dtype) for X, _, _ in wide} == {(9, np.dtype(np.float32))}


@pytest.mark.parametrize(
    ("lines", "zero_based", "width"),
    [
        ("2 qid:1 3:1 # 9:1\n0 qid:1\n", False, 3),
        ("2 qid:1 3:1 \n0 qid:1\t12:.5\n", True, 13),
        ("2 qid:7\n0 qid:7\n", False, 1),
    ],
)
def test_letor_width_is_the_highest_feature_of_all_files(
    tmp_path, lines, zero_based, width
):
    (tmp_path / "a.txt").write_text("1 qid:0 2:1\n")
    (tmp_path / "b.txt").write_text(lines)
    blocks = iter_lists([tmp_path / "a.txt", tmp_path / "b.txt"], zero_based=zero_based)
    assert {X.shape[1] for X, _, _ in blocks} == {max(width, 2 + zero_based)}


@pytest.mark.parametrize(
    "last", ["3:1 x:2", "99999999999:1", "2147483648:1", "1_0:1", "4:1 2:1"]
)
def test_letor_lines_are_refused_where_the_width_is_not_given(tmp_path, last):
    path = tmp_path / "log.txt"
    path.write_text(f"1 qid:1 1:1\n0 qid:1 {last}\n")
    with pytest.raises(ValueError, match=r"log.txt, line 2: not readable"):
        list(iter_lists(path))


def test_letor_errors_name_the_line(tmp_path):
    path = tmp_path / "log.txt.gz"
    text = "# head\n" + "".join(f"0 qid:{i // 2} 1:{i} 3:0.5\n" for i in range(20))
    path.write_bytes(gzip.compress((text + "1 qid:4 1:1\n").encode()))
    with refused_by("list comes again"):
        list(iter_lists(path, rows_per_block=3))
    with refused_by("feature beyond n_features"):
        list(iter_lists(path, n_features=2))
    with refused_by("value beyond dtype"):
        list(iter_lists(path, dtype=np.int64))
    path.write_bytes(path.read_bytes()[:-12])
    with refused_by("damaged file"):
        list(iter_lists(path))
    with pytest.raises(FileNotFoundError):
        iter_lists(tmp_path / "none.txt")


def test_lists_that_come_back_are_refused_with_their_place(data):
    X, y = np.zeros((6, 1)), np.zeros(6)
    for qid, row in (
        ([1, 2, 1, 3, 4, 5], 2),
        ([1, 2, 3, 4, 5, 2], 5),
        ([1, 1, 2, 2, 1, 1], 4),
    ):
        for size in (1, 2, 100):
            blocks = iter_lists((X, y, np.array(qid)), rows_per_block=size)
            with pytest.raises(
                ValueError, match=f"list {qid[row]} is also at row {row},"
            ):
                list(blocks)
    chunks = [([[0.0]], [0], [i]) for i in ("a", "b", "a")]
    with pytest.raises(ValueError, match="list 'a' is also at row 2 of all chunks"):
        list(iter_lists(chunks))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_lists_come_back_after_sorted_ids(tmp_path, size):
    """Files whose ids rise within each: an id may be lower than the one before, but not again."""
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    ids = [[10, 11, 12], [5, 6, 7], [8, 13]]
    for path, some in zip(paths, ids, strict=True):
        path.write_text("".join(f"1 qid:{i} 1:1\n" for i in some))
    blocks = iter_lists(paths, rows_per_block=size)
    assert np.concatenate([qid for _, _, qid in blocks]).tolist() == [
        *ids[0],
        *ids[1],
        *ids[2],
    ]
    paths[2].write_text("1 qid:8 1:1\n1 qid:11 1:1\n")
    with refused_by("list comes again"):
        list(iter_lists(paths, rows_per_block=size))


def test_sorted_ids_are_not_kept():
    n = 100_000
    arrays = np.zeros((n, 1)), np.zeros(n), np.arange(n)
    tracemalloc.start()
    assert sum(1 for _ in iter_lists(arrays, rows_per_block=1000)) == n // 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * n  # a set of ids takes 90 bytes for each list


def test_ids_of_chunks_are_not_converted():
    chunks = [([[0.0]], [0], ["1"]), ([[0.0]], [0], [1]), ([[0.0]], [0], [("a", 1)])]
    assert [q for _, _, qid in iter_lists(chunks) for q in qid] == ["1", 1, ("a", 1)]
    large = [
        ([[0.0]], [0], np.array([2**63 + 1], np.uint64)),
        ([[0.0]], [0], np.array([-1])),
    ]
    assert [q for _, _, qid in iter_lists(large) for q in qid] == [2**63 + 1, -1]


def test_an_iterator_is_passed_over_once(data):
    blocks = iter_lists(iter([data]))
    assert len(list(blocks)) == 1
    with refused_by("second pass over an iterator"):
        list(blocks)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (3, {}, "source must be a path"),
        ([], {}, "contains no rows"),
        ([(1, 2)], {}, "a triple"),
        ([([[0.0]], [0, 1], [1])], {}, "inconsistent"),
        ([([0.0], [0], [1])], {}, "two dimensions"),
        (
            [([[0.0]], [0], [1]), ([[0.0, 1.0]], [0], [1])],
            {},
            "2 features follows one of 1",
        ),
        ([([[0.0]], [0], [np.nan])], {}, "missing"),
        (["a.parquet", "b.txt"], {}, "one format"),
        ([], {"rows_per_block": 0}, "rows_per_block must be"),
        ([], {"verbose": -1}, "verbose must be"),
    ],
)
def test_what_does_not_fit_is_named(source, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        list(iter_lists(source, **options))


def test_progress(data, capsys):
    list(iter_lists(data, rows_per_block=100, verbose=2))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[iter_lists] block 1: ")
    assert f"{len(data[1])} rows, 40 lists" in lines[-1]
    assert "ListBlocks(<arrays of" in repr(iter_lists(data))


def test_parquet_files(tmp_path, data):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(data[0], columns=list("abcd")).assign(
        grade=data[1], qid=data[2]
    )
    half = len(frame) // 2 + 1
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    frame[:half].to_parquet(paths[0])
    frame[half:][[*"dcba", "qid", "grade"]].to_parquet(paths[1], row_group_size=10)
    blocks = iter_lists(paths, rows_per_block=20, y_column="grade")
    assert_whole_lists(blocks, data, 20)
    by_pattern = iter_lists(
        f"{tmp_path}/*.parquet", rows_per_block=20, y_column="grade"
    )
    assert_whole_lists(by_pattern, data, 20)
    with pytest.raises(FileNotFoundError, match="No file has a name like"):
        iter_lists(f"{tmp_path}/none*.parquet")
    with refused_by("no such column of Parquet file"):
        list(iter_lists(paths))
    chosen = iter_lists(paths, y_column="grade", feature_columns=["d", "b"])
    assert_whole_lists(chosen, (data[0][:, [3, 1]], *data[1:]), 100_000)
    frame.rename(columns={"a": "z"}).to_parquet(paths[1])
    with refused_by("other columns in Parquet file"):
        list(iter_lists(paths, y_column="grade"))


def test_parquet_files_with_other_names(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [0.0, 1.0], "grade": [0, 1], "query": [1, 1]})
    frame.to_parquet(tmp_path / "0.parquet")
    with refused_by("no such column of Parquet file"):
        list(iter_lists(tmp_path / "0.parquet", y_column="grade"))
    names = {"y_column": "grade", "qid_column": "query"}
    with refused_by("no such column of Parquet file"):
        list(iter_lists(tmp_path / "0.parquet", feature_columns=["b"], **names))
    with pytest.raises(
        ValueError, match="feature_columns must be a list of strings or None"
    ):
        iter_lists(tmp_path / "0.parquet", feature_columns="a", **names)
    for chosen in ([], ["a", "a"], ["a", "grade"], ["query"]):
        with refused_by("names of feature_columns"):
            iter_lists(tmp_path / "0.parquet", feature_columns=chosen, **names)
    with pytest.raises(
        IsADirectoryError, match=r"is a folder: give its files, .*/\*.parquet'"
    ):
        iter_lists(tmp_path)


@pytest.mark.parametrize(
    ("values", "dtype", "row"),
    [
        ([0.0, 1.7], np.int8, 1),
        ([0.0, -1.0, 300.0], np.int8, 2),
        ([1, 2**60 + 1], np.int32, 1),
        ([-1, 0], np.uint64, 0),
        ([1.0, 1e300], np.float32, 1),
        ([1.0, -np.inf], np.float64, 1),
        ([1.0, None], np.int64, 1),
        ([Decimal("2.0"), Decimal("1.5")], np.int64, 1),
        ([Decimal("1.5"), Decimal("1e39")], np.float32, 1),
        (["1", "two"], np.float64, 0),
        (pd.to_datetime(["2020-01-01"] * 2), np.float64, 0),
    ],
)
def test_values_of_parquet_that_a_type_cannot_represent_are_refused(
    tmp_path, values, dtype, row
):
    pytest.importorskip("pyarrow")
    n = len(values)
    frame = pd.DataFrame(
        {"a": 0, "b": values, "y": np.zeros(n), "qid": np.arange(n) // 2}
    )
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    with refused_by("value of Parquet column"):
        list(iter_lists(path, dtype=dtype))


def test_text_ids_of_parquet(tmp_path):
    """Ids in runs; one that is missing or comes back is refused by its row."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame({"a": np.arange(6.0), "y": [0, 1] * 3, "qid": list("qqrrrs")})
    frame.to_parquet(path)
    blocks = list(iter_lists(path, rows_per_block=3))
    assert [qid.tolist() for _, _, qid in blocks] == [
        ["q", "q"],
        ["r", "r", "r"],
        ["s"],
    ]
    for wrong, message in (
        (None, r"missing or infinite id \(row 5"),
        ("q", "'q' is also at .*5"),
    ):
        frame.loc[5, "qid"] = wrong
        frame.to_parquet(path)
        with pytest.raises(ValueError, match=message):
            list(iter_lists(path))


def test_values_of_parquet_keep_their_value(tmp_path):
    pytest.importorskip("pyarrow")
    big = [2**60 + 1, -(2**60), 0]
    frame = pd.DataFrame(
        {"a": big, "b": [True, False, True], "y": [1, 0, 2], "qid": [1, 1, 1]}
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    ((X, y, _),) = iter_lists(tmp_path / "rows.parquet", dtype=np.int64)
    assert X.dtype == np.int64
    assert X.tolist() == frame[["a", "b"]].astype(np.int64).to_numpy().tolist()
    assert y.tolist() == [1, 0, 2]
    missing = frame.assign(a=[0.5, np.nan, 1.0])
    missing.to_parquet(tmp_path / "rows.parquet")
    ((X, _, _),) = iter_lists(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(X[:, 0], missing["a"])


def test_files_that_cannot_be_read_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    columns = [pa.array([i, i]) for i in range(4)]
    parquet.write_table(pa.table(columns, names=["a", "y", "qid", "a"]), path)
    with refused_by("column twice in Parquet file"):
        list(iter_lists(path))
    parquet.write_table(pa.table(columns[:3], names=["a", "y", "qid"]), path)
    for damaged in (path.read_bytes()[:-9], b"", b"PAR1" + b"x" * 50 + b"PAR1"):
        path.write_bytes(damaged)
        with refused_by("unreadable Parquet file"):
            list(iter_lists(path))
    arrays = [tmp_path / f"{name}.npy" for name in "Xyq"]
    for one in arrays:
        np.save(one, np.zeros(2))
    for damaged in (arrays[0].read_bytes()[:40], b"", b"not an array"):
        arrays[0].write_bytes(damaged)
        with refused_by("unreadable array"):
            iter_lists(tuple(arrays))
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "folder.npy").mkdir()
    for folder in ("folder.parquet", ("folder.npy", "y.npy", "q.npy")):
        parts = folder if isinstance(folder, tuple) else (folder,)
        source = tuple(tmp_path / part for part in parts)
        with pytest.raises(OSError, match=r"folder"):
            iter_lists(source if len(source) == 3 else source[0])


def test_memory_is_that_of_a_few_blocks():
    """The rows of 40 chunks are never in memory together."""

    def chunks():
        for i in range(40):
            yield (
                np.full((1000, 50), float(i)),
                np.zeros(1000),
                np.arange(i * 1000, (i + 1) * 1000),
            )

    blocks = iter_lists(chunks, rows_per_block=700)
    tracemalloc.start()
    n_rows = sum(len(y) for _, y, _ in blocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 40_000
    assert peak < 0.5 * n_rows * 50 * 8


def test_files_are_read_lazily(tmp_path):
    """A line that is wrong at the end of a file does not stop the blocks before."""
    path = tmp_path / "log.txt"
    path.write_text(
        "".join(f"1 qid:{i // 10} 1:{i}\n" for i in range(20_000)) + "1 qid:x\n"
    )
    blocks = iter(iter_lists(path, n_features=1, rows_per_block=500))
    assert next(blocks)[0].toarray().ravel().tolist() == list(range(500))
    with refused_by("qid of text in file"):
        list(blocks)
