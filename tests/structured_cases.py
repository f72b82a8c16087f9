"""Lists with scores for the decoders of structured hinges."""

import itertools

import numpy as np

from .internals import RankingLists


def parts(lists):
    return [slice(a, b) for a, b in itertools.pairwise(lists.offsets)]


def random_lists(rng, longest=8):
    lists = RankingLists(rng.integers(1, longest, rng.integers(1, 6)))
    scores = rng.normal(size=lists.n_rows) * rng.choice([0.01, 0.1, 1.0])
    return lists, np.round(scores, 1) if rng.random() < 0.3 else scores


def random_queries(rng, longest=8):
    """Query ids and scores of up to five lists."""
    lists, scores = random_lists(rng, longest)
    return lists.index, scores


def slices_of(qid):
    """The rows of each list of sorted ids."""
    ends = [*np.flatnonzero(np.diff(qid)) + 1, len(qid)]
    return [slice(a, b) for a, b in itertools.pairwise([0, *ends])]
