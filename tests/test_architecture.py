"""Imports go one way, and families import nothing of each other."""

import ast
import inspect
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import lowrank_rank

PACKAGE = Path(lowrank_rank.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
#: The core, which a new maintainer reads first: its floors from the ground up. A module may
#: import what stands below it, and of its own folder.
CORE = [
    {"_version", "_typing", "_tables"},
    {"lists"},
    {"validation"},
    {"decoders"},
    {"target_losses"},
    {"metrics"},
    {"model_selection"},
    {"_blocks"},
    {"_base"},
    {"fitting"},
    {
        "low_rank",
        "preferences",
        "order_preserving",
        "precision_at_top",
        "structured",
    },
    {"meta"},
    {"surrogates", "calibration", "boosting"},
    {"testing"},
]
#: They import the core, by its public names and by the interfaces below; the core imports none
#: of them.
COMPANIONS = [{"datasets"}, {"evaluation", "votes", "clicks"}, {"plotting", "dask"}]
#: Private modules that companions may import, and who needs them: four that all of them do,
#: four of the core, and how runs are read.
INTERFACES = {
    "lists": "rows as lists, and ranks",
    "validation": "reading and checking of input",
    "_tables": "results that print as tables",
    "_typing": "types of arguments",
    "_blocks": "dask: blocks of whole lists",
    "decoders/feedback_arcs": "votes, plotting: graphs of preferences and their orders",
    "target_losses": "evaluation: measures by their names, means of lists",
    "meta": "dask: the parts of a stack, and their scores",
    "datasets/_trec": "evaluation: runs and judgements",
}
#: Results that public functions return; plotting draws them.
RESULTS = {"RankerComparison", "ConsensusRanking", "BradleyTerry"}
FLOORS = [*CORE, *COMPANIONS, {"__init__"}]
ALL_FLOORS = set().union(*FLOORS)
FAMILIES = next(floor for floor in CORE if "low_rank" in floor) | {"meta"}
#: They gather public names and hold no code.
FACES = {"surrogates", "calibration", "boosting"}
#: Kinds that are kept by kind however many families use them: public, or described in the guide.
BY_KIND = {
    "lists",
    "validation",
    "decoders",
    "target_losses",
    "metrics",
    *set().union(*COMPANIONS),
}


def parts_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts


def floor_of(name):
    return next(number for number, names in enumerate(FLOORS) if name in names)


def imported_modules(path):
    """Parts of every module of ours that a file imports; names out of a package are resolved."""
    for module, _ in imported_names(path):
        yield module


def imported_names(path):
    """Every name of ours that a file imports, with the parts of its module."""
    parts = parts_of(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*parts[: len(parts) - node.level], *(node.module or "").split("."))
            base = tuple(part for part in base if part)
            for alias in node.names:
                yield defining_module(base, alias.name), alias.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            assert "lowrank_rank" not in [getattr(node, "module", None), *names], path


def defining_module(base, name):
    """The module that `name` of the module or package `base` comes from."""
    folder = PACKAGE.joinpath(*base)
    if folder.with_suffix(".py").exists():
        return base
    if (folder / f"{name}.py").exists() or (folder / name).is_dir():
        return (*base, name)
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and name in [
            a.asname or a.name for a in node.names
        ]:
            return defining_module((*base, *node.module.split(".")), name)
    return base


@pytest.mark.parametrize("path", MODULES, ids=lambda p: "/".join(parts_of(p)))
def test_imports_go_down(path):
    top = parts_of(path)[0]
    for module in imported_modules(path):
        if module and module[0] != top:
            assert floor_of(module[0]) < floor_of(top), (path.name, module)


COMPANION_NAMES = set().union(*COMPANIONS)
CORE_NAMES = set().union(*CORE)


def is_interface(module):
    """Whether a module is one that companions may import, whole or in a listed folder."""
    path = "/".join(module)
    return any(path == one or path.startswith(f"{one}/") for one in INTERFACES)


def test_the_core_imports_no_companion():
    for path in MODULES:
        if parts_of(path)[0] in CORE_NAMES:
            for module in imported_modules(path):
                assert module[0] not in COMPANION_NAMES, (parts_of(path), module)


@pytest.mark.parametrize("companion", sorted(COMPANION_NAMES))
def test_companions_import_public_names_and_listed_interfaces(companion):
    public = {name.rpartition(".")[2] for name in public_names()} | RESULTS
    for path in MODULES:
        if parts_of(path)[0] != companion:
            continue
        for module, name in imported_names(path):
            is_own = module[0] == companion
            assert is_own or name in public or is_interface(module), (
                parts_of(path),
                module,
                name,
            )


def test_every_module_has_a_floor():
    assert {parts_of(path)[0] for path in MODULES} == ALL_FLOORS


def test_a_module_used_by_one_family_lives_in_it():
    """What one family alone uses, directly or through others, lives in that family's folder."""
    users, direct = defaultdict(set), defaultdict(set)
    for path in MODULES:
        if path.name != "__init__.py":
            for module in imported_modules(path):
                direct[module].add(parts_of(path))

    def families_using(module, seen=()):
        for user in direct[module]:
            if user[0] in FAMILIES:
                users[module].add(user[0])
            elif user not in seen and user[0] not in FACES:
                users[module].add(user[0]) if len(user) == 1 else None
                families_using(user, (*seen, user))
                users[module] |= users[user]
        return users[module]

    for path in MODULES:
        module = parts_of(path)
        by_kind = (
            module[0] in BY_KIND | FAMILIES
            or len(module) == 1
            or path.name == "__init__.py"
        )
        if not by_kind:
            assert len(families_using(module)) >= 2, module


@pytest.mark.parametrize("face", sorted(FACES))
def test_faces_hold_no_code(face):
    """Faces hold imports and ``__all__``: a name is public in one place and lives in another."""
    for node in ast.parse((PACKAGE / f"{face}.py").read_text()).body:
        public = isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert public or docstring or isinstance(node, ast.ImportFrom), ast.unparse(
            node
        )


def test_private_scikit_learn_is_used_in_one_file():
    users = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            else:
                continue
            users |= {
                ("/".join(parts_of(path)), name)
                for name in imported
                if name.startswith(("sklearn.", "scipy.", "numpy.", "joblib."))
                and "._" in name
            }
    assert users == {("fitting/_list_trees", "sklearn._loss.loss.HalfSquaredError")}


#: Bases that are nothing by themselves, and named tuples, which functions with examples return.
WITHOUT_EXAMPLE = {"TargetLoss", "PositionalLoss", "SetLoss", "Surrogate"}


def test_public_names_have_an_example():
    modules = [
        value for value in vars(lowrank_rank).values() if hasattr(value, "__all__")
    ]
    for module in (lowrank_rank, *modules):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                result = isinstance(value, type) and issubclass(value, tuple)
                assert value.__doc__, name
                assert (
                    "Examples" in value.__doc__ or result or name in WITHOUT_EXAMPLE
                ), name


def public_names():
    """Names in ``__all__`` of the package and of its modules, without modules and the version."""
    for path in MODULES:
        public = not any(
            part.startswith("_") for part in parts_of(path) if part != "__init__"
        )
        for node in ast.parse(path.read_text()).body if public else ():
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
                for name in ast.literal_eval(node.value):
                    if name != "__version__" and name not in ALL_FLOORS:
                        yield ".".join((*parts_of(path), name))


def test_families_hold_a_docstring_and_public_modules_list_their_names():
    for name in sorted(FAMILIES - {"structured"}):
        (node,) = ast.parse((PACKAGE / name / "__init__.py").read_text()).body
        assert isinstance(node.value.value, str), name
    for name in lowrank_rank.__all__:
        value = getattr(lowrank_rank, name)
        assert not inspect.ismodule(value) or value.__all__ == sorted_names(
            value.__all__
        ), name


def sorted_names(names):
    """Constants, classes and functions, as ruff sorts ``__all__``."""
    return sorted(
        names, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )


#: What these return is of several kinds.
RETURNS_ANY = {"load_letor"}


def test_public_signatures_are_typed():
    """The package says that it is typed: every public function says what it returns."""
    modules = [
        value for value in vars(lowrank_rank).values() if hasattr(value, "__all__")
    ]
    for module in (lowrank_rank, *modules):
        for name in module.__all__:
            value = getattr(module, name)
            methods = vars(value).values() if isinstance(value, type) else [value]
            for method in methods:
                if inspect.isfunction(method) and not method.__name__.startswith("_"):
                    returns = method.__annotations__.get("return", Any)
                    assert returns is not Any or name in RETURNS_ANY, (
                        name,
                        method.__name__,
                    )


TESTS = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
#: Types and a number: nothing that could be wrong by itself.
UNTESTED = {("_version",)}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: "/".join(parts_of(p)))
def test_a_module_has_its_test_file(path):
    """test_<folder>_<module>.py, or test_<folder>.py for small modules: found in one guess."""
    parts = [part.strip("_") for part in parts_of(path)]
    if path.name == "__init__.py" or parts_of(path) in UNTESTED or parts[0] in FACES:
        return
    guesses = {"_".join(["test", *parts[:n]]) for n in range(1, len(parts) + 1)}
    assert guesses & TESTS, guesses


def test_private_names_that_tests_reach_are_listed_in_one_place():
    """Tests go through public names; `internals` lists the others."""
    folder = Path(__file__).parent
    for path in folder.rglob("*.py"):
        if path.name == "internals.py" or "typing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "lowrank_rank"
            ):
                words = [*node.module.split("."), *(each.name for each in node.names)]
                private = [
                    word for word in words if word.startswith("_") and word[1] != "_"
                ]
                assert not private, (
                    f"{path.name}: {private} belong to tests/internals.py"
                )
