"""Which target losses learn the same order: a column of the table of names.

`LowRankSurrogateRanker` sees only the targets that a loss makes of labels. For documents
these are gain / normaliser, and an offset in each list changes no order. Fixed items have the
targets of a decoder. Two losses whose targets differ by a positive factor learn one order.
"""

import numpy as np

from lowrank_rank.lists._lists import RankingLists
from lowrank_rank.target_losses._names import TARGET_LOSSES, resolve_measure
from lowrank_rank.target_losses._target_loss import reciprocal

#: Lists and items of the labels, and cut-offs on both sides of their length.
SHAPE = (40, 12)
CUTS = (1, 5, 50)
#: What a cell says of targets that are all equal, and of a loss without a form.
NOTHING = "nothing"
NO_FORM = "no"


def learnt_orders(layout, n_grades):
    """The first name of the table with the same order, by pattern such as "precision@k".

    `layout` is "documents" or "items". The grades are 0, ..., n_grades - 1; 2 makes labels of 0
    and 1.
    """
    first = {}
    learnt = {}
    for pattern in TARGET_LOSSES:
        targets = targets_by_cut(pattern, layout, n_grades)
        if targets[0] is None:
            learnt[pattern] = NO_FORM
        elif not targets[0][1].any():
            learnt[pattern] = NOTHING
        else:
            same = [name for name, other in first.items() if are_equal(targets, other)]
            learnt[pattern] = same[0] if same else pattern
            first.setdefault(learnt[pattern], targets)
    return learnt


def cut_matters(pattern):
    """Where another cut-off k learns another order: documents, items, boosted trees."""
    places = []
    for layout in ("documents", "items"):
        first, *others = targets_by_cut(pattern, layout, 5)
        if any(not are_equal([first], [other]) for other in others):
            places.append(layout)
    entry = TARGET_LOSSES[pattern]
    # LambdaRank divides by the best DCG@k of a list.
    if has_cut(entry) and entry.measure.is_positional:
        places.append("boosted trees")
    return places


def has_cut(entry):
    return entry.at in ("k", "[k]")


def names_with_cuts(pattern):
    """Names of a pattern: itself, and with each cut-off that it takes."""
    entry = TARGET_LOSSES[pattern]
    names = entry.examples[:1] if entry.at != "k" else []
    if has_cut(entry):
        names = names + [f"{entry.base}@{k}" for k in CUTS]
    return names


def targets_by_cut(pattern, layout, n_grades):
    """The decoder and the targets of each name of a pattern; None without a form."""
    labels = np.random.default_rng(0).integers(n_grades, size=SHAPE).astype(float)
    targets_of = {"documents": targets_of_documents, "items": targets_of_items}[layout]
    losses = [resolve_measure(name) for name in names_with_cuts(pattern)]
    return [targets_of(loss, labels) for loss in losses]


def targets_of_documents(loss, labels):
    """Targets centred within lists, of norm 1."""
    if not loss.takes_documents:
        return None
    lists = RankingLists.equal(*labels.shape)
    y = loss.check_labels(labels.ravel())
    gains, normalisers = loss.row_targets(y, lists, np.ones(len(y)))
    targets = gains * lists.repeat(reciprocal(normalisers))
    means = lists.sum(targets) / lists.lengths
    return "sort", scaled(targets - lists.repeat(means))


def targets_of_items(loss, labels):
    """The decoder "auto", and its targets of norm 1."""
    name = loss.auto_decoder(labels.shape[1], labels)
    encode = loss.regression_targets
    if loss.decoders[name].of_scores:
        encode = loss.score_targets
    return name, scaled(encode(loss.check_labels(labels)))


def scaled(targets):
    """Divide targets by their norm; rounding becomes 0."""
    norm = np.linalg.norm(targets)
    return targets / norm if norm > 1e-9 else np.zeros_like(targets)


def are_equal(some, others):
    """Whether two patterns have the same decoders and targets, cut by cut.

    A pattern without a cut-off, or whose cut-off changes nothing, has one.
    """
    some, others = distinct(some), distinct(others)
    return len(some) == len(others) and all(map(is_same, some, others))


def distinct(targets):
    """Targets that differ from all before."""
    found = []
    for one in targets:
        if not any(is_same(one, other) for other in found):
            found.append(one)
    return found


def is_same(one, other):
    if one is None or other is None:
        return one is other
    if one[0] != other[0] or one[1].shape != other[1].shape:
        return False
    return np.allclose(one[1], other[1], rtol=0.0, atol=1e-9)
