"""What an argument is, by its type alone: asked before anything is converted."""

import sys
from collections.abc import Iterator, Mapping, Set

import numpy as np
from scipy import sparse

from ._check import Check, Given, refuse

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
    if hasattr(value, "to_frame") and len(value.shape) == 1:
        return "series"
    for name in ("pandas", "polars"):
        # A library that was never imported has made no frame.
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
        finds=_finds_kind("iterator"),
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
        finds=_finds_kind("booster"),
        sentence=(
            "{argument} is a Booster, which holds trees and no data. A model of "
            "scikit-learn's interface is needed: LGBMRanker or XGBRanker."
        ),
        raises=TypeError,
    ),
]


def arrive(**arguments):
    """Refuse arguments of a kind that no function reads.

    Every public function that takes data calls this first, with all of its data.
    """
    for name, value in arguments.items():
        if value is None or type(value) is np.ndarray:
            continue
        refuse(CHECKS_OF_KINDS, Given(name=name, value=value, kind=kind_of(value)))
