"""What may be wrong with Dask collections, and with models for them.

Collections have no rows before they are computed: `CHECKS_OF_COLLECTIONS` look at their
types, `CHECKS_OF_PARTITIONS` at blocks.
"""

from ._check import Check
from ._columns import shown

# Collections ------------------------------------------------------------------------


def _finds_no_collection(given):
    """Find data that are not a collection of Dask."""
    if given.dask_names is None:
        return None
    for name, collection in given.collections.items():
        if collection is None or name in given.dask_names:
            continue
        line = ""
        if "X" in given.dask_names and hasattr(given.collections["X"], "chunks"):
            chunks = given.collections["X"].chunks[0]
            rows = f"dask.array.from_array(numpy.asarray({name}), chunks={chunks[0]})"
            if set(chunks[:-1]) <= {chunks[0]} and sum(chunks) == len(collection):
                line = f"import dask.array\n{name} = {rows}"
        return {"name": name, "type": type(collection).__name__, "line": line}
    return None


def _finds_documents_without_ids(given):
    """Find documents without query ids."""
    return {} if given.needs_ids and given.collections["qid"] is None else None


def _finds_other_partitions(given):
    """Find collections that are cut at other rows."""
    counts = given.n_partitions or {}
    if len(set(counts.values())) <= 1:
        return None
    words = ", ".join(f"{name} {n}" for name, n in counts.items())
    return {"counts": words}


CHECKS_OF_COLLECTIONS = [
    Check(
        name="data that are not of Dask",
        finds=_finds_no_collection,
        sentence="{name} must be a Dask array or data frame, got {type}.",
        remedies={"": "{line}"},
        raises=TypeError,
    ),
    Check(
        name="documents of a cluster without qid",
        finds=_finds_documents_without_ids,
        sentence="Documents on a cluster need qid, one id for each row.",
    ),
    Check(
        name="other numbers of partitions",
        finds=_finds_other_partitions,
        sentence="X, y, qid, sample_weight must have equal partitions, got {counts}.",
    ),
]

# Blocks -----------------------------------------------------------------------------


def _finds_other_rows(given):
    """Find a partition with different numbers of rows."""
    if len(set((given.lengths or {}).values())) <= 1:
        return None
    counts = ", ".join(f"{name} {n}" for name, n in given.lengths.items())
    return {"number": given.number, "counts": counts}


def _finds_no_rows(given):
    """Find collections without a row."""
    return {} if given.first_rows == [] else None


def _finds_other_categories(given):
    """Find a column whose categories, or their order, differ between partitions."""
    rows = given.first_rows
    if rows is None or not hasattr(rows[0], "dtypes"):
        return None
    for name, dtype in rows[0].dtypes.items():
        # None is a column without categories.
        categories = getattr(dtype, "categories", None)
        for row in rows[1:]:
            others = getattr(row[name].dtype, "categories", None)
            if categories is None and others is None:
                continue
            if categories is None or not categories.equals(others):
                return {"column": repr(name)}
    return None


CHECKS_OF_PARTITIONS = [
    Check(
        name="rows of a partition",
        finds=_finds_other_rows,
        sentence=(
            "Partition {number} has different numbers of rows: {counts}. Columns of "
            "one frame have the same number."
        ),
    ),
    Check(
        name="collections without rows",
        finds=_finds_no_rows,
        sentence="There are no rows: at least one is needed.",
    ),
    Check(
        name="categories of partitions",
        finds=_finds_other_categories,
        sentence="The categories of column {column} differ between partitions.",
        remedies={"To read all of them": "X = X.categorize([{column}])"},
    ),
]

# Models -----------------------------------------------------------------------------


def _words_of_model(given):
    """Return the words of a model, and of the part of a stack that it is."""
    who = ""
    prefix = ""
    if given.part is not None:
        who = f"The part {given.part!r} of StackingRanker: "
        prefix = f"{given.part}__"
    return {"who": who, "prefix": prefix, "kind": type(given.model).__name__}


def _finds_trees_in_memory(given):
    """Find trees, and a stack with trees, that fit rows in memory."""
    if not given.has_trees_in_memory:
        return None
    return {**_words_of_model(given), "lines": given.lines}


def _finds_other_booster(given):
    """Find a wrapped model that LightGBM's own Dask cannot train."""
    if not given.is_wrapped or type(given.model.estimator).__name__ == "LGBMRanker":
        return None
    return {**_words_of_model(given), "inside": type(given.model.estimator).__name__}


def _finds_early_stopping(given):
    """Find early stopping of a wrapped model."""
    if not given.is_wrapped or not given.model.early_stopping:
        return None
    return _words_of_model(given)


def _finds_model_in_memory(given):
    """Find a model without sums over blocks."""
    return None if given.has_sums_or_blocks else _words_of_model(given)


def _finds_iterative_regressor(given):
    """Find a regressor whose batches do not add up."""
    if given.adds_up:
        return None
    estimator = shown(given.model.estimator)
    return {**_words_of_model(given), "estimator": estimator}


def _finds_own_folds(given):
    """Find folds of a stack that are not a number."""
    cv = given.cv
    if cv is None or not (hasattr(cv, "split") or hasattr(cv, "__len__")):
        return None
    return {}


CHECKS_OF_CLUSTERS = [
    Check(
        name="trees on a cluster",
        finds=_finds_trees_in_memory,
        sentence="{who}{kind} fits rows in memory.",
        remedies={"On a cluster": "{lines}"},
    ),
    Check(
        name="model of one machine",
        finds=_finds_other_booster,
        sentence=(
            "{who}On a cluster WrappedRanker takes LGBMRanker, got {inside}: "
            "LightGBM's own Dask interface trains it."
        ),
    ),
    Check(
        name="early stopping on a cluster",
        finds=_finds_early_stopping,
        sentence=(
            "{who}On a cluster WrappedRanker has no early_stopping: n_estimators of "
            "LGBMRanker is the number of trees."
        ),
        remedies={"": "model.set_params({prefix}early_stopping=False)"},
    ),
    Check(
        name="model without sums",
        finds=_finds_model_in_memory,
        sentence=(
            "{who}{kind} fits rows in memory: call its own fit with X.compute() and "
            "y.compute()."
        ),
    ),
    Check(
        name="regressor on a cluster",
        finds=_finds_iterative_regressor,
        sentence="{who}On a cluster the estimator is 'ridge', got {estimator}.",
        remedies={"": "model.set_params({prefix}estimator='ridge')"},
    ),
    Check(
        name="folds on a cluster",
        finds=_finds_own_folds,
        sentence="On a cluster cv of StackingRanker must be a number or None.",
        remedies={"For three folds of lists": "model.set_params(cv=3)"},
    ),
]


def _finds_few_lists(given):
    """Find fewer lists than folds."""
    if given.n_lists is None or given.n_lists >= given.n_folds:
        return None
    return {"n_lists": given.n_lists, "n_folds": given.n_folds}


def _finds_sets(given):
    """Find predictions of sequences or sets of labels."""
    return {"model": type(given.model).__name__} if given.predicts_sets else None


def _finds_ranks_of_classes(given):
    """Find a classifier to rank by."""
    return {"model": type(given.model).__name__} if given.ranks_classes else None


def _finds_ranks_of_lists(given):
    """Find a ranker that needs all rows of a list."""
    return {"model": type(given.model).__name__} if given.ranks_lists else None


def _finds_ranks_without_ids(given):
    """Find documents to rank without query ids."""
    return {} if given.ranks_without_ids else None


def _finds_score_of_sums(given):
    """Find a classifier whose score is not a mean over partitions."""
    return {"model": type(given.model).__name__} if given.has_other_score else None


CHECKS_OF_ANSWERS = [
    Check(
        name="fewer lists than folds",
        finds=_finds_few_lists,
        sentence=(
            "StackingRanker has fewer lists ({n_lists}) than {n_folds} folds: on a "
            "cluster, set its parameter weights to a number for each part."
        ),
    ),
    Check(
        name="sets predicted on a cluster",
        finds=_finds_sets,
        sentence=(
            "{model} predicts sequences or sets of labels: call its own predict with "
            "X.compute()."
        ),
    ),
    Check(
        name="ranks of classes",
        finds=_finds_ranks_of_classes,
        sentence="{model} predicts classes, which have no ranks.",
    ),
    Check(
        name="ranks of whole lists",
        finds=_finds_ranks_of_lists,
        sentence=(
            "{model} needs all rows of a list to rank it: call its own rank with "
            "X.compute()."
        ),
    ),
    Check(
        name="ranks without qid",
        finds=_finds_ranks_without_ids,
        sentence="rank needs qid, the query id of each row, or one_list=True.",
        remedies={"If all rows are one list": "one_list = True"},
    ),
    Check(
        name="score of a cluster",
        finds=_finds_score_of_sums,
        sentence=(
            "{model} has a score that is not a mean over partitions: call its own "
            "score with X.compute() and y.compute()."
        ),
    ),
]
