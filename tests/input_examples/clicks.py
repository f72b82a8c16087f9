"""Clicks, positions, propensities, and grades of simulated clicks."""

import numpy as np

from . import Example


def log():
    """Clicks at known positions."""
    return {
        "clicks": np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0]),
        "position": np.array([1, 2, 3, 3, 2, 1]),
        "propensity": np.array([1.0, 0.5, 0.25]),
        "trust": None,
        "min_propensity": 0.0,
        "max_grade": None,
        "y": np.array([2.0, 0.0, 1.0]),
    }


def crossed():
    """Documents that were shown at several positions."""
    rng = np.random.default_rng(0)
    document = rng.integers(0, 6, 300)
    position = rng.integers(1, 4, 300)
    theta = np.array([1.0, 0.6, 0.3])[position - 1]
    return {
        "clicks": (rng.random(300) < 0.8 * theta).astype(int),
        "position": position,
        "document": document,
    }


ESTIMATE = """
result = lowrank_rank.clicks.utilities_from_clicks(
    clicks, position, propensity=propensity, trust=trust,
    min_propensity=min_propensity)
"""
SIMULATE = """
simulated = lowrank_rank.clicks.make_clicks(
    y, max_grade=max_grade, n_sessions=20, trust=trust, propensity=propensity,
    random_state=0)
result = simulated.click_probability
"""
PROPENSITIES = """
found = lowrank_rank.clicks.propensities_from_clicks(clicks, position, document)
result = numpy.nan_to_num(found.propensity)
"""
LISTS = "\nclicks, position = clicks.tolist(), position.tolist()"
SERIES = "\nclicks, position = pandas.Series(clicks), pandas.Series(position)"
POLARS = "\nclicks, position = polars.Series(clicks), polars.Series(position)"
KINDS = ("", LISTS, SERIES, POLARS)
#: Rows of position 4, each of a document of its own.
ALONE = """
clicks = numpy.append(clicks, [{click}, {click}])
position = numpy.append(position, [4, 4])
document = numpy.append(document, [7, 8])
"""

EXAMPLES = [
    Example("negative clicks", log, "clicks[3] = -1", ESTIMATE),
    Example("negative clicks", crossed, "clicks[3] = -1", PROPENSITIES),
    *[
        Example(
            "position below 1", log, "position = position - 1" + kind, ESTIMATE, [""]
        )
        for kind in KINDS
    ],
    *[
        Example(
            "position below 1",
            crossed,
            "position = position - 1" + kind,
            PROPENSITIES,
            [""],
        )
        for kind in KINDS
    ],
    Example("position below 1", log, "position = position - 0.5", ESTIMATE),
    Example(
        "shape of returned propensities",
        log,
        "propensity = lambda position: 0.5",
        ESTIMATE,
    ),
    *[
        Example(
            "length of propensities",
            log,
            "propensity = propensity[:2]" + kind,
            ESTIMATE,
            ["clicks, position = clicks[[0, 1, 4, 5]], position[[0, 1, 4, 5]]"],
        )
        for kind in KINDS
    ],
    Example("length of propensities", log, "trust = ([0.9], 0.1)", ESTIMATE),
    Example("probability", log, "propensity = [1.0, 1.5, 0.5]", ESTIMATE),
    Example("probability", log, "propensity = [1.0, numpy.nan, 0.5]", ESTIMATE),
    Example(
        "propensity 0",
        log,
        "propensity[1] = 0.0",
        ESTIMATE,
        ["propensity[1] = 0.01"],
    ),
    Example("trust that tells nothing", log, "trust = (0.2, 0.3)", ESTIMATE),
    Example("trust that tells nothing", log, "trust = (0.2, 0.3)", SIMULATE),
    Example("grades to click", log, "y[1] = -1", SIMULATE),
    Example("grade above max_grade", log, "max_grade = 1", SIMULATE, [""]),
    Example("no clicks", crossed, "clicks[:] = 0", PROPENSITIES),
    *[
        Example(check, crossed, ALONE.format(click=click) + kind, PROPENSITIES, [""])
        for check, click in (
            ("positions without clicks", 0),
            ("positions that cannot be compared", 1),
        )
        for kind in KINDS
    ],
]
