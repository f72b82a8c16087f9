"""Fuzzing: estimators, measures, decoders and surrogates on good and bad input, by seeds.

A call fails unless its result is finite and keeps its promises, or it is refused by a sentence of
this package or of scikit-learn's validation, with the estimator as it was before. A raw exception
of NumPy, SciPy or Python, and a RuntimeWarning, are failures. Each failure is printed with its
seed; ``--seed N --calls 1`` repeats it with its traceback.

``--kind invariance`` fits twice instead: to data and to the same data in other units, order, names,
with weights as copies, in blocks. The fits must be the same. ``--kind files`` compares readers and
measures with those of scikit-learn, pandas, pytrec_eval and ranx on mutated files.
"""

import linecache
import sys
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse

import lowrank_rank
from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact
from lowrank_rank.evaluation import (
    compare_runs,
    compare_values,
    evaluate_run,
    mean_intervals,
)
from lowrank_rank.metrics import measure_score
from lowrank_rank.structured import StructuredHingeSequenceClassifier
from lowrank_rank.surrogates import SURROGATES, precision_surrogate, surrogate_loss
from lowrank_rank.votes import consensus_ranking

from ..internals import (
    PRECISION_SURROGATES,
    Decoded,
    average_precision_bound,
    average_precision_value,
    decode_assignment,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
    decode_pd_borda,
    decode_pd_local_search,
    decode_sort,
    differences_from_matrices,
    names_of,
    net_scores,
    preference_cost,
    resolve_measure,
)
from .cases import (
    BAD_VALUES,
    ID_NAMES,
    OTHER_NAMES,
    RENAMED,
    Choices,
    make_batch,
    make_estimator,
    make_ids,
    make_labels,
    make_scores,
    make_surrogate_vectors,
    make_table,
    make_weights,
)
from .files import run_files
from .invariances import run_invariance

TOLERANCE = 1e-6  # relative to the largest prediction
PREDICTIONS = (
    "predict_surrogate",
    "decision_function",
    "predict_utility",
    "predict_preferences",
)
_OURS = str(Path(lowrank_rank.__file__).parent)
_SKLEARN = str(Path(sklearn.__file__).parent)


class FuzzFailure(AssertionError):
    """What the oracle does not let pass."""


class Refused(Exception):
    """A call that ended in a sentence."""


def add_arguments(parser):
    parser.add_argument("--kind", choices=sorted(KINDS), default="calls")
    parser.add_argument(
        "--calls", type=int, default=10_000, help="public calls to make"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--stop", action="store_true", help="stop at the first failure")


def run(args):
    """Cases seed after seed until so many calls are made; a row of counts, failures printed."""
    wanted, seed = min(args.calls, 200) if args.tiny else args.calls, args.seed
    counts, failures = Counter(), []
    while counts["calls"] < wanted:
        try:
            counts.update(KINDS[args.kind](Choices.of_seed(seed)))
        except Exception as error:
            failures.append(seed)
            print(f"seed {seed}: {describe(error)}", file=sys.stderr)
            if args.stop or wanted == 1:
                raise
            counts["calls"] += 1
        seed += 1
    print(f"seeds {args.seed} to {seed - 1}; failed: {failures or 'none'}")
    rows = [
        {
            "seeds": f"{args.seed}-{seed - 1}",
            **counts,
            "value": len(failures),
            "at_most": 0,
        }
    ]
    print(f"Fuzzed calls: {rows[0]}")
    return rows


def describe(error):
    """A failure in one line, for the table of them."""
    cause = error.__cause__ or error
    where = traceback.extract_tb(cause.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return f"{error} [{type(cause).__name__} at {place}]".replace("\n", " ")[:300]


def run_case(choices):
    """One case; returns how many calls were made and refused.

    Raises
    ------
    FuzzFailure
    """
    caller = Caller()
    kind = choices.one(
        [fuzz_estimator] * 6
        + [fuzz_measure, fuzz_decoder, fuzz_surrogate, fuzz_table, fuzz_swapped]
    )
    with suppress(Refused):
        kind(choices, caller)
    return caller.counts


KINDS = {"calls": run_case, "files": run_files, "invariance": run_invariance}


# The oracle ---------------------------------------------------------------------------


class Caller:
    """Makes calls, and judges how they end."""

    def __init__(self):
        self.counts = Counter()
        self.lenient = False  # towards a regressor inside, on input of an odd scale

    def __call__(self, function, *args, **kwargs):
        """The result of a call; `Refused` if it ends in a sentence."""
        self.counts["calls"] += 1
        given = [_copy(value) for value in (*args, *kwargs.values())]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                self.judge(error, function)
                self.counts["refused"] += 1
                raise Refused from error
        for one in caught:
            if self.lenient and not one.filename.startswith(_OURS):
                continue
            if (
                issubclass(one.category, RuntimeWarning)
                or "Complex" in one.category.__name__
            ):
                raise FuzzFailure(
                    f"{_name(function)} warned of {one.message} in {one.filename}:{one.lineno}"
                )
        for before, after in zip(given, (*args, *kwargs.values()), strict=True):
            if not _same(before, after):
                raise FuzzFailure(f"{_name(function)} changed its input")
        return result

    def judge(self, error, function):
        """Let pass what was raised on purpose, here or by scikit-learn."""
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        line = linecache.getline(last.filename, last.lineno).strip()
        on_purpose = last.filename.startswith((_OURS, _SKLEARN)) and line.startswith(
            "raise"
        )
        # scikit-learn leaves the sentence about words among its features to NumPy.
        features = any(frame.name in ("validate_data", "check_X_y") for frame in frames)
        of_numpy = features and last.name in (
            "_asarray_with_order",
            "check_array",
            "__array__",  # of a data frame
        )
        inside = self.lenient and any(
            frame.filename.startswith(_SKLEARN) and frame.name == "fit"
            for frame in frames
        )
        if inside:
            return
        if on_purpose and last.filename.startswith(_OURS) and len(str(error)) > 2000:
            raise FuzzFailure(f"{_name(function)}: {len(str(error))} characters")
        if not isinstance(error, ValueError | TypeError) or not (
            on_purpose or of_numpy
        ):
            raise FuzzFailure(
                f"{_name(function)} raised {type(error).__name__}: {error}"
            ) from error


def _name(function):
    owner = getattr(function, "__self__", None)
    return f"{owner!r}.{function.__name__}" if owner is not None else function.__name__


def _copy(value):
    plain = (
        isinstance(value, np.ndarray)
        and value.dtype != object
        and value.dtype.names is None
    )
    return value.copy() if plain or sparse.issparse(value) else None


def _same(before, after):
    if before is None:
        return True
    if sparse.issparse(before):
        return before.shape == after.shape and np.array_equal(
            before.data, after.data, equal_nan=before.data.dtype.kind in "fc"
        )
    return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")


def is_linear(estimator):
    """Whether its model is linear and one of the package."""
    inner = getattr(estimator, "estimator", "ridge")
    return isinstance(inner, str) and inner != "trees"


def check(condition, message):
    if not condition:
        raise FuzzFailure(message)


def check_close(found, expected, tolerance, message):
    scale = max(np.abs(expected).max(initial=0.0), 1e-3)  # below, all is rounding
    worst = np.abs(np.asarray(found) - expected).max(initial=0.0) / scale
    check(
        worst <= tolerance,
        f"{message}: by {worst:.2g} of the largest, {tolerance:g} allowed",
    )


# Estimators ---------------------------------------------------------------------------


def fuzz_estimator(choices, caller):
    """Fit and everything after it, or a refusal that leaves no trace."""
    estimator = make_estimator(choices)
    batch = make_batch(choices, estimator)
    takes = signature(estimator.fit).parameters
    batch = batch if "qid" in takes else batch._replace(qid=None)
    arguments = {"qid": batch.qid} if batch.qid is not None else {}
    if batch.weights is not None and "sample_weight" in takes:
        arguments["sample_weight"] = batch.weights
    wraps = hasattr(getattr(estimator, "estimator", None), "fit")
    caller.lenient = wraps and not batch.is_nice
    method = estimator.fit
    if choices.chance(15) and hasattr(estimator, "partial_fit"):
        method = estimator.partial_fit
    with unchanged_if_refused(estimator):
        caller(method, batch.X, batch.y, **arguments)
    for name in ("coef_", "intercept_", "objective_", "approximation_error_"):
        if isinstance(estimator, WrappedRanker):
            break  # those are of the model inside; what it predicts is checked
        value = np.asarray(getattr(estimator, name, 0.0))
        if name == "intercept_" and isinstance(estimator, LowRankSurrogateClassifier):
            value = value[value != -np.inf]  # of a class without rows that count
        check(np.all(np.isfinite(value)), f"{name} of {estimator!r} is {value}")
    check_predictions(choices, caller, estimator, batch)
    if choices.chance(25):
        fuzz_fitted(choices, caller, estimator, batch)


@contextmanager
def unchanged_if_refused(estimator, predictions=dict):
    """Check that a refused call has left an estimator as it was, and its predictions too."""
    before, predicted = dict(vars(estimator)), predictions()
    try:
        yield
    except Refused:
        after = vars(estimator)
        check(
            after.keys() == before.keys() and all(after[k] is before[k] for k in after),
            f"{estimator!r} was changed by a call that it refused",
        )
        same = all(
            _same(value, predictions()[name]) for name, value in predicted.items()
        )
        check(same, f"{estimator!r} predicts otherwise after a call that it refused")
        raise


def fuzz_fitted(choices, caller, estimator, batch):
    """Everything after fit on rows that it has not seen; then another fit or batch."""
    other = make_batch(choices, estimator, batch.layout, np.shape(batch.X)[-1])
    ids = {} if other.qid is None else {"qid": other.qid}
    weights = {} if other.weights is None else {"sample_weight": other.weights}
    caller.lenient |= (
        hasattr(getattr(estimator, "estimator", None), "fit") and not other.is_nice
    )
    scorer = make_ranking_scorer(choices.one(["ndcg@10", *names_of()]))
    calls = [
        (estimator.predict, (other.X,), {}),
        (estimator.score, (other.X, other.y), ids | weights),
        (scorer.score, (estimator, other.X, other.y), ids | weights),
    ]
    if hasattr(estimator, "rank"):
        calls.append((estimator.rank, (other.X,), ids))
    if "qid" in signature(estimator.predict).parameters:
        calls.append((estimator.predict, (other.X,), ids))

    def predictions():
        return {name: getattr(estimator, name)(batch.X) for name in ("predict",)}

    for function, given, named in calls:
        if "qid" not in signature(function).parameters:
            named = {name: value for name, value in named.items() if name != "qid"}
        with suppress(Refused), unchanged_if_refused(estimator):
            found = caller(function, *given, **named)
            if np.asarray(found).dtype.kind == "f":
                check(np.all(np.isfinite(found)), f"{_name(function)} is {found}")
    method = choices.one([n for n in ("partial_fit", "fit") if hasattr(estimator, n)])
    named = {
        name: value
        for name, value in (ids | weights).items()
        if name in signature(getattr(estimator, method)).parameters
    }
    with suppress(Refused), unchanged_if_refused(estimator, predictions):
        caller(getattr(estimator, method), other.X, other.y, **named)
        with suppress(Refused):
            caller(estimator.predict, other.X)


def check_predictions(choices, caller, estimator, batch):
    """Finite, the ranks those of whole lists, and the same with the rows in another order."""
    rows = np.arange(_n_rows(batch.X))
    order = choices.rng.permutation(rows)
    found = caller(estimator.predict, batch.X)
    if np.asarray(found).dtype.kind == "f":
        check(np.all(np.isfinite(found)), f"{estimator!r} predicts what is not finite")
    shuffled = take(batch.X, order)
    again = caller(estimator.predict, shuffled)
    exact = is_linear(estimator)
    exact &= not isinstance(
        estimator, StructuredHingeSequenceClassifier
    )  # rows stand in order
    exact &= getattr(estimator, "pair_features", "difference") == "difference"
    if exact:
        check(
            np.array_equal(again, np.asarray(found)[order]),
            f"{estimator!r} by other rows",
        )
    elif batch.is_nice and np.asarray(found).dtype.kind == "f":
        expected = np.asarray(found)[order]
        check_close(again, expected, TOLERANCE, f"{estimator!r} by other rows")
    for name in PREDICTIONS:
        if hasattr(estimator, name):
            check(
                _is_finite(caller(getattr(estimator, name), batch.X)),
                f"{name} is not finite",
            )
    if hasattr(estimator, "rank"):
        ids = (
            {}
            if batch.qid is None or batch.layout != "documents"
            else {"qid": batch.qid}
        )
        check_ranks(choices, caller, estimator, batch, ids)
    ids = {} if batch.qid is None else {"qid": batch.qid}
    score = caller(estimator.score, batch.X, batch.y, **ids)
    check(np.isfinite(score), f"{estimator!r} scores {score}")


def check_ranks(choices, caller, estimator, batch, ids):
    """Ranks 1..r of each list, which do not depend on the names of the ids nor on other lists."""
    ranks = caller(estimator.rank, batch.X, **ids)
    lists = [np.arange(len(ranks))] if not ids else _lists(ids["qid"])
    if ranks.ndim == 2:
        check(
            np.array_equal(np.sort(ranks), _ranks_of_rows(ranks)), "these are no ranks"
        )
        return
    for rows in lists:
        check(
            sorted(ranks[rows]) == list(range(1, len(rows) + 1)), "these are no ranks"
        )
    if not ids:
        return
    codes = np.empty(len(ranks), dtype=int)
    for code, rows in enumerate(lists):
        codes[rows] = code
    renamed = choices.one(RENAMED)(codes[::-1].max() - codes)
    again = caller(estimator.rank, batch.X, qid=renamed)
    check(np.array_equal(ranks, again), f"{estimator!r} ranks by the names of the ids")
    if not is_linear(estimator) or sparse.issparse(batch.X):
        return
    one = lists[choices.draw(len(lists))]
    alone = caller(estimator.rank, take(batch.X, one), qid=codes[one])
    check(
        np.array_equal(ranks[one], alone),
        f"{estimator!r} ranks a list by the other lists",
    )


def take(values, rows):
    """Rows of whatever holds them."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sparse.issparse(values):
        return values.tocsr()[rows]
    if isinstance(values, list):
        return [values[i] for i in rows]
    return np.asarray(values)[rows]


def _n_rows(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _lists(qid):
    rows = {}
    for row, one in enumerate(list(qid)):
        rows.setdefault(one, []).append(row)
    return [np.array(some) for some in rows.values()]


def _ranks_of_rows(ranks):
    return np.broadcast_to(np.arange(1, ranks.shape[1] + 1), ranks.shape)


def _is_finite(result):
    parts = result if isinstance(result, list) else [result]
    return all(np.isfinite(part).all() for part in parts)


# Measures, decoders, surrogates -----------------------------------------------------------


def fuzz_measure(choices, caller):
    """A measure is finite or undefined, and blind to the order of rows and to the names of ids."""
    measure = resolve_measure(choices.one(["ndcg@10", *names_of(scored=True)]))
    if choices.chance(5):
        params = sorted(measure.get_params()) or ["k"]
        if params != ["k"] or hasattr(measure, "k"):
            measure.set_params(**{choices.one(params): choices.one(BAD_VALUES)})
    layout = choices.one(["documents", "documents", "items", "preferences"])
    n = choices.one([4, 1, 2, 7])
    y, _ = make_labels(choices, n, layout)
    shape = np.shape(y)[:2] if isinstance(y, np.ndarray) and y.ndim else n
    scores = make_scores(choices, shape)
    qid = (
        make_ids(choices, n)[0]
        if choices.chance(60) and layout == "documents"
        else None
    )
    arguments = {"qid": qid, "sample_weight": make_weights(choices, n)[0]}
    value = caller(measure.measure, y, scores, **arguments)
    check(np.isfinite(value), f"{measure!r} is {value}")
    order = choices.rng.permutation(n)
    of_rows = [y, scores, *(part for part in arguments.values() if part is not None)]
    if all(np.shape(part)[:1] == (n,) for part in of_rows) and layout == "documents":
        arguments = {
            k: None if v is None else take(v, order) for k, v in arguments.items()
        }
        again = caller(
            measure.measure, take(y, order), take(scores, order), **arguments
        )
        check_close(again, value, 1e-9, f"{measure!r} depends on the order of the rows")


def fuzz_table(choices, caller):
    """A frame is refused for a column with the name and the numbers of ids."""
    is_id = choices.chance(50)
    name = choices.one(ID_NAMES if is_id else OTHER_NAMES)
    table = make_table(choices, name)
    if is_id:
        table[name] = 100 + np.arange(len(table))
    X = choices.rng.normal(size=(len(table), 2))
    read = choices.one(
        [
            compare_values,
            mean_intervals,
            lambda t: consensus_ranking(t, kind="grades"),
            lambda t: LowRankSurrogateRanker().fit(X, t),
            lambda t: measure_score("ndcg@2", t, t.to_numpy(float)),
        ]
    )
    try:
        caller(read, table)
    except Refused as refused:
        check(
            (f"The column {name!r} of" in str(refused.__cause__)) == is_id,
            f"a column {name!r} was refused: {refused.__cause__}",
        )
        raise
    check(not is_id, f"a column {name!r} was taken")


def fuzz_swapped(choices, caller):
    """Arguments in the place of others are refused where their types say what they are."""
    rows = [("a", "x", 1), ("a", "y", 0), ("b", "x", 2)]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "relevance"])
    run = qrels.rename(columns={"relevance": "score"})
    runs = {"one": {"a": {"x": 1.0, "y": 0.5}, "b": {"x": 2.0}}}
    words = [f"query {i}" for i in choices.rng.integers(0, 3, size=6)]
    grades = choices.rng.integers(0, 3, size=6).astype(choices.one([int, float]))
    caller(evaluate_run, qrels=qrels, run=run)
    caller(compare_runs, qrels, {**runs, "two": run})
    caller(ranking_target, grades, choices.one([words, np.array(words)]))
    swapped = [
        lambda: evaluate_run(run, qrels),
        lambda: evaluate_run(qrels=run, run=qrels),
        lambda: evaluate_run(qrels={"a": [("x", 0.5)]}, run=run),
        lambda: evaluate_run(qrels=qrels, run={"a": [0.5, 0.25]}),
        lambda: compare_runs(run, {"one": qrels}),
        lambda: compare_runs(runs, {"a": {"x": 1}, "b": {"x": 1}}),
        lambda: ranking_target(words, grades),
        lambda: ranking_target(pd.Series(words), grades),
    ]
    caller(choices.one(swapped))
    raise FuzzFailure("swapped arguments were taken")


DECODERS = {
    decode_sort: "items",
    decode_assignment: "depth",
    decode_map_diagonal: "triangle",
    decode_map_exact: "triangle",
    decode_map_local_search: "triangle",
    average_precision_bound: "triangle",
    decode_pd_dag: "matrix",
    decode_pd_borda: "matrix",
    decode_pd_exact: "matrix",
    decode_pd_local_search: "matrix",
    net_scores: "matrix",
    differences_from_matrices: "matrix",
}


def fuzz_decoder(choices, caller):
    """Decoders give ranks, finite values, and bounds on the right side of them."""
    decode = choices.one(DECODERS)
    layout, name = DECODERS[decode], decode.__name__
    n_lists, r = choices.one([2, 1, 0, 5]), choices.one([3, 1, 2, 5])
    u = make_surrogate_vectors(choices, n_lists, r, layout)
    arguments = {"n_items": r} if layout in ("triangle", "depth") else {}
    if arguments and choices.chance(5):
        arguments["n_items"] = choices.one(BAD_VALUES)
    if name.startswith(("decode_map", "decode_pd")) and choices.chance(50):
        arguments["bound"] = True
    decoded = caller(decode, u, **arguments)
    if not isinstance(decoded, Decoded):
        check(np.isfinite(decoded).all(), f"{name} is not finite")
        if name in ("decode_sort", "decode_assignment"):
            check(
                np.array_equal(np.sort(decoded), _ranks_of_rows(decoded)),
                "these are no ranks",
            )
        return
    check(
        np.array_equal(np.sort(decoded.ranks), _ranks_of_rows(decoded.ranks)),
        "no ranks",
    )
    check(np.isfinite(decoded.values).all(), f"values of {name} are not finite")
    valued = average_precision_value if layout == "triangle" else preference_cost
    check_close(
        caller(valued, u, decoded.ranks), decoded.values, 1e-9, f"values of {name}"
    )
    if decoded.bounds is not None:
        check(np.isfinite(decoded.bounds).all(), f"bounds of {name} are not finite")
        over = decoded.values - decoded.bounds
        over = over if layout == "triangle" else -over
        scale = np.abs(np.asarray(u, dtype=float)).sum() if decoded.values.size else 1.0
        check(np.all(over <= 1e-9 * scale), f"a value of {name} is beyond its bound")


def fuzz_surrogate(choices, caller):
    """Surrogates and objectives are finite; precision surrogates bound their loss."""
    n = choices.one([4, 1, 2, 7])
    y = choices.rng.integers(0, 2, size=n)
    scores, k = make_scores(choices, n), choices.one([1, 1, 2, *BAD_VALUES])
    kind = choices.one(["surrogate", "precision", "boosting"])
    weights = make_weights(choices, n)[0]
    qid = make_ids(choices, n)[0] if choices.chance(60) else None
    if kind == "surrogate":
        name = choices.one([*SURROGATES, *BAD_VALUES])
        v, _ = make_labels(choices, n, choices.one(["documents", "items"]))
        result = caller(surrogate_loss, name, v, scores, qid=qid, sample_weight=weights)
    elif kind == "boosting":
        name, loss = choices.one(SURROGATES), choices.one(names_of())
        objective = caller(boosting_objective, name, loss, qid=qid)
        labels, _ = make_labels(choices, n, "documents")
        result = caller(objective.__call__, labels, scores, weights)
    else:
        name = choices.one([*PRECISION_SURROGATES, "x", {}])
        result = caller(precision_surrogate, y, scores, k, surrogate=name)
    parts = result if isinstance(result, tuple) else (result,)
    check(
        all(np.isfinite(part).all() for part in parts),
        f"{kind} surrogate is not finite",
    )
