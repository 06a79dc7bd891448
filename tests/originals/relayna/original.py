"""Relayna's SDK and Studio, from a checkout, as operations with the names and arguments of sim/operations.

An original runs on a real Redis with a clock that the caller sets. Sets are iterated in sorted order, because the order
of a Python set is no behaviour, and SET has its options in the order of redis-py 8: NX, then EX.
"""

import dataclasses
import importlib
import importlib.abc
import importlib.util
import os
import sys
from datetime import datetime as real_datetime
from datetime import timezone

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
                 "events": "relayna_studio.events", "health": "relayna_studio.health",
                 "search": "relayna_studio.search"}
        for name, module in names.items():
            setattr(self, name, importlib.import_module(module))
        for module in (self.dlq_service, self.registry, self.events, self.health, self.search):
            module.datetime = Clock
        self.search.set = _SortedSet
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


def _without(args, *names):
    return {name: value for name, value in args.items() if name not in names}


class _Broker:
    """Accepts every message, or fails as `publish_error` says."""

    def __init__(self, error):
        self._error = error

    async def publish_raw_to_queue(self, *_args, **_kwargs):
        if self._error is not None:
            raise type(self._error["type"], (Exception,), {})(self._error["message"])


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

    def _studio(self, args):
        return Studio(self._m, self._redis, self._config["registry"], args)

    async def _registry(self, method, args):
        m = self._m.registry
        if method == "normalize_base_url":
            return m.normalize_base_url(args["url"])
        studio = self._studio(args)
        members = _without(args, "now", "capabilities", "capability_error")
        if method == "create_service":
            return await studio.registry.create_service(m.CreateServiceRequest.model_validate(members))
        if method == "update_service":
            changes = m.UpdateServiceRequest.model_validate(args["changes"])
            return await studio.registry.update_service(args["service_id"], changes)
        return await getattr(studio.registry, method)(**members)

    async def _events(self, method, args):
        store = self._studio(args).events
        if method == "insert_event":
            return await store.insert_event(self._m.events.StudioEventEnvelope.model_validate(args["envelope"]))
        return await getattr(store, method)(**_without(args, "now"))

    async def _ingest(self, method, args):
        ingest = self._studio(args).ingest
        if method == "ingest_events":
            request = self._m.events.StudioEventIngestRequest.model_validate({"events": args["events"]})
            return await ingest.ingest_request(request)
        if method == "sync_service":
            return await ingest.sync_service(self._m.registry.ServiceRecord.model_validate(args["service"]))
        if method == "sync_registered_services":
            return await ingest.sync_registered_services()
        return await getattr(ingest, method)(**_without(args, "now"))

    async def _health(self, method, args):
        health = self._studio(args).health
        if method == "refresh_all_services":
            return await health.refresh_all_services()
        return await getattr(health, method)(args["service_id"])

    async def _health_store(self, _method, args):
        return await self._studio(args).health_documents.get_health(args["service_id"])

    async def _search(self, method, args):
        m = self._m.search
        given = _without(args, "now")
        if method == "task_document_id":
            return m._task_document_id(**given)
        if method == "build_prefix_tokens":
            return sorted(m._build_prefix_tokens(given.get("value")))
        studio = self._studio(args)
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
