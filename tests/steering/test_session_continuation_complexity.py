"""How large a task is, by its words."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.steering import ComplexityThresholds, ContinuationThresholds, classify_task_complexity
from tests.tables import table

TASKS = {
    "simple": [
        "What is 2+2?",
        "How do I write a file in Python?",
        "which linter is used here",
        "Is there a cache?",
    ],
    "medium": [
        "",
        "Read config.py and explain it",
        "Why does src/shop/app.py fail?",
        "What does README.md say?",
        "Fix the failing test in tests/test_a.py",
        "make the tests pass",
        "Explain how to write a plugin",
        "Do not write code",
        "Look at the code that creates orders",
    ],
    "generation": [
        "Write a function that takes a, b and c.",
        "create a logo",
        "Can you write a parser for INI files?",
        "Please generate a changelog",
        "Read a.py, then write a summary",
        "I want you to implement the cache.",
    ],
    "complex": [
        "Analyze entire Victor architecture",
        "How does the whole system work?",
        "Create a REST API, a web client and documentation.",
        "Write a parser and document it",
        "Add a cache. Then refactor the store.",
        "Please do this:\n- add a flag\n- mend the help",
        "1. look\n2. mend",
        "Build the shop from scratch",
        "test all of the code base",
    ],
}


@table(("prompt", "complexity"), [(prompt, name) for name, prompts in TASKS.items() for prompt in prompts])
def test_the_words_of_a_task_say_how_large_it_is(prompt, complexity):
    assert classify_task_complexity(prompt) == complexity


@table(
    ("prompt", "context_size", "complexity"),
    [
        ("make the tests pass", 100_000, "medium"),
        ("make the tests pass", 100_001, "complex"),
        ("write a parser", 200_000, "complex"),
        ("What is 2+2?", 200_000, "simple"),
    ],
)
def test_a_large_context_makes_a_task_complex_but_no_simple_question(prompt, context_size, complexity):
    assert classify_task_complexity(prompt, context_size) == complexity


def test_from_what_size_on_a_context_is_large_is_configured():
    assert (
        classify_task_complexity(
            "mend it", 11, ContinuationThresholds(complexity=ComplexityThresholds(large_context=10))
        )
        == "complex"
    )


@given(st.text(max_size=300))
def test_any_text_has_a_complexity(prompt):
    assert classify_task_complexity(prompt) in TASKS


@table(
    "piece", ["a, ", "write ", "- ", "/", "\n", " \n", "1. ", "and ", "entire ", "write a, ", "a.", "to ", "-", "what "]
)
def test_of_a_hostile_prompt_nothing_is_looked_at_again_and_again(piece):
    assert classify_task_complexity(piece * 50_000) in TASKS
