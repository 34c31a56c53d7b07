import unittest

from textkit.slug import slug, unique


class SlugTest(unittest.TestCase):
    def test_lower_case(self):
        self.assertEqual(slug("Hello, World!"), "hello-world")

    def test_accents(self):
        self.assertEqual(slug("Crème brûlée"), "creme-brulee")

    def test_limit(self):
        self.assertEqual(slug("one two three", limit=8), "one-two")

    def test_unique(self):
        self.assertEqual(unique("a", {"a", "a-2"}), "a-3")

    def test_unique_already(self):
        self.assertEqual(unique("b", {"a"}), "b")
