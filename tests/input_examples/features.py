"""Features that are not numbers, in each kind of table."""

import pandas as pd
import polars as pl

from lowrank_rank import (
    HistGradientBoostingRanker,
    OrderPreservingRegressor,
    StackingRanker,
)

from . import Example
from .kinds import FIT, documents

PREDICT = "result = model.predict(X)"
FRAME = "X = pandas.DataFrame(X, columns=['a', 'b', 'c'])\n"
POLARS = "X = polars.DataFrame(X, schema=['a', 'b', 'c'])\n"
DAYS = "when = [datetime.date(2024, 1, 1 + i) for i in range(24)]\n"
#: From 2000 on there are 24 years, 6 leap days.
DAYS_RIGHT = "X[:, 2] = [8766 + i for i in range(24)]"
#: Days of a type and as objects.
SEVERAL = FRAME + DAYS + "X['b'] = pandas.to_datetime(when)\nX['c'] = when\n"
SEVERAL_RIGHT = DAYS_RIGHT + "\nX[:, 1] = X[:, 2]"
MINUTES_RIGHT = "X[:, 2] = 60 * numpy.arange(24)"
MEAN = "X[3, 1] = numpy.delete(X[:, 1], 3).mean()"


def trees():
    """Documents for trees, which take NaN and categories."""
    model = HistGradientBoostingRanker(max_iter=20, min_samples_leaf=2)
    return {**documents(), "model": model}


def fitted(columns=("a", "b", "c")):
    """Documents of a frame, and a model that is fitted to them."""
    data = documents()
    X = pd.DataFrame(data["X"], columns=list(columns))
    model = OrderPreservingRegressor().fit(X, data["y"], qid=data["qid"])
    return {"X": X, "model": model}


def fitted_polars():
    """Documents of a frame of polars, and a model that is fitted to them."""
    data = documents()
    X = pl.DataFrame(data["X"], schema=["a", "b", "c"])
    model = OrderPreservingRegressor().fit(X, data["y"], qid=data["qid"])
    return {"X": X, "model": model}


def fitted_with_category():
    """Documents with a category, and trees that are fitted to them."""
    data = trees()
    X = pd.DataFrame(data["X"], columns=["a", "b", "c"])
    X["c"] = pd.Categorical(["red", "blue", "red"] * 8)
    data["model"].fit(X, data["y"], qid=data["qid"])
    return {"X": X, "model": data["model"]}


def stack_with_text():
    """Documents with a column of text, and a stack that is fitted to them."""
    data = documents()
    X = pd.DataFrame(data["X"], columns=["a", "b", "c"])
    X["c"] = ["red", "blue", "red"] * 8
    model = StackingRanker(weights={"linear": 1.0, "trees": 1.0, "forest": 0.0})
    model.fit(X, data["y"], qid=data["qid"])
    return {"X": X, "model": model}


def _text_column(values, right, n_codes=0):
    """Examples of a column of text, of pandas and of polars."""
    return [
        Example(
            "numbers as text",
            documents,
            f"{frame}{values}\n{column}",
            FIT,
            list(right),
        )
        for frame, column in (
            (FRAME, "X['c'] = values"),
            (POLARS, "X = X.with_columns(polars.Series('c', values))"),
        )
    ]


#: Each year of four rows, as objects.
YEARS = FRAME + (
    "X['c'] = [pandas.Period(str(2000 + i // 4), freq='Y') for i in range(24)]\n"
    "X['c'] = X['c'].astype(object)\n"
)
EXAMPLES = [
    Example(
        "masked X",
        documents,
        "X = numpy.ma.masked_array(X, numpy.arange(72).reshape(24, 3) == 5)",
        FIT + "result = result[[0, -1]]",
        [
            "X = numpy.delete(X, 1, axis=0)\ny = numpy.delete(y, 1)\n"
            "qid = numpy.delete(qid, 1)"
        ],
    ),
    Example(
        "masked X",
        documents,
        "sample_weight = (1 + numpy.arange(24) // 4).tolist()\n"
        "qid = qid.tolist()\n"
        "X = numpy.ma.masked_array(X, numpy.arange(72).reshape(24, 3) == 5)",
        FIT + "result = result[[0, -1]]",
        [
            "X = numpy.delete(X, 1, axis=0)\ny = numpy.delete(y, 1)\n"
            "sample_weight = numpy.delete(1.0 + numpy.arange(24) // 4, 1)\n"
            "qid = numpy.delete(qid, 1)"
        ],
    ),
    Example(
        "masked X",
        trees,
        "X = numpy.ma.masked_array(X, numpy.arange(72).reshape(24, 3) == 5)",
        FIT,
        ["X[1, 2] = numpy.nan"],
    ),
    Example(
        "X is a dict",
        documents,
        "X = {'a': X[:, 0], 'b': X[:, 1], 'c': X[:, 2]}",
        FIT,
        [""],
    ),
    Example(
        "X is a row of a frame",
        fitted,
        "X = X.iloc[3]",
        PREDICT,
        ["X = X[3:4]"],
    ),
    Example(
        "X is a Series",
        documents,
        "X = pandas.Series(X[:, 0])",
        FIT,
        ["X = X[:, :1]"],
    ),
    Example(
        "X is a Series", documents, "X = polars.Series(X[:, 0])", FIT, ["X = X[:, :1]"]
    ),
    Example(
        "X without columns", documents, "X = pandas.DataFrame(index=range(24))", FIT
    ),
    Example(
        "two columns of one name",
        documents,
        "X = pandas.DataFrame(X[:, [0, 1, 0]], columns=['a', 'b', 'a'])",
        FIT,
        ["X = X[:, :2]"],
    ),
    Example("ragged X", documents, "X = [*X.tolist()[:-1], [0.0]]", FIT),
    Example("X without rows", documents, "X = 3.0", FIT),
    Example(
        "X is a list of dicts",
        documents,
        "X = [{'a': a, 'b': b, 'c': c} for a, b, c in X]",
        FIT,
        [""],
    ),
    Example(
        "X is a list of dicts",
        documents,
        "X = numpy.array([{'a': a, 'b': b, 'c': c} for a, b, c in X])",
        FIT,
        [""],
    ),
    # Dates and durations
    *(
        Example("dates among the features", documents, DAYS + fault, FIT, [right])
        for fault, right in [
            (FRAME + "X['c'] = pandas.to_datetime(when)", DAYS_RIGHT),
            (
                FRAME + "X['c'] = pandas.to_datetime(when).tz_localize('UTC')",
                DAYS_RIGHT,
            ),
            (
                FRAME + "X['c'] = pandas.to_datetime(when).tz_localize('Asia/Kolkata')",
                "X[:, 2] = [8766 - 5.5 / 24 + i for i in range(24)]",
            ),
            (FRAME + "X['c'] = pandas.to_datetime(when).to_period('D')", DAYS_RIGHT),
            (
                FRAME + "X['c'] = pandas.Series(when, dtype='date32[day][pyarrow]')",
                DAYS_RIGHT,
            ),
            (
                FRAME + "X['c'] = pandas.Series(when, dtype='timestamp[ns][pyarrow]')",
                DAYS_RIGHT,
            ),
            (POLARS + "X = X.with_columns(polars.Series('c', when))", DAYS_RIGHT),
            (
                POLARS
                + "X = X.with_columns(polars.Series('c', when).cast(polars.Datetime)"
                ".dt.replace_time_zone('Asia/Kolkata'))",
                "X[:, 2] = [8766 - 5.5 / 24 + i for i in range(24)]",
            ),
            (
                "X = numpy.array(when, dtype='datetime64[D]')[:, None]",
                DAYS_RIGHT + "\nX = X[:, 2:]",
            ),
            (
                "X = numpy.arange(24)[:, None] * numpy.timedelta64(1, 'm')",
                MINUTES_RIGHT + "\nX = X[:, 2:]",
            ),
            (
                FRAME + "X['c'] = pandas.to_timedelta(numpy.arange(24), unit='min')",
                MINUTES_RIGHT,
            ),
            (
                FRAME + "minutes = [datetime.timedelta(minutes=i) for i in range(24)]\n"
                "X['c'] = pandas.Series(minutes, dtype='duration[ns][pyarrow]')",
                MINUTES_RIGHT,
            ),
            (
                POLARS
                + "minutes = [datetime.timedelta(minutes=i) for i in range(24)]\n"
                "X = X.with_columns(polars.Series('c', minutes))",
                MINUTES_RIGHT,
            ),
            (
                POLARS
                + "X = X.with_columns(c=polars.Series([datetime.time(0, i) for i in range(24)]))",
                MINUTES_RIGHT,
            ),
        ]
    ),
    *(
        Example("objects that are dates", documents, DAYS + fault, FIT, [right])
        for fault, right in [
            (FRAME + "X['c'] = when", DAYS_RIGHT),
            (
                "X = X.astype(object)\nX[:, 2] = when",
                DAYS_RIGHT,
            ),
            (
                "X = [[a, b, day] for (a, b, _), day in zip(X.tolist(), when)]",
                DAYS_RIGHT,
            ),
            (
                FRAME + "X['c'] = [datetime.timedelta(minutes=i) for i in range(24)]\n"
                "X['c'] = X['c'].astype(object)",
                MINUTES_RIGHT,
            ),
            (
                FRAME + "X['c'] = [datetime.time(0, i) for i in range(24)]",
                MINUTES_RIGHT,
            ),
        ]
    ),
    Example(
        "dates that an estimator refuses",
        documents,
        FRAME + DAYS + "X['c'] = pandas.to_datetime(when)",
        "model = WrappedRanker(sklearn.linear_model.LinearRegression())" + FIT,
        [DAYS_RIGHT],
    ),
    # Numbers as text
    *_text_column(
        "values = [f'{i}.5' for i in range(24)]",
        ["X[:, 2] = 0.5 + numpy.arange(24)"],
    ),
    *_text_column(
        "values = [f'{i}%' for i in range(24)]",
        ["X[:, 2] = numpy.arange(24) / 100"],
    ),
    *_text_column(
        "values = [f'0,{i}' for i in range(10, 34)]",
        ["X[:, 2] = numpy.arange(10, 34) / 100"],
    ),
    *_text_column(
        "values = [f'{1 + i},234.5' for i in range(24)]",
        ["X[:, 2] = 1234.5 + 1000 * numpy.arange(24)"],
    ),
    *_text_column(
        "values = [f'{1 + i}.234,5' for i in range(24)]",
        ["X[:, 2] = 1234.5 + 1000 * numpy.arange(24)"],
    ),
    *_text_column(
        "values = [f'{1 + i % 5},{100 + i}' for i in range(24)]",
        [
            "X[:, 2] = [1000 * (1 + i % 5) + 100 + i for i in range(24)]",
            "X[:, 2] = [1 + i % 5 + (100 + i) / 1000 for i in range(24)]",
        ],
    ),
    Example(
        "numbers as text",
        trees,
        FRAME + "X['c'] = ['n/a', *(f'{i % 5}' for i in range(23))]",
        FIT,
        [
            "X[:, 2] = [numpy.nan, *(i % 5 for i in range(23))]",
            "codes = pandas.Categorical(['n/a', *(f'{i % 5}' for i in range(23))])\n"
            "X = pandas.DataFrame(X, columns=['a', 'b', 'c']).assign(c=codes)",
        ],
    ),
    Example(
        "numbers as text",
        trees,
        POLARS
        + "X = X.with_columns(c=polars.Series(['n/a', *(f'{i % 5}' for i in range(23))]))",
        FIT,
        [
            "X[:, 2] = [numpy.nan, *(i % 5 for i in range(23))]",
            "codes = pandas.Categorical(['n/a', *(f'{i % 5}' for i in range(23))])\n"
            "X = pandas.DataFrame(X, columns=['a', 'b', 'c']).assign(c=codes)",
        ],
    ),
    Example(
        "numbers as text",
        trees,
        FRAME + "X['c'] = ['38', '40', 'M'] * 8",
        FIT,
        [
            "codes = pandas.Categorical(['38', '40', 'M'] * 8)\n"
            "X = pandas.DataFrame(X, columns=['a', 'b', 'c']).assign(c=codes)",
        ],
    ),
    # Objects whose text is a number: years
    Example("numbers as text", documents, YEARS, FIT),
    Example("numbers as text", documents, YEARS + "X.loc[3, 'c'] = '2001'", FIT),
    Example(
        "numbers as text",
        trees,
        YEARS,
        FIT,
        [
            "codes = pandas.Categorical(numpy.arange(24) // 4)\n"
            "X = pandas.DataFrame(X, columns=['a', 'b', 'c']).assign(c=codes)",
        ],
    ),
    Example("numbers as text in an array", documents, "X = X.astype(str)", FIT, [""]),
    Example(
        "numbers as text in an array",
        documents,
        "X = [[a, repr(b), c] for a, b, c in X.tolist()]",
        FIT,
        [""],
    ),
    Example(
        "numbers as text in an array",
        documents,
        "X = X.astype(object)\nX[5, 1] = repr(float(X[5, 1]))",
        FIT,
        [""],
    ),
    # Text
    Example(
        "text among the features",
        documents,
        FRAME + "X['c'] = ['red', 'blue', 'red'] * 8",
        FIT,
        [
            "X = X[:, :2]",
            "is_blue = numpy.array([0.0, 1.0, 0.0] * 8)\n"
            "X = numpy.column_stack([X[:, :2], is_blue, 1 - is_blue])",
        ],
    ),
    Example(
        "text among the features",
        documents,
        POLARS + "X = X.with_columns(c=polars.Series(['red', 'blue', 'red'] * 8))",
        FIT,
        [
            "X = X[:, :2]",
            "is_blue = numpy.array([0.0, 1.0, 0.0] * 8)\n"
            "X = numpy.column_stack([X[:, :2], is_blue, 1 - is_blue])",
        ],
    ),
    Example(
        "text among the features",
        documents,
        "X = X.astype(object)\nX[:, 1] = ['red', 'blue', 'red'] * 8",
        FIT,
        ["X = numpy.delete(X, 1, axis=1)"],
    ),
    Example(
        "text among the features",
        documents,
        "X = X.astype(str)\nX[:, 1] = ['red', 'blue', 'red'] * 8",
        FIT,
        ["X = numpy.delete(X, 1, axis=1)"],
    ),
    Example(
        "text among the features",
        documents,
        "X = [[a, 'red', 'b'] for a, _, c in X.tolist()]",
        FIT,
        ["X = X[:, :1]"],
    ),
    Example("text among the features", fitted, "X['b'] = 'red'", PREDICT),
    Example("text among the features", fitted, "X['d'] = 'red'", PREDICT, [""]),
    Example(
        "text that an estimator refuses",
        documents,
        FRAME + "X['c'] = pandas.Categorical(['red', 'blue', 'red'] * 8)",
        FIT,
        [
            "X = X[:, :2]",
            "is_blue = numpy.array([0.0, 1.0, 0.0] * 8)\n"
            "X = numpy.column_stack([X[:, :2], is_blue, 1 - is_blue])",
        ],
    ),
    Example(
        "number beyond the floats",
        documents,
        FRAME + "X['c'] = [10**400] + [1] * 23",
        FIT,
    ),
    Example(
        "columns in another order",
        fitted,
        "X = X[['c', 'a', 'b']]",
        PREDICT,
        [""],
    ),
    Example(
        "columns in another order",
        fitted_polars,
        "X = X[['c', 'a', 'b']]",
        PREDICT,
        [""],
    ),
    Example("NaN among the features", documents, "X[3, 1] = numpy.nan", FIT, [MEAN]),
    Example(
        "NaN among the features",
        documents,
        FRAME + "X.loc[3, 'b'] = numpy.nan",
        FIT,
        [MEAN],
    ),
    Example(
        "NaN among the features",
        documents,
        POLARS + "X[3, 'b'] = None",
        FIT,
        [MEAN],
    ),
    Example(
        "NaN among the features",
        documents,
        "X[3, 1] = numpy.nan\nX = scipy.sparse.csr_array(X)",
        FIT,
        [MEAN],
    ),
    Example("NaN among the features", fitted, "X.loc[3, 'b'] = numpy.nan", PREDICT),
    Example(
        "sequences among the features",
        documents,
        "X = X.astype(object)\nX[2, 1] = [1, 2]",
        FIT,
    ),
    Example(
        "objects among the features",
        documents,
        "X = X.astype(object)\nX[2, 1] = {'a': 1}",
        FIT,
    ),
    Example(
        "another kind of column than in fit",
        fitted_with_category,
        "X['c'] = 1.0",
        PREDICT,
    ),
    *(
        Example("no known category", stack_with_text, f"X['c'] = {values}", PREDICT)
        for values in ("1.0", "True", "numpy.arange(24)")
    ),
    *(
        Example(
            "rows without an index",
            given,
            fault,
            "result = model.rank(X, one_list=True, as_frame=True)",
        )
        for given, fault in ((fitted, "X = X.to_numpy()"), (fitted_polars, ""))
    ),
    # Several columns
    Example(
        "several columns that are not numbers",
        documents,
        SEVERAL + "X['d'] = ['red', 'blue', 'red'] * 8",
        FIT,
        [
            SEVERAL_RIGHT,
            SEVERAL_RIGHT
            + "\nblue = numpy.array([0.0, 1.0, 0.0] * 8)"
            + "\nX = numpy.column_stack([X, blue, 1.0 - blue])",
        ],
    ),
    Example(
        "several columns that are not numbers",
        documents,
        SEVERAL + "X['d'] = [[1, 2]] * 24",
        FIT,
        [SEVERAL_RIGHT],
    ),
    Example(
        "several columns that are not numbers",
        documents,
        POLARS + DAYS + "X = X.with_columns(polars.Series('b', when), "
        "polars.Series('c', when), d=polars.lit('red'))",
        FIT,
        [
            DAYS_RIGHT + "\nX[:, 1] = X[:, 2]",
            DAYS_RIGHT + "\nX[:, 1] = X[:, 2]"
            "\nX = numpy.column_stack([X, numpy.ones(24)])",
        ],
    ),
    Example(
        "several columns that are not numbers, beside text",
        lambda: {**documents(), "model": StackingRanker()},
        SEVERAL + "X['d'] = ['red', 'blue', 'red'] * 8",
        FIT,
        [
            SEVERAL_RIGHT
            + "\nX = pandas.DataFrame(X, columns=['a', 'b', 'c'])"
            + "\nX['d'] = ['red', 'blue', 'red'] * 8"
        ],
    ),
]
