"""What a Go project is measured with: what is on PATH decides."""

import pytest

from ralph_tracker.measure.ecosystems.go import detect

GO = 'test "$1" = version && echo go version go1.24.1 linux/amd64'
MODULE = {"go.mod": "module m\n"}


def test_go_alone_writes_its_events_and_its_coverage(tree, on_path):
    found = detect(tree(MODULE), on_path(go=GO))
    assert (found.version, found.call) == ("1.24.1", ("go",))
    tests, coverage = found.checks["tests"], found.checks["coverage"]
    assert tests["run"] == ["go", "test", "-json", "-coverprofile={reports}/cover.out", "./..."]
    assert (tests["reports"], tests["format"]) == (["-"], "gotest-json")
    assert (coverage["reports"], coverage["needs"]) == (["{reports}/cover.out"], ["tests"])
    assert found.notes == ("golangci-lint not found: install it, lint findings are not measured",)


def test_gotestsum_runs_the_tests_where_it_is_installed(tree, on_path):
    found = detect(tree(MODULE), on_path(go=GO, gotestsum="exit 0"))
    assert found.checks["tests"]["run"][:3] == ["gotestsum", "--junitfile={reports}/gotestsum.xml", "--"]
    assert found.checks["tests"]["reports"] == ["{reports}/gotestsum.xml"]


@pytest.mark.parametrize(
    ("says", "flag"),
    [
        ("echo golangci-lint has version 1.64.8", "--out-format=json:{reports}/golangci.json"),
        ("echo golangci-lint has version 2.3.1", "--output.json.path={reports}/golangci.json"),
        ("exit 1", "--output.json.path={reports}/golangci.json"),
    ],
    ids=["1", "2", "unknown"],
)
def test_the_linter_is_asked_as_its_version_understands(tree, on_path, says, flag):
    found = detect(tree(MODULE), on_path(go=GO, golangci_lint=says))
    assert found.checks["lint"]["run"] == ["golangci-lint", "run", flag]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("workspace", "packages"),
    [
        ("go 1.24\nuse ./a\nuse ./b // the second\n", ["./a/...", "./b/..."]),
        ('go 1.24\nuse (\n\t./a/ // first\n\t"./b"\n)\n', ["./a/...", "./b/..."]),
        ("go 1.24\n", ["./..."]),
    ],
    ids=["lines", "a block", "none"],
)
def test_a_workspace_is_its_modules(tree, on_path, workspace, packages):
    run = detect(tree({"go.work": workspace}), on_path(go=GO)).checks["tests"]["run"]
    assert run[run.index("-coverprofile={reports}/cover.out") + 1 :] == packages


@pytest.mark.parametrize("programs", [{}, {"go": "exit 1"}], ids=["absent", "broken"])
def test_without_go_there_is_a_next_step(tree, on_path, programs):
    root = tree(MODULE)
    found = detect(root, on_path(**programs))
    assert (found.checks, found.notes) == ({}, (f"no Go found for {root}; install it, and have go on PATH",))


def test_a_folder_without_a_module_is_none(tree, on_path):
    assert detect(tree({"main.go": ""}), on_path(go=GO)) is None
