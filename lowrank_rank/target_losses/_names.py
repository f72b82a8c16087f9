"""The names of target losses and measures: one table and the grammar ``name[@k]``."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

from ._average_precision import MeanAveragePrecision
from ._base import RankingMeasure, TargetLoss
from ._cascade import ExpectedReciprocalRank, ReciprocalRank
from ._pairwise import KendallTau, PairwiseDisagreement
from ._positional import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    SpearmanRho,
    check_k,
    check_share,
)


class Name(NamedTuple):
    """A name of a measure.

    Attributes
    ----------
    base : str
        The name up to "@".
    measure : type
        Class that the name makes; it declares by `at` what follows "@".
    fixed : dict
        Parameters that the name sets; none of them follows "@".
    """

    base: str
    measure: type[RankingMeasure]
    fixed: dict[str, Any] = {}  # noqa: RUF012

    @property
    def at(self):
        """Pattern after "@"; nothing if the name itself sets that parameter."""
        at = self.measure.at
        return "" if at and AT[at][0] in self.fixed else at

    @property
    def pattern(self):
        """How documentation writes it: "precision@k", "ndcg[@k]"."""
        at = self.at
        return f"{self.base}[@{at[1:]}" if at.startswith("[") else f"{self.base}{at and '@'}{at}"

    @property
    def examples(self):
        """Names that fit the pattern: "ndcg[@k]" gives "ndcg" and "ndcg@10"."""
        if not self.at:
            return [self.base]
        with_cut = f"{self.base}@{AT[self.at][1]}"
        return [self.base, with_cut] if self.at.startswith("[") else [with_cut]

    def takes(self, at, cut):
        """Whether "@" and this after it may follow the base."""
        if not at:
            return not self.at or self.at.startswith("[")
        return self.at != "" and (self.at == "p%") == cut.endswith("%")

    def make(self, cut=""):
        """The object of a name with this after its "@"."""
        return self.measure(**self.parameters(cut))

    def parameters(self, cut=""):
        """The parameters that a name with this after its "@" states."""
        if not cut:
            return dict(self.fixed)
        parameter, _, read = AT[self.at]
        return self.fixed | {parameter: read(cut)}


def _read_count(cut):
    try:
        k = int(cut)
    except ValueError:
        raise ValueError("What follows @ is a count such as 10.") from None
    return check_k(k)


def _read_percentage(cut):
    try:
        share = float(cut.rstrip("%")) / 100.0
    except ValueError:
        raise ValueError("What follows @ is a count such as 10 or a share such as 25%.") from None
    return check_share(share)


#: Pattern after "@", as classes declare it -> parameter, example, reader.
AT = {
    "k": ("k", "10", _read_count),
    "[k]": ("k", "10", _read_count),
    "p%": ("share", "25%", _read_percentage),
}

_TABLE = [
    Name("precision", PrecisionAtK),
    Name("precision", PrecisionAtShare),
    Name("wta", PrecisionAtK, {"k": 1}),
    Name("prbep", PrecisionAtShare, {"share": 1.0}),
    Name("recall", RecallAtK),
    Name("dcg", DCG),
    Name("dcg_exp", DCG, {"gain": "exponential"}),
    Name("ndcg", NDCG),
    Name("ndcg_exp", NDCG, {"gain": "exponential"}),
    Name("auc", AUC),
    Name("spearman", SpearmanRho),
    Name("eru", ExpectedRankUtility),
    Name("map", MeanAveragePrecision),
    Name("pd", PairwiseDisagreement),
    Name("kendall", KendallTau),
    Name("mrr", ReciprocalRank),
    Name("err", ExpectedReciprocalRank),
]

_MEASURES = {name.pattern: name for name in _TABLE}
#: Target losses by pattern; "precision@k" and "precision@p%" are two.
TARGET_LOSSES = {p: name for p, name in _MEASURES.items() if issubclass(name.measure, TargetLoss)}
#: Measures that are no target losses, by pattern.
SCORE_ONLY = {p: name for p, name in _MEASURES.items() if p not in TARGET_LOSSES}


def names_of(holds: Callable[..., Any] | None = None, *, one_each: bool = False) -> list[str]:
    """Example names of the target losses for which `holds` is true, for messages and tests.

    Parameters
    ----------
    holds : callable or None
        ``holds(loss) -> bool`` on an object, e.g. ``lambda loss: loss.is_positional``; None
        takes all.
    one_each : bool, default=False
        Whether one name for each class is enough, as in messages.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from lowrank_rank.target_losses import names_of
    >>> names_of(lambda loss: loss.takes_preferences)
    ['pd']
    """
    found = [
        (entry.measure, name)
        for entry in TARGET_LOSSES.values()
        for name in entry.examples
        if holds is None or holds(resolve_measure(name))
    ]
    return list(dict(reversed(found)).values())[::-1] if one_each else [name for _, name in found]


def resolve_target_loss(target_loss: str | TargetLoss) -> TargetLoss:
    """The target loss that a name or an object stands for.

    Parameters
    ----------
    target_loss : str or TargetLoss
        A name such as "ndcg@10", "precision@5", "precision@25%", "map", or an object.

    Returns
    -------
    TargetLoss

    Raises
    ------
    ValueError
        If the name is unknown (with the closest and all known names), the cut-off is out of
        range, or the measure has no low-rank form.
    TypeError
        If it is neither a name nor a `TargetLoss`.

    Examples
    --------
    >>> from lowrank_rank.target_losses import resolve_target_loss
    >>> resolve_target_loss("precision@5")
    PrecisionAtK(k=5)
    >>> resolve_target_loss("precision@25%")
    PrecisionAtShare(share=0.25)
    """
    loss = _resolve(target_loss, TARGET_LOSSES)
    if not isinstance(loss, TargetLoss):
        raise ValueError(
            f"{loss!r} is a measure without a low-rank form: use it in make_ranking_scorer, and "
            f"aim at one of {', '.join(sorted(TARGET_LOSSES))}."
        )
    return loss


def resolve_measure(measure: str | RankingMeasure) -> RankingMeasure:
    """Like `resolve_target_loss`, and also the measures for scorers only ("mrr", "err").

    Parameters
    ----------
    measure : str or RankingMeasure

    Returns
    -------
    RankingMeasure

    Raises
    ------
    ValueError
        If the name is unknown or the cut-off is out of range.
    TypeError
        If it is neither a name nor a `RankingMeasure`.

    Examples
    --------
    >>> from lowrank_rank.target_losses import resolve_measure
    >>> resolve_measure("err@10")
    ExpectedReciprocalRank(k=10)
    """
    return _resolve(measure, _MEASURES)


def stated_parameters(name):
    """The parameters that a name states: k of "ndcg@10", share of "prbep"."""
    entry, cut = _parse(name, _MEASURES)
    return entry.parameters(cut)


def _resolve(measure, offered):
    if isinstance(measure, RankingMeasure):
        return measure
    if not isinstance(measure, str):
        raise TypeError(
            "A target loss is a name such as 'ndcg@10' or an object such as NDCG(k=10), got "
            f"{measure!r}."
        )
    entry, cut = _parse(measure, offered)
    return entry.make(cut)


def _parse(name, offered):
    """Entry of the table and what follows "@"; messages list the names `offered`."""
    base, at, cut = name.strip().lower().partition("@")
    entry = next((e for e in _TABLE if e.base == base and e.takes(at, cut)), None)
    if entry is None:
        hint = _hint(_near_names(base, cut, offered))
        raise ValueError(
            f"Unknown target loss {name!r}.{hint} Known names: {', '.join(sorted(offered))}."
        )
    if not cut and at:
        raise ValueError(f"Nothing follows the @ in {name!r}: give a count such as 10.")
    try:
        entry.parameters(cut)
    except ValueError as error:
        raise ValueError(f"In {name!r}: {error}{_hint(_near_names(base, cut, offered))}") from None
    return entry, cut


def _hint(names):
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def _near_names(base, cut, offered):
    """Known names near an unknown one, with what follows its "@" where they take that."""
    if not cut and (joined := re.fullmatch(r"([a-z_]+?)(?:_?at)?_?(\d+%?)", base)):
        base, cut = joined.groups()  # "ndcg10", "precision_at_10"
    said = {_words(entry.measure): entry.base for entry in offered.values()}
    said |= {entry.base: entry.base for entry in offered.values()}
    parts = [words for words in said if base and f"_{base}" in f"_{words}"]
    close = [base] if base in said else parts or get_close_matches(base, said, n=3, cutoff=0.5)
    near = [said[words] for words in close]
    found: dict[str, bool] = {}
    for entry in (e for known in dict.fromkeys(near) for e in offered.values() if e.base == known):
        name, kept = _with_cut(entry, cut)
        found[name] = found.get(name, False) or kept
    if any(found.values()):  # those that take what follows "@"
        found = {name: kept for name, kept in found.items() if kept}
    return list(found)[:3]


def _words(measure):
    """The name of a class in words: "mean_average_precision"."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", measure.__name__).lower()


def _with_cut(entry, cut):
    """The entry's name with this after "@", a fraction in per cent, and whether it takes that."""
    written = cut
    try:
        if entry.at == "p%" and 0 < float(cut) < 1:
            written = f"{100 * float(cut):g}%"
    except ValueError:
        pass
    try:
        if entry.takes("@" if cut else "", written):
            entry.parameters(written)
            return f"{entry.base}@{written}" if written else entry.base, True
    except ValueError:
        pass
    return entry.examples[-1], False
