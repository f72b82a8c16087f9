"""Measures: worked numbers, the slow reference, invariances, peers, degenerate lists."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning
from sklearn.metrics import ndcg_score as sklearn_ndcg
from sklearn.metrics import roc_auc_score

from lowrank_rank import make_ranking_scorer, metrics, ranking_target
from lowrank_rank.metrics import get_ranking_scorer_names, measure_score, ndcg_score
from lowrank_rank.target_losses import (
    AUC,
    NDCG,
    ExpectedRankUtility,
    FBeta,
    PairwiseDisagreement,
    PrecisionAtK,
    RecallAtK,
)

from . import reference
from .internals import PrecisionAtShare, resolve_measure
from .measures import (
    average_precision,
    dcg,
    disagreement,
    precision_at_k,
    precision_at_share,
    rank_utility,
    recall_at_k,
    reciprocal_rank,
)
from .refusals import refused_by
from .vectors import worked_cases


def exponential(g):
    return 2.0**g - 1.0


# name in the worked numbers -> (function of y, s, k)
WORKED = {
    "precision_at_k": lambda y, s, k: precision_at_k(y, s, k=k),
    "recall_at_k": lambda y, s, k: recall_at_k(y, s, k=k),
    "dcg_exp": lambda y, s, k: dcg(y, s, k=k, gain="exponential"),
    "dcg_linear": lambda y, s, k: dcg(y, s, k=k),
    "ndcg_exp": lambda y, s, k: ndcg_score(y, s, k=k, gain="exponential"),
    "ndcg_exp_full": lambda y, s, k: ndcg_score(y, s, gain="exponential"),
    "ndcg_linear": lambda y, s, k: ndcg_score(y, s, k=k),
    "average_precision": lambda y, s, k: average_precision(y, s),
    "eru_v1_w3": lambda y, s, k: rank_utility(y, s, neutral=1, half_life=3),
    "auc": lambda y, s, k: measure_score("auc", y, s),
    "reciprocal_rank": lambda y, s, k: reciprocal_rank(y, s),
    "err_gmax3": lambda y, s, k: measure_score("err", y, s, max_grade=3),
    "pd_unit": lambda y, s, k: disagreement(y, s),
    "pd_difference": lambda y, s, k: disagreement(y, s, weights="difference"),
    "kendall_tau_loss": lambda y, s, k: -measure_score("kendall", y, s),
}


def over_ties(of_order):
    """The mean of a function of the labels in order, best first, over the orders of tied scores."""
    return lambda y, s: reference.over_ties(of_order, y, s)


def named(name, **params):
    return make_ranking_scorer(name, **params).measure


# name -> a measure and the slow reference of one list
SLOW = {
    "precision": (PrecisionAtK(3), over_ties(lambda y: reference.precision(y > 0, 3))),
    "precision_share": (
        PrecisionAtShare(0.5),
        over_ties(lambda y: reference.precision(y > 0, max(1, int(0.5 * sum(y > 0) + 0.5)))),
    ),
    "recall": (RecallAtK(2), over_ties(lambda y: reference.recall(y > 0, 2))),
    "dcg": ("dcg@4", over_ties(lambda y: reference.dcg(y, 4))),
    "ndcg": ("ndcg", over_ties(reference.ndcg)),
    "ndcg_exp@2": ("ndcg_exp@2", over_ties(lambda y: reference.ndcg(y, 2, exponential))),
    "eru": (ExpectedRankUtility(1, 2.5), over_ties(lambda y: reference.eru(y, 1, 2.5))),
    "map": ("map", over_ties(lambda y: reference.average_precision(y > 0))),
    "map@2": ("map@2", over_ties(lambda y: reference.average_precision(y > 0, 2))),
    "rr@2": ("mrr@2", over_ties(lambda y: reference.reciprocal_rank(y > 0, 2))),
    "success@2": (
        named("success@2", relevance_threshold=2), over_ties(lambda y: float(max(y[:2]) >= 2)),
    ),
    "auc": (AUC(relevance_threshold=2), over_ties(lambda y: reference.auc((y >= 2) * 1))),
    "rr": (
        named("mrr", relevance_threshold=2),
        over_ties(lambda y: reference.reciprocal_rank((y >= 2) * 1)),
    ),
    "err": (named("err", max_grade=3), over_ties(lambda y: reference.err(y, 3))),
    "err@2": (named("err@2", max_grade=3), over_ties(lambda y: reference.err(y, 3, 2))),
    "spearman": ("spearman", over_ties(reference.spearman)),
    "pd_unit": ("pd", over_ties(lambda y: -reference.disagreement(y))),
    "pd_difference": (
        PairwiseDisagreement("difference"),
        over_ties(lambda y: -reference.disagreement(y, lambda a, b: max(a - b, 0))),
    ),
    "kendall": ("kendall", lambda y, s: -reference.kendall(y, s)),
}  # fmt: skip
MEASURES = {
    name: partial(measure_score, measure) for name, (measure, _) in SLOW.items()
}


def ragged_batch(rng, n_lists=12, longest=6):
    """Lists of different lengths with ties, every one with grades above and below 2."""
    lengths = rng.integers(2, longest + 1, size=n_lists)
    qid = np.repeat(np.arange(n_lists), lengths)
    y = rng.integers(0, 4, size=len(qid)).astype(float)
    starts = np.cumsum(lengths) - lengths
    y[starts], y[starts + 1] = 3.0, 0.0
    return y, rng.integers(0, 3, size=len(qid)).astype(float), qid


@pytest.mark.parametrize("name", WORKED)
def test_worked_numbers(name):
    for case in worked_cases("measures.json"):
        value = WORKED[name](case["y"], case["score"], case["k"])
        expected = np.nan if case[name] is None else case[name]
        np.testing.assert_allclose(value, expected, atol=1e-9, err_msg=str(case))


@pytest.mark.parametrize("name", SLOW)
def test_ragged_batch_equals_the_reference_list_by_list(name, seed):
    fast, slow = MEASURES[name], SLOW[name][1]
    y, s, qid = ragged_batch(np.random.default_rng(seed))
    expected = [slow(y[qid == q], s[qid == q]) for q in np.unique(qid)]
    np.testing.assert_allclose(fast(y, s, qid=qid, average=None), expected, atol=1e-12)
    assert fast(y, s, qid=qid) == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_matrix_is_its_own_lists(name):
    rng = np.random.default_rng(1)
    y, s = (
        rng.integers(0, 4, (20, 5)).astype(float),
        rng.integers(0, 4, (20, 5)).astype(float),
    )
    y[:, 0], y[:, 1] = 3, 0
    flat = MEASURES[name](
        y.ravel(), s.ravel(), qid=np.repeat(np.arange(20), 5), average=None
    )
    np.testing.assert_allclose(
        MEASURES[name](y, s, average=None), flat, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("name", MEASURES)
def test_invariances(name):
    """Shuffled rows, renamed ids, monotone maps, splitting the batch: the same values."""
    rng = np.random.default_rng(2)
    y, s, qid = ragged_batch(rng)
    measure = MEASURES[name]
    values = dict(
        zip(np.unique(qid), measure(y, s, qid=qid, average=None), strict=True)
    )
    order = rng.permutation(len(y))
    names = np.array([f"query {q * 7 % 13}" for q in qid])
    shuffled = measure(y[order], s[order], qid=names[order], average=None)
    appearance = list(dict.fromkeys(qid[order]))
    np.testing.assert_allclose(shuffled, [values[q] for q in appearance], atol=1e-12)
    np.testing.assert_allclose(
        measure(y, np.exp(s) * 3 - 10, qid=qid, average=None),
        list(values.values()),
        atol=1e-12,
    )
    first = qid < 5
    split = [
        measure(y[part], s[part], qid=qid[part], average=None)
        for part in (first, ~first)
    ]
    np.testing.assert_allclose(np.concatenate(split), list(values.values()), atol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_ndcg_equals_scikit_learn_ties_included(k):
    rng = np.random.default_rng(3)
    for shape, grades in [((50, 7), 3), ((20, 30), 5), ((100, 2), 2)]:
        y = rng.integers(0, grades, shape).astype(float)
        y[:, 0] = 1.0
        s = rng.integers(0, 4, shape) / 3.0
        assert ndcg_score(y, s, k=k) == pytest.approx(
            sklearn_ndcg(y, s, k=k), abs=1e-12
        )


def test_auc_equals_scikit_learn_on_one_list():
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 300), rng.integers(0, 20, 300)
    auc = measure_score("auc", y, s, one_list=True)
    assert auc == pytest.approx(roc_auc_score(y, s), abs=1e-12)


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame])
def test_columns_are_documents_as_in_fit(frame):
    y, s = np.array([[0.0], [1.0], [2.0]]), np.array([[3.0], [1.0], [2.0]])
    with pytest.warns(DataConversionWarning):
        assert ndcg_score(frame(y), frame(s)) == ndcg_score(y[:, 0], s[:, 0])


def test_preferences_are_the_weights_of_pairs():
    rng = np.random.default_rng(6)
    y, s = (
        rng.integers(0, 3, (8, 5)).astype(float),
        rng.integers(0, 3, (8, 5)).astype(float),
    )
    preferences = (y[:, :, None] > y[:, None, :]).astype(float)
    np.testing.assert_allclose(
        disagreement(preferences, s, average=None),
        disagreement(y, s, average=None),
    )


def test_long_lists_stay_exact():
    """A list of 20,000 with large blocks of ties: the closed forms against thinned formulas."""
    rng = np.random.default_rng(7)
    n = 20_000
    y = (rng.uniform(size=n) < 0.3).astype(float)
    s = rng.integers(0, 50, n).astype(float)
    auc = measure_score("auc", y, s, one_list=True)
    assert auc == pytest.approx(roc_auc_score(y, s), abs=1e-10)
    assert disagreement(y, s, one_list=True) == pytest.approx(
        disagreement(y, s, weights="difference", one_list=True), rel=1e-12
    )
    top = y[s == 49]
    chance = np.cumprod(
        (len(top) - top.sum() - np.arange(200)) / (len(top) - np.arange(200))
    )
    expected = 1.0 + np.sum(chance * (1 / np.arange(2, 202) - 1 / np.arange(1, 201)))
    found = reciprocal_rank(y, s, one_list=True)
    assert found == pytest.approx(expected, abs=1e-9)
    values = [
        measure_score(name, y, s, max_grade=1, one_list=True)
        for name in ("err", "err@2000")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


# Conventions ------------------------------------------------------------------------

DEFINED_ALWAYS = {"precision", "precision_share", "dcg", "eru", "err", "err@2"}


@pytest.mark.parametrize("name", MEASURES)
def test_undefined_list_next_to_a_defined_one(name):
    """A list with no relevant item has no value, takes zero_division, is left out of the mean."""
    y = np.array([0.0, 0.0, 0.0, 3.0, 0.0, 1.0])
    s, qid = np.arange(6.0), ["none"] * 3 + ["some"] * 3
    values = MEASURES[name](y, s, qid=qid, average=None)
    if name in DEFINED_ALWAYS:
        assert values[0] == 0.0
    elif name not in ("spearman", "pd_unit", "pd_difference", "kendall"):
        assert np.isnan(values[0])
        assert MEASURES[name](y, s, qid=qid) == values[1]
        with_ones = MEASURES[name](y, s, qid=qid, zero_division=1.0)
        assert with_ones == pytest.approx((1.0 + values[1]) / 2)
    assert np.isfinite(values[1])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("y", [[0.0], [3.0], [3.0, 3.0, 3.0], [0.0, 0.0]])
def test_degenerate_lists_give_a_value_and_no_warning(name, y):
    value = MEASURES[name](y, np.zeros(len(y)), zero_division=-1.0)
    assert np.isfinite(value)


def test_mean_over_no_defined_list_is_zero_division():
    assert np.isnan(ndcg_score([[0, 0]], [[1, 2]]))
    assert ndcg_score([[0, 0]], [[1, 2]], zero_division=0.0) == 0.0


def test_weights_are_those_of_lists():
    y, s, qid = ragged_batch(np.random.default_rng(8))
    per_list = ndcg_score(y, s, qid=qid, average=None)
    list_weights = np.arange(1.0, len(per_list) + 1)
    expected = np.average(per_list, weights=list_weights)
    assert ndcg_score(y, s, qid=qid, sample_weight=list_weights[qid]) == pytest.approx(
        expected
    )
    matrix = np.array([[1.0, 0.0], [1.0, 0.0]])
    scores = np.array([[2.0, 1.0], [1.0, 2.0]])
    weighted = precision_at_k(matrix, scores, k=1, sample_weight=[3, 1])
    assert weighted == pytest.approx(0.75)


def test_missing_judgements_are_left_out():
    y = np.array([[np.nan, 2.0, 0.0], [np.nan, np.nan, np.nan], [1.0, 0.0, 3.0]])
    s = np.array([[9.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    values = dcg(y, s, average=None)
    assert values[0] == dcg([2.0, 0.0], [2.0, 1.0])
    assert np.isnan(values[1])
    assert values[2] == dcg(y[2], s[2])
    assert dcg(y, s) == pytest.approx((values[0] + values[2]) / 2)
    with refused_by("missing labels"):
        dcg(y[0], s[0])


@pytest.mark.parametrize("name", get_ranking_scorer_names())
def test_nan_in_a_matrix_is_the_row_left_out_in_every_measure(name):
    """The same values as of one row for each judged item, with query ids."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, (40, 12)).astype(float)
    y[rng.random(y.shape) < 0.4] = np.nan
    y[3] = np.nan
    s = rng.integers(0, 6, y.shape).astype(float)  # with ties
    is_judged = ~np.isnan(y)
    query = np.nonzero(is_judged)[0]
    flat = measure_score(name, y[is_judged], s[is_judged], qid=query, average=None)
    whole = measure_score(name, y, s, average=None)
    has_items = is_judged.any(axis=1)
    np.testing.assert_array_equal(whole[has_items], flat)
    assert np.isnan(whole[3])
    assert measure_score(name, y, s) == pytest.approx(np.nanmean(flat))


def test_qid_travels_in_y():
    y, s, qid = ragged_batch(np.random.default_rng(9))
    assert ndcg_score(ranking_target(y, qid), s) == ndcg_score(y, s, qid=qid)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndcg_score([1, 0], [1, 2, 3]), "y_score has shape"),
        (lambda: ndcg_score([1, 0], [1, np.nan]), "NaN"),
        (lambda: ndcg_score([1, -1], [1, 2]), "negative grade"),
        (lambda: ndcg_score([1, 2000], [1, 2], gain="exponential"), "overflows"),
        (lambda: ndcg_score([1, 0], [1, 2], k=0), "integer >= 1"),
        (lambda: ndcg_score([1, 0], [1, 2], k=0.5), "integer"),
        (lambda: ndcg_score([1, 0], [1, 2], gain="square"), "exponential"),
        (lambda: precision_at_k([1, 0], [1, 2], k=1.5), "PrecisionAtShare"),
        (lambda: precision_at_k([1, 0], [1, 2], k=1.0), "PrecisionAtShare"),
        (lambda: precision_at_share([1, 0], [1, 2], 1.5), r"\(0, 1\]"),
        (lambda: precision_at_share([1, 0], [1, 2], 2), "PrecisionAtK takes a count"),
        (
            lambda: measure_score("precision@1", [1, 0], [1, 2], share=0.5),
            "Invalid parameter 'share'",
        ),
        (lambda: measure_score("precision@1", [1, 0], [1, 2], k=2), "says k=1"),
        (lambda: precision_at_k([1, 0], [1, 2], k=True), "integer"),
        (lambda: ndcg_score([1, 0], [1, 2], average="micro"), "average"),
        (lambda: ndcg_score([[1, 0]], [[1, 2]], qid=["a"]), "takes no qid"),
        (lambda: ndcg_score([1, 0], [1, 2], qid=["a"]), "length 1, but there are 2"),
        (lambda: ndcg_score([1, 0], [1, 2], sample_weight=[1.0]), None),
        (lambda: ndcg_score([1, 0], [1, 2], sample_weight=[1, 2, 3]), "sample_weight"),
        (lambda: ndcg_score([1, 0], [1, 2], sample_weight=[1, -2]), "negative"),
        (lambda: ndcg_score([1, 0], [1, 2], sample_weight=[0, 0]), "weights are zero"),
        (lambda: ndcg_score([1, 0], [1, 2], zero_division="warn"), "zero_division"),
        (
            lambda: dcg(np.ones((2, 3, 3)), np.ones((2, 3))),
            "only pairwise disagreement",
        ),
        (lambda: measure_score(AUC(relevance_threshold=np.nan), [1, 0], [1, 2]), "nan"),
        (
            lambda: measure_score(AUC(relevance_threshold="1"), [1, 0], [1, 2]),
            "must be a finite number",
        ),
        (
            lambda: measure_score(AUC(relevance_threshold=1), [-1, 1], [1, 2]),
            "negative grade",
        ),
        (
            lambda: dcg([[np.nan, 5000]], [[1, 2]], gain="exponential"),
            "overflows",
        ),
        (
            lambda: rank_utility([1, 0], [1, 2], neutral=np.nan),
            "neutral",
        ),
        (
            lambda: measure_score("err", [1, 0], [1, 2], max_grade=np.nan),
            "max_grade",
        ),
        (lambda: disagreement(-np.ones((1, 2, 2)), [[1, 2]]), "opposite"),
        (lambda: disagreement(np.ones((1, 2, 3)), [[1, 2]]), "shape"),
        (lambda: measure_score("err", [5, 0], [1, 2]), "max_grade"),
        (lambda: rank_utility([5, 0], [1, 2], half_life=1), "half_life"),
        (lambda: disagreement([5, 0], [1, 2], weights="log"), "weights"),
    ],
)
def test_bad_input(call, message):
    if message is None:  # one weight for the one list is fine
        assert call() > 0
        return
    with pytest.raises(ValueError, match=message):
        call()


def test_all_is_sorted_and_importable():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)


@pytest.mark.parametrize(
    "name", ["precision@3", "precision@49", "precision@50%", "prbep"]
)
def test_precision_is_a_ratio_of_whole_numbers(name):
    """Not a sum of 1/k: equal counts are equal floats, and a perfect list is 1."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        y = (rng.random(200) < 0.3).astype(int)
        scores = rng.normal(size=200) + y
        measure = resolve_measure(name)
        if isinstance(measure, PrecisionAtK):
            places = measure.k
        else:
            places = max(1, int(measure.share * y.sum() + 0.5))
        found = y[np.argsort(-scores)[:places]].sum()
        assert measure_score(name, y, scores) == found / places
        if places <= y.sum():
            assert measure_score(name, y, y + rng.random(200) / 2) == 1.0


def test_one_is_a_count():
    """k = 1 is winner takes all; all of the relevant is share=1."""
    y, s = [1, 0, 1, 0], [3, 4, 2, 1]
    assert precision_at_k(y, s, k=1) == 0.0
    assert precision_at_share(y, s, 1) == 0.5
    assert precision_at_k(y, s) == precision_at_k(y, s, k=10) == 0.2


# Functions, classes, scorers --------------------------------------------------------


@pytest.mark.parametrize("name", get_ranking_scorer_names())
def test_any_measure_by_name_and_as_an_object(name):
    y, s, qid = ragged_batch(np.random.default_rng(11))
    w = np.random.default_rng(0).uniform(size=len(y))
    measure = resolve_measure(name)
    for options in ({"average": None}, {"sample_weight": w, "zero_division": 0.5}):
        expected = measure.measure(y, s, qid=qid, **options)
        for one in (name, measure):
            np.testing.assert_array_equal(
                measure_score(one, y, s, qid=qid, **options), expected
            )
    scorer = make_ranking_scorer(name)
    model = DummyRegressor().fit(s[:, None], y)
    model.predict = lambda X: X[:, 0]
    assert scorer(model, s[:, None], y, qid=qid) == measure_score(name, y, s, qid=qid)


def test_measures_of_sets_as_objects():
    assert measure_score(
        FBeta(), [1, 1, 0, 0], [2.0, -1.0, -1.0, -0.5]
    ) == pytest.approx(2 / 3)
    with refused_by("unknown name of a measure"):
        measure_score("errr", [1, 0], [1, 2])
    with refused_by("not a measure", TypeError):
        measure_score(5, [1, 0], [1, 2])


@pytest.mark.parametrize(
    "name", ["precision@10", "recall@10", "map", "mrr", "success@2", "auc"]
)
def test_function_class_and_scorer_agree_on_grades(name):
    """No grade is 0/1 only: grade > 0 is relevant in all three."""
    y, s, qid = ragged_batch(np.random.default_rng(10))
    expected = measure_score(name, y, s, qid=qid, average=None)
    relevant = measure_score(name, y > 0, s, qid=qid, average=None)
    np.testing.assert_array_equal(expected, relevant)
    by_threshold = measure_score(
        name, y, s, qid=qid, average=None, relevance_threshold=1
    )
    np.testing.assert_array_equal(by_threshold, relevant)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("precision@3", {"relevance_threshold": 2}),
        ("eru", {"neutral": 1, "half_life": 3}),
        ("err", {"k": 2, "max_grade": 3}),
        ("pd", {"weights": "difference"}),
        ("ndcg", {"k": 2, "gain": "exponential"}),
    ],
)
def test_parameters_of_measures_are_those_of_scorers(name, params):
    y, s, qid = ragged_batch(np.random.default_rng(12))
    value = measure_score(name, y, s, qid=qid, **params)
    scorer = make_ranking_scorer(name, **params)
    model = DummyRegressor().fit(s[:, None], y)
    model.predict = lambda X: X[:, 0]
    assert scorer(model, s[:, None], y, qid=qid) == value
    as_object = resolve_measure(name)
    assert measure_score(as_object, y, s, qid=qid, **params) == value
    # The object of the caller stays as it is.
    assert repr(as_object) == repr(resolve_measure(name))
    as_object.set_params(**params)
    assert as_object.measure(y, s, qid=qid) == value
    assert measure_score(name, y, s, qid=qid) != value


@pytest.mark.parametrize("name", ["pd", "kendall"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, np.nan])
def test_a_list_of_one_item_has_zero_division(zero_division, name):
    single = measure_score(name, [1.0], [1.0], zero_division=zero_division)
    np.testing.assert_array_equal(single, zero_division)
    with_a_pair = measure_score(
        name,
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0],
        qid=[0, 0, 1],
        average=None,
        zero_division=zero_division,
    )
    np.testing.assert_array_equal(with_a_pair, [0.0, zero_division])


def test_undefined_is_what_score_uses():
    for name, value in [("ndcg", 0.0), ("kendall", -1.0)]:
        measure = resolve_measure(name)
        with pytest.warns(UndefinedMetricWarning, match="undefined on all 1 lists"):
            assert measure.measure([0.0], [1.0]) == value
        assert np.isnan(measure.measure([0.0], [1.0], zero_division=np.nan))
        assert measure.measure([0.0], [1.0], zero_division=0.5) == 0.5


# The floating range -------------------------------------------------------------------


@pytest.mark.parametrize("power", [-1074, -1000, 1000, 1022])
@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("scores", [[3.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
def test_ndcg_of_grades_of_any_size(power, k, scores):
    """It is that of the grades over a power of two, to the last bit, in lists of every size."""
    grades = np.array([1.0, 2.0, 0.0, 3.0])
    expected = ndcg_score(grades, scores, k=k)
    assert ndcg_score(np.ldexp(grades, power), scores, k=k) == expected
    qid = [0, 0, 0, 0, 1, 1, 1, 1]
    both = np.concatenate([grades, np.ldexp(grades, power)])
    found = ndcg_score(both, [*scores, *scores], qid=qid, k=k, average=None)
    assert found.tolist() == [expected, expected]
    matrix = ndcg_score(both.reshape(2, 4), [scores, scores], k=k, average=None)
    np.testing.assert_allclose(matrix, expected, rtol=1e-15)
    assert ndcg_score([1.7e308, 1.7e308], [1.0, 2.0]) == pytest.approx(1.0)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e400])
def test_zero_division_is_finite_or_nan(value):
    for score in (ndcg_score, partial(measure_score, "pd")):
        with pytest.raises(
            ValueError, match="zero_division must be a number, finite, or nan"
        ):
            score([0, 0], [1.0, 2.0], zero_division=value)
    with pytest.raises(
        ValueError, match="zero_division must be a number, finite, or nan"
    ):
        NDCG().measure([0, 0], [1.0, 2.0], zero_division=value)


@pytest.mark.parametrize("score", [dcg, rank_utility])
def test_sums_of_grades_that_overflow_are_refused(score):
    y, qid = [1.0, 0.0, 1.7e308, 1.7e308], [0, 0, 1, 1]
    with pytest.raises(
        ValueError, match=r"overflows on list 1 \(the first is 0\).*smaller scale"
    ):
        score(y, [4.0, 3.0, 2.0, 1.0], qid=qid)
    y, scores, qid = [1.7e308, 1.5e308, 0.0], [2.0, 1.0, 0.0], [0, 1, 1]
    assert score(y, scores, qid=qid) == pytest.approx(1.6e308)
    weighted = score(y, scores, qid=qid, sample_weight=[1e280, 3e280, 3e280])
    assert weighted == pytest.approx(1.55e308)


@pytest.mark.parametrize("lists", ["common", "ragged"])
@pytest.mark.parametrize("k", [None, 1, 2, 30])
def test_ties_in_the_head_and_below_it_by_enumeration(k, lists, seed):
    """Ties above, across and below the cut-off, in lists of one and of several lengths."""
    rng = np.random.default_rng(seed)
    lengths = [7] * 12 if lists == "common" else rng.integers(1, 8, 12)
    qid = np.repeat(np.arange(12), lengths)
    y = rng.integers(0, 3, len(qid)).astype(float)
    scores = rng.integers(0, 6, len(qid)).astype(float)
    found = dcg(y, scores, qid=qid, k=k, average=None)
    average = average_precision(y, scores, qid=qid, average=None)
    for q in range(12):
        one = y[qid == q], scores[qid == q]
        expected = reference.over_ties(lambda y: reference.dcg(y, k), *one)
        assert found[q] == pytest.approx(expected, rel=1e-12)
        if k is None and one[0].any():
            expected = reference.over_ties(
                reference.average_precision, one[0] > 0, one[1]
            )
            assert average[q] == pytest.approx(expected, rel=1e-12)


def test_expected_rank_utility_takes_any_grades():
    assert rank_utility([5, -3, 1], [1, 3, 2], half_life=2) == 0.75
    shifted = rank_utility([-1, -5], [1, 2], neutral=-4, half_life=2)
    assert shifted == rank_utility([5, 1], [1, 2], neutral=2, half_life=2)
