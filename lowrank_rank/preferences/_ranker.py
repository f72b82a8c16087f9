"""PairwiseDAGRanker: regress preferences between items, decode them into an order."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import mean_square, n_rows
from .._base import BaseRanker, check_no_qid
from .._blocks import Block
from .._lists import RankingLists
from .._parameters import (
    RUNTIME,
    check_parameters,
    count,
    fresh_fit,
    is_linear,
    is_ridge,
    number,
    regressor,
)
from .._typing import ArrayLike, MatrixLike
from ..decoders import (
    PD_DECODERS,
    Decoded,
    auto_pd_decoder,
    matrices_from_differences,
    net_preferences,
    pd_decoder,
    preference_cost,
)
from ..regression._alpha import default_alpha
from ..regression._any_regressor import Regression
from ..regression._encoding import LIST_WEIGHTS, encode_documents, encode_items
from ..regression._estimator import RegressionMixin, adds_up
from ..regression._ridge import SOLVERS
from ..regression._statistics import Moments
from ..target_losses import PairwiseDisagreement, resolve_target_loss
from ._labels import (
    ON_CYCLE,
    check_acyclic_labels,
    label_scores,
    mean_votes,
    row_scores,
    vote_fractions,
)
from ._models import ScorePairs, fit_regressor_pairs, tables_of_lists
from ._pairs import PAIR_FEATURES, pair_factors, pairs_within
from ._skew import fit_skew

_DEGREE = 8  # of the products of features in the first steps of the iterative solvers
_TOL, _TOL_BILINEAR = 1e-6, 1e-4
_BITS = 32  # of pair weights for an `estimator`, see _fit_pairs


def pair_loss(target_loss):
    """The resolved target loss, if it is one of pairs."""
    loss = clone(resolve_target_loss(target_loss))
    if not isinstance(loss, PairwiseDisagreement):
        raise ValueError(
            f"PairwiseDAGRanker learns pairs: target_loss must be 'pd', 'kendall' or a "
            f"PairwiseDisagreement, got {loss!r}. LowRankSurrogateRanker takes the others."
        )
    return loss


def warn_without_preferences(targets):
    """Say so where no label prefers anything: every preference is then learnt to be 0."""
    if not any(np.any(targets[rows]) for rows in gen_batches(max(len(targets), 1), 1024)):
        warnings.warn(
            "No label prefers one item to another: every list has a single item or equal grades. "
            "All preferences are 0.",
            UserWarning,
            stacklevel=4,
        )


def mean_row(X, weights):
    """Weighted mean of the rows, NaN left out."""
    total = weights.sum() or 1.0  # other batches may count
    if sparse.issparse(X):
        return np.asarray(X.T @ weights).ravel() / total
    mean = weights @ X / total
    gaps = np.flatnonzero(np.isnan(mean))
    if len(gaps):
        judged = ~np.isnan(X[:, gaps])
        mass, sums = weights @ judged, weights @ np.nan_to_num(X[:, gaps])
        mean[gaps] = np.divide(sums, mass, out=np.zeros(len(gaps)), where=mass > 0)
    return mean


class PairwiseDAGRanker(RegressionMixin, BaseRanker):
    """Ranker that learns preferences between items and decodes them into an order.

    The labels of a list are preferences y_ij >= 0, the weight of "i before j". A regressor
    estimates ``u_ij = E[y_ij - y_ji | x]``, and the order is that of (least, or nearly
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
    estimator : {"auto", "ridge", "logistic", "trees"} or regressor, default="auto"
        What estimates the differences u_ij (i < j), as in `LowRankSurrogateRanker`: "auto" is
        "ridge" for documents and "logistic" for fixed items; one NaN in y of fixed items turns it
        to "ridge". Another regressor is fitted to pair features of documents.
    decoder : str or callable, default="dag"
        A name of `decoders.PD_DECODERS`: "dag", algorithm 1; "exact", the least cost with a
        certificate; "local_search", insertions from algorithm 1; "borda", the net preference.
        "auto" is "exact" up to 12 items and "dag" beyond. "score" regresses scores f(y)
        instead of preferences and sorts them (theorem 6). A callable takes preferences (m, r, r)
        and returns ranks (m, r), 1 = best, or a `Decoded`.
    pair_features : {"difference", "bilinear", "concatenation"} or callable, default="difference"
        Documents only. "difference": x - z; with ridge g is then a difference of
        scores, in closed form. "bilinear" adds x'Az, A skew-symmetric, which can prefer in
        cycles; with ridge A has low rank and X may be sparse. With another
        `estimator` these, (x, z), or ``pair_features(A, B)`` with rows of two documents are
        the features; its predictions are antisymmetrised.
    n_components : int, default=2
        Planes of the bilinear term: A has at most twice this rank.
    max_pairs : int or None, default=200000
        Pairs of documents (each counted once) that an `estimator` or the bilinear term is
        fitted on; if there are more, a uniform sample of them. None takes all.
    on_cycle : {"net", "error"}, default="net"
        What to do with a label (n_queries, r, r) that prefers both ways or in a cycle, as counts
        of votes do: take the net preferences y_ij - y_ji, cycles included, or refuse it.
    score_function : {"dmj"} or callable, default="dmj"
        For ``decoder="score"``. "dmj" is f_i(y) = sum_j (y_ij - y_ji), of documents over the
        number of items in the list; a callable takes preferences (m, r, r) and returns scores
        (m, r).
    list_weights, solver
        As in `LowRankSurrogateRanker`.
    alpha : float or "auto", default="auto"
        Penalty of "ridge" (and of the bilinear term) and "logistic", >= 0, of standardised features
        beside a mean, as in `LowRankSurrogateRanker`. "auto" is the same formula of features and
        rows: pairs do not count.
    tol : float or None, default=None
        Relative accuracy of the iterative solvers; None is 1e-6 ("lsqr", "logistic") or 1e-4
        (bilinear: of the gradient).
    max_iter : int or None, default=None
        Their iterations; None is twice the number of features ("lsqr") or 1000 (bilinear,
        "logistic").
    time_limit : float or None, default=60.0
        Seconds of ``decoder="exact"`` for each list; None is no limit.
    n_restarts : int or None, default=None
        Restarts of ``decoder="local_search"``; None is 100. Above 100 items each stands for
        20 moves of every item, and None for 300,000 moves.
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
    decoder_ : str or callable
        The decoder in use; for documents "auto" is resolved for each list.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    votes_ : ndarray of shape (r, r)
        Fixed items: mean weight of the labels on each pair, ``E[y_ij + y_ji]``, symmetric.
    n_pairs_, n_pairs_total_ : int
        Documents with an `estimator` or the bilinear term: pairs that were fitted, and all.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (d, n_features) and (d,)
        Where the regression is linear; in documents w of g(x, z) = <w, x - z> + ...
    components_ : ndarray of shape (2, n_components, n_features)
        Bilinear term: ``A = components_[0].T @ components_[1] - components_[1].T @
        components_[0]``, of features minus `mean_`.
    mean_ : ndarray of shape (n_features,)
        Documents: the average training row.
    low_, high_ : ndarray of shape (d,)
        Of "logistic", as in `LowRankSurrogateRanker`.
    estimators_ : list of regressors
        Of another `estimator`: one fitted regressor, or one for each pair of items.
    estimator_, feature_importances_
        The one of them where there is one, and its importances where it has them.
    alpha_ : float
        Of "ridge" and "logistic": the penalty in use.
    solver_, n_iter_ : str and int
        The solver of ridge, and iterations.
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
    _parameters: ClassVar = {
        "decoder": [*PD_DECODERS, "score", "auto", callable],
        "score_function": ["dmj", callable],
        "on_cycle": [*ON_CYCLE],
        "list_weights": [*LIST_WEIGHTS],
        "solver": [*SOLVERS],
        "alpha": ["auto", number(0)],
        "tol": [number(0), None],
        "n_components": [count()],
        "pair_features": [*PAIR_FEATURES, callable],
        "max_iter": [count(), None],
        "max_pairs": [count(), None],
        "n_restarts": [count(0), None],
        "time_limit": [number(above=0), None],
        "estimator": [regressor, "auto", "ridge", "logistic", "trees"],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: str | PairwiseDisagreement = "pd",
        estimator: Any = "auto",
        decoder: str | Callable[..., Any] = "dag",
        pair_features: str | Callable[..., Any] = "difference",
        n_components: int = 2,
        max_pairs: int | None = 200_000,
        on_cycle: str = "net",
        score_function: str | Callable[..., Any] = "dmj",
        list_weights: Any = "rows",
        alpha: float | str = "auto",
        solver: Any = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = 60.0,
        n_restarts: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
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

    def fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "PairwiseDAGRanker":
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
        with fresh_fit(self):
            loss = pair_loss(self.target_loss)
            check_parameters(self)
            X, y, lists, weights = self._read(X, y, qid, sample_weight, loss)
            self._has_qid_ = lists.ids is not None
            self.target_loss_, self.decoder_ = loss, self.decoder
            if y.ndim == 1:
                self._fit_documents(X, y, lists, weights)
            else:
                self._fit_batch(self._encode_items(X, y, weights, loss))
        return self

    @available_if(adds_up)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "PairwiseDAGRanker":
        """Add a batch of whole lists; the result is that of `fit` on all of them.

        For ridge regression: documents with differences of features or ``decoder="score"`` (other
        pair features are fitted to a sample of all pairs, or iterate), or fixed items with
        ``estimator="ridge"``.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in `fit`. A list must be in one batch.

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

    def predict(self, X: MatrixLike, *, qid: ArrayLike | None = None) -> np.ndarray:
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
            unless g is a difference of scores, which are returned as they are. Equal rows have
            equal preferences over the average to the last bit; with an `estimator` that is none of
            scikit-learn's linear models, this is as its own ``predict`` does.
        """
        check_is_fitted(self)
        if self.n_items_ is not None:
            check_no_qid(qid)
            u = self.predict_surrogate(X)
            return u if self.decoder_ == "score" else self._decoded(self._tables(u))
        X = self._validate_X(X, reset=False)
        lists = RankingLists.from_qid(qid, X.shape[0])
        if qid is None or isinstance(self._model_, ScorePairs):
            return self._model_.average(X)
        scores = np.empty(lists.n_rows)
        for table, rows in tables_of_lists(self._model_, X, lists):
            scores[rows] = self._decoded(table)
        return scores

    def predict_surrogate(self, X: MatrixLike) -> np.ndarray:
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
        return self._model_.average(self._validate_X(X, reset=False))[:, np.newaxis]

    def predict_preferences(
        self, X: MatrixLike, *, qid: ArrayLike | None = None
    ) -> np.ndarray | list:
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
        tables: dict[int, np.ndarray] = {}
        for table, rows in tables_of_lists(self._model_, X, lists):
            tables.update(zip(rows[:, 0].tolist(), table, strict=True))
        return [tables[row] for row in sorted(tables)]  # a list is known by its first row

    def predict_preference_probabilities(
        self, X: MatrixLike, *, qid: ArrayLike | None = None
    ) -> np.ndarray | list:
        """Probability of "i before j", where labels are votes.

        ``P_ij = (1 + u_ij / m_ij) / 2``, cut to [0, 1], of the preferences u that
        `predict_preferences` returns, with m_ij = ``votes_``, the mean votes on a pair. That is
        E[y_ij | x] / E[y_ij + y_ji | x] wherever the number of votes on a pair does not depend on
        x. For documents m is 1: ties count one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list. Not for fixed items.

        Returns
        -------
        ndarray of shape (n_queries, r, r), or list of ndarrays of shape (r, r)
            [q, i, j] in [0, 1], ``P_ij + P_ji = 1``; 1/2 on the diagonal and for pairs on which no
            label has a vote. For documents one matrix for each list.

        Raises
        ------
        ValueError
            If the model has no preferences of pairs (``decoder="score"``), or was fitted to
            documents under another target loss than "pd" with unit weights, whose preferences
            are no votes.

        Examples
        --------
        Of ten voters eight prefer the first item:

        >>> from lowrank_rank import PairwiseDAGRanker
        >>> ranker = PairwiseDAGRanker().fit([[0.0]], [[[0, 8], [2, 0]]])
        >>> ranker.predict_preference_probabilities([[0.0]])[0].tolist()
        [[0.5, 0.8], [0.2, 0.5]]
        """
        check_is_fitted(self)
        if self.decoder_ == "score":
            raise ValueError(
                'decoder="score" regresses scores, not preferences of pairs: take another decoder.'
            )
        if self.n_items_ is not None:
            return vote_fractions(self.predict_preferences(X, qid=qid), self.votes_)
        if self.target_loss_.get_params() != {"weights": "unit"}:
            raise ValueError(
                f"Preferences of documents under {self.target_loss_!r} are no votes: take "
                'target_loss="pd".'
            )
        return [vote_fractions(u, 1.0) for u in self.predict_preferences(X, qid=qid)]

    def decode_report(self, X: MatrixLike, *, qid: ArrayLike | None = None) -> Decoded:
        """Decoded orders with a certificate: their costs, and bounds on the cost of any order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list. Not for fixed items.

        Returns
        -------
        Decoded
            ``ranks`` as `rank` returns them; ``values``, for each list the weight
            ``sum_ij max(u_ij, 0) [rank(i) > rank(j)]`` of the predicted preferences that its order
            goes against, lower is better; ``bounds``, ``gaps`` and ``optimal``. For documents the
            lists are in order of first appearance.

        Raises
        ------
        ValueError
            If a list has more than 200 items, or the model decodes scores.

        Examples
        --------
        Each of three items is preferred to the next, by 2, 2 and 1 votes: one has to be lost.

        >>> from lowrank_rank import PairwiseDAGRanker
        >>> ranker = PairwiseDAGRanker().fit([[0.0]], [[[0, 2, 0], [0, 0, 2], [1, 0, 0]]])
        >>> report = ranker.decode_report([[0.0]])
        >>> report.ranks, report.values, report.optimal
        (array([[1, 2, 3]]), array([1.]), array([ True]))
        """
        check_is_fitted(self)
        if self.decoder_ == "score":
            raise ValueError('decoder="score" sorts scores: there is nothing to certify.')
        if self.n_items_ is not None:
            check_no_qid(qid)
            return self._certified(self._tables(self.predict_surrogate(X)))
        X = self._validate_X(X, reset=False)
        ranks, first, parts = np.empty(X.shape[0], dtype=np.intp), [], []
        for table, rows in tables_of_lists(self._model_, X, RankingLists.from_qid(qid, len(ranks))):
            decoded = self._certified(table)
            ranks[rows] = decoded.ranks
            first.append(rows[:, 0])
            parts.append(decoded[1:])
        by_list = np.argsort(np.concatenate(first))  # a list is known by its first row
        values, bounds = (np.concatenate(part)[by_list] for part in zip(*parts, strict=True))
        return Decoded(ranks, values, bounds)

    # Fitting --------------------------------------------------------------------------

    def _regression(self):
        regression = Regression.of(self)
        return replace(regression, tol=_TOL) if self.tol is None else regression

    def _adds_up(self):
        return super()._adds_up() and (
            self.pair_features == "difference" or self.decoder == "score"
        )

    def _batch_of(self, block, *, reset):
        loss = pair_loss(self.target_loss)
        check_parameters(self)
        X, y, qid, weights = block
        X, y, lists, weights = self._read(X, y, qid, weights, loss, reset=reset, whole=False)
        if y.ndim == 1:
            return self._encode_documents(X, y, lists, weights, loss)
        return self._encode_items(X, y, weights, loss)

    def _adopt(self, batch, model):
        """Set the fitted attributes."""
        self.target_loss_, self._has_qid_ = batch.loss, batch.has_qid
        self.n_items_, self.n_lists_ = batch.n_items, batch.n_lists
        resolved = self.decoder == "auto" and batch.n_items is not None
        self.decoder_ = batch.decoder if resolved else self.decoder
        for name, mean in batch.means.items():
            setattr(self, name, mean)
        self._keep_scores(model) if batch.n_items is None else self._keep(model)

    def _keep_scores(self, model):
        if is_ridge(self.estimator):  # the score over that of the average row
            model = model._replace(intercept=-model.coef @ self.mean_)
        self._keep(model, flat=True)
        self._model_ = ScorePairs(self._model_)

    def _fit_batch(self, batch):
        warn_without_preferences(batch.scaled_targets())
        self._adopt(batch, self._regression().named(batch).fit(batch))

    def _encode_items(self, X, y, weights, loss):
        """The batch of fixed items."""
        n_items, by_score = y.shape[1], self.decoder == "score"
        if not by_score:
            pd_decoder(self.decoder, n_items)  # refuses lists that are too long for it
        decoder = auto_pd_decoder(n_items) if self.decoder == "auto" else self.decoder
        labels = y
        if y.ndim == 3:
            y = check_acyclic_labels(loss.check_labels(y), self.on_cycle)
        batch = encode_items(X, y, weights, loss, "sort" if by_score else decoder)
        if by_score:
            return replace(batch, targets=label_scores(self.score_function, loss, y))
        return replace(batch, means={"votes_": mean_votes(loss, labels, weights, batch.targets)})

    def _encode_documents(self, X, y, lists, weights, loss):
        """The batch from which documents are scored by one function of the row."""
        batch = encode_documents(X, y, lists, weights, loss, "auto", self.list_weights, True)
        if self.decoder == "score" and callable(self.score_function):
            scores = row_scores(self.score_function, loss, y, lists, weights)
            batch = replace(batch, targets=scores[:, np.newaxis])
        return replace(batch, means={"mean_": mean_row(X, weights)})

    def _fit_documents(self, X, y, lists, weights):
        self.n_items_ = None
        iterates = is_ridge(self.estimator) and self.pair_features != "difference"
        mean_square(X, degree=_DEGREE if iterates else 2)
        batch = self._encode_documents(X, y, lists, weights, self.target_loss_)
        closed = is_ridge(self.estimator) and self.pair_features == "difference"
        if closed or self.decoder == "score":
            self._fit_batch(batch)
            return
        self.n_lists_, self.mean_ = batch.n_lists, batch.means["mean_"]
        if not np.any(weights**2):  # weights of pairs would vanish
            weights = weights / weights.max()
        counts = weights > 0  # rows of weight 0 form no pairs
        if not counts.all():
            lists = RankingLists.from_qid(lists.ungroup(lists.index)[counts])
            X, y, weights = X[counts], y[counts], weights[counts]
            batch = self._encode_documents(X, y, lists, weights, self.target_loss_)
        self._model_ = self._fit_pairs(batch, X, y, lists, weights)

    def _fit_pairs(self, batch, X, y, lists, weights):
        """A model of pairs of documents: the low-rank bilinear one, or any regressor's."""
        regression, rng = self._regression().named(batch), check_random_state(self.random_state)
        # Antisymmetric data give a tree two equal splits everywhere: their sums have to be equal
        # to the last digit, which they are while 2**21 weights of few bits are added up. Models of
        # our own take the weights as they are.
        bits = None if is_ridge(self.estimator) else _BITS
        factors = pair_factors(lists, weights, self.list_weights, bits=bits)
        pairs = pairs_within(lists, y, weights, self.target_loss_, factors, self.max_pairs, rng)
        self.n_pairs_, self.n_pairs_total_ = len(pairs.first), pairs.n_all
        regression.say(f"{self.n_pairs_} of {pairs.n_all} pairs of {len(y)} documents")
        if is_ridge(self.estimator) and self.pair_features == "bilinear":
            warn_without_preferences(batch.scaled_targets())
            self._keep_scores(regression.fit(batch))
            self._sums_ = None
            return self._fit_bilinear(X, lists, Moments.of(X, weights), pairs, rng, regression.say)
        warn_without_preferences(pairs.targets)
        own = weights**2 * lists.ungroup(lists.spread(factors))
        alpha = self.alpha
        if alpha == "auto":  # of rows, not of pairs
            alpha = default_alpha("documents", X.shape[1], batch.totals.mass)
        model = fit_regressor_pairs(
            regression, X, self.mean_, pairs, own, self.pair_features, alpha
        )
        self._keep(model.model)
        self.n_iter_ = 1
        return model

    def _fit_bilinear(self, X, lists, features, pairs, rng, say):
        """The skew term on top of the scores that are known."""
        scale = features.deviation
        model = fit_skew(
            X @ sparse.diags(1.0 / scale) if sparse.issparse(X) else X / scale,
            self.mean_ / scale,
            pairs,
            self.coef_ * scale,
            lists=lists,
            alpha=self.alpha_ * features.total,
            n_components=self.n_components,
            tol=_TOL_BILINEAR if self.tol is None else self.tol,
            max_iter=1000 if self.max_iter is None else self.max_iter,
            rng=rng,
            say=say,
        )
        model = model._replace(
            coef=model.coef / scale, components=model.components / scale, mean=self.mean_
        )
        self.coef_, self.components_ = model.coef, model.components
        self.intercept_, self.n_iter_ = float(model.intercept), model.n_iter
        return model

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not is_linear(self.estimator) and self.pair_features == "bilinear":
            tags.input_tags.sparse = False  # products of two features are dense
        return tags

    # Prediction -----------------------------------------------------------------------

    def _ranking_scores(self, X, qid=None):
        if self.n_items_ is not None:
            return self.predict(X)
        return self.predict(X, qid=np.zeros(n_rows(X)) if qid is None else qid)

    def _decode(self, preferences, **options):
        decoder = pd_decoder(self.decoder_, preferences.shape[1])
        parameters = {name: getattr(self, name) for name in decoder.parameters}
        return decoder.decode(preferences, **parameters, **options)

    def _decoded(self, preferences):
        """r - rank of the decoded order of preferences (m, r, r)."""
        return preferences.shape[1] - self._decode(preferences).ranks.astype(np.float64)

    def _certified(self, tables):
        """Decoded orders of net preferences, with the weight that they go against and its bound.

        An antisymmetric table costs that weight twice, less a constant.
        """
        decoded = self._decode(tables, bound=True)
        values = preference_cost(np.maximum(tables, 0.0), decoded.ranks)
        return Decoded(decoded.ranks, values, values - cast(np.ndarray, decoded.gaps) / 2.0)

    def _tables(self, u):
        """Antisymmetric matrices from the surrogate vectors of fixed items."""
        if self.decoder_ == "score":
            return u[:, :, np.newaxis] - u[:, np.newaxis, :]
        return net_preferences(matrices_from_differences(u, cast(int, self.n_items_)))
