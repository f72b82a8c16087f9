"""Blocks of whole lists, for data larger than memory."""

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from glob import glob
from itertools import islice, pairwise
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from ..lists._lists import factorize, missing_ids
from ..validation._arrays import (
    check_same_columns,
    check_same_index,
    shown,
    stacked,
)
from ..validation._check import refuse
from ..validation._checks_of_sources import (
    CHECKS_OF_CHUNKS,
    CHECKS_OF_PARQUET,
    CHECKS_OF_PASSES,
    CHECKS_OF_SOURCES,
)
from ..validation._ids import id_array, refuse_missing_ids
from ..validation._kinds import arrive
from ..validation._parameters import checked, count
from ..validation._paths import path_like, read_path
from ._files import line_of_row, read_svmlight, text, texts
from ._letor import OF_FILES, can_represent, convert_features


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
    """Iterate over blocks of whole lists from files, memory maps or chunks.

    The result can be iterated over any number of times. No list is cut between two
    blocks: a list that the source cuts, between chunks or files, is joined. Rows of a
    list that come after rows of other lists are refused.

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
        If `source` is none of these.
    ImportError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    About three blocks and one chunk of the source are in memory. The set of earlier
    ids, some 100 bytes for each list, is in memory too if the ids of files or arrays
    are not sorted, or the source is an iterable or callable. Where sorted ids end, the
    earlier rows are read again for this set. A LETOR file is read in chunks of 4,000
    lines.

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
    arrive(source=source)
    size = int(rows_per_block)
    verbose = int(verbose)
    is_triple = _is_triple_of_arrays(source)
    paths = None if is_triple else _paths(source)
    refuse(
        CHECKS_OF_SOURCES,
        source=source,
        paths=paths,
        is_triple=is_triple,
        y_column=y_column,
        qid_column=qid_column,
        feature_columns=feature_columns,
    )
    if is_triple:
        return _of_arrays(source, size, verbose)
    if paths is None:
        return _of_chunks(source, size, verbose)
    dtype = np.dtype(dtype)
    if paths and paths[0].suffix == ".parquet":
        read = _parquet_reader(paths, dtype, y_column, qid_column, feature_columns)
        return _of_files(paths, read, _parquet_place, size, verbose)
    read = _letor_reader(paths, n_features, dtype, zero_based, dense)
    return _of_files(paths, read, _letor_place, size, verbose)


class ListBlocks:
    """A re-iterable of blocks (X, y, qid) of whole lists, returned by `iter_lists`.

    Parameters
    ----------
    blocks : callable
        ``blocks()`` iterates over blocks of whole lists.
    place : callable
        ``place(row)`` describes where the source has a row.
    name : str
        Name of the source.
    is_fixed : bool
        Whether ``blocks()`` can start again during a pass, with the same blocks.
    verbose : int
        As in `iter_lists`.
    is_array : bool, default=False
        Whether the source is three arrays in memory.
    """

    def __init__(
        self,
        blocks: Any,
        place: Any,
        name: str,
        is_fixed: bool,
        verbose: int = 0,
        is_array: bool = False,
    ) -> None:
        self._blocks = blocks
        self._place = place
        self._name = name
        self._is_fixed = is_fixed
        self._verbose = verbose
        self._is_array = is_array

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        start = perf_counter()
        n_rows = 0
        n_lists = 0
        n_blocks = 0
        # While ids come sorted, the last one is enough to find one that comes back.
        earlier_ids: set | None = None if self._is_fixed else set()
        last_id: list = []
        for X, y, qid in self._blocks():
            first_rows, ids = run_ids(qid)
            if earlier_ids is None and not rises([*last_id, *ids]):
                earlier_ids = self._ids_of_blocks(n_blocks)
            if earlier_ids is not None:
                for row, one in zip(first_rows.tolist(), ids, strict=True):
                    if one in earlier_ids:
                        refuse(
                            CHECKS_OF_PASSES,
                            again=qid[row],
                            place=self._place(n_rows + row),
                            is_array=self._is_array,
                        )
                    earlier_ids.add(one)
            last_id = ids[-1:]
            n_lists += len(ids)
            n_rows += len(qid)
            n_blocks += 1
            if self._verbose > 1:
                _report(f"block {n_blocks}", n_rows, n_lists, start)
            yield X, y, qid
        refuse(CHECKS_OF_PASSES, name=self._name, n_blocks=n_blocks)
        if self._verbose:
            _report(f"pass over {n_blocks} blocks", n_rows, n_lists, start)

    def _ids_of_blocks(self, n_blocks):
        """Read the first blocks again; return the ids of their lists."""
        ids: set = set()
        for _, _, qid in islice(self._blocks(), n_blocks):
            ids.update(run_ids(qid)[1])
        return ids

    def __repr__(self) -> str:
        return f"ListBlocks({self._name})"


def _report(what, n_rows, n_lists, start):
    """Print the numbers of rows and lists so far, and the seconds since `start`."""
    seconds = perf_counter() - start
    print(
        f"[iter_lists] {what}: {n_rows} rows, {n_lists} lists, {seconds:.1f} s",
        flush=True,
    )


# Cutting and joining ----------------------------------------------------------------


def run_starts(qid):
    """Return the rows at which a run of equal ids starts."""
    return np.append(0, np.flatnonzero(qid[1:] != qid[:-1]) + 1)


def run_ids(qid):
    """Return the rows at which a run of equal ids starts, and a list of their ids."""
    first_rows = run_starts(qid)
    codes, ids = factorize(qid[first_rows])
    if missing_ids(ids).any():
        refuse_missing_ids(qid)  # names the row
    return first_rows, ids[codes].tolist()


def rises(ids):
    """Return whether each id is above the one before; ids need an order to rise."""
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
    """Slice the rows of a block (X, y, qid)."""
    X, y, qid = block
    if hasattr(X, "iloc"):
        X = X.iloc
    return X[start:stop], y[start:stop], qid[start:stop]


def _join(chunks, size):
    """Yield blocks of whole lists from chunks that may cut lists."""
    pending: list[tuple] = []  # chunks that no block has yet
    n_rows = 0
    n_enough = size  # more rows than these are joined and cut
    before = None
    for chunk in chunks:
        chunk = _check_chunk(chunk, before)
        pending.append(chunk)
        n_rows += len(chunk[1])
        if n_rows > n_enough:
            joined = _concatenate(pending)
            *whole, last = cuts(joined[2], size)
            for start, stop in whole:
                yield _rows(joined, start, stop)
            # The next chunk may continue the last list. Its copy lets the joined
            # rows be freed.
            start, stop = last
            chunk = tuple(part.copy() for part in _rows(joined, start, stop))
            pending = [chunk]
            n_rows = stop - start
            n_enough = max(size, 2 * n_rows)  # a long list is not copied for each chunk
            del joined
        before = chunk
    if pending:
        joined = _concatenate(pending)
        for start, stop in cuts(joined[2], size):
            yield _rows(joined, start, stop)


def _check_chunk(chunk, before, is_source=False):
    """Validate a chunk (X, y, qid): equal lengths, as many features as before.

    `is_source` says that the chunk is all of the source.
    """
    refuse(CHECKS_OF_CHUNKS, chunk=chunk)
    X, y, qid = chunk
    arrive(X=X, y=y, qid=qid)
    check_same_index(X=X, y=y, qid=qid)
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "iloc"):
        X = np.asanyarray(X)
    y = np.asanyarray(y)
    qid = id_array(qid)
    check_consistent_length(X, y, qid)
    refuse(CHECKS_OF_CHUNKS, chunk=chunk, X=X, before=before, is_source=is_source)
    if before is not None:
        check_same_columns(**{"the chunk before": before[0], "a chunk": X})
    return X, y, qid


def _concatenate(blocks):
    """Join blocks (X, y, qid) to one."""
    if len(blocks) == 1:
        return blocks[0]
    Xs, ys, qids = zip(*blocks, strict=True)
    if len({qid.dtype.kind for qid in qids}) > 1:
        # NumPy would make strings of numbers, and floats of signed and unsigned
        # integers.
        qids = tuple(qid.astype(object) for qid in qids)
    return stacked(Xs), np.concatenate(ys), np.concatenate(qids)


# Sources ----------------------------------------------------------------------------


def _is_triple_of_arrays(source):
    """Return whether the source is (X, y, qid), of arrays or paths of .npy files."""
    if not isinstance(source, tuple) or len(source) != 3:
        return False
    for part in source:
        if path_like.accepts(part):
            if not str(part).endswith(".npy"):
                return False
        elif isinstance(part, tuple):  # a chunk
            return False
    return True


def _of_arrays(source, size, verbose):
    """Return blocks that are views of three arrays, or of .npy files."""
    arrays = []
    for part in source:
        try:
            if path_like.accepts(part):
                part = np.load(read_path(part), mmap_mode="r", allow_pickle=False)
            arrays.append(part)
        except (EOFError, ValueError) as error:
            refuse(CHECKS_OF_PASSES, part=part, error=error)
    block = _check_chunk(arrays, None, is_source=True)
    qid = block[2]

    def blocks():
        for start, stop in cuts(qid, size):
            yield _rows(block, start, stop)

    return ListBlocks(
        blocks=blocks,
        place="row {}".format,
        name=f"<arrays of {len(qid)} rows>",
        is_fixed=True,
        verbose=verbose,
        is_array=not any(map(path_like.accepts, source)),
    )


def _of_chunks(source, size, verbose):
    """Return blocks of an iterable of chunks, or of a callable that returns one."""
    n_passes = 0

    def blocks():
        nonlocal n_passes
        n_passes += 1
        refuse(CHECKS_OF_PASSES, source=source, n_passes=n_passes)
        chunks = source() if callable(source) else source
        return _join(chunks, size)

    return ListBlocks(
        blocks=blocks,
        place="row {} of all chunks together".format,
        name=f"<chunks of a {type(source).__name__}>",
        is_fixed=False,
        verbose=verbose,
    )


# Files ------------------------------------------------------------------------------


def _paths(source):
    """Return the files of the source, or None for a source of another kind."""
    if isinstance(source, str) and "*" in source:
        names = sorted(glob(source, recursive=True))
        if not names:
            raise FileNotFoundError(f"No file has a name like {shown(source)}.")
        source = names
    if path_like.accepts(source):
        source = [source]
    if not isinstance(source, list | tuple) or not any(map(path_like.accepts, source)):
        return None
    paths = [read_path(part, "each path") for part in source]
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(
                f"{path} is a folder: give its files, '{path}/*.parquet'."
            )
    return paths


def _of_files(paths, read, place_in_file, size, verbose):
    """Return blocks of files, one after the other.

    Parameters
    ----------
    paths : list of Path
    read : callable
        ``read(path)`` iterates over chunks of a file.
    place_in_file : callable
        ``place_in_file(path, row)`` describes where a file has a row.
    size, verbose : int
    """
    for path in paths:
        open(path, "rb").close()  # a missing file is reported before the first pass
    first_rows: dict[int, int] = {}  # of each file that was opened

    def chunks():
        row = 0
        for file, path in enumerate(paths):
            first_rows[file] = row
            for chunk in read(path):
                yield chunk
                row += len(chunk[1])

    def place(row):
        starts = list(first_rows.values())
        file = int(np.searchsorted(starts, row, side="right")) - 1
        return place_in_file(paths[file], row - starts[file])

    return ListBlocks(
        blocks=lambda: _join(chunks(), size),
        place=place,
        name=", ".join(map(str, paths)),
        is_fixed=True,
        verbose=verbose,
    )


def _letor_place(path, row):
    """Describe where a LETOR file has a row."""
    return f"{path}, line {line_of_row(path, row)}"


def _parquet_place(path, row):
    """Describe where a Parquet file has a row."""
    return f"{path}, row {row}"


def _letor_reader(paths, n_features, dtype, zero_based, dense):
    """Return ``read(path)`` of LETOR files, all with the same number of features."""

    def read(path):
        nonlocal n_features
        if n_features is None:
            n_features = _highest_feature(paths, dtype, zero_based)
        row = 0
        for X, y, qid in read_svmlight(path, dtype, zero_based):
            X = convert_features(path, X, n_features, dtype, zero_based, dense, row)
            yield X, y, qid
            row += len(y)

    return read


def _highest_feature(paths, dtype, zero_based):
    """Read LETOR files for the highest number of features; 1 without rows."""
    highest = 1
    for path in paths:
        for X, _, _ in read_svmlight(path, dtype, zero_based):
            highest = max(highest, X.shape[1])
    return highest


def _parquet_reader(paths, dtype, y_column, qid_column, feature_columns):
    """Return ``read(path)`` of Parquet files, all with the same columns."""

    def read(path):
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile, read_schema
        except ImportError:
            raise ImportError(
                "Parquet files are read by pyarrow: pip install pyarrow."
            ) from None

        def features_of(path):
            columns = read_schema(path).names
            refuse(
                CHECKS_OF_PARQUET,
                path=path,
                columns=columns,
                y_column=y_column,
                qid_column=qid_column,
                feature_columns=feature_columns,
            )
            if feature_columns is not None:
                return feature_columns
            return [name for name in columns if name not in (y_column, qid_column)]

        row = 0
        try:
            features = features_of(paths[0])
            refuse(
                CHECKS_OF_PARQUET,
                path=path,
                features=features_of(path),
                first=paths[0],
                features_of_first=features,
            )
            with closing(ParquetFile(path, read_dictionary=[qid_column])) as file:
                columns = [*features, y_column, qid_column]
                for part in file.iter_batches(columns=columns):
                    values = {
                        name: column.to_numpy(zero_copy_only=False)
                        for name, column in zip(
                            part.schema.names, part.columns, strict=True
                        )
                    }
                    X = np.empty((part.num_rows, len(features)), dtype=dtype)
                    place = {"path": path, "features": features, "first_row": row}
                    for j, name in enumerate(features):
                        X[:, j] = _convert_column(values[name], dtype, name, place)
                    y = _convert_column(
                        values[y_column], np.dtype(float), y_column, place
                    )
                    yield X, y, values[qid_column]
                    row += part.num_rows
        except (ArrowException, OSError) as error:
            refuse(CHECKS_OF_PARQUET, path=path, error=error)

    return read


def _convert_column(values, dtype, name, place):
    """Convert a column to numbers of a type.

    An error names the file, column, row and value; `place` has the arguments of the
    checks besides.
    """
    if values.dtype.kind in "biuf":
        fits = can_represent(values, dtype)
    else:
        fits = np.array([isinstance(value, Real | Decimal) for value in values])
        if fits.all():
            fits = can_represent(values.astype(np.float64), dtype)
    if not fits.all():
        refuse(
            CHECKS_OF_PARQUET,
            name=name,
            values=values,
            fits=fits,
            dtype=dtype,
            **place,
        )
    return values.astype(dtype, copy=False)
