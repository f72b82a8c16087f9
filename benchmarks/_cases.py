"""The cases of `limits`: data, ours, peer, floor, and the largest ratio to the peer.

Data are a function of the scale of the rows and return the arguments of the calls. A peer of a
library that may be missing is a pair: its module, and a function of the module and of the data.
A peer of this package is such a pair too, so that the table names it. SIZES has what grows with
the number of items or with the length of lists.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import stdtr, stdtrit
from scipy.stats import rankdata, ttest_rel
from sklearn import metrics as sklearn_metrics
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.datasets import dump_run, iter_lists, load_letor, load_qrels, load_run
from lowrank_rank.decoders import (
    decode_pd_dag,
)
from lowrank_rank.decoders._average_precision import (
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from lowrank_rank.decoders.feedback_arcs._decoders import (
    decode_pd_borda,
    decode_pd_local_search,
)
from lowrank_rank.evaluation import compare_rankers, compare_values, evaluate_run
from lowrank_rank.metrics import measure_score, ndcg_score
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
)
from lowrank_rank.votes import bradley_terry, consensus_ranking

from .decoders import surrogate_vectors


class Case(NamedTuple):
    """A row of the table."""

    group: str
    data: Callable
    ours: Callable
    peer: Any = None
    bar: float | None = None
    floor: Callable | None = None


def size_of(data):
    """Bytes of arrays and files, in tuples too."""
    if isinstance(data, tuple | list):
        return sum(map(size_of, data))
    if sparse.issparse(data):
        return data.data.nbytes + data.indices.nbytes + data.indptr.nbytes
    if isinstance(data, Path):
        return data.stat().st_size
    return data.nbytes if isinstance(data, np.ndarray) else 0


def of(n, scale, unit=1):
    """A number of rows at this scale, whole units, 20 of them at least."""
    return max(int(n * scale) // unit, 20) * unit


# Data -------------------------------------------------------------------------------------


def documents(n, p, scale, length=20, dtype=np.float64, order="C"):
    """Normal features, grades 0 to 4 with noise, and ids of lists of one length."""
    rng, n = np.random.default_rng(0), of(n, scale, length)
    X = rng.standard_normal((n, p), dtype=dtype)
    score = X[:, :5].sum(axis=1) + 3.0 * rng.standard_normal(n)
    y = np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9, 0.97])).astype(float)
    return np.asarray(X, order=order), y, np.repeat(np.arange(n // length), length)


def lists_of_many_lengths(n, p, scale):
    """The same in lists of 10 to 200 rows."""
    X, y, _ = documents(n, p, scale)
    ends = np.cumsum(np.random.default_rng(1).integers(10, 201, len(y)))
    return X, y, np.searchsorted(ends, np.arange(len(y)), side="right")


def blocks(dtype, mapped, scale):
    """Blocks of 100,000 rows, and the folder of the memory map."""
    X, y, qid = documents(400_000, 136, scale, length=100, dtype=dtype)
    folder = tempfile.TemporaryDirectory()
    if mapped:
        np.save(Path(folder.name) / "X.npy", X)
        X = np.load(Path(folder.name) / "X.npy", mmap_mode="r")
    starts = range(0, len(y), 100_000)
    return [tuple(a[i : i + 100_000] for a in (X, y, qid)) for i in starts], folder


def sparse_documents(n, p, scale):
    X = sparse.random(of(n, scale, 20), p, density=0.005, format="csr", random_state=0)
    return X, np.arange(X.shape[0]) % 3, np.arange(X.shape[0]) // 20


def items(n, p, r, scale):
    """Features and 0 or 1 for each item, one of them at least."""
    rng, n = np.random.default_rng(0), of(n, scale)
    X = rng.standard_normal((n, p))
    z = X @ rng.standard_normal((p, r)) / 3.0 - 1.5
    Y = (rng.random((n, r)) < 1.0 / (1.0 + np.exp(-z))).astype(float)
    Y[np.arange(n), z.argmax(axis=1)] = 1.0
    return X, Y


def orders(n, p, r, scale):
    """Features, ranks of r items with noise, and the sign of the difference of each pair."""
    X, Y = items(n, p, r, scale)
    y = (Y + np.random.default_rng(1).random(Y.shape)).argsort(axis=1).argsort(
        axis=1
    ) * 1.0
    i, j = np.triu_indices(r, 1)
    return X, y, np.sign(y[:, i] - y[:, j])


def classes(n, p, r, scale, kind="dense"):
    X, Y = items(n, p, r, scale)
    y = (Y + np.random.default_rng(1).random(Y.shape)).argmax(axis=1)
    return (sparse.csr_matrix(np.where(X > 1.0, X, 0.0)) if kind == "sparse" else X), y


def rare(n, p, share, scale):
    """Two classes, few positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((of(n, scale, 10), p))
    score = X[:, :5].sum(axis=1) + rng.standard_normal(len(X))
    return X, (score > np.quantile(score, 1.0 - share)).astype(int)


def gaps(scale):
    """50 items; a third of the rows lacks the labels of 20 items."""
    X, y, _ = documents(20_000, 50, scale)
    known = np.repeat(y[:, np.newaxis], 50, axis=1)
    y = known.copy()
    y[: len(y) // 3, :20] = np.nan
    return X, y, known


def grades(length, scale, n=1_000_000, ties=False):
    """Grades and scores in lists of one length."""
    rng, shape = np.random.default_rng(0), (of(n, scale, length) // length, length)
    y = rng.choice(5, p=[0.5, 0.25, 0.15, 0.07, 0.03], size=shape).astype(float)
    scores = rng.standard_normal(shape)
    return y, np.floor(3 * scores) if ties else scores


def shuffled(kind, scale):
    """Grades and scores of rows in random order, with ids."""
    y, scores = (part.ravel() for part in grades(20, scale))
    qid = np.random.default_rng(0).permutation(np.arange(len(y)) // 20)
    return (
        y,
        scores,
        np.char.add("query-", qid.astype(str)) if kind == "strings" else qid,
    )


def runs(scale, n_documents=100):
    """The same as a run and qrels, dictionaries of dictionaries."""
    y, scores = grades(n_documents, scale, n=100_000)
    names = [f"d{j:06d}" for j in range(n_documents)]

    def named(matrix, kind):
        rows = enumerate(matrix.tolist())
        return {
            f"q{i}": dict(zip(names, map(kind, row), strict=True)) for i, row in rows
        }

    return named(scores, float), named(y, int)


def trec_files(scale):
    """Paths of a run and of qrels; the folder lives as long as the data."""
    folder = tempfile.TemporaryDirectory()
    run, qrels = runs(scale)
    path = Path(folder.name) / "run.txt"
    dump_run(run, path)
    judged = Path(folder.name) / "qrels.txt"
    lines = (
        f"{q} 0 {d} {grade}\n" for q, of_q in qrels.items() for d, grade in of_q.items()
    )
    judged.write_text("".join(lines))
    return path, judged, folder


def letor_file(scale):
    """LETOR lines of 136 features, numbers of up to six digits, a third of them 0."""
    folder, rng = tempfile.TemporaryDirectory(), np.random.default_rng(0)
    path = Path(folder.name) / "log.txt"
    X = rng.random((of(10_000, scale, 100), 136)) * 10.0 ** rng.integers(0, 4, 136)
    X[:, ::3] *= rng.random(X[:, ::3].shape) < 0.5
    lines = (
        f"{i % 5} qid:{i // 100} "
        + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(row, start=1))
        for i, row in enumerate(X.tolist())
    )
    path.write_text("\n".join(lines) + "\n")
    return path, folder


def preferences(n, r, scale, kind="normal"):
    """Preferences between items: normal, with cycles; or differences of scores, without."""
    rng, n = np.random.default_rng(0), max(int(n * scale), 1)
    if kind == "normal":
        return (rng.standard_normal((n, r, r)),)
    scores = rng.standard_normal((n, r))
    return (np.maximum(scores[:, :, np.newaxis] - scores[:, np.newaxis], 0.0),)


def map_vectors(n, r, scale):
    return surrogate_vectors(np.random.default_rng(0), max(int(n * scale), 1), r), r


def latency_of_a_row(r, model, scale):
    """`rank` of a row of r items and of 100 rows, as functions of one row, and the row."""
    X, Y = items(500, 10, r, 1.0)
    model.fit(X, Y)
    return model.rank, lambda _: model.rank(X[:100]), X[:1]


def latency_of_a_query(model, frame, scale):
    """`rank` of 100 documents of one query, its least work, and the query."""
    X, y, qid = documents(8_000, 50, 1.0, length=40)
    X = pd.DataFrame(X).rename(columns=str) if frame else X
    model = clone(model).fit(X, y, qid=qid)
    least = (
        model.estimator_.predict
        if hasattr(model, "estimator_")
        else Ridge().fit(X, y).predict
    )
    return partial(model.rank, one_list=True), least, X[:100]


def latency_of_a_stack(frame, scale):
    """`rank` of 100 documents by the three default parts, by two of them, and the query."""
    X, y, qid = documents(8_000, 50, 1.0, length=40)
    X = pd.DataFrame(X).rename(columns=str) if frame else X
    calls = []
    for share in (1.0, 0.0):
        weights = {"linear": 1.0, "trees": 1.0, "forest": share}
        model = StackingRanker(weights=weights).fit(X, y, qid=qid)
        calls.append(partial(model.rank, one_list=True))
    return *calls, X[:100]


def prediction_of_a_frame(model, peer, scale):
    """`predict` of 100 documents as a frame, that of a peer, and the frame.

    The peer of a stack, None, is the sum of the predictions of its parts.
    """
    X, y, qid = documents(8_000, 50, scale, length=40)
    X = pd.DataFrame(X).rename(columns=str)
    model = clone(model).fit(X, y, qid=qid)
    if peer is not None:
        return model.predict, peer.fit(X, y).predict, X[:100]
    parts = model.named_estimators_.values()
    return model.predict, lambda X: [part.predict(X) for part in parts], X[:100]


def score_of_rows(n, is_frame, scale):
    """`score` of n documents, as a function of the rows and their labels, and Ridge's."""
    X, y, qid = documents(8_000, 50, max(scale, 0.25), length=20)
    X = pd.DataFrame(X).rename(columns=str) if is_frame else X
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    ridge = Ridge().fit(X, y)
    qid = qid[:n]
    return partial(model.score, qid=qid), ridge.score, X[:n], y[:n]


def table_of_systems(n_systems, scale):
    """Values of systems on 3,000 tasks, which share what makes a task hard."""
    rng, n = np.random.default_rng(0), of(3_000, scale)
    values = rng.random((n, n_systems)) + rng.random((n, 1))
    return (pd.DataFrame(values).rename(columns=str),)


def ballots(r, scale):
    """Grades of r items on 100 complete ballots."""
    n = of(100, scale)
    return (
        np.random.default_rng(0).permuted(
            np.tile(np.arange(1.0, r + 1), (n, 1)), axis=1
        ),
    )


def alternating_files(kind, scale):
    """Paths of a TREC file and of the same lines in another layout.

    run, qrels: neighbouring lines belong to different queries. blank: each line has an
    empty line and a comment above it.
    """
    run, qrels, folder = trec_files(scale)
    path = qrels if kind == "qrels" else run
    lines = path.read_text().splitlines(keepends=True)
    if kind == "blank":
        changed = [f"\n# line {i}\n{line}" for i, line in enumerate(lines)]
    else:
        length = 100  # documents of a query in `runs`
        changed = [line for i in range(length) for line in lines[i::length]]
    other = Path(folder.name) / "other.txt"
    other.write_text("".join(changed))
    return other, path, folder


def duels(n, r, scale):
    """Pairs (winner, loser)."""
    rng, n = np.random.default_rng(0), of(n, scale, 100)
    r = min(r, n // 50)
    strengths, first = rng.standard_normal(r), rng.integers(r, size=n)
    second = (first + rng.integers(1, r, size=n)) % r
    won = rng.random(n) < 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
    return (np.where(won, [first, second], [second, first]).T,)


# Calls ------------------------------------------------------------------------------------


def t_tests_of_pairs(_, table):
    """Student's intervals and p values of all pairs, from one covariance matrix."""
    values = table.to_numpy()
    n, n_systems = values.shape
    a, b = np.triu_indices(n_systems, 1)
    covariance = np.cov(values.T)
    of_system = np.diag(covariance)
    variance = of_system[a] + of_system[b] - 2.0 * covariance[a, b]
    means = values.mean(axis=0)
    difference = means[a] - means[b]
    error = np.sqrt(variance / n)
    half_width = stdtrit(n - 1, 0.975) * error
    p_value = 2.0 * stdtr(n - 1, -np.abs(difference) / error)
    return difference - half_width, difference + half_width, p_value


def mean_ranks(_, grades):
    """Order the items by their mean ranks, each ballot sorted by SciPy."""
    return np.argsort(rankdata(-grades, axis=1).mean(axis=0))


BORDA = partial(consensus_ranking, kind="grades", method="borda")
COPELAND = partial(consensus_ranking, kind="grades", method="copeland")


def lists(model):
    """A fit to rows with ids."""
    return lambda X, y, qid: model.fit(X, y, qid=qid)


def rows(model):
    """A fit to rows alone."""
    return lambda X, y, *_: model.fit(X, y)


def moments(X, *_):
    return X.T @ X


def argsort(y, scores, *_):
    return np.argsort(scores, axis=-1)


def ridge_of_pairs(X, y, signs):
    return Ridge().fit(X, signs)


def lgbm(library, X, y, qid, objective="lambdarank", n_trees=100):
    """LGBMRanker with the gains of the measure."""
    settings = {
        "n_estimators": n_trees,
        "label_gain": list(range(5)),
        "verbose": -1,
        "n_jobs": 1,
    }
    ranker = library.LGBMRanker(objective=objective, num_leaves=31, **settings)
    return ranker.fit(X, y.astype(int), group=np.bincount(qid)[np.bincount(qid) > 0])


def trees(loss="lambdarank"):
    shape = {"max_iter": 100, "max_leaf_nodes": 31, "random_state": 0}
    return lists(HistGradientBoostingRanker(loss=loss, **shape))


def moments_of(blocks, _):
    return [X.T @ X for X, _, _ in blocks]


def sort_pairs(u):
    return np.argsort(u.reshape(len(u), -1), kind="stable")


def subset_sums(u, r):
    return u[:, 0].repeat(2**r).cumsum()


def words(path, *_):
    return path.read_bytes().split()


def choix(library, pairs):
    return library.lsr_pairwise(1 + pairs.max(), pairs)


def count_pairs(pairs):
    """Number of duels of each pair."""
    codes = pairs[:, 0] * (1 + pairs.max()) + pairs[:, 1]
    return np.unique(codes, return_counts=True)


def own(call):
    """A peer of this package, named as such."""
    return "lowrank_rank", lambda _, *data: call(*data)


def catboost(library, X, y, qid, n_trees=400):
    """YetiRank with as many trees of as many leaves as our default."""
    ranker = library.CatBoostRanker(
        loss_function="YetiRank",
        iterations=n_trees,
        depth=5,
        learning_rate=0.1,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    return ranker.fit(X, y, group_id=qid)


def default_trees():
    return lists(HistGradientBoostingRanker(random_state=0))


def default_stack():
    return lists(StackingRanker())


def read_other(reader, path, *_):
    return reader(path)


def read_plain(reader, _, path, *__):
    return reader(path)


def own_objective(X, y, qid):
    import lightgbm

    return lgbm(lightgbm, X, y, qid, boosting_objective("cross_entropy"))


def trec_eval(library, run, qrels):
    return library.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)


def ranx(library, run, qrels):
    return library.evaluate(library.Qrels(qrels), library.Run(run), "ndcg@10")


def read_table(path, *_):
    return pd.read_csv(path, sep=" ", header=None, dtype={0: str, 2: str})


def read_qrels(run, path, *_):
    return read_table(path)


def read_all(path, *_, **options):
    return sum(len(y) for _, y, _ in iter_lists(path, **options))


def two_rankers(y, scores):
    return compare_rankers(
        y, {"a": scores, "b": np.roll(scores, 1, axis=1)}, measure="ndcg@10"
    )


def t_test(y, scores):
    return ttest_rel(
        *(ndcg_score(y, s, k=10, average=None) for s in (scores, scores[:, ::-1]))
    )


def blocks_of(model):
    """A fit to blocks."""
    return lambda blocks, _: model.fit_blocks(blocks)


def without_unknown(X, y, known):
    return GAPS.fit(X, known)


def svmlight(path, *_):
    return load_svmlight_file(str(path), query_id=True)


def evaluated(run, qrels):
    return evaluate_run(run=run, qrels=qrels, measure="ndcg_cut_10")


def sklearn_ndcg(y, scores):
    return sklearn_metrics.ndcg_score(y, scores, k=10, ignore_ties=True)


def first(ours, peer, X):
    return ours(X)


def second(ours, peer, X):
    return peer(X)


def scores_of(ours, peer, X):
    return X @ ours.__self__.coef_.T


def votes(scale):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(of(100, scale), 200)) - np.arange(200) / 20.0,)


# The table --------------------------------------------------------------------------------


def surrogate(name):
    return lists(OrderPreservingRegressor(surrogate=name))


def low_rank(**options):
    return LowRankSurrogateRanker(**options)


ENTROPY, RIDGE = surrogate("cross_entropy"), rows(Ridge())
LOGISTIC = LogisticRegression(max_iter=1000)
ONE_VS_REST = rows(OneVsRestClassifier(LogisticRegression()))
TUNED = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1")
GAPS = low_rank(target_loss="dcg", estimator="ridge")
BY_PAIRS = PairwiseDAGRanker(estimator="ridge", alpha=0.1)
TOP = PrecisionAtKPerceptron(random_state=0)
SEARCH = partial(decode_pd_local_search, n_restarts=20)
ONE_PASS = HistGradientBoostingRegressor(max_iter=100, early_stopping=False)
large, small = partial(documents, 100_000, 136), partial(documents, 10_000, 50)
one_row_each, tied = (
    partial(documents, 1_000_000, 20, length=1),
    partial(grades, 100, ties=True),
)
many_lengths = partial(partial, lists_of_many_lengths)
cycles, acyclic = (
    partial(partial, preferences),
    partial(partial, preferences, kind="differences"),
)

#: By group and name: data, ours, peer, bar of the peer, floor.
TABLE: dict[str, dict[str, tuple]] = {
    "documents": {
        "documents": (large, lists(low_rank()), RIDGE, 1.5, moments),
        "documents 10,000": (small, lists(low_rank()), RIDGE, 4.0, moments),
        "float32": (
            partial(large, dtype=np.float32),
            lists(low_rank()),
            RIDGE,
            None,
            moments,
        ),
        "Fortran order": (
            partial(large, order="F"),
            lists(low_rank()),
            RIDGE,
            None,
            moments,
        ),
        "sparse": (partial(sparse_documents, 20_000, 4_000), lists(low_rank()), RIDGE),
        "cross-entropy": (large, ENTROPY, RIDGE, 5.0, moments),
        "squared pairs": (large, surrogate("pairwise_squared"), RIDGE, 2.0, moments),
        "hinge of pairs": (large, surrogate("pairwise_squared_hinge"), own(ENTROPY)),
        "lists of one row": (one_row_each, ENTROPY, RIDGE, 2.5, moments),
        "pairs of documents": (
            large,
            lists(PairwiseDAGRanker(alpha=0.1)),
            own(lists(low_rank(target_loss="pd", alpha=0.1))),
            1.2,
        ),
        "wide documents": (
            partial(documents, 5_000, 2_000),
            lists(low_rank()),
            own(lambda *data: low_rank().fit_blocks([data])),
            0.3,
        ),
    },
    "blocks": {
        **{
            f"blocks {name}": (
                partial(blocks, *kind),
                blocks_of(low_rank()),
                None,
                None,
                moments_of,
            )
            for name, kind in {
                "float64": (np.float64, False),
                "float32": (np.float32, False),
                "mapped": (np.float32, True),
            }.items()
        },
        "blocks cross-entropy": (
            partial(blocks, np.float64, False),
            blocks_of(OrderPreservingRegressor()),
            own(blocks_of(low_rank())),
            None,
            moments_of,
        ),
    },
    "trees": {
        "trees": (partial(documents, 40_000, 50), trees(), ("lightgbm", lgbm), 1.4),
        "trees, many lengths": (
            many_lengths(40_000, 50),
            trees(),
            ("lightgbm", lgbm),
            1.8,
        ),
        "trees, 200,000 rows": (
            many_lengths(200_000, 50),
            trees(),
            ("lightgbm", lgbm),
            1.8,
        ),
        "trees, squares": (
            partial(documents, 40_000, 50),
            trees("pairwise_squared"),
            rows(ONE_PASS),
        ),
        "trees, default": (
            partial(documents, 40_000, 50),
            default_trees(),
            ("lightgbm", partial(lgbm, n_trees=400)),
            1.4,
        ),
        "trees, default, CatBoost": (
            partial(documents, 40_000, 50),
            default_trees(),
            ("catboost", catboost),
            1.0,
        ),
        **{
            f"stack, default, {n:,}": (
                partial(documents, n, 50),
                default_stack(),
                own(default_trees()),
                3.0,
            )
            for n in (500, 2_000, 10_000, 40_000)
        },
        "objective": (
            partial(documents, 18_000, 42, length=60),
            own_objective,
            ("lightgbm", lgbm),
            1.5,
        ),
    },
    "items": {
        **{
            f"items ndcg {r}": (
                partial(items, 5_000, 50, r),
                rows(low_rank(target_loss="ndcg")),
                ONE_VS_REST,
                1.2,
            )
            for r in (5, 20, 100)
        },
        **{
            f"pairs of {r}": (
                partial(orders, 2_000, 30, r),
                rows(PairwiseDAGRanker()),
                ridge_of_pairs,
                12.0,
                moments,
            )
            for r in (5, 10, 20, 40)
        },
        "pairs, ridge": (
            partial(orders, 20_000, 50, 50),
            rows(BY_PAIRS),
            ridge_of_pairs,
            2.0,
        ),
        "gaps in y": (gaps, rows(GAPS), own(without_unknown), 3.0),
        **{
            f"items map {r}": (
                partial(items, 1_000, 20, r),
                rows(low_rank(target_loss="map")),
                own(rows(low_rank(target_loss="ndcg"))),
                bar,
            )
            for r, bar in ((10, 2.0), (50, 20.0), (100, 60.0))
        },
    },
    "classes": {
        **{
            f"classes {r}": (
                partial(classes, 5_000, 50, r),
                rows(LowRankSurrogateClassifier()),
                rows(LOGISTIC),
                2.5,
            )
            for r in (2, 5, 20)
        },
        "classes, sparse": (
            partial(classes, 5_000, 50, 5, kind="sparse"),
            rows(LowRankSurrogateClassifier()),
            rows(LOGISTIC),
            2.5,
        ),
        "sets of labels": (
            partial(items, 2_000, 50, 20),
            rows(LowRankSurrogateMultilabelClassifier()),
            ONE_VS_REST,
        ),
        "top": (partial(rare, 20_000, 50, 0.05), rows(TOP), rows(LOGISTIC), 4.0),
    },
    "hinges": {
        **{
            f"f1 {n:,}": (
                partial(rare, n, 20, 0.2),
                rows(StructuredHingeBinaryClassifier()),
                rows(LinearSVC()),
                12.0,
                moments,
            )
            for n in (1_000, 4_000)
        },
        "f1, tuned": (
            partial(rare, 10_000, 50, 0.2),
            rows(StructuredHingeBinaryClassifier()),
            rows(TUNED),
            1.0,
        ),
        "kendall hinge": (small, lists(StructuredHingeRanker()), RIDGE, 18.0),
        "ndcg@10 hinge": (
            small,
            lists(StructuredHingeRanker(target_loss="ndcg@10")),
            RIDGE,
            150.0,
        ),
        "hinge of items": (
            partial(orders, 1_000, 20, 20),
            rows(StructuredHingeRanker()),
            RIDGE,
            55.0,
        ),
        **{
            f"hinge of {r} classes": (
                partial(classes, 5_000, 50, r),
                rows(StructuredHingeClassifier()),
                rows(LOGISTIC),
                2.0,
            )
            for r in (5, 20)
        },
    },
    "small fits": {
        f"small {name}": (small_data, fit, rows(Ridge()), None, moments)
        for name, small_data, fit in (
            ("documents", partial(documents, 2_000, 20), lists(low_rank())),
            ("items", partial(items, 300, 10, 10), rows(low_rank())),
            (
                "items, map",
                partial(items, 300, 10, 10),
                rows(low_rank(target_loss="map")),
            ),
            ("hinge", partial(documents, 2_000, 20), lists(StructuredHingeRanker())),
        )
    },
    "measures": {
        **{
            f"ndcg {r}": (
                partial(grades, r),
                ndcg_score,
                sklearn_metrics.ndcg_score,
                0.1,
                argsort,
            )
            for r in (20, 100, 1000)
        },
        "ndcg, tied": (tied, ndcg_score, sklearn_metrics.ndcg_score, 0.1, argsort),
        "ndcg@10": (
            partial(grades, 100),
            partial(ndcg_score, k=10),
            sklearn_ndcg,
            1.0,
            argsort,
        ),
        **{
            name: (
                partial(grades, 100),
                partial(measure_score, name),
                own(ndcg_score),
                None,
                argsort,
            )
            for name in ("map", "kendall", "err", "pd")
        },
        **{
            f"ndcg, {kind}": (
                partial(shuffled, kind),
                lambda y, scores, qid: ndcg_score(y, scores, qid=qid),
                lambda y, scores, qid: np.argsort(pd.factorize(qid)[0], kind="stable"),
                None,
                lambda y, scores, qid: np.argsort(scores),
            )
            for kind in ("integers", "strings")
        },
        "run, pytrec_eval": (runs, evaluated, ("pytrec_eval", trec_eval), 2.0),
        "run, ranx": (runs, evaluated, ("ranx", ranx), 1.0),
        **{
            f"compare {n:,}": (partial(grades, 10, n=10 * n), two_rankers, own(t_test))
            for n in (1_000, 10_000, 100_000)
        },
    },
    "decoders": {
        "dag, cycles": (
            cycles(2_000, 20),
            decode_pd_dag,
            own(decode_pd_borda),
            None,
            sort_pairs,
        ),
        "dag": (
            acyclic(2_000, 20),
            decode_pd_dag,
            own(decode_pd_borda),
            3.0,
            sort_pairs,
        ),
        "dag, 1,000 items": (
            acyclic(1, 1_000),
            decode_pd_dag,
            own(decode_pd_borda),
            3.0,
            sort_pairs,
        ),
        **{
            f"local search {r}": (cycles(1, r), SEARCH, own(decode_pd_dag))
            for r in (20, 40)
        },
        **{
            f"map exact {r}": (
                partial(map_vectors, 20, r),
                decode_map_exact,
                own(decode_map_local_search),
                4.0 if r == 12 else None,
                subset_sums,
            )
            for r in (10, 12, 14, 16, 18)
        },
        **{
            f"map local search {r}": (
                partial(map_vectors, 20, r),
                decode_map_local_search,
                own(decode_map_diagonal),
                None,
                lambda u, _: u.sum(axis=1),
            )
            for r in (13, 19, 50, 100, 200)
        },
    },
    "latency": {
        **{
            f"a query, {name}": (
                partial(latency_of_a_query, model, frame),
                first,
                second,
                bar,
            )
            for name, model, frame, bar in (
                ("linear", OrderPreservingRegressor(), False, 6.0),
                ("trees", HistGradientBoostingRanker(random_state=0), False, 1.4),
            )
        },
        **{
            f"a query, stack over linear + trees{name}": (
                partial(latency_of_a_stack, frame),
                first,
                own(second),
                1.5,
            )
            for name, frame in (("", False), (", frame", True))
        },
        **{
            f"a row of {r}": (
                partial(latency_of_a_row, r, PairwiseDAGRanker()),
                first,
                own(second),
                None,
                scores_of,
            )
            for r in (5, 10, 20, 40)
        },
        "a row, map": (
            partial(latency_of_a_row, 20, low_rank(target_loss="map")),
            first,
            own(second),
            None,
            scores_of,
        ),
    },
    "frames": {
        **{
            f"100 rows of a frame, {name}": (
                partial(prediction_of_a_frame, model, peer),
                first,
                own(second)
                if peer is None
                else ("sklearn", lambda _, *data: second(*data)),
                bar,
            )
            for name, model, peer, bar in (
                ("linear", OrderPreservingRegressor(), Ridge(), 1.0),
                (
                    "trees",
                    HistGradientBoostingRanker(random_state=0),
                    HistGradientBoostingRegressor(max_iter=200, early_stopping=False),
                    1.2,
                ),
                ("stack", StackingRanker(), None, 1.2),
            )
        },
        **{
            f"score of {n:,} rows{', frame' if is_frame else ''}": (
                partial(score_of_rows, n, is_frame),
                lambda score, _, X, y: score(X, y),
                ("sklearn", lambda _, __, score, X, y: score(X, y)),
                bar,
            )
            for n, bar in ((200, 1.5), (2_000, 2.0))
            for is_frame in (False, True)
        },
    },
    "many": {
        **{
            f"all pairs of {n} systems": (
                partial(table_of_systems, n),
                compare_values,
                ("scipy", t_tests_of_pairs),
                bar,
            )
            for n, bar in ((16, None), (64, 10.0), (256, 10.0))
        },
        **{
            f"borda of {r:,} items": (
                partial(ballots, r),
                BORDA,
                ("scipy", mean_ranks),
                4.0,
            )
            for r in (160, 640, 1_280)
        },
        "bound of 48 items, at once": (
            lambda scale: preferences(1, 48, 1.0),
            partial(decode_pd_dag, bound=True, time_limit=1e-9),
            own(partial(decode_pd_dag, bound=True)),
            None,
        ),
    },
    "duels": {
        **{
            f"duels {n:,}": (
                partial(duels, n, r),
                bradley_terry,
                ("choix", choix),
                8.0,
                count_pairs,
            )
            for n, r in ((100_000, 60), (1_000_000, 1_000))
        },
        "votes on 200 items": (
            votes,
            partial(consensus_ranking, kind="grades"),
            own(partial(consensus_ranking, kind="grades", method="borda")),
        ),
    },
    "readers": {
        "load_run": (trec_files, lambda run, *_: load_run(run), read_table, 3.0, words),
        "load_qrels": (
            trec_files,
            lambda _, qrels, __: load_qrels(qrels),
            read_qrels,
            3.0,
            lambda _, qrels, __: words(qrels),
        ),
        **{
            f"{name}, {what}": (
                partial(alternating_files, kind),
                partial(read_other, reader),
                own(partial(read_plain, reader)),
                bar,
                words,
            )
            for name, what, kind, reader, bar in (
                ("load_run", "alternating", "run", load_run, 1.5),
                ("load_qrels", "alternating", "qrels", load_qrels, 1.5),
                # three times as many lines
                ("load_run", "blank lines and comments", "blank", load_run, 3.0),
            )
        },
        "load_letor": (
            letor_file,
            lambda path, _: load_letor(path),
            svmlight,
            1.33,
            words,
        ),
        "iter_lists": (letor_file, read_all, svmlight, None, words),
        "iter_lists, width": (
            letor_file,
            partial(read_all, n_features=136),
            svmlight,
            1.33,
            words,
        ),
    },
}
CASES = {
    name: Case(group, *row)
    for group, cases in TABLE.items()
    for name, row in cases.items()
}

# Growth with other sizes ------------------------------------------------------------------


def of_one_list(n):
    """Normal features and grades of one list."""
    return documents(n, 20, 1.0, length=n)


def of_lists(length):
    """20,000 documents in lists of one length."""
    return documents(20_000, 20, 1.0, length=length)


def map_fit(r):
    return items(500, 20, r, 1.0)


#: Data of a size, our call, and four sizes. The unit is in the name.
SIZES = {
    "items: fit, ndcg": (map_fit, rows(low_rank(target_loss="ndcg")), (10, 20, 40, 80)),
    "items: fit, map": (map_fit, rows(low_rank(target_loss="map")), (10, 20, 40, 80)),
    "items: fit, pairs": (
        lambda r: orders(500, 20, r, 1.0),
        rows(PairwiseDAGRanker()),
        (5, 10, 20, 40),
    ),
    "items: dag": (
        lambda r: preferences(50, r, 1.0),
        decode_pd_dag,
        (20, 40, 80, 160),
    ),
    "items: local search": (
        lambda r: preferences(1, r, 1.0),
        SEARCH,
        (15, 30, 60, 120),
    ),
    "items: bound": (
        lambda r: preferences(1, r, 1.0),
        partial(decode_pd_dag, bound=True, time_limit=1e-9),
        (20, 40, 80, 160),
    ),
    "ballots: borda": (lambda r: ballots(r, 1.0), BORDA, (160, 320, 640, 1_280)),
    "ballots: copeland": (lambda r: ballots(r, 1.0), COPELAND, (160, 320, 640, 1_280)),
    "systems: all pairs": (
        lambda n: table_of_systems(n, 1.0),
        compare_values,
        (16, 32, 64, 128),
    ),
    "items: map local search": (
        lambda r: map_vectors(5, r, 1.0),
        decode_map_local_search,
        (20, 40, 80, 160),
    ),
    "list length: cross-entropy": (of_lists, ENTROPY, (20, 100, 500, 2_500)),
    "list length: ridge": (of_lists, lists(low_rank()), (20, 100, 500, 2_500)),
    "list length: trees": (of_lists, trees(), (20, 100, 500, 2_500)),
    "list length: ndcg": (
        lambda length: grades(length, 1.0, n=200_000),
        ndcg_score,
        (20, 100, 500, 2_500),
    ),
    "list length: kendall": (
        lambda length: grades(length, 1.0, n=200_000),
        partial(measure_score, "kendall"),
        (20, 100, 500, 2_500),
    ),
    "one list: ranknet": (of_one_list, surrogate("ranknet"), (250, 500, 1_000, 2_000)),
    "one list: trees": (of_one_list, trees(), (2_500, 5_000, 10_000, 20_000)),
}
