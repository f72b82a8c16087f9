"""LETOR files: SVMlight lines with a qid."""

from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, gen_batches

from .._arrays import ArrayLike, MatrixLike, check_size
from .._labels import split_target
from .._lists import RankingLists
from .._parameters import Rule, check_parameter, count
from ._files import (
    join_chunks,
    line_error,
    line_of_row,
    packed,
    path_like,
    read_chunks,
    read_path,
    replacing,
    row_of_entries,
)

_LAST_FEATURE = 2**31 - 1  # of scikit-learn's reader, which counts in 32 bits
_text = Rule(lambda value: isinstance(value, str), "a string")


def load_letor(
    path: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool = False,
    dense: bool = False,
) -> Any:
    """Read ranking data in LETOR's format: SVMlight lines with a qid.

    Each line is ``grade qid:7 1:0.3 4:1.0 # comment``. Files ending in .gz or .bz2 are
    unpacked while they are read.

    Parameters
    ----------
    path : str, Path, or list of these
        One file, or several files with the same features (train, validation, test).
    n_features : int or None, default=None
        Number of features; None is the highest feature in the files.
    dtype : dtype, default=float64
        Type of the features: float64, float32 or an integer type that holds all values.
    zero_based : bool, default=False
        Whether the files count features from 0. LETOR counts from 1, and feature 0 is then an
        error.
    dense : bool, default=False
        Whether to return X as an array, for estimators that take no sparse matrix.

    Returns
    -------
    X : CSR matrix, or ndarray if `dense`, of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        Query ids, int64. For a list of paths the result is a list of triples (X, y, qid).

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ValueError
        If a file is empty or damaged, or a line is wrong. The message names the file and the
        line.

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
    if not several:
        words = f"{path_like.words}, or a list of these"
        check_parameter("path", path, [path_like._replace(words=words)])
    check_parameter("n_features", n_features, [count(), None])
    check_parameter("zero_based", zero_based, [bool])
    check_parameter("dense", dense, [bool])
    dtype = feature_dtype(dtype)
    paths = [read_path(p, "each path") for p in path] if several else [read_path(path)]
    if not paths:
        raise ValueError("load_letor got no path: give a file or a list of files.")
    read = [_read(p, dtype, bool(zero_based)) for p in paths]
    n_features = max(X.shape[1] for X, _, _ in read) if n_features is None else int(n_features)
    for p, (X, _, _) in zip(paths, read, strict=True):
        widen(X, n_features, p, bool(zero_based))
    triples = [
        (as_features(p, X, dtype, dense), y, ids)
        for p, (X, y, ids) in zip(paths, read, strict=True)
    ]
    return triples if several else triples[0]


# Reading ----------------------------------------------------------------------------


def _read(path, dtype, zero_based):
    """Features, grades and ids of one file."""
    parts = list(read_chunks(path, dtype, zero_based))
    if not parts:
        raise ValueError(f"{path} holds no line of data.")
    return join_chunks(parts)


def widen(X, n_features, path, zero_based, first_row=0):
    """Give X its number of columns, in place."""
    beyond = np.flatnonzero(X.indices >= n_features)
    if len(beyond):
        row = row_of_entries(X)[beyond[0]]
        feature = X.indices[beyond[0]] + (not zero_based)
        raise line_error(
            path,
            line_of_row(path, first_row + row),
            f"feature {feature}, but n_features={n_features}",
        )
    X.resize(X.shape[0], n_features)


def feature_dtype(dtype):
    """The NumPy dtype of the features; refuses types that hold no numbers."""
    try:
        read = np.dtype(dtype)
    except TypeError:
        read = None
    if read is None or (read.kind not in "iu" and read not in (np.float32, np.float64)):
        raise ValueError(f"dtype must be float64, float32 or an integer type, got {dtype!r}.")
    return read


def as_features(path, X, dtype, dense, first_row=0):
    """Convert features to the type, and to an array if `dense`."""
    if dtype.kind in "iu":
        low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        # the second bound is exact: high + 1 is a power of two
        fits = (X.data == np.rint(X.data)) & (X.data >= low) & (X.data < high + 1)
        if not fits.all():
            at = np.argmin(fits)
            line = line_of_row(path, first_row + row_of_entries(X)[at])
            raise line_error(path, line, f"{X.data[at]!r} is no {dtype.name}")
        X = X.astype(dtype)
    if dense:
        check_size(
            f"X of {path} as an array", X.shape[0] * X.shape[1] * dtype.itemsize, "dense=False"
        )
    return X.toarray() if dense else X


# Writing ----------------------------------------------------------------------------


def dump_letor(
    X: MatrixLike, y: ArrayLike, qid: ArrayLike | None, path: Any, *, comment: str | None = None
) -> np.ndarray:
    """Write ranking data in LETOR's format: SVMlight lines with a qid.

    Rows keep their order, features count from 1, zeros are skipped. Reading gives the same
    float64. An existing file is replaced after all is written: an error changes nothing.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Duplicate entries of a sparse matrix are added up.
    y : array-like of shape (n_rows,)
        Grades.
    qid : array-like of shape (n_rows,) or None
        Any hashable ids; None if `y` is a `ranking_target`. Integer ids are written unchanged,
        other ids as 1, 2, ... in order of first appearance.
    path : str or Path
        Path of the file; .gz and .bz2 are packed.
    comment : str or None, default=None
        Comment at the head of the file.

    Returns
    -------
    ids : ndarray of shape (n_lists,)
        The distinct ids in order of first appearance. Ids that are no integers were written as
        i for ``ids[i - 1]``.

    Raises
    ------
    ValueError
        If lengths differ, X or y is not finite, or an id is missing or no integer of 64 bits.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import dump_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.txt"
    ...     ids = dump_letor([[0.5, 0.0], [0.0, 1.0]], [2, 0], ["b", "a"], path)
    ...     lines = path.read_text().splitlines()
    >>> ids.tolist(), lines
    (['b', 'a'], ['2 qid:1 1:0.5', '0 qid:2 2:1'])
    """
    path = read_path(path)
    check_parameter("comment", comment, [_text, None])
    y, qid = split_target(y, qid)
    if qid is None:
        raise ValueError("dump_letor needs the query id of each row, qid.")
    X, y = _check_rows(X, y)
    lists = RankingLists.from_qid(qid, len(y))
    ids = _written_ids(lists.ids)
    code = lists.ungroup(lists.index)
    with replacing(path) as raw, packed(raw, path) as file:
        for line in (comment or "").splitlines():
            file.write(f"# {line}\n".encode("utf-8", "backslashreplace"))
        for rows in gen_batches(len(y), 4096):
            qids = [ids[i] for i in code[rows].tolist()]
            file.write(_lines_of(_of_python(X[rows]), _of_python(y[rows]).tolist(), qids).encode())
    return lists.ids


def _check_rows(X, y):
    """X as an array or as CSR without duplicates, y as an array; finite and of one length."""
    for name, part in (("X", X), ("y", y)):
        if isinstance(part, np.ma.MaskedArray):
            raise ValueError(f"{name} is a masked array, a mask cannot be written: fill it.")
    X = check_array(X, accept_sparse="csr", input_name="X")
    y = check_array(y, ensure_2d=False, input_name="y")
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise ValueError(
            f"y must hold one grade for each of the {X.shape[0]} rows of X, got shape {y.shape}."
        )
    if sparse.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
            if not np.isfinite(X.data).all():
                raise ValueError("X is infinite where entries of the same place are added up.")
        if X.nnz and X.indices.max() >= _LAST_FEATURE:
            raise ValueError(f"X has entries beyond feature {_LAST_FEATURE}, the last of a file.")
    return X, y


def _written_ids(ids):
    """Integers to write for the ids."""
    if ids.dtype.kind not in "iu" and not all(
        isinstance(i, Integral) and not isinstance(i, bool) for i in ids
    ):
        return list(range(1, len(ids) + 1))
    ids = [int(i) for i in ids]
    if min(ids) < -(2**63) or max(ids) >= 2**63:
        raise ValueError(
            f"qid hold ids from {min(ids)} to {max(ids)}: a file holds integers of 64 bits. Number "
            "the queries from 1."
        )
    return ids


def _of_python(values):
    """Convert numbers to a type that Python writes without loss."""
    return values.astype({"f": np.float64, "b": np.int8}.get(values.dtype.kind, values.dtype))


def _lines_of(X, grades, qids):
    X = sparse.csr_matrix(X)
    columns = (X.indices + 1).tolist()
    # repr is the shortest text that is read as the same number
    pairs = [f"{j}:{value!r}" for j, value in zip(columns, X.data.tolist(), strict=True)]
    text = "".join(
        f"{' '.join([repr(grade), f'qid:{q}', *pairs[start:stop]])}\n"
        for grade, q, (start, stop) in zip(grades, qids, pairwise(X.indptr.tolist()), strict=True)
    )
    return text.replace(".0 ", " ").replace(".0\n", "\n")
