"""LETOR files: SVMlight lines with a qid."""

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .._typing import Bunch
from ..lists._lists import plain, slices
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    check_size,
)
from ..validation._check import refuse
from ..validation._checks_of_files import (
    CHECKS_OF_FILES,
    CHECKS_OF_LETOR_ENTRIES,
    CHECKS_OF_WRITTEN_ROWS,
)
from ..validation._checks_of_labels import CHECKS_OF_VALUES
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import split_target
from ..validation._parameters import Rule, check_parameter, checked, count
from ..validation._paths import path_like, read_path
from ._files import (
    document_of,
    id_dtype,
    line_of_row,
    lines_with_data,
    open_replacing,
    read_svmlight,
    text,
)


def _is_feature_type(dtype):
    """Whether a value is a type of features that the readers support."""
    try:
        feature_type = np.dtype(dtype)
    except TypeError:
        return False
    return feature_type.kind in "iu" or feature_type in (np.float32, np.float64)


def _are_paths(value):
    """Whether a value is a path, or a list of at least one path."""
    if not isinstance(value, list | tuple):
        return path_like.accepts(value)
    return len(value) > 0 and all(map(path_like.accepts, value))


_paths = Rule(_are_paths, "a path, str or Path, or a list of at least one path")

OF_FILES = {
    "n_features": [count(), None],
    "dtype": [Rule(_is_feature_type, "float64, float32 or an integer type")],
    "zero_based": [bool],
    "dense": [bool],
}


@checked(**OF_FILES, as_bunch=[bool])
def load_letor(
    path: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool = False,
    dense: bool = False,
    as_bunch: bool = False,
) -> Sequence[Any] | Bunch:
    r"""Read ranking data in LETOR's format: SVMlight lines with a qid.

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
    as_bunch : bool, default=False
        Whether to return a Bunch with the names of the documents, for `dump_run`. A
        list of paths is then one set.

    Returns
    -------
    X : CSR matrix, or ndarray if `dense`, of shape (n_rows, n_features)
        Features of the rows.
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        Type int64, or uint64 if ids in any of the files need it. A list of paths
        returns a list with one triple (X, y, qid) for each file.
    data : Bunch
        With `as_bunch`: ``data``, ``target``, ``qid`` and ``docid`` of the rows. The
        docid is the word after ``docid =`` in the comment of a line, or the comment
        itself if it is one word, else None. With a list of paths the rows of the files
        follow one another, and the ids are texts that keep the files apart: "0:7" is
        query 7 of the first file.

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
    ...     _ = path.write_text("2 qid:1 1:0.5 3:1\n0 qid:1 2:0.1 # d2\n")
    ...     X, y, qid = load_letor(path)
    >>> X.shape, y.tolist(), qid.tolist()
    ((2, 3), [2.0, 0.0], [1, 1])

    With the names of documents, and two files in one set:

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "train.txt"
    ...     _ = path.write_text("2 qid:7 1:1 #docid = GX0 inc = 1\n0 qid:7 1:0 # d2\n")
    ...     days = load_letor([path, path], as_bunch=True)
    >>> days.qid.tolist(), days.docid.tolist()
    (['0:7', '0:7', '1:7', '1:7'], ['GX0', 'd2', 'GX0', 'd2'])
    """
    is_list = isinstance(path, list | tuple)
    check_parameter("path", path, [_paths])
    dtype = np.dtype(dtype)
    paths = [read_path(p) for p in (path if is_list else [path])]
    chunks_of_files = [list(read_svmlight(p, dtype, zero_based)) for p in paths]
    extreme_ids = []
    for p, chunks in zip(paths, chunks_of_files, strict=True):
        refuse(CHECKS_OF_FILES, path=p, n_rows=len(chunks))
        for _, _, qid in chunks:
            extreme_ids += [int(qid.min()), int(qid.max())]
    id_type = id_dtype(extreme_ids)
    width = max(X.shape[1] for chunks in chunks_of_files for X, _, _ in chunks)
    triples = []
    for p, chunks in zip(paths, chunks_of_files, strict=True):
        Xs, ys, qids = zip(*chunks, strict=True)
        for X in Xs:
            X.resize(X.shape[0], width)
        features = convert_features(
            p,
            sparse.vstack(Xs, format="csr"),
            n_features or width,
            dtype,
            zero_based,
            dense,
        )
        y = np.concatenate(ys)
        qid = np.concatenate(qids, dtype=id_type, casting="unsafe")
        triples.append((features, y, qid))
    if as_bunch:
        return _one_set(paths, triples, is_list)
    if is_list:
        return triples
    return triples[0]


def _one_set(paths, triples, is_list):
    """Return the rows of all files as a Bunch, with the names of the documents."""
    Xs, ys, qids = zip(*triples, strict=True)
    X, qid = Xs[0], qids[0]
    if is_list:
        stack = sparse.vstack if sparse.issparse(X) else np.concatenate
        X = stack(Xs)
        qid = np.concatenate(
            [np.char.add(f"{i}:", ids.astype(str)) for i, ids in enumerate(qids)]
        )
    docid = [document_of(line) for path in paths for _, line in lines_with_data(path)]
    return Bunch(
        data=X,
        target=np.concatenate(ys),
        qid=qid,
        docid=np.array(docid, dtype=object),
    )


# Reading ----------------------------------------------------------------------------


def can_represent(values, dtype):
    """Return whether a type can represent each number.

    Floats may be rounded, but not to infinity.
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return ~np.isinf(values.astype(dtype, copy=False))
    info = np.iinfo(dtype)
    if values.dtype.kind == "f":
        # The second bound is exact, because max + 1 is a power of two.
        is_whole = values == np.rint(values)
        return is_whole & (values >= float(info.min)) & (values < float(info.max) + 1)
    return (values >= info.min) & (values <= info.max)


def convert_features(path, X, n_features, dtype, zero_based, dense, first_row=0):
    """Give the features of a file their number of columns, type and format.

    `zero_based` and `dense` are as in `load_letor`; X starts at row `first_row` of the
    file `path`.
    """
    is_beyond = X.indices >= n_features
    if is_beyond.any():
        entry = np.argmax(is_beyond)
        feature = X.indices[entry]
        if not zero_based:
            feature = feature + 1
        _refuse_entry(path, X, entry, first_row, feature=feature, n_features=n_features)
    X.resize(X.shape[0], n_features)
    fits = can_represent(X.data, dtype)
    if not fits.all():
        entry = np.argmin(fits)
        value = plain(X.data[entry])
        _refuse_entry(path, X, entry, first_row, value=value, dtype=dtype)
    X = X.astype(dtype, copy=False)
    if not dense:
        return X
    n_bytes = X.shape[0] * X.shape[1] * dtype.itemsize
    check_size(f"X of {path} as an array", n_bytes, "dense=False")
    return X.toarray()


def _refuse_entry(path, X, entry, first_row, **words):
    """Refuse a stored entry of X; the message names the file and the line."""
    row = first_row + np.searchsorted(X.indptr, entry, side="right") - 1
    number = line_of_row(path, row)
    refuse(CHECKS_OF_LETOR_ENTRIES, path=path, number=number, **words)


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
    arrive({"X"}, {"X", "y"}, X=X, y=y, qid=qid)
    path = read_path(path)
    check_parameter("comment", comment, [text, None])
    check_same_index(X=X, y=y, qid=qid)
    y, qid = split_target(y, qid)
    X, y = _check_rows(X, y, qid)
    lists = read_lists(qid, len(y))
    ids = _ids_in_file(lists.ids)
    with open_replacing(path) as file:
        for line in (comment or "").splitlines():
            file.write(f"# {line}\n".encode("utf-8", "backslashreplace"))
        for rows in slices(len(y), 4096):
            qids = [ids[code] for code in lists.codes[rows].tolist()]
            file.write(_format_lines(X[rows], y[rows], qids).encode())
    return lists.ids


def _ids_in_file(ids):
    """Return integers as they are; 1, 2, ... in place of other ids."""
    is_integer = ids.dtype.kind in "iu"
    if ids.dtype.kind == "O":  # a duration of NumPy is an Integral
        is_integer = all(
            isinstance(i, Integral) and not isinstance(i, bool) for i in ids
        )
    if not is_integer:
        return list(range(1, len(ids) + 1))
    integers = [int(i) for i in ids]
    id_dtype(integers, "qid")  # refuses ids beyond 64 bits
    return integers


def _format_lines(X, y, qids):
    """Format rows as lines 'grade qid:<int> <feature>:<value> ...'."""
    X = sparse.csr_matrix(X, copy=True)
    X.eliminate_zeros()
    # repr is the shortest text that reads as the same number
    pairs = [
        f"{feature}:{value!r}"
        for feature, value in zip(
            (X.indices + 1).tolist(), X.data.tolist(), strict=True
        )
    ]
    lines = []
    bounds = pairwise(X.indptr.tolist())
    for grade, qid, (start, stop) in zip(y.tolist(), qids, bounds, strict=True):
        words = [repr(grade), f"qid:{qid}", *pairs[start:stop]]
        lines.append(" ".join(words) + "\n")
    # 1.0 is written as 1
    return "".join(lines).replace(".0 ", " ").replace(".0\n", "\n")


def _check_rows(X, y, qid):
    """Validate X and y, and convert them to types whose repr is exact.

    X is an array, or a CSR matrix without duplicate entries.
    """
    for name, values in {"X": X, "y": y}.items():
        if np.ma.is_masked(values):
            refuse(CHECKS_OF_VALUES, value=values, name=name, what="hold numbers")
    X = check_array(X, accept_sparse="csr", input_name="X")
    y = check_array(y, ensure_2d=False, allow_nd=True, input_name="y")
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    refuse(CHECKS_OF_WRITTEN_ROWS, X=X, y=y, qid=qid)
    return _exact(X), _exact(y)


def _exact(values):
    """Convert floats to float64, and booleans to integers."""
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind == "b":
        return values.astype(np.int8)
    return values
