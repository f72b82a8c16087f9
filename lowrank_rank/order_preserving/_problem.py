"""Linear scores under a surrogate: encoded labels, their sums over all blocks, the objective.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = X B' + b

The rows of B belong to the d columns of the scores: 1 for documents, r for fixed items. The
intercepts b are not penalised. Blocks of whole lists are held in memory, read from disk for every
sum, or on a cluster: `Summary`, `ScoreProblem.value_and_gradient`, `ScoreProblem.second_moments`
and `ScoreProblem.diagnostics` add up over blocks.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._base import Block, check_has_ids, check_new_lists, cut_list
from .._lists import RankingLists, blocks_of_lists, same_id
from ..regression._encoding import Totals, encode_documents, encode_items
from ..regression._statistics import Moments, Scaling, SecondMoments, standardise
from ._bounds import C_phi
from ._surrogates import Surrogate, SurrogateValues, surrogate_for


class Encoded(NamedTuple):
    """Rows of whole lists, with their labels as utilities.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    v : ndarray of shape (n, d)
        Utilities; NaN is not judged. Utilities of documents are not yet times the mean normaliser.
    weights : ndarray of shape (n, d)
        Importances, 0 if not judged.
    lists : RankingLists
        Lists of the flat scores: of the rows of X, or of the rows of a matrix of scores.
    row_weights : ndarray of shape (n,)
    n_items : int or None
    totals : Totals
    n_lists : int
        Number of lists of positive weight.
    first_id, last_id : object or None
        Query ids of the first and the last row.
    """

    X: Any
    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    row_weights: np.ndarray
    n_items: int | None
    totals: Totals
    n_lists: int
    first_id: Any
    last_id: Any


def encode(X, y, lists, weights, loss):
    """`Encoded` rows, from labels as the rankers read them."""
    if y.ndim == 1:
        batch = encode_documents(X, y, lists, weights, loss, "auto", "rows", False)
        each = weights[:, np.newaxis]
    else:
        batch = encode_items(X, y, weights, loss, "sort")
        each = weights[:, np.newaxis] * ~np.isnan(batch.targets)
        lists = RankingLists.equal(*each.shape)
    return Encoded(
        X,
        batch.targets,
        each,
        lists,
        weights,
        batch.n_items,
        batch.totals,
        batch.n_lists,
        batch.first_id,
        batch.last_id,
    )


def read(block, ranker, loss, ids=None):
    """`Encoded` rows of a `Block`, by a ranker with the attributes of the columns.

    A set `ids` collects ids, and refuses a list with rows in an earlier block.
    """
    rows = ranker._read(*Block.of(block), loss, reset=False, whole=False)
    if ids is not None:
        check_new_lists(rows.lists.ids, ids)
    return encode(*rows, loss)


@dataclass(frozen=True)
class Summary:
    """Sums over all rows that every evaluation needs. Summaries of two blocks add up.

    Attributes
    ----------
    features : Moments
    layout : int or None
        The number of fixed items, None for documents.
    totals : Totals
    least, largest : float
        Range of the utilities of positive weight, not yet times the mean normaliser.
    mass, utility : float
        Sum of the weights, alone and times the utilities.
    judged : ndarray of bool, shape (d,)
        Items with a label.
    complete : bool
        Whether every row of positive weight judges all items.
    n_lists : int
    first_id, last_id : object or None
    """

    features: Moments
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

    @classmethod
    def of(cls, rows):
        """Summary of `Encoded` rows."""
        codes = rows.lists.ungroup(rows.lists.index) if rows.n_items is None else None
        v, each = np.nan_to_num(rows.v), rows.weights
        with np.errstate(over="ignore"):  # refused when the surrogate is evaluated
            utility = float((each * v).sum())
        counted = v[each > 0]
        return cls(
            Moments.of(rows.X, rows.row_weights, codes),
            rows.n_items,
            rows.totals,
            counted.min(initial=np.inf),
            counted.max(initial=-np.inf),
            float(each.sum()),
            utility,
            np.any(each > 0, axis=0),
            bool(np.all((each > 0) == (rows.row_weights > 0)[:, np.newaxis])),
            rows.n_lists,
            rows.first_id,
            rows.last_id,
        )

    @property
    def has_qid(self):
        return self.last_id is not None

    def __add__(self, other):
        """Summary of these lists and the lists after them."""
        if self.layout != other.layout:
            raise ValueError(
                f"Blocks of different layouts: one has {self.layout or 'documents'} and another "
                f"{other.layout or 'documents'} (a number is the number of fixed items)."
            )
        check_has_ids(self.has_qid, other.has_qid)
        if other.first_id is not None and same_id(other.first_id, self.last_id):
            raise cut_list(other.first_id)
        return Summary(
            self.features + other.features,
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
        )

    def objective(self, surrogate):
        """The resolved surrogate, the unit of the utilities, and the total of the objective."""
        unit = self.totals.target_factor
        extremes = [self.least, self.largest] if self.least <= self.largest else []
        resolved = surrogate_for(surrogate, unit * np.array(extremes))
        total = unit * self.utility if resolved.is_proportional else self.mass
        return resolved, unit, total if total > 0 else 1.0


@dataclass(frozen=True)
class ScoreProblem:
    """A surrogate of linear scores, for the rows of a block.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Scaled features.
    shift : ndarray of shape (p,)
        Means that are still to be subtracted from X: sparse X stays sparse.
    surrogate : Surrogate
    v, weights : ndarray of shape (n, d)
        Utilities and importances; both are 0 if not judged.
    lists : RankingLists
        Lists of the flat scores.
    row_weights : ndarray of shape (n,)
    total : float
        Divisor of the sum over lists.
    n_items : int or None
    """

    X: Any
    shift: np.ndarray
    surrogate: Surrogate
    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    row_weights: np.ndarray
    total: float
    n_items: int | None

    @classmethod
    def of(cls, rows, scaling, surrogate, unit, total):
        """The problem of `Encoded` rows, features standardised by `scaling`; None keeps them."""
        X, shift = rows.X, np.zeros(rows.X.shape[1])
        if scaling is not None and sparse.issparse(X):
            shift = scaling.mean / scaling.scale
            X = standardise(X, scaling._replace(mean=np.zeros(len(shift))))
        elif scaling is not None:
            X = standardise(X, scaling)
        v = np.nan_to_num(rows.v) * unit
        return cls(
            X, shift, surrogate, v, rows.weights, rows.lists, rows.row_weights, total, rows.n_items
        )

    @cached_property
    def _grouped(self):
        """v and weights in grouped order, mass of the lists, factors of values and gradients.

        A list of pairs counts by its weight, not by the square of the weight.
        """
        lists = self.lists
        v, weights = lists.group(self.v.ravel()), lists.group(self.weights.ravel())
        mass = lists.sum(weights)
        if not self.surrogate.is_pairwise:
            return v, weights, mass, 1.0, 1.0
        factor = np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0)
        return v, weights, mass, factor, lists.spread(factor)

    @cached_property
    def _prepared(self):
        """The surrogate as a function of grouped scores."""
        v, weights, *_ = self._grouped
        return prepare_blocks(self.surrogate, v, self.lists, weights)

    def evaluate(self, scores):
        """Mean surrogate of scores (n, d), and its gradient."""
        lists, (*_, list_factor, row_factor) = self.lists, self._grouped
        found = self._prepared(lists.group(scores.ravel()))
        gradient = lists.ungroup(found.gradient * row_factor).reshape(scores.shape)
        return float((found.values * list_factor).sum() / self.total), gradient / self.total

    def value_and_gradient(self, theta):
        """Value and then gradient, in one vector, for coefficients and intercepts (d, p + 1)."""
        coef, intercept = theta[:, :-1], theta[:, -1]
        scores = np.asarray(self.X @ coef.T) + (intercept - coef @ self.shift)
        value, by_score = self.evaluate(scores)
        sums = by_score.sum(axis=0)
        by_coef = np.asarray(self.X.T @ by_score).T - np.outer(sums, self.shift)
        return np.append(value, np.column_stack([by_coef, sums]))

    def second_moments(self):
        """`SecondMoments` of a squared surrogate.

        Pairs of documents have features and targets centred within lists. Pairs of fixed items need
        centred targets only: all items of a row share its features.
        """
        targets, codes = self.v, None
        if self.surrogate.is_pairwise and self.n_items is None:
            codes = self.lists.ungroup(self.lists.index)
        elif self.surrogate.is_pairwise:
            targets = targets - targets.mean(axis=1, keepdims=True)
        return SecondMoments.of(self.X, targets, self.row_weights, codes)

    def diagnostics(self, loss, unit):
        """Sum of squares of c C_phi(2) over lists, the number of lists, and divergent pairs.

        The sum is nan without a bound: if the surrogate has none, or if items of one list have
        different weights, which the measure ignores. Divergent pairs of items are pairs that the
        surrogate separates without bound, as a flat matrix.
        """
        above = self.surrogate.falls_without_end(self.v, self.weights > 0)
        above = np.zeros(0) if above is None else above.ravel()
        lists, (v, weights, mass, *_) = self.lists, self._grouped
        unequal = np.any(weights != lists.spread(weights[lists.starts]))
        if unequal or not self.surrogate.has_bound:
            return np.concatenate([[np.nan, 1.0], above])
        c = self.surrogate.bound_constant(v, lists)
        lengths, which = np.unique(lists.lengths, return_inverse=True)
        factors = c * np.array([C_phi(loss, int(r)) for r in lengths])[which] / unit
        counts = mass > 0
        return np.concatenate([[np.sum(factors[counts] ** 2), counts.sum()], above])


def prepare_blocks(surrogate, v, lists, weights, n_rows=2**14):
    """`Surrogate.prepare` in blocks of whole lists of about `n_rows` rows, as one function."""
    parts = []
    for first, last in blocks_of_lists(lists, n_rows):
        rows = slice(lists.offsets[first], lists.offsets[last])
        some = RankingLists(lists.lengths[first:last])
        parts.append((rows, surrogate.prepare(v[rows], some, weights[rows])))

    def evaluate(s):
        found = [at(s[rows]) for rows, at in parts]
        return SurrogateValues(*(np.concatenate(part) for part in zip(*found, strict=True)))

    return evaluate


def unsupported_items(above, d):
    """Indices of the items, of d, with intercepts that diverge.

    `above` is the matrix of divergent pairs, flat. There is no minimum if its graph has a part that
    is reached and never left: its free intercepts fall without raising the objective.
    """
    if not above.size:
        return np.zeros(0, dtype=np.intp)
    above = above.reshape(int(np.sqrt(above.size)), -1) > 0
    part = connected_components(above, connection="strong")[1]
    leaves = part[:, np.newaxis] != part
    left, reached = (
        np.bincount(part, weights=np.any(edges & leaves, axis=1)) > 0 for edges in (above, above.T)
    )
    return np.flatnonzero((reached & ~left)[part][:d])


def scaling_of(features, standardize, centre):
    """The `Scaling` by `Moments`; without `centre` no means are subtracted."""
    p = len(features.mean)
    return Scaling(
        features.mean if centre else np.zeros(p), features.scale if standardize else np.ones(p)
    )
