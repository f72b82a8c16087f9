"""Simulations of few duels, few groups and judges of duels, and few documents with clicks.

groups: `bradley_terry` of 5 items, 200 duels in groups; each group shifts the strengths by normal
numbers. In unequal groups the first has half of the duels. "covered" is how often a 95 % interval
contains the strength in all groups, "normal" with 1.96 standard errors; "ranks" is how often all
intervals of ranks contain the ranks, "normal ranks" without Student's distribution, "equal items"
that each interval has all ranks if the items are equal. judges:
`bradley_terry` of 5 items, 600 duels; of equal judges, slope of the weighted strengths against the
truth and coverage; if a third of the judges guess, the root mean squared error of the strengths
relative to maximum likelihood without weights. documents: coverage of `propensities_from_clicks`
of four positions with few documents, shown 120 times each, of all or few at the last position.
separated: duels so few that an item always won, always lost or did not meet the rest; mean log loss
of all pairs of the items by `half_games`, "coin" of probabilities 1/2.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from lowrank_rank.clicks import propensities_from_clicks
from lowrank_rank.votes import bradley_terry

from ._common import print_table, repeated

STRENGTHS = np.linspace(1.0, -1.0, 5)
#: Propensities of four positions.
THETA = np.array([1.0, 0.6, 0.4, 0.25])

HALF_GAMES = (0.5, 1, 2, 4)


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)


def run(args):
    """One table for each part."""
    if args.tiny:
        args.repetitions = 3
    rows = []
    for part in args.part:
        table = list(PARTS[part](args))
        print_table(f"{part}: {args.repetitions} repetitions", table)
        rows += [{"part": part, **row} for row in table]
    return rows


def drawn_duels(rng, log_odds_of, n):
    """Duels of random pairs; `log_odds_of(i, j)` is the log odds that i beats j."""
    i = rng.integers(5, size=n)
    j = (i + rng.integers(1, 5, size=n)) % 5
    wins = rng.random(n) < expit(log_odds_of(i, j))
    winner, loser = np.where(wins, [i, j], [j, i])
    return {"winner": winner, "loser": loser}


# Groups -----------------------------------------------------------------------------


def strengths_of_all_groups():
    """Strengths of infinitely many groups: each duel has a mixture of chances."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    odds = (STRENGTHS[:, None] - STRENGTHS)[..., None] + np.sqrt(2.0) * nodes
    chance = expit(odds) @ (weights / weights.sum())
    return bradley_terry(chance * (1 - np.eye(5))).strengths


def groups_part(args):
    """Coverage by the number of groups and their sizes."""
    truth = strengths_of_all_groups()
    for n_groups in (5, 10, 20):
        for sizes in ("equal", "unequal"):
            shares = np.full(n_groups, 1.0)
            if sizes == "unequal":
                shares[0] = n_groups - 1.0
            group = np.repeat(
                np.arange(n_groups), (200 * shares / shares.sum()).astype(int)
            )
            found = [
                groups_draw(
                    np.random.default_rng([args.seed, n_groups, draw]), group, truth
                )
                for draw in repeated(range(args.repetitions), "duels")
            ]
            names = ("covered", "normal", "ranks", "normal ranks", "equal items")
            means = np.mean(found, axis=0).tolist()
            yield {"what": f"{n_groups} {sizes} groups"} | dict(
                zip(names, means, strict=True)
            )


def groups_draw(rng, group, truth):
    """Whether intervals of one draw contain the truth, by Student and by the normal."""
    board = board_of_groups(rng, group, STRENGTHS)
    order = np.argsort(board.items)
    inside = []
    for result in (board, replace(board, degrees_of_freedom=np.inf)):
        low, high = result.interval()[order].T
        ranks = result.rank_intervals(n_resamples=500, random_state=0)
        place = 1 + result.items  # item 0 is the best
        all_ranks = np.all((ranks.low <= place) & (place <= ranks.high))
        inside.append([((low <= truth) & (truth <= high)).mean(), all_ranks])
    (student, ranks), (normal, normal_ranks) = inside
    equal = board_of_groups(rng, group, np.zeros(5))
    of_equal = equal.rank_intervals(n_resamples=500, random_state=0)
    equal_ranks = np.all((of_equal.low == 1) & (of_equal.high == 5))
    return student, normal, ranks, normal_ranks, equal_ranks


def board_of_groups(rng, group, strengths):
    """Strengths from duels; each group shifts them by normal numbers."""
    shifted = strengths + rng.standard_normal((group.max() + 1, 5))
    duels = drawn_duels(
        rng, lambda i, j: shifted[group, i] - shifted[group, j], len(group)
    )
    return bradley_terry(duels, group=group, half_games=0.05)


# Judges -----------------------------------------------------------------------------


def judges_part(args):
    """Slope, coverage and error of weighted strengths by the duels of each judge."""
    for duels_each in (1, 2, 5, 20, 50):
        judge = np.arange(600) // duels_each
        equal = []
        guessing = []
        for draw in repeated(range(args.repetitions), "duels"):
            rng = np.random.default_rng([args.seed, duels_each, draw])
            equal.append(judges_draw(rng, judge, np.ones(len(judge))))
            guessing.append(judges_draw(rng, judge, 1.0 * (judge % 3 > 0)))
        slope, covered, _, _ = np.mean(equal, axis=0)
        _, _, weighted, plain = np.mean(guessing, axis=0)
        _, _, equal_weighted, equal_plain = np.mean(equal, axis=0)
        yield {
            "what": f"{duels_each} duels a judge",
            "slope": float(slope),
            "covered": float(covered),
            "error, equal": float(np.sqrt(equal_weighted / equal_plain)),
            "error, a third guess": float(np.sqrt(weighted / plain)),
        }


def judges_draw(rng, judge, quality):
    """Slope, coverage, and squared errors of the weighted and the plain strengths."""
    duels = drawn_duels(
        rng, lambda i, j: quality * (STRENGTHS[i] - STRENGTHS[j]), len(judge)
    )
    board = bradley_terry(duels, judge=judge, half_games=0.05)
    plain = bradley_terry(duels, half_games=0.05)
    order = np.argsort(board.items)
    low, high = board.interval()[order].T
    weighted = board.strengths[order]
    unweighted = plain.strengths[np.argsort(plain.items)]
    return (
        weighted @ STRENGTHS / (STRENGTHS @ STRENGTHS),
        np.mean((low <= STRENGTHS) & (high >= STRENGTHS)),
        np.mean((weighted - STRENGTHS) ** 2),
        np.mean((unweighted - STRENGTHS) ** 2),
    )


# Documents --------------------------------------------------------------------------


def documents_part(args):
    """Coverage of propensities by the number of documents."""
    for n_documents, rare in ((5, 0), (10, 0), (20, 0), (80, 0), (40, 5), (40, 10)):
        inside = []
        for draw in repeated(range(args.repetitions), "duels"):
            rng = np.random.default_rng([args.seed, n_documents, rare, draw])
            inside.append(documents_draw(rng, n_documents, rare))
        what = f"{n_documents} documents"
        if rare:
            what += f", {rare} at the last position"
        yield {"what": what, "covered": float(np.nanmean(inside))}


def documents_draw(rng, n_documents, rare):
    """Fraction of the propensities inside their intervals; NaN if a log is refused.

    The relevance of a document depends on its position by chance, so its clicks are
    correlated.
    """
    n = 120 * n_documents
    document = rng.integers(n_documents, size=n)
    position = rng.integers(4, size=n)
    if rare:
        position = np.where((position == 3) & (document >= rare), 0, position)
    relevance = rng.uniform(0.2, 1.0, size=(n_documents, 4))
    clicks = rng.random(n) < (THETA * relevance)[document, position]
    try:
        found = propensities_from_clicks(clicks, position + 1, document)
    except ValueError:
        return np.nan
    truth = THETA / THETA[np.argmax(found.propensity)]
    others = found.propensity < 1.0
    inside = (found.low <= truth) & (truth <= found.high)
    return inside[others & np.isfinite(found.low)].mean()


# Few duels ---------------------------------------------------------------------------


def separated_part(args):
    """Log loss of the win probabilities by half_games, where maximum likelihood fails."""
    for r, n, spread in (
        (6, 12, 0.5),
        (10, 30, 0.5),
        (10, 30, 1.0),
        (20, 60, 1.0),
        (20, 100, 2.0),
        (8, 16, 2.0),
    ):
        losses = []
        for draw in repeated(range(args.repetitions), "duels"):
            rng = np.random.default_rng([args.seed, r, n, draw])
            losses += separated_draw(rng, r, n, spread)
        row = {"what": f"{n} duels of {r} items, spread {spread}"}
        names = [f"half_games={half_games}" for half_games in HALF_GAMES]
        means = np.mean(losses, axis=0).tolist()
        yield row | dict(zip(names, means, strict=True)) | {"coin": float(np.log(2))}


def separated_draw(rng, r, n, spread):
    """Losses for each half_games in a list; an empty list if the likelihood suffices."""
    strengths = spread * rng.standard_normal(r)
    i = rng.integers(r, size=n)
    j = (i + rng.integers(1, r, size=n)) % r
    wins = rng.random(n) < expit(strengths[i] - strengths[j])
    winner, loser = np.where(wins, [i, j], [j, i])
    duels = {"winner": winner, "loser": loser}
    try:
        bradley_terry(duels)
    except ValueError:
        return [[separated_loss(duels, strengths, h) for h in HALF_GAMES]]
    return []


def separated_loss(duels, strengths, half_games):
    """Mean expected log loss over all pairs of items that met anyone."""
    board = bradley_terry(duels, half_games=half_games)
    i, j = np.triu_indices(len(board.items), 1)
    true = strengths[board.items]
    chance = expit(true[i] - true[j])
    log_odds = board.strengths[i] - board.strengths[j]
    # -log of the estimated chance that i wins, and that j wins
    loss_i = np.logaddexp(0.0, -log_odds)
    loss_j = np.logaddexp(0.0, log_odds)
    return np.mean(chance * loss_i + (1 - chance) * loss_j)


PARTS = {
    "groups": groups_part,
    "judges": judges_part,
    "documents": documents_part,
    "separated": separated_part,
}
