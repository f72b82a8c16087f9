"""Parameters by a table: what each rule takes, its words, and fits that are all or nothing."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import lowrank_rank

from .internals import (
    all_or_nothing,
    check_parameter,
    check_parameters,
    count,
    fresh_fit,
    jobs,
    number,
    predictor,
    random_state,
    regressor,
    verbosity,
)

CASES = [
    (
        [number(0)],
        [0, 0.0, 3, np.float32(2), 1e300],
        [-1, np.nan, np.inf, "1", None, True, 10**400],
    ),
    ([number(above=0)], [1e-300, 1], [0, -1, np.nan]),
    ([number(0, below=1)], [0, 0.5], [1, -0.1]),
    ([number(above=0, maximum=1)], [1, 0.1], [0, 1.1]),
    ([number(above=0, below=1)], [0.5], [0, 1]),
    ([number()], [-1e9, 0], [np.nan, -np.inf, "x"]),
    ([number(maximum=3)], [3, -9], [3.1]),
    ([count(), None], [1, np.int64(7), None], [10**400, 0, -1, 1.0, "1", True, np.nan]),
    ([count(0)], [0], [-1]),
    (["auto", count()], ["auto", 3], ["other", 0, None]),
    (["a", "b"], ["a", "b"], ["c", None, 1, ["a"]]),
    ([bool], [True, False, np.True_], [0, 1, "yes", None]),
    (["one", callable], ["one", len], ["two", None, 3]),
    (
        [random_state],
        [None, 0, 7, np.random, np.random.RandomState(0)],
        [-1, "x", 2**32, 1.5],
    ),
    ([jobs], [None, 1, -1, 4], [0, "x", 1.5, True]),
    ([verbosity], [0, 3, True], [-1, "x", None]),
    (
        [predictor],
        [Ridge(), LogisticRegression()],
        [Ridge, "ridge", StandardScaler(), None],
    ),
    (
        [regressor, None],
        [Ridge(), None],
        [Ridge, "ridge", StandardScaler(), LogisticRegression()],
    ),
]


@pytest.mark.parametrize(("alternatives", "good", "bad"), CASES)
def test_what_is_taken_and_what_refused(alternatives, good, bad):
    for value in good:
        check_parameter("name", value, alternatives)
    for value in bad:
        for error in (ValueError, TypeError):  # as scikit-learn's InvalidParameterError
            with pytest.raises(error, match="name must be"):
                check_parameter("name", value, alternatives)


@pytest.mark.parametrize(
    ("alternatives", "message"),
    [
        ([number(0)], "alpha must be a finite number >= 0, got 'x'."),
        (
            [number(above=0, maximum=1)],
            "alpha must be a finite number > 0 and <= 1, got 'x'.",
        ),
        ([count(), None], "alpha must be an integer >= 1 or None, got 'x'."),
        (["b", "a"], "alpha must be one of ['a', 'b'], got 'x'."),
        (["auto", count()], "alpha must be 'auto' or an integer >= 1, got 'x'."),
        ([bool], "alpha must be True or False, got 'x'."),
    ],
)
def test_messages_say_what_it_may_be(alternatives, message):
    with pytest.raises(ValueError) as raised:
        check_parameter("alpha", "x", alternatives)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("value", "shown"), [(np.float64("nan"), "nan"), (np.int64(-3), "-3")]
)
def test_messages_show_plain_numbers(value, shown):
    with pytest.raises(ValueError, match=f"got {shown}\\.$"):
        check_parameter("alpha", value, [number(0)])


class Model(BaseEstimator):
    _parameters = {"alpha": [number(0)], "beta": [bool]}  # noqa: RUF012

    def __init__(self, alpha=1.0, beta=True):
        self.alpha = alpha
        self.beta = beta


def test_the_first_wrong_parameter_is_named():
    check_parameters(Model())
    with pytest.raises(ValueError, match="beta must be True or False, got 3"):
        check_parameters(Model(beta=3))
    for guard in (all_or_nothing, fresh_fit):
        with pytest.raises(ValueError, match="beta must be"), guard(Model(beta=3)):
            raise AssertionError("the block does not begin")


@pytest.mark.parametrize("guard", [all_or_nothing, fresh_fit])
def test_an_interrupted_fit_changes_nothing(guard):
    model = Model()
    model.coef_, model._private_ = [1.0], 2
    before = dict(vars(model))

    def interrupted():
        with guard(model):
            model.coef_, model.other_ = [2.0], 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert vars(model) == before


def test_a_fresh_fit_forgets_the_last_one_and_keeps_the_rest():
    model = Model()
    model.set_params(alpha=2.0)
    model.coef_, model._private_, model._metadata_request = 1, 2, "kept"
    with fresh_fit(model):
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "_private_")
        model.coef_ = 3
    assert vars(model) == {
        "alpha": 2.0,
        "beta": True,
        "_metadata_request": "kept",
        "coef_": 3,
    }


#: By a resolver with its own sentences: names of losses and surrogates, labels and their costs.
CHECKED_ELSEWHERE = {
    # of HistGradientBoostingRanker, by scikit-learn's trees
    *("loss", "learning_rate", "max_depth", "min_samples_leaf", "l2_regularization"),
    *(
        "max_features",
        "max_bins",
        "categorical_features",
        "monotonic_cst",
        "interaction_cst",
    ),
    *("verbose", "random_state"),
    "target_loss",
    "surrogate",
    "loss_matrix",
    "classes",
    "decisions",
    "pos_label",
}

ESTIMATORS = [
    value
    for name, value in vars(lowrank_rank).items()
    if name in lowrank_rank.__all__
    and isinstance(value, type)
    and hasattr(value, "_parameters")
]


def made(cls):
    """With its defaults; meta-estimators have none for their estimator."""
    return cls(Ridge()) if "estimator" in list(signature(cls).parameters)[:1] else cls()


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_tables_name_every_parameter_of_the_class_and_take_the_defaults(cls):
    assert len(ESTIMATORS) >= 6
    estimator = made(cls)
    assert (
        set(estimator.get_params(deep=False)) - set(cls._parameters)
        <= CHECKED_ELSEWHERE
    )
    assert set(cls._parameters) <= set(estimator.get_params(deep=False))
    check_parameters(estimator)


WRONG = {
    "verbose": ["x", -1, None, 1.5],
    "random_state": [-1, "x", 2**32, 0.5],
    "n_jobs": [0, "x", 1.5, True],
    "alpha": [10**400, -1],
    "decoder": [{}, None, 3],
    "estimator": ["lasso", None, Ridge, 3],
}


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_fit_refuses_what_its_table_does_not_take(cls):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for name in set(WRONG) & set(cls._parameters):
        for value in WRONG[name]:
            estimator = made(cls)
            estimator.set_params(**{name: value})
            before = dict(vars(estimator))
            with pytest.raises(ValueError, match=f"{name} must be"):
                estimator.fit(X, y)
            assert vars(estimator) == before
            get_tags(
                estimator
            )  # is_classifier and model selection ask for them before fit
