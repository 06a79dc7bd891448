// The clock of a server, and the faults that it injects.
"use strict";

class Clock {
  #sim;

  constructor(sim) {
    this.#sim = sim;
  }

  async now() {
    return new Date(await this.#sim("CLOCK", "GET"));
  }

  async advance(by) {
    if (typeof by === "number" ? !Number.isInteger(by) : typeof by !== "string") {
      throw new TypeError(`advance(${by}): whole milliseconds, or a text such as "1500ms"`);
    }
    return new Date(await this.#sim("CLOCK", "ADVANCE", by));
  }

  async set(time) {
    if (!(time instanceof Date) && typeof time !== "string") {
      throw new TypeError(`set(${time}): a Date, or an RFC 3339 text`);
    }
    return new Date(await this.#sim("CLOCK", "SET", time instanceof Date ? time.getTime() : time));
  }

  async next() {
    const ms = await this.#sim("CLOCK", "NEXT");
    return ms === null ? null : new Date(ms);
  }
}

class Faults {
  #sim;

  constructor(sim) {
    this.#sim = sim;
  }

  async errorReply(command, error, count = 1) {
    await this.#sim("FAULT", "error_reply", command, error, "COUNT", count);
  }

  async dropRequest(command, count = 1) {
    await this.#sim("FAULT", "drop_request", command, "COUNT", count);
  }

  async dropReply(command, count = 1) {
    await this.#sim("FAULT", "drop_reply", command, "COUNT", count);
  }

  async pending() {
    const rows = await this.#sim("FAULT", "LIST");
    return rows.map(([name, command, error, count]) => ({ name, command, error: error || null, count }));
  }

  async clear() {
    await this.#sim("FAULT", "CLEAR");
  }
}

module.exports = { Clock, Faults };
