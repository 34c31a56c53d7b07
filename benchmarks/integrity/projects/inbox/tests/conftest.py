import pytest


def mail(time, sender, subject):
    return {"time": time, "from": sender, "subject": subject}


@pytest.fixture
def messages():
    return [
        mail(5, "ada", "Re: Lunch"),
        mail(1, "bob", "Invoice 17"),
        mail(2, "ada", "lunch"),
        mail(9, "eve", "Fwd: Re: Lunch"),
        mail(7, "bob", "Re: Lunch"),
    ]
