"""Estimators on a Dask cluster, fitted where the rows are.

Linear fits add up sums over the partitions of Dask arrays and data frames: the
statistics of ridge regression, or value and gradient of a surrogate. Only these sums
travel between machines, and the rows of lists that are cut between two partitions.
LightGBM grows trees on all workers together. ``pip install "lowrank_rank[dask]"``.
"""

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "lowrank_rank.dask needs Dask and distributed: pip install "
        '"lowrank_rank[dask]".'
    ) from error

from ._fit import fit
from ._predict import predict, rank, score

__all__ = ["fit", "predict", "rank", "score"]
