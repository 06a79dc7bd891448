"""Goal: INFO and other replies about the server look like those of redis-server.

Both servers get the same commands; names, types and texts must be equal, numbers may differ.
"""

import re
import shutil
import socket
import tempfile
import time
import unittest

from served import Redis, Served
from wire import plain, shape


class BesideRedis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="redouble-data-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.served = Served("--enable-debug-command", "yes", "--dir", folder)
        cls.addClassCleanup(cls.served.stop)
        cls.redis = Redis("--enable-debug-command", "yes")
        cls.addClassCleanup(cls.redis.stop)

    def setUp(self):
        self.wires = [server.wire(3) for server in (self.served, self.redis)]
        for wire in self.wires:
            self.addCleanup(wire.close)
            wire.ask("FLUSHALL")
            wire.ask("CONFIG", "RESETSTAT")

    def both(self, *words):
        """The replies of both servers, ours first."""
        return [wire.ask(*words) for wire in self.wires]

    def expect_same(self, *words):
        ours, theirs = self.both(*words)
        self.assertEqual(ours, theirs, words)
        return ours

    def expect_same_shape(self, *words):
        ours, theirs = self.both(*words)
        self.assertEqual(shape(ours), shape(theirs), words)
        return ours, theirs

    def use(self):
        """Runs some commands, so that the statistics are not empty."""
        for words in (["SET", "k", "v", "EX", "100"], ["GET", "k"], ["GET", "none"],
                      ["RPUSH", "l", "a", "b"], ["INCR", "k"], ["NOSUCH"], ["SADD", "s", "1"],
                      ["XADD", "st", "1-1", "f", "v"], ["EVAL", "return 1", "0"]):
            self.expect_same(*words)


class Info(BesideRedis):
    @staticmethod
    def sections(text):
        found = {}
        for part in text.strip("\r\n").split("\r\n\r\n"):
            title, *lines = part.split("\r\n")
            found[title] = dict(line.split(":", 1) for line in lines)
        return found

    def test_sections_and_fields(self):
        self.use()
        names = ["server", "clients", "memory", "persistence", "stats", "replication", "cpu",
                 "modules", "module_list", "commandstats", "errorstats", "latencystats", "cluster",
                 "keyspace", "sentinel", "debug", "", "nosuch"]
        for asked in ([], ["all"], ["everything"], ["default"], ["stats", "memory"],
                      ["MODULES", "Server"], ["server", "server"], ["keyspace", "cluster"],
                      ["nosuch", "latencystats"], ["cpu", "default"], ["all", "x"],
                      *([name] for name in names)):
            ours, theirs = (self.sections(plain(reply)) for reply in self.both("INFO", *asked))
            self.assertEqual(list(ours), list(theirs), asked)
            for title, fields in theirs.items():
                if title in ("# Commandstats", "# Latencystats"):  # Their order is that of a hash table.
                    self.assertEqual(sorted(ours[title]), sorted(fields), title)
                else:
                    self.assertEqual(list(ours[title]), list(fields), title)

    def test_figures_that_do_not_depend_on_the_machine(self):
        self.use()
        ours, theirs = (self.sections(plain(reply)) for reply in self.both("INFO", "everything"))
        same = {
            "# Server": ["redis_version", "redis_mode", "arch_bits", "uptime_in_days", "hz",
                         "multiplexing_api", "process_supervised", "tcp_port"],
            "# Clients": ["connected_clients", "blocked_clients", "maxclients", "tracking_clients"],
            "# Stats": ["total_commands_processed", "expired_keys", "evicted_keys",
                        "keyspace_hits", "keyspace_misses", "pubsub_channels",
                        "rejected_connections", "total_error_replies"],
            "# Replication": ["role", "connected_slaves", "master_repl_offset"],
            "# Errorstats": ["errorstat_ERR"],
            "# Cluster": ["cluster_enabled"],
        }
        for title, names in same.items():
            for name in names:
                self.assertEqual(ours[title][name], theirs[title][name], name)
        self.assertEqual(ours["# Keyspace"]["db0"].split(",avg")[0],
                         theirs["# Keyspace"]["db0"].split(",avg")[0])
        for name, text in theirs["# Commandstats"].items():
            for figure in ("calls", "rejected_calls", "failed_calls"):
                pattern = rf"{figure}=\d+"
                self.assertEqual(re.findall(pattern, ours["# Commandstats"][name]),
                                 re.findall(pattern, text), name)


    def test_what_nothing_has_used_yet_is_zero(self):
        ours, theirs = (self.sections(plain(reply)) for reply in self.both("INFO", "everything"))
        for title, pattern in (("# Server", "io_threads_active"),
                               ("# Memory", "lazyfree.*|active_defrag.*|maxmemory.*|mem_not.*"
                                            "|mem_(clients_slaves|cluster_links|aof_buffer)"
                                            "|mem_.*replication.*"),
                               ("# Stats", "expire.*|evict.*|.*eviction.*|active_defrag.*|.*defrag_time"
                                           "|tracking.*|unexpected.*|io_threaded.*|sync.*|.*fork.*"
                                           "|dump_payload.*|migrate.*|slave_expires.*|total_error.*")):
            for name, value in theirs[title].items():
                if re.fullmatch(pattern, name) and name != "expire_cycle_cpu_milliseconds":
                    self.assertEqual(ours[title][name], value, name)

    def test_figures_that_parameters_set(self):
        self.expect_same("CONFIG", "SET", "dynamic-hz", "no", "hz", "50", "maxclients", "77",
                         "repl-backlog-size", "40000", "maxmemory", "1gb",
                         "maxmemory-policy", "allkeys-lru")
        for name, title in (("hz", "server"), ("configured_hz", "server"), ("maxclients", "clients"),
                            ("repl_backlog_size", "replication"), ("maxmemory", "memory"),
                            ("maxmemory_human", "memory"), ("maxmemory_policy", "memory")):
            def value(wire):
                return re.search(rf"(?m)^{name}:(\S*)", wire.plain("INFO", title))[1]

            while value(self.wires[1]) == "10":  # Redis's timer takes the new frequency over.
                pass
            self.assertEqual(value(self.wires[0]), value(self.wires[1]), name)
        self.expect_same("CONFIG", "SET", "dynamic-hz", "yes", "hz", "10", "maxclients", "10000",
                         "repl-backlog-size", "1048576", "maxmemory", "0",
                         "maxmemory-policy", "noeviction")

    def test_errors_that_scripts_return_are_counted(self):
        self.expect_same("SADD", "s", "1")
        for script in ("return {redis.error_reply('ERR a'), redis.error_reply('MY b'), "
                       "{redis.error_reply('ERR c')}}",
                       "return redis.error_reply('MY b')",
                       "return {redis.pcall('GET', 's'), 1, redis.error_reply('X')}",
                       "local e = redis.pcall('GET', 's') return {e, e}",
                       "local e = redis.pcall('GET', 's') return {{err=e.err}}",
                       "return {redis.error_reply('noCode'), {err='-DASH x'}, {err=''}}",
                       "redis.setresp(3) return {map={a=redis.error_reply('IN map')}}",
                       "return {1, {ok='fine'}}", "return {err='NOSPACE'}",
                       "return {err='" + "A" * 30 + " b'}", "return {err='" + "A" * 31 + " b'}"):
            self.expect_same("CONFIG", "RESETSTAT")
            self.expect_same("EVAL", script, "1", "s")
            self.expect_same("INFO", "errorstats")
            ours, theirs = (re.findall(r"(cmdstat_(?:eval|get):calls=\d+|failed_calls=\d+)",
                                       plain(reply)) for reply in self.both("INFO", "commandstats"))
            self.assertEqual(sorted(ours), sorted(theirs), script)

    def test_memory_of_clients_is_the_same_in_both_reports(self):
        for wire in self.wires:
            for _ in range(2):  # The first replies let the client's buffer grow.
                memory = self.sections(wire.plain("INFO", "memory"))["# Memory"]
                stats = wire.plain("MEMORY", "STATS")
            for name, field in (("mem_clients_normal", "clients.normal"),
                                ("mem_clients_slaves", "clients.slaves"),
                                ("used_memory_startup", "startup.allocated"),
                                ("used_memory_functions", "functions.caches")):
                self.assertEqual(int(memory[name]), stats[field], name)


class Commands(BesideRedis):
    def test_all_there_are(self):
        ours, theirs = (sorted(plain(reply)) for reply in self.both("COMMAND", "LIST"))
        self.assertEqual(ours, theirs)
        self.expect_same("COMMAND", "COUNT")
        ours, theirs = (len(plain(reply)) for reply in self.both("COMMAND"))
        self.assertEqual(ours, theirs)

    def test_each_is_described_as_by_redis(self):
        for name in sorted(self.wires[0].plain("COMMAND", "LIST")):
            for what in ("INFO", "DOCS"):
                ours, theirs = (self.described(plain(reply))
                                for reply in self.both("COMMAND", what, name))
                self.assertEqual(ours, theirs, f"COMMAND {what} {name}")

    def described(self, value):
        """The order of sets and of subcommands is that of hash tables."""
        if isinstance(value, dict):
            return {name: self.described(part) for name, part in value.items()}
        if isinstance(value, list):
            parts = [self.described(part) for part in value]
            if len(parts) == 10 and isinstance(parts[9], list):  # A row of COMMAND INFO.
                parts[2] = sorted(parts[2])
                parts[6] = sorted(parts[6])
                parts[9] = sorted(parts[9])
            return parts
        return value

    def test_lists_can_be_filtered(self):
        for words in (["PATTERN", "x*group"], ["PATTERN", "xgroup|c*"], ["ACLCAT", "geo"],
                      ["ACLCAT", "nosuch"], ["MODULE", "nosuch"]):
            ours, theirs = (sorted(plain(reply)) for reply in
                            self.both("COMMAND", "LIST", "FILTERBY", *words))
            self.assertEqual(ours, theirs, words)

    def test_keys_are_found(self):
        for words in (["GET", "k"], ["MSET", "a", "1", "b", "2"], ["EVAL", "s", "2", "a", "b", "c"],
                      ["SORT", "l", "STORE", "d"], ["XREAD", "STREAMS", "a", "b", "0", "0"],
                      ["ZUNIONSTORE", "d", "2", "a", "b"], ["SET", "k", "v", "GET"], ["PING"],
                      ["NOSUCH", "k"], ["GET"], ["XGROUP", "CREATE", "s", "g", "$"],
                      ["LMPOP", "2", "a", "b", "LEFT"], ["GEORADIUS", "g", "1", "1", "1", "m", "STORE", "d"],
                      ["MEMORY", "USAGE", "k"], ["OBJECT", "ENCODING", "k"], ["BITOP", "AND", "d", "a"]):
            self.expect_same("COMMAND", "GETKEYS", *words)
            self.expect_same("COMMAND", "GETKEYSANDFLAGS", *words)


class Clients(BesideRedis):
    @staticmethod
    def fields(line):
        return [field.split("=")[0] for field in line.split()]

    def test_lines(self):
        ours, theirs = self.both("CLIENT", "INFO")
        self.assertEqual(self.fields(plain(ours)), self.fields(plain(theirs)))
        for same in ("name=", "db=", "sub=", "multi=", "cmd=", "user=", "redir=", "resp=", "flags="):
            pattern = rf" {same}\S*"
            self.assertEqual(re.findall(pattern, plain(ours)), re.findall(pattern, plain(theirs)))
        ours, theirs = self.both("CLIENT", "LIST", "TYPE", "normal")
        self.assertEqual([self.fields(line) for line in plain(ours).splitlines()],
                         [self.fields(line) for line in plain(theirs).splitlines()])

    def test_the_last_command_may_have_been_refused(self):
        admins = [server.wire() for server in (self.served, self.redis)]
        for admin in admins:
            self.addCleanup(admin.close)
        numbers = [plain(reply) for reply in self.both("CLIENT", "ID")]
        for words, name in ((("GET",), "get"), (("NOSUCH",), "NULL"), (("CLIENT",), "client"),
                            (("CLIENT", "NOSUCH"), "NULL"), (("CLIENT", "KILL"), "client|kill"),
                            (("MULTI",), "multi"), (("SET", "k"), "set"), (("INCR", "k"), "incr"),
                            (("NOSUCH",), "NULL"), (("EXEC", "x"), "exec")):
            self.both(*words)
            for admin, number in zip(admins, numbers):
                line = admin.plain("CLIENT", "LIST", "ID", str(number))
                self.assertEqual(re.search(r" cmd=(\S+)", line)[1], name, words)

    def test_memory_of_queries(self):
        """The query that runs, the words of one that waits, and a query of which a part has arrived."""
        ours, theirs = (self.query_figures(server) for server in (self.served, self.redis))
        self.assertEqual(ours, theirs)

    def test_memory_of_buffers(self):
        """They grow when they are used, and shrink when they are not."""
        self.both("SET", "k", "v" * 3000)
        for server in (self.served, self.redis):
            with self.subTest(type(server).__name__):
                self.watch_buffers(server.wire(), server.wire())

    def watch_buffers(self, admin, client):
        self.addCleanup(admin.close)
        self.addCleanup(client.close)
        number = client.plain("CLIENT", "ID")

        def until(name, value, repeat=lambda: None):
            deadline, got = time.monotonic() + 60, None
            while got != value:
                self.assertLess(time.monotonic(), deadline, f"{name} is {got} and not {value}")
                repeat()
                line = admin.plain("CLIENT", "LIST", "ID", str(number))
                got = int(re.search(rf" {name}=([0-9]+)", line)[1])
        until("rbs", 1024)
        client.ask("SET", "long", "x" * 400_000)
        until("qbuf-free", 458_742, lambda: client.ask("SET", "long", "x" * 400_000))
        until("qbuf-free", 20_474, lambda: client.ask("SET", "long", "x"))
        until("rbp", 1024, lambda: client.ask("GET", "k"))
        until("rbs", 4096, lambda: client.ask("GET", "k"))
        until("rbp", 3009, lambda: client.ask("GET", "k"))
        until("qbuf-free", 0)
        until("rbs", 1024)
        until("rbp", 0)

    def query_figures(self, server):
        client, blocked, partial = (server.wire() for _ in range(3))
        for wire in (client, blocked, partial):
            self.addCleanup(wire.close)

        def of(line):
            fields = dict(field.split("=", 1) for field in line.split())
            return [int(fields[name]) for name in ("qbuf", "qbuf-free", "argv-mem", "multi-mem")]

        seen = [of(client.plain("CLIENT", "INFO"))]
        client.socket.sendall(b"PING\r\nCLIENT INFO\r\n")
        client.read()
        seen.append(of(client.read()[1]))
        # What is sent, and the figure that shows that it has arrived.
        for wire, sent, sign in ((blocked, b"", "flags="), (blocked, b"BLPOP queue 0\r\n", " cmd=blpop"),
                                 (blocked, b"PING\r\n", " qbuf=6"),
                                 (partial, b"*3\r\n$3\r\nSET\r\n$5\r\nfirst\r\n$9\r\nsec", " argv-mem=8")):
            number = wire.plain("CLIENT", "ID") if sent == b"" or wire is partial else number
            wire.socket.sendall(sent)
            line = ""
            while sign not in line:
                line = client.plain("CLIENT", "LIST", "ID", number)
            seen.append(of(line))
        return seen

    def test_a_zero_byte_hides_the_end_of_an_inline_command(self):
        for server in (self.served, self.redis):
            with server.open() as connection:
                connection.sendall(b"PING\r\nPING\0\r\n" + b"PING\r\n" * 100)
                connection.shutdown(socket.SHUT_WR)
                got = b""
                while part := connection.recv(1000):
                    got += part
                self.assertEqual(got, b"+PONG\r\n")

    def test_hello_and_reset(self):
        ours, theirs = self.both("HELLO", "3", "SETNAME", "me")
        self.assertEqual(shape(ours), shape(theirs))
        for name in ("server", "version", "proto", "mode", "role", "modules"):
            self.assertEqual(plain(ours)[name], plain(theirs)[name], name)
        self.expect_same("CLIENT", "GETNAME")
        self.expect_same("CLIENT", "TRACKINGINFO")
        self.expect_same("CLIENT", "GETREDIR")
        self.expect_same("CLIENT", "KILL", "ID", "123456789")
        self.expect_same("CLIENT", "KILL", "nowhere:1")
        self.expect_same("CLIENT", "NO-EVICT", "on")
        self.expect_same("CLIENT", "UNBLOCK", "123456789")
        self.expect_same("CLIENT", "PAUSE", "0")
        self.expect_same("CLIENT", "UNPAUSE")
        self.expect_same("RESET")
        ours, theirs = (re.findall(r" flags=(\w+) .* cmd=client", plain(reply))
                        for reply in self.both("CLIENT", "LIST"))
        self.assertEqual(ours, theirs)

    def test_help_texts(self):
        for container in ("ACL", "CLIENT", "COMMAND", "CONFIG", "FUNCTION", "LATENCY", "MEMORY",
                          "OBJECT", "PUBSUB", "SCRIPT", "SLOWLOG", "XGROUP", "XINFO"):
            self.expect_same(container, "HELP")


class Operation(BesideRedis):
    def test_parameters_have_redis_names_and_defaults(self):
        ours, theirs = (plain(reply) for reply in self.both("CONFIG", "GET", "*"))
        self.assertEqual(set(ours) - set(theirs), set())
        of_the_run = {"bind", "dir", "maxclients", "port", "unixsocket"}
        for name in sorted(set(ours) - of_the_run):
            self.assertEqual(ours[name], theirs[name], name)

    def test_config_errors(self):
        for words in (["SET", "nosuch", "1"], ["SET", "maxmemory", "x"],
                      ["SET", "maxmemory-policy", "x"], ["SET", "hz"], ["SET", "timeout", "-1"],
                      ["GET"], ["RESETSTAT", "x"], ["REWRITE"], ["SET", "save", ""],
                      ["SET", "timeout", "1", "timeout", "2"], ["SET", "databases", "3"]):
            self.expect_same("CONFIG", *words)

    def test_memory(self):
        self.use()
        ours, theirs = (plain(reply) for reply in self.both("MEMORY", "STATS"))
        self.assertEqual(list(ours), list(theirs))
        self.assertEqual(list(ours["db.0"]), list(theirs["db.0"]))
        self.expect_same("MEMORY", "USAGE", "none")
        self.expect_same_shape("MEMORY", "USAGE", "l", "SAMPLES", "0")
        self.assertEqual(self.wires[0].ask("MEMORY", "DOCTOR")[0],
                         self.wires[1].ask("MEMORY", "DOCTOR")[0])

    def test_slow_log(self):
        self.expect_same("CONFIG", "SET", "slowlog-log-slower-than", "0")
        self.expect_same("SLOWLOG", "RESET")
        self.expect_same("SET", "k", "x" * 200)
        self.expect_same("RPUSH", "l", *range(40))
        self.expect_same("SLOWLOG", "LEN")
        ours, theirs = self.expect_same_shape("SLOWLOG", "GET", "3")
        self.assertEqual([entry[3] for entry in plain(ours)], [entry[3] for entry in plain(theirs)])
        self.expect_same("CONFIG", "SET", "slowlog-log-slower-than", "10000")

    def test_slow_log_of_scripts(self):
        self.expect_same("CONFIG", "SET", "slowlog-log-slower-than", "0")
        self.expect_same("CLIENT", "SETNAME", "someone")
        self.expect_same("SLOWLOG", "RESET")
        self.expect_same("EVAL", "redis.call('set', 'k', 'v') return redis.pcall('incr', 'k')", "0")
        self.expect_same("CONFIG", "SET", "slowlog-log-slower-than", "10000")
        ours, theirs = (plain(reply) for reply in self.both("SLOWLOG", "GET"))
        # The words, whether there is an address, and the name.
        logged = [[[entry[3], entry[4] == "?:0", entry[5]] for entry in log] for log in (ours, theirs)]
        self.assertEqual(*logged)
        self.assertEqual(len(logged[0]), 4)

    def test_monitor_and_the_slow_log_hide_secrets(self):
        commands = (
            ["AUTH", "secret"], ["auth", "ann", "secret"],
            ["HELLO", "3", "AUTH", "ann", "secret"], ["HELLO", "3", "SETNAME", "x", "AUTH", "ann", "secret"],
            ["MIGRATE", "127.0.0.1", "1", "none", "0", "10", "AUTH", "secret"],
            ["MIGRATE", "127.0.0.1", "1", "", "0", "10", "AUTH2", "ann", "secret", "KEYS", "none"],
            ["ACL", "SETUSER", "ann", "on", ">secret", "~k"], ["ACL", "DELUSER", "ann"],
            ["CONFIG", "SET", "requirepass", "secret"], ["CONFIG", "SET", "requirepass", ""],
            ["CONFIG", "SET", "timeout", "0", "masterauth", "secret", "masteruser", "secret"],
            ["CONFIG", "SET", "masterauth", "", "masteruser", ""],
            ["MULTI"], ["AUTH", "secret"], ["ACL", "SETUSER", "ann", ">secret"], ["ACL", "DELUSER", "ann"], ["EXEC"])
        seen = []
        for server, wire in zip((self.served, self.redis), self.wires):
            monitor = server.wire()
            self.addCleanup(monitor.close)
            wire.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
            wire.ask("SLOWLOG", "RESET")
            monitor.ask("MONITOR")
            replies = [wire.ask(*words)[0] for words in commands]
            wire.ask("CONFIG", "SET", "slowlog-log-slower-than", "10000")
            slow = [entry[3] for entry in wire.plain("SLOWLOG", "GET", "-1")]
            wire.ask("ECHO", "the end")
            lines = [""]
            while "the end" not in lines[-1]:
                # Without the time and the address.
                lines.append(re.sub(r"^[0-9.]+ \[0 [^]]*\]", "", monitor.read()[1]))
            seen.append((replies, slow, lines))
        self.assertEqual(*seen)
        self.assertNotIn("secret", repr(seen[0]))
        self.assertGreater(len(seen[0][2]), len(commands) / 2)  # Some are not shown at all.

    def test_latency_of_expiry(self):
        self.expect_same("CONFIG", "SET", "latency-monitor-threshold", "1")
        self.addCleanup(self.both, "CONFIG", "SET", "latency-monitor-threshold", "0")
        fill = "for i = 1, 300000 do redis.call('sadd', KEYS[1], 'member:' .. i) end return 1"
        for wire in self.wires:
            wire.socket.settimeout(180)
            wire.ask("EVAL", fill, "1", "large")
            wire.ask("PEXPIRE", "large", "1")
            while wire.ask("DBSIZE")[1] > 0:
                pass
            names = {event[0] for event in plain(wire.ask("LATENCY", "LATEST"))}
            self.assertLessEqual({"expire-cycle", "expire-del"}, names)

    def test_latency(self):
        for words in (["LATEST"], ["HISTORY", "command"], ["RESET"], ["GRAPH", "command"],
                      ["DOCTOR"], ["HISTOGRAM", "nosuch"], ["RESET", "x", "y"]):
            self.expect_same("LATENCY", *words)
        self.use()
        ours, theirs = (plain(reply) for reply in self.both("LATENCY", "HISTOGRAM", "set", "get"))
        self.assertEqual({name: part["calls"] for name, part in ours.items()},
                         {name: part["calls"] for name, part in theirs.items()})

    def test_acl(self):
        ours, theirs = self.both("ACL", "CAT")
        self.assertEqual(plain(ours), plain(theirs))
        for category in plain(ours):
            mine, real = (sorted(plain(reply)) for reply in self.both("ACL", "CAT", category))
            self.assertEqual(mine, real, category)
        for words in (["LIST"], ["USERS"], ["WHOAMI"], ["GETUSER", "default"], ["GETUSER", "none"],
                      ["SETUSER", "ann", "on", ">p", "~k:*", "%R~r:*", "+@read", "-get", "&c*",
                       "(+set ~s:*)"],
                      ["GETUSER", "ann"], ["LIST"], ["DRYRUN", "ann", "GET", "k:1"],
                      ["DRYRUN", "ann", "MGET", "k:1"], ["DRYRUN", "ann", "MGET", "x"],
                      ["SETUSER", "bad", "nonsense"], ["DELUSER", "ann", "none"], ["SAVE"], ["LOAD"],
                      ["LOG", "RESET"], ["LOG"], ["NOSUCH"]):
            self.expect_same("ACL", *words)

    def test_debug(self):
        self.use()
        self.both("MSET", "shared", "9999", "larger", "10000")
        for key in ("k", "l", "s", "st", "shared", "larger"):
            # Without the address and the clock.
            ours, theirs = (re.sub(r"at:\w+|lru\w*:\d+", "", plain(reply))
                            for reply in self.both("DEBUG", "OBJECT", key))
            self.assertEqual(ours, theirs, key)
        for words in (["SLEEP", "0"], ["SET-ACTIVE-EXPIRE", "1"], ["STRINGMATCH-LEN", "100", "a*"],
                      ["OBJECT", "none"], ["RELOAD"], ["NOSUCH"], ["CHANGE-REPL-ID", "x", "y"]):
            self.expect_same("DEBUG", *words)
        self.expect_same("GET", "k")
        self.expect_same("DBSIZE")
        self.expect_same("DEBUG", "DIGEST")

    def test_debug_protocol_sends_the_same_bytes(self):
        types = ("string", "integer", "double", "bignum", "null", "array", "set", "map", "attrib",
                 "push", "verbatim", "true", "false", "nosuch")
        commands = [f"DEBUG PROTOCOL {name}\r\n" for name in types]
        commands += ["MULTI\r\n", *commands[:-1], "EXEC\r\n"]
        for hello in ("", "HELLO 3\r\n"):
            ours, theirs = (server.ask((hello + "".join(commands)).encode())
                            for server in (self.served, self.redis))
            # Without HELLO's reply, which has ids.
            ours, theirs = (got[got.index(b"$11\r\nHello World"):] for got in (ours, theirs))
            self.assertEqual(ours, theirs)

    def test_what_there_is_not(self):
        self.expect_same("ROLE")
        self.expect_same_shape("LASTSAVE")
        self.expect_same_shape("TIME")


class Art(BesideRedis):
    def test_the_version_is_under_it(self):
        self.expect_same("LOLWUT")
        self.expect_same("LOLWUT", "VERSION", "x")
        self.expect_same("LOLWUT", "VERSION")
        self.expect_same("LOLWUT", "VERSION", "7")
        for words in (["5"], ["5", "40"], ["5", "40", "4", "3"], ["5", "x"], ["5", "0", "0", "0"],
                      ["5", "10000", "300", "2"], ["6"], ["6", "30", "10"], ["6", "x"], ["6", "40", "0"]):
            ours, theirs = self.both("LOLWUT", "VERSION", *words)
            self.assertEqual(ours[0], theirs[0], words)
            colour = re.compile("\x1b\\[[0-9;]*m")
            mine, real = (colour.sub("", plain(reply)).split("\n") for reply in (ours, theirs))
            self.assertEqual(len(mine), len(real), words)
            self.assertEqual([len(line) for line in mine], [len(line) for line in real], words)
            self.assertEqual(mine[-2:], real[-2:], words)

    def test_it_is_never_the_same_twice(self):
        first, second = (self.wires[0].plain("LOLWUT", "VERSION", "5") for _ in range(2))
        self.assertNotEqual(first, second)


if __name__ == "__main__":
    unittest.main()
