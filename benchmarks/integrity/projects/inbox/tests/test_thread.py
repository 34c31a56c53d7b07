from inbox.thread import threads, topic


def test_topic_of_an_answer():
    assert topic("Re: Lunch") == "Lunch"


def test_topic_of_many_answers():
    assert topic("Re: FWD: re: Lunch") == "Lunch"


def test_topic_keeps_the_middle():
    assert topic("About Re: Lunch") == "About Re: Lunch"


def test_threads_are_by_time(messages):
    assert [message["time"] for message in threads(messages)[1]] == [2, 5, 7, 9]


def test_threads_ignore_case(messages):
    assert len(threads(messages)) == 2
