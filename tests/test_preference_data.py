"""Files of votes as grades; preferences and duels with the truth that they claim."""

import re

import numpy as np
import pytest

from lowrank_rank.datasets import load_preflib, load_wine_tasting, make_duels, make_preferences

# Votes ------------------------------------------------------------------------------

NAMES = ["Ann", "Bob: the second", "Zoë", "Dan"]
CURRENT = (
    "# TITLE: A vote\n# NUMBER ALTERNATIVES: 4\n# NUMBER VOTERS: 6\n# NUMBER UNIQUE ORDERS: 2\n"
    + "".join(f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in enumerate(NAMES, start=1))
)
OLDER = "4\n" + "".join(f"{i},{n}\n" for i, n in enumerate(NAMES, start=1)) + "6,6,2\n"


def vote_file(folder, header, orders, ending, *, encoding="utf-8"):
    path = folder / f"votes.{ending}"
    separator = ":" if header.startswith("#") else ","
    lines = [line.replace(":", separator) for line in orders]
    path.write_text(header + "\n".join(lines) + "\n\n", encoding=encoding)
    return path


@pytest.mark.parametrize("header", [CURRENT, OLDER])
@pytest.mark.parametrize(
    ("ending", "orders", "grades"),
    [
        ("soc", ["4: 2,1,4,3", "2: 3,4,2,1"], [[2, 3, 0, 1], [0, 1, 3, 2]]),
        ("soi", ["4:2,1", "2: 3"], [[0, 1, np.nan, np.nan], [np.nan, np.nan, 0, np.nan]]),
        ("toc", ["4: {2, 3},1,4", " 2: 4, {1,2,3}"], [[1, 2.5, 2.5, 0], [1, 1, 1, 3]]),
        ("toi", ["4: {2,3}", "2: {4},{1,3}"], [[np.nan, 0.5, 0.5, np.nan], [0.5, np.nan, 0.5, 2]]),
    ],
)
def test_votes_become_grades(tmp_path, header, ending, orders, grades):
    votes = load_preflib(vote_file(tmp_path, header, orders, ending))
    np.testing.assert_array_equal(votes.target, np.array(grades, dtype=float))
    assert votes.counts.tolist() == [4, 2]
    assert votes.counts.dtype.kind == "i"
    assert votes.item_names.tolist() == NAMES
    assert (votes.title, votes.data_type) == ("A vote" if header is CURRENT else "", ending)


def test_votes_in_latin_1(tmp_path):
    path = vote_file(tmp_path, OLDER, ["6: 1,2,3,4"], "soc", encoding="latin-1")
    assert load_preflib(str(path)).item_names[2] == "Zoë"


def test_votes_against_a_loop_over_random_orders(tmp_path):
    rng = np.random.default_rng(0)
    lines, expected = [], []
    for _ in range(50):
        ranked = rng.permutation(4)[: rng.integers(1, 5)]
        cuts = np.flatnonzero(rng.random(len(ranked) - 1) < 0.5) + 1
        blocks = np.split(ranked, cuts)
        lines.append("1: " + ",".join("{" + ",".join(str(i + 1) for i in b) + "}" for b in blocks))
        grades, below = np.full(4, np.nan), len(ranked)
        for block in blocks:
            below -= len(block)
            grades[block] = below + (len(block) - 1) / 2
        expected.append(grades)
    header = CURRENT.replace("VOTERS: 6", "VOTERS: 50")
    votes = load_preflib(vote_file(tmp_path, header, lines, "toi"))
    np.testing.assert_array_equal(votes.target, expected)


@pytest.mark.parametrize(
    ("ending", "orders", "message"),
    [
        ("toi", ["4: 2,1", "2: 5"], "line {2}: alternative 5, .* 1 to 4"),
        ("toi", ["4: 2,0", "2: 1"], "line {1}: alternative 0"),
        ("toi", ["4: 2,1", "2: 3,{1,3}"], "line {2}: alternative 3 is named twice"),
        ("toi", ["4: 2,{1", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,1}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,{1,{3}}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,{}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2", "two: 3"], "line {2}: expected"),
        ("toi", ["6: 2", "0: 3"], "line {2}: expected .* count >= 1"),
        ("toi", ["6: 2", "3:"], "line {2}: expected"),
        ("toi", ["4: 2", "1: 3"], "6 voters, .* add up to 5"),
        ("toi", [], "holds no orders"),
        ("soc", ["4: 1,2,3,4", "2: 2,{1,3},4"], "line {2}: a tie in a .soc"),
        ("soi", ["4: 2", "2: {1,3}"], "line {2}: a tie in a .soi"),
        ("soc", ["4: 1,2,3,4", "2: 2,1"], "line {2}: .* 2 of 4 alternatives"),
        ("toc", ["4: 1,{3,4}", "2: 2,1"], "line {1}: .* 3 of 4 .* belong in a .toi"),
        ("wmd", ["4: 1"], "does not read '.wmd', only .soc .* .toi"),
        ("cat", ["4: 1"], "does not read '.cat'"),
    ],
)
@pytest.mark.parametrize("header", [CURRENT, OLDER])
def test_bad_votes_are_named(tmp_path, header, ending, orders, message):
    path = vote_file(tmp_path, header, orders, ending)
    first = header.count("\n")
    message = message.replace("{1}", str(first + 1)).replace("{2}", str(first + 2))
    with pytest.raises(ValueError, match=f"(?s)votes.{ending}.*{message}"):
        load_preflib(path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (CURRENT.replace("ATIVES: 4", "ATIVES: 3"), "line 2: 3 alternatives, .* names 4"),
        (CURRENT.replace("NAME 4", "NAME 5"), "line 2: 4 alternatives"),
        (CURRENT.replace("# NUMBER ALT", "# ALT"), "no line '# NUMBER ALTERNATIVES: m'"),
        (CURRENT.replace("VOTERS: 6", "VOTERS: many"), "line 3: NUMBER VOTERS .* 'many'"),
        (CURRENT.replace("VOTERS: 6", "VOTERS: 7"), "line 3: 7 voters, .* add up to 6"),
        (CURRENT + "# DATA TYPE: toc\n", "line 9: .* DATA TYPE toc, .* .soc"),
        (OLDER.replace("4\n1", "5\n1"), "line 6: expected '5,name'"),
        (OLDER.replace("4\n1", "3\n1"), "line 5: expected 'voters,"),
        (OLDER.replace("4\n1", "four\n1"), "line 1: the number of alternatives .* 'four'"),
        (OLDER.replace("4\n1", "9\n1"), "line 6: expected '5,name'"),
        (OLDER.replace("6,6,2", "7,6,2"), "line 6: 7 voters"),
        (OLDER.replace("6,6,2", "6,7,2"), "line 6: 7 voters"),
        (OLDER.replace("6,6,2", "6,six,2"), "line 6: the number of voters"),
    ],
)
def test_headers_that_do_not_fit_are_named(tmp_path, header, message):
    path = vote_file(tmp_path, header, ["4: 2,1,4,3", "2: 3,4,2,1"], "soc")
    with pytest.raises(ValueError, match=f"(?s)votes.soc.*{message}"):
        load_preflib(path)


def test_missing_and_empty_votes(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_preflib(tmp_path / "nowhere.soc")
    (tmp_path / "empty.soc").write_text("\n")
    with pytest.raises(ValueError, match=r"empty\.soc is empty"):
        load_preflib(tmp_path / "empty.soc")
    (tmp_path / "short.soc").write_text("2\n1,a\n2,b\n")
    with pytest.raises(ValueError, match="line 3: the file ends before"):
        load_preflib(tmp_path / "short.soc")


def test_real_votes(data_folder):
    folder = data_folder / "preferences"
    paths = [p for p in sorted(folder.glob("*/*.*")) if p.suffix in (".soc", ".toc")]
    if not paths:
        pytest.skip("no votes among the real data")
    for path in paths:
        votes = load_preflib(path)
        stated = dict(re.findall("# NUMBER (.*): (.*)", path.read_text(encoding="utf-8")))
        m = int(stated["ALTERNATIVES"])
        assert votes.target.shape == (int(stated["UNIQUE ORDERS"]), m)
        assert votes.counts.sum() == int(stated["VOTERS"])
        np.testing.assert_allclose(votes.target.sum(axis=1), m * (m - 1) / 2)
        strict = np.all(np.diff(np.sort(votes.target, axis=1), axis=1) == 1)
        assert strict == (votes.data_type == "soc")


# Preferences ------------------------------------------------------------------------


def has_cycle(graph):
    """By taking away items that no other item is before."""
    left = np.ones(len(graph), dtype=bool)
    while left.any():
        sources = left & ~graph[left].any(axis=0)
        if not sources.any():
            return True
        left &= ~sources
    return False


@pytest.mark.parametrize("weights", ["unit", "uniform"])
@pytest.mark.parametrize("density", [1.0, 0.4, 0.01])
def test_labels_are_weighted_orders(weights, density):
    data = make_preferences(50, 5, n_labels=20, weights=weights, density=density, random_state=0)
    support = data.support
    assert support.shape == (20, 5, 5)
    assert data.target.shape == (50, 5, 5)
    kept = {1.0: 10, 0.4: 4, 0.01: 1}[density]
    assert np.all((support > 0).sum(axis=(1, 2)) == kept)
    assert not np.any((support > 0) & (np.swapaxes(support, 1, 2) > 0))
    assert not any(has_cycle(graph > 0) for graph in support)
    assert support.max() <= 1
    assert np.all(support[support > 0] == 1) == (weights == "unit")
    assert len(np.unique(support > 0, axis=0)) > 10


def test_preferences_are_drawn_from_their_distribution():
    data = make_preferences(20_000, 4, n_labels=5, n_features=7, weights="uniform", random_state=1)
    expected = np.tensordot(data.probabilities, data.support, axes=1).reshape(20_000, -1)
    drawn = data.target.reshape(20_000, -1)
    for share in data.probabilities.T:  # also where a label is probable
        np.testing.assert_allclose(share @ drawn / 4000, share @ expected / 4000, atol=0.03)
    assert data.data.shape == (20_000, 7)
    solution = np.linalg.lstsq(data.data, expected, rcond=None)[0]
    np.testing.assert_allclose(data.data @ solution, expected, atol=1e-8)
    again = make_preferences(20_000, 4, n_labels=5, n_features=7, weights="uniform", random_state=1)
    np.testing.assert_array_equal(again.target, data.target)


@pytest.mark.parametrize(
    "params",
    [
        {"n_items": 3, "n_labels": 3},
        {"n_items": 6},
        {"n_items": 4, "density": 0.5, "weights": "uniform"},
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_conditions_hold_for_every_sample(params, seed):
    cycles = {}
    for condition in (None, "p_dag", "cyclic"):
        data = make_preferences(150, condition=condition, random_state=seed, **params)
        u = np.tensordot(data.probabilities, data.support, axes=1)
        cycles[condition] = np.mean([has_cycle(g > g.T) for g in u])
        np.testing.assert_allclose(data.probabilities.sum(axis=1), 1)
        assert len(data.target) == 150
    assert cycles["p_dag"] == 0
    assert cycles["cyclic"] == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_items": 1}, "n_items >= 2"),
        ({"n_samples": 0}, "n_samples >= 1"),
        ({"n_labels": 4, "n_features": 3}, "n_features=3"),
        ({"weights": "difference"}, "weights must be"),
        ({"density": 0.0}, "density must be"),
        ({"density": 1.1}, "density must be"),
        ({"condition": "dag"}, "condition must be"),
        ({"condition": "cyclic", "n_items": 2}, "n_items >= 3"),
        ({"condition": "cyclic", "n_labels": 2}, "n_labels >= 3"),
        ({"condition": "p_dag", "n_items": 15, "density": 0.1}, "hardly ever met .* fewer items"),
    ],
)
def test_make_preferences_says_what_is_wrong(params, message):
    with pytest.raises(ValueError, match=message):
        make_preferences(random_state=0, **params)


def winners_first(duels):
    first = duels.target[::2] == 1
    np.testing.assert_array_equal(duels.target[1::2] == 1, ~first)
    np.testing.assert_array_equal(duels.qid, np.repeat(np.arange(len(first)), 2))
    return first


@pytest.mark.parametrize("cyclic", [0.0, 0.3, 1.0])
def test_duels_follow_their_margin(cyclic):
    duels = make_duels(20_000, n_planes=2, cyclic=cyclic, noise=0.7, random_state=0)
    first = winners_first(duels)
    a, b = duels.data[::2], duels.data[1::2]
    margin = (a - b) @ duels.coef + np.einsum("ni,ij,nj->n", a, duels.interaction, b)
    np.testing.assert_allclose(duels.margin, margin, atol=1e-10)
    np.testing.assert_allclose(duels.probabilities, 1 / (1 + np.exp(-margin / 0.7)))
    for low, high in ((-9, -1), (-1, 0), (0, 1), (1, 9)):
        here = (margin > low) & (margin <= high)
        assert first[here].mean() == pytest.approx(duels.probabilities[here].mean(), abs=0.03)
    assert np.linalg.norm(duels.coef) == pytest.approx(1 - cyclic)
    np.testing.assert_array_equal(duels.interaction, -duels.interaction.T)
    values = np.linalg.svd(duels.interaction, compute_uv=False)
    np.testing.assert_allclose(values, np.repeat([cyclic, 0], [4, 2]), atol=1e-12)


def test_duels_without_noise_and_linear_scores():
    ordered = make_duels(5000, cyclic=0.0, noise=0.0, random_state=0)
    np.testing.assert_array_equal(winners_first(ordered), ordered.margin > 0)
    np.testing.assert_array_equal(ordered.interaction, 0)
    cyclic = make_duels(5000, n_features=2, noise=0.0, random_state=0)
    np.testing.assert_array_equal(winners_first(cyclic), cyclic.margin > 0)
    for direction in ([1, 0], [0, 1], [1, -1]):  # no better than chance
        higher = (cyclic.data[::2] - cyclic.data[1::2]) @ direction > 0
        assert np.mean(higher == winners_first(cyclic)) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_duels": 0}, "n_duels >= 1"),
        ({"n_planes": 0}, "n_planes >= 1"),
        ({"n_features": 5, "n_planes": 3}, "at least 2 . n_planes=6"),
        ({"cyclic": -0.1}, "cyclic must be"),
        ({"cyclic": 1.5}, "cyclic must be"),
        ({"noise": -1.0}, "noise must be"),
        ({"noise": np.inf}, "noise must be"),
        ({"noise": np.nan}, "noise must be"),
    ],
)
def test_make_duels_says_what_is_wrong(params, message):
    with pytest.raises(ValueError, match=message):
        make_duels(**params)


def test_wine_tasting():
    wines = load_wine_tasting()
    assert wines.target.shape == (len(wines.judges), len(wines.item_names)) == (11, 10)
    assert wines.target.dtype == float
    means = [14.14, 14.09, 13.64, 13.23, 12.14, 11.18, 10.36, 10.14, 9.77, 9.45]
    np.testing.assert_allclose(wines.target.mean(axis=0), means, atol=0.005)
    kahn = wines.target[wines.judges.tolist().index("Odette Kahn")]
    assert kahn.tolist() == [15, 12, 12, 12, 7, 12, 2, 2, 13, 5]
    assert "Chance" in wines.source
    wines.target[:] = 0  # a copy
    assert load_wine_tasting().target.max() == 17
