"""Relayna's SDK and Studio, from a checkout, as operations with the names and arguments of sim/operations.

An original runs on a real Redis with a clock that the caller sets. Sets are iterated in sorted order, because the order
of a Python set is no behaviour, and SET has its options in the order of redis-py 8: NX, then EX.
"""

import copy
import dataclasses
import importlib
import importlib.abc
import importlib.util
import os
import sys
from datetime import datetime as real_datetime
from datetime import timezone

from redis.asyncio.client import PubSub

# The comment of a stream without news.
IDLE = ": keepalive\n\n"
# What a subscription sends to find out that there is no message.
IDLE_PING = "idle"

# Packages that the checkout imports and these operations do not need.
UNNEEDED = ("fastapi", "starlette", "httpx", "aio_pika", "aiormq", "opentelemetry", "prometheus_client", "asyncpg",
            "sqlalchemy", "alembic", "mcp", "msal", "jwt")


class _Anything:
    """Stands for whatever a module of UNNEEDED has: a base class, a decorator, a call."""

    def __init__(self, *_args, **_kwargs):
        pass

    def __call__(self, *_args, **_kwargs):
        return self

    def __getattr__(self, name):
        return _Anything()


class _StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of UNNEEDED that are not installed. Names that end with Error or Exception are exceptions."""

    def find_spec(self, name, _path, _target=None):
        if name.split(".")[0] not in UNNEEDED:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, _spec):
        return None

    def exec_module(self, module):
        def attribute(name):
            if name.startswith("__"):
                raise AttributeError(name)
            is_error = name.endswith(("Error", "Exception"))
            return type(name, (Exception,) if is_error else (_Anything,), {})

        module.__getattr__ = attribute


class _SortedSet(set):
    """A set with a fixed order of iteration."""

    def __iter__(self):
        return iter(sorted(super().__iter__()))

    def intersection(self, *others):
        return _SortedSet(super().intersection(*others))


class _ClockType(type):
    def __instancecheck__(cls, value):
        return isinstance(value, real_datetime)


class Clock(metaclass=_ClockType):
    """In the place of datetime in the modules of the original."""

    value = real_datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    min = real_datetime.min
    fromisoformat = real_datetime.fromisoformat

    @classmethod
    def now(cls, _zone=None):
        return cls.value


def _set(redis, name, value, ex=None, nx=False):
    """SET with its options in the order of redis-py 8."""
    options = (["NX"] if nx else []) + ([] if ex is None else ["EX", ex])
    return redis.execute_command("SET", name, value, *options)


class HttpError(Exception):
    """In the place of fastapi's HTTPException; its cause is the error of the operation."""

    def __init__(self, status_code, detail):
        super().__init__(f"{status_code}: {detail}")


class Routes:
    """In the place of fastapi's router: the functions of the routes, by their names."""

    def __init__(self):
        self.functions = {}

    def __getattr__(self, _verb):
        return lambda *_args, **_kwargs: self._add

    def _add(self, function):
        self.functions[function.__name__] = function
        return function


class Modules:
    """The modules of a checkout."""

    def __init__(self, checkout):
        os.environ["TZ"] = "UTC"
        sys.meta_path.append(_StandIn())
        sys.path[:0] = [os.path.join(checkout, "src"), os.path.join(checkout, "studio/backend/src")]
        names = {"status": "relayna.status.store", "observation": "relayna.observability.store",
                 "feed": "relayna.observability.feed", "dlq": "relayna.dlq.store", "dlq_models": "relayna.dlq.models",
                 "dlq_service": "relayna.dlq.service", "workflow": "relayna.storage.workflow_contract_store",
                 "contracts": "relayna.contracts.compatibility", "registry": "relayna_studio.registry",
                 "stream": "relayna.status.stream", "contract_models": "relayna.contracts",
                 "events": "relayna_studio.events", "health": "relayna_studio.health",
                 "search": "relayna_studio.search"}
        for name, module in names.items():
            setattr(self, name, importlib.import_module(module))
        for module in (self.dlq_service, self.registry, self.events, self.health, self.search):
            module.datetime = Clock
        self.search.set = _SortedSet
        self.registry.APIRouter = Routes
        self.registry.HTTPException = HttpError
        self.registry.status = _Anything()
        importlib.import_module("redis.commands.core").BasicKeyCommands.set = _set


def plain(value):
    """A result as JSON: models as their documents, times as ISO texts."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, real_datetime):
        return value.isoformat()
    return value


def observation_of(args):
    """An instance of a data class with the name and the fields of the arguments."""
    if args["cls"] == "dict":
        return dict(args["fields"])
    fields = {}
    for name, value in args["fields"].items():
        if name == "timestamp" and isinstance(value, str):
            try:
                value = real_datetime.fromisoformat(value)
            except ValueError:
                pass
        fields[name] = value
    return dataclasses.make_dataclass(args["cls"], list(fields))(**fields)


class _Response:
    status_code = 200

    def __init__(self, body):
        self._body = body

    def raise_for_status(self):
        pass

    def json(self):
        return self._body


class _Http:
    """The services that Studio asks: answers with arguments of the operation."""

    def __init__(self, args, refused):
        self._args = args
        self._refused = refused

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return False

    async def get(self, url, params=None):
        if url.endswith("/events/feed"):
            return _Response(self._page(params["limit"], params.get("after")))
        body, error = ("workers", "worker_error") if url.endswith("/health/workers") else ("capabilities",
                                                                                            "capability_error")
        if self._args.get(body) is None:
            raise self._refused(self._args.get(error, "no answer"))
        return _Response(self._args[body])

    def _page(self, limit, after):
        feed = self._args.get("feed", [])
        cursors = [item.get("cursor") for item in feed]
        first = cursors.index(after) + 1 if after in cursors else 0
        size = self._args.get("server_page_size", 0)
        items = feed[first:first + (min(size, limit) if size > 0 else limit)]
        more = first + len(items) < len(feed) and items
        return {"count": len(items), "items": items, "next_cursor": items[-1]["cursor"] if more else None}


class Studio:
    """All parts of Studio, for one operation."""

    def __init__(self, modules, redis, config, args):
        http = _Http(args, modules.registry.CapabilityRefreshError)
        self.records = modules.registry.RedisServiceRegistryStore(redis)
        self.events = modules.events.RedisStudioEventStore(
            redis, prefix=config["event_prefix"], ttl_seconds=config["ttl_seconds"],
            history_maxlen=config["history_maxlen"])
        self.documents = modules.search.RedisStudioSearchStore(redis)
        self.registry = modules.registry.ServiceRegistryService(
            store=self.records,
            capability_fetcher=modules.registry.HttpCapabilityFetcher(client_factory=lambda _timeout: http))
        self.index = modules.search.StudioSearchService(
            registry_service=self.registry, event_store=self.events, store=self.documents,
            task_index_ttl_seconds=config["task_index_ttl_seconds"])
        indexer = self.index if config["search"] else None
        self.registry.set_search_indexer(indexer)
        pages = {name: args[name] for name in ("pull_page_limit", "pull_max_pages") if name in args}
        self.ingest = modules.events.StudioEventIngestService(self.registry, self.events, http, indexer, **pages)
        self.health_documents = modules.health.RedisStudioHealthStore(redis)
        self.health = modules.health.StudioHealthRefreshService(
            self.registry, self.health_documents, self.events, http, indexer)
        self.routes = modules.registry.create_service_registry_router(
            service_registry=self.registry, health_service=self.health).functions


def _without(args, *names):
    return {name: value for name, value in args.items() if name not in names}


class _Broker:
    """Accepts every message, or fails as `publish_error` says."""

    def __init__(self, error):
        self._error = error

    async def publish_raw_to_queue(self, *_args, **_kwargs):
        if self._error is not None:
            raise type(self._error["type"], (Exception,), {})(self._error["message"])


class _Subscription(PubSub):
    """Tells what has been published from what has not: before it says that there is no message, it sends PING, whose
    answer comes after all messages."""

    _asks = False

    async def get_message(self, ignore_subscribe_messages=False, timeout=0.0):
        if not self._asks:
            await self.ping(IDLE_PING)
            self._asks = True
        message = None
        while message is None:
            message = await super().get_message(ignore_subscribe_messages, timeout)
        if message["type"] == "pong":
            self._asks = False
            return None
        return message

    async def aclose(self):
        """Later versions of redis-py have it."""
        await self.close()


class _Subscriber:
    """A client whose subscriptions are the ones above."""

    def __init__(self, redis):
        self._redis = redis

    def __getattr__(self, name):
        return getattr(self._redis, name)

    def pubsub(self):
        return _Subscription(self._redis.connection_pool)


class StreamRun:
    """One status stream, from its beginning to its end or until all is written that the arguments name.

    `between` is written after the subscription, before the history is read; each item of `live`, when the stream has
    nothing to send, and is followed by PING.
    """

    def __init__(self, modules, store, args):
        self._m = modules
        self._store = store
        self._args = args
        self._ends = False
        self._error = None

    async def result(self):
        """The texts of the frames, up to the first comment that says that there is nothing more, then those after each
        item of `live`; and the class of the error that ended the stream."""
        stream = self._stream()
        frames = [await self._frames(stream)]
        for item in self._args.get("live", []):
            await self._write(item)
            await self._store.redis.ping()
            frames.append(await self._frames(stream))
        await stream.aclose()
        return {"frames": frames, "error": self._error}

    def _stream(self):
        args = self._args
        contracts = self._m.contract_models
        history = self._store.get_history

        async def write_then_read(task_id):
            for item in args.get("between", []):
                await self._write(item)
            return await history(task_id)

        watched = copy.copy(self._store)
        watched.redis = _Subscriber(self._store.redis)
        watched.get_history = write_then_read
        options = {}
        if "terminal_statuses" in args:
            options["terminal_statuses"] = self._m.stream.TerminalStatusSet(set(args["terminal_statuses"]))
        if args.get("adapter") == "document":
            options["output_adapter"] = self._m.stream.document_output_adapter
        if "aliases" in args:
            options["alias_config"] = contracts.ContractAliasConfig(field_aliases=args["aliases"])
        stream = self._m.stream.SSEStatusStream(store=watched, keepalive_interval_seconds=1, **options)
        return stream.stream(args["task_id"], last_event_id=args.get("last_event_id"))

    async def _write(self, item):
        task_id = item.get("task_id", self._args["task_id"])
        if "event" in item:
            await self._store.set_history(task_id, item["event"])
        else:
            await self._store.redis.publish(self._store.channel_name(task_id), item["publish"])

    async def _frames(self, stream):
        texts = []
        while not self._ends and (not texts or texts[-1] != IDLE):
            try:
                texts.append((await anext(stream)).decode())
            except StopAsyncIteration:
                self._ends = True
            except Exception as error:
                self._ends = True
                self._error = type(error).__name__
        return texts


class Original:
    """Performs operations. `config` has the options of each store, by the first word of the operation."""

    def __init__(self, modules, redis, config):
        self._m = modules
        self._redis = redis
        self._config = config

    async def perform(self, operation, args, now):
        """Returns the result; raises what the original raises."""
        Clock.value = now
        family, method = operation.split(".")
        return plain(await getattr(self, "_" + family)(method, args))

    def _feed_store(self, options):
        return self._m.feed.RedisServiceEventFeedStore(self._redis, **options)

    def _event_store(self, store, options):
        feed = self._feed_store(options["feed"]) if "feed" in options else None
        return store(self._redis, service_event_store=feed, **_without(options, "feed"))

    async def _contracts(self, _method, args):
        return self._m.contracts.ensure_status_event_id(args["event"])

    async def _status(self, method, args):
        store = self._event_store(self._m.status.RedisStatusStore, self._config["status"])
        if method == "stream":
            return await StreamRun(self._m, store, args).result()
        return await getattr(store, method)(**args)

    async def _observation(self, method, args):
        store = self._event_store(self._m.observation.RedisObservationStore, self._config["observation"])
        return await (store.set_event(observation_of(args)) if method == "set_event" else store.get_history(**args))

    async def _feed(self, method, args):
        store = self._feed_store(self._config["feed"])
        if method == "add_observation_event":
            return await store.add_observation_event(observation_of(args))
        return await getattr(store, method)(**args)

    async def _dlq(self, method, args):
        store = self._m.dlq.RedisDLQStore(self._redis, **self._config["dlq"])
        if method == "add":
            return await store.add(self._m.dlq_models.DLQRecord.model_validate(args["record"]))
        if method == "mark_replayed":
            args = {**args, "replayed_at": real_datetime.fromisoformat(args["replayed_at"])}
        if method == "replay_message":
            service = self._m.dlq_service.DLQService(_Broker(args.get("publish_error")), store)
            return await service.replay_message(**_without(args, "now", "publish_error"))
        return await getattr(store, method)(**args)

    async def _workflow(self, method, args):
        if method == "signature":
            return self._m.workflow.build_dedup_signature(**args)
        store = self._m.workflow.RedisWorkflowContractStore(self._redis, **self._config["workflow"])
        return await getattr(store, method)(**args)

    def _studio_parts(self, args):
        return Studio(self._m, self._redis, self._config["registry"], args)

    async def _registry(self, method, args):
        m = self._m.registry
        if method == "normalize_base_url":
            return m.normalize_base_url(args["url"])
        studio = self._studio_parts(args)
        members = _without(args, "now", "capabilities", "capability_error")
        if method == "create_service":
            return await studio.registry.create_service(m.CreateServiceRequest.model_validate(members))
        if method == "update_service":
            changes = m.UpdateServiceRequest.model_validate(args["changes"])
            return await studio.registry.update_service(args["service_id"], changes)
        return await getattr(studio.registry, method)(**members)

    async def _events(self, method, args):
        store = self._studio_parts(args).events
        if method == "insert_event":
            return await store.insert_event(self._m.events.StudioEventEnvelope.model_validate(args["envelope"]))
        return await getattr(store, method)(**_without(args, "now"))

    async def _ingest(self, method, args):
        ingest = self._studio_parts(args).ingest
        if method == "ingest_events":
            request = self._m.events.StudioEventIngestRequest.model_validate({"events": args["events"]})
            return await ingest.ingest_request(request)
        if method == "sync_service":
            return await ingest.sync_service(self._m.registry.ServiceRecord.model_validate(args["service"]))
        if method == "sync_registered_services":
            return await ingest.sync_registered_services()
        return await getattr(ingest, method)(**_without(args, "now"))

    async def _health(self, method, args):
        health = self._studio_parts(args).health
        if method == "refresh_all_services":
            return await health.refresh_all_services()
        cached = {name: args[name] for name in ("use_cached_capabilities",) if name in args}
        return await getattr(health, method)(args["service_id"], **cached)

    async def _studio(self, method, args):
        """The routes of the web application."""
        route = self._studio_parts(args).routes[method]
        try:
            result = await route(*[args["service_id"]] if "service_id" in args else [])
        except HttpError as error:
            raise error.__cause__
        return result.services if method == "list_services" else result

    async def _health_store(self, _method, args):
        return await self._studio_parts(args).health_documents.get_health(args["service_id"])

    async def _search(self, method, args):
        m = self._m.search
        given = _without(args, "now")
        if method == "task_document_id":
            return m._task_document_id(**given)
        if method == "build_prefix_tokens":
            return sorted(m._build_prefix_tokens(given.get("value")))
        studio = self._studio_parts(args)
        if method == "search_tasks":
            return await studio.index.search_tasks(m.StudioTaskSearchQuery.model_validate(given))
        if method == "search_services":
            return await studio.index.search_services(m.StudioServiceSearchQuery.model_validate(given))
        if method == "set_task_document":
            return await studio.documents.set_task_document(m.StudioTaskSearchDocument.model_validate(given["document"]))
        if method == "upsert_task_document":
            service = self._m.registry.ServiceRecord.model_validate(given["service"])
            event = self._m.events.StudioControlPlaneEvent.model_validate(given["event"])
            return await studio.index.upsert_task_document(service, event)
        if method == "upsert_service_document":
            service = self._m.registry.ServiceRecord.model_validate(given["service"])
            return await studio.index.upsert_service_document(service, health_status=given.get("health_status"))
        owner = studio.documents if hasattr(studio.documents, method) else studio.index
        return await getattr(owner, method)(**given)
