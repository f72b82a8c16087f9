"""`PairwiseDAGRanker` on documents: which model of the pairs is fitted, and which is asked."""

from dataclasses import replace

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.utils import check_random_state

from .._lists import RankingLists
from ._encoding import encode_documents
from ._linear import linear_scores
from ._pair_models import (
    RegressorPairs,
    ScorePairs,
    SkewPairs,
    both_ways,
    mean_row,
    skew_model,
)
from ._pair_settings import warn_without_preferences
from ._pairs import factors_of_rows, pairs_within
from ._regression import predict_regressors
from ._score_functions import score_rows


class DocumentPairsMixin:
    """Fits and hands out an antisymmetric model g(x, z) of `_pair_models`.

    The estimator has the parameters of `PairwiseDAGRanker` and ``target_loss_``.
    """

    def _fit_documents(self, X, y, lists, weights):
        self.n_items_ = None
        self.n_lists_ = int(np.count_nonzero(lists.sum(lists.group(weights))))
        self.mean_ = mean_row(X, weights)
        plain = self.estimator is None and self.pair_features == "difference"
        if plain or self.decoder == "score":
            return self._fit_scores(X, y, lists, weights)
        counts = weights > 0  # rows of weight 0 form no pairs
        X, y, weights = X[counts], y[counts], weights[counts]
        lists = RankingLists.from_qid(lists.ungroup(lists.index)[counts])
        rng = check_random_state(self.random_state)
        pairs = pairs_within(
            lists, y, weights, self.target_loss_, self.list_weights, self.max_pairs, rng
        )
        self.n_pairs_, self.n_pairs_total_ = len(pairs.first), pairs.n_all
        self._say(f"{self.n_pairs_} of {pairs.n_all} pairs of {len(y)} documents")
        if self.estimator is None and self.pair_features == "bilinear":
            self._fit_scores(X, y, lists, weights)
            model, self.n_iter_ = skew_model(self, X, self.mean_, pairs, self.coef_, rng)
            self.coef_, self.components_ = model.coef, model.components
            self.intercept_ = float(-self.coef_ @ self.mean_)
            return
        warn_without_preferences(pairs.targets)
        own = weights**2 * factors_of_rows(lists, weights, self.list_weights)
        parts = both_ways(pairs, X, own, self.pair_features)
        base = Ridge(alpha=self.alpha) if self.estimator is None else self.estimator
        self._say(f"{type(base).__name__} on {parts[0].shape} pair features")
        self._fit_regressors(*parts, estimator=base)
        self._fitted_features = self.pair_features
        self.n_iter_ = 1

    def _fit_scores(self, X, y, lists, weights):
        """Documents scored by one function of the row."""
        loss = self.target_loss_
        batch = encode_documents(X, y, lists, weights, loss, "auto", self.list_weights, True)
        if self.decoder == "score" and callable(self.score_function):
            scores = score_rows(self.score_function, loss, y, lists, weights)
            batch = replace(batch, targets=scores[:, np.newaxis])
        warn_without_preferences(batch.scaled_targets())
        self._regress(batch)
        if self.estimator is None:
            self.intercept_ = float(-self.coef_ @ self.mean_)

    def _pair_model(self):
        if hasattr(self, "components_"):
            return SkewPairs(self.coef_, self.components_, self.mean_)
        if hasattr(self, "estimators_") and self.decoder_ != "score":
            return RegressorPairs(self.estimators_, self._fitted_features, self.mean_)
        return ScorePairs(self._scores_of_rows)

    def _scores_of_rows(self, X):
        if hasattr(self, "estimators_"):
            return predict_regressors(self.estimators_, X)[:, 0]
        return linear_scores(X, self.coef_[np.newaxis], self.intercept_)[:, 0]
