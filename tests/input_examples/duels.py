"""Duels in tables, lists and counts, with missing items and unclear results."""

import copy

import numpy as np
import pandas as pd

from . import Example

STRENGTHS = """
board = bradley_terry(
    duels,
    covariates=covariates,
    weight=weight,
    group=group,
    judge=judge,
    half_games=half_games,
    item_a=item_a,
    item_b=item_b,
    result=result,
)
result = dict(zip(map(str, board.items), board.strengths))
result["tie"] = board.tie
"""

WINNERS = ["a", "b", "c", "a", "b", "a", "c", "a", "b"]
LOSERS = ["b", "c", "a", "c", "a", "b", "b", "b", "c"]
FIRST = ["a", "c", "c", "a", "a", "b", "c", "b", "b"]
SECOND = ["b", "b", "a", "c", "b", "a", "b", "a", "c"]


def of_duels(duels, **arguments):
    """Clean arguments of `bradley_terry`."""

    def clean():
        return {
            "duels": copy.deepcopy(duels),
            "covariates": None,
            "weight": None,
            "group": None,
            "judge": None,
            "half_games": 0.5,
            "item_a": "model_a",
            "item_b": "model_b",
            "result": "winner",
            **arguments,
        }

    return clean


pairs = of_duels([list(pair) for pair in zip(WINNERS, LOSERS, strict=True)])
winners = of_duels(pd.DataFrame({"winner": WINNERS, "loser": LOSERS}))
results = of_duels(pd.DataFrame({"left": FIRST, "right": SECOND, "vote": WINNERS}))
named = of_duels(
    pd.DataFrame({"left": FIRST, "right": SECOND, "vote": WINNERS}),
    item_a="left",
    item_b="right",
    result="vote",
)
numbered = of_duels(pd.DataFrame({"winner": [1.0, 2, 3, 1], "loser": [2.0, 3, 1, 3]}))
counts = of_duels(np.array([[0, 3, 1], [1, 0, 2], [2, 1, 0]]))
counts_by_name = of_duels(
    pd.DataFrame([[0, 3, 1], [1, 0, 2], [2, 1, 0]], list("abc"), list("abc"))
)

#: Code that makes one table from a frame, by the kind of the table.
TABLES = {
    "pandas": "",
    "polars": "duels = polars.from_pandas(duels)",
    "arrow": "import pyarrow; duels = pyarrow.Table.from_pandas(duels)",
    "dict": "duels = duels.to_dict('list')",
}


def of_each(check, clean, fault, right, kinds=TABLES):
    """Examples of a fault in each kind of table."""
    return [
        Example(check, clean, f"{fault}\n{TABLES[kind]}", STRENGTHS, right)
        for kind in kinds
    ]


LAYOUTS = [
    Example("column of results", named, "item_a = 'lefts'", STRENGTHS, [""]),
    Example("column of results", named, "result = 'outcome'", STRENGTHS),
    *of_each(
        "layout of duels",
        of_duels(
            pd.DataFrame({"model_a": FIRST, "model_b": SECOND, "outcome": WINNERS}),
            result="outcome",
        ),
        "result = 'winner'\nduels['round'] = range(9)",
        [""],
    ),
    *of_each(
        "layout of duels",
        winners,
        "duels = duels.rename(columns={'winner': 'first', 'loser': 'second'})",
        [""],
    ),
    *of_each(
        "layout of duels",
        named,
        "item_a, item_b, result = 'model_a', 'model_b', 'winner'",
        [""],
    ),
    Example(
        "layout of duels",
        named,
        "item_a, item_b, result = 'model_a', 'model_b', 'winner'\n"
        "duels = duels.to_numpy()",
        STRENGTHS,
        [""],
    ),
    Example("layout of duels", counts, "duels = duels[:2]", STRENGTHS),
    Example("pair of a duel", pairs, "duels[3] = ['a', 'b', 'c']", STRENGTHS),
    Example("pair of a duel", pairs, "duels = ['ab', 'ba']", STRENGTHS),
    *of_each(
        "missing item of a duel",
        winners,
        "duels.loc[8, 'loser'] = None",
        ["duels = duels.iloc[:8]"],
    ),
    *of_each(
        "missing item of a duel",
        named,
        "duels.loc[8, 'vote'] = None",
        ["duels.loc[8, 'vote'] = 'draw'", "duels = duels.iloc[:8]"],
    ),
    *[
        example
        for missing in ("numpy.nan", "numpy.inf", "-numpy.inf")
        for example in of_each(
            "missing item of a duel",
            numbered,
            f"duels.loc[3, 'winner'] = {missing}",
            ["duels = duels.iloc[:3]"],
            ["pandas", "dict"] + ["polars"] * (missing != "numpy.nan"),
        )
    ],
    Example(
        "missing item of a duel",
        numbered,
        "duels = polars.from_pandas(duels)\n"
        "duels = duels.with_columns(winner=polars.Series([1.0, 2, 3, numpy.nan]))",
        STRENGTHS,
        ["duels = duels.iloc[:3]"],
    ),
    Example(
        "missing item of a duel",
        winners,
        "duels.loc[8, 'loser'] = None\nweight = numpy.ones(9)",
        STRENGTHS,
    ),
    Example("values beside counts", counts, "weight = [1, 2]", STRENGTHS),
    Example("values beside counts", counts, "covariates = [1, 2]", STRENGTHS),
    Example(
        "column of weights, groups or judges",
        of_duels(
            pd.DataFrame({"winner": WINNERS, "loser": LOSERS, "number": range(1, 10)}),
            weight="number",
        ),
        "weight = 'numbers'",
        STRENGTHS,
        [""],
    ),
    Example(
        "column of weights, groups or judges", winners, "group = 'prompt'", STRENGTHS
    ),
    Example("column of weights, groups or judges", winners, "weight = 3", STRENGTHS),
    Example("columns of covariates", winners, "covariates = ['length']", STRENGTHS),
    Example("columns of covariates", pairs, "covariates = 'length'", STRENGTHS),
]

SIDES = "numpy.where(duels['vote'] == duels['left'], {}, {})"

ROWS = [
    *[
        example
        for first, second in [(1, 0), (1, 2), (1, -1), ("'1'", "'2'"), (True, False)]
        for example in of_each(
            "unclear result of a duel",
            named,
            f"duels['vote'] = {SIDES.format(first, second)}",
            [""],
        )
    ],
    *of_each(
        "unclear result of a duel",
        named,
        "duels['vote'] = [1, 0.5, 0, 1, 0.5, 0, 1, 0, 1]",
        [
            "duels['vote'] = ['left', 'tie', 'right', 'left', 'tie', 'right', 'left', "
            "'right', 'left']"
        ],
    ),
    Example(
        "unclear result of a duel", named, "duels.loc[2, 'vote'] = 'both'", STRENGTHS
    ),
    Example(
        "word in place of an item", winners, "duels.loc[2, 'loser'] = 'tie'", STRENGTHS
    ),
    Example(
        "word in place of an item", winners, "duels.loc[2, 'winner'] = ''", STRENGTHS
    ),
    Example("values of duels", winners, "group = [1, 2, 3]", STRENGTHS),
    Example("values of duels", pairs, "judge = ['j']", STRENGTHS),
    Example("covariates of duels", winners, "covariates = [1, 2, 3]", STRENGTHS),
    Example("tie of a duel", winners, "duels['tie'] = 8 * [0] + [2]", STRENGTHS),
    Example("weight of a duel", winners, "weight = 8 * [1] + [-1]", STRENGTHS),
    Example("weight of a duel", winners, "weight = 8 * [1] + [numpy.nan]", STRENGTHS),
    Example("weight of a duel", winners, "weight = numpy.ones((9, 2))", STRENGTHS),
    *of_each(
        "duel of an item with itself",
        winners,
        "duels.loc[8, 'winner'] = 'c'",
        ["duels = duels.iloc[:8]"],
    ),
    *of_each(
        "duel of an item with itself",
        named,
        "duels.loc[8] = ['c', 'c', 'c']",
        ["duels = duels.iloc[:8]"],
    ),
    Example(
        "duel of an item with itself",
        pairs,
        "duels += [['a', 'a'], [('a', 'b')]]",
        STRENGTHS,
        ["duels += [[('b', 'a')]]"],
    ),
    Example(
        "duel of an item with itself",
        pairs,
        "duels = numpy.array([*duels, ['a', 'a']])",
        STRENGTHS,
        [""],
    ),
    Example(
        "duel of an item with itself",
        winners,
        "duels.loc[8, 'winner'] = 'c'\nweight = numpy.ones(9)",
        STRENGTHS,
    ),
    Example(
        "items without finite strengths",
        of_duels([["a", "b"], ["b", "c"], ["a", "c"]], half_games=2),
        "half_games = 0",
        STRENGTHS,
        [""],
    ),
    Example(
        "items without finite strengths",
        of_duels(np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0]]), half_games=2),
        "half_games = 0",
        STRENGTHS,
        [""],
    ),
    # Counts of duels are counts of votes.
    Example(
        "votes for an item before itself",
        counts,
        "duels[1, 1] = 4",
        STRENGTHS,
        [""],
    ),
    Example(
        "other items in the rows of counts",
        counts_by_name,
        "duels = duels.loc[list('cab')]",
        STRENGTHS,
        [""],
    ),
    Example(
        "other items in the rows of counts",
        of_duels(pd.DataFrame([[0, 3], [1, 0]], list("ab"), list("ab"))),
        "duels = duels.assign(c=[0, 1])",
        STRENGTHS,
        [
            "duels = pandas.DataFrame([[0, 3, 0], [1, 0, 1], [0, 0, 0]])"
            ".set_axis(list('abc')).set_axis(list('abc'), axis=1)"
        ],
    ),
]


def board():
    """A board with six groups, and questions to it."""
    duels = pairs()["duels"] + pairs()["duels"]
    return {
        "duels": duels,
        "group": np.arange(18) % 6,
        "names": ["a", "b"],
        "top": 1,
    }


QUESTIONS = """
board = bradley_terry(duels, group=group)
probability = board.probability(*names)
board.next_duels(top=top)
result = [*board.probability_interval(*names), *board.interval().ravel()]
"""

BOARDS = [
    Example("few groups", board, "group = numpy.arange(18) % 4", QUESTIONS),
    Example("item of a board", board, "names = ['a', 'z']", QUESTIONS),
    Example("top of all items", board, "top = 3", QUESTIONS),
]

EXAMPLES = [*LAYOUTS, *ROWS, *BOARDS]
