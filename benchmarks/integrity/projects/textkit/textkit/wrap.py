"""Lines of a given width."""


def wrap(text, width):
    """Break between words; a word that is too long is cut."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        lines.append(line)
    return lines


def indent(text, by=2):
    """Move every line that is not empty to the right."""
    return "\n".join(" " * by + line for line in text.split("\n"))
