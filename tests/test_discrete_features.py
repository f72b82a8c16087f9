"""Features of few values, where many equal rows have different labels: as good as the best line."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import OneHotEncoder

from lowrank_rank import LowRankSurrogateClassifier, LowRankSurrogateRanker

#: The passengers of the Titanic: men and women by class (first, second, third, crew), then those
#: of them who were children, and how many of each survived.
TITANIC = {  # (class, sex, age): (survived, died)
    ("1st", "male", "child"): (5, 0), ("1st", "male", "adult"): (57, 118),
    ("1st", "female", "child"): (1, 0), ("1st", "female", "adult"): (140, 4),
    ("2nd", "male", "child"): (11, 0), ("2nd", "male", "adult"): (14, 154),
    ("2nd", "female", "child"): (13, 0), ("2nd", "female", "adult"): (80, 13),
    ("3rd", "male", "child"): (13, 35), ("3rd", "male", "adult"): (75, 387),
    ("3rd", "female", "child"): (14, 17), ("3rd", "female", "adult"): (76, 89),
    ("crew", "male", "adult"): (192, 670), ("crew", "female", "adult"): (20, 3),
}  # fmt: skip


def titanic():
    rows = [cell for cell, counts in TITANIC.items() for _ in range(sum(counts))]
    y = np.concatenate([np.repeat([1, 0], counts) for counts in TITANIC.values()])
    return OneHotEncoder().fit_transform(rows), y


def categories(n_categories, n_classes, n=6000, seed=0):
    """One category a row, in each of which the classes have other probabilities."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(n_classes, 0.7), n_categories)
    code = rng.integers(0, n_categories, n)
    y = (rng.random((n, 1)) > tables[code].cumsum(axis=1)).sum(axis=1)
    return OneHotEncoder().fit_transform(code[:, np.newaxis]), y


SETS = {
    "Titanic": (titanic, None),
    "Titanic, costs 1 : 6": (titanic, [[0.0, 1.0], [6.0, 0.0]]),
    "30 categories": (lambda: categories(30, 2), None),
    "30 categories, costs 1 : 6": (lambda: categories(30, 2), [[0.0, 1.0], [6.0, 0.0]]),
    "30 categories, costs 6 : 1": (lambda: categories(30, 2), [[0.0, 6.0], [1.0, 0.0]]),
    "60 categories, 3 classes": (lambda: categories(60, 3), None),
}


def test_the_table_of_the_titanic_is_whole():
    X, y = titanic()
    assert (X.shape, int(y.sum())) == ((2201, 8), 711)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_matrix.toarray])
@pytest.mark.parametrize("name", SETS)
def test_classes_cost_as_little_as_by_logistic_regression(name, kind):
    make, costs = SETS[name]
    X, y = make()
    X, L = (
        kind(X),
        1.0 - np.eye(len(np.unique(y))) if costs is None else np.array(costs),
    )
    model = LowRankSurrogateClassifier(loss_matrix=L)
    P = cross_val_predict(LogisticRegression(), X, y, method="predict_proba")
    decisions = cross_val_predict(model, X, y)
    ours, theirs = (
        L[y, decided].mean() for decided in (decisions, (P @ L).argmin(axis=1))
    )
    assert ours <= theirs + 0.01


def test_many_equal_rows_of_items():
    """One-hot users: the order of each is that of the means in its rows."""
    rng = np.random.default_rng(0)
    X, _ = categories(20, 2, n=4000)
    code = X.argmax(axis=1).A1
    rates = rng.dirichlet(np.ones(5), 20) * 2.5
    y = (rng.random((4000, 5)) < rates[code]).astype(float)
    means = np.array([y[code == c].mean(axis=0) for c in range(20)])
    for form in (X, X.toarray()):
        model = LowRankSurrogateRanker(target_loss="precision@1").fit(form, y)
        best = means[code, model.predict(form).argmax(axis=1)]
        np.testing.assert_allclose(
            best.mean(), means[code].max(axis=1).mean(), atol=0.003
        )
