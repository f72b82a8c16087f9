"""Rankers and a classifier on a Dask cluster, with the coefficients of a fit in memory.

Fits add up sums over the partitions of Dask arrays and data frames: the statistics of ridge
regression, or value and gradient of a surrogate. Only these sums travel between machines, and the
rows of lists that are cut between two partitions. ``pip install "lowrank_rank[dask]"``.
"""

import copy
import warnings
from functools import reduce
from itertools import pairwise
from operator import add, getitem
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed, is_dask_collection
from distributed import Client, default_client
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ._base import Block, Blocks
from ._classes import class_labels, names_classes
from ._labels import nothing_counts, read_scored
from ._lists import RankingLists, ranks_from_scores, same_id
from ._parameters import fresh_fit
from .low_rank import LowRankSurrogateClassifier, LowRankSurrogateRanker
from .order_preserving import OrderPreservingRegressor
from .order_preserving._problem import read

__all__ = [
    "DaskLowRankSurrogateClassifier",
    "DaskLowRankSurrogateRanker",
    "DaskOrderPreservingRegressor",
]

# Blocks on a cluster ----------------------------------------------------------------


class DaskBlocks(Blocks):
    """Blocks as futures: workers apply functions to them, and sums come back.

    Dask remembers how each future was made, and makes the blocks of a lost worker again.
    """

    def __init__(self, client, futures):
        self.client, self.futures = client, futures

    def __iter__(self):
        return iter(self.client.gather(future) for future in self.futures)

    def map(self, function, *args):
        submit = self.client.submit
        return DaskBlocks(
            self.client, [submit(function, one, *args, pure=False) for one in self.futures]
        )

    def sum(self, function, *args):
        """Sum in the order of the blocks, so that every run gives the same digits."""
        return reduce(add, self.client.gather(self.map(function, *args).futures))

    def total(self, fan_in=8):
        """Sum of the blocks themselves, p x p numbers each; a worker adds up `fan_in` at a time."""
        futures = self.futures
        while len(futures) > 1:
            groups = [futures[i : i + fan_in] for i in range(0, len(futures), fan_in)]
            futures = [self.client.submit(_add_up, group, pure=False) for group in groups]
        return futures[0].result()


def _add_up(parts):
    return reduce(add, parts)


# Partitions -------------------------------------------------------------------------


def _pieces(collection, like=None):
    """Delayed partitions of a Dask collection, with the row chunks of the array `like`."""
    if collection is None:
        return None
    if isinstance(collection, da.Array):
        chunks = collection.chunks[0]
        if isinstance(like, da.Array) and not np.isnan(like.chunks[0]).any():
            chunks = like.chunks[0]
        if collection.chunks != (chunks, *collection.chunks[1:]) or collection.ndim > 1:
            collection = collection.rechunk(
                {0: chunks, **dict.fromkeys(range(1, collection.ndim), -1)}
            )
    return np.ravel(collection.to_delayed()).tolist()


def _block(X, y, qid, weights):
    """Make a `Block` of a partition; y of a single column becomes a vector."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    qid = qid.to_numpy() if hasattr(qid, "to_numpy") else qid
    return Block(X, y[:, 0] if np.ndim(y) == 2 and np.shape(y)[1] == 1 else y, qid, weights)


def _partitions(client, X, y, qid, weights):
    """Futures of the partitions as blocks, and the number of rows of each."""
    named = {"X": X, "y": y, "qid": qid, "sample_weight": weights}
    for name, given in named.items():
        if given is not None and not is_dask_collection(given):
            raise TypeError(
                f"{name} must be a Dask array or data frame, got {type(given).__name__}: "
                "da.from_array(..., chunks=...) makes one, and in memory the class without Dask "
                "does."
            )
    pieces = [_pieces(given, like=X) for given in named.values()]
    counts = {len(part) for part in pieces if part is not None}
    if len(counts) > 1:
        raise ValueError(
            f"X, y, qid and sample_weight have {sorted(counts)} partitions: they must be cut at "
            "the same rows (rechunk, or take columns of one data frame)."
        )
    absent = [None] * counts.pop()
    rows = zip(*(absent if part is None else part for part in pieces), strict=True)
    futures = client.compute([delayed(_block)(*row) for row in rows])
    return futures, client.gather([client.submit(_n_rows, one, pure=False) for one in futures])


def _n_rows(block):
    return len(block.y)


def _edges(block):
    """First and last id, and whether the ids are sorted."""
    qid = np.asarray(block.qid)
    try:
        grows = bool(np.all(qid[1:] >= qid[:-1]))
    except TypeError:  # ids of several kinds
        grows = False
    return qid[0], qid[-1], grows


def _ids(block):
    return RankingLists.from_qid(block.qid).ids


def _rows_of(block, rows):
    return Block(*(None if part is None else _take(part, rows) for part in block))


def _take(part, rows):
    return part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _head(block, inside):
    """The rows of the first list if `inside`, else the other rows."""
    first = np.fromiter((same_id(q, block.qid[0]) for q in block.qid), bool, len(block.qid))
    return _rows_of(block, np.flatnonzero(first == inside))


def _join(blocks):
    """Concatenate blocks; empty blocks are skipped."""
    blocks = [block for block in blocks if len(block.y)] or blocks[:1]
    return Block(
        *(None if parts[0] is None else _stack(parts) for parts in zip(*blocks, strict=True))
    )


def _stack(parts):
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate(parts)


def _split(block, destinations, n):
    """Split a block into n destinations; `destinations` has one for each distinct id."""
    lists = RankingLists.from_qid(block.qid)
    of_row = lists.ungroup(lists.spread(destinations))
    return [_rows_of(block, np.flatnonzero(of_row == k)) for k in range(n)]


def whole_lists(client, futures):
    """Futures of blocks of whole lists, and for each the partitions that its rows come from.

    The rows of a list that is cut between neighbours move to the first of them. If a list comes
    back later, all rows are shuffled.
    """
    edges = client.gather([client.submit(_edges, one, pure=False) for one in futures])
    if not (all(e[2] for e in edges) and all(a[1] <= b[0] for a, b in pairwise(edges))):
        ids = client.gather([client.submit(_ids, one, pure=False) for one in futures])
        if _comes_back(ids, edges):
            return _shuffled(client, futures, ids)
    groups: list[tuple[list, list]] = []
    for number, (future, (first, last, _)) in enumerate(zip(futures, edges, strict=True)):
        if number and same_id(edges[number - 1][1], first):
            groups[-1][0].append(client.submit(_head, future, True, pure=False))
            groups[-1][1].append(number)
            if same_id(first, last):  # the whole partition belongs to that list
                continue
            future = client.submit(_head, future, False, pure=False)
        groups.append(([future], [number]))
    return [
        (parts[0] if len(parts) == 1 else client.submit(_join, parts, pure=False), numbers)
        for parts, numbers in groups
    ]


def _comes_back(ids, edges):
    """Whether a list has rows in two partitions, apart from the seam of neighbours."""
    seen: dict = {}
    for number, distinct in enumerate(ids):
        for one in distinct.tolist():
            before = seen.setdefault(one, number)
            at_seam = number == before + 1 and _is(one, edges[before][1], edges[number][0])
            if before != number and not at_seam:
                return True
            seen[one] = number
    return any(not grows and same_id(first, last) for first, last, grows in edges)


def _is(one, *others):
    return all(same_id(one, other) for other in others)


def _shuffled(client, futures, ids):
    warnings.warn(
        "The rows are not sorted by qid: a shuffle of all rows brings the lists together and moves "
        f"nearly the whole of X between workers in {len(futures)}**2 pieces. Sort by qid once "
        "(set_index) and store the result.",
        UserWarning,
        stacklevel=5,
    )
    home: dict = {}
    n = len(futures)
    pieces = []
    for number, (future, distinct) in enumerate(zip(futures, ids, strict=True)):
        to = np.array([home.setdefault(one, number) for one in distinct.tolist()])
        pieces.append(client.submit(_split, future, to, n, pure=False))
    found = []
    for k in sorted(set(home.values())):
        parts = [client.submit(getitem, one, k, pure=False) for one in pieces]
        found.append((client.submit(_join, parts, pure=False), list(range(n))))
    return found


# Estimators -------------------------------------------------------------------------


def _columns(block, estimator):
    """Names and values of the attributes that describe the columns of a block."""
    estimator._validate_X(block.X, reset=True)
    names = ("n_features_in_", "feature_names_in_")
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def _predicted(X, model):
    return model.predict(X)


def _on_partitions(X, model, tail, dtype):
    """Predictions for a Dask collection: a dask array with the same partitions."""
    light, pieces = delayed(model), _pieces(X)
    known = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(pieces)
    return da.concatenate(
        [
            da.from_delayed(delayed(_predicted)(piece, light), (n, *tail), dtype=dtype)
            for piece, n in zip(pieces, known, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


def _light(model):
    """Copy a model without its sums, to send it to workers."""
    light: Any = copy.copy(model)
    light._sums_ = None
    return light


def _with_rows(client, *data):
    """Futures of the partitions, without the empty ones."""
    futures, n_rows = _partitions(client, *data)
    futures = [one for one, n in zip(futures, n_rows, strict=True) if n]
    if not futures:
        raise ValueError("There are no rows: at least one is needed.")
    return futures


def _sums_of_all(blocks, model, reader):
    """`Sums` of all blocks; `reader` is a clone of the model, with the columns of X set here."""
    if not reader._adds_up():
        raise ValueError(
            "A cluster adds up the sums of ridge regression: set estimator='ridge' and a solver "
            f"other than 'lsqr', got estimator={model.estimator!r} and solver={model.solver!r}."
        )
    first = blocks.client.submit(_columns, blocks.futures[0], clone(reader), pure=False)
    for name, value in first.result().items():
        setattr(reader, name, value)
    return blocks.map(_sums, reader).total()


def _sums(block, reader):
    return reader._sums_of(reader._batch_of(block, reset=False))


def _adopt(model, sums, reader):
    with fresh_fit(model):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(reader, name):
                setattr(model, name, getattr(reader, name))
        model._adopt(sums.batch, sums.solve(model.alpha))


def _values(block, model):
    """Weighted sum of the measure over its defined lists, and the sum of their weights."""
    X, y, qid, weights = block
    loss, scores = model.target_loss_, model.predict(X)
    values = np.atleast_1d(loss.measure(y, scores, qid=qid, average=None))
    each = read_scored(y, scores, qid, weights, check=lambda labels: labels)[3]
    known = ~np.isnan(values)
    return np.array([values[known] @ each[known], each[known].sum()])


_PARTITION = 2**40  # the origin of a row is its number plus this times its partition


def _origin(scores, qid, number):
    scores = np.asarray(scores)
    return Block(np.arange(len(scores)) + number * _PARTITION, scores, np.asarray(qid))


def _ranked(block):
    lists = RankingLists.from_qid(block.qid)
    return block.X, lists.ungroup(ranks_from_scores(lists.group(block.y), lists))


def _collected(found, number, n_rows):
    """Ranks of the rows of a partition, from all blocks with some of its rows."""
    ranks = np.zeros(n_rows, dtype=np.intp)
    for origin, values in found:
        here = origin // _PARTITION == number
        ranks[origin[here] % _PARTITION] = values[here]
    return ranks


class _DaskRanker:
    """`fit`, `predict`, `rank` and `score` on partitions; data in memory go to the base class."""

    n_items_: int | None

    def fit(self, X, y, *, qid=None, sample_weight=None, client: Client | None = None) -> Any:
        """Fit to the partitions of Dask arrays or data frames.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
        y : dask array or series of shape (n_rows,), or array (n_queries, r) of fixed items
        qid : dask array or series of shape (n_rows,) or None, default=None
            Query id of each document. If ids are sorted, only lists that are cut between two
            partitions move; else all rows are shuffled, with a warning.
        sample_weight : dask array or series of shape (n_rows,) or None, default=None
        client : distributed.Client or None, default=None
            None is the current client.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            As in memory; if collections are cut at different rows, or documents have no qid.
        """
        client = default_client() if client is None else client
        futures = self._blocks(client, X, y, qid, sample_weight)
        self._fit_futures(DaskBlocks(client, futures))  # type: ignore[attr-defined]
        return self

    def _blocks(self, client, X, y, qid, weights):
        """Futures of blocks of whole lists."""
        futures = _with_rows(client, X, y, qid, weights)
        if qid is not None:
            return [one for one, _ in whole_lists(client, futures)]
        if y.ndim == 1:
            raise ValueError(
                "Documents on a cluster need qid, one id for each row: without it all rows of all "
                "partitions would be one list."
            )
        return futures

    def predict(self, X) -> Any:
        """Scores, higher is better: a dask array with the partitions of X, or as in memory.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features), or as in memory

        Returns
        -------
        dask array or ndarray of shape (n_rows,) or (n_queries, r)
        """
        if not is_dask_collection(X):
            return super().predict(X)  # type: ignore[misc]
        check_is_fitted(self)
        tail = () if self.n_items_ is None else (self.n_items_,)
        return _on_partitions(X, _light(self), tail, np.float64)

    def rank(self, X, *, qid=None, client: Client | None = None) -> Any:
        """Ranks of each list, 1 = best: a dask array with the partitions of X, or as in memory.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features), or as in memory
        qid : dask array or series of shape (n_rows,) or None, default=None
        client : distributed.Client or None, default=None

        Returns
        -------
        dask array or ndarray of int, shape (n_rows,) or (n_queries, r)
        """
        if not is_dask_collection(X):
            return super().rank(X, qid=qid)  # type: ignore[misc]
        scores = self.predict(X)
        if self.n_items_ is not None:
            return scores.map_blocks(_rank_rows, dtype=np.intp)
        if qid is None:
            raise ValueError("rank needs qid, the query id of each row.")
        client = default_client() if client is None else client
        pairs = zip(_pieces(scores), _pieces(qid, like=scores), strict=True)
        futures = client.compute([delayed(_origin)(*pair, i) for i, pair in enumerate(pairs)])
        n_rows = client.gather([client.submit(_n_rows, one, pure=False) for one in futures])
        kept = [i for i, n in enumerate(n_rows) if n]
        ranked: dict[int, list] = {}
        for block, numbers in whole_lists(client, [futures[i] for i in kept]):
            one = client.submit(_ranked, block, pure=False)
            for number in numbers:
                ranked.setdefault(kept[number], []).append(one)
        found = [
            client.submit(_collected, ranked.get(i, []), i, n, pure=False)
            for i, n in enumerate(n_rows)
        ]
        return da.concatenate(
            [
                da.from_delayed(delayed(one), (n,), dtype=np.intp)
                for one, n in zip(found, n_rows, strict=True)
            ]
        )

    def score(self, X, y, sample_weight=None, *, qid=None, client: Client | None = None) -> float:
        """Mean of the target loss's measure over the lists, greater is better.

        Parameters
        ----------
        X, y, sample_weight, qid, client
            As in `fit`, or all in memory.

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return super().score(X, y, sample_weight, qid=qid)  # type: ignore[misc]
        check_is_fitted(self)
        client = default_client() if client is None else client
        blocks = DaskBlocks(client, self._blocks(client, X, y, qid, sample_weight))
        total, weight = blocks.sum(_values, _light(self))
        undefined = self.target_loss_.undefined  # type: ignore[attr-defined]
        return float(total / weight) if weight > 0 else float(undefined)


def _rank_rows(scores):
    lists = RankingLists.equal(*scores.shape)
    return ranks_from_scores(scores.ravel(), lists).reshape(scores.shape)


class DaskLowRankSurrogateRanker(_DaskRanker, LowRankSurrogateRanker):
    """`LowRankSurrogateRanker` on a Dask cluster: the same parameters and coefficients.

    In one pass each partition gives sums of n_features x n_features numbers. Workers add them up
    and the client solves. Only ridge regression is fitted: documents, or fixed items with
    ``estimator="ridge"``.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank.dask import DaskLowRankSurrogateRanker
    >>> X, y, qid = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3, np.arange(8) // 4
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     ranker = DaskLowRankSurrogateRanker().fit(*data[:2], qid=data[2])
    >>> ranker.rank(X[:3], qid=[0, 0, 0])
    array([3, 2, 1])
    """

    def _fit_futures(self, blocks):
        reader = clone(self)
        sums = _sums_of_all(blocks, self, reader)
        sums.check_items_judged()
        _adopt(self, sums, reader)


class DaskOrderPreservingRegressor(_DaskRanker, OrderPreservingRegressor):
    """`OrderPreservingRegressor` on a Dask cluster: the same parameters and coefficients.

    Every evaluation of L-BFGS sends the coefficients to the partitions, which return value and
    gradient. The client adds them up in the order of the partitions: a fit does not depend on the
    order in which workers finish, or on lost workers. Standardised partitions stay on the
    workers, in double precision.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank.dask import DaskOrderPreservingRegressor
    >>> X, y, qid = np.arange(8.0).reshape(8, 1) % 3, np.arange(8) % 3, np.arange(8) // 4
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     data = [da.from_array(a, chunks=3) for a in (X, y, qid)]
    ...     ranker = DaskOrderPreservingRegressor().fit(*data[:2], qid=data[2])
    >>> ranker.rank(X[:3], qid=[0, 0, 0])
    array([3, 2, 1])
    """

    def _fit_futures(self, blocks):
        before = self._before()
        with fresh_fit(self):
            loss = self._check_parameters()
            first = blocks.client.submit(_columns, blocks.futures[0], clone(self), pure=False)
            for name, value in first.result().items():
                setattr(self, name, value)
            self._fit(blocks.map(read, copy.copy(self), loss), loss, before)


def _labels(block, classifier):
    return np.unique(class_labels(classifier, block.y))


def _costs(block, model):
    """Weighted sum of one minus the cost of each row, and the weights."""
    weights = (
        np.ones(len(block.y)) if block.sample_weight is None else np.asarray(block.sample_weight)
    )
    value = model.score(block.X, block.y, weights) if weights.any() else 0.0
    return np.array([value * weights.sum(), weights.sum()])


class _DaskClassifier:
    """`fit`, `predict` and `score` on partitions; data in memory go to the base class."""

    loss_matrix: Any
    classes: Any
    decisions_: np.ndarray

    def fit(self, X, y, sample_weight=None, *, client: Client | None = None) -> Any:
        """Fit to the partitions of Dask arrays or data frames.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array or series of shape (n_samples,)
        sample_weight : dask array or series of shape (n_samples,) or None, default=None
        client : distributed.Client or None, default=None
            None is the current client.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            As in memory; if frames have different numbers of partitions.
        """
        client = default_client() if client is None else client
        blocks = DaskBlocks(client, _with_rows(client, X, y, None, sample_weight))
        reader = clone(self)
        if not names_classes(self.loss_matrix, self.classes):
            labels = client.gather(blocks.map(_labels, clone(self)).futures)
            reader.set_params(classes=np.unique(np.concatenate(labels)))
        _adopt(self, _sums_of_all(blocks, self, reader), reader)
        return self

    def predict(self, X) -> Any:
        """Decision of the least estimated cost for each row.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features), or as in memory

        Returns
        -------
        dask array or ndarray of shape (n_samples,)
        """
        if not is_dask_collection(X):
            return super().predict(X)  # type: ignore[misc]
        check_is_fitted(self)
        return _on_partitions(X, _light(self), (), self.decisions_.dtype)

    def score(self, X, y, sample_weight=None, *, client: Client | None = None) -> float:
        """One minus the mean cost of the predicted decisions, greater is better.

        Parameters
        ----------
        X, y, sample_weight, client
            As in `fit`, or all in memory.

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        check_is_fitted(self)
        client = default_client() if client is None else client
        blocks = DaskBlocks(client, _with_rows(client, X, y, None, sample_weight))
        total, weight = blocks.sum(_costs, _light(self))
        if not weight > 0:
            raise nothing_counts()
        return float(total / weight)


class DaskLowRankSurrogateClassifier(_DaskClassifier, LowRankSurrogateClassifier):
    """`LowRankSurrogateClassifier` on a Dask cluster: the same parameters and coefficients.

    The fit needs ``estimator="ridge"`` and takes one pass over the partitions. A pass over y comes
    first, unless `classes` or the index of `loss_matrix` names the classes.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from lowrank_rank.dask import DaskLowRankSurrogateClassifier
    >>> X, y = np.arange(8.0).reshape(8, 1), np.repeat(["low", "high"], 4)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     data = [da.from_array(a, chunks=3) for a in (X, y)]
    ...     classifier = DaskLowRankSurrogateClassifier(estimator="ridge").fit(*data)
    >>> classifier.predict([[1.0], [6.0]])
    array(['low', 'high'], dtype='<U4')
    """
