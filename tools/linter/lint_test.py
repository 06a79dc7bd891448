"""The lint's own tests: every rule fires on a small bad example, names the line, and leaves the good one alone."""

import io
import os
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

import lint
from cpp_source import CppSource
from rules import MAX_FILE_LINES, MAX_FUNCTION_LINES, RULES


class FakeTree:
    """A tree of given texts whose compiler answers what it is told."""

    def __init__(self, error=None, **texts):
        self._error = error
        self._texts = texts

    def source(self, path):
        text = self._texts.get(path.replace("/", "_").replace(".", "_"))
        return None if text is None else CppSource(path, text)

    def compile_error(self, _):
        return self._error


def findings(path, text, tree=None):
    return lint.lint(CppSource(path, text), tree or FakeTree())


def rules_found(path, text, tree=None):
    return [rule for _, rule, _ in findings(path, text, tree)]


GATEWAY = "core/gateway/budget.cc"
FUNCTION = "int Sum() {\n%s  return 0;\n}\n"

# rule: [(path, bad text, line of the finding, part of the message, path, good text)]
EXAMPLES = {
    "include-direction": [
        ("core/base/task.h", '#include "core/store/command.h"', 1, "core/store/command.h",
         "core/store/command.h", '#include "core/base/task.h"'),
        (GATEWAY, '\n#include "core/korvet/log.h"', 2, "core/korvet/log.h", GATEWAY, '#include "core/gateway/keys.h"'),
        (GATEWAY, '#include "backends/memory/engine.h"', 1, "systems -> core/store",
         "core/gateway/budget_test.cc", '#include "backends/memory/engine.h"'),
        ("backends/memory/engine.cc", '#include "core/gateway/keys.h"', 1, "core/gateway/keys.h",
         "backends/memory/engine.cc", '#include "core/store/command.h"'),
        ("backends/memory/engine.cc", '#include "backends/redis/client.h"', 1, "backends/redis/client.h",
         "tests/live/both_test.cc", '#include "backends/redis/client.h"'),
        ("sim/world.cc", '#include "backends/redis/client.h"', 1, "backends/redis/client.h",
         "sim/cli/main.cc", '#include "backends/redis/client.h"'),
    ],
    "include-asio": [
        ("backends/redis/fsm/link.cc", "#include <boost/asio/buffer.hpp>", 1, "backends/redis/net/",
         "backends/redis/net/link.cc", "#include <boost/asio.hpp>"),
    ],
    "include-hiredis": [
        ("backends/redis/net/link.cc", "#include <hiredis/hiredis.h>", 1, "backends/redis/protocol/",
         "backends/redis/protocol/codec.cc", "#include <hiredis/read.h>"),
    ],
    "include-lua": [
        ("core/store/script.cc", "#include <lua.hpp>", 1, "backends/memory/scripting/",
         "backends/memory/scripting/lua.cc", "#include <lua.hpp>"),
        ("sim/world.cc", '#include "lauxlib.h"', 1, "backends/memory/scripting/", "sim/world.cc", '#include "luau.h"'),
    ],
    "include-platform": [
        ("core/base/task.cc", "#include <thread>", 1, "base::Task", "backends/redis/net/loop.cc", "#include <thread>"),
        ("backends/memory/engine.cc", "#include <sys/socket.h>", 1, "no threads or sockets",
         "core/base/system_clock.cc", "#include <thread>"),
        ("core/base/task.h", "#include <mutex>", 1, "base::Task", "core/base/task_test.cc", "#include <thread>"),
    ],
    "header-guard": [
        ("core/base/task.h", "#ifndef TASK_H\n", 1, "REDOUBLE_CORE_BASE_TASK_H_",
         "core/base/task.h", "#ifndef REDOUBLE_CORE_BASE_TASK_H_\n"),
    ],
    "wall-clock": [
        (GATEWAY, "\nauto now = std::chrono::system_clock::now();", 2, "base::Clock",
         "core/base/system_clock.cc", "auto now = std::chrono::system_clock::now();"),
        (GATEWAY, "absl::Time t = absl::Now();", 1, "absl::Now", "bench/b.cc", "absl::Time t = absl::Now();"),
        (GATEWAY, "long t = time(nullptr);", 1, "time(nullptr)", GATEWAY, "long t = clock.time();"),
        (GATEWAY, "long t = std::time(0);", 1, "std::time(0)", GATEWAY, "long t = Uptime(0);"),
        (GATEWAY, "gettimeofday(&tv, nullptr);", 1, "gettimeofday", GATEWAY, "// gettimeofday is what Redis calls."),
        ("tests/live/x_test.cc", "::clock_gettime(CLOCK_REALTIME, &t);", 1, "clock_gettime",
         "backends/redis/net/timer.cc", "clock_gettime(CLOCK_MONOTONIC, &t);"),
    ],
    "steady-clock": [
        ("sim/world.cc", "auto t = std::chrono::steady_clock::now();", 1, "base::Clock",
         "sim/cli/replay.cc", "auto t = std::chrono::steady_clock::now();"),
    ],
    "sleep": [
        ("tests/live/x_test.cc", "absl::SleepFor(absl::Seconds(1));", 1, "SleepUntil",
         "tests/live/x_test.cc", "clock.SleepFor(absl::Seconds(1));"),
    ],
    "randomness": [
        (GATEWAY, "int n = rand() % 6;", 1, "base::Rng", GATEWAY, "int n = operand() % 6;"),
        (GATEWAY, "std::random_device device;", 1, "std::random_device", GATEWAY, "base::Rng rng(seed);"),
        ("tests/x_test.cc", "absl::BitGen bits;", 1, "absl::BitGen", "bench/x.cc", "absl::BitGen bits;"),
    ],
    "unordered-iteration": [
        (GATEWAY, "absl::flat_hash_map<std::string, std::pair<int, int>> map;\nvoid F() {\n"
         "  for (const auto& [key, value] : map) Print(key);\n}", 3, "absl::btree_map",
         GATEWAY, "absl::btree_map<int, int> map;\nvoid F() { for (auto& row : map) Print(row); }"),
        (GATEWAY, "using Index = absl::flat_hash_set<int>;\nvoid F(const Index& ids) {\n"
         "  for (int id : ids) {\n  }\n}", 3, "unordered ids",
         GATEWAY, "using Index = absl::flat_hash_set<int>;\nbool F(const Index& ids) { return ids.contains(1); }"),
        (GATEWAY, "void F(State& s) {\n  std::unordered_map<int, int> hits;\n  for (auto& hit : s.hits) Print(hit);\n}",
         3, "unordered hits",
         GATEWAY, "void F(std::vector<int>& v) {\n  for (auto it = v.begin(); it != v.end(); ++it) Print(*it);\n}"),
        (GATEWAY, "absl::flat_hash_set<int> ids;\nvoid F() {\n  for (auto it = ids.begin(); it != ids.end(); ++it) G();\n}",
         3, "unordered ids", "bench/x.cc", "std::unordered_map<int, int> m;\nvoid F() { for (auto& r : m) G(r); }"),
    ],
    "function-length": [
        (GATEWAY, "\n" + FUNCTION % ("  Add();\n" * (MAX_FUNCTION_LINES - 2)), 2, "Sum has 71 lines",
         GATEWAY, FUNCTION % ("  Add();\n" * (MAX_FUNCTION_LINES - 3))),
        (GATEWAY, "class Sum {\n  int Get() const {\n" + "    Add();\n" * MAX_FUNCTION_LINES + "  }\n};", 2, "Get has",
         GATEWAY, "class Sum {\n" + "  int a;\n" * 100 + "};\nconst int kRows[] = {\n" + "    1,\n" * 100 + "};"),
    ],
    "file-length": [
        (GATEWAY, "int a;\n" * (MAX_FILE_LINES + 1), MAX_FILE_LINES + 1, "801 lines",
         GATEWAY, "int a;\n" * MAX_FILE_LINES),
    ],
    "todo": [
        (GATEWAY, "int a;  // TODO: more", 1, "TODO", GATEWAY, 'const char* kText = "TODO";'),
    ],
    "dead-code": [
        (GATEWAY, "//  Add(1);", 1, "Add(1);", GATEWAY, "// Add(1) is what the caller wants;"),
        (GATEWAY, "\n// return total;", 2, "return total;", GATEWAY, "// return to the caller."),
        (GATEWAY, "// int total = 0;", 1, "int total = 0;", GATEWAY, "// A total of 0;"),
        (GATEWAY, "// if (done) {", 1, "if (done) {", "core/base/task.h",
         "#ifndef REDOUBLE_CORE_BASE_TASK_H_\n//     Run(task);\n//     if (done) {"),
    ],
    "comment-table": [
        (GATEWAY, "//   | a | 1\n// | | b | 2 |", 1, "make it a list", GATEWAY, "//   | a | 1 |\n//   | b | 2 |"),
        (GATEWAY, "//\n//   finite number | it | | anything else | 0", 2, "make it a list",
         GATEWAY, "//   entry: | flags | value... | count |      the same for all"),
    ],
    "banner": [
        (GATEWAY, "// ------ helpers", 1, "------", GATEWAY, "// The helpers -- all of them."),
    ],
}


class Rules(unittest.TestCase):
    def test_every_rule_has_an_example(self):
        self.assertEqual({rule.id for rule in RULES}, set(EXAMPLES) | {"header-self-contained"})

    def test_every_rule_fires_on_its_bad_example_and_names_line_and_remedy(self):
        for rule, examples in EXAMPLES.items():
            for path, bad, line, message, _, _ in examples:
                with self.subTest(rule=rule, bad=bad):
                    found = [f for f in findings(path, bad) if f[1] == rule]
                    self.assertEqual([line], [f[0] for f in found])
                    self.assertIn(message, found[0][2])
                    self.assertIn(next(r.instead for r in RULES if r.id == rule), found[0][2])

    def test_no_rule_fires_on_its_good_example(self):
        for rule, examples in EXAMPLES.items():
            for _, _, _, _, path, good in examples:
                with self.subTest(rule=rule, good=good):
                    self.assertNotIn(rule, rules_found(path, good))

    def test_a_header_is_first_in_its_source_or_its_test(self):
        header = "#ifndef REDOUBLE_CORE_BASE_TASK_H_\n"
        first = '#include "core/base/task.h"\n#include <string>\n'
        late = '#include <string>\n#include "core/base/task.h"\n'
        path = "core/base/task.h"
        self.assertEqual([], rules_found(path, header, FakeTree(core_base_task_cc=first)))
        self.assertEqual([], rules_found(path, header, FakeTree(core_base_task_test_cc=first)))
        found = findings(path, header, FakeTree(core_base_task_cc=late, core_base_task_test_cc=first))
        self.assertEqual([(1, "header-self-contained")], [f[:2] for f in found])
        self.assertIn("not the first include of core/base/task.cc", found[0][2])

    def test_a_header_without_source_or_test_has_to_compile_alone(self):
        header = "#ifndef REDOUBLE_CORE_BASE_TASK_H_\n"
        self.assertEqual([], rules_found("core/base/task.h", header))
        found = findings("core/base/task.h", header, FakeTree(error="error: 'string' is unknown"))
        self.assertIn("'string' is unknown", found[0][2])

    def test_members_declared_in_the_header_count_in_its_source(self):
        tree = FakeTree(core_gateway_budget_h="class B {\n  absl::flat_hash_map<int, int> rows_;\n};")
        loop = "void B::Print() {\n  for (auto& row : rows_) row.Print();\n}"
        self.assertEqual(["unordered-iteration"], rules_found(GATEWAY, loop, tree))
        self.assertEqual(["unordered-iteration"], rules_found("core/gateway/budget_test.cc", loop, tree))

    def test_members_declared_in_an_included_header_count_but_not_its_parameters(self):
        tree = FakeTree(core_gateway_row_h="struct Row {\n  absl::flat_hash_set<int> hits;\n};")
        text = '#include "core/gateway/row.h"\nvoid F(Row* row, std::vector<int>& hits) {\n  for (int hit : %s) G(hit);\n}'
        self.assertEqual(["unordered-iteration"], rules_found(GATEWAY, text % "row->hits", tree))
        self.assertEqual([], rules_found(GATEWAY, text % "hits", tree))


class Excuses(unittest.TestCase):
    def test_a_reason_excuses_its_line_and_the_next(self):
        self.assertEqual([], rules_found(GATEWAY, "absl::Now();  // lint: wall-clock: shown, not used"))
        self.assertEqual([], rules_found(GATEWAY, "// lint: wall-clock: shown, not used\nabsl::Now();"))

    def test_an_excuse_needs_a_reason(self):
        self.assertEqual(["excuse", "wall-clock"], rules_found(GATEWAY, "absl::Now();  // lint: wall-clock"))

    def test_an_excuse_for_nothing_is_reported(self):
        self.assertEqual(["excuse"], rules_found(GATEWAY, "// lint: wall-clock: not called any more"))

    def test_an_excuse_covers_only_its_rule(self):
        self.assertEqual(["excuse", "wall-clock"], rules_found(GATEWAY, "absl::Now();  // lint: sleep: shown"))


class Source(unittest.TestCase):
    def test_literals_and_comments_are_not_code(self):
        for text in ('auto s = "rand()";', 'auto s = R"lua(rand() "x" )lua";', "/* rand() */", "// rand()"):
            self.assertEqual([], rules_found(GATEWAY, text), text)

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


class Program(unittest.TestCase):
    def run_on(self, files, *arguments):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as cache:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            output = io.StringIO()
            with redirect_stdout(output), mock.patch.object(lint, "_CACHE", cache):
                code = lint.main([root, *arguments])
            return code, output.getvalue()

    def test_prints_file_line_rule_and_remedy(self):
        code, output = self.run_on({GATEWAY: "int a;\nint b = rand();\n"})
        self.assertEqual(1, code)
        self.assertIn(GATEWAY + ":2: randomness: rand( -- take a base::Rng", output)
        self.assertIn("lint: 1 files, 1 findings", output)

    def test_passes_a_clean_tree_and_skips_build_output(self):
        code, output = self.run_on({GATEWAY: "int a;\n", "bazel-out/x.cc": "rand();", ".git/x.cc": "rand();"})
        self.assertEqual((0, "lint: 1 files, 0 findings\n"), (code, output))

    def test_compiles_a_header_that_nothing_else_proves(self):
        guard = "#ifndef REDOUBLE_CORE_BASE_A_H_\n#define REDOUBLE_CORE_BASE_A_H_\n%s\n#endif\n"
        code, output = self.run_on({"core/base/a.h": guard % "inline std::string A();"})
        self.assertEqual(1, code)
        self.assertIn("core/base/a.h:1: header-self-contained: core/base/a.h does not compile alone", output)
        code, output = self.run_on({"core/base/a.h": guard % "#include <string>\nstd::string A();"})
        self.assertEqual(0, code, output)

    def test_remembers_what_compiled_until_something_in_it_changes(self):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as cache:
            def write(path, text):
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)

            write("a.h", '#include "b.h"\nB F();')
            write("b.h", "struct B {};")
            self.assertIsNone(lint.Tree(root, cache).compile_error("a.h"))
            self.assertEqual(1, len(os.listdir(cache)))
            self.assertIsNone(lint.Tree(root, cache).compile_error("a.h"))
            write("b.h", "struct C {};")
            self.assertIn("a.h:2", lint.Tree(root, cache).compile_error("a.h"))
            self.assertEqual(1, len(os.listdir(cache)))


if __name__ == "__main__":
    unittest.main()
