"""A warning names the line of the caller, however many of our functions lie between."""

import numpy as np
import pytest

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    consensus_ranking,
    make_ranking_scorer,
)

X, Y, QID = np.arange(4.0)[:, np.newaxis], [0, 1, 0, 1], ["a", "b", "c", "d"]
ITEMS = np.random.default_rng(0).integers(0, 3, (4, 3)).astype(float)
RANKER = LowRankSurrogateRanker()

CALLS = {
    "fit": lambda: RANKER.fit(X, Y, qid=QID),
    "partial_fit": lambda: RANKER.partial_fit(X, Y, qid=QID),
    "fit_blocks": lambda: RANKER.fit_blocks([(X, Y, QID)]),
    "fit_blocks, iterative": lambda: OrderPreservingRegressor().fit_blocks(
        [(X, Y, QID)]
    ),
    "score": lambda: RANKER.fit(X, Y).score(X, Y, qid=QID),
    "scorer": lambda: make_ranking_scorer("ndcg")(RANKER.fit(X, Y), X, Y, qid=QID),
    "solver": lambda: LowRankSurrogateRanker(alpha=1e-9, tol=0.0, max_iter=1).fit(
        X, ITEMS
    ),
    "pairs": lambda: PairwiseDAGRanker().fit(X, np.ones(4)),
    "votes": lambda: consensus_ranking(
        {"voter": [1, 1], "item": ["a", "b"], "rank": [1, 2], "age": [40, 40]}
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_warning_is_of_the_callers_file(call):
    with pytest.warns(UserWarning, match=".") as caught:
        CALLS[call]()
    assert {warning.filename for warning in caught} == {__file__}
