"""Rankers compared on the same queries: means, intervals and differences."""

from typing import Any

import numpy as np

from ..evaluation import compare_rankers
from ..evaluation._comparison import RankerComparison
from ..validation._arrays import MatrixLike
from ..validation._kinds import arrive
from ..validation._parameters import check_parameter
from ._top import Display, axes_for


class RankerComparisonDisplay(Display):
    """Means or differences of rankers with intervals, or differences query by query.

    Parameters
    ----------
    comparison : RankerComparison
        From `compare_rankers`, `compare_runs`, `compare_values` or `compare_judged`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from lowrank_rank.plotting import RankerComparisonDisplay
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [2, 1, 2, 1, 1, 2]}
    >>> display = RankerComparisonDisplay.from_predictions(
    ...     y, scores, qid=qid, measure="mrr")
    >>> display.ax_.get_xlabel()
    'difference of mrr, with 95 % interval'
    """

    def __init__(self, comparison: RankerComparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        rankers: dict[str, Any],
        *,
        ax: Any = None,
        kind: str = "intervals",
        **kwargs: Any,
    ) -> "RankerComparisonDisplay":
        """Compare scores, and draw.

        Parameters
        ----------
        y_true : array-like
            Labels.
        rankers : dict of str to array-like
            Scores.
        ax, kind
            As in `plot`.
        **kwargs : dict
            As in `compare_rankers`: qid, measure, baseline, ...

        Returns
        -------
        RankerComparisonDisplay
            The display.
        """
        arrive(y_true=y_true, rankers=rankers)
        return cls(compare_rankers(y_true, rankers, **kwargs)).plot(ax=ax, kind=kind)

    @classmethod
    def from_estimators(
        cls,
        rankers: dict[str, Any],
        X: MatrixLike,
        y: MatrixLike,
        *,
        ax: Any = None,
        kind: str = "intervals",
        **kwargs: Any,
    ) -> "RankerComparisonDisplay":
        """Compare fitted models, and draw.

        Parameters
        ----------
        rankers : dict of str to fitted estimator
            Fitted rankers by name.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        y : array-like
            Labels.
        ax, kind
            As in `plot`.
        **kwargs : dict
            As in `compare_rankers`: qid, measure, baseline, ...

        Returns
        -------
        RankerComparisonDisplay
            The display.
        """
        arrive(rankers=rankers, X=X, y=y)
        return cls(compare_rankers(y, rankers, X=X, **kwargs)).plot(ax=ax, kind=kind)

    def plot(
        self, ax: Any = None, *, kind: str = "intervals", **kwargs: Any
    ) -> "RankerComparisonDisplay":
        """Draw the differences of all pairs, or the means.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        kind : {"intervals", "means", "differences"}, default="intervals"
            The mean differences with their intervals and Holm's p values; the means,
            best first, with intervals of means and ranks; or the difference of each
            query, sorted, one curve for each pair.
        **kwargs : dict
            For matplotlib's ``errorbar`` or ``plot``.

        Returns
        -------
        RankerComparisonDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        check_parameter("kind", kind, ["differences", "intervals", "means"])
        comparison = self.comparison
        # A line for each row, in a figure of the usual height or more.
        n_rows = {
            "intervals": len(comparison.pairs),
            "means": len(comparison.names),
            "differences": 0,
        }
        ax = axes_for(ax, figsize=(6.4, max(4.8, 1.0 + 0.25 * n_rows[kind])))
        if kind == "means":
            _plot_means(ax, comparison, kwargs)
        elif kind == "intervals":
            _plot_differences(ax, comparison, kwargs)
        else:
            _plot_queries(ax, comparison, kwargs)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


def _plot_means(ax, comparison, kwargs):
    """Draw the mean and the interval of the rank of each ranker, best first."""
    order = np.argsort(-comparison.mean, kind="stable")
    names = []
    for i in order:
        mark = " *" if comparison.tied_with_best[i] else ""
        names.append(f"{comparison.names[i]}{mark}")
    ranks = []
    for low, high in comparison.means.rank_interval[order]:
        ranks.append(f"{low}" if low == high else f"{low} - {high}")
    mean = comparison.mean[order]
    interval = comparison.means.interval[order]
    _plot_intervals(ax, mean, interval, names, kwargs)
    _label_right(ax, "rank", ranks)
    level = _interval_level(comparison)
    ax.set_xlabel(f"{comparison.measure}, {level}; *: best, or tied with the best")


def _plot_differences(ax, comparison, kwargs):
    """Draw the mean difference of each pair, with its interval and p value."""
    ax.axvline(0.0, color="gray", linestyle=":")
    labels, what = _difference_labels(comparison)
    _plot_intervals(ax, comparison.difference, comparison.interval, labels, kwargs)
    p_values = [_p_label(p) for p in comparison.p_adjusted]
    _label_right(ax, "p" if len(p_values) == 1 else "p (Holm)", p_values)
    ax.set_xlabel(f"{what}, {_interval_level(comparison)}")


def _p_label(p_value):
    """Format a p value; nan is that of a pair without a verdict."""
    if np.isnan(p_value):
        return "no verdict"
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.3f}"


def _plot_queries(ax, comparison, kwargs):
    """Draw the difference of each query, sorted, one curve for each pair."""
    ax.axhline(0.0, color="gray", linestyle=":")
    labels, what = _difference_labels(comparison)
    n_queries = len(comparison.qid)
    fraction = (np.arange(n_queries) + 0.5) / n_queries
    for label, differences in zip(labels, comparison.differences.T, strict=True):
        descending = -np.sort(-differences)
        ax.plot(fraction, descending, **{"label": label, **kwargs})
    one = "task" if comparison.unit == "tasks" else "query"
    ax.set(xlabel=f"fraction of the {comparison.unit}", ylabel=f"{what} per {one}")
    ax.legend()


def _difference_labels(comparison):
    """Return a label for each pair, and what a difference is."""
    names = comparison.names
    baselines = {b for _, b in comparison.pairs}
    if len(comparison.pairs) > 1 and len(baselines) == 1:
        baseline = names[baselines.pop()]
        labels = [names[a] for a, _ in comparison.pairs]
        return labels, f"difference from {baseline} of {comparison.measure}"
    labels = [f"{names[a]} - {names[b]}" for a, b in comparison.pairs]
    return labels, f"difference of {comparison.measure}"


def _interval_level(comparison):
    """Describe the intervals in a label."""
    return f"with {100 * comparison.confidence_level:g} % interval"


def _plot_intervals(ax, mean, interval, labels, kwargs):
    """Draw a line for each interval, from the top, with labels on the left."""
    place = np.arange(len(mean))
    # Rounding can put an end of an interval beyond the mean.
    errors = np.maximum([mean - interval[:, 0], interval[:, 1] - mean], 0.0)
    ax.errorbar(mean, place, xerr=errors, **{"fmt": "o", "capsize": 3, **kwargs})
    ax.set_yticks(place, labels)
    ax.set(ylim=(len(mean) - 0.5, -0.5))


def _label_right(ax, name, labels):
    """Write a label for each row on the right."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(np.arange(len(labels)), labels)
    right.tick_params(length=0)
    right.set_ylabel(name)
