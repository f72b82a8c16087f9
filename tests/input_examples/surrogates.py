"""Surrogates, their bounds, losses of boosted trees, and losses of sets."""

import numpy as np
import pandas as pd

from lowrank_rank import HistGradientBoostingRanker, OrderPreservingRegressor
from lowrank_rank.boosting import boosting_metric, boosting_objective

from . import Example


def lists():
    """Six lists of four documents."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=24), [-0.5, 0.5]).astype(float)
    return {
        "X": X,
        "y": y,
        "v": y,
        "y_true": y,
        "s": X[:, 1],
        "qid": None,
        "group": [4] * 6,
        "surrogate": "ranknet",
        "target_loss": "ndcg",
        "loss": "cross_entropy",
        "warm_start": False,
        "model": OrderPreservingRegressor(),
        "metric": boosting_metric("ndcg"),
        "make": boosting_objective,
    }


def long_list():
    """One list of forty thousand documents."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40_000, 1))
    y = 1.0 + (X[:, 0] > 0)
    qid = np.zeros(len(y))
    return {**lists(), "X": X, "y": y, "qid": qid, "surrogate": "cross_entropy"}


def trees():
    """The same lists, for boosted trees; X is a frame with categories."""
    arguments = lists()
    X = pd.DataFrame(arguments["X"], columns=["a", "b"])
    X["c"] = pd.Categorical(np.array(["u", "v", "w"])[arguments["y"].astype(int)])
    model = HistGradientBoostingRanker(
        max_iter=5, min_samples_leaf=2, categorical_features="from_dtype"
    )
    return {**arguments, "X": X, "qid": np.repeat(np.arange(6), 4), "model": model}


def bounds():
    """Expected utilities of three items."""
    return {
        "surrogate": "pointwise_squared",
        "measure": "ndcg",
        "discounts": [1.0, 0.6, 0.5],
        "n_items": 3,
        "expected": [[0.7, 0.3, 0.1], [0.2, 0.5, 0.3]],
        "surrogate_regret": [0.5, 0.2],
    }


def sets():
    """Sets of labels."""
    return {
        "y": np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1]]),
        "max_size": 3,
        "loss_matrix": [[0.0, 1.0], [2.0, 0.0]],
    }


FIT = """
model.set_params(surrogate=surrogate, target_loss=target_loss)
result = model.fit(X, y, qid=qid).predict(X)
"""
BLOCKS = """
model.fit_blocks([(X, y), (X, other)])
"""
LOSS = "result = lowrank_rank.surrogates.surrogate_loss(surrogate, v, s, qid=qid)"
OBJECTIVE = """
objective = make(surrogate, target_loss, qid=qid)
result = numpy.concatenate(objective(y_true, s, group=group))
"""
VALUE = """
result = make(surrogate, target_loss).value(y_true, s, group=group)
"""
METRIC = """
result = metric(y_true, s, group=group)[1]
"""
TREES = """
result = model.fit(X[['a', 'b']].to_numpy(), y).rank(X[['a', 'b']].to_numpy())
"""
CATEGORIES = """
model.fit(train, y, qid=qid)
result = model.predict(X)
"""
MORE_TREES = """
model.fit(X, y, qid=qid)
model.set_params(warm_start=warm_start, loss=loss).fit(X, y, qid=qid)
result = model.predict(X)
"""
DISCOUNTS = "result = lowrank_rank.order_preserving._bounds.C_phi(discounts)"
CONSTANT = "result = lowrank_rank.order_preserving._bounds.C_phi(measure, n_items)"
BOUND = """
result = lowrank_rank.calibration.regret_bound(
    surrogate, measure=measure, expected=expected, surrogate_regret=surrogate_regret
)
"""
ENCODE = "result = lowrank_rank.target_losses.FBeta().encode(y, max_size)"
MATRIX = "result = lowrank_rank.target_losses.MatrixLoss(loss_matrix).matrix_"


def with_train():
    """The trees, with the frame of fit."""
    arguments = trees()
    return {**arguments, "train": arguments["X"]}


def with_polars():
    """The trees, with frames of polars."""
    import polars as pl

    arguments = with_train()
    X = pl.from_pandas(arguments["X"]).with_columns(pl.col("c").cast(pl.Categorical))
    return {**arguments, "X": X, "train": X}


EXAMPLES = [
    Example(
        "surrogate without value",
        lists,
        "surrogate = 'lambdarank'",
        FIT,
        ["surrogate = 'listnet'"],
    ),
    Example(
        "surrogate without value",
        lists,
        "surrogate = 'lambdarank'",
        VALUE,
        ["surrogate = 'listnet'"],
    ),
    Example("negative utility", lists, "v = v - 1.0", LOSS),
    Example(
        "eta below a utility",
        lists,
        "surrogate = lowrank_rank.surrogates.SURROGATES['pointwise_logistic'](eta=1.0)",
        LOSS,
    ),
    Example(
        "many pairs of rows",
        long_list,
        "surrogate = 'ranknet'",
        FIT,
        [""],
    ),
    Example("loss without utilities", lists, "target_loss = 'pd'", FIT),
    Example("loss without utilities", lists, "target_loss = 'pd'", OBJECTIVE),
    Example(
        "blocks of two layouts", lists, "other = numpy.column_stack([y, y])", BLOCKS
    ),
    Example(
        "overflow of the surrogate",
        lists,
        "y = y * 1e200; target_loss = 'dcg'; surrogate = 'pointwise_squared'",
        FIT,
    ),
    # Bounds
    Example("measure without places", bounds, "measure = 'pd'", CONSTANT),
    Example("discounts that increase", bounds, "discounts.reverse()", DISCOUNTS),
    Example("shapes of a regret", bounds, "surrogate_regret = [0.5]", BOUND),
    Example("negative regret", bounds, "surrogate_regret[1] = -0.2", BOUND),
    Example(
        "surrogate without bound",
        bounds,
        "surrogate = lowrank_rank.surrogates.Surrogate()",
        BOUND,
    ),
    # Boosted trees
    Example(
        "table of numbers of trees",
        lists,
        "y_true = y[:, None]",
        OBJECTIVE,
        [""],
    ),
    Example(
        "table of numbers of trees",
        lists,
        "y_true = pandas.DataFrame({'y': y})",
        METRIC,
        [""],
    ),
    Example(
        "table of numbers of trees",
        lists,
        "y_true = ranking_target(y, numpy.zeros(24))",
        METRIC,
    ),
    Example(
        "scores of several outputs", lists, "s = numpy.column_stack([s, s])", OBJECTIVE
    ),
    Example("no lists of trees", lists, "group = None", OBJECTIVE),
    Example("no lists of trees", lists, "group = None", METRIC),
    Example("lists given twice", lists, "qid = numpy.arange(24) // 2", OBJECTIVE, [""]),
    Example(
        "qid of other rows", lists, "group = None; qid = numpy.arange(20)", OBJECTIVE
    ),
    Example("groups of other rows", lists, "group = [4] * 5", METRIC),
    Example(
        "groups of other rows",
        lists,
        "group = numpy.repeat([7, 3, 9, 1, 2, 5], 4)",
        METRIC,
        [""],
    ),
    Example(
        "groups of other rows",
        lists,
        "group = pandas.Series(numpy.repeat([7, 3, 9, 1, 2, 5], 4))",
        OBJECTIVE,
        [""],
    ),
    Example(
        "groups of other rows",
        lists,
        "group = numpy.repeat([7, 3, 9, 1, 2, 5], 4).tolist()",
        OBJECTIVE,
        [""],
    ),
    Example(
        "fixed items of trees",
        trees,
        "y = numpy.column_stack([y, 2.0 - y, X['b'] ** 2])",
        TREES,
        [
            "y = numpy.column_stack([y, 2.0 - y, X['b'] ** 2])\n"
            "class Forest:\n"
            "    def fit(self, X, y):\n"
            "        return LowRankSurrogateRanker(estimator='trees').fit(X, y)\n"
            "model = Forest()"
        ],
    ),
    Example(
        "text of a category",
        with_train,
        "X = X.assign(c=X['c'].astype(str).astype(object))",
        CATEGORIES,
        [""],
    ),
    Example(
        "text of a category",
        with_polars,
        "X = X.with_columns(polars.col('c').cast(polars.String))",
        CATEGORIES,
        [""],
    ),
    Example(
        "other trees than before",
        trees,
        "warm_start = True; loss = 'ranknet'",
        MORE_TREES,
        ["loss = 'ranknet'"],
    ),
    # Sets and costs
    Example("large set", sets, "max_size = 2", ENCODE, [""]),
    Example("costs that are not a matrix", sets, "loss_matrix = [0.0, 1.0]", MATRIX),
]
