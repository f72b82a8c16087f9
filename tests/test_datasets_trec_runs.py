"""Runs and judgements in whatever they come."""

import numpy as np
import pandas as pd
import pytest

from lowrank_rank.datasets._trec import RELEVANCE, SCORE, frame_of, read_mapping


def test_frames_there_and_back():
    run = {"b": {"2": 0.5, "1": 1.5}, "a": {"1": 2.0}}
    frame = frame_of(run, SCORE)
    assert list(frame.columns) == ["qid", "docno", "score"]
    assert frame["score"].tolist() == [0.5, 1.5, 2.0]
    assert read_mapping(frame, SCORE, "run") == run
    assert list(read_mapping(frame, SCORE, "run")) == ["b", "a"]
    assert len(frame_of({}, RELEVANCE)) == 0


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([1], TypeError, "run must be a dict"),
        ({"q": [1]}, TypeError, "run must be a dict"),
        ({"q": {"d": np.nan}}, ValueError, r"run\['q'\]\['d'\] is nan"),
        ({"q": {"d": "1"}}, ValueError, "finite number"),
        ({1: {"d": 1.0}, "1": {}}, ValueError, "twice"),
        ({"q": {1: 1.0, "1": 2.0}}, ValueError, "twice"),
        (pd.DataFrame({"qid": [1], "docno": [1]}), ValueError, "must be called 'score'"),
        (
            pd.DataFrame({"qid": [1, 1], "docno": [1, 1], "score": [1.0, 2.0]}),
            ValueError,
            "document 1 of 1 twice",
        ),
        (
            pd.DataFrame({"qid": [1], "docno": [1], "score": [np.inf]}),
            ValueError,
            "finite number",
        ),
    ],
)
def test_what_is_no_run_is_refused(table, error, message):
    with pytest.raises(error, match=message):
        read_mapping(table, SCORE, "run")
