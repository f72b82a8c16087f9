"""What leaves the package: explanations of the model inside, a linear model as ONNX graph."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank.datasets import make_ranking

GUIDE = Path(__file__).parents[1] / "doc" / "user_guide" / "lightgbm.rst"


@pytest.fixture(scope="module")
def documents():
    return make_ranking(40, (3, 8), n_features=5, random_state=0)


@pytest.fixture(scope="module")
def linear_onnx():
    """The function of the guide's recipe, as it stands there."""
    pytest.importorskip("onnx")
    if not GUIDE.exists():
        pytest.skip("doc/ is not beside tests/")
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", GUIDE.read_text())
    (source,) = [block for block in blocks if "def linear_onnx" in block]
    namespace = {}
    exec(re.sub("^   ", "", source, flags=re.MULTILINE).partition("\nmodel = ")[0], namespace)
    return namespace["linear_onnx"]


@pytest.mark.parametrize(
    "model", [LowRankSurrogateRanker(estimator="ridge"), OrderPreservingRegressor()], ids=repr
)
@pytest.mark.parametrize("layout", ["documents", "items"])
def test_an_onnx_graph_gives_the_scores(documents, linear_onnx, model, layout):
    runtime = pytest.importorskip("onnxruntime")
    X, y, qid = documents
    if layout == "documents":
        model.fit(X, y, qid=qid)
    else:
        model.fit(X, (y[:, np.newaxis] + np.arange(4)) % 3)
    graph = linear_onnx(model).SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (scores,) = session.run(["score"], {"X": X.astype(np.float32)})
    expected = model.predict(X)
    assert np.std(expected) > 0.05
    np.testing.assert_allclose(scores, expected.reshape(len(X), -1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_shap_explains_the_regressor_inside(documents, name):
    """Explanations add up to the scores, with categories and missing values in a frame."""
    shap, library = pytest.importorskip("shap", minversion="0.50"), pytest.importorskip(name)
    X, y, qid = documents
    frame = pd.DataFrame(X.copy(), columns=list("abcde"))
    frame.loc[::5, "a"] = np.nan
    settings = {"n_estimators": 20, "n_jobs": 1}
    if name == "lightgbm":
        frame["kind"] = pd.Categorical(np.where(y > 1, "high", "low"))
        estimator = library.LGBMRegressor(verbose=-1, **settings)
    else:
        estimator = library.XGBRegressor(max_depth=3, **settings)
    ranker = LowRankSurrogateRanker(estimator=estimator, random_state=0)
    ranker.fit(frame, y, qid=qid)
    explainer = shap.TreeExplainer(ranker.estimator_)
    total = explainer.shap_values(frame).sum(axis=1) + explainer.expected_value
    scores = ranker.predict(frame)
    assert np.std(scores) > 0.05
    np.testing.assert_allclose(total, scores, rtol=1e-4, atol=1e-4)
    assert len(ranker.feature_importances_) == frame.shape[1]
