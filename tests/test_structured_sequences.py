"""StructuredHingeSequenceClassifier: transitions, ids, real words."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold

from lowrank_rank import ranking_target
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)

from .refusals import refused_by


@pytest.fixture
def words():
    """Letters a, b, c in a cycle, of which a picture shows little."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(80), 6)
    start = rng.integers(0, 3, 80)
    y = (start[qid] + np.tile(np.arange(6), 80)) % 3
    X = np.eye(3)[y] + 0.8 * rng.normal(size=(480, 3))
    return X, np.array(list("abc"))[y], qid


@pytest.mark.parametrize("solver", ["auto", "cutting_plane", "sgd"])
def test_neighbours_tell_what_a_letter_does_not_show(solver, words):
    X, y, qid = words
    train = qid < 40
    alone = (
        StructuredHingeClassifier().fit(X[train], y[train]).score(X[~train], y[~train])
    )
    model = StructuredHingeSequenceClassifier(solver=solver, random_state=0)
    model.fit(X[train], y[train], qid=qid[train])
    assert model.score(X[~train], y[~train], qid=qid[~train]) > alone + 0.1
    assert model.transitions_.argmax(axis=1).tolist() == [1, 2, 0]


def test_without_ids_rows_are_classified_alone(words):
    X, y, _ = words
    model = StructuredHingeSequenceClassifier(tol=1e-5).fit(X, y)
    assert np.all(model.transitions_ == 0)
    other = StructuredHingeClassifier(
        alpha=model.alpha_, standardize=False, tol=1e-5
    ).fit(X, y)
    assert_allclose(model.objective_, other.objective_, rtol=1e-4)


@pytest.mark.parametrize("solver", ["lbfgs", "cutting_plane", "sgd"])
def test_a_sequence_of_weight_2_is_the_sequence_twice(solver, words):
    X, y, qid = words
    counts = np.random.default_rng(1).integers(0, 3, 80)
    copies = [np.flatnonzero(qid == q) for q in range(80) for _ in range(counts[q])]
    rows, ids = np.concatenate(copies), np.repeat(np.arange(len(copies)), 6)
    model = StructuredHingeSequenceClassifier(
        alpha=0.01, solver=solver, tol=1e-2, batch_size=7, random_state=0
    )
    weighted = clone(model).fit(X, y, sample_weight=counts[qid], qid=qid)
    repeated = clone(model).fit(X[rows], y[rows], qid=ids)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert_allclose(weighted.transitions_, repeated.transitions_, atol=1e-9)
    assert not np.allclose(
        weighted.coef_, clone(model).fit(X, y, qid=qid).coef_, atol=1e-2
    )
    alone = clone(model).fit(X, y, sample_weight=counts[qid])
    assert_allclose(alone.coef_, clone(model).fit(X[rows], y[rows]).coef_, atol=1e-9)


def test_weights_within_a_sequence_are_one(words):
    X, y, qid = words
    weights = 1.0 + (np.arange(480) == 13)
    with refused_by("weights within a list"):
        StructuredHingeSequenceClassifier().fit(X, y, sample_weight=weights, qid=qid)


def test_ids_given_to_fit_are_asked_for(words):
    X, y, qid = words
    model = StructuredHingeSequenceClassifier().fit(X, y, qid=qid)
    for call in (lambda: model.predict(X), lambda: model.score(X, y)):
        with refused_by("ids lost in score"):
            call()


def test_sequences_may_be_interleaved(words):
    X, y, qid = words
    order = np.argsort(np.tile(np.arange(6), 80), kind="stable")
    model = StructuredHingeSequenceClassifier(random_state=0).fit(X, y, qid=qid)
    assert np.array_equal(
        model.predict(X, qid=qid)[order], model.predict(X[order], qid=qid[order])
    )


def test_sequences_in_a_search_with_routing(words):
    X, y, qid = words
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            StructuredHingeSequenceClassifier(
                random_state=0
            ),  # in a Pipeline from 1.8 on
            {"alpha": [1e-3, 1e2]},
            cv=GroupKFold(2),
            error_score="raise",
        ).fit(X, y, qid=qid, groups=qid)
    assert search.best_params_ == {"alpha": 1e-3}
    codes = np.unique(y, return_inverse=True)[1]
    model = StructuredHingeSequenceClassifier(random_state=0)
    carried = model.fit(X, ranking_target(codes, qid)).score(
        X, ranking_target(codes, qid)
    )
    assert_allclose(carried, model.score(X, codes, qid=qid))


def test_a_sequence_cut_across_calls_is_refused(words):
    X, y, qid = words
    model = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-4)
    model.partial_fit(X[:100], y[:100], qid=qid[:100])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="sequence 16 is split"):
        model.partial_fit(X[100:], y[100:], qid=qid[100:])
    with pytest.raises(
        ValueError, match="this one has none, so its rows would be sequences of one row"
    ):
        model.partial_fit(X[102:], y[102:])
    assert np.array_equal(model.coef_, before)
    model.partial_fit(X[102:], y[102:], qid=qid[102:])


def test_one_class_is_refused(words):
    X, _, qid = words
    with refused_by("one class"):
        StructuredHingeSequenceClassifier().fit(X, np.zeros(480), qid=qid)
    steps = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-4)
    with refused_by("one class"):
        steps.partial_fit(X, np.zeros(480), qid=qid)
    with refused_by("one class"):
        steps.partial_fit(X, np.zeros(480), classes=[0], qid=qid)
    assert not hasattr(steps, "classes_")


def test_other_classes_in_a_later_call_are_refused(words):
    X, y, qid = words
    model = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-4)
    model.partial_fit(X[:102], y[:102], classes=["a", "b", "c"], qid=qid[:102])
    before = model.coef_.copy()
    with refused_by("other classes than before"):
        model.partial_fit(X[102:], y[102:], classes=["a", "b", "d"], qid=qid[102:])
    assert np.array_equal(model.coef_, before)
    model.partial_fit(X[102:], y[102:], classes=["c", "b", "a"], qid=qid[102:])


def test_handwritten_words(data_folder):
    """On a tenth of the words, transitions beat logistic regression on single letters by far."""
    path = data_folder / "sequences" / "handwritten_words.gz"
    if not path.exists():
        pytest.skip("the handwritten words are not here")
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    X = X.toarray()
    of_word = np.random.default_rng(0).permutation(int(qid.max()) + 1)[qid.astype(int)]
    train, test = of_word <= 0.1 * qid.max(), of_word > 0.9 * qid.max()
    alone = LogisticRegression(C=0.1, max_iter=200, tol=1e-3).fit(X[train], y[train])
    model = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-3, random_state=0)
    model.fit(X[train], y[train], qid=qid[train])
    letters = model.score(X[test], y[test], qid=qid[test])
    assert letters > alone.score(X[test], y[test]) + 0.03


def test_sequences_of_compound_ids_go_on(words):
    X, y, qid = words
    ids = [(int(q), "a") for q in qid]
    model = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-4, random_state=0)
    model.partial_fit(X[:102], y[:102], classes=["a", "b", "c"], qid=ids[:102])
    with pytest.raises(ValueError, match=r"The sequence \(16, 'a'\) is split"):
        model.partial_fit(X[101:], y[101:], qid=ids[101:])
    model.partial_fit(X[102:], y[102:], qid=qid[102:])  # of another type


def test_labels_and_ids_that_cannot_be_are_refused(words):
    X, y, qid = words
    model = StructuredHingeSequenceClassifier(random_state=0).fit(X, y, qid=qid)
    with refused_by("missing class"):
        model.fit(X, [*y[:3], None, *y[4:]], qid=qid)
    with refused_by("missing id"):
        model.fit(X, y, qid=np.where(qid == 3, np.nan, qid))
    with refused_by("another number of ids"):
        model.predict(X, qid=[1, 2])
    steps = StructuredHingeSequenceClassifier(solver="sgd", alpha=1e-4)
    steps.partial_fit(X, y, qid=qid)
    with refused_by("label of no class"):
        steps.partial_fit(X[:3], ["a", "z", "b"], qid=[-1, -1, -1])
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol or alpha"):
        StructuredHingeSequenceClassifier(max_iter=1, tol=1e-4).fit(X, y, qid=qid)
