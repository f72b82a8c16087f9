"""Estimators with each named value of each of their parameters, for scikit-learn's checks."""

import warnings

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import estimator_checks_generator

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import SURROGATES

ESTIMATORS = (
    LowRankSurrogateRanker(),
    LowRankSurrogateClassifier(),
    LowRankSurrogateMultilabelClassifier(),
    PairwiseDAGRanker(),
    OrderPreservingRegressor(),
    HistGradientBoostingRanker(),
    PrecisionAtKPerceptron(),
    StructuredHingeRanker(),
    StructuredHingeClassifier(),
    StructuredHingeBinaryClassifier(),
    StructuredHingeSequenceClassifier(),
    WrappedRanker(Ridge()),
)
#: Values beside the ones of the tables of parameters, and what else a value needs.
MORE = {
    "OrderPreservingRegressor": [{"surrogate": name} for name in SURROGATES],
    "StructuredHingeBinaryClassifier": [{"solver": "lbfgs", "target_loss": "auc"}],
    "LowRankSurrogateClassifier": [
        {"estimator": LogisticRegression()},
        {"estimator": Ridge()},
        {"estimator": "ridge", "alpha": "gcv"},
    ],
    "LowRankSurrogateMultilabelClassifier": [{"target_loss": "hamming"}],
}
#: Parameters that do nothing that a check sees; values that need another one, or fixed items.
LEFT_OUT = {"verbose", "random_state", "n_jobs", "early_stopping", "n_iter_no_change"}
NEEDS = {
    ("StructuredHingeBinaryClassifier", "solver", "lbfgs"),
    ("LowRankSurrogateRanker", "estimator", "logistic"),
    ("PairwiseDAGRanker", "estimator", "logistic"),
    ("PairwiseDAGRanker", "estimator", "trees"),
    *(
        (type(estimator).__name__, "alpha", "gcv") for estimator in ESTIMATORS[:4]
    ),  # ridge
}


#: scikit-learn's boosted trees and forests draw by rows: weight 2 is not a row twice.
WEIGHTS = "check_sample_weight_equivalence_on_{}_data: AssertionError"
EXPECTED = {
    "LowRankSurrogateRanker(estimator='trees')": [WEIGHTS.format("dense")],
    "LowRankSurrogateClassifier(estimator='trees')": [
        WEIGHTS.format("dense"),
        WEIGHTS.format("sparse"),
    ],
}


def variations():
    """Pairs of a name and an estimator."""
    for estimator in ESTIMATORS:
        kind = type(estimator).__name__
        yield kind, estimator
        for name, alternatives in type(estimator)._parameters.items():
            for value in values_of(alternatives) if name not in LEFT_OUT else ():
                if (kind, name, value) in NEEDS or value == getattr(estimator, name):
                    continue
                yield f"{kind}({name}={value!r})", changed(estimator, {name: value})
        for params in MORE.get(kind, ()):
            words = ", ".join(f"{name}={value!r}" for name, value in params.items())
            yield f"{kind}({words})", changed(estimator, params)


def values_of(alternatives):
    """The named values of a parameter."""
    for one in alternatives:
        if isinstance(one, str) or one is None:
            yield one
        elif one is bool:
            yield from (True, False)


def changed(estimator, params):
    return type(estimator)(**{**estimator.get_params(deep=False), **params})


def failures(estimator):
    """Names of the checks that fail, with the type of the error."""
    failed = []
    for each, check in estimator_checks_generator(estimator):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(each)
        except Exception as error:
            name = type(error).__name__
            if name != "SkipTest":
                failed.append(f"{check.func.__name__}: {name}")
    return failed
