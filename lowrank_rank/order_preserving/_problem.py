"""Linear scores under a surrogate: the problem of labelled lists, of one block or of many.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = X B' + b

The rows of B belong to the d columns of the scores: 1 for documents, r for fixed items. The
intercepts b are not penalised. X are the features as `ScaledFeatures` has them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import gen_batches

from .._blocks import check_has_ids, cut_list
from .._lists import RankingLists, blocks_of_lists, same_id
from ..regression._encoding import Totals, encode_documents, encode_items
from ..regression._ridge import LinearModel
from ..regression._statistics import Moments
from ._bounds import C_phi
from ._surrogates import Surrogate, SurrogateValues, surrogate_for

_ROWS_AT_ONCE = 2**14
#: Of a mean over its standard deviation: three digits of sixteen, one of seven.
_SMALL_OFFSET = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 10.0}
_ORDINARY_SCALE = 1e10  # of a feature, and its inverse: squares stay in the range of float32
_ENTRIES_AT_ONCE = 2**16  # of X that are centred at a time


# The problem ------------------------------------------------------------------------


class GroupedLists(NamedTuple):
    """What every evaluation of the surrogate needs and none changes, in grouped flat arrays.

    Attributes
    ----------
    v, weights : ndarray of shape (n * d,)
    mass : ndarray of shape (n_lists,)
        Total weight.
    list_factor, row_factor : ndarray or float
        By which the value of each list, and the gradient of each row, are multiplied: a list of
        pairs counts by its weight, not by the square of it.
    """

    v: np.ndarray
    weights: np.ndarray
    mass: np.ndarray
    list_factor: Any
    row_factor: Any


def prepare_blocks(surrogate, v, lists, weights):
    """`Surrogate.prepare`, in blocks of whole lists whose arrays fit the cache."""
    parts = []
    for first, last in blocks_of_lists(lists, _ROWS_AT_ONCE):
        rows = slice(lists.offsets[first], lists.offsets[last])
        some = RankingLists(lists.lengths[first:last])
        parts.append((rows, surrogate.prepare(v[rows], some, weights[rows])))

    def evaluate(s):
        found = [at(s[rows]) for rows, at in parts]
        return SurrogateValues(*(np.concatenate(part) for part in zip(*found, strict=True)))

    return evaluate


class Utilities(NamedTuple):
    """Labels of whole lists as utilities, before anything is known of other lists.

    Attributes
    ----------
    v : ndarray of shape (n, d)
        In documents still without the mean normaliser; NaN where not judged.
    weights : ndarray of shape (n, d)
        Importances, 0 where not judged.
    lists : RankingLists
        Of the flat scores: the rows of X, or the rows of a matrix of scores.
    row_weights : ndarray of shape (n,)
    n_items : int or None
    totals : Totals
    n_lists : int
        With a positive weight.
    first_id, last_id : object or None
        Query ids of the first and the last row.
    """

    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    row_weights: np.ndarray
    n_items: int | None
    totals: Totals
    n_lists: int
    first_id: Any
    last_id: Any

    @classmethod
    def of_labels(cls, y, lists, weights, loss):
        """From labels as the rankers read them."""
        if y.ndim == 1:
            batch = encode_documents(None, y, lists, weights, loss, "auto", "rows", False)
            each = weights[:, np.newaxis]
        else:
            batch = encode_items(None, y, weights, loss, "sort")
            each = weights[:, np.newaxis] * ~np.isnan(batch.targets)
            lists = RankingLists.equal(*each.shape)
        ids = batch.first_id, batch.last_id
        return cls(
            batch.targets, each, lists, weights, batch.n_items, batch.totals, batch.n_lists, *ids
        )


class Known(NamedTuple):
    """What is known of all lists before one is evaluated.

    Attributes
    ----------
    surrogate : Surrogate
        With its eta.
    unit : float
        The utilities are those of the measure times this.
    total : float
        What the sum over lists is divided by.
    """

    surrogate: Surrogate
    unit: float
    total: float


@dataclass(frozen=True)
class LabelSums:
    """What has to be known of the labels of all blocks; it adds up.

    Attributes
    ----------
    layout : int or None
        The number of fixed items, None for documents.
    totals : Totals
    least, largest : float
        Of the utilities that count, still without the mean normaliser.
    mass, utility : float
        Sum of the weights, alone and times the utilities.
    judged : ndarray of bool, shape (d,)
        Items that somebody has judged.
    complete : bool
        Whether every row that counts judges all items.
    n_lists : int
    first_id, last_id : object or None
    has_qid : bool
    """

    layout: int | None
    totals: Totals
    least: float
    largest: float
    mass: float
    utility: float
    judged: np.ndarray
    complete: bool
    n_lists: int
    first_id: Any
    last_id: Any
    has_qid: bool

    @classmethod
    def of(cls, utilities):
        """Of the `Utilities` of a block."""
        v, each = np.nan_to_num(utilities.v), utilities.weights
        with np.errstate(over="ignore"):  # said where the surrogate is evaluated
            utility = float((each * v).sum())
        counted = v[each > 0]
        return cls(
            utilities.n_items,
            utilities.totals,
            counted.min(initial=np.inf),
            counted.max(initial=-np.inf),
            float(each.sum()),
            utility,
            np.any(each > 0, axis=0),
            bool(np.all((each > 0) == (utilities.row_weights > 0)[:, np.newaxis])),
            utilities.n_lists,
            utilities.first_id,
            utilities.last_id,
            utilities.first_id is not None,
        )

    def __add__(self, other):
        """Of these lists and those after them."""
        if self.layout != other.layout:
            raise ValueError(
                f"Blocks of different layouts: one has {self.layout or 'documents'} and another "
                f"{other.layout or 'documents'} (a number is that of fixed items)."
            )
        check_has_ids(self.has_qid, other.has_qid)
        if other.first_id is not None and same_id(other.first_id, self.last_id):
            raise cut_list(other.first_id)
        return LabelSums(
            self.layout,
            self.totals + other.totals,
            min(self.least, other.least),
            max(self.largest, other.largest),
            self.mass + other.mass,
            self.utility + other.utility,
            self.judged | other.judged,
            self.complete and other.complete,
            self.n_lists + other.n_lists,
            self.first_id,
            other.last_id,
            self.has_qid or other.has_qid,
        )

    def known(self, surrogate):
        """`Known` of all lists, for a surrogate by name or as it is."""
        unit = self.totals.target_factor
        extremes = [self.least, self.largest] if self.least <= self.largest else []
        resolved = surrogate_for(surrogate, unit * np.array(extremes))
        total = unit * self.utility if resolved.is_proportional else self.mass
        return Known(resolved, unit, total if total > 0 else 1.0)


@dataclass(frozen=True)
class ScoreProblem:
    """A surrogate with the utilities of documents (d = 1) or of fixed items (d = r).

    Attributes
    ----------
    surrogate : Surrogate
    v, weights : ndarray of shape (n, d)
        Utilities and importances, in the order of the rows of X; 0 where not judged.
    lists : RankingLists
        Of the flat scores: the rows of X, or the rows of a matrix of scores.
    row_weights : ndarray of shape (n,)
    total : float
        What the sum over lists is divided by.
    n_items : int or None
    """

    surrogate: Surrogate
    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    row_weights: np.ndarray
    total: float
    n_items: int | None

    @classmethod
    def of_labels(cls, y, lists, weights, loss, surrogate):
        """From labels as the rankers read them."""
        utilities = Utilities.of_labels(y, lists, weights, loss)
        return cls.of(utilities, LabelSums.of(utilities).known(surrogate))

    @classmethod
    def of(cls, utilities, known):
        """From the utilities of some lists and what is `Known` of all of them."""
        v = np.nan_to_num(utilities.v) * known.unit
        _, each, lists, row_weights, n_items, *_ = utilities
        return cls(known.surrogate, v, each, lists, row_weights, known.total, n_items)

    @cached_property
    def grouped(self):
        """`GroupedLists` of the utilities and weights."""
        lists = self.lists
        v, weights = lists.group(self.v.ravel()), lists.group(self.weights.ravel())
        mass = lists.sum(weights)
        if not self.surrogate.is_pairwise:
            return GroupedLists(v, weights, mass, 1.0, 1.0)
        factor = np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0)
        return GroupedLists(v, weights, mass, factor, lists.spread(factor))

    @cached_property
    def prepared(self):
        """The surrogate as a function of grouped scores."""
        return prepare_blocks(self.surrogate, self.grouped.v, self.lists, self.grouped.weights)

    def evaluate(self, scores):
        """Mean surrogate of scores (n, d), and its gradient."""
        lists, (_, _, _, list_factor, row_factor) = self.lists, self.grouped
        found = self.prepared(lists.group(scores.ravel()))
        gradient = lists.ungroup(found.gradient * row_factor).reshape(scores.shape)
        return float((found.values * list_factor).sum() / self.total), gradient / self.total

    @property
    def above(self):
        """Whose scores the surrogate wants above whose without end; see `falls_without_end`."""
        above = self.surrogate.falls_without_end(self.v, self.weights > 0)
        return np.zeros((0, 0), dtype=bool) if above is None else above

    def bound_norm(self, loss, unit):
        """Norm over lists of c C_phi(2), for the measure in its own unit, and their number.

        nan where there is no bound: of the surrogate, or because items of one list weigh
        differently in it and alike in the measure, as where some are not judged.
        """
        lists, (v, weights, mass, *_) = self.lists, self.grouped
        unequal = np.any(weights != lists.spread(weights[lists.starts]))
        if unequal or not self.surrogate.has_bound:
            return np.array([np.nan, 1.0])
        c = self.surrogate.bound_constant(v, lists)
        lengths, which = np.unique(lists.lengths, return_inverse=True)
        of_measure = np.array([C_phi(loss, int(r)) for r in lengths])[which]
        counts = mass > 0
        factors = (c * of_measure)[counts] / unit
        if not counts.any():
            return np.zeros(2)
        size = 2.0 ** np.frexp(factors.max())[1]  # squares of large grades overflow
        return np.array([size * np.linalg.norm(factors / size), len(factors)])


def unsupported_items(above, d):
    """Of d items those whose intercepts fall without end; none where there is a minimum.

    There is one unless some direction of free intercepts never raises the objective: unless
    in the graph `above` of who has to be above whom some part is reached and never left.
    """
    if not above.size:
        return np.zeros(0, dtype=np.intp)
    part = connected_components(above, connection="strong")[1]
    leaves = part[:, np.newaxis] != part
    left, reached = (
        np.bincount(part, weights=np.any(edges & leaves, axis=1)) > 0 for edges in (above, above.T)
    )
    return np.flatnonzero((reached & ~left)[part][:d])


# Features ---------------------------------------------------------------------------


class ScaledFeatures(NamedTuple):
    """Features over their standard deviations, minus their means.

    The means of sparse X are subtracted from the scores, not from X, which stays sparse. Products
    are those of the type of X, and sums over blocks of rows of double precision.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    left : ndarray of shape (p,)
        What is still to be subtracted from X: 0 where it is dense.
    """

    X: Any
    left: np.ndarray

    @classmethod
    def of(cls, X, weights, standardize, centre):
        """Of rows with weights; features that are constant where rows count keep their scale."""
        return Scaling.of(Moments.of(X, weights), standardize, centre).features(X)

    def scaled_rows(self):
        """Those that `left` is still to be subtracted from."""
        return self.X

    def scores(self, theta):
        """Scores (n, d) of coefficients and intercepts (d, p + 1)."""
        coef, intercept = theta[:, :-1], theta[:, -1]
        return _products(self.X, coef) + (intercept - coef @ self.left)

    def gradient(self, by_score):
        """By coefficients and intercepts (d, p + 1), of one by scores (n, d)."""
        sums = by_score.sum(axis=0)
        return np.column_stack([_sums(self.X, by_score) - np.outer(sums, self.left), sums])


def _products(X, coef):
    """X coef', in the type of X."""
    return np.asarray(X @ coef.T.astype(X.dtype, copy=False))


def _sums(X, by_score):
    """by_score' X: products of single precision are added up in double precision."""
    if X.dtype == np.float64:
        return np.asarray(X.T @ by_score).T
    by_coef = np.zeros((by_score.shape[1], X.shape[1]))
    for rows in gen_batches(X.shape[0], _ROWS_AT_ONCE):
        by_coef += by_score[rows].T.astype(X.dtype) @ X[rows]
    return by_coef


class RowsAsTheyCome(NamedTuple):
    """Dense rows of which no second copy is made; as `ScaledFeatures`.

    Small means are subtracted from the scores. Large ones would cancel there: the rows are then
    centred piece by piece in the cache, for each product again, and so is float32 converted where
    its products are not enough.

    Attributes
    ----------
    X : ndarray of shape (n, p)
    mean, scale : ndarray of shape (p,)
    left : ndarray of shape (p,)
        What is still to be subtracted of the scaled ones.
    as_it_is : bool
        Whether X is multiplied in its own type.
    """

    X: Any
    mean: np.ndarray
    scale: np.ndarray
    left: np.ndarray
    as_it_is: bool

    def pieces(self):
        """Slices of rows, and those rows minus the mean, in an array that is used again."""
        n, p = self.X.shape
        if self.as_it_is:
            yield slice(0, n), self.X
            return
        step, is_off = min(n, max(1, _ENTRIES_AT_ONCE // p)), self.mean.any()
        centred = np.empty((step, p))
        for rows in gen_batches(n, step):
            here = centred[: rows.stop - rows.start]
            here[...] = self.X[rows]  # faster than a difference of two types
            if is_off:
                here -= self.mean
            yield rows, here

    def scaled_rows(self):
        return (self.X - self.mean) / self.scale

    def scores(self, theta):
        coef = theta[:, :-1] / self.scale
        scores = np.empty((len(self.X), len(theta)))
        for rows, centred in self.pieces():
            scores[rows] = _products(centred, coef)
        return scores + (theta[:, -1] - theta[:, :-1] @ self.left)

    def gradient(self, by_score):
        by_coef = np.zeros((by_score.shape[1], self.X.shape[1]))
        for rows, centred in self.pieces():
            by_coef += _sums(centred, by_score[rows])
        sums = by_score.sum(axis=0)
        return np.column_stack([by_coef / self.scale - np.outer(sums, self.left), sums])


class Scaling(NamedTuple):
    """How features are centred and scaled.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        The mean is 0 where features are not centred.
    """

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, moments, standardize, centre):
        """By the `Moments` of all rows."""
        p = len(moments.mean)
        scale = moments.scale if standardize else np.ones(p)
        return cls(moments.mean if centre else np.zeros(p), scale)

    def as_they_come(self, X, single=False):
        """`RowsAsTheyCome` of dense rows that are read for one evaluation.

        X of float32 is multiplied as such where `single` precision will do.
        """
        if sparse.issparse(X):
            return self.features(X)
        nothing, left = np.zeros(len(self.mean)), self.mean / self.scale
        in_range = np.all(np.abs(np.log(self.scale)) <= np.log(_ORDINARY_SCALE))
        dtype = X.dtype if single and in_range else np.dtype(np.float64)
        if np.all(np.abs(left) <= _SMALL_OFFSET[dtype]):
            return RowsAsTheyCome(X, nothing, self.scale, left, X.dtype == dtype)
        return RowsAsTheyCome(X, self.mean, self.scale, nothing, False)

    def features(self, X, single=False):
        """`ScaledFeatures` of some rows, which are kept.

        They are of double precision, whatever X is, unless `single` precision will do for float32.
        """
        if sparse.issparse(X):
            return ScaledFeatures(X @ sparse.diags(1.0 / self.scale), self.mean / self.scale)
        scaled = np.empty(X.shape, dtype=X.dtype if single else np.float64)
        step = max(1, _ENTRIES_AT_ONCE // max(X.shape[1], 1))
        for rows in gen_batches(len(X), step):
            centred = np.subtract(X[rows], self.mean, dtype=np.float64)
            np.divide(centred, self.scale, out=scaled[rows], casting="same_kind")
        return ScaledFeatures(scaled, np.zeros(len(self.mean)))

    def scaled(self, model):
        """The (d, p + 1) of a `LinearModel` of the features as they came."""
        return np.column_stack([model.coef * self.scale, model.intercept + model.coef @ self.mean])

    def unscaled(self, theta):
        """`LinearModel` of the features as they came."""
        coef = theta[:, :-1] / self.scale
        return LinearModel(coef, theta[:, -1] - coef @ self.mean)
