"""The names of target losses and measures: two tables and the grammar ``name[@k]``."""

from difflib import get_close_matches
from typing import Any, NamedTuple

from ..metrics._positional import check_k
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
    RecallAtK,
    SpearmanRho,
)
from ._share import PrecisionAtShare


class Name(NamedTuple):
    """What a name stands for.

    Attributes
    ----------
    measure : type
        Class that the name makes.
    fixed : dict
        Parameters that the name sets.
    at : {"", "k", "[k]", "p%"}
        What follows "@": nothing, a count, an optional count, a share in per cent.
    """

    measure: type
    fixed: dict[str, Any]
    at: str = ""


#: Losses that can be aimed at (and scored), by name; "precision@5" and "precision@25%" are two.
TARGET_LOSSES: dict[str, Name] = {
    "precision@k": Name(PrecisionAtK, {}, "k"),
    "precision@p%": Name(PrecisionAtShare, {}, "p%"),
    "wta": Name(PrecisionAtK, {"k": 1}),
    "prbep": Name(PrecisionAtShare, {"share": 1.0}),
    "recall@k": Name(RecallAtK, {}, "k"),
    "dcg[@k]": Name(DCG, {}, "[k]"),
    "dcg_exp[@k]": Name(DCG, {"gain": "exponential"}, "[k]"),
    "ndcg[@k]": Name(NDCG, {}, "[k]"),
    "ndcg_exp[@k]": Name(NDCG, {"gain": "exponential"}, "[k]"),
    "auc": Name(AUC, {}),
    "spearman": Name(SpearmanRho, {}),
    "eru": Name(ExpectedRankUtility, {}),
    "map": Name(MeanAveragePrecision, {}),
    "pd": Name(PairwiseDisagreement, {}),
    "kendall": Name(KendallTau, {}),
}

#: Measures that can be scored but not aimed at.
SCORE_ONLY: dict[str, Name] = {
    "mrr": Name(ReciprocalRank, {}),
    "err[@k]": Name(ExpectedReciprocalRank, {}, "[k]"),
}


def example_names(pattern):
    """Names that fit a pattern of the tables: "ndcg[@k]" gives "ndcg" and "ndcg@10"."""
    base, _, cut = pattern.partition("@")
    if not cut:
        return [base]
    if base.endswith("["):
        return [base[:-1], f"{base[:-1]}@10"]
    return [f"{base}@25%"] if cut.endswith("%") else [f"{base}@10"]


def resolve_target_loss(target_loss):
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
    loss = resolve_measure(target_loss)
    if not isinstance(loss, TargetLoss):
        raise ValueError(
            f"{loss!r} is a measure without a low-rank form: use it in make_ranking_scorer, and "
            f"aim at one of {sorted(TARGET_LOSSES)}."
        )
    return loss


def resolve_measure(measure):
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
    if isinstance(measure, RankingMeasure):
        return measure
    if not isinstance(measure, str):
        raise TypeError(
            "A target loss is a name such as 'ndcg@10' or an object such as NDCG(k=10), got "
            f"{measure!r}."
        )
    entry, parameters = _parse(measure)
    return entry.measure(**parameters)


def stated_parameters(name):
    """The parameters that a name states: k of "ndcg@10", share of "prbep"."""
    return _parse(name)[1]


def _parse(name):
    base, at, cut = name.strip().lower().partition("@")
    for pattern, entry in {**TARGET_LOSSES, **SCORE_ONLY}.items():
        if pattern.partition("@")[0].rstrip("[") == base and _fits(entry.at, at, cut):
            return entry, entry.fixed | _cutoff(name, entry.at, at, cut)
    raise ValueError(_unknown(name, base))


def _fits(kind, at, cut):
    if not at:
        return kind in ("", "[k]")
    return kind == "p%" if cut.endswith("%") else kind in ("k", "[k]")


def _cutoff(name, kind, at, cut):
    if not at:
        return {}
    try:
        if kind == "p%":
            return {"share": check_k(float(cut.rstrip("%")) / 100.0, share=True)}
        return {"k": check_k(int(cut))}
    except ValueError as error:
        raise ValueError(
            f"In {name!r}: what follows @ is a count such as 10"
            f"{' or a share such as 25%' if kind == 'p%' else ''}. {error}"
        ) from None


def _unknown(name, base):
    known = {**TARGET_LOSSES, **SCORE_ONLY}
    bases = {pattern.partition("@")[0].rstrip("["): pattern for pattern in known}
    same = [pattern for pattern in known if pattern.partition("@")[0].rstrip("[") == base]
    close = same or [bases[b] for b in get_close_matches(base, bases, n=3, cutoff=0.5)]
    hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
    return f"Unknown target loss {name!r}.{hint} Known names: {', '.join(sorted(known))}."
