// The package's own connection.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import net from "node:net";
import { test } from "node:test";

const { Connection } = createRequire(import.meta.url)("../lib/wire.cjs");

// The outcome of commands to a peer that sends `chunks`, one at a time, after the first bytes and closes.
async function converse(chunks, commands = 1) {
  const listener = net.createServer({ noDelay: true }, (peer) => {
    peer.on("error", () => {});
    peer.once("data", async () => {
      for (const chunk of chunks) {
        peer.write(chunk, "latin1");
        await new Promise(setImmediate);
      }
      peer.end();
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const connection = await Connection.open("127.0.0.1", listener.address().port);
  const outcomes = await Promise.allSettled(Array.from({ length: commands }, () => connection.command("ANY")));
  connection.close();
  listener.close();
  return outcomes.map(({ value, reason }) => (reason ? reason.message : value));
}

const REPLIES = [
  ["+OK\r\n", "OK"],
  [":-7\r\n", -7],
  ["$-1\r\n", null],
  ["$2\r\n\r\n\r\n", "\r\n"],
  ["*-1\r\n", null],
  ["*3\r\n*0\r\n$1\r\na\r\n:1\r\n", [[], "a", 1]],
];

for (const [bytes, reply] of REPLIES) {
  test(`reads ${JSON.stringify(bytes)}, whole and in single bytes`, async () => {
    assert.deepEqual(await converse([bytes]), [reply]);
    assert.deepEqual(await converse(bytes), [reply]);
  });
}

test("an error belongs to its command alone", async () => {
  assert.deepEqual(await converse(["+OK\r\n-ERR no\r\n:3\r\n"], 3), ["OK", "ERR no", 3]);
});

test("commands whose reply does not come are rejected", async () => {
  const closed = "redouble: the connection to the server is closed";
  assert.deepEqual(await converse(["+OK\r\n$5\r\nab"], 3), ["OK", closed, closed]);
});

test("a connection that cannot be made is an error", async () => {
  const listener = net.createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  await assert.rejects(Connection.open("127.0.0.1", port), { code: "ECONNREFUSED" });
});
