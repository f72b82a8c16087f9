"""Query ids, times, and rows that match by label."""

import numpy as np

from . import Example
from .features import FRAME, POLARS
from .kinds import FIT, documents
from .labels import SCORE, TARGET, fitted, grades

TIMES = (
    "result = ranking_target(y, qid, time=time)['time']\n"
    "result = result.astype('datetime64[D]').astype(str)"
)
WEIGHTS = "1.0 + numpy.arange(24) // 4"


def timed():
    """Grades, ids and days."""
    days = np.array(["2024-02-01", "2024-02-03", "2024-03-04", "2024-04-05"])
    return {**grades(), "time": days.astype("datetime64[D]")}


EXAMPLES = [
    Example(
        "labels among the features",
        documents,
        FRAME + "X['grade'] = y\ny = X['grade']",
        FIT,
        [""],
    ),
    Example(
        "labels among the features",
        documents,
        POLARS + "X = X.with_columns(grade=y)\ny = X['grade']",
        FIT,
        [""],
    ),
    Example("ids among the features", documents, FRAME + "X['qid'] = qid", FIT, [""]),
    Example(
        "ids among the features",
        documents,
        POLARS + "X = X.with_columns(qid=qid)",
        FIT,
        [""],
    ),
    Example(
        "ids among the features",
        documents,
        FRAME + "X['shop'] = qid\ny = ranking_target(y, qid)\nqid = X['shop']",
        FIT,
        [""],
    ),
    Example(
        "different indices",
        documents,
        FRAME + "y = pandas.Series(y).sample(frac=1, random_state=0)",
        FIT,
        ["", "y = pandas.Series(y).sample(frac=1, random_state=0).to_numpy()"],
    ),
    Example(
        "different indices",
        documents,
        FRAME + "qid = pandas.Series(qid).sample(frac=1, random_state=0)",
        FIT,
        ["", "qid = pandas.Series(qid).sample(frac=1, random_state=0).to_numpy()"],
    ),
    Example(
        "different indices",
        documents,
        FRAME + f"sample_weight = pandas.Series({WEIGHTS})[::-1]",
        FIT,
        [f"sample_weight = {WEIGHTS}", f"sample_weight = ({WEIGHTS})[::-1]"],
    ),
    Example(  # labels that repeat do not match
        "different indices",
        documents,
        "X = pandas.DataFrame(X, index=[0] * 24)\ny = pandas.Series(y)",
        FIT,
        [""],
    ),
    # Ids
    Example(
        "masked ids",
        documents,
        "qid = numpy.ma.masked_array(qid, numpy.arange(24) == 5)",
        FIT,
    ),
    Example(
        "text instead of ids",
        documents,
        FRAME + "X['query'] = qid\nqid = 'query'",
        FIT,
        [""],
    ),
    Example(
        "text instead of ids",
        documents,
        POLARS + "X = X.with_columns(query=qid)\nqid = 'query'",
        FIT,
        [""],
    ),
    Example("text instead of ids", documents, "qid = 'query'", FIT),
    Example("ids without an order", documents, "qid = set(qid.tolist())", FIT),
    Example("ids without an order", documents, "qid = 24", FIT),
    Example("ids of two dimensions", documents, "qid = qid[:, None]", FIT, [""]),
    Example(
        "ids of two dimensions",
        documents,
        "qid = pandas.DataFrame({'qid': qid})",
        FIT,
        [""],
    ),
    Example(
        "ids of two dimensions",
        documents,
        "qid = numpy.column_stack([qid, qid])",
        FIT,
    ),
    *(
        Example(
            "another number of ids",
            documents,
            f"qid = numpy.array([3, 5, 4, 4, 4, 4]){kind}",
            FIT,
            [
                "qid = numpy.array([0] * 3 + [1] * 5 + [2] * 4 + [3] * 4 + [4] * 4 + [5] * 4)"
            ],
        )
        for kind in ("", ".tolist()")
    ),
    Example("another number of ids", documents, "qid = qid[1:]", FIT),
    *(
        Example("another number of ids", fitted, fault, SCORE)
        for fault in ("qid = qid[1:]", "qid = numpy.append(qid, qid)")
    ),
    *(
        Example("no ids", grades, f"qid = {empty}", TARGET)
        for empty in ("[]", "qid[:0]", "numpy.array([])", "pandas.Series(qid[:0])")
    ),
    *(
        Example("missing id", documents, fault, FIT)
        for fault in (
            "qid = numpy.where(qid == 2, numpy.nan, qid)",
            "qid = [None, *qid[1:].tolist()]",
            "qid = pandas.Series([None, *qid[1:].astype(str)])",
            "qid = polars.Series([None, *qid[1:].tolist()])",
        )
    ),
    Example(
        "unhashable id",
        documents,
        "qid = [[shop, 0] for shop in qid.tolist()]",
        FIT,
        [""],
    ),
    Example("unhashable id", documents, "qid = [{}, *qid[1:].tolist()]", FIT),
    # Times
    Example("text instead of times", timed, "time = 'day'", TIMES),
    *(
        Example("time as text", timed, f"time = time.astype(str){kind}", TIMES, [""])
        for kind in ("", ".tolist()")
    ),
    Example(
        "time as text",
        timed,
        "time = ['9', '10', '11', '100']",
        TIMES,
        ["time = [9, 10, 11, 100]"],
    ),
    *(
        Example(
            "time as text",
            timed,
            fault,
            TIMES,
            [
                "",
                "time = numpy.array(['2024-01-02', '2024-03-02', '2024-04-03', "
                "'2024-05-04'], dtype='datetime64[D]')",
            ],
        )
        for fault in (
            "time = ['01/02/2024', '03/02/2024', '04/03/2024', '05/04/2024']",
            "time = pandas.Series(['01/02/2024', '03/02/2024', '04/03/2024', '05/04/2024'])",
        )
    ),
    Example("missing time", timed, "time[1] = 'NaT'", TIMES),
    Example("missing time", timed, "time = [1.0, None, 2.0, 3.0]", TIMES),
    Example("times of several kinds", timed, "time = [*time.tolist()[1:], 3]", TIMES),
    Example("times of several kinds", timed, "time = [True, False, True, True]", TIMES),
]
