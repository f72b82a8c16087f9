"""Conditional risks and regret."""

import pytest

from lowrank_rank.calibration import conditional_regret


def test_losses_go_by_name_too():
    p, support = [[0.75, 0.25]], [[1, 0], [0, 1]]
    assert conditional_regret("wta", support, p, [[2, 1]]) == pytest.approx(0.5)
    assert conditional_regret("wta", support, p, [[1, 2]]) == 0.0
