"""Simulations of intervals: how often they contain the truth, and how wide they are.

bounded: `mean_intervals` of values in [0, 1], some of them of measures with one relevant
document a query; "student" is Student's interval, and Wilson's of 0 and 1; "width" is
relative to it; "reason" names the cells below .93. once: two equal rankers compared with a judge of
500 more queries after every five of 100 labelled ones, and by people alone with `at_every_look`.
means: `mean_intervals` of the NDCG@10 of a ranker and of lognormal money, and a percentile
bootstrap. judged: prediction-powered intervals of `mean_intervals` with n human labels and 1,000
labels of a judge; "width" is relative to Student's interval of the human labels. few: 5 to 100
human values with a judge of 500 more, over many rates of right answers and judges; "plain" is the
interval of the human values alone, and "below .93" counts cells. weights: queries with unequal
weights. traffic: differences of queries whose traffic is Zipf's, weighted by it or drawn by it. votes: ranks of `consensus_ranking` of 200 orders under the Plackett-Luce model whose
strengths differ by a gap. duels: strengths and ranks of `bradley_terry`; "by prompt" has 20 duels a
prompt. chosen: how many of the first ten of 50 items are found after duels that `next_duels`
chooses, and after twice as many random ones.
"""

from itertools import product

import numpy as np
from scipy import stats
from scipy.special import expit
from sklearn.model_selection import GroupKFold, cross_val_predict

from lowrank_rank import LowRankSurrogateRanker, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import judged_mean_intervals, mean_intervals, per_query
from lowrank_rank.evaluation._mean_intervals import folds, student, weighted_moments
from lowrank_rank.evaluation._paired_differences import statistics_of_differences
from lowrank_rank.votes import bradley_terry, consensus_ranking

from ._common import coverage_row, print_table, repeated, summary_row
from ._sets import load_lightgbm_example

N_UNLABELLED = 1000


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, help="4,000; votes and duels: 200")
    parser.add_argument(
        "--seed", type=int, default=0, help="of bounded, once, few, weights, traffic"
    )


def run(args):
    """One table for each part."""
    rows = []
    for part in args.part:
        few = part in ("votes", "duels", "chosen")
        n = args.repetitions or (5 if args.tiny else 200 if few else 4000)
        table = list(PARTS[part](args, n))
        print_table(f"{part}: 95 % intervals, {n} repetitions", table)
        rows += [{"part": part, **row} for row in table]
    return rows


# Bounded values -------------------------------------------------------------


def bounded_part(args, repetitions):
    """A row for each population and number of values."""
    rng = np.random.default_rng(args.seed)
    sizes = (5, 15) if args.tiny else (3, 5, 8, 15, 40, 200)
    n_below = {"student": 0, "covered": 0}
    n_cells = 0
    for (name, (draw, truth)), n in product(populations(rng).items(), sizes):
        values = draw((n, repetitions))
        found = mean_intervals(values, bounds=(0, 1)).interval
        of_student = student_or_wilson(values)
        # Values such as .1 are not exact.
        row = coverage_row(found[:, 0] - 1e-12, found[:, 1] + 1e-12, truth)
        plain = coverage_row(of_student[:, 0] - 1e-12, of_student[:, 1] + 1e-12, truth)
        reason = None
        if row["covered"] < 0.93:
            reason = reason_of(name, n)
        n_cells += 1
        n_below["covered"] += row["covered"] < 0.93
        n_below["student"] += plain["covered"] < 0.93
        yield {
            "values": name,
            "n": n,
            "student": plain["covered"],
            "covered": row["covered"],
            "width": row["width"] / plain["width"],
            "reason": reason,
        }
    yield {"values": f"below .93 of {n_cells} cells", **n_below}


def populations(rng):
    """Populations of values in [0, 1]: a function of the shape, and the mean."""
    found = {}
    for rate in (0.02, 0.05, 0.2):
        for name, right in (("hit@10", 1.0), ("precision@10", 0.1)):
            found[f"{name}, {rate} fail"] = (
                lambda shape, rate=rate, right=right: (
                    (rng.random(shape) >= rate) * right
                ),
                (1.0 - rate) * right,
            )
    for chance in (0.3, 0.7, 0.9):
        found[f"mrr@10, {chance} at rank 1"] = (
            lambda shape, chance=chance: reciprocal_ranks(rng, chance, shape),
            sum(chance * (1 - chance) ** (k - 1) / k for k in range(1, 11)),
        )
    for mean, spread in product((0.5, 0.8, 0.95, 0.99), (2, 5, 20)):
        found[f"Beta, mean {mean}, a + b = {spread}"] = (
            lambda shape, a=mean * spread, b=(1 - mean) * spread: rng.beta(a, b, shape),
            mean,
        )
    for rate in (0.03, 0.9):
        found[f"precision@10, {rate} of ten"] = (
            lambda shape, rate=rate: rng.binomial(10, rate, shape) / 10,
            rate,
        )
    found["98 % +- 1 %, and 0 in .05"] = (
        lambda shape: np.where(
            rng.random(shape) < 0.05,
            0.0,
            np.clip(rng.normal(0.98, 0.01, shape), 0.0, 1.0),
        ),
        0.95 * 0.98,
    )
    found["0, and uniform in .1"] = (
        lambda shape: (rng.random(shape) < 0.1) * rng.random(shape),
        0.05,
    )
    return found


def reciprocal_ranks(rng, chance, shape):
    """Draw reciprocal ranks, 0 below the tenth."""
    rank = rng.geometric(chance, shape)
    return np.where(rank <= 10, 1.0 / rank, 0.0)


def student_or_wilson(values):
    """Compute Student's intervals of columns, and Wilson's of columns of 0 and 1."""
    n = len(values)
    mean = values.mean(axis=0)
    half = stats.t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
    interval = np.stack([mean - half, mean + half], axis=1)
    is_binary = ((values == 0) | (values == 1)).all(axis=0)
    interval[is_binary] = mean_intervals(values).interval[is_binary]
    return interval


def reason_of(name, n):
    """Say why a cell covers less than .93."""
    if name.startswith("hit"):
        return "Wilson's interval covers so much on average over rates"
    if name.startswith("98 %"):
        return "failures that no draw showed"
    if n < 8:
        return "a few values that show none of the low ones"
    return "skewed by few low values"


def once_part(args, repetitions):
    """A row for each kind of values and judge: false findings of equal rankers."""
    rng = np.random.default_rng(args.seed)
    looks = np.arange(10, 101, 10 if args.tiny else 5)
    for kind, agreement in product(("graded", "right"), (0.8, 0.95)):
        shape = (2, repetitions, 600)
        if kind == "right":
            people = (rng.random(shape) < 0.6) * 1.0
            is_wrong = rng.random(shape) >= agreement
            judge = np.where(is_wrong, 1.0 - people, people)
        else:
            people = (rng.random(shape[1:]) + rng.random(shape)) / 2.0
            judge = people + (1.0 - agreement) * rng.normal(size=shape)
        d = people[0] - people[1]
        of_judge = judge[0] - judge[1]
        found: dict[str, list] = {"judge": [], "people": []}
        for n in looks:
            for name, is_judged in (("judge", True), ("people", False)):
                statistics = statistics_of_differences(
                    d[:, :n].copy(),
                    largest=np.ones(repetitions),
                    both_binary=np.full(repetitions, kind == "right"),
                    weights=None,
                    judge_differences=(of_judge[:, :n].T, of_judge[:, 100:].T)
                    if is_judged
                    else None,
                    fold=folds(None, n),
                    rounding=1e-12,
                    confidence_level=0.95,
                    anytime=not is_judged,
                )
                found[name].append(statistics.p_value <= 0.05)
        yield {
            "values": kind,
            "agreement": agreement,
            "judge, every look": float(np.any(found["judge"], axis=0).mean()),
            "judge, one look": float(np.mean(found["judge"][-1])),
            "people, at_every_look": float(np.any(found["people"], axis=0).mean()),
        }


# Means --------------------------------------------------------------------


def values_of(y, qid, scores, measure):
    return np.asarray(
        per_query(y, scores, qid=qid, measure=[measure], zero_division=0)[measure]
    )


def graded(n_lists, noise):
    """With noise 3 the NDCG@10 of ridge has a standard deviation of .17, LightGBM's example .20."""
    return make_ranking(n_lists=n_lists, n_items=(8, 30), noise=noise, random_state=0)


def held_out_scores(X, y, qid):
    """Scores of ridge, and of ridge on every second feature, fitted on other queries."""
    target, fitted = ranking_target(y, qid), {"cv": GroupKFold(5), "groups": qid}
    ranker = LowRankSurrogateRanker()
    return [
        cross_val_predict(ranker, part, target, **fitted) for part in (X, X[:, ::2])
    ]


def means_part(args, repetitions):
    """A row for each population and number of queries."""
    rng = np.random.RandomState(0)
    X, y, qid = graded(60 if args.tiny else 2000, 3.0)
    populations = {
        "ndcg@10": values_of(y, qid, held_out_scores(X, y, qid)[0], "ndcg@10"),
        "lognormal money": np.exp(rng.normal(size=100_000)),
    }
    for (name, population), n in product(populations.items(), (5, 10, 20, 50)):
        drawn = population[rng.randint(len(population), size=(n, repetitions))]
        found = stats.bootstrap(
            (drawn[:, :500],),
            np.mean,
            method="percentile",
            n_resamples=999,
            batch=50,
            rng=0,
        ).confidence_interval
        truth = population.mean()
        percentile = coverage_row(found.low, found.high, truth)["covered"]
        low, high = mean_intervals(drawn).interval.T
        row = coverage_row(low, high, truth, population=name, queries=n)
        yield {**row, "covered, percentiles": percentile}


def judged_part(args, repetitions):
    """A row for each set, judge, number of human labels and statistic."""
    sets = {"generated": graded(40 if args.tiny else 2000, 3.0)}
    if not args.tiny:
        sets["lightgbm_example"] = load_lightgbm_example(args.data)
    for (name, (X, y, qid)), agreement in product(sets.items(), (0.95, 0.9, 0.8, None)):
        scores, rng = held_out_scores(X, y, qid), np.random.RandomState(0)
        copies = (
            1 if args.tiny else 10_000 // len(np.unique(qid))
        )  # many errors of the judge
        human = np.tile(two_values(y, qid, scores), (copies, 1))
        by_judge = [
            two_values(flipped(y, agreement, rng), qid, scores) for _ in range(copies)
        ]
        judge = np.vstack(by_judge)
        for n, (k, statistic) in product((50, 200), enumerate(("mean", "difference"))):
            labelled = rng.randint(len(human), size=(n, repetitions))
            others = rng.randint(len(human), size=(N_UNLABELLED, repetitions))
            h = human[labelled, k]
            found = judged_mean_intervals(
                h,
                judge[labelled, k],
                judge[others, k],
            )
            student = 2.0 * stats.t.ppf(0.975, n - 1) * stats.sem(h, axis=0).mean()
            columns = {
                "set": name,
                "agreement": agreement,
                "n": n,
                "statistic": statistic,
            }
            row = coverage_row(*found.interval.T, human[:, k].mean(), **columns)
            yield {**row, "width": row["width"] / student}


def two_values(y, qid, scores):
    """NDCG@10 of each query, and its difference from the second ranker."""
    first, second = (values_of(y, qid, s, "ndcg@10") for s in scores)
    return np.column_stack([first, first - second])


def flipped(y, agreement, rng):
    """Labels of a judge: some are those of other rows, the fraction `agreement` is kept."""
    other = rng.permutation(y)
    if agreement is None:
        return other
    chance = (1.0 - agreement) / np.mean(other != y)
    return np.where(rng.uniform(size=len(y)) < chance, other, y)


# Few human values, and weights --------------------------------------------------------


def few_part(args, repetitions):
    """A row for each kind of values and number of human values, over rates and judges."""
    rng = np.random.default_rng(args.seed)
    sizes = (5, 20) if args.tiny else (5, 10, 20, 50, 100)
    judges = {"right": (0.8, 0.9, 0.95, 0.99, 1.0), "graded": (0.8, 0.95, 0.99)}
    for (kind, accuracies), n in product(judges.items(), sizes):
        cells = []
        for rate, accuracy in product((0.5, 0.8, 0.9, 0.95, 0.99), accuracies):
            shape = (n + N_UNLABELLED // 2, repetitions)
            human, judge, truth = judged_values(rng, kind, rate, accuracy, shape)
            found = judged_mean_intervals(
                human[:n],
                judge[:n],
                judge[n:],
            )
            alone = mean_intervals(human[:n])
            row = coverage_row(*found.interval.T, truth)
            plain = coverage_row(*alone.interval.T, truth)
            cells.append(
                {
                    "covered": row["covered"],
                    "plain": plain["covered"],
                    "width": row["width"] / plain["width"],
                }
            )
        yield summary_row(cells, values=kind, n=n)


def judged_values(rng, kind, rate, accuracy, shape):
    """Values by people and by a judge, and their true mean.

    right: answers are right with probability `rate`; the judge errs in both directions. graded:
    values are uniform with probability `rate`, else 0; the judge errs by giving 1.
    """
    has_value = rng.random(shape) < rate
    is_wrong = rng.random(shape) >= accuracy
    if kind == "right":
        human = has_value * 1.0
        return human, np.where(is_wrong, 1.0 - human, human), rate
    human = np.where(has_value, rng.random(shape), 0.0)
    return human, np.where(is_wrong, 1.0, human), rate / 2.0


def weights_part(args, repetitions):
    """A row for each kind of values, weights and number of queries.

    z is the standardised logarithm of the weight.
    """
    rng = np.random.default_rng(args.seed)
    kinds = ("normal", "mean + z / 2", "variance up", "variance down", "right")
    for n, weighting, kind in product(
        (20,) if args.tiny else (20, 50, 200), ("zipf", "lognormal", "uniform"), kinds
    ):
        p = (np.arange(n) + 0.5) / n
        weights = {
            "zipf": 1.0 / np.arange(1, n + 1),
            "lognormal": np.exp(stats.norm.ppf(p)),
            "uniform": p,
        }[weighting]
        z = np.log(weights)
        z = ((z - z.mean()) / z.std())[:, np.newaxis]
        noise = rng.normal(size=(n, repetitions))
        mean = np.zeros((n, 1))
        values = noise
        if kind == "mean + z / 2":
            mean = z / 2.0
            values = noise + mean
        elif kind.startswith("variance"):
            values = noise * np.exp((0.4 if kind == "variance up" else -0.4) * z)
        elif kind == "right":  # heavy queries are easier
            mean = expit(1.0 + z)
            values = (rng.random(noise.shape) < mean) * 1.0
        truth = np.average(mean[:, 0], weights=weights)
        found = mean_intervals(values, sample_weight=weights)
        columns = {"values": kind, "weights": weighting, "n": n}
        row = coverage_row(*found.interval.T, truth, **columns)
        yield {**row, "n_effective": float(found.n_effective[0])}


def traffic_part(args, repetitions):
    """A row for each population of 10,000 queries with Zipf's traffic, and sample of n.

    Differences of two rankers: as good in heavy queries as in others, or by .1 worse in
    the ten heaviest, which have 30 % of the traffic. "weighted" are queries drawn
    alike with their traffic as weights, "drawn" those drawn by traffic, without weights.
    "refused" are samples in which nearly all weight is one query's.
    """
    rng = np.random.default_rng(args.seed)
    size = 10_000
    traffic = 1.0 / np.arange(1, size + 1)
    traffic /= traffic.sum()
    for heavy, n in product((0.0, -0.1), (20, 50, 200)):
        d = np.clip(0.02 + 0.2 * rng.normal(size=size), -1.0, 1.0)
        d[:10] += heavy
        truth = traffic @ d
        shape = (n, repetitions)
        chosen = rng.integers(size, size=shape)
        # mean, standard deviation and effective number of each draw
        moments = np.array(
            [
                weighted_moments(d[queries][:, np.newaxis], traffic[queries])
                for queries in chosen.T
            ]
        )[..., 0]
        is_refused = moments[:, 2] < 2.0
        mean, deviation, n_effective = moments[~is_refused].T
        interval, _ = student(mean, deviation / np.sqrt(n_effective), n_effective, 0.95)
        weighted = coverage_row(*interval.T, truth)
        drawn = d[rng.choice(size, p=traffic, size=shape)]
        by_traffic = coverage_row(*mean_intervals(drawn).interval.T, truth)
        yield {
            "ten heaviest": heavy,
            "n": n,
            "refused": float(is_refused.mean()),
            "weighted": weighted["covered"],
            "width, weighted": weighted["width"],
            "drawn": by_traffic["covered"],
            "width, drawn": by_traffic["width"],
        }


# Votes and duels --------------------------------------------------------------------------


def votes_part(args, repetitions, n_voters=200, n_items=8):
    """A row for each gap and method; "width" is high - low."""
    truth = np.arange(1, n_items + 1)
    for gap, method in product((0.5, 0.2, 0.05), ("kemeny", "copeland", "borda")):
        ends = []
        for seed in repeated(range(repetitions), "intervals"):
            rng = np.random.RandomState(seed)
            grades = -gap * np.arange(n_items) + rng.gumbel(size=(n_voters, n_items))
            found = consensus_ranking(
                grades, kind="grades", method=method
            ).rank_intervals(n_resamples=50 if args.tiny else 300, random_state=seed)
            ends.append((found.low, found.high))
        low, high = np.moveaxis(ends, 1, 0)
        yield coverage_row(low, high, truth, gap=gap, method=method)


def random_pairs(rng, r, n):
    first = rng.integers(r, size=n)
    return first, (first + rng.integers(1, r, size=n)) % r


def played(rng, first, second, log_odds, tie=0.0):
    """Columns "winner", "loser" and "tie" under Davidson's model."""
    weights = np.stack(
        [np.exp(log_odds / 2), np.full(len(first), tie), np.exp(-log_odds / 2)]
    )
    drawn = rng.random(len(first)) * weights.sum(axis=0)
    outcome = (drawn > np.cumsum(weights, axis=0)).sum(axis=0)
    winner, loser = np.where(outcome < 2, [first, second], [second, first])
    return {"winner": winner, "loser": loser, "tie": outcome == 1}


def by_name(board, *values):
    """Values of the items in the order of their names."""
    return [np.asarray(v)[np.argsort(board.items)] for v in values]


def strengths_row(boards, truth, what):
    """Coverage of the strengths of mean 0; `truth` is one for each board."""
    intervals = [by_name(board, board.interval())[0] for board in boards]
    low, high = np.moveaxis(intervals, -1, 0)
    truth = truth - truth.mean(axis=-1, keepdims=True)
    return coverage_row(low, high, truth, what=what)


def duels_part(args, repetitions):
    """Strengths under Davidson's model, by prompt, and simultaneous intervals of ranks."""
    rngs = [np.random.default_rng(seed) for seed in range(repetitions)]
    truth = np.array([0.5 * rng.standard_normal(20) for rng in rngs])
    boards = []
    for rng, strengths in zip(rngs, truth, strict=True):
        i, j = random_pairs(rng, 20, 3000)
        boards.append(
            bradley_terry(played(rng, i, j, strengths[i] - strengths[j], tie=0.7))
        )
    yield strengths_row(boards, truth, "strengths, 20 items, 3,000 duels with ties")

    strengths, prompt = np.linspace(-1, 1, 10), np.repeat(np.arange(150), 20)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    odds = (strengths[:, None] - strengths)[..., None] + np.sqrt(2) * nodes
    chance = expit(odds) @ (weights / weights.sum())
    limit = bradley_terry(
        chance * (1 - np.eye(10))
    ).strengths  # of infinitely many prompts
    boards = {"without group": [], "with the prompt as group": []}
    for rng in rngs:
        i, j = random_pairs(rng, 10, len(prompt))
        shifted = strengths + rng.standard_normal((150, 10))
        duels = played(rng, i, j, shifted[prompt, i] - shifted[prompt, j])
        boards["without group"].append(bradley_terry(duels))
        boards["with the prompt as group"].append(bradley_terry(duels, group=prompt))
    for what, found in boards.items():
        yield strengths_row(found, limit, f"strengths by prompt, {what}")

    inside, widths = [], []
    for seed, rng in enumerate(rngs):
        truth, (i, j) = rng.standard_normal(10), random_pairs(rng, 10, 3000)
        board = bradley_terry(played(rng, i, j, truth[i] - truth[j]))
        found = board.rank_intervals(random_state=seed)
        low, high = by_name(board, found.low, found.high)
        ranks = np.argsort(np.argsort(-truth)) + 1
        inside.append(np.all((low <= ranks) & (ranks <= high)))
        widths.append(np.mean(high - low))
    columns = {"covered": float(np.mean(inside)), "width": float(np.mean(widths))}
    yield {"what": "all ranks at once, 10 items, 3,000 duels", **columns}


def chosen_part(args, repetitions):
    """How many of the first ten are found, by the standard deviation of the strengths."""
    seeds = range(min(repetitions, 20))
    n = 60 if args.tiny else 600
    for spread in (3.0, 1.0):
        row = {"standard deviation": spread, "duels": n}
        row["chosen"] = float(
            np.mean([found_of_ten(s, spread, n, chosen=True) for s in seeds])
        )
        drawn = [found_of_ten(s, spread, 2 * n, chosen=False) for s in seeds]
        yield {**row, "random, twice as many": float(np.mean(drawn))}


def found_of_ten(seed, spread, n_duels, *, chosen, r=50, batch=10):
    rng = np.random.default_rng(seed)
    truth = spread * rng.standard_normal(r)
    wins, n_played = np.zeros((r, r)), 0
    i, j = random_pairs(rng, r, batch if chosen else n_duels)
    while True:
        duels = played(rng, i, j, truth[i] - truth[j])
        np.add.at(wins, (duels["winner"], duels["loser"]), 1)
        n_played += len(i)
        board = bradley_terry(wins, half_games=0.5)
        if n_played >= n_duels:
            return len(set(np.argsort(-truth)[:10]) & set(np.argsort(board.ranks)[:10]))
        i, j = np.array(board.next_duels(batch, top=10)).T


PARTS = {
    "bounded": bounded_part,
    "once": once_part,
    "means": means_part,
    "judged": judged_part,
    "few": few_part,
    "weights": weights_part,
    "traffic": traffic_part,
    "votes": votes_part,
    "duels": duels_part,
    "chosen": chosen_part,
}
