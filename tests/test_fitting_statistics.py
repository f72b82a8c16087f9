"""Sums over rows: against sums by hand, in every layout of X, and as batches add up."""

import numpy as np
import pytest
from scipy import sparse

from .internals import Moments, SecondMoments, group_means

N = 40_000


@pytest.fixture
def problem():
    """More rows than are read at once, in short and in long groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) * [1.0, 1e-3, 50.0, 1.0] + [0.0, 1.0, 1e4, 3.0]
    codes = np.repeat(np.arange(12), [1, 3, 2, 30, 9, 8, 1, 65, 7, 17, 50, N - 193])
    return X, rng.normal(size=(N, 2)), rng.uniform(0, 2, N), codes


def standardised(moments, alpha):
    """Coefficients and intercept for a penalty of standardised features."""
    return moments.solve(alpha * moments.features.total, moments.features.scale)


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
    weights = weights if weighted else np.ones(N)
    if grouping == "shuffled":
        codes = np.random.default_rng(1).permutation(codes)
    if grouping == "one group":
        codes = np.zeros(N, dtype=int)
    x = X - group_means(X, codes, weights)[codes]
    t = targets - group_means(targets, codes, weights)[codes]
    given = None if grouping == "one group" else codes
    found = SecondMoments.of(LAYOUTS[layout](X), targets, weights, given)
    size = np.sqrt((weights[:, None] * x**2).sum(axis=0))
    np.testing.assert_allclose(
        found.gram[0] / size / size[:, None],
        (x.T @ (weights[:, None] * x)) / size / size[:, None],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        found.cross / size[:, None],
        (x.T @ (weights[:, None] * t)) / size[:, None],
        atol=1e-9,
    )
    mean = np.average(X, axis=0, weights=weights)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(found.features.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.features.deviation, std, rtol=1e-8)
    alone = Moments.of(LAYOUTS[layout](X), weights, given)
    np.testing.assert_allclose(alone.deviation, std, rtol=1e-8)
    if given is not None:
        within = np.sqrt((weights[:, None] * x**2).sum(axis=0) / weights.sum())
        np.testing.assert_allclose(alone.scale, within, rtol=1e-8)
        np.testing.assert_allclose(found.features.scale, within, rtol=1e-8)
    np.testing.assert_allclose(found.x_mean[0], mean, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_each_coordinate_has_a_matrix_of_the_rows_where_it_is_known(problem, kind):
    X, targets, weights, _ = problem
    targets = np.hstack([targets, targets**2, targets**3])
    targets[:50, [0, 3]] = np.nan
    targets[120:, [1]] = np.nan
    found = SecondMoments.of(kind(X), targets, weights)
    assert len(found.gram) == 6
    for j in range(6):
        known = ~np.isnan(targets[:, j])
        alone = SecondMoments.of(kind(X[known]), targets[known][:, [j]], weights[known])
        np.testing.assert_allclose(found.gram[j], alone.gram[0], rtol=1e-9)
        np.testing.assert_allclose(
            found.cross[:, [j]], alone.cross, rtol=1e-7, atol=1e-7
        )
    halves = [
        SecondMoments.of(kind(X[rows]), targets[rows], weights[rows])
        for rows in (slice(0, 80), slice(80, N))
    ]
    both = halves[0] + halves[1]
    for one, other in zip(
        standardised(both, 0.1), standardised(found, 0.1), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_units_and_rows_do_not_change_what_alpha_means(problem):
    """Powers of two are exact; the rows twice have the same coefficients."""
    X, targets, weights, codes = problem
    unit = 2.0 ** np.array([40, -30, 3, 0])
    one, other = (
        standardised(SecondMoments.of(form, targets, weights, codes), 0.1)[0]
        for form in (X, X * unit)
    )
    np.testing.assert_allclose(other * unit[:, None], one, rtol=1e-12)
    twice = SecondMoments.of(
        np.vstack([X, X]),
        np.vstack([targets] * 2),
        np.tile(weights, 2),
        np.append(codes, codes),
    )
    np.testing.assert_allclose(standardised(twice, 0.1)[0], one, rtol=1e-10)


def test_constant_features_have_no_coefficient_and_their_size_as_scale(problem):
    X, targets, weights, codes = problem
    X[:, 2] = 0.1 + 1e6
    for kind in (np.asarray, sparse.csr_matrix):
        found = SecondMoments.of(kind(X), targets, weights, codes)
        assert found.features.scale[2] == pytest.approx(0.1 + 1e6)
        for alpha in (0.0, 0.1):
            assert not standardised(found, alpha)[0][2].any()


@pytest.mark.parametrize("kind", [np.float32, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_groups", [1, 7, 300])
def test_means_and_squares_within_groups_of_any_layout(kind, n_groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(float)
    codes, weights = rng.integers(0, n_groups, 300), rng.uniform(0.5, 2.0, 300)
    codes[-1] = n_groups - 1
    weights[codes == 3] = 0.0
    given = X.astype(np.float32) if kind is np.float32 else kind(X)
    known = [g for g in range(n_groups) if weights[codes == g].sum() > 0]
    means = group_means(given, codes, weights)
    means = means.toarray() if sparse.issparse(means) else means
    for g in known:
        here = codes == g
        expected = np.average(X[here], axis=0, weights=weights[here])
        np.testing.assert_allclose(means[g], expected, rtol=1e-12, atol=1e-14)
    moments = Moments.of(given, weights, codes)
    total = max(weights.sum(), 1e-300)
    centred = X - means[codes]
    np.testing.assert_allclose(
        moments.within, weights @ centred**2, rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(
        moments.mean, weights @ X / total, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(
        moments.squares, weights @ (X - moments.mean) ** 2, rtol=1e-10
    )
    assert (moments.n_rows, moments.total) == (300, pytest.approx(weights.sum()))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_features_of_few_entries_are_divided_by_less_than_the_standard_deviation(kind):
    """Of 9 rows, counted by weights, 3, 8, 1 and 0 have an entry."""
    X = np.array(
        [[0, 3, 0, 0], [1, 4, 0, 0], [1, 3, 2, 0], [0, 5, 0, 0], [0, 0, 0, 0.0]]
    )
    weights = np.array([1.0, 2.0, 1.0, 4.0, 1.0])
    moments = Moments.of(kind(X), weights)
    variances = [
        1 / 3 * 2 / 3,
        (9 + 32 + 9 + 100) / 9 - (34 / 9) ** 2,
        4 / 9 - (2 / 9) ** 2,
    ]
    scale = np.sqrt(variances) / np.sqrt([2 / 3, 1.0, 2 / 9])
    np.testing.assert_allclose(moments.scale, [*scale, 1.0])
    assert moments.n_features == pytest.approx(2 / 3 + 1 + 2 / 9)
    for other in (np.asarray, sparse.csr_matrix):
        parts = [
            Moments.of(kind(X[:2]), weights[:2]),
            Moments.of(other(X[2:]), weights[2:]),
        ]
        np.testing.assert_allclose((parts[0] + parts[1]).scale, moments.scale)
    explicit = sparse.csr_matrix(np.where(X == 0, 7.0, X))
    explicit.data[explicit.data == 7.0] = 0.0
    np.testing.assert_allclose(Moments.of(explicit, weights).scale, moments.scale)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("grouped", [False, True])
def test_large_means_cancel_no_digits(problem, kind, grouped):
    """An offset of 1e6 standard deviations, and a level for each list."""
    X, targets, weights, codes = problem
    given = codes if grouped else None
    plain = SecondMoments.of(X, targets, weights, given)
    level = 1e6 * X.std(axis=0)
    far = SecondMoments.of(kind(X + level), targets, weights, given)
    penalty, scale = 0.1 * plain.features.total, plain.features.scale
    np.testing.assert_allclose(
        far.solve(penalty, scale)[0], plain.solve(penalty, scale)[0], rtol=1e-6
    )
    if grouped and kind is np.asarray:
        levels = X + level * np.arange(12.0)[codes, np.newaxis]
        far = SecondMoments.of(levels, targets, weights, given)
        np.testing.assert_allclose(
            standardised(far, 0.1)[0], standardised(plain, 0.1)[0], rtol=1e-6
        )
