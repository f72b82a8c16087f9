"""The parts of StackingRanker(estimators=None), for arrays and ordinary frames."""

from contextlib import contextmanager
from numbers import Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array

from ..fitting._any_regressor import document_forest, item_forest
from ..low_rank._surrogate_ranker import LowRankSurrogateRanker
from ..order_preserving._hist_gradient_boosting import HistGradientBoostingRanker
from ..order_preserving._regressor import OrderPreservingRegressor
from ..target_losses import TargetLoss
from ..target_losses._names import has_utilities
from ..validation._arrays import (
    column_names,
    holds_objects,
    is_data_frame,
    is_finite,
    mean_square,
)
from ..validation._check import InputError, refuse
from ..validation._checks_of_features import (
    CHECKS_OF_CATEGORIES,
    CHECKS_OF_FAILED_ENTRIES,
    CHECKS_OF_TYPES,
    CHECKS_OF_X,
)
from ..validation._columns import is_missing_entry, kind_of_entries
from ..validation._frames import holds_numbers
from ..validation._read import with_numbers
from ..validation._rules import look_for
from ._item_means import ItemMeans

#: The most categories of a feature of scikit-learn's histogram trees.
_MAX_CATEGORIES = 255

_OF_DOCUMENTS = ("linear", "trees", "forest")
_OF_ITEMS = ("linear", "trees", "means")


def names_of_default_parts(ndim):
    """Return the names of the parts for labels with so many dimensions."""
    return _OF_DOCUMENTS if ndim == 1 else _OF_ITEMS


def is_of_default_part(key):
    """Whether a key is the name of a default part, ``__`` and a parameter."""
    name, mark, parameter = key.partition("__")
    is_name = name in _OF_DOCUMENTS  # the means of items have no parameters
    return is_name and mark != "" and parameter != ""


def default_parts(X, y, measure, parameters, n_jobs):
    """Make the named parts for the columns of X and the shape of y.

    `parameters` is a dict such as ``{"trees__max_leaf_nodes": 4}``.
    """
    refuse(CHECKS_OF_X, X=X)
    models = _models(y, measure, n_jobs)
    for name, model in models.items():
        _set_parameters(model, name, parameters, y)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and is_finite(X):
        mean_square(X)  # refuses numbers out of range
        return list(models.items())
    impute = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    # In a forest, indicators would take the place of features among those it draws.
    medians = clone(impute).set_params(add_indicator=False)
    texts = columns_of_text(X) if is_data_frame(X) else []
    if texts:
        for name in texts:
            look_for("long texts", name, as_texts(X[[name]])[:, 0], about=name)
        numbers = [name for name in column_names(X) if name not in texts]
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=_MAX_CATEGORIES
        )
        ordinal = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            encoded_missing_value=np.nan,
            max_categories=_MAX_CATEGORIES,
        )
        before_linear = _encoded(one_hot, texts, numbers, impute)
        before_trees = _encoded(ordinal, texts, numbers)
        before_forest = _encoded(one_hot, texts, numbers, medians)
    else:
        floats = _transformer(as_floats)
        before_linear = make_pipeline(floats, impute)
        before_trees = floats
        before_forest = make_pipeline(floats, medians)
    if y.ndim > 1:  # a forest takes no categories
        before_trees = before_linear
    elif texts and "trees__categorical_features" not in parameters:
        models["trees"].set_params(categorical_features=list(range(len(texts))))
    before = {"linear": before_linear, "trees": before_trees, "forest": before_forest}
    parts = []
    for name, model in models.items():
        # The means read no features.
        part = make_pipeline(before[name], model) if name in before else model
        parts.append((name, part))
    return parts


def _models(y, measure, n_jobs):
    """Make the models by name, for documents or for fixed items."""
    if y.ndim > 1:
        loss = measure if isinstance(measure, TargetLoss) else "ndcg"
        linear = LowRankSurrogateRanker(target_loss=loss, random_state=0)
        trees = LowRankSurrogateRanker(
            target_loss=loss, estimator="trees", random_state=0
        )
        return {"linear": linear, "trees": trees, "means": ItemMeans()}
    is_positional = getattr(measure, "is_positional", False)
    linear_loss = measure if is_positional else "ndcg"
    trees_loss = measure if has_utilities(measure) else "ndcg"
    linear = OrderPreservingRegressor(target_loss=linear_loss)
    trees = HistGradientBoostingRanker(target_loss=trees_loss, random_state=0)
    forest = LowRankSurrogateRanker(
        target_loss=trees_loss,
        estimator=document_forest(n_jobs),
        random_state=0,
    )
    return {"linear": linear, "trees": trees, "forest": forest}


def _set_parameters(model, name, parameters, y):
    """Set the parameters ``name__parameter`` of a default part.

    Parameters that a ranker of a forest does not have itself are those of its forest.
    """
    has_forest = name == "forest" or (name == "trees" and y.ndim > 1)
    own_names = model.get_params(deep=False)
    of_model = {}
    of_forest = {}
    for key, value in parameters.items():
        part, _, parameter = key.partition("__")
        if part != name:
            continue
        if has_forest and parameter not in own_names:
            of_forest[parameter] = value
        else:
            of_model[parameter] = value
    with naming_part(name):
        model.set_params(**of_model)
        if of_forest and name == "forest":
            model.estimator.set_params(**of_forest)
        elif of_forest:
            has_gaps = bool(np.isnan(y).any())
            model.set_params(estimator=item_forest(has_gaps, **of_forest))


@contextmanager
def naming_part(name):
    """Name the part in an error of the block."""
    try:
        yield
    except Exception as error:
        message = f"The part {name!r} of StackingRanker: {error}"
        if isinstance(error, InputError):
            raise type(error)(message, error.check, error.remedies) from error
        # The error's own type may need other arguments than a message.
        kinds = (ValueError, TypeError, MemoryError)
        kind = next((one for one in kinds if isinstance(error, one)), RuntimeError)
        raise kind(message) from error


def _encoded(encoder, texts, numbers, *after):
    """Make a transformer of a frame: encoded columns of text, then those of numbers."""
    of_texts = make_pipeline(_transformer(as_texts), encoder)
    of_numbers = make_pipeline(_transformer(as_floats), *after)
    return ColumnTransformer(
        [("texts", of_texts, texts), ("numbers", of_numbers, numbers)],
        verbose_feature_names_out=False,
    )


def _transformer(function):
    """Make a transformer of columns that keeps their names."""
    return FunctionTransformer(function, feature_names_out="one-to-one")


def columns_of_text(X):
    """List the columns of text and categories; refuse other types than numbers.

    A column of objects is what its entries are, and booleans are the numbers 0 and 1.
    Refuses numbers that are text.
    """
    refuse(CHECKS_OF_TYPES, X=X)
    texts = []
    for name, dtype in zip(column_names(X), X.dtypes, strict=True):
        kind = _kind_of_column(X, name, dtype)
        if kind in ("text", "category", "missing"):
            texts.append(name)
        elif kind not in ("number", "boolean"):
            held = f"the type {dtype}"
            remedy = "make numbers of it"
            if kind == "date":
                held = "dates"
                remedy = "subtract a reference date, in days"
            elif kind == "collection":
                held = "lists, dicts or arrays"
                remedy = "make a column for each of their entries"
            raise ValueError(f"Column {name!r} of X has {held}: {remedy}, or drop it.")
    return texts


def _kind_of_column(X, name, dtype):
    """Return the kind of a column by its type, or by its entries if these are objects.

    None is another type.
    """
    is_polars = hasattr(X, "with_columns")
    kind_of_type = _polars_kind if is_polars else _pandas_kind
    kind = kind_of_type(dtype)
    if kind == "object":
        return kind_of_entries(np.asarray(X[name], dtype=object))
    return kind


def categories_of_fit(part):
    """Return the texts of each column of text of a fitted default part, by its name."""
    columns = part[0] if isinstance(part, Pipeline) else None
    if not isinstance(columns, ColumnTransformer):
        return {}
    encoder = columns.named_transformers_["texts"][-1]
    names = columns.transformers_[0][2]
    return {
        name: set(texts) - {None}
        for name, texts in zip(names, encoder.categories_, strict=True)
    }


def refuse_later_gaps(X, parts):
    """Refuse missing values where the array of fit had none: no part fills them in."""
    has_steps = any(isinstance(part, Pipeline) for part in parts)
    if has_steps or issparse(X):
        return
    is_float_array = isinstance(X, np.ndarray) and X.dtype.kind == "f"
    numbers = X if is_float_array else as_floats(X)
    has_gap = np.isnan(numbers).any(axis=0)
    if not has_gap.any():
        return
    raise ValueError(
        "X has missing values (NaN), and the X of fit had none: fit StackingRanker to "
        "rows with missing values too, or fill them in. The first one is in column "
        f"{int(np.argmax(has_gap))}."
    )


def refuse_other_kinds(X, categories):
    """Refuse a column of text that has become one of numbers, without a known value.

    `categories` are those of the fit, by the name of the column.
    """
    for name, known in categories.items():
        entries = np.asarray(X[name], dtype=object)
        if not known or any(_text_of(entry) in known for entry in entries):
            continue
        if all(map(is_missing_entry, entries)):
            continue
        kind = _kind_of_column(X, name, X[name].dtype)
        # New texts are unknown categories.
        is_text = kind in ("text", "category", "number as text")
        refuse(
            CHECKS_OF_CATEGORIES,
            column=name,
            is_text=is_text,
            known=known,
            entries=entries,
        )


def _polars_kind(dtype):
    """Kind of a type of polars, "object" if the entries decide, or None."""
    import polars as pl

    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    if dtype in (pl.Categorical, pl.Enum):
        return "category"
    return "object" if holds_objects(dtype) else None


def _pandas_kind(dtype):
    """Kind of a type of pandas, "object" if the entries decide, or None."""
    from pandas.api import types

    if str(dtype) == "category" or str(dtype).startswith("dictionary"):
        return "category"
    if types.is_bool_dtype(dtype):
        return "boolean"
    if types.is_numeric_dtype(dtype):
        return "number"
    is_text = types.is_object_dtype(dtype) or types.is_string_dtype(dtype)
    return "object" if is_text else None


def as_floats(X):
    """Convert columns of numbers to float64, missing ones to NaN; refuse text."""
    X = with_numbers(X)
    entries = X.to_numpy() if holds_numbers(X) else X
    try:
        floats = check_array(
            entries,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_features=0,
        )
    except (TypeError, ValueError) as error:
        refuse(CHECKS_OF_FAILED_ENTRIES, X=X, error=error)
        raise
    mean_square(floats, names=column_names(X) or None)  # refuses numbers out of range
    return floats


def as_texts(X):
    """Convert columns of text or categories to strings; missing is None."""
    columns = [np.asarray(X[name], dtype=object) for name in column_names(X)]
    texts = np.empty((len(X), len(columns)), dtype=object)
    for j, entries in enumerate(columns):
        texts[:, j] = [_text_of(entry) for entry in entries]
    return texts


def _text_of(entry):
    """Text of an entry; whole numbers are one text in columns of ints and floats."""
    if type(entry) is str:
        return entry
    if is_missing_entry(entry):
        return None
    is_number = isinstance(entry, Real) and not isinstance(entry, bool)
    if is_number and entry % 1 == 0:
        return str(int(entry))
    return str(entry)
