"""Boosted trees of scikit-learn under a loss of whole lists, in one fit.

`HistGradientBoostingRegressor` takes an object of a private class of scikit-learn as
its loss, and asks it for derivatives at the scores of all rows before each tree. This
file alone uses that class.
"""

import numpy as np
import sklearn

from ..validation._arrays import is_finite, without_empty_columns


def fit_list_trees(trees, X, derivatives):
    """Fit a HistGradientBoostingRegressor by gradient and curvature of a loss.

    ``derivatives(scores)`` returns both, in the order of the rows of X. The fitted
    trees hold none of the training rows.
    """
    X = without_empty_columns(X)
    try:
        from sklearn._loss.loss import HalfSquaredError
    except ImportError as error:
        raise ImportError(
            f"scikit-learn {sklearn.__version__} has no "
            f"sklearn._loss.loss.HalfSquaredError ({error}): take "
            "WrappedRanker(LGBMRanker()), or scikit-learn 1.6 to 1.9."
        ) from error

    class TreeLoss(HalfSquaredError):
        def __init__(self):
            super().__init__(sample_weight=True)  # the curvature is not constant

        def fit_intercept_only(self, y_true, sample_weight=None):
            return np.zeros(1)

        def gradient_hessian(
            self, y_true, raw_prediction, *_, gradient_out, hessian_out, **__
        ):
            gradient, curvature = self.derivatives(raw_prediction.ravel())
            with np.errstate(over="ignore"):
                gradient_out[:] = gradient
                hessian_out[:] = curvature
            if not (is_finite(gradient_out) and is_finite(hessian_out)):
                raise ValueError(
                    "Trees keep derivatives in float32, and those of these labels and "
                    "weights are out of its range: bring grades and sample_weight to "
                    "a smaller scale."
                )

    loss = TreeLoss()
    # An attribute is deleted after the fit; a closure of the class would stay.
    loss.derivatives = derivatives
    try:
        return trees.set_params(loss=loss).fit(X, np.zeros(X.shape[0]))
    finally:
        trees.set_params(loss="squared_error")
        trees._loss = HalfSquaredError()  # a class that other programs can load
        loss.derivatives = None
