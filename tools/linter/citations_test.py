"""Examples for the rules about prose: what is cited, what is named, and how it is said."""

import unittest

from text_source import Page, github_anchor
from tree_for_test import TreeForTest, findings, rules_found

GATEWAY = "core/gateway/budget.cc"
PAGE = "docs/systems/gateway.md"
SECTIONS = "## 4 Operations\n### 4.2 Check a budget\n### 4.3 Spend\n## 5 Hazards\n### R1 A\n### R2 B\n### R3 C\n"
TEXTS = {
    PAGE: SECTIONS,
    "docs/serve.md": "# Serve\n## The SIM commands\n## The SIM commands\n",
    "core/gateway/keys.h": "class Keys {\n public:\n  int Find() const;\n};\n",
    "core/gateway/keys.cc": "int Keys::Find() const { return Parse(1); }\n",
    "core/gateway/rows.inc": "ROW(Plain)\n",
    "core/gateway/BUILD.bazel": 'redouble_library(name = "key_names", srcs = ["keys.cc"])\n',
}

# As in lint_test.py, and the other files of the tree.
CITATION_EXAMPLES = {
    "cited-path": [
        (GATEWAY, "\n// See core/gateway/gone.h.", 2, "core/gateway/gone.h", GATEWAY, "// See core/gateway/keys.h.", TEXTS),
        (GATEWAY, "// Of core/gateway/{keys,gone}/x.h", 1, "core/gateway/{keys,gone}",
         GATEWAY, "// core/gateway, core/gateway/, core/gateway/keys, core/gateway/*.h, core/gateway/keys.{h,cc}, core/...",
         TEXTS),
        (GATEWAY, "// Of //core/gateway:gone", 1, "//core/gateway:gone",
         GATEWAY, "// //core/gateway:key_names, //core/gateway:keys.h, core/gateway/keys.h:12, //core/gateway:all", TEXTS),
        (GATEWAY, "// Source: reference/gateway.md 3", 1, "reference/gateway.md",
         GATEWAY, "// By reference, in core/gateway/<name>.h or core/gateway/NAME.cc", TEXTS),
        (GATEWAY, '// Source: seed 002 "Keys"', 1, "seed 002", GATEWAY, "// A seed of 2; https://host/docs/x.md", TEXTS),
        (GATEWAY, "// Source: gateway.md 7 R3", 1, "docs/systems/gateway.md", GATEWAY, f"// Source: {PAGE} R3", TEXTS),
        (GATEWAY, 'auto s = "gateway.md 2";', 1, "gateway.md", GATEWAY, 'auto s = "core/gone.h";', TEXTS),
        ("docs/a.md", "[x](gone.md)", 1, "the link gone.md", "docs/a.md", "[x](serve.md), [y](../core), `[z](gone.md)`", TEXTS),
        ("docs/a.md", "[x](serve.md#gone)", 1, "the anchor serve.md#gone",
         "docs/a.md", "# A `B`, c\n[x](serve.md#the-sim-commands-1) [y](#a-b-c)", TEXTS),
        ("bench/a.py", '"""Of docs/gone.md."""', 1, "docs/gone.md", "bench/a.py", 'path = "docs/gone.md"', TEXTS),
        ("bench/BUILD.bazel", "\n# Of docs/gone.md", 2, "docs/gone.md", "bench/BUILD.bazel", "# Of docs/serve.md", TEXTS),
        ("tests/a.sh", "x=1  # of docs/gone.md", 1, "docs/gone.md", "tests/a.sh", "x=${y#docs/gone.md}", TEXTS),
        ("core/a.lua", "-- of docs/gone.md", 1, "docs/gone.md", "core/a.lua", "local a = 'docs/gone.md'", TEXTS),
        ("scenarios/a.json", '{\n "source": "docs/gone.md"}', 2, "docs/gone.md",
         "scenarios/a.json", '{"source": "docs/serve.md", "name": "docs/gone.md"}', TEXTS),
    ],
    "cited-section": [
        (GATEWAY, f"// Source: {PAGE} 4.7.", 1, "gateway.md has no section 4.7", GATEWAY, f"// Source: {PAGE} 4.2.", TEXTS),
        (GATEWAY, f"// Source: {PAGE} 4.2, 4.3 and R9", 1, "no section R9",
         GATEWAY, f"// Source: {PAGE} 4.2, 4.3 and R1; {PAGE} 4 counts 12 keys", TEXTS),
        (GATEWAY, f"// Source: {PAGE} R1 to R4", 1, "no section R4", GATEWAY, f"// Source: {PAGE} R1 to R3", TEXTS),
        (GATEWAY, f"// Source: {PAGE}\n// 4.9.", 1, "no section 4.9", GATEWAY, f"// Source: {PAGE} 4.2,\n// 4.3.", TEXTS),
        (GATEWAY, "// Removes R8.", 1, "no section R8", GATEWAY, "// Removes R2; UTF-8, U8 and R2D2.", TEXTS),
        ("scenarios/x.jsonl", f'{{"source": "{PAGE} R7"}}', 1, "no section R7",
         "scenarios/x.jsonl", f'{{"source": "{PAGE} R1"}}', TEXTS),
    ],
    "cited-name": [
        (GATEWAY, "// See Lose().", 1, "Lose", GATEWAY, "// See Find(), Parse() and absl::Lose().", TEXTS),
        (GATEWAY, "\n// See Keys::Lose.", 2, "Keys::Lose", GATEWAY, "// See Keys::Find, Keys::kPlain and std::find.", TEXTS),
        (GATEWAY, "// See `Lose(keys)`.", 1, "Lose", GATEWAY, "// See `Find(keys)` and `KeyNames`.\nint KeyNames;", TEXTS),
        (GATEWAY, "// See `KeyNames`.", 1, "KeyNames", GATEWAY, "// See `INCR` and `String`, of GoogleTest.", TEXTS),
        (GATEWAY, "// A KeyNames holds all.", 1, "KeyNames", GATEWAY, '// "KeyNames" in scripts/KeyNames.x', TEXTS),
        (GATEWAY, "//     keys.Lose(1);", 1, "Lose", GATEWAY, "//     if (keys.Find(1)) GoHome();", TEXTS),
        ("docs/a.md", "`Keys::Lose`", 1, "Keys::Lose", "docs/a.md", "`Keys::Find`, Lose(), `DuplicateError`\n```\nLose()\n```", TEXTS),
    ],
    "plain-english": [
        (GATEWAY, "// The reply that nobody reads.", 1, '"nobody", write', GATEWAY, 'auto s = "nobody";  // `nobody`'),
        (GATEWAY, "\n// Retries and their like.", 2, '"their like"', GATEWAY, "// They like it."),
        (GATEWAY, "// It goes on with that.", 1, "continues with", GATEWAY, "// It goes on; a set of old keys."),
        ("docs/a.md", "Whoever reads", 1, '"Whoever"', "docs/a.md", "The client that reads `whoever`\n```\nnobody\n```"),
        ("core/BUILD.bazel", "# It tells of keys.", 1, "tells of", "core/BUILD.bazel", "# It reports keys."),
    ],
    "thread-safety": [
        ("core/gateway/a.h", "// A: one.\n// Two.\n// Three.\n\n// Thread-safety: no.", 1, "no `Thread-safety:`",
         "core/gateway/a.h", "// A: one.\n// Two.\n// Three.\n//\n// Thread-safety: constant.\n#ifndef X"),
    ],
    # Blank lines, thread-safety and source are not counted; an example is.
    "introduction": [
        ("core/gateway/a.h", "// A: one.\n// Two.\n//\n// Thread-safety: constant.\n// Source: Redis.\n#ifndef X", 1,
         "an introduction of 2 lines",
         "core/gateway/a.h", "// A: one.\n// Two.\n//\n//   A();\n//\n// Thread-safety: constant.\n#ifndef X"),
        ("include/redouble/a.h", "// A: one.\n//\n// Thread-safety: if you call\n// it from one thread.\n", 1, "of 1 lines",
         "backends/memory/commands/a_for_test.h", "// A: one.\n//\n// Thread-safety: constant.\n"),
        ("backends/memory/commands/a.h", "// A: one.\n//\n// Thread-safety: constant.\n", 1, "of 1 lines",
         "sim/cli/serve/a.h", "// A: one.\n// Two.\n//\n//   A();\n//\n// Thread-safety: constant.\n"),
    ],
    "table-readers": [
        ("core/gateway/rows.inc", "// Rows.\nROW(1)", 1, "core/gateway/r.cc includes it and is not",
         "core/gateway/rows.inc", "// Rows.\n// Readers: core/gateway/r.cc.\nROW(1)",
         {"core/gateway/r.cc": '#include "redouble/core/gateway/rows.inc"'}),
        ("core/gateway/rows.inc", "// Readers: core/gateway/r.cc,\n// core/gateway/s.h.", 1, "core/gateway/s.h is among",
         "core/gateway/rows.inc", "// Rows.\n//\n// Readers:\n//   core/gateway/r.cc\n// R2.",
         {"core/gateway/r.cc": '#include "redouble/core/gateway/rows.inc"'}),
    ],
}


class Sources(unittest.TestCase):
    def test_a_page_has_the_anchors_of_github(self):
        for heading, anchor in [("4.2 Check a budget", "42-check-a-budget"), ("`HELLO 3`, and more!", "hello-3-and-more"),
                                ("[A link](x.md) & _b_", "a-link--b"), ("snake_case - dash", "snake_case---dash")]:
            self.assertEqual(anchor, github_anchor(heading))

    def test_headings_and_links_in_fences_do_not_count(self):
        page = Page("a.md", "# One\n```sh\n# Two\n[x](y)\n```\n## R1 Three\n")
        self.assertEqual([(1, "One"), (6, "R1 Three")], page.headings)
        self.assertEqual([], page.links)
        self.assertEqual({"R1"}, page.section_ids)

    def test_relayna_and_studio_share_their_ids(self):
        texts = {"docs/systems/relayna.md": "### I1 A\n", "docs/systems/studio.md": "### I2 B\n"}
        self.assertEqual([], rules_found("core/studio/a.cc", "// I1 and I2.", texts))
        self.assertEqual(["cited-section"], rules_found("core/relayna/a.cc", "// I3.", texts))

    def test_a_path_that_is_cited_twice_in_two_lines_is_two_findings(self):
        found = [f for f in findings(GATEWAY, "// core/a.h\n// core/a.h", TEXTS) if f[1] == "cited-path"]
        self.assertEqual([1, 2], [f[0] for f in found])

    def test_a_member_of_a_base_class_is_found_where_the_base_is_included(self):
        texts = {
            "core/gateway/base.h": "class Base {\n  void Close();\n};",
            "core/gateway/child.h": '#include "redouble/core/gateway/base.h"\nclass Child : public Base {};',
        }
        self.assertEqual([], rules_found(GATEWAY, "// Child::Close ends it.", texts))
        self.assertEqual(["cited-name"], rules_found(GATEWAY, "// Child::Open begins it.\nvoid Open();", texts))

    def test_whether_a_path_exists(self):
        tree = TreeForTest(TEXTS)
        for path in ("core", "core/gateway/", "core/gateway/keys", "core/*/keys.*", "core/gateway/{keys,rows}.*"):
            self.assertTrue(tree.exists(path), path)
        for path in ("cor", "core/gate", "core/gateway/key", "core/*/gone.*", "core/gateway/keys.cpp"):
            self.assertFalse(tree.exists(path), path)


if __name__ == "__main__":
    unittest.main()
