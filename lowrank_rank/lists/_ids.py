"""Ids of lists: equality, digests, and codes in order of first appearance."""

from hashlib import blake2b

import numpy as np


def plain(value):
    """Convert a NumPy scalar to a Python one, for messages."""
    return value.item() if isinstance(value, np.generic) else value


def codes_and_categories(qid):
    """Codes and categories of a pandas Categorical; else the ids as given, and None."""
    categorical = getattr(qid, "cat", qid)  # an index is its own accessor
    if not hasattr(categorical, "codes") or not hasattr(categorical, "categories"):
        return qid, None
    codes = np.asarray(categorical.codes)
    if np.any(codes < 0):
        return qid, None  # missing ids are refused with their row
    return codes, np.asarray(categorical.categories)


def without_fraction(one):
    """Convert a whole float to an integer: 1 and 1.0 are one id."""
    if isinstance(one, float | np.floating) and one % 1 == 0:
        return int(one)
    return one


def digest(one):
    """Digest an id in 64 bits: fitted models keep no id in clear.

    Equal ids have the same digest.
    """
    if type(one) in (int, str):
        text = f"[{one!r}]"
    else:
        parts = one if isinstance(one, tuple) else [one]
        text = repr([plain(part) for part in parts])
    return blake2b(text.encode(), digest_size=8).digest()


def same_id(a, b):
    """Whether two single ids are equal, of whatever types they are."""
    is_equal = plain(a) == plain(b)
    # NumPy compares tuples item by item.
    return np.ndim(is_equal) == 0 and bool(is_equal)


def factorize(ids):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids.

    Parameters
    ----------
    ids : ndarray of shape (n_rows,)
        At least one; objects must be hashable.
    """
    if ids.dtype == object:
        codes, distinct = _hashed(ids)
        return codes, np.fromiter(distinct, dtype=object, count=len(distinct))
    # Ids mostly come in runs: only the first row of each run is looked up.
    is_new_run = np.concatenate([[True], (ids[1:] != ids[:-1]).astype(bool)])
    first_rows = np.flatnonzero(is_new_run)
    run_lengths = np.diff(np.append(first_rows, len(ids)))
    ids_of_runs = ids[first_rows]
    if ids_of_runs.dtype.kind in "SU":
        # Hashing takes a sixth of the time of sorting.
        codes, distinct = _hashed(ids_of_runs)
        distinct_ids = np.array(distinct, dtype=ids_of_runs.dtype)
    else:
        codes, distinct_ids = _sorted(ids_of_runs)
    return np.repeat(codes, run_lengths), distinct_ids


def _hashed(ids):
    """Codes of hashable ids in order of first appearance, and the distinct ids."""
    code_of: dict = {}
    codes = [code_of.setdefault(one, len(code_of)) for one in ids.tolist()]
    return np.array(codes, dtype=np.intp), list(code_of)


def _sorted(ids):
    """`_hashed` of numbers, by sorting."""
    keys = ids
    if ids.dtype.kind in "iu" and ids.min() >= 0:
        # Integers of 16 bits are sorted by radix, in linear time.
        keys = ids.astype(np.min_scalar_type(ids.max()))
    _, first, sorted_codes = np.unique(keys, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    code_of = np.empty_like(by_appearance)
    code_of[by_appearance] = np.arange(len(first))
    return code_of[sorted_codes], ids[first[by_appearance]]


def missing_ids(ids):
    """Whether each id, or a part of it, is missing or infinite."""
    if ids.dtype.names is not None:
        is_missing_row = np.zeros(len(ids), dtype=bool)
        for name in ids.dtype.names:
            parts = missing_ids(ids[name])
            is_missing_row |= parts.reshape(len(ids), -1).any(axis=1)
        return is_missing_row
    if ids.dtype.kind in "fc":
        return ~np.isfinite(ids)
    if ids.dtype.kind in "mM":
        return np.isnat(ids)
    if ids.dtype == object:
        flags = np.fromiter(map(is_missing, ids.ravel()), dtype=bool, count=ids.size)
        return flags.reshape(ids.shape)
    return np.zeros(len(ids), dtype=bool)


def is_missing(one):
    """Whether an id, or a part of it, is None, NaN, NaT or infinite."""
    if isinstance(one, tuple | frozenset):
        return any(map(is_missing, one))
    if isinstance(one, np.void) and one.dtype.names is not None:
        return bool(missing_ids(np.asarray(one).reshape(1))[0])
    if one is None:
        return True
    try:
        is_nan = bool(one != one)
    except TypeError:  # comparisons with pandas.NA have no truth value
        return True
    except ValueError:  # an array is no id, and is refused as one
        return False
    return is_nan or (isinstance(one, float) and abs(one) == float("inf"))
