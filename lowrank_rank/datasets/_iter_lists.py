"""Blocks of whole lists, for data larger than memory."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from decimal import Decimal
from functools import cache
from glob import glob
from itertools import count as count_from
from itertools import islice, pairwise
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from .._arrays import check_same_columns, check_same_index, plain, stacked
from .._lists import factorize, id_array, refuse_missing_ids
from .._parameters import checked, count
from ._files import line_of_row, path_like, read_path, read_svmlight, text, texts
from ._letor import OF_FILES, can_represent, convert_features, feature_dtype


@checked(
    **OF_FILES,
    rows_per_block=[count()],
    y_column=[text],
    qid_column=[text],
    feature_columns=[texts, None],
)
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
    feature_columns: list[str] | None = None,
    verbose: int = 0,
) -> "ListBlocks":
    """Iterate over blocks of whole lists from files, memory maps or chunks, any number of times.

    No list is cut between two blocks: a list that the source cuts, between chunks or
    files, is joined. Rows of a list that come after rows of other lists are refused.

    Parameters
    ----------
    source : path, list of paths, tuple (X, y, qid), iterable or callable
        * One or several files, or a pattern with ``*`` such as ``"log/*.parquet"``: its
          files are read in the order of their names. Files are Parquet if they end in
          .parquet, else LETOR or SVMlight lines with a qid. Files ending in .gz or .bz2
          are unpacked.
        * A tuple of three arrays, or of paths of ``.npy`` files, which are mapped into
          memory. The blocks are views of the arrays.
        * An iterable of chunks (X, y, qid), or a callable that returns one. X is an
          array, a sparse matrix or a pandas frame. An iterator, such as a generator,
          allows only one pass.
    rows_per_block : int, default=100_000
        Maximum number of rows of a block; a longer list is a block by itself.
    n_features : int or None, default=None
        Number of features of LETOR files. None is the highest number in any of the
        files, found by reading all of them once before the first pass, which then takes
        twice the time.
    dtype : dtype, default=float64
        Type of the features of files, as in `load_letor`. Arrays and chunks keep their
        types.
    zero_based : bool, default=False
        Whether LETOR files count features from 0.
    dense : bool, default=False
        Whether blocks of LETOR files have arrays instead of CSR matrices.
    y_column, qid_column : str, default="y" and "qid"
        Columns of grades and of query ids in Parquet files.
    feature_columns : list of str or None, default=None
        Columns of features in Parquet files, in the order of X; None is all other
        columns.
    verbose : int, default=0
        1 prints a line at the end of each pass, 2 a line for each block.

    Returns
    -------
    ListBlocks
        Iterating over it yields tuples (X, y, qid); each ``for`` starts a new pass.

    Raises
    ------
    FileNotFoundError
        If a file does not exist, or no file has a name like the pattern.
    ValueError
        During a pass, if the rows of a list are not together, if chunks have different
        features, or if a file cannot be read. The message names the row or line.
    TypeError
        If `source` is nothing of the kind.
    ImportError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    About three blocks and one chunk of the source are in memory. If the ids of files or
    arrays do not come sorted, or the source is an iterable or callable, so is the set
    of earlier ids, some 100 bytes for each list. Where sorted ids end, the earlier rows
    are read again for this set. A LETOR file is read in chunks of 4,000 lines.

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
    if feature_columns is not None:
        named = [y_column, qid_column, *feature_columns]
        if not feature_columns or len(set(named)) < len(named):
            raise ValueError(
                "feature_columns must name distinct columns beside y and qid, got "
                f"{feature_columns}."
            )
    is_triple = isinstance(source, tuple) and len(source) == 3
    # Arrays, or paths of .npy files.
    if is_triple and all(
        str(part).endswith(".npy")
        if path_like.accepts(part)
        else not isinstance(part, tuple)
        for part in source
    ):
        opened = of_arrays(source)
    elif (paths := _paths(source)) is None:
        opened = of_chunks(source)
    elif paths and paths[0].suffix == ".parquet":
        read = _parquet_reader(
            paths, feature_dtype(dtype), (y_column, qid_column), feature_columns
        )
        opened = of_files(paths, read, lambda path, row: f"{path}, row {row}")
    else:
        read = _letor_reader(paths, n_features, feature_dtype(dtype), zero_based, dense)
        opened = of_files(
            paths, read, lambda path, row: f"{path}, line {line_of_row(path, row)}"
        )
    blocks, place, name, is_fixed = opened
    return ListBlocks(
        blocks, place, name, is_fixed, int(rows_per_block), verbose=int(verbose)
    )


class ListBlocks:
    """A re-iterable of blocks (X, y, qid) of whole lists, returned by `iter_lists`.

    ``blocks(size)`` iterates over blocks of whole lists of about `size` rows; if it
    `is_fixed`, it can start again during a pass, with the same blocks. ``place(row)``
    describes the place of a row.
    """

    def __init__(
        self,
        blocks: Any,
        place: Any,
        name: str,
        is_fixed: bool,
        size: int,
        *,
        verbose: int = 0,
    ) -> None:
        self._blocks, self._place, self._name, self._is_fixed = (
            blocks,
            place,
            name,
            is_fixed,
        )
        self._size = size
        self._verbose = verbose

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        # While ids come sorted, the last one is enough to find one that comes back.
        earlier_ids: set | None = None if self._is_fixed else set()
        last: list = []
        start, n_rows, n_lists, n_blocks = perf_counter(), 0, 0, 0

        def report(what):
            counts = f"{n_rows} rows, {n_lists} lists, {perf_counter() - start:.1f} s"
            print(f"[iter_lists] {what}: {counts}", flush=True)

        for X, y, qid in self._blocks(self._size):
            heads, ids = run_ids(qid)
            if earlier_ids is None and not rises([*last, *ids]):
                earlier_ids = set()
                for *_, before in islice(self._blocks(self._size), n_blocks):
                    earlier_ids.update(run_ids(before)[1])
            if earlier_ids is not None:
                for row, i in zip(heads.tolist(), ids, strict=True):
                    if i in earlier_ids:
                        raise ValueError(
                            f"The list {plain(qid[row])!r} is also at {self._place(n_rows + row)}, "
                            "after rows of other lists: sort by query id, or make ids unique."
                        )
                    earlier_ids.add(i)
            last, n_lists = ids[-1:], n_lists + len(ids)
            n_rows, n_blocks = n_rows + len(qid), n_blocks + 1
            if self._verbose > 1:
                report(f"block {n_blocks}")
            yield X, y, qid
        if not n_blocks:
            raise ValueError(f"{self._name} contains no rows.")
        if self._verbose:
            report(f"pass over {n_blocks} blocks")

    def __repr__(self) -> str:
        return f"ListBlocks({self._name})"


# Cutting and joining ----------------------------------------------------------------


def run_starts(qid):
    """Rows at which a run of equal ids starts."""
    return np.append(0, np.flatnonzero(qid[1:] != qid[:-1]) + 1)


def run_ids(qid):
    """Rows at which a run of equal ids starts, and their ids as a list of objects."""
    heads = run_starts(qid)
    try:
        codes, ids = factorize(qid[heads])
    except ValueError:
        refuse_missing_ids(qid)  # names the row
        raise
    return heads, ids[codes].tolist()


def rises(ids):
    """Whether each id is above the one before; ids without an order do not rise."""
    try:
        return all(a < b for a, b in pairwise(ids))
    except TypeError:
        return False


def cuts(qid, size):
    """Yield pairs (start, stop) of at most `size` rows that end where a list ends.

    A longer list is a pair by itself.

    Examples
    --------
    >>> list(cuts(np.array([1, 1, 2, 3, 3, 3, 4]), 2))
    [(0, 2), (2, 3), (3, 6), (6, 7)]
    """
    ends = np.append(run_starts(qid), len(qid))
    start = 0
    while start < len(qid):
        first_end = ends[np.searchsorted(ends, start, side="right")]
        last_end = ends[np.searchsorted(ends, start + size, side="right") - 1]
        stop = int(max(first_end, last_end))
        yield start, stop
        start = stop


def _rows(block, start, stop):
    """A slice of the rows of a block (X, y, qid)."""
    X, y, qid = block
    X = X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]
    return X, y[start:stop], qid[start:stop]


def _join(chunks, size):
    """Yield blocks of whole lists from chunks that may cut lists."""
    pending: list[tuple] = []
    n_rows, enough = 0, size
    for chunk in chunks:
        pending.append(_check_chunk(chunk, pending[-1] if pending else None))
        n_rows += len(pending[-1][1])
        if n_rows > enough:
            joined = _concatenate(pending)
            *whole, last = cuts(joined[2], size)
            for cut in whole:
                yield _rows(joined, *cut)
            # The copy of the last list lets the joined rows be freed.
            pending = [tuple(part.copy() for part in _rows(joined, *last))]
            n_rows = last[1] - last[0]
            enough = max(size, 2 * n_rows)  # a long list is not copied for each chunk
            del joined
    if pending:
        joined = _concatenate(pending)
        for cut in cuts(joined[2], size):
            yield _rows(joined, *cut)


def _check_chunk(chunk, before):
    """Validate a chunk (X, y, qid): parts of equal length, as many features as before."""
    try:
        X, y, qid = chunk
    except (TypeError, ValueError):
        raise ValueError(
            f"Each chunk must be a triple (X, y, qid), got {type(chunk).__name__}."
        ) from None
    check_same_index(X=X, y=y, qid=qid)
    X = (
        X.tocsr()
        if sparse.issparse(X)
        else X
        if hasattr(X, "iloc")
        else np.asanyarray(X)
    )
    y, qid = np.asanyarray(y), id_array(qid)
    check_consistent_length(X, y, qid)
    if X.ndim != 2:
        raise ValueError(
            f"X of each chunk must have two dimensions, got shape {X.shape}."
        )
    if before is not None and before[0].shape[1] != X.shape[1]:
        raise ValueError(
            f"A chunk of {X.shape[1]} features follows one of {before[0].shape[1]}."
        )
    if before is not None:
        check_same_columns(**{"the chunk before": before[0], "a chunk": X})
    return X, y, qid


def _concatenate(blocks):
    if len(blocks) == 1:
        return blocks[0]
    X, y, qid = zip(*blocks, strict=True)
    if len({ids.dtype.kind for ids in qid}) > 1:
        # NumPy would make strings of numbers, and floats of signed and unsigned
        # integers.
        qid = tuple(ids.astype(object) for ids in qid)
    return stacked(X), np.concatenate(y), np.concatenate(qid)


# Sources ----------------------------------------------------------------------------


def _paths(source):
    """The files of the source, or None for a source of another kind."""
    if isinstance(source, str) and "*" in source:
        if not (names := sorted(glob(source, recursive=True))):
            raise FileNotFoundError(f"No file has a name like {source!r}.")
        source = names
    source = [source] if path_like.accepts(source) else source
    if not isinstance(source, list | tuple) or not any(map(path_like.accepts, source)):
        return None
    paths = [read_path(part, "each path") for part in source]
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(
                f"{path} is a folder: give its files, '{path}/*.parquet'."
            )
    if len({path.suffix == ".parquet" for path in paths}) > 1:
        raise ValueError("Some files are Parquet and some are not: give one format.")
    return paths


def of_arrays(source):
    """The source of three arrays, for `ListBlocks`; blocks are views of them."""
    arrays = []
    for part in source:
        try:
            if path_like.accepts(part):
                part = np.load(read_path(part), mmap_mode="r", allow_pickle=False)
            arrays.append(part)
        except (EOFError, ValueError) as error:
            raise ValueError(f"{part} is not a readable .npy file: {error}.") from None
    X, y, qid = arrays
    data = _check_chunk((X, y, qid), None)

    def blocks(size):
        return (_rows(data, *cut) for cut in cuts(data[2], size))

    return blocks, "row {}".format, f"<arrays of {len(data[2])} rows>", True


def of_chunks(source):
    """The source of an iterable of chunks, or of a callable that returns one."""
    if not callable(source) and not isinstance(source, Iterable):
        raise TypeError(
            "source must be a path, a list of paths, a tuple (X, y, qid), an iterable of such "
            f"tuples or a callable that returns one, got {source!r}."
        )
    passes = count_from(1)

    def blocks(size):
        if isinstance(source, Iterator) and next(passes) > 1:
            raise ValueError(
                "An iterator is read only once: give a list or a callable."
            )
        return _join(source() if callable(source) else source, size)

    name = f"<chunks of a {type(source).__name__}>"
    return blocks, "row {} of all chunks together".format, name, False


def of_files(paths, read, place_in_file):
    """The source of files, one after the other; ``read(path)`` iterates over chunks of one."""
    for path in paths:
        open(path, "rb").close()  # a missing file is reported before the first pass
    starts: dict[int, int] = {}  # first row of each file that was opened

    def chunks():
        row = 0
        for file, path in enumerate(paths):
            starts[file] = row
            for chunk in read(path):
                yield chunk
                row += len(chunk[1])

    def place(row):
        file = int(np.searchsorted(list(starts.values()), row, side="right")) - 1
        return place_in_file(paths[file], row - starts[file])

    return lambda size: _join(chunks(), size), place, ", ".join(map(str, paths)), True


def _letor_reader(paths, n_features, dtype, zero_based, dense):
    """``read(path)`` of LETOR files, all with the same number of features."""

    @cache
    def width():
        return n_features or max(
            (
                X.shape[1]
                for p in paths
                for X, _, _ in read_svmlight(p, dtype, zero_based)
            ),
            default=1,
        )

    def read(path):
        row = 0
        for X, y, qid in read_svmlight(path, dtype, zero_based):
            yield (
                convert_features(path, X, width(), dtype, zero_based, dense, row),
                y,
                qid,
            )
            row += len(y)

    return read


def _parquet_reader(paths, dtype, columns, chosen):
    """``read(path)`` of Parquet files, all with the same columns."""

    def read(path):
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile, read_schema
        except ImportError:
            raise ImportError(
                "Parquet files are read by pyarrow: pip install pyarrow."
            ) from None
        row = 0
        try:
            features, own = (
                _features_of(one, read_schema(one).names, columns, chosen)
                for one in (paths[0], path)
            )
            if set(own) != set(features):
                raise ValueError(
                    f"{path} does not have the same columns as {paths[0]}."
                )
            with closing(ParquetFile(path, read_dictionary=columns[1:])) as file:
                for batch in file.iter_batches(columns=[*features, *columns]):
                    values = {
                        name: column.to_numpy(zero_copy_only=False)
                        for name, column in zip(
                            batch.schema.names, batch.columns, strict=True
                        )
                    }
                    X = np.empty((batch.num_rows, len(features)), dtype=dtype)
                    for j, name in enumerate(features):
                        X[:, j] = _numbers(values[name], dtype, path, name, row)
                    y = _numbers(
                        values[columns[0]], np.dtype(float), path, columns[0], row
                    )
                    yield X, y, values[columns[1]]
                    row += batch.num_rows
        except (ArrowException, OSError) as error:
            raise ValueError(
                f"{path} is not a readable Parquet file: {error}."
            ) from None

    return read


def _features_of(path, names, columns, chosen):
    """Names of the features of a Parquet file with these columns."""
    for name in [*columns, *(chosen or [])]:
        if name not in names:
            raise ValueError(
                f"{path} has no column {name!r}, only {names[:10]}: set y_column=..., "
                "qid_column=... and feature_columns=...."
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"{path} has two columns {twice!r}: give each column its own name."
        )
    return chosen or [name for name in names if name not in columns]


def _numbers(values, dtype, path, name, first_row):
    """A column as numbers of a type; an error names the file, column, row and value."""
    if values.dtype.kind in "biuf":
        fits = can_represent(values, dtype)
    else:
        fits = np.array([isinstance(value, Real | Decimal) for value in values])
    if not fits.all():
        row = int(np.argmin(fits))
        raise ValueError(
            f"{path}, column {name!r}, row {first_row + row}: {plain(values[row])!r} is not of the "
            f"type {dtype.name}; feature_columns= chooses the features."
        )
    return values.astype(dtype, copy=False)
