"""Random sequences of operations, with skewed choices: a seed gives the same sequence each time."""

import base64
import dataclasses
import json
import random
from datetime import timedelta

TEXTS = ["a", "Z", "naïve ☃", "", " ", "\u00a0x\u3000", "\x7f", "\x00\x1f", 'q"\\/', "\u2028", "😀", "İ", "line\nbreak",
         "ß", "\x85", "0", "null"]
# No exponents: versions of pydantic write them differently.
NUMBERS = [0, 1, -1, 7, 2**53 + 1, 2**63 - 1, 0.1, 1.0, -0.0, 0.001, 123456789.125, 123456789012345.0]
TASK_IDS = ["t1", "t1", "t1", "t2", "t2", "t3", "t1:x", "tâsk/2", " t1 ", "T1", "任务", "{t1}", "a:b", "t\n9", ""]
STATUSES = ["queued", "queued", "processing", "processing", "completed", "failed", "Completed", " running ", "İn", ""]
TIMES = ["2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z", "2026-01-01T10:00:02Z", "2026-01-01T10:00:02.000001+00:00",
         "2026-01-01T12:00:01+02:00", "2026-01-01T10:00:01", "2026-01-01", "20260101T100003Z", "2026-W01-4",
         "2026-01-01T09:59:59,5Z", " 2026-01-01T10:00:04Z ", "2026-01-01T11:59:58.25Z", "2026-01-01T11:58:00Z",
         "bad-ts", "", "2026-01-01T10:00:00z", "2027-01-01T00:00:00-00:30", "0001-01-01T00:00:00Z"]
ZONED = ["2026-01-01T10:00:00+00:00", "2026-01-01T10:00:01.000500+00:00", "2026-01-01T11:00:00+00:00", "yesterday"]
CLASSES = ["TaskMessageReceived", "TaskMessageAcked", "TaskHandlerFailed", "StatusHubStarted"]
SERVICES = ["svc-a", "svc-a", "svc-a", "svc-b", "svc-b", "svc:c", "SVC-A", "dïenst"]
URLS = ["http://a.example.test", "http://b.example.test", "https://a.example.test:8443/api/", "http://c.svc.local/x//",
        " HTTP://A.Example.TEST ", "http://A.example.test:80", "http://évil.test/p%41th", "http://deep.cluster.local?",
        "http://h.invalid/#"]
BAD_URLS = ["http://evil.com", "ftp://a.example.test", "http://", "", "http://u:p@a.example.test", "http://10.0.0.1",
            "http://a.example.test?x=1", "http://[::1]:80/", "http://a.example.test:99999", "a.example.test",
            "http://[abc]", "http://a.example.test:x", "\x01http://a.example.test", "http://a\u2100b.test",
            "http://a.example.test\t/x", "http:///x", "http://.example.test", "http://a.example.test/#f",
            "http://[fe80::1%25eth0]/", "HTTPS://B.EXAMPLE.ORG:0443/A/../B", "http://127.0.0.1.example.com/",
            "http://a.example.test./", "http://@a.example.test", "http://a.example.test:", "http://[::FFFF:1.2.3.4]"]
NAMES = ["Svc A", "Svc A", "svc b", "Payments core", "  Trim me ", "ÄÖ-Service 2", "pay_core v1.2"]
TAGS = ["core", "core", "pay", "Blue", " spaced ", "", "tag:1", "ümlaut", "v2 beta"]
ENVIRONMENTS = ["prod", "prod", "staging", " prod ", "dev:eu"]
QUEUES = ["q0.dlq", "q0.dlq", "q1.dlq", "ä.dlq"]
WORDS = ["svc", "s", "pay", "pay core", "core", "prod", "a", "b v1", "ÄÖ", "--", "2", "Svc A", "trim me"]


@dataclasses.dataclass
class Step:
    operation: str
    args: dict
    now: object
    command: tuple = ()


def value_of(rng, depth=0):
    """A JSON value."""
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return rng.choice(TEXTS)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind == 4:
        return rng.choice([None, True, False])
    if kind == 5:
        return [value_of(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {rng.choice(TEXTS + ["k", "z", "m"]): value_of(rng, depth + 1) for _ in range(rng.randrange(4))}


def some(rng, chance, members):
    """Each member with a chance; the value of a member may be a function."""
    return {name: value() if callable(value) else value for name, value in members.items() if rng.random() < chance}


def capabilities_of(rng, routes):
    """A capability document, rarely one that is not valid."""
    document = {"relayna_version": "1.4.11", "topology_kind": rng.choice(["single", "workflow"]),
                "alias_config_summary": {"aliasing_enabled": rng.choice([True, False, "yes", 1])},
                "supported_routes": routes, "feature_flags": rng.choice([[], ["x"]]),
                "service_metadata": {"service_title": rng.choice([None, "Title ☃"]),
                                     "capability_path": "/relayna/capabilities", "discovery_source": "live",
                                     "compatibility": rng.choice(["capabilities_v1"] * 5 + ["capabilities_v0"])}}
    damage = rng.randrange(14)
    if damage == 0:
        del document["service_metadata"]["compatibility"]
    elif damage == 1:
        document["supported_routes"] = None
    elif damage == 2:
        document["unknown"] = {"x": 1}
    return document


class Sequence:
    """The steps of a kind and seed. Its owner reports results with `note`, and the keys of the server in `keys`."""

    def __init__(self, kind, seed, start, modules):
        self._kind = kind
        self._rng = random.Random(f"{kind} {seed}")
        self._now = start
        self._modules = modules
        self.keys = []
        self._cursors = {}
        self._dlq_ids = []
        self.config = self._configuration()
        self.notes = f"a random sequence of operations: kind {kind}, seed {seed}"

    def note(self, step, result):
        """Keeps what later steps refer to."""
        if isinstance(result, dict) and result.get("next_cursor"):
            self._cursors.setdefault(step.operation, []).append(result["next_cursor"])
        if step.operation == "dlq.list_records" and result[1]:
            self._cursors.setdefault(step.operation, []).append(result[1])
        for item in result["items"] if isinstance(result, dict) and "items" in result else []:
            if "dedupe_key" in item:
                self._cursors.setdefault(step.operation, []).append(item["dedupe_key"])

    def steps(self):
        steps, count = KINDS[self._kind]
        makers = [maker for maker, weight in steps for _ in range(weight)]
        for first in OPENINGS.get(self._kind, []):
            yield self._step(first)
        for _ in range(self._rng.randrange(count // 2, count)):
            self._now += self._rng.choice([timedelta(0), timedelta(milliseconds=1), timedelta(seconds=1),
                                           timedelta(seconds=29), timedelta(minutes=1), timedelta(minutes=2)])
            if self._rng.random() < 0.03:
                self._now += timedelta(hours=13)
            step = self._disturbance() if self.keys and self._rng.random() < 0.09 else None
            yield step or self._step(self._rng.choice(makers))

    def _step(self, maker):
        operation, args = maker(self)
        family = operation.split(".")[0]
        pure = operation in ("registry.normalize_base_url", "search.task_document_id", "search.build_prefix_tokens")
        if (family in STUDIO and not pure) or operation == "dlq.replay_message":
            args["now"] = self._now.isoformat()
        return Step(operation, args, self._now)

    def _disturbance(self):
        """A command of somebody else: time that passes for one key, a lost key, a value that cannot be read."""
        rng = self._rng
        key = rng.choice(self.keys)
        kind = rng.randrange(20)
        if kind < 9:
            return Step("raw.expire", {}, self._now, ("EXPIRE", key, "100"))
        if kind < 17:
            return Step("raw.del", {}, self._now, ("DEL", key))
        if kind == 17 and any(part in key for part in (":history", ":feed")):
            return Step("raw.lpush", {}, self._now, ("LPUSH", key, rng.choice(["not json", "{}", "[]", "1"])))
        if kind == 18 and any(part in key for part in ("by-id", "doc:", "studio:health", "dlq:record", "event:svc")):
            return Step("raw.set", {}, self._now, ("SET", key, rng.choice(["not json", "{}", "[1]", "null"])))
        if kind == 19 and rng.random() < 0.3:
            return Step("raw.rename", {}, self._now, ("RENAME", key, rng.choice(self.keys)))
        return None

    def _configuration(self):
        rng = self._rng
        ttl = rng.choice([86400, 86400, 86400, 3600, None, 0])
        feed = {"prefix": "relayna-service-events", "ttl_seconds": ttl, "feed_maxlen": rng.choice([5, 5000, 3, 0, 1])}
        status = {"prefix": rng.choice(["relayna", "task"]), "ttl_seconds": ttl,
                  "history_maxlen": rng.choice([50, 50, 3, 2, 1, 0, -1])}
        observation = {"prefix": "relayna-observations", "ttl_seconds": ttl,
                       "history_maxlen": rng.choice([500, 3, 1, 0])}
        if rng.random() < 0.8:
            status["feed"] = observation["feed"] = feed
        studio = {"event_prefix": rng.choice(["studio:events", "studio:events", "ev"]), "ttl_seconds": ttl,
                  "history_maxlen": rng.choice([5000, 5000, 4, 2, 0]),
                  "task_index_ttl_seconds": rng.choice([86400, 3600, 60, 1]),
                  "search": self._kind != "events" or rng.random() < 0.3}
        config = {"feed": feed, "status": status, "observation": observation,
                  "dlq": {"prefix": "relayna", "ttl_seconds": rng.choice([None, None, None, 3600, 3600, 3600, 0])},
                  "workflow": {"prefix": rng.choice(["relayna", "w"]),
                               "ttl_seconds": rng.choice([86400, 86400, 60, 60, None, None, 0])}}
        config.update({family: studio for family in STUDIO})
        used = FAMILIES[self._kind]
        return {family: options for family, options in config.items() if family in used}

    # Statuses, observations and the feed.

    def _limit(self):
        return some(self._rng, 0.6, {"limit": self._rng.choice([None, 1, 2, 3, 50, 0, -5])})

    def _status_event(self):
        rng = self._rng
        event = some(rng, 0.9, {"task_id": lambda: rng.choice(TASK_IDS + [None, 7, 0]),
                                "status": lambda: rng.choice(STATUSES + [None, 7, True])})
        # The original's stream ends with an error at a status that is no text.
        if self._kind == "streams" and not isinstance(event.get("status"), str) and rng.random() < 0.8:
            event["status"] = rng.choice(STATUSES)
        event.update(some(rng, 0.6, {"timestamp": lambda: rng.choice(TIMES + [None, 1767225600, 1.5])}))
        event.update(some(rng, 0.6, {"event_id": lambda: rng.choice(
            ["e1", "e2", "e3", "e4", "e5", "e6", "e7", " e2 ", "", "  ", None, 7, 0, "e:1", "é"])}))
        event.update(some(rng, 0.2, {"correlation_id": lambda: rng.choice(["c1", " c2 ", "", None, 3]),
                                     "message": lambda: rng.choice(TEXTS), "result": lambda: value_of(rng)}))
        event.update(some(rng, 0.4, {"meta": lambda: rng.choice(
            [{"parent_task_id": rng.choice(["p1", "p1", " p2 ", "t1", "", None, 42, True, 0, 1.5])}, {}, None, "x",
             {"auth_token": "s", "nested": value_of(rng)}])}))
        return dict(rng.sample(list(event.items()), len(event)))

    def set_history(self):
        event = self._status_event()
        task_id = event.get("task_id")
        if not isinstance(task_id, str) or self._rng.random() < 0.1:
            task_id = self._rng.choice(TASK_IDS)
        return "status.set_history", {"task_id": task_id, "event": event}

    def get_history(self):
        return "status.get_history", {"task_id": self._rng.choice(TASK_IDS), **self._limit()}

    def get_latest(self):
        return "status.get_latest", {"task_id": self._rng.choice(TASK_IDS)}

    def get_children(self):
        return "status.get_child_task_ids", {"parent_task_id": self._rng.choice(["p1", "p2", "42", "True", "t1", "1.5"]),
                                             **self._limit()}

    def ensure_event_id(self):
        return "contracts.ensure_status_event_id", {"event": self._status_event()}

    def _observation_args(self):
        rng = self._rng
        fields = some(rng, 0.9, {"task_id": lambda: rng.choice(TASK_IDS + [None, 7, True])})
        fields.update(some(rng, 0.4, {
            "consumer_name": "c1", "queue_name": lambda: rng.choice(["q1", None]),
            "timestamp": lambda: rng.choice(ZONED), "component": lambda: rng.choice(["consumer", " x ", "", None, 5]),
            "correlation_id": lambda: rng.choice(["c1", None]), "parent_task_id": lambda: rng.choice(["p1", " ", 3]),
            "retry_attempt": lambda: rng.choice([0, 1, 2]), "exception_message": lambda: rng.choice(TEXTS),
            "event_id": lambda: rng.choice(["e1", "e2", "o1", "o2", "o3", "", None, 9]),
            "detail": lambda: value_of(rng)}))
        return {"cls": rng.choice(CLASSES + ["dict"]) if rng.random() < 0.3 else CLASSES[0], "fields": fields}

    def set_observation(self):
        return "observation.set_event", self._observation_args()

    def get_observations(self):
        return "observation.get_history", {"task_id": self._rng.choice(TASK_IDS), **self._limit()}

    def add_status(self):
        return "feed.add_status_event", {"event": self._status_event()}

    def add_observation(self):
        return "feed.add_observation_event", self._observation_args()

    def get_feed(self):
        rng = self._rng
        after = self._cursors.get("feed.get_feed", []) + ["e1", "e2", "ghost", ""]
        return "feed.get_feed", some(rng, 0.6, {"after": lambda: rng.choice(after),
                                                "limit": lambda: rng.choice([1, 2, 100, 0, -1])})

    def _write(self):
        """Something that reaches the channel of a stream."""
        rng = self._rng
        kind = rng.randrange(12)
        if kind == 0:
            return {"publish": rng.choice(["", "{", "not json", "[]", "[1]", "1", "null", '"x"', '""', "{}", " {} ",
                                           '{"status": NaN}', '{"status": "Failed"}', '{"event_id": " e3 "}'])}
        event = self._status_event()
        if kind == 1:
            return {"publish": json.dumps(event, ensure_ascii=False)}
        return {"event": event, **some(rng, 0.1, {"task_id": rng.choice(TASK_IDS)})}

    def stream(self):
        rng = self._rng
        ids = ["e1", "e2", "e3", " e2 ", "ghost", "", "e:1"]
        return "status.stream", {"task_id": rng.choice(TASK_IDS[:6]), **some(rng, 0.3, {
            "last_event_id": lambda: rng.choice(ids), "adapter": "document",
            "terminal_statuses": lambda: rng.choice([["processing"], ["Completed", "QUEUED"], [], ["i\u0307n"]]),
            "aliases": lambda: rng.choice([{}, {"task_id": "id"}, {"event_id": "id", "status": "state"},
                                           {"status": "event_id"}, {"meta": "meta"}, {"message": "status"}]),
            "between": lambda: [self._write() for _ in range(rng.randrange(3))]}),
            "live": [self._write() for _ in range(rng.randrange(5))]}

    # Dead letters.

    def _record(self):
        rng = self._rng
        body = rng.choice([b'{"a": 1}', b"[1.50, 1e3]", b"plain \xc3\xa9", b"\xff\xfe", b"", b"null", b'"\\u007f"',
                           json.dumps(value_of(rng)).encode()])
        record = self._modules.dlq_models.build_dlq_record(
            queue_name=rng.choice(QUEUES), source_queue_name=rng.choice(["q", "q2"]), retry_queue_name="q.retry",
            task_id=rng.choice(["t1", "t2", None, "任务"]), correlation_id=rng.choice(["c1", None, ""]),
            reason=rng.choice(["handler_error", "dedup_conflict"]), exception_type=rng.choice(["ValueError", None]),
            retry_attempt=rng.choice([0, 1, 3]), max_retries=3,
            headers=rng.choice([{}, {"x-relayna-retry-attempt": 0}, {"h": value_of(rng)}]),
            content_type=rng.choice(["application/json", None]), body=body,
            dead_lettered_at=self._now - timedelta(seconds=rng.randrange(4), microseconds=rng.choice([0, 0, 5])))
        document = record.model_dump(mode="json")
        change = rng.randrange(16)
        if change == 0:
            del document[rng.choice(["reason", "body", "headers", "state"])]
        elif change == 1:
            document[rng.choice(["retry_attempt", "replay_count"])] = rng.choice(["2", 2.0, 2.5, None, True])
        elif change == 2:
            document["dead_lettered_at"] = rng.choice(["2026-01-01T10:00:00+02:00", 1767225600, "1767225600.5", "soon"])
        elif change == 3:
            document.update({"state": rng.choice(["replayed", "lost"]), "extra": 1})
        if change != 2:
            self._dlq_ids.append(document["dlq_id"])
        return document

    def _dlq_id(self):
        return self._rng.choice(self._dlq_ids[-6:] + ["missing"])

    def dlq_add(self):
        return "dlq.add", {"record": self._record()}

    def dlq_get(self):
        return "dlq.get", {"dlq_id": self._dlq_id()}

    def dlq_list(self):
        rng = self._rng
        return "dlq.list_records", some(rng, 0.35, {
            "queue_name": lambda: rng.choice(QUEUES + [""]), "task_id": lambda: rng.choice(["t1", "t2", "", "任务"]),
            "reason": lambda: rng.choice(["handler_error", "", "nothing"]), "source_queue_name": "q",
            "state": lambda: rng.choice(["dead_lettered", "replayed", "", "lost"]),
            "cursor": lambda: rng.choice(self._cursors.get("dlq.list_records", []) + self._dlq_ids[-3:] + ["", "x"]),
            "limit": lambda: rng.choice([1, 1, 2, 3, 0, -1, 50])})

    def dlq_summary(self):
        return "dlq.summarize_queues", {}

    def dlq_claim(self):
        return "dlq.claim_replay", {"dlq_id": self._dlq_id(), **some(self._rng, 0.3, {"force": True})}

    def dlq_release(self):
        return "dlq.release_replay_claim", {"dlq_id": self._dlq_id()}

    def dlq_mark(self):
        return "dlq.mark_replayed", {"dlq_id": self._dlq_id(), "replayed_at": self._now.isoformat(),
                                     "target_queue_name": self._rng.choice(["q.retry", "q ä", ""])}

    def dlq_replay(self):
        error = {"type": "ConnectionError", "message": "broker ☃ down"}
        return "dlq.replay_message", {"dlq_id": self._dlq_id(),
                                      **some(self._rng, 0.25, {"force": True, "publish_error": error})}

    # Workflow contracts.

    def _contract(self):
        rng = self._rng
        return {"stage": rng.choice(["ocr", "ocr", "s:2", ""]), "task_id": rng.choice(TASK_IDS[:9]),
                "action": rng.choice(["extract", "extract", None, "", "é"]),
                "payload": {"doc": rng.choice(["D1", "D1", "D2", 1, 1.0, None]), "page": rng.choice([2, "2", True]),
                            "other": value_of(rng)},
                "dedup_key_fields": rng.choice([["doc", "page"], ["doc"], ["page", "doc"], ["missing", "doc", "doc"], [],
                                                ["other"]])}

    def acquire(self):
        return "workflow.acquire_dedup", self._contract()

    def release(self):
        return "workflow.release_dedup", self._contract()

    def mark(self):
        return "workflow.mark_inflight", self._contract()

    def clear(self):
        return "workflow.clear_inflight", self._contract()

    # The registry.

    def _selector(self):
        return self._rng.choice([{"app": "a"}, {" app ": " a "}, {}, None, {"app": ""}, {"task_id": "x"}, {"n": 5}])

    def _configs(self):
        rng = self._rng
        url = lambda: rng.choice(URLS[:4] + ["http://evil.com", "bad"])
        return some(rng, 0.12, {
            "log_config": lambda: rng.choice([None, {"base_url": url(), "service_selector_labels": self._selector(),
                                                     **some(rng, 0.4, {"tenant_id": " t ", "provider": "loki",
                                                                       "task_match_mode": "regex",
                                                                       "task_match_template": "", "extra": 1})}]),
            "metrics_config": lambda: {"base_url": url(), "namespace": rng.choice([" ns ", "ns", "", "task_id"]),
                                       **some(rng, 0.4, {"service_selector_labels": self._selector(),
                                                         "step_seconds": rng.choice([5, 4, "30", 3600.0, 3601]),
                                                         "pod_label": rng.choice(["p", " "])})},
            "trace_config": lambda: {"base_url": url(), **some(rng, 0.4, {
                "query_path": rng.choice(["x/{trace_id}", "", "/none", "/t/{trace_id}"]), "tenant_id": None,
                "public_base_url": rng.choice([None, " ", "http://evil.com/x/"])})}})

    def _url(self):
        return self._rng.choice(URLS if self._rng.random() < 0.9 else BAD_URLS)

    def create_service(self):
        rng = self._rng
        request = {"service_id": rng.choice(SERVICES), "name": rng.choice(NAMES), "base_url": self._url(),
                   "environment": rng.choice(ENVIRONMENTS),
                   "tags": rng.sample(TAGS, rng.randrange(4)), "auth_mode": rng.choice(["none", " bearer "]),
                   **self._configs()}
        if rng.random() < 0.12:
            request[rng.choice(list(request))] = rng.choice([None, "", 5, [], ["x", 1], "  "])
        if rng.random() < 0.1:
            del request[rng.choice(list(request))]
        return "registry.create_service", {**request, **some(rng, 0.05, {"status": "disabled"})}

    def open_service(self):
        rng = self._rng
        return "registry.create_service", {"service_id": "svc-a", "name": rng.choice(NAMES), "base_url": URLS[0],
                                           "environment": "prod", "tags": rng.sample(TAGS, 2), "auth_mode": "none"}

    def open_other(self):
        return "registry.create_service", {"service_id": "svc-b", "name": "Beta", "base_url": URLS[1],
                                           "environment": self._rng.choice(["prod", "dev"]), "auth_mode": "none"}

    def _service_id(self):
        if self._kind == "routes" and self._rng.random() < 0.8:
            return self._rng.choice(["svc-a", "svc-a", "svc-a", "svc-b"])
        return self._rng.choice(SERVICES + [" svc-a ", "ghost"])

    def update_service(self):
        rng = self._rng
        changes = some(rng, 0.3, {
            "name": lambda: rng.choice(NAMES + [None, ""]), "base_url": self._url,
            "environment": lambda: rng.choice(ENVIRONMENTS), "tags": lambda: rng.sample(TAGS, 2),
            "status": lambda: rng.choice(["registered", "unavailable", "disabled", "disabled", "healthy", None, "odd"])})
        changes.update(self._configs())
        return "registry.update_service", {"service_id": self._service_id(), "changes": changes}

    def delete_service(self):
        return "registry.delete_service", {"service_id": self._service_id()}

    def get_service(self):
        return "registry.get_service", {"service_id": self._service_id()}

    def list_services(self):
        return "registry.list_services", {}

    def _answers(self, chance=0.75):
        rng = self._rng
        if rng.random() > chance:
            return some(rng, 0.6, {"capability_error": rng.choice(["timed out ☃", "refused"])})
        routes = [route for route in ("status.latest", "events.feed", "health.workers") if rng.random() < 0.75]
        return {"capabilities": capabilities_of(rng, routes)}

    def refresh_service(self):
        return "registry.refresh_service", {"service_id": self._service_id(), **self._answers()}

    def normalize_url(self):
        return "registry.normalize_base_url", {"url": self._rng.choice(URLS + BAD_URLS + BAD_URLS)}

    def document_id(self):
        return "search.task_document_id", {"service_id": self._rng.choice(SERVICES + TEXTS),
                                           "task_id": self._rng.choice(TASK_IDS + TEXTS)}

    def prefix_tokens(self):
        return "search.build_prefix_tokens", {"value": self._rng.choice(NAMES + TAGS + TEXTS + ["Kelvin \u212a9z"])}

    def signature(self):
        return "workflow.signature", {name: value for name, value in self._contract().items() if name != "stage"}

    # Events.

    def _event(self, damaged=True):
        rng = self._rng
        kind = rng.choice(["status", "status", "status", "observation"])
        event_id = rng.choice(["e1", "e2", "e3", "e4", "e5", "e6", None, None, "", "e:7"])
        event = {"cursor": event_id or rng.choice(["k1", "k2", "k3"]), "task_id": rng.choice(TASK_IDS),
                 "event_type": rng.choice(["status.running", "status.completed", "TaskMessageReceived"]),
                 "source_kind": kind, **some(rng, 0.85, {"timestamp": rng.choice(TIMES + [None])}),
                 **some(rng, 0.3, {"component": "status", "correlation_id": rng.choice(["c1", "c2", "", None]),
                                   "parent_task_id": "p1"}), "event_id": event_id}
        event.update(some(rng, 0.9, {"payload": lambda: some(rng, 0.6, {
            "status": lambda: rng.choice(STATUSES + [None, 3, True, 1.5]), "stage": lambda: rng.choice(["ocr", " ", 1]),
            "x": lambda: value_of(rng)})}))
        if damaged and rng.random() < 0.03:
            event[rng.choice(["task_id", "timestamp", "payload", "source_kind"])] = rng.choice([None, 5, "odd"])
        return event

    def _envelope(self):
        rng = self._rng
        service = rng.choice(SERVICES if rng.random() < 0.3 else ["svc-a", "svc-a", "svc-b"])
        return {"service_id": service, "ingest_method": rng.choice(["push", "pull"]), "event": self._event()}

    def insert_event(self):
        return "events.insert_event", {"envelope": self._envelope()}

    def ingest(self):
        return "ingest.ingest_events", {"events": [self._envelope() for _ in range(self._rng.choice([1, 1, 2, 3, 0]))]}

    def _page(self, operation):
        rng = self._rng
        return some(rng, 0.3, {"before": lambda: rng.choice(self._cursors.get(operation, []) + ["ghost", ""]),
                               "limit": lambda: rng.choice([1, 2, 3, 0, 100])})

    def list_events(self):
        rng = self._rng
        operation = rng.choice(["events.list_service_events", "ingest.list_service_events"])
        return operation, {"service_id": rng.choice(SERVICES), **self._page(operation), **some(rng, 0.2, {
            "task_id": lambda: rng.choice(TASK_IDS), "source_kind": lambda: rng.choice(["status", "observation"]),
            "event_type": "status.running", "from_time": "2026-01-01T10:00:01Z",
            "to_time": lambda: rng.choice(["2026-01-01T10:00:02Z", "2026-01-01T12:00:02+02:00"])})}

    def list_task_events(self):
        operation = self._rng.choice(["events.list_task_events", "ingest.list_task_events"])
        return operation, {"service_id": self._rng.choice(SERVICES), "task_id": self._rng.choice(TASK_IDS),
                           **self._page(operation)}

    def activity(self):
        return "events.get_service_activity_snapshot", {"service_id": self._rng.choice(SERVICES)}

    def pull_cursor(self):
        service = {"service_id": self._rng.choice(SERVICES)}
        if self._rng.random() < 0.5:
            return "events.get_pull_cursor", service
        return "events.set_pull_cursor", {**service, "cursor": self._rng.choice(["e1", "e3", "k1", ""])}

    def _pull(self):
        rng = self._rng
        pages = some(rng, 0.4, {"server_page_size": rng.choice([1, 2]), "pull_max_pages": rng.choice([1, 2, 3]),
                                "pull_page_limit": rng.choice([1, 3, 200])})
        return {"feed": [self._event(damaged=not pages) for _ in range(rng.randrange(6))], **pages}

    def sync_service(self):
        rng = self._rng
        service = {"service_id": rng.choice(SERVICES[:5]), "name": "Svc A", "base_url": self._url(), "environment": "prod",
                   "auth_mode": "none"}
        service["base_url"] = rng.choice(URLS[:3] + ["http://169.254.169.254"])
        return "ingest.sync_service", {"service": service, **self._pull()}

    def sync_all(self):
        return "ingest.sync_registered_services", self._pull()

    # Health.

    def _workers(self):
        rng = self._rng
        beats = [self._now - timedelta(seconds=age) for age in (0, 60, 89, 90, 91, 500)]
        texts = [beat.isoformat() for beat in beats] + [None, "2026-01-01T14:00:00+02:00", "2026-01-01T12:00:00", 1767268800]
        if rng.random() < 0.2:
            return some(rng, 0.7, {"worker_error": "connection ☃ lost"})
        return {"workers": {"reported_at": rng.choice(texts[:6]), "workers": [
            {"worker_name": rng.choice(["w1", "w2"]), "running": rng.choice([True, True, True, True, False, 1, "no"]),
             **some(rng, 0.9, {"last_heartbeat_at": rng.choice(texts)})} for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]}}

    def get_health(self):
        return "health.get_health", {"service_id": self._service_id()}

    def refresh_health(self):
        return "health.refresh_health", {"service_id": self._service_id(), **self._answers(), **self._workers()}

    def refresh_cached(self):
        return "health.refresh_health", {"service_id": self._service_id(), "use_cached_capabilities": True,
                                         **self._answers(), **self._workers()}

    def refresh_route(self):
        return "studio.refresh_service", {"service_id": self._service_id(), **self._answers(), **self._workers()}

    def get_with_health(self):
        return "studio.get_service", {"service_id": self._service_id()}

    def list_with_health(self):
        return "studio.list_services", {}

    def refresh_all(self):
        return "health.refresh_all_services", {**self._answers(), **self._workers()}

    def stored_health(self):
        return "health_store.get_health", {"service_id": self._rng.choice(SERVICES)}

    # The search index.

    def _bounds(self):
        return some(self._rng, 0.2, {"from_timestamp": lambda: self._rng.choice(TIMES),
                                     "to_timestamp": lambda: self._rng.choice(TIMES)})

    def _odd_cursor(self):
        rng = self._rng
        return rng.choice(["!!", "e30=", "e30", "bm90IGpzb24=", "", base64.urlsafe_b64encode(b"[1]").decode(), "é"])

    def search_tasks(self):
        rng = self._rng
        cursors = self._cursors.get("search.search_tasks", [])
        return "search.search_tasks", {**some(rng, 0.35, {
            "service_id": lambda: rng.choice(SERVICES + [" svc-a ", ""]), "task_id": lambda: rng.choice(TASK_IDS),
            "correlation_id": lambda: rng.choice(["c1", "c2"]), "status": lambda: rng.choice(STATUSES + ["3", "True"]),
            "stage": lambda: rng.choice(["ocr", "1"]), "limit": lambda: rng.choice([1, 1, 2, 0, 50])}), **self._bounds(),
            **some(rng, 0.3, {"cursor": lambda: rng.choice(cursors) if cursors and rng.random() < 0.8
                              else self._odd_cursor()})}

    def search_services(self):
        rng = self._rng
        cursors = self._cursors.get("search.search_services", [])
        return "search.search_services", {**some(rng, 0.4, {"query": lambda: rng.choice(WORDS)}), **some(rng, 0.25, {
            "environment": lambda: rng.choice(["prod", "staging", " dev:eu "]), "tag": lambda: rng.choice(TAGS),
            "status": lambda: rng.choice(["registered", "healthy", "disabled"]),
            "health": lambda: rng.choice(["healthy", "degraded", "disabled", "unreachable"]),
            "limit": lambda: rng.choice([1, 1, 2, 0, 50]),
            "cursor": lambda: rng.choice(cursors) if cursors and rng.random() < 0.8 else self._odd_cursor()})}

    def prune(self):
        return "search.prune_expired_task_documents", {}

    def initialize(self):
        return "search.initialize", {}

    def set_task(self):
        rng = self._rng
        return "search.set_task_document", {"document": {
            "service_id": rng.choice(SERVICES[:5]), "service_name": "Svc A", "environment": "prod",
            "task_id": rng.choice(TASK_IDS), "detail_path": "/x", **some(rng, 0.5, {
                "correlation_id": rng.choice(["c1", ""]), "status": rng.choice(STATUSES), "stage": "ocr",
                "first_seen_at": rng.choice(TIMES), "last_seen_at": rng.choice(TIMES),
                "latest_event_at": rng.choice(TIMES), "latest_ingested_at": rng.choice(TIMES),
                "expires_at": rng.choice(TIMES + [None])})}}

    def delete_tasks(self):
        return "search.delete_task_documents_for_service", {"service_id": self._rng.choice(SERVICES)}


S = Sequence
STUDIO = ("registry", "events", "ingest", "health", "health_store", "search", "studio")
# The operations of each kind with their weights, and the number of steps.
KINDS = {
    "sdk": ([(S.set_history, 9), (S.get_history, 2), (S.get_latest, 1), (S.get_children, 1), (S.set_observation, 4),
             (S.get_observations, 1), (S.add_status, 1), (S.add_observation, 1), (S.get_feed, 3)], 50),
    "dlq": ([(S.dlq_add, 5), (S.dlq_get, 1), (S.dlq_list, 4), (S.dlq_summary, 1), (S.dlq_claim, 2), (S.dlq_release, 1),
             (S.dlq_mark, 1), (S.dlq_replay, 3)], 44),
    "workflow": ([(S.acquire, 4), (S.mark, 3), (S.clear, 2), (S.release, 2)], 40),
    "pure": ([(S.normalize_url, 5), (S.document_id, 1), (S.prefix_tokens, 1), (S.signature, 2),
              (S.ensure_event_id, 2)], 60),
    "registry": ([(S.create_service, 5), (S.update_service, 5), (S.delete_service, 1), (S.get_service, 1),
                  (S.list_services, 1), (S.refresh_service, 3), (S.search_services, 4), (S.ingest, 1)], 36),
    "events": ([(S.insert_event, 6), (S.ingest, 2), (S.list_events, 4), (S.list_task_events, 2), (S.activity, 1),
                (S.pull_cursor, 1), (S.sync_service, 2), (S.sync_all, 1), (S.refresh_service, 1)], 40),
    "health": ([(S.refresh_health, 5), (S.get_health, 3), (S.refresh_all, 2), (S.stored_health, 1), (S.insert_event, 3),
                (S.update_service, 2), (S.refresh_service, 1), (S.delete_service, 1), (S.open_service, 1)], 36),
    "routes": ([(S.refresh_route, 5), (S.list_with_health, 3), (S.get_with_health, 1), (S.refresh_cached, 3),
                (S.refresh_health, 1), (S.get_health, 1), (S.refresh_all, 1), (S.insert_event, 3),
                (S.update_service, 2), (S.delete_service, 1), (S.open_service, 1)], 36),
    "streams": ([(S.stream, 5), (S.set_history, 8), (S.get_history, 1)], 40),
    "tasks": ([(S.ingest, 8), (S.search_tasks, 6), (S.prune, 2), (S.initialize, 1), (S.set_task, 1), (S.delete_tasks, 1),
               (S.update_service, 1), (S.delete_service, 1), (S.open_service, 1), (S.sync_service, 1)], 36),
}
OPENINGS = {kind: [S.open_service, S.open_other] for kind in ("registry", "events", "health", "routes", "tasks")}
FAMILIES = {"sdk": ("status", "observation", "feed"), "streams": ("status",), "dlq": ("dlq",), "workflow": ("workflow",), "pure": (),
            **{kind: STUDIO[:-1] for kind in OPENINGS}, "routes": STUDIO}
