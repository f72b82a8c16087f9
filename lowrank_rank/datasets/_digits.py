"""Image retrieval with scikit-learn's digits: a real task without download."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import load_digits
from sklearn.utils import check_array, check_random_state

from .._parameters import checked, count
from .._tables import pandas_for
from .._typing import Bunch


@checked(return_images=[bool], as_frame=[bool])
def load_digits_retrieval(
    *,
    n_queries: int = 200,
    n_candidates: int | tuple[int, int] = 40,
    popularity: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
    return_images: bool = False,
    as_frame: bool = False,
) -> Bunch:
    """Image retrieval with scikit-learn's handwritten digits: find the same digit.

    Each query is an image, its documents are other images; a document is relevant if it
    shows the same digit. The features of a pair compare the two 8 x 8 images: absolute
    differences and products of 4 x 4 block means, distances, correlations, and overlaps
    at shifts of one pixel. Queries and candidates come from one pool of 1797 images,
    and are never the same image.

    Parameters
    ----------
    n_queries : int, default=200
        Number of queries.
    n_candidates : int or (int, int), default=40
        Documents of each query. A pair is the least and the greatest number; lengths
        between them are drawn with a uniform logarithm, so that short lists are as
        common as long ones.
    popularity : array-like of shape (10,), default=None
        Relative frequency of each digit among the candidates, above 0, for common and
        rare kinds of a catalogue. Queries are drawn evenly. None draws candidates
        evenly too.
    random_state : int, RandomState instance or None, default=0
        Draws queries and candidates.
    return_images : bool, default=False
        Also return the indices of the images.
    as_frame : bool, default=False
        Return pandas objects: ``data`` a frame with the names of the features,
        ``target`` and ``qid`` series, and ``frame`` with all, whose last columns are
        "qid" and "target".

    Returns
    -------
    data : Bunch
        ``data`` (n_documents, n_features), ``target`` 0 or 1, ``qid``,
        ``feature_names``. `return_images` adds ``images`` (1797, 8, 8) and their
        ``digit`` (1797,). The indices of images are then ``query`` (n_queries,) and
        ``candidate`` (n_documents,).

    Raises
    ------
    ValueError
        If a number is out of range.
    ImportError
        If `as_frame` is set and pandas is not installed.

    Examples
    --------
    >>> from lowrank_rank.datasets import load_digits_retrieval
    >>> digits = load_digits_retrieval(n_queries=10, n_candidates=20)
    >>> digits.data.shape, set(digits.target.tolist())
    ((200, 47), {0.0, 1.0})
    """
    pool = load_digits()
    images = pool.images / 16.0
    bounds: Any = (
        n_candidates if np.ndim(n_candidates) else (n_candidates, n_candidates)
    )
    if np.shape(bounds) != (2,) or bounds[0] > bounds[1]:
        raise ValueError(
            f"n_candidates must be a number or (least, most), got {n_candidates!r}."
        )
    shortest, longest = bounds
    limits = [("n_candidates", one, len(images) - 1) for one in bounds]
    for name, value, largest in [("n_queries", n_queries, len(images)), *limits]:
        if not count().accepts(value) or value > largest:
            raise ValueError(
                f"{name} must be an integer between 1 and {largest}, got {value!r}."
            )
    popularity = np.ones(10) if popularity is None else popularity
    weights = check_array(
        popularity, ensure_2d=False, dtype=np.float64, input_name="popularity"
    )
    if weights.shape != (10,) or np.any(weights <= 0):
        raise ValueError(
            f"popularity must be a number > 0 for each digit, got {popularity!r}."
        )
    weights = (weights / weights.max())[pool.target]
    rng = check_random_state(random_state)
    query, candidate, qid = draw_candidates(rng, weights, n_queries, shortest, longest)
    features, names = _pair_features(images[query[qid]], images[candidate])
    target = (pool.target[query[qid]] == pool.target[candidate]).astype(float)
    bunch = Bunch(data=features, target=target, qid=qid, feature_names=names)
    if as_frame:
        frame = pandas_for("as_frame=True").DataFrame(features, columns=names)
        frame = frame.assign(qid=qid, target=target)
        bunch.update(
            frame=frame, data=frame[names], target=frame["target"], qid=frame["qid"]
        )
    if return_images:
        bunch.update(
            images=pool.images, digit=pool.target, query=query, candidate=candidate
        )
    return bunch


def draw_candidates(rng, weights, n_queries, shortest, longest):
    """Draw queries evenly, and for each a list of other images by weight without replacement.

    Returns the image of each query, and the image and query id of each candidate.
    """
    query = rng.permutation(len(weights))[:n_queries]
    # The smallest exponential variates divided by weights are a weighted draw without
    # replacement (Efraimidis and Spirakis 2006).
    uniform = rng.uniform(size=(n_queries, len(weights) - 1))
    others = np.arange(len(weights) - 1)
    others = others + (others >= query[:, np.newaxis])  # skips the query itself
    order = np.argsort(-np.log1p(-uniform) / weights[others], axis=1)[:, :longest]
    kept = np.ones(order.shape, dtype=bool)
    if shortest < longest:
        log_lengths = rng.uniform(
            np.log(shortest), np.log(longest + 1), size=(n_queries, 1)
        )
        kept = np.arange(longest) < np.exp(log_lengths).astype(int)
    candidate = np.take_along_axis(others, order, axis=1)[kept]
    return query, candidate, np.repeat(np.arange(n_queries), kept.sum(axis=1))


def _pair_features(a, b):
    n = len(a)
    blocks_a, blocks_b = (
        image.reshape(n, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(n, 16)
        for image in (a, b)
    )
    columns = {
        f"difference_{i}": c for i, c in enumerate(np.abs(blocks_a - blocks_b).T)
    }
    columns |= {f"product_{i}": c for i, c in enumerate((blocks_a * blocks_b).T)}
    columns["euclidean"] = np.sqrt(((a - b) ** 2).sum(axis=(1, 2)))
    columns["manhattan"] = np.abs(a - b).sum(axis=(1, 2))
    columns["correlation"] = _correlation(a, b)
    columns["row_profile"] = np.abs(a.sum(axis=2) - b.sum(axis=2)).sum(axis=1)
    columns["column_profile"] = np.abs(a.sum(axis=1) - b.sum(axis=1)).sum(axis=1)
    columns["ink"] = np.abs(a.sum(axis=(1, 2)) - b.sum(axis=(1, 2)))
    for name, axis, step in (
        ("up", 1, -1),
        ("down", 1, 1),
        ("left", 2, -1),
        ("right", 2, 1),
    ):
        columns[f"correlation_{name}"] = _correlation(a, np.roll(b, step, axis=axis))
    columns["holes"] = np.abs(
        (a[:, 2:6, 2:6] < 0.2).mean((1, 2)) - (b[:, 2:6, 2:6] < 0.2).mean((1, 2))
    )
    columns["diagonal"] = np.abs(
        np.trace(a, axis1=1, axis2=2) - np.trace(b, axis1=1, axis2=2)
    )
    columns["symmetry"] = np.abs(
        np.abs(a - a[:, :, ::-1]).sum((1, 2)) - np.abs(b - b[:, :, ::-1]).sum((1, 2))
    )
    columns["best_shift"] = np.max(
        [columns[f"correlation_{d}"] for d in ("up", "down", "left", "right")], axis=0
    )
    columns["overlap"] = np.minimum(a, b).sum(axis=(1, 2)) / np.maximum(a, b).sum(
        axis=(1, 2)
    )
    return np.column_stack(list(columns.values())), list(columns)


def _correlation(a, b):
    a = a - a.mean(axis=(1, 2), keepdims=True)
    b = b - b.mean(axis=(1, 2), keepdims=True)
    return (a * b).sum((1, 2)) / np.sqrt((a**2).sum((1, 2)) * (b**2).sum((1, 2)))
