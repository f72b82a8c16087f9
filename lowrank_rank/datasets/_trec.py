"""TREC's files: runs, the results of a system, and qrels, the judgements of documents."""

import re
import sys
from io import BytesIO
from itertools import groupby, repeat
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .._arrays import column_names, is_frame, plain, table_of
from .._labels import QUERY
from .._lists import id_text
from .._parameters import Rule, check_parameter
from .._typing import Bunch
from .._warn import warn
from ._files import numbered_blocks, open_replacing, path_like, read_path, refuse_line

#: Possible names of the columns of a frame; tables that are returned have the first.
DOCUMENT = ("docno", "doc_id")
SCORE = ("score",)
RELEVANCE = ("relevance", "label", "rel")
_LARGEST = sys.float_info.max


# UTF-8 has no halves of surrogate pairs.
_word = Rule(
    lambda value: (
        isinstance(value, str)
        and bool(re.fullmatch(r"[^\s\ud800-\udfff]+", value, re.ASCII))
    ),
    "a word, a string without spaces",
)


def is_judgements(table):
    """Whether a value is qrels: a file, a dict, an object of ranx, or a frame with documents."""
    if is_frame(table):
        return any(name in DOCUMENT for name in column_names(table))
    is_of_ranx = hasattr(table, "to_dict") and not hasattr(table, "__array__")
    return is_of_ranx or isinstance(table, dict) or path_like.accepts(table)


def read_mapping(table, value_names, name):
    """Convert a dict, a frame or an object of ranx to ``{query: {document: value}}``.

    Parameters
    ----------
    table : dict, frame, object with ``to_dict`` or path of a file
    value_names : tuple of str
        Possible names of the column of values.
    name : str
        Name of the table in messages.

    Returns
    -------
    dict of str to dict of str to float

    Raises
    ------
    ValueError
        If a column or an id is missing, a document occurs twice, or a value is not a
        finite number.
    TypeError
        If the table is of another type.
    """
    read: dict = {}
    if path_like.accepts(table):
        return load_run(table) if value_names is SCORE else load_qrels(table)
    if is_frame(table):
        columns = []
        for names in (QUERY, DOCUMENT, value_names):
            known = [column for column in names if column in column_names(table)]
            if not known:
                raise ValueError(
                    f"{name} has the columns {column_names(table)}: one must be called "
                    f"{' or '.join(map(repr, names))}."
                )
            columns.append(np.asarray(table[known[0]]).tolist())
        rows: Any = zip(*columns, strict=True)
    else:
        table = table.to_dict() if hasattr(table, "to_dict") else table
        if not isinstance(table, dict):
            raise _not_read(name, value_names, table)
        read = {id_text(query, name): {} for query in table}
        if len(read) != len(table):
            raise ValueError(
                f"{name} contains a query twice, once as text and once as a number."
            )
        given = {
            query: _pairs(found, name, value_names) for query, found in table.items()
        }
        rows = ((query, *row) for query, pairs in given.items() for row in pairs)
    for row, (query, document, value) in enumerate(rows):
        where = f"{name} (row {row})" if is_frame(table) else name
        documents, key = (
            read.setdefault(id_text(query, where), {}),
            id_text(document, where),
        )
        value = plain(value)
        if key in documents:
            raise ValueError(
                f"{name} contains the document {document!r} of {query!r} twice."
            )
        if not isinstance(value, Real) or not -_LARGEST <= value <= _LARGEST:  # type: ignore[operator]
            raise ValueError(
                f"{name}[{query!r}][{document!r}] is {value!r}: it must be a finite number."
            )
        documents[key] = value
    return read


def _pairs(documents, name, value_names):
    """Documents of a query with their values: of a dict, a list (best first) or a set."""
    if isinstance(documents, dict):
        return documents.items()
    is_list = value_names is SCORE and isinstance(documents, list | tuple)
    if is_list and all(
        isinstance(one, str) for one in documents
    ):  # numbers could be scores
        return zip(documents, range(len(documents), 0, -1), strict=True)
    if value_names is RELEVANCE and isinstance(documents, set | frozenset):
        return zip(documents, repeat(1))
    raise _not_read(name, value_names, documents)


def _not_read(name, value_names, got):
    """The error for what is neither a run nor qrels."""
    is_run = value_names is SCORE
    other = (
        "lists of ids as text, best first" if is_run else "sets of relevant documents"
    )
    return TypeError(
        f"{name} must be a dict from queries to dicts from documents to values, or to {other}; a "
        f"frame, a path, or a Run or Qrels of ranx; got {type(got).__name__}."
    )


def check_ids(run, qrels, name, queries):
    """Refuse a run without a query or document of the qrels; count the queries that it lacks.

    Parameters
    ----------
    run, qrels : dict of str to dict
    name : str
        Name of the run in messages.
    queries : list of str
        The queries that are measured.

    Returns
    -------
    int
        Number of these queries that the run lacks; a warning says it.
    """
    both = [q for q in run if q in qrels]
    if not both:
        raise ValueError(
            f"{name} shares no query with the judgements: it has {[*run][:2]}, and these "
            f"{[*qrels][:2]}. Are their ids the same?"
        )
    filled = [q for q in both if run[q] and qrels[q]]
    if filled and not any(run[q].keys() & qrels[q].keys() for q in filled):
        q = filled[0]
        raise ValueError(
            f"{name} shares no document with the judgements: in query {q!r} it has "
            f"{[*run[q]][:2]}, and these {[*qrels[q]][:2]}. Are their ids the same?"
        )
    lacking = [q for q in queries if q not in run]
    if lacking:
        warn(
            f"{name} lacks {len(lacking)} of {len(queries)} queries, such as {lacking[0]!r}: it "
            "counts as having retrieved nothing. Leave out queries that were not asked."
        )
    return len(lacking)


def check_judged(human, by_judge, runs, measures):
    """Refuse a query in which people skipped a document that the judge has and that counts."""
    cuts: list = [getattr(measure, "k", None) for measure in measures.values()]
    k = None if None in cuts else max(cuts)
    for name, run in runs.items() if by_judge else ():
        for q in [q for q in human if q in run]:
            least = min(
                sorted(run[q].values())[-k:] if k else run[q].values(), default=0.0
            )
            found = {document for document, score in run[q].items() if score >= least}
            if skipped := found & by_judge[q].keys() - human[q].keys():
                raise ValueError(
                    f"y_true lacks {len(skipped)} documents that the run {name!r} "
                    f"has{f' among its first {k}' if k else ''} in query {q!r} and the judge "
                    "labelled: judge all, or none."
                )


def load_qrels(
    path: Any, *, as_frame: bool = False
) -> "dict[str, dict[str, Any]] | Any":
    """Read TREC judgements: lines ``query iteration document relevance``.

    Lines that begin with # are comments.

    Parameters
    ----------
    path : str or Path
        The file; it is unpacked if it ends in .gz or .bz2.
    as_frame : bool, default=False
        Whether to return a table with one row per line.

    Returns
    -------
    dict of str to dict of str to int
        ``{query: {document: relevance}}`` in the order of the file; if `as_frame`, a
        DataFrame (structured ndarray without pandas) with the columns qid, docno and
        relevance.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty or damaged, a line cannot be read, or a document of a query
        occurs twice. The message names the file and the line.

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
    return _load(
        path, "query iteration document relevance", 3, int, "relevance", as_frame
    )


def load_run(path: Any, *, as_frame: bool = False) -> "dict[str, dict[str, Any]] | Any":
    """Read a TREC run: lines ``query Q0 document rank score tag``.

    The scores order the documents. Ranks and the tag are ignored, as in trec_eval.
    Lines that begin with # are comments.

    Parameters
    ----------
    path : str or Path
        The file; it is unpacked if it ends in .gz or .bz2.
    as_frame : bool, default=False
        Whether to return a table with one row per line.

    Returns
    -------
    dict of str to dict of str to float
        ``{query: {document: score}}`` in the order of the file; if `as_frame`, a
        DataFrame (structured ndarray without pandas) with the columns qid, docno and
        score.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty or damaged, a line cannot be read, or a document of a query
        occurs twice. The message names the file and the line.

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
    return _load(path, "query Q0 document rank score tag", 4, float, "score", as_frame)


def _load(path, form, place, kind, value_name, as_frame):
    """Read lines of the words of `form`; the word at `place` is the value, of type `kind`."""
    check_parameter("as_frame", as_frame, [bool])
    path = read_path(path)
    read: dict = {}
    for first, block in numbered_blocks(path):
        _read_block(path, first, block, form, place, kind, read)
    if not read:
        raise ValueError(f"{path} contains no data.")
    if not as_frame:
        return read
    rows = [(q, d, v) for q, documents in read.items() for d, v in documents.items()]
    table = np.array(rows, dtype=object)
    values = np.array(table[:, 2].tolist())
    return table_of(
        {QUERY[0]: table[:, 0], DOCUMENT[0]: table[:, 1], value_name: values}
    )


def _read_block(path, first, block, form, place, kind, read):
    """Add the documents of a block of lines, the first of number `first`, to `read`."""
    try:
        documents = _parse(block, len(form.split()), place, kind, read)
    except ValueError as error:
        lines = BytesIO(block).readlines()
        if len(lines) > 1:  # comments, or a line that is wrong in one of the halves
            half = len(lines) // 2
            for number, some in ((first, lines[:half]), (first + half, lines[half:])):
                _read_block(path, number, b"".join(some), form, place, kind, read)
        elif block.lstrip()[:1] not in (b"", b"#"):
            got = block.decode(errors="replace").strip()[:60]
            refuse_line(path, first, f"{error}; expected {form!r}, got {got!r}")
        return
    for query, found in documents.items():
        read.setdefault(query, {}).update(found)


def _parse(block, n_words, place, kind, read):
    """``{query: {document: value}}`` of a block of lines, none of them a comment or in `read`."""
    n_lines, mark = block.count(b"\n"), b"\0"
    # A word ends each line, so that one split of the block shows lines of another
    # length.
    words = block.replace(b"\n", b" " + mark + b" ").split()
    marks, is_clear = words[n_words :: n_words + 1], n_lines == 1 or mark not in block
    if (
        len(words) != n_lines * (n_words + 1)
        or marks != [mark] * n_lines
        or not is_clear
    ):
        raise ValueError(f"{len(block.split())} words")
    names = b"\n".join(words[2 :: n_words + 1]).decode().split("\n")
    texts = words[place :: n_words + 1]
    values = list(map(kind, texts))
    is_valid = (
        all(map(isfinite, values)) if kind is float else max(map(abs, values)) < 2**63
    )
    if b"_" in b"".join(texts) or not is_valid:
        known = "a finite number" if kind is float else "an integer of 64 bits"
        raise ValueError(f"{texts[0].decode()!r} is not {known}")
    parsed: dict = {}
    end = 0
    for word, lines in groupby(words[:: n_words + 1]):
        start, end, query = end, end + len(list(lines)), word.decode()
        documents = parsed.setdefault(query, {})
        n_known = len(documents)
        documents.update(zip(names[start:end], values[start:end], strict=True))
        is_known = not documents.keys().isdisjoint(read.get(query, ()))
        if len(documents) < n_known + end - start or is_known:
            raise ValueError(f"the document {names[0]!r} of {query!r} occurs twice")
        if word.startswith(b"#"):
            raise ValueError("a comment")
    return parsed


def runs_to_features(runs: dict[str, Any], qrels: Any = None) -> Bunch:
    """Join runs of several systems into features of documents, to learn how to fuse them.

    A row is a document that some run retrieved for a query. Each run has two features:
    its score, shifted and scaled to [0, 1] within the query, and ``1 / (60 + rank)``.
    Documents that it did not retrieve have zeros. The sum of the second features is
    reciprocal rank fusion [1]_.

    Parameters
    ----------
    runs : dict of str to run
        Runs by name, each a dict, frame or ranx.Run as in `evaluate_run`.
    qrels : dict, frame, ranx.Qrels or None, default=None
        Judgements as in `evaluate_run`. Queries without any are dropped. Documents
        without judgement, or with a negative one, have grade 0.

    Returns
    -------
    Bunch
        ``data`` (n_rows, 2 n_runs), ``target`` (n_rows,) or None without qrels,
        ``qid``, ``docno`` and ``feature_names``.

    Raises
    ------
    ValueError
        If there is no run, or runs and qrels share no query.

    References
    ----------
    .. [1] G. Cormack, C. Clarke, S. Buettcher, "Reciprocal rank fusion outperforms Condorcet and
       individual rank learning methods", SIGIR 2009.

    Examples
    --------
    >>> from lowrank_rank.datasets import runs_to_features
    >>> runs = {"bm25": {"q1": {"d1": 9.0, "d2": 5.0}}, "dense": {"q1": {"d2": 0.8, "d3": 0.4}}}
    >>> joined = runs_to_features(runs, qrels={"q1": {"d2": 1}})
    >>> joined.docno.tolist(), joined.target.tolist()
    (['d1', 'd2', 'd3'], [0.0, 1.0, 0.0])
    >>> joined.feature_names
    ['bm25 score', 'bm25 1/(60 + rank)', 'dense score', 'dense 1/(60 + rank)']
    >>> joined.data[:, ::2].tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if not isinstance(runs, dict) or not runs:
        raise ValueError("runs must be a dict from names to runs, as in {'bm25': run}.")
    read = {
        name: read_mapping(run, SCORE, f"runs[{name!r}]") for name, run in runs.items()
    }
    grades = None if qrels is None else read_mapping(qrels, RELEVANCE, "qrels")
    pairs: dict = {}  # row of each query and document
    for query in dict.fromkeys(query for run in read.values() for query in run):
        if grades is None or query in grades:
            for run in read.values():
                for document in run.get(query, {}):
                    pairs.setdefault((query, document), len(pairs))
    if not pairs:
        raise ValueError("runs and qrels share no query: are their ids the same?")
    X = np.zeros((len(pairs), 2 * len(read)))
    for j, run in enumerate(read.values()):
        for query, found in run.items():
            if found and (grades is None or query in grades):
                scores = np.array([*found.values()], dtype=np.float64)
                rows = [pairs[query, document] for document in found]
                X[rows, 2 * j] = (scores - scores.min()) / (np.ptp(scores) or 1.0)
                X[rows, 2 * j + 1] = 1.0 / (60.0 + rankdata(-scores))
    y = grades and np.array(
        [max(grades[q].get(d, 0.0), 0.0) for q, d in pairs], dtype=np.float64
    )
    qid, docno = (np.array(ids, dtype=object) for ids in zip(*pairs, strict=True))
    names = [f"{name} {what}" for name in read for what in ("score", "1/(60 + rank)")]
    return Bunch(data=X, target=y, qid=qid, docno=docno, feature_names=names)


def dump_qrels(qrels: Any, path: Any) -> None:
    """Write TREC judgements: lines ``query 0 document relevance``.

    A file of that name is replaced once all is written: after an error or an interrupt
    it is as it was.

    Parameters
    ----------
    qrels : dict, frame or ranx.Qrels
        Judgements as in `evaluate_run`, whole numbers only.
    path : str or Path
        A name ending in .gz or .bz2 packs the file.

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
                    f"qrels[{query!r}][{document!r}] is {grade!r}: qrels hold integers only."
                )

    def lines(query, documents):
        return [
            f"{query} 0 {document} {int(grade)}"
            for document, grade in documents.items()
        ]

    _dump(read, path, "qrels", lines)


def dump_run(run: Any, path: Any, *, tag: str = "lowrank_rank") -> None:
    """Write a TREC run: lines ``query Q0 document rank score tag``, best first.

    Scores are written so that reading returns the same numbers. An error or an
    interrupt leaves an existing file unchanged.

    Parameters
    ----------
    run : dict, frame or ranx.Run
        Run as in `evaluate_run`. Documents with equal scores keep their order.
    path : str or Path
        A name ending in .gz or .bz2 packs the file.
    tag : str, default="lowrank_rank"
        Name of the run.

    Raises
    ------
    ValueError
        If there is none, an id or the tag is empty or holds a space, or a score is not
        finite.

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
        raise ValueError(f"{name} contains no document: there is nothing to write.")
    for word in {
        *mapping,
        *(document for documents in mapping.values() for document in documents),
    }:
        if not _word.accepts(word):
            raise ValueError(
                f"{name} contains the id {word!r}: in a file an id is UTF-8 text without spaces."
            )
    for query in mapping:
        if query.startswith("#"):
            raise ValueError(
                f"{name} contains the query {query!r}: # would begin a comment."
            )
    with open_replacing(path) as file:
        for query, documents in mapping.items():
            file.write(
                "".join(f"{line}\n" for line in lines_of(query, documents)).encode()
            )
