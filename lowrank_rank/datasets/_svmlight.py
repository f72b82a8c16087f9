"""SVMlight lines with a qid, read in chunks: the one parser of `load_letor` and `iter_lists`.

A chunk of lines in the plain form is read at once, all its numbers by NumPy. Whatever looks in any
way unusual goes through scikit-learn's reader line by line, which decides what is right and says
what is wrong: the fast way changes no result.
"""

import io
import re
import warnings
from contextlib import closing, suppress
from itertools import islice

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ._files import DAMAGED, open_packed

_LINE = "'grade qid:<int> <feature>:<value> ...'"
_BOM = b"\xef\xbb\xbf"
_FEATURE = re.compile(rb"[0-9]+:[^:]+")
_CHUNK = 2**19  # bytes that are read at once


def read_chunks(path, dtype, zero_based, n_bytes=_CHUNK):
    """Triples (X, y, qid) of a file, some lines each, in bounded memory.

    Parameters
    ----------
    path : Path
    dtype : dtype
        Values are read as float32 where it is that, else as float64.
    zero_based : bool
    n_bytes : int
        About how many bytes of text a triple holds.

    Yields
    ------
    X : CSR matrix of shape (n, highest feature of the chunk)
    y : ndarray of shape (n,)
    qid : ndarray of int64 or uint64, shape (n,)

    Raises
    ------
    ValueError
        Naming file and line, where one cannot be read or the file is damaged.
    """
    read_as = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    number = 0
    with closing(open_packed(path)) as file:
        while text := _some_lines(file, path, n_bytes):
            text = text if number else text.removeprefix(_BOM)
            part = _parse(text, read_as, zero_based)
            if part is None:
                part = _parse_lines(text, read_as, zero_based, path, number)
            if len(part[1]):
                yield part
            number += text.count(b"\n")


def join_chunks(parts):
    """One triple of several, with the features of the widest."""
    X, y, ids = zip(*parts, strict=True)
    width = max(one.shape[1] for one in X)
    for one in X:
        one.resize(one.shape[0], width)
    as_one = id_dtype([i for one in ids for i in range_of_ids(one)], "The files")
    qid = np.concatenate([one.astype(as_one, copy=False) for one in ids])
    return sparse.vstack(X, format="csr"), np.concatenate(y), qid


def range_of_ids(ids):
    """Smallest and largest id, as integers of any size."""
    return int(ids.min()), int(ids.max())


def id_dtype(ids, what):
    """The integer type of 64 bits that holds all ids."""
    low, high = min(ids), max(ids)
    if low >= -(2**63) and high < 2**63:
        return np.int64
    if low >= 0 and high < 2**64:
        return np.uint64
    raise ValueError(f"{what} hold ids from {low} to {high}, which no integer of 64 bits holds.")


def line_error(path, line, message):
    """What a malformed line raises, by file and line."""
    return ValueError(f"{path}, line {line}: {message}.")


def row_of_entries(X):
    """The row of each stored entry of a CSR matrix."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def line_of_row(path, row):
    """Where in a readable file a row of data stands."""
    with closing(open_packed(path)) as file:
        return _Lines(file).at(row)


def _some_lines(file, path, n_bytes):
    try:
        text = file.read(n_bytes)
        return text if text.endswith(b"\n") else text + file.readline()
    except DAMAGED as error:
        why = f"the file is damaged or cut short ({error})"
        raise line_error(path, _readable_lines(path) + 1, why) from error


def _readable_lines(path):
    n_lines = 0
    with closing(open_packed(path)) as file, suppress(*DAMAGED):
        for _ in file:
            n_lines += 1
    return n_lines


# Lines in the plain form ------------------------------------------------------------

_NEWLINE, _BAR, _SPACE, _COLON = 1, 2, 3, 4
_TO_SPACES = bytes.maketrans(b"\n|:", b"   ")
_PLAIN = b"0123456789.+-eE|: \n"
_BLANK, _ZERO = ord(" "), ord("0")
_LONGEST_INTEGER = 18  # digits that 64 bits hold
_LAST_INDEX = 2**31 - 1


def _kinds():
    """The kind of each byte: 0 for what is no separator."""
    kinds = np.zeros(256, dtype=np.uint8)
    for kind, byte in ((_NEWLINE, b"\n"), (_BAR, b"|"), (_SPACE, b" "), (_COLON, b":")):
        kinds[ord(byte)] = kind
    return kinds.tobytes()


def _followers():
    """Which separator follows which in 'grade|id index:value index:value' and a new line."""
    follows = np.zeros((5, 5), dtype=bool)
    for first, second in (
        (_NEWLINE, _BAR),
        (_BAR, _SPACE),
        (_BAR, _NEWLINE),
        (_SPACE, _COLON),
        (_COLON, _SPACE),
        (_COLON, _NEWLINE),
    ):
        follows[first, second] = True
    return follows


_KINDS, _FOLLOWS = _kinds(), _followers()


def _parse(text, dtype, zero_based):
    """Features, grades and ids of lines in the plain form; None where any is not."""
    if b"|" in text:
        return None
    text = _tidied(text)
    if b"  " in text or b"\n\n" in text or text.startswith(b"\n"):
        text = _without_gaps(text)
    text = text.replace(b" qid:", b"|")
    found = None if text.translate(None, _PLAIN) else _separators(text)
    if found is None:
        return None
    places, kinds = found
    ends, colons = np.flatnonzero(kinds == _NEWLINE), np.flatnonzero(kinds == _COLON)
    bars = np.append(0, ends[:-1] + 1)
    rest = np.frombuffer(bytearray(text.translate(_TO_SPACES)), dtype=np.uint8)
    columns = _take_integers(rest, places[colons - 1], places[colons])
    ids = _take_integers(rest, places[bars], places[bars + 1])
    if columns is None or ids is None:
        return None
    values = _numbers(rest.tobytes())
    if values is None or len(values) != len(ends) + len(colons):
        return None
    indptr = np.append(0, np.cumsum((ends - bars) // 2))  # two separators for each feature
    heads = indptr[:-1] + np.arange(len(ends))
    y, entries = values[heads], np.delete(values, heads)
    with np.errstate(over="ignore"):
        entries = entries.astype(dtype, copy=False)
    if not (
        np.isfinite(y).all()
        and np.isfinite(entries).all()
        and _in_order(columns, indptr, zero_based)
    ):
        return None
    columns -= not zero_based
    shape = (len(y), int(columns.max(initial=-1)) + 1)
    return sparse.csr_matrix((entries, columns, indptr), shape=shape), y, ids


def _tidied(text):
    """Lines without comments and blanks at their ends, each with its end."""
    text = text if text.endswith(b"\n") else text + b"\n"
    text = text.replace(b"\t", b" ")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if b"#" in text:
        text = re.sub(rb" *#[^\n]*", b"", text)
    return text.replace(b" \n", b"\n")


def _without_gaps(text):
    """Without blank lines, and blanks beside others; only few files need it."""
    for twice, once in ((b"  ", b" "), (b" \n", b"\n"), (b"\n\n", b"\n")):
        while twice in text:
            text = text.replace(twice, once)
    return text.removeprefix(b"\n")


def _separators(text):
    """Places and kinds of the separators; None unless they follow each other as they should."""
    kinds = np.frombuffer(text.translate(_KINDS), dtype=np.uint8)
    places = np.flatnonzero(kinds)
    kinds = kinds[places]
    if not len(places) or places[0] == 0 or (places[1:] - places[:-1] == 1).any():
        return None  # nothing stands between two of them
    if kinds[0] != _BAR or not _FOLLOWS[kinds[:-1], kinds[1:]].all():
        return None
    return places, kinds


def _take_integers(text, before, ends):
    """Integers between separators, blanked out of the text; None where one is not digits only."""
    lengths = ends - before - 1
    longest = lengths.max(initial=0)
    if longest > _LONGEST_INTEGER:
        return None
    values = np.zeros(len(ends), dtype=np.int64)
    for k in range(1, longest + 1):
        places = ends - k
        is_in = lengths >= k
        if not is_in.all():
            places = places[is_in]
        digits = text[places] - _ZERO  # of another byte: beyond 9, in 8 bits
        if digits.max() > 9:
            return None
        text[places] = _BLANK
        values[is_in] += digits.astype(np.int64) * 10 ** (k - 1)
    return values


def _numbers(text):
    """The numbers of a text as Python's float reads them; None where something is no number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # older versions of NumPy warn of the rest
        try:
            return np.fromstring(text, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def _in_order(columns, indptr, zero_based):
    """Whether the features of each row rise, within the range of the format."""
    if not len(columns):
        return True
    falls = np.diff(columns) <= 0
    heads = indptr[(indptr > 0) & (indptr < len(columns))]
    falls[heads - 1] = False
    return not falls.any() and columns.min() >= (not zero_based) and columns.max() <= _LAST_INDEX


# Any lines --------------------------------------------------------------------------


class _LineError(ValueError):
    """What is wrong with a line, in words of ours."""


class _Lines:
    """The data lines of an open file for scikit-learn's reader, which iterates over them.

    It remembers where the reader is and collects the ids, of which scikit-learn's reader would
    cut those of 64 bits.
    """

    def __init__(self, file, number=0):
        self.file, self.number, self.line, self.ids = file, number, b"", []

    def read(self):  # what has this method is a file to scikit-learn, which only iterates
        return b"".join(self)

    def at(self, row):
        """The number of the line that holds a row."""
        next(islice(self, int(row), None))
        return self.number

    def __iter__(self):
        token, value = None, None
        for number, line in enumerate(self.file, start=self.number + 1):
            self.number, self.line = number, line if number > 1 else line.removeprefix(_BOM)
            words = self.line.split(None, 2)
            if not words or words[0].startswith(b"#"):
                continue
            if len(words) < 2 or not words[1].startswith(b"qid:"):
                raise _LineError("no qid after the grade, each line must name its query")
            if b"_" in self.line and b"_" in self.line.partition(b"#")[0]:
                raise _LineError("a '_', which is part of no number")
            if words[1] != token:
                token, value = words[1], _read_id(words[1])
            self.ids.append(value)
            yield self.line


def _read_id(token):
    text = token[4:].partition(b"#")[0]
    try:
        value = int(text)
    except ValueError:
        raise _LineError(f"the qid {text.decode(errors='replace')!r} is not an integer") from None
    if not -(2**63) <= value < 2**64:
        raise _LineError(f"the qid {value} does not fit 64 bits")
    return value


def _parse_lines(text, dtype, zero_based, path, number):
    """Features, grades and ids of lines in any form, `number` lines into a file."""
    lines = _Lines(io.BytesIO(text), number)
    try:
        X, y = load_svmlight_file(lines, dtype=dtype, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        got = lines.line.decode(errors="replace").strip()[:60]
        why = f"not readable, {_fault(lines.line, error, zero_based)}"
        raise line_error(path, lines.number, f"{why}; expected {_LINE}, got {got!r}") from error
    rows = np.append(row_of_entries(X)[np.isinf(X.data)], np.flatnonzero(np.isinf(y)))
    if len(rows):
        line = _Lines(io.BytesIO(text), number).at(rows.min())
        raise line_error(path, line, f"a value is infinite, or beyond {dtype.name}")
    as_one = id_dtype(lines.ids or [0], "The files")
    return X, y.astype(np.float64, copy=False), np.array(lines.ids, dtype=as_one)


def _fault(line, error, zero_based):
    """What is wrong with a line that could not be read."""
    if isinstance(error, _LineError):
        return str(error)
    features = line.partition(b"#")[0].split()[2:]
    if not zero_based and features and re.match(rb"0+:", features[0]):
        return (
            "feature 0, but features count from 1: give zero_based=True if these files count from 0"
        )
    wrong = next((f for f in features if not _FEATURE.fullmatch(f)), None)
    if wrong is not None:
        return f"{wrong[:40].decode(errors='replace')!r} is not '<feature>:<value>'"
    return str(error).rstrip(".")
