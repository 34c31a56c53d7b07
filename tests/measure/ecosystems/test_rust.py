"""What a Rust project is measured with: cargo's own tests, or nextest where that is installed."""

import subprocess
import tomllib

import pytest

from ralph_tracker.measure.ecosystems.rust import detect
from ralph_tracker.measure.find_reports import filled_run

CRATE = {"Cargo.toml": "", "src/lib.rs": ""}
# cargo with the subcommands that are named, as a toolchain manager's proxies leave it
CARGO = 'case "$1" in --version{}) echo cargo 1.95.0 ;; *) exit 1 ;; esac'


def cargo(*subcommands):
    return CARGO.format("".join(f" | {name}" for name in subcommands))


@pytest.mark.parametrize(
    ("subcommands", "files", "checks"),
    [
        ((), CRATE, {"tests": "libtest-text"}),
        (("clippy",), CRATE, {"tests": "libtest-text", "lint": "cargo-json"}),
        (("nextest",), CRATE, {"tests": "junit", "doctests": "libtest-text"}),
        (("nextest",), {"Cargo.toml": ""}, {"tests": "junit"}),
    ],
    ids=["cargo", "clippy", "nextest", "nextest, no library"],
)
def test_checks_are_those_of_the_tools_that_are_there(tree, on_path, subcommands, files, checks):
    found = detect(tree(files), on_path(cargo=cargo(*subcommands)))
    assert {name: check["format"] for name, check in found.checks.items()} == checks
    assert set(found.tools) == set(subcommands)
    assert ("clippy not found: rustup component add clippy" in found.notes) == ("clippy" not in subcommands)


@pytest.mark.parametrize(
    ("manifest", "whole"),
    [("[workspace]\nmembers = ['a']", True), ("[workspace]\ndefault-members = ['a']", False), ("[package]", False)],
)
def test_all_members_of_a_workspace_are_measured_unless_it_names_some(tree, on_path, manifest, whole):
    checks = detect(tree({"Cargo.toml": manifest}), on_path(cargo=cargo("clippy"))).checks
    assert ["--workspace" in check["run"] for check in checks.values()] == [whole, whole]


def test_tests_of_the_documentation_are_tests(tree, on_path):
    doctests = detect(tree(CRATE), on_path(cargo=cargo("nextest"))).checks["doctests"]
    assert (doctests["kind"], doctests["needs"]) == ("tests", ["tests"])


def test_nextest_writes_where_it_is_told_without_touching_the_tree(tree, on_path, tmp_path):
    root = tree(CRATE)
    environment = on_path(cargo=f'{cargo("nextest")}; echo "$*" > "{tmp_path}/words"')
    reports = tmp_path / "a folder"
    reports.mkdir()
    run = filled_run(detect(root, environment).checks["tests"]["run"], str(reports))
    subprocess.run(["/bin/sh", "-c", run], cwd=root, env=environment, check=True)
    settings = tomllib.loads((reports / "nextest.toml").read_text())
    assert settings["profile"]["default"]["junit"]["path"] == str(reports / "nextest.xml")
    assert f"ralph-tracker:{reports}/nextest.toml" in (tmp_path / "words").read_text()
    assert sorted(path.name for path in root.iterdir()) == [".git", "Cargo.toml", "src"]


@pytest.mark.parametrize("programs", [{}, {"cargo": "exit 1"}], ids=["absent", "broken"])
def test_without_cargo_there_is_a_next_step(tree, on_path, programs):
    root = tree(CRATE)
    found = detect(root, on_path(**programs))
    assert (found.checks, found.notes) == ({}, (f"no cargo found for {root}; install Rust, and have cargo on PATH",))


def test_a_folder_without_a_manifest_is_none(tree, on_path):
    assert detect(tree({"main.rs": ""}), on_path(cargo=cargo())) is None
