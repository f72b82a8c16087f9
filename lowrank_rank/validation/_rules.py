"""Rules of data that can be meant, but are nearly always a mistake: a table.

A row has a name, a function that finds the data and returns a sentence, or None, and
the category of the warning. A rule is asked, by `look_for`, where the data pass.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier

from ._findings import found
from ._suspicious import RULES as RULES_OF_SUSPICIOUS_DATA
from ._suspicious import SuspiciousDataWarning


class Rule(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    finds : callable
        Takes the data; returns a sentence or None.
    category : type of warning
    """

    finds: Callable
    category: type[Warning] = UserWarning


def look_for(name, *data, about=None):
    """Add a finding if the rule of this name finds something in the data.

    `about` tells findings of one rule apart, as in `Finding`. Returns the sentence of
    the rule, or None.
    """
    rule = RULES[name]
    sentence = rule.finds(*data)
    if sentence is None:
        return None
    text = sentence
    if rule.category is SuspiciousDataWarning:
        link = f"fool_yourself.html#fool-{name.replace(' ', '-')}"
        text = f"{name}: {sentence} ({link} in the user guide)"
    found(name, text, rule.category, about)
    return sentence


# Lists --------------------------------------------------------------------------------


def _single_items(lists):
    """Find several lists, each with a single row: any scores rank them.

    This is no error: a subset of the queries may be so by chance, and a regressor of
    grades still learns from such rows.
    """
    if lists.ids is None or lists.n_lists <= 1 or lists.n_rows != lists.n_lists:
        return None
    return (
        f"Each of the {lists.n_lists} lists has a single item: there is no order "
        "to learn or to measure. Is qid the number of the row instead of the query?"
    )


def _one_list(model, y, qid):
    """Find a fit of many documents without query ids.

    Classifiers of the top rank all rows, and need none.
    """
    if qid is not None or y.ndim > 1 or is_classifier(model) or len(y) <= 200:
        return None
    n = len(y)
    return (
        f"All {n:,} rows are one list: pass qid=..., or qid=numpy.zeros({n}) if "
        "they are."
    )


def _equal_grades(lists, y):
    """Find lists with equal grades: there is no order to learn.

    Lists of one row each have the rule "single items".
    """
    if y.ndim > 1 or lists.ids is None or lists.n_rows == lists.n_lists:
        return None
    if lists.has_order(lists.group(y)):
        return None
    return (
        f"All grades of each query are equal ({lists.n_lists} queries): there is "
        "no order to learn, and documents of a query should get equal scores. Are "
        "these the grades?"
    )


def _swapped_ids(y, lists, call):
    """Find grades that look like query ids, beside ids that look like grades.

    Rows of a query follow one another, and there are many more queries than grades. Ids
    of text are no grades. Grades are sorted too: few of them are no ids, and neither
    are decreasing ones, nor those with many values of one row. `call` has the right
    order.
    """
    if lists.ids is None or lists.ids.dtype.kind not in "biuf" or y.ndim > 1:
        return None
    n_queries = lists.n_lists
    if lists.order is None or n_queries > 50:
        return None
    n_grades = len(np.unique(y))
    run_starts = np.flatnonzero(np.append(True, y[1:] != y[:-1]))
    run_lengths = np.diff(np.append(run_starts, len(y)))
    n_runs_of_qid = 1 + np.count_nonzero(np.diff(lists.codes))
    # Three equal pairs of few grades are hardly neighbours by chance.
    follow_one_another = len(run_lengths) == n_grades <= len(y) - 3
    is_id = follow_one_another and n_grades >= max(10, 2 * n_queries)
    is_grade = np.mean(run_lengths == 1) > 0.1 or np.all(y[1:] <= y[:-1])
    if not is_id or is_grade or n_runs_of_qid <= n_queries:
        return None
    return (
        f"y has {n_grades} values, equal ones in neighbouring rows, and qid has "
        f"{n_queries}, in rows far apart: is it {call}, grades first?"
    )


# Tables -------------------------------------------------------------------------------


def _other_columns(columns, expected, who, remedy=""):
    """Find columns that a function does not read.

    `who` begins the first sentence, and `remedy` is the second one.
    """
    expected = [name for name in expected if name is not None]
    others = [name for name in columns if name not in expected]
    if not others:
        return None
    return f"{who} does not read the columns {others[:5]}: it reads {expected}.{remedy}"


def _long_texts(name, texts):
    """Find a column of titles or sentences, which is read as categories.

    `texts` are the texts of the rows, or None.
    """
    distinct = set(texts) - {None}
    n_with_spaces = sum(" " in text for text in distinct)
    is_long = len(distinct) > max(20, len(texts) / 10)
    if not is_long or n_with_spaces <= len(distinct) / 2:
        return None
    return (
        f"Column {name!r} of X has {len(distinct)} texts in {len(texts)} rows: a "
        "text is one category, and its words are not read. Use "
        "TfidfVectorizer, or drop it."
    )


# The table ----------------------------------------------------------------------------


RULES: dict[str, Rule] = {
    "single items": Rule(_single_items),
    "one list": Rule(_one_list),
    "equal grades": Rule(_equal_grades),
    "swapped ids": Rule(_swapped_ids),
    "other columns": Rule(_other_columns),
    "long texts": Rule(_long_texts),
}
for _name, _finds in RULES_OF_SUSPICIOUS_DATA.items():
    RULES[_name] = Rule(_finds, SuspiciousDataWarning)
