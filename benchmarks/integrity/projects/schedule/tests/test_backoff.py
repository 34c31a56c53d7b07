import time

from schedule.backoff import Limiter, delays
from tests.helpers import spent


def test_delays_double():
    assert delays(1, 100, 4) == [1, 2, 4, 8]


def test_delays_end_at_the_cap():
    assert delays(1, 5, 4) == [1, 2, 4, 5]


def test_limiter_refuses(clock):
    assert spent(Limiter(2, 10, clock), 3) == [True, True, False]


def test_limiter_recovers(clock):
    limiter = Limiter(1, 10, clock)
    assert limiter.allow()
    clock.now += 10
    assert limiter.allow()


def test_limiter_in_real_time():
    limiter = Limiter(1, 0.05)
    assert spent(limiter, 2) == [True, False]
    time.sleep(0.06)
    assert limiter.allow()
