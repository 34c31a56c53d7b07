"""What counting primes must keep."""

from primes import count_primes


def test_no_prime_is_below_two():
    assert count_primes(2) == 0


def test_squares_are_no_primes():
    assert count_primes(10) == 4


def test_a_hundred_has_25():
    assert count_primes(100) == 25


def test_the_count_that_the_benchmark_asks_for():
    assert count_primes(1200) == 196
