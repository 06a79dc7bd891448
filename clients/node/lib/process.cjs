// The process of a server: a free port, the start, the end.
"use strict";

const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { now, sleep } = require("./time.cjs");

const HOST = "127.0.0.1";
const STOP_WITH_PARENT = path.join(__dirname, "..", "stop_with_parent.sh");
const READY = /accepts? connections/;
const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 2;
const PORT_ATTEMPTS = 5;

class StartError extends Error {
  name = "StartError";
}

// Resolves to the port on which a listener could be opened, 0 being any; rejects when it is taken.
function tryPort(port) {
  return new Promise((resolve, reject) => {
    const listener = net.createServer();
    listener.once("error", reject);
    listener.listen(port, HOST, () => {
      const found = listener.address().port;
      listener.close(() => resolve(found));
    });
  });
}

// A file without a name, so that nothing remains of it whatever ends this process.
function openLog() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "redouble-"));
  const file = fs.openSync(path.join(folder, "log"), "w+");
  fs.rmSync(folder, { recursive: true });
  return file;
}

class ServerProcess {
  #child;
  #log;

  constructor(command) {
    this.#log = openLog();
    // A session of its own: Ctrl-C interrupts the tests, and the tests stop the server.
    this.#child = spawn("/bin/sh", [STOP_WITH_PARENT, ...command], {
      detached: true,
      stdio: ["pipe", this.#log, this.#log],
    });
    this.#child.stdin.on("error", () => {}); // It has ended, which `ended` says.
    this.#child.stdin.unref();
    this.#child.unref();
  }

  get ended() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get exitCode() {
    return this.#child.exitCode;
  }

  // Reads at a position of its own, because the process writes at that of the file.
  get printed() {
    const { size } = fs.fstatSync(this.#log);
    const bytes = Buffer.alloc(size);
    return bytes.toString("utf8", 0, fs.readSync(this.#log, bytes, 0, size, 0));
  }

  // Whether it accepts connections; false when it has ended.
  async waitUntilReady(timeoutMs) {
    for (const deadline = now() + timeoutMs; ; await sleep(POLL_MS)) {
      const ended = this.ended;
      if (READY.test(this.printed)) return true;
      if (ended) return false;
      if (now() > deadline) {
        throw new StartError(`the server is not ready after ${timeoutMs} ms; it printed: ${this.printed}`);
      }
    }
  }

  async stop() {
    if (this.#log === null) return;
    const log = this.#log;
    this.#log = null;
    if (!this.ended) {
      this.#child.ref();
      const ending = once(this.#child, "exit");
      this.#child.stdin.end("\n");
      const late = new AbortController();
      const timeout = sleep(STOP_TIMEOUT_MS, undefined, { signal: late.signal }).then(
        () => process.kill(-this.#child.pid, "SIGKILL"),
        () => {},
      );
      await ending;
      late.abort();
      await timeout;
    }
    fs.closeSync(log);
  }
}

// Starts `command` on a free port and resolves to { process, port } when it accepts connections.
async function startProcess(command, timeoutMs, findPort = () => tryPort(0)) {
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    const server = new ServerProcess([...command, "--bind", HOST, "--port", String(port)]);
    let ready = false;
    try {
      ready = await server.waitUntilReady(timeoutMs);
      if (ready) return { server, port };
      // Another program may have taken the port since.
      const taken = await tryPort(port).then(() => false, () => true);
      if (!taken || attempt === PORT_ATTEMPTS) {
        throw new StartError(`${command.join(" ")}: exit code ${server.exitCode}\n${server.printed.trim()}`);
      }
    } finally {
      if (!ready) await server.stop();
    }
  }
}

module.exports = { HOST, StartError, startProcess };
