"""Reference pages, tables and changelog of the site, made from their sources.

Nothing here names a class or a function of the package: the pages follow from the public names
of its modules, from its tables, and from the groups in ``api_groups.py``.
"""

import inspect
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType

import api_groups
import learnt_orders
import meta_estimators
import numpy as np
import scikit_learn_tools as scikit_learn
from docutils import nodes
from sphinx.addnodes import pending_xref

import lowrank_rank
from lowrank_rank.target_losses._names import SCORE_ONLY, TARGET_LOSSES, resolve_measure
from tests.theorems import sources

PACKAGE = lowrank_rank.__name__


def write_generated_pages(doc, changelog):
    """Write everything below ``api/generated``; files of an earlier build are removed."""
    folder = doc / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "target_loss_names.inc": names_table(TARGET_LOSSES, aimed_at=True),
        "scorer_names.inc": names_table(SCORE_ONLY, aimed_at=False),
        "meta_estimators.inc": outcomes_table(meta_estimators.TABLE),
        "scikit_learn_tools.inc": tools_table(),
        "theorems.inc": theorem_tables(),
        "groups.inc": group_index(),
        "changelog.inc": markdown_to_rst(changelog.read_text(encoding="utf-8")),
    }
    public = {f"{path}.rst" for _, objects in documented_objects() for path in objects}
    for path in folder.iterdir():
        if (
            path.name not in pages.keys() | public
        ):  # autosummary writes the pages of `public`
            path.unlink()
    groups = group_pages()
    for path in folder.parent.glob("*.rst"):
        if path.name not in groups | {"index.rst": ""}:
            path.unlink()
    # Beside the index: the toctrees of autosummary are relative to the page.
    pages |= {f"../{name}": text for name, text in groups.items()}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(
                text, encoding="utf-8"
            )  # an unchanged page is not built again


# Reference --------------------------------------------------------------------------


def public_names(module):
    """``__all__`` of the module, or the public names that the module defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("__")]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]


def documented_modules():
    """The package, then its public modules."""
    yield lowrank_rank
    for name in public_names(lowrank_rank):
        if isinstance(value := getattr(lowrank_rank, name), ModuleType):
            yield value
    for name in api_groups.OPTIONAL_MODULES:
        yield import_module(f"{lowrank_rank.__name__}.{name}")


def documented_objects():
    """Classes and functions by module, each at its first public place; then results."""
    seen = set()
    for module in documented_modules():
        objects = {}
        for name in public_names(module):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and id(
                value
            ) not in seen:
                seen.add(id(value))
                objects[f"{module.__name__}.{name}"] = value
        yield module, dict(sorted(objects.items()))
    for result in api_groups.RESULTS:
        path, _, name = f"{PACKAGE}.{result}".rpartition(".")
        module = import_module(path)
        yield module, {f"{path}.{name}": getattr(module, name)}


def members_by_class():
    """Documented public members that this package defines, inherited ones too, for each class."""
    return {
        path: class_members(value)
        for _, objects in documented_objects()
        for path, value in objects.items()
        if inspect.isclass(value)
    }


def class_members(cls):
    members = []
    for name in dir(cls):
        value = getattr(cls, name)
        function = value.fget if isinstance(value, property) else value
        ours = (getattr(function, "__module__", None) or "").startswith("lowrank_rank")
        if ours and not name.startswith("_") and inspect.getdoc(value):
            members.append(name)
    return members


@cache
def paths_by_name():
    """Full path of each documented object by its name, with and without its module."""
    paths = {}
    for _, objects in documented_objects():
        for path in objects:
            parts = path.split(".")
            paths |= {".".join(parts[i:]): path for i in range(len(parts))}
    return paths


def reference_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """Role of `name` in single backticks: code, with a link to its page, if any."""
    code = nodes.literal(rawtext, text)
    path = paths_by_name().get(text)
    if path is None:
        return [code], []
    environment = inliner.document.settings.env
    link = pending_xref("", code, refdomain="std", reftype="doc", refexplicit=True)
    link["reftarget"], link["refdoc"] = f"/api/generated/{path}", environment.docname
    link["refwarn"] = True
    return [link], []


def unlink_measures(app, doctree):
    """Make ndcg@10 text again, which reStructuredText takes for a mail address."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


@cache
def documented_constants():
    """The public tables of the modules, by name."""
    return {
        f"{module.__name__}.{name}".removeprefix(f"{PACKAGE}."): getattr(module, name)
        for module in documented_modules()
        for name in public_names(module)
        if isinstance(getattr(module, name), Mapping)
    }


@cache
def names_by_section():
    """The public names in each section of ``api_groups``, which has to list each of them once."""
    public = [path for _, objects in documented_objects() for path in objects]
    public = [path.removeprefix(f"{PACKAGE}.") for path in public] + [
        *documented_constants()
    ]
    sections = [section for group in api_groups.GROUPS for section in group.sections]
    listed = {name for section in sections for name in section.names}
    names = {
        section: [
            name
            for entry in section.names
            for name in (
                rest_of(entry, public, listed) if entry.endswith(".*") else [entry]
            )
        ]
        for section in sections
    }
    found = Counter(name for some in names.values() for name in some)
    wrong = {
        "in no section": set(public) - set(found),
        "in two sections": {name for name, count in found.items() if count > 1},
        "not public": set(found) - set(public),
    }
    if any(wrong.values()):
        problems = [f"{k}: {', '.join(sorted(v))}" for k, v in wrong.items() if v]
        raise LookupError(
            f"doc/api_groups.py lists each public name once; {'; '.join(problems)}."
        )
    return names


def rest_of(entry, public, listed):
    """Names of a module, ``"module.*"``, that no section lists by name."""
    start = entry.removesuffix("*")
    return [name for name in public if name.startswith(start) and name not in listed]


def group_pages():
    """A page for each group, whose tables of autosummary also write the pages of the objects."""
    return {
        f"{group.page}.rst": "\n".join(
            [
                *(heading(group.title, "="), group.text, ""),
                *([] if group.stable else [STANDING[False], ""]),
                *(f".. currentmodule:: {PACKAGE}", ""),
                *(
                    line
                    for section in group.sections
                    for line in section_lines(section)
                ),
            ]
        )
        for group in api_groups.GROUPS
    }


def section_lines(section):
    names = names_by_section()[section]
    constants = documented_constants()
    guide = (
        section.guide
        if section.guide.startswith("/")
        else f"/user_guide/{section.guide}"
    )
    lines = [heading(section.title, "-"), f"User guide: :doc:`{guide}`.", ""]
    lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    shown = {name: f"~{name}" for name in api_groups.RESULTS}
    lines += [
        f"   {shown.get(name, name)}" for name in names if name not in constants
    ] + [""]
    for name in names:
        if name in constants:
            lines += constant(f"{PACKAGE}.{name}", constants[name])
    return lines


def constant(path, value):
    """The names of a table."""
    keys = ", ".join(f"``{key}``" for key in value)
    return [f".. py:data:: {path}", "", f"   A table by name: {keys}.", ""]


def group_page_paths():
    """The pages that ``autosummary_generate`` reads."""
    return [f"api/{group.page}" for group in api_groups.GROUPS]


STANDING = {
    True: "Stable: a change comes with a deprecation of two minor releases.",
    False: "Provisional: these names may change in any minor release without a deprecation.",
}


def group_index():
    """The stable groups, then the provisional ones: a table of sections and names for each."""
    lines = []
    groups = sorted(api_groups.GROUPS, key=lambda group: not group.stable)
    for i, group in enumerate(groups):
        if i == 0 or group.stable != groups[i - 1].stable:
            title, _, _ = STANDING[group.stable].partition(":")
            lines += [heading(title, "-"), STANDING[group.stable], ""]
        lines += [heading(f":doc:`{group.title} <{group.page}>`", "~"), group.text, ""]
        rows = [["task", "names"]]
        for section in group.sections:
            names = names_by_section()[section]
            names = [name for name in names if name not in documented_constants()]
            results = {name: name.rpartition(".")[2] for name in api_groups.RESULTS}
            names = [f"`{results.get(name, name)}`" for name in names]
            rows.append([section.title, ", ".join(names)])
        lines += [list_table(rows), ""]
    tree = [
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {group.page}" for group in api_groups.GROUPS),
    ]
    return "\n".join([*lines, *tree, ""])


def heading(title, line):
    return f"{title}\n{line * len(title)}\n"


# Names ------------------------------------------------------------------------------

N_ITEMS = 10


def names_table(names, *, aimed_at):
    """The meaning of each name, from the docstrings of the classes."""
    head = ["name", "class", "labels"]
    if aimed_at:
        head += ["NaN", "d", "decoders of fixed items", *ORDERS, "another k"]
        orders = [learnt_orders.learnt_orders(*given) for given in ORDERS.values()]
    rows = [head]
    for name, entry in names.items():
        loss = resolve_measure(entry.examples[-1])
        link = f":doc:`{entry.measure.__name__} <{class_page(entry.measure)}>`"
        row = [f"``{name}``", link, loss.labels]
        if aimed_at:
            decoders = [
                f"{d} (exact)" if v.exact else d for d, v in loss.decoders.items()
            ]
            row += [
                "yes" if loss.allow_missing else "no",
                dimension(loss),
                ", ".join(decoders),
                *[order_cell(learnt[name]) for learnt in orders],
                ", ".join(learnt_orders.cut_matters(name)),
            ]
        rows.append(row)
    return list_table(rows)


#: Columns of the orders that are learnt: the layout and the number of grades.
ORDERS = {
    "order of documents": ("documents", 5),
    "of labels 0 and 1": ("documents", 2),
    "of fixed items": ("items", 5),
}


def order_cell(order):
    """A name of the table as code, or a word."""
    words = (learnt_orders.NO_FORM, learnt_orders.NOTHING)
    return order if order in words else f"``{order}``"


def list_table(rows):
    """A table whose first row is its head."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [
            f"   {'*' if i == 0 else ' '} - {cell}".rstrip()
            for i, cell in enumerate(row)
        ]
    return "\n".join([*lines, ""])


def class_page(cls):
    for _, objects in documented_objects():
        for path, value in objects.items():
            if value is cls:
                return f"/api/generated/{path}"
    raise LookupError(f"{cls.__name__} has a name in a table but is not public.")


def dimension(loss):
    """Dimension of the surrogate for ten items with the default decoder."""
    label = np.zeros((1, N_ITEMS))
    label[:, :3] = 1
    decoder = loss.decoders[loss.auto_decoder(N_ITEMS)]
    encode = loss.score_targets if decoder.of_scores else loss.encode
    return str(encode(label).shape[1])


# Meta-estimators --------------------------------------------------------------------


def outcomes_table(tools):
    """What comes of the query ids in each tool of scikit-learn, by the way they are carried."""
    rows = [["tool", *meta_estimators.WAYS.values(), "note"]]
    for name, (*outcomes, note) in tools.items():
        marked = [f"**{o}**" if o == meta_estimators.LOST else o for o in outcomes]
        rows.append([f"``{name}``", *marked, note])
    return list_table(rows)


def tools_table():
    """What works with each estimator, and why the rest does not."""
    rows = [["estimator", *scikit_learn.TOOLS.values()]]
    for name in scikit_learn.ESTIMATORS:
        cells = [
            scikit_learn.WHY_NOT.get((name, tool), "works")
            for tool in scikit_learn.TOOLS
        ]
        rows.append([f"`{name.split('.')[-1]}`", *cells])
    return list_table(rows)


# Theorems ---------------------------------------------------------------------------


def theorem_tables():
    """A table for each source: the item, what it says, its callable and its proof."""
    lines = []
    for source in sources():
        rows = [["item", "says", "in the package", "proof"]]
        for row in source.rows:
            name = (
                f"``{row.name}``" if row.name.startswith("sklearn") else f"`{row.name}`"
            )
            rows.append([row.number, row.says, name if row.name else "", proof_of(row)])
        table = list_table(rows).replace(
            "   :header-rows: 1", "   :header-rows: 1\n   :widths: 12 38 22 28"
        )
        lines += [heading(source.title, "-"), table]
    return "\n".join(lines)


def proof_of(row):
    """The functions that prove a row, the row that it is a step of, or why it is missing."""
    if row.step_of:
        return f"a step of {row.step_of}"
    if row.missing:
        return f"missing: {row.missing}"
    return ", ".join(f"``{name}``" for name in row.proofs)


# Changelog --------------------------------------------------------------------------


def markdown_to_rst(text):
    """The few things that CHANGELOG.md uses: headings, code, links, lists."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r"`\1 <\2>`__", line)
        line = re.sub(r"(?<!`)`([^`<]+)`(?!`|_)", r"``\1``", line)
        if match := re.match(r"(#+) (.*)", line):
            line = heading(match[2], "=-~"[len(match[1]) - 1])
        lines.append(line)
    return "\n".join([*lines, ""])


def mend_links_to_reference(app, pagename, templatename, context, doctree):
    """Links from source pages to the reference lead to anchors that are there.

    Sphinx remembers one module for each source file. Where a file holds public names of two
    modules, the links to those of the other one have the right page and a wrong anchor.
    """
    if pagename.startswith("_modules/"):
        link = r'(href="[^"#]*?)([\w.]+)\.html#([\w.]+)"'
        context["body"] = re.sub(link, _with_own_anchor, context["body"])


def _with_own_anchor(link):
    start, page, anchor = link.groups()
    _, found, member = f".{anchor}.".partition(f".{page.rpartition('.')[2]}.")
    if found:  # the page of one object, or of its class
        anchor = f"{page}.{member}".strip(".")
    return f'{start}{page}.html#{anchor}"'
