"""Files of votes as grades; preferences and duels with the truth that they claim."""

import re
import tempfile
import time
from contextlib import nullcontext
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowrank_rank.datasets import load_wine_tasting, make_duels, make_preferences
from lowrank_rank.votes import grades_from_orders, load_preflib

from .internals import InputError
from .refusals import refused_by

# Votes ------------------------------------------------------------------------------

NAMES = ["Ann", "Bob: the second", "Zoë", "Dan"]
CURRENT = (
    "# TITLE: A vote\n# NUMBER ALTERNATIVES: 4\n# NUMBER VOTERS: 6\n# NUMBER UNIQUE ORDERS: 2\n"
    + "".join(
        f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in enumerate(NAMES, start=1)
    )
)
OLDER = "4\n" + "".join(f"{i},{n}\n" for i, n in enumerate(NAMES, start=1)) + "6,6,2\n"


def vote_file(folder, header, orders, ending, *, encoding="utf-8"):
    path = folder / f"votes.{ending}"
    separator = ":" if header.startswith("#") else ","
    lines = [line.replace(":", separator) for line in orders]
    path.write_text(header + "\n".join(lines) + "\n\n", encoding=encoding)
    return path


def test_a_number_as_a_key_of_the_header_names_no_alternative(tmp_path):
    header = CURRENT + "# 5: a note\n"
    votes = load_preflib(vote_file(tmp_path, header, ["6: 2,1,4,3"], "soc"))
    assert votes.item_names.tolist() == NAMES


@pytest.mark.parametrize("header", [CURRENT, OLDER])
@pytest.mark.parametrize(
    ("ending", "orders", "grades"),
    [
        ("soc", ["4: 2,1,4,3", "2: 3,4,2,1"], [[2, 3, 0, 1], [0, 1, 3, 2]]),
        (
            "soi",
            ["4:2,1", "2: 3"],
            [[0, 1, np.nan, np.nan], [np.nan, np.nan, 0, np.nan]],
        ),
        ("toc", ["4: {2, 3},1,4", " 2: 4, {1,2,3}"], [[1, 2.5, 2.5, 0], [1, 1, 1, 3]]),
        (
            "toi",
            ["4: {2,3}", "2: {4},{1,3}"],
            [[np.nan, 0.5, 0.5, np.nan], [0.5, np.nan, 0.5, 2]],
        ),
    ],
)
def test_votes_become_grades(tmp_path, header, ending, orders, grades):
    votes = load_preflib(vote_file(tmp_path, header, orders, ending))
    np.testing.assert_array_equal(votes.target, np.array(grades, dtype=float))
    assert votes.counts.tolist() == [4, 2]
    assert votes.counts.dtype.kind == "i"
    assert votes.item_names.tolist() == NAMES
    assert (votes.title, votes.data_type) == (
        "A vote" if header is CURRENT else "",
        ending,
    )


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
        lines.append(
            "1: "
            + ",".join("{" + ",".join(str(i + 1) for i in b) + "}" for b in blocks)
        )
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
        (
            "toi",
            ["4: 2,1", "2: 5"],
            "line {2}: alternative 5, which the header does not",
        ),
        ("toi", ["4: 2,0", "2: 1"], "line {1}: alternative 0"),
        ("toi", ["4: 2,1", "2: 3,{1,3}"], "line {2}: alternative 3 is named twice"),
        ("toi", ["4: 2,{1", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,1}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,{1,{3}}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2,{}", "2: 3"], "line {1}: expected"),
        ("toi", ["4: 2", "two: 3"], "line {2}: expected"),
        ("toi", ["0: 2", "0: 3"], "contains no orders"),
        ("toi", ["6: 2", "3:"], "line {2}: expected"),
        ("toi", ["4: 2", "1: 3"], "6 voters, .* add up to 5"),
        ("toi", [], "contains no orders"),
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
        (
            CURRENT.replace("ATIVES: 4", "ATIVES: 3"),
            "line 2: 3 alternatives, .* names 4",
        ),
        (
            CURRENT.replace("NAME 4", "NAME D"),
            "line 2: 4 alternatives, but the header names 3",
        ),
        (
            CURRENT.replace("NAME 4", "NAME 5"),
            "line 9: alternative 4, which the header",
        ),
        (
            CURRENT.replace("# NUMBER ALT", "# ALT"),
            "no line '# NUMBER ALTERNATIVES: m'",
        ),
        (
            CURRENT.replace("VOTERS: 6", "VOTERS: many"),
            "line 3: NUMBER VOTERS .* 'many'",
        ),
        (CURRENT.replace("VOTERS: 6", "VOTERS: 7"), "line 3: 7 voters, .* add up to 6"),
        (CURRENT + "# DATA TYPE: toc\n", "line 9: .* DATA TYPE toc, .* .soc"),
        (OLDER.replace("4\n1", "5\n1"), "line 7: expected 'voters,"),
        (OLDER.replace("2,Bob", "1,Bob"), "line 3: expected '2,name'"),
        (OLDER.replace("4\n1", "3\n1"), "line 5: expected 'voters,"),
        (
            OLDER.replace("4\n1", "four\n1"),
            "line 1: the number of alternatives .* 'four'",
        ),
        (OLDER.replace("4\n1", "9\n1"), "line 7: expected '6,name'"),
        (OLDER.replace("6,6,2", "7,6,2"), "line 6: 7 voters"),
        (OLDER.replace("6,6,2", "6,7,2"), "line 6: 7 voters"),
        (OLDER.replace("6,6,2", "6,six,2"), "line 6: the number of voters"),
    ],
)
def test_headers_that_do_not_fit_are_named(tmp_path, header, message):
    path = vote_file(tmp_path, header, ["4: 2,1,4,3", "2: 3,4,2,1"], "soc")
    with pytest.raises(ValueError, match=f"(?s)votes.soc.*{message}"):
        load_preflib(path)


@pytest.mark.parametrize("header", [CURRENT, OLDER])
@pytest.mark.parametrize("first", [0, 5])
def test_alternatives_with_any_numbers(tmp_path, header, first):
    number = {i: str(int(i) + first - 1) for i in "1234"}
    shifted = re.sub(
        r"^(# ALTERNATIVE NAME |)([1-4])(?=: |,[^0-9])",
        lambda match: match[1] + number[match[2]],
        header,
        flags=re.MULTILINE,
    )
    found, shown = (
        load_preflib(vote_file(tmp_path, text, [f"6: {','.join(of)}"], "soc"))
        for text, of in ((header, "2143"), (shifted, [number[i] for i in "2143"]))
    )
    np.testing.assert_array_equal(found.target, shown.target)
    assert found.item_names.tolist() == shown.item_names.tolist()


def test_missing_and_empty_votes(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_preflib(tmp_path / "nowhere.soc")
    (tmp_path / "empty.soc").write_text("\n")
    with refused_by("empty votes"):
        load_preflib(tmp_path / "empty.soc")
    (tmp_path / "short.soc").write_text("2\n1,a\n2,b\n")
    with refused_by("end of header"):
        load_preflib(tmp_path / "short.soc")


@pytest.mark.parametrize("header", [CURRENT, OLDER])
def test_lines_without_voters_are_left_out(tmp_path, header):
    votes = load_preflib(
        vote_file(tmp_path, header, ["0: 2,1", "6: 3,{1,2}", " 00 : 4"], "toi")
    )
    np.testing.assert_array_equal(votes.target, [[0.5, 0.5, 2, np.nan]])
    assert votes.counts.tolist() == [6]


@pytest.mark.parametrize("header", [CURRENT, OLDER])
@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_line_ends_end_a_line(tmp_path, header, character):
    name = f"Bo{character}b"
    path = vote_file(tmp_path, header.replace("Bob", name), ["6: 1,2,3,4"], "soc")
    assert load_preflib(path).item_names[1] == f"{name}: the second"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_preflib(path).item_names[1] == f"{name}: the second"


def test_names_in_windows_1252(tmp_path):
    path = vote_file(
        tmp_path,
        OLDER.replace("Bob", "Bob\u2026"),
        ["6: 1,2,3,4"],
        "soc",
        encoding="cp1252",
    )
    assert b"Bob\x85" in path.read_bytes()
    assert load_preflib(path).item_names[1] == "Bob\u2026: the second"
    path.write_bytes(
        path.read_bytes().replace(b"\x85", b"\x81")
    )  # which windows-1252 lacks
    assert load_preflib(path).item_names[1] == "Bob\x81: the second"


@pytest.mark.parametrize(
    "line",
    [
        "#" + " " * 3000 + "x",
        "# a" + " " * 3000 + "b",
        "1" + " " * 3000 + "x",
        "1: {1" + " " * 3000,
    ]
    + ["1: " + "{1," * 2000, "1: " + "1," * 2000 + "x", "1: {" + "11111," * 2000 + "x"],
)
def test_long_lines_are_read_in_linear_time(tmp_path, line):
    path = tmp_path / "votes.soc"
    path.write_text(f"{line}\n{CURRENT}6: 1,2,3,4\n{line}\n")
    start = time.perf_counter()
    with (
        pytest.raises(ValueError, match=r"votes\.soc")
        if line[0] != "#"
        else nullcontext()
    ):
        load_preflib(path)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    "line", ["ALTERNATIVE NAME 2: Eve", "NUMBER VOTERS: 6", "DATA TYPE: soc"]
)
def test_what_the_header_says_twice_is_refused(tmp_path, line):
    header = CURRENT + "# DATA TYPE: soc\n" + f"# {line}\n"
    key, first = (
        line.split(":")[0],
        6 if "NAME" in line else 3 if "VOTERS" in line else 9,
    )
    path = vote_file(tmp_path, header, ["6: 1,2,3,4"], "soc")
    with pytest.raises(
        ValueError, match=f"votes.soc, line 10: {key} is given twice, .*line {first}"
    ):
        load_preflib(path)


@pytest.mark.parametrize("path", [None, 3, ["votes.soc"]])
def test_the_path_of_votes_is_a_path(path):
    with pytest.raises(
        (ValueError, TypeError), match="path must be a path, str or Path, got"
    ):
        load_preflib(path)


def test_votes_larger_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "os.sysconf", lambda name: 1000, raising=False
    )  # a machine of 1 MB
    names = "".join(f"{i},n\n" for i in range(1, 1001))
    path = tmp_path / "votes.soi"
    path.write_text(f"1000\n{names}200,200,1\n" + "1,1\n" * 200)
    with pytest.raises(
        ValueError, match=r"The grades of .*votes\.soi would take 0.00149 GiB, more "
    ):
        load_preflib(path)


vote = st.one_of(
    st.permutations([1, 2, 3, 4]).map(lambda order: f"2: {','.join(map(str, order))}"),
    st.text("0123,:{} \t\r\x85#x", max_size=12),
)
header_line = st.one_of(
    st.sampled_from(CURRENT.splitlines() + OLDER.splitlines()),
    st.text("# :,1234\u2028Z", max_size=8),
    st.just("# DATA TYPE: toi"),
)
any_header = st.one_of(
    st.sampled_from([CURRENT, OLDER]), st.lists(header_line, max_size=8).map("\n".join)
)


@settings(derandomize=True, deadline=None, database=None, max_examples=300)
@given(
    header=any_header,
    votes=st.lists(vote, max_size=3),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    ending=st.sampled_from(["soc", "soi", "toc", "toi"]),
    inserted=st.tuples(st.integers(0, 150), st.binary(max_size=2)),
)
def test_any_bytes_are_votes_or_refused_by_name(
    header, votes, encoding, ending, inserted
):
    text = header.replace("VOTERS: 6", f"VOTERS: {2 * len(votes)}") + "\n".join(votes)
    content = text.encode(encoding, "replace")
    content = content[: inserted[0]] + inserted[1] + content[inserted[0] :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"votes.{ending}"
        path.write_bytes(content)
        try:
            read = load_preflib(path)
        except ValueError as error:
            refusal = (
                error if isinstance(error, InputError) else pytest.fail(repr(error))
            )
        else:
            refusal = None
    if refusal is None:
        assert read.target.shape == (len(read.counts), len(read.item_names))
        assert np.all(read.counts > 0)
        assert np.all(np.isfinite(read.target).any(axis=1))
    else:
        whole = (
            "is empty",
            "contains no orders",
            "is a file in UTF-16",
            "has no line '# NUMBER ALTERNATIVES: m'",
        )
        message = str(refusal).removeprefix(str(path)).removeprefix(" ")
        assert message.startswith((", line ", *whole)), refusal


def test_real_votes(data_folder):
    folder = data_folder / "preferences"
    paths = [p for p in sorted(folder.glob("*/*.*")) if p.suffix in (".soc", ".toc")]
    if not paths:
        pytest.skip("no votes among the real data")
    for path in paths:
        votes = load_preflib(path)
        stated = dict(
            re.findall("# NUMBER (.*): (.*)", path.read_text(encoding="utf-8"))
        )
        m = int(stated["ALTERNATIVES"])
        assert votes.target.shape == (int(stated["UNIQUE ORDERS"]), m)
        assert votes.counts.sum() == int(stated["VOTERS"])
        np.testing.assert_allclose(votes.target.sum(axis=1), m * (m - 1) / 2)
        strict = np.all(np.diff(np.sort(votes.target, axis=1), axis=1) == 1)
        assert strict == (votes.data_type == "soc")


# Orders -----------------------------------------------------------------------------


def test_tied_items_share_their_mean_position():
    orders = [[2, (0, 1)], [[1, 2], 0], [1], [{0, 1, 2}], [np.array([0]), 2, 1]]
    expected = [[0.5, 0.5, 2], [0, 1.5, 1.5], [np.nan, 0, np.nan], [1, 1, 1], [2, 0, 1]]
    np.testing.assert_array_equal(grades_from_orders(orders), expected)
    names = {0: "a", 1: ("b", "b"), 2: "c"}
    named = [
        ["c", ("a", ("b", "b"))],
        [("b", "b"), "c", "a"],
    ]  # a tuple that is a name is no tie
    np.testing.assert_array_equal(
        grades_from_orders(named, items=list(names.values())),
        [[0.5, 0.5, 2], [0, 2, 1]],
    )


def test_a_tie_is_the_mean_over_its_orders():
    tied = grades_from_orders([[3, (0, 2, 4), 1]])
    strict = grades_from_orders([[3, *order, 1] for order in permutations((0, 2, 4))])
    np.testing.assert_allclose(tied[0], strict.mean(axis=0))


def test_orders_are_the_same_as_votes(tmp_path):
    lines, orders = (
        ["1: {2,3},1", "1: 4,{1,2,3}", "4: 3"],
        [[(1, 2), 0], [3, (0, 1, 2)], [2]],
    )
    votes = load_preflib(vote_file(tmp_path, CURRENT, lines, "toi"))
    np.testing.assert_array_equal(grades_from_orders(orders, 4), votes.target)


@pytest.mark.parametrize(
    ("orders", "params", "message"),
    [
        ([[0, (1, 0)]], {}, "Order 0 names item 0 2 times"),
        ([[0, 1], [0, 5]], {}, "(?s)Order 1 names item 5; .*n_items = 6"),
        ([[1, 2, 3], [3, 1, 2]], {}, "counted from 1"),
        ([[0, 1, -1]], {}, "fills up short orders"),
        ([["a", "b"]], {}, "(?s)or names, with items.*items = "),
        (["a>b"], {}, "To split texts"),
        ([[0], []], {}, "Order 1 is empty"),
        ([], {}, "at least one order"),
        ([[0, 1], [0, ()]], {}, "Order 1 contains an empty tie"),
        ([[0, (1, (2, 3))]], {}, "with ties in tuples"),
        ([{0, 1}], {}, "each order is a sequence"),
        ([["a", ("b", "d")]], {"items": "abc"}, "Order 0 names 'd'"),
        ([["a", ["b", ["c"]]]], {"items": "abc"}, r"Order 0 names \['c'\]"),
        ([["a"]], {"items": "aba"}, "items names 'a' twice"),
        ([["a"]], {"items": [["a"]]}, "items must be a sequence of hashable names"),
        ([["a"]], {"items": 3}, "items must be a sequence"),
        (None, {}, "orders must be a sequence of at least one order, got None"),
        ("abc", {}, "orders must be a sequence of at least one order"),
        ([[0]], {"n_items": "x"}, "n_items must be an integer >= 1"),
        ([[0]], {"n_items": 0}, "n_items must be an integer >= 1"),
        ([[0]], {"n_items": 10**12}, "would take 7451 GiB"),
        ([[None]], {}, "must hold item indices"),
        ([[2**70]], {}, "must hold item indices"),
    ],
)
def test_orders_that_are_none(orders, params, message):
    with pytest.raises(ValueError, match=message):
        grades_from_orders(orders, **params)


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
    data = make_preferences(
        50, 5, n_labels=20, weights=weights, density=density, random_state=0
    )
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
    data = make_preferences(
        20_000, 4, n_labels=5, n_features=7, weights="uniform", random_state=1
    )
    expected = np.tensordot(data.probabilities, data.support, axes=1).reshape(
        20_000, -1
    )
    drawn = data.target.reshape(20_000, -1)
    for share in data.probabilities.T:  # also where a label is probable
        np.testing.assert_allclose(
            share @ drawn / 4000, share @ expected / 4000, atol=0.03
        )
    assert data.data.shape == (20_000, 7)
    solution = np.linalg.lstsq(data.data, expected, rcond=None)[0]
    np.testing.assert_allclose(data.data @ solution, expected, atol=1e-8)
    again = make_preferences(
        20_000, 4, n_labels=5, n_features=7, weights="uniform", random_state=1
    )
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
        ({"n_items": 1}, "n_items must be an integer >= 2"),
        ({"n_samples": 0}, "n_samples must be an integer >= 1"),
        ({"n_labels": 4, "n_features": 3}, "n_features=3"),
        ({"weights": "difference"}, "weights must be"),
        ({"density": 0.0}, "density must be"),
        ({"density": 1.1}, "density must be"),
        ({"condition": "dag"}, "condition must be"),
        ({"n_items": 2.5}, "n_items must be"),
        ({"n_samples": "x"}, "n_samples must be"),
        ({"n_labels": True}, "n_labels must be"),
        ({"n_features": 0}, "n_features must be"),
        ({"density": "x"}, "density must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"condition": "cyclic", "n_items": 2}, "n_items >= 3"),
        ({"condition": "cyclic", "n_labels": 2}, "n_labels >= 3"),
        (
            {"condition": "p_dag", "n_items": 15, "density": 0.1},
            "hardly ever met .* fewer items",
        ),
    ],
)
def test_make_preferences_says_what_is_wrong(params, message):
    with pytest.raises(ValueError, match=message):
        make_preferences(**{"random_state": 0, **params})


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
        assert first[here].mean() == pytest.approx(
            duels.probabilities[here].mean(), abs=0.03
        )
    assert np.linalg.norm(duels.coef) == pytest.approx(1 - cyclic)
    np.testing.assert_array_equal(duels.interaction, -duels.interaction.T)
    values = np.linalg.svd(duels.interaction, compute_uv=False)
    np.testing.assert_allclose(values, np.repeat([cyclic, 0], [4, 2]), atol=1e-12)


def test_duels_without_noise_and_linear_scores():
    ordered = make_duels(5000, cyclic=0.0, noise=0.0, random_state=0)
    np.testing.assert_array_equal(winners_first(ordered), ordered.margin > 0)
    np.testing.assert_array_equal(ordered.interaction, 0)
    nearly = make_duels(
        5000, cyclic=0.0, noise=1e-310, random_state=0
    )  # margin / noise overflows
    np.testing.assert_array_equal(nearly.target, ordered.target)
    cyclic = make_duels(5000, n_features=2, noise=0.0, random_state=0)
    np.testing.assert_array_equal(winners_first(cyclic), cyclic.margin > 0)
    for direction in ([1, 0], [0, 1], [1, -1]):  # no better than chance
        higher = (cyclic.data[::2] - cyclic.data[1::2]) @ direction > 0
        assert np.mean(higher == winners_first(cyclic)) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_duels": 0}, "n_duels must be an integer >= 1"),
        ({"n_planes": 0}, "n_planes must be an integer >= 1"),
        ({"n_features": 5, "n_planes": 3}, "at least 2 . n_planes=6"),
        ({"cyclic": -0.1}, "cyclic must be"),
        ({"cyclic": 1.5}, "cyclic must be"),
        ({"noise": -1.0}, "noise must be"),
        ({"noise": np.inf}, "noise must be"),
        ({"noise": np.nan}, "noise must be"),
        ({"noise": "x"}, "noise must be"),
        ({"n_duels": 2.5}, "n_duels must be"),
        ({"n_features": -3}, "n_features must be"),
        ({"random_state": -1}, "random_state must be"),
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
