"""LowRankSurrogateRanker: encode the labels, regress, decode."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from ..target_losses import resolve_target_loss
from ._base import BaseRanker
from ._encoded_regression import EncodedRegressionMixin
from ._encoding import LIST_WEIGHTS, encode_documents, encode_items
from ._ridge import SOLVERS, chosen_solver, solve, statistics_of
from ._validation import (
    all_or_nothing,
    check_count,
    check_flag,
    check_number,
    check_option,
    check_regressor,
)


def _adds_up(ranker):
    if ranker.estimator is None and ranker.solver != "lsqr":
        return True
    raise AttributeError(
        "partial_fit adds up the statistics of the default ridge regression; with "
        f"estimator={ranker.estimator!r} and solver={ranker.solver!r} use fit."
    )


class LowRankSurrogateRanker(EncodedRegressionMixin, BaseRanker):
    """Ranker by a calibrated low-rank surrogate: encode the labels, regress, decode.

    The labels of a list are encoded into targets ``alpha(y)`` in which the target loss is
    linear, a regressor learns them by least squares, and its prediction u is decoded into
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
    target_loss : str or TargetLoss, default="ndcg"
        What to aim at: a name such as "ndcg@10", "precision@5", "map", "eru", "pd", or an object
        such as ``NDCG(k=10, gain="exponential")``.
    estimator : regressor or None, default=None
        Any scikit-learn regressor. None is ridge regression, in documents centred within
        lists: the pairwise squared loss in closed form.
    decoder : str, default="auto"
        One of ``target_loss.decoders``; "auto" takes an exact one where it is feasible.
        Documents are always sorted.
    alpha : float, default=1.0
        Penalty of the default ridge regression, >= 0.
    centered : bool, default=True
        Documents only: subtract from the targets (and, in the default ridge, from the
        features) their mean within each list, which no order within a list can see.
    list_weights : {"rows", "lists", "pairs"}, default="rows"
        Documents only: what counts the same: each row, each list (row weights 1/r), or each
        pair (row weights r).
    n_passes : int, default=1
        Documents with an `estimator` and `centered` only: fits in which the regressor and the
        offsets of the lists take turns. A regressor cannot be centred on the features; after
        each fit the targets of a list are shifted to the mean of its scores, which no order
        can see, and the regressor is fitted again. With exact least squares each pass lowers
        the centred squared loss; each costs one more fit.
    solver : {"auto", "gram", "lsqr"}, default="auto"
        Of the default ridge: sufficient statistics, exact, or an iterative solver without
        any n_features x n_features matrix. "auto" iterates above 4000 features,
        and above fewer where missing labels ask for one matrix per item.
    tol : float, default=1e-8
        Relative accuracy of "lsqr".
    max_iter : int or None, default=None
        Iterations of "lsqr"; None is twice the number of features.
    n_jobs : int or None, default=None
        Parallel fits, over coordinates, of an `estimator` with a single output.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of `estimator` that is None.
    verbose : int, default=0
        Progress on the standard output.

    Attributes
    ----------
    target_loss_ : TargetLoss
        The resolved target loss.
    decoder_ : str
        The decoder in use.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_ : ndarray of shape (n_features,) or (d, n_features)
        Where the regression is linear.
    intercept_ : float or ndarray of shape (d,)
        Where the regression is linear.
    estimators_ : list of regressors
        With `estimator`: one fitted regressor, or one for each coordinate.
    solver_ : str
        Without `estimator`: the solver in use.
    n_iter_ : int
        Iterations of "lsqr", the most over the coordinates; passes with an `estimator`.
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

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> X = [[0.0], [1.0], [0.0], [2.0]]
    >>> ranker = LowRankSurrogateRanker(target_loss="ndcg", alpha=0.0)
    >>> ranker.fit(X, [0, 1, 0, 1], qid=["a", "a", "b", "b"]).coef_.round(2)
    array([0.6])
    >>> ranker.rank([[1.0], [3.0], [2.0]])
    array([3, 1, 2])
    """

    def __init__(
        self,
        *,
        target_loss="ndcg",
        estimator=None,
        decoder="auto",
        alpha=1.0,
        centered=True,
        list_weights="rows",
        n_passes=1,
        solver="auto",
        tol=1e-8,
        max_iter=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Encode the labels and fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.
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
            If shapes, labels, ids, weights or parameters do not fit; nothing is changed then.
        """
        with all_or_nothing(self):
            batch = self._encode(X, y, qid, sample_weight, reset=True, whole=True)
            self._forget("solver_", "n_iter_", "_statistics")
            self._adopt(batch)
            self.n_lists_ = batch.n_lists
            self._regress(batch, self.n_passes)
        return self

    @available_if(_adds_up)
    def partial_fit(self, X, y, *, qid=None, sample_weight=None):
        """Add a batch of whole lists; the result is that of `fit` on all batches together.

        Only with the default ridge regression. Memory does not grow with the rows.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in `fit`. A list must be in one batch: if the first id of a batch is the last of
            the previous one, the batch is refused; a list that comes back later counts as
            another one. Without qid each batch is a list. An item may be judged in any of the
            batches. `alpha` may change between calls, what is aimed at may not.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`, if a list is cut across two calls, or if there are too many features
            for the statistics; the model stays as it was.
        """
        first = not hasattr(self, "n_lists_")
        if not first and not hasattr(self, "_statistics"):
            raise ValueError(
                "The model was fitted by an iterative solver or an estimator, which keeps no "
                "statistics to go on from: clone it and give all batches to partial_fit."
            )
        with all_or_nothing(self):
            batch = self._encode(X, y, qid, sample_weight, reset=first, whole=False)
            if chosen_solver(self.solver, batch) == "lsqr":
                raise ValueError(
                    f"partial_fit keeps a matrix of n_features x n_features; with "
                    f"{batch.X.shape[1]} features and solver={self.solver!r} that is refused: set "
                    "solver='gram', or use fit, which has an iterative solver."
                )
            if first:
                self._forget("solver_", "n_iter_", "_statistics")
            else:
                self._check_continues(batch)
            self._adopt(batch)
            self.n_lists_ = batch.n_lists + (0 if first else self.n_lists_)
            statistics = statistics_of(batch)
            self._statistics = statistics if first else self._statistics + statistics
            self._totals = batch.totals if first else self._totals + batch.totals
            self._set_linear(solve(self._statistics, self._totals, self.alpha))
        return self

    def predict(self, X):
        """Scores, higher is better; a row's score does not depend on the other rows.

        Equal rows get equal scores to the last bit; with an `estimator` this is as its own
        ``predict`` does.

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
        if self.n_items_ is None:
            return u[:, 0]
        if self.decoder_ == "sort":
            return u
        decode = self.target_loss_.decoders[self.decoder_].decode
        return self.n_items_ - decode(u, self.n_items_).astype(np.float64)

    # Encoding -----------------------------------------------------------------------

    def _encode(self, X, y, qid, sample_weight, *, reset, whole):
        """Everything that is checked and known of a batch before a regressor sees it."""
        loss = clone(resolve_target_loss(self.target_loss))
        check_option("solver", self.solver, SOLVERS)
        check_option("list_weights", self.list_weights, LIST_WEIGHTS)
        check_number("alpha", self.alpha, minimum=0)
        check_number("tol", self.tol, minimum=0)
        check_count("n_passes", self.n_passes)
        check_flag("centered", self.centered)
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter)
        check_regressor(self.estimator)
        X, y, lists, weights = self._read(X, y, qid, sample_weight, loss, reset, whole)
        self._say(f"encoding {len(y)} rows for {loss!r}")
        if y.ndim == 1:
            return encode_documents(
                X, y, lists, weights, loss, self.decoder, self.list_weights, self.centered
            )
        return encode_items(X, y, weights, loss, self.decoder)

    def _adopt(self, batch):
        self.target_loss_ = batch.loss
        self.decoder_ = batch.decoder
        self.n_items_ = batch.n_items
        self._last_id = batch.last_id
        self._settings = batch.settings()

    def _check_continues(self, batch):
        for name, now in batch.settings().items():
            before = self._settings[name]
            if now != before:
                raise ValueError(
                    f"Earlier batches had {name} {before}, this one has {now}: the statistics of "
                    "all batches must be of one kind. Use fit to start anew."
                )
        if batch.first_id is not None and batch.first_id == self._last_id:
            raise ValueError(
                f"The list {batch.first_id!r} is cut across two calls of partial_fit: it is the "
                "last of the previous batch and the first of this one. Give each list in one batch."
            )
