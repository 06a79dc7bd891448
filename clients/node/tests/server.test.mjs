// A server: start, state, clock, faults and reset. No client library is needed.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, beforeEach, test } from "node:test";
import { ReplyError, startRedouble } from "../index.mjs";
import { connect } from "./support.mjs";

const START = Date.UTC(2026, 0, 1);
let redouble;

before(async () => {
  redouble = await startRedouble({ seed: 7 });
});
beforeEach(() => redouble.reset());
after(() => redouble.stop());

test("has a port of its own, and stops once", async () => {
  const other = await startRedouble();
  assert.notEqual(other.port, redouble.port);
  assert.equal(other.url, `redis://127.0.0.1:${other.port}/0`);
  await other.stop();
  await other.stop();
  await assert.rejects(connect(other.port), { code: "ECONNREFUSED" });
  await assert.rejects(other.command("PING"), /the connection to the server is closed/);
});

test("is required as a CommonJS module, too", () => {
  assert.equal(createRequire(import.meta.url)("../index.cjs").startRedouble, startRedouble);
});

test("needs no client library", async () => {
  assert.equal(await redouble.command("SET", "k", Buffer.from([255, 0])), "OK");
  assert.equal(await redouble.command("STRLEN", "k"), 2);
  assert.equal(await redouble.command("GET", "none"), null);
  assert.equal(await redouble.command("RPUSH", "l", "a", "é"), 2);
  assert.deepEqual(await redouble.command("LRANGE", "l", 0, -1), ["a", "é"]);
  await assert.rejects(redouble.command("INCR", "l"), { name: "ReplyError", message: /^WRONGTYPE Operation/ });
});

test("the clock stands still until it is moved", async () => {
  assert.equal((await redouble.clock.now()).getTime(), START);
  await redouble.command("SET", "k", "v", "PX", 1500);
  assert.equal((await redouble.clock.advance(1000)).getTime(), START + 1000);
  assert.equal((await redouble.clock.advance("500ms")).getTime(), START + 1500);
  assert.deepEqual(await redouble.dump(), { k: { type: "string", value: "v", ttl_ms: 0 } });
  assert.equal((await redouble.clock.next()).getTime(), START + 1501);
  assert.deepEqual(await redouble.dump(), {});
  assert.equal(await redouble.clock.next(), null);
});

test("the clock is set to a time", async () => {
  assert.equal((await redouble.clock.set("2026-05-09T14:03:02Z")).getTime(), 1_778_335_382_000);
  assert.equal((await redouble.clock.set(new Date(1_778_335_382_001))).getTime(), 1_778_335_382_001);
});

test("times without a meaning are refused", async () => {
  for (const by of [1.5, NaN, undefined, null, new Date()]) await assert.rejects(redouble.clock.advance(by), TypeError);
  for (const time of [undefined, 7]) await assert.rejects(redouble.clock.set(time), TypeError);
  await assert.rejects(redouble.clock.advance(-1), { message: /the clock only goes forward/ });
  await assert.rejects(redouble.clock.advance("soon"), ReplyError);
});

test("the seed decides random choices, also after a reset", async () => {
  const draw = async () => {
    await redouble.command("SADD", "s", ...Array(100).keys());
    return Promise.all(Array.from({ length: 5 }, () => redouble.command("SRANDMEMBER", "s")));
  };
  const first = await draw();
  await redouble.reset();
  assert.deepEqual(await draw(), first);
  await redouble.reset();
  await redouble.sim("SEED", 8);
  assert.notDeepEqual(await draw(), first);
});

test("faults are injected", async () => {
  await redouble.faults.errorReply("SET", "OOM command not allowed", 2);
  assert.deepEqual(await redouble.faults.pending(), [
    { name: "error_reply", command: "SET", error: "OOM command not allowed", count: 2 },
  ]);
  await assert.rejects(redouble.command("SET", "k", "v"), { message: "OOM command not allowed" });
  await redouble.faults.clear();
  assert.deepEqual(await redouble.faults.pending(), []);
  assert.equal(await redouble.command("SET", "k", "v"), "OK");
  await redouble.faults.dropReply("INCR");
  await redouble.faults.dropRequest("DECR", 3);
  assert.deepEqual((await redouble.faults.pending()).map(({ name, error, count }) => [name, error, count]), [
    ["drop_reply", null, 1],
    ["drop_request", null, 3],
  ]);
});

test("reset restores keys, time, faults, scripts and functions", async () => {
  const before = await redouble.sim("HASH");
  const digest = await redouble.command("SCRIPT", "LOAD", "return 1");
  await redouble.command("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)");
  await redouble.command("SET", "k", "v");
  await redouble.clock.advance("1h");
  await redouble.faults.errorReply("*", "ERR all", 100);
  await redouble.reset();
  assert.equal(await redouble.sim("HASH"), before);
  assert.deepEqual(await redouble.command("SCRIPT", "EXISTS", digest), [0]);
  assert.deepEqual(await redouble.command("FUNCTION", "LIST"), []);
});

test("reset restores the configuration and the users", async () => {
  await redouble.command("CONFIG", "SET", "notify-keyspace-events", "Ex");
  await redouble.command("ACL", "SETUSER", "guest", "on", "nopass", "+get", "~*");
  await redouble.command("ACL", "SETUSER", "default", ">secret");
  await redouble.reset();
  assert.deepEqual(await redouble.command("CONFIG", "GET", "notify-keyspace-events"), ["notify-keyspace-events", ""]);
  assert.deepEqual(await redouble.command("ACL", "LIST"), ["user default on nopass sanitize-payload ~* &* +@all"]);
});

test("waits until a client is blocked", async () => {
  const reader = await connect(redouble.port);
  reader.write("BLPOP q 5\r\n");
  await redouble.waitUntilBlocked();
  await redouble.clock.next();
  const [reply] = await new Promise((resolve) => reader.once("data", (...data) => resolve(data)));
  assert.equal(reply.toString(), "*-1\r\n");
  reader.destroy();
  await assert.rejects(redouble.waitUntilBlocked(1, 0), { message: "0 of 1 clients are blocked after 0 ms" });
});

test("may follow the clock of the machine", async () => {
  const other = await startRedouble({ clock: "system" });
  await other.command("SET", "k", "v");
  await other.reset();
  assert.equal(await other.command("DBSIZE"), 0);
  await assert.rejects(other.clock.now(), ReplyError);
  await other.stop();
});

test("takes a start and options of the program", async () => {
  const other = await startRedouble({ start: new Date(START + 5), options: ["--maxmemory", "3mb"] });
  assert.equal((await other.clock.now()).getTime(), START + 5);
  assert.deepEqual(await other.command("CONFIG", "GET", "maxmemory"), ["maxmemory", "3145728"]);
  await other.stop();
});

test("an option that the program refuses is reported", async () => {
  await assert.rejects(startRedouble({ options: ["--maxmemory", "much"] }), {
    name: "StartError",
    message: /exit code 2\n[^]*--maxmemory/,
  });
});

test("a server that wants a password is stopped", async () => {
  await assert.rejects(startRedouble({ options: ["--requirepass", "secret"] }), { message: /^NOAUTH/ });
});

test("a program that does not exist is an error", async () => {
  await assert.rejects(startRedouble({ bin: "/none" }), { name: "ProgramNotFoundError" });
});

test("stops at the end of its scope", { skip: !Symbol.asyncDispose && "no Symbol.asyncDispose" }, async () => {
  const other = await startRedouble();
  await other[Symbol.asyncDispose]();
  await assert.rejects(connect(other.port), { code: "ECONNREFUSED" });
});
