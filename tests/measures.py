"""Short calls of the measures that tests use often, as functions of y and scores."""

from lowrank_rank.metrics import measure_score
from lowrank_rank.target_losses import PrecisionAtK, RecallAtK

from .internals import PrecisionAtShare


def precision_at_k(y, scores, k=10, **options):
    return measure_score(PrecisionAtK(k), y, scores, **options)


def precision_at_share(y, scores, share, **options):
    return measure_score(PrecisionAtShare(share), y, scores, **options)


def recall_at_k(y, scores, k=10, **options):
    return measure_score(RecallAtK(k), y, scores, **options)


def average_precision(y, scores, **options):
    return measure_score("map", y, scores, **options)


def reciprocal_rank(y, scores, **options):
    return measure_score("mrr", y, scores, **options)


def dcg(y, scores, **options):
    return measure_score("dcg", y, scores, **options)


def rank_utility(y, scores, **options):
    return measure_score("eru", y, scores, **options)


def disagreement(y, scores, **options):
    """Return the weight of the pairs in the wrong order: minus the measure "pd"."""
    return 0.0 - measure_score("pd", y, scores, **options)
