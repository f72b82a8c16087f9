"""A tasting: eleven judges, ten wines, no agreement."""

import csv
from importlib.resources import files

import numpy as np

from .._typing import Bunch

SOURCE = (
    "Red wines of the Paris tasting of 24 May 1976, points out of 20, analysed by O. "
    'Ashenfelter, R. E. Quandt, "Analyzing a Wine Tasting Statistically", Chance '
    '12(3), 1999, and M. Balinski, R. Laraki, "Majority Judgment", MIT Press 2010. '
    "Taken from copies of the table, which differ from one another in a few points, "
    "not from the printed pages."
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
    table = files(__package__).joinpath("wine_tasting.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(table.splitlines())
    # The table has a row for each wine: its name and the points of the judges.
    points = np.array([row[1:] for row in rows], dtype=np.float64)
    return Bunch(
        target=points.T,
        judges=np.array(header[1:]),
        item_names=np.array([row[0] for row in rows]),
        source=SOURCE,
    )
