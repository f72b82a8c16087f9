"""Labels of a batch as regression targets, for documents and for fixed items."""

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ..target_losses import TargetLoss
from ..target_losses._positional import reciprocal

#: How a list of length r counts as a whole; see `list_weights`.
LIST_WEIGHTS = {"rows": 0, "lists": -1, "pairs": 1}


@dataclass(frozen=True)
class Totals:
    """Sums over lists that add up over batches.

    Attributes
    ----------
    normalisers, counted : float
        Weighted sum of the normalisers Z, and of the weights, of the lists where Z > 0.
    mass, weighted : float
        Sum of the row weights, without and with the list weights.
    """

    normalisers: float = 1.0
    counted: float = 1.0
    mass: float = 1.0
    weighted: float = 1.0

    def __add__(self, other):
        return Totals(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def target_factor(self):
        """Mean normaliser, the factor common to all targets.

        It changes no order, keeps u in the units of the measure's numerator, and makes a
        row of weight 2 equal to the row twice.
        """
        return self.normalisers / self.counted if self.counted > 0 else 1.0

    @property
    def weight_factor(self):
        """What brings the total weight back to what it was without list weights."""
        return self.mass / self.weighted


@dataclass
class EncodedBatch:
    """Rows and their regression targets.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    targets : ndarray of shape (n, d)
        In documents ``gain / normaliser``, still without `Totals.target_factor`.
    weights : ndarray of shape (n,)
        Row weights times list weights, still without `Totals.weight_factor`.
    codes : ndarray of int or None
        The list of each row, within which features and targets are to be centred.
    totals : Totals
    loss : TargetLoss
    decoder : str
    n_lists : int
        Lists with a positive weight.
    list_weights : str
    n_items : int or None
    first_id, last_id : object or None
        Query ids of the first and the last row.
    """

    X: Any
    targets: np.ndarray
    weights: np.ndarray
    codes: np.ndarray | None
    totals: Totals
    loss: TargetLoss
    decoder: str
    n_lists: int
    list_weights: str = "rows"
    n_items: int | None = None
    first_id: Any = None
    last_id: Any = None

    def settings(self):
        """What all batches of one model must have in common, by name."""
        items = self.n_items
        return {
            "the layout": "one row per document" if items is None else f"{items} fixed items",
            "target_loss": (type(self.loss).__name__, self.loss.get_params()),
            "decoder": self.decoder,
            "centered": self.codes is not None,
            "list_weights": self.list_weights,
        }

    def scaled_targets(self, fitted=None):
        """Targets times the common factor and, in centred documents, with a free list offset.

        An offset common to a list changes no order. The best one for scores `fitted` makes
        the list means of targets and scores agree; before any fit it centres the targets.

        Parameters
        ----------
        fitted : ndarray of shape (n, 1) or None

        Returns
        -------
        ndarray of shape (n, d)
        """
        targets = self.targets * self.totals.target_factor
        if self.codes is None:
            return targets
        residual = targets if fitted is None else targets - fitted
        sums = np.bincount(self.codes, weights=self.weights * residual[:, 0])
        weight = np.bincount(self.codes, weights=self.weights)
        means = np.divide(sums, weight, out=np.zeros(len(weight)), where=weight > 0)
        return targets - means[self.codes][:, np.newaxis]


def encode_documents(X, y, lists, weights, loss, decoder, list_weights, centered):
    """Targets of documents (spec of row weights and centring), one coordinate a row."""
    if decoder not in ("auto", "sort"):
        raise ValueError(
            f"decoder={decoder!r} needs lists of fixed items, y of shape (n_queries, r). "
            "Documents, one row each, are sorted by their scores: leave decoder='auto'."
        )
    w = lists.group(weights)
    gains, normalisers = loss.row_targets(lists.group(loss.check_labels(y)), lists, w)
    mass = lists.sum(w)
    counted = mass * (normalisers > 0)
    targets = lists.ungroup(gains * lists.spread(reciprocal(normalisers)))
    factor = lists.lengths.astype(float) ** LIST_WEIGHTS[list_weights]
    row_list = lists.ungroup(lists.index)
    ids = lists.ids
    return EncodedBatch(
        X,
        targets[:, np.newaxis],
        weights * factor[row_list],
        row_list if centered else None,
        Totals(counted @ normalisers, counted.sum(), mass.sum(), factor @ mass),
        loss,
        "sort",
        int(np.count_nonzero(mass)),
        list_weights,
        first_id=None if ids is None else ids[row_list[0]],
        last_id=None if ids is None else ids[row_list[-1]],
    )


def encode_items(X, y, weights, loss, decoder):
    """Targets of lists of fixed items, d coordinates a row."""
    n_items = y.shape[1]
    if y.ndim == 3 and not (loss.takes_preferences and y.shape[2] == n_items):
        raise ValueError(
            f"y of shape {y.shape}: preferences (n_queries, r, r), two equal numbers of items, "
            f"go with target_loss='pd' alone; the target loss is {loss!r}, which takes grades."
        )
    name = loss.auto_decoder(n_items, y) if decoder == "auto" else decoder
    if name not in loss.decoders:
        raise ValueError(
            f"decoder={decoder!r} is not one of {loss!r}: take 'auto' or one of "
            f"{sorted(loss.decoders)}."
        )
    most = loss.decoders[name].most_items
    if most is not None and n_items > most:
        raise ValueError(
            f"decoder={name!r} takes at most {most} items, y has {n_items}: take one of "
            f"{sorted(set(loss.decoders) - {name})}."
        )
    encode = loss.score_targets if loss.decoders[name].of_scores else loss.encode
    return EncodedBatch(
        X,
        encode(y),
        weights,
        None,
        Totals(),
        loss,
        name,
        int(np.count_nonzero(weights)),
        n_items=n_items,
    )
