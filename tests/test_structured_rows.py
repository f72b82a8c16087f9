"""Rows in an order of their own: equal rows merge, dense and sparse alike."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse

from lowrank_rank.structured._rows import merged_rows, row_keys


def test_equal_rows_of_equal_label_merge_with_their_weights():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 3)) * 0.37  # 27 different rows
    labels, weights = rng.integers(0, 2, 200), rng.integers(0, 4, 200).astype(float)
    table = {}
    for row, label, weight in zip(X.tolist(), labels.tolist(), weights, strict=True):
        table[(*row, label)] = table.get((*row, label), 0.0) + weight
    expected = {key: weight for key, weight in table.items() if weight > 0}
    for form in (np.asarray, sparse.csr_matrix):
        rows, of_rows, total = merged_rows(form(X), labels, weights)
        rows = rows.toarray() if sparse.issparse(rows) else rows
        found = zip(rows.tolist(), of_rows.tolist(), total, strict=True)
        assert {(*row, label): weight for row, label, weight in found} == expected
        assert len(rows) == len(expected)


def test_keys_are_of_the_row_and_not_of_its_place():
    X = np.random.default_rng(0).normal(size=(300, 9))
    order = np.random.default_rng(1).permutation(300)[:137]
    assert_array_equal(row_keys(X)[order], row_keys(X[order]))
    assert_array_equal(row_keys(X), row_keys(sparse.csr_matrix(X)))
    assert len(np.unique(row_keys(X))) == 300
    assert abs(np.corrcoef(np.argsort(np.argsort(row_keys(X))), X[:, 0])[0, 1]) < 0.2
