"""Fits of estimators to the partitions of Dask collections."""

import copy
from operator import add
from typing import Any, TypeVar

import numpy as np
from distributed import Client
from sklearn.base import BaseEstimator, is_classifier

from .._blocks import read_block
from ..meta._stacking import StackingRanker, as_ranker
from ..meta._wrapped import WrappedRanker
from ..order_preserving._hist_gradient_boosting import HistGradientBoostingRanker
from ..order_preserving._regressor import OrderPreservingRegressor
from ..target_losses._names import has_utilities, resolve_measure
from ..validation._check import refuse
from ..validation._checks_of_collections import CHECKS_OF_CLUSTERS
from ..validation._classes import class_labels, names_classes
from ..validation._kinds import arrive
from ..validation._parameters import check_parameters, fresh_fit
from ._blocks import blocks_of
from ._stack import fit_stack
from ._trees import fit_trees

Model = TypeVar("Model", bound=BaseEstimator)


def fit(
    model: Model,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    client: Client | None = None,
) -> Model:
    """Fit an estimator to the partitions of Dask arrays or data frames.

    Parameters
    ----------
    model : estimator
        `OrderPreservingRegressor`, or one whose batches add up:
        `LowRankSurrogateRanker` and `PairwiseDAGRanker` of documents, or with
        ``estimator="ridge"``, and `LowRankSurrogateClassifier` with
        ``estimator="ridge"``. LightGBM's own Dask trains
        ``WrappedRanker(LGBMRanker(...))``. `StackingRanker` takes these as parts.
    X : dask array or data frame of shape (n_rows, n_features)
        Features of the rows.
    y : dask array or series of shape (n_rows,), or array (n_queries, r) of fixed items
        Labels, as in memory.
    qid : dask array or series of shape (n_rows,) or None, default=None
        Query id of each document. If ids are sorted, only lists that are cut between
        two partitions move; else all rows are shuffled, with a warning.
    sample_weight : dask array or series of shape (n_rows,) or None, default=None
        Weights of the rows; None is 1 for each.
    client : distributed.Client or None, default=None
        None is the current client.

    Returns
    -------
    estimator
        The model, fitted as in memory. Trees depend on the number of workers and on
        the partitions, and with one worker are the same as in memory.

    Raises
    ------
    ValueError, TypeError
        As in memory; if collections are cut at different rows, documents have no qid,
        or categories differ between partitions.
    RuntimeError
        If a worker is lost while LightGBM trains. The model is unchanged then.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.dask import fit
    >>> X, y = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3
    >>> qid = np.arange(8) // 4
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     ranker = fit(LowRankSurrogateRanker(), *data[:2], qid=data[2])
    >>> ranker.rank(X[:3], qid=[0, 0, 0])
    array([3, 2, 1])
    """
    arrive(model=model, X=X, y=y, qid=qid, sample_weight=sample_weight)
    check_fits(model)
    return fit_blocks(model, blocks_of(model, client, X, y, qid, sample_weight))


def fit_blocks(model, blocks):
    """Fit an estimator to `DaskBlocks` of whole lists."""
    with fresh_fit(model):
        if isinstance(model, StackingRanker):
            return fit_stack(model, blocks, fit_blocks)
        if isinstance(model, WrappedRanker):
            return fit_trees(model, blocks)
        if isinstance(model, OrderPreservingRegressor):
            loss = model._check_parameters()
            model._validate_X(blocks.first_row, reset=True)
            model._fit(blocks.map(read_block, copy.copy(model), loss), loss)
            return model
        model._validate_X(blocks.first_row, reset=True)
        reader = copy.copy(model)
        if is_classifier(model) and not names_classes(model.loss_matrix, model.classes):
            reader.classes = np.unique(np.concatenate(list(blocks.map(_labels, model))))
        # A copy for each block: threads of a worker read at the same time.
        sums = blocks.total(lambda block: copy.copy(reader)._sums_of_block(block), add)
        model._check_judged(sums)
        model._keep_sums(sums)
        return model


def _labels(block, classifier):
    return np.unique(class_labels(classifier, block[1]))


# What a cluster can fit -------------------------------------------------------------


def check_fits(model, part=None, stack=None):
    """Refuse an estimator, or a part of a stack, that a cluster cannot fit."""
    is_stack = isinstance(model, StackingRanker)
    has_default_parts = is_stack and not isinstance(model.estimators, list | tuple)
    is_boosted = isinstance(model, HistGradientBoostingRanker)
    is_wrapped = isinstance(model, WrappedRanker)
    reads_blocks = is_stack or is_wrapped or isinstance(model, OrderPreservingRegressor)
    has_sums = hasattr(model, "_has_sums")
    has_trees = has_default_parts or is_boosted
    refuse(
        CHECKS_OF_CLUSTERS,
        model=model,
        part=part,
        is_wrapped=is_wrapped,
        has_trees_in_memory=has_trees,
        lines=_two_losses(stack or model) if has_trees else "",
        has_sums_or_blocks=reads_blocks or has_sums,
        adds_up=reads_blocks or (has_sums and model._has_sums()),
        cv=model.cv if is_stack else None,
    )
    if is_stack:
        check_parameters(model)
        for name, inside in model.estimators:
            check_fits(as_ranker(inside, 1), name, model)


def _two_losses(model):
    """Lines of code that make a stack of trees of two losses for a model's measure."""
    measure = model.target_loss
    of_trees = measure
    if not has_utilities(resolve_measure(measure)):
        of_trees = "ndcg"
    return f"""from lightgbm import LGBMRanker
from lowrank_rank import StackingRanker
from lowrank_rank.boosting import boosting_objective
def trees(loss, measure={of_trees!r}):
    return LGBMRanker(objective=boosting_objective(loss, measure), metric="None")
parts = [(loss, trees(loss)) for loss in ("lambdarank", "pairwise_squared")]
model = StackingRanker(parts, target_loss={measure!r})"""
