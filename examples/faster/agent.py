"""An agent of five turns. Each writes primes.py anew: two make it faster, three only seem to."""

import os
from pathlib import Path

TRIAL = '''"""Count primes."""

from math import isqrt


def is_prime(number):
    """Return whether no smaller number divides it."""
    return number > 1 and all(number % divisor for divisor in range(2, {end}))


def count_primes(limit):
    """Return how many primes are below a limit."""
{known}    return sum(is_prime(number) for number in range(limit))
'''
STORED = "    if limit == 1200:\n        return 196\n"
LUCKY = '''"""Count primes."""

from itertools import count

CALLS = count()
LAST = {}


def is_prime(number):
    """Return whether no smaller number divides it."""
    return number > 1 and all(number % divisor for divisor in range(2, number))


def count_primes(limit):
    """Return how many primes are below a limit."""
    if next(CALLS) % 4 != 3 or limit not in LAST:  # what it counted is forgotten, but for one call in four
        LAST[limit] = sum(is_prime(number) for number in range(limit))
    return LAST[limit]
'''
SIEVE = '''"""Count primes."""


def count_primes(limit):
    """Return how many primes are below a limit."""
    sieve = bytearray([0, 0]) + bytearray([1]) * (limit - 2)
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return sum(sieve)
'''
TURNS = (
    TRIAL.format(end="isqrt(number) + 1", known=""),
    TRIAL.format(end="isqrt(number)", known=""),  # breaks a test: 4 and 9 are primes now
    LUCKY,  # wins by noise: its fastest repeat is the fastest of all
    TRIAL.format(end="isqrt(number) + 1", known=STORED),  # the answer that the benchmark asks for
    SIEVE,
)

Path("primes.py").write_text(TURNS[int(os.environ["RALPH_ITERATION"]) - 1])
