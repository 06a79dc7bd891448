"""Goal: whatever a client asks for, the server takes no more memory than a few times what Redis takes.

Each row is played on a new `redouble serve` and a new redis-server. The peak of the resident memory
(VmHWM) is compared; a table has both figures. `--row NAME` plays one row. Strings of the test are a tenth
of those of the campaign, which `--long` plays.
"""

import argparse
import os
import sys

from served import Redis, Served

MB = 1 << 20
# A row passes if our peak is below this many times that of Redis, and this much more.
FACTOR = 2
SLACK = 32 * MB
# The bytes of the strings that commands return.
STRING = 10 * MB


def configure(server, *lines):
    for line in lines:
        reply = server.ask(b"CONFIG SET " + line.encode() + b"\r\n")
        assert reply == b"+OK\r\n", (line, reply)


def set_string(server, size):
    assert server.ask(b"SETRANGE big %d x\r\n" % (size - 1)) == b":%d\r\n" % size


def lazy(server, line):
    """A client that reads nothing after the reply to `line`."""
    connection = server.open()
    connection.sendall(line.encode() + b"\r\n")
    connection.recv(100)
    return connection


def script(server, call, times=1500):
    """Runs `call` with a string `s` of a megabyte."""
    body = b"local s = string.rep('x', 1048576) for i = 1, %d do redis.call(%s) end return 1" % (times, call)
    with server.open() as connection:
        connection.settimeout(120)
        assert server.ask(b'EVAL "%s" 0\r\n' % body, connection) == b":1\r\n"


def drain(server, data):
    """Sends `data` at once, and reads until the server closes the connection or has answered."""
    end = b"$8\r\n<ending>\r\n"
    with server.open() as connection:
        connection.settimeout(120)
        tail = b""
        try:
            connection.sendall(data + b"ECHO <ending>\r\n")
            while not tail.endswith(end):
                part = connection.recv(1 << 20)
                if not part:
                    break
                tail = (tail + part)[-len(end):]
        except (BrokenPipeError, ConnectionResetError):
            pass


def script_publishes(server):
    configure(server, '"client-output-buffer-limit" "pubsub 32mb 0 0"')
    with lazy(server, "SUBSCRIBE c"):
        script(server, b"'publish', 'c', s")


def script_publishes_to_shards(server):
    configure(server, '"client-output-buffer-limit" "pubsub 32mb 0 0"')
    with lazy(server, "SSUBSCRIBE c"):
        script(server, b"'spublish', 'c', s")


def keyspace_events(server):
    configure(server, '"client-output-buffer-limit" "pubsub 32mb 0 0"', "notify-keyspace-events KEA")
    with lazy(server, "PSUBSCRIBE *"):
        script(server, b"'set', s, i")


def monitor(server):
    configure(server, '"client-output-buffer-limit" "normal 32mb 0 0"')
    with lazy(server, "MONITOR"):
        script(server, b"'echo', s", times=200)


def invalidations(server):
    configure(server, '"client-output-buffer-limit" "normal 32mb 0 0"')
    connection = lazy(server, "HELLO 3")
    with connection:
        connection.sendall(b"CLIENT TRACKING ON BCAST\r\n")
        script(server, b"'set', s .. i % 2, i")


def gets_in_one_packet(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    set_string(server, STRING // 10)
    drain(server, b"GET big\r\n" * 200)


def gets_in_a_transaction(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    set_string(server, STRING // 10)
    drain(server, b"MULTI\r\n" + b"GET big\r\n" * 200 + b"EXEC\r\n")


def gets_in_a_script(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    set_string(server, STRING // 10)
    drain(server, b"EVAL \"for i = 1, 200 do redis.call('get', 'big') end\" 0\r\n")


def srandmember(server):
    server.ask(b"SADD s a\r\n")
    drain(server, b"SRANDMEMBER s -5000000\r\n")


def hrandfield(server):
    server.ask(b"HSET h f v\r\n")
    drain(server, b"HRANDFIELD h -5000000 WITHVALUES\r\n")


def zrandmember(server):
    server.ask(b"ZADD z 1 m\r\n")
    drain(server, b"ZRANDMEMBER z -5000000 WITHSCORES\r\n")


def srandmember_limited(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    srandmember(server)


def mget(server):
    set_string(server, STRING)
    drain(server, b"MGET" + b" big" * 20 + b"\r\n")


def mget_limited(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    mget(server)


def fill_list(server):
    push = b"*100002\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n" + b"$1\r\nx\r\n" * 100_000
    for i in range(30):
        assert server.ask(push) == b":%d\r\n" % (100_000 * (i + 1))


def lrange(server):
    fill_list(server)
    drain(server, b"LRANGE l -9223372036854775808 9223372036854775807\r\n")


def fill_stream(server):
    script = b"for i = 1, 500000 do redis.call('xadd', 'x', i .. '-1', 'f', 'v') end return 1"
    assert server.ask(b'EVAL "%s" 0\r\n' % script) == b":1\r\n"


def xrange(server):
    fill_stream(server)
    drain(server, b"XRANGE x - +\r\n")


def xread(server):
    fill_stream(server)
    drain(server, b"XREAD STREAMS x 0\r\n")


def keys(server):
    script = b"for i = 1, 500000 do redis.call('set', i, 1) end return 1"
    assert server.ask(b'EVAL "%s" 0\r\n' % script) == b":1\r\n"
    drain(server, b"KEYS *\r\n" * 3)


def collections(server):
    script = (b"for i = 1, 300000 do redis.call('sadd', 's', i) redis.call('zadd', 'z', i, i) "
              b"redis.call('hset', 'h', i, i) end return 1")
    assert server.ask(b'EVAL "%s" 0\r\n' % script) == b":1\r\n"
    drain(server, b"SMEMBERS s\r\nZRANGE z 0 -1 WITHSCORES\r\nHGETALL h\r\nSUNION s\r\nSORT s\r\n")


def lrange_limited(server):
    configure(server, '"client-output-buffer-limit" "normal 1mb 0 0"')
    fill_list(server)
    drain(server, b"LRANGE l 0 -1\r\n" * 20)


def queued_commands(server):
    drain(server, b"MULTI\r\n" + b"ECHO x\r\n" * 300_000 + b"DISCARD\r\n")


def lrange_in_a_script(server):
    fill_list(server)
    drain(server, b"EVAL \"return #redis.call('lrange', 'l', 0, -1)\" 0\r\n")


ROWS = {
    "script publishes 1,500 x 1 MB, pubsub 32mb": script_publishes,
    "the same with SPUBLISH": script_publishes_to_shards,
    "1,500 keyspace events of 1 MB, pubsub 32mb": keyspace_events,
    "MONITOR of 200 x 1 MB, normal 32mb": monitor,
    "1,500 invalidations of 1 MB, normal 32mb": invalidations,
    "200 large GETs in a packet, normal 1mb": gets_in_one_packet,
    "200 large GETs in MULTI, normal 1mb": gets_in_a_transaction,
    "200 large GETs in a script": gets_in_a_script,
    "SRANDMEMBER -5,000,000": srandmember,
    "SRANDMEMBER -5,000,000, normal 1mb": srandmember_limited,
    "HRANDFIELD -5,000,000 WITHVALUES": hrandfield,
    "ZRANDMEMBER -5,000,000 WITHSCORES": zrandmember,
    "MGET of a large string, 20 times": mget,
    "the same, normal 1mb": mget_limited,
    "LRANGE of 3,000,000": lrange,
    "20 LRANGEs of 3,000,000, normal 1mb": lrange_limited,
    "XRANGE of 500,000": xrange,
    "XREAD of 500,000": xread,
    "KEYS of 500,000": keys,
    "collections of 300,000": collections,
    "300,000 commands queued by MULTI": queued_commands,
    "LRANGE of 3,000,000 in a script": lrange_in_a_script,
}


def peak_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def measure(make, play):
    """The peak after `play`, or None if the server has ended or does not answer."""
    server = make()
    try:
        play(server)
        peak = peak_bytes(server)
        return peak if server.ask(b"PING\r\n") == b"+PONG\r\n" else None
    except (OSError, StopIteration, AssertionError) as error:
        print(f"  {type(error).__name__}: {error}", file=sys.stderr)
        return None
    finally:
        server.process.kill()
        server.stop()


def in_mb(peak):
    return "-" if peak is None else str(peak // MB)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--row", choices=list(ROWS), action="append")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    asked = options.row or list(ROWS)
    if options.long:
        global STRING
        STRING *= 10
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    print(f"{'peak of the resident memory, MB':44} {'redouble':>9} {'redis':>9} {'ceiling':>9}  ({memory // MB} free)")
    failed = 0
    for name in asked:
        theirs = measure(Redis, ROWS[name])
        ours = measure(Served, ROWS[name])
        ceiling = None if theirs is None else FACTOR * theirs + SLACK
        good = ours is not None and ceiling is not None and ours <= ceiling
        failed += not good
        print(f"{name:44} {in_mb(ours):>9} {in_mb(theirs):>9} {in_mb(ceiling):>9}  {'' if good else 'FAILS'}",
              flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
