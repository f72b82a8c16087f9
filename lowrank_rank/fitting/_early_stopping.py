"""Early stopping on held-out lists: which lists are held out, and the measure on them."""

from math import ceil

import numpy as np
from sklearn.model_selection import train_test_split

from .._lists import RankingLists
from .._parameters import count, number
from ..target_losses._target_loss import mean_of_lists

#: For the table of parameters of what stops early.
PARAMETERS = {
    "early_stopping": [bool],
    "validation_fraction": [number(above=0, below=1)],
    "n_iter_no_change": [count()],
}


def hold_out(lists, weights, fraction, random_state):
    """Rows to learn from and rows of the lists that are held out, in their order.

    The draw is the one of `model_selection.query_train_test_split` among the lists of
    positive weight; the other lists are training rows.
    """
    counted = np.flatnonzero(lists.sum(lists.group(weights)) > 0)
    n_held = ceil(fraction * len(counted))
    if n_held >= len(counted):
        raise ValueError(
            f"early_stopping holds out whole lists, and validation_fraction={fraction:g} of "
            f"{len(counted)} leaves none to learn from: give at least 2 lists (qid=...)."
        )
    _, held = train_test_split(counted, test_size=n_held, random_state=random_state)
    is_held = lists.ungroup(lists.repeat(np.isin(np.arange(lists.n_lists), held)))
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def measure_on(loss, y, lists, weights):
    """``value(scores)``: the mean of the measure over lists, which weigh the mean of their rows."""
    weights = lists.sum(lists.group(weights)) / lists.lengths
    if y.ndim > 1:
        lists = RankingLists.equal(*y.shape[:2])
    y = loss.check_labels(y)
    y = y if y.ndim == 3 else y.ravel()

    def value(scores):
        values = loss._values_of_judged(y, scores.ravel(), lists, of_orders=True)
        mean = mean_of_lists(values, weights)
        if np.isnan(mean):
            raise ValueError(
                f"{loss!r} is defined on none of the {lists.n_lists} lists that early_stopping "
                "holds out: give more lists, or a larger validation_fraction."
            )
        return mean

    return value
