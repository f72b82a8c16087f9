"""Code blocks of the guide without prompts run in order, page by page.

Examples with prompts are doctests (``.ci/run docs``). A block that cannot run says why in
a comment on the line above, ``.. Not run: the reason``.
"""

import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.fixes import parse_version

from lowrank_rank import HistGradientBoostingRanker, OrderPreservingRegressor
from lowrank_rank.datasets import make_ranking, runs_to_features

DOC = Path(__file__).parents[1] / "doc"
pytestmark = pytest.mark.skipif(not DOC.is_dir(), reason="doc is not beside the tests")

BLOCK = re.compile(
    r"^(?P<above>.*)\n\.\. code-block:: python\n\n(?P<code>(?:   .*\n|\n)+)", re.M
)
NOT_RUN = re.compile(r"^\.\. Not run: \w.*\.$")
#: Packages that the tests do not need.
OPTIONAL = {"onnx", "onnxruntime", "shap", "skl2onnx", "skops"}


def is_missing(module):
    if module == "skl2onnx" and importlib.util.find_spec(module):
        # version 1.20 writes no histogram trees with a newer protobuf
        return parse_version(version("protobuf")) >= parse_version("7.34")
    return importlib.util.find_spec(module) is None


def pages():
    return [*DOC.glob("*.rst"), *(DOC / "user_guide").glob("*.rst")]


def blocks_to_run(page):
    """Sources of the blocks of a page, without those that say why they do not run."""
    text = page.read_text(encoding="utf-8")
    assert text.count(".. code-block:: python") == len(BLOCK.findall(text))
    return [
        re.sub("^   ", "", found["code"], flags=re.M)
        for found in BLOCK.finditer(text)
        if not NOT_RUN.match(found["above"])
    ]


def documents():
    """Names that the pages use: documents of sorted queries, split three ways."""
    X, y, qid = make_ranking(30, (4, 8), n_features=4, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["shop"] = np.where(X[:, 0] > 1, "old", "new")
    frame["shop"] = frame["shop"].astype("category")
    names = {"X": X, "y": y, "qid": qid, "frame": frame, "X_new": X[:7]}
    parts = {"train": qid < 16, "val": (qid >= 16) & (qid < 23), "test": qid >= 23}
    for part, rows in parts.items():
        names |= {f"X_{part}": X[rows], f"y_{part}": y[rows], f"qid_{part}": qid[rows]}
        names[f"group_{part}"] = np.bincount(qid[rows])[qid[rows].min() :]
    return names | {"group": np.bincount(qid)}


def fitted_models():
    names = documents()
    X, y, qid = names["X"], names["y"], names["qid"]
    ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    boosted = HistGradientBoostingRanker(max_iter=5).fit(X, y, qid=qid)
    loaded = {"np": np, "OrderPreservingRegressor": OrderPreservingRegressor}
    return names | loaded | {"ranker": ranker, "boosted": boosted}


def two_runs():
    rng = np.random.default_rng(0)
    names = [f"d{i}" for i in range(8)]
    queries = [f"q{i}" for i in range(10)]
    runs = {
        system: {
            query: dict(zip(names, rng.random(8), strict=True)) for query in queries
        }
        for system in ("words", "vectors")
    }
    qrels = {query: {"d1": 1, "d2": 0, "d3": 1} for query in queries}
    loaded = {
        "runs_to_features": runs_to_features,
        "OrderPreservingRegressor": OrderPreservingRegressor,
    }
    return loaded | {"runs": runs, "qrels": qrels}


#: What the blocks of a page find: the names that the text around them speaks of.
NAMES = {"lightgbm.rst": documents, "serve.rst": fitted_models, "hybrid.rst": two_runs}


def test_pages_with_code_have_names():
    with_code = {page.name for page in pages() if blocks_to_run(page)}
    assert with_code == set(NAMES)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_literal_blocks_hold_no_code_of_python(page):
    """Such a block would not run: it is a doctest, or a block that says its language."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"::\n\n +(?:import|from) \w", text)


# LightGBM 4.6 has no other argument; the guide names both
@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
@pytest.mark.parametrize("name", NAMES)
def test_blocks_of_a_page_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOC / "user_guide" / name
    names = NAMES[name]()
    missing = set()
    for code in blocks_to_run(page):
        used = set(re.findall(r"\b(?:import|from) (\w+)", code)) & OPTIONAL
        lacking = {module for module in used if is_missing(module)}
        missing |= lacking
        if not lacking:
            exec(compile(code, str(page), "exec"), names)
    if missing:
        pytest.skip(f"not run, for want of {sorted(missing)}")
