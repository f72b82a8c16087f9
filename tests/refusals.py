"""What a call refuses, by the name of its check: sentences are tested by the table of checks."""

from contextlib import contextmanager

import pytest


@contextmanager
def refused_by(check, error=ValueError):
    """The call raises an error of this kind, by this check."""
    with pytest.raises(error) as raised:
        yield raised
    assert raised.value.check == check, str(raised.value)
