"""Preferences between items: parameters, long lists, noise, supports of labels."""

import numpy as np

from lowrank_rank import PairwiseDAGRanker

from . import Example


def documents():
    """Six lists of four documents, for a model of pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    return {
        "X": X,
        "y": np.digitize(X[:, 0] + rng.normal(size=24), [-0.5, 0.5]).astype(float),
        "qid": np.repeat(np.arange(6), 4),
        "sample_weight": None,
        "target_loss": "pd",
        "decoder": "auto",
        "score_function": "dmj",
        "pair_features": "difference",
        "estimator": "auto",
        "model": PairwiseDAGRanker(),
    }


def items():
    """Twenty rows with grades of three items."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    noise = rng.normal(size=(20, 3))
    return {**documents(), "X": X, "y": np.round(X[:, :1] + noise, 1), "qid": None}


def noise():
    """Preferences in a cycle, with scores of the items."""
    cycle = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    return {
        "u": [cycle, np.triu(np.ones((3, 3)), 1)],
        "probabilities": None,
        "score_function": "dmj",
        "scores": [[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]],
        "target_loss": "pd",
    }


def relevance():
    """Relevance of three items, for average precision."""
    return {
        **noise(),
        "u": [[0, 1, 1], [1, 0, 0]],
        "probabilities": [[0.65, 0.35], [0.2, 0.8]],
        "scores": None,
        "target_loss": "map",
    }


def support():
    """Grades of three items, of which every order is tried."""
    return {
        "loss": "ndcg",
        "support": [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        "probabilities": [[0.5, 0.3, 0.2]],
        "ranks": [[1, 2, 3]],
    }


FIT = """
model.set_params(target_loss=target_loss, estimator=estimator, decoder=decoder)
model.set_params(score_function=score_function, pair_features=pair_features)
model.fit(X, y, qid=qid, sample_weight=sample_weight)
result = model.rank(X, qid=qid), model.predict_surrogate(X)
result = numpy.concatenate([numpy.ravel(part) for part in result])
"""
FIT_OF_PAIRS = """
model.set_params(target_loss=target_loss, estimator=estimator, decoder=decoder)
model.set_params(score_function=score_function, pair_features=pair_features)
model.fit(X, y, qid=qid, sample_weight=sample_weight)
result = numpy.ravel(model.predict_preferences(X, qid=qid))
"""
PROBABILITIES = """
model.set_params(decoder=decoder, target_loss=target_loss).fit(X, y, qid=qid)
result = numpy.ravel(model.predict_preference_probabilities(X, qid=qid))
"""
LONG = """
model.set_params(pair_features=pair_features).fit(X, y, qid=qid)
result = model.rank(numpy.repeat(X, 500, axis=0), one_list=True)
"""
REPORT = """
report = lowrank_rank.calibration.noise_report(
    u,
    probabilities=probabilities,
    score_function=score_function,
    scores=scores,
    target_loss=target_loss,
)
result = [report.in_p_f, report.in_p_dag, report.in_p_reinforce, report.enough]
result = [str(part) for part in result]
"""
REGRET = """
result = lowrank_rank.calibration.conditional_regret(
    loss, support, probabilities, ranks
)
"""
CALIBRATION = """
report = lowrank_rank.calibration.calibration_report(
    loss, support, n_distributions=20
)
result = [str(check) for check in report.checks]
"""
SUMS = "lambda u: u.sum(axis=2) ** 2"
FEATURES = "lambda a, b: numpy.hstack([a - b, a ** 3 - b ** 3])"
DECODE = (
    "lambda u: numpy.argsort(numpy.argsort(u.sum(axis=2)[:, ::-1], axis=1), axis=1) + 1"
)

EXAMPLES = [
    # Parameters
    Example("loss without pairs", documents, "target_loss = 'ndcg'", FIT),
    Example(
        "unused score_function",
        documents,
        f"score_function = {SUMS}",
        FIT,
        [f"score_function = {SUMS}; decoder = 'score'", ""],
    ),
    Example(
        "unused score_function",
        items,
        f"score_function = {SUMS}",
        FIT,
        [f"score_function = {SUMS}; decoder = 'score'", ""],
    ),
    Example(
        "unused pair_features",
        documents,
        f"pair_features = {FEATURES}; decoder = 'score'",
        FIT,
        ["decoder = 'score'"],
    ),
    Example("unused pair_features", items, f"pair_features = {FEATURES}", FIT, [""]),
    Example(
        "unused decoder",
        documents,
        f"decoder = {DECODE}",
        FIT_OF_PAIRS,
        ["", f"decoder = {DECODE}; pair_features = lambda one, two: 1.0 * (one - two)"],
    ),
    Example(
        "regressor of documents",
        documents,
        "estimator = sklearn.linear_model.Ridge()",
        FIT,
        [""],
    ),
    Example("scores and no preferences", documents, "decoder = 'score'", PROBABILITIES),
    Example(
        "preferences that are not votes",
        documents,
        "target_loss = lowrank_rank.target_losses.PairwiseDisagreement("
        "weights='difference')",
        PROBABILITIES,
    ),
    # Weights, as of hinges
    Example(
        "weights within a list",
        documents,
        f"score_function = {SUMS}; decoder = 'score'\n"
        "sample_weight = 1.0 + numpy.arange(24.0)",
        FIT,
        [
            f"score_function = {SUMS}; decoder = 'score'\n"
            "sample_weight = numpy.repeat(2.5 + 4.0 * numpy.arange(6), 4)"
        ],
    ),
    Example(
        "weights within a list",
        documents,
        f"score_function = {SUMS}; decoder = 'score'; qid = None\n"
        "sample_weight = 1.0 + numpy.arange(24.0)",
        FIT,
    ),
    Example("many pairs of documents", documents, f"pair_features = {FEATURES}", LONG),
    # Noise
    Example("no list of preferences", noise, "u = []", REPORT),
    Example(
        "scores of average precision",
        relevance,
        "scores = [[1, 0, 0]] * 2",
        REPORT,
        [""],
    ),
    Example(
        "scores of average precision",
        relevance,
        f"score_function = {SUMS}",
        REPORT,
        [""],
    ),
    Example(
        "score_function without labels",
        noise,
        f"scores = None; score_function = {SUMS}",
        REPORT,
    ),
    Example(
        "score_function without labels",
        noise,
        "scores = None; score_function = 'borda'",
        REPORT,
    ),
    Example("scores of other lists", noise, "scores = scores[:1]", REPORT),
    Example("scores of other lists", noise, "scores[1] = [1.0, 0.0]", REPORT),
    # Supports
    Example("labels of a support", support, "support = support[0]", REGRET),
    Example("labels of a support", support, "support = support[0]", CALIBRATION),
    Example(
        "orders of many items",
        support,
        "support = [list(range(9))]",
        CALIBRATION,
    ),
    Example(
        "support with unjudged items",
        support,
        "support = [*support, [1.0, 2.0, numpy.nan]]",
        CALIBRATION,
        [""],
    ),
    Example(
        "support with unjudged items",
        support,
        "support = numpy.array([*support, [1.0, 2.0, numpy.nan]])",
        CALIBRATION,
        [""],
    ),
    Example(
        "support with unjudged items",
        support,
        "support = pandas.DataFrame([*support, [1.0, 2.0, None]])",
        CALIBRATION,
        [""],
    ),
]
