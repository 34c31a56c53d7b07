"""Rules that sort messages into folders."""


def matches(rule, message):
    """Return whether a message has all that the rule asks for."""
    return all(text.lower() in message[field].lower() for field, text in rule["when"].items())


def file(rules, message, default="inbox"):
    """Return the folder of the first rule that matches."""
    return next((rule["folder"] for rule in rules if matches(rule, message)), default)


def sort(rules, messages):
    folders = {}
    for message in messages:
        folders.setdefault(file(rules, message), []).append(message)
    return folders
