"""The feedback on the last iteration, for a loop in a shell."""


def test_it_says_what_fails_and_how_the_loop_goes_on(project, metrics_of):
    project.started(test_count=9, tests_passed=9)
    project.must("post-iteration", metrics_of(tests_passed=8, tests_failed=1))
    told = project.ralph("feedback")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].startswith("ralph-tracker measures this project each time you stop")
    assert "1 test fails; the report does not name them." in lines
    assert lines[-1] == "Continue with the task; it is measured again when you stop."
    project.must("post-loop")
    assert project.ralph("feedback").out.splitlines()[-1] == "The loop has ended: nothing more is measured."


def test_without_a_loop_it_is_one_line(project):
    assert project.ralph("feedback").complaint.startswith("no loop in ")
