"""Checks of preferences between items: parameters, long lists, noise, supports."""

import numpy as np

from ..lists._lists import plain
from ._check import Check
from ._columns import shown

# Parameters of a model of pairs -----------------------------------------------------


def _finds_loss_without_pairs(given):
    """Find a target loss that is not a loss of pairs."""
    return None if given.is_of_pairs else {"loss": repr(given.loss)}


CHECKS_OF_PAIR_LOSSES = [
    Check(
        name="loss without pairs",
        finds=_finds_loss_without_pairs,
        sentence=(
            "PairwiseDAGRanker learns pairs: target_loss must be 'pd', 'kendall' or a "
            "PairwiseDisagreement, got {loss}. LowRankSurrogateRanker takes the others."
        ),
    ),
]


def _finds_unused_score_function(given):
    """Find a function of scores where no scores are regressed."""
    model = given.model
    if not callable(model.score_function) or model.decoder == "score":
        return None
    return {"decoder": repr(plain(model.decoder))}


def _finds_unused_pair_features(given):
    """Find a function of pairs of documents where there are none."""
    if not callable(given.model.pair_features) or given.by_pairs:
        return None
    reason = "y has fixed items"
    if given.is_documents:
        reason = "decoder='score' regresses scores of documents"
    return {"reason": reason}


def _finds_unused_decoder(given):
    """Find a decoder of preferences where documents are sorted by scores."""
    is_sorted = given.is_documents and not given.by_pairs
    return {} if callable(given.model.decoder) and is_sorted else None


def _finds_regressor_of_documents(given):
    """Find a regressor that would not see the pairs of documents."""
    if not given.is_documents or given.model.estimator in ("auto", "ridge"):
        return None
    return {"estimator": repr(given.model.estimator)}


CHECKS_OF_PAIRWISE_PARAMETERS = [
    Check(
        name="unused score_function",
        finds=_finds_unused_score_function,
        sentence=(
            "score_function may be a function only with decoder='score', got "
            "decoder={decoder}."
        ),
        remedies={
            "To regress its scores": 'decoder = "score"',
            "To decode preferences": 'score_function = "dmj"',
        },
    ),
    Check(
        name="unused pair_features",
        finds=_finds_unused_pair_features,
        sentence="pair_features is a function of pairs of documents, but {reason}.",
        remedies={"": 'pair_features = "difference"'},
    ),
    Check(
        name="unused decoder",
        finds=_finds_unused_decoder,
        sentence=(
            "decoder is a function, but documents with pair_features='difference' are "
            "sorted by their scores."
        ),
        remedies={
            "To sort them": 'decoder = "auto"',
            "To decode preferences of pairs": "pair_features = lambda a, b: a - b",
        },
    ),
    Check(
        name="regressor of documents",
        finds=_finds_regressor_of_documents,
        sentence=(
            "PairwiseDAGRanker fits documents, y of shape (n_rows,), by ridge "
            "regression, got {estimator}. LowRankSurrogateRanker takes it."
        ),
        remedies={"": 'estimator = "auto"'},
    ),
]


def _finds_scores_alone(given):
    """Find a model that estimates scores and no preferences."""
    return {} if given.model.decoder_ == "score" else None


def _finds_preferences_that_are_not_votes(given):
    """Find documents with a loss whose preferences are not votes."""
    loss = given.model.target_loss_
    if given.model.n_items_ is not None or loss.get_params() == {"weights": "unit"}:
        return None
    return {"loss": repr(loss)}


CHECKS_OF_VOTES = [
    Check(
        name="scores and no preferences",
        finds=_finds_scores_alone,
        sentence="decoder='score' regresses scores, not preferences of pairs.",
    ),
    Check(
        name="preferences that are not votes",
        finds=_finds_preferences_that_are_not_votes,
        sentence="Preferences of {loss} are not votes: use 'pd'.",
    ),
]

# Lists ------------------------------------------------------------------------------


def _finds_long_list(given):
    """Find a list with too many pairs of documents."""
    longest = int(given.lists.lengths.max())
    if longest <= given.most:
        return None
    return {"n": longest, "most": given.most}


CHECKS_OF_PAIRS_OF_DOCUMENTS = [
    Check(
        name="many pairs of documents",
        finds=_finds_long_list,
        sentence=(
            "A list of {n} documents has {n}**2 preferences, too many: decode at most "
            "{most} documents at a time (qid), or rank by predict(X) without qid."
        ),
    ),
]

# Noise ------------------------------------------------------------------------------


def _finds_no_list(given):
    """Find a report without a list."""
    return {} if len(given.u) == 0 else None


def _finds_scores_of_average_precision(given):
    """Find scores where the measure has none."""
    has_scores = given.scores is not None or given.score_function != "dmj"
    return {} if given.target_loss == "map" and has_scores else None


def _finds_function_without_labels(given):
    """Find a function of preferences without probabilities of labels."""
    if given.scores is not None or given.score_function == "dmj":
        return None
    if callable(given.score_function) and given.probabilities is not None:
        return None
    return {"function": shown(given.score_function)}


CHECKS_OF_NOISE = [
    Check(
        name="no list of preferences",
        finds=_finds_no_list,
        sentence="noise_report needs the labels or preferences of at least one list.",
    ),
    Check(
        name="scores of average precision",
        finds=_finds_scores_of_average_precision,
        sentence="target_loss='map' has no scores.",
        remedies={"": 'scores, score_function = None, "dmj"'},
    ),
    Check(
        name="score_function without labels",
        finds=_finds_function_without_labels,
        sentence=(
            "score_function={function}: use 'dmj', or a function of preferences "
            "together with probabilities over labels, or give its expectation as "
            "scores."
        ),
    ),
]


def _finds_other_scores(given):
    """Find scores of other lists, or of other items, than the preferences."""
    scores = given.scores
    if scores is None:
        return None
    if len(scores) != len(given.lengths):
        return {
            "what": f"scores of {len(scores)} lists are given",
            "of": f"{len(given.lengths)} lists",
        }
    for q, n_items in enumerate(given.lengths):
        if np.shape(scores[q]) != (n_items,):
            return {
                "what": f"scores of list {q} have shape {np.shape(scores[q])}",
                "of": f"{n_items} items",
            }
    return None


CHECKS_OF_SCORES_OF_PREFERENCES = [
    Check(
        name="scores of other lists",
        finds=_finds_other_scores,
        sentence="{what} for {of}: they must be one for each item of each list.",
    ),
]

# Supports of labels -----------------------------------------------------------------


def _finds_no_support(given):
    """Find an array that does not hold labels of lists."""
    if given.support.ndim in (2, 3) and 0 not in given.support.shape:
        return None
    return {"shape": given.support.shape}


def _finds_many_orders(given):
    """Find more items than orders can be enumerated of."""
    n_items = given.support.shape[1]
    return {"n_items": n_items, "most": given.most} if n_items > given.most else None


CHECKS_OF_SUPPORT = [
    Check(
        name="labels of a support",
        finds=_finds_no_support,
        sentence="support must hold labels, (n, r) or (n, r, r), got {shape}.",
    ),
    Check(
        name="orders of many items",
        finds=_finds_many_orders,
        sentence="Orders of 1 to {most} items are enumerated, got {n_items}.",
    ),
]


def _finds_unjudged_target(given):
    """Find targets that are missing since an item is not judged."""
    if not (np.isnan(given.targets).any() and np.isnan(given.support).any()):
        return None
    return {"loss": repr(given.loss)}


CHECKS_OF_TARGETS_OF_SUPPORT = [
    Check(
        name="support with unjudged items",
        finds=_finds_unjudged_target,
        sentence=(
            "{loss} has no target for an item that is not judged: its support must "
            "not have NaN."
        ),
        remedies={
            "To leave out the labels with such an item": (
                "support = numpy.asarray(support, dtype=float)\n"
                "support = support[~numpy.isnan(support).any(axis=1)]"
            )
        },
    ),
]
