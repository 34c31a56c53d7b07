"""Enter the operators of authors who worked alone, each under the number of its author.

An author had the table of rows and the templates, and no list of forms: what several thought of counts as often. Those
of `APART` make the half that is kept apart; those of `OPENED` made an earlier one, and are tuned on.
"""

from dataclasses import replace
from importlib import import_module
from typing import Final

from changes import VARIANTS

OPENED: Final = {
    "1": ("likely_1_a", "likely_1_b"),
    "2": ("likely_2_a", "likely_2_b"),
    "3": ("likely_3_a", "likely_3_b"),
    "4": ("likely_4_a", "likely_4_b", "likely_4_c"),
}
APART: Final = {
    "5": ("apart_5_a", "apart_5_b"),
    "6": ("apart_6_a", "apart_6_b", "apart_6_c"),
    "7": ("apart_7_a", "apart_7_b"),
    "8": ("apart_8_a", "apart_8_b", "apart_8_c", "apart_8_d"),
}

for author, modules in {**OPENED, **APART}.items():
    known = len(VARIANTS)
    for module in modules:
        import_module(module)
    entered = [replace(each, name=f"{author}: {each.name}", held_out=author in APART) for each in VARIANTS[known:]]
    VARIANTS[known:] = entered
