"""Goal: maxmemory-clients closes the same clients as redis-server, and buffers count to maxmemory.
"""

import re
import time
import unittest

from served import Redis, Served

LIMIT = 4_000_000


class ClientEviction(unittest.TestCase):
    def setUp(self):
        self.servers = []
        for kind in (Served, Redis):
            server = kind("--enable-debug-command", "local")
            self.addCleanup(server.stop)
            self.servers.append(server)

    def both(self, observe, *arguments):
        ours, theirs = (observe(server, *arguments) for server in self.servers)
        self.assertEqual(ours, theirs)
        return ours

    @staticmethod
    def admin(server, limit=LIMIT):
        """A connection that is never closed."""
        wire = server.wire()
        wire.ask("CLIENT", "NO-EVICT", "ON")
        wire.ask("CONFIG", "SET", "maxmemory-clients", limit)
        return wire

    @staticmethod
    def outcome(wire, *words):
        try:
            return wire.ask(*words)
        except OSError:
            return "closed"

    def evicted(self, admin):
        return re.search("evicted_clients:([0-9]+)", admin.plain("INFO", "stats"))[1]

    def test_a_large_command(self):
        def observe(server):
            admin, other, client = self.admin(server), server.wire(), server.wire()
            seen = [self.outcome(client, "SET", "k", "x" * (LIMIT // 2)), self.evicted(admin),
                    self.outcome(client, "SET", "k", "x" * (LIMIT + 1000)), self.outcome(other, "PING"),
                    self.evicted(admin), self.outcome(admin, "SET", "k", "x" * (LIMIT + 1000))]
            admin.ask("CONFIG", "RESETSTAT")
            return seen
        self.both(observe)

    def test_debug_shows_the_clients_by_their_size(self):
        def observe(server):
            admin = self.admin(server)
            clients = [server.wire() for _ in range(3)]
            for client in clients:
                client.ask("PING")
            lines = admin.plain("DEBUG", "CLIENT-EVICTION").splitlines()
            found = [re.fullmatch(r"(bucket.*): tot-mem: {1,10}[0-9]+, clients: ([0-9]+)", line)
                     for line in lines]
            return [match[1] for match in found], sum(int(match[2]) for match in found)
        _, clients = self.both(observe)
        self.assertEqual(clients, 3)

    def test_a_large_word_has_its_room_before_it_arrives(self):
        def observe(server):
            admin, client = self.admin(server), server.wire()
            number, seen = str(client.plain("CLIENT", "ID")), []
            for size in (LIMIT // 2, LIMIT):
                client.socket.sendall(b"*1\r\n$%d\r\nbeginning" % size)
                total = 0
                deadline = time.monotonic() + 30
                while total < size and (line := admin.plain("CLIENT", "LIST", "ID", number)):
                    total = int(re.search("tot-mem=([0-9]+)", line)[1])
                    self.assertLess(time.monotonic(), deadline)
                # The list may show a client that is evicted after it.
                seen.append((size < LIMIT and total > size, self.evicted(admin)))
                client = server.wire()
                number = str(client.plain("CLIENT", "ID"))
            admin.ask("CONFIG", "RESETSTAT")
            return seen
        self.assertEqual(self.both(observe), [(True, "0"), (False, "1")])

    def test_a_share_of_maxmemory(self):
        def observe(server):
            admin, client = self.admin(server, "5%"), server.wire()
            seen = [self.outcome(client, "SET", "k", "x" * LIMIT)]
            admin.ask("CONFIG", "SET", "maxmemory", str(20 * LIMIT // 2))
            return seen + [self.outcome(client, "SET", "k", "x" * LIMIT), self.evicted(admin)]
        self.both(observe)

    def test_what_a_client_collects(self):
        """Queued commands, watched keys, subscriptions, prefixes."""
        def repeat(server, *words):
            admin, client = self.admin(server, 300_000), server.wire()
            if words[0] == "SET":
                client.ask("MULTI")
            for i in range(100_000):
                reply = self.outcome(client, *(word.replace("#", str(i)) for word in words))
                if reply == "closed":
                    break
            else:
                return "never closed"
            admin.ask("CONFIG", "SET", "maxmemory-clients", "0")
            return self.evicted(admin)
        for words in (["SET", "k", "v" * 1000], ["WATCH", "key:#"], ["SUBSCRIBE", "channel:#"],
                      ["PSUBSCRIBE", "pattern:#"],
                      ["CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "#:prefix"]):
            with self.subTest(" ".join(words)):
                for server in self.servers:
                    server.cli("CONFIG", "RESETSTAT")
                self.assertEqual(self.both(repeat, *words), "1")

    def test_the_largest_clients_first(self):
        def observe(server):
            admin = self.admin(server, 0)
            clients = []
            for size in (10_000, 1_000_000, 300_000, 1_000_000):
                client = server.wire()
                client.ask("MULTI")
                client.ask("SET", "k", "x" * size)
                clients.append(client)
            admin.ask("CONFIG", "SET", "maxmemory-clients", "1000000")
            admin.ask("PING")
            return [self.outcome(client, "DISCARD") for client in clients], self.evicted(admin)
        self.both(observe)

    def test_queued_commands_in_client_list(self):
        def observe(server):
            admin, client = server.wire(), server.wire()
            number, seen = str(client.plain("CLIENT", "ID")), []
            for words in (["MULTI"], ["GET", "k"], ["GET", "k" * 100], ["MSET", *"ab" * 10], ["DISCARD"]):
                client.ask(*words)
                line = admin.plain("CLIENT", "LIST", "ID", number)
                seen.append(re.findall("multi=-?[0-9]+|multi-mem=[0-9]+", line))
            return seen
        self.both(observe)

    def test_unread_replies_evict_keys(self):
        for server in self.servers:
            admin, reader = server.wire(), server.wire()
            for i in range(100):
                admin.ask("SET", f"key:{i}", "x" * 10_000)
            admin.ask("SET", "big", "y" * 1_000_000)
            used = int(re.search("used_memory:([0-9]+)", admin.plain("INFO", "memory"))[1])
            admin.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
            admin.ask("CONFIG", "SET", "maxmemory", str(used + 3_000_000))
            for _ in range(30):
                reader.send("ECHO", "z" * 300_000)
            deadline = time.monotonic() + 30
            while admin.plain("DBSIZE") > 90:
                self.assertLess(time.monotonic(), deadline)


if __name__ == "__main__":
    unittest.main()
