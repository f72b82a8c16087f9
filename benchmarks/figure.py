"""Who wins with how many judged queries? The figure of the README, and its numbers.

NDCG@10 minus that of LGBMRanker() on the two sets of the quickstart, with more queries and sizes.
A draw is a fold: its queries judge, and the first of its other queries, shuffled, are fitted.
Intervals are Student's t over the draws, each of one point alone; the last column says whether
they lie above or below zero. No query judges in two draws, but training queries of the draws
overlap, so that the intervals are a little too narrow. Needs matplotlib: pip install .[plot].
"""

import ast
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.model_selection import query_learning_curve

from . import _cells, stack
from ._common import REPOSITORY, optional_peer, print_table
from .defaults import paired

REFERENCE = "LGBMRanker()"
EXAMPLE = REPOSITORY / "examples" / "plot_quickstart.py"


def add_arguments(parser):
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10, 20, 50, 100, 200, 400, 800], metavar="N"
    )
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--png", type=Path, help="draw the figure here")


def run(args):
    if optional_peer("lightgbm") is None:
        return []
    if args.tiny:
        args.sizes, args.draws = [5, 10], 2
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2, 7.6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    models, rows = rankers(), []
    with threadpool_limits(1):
        for axes, (title, data) in zip(panels, sets(args.tiny).items(), strict=True):
            found = curves(models, *data, args)
            function_of_example("draw_differences")(axes, found, REFERENCE)
            rows += rows_of(title, found)
            axes.set(title=title, xlabel="")
    print_table(f"NDCG@10 minus that of {REFERENCE}, means over {args.draws} draws", rows)
    if args.png is not None:
        finish(figure, panels)
        figure.savefig(args.png, dpi=140)
    return rows


def sets(tiny):
    """Features, grades and ids: all images of digits as queries, and as many lists of judges."""
    n_queries = 30 if tiny else 1797
    digits = load_digits_retrieval(n_queries=n_queries)
    noisy_grades = function_of_example("noisy_grades")
    return {
        "clean labels (digits)": (digits.data, digits.target.astype(float), digits.qid),
        "noisy grades (three judges)": noisy_grades(n_queries=n_queries),
    }


def function_of_example(name):
    """A function of the quickstart, without running the rest of the script."""
    body = ast.parse(EXAMPLE.read_text(encoding="utf-8")).body
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    names = {"np": np, "stats": stats}
    exec(compile(ast.Module(found, type_ignores=[]), str(EXAMPLE), "exec"), names)
    return names[name]


def rankers():
    """Ours and the boosters, as they come."""
    chosen = {type(model).__name__: model for model in stack.models().values()}
    chosen[REFERENCE] = _cells.lightgbm()
    if optional_peer("xgboost") is not None:
        chosen["XGBRanker()"] = _cells.xgboost()
    return chosen


def curves(models, X, y, qid, args):
    """Learning curve of each ranker: all are fitted on the same queries."""
    settings = {
        "qid": qid,
        "train_sizes": args.sizes,
        "cv": GroupKFold(args.draws, shuffle=True, random_state=0),
        "n_jobs": 1 if args.tiny else 2,
        "random_state": np.random.RandomState(0).randint(2**31 - 1),  # the draws of README.md
    }
    return {name: query_learning_curve(model, X, y, **settings) for name, model in models.items()}


def rows_of(dataset, curves):
    """A row for each size and ranker, with the interval that the figure shows."""
    scores = {name: test_scores for name, (_, _, test_scores) in curves.items()}
    for i, size in enumerate(curves[REFERENCE][0]):
        for name in scores:
            if name == REFERENCE:
                continue
            found = paired(scores[name][i], scores[REFERENCE][i])
            side = "above" if found.low > 0 else "below" if found.high < 0 else "-"
            yield {
                "dataset": dataset,
                "queries": int(size),
                "model": name,
                "ndcg@10": float(scores[name][i].mean()),
                "difference": found.mean,
                "low": found.low,
                "high": found.high,
                "interval": side,
            }


def finish(figure, panels):
    """One legend, markers that differ, and letters that are read at half the size."""
    from matplotlib.ticker import NullLocator

    for axes in panels:
        for line, marker in zip(axes.lines[1:], "os^D", strict=False):
            line.set(marker=marker, markersize=7)
        axes.set_title(axes.get_title(), fontsize=15)
        axes.set_ylabel(f"NDCG@10 minus\n{REFERENCE}", fontsize=13)
        axes.tick_params(labelsize=13)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(alpha=0.4)
    panels[-1].set_xlabel("judged queries", fontsize=13)
    figure.legend(handles=panels[-1].lines, loc="outside lower center", ncols=2, fontsize=11)
