"""Random preferences: weighted graphs over fixed items, duels of documents."""

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from .._typing import Bunch
from ..decoders.feedback_arcs._graphs import acyclic
from ..validation._parameters import checked, count, number
from ._generators import OF_LABELS, check_label_features, draw_labels, noise_level


@checked(
    **OF_LABELS,
    weights=["unit", "uniform"],
    density=[number(above=0, maximum=1)],
    condition=["p_dag", "cyclic", None],
)
def make_preferences(
    n_samples: int = 1000,
    n_items: int = 5,
    *,
    n_labels: int = 6,
    n_features: int | None = None,
    weights: str = "unit",
    density: float = 1.0,
    condition: str | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate labels that are graphs of preferences, with probabilities linear in x.

    The label y of a sample is one of `n_labels` weighted graphs, ``y_ij > 0`` the
    weight of the preference "i before j". Each graph follows a random order of the
    items, so no graph has a cycle. Their probabilities p are drawn for every sample,
    and X is a linear image of them, as in `make_label_ranking`. The *majority graph* of
    a sample has the edge i -> j if ``u_ij > u_ji``, ``u = sum_l p_l y_l``; it may have
    a cycle.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_items : int, default=5
        Number of items.
    n_labels : int, default=6
        Size of the label distribution's support.
    n_features : int or None, default=None
        At least `n_labels`; None is `n_labels`.
    weights : {"unit", "uniform"}, default="unit"
        Weights of preferences: 1, or uniform on (0, 1].
    density : float, default=1.0
        Fraction of the ``r (r-1) / 2`` pairs that a label compares, chosen at random,
        at least one; in (0, 1].
    condition : {None, "p_dag", "cyclic"}, default=None
        None draws any samples, "p_dag" samples without a cycle in the majority graph,
        "cyclic" samples with a cycle.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples, n_features), ``target`` (n_samples, r, r), ``support``
        (n_labels, r, r), ``probabilities`` (n_samples, n_labels).

    Raises
    ------
    ValueError
        If a parameter is out of range, or the condition is hardly ever met.

    Notes
    -----
    Probabilities have a Dirichlet distribution with all parameters 0.5, and samples
    that miss the condition are drawn again. If fewer than 4 of 200 trials meet the
    condition, the parameters are 0.05 for "p_dag" (nearly a single label) and 5 for
    "cyclic" (nearly equal shares). If this is not enough, the support is drawn again,
    up to 200 times.

    Examples
    --------
    >>> from lowrank_rank.datasets import make_preferences
    >>> data = make_preferences(n_samples=4, n_items=3, random_state=0)
    >>> data.target.shape, data.target.sum(axis=(1, 2)).tolist()  # 3 pairs each
    ((4, 3, 3), [3.0, 3.0, 3.0, 3.0])
    """
    n_features = check_label_features(n_features, n_labels)
    if condition == "cyclic" and (n_items < 3 or n_labels < 3):
        raise ValueError("condition='cyclic' needs n_items >= 3 and n_labels >= 3.")
    rng = check_random_state(random_state)
    for _ in range(200):
        support = _draw_graphs(rng, n_labels, n_items, weights, density)
        probabilities = _draw_probabilities(rng, support, n_samples, condition)
        if probabilities is not None:
            target, data = draw_labels(rng, support, probabilities, n_features)
            return Bunch(
                data=data, target=target, support=support, probabilities=probabilities
            )
    remedy = "fewer items, or more density"
    if condition == "cyclic":
        remedy = "more items or labels"
    raise ValueError(
        f"condition={condition!r} was hardly ever met by 200 random supports of "
        f"n_labels={n_labels} graphs over n_items={n_items} with "
        f"density={density:g}: use {remedy}."
    )


def _draw_graphs(rng, n_labels, n_items, weights, density):
    """Draw graphs along random orders of the items, on a fraction of the pairs."""
    first, second = np.triu_indices(n_items, k=1)
    n_pairs = max(1, round(density * len(first)))
    rank = np.argsort(rng.uniform(size=(n_labels, n_items)), axis=1)
    keys = rng.uniform(size=(n_labels, len(first)))
    pair = np.argsort(keys, axis=1)[:, :n_pairs]
    weight = 1.0
    if weights == "uniform":
        weight = 1.0 - rng.uniform(size=pair.shape)
    i = first[pair]
    j = second[pair]
    label = np.arange(n_labels)[:, np.newaxis]
    is_before = rank[label, i] < rank[label, j]
    graphs = np.zeros((n_labels, n_items, n_items))
    graphs[label, np.where(is_before, i, j), np.where(is_before, j, i)] = weight
    return graphs


def _draw_probabilities(rng, support, n_samples, condition):
    """Draw probabilities that meet the condition, None if it is too rare."""
    n_labels, n_items = support.shape[:2]
    if condition is None:
        return rng.dirichlet(np.full(n_labels, 0.5), size=n_samples)
    # A small concentration is near a single, acyclic label, a large one near the mean
    # label.
    extreme = 5.0
    if condition == "p_dag":
        extreme = 0.05
    # The majority graphs of the trials have at most 4 million entries.
    n_later = max(200, min(2 * n_samples, 4_000_000 // n_items**2))
    for concentration in (0.5, extreme):
        accepted: list[np.ndarray] = []
        n_accepted = 0
        n_trials = 200
        while n_accepted < n_samples:
            p = rng.dirichlet(np.full(n_labels, concentration), size=n_trials)
            # u = sum_l p_l y_l
            majority = np.tensordot(p, support, axes=1)
            p = p[acyclic(majority) == (condition == "p_dag")]
            if not accepted and len(p) < 4:
                break
            accepted.append(p)
            n_accepted += len(p)
            n_trials = n_later
        else:
            return np.concatenate(accepted)[:n_samples]
    return None


@checked(
    n_duels=[count()],
    n_features=[count()],
    n_planes=[count()],
    cyclic=[number(0, 1)],
    noise=[noise_level],
)
def make_duels(
    n_duels: int = 1000,
    *,
    n_features: int = 6,
    n_planes: int = 1,
    cyclic: float = 1.0,
    noise: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate duels of two documents with cycles, as in rock, paper, scissors.

    The first document a beats the second b with probability ``sigma(margin / noise)``,

    ``margin = (1 - cyclic) * <w, a - b> + cyclic * a' A b``,

    w a unit vector and A = -A' the sum of ``p q' - q p'`` over `n_planes` orthogonal
    planes with orthonormal bases p, q. In such a plane, a beats all b ahead of it by
    less than half a turn. Features are standard normal.

    Parameters
    ----------
    n_duels : int, default=1000
        Number of duels.
    n_features : int, default=6
        At least ``2 * n_planes``.
    n_planes : int, default=1
        Number of planes.
    cyclic : float, default=1.0
        Share of the cyclic part, in [0, 1]. At 0 a linear score explains the winners;
        at 1 it is no better than chance.
    noise : float, default=0.5
        Noise of the winner; at 0 the sign of the margin decides.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (2 * n_duels, n_features) has the two documents of a duel in
        consecutive rows, ``target`` (2 * n_duels,) 1 for the winner and 0 for the
        loser, ``qid`` (2 * n_duels,) the number of the duel. The truth is ``coef``
        (n_features,), (1 - cyclic) w, ``interaction`` (n_features, n_features), cyclic
        A, and ``margin`` and ``probabilities`` (n_duels,) of the first document.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.datasets import make_duels
    >>> duels = make_duels(n_duels=3, noise=0, random_state=0)
    >>> a, b = duels.data[::2], duels.data[1::2]
    >>> margin = np.sum((a @ duels.interaction) * b, axis=1)
    >>> bool(np.all(duels.target[::2] == (margin > 0))), duels.qid.tolist()
    (True, [0, 0, 1, 1, 2, 2])
    """
    if n_features < 2 * n_planes:
        raise ValueError(
            f"n_features={n_features} must be at least 2 * n_planes={2 * n_planes}."
        )
    rng = check_random_state(random_state)
    # The columns of the basis are p and q of each plane in turn.
    basis, _ = np.linalg.qr(rng.normal(size=(n_features, 2 * n_planes)))
    # A = sum_planes p q' - q p'
    half = basis[:, ::2] @ basis[:, 1::2].T
    interaction = cyclic * (half - half.T)
    coef = rng.normal(size=n_features)
    coef *= (1.0 - cyclic) / np.linalg.norm(coef)
    X = rng.normal(size=(2 * n_duels, n_features))
    a = X[::2]
    b = X[1::2]
    # (1 - cyclic) <w, a - b> + cyclic a' A b
    margin = (a - b) @ coef + np.sum((a @ interaction) * b, axis=1)
    if noise > 0:
        # The margin divided by a tiny noise is infinite: probabilities 0 and 1.
        with np.errstate(over="ignore"):
            probabilities = expit(margin / noise)
    else:
        probabilities = np.heaviside(margin, 0.5)
    first_wins = rng.uniform(size=n_duels) < probabilities
    target = np.column_stack([first_wins, ~first_wins]).ravel().astype(float)
    return Bunch(
        data=X,
        target=target,
        qid=np.repeat(np.arange(n_duels), 2),
        coef=coef,
        interaction=interaction,
        margin=margin,
        probabilities=probabilities,
    )
