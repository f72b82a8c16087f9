"""Encoding of labels as regression targets, for documents and for fixed items."""

from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .._arrays import is_finite
from .._lists import RankingLists
from ..decoders._decoded import checked_ranks
from ..target_losses import TargetLoss
from ..target_losses._names import names_of
from ..target_losses._target_loss import reciprocal
from ._statistics import default_alpha

NOT_FINITE = (
    "targets must be finite, or NaN if an item is not judged. If the loss is right, the grades are "
    "too large: bring them to a smaller scale."
)


@dataclass(frozen=True)
class Totals:
    """Sums over lists, which add up over batches.

    Attributes
    ----------
    normalisers, counted : float
        Weighted sum of the normalisers Z > 0, and sum of their weights.
    mass : float
        Sum of the row weights.
    """

    normalisers: float
    counted: float
    mass: float

    @classmethod
    def of_rows(cls, weights):
        """Totals of rows without normalisers."""
        mass = float(weights.sum())
        return cls(mass, mass, mass)

    def __add__(self, other):
        return Totals(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def target_factor(self):
        """Mean normaliser, the common factor of all targets.

        This factor changes no order. Thanks to this factor u has the units of the measure's
        numerator, and a row of weight 2 counts as the row twice.
        """
        return self.normalisers / self.counted if self.counted > 0 else 1.0


@dataclass
class EncodedBatch:
    """Rows and their regression targets.

    Attributes
    ----------
    kind : {"documents", "items", "classes", "sets"}
    X : ndarray or CSR matrix of shape (n, p)
    targets : ndarray or, of sparse labels, CSR matrix of shape (n, d)
        For documents ``gain / normaliser``, not yet times `Totals.target_factor`.
    weights : ndarray of shape (n,)
    codes : ndarray of int or None
        The list of each row, if features and targets are centred within lists.
    totals : Totals
    loss : TargetLoss
    decoder : str or callable
    n_lists : int
        Lists with a positive weight.
    settings : dict
        Settings that all batches of a model must share, by name.
    n_items : int or None
    first_id, last_id : object or None
        Query ids of the first and the last row.
    y : ndarray
        The labels.
    lists : RankingLists or None
        The lists of the rows of X; None if each row is a list.
    means : dict
        Weighted means that become fitted attributes, by name.
    """

    kind: str
    X: Any
    targets: np.ndarray
    weights: np.ndarray
    codes: np.ndarray | None
    totals: Totals
    loss: TargetLoss
    decoder: str
    n_lists: int
    settings: dict
    n_items: int | None = None
    first_id: Any = None
    last_id: Any = None
    y: Any = None
    lists: Any = None
    means: dict = field(default_factory=dict)

    @property
    def missing(self):
        """Whether a row of positive weight has a NaN label."""
        return self.kind == "items" and not is_finite(self.y[self.weights > 0])

    def default_alpha(self, model, features, missing=None):
        """The default penalty of "ridge" or "logistic", by the `Moments` of X.

        Sums, which have no rows, pass `missing`.
        """
        kind = self.kind
        if kind != "documents" and model == "ridge":
            missing = self.missing if missing is None else missing
            kind += ", missing labels" if missing else ", ridge"
            kind = "items, sparse labels" if sparse.issparse(self.targets) else kind
        m = len(features.mean) if kind == "documents" else features.mean_square
        return default_alpha(kind, m, self.totals.mass)

    def scale(self, features):
        """The unit of each feature; for documents a standard deviation, dense or sparse."""
        is_pooled = self.kind == "documents" and features.within is None
        return features.deviation if is_pooled else features.scale

    @property
    def has_qid(self):
        """Whether the rows have query ids."""
        return self.last_id is not None

    def scaled_targets(self, fitted=None):
        """Targets times the common factor; in centred documents plus a list offset.

        A list offset changes no order. The best offset for scores `fitted` makes the list means of
        targets and scores agree; without scores it centres the targets.

        Parameters
        ----------
        fitted : ndarray of shape (n, 1) or None

        Returns
        -------
        ndarray of shape (n, d)
        """
        factor = self.totals.target_factor
        targets = self.targets if factor == 1.0 else self.targets * factor
        if self.codes is None:
            return targets
        residual = targets if fitted is None else targets - fitted
        sums = np.bincount(self.codes, weights=self.weights * residual[:, 0])
        weight = np.bincount(self.codes, weights=self.weights)
        means = np.divide(sums, weight, out=np.zeros(len(weight)), where=weight > 0)
        return targets - means[self.codes][:, np.newaxis]


def encode_documents(X, y, lists, weights, loss, decoder, centered):
    """Encode documents: one target for each row."""
    if decoder not in ("auto", "sort"):
        if isinstance(decoder, str) and decoder not in loss.decoders:
            raise ValueError(
                f"decoder={decoder!r} is no decoder of {loss!r}: documents take 'auto' or 'sort'."
            )
        raise ValueError(
            f"decoder={decoder!r} needs lists of fixed items, y of shape (n_queries, r). "
            "Documents, one row each, are sorted by their scores: leave decoder='auto'."
        )
    w = lists.group(weights)
    gains, normalisers = checked_row_targets(loss, lists.group(loss.check_labels(y)), lists, w)
    mass = lists.sum(w)
    counted = mass * (normalisers > 0)
    targets = lists.ungroup(gains * lists.spread(reciprocal(normalisers)))
    (first, last), ids = lists.ends, lists.ids
    return EncodedBatch(
        "documents",
        X,
        targets[:, np.newaxis],
        weights,
        lists.codes if centered else None,
        Totals(counted @ normalisers, counted.sum(), mass.sum()),
        loss,
        "sort",
        int(np.count_nonzero(mass)),
        {
            "the layout": "one row per document",
            "target_loss": (type(loss).__name__, loss.get_params()),
            "centered": centered,
        },
        first_id=None if ids is None else ids[first],
        last_id=None if ids is None else ids[last],
        y=y,
        lists=lists,
    )


def encode_items(X, y, weights, loss, decoder):
    """Encode lists of fixed items: d targets for each row."""
    n_items = y.shape[1]
    if y.ndim == 3 and not (loss.takes_preferences and y.shape[2] == n_items):
        raise ValueError(
            f"y of shape {y.shape}: preferences must have the shape (n_queries, r, r) and need "
            f"target_loss='pd'; the target loss is {loss!r}, which takes grades."
        )
    if callable(decoder):
        name, encode = decoder, loss.regression_targets
    else:
        name = loss.auto_decoder(n_items, y) if decoder == "auto" else decoder
        encode = _encoding_for(loss, name, n_items)
    return EncodedBatch(
        "items",
        X,
        _checked_targets(loss, encode, y, None if callable(decoder) else loss.decoders[name]),
        weights,
        None,
        Totals.of_rows(weights),
        loss,
        name,
        int(np.count_nonzero(weights)),
        {
            "the layout": f"{n_items} fixed items",
            "target_loss": (type(loss).__name__, loss.get_params()),
            "decoder": name,
        },
        n_items=n_items,
        y=y,
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


def _checked_targets(loss, encode, y, decoder):
    """Targets (n, d) of fixed items; refuses wrong shapes, NaN and infinity."""
    if sparse.issparse(y):
        return _sparse_targets(loss, y, decoder)
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
            f"{name} of {loss!r} gives {targets[row][wrong[row]][0]} for row {row} of y: "
            f"{NOT_FINITE}"
        )
    return targets


# Sparse labels ----------------------------------------------------------------------


def _sparse_targets(loss, y, decoder):
    """Targets of sparse labels, a CSR matrix; refuses losses and decoders without such a form."""
    if decoder is not None and decoder.of_scores and follows_from_entries(loss, y.shape[1]):
        return _targets_of_entries(loss, y)
    known = names_of(lambda one: follows_from_entries(one, 3), one_each=True)
    raise ValueError(
        f"{loss!r} with this decoder needs a dense y, y.toarray(). A sparse y takes decoder='sort'"
        f" and a target loss with targets that depend on its entries alone: {', '.join(known)}, "
        "with relevance_threshold > 0 and neutral >= 0."
    )


def follows_from_entries(loss, n_items):
    """Whether sorted targets depend only on the entries that are not 0, tried on one row."""
    if "sort" not in loss.decoders:
        return False
    row = np.array([[2.0, 1.0, *np.zeros(n_items - 2)]])
    of_entries = _targets_of_entries(loss, sparse.csr_matrix(row))
    return np.allclose(of_entries.toarray(), loss.score_targets(row))


def _targets_of_entries(loss, y):
    """Gains of the entries over the normaliser of their row, which is a list of its entries."""
    lengths, labels = np.diff(y.indptr), loss.check_entries(y)
    if not y.nnz:
        return y
    lists = RankingLists(lengths[lengths > 0])
    gains, normalisers = checked_row_targets(loss, labels, lists, np.ones(y.nnz))
    data = gains * lists.spread(reciprocal(normalisers))
    return sparse.csr_matrix((data, y.indices, y.indptr), y.shape)


def _encoding_for(loss, name, n_items):
    """The encoding for a decoder: `regression_targets` or `score_targets` of the loss."""
    if name not in loss.decoders:
        raise ValueError(
            f"decoder={name!r} is not a decoder of {loss!r}: use 'auto' or one of "
            f"{sorted(loss.decoders)}."
        )
    most = loss.decoders[name].max_items
    if most is not None and n_items > most:
        raise ValueError(
            f"decoder={name!r} takes at most {most} items, y has {n_items}: use one of "
            f"{sorted(set(loss.decoders) - {name})}."
        )
    return loss.score_targets if loss.decoders[name].of_scores else loss.regression_targets


def decoded_scores(loss, decoder, u, n_items):
    """Scores: u if it is sorted (its only column for documents), else r - rank."""
    if n_items is None:
        return u[:, 0]
    if decoder == "sort":
        return u
    return n_items - decoded_ranks(loss, decoder, u, n_items).astype(np.float64)


def decoded_ranks(loss, decoder, u, n_items):
    """Ranks for surrogate vectors of fixed items, by a named decoder or a function."""
    if callable(decoder):
        return checked_ranks(decoder(u, n_items), (len(u), n_items))
    return loss.decoders[decoder].decode(u, n_items)
