"""Bradley and Terry: peers, optimality, invariances, coverage, refusals."""

import importlib.util
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from lowrank_rank.votes import bradley_terry

from .refusals import refused_by


def duels_of(rng, strengths, n, tie=0.0, shift=0.0):
    """Columns of n duels of random pairs under Davidson's model; `shift` is added to log odds."""
    r = len(strengths)
    first = rng.integers(r, size=n)
    second = (first + rng.integers(1, r, size=n)) % r
    d = strengths[first] - strengths[second] + shift
    parts = np.cumsum([np.exp(d / 2), np.full(n, tie), np.exp(-d / 2)], axis=0)
    outcome = (rng.random(n) * parts[-1] > parts).sum(axis=0)
    winner, loser = np.where(outcome < 2, [first, second], [second, first])
    return {"winner": winner, "loser": loser, "tie": outcome == 1}


def as_list(duels, names=None):
    """The columns as a list of pairs, ties in a list of their own."""
    names = (
        np.arange(1 + max(duels["winner"].max(), duels["loser"].max()))
        if names is None
        else names
    )
    pairs = zip(
        names[duels["winner"]].tolist(), names[duels["loser"]].tolist(), strict=True
    )
    return [
        [pair] if tie else list(pair)
        for pair, tie in zip(pairs, duels["tie"], strict=True)
    ]


def sorted_by_name(board):
    """Strengths and errors in the order of the names."""
    order = np.argsort(board.items)
    return np.array([board.strengths[order], board.standard_errors[order]])


@pytest.fixture
def duels():
    return duels_of(np.random.default_rng(0), np.linspace(-1, 1, 6), 400, tie=0.6)


def test_strengths_are_those_of_choix():
    choix = pytest.importorskip("choix")
    duels = duels_of(np.random.default_rng(1), np.linspace(-2, 2, 12), 2000)
    strengths, _ = sorted_by_name(bradley_terry(duels))
    peer = choix.ilsr_pairwise(12, as_list(duels))
    np.testing.assert_allclose(strengths, peer - peer.mean(), atol=1e-6)


def test_half_wins_and_covariates_are_logistic_regression(duels):
    length = np.random.default_rng(2).normal(100, 50, size=400)
    board = bradley_terry(duels, covariates=length, ties="half")
    X = np.column_stack(
        [np.eye(6)[duels["winner"]] - np.eye(6)[duels["loser"]], length / 50]
    )
    share = np.where(duels["tie"], 0.5, 1.0)
    y = np.repeat([1, 0], 400)
    model = LogisticRegression(
        C=1e12, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
    ).fit(np.vstack([X, X]), y, sample_weight=np.append(share, 1 - share))
    peer = model.coef_[0]
    strengths, _ = sorted_by_name(board)
    np.testing.assert_allclose(strengths, peer[:6] - peer[:6].mean(), atol=1e-6)
    np.testing.assert_allclose(board.coefficients, peer[6:] / 50, atol=1e-6)
    assert board.tie == 0


def davidson_likelihood(duels, strengths, tie, weights=1.0):
    return np.sum(weights * log_likelihoods(duels, strengths, tie))


def log_likelihoods(duels, strengths, tie):
    d = strengths[duels["winner"]] - strengths[duels["loser"]]
    chosen = np.where(duels["tie"], tie, np.exp(d / 2))
    return np.log(chosen / (np.exp(d / 2) + np.exp(-d / 2) + tie))


@pytest.mark.parametrize("half_games", [0.0, 0.5])
def test_davidson_strengths_maximise_the_likelihood(duels, half_games):
    """With half games the virtual item plays under the same model."""
    board = bradley_terry(duels, half_games=half_games)
    names = np.argsort(board.items)

    def value(theta):
        virtual = np.concatenate([theta[:6], [0.0]])
        sides = np.arange(6), np.full(6, 6)
        games = [
            {"winner": one, "loser": other, "tie": np.zeros(6, bool)}
            for one, other in (sides, sides[::-1])
        ]
        extra = sum(
            davidson_likelihood(g, virtual, np.exp(theta[6]), half_games) for g in games
        )
        return davidson_likelihood(duels, theta[:6], np.exp(theta[6])) + extra

    def slope(theta):
        steps = 1e-5 * np.eye(7)
        return np.array([(value(theta + s) - value(theta - s)) / 2e-5 for s in steps])

    theta = np.append(board.strengths[names], np.log(board.tie))
    if half_games:  # strengths are reported with mean 0, the virtual item is somewhere
        shifts = np.linspace(-0.2, 0.2, 4001)
        at = [value(theta + s * np.append(np.ones(6), 0)) for s in shifts]
        theta = theta + shifts[np.argmax(at)] * np.append(np.ones(6), 0)
    np.testing.assert_allclose(slope(theta), 0, atol=2e-3 if half_games else 1e-5)
    assert board.strengths.mean() == pytest.approx(0, abs=1e-12)


def test_davidson_errors_are_the_sandwich(duels):
    """Derivatives of each duel's log likelihood by differences; strengths are those of mean 0."""
    board = bradley_terry(duels)
    steps = 1e-4 * np.eye(7)

    def scores(theta):
        ends = [
            log_likelihoods(duels, end[:6] - end[:6].mean(), np.exp(end[6]))
            for s in steps
            for end in (theta + s, theta - s)
        ]
        return (np.array(ends[::2]) - ends[1::2]).T / 2e-4

    theta = np.append(board.strengths[np.argsort(board.items)], np.log(board.tie))
    ends = [
        scores(theta + s).sum(axis=0) - scores(theta - s).sum(axis=0) for s in steps
    ]
    inverse = np.linalg.pinv(-np.array(ends) / 2e-4, rcond=1e-5)
    sandwich = inverse @ scores(theta).T @ scores(theta) @ inverse
    errors = np.sqrt(np.diag(sandwich))
    np.testing.assert_allclose(sorted_by_name(board)[1], errors[:6], rtol=1e-4)
    assert board.tie_error == pytest.approx(board.tie * errors[6], rel=1e-4)


def test_tables_lists_and_frames_are_one(duels):
    """Order, names and form of the duels do not matter; weight 2 is the row twice."""
    pd = pytest.importorskip("pandas")
    expected = sorted_by_name(bradley_terry(duels))
    shuffled = np.random.default_rng(3).permutation(400)
    mixed = {name: column[shuffled] for name, column in duels.items()}
    names = np.array(list("uvwxyz"))
    for other in (mixed, pd.DataFrame(mixed), as_list(mixed), as_list(mixed, names)):
        np.testing.assert_allclose(
            sorted_by_name(bradley_terry(other)), expected, atol=1e-9
        )
    twice = {name: np.tile(column, 2) for name, column in duels.items()}
    again = sorted_by_name(bradley_terry(twice))
    for weighted in (
        bradley_terry(duels, weight=np.full(400, 2)),
        bradley_terry({**duels, "times": np.full(400, 2)}, weight="times"),
        bradley_terry(as_list(duels), weight=[2] * 400),
    ):
        np.testing.assert_allclose(sorted_by_name(weighted), again, atol=1e-9)
    np.testing.assert_allclose(again, expected * [[1], [np.sqrt(0.5)]], atol=1e-9)


def test_counts_are_a_list_of_wins():
    pd = pytest.importorskip("pandas")
    counts = np.random.default_rng(4).integers(1, 9, size=(4, 4)) * (
        1 - np.eye(4, dtype=int)
    )
    names = list("abcd")
    pairs = [
        [names[i], names[j]]
        for i, j in np.argwhere(counts)
        for _ in range(counts[i, j])
    ]
    expected = sorted_by_name(bradley_terry(pairs))
    table = pd.DataFrame(counts, index=names, columns=names)
    for other in (counts, table):
        np.testing.assert_allclose(
            sorted_by_name(bradley_terry(other)), expected, atol=1e-9
        )


def test_a_covariate_as_an_item_of_each_side_changes_only_its_scale(duels):
    x = np.random.default_rng(5).standard_normal((400, 2))
    one = bradley_terry(duels, covariates=x)
    scaled = bradley_terry(duels, covariates=x * [1e-4, 1e6])
    np.testing.assert_allclose(
        scaled.coefficients * [1e-4, 1e6], one.coefficients, atol=1e-8
    )
    np.testing.assert_allclose(scaled.strengths, one.strengths, atol=1e-8)


def test_covariates_remove_their_bias():
    """Item 0 gives long answers, which are preferred: without length it looks strong."""
    rng = np.random.default_rng(6)
    r, n = 4, 20_000
    first = rng.integers(r, size=n)
    second = (first + rng.integers(1, r, size=n)) % r
    length = rng.standard_normal(n) + (first == 0) - (second == 0)
    win = rng.random(n) < expit(length)
    sign = np.where(win, 1, -1)
    duels = {
        "winner": np.where(win, first, second),
        "loser": np.where(win, second, first),
    }
    board = bradley_terry(duels, covariates=sign * length)
    strengths, errors = sorted_by_name(board)
    assert np.all(np.abs(strengths) < 4 * errors)
    assert abs(board.coefficients[0] - 1) < 4 * board.coefficient_errors[0] < 0.2
    assert sorted_by_name(bradley_terry(duels))[0, 0] > 0.5


def test_plain_errors_are_those_of_a_group_for_each_duel(duels):
    own = {**duels, "row": np.arange(400)}
    boards = [bradley_terry(duels), bradley_terry(own, group="row")]
    plain, grouped = (sorted_by_name(board)[1] for board in boards)
    assert [board.degrees_of_freedom for board in boards] == [np.inf, 399]
    np.testing.assert_allclose(grouped, plain * np.sqrt(400 / 399), rtol=1e-9)
    copies = {name: np.tile(column, 3) for name, column in own.items()}
    np.testing.assert_allclose(
        sorted_by_name(bradley_terry(copies, group="row"))[1], grouped, rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore:cycles")  # the copies without their group
def test_errors_cover_the_truth_and_clusters_need_their_group():
    truth = np.linspace(-1, 1, 6)
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        duels = duels_of(rng, truth, 600, tie=0.6)
        copies = {name: np.repeat(column, 4) for name, column in duels.items()}
        clustered = bradley_terry(copies, group=np.repeat(np.arange(600), 4))
        for board in (bradley_terry(duels), clustered, bradley_terry(copies)):
            low, high = board.interval()[np.argsort(board.items)].T
            found.append((low < truth) & (truth < high))
    davidson, clustered, unclustered = np.reshape(found, (-1, 3, 6)).mean(axis=(0, 2))
    assert 0.92 < davidson < 0.98
    assert clustered == pytest.approx(davidson, abs=0.01)
    assert unclustered < 0.8


def test_rank_intervals_hold_all_ranks_together():
    truth = np.linspace(1, -1, 6)
    lengths = {}
    for n in (200, 2000):
        held = []
        for seed in range(60):
            board = bradley_terry(
                duels_of(np.random.default_rng(seed), truth, n), half_games=0.5
            )
            intervals = board.rank_intervals(n_resamples=300, random_state=seed)
            place = 1 + board.items  # item 0 is the best
            held.append(np.all((intervals.low <= place) & (place <= intervals.high)))
            assert np.all(
                (intervals.low <= board.ranks) & (board.ranks <= intervals.high)
            )
        lengths[n] = np.mean(intervals.high - intervals.low)
        assert np.mean(held) >= 0.95
    assert lengths[2000] < lengths[200]


def test_two_items_are_apart_exactly_where_their_difference_is_significant():
    """With two items there is one pair, and the margin is 1.96 standard errors."""
    found = []
    for wins in range(55, 80):
        board = bradley_terry(np.array([[0, wins], [120 - wins, 0]]))
        t = (board.strengths[0] - board.strengths[1]) / (2 * board.standard_errors[0])
        intervals = board.rank_intervals(n_resamples=20_000, random_state=0)
        if abs(t - 1.96) > 0.05:  # the quantile is drawn
            assert (intervals.high[0] == 1) == (intervals.low[1] == 2) == (t > 1.96)
            found.append(t > 1.96)
    assert 0 < np.mean(found) < 1


def test_next_duels_ask_about_the_uncertain_and_the_boundary():
    counts = np.array([[0, 40, 0, 0], [10, 0, 30, 0], [0, 20, 0, 1], [0, 0, 1, 0]])
    board = bradley_terry(counts, half_games=0.5)
    assert 3 in board.next_duels()[0]  # which met others twice
    pairs = board.next_duels(5)
    assert len(pairs) == 5
    assert len(set(pairs)) > 1
    even = bradley_terry(
        np.kron(np.diag([1.0, 1.0]), np.ones((3, 3)) - np.eye(3)) * 8
        + np.kron([[0, 12], [1, 0]], np.ones((3, 3))),
        half_games=0.5,
    )
    ((first, second),) = even.next_duels(top=1)
    assert {first, second} <= {0, 1, 2}


@pytest.mark.parametrize("n", [1e2, 1e6, 1e10])
def test_the_next_duel_at_a_boundary_after_many_duels_is_the_one_after_few(n):
    """The probabilities that items are on the wrong side are below the smallest number."""
    chain = np.array([[0, 3, 0, 0], [1, 0, 3, 0], [0, 1, 0, 3], [0, 0, 1, 0]])
    for top in (1, 2, 3):
        pairs = bradley_terry(n * chain).next_duels(top=top)
        assert pairs == bradley_terry(chain).next_duels(top=top)


def test_a_row_of_weight_zero_is_no_row():
    duels = {"winner": list("aabbab"), "loser": list("bbaaba")}
    rest = {name: values[1:] for name, values in duels.items()}
    without = bradley_terry(rest, group=[1, 2, 3, 4, 5])
    board = bradley_terry(duels, group=[0, 1, 2, 3, 4, 5], weight=[0, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(board.standard_errors, without.standard_errors)
    assert board.n_groups == without.n_groups == 5


def in_groups(rng, strengths, group):
    """Duels of pairs; in each group the strengths are shifted by normal numbers."""
    r, n = len(strengths), len(group)
    shifted = strengths + rng.standard_normal((group.max() + 1, r))
    first = rng.integers(r, size=n)
    second = (first + rng.integers(1, r, size=n)) % r
    wins = rng.random(n) < expit(shifted[group, first] - shifted[group, second])
    winner, loser = np.where(wins, [first, second], [second, first])
    return {"winner": winner, "loser": loser}


@pytest.mark.parametrize("n_groups", [1, 2, 4])
def test_fewer_than_five_groups_have_strengths_and_no_errors(duels, n_groups):
    board = bradley_terry(
        duels, group=np.arange(400) % n_groups, covariates=np.arange(400) % 7
    )
    without = bradley_terry(duels, covariates=np.arange(400) % 7)
    np.testing.assert_array_equal(board.strengths, without.strengths)
    assert board.next_duels(2) == without.next_duels(2)
    assert board.probability(0, 1) == without.probability(0, 1)
    assert board.n_groups == n_groups
    assert repr(board).splitlines()[0].split() == ["rank", "item", "strength"]
    names = ["standard_errors", "covariance", "coefficient_errors", "tie_error"]
    refused = [lambda name=name: getattr(board, name) for name in names]
    refused += [board.interval, board.rank_intervals]
    refused += [lambda: board.probability_interval(0, 1)]
    names += ["interval", "rank_intervals", "probability_interval"]
    for name, call in zip(names, refused, strict=True):
        with pytest.raises(ValueError, match=f"^{name}: {n_groups} group.* need 5"):
            call()
    five = bradley_terry(duels, group=np.arange(400) % 5)
    assert five.degrees_of_freedom == pytest.approx(4)
    assert len(five.interval()) == 6


def test_degrees_of_freedom_are_those_of_the_effective_number_of_groups(duels):
    sizes = np.array([200, 50, 50, 40, 30, 30])
    board = bradley_terry(duels, group=np.repeat(np.arange(6), sizes))
    expected = 400**2 / (sizes @ sizes) - 1
    assert board.degrees_of_freedom == pytest.approx(expected)
    half_width = stats.t.ppf(0.95, expected) * board.standard_errors
    np.testing.assert_allclose(
        board.interval(0.9).T,
        [board.strengths - half_width, board.strengths + half_width],
    )
    normal = bradley_terry(duels)
    low, high = normal.interval().T
    np.testing.assert_allclose(
        high - low, 2 * stats.norm.ppf(0.975) * normal.standard_errors
    )
    x = np.random.default_rng(0).normal(size=(400, 2))
    board = bradley_terry(duels, covariates=x)
    low, high = board.interval(of="coefficients").T
    np.testing.assert_allclose((low + high) / 2, board.coefficients)
    np.testing.assert_allclose((high - low) / 3.919928, board.coefficient_errors)
    with pytest.raises(ValueError, match="of must be"):
        board.interval(of="ties")
    with pytest.raises(ValueError, match="confidence_level must be"):
        board.interval(95)


def test_intervals_of_five_groups_cover():
    """1.96 standard errors hold .77 of unequal groups."""
    group = np.append(np.zeros(100, int), np.arange(100) % 4 + 1)
    inside, normal, ranks = [], [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        duels = in_groups(rng, np.zeros(5), group)
        board = bradley_terry(duels, group=group, half_games=0.05)
        low, high = board.interval().T
        inside.append((low <= 0) & (high >= 0))
        normal.append(np.abs(board.strengths) <= 1.96 * board.standard_errors)
        # Items of equal strength share all ranks.
        of_ranks = [board, replace(board, degrees_of_freedom=np.inf)]
        found = [b.rank_intervals(n_resamples=200, random_state=0) for b in of_ranks]
        ranks.append([np.all((f.low == 1) & (f.high == 5)) for f in found])
    assert np.mean(inside) > 0.93
    assert np.mean(normal) < 0.88
    by_student, by_normal = np.mean(ranks, axis=0)
    assert by_student > by_normal + 0.2


def test_ranks_of_equal_items_are_all_held_with_five_groups():
    """The multivariate t distribution of the estimated covariance holds .77 of them."""
    group = np.arange(320) % 5
    held = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        duels = in_groups(rng, np.zeros(8), group)
        board = bradley_terry(duels, group=group, half_games=0.05)
        intervals = board.rank_intervals(n_resamples=2, random_state=0)
        held.append(np.all((intervals.low == 1) & (intervals.high == 8)))
    assert np.mean(held) >= 0.92


def test_rank_intervals_of_groups_take_students_t():
    """Two items are apart where |t| exceeds Student's quantile, not the normal one."""
    group = np.arange(120) % 6
    found = []
    for wins in range(66, 100):
        rows = [["a", "b"]] * wins + [["b", "a"]] * (120 - wins)
        order = np.random.default_rng(wins).permutation(120)
        board = bradley_terry([rows[i] for i in order], group=group)
        t = board.strengths[0] / board.standard_errors[0]
        quantile = stats.t.ppf(0.975, 5)
        intervals = board.rank_intervals(n_resamples=2, random_state=0)
        assert (intervals.high[0] == 1) == (t > quantile)
        found.append(1.96 < t < quantile)
    assert np.any(found)


@pytest.mark.parametrize("tie", [0.0, 0.8])
def test_intervals_of_probabilities_are_those_of_their_log_odds(tie):
    truth = np.array([0.6, 0.0, -0.6])
    inside = []
    expected = bradley_terry(duels_of(np.random.default_rng(0), truth, 100_000, tie))
    expected = expected.probability(0, 2)
    for seed in range(120):
        duels = duels_of(np.random.default_rng(1 + seed), truth, 150, tie)
        board = bradley_terry(duels)
        low, high = board.probability_interval(0, 2)
        assert 0 < low < board.probability(0, 2) < high < 1
        np.testing.assert_allclose(
            board.probability_interval(2, 0), [1 - high, 1 - low], atol=1e-12
        )
        inside.append(low <= expected <= high)
    assert np.mean(inside) >= 0.9
    assert board.probability_interval(1, 1).tolist() == [0.5, 0.5]
    if tie == 0:
        difference = (
            board.strengths[board.items == 0] - board.strengths[board.items == 2]
        )
        i, j = (int(np.flatnonzero(board.items == k)[0]) for k in (0, 2))
        c = np.zeros(3)
        c[[i, j]] = 1, -1
        error = np.sqrt(c @ board.covariance @ c)
        ends = difference + stats.norm.ppf([0.025, 0.975]) * error
        np.testing.assert_allclose(board.probability_interval(0, 2), expit(ends))
    with refused_by("item of a board"):
        board.probability_interval(0, "z")


def test_names_of_two_types_stay_apart():
    board = bradley_terry({"winner": [1, 2], "loser": ["1", "2"]}, half_games=0.5)
    assert board.items.tolist() == [1, 2, "1", "2"]


def test_refusals_name_the_items():
    cases = {
        r"\['a'\] never lost to the rest and": [["a", "b"], ["b", "c"], ["a", "c"]],
        r"'a'\] .* and \['c'\] never won against": [["a", "b"], ["b", "c"], ["a", "c"]],
        r"exist: \['c'\] never won against the rest": [
            ["a", "b"],
            ["b", "a"],
            ["b", "c"],
        ],
        r"\['x', 'y'\] did not meet the rest": [
            ["a", "b"],
            ["b", "c"],
            ["c", "a"],
            ["x", "y"],
            ["y", "x"],
        ],
    }
    for message, duels in cases.items():
        with pytest.raises(ValueError, match=message):
            bradley_terry(duels)
        assert np.isfinite(bradley_terry(duels, half_games=0.5).standard_errors).all()
    unmet = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0]])
    with refused_by("items without finite strengths"):
        bradley_terry(unmet)
    assert bradley_terry(unmet, half_games=0.5).standard_errors[2] > 1


def test_estimates_that_do_not_exist_are_refused(duels):
    apart = {"winner": list("abab"), "loser": list("baba"), "tie": [True] * 4}
    with pytest.raises(ValueError, match="ties='half'"):
        bradley_terry(apart)
    assert bradley_terry(apart, ties="half").strengths.tolist() == [0, 0]
    plain = {name: duels[name] for name in ("winner", "loser")}
    own = (plain["winner"] == 0) * 1.0 - (plain["loser"] == 0)
    for covariates in (
        np.ones(400),
        np.zeros(400),
        100 * own,
        own / 7,
        np.arange(400) + 1,
    ):
        with pytest.raises(ValueError, match="covariates separate"):
            bradley_terry(plain, covariates=covariates)


def test_input_that_does_not_fit_is_refused(duels):
    good = {"winner": ["a", "b"], "loser": ["b", "a"]}
    for message, bad in (
        ("inconsistent numbers of samples", {**good, "loser": ["b"]}),
        ("empty", []),
    ):
        with pytest.raises(ValueError, match=message):
            bradley_terry(bad)
    for message, arguments in (
        ("weight must be an array of numbers", {"weight": ["one", "two"]}),
        ("judge contains a missing", {"judge": ["j", None]}),
    ):
        with pytest.raises(ValueError, match=message):
            bradley_terry(good, **arguments)
    with pytest.raises(ValueError, match="half_games must be"):
        bradley_terry(good, half_games=-1)


def test_the_next_duels_of_finite_strengths_need_no_virtual_games():
    duels = (
        2 * [["a", "b"]]
        + 4 * [["a", "c"]]
        + [["b", "a"], ["c", "a"], ["c", "b"], ["b", "c"]]
    )
    expected = bradley_terry(duels, half_games=1e-6)
    for options in ({"k": 4}, {"k": 4, "top": 1}):
        assert bradley_terry(duels).next_duels(**options) == expected.next_duels(
            **options
        )


def test_the_result_prints_best_first():
    board = bradley_terry(
        [["b", "a"], ["a", "b"], ["a", "b"], ["c", "a"], ["a", "c"], ["c", "b"]]
    )
    lines = repr(board).splitlines()
    assert lines[0].split() == [
        "rank",
        "item",
        "strength",
        "standard_error",
        "rank_low",
        "rank_high",
    ]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3"]
    assert lines[1].split()[1] == board.items[np.argmax(board.strengths)]
    pytest.importorskip("pandas")
    frame = board.to_frame()
    assert frame["strength"].is_monotonic_decreasing
    by_item = frame.set_index("item").loc[board.items]
    ends = by_item[["strength_low", "strength_high"]].to_numpy()
    np.testing.assert_allclose(ends, board.interval())


def test_missing_names_of_a_list_are_named_by_their_row():
    with refused_by("missing id"):
        bradley_terry([["a", "b"], [None, "a"]])


LOG = {"left": ["x", "y", "x", "z"], "right": ["y", "x", "z", "x"]}


@pytest.mark.parametrize(
    "results",
    [
        [3, 2, 0, 1],
        ["x", "y", "x", 1],
        [date(2020, 1, 1)] * 4,
        [("u", 1)] * 4,
    ],
)
def test_results_that_are_neither_names_nor_usual_numbers(results):
    log = {**LOG, "vote": results}
    with refused_by("unclear result of a duel") as error:
        bradley_terry(log, item_a="left", item_b="right", result="vote")
    assert len(str(error.value)) < 300


def test_columns_that_are_not_read_are_named():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"winner": ["a", "a", "b"], "loser": ["b", "b", "a"], "prompt": [1, 2, 3]}
    )
    with pytest.warns(
        UserWarning, match=r"does not read the columns \['prompt'\]"
    ) as caught:
        found = bradley_terry(frame)
    assert caught[0].filename == __file__
    # Without a warning: columns that the call names, or that may be in an array.
    bradley_terry(frame, covariates=[1.0, 3.0, -2.0])
    bradley_terry(frame, group="prompt")
    bradley_terry(frame, group=frame["prompt"])
    named = pd.concat([frame, frame]).assign(
        length_winner=1.0, length_loser=[2.0, 0.0, 0.0, 0.0, 2.0, 2.0]
    )
    bradley_terry(named, weight="prompt", covariates="length")
    bradley_terry(named, covariates=["length"])
    with pytest.warns(
        UserWarning, match=r"columns \['prompt', .* Name others in weight="
    ):
        bradley_terry(named)
    assert (
        found.strengths.tolist()
        == bradley_terry(frame[["winner", "loser"]]).strengths.tolist()
    )
    battles = frame.assign(more=0).set_axis(
        ["model_a", "model_b", "outcome", "more"], axis=1
    )
    for given in (battles, dict(battles)):
        expected = (
            r"'winner' and 'loser'.*the columns \['model_a', 'model_b', 'outcome'"
        )
        with pytest.raises(ValueError, match=expected):
            bradley_terry(given)
    with pytest.warns(
        UserWarning, match=r"\['more'\]: it reads \['model_a', 'model_b', 'winner'"
    ):
        bradley_terry(battles.drop(columns="outcome").assign(winner=["a", "b", "a"]))


def test_duels_in_arrays_series_and_arrow_tables():
    pairs = [["a", "b"], ["b", "a"], ["a", "b"]]
    expected = bradley_terry(pairs).strengths
    assert expected[0] > expected[1]
    frame = pd.DataFrame(pairs, columns=["winner", "loser"])
    tables = [np.array(pairs), np.array(pairs, dtype=object), pd.Series(pairs)]
    if importlib.util.find_spec("pyarrow"):
        tables.append(importlib.import_module("pyarrow").table(frame.to_dict("list")))
    for duels in tables:
        np.testing.assert_allclose(bradley_terry(duels).strengths, expected)
    np.testing.assert_allclose(
        bradley_terry(np.array([[0, 1], [1, 0], [0, 1]])).strengths, expected
    )
    assert bradley_terry(np.array([[0, 2], [1, 0]])).strengths[0] > 0  # counts
    two = bradley_terry(np.array([["a", "b"], ["b", "a"]]))
    assert two.items.tolist() == ["a", "b"]


def test_messages_name_the_row_and_what_there_is():
    base = {"winner": list("abab"), "loser": list("baba")}
    with refused_by("tie of a duel"):
        bradley_terry({**base, "tie": [0, 1, 0, 2]})
    with refused_by("weight of a duel"):
        bradley_terry({**base, "n": [1, 2, 3, np.nan]}, weight="n")
    halves = 4 * [["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"]]
    with refused_by("items without finite strengths"):
        bradley_terry(halves)
    with pytest.raises(ValueError, match="exists: half_games is too small"):
        bradley_terry([[i, i + 1] for i in range(14)], half_games=1e-20)


def test_a_probability_is_of_the_model():
    board = bradley_terry([["a", "b"]] * 6 + [["b", "a"]] * 2 + [[("a", "b")]] * 2)
    difference = board.strengths[0] - board.strengths[1]
    win, tie, loss = np.exp(difference / 2), board.tie, np.exp(-difference / 2)
    expected = (win + tie / 2) / (win + tie + loss)
    assert board.probability("a", "b") == pytest.approx(expected)
    assert board.probability("b", "a") == pytest.approx(1 - expected)
    with refused_by("item of a board"):
        board.probability("a", "c")


@pytest.mark.parametrize(
    "words", [("model_a", "model_b"), ("a", "b"), ("A", "B"), None]
)
def test_two_items_and_a_result_are_winners_and_losers(words):
    rng = np.random.default_rng(0)
    duels = duels_of(rng, np.linspace(-1, 1, 4), 300, tie=0.5)
    names = np.array(["v", "w", "x", "y"])
    winner, loser = names[duels["winner"]], names[duels["loser"]]
    swap = rng.random(300) < 0.5
    table = {
        "model_a": np.where(swap, loser, winner),
        "model_b": np.where(swap, winner, loser),
    }
    table["winner"] = winner if words is None else np.where(swap, words[1], words[0])
    ties = rng.choice(
        ["tie", "Tied", "draw", "tie (bothbad)", "bothbad", "both_bad"], size=300
    )
    table["winner"] = np.where(duels["tie"], ties, table["winner"])
    expected = bradley_terry({"winner": winner, "loser": loser, "tie": duels["tie"]})
    found = bradley_terry(pd.DataFrame(table))
    by_name = [dict(zip(b.items, b.strengths, strict=True)) for b in (found, expected)]
    assert by_name[0] == pytest.approx(by_name[1], abs=1e-8)
    renamed = {
        "left": table["model_a"],
        "right": table["model_b"],
        "who": table["winner"],
    }
    if words is None:
        again = bradley_terry(renamed, item_a="left", item_b="right", result="who")
        np.testing.assert_allclose(again.strengths, found.strengths, atol=1e-8)
        with refused_by("column of results"):
            bradley_terry(renamed, item_a="lef", item_b="right", result="who")
    for wrong in (
        "both",
        "tiebreak",
        "t",
        None,
        table["model_a"][7] if words else "a",
        "",
    ):
        mixed = table["winner"].astype(object)
        mixed[7] = wrong
        with pytest.raises(
            ValueError, match=rf"'winner' (is '{wrong}' in row|contains .*row) 7"
        ):
            bradley_terry({**table, "winner": mixed})


@pytest.mark.parametrize(
    "name", ["Tien", "tier2", "tie", "draw", "A", "model_a", 3, ("t", 1)]
)
def test_winners_by_name_are_names_whatever_they_are_called(name):
    rng = np.random.default_rng(1)
    names = np.fromiter([name, "Sinner", "B"], dtype=object, count=3)
    duels = duels_of(rng, np.array([0.8, 0.0, -0.8]), 300)
    first = rng.random(300) < 0.5
    sides = np.where(
        first, [duels["winner"], duels["loser"]], [duels["loser"], duels["winner"]]
    )
    table = {"model_a": names[sides[0]], "model_b": names[sides[1]]}
    found = bradley_terry({**table, "winner": names[duels["winner"]]})
    expected = bradley_terry(
        [list(pair) for pair in names[[duels["winner"], duels["loser"]]].T]
    )
    assert found.items[np.argmax(found.strengths)] == name
    np.testing.assert_allclose(
        np.sort(found.strengths), np.sort(expected.strengths), atol=1e-8
    )
    assert found.tie == 0


def test_a_word_that_names_the_other_item_is_refused():
    table = {
        "model_a": ["A", "B", "A"],
        "model_b": ["B", "A", "B"],
        "winner": ["A", "A", "tie"],
    }
    with refused_by("unclear result of a duel"):
        bradley_terry(table)
    tie = {
        "model_a": ["tie", "v", "v"],
        "model_b": ["v", "w", "w"],
        "winner": ["tie", "v", "tie"],
    }
    with refused_by("unclear result of a duel"):
        bradley_terry(tie)
    said = {**table, "winner": ["model_a", "model_b", "tie"]}
    board = bradley_terry(said, half_games=0.5)
    assert board.items[np.argmax(board.strengths)] == "A"


@pytest.mark.parametrize("tie", [0.0, 0.6])
@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_covariates_are_of_the_first_item_minus_the_second(tie, ties):
    """The likelihood of outcomes of a and b, written down for a and b, has its maximum there."""
    rng = np.random.default_rng(7)
    n, truth = 3000, np.array([0.8, 0.2, -0.3, -0.7])
    a = rng.integers(4, size=n)
    b = (a + rng.integers(1, 4, size=n)) % 4
    length = rng.normal(size=(n, 2)) + np.where(np.stack([a, b], axis=1) == 3, 1.0, 0.0)
    x = np.column_stack([length[:, 0] - length[:, 1], np.ones(n)])
    odds = truth[a] - truth[b] + x @ [0.9, 0.4]
    parts = np.stack([np.exp(odds / 2), np.full(n, tie), np.exp(-odds / 2)])
    outcome = (rng.random(n) * parts.sum(axis=0) > np.cumsum(parts, axis=0)).sum(axis=0)
    names = np.array(list("wxyz"))
    table = pd.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": np.array(["a", "tie", "b"])[outcome],
        }
    )

    def value(theta):
        d = np.append(theta[:3], -theta[:3].sum())[[a, b]]
        d = d[0] - d[1] + x @ theta[3:5]
        if ties == "half":
            return np.sum(np.logaddexp(d / 2, -d / 2) - (1 - outcome) * d / 2)
        log_tie = theta[5] if tie else -np.inf
        chosen = np.choose(outcome, [d / 2, np.full(n, log_tie), -d / 2])
        return np.sum(np.logaddexp(np.logaddexp(d / 2, -d / 2), log_tie) - chosen)

    peer = minimize(value, np.zeros(6), method="BFGS", options={"gtol": 1e-4}).x
    board = bradley_terry(table, covariates=x, ties=ties)
    np.testing.assert_allclose(board.coefficients, peer[3:5], atol=1e-5)
    np.testing.assert_allclose(sorted_by_name(board)[0][:3], peer[:3], atol=1e-5)
    if tie == 0 or ties == "davidson":  # then the model is right
        assert np.all(
            np.abs(board.coefficients - [0.9, 0.4]) < 4 * board.coefficient_errors
        )

    named = table.assign(
        length_a=length[:, 0], length_b=length[:, 1], place_a=1, place_b=0
    )
    again = bradley_terry(named, covariates=["length", "place"], ties=ties)
    np.testing.assert_allclose(again.coefficients, board.coefficients, atol=1e-10)
    np.testing.assert_allclose(again.strengths, board.strengths, atol=1e-10)
    # The same duels as winners and losers: the covariates are the winner's minus the loser's.
    lost = outcome == 2
    duels = pd.DataFrame(
        {
            "winner": names[np.where(lost, b, a)],
            "loser": names[np.where(lost, a, b)],
            "tie": outcome == 1,
            "length_winner": np.where(lost, length[:, 1], length[:, 0]),
            "length_loser": np.where(lost, length[:, 0], length[:, 1]),
            "place_winner": np.where(lost, 0, 1),
            "place_loser": np.where(lost, 1, 0),
        }
    )
    for given in (["length", "place"], np.where(lost, -1, 1)[:, np.newaxis] * x):
        turned = bradley_terry(duels, covariates=given, ties=ties)
        np.testing.assert_allclose(turned.coefficients, board.coefficients, atol=1e-8)
    swapped = named.rename(columns={"model_a": "home", "model_b": "away"}).rename(
        columns=lambda name: name.replace("_a", "_home").replace("_b", "_away")
    )
    swapped = bradley_terry(
        swapped, item_a="home", item_b="away", covariates=["length", "place"], ties=ties
    )
    np.testing.assert_allclose(swapped.coefficients, board.coefficients, atol=1e-10)


def test_covariates_match_by_index_and_by_column_name(duels):
    names = np.array(list("uvwxyz"))
    index = np.random.default_rng(8).permutation(400)
    losers = pd.DataFrame(
        {k: names[duels[k]] for k in ("winner", "loser")}, index=index
    )
    arena = losers.set_axis(["model_a", "model_b"], axis=1).assign(winner="a")
    arena.loc[index[::2], ["model_a", "model_b"]] = arena.loc[
        index[::2], ["model_b", "model_a"]
    ].to_numpy()
    arena.loc[index[::2], "winner"] = "b"
    x = pd.Series(np.random.default_rng(9).normal(size=400), index=index, name="x")
    for table in (
        losers,
        arena,
        arena.rename(columns={"model_a": "p", "model_b": "q"}),
    ):
        sides = {"item_a": "p", "item_b": "q"} if "p" in table else {}
        right = bradley_terry(table, covariates=x, **sides).coefficients
        np.testing.assert_array_equal(
            bradley_terry(table, covariates=x.to_numpy(), **sides).coefficients, right
        )
        for wrong in (x.sort_index(), x.sort_index().to_frame()):
            with pytest.raises(
                ValueError, match="duels and covariates have different indices"
            ):
                bradley_terry(table, covariates=wrong, **sides)
    for table, column in (
        (losers, "length_winner"),
        (arena, "length_a"),
        ([["u", "v"]], "length_w"),
    ):
        with pytest.raises(ValueError, match=f"need the column '{column}"):
            bradley_terry(table, covariates=["length"])


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_columns_are_read_if_the_call_names_them(duels, form):
    """Only the items and the result are found by name; a fighter's weight is no number of duels."""
    rng = np.random.default_rng(0)
    more = {
        "weight": rng.uniform(50, 90, size=400),
        "group": rng.integers(7, size=400),
        "judge": rng.integers(9, size=400),
    }
    table = form({**duels, **more})
    with pytest.warns(UserWarning, match=r"\['weight', 'group', 'judge'\]"):
        board = bradley_terry(table)
    expected = bradley_terry(duels)
    np.testing.assert_array_equal(board.strengths, expected.strengths)
    np.testing.assert_array_equal(board.standard_errors, expected.standard_errors)
    assert board.judge_weights is None
    assert board.n_groups is None
    for name, values in more.items():
        by_name = bradley_terry(table, **{name: name})
        assert by_name.findings == ()
        by_array = bradley_terry(duels, **{name: values})
        by_list = bradley_terry(as_list(duels), **{name: values.tolist()})
        for other in (by_array, by_list):
            np.testing.assert_allclose(sorted_by_name(other), sorted_by_name(by_name))
        assert np.any(by_name.standard_errors != expected.standard_errors)


def test_values_of_rows_match_by_index(duels):
    index = np.random.default_rng(8).permutation(400)
    table = pd.DataFrame(duels, index=index)
    values = pd.Series(np.arange(400) % 8, index=index, name="x")
    for name in ("weight", "group", "judge"):
        bradley_terry(table, **{name: values})
        with refused_by("different indices"):
            bradley_terry(table, **{name: values.sort_index()})


def judged(seed, reversed_judges=0):
    """600 duels of 12 items by 15 judges, of whom a third guess and some have the opposite view."""
    rng = np.random.default_rng(seed)
    strengths = np.linspace(-2, 2, 12)
    quality = np.where(np.arange(15) % 3 == 0, 0.0, 1.0)
    quality[:reversed_judges] = -1.0
    judge = rng.integers(15, size=600)
    first = rng.integers(12, size=600)
    second = (first + rng.integers(1, 12, size=600)) % 12
    wins = rng.random(600) < expit(
        quality[judge] * (strengths[first] - strengths[second])
    )
    winner, loser = np.where(wins, [first, second], [second, first])
    return {"winner": winner, "loser": loser, "judge": judge}, quality


@pytest.mark.parametrize(("reversed_judges", "gain"), [(0, 0.0), (3, 0.1)])
def test_judges_who_guess_or_oppose_hardly_count(reversed_judges, gain):
    closeness, trusts = [], []
    for seed in range(12):
        duels, quality = judged(seed, reversed_judges)
        alone = {name: duels[name] for name in ("winner", "loser")}
        boards = [
            bradley_terry(alone, half_games=0.5),
            bradley_terry(duels, judge="judge", half_games=0.5),
        ]
        closeness.append(
            [
                kendalltau(board.strengths, np.asarray(board.items))[0]
                for board in boards
            ]
        )
        weights = np.array([boards[1].judge_weights[j] for j in range(15)])
        trusts.append([weights[quality > 0].mean(), weights[quality <= 0].mean()])
        assert weights.min() >= 0.02
    before, after = np.mean(closeness, axis=0)
    assert after > before + gain
    good, bad = np.mean(trusts, axis=0)
    assert good > 4 * bad


def test_equal_judges_change_little():
    rng = np.random.default_rng(3)
    duels = duels_of(rng, np.linspace(-1, 1, 6), 2000)
    plain = bradley_terry(duels)
    found = bradley_terry(duels, judge=rng.integers(4, size=2000))
    np.testing.assert_allclose(found.strengths, plain.strengths, atol=0.05)
    assert np.ptp(list(found.judge_weights.values())) < 0.15
    alone = bradley_terry(duels, judge=np.zeros(2000))
    np.testing.assert_allclose(alone.strengths, plain.strengths, atol=0.005)


@pytest.mark.parametrize("duels_each", [1, 2, 5, 20])
def test_judges_of_few_duels_leave_the_scale_of_the_strengths(duels_each):
    """The outcome of a duel must not raise its own weight: slope 1 against the truth."""
    truth = np.linspace(0.6, -0.6, 5)
    slopes = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        duels = duels_of(rng, truth, 1500)
        judge = rng.permutation(1500) // duels_each
        board = bradley_terry(duels, judge=judge)
        plain = bradley_terry(duels)
        slopes.append(sorted_by_name(board)[0] @ truth / (truth @ truth))
        if duels_each == 1:
            assert len(set(board.judge_weights.values())) <= 3
            np.testing.assert_allclose(
                sorted_by_name(board)[0], sorted_by_name(plain)[0], atol=1e-6
            )
    assert abs(np.mean(slopes) - 1) < 0.1


def test_trust_leaves_the_duel_out_and_starts_from_ten_duels():
    """The weight of each duel, by hand: a judge of one duel has the weight of all."""
    rows = [["a", "b"]] * 6 + [["b", "a"]] * 2
    judge = ["u"] * 4 + ["v"] * 3 + ["w"]
    board = bradley_terry(rows, judge=judge)
    agrees = np.array([1, 1, 1, 1, 1, 1, 0, 0])
    names = np.array(judge)
    weights = []
    for row in range(8):
        others = (names == names[row]) & (np.arange(8) != row)
        accuracy = (agrees[others].sum() + 7.5) / (others.sum() + 10)
        weights.append(2 * accuracy - 1)
    odds = np.log(np.dot(weights, agrees) / np.dot(weights, 1 - agrees))
    assert board.strengths[0] == pytest.approx(odds / 2)
    assert board.judge_weights == pytest.approx(
        {"u": 2 * 11.5 / 14 - 1, "v": 2 * 9.5 / 13 - 1, "w": 2 * 7.5 / 11 - 1}
    )


@pytest.mark.parametrize("judge", ["a", "z"])
def test_a_judge_whose_duels_all_weigh_0_has_the_weight_of_the_agreement_of_all(judge):
    duels, _ = judged(0)
    n = len(duels["judge"])
    names = np.array([f"m{code:02d}" for code in duels["judge"]])
    del duels["judge"]
    board = bradley_terry(duels, judge=names)
    with_another = bradley_terry(
        {
            "winner": np.append(duels["winner"], duels["winner"][:5]),
            "loser": np.append(duels["loser"], duels["loser"][:5]),
        },
        judge=np.append(names, [judge] * 5),
        weight=np.append(np.ones(n), np.zeros(5)),
    )
    weights = with_another.judge_weights
    assert min(board.judge_weights.values()) < weights.pop(judge) < 1
    assert weights == board.judge_weights
    np.testing.assert_array_equal(with_another.strengths, board.strengths)


def test_an_item_of_counts_may_be_called_group():
    counts = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 4.0], [2.0, 1.0, 0.0]])
    items = ["a", "b", "group"]
    frame = pd.DataFrame(counts, index=items, columns=items)
    board = bradley_terry(frame)
    assert board.items.tolist() == items
    np.testing.assert_array_equal(board.strengths, bradley_terry(counts).strengths)


def test_few_groups_say_why_there_are_no_errors():
    table = {"winner": ["a", "b", "a", "c"], "loser": ["b", "c", "c", "a"]}
    board = bradley_terry({**table, "judge": list("xyxy")}, group="judge")
    assert "standard_error" not in repr(board)
    assert "2 group(s) are too few" in repr(board).splitlines()[-1]


def test_elo_points_are_400_for_odds_of_ten_to_one():
    pytest.importorskip("pandas")
    board = bradley_terry(10 * [["a", "b"]] + [["b", "a"]])
    assert board.order.tolist() == ["a", "b"]
    frame = board.to_frame(scale="elo")
    assert frame["item"].tolist() == board.order.tolist()
    np.testing.assert_allclose(frame["elo"], [1200.0, 800.0])
    plain = board.to_frame()
    assert [name for name in frame if name not in plain] == [
        "elo",
        "elo_low",
        "elo_high",
    ]
    middle = (frame["elo_low"] + frame["elo_high"]) / 2.0
    np.testing.assert_allclose(middle, frame["elo"])
    with pytest.raises(ValueError, match="scale must be one of"):
        board.to_frame(scale="points")


@pytest.mark.filterwarnings("error")
def test_elo_points_without_errors_have_no_intervals():
    pytest.importorskip("pandas")
    board = bradley_terry(10 * [["a", "b"]] + [["b", "a"]], group=[0] * 11)
    assert "elo_low" not in board.to_frame(scale="elo")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "named",
    [
        {"item_a": "model_a", "item_b": "model_b", "result": "winner"},
        {"group": "question"},
        {"judge": "judge"},
    ],
)
def test_columns_that_are_not_read_are_not_named_if_others_are(named):
    log = {
        "model_a": ["a", "b", "a", "b", "a", "b"],
        "model_b": ["b", "a", "b", "a", "b", "a"],
        "winner": ["model_a", "model_a", "model_b", "tie", "tie", "model_b"],
        "question": [1, 2, 3, 4, 5, 6],
        "judge": [1, 1, 1, 2, 2, 2],
        "turn": [1, 1, 1, 1, 1, 1],
        "tstamp": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
    named_board = bradley_terry(log, **named)
    assert named_board.findings == ()
    with pytest.warns(UserWarning, match=r"\['question', 'judge', 'turn', 'tstamp'\]"):
        bradley_terry(log)
