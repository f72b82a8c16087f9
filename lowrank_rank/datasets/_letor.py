"""LETOR files: SVMlight lines with a qid."""

import bz2
import gzip
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_files

from .._lists import RankingLists, split_target


def load_letor(path, *, n_features=None, dtype=np.float64):
    """Read ranking data in LETOR's format: SVMlight lines with a qid.

    Each line is ``grade qid:7 1:0.3 4:1.0 # comment``. Files ending in .gz or .bz2 are
    unpacked while they are read.

    Parameters
    ----------
    path : str, Path, or list of these
        One file, or several that shall have the same features (train, validation, test).
    n_features : int or None, default=None
        Number of features; None takes the highest that occurs in any of the files.
    dtype : dtype, default=float64
        Of the features.

    Returns
    -------
    X : CSR matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        For a list of paths: a list with one triple (X, y, qid) per file.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ValueError
        If a file is empty, or holds a line without qid or one that cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from lowrank_rank.datasets import load_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "train.txt"
    ...     _ = path.write_text("2 qid:1 1:0.5 3:1\\n0 qid:1 2:0.1 # d2\\n")
    ...     X, y, qid = load_letor(path)
    >>> X.shape, y.tolist(), qid.tolist()
    ((2, 3), [2.0, 0.0], [1, 1])
    """
    several = isinstance(path, list | tuple)
    paths = [Path(p) for p in (path if several else [path])]
    if not paths:
        raise ValueError("load_letor got no path: give a file or a list of files.")
    try:
        loaded = load_svmlight_files(
            [str(p) for p in paths], n_features=n_features, dtype=dtype, query_id=True
        )
    except (ValueError, OverflowError) as error:
        names = ", ".join(str(p) for p in paths)
        raise ValueError(
            f"{names}: not readable as SVMlight with qid and n_features={n_features}: {error} "
            "(each line must be 'grade qid:<int> <feature>:<value> ...')"
        ) from error
    triples = [tuple(loaded[i : i + 3]) for i in range(0, len(loaded), 3)]
    for p, (_, y, qid) in zip(paths, triples, strict=True):
        if len(y) == 0:
            raise ValueError(f"{p} holds no line of data.")
        if len(qid) != len(y):
            raise ValueError(
                f"{p}: {len(y)} lines but {len(qid)} have a qid. Each line must name its query, "
                "'grade qid:<int> <feature>:<value> ...'."
            )
    return triples if several else triples[0]


def dump_letor(X, y, qid, path, *, comment=None):
    """Write ranking data in LETOR's format: SVMlight lines with a qid.

    Rows are written in the order given, features counted from 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Grades.
    qid : array-like of shape (n_rows,) or None
        Any hashable ids; None where `y` is a `ranking_target`. The format knows integers
        only: integer ids are written as they are, others as 1, 2, ... in order of first
        appearance.
    path : str or Path
        Ends in .gz or .bz2 to be packed.
    comment : str or None, default=None
        Written at the head of the file.

    Returns
    -------
    ids : ndarray of shape (n_lists,)
        The distinct ids in order of first appearance: where they are no integers, the id
        that was written as i is ``ids[i - 1]``.

    Raises
    ------
    ValueError
        If lengths differ or an id is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import dump_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.txt"
    ...     ids = dump_letor([[0.5, 0.0], [0.0, 1.0]], [2, 0], ["b", "a"], path)
    ...     lines = [line for line in path.read_text().splitlines() if line[0] != "#"]
    >>> ids.tolist(), lines
    (['b', 'a'], ['2 qid:1 1:0.5', '0 qid:2 2:1'])
    """
    y, qid = split_target(y, qid)
    if qid is None:
        raise ValueError("dump_letor needs the query id of each row, qid.")
    lists = RankingLists.from_qid(qid, len(y))
    written = lists.ungroup(lists.index) + 1
    if lists.ids.dtype.kind in "iu":
        written = lists.ids.astype(np.int64)[written - 1]
    path = Path(path)
    openers = {".gz": gzip.open, ".bz2": bz2.open}
    with openers.get(path.suffix, open)(path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False, query_id=written, comment=comment)
    return lists.ids
