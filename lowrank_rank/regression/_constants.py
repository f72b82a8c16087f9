"""The penalty where nothing is searched: 0.1, or more where there are few rows for the features.

Noise moves the coefficients of few rows far. With n rows of noise sigma^2 and p standardised
features that together explain s^2, ridge regression predicts best at alpha = (sigma^2 / s^2) p / n
(the Bayes estimate for coefficients of one variance): the constant grows in proportion to p / n, up
to p = n. Rows are counted by what they hold: equal lists once, whatever their weights.
"""

from typing import NamedTuple

import numpy as np

ALPHA = 0.1  # where there are rows enough
ALPHA_OF_MISSING = 1.0  # where each target misses in other rows, and has few, at least
#: Rows a feature that are enough: of documents, which share what is common to their list; of lists
#: of fixed items; of classes, whose labels are less noisy.
ROWS_OF_DOCUMENTS, ROWS_OF_ITEMS, ROWS_OF_CLASSES = 100, 20, 5
#: Where each item or class has weights of its own, under a convex loss: of `_FEATURES` at least and
#: no more rows than these. It falls with p / n; of items to that of 1000 rows a feature.
ALPHA_OF_LOGISTIC, ALPHA_OF_UTILITIES = 0.1, 0.5
_FEATURES, ROWS_OF_UTILITIES = 50, 1000
_MOST = 2**12  # keys that are kept: of more lists the number is an estimate, to about 2 %
_AT_FIRST = 4  # times as many of the least keys hold enough that differ, but for many equal ones


def logistic_penalty(n_features, n_rows, alpha=ALPHA_OF_LOGISTIC):
    """The penalty of logistic regression of standardised features, beside the mean loss.

    It falls with p / n, so that beside the sum over n rows it does not depend on n, and with p:
    separating classes by few features takes large coefficients. `alpha` is what it is of many
    features and few rows.
    """
    share = min(n_features / max(n_rows, 1), 1.0)
    return alpha * share * min(n_features / _FEATURES, 1.0)


class DistinctRows(NamedTuple):
    """The least keys of the lists seen, from which their number follows; it adds up.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n,)
        Sorted, all different, evenly spread; at most 4096.
    lengths : ndarray of int, shape (n,)
        Rows that differ of the lists of these keys.
    enough : int
        Rows a feature that are enough for `ALPHA`.
    """

    keys: np.ndarray
    lengths: np.ndarray
    enough: int

    @classmethod
    def of(cls, keys, counted, enough, n_rows=None):
        """Of the keys of lists that count; ``n_rows(lists)`` are those of some, by default one."""
        lists = np.flatnonzero(counted)
        keys = keys[lists]
        if len(keys) > 2 * _AT_FIRST * _MOST:
            least = np.argpartition(keys, _AT_FIRST * _MOST)[: _AT_FIRST * _MOST]
            some, first = np.unique(keys[least], return_index=True)
            if len(some) > _MOST:
                keys, lists = some[:_MOST], lists[least[first[:_MOST]]]
        keys, first = np.unique(keys, return_index=True)
        lists = lists[first[:_MOST]]
        lengths = np.ones(len(lists), dtype=np.intp) if n_rows is None else n_rows(lists)
        return cls(keys[:_MOST], lengths, enough)

    def _pruned(self):
        keys, first = np.unique(self.keys, return_index=True)
        return self._replace(keys=keys[:_MOST], lengths=self.lengths[first[:_MOST]])

    def plus(self, other):
        """Those of both."""
        return self._replace(
            keys=np.concatenate([self.keys, other.keys]),
            lengths=np.concatenate([self.lengths, other.lengths]),
        )._pruned()

    @property
    def n_rows(self):
        """Number of rows, an estimate where not all keys are kept: of n numbers spread evenly over
        2**64 the k-th least is about k / n of that."""
        n_rows = float(self.lengths.sum())
        return n_rows if len(self.keys) < _MOST else n_rows * 2.0**64 / float(self.keys[-1])

    def shortage(self, n_features):
        """How many times as many rows would be enough for so many features.

        Rows that are fewer than the features have no more directions than rows.
        """
        return self.enough * min(n_features / max(self.n_rows, 1.0), 1.0)

    def constant_penalty(self, n_features, *, missing=False):
        """The penalty of so many features; `missing` where targets miss in different rows."""
        alpha = ALPHA * max(1.0, self.shortage(n_features))
        return max(alpha, ALPHA_OF_MISSING) if missing else alpha

    def penalty_of_utilities(self, n_features):
        """The penalty where each of fixed items has weights of its own for so many features."""
        share = max(1.0, self.shortage(n_features)) / self.enough
        return ALPHA_OF_UTILITIES * share * min(n_features / _FEATURES, 1.0)
