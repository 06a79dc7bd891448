"""Checks that the examples of the pages are equal to code that compiles and runs.

A block that follows a line `<!-- FILE: NAME -->` must equal the lines of FILE between `[readme: NAME]`
and `[end]`, which are comments of their own, without the common indentation. After `<!-- FILE -->`
it must equal the whole file. In C++ every block has such a line.
"""

import glob
import re
import textwrap
import unittest

EXAMPLES = re.compile(r"<!-- (?P<file>[^\s:]+)(?:: (?P<name>[^\n]*?))? -->\n```\w+\n(?P<code>.*?)```", re.S)

# Its Python examples are methods of a test case, which tests/serve/document_test.py compares.
OTHER_TESTS = {"docs/serve.md"}


def region(path, name):
    """The text of one region of an example, or of a whole file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if name is None:
        return text
    found = re.search(rf"(?://|#) \[readme: {re.escape(name)}\]\n(.*?)[ ]*(?://|#) \[end\]", text, re.S)
    if not found:
        raise AssertionError(f"{path} has no region [readme: {name}]")
    return textwrap.dedent(found.group(1))


class ReadmeTest(unittest.TestCase):
    def pages(self):
        """(path, text) of each page that this test checks."""
        for path in sorted({"README.md", "backends/redis/README.md", *glob.glob("docs/**/*.md", recursive=True)}):
            if path not in OTHER_TESTS:
                with open(path, encoding="utf-8") as file:
                    yield path, file.read()

    def test_every_example_is_cut_from_a_file(self):
        count = 0
        for path, text in self.pages():
            for example in EXAMPLES.finditer(text):
                count += 1
                with self.subTest(page=path, file=example["file"], name=example["name"]):
                    self.assertEqual(region(example["file"], example["name"]).strip("\n"),
                                     example["code"].strip("\n"))
        self.assertGreater(count, 30)

    def test_every_example_in_cpp_names_a_file(self):
        for path, text in self.pages():
            named = sum("```cpp" in example.group(0) for example in EXAMPLES.finditer(text))
            self.assertEqual(named, text.count("```cpp"), f"{path}: a snippet names no example")

    def test_each_system_has_a_short_program_for_both_backends(self):
        systems = [(path, text) for path, text in self.pages() if path.startswith("docs/systems/")]
        self.assertEqual(len(systems), 6)
        for path, text in systems:
            parts = {(example["name"] or "").split(" ", 1)[-1]: example["code"] for example in EXAMPLES.finditer(text)}
            with self.subTest(page=path):
                self.assertLessEqual({"program", "live"}, set(parts))
                self.assertTrue({"memory", "in memory"} & set(parts), f"{path} runs nothing in memory")
                self.assertLessEqual(parts["program"].strip("\n").count("\n") + 1, 30)

    def test_each_guide_has_examples(self):
        guides = [(path, text) for path, text in self.pages() if re.match("docs/(guides|howto|clients|migrate)/", path)]
        self.assertGreater(len(guides), 15)
        for path, text in guides:
            self.assertTrue(EXAMPLES.search(text), f"{path} has no example that a test runs")


if __name__ == "__main__":
    unittest.main()
