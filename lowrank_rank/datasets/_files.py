"""Files of data: paths, packed files, safe replacement, and SVMlight lines in chunks."""

import bz2
import gzip
import io
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Callable
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._parameters import Rule, check_parameter

path_like = Rule(lambda value: isinstance(value, str | os.PathLike), "a path, str or Path")


def read_path(path, name="path"):
    """Check a path and convert it to a Path."""
    check_parameter(name, path, [path_like])
    return Path(os.fsdecode(path))


#: Errors of packed files that are damaged or cut short.
DAMAGED = (EOFError, OSError, zlib.error)


def open_packed(path):
    """Open a binary file to read; .gz and .bz2 are unpacked."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    return openers.get(path.suffix, open)(path, "rb")


def packed(raw, path):
    """A context that packs into an open file, if `path` ends in .gz or .bz2."""
    if path.suffix == ".gz":
        return gzip.GzipFile(path.name, "wb", fileobj=raw)
    return bz2.BZ2File(raw, "wb") if path.suffix == ".bz2" else nullcontext(raw)


@contextmanager
def replacing(path):
    """A binary file that replaces `path` when the block has ended without an error.

    The file has another name in the same folder until then: an error or an interrupt changes
    nothing. Folders and devices are refused, since they cannot be replaced.
    """
    target = Path(os.path.realpath(path))  # the file that a link points to, not the link
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} exists and is not a file: give the name of a file to write.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    aside = target.parent / f".lowrank_rank-{secrets.token_hex(8)}.part"
    try:
        with open(aside, "xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, aside)
        os.replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


# SVMlight lines with a qid ----------------------------------------------------------


def read_chunks(path, dtype, zero_based, n_bytes=2**22):
    """Read a file in chunks of whole lines, in bounded memory.

    Parameters
    ----------
    path : Path
    dtype : dtype
        float32 is read as float32, other types as float64.
    zero_based : bool
    n_bytes : int
        Size of a chunk of text.

    Yields
    ------
    X : CSR matrix of shape (n, highest feature of the chunk)
    y : ndarray of shape (n,)
    qid : ndarray of int64, shape (n,)

    Raises
    ------
    ValueError
        If a line is wrong or the file is damaged; the message names file and line.
    """
    read_as = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    n_before = 0
    with closing(open_packed(path)) as file:
        while text := _some_lines(file, path, n_bytes):
            lines = text if n_before else text.removeprefix(b"\xef\xbb\xbf")
            try:
                part = _parse(lines, read_as, zero_based)
            except (ValueError, OverflowError):
                raise _error_of(lines, read_as, zero_based, path, n_before) from None
            if len(part[1]):
                yield part
            n_before += text.count(b"\n")


def _some_lines(file, path, n_bytes):
    try:
        text = file.read(n_bytes)
        return text if text.endswith(b"\n") else text + file.readline()
    except DAMAGED as error:
        n_lines = 0
        with closing(open_packed(path)) as again, suppress(*DAMAGED):
            for _ in again:
                n_lines += 1
        why = f"the file is damaged or cut short ({error})"
        raise line_error(path, n_lines + 1, why) from error


def _parse(text, dtype, zero_based):
    """Features, grades and ids of some lines, by scikit-learn's reader.

    The reader takes lines without qid, infinite values and '_' in numbers; they are refused here.
    """
    if b"_" in text and b"_" in re.sub(rb"#[^\n]*", b"", text):
        raise ValueError("a '_', which is part of no number")
    X, y, qid = load_svmlight_file(
        io.BytesIO(text), dtype=dtype, query_id=True, zero_based=zero_based
    )
    if len(qid) != len(y):
        raise ValueError("a line without qid")
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise ValueError(f"a value is infinite, NaN, or beyond {dtype.name}")
    X.resize(len(y), int(X.indices.max(initial=-1)) + 1)
    return X, y.astype(np.float64, copy=False), qid.astype(np.int64, copy=False)


def _error_of(text, dtype, zero_based, path, n_before):
    """The error for the first wrong line of a text, which bisection finds."""
    lines = text.splitlines(keepends=True)
    good, wrong = 0, len(lines)
    while wrong - good > 1:
        middle = (good + wrong) // 2
        try:
            _parse(b"".join(lines[good:middle]), dtype, zero_based)
            good = middle
        except (ValueError, OverflowError):
            wrong = middle
    line = lines[good]
    try:
        _parse(line, dtype, zero_based)
        why = "not readable"
    except (ValueError, OverflowError) as error:
        why = _fault(line, str(error).rstrip("."), zero_based)
    got = line.decode(errors="replace").strip()[:60]
    expected = "'grade qid:<int> <feature>:<value> ...'"
    why = f"not readable, {why}; expected {expected}, got {got!r}"
    return line_error(path, n_before + good + 1, why)


def _fault(line, error, zero_based):
    """Describe what is wrong with a line."""
    words = line.partition(b"#")[0].split()
    if len(words) < 2 or not words[1].startswith(b"qid:"):
        return "no qid after the grade, each line must name its query"
    value = words[1][4:].decode(errors="replace")
    if not re.fullmatch(r"[+-]?[0-9]+", value):
        return f"the qid {value!r} is not an integer"
    if not -(2**63) <= int(value) < 2**63:
        return f"the qid {value} does not fit 64 bits"
    if not zero_based and len(words) > 2 and re.match(rb"0+:", words[2]):
        return (
            "feature 0, but features count from 1: give zero_based=True if these files count from 0"
        )
    wrong = next((w for w in words[2:] if not re.fullmatch(rb"[0-9]+:[^:]+", w)), None)
    if wrong is not None:
        return f"{wrong[:40].decode(errors='replace')!r} is not '<feature>:<value>'"
    return error


def join_chunks(parts):
    """Join triples (X, y, qid), with the features of the widest."""
    X, y, ids = zip(*parts, strict=True)
    width = max(one.shape[1] for one in X)
    for one in X:
        one.resize(one.shape[0], width)
    return sparse.vstack(X, format="csr"), np.concatenate(y), np.concatenate(ids)


def line_error(path, line, message):
    """The error for a wrong line of a file."""
    return ValueError(f"{path}, line {line}: {message}.")


def row_of_entries(X):
    """The row of each stored entry of a CSR matrix."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def line_of_row(path, row):
    """The line of a readable file that holds a row of data."""
    with closing(open_packed(path)) as file:
        data = (n for n, line in enumerate(file, start=1) if line.partition(b"#")[0].strip())
        return next(islice(data, int(row), None))
