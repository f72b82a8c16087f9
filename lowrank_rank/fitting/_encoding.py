"""Encoding of labels as regression targets, for documents and for fixed items."""

from typing import Any, NamedTuple

import numpy as np

from .._arrays import is_finite
from .._lists import check_ranks
from ..target_losses import TargetLoss
from ..target_losses._target_loss import reciprocal

NOT_FINITE = (
    "targets must be finite, or NaN if an item is not judged. If the loss is right, the grades are "
    "too large: bring them to a smaller scale."
)


class Encoding(NamedTuple):
    """Labels as targets of a regression.

    Attributes
    ----------
    kind : {"documents", "items", "classes", "sets"}
    targets : ndarray of shape (n, d)
        For documents ``gain / normaliser``, not yet times `factor`.
    codes : ndarray of int or None
        The list of each row, if features and targets are centred within lists.
    normalisers : ndarray of shape (2,)
        Weighted sum of the normalisers Z > 0 of documents, and the sum of their
        weights. They add up over batches.
    votes : ndarray of shape (r, r) or float
        Weighted sum of the votes on each pair of items; 0 where labels are no votes.
    """

    kind: str
    targets: Any
    codes: np.ndarray | None = None
    normalisers: Any = (0.0, 0.0)
    votes: Any = 0.0

    @property
    def factor(self):
        """The common factor of all targets; see `mean_normaliser`."""
        return mean_normaliser(self.normalisers)

    def scaled_targets(self, weights, fitted=None):
        """Targets times the common factor; in centred documents plus a list offset.

        A list offset changes no order. The best offset for scores `fitted` makes the
        list means of targets and scores agree; without scores it centres the targets.
        """
        targets = self.targets if self.factor == 1.0 else self.targets * self.factor
        if self.codes is None:
            return targets
        residual = targets if fitted is None else targets - fitted
        sums = np.bincount(self.codes, weights=weights * residual[:, 0])
        weight = np.bincount(self.codes, weights=weights)
        means = np.divide(sums, weight, out=np.zeros(len(weight)), where=weight > 0)
        return targets - means[self.codes][:, np.newaxis]


def mean_normaliser(normalisers):
    """The common factor of all targets of documents, 1 without normalisers.

    This factor changes no order. Thanks to this factor u has the units of the measure's
    numerator, and a row of weight 2 counts as the row twice.
    """
    total, weight = normalisers
    return total / weight if weight > 0 else 1.0


def encode_documents(rows, loss, centered=True, decoder="auto"):
    """Encode documents: one target for each row."""
    _, y, lists, weights = rows
    if decoder not in ("auto", "sort"):
        if isinstance(decoder, str) and decoder not in loss.decoders:
            raise ValueError(f"decoder={decoder!r}: documents take 'auto' or 'sort'.")
        raise ValueError(
            f"decoder={decoder!r} needs lists of fixed items, y of shape (n_queries, r). "
            "Documents, one row each, are sorted by their scores: leave decoder='auto'."
        )
    w = lists.group(weights)
    gains, normalisers = checked_row_targets(
        loss, lists.group(loss.check_labels(y)), lists, w
    )
    counted = lists.sum(w) * (normalisers > 0)
    targets = lists.ungroup(gains * lists.repeat(reciprocal(normalisers)))[
        :, np.newaxis
    ]
    codes = lists.codes if centered else None
    return Encoding(
        "documents", targets, codes, np.array([counted @ normalisers, counted.sum()])
    )


def encode_items(y, loss, decoder, start=0):
    """Encode lists of fixed items: d targets for each row; see `items_decoder`.

    Messages number the rows from `start`.
    """
    if callable(decoder):
        return Encoding(
            "items", _checked_targets(loss, loss.regression_targets, y, None, start)
        )
    if decoder not in loss.decoders:
        raise ValueError(
            f"decoder={decoder!r} is not a decoder of {loss!r}: use 'auto' or one of "
            f"{sorted(loss.decoders)}."
        )
    entry, n_items = loss.decoders[decoder], y.shape[1]
    if entry.max_items is not None and n_items > entry.max_items:
        raise ValueError(
            f"decoder={decoder!r} takes at most {entry.max_items} items, y has {n_items}: use one "
            f"of {sorted(set(loss.decoders) - {decoder})}."
        )
    encode = loss.score_targets if entry.of_scores else loss.regression_targets
    return Encoding("items", _checked_targets(loss, encode, y, entry, start))


def n_targets(loss, decoder, n_items):
    """Number of targets of a row of fixed items."""
    entry = None if callable(decoder) else loss.decoders.get(decoder)
    if entry is not None and entry.of_scores:
        return n_items
    return loss.rank_features(np.arange(1, n_items + 1)[np.newaxis]).shape[1]


def items_decoder(decoder, loss, y):
    """The decoder of fixed items that "auto" stands for; refuses other preferences than of "pd"."""
    n_items = y.shape[1]
    if y.ndim == 3 and not (loss.takes_preferences and y.shape[2] == n_items):
        raise ValueError(
            f"y of shape {y.shape}: preferences must have the shape (n_queries, r, r) and need "
            f"target_loss='pd'; the target loss is {loss!r}, which takes grades."
        )
    is_auto = isinstance(decoder, str) and decoder == "auto"
    return loss.auto_decoder(n_items, y) if is_auto else decoder


def is_missing(rows, encoding):
    """Whether a row of fixed items or of a set, of positive weight, has a NaN label."""
    return encoding.kind in ("items", "sets") and not is_finite(
        rows.y[rows.weights > 0]
    )


def checked_row_targets(loss, y, lists, weights):
    """`row_targets` of grouped rows; refuses wrong shapes, NaN and infinity."""
    parts = loss.row_targets(y, lists, weights)
    shapes = tuple(np.shape(part) for part in parts)
    if shapes != ((lists.n_rows,), (lists.n_lists,)):
        raise ValueError(
            f"row_targets of {loss!r} gives arrays of shapes {shapes}: it must return gains "
            f"({lists.n_rows},) and normalisers ({lists.n_lists},)."
        )
    for what, part in zip(("gains", "normalisers"), parts, strict=True):
        if not np.all(np.isfinite(part)):
            raise ValueError(
                f"row_targets of {loss!r} gives {what} that are not finite: {NOT_FINITE}"
            )
    return parts


def _checked_targets(loss, encode, y, decoder, start):
    """Targets (n, d) of fixed items; refuses wrong shapes, NaN and infinity."""
    targets = encode(y)
    has_scores = type(loss).score_targets is not TargetLoss.score_targets
    shape = np.shape(targets)
    d = y.shape[1] if decoder is not None and decoder.of_scores else None
    name = "score_targets" if d and has_scores else "encode"
    if len(shape) != 2 or shape[0] != len(y) or d not in (None, shape[1]):
        raise ValueError(
            f"{name} of {loss!r} gives an array of shape {shape}: for {len(y)} lists it must be "
            f"({len(y)}, {d or 'd'})."
        )
    if is_finite(targets):
        return targets
    judged = ~np.isnan(y).any(axis=tuple(range(1, y.ndim)))
    wrong = np.isinf(targets) | (np.isnan(targets) & judged[:, np.newaxis])
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=1)))
        raise ValueError(
            f"{name} of {loss!r} gives {targets[row][wrong[row]][0]} for row {start + row} of y: "
            f"{NOT_FINITE}"
        )
    return targets


def decoded_scores(loss, decoder, u, n_items):
    """Scores: u if it is sorted (its only column for documents), else r - rank."""
    if n_items is None:
        return u[:, 0]
    if decoder == "sort":
        return u
    if callable(decoder):
        ranks = check_ranks(
            decoder(u, n_items), "What the decoder returns", (len(u), n_items)
        )
    else:
        ranks = loss.decoders[decoder].decode(u, n_items)
    return n_items - ranks.astype(np.float64)
