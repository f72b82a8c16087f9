"""A measure by the length of the list, for long and short queries."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._arrays import ArrayLike
from .._labels import read_scored
from .._parameters import RUNTIME, check_parameter, count, number
from ..metrics._comparison import mean_interval
from ..target_losses import resolve_measure
from ._top import EstimatorDisplay, axes_for


class MeasureByLengthDisplay(EstimatorDisplay):
    """The mean of a measure over lists of similar length, with intervals.

    Many measures depend on the number of items of a list, for every model. For example, precision
    at k of a list shorter than k cannot be 1. Compare models within a length.

    Parameters
    ----------
    length : ndarray of shape (n_bins,)
        Mean length of the lists of each bin.
    mean : ndarray of shape (n_bins,)
    interval : ndarray of shape (n_bins, 2)
        Bootstrap interval of the mean.
    n_lists : ndarray of int, shape (n_bins,)
        Number of lists with a defined measure.
    measure : str
    name : str or None, default=None
        Name of the model.

    Attributes
    ----------
    errorbar_ : matplotlib ErrorbarContainer
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from lowrank_rank.plotting import MeasureByLengthDisplay
    >>> y, scores = [1, 0, 1, 0, 0, 1], [2, 1, 1, 2, 4, 3]
    >>> display = MeasureByLengthDisplay.from_predictions(
    ...     y, scores, qid=["a", "a", "b", "b", "b", "b"], measure="mrr", n_bins=2)
    >>> display.length, display.mean
    (array([2., 4.]), array([1. , 0.5]))
    """

    def __init__(self, *, length, mean, interval, n_lists, measure, name=None):
        self.length = length
        self.mean = mean
        self.interval = interval
        self.n_lists = n_lists
        self.measure = measure
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        measure: Any = "ndcg@10",
        n_bins: int = 5,
        confidence_level: float = 0.95,
        n_resamples: int = 999,
        random_state: Any = 0,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> "MeasureByLengthDisplay":
        """Draw the measure of scores by length.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,) or (n_lists, r)
            Labels; a `ranking_target` carries its qid. Items without a label do not count.
        y_score : array-like of the same shape
            Scores, higher is better.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each row.
        measure : str or RankingMeasure, default="ndcg@10"
            Lists with an undefined measure are skipped.
        n_bins : int, default=5
            Bins with about as many lists each; fewer where many are equally long.
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        n_resamples : int, default=999
            Number of bootstrap samples of the lists.
        random_state : int, RandomState or None, default=0
        name : str or None, default=None
            Label.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **kwargs : dict
            For matplotlib's ``errorbar``.

        Returns
        -------
        MeasureByLengthDisplay
        """
        check_parameter("n_bins", n_bins, [count()])
        check_parameter("n_resamples", n_resamples, [count()])
        check_parameter("confidence_level", confidence_level, [number(above=0, below=1)])
        check_parameter("random_state", random_state, RUNTIME["random_state"])
        resolved = resolve_measure(measure)
        values = np.asarray(resolved.measure(y_true, y_score, qid=qid, average=None))
        y, _, lists, _ = read_scored(y_true, y_score, qid, check=resolved.check_labels)
        judged = lists.lengths.astype(float)
        if y.ndim == 1:
            judged = lists.sum(lists.group(~np.isnan(y)).astype(float))
        judged, values = judged[~np.isnan(values)], values[~np.isnan(values)]
        if not len(values):
            raise ValueError(f"{resolved!r} is defined on no list.")
        edges = np.unique(np.quantile(judged, np.linspace(0, 1, int(n_bins) + 1)))
        bins = np.clip(np.searchsorted(edges, judged, side="right") - 1, 0, max(len(edges) - 2, 0))
        random_state = check_random_state(random_state)
        settings = (confidence_level, "expanded", n_resamples, random_state)
        parts = [bins == b for b in np.unique(bins)]
        display = cls(
            length=np.array([judged[part].mean() for part in parts]),
            mean=np.array([values[part].mean() for part in parts]),
            interval=np.vstack([mean_interval(values[np.newaxis, p], *settings) for p in parts]),
            n_lists=np.array([part.sum() for part in parts]),
            measure=measure if isinstance(measure, str) else repr(measure),
            name=name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(
        self, ax: Any = None, *, name: str | None = None, **kwargs: Any
    ) -> "MeasureByLengthDisplay":
        """Draw means and intervals.

        Parameters
        ----------
        ax, name, **kwargs
            As in `from_predictions`.

        Returns
        -------
        MeasureByLengthDisplay
        """
        ax = axes_for(ax)
        low, high = self.interval.T
        errors = np.maximum([self.mean - low, high - self.mean], 0.0)  # up to rounding
        name = self.name if name is None else name
        style = {"marker": "o", "capsize": 3, "label": name, **kwargs}
        self.errorbar_ = ax.errorbar(self.length, self.mean, yerr=errors, **style)
        ax.set(xlabel="items in the list", ylabel=self.measure)
        if name is not None:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
