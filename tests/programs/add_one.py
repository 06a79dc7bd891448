"""Adds 1 to the key n, and loses updates: another client may change n between GET and SET."""

# [readme: add one]
import os

import redis

client = redis.Redis.from_url(os.environ["REDIS_URL"])
n = int(client.get("n") or 0)
client.set("n", n + 1)
# [end]
