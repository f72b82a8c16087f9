"""Objects of a kind that no function reads."""

import numpy as np

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.metrics import ndcg_score

from ..internals import decode_map_exact
from . import Example


def documents():
    """Six queries of four documents, with three features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 24).astype(float)
    y[::4] = 0.0
    return {
        "X": rng.normal(size=(24, 3)),
        "y": y,
        "qid": np.repeat(np.arange(6), 4),
        "sample_weight": None,
        "model": OrderPreservingRegressor(tol=1e-9),
    }


FIT = """
model.fit(X, y, qid=qid, sample_weight=sample_weight)
result = model.predict(X)
"""

#: A class that looks like a tensor with a gradient, where there is no torch.
TENSOR = """
class Tensor:
    __module__ = "torch"
    requires_grad = True
    def __init__(self, values):
        self.values = values
    def detach(self):
        return self
    cpu = detach
    def numpy(self):
        return self.values
"""


def scored_rows():
    """Three queries of four documents: grades, scores and weights."""
    rng = np.random.default_rng(1)
    return {
        "y_true": np.tile([2.0, 0.0, 1.0, 0.0], 3),
        "y_score": rng.integers(0, 90, 12),
        "sample_weight": np.repeat([1, 2, 4], 4),
        "qid": np.repeat([1, 2, 3], 4),
        "ndcg_score": ndcg_score,
    }


NDCG = """
result = ndcg_score(y_true, y_score, qid=qid, sample_weight=sample_weight)
"""


def vectors():
    """Mean labels of one query of two items."""
    return {"u": np.array([[2.0, 0.5, 1.0]]), "decode_map_exact": decode_map_exact}


DECODED = """
n_items = 1 if numpy.shape(u)[-1:] == (1,) else 2
decoded = decode_map_exact(u, n_items=n_items)
result = [*decoded.ranks.ravel(), *decoded.values]
"""
#: Weights of the queries, in seconds.
HALVES = "sample_weight = numpy.repeat([0.5, 1.0, 2.0], 4)"
MILLISECONDS = "(500 * sample_weight).astype('timedelta64[ms]')"

EXAMPLES = [
    Example("lazy", documents, "X = polars.DataFrame(X).lazy()", FIT, [""]),
    Example("lazy", documents, "y = polars.DataFrame({'y': y}).lazy()", FIT, [""]),
    Example("iterator", documents, "X = iter(X.tolist())", FIT, [""]),
    Example("iterator", documents, "qid = (i for i in qid.tolist())", FIT, [""]),
    Example("tensor", documents, TENSOR + "X = Tensor(X)", FIT, [""]),
    Example(
        "booster",
        documents,
        "X = type('Booster', (), {'__module__': 'lightgbm.basic'})()",
        FIT,
    ),
    Example(
        "Series instead of a table",
        vectors,
        "u = pandas.Series(u[0])",
        DECODED,
        ["", "u = numpy.array([[2.0], [0.5], [1.0]])"],
    ),
    Example(
        "Series instead of a table",
        vectors,
        "u = polars.Series(u[0])",
        DECODED,
        ["", "u = numpy.array([[2.0], [0.5], [1.0]])"],
    ),
    Example(
        "durations", scored_rows, f"sample_weight = {MILLISECONDS}", NDCG, [HALVES]
    ),
    Example(
        "durations",
        scored_rows,
        f"sample_weight = pandas.Series({MILLISECONDS})",
        NDCG,
        [HALVES],
    ),
    Example(
        "durations",
        scored_rows,
        f"sample_weight = polars.Series({MILLISECONDS})",
        NDCG,
        [HALVES],
    ),
    Example(
        "durations",
        scored_rows,
        "y_true = y_true.astype('timedelta64[m]')",
        NDCG,
        ["y_true = numpy.tile([120.0, 0.0, 60.0, 0.0], 3)"],
    ),
    Example(
        "durations",
        vectors,
        "u = pandas.DataFrame(u, columns=['a', 'b', 'c'])\n"
        "u['a'] = numpy.array([1500], 'timedelta64[ms]')",
        DECODED,
        ["u[0, 0] = 1.5"],
    ),
    Example(
        "durations",
        vectors,
        "u = polars.DataFrame(u, schema=['a', 'b', 'c'])\n"
        "u = u.with_columns(a=polars.lit(datetime.timedelta(seconds=1.5)))",
        DECODED,
        ["u[0, 0] = 1.5"],
    ),
]
