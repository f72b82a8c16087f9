"""TableMixin: results that print as a table."""

from html import escape
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def pandas_for(what):
    """Import pandas, an optional dependency."""
    try:
        return import_module("pandas")
    except ImportError:
        raise ImportError(f"{what} needs pandas: pip install pandas.") from None


def cell_of(value, smallest="0"):
    """Text of a value; `smallest` is that of a number below 1e-15.

    By default such a number is a rounding error.
    """
    if not isinstance(value, float):
        return str(value)
    if abs(value) < 1e-15:
        return smallest
    return f"{value:.4g}"


class TableMixin:
    """A result that prints as a table; a subclass defines ``_columns``.

    ``_lines`` are sentences below the table.
    """

    def _columns(self) -> dict:
        """Columns of equal length by name."""
        raise NotImplementedError

    def _lines(self) -> list[str]:
        """Return the sentences below the table."""
        return []

    def to_frame(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame.

        Returns
        -------
        DataFrame
            One row for each entry.
        """
        return pandas_for("to_frame").DataFrame(self._columns())

    def _padded_rows(self):
        """Rows of padded cells, the names first; numbers stand on the right."""
        columns = []
        for name, values in self._columns().items():
            smallest = "0"
            if name in ("p_value", "p_holm"):
                smallest = "<1e-15"
            cells = [name, *(cell_of(value, smallest) for value in values)]
            width = max(map(len, cells))
            if all(isinstance(value, Real) for value in values):
                columns.append([cell.rjust(width) for cell in cells])
            else:
                columns.append([cell.ljust(width) for cell in cells])
        return list(zip(*columns, strict=True))

    def __repr__(self) -> str:
        rows = ["  ".join(row).rstrip() for row in self._padded_rows()]
        return "\n".join([*rows, *self._lines()])

    def _repr_html_(self) -> str:
        head, *body = self._padded_rows()
        lines = ["".join(f"<th>{escape(name)}</th>" for name in head)]
        for row in body:
            lines.append("".join(f"<td>{escape(cell)}</td>" for cell in row))
        table = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        return table + "".join(f"<p>{escape(line)}</p>" for line in self._lines())
