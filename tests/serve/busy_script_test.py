"""Scripts that run longer than busy-reply-threshold, beside redis-server.

Both serve other clients meanwhile. The scripts end when they are killed, or after so many
instructions that the others notice them.
"""

import signal
import unittest

from served import ConfiguredTestCase

BUSY = ("-", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
LONG = "for i = 1, 100000000 do end "
ENDLESS = "while true do end"


class BusyScriptTest(ConfiguredTestCase):
    def start(self, kind, *options):
        server = super().start(kind, "--save", "", "--dir", self.folder, *options)
        wire = self.wire(server)
        self.assertEqual(wire.ask("CONFIG", "SET", "busy-reply-threshold", "1"), ("+", "OK"))
        return server

    def wire(self, server, protocol=2):
        wire = server.wire(protocol)
        self.addCleanup(wire.close)
        return wire

    def until_blocked(self, wire):
        while "blocked_clients:1" not in wire.plain("INFO", "clients"):
            pass

    def until_busy(self, wire):
        while wire.ask("PING") != BUSY:
            pass


class Running(BusyScriptTest):
    def test_a_script_that_writes_goes_on_and_ends(self):
        def run(kind):
            server = self.start(kind)
            caller, other, waiter = (self.wire(server) for _ in range(3))
            waiter.send("BLPOP", "list", "0")
            self.until_blocked(other)
            caller.send("EVAL", "redis.call('RPUSH', 'list', 'a', 'b') " + LONG +
                        "redis.call('SET', 'k', 'v') return 'done'", "0")
            # This command waits in the socket for the end of the script.
            caller.send("GET", "k")
            self.until_busy(other)
            replies = [other.ask("SCRIPT", "KILL"), other.ask("GET", "k"), other.ask("MULTI"),
                       other.ask("GET", "k"), other.ask("DISCARD"), caller.read(), caller.read(),
                       waiter.read(), other.ask("LRANGE", "list", "0", "-1"),
                       other.ask("SCRIPT", "KILL")]
            return replies

        self.assertEqual(self.both(run)[5], ("$", "done"))

    def test_it_becomes_busy_again(self):
        def run(kind):
            server = self.start(kind)
            caller, other = self.wire(server), self.wire(server)
            for _ in range(2):
                caller.send("EVAL", "local n = 0 while true do n = n + 1 redis.call('PING') end", "0")
                self.until_busy(other)
                self.assertEqual(other.ask("SCRIPT", "KILL"), ("+", "OK"))
                kind_of_reply, text = caller.read()
                self.assertIn("Script killed by user with SCRIPT KILL", text)
            return kind_of_reply, caller.ask("PING"), other.ask("PING")

        self.both(run)

    # redis-server hangs.
    def test_a_handler_of_errors_is_stopped(self):
        server = self.start("redouble")
        caller, other = self.wire(server), self.wire(server)
        caller.send("EVAL", f"return {{xpcall(function() {ENDLESS} end, function() {ENDLESS} end)}}", "0")
        self.until_busy(other)
        self.assertEqual(other.ask("SCRIPT", "KILL"), ("+", "OK"))
        self.assertIn("Script killed by user with SCRIPT KILL", caller.read()[1])
        self.assertEqual(other.ask("PING"), ("+", "PONG"))

    def test_in_a_transaction(self):
        def run(kind):
            server = self.start(kind)
            caller, other = self.wire(server), self.wire(server)
            for words in (("MULTI",), ("SET", "k", "1"), ("EVAL", ENDLESS, "0"), ("INCR", "k")):
                caller.ask(*words)
            caller.send("EXEC")
            self.until_busy(other)
            killed = other.ask("SCRIPT", "KILL")
            kind_of_reply, (first, (error, _), last) = caller.read()
            return killed, kind_of_reply, first, error, last, other.ask("GET", "k")

        self.assertEqual(self.both(run)[4:], ((":", 2), ("$", "2")))

    def test_functions(self):
        def run(kind):
            server = self.start(kind)
            caller, other = self.wire(server), self.wire(server)
            caller.ask("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() "
                                           + ENDLESS + " end)")
            caller.send("fcall", "f", "0", "word")
            while other.ask("PING")[0] != "-":
                pass
            running = dict(zip(*[iter(other.plain("FUNCTION", "STATS")[1])] * 2))
            self.assertGreaterEqual(running.pop("duration_ms"), 1)
            replies = [other.ask("PING"), other.ask("SCRIPT", "KILL"), other.ask("FUNCTION", "KILL")]
            caller.read()
            return running, replies, other.plain("FUNCTION", "STATS")[:2]

        self.both(run)


class Others(BusyScriptTest):
    def test_they_connect_and_leave(self):
        def run(kind):
            server = self.start(kind, "--maxclients", "50")
            caller = self.wire(server)
            caller.send("EVAL", ENDLESS, "0")
            for _ in range(200):
                wire = server.wire()
                self.until_busy(wire)
                wire.close()
            other = self.wire(server)
            self.until_busy(other)
            quits = self.wire(server)
            replies = [quits.ask("QUIT"), quits.file.readline(), other.ask("SCRIPT", "KILL")]
            caller.read()
            return replies, other.ask("PING")

        self.both(run)

    def test_messages_arrive_during_the_script(self):
        def run(kind):
            server = self.start(kind)
            caller, other, listener = self.wire(server), self.wire(server), self.wire(server)
            listener.ask("SUBSCRIBE", "news")
            caller.send("EVAL", "redis.call('PUBLISH', 'news', 'x') " + ENDLESS, "0")
            message = listener.read()
            self.until_busy(other)
            replies = [message, other.ask("SCRIPT", "KILL")]
            caller.read()
            return replies

        self.both(run)

    def test_the_caller_leaves(self):
        def run(kind):
            server = self.start(kind)
            caller, other = server.wire(), self.wire(server)
            caller.send("EVAL", ENDLESS, "0")
            self.until_busy(other)
            caller.close()
            self.until_busy(other)
            killed = other.ask("SCRIPT", "KILL")
            while other.ask("PING") == BUSY:
                pass
            return killed, other.ask("DBSIZE")

        self.both(run)

    def test_a_command_with_half_its_words(self):
        def run(kind):
            server = self.start(kind)
            caller, other = self.wire(server), self.wire(server)
            half = self.wire(server)
            half.socket.sendall(b"*2\r\n$4\r\nECHO\r\n$5\r\nhe")
            caller.send("EVAL", ENDLESS, "0")
            self.until_busy(other)
            half.socket.sendall(b"llo\r\n")
            replies = [half.read(), other.ask("SCRIPT", "KILL")]
            caller.read()
            return replies, half.ask("ECHO", "x")

        self.both(run)

    def test_a_script_after_a_pause(self):
        """The script runs when another client's command lets it."""
        def run(kind):
            server = self.start(kind)
            caller, other, pauser = self.wire(server), self.wire(server), self.wire(server)
            pauser.ask("CLIENT", "PAUSE", "100000", "WRITE")
            caller.send("EVAL", ENDLESS, "0")
            self.until_blocked(pauser)
            pauser.send("CLIENT", "UNPAUSE")
            self.until_busy(other)
            replies = [other.ask("SCRIPT", "KILL"), pauser.read()]
            caller.read()
            return replies, pauser.ask("PING")

        self.both(run)


    def test_a_command_after_a_pause_waits_for_the_script(self):
        def run(kind):
            server = self.start(kind)
            writer, other, pauser = self.wire(server), self.wire(server), self.wire(server)
            pauser.ask("CLIENT", "PAUSE", "100000", "WRITE")
            writer.send("SET", "k", "v")
            self.until_blocked(pauser)
            for words in (("MULTI",), ("CLIENT", "UNPAUSE"), ("EVAL_RO", ENDLESS, "0")):
                pauser.ask(*words)
            pauser.send("EXEC")
            self.until_busy(other)
            return other.ask("SCRIPT", "KILL"), writer.read()

        self.assertEqual(self.both(run)[1], ("+", "OK"))


class Stopping(BusyScriptTest):
    def test_shutdown(self):
        def run(kind):
            server = self.start(kind)
            caller, other = self.wire(server), self.wire(server)
            caller.send("EVAL", "redis.call('SET', 'k', 'v') " + ENDLESS, "0")
            self.until_busy(other)
            refused = other.ask("SCRIPT", "KILL"), other.ask("SHUTDOWN")
            other.send("SHUTDOWN", "NOSAVE")
            return refused, server.process.wait(20)

        self.assertEqual(self.both(run)[1], 0)

    def test_a_signal_ends_a_script_whose_writes_are_not_saved(self):
        server = self.start("redouble")
        caller, other = self.wire(server), self.wire(server)
        caller.send("EVAL", "redis.call('SET', 'k', 'v') " + ENDLESS, "0")
        self.until_busy(other)
        self.assertEqual(server.stop(signal.SIGTERM), 0)

    def test_a_signal_waits_for_a_script_whose_writes_are_saved(self):
        server = self.start("redouble", "--save", "3600 1")
        caller, other = self.wire(server), self.wire(server)
        caller.send("EVAL", "redis.call('SET', 'k', 'v') " + LONG + "return 'done'", "0")
        self.until_busy(other)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(caller.read(), ("$", "done"))
        self.assertEqual(server.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
