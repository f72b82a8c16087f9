"""A stack of two rankers against its parts, and against LightGBM and XGBoost.

StackingRanker(), its two parts as they come, LGBMRanker() and XGBRanker() as they come and with
trees and gains equal to those of the boosted part, and LGBMRanker of 7 leaves; NDCG@10 at several
numbers of judged queries. Verdicts are those of Holm's procedure over the table.
"""

from threadpoolctl import threadpool_limits

from lowrank_rank import HistGradientBoostingRanker, OrderPreservingRegressor, StackingRanker

from . import _cells
from ._common import optional_peer


def add_arguments(parser):
    _cells.add_arguments(parser)


def models():
    """Ours, the parts first."""
    return {
        "linear": OrderPreservingRegressor(),
        "boosted": HistGradientBoostingRanker(random_state=0),
        "stack": StackingRanker(),
    }


def peers(n_trees, leaves, highest):
    given = n_trees, leaves, highest
    small = _cells.lightgbm(num_leaves=7, label_gain=list(range(int(highest) + 1)))
    equal = _cells.equal_peers(*given)
    return {**_cells.plain_peers(*given), **equal, "LGBMRanker, 7 leaves": small}


def run(args):
    if optional_peer("lightgbm") is None or optional_peer("xgboost") is None:
        return []
    with threadpool_limits(1):
        return _cells.table(args, models, peers, "stack")
