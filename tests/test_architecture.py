"""Imports go one way, files and functions stay small, names are promises."""

import ast
from pathlib import Path

import pytest

import lowrank_rank

PACKAGE = Path(lowrank_rank.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# What each layer may import of ours; the scorers stand above the target losses.
MAY_IMPORT = {
    "_lists": set(),
    "_ranks": set(),
    "decoders": {"_lists", "_ranks"},
    "metrics": {"_lists", "_ranks"},
    "target_losses": {"_lists", "_ranks", "decoders", "metrics"},
    "metrics._scorer": {"_lists", "_ranks", "metrics", "target_losses"},
    "surrogates": {"_lists", "_ranks"},
    "solvers": {"surrogates"},
    "estimators": {
        "_lists",
        "_ranks",
        "decoders",
        "metrics",
        "target_losses",
        "surrogates",
        "solvers",
        "calibration",
    },
    "datasets": {"_lists"},
    "calibration": {"_lists", "decoders", "surrogates", "target_losses"},
    "boosting": {"_lists", "estimators", "surrogates", "target_losses"},
    "plotting": {"decoders"},
    "testing": {"_lists", "calibration", "surrogates", "target_losses"},
}


def layer_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "metrics._scorer" if parts == ("metrics", "_scorer") else parts[0]


def imported_layers(path):
    """First part below the package of every relative import in a module."""
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (name.partition(".")[0] for name in names)
        elif isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            names = [alias.name for alias in node.names]
            assert "lowrank_rank" not in [getattr(node, "module", None), *names], path


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    layer = layer_of(path)
    if layer in ("__init__", "_version") or path.name == "__init__.py":
        return
    assert set(imported_layers(path)) <= MAY_IMPORT[layer] | {layer}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_and_functions_stay_small(path):
    text = path.read_text()
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            length = node.end_lineno - body[0].lineno + 1
            assert length <= (60 if layer_of(path) == "solvers" else 40), (path.name, node.name)


def test_private_scikit_learn_is_not_used():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("sklearn", "scipy", "numpy", "joblib")
            ):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), (path.name, names)


def test_public_names_are_documented():
    for module in (lowrank_rank, lowrank_rank.metrics, lowrank_rank.target_losses):
        for name in module.__all__:
            public = getattr(module, name)
            if callable(public):
                assert public.__doc__, name
                assert "Examples" in public.__doc__ or isinstance(public, type), name
