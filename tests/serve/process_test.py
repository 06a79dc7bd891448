"""Goal: `redouble serve` and a program called redis-server start, log and stop as harnesses expect."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import redis as redis_py

from served import PROGRAM, Redis, Served, reserve_port

TIMEOUT_S = 20


class ProcessTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="redouble-process-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, *command, **options):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def read_until(self, process, pattern):
        """The match in the first line that has one."""
        seen = []
        for line in process.stdout:
            seen.append(line)
            if match := re.search(pattern, line):
                return match
        raise AssertionError(f"no line has {pattern}: {seen}")

    def stop(self, process):
        """The rest of the output."""
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT_S), 0)
        return process.stdout.read()

    def ping(self, **options):
        client = redis_py.Redis(**options)
        self.addCleanup(client.close)
        return client.ping()

    def wait_for_file(self, name):
        deadline = time.monotonic() + TIMEOUT_S
        while not os.path.exists(self.path(name)):
            self.assertLess(time.monotonic(), deadline, f"{name} does not appear")
            time.sleep(0.01)
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


    def wait_for_text(self, name, text):
        deadline = time.monotonic() + TIMEOUT_S
        while text not in self.wait_for_file(name):
            self.assertLess(time.monotonic(), deadline, f"{name} never has {text}")
            time.sleep(0.01)


class Serve(ProcessTest):
    def test_a_free_port_is_chosen_printed_and_written(self):
        process = self.start(PROGRAM, "serve", "--port", "0", "--ready-file", self.path("ready"),
                             "--clock", "manual", "--start", "2026-05-09T14:03:02Z", "--seed", "7")
        port = int(self.read_until(process, r"accepts connections on 127\.0\.0\.1:(\d+)\n")[1])
        banner = self.read_until(process, r"# Redouble (\S+), Redis version=7\.0\.15, port=(\d+), "
                                 r"clock=manual from 2026-05-09T14:03:02Z, seed=7, PID: (\d+)")
        self.assertEqual((int(banner[2]), int(banner[3])), (port, process.pid))
        self.read_until(process, r"\* Ready to accept connections$")
        ready = json.loads(self.wait_for_file("ready"))
        self.assertEqual(ready, {"port": port, "unixsocket": "", "version": banner[1],
                                 "addresses": f"127.0.0.1:{port}", "pid": process.pid,
                                 "clock": "manual"})
        client = redis_py.Redis(port=port, decode_responses=True)
        self.addCleanup(client.close)
        self.assertEqual(client.config_get("port"), {"port": str(port)})
        rest = self.stop(process)
        self.assertIn("# Received SIGTERM scheduling shutdown...", rest)
        self.assertIn("# Redouble is now ready to exit, bye bye...", rest)
        self.assertFalse(os.path.exists(self.path("ready")))

    def test_connections_are_logged_at_verbose_only(self):
        for level, logged in (("verbose", True), ("notice", False)):
            process = self.start(PROGRAM, "serve", "--port", "0", "--loglevel", level)
            port = int(self.read_until(process, r"127\.0\.0\.1:(\d+)\n")[1])
            client = redis_py.Redis(port=port)
            client.ping()
            client.close()
            client.shutdown(nosave=True)
            self.assertEqual(process.wait(TIMEOUT_S), 0)
            rest = process.stdout.read()
            self.assertEqual("- Accepted 127.0.0.1:" in rest, logged, rest)
            self.assertEqual("- Client closed connection id=" in rest, logged, rest)
            self.assertIn("# User requested shutdown...", rest)

    def test_a_configuration_file_is_read_and_options_win(self):
        port = reserve_port()
        self.addCleanup(port.close)
        number = port.getsockname()[1]
        conf = self.write("r.conf", "port 1\nmaxmemory 3mb\nactiverehashing no\nuser ann on >pw ~* +@all\n"
                                    f"pidfile {self.path('pid')}\nlogfile {self.path('log')}\n")
        process = self.start(PROGRAM, "serve", "--config", conf, "--port", str(number))
        self.read_until(process, "accepts connections on")
        client = redis_py.Redis(port=number, username="ann", password="pw", decode_responses=True)
        self.addCleanup(client.close)
        self.assertEqual(client.config_get("maxmemory"), {"maxmemory": str(3 << 20)})
        self.assertEqual(self.wait_for_file("pid"), f"{process.pid}\n")
        self.wait_for_text("log", '# "activerehashing no" has no effect in Redouble')
        self.stop(process)
        self.assertFalse(os.path.exists(self.path("pid")))

    def test_debug_log_writes_to_the_log(self):
        process = self.start(PROGRAM, "serve", "--port", "none", "--unixsocket", self.path("s"),
                             "--enable-debug-command", "yes")
        self.read_until(process, "accept connections at")
        client = redis_py.Redis(unix_socket_path=self.path("s"))
        self.addCleanup(client.close)
        client.execute_command("DEBUG", "LOG", "a message")
        self.read_until(process, r"# DEBUG LOG: a message$")
        self.stop(process)

    def test_sim_help_says_how_to_get_a_manual_clock(self):
        served = Served()
        self.addCleanup(served.stop)
        self.assertIn("redouble serve --clock manual", served.cli("SIM", "HELP"))
        self.assertIn("SIM needs a manual clock", served.cli("SIM", "CLOCK", "GET"))

    def test_it_ends_with_its_parent_when_told_to(self):
        parent = ("import subprocess, sys, time\n"
                  "subprocess.Popen(sys.argv[1:])\n"
                  "time.sleep(600)\n")
        process = self.start(sys.executable, "-c", parent, PROGRAM, "serve", "--exit-with-parent",
                             "--port", "none", "--unixsocket", self.path("s"))
        self.read_until(process, "accept connections at")
        self.assertTrue(self.ping(unix_socket_path=self.path("s")))
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)
        # The pipe ends when its last writer, the server, has ended.
        self.assertIn("bye bye", process.stdout.read())


class AsRedisServer(ProcessTest):
    """A program called redis-server, and what redis-server itself does."""

    def setUp(self):
        super().setUp()
        self.program = self.path("redis-server")
        os.symlink(os.path.abspath(PROGRAM), self.program)

    def start(self, *command, **options):
        """In a folder of its own, where it saves its keys when it stops."""
        return super().start(*command, cwd=self.folder, **options)

    def test_it_has_said_that_it_starts_when_it_cannot_load_its_keys(self):
        self.write("dump.rdb", "REDIS0010 and no keys")
        for program in ("redis-server", self.program):
            with self.subTest(program=program):
                process = self.start(program, "--port", "0", "--unixsocket", self.path("s"))
                self.assertEqual(process.wait(TIMEOUT_S), 1)
                lines = [line for line in process.stdout.read().splitlines() if "# " in line]
                words = ("just started", "Server initialized")
                self.assertEqual([word for line in lines for word in words if word in line], list(words))
                self.assertNotIn(words[0], lines[-1])
                self.assertNotIn(words[1], lines[-1])

    def test_it_says_that_it_is_ready_in_the_words_of_redis(self):
        with reserve_port() as keeper:
            port = keeper.getsockname()[1]
            process = self.start(self.program, "--port", str(port), "--unixsocket", self.path("s"),
                                 "--save", "", "--appendonly", "no", "--loglevel", "verbose")
            first = process.stdout.readline()
            self.assertRegex(first, rf"^{process.pid}:M \d\d \w{{3}} \d{{4}} [\d:]+\.\d{{3}} # ")
            # The test suite of Redis looks for this.
            output = first + self.read_until(process, r".*Server initialized").string
            self.assertRegex(output.replace("\n", " "), rf" PID: {process.pid}.*Server initialized")
            self.read_until(process, r"\* Ready to accept connections$")
            self.read_until(process, r"\* The server is now ready to accept connections at "
                            + re.escape(self.path("s")))
            self.assertTrue(self.ping(port=port))
            self.assertIn("bye bye", self.stop(process))

    def test_it_reads_a_file_arguments_and_standard_input(self):
        conf = self.write("redis.conf", f"port 0\nunixsocket {self.path('s')}\nmaxclients 50\n"
                                        "# comment\nactiverehashing no\ntimeout 100\n")
        process = self.start(self.program, conf, "--timeout", "200", "--requirepass", "p w", "-",
                             stdin=subprocess.PIPE)
        process.stdin.write("databases 3\ntimeout 150\n")
        process.stdin.close()
        self.read_until(process, "has no effect in Redouble")
        self.read_until(process, "accept connections at")
        client = redis_py.Redis(unix_socket_path=self.path("s"), password="p w",
                                decode_responses=True)
        self.addCleanup(client.close)
        for name, value in (("maxclients", "50"), ("databases", "3"), ("timeout", "200"),
                            ("port", "0")):
            self.assertEqual(client.config_get(name), {name: value})
        self.stop(process)

    def test_it_goes_to_the_background(self):
        done = subprocess.run([self.program, "--daemonize", "yes", "--port", "0", "--unixsocket",
                               self.path("s"), "--pidfile", self.path("pid"), "--logfile", "log",
                               "--dir", self.folder], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        pid = int(self.wait_for_file("pid"))
        self.addCleanup(lambda: os.path.exists(f"/proc/{pid}") and os.kill(pid, signal.SIGKILL))
        self.wait_for_text("log", "accept connections")
        client = redis_py.Redis(unix_socket_path=self.path("s"))
        self.addCleanup(client.close)
        self.assertEqual(client.info("server")["process_id"], pid)
        client.shutdown(nosave=True)

    def test_errors_are_those_of_redis(self):
        for arguments in (["--nosuch", "1"], ["--port", "x"], ["--port"], ["--loglevel", "loud"],
                          ["--maxmemory-policy", "never"], ["--port", "0", "--port", "99999"],
                          ["--hz"], [self.write("bad.conf", 'port 0\nbind "x\n')]):
            ours, theirs = (subprocess.run([program, *arguments], capture_output=True, text=True,
                                           timeout=TIMEOUT_S, check=False)
                            for program in (self.program, "redis-server"))
            self.assertEqual((ours.returncode, ours.stderr), (theirs.returncode, theirs.stderr),
                             arguments)
        version = [subprocess.run([program, "--version"], capture_output=True, text=True,
                                  timeout=TIMEOUT_S, check=True).stdout.split()[:3]
                   for program in (self.program, "redis-server")]
        self.assertEqual(*version)

    def test_several_addresses_and_optional_ones(self):
        with reserve_port() as keeper:
            port = str(keeper.getsockname()[1])
            process = self.start(self.program, "--port", port, "--bind", "127.0.0.1", "127.0.0.2",
                                 "-192.0.2.1")
            self.read_until(process, "Ready to accept connections")
            self.assertTrue(self.ping(host="127.0.0.1", port=int(port)))
            self.assertTrue(self.ping(host="127.0.0.2", port=int(port)))
            self.stop(process)
        process = self.start(self.program, "--port", "1", "--bind", "nowhere")
        self.assertEqual(process.wait(TIMEOUT_S), 1)
        self.assertIn("no IP address: nowhere", process.stdout.read())


if __name__ == "__main__":
    unittest.main()
