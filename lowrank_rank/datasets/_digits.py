"""Image retrieval with scikit-learn's digits: a real task without download."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch, check_random_state


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
