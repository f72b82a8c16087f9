"""What an argument is, by its type alone: asked before anything is converted."""

import sys
from collections.abc import Iterator, Mapping, Set

import numpy as np
from scipy import sparse

from ._check import Check, refuse

#: Kinds with a type of their own.
_TYPES = {"mapping": Mapping, "set": Set, "text": str | bytes, "iterator": Iterator}

#: Libraries of tensors, which may stand on a device or carry a gradient.
_TENSORS = ("torch", "tensorflow", "jax", "jaxlib", "cupy")


def kind_of(value):
    """Return what an argument is, by its type alone.

    Returns
    -------
    str
        "array" (numbers or booleans of NumPy: nothing to convert), "times" (dates and
        durations of NumPy), "objects" (objects and text of NumPy), "records"
        (structured arrays), "masked", "sparse", "pandas" or "polars" (data frames),
        "series" (of both), "arrow" (a table), "lazy", "tensor", "mapping", "set",
        "text", "iterator", "booster" (of `lightgbm.train` or `xgboost.train`), "none"
        or "other" (lists, tuples, scalars, objects).
    """
    if value is None:
        return "none"
    if isinstance(value, np.ndarray):
        return _kind_of_array(value)
    if sparse.issparse(value):
        return "sparse"
    for kind, types in _TYPES.items():
        if isinstance(value, types):
            return kind
    return _kind_of_library(value)


def _kind_of_array(value):
    """Return the kind of an array of NumPy."""
    if np.ma.is_masked(value):
        return "masked"
    if value.dtype.names:
        return "records"
    if value.dtype.kind in "biuf":
        return "array"
    return "times" if value.dtype.kind in "mM" else "objects"


def _kind_of_library(value):
    """Return the kind of an object of another library."""
    library = type(value).__module__.partition(".")[0]
    if library in _TENSORS:
        return "tensor"
    if library in ("lightgbm", "xgboost") and type(value).__name__ == "Booster":
        return "booster"
    if hasattr(value, "collect") and hasattr(value, "lazy"):
        # A frame of polars has `lazy` and no `collect`.
        return "lazy"
    if hasattr(value, "to_frame") and len(getattr(value, "shape", ())) == 1:
        return "series"
    for name in ("pandas", "polars"):
        # A library that was never imported cannot have made a frame.
        if isinstance(value, getattr(sys.modules.get(name), "DataFrame", ())):
            return name
    return "arrow" if hasattr(value, "column_names") else "other"


# Kinds that no function reads -------------------------------------------------------


def _finds_kind(kind):
    """Return a finder of arguments of one kind."""

    def finds(given):
        if given.kind != kind:
            return None
        return {"argument": given.name, "type": type(given.value).__name__}

    return finds


def _finds_booster(given):
    """Find a model of the training interface of LightGBM or XGBoost."""
    if given.kind != "booster":
        return None
    scores = ""
    if given.name.startswith("rankers["):
        X = "X"
        if type(given.value).__module__.startswith("xgboost"):
            X = "xgboost.DMatrix(X)"
        scores = f"{given.name} = {given.name}.predict({X})"
    return {"argument": given.name, "scores": scores}


def _finds_gradient(given):
    """Find a tensor that NumPy cannot read."""
    if given.kind != "tensor":
        return None
    is_read = not getattr(given.value, "requires_grad", False)
    if (
        is_read
        and getattr(getattr(given.value, "device", None), "type", "cpu") == "cpu"
    ):
        return None
    return {"argument": given.name}


#: Arguments that are tables of numbers in every function that has them.
_TABLES = {
    "expected",
    "loss_matrix",
    "preferences",
    "probabilities",
    "ranks",
    "support",
    "u",
}
#: Arguments that are numbers in every function that has them. Queries, judges and times
#: may be durations; `validation/_read.py` says which column of X holds durations.
_NUMBERS = {
    "clicks",
    "judge_unlabelled",
    "people",
    "position",
    "popularity",
    "propensity",
    "s",
    "sample_weight",
    "scores",
    "surrogate_regret",
    "table",
    "v",
    "values",
    "weight",
    "weights",
    "y",
    "y_pred",
    "y_score",
    "y_true",
    "z",
    *_TABLES,
}
#: Arguments that are read in one pass, and may be iterators.
_ITERATED = {"blocks", "models", "source"}
#: Lines that make seconds of durations, by the kind of the object.
_SECONDS = {
    "times": "{0} = {0} / numpy.timedelta64(1, 's')",
    "series": "{0} = {0}.dt.total_seconds()",
    "series of polars": "{0} = {0}.dt.total_microseconds() / 1e6",
    "pandas": (
        "{0} = {0}.apply(lambda column: column.dt.total_seconds() "
        "if column.dtype.kind == 'm' else column)"
    ),
    "polars": (
        "{0} = {0}.with_columns(polars.selectors.duration().dt.total_microseconds() "
        "/ 1e6)"
    ),
}


def _finds_iterator(given):
    """Find an iterator where an argument is read more than once."""
    if given.name in _ITERATED:
        return None
    return _finds_kind("iterator")(given)


def _finds_series(given):
    """Find a Series where a table is expected."""
    if given.kind != "series" or given.name not in given.tables:
        return None
    return {"argument": given.name}


def _finds_durations(given):
    """Find an array, a Series or a frame of durations where numbers are expected."""
    if given.name not in given.numbers or given.kind not in _SECONDS:
        return None
    types = [getattr(given.value, "dtype", None)]
    if given.kind in ("pandas", "polars"):
        types = given.value.dtypes
    if not any(_is_duration(dtype) for dtype in types):
        return None
    kind = given.kind
    if kind == "series" and not hasattr(given.value, "index"):
        kind = "series of polars"
    return {"argument": given.name, "line": _SECONDS[kind].format(given.name)}


def _is_duration(dtype):
    """Whether a type of NumPy, pandas or polars is one of durations."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "m"
    return str(dtype).lower().startswith("duration")


CHECKS_OF_KINDS = [
    Check(
        name="lazy",
        finds=_finds_kind("lazy"),
        sentence="{argument} is a {type}, which has no rows yet.",
        remedies={"": "{argument} = {argument}.collect()"},
        raises=TypeError,
    ),
    Check(
        name="iterator",
        finds=_finds_iterator,
        sentence="{argument} is a {type}, which can be read once.",
        remedies={"": "{argument} = list({argument})"},
        raises=TypeError,
    ),
    Check(
        name="tensor",
        finds=_finds_gradient,
        sentence="{argument} is a tensor that NumPy cannot read.",
        remedies={"": "{argument} = {argument}.detach().cpu().numpy()"},
        raises=TypeError,
    ),
    Check(
        name="booster",
        finds=_finds_booster,
        sentence=(
            "{argument} is a Booster, which holds trees and no data. A model of "
            "scikit-learn's interface is needed: LGBMRanker or XGBRanker."
        ),
        remedies={"For a comparison, its scores are enough": "{scores}"},
        raises=TypeError,
    ),
    Check(
        name="Series instead of a table",
        finds=_finds_series,
        sentence="{argument} is a Series, one row or one column, but must be a table.",
        remedies={
            "If it is a row": "{argument} = [{argument}.to_list()]",
            "If it is a column": "{argument} = {argument}.to_frame()",
        },
    ),
    Check(
        name="durations",
        finds=_finds_durations,
        sentence="{argument} holds durations, but must hold numbers.",
        remedies={"In seconds": "{line}"},
    ),
]


def arrive(tables=_TABLES, numbers=_NUMBERS, /, **arguments):
    """Refuse arguments of a kind that no function reads.

    Every public function that takes data calls this first, with all of its data. The
    arguments of the names `tables` may not be Series, and those of the names `numbers`
    may not hold durations.
    """
    for name, value in arguments.items():
        if value is None:
            continue
        if type(value) is np.ndarray and value.dtype.kind != "m":
            continue
        kind = kind_of(value)
        refuse(
            CHECKS_OF_KINDS,
            name=name,
            value=value,
            kind=kind,
            tables=tables,
            numbers=numbers,
        )
