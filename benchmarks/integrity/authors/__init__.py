"""Enter the operators of authors who worked alone, each under the number of its author.

An author had the table of rows and the templates, and no list of forms: what several thought of counts as often. Those
of `APART` make the half that is kept apart; all others made an earlier one that was opened, and are tuned on. What
author 1 wrote stands in `author_1_a`, `author_1_b` and so on.
"""

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from changes import VARIANTS

APART: Final = frozenset({9, 10, 11, 12})


def _author(module: str) -> int:
    return int(module.split("_")[1])


for name in sorted((each.name for each in iter_modules(__path__)), key=lambda name: (_author(name), name)):
    known = len(VARIANTS)
    import_module(f"{__name__}.{name}")
    author = _author(name)
    entered = [replace(each, name=f"{author}: {each.name}", held_out=author in APART) for each in VARIANTS[known:]]
    VARIANTS[known:] = entered
