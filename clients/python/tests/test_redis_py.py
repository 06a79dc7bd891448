"""What tests of a service do with redis-py, blocking and asynchronous."""

import asyncio
# [readme: the connection]
import threading

import pytest
import redis as redis_py


@pytest.fixture
def redis(redouble):
    return redouble.client(decode_responses=True)
# [end]


# [readme: a session expires]
def test_a_session_expires(redouble, redouble_clock):
    redis = redouble.client()
    redis.set("session", "alice", px=1500)
    redouble_clock.advance("1500ms")  # Redis keeps a key up to its deadline.
    assert redis.get("session") == b"alice"
    redouble_clock.advance("1ms")
    assert redis.get("session") is None
# [end]


# [readme: a lock]
def test_a_lock_is_free_again_when_its_owner_has_died(redis, redouble_clock):
    first = redis.lock("job", timeout=30)
    second = redis.lock("job", timeout=30, blocking=False)
    assert first.acquire()
    assert not second.acquire()
    redouble_clock.advance("30001ms")
    assert second.acquire()
    with pytest.raises(redis_py.exceptions.LockError):
        first.release()
# [end]


# [readme: a worker that waits]
def test_a_worker_gives_up_after_five_seconds(redouble, redis):
    found = []
    worker = threading.Thread(target=lambda: found.append(redis.blpop("jobs", timeout=5)))
    worker.start()
    redouble.wait_until_blocked()
    redouble.clock.next()  # To the timeout: five seconds, and no waiting.
    worker.join()
    assert found == [None]
# [end]


# [readme: a lost reply]
def test_a_lost_reply_does_not_mean_that_nothing_happened(redis, redouble_faults):
    redouble_faults.drop_reply("RPUSH")
    with pytest.raises(redis_py.ConnectionError):
        redis.rpush("jobs", "one")
    assert redis.lrange("jobs", 0, -1) == ["one"]
# [end]


# [readme: asyncio]
@pytest.mark.asyncio
async def test_a_cache_entry_expires(redouble, redouble_clock):
    async with redouble.aclient(decode_responses=True) as redis:
        await redis.set("page", "<html>", ex=60)
        redouble_clock.advance(minutes=1, milliseconds=1)
        assert await redis.get("page") is None
# [end]


def test_asyncio_without_a_plugin(redouble):
    async def work():
        async with redouble.aclient(decode_responses=True) as redis:
            reader = asyncio.ensure_future(redis.blpop("q", timeout=5))
            await asyncio.get_running_loop().run_in_executor(None, redouble.wait_until_blocked)
            async with redouble.aclient() as writer:
                await writer.rpush("q", "job")
            return await reader

    assert asyncio.run(work()) == ("q", "job")


def test_a_consumer_group_hands_over_what_a_dead_consumer_held(redis, redouble_clock):
    redis.xgroup_create("orders", "billing", mkstream=True)
    order = redis.xadd("orders", {"id": "7"})
    redis.xreadgroup("billing", "worker-1", {"orders": ">"})
    redouble_clock.advance(minutes=1)
    assert redis.xautoclaim("orders", "billing", "worker-2", min_idle_time=60_000)[1] == [(order, {"id": "7"})]
    assert redis.xack("orders", "billing", order) == 1


def test_messages_are_published(redouble, redis):
    listener = redouble.client(decode_responses=True).pubsub(ignore_subscribe_messages=True)
    listener.subscribe("news")
    assert listener.get_message(timeout=5) is None
    assert redis.publish("news", "hello") == 1
    assert listener.get_message(timeout=5)["data"] == "hello"
    listener.close()


def test_a_reset_closes_the_clients(redouble):
    client = redouble.client(single_connection_client=True)
    assert client.ping()
    redouble.reset()
    while len(redouble.command("CLIENT", "LIST").splitlines()) > 1:
        pass  # The server has not seen the end of the connection yet.
    assert client.connection is None
