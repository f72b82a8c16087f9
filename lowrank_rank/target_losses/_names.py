"""The names of target losses and measures: one table and the grammar ``name[@k]``."""

import re
from collections.abc import Callable
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from sklearn.base import clone

from ..validation._arrays import shown
from ..validation._check import refuse
from ..validation._checks_of_scores import (
    CHECKS_OF_MEASURES,
    CHECKS_OF_NAMED_MEASURES,
    CHECKS_OF_NAMES,
)
from ..validation._parameters import (
    check_parameter,
    check_parameters,
    count,
    refuse_class,
)
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
    RecallAtShare,
    SpearmanRho,
)
from ._target_loss import RankingMeasure, TargetLoss


class Name:
    """An entry of the table: a name, its class and the parameters that the name fixes.

    Parameters
    ----------
    base : str
        The name up to "@".
    measure : type
        Class of the measure; its attribute `at` declares the syntax after "@".
    **fixed : dict
        Parameters that the name itself sets.
    """

    def __init__(self, base: str, measure: type[RankingMeasure], **fixed: Any) -> None:
        self.base = base
        self.measure = measure
        self.fixed = fixed

    @property
    def at(self):
        """The syntax after "@"; "" if the name itself sets that parameter."""
        at = self.measure.at
        if at:
            parameter, _ = CUTS[at]
            if parameter in self.fixed:
                return ""
        return at

    @property
    def pattern(self):
        """The name as the documentation writes it: "precision@k", "ndcg[@k]"."""
        at = self.at
        if not at:
            return self.base
        if at.startswith("["):
            return f"{self.base}[@{at[1:]}"
        return f"{self.base}@{at}"

    @property
    def examples(self):
        """Names that fit the pattern: "ndcg[@k]" gives "ndcg" and "ndcg@10"."""
        if not self.at:
            return [self.base]
        _, cut = CUTS[self.at]
        with_cut = f"{self.base}@{cut}"
        if self.at.startswith("["):
            return [self.base, with_cut]
        return [with_cut]

    def takes(self, cut):
        """Return whether the name may have this cut-off, "" for none."""
        if not cut:
            return self.at in ("", "[k]")
        if not self.at:
            return False
        # Only a share ends with a per cent sign.
        return (self.at == "p%") == cut.endswith("%")

    def parameters(self, cut=""):
        """Return the parameters of the measure, the cut-off included."""
        if not cut:
            return dict(self.fixed)
        parameter, _ = CUTS[self.at]
        is_share = parameter == "share"
        value: Any = cut
        with suppress(ValueError):
            value = float(cut[:-1]) / 100.0 if is_share else int(cut)
        rule = count()._replace(words="an integer >= 1, a count such as 10")
        if is_share:
            rule = SHARE._replace(words="in (0, 1], a share such as 25%")
        check_parameter(parameter, value, [rule])
        return self.fixed | {parameter: value}


#: The parameter behind each syntax after "@", and an example.
CUTS = {"k": ("k", "10"), "[k]": ("k", "10"), "p%": ("share", "25%")}

_TABLE = [
    Name("precision", PrecisionAtK),
    Name("precision", PrecisionAtShare),
    Name("wta", PrecisionAtK, k=1),
    Name("prbep", PrecisionAtShare, share=1.0),
    Name("recall", RecallAtK),
    Name("recall", RecallAtShare),
    Name("dcg", DCG),
    Name("dcg_exp", DCG, gain="exponential"),
    Name("gain", GainAtK),
    Name("ndcg", NDCG),
    Name("ndcg_exp", NDCG, gain="exponential"),
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
    """Return example names of the target losses with a property ``holds(loss)``.

    With `one_each` one name for each class, as in messages. `scored` adds the measures
    for scorers.
    """
    entries = _MEASURES if scored else TARGET_LOSSES
    names = []
    first_of_class: dict = {}
    for entry in entries.values():
        for name in entry.examples:
            if holds is None or holds(resolve_measure(name)):
                names.append(name)
                first_of_class.setdefault(entry.measure, name)
    return list(first_of_class.values()) if one_each else names


def resolve_target_loss(
    target_loss: str | TargetLoss, *, copied: bool = False
) -> TargetLoss:
    """Return the target loss of a name such as "ndcg@10" or "map", or of an object.

    Refuses measures without a low-rank form. The message of an unknown name lists
    similar names and all known ones. `copied` is as in `resolve_measure`.
    """
    loss: Any = resolve_measure(target_loss, scored=False, copied=copied)
    if not isinstance(loss, TargetLoss):
        refuse(CHECKS_OF_MEASURES, measure=loss, is_measure=True, can_be_fitted=False)
    return loss


def resolve_measure(
    measure: str | RankingMeasure, *, scored: bool = True, copied: bool = False
) -> RankingMeasure:
    """Return the measure of a name or an object, also one for scorers only.

    `scored` is whether messages offer the measures for scorers ("mrr", "err") too.
    `copied` is whether an object is copied, so that later changes are for the next fit.
    """
    if isinstance(measure, RankingMeasure):
        return clone(measure) if copied else measure
    refuse_class(measure, f"A {_KINDS[scored]}")
    is_name = isinstance(measure, str)
    if not is_name:
        refuse(CHECKS_OF_MEASURES, measure=measure, kind=_KINDS[scored])
    entry, parameters = _parse(measure, scored)
    return entry.measure(**parameters)


def resolve_measures(
    named: dict[str, Any], params: dict[str, Any]
) -> dict[str, RankingMeasure]:
    """Return copies of the measures of names or objects, by the same keys.

    Each measure gets the parameters among `params` that it has. Refuses a parameter
    that none has, and another value than that in a name.
    """
    measures = {key: resolve_measure(one, copied=True) for key, one in named.items()}
    names = [one for one in named.values() if isinstance(one, str)]
    refuse(
        CHECKS_OF_NAMED_MEASURES,
        measures=measures,
        params=params,
        stated={name: stated_parameters(name) for name in names},
        parameters=[one.get_params() for one in measures.values()],
    )
    for measure in measures.values():
        own = measure.get_params()
        measure.set_params(**{key: params[key] for key in params if key in own})
        check_parameters(measure)
    return measures


def stated_parameters(name):
    """Return the parameters that a name sets: k of "ndcg@10", share of "prbep"."""
    _, parameters = _parse(name, scored=True)
    return parameters


#: Names of trec_eval and ir_measures, and ours.
ALIASES = {
    "p": "precision",
    "r": "recall",
    "ap": "map",
    "rr": "mrr",
    "recip_rank": "mrr",
    "rprec": "prbep",
    "hit": "success",
    "hits": "success",
    "hit_rate": "success",
    "hitrate": "success",
}
#: Names of trec_eval and ir_measures of measures that this package does not have.
ELSEWHERE = {
    "alpha_dcg", "alpha_ndcg", "ap_ia", "bpm", "bpref", "compat", "err_ia", "gm_map",
    "gmap", "infap", "infndcg", "insq", "inst", "iprec", "ircl_prn", "judged", "nerr",
    "nrbp", "numq", "p_ia", "rbp", "set_f", "set_map", "set_p", "set_r", "set_recall",
    "st_recall", "strec",
}  # fmt: skip
_CUT_OF_TREC_EVAL = re.compile(r"^(p|recall|ndcg|map|success)_(?:cut_)?(\d+)$")


def plain_name(name):
    """Return a name in our words: "ndcg@10" for "ndcg_cut_10", "mrr" for "RR"."""
    name = _CUT_OF_TREC_EVAL.sub(r"\1@\2", name.strip().lower())
    base, at, cut = name.partition("@")
    return ALIASES.get(base, base) + at + cut


@cache  # tags of estimators resolve the name in every call of predict
def _parse(name, scored):
    """Return the entry of a name in the table, and the parameters that it sets.

    Messages offer all measures if `scored`.
    """
    offered = _MEASURES if scored else TARGET_LOSSES
    base, at, cut = plain_name(name).partition("@")
    entries = [entry for entry in _TABLE if entry.base == base and entry.takes(cut)]
    try:
        error = None
        parameters = entries[0].parameters(cut) if entries else {}
    except ValueError as wrong_cut:
        error = wrong_cut
    if not entries or error is not None or (at and not cut):
        is_elsewhere = base in ELSEWHERE or base.split("_")[0] in ELSEWHERE
        words = {
            "kind": _KINDS[scored],
            "shown": shown(name),
            "hint": _hint(base, cut, offered),
            "known": ", ".join(sorted(offered)),
            "reason": error,
        }
        refuse(
            CHECKS_OF_NAMES,
            is_elsewhere=is_elsewhere and not entries,
            is_known=bool(entries),
            at=at,
            cut=cut,
            error=error,
            words=words,
        )
    return entries[0], parameters


def _hint(base, cut, offered):
    """Ask whether one of the nearest names was meant, if possible with the cut-off."""
    joined = re.fullmatch(r"([a-z_]+?)(?:_?at)?_?(\d+%?)", base)
    if joined and not cut:
        # "ndcg10", "precision_at_10"
        base, cut = joined.groups()
    entries = []
    for near_base in _near_bases(base, offered):
        entries += [entry for entry in offered.values() if entry.base == near_base]
    names = [_with_cut(entry, cut) for entry in entries]
    names = [name for name in names if name is not None]
    if not names:
        names = [entry.examples[-1] for entry in entries]
    if not names:
        return ""
    first_names = list(dict.fromkeys(names))[:3]
    return f" Did you mean {' or '.join(map(repr, first_names))}?"


def _near_bases(base, offered):
    """Return the distinct bases of names that look like `base`, best first."""
    # The class names count too, in words: "mean_average_precision".
    base_of = {}
    for entry in offered.values():
        words = re.sub("(?<=[a-z])(?=[A-Z])", "_", entry.measure.__name__)
        base_of[words.lower()] = entry.base
    for entry in offered.values():
        base_of[entry.base] = entry.base
    if base in base_of:
        return [base_of[base]]
    # An abbreviation such as "prec", or a word of a name: "average_precision", "rho".
    near = [words for words in base_of if len(base) > 3 and words.startswith(base)]
    near = near or [words for words in base_of if f"_{words}_".endswith(f"_{base}_")]
    near = near or [words for words in base_of if f"_{base}_".endswith(f"_{words}_")]
    near = near or sorted(
        (words for words in base_of if _n_edits(base, words) <= (len(base) + 2) // 4),
        key=lambda words: _n_edits(base, words),
    )
    return list(dict.fromkeys(base_of[words] for words in near))


def _n_edits(one, other):
    """Count the letters that differ, at most the longer one's in order."""
    matches = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return max(len(one), len(other)) - sum(block.size for block in matches)


def _with_cut(entry, cut):
    """Return the entry's name with a cut-off, or None if it does not accept it.

    A fraction becomes a share in per cent.
    """
    try:
        if entry.at == "p%" and cut.startswith(("0.", ".")):
            cut = f"{100 * float(cut):g}%"
        if not entry.takes(cut):
            return None
        entry.parameters(cut)
    except ValueError:
        return None
    return f"{entry.base}@{cut}" if cut else entry.base


def has_utilities(target_loss):
    """Whether a target loss gives each document a utility."""
    is_positional = getattr(target_loss, "is_positional", False)
    return is_positional or isinstance(target_loss, MeanAveragePrecision)
