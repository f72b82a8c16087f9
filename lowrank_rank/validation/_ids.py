"""Query ids as users give them."""

from collections.abc import Mapping, Set

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..lists._ids import (
    codes_and_categories,
    factorize,
    is_missing,
    missing_ids,
    plain,
    without_fraction,
)
from ..lists._lists import RankingLists
from ._arrays import check_unmasked, numbers
from ._columns import shown


def id_array(qid):
    """Convert ids to a one-dimensional array; tuples and mixed types stay objects."""
    check_unmasked(qid, "qid")
    if isinstance(qid, str):
        raise ValueError(
            f"qid is the text {shown(qid)}: give the ids of the rows, as "
            f"frame[{shown(qid)}]."
        )
    if isinstance(qid, Set | Mapping):
        raise TypeError(
            f"qid is a {type(qid).__name__}, and no order of the rows: give a list of "
            "ids, one for each row."
        )
    if not hasattr(qid, "__array__"):
        try:
            ids = list(qid)
        except TypeError:
            raise TypeError(
                f"qid must be an array-like of ids, got {shown(qid)}."
            ) from None
        return _array_of_list(ids)
    qid = np.asarray(qid)
    if qid.ndim != 1:
        raise ValueError(f"qid must be one-dimensional, got the shape {qid.shape}.")
    return qid


def _array_of_list(ids):
    """Array of a list of ids; of objects where NumPy would change the ids."""
    is_one_type = len(set(map(type, ids))) == 1
    if is_one_type and isinstance(ids[0], str | int | float):
        array = np.asarray(ids)
        is_exact = True
        if isinstance(ids[0], str):
            # NumPy drops zero bytes at the end of strings.
            is_exact = not any(one[-1:] == "\0" for one in ids)
        elif isinstance(ids[0], int):
            # Large integers become floats.
            is_exact = array.dtype.kind in "iub"
        if is_exact:
            return array
    # NumPy would merge ["1", 1], and make a matrix of tuples.
    return np.fromiter(ids, dtype=object, count=len(ids))


def id_text(one, name):
    """Convert an id to text, a whole float as an integer; refuse a missing id."""
    if is_missing(one):
        raise ValueError(
            f"{name} contains a missing or infinite id, {shown(one)}: drop such rows "
            "or give them an id."
        )
    if isinstance(one, tuple):
        return str(tuple(without_fraction(plain(part)) for part in one))
    return str(without_fraction(one))


def read_lists(qid, n_rows=None):
    """Read the lists of the rows; ``qid=None`` is one list of `n_rows` rows.

    Examples
    --------
    >>> lists = read_lists(["b", "a", "b"])
    >>> lists.ids.tolist(), lists.lengths.tolist()
    (['b', 'a'], [2, 1])
    """
    if qid is None:
        return RankingLists([n_rows])
    qid, categories = codes_and_categories(qid)
    qid = id_array(qid)
    if n_rows is not None and len(qid) != n_rows:
        raise ValueError(
            f"qid has the length {len(qid)}, and there are {n_rows} rows: give one "
            "query id for each row of X. For sizes give "
            "numpy.repeat(numpy.arange(len(qid)), qid)."
        )
    codes, ids = read_codes(qid)
    if categories is not None:
        ids = categories[ids]
    return RankingLists.of_codes(codes, ids)


def read_codes(ids):
    """`factorize` an array of ids; refuse no ids, missing and unhashable ones."""
    if len(ids) == 0:
        raise ValueError("qid is empty: there must be at least one row.")
    if ids.dtype != object:
        refuse_missing_ids(ids)
        return factorize(ids)
    try:
        codes, distinct = factorize(ids)
    except TypeError as error:
        refuse_missing_ids(ids)
        raise TypeError(f"qid must hold hashable ids: {error}.") from None
    if missing_ids(distinct).any():  # each NaN is a key of its own
        refuse_missing_ids(ids)
    return codes, distinct


def codes_of(column, name):
    """`factorize` a column of any ids; messages say `name` instead of qid."""
    try:
        return read_codes(id_array(column))
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).replace("qid", name)) from None


def coded(columns, names):
    """Codes (n, k) of k columns of the same ids, and the distinct ids.

    Messages call the columns by `names`.
    """
    codes_of_columns = []
    ids_of_columns = []
    for column, name in zip(columns, names, strict=True):
        codes, ids = codes_of(column, repr(name))
        codes_of_columns.append(codes)
        ids_of_columns.append(ids)
    check_consistent_length(*codes_of_columns)
    if len({ids.dtype.kind for ids in ids_of_columns}) > 1:
        # NumPy would make strings of numbers.
        ids_of_columns = [ids.astype(object) for ids in ids_of_columns]
    shared_codes, distinct = factorize(np.concatenate(ids_of_columns))
    ends = np.cumsum([len(ids) for ids in ids_of_columns])
    shared = np.split(shared_codes, ends[:-1])
    recoded = [
        shared_code[codes]
        for shared_code, codes in zip(shared, codes_of_columns, strict=True)
    ]
    return np.column_stack(recoded), distinct


def refuse_missing_ids(qid):
    """Refuse missing and infinite ids; the message names the first row."""
    missing = missing_ids(qid)
    if not missing.any():
        return
    row = int(np.argmax(missing))
    raise ValueError(
        f"qid contains a missing or infinite id (row {row}: {shown(qid[row])}): "
        "every row needs an id."
    )


def check_ranks(values, name, shape):
    """Check ranks 1..r, or those of a `Decoded`; return them as integers."""
    n_lists, r = shape
    values = np.asarray(getattr(values, "ranks", values))
    ranks = numbers(values, name)
    if ranks.shape != shape:
        raise ValueError(
            f"{name} must be the ranks 1..{r} of all items of {n_lists} lists, shape "
            f"{shape}, got the shape {ranks.shape}."
        )
    is_wrong = np.any(np.sort(ranks, axis=1) != np.arange(1, r + 1), axis=1)
    if is_wrong.any():
        q = int(np.argmax(is_wrong))
        raise ValueError(
            f"{name}[{q}] must be the ranks 1..{r} of all items, 1 = best, got "
            f"{shown(values[q].tolist())}. An order, item indices best first, has the "
            "ranks np.argsort(order) + 1."
        )
    return ranks.astype(np.intp, copy=False)
