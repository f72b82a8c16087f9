"""Print the shell commands of the README below one heading."""

import re
import sys
from pathlib import Path

heading = sys.argv[1]
readme = Path(__file__).parents[1] / "README.md"
sections = re.split(r"^## ", readme.read_text(encoding="utf-8"), flags=re.M)
section = next((text for text in sections if text.startswith(f"{heading}\n")), None)
if section is None:
    sys.exit(f"README.md has no heading {heading!r}")
blocks = re.findall(r"^```bash\n(.*?)^```", section, re.M | re.S)
if len(blocks) != 1:
    sys.exit(f"{heading!r} has {len(blocks)} blocks of shell commands, one is needed")
print(blocks[0])
