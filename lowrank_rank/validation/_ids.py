"""Query ids as users give them."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..lists._lists import (
    RankingLists,
    codes_and_categories,
    factorize,
    is_missing,
    missing_ids,
    plain,
    without_fraction,
)
from ._arrays import numbers
from ._check import refuse
from ._checks_of_ids import CHECKS_OF_ALL_IDS, CHECKS_OF_IDS
from ._columns import shown


def id_array(qid, name="qid"):
    """Convert ids to a one-dimensional array; tuples and mixed types stay objects."""
    is_usual = type(qid) is np.ndarray and qid.ndim == 1
    if not is_usual:
        refuse(CHECKS_OF_IDS, value=qid, name=name)
    if not hasattr(qid, "__array__"):
        return _array_of_list(list(qid))
    return np.asarray(qid)


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
        refuse(CHECKS_OF_ALL_IDS, value=qid, name="qid", n_rows=n_rows)
    codes, ids = read_codes(qid)
    if categories is not None:
        ids = categories[ids]
    return RankingLists.of_codes(codes, ids)


def read_codes(ids, name="qid"):
    """`factorize` an array of ids; refuse no ids, missing and unhashable ones."""
    if len(ids) == 0:
        refuse(CHECKS_OF_ALL_IDS, value=ids, name=name)
    try:
        if ids.dtype != object and not missing_ids(ids).any():
            return factorize(ids)
        codes, distinct = factorize(ids)
    except TypeError:  # no hash
        refuse(CHECKS_OF_ALL_IDS, value=ids, name=name)
        raise
    if missing_ids(distinct).any():  # each NaN is a key of its own
        refuse(CHECKS_OF_ALL_IDS, value=ids, name=name)
    return codes, distinct


def codes_of(column, name):
    """`factorize` a column of any ids; messages say `name` instead of qid."""
    return read_codes(id_array(column, name), name)


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
    if missing_ids(qid).any():
        refuse(CHECKS_OF_ALL_IDS, value=qid, name="qid")


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
