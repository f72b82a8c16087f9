"""Preferences between the items of a list, in decoded order."""

from typing import Any

import numpy as np

from ..decoders.feedback_arcs._decoders import pd_decoder
from ..decoders.feedback_arcs._exact import MAX_ITEMS_ORDERING
from ..decoders.feedback_arcs._graphs import net_preferences, preference_cost
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._check import refuse
from ..validation._checks_of_models import CHECKS_OF_DISPLAYS
from ..validation._kinds import arrive
from ._top import Display, axes_for


class PreferenceMatrixDisplay(Display):
    """Preferences between the items of one list, drawn in decoded order.

    The cell (i, j) shows the net preference ``u_ij - u_ji`` for the item of the row
    over the item of the column. A good order has its preferences above the diagonal.
    The cost of the order is the sum of the preferences below the diagonal; the title
    compares it with the least cost.

    Parameters
    ----------
    preferences : ndarray of shape (r, r)
        u[i, j], the weight of "i before j".
    ranks : ndarray of int, shape (r,)
        The order to draw, 1 = best.
    bound : float or None, default=None
        Lower bound on the cost of every order.
    item_names : array-like of str, shape (r,), or None, default=None
        None numbers the items.
    cost_name : str, default="cost"
        Name of the cost in the title.

    Attributes
    ----------
    cost : float
        ``sum_{i != j} u_ij [rank(i) > rank(j)]``.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage

    Examples
    --------
    >>> from lowrank_rank.plotting import PreferenceMatrixDisplay
    >>> u = [[0, 0, 2], [3, 0, 1], [0, 1, 0]]
    >>> display = PreferenceMatrixDisplay.from_preferences(u)
    >>> display.ranks, display.cost, display.bound
    (array([2, 1, 3]), 1.0, 1.0)
    """

    def __init__(
        self,
        *,
        preferences: ArrayLike,
        ranks: ArrayLike,
        bound: float | None = None,
        item_names: ArrayLike | None = None,
        cost_name: str = "cost",
    ) -> None:
        self.preferences: np.ndarray = np.asarray(preferences, dtype=np.float64)
        self.ranks: np.ndarray = np.asarray(ranks)
        self.bound = bound
        self.item_names = item_names
        self.cost_name = cost_name

    @property
    def cost(self) -> float:
        """The cost of the order."""
        costs = preference_cost(self.preferences[np.newaxis], self.ranks[np.newaxis])
        return float(costs[0])

    @classmethod
    def from_preferences(
        cls,
        preferences: ArrayLike,
        *,
        decoder: Any = "exact",
        item_names: Any = None,
        cost_name: str = "cost",
        **kwargs: Any,
    ) -> "PreferenceMatrixDisplay":
        """Decode the preferences of one list, and draw.

        Parameters
        ----------
        preferences : array-like of shape (r, r)
            Weight of item i over item j.
        decoder : str or callable, default="exact"
            A decoder of `PairwiseDAGRanker`, or a function of preferences (1, r, r)
            that returns ranks (1, r).
        item_names : array-like of str, shape (r,), or None, default=None
            Names of the items; None numbers them.
        cost_name : str, default="cost"
            Word for the cost in the title.
        **kwargs : dict
            As in `plot`: ax, cmap and colorbar.

        Returns
        -------
        PreferenceMatrixDisplay
            The display.

        Raises
        ------
        ValueError
            If the matrix is not square and finite, the decoder is unknown or names are
            missing.
        """
        arrive(preferences=preferences, item_names=item_names)
        preferences = np.asarray(preferences, dtype=np.float64)
        refuse(CHECKS_OF_DISPLAYS, preferences=preferences, item_names=item_names)
        has_bound = len(preferences) <= MAX_ITEMS_ORDERING
        decode = pd_decoder(decoder, len(preferences)).decode
        decoded = decode(preferences[np.newaxis], bound=has_bound)
        display = cls(
            preferences=preferences,
            ranks=decoded.ranks[0],
            bound=float(decoded.bounds[0]) if has_bound else None,
            item_names=item_names,
            cost_name=cost_name,
        )
        return display.plot(**kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        *,
        decoder: Any = "exact",
        item_names: Any = None,
        **kwargs: Any,
    ) -> "PreferenceMatrixDisplay":
        """Decode the net preferences that a ranker predicts for one list, and draw.

        Parameters
        ----------
        estimator : PairwiseDAGRanker
            Fitted ranker.
        X : array-like of shape (1, n_features) or (r, n_features)
            The query, for a model of fixed items; the documents of the list otherwise.
        decoder, item_names
            As in `from_preferences`; None takes ``estimator.item_names_`` where fit
            kept them.
        **kwargs : dict
            As in `plot`: ax, cmap and colorbar.

        Returns
        -------
        PreferenceMatrixDisplay
            The display. The net cost is the cost beyond the least cost of each pair.

        Raises
        ------
        TypeError
            If the estimator does not predict preferences.
        """
        arrive(estimator=estimator, X=X)
        refuse(CHECKS_OF_DISPLAYS, estimator=estimator)
        tables = estimator.predict_preferences(X)
        refuse(CHECKS_OF_DISPLAYS, tables=tables)
        weights = np.maximum(tables[0], 0.0)  # net preferences stay equal
        if item_names is None:
            item_names = getattr(estimator, "item_names_", None)
        return cls.from_preferences(
            weights,
            decoder=decoder,
            item_names=item_names,
            cost_name="net cost",
            **kwargs,
        )

    def plot(
        self, *, ax: Any = None, cmap: Any = "RdBu", colorbar: bool = True
    ) -> "PreferenceMatrixDisplay":
        """Draw the matrix in the order of the ranks.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        cmap : str or matplotlib Colormap, default="RdBu"
            A diverging one: 0 is its middle.
        colorbar : bool, default=True
            Whether to draw the bar of colours.

        Returns
        -------
        PreferenceMatrixDisplay
            Itself, with ``ax_``, ``figure_`` and ``im_``.
        """
        n_items = len(self.ranks)
        names = np.arange(n_items)
        if self.item_names is not None:
            names = np.asarray(self.item_names)
        longest = max((len(str(name)) for name in names), default=0)
        side = 4.0 + 0.2 * n_items + 0.08 * longest
        ax = axes_for(ax, figsize=(side + 1.0, side))
        order = np.argsort(self.ranks)
        net = net_preferences(self.preferences)[np.ix_(order, order)]
        largest = np.abs(net).max() or 1.0
        self.im_: Any = ax.imshow(net, cmap=cmap, vmin=-largest, vmax=largest)
        ax.set_yticks(range(n_items), names[order])
        ax.set_xticks(range(n_items), names[order], rotation=90)
        title = f"{self.cost_name} {self.cost:.4g}"
        if self.bound is not None and self.cost == self.bound:
            title += ", proved to be the least"
        elif self.bound is not None:
            title += f", at least {self.bound:.4g} for any order"
        ax.set(title=title, xlabel="over", ylabel="preference for")
        if colorbar:
            ax.figure.colorbar(self.im_, ax=ax, label="net preference")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
