"""Print the tests that a run of pytest skipped, one a line, from its JUnit report."""

import sys
import xml.etree.ElementTree as ElementTree

report = ElementTree.parse(sys.argv[1])
for case in report.iter("testcase"):
    if case.find("skipped") is None:
        continue
    if case.get("classname"):
        print(f"{case.get('file')}::{case.get('name')}")
    else:
        print(case.get("file"))  # the whole file was skipped
