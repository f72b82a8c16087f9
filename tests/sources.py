"""Every numbered item of the four sources, by the tables of the page of theorems.

``python -m tests.sources`` prints a row for each item: what is in the package, its test
and its section of the guide, or "missing". Remarks that discuss, and lemmas of an
appendix that are steps of a proof, are left out.
"""

import re
from pathlib import Path
from typing import NamedTuple

GUIDE = Path(__file__).parent.parent / "doc" / "user_guide"
THEOREMS = GUIDE.parent / "theorems.rst"
NAMED = r"``(test_\w+\.py)::(test_\w+)``"

#: Items by the name of the source, in the order of the source.
ITEMS = {
    "Ramaswamy": """definition 1, theorems 2 and 3, sections 4, 5 and 6, theorem 4,
        corollary 5, sections 7 and 7.1, theorem 6, algorithm 1, theorem 7""",
    "Calauzènes": """section 2.1, definitions 2.1 and 2.2, table 1, definitions 2.3, 2.4 and
        3.1, equation 5, theorems 3.2 and 3.3, lemma 4.1, theorem 4.2, corollary 4.3,
        lemma 4.4, corollary 4.5, equation 9, table 2, lemma 5.1, equation 10, theorems
        5.2 to 5.4""",
    "Kar": """claim 1, definition 2, claim 3, definitions 4 and 5, claim 6, theorem 7,
        corollary 8, theorem 9, corollary 10, algorithms 1 to 4, definition 11, theorems
        12 and 13, corollary 14, theorem 15, figures 2 and 3, claim 17, theorems 24, 25
        and 28, corollary 29""",
    "Shalev-Shwartz": """section 17.1, equation 17.1, example 17.1, section 17.2.1,
        equation 17.2, sections 17.2.2, 17.2.3 and 17.2.4, equation 17.3, section 17.2.5,
        corollaries 17.1 and 17.2, section 17.3, equations 17.4 and 17.5, section 17.4,
        equations 17.6 to 17.10, claim 17.3, lemma 17.4, equations 17.11 to 17.14,
        exercises 1 to 5, theorem 17.5""",
}
KINDS = {
    "definitions": "definition", "theorems": "theorem", "lemmas": "lemma",
    "corollaries": "corollary", "claims": "claim", "algorithms": "algorithm",
    "equations": "equation", "inequality": "equation", "sections": "section",
    "tables": "table", "figures": "figure", "exercises": "exercise",
}  # fmt: skip
KINDS |= {kind: kind for kind in KINDS.values()} | {"example": "example"}


class Row(NamedTuple):
    """An item of a source, and what the page says of it."""

    source: str
    item: str
    package: str
    test: str
    section: str


def items_in(text):
    """List items such as "theorem 3" in a text; a bare number is a section."""
    items = []
    kind = "section"
    is_range = False
    for word in re.findall(r"[a-z]+|\d+(?:\.\d+)*(?!\w)", text.lower()):
        if word in KINDS:
            kind = KINDS[word]
        elif word == "to" and items:
            is_range = True
        elif word[0].isdigit():
            if is_range:  # from the number before to this one
                chapter, _, first = items[-1].split()[1].rpartition(".")
                last = int(word.rpartition(".")[2])
                stem = f"{chapter}." if chapter else ""
                between = range(int(first) + 1, last)
                items += [f"{kind} {stem}{number}" for number in between]
                is_range = False
            items.append(f"{kind} {word}")
    return items


def table_rows():
    """List the rows of the tables: source, item, package, test."""
    text = THEOREMS.read_text(encoding="utf-8")
    text = text.partition("Corrections to the papers")[0]
    rows = []
    parts = re.split(r"^([^\n,]+?)[, ][^\n]*\n-{8,}$", text, flags=re.MULTILINE)
    for source, table in zip(parts[1::2], parts[2::2], strict=True):
        for row in re.split(r"^   \* - ", table, flags=re.MULTILINE)[2:]:
            cells = row.strip().split("\n     - ")
            rows.append((source, *cells))
    return rows


def missing_items():
    """Return the items of the list "Missing from the package", by source."""
    text = THEOREMS.read_text(encoding="utf-8")
    text = text.partition("Missing from the package\n")[2].partition("\n.. _")[0]
    bullets = re.findall(r"\* \*\*(\S+?)[, ](.*?)(?=\n\* |\Z)", text, flags=re.DOTALL)
    return {source: items_in(bullet) for source, bullet in bullets}


def section_of(source, package):
    """Find the section of the guide that names what the cell names.

    The page is the theory page, which has a section for all sources but the first, else
    the page that has the name most often.
    """
    words = re.findall(r"\w+", package)
    # Names of classes, functions and methods, else a word of the cell.
    names = [
        word for word in words if re.search(r"[A-Z]\w{6,}|_\w|perceptron|1PMB", word)
    ]
    texts = {}
    for page in GUIDE.glob("*.rst"):
        texts[page.stem] = page.read_text(encoding="utf-8")
    for name in names:
        stem = max(sorted(texts), key=lambda stem: texts[stem].count(name))
        if source != "Ramaswamy" and name in texts["theory"]:
            stem = "theory"
        before, found, _ = texts[stem].partition(name)
        headings = re.findall(r"^(.+)\n([-=.~])\2{3,}$", before, flags=re.MULTILINE)
        if found and headings:
            return f"{stem}: {headings[-1][0]}"
    return "theorems"


def rows_of_sources():
    """List the rows of all items."""
    table = table_rows()
    missing = missing_items()
    rows = []
    for source, text in ITEMS.items():
        for item in items_in(text):
            for named, first, package, test in table:
                if named == source and item in items_in(first.partition(":")[0]):
                    package = " ".join(package.split())
                    rows.append(
                        Row(source, item, package, test, section_of(source, package))
                    )
            if item in missing[source]:
                rows.append(
                    Row(
                        source,
                        item,
                        "missing",
                        "",
                        "theorems: Missing from the package",
                    )
                )
    return rows


if __name__ == "__main__":
    for row in rows_of_sources():
        print(" | ".join(row))
