"""Files that hold code: readers run none of it; models are read by skops where it is installed."""

import bz2
import gzip
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from lowrank_rank.datasets import iter_lists, load_letor, load_qrels, load_run
from lowrank_rank.votes import load_preflib

from .refusals import refused_by
from .test_scikit_learn_tools import MODELS, X, labels_of, predictions

RAN = []


def run(code):
    RAN.append(code)


class Payload:
    """An object whose pickle runs code when it is read."""

    def __reduce__(self):
        return run, ("code of the file",)


def test_the_payload_runs_where_a_reader_unpickles(tmp_path):
    np.save(tmp_path / "X.npy", np.array([Payload()]), allow_pickle=True)
    np.load(tmp_path / "X.npy", allow_pickle=True)
    assert RAN.pop() == "code of the file"


def blocks_of_arrays(path):
    return list(iter_lists((path, path, path)))


READERS = {
    load_letor: "data.txt",
    load_qrels: "qrels.txt",
    load_run: "run.txt",
    load_preflib: "votes.soc",
    lambda path: list(iter_lists(path)): "data.txt",
    lambda path: list(iter_lists([path])): "data.parquet",
    blocks_of_arrays: "X.npy",
}


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize(("read", "name"), READERS.items(), ids=READERS.values())
def test_readers_run_no_code_of_a_file(tmp_path, read, name, ending):
    path = tmp_path / f"{name}{ending}"
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending]
    path.write_bytes(pack(pickle.dumps([Payload()])))
    with pytest.raises((ValueError, ImportError, OSError)):
        read(path)
    assert not RAN


def test_arrays_of_objects_are_refused(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.array([Payload()]), allow_pickle=True)
    with refused_by("unreadable array"):
        blocks_of_arrays(path)
    assert not RAN


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The hinge of")
@pytest.mark.parametrize("name", MODELS)
def test_skops_reads_what_it_wrote(name, tmp_path):
    skops = pytest.importorskip("skops.io")
    model, path = clone(MODELS[name]), tmp_path / "model.skops"
    model.fit(X, labels_of(model))
    skops.dump(model, path)
    loaded = skops.load(path, trusted=skops.get_untrusted_types(file=path))
    assert_array_equal(predictions(loaded, X), predictions(model, X))
