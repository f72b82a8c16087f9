"""Sources of whole lists: chunks, memory maps, columns of Parquet files."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from . import Example

FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def arrays():
    """Three lists as arrays."""
    X = np.array([[0.5, 1.0], [2.0, 0.0], [4.0, 3.0], [1.0, 7.0], [0.0, 6.0]])
    y = np.array([2.0, 0.0, 1.0, 0.0, 3.0])
    return {"source": (X, y, np.array([1, 1, 2, 2, 3])), "feature_columns": None}


def chunks():
    """The lists of `arrays` in two chunks, of which the second goes on with a list."""
    X, y, qid = arrays()["source"]
    return {
        "source": [(X[:3], y[:3], qid[:3]), (X[3:], y[3:], qid[3:])],
        "feature_columns": None,
    }


def parquet():
    """The lists of `arrays` in two Parquet files."""
    X, y, qid = arrays()["source"]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, qid=qid)
    paths = [Path(FOLDER) / f"{number}.parquet" for number in (1, 2)]
    frame[:3].to_parquet(paths[0])
    frame[3:].to_parquet(paths[1])
    return {
        "source": paths,
        "feature_columns": None,
        "y_column": "y",
        "qid_column": "qid",
        "dtype": np.float64,
        "first": frame[:3],
        "second": frame[3:],
    }


def maps():
    """Paths of the arrays."""
    paths = tuple(Path(FOLDER) / f"{name}.npy" for name in "Xyq")
    for path, part in zip(paths, arrays()["source"], strict=True):
        np.save(path, part)
    return {"source": paths, "feature_columns": None}


JOIN = """
result = numpy.concatenate([
    numpy.column_stack([X, y, qid]) for X, y, qid in blocks])
"""
READ = "blocks = lowrank_rank.datasets.iter_lists(source)" + JOIN
TWICE = f"""
blocks = lowrank_rank.datasets.iter_lists(source)
{JOIN}
first = result
{JOIN}
assert (first == result).all()
"""
READ_PARQUET = f"""
blocks = lowrank_rank.datasets.iter_lists(
    source, feature_columns=feature_columns, dtype=dtype,
    y_column=y_column, qid_column=qid_column)
{JOIN}
"""
#: Column b as text, of the second file or of both.
TEXT_COLUMN = """
first = first.assign(b=list("xyz"))
first.to_parquet(source[0])
second = second.assign(b=list("xy"))
second.to_parquet(source[1])
"""

EXAMPLES = [
    Example("kind of source", arrays, "source = 3", READ),
    Example(
        "two formats of files", parquet, "source = [source[0], 'log.txt']", READ_PARQUET
    ),
    *[
        Example(
            "names of feature_columns",
            parquet,
            f"feature_columns = {wrong}",
            READ_PARQUET,
            [right],
        )
        for wrong, right in (
            (["b", "b", "a"], "feature_columns = ['b', 'a']"),
            (["b", "y"], "feature_columns = ['b']"),
            (["qid"], ""),
            ([], ""),
        )
    ],
    Example("unreadable array", maps, "source[0].write_bytes(b'not an array')", READ),
    Example(
        "second pass over an iterator", chunks, "source = iter(source)", TWICE, [""]
    ),
    Example(
        "second pass over an iterator",
        chunks,
        "source = (chunk for chunk in source)",
        TWICE,
        [""],
    ),
    Example("no rows in source", chunks, "source = []", READ),
    Example(
        "list comes again",
        arrays,
        "source = tuple(part[[0, 2, 4, 1, 3]] for part in source)",
        READ,
        [""],
    ),
    Example(
        "list comes again",
        arrays,
        "source = tuple(part[[0, 2, 4, 1, 3]].tolist() for part in source)",
        READ,
        [""],
    ),
    Example(
        "list comes again",
        parquet,
        "source.append(source[0])",
        READ_PARQUET,
    ),
    Example("parts of a chunk", chunks, "source[0] = source[0][:2]", READ),
    Example(
        "dimensions of a chunk",
        arrays,
        "source = (source[0][:, 0], *source[1:])",
        READ,
        ["source = (source[0][:, [0]], *source[1:])"],
    ),
    Example(
        "dimensions of a chunk",
        chunks,
        "source[0] = (source[0][0][:, 0], *source[0][1:])",
        READ,
    ),
    Example(
        "features of chunks",
        chunks,
        "source[1] = (source[1][0][:, [0]], *source[1][1:])",
        READ,
    ),
    Example(
        "unreadable Parquet file",
        parquet,
        "source[1].write_bytes(source[1].read_bytes()[:-9])",
        READ_PARQUET,
    ),
    *[
        Example(
            "no such column of Parquet file",
            parquet,
            f"first.rename(columns={names}).to_parquet(source[0])\n"
            f"second.rename(columns={names}).to_parquet(source[1])",
            READ_PARQUET,
            right,
        )
        for names, right in (
            ({"qid": "query"}, [""]),
            ({"y": "label"}, [""]),
            ({"y": "what"}, []),
        )
    ],
    Example(
        "no such column of Parquet file",
        parquet,
        "feature_columns = ['a', 'z']",
        READ_PARQUET,
    ),
    Example(
        "column twice in Parquet file",
        parquet,
        "import pyarrow, pyarrow.parquet\n"
        "columns = [pyarrow.array([1.0, 2.0])] * 4\n"
        "table = pyarrow.table(columns, names=['a', 'a', 'y', 'qid'])\n"
        "pyarrow.parquet.write_table(table, source[0])",
        READ_PARQUET,
    ),
    Example(
        "other columns in Parquet file",
        parquet,
        "second.rename(columns={'b': 'c'}).to_parquet(source[1])",
        READ_PARQUET,
        ["feature_columns = ['a']"],
    ),
    Example(
        "other columns in Parquet file",
        parquet,
        "second.rename(columns={'a': 'c', 'b': 'd'}).to_parquet(source[1])",
        READ_PARQUET,
    ),
    Example(
        "value of Parquet column",
        parquet,
        TEXT_COLUMN,
        READ_PARQUET,
        ["feature_columns = ['a']"],
    ),
    Example(
        "value of Parquet column",
        parquet,
        "dtype = numpy.int32",
        READ_PARQUET,
        ["feature_columns = ['b']; dtype = numpy.int32", ""],
    ),
    Example(
        "value of Parquet column",
        parquet,
        "first = first.assign(y=list('abc')); first.to_parquet(source[0])",
        READ_PARQUET,
    ),
]
