"""Numbers of trees of LightGBM and XGBoost; what they find is in test_meta_wrapped_boosters.py."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from lowrank_rank import WrappedRanker
from lowrank_rank.datasets import make_ranking

from .refusals import refused_by


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_clone_has_so_many_trees_and_does_not_stop_by_itself(name):
    library = pytest.importorskip(name)
    if name == "lightgbm":
        model = library.LGBMRanker(n_estimators=9, n_jobs=1)
    else:
        model = library.XGBRanker(n_estimators=9, n_jobs=1, early_stopping_rounds=3)
    X, y, qid = make_ranking(20, (4, 9), n_features=3, random_state=0)
    ranker = WrappedRanker(model, early_stopping=True, random_state=0)
    ranker.fit(X, y, qid=qid)
    fitted = ranker.estimator_
    assert 1 <= ranker.n_iter_ <= 9
    assert len(ranker.validation_scores_) <= 9
    assert (model.n_estimators, fitted.n_estimators) == (9, ranker.n_iter_)
    assert fitted.get_params().get("early_stopping_rounds") is None


def test_other_models_are_refused_by_name():
    with refused_by("model without early stopping"):
        WrappedRanker(Ridge(), early_stopping=True).fit(
            np.eye(4), [0, 1, 0, 1], qid=[1, 1, 2, 2]
        )
