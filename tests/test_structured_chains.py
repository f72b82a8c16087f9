"""Viterbi and marginals: enumeration of all label sequences."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from .internals import RankingLists, chain_marginals, transition_counts, viterbi
from .structured_cases import parts


def chain_scores(labels, emissions, transitions):
    """Of each row of labels."""
    t = np.arange(len(emissions))
    after = transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    return emissions[t, labels].sum(axis=1) + after


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_chains_are_those_of_all_label_sequences(scale, seed):
    rng = np.random.default_rng(seed)
    for trial in range(12):
        q = 5 if trial == 0 else int(rng.integers(1, 6))
        lists = RankingLists([6, 6, 1] if trial == 0 else rng.integers(1, 6, 3))
        emissions = scale * rng.normal(size=(lists.n_rows, q))
        transitions, weights = scale * rng.normal(size=(q, q)), rng.random(3)
        labels = viterbi(emissions, transitions, lists)
        log_sums, probabilities, counts = chain_marginals(
            emissions, transitions, lists, weights
        )
        pairs = np.zeros((q, q))
        for which, rows in enumerate(parts(lists)):
            length = rows.stop - rows.start
            every = np.array(list(itertools.product(range(q), repeat=length)))
            scores = chain_scores(every, emissions[rows], transitions)
            best = chain_scores(labels[rows][np.newaxis], emissions[rows], transitions)
            assert_allclose(best[0], scores.max(), atol=1e-9)
            top = scores.max()
            log_sum = top + np.log(np.exp(scores - top).sum())
            assert_allclose(log_sums[which], log_sum, rtol=1e-10)
            p = np.exp(scores - log_sum)
            marginals = np.stack([(every == label).T @ p for label in range(q)], axis=1)
            assert_allclose(probabilities[rows], marginals, atol=1e-8)
            same = RankingLists.equal(len(every), length)
            pairs += transition_counts(every.ravel(), same, q, weights[which] * p)
        assert_allclose(counts, pairs, atol=1e-8)
