// Goal: a server gets a port, and none outlives the process that started it, however that one ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { findProgram } from "../index.mjs";
import { waitUntilRefused } from "./support.mjs";

const { startProcess } = createRequire(import.meta.url)("../lib/process.cjs");
const INDEX = new URL("../index.mjs", import.meta.url).href;

// { child, port }: a process that has started a server and continues with `program`.
async function start(program) {
  const text = `
    import { startRedouble } from ${JSON.stringify(INDEX)};
    const redouble = await startRedouble();
    console.log(redouble.port);
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(child.stdout, "data");
  return { child, port: Number(line) };
}

for (const program of ["", "process.exit(3);", "throw new Error();", "process.abort();", "await redouble.stop();"]) {
  test(`the server stops when the process ends: ${program}`, async () => {
    const { child, port } = await start(program);
    await once(child, "exit");
    await waitUntilRefused(port);
  });
}

for (const signal of ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]) {
  test(`the server stops when the process is killed: ${signal}`, async () => {
    const { child, port } = await start("setInterval(() => {}, 1000);");
    child.kill(signal);
    await once(child, "exit");
    await waitUntilRefused(port);
  });
}

test("a server that runs a script without end is stopped", async () => {
  const { child, port } = await start(`
    redouble.command("EVAL", "while true do end", 0).catch(() => {});
    setTimeout(() => redouble.stop(), 100);`);
  await once(child, "exit");
  await waitUntilRefused(port);
});

test("another port is tried when a program was faster", async () => {
  const listener = net.createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const ports = [listener.address().port, 0];
  const command = [findProgram(), "serve"];
  const free = async () => {
    const other = net.createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address();
    await new Promise((resolve) => other.close(resolve));
    return port;
  };
  const { server, port } = await startProcess(command, 10_000, async () => ports.shift() || free());
  assert.deepEqual(ports, []);
  assert.notEqual(port, listener.address().port);
  await server.stop();
  const taken = async () => listener.address().port;
  await assert.rejects(startProcess(command, 10_000, taken), { name: "StartError", message: /exit code 1/ });
  listener.close();
});

test("a program that never listens is stopped", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "redouble-"));
  const program = path.join(folder, "silent");
  fs.writeFileSync(program, "#!/bin/sh\necho $$ still thinking\nexec sleep 60\n", { mode: 0o755 });
  const error = await startProcess([program], 500).catch((reason) => reason);
  assert.match(error.message, /not ready after 500 ms; it printed: \d+ still thinking/);
  assert.throws(() => process.kill(Number(/\d+(?= still)/.exec(error.message)), 0), { code: "ESRCH" });
  fs.rmSync(folder, { recursive: true });
});
