"""Orders of items, best first."""

import numpy as np
import pandas as pd

from . import Example


def orders():
    """Orders of four items by their index."""
    return {
        "orders": [[2, 0, 1, 3], [1, 2], [3, 2, 0]],
        "items": None,
        "n_items": None,
    }


def matrix():
    return {**orders(), "orders": np.array([[2, 0, 1, 3], [1, 2, 0, 3]])}


def names():
    """The orders of `orders` by name."""
    return {
        "orders": [["c", "a", "b", "d"], ["b", "c"], ["d", "c", "a"]],
        "items": ["a", "b", "c", "d"],
        "n_items": None,
    }


def lists():
    """Orders of three items by name, which no `items` confirm."""
    return {
        "orders": [["c", "a", "b"], ["b", "a", "c"], ["a", "c", "b"]],
        "items": None,
    }


def table():
    """The orders of `lists`, a column for each place."""
    places = ["first", "second", "third"]
    return {**lists(), "orders": pd.DataFrame(lists()["orders"], columns=places)}


GRADES = """
result = lowrank_rank.votes.grades_from_orders(orders, n_items, items=items)
"""
CONSENSUS = """
found = lowrank_rank.votes.consensus_ranking(
    orders, kind="orders", items=items, unranked="last"
)
names = [str(name) for name in found.items]
result = dict(sorted(zip(names, found.votes.labels.T)))
"""
SERIES = "; orders = pandas.Series(orders)"
WITH_TOWN = [["x", "c", "a", "b"], ["y", "b", "a", "c"], ["x", "a", "c", "b"]]
POLARS = "; orders = polars.from_pandas(orders)"
ARROW = "; import pyarrow; orders = pyarrow.Table.from_pandas(orders)"

EXAMPLES = [
    Example("names of items of orders", names, "items = 3", GRADES),
    Example("names of items of orders", names, "items = [['a'], ['b']]", GRADES),
    Example("name of an item twice", names, "items = list('abcda')", GRADES),
    Example("no orders", orders, "orders = []", GRADES),
    Example("no orders", orders, "orders = 'abc'", GRADES),
    *[
        Example(
            "order that is not a sequence",
            names,
            f"orders = [{mark!r}.join(order) for order in orders]{more}",
            GRADES,
            [""],
        )
        for mark in (">", ",", "|")
        for more in ("", "; items = None", SERIES)
    ],
    Example("order that is not a sequence", orders, "orders[1] = {0, 1}", GRADES),
    Example("order that is not a sequence", names, "orders[1] = 'a'", GRADES),
    Example("empty order", orders, "orders.insert(1, [])", GRADES, [""]),
    Example("empty order", names, "orders.append([])", GRADES, [""]),
    Example("empty tie", orders, "orders[1].insert(1, ())", GRADES, [""]),
    Example(
        "empty tie",
        orders,
        "orders[2] = [3, (0, 2), []]",
        GRADES,
        ["orders[2] = [3, [2, 0]]"],
    ),
    Example(
        "missing name in orders",
        names,
        "items = None; orders[1][0] = None",
        CONSENSUS,
        ["items = None; orders[1] = ['c']"],
    ),
    Example(
        "missing name in orders",
        names,
        "items = None; orders[1] = [('b', 'c'), None]",
        CONSENSUS,
    ),
    *[
        Example(
            "missing name in orders",
            table,
            f"orders.iloc[1, 1] = None{more}",
            CONSENSUS,
            ["orders = [['c', 'a', 'b'], ['b', 'c'], ['a', 'c', 'b']]"],
        )
        for more in ("", POLARS, ARROW)
    ],
    *[
        Example(
            "empty name in orders",
            clean,
            fault,
            CONSENSUS,
            ["orders = [['c', 'a', 'b'], ['b', 'c'], ['a', 'c', 'b']]"],
        )
        for clean, fault in [
            (lists, "orders[1][1] = ''"),
            (lists, "orders[1][1] = ' '"),
            (lists, "orders[1][1] = ''" + SERIES),
            (table, "orders.iloc[1, 1] = ''"),
            (table, "orders.iloc[1, 1] = ''" + POLARS),
            (table, "orders.iloc[1, 1] = ''" + ARROW),
            (table, "orders.iloc[1, 1] = ''; orders = orders.to_numpy()"),
        ]
    ],
    *[
        Example(
            "column that shares no item",
            table,
            f"orders.insert(0, 'town', list('xyx')){more}",
            CONSENSUS,
            ["", f"orders = {WITH_TOWN}"],
        )
        for more in ("", POLARS, ARROW, "; orders = orders.to_records(index=False)")
    ],
    Example(
        "column that shares no item",
        table,
        "orders['date'] = [f'2025-01-{day} 10:00' for day in range(10, 13)]",
        CONSENSUS,
        [
            "",
            "orders = orders.to_numpy().tolist()\n"
            "orders[0].append('2025-01-10 10:00')\n"
            "orders[1].append('2025-01-11 10:00')\n"
            "orders[2].append('2025-01-12 10:00')",
        ],
    ),
    Example("unknown name in order", names, "items = ['a', 'b', 'c']", GRADES),
    Example("type of items of orders", names, "items = None", GRADES, [""]),
    Example("type of items of orders", names, "items = None" + SERIES, GRADES, [""]),
    Example("type of items of orders", orders, "orders[0][0] = None", GRADES),
    Example("type of items of orders", orders, "orders[0][0] = 0.5", GRADES),
    *[
        Example(
            "unknown item in order",
            orders,
            "orders = [[item + 1 for item in order] for order in orders]" + more,
            GRADES,
            [""],
        )
        for more in ("", SERIES)
    ],
    Example("unknown item in order", matrix, "orders = orders + 1", GRADES, [""]),
    Example(
        "unknown item in order",
        orders,
        "orders = [(order + [-1, -1])[:4] for order in orders]",
        GRADES,
        [""],
    ),
    Example(
        "unknown item in order",
        matrix,
        "orders = numpy.array([[2, 0, 1, 3], [1, 2, -1, -1], [3, 2, 0, -1]])",
        GRADES,
        ["orders = [[2, 0, 1, 3], [1, 2], [3, 2, 0]]"],
    ),
    Example(
        "unknown item in order",
        orders,
        "orders = [[2, 0], [4, 1]]",
        GRADES,
        ["orders = [[2, 0], [4, 1]]; n_items = 5"],
    ),
    Example("item twice in order", orders, "orders[1] = [1, 2, 1]", GRADES),
    Example("item twice in order", names, "orders[1] = ['b', ('c', 'b')]", GRADES),
]
