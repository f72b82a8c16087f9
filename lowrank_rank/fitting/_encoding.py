"""Encoding of labels as regression targets, for documents and for fixed items."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..target_losses import TargetLoss
from ..target_losses._target_loss import reciprocal
from ..validation._arrays import is_finite, shown
from ..validation._ids import check_ranks

NOT_FINITE = (
    "targets must be finite, or NaN if an item is not judged. If the loss is right, "
    "the grades are too large: bring them to a smaller scale."
)


@dataclass
class Encoding:
    """Labels as targets of a regression.

    Attributes
    ----------
    kind : {"documents", "items", "classes", "sets"}
        What a row is, or what its label is.
    targets : ndarray of shape (n, d)
        For documents ``gain / normaliser``, not yet times `mean_normaliser`.
    codes : ndarray of int or None
        The list of each row, if features and targets are centred within lists.
    normaliser_sums : ndarray of shape (2,)
        Weighted sum of the normalisers Z > 0 of documents, and the sum of their
        weights. They add up over blocks.
    votes : ndarray of shape (r, r) or float
        Weighted sum of the votes on each pair of items; 0 where labels are not votes.
    """

    kind: str
    targets: Any
    codes: np.ndarray | None = None
    normaliser_sums: Any = (0.0, 0.0)
    votes: Any = 0.0

    @cached_property
    def is_complete(self):
        """Whether no target is missing."""
        return is_finite(self.targets)

    @property
    def mean_normaliser(self):
        """The common factor of all targets."""
        return mean_normaliser(self.normaliser_sums)

    def scaled_targets(self, weights, scores=None):
        """Targets times the common factor; in centred documents plus a list offset.

        A list offset does not change the order. The best offset for these scores of the
        rows makes the list means of targets and scores agree; without scores it centres
        the targets.
        """
        targets = self.targets
        if self.mean_normaliser != 1.0:
            targets = targets * self.mean_normaliser
        if self.codes is None:
            return targets
        residual = targets if scores is None else targets - scores
        sums = np.bincount(self.codes, weights=weights * residual[:, 0])
        totals = np.bincount(self.codes, weights=weights)
        offsets = np.divide(sums, totals, out=np.zeros(len(totals)), where=totals > 0)
        centred = targets - offsets[self.codes][:, np.newaxis]
        # Equal targets of a list have the mean 0, and not the rounding of their sum.
        is_rounding = np.abs(centred) <= 1e-14 * np.abs(targets)
        return np.where(is_rounding, 0.0, centred)


def mean_normaliser(normaliser_sums):
    """Divide the two sums: the common factor of all targets, 1 without normalisers.

    This factor does not change the order. It gives u the units of the measure's
    numerator, and a row of weight 2 counts as the row twice.
    """
    total, weight = normaliser_sums
    return total / weight if weight > 0 else 1.0


def encode_documents(rows, loss, centered=True, decoder="auto"):
    """Encode documents: one target for each row."""
    if decoder not in ("auto", "sort"):
        if isinstance(decoder, str) and decoder not in loss.decoders:
            raise ValueError(
                f"decoder={shown(decoder)}: documents take 'auto' or 'sort'."
            )
        raise ValueError(
            f"decoder={shown(decoder)} needs lists of fixed items, y of shape "
            "(n_queries, r). Documents, one row each, are sorted by their scores: "
            "leave decoder='auto'."
        )
    lists = rows.lists
    weights = lists.group(rows.weights)
    labels = lists.group(loss.check_labels(rows.y))
    gains, normalisers = checked_row_targets(loss, labels, lists, weights)
    # Target of row i in list q: gain_i / Z_q, and 0 where Z_q is 0.
    targets = lists.ungroup(gains * lists.repeat(reciprocal(normalisers)))
    list_weights = lists.sum(weights) * (normalisers > 0)
    return Encoding(
        kind="documents",
        targets=targets[:, np.newaxis],
        codes=lists.codes if centered else None,
        normaliser_sums=np.array([list_weights @ normalisers, list_weights.sum()]),
    )


def encode_items(y, loss, decoder, first_row=0, part=None):
    """Encode lists of fixed items: d targets for each row; see `items_decoder`.

    Messages number the rows from `first_row`. `part` is a slice of the targets, not of
    scores; None is all of them.
    """
    encode = loss.regression_targets
    if part is not None:
        encode = partial(loss._encode_part, part=part)
    if callable(decoder):
        return _checked_encoding(loss, encode, y, None, first_row)
    if decoder not in loss.decoders:
        raise ValueError(
            f"decoder={shown(decoder)} is not a decoder of {loss!r}: use 'auto' or one "
            f"of {sorted(loss.decoders)}."
        )
    entry = loss.decoders[decoder]
    n_items = y.shape[1]
    if entry.max_items is not None and n_items > entry.max_items:
        raise ValueError(
            f"decoder={shown(decoder)} takes at most {entry.max_items} items, y has "
            f"{n_items}: use one of {sorted(set(loss.decoders) - {decoder})}."
        )
    if entry.of_scores:
        encode = loss.score_targets
    return _checked_encoding(loss, encode, y, entry, first_row)


def n_targets(loss, decoder, n_items):
    """Return the number of targets of a row of fixed items."""
    entry = None if callable(decoder) else loss.decoders.get(decoder)
    if entry is not None and entry.of_scores:
        return n_items
    one_order = np.arange(1, n_items + 1)[np.newaxis]
    return loss.rank_features(one_order).shape[1]


def items_decoder(decoder, loss, y):
    """Resolve "auto" for fixed items; refuse preferences for a loss of grades."""
    n_items = y.shape[1]
    if y.ndim == 3 and not loss.takes_preferences:
        raise ValueError(
            f"y of shape {y.shape}: preferences need target_loss='pd'; the target loss "
            f"is {loss!r}, which takes grades."
        )
    if y.ndim == 3 and y.shape[2] != n_items:
        raise ValueError(
            f"y of shape {y.shape}: preferences must have the shape (n_queries, r, r)."
        )
    if isinstance(decoder, str) and decoder == "auto":
        return loss.auto_decoder(n_items, y)
    return decoder


def is_missing(rows, encoding):
    """Whether a row of fixed items or of a set, of positive weight, has a NaN label."""
    if encoding.kind not in ("items", "sets"):
        return False
    return not is_finite(rows.y[rows.weights > 0])


def checked_row_targets(loss, y, lists, weights):
    """`row_targets` of grouped rows; refuses wrong shapes, NaN and infinity."""
    arrays = loss.row_targets(y, lists, weights)
    shapes = tuple(np.shape(array) for array in arrays)
    if shapes != ((lists.n_rows,), (lists.n_lists,)):
        raise ValueError(
            f"row_targets of {loss!r} gives arrays of shapes {shapes}: it must return "
            f"gains ({lists.n_rows},) and normalisers ({lists.n_lists},)."
        )
    gains, normalisers = arrays
    for name, values in {"gains": gains, "normalisers": normalisers}.items():
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"row_targets of {loss!r} gives {name} that are not finite: "
                f"{NOT_FINITE}"
            )
    return gains, normalisers


def _checked_encoding(loss, encode, y, decoder, first_row):
    """Encode fixed items; refuses targets of wrong shapes, NaN and infinity."""
    targets = encode(y)
    is_of_scores = decoder is not None and decoder.of_scores
    d = y.shape[1] if is_of_scores else None
    has_score_targets = type(loss).score_targets is not TargetLoss.score_targets
    name = "score_targets" if is_of_scores and has_score_targets else "encode"
    shape = np.shape(targets)
    if len(shape) != 2 or shape[0] != len(y) or d not in (None, shape[1]):
        remedy = ", a row for each list."
        if len(shape) == 2 and shape[0] == len(y):
            remedy = (
                ", one for each item to sort by. With other targets define decoders, "
                "{'mine': lowrank_rank.target_losses.Decoder(decode, exact=False)}."
            )
        raise ValueError(
            f"{name} of {loss!r} gives an array of shape {shape}: for {len(y)} lists "
            f"it must be ({len(y)}, {d or 'd'}){remedy}"
        )
    encoding = Encoding("items", targets)
    if encoding.is_complete:
        return encoding
    # A list without a missing label has no missing target.
    is_judged = ~np.isnan(y).any(axis=tuple(range(1, y.ndim)))
    is_wrong = np.isinf(targets) | (np.isnan(targets) & is_judged[:, np.newaxis])
    if is_wrong.any():
        row = int(np.argmax(is_wrong.any(axis=1)))
        first_wrong = targets[row][is_wrong[row]][0]
        raise ValueError(
            f"{name} of {loss!r} gives {first_wrong} for row {first_row + row} of y: "
            f"{NOT_FINITE}"
        )
    return encoding


def decoded_scores(loss, decoder, u, n_items):
    """Decode surrogate vectors to scores: u if it is sorted, else r - rank.

    Documents, of `n_items` None, are sorted by their only column.
    """
    if n_items is None:
        return u[:, 0]
    if decoder == "sort":
        return u
    if callable(decoder):
        shape = len(u), n_items
        ranks = check_ranks(decoder(u, n_items), "What the decoder returns", shape)
    else:
        ranks = loss.decoders[decoder].decode(u, n_items)
    return n_items - ranks.astype(np.float64)
