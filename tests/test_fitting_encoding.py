"""Labels as targets of a regression: what a custom target loss returns is checked."""

import numpy as np
import pytest

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.target_losses import DCG, NDCG, PairwiseDisagreement, TargetLoss

X = np.arange(12.0).reshape(6, 2)
GRADES = np.array(
    [[0, 1, 2], [2, 1, 0], [1, 1, 0], [0, 0, 1], [2, 0, 0], [1, 2, 1]], dtype=float
)
QID = [0, 0, 0, 1, 1, 1]


class Encodes(DCG):
    """Encodes as it is told to."""

    def __init__(self, how="nan", k=None, *, gain="linear"):
        super().__init__(k, gain=gain)
        self.how = how

    def encode(self, y):
        made = {
            "nan": lambda v: np.where(np.arange(len(v))[:, np.newaxis] == 2, np.nan, v),
            "inf": lambda v: np.where(np.arange(len(v))[:, np.newaxis] == 2, np.inf, v),
            "a column less": lambda v: v[:, 1:],
            "a row less": lambda v: v[1:],
            "flat": lambda v: v.ravel(),
        }
        return made[self.how](super().encode(y))

    def row_targets(self, y, lists, weights):
        gains, normalisers = super().row_targets(y, lists, weights)
        made = {
            "nan": lambda: (gains, normalisers * np.nan),
            "inf": lambda: (gains + np.inf, normalisers),
            "a column less": lambda: (gains[:, np.newaxis], normalisers),
            "a row less": lambda: (gains[1:], normalisers),
            "flat": lambda: (gains, 1.0),
        }
        return made[self.how]()


@pytest.mark.parametrize("ranker", [LowRankSurrogateRanker, OrderPreservingRegressor])
@pytest.mark.parametrize(
    ("how", "items", "documents"),
    [
        ("nan", "nan for row 2 of y", "normalisers that are not finite"),
        ("inf", "inf for row 2 of y", "gains that are not finite"),
        (
            "a column less",
            r"shape \(6, 2\): .* \(6, 3\)",
            r"shapes \(\(6, 1\), \(2,\)\)",
        ),
        ("a row less", r"shape \(5, 3\): .* \(6, 3\)", r"shapes \(\(5,\), \(2,\)\)"),
        (
            "flat",
            r"shape \(18,\): .* \(6, 3\)",
            r"shapes \(\(6,\), \(\)\).* \(6,\) .* \(2,\)",
        ),
    ],
)
def test_what_a_target_loss_encodes_is_checked(ranker, how, items, documents):
    ranker = ranker(target_loss=Encodes(how))
    with pytest.raises(ValueError, match=rf"encode of Encodes\(.*\) gives .*{items}"):
        ranker.fit(X, GRADES)
    with pytest.raises(
        ValueError, match=rf"row_targets of Encodes\(.*\) gives .*{documents}"
    ):
        ranker.fit(X, GRADES[:, 0], qid=QID)
    assert not hasattr(ranker, "target_loss_")


class EncodesPlaces(TargetLoss):
    """The footrule: what each item costs in each place, r * r targets of a list."""

    labels = "graded"

    def __init__(self, of_pairs="own"):
        self.of_pairs = of_pairs

    def encode(self, y):
        places = (-y).argsort(axis=1).argsort(axis=1)
        costs = np.abs(places[:, :, np.newaxis] - np.arange(y.shape[1]))
        flat = self.of_pairs == "flat" and len(y) > 1
        return costs.reshape(-1 if flat else (len(y), -1)).astype(float)

    def rank_features(self, ranks):
        is_there = ranks[:, :, np.newaxis] - 1 == np.arange(ranks.shape[1])
        return is_there.reshape(len(ranks), -1).astype(float)

    def offset(self, y):
        return np.zeros(len(y))


class DecodesPlaces(EncodesPlaces):
    @property
    def decoders(self):
        def decode(u, n_items):
            return np.tile(np.arange(1, n_items + 1), (len(u), 1))

        sort = super().decoders["sort"]
        return {"mine": sort._replace(decode=decode, exact=False, of_scores=False)}


@pytest.mark.parametrize("estimator", ["ridge", "logistic"])
def test_targets_of_another_number_need_a_decoder(estimator):
    with pytest.raises(ValueError, match=r"\(\d, 3\), .* define decoders, {") as error:
        LowRankSurrogateRanker(target_loss=EncodesPlaces()).fit(X, GRADES)
    assert len(str(error.value)) < 300
    ranker = LowRankSurrogateRanker(target_loss=DecodesPlaces(), estimator=estimator)
    ranker.fit(X, GRADES)
    ranker.set_params(target_loss__of_pairs="flat")
    with pytest.raises(ValueError, match=r"\(54,\): .* \(6, d\), a row for each list"):
        ranker.fit(X, GRADES)


def test_boosting_reads_the_same_targets():
    objective = boosting_objective("cross_entropy", Encodes("nan"))
    with pytest.raises(ValueError, match="row_targets of Encodes"):
        objective(GRADES[:, 0], np.zeros(6), group=[3, 3])


@pytest.mark.parametrize("loss", [DCG(), PairwiseDisagreement()], ids=repr)
def test_what_is_not_judged_is_not_a_number(loss):
    y = GRADES.copy()
    y[1, 2] = np.nan
    assert np.all(np.isfinite(LowRankSurrogateRanker(target_loss=loss).fit(X, y).coef_))


@pytest.mark.parametrize("grade", [1e300, 1.7e308, 5e-324])
def test_grades_of_any_size_are_learnt_alike_where_normalised(grade):
    """They were all relevant to nothing, or overflowed: the sum of the gains left the range."""
    plain = LowRankSurrogateRanker(target_loss=NDCG()).fit(X, GRADES > 0)
    scaled = LowRankSurrogateRanker(target_loss=NDCG()).fit(X, grade * (GRADES > 0))
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-12)
    documents = [
        LowRankSurrogateRanker(target_loss=NDCG(), alpha=0.0).fit(X, y, qid=QID).coef_
        for y in ((GRADES[:, 0] > 0).astype(float), grade * (GRADES[:, 0] > 0))
    ]
    lengths = [np.linalg.norm(coef) for coef in documents]
    np.testing.assert_allclose(
        documents[1] / lengths[1], documents[0] / lengths[0], atol=1e-10
    )
