"""What displays share: an axis to draw on, scores to draw, lines that are drawn once."""

from ..metrics import RankingScorer
from ..target_losses import DCG


def axes_for(ax):
    """The given axis, or that of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # an optional dependency

    return plt.subplots(layout="constrained")[1]


def draw_once(ax, draw, label, *args, **kwargs):
    """Call ``draw(*args, label=label, ...)`` unless the axis has a line of that label."""
    if label not in [line.get_label() for line in ax.lines]:
        draw(*args, label=label, **kwargs)


def scores_of(estimator, X, y, qid, pos_label):
    """Labels, scores and ids as scorers take them; without ids the rows are one list."""
    scorer = RankingScorer(DCG(), one_list=True, pos_label=pos_label)
    return scorer.labels_and_scores(estimator, X, y, qid)


def name_of(estimator, name):
    """The name in a legend: the given one, or that of the class."""
    return type(estimator).__name__ if name is None else name
