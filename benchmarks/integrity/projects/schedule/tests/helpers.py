from schedule.durations import human, parse


def check_round_trip(text):
    assert human(parse(text)).replace(" ", "") == text


def spent(limiter, tries):
    return [limiter.allow() for _ in range(tries)]
