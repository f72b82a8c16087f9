"""Code blocks of the guide without prompts run in order, page by page.

Examples with prompts are doctests (``.ci/run docs``). A block that cannot run says why in
a comment on the line above, ``.. Not run: the reason``.
"""

import importlib.util
import re
import sys
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


def is_skl2onnx_broken():
    """Whether skl2onnx is here, and 1.20 writes no histogram trees with this protobuf."""
    if importlib.util.find_spec("skl2onnx") is None:
        return False
    return parse_version(version("protobuf")) >= parse_version("7.34")


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


def run_blocks(page, names):
    """Run the blocks of a page in order.

    A block that imports a missing optional package ends the run: later blocks may use
    its names.
    """
    not_run = []
    for code in blocks_to_run(page):
        if "import to_onnx" in code and is_skl2onnx_broken():
            not_run.append("skl2onnx 1.20 needs protobuf below 7.34")
            continue
        try:
            exec(compile(code, str(page), "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
            not_run.append(f"{error.name} is missing, for a block and those after it")
            break
    if not_run:
        pytest.skip("; ".join(not_run))


# LightGBM 4.6 has no other argument; the guide names both
@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of an import of shap
@pytest.mark.parametrize("name", NAMES)
def test_blocks_of_a_page_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(DOC / "user_guide" / name, NAMES[name]())


PAGE = """Text:

.. code-block:: python

   before = 1

An import:

.. code-block:: python

   import {module}

   during = 2

What follows:

.. code-block:: python

   after = {module}.__name__
"""


def test_blocks_after_a_missing_import_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    page = tmp_path / "page.rst"
    page.write_text(PAGE.format(module="shap"), encoding="utf-8")
    names = {}
    with pytest.raises(pytest.skip.Exception, match="shap is missing"):
        run_blocks(page, names)
    assert names["before"] == 1
    assert not {"during", "after"} & set(names)


def test_a_package_that_the_tests_need_is_not_skipped(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    page = tmp_path / "page.rst"
    page.write_text(PAGE.format(module="lightgbm"), encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="lightgbm"):
        run_blocks(page, {})
