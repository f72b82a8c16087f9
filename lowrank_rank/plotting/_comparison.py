"""Rankers compared on the same queries: means, intervals, and differences query by query."""

from typing import Any

import numpy as np

from .._arrays import MatrixLike
from .._parameters import check_parameter
from ..metrics._comparison import RankerComparison, compare_rankers
from ._top import Display, axes_for


class RankerComparisonDisplay(Display):
    """Means of rankers, or their differences, with intervals; or differences query by query.

    Parameters
    ----------
    comparison : RankerComparison
        From `compare_rankers`.

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
        found, names, baseline = self.comparison, self.comparison.names, ""
        rows = {"intervals": len(found.pairs), "means": len(names)}.get(kind, 0)
        # A line for each row, in a figure of the usual height or more.
        ax = axes_for(ax, figsize=(6.4, max(4.8, 1.0 + 0.25 * rows)))
        labels = [f"{names[a]} - {names[b]}" for a, b in found.pairs]
        others = {b for _, b in found.pairs}
        if len(labels) > 1 and len(others) == 1:  # all are compared with one
            labels, baseline = (
                [names[a] for a, _ in found.pairs],
                f" from {names[others.pop()]}",
            )
        what = f"difference{baseline} of {found.measure}"
        level = f"with {100 * found.confidence_level:g} % interval"
        if kind == "means":
            _plot_means(ax, found, level, kwargs)
        elif kind == "intervals":
            ax.axvline(0.0, color="gray", linestyle=":")
            p_values = [
                "< 0.001" if p < 0.001 else f"{p:.3f}" for p in found.p_adjusted
            ]
            name = "p" if len(p_values) == 1 else "p (Holm)"
            _plot_intervals(
                ax, found.difference, found.interval, labels, name, p_values, kwargs
            )
            ax.set_xlabel(f"{what}, {level}")
        else:
            fraction = (np.arange(len(found.qid)) + 0.5) / len(found.qid)
            ax.axhline(0.0, color="gray", linestyle=":")
            for label, differences in zip(labels, found.differences.T, strict=True):
                ax.plot(fraction, -np.sort(-differences), **{"label": label, **kwargs})
            one = "task" if found.unit == "tasks" else "query"
            ax.set(xlabel=f"fraction of the {found.unit}", ylabel=f"{what} per {one}")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _plot_means(ax, found, level, kwargs):
    """The mean and the interval of the rank of each ranker, best first."""
    order = np.argsort(-found.mean, kind="stable")
    names = [f"{found.names[i]}{' *' * int(found.tied_with_best[i])}" for i in order]
    ranks = [
        f"{a}" if a == b else f"{a} - {b}" for a, b in found.means.rank_interval[order]
    ]
    interval = found.means.interval[order]
    _plot_intervals(ax, found.mean[order], interval, names, "rank", ranks, kwargs)
    ax.set_xlabel(f"{found.measure}, {level}; *: best, or tied with the best")


def _plot_intervals(ax, mean, interval, labels, right_name, right_labels, kwargs):
    """A line for each interval, from the top, with labels on the left and on the right."""
    place = np.arange(len(mean))
    errors = np.maximum(
        [mean - interval[:, 0], interval[:, 1] - mean], 0.0
    )  # up to rounding
    ax.errorbar(mean, place, xerr=errors, **{"fmt": "o", "capsize": 3, **kwargs})
    ax.set_yticks(place, labels)
    ax.set(ylim=(len(mean) - 0.5, -0.5))
    right = ax.secondary_yaxis("right")
    right.set_yticks(place, right_labels)
    right.tick_params(length=0)
    right.set_ylabel(right_name)
