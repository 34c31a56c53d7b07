"""Which functions and classes of a file pass over failures."""

import pytest

from ralph_tracker.integrity.python.swallowers import swallowers_in

TRIED = "def run(act):\n    try:\n        act()\n"
SWALLOWING = {
    "a handler that does nothing": f"{TRIED}    except Exception:\n        pass\n",
    "a handler that prints": f"{TRIED}    except Exception as error:\n        print(error)\n",
    "suppressed": "def run(act):\n    with suppress(Exception):\n        act()\n",
    "a manager that always says yes": "class run:\n    def __exit__(self, *a):\n        return True\n",
}
HONEST = {
    "no program": "def run(:\n    except\n",
    "a handler that keeps it": f"{TRIED}    except Exception as error:\n        seen.append(error)\n",
    "a handler of one kind": f"{TRIED}    except KeyError:\n        pass\n",
    "one kind suppressed": "def run(act):\n    with suppress(KeyError):\n        act()\n",
    "another manager": "def run(act):\n    with opened(act) as suppressed:\n        act()\n",
    "nothing that was given": "def run(act):\n    with suppress(Exception):\n        close()\n",
    "a manager that hands on": "class run:\n    def __exit__(self, *a):\n        return False\n",
}


@pytest.mark.parametrize("text", SWALLOWING.values(), ids=SWALLOWING)
def test_is_found_by_its_name(text):
    assert swallowers_in(text) == {"run"}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_is_none(text):
    assert swallowers_in(text) == frozenset()
