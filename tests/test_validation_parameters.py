"""Parameters by a table: what each rule takes, its words, and fits that are all or nothing."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import lowrank_rank
from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
)

from .internals import (
    decode_map_exact,
    decode_map_local_search,
    decode_pd_borda,
    decode_pd_local_search,
)

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2
QID = np.arange(40) // 4
#: A class, a parameter, values that its fit takes, and values that it refuses.
CASES = [
    (
        LowRankSurrogateRanker,
        "alpha",
        [0, 0.0, 3, np.float32(2), 1e300, "auto"],
        [-1, np.nan, np.inf, "1", None, True, 10**400],
    ),
    (OrderPreservingRegressor, "tol", [1e-3, 1], [0, -1, np.nan]),
    (WrappedRanker, "validation_fraction", [0.5], [0, 1, 1.1]),
    (WrappedRanker, "relevance_threshold", [-1e9, 0, None], [np.nan, -np.inf, "x"]),
    (
        LowRankSurrogateClassifier,
        "n_components",
        [1, np.int64(1), None],
        [10**400, 0, -1, 1.0, "1", True, np.nan],
    ),
    (PrecisionAtKPerceptron, "batch_size", ["auto", 20], ["other", 0, None]),
    (PrecisionAtKPerceptron, "surrogate", ["ramp", "avg"], ["c", None, 1, ["avg"]]),
    (OrderPreservingRegressor, "standardize", [True, False, np.True_], [0, 1, "yes"]),
    (PairwiseDAGRanker, "pair_features", ["difference", np.subtract], ["x", None, 3]),
    (
        LowRankSurrogateRanker,
        "random_state",
        [None, 0, 7, np.random, np.random.RandomState(0)],
        [-1, "x", 2**32, 1.5],
    ),
    (LowRankSurrogateRanker, "n_jobs", [None, 1, -1], [0, "x", 1.5, True]),
    (LowRankSurrogateRanker, "verbose", [0, 3, True], [-1, "x", None]),
    (
        LowRankSurrogateClassifier,
        "estimator",
        [Ridge(), LogisticRegression()],
        [Ridge, "lasso", StandardScaler(), None],
    ),
    (
        LowRankSurrogateRanker,
        "estimator",
        [Ridge(), "ridge"],
        [Ridge, "lasso", StandardScaler(), LogisticRegression(), None],
    ),
]


def made(cls, **params):
    """With its defaults; meta-estimators have none for their estimator."""
    has_default = "estimator" not in list(signature(cls).parameters)[:1]
    return cls(**params) if has_default else cls(Ridge(), **params)


@pytest.mark.filterwarnings("ignore:.*was fitted without query ids")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("cls", "name", "good", "bad"), CASES)
def test_what_is_taken_and_what_refused(cls, name, good, bad):
    for value in good:
        made(cls, **{name: value}).fit(X, Y)
    for value in bad:
        for error in (ValueError, TypeError):  # as scikit-learn's InvalidParameterError
            with pytest.raises(error, match=f"{name} must be"):
                made(cls, **{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            OrderPreservingRegressor(tol="x"),
            "tol must be a finite number > 0, got 'x'.",
        ),
        (
            WrappedRanker(Ridge(), validation_fraction="x"),
            "validation_fraction must be a finite number > 0 and < 1, got 'x'.",
        ),
        (
            LowRankSurrogateClassifier(n_components="x"),
            "n_components must be an integer >= 1 or None, got 'x'.",
        ),
        (
            PrecisionAtKPerceptron(surrogate="x"),
            "surrogate must be one of ['avg', 'max', 'ramp', 'struct'], got 'x'.",
        ),
        (
            HistGradientBoostingRanker(max_iter="x"),
            "max_iter must be 'auto' or an integer >= 1, got 'x'.",
        ),
        (
            OrderPreservingRegressor(standardize="x"),
            "standardize must be True or False, got 'x'.",
        ),
        (
            OrderPreservingRegressor(tol=np.float64("nan")),
            "tol must be a finite number > 0, got nan.",
        ),
        (
            OrderPreservingRegressor(tol=np.int64(-3)),
            "tol must be a finite number > 0, got -3.",
        ),
    ],
)
def test_messages_say_what_it_may_be(model, message):
    with pytest.raises(ValueError) as raised:
        model.fit(X, Y)
    assert str(raised.value) == message


class Interrupted(Ridge):
    """A regressor whose fit is interrupted by the user."""

    def fit(self, X, y, sample_weight=None):
        raise KeyboardInterrupt


def test_an_interrupted_fit_changes_nothing():
    model = LowRankSurrogateRanker(estimator=Ridge()).fit(X, Y, qid=QID)
    model.set_params(estimator=Interrupted())
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.column_stack([Y, 1 - Y]))
    assert vars(model) == before


def test_a_fresh_fit_forgets_the_last_one_and_keeps_the_rest():
    with config_context(enable_metadata_routing=True):
        model = OrderPreservingRegressor(tol=1e-3).set_fit_request(qid=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model.fit(frame, Y, qid=QID)
    assert hasattr(model, "feature_names_in_")
    model.fit(X, Y, qid=QID)
    assert not hasattr(model, "feature_names_in_")
    assert model.tol == 1e-3
    assert model.get_metadata_routing().fit.requests["qid"] is True


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


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_tables_name_every_parameter_of_the_class(cls):
    assert len(ESTIMATORS) >= 6
    estimator = made(cls)
    assert (
        set(estimator.get_params(deep=False)) - set(cls._parameters)
        <= CHECKED_ELSEWHERE
    )
    assert set(cls._parameters) <= set(estimator.get_params(deep=False))


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


#: Values that compare entry by entry.
ARRAYS = {
    "texts": np.array(["a", "b"]),
    "numbers": np.array([1.0, 2.0]),
    "nothing": np.zeros(0),
    "Series": pd.Series(["a", "b"]),
    "frame": pd.DataFrame({"a": [1, 2]}),
}
U = np.array([[0.5, 0.2, 0.1, 0.5, 0.2, 0.3]])
P = np.array([[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])
VOTES = [[0, 1, 2], [1, 0, 2]]
DUELS = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")] * 4
SCORES = {"one": X[:, 0], "other": X[:, 1]}
#: Calls with one parameter open, and the names of such parameters.
CALLS = [
    (
        lambda **one: lowrank_rank.votes.bradley_terry(DUELS, **one),
        ["item_a", "item_b", "result", "ties", "half_games", "weight", "group"],
    ),
    (
        lambda **one: lowrank_rank.votes.consensus_ranking(VOTES, **one),
        ["kind", "method", "items", "weights", "time_limit"],
    ),
    (
        lambda **one: lowrank_rank.evaluation.compare_rankers(
            Y, SCORES, qid=QID, **one
        ),
        ["baseline", "measure", "zero_division", "groups"],
    ),
    (
        lambda **one: lowrank_rank.metrics.ndcg_score(Y, X[:, 0], qid=QID, **one),
        ["k", "average", "zero_division", "gain"],
    ),
    (lambda **one: decode_map_exact(U, 3, **one), ["bound"]),
    (lambda **one: lowrank_rank.decoders.decode_pd_dag(P, **one), ["bound"]),
    (lambda **one: decode_pd_borda(P, **one), ["bound"]),
    (
        lambda **one: lowrank_rank.decoders.decode_pd_exact(P, **one),
        ["bound", "time_limit"],
    ),
    (
        lambda **one: decode_pd_local_search(P, **one),
        ["bound", "n_restarts", "random_state"],
    ),
    (
        lambda **one: decode_map_local_search(U, 3, **one),
        ["bound", "max_sweeps"],
    ),
    (
        lambda **one: lowrank_rank.model_selection.query_train_test_split(
            X, Y, qid=QID, **one
        ),
        ["test_size", "train_size", "random_state"],
    ),
    (
        lambda **one: lowrank_rank.make_ranking_scorer("ndcg", **one),
        ["pos_label", "one_list", "k", "gain"],
    ),
]


def is_of_numpy(error):
    """Whether an array was compared with a text, or asked for its truth value."""
    return "ambiguous" in str(error) or "unhashable" in str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_no_parameter_of_a_model_is_compared_entry_by_entry(cls, kind):
    errors = {}
    for name in made(cls).get_params(deep=False):
        model = made(cls).set_params(**{name: ARRAYS[kind]})
        get_tags(model)
        try:
            model.fit(X, Y)
        except (TypeError, ValueError) as error:
            errors[name] = error
    assert not [one for one in errors.items() if is_of_numpy(one[1])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize(("call", "names"), CALLS)
def test_no_parameter_of_a_function_is_compared_entry_by_entry(call, names, kind):
    errors = {}
    for name in names:
        try:
            call(**{name: ARRAYS[kind]})
        except (TypeError, ValueError) as error:
            errors[name] = error
    assert not [one for one in errors.items() if is_of_numpy(one[1])]


def test_a_class_to_rank_is_one_label():
    values = [np.array(["a", "b"]), ["a"]]
    model = PrecisionAtKPerceptron(random_state=0).fit(X, Y)
    for value in values:
        scorer = lowrank_rank.make_ranking_scorer("ndcg").set_params(pos_label=value)
        for call in (
            lambda scorer=scorer: scorer(model, X, Y),
            lambda value=value: PrecisionAtKPerceptron(pos_label=value).fit(X, Y),
            lambda value=value: PrecisionAtKPerceptron(pos_label=value).partial_fit(
                X, Y, classes=[0, 1]
            ),
            lambda value=value: lowrank_rank.make_ranking_scorer(
                "ndcg", pos_label=value
            ),
        ):
            with pytest.raises(ValueError, match="pos_label must be one label"):
                call()
