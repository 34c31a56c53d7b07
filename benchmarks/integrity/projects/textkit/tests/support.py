import unittest

from textkit.table import from_text, to_text


class TextCase(unittest.TestCase):
    def assert_lines(self, lines, width):
        self.assertTrue(lines)
        for line in lines:
            self.assertLessEqual(len(line), width)

    def assert_there_and_back(self, rows):
        self.assertEqual([[cell.strip() for cell in row if cell] for row in from_text(to_text(rows))], rows)
