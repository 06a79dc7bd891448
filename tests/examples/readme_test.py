"""The C++ of the pages is cut from examples that compile and run: this holds the two against each other.

A code block of a page behind a line `<!-- FILE: NAME -->` must be what stands in FILE between
`// [readme: NAME]` and `// [end]`, without the common indentation.
"""

import re
import textwrap
import unittest

EXAMPLES = re.compile(r"<!-- (?P<file>\S+): (?P<name>[^\n]*?) -->\n```cpp\n(?P<code>.*?)```", re.S)


def region(path, name):
    """The text of one region of an example."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"// \[readme: {re.escape(name)}\]\n(.*?)[ ]*// \[end\]", text, re.S)
    if not found:
        raise AssertionError(f"{path} has no region [readme: {name}]")
    return textwrap.dedent(found.group(1))


class ReadmeTest(unittest.TestCase):
    def test_every_snippet_is_cut_from_an_example(self):
        pages = {"README.md": 3, "backends/redis/README.md": 2, "docs/finding_a_race.md": 5}
        for path, least in pages.items():
            with open(path, encoding="utf-8") as file:
                readme = file.read()
            examples = list(EXAMPLES.finditer(readme))
            self.assertEqual(len(examples), readme.count("```cpp"), f"{path}: a snippet names no example")
            self.assertGreaterEqual(len(examples), least, path)
            for example in examples:
                with self.subTest(example["name"]):
                    self.assertEqual(region(example["file"], example["name"]), example["code"])


if __name__ == "__main__":
    unittest.main()
