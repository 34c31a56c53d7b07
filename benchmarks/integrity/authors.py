"""Enter the operators of the half that is kept apart, each under the number of its author.

An author had the table of rows and the templates, and no list of forms: what several thought of counts as often.
"""

from dataclasses import replace
from importlib import import_module
from typing import Final

from changes import VARIANTS

MODULES: Final = {
    "1": ("apart_1_a", "apart_1_b"),
    "2": ("apart_2_a", "apart_2_b"),
    "3": ("apart_3_a", "apart_3_b"),
    "4": ("apart_4_a", "apart_4_b", "apart_4_c"),
}

for author, modules in MODULES.items():
    known = len(VARIANTS)
    for module in modules:
        import_module(module)
    VARIANTS[known:] = [replace(each, name=f"{author}: {each.name}", held_out=True) for each in VARIANTS[known:]]
