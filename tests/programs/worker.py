"""Takes one job from the queue, and appends it to the list of those that are done."""

# [readme: worker]
import os

import redis

client = redis.Redis.from_url(os.environ["REDIS_URL"])
_, job = client.brpop("jobs")
if os.environ.get("CLAIM") == "1":
    taken = client.set(b"claim:" + job, "1", nx=True)
else:
    taken = not client.sismember("seen", job)
    client.sadd("seen", job)
if taken:
    client.rpush("done", job)
# [end]
