"""Estimators on a Dask cluster, with the coefficients of a fit in memory.

Fits add up sums over the partitions of Dask arrays and data frames: the statistics of
ridge regression, or value and gradient of a surrogate. Only these sums travel between
machines, and the rows of lists that are cut between two partitions. ``pip install
"lowrank_rank[dask]"``.
"""

import copy
from collections.abc import Callable, Iterator
from functools import reduce
from inspect import signature
from operator import add
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

try:
    import dask.array as da
    from dask import delayed, is_dask_collection
    from distributed import Client, default_client
except ImportError as error:
    raise ImportError(
        "lowrank_rank.dask needs Dask and distributed: pip install "
        '"lowrank_rank[dask]".'
    ) from error

from ._arrays import check_same_index, n_rows, stacked, take_rows
from ._base import check_one_list
from ._blocks import Blocks
from ._classes import class_labels, names_classes
from ._labels import read_scored, refuse_ids_beside_grades, refuse_zero_weights
from ._lists import RankingLists, ranks_from_orders, ranks_from_scores
from ._parameters import fresh_fit
from ._warn import warn
from .order_preserving._problem import read
from .order_preserving._regressor import OrderPreservingRegressor

__all__ = ["fit", "predict", "rank", "score"]

# Blocks on a cluster ----------------------------------------------------------------


class DaskBlocks(Blocks):
    """Blocks as futures: workers apply functions to them, and sums come back.

    Dask remembers how each future was made, and makes the blocks of a lost worker
    again.
    """

    def __init__(self, client: Any, futures: list[Any], first_row: Any = None) -> None:
        self.client = client
        self.futures = futures
        self.first_row = first_row

    def __iter__(self) -> Iterator[Any]:
        return iter(self.client.gather(self.futures))

    def map(self, function: Callable[..., Any], *args: Any) -> "DaskBlocks":
        """Blocks with ``function(block, *args)`` applied by the workers."""
        repeated = [[arg] * len(self.futures) for arg in args]
        futures = self.client.map(function, self.futures, *repeated, pure=False)
        return DaskBlocks(self.client, futures)

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum in the order of the blocks, so that every run gives the same digits."""
        return reduce(add, self.map(function, *args))

    def total(self, function: Callable[..., Any], add: Callable[..., Any]) -> Any:
        """Sum of p x p numbers of each block; a worker adds up eight at a time."""
        parts = [delayed(function)(block) for block in self.futures]
        while len(parts) > 1:
            groups = [parts[first : first + 8] for first in range(0, len(parts), 8)]
            parts = [delayed(reduce)(add, group) for group in groups]
        return self.client.compute(parts[0]).result()


# Partitions -------------------------------------------------------------------------


def _pieces(collection, like=None):
    """Delayed partitions of a collection, with the row chunks of the array `like`."""
    if collection is None:
        return None
    if not isinstance(collection, da.Array):
        # The optimiser of frames would join partitions of narrow columns, and leave
        # those of X.
        return collection.to_delayed(optimize_graph=False)
    row_chunks = collection.chunks[0]
    has_known_lengths = isinstance(like, da.Array)
    if has_known_lengths and like.shape[0] == collection.shape[0]:
        row_chunks = like.chunks[0]
    # Whole rows: one chunk of all columns.
    chunks = dict.fromkeys(range(1, collection.ndim), -1)
    chunks[0] = row_chunks
    return np.ravel(collection.rechunk(chunks).to_delayed()).tolist()


def _block(number, X, y, qid, weights):
    """Make a block of a partition; y of a single column becomes a vector."""
    parts = {"X": X, "y": y, "qid": qid, "sample_weight": weights}
    lengths = {name: n_rows(part) for name, part in parts.items() if part is not None}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ValueError(
            f"Partition {number} has different numbers of rows: {counts}. Make it of "
            "one frame."
        )
    refuse_ids_beside_grades(y)
    try:
        check_same_index(**parts)
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from None
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if hasattr(qid, "to_numpy"):
        qid = qid.to_numpy()
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = y[:, 0]
    return X, y, qid, weights


def _ids_and_first_row(block):
    """Distinct query ids and the features of the first row; None without rows."""
    X, y, qid, _ = block
    if not n_rows(y):
        return None
    ids = None if qid is None else RankingLists.from_qid(qid).ids
    return ids, take_rows(X, [0])


def _partitions(client, X, y, qid, weights):
    """`DaskBlocks` of whole lists from partitions, without the empty ones."""
    collections = {"X": X, "y": y, "qid": qid, "sample_weight": weights}
    for name, collection in collections.items():
        if collection is not None and not is_dask_collection(collection):
            raise TypeError(
                f"{name} must be a Dask array or data frame, got "
                f"{type(collection).__name__}: make one with da.from_array(..., "
                "chunks=...), or use the class without Dask."
            )
    columns = [_pieces(collection, like=X) for collection in collections.values()]
    counts = {len(pieces) for pieces in columns if pieces is not None}
    if len(counts) > 1:
        raise ValueError(
            "X, y, qid, sample_weight must have equal partitions, got "
            f"{sorted(counts)}."
        )
    n_partitions = counts.pop()
    absent = [None] * n_partitions
    columns = [absent if pieces is None else pieces for pieces in columns]
    blocks = [
        delayed(_block)(number, *pieces)
        for number, pieces in enumerate(zip(*columns, strict=True))
    ]
    descriptions = [delayed(_ids_and_first_row)(block) for block in blocks]
    computed = client.compute(blocks + descriptions)
    descriptions = client.gather(computed[n_partitions:])
    futures = []
    ids = []
    first_rows = []
    for future, description in zip(computed[:n_partitions], descriptions, strict=True):
        if description is None:
            continue
        futures.append(future)
        ids.append(description[0])
        first_rows.append(description[1])
    if not futures:
        raise ValueError("There are no rows: at least one is needed.")
    if qid is not None:
        futures = whole_lists(client, futures, ids)
    return DaskBlocks(client, futures, first_rows[0])


def _rows_of_lists(block, is_chosen):
    """Rows of a block in some of its lists; `is_chosen` has a flag for each id."""
    lists = RankingLists.from_qid(block[2])
    rows: Any = np.flatnonzero(lists.ungroup(lists.repeat(is_chosen)))
    if rows[-1] - rows[0] == len(rows) - 1:
        rows = slice(rows[0], rows[-1] + 1)  # views, no copies
    return tuple(None if part is None else take_rows(part, rows) for part in block)


def _join(blocks):
    """Concatenate blocks."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*blocks, strict=True)
    return tuple(None if parts[0] is None else stacked(parts) for parts in columns)


def whole_lists(client: Any, futures: list[Any], distinct: Any) -> list[Any]:
    """Move the rows of each list to its first partition; return futures of blocks.

    `distinct` has the distinct query ids of each partition.
    """
    # The first partition of each id, and the one of each list of each partition.
    first_partition: dict = {}
    homes = []
    for number, ids in enumerate(distinct):
        of_ids = [first_partition.setdefault(one, number) for one in ids.tolist()]
        homes.append(np.array(of_ids))
    n_moved = [np.count_nonzero(home != number) for number, home in enumerate(homes)]
    if not any(n_moved):
        return futures
    if max(n_moved) > 1:
        warn(
            "The rows are not sorted by qid: a shuffle brings the lists together, and "
            "moves nearly all of X between workers. Sort by qid once (set_index) and "
            "store the result."
        )
    sources = []
    targets = []
    is_chosen = []
    for future, home in zip(futures, homes, strict=True):
        for target in np.unique(home):
            sources.append(future)
            targets.append(target)
            is_chosen.append(home == target)
    moved = client.map(_rows_of_lists, sources, is_chosen, pure=False)
    parts: dict[int, list] = {}
    for target, rows in zip(targets, moved, strict=True):
        parts.setdefault(target, []).append(rows)
    return client.map(_join, list(parts.values()), pure=False)


Model = TypeVar("Model", bound=BaseEstimator)

# Estimators -------------------------------------------------------------------------


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
        ``estimator="ridge"``.
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
        The model, fitted as in memory.

    Raises
    ------
    ValueError, TypeError
        As in memory; if collections are cut at different rows, or documents have no
        qid.

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
    blocks = _blocks(model, client, X, y, qid, sample_weight)
    with fresh_fit(model):
        if isinstance(model, OrderPreservingRegressor):
            loss = model._check_parameters()
            model._validate_X(blocks.first_row, reset=True)
            model._fit(blocks.map(read, copy.copy(model), loss), loss)
            return model
        if not model._has_sums():
            raise ValueError(
                f"On a cluster set estimator='ridge', got {model.estimator!r}."
            )
        model._validate_X(blocks.first_row, reset=True)
        reader = copy.copy(model)
        if is_classifier(model) and not names_classes(model.loss_matrix, model.classes):
            reader.classes = np.unique(np.concatenate(list(blocks.map(_labels, model))))
        # A copy for each block: threads of a worker read at the same time.
        sums = blocks.total(lambda block: copy.copy(reader)._sums_of_block(block), add)
        model._check_judged(sums)
        model._keep_sums(sums)
        return model


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
    n_items = getattr(model, "n_items_", None)
    dtype = np.dtype(np.float64)
    if is_classifier(model):
        if _needs_lists(model) or hasattr(model, "n_labels_"):
            _refuse(
                model,
                "predicts sequences or sets of labels",
                "model.predict(X.compute())",
            )
        dtype = getattr(model, "decisions_", model.classes_).dtype
    light = delayed(_light(model))
    pieces = _pieces(X)
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
    if is_classifier(model):
        line = "scipy.stats.rankdata(-model.decision_function(X.compute()))"
        _refuse(model, "predicts classes, which have no ranks", line)
    check_one_list(one_list, qid, model.n_items_)
    if model.n_items_ is None and _needs_lists(model):
        raise ValueError(
            f"{type(model).__name__} needs all rows of a list to rank it: use its own "
            "rank."
        )
    scores: Any = predict(model, X)
    if model.n_items_ is not None:
        orders = scores.map_blocks(lambda s: np.argsort(-s, axis=1, kind="stable"))
        return orders.map_blocks(ranks_from_orders, dtype=np.intp)
    if qid is None and not one_list:
        raise ValueError("rank needs qid, the query id of each row, or one_list=True.")
    client = default_client() if client is None else client
    parts = client.gather(client.compute(_pieces(scores)))
    lengths = [len(part) for part in parts]
    ids = qid
    if not one_list:
        ids = np.concatenate(client.gather(client.compute(_pieces(qid))))
    lists = RankingLists.from_qid(ids, sum(lengths))
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
    if is_classifier(model) and not hasattr(model, "decisions_"):
        _refuse(
            model,
            "has a score that is no mean over partitions",
            "model.score(X.compute(), y.compute()), with the same for qid and weights",
        )
    blocks = _blocks(model, client, X, y, qid, sample_weight)
    values = _costs if is_classifier(model) else _values
    total, weight = blocks.sum(values, _light(model))
    if weight > 0:
        return float(total / weight)
    if is_classifier(model):
        refuse_zero_weights()
    return float(model.target_loss_.undefined)


def _blocks(model, client, X, y, qid, weights):
    """`DaskBlocks` of whole lists."""
    client = default_client() if client is None else client
    blocks = _partitions(client, X, y, qid, weights)
    if qid is None and y.ndim == 1 and not is_classifier(model):
        raise ValueError("Documents on a cluster need qid, one id for each row.")
    return blocks


def _refuse(model, why, line):
    raise ValueError(f"{type(model).__name__} {why}: in memory write {line}.")


def _needs_lists(model):
    """Whether the decoder of documents compares the rows of a list with one another."""
    return "qid" in signature(model.predict).parameters


def _light(model):
    """Copy a model without its sums, to send it to workers."""
    light: Any = copy.copy(model)
    light._sums_ = None
    return light


def _labels(block, classifier):
    return np.unique(class_labels(classifier, block[1]))


def _values(block, model):
    """Weighted sum of the measure over its defined lists, and of their weights."""
    X, y, qid, weights = block
    options = {}
    if model.n_items_ is None and _needs_lists(model):
        options["qid"] = qid
    scores = model.predict(X, **options)
    values = model.target_loss_.measure(y, scores, qid=qid, average=None)
    values = np.atleast_1d(values)
    *_, list_weights = read_scored(y, scores, qid, weights, check=lambda labels: labels)
    is_defined = ~np.isnan(values)
    list_weights = list_weights[is_defined]
    return np.array([values[is_defined] @ list_weights, list_weights.sum()])


def _costs(block, model):
    """Weighted sum of one minus the cost of each row, and the weights."""
    X, y, _, weights = block
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    value = model.score(X, y, weights) if weights.any() else 0.0
    return np.array([value * weights.sum(), weights.sum()])
