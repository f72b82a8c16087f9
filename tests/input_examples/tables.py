"""Runs and judgements of documents, and tables of values of queries or tasks."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from . import Example

FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def documents():
    """A run and judgements of two queries, as dicts."""
    return {
        "run": {"q1": {"a": 1.5, "b": 10.0, "c": 9.5}, "q2": {"b": -1.0, "c": 2.5}},
        "qrels": {"q1": {"a": 2, "c": 1}, "q2": {"b": 1}},
        "judge": None,
        "path": Path(FOLDER) / "written.txt",
    }


def of_digits():
    """A run and judgements whose ids are digits of one width."""
    return {
        "run": {"q1": {"0012": 1.0, "1234": 0.5}},
        "qrels": {"q1": {"0012": 1, "1234": 0}},
    }


def exchanged():
    one = documents()
    return {"qrels": one["qrels"], "runs": {"one": one["run"]}}


def runs():
    one = documents()
    other = {"q1": {"c": 1.0}, "q2": {"c": 0.5, "b": 2.0}}
    return {"runs": {"0": one["run"], "1": other}, "qrels": one["qrels"]}


def values():
    """Values of six tasks, as a frame of pandas."""
    return {
        "table": pd.DataFrame(
            {
                "one": [0.85, 0.5, 0.25, 1.0, 0.125, 0.75],
                "two": [0.5, 0.25, 0.5, 0.75, 0.0, 0.25],
            }
        ),
    }


def words():
    """Successes of six tasks."""
    return {
        "table": pd.DataFrame({"one": [1, 0, 1, 1, 1, 0], "two": [0, 0, 1, 0, 1, 0]}),
    }


def judged():
    """Values by people and by a judge, as structured arrays in one order."""
    ids = np.array(["q1", "q2", "q3", "q4", "q5"])
    people = np.zeros(5, dtype=[("qid", "U2"), ("ndcg", float), ("mrr", float)])
    people["qid"] = ids
    people["ndcg"] = [0.5, 0.25, 1.0, 0.75, 0.0]
    people["mrr"] = [1.0, 0.5, 1.0, 0.5, 0.25]
    judge = people.copy()
    judge["ndcg"] = [0.75, 0.25, 0.75, 0.5, 0.25]
    judge["mrr"] = [1.0, 0.25, 1.0, 1.0, 0.25]
    unlabelled = np.random.default_rng(0).random((40, 2)).round(2)
    return {
        "people": people,
        "judge": judge,
        "judge_unlabelled": pd.DataFrame(unlabelled, columns=["ndcg", "mrr"]),
    }


EVALUATE = """
measures = ["ndcg@10", "mrr"]
result = lowrank_rank.evaluation.evaluate_run(qrels=qrels, run=run, measure=measures)
"""
DUMP_RUN = """
lowrank_rank.datasets.dump_run(run, path)
result = lowrank_rank.datasets.load_run(path)
"""
DUMP_QRELS = """
lowrank_rank.datasets.dump_qrels(qrels, path)
result = lowrank_rank.datasets.load_qrels(path)
"""
JOIN = """
joined = lowrank_rank.datasets.runs_to_features(runs, qrels)
order = numpy.lexsort((joined.docno, joined.qid))
result = {
    "data": joined.data[order], "target": joined.target[order],
    "names": joined.feature_names,
}
"""
COMPARE = """
found = lowrank_rank.evaluation.compare_values(table)
result = {name: found.means.mean[i] for i, name in enumerate(found.means.names)}
result["difference"] = abs(found.difference)
"""
COMPARE_RUNS = """
found = lowrank_rank.evaluation.compare_runs(qrels, runs, measure="ndcg@10")
result = found.means.mean
"""
MEANS = """
found = lowrank_rank.evaluation.judged_mean_intervals(people, judge, judge_unlabelled)
result = {name: found.mean[i] for i, name in enumerate(found.names)}
"""
JUDGED = """
found = lowrank_rank.evaluation.compare_judged_runs(
    qrels, judge, {"one": run, "two": other}, measure="ndcg@10")
result = found.means.mean
"""

JUDGEMENTS_CALLED_SCORE = """
qrels = pandas.DataFrame([
    (query, document, value)
    for query, documents in qrels.items()
    for document, value in documents.items()
], columns=["qid", "docno", "score"])
"""
FRAME = """
run = pandas.DataFrame([
    (query, document, value)
    for query, documents in run.items()
    for document, value in documents.items()
], columns=["qid", "docno", "score"])
"""
POLARS = FRAME + "run = polars.from_pandas(run)\n"
ARROW = FRAME + "import pyarrow; run = pyarrow.Table.from_pandas(run)\n"
#: The scores as text.
TEXTS = """
run = run.assign(score=run["score"].astype(str))
"""
TEXTS_OF_POLARS = """
run = run.with_columns(polars.col("score").cast(str))
"""

TO_POLARS = "table = polars.from_pandas(table)\n"
TO_ARROW = "import pyarrow; table = pyarrow.Table.from_pandas(table)\n"
TO_DICT = "table = table.to_dict('list')\n"
TO_RECORDS = "table = table.to_records(index=False)\n"
KINDS = ("", TO_POLARS, TO_ARROW, TO_DICT)

#: Column "one" as text of another form.
FORMS = {
    "plain": "table['one'] = table['one'].astype(str)\n",
    "percent": "table['one'] = [f'{100 * one}%' for one in table['one']]\n",
    "decimal comma": (
        "table['one'] = table['one'].astype(str).str.replace('.', ',')\n"
    ),
    "thousands": "table['one'] = [f'{1e6 * one:,.1f}' for one in table['one']]\n",
    "marks": (
        "table['one'] = table['one'].astype(str).replace('0.125', '-')\n"
        "table['two'] = table['two'].replace(0.0, numpy.nan)\n"
    ),
}
RIGHT_OF_FORMS = {
    "plain": "",
    "percent": "",
    "decimal comma": "",
    "thousands": "table['one'] = table['one'] * 1e6",
    "marks": "table.loc[4] = numpy.nan",
}

LACKING = "table.loc[2, 'one'] = numpy.nan; table.loc[3, 'two'] = numpy.nan\n"
LACKING_RIGHT = [
    "table = table.loc[[0, 1, 4, 5]]",
    "table.loc[2, 'one'] = 0.0; table.loc[3, 'two'] = 0.0",
]
WORDS_FAULT = "table = table.replace({1: 'pass', 0: 'fail'}).astype(object)\n"
WORDS_RIGHT = ["table = 1 - table", ""]
LONG = """
long = table.assign(task=list("zyxwvu")).melt("task", var_name="ranker")
table = long[["ranker", "task", "value"]]
"""

EXAMPLES = [
    # Runs and judgements
    Example(
        "run in place of judgements",
        documents,
        FRAME
        + "qrels = pandas.DataFrame([('q1', 'a', 2), ('q1', 'c', 1), ('q2', 'b', 1)],"
        " columns=['qid', 'docno', 'relevance'])\n"
        "run, qrels = qrels, run",
        EVALUATE,
        [""],
    ),
    *[
        Example(
            "run in place of judgements",
            documents,
            JUDGEMENTS_CALLED_SCORE + kind,
            EVALUATE,
            [""],
        )
        for kind in ("", "qrels = polars.from_pandas(qrels)")
    ],
    Example("table of documents", documents, "run = [1]", EVALUATE),
    *[
        Example(
            "columns of documents",
            documents,
            fault + rename.format(old="docno", new="document"),
            EVALUATE,
            [""],
        )
        for fault, rename in (
            (FRAME, "run = run.rename(columns={{'{old}': '{new}'}})"),
            (POLARS, "run = run.rename({{'{old}': '{new}'}})"),
            (ARROW, "run = run.rename_columns(['qid', 'document', 'score'])"),
        )
    ],
    Example(
        "columns of documents",
        documents,
        FRAME + "run = run.rename(columns={'score': 'sim'})",
        EVALUATE,
        [""],
    ),
    Example("columns of documents", documents, FRAME + "run = run[['qid']]", EVALUATE),
    Example(
        "columns of documents",
        lambda: {**runs(), **documents()},
        FRAME + "runs['0'] = run.rename(columns={'score': 'sim'})",
        JOIN,
        [""],
    ),
    *(
        Example(
            "columns of documents",
            documents,
            f"{frame}run = {ranks}",
            EVALUATE,
            [""],
        )
        for frame, ranks in (
            (FRAME, "run.assign(rank=-run['score']).drop(columns='score')"),
            (POLARS, "run.with_columns(rank=-polars.col('score')).drop('score')"),
        )
    ),
    *(
        Example("ids that nearly meet", clean, fault, call, [""] * n_remedies)
        for clean, fault, call, n_remedies in (
            (of_digits, "run = {'q1': {12: 1.0, 1234: 0.5}}", EVALUATE, 1),
            (of_digits, FRAME + "run['docno'] = run['docno'].astype(int)", EVALUATE, 1),
            (
                of_digits,
                POLARS + "run = run.cast({'docno': polars.Int64})",
                EVALUATE,
                1,
            ),
            (of_digits, "qrels = {'q1': {12: 1, 1234: 0}}", EVALUATE, 1),
            (of_digits, "run = {'q1': {'12.0': 1.0, '1234.0': 0.5}}", EVALUATE, 0),
            (of_digits, "run = {'Q1': run['q1']}", EVALUATE, 1),
            (of_digits, "run = {'q1': ['12', '1234']}", EVALUATE, 0),
            (documents, "run['q1'] = {'A': 1.5, 'b': 10.0, 'c': 9.5}", EVALUATE, 1),
            (documents, "qrels['q1'] = {'A': 2, 'C': 1}", EVALUATE, 1),
            (runs, "runs['1'] = {'q1': {'C': 1.0}, 'q2': {'C': .5, 'B': 2}}", JOIN, 1),
            (
                runs,
                "runs['1'] = {'q1': {'C': 1.0}, 'q2': {'C': .5, 'B': 2}}",
                COMPARE_RUNS,
                1,
            ),
        )
    ),
    Example("query twice", documents, "run = {1: {'a': 1.0}, '1': {}}", EVALUATE),
    Example("several tables by name", documents, "run = {'bm25': run}", EVALUATE, [""]),
    Example(
        "several tables by name", documents, "run = {'x': run, 'y': run}", EVALUATE
    ),
    Example(
        "runs in place of judgements",
        exchanged,
        "qrels, runs = runs, qrels",
        COMPARE_RUNS,
        [""],
    ),
    Example("set as run", documents, "run['q1'] = {'a', 'b'}", EVALUATE),
    Example("documents of a query", documents, "qrels['q1'] = 3", EVALUATE),
    *[
        Example(
            "pairs of document and value",
            documents,
            f"run = {{query: {fault} for query, one in run.items()}}",
            EVALUATE,
            [""],
        )
        for fault in ("list(one.items())", "[list(pair) for pair in one.items()]")
    ],
    Example(
        "pairs of document and value",
        documents,
        "run['q1'] = [('a', 1.5), ('b', 0.5)]",
        EVALUATE,
    ),
    Example("entry of a list of documents", documents, "run['q1'] = [0.5]", EVALUATE),
    Example(
        "document twice",
        documents,
        FRAME + "run = pandas.concat([run, run])",
        EVALUATE,
    ),
    Example("document twice", documents, "run['q1'] = {1: 1.0, '1': 2.0}", EVALUATE),
    *[
        Example("text as value of document", documents, fault, EVALUATE, [""])
        for fault in (
            FRAME + TEXTS,
            POLARS + TEXTS_OF_POLARS,
            FRAME + TEXTS + "import pyarrow; run = pyarrow.Table.from_pandas(run)",
            "run = {query: {document: str(value) for document, value in one.items()}"
            " for query, one in run.items()}",
        )
    ],
    Example(
        "text as value of document",
        documents,
        FRAME + "run['score'] = [f'{10 * one}%' for one in run['score']]",
        EVALUATE,
        [""],
    ),
    Example("text as value of document", documents, "run['q1']['a'] = 'x'", EVALUATE),
    Example(
        "text as value of document",
        documents,
        FRAME + "run['score'] = ['x', '1', '2', '3', '4']",
        EVALUATE,
    ),
    Example("value of document", documents, "run['q1']['a'] = numpy.nan", EVALUATE),
    *[
        Example(
            "value of document",
            documents,
            f"run = {{q: {{d: {value} for d, v in one.items()}} for q, one in run.items()}}",
            EVALUATE,
            [""],
        )
        for value in ("numpy.array(v)", "numpy.array([v])[0:1].squeeze()")
    ],
    Example("value of document", documents, "run['q1']['a'] = 10**400", EVALUATE),
    Example("no shared query", documents, "run = {'1': run['q1']}", EVALUATE),
    Example("no shared document", documents, "run = {'q1': {'x': 1.0}}", EVALUATE),
    Example(
        "documents skipped by people",
        documents,
        "other = run; judge = {'q1': {'a': 1, 'b': 1, 'c': 0}, 'q2': {'b': 1, 'c': 1}}",
        JUDGED,
    ),
    Example("runs by name", runs, "runs = list(runs.values())", JOIN, [""]),
    Example("runs by name", runs, "runs = tuple(runs.values())", JOIN, [""]),
    Example("runs by name", runs, "runs = {}", JOIN),
    Example(
        "one run in place of runs",
        runs,
        "runs = runs['0']",
        JOIN,
        ["runs = {'run': runs['0']}"],
    ),
    Example("rows of runs", runs, "qrels = {'q9': {'a': 1}}", JOIN),
    # Written
    Example("no document to write", documents, "run = {'q1': {}}", DUMP_RUN),
    Example("grade to write", documents, "qrels['q1']['a'] = 0.5", DUMP_QRELS),
    Example(
        "id to write",
        documents,
        "run = {'q1': {'a b': 1.5}, 'q 2': {'c': 0.5}}",
        DUMP_RUN,
        ["run = {'q1': {'a_b': 1.5}, 'q_2': {'c': 0.5}}"],
    ),
    Example("id to write", documents, "run['q1'] = {'a b': 1, 'a_b': 2}", DUMP_RUN),
    Example("id to write", documents, "qrels['q1'] = {'': 1}", DUMP_QRELS),
    Example("query to write", documents, "run['#1'] = run.pop('q1')", DUMP_RUN),
    # Values
    Example("no table of values", values, "table = table.to_numpy()", COMPARE),
    *[
        Example("two words as values", words, WORDS_FAULT + kind, COMPARE, WORDS_RIGHT)
        for kind in (*KINDS, TO_RECORDS)
    ],
    *[
        Example("long table of values", values, LONG + kind, COMPARE, [""])
        for kind in KINDS
    ],
    *[
        Example(
            "text in a table of values",
            values,
            FORMS[form] + kind,
            COMPARE,
            [RIGHT_OF_FORMS[form]],
        )
        for form in FORMS
        for kind in KINDS
    ],
    *[
        Example(
            "text in a table of values",
            values,
            "table.insert(0, 'model', list('xyzuvw'))\n" + kind,
            COMPARE,
            [""],
        )
        for kind in KINDS
    ],
    *[
        Example(
            "text in a table of values",
            values,
            f"table['one'] = {texts}",
            COMPARE,
            right,
        )
        for texts, right in (
            ("['1,234'] * 6", ["table = table[['two']]"]),
            ("['0.5', 'x', '1', '1', '0', '0']", ["table = table[['two']]"]),
        )
    ],
    *[
        Example("column of ids", values, fault, COMPARE, [""] * n)
        for fault, n in (
            ("table.insert(0, 'task_id', range(6))", 2),
            ("table = polars.from_pandas(table.assign(index=range(6)))", 1),
        )
    ],
    *[
        Example("lacking value", values, LACKING + kind, COMPARE, LACKING_RIGHT)
        for kind in KINDS
    ],
    Example(
        "lacking value",
        values,
        "table.loc[:2, 'one'] = numpy.nan; table.loc[3:, 'two'] = numpy.nan",
        COMPARE,
        ["table.loc[:2, 'one'] = 0.0; table.loc[3:, 'two'] = 0.0"],
    ),
    *[
        Example("columns of a judge", judged, fault, MEANS, [""])
        for fault in (
            "judge_unlabelled['more'] = 1.0",
            "judge_unlabelled = polars.from_pandas(judge_unlabelled.assign(more=1.0))",
            "judge_unlabelled = judge_unlabelled.assign(more=1.0).to_dict('list')",
            "import pyarrow; judge_unlabelled = pyarrow.Table.from_pandas("
            "judge_unlabelled.assign(more=1.0))",
        )
    ],
    Example(
        "columns of a judge",
        judged,
        "judge_unlabelled = judge_unlabelled[['ndcg']]",
        MEANS,
    ),
    Example(
        "lengths of columns", values, "table = {'one': [1.0], 'two': [1, 2]}", COMPARE
    ),
    Example("shape of values", judged, "people = numpy.ones((2, 2, 2))", MEANS),
    Example(
        "no rows of values",
        judged,
        "people = pandas.DataFrame({'a': []})",
        MEANS,
    ),
    Example(
        "no rows of values",
        judged,
        "people = []",
        MEANS,
    ),
    Example(
        "qid of people and judge", judged, "judge = judge[[2, 0, 1, 4, 3]]", MEANS, [""]
    ),
    Example("qid of people and judge", judged, "judge['qid'][0] = 'q9'", MEANS),
]
