"""Runs and judgements of TREC: for each query a value for each document, whatever they come in."""

from numbers import Real

import numpy as np

from ._tables import column_names, is_frame, table_of

#: What columns of a frame may be called; the first is what frames of ours call them.
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
        What a frame may call the column of values.
    name : str
        What messages call it.

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
