"""PairwiseDAGRanker: regress preferences between items, decode them into an order."""

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._lists import RankingLists
from ..decoders import matrices_from_differences
from ._base import BaseRanker, check_no_qid
from ._document_pairs import DocumentPairsMixin
from ._encoded_regression import EncodedRegressionMixin
from ._encoding import encode_items
from ._pair_decoding import decoded_scores, preferences_of_lists, resolved_decoder
from ._pair_models import (
    ScorePairs,
)
from ._pair_settings import (
    check_decodable,
    check_pair_settings,
    warn_without_preferences,
)
from ._preference_labels import check_acyclic_labels
from ._score_functions import net_scores, score_targets
from ._validation import (
    all_or_nothing,
)

# Attributes that not every fit sets.
_SOME_FITS = ("solver_", "n_iter_", "components_", "mean_", "n_pairs_", "n_pairs_total_")


class PairwiseDAGRanker(DocumentPairsMixin, EncodedRegressionMixin, BaseRanker):
    """Ranker that learns preferences between items and decodes them into an order.

    The labels of a list are preferences y_ij >= 0, the weight of "i before j". A regressor learns
    ``u_ij = E[y_ij - y_ji | x]`` by least squares, and the order is that of (least, or nearly
    least) cost ``sum_{i != j} u_ij [rank(i) > rank(j)]``: a minimum weighted feedback arc set.
    With algorithm 1 of [1]_ ("dag") this is consistent for the pairwise disagreement wherever
    the expected preferences have no cycle (theorem 7), with ``decoder="exact"`` everywhere.

    Three shapes of y select the layout:

    * (n_queries, r) grades of the same r items, higher is better, one row of X per query; NaN is
      not ranked, its pairs weigh nothing. A full ranking is given as r - rank;
    * (n_queries, r, r) preferences y[q, i, j] >= 0;
    * (n_rows,) grades, one row of X per document, lists given by `qid` (or y carries it: see
      `ranking_target`). The preference for x over z in the same list is then a function
      g(x, z) = -g(z, x), set by `pair_features`.

    Parameters
    ----------
    target_loss : str or PairwiseDisagreement, default="pd"
        "pd", "kendall" or an object such as ``PairwiseDisagreement("difference")``.
    estimator : regressor or None, default=None
        Any scikit-learn regressor: of the differences u_ij (i < j) for fixed items, of pair
        features for documents. None is ridge regression.
    decoder : {"dag", "exact", "local_search", "borda", "score", "auto"}, default="dag"
        Algorithm 1; the least cost with a certificate; insertions from algorithm 1; the net
        preference; "score" regresses scores f(y) instead of preferences and sorts them
        (theorem 6). "auto" is "exact" up to 12 items and "local_search" beyond.
    pair_features : {"difference", "bilinear", "concatenation"} or callable, default="difference"
        Documents only. "difference": x - z; without an `estimator` g is then a difference of
        scores, in closed form. "bilinear" adds x'Az, A skew-symmetric, which can prefer in
        circles; without an `estimator` A has low rank and X may be sparse. With an
        `estimator` these, (x, z), or ``pair_features(A, B)`` with rows of two documents are
        the features; its predictions are antisymmetrised.
    n_components : int, default=2
        Planes of the bilinear term: A has at most twice this rank.
    max_pairs : int or None, default=200000
        Pairs of documents (each counted once) that an `estimator` or the bilinear term is
        fitted on; if there are more, a uniform sample of them. None takes all.
    on_cycle : {"error", "net"}, default="error"
        What to do with a label (n_queries, r, r) that prefers both ways or in a circle: refuse
        it, or take the net preferences y_ij - y_ji, circles included.
    score_function : {"dmj"} or callable, default="dmj"
        For ``decoder="score"``. "dmj" is f_i(y) = sum_j (y_ij - y_ji); a callable takes
        preferences (m, r, r) and returns scores (m, r).
    list_weights, solver
        As in `LowRankSurrogateRanker`.
    alpha : float, default=1.0
        Penalty of the default ridge regression (and of the bilinear term), >= 0.
    tol : float, default=1e-8
        Relative accuracy of the iterative solvers.
    max_iter : int or None, default=None
        Their iterations; None is twice the number of features ("lsqr") or 1000 (bilinear).
    time_limit : float or None, default=60.0
        Seconds of ``decoder="exact"`` for each list; None is no limit.
    n_restarts : int or None, default=None
        Restarts of ``decoder="local_search"``; None is 100, fewer above 100 items.
    n_jobs : int or None, default=None
        Parallel fits of an `estimator` with a single output, over the pairs of items.
    random_state : int, RandomState instance or None, default=None
        Samples pairs; seeds every `random_state` of `estimator` that is None.
    verbose : int, default=0
        Progress on the standard output.

    Attributes
    ----------
    target_loss_ : PairwiseDisagreement
        The resolved target loss.
    decoder_ : str
        The decoder in use; for documents "auto" is resolved for each list.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    n_pairs_, n_pairs_total_ : int
        Documents with an `estimator` or the bilinear term: pairs that were fitted, and all.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (d, n_features) and (d,)
        Where the regression is linear; in documents w of g(x, z) = <w, x - z> + ...
    components_ : ndarray of shape (2, n_components, n_features)
        Bilinear term: ``A = components_[0].T @ components_[1] - components_[1].T @
        components_[0]``, of features minus `mean_`.
    mean_ : ndarray of shape (n_features,)
        Documents: the average training row.
    estimators_ : list of regressors
        With `estimator`: one fitted regressor, or one for each pair of items.
    solver_, n_iter_ : str and int
        The solver of the default ridge, and iterations.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names where X has them.

    See Also
    --------
    LowRankSurrogateRanker : Every other target loss.
    lowrank_rank.calibration.noise_report : Which decoder is enough for a model's predictions.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013, section 7.

    Examples
    --------
    Three judges order three items; with one constant feature the fit is their average.

    >>> from lowrank_rank import PairwiseDAGRanker
    >>> grades = [[2, 1, 0], [2, 1, 0], [0, 2, 1]]
    >>> ranker = PairwiseDAGRanker().fit([[0.0]] * 3, grades)
    >>> ranker.predict_preferences([[0.0]]).round(2)[0].tolist()
    [[0.0, 0.33, 0.33], [-0.33, 0.0, 1.0], [-0.33, -1.0, 0.0]]
    >>> ranker.rank([[0.0]])
    array([[1, 2, 3]])
    """

    __metadata_request__predict = {"qid": True}  # noqa: RUF012

    def __init__(
        self,
        *,
        target_loss="pd",
        estimator=None,
        decoder="dag",
        pair_features="difference",
        n_components=2,
        max_pairs=200_000,
        on_cycle="error",
        score_function="dmj",
        list_weights="rows",
        alpha=1.0,
        solver="auto",
        tol=1e-8,
        max_iter=None,
        time_limit=60.0,
        n_restarts=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.target_loss = target_loss
        self.estimator = estimator
        self.decoder = decoder
        self.pair_features = pair_features
        self.n_components = n_components
        self.max_pairs = max_pairs
        self.on_cycle = on_cycle
        self.score_function = score_function
        self.list_weights = list_weights
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_restarts = n_restarts
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Regress the preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per query for fixed items, or per document.
        y : array-like of shape (n_rows,), (n_rows, r) or (n_rows, r, r)
            Grades, higher is better, or preferences; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of lists or, for documents, importances of rows: a pair weighs
            ``w_i w_j`` over the total of its list.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters do not fit; nothing is changed then.
        """
        with all_or_nothing(self):
            loss = check_pair_settings(self)
            X, y, lists, weights = self._read(X, y, qid, sample_weight, loss)
            self._forget(*_SOME_FITS)
            self.target_loss_, self.decoder_ = loss, self.decoder
            if y.ndim == 1:
                self._fit_documents(X, y, lists, weights)
            else:
                self._fit_items(X, y, weights)
            self._forget_statistics()
        return self

    def predict(self, X, *, qid=None):
        """Scores, higher is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Documents only: query ids, by which each list is decoded.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Fixed items: r - rank of the decoded order, or the scores of ``decoder="score"``.
            Documents: the preference for each over the average training document, which does
            not depend on the other rows; with `qid`, r - rank of the decoded order of its list,
            unless g is a difference of scores, which are returned as they are.
        """
        check_is_fitted(self)
        if self.n_items_ is not None:
            check_no_qid(qid)
            u = self.predict_surrogate(X)
            return u if self.decoder_ == "score" else decoded_scores(self, self._tables(u))
        X = self._validate_X(X, reset=False)
        model, lists = self._pair_model(), RankingLists.from_qid(qid, X.shape[0])
        if qid is None or isinstance(model, ScorePairs):
            return model.average(X)
        scores = np.empty(lists.n_rows)
        for members, rows in preferences_of_lists(model, X, lists):
            scores[rows] = decoded_scores(self, members)
        return scores

    def predict_surrogate(self, X):
        """Surrogate vectors u.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_queries, r(r-1)/2) or (n_rows, 1)
            Estimates of E[y_ij - y_ji | x] for the pairs i < j in the order of
            ``numpy.triu_indices(r, 1)``; E[f(y) | x], (n_queries, r), with
            ``decoder="score"``; for documents the preference over the average one.
        """
        check_is_fitted(self)
        if self.n_items_ is not None:
            return super().predict_surrogate(X)
        return self._pair_model().average(self._validate_X(X, reset=False))[:, np.newaxis]

    def predict_preferences(self, X, *, qid=None):
        """Net preferences between the items of each list.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list. Not for fixed items.

        Returns
        -------
        ndarray of shape (n_queries, r, r), or list of ndarrays of shape (r, r)
            [q, i, j] estimates E[y_ij - y_ji | x], antisymmetric; ``np.maximum(u, 0)`` are the
            edges' weights. For documents one matrix for each list in order of first appearance.
        """
        check_is_fitted(self)
        if self.n_items_ is not None:
            check_no_qid(qid)
            return self._tables(self.predict_surrogate(X))
        X = self._validate_X(X, reset=False)
        lists = RankingLists.from_qid(qid, X.shape[0])
        tables = {}
        for table, rows in preferences_of_lists(self._pair_model(), X, lists):
            tables.update(zip(rows[:, 0].tolist(), table, strict=True))
        return [tables[row] for row in sorted(tables)]  # a list is known by its first row

    # Fitting --------------------------------------------------------------------------

    def _fit_items(self, X, y, weights):
        loss, score = self.target_loss_, self.decoder == "score"
        check_decodable(self.decoder, y.shape[1])
        if y.ndim == 3:
            y = check_acyclic_labels(loss.check_labels(y), self.on_cycle)
        decoder = "sort" if score else resolved_decoder(self.decoder, y.shape[1])
        batch = encode_items(X, y, weights, loss, decoder)
        if score:
            f = self.score_function
            own = callable(f)
            scores = score_targets(f, loss.preferences(y)) if own else net_scores(loss, y)
            batch = replace(batch, targets=scores)
        warn_without_preferences(batch.targets)
        self.decoder_ = "score" if score else batch.decoder
        self.n_items_, self.n_lists_ = batch.n_items, batch.n_lists
        self._regress(batch)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is not None and self.pair_features == "bilinear":
            tags.input_tags.sparse = False  # products of two features are dense
        return tags

    # Prediction -----------------------------------------------------------------------

    def _ranking_scores(self, X, qid=None):
        if self.n_items_ is not None:
            return self.predict(X)
        return self.predict(X, qid=np.zeros(np.shape(X)[0]) if qid is None else qid)

    def _tables(self, u):
        """Antisymmetric matrices from the surrogate vectors of fixed items."""
        if self.decoder_ == "score":
            return u[:, :, np.newaxis] - u[:, np.newaxis, :]
        upper = matrices_from_differences(u, self.n_items_)
        return upper - upper.transpose(0, 2, 1)
