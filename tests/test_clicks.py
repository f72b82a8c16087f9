"""Clicks: unbiased utilities, the simulator's truth, and who takes utilities below 0."""

import numpy as np
import pytest
from scipy import stats

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.clicks import (
    make_clicks,
    propensities_from_clicks,
    utilities_from_clicks,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.surrogates import SURROGATES, surrogate_loss
from lowrank_rank.target_losses import DCG, NDCG, PrecisionAtK

from .refusals import refused_by

TRUST = (np.linspace(0.95, 0.7, 10), np.linspace(0.4, 0.05, 10))


@pytest.mark.parametrize("trust", [None, (0.9, 0.2), TRUST])
@pytest.mark.parametrize(
    "propensity", [1.0, np.linspace(1, 0.1, 10), lambda p: np.exp(-0.3 * p)]
)
def test_expected_clicks_give_relevance_at_every_position(propensity, trust):
    """v is affine in the click, so E v is v of the click's probability."""
    relevance, position = np.random.default_rng(0).uniform(size=10), np.arange(1, 11)
    if callable(propensity):
        theta = propensity(position)
    else:
        theta = propensity if np.ndim(propensity) else 1.0 / position
    plus, minus = (1.0, 0.0) if trust is None else trust
    clicks = theta * (plus * relevance + minus * (1.0 - relevance))
    v = utilities_from_clicks(clicks, position, propensity=propensity, trust=trust)
    np.testing.assert_allclose(v, relevance)
    shifted = utilities_from_clicks(
        clicks, position, propensity=propensity, trust=trust, non_negative=True
    )
    assert np.ptp(shifted - v) < 1e-12
    nothing = utilities_from_clicks(
        np.zeros(10), position, propensity=1.0, trust=trust, non_negative=True
    )
    assert nothing.min() == 0.0


def test_least_propensity():
    v = utilities_from_clicks([1, 1], [1, 100], propensity=1.0, min_propensity=0.1)
    np.testing.assert_allclose(v, [1.0, 10.0])
    with refused_by("propensity 0"):
        utilities_from_clicks([1, 1], [1, 2], propensity=[1.0, 0.0])


@pytest.mark.parametrize("trust", [None, (0.9, 0.1)])
@pytest.mark.parametrize(
    "options", [{"temperature": 1.0}, {"cutoff": 3, "temperature": 2.0}]
)
def test_simulated_clicks_have_the_probabilities_of_the_model(trust, options):
    """Rates at each document and position, and the mean of v, within four standard errors."""
    y, qid = np.array([4.0, 0, 2, 1, 3, 0, 4]), list("aababbb")
    log = make_clicks(
        y, qid, scores=-y, n_sessions=20_000, trust=trust, random_state=0, **options
    )
    np.testing.assert_array_equal(log.relevance, y / 4)
    assert log.position.max() == options.get("cutoff", 4)
    cell = 10 * log.row + log.position
    shown = np.bincount(cell)
    rate, truth = (
        np.bincount(cell, one) for one in (log.clicks, log.click_probability)
    )
    error = np.sqrt(
        np.bincount(cell, log.click_probability * (1 - log.click_probability))
    )
    assert np.all(np.abs(rate - truth) <= 4 * error + 1e-9)
    v = utilities_from_clicks(log.clicks, log.position, propensity=1.0, trust=trust)
    n = np.bincount(log.row)
    mean = np.bincount(log.row, v) / n
    deviation = np.sqrt(np.bincount(log.row, v**2) / n - mean**2)
    assert np.all(np.abs(mean - log.relevance) <= 4 * deviation / np.sqrt(n) + 1e-9)
    assert shown.sum() == len(log.clicks)


def test_sessions_show_whole_lists_in_the_order_of_the_scores():
    y, qid = np.arange(6.0), ["a", "b", "a", "b", "a", "c"]
    scores = np.array([1.0, 5, 3, 4, 2, 0])
    log = make_clicks(y, qid, scores=scores, n_sessions=300, random_state=1)
    seen = set()
    for session in range(300):
        rows = log.row[log.session == session]
        assert log.position[log.session == session].tolist() == list(
            range(1, len(rows) + 1)
        )
        seen.add(tuple(rows.tolist()))
    assert seen == {(2, 4, 0), (1, 3), (5,)}
    anew = make_clicks(y, qid, n_sessions=300, random_state=1)  # random orders
    assert len({tuple(anew.row[anew.session == s].tolist()) for s in range(300)}) > 6


# What they are for ------------------------------------------------------------------


def test_label_of_dcg_is_linear_and_those_of_ndcg_and_precision_are_not():
    """E v of the noisy label against v of the expected one."""
    rng = np.random.default_rng(0)
    relevance = np.array([[0.8, 0.5, 0.2, 0.1]])
    theta = np.array([1.0, 0.5, 1 / 3, 0.25])
    labels = (rng.uniform(size=(40_000, 4)) < theta * relevance) / theta
    dcg = DCG().encode(labels).mean(axis=0)
    np.testing.assert_allclose(dcg, DCG().encode(relevance)[0], atol=0.02)
    for loss in (NDCG(), PrecisionAtK(2)):
        biased = loss.encode(labels).mean(axis=0)
        expected = loss.encode(relevance)[0]
        assert np.abs(biased - expected).max() > 0.1
    # A document at the top that is clicked more often is better: precision of labels above 0 counts
    # clicks, whatever they stand for.
    np.testing.assert_allclose(
        PrecisionAtK(2).encode(labels).mean(axis=0), theta * relevance[0], atol=0.01
    )


def test_squared_surrogates_take_utilities_below_0():
    taking = {name for name in SURROGATES if SURROGATES[name]().takes_negative}
    assert {"pointwise_squared", "pairwise_squared"} <= taking < set(SURROGATES)


@pytest.mark.parametrize("name", SURROGATES)
def test_who_takes_utilities_below_0(name):
    """Those that do are least at E v there; the others say what to do."""
    v, s = np.array([1.4, -0.6, 0.2]), np.zeros(3)
    if not SURROGATES[name]().takes_negative:
        with refused_by("negative utility"):
            surrogate_loss(name, v, s)
        return
    labels = np.random.default_rng(0).normal(size=(50, 3)) + v
    mean = np.tile(labels.mean(axis=0), (50, 1))
    least = surrogate_loss(name, labels, mean).mean()
    for move in np.eye(3):
        for step in (-0.1, 0.1):
            assert surrogate_loss(name, labels, mean + step * move).mean() > least


class SignedDCG(DCG):
    """DCG of any labels."""

    labels = "any"


def test_a_constant_changes_nothing_for_squared_losses():
    """Negative utilities as they are in a custom DCG, and shifted for the one that refuses them."""
    X, y, qid = make_ranking(30, 8, n_features=4, random_state=0)
    log = make_clicks(y, qid, n_sessions=300, trust=(0.9, 0.3), random_state=0)
    given = {"propensity": 1.0, "trust": (0.9, 0.3)}
    v = utilities_from_clicks(log.clicks, log.position, **given)
    shifted = utilities_from_clicks(
        log.clicks, log.position, non_negative=True, **given
    )
    assert v.min() < 0 == shifted.min()
    rows = X[log.row]
    with refused_by("negative grades"):
        LowRankSurrogateRanker(target_loss="dcg").fit(rows, v, qid=log.session)
    for make in (
        lambda loss: LowRankSurrogateRanker(target_loss=loss),
        lambda loss: OrderPreservingRegressor(
            target_loss=loss, surrogate="pairwise_squared"
        ),
        lambda loss: OrderPreservingRegressor(
            target_loss=loss, surrogate="pointwise_squared"
        ),
    ):
        signed = make(SignedDCG()).fit(rows, v, qid=log.session)
        plain = make("dcg").fit(rows, shifted, qid=log.session)
        np.testing.assert_allclose(signed.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    with refused_by("negative utility"):
        OrderPreservingRegressor(target_loss=SignedDCG()).fit(rows, v, qid=log.session)


def test_fits_of_sessions_are_those_of_mean_utilities():
    """The surrogate sees the labels through their mean only: cross-entropy, and ridge."""
    X, y, _ = make_ranking(1, 12, n_features=3, random_state=0)
    log = make_clicks(y, n_sessions=400, random_state=0)
    v = utilities_from_clicks(log.clicks, log.position, propensity=1.0)
    mean = np.bincount(log.row, v) / 400
    for surrogate in ("cross_entropy", "pairwise_squared"):
        ranker = OrderPreservingRegressor(
            target_loss="dcg", surrogate=surrogate, alpha=0.1, standardize=False
        )
        many = ranker.fit(X[log.row], v, qid=log.session).coef_
        one = ranker.fit(X, mean).coef_
        np.testing.assert_allclose(many, one, rtol=1e-5)
    ranknet = OrderPreservingRegressor(
        target_loss="dcg", surrogate="ranknet", standardize=False
    )
    many = ranknet.fit(X[log.row], v, qid=log.session).coef_
    assert not np.allclose(many, ranknet.fit(X, mean).coef_, rtol=0.05)


BAD = [
    ({"position": [0, 1]}, "integers >= 1"),
    ({"position": [1.5, 1]}, "integers >= 1"),
    ({"position": [1, 2, 3]}, "one shape"),
    ({"clicks": [-1, 0]}, "clicks must be >= 0"),
    ({"propensity": [0.5]}, "one entry for each position, up to 2"),
    ({"propensity": [0.5, 1.5]}, r"propensity must hold probabilities"),
    ({"propensity": -1.0}, "propensity .as eta."),
    ({"propensity": lambda p: 0.5}, "returned shape"),
    ({"trust": 0.5}, "trust must be a pair"),
    ({"trust": (0.2, 0.3)}, "above eps_minus"),
    ({"min_propensity": 2}, "min_propensity"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=[str(i) for i in range(len(BAD))]
)
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        utilities_from_clicks(
            **{"clicks": [0, 1], "position": [1, 2], "propensity": 1.0, **arguments}
        )


def test_the_propensity_has_no_default():
    with pytest.raises(TypeError, match="argument: 'propensity'"):
        utilities_from_clicks([0, 1], [1, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [-1.0]}, "grades >= 0"),
        ({"y": [1.0, 2.0], "scores": [1.0]}, "scores, y must have one shape"),
        ({"y": [3.0], "max_grade": 2}, "below the grade 3"),
        ({"y": [3.0], "n_sessions": 0}, "n_sessions"),
        ({"y": [3.0], "temperature": -1}, "temperature"),
    ],
)
def test_simulator_names_what_does_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_clicks(**arguments)


# Propensities -----------------------------------------------------------------------

THETA = np.array([1.0, 0.7, 0.5, 0.2])


def crossed_log(n_rows, rng, relevance=(0.9, 0.5, 0.2)):
    """Documents shown at positions in random order, clicked with probability theta r."""
    document = rng.integers(len(relevance), size=n_rows)
    position = rng.integers(1, len(THETA) + 1, size=n_rows)
    chance = THETA[position - 1] * np.asarray(relevance)[document]
    return (rng.random(n_rows) < chance).astype(float), position, document


def test_expected_clicks_give_the_propensities():
    """Unequal shows and relevances; the expected clicks of each cell are its number of clicks."""
    rng = np.random.default_rng(0)
    shows = rng.integers(1, 9, size=(5, 4))
    relevance = rng.uniform(0.1, 1, size=(5, 1))
    document, position = (
        np.repeat(one.ravel(), shows.ravel()) for one in np.indices((5, 4))
    )
    clicks = (np.ones((5, 4)) * relevance * THETA)[document, position]
    found = propensities_from_clicks(clicks, position + 1, document)
    np.testing.assert_allclose(found.propensity, THETA, rtol=1e-6)
    np.testing.assert_allclose(found.standard_error, 0, atol=1e-6)


def test_the_likelihood_has_its_maximum_at_the_estimate():
    clicks, position, document = crossed_log(400, np.random.default_rng(1))
    log_theta = np.log(propensities_from_clicks(clicks, position, document).propensity)

    def likelihood(beta):
        total = 0.0
        for d in np.unique(document):
            rows = document == d
            shows = np.bincount(position[rows] - 1, minlength=4)
            of_place = np.bincount(position[rows] - 1, clicks[rows], 4)
            total += of_place @ (beta - np.log(shows @ np.exp(beta)))
        return total

    for step in 1e-4 * np.eye(4):
        slope = likelihood(log_theta + step) - likelihood(log_theta - step)
        assert abs(slope) < 1e-6
        assert likelihood(log_theta + step) < likelihood(log_theta)


def test_intervals_of_propensities_hold_the_truth():
    rng = np.random.default_rng(2)
    relevance, inside = rng.uniform(size=80), []
    for _ in range(80):
        found = propensities_from_clicks(*crossed_log(1000, rng, relevance))
        best = np.argmax(found.propensity)
        truth = THETA / THETA[best]
        others = np.arange(4) != best
        inside.append(((found.low <= truth) & (truth <= found.high))[others].mean())
        assert found.propensity.max() == 1.0
        assert found.standard_error[best] == 0.0
    assert 0.91 <= np.mean(inside) <= 0.99


def test_positions_and_ids_of_any_kind():
    clicks, position, document = crossed_log(500, np.random.default_rng(3))
    expected = propensities_from_clicks(clicks, position, document)
    pairs = [("query", f"doc {d}") for d in document]
    order = np.random.default_rng(0).permutation(500)
    found = propensities_from_clicks(
        clicks[order], 2 * position[order], [pairs[i] for i in order]
    )
    np.testing.assert_allclose(found.propensity[1::2], expected.propensity, rtol=1e-7)
    assert np.isnan(found.propensity[::2]).all()
    v = utilities_from_clicks(clicks, 2 * position, propensity=found.propensity)
    assert np.isfinite(v).all()


@pytest.mark.parametrize(
    ("clicks", "position", "document", "message"),
    [
        ([1, 1, 0], [1, 2, 3], "aaa", r"Positions \[3\] have no click"),
        ([1, 1, 1, 1], [1, 2, 3, 4], "aabb", r"Positions \[3, 4\] cannot be compared"),
        ([1, 1, 0], [1, 2, 1], "abb", r"Positions \[2\] cannot be compared"),
        ([0, 0], [1, 2], "aa", "clicks are all 0"),
        ([1, -1], [1, 2], "aa", "clicks must be >= 0"),
        ([1, 1], [1, 0], "aa", "integers >= 1"),
        ([1, 1], [1, 2], "a", "must have one shape"),
        ([1, 1], [1, 2], ["a", None], "document contains a missing"),
        ([1, 1e200], [1, 2], "aa", r"clicks\[1\] is 1e\+200"),
        ([1, 1], [1, 1e13], "aa", "position 10000000000000 would take"),
    ],
)
def test_logs_that_are_refused(clicks, position, document, message):
    with pytest.raises(ValueError, match=message):
        propensities_from_clicks(clicks, position, list(document))


def test_a_single_document_has_no_standard_error():
    """The positions of a log of one document fit exactly, which says nothing about its error."""
    found = propensities_from_clicks([1, 1, 1, 0, 1], [1, 1, 2, 2, 1], list("aaaab"))
    np.testing.assert_allclose(found.propensity, [1.0, 0.5])
    assert np.isnan([found.standard_error[1], found.low[1], found.high[1]]).all()


def test_intervals_of_few_documents_are_student_s():
    """With clicks of equal number each; fewer than five documents have no error."""
    rng = np.random.default_rng(4)
    clicks = rng.integers(1, 20, size=(6, 3))
    # Each document has 30 clicks.
    clicks[:, 2] += 60 - clicks.sum(axis=1)
    document, position = (one.ravel() for one in np.indices((6, 3)))
    for n_documents in (3, 4, 5, 6):
        rows = document < n_documents
        found = propensities_from_clicks(
            clicks.ravel()[rows], position[rows] + 1, document[rows]
        )
        others = found.propensity < 1
        if n_documents < 5:
            assert np.isnan(found.standard_error[others]).all()
            assert np.isnan(found.low[others]).all()
            continue
        width = np.log(found.high / found.low)[others]
        quantile = stats.t.ppf(0.975, n_documents - 1)
        np.testing.assert_allclose(width, 2 * quantile * found.standard_error[others])


def test_a_position_of_few_documents_has_their_degrees_of_freedom():
    rng = np.random.default_rng(5)
    for n_at_last in (4, 7):
        document, position = (one.ravel() for one in np.indices((40, 3)))
        rows = (position < 2) | (document < n_at_last)
        document, position = document[rows], position[rows]
        clicks = 1.0 + rng.integers(9, size=len(document))
        clicks[position == 2] = 1.0
        found = propensities_from_clicks(clicks, position + 1, document)
        assert np.isfinite(found.low[:2]).all()
        assert np.isfinite(found.low[2]) == (n_at_last >= 5)
    total = np.bincount(document, clicks)[:7]
    quantile = stats.t.ppf(0.975, total.sum() ** 2 / (total @ total) - 1)
    half_width = np.log(found.high / found.propensity)[2]
    assert half_width == pytest.approx(quantile * found.standard_error[2])


def test_columns_in_two_orders_are_refused():
    pd = pytest.importorskip("pandas")
    log = pd.DataFrame({"clicks": [1, 1], "position": [1, 2], "document": ["a", "a"]})
    with refused_by("different indices"):
        propensities_from_clicks(log["clicks"], log["position"][::-1], log["document"])
    with pytest.raises(ValueError, match="confidence_level must be"):
        propensities_from_clicks(
            log["clicks"], log["position"], log["document"], confidence_level="x"
        )


def test_clicks_and_positions_of_other_rows_are_refused():
    pandas = pytest.importorskip("pandas")
    log = pandas.DataFrame({"click": [1, 0], "place": [1, 2]})
    with refused_by("different indices"):
        utilities_from_clicks(log["click"], log["place"][::-1], propensity=1.0)


def test_a_table_of_propensities_is_refused_without_positions():
    with refused_by("length of propensities"):
        utilities_from_clicks([], [], propensity=[[1.0]])
