"""Fuzzing by files: what other readers and measures make of the same mutated bytes.

LETOR files against scikit-learn's reader, Parquet against pandas, runs and judgements of TREC
against pytrec_eval and its measures, runs against ranx. A file that both read must give the same;
one that is refused must be named with its line. Where one reader is stricter, that is counted.
"""

import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from lowrank_rank.datasets import iter_lists, load_letor, load_qrels, load_run
from lowrank_rank.evaluation import evaluate_run

ALPHABET = [c.encode() for c in " \t\n:.,-+eE_#0123456789aqdinf\u00a0"] + [
    b"\r\n",
    b"  ",
    b"qid:",
]
#: Names of measures here and at pytrec_eval.
MEASURES = {"map": "map", "mrr": "recip_rank", "ndcg": "ndcg", "precision@5": "P_5"}


def run_files(choices):
    """One mutated file; returns counts.

    Raises
    ------
    AssertionError
        If two readers, or measures, differ, or an error does not name the file.
    """
    kind = choices.one([letor, letor, trec, parquet])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Counter(
            {"calls": 1, f"{kind.__name__}: {kind(choices, Path(folder))}": 1}
        )


def mutated(choices, content):
    """Bytes with up to three places replaced, deleted, inserted or copied."""
    for _ in range(choices.draw(4)):
        i, j = sorted(choices.draw(len(content) + 1) for _ in range(2))
        piece = choices.one(ALPHABET)
        content = choices.one(
            [
                content[:i] + piece + content[i:],
                content[:i] + piece + content[i + 1 :],
                content[:i] + content[i + 1 :],
                content[:j] + content[i:j] + content[j:],
            ]
        )
    return content


def read(function, path, *more, **options):
    """What a reader returns, and its error."""
    try:
        return function(path, *more, **options), None
    except Exception as error:
        return None, error


def check_named(error, path):
    """Errors of this package are sentences that name the file."""
    known = isinstance(error, ValueError) and str(path.name) in str(error)
    assert known, f"{type(error).__name__}: {error}"


# SVMlight lines ---------------------------------------------------------------------


def letor(choices, folder):
    rng, path = choices.rng, folder / "log.txt"
    lines = []
    for i in range(choices.one([3, 1, 6])):
        features = " ".join(
            f"{j}:{rng.normal():.3g}" for j in range(1, 4) if rng.random() < 0.7
        )
        comment = choices.one(["", "", " # docid = G1:2", " #1:2"])
        lines.append(f"{rng.integers(0, 3)} qid:{i // 2} {features}{comment}")
    path.write_bytes(mutated(choices, ("\n".join(lines) + "\n").encode()))
    ours, error = read(load_letor, path)
    theirs, other = read(load_svmlight_file, path, query_id=True, zero_based=False)
    if error is not None:
        check_named(error, path)
        return "both refuse" if other is not None else "ours is stricter"
    if other is not None:
        return "theirs is stricter"
    (X, y, qid), (X_other, y_other, qid_other) = ours, theirs
    assert X.shape == X_other.shape, f"shapes {X.shape} and {X_other.shape}"
    same = [np.array_equal(X.toarray(), X_other.toarray(), equal_nan=True)]
    same += [np.array_equal(y, y_other, equal_nan=True), np.array_equal(qid, qid_other)]
    assert all(same), f"features, grades, ids are the same: {same}"
    return "the same"


# Runs and judgements ----------------------------------------------------------------


def trec(choices, folder):
    import pytrec_eval

    rng = choices.rng
    queries, documents = [f"q{i}" for i in range(3)], [f"d{i}" for i in range(6)]
    run = [f"{q} Q0 {d} 1 {rng.normal():.4f} tag" for q in queries for d in documents]
    qrels = [f"{q} 0 {d} {rng.integers(0, 3)}" for q in queries for d in documents[::2]]
    paths = [folder / "run.txt", folder / "qrels.txt"]
    which = choices.draw(2)
    for i, (path, lines) in enumerate(zip(paths, (run, qrels), strict=True)):
        content = ("\n".join(lines) + "\n").encode()
        path.write_bytes(mutated(choices, content) if i == which else content)
    (ours, error), (theirs, other) = [
        (read(load, paths[which]))
        for load in ((load_run, load_qrels)[which], _theirs(which))
    ]
    if error is not None:
        check_named(error, paths[which])
        return "both refuse" if other is not None else "ours is stricter"
    if other is not None:
        return "theirs is stricter"
    if b"\xc2\xa0" in paths[which].read_bytes():
        return "a space beyond ASCII, where pytrec_eval's reader cuts words and trec_eval does not"
    if any(line.startswith(b"#") for line in paths[which].read_bytes().splitlines()):
        return "a comment, which pytrec_eval reads as a query"
    assert ours == theirs, "runs or judgements differ"
    run, qrels = load_run(paths[0]), load_qrels(paths[1])
    if any(len(set(scores.values())) < len(scores) for scores in run.values()):
        return "ties, which pytrec_eval breaks by names"
    if not any(run[q].keys() & qrels[q].keys() for q in run.keys() & qrels.keys()):
        return "no document in both, which is refused"
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(MEASURES.values()) - {"P_5"} | {"P.5"}
    )
    expected = pd.DataFrame(evaluator.evaluate(run)).T
    options = {"average": None, "zero_division": 0, "all_queries": False}
    found = evaluate_run(run=run, qrels=qrels, measure=list(MEASURES), **options)
    for name, theirs_name in MEASURES.items():
        values = found.loc[expected.index, name]
        worst = np.abs(values - expected[theirs_name]).max()
        assert worst < 1e-9, f"{name} differs from pytrec_eval by {worst:g}"
    if min(min(grades.values()) for grades in qrels.values()) >= 0:
        check_ranx(run, qrels)
    return "the same, and the measures of pytrec_eval and ranx"


def check_ranx(run, qrels):
    """Means over the judged queries; a query without an answer has 0."""
    import ranx

    names = ["map", "mrr", "ndcg"]
    given = ranx.Qrels(qrels), ranx.Run(run)
    theirs = ranx.evaluate(*given, names, make_comparable=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The run lacks")
        ours = evaluate_run(run=run, qrels=qrels, measure=names, zero_division=0)
    worst = max(abs(theirs[name] - ours[name]) for name in names)
    assert worst < 1e-9, f"ranx differs by {worst:g}: {theirs}, {ours}"


def _theirs(which):
    import pytrec_eval

    parse = (pytrec_eval.parse_run, pytrec_eval.parse_qrel)[which]

    def load(path):
        with open(path, encoding="utf-8", newline="\n") as file:
            return parse(file)

    return load


# Parquet ----------------------------------------------------------------------------


def parquet(choices, folder):
    rng, path = choices.rng, folder / "log.parquet"
    n, kinds = 6, ["float64", "float32", "int64", "int8", "bool", "uint8"]
    frame = pd.DataFrame({"y": rng.integers(0, 3, n), "qid": np.arange(n) // 2})
    for name in "ab":
        values = rng.normal(size=n) * choices.one([1.0, 100.0, 1e6, 1e30])
        values = np.round(values) if choices.chance(50) else values
        kind = choices.one(kinds)
        bounds = np.iinfo(kind) if "int" in kind else None
        values = (
            values
            if bounds is None
            else np.clip(np.round(values), bounds.min, bounds.max)
        )
        with np.errstate(invalid="ignore"):
            frame[name] = values.astype(kind)
        if choices.chance(10):
            frame[name] = frame[name].astype(object).where(rng.random(n) < 0.8, None)
    frame.to_parquet(path)
    if choices.chance(20):
        path.write_bytes(mutated(choices, path.read_bytes()))
    dtype = np.dtype(choices.one(["float64", "float32", "int64", "int32", "int8"]))
    ours, error = read(lambda path: list(iter_lists(path, dtype=dtype)), path)
    theirs, other = read(pd.read_parquet, path)
    if other is not None:
        if error is None:
            return "theirs is stricter"  # of a mutation in the metadata of pandas
        check_named(error, path)
        return "both refuse"
    with np.errstate(all="ignore"):
        exact = theirs[["a", "b"]].to_numpy(dtype=np.float64, na_value=np.nan)
        there = exact.astype(dtype).astype(np.float64)
        rounded = dtype == np.float32 and np.isfinite(there).all()
    representable = rounded or np.array_equal(exact, there)
    if error is not None:
        check_named(error, path)
        assert not representable or not np.isfinite(exact).all(), (
            f"refused in vain: {error}"
        )
        return "refused, as not representable"
    X = np.concatenate([block[0] for block in ours]).astype(np.float64)
    assert np.array_equal(X, there, equal_nan=True), (
        "values differ from those of pandas"
    )
    same_type = np.isnan(exact).any() or representable
    assert same_type, "values were changed"
    return "the same"
