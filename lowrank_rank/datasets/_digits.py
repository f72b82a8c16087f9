"""Image retrieval with scikit-learn's digits: a real task without download."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.datasets import load_digits
from sklearn.utils import check_array, check_random_state

from .._tables import pandas_for
from .._typing import Bunch
from ..validation._arrays import shown
from ..validation._kinds import arrive
from ..validation._parameters import checked, count


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
    arrive(popularity=popularity)
    pool = load_digits()
    images = pool.images / 16.0
    bounds: Any = n_candidates
    if np.ndim(n_candidates) == 0:
        bounds = (n_candidates, n_candidates)
    if np.shape(bounds) != (2,) or bounds[0] > bounds[1]:
        raise ValueError(
            "n_candidates must be a number or (least, most), got "
            f"{shown(n_candidates)}."
        )
    shortest, longest = bounds
    _check_number("n_queries", n_queries, len(images))
    _check_number("n_candidates", shortest, len(images) - 1)
    _check_number("n_candidates", longest, len(images) - 1)
    if popularity is None:
        popularity = np.ones(10)
    weights = check_array(
        popularity, ensure_2d=False, dtype=np.float64, input_name="popularity"
    )
    if weights.shape != (10,) or np.any(weights <= 0):
        raise ValueError(
            f"popularity must be a number > 0 for each digit, got {shown(popularity)}."
        )
    image_weights = (weights / weights.max())[pool.target]
    rng = check_random_state(random_state)
    query, candidate, qid = draw_candidates(
        rng, image_weights, n_queries, shortest, longest
    )
    shown_image = query[qid]
    features = _pair_features(images[shown_image], images[candidate])
    names = list(features)
    data = np.column_stack(list(features.values()))
    target = (pool.target[shown_image] == pool.target[candidate]).astype(float)
    bunch = Bunch(data=data, target=target, qid=qid, feature_names=names)
    if as_frame:
        frame = pandas_for("as_frame=True").DataFrame(data, columns=names)
        frame = frame.assign(qid=qid, target=target)
        bunch.update(
            frame=frame, data=frame[names], target=frame["target"], qid=frame["qid"]
        )
    if return_images:
        bunch.update(
            images=pool.images, digit=pool.target, query=query, candidate=candidate
        )
    return bunch


def _check_number(name, value, largest):
    """Refuse a number of queries or candidates that is not in 1..largest."""
    if not count().accepts(value) or value > largest:
        raise ValueError(
            f"{name} must be an integer between 1 and {largest}, got {shown(value)}."
        )


def draw_candidates(rng, weights, n_queries, shortest, longest):
    """Draw queries evenly, and for each a list of other images by weight.

    A list holds no image twice. The logarithm of its length is uniform.

    Returns
    -------
    query : ndarray of shape (n_queries,)
        Image of each query.
    candidate, qid : ndarray of shape (n_documents,)
        Image and query of each document.
    """
    n_images = len(weights)
    query = rng.permutation(n_images)[:n_queries]
    # The smallest exponential variates divided by weights are a weighted draw without
    # replacement (Efraimidis and Spirakis 2006).
    uniform = rng.uniform(size=(n_queries, n_images - 1))
    # All images but the query: numbers from the query on move up by one.
    others = np.arange(n_images - 1)
    others = others + (others >= query[:, np.newaxis])
    keys = -np.log1p(-uniform) / weights[others]
    order = np.argsort(keys, axis=1)[:, :longest]
    lengths = np.full((n_queries, 1), longest)
    if shortest < longest:
        log_lengths = rng.uniform(
            np.log(shortest), np.log(longest + 1), size=(n_queries, 1)
        )
        lengths = np.exp(log_lengths).astype(int)
    in_list = np.arange(longest) < lengths
    candidate = np.take_along_axis(others, order, axis=1)[in_list]
    qid = np.repeat(np.arange(n_queries), in_list.sum(axis=1))
    return query, candidate, qid


def _pair_features(a, b):
    """Compare images a[i] and b[i], shape (n, 8, 8); return the columns by name."""
    means_a = _block_means(a)
    means_b = _block_means(b)
    columns = {}
    for i, difference in enumerate(np.abs(means_a - means_b).T):
        columns[f"difference_{i}"] = difference
    for i, product in enumerate((means_a * means_b).T):
        columns[f"product_{i}"] = product
    columns["euclidean"] = np.sqrt(((a - b) ** 2).sum(axis=(1, 2)))
    columns["manhattan"] = np.abs(a - b).sum(axis=(1, 2))
    columns["correlation"] = _correlation(a, b)
    columns["row_profile"] = np.abs(a.sum(axis=2) - b.sum(axis=2)).sum(axis=1)
    columns["column_profile"] = np.abs(a.sum(axis=1) - b.sum(axis=1)).sum(axis=1)
    columns["ink"] = np.abs(a.sum(axis=(1, 2)) - b.sum(axis=(1, 2)))
    shifts = {"up": (1, -1), "down": (1, 1), "left": (2, -1), "right": (2, 1)}
    correlations = []
    for direction, (axis, step) in shifts.items():
        correlation = _correlation(a, np.roll(b, step, axis=axis))
        columns[f"correlation_{direction}"] = correlation
        correlations.append(correlation)
    columns["holes"] = np.abs(_hole(a) - _hole(b))
    columns["diagonal"] = np.abs(
        np.trace(a, axis1=1, axis2=2) - np.trace(b, axis1=1, axis2=2)
    )
    columns["symmetry"] = np.abs(_asymmetry(a) - _asymmetry(b))
    columns["best_shift"] = np.max(correlations, axis=0)
    intersection = np.minimum(a, b).sum(axis=(1, 2))
    union = np.maximum(a, b).sum(axis=(1, 2))
    columns["overlap"] = intersection / union
    return columns


def _block_means(images):
    """Average blocks of 2 x 2 pixels: 16 means of each image."""
    blocks = images.reshape(len(images), 4, 2, 4, 2)
    return blocks.mean(axis=(2, 4)).reshape(len(images), 16)


def _correlation(a, b):
    """Compute Pearson's correlation of the pixels of a[i] and b[i]."""
    a = a - a.mean(axis=(1, 2), keepdims=True)
    b = b - b.mean(axis=(1, 2), keepdims=True)
    norms = np.sqrt((a**2).sum((1, 2)) * (b**2).sum((1, 2)))
    return (a * b).sum((1, 2)) / norms


def _hole(images):
    """Compute the fraction of the 4 x 4 pixels in the middle without ink."""
    return (images[:, 2:6, 2:6] < 0.2).mean((1, 2))


def _asymmetry(images):
    """Compute the distance of each image from its mirror image."""
    return np.abs(images - images[:, :, ::-1]).sum((1, 2))
