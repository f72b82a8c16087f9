"""Sums over rows: against sums by hand, in every layout of X, and as batches add up."""

import numpy as np
import pytest
from scipy import sparse

from lowrank_rank.regression import _rows, _statistics
from lowrank_rank.regression._statistics import Groups, Moments, RidgeStatistics


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch):
    """Blocks of 8 rows: short and long groups, and those that are cut."""
    monkeypatch.setattr(_statistics, "_ROWS_AT_ONCE", 8)
    monkeypatch.setattr(_rows, "_ROWS_OF_PROBE", 8)
    monkeypatch.setattr(_statistics, "_BYTES_CENTRED", 1)
    monkeypatch.setattr(_statistics, "_BYTES_AS_THEY_ARE", 1)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * [1.0, 1e-3, 50.0, 1.0] + [0.0, 1.0, 1e4, 3.0]
    codes = np.repeat(np.arange(12), [1, 3, 2, 30, 9, 8, 1, 65, 7, 17, 50, 7])
    return X, rng.normal(size=(200, 2)), rng.uniform(0, 2, 200), codes


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "CSR": sparse.csr_matrix,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("grouping", ["one group", "runs", "shuffled"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_by_hand(problem, layout, grouping, weighted):
    X, targets, weights, codes = problem
    weights = weights if weighted else np.ones(200)
    if grouping == "shuffled":
        codes = np.random.default_rng(1).permutation(codes)
    if grouping == "one group":
        codes = np.zeros(200, dtype=int)
    groups = Groups(codes, weights)
    x, t = groups.centre(X), groups.centre(targets)
    given = None if grouping == "one group" else codes
    found = RidgeStatistics.of_batch(LAYOUTS[layout](X), targets, weights, given)
    size = np.sqrt((weights[:, None] * x**2).sum(axis=0))
    np.testing.assert_allclose(
        found.gram[0] / size / size[:, None],
        (x.T @ (weights[:, None] * x)) / size / size[:, None],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        found.cross / size[:, None], (x.T @ (weights[:, None] * t)) / size[:, None], atol=1e-9
    )
    mean = np.average(X, axis=0, weights=weights)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(found.features.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.features.scale, std, rtol=1e-8)
    alone = Moments.of(LAYOUTS[layout](X), weights)
    np.testing.assert_allclose(alone.scale, std, rtol=1e-8)
    np.testing.assert_allclose(found.x_mean[0], mean, rtol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("grouped", [False, True])
def test_some_rows_are_as_if_the_others_were_not_there(problem, layout, grouped):
    X, targets, weights, codes = problem
    codes = codes if grouped else None
    rows = np.flatnonzero(np.isin(problem[3], [1, 3, 7, 9]))
    some = RidgeStatistics.of_batch(LAYOUTS[layout](X), targets, weights, codes, rows)
    alone = RidgeStatistics.of_batch(
        LAYOUTS[layout](X[rows]), targets[rows], weights[rows], codes[rows] if grouped else None
    )
    np.testing.assert_allclose(some.gram, alone.gram, rtol=1e-9)
    np.testing.assert_allclose(some.cross, alone.cross, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_coordinates_known_in_the_same_rows_share_a_matrix(problem, kind):
    X, targets, weights, _ = problem
    targets = np.hstack([targets, targets**2, targets**3])
    targets[:50, [0, 3]] = np.nan
    targets[120:, [1]] = np.nan
    found = RidgeStatistics.of_batch(kind(X), targets, weights)
    assert len(found.gram) == 3
    for j in range(6):
        known = ~np.isnan(targets[:, j])
        alone = RidgeStatistics.of_batch(kind(X[known]), targets[known][:, [j]], weights[known])
        np.testing.assert_allclose(found.gram[found.pattern[j]], alone.gram[0], rtol=1e-9)
        np.testing.assert_allclose(found.cross[:, [j]], alone.cross, rtol=1e-7, atol=1e-7)
    halves = [
        RidgeStatistics.of_batch(kind(X[rows]), targets[rows], weights[rows])
        for rows in (slice(0, 80), slice(80, 200))
    ]
    both = halves[0] + halves[1]
    for one, other in zip(both.solve_standardised(0.1), found.solve_standardised(0.1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("some", [False, True])
def test_rows_that_miss_the_same_labels_are_read_once(problem, kind, some, monkeypatch):
    """As by one matrix for each pattern from the start; a row without labels has its features."""
    X, targets, weights, _ = problem
    X[:, 3] = 0.1
    targets = np.hstack([targets, targets**2])
    targets[:50, [0, 3]], targets[40:90, 1], targets[130:133] = np.nan, np.nan, np.nan
    rows = np.random.default_rng(0).permutation(200)[:150] if some else None
    found = RidgeStatistics.of_batch(kind(X), targets, weights, rows=rows)
    monkeypatch.setattr(_statistics, "_MOST_PATTERNS", 0)
    direct = RidgeStatistics.of_batch(kind(X), targets, weights, rows=rows)
    assert len(found.gram) == len(direct.gram) == 3
    assert found.work < 0.8 * direct.work
    np.testing.assert_array_equal(found.gram == 0, direct.gram == 0)
    for name in ("gram", "total", "x_mean"):
        one, other = (getattr(s, name)[s.pattern] for s in (found, direct))
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for one, other in zip(found.features, direct.features, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for name in ("cross", "t_mean"):
        one, other = getattr(found, name), getattr(direct, name)
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


def test_many_kinds_of_rows_are_summed_by_column(problem):
    X, targets, weights, _ = problem
    rng = np.random.default_rng(0)
    targets = np.hstack([targets] * 3)
    targets[rng.uniform(size=targets.shape) < 0.3] = np.nan
    known = ~np.isnan(targets)
    assert _statistics._rows_alike(known, _statistics.columns_of_patterns(known)) is None
    found = RidgeStatistics.of_batch(X, targets, weights)
    for j in range(targets.shape[1]):
        alone = RidgeStatistics.of_batch(
            X[known[:, j]], targets[known[:, j]][:, [j]], weights[known[:, j]]
        )
        np.testing.assert_allclose(found.gram[found.pattern[j]], alone.gram[0], rtol=1e-9)
        np.testing.assert_allclose(found.cross[:, [j]], alone.cross, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("missing", [False, True])
def test_the_path_is_that_of_single_solutions(problem, missing):
    X, targets, weights, _ = problem
    if missing:
        targets[:50, 0] = np.nan
    statistics = RidgeStatistics.of_batch(X, targets, weights)
    alphas = np.array([1e-3, 0.1, 10.0])
    coef, intercept = statistics.path(alphas)
    for alpha, *found in zip(alphas, coef, intercept, strict=True):
        for one, other in zip(found, statistics.solve_standardised(alpha), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize(("p", "d"), [(1, 2), (2, 1), (3, 4), (40, 3)])
@pytest.mark.parametrize("rank", ["full", "deficient", "zero"])
def test_one_reduction_solves_for_every_penalty(p, d, rank):
    rng = np.random.default_rng(p)
    rows = rng.normal(size=({"full": 2 * p, "deficient": (p + 1) // 2, "zero": 0}[rank], p))
    matrix, right = rows.T @ rows, rng.normal(size=(p, d))
    penalties = np.array([1e-5, 0.1, 1e4])
    found = _statistics._solve_penalised(matrix.copy(), right.copy(), penalties)
    for penalty, one in zip(penalties, found, strict=True):
        expected = np.linalg.solve(matrix + penalty * np.eye(p), right)
        np.testing.assert_allclose(one, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_units_and_rows_do_not_change_what_alpha_means(problem):
    """Powers of two are exact; the rows twice have the same coefficients."""
    X, targets, weights, codes = problem
    unit = 2.0 ** np.array([40, -30, 3, 0])
    one, other = (
        RidgeStatistics.of_batch(form, targets, weights, codes).solve_standardised(0.1)[0]
        for form in (X, X * unit)
    )
    np.testing.assert_allclose(other * unit[:, None], one, rtol=1e-12)
    twice = RidgeStatistics.of_batch(
        np.vstack([X, X]), np.vstack([targets] * 2), np.tile(weights, 2), np.append(codes, codes)
    )
    np.testing.assert_allclose(twice.solve_standardised(0.1)[0], one, rtol=1e-10)


def test_constant_features_have_no_coefficient_and_no_scale(problem):
    X, targets, weights, codes = problem
    X[:, 2] = 0.1 + 1e6
    for kind in (np.asarray, sparse.csr_matrix):
        found = RidgeStatistics.of_batch(kind(X), targets, weights, codes)
        assert found.features.scale[2] == 1.0
        for alpha in (0.0, 0.1):
            assert not found.solve_standardised(alpha)[0][2].any()


@pytest.mark.parametrize("kind", [np.float32, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_groups", [1, 7, 300])
def test_means_and_squares_within_groups_of_any_layout(kind, n_groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(float)
    codes, weights = rng.integers(0, n_groups, 300), rng.uniform(0.5, 2.0, 300)
    codes[-1] = n_groups - 1
    weights[codes == 3] = 0.0
    given = X.astype(np.float32) if kind is np.float32 else kind(X)
    groups = _statistics.Groups(codes, weights)
    known = [g for g in range(n_groups) if weights[codes == g].sum() > 0]
    means = groups.means(given)
    means = means.toarray() if sparse.issparse(means) else means
    for g in known:
        here = codes == g
        expected = np.average(X[here], axis=0, weights=weights[here])
        np.testing.assert_allclose(means[g], expected, rtol=1e-12, atol=1e-14)
    moments, within = _statistics.moments_and_squares_within(given, groups)
    total = max(weights.sum(), 1e-300)
    centred = X - means[codes]
    np.testing.assert_allclose(within, weights @ centred**2, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(moments.mean, weights @ X / total, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(moments.squares, weights @ (X - moments.mean) ** 2, rtol=1e-10)
    assert (moments.n_rows, moments.total) == (300, pytest.approx(weights.sum()))
