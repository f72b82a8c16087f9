"""What every ranker shares: target loss, score, ranks and tags."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._lists import RankingLists, one_label_per_row, split_target
from .._ranks import ranks_from_scores
from ..target_losses import resolve_target_loss


def check_no_qid(qid):
    """Refuse query ids where every row of X is a list of the same items."""
    if qid is not None:
        raise ValueError("This model ranks the same items in every row of X; it takes no qid.")


class RankingMixin:
    """`score` and `rank` of whatever orders lists by a score.

    A subclass sets ``target_loss_``, ``n_lists_`` and, for lists of fixed items,
    ``n_items_`` in fit, and defines ``_ranking_scores``.
    """

    # With metadata routing the query ids are asked for without any set_*_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__partial_fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def _ranking_scores(self, X, qid=None):
        """Scores to rank by, higher is better, shape (n_rows,) or (n_queries, r)."""
        return self.predict(X)

    def _grades(self, y):
        """Labels as the measure of the target loss takes them."""
        return y

    def score(self, X, y, sample_weight=None, *, qid=None):
        """Mean of the target loss's measure over the lists, greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows of documents, or one row per query for fixed items.
        y : array-like of shape (n_rows,), (n_queries, r) or (n_queries, r, r)
            Labels as in `fit`; a `ranking_target` carries its qid.
        sample_weight : array-like of shape (n_rows,), default=None
            A list has the mean weight of its rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; required if the model was fitted on several lists.

        Returns
        -------
        float
            The measure in its own units (negative for losses such as "pd"). Lists on which it
            is undefined are left out; ``target_loss_.undefined`` if it is defined on none.
        """
        check_is_fitted(self)
        y, qid = split_target(y, qid)
        if self.n_items_ is not None and one_label_per_row(y):
            raise ValueError(
                f"This model ranks {self.n_items_} fixed items: y must have the shape (n_queries, "
                f"{self.n_items_}), got {np.shape(y)}."
            )
        if qid is None and one_label_per_row(y) and self.n_lists_ > 1:
            raise ValueError(
                f"This {type(self).__name__} was fitted on {self.n_lists_} lists, and scoring rows "
                "without qid would rank them all as one. Pass qid=..., or y as "
                "ranking_target(y, qid); for one single list pass qid=np.zeros(len(y)). A Pipeline "
                "or a search hands qid on with sklearn.set_config(enable_metadata_routing=True)."
            )
        scores = self._ranking_scores(X, qid=qid)
        return self.target_loss_.measure(
            self._grades(y), scores, qid=qid, sample_weight=sample_weight
        )

    def rank(self, X, *, qid=None):
        """Ranks of the items of each list, 1 = best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None ranks all rows as one list. Not for fixed items.

        Returns
        -------
        ndarray of int, shape (n_rows,) or (n_queries, r)
            Equal scores are ranked in the order of the rows.

        Raises
        ------
        ValueError
            If qid does not fit X, or the model is one of fixed items and qid is given.
        """
        scores = self._ranking_scores(X, qid=qid)
        if scores.ndim == 2:
            check_no_qid(qid)
            lists = RankingLists.equal(*scores.shape)
        else:
            lists = RankingLists.from_qid(qid, len(scores))
        flat = lists.group(scores.ravel())
        return lists.ungroup(ranks_from_scores(flat, lists)).reshape(scores.shape)


class BaseRanker(RankingMixin, RegressorMixin, BaseEstimator):
    """Base of the rankers that are regressors of scores with a `target_loss`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            loss = resolve_target_loss(self.target_loss)
        except (ValueError, TypeError):  # fit says what is wrong with it
            return tags
        tags.target_tags.positive_only = loss.labels != "any"
        # On labels of any scale: a threshold may make all items relevant, or none.
        tags.regressor_tags.poor_score = not loss.reaches_one or loss.labels == "binary"
        return tags
