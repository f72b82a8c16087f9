"""Ridge regression centred within groups, from second moments or iteratively.

    minimise  1 / (2 W) sum_i w_i |t_i - t_mean - (x_i - x_mean) B|^2
              + alpha / 2 sum_j (s_j |B_j|)^2

W is the sum of the weights, t_mean and x_mean are the means of the group of row i, and
s_j is the unit of feature j, its standard deviation within the groups (see
`Moments.scale` for rare features of items). So the unit of a feature,
its level in a group and the number of rows do not matter. A group for each list gives
the pairwise squared loss of documents in closed form, each list weighted by its length.
One group of all rows gives ridge with an intercept. Means are weighted. Sparse X is
never densified: sums and products are centred, not X.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.exceptions import ConvergenceWarning

from .._base import linear_scores
from .._blocks import check_has_ids, refuse_cut_list
from ..validation._arrays import check_size
from ..validation._findings import found
from ..validation._labels import refuse_zero_weights
from ._encoding import mean_normaliser
from ._statistics import (
    GCVError,
    Moments,
    SecondMoments,
    chosen_alpha,
    count_lists,
    group_totals,
    inverses_of,
    moments_of_gaps,
)

#: Numbers of dense and sparse features above which `fit` iterates. Second moments of
#: 4000 features take 128 MB; products of sparse rows are slow from some hundred
#: features on.
MAX_FEATURES_GRAM = 4000
MAX_SPARSE_FEATURES = 500
#: Features for each target from which LSQR takes at most half of the time of second
#: moments (``python -m benchmarks limits --row "wide documents"``).
WIDE = 1000


class LinearModel(NamedTuple):
    """A fitted linear regression of d targets.

    Attributes
    ----------
    coef : ndarray of shape (d, p)
    intercept : ndarray of shape (d,)
    solver : str or None
    n_iter : int
    alpha : float or None
        The penalty of ridge regression.
    sums : RidgeSums or None
        The sums of solver "gram", to which `partial_fit` adds.
    """

    coef: np.ndarray
    intercept: np.ndarray
    solver: str | None = None
    n_iter: int = 1
    alpha: float | None = None
    sums: Any = None

    def predict(self, X):
        """Surrogate vectors, shape (n, d)."""
        return linear_scores(X, self.coef, self.intercept)


def chosen_solver(X, d, alpha, n_matrices=1):
    """Choose the solver: "gram", second moments, or "lsqr", iterations.

    Second moments take ``p (n + p)`` products for each feature, and LSQR about ``1000
    n`` for each of d targets. Targets with NaN need a matrix each. The penalty "gcv"
    needs second moments.
    """
    if alpha == "gcv":
        return "gram"
    n, p = X.shape
    if sparse.issparse(X):
        is_wide = p > MAX_SPARSE_FEATURES
    else:
        is_wide = p > WIDE and p * (n + p) > WIDE * n * d
    is_large = n_matrices * p**2 > MAX_FEATURES_GRAM**2
    return "lsqr" if is_wide or is_large else "gram"


def with_lists(features, rows):
    """Count the lists of documents in `Moments` that do not centre rows within them."""
    if rows.y.ndim > 1 or rows.lists is None:
        return features
    return replace(features, lists=count_lists(rows.lists.codes, rows.weights))


@dataclass(frozen=True)
class RidgeSums:
    """Sums over whole lists that determine a ridge regression.

    The sums of two blocks of rows add up to those of all rows.

    Attributes
    ----------
    moments : SecondMoments
        Of features and targets.
    kind, normaliser_sums, votes
        As of `Encoding`.
    n_lists : int
        Number of lists of positive weight.
    ends : tuple
        Digests of the query ids of the first and the last row; None for each without
        ids.
    shared : dict
        Attributes of the estimator that all blocks must have in common, by name.
    """

    moments: SecondMoments
    kind: str
    normaliser_sums: Any
    votes: Any
    n_lists: int
    ends: tuple[Any, Any]
    shared: dict[str, Any]

    def __add__(self, later: "RidgeSums") -> "RidgeSums":
        """Add the sums of a later block; refuse another kind and a split list."""
        self._check_same_kind(later)
        check_has_ids(self.has_ids, later.has_ids)
        last_id = self.ends[1]
        next_id = later.ends[0]
        if later.has_ids and next_id == last_id:
            refuse_cut_list()
        return RidgeSums(
            moments=self.moments + later.moments,
            kind=self.kind,
            normaliser_sums=np.add(self.normaliser_sums, later.normaliser_sums),
            votes=self.votes + later.votes,
            n_lists=self.n_lists + later.n_lists,
            ends=(self.ends[0], later.ends[1]),
            shared=self.shared,
        )

    @property
    def has_ids(self) -> bool:
        """Whether the rows have query ids."""
        return self.ends[1] is not None

    @property
    def _settings(self):
        """What all blocks must have in common, by name."""
        return {**self.shared, "centered": self.moments.features.within is not None}

    def _check_same_kind(self, later):
        """Refuse a block that differs in what all blocks must have in common."""
        for name, earlier_value in self._settings.items():
            value = later._settings[name]
            if not _are_equal(value, earlier_value):
                raise ValueError(
                    f"Earlier batches had {_in_words(name, earlier_value)}, this one "
                    f"has {_in_words(name, value)}: all batches of a model must be of "
                    "one kind. Use fit to start again."
                )


def _in_words(name, value):
    """Describe a setting for a message."""
    if name != "n_items_":
        return f"{name.strip('_')} {value}"
    if value is None:
        return "one row per document"
    return f"{value} items in each row"


def _are_equal(one, other):
    """Compare two settings, losses by their parameters.

    Matrices of numbers are compared up to rounding: LAPACK may find another basis for
    equal singular values of costs on another machine.
    """
    if hasattr(one, "get_params"):
        if type(one).__name__ != type(other).__name__:
            return False
        parameters = other.get_params()
        same_parameters = all(
            _are_equal(value, parameters[name])
            for name, value in one.get_params().items()
        )
        alphas = [getattr(loss, "alpha_", None) for loss in (one, other)]
        return same_parameters and _are_equal(*alphas)
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return bool(one == other)
    if one.dtype.kind == other.dtype.kind == "f" and one.shape == other.shape:
        largest = np.abs(other).max(initial=0.0)
        return np.allclose(one, other, rtol=0.0, atol=1e-9 * largest)
    return np.array_equal(one, other)


def sums_of(rows, encoding, shared):
    """`RidgeSums` of `Data` and their `Encoding`; refuses what exceeds the memory."""
    p = rows.X.shape[1]
    n_matrices = 1 if encoding.is_complete else encoding.targets.shape[1]
    what = f"The sums of ridge regression, for {p} features,"
    n_bytes = 8 * n_matrices * p**2
    check_size(what, n_bytes, "use fit, which iterates then, or hash features")
    moments = SecondMoments.of(
        rows.X,
        encoding.targets,
        rows.weights,
        encoding.codes,
        is_complete=encoding.is_complete,
    )
    features = with_lists(moments.features, rows)
    return RidgeSums(
        moments=replace(moments, features=features),
        kind=encoding.kind,
        normaliser_sums=encoding.normaliser_sums,
        votes=encoding.votes,
        n_lists=rows.n_lists,
        ends=rows.ends,
        shared=shared,
    )


def solve_sums(sums, alpha):
    """`LinearModel` of ridge regression by its sums; `alpha` may be "auto" or "gcv"."""
    moments = sums.moments
    features = moments.features
    if not features.total > 0:
        refuse_zero_weights()
    if alpha == "gcv" and sums.kind != "documents":
        alpha = moments.gcv_alpha(features.scale)
    alpha = chosen_alpha(alpha, features.n_features, features.n_lists)
    coef, intercept = moments.solve(alpha * features.total, features.scale)
    normaliser = mean_normaliser(sums.normaliser_sums)
    coef *= normaliser
    return LinearModel(
        coef=coef.T,
        intercept=intercept * normaliser,
        solver="gram",
        alpha=alpha,
        sums=sums,
    )


def solve_gaps(rows, encoding, alpha):
    """`LinearModel` of fixed items with gaps, with one matrix in memory at a time.

    It is that of `solve_sums`, but does not keep sums, which have a matrix for each
    target.
    """
    features = with_lists(Moments.of(rows.X, rows.weights), rows)
    if not features.total > 0:
        refuse_zero_weights()
    gaps = partial(moments_of_gaps, rows.X, encoding.targets, rows.weights)
    if alpha == "gcv":
        error = GCVError(features.total, features.scale)
        for columns, part in gaps():
            error.add_squares(part.t_squares)
            error.add(part.gram[0], part.cross, part.total[0], len(columns))
        alpha = error.best_alpha()
    alpha = chosen_alpha(alpha, features.n_features, features.n_lists)
    d = encoding.targets.shape[1]
    coef = np.empty((d, rows.X.shape[1]))
    intercept = np.empty(d)
    for columns, part in gaps():
        solution, of_part = part.solve(alpha * features.total, features.scale)
        coef[columns] = solution.T
        intercept[columns] = of_part
    return LinearModel(
        coef=coef * encoding.mean_normaliser,
        intercept=intercept * encoding.mean_normaliser,
        solver="gram",
        alpha=alpha,
    )


# Iterations -------------------------------------------------------------------------


def fit_lsqr(rows, encoding, alpha, tol, max_iter):
    """`LinearModel` of `Data` and their `Encoding` by LSQR, without a p x p matrix.

    `tol` is the accuracy of the predictions, in standard deviations.
    """
    features = Moments.of(rows.X, rows.weights, encoding.codes)
    features = with_lists(features, rows)
    alpha = chosen_alpha(alpha, features.n_features, features.n_lists)
    penalty = alpha * features.total * features.scale**2
    X = rows.X.astype(np.float64, copy=False)  # once, rather than in every product
    n, p = X.shape
    d = encoding.targets.shape[1]
    codes = encoding.codes
    if codes is None:
        codes = np.zeros(n, dtype=np.intp)
    coef = np.zeros((d, p))
    intercept = np.zeros(d)
    operator: Any = None
    most_iterations = 0
    has_converged = True
    for j, target in enumerate(encoding.targets.T):
        is_known = ~np.isnan(target)
        # Complete targets have the operator in common.
        if operator is None or not is_known.all():
            weights = rows.weights * is_known
            scale, operator = _centred_operator(X, codes, weights, penalty)
        t = np.nan_to_num(target)
        totals = group_totals(codes, weights)
        centred_t = _centred(t, codes, weights, inverses_of(totals))
        right = np.concatenate([np.sqrt(weights) * centred_t, np.zeros(p)])
        # A residual of tol alone would leave errors of up to 100 tol in correlated
        # features.
        solution, stop, n_iter, *_ = lsqr(
            operator, right, atol=tol / 100.0, btol=tol / 100.0, iter_lim=max_iter
        )
        coef[j] = scale * solution
        most_iterations = max(most_iterations, n_iter)
        has_converged = has_converged and stop != 7
        # b = mean of t - x coef
        fractions = weights / max(totals.sum(), np.finfo(float).tiny)
        intercept[j] = fractions @ (t - X @ coef[j])
        if not is_known.all():
            operator = None
    if not has_converged:
        found(
            "LSQR",
            f"LSQR stopped after {most_iterations} iterations before it reached "
            f"tol={tol:g}: increase max_iter or tol, or scale the features.",
            ConvergenceWarning,
        )
    return LinearModel(
        coef=coef * encoding.mean_normaliser,
        intercept=intercept * encoding.mean_normaliser,
        solver="lsqr",
        n_iter=most_iterations,
        alpha=alpha,
    )


def _centred(values, codes, weights, inverses):
    """Subtract from each value the weighted mean of its group."""
    sums = np.bincount(codes, weights=weights * values, minlength=len(inverses))
    return values - (sums * inverses)[codes]


def _centred_operator(X, codes, weights, penalty):
    """Return the diagonal of D and the operator of the least squares.

    The operator is v -> [sqrt(w) * centre(X D v), sqrt(penalty) D v]. D has the inverse
    norm of each column of the system, 0 for a feature of zeros. A column is the centred
    feature on top of its penalty. Without the penalty in the norm, rare features would
    take ten times the iterations.
    """
    n, p = X.shape
    features = Moments.of(X, weights, codes)
    raw = features.squares + features.total * features.mean**2
    within = np.maximum(features.within, 1e-12 * raw)
    scale = np.zeros(p)
    np.divide(1.0, np.sqrt(within + penalty), out=scale, where=within > 0)
    root = np.sqrt(weights)
    inverses = inverses_of(group_totals(codes, weights))
    scaled_penalty = np.sqrt(penalty) * scale

    def matvec(v):
        v = v.ravel()
        centred = root * _centred(X @ (scale * v), codes, weights, inverses)
        return np.concatenate([centred, scaled_penalty * v])

    def rmatvec(z):
        z = z.ravel()
        values = root * z[:n]
        # Transposed centring: each row loses its weight times the mean of its group.
        sums = np.bincount(codes, weights=values, minlength=len(inverses))
        centred = values - weights * (sums * inverses)[codes]
        return scale * (X.T @ centred) + scaled_penalty * z[n:]

    operator = LinearOperator(
        (n + p, p), matvec=matvec, rmatvec=rmatvec, dtype=np.float64
    )
    return scale, operator
