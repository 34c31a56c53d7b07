"""Rows of a table, each a case of its own that `-k` and `--lf` find."""

import pytest

table = pytest.mark.parametrize
