// RESP over a plain socket: what this package itself sends, so that it needs no client library.
"use strict";

const net = require("node:net");

class ReplyError extends Error {
  name = "ReplyError";
}

const CRLF = Buffer.from("\r\n");

function encode(words) {
  const parts = [Buffer.from(`*${words.length}\r\n`)];
  for (const word of words) {
    const data = Buffer.isBuffer(word) ? word : Buffer.from(String(word));
    parts.push(Buffer.from(`$${data.length}\r\n`), data, CRLF);
  }
  return Buffer.concat(parts);
}

// Returns [reply, the offset after it], or null if the reply is incomplete.
function decode(bytes, offset) {
  const end = bytes.indexOf(CRLF, offset);
  if (end < 0) return null;
  const text = bytes.toString("utf8", offset + 1, end);
  const next = end + CRLF.length;
  switch (String.fromCharCode(bytes[offset])) {
    case "-":
      return [new ReplyError(text), next];
    case ":":
      return [Number(text), next];
    case "$": {
      const size = Number(text);
      if (size < 0) return [null, next];
      if (bytes.length < next + size + CRLF.length) return null;
      return [bytes.toString("utf8", next, next + size), next + size + CRLF.length];
    }
    case "*":
      return text === "-1" ? [null, next] : decodeElements(bytes, next, Number(text));
    default:
      return [text, next];
  }
}

function decodeElements(bytes, offset, count) {
  const elements = [];
  for (let next = offset; ; ) {
    if (elements.length === count) return [elements, next];
    const element = decode(bytes, next);
    if (!element) return null;
    elements.push(element[0]);
    next = element[1];
  }
}

// One connection. It keeps the process alive only while a reply is expected.
class Connection {
  #socket;
  #waiting = [];
  #bytes = Buffer.alloc(0);
  #failure = null;

  // Rejects when no connection can be made.
  static open(host, port) {
    return new Promise((resolve, reject) => {
      const socket = net.createConnection({ host, port, noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.removeListener("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  constructor(socket) {
    this.#socket = socket;
    socket.unref();
    socket.on("data", (data) => this.#receive(data));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("redouble: the connection to the server is closed")));
  }

  command(...words) {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#socket.ref();
      this.#waiting.push({ resolve, reject });
      this.#socket.write(encode(words));
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(data) {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    for (let found = decode(this.#bytes, 0); found; found = decode(this.#bytes, 0)) {
      this.#bytes = this.#bytes.subarray(found[1]);
      const { resolve, reject } = this.#waiting.shift();
      if (found[0] instanceof ReplyError) reject(found[0]);
      else resolve(found[0]);
    }
    if (this.#waiting.length === 0) this.#socket.unref();
  }

  #fail(error) {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

module.exports = { Connection, ReplyError };
