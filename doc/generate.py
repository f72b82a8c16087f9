"""What the site needs beyond Sphinx: reference pages, tables and changelog from their sources.

Nothing here names a class or a function of the package: the pages follow from the public names
of its modules and from its tables.
"""

import inspect
import re
from functools import cache
from types import ModuleType

import meta_estimators
import numpy as np
from docutils import nodes
from sphinx.addnodes import pending_xref

import lowrank_rank
from lowrank_rank.target_losses import SCORE_ONLY, TARGET_LOSSES, resolve_measure


def write_generated_pages(doc, changelog):
    """Write everything below ``api/generated``; files of an earlier build are removed."""
    folder = doc / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "target_loss_names.inc": names_table(TARGET_LOSSES, aimed_at=True),
        "scorer_names.inc": names_table(SCORE_ONLY, aimed_at=False),
        "meta_estimators.inc": outcomes_table(meta_estimators.TABLE),
        "changelog.inc": markdown_to_rst(changelog.read_text(encoding="utf-8")),
    }
    public = {f"{path}.rst" for _, objects in documented_objects() for path in objects}
    for path in folder.iterdir():
        if path.name not in pages.keys() | public:  # autosummary writes the pages of `public`
            path.unlink()
    modules, names = module_pages()
    pages["modules.inc"] = module_index(names)
    # Beside the index: the toctrees of autosummary are relative to the page.
    pages |= {f"../{name}": text for name, text in modules.items()}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")  # an unchanged page is not built again


# Reference --------------------------------------------------------------------------


def public_names(module):
    """``__all__`` where there is one, else what the module itself defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("__")]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def documented_modules():
    """The package, then its public modules."""
    yield lowrank_rank
    for name in public_names(lowrank_rank):
        if isinstance(value := getattr(lowrank_rank, name), ModuleType):
            yield value


def documented_objects():
    """For each module its classes and functions, each at the first place where it is public."""
    seen = set()
    for module in documented_modules():
        objects = {}
        for name in public_names(module):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and id(value) not in seen:
                seen.add(id(value))
                objects[f"{module.__name__}.{name}"] = value
        yield module, dict(sorted(objects.items()))


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
    """Role of `name` in single backticks: code, linked to its page where it has one."""
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


def module_pages():
    """A page for each module, whose table of autosummary also writes the pages of its objects."""
    pages, names = {}, []
    for module, objects in documented_objects():
        if objects:
            lines = [heading(module.__name__, "="), inspect.getdoc(module).split("\n\n")[0], ""]
            lines += [f".. currentmodule:: {module.__name__}", ""]
            lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
            lines += [f"   {path.rsplit('.', 1)[1]}" for path in objects] + [""]
            lines += constants(module)
            pages[f"{module.__name__}.rst"] = "\n".join(lines)
            names.append((module.__name__, inspect.getdoc(module).split("\n\n")[0]))
    return pages, names


def constants(module):
    """The public tables and limits of a module: values of numbers, names of tables."""
    lines = []
    for name in public_names(module):
        value = getattr(module, name)
        if isinstance(value, int | float):
            lines += [f".. py:data:: {module.__name__}.{name}", f"   :value: {value}", ""]
        elif isinstance(value, dict):
            keys = ", ".join(f"``{key}``" for key in value)
            lines += [
                f".. py:data:: {module.__name__}.{name}",
                "",
                f"   A table by name: {keys}.",
                "",
            ]
    return lines


def module_page_paths():
    """Where the pages of the modules are, as ``autosummary_generate`` wants them."""
    return [f"api/{name}" for name in module_pages()[0]]


def module_index(names):
    """The modules with what they hold, and the toctree that groups the sidebar by module."""
    rows = [["module", "contents"]]
    rows += [[f":doc:`{name} </api/{name}>`", " ".join(text.split())] for name, text in names]
    tree = [".. toctree::", "   :hidden:", ""]
    tree += [f"   {name.removeprefix('lowrank_rank.')} </api/{name}>" for name, _ in names]
    return list_table(rows) + "\n" + "\n".join([*tree, ""])


def heading(title, line):
    return f"{title}\n{line * len(title)}\n"


# Names ------------------------------------------------------------------------------

N_ITEMS = 10


def names_table(names, *, aimed_at):
    """What each name stands for, as the classes themselves say."""
    head = ["name", "class", "labels", "NaN"]
    head += ["d", "documents", "decoders of fixed items"] if aimed_at else []
    rows = [head]
    for name, entry in names.items():
        loss = resolve_measure(entry.examples[-1])
        link = f":doc:`{entry.measure.__name__} <{class_page(entry.measure)}>`"
        row = [f"``{name}``", link, loss.labels, "yes" if loss.allow_missing else "no"]
        if aimed_at:
            decoders = [f"{d} (exact)" if v.exact else d for d, v in loss.decoders.items()]
            row += [dimension(loss), "yes" if loss.takes_documents else "no", ", ".join(decoders)]
        rows.append(row)
    return list_table(rows)


def list_table(rows):
    """A table whose first row is its head."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}".rstrip() for i, cell in enumerate(row)]
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
    rows = [["", *meta_estimators.WAYS.values(), ""]]
    for name, (*outcomes, note) in tools.items():
        marked = [f"**{o}**" if o == meta_estimators.LOST else o for o in outcomes]
        rows.append([f"``{name}``", *marked, note])
    return list_table(rows)


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
