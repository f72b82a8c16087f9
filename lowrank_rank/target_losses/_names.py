"""The names of target losses and measures: one table and the grammar ``name[@k]``."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from .._parameters import check_parameter, count
from ._average_precision import MeanAveragePrecision
from ._cascade import ExpectedReciprocalRank, ReciprocalRank, SuccessAtK
from ._pairwise import KendallTau, PairwiseDisagreement
from ._positional import (
    AUC,
    DCG,
    NDCG,
    SHARE,
    ExpectedRankUtility,
    GainAtK,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    SpearmanRho,
)
from ._target_loss import RankingMeasure, TargetLoss


class Name(NamedTuple):
    """An entry of the table: a name, its class and the parameters that the name fixes.

    Attributes
    ----------
    base : str
        The name up to "@".
    measure : type
        Class of the measure; its attribute `at` declares the syntax after "@".
    fixed : dict
        Parameters that the name itself sets.
    """

    base: str
    measure: type[RankingMeasure]
    fixed: dict[str, Any] = {}  # noqa: RUF012

    @property
    def at(self):
        """The syntax after "@"; "" if the name itself sets that parameter."""
        at = self.measure.at
        return "" if at and CUTS[at][0] in self.fixed else at

    @property
    def pattern(self):
        """The name as the documentation writes it: "precision@k", "ndcg[@k]"."""
        at = self.at
        return (
            f"{self.base}[@{at[1:]}"
            if at.startswith("[")
            else f"{self.base}{at and '@'}{at}"
        )

    @property
    def examples(self):
        """Names that fit the pattern: "ndcg[@k]" gives "ndcg" and "ndcg@10"."""
        if not self.at:
            return [self.base]
        with_cut = f"{self.base}@{CUTS[self.at][1]}"
        return [self.base, with_cut] if self.at.startswith("[") else [with_cut]

    def takes(self, cut):
        """Whether the name may have this cut-off, "" for none."""
        if not cut:
            return self.at in ("", "[k]")
        return self.at != "" and (self.at == "p%") == cut.endswith("%")

    def parameters(self, cut=""):
        """The parameters of the measure, the cut-off included."""
        if not cut:
            return dict(self.fixed)
        try:
            value = float(cut[:-1]) / 100.0 if self.at == "p%" else int(cut)
        except ValueError:
            raise ValueError(
                "What follows @ is a count such as 10, or for precision a share such as 25%."
            ) from None
        parameter, _ = CUTS[self.at]
        check_parameter(parameter, value, [SHARE if parameter == "share" else count()])
        return self.fixed | {parameter: value}


#: The parameter behind each syntax after "@", and an example.
CUTS = {"k": ("k", "10"), "[k]": ("k", "10"), "p%": ("share", "25%")}

_TABLE = [
    Name("precision", PrecisionAtK),
    Name("precision", PrecisionAtShare),
    Name("wta", PrecisionAtK, {"k": 1}),
    Name("prbep", PrecisionAtShare, {"share": 1.0}),
    Name("recall", RecallAtK),
    Name("dcg", DCG),
    Name("dcg_exp", DCG, {"gain": "exponential"}),
    Name("gain", GainAtK),
    Name("ndcg", NDCG),
    Name("ndcg_exp", NDCG, {"gain": "exponential"}),
    Name("auc", AUC),
    Name("spearman", SpearmanRho),
    Name("eru", ExpectedRankUtility),
    Name("map", MeanAveragePrecision),
    Name("pd", PairwiseDisagreement),
    Name("kendall", KendallTau),
    Name("mrr", ReciprocalRank),
    Name("success", SuccessAtK),
    Name("err", ExpectedReciprocalRank),
]

_MEASURES = {name.pattern: name for name in _TABLE}
#: Target losses by pattern; they can also be scored. "precision@k" and "precision@p%"
#: are two.
TARGET_LOSSES = {
    p: name for p, name in _MEASURES.items() if issubclass(name.measure, TargetLoss)
}
#: Measures for scorers only, by pattern.
SCORE_ONLY = {p: name for p, name in _MEASURES.items() if p not in TARGET_LOSSES}
#: What messages call a measure, by whether scorers ask for it.
_KINDS = {True: "measure", False: "target loss"}


def names_of(
    holds: Callable | None = None, *, one_each=False, scored=False
) -> list[str]:
    """Example names of the target losses with a property ``holds(loss)``, for messages and tests.

    With `one_each` one name for each class and kind of cut-off, as in messages.
    `scored` adds the measures for scorers.
    """
    names = [
        (entry.measure, name)
        for entry in (_MEASURES if scored else TARGET_LOSSES).values()
        for name in entry.examples
        if holds is None or holds(resolve_measure(name))
    ]
    return (
        list(dict(reversed(names)).values())[::-1]
        if one_each
        else [name for _, name in names]
    )


def resolve_target_loss(target_loss: str | TargetLoss) -> TargetLoss:
    """The target loss of a name such as "ndcg@10", "precision@25%" or "map", or of an object.

    Refuses measures without a low-rank form. The message of an unknown name lists
    similar names and all known ones.
    """
    loss = resolve_measure(target_loss, scored=False)
    if not isinstance(loss, TargetLoss):
        raise ValueError(
            f"{loss!r} only measures, and cannot be fitted here: use it in make_ranking_scorer, or "
            "in StackingRanker, which weighs its parts by it."
        )
    return loss


def resolve_measure(
    measure: str | RankingMeasure, *, scored: bool = True
) -> RankingMeasure:
    """Like `resolve_target_loss`, and also the measures for scorers only ("mrr", "err").

    `scored` is whether messages offer the measures for scorers too.
    """
    if isinstance(measure, RankingMeasure):
        return measure
    if not isinstance(measure, str):
        raise TypeError(
            f"A {_KINDS[scored]} is a name such as 'ndcg@10' or an object such as NDCG(k=10), of "
            "your own a subclass of target_losses.PositionalLoss, or of TargetLoss with values(); "
            f"scoring= also takes mine(estimator, X, y) with y['y'], y['qid'], got {measure!r}."
        )
    entry, parameters = _parse(measure, scored)
    return entry.measure(**parameters)


def stated_parameters(name):
    """The parameters that a name sets: k of "ndcg@10", share of "prbep"."""
    return _parse(name, scored=True)[1]


#: Names of trec_eval and ir_measures, and ours.
ALIASES = {
    "p": "precision",
    "r": "recall",
    "ap": "map",
    "rr": "mrr",
    "recip_rank": "mrr",
}
ALIASES |= {"rprec": "prbep"} | dict.fromkeys(
    ["hit", "hits", "hit_rate", "hitrate"], "success"
)


def plain_name(name):
    """A name in our words: "ndcg@10" for "ndcg_cut_10" and "nDCG@10", "mrr" for "RR"."""
    name = re.sub(
        r"^(p|recall|ndcg|map|success)_(?:cut_)?(\d+)$", r"\1@\2", name.strip().lower()
    )
    base, at, cut = name.partition("@")
    return ALIASES.get(base, base) + at + cut


@cache  # tags of estimators resolve the name in every call of predict
def _parse(name, scored):
    """Entry of a name in the table and its parameters; messages offer all measures if `scored`."""
    offered = _MEASURES if scored else TARGET_LOSSES
    base, at, cut = plain_name(name).partition("@")
    entry = next((e for e in _TABLE if e.base == base and e.takes(cut)), None)
    if entry is None:
        raise ValueError(
            f"Unknown {_KINDS[scored]} {name!r}.{_hint(base, cut, offered)} Known names: "
            f"{', '.join(sorted(offered))}."
        )
    if at and not cut:
        raise ValueError(f"Nothing follows the @ in {name!r}: give a count such as 10.")
    try:
        return entry, entry.parameters(cut)
    except ValueError as error:
        raise ValueError(f"In {name!r}: {error}{_hint(base, cut, offered)}") from None


def _hint(base, cut, offered):
    """A question with the names nearest to an unknown one, if possible with its cut-off."""
    if not cut and (joined := re.fullmatch(r"([a-z_]+?)(?:_?at)?_?(\d+%?)", base)):
        base, cut = joined.groups()  # "ndcg10", "precision_at_10"
    # The class names count too, in words: "mean_average_precision".
    forms = {
        re.sub("(?<=[a-z])(?=[A-Z])", "_", e.measure.__name__).lower(): e.base
        for e in offered.values()
    }
    forms |= {e.base: e.base for e in offered.values()}
    inside = [words for words in forms if base and words.startswith(base)]
    inside = inside or [words for words in forms if base and f"_{base}" in f"_{words}"]
    close = (
        [base]
        if base in forms
        else inside or get_close_matches(base, forms, n=3, cutoff=0.5)
    )
    bases = dict.fromkeys(forms[words] for words in close)
    entries = [e for base in bases for e in offered.values() if e.base == base]
    accepted = [name for e in entries if (name := _with_cut(e, cut))]
    near = list(dict.fromkeys(accepted or [e.examples[-1] for e in entries]))[:3]
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _with_cut(entry, cut):
    """The entry's name with a cut-off, a fraction in per cent; None if it does not accept it."""
    try:
        if entry.at == "p%" and cut.startswith(("0.", ".")):
            cut = f"{100 * float(cut):g}%"
        if entry.takes(cut):
            entry.parameters(cut)
            return f"{entry.base}@{cut}" if cut else entry.base
    except ValueError:
        pass
    return None
