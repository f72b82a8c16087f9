"""Types of what users pass in."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np


class SupportsArray(Protocol):
    """An array, a series or a frame: what `numpy.asarray` reads. A single number is none."""

    def __array__(self) -> np.ndarray: ...

    def __len__(self) -> int: ...


class SupportsFrame(Protocol):
    """A data frame of pandas, polars or another package."""

    @property
    def columns(self) -> Any: ...

    @property
    def shape(self) -> Any: ...


class SupportsCsr(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> Any: ...


#: Numbers or labels, one or more a row: arrays, series, lists.
ArrayLike: TypeAlias = SupportsArray | Sequence[Any]
#: Features or labels of several columns: the same, frames and sparse matrices.
MatrixLike: TypeAlias = ArrayLike | SupportsFrame | SupportsCsr
