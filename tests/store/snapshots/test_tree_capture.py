"""The tree that an index is."""

import pytest

from ralph_tracker.store.git.index import IndexTree


class Writer:
    """Stand in for git: number the trees, and write the index as it does."""

    def __init__(self, index, after=None):
        self.index, self.after, self.asked = index, after, 0

    def run(self, verb):
        assert verb == "write-tree"
        self.asked += 1
        if self.after is not None:
            self.index.write_bytes(self.after)
        return f"tree {self.asked}\n".encode()


@pytest.mark.parametrize("after", [None, b"with its trees" + b"t" * 20], ids=["left alone", "written by write-tree"])
def test_git_is_asked_once_while_the_index_stays_as_it_is(tmp_path, after):
    index = tmp_path / "index"
    index.write_bytes(b"entries" + b"a" * 20)
    git = Writer(index, after)
    tree = IndexTree(git, index)
    assert [tree.write(), tree.write(), git.asked] == ["tree 1", "tree 1", 1]


def test_git_is_asked_again_when_the_hash_at_the_end_is_another(tmp_path):
    index = tmp_path / "index"
    index.write_bytes(b"entries" + b"a" * 20)
    tree = IndexTree(Writer(index), index)
    assert tree.write() == "tree 1"
    index.write_bytes(b"entries" + b"b" * 20)
    assert tree.write() == "tree 2"


def test_there_may_be_no_index_yet(tmp_path):
    index = tmp_path / "index"
    tree = IndexTree(Writer(index), index)
    assert tree.write() == "tree 1"
    index.write_bytes(b"entries" + b"a" * 20)
    assert tree.write() == "tree 2"
