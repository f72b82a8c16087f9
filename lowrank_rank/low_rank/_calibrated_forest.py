"""A forest of classes whose votes are calibrated on the rows out of each bootstrap."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import check_random_state

from ..validation._arrays import take_rows


class Votes(ClassifierMixin, BaseEstimator):
    """Classifier whose features are the probabilities of the classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Votes":
        """Keep the classes; there is nothing else to learn."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return X."""
        return X

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class."""
        return self.classes_[np.argmax(X, axis=1)]


class CalibratedForest(ClassifierMixin, BaseEstimator):
    """Random trees and extra trees, with a sigmoid for each class.

    Half of the trees are of a random forest, half are extra trees. Each tree is fitted
    to a bootstrap of the rows. The vote v_c of a class is the mean probability over the
    trees, and

        P(c | x) is proportional to 1 / (1 + exp(a_c v_c + b_c)).

    The numbers a_c and b_c are those of Platt, with his prior. They are fitted to the
    votes on each row of those trees whose bootstrap lacks the row. So no tree is fitted
    twice.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    calibrated : bool, default=True
        Whether the votes pass through the sigmoids. Of classes with one or two rows a
        sigmoid learns only that they are rare.
    n_jobs : int or None, default=None
        Parallel fits of the trees.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    forests_ : list of the two fitted forests, of classes 0, 1, ...
    sigmoids_ : CalibratedClassifierCV or None
        Classifier of the votes; None for a single class, or if not `calibrated`.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        calibrated: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.calibrated = calibrated
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CalibratedForest":
        """Fit the trees, then the sigmoids; rows of weight 0 are left out."""
        y = np.asarray(y)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
            kept = np.flatnonzero(sample_weight > 0)
            X = take_rows(X, kept)
            y = y[kept]
            # Platt's prior counts rows.
            sample_weight = sample_weight[kept] / sample_weight[kept].mean()
        self.classes_, codes = np.unique(y, return_inverse=True)
        random_state = check_random_state(self.random_state)
        calibrates = self.calibrated and len(self.classes_) > 1
        self.forests_ = [
            forest(
                self.n_estimators // 2,
                bootstrap=True,
                oob_score=calibrates,
                n_jobs=self.n_jobs,
                random_state=random_state.randint(np.iinfo(np.int32).max),
            )
            for forest in (RandomForestClassifier, ExtraTreesClassifier)
        ]
        self.sigmoids_ = None
        with warnings.catch_warnings():
            # Few rows may have many classes, and heavy rows are in every bootstrap.
            warnings.filterwarnings("ignore", "The number of unique classes")
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            for forest in self.forests_:
                forest.fit(X, codes, sample_weight)
            if calibrates:
                votes = self._out_of_bag_votes()
                self.sigmoids_ = _sigmoids(votes, codes, sample_weight)
        for forest in self.forests_:
            # Threads slow the prediction of a few rows.
            forest.set_params(n_jobs=None)
            # A number for each row and class.
            forest.__dict__.pop("oob_decision_function_", None)
        return self

    def _out_of_bag_votes(self):
        """Return the votes of both forests, even ones for a row in every bootstrap."""
        votes = sum(forest.oob_decision_function_ for forest in self.forests_)
        totals = votes.sum(axis=1, keepdims=True)
        even = np.full(votes.shape, 1 / votes.shape[1])
        return np.divide(votes, totals, out=even, where=totals > 0)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, shape (n, n_classes)."""
        votes = sum(forest.predict_proba(X) for forest in self.forests_) / 2
        if self.sigmoids_ is None:
            return votes
        return self.sigmoids_.predict_proba(votes)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the importances of both forests."""
        return np.mean([one.feature_importances_ for one in self.forests_], axis=0)


def _sigmoids(votes, codes, sample_weight):
    """Fit a sigmoid for each class to votes of shape (n, n_classes)."""
    rows = np.arange(len(codes))
    calibrated = CalibratedClassifierCV(
        Votes(),
        method="sigmoid",
        cv=[(rows, rows)],  # the votes are held out already
        ensemble=False,
    )
    calibrated.fit(votes, codes, sample_weight)
    return calibrated.set_params(cv=None)  # the rows are as long as the data
