"""Arrays as users give them: numbers, without a mask, finite, and no larger than the machine."""

import os
import warnings

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

#: Entries up to which sums over a list, and over its pairs, stay finite.
LARGEST = 1e290
_ENTRIES_AT_ONCE = 2**17
_FLOAT_MAX = float(np.finfo(np.float64).max)


def check_unmasked(values, name):
    """Refuse a masked array in which something is masked: its mask would be ignored."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, whose mask would be ignored: leave out the rows that are "
            f"masked, or say {name}.filled(np.nan) where NaN is taken."
        )


def as_array(values):
    """``numpy.asarray``; ragged lists are refused by every version of NumPy.

    Below 1.24 it warns and makes an array of objects of them.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Creating an ndarray from ragged")
        try:
            return np.asarray(values)
        except Warning as ragged:
            raise ValueError(f"its rows differ in length ({ragged})") from None


def plain(value):
    """A value as messages show it: a number of Python's, not one that NumPy spells out."""
    return value.item() if isinstance(value, np.generic) else value


def n_rows(X):
    """How many rows X has before it is checked; 1 where it is no table at all."""
    if getattr(X, "shape", ()):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") and not isinstance(X, np.ndarray) else 1


def numbers(values, name):
    """Values as a float array of any shape.

    Raises
    ------
    ValueError
        If they are no real numbers, ragged or masked.
    """
    check_unmasked(values, name)
    try:
        array = as_array(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from None
    kind = "complex ones" if array.dtype.kind == "c" else f"the type {array.dtype}"
    raise ValueError(f"{name} must be an array of numbers, got {kind}.")


def check_finite(array, name, largest=np.inf):
    """Refuse NaN and what is larger than `largest`, naming the first; returns the array."""
    wrong = ~(np.abs(array) <= min(largest, _FLOAT_MAX))
    if wrong.any():
        place = [int(i) for i in np.argwhere(wrong)[0]]
        bound = "" if largest > LARGEST else f", at most {largest:g}"
        raise ValueError(f"{name}{place} is {array[tuple(place)]:g}: it must be finite{bound}.")
    return array


def machine_memory():
    """Bytes of memory of this machine, or None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


def check_size(what, n_bytes, remedy):
    """Refuse what is larger than the machine's memory, before it is taken."""
    memory = machine_memory()
    if memory is not None and n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / 2**30:.4g} GiB, more than the {memory / 2**30:.4g} GiB "
            f"of this machine: {remedy}."
        )


# The range of the features ----------------------------------------------------------

#: Squares beyond it are refused: sums of them with weights need room.
_LARGEST_SQUARES, _SMALLEST_SQUARES = 1e300, 1e-300


def out_of_range():
    """The error of features that cannot be computed with."""
    return ValueError(
        "The features are too large or too small for their squares to be computed: bring them "
        "to one scale (StandardScaler)."
    )


def sum_of_squares(X):
    """Sum of the squared entries, dense or sparse, in double precision; inf on overflow."""
    entries = X.data if sparse.issparse(X) else X.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if entries.dtype == np.float64:
            return float(np.dot(entries, entries))
        if entries.dtype == np.float32:
            pieces = (entries[rows] for rows in gen_batches(len(entries), _ENTRIES_AT_ONCE))
            total = sum(float(np.dot(some, some)) for some in pieces)
            if 1e-20 < total < np.inf:  # else squares may leave the range of single precision
                return total
        return float(np.einsum("i,i->", entries, entries, dtype=np.float64))


def mean_square(X, degree=2, total=None):
    """Mean squared norm of the rows; refuses features whose squares leave the floating range.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, p)
        NaN is left out.
    degree : int, default=2
        Of the products of features that have to stay in the range.
    total : float or None
        The `sum_of_squares`, where it is known.
    """
    total = sum_of_squares(X) if total is None else total
    if np.isnan(total):
        X = X.data if sparse.issparse(X) else X
        X = X[~np.isnan(X)].reshape(-1, 1)
        total = sum_of_squares(X)
    power = 2.0 / degree
    if not total < _LARGEST_SQUARES**power:
        raise out_of_range()
    value = total / max(X.shape[0], 1)
    if value < _SMALLEST_SQUARES**power and np.any(X.data if sparse.issparse(X) else X):
        raise out_of_range()
    return value


def fits_in_single(root, targets):
    """Whether roots of weights, and targets times them, stay in the range of single precision."""
    some = root[root > 0]
    in_range = some.size == 0 or (some.min() > 1e-15 and some.max() < 1e15)
    return in_range and np.abs(targets).max(initial=0.0) < 1e20


def is_finite(values):
    """Whether all of a float array is finite; one pass, with nothing of its size, where it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)
    return bool(np.isfinite(total)) or bool(np.isfinite(values).all())
