"""PrefLib's files of votes: lines of an order and its number of voters."""

import re
from contextlib import suppress
from typing import Any

import numpy as np

from .._typing import Bunch
from ..validation._arrays import check_size
from ..validation._check import refuse
from ..validation._checks_of_files import (
    CHECKS_OF_BLOCKS,
    CHECKS_OF_PREFLIB,
    CHECKS_OF_PREFLIB_HEADER,
    CHECKS_OF_PREFLIB_ORDERS,
    PREFLIB_NUMBER,
)
from ..validation._paths import BYTE_ORDER_MARKS_OF_UTF_16, read_path
from ._orders import tied_grades

# str.splitlines would cut names at other characters
_LINE_END = re.compile(r"\r\n?|\n")
_TIED_SET = rf"\{{\s*{PREFLIB_NUMBER}(?:\s*,\s*{PREFLIB_NUMBER})*\s*\}}"
_BLOCK = rf"(?:{PREFLIB_NUMBER}|{_TIED_SET})"
_ORDER = rf"{_BLOCK}(?:\s*,\s*{_BLOCK})*"
_WITHOUT_VOTERS = re.compile(r"\s*0+\s*[:,]")


def load_preflib(path: Any) -> Bunch:
    r"""Read votes in PrefLib's formats .soc, .soi, .toc and .toi.

    Each line is ``count: 3,1,{2,4}``, the number of voters and their order, best first,
    ties in braces. Lines with the count 0 are skipped. Files of the older format,
    without '#' before the lines of the header, are read as well. Alternatives may have
    any numbers; columns are in the order of these numbers. An order of m' alternatives
    becomes grades,

    ``grade(i) = m' - rank(i)``.

    Tied alternatives share their mean rank. A strict and complete order of r
    alternatives gives r-1, ..., 0.

    Parameters
    ----------
    path : str or Path
        The file, with an ending by type: s or t for strict orders or ties, c or i for
        complete or incomplete orders.

    Returns
    -------
    data : Bunch
        ``target`` (n_orders, m) has grades, higher is better, and NaN for alternatives
        without rank. ``counts`` (n_orders,) has the numbers of voters, to be used as
        sample_weight, and ``item_names`` (m,) the names. ``title`` is "" in the older
        format; ``data_type`` is the ending.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file has another type or no orders, or a line cannot be read or does not
        fit the header or the type. The message names the line.

    References
    ----------
    .. [1] N. Mattei, T. Walsh, "PrefLib: A Library for Preferences", ADT 2013,
       https://www.preflib.org.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.votes import load_preflib
    >>> header = "# NUMBER ALTERNATIVES: 3\n" + "".join(
    ...     f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in enumerate("abc", start=1)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.toc"
    ...     _ = path.write_text(header + "5: 2,1,3\n2: {1,3},2\n")
    ...     votes = load_preflib(path)
    >>> votes.target.tolist(), votes.counts.tolist()
    ([[1.0, 2.0, 0.0], [1.5, 0.0, 1.5]], [5, 2])
    """
    path = read_path(path)
    data_type = path.suffix.lower().removeprefix(".")
    refuse(CHECKS_OF_PREFLIB, path=path)
    lines = [
        (number, line)
        for number, line in enumerate(_LINE_END.split(_read_text(path)), start=1)
        if line.strip()
    ]
    refuse(CHECKS_OF_PREFLIB, path=path, lines=lines)
    _, first_line = lines[0]
    has_older_format = not first_line.lstrip().startswith("#")
    if has_older_format:
        title = ""
        has_type = False
        names, voters, lines = _read_older_header(path, lines)
    else:
        names, title, has_type, voters, lines = _read_header(path, lines)
    lines = [
        (number, line) for number, line in lines if not _WITHOUT_VOTERS.match(line)
    ]
    refuse(CHECKS_OF_PREFLIB, path=path, orders=lines)
    check_size(
        f"The grades of {path}", 8 * len(lines) * len(names), "read fewer orders"
    )
    alternatives = sorted(names)
    separator = "," if has_older_format else ":"
    counts, orders = _read_orders(
        path, lines, separator, alternatives, data_type, has_type
    )
    refuse(CHECKS_OF_PREFLIB, path=path, voters=voters, counts=counts)
    return Bunch(
        target=_grades(orders, alternatives),
        counts=np.array(counts, dtype=np.int64),
        item_names=np.array([names[alternative] for alternative in alternatives]),
        title=title,
        data_type=data_type,
    )


def _read_text(path):
    """Decode a file as UTF-8, or as cp1252 like some older files, or as Latin-1."""
    content = path.read_bytes()
    if content.startswith(BYTE_ORDER_MARKS_OF_UTF_16):
        refuse(
            CHECKS_OF_BLOCKS, path=path, first=1, block=content, longest=len(content)
        )
    for encoding in ("utf-8-sig", "cp1252"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    return content.decode("latin-1")  # has a character for each byte


def _grades(orders, alternatives):
    """Convert orders, lists of sets of tied alternatives, to grades."""
    column = {alternative: j for j, alternative in enumerate(alternatives)}
    tied_sets = [tied for order in orders for tied in order]
    return tied_grades(
        lengths=np.array([sum(map(len, order)) for order in orders]),
        sizes=np.array([len(tied) for tied in tied_sets]),
        item=np.array([column[item] for tied in tied_sets for item in tied]),
        n_items=len(alternatives),
    )


# Headers ----------------------------------------------------------------------------


def _read_header(path, lines):
    """Read lines '# KEY: value'.

    Returns
    -------
    names : dict of int to str
        Name of each alternative.
    title : str
    has_type : bool
        Whether the header says the type of the orders.
    voters : list of (int, int)
        Number of a line and the number of voters that it states.
    orders : list of (int, str)
        The other lines.
    """
    values, repeated = _read_keys(lines)
    names = {}
    for key, (_, value) in values.items():
        match = re.fullmatch(rf"ALTERNATIVE NAME ({PREFLIB_NUMBER})", key)
        if match:
            names[int(match[1])] = value
    counts = [
        (number, key, text)
        for key, (number, text) in values.items()
        if key in ("NUMBER ALTERNATIVES", "NUMBER VOTERS")
    ]
    refuse(
        CHECKS_OF_PREFLIB_HEADER,
        path=path,
        values=values,
        repeated=repeated,
        counts=counts,
        names=names,
    )
    voters = [
        (number, int(text)) for number, key, text in counts if key == "NUMBER VOTERS"
    ]
    _, title = values.get("TITLE", (0, ""))
    _, data_type = values.get("DATA TYPE", (0, ""))
    orders = [(number, line) for number, line in lines if line.lstrip()[0] != "#"]
    return names, title, bool(data_type), voters, orders


def _read_keys(lines):
    """Read lines '# KEY: value'.

    Returns
    -------
    values : dict of str to (int, str)
        The line number and the value of each key.
    repeated : list of (int, str, int)
        The line number of a key that is given twice, the key, and its first line.
    """
    values: dict[str, tuple[int, str]] = {}
    repeated = []
    unique_keys = ("ALTERNATIVE NAME ", "NUMBER ", "DATA TYPE")
    for number, line in lines:
        key, colon, value = line.strip().lstrip("#").partition(":")
        if line.lstrip()[0] != "#" or not colon:
            continue
        key = key.strip().upper()
        if key in values and key.startswith(unique_keys):
            first, _ = values[key]
            repeated.append((number, key, first))
        values[key] = (number, value.strip())
    return values, repeated


def _read_older_header(path, lines):
    """Read the lines 'm', m lines 'i,name' and a line of three numbers.

    Returns
    -------
    names, voters, orders
        As in `_read_header`; there is no title.
    """
    number, line = lines[0]
    n_items = (number, "the number of alternatives", line)
    refuse(CHECKS_OF_PREFLIB_HEADER, path=path, counts=[n_items])
    end = int(line) + 1
    last, totals = (lines[end:] or [(lines[-1][0], None)])[0]
    counts = []
    if totals is not None:
        counts = [
            (last, "the number of voters", text) for text in totals.split(",")[:2]
        ]
    refuse(
        CHECKS_OF_PREFLIB_HEADER,
        path=path,
        lines_of_names=lines[1:end],
        n_items=int(line),
        number=last,
        totals=totals,
        counts=counts,
    )
    names = {}
    for _, line in lines[1:end]:
        item, _, name = line.partition(",")
        names[int(item)] = name.strip()
    voters = [(number, int(text)) for number, _, text in counts]
    return names, voters, lines[end + 1 :]


# Orders -----------------------------------------------------------------------------


def _read_orders(path, lines, separator, alternatives, data_type, has_type):
    """Read lines 'count: order'; an order is a list of sets of ties, best first."""
    form = re.compile(rf"\s*({PREFLIB_NUMBER})\s*{separator}\s*({_ORDER})\s*$")
    known = set(alternatives)
    counts = []
    orders = []
    for number, line in lines:
        match = form.match(line)
        order: Any = None
        count = 0
        if match:
            count = int(match[1])
            order = [
                [int(item) for item in (tied or single).split(",")]
                for tied, single in re.findall(r"\{([^}]*)\}|([0-9]+)", match[2])
            ]
        if order is None or not _fits(order, known, data_type):
            refuse(
                CHECKS_OF_PREFLIB_ORDERS,
                path=path,
                number=number,
                line=line.encode(),
                separator=separator,
                order=order,
                alternatives=known,
                data_type=data_type,
                has_type=has_type,
            )
        counts.append(count)
        orders.append(order)
    return counts, orders


def _fits(order, alternatives, data_type):
    """Whether an order names known alternatives once, and fits the type of its file."""
    items = [item for tied in order for item in tied]
    is_known = alternatives.issuperset(items) and len(set(items)) == len(items)
    is_strict = data_type[0] == "t" or len(order) == len(items)
    is_complete = data_type[2] == "i" or len(items) == len(alternatives)
    return is_known and is_strict and is_complete
