"""TREC files: runs (results of a system) and qrels (judgements of documents)."""

from collections import defaultdict
from io import BytesIO
from itertools import chain, repeat
from math import isfinite
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .._typing import Bunch
from ..lists._lists import plain
from ..validation._arrays import column_names, is_frame, shown, table_of
from ..validation._check import refuse
from ..validation._checks_of_files import CHECKS_OF_FILES, CHECKS_OF_TREC_LINES
from ..validation._checks_of_tables import (
    CHECKS_OF_DOCUMENT_TABLES,
    CHECKS_OF_DOCUMENT_VALUES,
    CHECKS_OF_DOCUMENTS,
    CHECKS_OF_NEAR_IDS,
    CHECKS_OF_RUNS,
    CHECKS_OF_RUNS_BY_NAME,
    CHECKS_OF_RUNS_TO_JOIN,
    CHECKS_OF_WRITTEN_DOCUMENTS,
    DOCUMENT,
    LARGEST_FLOAT,
    RELEVANCE,
    SCORE,
    is_finite_number,
    is_word,
)
from ..validation._findings import found
from ..validation._frames import QUERY
from ..validation._ids import id_text
from ..validation._kinds import arrive
from ..validation._parameters import Rule, check_parameter
from ..validation._paths import path_like, read_path
from ._files import numbered_blocks, open_replacing

_word = Rule(is_word, "a word, a string without spaces")


def is_judgements(table):
    """Return whether a value is qrels: a file, a dict, or a table with documents."""
    if is_frame(table):
        return any(name in DOCUMENT for name in column_names(table))
    if isinstance(table, dict) or path_like.accepts(table):
        return True
    # an object of ranx
    return hasattr(table, "to_dict") and not hasattr(table, "__array__")


def read_mapping(table, value_names, name, other=""):
    """Convert a dict, a frame or an object of ranx to ``{query: {document: value}}``.

    Parameters
    ----------
    table : dict, frame, object with ``to_dict`` or path of a file
    value_names : tuple of str
        Possible names of the column of values.
    name : str
        Name of the table in messages.
    other : str
        Name of the argument that may be exchanged with this one.

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
    arrive(**{name: table})
    if path_like.accepts(table):
        return load_run(table) if value_names is SCORE else load_qrels(table)
    if type(table) is not dict:
        arrive(**{name: table})
        refuse(
            CHECKS_OF_DOCUMENT_TABLES,
            table=table,
            name=name,
            value_names=value_names,
            exchanged_with=other,
        )
    if is_frame(table):
        rows = _rows_of_frame(table, value_names)
        return _of_triples(rows, {}, name, table, value_names)
    if hasattr(table, "to_dict"):
        table = table.to_dict()
    if _is_checked(table):
        return table
    queries: dict = {id_text(query, name): {} for query in table}
    refuse(
        CHECKS_OF_DOCUMENTS,
        table=table,
        name=name,
        value_names=value_names,
        queries=queries,
    )
    triples = (
        (query, document, value)
        for query, documents in table.items()
        for document, value in _documents_with_values(documents, value_names)
    )
    return _of_triples(triples, queries, name, table, value_names)


def _is_checked(table):
    """Whether a table is ``{text: {text: finite int or float}}``, checked in bulk.

    Such a dict is used as it is, without a copy; nothing changes it.
    """
    if type(table) is not dict or not set(map(type, table.values())) <= {dict}:
        return False
    documents = chain.from_iterable(table.values())
    if not set(map(type, chain(table, documents))) <= {str}:
        return False
    values = [value for scores in table.values() for value in scores.values()]
    if not set(map(type, values)) <= {int, float}:
        return False
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # an integer beyond the floating range
        return False
    return bool(np.all(np.abs(numbers) <= LARGEST_FLOAT))


def _rows_of_frame(table, value_names):
    """Return the query, document and value of each row of a frame."""
    columns = []
    for names in (QUERY, DOCUMENT, value_names):
        name = next(column for column in names if column in column_names(table))
        columns.append(np.asarray(table[name]).tolist())
    return zip(*columns, strict=True)


def _documents_with_values(documents, value_names):
    """Return pairs of a document and its value; a list of a run is best first."""
    if isinstance(documents, dict):
        return documents.items()
    if isinstance(documents, np.ndarray):
        documents = documents.tolist()
    if value_names is SCORE:
        return zip(documents, range(len(documents), 0, -1), strict=True)
    return zip(documents, repeat(1))


def _of_triples(triples, mapping, name, table, value_names):
    """Add (query, document, value) of a table to a mapping; messages may name rows."""
    has_rows = is_frame(table)
    for row, (query, document, value) in enumerate(triples):
        where = f"{name} (row {row})" if has_rows else name
        documents = mapping.setdefault(id_text(query, where), {})
        key = id_text(document, where)
        value = plain(value)
        if key in documents or not is_finite_number(value):
            refuse(
                CHECKS_OF_DOCUMENT_VALUES,
                table=table,
                name=name,
                value_names=value_names,
                query=query,
                document=document,
                value=value,
                is_twice=key in documents,
            )
        documents[key] = value
    return mapping


def check_ids(run, qrels, name, queries, tables=None):
    """Refuse a run without a query or document of the qrels; count the absent queries.

    Parameters
    ----------
    run, qrels : dict of str to dict
    name : str
        Name of the run in messages.
    queries : list of str
        The queries that are measured.
    tables : dict of str to object, default=None
        Expressions of the run and of the judgements, and both as they were given.

    Returns
    -------
    int
        Number of these queries that the run lacks; a warning says it.
    """
    refuse(CHECKS_OF_RUNS, name=name, run=run, qrels=qrels, tables=tables)
    absent = [query for query in queries if query not in run]
    if absent:
        found(
            "absent queries",
            f"{name} lacks {len(absent)} of {len(queries)} queries, such as "
            f"{shown(absent[0])}: it counts as having retrieved nothing. Leave out "
            "queries that were not asked.",
            about=name,
        )
    return len(absent)


def check_judged(human, by_judge, runs, measures):
    """Refuse queries where people skipped a counting document of the judge."""
    if not by_judge:
        return
    cuts: list = [getattr(measure, "k", None) for measure in measures.values()]
    k = None if None in cuts else max(cuts)
    for name, run in runs.items():
        for query in human:
            if query not in run:
                continue
            counting = set(first_documents(run[query], k))
            skipped = counting & by_judge[query].keys() - human[query].keys()
            if skipped:
                refuse(CHECKS_OF_RUNS, name=name, query=query, skipped=skipped, k=k)


def first_documents(scores, k):
    """Return the k documents of the highest scores, and ties with the last one."""
    if k is None or len(scores) <= k:
        return list(scores)
    lowest = sorted(scores.values())[-k]
    return [document for document, score in scores.items() if score >= lowest]


def load_qrels(
    path: Any, *, as_frame: bool = False
) -> "dict[str, dict[str, Any]] | Any":
    r"""Read TREC judgements: lines ``query iteration document relevance``.

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
    ...     _ = path.write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n")
    ...     load_qrels(path)
    {'q1': {'d1': 2, 'd2': 0}, 'q2': {'d1': 1}}
    """
    return _load(
        path, "query iteration document relevance", 3, int, "relevance", as_frame
    )


def load_run(path: Any, *, as_frame: bool = False) -> "dict[str, dict[str, Any]] | Any":
    r"""Read a TREC run: lines ``query Q0 document rank score tag``.

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
    ...     _ = path.write_text("q1 Q0 d2 1 1.5 bm25\nq1 Q0 d1 2 0.5 bm25\n")
    ...     load_run(path)
    {'q1': {'d2': 1.5, 'd1': 0.5}}
    """
    return _load(path, "query Q0 document rank score tag", 4, float, "score", as_frame)


def _load(path, form, place, kind, value_name, as_frame):
    """Read lines of the form; the word at `place` is a value of type `kind`."""
    check_parameter("as_frame", as_frame, [bool])
    path = read_path(path)
    of_word: defaultdict = defaultdict(dict)  # documents of the bytes of a query
    for first, block in numbered_blocks(path):
        _read_block(path, first, block, form, place, kind, of_word)
    refuse(CHECKS_OF_FILES, path=path, n_rows=len(of_word))
    mapping = {query.decode(): documents for query, documents in of_word.items()}
    if not as_frame:
        return mapping
    rows = [
        (query, document, value)
        for query, documents in mapping.items()
        for document, value in documents.items()
    ]
    table = np.array(rows, dtype=object)
    return table_of(
        {
            QUERY[0]: table[:, 0],
            DOCUMENT[0]: table[:, 1],
            value_name: np.array(table[:, 2].tolist()),
        }
    )


def _read_block(path, first, block, form, place, kind, of_word):
    """Add the documents of a block of lines to `of_word`; `first` numbers the lines."""
    n_words = len(form.split())
    if _add(of_word, _parse(block, n_words, place, kind)):
        return
    # Blank lines and comments are left out, and the others are read again.
    lines = [
        (number, line)
        for number, line in enumerate(BytesIO(block), start=first)
        if line.lstrip()[:1] not in (b"", b"#")
    ]
    content = b"".join(line for _, line in lines)
    if not lines or _add(of_word, _parse(content, n_words, place, kind)):
        return
    # A line is wrong, or holds the word that marks the end of a line.
    for number, line in lines:
        if not _add(of_word, _parse(line, n_words, place, kind)):
            refuse(
                CHECKS_OF_TREC_LINES,
                path=path,
                number=number,
                line=line,
                form=form,
                place=place,
                kind=kind,
                documents=of_word,
            )


def _add(of_word, parsed):
    """Add the documents of lines, or none of them if one occurs twice.

    Return whether they were added; lines that were not parsed, None, are not.
    """
    if parsed is None:
        return False
    queries, documents, values = parsed
    changed = [of_word[query] for query in dict.fromkeys(queries)]
    n_before = list(map(len, changed))
    for query, document, value in zip(queries, documents, values, strict=True):
        of_word[query][document] = value
    if sum(map(len, changed)) - sum(n_before) == len(documents):
        return True
    for known, n in zip(changed, n_before, strict=True):
        while len(known) > n:
            known.popitem()
    return False


def _parse(block, n_words, place, kind):
    """Parse lines without comments to queries, as bytes, documents and values.

    Return None if a line has another form.
    """
    n_lines = block.count(b"\n")
    # The word `mark` ends each line. So one split of the block shows a line with
    # another number of words.
    mark = b"\0"
    words = block.replace(b"\n", b" " + mark + b" ").split()
    marks = words[n_words :: n_words + 1]
    is_regular = len(words) == n_lines * (n_words + 1) and marks == [mark] * n_lines
    if not is_regular or (n_lines > 1 and mark in block):
        return None
    queries = words[:: n_words + 1]
    text = b"\n".join([b"", *queries])
    if b"\n#" in text:  # a comment
        return None
    try:
        text.decode()  # refuses bytes that are not UTF-8
        documents = b"\n".join(words[2 :: n_words + 1]).decode().split("\n")
        values = list(map(kind, words[place :: n_words + 1]))
    except ValueError:
        return None
    if kind is float:
        is_valid = all(map(isfinite, values))
    else:
        is_valid = max(map(abs, values)) < 2**63
    # Python reads 1_0 as 10
    if not is_valid or b"_" in b"".join(words[place :: n_words + 1]):
        return None
    return queries, documents, values


def runs_to_features(runs: dict[str, Any], qrels: Any = None) -> Bunch:
    """Join runs of several systems into features of documents, to learn to fuse them.

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
    .. [1] G. Cormack, C. Clarke, S. Buettcher, "Reciprocal rank fusion outperforms
       Condorcet and individual rank learning methods", SIGIR 2009.

    Examples
    --------
    >>> from lowrank_rank.datasets import runs_to_features
    >>> bm25 = {"q1": {"d1": 9.0, "d2": 5.0}}
    >>> runs = {"bm25": bm25, "dense": {"q1": {"d2": 0.8, "d3": 0.4}}}
    >>> joined = runs_to_features(runs, qrels={"q1": {"d2": 1}})
    >>> joined.docno.tolist(), joined.target.tolist()
    (['d1', 'd2', 'd3'], [0.0, 1.0, 0.0])
    >>> joined.feature_names
    ['bm25 score', 'bm25 1/(60 + rank)', 'dense score', 'dense 1/(60 + rank)']
    >>> joined.data[:, ::2].tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    arrive(runs=runs, qrels=qrels)
    refuse(CHECKS_OF_RUNS_BY_NAME, runs=runs)
    mappings = {
        name: read_mapping(run, SCORE, f"runs[{name!r}]") for name, run in runs.items()
    }
    grades = None
    if qrels is not None:
        grades = read_mapping(qrels, RELEVANCE, "qrels")
    _refuse_near_ids(mappings, grades, runs, qrels)
    row_of: dict = {}  # of each (query, document)
    for query in dict.fromkeys(query for run in mappings.values() for query in run):
        if grades is None or query in grades:
            for run in mappings.values():
                for document in run.get(query, {}):
                    row_of.setdefault((query, document), len(row_of))
    refuse(CHECKS_OF_RUNS_TO_JOIN, row_of=row_of)
    X = np.zeros((len(row_of), 2 * len(mappings)))
    for j, run in enumerate(mappings.values()):
        for query, documents in run.items():
            if documents and (grades is None or query in grades):
                scores = np.array([*documents.values()], dtype=np.float64)
                rows = [row_of[query, document] for document in documents]
                # (s - min s) / (max s - min s), and 1 / (60 + rank)
                X[rows, 2 * j] = (scores - scores.min()) / (np.ptp(scores) or 1.0)
                X[rows, 2 * j + 1] = 1.0 / (60.0 + rankdata(-scores))
    y = None
    if grades is not None:
        relevance = [
            max(grades[query].get(document, 0.0), 0.0) for query, document in row_of
        ]
        y = np.array(relevance, dtype=np.float64)
    queries, documents = zip(*row_of, strict=True)
    return Bunch(
        data=X,
        target=y,
        qid=np.array(queries, dtype=object),
        docno=np.array(documents, dtype=object),
        feature_names=[
            f"{name} {feature}"
            for name in mappings
            for feature in ("score", "1/(60 + rank)")
        ],
    )


def _refuse_near_ids(mappings, grades, runs, qrels):
    """Refuse ids of a run that nearly meet those of the first run or of the grades."""
    first = next(iter(mappings))
    for name, run in mappings.items():
        expression = f"runs[{name!r}]"
        sides = {}
        if grades is not None:
            # `check_ids` refuses runs without a shared document: here they are rows.
            sides["qrels"] = (grades, qrels)
        if name != first:
            sides[f"runs[{first!r}]"] = (mappings[first], runs[first])
        for others, (of_others, given_others) in sides.items():
            refuse(
                CHECKS_OF_NEAR_IDS,
                name=expression,
                run=run,
                qrels=of_others,
                others=others,
                tables={expression: runs[name], others: given_others},
            )


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
        If there is no judgement, an id is empty or holds a space, or a grade is not an
        integer.

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
    mapping = read_mapping(qrels, RELEVANCE, "qrels")

    def lines(query, documents):
        return [
            f"{query} 0 {document} {int(grade)}"
            for document, grade in documents.items()
        ]

    _dump(qrels, mapping, path, "qrels", lines)


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
        If there is no document, an id or the tag is empty or holds a space, or a score
        is not finite.

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

    _dump(run, read_mapping(run, SCORE, "run"), path, "run", lines)


def _dump(table, mapping, path, name, lines_of):
    """Write the lines of each query; ``lines_of(query, documents)`` returns them."""
    path = read_path(path)
    refuse(CHECKS_OF_WRITTEN_DOCUMENTS, table=table, name=name, mapping=mapping)
    with open_replacing(path) as file:
        for query, documents in mapping.items():
            text = "".join(f"{line}\n" for line in lines_of(query, documents))
            file.write(text.encode())
