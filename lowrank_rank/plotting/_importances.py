"""Importances of features, with the range of their permutations."""

from typing import Any

import numpy as np

from ..model_selection import query_permutation_importance
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._check import refuse
from ..validation._checks_of_models import CHECKS_OF_IMPORTANCES
from ..validation._kinds import arrive
from ..validation._parameters import checked, count
from ._top import Display, axes_for


class PermutationImportanceDisplay(Display):
    """Importances of features as points, the most important one on top.

    A line goes from the smallest to the largest decrease of the score.

    Parameters
    ----------
    importances : array-like of shape (n_features, n_repeats)
        Decrease of the score in each permutation of a feature.
    feature_names : array-like of str, shape (n_features,)
        Names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : matplotlib LineCollection
        The ranges.

    See Also
    --------
    lowrank_rank.model_selection.query_permutation_importance : Computes them.

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.plotting import PermutationImportanceDisplay
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 7.0], [3.0, 7.0]]
    >>> y, qid = [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    >>> display = PermutationImportanceDisplay.from_estimator(
    ...     ranker, X, y, qid=qid, random_state=0)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['x0', 'x1']
    """

    lines_: Any

    def __init__(self, *, importances: ArrayLike, feature_names: ArrayLike) -> None:
        self.importances = np.asarray(importances)
        self.feature_names = np.asarray(feature_names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        max_features: int | None = 20,
        ax: Any = None,
        **kwargs: Any,
    ) -> "PermutationImportanceDisplay":
        """Permute the features of held-out queries, and draw.

        Parameters
        ----------
        estimator : fitted estimator
            Ranker to judge.
        X : array-like or frame of shape (n_rows, n_features)
            Features of the rows.
        y : array-like of shape (n_rows,)
            Grades; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each row.
        max_features, ax
            As in `plot`.
        **kwargs : dict
            As in `query_permutation_importance`: scoring (one measure), n_repeats, ...

        Returns
        -------
        PermutationImportanceDisplay
            The display.
        """
        found = query_permutation_importance(estimator, X, y, qid=qid, **kwargs)
        return cls.from_importances(found, max_features=max_features, ax=ax)

    @classmethod
    def from_importances(
        cls, found: Any, *, max_features: int | None = 20, ax: Any = None
    ) -> "PermutationImportanceDisplay":
        """Draw the result of `query_permutation_importance`.

        Parameters
        ----------
        found : QueryImportances
            The result for one measure; of several measures take ``found["ndcg@10"]``.
        max_features, ax
            As in `plot`.

        Returns
        -------
        PermutationImportanceDisplay
            The display.
        """
        arrive(found=found)
        refuse(CHECKS_OF_IMPORTANCES, found=found)
        display = cls(importances=found.importances, feature_names=found.feature_names)
        return display.plot(max_features=max_features, ax=ax)

    @checked(max_features=[count(), None])
    def plot(
        self, *, max_features: int | None = 20, ax: Any = None
    ) -> "PermutationImportanceDisplay":
        """Draw the mean and the range of each feature.

        Parameters
        ----------
        max_features : int or None, default=20
            Number of features to draw, the most important ones; None draws all.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.

        Returns
        -------
        PermutationImportanceDisplay
            Itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        means = self.importances.mean(axis=1)
        order = np.argsort(-means, kind="stable")[:max_features]
        ax = axes_for(ax, figsize=(6.0, 1.0 + 0.25 * len(order)))
        rows = np.arange(len(order))
        falls = self.importances[order]
        self.lines_ = ax.hlines(
            rows, falls.min(axis=1), falls.max(axis=1), linewidth=3, alpha=0.5
        )
        ax.plot(means[order], rows, "o")
        ax.set_yticks(rows, [str(name) for name in self.feature_names[order]])
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.7", linewidth=1.0)
        ax.set_xlabel("decrease of the score by a permutation within queries")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
