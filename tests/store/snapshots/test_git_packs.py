"""A pack whose contents are not where it says is found out, and does not stay."""

import os
import shutil
import subprocess
import zlib

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.packs import new_packs_checked


@pytest.fixture
def store(tmp_path):
    """Return a bare git directory."""
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "s.git"], check=True)
    return tmp_path / "s.git"


def packed(store, contents, name="a"):
    """Put contents into one new pack by git itself, in that order, and return its listing."""
    before = set(store.glob("objects/pack/*.idx"))
    for number, content in enumerate(contents):
        (store.parent / f"{name}-{number}").write_bytes(content)
    files = "".join(f"{name}-{number}\n" for number in range(len(contents)))
    git = ["git", "-C", str(store.parent), "--git-dir", str(store), "-c", "core.bigFileThreshold=1"]
    git += ["--work-tree", str(store.parent), "-c", "core.autocrlf=false"]
    subprocess.run([*git, "update-index", "--add", "--stdin"], input=files.encode(), check=True)
    (listing,) = set(store.glob("objects/pack/*.idx")) - before
    return listing


def with_a_stale_content(listing, stale):
    """Make of a pack what git makes where a content cannot be cut out again: it stays in front of the last one."""
    names, pack = bytearray(listing.read_bytes()), listing.with_suffix(".pack").read_bytes()
    count = int.from_bytes(names[1028:1032], "big")
    at = 1032 + count * 24
    last = max(int.from_bytes(names[at + 4 * n : at + 4 * n + 4], "big") for n in range(count))
    entry = bytes([0x30 | len(stale)]) + zlib.compress(stale)  # a content of up to 15 bytes
    listing.with_suffix(".pack").chmod(0o644)
    listing.with_suffix(".pack").write_bytes(pack[:last] + entry + pack[last:])


CONTENTS = {
    "few": [b"one\n", b"two\n", b"three\n"],
    "one": [b"alone\n"],
    "empty ones among them": [b"", b"one\n"],
    "large ones": [os.urandom(3 << 20), b"\0" * (5 << 20), b"small\n"],
    "that ends with a large one": [b"small\n", os.urandom((1 << 20) + 1)],
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_pack_of_git_is_let_be(store, name):
    with new_packs_checked(store / "objects" / "pack", store / "index"):
        listing = packed(store, CONTENTS[name])
    assert listing.exists()
    assert (store / "index").exists()


@pytest.mark.parametrize("stale", [b"x", b"fifteen bytes.."], ids=["short", "as long as others"])
@pytest.mark.parametrize("name", ["few", "one", "that ends with a large one"])
def test_one_with_a_stale_content_is_taken_away_with_the_index_that_names_it(store, name, stale):
    def written():
        with new_packs_checked(store / "objects" / "pack", store / "index"):
            with_a_stale_content(packed(store, CONTENTS[name]), stale)

    with pytest.raises(StoreError, match=r"pack-\w+\.pack: the system refused a part of it; look at free space"):
        written()
    assert list((store / "objects" / "pack").iterdir()) == []
    assert not (store / "index").exists()


def test_one_that_is_cut_short_is_found_out(store):
    def written():
        with new_packs_checked(store / "objects" / "pack", store / "index"):
            pack = packed(store, CONTENTS["few"]).with_suffix(".pack")
            pack.chmod(0o644)
            pack.write_bytes(pack.read_bytes()[:-24])

    with pytest.raises(StoreError):
        written()


def test_a_content_that_is_not_where_the_listing_says_is_found_out_in_the_middle_too(store):
    """Git comes back to the right places behind the next content that it can cut out."""

    def written():
        with new_packs_checked(store / "objects" / "pack", store / "index"):
            listing = packed(store, CONTENTS["few"])
            names = bytearray(listing.read_bytes())
            at = 1032 + 3 * 24
            places = [int.from_bytes(names[at + 4 * n : at + 4 * n + 4], "big") for n in range(3)]
            middle = places.index(sorted(places)[1])
            names[at + 4 * middle : at + 4 * middle + 4] = min(places).to_bytes(4, "big")
            listing.chmod(0o644)
            listing.write_bytes(names)

    with pytest.raises(StoreError):
        written()


def test_what_was_there_before_is_not_looked_at_again(store):
    old = packed(store, CONTENTS["few"])
    with_a_stale_content(old, b"x")
    with new_packs_checked(store / "objects" / "pack", store / "index"):
        new = packed(store, [b"other\n"], "b")
    assert old.exists()
    assert new.exists()


def test_an_error_of_git_itself_passes_through(store):
    with pytest.raises(StoreError, match="git says"), new_packs_checked(store / "objects" / "pack", store / "index"):
        raise StoreError("git says")


def test_a_store_without_packs_has_none(tmp_path):
    with new_packs_checked(tmp_path / "none", tmp_path / "index"):
        pass


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_git_itself_writes_such_a_pack_where_the_system_refuses_to_cut(store):
    """Between two contents that it has already, the new one is listed where another lies."""
    for name, content in {"a": "known", "b": "new", "c": "known too"}.items():
        (store.parent / name).write_text(content)
    git = ["git", "-C", str(store.parent), "--git-dir", str(store), "--work-tree", str(store.parent)]
    subprocess.run([*git, "hash-object", "-w", "a", "c"], check=True, capture_output=True)
    strace = ["strace", "-f", "-o", str(store.parent / "log"), "-e", "inject=ftruncate:error=ENOSPC:when=1"]

    def written():
        with new_packs_checked(store / "objects" / "pack", store / "index"):
            words = [*strace, *git, "-c", "core.bigFileThreshold=1", "update-index", "--add", "a", "b", "c"]
            done = subprocess.run(words, check=False, capture_output=True)
            if "INJECTED" not in (store.parent / "log").read_text():
                pytest.skip(f"nothing may be traced here: {done.stderr.decode()[:100]}")
            assert done.returncode == 0

    with pytest.raises(StoreError, match="the system refused a part of it"):
        written()
    assert not (store / "index").exists()
