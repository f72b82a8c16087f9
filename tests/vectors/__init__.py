"""Worked numbers, made by brute force from the formulas of the papers."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def worked_cases(name):
    """Read the cases of a file; its field "about" says what the fields mean."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))["cases"]
