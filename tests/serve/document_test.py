"""Goal: the examples of docs/serve.md have the results that the page shows."""

import inspect
import re
import shlex
import subprocess
import unittest

import clients_test
from served import PROGRAM, Served, reserve_port

PAGE = open("docs/serve.md", encoding="utf-8").read()


class RedisCliExamples(unittest.TestCase):
    def test_answer_as_written(self):
        """Runs all `$ redis-cli -p 7000 ...` in order, on a server started as in the page."""
        keeper = reserve_port()
        self.addCleanup(keeper.close)
        port = str(keeper.getsockname()[1])
        start = re.search(r"^    redouble serve (--port 7000 .*)$", PAGE, re.M).group(1)
        options = shlex.split(start.replace("7000", port))
        served = Served(*options)
        self.addCleanup(served.stop)
        examples = re.findall(r"^    \$ redis-cli -p 7000 (.*)\n((?:^    (?!\$).*\n)*)", PAGE, re.M)
        self.assertGreater(len(examples), 10)
        for words, expected in examples:
            with self.subTest(words):
                # The format of redis-cli in a terminal.
                answer = served.run("redis-cli", "--no-raw", "-p", port, *shlex.split(words)).decode()
                self.assertEqual(answer.splitlines(),
                                 [line.removeprefix("    ") for line in expected.splitlines()])


class PythonExamples(unittest.TestCase):
    def test_are_those_that_the_tests_run(self):
        examples = re.findall(r"<!-- tests/serve/(\w+)\.py: [^>]* -->\n```python\n(.*?)```", PAGE, re.S)
        self.assertGreater(len(examples), 1)
        source = inspect.getsource(clients_test)
        for file, example in examples:
            self.assertEqual(file, "clients_test")
            indented = "".join("    " + line if line.strip() else line
                               for line in example.splitlines(keepends=True))
            self.assertTrue(example in source or indented in source, example)


class Options(unittest.TestCase):
    def test_each_is_on_the_page(self):
        text = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True,
                              check=True).stdout
        for option in sorted(set(re.findall(r"--[a-z-]+", text)) - {"--help"}):
            self.assertTrue(f"`{option}" in PAGE, f"{option} is not on the page")

    def test_sim_commands_are_on_the_page(self):
        served = Served("--clock", "manual")
        self.addCleanup(served.stop)
        lines = served.cli("SIM", "HELP").splitlines()[1:]
        for line in lines:
            if line.startswith(" "):
                continue
            words = re.findall(r"[A-Z]{3,}", line)
            for word in words:
                self.assertRegex(PAGE, rf"SIM [^`]*\b{word}\b")


if __name__ == "__main__":
    unittest.main()
