"""Labels of preferences: checks that each is a weighted graph without a cycle."""

import numpy as np

from ..decoders._preferences import strong_components

ON_CYCLE = ("error", "net")


def check_acyclic_labels(y, on_cycle):
    """Preferences (n, r, r) of which no label prefers both ways or in a circle.

    Parameters
    ----------
    y : ndarray of shape (n, r, r)
        Weights >= 0.
    on_cycle : {"error", "net"}
        "net" subtracts opposite preferences from one another, and lets circles among what is
        left be: the expected net preferences are all that the decoders need.

    Returns
    -------
    ndarray of shape (n, r, r)

    Raises
    ------
    ValueError
        Naming the label and its items.
    """
    own = np.argwhere(np.einsum("qii->qi", y) != 0)
    if len(own):
        q, i = (int(v) for v in own[0])
        raise ValueError(f"y[{q}, {i}, {i}] = {y[q, i, i]:g}: no item comes before itself.")
    if on_cycle == "net":
        return np.maximum(y - y.transpose(0, 2, 1), 0.0)
    both = np.argwhere((y > 0) & (y.transpose(0, 2, 1) > 0))
    if len(both):
        q, i, j = (int(v) for v in both[0])
        raise ValueError(
            f"Label {q} prefers item {i} to item {j} (weight {y[q, i, j]:g}) and {j} to {i} "
            f"(weight {y[q, j, i]:g}): only one of y[q, i, j] and y[q, j, i] may be positive. "
            "Give the difference, or set on_cycle='net' to have it taken."
        )
    in_cycle = strong_components(np.nonzero(y), y.shape[:2])[1]
    if in_cycle.any():
        q = int(np.argmax(in_cycle.any(axis=1)))
        circle = " -> ".join(str(i) for i in _circle(y[q] > 0, in_cycle[q]))
        raise ValueError(
            f"Label {q} prefers in a circle, {circle}, which no order follows. Remove one of these "
            "preferences, or set on_cycle='net' to learn from the net preferences as they are."
        )
    return y


def _circle(edges, in_cycle):
    """Items of one cycle, the first repeated at the end: walk back until an item comes again."""
    walk = [int(np.argmax(in_cycle))]
    while True:
        # Each item on a cycle has a predecessor on a cycle of its own component.
        before = int(np.argmax(edges[:, walk[-1]] & in_cycle))
        if before in walk:
            return [before, *walk[walk.index(before) :][::-1]]
        walk.append(before)
