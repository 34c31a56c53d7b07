"""Which functions and classes of a file pass over failures."""

import pytest

from ralph_tracker.integrity.python.swallowers import swallowers_in

TRIED = "def run(act):\n    try:\n        act()\n"
CAUGHT = f"{TRIED}    except Exception as error:\n        print(error)\n"
SWALLOWING = {
    "a handler that does nothing": f"{TRIED}    except Exception:\n        pass\n",
    "a handler that prints": f"{TRIED}    except Exception as error:\n        print(error)\n",
    "a handler that logs": f"{TRIED}    except Exception as error:\n        logging.warning('%s', error)\n",
    "a handler that logs under a condition": (
        f"{TRIED}    except Exception as error:\n        if error:\n            log.info(error)\n        return None\n"
    ),
    "a handler that warns": f"{TRIED}    except AssertionError as error:\n        warnings.warn(str(error))\n",
    "a way out at the end": f"{TRIED}    finally:\n        return None\n",
    "a decorator with a parameter": (
        "def run(times):\n    def wrap(act):\n        def inner(*a):\n            try:\n                act(*a)\n"
        "            except Exception as error:\n                log.info(error)\n"
        "        return inner\n    return wrap\n"
    ),
    "what tells of success": f"{CAUGHT}    else:\n        print('well')\n",
    "suppressed": "def run(act):\n    with suppress(Exception):\n        act()\n",
    "a manager that always says yes": "class run:\n    def __exit__(self, *a):\n        return True\n",
    "a manager that says whether there was an error": (
        "class run:\n    def __exit__(self, kind, error, trace):\n        return kind is not None\n"
    ),
    "a manager that passes over assertions": (
        "class run:\n    def __exit__(self, kind, error, trace):\n"
        "        if kind is not None and issubclass(kind, AssertionError):\n            return True\n"
        "        return False\n"
    ),
    "what it was given asserted": (
        "def run(held):\n    try:\n        assert held\n    except AssertionError:\n        print('no')\n"
    ),
}
HONEST = {
    "no program": "def run(:\n    except\n",
    "a handler that keeps it": f"{TRIED}    except Exception as error:\n        seen.append(error)\n",
    "a handler that logs and raises": f"{CAUGHT}        raise\n",
    "a handler that keeps the last": (
        "def run(act):\n    for _ in range(3):\n        try:\n            act()\n        except Exception as error:\n"
        "            last = error\n    raise last\n"
    ),
    "a handler that tells the caller": f"{TRIED}    except Exception as error:\n        return error\n",
    "what cleans up": f"{TRIED}    finally:\n        close()\n",
    "what has to fail": f"{CAUGHT}    else:\n        raise Missing\n",
    "a handler of one kind": f"{TRIED}    except KeyError:\n        pass\n",
    "one kind suppressed": "def run(act):\n    with suppress(KeyError):\n        act()\n",
    "another manager": "def run(act):\n    with opened(act) as suppressed:\n        act()\n",
    "nothing that was given": "def run(act):\n    with suppress(Exception):\n        close()\n",
    "a manager of one kind": (
        "class run:\n    def __exit__(self, kind, error, trace):\n        return issubclass(kind, self.kind)\n"
    ),
    "a manager that asks for an error": (
        "class run:\n    def __exit__(self, kind, error, trace):\n        if kind is None:\n"
        "            raise AssertionError\n        return kind is not None\n"
    ),
    "a manager that says whether it was left well": (
        "class run:\n    def __exit__(self, kind, error, trace):\n        return kind is None\n"
    ),
    "a manager that hands on": "class run:\n    def __exit__(self, *a):\n        return False\n",
}


@pytest.mark.parametrize("text", SWALLOWING.values(), ids=SWALLOWING)
def test_is_found_by_its_name(text):
    assert "run" in swallowers_in(text)


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_is_none(text):
    assert swallowers_in(text) == frozenset()
