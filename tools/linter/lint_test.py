"""The lint's own tests: every rule fires on a small bad example, names the line, and leaves the good one alone."""

import io
import os
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

import lint
import tree
from citations_test import CITATION_EXAMPLES
from cpp_rules import MAX_FILE_LINES, MAX_FUNCTION_LINES
from folders_test import TREE_EXAMPLES
from rules import FILE_RULES, RULES, TREE_RULES
from tree_for_test import findings, rules_found, tree_findings

GATEWAY = "core/gateway/budget.cc"
BUDGET_TEST = "core/gateway/budget_test.cc"
FUNCTION = "int Sum() {\n%s  return 0;\n}\n"

# rule: [(path, bad text, line of the finding, part of the message, path, good text)]
CPP_EXAMPLES = {
    "include-prefix": [
        (GATEWAY, '#include "core/gateway/keys.h"', 1, "redouble/<path", GATEWAY, '#include "redouble/core/gateway/keys.h"'),
        ("bench/x.cc", '\n#include "tests/support/live.h"', 2, "tests/support/live.h",
         "bench/x.cc", '#include "absl/time/time.h"'),
    ],
    "include-direction": [
        ("core/base/task/task.h", '#include "redouble/core/store/command.h"', 1, "core/store/command.h",
         "core/store/command.h", '#include "redouble/core/base/task/task.h"'),
        (GATEWAY, '\n#include "redouble/core/korvet/log/log.h"', 2, "core/korvet/log/log.h", GATEWAY, '#include "redouble/core/gateway/keys.h"'),
        (GATEWAY, '#include "redouble/backends/memory/engine/engine.h"', 1, "systems -> core/store",
         "core/gateway/budget_test.cc", '#include "redouble/backends/memory/engine/engine.h"'),
        ("backends/memory/engine/engine.cc", '#include "redouble/core/gateway/keys.h"', 1, "core/gateway/keys.h",
         "backends/memory/engine/engine.cc", '#include "redouble/core/store/command.h"'),
        ("backends/memory/engine/engine.cc", '#include "redouble/backends/redis/client.h"', 1, "backends/redis/client.h",
         "tests/live/both_test.cc", '#include "redouble/backends/redis/client.h"'),
        ("sim/server/a.cc", '#include "redouble/backends/redis/client.h"', 1, "backends/redis/client.h",
         "sim/cli/main.cc", '#include "redouble/backends/redis/client.h"'),
        ("sim/world/world.cc", '#include "redouble/sim/scenario/scenario.h"', 1, "the program -> the simulator",
         "sim/scenario/runner.cc", '#include "redouble/sim/world/world.h"'),
        ("sim/cli/main.cc", '#include "redouble/scenarios/listing.h"', 1, "scenarios/listing.h",
         "scenarios/listing.cc", '#include "redouble/sim/cli/main.h"'),
        ("sim/cli/main.cc", '#include "redouble/tests/support/live.h"', 1, "tests/support/live.h",
         "sim/cli/main_test.cc", '#include "redouble/tests/support/live.h"'),
        ("include/redouble/testing.h", '#include "redouble/tests/support/live.h"', 1, "tests/ is not",
         "include/redouble/testing.h", '#include "redouble/backends/testing/backends.h"'),
        ("sim/cluster/cluster_store.h", '#include "redouble/backends/redis/net/client.h"', 1,
         "backends/redis/net/client.h", "sim/cluster/cluster_store.h",
         '#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"'),
        ("sim/testing/redis.h", '#include "redouble/tests/support/live.h"', 1, "tests/support/live.h",
         "sim/testing/redis_test.cc", '#include "redouble/tests/support/live.h"'),
        ("core/gateway/budget.h", '#include "redouble/backends/testing/backends.h"', 1, "backends/testing/backends.h",
         "core/gateway/budget_test.cc", '#include "redouble/backends/testing/backends.h"'),
        ("backends/redis/net/client.h", '#include "redouble/backends/testing/backends.h"', 1, "backends/testing",
         "backends/testing/backends.h", '#include "redouble/backends/redis/net/client.h"'),
    ],
    "abi-namespace": [
        (GATEWAY, "\nnamespace redouble::gateway {\n}\n", 2, "inline v0_1", GATEWAY, "namespace redouble::inline v0_1::gateway {\n}\n"),
        ("tests/x.cc", "namespace redouble::inline v0::tests {}\n", 1, "inline v0_1",
         "tests/x.cc", "namespace redouble { int F(); }\nusing namespace redouble::tests;\n"),
    ],
    "include-asio": [
        ("backends/redis/fsm/link.cc", "#include <boost/asio/buffer.hpp>", 1, "backends/redis/net/",
         "backends/redis/net/link.cc", "#include <boost/asio.hpp>"),
    ],
    "include-hiredis": [
        ("backends/redis/net/link.cc", "#include <hiredis/hiredis.h>", 1, "core/store/resp/",
         "bench/raw_hiredis.cc", "#include <hiredis/hiredis.h>"),
    ],
    "include-lua": [
        ("core/store/script.cc", "#include <lua.hpp>", 1, "backends/memory/scripting/",
         "backends/memory/scripting/lua.cc", "#include <lua.hpp>"),
        ("sim/world.cc", '#include "lauxlib.h"', 1, "backends/memory/scripting/", "sim/world.cc", '#include "luau.h"'),
    ],
    "include-platform": [
        ("core/base/task.cc", "#include <thread>", 1, "base::Task", "backends/redis/net/loop.cc", "#include <thread>"),
        ("backends/memory/engine/engine.cc", "#include <sys/socket.h>", 1, "no threads or sockets",
         "core/base/time/system_clock.cc", "#include <thread>"),
        ("core/base/task/task.h", "#include <mutex>", 1, "base::Task", "core/base/task/task_test.cc", "#include <thread>"),
    ],
    "header-guard": [
        ("core/base/task/task.h", "#ifndef TASK_H\n", 1, "REDOUBLE_CORE_BASE_TASK_TASK_H_",
         "core/base/task/task.h", "#ifndef REDOUBLE_CORE_BASE_TASK_TASK_H_\n"),
    ],
    "wall-clock": [
        (GATEWAY, "\nauto now = std::chrono::system_clock::now();", 2, "base::Clock",
         "core/base/time/system_clock.cc", "auto now = std::chrono::system_clock::now();"),
        (GATEWAY, "absl::Time t = absl::Now();", 1, "absl::Now", "bench/b.cc", "absl::Time t = absl::Now();"),
        (GATEWAY, "long t = time(nullptr);", 1, "time(nullptr)", GATEWAY, "long t = clock.time();"),
        (GATEWAY, "long t = std::time(0);", 1, "std::time(0)", GATEWAY, "long t = Uptime(0);"),
        (GATEWAY, "gettimeofday(&tv, nullptr);", 1, "gettimeofday", GATEWAY, "// gettimeofday is what Redis calls."),
        ("tests/live/x_test.cc", "::clock_gettime(CLOCK_REALTIME, &t);", 1, "clock_gettime",
         "backends/redis/net/timer.cc", "clock_gettime(CLOCK_MONOTONIC, &t);"),
    ],
    "steady-clock": [
        ("sim/world.cc", "auto t = std::chrono::steady_clock::now();", 1, "base::Clock",
         "sim/cli/replay/replay.cc", "auto t = std::chrono::steady_clock::now();"),
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
    "conditional-await": [
        (GATEWAY, "auto status = late ? co_await A() : co_await B();", 1, "g++ 12",
         GATEWAY, "auto status = co_await A(late ? 1 : 2);"),
        ("tests/x_test.cc", "co_return found\n    ? 1 : co_await B();", 2, "`if`",
         "tests/x_test.cc", "const int n = found ? 1 : 2;\nco_await B(n);"),
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
    "unchecked-dereference": [
        (BUDGET_TEST, "{\nconst absl::StatusOr<Ir> ir = Parse(text);\nEXPECT_EQ(ir->version, 1);\n}", 3, "ir is dereferenced",
         BUDGET_TEST, "{\nconst absl::StatusOr<Ir> ir = Parse(text);\nASSERT_THAT(ir, IsOk());\nEXPECT_EQ(ir->version, 1);\n}"),
        (BUDGET_TEST, "{ auto n = this->Run(Count()); EXPECT_THAT(n, IsOk()); EXPECT_EQ(*n, 1); }", 1, "ASSERT_OK_AND_ASSIGN",
         BUDGET_TEST, "{ auto n = this->Run(Count()); if (!n.ok()) return; EXPECT_EQ(*n, 1); }"),
        (BUDGET_TEST, "{ auto n = co_await Count(); for (int i : *n) Add(i); }", 1, "n is",
         BUDGET_TEST, "{ auto n = base::Run(Count()).value(); EXPECT_EQ(3 * n, n->x); }"),
        (BUDGET_TEST, "{ std::optional<Job> job = Pop(); Use(*std::move(job)); }", 1, "job is",
         BUDGET_TEST, "{ while (std::optional<Job> job = Pop()) Use(*std::move(job)); }"),
        (BUDGET_TEST, "{ absl::StatusOr<int> n; Set(n); EXPECT_EQ(*n, 1); }", 1, "n is",
         BUDGET_TEST, "{ absl::StatusOr<int> n; Set(n); } { int* n = Get(); EXPECT_EQ(*n, 2 * i); }"),
        (BUDGET_TEST, "{ auto n = base::Run(Count()); EXPECT_EQ(n.value(), 1); }\n{ auto m = Run(Count()); Use(m->x); }", 2, "m is",
         GATEWAY, "{ auto n = Run(Count()); Use(*n); }"),
    ],
    "propagated-error": [
        (GATEWAY, "\nif (!status.ok()) return status;", 2, "REDOUBLE_RETURN_IF_ERROR",
         GATEWAY, "if (!status.ok()) return other;"),
        (GATEWAY, "if (!value.ok()) co_return value.status();", 1, "co_return value.status()",
         GATEWAY, "if (!value.ok()) co_return Refused(value.status());"),
        (GATEWAY, "if (!this->status_.ok()) {\n  return this->status_;\n}", 1, "return this->status_",
         GATEWAY, "if (!a.ok() && !b.ok()) return a;"),
        (GATEWAY, "if (absl::Status status = Finish(a, b); !status.ok()) return status;", 1, "Finish(a, b)",
         "tests/examples/a_test.cc", "if (!status.ok()) return status;"),
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
        (GATEWAY, "// if (done) {", 1, "if (done) {", "core/base/task/task.h",
         "#ifndef REDOUBLE_CORE_BASE_TASK_TASK_H_\n//     Run(task);\n//     if (done) {"),
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


EXAMPLES = {**CPP_EXAMPLES, **CITATION_EXAMPLES}


class Rules(unittest.TestCase):
    def test_every_rule_has_an_example(self):
        self.assertEqual({rule.id for rule in FILE_RULES}, set(EXAMPLES) | {"header-self-contained"})
        self.assertEqual({rule.id for rule in TREE_RULES}, set(TREE_EXAMPLES) | {"stale-exemption"})

    def test_every_rule_fires_on_its_bad_example_and_names_line_and_remedy(self):
        for rule, examples in EXAMPLES.items():
            for path, bad, line, message, _, _, *texts in examples:
                with self.subTest(rule=rule, bad=bad):
                    found = [f for f in findings(path, bad, *texts) if f[1] == rule]
                    self.assertEqual([line], [f[0] for f in found], found)
                    self.assertIn(message, found[0][2])
                    self.assertIn(next(r.instead for r in RULES if r.id == rule), found[0][2])

    def test_no_rule_fires_on_its_good_example(self):
        for rule, examples in EXAMPLES.items():
            for _, _, _, _, path, good, *texts in examples:
                with self.subTest(rule=rule, good=good):
                    self.assertNotIn(rule, rules_found(path, good, *texts))

    def test_every_tree_rule_fires_on_its_bad_tree_and_names_line_and_remedy(self):
        for rule, examples in TREE_EXAMPLES.items():
            for bad, place, message, _ in examples:
                with self.subTest(rule=rule, bad=bad):
                    found = tree_findings(bad, rule)
                    self.assertEqual([place], [f[:2] for f in found], found)
                    self.assertIn(message, found[0][2])
                    self.assertIn(next(r.instead for r in RULES if r.id == rule), found[0][2])

    def test_no_tree_rule_fires_on_its_good_tree(self):
        for rule, examples in TREE_EXAMPLES.items():
            for _, _, _, good in examples:
                with self.subTest(rule=rule, good=good):
                    self.assertEqual([], tree_findings(good, rule))

    def test_a_header_is_first_in_its_source_or_its_test(self):
        first = '#include "redouble/core/base/task/task.h"\n#include <string>\n'
        late = '#include <string>\n#include "redouble/core/base/task/task.h"\n'
        path = "core/base/task/task"

        def found(**texts):
            all_of_them = {f"{path}{name}.cc": text for name, text in texts.items()}
            return [f for f in findings(path + ".h", "", all_of_them) if f[1] == "header-self-contained"]

        self.assertEqual([], found(**{"": first}))
        self.assertEqual([], found(_test=first))
        self.assertIn("not the first include of core/base/task/task.cc", found(**{"": late, "_test": first})[0][2])

    def test_a_header_without_source_or_test_has_to_compile_alone(self):
        self.assertNotIn("header-self-contained", rules_found("core/base/task/task.h", ""))
        found = findings("core/base/task/task.h", "", error="error: 'string' is unknown")
        self.assertTrue(any("'string' is unknown" in text for _, _, text in found))

    def test_members_declared_in_the_header_count_in_its_source(self):
        header = {"core/gateway/budget.h": "class B {\n  absl::flat_hash_map<int, int> rows_;\n};"}
        loop = "void B::Print() {\n  for (auto& row : rows_) row.Print();\n}"
        self.assertEqual(["unordered-iteration"], rules_found(GATEWAY, loop, header))
        self.assertEqual(["unordered-iteration"], rules_found("core/gateway/budget_test.cc", loop, header))

    def test_members_declared_in_an_included_header_count_but_not_its_parameters(self):
        header = {"core/gateway/row.h": "struct Row {\n  absl::flat_hash_set<int> hits;\n};"}
        text = (
            '#include "redouble/core/gateway/row.h"\n'
            "void F(Row* row, std::vector<int>& hits) {\n  for (int hit : %s) G(hit);\n}"
        )
        self.assertEqual(["unordered-iteration"], rules_found(GATEWAY, text % "row->hits", header))
        self.assertEqual([], rules_found(GATEWAY, text % "hits", header))


class Excuses(unittest.TestCase):
    def test_a_reason_excuses_its_line_and_the_next(self):
        self.assertEqual([], rules_found(GATEWAY, "absl::Now();  // lint: wall-clock: shown, not used"))
        self.assertEqual([], rules_found(GATEWAY, "// lint: wall-clock: shown, not used\nabsl::Now();"))

    def test_an_excuse_needs_a_reason(self):
        self.assertEqual(["excuse", "wall-clock"], rules_found(GATEWAY, "absl::Now();  // lint: wall-clock"))

    def test_an_excuse_for_nothing_is_reported(self):
        self.assertEqual(["excuse"], rules_found(GATEWAY, "// lint: wall-clock: not called any more"))

    def test_a_tree_rule_is_excused_the_same_way(self):
        texts = {"sim/a.cc": 'F("ERR no such key");', "sim/b.cc": '// lint: one-home: both\nF("ERR no such key");'}
        self.assertEqual([], tree_findings(texts, "one-home"))
        texts["sim/a.cc"] = ""
        self.assertEqual([("sim/b.cc", 1)], [f[:2] for f in tree_findings(texts, "excuse")])

    def test_pages_and_scripts_are_excused_by_their_own_comments(self):
        text = "<!-- lint: cited-path: what it was -->\n`core/gone.h`"
        self.assertEqual([], rules_found("docs/a.md", text))
        self.assertEqual([], rules_found("bench/a.py", "# lint: cited-path: what it was\n# core/gone.h"))

    def test_an_excuse_covers_only_its_rule(self):
        self.assertEqual(["excuse", "wall-clock"], rules_found(GATEWAY, "absl::Now();  // lint: sleep: shown"))


class Program(unittest.TestCase):
    def run_on(self, files, *arguments):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as cache:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            output = io.StringIO()
            with redirect_stdout(output), mock.patch.object(tree, "CACHE", cache):
                code = lint.main([root, *arguments])
            return code, output.getvalue()

    def test_prints_file_line_rule_and_remedy(self):
        code, output = self.run_on({GATEWAY: "int a;\nint b = rand();\n"}, GATEWAY)
        self.assertEqual(1, code)
        self.assertIn(GATEWAY + ":2: randomness: rand( -- take a base::Rng", output)
        self.assertIn("lint: 1 files, 1 findings", output)

    def test_passes_a_clean_tree_and_skips_build_output(self):
        build = {"core/gateway/BUILD.bazel": 'redouble_library(srcs = ["budget.cc"])\n'}
        code, output = self.run_on({GATEWAY: "int a;\n", "bazel-out/x.cc": "rand();", ".git/x.cc": "rand();", **build})
        self.assertEqual((0, "lint: 2 files, 0 findings\n"), (code, output))

    def test_checks_the_tree_as_a_whole_unless_files_are_named(self):
        code, output = self.run_on({GATEWAY: "int a;\n"})
        self.assertEqual(1, code)
        self.assertIn(GATEWAY + ":1: dead-file: no BUILD file mentions it -- ", output)
        self.assertEqual(0, self.run_on({GATEWAY: "int a;\n"}, GATEWAY)[0])

    def test_asks_the_rules_that_are_off_only_when_told(self):
        files = {GATEWAY: "// For you.\nint a = rand();\n"}
        with mock.patch.object(lint, "OFF", {"randomness"}):
            self.assertEqual(0, self.run_on(files, GATEWAY)[0])
            self.assertEqual(1, self.run_on(files, GATEWAY, "--all")[0])

    def test_compiles_a_header_that_nothing_else_proves(self):
        head = "// A: a word.\n//\n//   A()  // an example\n//   B()\n//\n// Thread-safety: pure functions.\n"
        path = "core/base/a.h"
        text = head + "#ifndef REDOUBLE_CORE_BASE_A_H_\n#define REDOUBLE_CORE_BASE_A_H_\n%s\n#endif\n"
        code, output = self.run_on({path: text % "inline std::string A();"}, path)
        self.assertEqual(1, code)
        self.assertIn("core/base/a.h:1: header-self-contained: core/base/a.h does not compile alone", output)
        code, output = self.run_on({path: text % "#include <string>\nstd::string A();"}, path)
        self.assertEqual(0, code, output)

    def test_remembers_what_compiled_until_something_in_it_changes(self):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as cache:
            def write(path, text):
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)

            def proofs():
                return os.listdir(os.path.join(cache, "headers"))

            write("a.h", '#include "redouble/b.h"\n')
            write("b.h", '#include "redouble/c.h"\nC F();')
            write("c.h", "struct C {};")
            self.assertIsNone(tree.Tree(root, cache).compile_error("a.h"))
            self.assertEqual(1, len(proofs()))
            with mock.patch("subprocess.run", side_effect=AssertionError("compiled again")):
                self.assertIsNone(tree.Tree(root, cache).compile_error("a.h"))
            write("c.h", "struct D {};")
            self.assertIn("b.h:2", tree.Tree(root, cache).compile_error("a.h"))
            self.assertEqual(1, len(proofs()))


if __name__ == "__main__":
    unittest.main()
