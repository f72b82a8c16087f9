"""Votes that do not say what they are, ranks with gaps, columns beside the items.

The result of most calls is the number of votes for "i before j" by names, which depends
on each of the votes.
"""

import copy

import numpy as np
import pandas as pd

from . import Example

VOTES = """
consensus = consensus_ranking(
    orders, kind=kind, items=items, weights=weights, unranked=unranked
)
names = [str(name) for name in consensus.items]
result = {
    f"{one} before {other}": consensus.preferences[i, j]
    for i, one in enumerate(names)
    for j, other in enumerate(names)
}
"""


def ballots(orders, kind=None, items=None, weights=None, unranked=None):
    """Clean arguments of `consensus_ranking`."""

    def clean():
        return {
            "orders": copy.deepcopy(orders),
            "kind": kind,
            "items": items,
            "weights": weights,
            "unranked": unranked,
        }

    return clean


RANKS = [[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 2, 1]]
#: Ranks of fewer items, of which the last is not ranked by two voters.
SHORT_RANKS = [[1.0, 2.0, np.nan], [2.0, 1.0, np.nan], [1.0, 3.0, 2.0]]
NAMES = ["ash", "birch", "cedar"]


def frame(values=RANKS):
    """Numbers of three items."""
    return pd.DataFrame(values, columns=NAMES)


def long_table(values=RANKS, column="rank"):
    """A row for each voter and item."""
    rows = [
        {"voter": f"v{voter}", "item": name, column: value}
        for voter, ranks in enumerate(values)
        for name, value in zip(NAMES, ranks, strict=True)
    ]
    return pd.DataFrame(rows)


#: Code that makes one table from a frame, by the kind of the table.
TABLES = {
    "pandas": "",
    "polars": "orders = polars.from_pandas(orders)",
    "arrow": "import pyarrow; orders = pyarrow.Table.from_pandas(orders)",
    "records": "orders = orders.to_records(index=False)",
    "dict": "orders = orders.to_dict('list')",
}


def of_each(check, clean, fault, right, kinds=("pandas", "polars", "arrow", "records")):
    """Examples of a fault in each kind of table."""
    return [
        Example(check, clean, f"{fault}\n{TABLES[kind]}", VOTES, right)
        for kind in kinds
    ]


ranks = ballots(frame(), "ranks")
unknown_ranks = ballots(frame(), "ranks", unranked="unknown")
short_ranks = ballots(frame(SHORT_RANKS), "ranks", unranked="unknown")
grades = ballots(frame([[4, 2, 1], [3, 5, 2], [0, 5, 4]]), "grades")
long_ranks = ballots(long_table())
unknown_long_ranks = ballots(long_table(), unranked="unknown")
short_long_ranks = ballots(long_table(SHORT_RANKS), unranked="unknown")
long_grades = ballots(long_table([[4, 2, 1], [3, 5, 2], [0, 5, 4]], "grade"))
named = ballots([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]])
COUNTS = [[0, 7, 4], [3, 0, 6], [6, 4, 0]]
counts = ballots(np.array(COUNTS), "counts")
counts_by_name = ballots(
    pd.DataFrame(COUNTS, index=NAMES, columns=NAMES).astype(float), "counts"
)
LONG_KINDS = ("pandas", "polars", "dict", "arrow")

KINDS_OF_VOTES = [
    *of_each(
        "ranks beside grades",
        ballots(long_table(), None),
        "orders['grade'] = [0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2]",
        [
            "",
            "orders = orders.drop(columns='rank')\n"
            "orders['grade'] = [0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2]",
        ],
        LONG_KINDS,
    ),
    Example("other kind of votes", long_ranks, "kind = 'grades'", VOTES, [""]),
    Example(
        "other kind of votes",
        ballots({"target": np.array(RANKS), "item_names": NAMES}),
        "kind = 'ranks'",
        VOTES,
        [""],
    ),
    Example(
        "other kind of votes",
        ballots(np.array([COUNTS, np.transpose(COUNTS)])),
        "kind = 'ranks'",
        VOTES,
        [""],
    ),
    *of_each(
        "names of a long table",
        long_ranks,
        "orders = orders.rename(columns={'voter': 'ballot_id', 'rank': 'Place'})",
        [""],
        LONG_KINDS,
    ),
    # Orders, grades and ranks; orders, grades and counts; names; a dict.
    *[
        Example(
            "no kind of votes",
            ballots(orders, "grades"),
            f"kind = None\n{form}",
            VOTES,
            ["kind = 'orders'", "", f"kind = '{other}'"],
        )
        for orders, form, other in [
            ([[1, 2], [2, 1], [1, 2]], "", "ranks"),
            (frame(), "orders = polars.from_pandas(orders)", "ranks"),
            (np.array([[0, 1], [1, 0]]), "", "counts"),
            (
                pd.DataFrame([[1, 2], [2, 1]]),
                "orders = orders.to_dict('list')",
                "ranks",
            ),
        ]
    ],
    Example(
        "no kind of votes",
        ballots(
            pd.DataFrame([["a", "b"], ["b", "a"], ["b", None]]),
            "orders",
            unranked="last",
        ),
        "kind = None",
        VOTES,
        [""],
    ),
    Example("no kind of votes", ballots(np.zeros((1, 2, 2))), "orders = 'ab'", VOTES),
    Example("dict of items", ranks, "orders = orders.to_dict('list')", VOTES, [""]),
]

COLUMNS = [
    Example(
        "items are not columns",
        ballots(np.array(RANKS), "ranks", ["x", "y", "z"]),
        "orders = pandas.DataFrame(orders, columns=['a', 'b', 'c'])",
        VOTES,
        [""],
    ),
    Example(
        "items are not columns",
        ballots(np.array(RANKS), "ranks", ["x", "y", "z"]),
        "orders = polars.DataFrame(orders, schema=['a', 'b', 'c'])",
        VOTES,
        [""],
    ),
    Example(
        "items are not columns",
        ballots(np.array(RANKS), "ranks", ["x", "y", "z"]),
        "import pyarrow\n"
        "orders = pyarrow.table(dict(zip(['a', 'b', 'c'], orders.T.tolist())))",
        VOTES,
        [""],
    ),
    Example("items are not columns", grades, "items = ['ash', 'oak']", VOTES),
    *of_each(
        "column beside the items", ranks, "orders['judge'] = [1, 2, 3, 4]", ["", ""]
    ),
    *of_each(
        "column beside the items", grades, "orders['town'] = list('uvw')", ["", ""]
    ),
    *of_each(
        "column beside the items",
        ballots(
            pd.DataFrame([["a", "b"], ["b", "a"], ["b", "c"]]),
            "orders",
            unranked="unknown",
        ),
        "orders.columns = ['first', 'second']\norders['id'] = [1, 2, 3]",
        [""],
    ),
    Example(
        "other items in the rows of counts",
        counts_by_name,
        "orders = orders.loc[['cedar', 'ash', 'birch']]",
        VOTES,
        [""],
    ),
    Example(
        "other items in the rows of counts",
        ballots(pd.DataFrame([[0, 2], [0, 0]], NAMES[:2], NAMES[:2]), "counts"),
        "orders = orders.loc[['ash'], ['birch']].assign(ash=0)",
        VOTES,
        [""],
    ),
    Example(
        "other items in the rows of counts",
        ballots(
            pd.DataFrame(COUNTS, NAMES, NAMES).loc[NAMES[:2], NAMES[:2]],
            "counts",
            NAMES[:2],
        ),
        "orders = pandas.DataFrame([[0, 7], [3, 0]], NAMES[:2], NAMES[:2]).iloc[::-1]\n"
        "orders['oak'] = 5".replace("NAMES", str(NAMES)),
        VOTES,
        [""],
    ),
    Example(
        "other items in the rows of counts",
        counts_by_name,
        "orders.index = ['x', 'y', 'z']",
        VOTES,
    ),
]

LONG_TABLES = [
    *of_each(
        "items of a long table",
        long_grades,
        "items = ['birch', 'ash']",
        ["", "orders = orders[orders['item'] != 'cedar']"],
        LONG_KINDS,
    ),
    Example(
        "items of a long table", long_ranks, "items = ['birch', 'ash']", VOTES, [""]
    ),
    *of_each(
        "item twice in a vote",
        long_ranks,
        "orders = pandas.concat([orders, orders.iloc[[0, 4]]])",
        [""],
        LONG_KINDS,
    ),
    Example(
        "item twice in a vote",
        long_grades,
        "orders = pandas.concat([orders, orders.iloc[[0]].assign(grade=9)])",
        VOTES,
    ),
    *of_each(
        "weights twice",
        long_ranks,
        "weights = [1, 2, 3, 4]\norders['weight'] = numpy.repeat([5, 6, 7, 8], 3)",
        ["weights = [5, 6, 7, 8]", "weights = [1, 2, 3, 4]"],
        LONG_KINDS,
    ),
    Example(
        "two weights of a voter",
        long_ranks,
        "orders['weight'] = [1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1]",
        VOTES,
    ),
]

#: Votes in which the winner is not ranked, of `RANKS` from 0 with 0 for "not ranked".
WINNERS_LEFT_OUT = (
    "[[numpy.nan, 1, 2], [1, numpy.nan, 2], [numpy.nan, 2, 1], [2, 1, numpy.nan]]"
)
WITHOUT_WINNERS = (
    f"orders = orders.astype(float); orders[:] = numpy.array({WINNERS_LEFT_OUT})"
)

NUMBERS = [
    Example(
        "votes that are not a matrix",
        ballots([[4, 2, 1]], "grades"),
        "orders = orders[0]",
        VOTES,
        [""],
    ),
    Example(
        "votes that are not a matrix",
        ballots([COUNTS, [[0, 1, 1], [0, 0, 1], [2, 0, 0]]], "counts"),
        "kind = 'grades'",
        VOTES,
        [""],
    ),
    Example("counts that are not square", counts, "orders = orders[:2]", VOTES),
    Example("weights of counts", counts, "weights = [1, 1, 1]", VOTES, [""]),
    Example("no votes", grades, "orders = orders.iloc[:0]", VOTES),
    # Ranks from 0: their winners stay.
    *of_each(
        "rank below 1", unknown_ranks, "orders = orders - 1", ["", WITHOUT_WINNERS]
    ),
    Example(
        "rank below 1",
        ballots(np.array(RANKS), "ranks", unranked="unknown"),
        "orders = (orders - 1).tolist()",
        VOTES,
        ["", WITHOUT_WINNERS],
    ),
    Example(
        "rank below 1",
        ballots(np.array(RANKS), "ranks", unranked="unknown"),
        "orders = orders - 1",
        VOTES,
        ["", WITHOUT_WINNERS],
    ),
    *of_each(
        "rank below 1",
        unknown_long_ranks,
        "orders['rank'] = orders['rank'] - 1",
        ["", f"orders['rank'] = numpy.ravel({WINNERS_LEFT_OUT})"],
        LONG_KINDS,
    ),
    Example(
        "rank below 1",
        unknown_ranks,
        "items = list(orders)\norders = (orders - 1).assign(town=list('uvwx'))",
        VOTES,
        ["", WITHOUT_WINNERS + "; items = list(orders)"],
    ),
    # 0 is not ranked, or the best.
    *of_each(
        "rank below 1",
        short_ranks,
        "orders = orders.fillna(0)",
        ["orders['cedar'] = [1, 1, 2]; orders.loc[:1, ['ash', 'birch']] += 1", ""],
    ),
    Example(
        "rank below 1",
        ballots(np.array(SHORT_RANKS), "ranks", unranked="unknown"),
        "orders = numpy.nan_to_num(orders)",
        VOTES,
        ["orders[:2] = [[2, 3, 1], [3, 2, 1]]", ""],
    ),
    *of_each(
        "rank below 1",
        short_long_ranks,
        "orders = orders.fillna(0)",
        ["orders['rank'] = [2, 3, 1, 3, 2, 1, 1, 3, 2]", ""],
        LONG_KINDS,
    ),
    *of_each(
        "gap in ranks",
        short_ranks,
        "orders = orders.fillna(99)",
        ["orders['cedar'] = [3, 3, 2]", ""],
    ),
    Example(
        "gap in ranks",
        ballots(SHORT_RANKS, "ranks", unranked="unknown"),
        "orders = numpy.nan_to_num(orders, nan=99).tolist()",
        VOTES,
        ["orders[0][2] = orders[1][2] = 3", ""],
    ),
    *of_each(
        "gap in ranks",
        short_long_ranks,
        "orders = orders.fillna(99)",
        ["orders['rank'] = [1, 2, 3, 2, 1, 3, 1, 3, 2]", ""],
        LONG_KINDS,
    ),
    Example("infinite votes", grades, "orders = orders.replace(5, numpy.inf)", VOTES),
    *of_each(
        "missing counts",
        counts_by_name,
        "orders.iloc[0, 0] = numpy.nan",
        [""],
        ("pandas", "polars"),
    ),
    Example(
        "missing counts",
        ballots([[0.0, 7.0, 0.0], [3.0, 0.0, 6.0], [6.0, 4.0, 0.0]], "counts"),
        "orders[0][2] = None",
        VOTES,
        [""],
    ),
    Example("negative counts", counts, "orders[0, 1] = -1", VOTES),
    Example(
        "votes for an item before itself",
        counts,
        "orders[1, 1] = 5",
        VOTES,
        ["orders[1, 1] = 0"],
    ),
    Example(
        "votes for an item before itself",
        ballots([[0, 7], [3, 0]], "counts"),
        "orders = [[1, 7], [3, 1]]",
        VOTES,
        [""],
    ),
    Example(
        "votes for an item before itself",
        counts_by_name,
        "orders.iloc[1, 1] = 0.5",
        VOTES,
        ["orders.iloc[1, 1] = 0.0"],
    ),
    Example(
        "number of names of items",
        ballots(np.array(RANKS), "ranks"),
        "items = ['a', 'b']",
        VOTES,
    ),
    Example(
        "equal names of items",
        ballots(np.array(RANKS), "ranks"),
        "items = ['a', 'b', 'a']",
        VOTES,
    ),
    Example("number of weights of votes", ranks, "weights = [1, 2]", VOTES),
    Example("wrong weight of a vote", ranks, "weights = [1, 2, 3, -1]", VOTES),
    Example("wrong weight of a vote", ranks, "weights = [1, 2, 3, numpy.nan]", VOTES),
    Example("weights of votes are 0", ranks, "weights = [0, 0, 0, 0]", VOTES),
    Example(
        "sum of the weights of votes",
        ballots(np.array(RANKS), "ranks", None, [1.0, 0.5, 1.0, 0.25]),
        "weights = [1e308, 5e307, 1e308, 2.5e307]",
        VOTES,
        [""],
    ),
]


#: Orders, ranks, a long table and a file of three voters, of whom one names ash alone.
ALL_LAST = """
orders = pandas.DataFrame(
    [[2, 1, 3], [1, 2, 2], [3, 2, 1]], columns=["ash", "birch", "cedar"]
)
kind = "ranks"
items = None
"""
ALL_UNKNOWN = """
orders = numpy.array(
    [[[0, 0, 1], [1, 0, 1], [0, 0, 0]], numpy.zeros((3, 3)),
     [[0, 0, 0], [1, 0, 0], [1, 1, 0]]]
)
kind = None
items = ["ash", "birch", "cedar"]
unranked = None
"""
NAMED = [["birch", "ash", "cedar"], ["ash"], ["cedar", "birch", "ash"]]
TABLE = [["birch", "ash", "cedar"], ["ash", None, None], ["cedar", "birch", "ash"]]
RANKED = [[2, 1, 3], [1, np.nan, np.nan], [3, 2, 1]]

UNRANKED = [
    *[
        Example(
            "items that a vote leaves out", clean, fault, VOTES, [ALL_LAST, ALL_UNKNOWN]
        )
        for clean, fault in [
            (ballots(NAMED, unranked="last"), "unranked = None"),
            (ballots(pd.Series(NAMED), unranked="last"), "unranked = None"),
            (
                ballots(pd.DataFrame(TABLE), "orders", unranked="last"),
                "unranked = None",
            ),
            (
                ballots(pd.DataFrame(TABLE), "orders", unranked="last"),
                "unranked = None; orders = polars.from_pandas(orders)",
            ),
            (
                ballots(RANKED, "ranks", NAMES, unranked="last"),
                "unranked = None",
            ),
            (
                ballots(np.array(RANKED), "ranks", NAMES, unranked="last"),
                "unranked = None",
            ),
            (
                ballots(
                    {
                        "target": np.array([[1, 2, 0], [0, np.nan, np.nan], [0, 1, 2]]),
                        "item_names": NAMES,
                        "counts": np.array([1, 1, 1]),
                        "data_type": "soi",
                    },
                    unranked="last",
                ),
                "unranked = None",
            ),
        ]
    ],
    *of_each(
        "items that a vote leaves out",
        ballots(frame(RANKED), "ranks", unranked="last"),
        "unranked = None",
        [ALL_LAST, ALL_UNKNOWN],
    ),
    *of_each(
        "items that a vote leaves out",
        ballots(long_table(RANKED), unranked="last"),
        "unranked = None",
        [ALL_LAST, ALL_UNKNOWN],
        LONG_KINDS,
    ),
    *of_each(
        "items that a vote leaves out",
        ballots(long_table(RANKED).dropna(), unranked="last"),
        "unranked = None",
        [ALL_LAST, ALL_UNKNOWN],
        LONG_KINDS,
    ),
    Example("unranked items of counts", counts, "unranked = 'last'", VOTES, [""]),
    Example(
        "unranked items of counts",
        ballots(np.array([COUNTS, np.transpose(COUNTS)])),
        "unranked = 'unknown'",
        VOTES,
        [""],
    ),
]


def many_items():
    """Grades of 201 items by 3 voters."""
    order = np.random.default_rng(0).permutation(201)
    grades = [order, order[::-1], np.roll(order, 7)]
    return {"grades": np.array(grades), "method": "kemeny"}


CONSENSUS = [
    Example(
        "many items for kemeny",
        many_items,
        "",
        "result = consensus_ranking(grades, kind='grades', method=method).ranks",
        ["method = 'borda'"],
    ),
    Example(
        "item that met no other",
        ballots([[0, 3, 1], [1, 0, 0], [0, 2, 0]], "counts"),
        "orders = [[0, 3, 0], [1, 0, 0], [0, 0, 0]]",
        "result = consensus_ranking(orders, kind=kind, method='borda').ranks",
    ),
    Example(
        "counts that are not whole",
        counts,
        "orders = orders / 7",
        "result = consensus_ranking(orders, kind=kind).rank_intervals().low",
    ),
    Example(
        "one voter",
        named,
        "orders = orders[:1]",
        "result = consensus_ranking(orders).rank_intervals().low",
    ),
]

EXAMPLES = [
    *KINDS_OF_VOTES,
    *COLUMNS,
    *LONG_TABLES,
    *NUMBERS,
    *UNRANKED,
    *CONSENSUS,
]
