"""Displays hold what they draw."""

from operator import sub

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LearningCurveDisplay

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    ranking_target,
)
from lowrank_rank.datasets import load_wine_tasting, make_ranking
from lowrank_rank.decoders import decode_pd_exact
from lowrank_rank.evaluation import compare_rankers, compare_values
from lowrank_rank.model_selection import (
    query_learning_curve,
    query_permutation_importance,
)
from lowrank_rank.plotting import (
    PermutationImportanceDisplay,
    PrecisionAtKDisplay,
    PreferenceMatrixDisplay,
    RankerComparisonDisplay,
    RankIntervalDisplay,
)
from lowrank_rank.votes import bradley_terry, consensus_ranking

from .internals import PD_DECODERS, decode_pd_borda
from .measures import precision_at_k, recall_at_k
from .refusals import refused_by


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
    display = PreferenceMatrixDisplay.from_estimator(
        ranker, [[0.0]], item_names=wine.item_names
    )
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
    display = PreferenceMatrixDisplay.from_preferences(
        u, decoder="borda", colorbar=False
    )
    assert display.cost == decode_pd_borda(u[np.newaxis]).values[0]
    assert display.bound == decode_pd_exact(u[np.newaxis]).values[0] < display.cost
    assert "at least" in display.ax_.get_title()
    bare = PreferenceMatrixDisplay(preferences=u, ranks=np.arange(1, 10)).plot(
        ax=display.ax_
    )
    assert bare.ax_ is display.ax_
    assert bare.ax_.get_title() == f"cost {bare.cost:.4g}"


@pytest.mark.parametrize(
    "decoder", [*PD_DECODERS, "auto", lambda u: np.array([[3, 1, 2]])]
)
def test_every_decoder_is_drawn_with_its_bound(decoder):
    u = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    display = PreferenceMatrixDisplay.from_preferences(u, decoder=decoder)
    assert display.bound == 1.0
    assert display.cost == (2.0 if callable(decoder) else 1.0)
    assert callable(decoder) == (display.ranks.tolist() == [3, 1, 2])


def test_documents_of_one_list():
    X, y, qid = make_ranking(5, 4, n_features=3, random_state=0)
    ranker = PairwiseDAGRanker(pair_features=sub).fit(X, y, qid=qid)
    display = PreferenceMatrixDisplay.from_estimator(ranker, X[qid == 0])
    assert display.preferences.shape == (4, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: PreferenceMatrixDisplay.from_preferences(np.zeros((1, 3, 3))),
            "one list",
        ),
        (
            lambda: PreferenceMatrixDisplay.from_preferences(np.eye(2), decoder="sort"),
            "decoder",
        ),
        (
            lambda: PreferenceMatrixDisplay.from_preferences(
                np.eye(2), item_names=["a"]
            ),
            "item_names",
        ),
        (
            lambda: PreferenceMatrixDisplay.from_preferences(np.zeros((2, 3))),
            "n_lists, r, r",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_query_at_a_time(wine):
    ranker = PairwiseDAGRanker().fit(np.zeros((11, 1)), wine.target)
    with refused_by("several queries to draw"):
        PreferenceMatrixDisplay.from_estimator(ranker, [[0.0], [0.0]])


def test_longer_lists_have_no_bound():
    u = np.random.default_rng(0).uniform(size=(201, 201))
    display = PreferenceMatrixDisplay.from_preferences(u, decoder="borda")
    assert display.bound is None
    with refused_by("many items"):
        PreferenceMatrixDisplay.from_preferences(u)


def test_estimators_without_preferences_are_refused():
    with refused_by("ranker without preferences", TypeError):
        PreferenceMatrixDisplay.from_estimator(OrderPreservingRegressor(), [[0.0]])


# Curves over k ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def ranking():
    X, y, qid = make_ranking(n_lists=30, n_items=(1, 9), n_features=3, random_state=0)
    rows = np.random.RandomState(0).permutation(len(y))
    return X[rows], y[rows], qid[rows]


def test_precision_curve_is_the_measure_at_each_k(ranking):
    X, y, qid = ranking
    scores = np.round(X[:, 0])  # tied
    display = PrecisionAtKDisplay.from_predictions(
        y, scores, qid=qid, name="x", budget=3
    )
    assert display.k.tolist() == list(range(1, 10))
    for s, curve in ((scores, display.values), (np.zeros(len(y)), display.chance)):
        values = [precision_at_k(y, s, qid=qid, k=k) for k in display.k]
        assert_allclose(curve, values, rtol=1e-12)
    assert_allclose(display.line_.get_ydata(), display.values)
    above = PrecisionAtKDisplay.from_predictions(
        y, scores, qid=qid, max_k=4, relevance_threshold=2, plot_chance_level=False
    )
    values = [
        precision_at_k(y, scores, qid=qid, k=k, relevance_threshold=2)
        for k in range(1, 5)
    ]
    assert_allclose(above.values, values, rtol=1e-12)


def test_several_models_in_one_axis(ranking):
    X, y, qid = ranking
    ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    first = PrecisionAtKDisplay.from_estimator(
        ranker, X, ranking_target(y, qid), budget=2
    )
    second = PrecisionAtKDisplay.from_predictions(
        y, X[:, 0], qid=qid, name="x", ax=first.ax_, budget=2, color="red"
    )
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    texts = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert texts == ["LowRankSurrogateRanker", "chance", "budget, k = 2", "x"]
    assert second.line_.get_color() == "red"
    with refused_by("no ids for a scorer"):  # never pooled
        PrecisionAtKDisplay.from_estimator(ranker, X, y)


def test_classifiers_with_named_classes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, "fraud", "ok")
    model = LogisticRegression().fit(X, y)
    display = PrecisionAtKDisplay.from_estimator(
        model, X, y, pos_label="fraud", max_k=10
    )
    scores = model.predict_proba(X)[:, 0]
    values = [precision_at_k(y == "fraud", scores, k=k) for k in range(1, 11)]
    assert_allclose(display.values, values)


def test_gains_by_hand_and_as_recall(ranking):
    amounts = PrecisionAtKDisplay.from_predictions(
        [100, 0, 300], [2, 2, 1], kind="gains"
    )
    assert_allclose(amounts.values, [50, 100, 400])
    assert_allclose(amounts.chance, [400 / 3, 800 / 3, 400])
    assert_allclose(amounts.best, [300, 400, 400])
    X, y, qid = ranking
    y = (y > 0) * 1.0
    scores = np.round(X[:, 0])
    display = PrecisionAtKDisplay.from_predictions(
        y, scores, qid=qid, kind="gains", normalize=True, budget=4
    )
    values = [recall_at_k(y, scores, qid=qid, k=k) for k in display.k]
    assert_allclose(display.values, values, rtol=1e-12)
    assert display.values[-1] == pytest.approx(1.0)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "best order" in texts
    ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    fitted = PrecisionAtKDisplay.from_estimator(
        ranker, X, y, qid=qid, kind="gains", ax=display.ax_
    )
    assert_allclose(
        fitted.best,
        [np.minimum(k, [y[qid == q].sum() for q in set(qid)]).mean() for k in fitted.k],
    )
    with refused_by("lists without gain"):
        PrecisionAtKDisplay.from_predictions(
            [0, 0], [1, 2], kind="gains", normalize=True
        )
    for wrong in ({"normalize": True}, {"kind": "gains", "relevance_threshold": 1}):
        with refused_by("parameter of another curve"):
            PrecisionAtKDisplay.from_predictions([1, 0], [1, 2], **wrong)
    with pytest.raises(ValueError, match="kind must be"):
        PrecisionAtKDisplay.from_predictions([1, 0], [1, 2], kind="lift")


# By number of queries, by pairs -----------------------------------------------------


def test_scikit_learn_draws_the_learning_curve_of_queries(ranking):
    X, y, qid = ranking
    sizes, train_scores, test_scores = query_learning_curve(
        LowRankSurrogateRanker(),
        X,
        y,
        qid=qid,
        train_sizes=[3, 12],
        cv=3,
        random_state=0,
    )
    display = LearningCurveDisplay(
        train_sizes=sizes, train_scores=train_scores, test_scores=test_scores
    ).plot()
    train, test = display.lines_
    assert_allclose(train.get_ydata(), train_scores.mean(axis=1))
    assert_allclose(test.get_xdata(), [3, 12])
    assert_allclose(test.get_ydata(), test_scores.mean(axis=1))


@pytest.mark.filterwarnings("ignore:training queries")
def test_comparison_is_drawn_both_ways(ranking):
    X, y, qid = ranking
    scores = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    params = {"qid": qid, "measure": "ndcg@5"}
    display = RankerComparisonDisplay.from_predictions(y, scores, **params)
    expected = compare_rankers(y, scores, **params)
    assert_allclose(display.comparison.interval, expected.interval)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [label.split("\n")[0] for label in labels] == ["a - b", "a - c", "b - c"]
    segments = display.ax_.collections[0].get_segments()
    assert_allclose([[s[0, 0], s[1, 0]] for s in segments], expected.interval)
    against = RankerComparisonDisplay.from_predictions(
        y, scores, baseline="c", **params
    )
    labels = [text.get_text().split("\n")[0] for text in against.ax_.get_yticklabels()]
    assert labels == ["a", "b"]
    assert against.ax_.get_xlabel() == "difference from c of ndcg@5, with 95 % interval"
    display.plot(kind="differences")
    drawn = display.ax_.lines[1].get_ydata()
    assert_allclose(drawn, np.sort(expected.differences[:, 0])[::-1])
    with pytest.raises(ValueError, match="kind must be"):
        display.plot(kind="bars")
    ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    models = {"ranker": ranker, "a": X[:, 0]}
    both = RankerComparisonDisplay.from_estimators(
        models, X, y, ax=display.ax_, **params
    )
    assert both.ax_ is display.ax_
    assert (both.comparison.to_frame()["difference"] > 0).all()


def test_means_are_drawn_best_on_top_with_their_ranks():
    rng = np.random.RandomState(0)
    values = {f"r{i}": rng.normal(0.2 * i, 1.0, 100) for i in range(30)}
    found = compare_values(values)
    display = RankerComparisonDisplay(found).plot(kind="means")
    order = np.argsort(-found.mean)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [label.removesuffix(" *") for label in labels] == [
        found.names[i] for i in order
    ]
    assert [label.endswith(" *") for label in labels] == found.tied_with_best[
        order
    ].tolist()
    right = display.ax_.child_axes[0]
    low, high = found.means.rank_interval[order[-1]]
    assert right.get_yticklabels()[-1].get_text() == f"{low} - {high}"
    assert display.ax_.get_xlabel().startswith("value, with 95 % interval")
    segments = display.ax_.collections[0].get_segments()
    assert_allclose([[s[0, 0], s[1, 0]] for s in segments], found.means.interval[order])
    few = RankerComparisonDisplay(compare_values({"r1": values["r1"]})).plot(
        kind="means"
    )
    assert few.figure_.get_figheight() < display.figure_.get_figheight()  # a line each


def test_p_values_stand_on_the_right():
    rng = np.random.RandomState(0)
    values = {f"r{i}": rng.normal(0.2 * i, 1.0, 50) for i in range(3)}
    display = RankerComparisonDisplay(compare_values(values)).plot()
    right, p_values = display.ax_.child_axes[0], display.comparison.p_adjusted
    assert right.get_ylabel() == "p (Holm)"
    for text, p in zip(right.get_yticklabels(), p_values, strict=True):
        assert text.get_text() == ("< 0.001" if p < 0.001 else f"{p:.3f}")
    two = RankerComparisonDisplay(
        compare_values({name: values[name] for name in ("r0", "r1")})
    )
    assert two.plot().ax_.child_axes[0].get_ylabel() == "p"
    assert (
        two.plot(kind="differences").ax_.get_ylabel() == "difference of value per task"
    )


def test_rank_intervals_are_drawn_best_on_top(wine):
    consensus = consensus_ranking(wine)
    display = RankIntervalDisplay.from_consensus(
        consensus, n_resamples=100, random_state=0
    )
    intervals = consensus.rank_intervals(n_resamples=100, random_state=0)
    assert display.plot() is display
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == consensus.order.tolist()
    order = np.argsort(consensus.ranks)
    drawn = np.array([segment[:, 0] for segment in display.lines_.get_segments()])
    np.testing.assert_array_equal(drawn[:, 0], intervals.low[order])
    np.testing.assert_array_equal(drawn[:, 1], intervals.high[order])
    board = bradley_terry([["a", "b"], ["a", "b"], ["b", "a"]])
    duels = RankIntervalDisplay.from_consensus(board, random_state=0)
    assert (duels.low.tolist(), duels.high.tolist()) == ([1, 1], [2, 2])
    assert duels.title == "Bradley-Terry, 95% intervals"
    bare = RankIntervalDisplay(ranks=[2, 1], low=[1, 1], high=[2, 2]).plot(
        ax=display.ax_
    )
    assert bare.figure_ is display.figure_


def test_importances_are_drawn_best_on_top(ranking):
    X, y, qid = ranking
    ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    display = PermutationImportanceDisplay.from_estimator(
        ranker, X, y, qid=qid, random_state=0, max_features=2
    )
    found = query_permutation_importance(ranker, X, y, qid=qid, random_state=0)
    best = found.to_frame()["feature"].tolist()[:2]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == best
    low, high = display.ax_.get_ylim()
    assert low > high  # the first row is on top
    drawn = np.array([segment[:, 0] for segment in display.lines_.get_segments()])
    rows = [found.feature_names.tolist().index(name) for name in best]
    assert_allclose(drawn[:, 0], found.importances[rows].min(axis=1))
    assert_allclose(drawn[:, 1], found.importances[rows].max(axis=1))
    again = PermutationImportanceDisplay.from_importances(found, ax=display.ax_)
    assert again.figure_ is display.figure_
    assert len(again.lines_.get_segments()) == 3
