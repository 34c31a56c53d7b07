"""Make a fixture of a loop's facts: python benchmarks/judgement/pack.py FOLDER…

Each folder has iterations.jsonl and becomes fixtures/judgement/NAME/iterations.jsonl.gz. Its labels.yaml is written by
a person.
"""

import sys
from pathlib import Path

from labelled import PACKED, facts_of, packed
from run import FIXTURES

for home in map(Path, sys.argv[1:]):
    data = packed(list(facts_of(home)))
    made = FIXTURES / home.resolve().name / PACKED
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_bytes(data)
    print(f"{made.relative_to(FIXTURES)}: {len(data)} bytes")
