"""Curves over the number k of inspected items: precision at k, cumulative gains."""

from typing import Any

import numpy as np

from ..lists._ranks import block_lengths, sort_lists, tie_blocks
from ..metrics._scorer import make_ranking_scorer
from ..target_losses import DCG, PrecisionAtK
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._check import refuse
from ..validation._checks_of_models import CHECKS_OF_CURVES
from ..validation._kinds import arrive
from ..validation._labels import read_scored
from ..validation._parameters import checked, count


class Display:
    """Base of the displays: axes of matplotlib and their figure."""

    ax_: Any
    figure_: Any


def axes_for(ax, **figure):
    """Return the axes given, or axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # an optional dependency

    _, ax = plt.subplots(layout="constrained", **figure)
    return ax


def mean_gains(gains, scores, lists, max_k):
    """Compute mean gains among the first 1, ..., max_k items, (max_k,).

    These are means over the lists, and over the orders of ties.
    """
    order = sort_lists(scores, lists)
    gains = gains[order]
    ties = tie_blocks(scores[order], lists)
    if ties is not None:
        lengths = block_lengths(ties, len(gains))
        gains = np.repeat(np.add.reduceat(gains, ties) / lengths, lengths)
    place = lists.positions - 1
    gains_of_place = np.bincount(place, weights=gains, minlength=max_k)
    return np.cumsum(gains_of_place[:max_k]) / lists.n_lists


class PrecisionAtKDisplay(Display):
    """Precision at k, or the gains of the first k, as a curve over k.

    The curve is a mean over lists, with ties in expectation. A second curve shows a
    random order. Pass ``ax=`` to draw several models.

    Parameters
    ----------
    k : ndarray of int, shape (n,)
        Numbers of items.
    values : ndarray of shape (n,)
        Mean over lists of the precision, or of the sum of the grades, of the first k.
    chance : ndarray of shape (n,)
        Values of a random order.
    best : ndarray of shape (n,) or None, default=None
        Gains of the best order; None draws no such curve.
    kind : {"precision", "gains"}, default="precision"
        What the values are.
    normalize : bool, default=False
        Whether gains are fractions of the total gain of a list.
    budget : int or None, default=None
        A number of items to mark.
    name : str or None, default=None
        Name of the model.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    lowrank_rank.metrics.measure_score : One point of the curve.

    Examples
    --------
    >>> from lowrank_rank.plotting import PrecisionAtKDisplay
    >>> y, scores = [1, 0, 1, 0], [4, 3, 2, 1]
    >>> display = PrecisionAtKDisplay.from_predictions(y, scores, name="model")
    >>> display.values.round(2), display.chance
    (array([1.  , 0.5 , 0.67, 0.5 ]), array([0.5, 0.5, 0.5, 0.5]))

    Grades can be amounts of money:

    >>> y, scores = [100, 0, 300], [3, 2, 1]
    >>> amounts = PrecisionAtKDisplay.from_predictions(y, scores, kind="gains")
    >>> amounts.values, amounts.best
    (array([100., 100., 400.]), array([300., 400., 400.]))
    """

    def __init__(
        self,
        *,
        k: np.ndarray,
        values: np.ndarray,
        chance: np.ndarray,
        best: np.ndarray | None = None,
        kind: str = "precision",
        normalize: bool = False,
        budget: int | None = None,
        name: str | None = None,
    ) -> None:
        self.k = k
        self.values = values
        self.chance = chance
        self.best = best
        self.kind = kind
        self.normalize = normalize
        self.budget = budget
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        one_list: bool = False,
        pos_label: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> "PrecisionAtKDisplay":
        """Draw the curve of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A ranker, classifier, pipeline or search, as in `make_ranking_scorer`.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        y : array-like
            Labels.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each row.
        one_list : bool, default=False
            Say that all rows are one list, as in `make_ranking_scorer`.
        pos_label : object, default=None
            The relevant class of a binary classifier.
        name : str or None, default=None
            Label; None is the name of the class.
        **kwargs : dict
            As in `from_predictions`.

        Returns
        -------
        PrecisionAtKDisplay
            The display.
        """
        arrive(estimator=estimator, X=X, y=y, qid=qid)
        scorer = make_ranking_scorer(DCG(), one_list=one_list, pos_label=pos_label)
        y, scores, qid = scorer.labels_and_scores(estimator, X, y, qid)
        if name is None:
            name = type(estimator).__name__
        return cls.from_predictions(y, scores, qid=qid, name=name, **kwargs)

    @classmethod
    @checked(kind=["precision", "gains"], normalize=[bool], max_k=[count(), None])
    def from_predictions(
        cls,
        y_true: Any,
        y_score: ArrayLike,
        *,
        kind: str = "precision",
        qid: ArrayLike | None = None,
        max_k: int | None = None,
        relevance_threshold: float | None = None,
        normalize: bool = False,
        budget: int | None = None,
        name: str | None = None,
        ax: Any = None,
        plot_chance_level: bool = True,
        chance_level_kw: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "PrecisionAtKDisplay":
        """Draw the curve of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,) or (n_lists, r)
            Grades >= 0; a `ranking_target` carries its qid.
        y_score : array-like of the same shape
            Scores, higher is better.
        kind : {"precision", "gains"}, default="precision"
            Fraction of relevant items among the first k, or the sum of their grades: 1
            for a relevant item, or an amount of money.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each row; None is one list.
        max_k : int or None, default=None
            Last point of the curve; None is the length of the longest list.
        relevance_threshold : float or None, default=None
            Grades of at least this are relevant; None means grades > 0. For precision
            only.
        normalize : bool, default=False
            Whether to divide gains by the total gain of each list. Lists without gain
            are skipped.
        budget : int or None, default=None
            A number of items to mark by a line.
        name : str or None, default=None
            Label of the curve.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        plot_chance_level : bool, default=True
            Whether to draw a random order, and the best order of gains.
        chance_level_kw : dict or None, default=None
            Style of the random order, for matplotlib's ``plot``.
        **kwargs : dict
            Style of the curve, for matplotlib's ``plot``.

        Returns
        -------
        PrecisionAtKDisplay
            The display.

        Raises
        ------
        ValueError
            If `kind` is unknown or does not take a parameter, or if no list has a gain
            to divide by.
        """
        arrive(y_true=y_true, y_score=y_score, qid=qid)
        is_precision = kind == "precision"
        measure = DCG()
        if is_precision:
            measure = PrecisionAtK(1, relevance_threshold=relevance_threshold)
        y, scores, lists, _ = read_scored(
            y_true, y_score, qid, check=measure.check_labels
        )
        n_points = int(lists.lengths.max())
        if max_k is not None:
            n_points = min(int(max_k), n_points)
        k = np.arange(1, n_points + 1)
        gains = lists.group(np.nan_to_num(y))  # items without a label gain nothing
        scores = lists.group(scores)
        factor = 1.0 / k if is_precision else 1.0
        total = lists.sum(gains)
        refuse(
            CHECKS_OF_CURVES,
            kind=kind,
            relevance_threshold=relevance_threshold,
            normalize=normalize,
            total=total,
        )
        if normalize:
            gains = gains / lists.repeat(np.where(total > 0, total, 1.0))
            # Means over the lists with a gain.
            factor = lists.n_lists / np.count_nonzero(total)
        no_order = np.zeros_like(scores)
        best = None
        if not is_precision:
            best = factor * mean_gains(gains, gains, lists, n_points)
        display = cls(
            k=k,
            values=factor * mean_gains(gains, scores, lists, n_points),
            chance=factor * mean_gains(gains, no_order, lists, n_points),
            best=best,
            kind=kind,
            normalize=normalize,
            budget=budget,
            name=name,
        )
        return display.plot(
            ax=ax,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            **kwargs,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "PrecisionAtKDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax, name, plot_chance_level, chance_level_kw, **kwargs
            As in `from_predictions`.

        Returns
        -------
        PrecisionAtKDisplay
            The display.
        """
        ax = axes_for(ax)
        if name is None:
            name = self.name
        drawn = {line.get_label() for line in ax.lines}
        self.line_: Any = ax.plot(self.k, self.values, **{"label": name, **kwargs})[0]
        if plot_chance_level and "chance" not in drawn:
            style = {"label": "chance", "color": "gray", "linestyle": ":"}
            ax.plot(self.k, self.chance, **{**style, **(chance_level_kw or {})})
        if plot_chance_level and self.best is not None and "best order" not in drawn:
            ax.plot(self.k, self.best, color="gray", linestyle="-.", label="best order")
        label = f"budget, k = {self.budget}"
        if self.budget is not None and label not in drawn:
            ax.axvline(self.budget, color="black", linestyle="--", lw=1, label=label)
        if ax.get_legend_handles_labels()[0]:
            ax.legend()
        ax.set_xlabel("k, items looked at")
        if self.kind == "precision":
            ax.set(ylabel="precision at k", ylim=(0, 1.02))
        else:
            what = "fraction of the gains" if self.normalize else "gains"
            ax.set(ylabel=f"{what} among the first k", ylim=(0, None))
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
