"""LowRankSurrogateRanker: encode the labels, regress, decode."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from .._base import BaseRanker
from .._blocks import Block
from .._lists import RankingLists
from .._parameters import (
    RUNTIME,
    check_parameters,
    count,
    fresh_fit,
    number,
    regressor,
)
from .._tables import take_rows
from .._typing import ArrayLike, MatrixLike
from ..regression._any_regressor import Regression
from ..regression._early_stopping import PARAMETERS, stopped
from ..regression._encoding import LIST_WEIGHTS, decoded_scores, encode_documents, encode_items
from ..regression._estimator import RegressionMixin, adds_up
from ..regression._ridge import SOLVERS
from ..target_losses import resolve_target_loss

if TYPE_CHECKING:
    from ..target_losses._base import TargetLoss


class LowRankSurrogateRanker(RegressionMixin, BaseRanker):
    """Ranker by a calibrated low-rank surrogate: encode the labels, regress, decode.

    The labels of a list are encoded into targets ``alpha(y)`` in which the target loss is
    linear, a regressor estimates their expectation, and its prediction u is decoded into
    the order that minimises ``<u, beta(order)>``. With any consistent regressor this is
    consistent for the target loss (theorem 3 of [1]_), on documents as far as
    one score per row can be.

    Three shapes of y select the layout:

    * (n_rows,) grades, one row of X per document, lists given by `qid` (`qid=None` is one
      list, or y carries it: see `ranking_target`);
    * (n_queries, r) grades of the same r items, one row of X per query; NaN = not judged,
      for losses without a normaliser;
    * (n_queries, r, r) preferences y[q, i, j] >= 0, for "pd".

    Parameters
    ----------
    target_loss : str or TargetLoss, default="ndcg@10"
        What to aim at: a name such as "ndcg@10", "precision@5", "map", "eru", "pd", or an object
        such as ``NDCG(k=10, gain="exponential")``.
    estimator : {"auto", "ridge", "logistic", "trees"} or regressor, default="auto"
        What estimates u. "ridge" is linear least squares, in documents centred within lists: the
        pairwise squared loss in closed form. "logistic" is fractional logistic regression of fixed
        items [2]_. "trees" are boosted trees for documents, a forest for fixed items. "auto" is
        "ridge" for documents and "logistic" for fixed items; one NaN in y of fixed items turns it
        to "ridge".
    decoder : str or callable, default="auto"
        One of ``target_loss.decoders``; "auto" takes an exact one where it is feasible. A callable
        ``decode(u, n_items)`` takes surrogate vectors (n, d), estimates of ``target_loss.encode``,
        and returns ranks (n, n_items), 1 = best. Documents are always sorted.
    alpha : float or "auto", default="auto"
        Penalty of "ridge" and "logistic", >= 0: ``alpha / 2`` times the squared coefficients of
        standardised features, beside the mean over rows of half the squared error, or of the log
        loss, of each coordinate. "auto" is a formula of p features and n rows, n the sum of
        `sample_weight` (weights that sum to 1 say "one row"), with f = min(p / n, 1):
        ``max(0.1, 10 f)`` for documents; ``f min(p / 50, 1)**2 / 2`` for "logistic", and
        ``max(0.1, 2 f)`` for "ridge", of fixed items. The guide has the rest of the table.
    centered : bool or "auto", default="auto"
        Documents only: subtract from the targets (and, with "ridge", from the
        features) their mean within each list, which no order within a list can see. "auto" does
        so for "ridge" and "trees" only: another regressor cannot be centred on the
        features, and has then to tell apart lists whose documents look alike.
    list_weights : {"rows", "lists", "pairs"}, default="rows"
        Documents only: what counts the same: each row, each list (row weights 1/r), or each
        pair (row weights r).
    n_passes : int or "auto", default="auto"
        Documents with an `estimator` and centred targets only: fits in which the regressor and
        the offsets of the lists take turns. A regressor cannot be centred on the features; after
        each fit the targets of a list are shifted to the mean of its scores, which no order
        can see, and the regressor is fitted again. With exact least squares each pass lowers
        the centred squared loss; each costs one more fit. Where the regressor is boosted and has
        ``warm_start=True`` (HistGradientBoostingRegressor, GradientBoostingRegressor), the passes
        share its iterations instead: each goes on from the one before. "auto" is 20 for "trees",
        else 1.
    solver : {"auto", "gram", "lsqr"}, default="auto"
        Of ridge: from second moments, exact, or an iterative solver without any
        n_features x n_features matrix. "auto" is "gram" up to 4000 features (500 of sparse X), of
        fewer where missing labels ask for several matrices, and "lsqr" above.
    tol : float, default=1e-6
        Relative accuracy of "lsqr", or of the gradient of "logistic".
    max_iter : int or None, default=None
        Iterations of "lsqr", None is twice the number of features; and of "logistic", None is 1000.
    early_stopping : bool, default=False
        Find the number of iterations of a boosted `estimator`, up to its own, by the target loss's
        measure on whole lists that are held out; then fit that many on all lists. Models of
        LightGBM and XGBoost stop by their own callbacks; those of scikit-learn with ``warm_start``
        and ``staged_predict`` (HistGradientBoostingRegressor, GradientBoostingRegressor) are
        fitted further in steps; each of them also as the last step of a Pipeline, whose
        transformers see the other lists only. Their own early stopping, which holds out rows, is
        switched off. LightGBM's take documents only.
    validation_fraction : float, default=0.1
        Fraction of the lists held out for `early_stopping`, drawn as
        `model_selection.query_train_test_split` does with `random_state`.
    n_iter_no_change : int, default=10
        Iterations without a larger measure after which `early_stopping` stops.
    n_jobs : int or None, default=None
        Parallel fits, over coordinates, of an `estimator` with a single output.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of `estimator` that is None, and draws the lists that
        `early_stopping` holds out.
    verbose : int, default=0
        Progress on the standard output.

    Attributes
    ----------
    target_loss_ : TargetLoss
        The resolved target loss.
    decoder_ : str or callable
        The decoder in use.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_ : ndarray of shape (n_features,) or (d, n_features)
        Of a linear model: u is ``X coef' + intercept``, or with "logistic"
        ``low_ + (high_ - low_) * expit(X coef' + intercept)``.
    intercept_ : float or ndarray of shape (d,)
        Of a linear model.
    low_, high_ : ndarray of shape (d,)
        Of "logistic": the least and the largest target of each coordinate.
    estimators_ : list of regressors
        Of another `estimator`: one fitted regressor, or one for each coordinate.
    estimator_ : regressor
        The one of them where there is one, as for documents: SHAP's ``TreeExplainer`` takes it.
    feature_importances_ : ndarray of shape (n_features,)
        Of `estimator_`, where it has them.
    alpha_ : float
        Of "ridge" and "logistic": the penalty in use.
    solver_ : str
        Of ridge: the solver in use.
    n_iter_ : int
        Iterations of "lsqr" or of logistic regression, the most over the coordinates; passes with
        another `estimator`, or with `early_stopping` the number of its iterations that was found
        best.
    validation_scores_ : ndarray of shape (n,)
        With `early_stopping`: the measure on the held-out lists after each iteration that was
        tried, of models that had not seen them; `n_iter_` is the first of the largest.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features where X has them.

    See Also
    --------
    LowRankSurrogateClassifier : The same for an arbitrary cost matrix.
    lowrank_rank.make_ranking_scorer : Scorers for model selection.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013.
    .. [2] L. Papke, J. Wooldridge, "Econometric methods for fractional response variables with an
       application to 401(k) plan participation rates", Journal of Applied Econometrics, 1996.

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> X = [[0.0], [1.0], [0.0], [2.0]]
    >>> ranker = LowRankSurrogateRanker(target_loss="ndcg", alpha=0.0)
    >>> ranker.fit(X, [0, 1, 0, 1], qid=["a", "a", "b", "b"]).coef_.round(2)
    array([0.6])
    >>> ranker.rank([[1.0], [3.0], [2.0]], qid=["c", "c", "c"])
    array([3, 1, 2])
    """

    _keeps_float32: ClassVar = True
    _keeps_frames: ClassVar = True
    _parameters: ClassVar = {
        "estimator": [regressor, "auto", "ridge", "logistic", "trees"],
        "decoder": [str, callable],
        "alpha": ["auto", number(0)],
        "centered": ["auto", bool],
        "list_weights": [*LIST_WEIGHTS],
        "n_passes": ["auto", count()],
        "solver": [*SOLVERS],
        "tol": [number(0)],
        "max_iter": [count(), None],
        **PARAMETERS,
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: "str | TargetLoss" = "ndcg@10",
        estimator: Any = "auto",
        decoder: str | Callable[..., Any] = "auto",
        alpha: float | str = "auto",
        centered: bool | str = "auto",
        list_weights: str = "rows",
        n_passes: int | str = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.estimator = estimator
        self.decoder = decoder
        self.alpha = alpha
        self.centered = centered
        self.list_weights = list_weights
        self.n_passes = n_passes
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "LowRankSurrogateRanker":
        """Encode the labels and fit the regression.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            One row per document, or per query for fixed items. A frame of pandas or polars
            reaches an `estimator` as it is, with categories and missing values.
        y : array-like of shape (n_rows,), (n_rows, r) or (n_rows, r, r)
            Labels, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row; constant within a list it is a list weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters do not fit, or `early_stopping` has fewer
            than two lists or an `estimator` that has no way to stop; nothing is changed then.
        """
        with fresh_fit(self):
            batch = self._encode(X, y, qid, sample_weight, reset=True, whole=True)
            regression = Regression.of(self).named(batch)
            if self.early_stopping:
                regression = self._stopped(regression, batch)
            self._adopt(batch, regression.fit(batch, self._passes()))
            if self.early_stopping:
                self.n_iter_ = int(np.argmax(self.validation_scores_)) + 1
        return self

    @available_if(adds_up)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "LowRankSurrogateRanker":
        """Add a batch of whole lists; the result is that of `fit` on all of them.

        For ridge regression: documents, or fixed items with ``estimator="ridge"``. Memory does not
        grow with the rows.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in `fit`. A list must be in one batch: only the first id of a batch is compared with
            the last of the previous one, and refused where both are the same; a list that comes
            back later counts as another one. Without qid each batch is a list, which is refused
            after batches with ids. An item may be judged in any of the batches. `alpha` may change
            between calls, what is aimed at may not.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`, if a list is cut across two calls, if there are too many features for the
            sums, or if y is of fixed items and `estimator` is not "ridge"; the model stays as it
            was.
        """
        return self._partial_fit(Block(X, y, qid, sample_weight))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; a row's score does not depend on the other rows.

        Equal rows get equal scores to the last bit, whatever else is in the batch; with an
        `estimator` that is none of scikit-learn's linear models, this is as its own ``predict``
        does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            The scores u themselves where they are sorted; r - rank of the decoded order
            where the decoder is combinatorial.
        """
        u = self.predict_surrogate(X)
        return decoded_scores(self.target_loss_, self.decoder_, u, self.n_items_)

    # Encoding -----------------------------------------------------------------------

    def _encode(self, X, y, qid, sample_weight, *, reset, whole):
        """Everything that is checked and known of a batch before a regressor sees it."""
        loss = clone(resolve_target_loss(self.target_loss))
        check_parameters(self)
        X, y, lists, weights = self._read(X, y, qid, sample_weight, loss, reset=reset, whole=whole)
        if self.verbose:
            Regression.of(self).say(f"encoding {len(y)} rows for {loss!r}")
        return self._encode_rows(X, y, lists, weights, loss)

    def _encode_rows(self, X, y, lists, weights, loss):
        if y.ndim == 1:
            centered = self.centered
            if centered == "auto":
                centered = isinstance(self.estimator, str)
            return encode_documents(
                X, y, lists, weights, loss, self.decoder, self.list_weights, centered
            )
        return encode_items(X, y, weights, loss, self.decoder)

    def _passes(self):
        if self.n_passes != "auto":
            return self.n_passes
        return 20 if isinstance(self.estimator, str) and self.estimator == "trees" else 1

    def _stopped(self, regression, batch):
        """The regression with as many iterations as are best on held-out lists."""
        if self._passes() > 1:
            raise ValueError(
                "early_stopping counts the iterations of one fit: set n_passes=1, or leave "
                "early_stopping=False."
            )

        def encode(rows):
            lists, y = batch.lists, batch.y[rows]
            if lists is not None:
                lists = RankingLists.from_qid(lists.ungroup(lists.index)[rows])
            X, weights = take_rows(batch.X, rows), batch.row_weights[rows]
            return self._encode_rows(X, y, lists, weights, batch.loss)

        regression, self.validation_scores_ = stopped(
            regression,
            batch,
            encode,
            fraction=self.validation_fraction,
            patience=self.n_iter_no_change,
        )
        return regression

    def _batch_of(self, block, *, reset):
        return self._encode(*block, reset=reset, whole=False)

    def _adopt(self, batch, model):
        """Set the fitted attributes."""
        self.target_loss_, self.decoder_ = batch.loss, batch.decoder
        self.n_items_, self.n_lists_ = batch.n_items, batch.n_lists
        self._has_qid_ = batch.has_qid
        self._keep(model, flat=batch.n_items is None)
