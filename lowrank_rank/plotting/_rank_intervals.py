"""Ranks of a consensus, with intervals."""

from typing import Any

import numpy as np

from ..validation._arrays import ArrayLike
from ..validation._kinds import arrive
from ..votes._consensus import ConsensusRanking
from ..votes._duels import BradleyTerry
from ._top import Display, axes_for


class RankIntervalDisplay(Display):
    """Ranks of items with intervals, best on top.

    Parameters
    ----------
    ranks : array-like of int, shape (r,)
        1 = best.
    low, high : array-like of int, shape (r,)
        Ends of the intervals.
    item_names : array-like of str, shape (r,), or None, default=None
        None numbers the items.
    title : str, default=""
        Title of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : matplotlib LineCollection
        The intervals.

    Examples
    --------
    >>> from lowrank_rank.votes import consensus_ranking
    >>> from lowrank_rank.plotting import RankIntervalDisplay
    >>> consensus = consensus_ranking([["a", "b", "c"]] * 30 + [["a", "c", "b"]] * 29)
    >>> display = RankIntervalDisplay.from_consensus(consensus, random_state=0)
    >>> display.low, display.high
    (array([1, 2, 2]), array([1, 3, 3]))
    """

    lines_: Any

    def __init__(
        self,
        *,
        ranks: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        item_names: ArrayLike | None = None,
        title: str = "",
    ) -> None:
        self.ranks = np.asarray(ranks)
        self.low = np.asarray(low)
        self.high = np.asarray(high)
        self.item_names = item_names
        self.title = title

    @classmethod
    def from_consensus(
        cls,
        consensus: ConsensusRanking | BradleyTerry,
        *,
        n_resamples: int = 1000,
        confidence_level: float = 0.95,
        random_state: Any = None,
        ax: Any = None,
    ) -> "RankIntervalDisplay":
        """Draw the ranks of a consensus or a leaderboard with their intervals.

        Parameters
        ----------
        consensus : ConsensusRanking or BradleyTerry
            Result of `consensus_ranking` or `bradley_terry`.
        n_resamples, confidence_level, random_state
            As in the method `rank_intervals` of the result.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.

        Returns
        -------
        RankIntervalDisplay
            The display.
        """
        arrive(consensus=consensus)
        intervals = consensus.rank_intervals(
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            random_state=random_state,
        )
        name = getattr(consensus, "method", "Bradley-Terry")
        title = f"{name}, {100 * confidence_level:g}% intervals"
        display = cls(
            ranks=consensus.ranks,
            low=intervals.low,
            high=intervals.high,
            item_names=consensus.items,
            title=title,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "RankIntervalDisplay":
        """Draw one line for each item.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.

        Returns
        -------
        RankIntervalDisplay
            Itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        ax = axes_for(ax, figsize=(6.0, 1.0 + 0.25 * len(self.ranks)))
        order = np.argsort(self.ranks)
        rows = np.arange(len(order))
        names = rows
        if self.item_names is not None:
            names = np.asarray(self.item_names)
        self.lines_ = ax.hlines(
            rows, self.low[order], self.high[order], linewidth=3, alpha=0.5
        )
        ax.plot(self.ranks[order], rows, "o")
        ax.set_yticks(rows, [str(name) for name in names[order]])
        ax.invert_yaxis()
        ax.set(xlabel="rank", title=self.title)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
