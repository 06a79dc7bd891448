// [readme: vitest]
import Redis from "ioredis";
import { startRedouble } from "redouble";
import { afterAll, beforeEach, expect, test } from "vitest";

const redouble = await startRedouble();
const redis = new Redis(redouble.url);
beforeEach(() => redouble.reset());
afterAll(() => redis.disconnect());

test("a session expires", async () => {
  await redis.set("session", "alice", "PX", 1500);
  await redouble.clock.advance("1500ms"); // Redis keeps a key up to its deadline.
  expect(await redis.get("session")).toBe("alice");
  await redouble.clock.advance("1ms");
  expect(await redis.get("session")).toBeNull();
});
// [end]

// [readme: a worker that waits]
test("a worker gives up after five seconds", async () => {
  const worker = redis.duplicate();
  const job = worker.blpop("jobs", 5);
  await redouble.waitUntilBlocked();
  await redouble.clock.next(); // To the timeout: five seconds, and no waiting.
  expect(await job).toBeNull();
  worker.disconnect();
});
// [end]
