"""Readers take time in proportion to lines, queries and rows, in any order of them.

Sixteen times the lines take about sixteen times as long; 256 times if the time is quadratic.
"""

from time import process_time

import numpy as np
import pandas as pd
import pytest

from lowrank_rank.datasets import (
    iter_lists,
    load_letor,
    load_qrels,
    load_run,
    runs_to_features,
)
from lowrank_rank.evaluation import evaluate_run
from lowrank_rank.votes import load_preflib

#: The query of row i of n rows.
QUERIES = {
    "one query": lambda i, n: 0,
    "a query for each row": lambda i, n: i,
    "descending queries": lambda i, n: n - i // 2,
    "alternating queries": lambda i, n: i % 50,
}


def is_linear(call, data_of, sizes=(2_000, 32_000)):
    """Whether the larger size takes less than 48 times the CPU time, at best of three."""

    def seconds(data):
        start = process_time()
        call(data)
        return process_time() - start

    small, large = map(data_of, sizes)
    limit = 48 * min(seconds(small) for _ in range(3))
    return any(seconds(large) < limit for _ in range(3))


def read_all(source):
    return sum(len(y) for _, y, _ in iter_lists(source, rows_per_block=1_000))


def lines_of(form, order):
    """Return a function from a path to one from a number of lines to the written path."""

    def at(path):
        def written(n):
            lines = [form.format(q=QUERIES[order](i, n), i=i) for i in range(n)]
            path.write_text("".join(lines))
            return path

        return written

    return at


TREC = {
    load_run: "q{q} Q0 d{i} 1 {i} t\n",
    load_qrels: "q{q} 0 d{i} 1\n",
}


@pytest.mark.parametrize("order", QUERIES)
@pytest.mark.parametrize("before", ["", "\n", "# a comment\n"])
@pytest.mark.parametrize("load", TREC)
def test_trec_files(tmp_path, load, before, order):
    data_of = lines_of(before + TREC[load], order)(tmp_path / "trec")
    assert is_linear(load, data_of)


GROUPED = [order for order in QUERIES if order != "alternating queries"]


@pytest.mark.parametrize(
    ("read", "order"),
    [
        *((load_letor, order) for order in QUERIES),
        *((read_all, order) for order in GROUPED),  # it refuses lists in parts
    ],
)
def test_letor_files(tmp_path, read, order):
    data_of = lines_of("1 qid:{q} 1:{i} 2:0.5\n", order)(tmp_path / "log.txt")
    assert is_linear(read, data_of, sizes=(1_000, 16_000))


@pytest.mark.parametrize("order", GROUPED)
@pytest.mark.parametrize("source", ["chunks", "arrays", "parquet"])
def test_blocks_of_lists(tmp_path, source, order):
    if source == "parquet":
        pytest.importorskip("pyarrow")

    def data_of(n):
        qid = np.array([QUERIES[order](i, n) for i in range(n)])
        X = np.ones((n, 2))
        if source == "arrays":
            return X, np.zeros(n), qid
        if source == "chunks":
            starts = range(0, n, 100)
            return [(X[i : i + 100], np.zeros(100), qid[i : i + 100]) for i in starts]
        path = tmp_path / "log.parquet"
        frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=0.0, qid=qid)
        frame.to_parquet(path, row_group_size=1_000)
        return path

    assert is_linear(read_all, data_of)


@pytest.mark.parametrize("order", QUERIES)
@pytest.mark.parametrize("kind", ["dict", "frame", "lists"])
def test_runs_in_memory(kind, order):
    def data_of(n):
        run: dict = {}
        for i in range(n):
            run.setdefault(f"q{QUERIES[order](i, n)}", {})[f"d{i}"] = n - i
        if kind == "lists":
            return {q: list(documents) for q, documents in run.items()}
        if kind == "frame":
            rows = [(q, d, s) for q, scores in run.items() for d, s in scores.items()]
            return pd.DataFrame(rows, columns=["qid", "docno", "score"])
        return run

    def measure(run):
        qrels = run
        if kind == "frame":
            qrels = run.rename(columns={"score": "relevance"})
        evaluate_run(qrels=qrels, run=run, measure="precision@5")

    assert is_linear(measure, data_of, sizes=(1_000, 16_000))


@pytest.mark.parametrize("order", ["one query", "alternating queries"])
def test_features_of_runs(order):
    def data_of(n):
        run: dict = {}
        for i in range(n):
            run.setdefault(f"q{QUERIES[order](i, n)}", {})[f"d{i}"] = float(i)
        return {"one": run, "other": run}

    assert is_linear(runs_to_features, data_of)


def test_votes(tmp_path):
    def data_of(n):
        path = tmp_path / "votes.soc"
        header = (
            "# FILE NAME: votes.soc\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n"
            f"# NUMBER VOTERS: {n}\n# NUMBER UNIQUE ORDERS: {n}\n"
        )
        names = "".join(f"# ALTERNATIVE NAME {i}: item {i}\n" for i in (1, 2, 3))
        path.write_text(header + names + "1: 1,2,3\n" * n)
        return path

    assert is_linear(load_preflib, data_of, sizes=(500, 8_000))
