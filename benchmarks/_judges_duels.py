"""Bars of `bradley_terry`: peers, coverage of intervals, size, and the pairs to ask next."""

import subprocess
import sys
from time import process_time

import numpy as np
from scipy.special import expit
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from lowrank_rank import bradley_terry

from ._common import REPOSITORY, best_seconds, optional_peer, print_table


def add_arguments(parser):
    """No arguments of its own."""


def run(args):
    """Rows of all bars; each has a value, the least and the most that it should be, a verdict."""
    found = []
    for part in (peers, davidson, clustered, rank_intervals, large, next_pairs, unequal_judges):
        found += part(args.tiny)
    print_table("Duels: strengths, errors, intervals of ranks, next pairs", found)
    return found


def bar(what, value, least=None, most=None, control=None):
    """One row; `control` is the number of the plain alternative."""
    met = (least is None or value >= least) and (most is None or value <= most)
    verdict = "" if least is most is None else ("ok" if met else "MISSED")
    columns = {"what": what, "value": float(value), "control": control}
    return {**columns, "at_least": least, "at_most": most, "verdict": verdict}


def duels_of(rng, strengths, n, tie=0.0):
    """Columns "winner", "loser" and "tie" of n duels of random pairs under Davidson's model."""
    r = len(strengths)
    first = rng.integers(r, size=n)
    second = (first + rng.integers(1, r, size=n)) % r
    return played(rng, first, second, strengths[first] - strengths[second], tie)


def played(rng, first, second, log_odds, tie=0.0):
    weights = np.stack([np.exp(log_odds / 2), np.full(len(first), tie), np.exp(-log_odds / 2)])
    outcome = (rng.random(len(first)) * weights.sum(axis=0) > np.cumsum(weights, axis=0)).sum(
        axis=0
    )
    winner, loser = np.where(outcome < 2, [first, second], [second, first])
    return {"winner": winner, "loser": loser, "tie": outcome == 1}


def by_name(board, values):
    """Values of the items in the order of their names."""
    return values[np.argsort(board.items)]


def covered(board, truth):
    """Whether each 95 % interval of a strength contains the truth of mean 0."""
    error = by_name(board, board.strengths) - (truth - truth.mean())
    return np.abs(error) <= 1.96 * by_name(board, board.standard_errors)


# Peers ------------------------------------------------------------------------------


def peers(tiny):
    r, n = (8, 2000) if tiny else (60, 100_000)
    rng = np.random.default_rng(0)
    duels = duels_of(rng, rng.standard_normal(r), n)
    pairs = np.column_stack([duels["winner"], duels["loser"]]).tolist()
    board = bradley_terry(pairs)
    found = []
    choix = optional_peer("choix")
    if choix is not None:
        peer = choix.ilsr_pairwise(r, pairs)
        gap = np.abs(by_name(board, board.strengths) - (peer - peer.mean())).max()
        found.append(bar("largest difference to choix.ilsr_pairwise", gap, most=1e-6))
        calls = {
            "ours": lambda: bradley_terry(pairs),
            "choix": lambda: choix.ilsr_pairwise(r, pairs),
        }
        seconds = best_seconds(calls, 2 if tiny else 7, process_time)
        ratio = seconds["choix"] / seconds["ours"]
        found.append(bar(f"seconds of choix over ours, {n} duels of {r} items", ratio, least=5.0))
    duels = duels_of(rng, rng.standard_normal(r), n, tie=0.7)
    gap = difference_to_logistic_regression(duels, r)
    return [*found, bar("largest difference to LogisticRegression, ties half", gap, most=1e-6)]


def difference_to_logistic_regression(duels, r):
    """Largest difference of strengths where each tie is half a win and half a loss."""
    board = bradley_terry(duels, ties="half")
    win = np.zeros((r, r))
    np.add.at(win, (duels["winner"], duels["loser"]), 1 - duels["tie"] / 2)
    np.add.at(win, (duels["loser"], duels["winner"]), duels["tie"] / 2)
    first, second = np.nonzero(win)
    X = np.eye(r)[first] - np.eye(r)[second]
    y = np.tile([1, 0], (len(X), 1)).T.ravel()
    model = LogisticRegression(
        C=1e12, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
    ).fit(np.vstack([X, -X]), y, sample_weight=np.tile(win[first, second], 2))
    peer = model.coef_[0] - model.coef_[0].mean()
    return np.abs(by_name(board, board.strengths) - peer).max()


# Coverage ---------------------------------------------------------------------------


def davidson(tiny):
    repetitions, found = (10, []) if tiny else (1000, [])
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        truth = 0.5 * rng.standard_normal(20)
        found.append(covered(bradley_terry(duels_of(rng, truth, 3000, tie=0.7)), truth).mean())
    what = "coverage of strengths, Davidson, 20 items, 3,000 duels"
    return [bar(what, np.mean(found), 0.935, 0.965)]


def clustered(tiny, r=10, n_prompts=150, spread=1.0):
    """20 duels a prompt, which shifts the strength of each item by a normal number."""
    truth = np.linspace(-1, 1, r)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    shifts = np.sqrt(2) * spread * nodes
    chance = expit((truth[:, None] - truth)[..., None] + shifts) @ (weights / weights.sum())
    limit = bradley_terry(chance * (1 - np.eye(r))).strengths  # of infinitely many prompts
    plain, by_prompt = [], []
    for seed in range(10 if tiny else 1000):
        rng = np.random.default_rng(seed)
        prompt = np.repeat(np.arange(n_prompts), 20)
        first = rng.integers(r, size=len(prompt))
        second = (first + rng.integers(1, r, size=len(prompt))) % r
        strengths = truth + spread * rng.standard_normal((n_prompts, r))
        duels = played(rng, first, second, strengths[prompt, first] - strengths[prompt, second])
        plain.append(covered(bradley_terry(duels), limit).mean())
        by_prompt.append(covered(bradley_terry({**duels, "group": prompt}), limit).mean())
    what = "coverage of strengths by prompt, 20 duels each; control: without group"
    return [bar(what, np.mean(by_prompt), 0.93, control=np.mean(plain))]


def rank_intervals(tiny):
    joint, lengths = [], []
    for seed in range(10 if tiny else 1000):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal(10)
        board = bradley_terry(duels_of(rng, truth, 3000))
        intervals = board.rank_intervals(random_state=seed)
        ranks = np.argsort(np.argsort(-truth)) + 1
        low, high = by_name(board, intervals.low), by_name(board, intervals.high)
        joint.append(np.all((low <= ranks) & (ranks <= high)))
        lengths.append(np.mean(high - low + 1))
    return [
        bar("joint coverage of ranks, 10 items, 3,000 duels", np.mean(joint), least=0.95),
        bar("mean number of ranks in an interval, of 10", np.mean(lengths), most=3.9),
    ]


# Size -------------------------------------------------------------------------------

_LARGE = """
import sys
import numpy as np
from benchmarks._judges_duels import large_here
print(*large_here(int(sys.argv[1]), int(sys.argv[2])))
"""


def large_here(r, n):
    """Seconds of a fit and of intervals, and the peak of the process in GB."""
    import resource  # not on Windows

    rng = np.random.default_rng(0)
    duels = duels_of(rng, rng.standard_normal(r), n)
    start = process_time()
    board = bradley_terry(duels)
    fitted = process_time()
    board.rank_intervals(random_state=0)
    seconds = fitted - start, process_time() - fitted
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return *seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def large(tiny):
    r, n = (30, 3000) if tiny else (1000, 1_000_000)
    command = [sys.executable, "-c", _LARGE, str(r), str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    printed = done.stdout
    values = map(float, printed.split())
    names = {"seconds of a fit": 5.0, "seconds of intervals": 15.0, "peak in GB": 0.6}
    return [
        bar(f"{name}, {n} duels of {r} items", value, most=most)
        for (name, most), value in zip(names.items(), values, strict=True)
    ]


# The next pairs ---------------------------------------------------------------------


def next_pairs(tiny):
    found = []
    for spread in (3.0, 1.0):
        seeds = range(2 if tiny else 20)
        chosen = np.mean([overlap(s, spread, 600, chosen=True) for s in seeds])
        drawn = np.mean([overlap(s, spread, 1200, chosen=False) for s in seeds])
        what = f"first ten of 50 found, spread {spread:g}: 600 chosen; control: 1,200 random"
        found.append(bar(what, chosen, drawn if spread == 3 else None, control=drawn))
    return found


def overlap(seed, spread, n_questions, *, chosen, r=50, top=10, batch=10):
    """How many of the first ten are found after so many duels."""
    rng = np.random.default_rng(seed)
    truth = spread * rng.standard_normal(r)
    duels = duels_of(rng, truth, batch if chosen else n_questions)
    while True:
        wins = np.zeros((r, r))
        np.add.at(wins, (duels["winner"], duels["loser"]), 1)
        board = bradley_terry(wins, half_games=0.5)
        if len(duels["winner"]) >= n_questions:
            break
        pairs = np.array(board.next_duels(batch, top=top))
        more = played(rng, *pairs.T, truth[pairs[:, 0]] - truth[pairs[:, 1]])
        duels = {name: np.append(duels[name], more[name]) for name in duels}
    return len(set(np.argsort(-truth)[:top]) & set(np.argsort(board.ranks)[:top]))


def unequal_judges(tiny, r=12, n_judges=15, n=600):
    """Kendall's tau with the truth where a third of the judges guess, and some are reversed."""
    rows, truth = [], np.linspace(-2, 2, r)
    for n_reversed, least in ((0, 0.0), (3, 0.1)):
        gains, controls = [], []
        for seed in range(3 if tiny else 40):
            rng = np.random.default_rng(seed)
            quality = np.where(np.arange(n_judges) % 3 == 0, 0.0, 1.0)
            quality[:n_reversed] = -1.0
            judge, first = rng.integers(n_judges, size=n), rng.integers(r, size=n)
            second = (first + rng.integers(1, r, size=n)) % r
            log_odds = quality[judge] * (truth[first] - truth[second])
            duels = played(rng, first, second, log_odds)
            boards = (
                bradley_terry(given, half_games=0.5) for given in (duels, {**duels, "judge": judge})
            )
            plain, weighted = (kendalltau(b.strengths, truth[b.items])[0] for b in boards)
            gains.append(weighted - plain)
            controls.append(plain)
        what = f"tau, {n_judges} judges, {n_reversed} reversed: gain by judge"
        rows.append(bar(what, np.mean(gains), least=least, control=np.mean(controls)))
    return rows
