"""Ranking data: LETOR files, generators with known truth, a real task without download."""

import bz2
import gzip
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_files
from sklearn.utils import Bunch, check_random_state

from ._lists import RankingLists, split_target

# Files ------------------------------------------------------------------------------


def load_letor(path, *, n_features=None, dtype=np.float64):
    """Read ranking data in LETOR's format: SVMlight lines with a qid.

    Each line is ``grade qid:7 1:0.3 4:1.0 # comment``. Files ending in .gz or .bz2 are
    unpacked while they are read.

    Parameters
    ----------
    path : str, Path, or list of these
        One file, or several that shall have the same features (train, validation, test).
    n_features : int or None, default=None
        Number of features; None takes the highest that occurs in any of the files.
    dtype : dtype, default=float64
        Of the features.

    Returns
    -------
    X : CSR matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        For a list of paths: a list with one triple (X, y, qid) per file.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    ValueError
        If a file is empty, or holds a line without qid or one that cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from lowrank_rank.datasets import load_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "train.txt"
    ...     _ = path.write_text("2 qid:1 1:0.5 3:1\\n0 qid:1 2:0.1 # d2\\n")
    ...     X, y, qid = load_letor(path)
    >>> X.shape, y.tolist(), qid.tolist()
    ((2, 3), [2.0, 0.0], [1, 1])
    """
    several = isinstance(path, list | tuple)
    paths = [Path(p) for p in (path if several else [path])]
    if not paths:
        raise ValueError("load_letor got no path: give a file or a list of files.")
    try:
        loaded = load_svmlight_files(
            [str(p) for p in paths], n_features=n_features, dtype=dtype, query_id=True
        )
    except (ValueError, OverflowError) as error:
        names = ", ".join(str(p) for p in paths)
        raise ValueError(
            f"{names}: not readable as SVMlight with qid and n_features={n_features}: {error} "
            "(each line must be 'grade qid:<int> <feature>:<value> ...')"
        ) from error
    triples = [tuple(loaded[i : i + 3]) for i in range(0, len(loaded), 3)]
    for p, (_, y, qid) in zip(paths, triples, strict=True):
        if len(y) == 0:
            raise ValueError(f"{p} holds no line of data.")
        if len(qid) != len(y):
            raise ValueError(
                f"{p}: {len(y)} lines but {len(qid)} have a qid. Each line must name its query, "
                "'grade qid:<int> <feature>:<value> ...'."
            )
    return triples if several else triples[0]


def dump_letor(X, y, qid, path, *, comment=None):
    """Write ranking data in LETOR's format: SVMlight lines with a qid.

    Rows are written in the order given, features counted from 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Grades.
    qid : array-like of shape (n_rows,) or None
        Any hashable ids; None where `y` is a `ranking_target`. The format knows integers
        only: integer ids are written as they are, others as 1, 2, ... in order of first
        appearance.
    path : str or Path
        Ends in .gz or .bz2 to be packed.
    comment : str or None, default=None
        Written at the head of the file.

    Returns
    -------
    ids : ndarray of shape (n_lists,)
        The distinct ids in order of first appearance: where they are no integers, the id
        that was written as i is ``ids[i - 1]``.

    Raises
    ------
    ValueError
        If lengths differ or an id is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lowrank_rank.datasets import dump_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.txt"
    ...     ids = dump_letor([[0.5, 0.0], [0.0, 1.0]], [2, 0], ["b", "a"], path)
    ...     lines = [line for line in path.read_text().splitlines() if line[0] != "#"]
    >>> ids.tolist(), lines
    (['b', 'a'], ['2 qid:1 1:0.5', '0 qid:2 2:1'])
    """
    y, qid = split_target(y, qid)
    if qid is None:
        raise ValueError("dump_letor needs the query id of each row, qid.")
    lists = RankingLists.from_qid(qid, len(y))
    written = lists.ungroup(lists.index) + 1
    if lists.ids.dtype.kind in "iu":
        written = lists.ids.astype(np.int64)[written - 1]
    path = Path(path)
    openers = {".gz": gzip.open, ".bz2": bz2.open}
    with openers.get(path.suffix, open)(path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False, query_id=written, comment=comment)
    return lists.ids


# Generators -------------------------------------------------------------------------


def make_ranking(
    n_lists=100,
    n_items=(5, 30),
    *,
    n_features=20,
    n_informative=5,
    n_grades=5,
    noise=1.0,
    random_state=None,
):
    """Documents with grades that a linear score explains up to noise and a query effect.

    Features have an offset common to the documents of a query, so that what is good within
    a query differs from what is good over all of them.

    Parameters
    ----------
    n_lists : int, default=100
    n_items : int or (int, int), default=(5, 30)
        Documents of each list, or the least and the most.
    n_features : int, default=20
    n_informative : int, default=5
        Features that the grades depend on; all of them where there are fewer.
    n_grades : int, default=5
        Grades 0..n_grades-1; higher ones are rarer, each half as frequent as the one below.
    noise : float, default=1.0
        Standard deviation of the noise, relative to the signal.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    qid : ndarray of int, shape (n_rows,)

    Examples
    --------
    >>> from lowrank_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_lists=3, n_items=4, random_state=0)
    >>> X.shape, qid.tolist()
    ((12, 20), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    rng = check_random_state(random_state)
    low, high = (n_items, n_items) if np.ndim(n_items) == 0 else n_items
    if not 1 <= low <= high:
        raise ValueError(f"n_items must be >= 1, or a pair (least, most) of such, got {n_items!r}.")
    n_informative = min(n_informative, n_features)
    lengths = rng.randint(low, high + 1, size=n_lists)
    qid = np.repeat(np.arange(n_lists), lengths)
    X = rng.normal(size=(len(qid), n_features)) + 2.0 * rng.normal(size=(n_lists, n_features))[qid]
    direction = np.zeros(n_features)
    direction[:n_informative] = rng.normal(size=n_informative)
    direction /= np.linalg.norm(direction)
    score = (X - _list_means(X, qid, lengths)) @ direction + noise * rng.normal(size=len(qid))
    below = 1.0 - 0.5 ** np.arange(1, n_grades)  # share of rows below each grade
    return X, np.searchsorted(np.quantile(score, below), score).astype(float), qid


def _list_means(X, qid, lengths):
    sums = np.zeros((len(lengths), X.shape[1]))
    np.add.at(sums, qid, X)
    return (sums / lengths[:, np.newaxis])[qid]


def make_label_ranking(
    n_samples=1000, n_items=4, *, n_labels=6, n_grades=2, n_features=None, random_state=None
):
    """Fixed items with a known conditional distribution of the label, linear in x.

    A sample's label is one of `n_labels` grade vectors; the probabilities are drawn afresh
    from a Dirichlet distribution for every sample and X is a linear image of them. So the
    expectation of any encoding of the label is linear in x: ridge regression is well
    specified for every target loss, and the regret against the Bayes order can be computed
    (`calibration.conditional_regret`).

    Parameters
    ----------
    n_samples : int, default=1000
    n_items : int, default=4
    n_labels : int, default=6
        Size of the label distribution's support.
    n_grades : int, default=2
        Grades 0..n_grades-1; each label has at least one grade above 0 and one 0.
    n_features : int or None, default=None
        At least `n_labels`; None is `n_labels`.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    data : Bunch
        ``data`` (n_samples, n_features), ``target`` (n_samples, n_items), ``support``
        (n_labels, n_items), ``probabilities`` (n_samples, n_labels).

    Examples
    --------
    >>> from lowrank_rank.datasets import make_label_ranking
    >>> data = make_label_ranking(n_samples=3, n_items=2, n_labels=2, random_state=0)
    >>> data.target.shape, data.probabilities.sum(axis=1).round(6).tolist()
    ((3, 2), [1.0, 1.0, 1.0])
    """
    rng = check_random_state(random_state)
    if n_items < 2 or n_grades < 2:
        raise ValueError("make_label_ranking needs n_items >= 2 and n_grades >= 2.")
    n_features = n_labels if n_features is None else n_features
    if n_features < n_labels:
        raise ValueError(
            f"n_features={n_features} must be at least n_labels={n_labels}, or x would not "
            "determine the distribution of the label."
        )
    support = _mixed_labels(rng, n_labels, n_items, n_grades)
    probabilities = rng.dirichlet(np.full(n_labels, 0.5), size=n_samples)
    drawn = (rng.uniform(size=(n_samples, 1)) > np.cumsum(probabilities, axis=1)).sum(axis=1)
    image = np.linalg.qr(rng.normal(size=(n_features, n_labels)))[0].T
    return Bunch(
        data=probabilities @ image,
        target=support[np.minimum(drawn, n_labels - 1)],
        support=support,
        probabilities=probabilities,
    )


def _mixed_labels(rng, n_labels, n_items, n_grades):
    labels = rng.randint(n_grades, size=(n_labels, n_items)).astype(float)
    top, bottom = np.argmax(rng.uniform(size=(n_labels, n_items)), axis=1), None
    bottom = (top + 1 + rng.randint(n_items - 1, size=n_labels)) % n_items
    rows = np.arange(n_labels)
    labels[rows, top] = np.maximum(labels[rows, top], 1.0)
    labels[rows, bottom] = 0.0
    return labels


# Real input -------------------------------------------------------------------------


def load_digits_retrieval(*, n_queries=200, n_candidates=40, random_state=0, return_images=False):
    """Image retrieval with scikit-learn's handwritten digits: find the same digit.

    Each query is an image, its documents are other images; a document is relevant if it
    shows the same digit. The features of a pair compare the two 8 x 8 images: absolute
    differences and products of 4 x 4 block means, distances, correlations, and overlaps at
    shifts of one pixel. Queries and candidates come from one pool of 1797 images, and are
    never the same image.

    Parameters
    ----------
    n_queries : int, default=200
    n_candidates : int, default=40
        Documents of each query.
    random_state : int, RandomState instance or None, default=0
        Draws queries and candidates.
    return_images : bool, default=False
        Also return the indices of the images.

    Returns
    -------
    data : Bunch
        ``data`` (n_queries * n_candidates, n_features), ``target`` 0 or 1, ``qid``,
        ``feature_names``; with `return_images` also ``images`` (1797, 8, 8), ``query`` (n_queries,)
        and ``candidate`` (n_queries * n_candidates,), indices into them.

    Examples
    --------
    >>> from lowrank_rank.datasets import load_digits_retrieval
    >>> digits = load_digits_retrieval(n_queries=10, n_candidates=20)
    >>> digits.data.shape, set(digits.target.tolist())
    ((200, 47), {0.0, 1.0})
    """
    rng = check_random_state(random_state)
    pool = load_digits()
    images = pool.images / 16.0
    if not 1 <= n_queries <= len(images) or not 1 <= n_candidates < len(images):
        raise ValueError(
            f"n_queries and n_candidates must be between 1 and {len(images) - 1}, got {n_queries} "
            f"and {n_candidates}."
        )
    query = rng.permutation(len(images))[:n_queries]
    order = np.argsort(rng.uniform(size=(n_queries, len(images) - 1)), axis=1)[:, :n_candidates]
    candidate = (order + (order >= query[:, np.newaxis])).ravel()  # skips the query itself
    qid = np.repeat(np.arange(n_queries), n_candidates)
    features, names = _pair_features(images[query[qid]], images[candidate])
    bunch = Bunch(
        data=features,
        target=(pool.target[query[qid]] == pool.target[candidate]).astype(float),
        qid=qid,
        feature_names=names,
    )
    if return_images:
        bunch.update(images=pool.images, query=query, candidate=candidate)
    return bunch


def _pair_features(a, b):
    n = len(a)
    blocks_a, blocks_b = (
        image.reshape(n, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(n, 16) for image in (a, b)
    )
    columns = {f"difference_{i}": c for i, c in enumerate(np.abs(blocks_a - blocks_b).T)}
    columns |= {f"product_{i}": c for i, c in enumerate((blocks_a * blocks_b).T)}
    columns["euclidean"] = np.sqrt(((a - b) ** 2).sum(axis=(1, 2)))
    columns["manhattan"] = np.abs(a - b).sum(axis=(1, 2))
    columns["correlation"] = _correlation(a, b)
    columns["row_profile"] = np.abs(a.sum(axis=2) - b.sum(axis=2)).sum(axis=1)
    columns["column_profile"] = np.abs(a.sum(axis=1) - b.sum(axis=1)).sum(axis=1)
    columns["ink"] = np.abs(a.sum(axis=(1, 2)) - b.sum(axis=(1, 2)))
    for name, axis, step in (("up", 1, -1), ("down", 1, 1), ("left", 2, -1), ("right", 2, 1)):
        columns[f"correlation_{name}"] = _correlation(a, np.roll(b, step, axis=axis))
    columns["holes"] = np.abs(
        (a[:, 2:6, 2:6] < 0.2).mean((1, 2)) - (b[:, 2:6, 2:6] < 0.2).mean((1, 2))
    )
    columns["diagonal"] = np.abs(np.trace(a, axis1=1, axis2=2) - np.trace(b, axis1=1, axis2=2))
    columns["symmetry"] = np.abs(
        np.abs(a - a[:, :, ::-1]).sum((1, 2)) - np.abs(b - b[:, :, ::-1]).sum((1, 2))
    )
    columns["best_shift"] = np.max(
        [columns[f"correlation_{d}"] for d in ("up", "down", "left", "right")], axis=0
    )
    columns["overlap"] = np.minimum(a, b).sum(axis=(1, 2)) / np.maximum(a, b).sum(axis=(1, 2))
    return np.column_stack(list(columns.values())), list(columns)


def _correlation(a, b):
    a = a - a.mean(axis=(1, 2), keepdims=True)
    b = b - b.mean(axis=(1, 2), keepdims=True)
    return (a * b).sum((1, 2)) / np.sqrt((a**2).sum((1, 2)) * (b**2).sum((1, 2)))
