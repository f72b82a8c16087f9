"""Files written and read back; generators with the truth that they claim."""

import bz2
import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.datasets import (
    dump_letor,
    load_digits_retrieval,
    load_letor,
    make_label_ranking,
    make_ranking,
)

from .internals import InputError
from .refusals import refused_by

fuzz = settings(derandomize=True, deadline=None, database=None, max_examples=150)


# Files read -------------------------------------------------------------------------


def test_several_files_share_their_features(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:3 1:1\n0 qid:3 2:1\n")
    with gzip.open(tmp_path / "b.gz", "wt") as file:
        file.write("# comment\n2 qid:9 5:0.5 # docid = d1\n")
    with bz2.open(tmp_path / "c.bz2", "wt") as file:
        file.write("0 qid:1 3:2\n")
    parts = load_letor([tmp_path / "a.txt", tmp_path / "b.gz", str(tmp_path / "c.bz2")])
    assert [X.shape[1] for X, _, _ in parts] == [5, 5, 5]
    assert [qid.tolist() for _, _, qid in parts] == [[3, 3], [9], [1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:0.5\n", "line 1: .*qid"),
        ("1 qid:1 1:0.5\n0 1:0.5\n", "line 2: .*qid"),
        ("1 qid:1 1:0.5\n\n# qid:3\n0 # qid:1\n", "line 4: .*no qid"),
        ("1 qid:1 1:0.5\n0 qidx:1 1:0.5\n", "line 2: .*no qid"),
        ("one qid:1 1:0.5\n", "line 1: not readable.*'one qid:1 1:0.5'"),
        (
            "# head\n1 qid:1 1:0.5\n1 qid:1 1:0.5 NULL\n",
            "line 3: not readable.*'NULL' is not",
        ),
        ("1 qid:1 1:\n", "line 1: .*'1:' does not hold a number"),
        ("1 qid:1.5 1:1\n", "line 1: .*'1.5' is not an integer"),
        ("1 qid:99999999999999999999 1:1\n", "line 1: .*64 bits"),
        ("1 qid:1 1:1\n1 qid:1 3:1 2:1\n", "line 2: .*sorted"),
        ("1 qid:1 1:1\n1 qid:1 1:1 1:1\n", "line 2: .*unique"),
        ("1 qid:1 4294967296:1\n", "line 1: "),
        ("1 qid:1 1_0:1\n", "line 1: .*'_'"),
        ("1 qid:1 1:1\n\n1 qid:1 1:1e999\n", "line 3: .*a value is infinite"),
        (
            "1 qid:-1 1:1\n1 qid:18446744073709551615 1:1\n",
            "from -1 to 18446744073709551615",
        ),
        ("1 qid:1 1:1\n1 qid:1 0:1 1:1\n", "line 2: .*feature 0, .*zero_based = True"),
        ("", "no data"),
        ("# nothing\n\n", "no data"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    path = tmp_path / "broken.txt"
    path.write_text(text)
    if "from -1" in message:
        with pytest.raises(ValueError, match=message):
            load_letor(path)
        return
    with pytest.raises(ValueError, match=f"(?s)broken.txt.*{message}"):
        load_letor(path)


def test_missing_files_and_empty_lists(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="at least one path"):
        load_letor([])
    with refused_by("another number of ids"):
        dump_letor(np.eye(2), [1, 0], [1], tmp_path / "f.txt")


def test_real_letor_files(data_folder):
    X, y, qid = load_letor(data_folder / "letor" / "clueweb09" / "fold1.txt.gz")
    assert X.shape[1] == 42
    assert set(y) <= set(range(5))
    model = LowRankSurrogateRanker(target_loss="ndcg@10")
    scores, by_chance = [], []
    for train, test in GroupKFold(3).split(
        X, y, qid
    ):  # four queries a fold: means tell more
        model.fit(X[train], y[train], qid=qid[train])
        scores.append(model.score(X[test], y[test], qid=qid[test]))
        constant = np.zeros(len(test))
        by_chance.append(model.target_loss_.measure(y[test], constant, qid=qid[test]))
    assert np.mean(scores) > 1.3 * np.mean(by_chance)


@pytest.mark.parametrize(("suffix", "opener"), [("gz", gzip.open), ("bz2", bz2.open)])
def test_damaged_packed_files_are_named(tmp_path, suffix, opener):
    path = tmp_path / f"log.{suffix}"
    with opener(path, "wt") as file:
        file.write("1 qid:1 1:0.5\n" * 50_000)
    packed = path.read_bytes()
    for damaged in (
        packed[:-9],
        packed[: len(packed) // 2],
        b"1 qid:1 1:0.5\n",
        b"1" + packed,
    ):
        path.write_bytes(damaged)
        with refused_by("damaged file"):
            load_letor(path)


def test_byte_order_mark(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"\xef\xbb\xbf2 qid:7 1:0.5\r\n1 qid:7 2:1\r\n")
    X, y, qid = load_letor(path)
    assert (X.toarray().tolist(), y.tolist()) == ([[0.5, 0.0], [0.0, 1.0]], [2.0, 1.0])
    assert qid.tolist() == [7, 7]


def test_features_are_counted_from_1_whatever_occurs(tmp_path):
    """Neither a file without features nor a feature 0 shifts the columns of another file."""
    from_1, from_0, empty = (tmp_path / name for name in ("from_1", "from_0", "empty"))
    from_1.write_text("1 qid:1 1:0.5 2:2\n")
    from_0.write_text("1 qid:1 0:0.5 1:2\n")
    empty.write_text("1 qid:1\n")
    parts = load_letor([from_1, empty])
    assert [X.toarray().tolist() for X, _, _ in parts] == [[[0.5, 2.0]], [[0.0, 0.0]]]
    with refused_by("feature 0"):
        load_letor([from_1, from_0])
    assert load_letor(from_0, zero_based=True)[0].toarray().tolist() == [[0.5, 2.0]]
    assert load_letor(from_1, zero_based=True)[0].toarray().tolist() == [
        [0.0, 0.5, 2.0]
    ]


def test_arrays_for_those_who_take_no_sparse_matrix(tmp_path):
    X, y, qid = make_ranking(5, (1, 6), n_features=4, random_state=0)
    dump_letor(X, y, qid, tmp_path / "log.txt")
    read = load_letor(tmp_path / "log.txt", dense=True)[0]
    assert isinstance(read, np.ndarray)
    np.testing.assert_array_equal(read, X)
    np.testing.assert_allclose(
        StandardScaler().fit_transform(read).mean(axis=0), 0, atol=1e-12
    )
    (tmp_path / "wide.txt").write_text("1 qid:1 2147483647:1\n" * 10_000)
    with pytest.raises(ValueError, match=r"wide\.txt as an array would take .* GiB"):
        load_letor(tmp_path / "wide.txt", dense=True)


def test_types_of_features(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("1 qid:1 1:1 2:200\n# c\n0 qid:1 1:3 2:0.5\n")
    assert load_letor(path, dtype="float32")[0].dtype == np.float32
    with refused_by("value beyond dtype"):
        load_letor(path, dtype=int)
    path.write_text("1 qid:1 1:1 2:200\n")
    read = load_letor(path, dtype=np.uint8, dense=True)[0]
    assert (read.dtype, read.tolist()) == (np.uint8, [[1, 200]])
    with refused_by("value beyond dtype"):
        load_letor(path, dtype=np.int8)
    path.write_text("1 qid:1 1:1\n1 qid:1 1:1e300\n")
    with refused_by("infinite value in file"):
        load_letor(path, dtype=np.float32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "path must be a path, str or Path, or a list of .*, got None"),
        ((3,), "path must be a path"),
        (([None],), "path must be a path"),
        ((["a", 3],), "path must be a path"),
    ],
)
def test_paths_are_paths(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        load_letor(*arguments)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_features": 0}, "n_features must be an integer >= 1"),
        ({"n_features": 2.5}, "n_features must be"),
        ({"n_features": True}, "n_features must be"),
        ({"n_features": 2}, r"log\.txt, line 2: feature 3, but n_features=2"),
        ({"dtype": "x"}, "dtype must be float64, float32 or an integer type"),
        ({"dtype": complex}, "dtype must be"),
        ({"zero_based": "auto"}, "zero_based must be True or False"),
        ({"dense": "x"}, "dense must be True or False"),
    ],
)
def test_arguments_of_the_reader(tmp_path, params, message):
    (tmp_path / "log.txt").write_text("1 qid:1 1:1\n1 qid:1 3:1\n")
    with pytest.raises((ValueError, TypeError), match=message):
        load_letor(tmp_path / "log.txt", **params)


WORDS = [
    *(
        b"1",
        b"0",
        b"-1",
        b"2.5",
        b"one",
        b"nan",
        b"1e999",
        b"+3",
        b"1_0",
        b"\x00",
        b"\xff",
        b"#",
    ),
    *(
        b"qid:1",
        b"qid:7",
        b"qid:",
        b"qid:x",
        b"qid",
        b"qid:18446744073709551615",
        b"qid:-2",
    ),
    *(
        b"1:1",
        b"2:0.5",
        b"3:-1e-5",
        b"0:1",
        b"1:",
        b":",
        b"2:x",
        b"9:nan",
        b"5:1:1",
        b"4294967296:1",
    ),
    *(b"# docid = G_1", b"\r", b"\x85", b"\xef\xbb\xbf", b"1:" + b"9" * 5000),
]
good_line = st.builds(
    lambda grade, qid, features: b"%d qid:%d %b" % (grade, qid, b" ".join(features)),
    st.integers(0, 4),
    st.integers(-3, 2**63),
    st.lists(
        st.sampled_from([b"%d:%d" % (i, i) for i in range(1, 5)]), unique=True
    ).map(sorted),
)
bad_line = st.lists(st.sampled_from(WORDS), max_size=5).map(b" ".join)
text_of_lines = st.lists(good_line | good_line | bad_line, max_size=5).map(b"\n".join)
damage = st.tuples(st.integers(0, 60), st.binary(max_size=2), st.booleans())


def outcome_of(read, path):
    """What is read of a file, or the error of ours that refuses it."""
    try:
        return read(path)
    except ValueError as error:
        return error if isinstance(error, InputError) else pytest.fail(repr(error))


@fuzz
@given(
    text=text_of_lines | st.binary(max_size=40),
    cut=damage,
    suffix=st.sampled_from(["txt", "gz", "bz2"]),
)
def test_any_bytes_are_read_or_refused_with_file_and_line(text, cut, suffix):
    content = {"txt": bytes, "gz": gzip.compress, "bz2": bz2.compress}[suffix](text)
    at, inserted, is_damaged = cut
    if is_damaged:
        content = content[:at] + inserted + content[at + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{suffix}"
        path.write_bytes(content)
        outcome = outcome_of(load_letor, path)
        if isinstance(outcome, ValueError):
            known = (
                f"{path}, line ",
                f"{path} contains no data",
                f"{path} is a file in UTF-16",
                "The files hold ids from",
            )
            assert str(outcome).startswith(known), outcome
        else:
            X, y, qid = outcome
            assert X.shape[0] == len(y) == len(qid) > 0
            assert not np.isinf(X.data).any()


# Files written ----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".txt", ".gz", ".bz2"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_round_trip(tmp_path, suffix, kind):
    X, y, qid = make_ranking(5, (1, 6), n_features=4, random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    order = np.random.default_rng(0).permutation(len(y))
    path = tmp_path / f"log{suffix}"
    ids = dump_letor(kind(X[order]), y[order], 10 * qid[order], path, comment="a log")
    again, grades, read = load_letor(path, n_features=4)
    assert sparse.issparse(again)
    np.testing.assert_allclose(again.toarray(), X[order])
    np.testing.assert_array_equal(grades, y[order])
    np.testing.assert_array_equal(read, 10 * qid[order])
    assert set(ids) == set(10 * qid)


def test_other_ids_are_numbered_and_given_back(tmp_path):
    ids = dump_letor(np.eye(3), [1, 0, 2], ["b", "a", "b"], tmp_path / "f.txt")
    assert ids.tolist() == ["b", "a"]
    assert load_letor(tmp_path / "f.txt")[2].tolist() == [1, 2, 1]


NUMBERS = ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "?"]


@fuzz
@given(data=st.data())
def test_what_is_written_is_read_back_bit_by_bit(data):
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
    finite = {"allow_nan": False, "allow_infinity": False}

    def draw(types, shape):
        dtype = np.dtype(data.draw(st.sampled_from(types)))
        elements = arrays.from_dtype(dtype, **(finite if dtype.kind == "f" else {}))
        return data.draw(arrays.arrays(dtype, shape, elements=elements))

    X, y = draw(NUMBERS, shape), draw(NUMBERS, shape[0])
    qid = draw(["i1", "i8", "u4", "u8", "U2", "?"], shape[0])
    if qid.dtype.kind in "iu" and data.draw(st.booleans()):
        qid = qid.astype(object)
    kinds = (
        [np.asarray]
        if X.dtype == np.float16
        else [np.asarray, sparse.csr_matrix, sparse.coo_array]
    )
    kind, suffix = (
        data.draw(st.sampled_from(kinds)),
        data.draw(st.sampled_from(["txt", "gz", "bz2"])),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{suffix}"
        ids = dump_letor(kind(X), y, qid, path)
        X_read, y_read, qid_read = load_letor(path, n_features=shape[1], dense=True)
        assert [file.name for file in Path(folder).iterdir()] == [path.name]
    assert X_read.dtype == np.float64
    np.testing.assert_array_equal(X_read, X.astype(np.float64))
    assert y_read.tobytes() == y.astype(np.float64).tobytes()
    if qid.dtype.kind not in "Ub":
        assert qid_read.tolist() == qid.tolist()
    else:
        assert ids[qid_read - 1].tolist() == qid.tolist()


@pytest.mark.parametrize("dtype", [np.uint64, object])
def test_large_integer_ids_are_written_and_read_as_they_are(tmp_path, dtype):
    qid = np.array([2**64 - 1, 2**63, 2**63, 5], dtype=dtype)
    ids = dump_letor(np.eye(4), [0, 1, 0, 1], qid, tmp_path / "a.txt")
    assert ids.tolist() == [2**64 - 1, 2**63, 5]
    read = load_letor(tmp_path / "a.txt")[2]
    assert (read.dtype, read.tolist()) == (np.uint64, qid.tolist())
    dump_letor(np.eye(2), [0, 1], np.array([40, 30], dtype=dtype), tmp_path / "b.txt")
    parts = load_letor([tmp_path / "b.txt", tmp_path / "a.txt"])
    joined = np.concatenate(
        [ids for _, _, ids in parts]
    )  # of int64 and uint64 would be floats
    assert joined.tolist() == [40, 30, *qid.tolist()]


def test_integer_ids_beyond_64_bits(tmp_path):
    for ids in ([2**64, 1], [-1, 2**63]):
        with refused_by("ids beyond 64 bits"):
            dump_letor(
                np.eye(2), [1, 0], np.array(ids, dtype=object), tmp_path / "f.txt"
            )
    assert not list(tmp_path.iterdir())


def test_duplicate_entries_are_added_up(tmp_path):
    X = sparse.csr_matrix(([1.0, 2.0, 4.0, 8.0], [1, 1, 0, 1], [0, 3, 4]), shape=(2, 2))
    dump_letor(X, [1, 0], [1, 1], tmp_path / "f.txt")
    assert X.data.tolist() == [1, 2, 4, 8]  # the user's matrix is as it was
    assert load_letor(tmp_path / "f.txt", dense=True)[0].tolist() == [[4, 3], [0, 8]]
    X = sparse.csr_matrix(([1e308, 1e308], [0, 0], [0, 2]), shape=(1, 1))
    with refused_by("infinite sum of duplicates"):
        dump_letor(X, [1], [1], tmp_path / "f.txt")


BAD_TO_WRITE = [
    ((np.array([[np.nan], [1]]), [1, 0], [1, 1]), "NaN"),
    ((np.array([[np.inf], [1]]), [1, 0], [1, 1]), "infinity"),
    ((np.eye(2), [1, np.nan], [1, 1]), "NaN"),
    ((np.eye(2), [1, 0, 1], [1, 1, 1]), "one grade for each of the 2 rows"),
    ((np.eye(2), [[1], [0]], [1, 1]), "one grade for each"),
    ((np.eye(2), [1, 0], [1]), "one query id"),
    ((np.eye(2), [1, 0], [1, None]), "missing"),
    ((np.eye(2), [1, 0], None), "query id"),
    ((np.ma.masked_array(np.eye(2), np.eye(2)), [1, 0], [1, 1]), "masked"),
    (
        (sparse.csr_matrix(([1.0], ([0], [2**31 - 1])), (2, 2**31)), [1, 0], [1, 1]),
        "beyond feat",
    ),
]


@pytest.mark.parametrize(("data", "message"), BAD_TO_WRITE)
@pytest.mark.parametrize("name", ["log.txt", "log.gz"])
def test_a_file_stays_as_it_was_where_nothing_can_be_written(
    tmp_path, name, data, message
):
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=message):
        dump_letor(*data, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space left")])
@pytest.mark.parametrize("exists", [True, False])
def test_an_interrupt_leaves_the_old_file_and_nothing_beside_it(
    tmp_path, monkeypatch, error, exists
):
    def interrupted(self, data):
        raise error

    path = tmp_path / "log.gz"
    if exists:
        path.write_bytes(b"old")
    monkeypatch.setattr(gzip.GzipFile, "write", interrupted)
    with pytest.raises((KeyboardInterrupt, OSError)):
        dump_letor(np.eye(2), [1, 0], [1, 1], path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"] * exists


def test_replaced_files_keep_their_mode_and_links(tmp_path):
    path, link = tmp_path / "log.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    dump_letor(np.eye(2), [1, 0], [1, 1], link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert len(load_letor(path)[1]) == 2
    for bad in (tmp_path, os.devnull):
        with refused_by("folder in place of file"):
            dump_letor(np.eye(2), [1, 0], [1, 1], bad)
    with pytest.raises(FileNotFoundError, match=r"none/log\.txt cannot be written"):
        dump_letor(np.eye(2), [1, 0], [1, 1], tmp_path / "none" / "log.txt")
    with pytest.raises((ValueError, TypeError), match="path must be a path"):
        dump_letor(np.eye(2), [1, 0], [1, 1], None)
    with pytest.raises(
        (ValueError, TypeError), match="comment must be a string or None"
    ):
        dump_letor(np.eye(2), [1, 0], [1, 1], path, comment=3)


def test_comments_of_several_lines(tmp_path):
    dump_letor(
        np.eye(2), [1, 0], [1, 1], tmp_path / "f.txt", comment="a\nb \ud800\x85c"
    )
    assert (tmp_path / "f.txt").read_bytes().startswith(b"# a\n# b ")
    assert load_letor(tmp_path / "f.txt")[1].tolist() == [1, 0]


# Generators -------------------------------------------------------------------------


def test_make_ranking():
    X, y, qid = make_ranking(200, (2, 9), n_grades=4, random_state=1)
    lengths = np.bincount(qid)
    assert (lengths.min(), lengths.max()) == (2, 9)
    assert set(y) == {0.0, 1.0, 2.0, 3.0}
    assert np.mean(y == 0) == pytest.approx(0.5, abs=0.02)
    again = make_ranking(200, (2, 9), n_grades=4, random_state=1)
    np.testing.assert_array_equal(X, again[0])
    fit = LowRankSurrogateRanker(target_loss="pd", alpha=0.1).fit(X, y, qid=qid)
    pooled = clone(fit).set_params(centered=False).fit(X, y, qid=qid)
    assert fit.score(X, y, qid=qid) > pooled.score(X, y, qid=qid)
    with pytest.raises(ValueError, match="n_items"):
        make_ranking(3, (5, 2))


def test_make_label_ranking_draws_from_its_distribution():
    data = make_label_ranking(
        20_000, 3, n_labels=4, n_grades=3, n_features=6, random_state=0
    )
    assert data.data.shape == (20_000, 6)
    expected = data.probabilities @ data.support
    np.testing.assert_allclose(
        data.target.mean(axis=0), expected.mean(axis=0), atol=0.03
    )
    solution = np.linalg.lstsq(data.data, expected, rcond=None)[0]
    np.testing.assert_allclose(data.data @ solution, expected, atol=1e-8)
    assert np.all(data.support.max(axis=1) > 0)
    assert np.all(data.support.min(axis=1) == 0)
    with pytest.raises(ValueError, match="n_features"):
        make_label_ranking(5, 3, n_labels=4, n_features=3)
    with pytest.raises(ValueError, match="n_items"):
        make_label_ranking(5, 1)


def test_digits_retrieval():
    digits = load_digits_retrieval(n_queries=60, n_candidates=30, return_images=True)
    assert digits.data.shape == (1800, len(digits.feature_names))
    assert np.all(np.isfinite(digits.data))
    assert digits.target.mean() == pytest.approx(0.1, abs=0.03)
    assert np.all(digits.query[digits.qid] != digits.candidate)
    again = load_digits_retrieval(n_queries=60, n_candidates=30)
    np.testing.assert_array_equal(again.data, digits.data)
    train = digits.qid < 40
    model = LowRankSurrogateRanker(target_loss="map").fit(
        digits.data[train], digits.target[train], qid=digits.qid[train]
    )
    test = ~train
    assert (
        model.score(digits.data[test], digits.target[test], qid=digits.qid[test]) > 0.7
    )
    with pytest.raises(ValueError, match="between 1 and"):
        load_digits_retrieval(n_candidates=0)


def test_digits_retrieval_from_all_images():
    """Every image is a query once, and can have all others as candidates."""
    digits = load_digits_retrieval(n_queries=1797, n_candidates=1, return_images=True)
    assert sorted(digits.query) == list(range(1797))
    digits = load_digits_retrieval(n_queries=2, n_candidates=1796, return_images=True)
    for i, query in enumerate(digits.query):
        others = set(range(1797)) - {query}
        assert set(digits.candidate[digits.qid == i]) == others
    for params in ({"n_queries": 1798}, {"n_candidates": 1797}):
        with pytest.raises(ValueError, match="an integer between 1 and 179"):
            load_digits_retrieval(**params)


def test_digits_retrieval_from_a_catalogue():
    """Lists of unequal length, common and rare candidates, evenly drawn queries."""
    popularity = 1.0 / np.arange(1, 11)
    digits = load_digits_retrieval(
        n_queries=300, n_candidates=(5, 80), popularity=popularity, return_images=True
    )
    lengths = np.bincount(digits.qid)
    assert lengths.min() == 5
    assert lengths.max() in (79, 80)
    assert np.median(lengths) == pytest.approx(
        20, abs=5
    )  # the geometric mean of 5 and 80
    shown = load_digits().target
    counts = np.bincount(shown[digits.candidate], minlength=10) / len(digits.candidate)
    np.testing.assert_allclose(counts, popularity / popularity.sum(), atol=0.03)
    assert np.ptp(np.bincount(shown[digits.query])) < 30
    pairs = np.column_stack([digits.qid, digits.candidate])
    assert len(np.unique(pairs, axis=0)) == len(pairs)  # without replacement
    assert np.all(digits.query[digits.qid] != digits.candidate)
    same = shown[digits.query[digits.qid]] == shown[digits.candidate]
    np.testing.assert_array_equal(digits.target, same)


@pytest.mark.parametrize(
    ("generator", "params"),
    [
        (make_ranking, {"n_lists": -1}),
        (make_ranking, {"n_lists": 2.0}),
        (make_ranking, {"n_items": (5, 2)}),
        (make_ranking, {"n_items": (1, 2, 3)}),
        (make_ranking, {"n_items": (1.5, 2)}),
        (make_ranking, {"n_items": "ab"}),
        (make_ranking, {"n_items": 0}),
        (make_ranking, {"n_features": 0}),
        (make_ranking, {"n_informative": 0}),
        (make_ranking, {"n_grades": 0}),
        (make_ranking, {"noise": -1}),
        (make_ranking, {"noise": np.nan}),
        (make_ranking, {"random_state": -1}),
        (make_ranking, {"random_state": "x"}),
        (make_label_ranking, {"n_samples": -1}),
        (make_label_ranking, {"n_items": "x"}),
        (make_label_ranking, {"n_labels": 0}),
        (make_label_ranking, {"n_grades": 1}),
        (make_label_ranking, {"n_features": -2}),
        (make_label_ranking, {"random_state": -1}),
        (load_digits_retrieval, {"n_queries": "x"}),
        (load_digits_retrieval, {"n_queries": 2.5}),
        (load_digits_retrieval, {"n_queries": -1}),
        (load_digits_retrieval, {"n_candidates": 1797}),
        (load_digits_retrieval, {"n_candidates": (3, 2)}),
        (load_digits_retrieval, {"n_candidates": (0, 2)}),
        (load_digits_retrieval, {"popularity": np.ones(9)}),
        (load_digits_retrieval, {"popularity": np.zeros(10)}),
        (load_digits_retrieval, {"return_images": "x"}),
        (load_digits_retrieval, {"random_state": -1}),
    ],
)
def test_generators_check_their_parameters(generator, params):
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be"):
        generator(**params)


def test_explicit_zeros_are_not_written(tmp_path):
    X = sparse.csr_matrix(([0.0, 2.0, 0.0], ([0, 0, 1], [0, 1, 2])), shape=(2, 3))
    dump_letor(X, [1, 0], [1, 1], tmp_path / "rows.txt")
    assert (tmp_path / "rows.txt").read_text() == "1 qid:1 2:2\n0 qid:1\n"
    assert X.nnz == 3


def test_digits_as_a_frame():
    pytest.importorskip("pandas")
    plain = load_digits_retrieval(n_queries=6, n_candidates=5)
    framed = load_digits_retrieval(n_queries=6, n_candidates=5, as_frame=True)
    assert_array_equal(framed.data.to_numpy(), plain.data)
    assert list(framed.data.columns) == plain.feature_names
    assert_array_equal(framed.frame["target"], plain.target)
    assert list(framed.frame.columns) == [*plain.feature_names, "qid", "target"]
    assert framed.target.index.equals(framed.qid.index)
