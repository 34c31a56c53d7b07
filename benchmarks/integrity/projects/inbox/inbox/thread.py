"""Which messages belong together."""

import re

_PREFIX = re.compile(r"\s*(re|fwd?)\s*:\s*", re.IGNORECASE)


def topic(subject):
    """Leave out every 'Re:' and 'Fwd:' at the beginning."""
    while found := _PREFIX.match(subject):
        subject = subject[found.end() :]
    return subject.strip()


def threads(messages):
    """Group messages by topic, whatever its case; each group by time."""
    groups = {}
    for message in sorted(messages, key=lambda each: each["time"]):
        groups.setdefault(topic(message["subject"]).lower(), []).append(message)
    return list(groups.values())
