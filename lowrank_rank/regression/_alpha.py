"""Default penalties: closed forms of the number of features p and the number of rows n.

A penalty is added to the mean loss of standardised features. Few rows for many features need a
stronger one: it grows with the fraction f = min(p / n, 1). ``python -m benchmarks rules`` compares
each formula with a search by cross-validation.
"""

#: Kind of rows and model -> (function of p and f for dense X and documents, c). The penalty of
#: sparse X is c m / n, m the mean squared norm of the scaled rows.
FORMULAS = {
    "documents": (lambda p, f: max(0.1, 10.0 * f), None),
    "items": (lambda p, f: 0.5 * f * min(p / 50, 1.0) ** 2, 0.1),
    "items, ridge": (lambda p, f: max(0.1, 2.0 * f), 1.0),
    "items, missing labels": (lambda p, f: max(0.1, 3.0 * f), 1.0),
    "classes": (lambda p, f: 0.1 * f * min(p / 50, 1.0), 0.1),
    "classes, ridge": (lambda p, f: max(0.1, 0.5 * f), 1.0),
    "documents, hinge": (lambda p, f: 0.01 * max(1.0, 300.0 * f), None),
    "items, hinge": (lambda p, f: max(0.003, f**2), 0.1),
    "classes, hinge": (lambda p, f: 0.1 * f * min(p / 50, 1.0), 0.1),
}


def default_alpha(kind, n_features, n_rows, mean_square=None):
    """The penalty for ``alpha="auto"``.

    Parameters
    ----------
    kind : str
        A key of `FORMULAS`.
    n_features : int
    n_rows : float
        Sum of the sample weights, > 0.
    mean_square : float or None, default=None
        Mean squared norm of the scaled rows of sparse X; None for dense X.

    Returns
    -------
    float
    """
    dense, c = FORMULAS[kind]
    if mean_square is not None and c is not None:
        return float(c * (mean_square or 1.0) / n_rows)  # X may be empty
    return float(dense(n_features, min(n_features / n_rows, 1.0)))
