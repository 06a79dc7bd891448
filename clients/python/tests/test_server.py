"""A server outside pytest's fixtures: start, state and reset."""

import socket
import threading

import pytest

import redouble.server
from redouble import Redouble, ReplyError, StartError


@pytest.fixture(scope="module")
def server():
    with Redouble(start="2026-05-09T14:03:02Z", seed=7) as started:
        yield started


@pytest.fixture(autouse=True)
def fresh(server):
    server.reset()


def test_has_a_port_of_its_own(server):
    with Redouble() as other:
        assert other.port != server.port
        assert other.url == f"redis://127.0.0.1:{other.port}/0"
        assert repr(other) == f"<Redouble {other.url}>"
    assert not other.running
    assert repr(other) == f"<Redouble {other.url}, stopped>"


def test_stops_once(server, wait_until_refused):
    other = Redouble()
    other.stop()
    other.stop()
    wait_until_refused(other.port)
    assert server.running


def test_needs_no_client_library(server):
    assert server.command("SET", "k", b"\xff\x00") == "OK"
    assert server.command("STRLEN", "k") == 2
    assert server.command("GET", "none") is None
    assert server.command("RPUSH", "l", "a", "é") == 2
    assert server.command("LRANGE", "l", 0, -1) == ["a", "é"]
    with pytest.raises(ReplyError, match="^WRONGTYPE Operation against a key"):
        server.command("INCR", "l")
    assert server.command("PING") == "PONG"


def test_dumps_a_database(server):
    server.command("SET", "k", "v", "PX", 1500)
    assert server.dump() == {"k": {"type": "string", "value": "v", "ttl_ms": 1500}}
    assert server.dump(db=1) == {}


def test_the_seed_decides_random_choices(server):
    server.command("SADD", "s", *range(100))
    drawn = [server.command("SRANDMEMBER", "s") for _ in range(5)]
    with Redouble(seed=7) as same, Redouble(seed=8) as other:
        for each in (same, other):
            each.command("SADD", "s", *range(100))
        assert [same.command("SRANDMEMBER", "s") for _ in range(5)] == drawn
        assert [other.command("SRANDMEMBER", "s") for _ in range(5)] != drawn


def test_reset_restores_keys_time_and_chance(server):
    before = server.sim("HASH")
    server.command("SADD", "s", *range(100))
    first = server.command("SRANDMEMBER", "s")
    server.clock.advance(hours=1)
    server.reset()
    assert server.sim("HASH") == before
    server.command("SADD", "s", *range(100))
    assert server.command("SRANDMEMBER", "s") == first


def test_reset_forgets_faults_scripts_and_functions(server):
    digest = server.command("SCRIPT", "LOAD", "return 1")
    server.command("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)")
    server.faults.error_reply("*", "OOM command not allowed", count=100)
    server.reset()
    assert server.command("SCRIPT", "EXISTS", digest) == [0]
    assert server.command("FUNCTION", "LIST") == []
    assert server.faults.pending() == []


def test_reset_restores_the_configuration_and_the_users(server):
    server.command("CONFIG", "SET", "notify-keyspace-events", "Ex", "maxmemory-policy", "allkeys-lru")
    server.command("ACL", "SETUSER", "guest", "on", "nopass", "+get", "~*")
    server.command("ACL", "SETUSER", "default", ">secret")
    server.reset()
    assert server.command("CONFIG", "GET", "notify-keyspace-events") == ["notify-keyspace-events", ""]
    assert server.command("CONFIG", "GET", "maxmemory-policy") == ["maxmemory-policy", "noeviction"]
    assert server.command("ACL", "LIST") == ["user default on nopass sanitize-payload ~* &* +@all"]
    with socket.create_connection((server.host, server.port), 5) as stranger:
        stranger.sendall(b"PING\r\n")
        assert stranger.recv(100) == b"+PONG\r\n"


def test_waits_until_a_client_is_blocked(server):
    replies = []
    redis = server.client(decode_responses=True)
    thread = threading.Thread(target=lambda: replies.append(redis.blpop("q", timeout=5)))
    thread.start()
    server.wait_until_blocked()
    server.clock.next()
    thread.join(10)
    assert replies == [None]
    with pytest.raises(TimeoutError, match="0 of 1 clients are blocked after 0 s"):
        server.wait_until_blocked(timeout=0)


def test_may_follow_the_clock_of_the_machine():
    with Redouble(clock="system") as server:
        server.command("SET", "k", "v")
        digest = server.command("SCRIPT", "LOAD", "return 1")
        server.reset()
        assert server.command("DBSIZE") == 0
        assert server.command("SCRIPT", "EXISTS", digest) == [0]
        with pytest.raises(ReplyError):
            server.clock.now()


def test_passes_options_on():
    with Redouble(options=["--maxmemory", "3mb"]) as server:
        assert server.command("CONFIG", "GET", "maxmemory") == ["maxmemory", "3145728"]


def test_an_option_that_the_program_refuses_is_reported():
    with pytest.raises(StartError, match="(?s)exit code 2.*--maxmemory"):
        Redouble(options=["--maxmemory", "much"])


def test_a_server_that_wants_a_password_is_stopped(wait_until_refused, monkeypatch):
    ports = _record_ports(monkeypatch)
    with pytest.raises(ReplyError, match="NOAUTH"):
        Redouble(options=["--requirepass", "secret"])
    wait_until_refused(ports[0])


def test_tries_another_port_when_a_program_was_faster(server, monkeypatch):
    ports = _record_ports(monkeypatch, first=server.port)
    with Redouble() as other:
        assert ports == [server.port, other.port]


def test_gives_up_when_every_port_is_taken(server, monkeypatch):
    monkeypatch.setattr(redouble.server, "_free_port", lambda: server.port)
    with pytest.raises(StartError, match="exit code 1"):
        Redouble()


def test_a_program_that_never_listens_is_stopped(tmp_path, monkeypatch):
    program = tmp_path / "silent"
    program.write_text("#!/bin/sh\necho $$ still thinking\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(redouble.server, "_START_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(StartError, match=r"not ready after 0.5 s; it printed: \d+ still thinking") as error:
        Redouble(program)
    pid = str(error.value).split(": ")[1].split()[0]
    with pytest.raises(FileNotFoundError):
        open(f"/proc/{pid}/stat", "rb").close()


def _record_ports(monkeypatch, first=None):
    """The ports that are tried from now on, `first` before free ones."""
    ports = []
    find = redouble.server._free_port

    def choose():
        ports.append(first if first and not ports else find())
        return ports[-1]

    monkeypatch.setattr(redouble.server, "_free_port", choose)
    return ports
