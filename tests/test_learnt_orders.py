"""The table of names says which target losses learn one order: the same by fits."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
)

DOC = Path(__file__).resolve().parent.parent / "doc"
if not DOC.is_dir():
    pytest.skip("doc/ is not beside tests/", allow_module_level=True)
sys.path.append(str(DOC))

from learnt_orders import (  # noqa: E402
    NO_FORM,
    NOTHING,
    cut_matters,
    learnt_orders,
    names_with_cuts,
)

rng = np.random.default_rng(0)
N_LISTS, LENGTH = 40, 12
QID = np.repeat(np.arange(N_LISTS), LENGTH)
X = rng.normal(size=(len(QID), 3))
Z = rng.normal(size=(N_LISTS, 3))
#: Lists with other numbers of relevant documents.
UTILITY = (
    X[:, 0] + rng.normal(size=len(QID)) + np.repeat(rng.normal(size=N_LISTS), LENGTH)
)
GRADES = np.clip(np.round(UTILITY + 2.0), 0, 4)
ITEMS = np.clip(np.round(2.0 + Z @ rng.normal(size=(3, LENGTH))), 0, 4)


def fits(pattern, layout, n_grades):
    """Scaled coefficients and the decoder of each name of a pattern."""
    y, features, lists = GRADES, X, {"qid": QID}
    if layout == "items":
        y, features, lists = ITEMS, Z, {}
    if n_grades == 2:
        y = (y > 2).astype(float)
    fitted = []
    for name in names_with_cuts(pattern):
        ranker = LowRankSurrogateRanker(target_loss=name, estimator="ridge", alpha=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(features, y, **lists)
        coef = np.column_stack(
            [ranker.coef_.reshape(-1, 3), np.ravel(ranker.intercept_)]
        )
        if layout == "documents":
            coef = coef[:, :3]  # an intercept changes no order
        norm = np.linalg.norm(coef)
        fitted.append((ranker.decoder_, coef / norm if norm > 0 else coef))
    return fitted


def are_equal(some, others):
    return all(
        any(
            one[0] == other[0]
            and one[1].shape == other[1].shape
            and np.allclose(one[1], other[1], atol=1e-6)
            for other in others
        )
        for one in some
    )


@pytest.mark.parametrize("n_grades", [5, 2])
@pytest.mark.parametrize("layout", ["documents", "items"])
def test_names_of_one_order_fit_one_model_and_others_do_not(layout, n_grades):
    learnt = learnt_orders(layout, n_grades)
    fitted = {
        name: fits(name, layout, n_grades)
        for name, of in learnt.items()
        if of != NO_FORM
    }
    for name, of in learnt.items():
        if of == NO_FORM:
            with pytest.raises(ValueError, match="no form for documents"):
                fits(name, layout, n_grades)
        elif of == NOTHING:
            assert not np.any(fitted[name][0][1])
        else:
            equal = [
                other
                for other in fitted
                if are_equal(fitted[name], fitted[other])
                and are_equal(fitted[other], fitted[name])
            ]
            assert equal == [other for other in fitted if learnt[other] == of]


def test_there_are_nine_orders_of_documents_and_fewer_of_labels_0_and_1():
    orders = {
        n_grades: set(learnt_orders("documents", n_grades).values())
        - {NO_FORM, NOTHING}
        for n_grades in (5, 2)
    }
    assert len(orders[5]) == 9
    assert orders[2] == {"precision@k", "recall@k", "ndcg[@k]", "auc"}


@pytest.mark.parametrize(
    "names",
    [
        ("precision@1", "precision@50", "wta"),
        ("dcg@3", "dcg", "gain@5"),
        ("recall@2", "map"),
    ],
)
def test_the_order_preserving_regressor_learns_one_model_too(names):
    coefs = []
    for name in names:
        ranker = OrderPreservingRegressor(target_loss=name, tol=1e-8).fit(
            X, GRADES, qid=QID
        )
        coefs.append(ranker.coef_ / np.linalg.norm(ranker.coef_))
    for coef in coefs[1:]:
        np.testing.assert_allclose(coef, coefs[0], atol=1e-6)


@pytest.mark.parametrize("pattern", ["precision@k", "ndcg[@k]", "map[@k]", "gain@k"])
def test_where_the_cut_matters(pattern):
    places = cut_matters(pattern)
    for layout in ("documents", "items"):
        first, *others = fits(pattern, layout, 5)
        differs = not all(are_equal([first], [other]) for other in others)
        assert differs == (layout in places)
    scores = [
        HistGradientBoostingRanker(target_loss=name, max_iter=3, random_state=0)
        .fit(X, GRADES, qid=QID)
        .predict(X)
        for name in names_with_cuts(pattern)[-2:]
    ]
    assert np.allclose(*scores) == ("boosted trees" not in places)
