"""Values of secret variables are masked in what is kept of checks, and it is its owner's alone."""

import json
import os
import time
from xml.sax.saxutils import quoteattr

import pytest

from ralph_tracker.measure.report_totals import read_results
from ralph_tracker.measure.run_checks import Check, run_checks
from ralph_tracker.measure.secrets import mask_file, mask_secrets, secret_values
from tests.tables import table

TOKEN = "ghp_abcdefgh12345678"  # noqa: S105  # no real one


@table(
    ("name", "value", "is_secret"),
    [
        ("GITHUB_TOKEN", TOKEN, True),
        ("token", TOKEN, True),
        ("DB_PASSWORD", "12345678", True),
        ("DB_PASSWORD", "1234567", False),
        ("AWS_SECRET_ACCESS_KEY", TOKEN, True),
        ("OPENAI_API_KEY", TOKEN, True),
        ("APIKEY", TOKEN, True),
        ("MY_CREDENTIALS", TOKEN, True),
        ("KEY_PASSPHRASE", TOKEN, True),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/dev/null", False),
        ("TOKEN_WITH_A_SLASH", "/abcdefgh/no/such/file", True),
        ("PATH", "/usr/local/bin", False),
        ("KEYBOARD", "qwertzuiop", False),
        ("NO_TOKEN", "", False),
    ],
)
def test_a_variable_is_secret_by_its_name_and_a_value_of_eight_bytes(name, value, is_secret):
    assert (value.encode() in secret_values({name: value})) is is_secret


def test_a_value_is_masked_in_every_way_that_reports_write_it():
    value = 'pass"word<&>ü/x y'
    data = "\n".join(
        [
            value,
            quoteattr(value),
            json.dumps(value),
            json.dumps(value, ensure_ascii=False),
            "pass%22word%3C%26%3E%C3%BC%2Fx%20y",
        ]
    ).encode()
    left = mask_secrets(data, secret_values({"SOME_PASSWORD": value}))
    assert set(left) <= set(b"*\n\"'")
    assert len(left) == len(data)


def test_the_longer_of_two_values_is_masked_whole_and_lines_of_a_key_alone():
    values = secret_values(
        {"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefgh-long", "C_PRIVATE_KEY": f"-----BEGIN\n{TOKEN}\nend"}
    )
    assert (
        mask_secrets(b"abcdefgh-long abcdefgh " + TOKEN.encode(), values)
        == b"*" * 13 + b" " + b"*" * 8 + b" " + b"*" * 20
    )


@pytest.mark.parametrize("offset", [0, 65_536 - 10, (1 << 20) - 1, (1 << 20) - 19])
def test_a_value_is_masked_wherever_it_lies_in_a_file(tmp_path, offset):
    path = tmp_path / "output"
    path.write_bytes(b"." * offset + TOKEN.encode() + b"\n" + b"." * 100)
    mask_file(path, secret_values({"A_TOKEN": TOKEN}))
    assert path.read_bytes() == b"." * offset + b"*" * len(TOKEN) + b"\n" + b"." * 100
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_a_file_of_ours_shares_with_others_is_not_changed(tmp_path):
    values = secret_values({"A_TOKEN": TOKEN})
    (tmp_path / "theirs").write_text(TOKEN)
    (tmp_path / "link").symlink_to("theirs")
    (tmp_path / "same").hardlink_to(tmp_path / "theirs")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "same", "pipe", "missing"):
        mask_file(tmp_path / name, values)
    assert (tmp_path / "theirs").read_text() == TOKEN
    assert (tmp_path / "same").read_text() == "*" * len(TOKEN)


def test_fifty_megabytes_are_masked_in_half_a_second(tmp_path):
    path = tmp_path / "output"
    path.write_bytes(b"a line of some build that prints a lot of them\n" * 1_000_000 + TOKEN.encode())
    values = secret_values({f"N{number}_TOKEN": f"{TOKEN}{number}" for number in range(9)} | {"A_TOKEN": TOKEN})
    start = time.process_time()
    mask_file(path, values)
    assert time.process_time() - start < 0.5
    assert path.read_bytes().endswith(b"\n" + b"*" * len(TOKEN))


class TestChecks:
    """What a check prints and reports."""

    @pytest.fixture
    def run(self, tmp_path):
        def run(command, *reports, **more):
            (tmp_path / "root").mkdir()
            return run_checks(
                [Check("tests", command, reports=reports, **more)],
                root=tmp_path / "root",
                folder=tmp_path / "kept" / "output",
                reports=tmp_path / "kept" / "reports",
                environment={"PATH": os.environ["PATH"], "A_TOKEN": TOKEN},
            )

        before = os.umask(0o022)
        yield run
        os.umask(before)

    def test_output_and_reports_hold_no_value_and_are_their_owners_alone(self, run, tmp_path):
        run(
            "echo $A_TOKEN $B_SECRET; echo $A_TOKEN >&2; mkdir {reports}/a; chmod 777 {reports}/a; "
            "echo $B_SECRET > {reports}/a/b",
            env={"B_SECRET": "of-the-check"},
        )
        kept = tmp_path / "kept"
        files = [path for path in kept.rglob("*") if path.is_file()]
        assert sorted(path.name for path in files) == ["b", "tests.stderr", "tests.stdout"]
        assert all(set(path.read_text()) <= set("* \n") for path in files)
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
        assert {path.stat().st_mode & 0o777 for path in (kept / "output", kept / "reports", kept / "reports/a")} == {
            0o700
        }

    @pytest.mark.parametrize("report", ["junit.xml", "{reports}/junit.xml", "-"])
    def test_what_is_read_of_a_report_holds_no_value(self, run, report):
        text = f'<testsuite><testcase name="t"><failure message="refused: {TOKEN}"/></testcase></testsuite>'
        where = "/dev/stdout" if report == "-" else report
        tests = read_results(run(f"echo '{text}' > {where}", report)).tests
        assert tests is not None
        assert list(tests.messages.values()) == [f"refused: {'*' * len(TOKEN)}"]

    def test_files_that_cannot_be_masked_are_left_to_their_owner(self, run, tmp_path):
        (result,) = run("ln -s nowhere {reports}/link; mkfifo {reports}/pipe; rm -f {reports}/../output/tests.stderr")
        assert result.finished.exit_code == 0
