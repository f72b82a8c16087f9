"""What checks read of a call is what their callers give: no misspelt word switches one off."""

import ast
import importlib
import inspect
import textwrap
from collections import defaultdict
from functools import partial
from pathlib import Path

import lowrank_rank

from .internals import Check

PACKAGE = Path(lowrank_rank.__file__).parent
#: The error of another package, and the form of a line: files of LETOR and PrefLib have
#: it in their sentences.
ALWAYS = {"error", "form"}


def module_at(path):
    """The module of a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return importlib.import_module(".".join(parts).removesuffix(".__init__"))


#: Each module that refuses input, with its syntax tree.
MODULES = [
    (module_at(path), ast.parse(path.read_text()))
    for path in sorted(PACKAGE.rglob("*.py"))
    if "refuse(" in path.read_text() and path.name != "_check.py"
]


def function_of(finds):
    """The function of a finder that may be partial."""
    return finds.func if isinstance(finds, partial) else finds


def names_read(function, visited):
    """Names that a finder reads of `given`, itself or by functions that it calls."""
    function = inspect.unwrap(function_of(function))
    if function in visited or not inspect.isfunction(function):
        return set()
    visited.add(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = set()
    for node in ast.walk(tree):
        is_attribute = isinstance(node, ast.Attribute)
        if is_attribute and isinstance(node.value, ast.Name):
            if node.value.id == "given" and isinstance(node.ctx, ast.Load):
                names.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node).startswith(
            "getattr(given, "
        ):
            # The name is one that the maker of the finder was given.
            kept = inspect.getclosurevars(function).nonlocals.values()
            names |= {value for value in kept if isinstance(value, str)}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            # A function that is called, or handed on, reads `given` too.
            other = function.__globals__.get(node.id)
            if (
                inspect.isfunction(other)
                and "given" in inspect.signature(other).parameters
            ):
                names |= names_read(other, visited)
    return names


def keys_of(node):
    """Keys of a literal dict."""
    return {key.value for key in node.keys if isinstance(key, ast.Constant)}


def keywords_of(call, tree):
    """Keywords of a call; of ``**name`` the keys of dicts, or keywords, of this name."""
    names = set()
    for keyword in call.keywords:
        if keyword.arg is not None:
            names.add(keyword.arg)
        else:
            names |= keys_of_name(ast.unparse(keyword.value), call, tree)
    return names


def keys_of_name(name, call, tree):
    """Keys of what a name stands for: keywords of a function, or dicts anywhere."""
    functions = [
        node
        for node in nodes_of(tree, ast.FunctionDef)
        if getattr(node.args.kwarg, "arg", None) == name and call in ast.walk(node)
    ]
    names = set()
    for function in functions:
        for outer in calls_of(tree, function.name):
            names |= keywords_of(outer, tree)
    if functions:
        return names
    for _, other in MODULES:
        for node in nodes_of(other, ast.Assign):
            is_dict = isinstance(node.value, ast.Dict)
            if is_dict and name in map(ast.unparse, node.targets):
                names |= keys_of(node.value)
    return names


def nodes_of(tree, kind):
    """Nodes of a kind."""
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def calls_of(tree, name):
    """Calls of a function by its name."""
    return [
        node
        for node in nodes_of(tree, ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id == name
    ]


def names_of_given(tree):
    """Names that a module gives to its objects `Given`."""
    names = set()
    for call in calls_of(tree, "Given"):
        names |= keywords_of(call, tree)
    for node in nodes_of(tree, ast.Attribute):
        is_set = isinstance(node.ctx, ast.Store)
        if is_set and ast.unparse(node.value) == "given":
            names.add(node.attr)
    return names


def tables_asked():
    """For each call of `refuse`: the place, the table, the names and whether by keyword."""
    for module, tree in MODULES:
        for call in calls_of(tree, "refuse"):
            table = eval(ast.unparse(call.args[0]), vars(module))
            place = f"{module.__name__}:{call.lineno}"
            if len(call.args) == 1:
                yield place, table, keywords_of(call, tree), True
            else:
                yield place, table, names_of_given(tree), False


def read_by(table):
    """Names that the checks of a table read."""
    names = set()
    for check in table:
        names |= names_read(check.finds, set())
    return names


def test_each_keyword_is_read_by_a_check_of_its_table():
    unread = {}
    for place, table, names, is_by_keyword in tables_asked():
        assert all(isinstance(check, Check) for check in table), place
        others = names - read_by(table) - {"error"}
        if is_by_keyword and others:
            unread[place] = sorted(others)
    assert unread == {}


def test_each_name_that_a_check_reads_is_given_by_a_caller():
    given = defaultdict(set)
    tables = {}
    for _, table, names, _ in tables_asked():
        for check in table:
            given[check.name] |= names
            tables[check.name] = check
    assert len(tables) > 200
    missing = {}
    for name, check in tables.items():
        others = names_read(check.finds, set()) - given[name] - ALWAYS
        if others:
            missing[name] = sorted(others)
    assert missing == {}
