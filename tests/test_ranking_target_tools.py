"""What tools of scikit-learn do with a `ranking_target`: they keep the ids, or say so."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NeighborhoodComponentsAnalysis,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import resample, shuffle

from lowrank_rank import (
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking

from .refusals import refused_by

X, Y, QID = make_ranking(n_lists=20, random_state=0)
X = np.abs(X)  # chi2 takes counts
TARGET = ranking_target(Y, QID)
RANKER = OrderPreservingRegressor()
FOLDS = {
    "cv": GroupKFold(3),
    "groups": QID,
    "scoring": make_ranking_scorer("ndcg@5"),
    "error_score": "raise",
}
HALVES = list(GroupKFold(2).split(X, groups=QID))

#: They would take each pair of grade and id for a class.
SORT = {
    "f_classif": SelectKBest(f_classif, k=3),
    "chi2": SelectKBest(chi2, k=3),
    "mutual_info_classif": SelectKBest(mutual_info_classif, k=3),
    "SelectPercentile": SelectPercentile(),
    "SelectFdr": SelectFdr(),
    "SelectFromModel of a tree": SelectFromModel(DecisionTreeClassifier()),
    "RFECV of LogisticRegression": RFECV(LogisticRegression()),
    "DecisionTreeClassifier": DecisionTreeClassifier(),
    "RandomForestClassifier": RandomForestClassifier(2),
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(max_iter=2),
    "LogisticRegression": LogisticRegression(),
    "RidgeClassifier": RidgeClassifier(),
    "SGDClassifier": SGDClassifier(),
    "SVC": SVC(),
    "GaussianNB": GaussianNB(),
    "KNeighborsClassifier": KNeighborsClassifier(),
    "NeighborhoodComponentsAnalysis": NeighborhoodComponentsAnalysis(max_iter=2),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "CalibratedClassifierCV": CalibratedClassifierCV(LogisticRegression()),
    "AdaBoostClassifier": AdaBoostClassifier(),
    "VotingClassifier": VotingClassifier([("one", LogisticRegression())]),
    "TargetEncoder": TargetEncoder(),
}
#: They convert y to floats, and NumPy shows the types of its fields.
CONVERT = {
    "f_regression": SelectKBest(f_regression, k=3),
    "mutual_info_regression": SelectKBest(mutual_info_regression, k=3),
    "SelectFromModel of Lasso": SelectFromModel(Lasso()),
    "RFE of Ridge": RFE(Ridge()),
    "DecisionTreeRegressor": DecisionTreeRegressor(),
    "RandomForestRegressor": RandomForestRegressor(2),
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor(max_iter=2),
    "Ridge": Ridge(),
    "SVR": SVR(),
    "PLSRegression": PLSRegression(),
    "AdaBoostRegressor": AdaBoostRegressor(RANKER),
}
#: They take rows out of y, and the ids with them.
KEEP = {
    "StandardScaler": make_pipeline(StandardScaler(), RANKER),
    "RFE of a ranker": RFE(RANKER, n_features_to_select=2),
    "BaggingRegressor": BaggingRegressor(RANKER, 2, random_state=0),
    "VotingRegressor": VotingRegressor([("one", RANKER)]),
    "StackingRegressor": StackingRegressor([("one", RANKER)], RANKER, cv=HALVES),
    "SequentialFeatureSelector": SequentialFeatureSelector(
        RANKER, n_features_to_select=1, cv=HALVES
    ),
}


@pytest.mark.parametrize("tool", SORT)
def test_tools_that_sort_rows_say_which_line_to_write(tool):
    with refused_by("rows of a target as classes", TypeError) as said:
        SORT[tool].fit(X, TARGET)
    assert "WrappedRanker" in str(said.value)


@pytest.mark.parametrize("tool", CONVERT)
def test_tools_that_read_floats_raise_and_name_the_wrapper(tool):
    with pytest.raises(TypeError, match="use W"):  # NumPy cuts long types
        CONVERT[tool].fit(X, TARGET)


def test_neighbours_raise_where_they_average():
    with pytest.raises(TypeError):
        KNeighborsRegressor().fit(X, TARGET).predict(X)


@pytest.mark.parametrize("tool", KEEP)
def test_tools_that_take_rows_keep_the_ids(tool):
    model = KEEP[tool].fit(X, TARGET)
    inner = getattr(model, "estimators_", None) or [getattr(model, "estimator_", None)]
    for one in inner:
        assert getattr(one, "n_lists_", 2) > 1


@pytest.mark.parametrize(
    "split",
    [
        lambda: list(StratifiedKFold(2).split(X, TARGET)),
        lambda: list(StratifiedGroupKFold(2).split(X, TARGET, QID)),
        lambda: list(StratifiedShuffleSplit(2).split(X, TARGET)),
        lambda: train_test_split(X, TARGET, stratify=TARGET),
        lambda: cross_val_score(
            PrecisionAtKPerceptron(), X, ranking_target(Y > 1, QID), cv=3
        ),
        lambda: np.unique(TARGET),
        lambda: LabelEncoder().fit(TARGET),
    ],
)
def test_folds_of_classes_say_which_line_to_write(split):
    with refused_by("rows of a target as classes", TypeError) as said:
        split()
    assert "GroupKFold" in str(said.value)


def test_folds_of_queries_keep_the_ids():
    expected = []
    for train, test in GroupKFold(3).split(X, groups=QID):
        model = clone(RANKER).fit(X[train], Y[train], qid=QID[train])
        value = FOLDS["scoring"](model, X[test], Y[test], qid=QID[test])
        expected.append(value)
    found = cross_val_score(RANKER, X, TARGET, **FOLDS)
    np.testing.assert_allclose(found, expected)
    options = {key: value for key, value in FOLDS.items() if key != "groups"}
    search = GridSearchCV(RANKER, {"alpha": ["auto"]}, n_jobs=2, **options)
    search.fit(X, TARGET, groups=QID)
    assert search.best_score_ == pytest.approx(np.mean(expected))
    *_, scores = learning_curve(RANKER, X, TARGET, train_sizes=[1.0], **FOLDS)
    assert np.all((scores > 0) & (scores <= 1))
    predicted = cross_val_predict(RANKER, X, TARGET, cv=GroupKFold(3), groups=QID)
    assert predicted.shape == Y.shape


@pytest.mark.parametrize(
    "copied",
    [
        lambda target, folder: pickle.loads(pickle.dumps(target)),
        lambda target, folder: np.concatenate([target[:9], target[9:]]),
        lambda target, folder: target[np.ones(len(target), dtype=bool)],
        lambda target, folder: target[::1],
        lambda target, folder: shuffle(target, random_state=0),
        lambda target, folder: resample(target, random_state=0),
        lambda target, folder: saved_by_numpy(target, folder / "target.npy"),
        lambda target, folder: mapped_by_joblib(target, folder / "target.joblib"),
    ],
)
def test_copies_keep_the_fields_and_refuse_to_be_sorted(copied, tmp_path):
    copy = copied(TARGET, tmp_path)
    assert copy.dtype == TARGET.dtype
    assert clone(RANKER).fit(X, copy).n_lists_ > 1
    with refused_by("rows of a target as classes", TypeError):
        np.sort(copy)


def saved_by_numpy(target, path):
    np.save(path, target)
    return np.load(path, allow_pickle=True)


def mapped_by_joblib(target, path):
    joblib.dump(target, path)
    return joblib.load(path, mmap_mode="r")


def test_the_wrapper_gives_a_selection_the_grades():
    selection = make_pipeline(SelectKBest(k=3), RANKER)
    wrapped = WrappedRanker(selection).fit(X, TARGET)
    chosen = SelectKBest(k=3).fit(X, Y).get_support()
    by_hand = clone(RANKER).fit(X[:, chosen], TARGET).predict(X[:, chosen])
    np.testing.assert_allclose(wrapped.predict(X), by_hand)
