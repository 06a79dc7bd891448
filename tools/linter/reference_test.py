"""Tests of what the public interface is, and of the names that it must describe."""

import unittest

from reference import as_doxygen, public_headers
from tree_for_test import TreeForTest, tree_findings


def found(text):
    """The undescribed names of a public header with this text."""
    findings = tree_findings({"include/redouble/a.h": text}, "undocumented-name")
    return [(line, what.split(" ")[0]) for _, line, what in findings]


class PublicHeaders(unittest.TestCase):
    def test_are_those_of_include_and_what_they_reach(self):
        tree = TreeForTest({
            "include/redouble/a.h": '#include "redouble/b.h"\n#include "redouble/core/c.h"\n#include <vector>\n',
            "include/redouble/b.h": "",
            "core/c.h": '#include "redouble/core/d.h"\n#include "redouble/core/generated.h"\n#include "redouble/core/t.inc"\n',
            "core/d.h": '#include "redouble/core/c.h"\n',
            "core/e.h": "",
            "core/t.inc": "",
        })
        self.assertEqual(["core/c.h", "core/d.h", "include/redouble/a.h", "include/redouble/b.h"], public_headers(tree))


class DocumentedNames(unittest.TestCase):
    def test_each_kind_of_name_is_found(self):
        for text, name in (("class A {\n};", "A"), ("struct B final : C {\n  int x;\n};", "B"), ("enum class C { kA };", "C"),
                           ("template <typename T>\nclass D {\n};", "D"), ("using E = int;", "E"),
                           ("int F(int x);", "F"), ("inline bool G() { return true; }", "G"),
                           ("base::Task<absl::StatusOr<int>> H(Store& store,\n    int x = {});", "H"),
                           ("inline constexpr int kI = 1;", "kI"), ("constexpr char kJ[] = {1, 2};", "kJ")):
            self.assertEqual([(2, name)], found(f"namespace a {{\n{text}\n}}  // namespace a\n"), text)
            self.assertEqual([(2, name)], found(f"namespace a::inline v0_1::b {{\n{text}\n}}\n"), text)

    def test_a_comment_above_or_behind_describes(self):
        self.assertEqual([], found("namespace a {\n// One.\nclass A;\n// Two.\nclass A {\n};\nint F();  // Three.\n}\n"))

    def test_a_comment_above_a_group_describes_all_of_it(self):
        text = "namespace a {\n// Both.\nint F();\nint G() {\n  return 1;\n}\n\nint H();\n}\n"
        self.assertEqual([(8, "H")], found(text))

    def test_the_introduction_describes_what_it_names(self):
        text = "// A: what it is. Use MakeA() to make one.\nnamespace a {\nclass A {};\n\nA MakeA();\n\nA MakeB();\n}\n"
        self.assertEqual([(7, "MakeB")], found(text))

    def test_members_and_internal_names_need_none(self):
        self.assertEqual([], found("// A.\nnamespace a {\nnamespace internal {\nint F();\n}\nclass A {\n  int F() { return G(); }\n};\n}\n"))

    def test_what_declares_no_name_needs_none(self):
        self.assertEqual([], found("namespace a {\nclass B;\n\nusing std::string;\n\nbool operator==(A, A);\n\nfriend class C;\n}\n"))

    def test_options_are_named_after_what_takes_them(self):
        self.assertEqual([(3, "Limits")], found("namespace a {\nstruct RunOptions {};\nstruct Limits {};\n}\n"))

    def test_headers_that_are_not_public_and_the_systems_need_none(self):
        self.assertEqual([], tree_findings({"core/a.h": "int F();\n"}, "undocumented-name"))
        public = {"include/redouble/korvet.h": '#include "redouble/core/korvet/a.h"\n', "core/korvet/a.h": "int F();\n"}
        self.assertEqual([], tree_findings(public, "undocumented-name"))


class Doxygen(unittest.TestCase):
    def test_comments_become_those_of_doxygen(self):
        text = '// A: it.\n#define A\n  // Adds.\n  int n = 0;  // Bytes.\n  std::string url = "redis://host";\n'
        self.assertEqual('/// @file\n/// A: it.\n#define A\n  /// Adds.\n  int n = 0;  ///< Bytes.\n'
                         '  std::string url = "redis://host";\n', as_doxygen(text))


if __name__ == "__main__":
    unittest.main()
