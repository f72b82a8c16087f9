"""Early stopping: which lists are held out, and the measure on these lists."""

from math import ceil

import numpy as np
from sklearn.model_selection import train_test_split

from ..lists._lists import RankingLists
from ..target_losses._target_loss import mean_of_lists, values_of_judged
from ..validation._parameters import count, number

#: For the table of parameters of what stops early.
PARAMETERS = {
    "early_stopping": [bool],
    "validation_fraction": [number(above=0, below=1)],
    "n_iter_no_change": [count()],
}


def hold_out(lists, weights, fraction, random_state):
    """Split the rows: training rows and rows of held-out lists, each in their order.

    The draw is the one of `model_selection.query_train_test_split` among the lists of
    positive weight; the other lists are training rows.
    """
    counted = np.flatnonzero(lists.sum(lists.group(weights)) > 0)
    n_held_out = ceil(fraction * len(counted))
    if n_held_out >= len(counted):
        raise ValueError(
            "early_stopping holds out whole lists, and validation_fraction="
            f"{fraction:g} of {len(counted)} leaves none to learn from: give at least "
            "2 lists (qid=...)."
        )
    _, held_out = train_test_split(
        counted, test_size=n_held_out, random_state=random_state
    )
    is_held_out_list = np.isin(np.arange(lists.n_lists), held_out)
    is_held_out = lists.ungroup(lists.repeat(is_held_out_list))
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def measure_on(loss, y, lists, weights):
    """Return ``value(scores)``, the mean of the measure over the lists.

    A list weighs the mean of its rows.
    """
    list_weights = lists.sum(lists.group(weights)) / lists.lengths
    if y.ndim > 1:
        lists = RankingLists.equal(*y.shape[:2])
    labels = loss.check_labels(y)
    if labels.ndim != 3:
        labels = labels.ravel()

    def value(scores):
        values = values_of_judged(loss, labels, scores.ravel(), lists, of_orders=True)
        mean = mean_of_lists(values, list_weights)
        if np.isnan(mean):
            raise ValueError(
                f"{loss!r} is defined on none of the {lists.n_lists} lists that "
                "early_stopping holds out: give more lists, or a larger "
                "validation_fraction."
            )
        return mean

    return value
