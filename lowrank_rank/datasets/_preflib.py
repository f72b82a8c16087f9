"""PrefLib's files of votes: each line is an order of the alternatives and its number of voters."""

import re
from contextlib import suppress
from typing import Any

import numpy as np

from .._arrays import check_size
from .._typing import Bunch
from ._files import read_path, refuse_line
from ._orders import tied_grades

_LINE_END = re.compile(
    r"\r\n?|\n"
)  # str.splitlines would cut names at other characters
_ITEM = "[0-9]{1,15}"
_BLOCK = rf"(?:{_ITEM}|\{{\s*{_ITEM}(?:\s*,\s*{_ITEM})*\s*\}})"
_ORDER = rf"{_BLOCK}(?:\s*,\s*{_BLOCK})*"
_WITHOUT_VOTERS = re.compile(r"\s*0+\s*[:,]")


def load_preflib(path: Any) -> Bunch:
    """Read votes in PrefLib's formats .soc, .soi, .toc and .toi.

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
    >>> header = "# NUMBER ALTERNATIVES: 3\\n" + "".join(
    ...     f"# ALTERNATIVE NAME {i}: {name}\\n" for i, name in enumerate("abc", start=1)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.toc"
    ...     _ = path.write_text(header + "5: 2,1,3\\n2: {1,3},2\\n")
    ...     votes = load_preflib(path)
    >>> votes.target.tolist(), votes.counts.tolist()
    ([[1.0, 2.0, 0.0], [1.5, 0.0, 1.5]], [5, 2])
    """
    path = read_path(path)
    data_type = path.suffix.lower().removeprefix(".")
    if data_type not in ("soc", "soi", "toc", "toi"):
        raise ValueError(
            f"{path}: load_preflib does not read {path.suffix or 'this'!r}, only .soc and .soi "
            "(strict orders), .toc and .toi (orders with ties), complete and incomplete."
        )
    content = path.read_bytes()
    text = content.decode("latin-1")  # reads all bytes
    for encoding in ("cp1252", "utf-8-sig"):  # some older files have names in cp1252
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
    lines = [
        (i, line)
        for i, line in enumerate(_LINE_END.split(text), start=1)
        if line.strip()
    ]
    if not lines:
        raise ValueError(f"{path} is empty.")
    current = lines[0][1].lstrip().startswith("#")
    numbered, title, voters, lines = (
        _read_header(path, lines, data_type)
        if current
        else _read_older_header(path, lines)
    )
    names = [name for _, name in sorted(numbered.items())]
    place = {number: i for i, number in enumerate(sorted(numbered))}
    lines = [(line, text) for line, text in lines if not _WITHOUT_VOTERS.match(text)]
    if not lines:
        raise ValueError(f"{path} contains no orders, only a header.")
    check_size(
        f"The grades of {path}", 8 * len(lines) * len(names), "read fewer orders"
    )
    counts, orders = _read_orders(path, lines, current, place, data_type)
    lengths = [sum(map(len, blocks)) for blocks in orders]
    sizes = [len(block) for blocks in orders for block in blocks]
    items = [item for blocks in orders for block in blocks for item in block]
    for line, number in voters:
        if number != sum(counts):
            refuse_line(
                path, line, f"{number} voters, but the orders add up to {sum(counts)}"
            )
    target = tied_grades(
        np.array(lengths), np.array(sizes), np.array(items), len(names)
    )
    found = {"counts": np.array(counts, dtype=np.int64), "item_names": np.array(names)}
    return Bunch(target=target, **found, title=title, data_type=data_type)


# Headers ----------------------------------------------------------------------------


def _read_integer(path, line, text, what):
    """An integer >= 1 of the header."""
    if not re.fullmatch(_ITEM, text.strip()) or int(text) == 0:
        refuse_line(
            path, line, f"{what} must be a whole number >= 1, got {text.strip()!r}"
        )
    return int(text)


def _read_header(path, lines, data_type):
    """Names by number, title, stated numbers of voters and other lines of '# KEY: value'."""
    values: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        key, colon, value = text.strip().lstrip("#").partition(":")
        key = key.strip().upper()
        if text.lstrip()[0] != "#" or not colon:
            continue
        if key in values and key.startswith(
            ("ALTERNATIVE NAME ", "NUMBER ", "DATA TYPE")
        ):
            refuse_line(
                path, line, f"{key} is given twice, first in line {values[key][0]}"
            )
        values[key] = (line, value.strip())
    if "NUMBER ALTERNATIVES" not in values:
        raise ValueError(
            f"{path} has no line '# NUMBER ALTERNATIVES: m' in its header."
        )
    line, text = values["NUMBER ALTERNATIVES"]
    n_items = _read_integer(path, line, text, "NUMBER ALTERNATIVES")
    keys = [key.removeprefix("ALTERNATIVE NAME ") for key in values]
    names = {
        int(i): values[f"ALTERNATIVE NAME {i}"][1]
        for i in keys
        if re.fullmatch(_ITEM, i)
    }
    if len(names) != n_items:
        message = f"{n_items} alternatives, but the header names {len(names)}"
        refuse_line(path, line, f"{message} by lines '# ALTERNATIVE NAME i: name'")
    line, text = values.get("DATA TYPE", (0, ""))
    if text and text.lower() != data_type:
        message = f"the header says DATA TYPE {text}, the name of the file .{data_type}"
        refuse_line(path, line, message)
    voters = []
    if "NUMBER VOTERS" in values:
        line, text = values["NUMBER VOTERS"]
        voters.append((line, _read_integer(path, line, text, "NUMBER VOTERS")))
    rest = [(line, text) for line, text in lines if text.lstrip()[0] != "#"]
    return names, values.get("TITLE", (0, ""))[1], voters, rest


def _read_older_header(path, lines):
    """The values of `_read_header` from the lines 'm', m lines 'i,name' and three numbers."""
    line, text = lines[0]
    n_items = _read_integer(path, line, text, "the number of alternatives")
    names: dict[int, str] = {}
    for line, text in lines[1 : n_items + 1]:
        number, comma, name = text.partition(",")
        if not comma or not re.fullmatch(_ITEM, number.strip()) or int(number) in names:
            i = len(names) + 1
            message = f"expected '{i},name', alternative {i} of {n_items}, got {text.strip()!r}"
            refuse_line(path, line, message)
        names[int(number)] = name.strip()
    form = "'voters,sum of counts,different orders'"
    if len(lines) < n_items + 2:
        message = f"the file ends before {n_items} names 'i,name' and the line {form}"
        refuse_line(path, lines[-1][0], message)
    line, text = lines[n_items + 1]
    numbers = text.split(",")
    if len(numbers) != 3:
        refuse_line(path, line, f"expected {form}, got {text.strip()!r}")
    voters = [
        (line, _read_integer(path, line, number, "the number of voters"))
        for number in numbers[:2]
    ]
    return names, "", voters, lines[n_items + 2 :]


# Orders -----------------------------------------------------------------------------


def _read_orders(path, lines, current, place, data_type):
    """Count of each order, and its blocks of tied alternatives, best first."""
    separator = ":" if current else ","
    form = re.compile(rf"\s*({_ITEM})\s*{separator}\s*({_ORDER})\s*$")
    counts, orders = [], []
    for line, text in lines:
        match = form.match(text)
        if not match:
            message = f"expected 'count{separator} 3,1,{{2,4}}' with ties in braces"
            refuse_line(path, line, f"{message}, got {text.strip()[:60]!r}")
        blocks = [
            [int(item) for item in (tied or single).split(",")]
            for tied, single in re.findall(r"\{([^}]*)\}|([0-9]+)", match[2])
        ]
        if message := _fault(blocks, place, data_type):
            refuse_line(path, line, message)
        counts.append(int(match[1]))
        orders.append([[place[item] for item in block] for block in blocks])
    return counts, orders


def _fault(blocks, place, data_type):
    """Why an order does not fit its file, or None."""
    order = [item for block in blocks for item in block]
    seen: set[int] = set()
    for item in order:
        if item not in place:
            return f"alternative {item}, which the header does not name"
        if item in seen:
            return f"alternative {item} is named twice in one order"
        seen.add(item)
    if data_type[0] == "s" and len(blocks) < len(order):
        return (
            f"a tie in a .{data_type}: orders with ties belong in a .t{data_type[1:]}"
        )
    if data_type[2] == "c" and len(order) < len(place):
        found = f"the order ranks {len(order)} of {len(place)} alternatives in a .{data_type}"
        return f"{found}: incomplete orders belong in a .{data_type[:2]}i"
    return None
