/** What a server replies, without a client library: RESP2 as plain values. */
export type Reply = string | number | null | Reply[];

export interface StartOptions {
  /** The path of the program; by default $REDOUBLE_BIN, then `redouble` on the PATH. */
  bin?: string;
  /** "manual" (default): time is moved by `clock`. "system": the machine's time. */
  clock?: "manual" | "system";
  /** Where a manual clock starts; 2026-01-01T00:00:00Z by default. */
  start?: Date | string;
  /** Decides random choices: SPOP, RANDOMKEY, eviction. 0 by default. */
  seed?: number;
  /** More options of `redouble serve`, such as ["--maxmemory", "64mb"]. */
  options?: string[];
}

/** Key expiry, TIME, stream ids, idle times and blocking timeouts follow this clock. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves time forward by milliseconds, or by a text such as "1500ms" or "72h". Returns the new time. */
  advance(by: number | string): Promise<Date>;
  /** Moves time forward to a Date, or to an RFC 3339 text such as "2026-05-09T14:03:02Z". */
  set(time: Date | string): Promise<Date>;
  /** Moves time to the next expiry or blocking timeout; null if there is none. */
  next(): Promise<Date | null>;
}

export interface Fault {
  name: string;
  command: string;
  /** null for faults without an error reply. */
  error: string | null;
  /** How many calls are still to fail. */
  count: number;
}

/** Each function arms a fault for the next `count` (1) calls of a command; "*" is every command. */
export interface Faults {
  /** The calls are not executed and return this error. */
  errorReply(command: string, error: string, count?: number): Promise<void>;
  /** The server closes the connection instead of executing the calls. */
  dropRequest(command: string, count?: number): Promise<void>;
  /** The server executes the calls and closes the connection instead of replying. */
  dropReply(command: string, count?: number): Promise<void>;
  pending(): Promise<Fault[]>;
  clear(): Promise<void>;
}

/** A running server. It stops with stop(), at the end of an `await using` scope, and with this process. */
export interface Redouble {
  readonly host: string;
  readonly port: number;
  /** "redis://127.0.0.1:PORT/0" */
  readonly url: string;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Sends any command. Rejects with ReplyError, or Error when the connection is lost. */
  command(...words: (string | number | Buffer)[]): Promise<Reply>;
  /** Sends a SIM command: sim("SEED", 7). */
  sim(...words: (string | number)[]): Promise<Reply>;
  /** The keys of a database, with types, values and TTLs. Needs a manual clock. */
  dump(db?: number): Promise<Record<string, { type: string; value: unknown; ttl_ms?: number }>>;
  /**
   * Returns to the state after the start: keys, time, seed, faults, scripts, configuration, users.
   * Connections stay as they are.
   */
  reset(): Promise<void>;
  /** Waits until so many clients (1) are blocked, as in BLPOP, so that time can move on for them. */
  waitUntilBlocked(clients?: number, timeoutMs?: number): Promise<void>;
  /** Stops the server. Does nothing when it has stopped. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server and waits until it accepts connections. Rejects with ProgramNotFoundError, StartError. */
export function startRedouble(options?: StartOptions): Promise<Redouble>;

/** The path of the program. Throws ProgramNotFoundError. */
export function findProgram(bin?: string): string;

/** There is no program `redouble` where it was looked for; the message says how to get it. */
export class ProgramNotFoundError extends Error {}

/** The server did not start; the message has what it printed. */
export class StartError extends Error {}

/** An error reply, with Redis's own text. */
export class ReplyError extends Error {}
