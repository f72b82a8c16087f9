"""Blocks of whole lists from whatever is larger than memory."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from .._lists import factorize, id_array
from .._parameters import Rule, check_parameter, count, verbosity
from ._files import line_of_row, path_like, read_chunks, read_path
from ._letor import as_features, feature_dtype, widen

_name = Rule(lambda value: isinstance(value, str), "the name of a column")
_ROWS_PER_BATCH = 2**16  # of a Parquet file


def iter_lists(
    source: Any,
    *,
    rows_per_block: int = 100_000,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool = False,
    dense: bool = False,
    y_column: str = "y",
    qid_column: str = "qid",
    verbose: int = 0,
) -> "ListBlocks":
    """Iterate over blocks of whole lists from files, memory maps or chunks, any number of times.

    No list is cut between two blocks. Lists that chunks or files cut are joined. A list that comes
    back after other lists is refused.

    Parameters
    ----------
    source : path, list of paths, tuple (X, y, qid), iterable or callable
        * One or several files: Parquet by the ending .parquet, else LETOR or SVMlight lines with
          a qid, packed where they end in .gz or .bz2.
        * A tuple of three arrays, or of paths of ``.npy`` files, which are mapped rather than read;
          the blocks are views of them.
        * An iterable of chunks (X, y, qid), or a callable that returns one. X is an array, a sparse
          matrix or a pandas frame. An iterator, such as a generator, can be passed over only once.
    rows_per_block : int, default=100_000
        Rows of a block at most; a list that is longer is a block by itself.
    n_features : int or None, default=None
        Number of features of LETOR files; None is the highest feature, which costs an additional
        pass.
    dtype : dtype, default=float64
        Type of the features of files, as in `load_letor`. Arrays and chunks keep theirs.
    zero_based : bool, default=False
        Whether LETOR files count features from 0.
    dense : bool, default=False
        Whether blocks of LETOR files hold arrays rather than CSR matrices.
    y_column, qid_column : str, default="y" and "qid"
        Columns of Parquet files with the grades and the query ids. All others are features.
    verbose : int, default=0
        1 prints a line at the end of each pass, 2 one for each block.

    Returns
    -------
    ListBlocks
        Iterating over it yields tuples (X, y, qid); each ``for`` starts a new pass.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ValueError
        During a pass: if a list comes back, with its id and the row or line; if chunks do not fit
        together; or what `load_letor` raises.
    ImportError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    Memory holds about three blocks, a chunk of the source, and the set of the earlier ids, some 100
    bytes a list. A LETOR file is read in pieces of 512 KiB.

    Examples
    --------
    A list of three rows in two chunks:

    >>> from lowrank_rank.datasets import iter_lists
    >>> chunks = [
    ...     ([[1.0], [2.0], [3.0]], [0, 1, 0], ["a", "a", "b"]),
    ...     ([[4.0], [5.0], [6.0]], [1, 0, 2], ["b", "b", "c"]),
    ... ]
    >>> blocks = iter_lists(chunks, rows_per_block=3)
    >>> [qid.tolist() for X, y, qid in blocks]
    [['a', 'a'], ['b', 'b', 'b'], ['c']]
    >>> sum(len(y) for X, y, qid in blocks)  # a second pass
    6
    """
    check_parameter("rows_per_block", rows_per_block, [count()])
    check_parameter("n_features", n_features, [count(), None])
    check_parameter("zero_based", zero_based, [bool])
    check_parameter("dense", dense, [bool])
    check_parameter("y_column", y_column, [_name])
    check_parameter("qid_column", qid_column, [_name])
    check_parameter("verbose", verbose, [verbosity])
    size = int(rows_per_block)
    if _is_arrays(source):
        pieces: Callable[[], Iterator] = _Arrays(source, size)
    else:
        chunks: Callable[[], Iterator]
        paths = _paths(source)
        if paths is None:
            chunks = _Chunks(source)
        elif all(path.suffix == ".parquet" for path in paths):
            chunks = _Parquet(paths, feature_dtype(dtype), y_column, qid_column)
        else:
            chunks = _Letor(paths, feature_dtype(dtype), bool(zero_based), bool(dense), n_features)
        pieces = _Joined(chunks, size)
    return ListBlocks(pieces, verbose=int(verbose))


class ListBlocks:
    """A re-iterable of blocks (X, y, qid) of whole lists; what `iter_lists` returns.

    Parameters
    ----------
    pieces : callable
        Returns an iterator of one pass over blocks that end where a list ends; its ``place(row)``
        says where a row of the source stands.
    verbose : int, default=0
    """

    def __init__(self, pieces: Any, *, verbose: int = 0) -> None:
        self._pieces = pieces
        self._verbose = verbose

    def __iter__(self) -> Iterator[tuple]:
        seen: set = set()
        began, n_rows, n_blocks = perf_counter(), 0, 0
        for X, y, qid in self._pieces():
            self._refuse_known(qid, seen, n_rows)
            n_rows, n_blocks = n_rows + len(qid), n_blocks + 1
            if self._verbose > 1:
                self._print(f"block {n_blocks}", n_rows, len(seen), perf_counter() - began)
            yield X, y, qid
        if not n_blocks:
            raise ValueError(f"{self._pieces!r} holds no row of data.")
        if self._verbose:
            self._print(f"pass over {n_blocks} blocks", n_rows, len(seen), perf_counter() - began)

    def _refuse_known(self, qid, seen, n_rows):
        """Add the ids of a block to those that are seen; none may be among them."""
        codes, ids = factorize(qid)
        back = codes[1:] < codes[:-1]  # codes rise as ids appear
        ids = ids.tolist()
        if back.any() or not seen.isdisjoint(ids):
            row = int(np.argmax(back)) + 1 if back.any() else len(qid)
            known = [i for i, q in enumerate(ids) if q in seen]
            first = int(np.argmax(codes == known[0])) if known else len(qid)
            row = min(row, first)
            raise ValueError(
                f"The list {ids[codes[row]]!r} comes back at {self._pieces.place(n_rows + row)}, "
                "after rows of other lists: the rows of a list must stand together. Sort the data "
                "by query id, or give ids that are unique over all files."
            )
        seen.update(ids)

    def _print(self, what, n_rows, n_lists, seconds):
        print(f"[iter_lists] {what}: {n_rows} rows, {n_lists} lists, {seconds:.1f} s", flush=True)

    def __repr__(self):
        return f"ListBlocks({self._pieces!r})"


# Cutting and joining ----------------------------------------------------------------


def cuts(qid, size):
    """Pairs (start, stop) of at most `size` rows that end where a list ends, in their order.

    A list that is longer is a pair by itself. Reads `qid` piece by piece.

    Examples
    --------
    >>> list(cuts(np.array([1, 1, 2, 3, 3, 3, 4]), 2))
    [(0, 2), (2, 3), (3, 6), (6, 7)]
    """
    start, n_rows = 0, len(qid)
    while start < n_rows:
        stop = min(start + size, n_rows)
        if stop < n_rows and qid[stop] == qid[stop - 1]:
            heads = np.flatnonzero(_changes(qid[start:stop]))
            stop = start + int(heads[-1]) + 1 if len(heads) else _end_of_list(qid, stop, size)
        yield start, stop
        start = stop


def _changes(qid):
    qid = np.asarray(qid)
    return (qid[1:] != qid[:-1]).astype(bool)


def _end_of_list(qid, row, size):
    """The end of the list that `row` is in the middle of."""
    while row < len(qid):
        changes = _changes(qid[row - 1 : row + size])
        if changes.any():
            return row + int(np.argmax(changes))
        row += size
    return len(qid)


class _Joined:
    """Blocks of whole lists of chunks that may cut them."""

    def __init__(self, chunks, size):
        self.chunks, self.size = chunks, size

    def __call__(self):
        held: list[_Block] = []
        n_rows, enough = 0, self.size
        for chunk in self.chunks():
            held.append(_checked(chunk, held[-1] if held else None))
            n_rows += len(held[-1].qid)
            if n_rows <= enough:
                continue
            whole = _concatenate(held)
            *starts, last = cuts(whole.qid, self.size)
            for start, stop in starts:
                yield whole.rows(start, stop)
            held, n_rows = [whole.rows(*last).copy()], last[1] - last[0]
            enough = max(self.size, 2 * n_rows)  # a long list is not copied for each chunk
            del whole
        if held:
            whole = _concatenate(held)
            for start, stop in cuts(whole.qid, self.size):
                yield whole.rows(start, stop)

    def place(self, row):
        return self.chunks.place(row)

    def __repr__(self):
        return repr(self.chunks)


class _Block(NamedTuple):
    X: Any
    y: np.ndarray
    qid: np.ndarray

    def rows(self, start, stop):
        X = self.X.iloc[start:stop] if hasattr(self.X, "iloc") else self.X[start:stop]
        return _Block(X, self.y[start:stop], self.qid[start:stop])

    def copy(self):
        """Copy rows that are a view of other rows, to free the memory of these."""
        return _Block(self.X.copy(), self.y.copy(), self.qid.copy())


def _checked(chunk, before):
    """A chunk as the user gave it: three parts of one length, the features as before."""
    try:
        X, y, qid = chunk
    except (TypeError, ValueError):
        raise ValueError(
            f"Each chunk must be a triple (X, y, qid), got {type(chunk).__name__}."
        ) from None
    X = X.tocsr() if sparse.issparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
    block = _Block(X, np.asarray(y), id_array(qid))
    check_consistent_length(*block)
    if X.ndim != 2:
        raise ValueError(f"X of each chunk must have two dimensions, got shape {X.shape}.")
    if before is not None and before.X.shape[1] != X.shape[1]:
        raise ValueError(
            f"A chunk of {X.shape[1]} features follows one of {before.X.shape[1]}: all chunks need "
            "the same features."
        )
    return block


def _concatenate(blocks):
    if len(blocks) == 1:
        return blocks[0]
    X, y, qid = zip(*blocks, strict=True)
    if all(sparse.issparse(one) for one in X):
        features = sparse.vstack(X, format="csr")
    elif all(hasattr(one, "iloc") for one in X):
        import pandas as pd

        features = pd.concat(X)
    else:
        features = np.concatenate([np.asarray(one) for one in X])
    kinds, types = {one.dtype.kind for one in qid}, {one.dtype for one in qid}
    # NumPy would make strings of numbers, and floats of signed and unsigned integers
    mixed = kinds > {"i"} if kinds <= set("iu") else len(kinds) > 1
    ids = [one.astype(object) for one in qid] if mixed and len(types) > 1 else list(qid)
    return _Block(features, np.concatenate(y), np.concatenate(ids))


# Sources ----------------------------------------------------------------------------


def _is_arrays(source):
    """Whether it is the tuple (X, y, qid) of arrays, or of .npy files."""
    if not isinstance(source, tuple) or len(source) != 3:
        return False
    return all(
        str(part).endswith(".npy") if path_like.accepts(part) else not isinstance(part, tuple)
        for part in source
    )


def _mapped(part):
    return np.load(read_path(part), mmap_mode="r") if path_like.accepts(part) else part


def _paths(source):
    """The given files, or None for another source."""
    if path_like.accepts(source):
        return [read_path(source)]
    if not isinstance(source, list | tuple) or not any(map(path_like.accepts, source)):
        return None
    paths = [read_path(part, "each path") for part in source]
    if len({path.suffix == ".parquet" for path in paths}) > 1:
        raise ValueError("The files are in part Parquet, in part not: give files of one format.")
    return paths


class _Arrays:
    """Blocks of three arrays: views, where these are arrays."""

    def __init__(self, source, size):
        X, y, qid = map(_mapped, source)
        X = X.tocsr() if sparse.issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
        self.block, self.size = _Block(X, np.asanyarray(y), id_array(qid)), size
        check_consistent_length(*self.block)

    def __call__(self):
        for start, stop in cuts(self.block.qid, self.size):
            yield tuple(self.block.rows(start, stop))

    def place(self, row):
        return f"row {row}"

    def __repr__(self):
        return f"<arrays of {len(self.block.qid)} rows>"


class _Chunks:
    """Chunks of an iterable, or of what a callable returns."""

    def __init__(self, source):
        if not callable(source) and not isinstance(source, Iterable):
            raise TypeError(
                "source must be a path, a list of paths, a tuple (X, y, qid), an iterable of such "
                f"tuples or a callable that returns one, got {source!r}."
            )
        self.source, self.is_used = source, False

    def __call__(self):
        if callable(self.source):
            return iter(self.source())
        if isinstance(self.source, Iterator):
            if self.is_used:
                raise ValueError(
                    "The chunks come from an iterator, which can be passed over only once, and a "
                    "second pass was asked for: give a list, or a callable that returns a new one."
                )
            self.is_used = True
        return iter(self.source)

    def place(self, row):
        return f"row {row} of all chunks together"

    def __repr__(self):
        return f"<chunks of a {type(self.source).__name__}>"


class _Files:
    """Chunks of several files, one after the other; remembers where each of them starts."""

    def __init__(self, paths):
        if not paths:
            raise ValueError("iter_lists got no path: give a file or a list of files.")
        for path in paths:
            with open(path, "rb"):  # what is missing is said now, not in the first pass
                pass
        self.paths, self.starts = paths, []

    def __call__(self):
        self.starts, row = [], 0
        for path in self.paths:
            self.starts.append(row)
            for chunk in self.read(path):
                yield chunk
                row += len(chunk[1])

    def read(self, path):
        """Triples (X, y, qid) of one file."""
        raise NotImplementedError

    def place(self, row):
        file = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.in_file(self.paths[file], row - self.starts[file])

    def in_file(self, path, row):
        return f"{path}, row {row}"

    def __repr__(self):
        return ", ".join(map(str, self.paths))


class _Letor(_Files):
    def __init__(self, paths, dtype, zero_based, dense, n_features):
        super().__init__(paths)
        self.dtype, self.zero_based, self.dense = dtype, zero_based, dense
        self.n_features = n_features

    def read(self, path):
        if self.n_features is None:
            self.n_features = max(
                (
                    X.shape[1]
                    for one in self.paths
                    for X, _, _ in read_chunks(one, self.dtype, self.zero_based)
                ),
                default=1,
            )
        row = 0
        for X, y, qid in read_chunks(path, self.dtype, self.zero_based):
            widen(X, self.n_features, path, self.zero_based, row)
            yield as_features(path, X, self.dtype, self.dense, row), y, qid
            row += len(y)

    def in_file(self, path, row):
        return f"{path}, line {line_of_row(path, row)}"


class _Parquet(_Files):
    def __init__(self, paths, dtype, y_column, qid_column):
        super().__init__(paths)
        self.dtype, self.columns = dtype, (y_column, qid_column)
        self.features = None

    def read(self, path):
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise ImportError("Parquet files are read by pyarrow: pip install pyarrow.") from None
        with closing(ParquetFile(path)) as file:
            names = self._names(path, file.schema_arrow.names)
            for batch in file.iter_batches(_ROWS_PER_BATCH, columns=[*names, *self.columns]):
                y, qid = (_values(batch, name) for name in self.columns)
                X = np.empty((len(y), len(names)), dtype=self.dtype)
                for j, name in enumerate(names):
                    X[:, j] = _values(batch, name)
                yield X, y, qid

    def _names(self, path, names):
        missing = [name for name in self.columns if name not in names]
        if missing:
            raise ValueError(
                f"{path} has no column {missing[0]!r}, only {names[:10]}: name those of the grades "
                "and of the query ids, y_column=... and qid_column=...."
            )
        names = [name for name in names if name not in self.columns]
        self.features = names if self.features is None else self.features
        if set(names) != set(self.features):
            raise ValueError(f"{path} has not the same columns as {self.paths[0]}.")
        return self.features


def _values(batch, name):
    return batch.column(batch.schema.get_field_index(name)).to_numpy(zero_copy_only=False)
