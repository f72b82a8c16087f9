"""TableMixin: results that print as a table."""

from html import escape
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def pandas_for(what):
    """The module pandas, an optional dependency."""
    try:
        return import_module("pandas")
    except ImportError:
        raise ImportError(f"{what} needs pandas: pip install pandas.") from None


def cell_of(value):
    """Text of a value; a rounding error is 0."""
    if not isinstance(value, float):
        return str(value)
    return f"{0.0 if abs(value) < 1e-15 else value:.4g}"


class TableMixin:
    """A result that prints as a table; a subclass defines ``_columns``."""

    def _columns(self) -> dict:
        """Columns of equal length by name."""
        raise NotImplementedError

    def to_frame(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame.

        Returns
        -------
        DataFrame
            One row for each entry.
        """
        return pandas_for("to_frame").DataFrame(self._columns())

    def _padded(self):
        """Columns of text of one width, the name first; numbers stand on the right."""
        for name, values in self._columns().items():
            cells = [cell_of(v) for v in values]
            width = max(map(len, [name, *cells]))
            numeric = all(isinstance(v, Real) for v in values)
            yield [
                f"{cell:{'>' if numeric else '<'}{width}}" for cell in [name, *cells]
            ]

    def __repr__(self) -> str:
        return "\n".join(
            "  ".join(line).rstrip() for line in zip(*self._padded(), strict=True)
        )

    def _repr_html_(self) -> str:
        head, *body = (map(escape, line) for line in zip(*self._padded(), strict=True))
        rows = ["".join(f"<td>{cell}</td>" for cell in line) for line in body]
        names = "".join(f"<th>{name}</th>" for name in head)
        return f"<table><tr>{names}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
