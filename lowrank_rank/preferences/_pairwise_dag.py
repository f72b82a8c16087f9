"""PairwiseDAGRanker: regress preferences between items, decode them into an order."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker, check_no_qid
from ..decoders.feedback_arcs._decoders import PD_DECODERS, auto_pd_decoder, pd_decoder
from ..decoders.feedback_arcs._graphs import (
    matrices_from_differences,
    net_preferences,
    net_scores,
)
from ..fitting._encoded_fits import AddsUp
from ..fitting._encoding import encode_documents, encode_items, items_decoder
from ..fitting._ridge import LinearModel
from ..fitting._statistics import Moments, chosen_alpha
from ..lists._lists import bounded_blocks, slices
from ..target_losses import PairwiseDisagreement
from ..target_losses._names import resolve_target_loss
from ..validation._arrays import ArrayLike, MatrixLike, check_same_index, n_rows
from ..validation._check import refuse
from ..validation._checks_of_hinges import CHECKS_OF_WEIGHTS_OF_LISTS
from ..validation._checks_of_preferences import (
    CHECKS_OF_PAIR_LOSSES,
    CHECKS_OF_PAIRWISE_PARAMETERS,
    CHECKS_OF_VOTES,
)
from ..validation._findings import found
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._parameters import RUNTIME, count, fresh_fit, number, regressor, say
from ._pairs import FeaturePairs, ScorePairs, pair_moments, tables_of_lists


def vote_fractions(net, votes):
    """Return P(i before j) = (1 + net_ij / votes_ij) / 2, cut to [0, 1].

    It is 1/2 without votes.
    """
    votes = np.broadcast_to(votes, net.shape)
    fraction = np.divide(net, votes, out=np.zeros(net.shape), where=votes > 0)
    return np.clip(0.5 + fraction / 2.0, 0.0, 1.0)


def label_scores(score_function, loss, y):
    """Return f(y) (n, r) of grades (n, r) or preferences (n, r, r).

    "dmj" is the net preference, f_i(y) = sum_j (y_ij - y_ji); a callable takes
    preferences (n, r, r) and returns scores (n, r).
    """
    if callable(score_function):
        return _custom_scores(score_function, loss.preferences(y))
    scores = np.empty(y.shape[:2])
    for rows in bounded_blocks(len(y), y.shape[1] ** 2):
        scores[rows] = net_scores(loss.preferences(y[rows]))
    return scores


def row_scores(score_function, loss, y, lists, weights):
    """Return f(y) (n_rows,) of documents for a custom f.

    Rows of weight 0 are left out; a custom f does not know other weights inside a list.
    """
    weights = lists.group(weights)
    counts = weights > 0
    places = np.flatnonzero(counts)
    weights = weights[counts]
    y = lists.group(y)[counts]
    counted_lists, kept = lists.select(counts)
    refuse(
        CHECKS_OF_WEIGHTS_OF_LISTS,
        weights=weights,
        first=weights[counted_lists.starts],
        lists=counted_lists,
        ids=None if lists.ids is None else lists.ids[kept],
        words={
            "what": "list",
            "otherwise": (
                " A custom score_function takes only the weights 0 and this one; "
                "score_function='dmj' takes any."
            ),
        },
    )
    scores = np.zeros(len(counts))
    for _, rows in counted_lists.same_length:
        scores[places[rows]] = _custom_scores(score_function, loss.preferences(y[rows]))
    return lists.ungroup(scores)


def _custom_scores(score_function, preferences):
    scores = np.asarray(score_function(preferences), dtype=np.float64)
    shape = preferences.shape[:2]
    if scores.shape != shape or not np.isfinite(scores).all():
        n_missing = np.count_nonzero(~np.isfinite(scores))
        raise ValueError(
            f"score_function must return finite scores of shape {shape} for "
            f"preferences of shape {preferences.shape}, got shape {scores.shape} with "
            f"{n_missing} infinite or missing ones."
        )
    return scores


def tell_of_no_preferences(targets):
    """Warn if no label prefers one item to another."""
    blocks = slices(len(targets), 1024)
    if not any(np.any(np.abs(targets[rows]) > 0) for rows in blocks):
        found(
            "no preferences",
            "No label prefers one item to another: all preferences are 0.",
        )


class PairwiseDAGRanker(AddsUp, BaseRanker, RegressorMixin, BaseEstimator):
    """Learn from judges' orders, choices and duels what goes before what.

    Labels are preferences y_ij >= 0, the weight of "i before j". A regression estimates
    ``u_ij = E[y_ij - y_ji | x]``. The decoder looks for the order of least cost
    ``sum_{i != j} u_ij [rank(i) > rank(j)]``. Algorithm 1 of [1]_ ("dag") is consistent
    if the expected preferences have no cycle (theorem 7), and so is the default, which
    is never worse. ``decoder="exact"`` is always consistent.

    The shape of y selects the layout:

    * (n_queries, r): grades of the same r items, NaN for items not ranked; orders
      become grades by `votes.grades_from_orders`.
    * (n_queries, r, r): preferences y[q, i, j] >= 0, such as counts of votes.
    * (n_rows,): grades of documents; `qid` says which rows are a query. The preference
      for x over z is a function g(x, z) = -g(z, x) of `pair_features`.

    Parameters
    ----------
    target_loss : str or PairwiseDisagreement, default="pd"
        "pd", "kendall" or an object, ``PairwiseDisagreement("difference")``.
    estimator : {"auto", "ridge", "logistic", "trees"} or regressor, default="auto"
        The regression of u_ij (i < j), as in `LowRankSurrogateRanker`. "auto" is
        "ridge", the one for documents, and "logistic" for items.
    decoder : str or callable, default="auto"
        "auto" is "exact" up to 12 items, "short_search" up to 40, else "dag",
        algorithm 1. "local_search" improves its order by insertions, "short_search"
        with 20 restarts. "borda" sorts net preferences, "score" regresses scores f(y)
        and sorts them (theorem 6). A callable takes preferences (m, r, r) and returns
        ranks (m, r), 1 = best, as `decoders.decode_pd_exact` does. Documents with the
        pair features "difference" are sorted, which every decoder would do.
    pair_features : "difference" or callable, default="difference"
        Documents: x - z, or ``pair_features(A, B)`` of rows of two documents, called on
        all pairs of each list. Predictions are antisymmetrised.
    score_function : {"dmj"} or callable, default="dmj"
        Scores of ``decoder="score"``. "dmj" is f_i(y) = sum_j (y_ij - y_ji), for
        documents divided by the length of the list; or a function from preferences (m,
        r, r) to scores (m, r).
    alpha : float, "auto" or "gcv", default="auto"
        Penalty ``alpha / 2 |w|^2`` of "ridge", "logistic"; "auto" is ``0.5 c m / n``: m
        features, n lists, c = 1 and 1/4. "gcv", only for items with "ridge": by
        generalised cross-validation.
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
    target_loss_ : PairwiseDisagreement
        The target loss as an object.
    decoder_ : str or callable
        The decoder in use.
    n_lists_ : int
        Number of lists with a positive weight.
    n_items_ : int or None
        Number r of items; None for documents.
    votes_ : ndarray of shape (r, r)
        Items: mean weight of the labels on each pair, ``E[y_ij + y_ji]``.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (d, n_features) \
and (d,)
        Coefficients; for documents w of g(x, z) = <w, x - z>.
    low_, high_ : ndarray of shape (d,)
        "logistic": least and largest targets.
    estimators_ : list of regressors
        One regressor, or one for each pair of items.
    estimator_, feature_importances_
        The only regressor, and its importances.
    alpha_ : float
        The penalty of "ridge" or "logistic".
    solver_, n_iter_ : str and int
        Solver of "ridge", and iterations.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has any.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    LowRankSurrogateRanker : Other measures with a low-rank form.
    lowrank_rank.calibration.noise_report : Which decoder is enough for predictions.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013,
       section 7.

    Examples
    --------
    Three judges order three items; the fit is their average.

    >>> from lowrank_rank import PairwiseDAGRanker
    >>> grades = [[2, 1, 0], [2, 1, 0], [0, 2, 1]]
    >>> ranker = PairwiseDAGRanker().fit([[0.0]] * 3, grades)
    >>> ranker.predict_preferences([[0.0]]).round(2)[0].tolist()
    [[0.0, 0.33, 0.33], [-0.33, 0.0, 1.0], [-0.33, -1.0, 0.0]]
    >>> ranker.rank([[0.0]])
    array([[1, 2, 3]])
    """

    __metadata_request__predict = {"qid": True}  # noqa: RUF012
    _shared: ClassVar = ("n_items_", "target_loss_", "decoder_")
    _parameters: ClassVar = {
        "decoder": [*PD_DECODERS, "score", "auto", callable],
        "score_function": ["dmj", callable],
        "alpha": ["auto", "gcv", number(0)],
        "tol": [number(0)],
        "pair_features": ["difference", callable],
        "max_iter": [count()],
        "estimator": [regressor, "auto", "ridge", "logistic", "trees"],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: str | PairwiseDisagreement = "pd",
        estimator: Any = "auto",
        decoder: str | Callable[..., Any] = "auto",
        pair_features: str | Callable[..., Any] = "difference",
        score_function: str | Callable[..., Any] = "dmj",
        alpha: float | str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.estimator = estimator
        self.decoder = decoder
        self.pair_features = pair_features
        self.score_function = score_function
        self.alpha = alpha
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
    ) -> "PairwiseDAGRanker":
        """Regress the preferences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per query for fixed items, or per document.
        y : array-like of shape (n_rows,), (n_rows, r) or (n_rows, r, r)
            Grades, higher is better (of orders: `grades_from_orders`), or preferences;
            a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of lists or, for documents, importances of rows: a pair has the
            weight ``w_i w_j`` over the total of its list.
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
            encoding = self._encode(rows, loss)
            tell_of_no_preferences(encoding.scaled_targets(rows.weights))
            if rows.y.ndim == 1 and not self._has_sums():
                self._solve_pairs(rows, loss)
            else:
                self._keep(self._fit_model(rows, encoding))
        return self

    def predict(self, X: MatrixLike, *, qid: ArrayLike | None = None) -> np.ndarray:
        """Scores, higher is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Documents only: query ids, by which each list is decoded.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Fixed items: r - rank of the decoded order, or the scores of
            ``decoder="score"``. Documents without `qid`, or with a g that is a
            difference of scores: the preference for each row over the average training
            document. Documents with `qid`: r - rank of the decoded order of the list.
            Linear models give equal rows equal preferences to the last bit.
        """
        arrive(X=X, qid=qid)
        check_is_fitted(self)
        if self.n_items_ is not None:
            check_no_qid(qid)
            if self.decoder_ == "score":
                return self.predict_surrogate(X)
            return self.n_items_ - self._ranks_of_items(X).astype(np.float64)
        check_same_index(X=X, qid=qid)
        X = self._validate_X(X, reset=False)
        lists = read_lists(qid, X.shape[0])
        if qid is None or isinstance(self._model_, ScorePairs):
            return self._model_.average(X)
        ranks = self._ranks_of_documents(X, lists)
        lengths = lists.ungroup(lists.repeat(lists.lengths))
        return lengths - ranks.astype(np.float64)

    def predict_surrogate(self, X: MatrixLike) -> np.ndarray:
        """Surrogate vectors u.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_queries, r(r-1)/2) or (n_rows, 1)
            Estimates of E[y_ij - y_ji | x] for the pairs i < j in the order of
            ``numpy.triu_indices(r, 1)``, or of E[f(y) | x], (n_queries, r), for
            ``decoder="score"``. For documents the preference over the average document.
        """
        arrive(X=X)
        check_is_fitted(self)
        if self.n_items_ is not None:
            return super().predict_surrogate(X)
        return self._model_.average(self._validate_X(X, reset=False))[:, np.newaxis]

    def predict_preferences(
        self, X: MatrixLike, *, qid: ArrayLike | None = None
    ) -> np.ndarray | list[np.ndarray]:
        """Net preferences between the items of each list.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list. Not for fixed items.

        Returns
        -------
        ndarray of shape (n_queries, r, r), or list of ndarrays of shape (r, r)
            [q, i, j] estimates E[y_ij - y_ji | x], antisymmetric. ``np.maximum(u, 0)``
            has the weights of the edges. For documents one matrix for each list, in
            order of appearance.
        """
        arrive(X=X, qid=qid)
        check_is_fitted(self)
        if self.n_items_ is not None:
            check_no_qid(qid)
            return self._tables(self.predict_surrogate(X))
        check_same_index(X=X, qid=qid)
        X = self._validate_X(X, reset=False)
        lists = read_lists(qid, X.shape[0])
        tables: dict[int, np.ndarray] = {}
        for members, _, table in tables_of_lists(self._model_, X, lists):
            tables.update(zip(members.tolist(), table, strict=True))
        return [tables[i] for i in range(lists.n_lists)]

    def predict_preference_probabilities(
        self, X: MatrixLike, *, qid: ArrayLike | None = None
    ) -> np.ndarray | list[np.ndarray]:
        """Probability of "i before j", where labels are votes.

        ``P_ij = (1 + u_ij / m_ij) / 2``, cut to [0, 1], for the preferences u of
        `predict_preferences` and the mean votes m_ij on a pair, of the rows that know
        it. This is E[y_ij | x] / E[y_ij + y_ji | x] if the number of votes on a pair
        does not depend on x. For documents m is 1, and ties count one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list. Not for fixed items.

        Returns
        -------
        ndarray of shape (n_queries, r, r), or list of ndarrays of shape (r, r)
            [q, i, j] in [0, 1], with ``P_ij + P_ji = 1``. The diagonal, and pairs
            without a vote, have 1/2. For documents one matrix for each list.

        Raises
        ------
        ValueError
            If the model has no preferences of pairs (``decoder="score"``), or if
            preferences of documents are not votes: their target loss must be "pd" with
            unit weights.

        Examples
        --------
        Eight of ten voters prefer the first item:

        >>> from lowrank_rank import PairwiseDAGRanker
        >>> ranker = PairwiseDAGRanker().fit([[0.0]], [[[0, 8], [2, 0]]])
        >>> ranker.predict_preference_probabilities([[0.0]])[0].tolist()
        [[0.5, 0.8], [0.2, 0.5]]
        """
        check_is_fitted(self)
        refuse(CHECKS_OF_VOTES, model=self)
        if self.n_items_ is not None:
            # The fraction of the rows that know a pair is the same both ways.
            n_known = np.abs(self._tables(self._known_[np.newaxis])[0])
            votes = np.divide(
                self.votes_, n_known, out=np.zeros(n_known.shape), where=n_known > 0
            )
            return vote_fractions(self.predict_preferences(X, qid=qid), votes)
        return [vote_fractions(u, 1.0) for u in self.predict_preferences(X, qid=qid)]

    # Fitting --------------------------------------------------------------------------

    def _has_sums(self):
        by_scores = self.pair_features == "difference" or self.decoder == "score"
        return super()._has_sums() and by_scores

    def _checked_loss(self):
        """Return the target loss as an object; refuses losses without pairs."""
        loss = resolve_target_loss(self.target_loss, copied=True)
        is_of_pairs = isinstance(loss, PairwiseDisagreement)
        refuse(CHECKS_OF_PAIR_LOSSES, loss=loss, is_of_pairs=is_of_pairs)
        return loss

    def _encode(self, rows, loss):
        """Return the `Encoding` of `Data`; sets the attributes that follow from y."""
        X, y, lists, weights = rows
        self._set_lists(rows, loss)
        is_documents = self.n_items_ is None
        refuse(
            CHECKS_OF_PAIRWISE_PARAMETERS,
            model=self,
            is_documents=is_documents,
            by_pairs=is_documents and not self._has_sums(),
        )
        if y.ndim > 1:
            return self._encode_items(y, weights, loss)
        self.decoder_ = self.decoder
        self._mean_ = np.asarray(X.T @ weights).ravel() / (weights.sum() or 1.0)
        encoding = encode_documents(rows, loss)
        if self.decoder == "score" and callable(self.score_function):
            scores = row_scores(self.score_function, loss, y, lists, weights)
            encoding = replace(encoding, targets=scores[:, np.newaxis])
        return encoding

    def _encode_items(self, y, weights, loss):
        """Return the `Encoding` of fixed items."""
        n_items = y.shape[1]
        self.decoder_ = self.decoder
        if self.decoder != "score":
            pd_decoder(self.decoder, n_items)  # refuses too many items
        if self.decoder == "auto":
            self.decoder_ = auto_pd_decoder(n_items)
        labels = y
        if y.ndim == 3:
            y = loss.check_labels(y)
            y = np.maximum(net_preferences(y), 0.0)  # a cycle stays
        if self.decoder == "score":
            encoding = encode_items(y, loss, items_decoder("sort", loss, y))
            scores = label_scores(self.score_function, loss, y)
            if y.ndim == 2:
                scores = np.where(np.isnan(y), np.nan, scores)
            return replace(encoding, targets=scores)
        encoding = encode_items(y, loss, items_decoder(self.decoder_, loss, y))
        targets = encoding.targets
        self._known_ = np.ones(targets.shape[1])
        if not encoding.is_complete:
            self._known_ = weights @ ~np.isnan(targets) / (weights.sum() or 1.0)
        self.votes_: np.ndarray = loss.mean_votes(labels, weights, targets)
        encoding.votes = weights.sum() * self.votes_
        return encoding

    def _keep_sums(self, sums):
        moments = sums.moments
        if sums.kind == "documents":
            self._mean_ = moments.features.mean
        super()._keep_sums(sums)
        if sums.kind == "items" and self.decoder_ != "score":
            self.votes_ = sums.votes / moments.features.total
            known = moments.total / moments.features.total
            self._known_ = np.broadcast_to(known, moments.t_mean.shape)

    def _keep(self, model, *, flat=None):
        is_scores = self.n_items_ is None and flat is None
        if is_scores:  # the average row has the score 0
            model = model._replace(intercept=-model.coef @ self._mean_)
        super()._keep(model, flat=flat)
        if is_scores:
            self._model_ = ScorePairs(self._model_)

    def _fit_model(self, rows, encoding):
        """Standardise and solve, many pairs of items in the parts of "pd"."""
        n_targets = encoding.targets.shape[1]
        is_pairs = encoding.kind == "items" and self.decoder_ != "score"
        if not (is_pairs and self._is_solved_in_parts(encoding.kind, n_targets)):
            return self._regress(rows, encoding)

        def encoding_of(pairs):
            return replace(encoding, targets=encoding.targets[:, pairs])

        return self._regress_in_parts(rows, n_targets, encoding_of)

    def _solve_pairs(self, rows, loss):
        """Fit ridge regression to pairs of documents, and keep it."""
        n_pairs = int((rows.lists.lengths**2).sum())
        say(self, f"{n_pairs} ordered pairs of {len(rows.y)} documents")
        moments = pair_moments(self.pair_features, rows, loss)
        documents = Moments.of(rows.X, rows.weights, rows.lists.codes)
        alpha = chosen_alpha(self.alpha, documents.n_features, documents.n_lists)
        features = moments.features
        coef, intercept = moments.solve(alpha * features.total, features.deviation)
        model = LinearModel(coef.T, intercept, "gram", alpha=alpha)
        self._keep(model, flat=False)
        self._model_ = FeaturePairs(model, self.pair_features, self._mean_)

    # Prediction -----------------------------------------------------------------------

    def _ranking_scores(self, X, qid=None):
        if self.n_items_ is not None:
            return self.predict(X)
        if qid is None:
            qid = np.zeros(n_rows(X))
        return self.predict(X, qid=qid)

    def _ranks(self, X, qid):
        """Return the ranks of the decoders; scores are sorted."""
        if self.n_items_ is not None and self.decoder_ != "score":
            check_no_qid(qid)
            return self._ranks_of_items(X)
        if self.n_items_ is None and not isinstance(self._model_, ScorePairs):
            X = self._validate_X(X, reset=False)
            return self._ranks_of_documents(X, read_lists(qid, X.shape[0]))
        return super()._ranks(X, qid)

    def _ranks_of_items(self, X):
        """Decode the preferences between fixed items; returns ranks (n_queries, r)."""

        def ranks_of(u):
            return self._decode(self._tables(u))

        n_items = cast(int, self.n_items_)
        return self._by_blocks(X, n_items**2, ranks_of)

    def _ranks_of_documents(self, X, lists):
        """Decode the preferences within lists of documents; returns ranks (n_rows,)."""
        ranks = np.empty(lists.n_rows, dtype=np.intp)
        for _, rows, preferences in tables_of_lists(self._model_, X, lists):
            ranks[rows] = self._decode(preferences)
        return ranks

    def _decode(self, preferences):
        """Return the ranks (m, r) of preferences (m, r, r)."""
        decoder = pd_decoder(self.decoder_, preferences.shape[1])
        return decoder.decode(preferences).ranks

    def _tables(self, u):
        """Return antisymmetric matrices of the surrogate vectors of fixed items."""
        if self.decoder_ == "score":
            return u[:, :, np.newaxis] - u[:, np.newaxis, :]
        return net_preferences(matrices_from_differences(u, cast(int, self.n_items_)))
