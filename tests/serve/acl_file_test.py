"""The parameter aclfile, ACL LOAD, ACL SAVE and `user` directives, beside redis-server."""

import os
import unittest

from served import ConfiguredTestCase, Served

GOOD = """\
user bob on nopass ~* +@all &*

  user default on nopass ~* &* +@all\r
 user cat on >x ~* (%R~x +set) resetchannels
user eve off #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 ~a:* +get +@hash
"""

BAD = """\
user default on nopass ~* &* +@all
user ann on >p ~k:* +@read
user
usr bob
# no comments
user bad  on nonsense +nosuch >x
user ann on
user bad2 (+get ~x
user bad3 (+gxt ~x)
user bad4 on !abc #zz
"user q on
user \ttab on
user bad5 %R&x ~* ~a &* &b
  user  two on
"""


class AclFileTest(ConfiguredTestCase):
    NAME = "users.acl"

    def start_on_file(self, kind):
        return self.start(kind, "--aclfile", "users.acl", "--dir", self.folder)

    def wire(self, server, user=None):
        wire = server.wire()
        self.addCleanup(wire.close)
        if user is not None:
            self.assertEqual(wire.ask("AUTH", user, "x"), ("+", "OK"))
        return wire


class File(AclFileTest):
    def test_the_users_are_loaded_and_saved(self):
        def run(kind):
            self.write(GOOD)
            server = self.start_on_file(kind)
            wire = self.wire(server)
            replies = [wire.ask(*command.split()) for command in (
                "ACL LIST", "ACL SETUSER dan on +ping", "ACL DELUSER eve", "ACL SAVE",
                "CONFIG GET aclfile", "CONFIG SET aclfile x", "ACL LOAD x", "ACL SAVE x")]
            replies.append(self.read())
            server.stop()
            wire = self.wire(self.start_on_file(kind))
            return replies + [wire.ask("ACL", "LIST")]

        self.assertIn("user dan on resetchannels -@all +ping\n", self.both(run)[-2])

    def test_a_changed_file_replaces_the_users(self):
        def run(kind):
            self.write(GOOD)
            wire = self.wire(self.start_on_file(kind))
            replies = []
            for text in ("user ann on +@read ~*\nuser default on >y +@all\n", "",
                         "user default on nopass +@all", BAD, "user bob on +nosuch\n"):
                self.write(text)
                replies += [wire.ask("ACL", "LOAD"), wire.ask("ACL", "LIST"), wire.ask("PING")]
                if text == "":
                    replies.append(wire.ask("CONFIG", "SET", "acl-pubsub-default", "allchannels"))
            os.remove(self.path)
            return replies + [wire.ask("ACL", "LOAD")]

        replies = self.both(run)
        self.assertIn("ACL errors detected, no change", repr(replies))

    def test_connections_of_users_are_closed(self):
        def is_open(wire):
            try:
                return wire.ask("PING")[0] != ""
            except (ConnectionError, OSError):
                return False

        def run(kind):
            self.write(GOOD)
            server = self.start_on_file(kind)
            default, bob, waiting, subscribed, cat = (
                self.wire(server, user) for user in (None, "bob", "bob", "bob", "cat"))
            waiting.send("BLPOP", "k", "0")
            subscribed.ask("SUBSCRIBE", "c")
            while "blocked_clients:1" not in server.cli("INFO", "clients"):
                pass
            replies = [default.ask("ACL", "LOAD")]
            replies += [is_open(wire) for wire in (default, bob, waiting, subscribed, cat)]
            # The client that asks gets its reply.
            bob = self.wire(server, "bob")
            return replies + [bob.ask("ACL", "LOAD"), is_open(bob), is_open(default)]

        self.assertEqual(self.both(run), [("+", "OK"), True, False, False, False, False,
                                          ("+", "OK"), False, True])

    def test_within_transactions_and_scripts(self):
        def run(kind):
            self.write("user default on nopass ~* &* +@all\n")
            wire = self.wire(self.start_on_file(kind))
            commands = (["MULTI"], ["ACL", "LOAD"], ["ACL", "SAVE"], ["PING"], ["EXEC"],
                        ["EVAL", "return redis.pcall('ACL', 'LOAD')", "0"],
                        ["CONFIG", "SET", "requirepass", "zz"], ["ACL", "LIST"], ["ACL", "LOAD"],
                        ["ACL", "LIST"], ["CONFIG", "GET", "requirepass"])
            return [wire.ask(*command) for command in commands]

        self.both(run)

    def test_a_file_that_cannot_be_written(self):
        def run(kind):
            self.write(GOOD)
            wire = self.wire(self.start_on_file(kind))
            os.remove(self.path)
            os.mkdir(self.path)
            reply = wire.ask("ACL", "SAVE")
            self.assertEqual(os.listdir(self.folder), ["users.acl"])
            os.rmdir(self.path)
            return reply

        self.assertEqual(self.both(run)[1],
                         "ERR There was an error trying to save the ACLs. Please check the server "
                         "logs for more information")

    def test_the_option_of_serve(self):
        self.write(GOOD)
        served = Served("--aclfile", self.path)
        self.addCleanup(served.stop)
        self.assertEqual(served.cli("ACL", "USERS"), "bob\ncat\ndefault\neve\n")
        self.assertEqual(served.cli("ACL", "SAVE"), "OK\n")

    def test_rewritten_configurations_have_no_users_of_the_file(self):
        def run(kind):
            self.write(GOOD)
            config = os.path.join(self.folder, "redis.conf")
            self.write("aclfile users.acl\n", "redis.conf")
            server = self.start(kind, config, "--dir", self.folder)
            replies = [server.cli("CONFIG", "REWRITE")]
            server.stop()
            with open(config, encoding="utf-8") as file:
                lines = file.read().split("\n")
            return replies + lines[:1] + [line for line in lines if line.startswith("user ")]

        self.assertEqual(self.both(run), ["OK\n", "aclfile \"users.acl\""])


class Starting(AclFileTest):
    def failure(self, kind, *arguments):
        """The last line of a server that does not start, and its exit code."""
        server = self.start(kind, *arguments)
        self.assertTrue(hasattr(server, "output"), arguments)
        last = server.output.rstrip("\n").split("\n")[-1].removeprefix("redis-server: ")
        return last, server.stop()

    def test_a_broken_file_stops_the_start(self):
        self.write(BAD, "u")  # A short name, because redis-server cuts off long lines of its log.
        text = self.both(lambda kind: self.failure(kind, "--aclfile", "u", "--dir", self.folder))[0]
        self.assertTrue(text.startswith("Aborting Redis startup because of ACL errors: "), text)
        self.both(lambda kind: self.failure(kind, "--aclfile", "/nowhere/users.acl"))

    def test_users_in_both_files_stop_the_start(self):
        self.write(GOOD)
        self.both(lambda kind: self.failure(kind, "--aclfile", self.path, "--user", "ann on"))

    def test_wrong_directives_stop_the_start(self):
        # A parenthesis that is not closed has no error of its own in Redis, which prints the last one.
        config = os.path.join(self.folder, "redis.conf")
        for lines in ("user bob on nonsense", "user bob on ~* ~x", "user bob on ~* (%X~x) ~x",
                      "user bob on +@nosuch nonsense",
                      "user bob on (+get ~x) )", "user default on\nuser default off",
                      "user bob on \"~x y\"", "user bob on +nosuch", "user bob off (+nosuch ~x)",
                      "user \"b b\" on"):
            with self.subTest(lines):
                self.write(lines + "\n", "redis.conf")
                self.both(lambda kind: self.failure(kind, config))

    def test_directives_make_users(self):
        def run(kind):
            config = os.path.join(self.folder, "redis.conf")
            self.write("user default on +ping ~x\nrequirepass foo\nUSER bob on\nuser dan\n"
                       "acl-pubsub-default allchannels\nuser cat >x on allcommands ~*\n", "redis.conf")
            server = self.start(kind, config, "--dir", self.folder)
            replies = [server.wire().ask("PING"), self.wire(server, "cat").ask("ACL", "LIST"),
                       server.wire().ask("AUTH", "foo")]
            server.stop()
            return replies

        self.both(run)


if __name__ == "__main__":
    unittest.main()
