"""The four estimators that the package was asked for: their words, and what they share."""

import re
import warnings
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeRanker,
)
from lowrank_rank.target_losses import PrecisionAtK

from .refusals import refused_by

X, GRADES, QID = make_ranking(20, 6, n_features=3, random_state=0)
FOUR = (
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
)


# PairwiseDAGRanker is LowRankSurrogateRanker(target_loss="pd") ------------------------


@pytest.mark.parametrize("n_items", [None, 5, 15, 45])
@pytest.mark.parametrize("n_copies", [1, 4])
def test_the_ranker_of_pairs_is_the_surrogate_ranker_for_pd(n_items, n_copies):
    features, y, lists = X, GRADES, {"qid": QID}
    if n_items is not None:
        data = make_label_ranking(100 * n_copies, n_items, random_state=0)
        features = data.data[:100]
        y = sum(np.split(data.target, n_copies))  # grades 0 to n_copies
        lists = {}
    pairs = PairwiseDAGRanker().fit(features, y, **lists)
    surrogate = LowRankSurrogateRanker(target_loss="pd").fit(features, y, **lists)
    np.testing.assert_array_equal(pairs.coef_, surrogate.coef_)
    ranks = surrogate.rank(features, **lists)
    np.testing.assert_array_equal(pairs.rank(features, **lists), ranks)


# Parameters of names ----------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        *(cls() for cls in FOUR),
        HistGradientBoostingRanker(),
        StackingRanker(),
        WrappedRanker(Ridge()),
        LowRankSurrogateMultilabelClassifier(),
        StructuredHingeRanker(),
        StructuredHingeBinaryClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_name_has_no_parameters(model):
    message = r"target_loss__k: target_loss is a name, '.*Pass the object"
    with pytest.raises(ValueError, match=message):
        model.set_params(target_loss__k=5)
    if not isinstance(model, LowRankSurrogateMultilabelClassifier):
        model.set_params(target_loss="precision@10")
        with pytest.raises(ValueError, match=r"target_loss=PrecisionAtK\(k=10\)"):
            model.set_params(target_loss__k=5)
        model.set_params(target_loss=PrecisionAtK(k=10), target_loss__k=5)
        assert model.target_loss.k == 5


@pytest.mark.parametrize("cls", FOUR)
def test_what_is_not_fitted_has_no_fitted_attributes(cls):
    fitted = [name for name in dir(cls()) if name[-1] == "_" and name[0] != "_"]
    assert [name for name in fitted if hasattr(cls(), name)] == []
    assert cls().fit(X, GRADES > 0, qid=QID).n_items_ is None


# The table of the guide -------------------------------------------------------------

TUNE = Path(__file__).parents[1] / "doc" / "user_guide" / "tune.rst"


@pytest.mark.skipif(not TUNE.is_file(), reason="doc is not beside the tests")
def test_the_table_of_words_has_the_parameters_of_the_four():
    _, _, text = TUNE.read_text(encoding="utf-8").partition(".. _one-word:")
    rows = re.findall(r"\* - ``(\w+)``\n {5}- (.*)\n {5}- (.*)\n {5}- (.*)\n", text)
    columns = [FOUR[:2], FOUR[2:3], FOUR[3:]]
    words = {name for name, *_ in rows}
    for name, *cells in rows:
        for cell, classes in zip(cells, columns, strict=True):
            for cls in classes:
                exists = name in signature(cls).parameters
                exists |= name in signature(cls.fit).parameters or hasattr(cls(), name)
                assert exists != cell.startswith("none: "), (name, cls)
    shared = [
        name
        for name in set().union(*(signature(cls).parameters for cls in FOUR))
        if sum(name in signature(cls).parameters for cls in FOUR) > 1
    ]
    # n_jobs is the same in the two that have it.
    assert set(shared) - words == {"n_jobs"}


# Warnings ---------------------------------------------------------------------------


def printed(search, X, y, **given):
    """Warnings that Python prints by default: each text of one line once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        search.fit(X, y, **given)
    return [str(one.message) for one in caught]


def test_a_search_says_that_grades_up_to_2_have_no_utility():
    search = GridSearchCV(
        LowRankSurrogateRanker(),
        {"target_loss": ["ndcg@10", "eru"]},
        scoring=make_ranking_scorer("ndcg@10"),
        cv=GroupKFold(3),
        error_score="raise",
    )
    grades = np.minimum(GRADES, 2.0)
    said = printed(search, X, ranking_target(grades, QID), groups=QID)
    assert len(set(said)) == 1
    assert "ExpectedRankUtility(neutral=0)" in said[0]


def test_a_search_says_that_a_score_counts_no_grade():
    """The five scorers on items of grades 0 and 1; no candidate is fitted for "eru"."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 3))
    relevant = (features @ rng.normal(size=(3, 4)) > 0).astype(float)
    search = GridSearchCV(
        LowRankSurrogateRanker(),
        {"target_loss": ["map", "pd"]},
        scoring=make_ranking_scorer(["precision@5", "map", "eru", "pd", "ndcg"]),
        refit="ndcg",
        cv=3,
    )
    said = printed(search, features, relevant)
    assert len(set(said)) == 1
    assert "ExpectedRankUtility(neutral=0) counts all grades above 0" in said[0]
    scores = {"one": relevant, "two": rng.normal(size=relevant.shape)}
    with pytest.warns(UserWarning, match=r"ExpectedRankUtility\(neutral=0\)") as caught:
        compare_rankers(relevant, scores, measure="eru")
    assert len(caught) == 1
    compare_rankers(4 * relevant, scores, measure="eru")  # and no warning


@pytest.mark.parametrize("with_qid", [False, True])
def test_a_search_says_that_a_count_does_not_fit_its_folds(with_qid):
    y = GRADES > 0
    search = GridSearchCV(
        PrecisionAtKPerceptron(target_loss="precision@5"),
        {"alpha": [0.01, 0.1]},
        cv=GroupKFold(4),
        error_score="raise",
    )
    if with_qid:
        y = ranking_target(y, QID)
    said = printed(search, X, y, groups=QID)
    assert len(set(said)) == 1
    assert "target_loss='recall@5'" in said[0]


def test_a_fraction_is_one_of_the_positives():
    assert "of the positives" in make_ranking_scorer("precision@25%").__name__
    with refused_by("fewer positives than places"):
        PrecisionAtKPerceptron(target_loss="precision@1000").fit(X, GRADES > 0)
    with refused_by("cut-off in a name"):
        make_ranking_scorer("precision@x%")
