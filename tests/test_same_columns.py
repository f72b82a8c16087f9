"""Columns of labels match by name: a frame with other columns, or another order, is refused."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

import lowrank_rank
from lowrank_rank import (
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StackingRanker,
    make_ranking_scorer,
    merge,
    structured,
)
from lowrank_rank.evaluation import compare_judged, compare_rankers, per_query
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.plotting import PreferenceMatrixDisplay
from lowrank_rank.structured import StructuredHingeRanker

from .measures import average_precision

#: Further parameters of estimators of several columns, by class.
PARAMETERS = {
    LowRankSurrogateRanker: {"estimator": "ridge", "target_loss": "precision@1"},
    StructuredHingeRanker: {"solver": "sgd", "alpha": 0.1, "target_loss": "kendall"},
    StackingRanker: {
        "estimators": [("ridge", LowRankSurrogateRanker(estimator="ridge"))]
    },
    PairwiseDAGRanker: {"estimator": "ridge"},
}
#: Estimators of one label for each row.
ONE_COLUMN = {
    "HistGradientBoostingRanker",
    "WrappedRanker",
    "LowRankSurrogateClassifier",
}
ONE_COLUMN |= {"StructuredHingeClassifier", "StructuredHingeBinaryClassifier"}
ONE_COLUMN |= {"StructuredHingeSequenceClassifier", "PrecisionAtKPerceptron"}
OTHER = r"column 0 of y is 'k', not 'i'"


def estimators():
    """Public estimators of the top level and of `structured`, by inspection."""
    for module in (lowrank_rank, structured):
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isclass(one) and hasattr(one, "fit") and name not in ONE_COLUMN:
                yield one


ESTIMATORS = sorted(set(estimators()), key=lambda one: one.__name__)


def make_frames():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=list("ab"))
    y = (
        pd.DataFrame({"i": X["a"], "j": X["b"], "k": -X["a"]})
        + rng.normal(size=(60, 3)) / 10
    )
    return X, (y > 0).astype(int)


def test_the_table_has_the_estimators_of_several_columns():
    assert {OrderPreservingRegressor, LowRankSurrogateMultilabelClassifier} < set(
        ESTIMATORS
    )
    assert len(ESTIMATORS) >= 6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_of_several_columns(kind):
    X, y = make_frames()
    other = y[list("kji")]
    model = kind(**PARAMETERS.get(kind, {})).fit(X, y)
    assert model.item_names_.tolist() == ["i", "j", "k"]
    value = model.score(X, y)
    assert model.score(X, y.to_numpy()) == value  # arrays have no names
    with pytest.raises(ValueError, match=OTHER):
        model.score(X, other)
    scorer = make_ranking_scorer("precision@1")
    with pytest.raises(ValueError, match=OTHER):
        scorer(model, X, other)
    if hasattr(model, "partial_fit"):
        batches = kind(**PARAMETERS.get(kind, {})).partial_fit(X, y)
        with pytest.raises(ValueError, match=OTHER):
            batches.partial_fit(X, other)
        assert batches.item_names_.tolist() == ["i", "j", "k"]
    if hasattr(model, "fit_blocks"):
        with pytest.raises(ValueError, match=OTHER):
            kind(**PARAMETERS.get(kind, {})).fit_blocks([(X, y), (X, other)])
    assert not hasattr(model.fit(X, y.to_numpy()), "item_names_")


def test_columns_with_numbers_and_polars():
    X, y = make_frames()
    model = LowRankSurrogateRanker().fit(X, y.set_axis([0, 1, 2], axis=1))
    with pytest.raises(ValueError, match="column 0 of y is 2, not 0"):
        model.score(X, y.set_axis([2, 1, 0], axis=1))
    polars = pytest.importorskip("polars")
    model = LowRankSurrogateRanker().fit(X, polars.DataFrame(y.to_dict("list")))
    with pytest.raises(ValueError, match=OTHER):
        model.score(X, y[list("kji")])


def test_labels_and_scores_of_measures():
    _, y = make_frames()
    other = y[list("kji")]
    for call in (
        lambda: ndcg_score(y, other),
        lambda: per_query(y, other),
        lambda: average_precision(y, other),
        lambda: compare_rankers(y, {"one": y, "two": other}),
        lambda: compare_judged(y, other, {"one": y, "two": y}, zero_division=0),
    ):
        with pytest.raises(ValueError, match="should be those of"):
            call()
    column = y[["i"]]
    with pytest.warns(DataConversionWarning):  # one column is documents
        assert ndcg_score(column, column.set_axis(["score"], axis=1)) == pytest.approx(
            1.0
        )


def test_parts_of_other_columns_do_not_merge():
    X, y = make_frames()
    parts = [
        LowRankSurrogateRanker(estimator="ridge").fit(
            X.iloc[rows], y.iloc[rows][list(names)]
        )
        for rows, names in ((slice(30), "ijk"), (slice(30, 60), "kji"))
    ]
    with pytest.raises(ValueError, match="models of the same columns: item_names_"):
        merge(parts)
    same = LowRankSurrogateRanker(estimator="ridge").fit(X.iloc[30:], y.iloc[30:])
    assert merge([parts[0], same]).item_names_.tolist() == ["i", "j", "k"]


def test_preferences_are_drawn_with_the_names():
    X, y = make_frames()
    model = PairwiseDAGRanker().fit(X, y)
    drawn = PreferenceMatrixDisplay.from_estimator(model, X[:1])
    assert list(drawn.item_names) == ["i", "j", "k"]
    model = PairwiseDAGRanker().fit(X, y.to_numpy())
    assert PreferenceMatrixDisplay.from_estimator(model, X[:1]).item_names is None
