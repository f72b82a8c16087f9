"""Paths of files that users give."""

import os
from pathlib import Path

from ._parameters import Rule, check_parameter

path_like = Rule(
    lambda value: isinstance(value, str | os.PathLike), "a path, str or Path"
)
#: First bytes of text that is not UTF-8.
BYTE_ORDER_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_path(path, name="path"):
    """Check a path given by the user and return it as a Path."""
    check_parameter(name, path, [path_like])
    return Path(os.fsdecode(path))
