"""PairwiseDAGRanker on fixed items: labels, decoders, the theorems through fit and predict."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from lowrank_rank import LowRankSurrogateRanker, PairwiseDAGRanker, merge
from lowrank_rank.calibration import conditional_regret, noise_report
from lowrank_rank.datasets import make_duels, make_preferences
from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact
from lowrank_rank.metrics import measure_score
from lowrank_rank.target_losses import PairwiseDisagreement
from lowrank_rank.votes import grades_from_orders

from .internals import (
    PD_DECODERS,
    KendallTau,
    all_ranks,
    decode_pd_local_search,
    label_scores,
    preference_cost,
)
from .measures import disagreement
from .preference_cases import products
from .refusals import refused_by

DECODERS = [*PD_DECODERS, "score", "auto"]


def constant(n):
    return np.zeros((n, 1))


@pytest.fixture(scope="module")
def data():
    return make_preferences(400, 4, random_state=0)


@pytest.mark.parametrize("decoder", ["exact", "auto"])
def test_population_minimiser_is_bayes_optimal(decoder):
    """Least squares on a whole distribution gives its expectation; decoding gives its optimum."""
    rng = np.random.default_rng(0)
    for seed in range(30):
        support = make_preferences(1, 4, n_labels=5, random_state=seed).support
        p = rng.dirichlet(np.ones(5))
        ranker = PairwiseDAGRanker(decoder=decoder, alpha=0.0)
        ranker.fit(constant(5), support, sample_weight=p)
        expected = np.einsum("l,lij->ij", p, support)
        np.testing.assert_allclose(
            ranker.predict_preferences([[0.0]])[0], expected - expected.T, atol=1e-12
        )
        ranks = ranker.rank([[0.0]])
        assert conditional_regret("pd", support, p[np.newaxis], ranks)[0] < 1e-9


def test_algorithm_1_suffices_in_p_dag_only():
    regret = {}
    for condition in ("p_dag", "cyclic"):
        data = make_preferences(3000, 5, condition=condition, random_state=1)
        ranker = PairwiseDAGRanker(decoder="dag", alpha=1e-6).fit(
            data.data[:2000], data.target[:2000]
        )
        p = data.probabilities[2000:]
        assert np.all(
            noise_report(data.support, probabilities=p).in_p_dag
            == (condition == "p_dag")
        )
        ranks = ranker.rank(data.data[2000:])
        regret[condition] = conditional_regret("pd", data.support, p, ranks).mean()
    assert regret["p_dag"] < 2e-3
    assert regret["cyclic"] > 1e-2


@pytest.mark.parametrize("decoder", DECODERS)
def test_layout_and_conventions(data, decoder):
    X, y = data.data, data.target
    ranker = PairwiseDAGRanker(decoder=decoder).fit(X, y)
    scores = ranker.predict(X)
    assert scores.shape == (400, 4)
    assert ranker.predict_surrogate(X).shape == (400, 4 if decoder == "score" else 6)
    np.testing.assert_array_equal(np.argsort(np.argsort(-scores)) + 1, ranker.rank(X))
    tables = ranker.predict_preferences(X)
    np.testing.assert_array_equal(tables, -tables.transpose(0, 2, 1))
    if decoder != "score":
        np.testing.assert_array_equal(scores, 4 - ranker.rank(X))
        assert ranker.decoder_ == ("exact" if decoder == "auto" else decoder)
    alone = np.vstack([ranker.predict(row[np.newaxis]) for row in X[:20]])
    np.testing.assert_allclose(alone, scores[:20], rtol=1e-12)
    assert ranker.score(X, y) == -disagreement(y, scores)
    for copy in (clone(ranker).fit(X, y), pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_array_equal(copy.predict(X), scores)
    if decoder == "exact":
        best = decode_pd_exact(tables[:5]).values
        every = all_ranks(4)
        for table, value in zip(tables, best, strict=False):
            costs = preference_cost(
                np.repeat(table[np.newaxis], len(every), axis=0), every
            )
            assert value == pytest.approx(costs.min())


def test_same_as_the_low_rank_ranker(data):
    X, y = data.data, data.target
    for decoder in PD_DECODERS:
        ours = PairwiseDAGRanker(decoder=decoder).fit(X, y)
        other = LowRankSurrogateRanker(target_loss="pd", decoder=decoder).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    rng = np.random.default_rng(0)
    for n_items, name in ((4, "exact"), (13, "short_search"), (41, "dag")):
        y = rng.integers(5, size=(len(X), n_items))
        ours = PairwiseDAGRanker(estimator="ridge").fit(X, y)
        other = LowRankSurrogateRanker(target_loss="pd", estimator="ridge").fit(X, y)
        assert ours.decoder_ == other.decoder_ == name
        np.testing.assert_array_equal(ours.predict(X[:3]), other.predict(X[:3]))


def test_net_preference_is_the_linear_score(data):
    """f of Duchi, Mackey and Jordan is linear in y: regressing it is summing the regressions."""
    X, y = data.data, data.target
    score = PairwiseDAGRanker(estimator="ridge", decoder="score").fit(X, y)
    borda = PairwiseDAGRanker(estimator="ridge", decoder="borda").fit(X, y)
    np.testing.assert_allclose(
        score.predict(X), borda.predict_preferences(X).sum(axis=2)
    )
    own = clone(score).set_params(score_function=lambda y: y.sum(2) - y.sum(1))
    np.testing.assert_allclose(own.fit(X, y).predict(X), score.predict(X))


# Labels -----------------------------------------------------------------------------


def test_grades_are_their_preferences():
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(50, 3)), rng.integers(0, 4, (50, 5)).astype(float)
    for loss in ("pd", PairwiseDisagreement("difference"), "kendall"):
        ranker = PairwiseDAGRanker(target_loss=loss, estimator="ridge", alpha=0.1).fit(
            X, grades
        )
        y = ranker.target_loss_.preferences(grades)
        assert np.isfinite(y).all()
        scores = ranker.predict(X)
        if loss != "kendall":
            same = clone(ranker).fit(X, y)
            np.testing.assert_array_equal(same.predict(X), scores)
            values = disagreement(y, scores, average=None)
            mine = -ranker.target_loss_.measure(grades, scores, average=None)
            np.testing.assert_allclose(values, mine)


@pytest.mark.parametrize("loss", ["pd", "kendall", PairwiseDisagreement("difference")])
def test_pairs_are_regressed_on_the_rows_that_know_both_items(loss):
    """As ridge regression of each pair alone, with the rows that know it; in blocks too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 4, (60, 4)).astype(float)
    y[rng.uniform(size=y.shape) < 0.3] = np.nan
    y[:, 3] = np.where(np.arange(60) < 5, y[:, 3], np.nan)
    y[:5, 2], y[0, 3] = np.nan, 1.0  # nobody compares the last two
    ranker = PairwiseDAGRanker(target_loss=loss, estimator="ridge", alpha=0.0).fit(X, y)
    u = ranker.predict_preferences(X)
    for i in range(3):
        for j in range(i + 1, 3):
            rows = ~np.isnan(y[:, i] + y[:, j])
            net = ranker.target_loss_.net_preference(y[rows, i], y[rows, j])
            scale = 6.0 if loss == "kendall" else 1.0
            found = LinearRegression().fit(X[rows], net / scale).predict(X)
            np.testing.assert_allclose(u[:, i, j], found, atol=1e-10)
    np.testing.assert_allclose(u[:, 2, 3], 0.0, atol=1e-12)
    blocks = clone(ranker).fit_blocks([(X[:7], y[:7]), (X[7:], y[7:])])
    parts = clone(ranker).partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:])
    merged = merge(
        [clone(ranker).partial_fit(X[p], y[p]) for p in (slice(7), slice(7, None))]
    )
    for other in (blocks, parts, merged):
        np.testing.assert_allclose(other.predict_preferences(X), u, atol=1e-10)
        np.testing.assert_allclose(other.votes_, ranker.votes_, atol=1e-12)
        p = [one.predict_preference_probabilities(X) for one in (other, ranker)]
        np.testing.assert_allclose(*p, atol=1e-9)


@pytest.mark.parametrize("decoder", ["dag", "score"])
@pytest.mark.parametrize("missing", [False, True])
def test_trees_of_items(decoder, missing):
    """The order of the items turns round where x does, in both rankers, with labels that miss."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (80, 2))
    y = np.where(X[:, :1] > 0, [3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0])
    if missing:
        y[::2, 0], y[1::2, 3] = np.nan, np.nan  # nobody compares these two
    pairs = PairwiseDAGRanker(estimator="trees", decoder=decoder, random_state=0)
    low_rank = LowRankSurrogateRanker(
        target_loss="pd",
        estimator="trees",
        decoder="sort" if decoder == "score" else decoder,
        random_state=0,
    )
    for ranker in (pairs, low_rank):
        scores = ranker.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
        np.testing.assert_array_equal(
            (-scores).argsort(axis=1), [[0, 1, 2, 3], [3, 2, 1, 0]]
        )


@pytest.mark.parametrize("loss", [PairwiseDisagreement(), KendallTau()])
def test_factorisation_with_missing_grades(loss):
    """loss + measure does not depend on the order, with some items not judged."""
    rng = np.random.default_rng(1)
    every = all_ranks(4)
    for _ in range(20):
        y = rng.integers(0, 3, (1, 4)).astype(float)
        y[0, rng.integers(4)] = np.nan
        values = [-measure_score(loss, y, -ranks[np.newaxis]) for ranks in every]
        np.testing.assert_allclose(
            loss.loss(np.repeat(y, len(every), axis=0), every), values
        )


def test_cycles_and_opposite_preferences():
    y = np.zeros((3, 3, 3))
    y[0, 0, 1] = 1.0
    y[2, [0, 1, 2], [1, 2, 0]] = [3.0, 2.0, 1.0]
    both = y.copy()
    both[2, 2, 0], both[1, 1, 2], both[1, 2, 1] = 0.0, 0.25, 1.0
    ranker = PairwiseDAGRanker(alpha=0.0).fit(constant(3), both + y)
    net = (both + y) - (both + y).transpose(0, 2, 1)
    np.testing.assert_allclose(ranker.predict_preferences([[0.0]])[0], net.mean(axis=0))


# Votes and certificates --------------------------------------------------------------


def test_counts_of_votes_are_taken_by_default():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 9, (20, 4, 4)).astype(float)
    votes[:, range(4), range(4)] = 0.0
    ranker = PairwiseDAGRanker(alpha=0.0).fit(constant(20), votes)
    total = votes.sum(axis=0)
    net = (total - total.T) / 20
    np.testing.assert_allclose(ranker.predict_preferences([[0.0]])[0], net, atol=1e-12)
    np.testing.assert_allclose(ranker.votes_, (total + total.T) / 20)


@pytest.mark.parametrize("loss", ["pd", "kendall"])
def test_probabilities_are_fractions_of_the_votes(loss):
    """Of grades too, with items that are tied or not judged; weights count as so many voters."""
    rng = np.random.default_rng(1)
    grades, weights = rng.integers(0, 4, (30, 4)).astype(float), rng.integers(1, 5, 30)
    if loss == "pd":  # the loss of Kendall weighs lists by their number of pairs
        grades[rng.uniform(size=grades.shape) < 0.2] = np.nan
    grades[:, 3] = np.where(grades[:, 3] >= 0, grades[:, 2], np.nan)  # never compared
    ranker = PairwiseDAGRanker(target_loss=loss, alpha=0.0)
    ranker.fit(constant(30), grades, sample_weight=weights)
    p = ranker.predict_preference_probabilities([[0.0]])[0]
    for i in range(4):
        for j in range(4):
            ahead = weights[grades[:, i] > grades[:, j]].sum()
            behind = weights[grades[:, i] < grades[:, j]].sum()
            expected = ahead / (ahead + behind) if ahead + behind else 0.5
            assert p[i, j] == pytest.approx(expected, abs=1e-12)
    assert p[2, 3] == p[3, 2] == 0.5


def test_probabilities_are_those_of_a_known_distribution():
    data = make_preferences(20_000, 4, random_state=2)
    ranker = PairwiseDAGRanker(estimator="ridge", alpha=1e-6).fit(
        data.data, data.target
    )
    estimated = ranker.predict_preference_probabilities(data.data[:500])
    truth = np.einsum("nl,lij->nij", data.probabilities[:500], data.support)
    truth += np.eye(4) / 2.0
    assert np.abs(estimated - truth).mean() < 0.01
    np.testing.assert_allclose(estimated + estimated.transpose(0, 2, 1), 1.0)
    wild = ranker.predict_preference_probabilities(100.0 * data.data[:5])
    assert (wild.min(), wild.max()) == (0.0, 1.0)


def test_probabilities_of_duels():
    """Eight of ten duels are won by the stronger one, whatever is listed first."""
    strong = np.tile([1.0, 0.0], 10)[:, np.newaxis]
    won = np.array([1.0, 0.0] * 8 + [0.0, 1.0] * 2)
    ranker = PairwiseDAGRanker(alpha=0.0).fit(strong, won, qid=np.repeat(range(10), 2))
    (p,) = ranker.predict_preference_probabilities([[0.0], [1.0]], qid=[7, 7])
    np.testing.assert_allclose(p, [[0.5, 0.2], [0.8, 0.5]])
    ranker = clone(ranker).set_params(target_loss="kendall")
    ranker.fit(strong, won, qid=np.repeat(range(10), 2))
    with refused_by("preferences that are not votes"):
        ranker.predict_preference_probabilities([[0.0], [1.0]], qid=[7, 7])


def test_scores_have_no_probabilities(data):
    ranker = PairwiseDAGRanker(decoder="score").fit(data.data, data.target)
    with refused_by("scores and no preferences"):
        ranker.predict_preference_probabilities(data.data)


# Inside scikit-learn ----------------------------------------------------------------


BAD = [
    ({"target_loss": "ndcg"}, "LowRankSurrogateRanker takes the others"),
    ({"decoder": "sort"}, "decoder must be one of"),
    (
        {"pair_features": "concatenation"},
        "pair_features must be 'difference' or a callable",
    ),
    ({"score_function": "count"}, "score_function must be 'dmj' or a callable"),
    (
        {"decoder": "score", "score_function": lambda y: y[:, 0, :1]},
        "finite scores of shape",
    ),
    ({"alpha": -1.0}, "alpha"),
]


@pytest.mark.parametrize(
    ("parameters", "message"), BAD, ids=[str(i) for i in range(len(BAD))]
)
def test_bad_parameters_leave_no_trace(data, parameters, message):
    ranker = PairwiseDAGRanker().fit(data.data, data.target)
    before = ranker.predict(data.data)
    broken = ranker.set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        broken.fit(data.data, data.target)
    again = PairwiseDAGRanker()
    for name, value in vars(ranker).items():
        if name.endswith("_") or name.startswith("_"):
            setattr(again, name, value)
    np.testing.assert_array_equal(again.predict(data.data), before)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (-np.triu(np.ones((2, 3, 3)), 1), r"y\[0, 0, 1\] = -1: preferences"),
        (np.zeros((2, 3, 2)), r"\(n_\w+, r, r\)"),
        (np.tile(np.eye(3), (2, 1, 1)), "no item comes before itself"),
        (np.full((2, 3, 3), np.nan), "nobody stated has the weight 0"),
        (np.array([[1.0, np.nan], [0.0, np.nan]]), "Column 1 of y is NaN"),
    ],
)
def test_bad_labels(y, message):
    for ranker in (PairwiseDAGRanker(), LowRankSurrogateRanker(target_loss="pd")):
        with pytest.raises(ValueError, match=message):
            ranker.fit(constant(2), y)


def test_too_many_items_for_the_exact_decoder():
    y = np.random.default_rng(0).uniform(size=(2, 201))
    with refused_by("many items") as caught:
        PairwiseDAGRanker(decoder="exact").fit(constant(2), y)
    assert "'local_search'" in str(caught.value)
    assert "'sort'" not in str(caught.value)


def test_time_limit_warns_and_returns_an_order():
    rng = np.random.default_rng(0)
    y = rng.permuted(np.tile(np.arange(40.0), (15, 1)), axis=1)
    ranker = PairwiseDAGRanker(decoder=partial(decode_pd_exact, time_limit=1e-9))
    ranker.fit(constant(15), y)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        ranks = ranker.rank([[0.0]])
    assert sorted(ranks[0]) == list(range(1, 41))


def test_ties_of_the_exact_order_follow_the_net_preference():
    y = grades_from_orders(
        [[0, 1], [1, 0], [1, 2]], n_items=3
    )  # 0 and 1 tied, 1 before 2
    for decoder in DECODERS:
        assert PairwiseDAGRanker(decoder=decoder).fit(constant(3), y).rank(
            [[0.0]]
        ).tolist() == [[2, 1, 3]]


def test_labels_without_any_preference():
    with pytest.warns(UserWarning, match="No label prefers one item"):
        PairwiseDAGRanker().fit(constant(2), np.zeros((2, 3, 3)))


def test_a_classifier_is_no_regressor(data):
    with pytest.raises(TypeError, match="instance of a regressor"):
        PairwiseDAGRanker(estimator=LogisticRegression()).fit(data.data, data.target)


def test_items_take_no_qid(data):
    ranker = PairwiseDAGRanker().fit(data.data, data.target)
    with pytest.raises(ValueError, match="takes no qid"):
        ranker.predict(data.data, qid=np.arange(400))
    with refused_by("ids beside a matrix"):
        PairwiseDAGRanker().fit(data.data, data.target, qid=np.arange(400))


def test_verbose(data, capsys):
    PairwiseDAGRanker(verbose=1).fit(data.data, data.target)
    assert "[PairwiseDAGRanker] logistic regression on" in capsys.readouterr().out


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("loss", ["kendall", PairwiseDisagreement("difference")])
def test_every_decoder_with_every_loss(loss, decoder):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 4, (30, 14)).astype(float)
    ranker = PairwiseDAGRanker(target_loss=loss, decoder=decoder).fit(X, y)
    assert np.sort(ranker.rank(X), axis=1).tolist() == [list(range(1, 15))] * 30


def test_sorting_is_not_exact_where_items_are_not_judged():
    """Difference weights: "auto" sorts, which is exact if all items are judged, and only then."""
    loss, y = (
        PairwiseDisagreement("difference"),
        np.array([[0.1, 0, np.nan], [np.nan, 1, 0]]),
    )
    ranker = LowRankSurrogateRanker(target_loss=loss, decoder="exact").fit(
        constant(2), y
    )
    assert ranker.rank([[0.0]]).tolist() == [[1, 2, 3]]
    for labels in (y, np.nan_to_num(y)):
        sort = LowRankSurrogateRanker(target_loss=loss).fit(constant(2), labels)
        assert sort.decoder_ == "sort"
        assert sort.rank([[0.0]]).tolist() == [[2, 1, 3]]


def test_scores_estimate_f_itself():
    """E f_i(Y), whatever form the labels have."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 4, (60, 5)).astype(float)
    for loss in (PairwiseDisagreement(), PairwiseDisagreement("difference")):
        u = loss.preferences(y)
        ranker = PairwiseDAGRanker(target_loss=loss, estimator="ridge", decoder="score")
        grades, tensors = clone(ranker).fit(X, y), clone(ranker).fit(X, u)
        own = (
            clone(ranker)
            .set_params(score_function=lambda v: v.sum(2) - v.sum(1))
            .fit(X, y)
        )
        np.testing.assert_allclose(grades.predict(X), tensors.predict(X))
        np.testing.assert_allclose(grades.predict(X), own.predict(X))


def test_ragged_labels_are_told_apart():
    with refused_by("ragged labels"):
        PairwiseDAGRanker().fit(constant(2), [[1, 2], [1, 2, 3]])


# Custom decoders --------------------------------------------------------------------


def reversed_dag(u):
    """Ranks of the order that is worst by algorithm 1."""
    return u.shape[1] + 1 - decode_pd_dag(u).ranks


def test_a_function_decodes(data):
    X, y = data.data, data.target
    dag = PairwiseDAGRanker(decoder="dag").fit(X, y)
    ranker = PairwiseDAGRanker(decoder=reversed_dag).fit(X, y)
    np.testing.assert_array_equal(ranker.rank(X), 5 - dag.rank(X))
    np.testing.assert_array_equal(ranker.predict_surrogate(X), dag.predict_surrogate(X))
    assert ranker.decoder_ is reversed_dag
    assert ranker.score(X, y) < dag.score(X, y)
    for copy in (clone(ranker).fit(X, y), pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_array_equal(copy.predict(X), ranker.predict(X))
    search = GridSearchCV(
        PairwiseDAGRanker(),
        {"decoder": ["dag", reversed_dag]},
        cv=3,
        error_score="raise",
    )
    assert search.fit(X, y).best_params_ == {"decoder": "dag"}


@pytest.mark.parametrize(
    ("name", "decoder"),
    [
        ("exact", partial(decode_pd_exact, time_limit=5)),
        ("short_search", partial(decode_pd_local_search, n_restarts=20)),
    ],
)
@pytest.mark.parametrize("n_items", [4, 14])
def test_a_decoder_with_parameters_gives_the_ranks_of_the_named_one(
    n_items, name, decoder
):
    data = make_preferences(30, n_items, random_state=0)
    named = PairwiseDAGRanker(decoder=name).fit(data.data, data.target)
    ranker = clone(PairwiseDAGRanker(decoder=decoder)).fit(data.data, data.target)
    np.testing.assert_array_equal(ranker.predict(data.data), named.predict(data.data))


def test_documents_are_decoded_by_a_function():
    duels = make_duels(200, random_state=0)
    X, y, qid = duels.data, duels.target, duels.qid // 3  # lists of six
    dag, ranker = (
        PairwiseDAGRanker(pair_features=products, decoder=decoder).fit(X, y, qid=qid)
        for decoder in ("dag", reversed_dag)
    )
    lengths = np.bincount(qid)[qid]
    np.testing.assert_array_equal(
        ranker.rank(X, qid=qid), lengths + 1 - dag.rank(X, qid=qid)
    )


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (
            lambda u: np.zeros(u.shape[:2]),
            r"returns\[0\] must be the ranks 1..4 .*got \[0.0, 0.0, 0.0, 0.0\]",
        ),
        (lambda u: np.argsort(-u.sum(axis=2)), r"np.argsort\(order\) \+ 1"),
        (
            lambda u: np.arange(1, 5),
            r"of 400 lists, shape \(400, 4\), got the shape \(4,\)",
        ),
        (lambda u: None, "What the decoder returns must be the ranks"),
    ],
)
def test_what_a_function_returns_must_be_ranks(data, decode, message):
    ranker = PairwiseDAGRanker(decoder=decode).fit(data.data, data.target)
    with pytest.raises(ValueError, match=message):
        ranker.rank(data.data)


def test_parameters_of_a_decoder_count():
    rng = np.random.default_rng(0)
    y = rng.permuted(np.tile(np.arange(30.0), (15, 1)), axis=1)
    costs = []
    for n_restarts in (0, 30):
        ranker = PairwiseDAGRanker(
            decoder=partial(decode_pd_local_search, n_restarts=n_restarts)
        )
        ranker.fit(constant(15), y)
        u = ranker.predict_preferences([[0.0]])
        costs.append(preference_cost(u, ranker.rank([[0.0]]))[0])
    assert costs[1] < costs[0]


@pytest.mark.parametrize("layout", ["items", "documents"])
def test_rank_returns_the_ranks_of_the_decoder(layout):
    """Each list is decoded once; the scores of `predict` are r - rank."""
    X, y = np.random.default_rng(0).normal(size=(2, 12, 3))
    params, shape = {}, {}
    if layout == "documents":
        y, shape = y[:, 0], {"qid": np.repeat([0, 1, 0, 1], 3)}
        params = {"pair_features": lambda a, b: a - b}
    decoded = []

    def decoder(u):
        decoded.extend(u)
        return np.tile(np.arange(1, u.shape[1] + 1), (len(u), 1))

    ranker = PairwiseDAGRanker(decoder=decoder, **params).fit(X, y, **shape)
    ranks = ranker.rank(X, **shape)
    if layout == "items":
        assert len(decoded) == 12
        np.testing.assert_array_equal(ranks, np.tile([1, 2, 3], (12, 1)))
        np.testing.assert_array_equal(ranker.predict(X), 3.0 - ranks)
    else:
        assert len(decoded) == 2
        np.testing.assert_array_equal(ranks, [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6])
        np.testing.assert_array_equal(ranker.predict(X, **shape), 6.0 - ranks)


def test_no_label_changes_the_scores_of_another():
    """f(y) of a list is the same alone, with others and with others that hold NaN."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (6, 5)).astype(float)
    for loss in (
        PairwiseDisagreement(),
        PairwiseDisagreement("difference"),
        KendallTau(),
    ):
        whole = label_scores("dmj", loss, y)
        some = y.copy()
        some[3:, 1] = np.nan
        np.testing.assert_array_equal(label_scores("dmj", loss, some)[:3], whole[:3])
        for row, scores in zip(y, whole, strict=True):
            np.testing.assert_array_equal(
                label_scores("dmj", loss, row[np.newaxis])[0], scores
            )
            by_hand = [
                sum(loss.net_preference(a, b) for j, b in enumerate(row) if j != i)
                for i, a in enumerate(row)
            ]
            factor = 0.1 if isinstance(loss, KendallTau) else 1.0  # 10 pairs
            np.testing.assert_allclose(scores, factor * np.array(by_hand))


@pytest.mark.parametrize(
    "params", [{}, {"estimator": "ridge"}, {"alpha": 0.0}, {"estimator": Ridge()}]
)
@pytest.mark.parametrize("scale", [1.0, 1e50])
def test_a_single_item_has_no_pairs(params, scale):
    X = scale * np.random.default_rng(0).normal(size=(5, 3))
    with pytest.warns(UserWarning, match="No label prefers"):
        ranker = PairwiseDAGRanker(**params).fit(X, np.zeros((5, 1, 1)))
    assert ranker.rank(X).tolist() == [[1]] * 5
    assert ranker.predict_surrogate(X).shape == (5, 0)


def test_a_pair_that_nobody_judges_has_no_preference_with_sparse_features():
    X, y = (
        np.eye(4),
        np.array([[2, 1, np.nan], [2, 1, np.nan], [np.nan, 1, 2], [np.nan, 1, 2]]),
    )
    dense, thin = (
        PairwiseDAGRanker().fit(kind(X), y) for kind in (np.asarray, csr_matrix)
    )
    assert (
        dense.predict_preferences(X)[0, 0, 2]
        == thin.predict_preferences(X)[0, 0, 2]
        == 0
    )
