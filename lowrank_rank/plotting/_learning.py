"""Learning curves over queries."""

from typing import Any

from sklearn.model_selection import LearningCurveDisplay

from .._arrays import ArrayLike, MatrixLike
from ..model_selection import query_learning_curve


class QueryLearningCurveDisplay(LearningCurveDisplay):
    """Scores of a ranker over the number of queries that it was fitted on.

    scikit-learn's `LearningCurveDisplay`, counting whole queries.

    Parameters
    ----------
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of queries.
    train_scores, test_scores : ndarray of shape (n_sizes, n_folds)
    score_name : str or None, default=None

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    See Also
    --------
    lowrank_rank.model_selection.query_learning_curve : Computes it.

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.datasets import make_ranking
    >>> from lowrank_rank.plotting import QueryLearningCurveDisplay
    >>> X, y, qid = make_ranking(n_lists=20, random_state=0)
    >>> display = QueryLearningCurveDisplay.from_estimator(
    ...     LowRankSurrogateRanker(), X, y, qid=qid, train_sizes=[2, 10], cv=2, random_state=0)
    >>> display.ax_.get_xlabel()
    'Number of queries in the training set'
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
        cv: Any = 5,
        scoring: Any = "ndcg@10",
        n_jobs: int | None = None,
        random_state: Any = None,
        ax: Any = None,
        score_name: str | None = None,
        **kwargs: Any,
    ) -> "QueryLearningCurveDisplay":
        """Fit on more and more queries, and draw the scores.

        Parameters
        ----------
        estimator, X, y, qid, train_sizes, cv, scoring, n_jobs, random_state
            As in `query_learning_curve`.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        score_name : str or None, default=None
            Label of the scores; None is `scoring` where that is a name.
        **kwargs : dict
            ``score_type``, ``std_display_style``, ``line_kw``, ... as in
            `sklearn.model_selection.LearningCurveDisplay.plot`.

        Returns
        -------
        QueryLearningCurveDisplay
        """
        sizes, train_scores, test_scores = query_learning_curve(
            estimator,
            X,
            y,
            qid=qid,
            train_sizes=train_sizes,
            cv=cv,
            scoring=scoring,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        if score_name is None and isinstance(scoring, str):
            score_name = scoring
        display = cls(
            train_sizes=sizes,
            train_scores=train_scores,
            test_scores=test_scores,
            score_name=score_name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "QueryLearningCurveDisplay":
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        **kwargs : dict
            As in `sklearn.model_selection.LearningCurveDisplay.plot`.

        Returns
        -------
        QueryLearningCurveDisplay
        """
        super().plot(ax=ax, **kwargs)
        self.ax_.set_xlabel("Number of queries in the training set")
        return self
