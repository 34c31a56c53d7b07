"""How long to wait before the next try."""

import time


def delays(base, cap, tries):
    """Double the delay from try to try, never above the cap."""
    return [base * 2**number for number in range(tries)]


class Limiter:
    """Allow so many calls in a period."""

    def __init__(self, calls, period, clock=time.monotonic):
        self.calls, self.period, self.clock = calls, period, clock
        self.seen = []

    def allow(self):
        now = self.clock()
        self.seen = [moment for moment in self.seen if now - moment < self.period]
        if len(self.seen) >= self.calls:
            return False
        self.seen.append(now)
        return True
