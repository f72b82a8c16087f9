"""TREC's files: runs (what a system retrieved) and qrels (what judges said of documents)."""

import re
from contextlib import closing
from numbers import Real
from typing import Any

import numpy as np

from .._arrays import column_names, is_frame, table_of
from .._parameters import Rule, check_parameter
from ._files import DAMAGED, open_packed, packed, read_path, replacing

#: Possible names of the columns of a frame; frames of this package have the first.
QUERY = ("qid", "query_id", "q_id")
DOCUMENT = ("docno", "doc_id")
SCORE = ("score",)
RELEVANCE = ("relevance", "label", "rel")


def read_mapping(table, value_names, name):
    """``{query: {document: value}}`` of a dict, a frame, or an object of ranx.

    Parameters
    ----------
    table : dict, frame or object with ``to_dict``
    value_names : tuple of str
        Possible names of the column of values.
    name : str
        Name in messages.

    Returns
    -------
    dict of str to dict of str to float

    Raises
    ------
    ValueError
        If a column is missing, a document occurs twice, or a value is no finite number.
    TypeError
        If it is nothing of the kind.
    """
    if is_frame(table):
        return _of_frame(table, value_names, name)
    if hasattr(table, "to_dict"):
        table = table.to_dict()
    if not isinstance(table, dict) or not all(isinstance(v, dict) for v in table.values()):
        raise TypeError(
            f"{name} must be a dict from queries to dicts from documents to values, a frame, or a "
            f"Run or Qrels of ranx, got {type(table).__name__}."
        )
    read = {str(query): _of_documents(documents) for query, documents in table.items()}
    if len(read) != len(table) or any(len(read[str(q)]) != len(d) for q, d in table.items()):
        raise ValueError(f"{name} holds an id twice, once as text and once as a number.")
    for query, documents in read.items():
        for document, value in documents.items():
            _check_value(value, query, document, name)
    return read


def _of_documents(documents):
    return {str(document): value for document, value in documents.items()}


def _check_value(value, query, document, name):
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(
            f"{name}[{query!r}][{document!r}] is {value!r}: it must be a finite number."
        )


def _of_frame(table, value_names, name):
    columns = (_column(table, names, name).tolist() for names in (QUERY, DOCUMENT, value_names))
    read: dict = {}
    for query, document, value in zip(*columns, strict=True):
        documents = read.setdefault(str(query), {})
        if str(document) in documents:
            raise ValueError(f"{name} holds the document {document!r} of {query!r} twice.")
        _check_value(value, query, document, name)
        documents[str(document)] = value
    return read


def _column(table, names, name):
    found = [known for known in names if known in column_names(table)]
    if not found:
        raise ValueError(
            f"{name} has the columns {column_names(table)}: one must be called "
            f"{' or '.join(map(repr, names))}."
        )
    return np.asarray(table[found[0]])


def frame_of(mapping, value_names):
    """The table of ``{query: {document: value}}``, one row for each document of a query."""
    rows = [(q, d, v) for q, documents in mapping.items() for d, v in documents.items()]
    queries, documents, values = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {QUERY[0]: queries, DOCUMENT[0]: documents}
    objects = {key: np.array(ids, dtype=object) for key, ids in columns.items()}
    return table_of({**objects, value_names[0]: np.array(values)})


_QRELS = "'query iteration document relevance'"
_RUN = "'query Q0 document rank score tag'"
_BOM = b"\xef\xbb\xbf"
_word = Rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"\S+", value) is not None,
    "a word, a string without spaces",
)


def load_qrels(path: Any, *, as_frame: bool = False) -> "dict | Any":
    """Read TREC judgements: lines ``query iteration document relevance``.

    Parameters
    ----------
    path : str or Path
        Ends in .gz or .bz2 if it is packed.
    as_frame : bool, default=False
        Whether to return a table with one row per line.

    Returns
    -------
    dict of str to dict of str to int
        Values ``{query: {document: relevance}}`` in the order of the file. As a table: a DataFrame,
        or a structured ndarray, with the columns qid, docno and relevance.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is empty or damaged, or holds a line that cannot be read, or a document of a query
        twice. The message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import load_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "qrels.txt"
    ...     _ = path.write_text("q1 0 d1 2\\nq1 0 d2 0\\nq2 0 d1 1\\n")
    ...     load_qrels(path)
    {'q1': {'d1': 2, 'd2': 0}, 'q2': {'d1': 1}}
    """
    return _load(path, 4, 3, int, _QRELS, RELEVANCE, as_frame)


def load_run(path: Any, *, as_frame: bool = False) -> "dict | Any":
    """Read a TREC run: lines ``query Q0 document rank score tag``.

    The scores order the documents; ranks and the tag are not used, as in trec_eval.

    Parameters
    ----------
    path : str or Path
        Ends in .gz or .bz2 if it is packed.
    as_frame : bool, default=False
        Whether to return a table with one row per line.

    Returns
    -------
    dict of str to dict of str to float
        Values ``{query: {document: score}}`` in the order of the file. As a table: a DataFrame, or
        a structured ndarray, with the columns qid, docno and score.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is empty or damaged, or holds a line that cannot be read, or a document of a query
        twice. The message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import load_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.txt"
    ...     _ = path.write_text("q1 Q0 d2 1 1.5 bm25\\nq1 Q0 d1 2 0.5 bm25\\n")
    ...     load_run(path)
    {'q1': {'d2': 1.5, 'd1': 0.5}}
    """
    return _load(path, 6, 4, float, _RUN, SCORE, as_frame)


def _load(path, n_words, place, kind, shape, value_names, as_frame):
    check_parameter("as_frame", as_frame, [bool])
    path = read_path(path)
    read: dict = {}
    number = 0
    with closing(open_packed(path)) as file:
        try:
            for number, line in enumerate(file, start=1):
                words = (line.removeprefix(_BOM) if number == 1 else line).split()
                if words:
                    _add(read, words, n_words, place, kind)
        except DAMAGED as error:
            raise ValueError(
                f"{path}, line {number + 1}: the file is damaged or cut short ({error})."
            ) from error
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}; expected {shape}.") from None
    if not read:
        raise ValueError(f"{path} holds no line of data.")
    return frame_of(read, value_names) if as_frame else read


def _add(read, words, n_words, place, kind):
    if len(words) != n_words:
        raise ValueError(f"{len(words)} words")
    query, document = words[0].decode(), words[2].decode()
    value = _number(words[place], kind)
    documents = read.setdefault(query, {})
    if document in documents:
        raise ValueError(f"the document {document!r} of {query!r} stands there twice")
    documents[document] = value


def _number(word, kind):
    try:
        value = kind(word)
    except ValueError:
        value = None
    if value is None or not np.isfinite(value) or b"_" in word:
        raise ValueError(
            f"{word.decode(errors='replace')!r} is no {'integer' if kind is int else 'number'}"
        )
    return value


def dump_qrels(qrels: Any, path: Any) -> None:
    """Write TREC judgements: lines ``query 0 document relevance``.

    A file of that name is replaced once all is written: after an error or an interrupt it is
    as it was.

    Parameters
    ----------
    qrels : dict, frame or ranx.Qrels
        Judgements, as for `evaluate_run`; the format has whole numbers only.
    path : str or Path
        Ends in .gz or .bz2 to be packed.

    Raises
    ------
    ValueError
        If there is none, an id is empty or holds a space, or a grade is no integer.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import dump_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "qrels.txt"
    ...     dump_qrels({"q1": {"d1": 2, "d2": 0}}, path)
    ...     path.read_text().splitlines()
    ['q1 0 d1 2', 'q1 0 d2 0']
    """
    read = read_mapping(qrels, RELEVANCE, "qrels")
    for query, documents in read.items():
        for document, grade in documents.items():
            if grade != int(grade):
                raise ValueError(
                    f"qrels[{query!r}][{document!r}] is {grade!r}: the format of qrels knows "
                    "integers only."
                )
    _dump(
        read,
        path,
        "qrels",
        lambda query, documents: [f"{query} 0 {doc} {int(v)}" for doc, v in documents.items()],
    )


def dump_run(run: Any, path: Any, *, tag: str = "lowrank_rank") -> None:
    """Write a TREC run: lines ``query Q0 document rank score tag``, best first.

    Scores are written so that reading gives the very same numbers. A file of that name is
    replaced once all is written: after an error or an interrupt it is as it was.

    Parameters
    ----------
    run : dict, frame or ranx.Run
        A run, as for `evaluate_run`. Documents of equal scores keep their order.
    path : str or Path
        Ends in .gz or .bz2 to be packed.
    tag : str, default="lowrank_rank"
        Name of the run.

    Raises
    ------
    ValueError
        If there is none, an id or the tag is empty or holds a space, or a score is not finite.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import dump_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.txt"
    ...     dump_run({"q1": {"d1": 0.5, "d2": 1.5}}, path, tag="ridge")
    ...     path.read_text().splitlines()
    ['q1 Q0 d2 1 1.5 ridge', 'q1 Q0 d1 2 0.5 ridge']
    """
    check_parameter("tag", tag, [_word])

    def lines(query, documents):
        best_first = sorted(documents.items(), key=lambda item: -item[1])
        return [
            f"{query} Q0 {document} {rank} {float(score)!r} {tag}"
            for rank, (document, score) in enumerate(best_first, start=1)
        ]

    _dump(read_mapping(run, SCORE, "run"), path, "run", lines)


def _dump(mapping, path, name, lines_of):
    path = read_path(path)
    if not any(mapping.values()):
        raise ValueError(f"{name} holds no document: there is nothing to write.")
    for word in {*mapping, *(document for documents in mapping.values() for document in documents)}:
        if not _word.accepts(word):
            raise ValueError(
                f"{name} holds the id {word!r}: an id in a file is a word without spaces."
            )
    with replacing(path) as raw, packed(raw, path) as file:
        for query, documents in mapping.items():
            file.write("".join(f"{line}\n" for line in lines_of(query, documents)).encode())
