"""Every path against its floor: ratios in one run, slopes, and peak memory in copies of X.

The floor of a row is what has to be done in any case, or the plainest estimator of the same data,
timed in the same process and in turns with ours. Slopes are those of log seconds over the log of
rows, features, list length or number of lists: 1 is linear. One thread (OMP_NUM_THREADS=1), in
seconds of this process alone.

A row is a function of the arguments that yields (what, seconds, floor seconds, bar), registered in
ROWS. A slope is a function of a size that returns a call, registered in SLOPES with sizes and bar.
A peak is a function of X that is measured in a process of its own, registered in PEAKS.

Default fits over the plainest estimator of the same data are in `_fit_limits`, structured hinges in
`_hinge_limits`, boosted trees of lists, a part of its own, in `_tree_limits`.
"""

import json
import subprocess
import sys
import tracemalloc
import warnings
from functools import partial
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from lowrank_rank._base import Rows
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.fitting._statistics import Scaling
from lowrank_rank.metrics import measure_score, ndcg_score
from lowrank_rank.order_preserving._problem import ScoreProblem, Summary, encode
from lowrank_rank.target_losses import NDCG

from ._common import REPOSITORY, bar_row, best_seconds, print_table
from ._fit_limits import FIXED
from ._fit_limits import ROWS as FIT_ROWS
from ._hinge_limits import ROWS as HINGE_ROWS
from ._item_limits import ROWS as ITEM_ROWS
from ._latency_limits import BEFORE
from ._latency_limits import ROWS as LATENCY_ROWS
from ._measure_limits import ROWS as MEASURE_ROWS
from ._measure_limits import grades_and_scores, shuffled_ids
from ._reading_limits import ROWS as READING_ROWS
from ._top_times import generate_lists, generate_matrix
from ._top_times import rows as top_rows
from ._tree_limits import rows as rows_of_trees
from .arcs import sublists_part


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=sorted(PARTS), default=sorted(PARTS))
    parser.add_argument("--row", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--slope", nargs="+", choices=list(SLOPES), default=list(SLOPES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--in-process", nargs=3, help="one peak here: estimator, type, layout")


def run(args):
    """Rows of the parts asked for."""
    if args.in_process:
        return [peak_in_process(args, *args.in_process)]
    rows = []
    for part in args.part:
        rows += PARTS[part](args)
    return rows


# Data -------------------------------------------------------------------------------


def documents(n_rows, length, n_features=136, seed=0):
    """Normal features, grades 0 to 4 that depend on them up to noise, lists of one length."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    score = X[:, :5].sum(axis=1) + 3.0 * rng.standard_normal(n_rows)
    y = np.searchsorted(np.quantile(score, [0.5, 0.75, 0.9, 0.97]), score).astype(float)
    return X, y, np.arange(n_rows) // length


# Rows -------------------------------------------------------------------------------


def timed(args, ours, floor):
    """Seconds of ours and of the floor, in turns."""
    repeats = 1 if args.tiny else args.repeats
    seconds = best_seconds({"ours": ours, "floor": floor}, repeats, process_time)
    return seconds["ours"], seconds["floor"]


def evaluation(surrogate, X, y, qid):
    """A call that evaluates a linear model's surrogate and its gradient, products with X too."""
    rows = Rows(X, y, RankingLists.from_qid(qid), np.ones(len(y)))
    batch = encode(rows, NDCG(k=10))
    summary = Summary.of(batch, set())
    scaling = Scaling(summary.features.mean, summary.features.scale)
    problem = ScoreProblem(batch, summary.resolve(surrogate), summary, scaling)
    theta = np.random.default_rng(0).normal(size=(1, X.shape[1] + 1)) / np.sqrt(X.shape[1])
    return lambda: problem.value_and_gradient(theta)


def surrogates_of_pairs(args):
    """Evaluations over those of cross-entropy, at several list lengths; a fit in seconds."""
    n_rows = 4_000 if args.tiny else 100_000
    for length in (20, 200, 2000):
        data = documents(n_rows, length)
        floor = evaluation("cross_entropy", *data)
        for surrogate, bar in (
            ("pairwise_squared_hinge", 2.2),
            ("ranknet", None),
            ("pairwise_logistic", None),
        ):
            if length * n_rows <= 2e7 or surrogate == "pairwise_squared_hinge":
                what = f"{surrogate} / cross_entropy, an evaluation, lists of {length}"
                yield what, *timed(args, evaluation(surrogate, *data), floor), bar
    X, y, qid = documents(n_rows, 500)
    fits = [
        partial(OrderPreservingRegressor(surrogate=name).fit, X, y, qid=qid)
        for name in ("pairwise_squared_hinge", "cross_entropy")
    ]
    seconds, floor = timed(args, *fits)
    yield "pairwise_squared_hinge / cross_entropy, a fit, lists of 500", seconds, floor, None
    yield "pairwise_squared_hinge, seconds of that fit", seconds, 1.0, 1.0


def pairs_of_items(args):
    """Preferences between fixed items, over Ridge on their differences."""
    for n_items in (20, 50):
        data = make_label_ranking(
            500 if args.tiny else 20_000, n_items, n_features=50, random_state=0
        )
        X, y = data.data, data.target
        i, j = np.triu_indices(n_items, 1)
        differences = np.sign(y[:, i] - y[:, j])
        for target_loss in ("pd", "kendall"):
            ranker = PairwiseDAGRanker(target_loss=target_loss, estimator="ridge", alpha=FIXED)
            fits = (
                partial(ranker.fit, X, y),
                partial(Ridge().fit, X, differences),
            )
            what = f"{target_loss} / Ridge on the pairs, {n_items} items"
            yield what, *timed(args, *fits), 2.0


def score_pairs(args):
    """Pairs of documents by one score, over the ridge ranker of the same loss."""
    X, y, qid = documents(2_000 if args.tiny else 200_000, 100)
    fits = [
        partial(ranker.fit, X, y, qid=qid)
        for ranker in (
            PairwiseDAGRanker(alpha=FIXED),
            LowRankSurrogateRanker(target_loss="pd", alpha=FIXED),
        )
    ]
    yield "pair ranker / ridge ranker", *timed(args, *fits), 1.2


def evaluations(args):
    """Evaluations of a default fit over those at tol=1e-9: no seconds."""
    X, y, qid = documents(2_000 if args.tiny else 50_000, 100)
    for surrogate in ("cross_entropy", "pairwise_squared_hinge"):
        n = []
        for tol in ({}, {"tol": 1e-9}):
            model = OrderPreservingRegressor(surrogate=surrogate, **tol)
            n.append(float(model.fit(X, y, qid=qid).n_iter_))
        yield f"{surrogate}, iterations of a fit", n[0], 1.0, 10.0
        yield f"{surrogate}, iterations / those at tol=1e-9", *n, None


def lists_at_the_top(args):
    """Precision at the top of many lists and of a matrix y, over linear models of rows."""
    for row in top_rows(tiny=args.tiny, repeats=1 if args.tiny else args.repeats):
        what = f"perceptron / {row['peer']}, {row['group']}"
        yield what, row["ours_s"], row["peer_s"], row["at_most"]


def default_decoder(args):
    """Kept weight that the default decoder of preferences loses on lists of LOLIB, in %."""
    for row in sublists_part(args):
        if row["decoder"] == "auto":
            what = f"auto, % of the kept weight lost, lists of {row['items']}"
            yield what, row["value"], 1.0, row["at_most"]


def one_row(measure):
    """A path of one row, of a function of `tiny`; None where a peer is not installed."""

    def rows(args):
        row = measure(tiny=args.tiny)
        if row is not None:
            yield row

    return rows


#: Name of a path to its function of the arguments, which yields (what, seconds, floor, bar).
ROWS = {
    "surrogates of pairs": surrogates_of_pairs,
    "pairs of items": pairs_of_items,
    "score pairs": score_pairs,
    "evaluations": evaluations,
    "top of many lists": lists_at_the_top,
    "default decoder": default_decoder,
    **{
        name: one_row(row)
        for name, row in (
            FIT_ROWS | HINGE_ROWS | ITEM_ROWS | LATENCY_ROWS | MEASURE_ROWS | READING_ROWS
        ).items()
    },
}


def limit_rows(args):
    """Each registered row as a ratio to its floor."""
    rows = [
        bar_row(path=name, what=what, s=seconds, floor_s=floor, value=seconds / floor, at_most=bar)
        for name in args.row
        for what, seconds, floor, bar in ROWS[name](args)
    ]
    rows = [{**row, "before": BEFORE.get(row["path"])} for row in rows]
    print_table("Seconds over those of the floor", rows)
    return rows


# Slopes -----------------------------------------------------------------------------


def fit_of(ranker, n_rows, length, n_features=50):
    X, y, qid = documents(n_rows, length, n_features)
    return partial(ranker.fit, X, y, qid=qid)


def surrogate_fit(name, n_rows, length, n_features=50):
    """Five iterations, too few to end early: as many evaluations at each size."""
    return fit_of(
        OrderPreservingRegressor(surrogate=name, max_iter=5, tol=1e-12),
        n_rows,
        length,
        n_features,
    )


def items_fit(n_rows):
    data = make_label_ranking(n_rows, 20, n_features=20, random_state=0)
    return partial(PairwiseDAGRanker(estimator="ridge", alpha=FIXED).fit, data.data, data.target)


def matrix_fit(n_rows):
    """A matrix y; every fit takes all passes."""
    X, Y = generate_matrix(n_rows, 20, 20)
    return partial(_at_the_top().fit, X, Y)


def top_fit(n_rows):
    X, y, qid = generate_lists(n_rows, 20, 20)
    return partial(_at_the_top().fit, X, y, qid=qid)


def _at_the_top():
    """As long for any labels: all passes, from zeros."""
    return PrecisionAtKPerceptron(target_loss="precision@1", start="zeros", random_state=0)


def measured(measure, n_rows):
    """A measure of lists of 100 with ties."""
    y, scores = grades_and_scores(100, n_rows, True)
    return partial(measure, y, scores)


#: Name to (function of a size that returns a call, sizes, bar).
SLOPES = {
    "ridge by rows": (
        lambda n: fit_of(LowRankSurrogateRanker(alpha=FIXED), n, 100),
        (25_000, 50_000, 100_000, 200_000),
        1.15,
    ),
    "ridge by features": (
        lambda p: fit_of(LowRankSurrogateRanker(alpha=FIXED), 20_000, 100, p),
        (50, 100, 200, 400),
        2.0,
    ),
    "cross_entropy by rows": (
        lambda n: surrogate_fit("cross_entropy", n, 100),
        (25_000, 50_000, 100_000, 200_000),
        1.15,
    ),
    "cross_entropy by features": (
        lambda p: surrogate_fit("cross_entropy", 20_000, 100, p),
        (50, 100, 200, 400),
        1.15,
    ),
    "cross_entropy by length, of 100,000 rows": (
        lambda r: surrogate_fit("cross_entropy", 100_000, r),
        (10, 100, 1_000, 10_000),
        0.15,
    ),
    "pairwise_squared_hinge by rows": (
        lambda n: surrogate_fit("pairwise_squared_hinge", n, 100),
        (25_000, 50_000, 100_000, 200_000),
        1.15,
    ),
    "pairwise_squared_hinge by length, of 100,000 rows": (
        lambda r: surrogate_fit("pairwise_squared_hinge", 100_000, r),
        (10, 100, 1_000, 10_000),
        0.15,
    ),
    "pairwise_squared_hinge by lists of 20": (
        lambda m: surrogate_fit("pairwise_squared_hinge", 20 * m, 20),
        (1_000, 2_000, 4_000, 8_000),
        1.15,
    ),
    "pairwise_logistic by rows": (
        lambda n: surrogate_fit("pairwise_logistic", n, 50),
        (10_000, 20_000, 40_000),
        1.15,
    ),
    "pairs of 20 items by rows": (
        items_fit,
        (12_500, 25_000, 50_000),
        1.15,
    ),
    "matrix y at the top by rows": (
        matrix_fit,
        (25_000, 50_000, 100_000, 200_000),
        1.15,
    ),
    "lists at the top by rows": (
        top_fit,
        (50_000, 100_000, 200_000, 400_000),
        1.15,
    ),
    "ndcg by rows, lists of 100": (
        lambda n: measured(ndcg_score, n),
        (10_000, 100_000, 1_000_000),
        1.15,
    ),
    "kendall by rows, lists of 100": (
        lambda n: measured(partial(measure_score, "kendall"), n),
        (10_000, 100_000, 1_000_000),
        1.15,
    ),
    "ids by rows, shuffled strings": (
        lambda n: partial(RankingLists.from_qid, shuffled_ids("strings", n)),
        (10_000, 100_000, 1_000_000),
        1.15,
    ),
}


def slope_rows(args):
    """Slope of log seconds over log size, of each registered path."""
    rows = []
    for name in list(args.slope)[: 1 if args.tiny else None]:
        make, sizes, bar = SLOPES[name]
        sizes = [size // 10 for size in sizes] if args.tiny else sizes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # they stop early
            seconds = best_seconds({size: make(size) for size in sizes}, args.repeats, process_time)
        slope = np.polyfit(np.log(sizes), np.log([seconds[size] for size in sizes]), 1)[0]
        rows.append(bar_row(path=name, sizes=str(sizes), value=slope, at_most=bar))
    print_table("Slopes of log seconds", rows)
    return rows


# Peak memory ------------------------------------------------------------------------

#: Name to a function of X, y and qid that fits.
PEAKS = {
    "ridge": lambda X, y, qid: LowRankSurrogateRanker(alpha=FIXED).fit(X, y, qid=qid),
    "cross-entropy": lambda X, y, qid: OrderPreservingRegressor().fit(X, y, qid=qid),
}
LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sparse.csr_matrix}


def peak_rows(args):
    """Peak memory above that before the fit, in copies of X, for each type and layout of X."""
    rows = []
    for name in list(PEAKS)[: 1 if args.tiny else None]:
        for dtype in ("float64", "float32"):
            for layout in LAYOUTS:
                command = [sys.executable, "-m", "benchmarks", "limits"]
                command += ["--in-process", name, dtype, layout] + ["--tiny"] * args.tiny
                found = subprocess.run(
                    command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
                )
                rows.append(json.loads(found.stdout.splitlines()[-1]))
    print_table("Peak memory of a fit above that of the data, in copies of X", rows)
    return rows


def peak_in_process(args, name, dtype, layout):
    """One row, printed as a line of JSON."""
    rng = np.random.default_rng(0)
    n_rows = 2_000 if args.tiny else 200_000
    X = rng.standard_normal((n_rows, 136), dtype=np.float32)
    if layout == "csr":
        X[X < 1.0] = 0.0
    X = LAYOUTS[layout](X.astype(dtype))
    size = X.nbytes if layout != "csr" else X.data.nbytes + X.indices.nbytes
    y, qid = rng.integers(0, 5, n_rows).astype(float), np.arange(n_rows) // 100
    warm = slice(0, 200)
    PEAKS[name](X[warm], y[warm], qid[warm])  # what a first call loads is not the fit's
    tracemalloc.start()  # the peak of the process has seen X made, which takes more than a fit
    PEAKS[name](X, y, qid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row = {"path": name, "X": f"{dtype} {layout}", "copies of X": peak / size}
    print(json.dumps(row))
    return row


# Trees ------------------------------------------------------------------------------


def tree_rows(args):
    """HistGradientBoostingRanker over LGBMRanker, its derivatives over a tree, its memory."""
    rows = [
        bar_row(path=path, what=what, s=ours, floor_s=floor, value=ours / floor, at_most=bar)
        for path, what, ours, floor, bar in rows_of_trees(args)
    ]
    print_table("Trees of lists: CPU seconds over those of the floor (memory: bytes)", rows)
    return rows


PARTS = {"rows": limit_rows, "slopes": slope_rows, "peaks": peak_rows, "trees": tree_rows}
