"""What tools/campaign runs and keeps, with a Bazel that builds nothing and programs that only fail or pass."""

import os
import subprocess
import tempfile
import unittest

CAMPAIGN = os.path.abspath("tools/campaign")
BAZEL = """#!/bin/bash
echo "$*" >>"$FOLDER/bazel.log"
case "$1" in
  info) echo "$FOLDER/bin" ;;
  query) [[ "$2" == *rapidcheck* ]] && echo //core:map_test || echo //tests/fuzz:request_fuzz ;;
esac
"""
PROGRAMS = {
    "properties": "core/map_test",
    "differential": "tests/differential/differential",
    "fuzz": "tests/fuzz/request_fuzz",
    "storms": "tests/chaos/chaos_test",
    "acl": "tests/hostile/acl_test",
    "sandbox": "tests/hostile/sandbox_mutation_test",
    "sim": "tests/hostile/sim_chaos_test",
    "memory": "tests/hostile/memory_ceilings_test",
}


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out")
        self.write("path/bazel", BAZEL)
        for name in PROGRAMS.values():
            self.program(name, "true")
            os.makedirs(os.path.join(self.folder, "bin", name + ".runfiles/redouble"))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o700)

    def program(self, name, command):
        self.write("bin/" + name, f'#!/bin/bash\necho "$RC_PARAMS $CHAOS_SEED $SANDBOX_SEED $*"\n{command}\n')

    def campaign(self, *arguments):
        environment = dict(os.environ, FOLDER=self.folder, HOME=self.folder,
                           PATH=os.path.join(self.folder, "path") + ":" + os.environ["PATH"])
        return subprocess.run([CAMPAIGN, *arguments], env=environment, capture_output=True, text=True, check=False)

    def kept(self):
        return sorted(name for name in os.listdir(self.out) if name.endswith(".txt"))

    def test_refuses_other_arguments(self):
        for wrong in (["--minutes"], ["--minutes", "x"], ["--minutes", "-1"], ["--out"], ["storm"], ["--help"]):
            done = self.campaign(*wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("usage: tools/campaign", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "bazel.log")))

    def test_runs_every_part_once_at_least(self):
        done = self.campaign("--minutes", "0", "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in PROGRAMS:
            self.assertRegex(done.stdout, rf"  {part} +\d+ s +1 runs +0 found\n")
        self.assertEqual(self.kept(), [])

    def test_runs_the_named_parts(self):
        done = self.campaign("--minutes", "0", "--out", self.out, "storms")
        self.assertIn("  storms ", done.stdout)
        self.assertNotIn("  fuzz ", done.stdout)

    def test_keeps_failures_with_the_command_that_repeats_them(self):
        for part, program in PROGRAMS.items():
            with self.subTest(part):
                self.program(program, "exit 3")
                done = self.campaign("--minutes", "0", "--out", os.path.join(self.out, part), part)
                self.assertEqual(done.returncode, 1)
                self.assertIn(" 1 found\n", done.stdout)
                folder = os.path.join(self.out, part)
                [name] = [name for name in os.listdir(folder) if name.endswith(".txt")]
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    repeat, output = file.read().split("\n", 1)
                self.assertTrue(repeat.startswith("exit code 3; to repeat: bazel "), repeat)
                if part not in ("fuzz", "memory"):
                    seed = name.removesuffix(".txt").rsplit("-", 1)[1]
                    self.assertIn(seed, repeat)
                    self.assertIn(seed, output)

    # Without a root folder of Debian 13, which the test does not make.
    def test_other_platforms_run_only_if_they_are_named(self):
        for program in ("mmdebstrap", "unshare", "apt-get"):
            self.write("path/" + program, "#!/bin/bash\nexit 1\n")
        done = self.campaign("--minutes", "0", "--out", self.out)
        self.assertNotIn("  platforms ", done.stdout)
        done = self.campaign("--minutes", "0", "--out", self.out, "platforms")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"  platforms +\d+ s +3 runs +3 found\n")
        self.assertEqual(self.kept(), ["platforms-arm64.txt", "platforms-cmake.txt", "platforms-test.txt"])
        with open(os.path.join(self.out, "platforms-test.txt"), encoding="utf-8") as file:
            self.assertIn("to repeat: tools/platform debian13 bash -c 'tools/test'\n", file.read())

    def test_its_parts_are_built_before_they_run(self):
        self.campaign("--minutes", "0", "--out", self.out)
        with open(os.path.join(self.folder, "bazel.log"), encoding="utf-8") as file:
            log = file.read()
        self.assertIn("build --compilation_mode=opt //core:map_test\n", log)
        self.assertIn("build --config=fuzz //tests/fuzz:request_fuzz\n", log)
        self.assertIn("build --config=asan //tests/hostile:sim_chaos_test\n", log)


if __name__ == "__main__":
    unittest.main()
