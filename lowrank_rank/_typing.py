"""Types of what users pass in: names for readers, any type for the checker.

Checks at run time say more than a type could: labels may be lists, arrays, records that carry ids,
or a pandas Series whose index does.
"""

from typing import Any, TypeAlias

#: Whatever NumPy can make an array of: lists, arrays, series.
ArrayLike: TypeAlias = Any
#: Features: an array, a sparse matrix or a data frame.
MatrixLike: TypeAlias = Any
