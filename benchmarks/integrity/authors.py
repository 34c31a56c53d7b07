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
    "5": ("likely_5_a", "likely_5_b"),
    "6": ("likely_6_a", "likely_6_b", "likely_6_c"),
    "7": ("likely_7_a", "likely_7_b"),
    "8": ("likely_8_a", "likely_8_b", "likely_8_c", "likely_8_d"),
}
APART: Final = {
    "9": ("apart_9_a", "apart_9_b", "apart_9_c", "apart_9_d"),
    "10": ("apart_10_a", "apart_10_b", "apart_10_c"),
    "11": ("apart_11_a", "apart_11_b", "apart_11_c", "apart_11_d", "apart_11_e"),
    "12": ("apart_12_a", "apart_12_b", "apart_12_c"),
}

for author, modules in {**OPENED, **APART}.items():
    known = len(VARIANTS)
    for module in modules:
        import_module(module)
    entered = [replace(each, name=f"{author}: {each.name}", held_out=author in APART) for each in VARIANTS[known:]]
    VARIANTS[known:] = entered
