"""Seconds of one processor for measures, ids, decoders and one query beside those of their floors.

Each function returns ``(what, seconds, floor seconds, bar)``: the bar is the largest ratio that
is aimed at, None where there is none.
"""

from functools import partial
from time import process_time

import numpy as np
from sklearn.linear_model import Ridge

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank._lists import RankingLists
from lowrank_rank.decoders import decode_pd_borda, decode_pd_dag
from lowrank_rank.metrics import (
    mean_average_precision_score,
    measure_score,
    ndcg_score,
    pairwise_disagreement_loss,
)

from ._common import best_seconds, optional_peer

N_ROWS, TINY = 1_000_000, 10_000


def grades_and_scores(length, n_rows, ties):
    """Grades 0-4 and scores in lists of one length, of which every one has ties if `ties`."""
    rng = np.random.default_rng(0)
    shape = (n_rows // length, length)
    y = rng.choice(5, p=[0.5, 0.25, 0.15, 0.07, 0.03], size=shape).astype(float)
    scores = rng.standard_normal(shape)
    return y, np.floor(3 * scores) if ties else scores


def against_sorting(measure, bar, *, length=100, ties=False, tiny=False, repeats=7):
    """A measure, a name or a function, of 10^6 documents beside the row-wise argsort."""
    name = measure if isinstance(measure, str) else measure.__name__
    measure = partial(measure_score, measure) if isinstance(measure, str) else measure
    y, scores = grades_and_scores(length, TINY if tiny else N_ROWS, ties)
    calls = {"ours": partial(measure, y, scores), "floor": partial(np.argsort, scores, axis=1)}
    seconds = best_seconds(calls, repeats, process_time)
    what = f"{name}, lists of {length}{', tied' if ties else ''}, over argsort"
    return what, seconds["ours"], seconds["floor"], bar


def against_ndcg(*, length=100, tiny=False, repeats=7):
    """Average precision beside NDCG."""
    y, scores = grades_and_scores(length, TINY if tiny else N_ROWS, False)
    calls = {
        "ours": partial(mean_average_precision_score, y, scores),
        "floor": partial(ndcg_score, y, scores),
    }
    seconds = best_seconds(calls, repeats, process_time)
    return f"map, lists of {length}, over ndcg", seconds["ours"], seconds["floor"], 3.0


def dag_over_borda(kind, n_lists, n_items, *, bar=3.0, tiny=False, repeats=5):
    """Algorithm 1 of lists without a cycle beside sorting their net preferences."""
    rng = np.random.default_rng(0)
    n_items = min(n_items, 50) if tiny else n_items
    scores = rng.standard_normal((n_lists, n_items))
    u = np.maximum(scores[:, :, np.newaxis] - scores[:, np.newaxis], 0.0)
    if kind != "differences":
        u = (u > 0) * rng.random(u.shape)
    if kind == "sparse":
        u *= rng.random(u.shape) < 0.3
    calls = {"ours": partial(decode_pd_dag, u), "floor": partial(decode_pd_borda, u)}
    seconds = best_seconds(calls, repeats, process_time)
    what = f"dag, {n_lists} lists of {n_items}, {kind}, over borda"
    return what, seconds["ours"], seconds["floor"], bar


def dag_of_cycles(per, bar, *, tiny=False, repeats=5):
    """Algorithm 1 of random lists of 20, all with cycles: microseconds a list, or over argsort."""
    n_lists = 50 if tiny else 2000
    u = np.random.default_rng(0).standard_normal((n_lists, 20, 20))
    flat = u.reshape(n_lists, -1)
    calls = {
        "ours": partial(decode_pd_dag, u),
        "over a stable argsort": partial(np.argsort, flat, axis=1, kind="stable"),
    }
    seconds = best_seconds(calls, repeats, process_time)
    floor = seconds.get(per, 1e-6 * n_lists)
    return f"dag, {n_lists} random lists of 20, {per}", seconds["ours"], floor, bar


def one_query(method, bar, *, frame=False, tiny=False, repeats=20, n_calls=50):
    """A query of 100 documents with 136 features, beside the prediction of Ridge."""
    pandas = optional_peer("pandas") if frame else None
    if frame and pandas is None:
        return None
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((2000, 136)), rng.integers(5, size=2000), np.arange(2000) // 100
    X = pandas.DataFrame(X, columns=[f"f{i}" for i in range(136)]) if frame else X
    ours, ridge = LowRankSurrogateRanker().fit(X, y, qid=qid), Ridge().fit(X, y)
    ids = {"qid": np.zeros(100)} if method == "rank" else {}
    calls = {
        "ours": partial(getattr(ours, method), X[:100], **ids),
        "floor": partial(ridge.predict, X[:100]),
    }
    many = {
        name: lambda call=call: [call() for _ in range(n_calls)] for name, call in calls.items()
    }
    seconds = best_seconds(many, 1 if tiny else repeats, process_time)
    what = f"{method} of one query{', a data frame' if frame else ''}, over Ridge"
    return what, seconds["ours"], seconds["floor"], bar


def shuffled_ids(kind, n_rows):
    """Ids of lists of 20 rows in random order."""
    code = np.random.default_rng(0).integers(0, max(n_rows // 20, 1), n_rows)
    names = np.array([f"query-{i}" for i in range(code.max() + 1)])
    if kind == "strings":
        return names[code]
    if kind == "objects":
        return names.astype(object)[code]
    if kind == "tuples":
        pairs = np.fromiter((("a", int(i)) for i in code), dtype=object, count=n_rows)
        return pairs
    pandas = optional_peer("pandas")
    return None if pandas is None else pandas.Series(pandas.Categorical(names[code]))


def ids_over_pandas(kind, *, tiny=False, repeats=3):
    """Ids to lists beside pandas' factorize and its stable argsort, or None without pandas."""
    pandas, ids = optional_peer("pandas"), shuffled_ids(kind, TINY if tiny else N_ROWS)
    if pandas is None:
        return None
    calls = {
        "ours": partial(RankingLists.from_qid, ids),
        "floor": lambda: np.argsort(pandas.factorize(ids)[0], kind="stable"),
    }
    seconds = best_seconds(calls, repeats, process_time)
    return f"ids, {kind}, over pandas", seconds["ours"], seconds["floor"], None


#: Rows of the table of limits by name, functions of ``tiny``.
MEASURES = {
    **{f"ndcg {r}": partial(against_sorting, ndcg_score, 4.0, length=r) for r in (20, 100, 1000)},
    **{
        f"ndcg tied {r}": partial(against_sorting, ndcg_score, 6.0, length=r, ties=True)
        for r in (20, 100, 1000)
    },
    **{f"map {r}": partial(against_ndcg, length=r) for r in (20, 100, 1000)},
    **{
        f"kendall {r}": partial(against_sorting, "kendall", bar, length=r)
        for r, bar in ((20, 12.0), (100, 12.0), (200, 12.0), (500, 25.0), (5000, 25.0))
    },
    **{
        f"err {r}": partial(against_sorting, "err", bar, length=r)
        for r, bar in ((20, 6.0), (1000, 3.0))
    },
    "pd 100": partial(against_sorting, pairwise_disagreement_loss, 12.0, length=100),
}
IDS = {f"ids {k}": partial(ids_over_pandas, k) for k in ("strings", "objects", "tuples", "cats")}
DECODERS = {
    f"dag {kind} {n_items}": partial(dag_over_borda, kind, n_lists, n_items)
    for kind in ("differences", "weights", "sparse")
    for n_lists, n_items in ((2000, 20), (1, 1000))
}
DECODERS |= {
    "dag cycles": partial(dag_of_cycles, "microseconds a list", 80.0),
    "dag cycles, argsort": partial(dag_of_cycles, "over a stable argsort", 4.0),
}
QUERIES = {
    "one query, predict": partial(one_query, "predict", 1.6),
    "one query, rank": partial(one_query, "rank", 200 / 71),
    "one query, predict a frame": partial(one_query, "predict", 1.35, frame=True),
}
ROWS = {**MEASURES, **IDS, **DECODERS, **QUERIES}
