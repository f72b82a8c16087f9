"""Numbers of trees of LightGBM and XGBoost; what they find is in test_meta_wrapped_boosters.py."""

import pytest
from sklearn.linear_model import Ridge

from .internals import staged_scores, with_trees


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_clone_has_so_many_trees_and_does_not_stop_by_itself(name):
    library = pytest.importorskip(name)
    if name == "lightgbm":
        model = library.LGBMRanker(n_estimators=9, n_jobs=1)
    else:
        model = library.XGBRanker(n_estimators=9, n_jobs=1, early_stopping_rounds=3)
    clone = with_trees(model, 5)
    assert (model.n_estimators, clone.n_estimators) == (9, 5)
    assert with_trees(model).n_estimators == 9
    assert clone.get_params().get("early_stopping_rounds") is None


def test_other_models_are_refused_by_name():
    with pytest.raises(ValueError, match=r"of LightGBM or XGBoost.*Ridge\(\) cannot"):
        staged_scores(Ridge(), None, None, None, 3)
