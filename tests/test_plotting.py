"""Displays hold what they draw."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from lowrank_rank import OrderPreservingRegressor, PairwiseDAGRanker
from lowrank_rank.datasets import load_wine_tasting, make_ranking
from lowrank_rank.decoders import decode_pd_borda, decode_pd_exact
from lowrank_rank.plotting import PreferenceMatrixDisplay


@pytest.fixture
def wine():
    return load_wine_tasting()


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_matrix_in_decoded_order(wine):
    ranker = PairwiseDAGRanker(alpha=0.0).fit(np.zeros((11, 1)), wine.target)
    display = PreferenceMatrixDisplay.from_estimator(ranker, [[0.0]], item_names=wine.item_names)
    u = ranker.predict_preferences([[0.0]])
    weights = np.maximum(u, 0.0)
    best = decode_pd_exact(weights)
    np.testing.assert_array_equal(display.ranks, best.ranks[0])
    assert display.cost == pytest.approx(best.values[0])
    assert display.plot() is display
    drawn = np.asarray(display.im_.get_array())
    order = np.argsort(best.ranks[0])
    np.testing.assert_allclose(drawn, u[0][np.ix_(order, order)])
    # The cost is what stands below the diagonal and is preferred.
    below = np.tril(weights[0][np.ix_(order, order)])
    assert below.sum() == pytest.approx(display.cost)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == wine.item_names[order].tolist()
    assert "proved to be the least" in display.ax_.get_title()
    assert display.figure_ is display.ax_.figure


def test_certificate_of_another_decoder():
    u = np.random.default_rng(0).integers(0, 5, (9, 9)).astype(float)
    display = PreferenceMatrixDisplay.from_preferences(u, decoder="borda").plot(colorbar=False)
    assert display.cost == decode_pd_borda(u[np.newaxis]).values[0]
    assert display.bound == decode_pd_exact(u[np.newaxis]).values[0] < display.cost
    assert "at least" in display.ax_.get_title()
    bare = PreferenceMatrixDisplay(preferences=u, ranks=np.arange(1, 10)).plot(ax=display.ax_)
    assert bare.ax_ is display.ax_
    assert bare.ax_.get_title() == f"cost {bare.cost:.4g}"


def test_documents_of_one_list():
    X, y, qid = make_ranking(5, 4, n_features=3, random_state=0)
    ranker = PairwiseDAGRanker(pair_features="bilinear").fit(X, y, qid=qid)
    display = PreferenceMatrixDisplay.from_estimator(ranker, X[qid == 0])
    assert display.preferences.shape == (4, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PreferenceMatrixDisplay.from_preferences(np.zeros((1, 3, 3))), "one list"),
        (lambda: PreferenceMatrixDisplay.from_preferences(np.eye(2), decoder="sort"), "decoder"),
        (
            lambda: PreferenceMatrixDisplay.from_preferences(np.eye(2), item_names=["a"]),
            "item_names",
        ),
        (lambda: PreferenceMatrixDisplay.from_preferences(np.zeros((2, 3))), "n_lists, r, r"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_query_at_a_time(wine):
    ranker = PairwiseDAGRanker().fit(np.zeros((11, 1)), wine.target)
    with pytest.raises(ValueError, match="One list can be drawn"):
        PreferenceMatrixDisplay.from_estimator(ranker, [[0.0], [0.0]])


def test_longer_lists_have_no_bound():
    u = np.random.default_rng(0).uniform(size=(201, 201))
    display = PreferenceMatrixDisplay.from_preferences(u, decoder="borda")
    assert display.bound is None
    with pytest.raises(ValueError, match="at most 200 items"):
        PreferenceMatrixDisplay.from_preferences(u)


def test_estimators_without_preferences_are_refused():
    with pytest.raises(TypeError, match="OrderPreservingRegressor predicts no preferences"):
        PreferenceMatrixDisplay.from_estimator(OrderPreservingRegressor(), [[0.0]])
