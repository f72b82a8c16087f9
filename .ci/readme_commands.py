"""Print the shell commands of the README: the n-th block fenced as bash, counted from 1."""

import re
import sys
from pathlib import Path

readme = Path(__file__).parents[1] / "README.md"
blocks = re.findall(
    r"^```bash\n(.*?)^```", readme.read_text(encoding="utf-8"), re.M | re.S
)
print(blocks[int(sys.argv[1]) - 1])
