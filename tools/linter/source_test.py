"""Tests of how files are taken apart: what is code, what prose, what a function."""

import unittest

from cpp_source import CppSource
from text_source import TextSource
from tree_for_test import rules_found

GATEWAY = "core/gateway/budget.cc"


class Source(unittest.TestCase):
    def test_literals_and_comments_are_not_code(self):
        for text in ('auto s = "rand()";', 'auto s = R"lua(rand() "x" )lua";', "/* rand() */", "// rand()"):
            self.assertNotIn("randomness", rules_found(GATEWAY, text), text)

    def test_code_after_tricky_literals_is_still_code(self):
        for text in ("char c = '\"'; rand();", "int n = 1'000; rand();", 'auto s = "\\""; rand();', "int b = 0xF'F; rand();"):
            self.assertEqual(["randomness"], rules_found(GATEWAY, text), text)

    def test_functions_are_found_with_their_length(self):
        text = (
            "namespace redouble {\nstruct Row {\n  int Get() const { return 1; }\n};\n"
            "template <typename T>\nT Make(T value) {\n  auto f = [&] { return value; };\n  return f();\n}\n"
            "#define TWICE(x) {\\\n  x; x; }\nTEST(Row, Gets) {\n}\nconst Row kRow = {};\n}  // namespace redouble\n"
        )
        found = [(f.name, f.line, f.length) for f in CppSource("x.cc", text).functions()]
        self.assertEqual([("Get", 3, 1), ("Make", 5, 5), ("TEST", 12, 2)], found)

    def test_includes_lose_the_name_of_the_project(self):
        text = '#include <string>\n#include "redouble/core/a.h"\n// #include "x.h"\n#include "core/b.h"\n'
        found = [tuple(include) for include in CppSource("x.cc", text).includes()]
        self.assertEqual([(1, "string", False), (2, "core/a.h", True), (4, "core/b.h", False)], found)

    def test_examples_include_each_other_by_name(self):
        text = '#include "cart.h"\n#include <unistd.h>\n'
        found = [tuple(include) for include in CppSource("tests/examples/a.cc", text).includes()]
        self.assertEqual([(1, "tests/examples/cart.h", True), (2, "unistd.h", False)], found)

    def test_the_leading_comment_ends_at_the_first_other_line(self):
        self.assertEqual(["// A", "//", "// B"], [c.text for c in CppSource("x.h", "// A\n//\n// B\n\n// C").leading_comment()])

    def test_comments_of_scripts_for_node_are_prose(self):
        text = 'const url = "redis://host"; // One.\n/** Two\n * three. */\ncall();\n'
        source = TextSource("x.cjs", text)
        self.assertEqual([(1, "// One."), (2, "/** Two"), (3, "* three. */")], [tuple(c) for c in source.comments])
        self.assertEqual('const url = "redis://host"; \n\ncall();\n', source.code)


if __name__ == "__main__":
    unittest.main()
