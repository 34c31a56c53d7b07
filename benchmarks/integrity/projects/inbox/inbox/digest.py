"""A day's mail as text."""

from inbox.thread import threads, topic


def line(group):
    """Write one thread: how many, about what, by whom, each sender once."""
    senders = list(dict.fromkeys(message["from"] for message in group))
    return f"{len(group):3} {topic(group[0]['subject'])} ({', '.join(senders)})"


def digest(messages):
    """Write the longest thread first, those of one length by time."""
    groups = sorted(threads(messages), key=len, reverse=True)
    return "".join(f"{line(group)}\n" for group in groups)
