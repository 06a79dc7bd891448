"""That tools/setup waits for apt's lock: the real apt-get meets a lock that this test holds.

apt's folders are below a temporary folder, so nothing of the machine is read or changed.
"""

import fcntl
import os
import subprocess
import tempfile
import threading
import unittest

SETUP = os.path.abspath("tools/setup")
TIMEOUT_S = 60

# One package is missing. `apt-get install` only records its arguments.
DPKG_QUERY = """#!/bin/bash
[[ "${@: -1}" == ninja-build ]] || echo -n installed
"""
APT_GET = """#!/bin/bash
echo "$*" >>"$FOLDER/calls"
[[ "$*" == *install* ]] || exec /usr/bin/apt-get "$@"
"""
SUDO = """#!/bin/bash
exec "$@"
"""
# Instead of sleeping: reports that setup waits, and returns when the test has acted.
SLEEP = """#!/bin/bash
echo waits >"$FOLDER/waits"
read -r <"$FOLDER/continue"
"""
BROKEN_APT_GET = """#!/bin/bash
echo "$*" >>"$FOLDER/calls"
echo "E: Unable to fetch some archives" >&2
exit 100
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("path", "etc", "cache/archives/partial", "state/lists/partial"):
            os.makedirs(os.path.join(self.folder, name))
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", SUDO), ("sleep", SLEEP)):
            self.program(name, text)
        for name in ("waits", "continue"):
            os.mkfifo(os.path.join(self.folder, name))
        with open(self.path("apt.conf"), "w", encoding="utf-8") as file:
            file.write(f'Dir::Etc "{self.folder}/etc";\nDir::State "{self.folder}/state";\n'
                       f'Dir::Cache "{self.folder}/cache";\nDir::State::status "/dev/null";\n')

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, name, text):
        path = self.path("path/" + name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o700)

    def setup(self):
        environment = dict(os.environ, FOLDER=self.folder, HOME=self.folder, APT_CONFIG=self.path("apt.conf"),
                           PATH=self.path("path") + os.pathsep + os.environ["PATH"])
        return subprocess.run([SETUP], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=TIMEOUT_S, check=False)

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return [line.split()[3:] for line in file]  # Without -q -o TIMEOUT.

    def release_when_it_waits(self, lock, times):
        """Lets setup find the lock held `times` times."""

        def run():
            for left in range(times - 1, -1, -1):
                with open(self.path("waits"), encoding="utf-8") as waits:
                    waits.read()
                if left == 0:
                    lock.close()
                with open(self.path("continue"), "w", encoding="utf-8") as go_on:
                    go_on.write("\n")

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(thread.join, TIMEOUT_S)

    def test_waits_while_another_process_holds_the_lock_of_apt(self):
        lock = open(self.path("state/lists/lock"), "w", encoding="utf-8")
        fcntl.lockf(lock, fcntl.LOCK_EX)
        self.release_when_it_waits(lock, 2)
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.stdout)
        waits = [line for line in done.stdout.splitlines() if "waits for another process" in line]
        self.assertEqual(len(waits), 1, done.stdout)
        self.assertIn("Could not get lock", waits[0])
        self.assertEqual(self.calls(), [["update"]] * 3 + [["install", "-y", "--no-install-recommends", "ninja-build"]])

    def test_does_not_wait_without_a_reason(self):
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("waits", done.stdout)
        self.assertEqual(len(self.calls()), 2)

    def test_fails_at_once_for_another_error(self):
        self.program("apt-get", BROKEN_APT_GET)
        done = self.setup()
        self.assertEqual(done.returncode, 100)
        self.assertIn("Unable to fetch some archives", done.stdout)
        self.assertEqual(self.calls(), [["update"]])

    def test_calls_nothing_if_all_packages_are_installed(self):
        self.program("dpkg-query", "#!/bin/bash\necho -n installed\n")
        done = self.setup()
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertFalse(os.path.exists(self.path("calls")))


if __name__ == "__main__":
    unittest.main()
