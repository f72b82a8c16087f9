"""Reading and writing files: paths, gzip and bzip2, SVMlight lines with a qid."""

import bz2
import gzip
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ..validation._check import refuse
from ..validation._checks_of_files import (
    CHECKS_OF_BLOCKS,
    CHECKS_OF_FILES,
    CHECKS_OF_LETOR_LINES,
)
from ..validation._parameters import Rule
from ..validation._paths import BYTE_ORDER_MARKS_OF_UTF_16

text = Rule(lambda value: isinstance(value, str), "a string")
texts = Rule(
    lambda value: isinstance(value, list) and all(map(text.accepts, value)),
    "a list of strings",
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def numbered_blocks(path, size=2**16, longest=2**26):
    """Yield the number of the first line and the bytes of some whole lines of a file.

    Files ending in .gz or .bz2 are unpacked, a byte order mark is removed, and the last
    line gets the end of a line if it has none.

    Parameters
    ----------
    path : Path
    size : int, default=2**16
        Number of bytes before the last line of a block is completed.
    longest : int, default=2**26
        Largest number of bytes of a line.
    """
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    opener = openers.get(path.suffix, partial(open, buffering=size))
    number = 0  # lines read so far
    is_long = False
    with opener(path, "rb") as file:
        try:
            while block := file.read1(size):
                first = number + 1
                number += block.count(b"\n")
                if not block.endswith(b"\n"):
                    start = block.rfind(b"\n") + 1
                    block += file.readline(longest + 1)
                    number += 1
                    is_long = len(block) - start > longest
                is_utf_16 = first == 1 and block[:2] in BYTE_ORDER_MARKS_OF_UTF_16
                if is_utf_16 or is_long or b"\r" in block:
                    refuse(
                        CHECKS_OF_BLOCKS,
                        path=path,
                        first=first,
                        block=block,
                        longest=longest,
                    )
                if first == 1:
                    block = block.removeprefix(_BYTE_ORDER_MARK)
                if not block.endswith(b"\n"):
                    block += b"\n"
                yield first, block
        except (EOFError, OSError, zlib.error) as error:
            refuse(CHECKS_OF_BLOCKS, path=path, first=number + 1, error=error)


def numbered_lines(path):
    """Yield the number and the bytes of each line of a file, see `numbered_blocks`."""
    for first, block in numbered_blocks(path):
        yield from enumerate(BytesIO(block), start=first)


@contextmanager
def open_replacing(path):
    """Open a binary file that replaces `path` when the block ends without an error.

    Names ending in .gz or .bz2 are packed. The bytes go to a temporary file in the same
    folder, so an error or an interrupt leaves the old file untouched. A folder or a
    device is refused.
    """
    # The file that a link points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    refuse(CHECKS_OF_FILES, path=path, target=target)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{path} cannot be written: there is no folder {target.parent}."
        )
    temporary = target.parent / f".lowrank_rank-{secrets.token_hex(8)}.part"
    packers: dict[str, Callable[..., Any]] = {
        ".gz": lambda raw: gzip.GzipFile(path.name, "wb", fileobj=raw),
        ".bz2": lambda raw: bz2.BZ2File(raw, "wb"),
    }
    packer = packers.get(path.suffix, nullcontext)
    try:
        with open(temporary, "xb") as raw, packer(raw) as file:
            yield file
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# SVMlight lines ---------------------------------------------------------------------


def lines_with_data(path):
    """Yield number and bytes of each line that is neither blank nor a comment."""
    for number, line in numbered_lines(path):
        if line.lstrip()[:1] not in (b"", b"#"):
            yield number, line


def line_of_row(path, row):
    """Return the number of the line that holds a row of a readable file."""
    number, _ = next(islice(lines_with_data(path), int(row), None))
    return number


def document_of(line):
    """Return the name of the document in the comment of a line, or None.

    It is the word after "docid =", or the comment itself if it is one word.
    """
    comment = line.partition(b"#")[2]
    named = re.search(rb"\bdocid\s*=\s*(\S+)", comment)
    words = named.groups() if named else comment.split()
    if len(words) != 1:
        return None
    return words[0].decode("utf-8", "replace")


def read_svmlight(path, dtype, zero_based, n_lines=4000):
    """Read SVMlight lines with a qid in chunks (X, y, qid) of `n_lines`.

    X is a CSR matrix with as many columns as the highest feature of the chunk. Values
    are read as float32 if `dtype` is float32, else as float64. Messages name the file
    and the line.
    """
    if dtype != np.float32:
        dtype = np.float64
    dtype = np.dtype(dtype)
    lines = lines_with_data(path)
    while chunk := list(islice(lines, n_lines)):
        X, y, ids = _parse(path, chunk, dtype, zero_based)
        yield X, y, np.array(ids, dtype=id_dtype(ids))


def _parse(path, lines, dtype, zero_based):
    """Parse numbered lines to features, grades and ids.

    An error names the first line that is wrong.
    """
    content = [line for _, line in lines]
    ids = _read_ids(content)
    cause = None
    if ids is not None:
        try:
            X, y = load_svmlight_file(
                BytesIO(b"".join(content)), dtype=dtype, zero_based=zero_based
            )
            if not (np.isinf(X.data).any() or np.isinf(y).any()):
                return X, y, ids
        except (ValueError, OverflowError) as error:
            cause = error
    if len(lines) > 1:  # one of the halves fails as well
        half = len(lines) // 2
        _parse(path, lines[:half], dtype, zero_based)
        _parse(path, lines[half:], dtype, zero_based)
    number, line = lines[0]
    refuse(
        CHECKS_OF_LETOR_LINES,
        path=path,
        number=number,
        line=line,
        dtype=dtype,
        zero_based=zero_based,
        error=cause,
    )


def _read_ids(lines):
    """Return the query id of each line with data; None if a line has none."""
    ids = []
    id_of_word: dict[bytes, int | None] = {}
    for line in lines:
        words = line.split(None, 2)
        if len(words) < 2 or not words[1].startswith(b"qid:") or b"#" in words[0]:
            return None
        # Python's numbers may have one; a comment may too.
        if b"_" in line and b"_" in line.partition(b"#")[0]:
            return None
        word = words[1]
        if word not in id_of_word:
            id_of_word[word] = _read_id(word.removeprefix(b"qid:").partition(b"#")[0])
        ids.append(id_of_word[word])
    if None in id_of_word.values():
        return None
    return ids


def _read_id(word):
    """Convert the bytes of a query id to an integer; None if it is not of 64 bits."""
    if re.fullmatch(rb"[+-]?[0-9]{1,20}", word):
        value = int(word)
        if -(2**63) <= value < 2**64:
            return value
    return None


def id_dtype(ids, name=None):
    """Return the integer type of 64 bits that can represent all ids.

    `name` is the argument that has the ids; None for files.
    """
    low = int(min(ids))
    high = int(max(ids))
    refuse(CHECKS_OF_FILES, ids=(low, high), name=name)
    return np.int64 if high < 2**63 else np.uint64
