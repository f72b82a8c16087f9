"""StackingRanker on a Dask cluster: parts weighed by sums over partitions."""

from itertools import islice

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from .._typing import Bunch
from ..meta._stacking import as_ranker, naming_part, scores_of
from ..validation._check import refuse
from ..validation._checks_of_collections import CHECKS_OF_ANSWERS
from ..validation._checks_of_models import CHECKS_OF_FOLDS, CHECKS_OF_STACKS
from ..validation._ids import read_lists
from ..validation._labels import refuse_zero_weights
from ._blocks import DaskBlocks


def fit_stack(model, blocks, fit_blocks):
    """Weigh the parts of a StackingRanker on held-out lists, and fit them to all lists.

    Parameters
    ----------
    model : StackingRanker
    blocks : DaskBlocks
    fit_blocks : callable
        ``fit_blocks(part, blocks)`` fits a part.
    """
    model._validate_X(blocks.first_row, reset=True)
    model.target_loss_ = model._checked_loss()
    model.n_items_ = None
    model._has_qid_ = True
    model.scores_ = None
    parts = {name: as_ranker(part, 1) for name, part in model.estimators}
    # Length of each list, and whether it has positive weight.
    lists_of_blocks = list(blocks.map(lengths_and_is_counted))
    model.n_lists_ = int(sum(counted.sum() for _, counted in lists_of_blocks))
    if model.n_lists_ == 0:
        refuse_zero_weights()
    if model.weights is None:
        weights = search(model, parts, blocks, lists_of_blocks, fit_blocks)
    else:
        refuse(CHECKS_OF_STACKS, parts=[], names=list(parts), weights=model.weights)
        weights = model.weights
    model.weights_ = {name: float(weight) for name, weight in weights.items()}
    fitted = {}
    for name, part in parts.items():
        if weights[name]:
            with naming_part(name):
                fitted[name] = fit_blocks(clone(part), blocks)
    model.estimators_ = list(fitted.values())
    model.named_estimators_ = Bunch(**fitted)
    return model


def search(model, parts, blocks, lists_of_blocks, fit_blocks):
    """Find the weight of each part on the folds of lists that `fit` in memory takes."""
    n_folds = 3 if model.cv is None else model.cv
    refuse(CHECKS_OF_ANSWERS, n_lists=model.n_lists_, n_folds=n_folds)
    lengths = np.concatenate([of_block for of_block, _ in lists_of_blocks])
    is_counted = np.concatenate([counted for _, counted in lists_of_blocks])
    n_lists_of_blocks = [len(of_block) for of_block, _ in lists_of_blocks]
    block_ends = np.cumsum(n_lists_of_blocks)[:-1]
    # Lists are numbered in the order of their first rows, as in memory.
    groups = np.repeat(np.arange(len(lengths)), lengths)
    splits = GroupKFold(n_folds).split(groups, groups=groups)
    held = []
    for _, test in islice(splits, model._n_folds_held_out()):
        is_held = np.zeros(len(lengths), dtype=bool)
        is_held[groups[test]] = True
        refuse(CHECKS_OF_FOLDS, weights=is_counted, train=~is_held, test=is_held)
        train = blocks.of_lists(np.split(~is_held, block_ends))
        fitted = []
        for name, part in parts.items():
            with naming_part(name):
                fitted.append(fit_blocks(clone(part), train))
        # The models travel to a worker once, not with each block.
        models = blocks.client.submit(_same, fitted, pure=False)
        test_blocks = blocks.of_lists(np.split(is_held, block_ends))
        held += test_blocks.map(scores_of_parts, models).futures
    return model._weigh(parts, DaskBlocks(blocks.client, held))


def _same(models):
    return models


def lengths_and_is_counted(block):
    """Length of each list of a block, and whether the list has positive weight."""
    _, _, qid, weights = block
    lists = read_lists(qid)
    if weights is None:
        return lists.lengths, np.ones(lists.n_lists, dtype=bool)
    return lists.lengths, lists.sum(lists.group(np.asarray(weights))) > 0


def scores_of_parts(block, models):
    """Scores of the rows by each part, (n_parts, n_rows), with labels, ids, weights."""
    X, y, qid, weights = block
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
    return np.stack([scores_of(model, X) for model in models]), y, qid, weights
