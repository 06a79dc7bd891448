"""Adds 1 to the key n, and tries again if another client has changed it in the meantime."""

# [readme: add one with WATCH]
import os

import redis

client = redis.Redis.from_url(os.environ["REDIS_URL"])
with client.pipeline() as transaction:
    while True:
        try:
            transaction.watch("n")
            n = int(transaction.get("n") or 0)
            transaction.multi()
            transaction.set("n", n + 1)
            transaction.execute()
            break
        except redis.WatchError:
            continue
# [end]
