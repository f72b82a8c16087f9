"""PrefLib's files of votes: each line an order of the alternatives and who gave it."""

import re
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._arrays import check_size
from ._files import read_path
from ._orders import tied_grades

READS = {
    "soc": "strict orders, complete",
    "soi": "strict orders, incomplete",
    "toc": "orders with ties, complete",
    "toi": "orders with ties, incomplete",
}
_LINE_END = re.compile(r"\r\n?|\n")  # str.splitlines would cut names at some other characters
_ITEM = "[0-9]{1,15}"
_BLOCK = rf"(?:{_ITEM}|\{{\s*{_ITEM}(?:\s*,\s*{_ITEM})*\s*\}})"
_ORDER = rf"{_BLOCK}(?:\s*,\s*{_BLOCK})*"
# Readers for the current format, with '#' before the lines of its header, and the older one.
_LINE = {
    current: re.compile(rf"\s*({_ITEM})\s*{separator}\s*({_ORDER})\s*$")
    for current, separator in ((True, ":"), (False, ","))
}
_NOBODY = re.compile(r"\s*0+\s*[:,]")
_SHAPE = {True: "'count: 3,1,{2,4}'", False: "'count,3,1,{2,4}'"}


def load_preflib(path: Any) -> Bunch:
    """Read votes in PrefLib's formats .soc, .soi, .toc and .toi.

    Each line is ``count: 3,1,{2,4}``: the number of voters with this order, and the alternatives,
    best first, with ties in braces. Lines with count 0 are skipped. Files of the older format,
    without '#' before the lines of the header, are read as well. An order becomes grades,

    ``grade(i) = m' - rank(i)``, m' alternatives that the order ranks,

    with the mean rank of tied alternatives. So a strict and complete order of r alternatives gives
    r-1, ..., 0.

    Parameters
    ----------
    path : str or Path
        The ending names the kind of orders: s or t for strict orders or ties, c or i for complete
        or incomplete orders.

    Returns
    -------
    data : Bunch
        ``target`` (n_orders, m) has grades, higher is better, NaN for missing alternatives.
        ``counts`` (n_orders,) has the voters of each order, for sample_weight. ``item_names`` (m,)
        are str. ``title`` is "" in the older format, ``data_type`` is the ending.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is of another type, holds no orders, or holds a line that cannot be
        read or does not fit its header or its type. The message names the line.

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
    if data_type not in READS:
        known = ", ".join(f".{name} ({what})" for name, what in READS.items())
        raise ValueError(
            f"{path}: load_preflib does not read {path.suffix or 'this'!r}, only {known}."
        )
    lines = [
        (i, line) for i, line in enumerate(_LINE_END.split(_text(path)), start=1) if line.strip()
    ]
    if not lines:
        raise ValueError(f"{path} is empty.")
    current = lines[0][1].lstrip().startswith("#")
    names, facts, lines = (_current_header if current else _older_header)(path, lines)
    _check_type(path, facts, data_type)
    lines = [(line, text) for line, text in lines if not _NOBODY.match(text)]
    if not lines:
        raise ValueError(f"{path} holds no orders, only a header.")
    counts, orders = _parse(path, lines, current)
    numbers = [number for number, _ in lines]
    check_size(f"The names of {path}", 4 * len(names) * max(map(len, names)), "shorten them")
    target = _grades(path, numbers, orders, len(names), data_type)
    for line, voters in facts["voters"]:
        if voters != sum(counts):
            raise _error(
                path, line, f"{voters} voters, but the counts of the orders add up to {sum(counts)}"
            )
    return Bunch(
        target=target,
        counts=np.array(counts, dtype=np.int64),
        item_names=np.array(names),
        title=facts["title"],
        data_type=data_type,
    )


def _error(path, line, message):
    return ValueError(f"{path}, line {line}: {message}.")


def _text(path):
    content = path.read_bytes()
    for encoding in ("utf-8-sig", "cp1252"):  # the second for names in some older files
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")  # which reads all bytes


# Headers ----------------------------------------------------------------------------


def _whole(path, line, text, what):
    """A whole number >= 1 of the header."""
    if not re.fullmatch(_ITEM, text.strip()) or int(text) == 0:
        raise _error(path, line, f"{what} must be a whole number >= 1, got {text.strip()!r}")
    return int(text)


def _current_header(path, lines):
    """Names, facts and the remaining lines, of a header '# KEY: value'."""
    rest = [(i, text) for i, text in lines if text.lstrip()[0] != "#"]
    values = _header_values(path, [(i, text) for i, text in lines if text.lstrip()[0] == "#"])
    if "NUMBER ALTERNATIVES" not in values:
        raise ValueError(f"{path} has no line '# NUMBER ALTERNATIVES: m' in its header.")
    line, text = values["NUMBER ALTERNATIVES"]
    n_items = _whole(path, line, text, "NUMBER ALTERNATIVES")
    named = [key for key in values if key.startswith("ALTERNATIVE NAME ")]
    keys = [f"ALTERNATIVE NAME {i}" for i in range(1, len(named) + 1)]
    if len(named) != n_items or set(named) != set(keys):
        raise _error(
            path,
            line,
            f"{n_items} alternatives, but the header names {len(named)}; it must hold "
            f"'# ALTERNATIVE NAME i: name' for each i from 1 to {n_items}",
        )
    facts = {"title": values.get("TITLE", (0, ""))[1], "type": values.get("DATA TYPE")}
    facts["voters"] = [
        (line, _whole(path, line, text, "NUMBER VOTERS"))
        for line, text in [values[key] for key in ["NUMBER VOTERS"] if key in values]
    ]
    return [values[key][1] for key in keys], facts, rest


def _header_values(path, lines):
    """Line and value of each key of '# KEY: value'."""
    values: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        key, colon, value = text.strip().lstrip("#").partition(":")
        key = key.strip().upper()
        if key in values and key.startswith(("ALTERNATIVE NAME ", "NUMBER ", "DATA TYPE")):
            raise _error(path, line, f"{key} is given twice, first in line {values[key][0]}")
        if colon:
            values[key] = (line, value.strip())
    return values


def _older_header(path, lines):
    """Names, facts and the remaining lines, of a header 'm', m lines 'i,name', three numbers."""
    line, text = lines[0]
    n_items = _whole(path, line, text, "the number of alternatives")
    names = []
    for i, (line, text) in enumerate(lines[1 : n_items + 1], start=1):
        number, comma, name = text.partition(",")
        if not comma or number.strip() != str(i):
            raise _error(
                path,
                line,
                f"expected '{i},name', alternative {i} of {n_items}, got {text.strip()!r}",
            )
        names.append(name.strip())
    if len(lines) < n_items + 2:
        raise _error(
            path,
            lines[-1][0],
            f"the file ends before {n_items} names 'i,name' and the line "
            "'voters,sum of counts,different orders'",
        )
    line, text = lines[n_items + 1]
    numbers = text.split(",")
    if len(numbers) != 3:
        raise _error(
            path, line, f"expected 'voters,sum of counts,different orders', got {text.strip()!r}"
        )
    voters = [(line, _whole(path, line, number, "the number of voters")) for number in numbers[:2]]
    return names, {"title": "", "type": None, "voters": voters}, lines[n_items + 2 :]


def _check_type(path, facts, data_type):
    if facts["type"] and facts["type"][1].lower() != data_type:
        line, found = facts["type"]
        raise _error(
            path, line, f"the header says DATA TYPE {found}, the name of the file .{data_type}"
        )


# Orders -----------------------------------------------------------------------------


def _parse(path, lines, current):
    """Count of each order, and its blocks of tied alternatives, best first."""
    counts, orders = [], []
    for line, text in lines:
        match = _LINE[current].match(text)
        if not match:
            raise _error(
                path,
                line,
                f"expected {_SHAPE[current]} with a count >= 1, tied alternatives in braces, got "
                f"{text.strip()[:60]!r}",
            )
        counts.append(int(match[1]))
        blocks = re.findall(r"\{([^}]*)\}|([0-9]+)", match[2])
        orders.append([[int(i) for i in (tied or one).split(",")] for tied, one in blocks])
    return counts, orders


def _grades(path, numbers, orders, n_items, data_type):
    """Grades of all orders at once, nan for missing alternatives."""
    blocks = list(chain.from_iterable(orders))
    sizes = np.array([len(block) for block in blocks])
    lengths = np.add.reduceat(sizes, np.cumsum([0] + [len(order) for order in orders[:-1]]))
    order = np.repeat(np.arange(len(orders)), lengths)
    item = np.array(list(chain.from_iterable(blocks)))
    _check_orders(path, numbers, order, item, n_items)
    if data_type[0] == "s" and np.any(sizes > 1):
        line = numbers[order[np.cumsum(sizes)[np.argmax(sizes > 1)] - 1]]
        raise _error(
            path,
            line,
            f"a tie in a .{data_type} of strict orders; orders with ties belong in a "
            f".t{data_type[1:]}",
        )
    if data_type[2] == "c" and np.any(lengths < n_items):
        worst = int(np.argmax(lengths < n_items))
        raise _error(
            path,
            numbers[worst],
            f"the order ranks {lengths[worst]} of {n_items} alternatives in a .{data_type} of "
            f"complete orders; incomplete ones belong in a .{data_type[:2]}i",
        )
    check_size(f"The grades of {path}", 8 * len(orders) * n_items, "read fewer orders")
    return tied_grades(lengths, sizes, item - 1, n_items)


def _check_orders(path, numbers, order, item, n_items):
    unknown = (item < 1) | (item > n_items)
    if np.any(unknown):
        first = np.argmax(unknown)
        raise _error(
            path,
            numbers[order[first]],
            f"alternative {item[first]}, but the alternatives are 1 to {n_items}",
        )
    _, distinct = np.unique(order * n_items + item, return_index=True)
    if len(distinct) < len(item):
        again = np.setdiff1d(np.arange(len(item)), distinct)[0]
        raise _error(
            path, numbers[order[again]], f"alternative {item[again]} is named twice in one order"
        )
