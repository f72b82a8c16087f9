"""alpha="auto": the penalty of ridge whose order is best on lists that were held out.

Statistics add up, so those of all lists but a fold's are a sum too, and one decomposition of them
gives the coefficients for every penalty. A list's fold comes from a hash of what it holds: neither
its id, nor its place, nor the batch or the process in which it is read makes a difference, and
equal lists are in one fold.
"""

from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from .._base import check_summable
from .._labels import nothing_counts
from .._lists import RankingLists
from ._constants import (
    ALPHA,
    ROWS_OF_CLASSES,
    ROWS_OF_DOCUMENTS,
    ROWS_OF_ITEMS,
    DistinctRows,
)
from ._encoding import Totals, decoded_ranks
from ._ridge import LinearModel, Search, linear_scores, n_matrices
from ._statistics import RidgeStatistics

MAX_FEATURES = 1000  # a matrix of features by features is kept for each fold
_MAX_ENTRIES = 10**7  # of all of them, where each target misses in other rows
ALPHAS = 10.0 ** (np.arange(20) / 3 - 4)  # 1e-4 to 215, 0.1 among them
N_FOLDS = 5
MIN_LISTS = 20  # below, which is best is noise

_MAX_SCORES = 2**14  # of held-out rows, times outputs, at each penalty
_N_ERRORS = 1.0  # standard errors within which penalties are as good as the best one
_MIN_OF_FOLD = 4  # lists, however long
#: A search may take so many seconds, longer where each target misses in other rows (those are few
#: rows each, for which the constant is far off), or so many times the fit.
_SECONDS, _SECONDS_OF_MISSING, _OF_FIT = 0.15, 5.0, 1.0
_PER_CUBE, _PER_PRODUCT = 1e-9, 1e-10  # seconds, of a decomposition and of the statistics
_ORDINARY = 1e-250, 1e250  # sums of weighted squares that need no second look
_MIX = tuple(map(np.uint64, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15)))
_LAST = np.uint64(2**64 - 1)
_BITS_OF_LIST = np.uint64(13)
_ENTRIES_AT_ONCE = 2**20
_BITS_OF_ORDER = np.uint64(24)  # of a key, the lowest: which item has which grade


# Lists by content -------------------------------------------------------------------


def _mixed(keys):
    """splitmix64: every bit of a key moves half of the bits of the result."""
    keys = (keys ^ (keys >> np.uint64(30))) * _MIX[0]
    keys = (keys ^ (keys >> np.uint64(27))) * _MIX[1]
    return keys ^ (keys >> np.uint64(31))


def _bits(values, exact=False):
    """Those of float32, so that X of either precision is the same, or all; zeros have none."""
    if exact:
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)
        return bits ^ (bits >> np.uint64(32))  # of whole numbers the lowest half is 0
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32) + np.float32(0.0)  # -0 is 0
    rounded[np.isnan(rounded)] = np.nan
    return rounded.view(np.uint32).astype(np.uint64)


def _row_keys(X, start, exact=False):
    """A key of each row of X, dense or sparse, by columns counted from `start`."""
    columns = np.arange(start + 1, start + 1 + X.shape[1], dtype=np.uint64)
    factors = _mixed(columns * _MIX[2]) | np.uint64(1)
    if sparse.issparse(X):
        return (
            sparse.csr_matrix((_bits(X.data, exact), X.indices, X.indptr), shape=X.shape) @ factors
        )
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for rows in gen_batches(X.shape[0], max(1, _ENTRIES_AT_ONCE // max(X.shape[1], 1))):
        keys[rows] = np.einsum("np,p->n", _bits(X[rows], exact), factors)
    return keys


def _item_keys(y):
    """A key of the grades of each row, whatever the order of the items."""
    keys = np.zeros(len(y), dtype=np.uint64)
    for rows in gen_batches(len(y), max(1, _ENTRIES_AT_ONCE // max(y.shape[1], 1))):
        keys[rows] = _mixed(_bits(y[rows]) * _MIX[2] + _MIX[0]).sum(axis=1)
    return keys


def keys_of_rows(X, y, *, exact=False):
    """A number of 64 bits for each row of X and its grades y, shape (n,) or (n, r).

    `exact` tells rows apart that differ by less than float32 shows.
    """
    with np.errstate(over="ignore"):
        of_y = _row_keys(y.reshape(len(y), -1), X.shape[1])
        return _mixed(_row_keys(X, 0, exact) + of_y)


def list_keys(X, y, lists, weights, rows=None):
    """A number of 64 bits for each list, of its rows of X and y in whatever order.

    The order of fixed items is in the lowest bits alone: the fold, and which lists are less than
    others, do not depend on it.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    y : ndarray of shape (n,), (n, r) or (n, r, r)
    lists : RankingLists or None
        Of the rows of X; None where each is a list.
    weights : ndarray of shape (n,)
        Rows of weight 0 are no part of their list.
    rows : ndarray of uint64, shape (n,), or None
        The `keys_of_rows`, where they are known.

    Returns
    -------
    ndarray of uint64, shape (n_lists,)
    """
    keys = keys_of_rows(X, y) if rows is None else rows
    with np.errstate(over="ignore"):
        if lists is None:
            y = y.reshape(len(y), -1)
            unordered = _mixed(_row_keys(X, 0) + _item_keys(y)) >> _BITS_OF_ORDER << _BITS_OF_ORDER
            return unordered | (keys >> (np.uint64(64) - _BITS_OF_ORDER))
        return _mixed(lists.sum(lists.group(keys * (weights > 0))))


def distinct_rows(X, y, lists, weights, rows=None, enough=None):
    """`DistinctRows` of what `list_keys` takes; of the first of them where these are enough."""
    if enough is None:
        enough = ROWS_OF_DOCUMENTS if lists is not None else ROWS_OF_ITEMS
        enough = ROWS_OF_CLASSES if lists is None and y.ndim == 1 else enough
    n_rows, n_features = X.shape
    n_first = 2 * enough * n_features
    if n_rows > 2 * n_first:
        first, of_first = np.arange(n_first), None
        if lists is not None:
            n_lists = int(np.searchsorted(lists.offsets, n_first))
            of_first = RankingLists(lists.lengths[:n_lists])
            first = np.arange(of_first.n_rows) if lists.order is None else lists.order
            first = first[: of_first.n_rows]
        keys = keys_of_rows(X[first], y[first]) if rows is None else rows[first]
        found = _distinct_rows(keys, of_first, weights[first], enough)
        if found.shortage(n_features) <= 1.0:
            return found
    rows = keys_of_rows(X, y) if rows is None else rows
    return _distinct_rows(rows, lists, weights, enough)


def _distinct_rows(rows, lists, weights, enough):
    """`DistinctRows` of the keys of rows."""
    counted = weights > 0
    if lists is None:
        return DistinctRows.of(rows, counted, enough)
    # Of the same rows, however often, lists have the same first and last key.
    grouped, counted = lists.group(rows), lists.group(counted)
    first = np.minimum.reduceat(np.where(counted, grouped, _LAST), lists.offsets[:-1])
    last = np.maximum.reduceat(np.where(counted, grouped, np.uint64(0)), lists.offsets[:-1])
    with np.errstate(over="ignore"):
        keys = _mixed(first + _MIX[0] * last)

    def n_rows(of):  # fewer than 2**_BITS_OF_LIST lists
        lengths = lists.lengths[of]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat(lists.offsets[of], lengths) + within
        which = np.repeat(np.arange(len(of), dtype=np.uint64), lengths)
        # The list in the highest bits of the key of a row: sorted together, list by list.
        of_lists = (which << (np.uint64(64) - _BITS_OF_LIST)) | (grouped[at] >> _BITS_OF_LIST)
        found = np.sort(of_lists[counted[at]])  # np.unique takes twenty times as long
        is_new = np.diff(found, prepend=~found[:1]) != 0
        of_each = found[is_new] >> (np.uint64(64) - _BITS_OF_LIST)
        return np.bincount(of_each.astype(np.intp), minlength=len(of))

    return DistinctRows.of(keys, first <= last, enough, n_rows)


def _stacked(*parts):
    """Rows of batches, sparse where one of them is."""
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate(parts)


def folds_of(keys):
    """The fold, 0, ..., N_FOLDS - 1, of the lists of these keys."""
    return ((keys >> _BITS_OF_ORDER) % np.uint64(N_FOLDS)).astype(np.int8)


@dataclass(frozen=True)
class HeldOut:
    """Lists to judge penalties on: of each fold those with the least keys, up to a number of rows.

    Which they are depends on the lists alone, so that samples of batches add up to that of all.

    Attributes
    ----------
    X : ndarray or CSR matrix
    rows : ndarray of int
        Those of X that are theirs, list by list.
    y : ndarray
        Labels of these rows, as the target loss has checked them.
    lengths : ndarray of int, shape (n_lists,)
        Rows of each list.
    keys : ndarray of uint64, shape (n_lists,)
    weights : ndarray of shape (n_lists,)
    max_rows : int
        Of a fold.
    """

    X: Any
    rows: np.ndarray
    y: np.ndarray
    lengths: np.ndarray
    keys: np.ndarray
    weights: np.ndarray
    max_rows: int

    @classmethod
    def of(cls, batch, keys):
        """Of an `EncodedBatch` and the keys of its lists."""
        lists, n = batch.lists, batch.X.shape[0]
        lengths, rows, weights = np.ones(n, dtype=np.intp), np.arange(n), batch.row_weights
        if lists is not None:
            lengths = lists.lengths
            rows = rows if lists.order is None else lists.order
            weights = lists.sum(lists.group(weights)) / lengths
        max_rows = max(1, _MAX_SCORES // (N_FOLDS * max(batch.targets.shape[1], 1)))
        return cls(batch.X, rows, batch.y[rows], lengths, keys, weights, max_rows)._pruned()

    def _pruned(self):
        """Equal lists as one with their weights, and no more lists than needed."""
        keys, first, which = np.unique(self.keys, return_index=True, return_inverse=True)
        weights = np.bincount(which.ravel(), weights=self.weights, minlength=len(keys))
        lengths = self.lengths[first]
        kept = np.zeros(len(keys), dtype=bool)
        folds = folds_of(keys)
        for fold in range(N_FOLDS):
            here = np.flatnonzero((folds == fold) & (weights > 0))
            before = np.cumsum(lengths[here]) - lengths[here]
            kept[here[(before < self.max_rows) | (np.arange(len(here)) < _MIN_OF_FOLD)]] = True
        starts, lengths = (np.cumsum(self.lengths) - self.lengths)[first[kept]], lengths[kept]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat(starts, lengths) + within
        return HeldOut(
            self.X, self.rows[at], self.y[at], lengths, keys[kept], weights[kept], self.max_rows
        )

    def copied(self):
        """The same with rows of its own, which keep no batch alive."""
        rows = np.arange(len(self.rows))
        return HeldOut(
            self.X[self.rows], rows, self.y, self.lengths, self.keys, self.weights, self.max_rows
        )

    def plus(self, other):
        """Of the lists of both."""
        one, two = self.copied(), other.copied()
        X: Any = _stacked(one.X, two.X)
        parts = {
            name: np.concatenate([getattr(one, name), getattr(two, name)])
            for name in ("y", "lengths", "keys", "weights")
        }
        rows = np.arange(X.shape[0])
        return HeldOut(X=X, rows=rows, max_rows=self.max_rows, **parts)._pruned()

    @property
    def folds(self):
        return folds_of(self.keys)


# The search -------------------------------------------------------------------------


class Judge(NamedTuple):
    """What u is worth on held-out lists, by the target loss's measure.

    Attributes
    ----------
    loss : TargetLoss
    decoder : str or callable
    n_items : int or None
    values : callable or None
        ``values(loss, y, u)``, one for each row, of what has no lists.
    """

    loss: Any
    decoder: Any
    n_items: int | None
    values: Any = None

    def __call__(self, y, u, lists):
        """The measure of each list, nan where it is undefined; minus the squared error where no
        quick decoder is known."""
        if self.values is not None:
            return self.values(self.loss, y, u)
        if self.n_items is None:
            y = self.loss.check_labels(y)
            return self.loss._values_of_judged(y, u[:, 0], lists)
        decoder = self._quick_decoder()
        if decoder is None:
            return -np.nansum((u - self.loss.encode(y)) ** 2, axis=1)
        if decoder != "sort":
            u = -decoded_ranks(self.loss, decoder, u, self.n_items).astype(np.float64)
        y = self.loss.check_labels(y)
        y = y if y.ndim == 3 else y.ravel()
        return self.loss._values_of_judged(y, u.ravel(), lists)

    def _quick_decoder(self):
        """The decoder, or a vectorised one of the same surrogate vectors, or None."""
        if self.decoder in ("sort", "borda", "diagonal"):
            return self.decoder
        known = self.loss.decoders
        return next((name for name in ("borda", "diagonal") if name in known), None)


def n_parts_in_time(statistics):
    """In how many parts the folds are held out: as many as take a moment, or as the sums took.

    0 where not even two parts do, and nothing is searched.
    """
    m, p = statistics.x_mean.shape
    seconds = max(
        _SECONDS if m == 1 else _SECONDS_OF_MISSING, _OF_FIT * _PER_PRODUCT * statistics.work
    )
    n_parts = min(N_FOLDS, int(seconds / (m * _PER_CUBE * float(p) ** 3)))
    return n_parts if n_parts > 1 else 0


def search_alpha(statistics, folds, held_out, judge, constant):
    """`Search` by the statistics of each fold (None where it has no list).

    Parameters
    ----------
    statistics : RidgeStatistics
        Of all folds.
    folds : sequence of RidgeStatistics or None
    held_out : HeldOut
    judge : Judge
    constant : float
        The penalty that is taken unless another one is better by more than noise.
    """
    n_parts = n_parts_in_time(statistics)
    parts = [reduce(_plus, folds[k::n_parts]) for k in range(n_parts)]
    if len(held_out.keys) < MIN_LISTS or sum(part is not None for part in parts) < 2:
        return Search(constant)
    values = _held_out_values(parts, held_out, judge)
    known = ~np.isnan(values).any(axis=1)
    if not np.any(held_out.weights[known] > 0):
        return Search(constant)
    values, weights = values[known], held_out.weights[known]
    scores = weights @ values / weights.sum()
    return Search(best_penalty(ALPHAS, constant, values, weights, scores), ALPHAS.copy(), scores)


def best_penalty(alphas, constant, values, weights, scores):
    """The penalty nearest to the constant that is within a standard error of the best one.

    Of the paired difference over distinct lists: what is in the noise leaves the constant.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
    constant : float
    values : ndarray of shape (n_lists, n_alphas)
    weights : ndarray of shape (n_lists,)
    scores : ndarray of shape (n_alphas,)
        Means of the values.

    Returns
    -------
    float
    """
    near = np.abs(np.log(alphas / constant))
    short = values[:, [np.argmax(scores)]] - values
    share = weights / weights.sum()
    error = _N_ERRORS * np.sqrt(share**2 @ (short - share @ short) ** 2)
    good = scores >= scores.max() - error - 1e-9 * np.abs(scores).max()
    return float(alphas[int(np.argmin(np.where(good, near, np.inf)))])


def _held_out_values(parts, held_out, judge):
    """The measure of each list at each penalty, by coefficients of the other parts."""
    of_row = np.repeat(held_out.folds % len(parts), held_out.lengths)
    d = next(len(part.t_mean) for part in parts if part is not None)
    u = np.empty((len(ALPHAS), len(of_row), d))
    for k, others in enumerate(_sums_of_others(parts)):
        rows = np.flatnonzero(of_row == k)
        if len(rows):
            coef, intercept = others.path(ALPHAS)
            flat = coef.transpose(0, 2, 1).reshape(-1, coef.shape[1])
            scores = linear_scores(held_out.X[held_out.rows[rows]], flat, intercept.ravel())
            u[:, rows] = scores.reshape(len(rows), len(ALPHAS), d).transpose(1, 0, 2)
    lengths = held_out.lengths if judge.n_items is None else held_out.lengths * judge.n_items
    lists = RankingLists(np.tile(lengths, len(ALPHAS)))  # those of all penalties at once
    y = np.concatenate([held_out.y] * len(ALPHAS))
    return judge(y, u.reshape(-1, d), lists).reshape(len(ALPHAS), -1).T


# Sums over batches ------------------------------------------------------------------


class RidgeSums(NamedTuple):
    """Statistics and totals of batches: what adds up, and gives the exact minimiser.

    Attributes
    ----------
    statistics : RidgeStatistics
        Of all lists.
    totals : Totals
    folds : tuple of RidgeStatistics or None
        Of the lists of each fold, where a penalty is to be found; else empty.
    held_out : HeldOut or None
    judge : Judge or None
    search : Search or None
        By an earlier fit, which has kept no folds.
    dropped : bool
        Whether there were folds, which are no longer known.
    rows : DistinctRows or None
        Where a penalty is still to be found.
    """

    statistics: RidgeStatistics
    totals: Totals
    folds: tuple = ()
    held_out: Any = None
    judge: Any = None
    search: Search | None = None
    dropped: bool = False
    rows: DistinctRows | None = None

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # X may not be finite: see `checked`
    def of(cls, batch, search=False):
        """Of an `EncodedBatch`, its targets without the common factor; with folds to search."""
        sums = partial(RidgeStatistics.of_batch, batch.X, batch.targets, batch.weights, batch.codes)
        n_features, n_targets = batch.X.shape[1], batch.targets.shape[1]
        is_small = (
            n_features <= MAX_FEATURES and n_matrices(batch.targets) * n_features**2 <= _MAX_ENTRIES
        )
        if not search:
            return cls(sums(), batch.totals)
        given = batch.X, batch.y, batch.lists, batch.row_weights, keys_of_rows(batch.X, batch.y)
        keys, counted = list_keys(*given), distinct_rows(*given)
        if not is_small or n_targets == 0:
            return cls(sums(), batch.totals, rows=counted)
        of_row = folds_of(keys)
        if batch.lists is not None:
            of_row = batch.lists.ungroup(batch.lists.spread(of_row))
        rows = [np.flatnonzero(of_row == k) for k in range(N_FOLDS)]
        folds = tuple(sums(rows=some) if len(some) else None for some in rows)
        return cls(
            reduce(add, (fold for fold in folds if fold is not None)),
            batch.totals,
            folds,
            HeldOut.of(batch, keys),
            Judge(batch.loss, batch.decoder, batch.n_items, batch.values),
            rows=counted,
        )

    def checked(self, X, name):
        """The same; refuses X, which it is of, if its squares leave the floating range."""
        features = self.statistics.features
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.sum(features.squares + features.total * features.mean**2))
        if not _ORDINARY[0] < total < _ORDINARY[1]:  # NaN and infinite entries make it NaN
            check_summable(name, X)
        return self

    def plus(self, other):
        """Those of both batches together."""
        folds = tuple(_plus(one, two) for one, two in zip(self.folds, other.folds, strict=False))
        return self._replace(
            statistics=self.statistics + other.statistics,
            totals=self.totals + other.totals,
            folds=folds,
            held_out=self.held_out.plus(other.held_out) if folds else None,
            rows=self.rows.plus(other.rows) if self.rows and other.rows else None,
        )

    def copied(self):
        """The same, without a reference to the batch."""
        return self._replace(held_out=self.held_out.copied()) if self.folds else self

    def without_folds(self):
        """The sums of all lists, which still add up, with the penalty that was found."""
        found = self.search is not None and self.search.alphas is not None
        return self._replace(
            folds=(),
            held_out=None,
            dropped=self.dropped or bool(self.folds),
            rows=None if found else self.rows,
        )

    def solve(self, alpha):
        """`LinearModel` of the minimiser for the penalty alpha, or for the best one ("auto")."""
        if not self.statistics.features.total > 0:
            raise nothing_counts()
        search = self._search() if alpha == "auto" else Search(alpha)
        coef, intercept = self.statistics.solve_standardised(search.alpha)
        factor = self.totals.target_factor
        sums = self._replace(search=search)
        return LinearModel(coef.T * factor, intercept * factor, "gram", sums=sums, search=search)

    def _search(self):
        """The penalty that an earlier fit has found, one that is found now, or the constant."""
        if self.rows is None:
            return self.search or Search(ALPHA)
        m, p = self.statistics.x_mean.shape
        if self.folds:
            constant = self.rows.constant_penalty(p)
            search = search_alpha(self.statistics, self.folds, self.held_out, self.judge, constant)
            if search.alphas is not None:
                return search
        return Search(self.rows.constant_penalty(p, missing=m > 1))


def _sums_of_others(folds):
    """The sum of all folds but one, for each."""
    before = list(accumulate([None, *folds], _plus))
    after = list(accumulate([None, *reversed(folds)], _plus))[::-1]
    return [_plus(one, two) for one, two in zip(before[:-1], after[1:], strict=True)]


def _plus(one, two):
    """The sum of statistics, of which None has none."""
    return two if one is None else one if two is None else one + two
