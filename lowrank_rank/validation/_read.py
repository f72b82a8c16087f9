"""Read the arguments of a call into `Data`: everything below takes `Data` alone.

Arrays of numbers are taken as they are. Only other input is examined, and the fault is
looked for only in input that is refused.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_array, validate_data

from ._arrays import (
    check_range,
    check_same_index,
    check_size,
    is_array,
    is_finite,
    n_rows,
    take_rows,
)
from ._check import Given, refuse
from ._checks_of_features import (
    CHECKS_OF_COLUMNS,
    CHECKS_OF_COLUMNS_OF_FIT,
    CHECKS_OF_X,
    CHECKS_OF_X_THAT_FAILED,
    has_times,
    is_series,
)
from ._checks_of_ids import CHECKS_OF_IDS
from ._checks_of_labels import CHECKS_OF_MISSING, CHECKS_OF_ROWS, CHECKS_OF_SCORED_ROWS
from ._cut_queries import known_lists, look_for_known_queries
from ._entries import columns_of_objects, floats_of, kinds_of_columns, with_floats
from ._findings import found
from ._frames import holds_numbers, is_data_frame
from ._kinds import arrive
from ._labels import (
    carries_qid,
    check_items_judged,
    check_one_list,
    list_weights,
    lists_of,
    one_label_per_row,
    read_item_names,
    read_labels,
    read_weights,
    split_target,
)
from ._rules import look_for


class Data(NamedTuple):
    """Checked input: what encoders, solvers and measures get.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    y : ndarray of shape (n,), (n, r) or (n, r, r)
        Labels; of classes their indices.
    lists : RankingLists or None
        The queries of documents; one list for each row of fixed items; None for
        classes.
    weights : ndarray of shape (n,)
        Of the rows; in a score those of the lists.
    """

    X: Any
    y: Any
    lists: Any
    weights: np.ndarray

    @property
    def n_lists(self):
        """Number of lists of positive weight."""
        if self.lists is not None and self.y.ndim == 1:
            return self.lists.n_counted(self.weights)
        return int(np.count_nonzero(self.weights))

    @property
    def ids(self):
        """Distinct query ids, or None."""
        return None if self.lists is None else self.lists.ids

    @property
    def ends(self):
        """Digests of the ids of the first and the last row, each None without ids."""
        return (None, None) if self.lists is None else self.lists.ends


# Rows -------------------------------------------------------------------------------


def read(
    model, X, y, qid, sample_weight, loss, *, reset=True, whole=True, one_list=False
):
    """Read the data of a fit of a ranker: the `whole` of the rows, or one block.

    `reset` sets the columns of the model, else X must have them. `one_list` says that
    the rows are one list.
    """
    arguments = {"X": X, "y": y, "qid": qid, "sample_weight": sample_weight}
    is_qid_given = qid is not None
    if not are_arrays(X, y, qid, sample_weight):
        _refuse_arguments(model, arguments, is_fit=True)
        read_item_names(model, y, reset=reset)
        y, qid = split_target(y, qid, X)
    y = read_labels(y, estimator=model)
    X = model._validate_X(X, reset=reset)
    if model._is_linear():
        check_range(X, model)
    if n_rows(X) != len(y):
        refuse(CHECKS_OF_ROWS, y=y, name="y", n_rows=n_rows(X))
    lists = lists_of(y, qid)
    look_for("single items", lists)
    check_one_list(one_list, labels=y, qid=qid, y=arguments["y"], model=model)
    model._is_one_list_ = one_list
    weights = read_weights(sample_weight, len(y), whole=whole, lists=lists)
    if y.ndim == 1 and not is_finite(y):
        refuse(CHECKS_OF_MISSING, y=y, name="y", arguments=arguments)
    loss.check_judged(y)
    if is_qid_given:
        look_for("swapped ids", y, lists, "fit(X, y, qid=qid)")
    if whole:
        look_for("all relevant", loss, y)
        check_items_judged(y, weights, arguments)
        if not loss.warn_without_utility(y):
            look_for("equal grades", lists, y)
        model._fitted_lists_ = known_lists(X, lists)
    return Data(X, y, lists, weights)


def read_to_score(model, X, y, qid, sample_weight, one_list=False):
    """Read the labels, lists and list weights of the score of a fitted ranker.

    X is left to `predict`, which reads it.

    Returns
    -------
    tuple of Data and qid
        The ids of the rows as they are given, beside y or in it.
    """
    is_carried = False
    if not are_arrays(X, y, qid, sample_weight):
        arguments = {"X": X, "y": y, "qid": qid, "sample_weight": sample_weight}
        _refuse_arguments(model, arguments, is_fit=False)
        read_item_names(model, y, reset=False)
        is_carried = carries_qid(y)
        y, qid = split_target(y, qid)
    check_scored_rows(model, y, qid, is_carried=is_carried, one_list=one_list)
    y = read_labels(model._grades(y, one_list=one_list), "y_true")
    if n_rows(X) != len(y):
        takes_all = {"takes_texts": True, "takes_records": True}
        refuse(CHECKS_OF_X, model=model, X=X, is_fit=False, **takes_all)
        refuse(CHECKS_OF_ROWS, y=y, name="y", n_rows=n_rows(X))
    lists = lists_of(y, qid, "y_true")
    look_for_known_queries([model], lists, partial(take_rows, X))
    look_for("single items", lists)
    return Data(X, y, lists, list_weights(sample_weight, lists)), qid


def check_scored_rows(model, y, qid, *, is_carried, one_list):
    """Refuse lists of another kind than in fit; warn of rows in one list.

    `is_carried` is whether y carries the ids.
    """
    is_documents = one_label_per_row(y)
    has_items = model.n_items_ is not None
    has_ids = qid is not None
    if one_list:
        check_one_list(one_list, qid=qid, n_items=model.n_items_, y=y)
        return
    if is_documents and (has_items or has_ids != model._has_qid_):
        refuse(
            CHECKS_OF_SCORED_ROWS,
            model=model,
            who=f"this {type(model).__name__}",
            y=y,
            qid=qid,
            is_carried=is_carried,
            has_ids_in_fit=model._has_qid_,
        )
    is_said = has_ids or getattr(model, "_is_one_list_", False)
    if is_said or not is_documents or is_classifier(model):
        return
    check_one_list(one_list, labels=y, qid=qid, y=y, model=model)
    if n_rows(y) > 1:
        found(
            "score as one list",
            f"This {type(model).__name__} was fitted without query ids, and score "
            f"ranks all {n_rows(y)} rows as one list. If they are one list, write "
            "one_list=True in fit, else y=ranking_target(y, qid) in both.",
        )


def are_arrays(*values):
    """Whether all are arrays of numbers, or None: there is nothing to convert."""
    return all(value is None or is_array(value) for value in values)


def _refuse_arguments(model, arguments, *, is_fit):
    """Refuse arguments of a wrong kind, and those that do not belong to each other."""
    arrive(**arguments)
    X = arguments["X"]
    qid = arguments["qid"]
    if np.ma.is_masked(X) or is_series(X):
        takes_texts = getattr(model, "_takes_texts", False)
        refuse(
            CHECKS_OF_X,
            model=model,
            is_fit=is_fit,
            takes_texts=takes_texts,
            **arguments,
        )
    if isinstance(qid, str):
        refuse(CHECKS_OF_IDS, name="qid", value=qid, X=X)
    check_same_index(**arguments)


# Features ---------------------------------------------------------------------------


def read_features(
    estimator, X, *, reset, accept_sparse="csr", dtype=np.float64, **options
):
    """Read X by scikit-learn's `validate_data`, and say why X fails."""
    given = Given(model=estimator, X=X, is_fit=reset)
    is_frame = False
    is_plain = False
    is_checked = not options.get("skip_check_array")
    if not are_arrays(X):
        arrive(X=X)
        refuse(CHECKS_OF_X, given)
        is_frame = is_data_frame(X)
        is_plain = holds_numbers(X)
        if is_checked and not is_plain:
            X = with_numbers(X, estimator, is_fit=reset)
    options = {"accept_sparse": accept_sparse, "dtype": dtype, **options}
    try:
        if is_checked and is_plain:
            # The frame has the names, and an array is checked in less time.
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            X = check_array(
                X.to_numpy(), estimator=estimator, input_name="X", **options
            )
        else:
            X = validate_data(estimator, X, reset=reset, **options)
    except (TypeError, ValueError) as error:
        given.error = error
        refuse(CHECKS_OF_X_THAT_FAILED, given)
        raise
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if is_frame:
        kinds = kinds_of_columns(given.X) if not is_plain else ["numbers"] * X.shape[1]
        _compare_columns(estimator, given, kinds)
    if reset:
        # Every fit needs some four vectors of floats, of 8 bytes, of this length.
        n_bytes = 8 * 4 * X.shape[1]
        check_size(
            f"A model of {X.shape[1]} features", n_bytes, "select or hash features"
        )
    return X


def with_numbers(X, model=None, *, is_fit=False):
    """Return X with floats in columns of objects that are numbers; refuse text.

    Missing entries become NaN. Other objects are left for scikit-learn to refuse.
    """
    if is_array(X) or issparse(X) or holds_numbers(X):
        return X
    columns = {}
    is_usual = not has_times(X)
    for j, _, entries in columns_of_objects(X):
        columns[j] = floats_of(entries)
        if columns[j] is None:
            is_usual = False
            columns[j] = entries
    if not is_usual:
        refuse(CHECKS_OF_COLUMNS, X=X, model=model, is_fit=is_fit)
    return with_floats(X, columns)


def _compare_columns(estimator, given, kinds):
    """Keep whether each column of a frame holds numbers or text, or compare with it."""
    if given.is_fit:
        estimator._column_kinds_ = kinds
    elif kinds != getattr(estimator, "_column_kinds_", kinds):
        refuse(CHECKS_OF_COLUMNS_OF_FIT, given)
