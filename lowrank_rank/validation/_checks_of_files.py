"""Faults of files: bytes, lines of TREC and LETOR files, columns of Parquet files.

Files are read plainly. These checks say why a block, a line or an entry could not be
read. A remedy writes the file anew, so that the same call reads it.
"""

import re
from io import BytesIO
from math import isfinite

import numpy as np

from ._check import Check

#: Module that unpacks a file of this ending.
_PACKED = {".gz": "gzip", ".bz2": "bz2"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: Texts that stand for a missing value.
_MISSING = {"", "?", "-", "na", "n/a", "null", "none"}
#: What the names of the columns of a table of judgements or scores hold.
_ROLES = {
    "qid": "qid|q_id|query|query[-_]?id|topic|topic[-_]?id",
    "docno": "docno|doc|document|doc[-_]?id|document[-_]?id|corpus[-_]?id",
    "value": "score|relevance|label|rel|grade",
}


# Words ------------------------------------------------------------------------------


def rewritten(path, change="text", encoding="utf-8"):
    """Return the lines that write a file of text anew.

    Parameters
    ----------
    path : Path
    change : str, default="text"
        Expression of the new text, from the old one, ``text``. Each of its lines ends
        by a newline.
    encoding : str, default="utf-8"
        Encoding of the old text; the new one is UTF-8.
    """
    lines = []
    opener = "open"
    if path.suffix in _PACKED:
        module = _PACKED[path.suffix]
        lines.append(f"import {module}")
        opener = f"{module}.open"
    lines += [
        f"name = {str(path)!r}",
        f'with {opener}(name, "rt", encoding="{encoding}") as file:',
        "    text = file.read()",
        f'with {opener}(name, "wt", encoding="utf-8") as file:',
        f"    file.write({change})",
    ]
    return "\n".join(lines)


def _place(given, **words):
    """Return the words of a line: the path, the number, the start of the line."""
    return {
        "path": given.path,
        "number": given.number,
        "form": given.form,
        "got": repr(given.line.decode(errors="replace").strip()[:60]),
        **words,
    }


def _number_of(text):
    """Return the number that a text of bytes is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


# Bytes of any file ------------------------------------------------------------------


def _finds_damage(given):
    if given.error is None:
        return None
    return {"path": given.path, "number": given.first, "why": given.error}


def _finds_utf_16(given):
    if given.first != 1 or given.block[:2] not in _UTF_16:
        return None
    return {"path": given.path, "code": rewritten(given.path, encoding="utf-16")}


def _finds_long_line(given):
    last_line = given.block[given.block[:-1].rfind(b"\n") + 1 :]
    if len(last_line) <= given.longest:
        return None
    number = given.first + given.block[:-1].count(b"\n")
    return {"path": given.path, "number": number, "size": given.longest >> 20}


def _finds_carriage_return(given):
    for number, line in enumerate(BytesIO(given.block), start=given.first):
        if b"\r" in line.rstrip(b"\r\n"):
            code = rewritten(given.path, encoding="utf-8-sig")
            return {"path": given.path, "number": number, "code": code}
    return None


#: Given path, first (number of the first line), block (bytes), longest; or error.
CHECKS_OF_BLOCKS = [
    Check(
        name="damaged file",
        finds=_finds_damage,
        sentence=(
            "{path}, line {number}: the file is damaged or cut short ({why}). Copy or "
            "download it again."
        ),
    ),
    Check(
        name="UTF-16",
        finds=_finds_utf_16,
        sentence=(
            "{path} is a file in UTF-16, as '>' of PowerShell writes it. Files are "
            "read in UTF-8."
        ),
        remedies={"": "{code}"},
    ),
    Check(
        name="long line",
        finds=_finds_long_line,
        sentence="{path}, line {number}: the line is longer than {size} MiB.",
    ),
    Check(
        name="carriage return",
        finds=_finds_carriage_return,
        sentence=(
            "{path}, line {number}: a carriage return (\\r) alone does not end a line. "
            "Lines end by \\n."
        ),
        remedies={"": "{code}"},
    ),
]


# Lines of TREC files ----------------------------------------------------------------


def _value_of_line(given):
    """Return the text of the value of a line of the right number of words, or None."""
    words = given.line.split()
    return words[given.place] if len(words) == len(given.form.split()) else None


def _finds_encoding(given):
    try:
        given.line.decode()
    except UnicodeDecodeError as error:
        code = rewritten(given.path, encoding="cp1252")
        return _place(given, why=error, code=code)
    return None


def _finds_header(given):
    value = _value_of_line(given)
    if given.number != 1 or value is None or re.search(rb"\d", given.line):
        return None
    if _number_of(value) is not None:
        return None
    code = rewritten(given.path, 'text.partition("\\n")[2]')
    return _place(given, code=code)


def _finds_table(given):
    """Find a table of query, document and value, with or without a header."""
    line = given.line.decode().strip()
    separator = next((one for one in ("\t", ",") if line.count(one) >= 2), r"\s+")
    cells = [cell.strip() for cell in re.split(separator, line)]
    roles = [
        role
        for cell in cells
        for role, names in _ROLES.items()
        if re.fullmatch(names, cell, re.IGNORECASE)
    ]
    header = None
    if given.number == 1 and sorted(roles) == sorted(_ROLES):
        header = 0
        if len(cells) != 3:
            return None
    elif len(cells) != 3 or _number_of(cells[2]) is None:
        return None
    else:
        roles = list(_ROLES)
    value = "score" if given.kind is float else "relevance"
    names = [value if role == "value" else role for role in roles]
    code = (
        f"name = {str(given.path)!r}\n"
        f"table = pandas.read_csv(name, sep={separator!r}, names={names}, "
        f"header={header},\n"
        "    dtype={'qid': str, 'docno': str}, keep_default_na=False, comment='#')\n"
        f"lowrank_rank.datasets.{_DUMPS[given.kind]}(table, name)"
    )
    return _place(given, names=", ".join(names), code=code)


_DUMPS = {float: "dump_run", int: "dump_qrels"}


def _finds_lack_of_tag(given):
    words = given.line.split()
    if given.kind is not float or len(words) != 5:
        return None
    if not words[3].isdigit() or _number_of(words[4]) is None:
        return None
    change = (
        '"\\n".join(line + " tag" * (len(line.split()) == 5)\n'
        '        for line in text.split("\\n"))'
    )
    return _place(given, code=rewritten(given.path, change))


def _finds_number_of_words(given):
    words = given.line.split()
    if len(words) == len(given.form.split()):
        return None
    return _place(given, n_words=len(words))


def _finds_whole_floats(given):
    value = _number_of(_value_of_line(given))
    if given.kind is float or value is None or not isfinite(value):
        return None
    if value != int(value) or abs(value) >= 2**53 or b"." not in given.line:
        return None
    code = (
        f"name = {str(given.path)!r}\n"
        "names = ['qid', 'iteration', 'docno', 'relevance']\n"
        "table = pandas.read_csv(name, sep=r'\\s+', names=names, comment='#',\n"
        "    dtype={'qid': str, 'docno': str}, keep_default_na=False)\n"
        "lowrank_rank.datasets.dump_qrels(table, name)"
    )
    return _place(given, value=_value_of_line(given).decode(), code=code)


def _finds_value(given):
    """Find a value that is not a finite number, or not an integer of 64 bits."""
    text = _value_of_line(given)
    words = {float: "a finite number", int: "an integer of 64 bits"}[given.kind]
    try:
        value = given.kind(text)
        is_valid = isfinite(value) if given.kind is float else abs(value) < 2**63
    except ValueError:
        is_valid = False
    if is_valid and b"_" not in text:  # Python reads 1_0 as 10
        return None
    return _place(given, value=text.decode(), words=words)


def _finds_document_twice(given):
    query, _, document = given.line.split()[:3]
    if document.decode() not in (given.documents or {}).get(query, {}):
        return None
    return _place(given, document=document.decode(), query=query.decode())


#: Given path, number, line (bytes), form, place (of the value), kind (of the value:
#: int or float) and documents (of each query, from the lines before).
CHECKS_OF_TREC_LINES = [
    Check(
        name="encoding of TREC lines",
        finds=_finds_encoding,
        sentence=(
            "{path}, line {number}: the text is not UTF-8 ({why}); expected {form!r}, "
            "got {got}."
        ),
        remedies={"If the file is in Windows-1252 or Latin-1, write": "{code}"},
    ),
    Check(
        name="table of three columns as TREC file",
        finds=_finds_table,
        sentence=(
            "{path}, line {number}: the file has three columns, not those of TREC; "
            "expected {form!r}, got {got}."
        ),
        remedies={"If the columns are {names}, write": "{code}"},
    ),
    Check(
        name="header of TREC file",
        finds=_finds_header,
        sentence=(
            "{path}, line {number}: the line has no number and looks like a header; "
            "expected {form!r}, got {got}."
        ),
        remedies={"To leave out this line, write": "{code}"},
    ),
    Check(
        name="run without tag",
        finds=_finds_lack_of_tag,
        sentence=(
            "{path}, line {number}: 5 words, the tag of the run is missing; expected "
            "{form!r}, got {got}."
        ),
        remedies={"": "{code}"},
    ),
    Check(
        name="number of words",
        finds=_finds_number_of_words,
        sentence=(
            "{path}, line {number}: {n_words} words; expected {form!r}, got {got}."
        ),
    ),
    Check(
        name="whole floats in qrels",
        finds=_finds_whole_floats,
        sentence=(
            "{path}, line {number}: the relevance {value!r} is written as a float, and "
            "must be an integer; expected {form!r}, got {got}."
        ),
        remedies={"If all of them are whole, write": "{code}"},
    ),
    Check(
        name="value of TREC line",
        finds=_finds_value,
        sentence=(
            "{path}, line {number}: {value!r} is not {words}; expected {form!r}, got "
            "{got}."
        ),
    ),
    Check(
        name="document twice in TREC file",
        finds=_finds_document_twice,
        sentence=(
            "{path}, line {number}: the document {document!r} of {query!r} occurs "
            "twice; expected {form!r}, got {got}."
        ),
    ),
]


# Lines of LETOR files ---------------------------------------------------------------

LETOR_FORM = "'grade qid:<int> <feature>:<value> ...'"


def _letor_place(given, **words):
    """Return the words of a line of a LETOR file."""
    return _place(given, expected=LETOR_FORM, **words)


def _features_of_line(given):
    """Return the words of the features of a line, without its comment."""
    return given.line.partition(b"#")[0].split()[2:]


def _finds_no_qid(given):
    words = given.line.split(None, 2)
    if len(words) > 1 and words[1].startswith(b"qid:") and b"#" not in words[0]:
        return None
    return _letor_place(given)


def _finds_underscore(given):
    if b"_" not in given.line.partition(b"#")[0]:
        return None
    entries = [word for word in given.line.split()[2:] if b"_" in word]
    if b"_" not in given.line.split()[0] and not entries:  # it is in the query id
        return None
    return _letor_place(given)


def _finds_text_id(given):
    _, word, *_ = given.line.split(None, 2)
    word = word.removeprefix(b"qid:").partition(b"#")[0]
    if re.fullmatch(rb"[+-]?[0-9]{1,20}", word) and -(2**63) <= int(word) < 2**64:
        return None
    change = (
        're.sub(r"(?m)^(\\s*\\S+\\s+qid:)(\\S+)",\n'
        "        lambda found: found[1] + str(ids.setdefault(found[2], len(ids))),\n"
        "        text)"
    )
    code = "import re\nids = {}\n" + rewritten(given.path, change)
    return _letor_place(given, qid=word.decode(errors="replace"), code=code)


def _finds_feature_0(given):
    features = _features_of_line(given)
    if given.zero_based or not features or not re.match(rb"0+:", features[0]):
        return None
    return _letor_place(given)


def _finds_entry(given):
    for feature in _features_of_line(given):
        if not re.fullmatch(rb"[+]?[0-9]+:[^:]*", feature):
            return _letor_place(given, entry=feature[:40].decode(errors="replace"))
    return None


def _finds_text_value(given):
    for feature in _features_of_line(given):
        value = feature.partition(b":")[2]
        if _number_of(value) is not None:
            continue
        text = value.decode(errors="replace")
        code = ""
        if text.lower() in _MISSING:
            change = f're.sub(r":{re.escape(text)}(?=\\s)", ":nan", text)'
            code = "import re\n" + rewritten(given.path, change)
        return _letor_place(
            given,
            entry=feature[:40].decode(errors="replace"),
            value=text[:40],
            code=code,
        )
    return None


def _finds_infinite_value(given):
    if given.error is not None:
        return None
    values = [feature.partition(b":")[2] for feature in _features_of_line(given)]
    values.append(given.line.split()[0])
    is_finite = not any(np.isinf(float(value)) for value in values)
    code = "dtype = numpy.float64" if is_finite else ""
    return _letor_place(given, dtype=given.dtype.name, code=code)


def _finds_error(given):
    return _letor_place(given, why=str(given.error).rstrip("."))


#: Given path, number, line (bytes), zero_based, dtype and error (of scikit-learn).
CHECKS_OF_LETOR_LINES = [
    Check(
        name="line without qid",
        finds=_finds_no_qid,
        sentence=(
            "{path}, line {number}: not readable, no qid after the grade, each line "
            "must name its query; expected {expected}, got {got}."
        ),
    ),
    Check(
        name="underscore in number",
        finds=_finds_underscore,
        sentence=(
            "{path}, line {number}: not readable, a number contains '_'; expected "
            "{expected}, got {got}."
        ),
    ),
    Check(
        name="qid of text in file",
        finds=_finds_text_id,
        sentence=(
            "{path}, line {number}: not readable, the qid {qid!r} is not an integer of "
            "64 bits; expected {expected}, got {got}."
        ),
        remedies={"To number the queries by their first line, write": "{code}"},
    ),
    Check(
        name="feature 0",
        finds=_finds_feature_0,
        sentence=(
            "{path}, line {number}: not readable, feature 0, but features count from "
            "1; expected {expected}, got {got}."
        ),
        remedies={"If the file counts from 0, write": "zero_based = True"},
    ),
    Check(
        name="entry of LETOR line",
        finds=_finds_entry,
        sentence=(
            "{path}, line {number}: not readable, {entry!r} is not "
            "'<feature>:<value>'; expected {expected}, got {got}."
        ),
    ),
    Check(
        name="text as value of feature",
        finds=_finds_text_value,
        sentence=(
            "{path}, line {number}: not readable, {entry!r} does not hold a number; "
            "expected {expected}, got {got}."
        ),
        remedies={"If {value!r} marks missing values, write": "{code}"},
    ),
    Check(
        name="infinite value in file",
        finds=_finds_infinite_value,
        sentence=(
            "{path}, line {number}: not readable, a value is infinite, or beyond "
            "{dtype}; expected {expected}, got {got}."
        ),
        remedies={"": "{code}"},
    ),
    Check(
        name="LETOR line",
        finds=_finds_error,
        sentence=(
            "{path}, line {number}: not readable, {why}; expected {expected}, got "
            "{got}."
        ),
    ),
]


def _finds_feature_beyond(given):
    if given.feature is None:
        return None
    return {
        "path": given.path,
        "number": given.number,
        "feature": given.feature,
        "n_features": given.n_features,
    }


def _finds_value_beyond(given):
    return {
        "path": given.path,
        "number": given.number,
        "value": given.value,
        "dtype": given.dtype.name,
    }


#: Given path, number, feature and n_features, or value and dtype.
CHECKS_OF_LETOR_ENTRIES = [
    Check(
        name="feature beyond n_features",
        finds=_finds_feature_beyond,
        sentence=(
            "{path}, line {number}: feature {feature}, but n_features={n_features}."
        ),
        remedies={"": "n_features = None"},
    ),
    Check(
        name="value beyond dtype",
        finds=_finds_value_beyond,
        sentence=(
            "{path}, line {number}: the value {value!r} is not of the type {dtype}."
        ),
        remedies={"": "dtype = numpy.float64"},
    ),
]


# Whole files ------------------------------------------------------------------------


def _finds_no_data(given):
    return {"path": given.path} if given.n_rows == 0 else None


def _finds_wide_ids(given):
    if given.ids is None:
        return None
    low = min(given.ids)
    high = max(given.ids)
    if low >= -(2**63) and high < 2**63:
        return None
    if low >= 0 and high < 2**64:
        return None
    code = "qid = [str(one) for one in qid]" if given.name == "qid" else ""
    return {"name": given.name or "The files", "low": low, "high": high, "code": code}


def _finds_folder(given):
    if given.target is None or not given.target.exists() or given.target.is_file():
        return None
    code = ""
    if given.target.is_dir():
        code = f"path = {str(given.path / 'data.txt')!r}"
    return {"path": given.path, "code": code}


#: Given path and n_rows (of what was read), or ids (extreme integers) with the name of
#: their argument, or path and target (the file that is written).
CHECKS_OF_FILES = [
    Check(
        name="file without data",
        finds=_finds_no_data,
        sentence="{path} contains no data.",
    ),
    Check(
        name="ids beyond 64 bits",
        finds=_finds_wide_ids,
        sentence=(
            "{name} hold ids from {low} to {high}: no integer type of 64 bits holds "
            "both."
        ),
        remedies={"To number the lists in the file, write": "{code}"},
    ),
    Check(
        name="folder in place of file",
        finds=_finds_folder,
        sentence="{path} exists and is not a file.",
        remedies={"To write a file into it, write": "{code}"},
    ),
]


def _finds_no_query_ids(given):
    return None if given.qid is not None else {}


def _finds_number_of_grades(given):
    y = given.y
    n_rows = given.X.shape[0]
    if y.shape == (n_rows,):
        return None
    is_column = y.shape == (n_rows, 1)
    code = "y = numpy.ravel(y)" if is_column else ""
    return {"n_rows": n_rows, "shape": y.shape, "code": code}


def _finds_infinite_sum(given):
    if given.X.dtype.kind != "f":
        return None
    if not hasattr(given.X, "nnz") or np.isfinite(given.X.data).all():
        return None
    return {}


def _finds_feature_of_32_bits(given):
    X = given.X
    if not hasattr(X, "nnz") or not X.nnz or X.indices.max() < 2**31 - 1:
        return None
    return {}


#: Given X (an array or a CSR matrix without duplicates), y (an array) and qid.
CHECKS_OF_WRITTEN_ROWS = [
    Check(
        name="no qid to write",
        finds=_finds_no_query_ids,
        sentence="dump_letor needs the query id of each row, qid.",
        remedies={
            "If all rows are one list, write": "qid = numpy.zeros(len(y), dtype=int)"
        },
    ),
    Check(
        name="number of grades to write",
        finds=_finds_number_of_grades,
        sentence=(
            "y must hold one grade for each of the {n_rows} rows of X, got shape "
            "{shape}."
        ),
        remedies={"": "{code}"},
    ),
    Check(
        name="infinite sum of duplicates",
        finds=_finds_infinite_sum,
        sentence="X is infinite after its duplicate entries are added up.",
    ),
    Check(
        name="feature beyond 32 bits",
        finds=_finds_feature_of_32_bits,
        sentence=("X has entries beyond feature 2147483647, the largest in a file."),
    ),
]


# PrefLib's files --------------------------------------------------------------------

PREFLIB_TYPES = ("soc", "soi", "toc", "toi")
#: Number of an alternative or of voters.
PREFLIB_NUMBER = "[0-9]{1,15}"


def _is_count(text):
    """Whether text is a whole number >= 1."""
    return bool(re.fullmatch(PREFLIB_NUMBER, text.strip())) and int(text) > 0


def _renamed(path, ending):
    """Return the lines that give a file of votes another ending."""
    return (
        "import pathlib\n"
        f"path = pathlib.Path(path).rename({str(path.with_suffix(f'.{ending}'))!r})"
    )


def _finds_type(given):
    ending = given.path.suffix.lower().removeprefix(".")
    if ending in PREFLIB_TYPES:
        return None
    return {"path": given.path, "ending": given.path.suffix or "this"}


def _finds_empty(given):
    return {"path": given.path} if given.lines == [] else None


def _finds_no_orders(given):
    return {"path": given.path} if given.orders == [] else None


def _finds_number_of_voters(given):
    for number, n_voters in given.voters or []:
        if n_voters != sum(given.counts):
            return {
                "path": given.path,
                "number": number,
                "n_voters": n_voters,
                "total": sum(given.counts),
            }
    return None


#: Given path, and lines (not blank), orders (lines with voters), or voters and counts.
CHECKS_OF_PREFLIB = [
    Check(
        name="type of votes",
        finds=_finds_type,
        sentence=(
            "{path}: load_preflib does not read {ending!r}, only .soc and .soi (strict "
            "orders), .toc and .toi (orders with ties), complete and incomplete."
        ),
    ),
    Check(name="empty votes", finds=_finds_empty, sentence="{path} is empty."),
    Check(
        name="votes without orders",
        finds=_finds_no_orders,
        sentence="{path} contains no orders, only a header.",
    ),
    Check(
        name="number of voters",
        finds=_finds_number_of_voters,
        sentence=(
            "{path}, line {number}: {n_voters} voters, but the orders add up to "
            "{total}."
        ),
    ),
]


def _finds_key_twice(given):
    for number, key, first in given.repeated or []:
        return {"path": given.path, "number": number, "key": key, "first": first}
    return None


def _finds_no_number_of_items(given):
    if given.values is None or "NUMBER ALTERNATIVES" in given.values:
        return None
    return {"path": given.path}


def _finds_count(given):
    for number, what, text in given.counts:
        if not _is_count(text):
            return {
                "path": given.path,
                "number": number,
                "what": what,
                "text": text.strip(),
            }
    return None


def _finds_number_of_names(given):
    if given.values is None:
        return None
    number, text = given.values["NUMBER ALTERNATIVES"]
    if int(text) == len(given.names):
        return None
    return {
        "path": given.path,
        "number": number,
        "n_items": int(text),
        "n_names": len(given.names),
    }


def _finds_other_type(given):
    number, text = (given.values or {}).get("DATA TYPE", (0, ""))
    ending = given.path.suffix.lower().removeprefix(".")
    if not text or text.lower() == ending:
        return None
    code = ""
    if text.lower() in PREFLIB_TYPES:
        code = _renamed(given.path, text.lower())
    return {
        "path": given.path,
        "number": number,
        "type": text,
        "ending": ending,
        "code": code,
    }


def _finds_line_of_name(given):
    known = set()
    for i, (number, line) in enumerate(given.lines_of_names or [], start=1):
        item, comma, _ = line.partition(",")
        is_number = bool(re.fullmatch(PREFLIB_NUMBER, item.strip()))
        if not comma or not is_number or int(item) in known:
            return {
                "path": given.path,
                "number": number,
                "i": i,
                "n_items": given.n_items,
                "got": line.strip(),
            }
        known.add(int(item))
    return None


_FORM_OF_TOTALS = "'voters,sum of counts,different orders'"


def _finds_end_of_header(given):
    if given.n_items is None or given.totals is not None:
        return None
    return {
        "path": given.path,
        "number": given.number,
        "n_items": given.n_items,
        "form": _FORM_OF_TOTALS,
    }


def _finds_totals(given):
    if given.totals is None or len(given.totals.split(",")) == 3:
        return None
    return {
        "path": given.path,
        "number": given.number,
        "form": _FORM_OF_TOTALS,
        "got": given.totals.strip(),
    }


#: Given path, counts (number of a line, what it counts, text), and of a file with keys
#: values (of each key, with the number of its line), repeated (keys) and names; of the
#: older format lines_of_names, n_items and totals (the line after the names).
CHECKS_OF_PREFLIB_HEADER = [
    Check(
        name="key twice in header",
        finds=_finds_key_twice,
        sentence=(
            "{path}, line {number}: {key} is given twice, first in line {first}."
        ),
    ),
    Check(
        name="no number of alternatives",
        finds=_finds_no_number_of_items,
        sentence=("{path} has no line '# NUMBER ALTERNATIVES: m' in its header."),
    ),
    Check(
        name="line of alternative",
        finds=_finds_line_of_name,
        sentence=(
            "{path}, line {number}: expected '{i},name', alternative {i} of {n_items}, "
            "got {got!r}."
        ),
    ),
    Check(
        name="end of header",
        finds=_finds_end_of_header,
        sentence=(
            "{path}, line {number}: the file ends before {n_items} names 'i,name' and "
            "the line {form}."
        ),
    ),
    Check(
        name="totals of older header",
        finds=_finds_totals,
        sentence="{path}, line {number}: expected {form}, got {got!r}.",
    ),
    Check(
        name="count in header",
        finds=_finds_count,
        sentence=(
            "{path}, line {number}: {what} must be a whole number >= 1, got {text!r}."
        ),
    ),
    Check(
        name="number of names",
        finds=_finds_number_of_names,
        sentence=(
            "{path}, line {number}: {n_items} alternatives, but the header names "
            "{n_names} by lines '# ALTERNATIVE NAME i: name'."
        ),
    ),
    Check(
        name="type in header of votes",
        finds=_finds_other_type,
        sentence=(
            "{path}, line {number}: the header says DATA TYPE {type}, the name of the "
            "file .{ending}."
        ),
        remedies={"If the header is right, write": "{code}"},
    ),
]


def _finds_form_of_order(given):
    if given.order is not None:
        return None
    return _place(given, separator=given.separator)


def _finds_unknown_item(given):
    for tied in given.order:
        for item in tied:
            if item not in given.alternatives:
                return {"path": given.path, "number": given.number, "item": item}
    return None


def _finds_item_twice(given):
    items = [item for tied in given.order for item in tied]
    for place, item in enumerate(items):
        if item in items[:place]:
            return {"path": given.path, "number": given.number, "item": item}
    return None


def _ending_for(given, letter, place):
    """Return words with the ending that allows an order, and the code that gives it."""
    ending = given.data_type
    other = ending[:place] + letter + ending[place + 1 :]
    code = "" if given.has_type else _renamed(given.path, other)
    return {
        "path": given.path,
        "number": given.number,
        "ending": ending,
        "other": other,
        "code": code,
    }


def _finds_tie(given):
    if given.data_type[0] == "t" or all(len(tied) == 1 for tied in given.order):
        return None
    return _ending_for(given, "t", 0)


def _finds_incomplete_order(given):
    n_ranked = sum(map(len, given.order))
    n_items = len(given.alternatives)
    if given.data_type[2] == "i" or n_ranked == n_items:
        return None
    return {**_ending_for(given, "i", 2), "n_ranked": n_ranked, "n_items": n_items}


#: Given path, number, line (bytes), separator, order (a list of lists of tied
#: alternatives, None if the line has another form), alternatives, data_type, and
#: has_type (whether the header says a type).
CHECKS_OF_PREFLIB_ORDERS = [
    Check(
        name="form of order",
        finds=_finds_form_of_order,
        sentence=(
            "{path}, line {number}: expected 'count{separator} 3,1,{{2,4}}' with ties "
            "in braces, got {got}."
        ),
    ),
    Check(
        name="unknown alternative",
        finds=_finds_unknown_item,
        sentence=(
            "{path}, line {number}: alternative {item}, which the header does not name."
        ),
    ),
    Check(
        name="alternative twice",
        finds=_finds_item_twice,
        sentence=(
            "{path}, line {number}: alternative {item} is named twice in one order."
        ),
    ),
    Check(
        name="tie in strict orders",
        finds=_finds_tie,
        sentence=(
            "{path}, line {number}: a tie in a .{ending}: orders with ties belong in a "
            ".{other}."
        ),
        remedies={"If the orders are right, write": "{code}"},
    ),
    Check(
        name="incomplete order",
        finds=_finds_incomplete_order,
        sentence=(
            "{path}, line {number}: the order ranks {n_ranked} of {n_items} "
            "alternatives in a .{ending}: incomplete orders belong in a .{other}."
        ),
        remedies={"If the orders are right, write": "{code}"},
    ),
]
