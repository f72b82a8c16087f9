"""Sphinx configuration: everything that can be read from the package is read from it."""

import sys
from pathlib import Path

import lowrank_rank

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # generate.py, and the tests

from generate import (  # noqa: E402
    group_page_paths,
    members_by_class,
    mend_links_to_reference,
    reference_role,
    unlink_measures,
    write_generated_pages,
)

project = "lowrank_rank"
author = "The lowrank_rank developers"
copyright = f"2026, {author}"
version = release = lowrank_rank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "**sg_execution_times.rst", "api/**.inc"]
default_role = "reference"  # `name` is code, and a link where the name is public
highlight_language = "python3"

autosummary_generate = group_page_paths()
autosummary_context = {"documented_members": members_by_class()}
templates_path = ["_templates"]
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # "fit()" fits into the sidebar
numpydoc_show_class_members = False  # `generate` lists the members, inherited ones too
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "subsection_order": [
        f"../examples/{section}"
        for section in ("rank", "top", "preferences", "theory", "extend")
    ],
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 5,
    "download_all_examples": False,
}

copybutton_prompt_text = r">>> |\.\.\. "  # copies code, not prompts and output
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"lowrank_rank {release}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(HERE / "search_scorer.js")
html_context = {"default_mode": "auto"}
html_theme_options = {
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": ["sidebar-collapse.html", "sidebar-nav.html"]}


def setup(app):
    app.add_role("reference", reference_role)
    app.connect("doctree-read", unlink_measures)
    app.connect("html-page-context", mend_links_to_reference)
    # Before Sphinx looks for the source files.
    write_generated_pages(HERE, changelog=HERE.parent / "CHANGELOG.md")
