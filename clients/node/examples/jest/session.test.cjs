// [readme: jest]
const { createClient } = require("redis");
const { startRedouble } = require("redouble");

let redouble, redis;
beforeAll(async () => {
  redouble = await startRedouble();
  redis = await createClient({ url: redouble.url }).connect();
});
beforeEach(() => redouble.reset());
afterAll(() => redis.destroy());

test("a session expires", async () => {
  await redis.set("session", "alice", { PX: 1500 });
  await redouble.clock.advance("1501ms");
  expect(await redis.get("session")).toBeNull();
});
// [end]

test("a failed call is retried by the caller", async () => {
  await redouble.faults.errorReply("SET", "LOADING Redis is loading the dataset in memory");
  await expect(redis.set("k", "v")).rejects.toThrow("LOADING");
  expect(await redis.set("k", "v")).toBe("OK");
});
