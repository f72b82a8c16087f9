"""Predictions, ranks and scores of fitted estimators on Dask collections."""

import copy
from inspect import signature
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, default_client
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..lists._ranks import ranks_from_orders, ranks_from_scores
from ..target_losses._target_loss import mean_of_sums, sums_of_lists
from ..validation._check import refuse
from ..validation._checks_of_collections import CHECKS_OF_ANSWERS
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import check_one_list, refuse_zero_weights
from ._blocks import blocks_of, pieces_of


def predict(model: Any, X: Any) -> da.Array:
    """Predictions for a Dask collection: a dask array with the same partitions.

    Parameters
    ----------
    model : estimator
        A fitted estimator whose predictions of a row depend on that row alone: any
        ranker, or a classifier of one label a row.
    X : dask array or data frame of shape (n_rows, n_features)
        Features of the rows.

    Returns
    -------
    dask array of shape (n_rows,) or (n_rows, r)
        As `predict` in memory.

    Raises
    ------
    ValueError
        If the model predicts sequences or sets of labels.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.dask import predict
    >>> X, y = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3
    >>> qid = np.arange(8) // 4
    >>> ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     scores = predict(ranker, data[0]).compute()
    >>> scores.shape
    (8,)
    """
    check_is_fitted(model)
    arrive(X=X)
    n_items = getattr(model, "n_items_", None)
    dtype = np.dtype(np.float64)
    predicts_sets = is_classifier(model) and (
        _needs_lists(model) or hasattr(model, "n_labels_")
    )
    refuse(CHECKS_OF_ANSWERS, model=model, predicts_sets=predicts_sets)
    if is_classifier(model):
        dtype = getattr(model, "decisions_", model.classes_).dtype
    light = delayed(_light(model))
    pieces = pieces_of(X)
    lengths = [np.nan] * len(pieces)
    if isinstance(X, da.Array):
        lengths = X.chunks[0]
    columns = () if n_items is None else (n_items,)
    parts = [
        da.from_delayed(light.predict(piece), (length, *columns), dtype=dtype)
        for piece, length in zip(pieces, lengths, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def rank(
    model: Any,
    X: Any,
    *,
    qid: Any = None,
    one_list: bool = False,
    client: Client | None = None,
) -> da.Array:
    """Ranks of each list, 1 = best: a dask array with the partitions of X.

    Parameters
    ----------
    model : ranker
        A fitted ranker.
    X, qid
        As in `fit`.
    one_list : bool, default=False
        Rank all rows as one list, in place of qid.
    client : distributed.Client or None, default=None
        Client that runs the tasks; None is the current one.

    Returns
    -------
    dask array of int, shape (n_rows,) or (n_queries, r)
        Ranks, 1 is best.

    Raises
    ------
    ValueError
        If documents have no qid, or the model is a classifier or a `PairwiseDAGRanker`
        of documents.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.dask import rank
    >>> X, y = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3
    >>> qid = np.arange(8) // 4
    >>> ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     ranks = rank(ranker, data[0], qid=data[2]).compute()
    >>> ranks[:4]
    array([3, 2, 1, 4])
    """
    check_is_fitted(model)
    arrive(X=X, qid=qid)
    is_documents = getattr(model, "n_items_", None) is None
    refuse(
        CHECKS_OF_ANSWERS,
        model=model,
        ranks_classes=is_classifier(model),
        ranks_lists=is_documents and _needs_lists(model),
        ranks_without_ids=is_documents and qid is None and not one_list,
    )
    check_one_list(one_list, qid=qid, n_items=model.n_items_)
    scores: Any = predict(model, X)
    if model.n_items_ is not None:
        orders = scores.map_blocks(lambda s: np.argsort(-s, axis=1, kind="stable"))
        return orders.map_blocks(ranks_from_orders, dtype=np.intp)
    client = default_client() if client is None else client
    parts = client.gather(client.compute(pieces_of(scores)))
    lengths = [len(part) for part in parts]
    ids = qid
    if not one_list:
        ids = np.concatenate(client.gather(client.compute(pieces_of(qid))))
    lists = read_lists(ids, sum(lengths))
    ranks = lists.ungroup(ranks_from_scores(lists.group(np.concatenate(parts)), lists))
    return da.from_array(ranks, chunks=(tuple(lengths),))


def score(
    model: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    client: Client | None = None,
) -> float:
    """Score of a fitted estimator on partitions, as its `score` in memory.

    Parameters
    ----------
    model : estimator
        A fitted ranker, `LowRankSurrogateClassifier` or `StructuredHingeClassifier`.
    X, y, qid, sample_weight, client
        As in `fit`.

    Returns
    -------
    float
        Greater is better.

    Raises
    ------
    ValueError
        If the model is another classifier: precision at k or F1 of all rows is not the
        mean over partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.dask import score
    >>> X, y = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3
    >>> qid = np.arange(8) // 4
    >>> ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     value = score(ranker, *data[:2], qid=data[2])
    >>> value
    1.0
    """
    check_is_fitted(model)
    arrive(X=X, y=y, qid=qid, sample_weight=sample_weight)
    refuse(
        CHECKS_OF_ANSWERS,
        model=model,
        has_other_score=is_classifier(model) and not hasattr(model, "decisions_"),
    )
    blocks = blocks_of(model, client, X, y, qid, sample_weight)
    if is_classifier(model):
        total, weight = blocks.sum(_costs, _light(model))
        if not weight > 0:
            refuse_zero_weights()
        return float(total / weight)
    sums = blocks.sum(_sums_of_measure, _light(model))
    return mean_of_sums(model.target_loss_, sums)


def _needs_lists(model):
    """Whether the decoder of documents compares the rows of a list with one another."""
    return "qid" in signature(model.predict).parameters


def _light(model):
    """Copy a model without its sums, to send it to workers."""
    light: Any = copy.copy(model)
    light._sums_ = None
    return light


def _sums_of_measure(block, model):
    """Sum the measure over the lists of a block."""
    X, y, qid, weights = block
    options = {}
    if model.n_items_ is None and _needs_lists(model):
        options["qid"] = qid
    scores = model.predict(X, **options)
    return sums_of_lists(model.target_loss_, y, scores, qid, weights)


def _costs(block, model):
    """Weighted sum of one minus the cost of each row, and the weights."""
    X, y, _, weights = block
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    value = model.score(X, y, weights) if weights.any() else 0.0
    return np.array([value * weights.sum(), weights.sum()])
