"""PrefLib's files of votes: lines of an order and its number of voters."""

import re
from contextlib import suppress
from typing import Any

import numpy as np

from .._typing import Bunch
from ..validation._arrays import check_size
from ._files import read_path, refuse_line
from ._orders import tied_grades

# str.splitlines would cut names at other characters
_LINE_END = re.compile(r"\r\n?|\n")
_ITEM = "[0-9]{1,15}"
_BLOCK = rf"(?:{_ITEM}|\{{\s*{_ITEM}(?:\s*,\s*{_ITEM})*\s*\}})"
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
    >>> from lowrank_rank.datasets import load_preflib
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
    if data_type not in ("soc", "soi", "toc", "toi"):
        raise ValueError(
            f"{path}: load_preflib does not read {path.suffix or 'this'!r}, only .soc "
            "and .soi (strict orders), .toc and .toi (orders with ties), complete and "
            "incomplete."
        )
    lines = [
        (number, line)
        for number, line in enumerate(_LINE_END.split(_read_text(path)), start=1)
        if line.strip()
    ]
    if not lines:
        raise ValueError(f"{path} is empty.")
    _, first_line = lines[0]
    has_older_format = not first_line.lstrip().startswith("#")
    if has_older_format:
        title = ""
        names, voters, lines = _read_older_header(path, lines)
    else:
        names, title, voters, lines = _read_header(path, lines, data_type)
    lines = [
        (number, line) for number, line in lines if not _WITHOUT_VOTERS.match(line)
    ]
    if not lines:
        raise ValueError(f"{path} contains no orders, only a header.")
    check_size(
        f"The grades of {path}", 8 * len(lines) * len(names), "read fewer orders"
    )
    alternatives = sorted(names)
    separator = "," if has_older_format else ":"
    counts, orders = _read_orders(path, lines, separator, alternatives, data_type)
    for number, n_voters in voters:
        if n_voters != sum(counts):
            refuse_line(
                path,
                number,
                f"{n_voters} voters, but the orders add up to {sum(counts)}",
            )
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


def _read_integer(path, line, text, what):
    """Read an integer >= 1 of the header."""
    if not re.fullmatch(_ITEM, text.strip()) or int(text) == 0:
        refuse_line(
            path, line, f"{what} must be a whole number >= 1, got {text.strip()!r}"
        )
    return int(text)


def _read_header(path, lines, data_type):
    """Read lines '# KEY: value'.

    Returns
    -------
    names : dict of int to str
        Name of each alternative.
    title : str
    voters : list of (int, int)
        Number of a line and the number of voters that it states.
    orders : list of (int, str)
        The other lines.
    """
    values = _read_keys(path, lines)
    if "NUMBER ALTERNATIVES" not in values:
        raise ValueError(
            f"{path} has no line '# NUMBER ALTERNATIVES: m' in its header."
        )
    number, text = values["NUMBER ALTERNATIVES"]
    n_items = _read_integer(path, number, text, "NUMBER ALTERNATIVES")
    names = {}
    for key, (_, value) in values.items():
        match = re.fullmatch(rf"ALTERNATIVE NAME ({_ITEM})", key)
        if match:
            names[int(match[1])] = value
    if len(names) != n_items:
        message = f"{n_items} alternatives, but the header names {len(names)}"
        refuse_line(path, number, f"{message} by lines '# ALTERNATIVE NAME i: name'")
    number, text = values.get("DATA TYPE", (0, ""))
    if text and text.lower() != data_type:
        message = f"the header says DATA TYPE {text}, the name of the file .{data_type}"
        refuse_line(path, number, message)
    voters = []
    if "NUMBER VOTERS" in values:
        number, text = values["NUMBER VOTERS"]
        voters.append((number, _read_integer(path, number, text, "NUMBER VOTERS")))
    _, title = values.get("TITLE", (0, ""))
    orders = [(number, line) for number, line in lines if line.lstrip()[0] != "#"]
    return names, title, voters, orders


def _read_keys(path, lines):
    """Return the line number and the value of each key of lines '# KEY: value'."""
    values: dict[str, tuple[int, str]] = {}
    unique_keys = ("ALTERNATIVE NAME ", "NUMBER ", "DATA TYPE")
    for number, line in lines:
        key, colon, value = line.strip().lstrip("#").partition(":")
        if line.lstrip()[0] != "#" or not colon:
            continue
        key = key.strip().upper()
        if key in values and key.startswith(unique_keys):
            first, _ = values[key]
            refuse_line(path, number, f"{key} is given twice, first in line {first}")
        values[key] = (number, value.strip())
    return values


def _read_older_header(path, lines):
    """Read the lines 'm', m lines 'i,name' and a line of three numbers.

    Returns
    -------
    names, voters, orders
        As in `_read_header`; there is no title.
    """
    number, line = lines[0]
    n_items = _read_integer(path, number, line, "the number of alternatives")
    names: dict[int, str] = {}
    for number, line in lines[1 : n_items + 1]:
        item, comma, name = line.partition(",")
        if not comma or not re.fullmatch(_ITEM, item.strip()) or int(item) in names:
            i = len(names) + 1
            refuse_line(
                path,
                number,
                f"expected '{i},name', alternative {i} of {n_items}, got "
                f"{line.strip()!r}",
            )
        names[int(item)] = name.strip()
    form = "'voters,sum of counts,different orders'"
    if len(lines) < n_items + 2:
        number, _ = lines[-1]
        message = f"the file ends before {n_items} names 'i,name' and the line {form}"
        refuse_line(path, number, message)
    number, line = lines[n_items + 1]
    numbers = line.split(",")
    if len(numbers) != 3:
        refuse_line(path, number, f"expected {form}, got {line.strip()!r}")
    voters = [
        (number, _read_integer(path, number, text, "the number of voters"))
        for text in numbers[:2]
    ]
    return names, voters, lines[n_items + 2 :]


# Orders -----------------------------------------------------------------------------


def _read_orders(path, lines, separator, alternatives, data_type):
    """Read lines 'count: order'; an order is a list of sets of ties, best first."""
    form = re.compile(rf"\s*({_ITEM})\s*{separator}\s*({_ORDER})\s*$")
    known = set(alternatives)
    counts = []
    orders = []
    for number, line in lines:
        match = form.match(line)
        if not match:
            message = f"expected 'count{separator} 3,1,{{2,4}}' with ties in braces"
            refuse_line(path, number, f"{message}, got {line.strip()[:60]!r}")
        order = []
        for tied, single in re.findall(r"\{([^}]*)\}|([0-9]+)", match[2]):
            order.append([int(item) for item in (tied or single).split(",")])
        fault = _fault(order, known, data_type)
        if fault:
            refuse_line(path, number, fault)
        counts.append(int(match[1]))
        orders.append(order)
    return counts, orders


def _fault(order, alternatives, data_type):
    """Say why an order does not fit its file; None if it does."""
    items = [item for tied in order for item in tied]
    earlier: set[int] = set()
    for item in items:
        if item not in alternatives:
            return f"alternative {item}, which the header does not name"
        if item in earlier:
            return f"alternative {item} is named twice in one order"
        earlier.add(item)
    if data_type[0] == "s" and len(order) < len(items):
        return (
            f"a tie in a .{data_type}: orders with ties belong in a .t{data_type[1:]}"
        )
    if data_type[2] == "c" and len(items) < len(alternatives):
        return (
            f"the order ranks {len(items)} of {len(alternatives)} alternatives in a "
            f".{data_type}: incomplete orders belong in a .{data_type[:2]}i"
        )
    return None
