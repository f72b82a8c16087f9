"""The parts of StackingRanker(estimators=None), for arrays and for ordinary data frames."""

import sys

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array

from .._arrays import column_names, is_data_frame, is_finite, mean_square, name_the_text
from .._warn import warn
from ..low_rank._surrogate_ranker import LowRankSurrogateRanker
from ..order_preserving._hist_gradient_boosting import HistGradientBoostingRanker
from ..order_preserving._list_loss import has_utilities
from ..order_preserving._regressor import OrderPreservingRegressor
from ..target_losses import TargetLoss

#: The most categories of a feature of scikit-learn's histogram trees.
_MAX_CATEGORIES = 255


def default_parts(X, ndim, measure):
    """Named parts; `ndim` is the number of dimensions of y."""
    if issparse(X):
        raise TypeError(
            "StackingRanker(estimators=None) includes trees, which take no sparse X: pass "
            "X.toarray(), or set estimators to models that take sparse X."
        )
    linear, trees = models_of(ndim, measure)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and is_finite(X):
        mean_square(X)
        return [("linear", linear), ("trees", trees)]
    texts = columns_of_text(X) if is_data_frame(X) else []
    impute = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    floats = FunctionTransformer(as_floats)
    before_linear, before_trees = make_pipeline(floats, impute), floats
    if texts:
        warn_of_words(X, texts)
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=_MAX_CATEGORIES
        )
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
        ordinal = OrdinalEncoder(
            encoded_missing_value=np.nan, max_categories=_MAX_CATEGORIES, **unknown
        )
        numbers = [name for name in column_names(X) if name not in texts]
        before_linear = encoded(one_hot, texts, numbers, impute)
        before_trees = encoded(ordinal, texts, numbers)
    if ndim > 1:  # a forest knows no categories
        before_trees = before_linear
    elif texts:
        trees.set_params(categorical_features=list(range(len(texts))))
    return [
        ("linear", make_pipeline(before_linear, linear)),
        ("trees", make_pipeline(before_trees, trees)),
    ]


def models_of(ndim, measure):
    """The linear model and the trees, for documents or for fixed items."""
    if ndim > 1:
        loss = measure if isinstance(measure, TargetLoss) else "ndcg"
        linear = LowRankSurrogateRanker(target_loss=loss, random_state=0)
        return linear, clone(linear).set_params(estimator="trees")
    positional = getattr(measure, "is_positional", False)
    of_trees = measure if has_utilities(measure) else "ndcg"
    return (
        OrderPreservingRegressor(target_loss=measure if positional else "ndcg"),
        HistGradientBoostingRanker(target_loss=of_trees, random_state=0),
    )


def warn_of_words(X, texts):
    """Warn of columns of titles or sentences, which are read as categories."""
    for name in texts:
        seen = set(as_texts(X[[name]])[:, 0]) - {None}
        if (
            len(seen) > max(20, len(X) / 10)
            and sum(" " in text for text in seen) > len(seen) / 2
        ):
            warn(
                f"Column {name!r} of X has {len(seen)} texts in {len(X)} rows: a text is one "
                "category, and its words are not read. Use TfidfVectorizer, or drop it."
            )


def encoded(encoder, texts, numbers, *after):
    """A transformer of a frame: encoded columns of text, then columns of numbers."""
    of_texts = make_pipeline(FunctionTransformer(as_texts), encoder)
    of_numbers = make_pipeline(FunctionTransformer(as_floats), *after)
    return ColumnTransformer(
        [("texts", of_texts, texts), ("numbers", of_numbers, numbers)]
    )


def columns_of_text(X):
    """Names of the columns of text, categories and booleans; refuses dates and other types."""
    names = column_names(X)
    kinds = dict(zip(names, X.dtypes, strict=True))
    is_polars = isinstance(X, getattr(sys.modules.get("polars"), "DataFrame", ()))
    if is_polars:
        import polars as pl

        numbers = {name for name in names if kinds[name].is_numeric()}
        texts = (pl.String, pl.Boolean, pl.Categorical, pl.Enum)
        known = {name for name in names if kinds[name] in texts}
    else:
        from pandas.api import types

        flags = {name for name in names if types.is_bool_dtype(kinds[name])}
        numbers = {
            name for name in names if types.is_numeric_dtype(kinds[name])
        } - flags
        tests = types.is_object_dtype, types.is_string_dtype
        known = flags | {name for name in names if str(kinds[name]) == "category"}
        known |= {name for name in names if any(test(kinds[name]) for test in tests)}
    other = [name for name in names if name not in numbers | known]
    if other:
        raise ValueError(
            f"Column {other[0]!r} of X has the type {kinds[other[0]]}: make numbers of it (such as "
            "days since a date), or drop it."
        )
    return [name for name in names if name in known]


def as_floats(X):
    """Columns of numbers as float64, missing ones as NaN."""
    options = {"ensure_all_finite": "allow-nan", "ensure_min_features": 0}
    try:
        found = check_array(X, dtype=np.float64, **options)
    except ValueError as error:
        name_the_text(error, X)
        raise
    mean_square(found, names=column_names(X) or None)
    return found


def as_texts(X):
    """Columns of text, categories or booleans as strings, missing ones as None."""
    if hasattr(X, "astype"):  # pandas
        return X.astype("string").to_numpy(dtype=object, na_value=None)
    import polars as pl

    return X.select(pl.all().cast(pl.String)).to_numpy().astype(object)
