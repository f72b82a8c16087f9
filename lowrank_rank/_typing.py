"""Types of what users pass in and get."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from typing import Self

    # scikit-learn has no types: this is what users of our objects see of its classes.
    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

    class Bunch(dict[str, Any]):
        def __getattr__(self, name: str) -> Any: ...

else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.utils import Bunch as Bunch


class ArrayLike(Protocol):
    """Numbers or labels, one or more a row: an array, series, list or frame."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> Any: ...


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> Any: ...


#: Features or labels of several columns.
MatrixLike: TypeAlias = ArrayLike | SparseMatrix
#: Parts of a model by name.
Named: TypeAlias = Sequence[tuple[str, Any]]
