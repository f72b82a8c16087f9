"""Tables keyed by a label are read by the label, never by place."""

import numpy as np
import pandas as pd
import pytest

from lowrank_rank.clicks import make_clicks, utilities_from_clicks

from .measures import reciprocal_rank

POSITION = [1, 2, 3, 5, 6]
TABLE = pd.Series([0.1, 0.8, 0.6, 0.4, 0.2], index=[6, 1, 2, 3, 5])


def click_utilities(**given):
    return utilities_from_clicks([1] * 5, POSITION, **{"propensity": 1.0, **given})


@pytest.mark.parametrize("given", [{"propensity": TABLE}, {"trust": (1.0, TABLE)}])
def test_series_of_positions(given):
    name = next(iter(given))
    in_place = TABLE.loc[[1, 2, 3, 3, 5, 6]].to_numpy()  # nobody was shown position 4
    same = {name: in_place if name == "propensity" else (1.0, in_place)}
    np.testing.assert_array_equal(click_utilities(**given), click_utilities(**same))
    for wrong in (
        TABLE.loc[:2],
        TABLE.reset_index(drop=True),
        pd.concat([TABLE, TABLE]),
    ):
        wrong = wrong if name == "propensity" else (1.0, wrong)
        with pytest.raises(
            ValueError, match=rf"{name} is a Series .*set these labels as its index"
        ):
            click_utilities(**{name: wrong})
    with pytest.raises(ValueError, match="propensity is a Series"):
        make_clicks([1, 0, 2, 1], propensity=TABLE, n_sessions=3)


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object])
def test_scores_that_floats_cannot_tell_apart(kind):
    scores = (np.arange(4) + 2**62).astype(kind)
    assert reciprocal_rank([0, 0, 0, 1], scores) == 1.0
    assert reciprocal_rank([0, 0, 0, 1], pd.Series(scores)) == 1.0
