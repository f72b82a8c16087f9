"""Learning curves over queries."""

from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import LearningCurveDisplay
from sklearn.utils import check_random_state

from .._arrays import ArrayLike, MatrixLike
from .._parameters import check_parameter
from ..model_selection import query_folds, query_learning_curve
from ._top import axes_for


class QueryLearningCurveDisplay(LearningCurveDisplay):
    """Scores of a ranker over the number of queries that it was fitted on.

    scikit-learn's `LearningCurveDisplay`, counting whole queries.

    Parameters
    ----------
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of queries.
    train_scores, test_scores : ndarray of shape (n_sizes, n_folds), or dict of them by ranker
        Scores on the training queries, and on the held-out ones.
    score_name : str or None, default=None
        Label of the axis of scores.
    reference : str or None, default=None
        Of several rankers, the one whose scores are subtracted.

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

    def __init__(
        self,
        *,
        train_sizes: np.ndarray,
        train_scores: Any,
        test_scores: Any,
        score_name: str | None = None,
        reference: str | None = None,
    ) -> None:
        super().__init__(
            train_sizes=train_sizes,
            train_scores=train_scores,
            test_scores=test_scores,
            score_name=score_name,
        )
        self.reference = reference

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
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
            The display.
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

    @classmethod
    def from_estimators(
        cls,
        rankers: dict,
        X: MatrixLike,
        y: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        reference: str | None = None,
        train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
        cv: Any = 5,
        scoring: Any = "ndcg@10",
        n_jobs: int | None = None,
        random_state: Any = None,
        ax: Any = None,
        score_name: str | None = None,
        **kwargs: Any,
    ) -> "QueryLearningCurveDisplay":
        """Fit several rankers on more and more queries, and draw who is ahead.

        All rankers are fitted on the same queries and scored on the same queries. The lines are the
        means over the folds, and the bands their 95 % intervals by Student's t. Training parts
        overlap from fold to fold, so that the bands are a little too narrow.

        Parameters
        ----------
        rankers : dict of str to estimator
            Rankers to fit, by name.
        X, y, qid
            As in `query_learning_curve`.
        reference : str or None, default=None
            Name of the ranker whose scores are subtracted, fold by fold; None draws the scores.
        train_sizes, cv, scoring, n_jobs
            As in `query_learning_curve`.
        random_state : int, RandomState or None, default=None
            Seed of the order of the training queries, the same for all rankers.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        score_name : str or None, default=None
            Label of the scores; None is `scoring` where that is a name.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        QueryLearningCurveDisplay
            ``train_scores`` and ``test_scores`` are dicts by name.
        """
        check_parameter("reference", reference, [*rankers, None])
        seed = check_random_state(random_state).randint(2**31 - 1)
        settings = {"qid": qid, "train_sizes": train_sizes, "cv": query_folds(X, y, qid, cv)}
        settings |= {"scoring": scoring, "n_jobs": n_jobs, "random_state": seed}
        curves = {}
        for name, ranker in rankers.items():
            curves[name] = query_learning_curve(ranker, X, y, **settings)
        display = cls(
            train_sizes=next(iter(curves.values()))[0],
            train_scores={name: curve[1] for name, curve in curves.items()},
            test_scores={name: curve[2] for name, curve in curves.items()},
            score_name=scoring if score_name is None and isinstance(scoring, str) else score_name,
            reference=reference,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "QueryLearningCurveDisplay":
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw in; None makes new ones.
        **kwargs : dict
            As in `sklearn.model_selection.LearningCurveDisplay.plot`; for several rankers as in
            `matplotlib.axes.Axes.plot`.

        Returns
        -------
        QueryLearningCurveDisplay
            The display.
        """
        if isinstance(self.test_scores, dict):
            self._plot_rankers(ax, **kwargs)
        else:
            super().plot(ax=ax, **kwargs)
        self.ax_.set_xlabel("Number of queries in the training set")
        return self

    def _plot_rankers(self, ax, **kwargs):
        """Draw the mean of each ranker, or of its differences from the reference."""
        self.ax_ = axes_for(ax)
        self.figure_, self.lines_ = self.ax_.figure, []
        name = self.score_name or "score"
        if self.reference is not None:
            label = f"{self.reference} (reference)"
            self.lines_.append(self.ax_.axhline(0.0, color="0.5", linestyle="--", label=label))
            name += f" minus {self.reference}"
        base = self.test_scores.get(self.reference, 0.0)
        for ranker, scores in self.test_scores.items():
            if ranker == self.reference:
                continue
            values = scores - base
            n_folds = values.shape[1]
            mean = values.mean(axis=1)
            half = stats.t.ppf(0.975, n_folds - 1) * stats.sem(values, axis=1)
            options = {"marker": "o", "label": ranker, **kwargs}
            (line,) = self.ax_.plot(self.train_sizes, mean, **options)
            self.ax_.fill_between(
                self.train_sizes, mean - half, mean + half, color=line.get_color(), alpha=0.2
            )
            self.lines_.append(line)
        self.ax_.set_xscale("log")
        self.ax_.set_xticks(self.train_sizes, map(str, self.train_sizes))
        self.ax_.set_ylabel(name)
        self.ax_.legend()
