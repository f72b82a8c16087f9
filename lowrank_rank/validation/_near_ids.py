"""Ids that differ only in leading zeros, case or type, and so do not match."""

import re
from collections import Counter

from ._frames import column_names
from ._kinds import kind_of

#: Leading zeros of a whole number, and the fraction of a whole float.
_ZEROS = re.compile(r"^0+(?=\d+$)", re.MULTILINE)
_FRACTION = re.compile(r"^(\d+)\.0+$", re.MULTILINE)


def forms_of(ids):
    """Return ids as text without fractions, leading zeros and case, in their order.

    The ids are joined to one text, which is fast; an id with a line break is left out
    with all the others.
    """
    text = "\n".join(map(str, ids)).casefold()
    forms = _ZEROS.sub("", _FRACTION.sub(r"\1", text)).split("\n")
    return forms if len(forms) == len(ids) else list(map(str, ids))


def near_pairs(ids, others):
    """Pair the ids of one side alone with the equal forms of the other side alone.

    Parameters
    ----------
    ids, others : dict, or view of its keys
        Of one side and of the other.

    Returns
    -------
    list of tuple of two ids
        Empty if ids of one side share a form as often: then case or zeros tell ids
        apart.
    """
    alone = [one for one in ids if one not in others]
    if not alone:
        return []
    others_alone = [one for one in others if one not in ids]
    if not others_alone:
        return []
    other_of = dict(zip(forms_of(others_alone), others_alone, strict=True))
    pairs = [
        (one, other_of[form])
        for form, one in zip(forms_of(alone), alone, strict=True)
        if form in other_of
    ]
    if not pairs or len(pairs) <= max(_n_equal_forms(ids), _n_equal_forms(others)):
        return []
    return pairs


def _n_equal_forms(ids):
    """Count the ids whose form an earlier id of the same side has."""
    return len(ids) - len(Counter(forms_of(list(ids))))


def difference_of(one, other):
    """Return in what two ids of one form differ, in words."""
    if str(one) == str(other):
        return "type"
    one, other = str(one), str(other)
    if one.casefold() == other.casefold():
        return "case"
    if "." in one + other:
        return "a decimal point"
    return "leading zeros"


def mending_lines(pair, ids, others, tables, are_queries):
    """Return the lines that give both sides the same ids, or "".

    Parameters
    ----------
    pair : tuple of two str
    ids, others : collection of str
        All ids of each side.
    tables : dict of str to object
        The expression of the table of each side, and the table as given.
    are_queries : bool
        Whether the ids are those of queries, or of documents.
    """
    sides = list(zip(tables.items(), (ids, others), strict=True))
    calls: list = [None, None]
    if difference_of(*pair) == "case":
        calls = _calls_of_case(ids, others)
    elif difference_of(*pair) == "leading zeros":
        place = 0 if len(pair[0]) < len(pair[1]) else 1
        padded = {len(one) for one in sides[1 - place][1]}
        if len(padded) > 1:
            return ""
        calls[place] = f"zfill({padded.pop()})"
    lines = [
        _line_of(expression, table, call, are_queries)
        for ((expression, table), _), call in zip(sides, calls, strict=True)
        if call is not None
    ]
    return "\n".join(lines) if lines and all(lines) else ""


def _calls_of_case(ids, others):
    """Return the method of text for each side, None where a side stays as it is.

    The first side takes the case of the other, if that has one.
    """
    for method in ("lower", "upper"):
        if all(one == getattr(one, method)() for one in others):
            return [f"{method}()", None]
    for method in ("lower", "upper"):
        if all(one == getattr(one, method)() for one in ids):
            return [None, f"{method}()"]
    return ["lower()", "lower()"]


def _line_of(expression, table, call, are_queries):
    """Return the line that changes the ids of a table by a method of text, or ""."""
    kind = kind_of(table)
    if kind == "mapping":
        documents = list(table.values())
        keys = list(table)
        if not are_queries:
            if not all(isinstance(one, dict) for one in documents):
                return ""
            keys = [key for one in documents for key in one]
        if not all(isinstance(key, str | int) for key in keys):
            return ""
        of_query = "str(query)." + call if are_queries else "query"
        of_documents = "documents"
        if not are_queries:
            of_documents = (
                f"{{str(document).{call}: value for document, value in "
                "documents.items()}"
            )
        return (
            f"{expression} = {{{of_query}: {of_documents} for query, documents in "
            f"{expression}.items()}}"
        )
    if kind not in ("pandas", "polars"):
        return ""
    names = ("qid", "query_id", "q_id") if are_queries else ("docno", "doc_id")
    name = next((one for one in names if one in column_names(table)), None)
    if name is None or getattr(table[name].dtype, "kind", "O") not in "iuO":
        return ""
    if kind == "polars":
        column = f"polars.col({name!r}).cast(polars.String).str"
        call = call.replace("lower", "to_lowercase").replace("upper", "to_uppercase")
        return f"{expression} = {expression}.with_columns({column}.{call})"
    column = f"{expression}[{name!r}]"
    return f"{expression} = {expression}.assign({name}={column}.astype(str).str.{call})"
