"""Rankers compared on the same queries: intervals, and differences query by query."""

from typing import Any

import numpy as np

from .._arrays import MatrixLike
from .._parameters import check_parameter
from ..metrics._comparison import RankerComparison, compare_rankers
from ._top import axes_for


class RankerComparisonDisplay:
    """Differences between rankers with their intervals, or query by query.

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
    ...     y, scores, qid=qid, measure="mrr", random_state=0)
    >>> display.ax_.get_xlabel()
    'difference of mrr, with 95 % interval'
    """

    def __init__(self, comparison: RankerComparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_predictions(
        cls, y_true: Any, rankers: dict, *, ax: Any = None, kind: str = "intervals", **kwargs: Any
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
        rankers: dict,
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
        """Draw the differences of all pairs.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        kind : {"intervals", "differences"}, default="intervals"
            The mean differences with their intervals and Holm's p values; or the difference of
            each query, sorted, one curve for each pair.
        **kwargs : dict
            For matplotlib's ``errorbar`` or ``plot``.

        Returns
        -------
        RankerComparisonDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        check_parameter("kind", kind, ["differences", "intervals"])
        ax, found = axes_for(ax), self.comparison
        names, baseline = found.names, ""
        labels = [f"{names[a]} - {names[b]}" for a, b in found.pairs]
        others = {b for _, b in found.pairs}
        if len(labels) > 1 and len(others) == 1:  # all are compared with one
            labels, baseline = [names[a] for a, _ in found.pairs], f" from {names[others.pop()]}"
        what = f"difference{baseline} of {found.measure}"
        if kind == "intervals":
            mean, (low, high) = found.difference, found.interval.T
            errors = np.maximum([mean - low, high - mean], 0.0)  # up to rounding
            place = np.arange(len(mean))
            ax.axvline(0.0, color="gray", linestyle=":")
            ax.errorbar(mean, place, xerr=errors, **{"fmt": "o", "capsize": 3, **kwargs})
            lines = [
                f"{label}\np < 0.001" if p < 0.001 else f"{label}\np = {p:.3f}"
                for label, p in zip(labels, found.p_adjusted, strict=True)
            ]
            ax.set_yticks(place, lines)
            ax.set(ylim=(len(mean) - 0.5, -0.5))
            ax.set_xlabel(f"{what}, with {100 * found.confidence_level:g} % interval")
        else:
            fraction = (np.arange(len(found.qid)) + 0.5) / len(found.qid)
            ax.axhline(0.0, color="gray", linestyle=":")
            for label, differences in zip(labels, found.differences.T, strict=True):
                ax.plot(fraction, -np.sort(-differences), **{"label": label, **kwargs})
            ax.set(xlabel="fraction of the queries", ylabel=f"{what} per query")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
