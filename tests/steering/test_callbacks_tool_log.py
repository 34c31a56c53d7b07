"""The log of tools: a line each, told apart by call, bounded."""

from ralph_tracker.steering.human_oversight import KEPT_TOOLS, ToolLog


def test_a_line_shows_progress_then_how_it_ended():
    log = ToolLog()
    log.start("query_todoist")
    assert log.lines() == ["🔧 query_todoist ..."]
    log.start("set_memory_block")
    log.end("query_todoist", success=True)
    assert log.lines() == ["🔧 query_todoist ✓", "🔧 set_memory_block ..."]
    log.end("set_memory_block", success=False)
    assert log.lines() == ["🔧 query_todoist ✓", "🔧 set_memory_block ✗"]


def test_the_summary_names_the_work_as_the_seed_writes_it():
    log = ToolLog()
    for name, success in (("query_todoist", True), ("create_todoist_task", True), ("set_memory_block", False)):
        log.start(name)
        log.end(name, success)
    expected = "Cancelled. Was working on: query_todoist ✓ → create_todoist_task ✓ → set_memory_block ✗"
    assert log.summary() == expected


def test_what_was_still_running_did_not_succeed():
    log = ToolLog()
    log.start("a")
    assert log.summary() == "Cancelled. Was working on: a ✗"


def test_a_summary_without_tools_says_so():
    assert ToolLog().summary() == "Cancelled. No tool had run yet."


def test_parallel_calls_of_one_name_are_told_apart_by_their_call():
    log = ToolLog()
    log.start("grep", "1")
    log.start("grep", "2")
    assert log.end("grep", success=False, call="2")
    assert log.lines() == ["🔧 grep ...", "🔧 grep ✗"]


def test_without_a_call_the_one_that_has_run_longest_ends():
    log = ToolLog()
    log.start("grep")
    log.start("grep")
    log.end("grep", success=True)
    assert log.lines() == ["🔧 grep ✓", "🔧 grep ..."]


def test_a_tool_whose_start_nobody_saw_gets_a_line():
    log = ToolLog()
    assert not log.end("grep", success=True, call="1")
    assert log.lines() == ["🔧 grep ✓"]


def test_a_name_within_another_name_is_another_tool():
    log = ToolLog()
    log.start("read")
    log.start("read_file")
    log.end("read_file", success=True)
    assert log.lines() == ["🔧 read ...", "🔧 read_file ✓"]


def test_a_long_log_keeps_its_end_and_counts_the_rest():
    log = ToolLog()
    for number in range(KEPT_TOOLS + 3):
        log.start(f"t{number}")
        log.end(f"t{number}", success=True)
    assert len(log.lines()) == KEPT_TOOLS + 1
    assert log.lines()[:2] == ["(3 earlier)", "🔧 t3 ✓"]
    assert log.summary().startswith("Cancelled. Was working on: (3 earlier) → t3 ✓ → t4 ✓")
