"""Comparisons of a table of values that were measured before."""

from typing import Any

from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_COMPARED
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, PAIR, checked, label
from ._comparison import RankerComparison, Values, compare
from ._values import read_values


@checked(baseline=[label, None], bounds=[PAIR, None], confidence_level=LEVEL)
def compare_values(
    table: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    baseline: str | None = None,
    bounds: Any = None,
    confidence_level: float = 0.95,
) -> RankerComparison:
    """Compare the columns of a table with a row for each task: intervals and ranks.

    The statistics are those of `compare_rankers`, :ref:`how-comparisons`.

    Parameters
    ----------
    table : frame or dict of columns
        A row for each query or task and a column for each ranker, greater is better.
        Rows without any value are dropped. Ids and row numbers are the index of a
        frame: columns "task_id" or "index" are refused.
    groups : array-like of shape (n_tasks,), Series, dict or None, default=None
        Family of each task, such as the data set of several languages. The values are
        averaged within each family first, and families are compared. One value for each
        row, or a Series or dict by the index of the table.
    sample_weight : array-like of shape (n_tasks,), Series, dict or None, default=None
        Weight >= 0 of each task, given as `groups`. Means and differences are weighted
        means. The weight of a family is the mean weight of its tasks.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs. If it was
        chosen as the best of these values, its p_holm are too small: read
        `tied_with_best` instead.
    bounds : pair of float or None, default=None
        Lowest and highest value possible, such as ``(0, 100)`` for per cent, as in
        `mean_intervals`. None: 0 and 1 if all values of a ranker are 0 or 1; else none.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.

    Returns
    -------
    RankerComparison
        Prints as a table, with ``to_frame()``: a difference is real if its p_holm is
        small. `plotting.RankerComparisonDisplay` draws it. Its ``at_every_look()`` is
        for tasks that are added between looks.

    Raises
    ------
    ValueError
        If there are fewer than two rows, a column holds no numbers, or one ranker lacks
        a value that others have.

    See Also
    --------
    compare_rankers : Scores and models by labels.
    mean_intervals : The means alone.
    judged_mean_intervals : Values by people and by a judge, also of differences.

    Examples
    --------
    Three systems in eight tasks:

    >>> from lowrank_rank.evaluation import compare_values
    >>> values = {"a": [5, 6, 7, 8, 5, 6, 7, 8], "b": [5, 5, 7, 7, 5, 6, 7, 7]}
    >>> values["c"] = [1, 2, 2, 3, 1, 2, 4, 4]
    >>> compare_values(values).tied_with_best.tolist()
    [True, True, False]

    The first four tasks are of one family, and the others are families of their own:

    >>> compare_values(values, groups=[0, 0, 0, 0, 1, 2, 3, 4]).unit
    'families'
    """
    arrive(table=table, groups=groups, sample_weight=sample_weight)
    refuse(
        CHECKS_OF_COMPARED,
        table=table,
        table_name="table",
        groups=groups,
        sample_weight=sample_weight,
    )
    names, ids, values = read_values(table)
    of_table = Values(
        measure="value",
        names=names,
        unit="tasks",
        ids=ids,
        by_people=values,
        bounds=bounds,
    )
    comparisons = compare(
        [of_table],
        groups=groups,
        sample_weight=sample_weight,
        baseline=baseline,
        confidence_level=confidence_level,
    )
    return comparisons["value"]
