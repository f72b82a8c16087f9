"""Fuzzing by invariances: one change of the data that must not change a fit.

An estimator with drawn parameters is fitted twice, to drawn data and to the same data in another
form: other units, an offset, another order, rows twice for weights, other names. Fits in closed
form and smooth ones must predict the same, hinges must bound each other's objectives, and where
nothing is rounded the predictions must be equal. A list alone has the ranks
that it has among others.
"""

import warnings
from collections import Counter
from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import get_tags

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    merge,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeSequenceClassifier,
)

from .cases import CLASSIFIERS, HINGES, PARAMETERS, RENAMED

#: Relative to the largest prediction.
TOLERANCES = {"closed": 1e-6, "smooth": 1e-5, "exact": 1e-9}
#: Estimators of documents alone; trees break ties by the place of a row.
OF_DOCUMENTS = (WrappedRanker, HistGradientBoostingRanker)
RIDGE = LowRankSurrogateRanker()
DRAWN = {
    **PARAMETERS,
    StackingRanker: {
        "estimators": [
            [("ridge", RIDGE), ("order", OrderPreservingRegressor(tol=1e-8))]
        ],
        "target_loss": ["ndcg@10", "map"],
    },
}
BINARY = (PrecisionAtKPerceptron, StructuredHingeBinaryClassifier)


class Case(NamedTuple):
    """What `fit` takes: X, and its other arguments by name."""

    estimator: Any
    X: Any
    y: Any
    given: dict

    @property
    def kind(self):
        """How far two fits of the same problem may differ."""
        params = self.estimator.get_params(deep=False)
        inner = params.get("estimator", "ridge")
        steps = (
            params.get("solver") in ("sgd", "perceptron")
            or params.get("early_stopping") is True
        )
        own = (PrecisionAtKPerceptron, StackingRanker, *OF_DOCUMENTS)
        if isinstance(self.estimator, own) or steps:
            return "exact"
        if inner == "trees" or not isinstance(inner, str):
            return "exact"
        if isinstance(self.estimator, HINGES):
            return "hinge"
        is_smooth = (
            isinstance(self.estimator, OrderPreservingRegressor) or inner == "logistic"
        )
        is_smooth |= inner == "auto" and self.is_fixed
        return "smooth" if is_smooth else "closed"

    @property
    def is_fixed(self):
        """Whether y is of fixed items or of classes."""
        return np.ndim(self.y) > 1 or isinstance(self.estimator, CLASSIFIERS)

    @property
    def is_centred(self):
        """Whether an offset of a column changes nothing."""
        params = self.estimator.get_params(deep=False)
        return (
            self.is_scaled
            and params.get("fit_intercept", True)
            and params.get("centered", True)
        )

    @property
    def is_scaled(self):
        """Whether the estimator standardises the features."""
        params = self.estimator.get_params(deep=False)
        if isinstance(self.estimator, PrecisionAtKPerceptron):
            return self.estimator.solver == "averaged"
        sequences = isinstance(
            self.estimator, StructuredHingeSequenceClassifier | WrappedRanker
        )
        own = (
            isinstance(params.get("estimator", ""), str)
            and params.get("estimator") != "trees"
        )
        return own and not sequences and params.get("standardize", True)

    def rows(self, index):
        """The same case of other rows."""
        given = {name: np.asarray(value)[index] for name, value in self.given.items()}
        return self._replace(X=self.X[index], y=self.y[index], given=given)


# Cases ------------------------------------------------------------------------------


def make_case(choices):
    """An estimator with good parameters, and data of a kind that people have."""
    rng = choices.rng
    estimator = make_estimator(choices)
    n = choices.one([24, 12, 40])
    n_columns = choices.one([2, 1, 3, 4])
    X = np.column_stack([make_column(choices, n) for _ in range(n_columns)])
    if choices.chance(25):  # every row twice
        X = np.repeat(X[: n // 2], 2, axis=0)
    signal = StandardScaler().fit_transform(X).sum(axis=1) + rng.normal(size=n)
    y = make_labels(choices, type(estimator), signal)
    given = {}
    takes = signature(estimator.fit).parameters
    if y.ndim == 1 and "qid" in takes and choices.chance(80):
        given["qid"] = np.sort(rng.integers(0, 5, n))
    if "sample_weight" in takes and choices.chance(30):
        given["sample_weight"] = weights_of(choices, n, given.get("qid"))
    if choices.chance(25):
        X = sparse.csr_matrix(np.where(rng.random(X.shape) < 0.6, X, 0.0))
    case = Case(estimator, X, y, given)
    if not case.is_centred:
        # Iterative fits to a year beside a fraction would not converge in time.
        scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
        case = case._replace(X=scaler.fit_transform(X))
    return case


def make_estimator(choices):
    """An estimator of a random class, with parameters that its fit takes."""
    cls = choices.one(DRAWN)
    table = DRAWN[cls]
    params = {name: choices.one(table[name]) for name in table if choices.chance(40)}
    if params.get("alpha", "auto") != "auto":
        params["alpha"] = choices.one([0.1, 1.0, 10.0])
    for name in ("max_iter", "tol"):
        params.pop(name, None)
    for name in ("estimator", "estimators"):
        if cls in (WrappedRanker, StackingRanker) and name in table:
            params.setdefault(name, table[name][0])
    if cls is HistGradientBoostingRanker:
        params["min_samples_leaf"] = 1  # of 20 rows there would be no trees
    is_inexact = issubclass(cls, (PrecisionAtKPerceptron, *HINGES))
    if "tol" in signature(cls).parameters and not is_inexact:
        params["tol"] = 1e-10
    if cls is LowRankSurrogateMultilabelClassifier:
        params["estimator"] = "ridge"  # the other models converge to a tolerance
    estimator = cls(**params)
    if hasattr(estimator, "random_state"):
        estimator.set_params(random_state=0)
    return estimator


def make_labels(choices, cls, signal):
    """Labels that an estimator of the class takes, which follow the signal."""
    n = len(signal)
    if cls is LowRankSurrogateMultilabelClassifier:
        noise = choices.rng.normal(size=(n, 3))
        y = (signal[:, np.newaxis] + noise > 0).astype(int)
    elif cls in BINARY:
        y = (signal > np.median(signal)).astype(int)
    elif cls in CLASSIFIERS:
        y = np.digitize(signal, np.quantile(signal, [0.3, 0.7]))
    elif choices.chance(35) and cls not in OF_DOCUMENTS:
        noise = choices.rng.normal(size=(n, choices.one([3, 2, 4])))
        y = np.digitize(signal[:, np.newaxis] + noise, [0.0, 1.0]).astype(float)
    else:
        y = np.digitize(signal, np.quantile(signal, [0.5, 0.8])).astype(float)
    if choices.chance(25):
        return (y > 0).astype(y.dtype)
    return y


def make_column(choices, n):
    rng = choices.rng
    return choices.one(
        [
            lambda: rng.normal(size=n),
            lambda: rng.integers(0, 3, n).astype(float),
            lambda: (rng.random(n) < 0.5).astype(float),
            lambda: np.round(2000 + 10 * rng.random(n)),
            lambda: 1e-9 * rng.normal(size=n),
            lambda: 1e9 * rng.exponential(size=n),
            lambda: 1e5 + rng.normal(size=n),
            lambda: np.full(n, 3.0),
        ]
    )()


def weights_of(choices, n, qid):
    """Weights 1 and 2 of rows, or of whole lists."""
    weights = choices.rng.integers(1, 3, n).astype(float)
    return weights if qid is None else weights[np.searchsorted(qid, qid)]


# Changes ----------------------------------------------------------------------------


class Changed(NamedTuple):
    """The same problem in another form.

    Attributes
    ----------
    case : Case
    at : array or matrix, or None
        The rows of the first case in the form of this one; None is as they were.
    items : array or None
        Where the items of this one stand in the first case; None is as they were.
    fit : callable
        ``fit(case) -> model``
    """

    case: Case
    at: Any = None
    items: Any = None
    fit: Callable = lambda case: clone(case.estimator).fit(case.X, case.y, **case.given)


def in_units(choices, case):
    """Columns in other units, which are powers of two where nothing may be rounded."""
    if not case.is_scaled:
        return None
    powers = choices.rng.integers(-20, 21, case.X.shape[1]).astype(float)
    units = 2.0**powers if case.kind == "exact" else 10.0 ** (powers / 3)
    if sparse.issparse(case.X):
        X = case.X.copy()
        X.data *= units[X.indices]
    else:
        X = case.X * units
    return Changed(case._replace(X=X), X)


def with_offsets(choices, case):
    if case.kind == "exact" or not case.is_centred or sparse.issparse(case.X):
        return None
    level = 10.0 ** choices.one([6, 3]) * case.X.std(axis=0)
    if case.is_fixed:  # a feature with most entries 0 has a unit of its own
        zeros = np.average(
            case.X == 0.0, axis=0, weights=case.given.get("sample_weight")
        )
        level[zeros > 0.5] = 0.0
    X = case.X + level
    return Changed(case._replace(X=X), X)


def with_another_form(choices, case):
    """CSR for a dense array, and a dense array for CSR."""
    if case.kind == "exact" or not get_tags(case.estimator).input_tags.sparse:
        return None
    X = case.X.toarray() if sparse.issparse(case.X) else sparse.csr_matrix(case.X)
    return Changed(case._replace(X=X), X)


def with_other_columns(choices, case):
    if case.kind == "exact":
        return None
    X = case.X[:, choices.rng.permutation(case.X.shape[1])]
    return Changed(case._replace(X=X), X)


def with_rows_in_another_order(choices, case):
    if case.kind == "exact" or isinstance(
        case.estimator, StructuredHingeSequenceClassifier
    ):
        return None  # the rows of a sequence stand in their order
    return Changed(case.rows(choices.rng.permutation(case.X.shape[0])))


def with_items_in_another_order(choices, case):
    if case.kind == "exact" or np.ndim(case.y) != 2:
        return None
    items = choices.rng.permutation(case.y.shape[1])
    return Changed(case._replace(y=case.y[:, items]), items=items)


def with_rows_twice(choices, case):
    """Rows (of documents: lists) of weight 2 stand there twice (under another id)."""
    weights, qid = case.given.get("sample_weight"), case.given.get("qid")
    if case.kind == "exact" or weights is None or (qid is None and not case.is_fixed):
        return None  # without ids all documents are one list
    again = np.flatnonzero(weights == 2.0)
    given = {
        name: value for name, value in case.given.items() if name != "sample_weight"
    }
    twice = case._replace(given=given).rows(
        np.concatenate([np.arange(len(weights)), again])
    )
    if qid is not None:
        twice.given["qid"][len(weights) :] += 100
    return Changed(twice)


def with_weights_times_a_number(choices, case):
    weights = case.given.get("sample_weight")
    if case.kind == "exact" or weights is None or case.estimator.alpha == "auto":
        return None
    is_one_list = (
        isinstance(case.estimator, StructuredHingeBinaryClassifier) or not case.is_fixed
    )
    if is_one_list and "qid" not in case.given:
        return None  # weights of the rows of one list may count copies
    weights = choices.one([10.0, 0.01]) * weights
    return Changed(case._replace(given={**case.given, "sample_weight": weights}))


def in_another_layout(choices, case):
    if sparse.issparse(case.X):
        kinds = [sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix]
        return Changed(case._replace(X=choices.one(kinds)(case.X)))
    fixed, fortran = case.X.copy(), np.asfortranarray(case.X)
    fixed.flags.writeable = False
    layouts = [fixed, case.X.tolist(), fortran, np.repeat(case.X, 2, axis=0)[::2]]
    return Changed(
        case._replace(X=choices.one(layouts[:2] if case.kind == "exact" else layouts))
    )


def with_entries_in_parts(choices, case):
    """Entries of a sparse matrix as sums of two, and zeros that are stored."""
    if not sparse.issparse(case.X) or case.kind == "exact":
        return None
    X, zeros = case.X.tocoo(), np.arange(min(case.X.shape))
    data = np.concatenate([0.25 * X.data, 0.75 * X.data, 0.0 * zeros])
    places = (
        np.concatenate([X.row, X.row, zeros]),
        np.concatenate([X.col, X.col, zeros]),
    )
    return Changed(case._replace(X=sparse.coo_matrix((data, places), shape=X.shape)))


def with_other_ids(choices, case):
    if "qid" not in case.given:
        return None
    ids = choices.one(RENAMED)(case.given["qid"])
    return Changed(case._replace(given={**case.given, "qid": ids}))


def with_other_names_of_classes(choices, case):
    if not isinstance(case.estimator, CLASSIFIERS + BINARY):
        return None
    name = choices.one([lambda y: np.array(list("abc"))[y], lambda y: 10 * y - 7])
    return Changed(case._replace(y=name(case.y)))


def in_blocks(choices, case):
    """Blocks of whole lists, by `fit_blocks`, or by `merge` of models of one block each."""
    qid = case.given.get("qid")
    if case.kind == "exact" or not hasattr(case.estimator, "fit_blocks"):
        return None
    if qid is None and not case.is_fixed:
        return None  # one list cannot be cut
    n = case.X.shape[0]
    cuts = [n // 3, n // 2] if qid is None else np.searchsorted(qid, [2, 4])
    parts = [case.rows(rows) for rows in np.split(np.arange(n), cuts) if len(rows)]
    given = [
        (c.X, c.y, c.given.get("qid"), c.given.get("sample_weight")) for c in parts
    ]
    is_class = isinstance(case.estimator, LowRankSurrogateClassifier)
    classes = {"classes": np.unique(case.y)} if is_class else {}
    if case.kind == "closed" and choices.chance(50):
        models = [clone(case.estimator) for _ in given]
        fit = lambda _: merge(  # noqa: E731
            [
                m.fit_blocks([block], **classes)
                for m, block in zip(models, given, strict=True)
            ]
        )
    else:
        fit = lambda _: clone(case.estimator).fit_blocks(given, **classes)  # noqa: E731
    return Changed(case, fit=fit)


CHANGES = [
    in_units,
    with_offsets,
    with_another_form,
    with_other_columns,
    with_rows_in_another_order,
    with_items_in_another_order,
    with_rows_twice,
    with_weights_times_a_number,
    in_another_layout,
    with_entries_in_parts,
    with_other_ids,
    with_other_names_of_classes,
    in_blocks,
]


# Comparison -------------------------------------------------------------------------


def run_invariance(choices):
    """Fit a drawn case and the same in another form; returns counts of calls by their end.

    Raises
    ------
    AssertionError
        If the models differ, or one form is refused and the other is not.
    """
    case, counts = make_case(choices), Counter()
    applied = [
        (change, found) for change in CHANGES if (found := change(choices, case))
    ]
    change, changed = choices.one(applied)
    fits = [ended(Changed(case), counts), ended(changed, counts)]
    what = f"{case.estimator!r} {change.__name__}"
    if None in fits:
        if case.kind != "smooth":
            assert fits == [None, None], f"{what}: one of both is refused, {fits}"
        return counts
    before, after = fits
    check_lists_alone(what, case, before)
    found = scores(after, case.X if changed.at is None else changed.at, case)
    counts["calls"] += 2
    expected = scores(before, case.X, case)
    if changed.items is not None and expected.size > 1:
        of_items = getattr(before, "decoder_", "sort") in ("sort", "score")
        if not of_items or expected.shape[1] != len(changed.items):
            return counts  # predictions of pairs, of places or of sets
        expected = expected[:, changed.items]
    compare(what, case, before, after, expected, found)
    return counts


def check_lists_alone(what, case, model):
    """Compare the ranks and the kept rows of each list alone with those of the whole batch."""
    if "qid" not in case.given or isinstance(
        case.estimator, WrappedRanker
    ):  # BLAS sums by batch
        return
    qid = np.asarray(case.given["qid"])
    if hasattr(model, "rank"):
        together = model.rank(case.X, qid=qid)
        for one in np.unique(qid):
            alone = model.rank(case.X[qid == one], qid=qid[qid == one])
            assert np.array_equal(alone, together[qid == one]), (
                f"{what}: the list {one} alone"
            )


def ended(changed, counts):
    """The fitted model; None if it was refused, or is smooth and did not converge."""
    counts["calls"] += 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = changed.fit(changed.case)
        except (TypeError, ValueError):
            counts["refused"] += 1
            return None
    stopped = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    if stopped and changed.case.kind == "smooth":
        counts["not converged"] += 1
        return None
    return model


def scores(model, X, case):
    """Numbers that the model predicts; those of documents minus the mean of their list."""
    if hasattr(model, "objective_"):
        return np.atleast_2d(model.objective_)  # many coefficients may have it
    names = ("predict_surrogate", "decision_function", "predict")
    found = getattr(model, next(name for name in names if hasattr(model, name)))(X)
    found = np.asarray(found, dtype=float).reshape(case.X.shape[0], -1)
    if not case.is_fixed and not isinstance(case.estimator, BINARY):
        qid = case.given.get("qid", np.zeros(len(found)))
        found = found - [found[qid == one].mean(axis=0) for one in qid]
    return found


def compare(what, case, before, after, expected, found):
    if case.kind == "hinge":
        for a, b in ((before, after), (after, before)):
            gap = getattr(a, "dual_gap_", np.nan)
            gap = 1e-3 * (1.0 + abs(a.objective_)) if np.isnan(gap) else gap
            over = (a.objective_ - gap) - b.objective_
            assert not over > 1e-6 * (1.0 + abs(a.objective_)), (
                f"{what}: objectives, by {over:g}"
            )
        return
    size = max(np.abs(expected).max(), 1e-3)
    worst = np.abs(found - expected).max() / size
    assert worst <= TOLERANCES[case.kind], f"{what}: by {worst:.2g} of the largest"
