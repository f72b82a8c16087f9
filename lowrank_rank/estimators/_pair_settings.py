"""Parameters of `PairwiseDAGRanker`, checked before anything is fitted."""

import warnings

import numpy as np
from sklearn.base import clone

from ..decoders import MOST_ITEMS_ORDERING, PD_DECODERS
from ..target_losses import PairwiseDisagreement, resolve_target_loss
from ._encoding import LIST_WEIGHTS
from ._pairs import PAIR_FEATURES
from ._preference_labels import ON_CYCLE
from ._ridge import SOLVERS
from ._score_functions import check_score_function
from ._validation import check_count, check_number, check_option, check_regressor


def check_pair_settings(ranker):
    """The resolved target loss, once every parameter is one that can be."""
    loss = clone(resolve_target_loss(ranker.target_loss))
    if not isinstance(loss, PairwiseDisagreement):
        raise ValueError(
            f"PairwiseDAGRanker learns pairs: target_loss must be 'pd', 'kendall' or a "
            f"PairwiseDisagreement, got {loss!r}. LowRankSurrogateRanker takes the others."
        )
    check_option("decoder", ranker.decoder, (*PD_DECODERS, "score", "auto"))
    check_option("on_cycle", ranker.on_cycle, ON_CYCLE)
    check_option("list_weights", ranker.list_weights, LIST_WEIGHTS)
    check_option("solver", ranker.solver, SOLVERS)
    check_number("alpha", ranker.alpha, minimum=0)
    check_number("tol", ranker.tol, minimum=0)
    check_count("n_components", ranker.n_components)
    if not callable(ranker.pair_features):
        check_option("pair_features", ranker.pair_features, PAIR_FEATURES)
    for name in ("max_iter", "max_pairs"):
        if getattr(ranker, name) is not None:
            check_count(name, getattr(ranker, name))
    if ranker.n_restarts not in (None, 0):
        check_count("n_restarts", ranker.n_restarts)
    if ranker.time_limit is not None:
        check_number("time_limit", ranker.time_limit, minimum=0, strict=True)
    check_score_function(ranker.score_function)
    check_regressor(ranker.estimator)
    return loss


def warn_without_preferences(targets):
    """Say so where no label prefers anything: every preference is then learnt to be 0."""
    if not np.any(targets):
        warnings.warn(
            "No label prefers one item to another: every list has a single item (is qid the number "
            "of the row?) or equal grades. All preferences are 0.",
            UserWarning,
            stacklevel=4,
        )


def check_decodable(decoder, n_items):
    """Refuse lists of fixed items that are too long for the exact decoder."""
    if decoder == "exact" and n_items > MOST_ITEMS_ORDERING:
        raise ValueError(
            f"decoder='exact' takes at most {MOST_ITEMS_ORDERING} items, y has {n_items}: take "
            "'local_search' or 'dag'."
        )
