"""LowRankSurrogateClassifier: costs, labels, components, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_backend
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import LowRankSurrogateClassifier, merge, ranking_target
from lowrank_rank.structured import StructuredHingeClassifier

from .block_cases import blocks_of
from .reference import wide
from .refusals import refused_by


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.data, data.target_names[data.target]


def test_zero_one_loss_is_ridge_classification(iris):
    """With d = n - 1 outputs: the argmax of ridge on the n indicators."""
    X, y = iris
    ours = LowRankSurrogateClassifier(estimator="ridge").fit(X, y)
    assert ours.n_components_ == 2
    assert ours.approximation_error_ < 1e-12
    scaled = StandardScaler().fit_transform(X)
    theirs = RidgeClassifier(alpha=ours.alpha_ * len(X)).fit(scaled, y)
    assert ours.alpha_ == pytest.approx(0.5 * 4 / 150)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(scaled))
    assert ours.score(X, y) == pytest.approx(np.mean(ours.predict(X) == y))


def test_decisions_minimise_the_estimated_cost():
    """One-hot x: the decision is Bayes-optimal for the labels seen at that x."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 400), rng.integers(0, 4, 400)
    costs = rng.uniform(size=(4, 6))
    model = LowRankSurrogateClassifier(loss_matrix=costs, alpha=1e-9).fit(
        np.eye(5)[x], y
    )
    predicted = model.predict(np.eye(5))
    for value in range(5):
        p = np.bincount(y[x == value], minlength=4)
        assert (p @ costs)[predicted[value]] == pytest.approx((p @ costs).min())
    assert model.decisions_.tolist() == list(range(6))
    assert model.score(np.eye(5)[x], y) == pytest.approx(
        1 - costs[y, predicted[x]].mean()
    )


def test_labels_of_rows_and_columns(iris):
    X, y = iris
    costs = np.array([[0, 1, 5, 0.3], [1, 0, 1, 0.3], [5, 1, 0, 0.3]])
    model = LowRankSurrogateClassifier(
        loss_matrix=costs,
        classes=["virginica", "versicolor", "setosa"],
        decisions=["vi", "ve", "se", "ask"],
    ).fit(X, y)
    assert model.classes_.tolist() == ["virginica", "versicolor", "setosa"]
    assert {"vi", "se"} <= set(model.predict(X)) <= {"vi", "ve", "se", "ask"}
    assert model.predict(X)[0] == "se"
    square = LowRankSurrogateClassifier(
        loss_matrix=costs[:, :3], classes=["virginica", "versicolor", "setosa"]
    )
    assert square.fit(X[:100], y[:100]).predict(X[:1]) == [
        "setosa"
    ]  # a class missing in y


def test_a_frame_names_its_rows_and_columns(iris):
    X, y = iris
    names = ["virginica", "setosa", "versicolor"]
    costs = pd.DataFrame(1.0 - np.eye(3), index=names, columns=names)
    model = LowRankSurrogateClassifier(loss_matrix=costs).fit(X, y)
    assert model.classes_.tolist() == names
    np.testing.assert_array_equal(
        model.predict(X), LowRankSurrogateClassifier().fit(X, y).predict(X)
    )
    for wrong in (costs.rename(index={"setosa": "Setosa"}), costs):
        classes = None if wrong is not costs else sorted(names)
        with refused_by("index of costs"):
            LowRankSurrogateClassifier(loss_matrix=wrong, classes=classes).fit(X, y)
    unnamed = LowRankSurrogateClassifier(loss_matrix=pd.DataFrame(1.0 - np.eye(3))).fit(
        X, y
    )
    assert unnamed.classes_.tolist() == sorted(names)


STAGES = ["low", "mid", "high", "severe"]


@pytest.mark.parametrize(
    "model", [LowRankSurrogateClassifier(), StructuredHingeClassifier()]
)
def test_the_order_of_a_categorical_is_that_of_the_costs(model):
    """Any cost matrix that depends on the order: named classes, an order, or an error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    index = np.clip(np.round(X[:, 0] + 1.5 + rng.normal(size=300)), 0, 3).astype(int)
    y = np.array(STAGES)[index]
    absolute = np.abs(np.subtract.outer(range(4), range(4)))
    named = clone(model).set_params(loss_matrix=absolute, classes=STAGES).fit(X, y)
    cost = absolute[index, [STAGES.index(label) for label in named.predict(X)]].mean()
    assert named.score(X, y) == pytest.approx(1 - cost)
    ordered = pd.Series(pd.Categorical(y, categories=STAGES, ordered=True))
    for costs in (absolute, "absolute"):
        read = clone(model).set_params(loss_matrix=costs)
        found = clone(read).fit(X, ordered)
        assert found.classes_.tolist() == STAGES
        np.testing.assert_allclose(found.coef_, named.coef_, atol=1e-10)
        assert found.score(X, ordered) == named.score(X, y)
        few = np.flatnonzero(y != "severe")  # a fold may lack a class
        assert clone(read).fit(X[few], ordered.iloc[few]).classes_.tolist() == STAGES
        with refused_by("unclear rows of costs"):
            clone(read).fit(X, y)
        with refused_by("unclear rows of costs"):
            clone(read).fit(X, pd.Series(pd.Categorical(y)))  # it has no order
    numbers = clone(model).set_params(loss_matrix="absolute").fit(X, index)
    np.testing.assert_allclose(numbers.coef_, named.coef_, atol=1e-10)
    squared = clone(model).set_params(loss_matrix="squared", classes=STAGES).fit(X, y)
    matrix = clone(model).set_params(loss_matrix=absolute**2, classes=STAGES).fit(X, y)
    np.testing.assert_array_equal(squared.coef_, matrix.coef_)


def test_costs_that_depend_on_no_order_need_none(iris):
    X, y = iris
    plain = LowRankSurrogateClassifier().fit(X, y)
    for costs in (1.0 - np.eye(3), 2.0 - np.eye(3), [[1.0, 2.0]] * 3):
        model = LowRankSurrogateClassifier(loss_matrix=costs).fit(X, y)
        assert model.classes_.tolist() == plain.classes_.tolist()
    model = LowRankSurrogateClassifier(loss_matrix="absolute", estimator="ridge")
    with refused_by("unclear rows of costs"):
        clone(model).partial_fit(X, y, classes=np.unique(y))
    stages = ["virginica", "setosa", "versicolor"]
    ordered = pd.Series(pd.Categorical(y, categories=stages, ordered=True))
    fitted = model.fit(X, ordered)
    assert (
        fitted.partial_fit(X, y).classes_.tolist() == stages
    )  # later batches keep the order


def test_fewer_components_report_their_error():
    X, y = load_digits(return_X_y=True)
    grid = np.arange(10)
    costs = np.abs(grid[:, None] - grid) / 9.0
    full = LowRankSurrogateClassifier(loss_matrix=costs).fit(X, y)
    few = LowRankSurrogateClassifier(loss_matrix=costs, n_components=2).fit(X, y)
    assert few.n_components_ == 2
    assert few.predict_surrogate(X).shape == (len(y), 2)
    assert 0 < few.approximation_error_ < 1
    assert full.approximation_error_ < 1e-12
    assert full.score(X, y) >= few.score(X, y) - 2 * few.approximation_error_
    many = LowRankSurrogateClassifier(loss_matrix=costs, n_components=50).fit(X, y)
    assert many.n_components_ == full.n_components_


@pytest.mark.parametrize(
    "base",
    [Ridge(), DecisionTreeRegressor(random_state=0), KNeighborsRegressor(), SVR()],
)
def test_any_regressor(iris, base):
    X, y = iris
    model = LowRankSurrogateClassifier(estimator=base, n_jobs=2)
    with parallel_backend("threading"):
        model.fit(X, y)
    assert model.score(X, y) > 0.8
    assert hasattr(model, "coef_") == isinstance(base, Ridge)
    alone = clone(model).set_params(n_jobs=None)
    assert cross_val_score(alone, X, y, cv=3, error_score="raise").mean() > 0.75


def test_weights(iris):
    X, y = iris
    weight = np.where(y == "setosa", 0.0, 1.0)
    kept = weight > 0
    ridge = LowRankSurrogateClassifier(estimator="ridge")
    named = clone(ridge).set_params(classes=np.unique(y))
    weighted = clone(named).fit(X, y, sample_weight=weight)
    without = clone(named).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.coef_, without.coef_, atol=1e-10)
    assert weighted.score(X, y, sample_weight=weight) == without.score(X[kept], y[kept])


BAD = {
    "nan": ({"loss_matrix": [[0, np.nan], [1, 0]]}, r"loss_matrix\[0, 1\] is nan"),
    "rows": ({"loss_matrix": np.ones((3, 3))}, "3 rows but y holds 2 labels"),
    "rows of classes": (
        {"loss_matrix": np.ones((3, 3)), "classes": [0, 1]},
        "3 rows but classes has 2",
    ),
    "vector": ({"loss_matrix": [1.0, 0.0]}, "must be a matrix"),
    "unknown label": ({"classes": [0, 2]}, r"y\[1\] = .*1.* not among the classes"),
    "decisions": ({"decisions": ["a"]}, "2 columns"),
    "components": ({"n_components": 0}, "n_components must be an integer >= 1"),
    "alpha": ({"alpha": -1}, "alpha must be"),
    "regressor": (
        {"estimator": None},
        r"estimator must be one of \['auto', 'logistic', 'ridge', 'trees'\] or an instance of a r",
    ),
    "costs in words": (
        {"loss_matrix": "cubed"},
        r"loss_matrix must be one of \['absolute', 'squared'\] or a matrix",
    ),
    "ragged costs": (
        {"loss_matrix": [[0, 1], [1]]},
        "loss_matrix must be an array of numbers",
    ),
    "huge costs": (
        {"loss_matrix": [[0, 1e300], [1, 0]]},
        r"loss_matrix\[0, 1\] is 1e\+300",
    ),
    "mixed classes": ({"classes": np.array([0, "a"], dtype=object)}, "distinct"),
    "no classes": ({"classes": []}, "distinct"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    params, message = BAD[case]
    model = LowRankSurrogateClassifier(**params)
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert vars(model).keys() == LowRankSurrogateClassifier().get_params().keys()


def test_weights_are_refused_where_the_regressor_takes_none():
    with pytest.raises(ValueError, match="does not take sample_weight"):
        LowRankSurrogateClassifier(estimator=KNeighborsRegressor(1)).fit(
            [[0.0], [1.0]], [0, 1], sample_weight=[1, 2]
        )
    with refused_by("missing class"):
        LowRankSurrogateClassifier().fit([[0.0], [1.0]], [0, np.nan])
    with refused_by("label of no class"):
        LowRankSurrogateClassifier().fit([[0.0], [1.0]], [0, 1]).score([[0.0]], [7])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", None, "b"], "the label of row 1 is missing"),
        (np.array(["a", np.nan, "b"], dtype=object), "the label of row 1 is missing"),
        (pd.Series(["a", pd.NA, "b"]), "the label of row 1 is missing"),
        (ranking_target([0, 1, 1], [1, 1, 2]), "y carries query ids.*without lists"),
        (np.ma.masked_array([0, 1, 1], mask=[0, 1, 0]), "y is a masked array"),
        ([[1.0], [1.0, 2.0], [1.0]], "y must hold one class label per row"),
    ],
    ids=["none", "nan", "na", "ranking target", "masked", "ragged"],
)
def test_labels_that_are_no_classes(y, message):
    model = LowRankSurrogateClassifier()
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0], [2.0]], y)
    assert not hasattr(model, "classes_")
    fitted = LowRankSurrogateClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ValueError, match=message):
        fitted.score([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize("y", [["a", "b"], [0, "a"], [0.5, 1]])
def test_scoring_names_labels_of_another_kind(y):
    model = LowRankSurrogateClassifier().fit([[0.0], [1.0]], [0, 1])
    with refused_by("label of no class"):
        model.score([[0.0], [1.0]], y)


def test_many_sparse_features_are_iterated():
    """100,000 features: no matrix of features x features, 74 GiB."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = sparse.random(200, 10**5, density=1e-4, random_state=0, format="csr")
    X = sparse.hstack([X, sparse.csr_matrix(np.eye(3)[y])], format="csr")
    model = LowRankSurrogateClassifier(estimator="ridge").fit(X, y)
    assert model.solver_ == "lsqr"
    assert (
        1 < model.n_iter_ < 200
    )  # 1462 on the scale of the features, without the penalty
    assert model.coef_.shape == (2, 10**5 + 3)
    assert model.score(X, y) == 1.0


def test_the_solvers_agree(iris):
    X, y = iris
    ridge = LowRankSurrogateClassifier(estimator="ridge")
    X = sparse.csr_matrix(X)
    ridge.set_params(alpha=0.1)
    gram = clone(ridge).fit(X, y)
    lsqr = clone(ridge).set_params(tol=1e-12).fit(wide(X.toarray()), y)
    assert (gram.solver_, gram.n_iter_, lsqr.solver_) == ("gram", 1, "lsqr")
    np.testing.assert_allclose(lsqr.coef_[:, :4], gram.coef_, rtol=1e-7, atol=1e-9)
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        clone(ridge).set_params(tol=1e-12, max_iter=1).fit(wide(X.toarray()), y)


# Sums over batches ------------------------------------------------------------------


def same(one, other):
    size = np.abs(other.coef_).max(initial=1e-300)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=0, atol=1e-12)
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.decisions_.tolist() == other.decisions_.tolist()
    assert one.alpha_ == pytest.approx(other.alpha_, rel=1e-12)
    assert one.n_components_ == other.n_components_
    assert one.approximation_error_ == other.approximation_error_


def in_batches(model, blocks, classes):
    for X, y, _, weights in blocks:
        model.partial_fit(X, y, classes, sample_weight=weights)
        classes = None
    return model


COSTS = np.random.default_rng(5).uniform(size=(4, 6))
SUMMED = {
    "0-1": {},
    "costs": {"loss_matrix": COSTS, "classes": list("abcd")},
    "fewer components": {
        "loss_matrix": COSTS,
        "n_components": 2,
        "classes": list("abcd"),
    },
    "alpha is a number": {"alpha": 0.3},
    "named": {"loss_matrix": COSTS, "classes": ["d", "b", "c", "a"]},
    "a frame": {"loss_matrix": pd.DataFrame(COSTS, index=list("dbca"))},
    "all decisions cost the same": {"loss_matrix": np.ones((4, 3))},
}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("case", SUMMED)
def test_memory_batches_blocks_and_parts_are_one_model(case, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.7)
    y = np.array(list("abcd"))[
        rng.integers(0, 4, 300) % (1 + np.digitize(X[:, 0], [-1, 0, 1]))
    ]
    weights = rng.uniform(0.0, 2.0, 300)
    weights[::7] = 0.0
    y[:200][y[:200] == "d"] = "a"  # the first blocks do not see all labels
    model = LowRankSurrogateClassifier(estimator="ridge", **SUMMED[case])
    whole = clone(model).fit(kind(X), y, sample_weight=weights)
    classes = None if case in ("named", "a frame") else list("cadb")
    for seed in range(3):
        blocks = blocks_of(kind(X), y, None, weights, seed=seed, n=2 + 2 * seed)
        same(in_batches(clone(model), blocks, classes), whole)
        same(clone(model).fit_blocks(iter(blocks), classes=classes), whole)
        parts = [clone(model).fit_blocks([block], classes=classes) for block in blocks]
        same(merge(parts), whole)
        merged = merge(pickle.loads(pickle.dumps(parts[::-1])))
        same(merged, whole)
        np.testing.assert_array_equal(merged.predict(X), whole.predict(X))


def test_partial_fit_goes_on_from_fit_and_from_merge(iris):
    X, y = iris
    rows = np.random.default_rng(0).permutation(len(y))
    one, two, three = (rows[i::3] for i in range(3))
    fixed = LowRankSurrogateClassifier(estimator="ridge")
    whole = clone(fixed).fit(X, y)
    model = clone(fixed).fit(X[one], y[one])
    same(model.partial_fit(X[two], y[two]).partial_fit(X[three], y[three]), whole)
    parts = [clone(fixed).fit(X[some], y[some]) for some in (one, two)]
    same(merge(parts).partial_fit(X[three], y[three], np.unique(y)), whole)


def test_what_does_not_add_up_is_refused_and_changes_nothing(iris):
    X, y = iris
    classes = np.unique(y)
    first = LowRankSurrogateClassifier(estimator="ridge")
    for call in (
        lambda: first.partial_fit(X, y),
        lambda: first.fit_blocks([(X, y)]),
        lambda: first.partial_fit(X, y, classes[:2]),
        lambda: first.partial_fit(X, y, ["a", "a"]),
    ):
        with pytest.raises(ValueError, match="classes"):
            call()
        assert vars(first) == vars(LowRankSurrogateClassifier(estimator="ridge"))
    model = clone(first).partial_fit(X, y, classes[::-1])
    before = dict(vars(model))
    for call, message in [
        (lambda: model.partial_fit(X, y, classes[:2]), "not the same as before"),
        (
            lambda: model.partial_fit(X, np.full(len(y), "rose")),
            "not among the classes",
        ),
        (lambda: model.partial_fit(X[:, :2], y), "features"),
        (
            lambda: model.fit_blocks([(X, y, np.zeros(len(y)))], classes=classes),
            "query ids",
        ),
        (lambda: model.fit_blocks([], classes=classes), "no blocks"),
        (lambda: model.fit(X, y, sample_weight=np.zeros(len(y))), "weights are zero"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
        assert vars(model) == before
    changed = clone(model).fit(X, y).set_params(loss_matrix=COSTS[:3, :3])
    with pytest.raises(ValueError, match="had loss MatrixLoss"):
        changed.partial_fit(X, y)
    named = LowRankSurrogateClassifier(estimator="ridge", classes=classes)
    with refused_by("other classes than before"):
        named.partial_fit(X, y, [*classes, "rose"])
    for estimator in ("auto", "logistic", Ridge()):
        assert not hasattr(
            LowRankSurrogateClassifier(estimator=estimator), "partial_fit"
        )
    first.set_params(alpha=0.1)
    parts = [
        clone(first).fit(X[rows], y[rows]) for rows in (slice(100), slice(50, 150))
    ]
    with pytest.raises(ValueError, match="classes"):
        merge(parts)


def test_parts_of_another_decomposition_are_refused(iris):
    """Of equal singular values LAPACK may find any basis: targets in another one do not add up."""
    X, y = iris
    ridge = LowRankSurrogateClassifier(estimator="ridge")
    parts = [clone(ridge).fit(X[i::2], y[i::2]) for i in range(2)]
    loss = parts[1]._loss_
    *_, factors = loss._factorised
    factors["alpha"] = factors["alpha"] @ [[0.6, 0.8], [-0.8, 0.6]]
    with pytest.raises(ValueError, match="Earlier batches had loss MatrixLoss"):
        merge(parts)


def test_named_trees_are_a_forest_that_tells_classes_between_others():
    """Least squares gives the middle one of three classes on a line to nobody; the forest does."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = np.column_stack([y + 0.1 * rng.normal(size=180), rng.normal(size=180)])
    linear = LowRankSurrogateClassifier(estimator="ridge").fit(X, y)
    trees = LowRankSurrogateClassifier(estimator="trees", random_state=0).fit(X, y)
    assert linear.score(X, y) < 0.9 < trees.score(X, y)
    (forest,) = trees.estimators_
    by_hand = clone(forest).fit(X, y)
    X = X + 0.3 * rng.normal(
        size=X.shape
    )  # new rows: each tree knows those of fit by heart
    np.testing.assert_allclose(
        trees.predict_proba(X), by_hand.predict_proba(X), atol=1e-12
    )
    assert trees.predict(X).tolist() == by_hand.predict(X).tolist()
    assert hasattr(LowRankSurrogateClassifier(estimator="trees"), "predict_proba")
    with pytest.raises(ValueError, match="estimator must be"):
        LowRankSurrogateClassifier(estimator="forest").fit(X, y)


# Classifiers inside -------------------------------------------------------------------


def test_probabilities_give_the_decision_of_least_expected_cost(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    costs = rng.uniform(size=(3, 5))
    plain = LogisticRegression(max_iter=1000).fit(X, y)
    model = LowRankSurrogateClassifier(
        loss_matrix=costs,
        classes=np.unique(y),
        estimator=LogisticRegression(max_iter=1000),
    )
    model.fit(X, y)
    expected = plain.predict_proba(X) @ costs
    np.testing.assert_array_equal(model.predict(X), expected.argmin(axis=1))
    assert model.estimators_ == [model.estimator_]
    assert not hasattr(model, "coef_")  # of the surrogate vectors, which are not linear
    zero_one = LowRankSurrogateClassifier(
        estimator=LogisticRegression(max_iter=1000)
    ).fit(X, y)
    np.testing.assert_array_equal(zero_one.predict(X), plain.predict(X))
    least_squares = LowRankSurrogateClassifier(estimator="ridge").fit(X, y)
    assert zero_one.score(X, y) > least_squares.score(X, y) + 0.05
    assert not hasattr(zero_one, "partial_fit")


def test_a_classifier_gets_labels_weights_frames_and_seeds(iris):
    X, y = iris
    weights = np.where(y == "virginica", 3.0, 1.0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = RandomForestClassifier(
        5, class_weight={"setosa": 1, "versicolor": 2, "virginica": 1}
    )
    model = LowRankSurrogateClassifier(estimator=forest, random_state=3)
    found = clone(model).fit(frame, y, sample_weight=weights)
    again = clone(model).fit(frame, y, sample_weight=weights)
    np.testing.assert_array_equal(
        found.predict_surrogate(frame), again.predict_surrogate(frame)
    )
    assert found.estimator_.feature_names_in_.tolist() == list("abcd")
    assert found.feature_importances_.shape == (4,)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    model = LowRankSurrogateClassifier(estimator=scaled)
    other = clone(model).fit(X, y, sample_weight=weights)
    plain = clone(scaled).fit(X, y, logisticregression__sample_weight=weights)
    np.testing.assert_array_equal(other.predict(X), plain.predict(X))
    assert pickle.loads(pickle.dumps(other)).score(X, y) == other.score(X, y)
    sparse_X = sparse.csr_matrix(X)
    logistic = LowRankSurrogateClassifier(estimator=LogisticRegression(max_iter=1000))
    assert logistic.fit(sparse_X, y).score(sparse_X, y) > 0.95


def test_classes_that_y_lacks_have_no_probability():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "c", "c"]
    costs = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    model = LowRankSurrogateClassifier(
        loss_matrix=costs, classes=list("abc"), estimator=LogisticRegression()
    ).fit(X, y)
    assert model.predict([[-1.0], [1.5], [4.0]]).tolist() == ["a", "b", "c"]  # b hedges


# scikit-learn's tools around it -------------------------------------------------------


@pytest.mark.parametrize("estimator", ["auto", "ridge"])
def test_tools_of_scikit_learn_take_it(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, 20:26]
    model = LowRankSurrogateClassifier(estimator=estimator)
    binary = [
        TunedThresholdClassifierCV(model, scoring="f1", cv=3),
        CalibratedClassifierCV(model, cv=3),
        RFECV(model, step=3, cv=3),
    ]
    for tool in binary:
        assert tool.fit(X, y).score(X, y) > 0.9
    if estimator == "auto":  # it needs probabilities
        some = np.where(np.arange(len(y)) % 5 == 0, y, -1)
        assert SelfTrainingClassifier(model).fit(X, some).score(X, y) > 0.9
    X, y = load_iris(return_X_y=True)
    for tool in (
        OneVsRestClassifier(model),
        RFECV(model, step=2, cv=3),
        CalibratedClassifierCV(model, cv=3),
    ):
        assert tool.fit(X, y).score(X, y) > 0.7  # ridge loses the middle one of three


def test_decision_function_is_minus_the_expected_cost(iris):
    X, y = iris
    costs = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    model = LowRankSurrogateClassifier(loss_matrix=costs, classes=np.unique(y)).fit(
        X, y
    )
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, -model.predict_proba(X) @ costs, atol=1e-12)
    np.testing.assert_array_equal(
        model.classes_[scores.argmax(axis=1)], model.predict(X)
    )
    kept = y != "setosa"
    named = ["versicolor", "virginica"]
    two = LowRankSurrogateClassifier(loss_matrix=[[0, 3], [1, 0]], classes=named)
    two.fit(X[kept], y[kept])
    P = two.predict_proba(X[kept])
    np.testing.assert_allclose(
        two.decision_function(X[kept]), P[:, 1] - 3 * P[:, 0], atol=1e-12
    )


def test_methods_are_there_where_they_mean_something(iris):
    X, y = iris
    more = LowRankSurrogateClassifier(loss_matrix=COSTS[:3], classes=np.unique(y))
    assert not hasattr(more.fit(X, y), "decision_function")
    assert hasattr(more, "predict_proba")
    ridge = LowRankSurrogateClassifier(estimator="ridge").fit(X, y)
    assert not hasattr(ridge, "predict_proba")
    assert ridge.decision_function(X).shape == (150, 3)
    assert not hasattr(LowRankSurrogateClassifier(estimator=Ridge()), "predict_proba")
    changed = ridge.set_params(estimator="logistic")  # what is fitted is still ridge
    assert not hasattr(changed, "predict_proba")
    assert changed.decision_function(X).shape == (150, 3)
    forest = LowRankSurrogateClassifier(
        estimator=RandomForestClassifier(5, random_state=0)
    )
    assert forest.fit(X, y).predict_proba(X).shape == (150, 3)
