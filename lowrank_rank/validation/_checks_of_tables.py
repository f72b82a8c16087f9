"""Faults of tables: runs and judgements of documents, values of queries or tasks.

A table is a dict, a frame of pandas or polars, an Arrow table or a structured array.
"""

import re
import sys
from itertools import chain
from numbers import Integral, Number, Real

import numpy as np

from ..lists._lists import plain
from ._arrays import QUERY, column_names, is_frame
from ._check import Check
from ._columns import DATES, is_missing_entry, shown
from ._frames import is_data_frame
from ._kinds import kind_of
from ._lines_of_tables import line_to_rename
from ._near_ids import difference_of, mending_lines, near_pairs

#: Possible names of the columns of a frame; tables that are returned have the first.
DOCUMENT = ("docno", "doc_id")
SCORE = ("score",)
RELEVANCE = ("relevance", "label", "rel")
LARGEST_FLOAT = sys.float_info.max

_PLAIN = r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"
_THOUSANDS = r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*"
#: Texts that stand for a missing value.
_MARKS = {"", "?", "-", "--", ".", "na", "n/a", "nan", "null", "none", "missing"}


# Lines of code ----------------------------------------------------------------------


def lines_of_numbers(name, table, column, entries):
    """Return the lines that make numbers of a column of text; "" if there are none.

    Every text must be a number, a percentage, a number with commas, or a usual mark of
    a missing value; no other text is ever made NaN.

    Parameters
    ----------
    name : str
        Expression of the table.
    table : frame or dict
    column : str
    entries : list of object
        The entries of the column.
    """
    texts = {str(entry) for entry in entries if isinstance(entry, str)}
    marks = sorted(text for text in texts if text.strip().lower() in _MARKS)
    texts = texts.difference(marks)
    are_texts = all(isinstance(entry, str) for entry in entries) and not marks
    if not texts:
        return ""
    scale = ""
    if _all_match(_PLAIN, texts):
        old = new = ""
    elif not are_texts:
        return ""
    elif _all_match(_PLAIN + "%", texts):
        old, new = "%", ""
        scale = " / 100"
    elif _all_match(rf"{_PLAIN}|{_THOUSANDS}", texts):
        # One comma before three digits may be a decimal comma.
        if all(text.count(",") + text.count(".") < 2 for text in texts):
            return ""
        old, new = ",", ""
    elif _all_match(r"\s*[+-]?\d+(,\d+)?\s*", texts):
        old, new = ",", "."
    else:
        return ""
    return _lines_of_column(name, table, column, (old, new), scale, marks)


def _all_match(pattern, texts):
    """Whether each text is of a form."""
    return all(re.fullmatch(pattern, text) for text in texts)


def _lines_of_column(name, table, column, replaced, scale, marks):
    """Return the lines that make numbers of a column, by the kind of its table."""
    old, new = replaced
    kind = kind_of(table)
    cell = f"{name}[{column!r}]"
    if kind == "polars":
        texts = f"polars.col({column!r})"
        if old:
            texts += f".str.replace_all({old!r}, {new!r}, literal=True)"
        if marks:
            texts += f".replace({marks}, None)"
        numbers = f"{texts}.cast(polars.Float64){scale}"
        return f"{name} = {name}.with_columns({numbers})"
    if kind == "mapping":
        number = f"float(one.replace({old!r}, {new!r}))" if old else "float(one)"
        if marks:
            number = f"numpy.nan if one in {marks} else {number}"
        return f"{cell} = [{number}{scale} for one in {cell}]"
    lines = ""
    if kind != "pandas":
        lines = f"{name} = {as_pandas(name, kind)}\n"
    texts = cell
    if old:
        texts += f".str.replace({old!r}, {new!r})"
    if marks:
        texts += f".replace({marks}, numpy.nan)"
    return f"{lines}{cell} = pandas.to_numeric({texts}){scale}"


def as_pandas(name, kind):
    """Return the expression of a table as a frame of pandas."""
    if kind == "pandas":
        return name
    return f"{name}.to_pandas()" if kind == "arrow" else f"pandas.DataFrame({name})"


# Runs and judgements ----------------------------------------------------------------


def _names_of_roles(given):
    """Return the possible names of the columns of queries, documents and values."""
    return QUERY, DOCUMENT, given.value_names


def _holds(value_names):
    """Say what a table of documents holds."""
    return "a run" if value_names is SCORE else "judgements"


def _finds_other_kind(given):
    """Find a run in the place of judgements, and the reverse, if its type says it."""
    other_names = RELEVANCE if given.value_names is SCORE else SCORE
    columns = column_names(given.table) if is_frame(given.table) else []
    has_values = set(columns) & set(given.value_names)
    is_other = not has_values and set(columns) & set(other_names)
    if type(given.table).__module__.partition(".")[0] == "ranx":
        other_type = "Qrels" if given.value_names is SCORE else "Run"
        is_other = type(given.table).__name__ == other_type
    if not is_other:
        return None
    code = ""
    names = (given.name, given.exchanged_with)
    if given.exchanged_with:
        code = f"{', '.join(names)} = {', '.join(reversed(names))}"
    renamed = ""
    if given.value_names is not SCORE and is_data_frame(given.table):
        grades = {next(name for name in SCORE if name in columns): RELEVANCE[0]}
        renamed = line_to_rename(given.name, given.table, grades)
    return {
        "name": given.name,
        "other": _holds(other_names),
        "right": _holds(given.value_names),
        "exchanged_with": given.exchanged_with,
        "code": code,
        "renamed": renamed,
    }


def _finds_no_column(given):
    if not is_frame(given.table):
        return None
    columns = column_names(given.table)
    roles = _names_of_roles(given)
    lacking = [names for names in roles if not set(names) & set(columns)]
    if not lacking:
        return None
    others = [column for column in columns if column not in chain(*roles)]
    code = ""
    if len(lacking) == len(others) == 1:
        old, new = others[0], lacking[0][0]
        arguments = {
            "pandas": f"rename(columns={{{old!r}: {new!r}}})",
            "polars": f"rename({{{old!r}: {new!r}}})",
            "arrow": (
                f"rename_columns({[new if one == old else one for one in columns]})"
            ),
        }
        if new in SCORE and str(old).lower() in ("rank", "distance"):
            # The best document has the lowest.
            arguments = {
                "pandas": f"assign(score=-{given.name}[{old!r}])",
                "polars": f"with_columns(score=-polars.col({old!r}).cast(float))",
            }
        kind = kind_of(given.table)
        if kind in arguments:
            code = f"{given.name} = {given.name}.{arguments[kind]}"
    return {
        "name": given.name,
        "columns": shown(columns),
        "names": " or ".join(map(repr, lacking[0])),
        "other": repr(others[0]) if others else "",
        "code": code,
    }


def _finds_no_table(given):
    table = given.table
    if is_frame(table) or hasattr(table, "to_dict") or isinstance(table, dict):
        return None
    return {
        "name": given.name,
        "lists": _lists_of(given.value_names),
        "type": type(table).__name__,
    }


def _lists_of(value_names):
    """Word what may stand for the documents of a query besides a dict."""
    if value_names is SCORE:
        return "lists of ids, best first"
    return "lists or sets of relevant documents"


#: Given table, name (an expression) and value_names (of the column of values).
CHECKS_OF_DOCUMENT_TABLES = [
    Check(
        name="run in place of judgements",
        finds=_finds_other_kind,
        sentence="{name} holds {other}, but must hold {right}.",
        remedies={
            "If {name} and {exchanged_with} are exchanged, write": "{code}",
            "If its scores are grades, write": "{renamed}",
        },
        raises=TypeError,
    ),
    Check(
        name="table of documents",
        finds=_finds_no_table,
        sentence=(
            "{name} must be a dict from queries to dicts from documents to values, or "
            "to {lists}; a frame, a path, or a Run or Qrels of ranx; got {type}."
        ),
        raises=TypeError,
    ),
    Check(
        name="columns of documents",
        finds=_finds_no_column,
        sentence=("{name} has the columns {columns}: one must be called {names}."),
        remedies={"If {other} is this column, write": "{code}"},
    ),
]


def _listed(documents):
    """Return the entries of a list of documents; None for a dict or a set."""
    if isinstance(documents, np.ndarray) and documents.ndim == 1:
        return documents.tolist()
    return documents if isinstance(documents, list | tuple) else None


def _finds_query_twice(given):
    if len(given.queries) == len(given.table):
        return None
    return {"name": given.name}


def _finds_several_tables(given):
    for query, documents in given.table.items():
        values = documents.items() if isinstance(documents, dict) else ()
        for document, value in values:
            if not isinstance(value, dict):
                continue
            one = ""
            if len(given.table) == 1:
                one = f"{given.name} = {given.name}[{query!r}]"
            return {
                "name": given.name,
                "place": f"{given.name}[{shown(query)}][{shown(document)}]",
                "query": shown(query),
                "one": one,
            }
    return None


def _finds_set(given):
    if given.value_names is not SCORE:
        return None
    for query, documents in given.table.items():
        if isinstance(documents, set | frozenset):
            return {"place": f"{given.name}[{shown(query)}]"}
    return None


def _finds_other_documents(given):
    for query, documents in given.table.items():
        is_known = isinstance(documents, dict | set | frozenset)
        if not is_known and _listed(documents) is None:
            return {
                "place": f"{given.name}[{shown(query)}]",
                "documents": shown(documents),
                "lists": _lists_of(given.value_names),
            }
    return None


def _is_pair(entry):
    """Whether an entry of a list is a pair of a document and a number."""
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return False
    return isinstance(plain(entry[1]), Number)


def _finds_pairs(given):
    lists = {query: _listed(documents) for query, documents in given.table.items()}
    for query, entries in lists.items():
        for place, entry in enumerate(entries or []):
            if not _is_pair(entry):
                continue
            code = ""
            if all(all(map(_is_pair, entries or [None])) for entries in lists.values()):
                code = (
                    f"{given.name} = {{query: dict(pairs) for query, pairs in "
                    f"{given.name}.items()}}"
                )
            return {
                "place": f"{given.name}[{shown(query)}][{place}]",
                "entry": shown(entry),
                "value": given.value_names[0],
                "code": code,
            }
    return None


def _is_id(entry):
    """Whether an entry of a list of documents may be an id."""
    entry = plain(entry)
    is_value = isinstance(entry, Number) and not isinstance(entry, Integral)
    is_table = isinstance(entry, list | dict | set | frozenset | np.ndarray)
    return not (is_value or is_table or entry is None or isinstance(entry, bool))


def _finds_entry(given):
    for query, documents in given.table.items():
        for place, entry in enumerate(_listed(documents) or []):
            if not _is_id(entry):
                return {
                    "place": f"{given.name}[{shown(query)}][{place}]",
                    "entry": shown(entry),
                    "value": given.value_names[0],
                }
    return None


#: Given table (a dict), name, value_names and queries (ids as text).
CHECKS_OF_DOCUMENTS = [
    Check(
        name="query twice",
        finds=_finds_query_twice,
        sentence=("{name} contains a query twice, once as text and once as a number."),
    ),
    Check(
        name="several tables by name",
        finds=_finds_several_tables,
        sentence=(
            "{place} is a dict: {name} holds tables by name, and must be one table. "
            "The runs of compare_runs are tables by name."
        ),
        remedies={"To take the table {query}, write": "{one}"},
        raises=TypeError,
    ),
    Check(
        name="set as run",
        finds=_finds_set,
        sentence=(
            "{place} is a set, which has no order: a run is a list, best first, or "
            "{{document: score}}."
        ),
        raises=TypeError,
    ),
    Check(
        name="documents of a query",
        finds=_finds_other_documents,
        sentence=(
            "{place} is {documents}: give {{document: value}}, or one of the {lists}."
        ),
        raises=TypeError,
    ),
    Check(
        name="pairs of document and value",
        finds=_finds_pairs,
        sentence=(
            "{place} is {entry}: if this is a document with its {value}, give "
            "{{document: {value}}}; if it is the id of a document, give text, such as "
            "'document#part'."
        ),
        remedies={"If all are pairs of document and {value}, write": "{code}"},
        raises=TypeError,
    ),
    Check(
        name="entry of a list of documents",
        finds=_finds_entry,
        sentence=(
            "{place} is {entry}: a list holds ids of documents, text or integers; with "
            "values give {{document: {value}}}."
        ),
        raises=TypeError,
    ),
]


def _finds_document_twice(given):
    if not given.is_twice:
        return None
    return {
        "name": given.name,
        "document": shown(given.document),
        "query": shown(given.query),
    }


def _place_of_value(given):
    return f"{given.name}[{shown(given.query)}][{shown(given.document)}]"


def _finds_text_value(given):
    if not isinstance(given.value, str):
        return None
    code = ""
    if is_frame(given.table):
        names = column_names(given.table)
        column = next(name for name in given.value_names if name in names)
        entries = np.asarray(given.table[column]).tolist()
        code = lines_of_numbers(given.name, given.table, column, entries)
    elif isinstance(given.table, dict):
        lists = given.table.values()
        values = [v for one in lists if isinstance(one, dict) for v in one.values()]
        texts = [value for value in values if isinstance(value, str)]
        if _all_match(_PLAIN, texts):
            code = _floats_of_documents(given.name)
    return {"place": _place_of_value(given), "value": shown(given.value), "code": code}


def _floats_of_documents(name):
    return (
        f"{name} = {{query: {{document: float(value)\n"
        "        for document, value in documents.items()}\n"
        f"    for query, documents in {name}.items()}}"
    )


def _finds_value(given):
    code = ""
    table = given.table
    is_nested = isinstance(table, dict) and all(map(_is_dict, table.values()))
    if is_nested and _is_one_number(given.value):
        code = _floats_of_documents(given.name)
    return {"place": _place_of_value(given), "value": shown(given.value), "code": code}


def _is_dict(value):
    return isinstance(value, dict)


def _is_one_number(value):
    """Whether an array or a tensor of one number is in the place of the number."""
    if not hasattr(value, "item"):
        return False
    try:
        return is_finite_number(float(value))
    except (TypeError, ValueError):
        return False


#: Given table, name, value_names, query, document, value and is_twice.
CHECKS_OF_DOCUMENT_VALUES = [
    Check(
        name="document twice",
        finds=_finds_document_twice,
        sentence="{name} contains the document {document} of {query} twice.",
    ),
    Check(
        name="text as value of document",
        finds=_finds_text_value,
        sentence="{place} is the text {value}: it must be a finite number.",
        remedies={"": "{code}"},
    ),
    Check(
        name="value of document",
        finds=_finds_value,
        sentence="{place} is {value}: it must be a finite number.",
        remedies={"If it is an array of one number, write": "{code}"},
    ),
]


def is_finite_number(value):
    """Whether a value is a real number in the range of floats."""
    return isinstance(value, Real) and bool(-LARGEST_FLOAT <= value <= LARGEST_FLOAT)  # type: ignore[operator]


# Runs beside judgements -------------------------------------------------------------


def _finds_no_shared_query(given):
    if given.run is None or given.run.keys() & given.qrels.keys():
        return None
    return {
        "name": given.name,
        "own": shown([*given.run][:2]),
        "others": shown([*given.qrels][:2]),
    }


def _finds_no_shared_document(given):
    if given.run is None:
        return None
    shared = [
        query
        for query, documents in given.run.items()
        if documents and given.qrels.get(query)
    ]
    if not shared:
        return None
    if any(given.run[query].keys() & given.qrels[query].keys() for query in shared):
        return None
    query = shared[0]
    return {
        "name": given.name,
        "query": shown(query),
        "own": shown([*given.run[query]][:2]),
        "others": shown([*given.qrels[query]][:2]),
    }


def _finds_near_ids(given):
    """Find queries, or documents of a query, that differ in zeros, case or type."""
    if given.run is None:
        return None
    pairs = near_pairs(given.run.keys(), given.qrels.keys())
    if pairs:
        sides = (given.run.keys(), given.qrels.keys())
        return _words_of_near_ids(given, pairs[0], "query", *sides)
    shared = [query for query in given.run if query in given.qrels]
    for query in shared:
        if near_pairs(given.run[query].keys(), given.qrels[query].keys()):
            break
    else:
        return None
    # Ids of documents that case or zeros tell apart are so in any query.
    documents = dict.fromkeys(chain.from_iterable(given.run.values()))
    judged = dict.fromkeys(chain.from_iterable(given.qrels.values()))
    pairs = near_pairs(documents, judged)
    if not pairs:
        return None
    return _words_of_near_ids(given, pairs[0], "document", documents, judged)


def _words_of_near_ids(given, pair, kind, ids, others):
    lines = ""
    if given.tables:
        lines = mending_lines(pair, ids, others, given.tables, kind == "query")
    return {
        "name": given.name,
        "others": given.others or "the judgements",
        "kind": kind,
        "own": shown(pair[0]),
        "other": shown(pair[1]),
        "difference": difference_of(*pair),
        "lines": lines,
    }


def _finds_skipped(given):
    if not given.skipped:
        return None
    return {
        "n": len(given.skipped),
        "name": given.name,
        "among": f" among its first {given.k}" if given.k else "",
        "query": shown(given.query),
    }


#: Given name, run and qrels (of checked ids), others (the name of qrels), and tables,
#: by their expressions, as they were given.
CHECKS_OF_NEAR_IDS = [
    Check(
        name="ids that nearly meet",
        finds=_finds_near_ids,
        sentence=(
            "{name} has the {kind} {own}, and {others} {other}: they differ only in "
            "{difference}, and so do not match. Files keep ids if they are read as "
            "text, as by pandas.read_csv(path, dtype=str)."
        ),
        remedies={"If they are the same": "{lines}"},
    ),
]
#: Given what `CHECKS_OF_NEAR_IDS` are given; or name, query, skipped (documents that
#: people did not label) and k.
CHECKS_OF_RUNS = [
    *CHECKS_OF_NEAR_IDS,
    Check(
        name="no shared query",
        finds=_finds_no_shared_query,
        sentence=(
            "{name} shares no query with the judgements: it has {own}, the judgements "
            "have {others}. Are their ids the same?"
        ),
    ),
    Check(
        name="no shared document",
        finds=_finds_no_shared_document,
        sentence=(
            "{name} shares no document with the judgements: in query {query} it has "
            "{own}, the judgements have {others}. Are their ids the same?"
        ),
    ),
    Check(
        name="documents skipped by people",
        finds=_finds_skipped,
        sentence=(
            "people lacks {n} documents that the run {name!r} has{among} in query "
            "{query} and the judge labelled: people must label all of them, or none."
        ),
    ),
]


def _finds_list_of_runs(given):
    if isinstance(given.runs, dict) and given.runs:
        return None
    code = ""
    if isinstance(given.runs, list | tuple) and given.runs:
        code = "runs = {str(number): run for number, run in enumerate(runs)}"
    return {"code": code}


def _finds_one_run(given):
    values = [
        plain(value)
        for documents in given.runs.values()
        if isinstance(documents, dict)
        for value in documents.values()
    ]
    if not values or not all(isinstance(value, Number) for value in values):
        return None
    return {}


def _finds_no_query_of_runs(given):
    return {} if given.row_of == {} else None


#: Given runs, or row_of (rows of the documents that runs and qrels share).
CHECKS_OF_RUNS_TO_JOIN = [
    Check(
        name="rows of runs",
        finds=_finds_no_query_of_runs,
        sentence="runs and qrels share no query: are their ids the same?",
    ),
]
CHECKS_OF_RUNS_BY_NAME = [
    Check(
        name="runs by name",
        finds=_finds_list_of_runs,
        sentence="runs must be a dict from names to runs, as in {{'bm25': run}}.",
        remedies={"To name them by their number, write": "{code}"},
    ),
    Check(
        name="one run in place of runs",
        finds=_finds_one_run,
        sentence="runs is one run, and must be a dict from names to runs.",
        remedies={"": "runs = {{'run': runs}}"},
        raises=TypeError,
    ),
]


# Runs and judgements that are written ------------------------------------------------

#: What separates the words of a line.
_WORD = re.compile(r"[^\s\ud800-\udfff]+", re.ASCII)


def is_word(value):
    """Whether a value is text without spaces that UTF-8 can encode."""
    # UTF-8 has no halves of surrogate pairs.
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def _finds_nothing_to_write(given):
    return None if any(given.mapping.values()) else {"name": given.name}


def _finds_no_integer(given):
    if given.name != "qrels":
        return None
    for query, documents in given.mapping.items():
        for document, grade in documents.items():
            if grade != int(grade):
                return {
                    "place": f"qrels[{shown(query)}][{shown(document)}]",
                    "grade": shown(grade),
                }
    return None


def _finds_id(given):
    ids = dict.fromkeys(chain(given.mapping, *given.mapping.values()))
    for one in ids:
        if is_word(one):
            continue
        code = ""
        renamed = {str(other).replace(" ", "_") for other in ids}
        if (
            type(given.table) is dict
            and given.table == given.mapping
            and len(renamed) == len(ids)
            and all(map(is_word, renamed))
        ):
            name = given.name
            code = (
                f"{name} = {{query.replace(' ', '_'): "
                "{document.replace(' ', '_'): value\n"
                "        for document, value in documents.items()}\n"
                f"    for query, documents in {name}.items()}}"
            )
        return {"name": given.name, "id": shown(one), "code": code}
    return None


def _finds_comment(given):
    for query in given.mapping:
        if query.startswith("#"):
            return {"name": given.name, "query": shown(query)}
    return None


#: Given table, name ("run" or "qrels") and mapping (its ids and values).
CHECKS_OF_WRITTEN_DOCUMENTS = [
    Check(
        name="no document to write",
        finds=_finds_nothing_to_write,
        sentence="{name} contains no document: there is nothing to write.",
    ),
    Check(
        name="grade to write",
        finds=_finds_no_integer,
        sentence="{place} is {grade}: qrels hold integers only.",
    ),
    Check(
        name="id to write",
        finds=_finds_id,
        sentence=(
            "{name} contains the id {id}: in a file an id is UTF-8 text without spaces."
        ),
        remedies={"To put _ in place of spaces, write": "{code}"},
    ),
    Check(
        name="query to write",
        finds=_finds_comment,
        sentence="{name} contains the query {query}: # would begin a comment.",
    ),
]


# Values of queries or tasks ---------------------------------------------------------


def _finds_no_values(given):
    columns = given.columns
    if columns and all(np.ndim(given.table[name]) == 1 for name in columns):
        return None
    return {}


def _entries(given, name):
    return np.asarray(given.table[name]).astype(object).tolist()


def _finds_two_words(given):
    words: set[str] = set()
    for entry in chain.from_iterable(_entries(given, name) for name in given.columns):
        is_word = isinstance(entry, str) and not re.fullmatch(_PLAIN + "%?", entry)
        if not is_word or len(words | {entry}) > 2:
            return None
        words.add(str(entry))
    if len(words) < 2 or max(map(len, words)) > 40:
        return None
    one, other = sorted(words)
    kind = kind_of(given.table)
    table = "table" if kind == "polars" else as_pandas("table", kind)
    return {
        "one": one,
        "other": other,
        "one_code": f"table = {table} == {one!r}",
        "other_code": f"table = {table} == {other!r}",
    }


def _is_text(entries):
    """Whether entries hold text, or dates, which are not numbers."""
    if np.asarray(entries).dtype.kind in "biuf":
        return False
    return any(
        not isinstance(one, Number) and not is_missing_entry(one) for one in entries
    )


def _finds_long_table(given):
    """Find three columns of task, ranker and value, a row for each value."""
    if len(given.columns) != 3:
        return None
    columns = {name: _entries(given, name) for name in given.columns}
    texts = [name for name, entries in columns.items() if _is_text(entries)]
    if len(texts) != 2:
        return None
    pairs = list(zip(columns[texts[0]], columns[texts[1]], strict=True))
    if len(set(pairs)) < len(pairs):
        return None
    texts.sort(key=lambda name: len(set(columns[name])))
    ranker, task = texts
    [value] = [name for name in columns if name not in texts]
    kind = kind_of(given.table)
    code = (
        f"table = {as_pandas('table', kind)}.pivot(\n"
        f"    index={task!r}, columns={ranker!r}, values={value!r})"
    )
    if kind == "polars":
        code = (
            f"table = table.pivot({ranker!r}, index={task!r}, values={value!r})"
            f".drop({task!r})"
        )
    return {
        "ranker": shown(ranker),
        "task": shown(task),
        "value": shown(value),
        "code": code,
    }


def _without(name, kind, column):
    """Return the line that drops a column of ids, by the kind of the table."""
    if kind == "mapping":
        return f"{name} = {{one: {name}[one] for one in {name} if one != {column!r}}}"
    if kind == "polars":
        return f"{name} = {name}.drop({column!r})"
    return f"{name} = {as_pandas(name, kind)}.set_index({column!r})"


def _finds_text(given):
    for name in given.columns:
        if np.asarray(given.table[name]).dtype.kind in "biuf":
            continue
        entries = _entries(given, name)
        if not _is_text(entries):
            continue
        first = next(
            one
            for one in entries
            if not isinstance(one, Number) and not is_missing_entry(one)
        )
        to_numbers = lines_of_numbers("table", given.table, name, entries)
        without = ""
        if not to_numbers and len(given.columns) > 1:
            without = _without("table", kind_of(given.table), name)
        return {
            "name": name,
            "held": "dates" if isinstance(first, DATES) else "text or ids",
            "first": shown(first),
            "numbers": to_numbers,
            "without": without,
        }
    return None


#: Given table and columns (names).
CHECKS_OF_VALUES = [
    Check(
        name="no table of values",
        finds=_finds_no_values,
        sentence=(
            "table must be a frame or a dict of lists: a row for each query or task, a "
            "column for each ranker. Labels and scores are for compare_rankers, "
            "judgements and runs for compare_runs."
        ),
    ),
    Check(
        name="two words as values",
        finds=_finds_two_words,
        sentence=(
            "The table of values holds two words, {one!r} and {other!r}, but must "
            "hold numbers."
        ),
        remedies={
            "If {one!r} is the success, write": "{one_code}",
            "If {other!r} is the success, write": "{other_code}",
        },
    ),
    Check(
        name="long table of values",
        finds=_finds_long_table,
        sentence=(
            "The table of values must have a column for each ranker and a row for each "
            "task; its columns {ranker} and {task} hold text."
        ),
        remedies={
            "If {ranker} is the ranker of a value, and {task} its task, write": "{code}"
        },
    ),
    Check(
        name="text in a table of values",
        finds=_finds_text,
        sentence=(
            "The column {name!r} of the table of values holds {held}, such as "
            "{first}. Columns are rankers, rows are tasks."
        ),
        remedies={
            "If these are values, write": "{numbers}",
            "If it names the tasks, write": "{without}",
        },
    ),
]


def _finds_lacking_value(given):
    is_missing = np.isnan(given.values)
    lacks_value = is_missing & ~is_missing.all(axis=1, keepdims=True)
    if not lacks_value.any():
        return None
    n_lacking = lacks_value.sum(axis=0)
    worst = int(np.argmax(n_lacking))
    words = {
        "name": given.names[worst],
        "n": n_lacking[worst],
        "n_rows": len(given.values),
        "none": "",
        "leave_out": "",
        "zeros": "",
    }
    kind = kind_of(given.table)
    table = as_pandas("table", kind)
    words["zeros"] = f"table = {table}.fillna(0)"
    if kind == "polars":
        words["zeros"] = "table = table.fill_nan(None).fill_null(0)"
    if is_missing.any(axis=1).all():
        words["none"] = (
            " No row has all values, so nothing can be paired. Values of different "
            "users are compared by Welch's test, ttest_ind of SciPy."
        )
        return words
    words["leave_out"] = f"table = {table}.dropna()"
    if kind == "polars":
        words["leave_out"] = "table = table.fill_nan(None).drop_nulls()"
    return words


#: Given table, names and values (an array).
CHECKS_OF_PAIRED_VALUES = [
    Check(
        name="lacking value",
        finds=_finds_lacking_value,
        sentence=(
            "{name!r} lacks a value in {n} of {n_rows} rows in which others have "
            "one.{none}"
        ),
        remedies={
            "To leave out such rows, write": "{leave_out}",
            "If a missing value counts as 0, write": "{zeros}",
        },
    ),
]


def _finds_other_columns(given):
    if None in (given.names, given.expected) or set(given.names) == set(given.expected):
        return None
    code = ""
    if set(given.names) > set(given.expected):
        name = given.name
        columns = list(given.expected)
        code = f"{name} = {name}[{columns}]"
        if kind_of(given.values) == "mapping":
            code = f"{name} = {{column: {name}[column] for column in {columns}}}"
        if kind_of(given.values) == "arrow":
            code = f"{name} = {name}.select({columns})"
    return {
        "name": given.name,
        "columns": shown(given.names),
        "expected": shown(list(given.expected)),
        "code": code,
    }


def _finds_lengths(given):
    columns = given.columns or []
    lengths = [column.shape[:1] for column in columns]
    if len(set(lengths)) < 2:
        return None
    other = next(j for j, length in enumerate(lengths) if length != lengths[0])
    return {
        "name": given.name,
        "one": shown(given.names[0], 40),
        "n_one": columns[0].size,
        "other": shown(given.names[other], 40),
        "n_other": columns[other].size,
    }


def _finds_shape(given):
    if given.array is None or (given.array.ndim == 2 and given.array.shape[1]):
        return None
    return {"name": given.name, "shape": given.array.shape}


def _finds_no_rows(given):
    if given.array is None or given.expected or len(given.array):
        return None
    hint = ": did dropna() drop all?" if is_frame(given.values) else "."
    return {"name": given.name, "hint": hint}


def _finds_other_ids(given):
    tables = (given.people, given.judge)
    if not all(isinstance(table, np.ndarray) for table in tables):
        return None
    if not all("qid" in column_names(table) for table in tables):
        return None
    one, other = (table["qid"] for table in tables)
    if list(one) == list(other):
        return None
    code = ""
    if one.dtype.kind in "iufU" and np.array_equal(np.sort(one), np.sort(other)):
        code = (
            "people = people[numpy.argsort(people['qid'])]\n"
            "judge = judge[numpy.argsort(judge['qid'])]"
        )
    return {"code": code}


#: Given name, values (the table), names and expected (of its columns), columns
#: (arrays), and array (all of them); or people and judge.
CHECKS_OF_COLUMNS = [
    Check(
        name="columns of a judge",
        finds=_finds_other_columns,
        sentence=(
            "{name} has the columns {columns}, and people {expected}: they must be the "
            "same."
        ),
        remedies={"To take the columns of people, write": "{code}"},
    ),
    Check(
        name="lengths of columns",
        finds=_finds_lengths,
        sentence=(
            "Columns of {name} have different numbers of values ({one} {n_one}, "
            "{other} {n_other}): a row is a task, measured for each. Values of "
            "different users are compared by Welch's test, ttest_ind of SciPy."
        ),
    ),
    Check(
        name="shape of values",
        finds=_finds_shape,
        sentence=(
            "{name} has the shape {shape}: give one value of each query, in columns."
        ),
    ),
    Check(
        name="no rows of values",
        finds=_finds_no_rows,
        sentence="{name} has no rows{hint}",
    ),
    Check(
        name="qid of people and judge",
        finds=_finds_other_ids,
        sentence=(
            "The field 'qid' of people and judge differs: rows are matched by position."
        ),
        remedies={"To sort both by their ids, write": "{code}"},
    ),
]
