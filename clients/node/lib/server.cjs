// One `redouble serve` process of a test run. index.d.cts describes its interface.
"use strict";

const { Clock, Faults } = require("./clock.cjs");
const { HOST, StartError, startProcess } = require("./process.cjs");
const { findProgram } = require("./program.cjs");
const { now, sleep } = require("./time.cjs");
const { Connection } = require("./wire.cjs");

const DEFAULT_START = "2026-01-01T00:00:00Z";
const START_TIMEOUT_MS = 30_000;
const BLOCKED_TIMEOUT_MS = 5_000;
const POLL_MS = 2;
const SNAPSHOT = "redouble-client:start";

class Redouble {
  #process;
  #connection;
  #manual;
  #settings;

  constructor({ server, port, connection, manual }) {
    this.host = HOST;
    this.port = port;
    this.url = `redis://${HOST}:${port}/0`;
    this.#process = server;
    this.#connection = connection;
    this.#manual = manual;
    const sim = (...words) => this.sim(...words);
    this.clock = new Clock(sim);
    this.faults = new Faults(sim);
  }

  // What reset() returns to.
  async rememberStart() {
    this.#settings = await this.#readSettings();
    if (this.#manual) await this.sim("SNAPSHOT", SNAPSHOT);
  }

  command(...words) {
    return this.#connection.command(...words);
  }

  sim(...words) {
    return this.command("SIM", ...words);
  }

  async dump(db = 0) {
    return JSON.parse(await this.sim("DUMP", db));
  }

  async reset() {
    if (this.#manual) {
      await this.faults.clear(); // First, because a fault may concern every command.
      await this.sim("RESTORE", SNAPSHOT);
    } else {
      await this.command("FLUSHALL");
    }
    await Promise.all([this.command("SCRIPT", "FLUSH"), this.command("FUNCTION", "FLUSH")]);
    const { configuration, users } = await this.#readSettings();
    for (const [name, value] of this.#settings.configuration) {
      if (configuration.get(name) !== value) await this.command("CONFIG", "SET", name, value);
    }
    for (const name of users.keys()) {
      if (!this.#settings.users.has(name)) await this.command("ACL", "DELUSER", name);
    }
    for (const [name, rules] of this.#settings.users) {
      if (users.get(name) !== rules) await this.command("ACL", "SETUSER", name, "reset", ...rules.split(" "));
    }
  }

  async waitUntilBlocked(clients = 1, timeoutMs = BLOCKED_TIMEOUT_MS) {
    for (const deadline = now() + timeoutMs; ; await sleep(POLL_MS)) {
      const info = await this.command("INFO", "clients");
      const blocked = Number(/^blocked_clients:(\d+)/m.exec(info)[1]);
      if (blocked >= clients) return;
      if (now() > deadline) {
        throw new Error(`${blocked} of ${clients} clients are blocked after ${timeoutMs} ms`);
      }
    }
  }

  async stop() {
    this.#connection.close();
    await this.#process.stop();
  }

  async #readSettings() {
    const [pairs, lines] = await Promise.all([this.command("CONFIG", "GET", "*"), this.command("ACL", "LIST")]);
    const configuration = new Map();
    for (let i = 0; i < pairs.length; i += 2) configuration.set(pairs[i], pairs[i + 1]);
    const users = new Map();
    for (const line of lines) {
      const [, name, ...rules] = line.split(" ");
      // The default, which Redis lists only for a user that was reset.
      users.set(name, rules.filter((rule) => rule !== "sanitize-payload").join(" "));
    }
    return { configuration, users };
  }
}

// `await using redouble = ...`, in newer versions of the language.
if (Symbol.asyncDispose) Redouble.prototype[Symbol.asyncDispose] = Redouble.prototype.stop;

async function startRedouble({ bin, clock = "manual", start = DEFAULT_START, seed = 0, options = [] } = {}) {
  const manual = clock === "manual";
  const command = [findProgram(bin), "serve", "--clock", clock, "--seed", String(seed), ...options];
  if (manual) command.push("--start", start instanceof Date ? start.toISOString() : start);
  const { server, port } = await startProcess(command, START_TIMEOUT_MS);
  try {
    const connection = await Connection.open(HOST, port);
    const redouble = new Redouble({ server, port, connection, manual });
    await redouble.rememberStart();
    return redouble;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

module.exports = { StartError, startRedouble };
