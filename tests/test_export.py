"""What leaves the package: saved models, ONNX graphs, explanations of the model inside."""

import pickle
import re
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.fixes import parse_version

import lowrank_rank
from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    StackingRanker,
)
from lowrank_rank.datasets import make_ranking

GUIDE = Path(__file__).parents[1] / "doc" / "user_guide" / "serve.rst"


@pytest.fixture(scope="module")
def documents():
    return make_ranking(40, (3, 8), n_features=5, random_state=0)


def run_recipe(word, end=None, guide=GUIDE, **names):
    """Run the guide's recipe with this word, up to the line that begins with `end`."""
    if not guide.exists():
        pytest.skip("doc/ is not beside tests/")
    blocks = re.findall(
        r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", guide.read_text()
    )
    (source,) = [block for block in blocks if word in block]
    source = re.sub("^   ", "", source, flags=re.MULTILINE)
    exec(source.partition(f"\n{end}")[0] if end else source, names)
    return names


def scores_of_graph(model, X):
    session = pytest.importorskip("onnxruntime").InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X.astype(np.float32)})[0]


@pytest.fixture(scope="module")
def linear_onnx():
    pytest.importorskip("onnx")
    return run_recipe("def linear_onnx", end="model = ")["linear_onnx"]


@pytest.mark.parametrize(
    "model",
    [LowRankSurrogateRanker(estimator="ridge"), OrderPreservingRegressor()],
    ids=repr,
)
@pytest.mark.parametrize("layout", ["documents", "items"])
def test_an_onnx_graph_gives_the_scores(documents, linear_onnx, model, layout):
    X, y, qid = documents
    if layout == "documents":
        model.fit(X, y, qid=qid)
    else:
        model.fit(X, (y[:, np.newaxis] + np.arange(4)) % 3)
    scores = scores_of_graph(linear_onnx(model), X)
    expected = model.predict(X)
    assert np.std(expected) > 0.05
    np.testing.assert_allclose(
        scores, expected.reshape(len(X), -1), rtol=1e-5, atol=1e-5
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of onnx
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRanker(max_iter=20),
        LowRankSurrogateRanker(estimator="trees"),
    ],
    ids=repr,
)
def test_an_onnx_graph_of_boosted_trees_gives_the_scores(documents, model):
    pytest.importorskip("skl2onnx")
    if parse_version(version("protobuf")) >= parse_version("7.34"):
        pytest.skip("skl2onnx 1.20 needs protobuf below 7.34 for histogram trees")
    X, y, qid = documents
    X = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.1, np.nan, X)
    X = X.astype(np.float32).astype(
        np.float64
    )  # a threshold does not part a number from itself
    if not model.__sklearn_tags__().input_tags.allow_nan:
        X = np.nan_to_num(X)
    boosted = model.set_params(random_state=0).fit(X, y, qid=qid)
    scores = scores_of_graph(
        run_recipe("to_onnx", np=np, X=X, boosted=boosted)["model"], X
    )
    assert np.std(scores) > 0.05
    np.testing.assert_allclose(scores[:, 0], boosted.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "ranker",
    [
        LowRankSurrogateRanker(),
        OrderPreservingRegressor(),
        StackingRanker(
            [("one", LowRankSurrogateRanker()), ("two", OrderPreservingRegressor())]
        ),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_skops_loads_what_it_saved(documents, ranker, tmp_path, monkeypatch):
    pytest.importorskip("skops")
    monkeypatch.chdir(tmp_path)
    X, y, qid = documents
    ranker.fit(X, y, qid=qid)
    loaded = run_recipe("import skops.io", ranker=ranker)["loaded"]
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(loaded.rank(X, qid=qid), ranker.rank(X, qid=qid))


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_shap_explains_the_regressor_inside(documents, name):
    """Explanations add up to the scores, with categories and missing values in a frame."""
    shap, library = (
        pytest.importorskip("shap", minversion="0.50"),
        pytest.importorskip(name),
    )
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


# Explanations -----------------------------------------------------------------------------


def frames(kind):
    """A frame of documents: numbers, also with gaps, also with text."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 8)
    frame = pd.DataFrame(rng.normal(size=(320, 3)), columns=list("abc"))
    grade = frame["a"] + frame["b"] * frame["c"] + rng.normal(size=320)
    y = np.digitize(grade, [0.0, 1.0, 2.0])
    if kind != "numbers":
        frame.loc[::7, "a"] = np.nan
    if kind == "text":
        frame["word"] = np.where(frame["b"] > 0, "high", "low")
        frame["shop"] = rng.choice(list("uvwxyz"), 320)
        frame.loc[::5, "word"] = None
    return frame, y, qid


@pytest.mark.parametrize("kind", ["numbers", "gaps", "text"])
def test_the_recipe_of_shap_adds_up_to_the_scores_of_the_stack(kind):
    shap = pytest.importorskip("shap")
    frame, y, qid = frames(kind)
    found = run_recipe(
        "def explained",
        guide=GUIDE.with_name("lightgbm.rst"),
        shap=shap,
        pd=pd,
        StackingRanker=StackingRanker,
        frame=frame,
        y=y,
        qid=qid,
    )
    stack, values = found["stack"], found["values"]
    assert len(stack.estimators_) >= 2
    scores = stack.predict(frame)
    assert np.ptp(values.sum(axis=1) - scores) < 1e-6 < np.ptp(scores)
    assert abs(found["why"].sum() - (scores[0] - scores[1])) < 1e-6


# Versions of saved models -----------------------------------------------------------------


@pytest.mark.parametrize("way", ["pickle", "skops"])
@pytest.mark.parametrize("saved", ["0.2.9", "0.1.3", "1.2.0"])
def test_models_of_another_minor_version_warn(
    monkeypatch, tmp_path, documents, way, saved
):
    X, y, qid = documents
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    monkeypatch.setattr("lowrank_rank._base.__version__", saved)
    path = tmp_path / "model"
    if way == "pickle":
        path.write_bytes(pickle.dumps(model))
    else:
        pytest.importorskip("skops.io").dump(model, path)
    monkeypatch.undo()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if way == "pickle":
            loaded = pickle.loads(path.read_bytes())
        else:
            skops = pytest.importorskip("skops.io")
            loaded = skops.load(path, trusted=skops.get_untrusted_types(file=path))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    # The digests of the queries are not saved.
    assert vars(loaded).keys() == vars(model).keys() - {"_fitted_lists_"}
    is_other = saved.split(".")[:2] != lowrank_rank.__version__.split(".")[:2]
    assert len(seen) == is_other
    if is_other:
        assert seen[0].category is InconsistentVersionWarning
        assert f"of lowrank_rank from version {saved}" in str(seen[0].message)


def test_every_public_estimator_remembers_the_version():
    names = {*lowrank_rank.__all__, *lowrank_rank.structured.__all__}
    for name in names:
        kind = getattr(lowrank_rank, name, None)
        kind = kind or getattr(lowrank_rank.structured, name)
        if isinstance(kind, type) and hasattr(kind, "fit"):
            assert "_lowrank_rank_version" in kind.__getstate__(kind.__new__(kind)), (
                name
            )
