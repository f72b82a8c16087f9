"""Structured hinges and the top of lists: weights, measures, solvers and batches."""

import numpy as np

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)

from . import Example
from .classes import binary
from .classes import hinge as costs


def lists():
    """Six lists of four documents, of which one or two are relevant."""
    rng = np.random.default_rng(0)
    return {
        "X": rng.normal(size=(24, 2)),
        "y": np.tile([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0], 3),
        "qid": np.repeat(np.arange(6), 4),
        "sample_weight": np.repeat([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], 4),
        "target_loss": "auc",
        "solver": "auto",
        "model": StructuredHingeRanker(),
    }


def sequences():
    """The same lists as sequences."""
    return {**lists(), "model": StructuredHingeSequenceClassifier(max_iter=50)}


def steps():
    """The same lists, for a solver that takes batches."""
    model = StructuredHingeRanker(solver="sgd", alpha=0.01, target_loss="auc")
    return {**lists(), "model": model, "later": lists()["y"]}


def copies():
    """Rows of one list, with numbers of copies."""
    arguments = binary()
    arguments["sample_weight"] = 1.0 + np.arange(48) % 3
    arguments["target_loss"] = "auc"
    return {**arguments, "model": StructuredHingeBinaryClassifier()}


def published():
    """Rows of three classes, for SGD as published."""
    model = StructuredHingeClassifier(max_iter=30, random_state=0)
    return {**costs(), "model": model, "radius": 2.0, "solver": "auto"}


def top():
    """Forty-eight rows of two classes, some at the top."""
    arguments = binary()
    arguments["y"] = (arguments["grades"] == 2).astype(int)
    return {
        **arguments,
        "target_loss": "precision@4",
        "batch_size": "auto",
        "surrogate": "struct",
        "solver": "sgd",
        "qid": None,
        "k": 2,
        "scores": arguments["X"][:, 0],
        "model": PrecisionAtKPerceptron(random_state=0),
    }


FIT = """
model.set_params(target_loss=target_loss, solver=solver)
result = model.fit(X, y, qid=qid, sample_weight=sample_weight).predict(X)
"""
FIT_SEQUENCES = """
result = model.fit(X, y, qid=qid, sample_weight=sample_weight).coef_
"""
FIT_COPIES = """
model.set_params(target_loss=target_loss)
result = model.fit(X, y, sample_weight).decision_function(X)
"""
FIT_PUBLISHED = """
model.set_params(radius=radius, solver=solver)
result = model.fit(X, y).decision_function(X)
"""
LATER = """
model.partial_fit(X, y, qid=qid)
model.partial_fit(X, later)
"""
FIT_TOP = """
model.set_params(target_loss=target_loss, batch_size=batch_size)
model.set_params(surrogate=surrogate, solver=solver)
result = model.fit(X, y, qid=qid).decision_function(X)
"""
MARGINS = """
result = lowrank_rank.calibration.precision_margins(y, scores, k)
"""
HINGE = """
measured = lowrank_rank.surrogates.structured_hinge(target_loss, y, X[:, 0], qid=qid)
result = measured[0]
"""
MEANS = (
    "numpy.repeat((sample_weight + numpy.arange(24.0)).reshape(6, 4).mean(axis=1), 4)"
)

EXAMPLES = [
    # Weights
    Example(
        "parts of copies", copies, "sample_weight = sample_weight / 2", FIT_COPIES, [""]
    ),
    Example(
        "parts of copies",
        copies,
        "sample_weight = (sample_weight * 0.1).tolist()",
        FIT_COPIES,
        [""],
    ),
    Example(
        "parts of copies",
        copies,
        "sample_weight = pandas.Series(sample_weight * 0.3)",
        FIT_COPIES,
        [""],
    ),
    Example("parts of copies", copies, "sample_weight[3] = 1.23", FIT_COPIES),
    Example(
        "weights within a list",
        lists,
        "sample_weight = sample_weight + numpy.arange(24.0)",
        FIT,
        [f"sample_weight = {MEANS}"],
    ),
    Example(
        "weights within a list",
        lists,
        "sample_weight = (sample_weight + numpy.arange(24.0)).tolist()\n"
        "qid = [('q', i) for i in qid.tolist()]",
        FIT,
        [f"sample_weight = {MEANS}"],
    ),
    Example(
        "weights within a list",
        lists,
        "sample_weight = polars.Series(sample_weight + numpy.arange(24.0))\n"
        "qid = polars.Series(qid)",
        FIT,
        [f"sample_weight = {MEANS}"],
    ),
    Example(
        "weights within a list",
        lists,
        "X = pandas.DataFrame(X, index=numpy.arange(24) + 5)\n"
        "sample_weight = pandas.Series(sample_weight + numpy.arange(24.0), X.index)\n"
        "qid = pandas.Series(qid, X.index)",
        FIT,
        [f"sample_weight = {MEANS}"],
    ),
    Example(
        "weights within a list",
        sequences,
        "sample_weight = sample_weight + numpy.arange(24.0)",
        FIT_SEQUENCES,
        [f"sample_weight = {MEANS}"],
    ),
    # Measures and solvers
    Example("measure without hinge", lists, "target_loss = 'map'", FIT),
    Example("measure without hinge", copies, "target_loss = 'ndcg'", FIT_COPIES),
    Example(
        "k and the number of relevant items",
        lists,
        "target_loss = 'precision@3'",
        FIT,
        ["target_loss = lowrank_rank.target_losses.AUC()"],
    ),
    Example(
        "k and the number of relevant items",
        lists,
        "target_loss = 'recall@1'",
        HINGE,
        ["target_loss = lowrank_rank.target_losses.AUC()"],
    ),
    Example(
        "solver beside radius",
        published,
        "solver = 'cutting_plane'",
        FIT_PUBLISHED,
        ["", "radius, solver = None, 'cutting_plane'"],
    ),
    Example(
        "solver of smooth hinges",
        lists,
        "target_loss = 'ndcg'; solver = 'lbfgs'",
        FIT,
        ["target_loss, solver = 'ndcg', 'auto'"],
    ),
    Example("another layout than before", steps, "later = numpy.eye(24)", LATER),
    # The top of lists
    Example("loss without a top", top, "target_loss = 'ndcg@10'", FIT_TOP),
    Example(
        "threshold of two classes",
        top,
        "y = grades\n"
        "target_loss = lowrank_rank.target_losses.PrecisionAtK("
        "4, relevance_threshold=2)",
        FIT_TOP,
        ["y = grades == 2"],
    ),
    Example(
        "threshold of two classes",
        top,
        "y = polars.Series(grades)\n"
        "target_loss = lowrank_rank.target_losses.PrecisionAtK("
        "4, relevance_threshold=2)",
        FIT_TOP,
        ["y = grades == 2"],
    ),
    Example("nothing to rank", top, "qid = numpy.arange(48)", FIT_TOP),
    Example(
        "fewer positives than places",
        top,
        "target_loss = 'precision@20'",
        FIT_TOP,
        [
            "target_loss = lowrank_rank.target_losses.PrecisionAtK(int(y.sum()))",
            "target_loss = 'precision@50%'",
            "target_loss = lowrank_rank.target_losses.RecallAtK(20)",
        ],
    ),
    Example("top of all rows", top, "target_loss = 'recall@48'", FIT_TOP),
    Example(
        "solver of other surrogates",
        top,
        "surrogate = 'ramp'",
        FIT_TOP,
        ["surrogate = 'avg'", "surrogate = 'ramp'; solver = 'averaged'"],
    ),
    Example(
        "solver of other surrogates",
        top,
        "surrogate = 'ramp'; solver = 'perceptron'",
        FIT_TOP,
        [
            "surrogate = 'avg'; solver = 'perceptron'",
            "surrogate = 'ramp'; solver = 'averaged'",
        ],
    ),
    Example(
        "solver of other surrogates",
        top,
        "surrogate = 'max'; solver = 'cutting_plane'",
        FIT_TOP,
        ["solver = 'cutting_plane'", "surrogate = 'max'; solver = 'averaged'"],
    ),
    Example(
        "solver of one list",
        top,
        "qid = numpy.arange(48) % 4; solver = 'cutting_plane'",
        FIT_TOP,
        ["qid = numpy.arange(48) % 4"],
    ),
    Example(
        "top of all lists",
        top,
        "qid = numpy.arange(48) % 4; target_loss = 'recall@12'",
        FIT_TOP,
    ),
    Example(
        "small batches",
        top,
        "batch_size = 2",
        FIT_TOP,
        ["batch_size = 48 // 4", "batch_size = 'auto'"],
    ),
    Example(
        "labels of a scored list",
        top,
        "y = grades; k = 5",
        MARGINS,
        ["y = (grades > 0).astype(int); k = 5"],
    ),
    Example(
        "labels of a scored list",
        top,
        "y = (2 * y - 1).tolist()",
        MARGINS,
        [""],
    ),
    Example("places of a scored list", top, "k = 40", MARGINS),
]
