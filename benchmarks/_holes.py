"""Runs compared on judgements with holes: warnings, wrong verdicts and power."""

import warnings
from itertools import product
from unittest import mock

import numpy as np
from scipy import stats

from lowrank_rank.evaluation import _judged, compare_judged_runs, compare_runs

from ._common import repeated

N_DOCUMENTS = 60
#: How much more a relevant document scores than others, for the new run; 1 for the old.
SIGNALS = {"new better": 1.25, "equal": 1.0, "old better": 0.8}
POOLS = ("complete", "one-sided", "symmetric", "shared", "2 % lost")

NAMES = [f"d{i}" for i in range(N_DOCUMENTS)]


def holes(rng, repetitions, n_queries):
    """A row for each pool and truth, verdicts of NDCG@10 at the 5 % level."""
    signs = {"new better": 1, "equal": 0, "old better": -1}
    for pool in POOLS:
        # Small differences of the judged fractions show in many queries.
        n = 5 * n_queries if pool == "2 % lost" else n_queries
        for truth, signal in SIGNALS.items():
            verdicts = []
            for _ in repeated(range(repetitions), "holes"):
                relevant, scores = _draw(rng, signal, n)
                qrels, runs = _judge(rng, relevant, scores, pool, depth=10)
                looks = pool != "2 % lost"
                verdicts.append(_verdicts(qrels, runs, "ndcg@10", looks))
            sign = signs[truth]
            row = {"pool": pool, "truth": truth, "queries": n}
            yield row | _summary(verdicts, sign)


def remedies(rng, repetitions, n_queries):
    """A row for each truth with the old run's judgements, after each remedy.

    Condensed lists have no unjudged documents. "40 queries" are judged whole by people
    and drawn at random; alone, or with the old judgements as judge.
    """
    for truth, sign in (("new better", 1), ("old better", -1)):
        verdicts = []
        for _ in repeated(range(repetitions), "holes"):
            relevant, scores = _draw(rng, SIGNALS[truth], n_queries)
            qrels, runs = _judge(rng, relevant, scores, "one-sided", depth=10)
            condensed = {
                name: {
                    q: {d: s for d, s in found.items() if d in qrels[q]}
                    for q, found in run.items()
                }
                for name, run in runs.items()
            }
            chosen = [f"q{i}" for i in range(min(40, n_queries // 2))]
            people = {}
            for place, q in enumerate(chosen):
                grades = relevant[place].tolist()
                people[q] = dict(zip(NAMES, grades, strict=True))
            with_judge = _quietly(compare_judged_runs, people, qrels, runs)
            of_people = _compare(people, runs, "ndcg@10")
            verdicts.append(
                {
                    "condensed": _verdict(_compare(qrels, condensed, "ndcg@10")),
                    "40 queries": _verdict(of_people),
                    "with a judge": _verdict(with_judge),
                }
            )
        row = {"pool": "one-sided, remedies", "truth": truth, "queries": n_queries}
        yield row | _summary(verdicts, sign)


def real(rng, repetitions, grades, scores, qid):
    """Rows of real documents and grades: samples of queries, the top 5 of pools judged.

    The first scores are the better ones.
    """
    ids, place = np.unique(qid, return_inverse=True)
    rows_of = [np.flatnonzero(place == i) for i in range(len(ids))]
    rows_of = [rows for rows in rows_of if len(rows) >= 8]
    for pool in ("complete", "one-sided", "symmetric"):
        for truth, sign, names in (
            ("new better", 1, (0, 1)),
            ("old better", -1, (1, 0)),
        ):
            verdicts = []
            for _ in repeated(range(repetitions), "holes"):
                chosen = rng.permutation(len(rows_of))[:150]
                relevant = []
                found: dict[str, list] = {"new": [], "old": []}
                for i in chosen:
                    rows = rows_of[i]
                    relevant.append(grades[rows])
                    for name, number in zip(found, names, strict=True):
                        found[name].append(scores[number][rows])
                qrels, runs = _judge(rng, relevant, found, pool, depth=5)
                verdicts.append(_verdicts(qrels, runs, "ndcg@5", False))
            row = {"pool": f"{pool}, real", "truth": truth, "queries": 150}
            yield row | _summary(verdicts, sign)


def two_kinds(rng, repetitions):
    """A row for each number of queries and level at which a run is "judged less".

    There are two kinds of relevant documents, such as by words and by meaning, and each
    run finds one; the new run finds more. Only documents of the old run are judged, or
    of a third one that finds what the old run finds. The level is in multiples of that
    of the comparison. "right" verdicts are of pools that do not favour a run.
    """
    levels = (1.0, 2.0, 3.0, 6.0, 12.0)
    for n in (8, 15, 30):
        drawn = []
        for noise, pool in product((0.0, 0.8, 1.2), ("old", "third")):
            for _ in repeated(range(repetitions), "holes"):
                drawn.append((1, _of_two_kinds(rng, noise, pool, n)))
        n_adverse = len(drawn)
        for truth, sign in (("new better", 1), ("old better", -1)):
            for pool in ("symmetric", "shared"):
                for _ in repeated(range(repetitions), "holes"):
                    relevant, scores = _draw(rng, SIGNALS[truth], n)
                    given = _judge(rng, relevant, scores, pool, depth=10)
                    drawn.append((sign, given))
        signs = np.array([sign for sign, _ in drawn])
        for level in levels:
            with mock.patch.object(_judged, "JUDGED_LESS", level):
                verdicts = np.array(
                    [_verdict(_compare(*given, "ndcg@10")) for _, given in drawn]
                )
            adverse = verdicts[:n_adverse]
            fair = verdicts[n_adverse:] == signs[n_adverse:]
            yield {
                "pool": "two kinds",
                "queries": n,
                "level": level,
                "draws": n_adverse,
                "wrong": int(np.sum(adverse == -1)),
                "no verdict": int(np.isnan(adverse).sum()),
                "draws of fair pools": len(fair),
                "right": int(fair.sum()),
            }


def six_systems(rng, repetitions, n_queries):
    """A row for each number of queries that are judged whole, drawn at random.

    Three systems find documents by words, and three better ones by meaning. "tau" is
    Kendall's correlation of the means with those of all documents judged, "tau, judge"
    with the judgements of one of the first three as the judge; 0 queries have these
    alone. "wrong" counts pairs with a wrong verdict.
    """
    sizes = [n for n in (0, 10, 20, 40) if n < n_queries]
    found: dict[tuple, list] = {}
    for _ in repeated(range(repetitions), "holes"):
        qrels, pool, runs = _of_six(rng, n_queries)
        truth = _compare(qrels, runs, "ndcg@10").mean
        for n in sizes:
            people = {q: qrels[q] for q in list(qrels)[:n]}
            if n:
                alone = _compare(people, runs, "ndcg@10")
                judged = _quietly(compare_judged_runs, people, pool, runs)
            else:
                alone = judged = _compare(pool, runs, "ndcg@10")
            for name, one in (("", alone), (", judge", judged)):
                first, second = np.transpose(one.pairs)
                is_wrong = np.sign(one.difference) != np.sign(
                    truth[first] - truth[second]
                )
                n_wrong = int(np.sum(is_wrong & (one.p_value <= 0.05)))
                found.setdefault((n, f"tau{name}"), []).append(
                    stats.kendalltau(one.mean, truth).statistic
                )
                found.setdefault((n, f"wrong{name}"), []).append(n_wrong)
    for n in sizes:
        row = {"pool": "six systems", "queries": n, "draws": repetitions}
        for name in ("tau", "tau, judge"):
            row[name] = float(np.mean(found[n, name]))
        for name in ("wrong", "wrong, judge"):
            row[name] = int(np.sum(found[n, name]))
        yield row


def _of_six(rng, n_queries):
    """Make whole judgements, those of the first documents of one run, and six runs."""
    shape = (n_queries, N_DOCUMENTS)
    relevant = (rng.random(shape) < 0.13) * 1.0
    relevant[:, 0] = 1.0
    of_words = relevant * (rng.random(shape) < 0.5)
    shared = 0.5 * rng.normal(size=shape)
    scores = {}
    for kind, found, strengths in (
        ("words", of_words, (1.0, 1.4, 1.8)),
        ("meaning", relevant - of_words, (1.6, 2.2, 2.8)),
    ):
        for strength in strengths:
            noise = shared + 0.7 * rng.normal(size=shape)
            scores[f"{kind} {strength}"] = strength * found + noise
    qrels = {}
    pool = {}
    runs: dict[str, dict] = {name: {} for name in scores}
    for q in range(n_queries):
        grades = dict(zip(NAMES, relevant[q].tolist(), strict=True))
        qrels[f"q{q}"] = grades
        for name, run in runs.items():
            best_first = np.argsort(-scores[name][q])[:30]
            run[f"q{q}"] = {NAMES[i]: float(scores[name][q, i]) for i in best_first}
        pool[f"q{q}"] = {d: grades[d] for d in list(runs["words 1.4"][f"q{q}"])[:10]}
    return qrels, pool, runs


def _of_two_kinds(rng, noise, pool, n_queries):
    """Make judgements of a pool, and runs that each find one kind of documents."""
    shape = (n_queries, N_DOCUMENTS)
    relevant = (rng.random(shape) < 0.13) * 1.0
    relevant[:, 0] = 1.0
    of_words = relevant * (rng.random(shape) < 0.5)
    of_meaning = relevant - of_words
    shared = noise * rng.normal(size=shape)
    signals = {"old": of_words, "new": 1.6 * of_meaning, "third": of_words}
    scores = {
        name: signal + shared + 0.7 * rng.normal(size=shape)
        for name, signal in signals.items()
    }
    qrels = {}
    runs: dict[str, dict] = {"new": {}, "old": {}}
    for q in range(n_queries):
        judged = np.argsort(-scores[pool][q])[:10]
        qrels[f"q{q}"] = {NAMES[i]: float(relevant[q, i]) for i in judged}
        for name, run in runs.items():
            best_first = np.argsort(-scores[name][q])[:40]
            run[f"q{q}"] = {NAMES[i]: float(scores[name][q, i]) for i in best_first}
    return qrels, runs


def _draw(rng, signal, n_queries):
    """Relevant documents of each query, and scores of systems that share some noise."""
    shape = (n_queries, N_DOCUMENTS)
    relevant = (rng.random(shape) < 0.13) * 1.0
    relevant[:, 0] = 1.0
    hard = rng.normal(size=shape)
    scores = {}
    for name in ("new", "old", "third", "fourth"):
        strength = signal if name == "new" else 1.0
        scores[name] = strength * relevant + 0.6 * hard + 0.8 * rng.normal(size=shape)
    return relevant, scores


def _judge(rng, relevant, scores, pool, depth):
    """Make judgements of a pool, and the runs of the new and of the old system."""
    pooled = {
        "one-sided": ("old",),
        "shared": ("third", "fourth"),
    }.get(pool, ("new", "old"))
    qrels = {}
    runs: dict[str, dict] = {"new": {}, "old": {}}
    for q, grades in enumerate(relevant):
        tops = {name: np.argsort(-scores[name][q]).tolist() for name in scores}
        judged = dict.fromkeys(i for name in pooled for i in tops[name][:depth])
        if pool == "symmetric":
            judged = [i for i in judged if rng.random() < 0.5]
        if pool == "2 % lost":
            old = tops["old"][:depth]
            judged = [i for i in judged if i in old or rng.random() >= 0.02]
        qrels[f"q{q}"] = {NAMES[i]: float(grades[i]) for i in judged}
        for name, run in runs.items():
            run[f"q{q}"] = {NAMES[i]: float(scores[name][q][i]) for i in tops[name]}
    return qrels, runs


def _verdicts(qrels, runs, measure, looks):
    """Verdicts 1, 0 and -1 for new; nan for a pair without a verdict."""
    found = _compare(qrels, runs, measure)
    d = found.differences[:, 0]
    error = d.std(ddof=1) / np.sqrt(len(d))
    is_clear = abs(d.mean()) > 1.98 * error
    verdicts = {"unwarned t": np.sign(d.mean()) * is_clear, "once": _verdict(found)}
    if not looks:
        return verdicts
    for name, anytime in (("looks", False), ("anytime", True)):
        verdict = 0.0
        for n in np.linspace(20, len(qrels), 5).astype(int):
            part = {q: qrels[q] for q in list(qrels)[:n]}
            seen = {
                name: {q: run[q] for q in list(run)[:n]} for name, run in runs.items()
            }
            found = _compare(part, seen, measure)
            if anytime:
                found = _quietly(found.at_every_look)
            verdict = _verdict(found)
            if np.abs(verdict) == 1.0:
                break
        verdicts[name] = verdict
    return verdicts


def _compare(qrels, runs, measure):
    return _quietly(compare_runs, qrels, runs, measure=measure, zero_division=0.0)


def _quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


def _verdict(found):
    if np.isnan(found.p_value[0]):
        return np.nan
    return float(np.sign(found.difference[0]) * (found.p_value[0] <= 0.05))


def _summary(verdicts, sign):
    """Fractions of draws: warned, and wrong and right verdicts of each way to look."""
    row = {}
    for name in verdicts[0]:
        values = np.array([one[name] for one in verdicts])
        if name == "once":
            row["warned"] = float(np.isnan(values).mean())
        is_verdict = np.abs(values) == 1.0
        row[f"wrong, {name}"] = float(np.mean(is_verdict & (values != sign)))
        if sign:
            row[f"right, {name}"] = float(np.mean(values == sign))
    return row
