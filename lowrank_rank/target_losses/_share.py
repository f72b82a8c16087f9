"""Precision at a share of the relevant items: low-rank, but not positional.

The cut-off k(y) = max(1, floor(share * P + 1/2)) depends on the label, so sorting E v is not
calibrated. Linear in the indicators [rank(i) = p], the loss is decoded by an assignment.
"""

from functools import partial

import numpy as np

from ..decoders import decode_assignment
from ..metrics._positional import (
    check_k,
    is_share,
    places_of_share,
    positional_values,
    precision_form,
)
from ._base import Decoder, TargetLoss


class PrecisionAtShare(TargetLoss):
    """Precision at k for k a share of each list's relevant items; share 1 is PRBEP.

    ``alpha_ip = y_i [p <= k(y)] / k(y)``, ``beta_ip = -[rank(i) = p]``, d = r * max k. For
    lists of fixed items only: the decoder needs the whole list.

    Parameters
    ----------
    share : float, default=1.0
        In (0, 1]; k(y) = max(1, floor(share * P + 1/2)) with P relevant items.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    Examples
    --------
    >>> from lowrank_rank.target_losses import PrecisionAtShare
    >>> PrecisionAtShare(share=1.0).loss([[0, 1, 1]], [[1, 2, 3]])  # k = 2
    array([0.5])
    """

    labels = "binary"
    reaches_one = False

    def __init__(self, share=1.0, *, relevance_threshold=None):
        self.share = share
        self.relevance_threshold = relevance_threshold

    def checked_share(self):
        if not is_share(self.share):
            if self.share != 1:
                raise ValueError(
                    f"share={self.share!r} must lie in (0, 1]; for a count use PrecisionAtK(k)."
                )
            return 1.0
        return check_k(self.share, share=True)

    def _kernel(self):
        return partial(positional_values, precision_form(self.checked_share()))

    def _depth(self, n_items):
        return int(places_of_share(self.checked_share(), n_items))

    def encode(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        k = places_of_share(self.checked_share(), y.sum(axis=1))
        positions = np.arange(1, self._depth(y.shape[1]) + 1)
        open_to = (positions <= k[:, np.newaxis]) / k[:, np.newaxis]
        return (y[:, :, np.newaxis] * open_to[:, np.newaxis, :]).reshape(len(y), -1)

    def rank_features(self, ranks):
        ranks = np.asarray(ranks)
        positions = np.arange(1, self._depth(ranks.shape[1]) + 1)
        return -(ranks[:, :, np.newaxis] == positions).reshape(len(ranks), -1).astype(float)

    def offset(self, y):
        return np.ones(len(y))

    @property
    def decoders(self):
        return {"assignment": Decoder(decode_assignment, exact=True)}
