"""Surrogate vectors, preferences and ranks that are decoded."""

import numpy as np

from . import Example


def preferences():
    """Five lists of four items."""
    rng = np.random.default_rng(0)
    return {
        "u": rng.integers(0, 9, (5, 4, 4)).astype(float),
        "ranks": np.array(
            [[1, 2, 3, 4], [2, 1, 3, 4], [4, 3, 2, 1], [3, 1, 4, 2], [3, 1, 2, 4]]
        ),
        "bound": False,
        "n_items": 4,
    }


def one_list():
    clean = preferences()
    return {**clean, "u": clean["u"][:1], "ranks": clean["ranks"][:1]}


def triangles():
    """Five lists of four items, lower triangles row by row."""
    u = np.random.default_rng(1).normal(size=(5, 10))
    return {"u": u, "n_items": 4, "decoder": "dag"}


COST = """
from lowrank_rank.decoders.feedback_arcs._graphs import preference_cost
result = preference_cost(u, ranks)
"""
DAG = """
from lowrank_rank.decoders import decode_pd_dag
result = decode_pd_dag(u, bound=bound).values
"""
EXACT = """
from lowrank_rank.decoders import decode_pd_exact
result = decode_pd_exact(u).values
"""
MAP = """
from lowrank_rank.decoders._average_precision import decode_map_exact
result = decode_map_exact(u, n_items).values
"""
ASSIGNMENT = """
from lowrank_rank.decoders._decoded import decode_assignment
result = decode_assignment(u, n_items)
"""
BY_NAME = """
from lowrank_rank.decoders.feedback_arcs._decoders import pd_decoder
result = pd_decoder(decoder, n_items).decode(numpy.ones((1, n_items, n_items))).ranks
"""

EXAMPLES = [
    Example("shape of vectors", triangles, "u = u[:, :-1]", MAP),
    Example("shape of vectors", triangles, "u = u[0]", MAP),
    Example("vectors of positions", triangles, "", ASSIGNMENT),
    Example("vectors that are not finite", triangles, "u[2, 3] = numpy.nan", MAP),
    Example("vectors that are not finite", preferences, "u[2, 3, 1] = 1e300", DAG),
    Example(
        "vectors that are not finite", preferences, "u[2, 3, 1] = -numpy.inf", COST
    ),
    Example("shape of preferences", one_list, "u = u[0]", DAG, [""]),
    Example("shape of preferences", one_list, "u = u[0].tolist()", DAG, [""]),
    Example("shape of preferences", one_list, "u = pandas.DataFrame(u[0])", DAG, [""]),
    Example("shape of preferences", one_list, "u = polars.DataFrame(u[0])", DAG, [""]),
    Example("shape of preferences", preferences, "u = u[:, :3]", COST),
    Example("shape of ranks", preferences, "ranks = ranks[:, :3]", COST),
    Example("ranks below 1", preferences, "ranks = ranks - 1", COST, [""]),
    Example("ranks below 1", preferences, "ranks = (ranks - 1).tolist()", COST, [""]),
    Example(
        "ranks below 1",
        preferences,
        "ranks = pandas.DataFrame(ranks - 1)",
        COST,
        [""],
    ),
    Example(
        "ranks below 1",
        preferences,
        "ranks = polars.DataFrame(ranks - 1)",
        COST,
        [""],
    ),
    Example(
        "ranks below 1", preferences, "ranks = numpy.where(ranks > 3, -1, ranks)", COST
    ),
    Example("unknown decoder", triangles, "decoder = 'dags'", BY_NAME),
    Example("unknown decoder", triangles, "decoder = {}", BY_NAME),
    Example("many items", triangles, "decoder = 'exact'; n_items = 201", BY_NAME),
    Example("many items", triangles, "n_items = 23", MAP),
    Example("many items", preferences, "u = numpy.ones((1, 201, 201))", EXACT),
    Example(
        "many items", preferences, "u = numpy.ones((1, 201, 201)); bound = True", DAG
    ),
]
