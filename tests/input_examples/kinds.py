"""Objects of a kind that no function reads."""

import numpy as np

from lowrank_rank import OrderPreservingRegressor

from . import Example


def documents():
    """Six queries of four documents, with three features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 24).astype(float)
    y[::4] = 0.0
    return {
        "X": rng.normal(size=(24, 3)),
        "y": y,
        "qid": np.repeat(np.arange(6), 4),
        "sample_weight": None,
        "model": OrderPreservingRegressor(tol=1e-9),
    }


FIT = """
model.fit(X, y, qid=qid, sample_weight=sample_weight)
result = model.predict(X)
"""

#: A class that looks like a tensor with a gradient, where there is no torch.
TENSOR = """
class Tensor:
    __module__ = "torch"
    requires_grad = True
    def __init__(self, values):
        self.values = values
    def detach(self):
        return self
    cpu = detach
    def numpy(self):
        return self.values
"""

EXAMPLES = [
    Example("lazy", documents, "X = polars.DataFrame(X).lazy()", FIT, [""]),
    Example("lazy", documents, "y = polars.DataFrame({'y': y}).lazy()", FIT, [""]),
    Example("iterator", documents, "X = iter(X.tolist())", FIT, [""]),
    Example("iterator", documents, "qid = (i for i in qid.tolist())", FIT, [""]),
    Example("tensor", documents, TENSOR + "X = Tensor(X)", FIT, [""]),
    Example(
        "booster",
        documents,
        "X = type('Booster', (), {'__module__': 'lightgbm.basic'})()",
        FIT,
    ),
]
