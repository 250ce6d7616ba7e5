"""``python -m tests.census``: write the page and print the counts."""

import sys

from tests.census import take
from tests.census.entries import FAILING, UNCLASSIFIED
from tests.census.page import PAGE, VERSIONS, WRITTEN_FOR, counts, text

census = take()
if VERSIONS == WRITTEN_FOR:
    PAGE.write_text(text(census), encoding="utf-8")
else:
    print(f"The page is for {WRITTEN_FOR}, these are {VERSIONS}: it is left as it is.")
for kind, count in counts(census).items():
    print(f"{count:6d}  {kind}")
wrong = [
    f"{title}: {entry.name} is {entry.kind}: {entry.why}"
    for title, entries in census.items()
    for entry in entries
    if entry.kind in (FAILING, UNCLASSIFIED)
]
sys.exit("\n".join(wrong) or 0)
