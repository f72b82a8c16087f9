"""LETOR files: SVMlight lines with a qid."""

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    check_size,
    check_unmasked,
    plain,
    slices,
)
from .._labels import split_target
from .._lists import RankingLists
from .._parameters import check_parameter, checked, count
from ._files import (
    id_dtype,
    line_of_row,
    open_replacing,
    read_path,
    read_svmlight,
    refuse_line,
    text,
)

OF_FILES = {"n_features": [count(), None], "zero_based": [bool], "dense": [bool]}


@checked(**OF_FILES)
def load_letor(
    path: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool = False,
    dense: bool = False,
) -> Sequence[Any]:
    """Read ranking data in LETOR's format: SVMlight lines with a qid.

    Each line is ``grade qid:7 1:0.3 4:1.0 # comment``. Files ending in .gz or .bz2 are
    unpacked.

    Parameters
    ----------
    path : str, Path, or list of these
        One file, or several files with the same features (train, validation, test).
    n_features : int or None, default=None
        Number of features; None is the highest number in any of the files.
    dtype : dtype, default=float64
        Type of the features: float64, float32 or an integer type that represents all
        values.
    zero_based : bool, default=False
        Whether the files count features from 0. LETOR counts from 1, and a feature 0 is
        refused there.
    dense : bool, default=False
        Whether to return X as an array, for estimators without support of sparse
        matrices.

    Returns
    -------
    X : CSR matrix, or ndarray if `dense`, of shape (n_rows, n_features)
        Features of the rows.
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        Type int64, or uint64 if ids in any of the files need it. A list of paths
        returns a list with one triple (X, y, qid) for each file.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ValueError
        If a file is empty or damaged, or a line cannot be read or has no qid. The
        message names the file and the line.

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
    dtype = feature_dtype(dtype)
    paths = [read_path(p, "each path") for p in (path if several else [path])]
    if not paths:
        raise ValueError("load_letor got no path: give a file or a list of files.")
    files = [list(read_svmlight(p, dtype, zero_based)) for p in paths]
    for p, chunks in zip(paths, files, strict=True):
        if not chunks:
            raise ValueError(f"{p} contains no data.")
    width = max(X.shape[1] for chunks in files for X, _, _ in chunks)
    ids = [qid for chunks in files for _, _, qid in chunks]
    id_type = id_dtype([int(bound) for qid in ids for bound in (qid.min(), qid.max())])
    triples = []
    for p, chunks in zip(paths, files, strict=True):
        X, y, qid = zip(*chunks, strict=True)
        for part in X:
            part.resize(part.shape[0], width)
        features = convert_features(
            p,
            sparse.vstack(X, format="csr"),
            n_features or width,
            dtype,
            zero_based,
            dense,
        )
        qid_of_file = np.concatenate(qid, dtype=id_type, casting="unsafe")
        triples.append((features, np.concatenate(y), qid_of_file))
    return triples if several else triples[0]


# Reading ----------------------------------------------------------------------------


def feature_dtype(dtype):
    """Return the NumPy dtype of the features, or refuse a type that no reader supports."""
    try:
        read = np.dtype(dtype)
    except TypeError:
        read = None
    if read is None or (read.kind not in "iu" and read not in (np.float32, np.float64)):
        raise ValueError(
            f"dtype must be float64, float32 or an integer type, got {dtype!r}."
        )
    return read


def can_represent(values, dtype):
    """Whether a type can represent each number; floats may be rounded, but not to infinity."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return ~np.isinf(values.astype(dtype, copy=False))
    info = np.iinfo(dtype)
    if values.dtype.kind == "f":
        # The second bound is exact, because max + 1 is a power of two.
        whole = values == np.rint(values)
        return whole & (values >= float(info.min)) & (values < float(info.max) + 1)
    return (values >= info.min) & (values <= info.max)


def convert_features(path, X, n_features, dtype, zero_based, dense, first_row=0):
    """Give the features of a file their number of columns, type and format.

    `zero_based` and `dense` are as in `load_letor`; X starts at row `first_row` of the
    file `path`.
    """
    beyond = X.indices >= n_features
    if beyond.any():
        feature = X.indices[np.argmax(beyond)] + (not zero_based)
        message = f"feature {feature}, but n_features={n_features}"
        _refuse_entry(path, X, np.argmax(beyond), first_row, message)
    X.resize(X.shape[0], n_features)
    fits = can_represent(X.data, dtype)
    if not fits.all():
        message = f"the value {plain(X.data[np.argmin(fits)])!r} is not of the type {dtype.name}"
        _refuse_entry(path, X, np.argmin(fits), first_row, message)
    X = X.astype(dtype, copy=False)
    if dense:
        n_bytes = X.shape[0] * X.shape[1] * dtype.itemsize
        check_size(f"X of {path} as an array", n_bytes, "dense=False")
    return X.toarray() if dense else X


def _refuse_entry(path, X, entry, first_row, message):
    """Refuse a stored entry of X; the message names the file and the line."""
    row = first_row + np.searchsorted(X.indptr, entry, side="right") - 1
    refuse_line(path, line_of_row(path, row), message)


# Writing ----------------------------------------------------------------------------


def dump_letor(
    X: MatrixLike,
    y: ArrayLike,
    qid: ArrayLike | None,
    path: Any,
    *,
    comment: str | None = None,
) -> np.ndarray:
    """Write ranking data in LETOR's format: SVMlight lines with a qid.

    Rows keep their order, and features are counted from 1. Numbers are written so that
    reading returns the same float64; zeros are not written. An error or an interrupt
    leaves an existing file unchanged.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Duplicate entries of a sparse matrix are added up.
    y : array-like of shape (n_rows,)
        Grades.
    qid : array-like of shape (n_rows,) or None
        Any hashable ids; None if `y` is a `ranking_target`. The format allows integers
        only: other ids are written as 1, 2, ... in order of first appearance.
    path : str or Path
        A name ending in .gz or .bz2 packs the file.
    comment : str or None, default=None
        Text at the head of the file.

    Returns
    -------
    ids : ndarray of shape (n_lists,)
        The distinct ids in order of first appearance. If they are not integers, ``ids[i
        - 1]`` was written as i.

    Raises
    ------
    ValueError
        If lengths differ, X or y is not finite, or an id is missing or beyond 64 bits.
    FileNotFoundError
        If the folder of the file does not exist.

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
    check_parameter("comment", comment, [text, None])
    check_same_index(X=X, y=y, qid=qid)
    y, qid = split_target(y, qid)
    if qid is None:
        raise ValueError("dump_letor needs the query id of each row, qid.")
    X, y = _check_rows(X, y)
    lists = RankingLists.from_qid(qid, len(y))
    ids = list(range(1, len(lists.ids) + 1))  # in place of ids that are no integers
    if lists.ids.dtype.kind in "iu" or all(
        isinstance(i, Integral) and not isinstance(i, bool) for i in lists.ids
    ):
        ids = [int(i) for i in lists.ids]
        id_dtype(ids, "qid")  # refuses ids beyond 64 bits
    code = lists.codes
    with open_replacing(path) as file:
        for line in (comment or "").splitlines():
            file.write(f"# {line}\n".encode("utf-8", "backslashreplace"))
        for rows in slices(len(y), 4096):
            part = sparse.csr_matrix(X[rows], copy=True)
            part.eliminate_zeros()
            columns = (part.indices + 1).tolist()
            # repr is the shortest text that reads as the same number
            pairs = [
                f"{j}:{v!r}" for j, v in zip(columns, part.data.tolist(), strict=True)
            ]
            bounds = pairwise(part.indptr.tolist())
            lines = [
                " ".join([repr(grade), f"qid:{ids[i]}", *pairs[slice(*bound)]]) + "\n"
                for grade, i, bound in zip(
                    y[rows].tolist(), code[rows].tolist(), bounds, strict=True
                )
            ]
            file.write(
                "".join(lines).replace(".0 ", " ").replace(".0\n", "\n").encode()
            )
    return lists.ids


def _check_rows(X, y):
    """Validate X and y; X is dense or CSR without duplicates, and repr of all numbers is exact."""
    check_unmasked(X, "X")
    check_unmasked(y, "y")
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
                raise ValueError(
                    "X is infinite after its duplicate entries are added up."
                )
        if X.nnz and X.indices.max() >= 2**31 - 1:
            raise ValueError(
                "X has entries beyond feature 2147483647, the largest in a file."
            )
    exact = {"f": np.float64, "b": np.int8}
    X, y = (
        part.astype(exact.get(part.dtype.kind, part.dtype), copy=False)
        for part in (X, y)
    )
    return X, y
