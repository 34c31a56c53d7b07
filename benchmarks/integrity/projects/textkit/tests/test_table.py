from tests.support import TextCase
from textkit.table import Version, to_text


class TableTest(TextCase):
    def test_columns(self):
        self.assertEqual(to_text([["a", "b"], ["ccc", "d"]]), "a    b\nccc  d")

    def test_there_and_back(self):
        self.assert_there_and_back([["name", "age"], ["Ada", "36"]])


class VersionTest(TextCase):
    def test_equal(self):
        self.assertEqual(Version("1.2"), Version("1.2"))

    def test_order(self):
        self.assertLess(Version("1.9"), Version("1.10"))
