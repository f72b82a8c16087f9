"""Files of data: paths, packed files, and writing aside."""

import bz2
import gzip
import os
import secrets
import shutil
import zlib
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from .._parameters import Rule, check_parameter

path_like = Rule(lambda value: isinstance(value, str | os.PathLike), "a path, str or Path")


def read_path(path, name="path"):
    """A Path of what the user gave as one."""
    check_parameter(name, path, [path_like])
    return Path(os.fsdecode(path))


#: What reading a packed file raises that is damaged or cut short.
DAMAGED = (EOFError, OSError, zlib.error)


def open_packed(path):
    """A binary file to read, unpacked by its ending, .gz or .bz2."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    return openers.get(path.suffix, open)(path, "rb")


def packed(raw, path):
    """What packs into an open file by the ending of `path`, .gz or .bz2; a context."""
    if path.suffix == ".gz":
        return gzip.GzipFile(path.name, "wb", fileobj=raw)
    return bz2.BZ2File(raw, "wb") if path.suffix == ".bz2" else nullcontext(raw)


@contextmanager
def replacing(path):
    """A binary file that takes the place of `path` once the block has ended without an error.

    It is written under another name in the same folder, so that an error, or an interrupt, leaves
    what was there untouched and nothing beside it. What is no regular file, such as a folder
    or a device, is refused, since it cannot be replaced.
    """
    target = Path(os.path.realpath(path))  # the file that a link points to, not the link
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} exists and is not a file: give the name of a file to write.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    aside = target.parent / f".lowrank_rank-{secrets.token_hex(8)}.part"
    try:
        with open(aside, "xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, aside)
        os.replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
