"""Random rankings: documents with grades, items with a known distribution."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Bunch
from ..validation._parameters import Rule, checked, count, number


def _is_range(value):
    """Return whether a value is a pair of integers >= 1, the least first."""
    return (
        isinstance(value, tuple | list | np.ndarray)
        and len(value) == 2
        and all(map(count().accepts, value))
        and value[0] <= value[1]
    )


_range = Rule(_is_range, "a pair (least, most) of such")
noise_level = number(0, 1e100)  # beyond, margins and scores overflow
OF_LABELS = {
    "n_samples": [count()],
    "n_labels": [count()],
    "n_items": [count(2)],
    "n_features": [count(), None],
}


@checked(
    n_lists=[count()],
    n_items=[count(), _range],
    n_features=[count()],
    n_informative=[count()],
    n_grades=[count()],
    noise=[noise_level],
)
def make_ranking(
    n_lists: int = 100,
    n_items: Any = (5, 30),
    *,
    n_features: int = 20,
    n_informative: int = 5,
    n_grades: int = 5,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate documents with grades, a linear score up to noise and a query effect.

    All documents of a query share an offset of the features, so that a good score
    within queries differs from a good score over all documents.

    Parameters
    ----------
    n_lists : int, default=100
        Number of lists.
    n_items : int or (int, int), default=(5, 30)
        Number of documents of each list, or its range.
    n_features : int, default=20
        Number of features.
    n_informative : int, default=5
        Number of features that determine the grades, at most `n_features`.
    n_grades : int, default=5
        Grades are 0..n_grades-1, each half as frequent as the grade below.
    noise : float, default=1.0
        Standard deviation of the noise, relative to the signal.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Features of the rows.
    y : ndarray of shape (n_rows,)
        Grades.
    qid : ndarray of int, shape (n_rows,)
        Query ids.

    Examples
    --------
    >>> from lowrank_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_lists=3, n_items=4, random_state=0)
    >>> X.shape, qid.tolist()
    ((12, 20), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    rng = check_random_state(random_state)
    shortest, longest = n_items, n_items
    if np.ndim(n_items):
        shortest, longest = n_items
    n_informative = min(n_informative, n_features)
    lengths = rng.randint(shortest, longest + 1, size=n_lists)
    qid = np.repeat(np.arange(n_lists), lengths)
    X = rng.normal(size=(len(qid), n_features))
    # The offset that the documents of a query share.
    X = X + 2.0 * rng.normal(size=(n_lists, n_features))[qid]
    direction = np.zeros(n_features)
    direction[:n_informative] = rng.normal(size=n_informative)
    direction /= np.linalg.norm(direction)
    # The score within a query: <direction, x - mean of x over the query> + noise.
    sums = np.zeros((n_lists, n_features))
    np.add.at(sums, qid, X)
    means = sums / lengths[:, np.newaxis]
    centered = X - means[qid]
    score = centered @ direction + noise * rng.normal(size=len(qid))
    # A fraction 1 - 1/2^g of the rows has a grade below g = 1..n_grades-1.
    below = 1.0 - 0.5 ** np.arange(1, n_grades)
    y = np.searchsorted(np.quantile(score, below), score).astype(float)
    return X, y, qid


@checked(**OF_LABELS, n_grades=[count(2)])
def make_label_ranking(
    n_samples: int = 1000,
    n_items: int = 4,
    *,
    n_labels: int = 6,
    n_grades: int = 2,
    n_features: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate labels of fixed items with known probabilities linear in x.

    The label of a sample is one of `n_labels` grade vectors. Their probabilities are
    drawn from a Dirichlet distribution for every sample, and X is a linear image of the
    probabilities. The expectation of any encoding of the label is therefore linear in
    x, so ridge regression is well specified for every target loss.
    `calibration.conditional_regret` computes the regret.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_items : int, default=4
        Number of items.
    n_labels : int, default=6
        Size of the label distribution's support.
    n_grades : int, default=2
        Grades are 0..n_grades-1; each label has at least one grade above 0 and one 0.
    n_features : int or None, default=None
        At least `n_labels`; None is `n_labels`.
    random_state : int, RandomState instance or None, default=None
        Seed.

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
    n_features = check_label_features(n_features, n_labels)
    support = rng.randint(n_grades, size=(n_labels, n_items)).astype(float)
    # One item of each label gets a grade above 0, and another one the grade 0.
    top = np.argmax(rng.uniform(size=(n_labels, n_items)), axis=1)
    bottom = (top + 1 + rng.randint(n_items - 1, size=n_labels)) % n_items
    labels = np.arange(n_labels)
    support[labels, top] = np.maximum(support[labels, top], 1.0)
    support[labels, bottom] = 0.0
    probabilities = rng.dirichlet(np.full(n_labels, 0.5), size=n_samples)
    target, data = draw_labels(rng, support, probabilities, n_features)
    return Bunch(data=data, target=target, support=support, probabilities=probabilities)


def check_label_features(n_features, n_labels):
    """Return the number of features, at least the number of labels."""
    if n_features is None:
        return n_labels
    if n_features < n_labels:
        raise ValueError(
            f"n_features={n_features} must be at least n_labels={n_labels}."
        )
    return n_features


def draw_labels(rng, support, probabilities, n_features):
    """Draw a label for each row of `probabilities`, and features linear in the row.

    Returns
    -------
    target : ndarray of shape (n_samples, ...)
        The labels, entries of `support` (n_labels, ...).
    data : ndarray of shape (n_samples, n_features)
    """
    n_samples, n_labels = probabilities.shape
    # Inverse transform sampling: the label is the number of cumulative probabilities
    # below a uniform number.
    cumulative = np.cumsum(probabilities, axis=1)
    label = (rng.uniform(size=(n_samples, 1)) > cumulative).sum(axis=1)
    label = np.minimum(label, n_labels - 1)  # the last sum may round to less than 1
    # Orthonormal columns keep the distances between probabilities.
    basis, _ = np.linalg.qr(rng.normal(size=(n_features, n_labels)))
    return support[label], probabilities @ basis.T
