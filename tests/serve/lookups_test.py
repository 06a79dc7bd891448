"""Goal: `keyspace_hits` and `keyspace_misses` of INFO are those of redis-server, whatever command reads.

Each command runs on keys that exist, then with each of its keys missing, then with each of another type.
"""

import re
import unittest

from served import Redis, Served

# The keys that exist. A placeholder in a command names one of them.
KEYS = {
    "string": ["SET", "string", "abc"],
    "number": ["SET", "number", "10"],
    "other_string": ["SET", "other_string", "abd"],
    "bits": ["SET", "bits", "\x01\x02"],
    "list": ["RPUSH", "list", "3", "1", "2"],
    "set": ["SADD", "set", "1", "2", "3"],
    "other_set": ["SADD", "other_set", "2", "3", "4"],
    "zset": ["ZADD", "zset", "1", "a", "2", "b", "3", "c"],
    "other_zset": ["ZADD", "other_zset", "1", "a", "5", "d"],
    "hash": ["HSET", "hash", "f", "v", "n", "1"],
    "stream": ["XADD", "stream", "1-1", "f", "v"],
    "geo": ["GEOADD", "geo", "13.36", "38.11", "Palermo", "15.08", "37.5", "Catania"],
    "hll": ["PFADD", "hll", "a", "b"],
    "other_hll": ["PFADD", "other_hll", "b", "c"],
    "weight_1": ["SET", "weight_1", "7"],
    "weight_2": ["HSET", "weight_2", "f", "7"],
}
PREPARATION = [["XGROUP", "CREATE", "stream", "g", "0"],
               ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "stream", ">"],
               ["XADD", "stream", "2-1", "f", "w"]]

COMMANDS = """
GET {string}|GETRANGE {string} 0 1|SUBSTR {string} 0 1|STRLEN {string}|MGET {string} {number} {list}
GETSET {string} x|GETDEL {string}|GETEX {string}|GETEX {string} EX 10|GETEX {string} PERSIST
SET {string} x|SET {string} x GET|SET {string} x NX|SET {string} x XX|SET {string} x NX GET|SET {string} x XX GET
SET {string} x KEEPTTL|SETNX {string} x|SETEX {string} 10 x|PSETEX {string} 10000 x|MSET {string} x {number} 1
MSETNX {string} x {number} 1|APPEND {string} x|SETRANGE {string} 1 x|INCR {number}|DECRBY {number} 2
INCRBYFLOAT {number} 0.5|LCS {string} {other_string}|LCS {string} {other_string} LEN
GETBIT {bits} 0|SETBIT {bits} 0 1|BITCOUNT {bits}|BITPOS {bits} 1|BITOP AND target {bits} {string}|BITOP NOT {bits} {bits}
BITFIELD {bits} GET u8 0|BITFIELD {bits} SET u8 0 1|BITFIELD {bits} INCRBY u8 0 1 GET u8 8|BITFIELD_RO {bits} GET u8 0
PFADD {hll} x|PFADD {hll}|PFCOUNT {hll}|PFCOUNT {hll} {other_hll}|PFMERGE target {hll} {other_hll}|PFMERGE {hll} {other_hll}
PFMERGE {hll}
LLEN {list}|LRANGE {list} 0 -1|LINDEX {list} 0|LPOS {list} 1|LPUSH {list} x|RPUSHX {list} x|LPOP {list}|RPOP {list} 2
LSET {list} 0 x|LINSERT {list} BEFORE 1 x|LREM {list} 0 1|LTRIM {list} 0 1|LMOVE {list} target LEFT RIGHT|RPOPLPUSH {list} {list}
LMPOP 1 {list} LEFT|BLPOP {list} 0.001|BLMOVE {list} target LEFT RIGHT 0.001|BLMPOP 0.001 1 {list} LEFT
SCARD {set}|SMEMBERS {set}|SISMEMBER {set} 1|SMISMEMBER {set} 1 9|SRANDMEMBER {set}|SRANDMEMBER {set} 2|SPOP {set}|SPOP {set} 2
SADD {set} x|SREM {set} 1|SMOVE {set} {other_set} 1|SSCAN {set} 0
SINTER {set} {other_set}|SUNION {set} {other_set}|SDIFF {set} {other_set}|SINTERCARD 2 {set} {other_set}
SINTERSTORE target {set} {other_set}|SUNIONSTORE target {set} {other_set}|SDIFFSTORE target {set} {other_set}
SINTERSTORE {set} {set} {other_set}|SDIFFSTORE {set} {other_set} {set}
ZCARD {zset}|ZSCORE {zset} a|ZMSCORE {zset} a x|ZRANK {zset} a|ZREVRANK {zset} a|ZCOUNT {zset} 0 9|ZLEXCOUNT {zset} - +
ZRANGE {zset} 0 -1|ZREVRANGE {zset} 0 -1|ZRANGEBYSCORE {zset} 0 9|ZRANGEBYLEX {zset} - +|ZRANDMEMBER {zset}|ZRANDMEMBER {zset} 2
ZADD {zset} 1 x|ZADD {zset} XX 1 x|ZINCRBY {zset} 1 a|ZREM {zset} a|ZPOPMIN {zset}|ZPOPMAX {zset} 2|ZMPOP 1 {zset} MIN
ZREMRANGEBYRANK {zset} 0 0|ZREMRANGEBYSCORE {zset} 0 1|ZREMRANGEBYLEX {zset} - +|BZPOPMIN {zset} 0.001|BZMPOP 0.001 1 {zset} MIN
ZRANGESTORE target {zset} 0 -1|ZRANGESTORE {zset} {other_zset} 0 0|ZUNION 2 {zset} {other_zset}|ZINTER 2 {zset} {set}
ZDIFF 2 {zset} {other_zset}|ZINTERCARD 2 {zset} {other_zset}|ZUNIONSTORE target 2 {zset} {other_zset}
ZINTERSTORE target 2 {zset} {set}|ZDIFFSTORE target 2 {zset} {other_zset}|ZSCAN {zset} 0
HGET {hash} f|HMGET {hash} f x|HGETALL {hash}|HKEYS {hash}|HVALS {hash}|HLEN {hash}|HEXISTS {hash} f|HSTRLEN {hash} f
HRANDFIELD {hash}|HRANDFIELD {hash} 2|HSCAN {hash} 0|HSET {hash} f x|HSETNX {hash} f x|HMSET {hash} f x|HDEL {hash} f
HINCRBY {hash} n 1|HINCRBYFLOAT {hash} n 1.5
XLEN {stream}|XRANGE {stream} - +|XREVRANGE {stream} + -|XREAD STREAMS {stream} 0|XREAD STREAMS {stream} $
XREAD STREAMS {stream} {string} 0 0|XREADGROUP GROUP g c STREAMS {stream} >|XREADGROUP GROUP g c STREAMS {stream} 0
XREADGROUP GROUP nosuch c STREAMS {stream} >|XREAD BLOCK 1 STREAMS {stream} $|XREADGROUP GROUP g c BLOCK 1 STREAMS {stream} >
XADD {stream} * f x|XADD {stream} NOMKSTREAM * f x|XDEL {stream} 1-1|XTRIM {stream} MAXLEN 1|XACK {stream} g 1-1
XACK {stream} nosuch 1-1|XPENDING {stream} g|XPENDING {stream} g - + 9|XCLAIM {stream} g d 0 1-1|XAUTOCLAIM {stream} g d 0 0
XSETID {stream} 5-1|XINFO STREAM {stream}|XINFO STREAM {stream} FULL|XINFO GROUPS {stream}|XINFO CONSUMERS {stream} g
XGROUP CREATE {stream} h 0|XGROUP CREATE {stream} h 0 MKSTREAM|XGROUP SETID {stream} g 0|XGROUP DESTROY {stream} g
XGROUP CREATECONSUMER {stream} g e|XGROUP DELCONSUMER {stream} g c
GEOADD {geo} 1 1 x|GEOPOS {geo} Palermo|GEODIST {geo} Palermo Catania|GEOHASH {geo} Palermo
GEORADIUS {geo} 15 37 200 km|GEORADIUS {geo} 15 37 200 km STORE target|GEORADIUS_RO {geo} 15 37 200 km
GEORADIUSBYMEMBER {geo} Palermo 200 km|GEORADIUSBYMEMBER_RO {geo} Palermo 200 km
GEOSEARCH {geo} FROMLONLAT 15 37 BYRADIUS 200 km|GEOSEARCHSTORE target {geo} FROMLONLAT 15 37 BYRADIUS 200 km
EXISTS {string} {number} {string}|TYPE {string}|TTL {string}|PTTL {string}|EXPIRETIME {string}|TOUCH {string} {number}
DEL {string} {number}|UNLINK {string}|EXPIRE {string} 10|PEXPIRE {string} 10000 GT|PERSIST {string}|RENAME {string} target
RENAMENX {string} {number}|COPY {string} target|COPY {string} {number}|COPY {string} {number} REPLACE|MOVE {string} 1
DUMP {string}|OBJECT ENCODING {string}|OBJECT REFCOUNT {string}|OBJECT IDLETIME {string}|OBJECT FREQ {string}
MEMORY USAGE {string}|DEBUG OBJECT {string}|KEYS *|RANDOMKEY|DBSIZE|SCAN 0 COUNT 100|SCAN 0 COUNT 100 TYPE list
SCAN 0 COUNT 100 MATCH s* TYPE hash|SORT {list}|SORT {list} STORE target|SORT_RO {list}|SORT {set} BY weight_* ALPHA
SORT {list} BY weight_*->f GET weight_* GET #|SORT {list} BY nosort GET none_* GET weight_*->f|SORT {zset} ALPHA
WATCH {string}|EVAL "return redis.call('get', KEYS[1])" 1 {string}|EVAL "return redis.call('getdel', KEYS[1])" 1 {string}
EVAL "return 1" 1 {string}
"""

# Redis looks some keys up before it refuses an argument, and others not at all.
WRONG_COMMANDS = """
GETRANGE {string} x 1|GETEX {string} EX 0|GETEX {string} FOO|SET {string} x EX 0 GET|SET {string} x FOO|SETRANGE {string} -1 x
INCRBY {number} x|INCRBYFLOAT {number} x|LCS {string} {other_string} FOO|LCS {string} {other_string} MINMATCHLEN x
GETBIT {bits} x|SETBIT {bits} 0 2|BITCOUNT {bits} 0|BITCOUNT {bits} 0 1 FOO|BITPOS {bits} 2|BITPOS {bits} 1 0 1 FOO
BITFIELD {bits} GET x 0|BITFIELD_RO {bits} SET u8 0 1|LINDEX {list} x|LRANGE {list} x 1|LPOS {list} 1 RANK 0|LPOP {list} x
LSET {list} x 1|LINSERT {list} FOO 1 x|LREM {list} x 1|LTRIM {list} x 1|LMOVE {list} target FOO LEFT|LMPOP 1 {list} FOO
LMPOP 1 {list} LEFT COUNT 0|SRANDMEMBER {set} x|SPOP {set} -1|SSCAN {set} x|SSCAN {set} 0 COUNT 0|SINTERCARD 1 {set} LIMIT -1
ZCOUNT {zset} x 9|ZLEXCOUNT {zset} x +|ZRANGE {zset} x -1|ZRANGE {zset} 0 -1 FOO|ZRANGEBYSCORE {zset} x 9|ZRANDMEMBER {zset} x
ZADD {zset} x a|ZADD {zset} NX XX 1 a|ZINCRBY {zset} x a|ZPOPMIN {zset} x|ZPOPMIN {zset} -1|ZMPOP 1 {zset} FOO
ZREMRANGEBYRANK {zset} x 0|ZREMRANGEBYSCORE {zset} x 1|ZREMRANGEBYLEX {zset} x +|ZRANGESTORE target {zset} 0 -1 FOO
ZUNION 2 {zset} {other_zset} WEIGHTS x 1|ZUNION 2 {zset} {other_zset} FOO|ZDIFF 1 {zset} FOO|ZSCAN {zset} x
HINCRBY {hash} n x|HINCRBYFLOAT {hash} n x|HRANDFIELD {hash} x|HSCAN {hash} x|HSET {hash} f
XADD {stream} x f v|XADD {stream} 1-1 f v|XRANGE {stream} x +|XRANGE {stream} - + COUNT x|XREAD STREAMS {stream} x
XREADGROUP GROUP g c STREAMS {stream} x|XDEL {stream} x|XTRIM {stream} FOO 1|XTRIM {stream} MAXLEN x|XACK {stream} g x
XPENDING {stream} g x + 9|XPENDING {stream} g - + x|XCLAIM {stream} g d x 1-1|XCLAIM {stream} g d 0 x|XCLAIM {stream} g d 0 1-1 FOO
XAUTOCLAIM {stream} g d x 0|XAUTOCLAIM {stream} g d 0 x|XAUTOCLAIM {stream} g d 0 0 COUNT 0|XAUTOCLAIM {stream} g d 0 0 FOO
XSETID {stream} x|XINFO STREAM {stream} FOO|XINFO STREAM {stream} FULL COUNT x|XGROUP CREATE {stream} h x|XGROUP SETID {stream} g x
GEOADD {geo} x 1 m|GEOADD {geo} 190 1 m|GEODIST {geo} Palermo Catania FOO|GEORADIUS {geo} x 37 200 km|GEORADIUS {geo} 15 37 200 FOO
GEOSEARCH {geo} FROMLONLAT 15 37|GEOSEARCH {geo} FROMMEMBER none BYRADIUS 200 km|GEOSEARCH {geo} FROMLONLAT 15 37 BYRADIUS -1 km
EXPIRE {string} x|EXPIRE {string} 10 FOO|EXPIRE {string} 10 NX XX|COPY {string} target DB 99|MOVE {string} 99|MOVE {string} 0
RENAME {string} string|SORT {list} LIMIT x 1|SORT {list} FOO|SORT {other_string}|RESTORE {string} 0 x|OBJECT FREQ {string} x
MEMORY USAGE {string} SAMPLES x|DUMP {string} x|PFCOUNT {string}|PFMERGE target {string}|PFADD {string} x
"""


def words_of(command):
    """Splits at spaces outside of quotation marks."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]


def variants(command):
    """The command on its keys; then with each key missing; then with each of another type."""
    words = words_of(command)
    keys = [index for index, word in enumerate(words) if word.startswith("{")]
    usual = [word.strip("{}") for word in words]
    yield usual
    for index in keys:
        yield [*usual[:index], "missing", *usual[index + 1:]]
        yield [*usual[:index], "list" if usual[index] != "list" else "string", *usual[index + 1:]]


class Lookups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = ["--enable-debug-command", "yes"]
        servers = [Served(*options), Redis(*options)]
        for server in servers:
            cls.addClassCleanup(server.stop)
        cls.wires = [server.wire() for server in servers]
        for wire in cls.wires:
            cls.addClassCleanup(wire.close)

    def count(self, wire, words):
        """The hits and the misses of a command."""
        for step in (["FLUSHALL"], *KEYS.values(), *PREPARATION, ["CONFIG", "RESETSTAT"]):
            wire.ask(*step)
        wire.ask(*words)
        wire.ask("UNWATCH")
        stats = wire.plain("INFO", "stats")
        return [int(re.search(rf"keyspace_{name}:(\d+)", stats)[1]) for name in ("hits", "misses")]

    def test_each_command_counts_what_redis_counts(self):
        count = 0
        for command in re.findall(r"[^|\n]+", COMMANDS + WRONG_COMMANDS):
            for words in variants(command):
                with self.subTest(" ".join(words)):
                    ours, theirs = (self.count(wire, words) for wire in self.wires)
                    self.assertEqual(ours, theirs, "hits and misses, ours first")
                count += 1
        self.assertGreater(count, 700)


if __name__ == "__main__":
    unittest.main()
