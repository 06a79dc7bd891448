"""Goal: client-side caching: invalidations reach the client's own or a redirected connection."""

import unittest

from served import Served


class Tracking(unittest.TestCase):
    def setUp(self):
        self.served = Served("--clock", "manual")
        self.addCleanup(self.served.stop)

    def wire(self, protocol=3):
        wire = self.served.wire(protocol)
        self.addCleanup(wire.close)
        return wire

    def expect_invalidation(self, wire, keys):
        kind, content = wire.read()
        self.assertEqual(kind, ">")
        self.assertEqual(content[0], ("$", "invalidate"))
        expected = ("_", "") if keys is None else ("*", [("$", key) for key in keys])
        self.assertEqual(content[1], expected)

    def test_what_was_read_is_invalidated_once(self):
        reader, writer = self.wire(), self.wire()
        self.assertEqual(reader.ask("CLIENT", "TRACKING", "ON"), ("+", "OK"))
        reader.ask("GET", "k")
        writer.ask("SET", "k", "1")
        self.expect_invalidation(reader, ["k"])
        writer.ask("SET", "k", "2")
        self.assertEqual(reader.ask("PING"), ("+", "PONG"))
        reader.ask("GET", "k")
        writer.ask("FLUSHALL")
        self.expect_invalidation(reader, None)

    def test_what_went_before_it_tracked_is_not_told(self):
        reader = self.wire()
        reader.ask("FLUSHALL")
        self.assertEqual(reader.ask("CLIENT", "TRACKING", "ON"), ("+", "OK"))
        self.assertEqual(reader.ask("PING"), ("+", "PONG"))
        self.assertEqual(reader.ask("PING"), ("+", "PONG"))

    def test_what_expires_is_invalidated(self):
        reader, writer = self.wire(), self.wire()
        writer.ask("SET", "k", "v", "PX", "10")
        reader.ask("CLIENT", "TRACKING", "ON")
        reader.ask("GET", "k")
        writer.ask("SIM", "CLOCK", "ADVANCE", "11")
        self.expect_invalidation(reader, ["k"])

    def test_its_own_changes_are_told_unless_it_asks_not_to_be(self):
        reader = self.wire()
        reader.ask("CLIENT", "TRACKING", "ON")
        reader.ask("GET", "k")
        reader.send("SET", "k", "1")
        kinds = {reader.read()[0], reader.read()[0]}
        self.assertEqual(kinds, {"+", ">"})
        reader.ask("CLIENT", "TRACKING", "OFF")
        reader.ask("CLIENT", "TRACKING", "ON", "NOLOOP")
        reader.ask("GET", "k")
        self.assertEqual(reader.ask("SET", "k", "2"), ("+", "OK"))
        self.assertEqual(reader.ask("PING"), ("+", "PONG"))

    def test_prefixes_are_told_without_being_read(self):
        reader, writer = self.wire(), self.wire()
        reader.ask("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "user:", "PREFIX", "job:")
        writer.ask("SET", "other", "1")
        writer.ask("SET", "job:1", "1")
        self.expect_invalidation(reader, ["job:1"])
        writer.ask("MSET", "user:1", "a", "user:2", "b")
        self.expect_invalidation(reader, ["user:1", "user:2"])

    def test_opting_in_and_out(self):
        for option, word, is_told in (("OPTIN", "yes", True), ("OPTOUT", "no", False)):
            reader, writer = self.wire(), self.wire()
            reader.ask("CLIENT", "TRACKING", "ON", option)
            reader.ask("GET", "plain")
            self.assertEqual(reader.ask("CLIENT", "CACHING", word), ("+", "OK"))
            reader.ask("GET", "marked")
            writer.ask("SET", "plain", "1")
            writer.ask("SET", "marked", "1")
            self.expect_invalidation(reader, ["marked" if is_told else "plain"])
            self.assertEqual(reader.ask("PING"), ("+", "PONG"))

    def test_a_client_of_resp2_hears_of_another_ones_keys(self):
        listener, reader, writer = self.wire(2), self.wire(2), self.wire(2)
        number = listener.plain("CLIENT", "ID")
        listener.ask("SUBSCRIBE", "__redis__:invalidate")
        self.assertEqual(reader.ask("CLIENT", "TRACKING", "ON", "REDIRECT", number), ("+", "OK"))
        self.assertEqual(reader.plain("CLIENT", "GETREDIR"), number)
        reader.ask("GET", "k")
        writer.ask("SET", "k", "1")
        self.assertEqual(listener.read(), ("*", [
            ("$", "message"), ("$", "__redis__:invalidate"), ("*", [("$", "k")])]))
        reader.ask("GET", "k")
        writer.ask("FLUSHALL")
        self.assertEqual(listener.read()[1][2], ("$-1", None))
        info = reader.plain("CLIENT", "TRACKINGINFO")
        self.assertEqual(info[:4], ["flags", ["on"], "redirect", number])

    def test_a_listener_that_is_gone_is_told_of(self):
        listener, reader, writer = self.wire(2), self.wire(), self.wire()
        number = listener.plain("CLIENT", "ID")
        listener.ask("SUBSCRIBE", "__redis__:invalidate")
        reader.ask("CLIENT", "TRACKING", "ON", "REDIRECT", number)
        reader.ask("GET", "k")
        writer.ask("CLIENT", "KILL", "ID", number)
        writer.ask("SET", "k", "1")
        self.assertEqual(reader.read(), (">", [
            ("$", "tracking-redir-broken"), (":", number)]))
        self.assertIn("broken_redirect", reader.plain("CLIENT", "TRACKINGINFO")["flags"])


if __name__ == "__main__":
    unittest.main()
