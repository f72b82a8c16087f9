"""A tasting: eleven judges, ten wines, no agreement."""

import numpy as np
from sklearn.utils import Bunch

JUDGES = (
    "Pierre Brejoux",
    "Aubert de Villaine",
    "Michel Dovaz",
    "Patricia Gallagher",
    "Odette Kahn",
    "Claude Dubois-Millot",
    "Raymond Oliver",
    "Steven Spurrier",
    "Pierre Tari",
    "Christian Vanneque",
    "Jean-Claude Vrinat",
)
POINTS = {  # one row per wine, one column per judge
    "Stag's Leap 1973": (14, 15, 10, 14, 15, 16, 14, 14, 13, 16.5, 14),
    "Mouton-Rothschild 1970": (16, 14, 15, 15, 12, 16, 12, 14, 11, 16, 14),
    "Montrose 1970": (12, 16, 11, 14, 12, 17, 14, 14, 14, 11, 15),
    "Haut-Brion 1970": (17, 15, 12, 12, 12, 13.5, 10, 8, 14, 17, 15),
    "Ridge Monte Bello 1971": (13, 9, 12, 16, 7, 7, 12, 14, 17, 15.5, 11),
    "Leoville Las Cases 1971": (10, 10, 10, 14, 12, 11, 12, 12, 12, 8, 12),
    "Heitz Martha's Vineyard 1970": (12, 7, 11, 17, 2, 8, 10, 13, 15, 10, 9),
    "Clos du Val 1972": (14, 5, 11, 13, 2, 9, 10, 11, 13, 16.5, 7),
    "Mayacamas 1971": (5, 12, 8, 9, 13, 9.5, 14, 9, 12, 3, 13),
    "Freemark Abbey 1969": (7, 7, 14, 14, 5, 9, 8, 13, 14, 6, 7),
}
SOURCE = (
    "Red wines of the Paris tasting of 24 May 1976, points out of 20, analysed by O. Ashenfelter, "
    'R. E. Quandt, "Analyzing a Wine Tasting Statistically", Chance 12(3), 1999, and M. Balinski, '
    'R. Laraki, "Majority Judgment", MIT Press 2010. Taken from copies of the table, '
    "which differ from one another in a few points, not from the printed pages."
)


def load_wine_tasting() -> Bunch:
    """Points that eleven judges gave to ten red wines in Paris in 1976.

    A small table of real grades to try things on: rows are judges, columns wines, with
    ties and hardly any agreement. California's Stag's Leap has the highest mean; Steven
    Spurrier and Patricia Gallagher, the hosts, are among the judges here.

    Returns
    -------
    data : Bunch
        ``target`` (11, 10), points out of 20 by judge and wine; ``judges`` (11,) and
        ``item_names`` (10,), ndarrays of str; ``source``, where the table is from.

    Examples
    --------
    >>> from lowrank_rank.datasets import load_wine_tasting
    >>> wines = load_wine_tasting()
    >>> wines.target.mean(axis=0).round(2).tolist()[:3], wines.item_names.tolist()[0]
    ([14.14, 14.09, 13.64], "Stag's Leap 1973")
    """
    return Bunch(
        target=np.array(list(POINTS.values()), dtype=np.float64).T,
        judges=np.array(JUDGES),
        item_names=np.array(list(POINTS)),
        source=SOURCE,
    )
