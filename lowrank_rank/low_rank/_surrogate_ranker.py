"""LowRankSurrogateRanker: encode the labels, regress, decode."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker
from ..fitting._any_regressor import resolved_estimator
from ..fitting._encoded_fits import AddsUp
from ..fitting._encoding import (
    decoded_scores,
    encode_documents,
    encode_items,
    items_decoder,
    n_targets,
)
from ..fitting._ridge import chosen_solver, solve_sums
from ..lists._lists import bounded_blocks
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss
from ..validation._arrays import ArrayLike, MatrixLike, check_size, is_finite
from ..validation._kinds import arrive
from ..validation._parameters import RUNTIME, count, fresh_fit, number, regressor, say
from ..validation._read import Data


class LowRankSurrogateRanker(AddsUp, BaseRanker, RegressorMixin, BaseEstimator):
    """Rank documents or items by any regressor, trained for the measure you name.

    `fit` regresses encoded labels ``alpha(y)``, in which the target loss is linear.
    `predict` decodes the estimate u into the order of least ``<u, beta(order)>``. This
    is consistent if the regression is (theorem 3 of [1]_).

    The shape of y selects the layout:

    * (n_rows,): grades of documents; `qid` says which rows are a query.
    * (n_queries, r): grades of the same r items; NaN is not judged. Orders become
      grades by `votes.grades_from_orders`; `StackingRanker` is better for them.
    * (n_queries, r, r): preferences y[q, i, j] >= 0 of item i over j, for "pd".

    Parameters
    ----------
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", "precision@5", "pd" or an object
        such as ``NDCG(k=10, gain="exponential")``. Names with the same gains and
        normalisers learn the same order of documents, such as "map" and "recall@10".
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    estimator : {"auto", "ridge", "logistic", "trees"} or regressor, default="auto"
        The regression. "ridge" is linear least squares, for documents centred within
        lists, "logistic" is fractional logistic regression of items [2]_. "trees" is a
        forest for items, ``ExtraTreesRegressor()``, and 200 boosted trees for
        documents: 7 leaves and step 0.05, above 20,000 rows 31 leaves and step 0.1
        (`HistGradientBoostingRanker` is better). "auto" is "ridge" for documents and
        "logistic" for items, which leaves unknown labels out.
    decoder : str or callable, default="auto"
        A name in ``target_loss.decoders``, or ``decode(u, n_items)`` that returns
        ranks. "auto" is exact if feasible; longer lists of "pd" and "kendall" are
        decoded as by `PairwiseDAGRanker`. Documents are sorted.
    alpha : float, "auto" or "gcv", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n lists, c =
        1/4 for "logistic" and 1 for "ridge". "gcv", only for items with "ridge", is the
        best of 65 penalties by generalised cross-validation, for weak features and few
        labels.
    centered : bool, default=True
        Documents: subtract from targets the mean of their list; "trees" update these
        means while they grow. False is the published loss.
    tol : float, default=1e-4
        Accuracy of "logistic" and of "ridge" where they iterate.
    max_iter : int, default=1000
        Largest number of iterations of "logistic" and "ridge".
    n_jobs : int or None, default=None
        Parallel fits of a regressor with a single output.
    random_state : int, RandomState instance or None, default=None
        Seed of `estimator`.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    target_loss_ : TargetLoss
        The target loss as an object.
    decoder_ : str or callable
        The decoder in use.
    n_lists_ : int
        Number of lists of positive weight.
    n_items_ : int or None
        Number r of items; None for documents.
    coef_ : ndarray of shape (n_features,) or (d, n_features)
        u is ``X coef' + intercept``; for "logistic"
        ``low_ + (high_ - low_) * expit(X coef' + intercept)``.
    intercept_ : float or ndarray of shape (d,)
        Intercepts.
    low_, high_ : ndarray of shape (d,)
        "logistic": least and largest targets.
    estimators_ : list of regressors
        One regressor, or one for each coordinate.
    estimator_, feature_importances_
        The only regressor, and its importances.
    alpha_ : float
        Penalty of "ridge" or "logistic".
    solver_ : str
        Solver of "ridge": "gram" from second moments, or the iterative "lsqr" for
        thousands of features.
    n_iter_ : int
        Iterations of the solver; 1 for a regressor.
    n_features_in_, feature_names_in_
        Number of features, and their names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    PairwiseDAGRanker : "pd" with features of pairs, preferences, probabilities.
    StackingRanker : This ranker and a forest, for orders of labels.
    LowRankSurrogateClassifier : The same surrogate for any cost matrix.
    make_ranking_scorer : Scorers for model selection.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013.
    .. [2] L. Papke, J. Wooldridge, "Econometric methods for fractional response
       variables", 1996.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from lowrank_rank import LowRankSurrogateRanker, ranking_target
    >>> X = [[0.0], [1.0], [0.0], [2.0]]
    >>> y = ranking_target([0, 1, 0, 1], qid=["a", "a", "b", "b"])
    >>> ranker = LowRankSurrogateRanker(target_loss="ndcg").fit(X, y)
    >>> ranker.rank([[1.0], [3.0], [2.0]], qid=["c", "c", "c"])
    array([3, 1, 2])
    >>> ranker.score(X, y)
    1.0
    >>> search = GridSearchCV(ranker, {"alpha": [0.1, 1.0]}, cv=GroupKFold(2))
    >>> search.fit(X, y, groups=y["qid"]).best_params_
    {'alpha': 0.1}
    """

    decoder_: Any
    _keeps_float32: ClassVar = True
    _keeps_frames: ClassVar = True
    _shared: ClassVar = ("n_items_", "target_loss_", "decoder_")
    _parameters: ClassVar = {
        "estimator": [regressor, "auto", "ridge", "logistic", "trees"],
        "decoder": [str, callable],
        "alpha": ["auto", "gcv", number(0)],
        "centered": [bool],
        "tol": [number(0)],
        "max_iter": [count()],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: str | TargetLoss = "ndcg@10",
        estimator: Any = "auto",
        decoder: str | Callable[..., Any] = "auto",
        alpha: float | str = "auto",
        centered: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.estimator = estimator
        self.decoder = decoder
        self.alpha = alpha
        self.centered = centered
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "LowRankSurrogateRanker":
        """Encode the labels and fit the regression.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            One row per document, or per query for fixed items. An `estimator` gets a
            data frame of pandas or polars unchanged, with categories and missing
            values.
        y : array-like of shape (n_rows,), (n_rows, r) or (n_rows, r, r)
            Labels, higher is better (of orders: `grades_from_orders`); a
            `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row; constant within a list it is a list weight. Bins and
            leaves of "trees" count rows.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters are wrong. The model is
            unchanged then.
        """
        with fresh_fit(self):
            loss = self._checked_loss()
            rows = self._read(X, y, qid, sample_weight, loss, one_list=one_list)
            self._keep(self._fit_model(rows, loss))
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Compute scores, higher is better.

        The score of a row does not depend on the other rows. Linear models give equal
        rows equal scores to the last bit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            The scores u for the decoder "sort", else r - rank of the decoded order.
        """
        arrive(X=X)
        check_is_fitted(self)
        n_entries = 1
        if self.n_items_ is not None and self.decoder_ != "sort":
            n_entries = self.n_items_**2

        def decode(u):
            return decoded_scores(self.target_loss_, self.decoder_, u, self.n_items_)

        return self._by_blocks(X, n_entries, decode)

    def _checked_loss(self):
        """Return the target loss as an object of this estimator."""
        return resolve_target_loss(self.target_loss, copied=True)

    def _encode(self, rows, loss):
        """Return the `Encoding` of `Data`; set the attributes that labels decide."""
        y = rows.y
        say(self, f"encoding {y.shape[0]} rows for {self.target_loss!r}")
        self._set_lists(rows, loss)
        if y.ndim == 1:
            self.decoder_ = "sort"
            return encode_documents(rows, loss, self.centered, self.decoder)
        self.decoder_ = items_decoder(self.decoder, loss, y)
        return encode_items(y, loss, self.decoder_)

    def _fit_model(self, rows, loss):
        """Encode `Data`, standardise and solve, all at once or in parts.

        Targets of pairs, r^2 / 2 in a row, may exceed the memory.
        """
        X = rows.X
        y = rows.y
        if y.ndim > 1:
            decoder = items_decoder(self.decoder, loss, y)
            d = n_targets(loss, decoder, y.shape[1])
            if decoder != "sort" and self._is_solved_in_parts("items", d):
                return self._fit_pairs_in_parts(rows, loss, d)
            estimator = resolved_estimator(self.estimator, "items")
            is_ridge = estimator == "ridge" and is_finite(y)
            if is_ridge and chosen_solver(X, d, self.alpha) == "gram":
                return self._fit_rows_in_blocks(rows, loss, d)
        return self._regress(rows, self._encode(rows, loss))

    def _fit_rows_in_blocks(self, rows, loss, d):
        """Solve ridge regression from sums of blocks of rows.

        The targets of a block have a quarter as many numbers as the sums.
        """
        self._encode_one_row(rows, loss)
        n_rows = len(rows.y)
        max_entries = max(2**16, d * rows.X.shape[1] // 4)
        sums: Any = None
        for block in bounded_blocks(n_rows, d, max_entries):
            part = Data(rows.X[block], rows.y[block], None, rows.weights[block])
            encoding = encode_items(part.y, loss, self.decoder_, block.start)
            sums_of_block = self._sums_of(part, encoding)
            sums = sums_of_block if sums is None else sums + sums_of_block
            del sums_of_block  # the sums are large
        return solve_sums(sums, self.alpha)

    def _fit_pairs_in_parts(self, rows, loss, d):
        """Fit logistic regression to a part of the pairs at a time."""
        n, p = rows.X.shape
        self._encode_one_row(rows, loss)
        check_size(
            f"The coefficients of {d} pairs",
            16 * d * (p + 1),  # of the parts and of the whole
            "use a loss of single items, 'ndcg'",
        )

        def encoding_of(pairs):
            targets = np.empty((n, pairs.stop - pairs.start))
            for block in bounded_blocks(n, d, 2**18):
                encoding = encode_items(
                    rows.y[block], loss, self.decoder_, block.start, pairs
                )
                targets[block] = encoding.targets
            return replace(encoding, targets=targets)

        return self._regress_in_parts(rows, d, encoding_of)

    def _encode_one_row(self, rows, loss):
        """Set the attributes that labels decide; check the labels of all rows."""
        self._encode(rows._replace(y=rows.y[:1]), loss)
        loss.check_labels(rows.y)  # names the row
