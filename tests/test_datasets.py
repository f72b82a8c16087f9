"""Files written and read back; generators with the truth that they claim."""

import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.datasets import (
    dump_letor,
    load_digits_retrieval,
    load_letor,
    make_label_ranking,
    make_ranking,
)


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
        ("1 1:0.5\n", "qid"),
        ("1 qid:1 1:0.5\n0 1:0.5\n", "qid"),
        ("one qid:1 1:0.5\n", "not readable"),
        ("", "no line of data"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    path = tmp_path / "broken.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"(?s)broken.txt.*{message}"):
        load_letor(path)


def test_missing_files_and_empty_lists(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="no path"):
        load_letor([])
    with pytest.raises(ValueError, match="one query id"):
        dump_letor(np.eye(2), [1, 0], [1], tmp_path / "f.txt")


def test_real_letor_files(data_folder):
    X, y, qid = load_letor(data_folder / "letor" / "clueweb09" / "fold1.txt.gz")
    assert X.shape[1] == 42
    assert set(y) <= set(range(5))
    model = LowRankSurrogateRanker(target_loss="ndcg@10")
    scores = []
    for train, test in GroupKFold(3).split(X, y, qid):
        model.fit(X[train], y[train], qid=qid[train])
        scores.append(model.score(X[test], y[test], qid=qid[test]))
        by_chance = model.target_loss_.measure(y[test], np.zeros(len(test)), qid=qid[test])
        assert scores[-1] > 1.3 * by_chance


def test_make_ranking():
    X, y, qid = make_ranking(200, (2, 9), n_grades=4, random_state=1)
    lengths = np.bincount(qid)
    assert (lengths.min(), lengths.max()) == (2, 9)
    assert set(y) == {0.0, 1.0, 2.0, 3.0}
    assert np.mean(y == 0) == pytest.approx(0.5, abs=0.02)
    again = make_ranking(200, (2, 9), n_grades=4, random_state=1)
    np.testing.assert_array_equal(X, again[0])
    fit = LowRankSurrogateRanker(target_loss="auc").set_params(target_loss="pd").fit(X, y, qid=qid)
    pooled = LowRankSurrogateRanker(target_loss="pd", centered=False).fit(X, y, qid=qid)
    assert fit.score(X, y, qid=qid) > pooled.score(X, y, qid=qid)
    with pytest.raises(ValueError, match="n_items"):
        make_ranking(3, (5, 2))


def test_make_label_ranking_draws_from_its_distribution():
    data = make_label_ranking(20_000, 3, n_labels=4, n_grades=3, n_features=6, random_state=0)
    assert data.data.shape == (20_000, 6)
    expected = data.probabilities @ data.support
    np.testing.assert_allclose(data.target.mean(axis=0), expected.mean(axis=0), atol=0.03)
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
    assert model.score(digits.data[test], digits.target[test], qid=digits.qid[test]) > 0.7
    with pytest.raises(ValueError, match="between 1 and"):
        load_digits_retrieval(n_candidates=0)
