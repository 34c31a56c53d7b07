from tests.support import TextCase
from textkit.wrap import indent, wrap


class WrapTest(TextCase):
    def test_between_words(self):
        self.assertEqual(wrap("the quick brown fox", 10), ["the quick", "brown fox"])

    def test_never_wider(self):
        self.assert_lines(wrap("a bb cc dddd eeeee", 6), 6)

    def test_long_word(self):
        self.assertEqual(wrap("incomprehensible", 10), ["incomprehe", "nsible"])

    def test_nothing(self):
        self.assertEqual(wrap("", 10), [])


class IndentTest(TextCase):
    def test_indent(self):
        self.assertEqual(indent("a\nb"), "  a\n  b")

    def test_empty_lines_stay_empty(self):
        self.assertEqual(indent("a\n\nb"), "  a\n\n  b")
