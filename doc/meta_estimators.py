"""Which tools of scikit-learn keep the query ids, in which of the three ways.

The guide shows this table, and ``tests/test_meta_estimators.py`` tries every entry of it, on the
oldest and the newest scikit-learn.
"""

from typing import NamedTuple

#: Equal to the result by hand, query by query.
RIGHT = "right"
#: An exception of this package or of scikit-learn.
RAISES = "raises"
#: All rows are one list, without a word.
LOST = "lost"

#: The columns: how the ids are carried.
WAYS = {
    "target": "``ranking_target``",
    "series": "pandas index",
    "routing": "routing",
}


class Outcome(NamedTuple):
    """What comes of each way, and what else is to be known."""

    target: str
    series: str
    routing: str
    note: str = ""


_ARRAY = "makes an array of y; the scorer raises"
_PAIRS = "encodes the y of classifiers"

TABLE = {
    "Pipeline": Outcome(RIGHT, RIGHT, RIGHT),
    "ColumnTransformer": Outcome(
        RIGHT, RIGHT, RIGHT, "in a Pipeline, before the ranker"
    ),
    "GridSearchCV": Outcome(RIGHT, RIGHT, RIGHT),
    "RandomizedSearchCV": Outcome(RIGHT, RIGHT, RIGHT),
    "HalvingGridSearchCV": Outcome(
        RIGHT, RIGHT, RIGHT, "small rounds cut queries apart"
    ),
    "HalvingRandomSearchCV": Outcome(
        RIGHT, RIGHT, RIGHT, "small rounds cut queries apart"
    ),
    "cross_validate": Outcome(RIGHT, RIGHT, RIGHT),
    "cross_val_predict": Outcome(RIGHT, RIGHT, RIGHT),
    'cross_val_predict(method="decision_function")': Outcome(
        RAISES, LOST, RIGHT, "a classifier's y is encoded before the folds are cut"
    ),
    "learning_curve": Outcome(RIGHT, RIGHT, RIGHT, "small sizes cut queries apart"),
    "permutation_importance": Outcome(RIGHT, RIGHT, RAISES, "has no metadata routing"),
    "SequentialFeatureSelector": Outcome(RIGHT, RIGHT, RIGHT),
    "RFE": Outcome(RIGHT, RAISES, RIGHT, _ARRAY),
    "RFECV": Outcome(RIGHT, RAISES, RIGHT, "makes an array of y"),
    "BaggingRegressor": Outcome(
        RIGHT, RAISES, RIGHT, "draws rows, which cuts queries apart"
    ),
    "VotingRegressor": Outcome(RIGHT, RAISES, RIGHT, _ARRAY),
    "StackingRegressor": Outcome(
        RIGHT, RAISES, RIGHT, "the inner folds cut queries apart unless ``cv`` is given"
    ),
    "BaggingClassifier": Outcome(RAISES, RAISES, RIGHT, _PAIRS),
    "VotingClassifier": Outcome(RAISES, RAISES, RIGHT, _PAIRS + "; soft voting only"),
    "StackingClassifier": Outcome(RAISES, RAISES, RIGHT, _PAIRS),
    "CalibratedClassifierCV": Outcome(
        RAISES, RIGHT, RIGHT, "``ensemble=False`` loses the pandas index for its curve"
    ),
    "SelfTrainingClassifier": Outcome(
        RAISES, RAISES, RAISES, "fits on some rows and routes the ids of all"
    ),
    "TransformedTargetRegressor": Outcome(RAISES, RAISES, RIGHT, "computes with y"),
    "RANSACRegressor": Outcome(
        RAISES, RAISES, RIGHT, "draws rows, which cuts queries apart"
    ),
    "AdaBoostRegressor": Outcome(
        RAISES, RAISES, RAISES, "computes with y; use it as ``estimator=`` of a ranker"
    ),
    "MultiOutputRegressor": Outcome(
        RAISES, LOST, RIGHT, "y has a column for each of several grades of a row"
    ),
}
