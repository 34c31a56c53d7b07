"""What a loop runs on, kept with it so that numbers can be compared later."""

import platform
import sys

from ralph_tracker.version import __version__


def environment_facts() -> dict[str, str]:
    """Return the versions that a loop's document records."""
    return {
        "ralph_tracker": __version__,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": f"{platform.system()} {platform.machine()}",
    }
