"""Count primes."""


def is_prime(number):
    """Return whether no smaller number divides it."""
    return number > 1 and all(number % divisor for divisor in range(2, number))


def count_primes(limit):
    """Return how many primes are below a limit."""
    return sum(is_prime(number) for number in range(limit))
