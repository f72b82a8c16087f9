"""Matrices as the dictionaries that pytrec_eval and ranx evaluate."""

import warnings


def to_runs(y, scores):
    """Grades and scores of matrices as {query: {document: value}}, names in row order."""
    documents = [f"d{j:06d}" for j in range(y.shape[1])]

    def named(matrix, kind):
        return {
            f"q{i:06d}": dict(zip(documents, map(kind, row), strict=True))
            for i, row in enumerate(matrix.tolist())
        }

    return named(y, int), named(scores, float)


def ranx_evaluate(ranx, qrels, runs, measure, **params):
    """ranx.evaluate without numba's remark on a cast inside ranx, when it compiles."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="unsafe cast from uint64 to int64")
        return ranx.evaluate(qrels, runs, measure, **params)
