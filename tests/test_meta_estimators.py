"""Every tool of scikit-learn in the three ways to carry qid: by hand, an error, or a known loss."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import RANSACRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    StratifiedGroupKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from lowrank_rank import (
    LowRankSurrogateRanker,
    PrecisionAtKPerceptron,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score

DOC = Path(__file__).resolve().parent.parent / "doc"
if not DOC.is_dir():
    pytest.skip("doc/ is not beside tests/", allow_module_level=True)
sys.path.append(str(DOC))

from meta_estimators import LOST, RAISES, RIGHT, TABLE, WAYS  # noqa: E402

from .refusals import refused_by  # noqa: E402

# Data -------------------------------------------------------------------------------


def shuffled_rows():
    """Queries with effects of their own, which only a model of all rows as one list learns."""
    X, y, qid = make_ranking(24, (3, 8), n_features=5, noise=2.0, random_state=0)
    rng = np.random.default_rng(0)
    X[:, 0] += rng.normal(size=24)[qid]
    order = rng.permutation(len(y))
    return X[order], y[order], qid[order]


X, Y, QID = shuffled_rows()
LABEL = (Y > 0).astype(int)
SOME_UNKNOWN = np.where(np.arange(len(Y)) % 5, LABEL, -1)
TWO = np.column_stack([Y, Y[::-1]])
SPLITS = list(LeaveOneGroupOut().split(X, groups=QID % 3))
SCORER = make_ranking_scorer("ndcg@5")
RANKER = LowRankSurrogateRanker(alpha=1.0)
STRONG = LowRankSurrogateRanker(alpha=100.0)
#: Without a random number, so that a tool that sets seeds changes nothing.
PERCEPTRON = PrecisionAtKPerceptron(batch_size=10_000)
GRID = {"alpha": [0.1, 100.0]}
SEARCH = {"cv": SPLITS, "scoring": SCORER, "error_score": "raise"}
CURVE = np.array([0.5, 1.0])


def carried(y, way):
    """y and the parameters that bring its ids in one of the ways."""
    if way == "target":
        return ranking_target(y if y.ndim == 1 else y[:, 0], QID), {}
    if way == "series":
        index = pd.Index(QID, name="qid")
        return (pd.Series if y.ndim == 1 else pd.DataFrame)(y, index=index), {}
    return y, {"qid": QID} if way == "routing" else {}


# By hand ----------------------------------------------------------------------------


def per_query(scores, rows=None, y=Y):
    rows = np.arange(len(y)) if rows is None else rows
    lists = [rows[QID[rows] == q] for q in np.unique(QID[rows])]
    place = np.empty(len(y), dtype=int)
    place[rows] = np.arange(len(rows))
    return np.nanmean([ndcg_score(y[one], scores[place[one]], k=5) for one in lists])


def fitted(rows=None, model=RANKER, y=Y, features=None):
    rows = np.arange(len(y)) if rows is None else rows
    Z = X if features is None else X[:, features]
    return clone(model).fit(Z[rows], y[rows], qid=QID[rows])


def fold_scores(model=RANKER, features=None):
    """The score of each fold, fitted and measured by query."""
    features = np.arange(5) if features is None else features
    models = [fitted(train, model, features=features) for train, _ in SPLITS]
    return [
        per_query(model.predict(X[test][:, features]), test)
        for model, (_, test) in zip(models, SPLITS, strict=True)
    ]


def out_of_fold(model, y=Y, method="predict"):
    scores = np.empty(len(y))
    for train, test in SPLITS:
        scores[test] = getattr(fitted(train, model, y), method)(X[test])
    return scores


def best_of_grid():
    return max(
        np.mean(fold_scores(clone(RANKER).set_params(alpha=a))) for a in GRID["alpha"]
    )


def scaled(columns):
    Z = X.copy()
    Z[:, columns] = StandardScaler().fit_transform(X[:, columns])
    return per_query(clone(RANKER).fit(Z, Y, qid=QID).predict(Z))


def curve_by_hand():
    sizes = (CURVE * len(SPLITS[0][0])).astype(int)
    return [
        np.mean([per_query(fitted(a[:n]).predict(X[b]), b) for a, b in SPLITS])
        for n in sizes
    ]


def importance_by_hand():
    def scoring(model, Z, _):
        return per_query(model.predict(Z))

    return permutation_importance(
        fitted(), X, Y, scoring=scoring, random_state=0
    ).importances


def eliminated(rows, n_left):
    """Features that are left after those of the smallest coefficients, one at a time."""
    left = np.arange(5)
    while len(left) > n_left:
        coef = fitted(rows, features=left).coef_
        left = np.delete(left, np.argmin(np.abs(coef)))
    return left


def rfe_by_hand():
    left = eliminated(None, 2)
    return per_query(fitted(features=left).predict(X[:, left]))


def rfecv_by_hand():
    means = []
    for n in range(1, 6):
        scores = []
        for train, test in SPLITS:
            left = eliminated(train, n)
            model = fitted(train, features=left)
            scores.append(per_query(model.predict(X[test][:, left]), test))
        means.append(np.mean(scores))
    return means


def forward_selection():
    chosen = []
    for _ in range(2):
        rest = [f for f in range(5) if f not in chosen]
        means = [np.mean(fold_scores(features=[*chosen, f])) for f in rest]
        chosen.append(rest[int(np.argmax(means))])
    return np.isin(np.arange(5), chosen)


def stacked(base, y=Y, method="predict"):
    """The final model is fitted to what the base says of rows that it has not seen."""
    final = clone(base).fit(out_of_fold(base, y, method)[:, None], y, qid=QID)
    scores = getattr(fitted(model=base, y=y), method)(X)[:, None]
    return per_query(getattr(final, method)(scores), y=y)


def calibrated():
    """The mean probability of a model and a curve for each fold."""
    curves = [
        CalibratedClassifierCV(FrozenEstimator(fitted(a, PERCEPTRON, LABEL))).fit(
            X[b], LABEL[b]
        )
        for a, b in SPLITS
    ]
    return np.mean([curve.predict_proba(X)[:, 1] for curve in curves], axis=0)


# Tools ------------------------------------------------------------------------------


class Case(NamedTuple):
    """What a tool gives for y and parameters; the same by hand; what the errors say."""

    run: Callable
    by_hand: Callable | None = None
    messages: dict = {}  # noqa: RUF012
    y: np.ndarray = Y


def score_of(model):
    return lambda y, params: SCORER(clone(model).fit(X, y, **params), X, y, **params)


def search_of(tool, **settings):
    return lambda y, params: (
        tool(RANKER, GRID, **SEARCH, **settings).fit(X, y, **params).best_score_
    )


def plain(model=RANKER, y=Y, method="predict"):
    return lambda: per_query(getattr(fitted(model=model, y=y), method)(X), y=y)


def calibrated_score(y, params):
    """A list of the probabilities themselves: a curve over all rows may turn the order around."""
    return clone(CALIBRATED).fit(X, y, **params).predict_proba(X)[:, 1]


NO_IDS_INSIDE = {"series": "carries query ids, but a model inside"}
NUMERIC = {"target": "not compatible with arrays", **NO_IDS_INSIDE}
PAIRS = {"target": "plain grades", **NO_IDS_INSIDE}
CALIBRATED = CalibratedClassifierCV(PERCEPTRON, cv=SPLITS)
ALL_ROWS = {"min_resources": len(Y), "random_state": 0}

CASES = {
    "Pipeline": Case(
        score_of(make_pipeline(StandardScaler(), RANKER)),
        lambda: scaled([0, 1, 2, 3, 4]),
    ),
    "ColumnTransformer": Case(
        score_of(
            make_pipeline(
                ColumnTransformer(
                    [("a", StandardScaler(), [0, 1])], remainder="passthrough"
                ),
                RANKER,
            )
        ),
        lambda: scaled([0, 1]),
    ),
    "GridSearchCV": Case(search_of(GridSearchCV), best_of_grid),
    "RandomizedSearchCV": Case(
        search_of(RandomizedSearchCV, n_iter=2, random_state=0), best_of_grid
    ),
    "HalvingGridSearchCV": Case(
        search_of(HalvingGridSearchCV, **ALL_ROWS), best_of_grid
    ),
    "HalvingRandomSearchCV": Case(
        search_of(HalvingRandomSearchCV, n_candidates=2, **ALL_ROWS), best_of_grid
    ),
    "cross_validate": Case(
        lambda y, params: cross_val_score(RANKER, X, y, params=params, **SEARCH),
        fold_scores,
    ),
    "cross_val_predict": Case(
        lambda y, params: cross_val_predict(RANKER, X, y, cv=SPLITS, params=params),
        lambda: out_of_fold(RANKER),
    ),
    'cross_val_predict(method="decision_function")': Case(
        lambda y, params: cross_val_predict(
            PERCEPTRON, X, y, cv=SPLITS, params=params, method="decision_function"
        ),
        lambda: out_of_fold(PERCEPTRON, LABEL, "decision_function"),
        {"target": "plain grades"},
        LABEL,
    ),
    "learning_curve": Case(
        lambda y, params: learning_curve(
            RANKER, X, y, train_sizes=CURVE, params=params, **SEARCH
        )[2].mean(axis=1),
        curve_by_hand,
    ),
    "permutation_importance": Case(
        lambda y, params: (
            permutation_importance(
                clone(RANKER).fit(X, y, **params), X, y, scoring=SCORER, random_state=0
            ).importances
        ),
        importance_by_hand,
        {"routing": "There is no qid, but the model was fitted on rows with query ids"},
    ),
    "SequentialFeatureSelector": Case(
        lambda y, params: (
            SequentialFeatureSelector(
                RANKER, n_features_to_select=2, cv=SPLITS, scoring=SCORER
            )
            .fit(X, y, **params)
            .support_
        ),
        forward_selection,
    ),
    "RFE": Case(
        score_of(RFE(RANKER, n_features_to_select=2)), rfe_by_hand, NO_IDS_INSIDE
    ),
    "RFECV": Case(
        lambda y, params: (
            RFECV(RANKER, cv=SPLITS, scoring=SCORER)
            .fit(X, y, **params)
            .cv_results_["mean_test_score"]
        ),
        rfecv_by_hand,
        {"series": "no qid beside the labels"},
    ),
    "BaggingRegressor": Case(
        score_of(BaggingRegressor(RANKER, n_estimators=2, bootstrap=False)),
        plain(),
        NO_IDS_INSIDE,
    ),
    "VotingRegressor": Case(
        score_of(VotingRegressor([("a", RANKER), ("b", STRONG)])),
        lambda: per_query(fitted().predict(X) + fitted(model=STRONG).predict(X)),
        NO_IDS_INSIDE,
    ),
    "StackingRegressor": Case(
        score_of(StackingRegressor([("a", RANKER)], RANKER, cv=SPLITS)),
        lambda: stacked(RANKER),
        NO_IDS_INSIDE,
    ),
    "BaggingClassifier": Case(
        score_of(
            BaggingClassifier(
                PERCEPTRON, n_estimators=1, bootstrap=False, random_state=0
            )
        ),
        plain(PERCEPTRON, LABEL, "decision_function"),
        PAIRS,
        LABEL,
    ),
    "VotingClassifier": Case(
        score_of(VotingClassifier([("a", CALIBRATED)], voting="soft")),
        lambda: per_query(calibrated(), y=LABEL),
        PAIRS,
        LABEL,
    ),
    "StackingClassifier": Case(
        score_of(StackingClassifier([("a", PERCEPTRON)], PERCEPTRON, cv=SPLITS)),
        lambda: stacked(PERCEPTRON, LABEL, "decision_function"),
        PAIRS,
        LABEL,
    ),
    "CalibratedClassifierCV": Case(calibrated_score, calibrated, PAIRS, LABEL),
    "SelfTrainingClassifier": Case(
        score_of(SelfTrainingClassifier(CalibratedClassifierCV(PERCEPTRON, cv=3))),
        None,
        {
            "target": "structured or void",
            "series": "carries query ids, but a model inside",
            "routing": "qid has the length .*, but there are",
        },
        SOME_UNKNOWN,
    ),
    "TransformedTargetRegressor": Case(
        score_of(
            TransformedTargetRegressor(RANKER, func=np.sqrt, inverse_func=np.square)
        ),
        lambda: per_query(fitted(y=np.sqrt(Y)).predict(X) ** 2),
        NUMERIC,
    ),
    "RANSACRegressor": Case(
        score_of(
            RANSACRegressor(
                RANKER, min_samples=0.9, residual_threshold=1e6, max_trials=2
            )
        ),
        plain(),
        NUMERIC,
    ),
    "AdaBoostRegressor": Case(
        score_of(AdaBoostRegressor(RANKER, n_estimators=2, random_state=0)),
        None,
        {
            "target": "ufunc",
            "routing": "unexpected keyword argument 'qid'",
            **NO_IDS_INSIDE,
        },
    ),
    "MultiOutputRegressor": Case(
        lambda y, params: MultiOutputRegressor(RANKER).fit(X, y, **params).predict(X),
        lambda: np.column_stack([fitted(y=y).predict(X) for y in TWO.T]),
        {"target": "at least two dimensions"},
        TWO,
    ),
}


def test_the_table_has_every_tool():
    assert list(TABLE) == list(CASES)


@pytest.mark.filterwarnings(
    "ignore::lowrank_rank.CutQueriesWarning"
)  # RANSAC draws rows
@pytest.mark.filterwarnings("ignore:.*was fitted without query ids")  # and scores them
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TABLE)
def test_what_the_table_says(tool, way):
    case, outcome = CASES[tool], getattr(TABLE[tool], way)
    y, params = carried(case.y, way)
    with config_context(enable_metadata_routing=way == "routing"):
        if outcome == RAISES:
            with pytest.raises((ValueError, TypeError), match=case.messages[way]):
                case.run(y, params)
            return
        found = case.run(y, params)
    if outcome == RIGHT:
        assert_allclose(found, case.by_hand(), rtol=1e-9)
    else:
        assert outcome == LOST
        assert_allclose(found, case.run(case.y, {}), rtol=1e-9)


@pytest.mark.parametrize("tool", [name for name, case in CASES.items() if case.by_hand])
def test_labels_without_ids_are_refused_or_give_another_result(tool):
    """Scorers refuse them; a tool without a scorer fits one list of all rows."""
    case = CASES[tool]
    try:
        found = case.run(case.y, {})
    except (ValueError, UserWarning) as error:
        words = ("no qid beside the labels", "without query ids", "has no lists")
        assert any(word in str(error) for word in words)  # noqa: PT017
        return
    assert not np.allclose(found, case.by_hand())


def test_default_scores_refuse_lost_ids_too():
    """`RFE.score` is that of the ranker, which sees the ids of y and was fitted without."""
    y, _ = carried(Y, "series")
    selection = RFE(RANKER, n_features_to_select=2).fit(X, y)
    with refused_by("ids lost in fit"):
        selection.score(X, y)
    target = ranking_target(Y, QID)
    assert 0 < RFE(RANKER, n_features_to_select=2).fit(X, target).score(X, y) <= 1
    with refused_by("ids lost in fit"):
        clone(RANKER).fit(X, Y).score(X, target)


# Other tools ------------------------------------------------------------------------


def test_grades_are_permuted_within_queries():
    """`groups` do it, where routing is off: the ids of a `ranking_target` stay in their places."""
    target = ranking_target(Y, QID)
    score, permuted, _ = permutation_test_score(
        RANKER,
        X,
        target,
        groups=QID,
        cv=SPLITS,
        scoring=SCORER,
        n_permutations=3,
        random_state=0,
    )
    assert_allclose(score, np.mean(fold_scores()))
    rng, by_hand = np.random.RandomState(0), []
    for _ in range(3):
        y = Y.copy()
        for q in np.unique(QID):
            rows = np.flatnonzero(np.equal(QID, q))
            y[rows] = Y[rng.permutation(rows)]
        models = [fitted(train, y=y) for train, _ in SPLITS]
        by_hand.append(
            np.mean(
                [
                    per_query(m.predict(X[b]), b, y)
                    for m, (_, b) in zip(models, SPLITS, strict=True)
                ]
            )
        )
    assert_allclose(permuted, by_hand)


class Ids(LowRankSurrogateRanker):
    """Scores 1 where the ids of y are in their places."""

    def score(self, X, y, sample_weight=None, *, qid=None):
        return float(np.array_equal(y["qid"], QID[X[:, 0].astype(int)]))


def test_without_groups_the_ids_are_permuted_too():
    numbered = np.column_stack([np.arange(len(Y)), X])
    target = ranking_target(Y, QID)
    common = {"cv": SPLITS, "n_permutations": 3, "random_state": 0}
    assert permutation_test_score(Ids(), numbered, target, **common)[1].tolist() == [
        0,
        0,
        0,
    ]
    within = permutation_test_score(Ids(), numbered, target, groups=QID, **common)[1]
    assert within.tolist() == [1, 1, 1]
    with config_context(
        enable_metadata_routing=True
    ):  # the groups go to the folds alone
        params = {"groups": QID}
        routed = permutation_test_score(
            Ids(), numbered, target, params=params, **{**common, "cv": GroupKFold(3)}
        )
    assert routed[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("tool", ["bagging", "voting", "rfecv"])
def test_without_scoring_regressors_are_judged_by_r2(tool):
    """Of the grades, whatever the ranker inside aims at."""
    y, settings = ranking_target(Y, QID), {"cv": SPLITS, "error_score": "raise"}
    if tool == "rfecv":
        with pytest.raises((ValueError, TypeError)):
            RFECV(RANKER, cv=SPLITS).fit(X, y)
        with config_context(enable_metadata_routing=True):
            found = (
                RFECV(RANKER, cv=SPLITS)
                .fit(X, Y, qid=QID)
                .cv_results_["mean_test_score"][-1]
            )
    else:
        model = BaggingRegressor(RANKER, n_estimators=1, bootstrap=False)
        model = model if tool == "bagging" else VotingRegressor([("a", RANKER)])
        with pytest.raises((ValueError, TypeError)):
            GridSearchCV(model, {}, **settings).fit(X, y)
        with config_context(enable_metadata_routing=True):
            found = GridSearchCV(model, {}, **settings).fit(X, Y, qid=QID).best_score_
    r2 = [r2_score(Y[b], fitted(a).predict(X[b])) for a, b in SPLITS]
    assert_allclose(found, np.mean(r2))


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore::lowrank_rank.CutQueriesWarning")
def test_an_integer_cv_of_a_classifier_is_refused():
    """It stratifies, and rows are never classes; folds of whole queries are by hand."""
    settings = {"X": X, "estimator": PERCEPTRON, "y": ranking_target(LABEL, QID)}
    settings |= {"scoring": SCORER, "error_score": "raise"}
    with refused_by("rows of a target as classes", TypeError):
        cross_val_score(cv=3, **settings)
    splits = list(StratifiedGroupKFold(3).split(X, LABEL, QID))
    assert not any(set(QID[a]) & set(QID[b]) for a, b in splits)
    by_hand = [
        per_query(fitted(a, PERCEPTRON, LABEL).decision_function(X[b]), b, LABEL)
        for a, b in splits
    ]
    assert_allclose(cross_val_score(cv=splits, **settings), by_hand)
