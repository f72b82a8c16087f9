import os
from pathlib import Path

# Before NumPy is imported: threads of several test processes would wait for each other (the suite
# takes 8 minutes in place of 2 on two cores).
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Boosters count cores themselves: their threads give way instead of spinning while they wait.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest

SHARED = Path(
    os.environ.get("LOWRANK_RANK_SHARED", Path(__file__).parents[2] / "shared")
)


@pytest.fixture(autouse=True)
def _seeded():
    """What draws from NumPy's global state, as peers without `random_state` do, draws the same."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def seed():
    """Seed of the data of a test."""
    return 0


@pytest.fixture
def data_folder():
    """Folder of real data that is not part of the product."""
    path = SHARED / "data"
    if not path.exists():
        pytest.skip("the real data are not here (LOWRANK_RANK_SHARED)")
    return path
