"""Dask collections that do not match, and models that a cluster cannot fit."""

from functools import cache

import dask.array as da
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
)

from . import Example

FIT = """
import lowrank_rank.dask
options = {"sample_weight": sample_weight, "client": client()}
result = lowrank_rank.dask.fit(model, X, y, qid=qid, **options).predict(rows)
"""

FIT_FEW_TREES = (
    """
few = {name: 5 for name in model.get_params() if name.endswith("n_estimators")}
model.set_params(**few)
"""
    + FIT
)

RANK = """
import lowrank_rank.dask
ranks = lowrank_rank.dask.rank(model, X, qid=qid, one_list=one_list, client=client())
result = ranks.compute()
"""

PREDICT = """
import lowrank_rank.dask
result = lowrank_rank.dask.predict(model, X).compute()
"""

SCORE = """
import lowrank_rank.dask
result = lowrank_rank.dask.score(model, X, y, client=client())
"""


@cache
def client():
    """One cluster for all examples, within the process."""
    from distributed import Client

    return Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    )


def arrays(n_queries=12):
    """Features, grades and ids of queries of four documents in three chunks."""
    rng = np.random.default_rng(0)
    n = 4 * n_queries
    rows = rng.normal(size=(n, 3))
    y = rng.integers(0, 3, n).astype(float)
    y[::4] = 0.0
    return {
        "rows": rows,
        "X": da.from_array(rows, chunks=(n // 3, -1)),
        "y": da.from_array(y, chunks=n // 3),
        "qid": da.from_array(np.repeat(np.arange(n_queries), 4), chunks=n // 3),
        "sample_weight": None,
        "one_list": False,
        "client": client,
        "model": LowRankSurrogateRanker(),
    }


def with_model(model):
    """Clean arguments with a model."""
    return lambda: {**arrays(), "model": model}


def fitted(model):
    """Clean arguments with a fitted model of documents."""

    def clean():
        words = arrays()
        data = {name: words[name].compute() for name in ("y", "qid")}
        model.fit(words["rows"], data["y"], qid=data["qid"])
        return {**words, "model": model}

    return clean


def classes(model, sets=False):
    """Clean arguments with a fitted classifier of labels or sets."""

    def clean():
        words = arrays()
        labels = (words["rows"] > 0).astype(int)
        model.fit(words["rows"], labels if sets else labels[:, 0])
        return {**words, "model": model}

    return clean


def categories():
    """A frame with a column of categories in two partitions."""
    import dask.dataframe as dd

    frame = pd.DataFrame(
        {
            "size": np.arange(24.0) % 5,
            "kind": pd.Categorical(list("aabbccaabbccddeeffddeeff")),
            "y": np.arange(24.0) % 3,
            "qid": np.arange(24) // 4,
        }
    )
    model = WrappedRanker(_ranker())
    whole = dd.from_pandas(frame, npartitions=2)
    return {
        "rows": frame[["size", "kind"]],
        "X": whole[["size", "kind"]],
        "y": whole["y"],
        "qid": whole["qid"],
        "client": client,
        "sample_weight": None,
        "model": model,
    }


def _ranker():
    """A small ranker of LightGBM."""
    from lightgbm import LGBMRanker

    return LGBMRanker(n_estimators=2, min_child_samples=1, n_jobs=1, verbose=-1)


OWN_CATEGORIES = """
from dask.dataframe.utils import clear_known_categories
def own(part):
    return part.assign(kind=part["kind"].cat.remove_unused_categories())
X = X.map_partitions(own, meta=clear_known_categories(X._meta))
"""

TREES = """
from lightgbm import LGBMRanker
model = StackingRanker(
    [
        (
            loss,
            LGBMRanker(
                objective=lowrank_rank.boosting.boosting_objective(loss, "ndcg"), metric="None"
            ),
        )
        for loss in ("lambdarank", "pairwise_squared")
    ],
    target_loss="ndcg",
)
"""

COLLECTIONS = [
    *[
        Example("data that are not of Dask", arrays, fault, FIT, [""])
        for fault in (
            "y = y.compute()",
            "qid = qid.compute().tolist()",
            "y = pandas.Series(y.compute())",
        )
    ],
    Example("data that are not of Dask", arrays, "X = X.compute()", FIT),
    Example("documents of a cluster without qid", arrays, "qid = None", FIT),
    Example(
        "other numbers of partitions",
        arrays,
        "import dask.dataframe\n"
        "qid = pandas.Series(qid.compute(), name='qid')\n"
        "qid = dask.dataframe.from_pandas(qid, npartitions=2)",
        FIT,
    ),
    Example("rows of a partition", arrays, "qid = qid[:-3]", FIT),
    Example(
        "collections without rows",
        arrays,
        "X = X[:0].rechunk((1, -1)); y = y[:0]; qid = qid[:0]",
        FIT,
    ),
    Example("categories of partitions", categories, OWN_CATEGORIES, FIT, [""]),
]

MODELS = [
    Example(
        "trees on a cluster",
        lambda: {
            **arrays(60),
            "model": HistGradientBoostingRanker(target_loss="ndcg"),
        },
        "",
        FIT_FEW_TREES,
        [TREES],
    ),
    Example(
        "trees on a cluster",
        lambda: {**arrays(60), "model": StackingRanker(target_loss="ndcg")},
        "",
        FIT_FEW_TREES,
        [TREES],
    ),
    Example("model of one machine", with_model(WrappedRanker(Ridge())), "", FIT),
    Example(
        "model of one machine", with_model(StackingRanker([("x", Ridge())])), "", FIT
    ),
    Example(
        "early stopping on a cluster",
        lambda: {**arrays(), "model": WrappedRanker(_ranker())},
        "model.set_params(early_stopping=True)",
        FIT,
        [""],
    ),
    Example("model without sums", with_model(PrecisionAtKPerceptron()), "", FIT),
    Example(
        "regressor on a cluster",
        lambda: {**arrays(), "model": LowRankSurrogateRanker(estimator="ridge")},
        "model.set_params(estimator='trees')",
        FIT,
        [""],
    ),
    Example(
        "regressor on a cluster",
        lambda: {
            **arrays(),
            "model": StackingRanker(
                [("a", LowRankSurrogateRanker())], weights={"a": 1}
            ),
        },
        "model.set_params(a__estimator='trees')",
        FIT,
        ["model.set_params(a__estimator='ridge')"],
    ),
    Example(
        "folds on a cluster",
        lambda: {
            **arrays(),
            "model": StackingRanker(
                [
                    ("a", LowRankSurrogateRanker()),
                    ("b", LowRankSurrogateRanker(alpha=9.0)),
                ],
                cv=3,
            ),
        },
        "model.set_params(cv=sklearn.model_selection.GroupKFold(4))",
        FIT,
        [""],
    ),
    Example(
        "fewer lists than folds",
        with_model(StackingRanker([("a", LowRankSurrogateRanker())], cv=20)),
        "",
        FIT,
    ),
]

ANSWERS = [
    Example(
        "sets predicted on a cluster",
        classes(LowRankSurrogateMultilabelClassifier(), sets=True),
        "",
        PREDICT,
    ),
    Example("ranks of classes", classes(LowRankSurrogateClassifier()), "", RANK),
    Example("ranks of whole lists", fitted(PairwiseDAGRanker()), "", RANK),
    Example(
        "ranks without qid",
        lambda: {**fitted(LowRankSurrogateRanker())(), "qid": None, "one_list": True},
        "one_list = False",
        RANK,
        [""],
    ),
    Example(
        "score of a cluster",
        classes(LowRankSurrogateMultilabelClassifier(), sets=True),
        "",
        SCORE,
    ),
]

EXAMPLES = [*COLLECTIONS, *MODELS, *ANSWERS]
