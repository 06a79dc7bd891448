// What services do with ioredis and node-redis.
import Redis from "ioredis";
import { createClient } from "redis";
import { startRedouble } from "redouble";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

let redouble;
beforeAll(async () => {
  redouble = await startRedouble();
});
beforeEach(() => redouble.reset());
afterAll(() => redouble.stop());

describe("ioredis", () => {
  let redis;
  beforeAll(() => {
    redis = new Redis(redouble.url);
  });
  afterAll(() => redis.disconnect());

  test("pipelines and transactions", async () => {
    expect(await redis.pipeline().set("a", 1).incr("a").exec()).toEqual([[null, "OK"], [null, 2]]);
    expect(await redis.multi().set("b", 1).incr("b").exec()).toEqual([[null, "OK"], [null, 2]]);
  });

  test("a script", async () => {
    redis.defineCommand("addTo", { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" });
    expect([await redis.addTo("n", 5), await redis.addTo("n", 5)]).toEqual([5, 10]);
  });

  test("a consumer group hands over what a dead consumer held", async () => {
    await redis.xgroup("CREATE", "orders", "billing", "$", "MKSTREAM");
    const order = await redis.xadd("orders", "*", "id", "7");
    expect(order).toBe("1767225600000-0"); // The id is the clock's time.
    await redis.xreadgroup("GROUP", "billing", "worker-1", "STREAMS", "orders", ">");
    await redouble.clock.advance(60_000);
    const [, claimed] = await redis.xautoclaim("orders", "billing", "worker-2", 60_000, "0");
    expect(claimed).toEqual([[order, ["id", "7"]]]);
  });

  test("messages", async () => {
    const listener = redis.duplicate();
    await listener.subscribe("news");
    const message = new Promise((resolve) => listener.once("message", (...words) => resolve(words)));
    expect(await redis.publish("news", "hello")).toBe(1);
    expect(await message).toEqual(["news", "hello"]);
    listener.disconnect();
  });

  test("a lost reply does not mean that nothing happened", async () => {
    const impatient = redis.duplicate({ maxRetriesPerRequest: 0 });
    await impatient.ping();
    await redouble.faults.dropReply("RPUSH");
    await expect(impatient.rpush("jobs", "one")).rejects.toThrow();
    expect(await redis.lrange("jobs", 0, -1)).toEqual(["one"]);
    impatient.disconnect();
  });
});

describe("node-redis", () => {
  let redis;
  beforeAll(async () => {
    redis = await createClient({ url: redouble.url }).on("error", () => {}).connect();
  });
  afterAll(() => redis.destroy());

  test("keys expire", async () => {
    await redis.set("session", "alice", { PX: 1500 });
    await redouble.clock.advance("1501ms");
    expect(await redis.get("session")).toBeNull();
  });

  test("hashes, sorted sets and transactions", async () => {
    await redis.hSet("h", { a: "1", b: "2" });
    expect({ ...(await redis.hGetAll("h")) }).toEqual({ a: "1", b: "2" });
    await redis.zAdd("z", [{ score: 1, value: "one" }, { score: 2.5, value: "two" }]);
    expect(await redis.zRangeWithScores("z", 0, -1)).toEqual([
      { score: 1, value: "one" },
      { score: 2.5, value: "two" },
    ]);
    expect(await redis.multi().set("n", "1").incr("n").exec()).toEqual(["OK", 2]);
  });

  test("a blocked call ends when the clock reaches its timeout", async () => {
    const worker = await redis.duplicate().connect();
    const job = worker.blPop("jobs", 5);
    await redouble.waitUntilBlocked();
    await redouble.clock.next();
    expect(await job).toBeNull();
    worker.destroy();
  });
});

test("a server starts, and waits, while the timers of the test are fake", async () => {
  vi.useFakeTimers();
  const other = await startRedouble();
  await expect(other.waitUntilBlocked(1, 0)).rejects.toThrow("0 of 1 clients");
  await other.stop();
  vi.useRealTimers();
});
