#include "redouble/core/studio/events/service_event.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::Not;

python::Value Json(std::string_view text) { return python::ParseJson(text).value(); }

constexpr std::string_view kEnvelope = R"({
  "service_id": "svc-a", "ingest_method": "pull",
  "event": {"cursor": "curX", "task_id": "t1", "event_type": "status.running",
            "source_kind": "status", "component": null, "timestamp": "2026-01-01T10:00:07Z",
            "event_id": null, "payload": {"task_id": "t1", "b": 1.5, "a": "ü"}}})";

TEST(DedupeKey, IsTheEventIdUnderItsServiceAndKind) {
  ASSERT_OK_AND_ASSIGN(EventEnvelope envelope, ReadEventEnvelope(Json(kEnvelope)));
  envelope.event.event_id = "e1";
  EXPECT_THAT(DedupeKey("svc-a", envelope.event), IsOkAndHolds("svc-a:status:e1"));
  envelope.event.source_kind = SourceKind::kObservation;
  envelope.event.event_id = "";
  EXPECT_THAT(DedupeKey("svc-a", envelope.event), IsOkAndHolds("svc-a:observation:"));
}

// From tests/data/golden/relayna/studio_events_insert.json.
TEST(DedupeKey, HashesAnEventWithoutId) {
  ASSERT_OK_AND_ASSIGN(const EventEnvelope envelope, ReadEventEnvelope(Json(kEnvelope)));
  EXPECT_THAT(
      DedupeKey("svc-a", envelope.event),
      IsOkAndHolds(
          "svc-a:status:curX:944dae267dde936ef9d86a4d8602d43acb82b5481888f7dfe25c4030760ced87"));
}

TEST(DedupeKey, RefusesALoneSurrogate) {
  ASSERT_OK_AND_ASSIGN(EventEnvelope envelope, ReadEventEnvelope(Json(kEnvelope)));
  envelope.event.payload.object()->Set("bad", python::ParseJson(R"("\ud800")").value());
  EXPECT_THAT(DedupeKey("svc-a", envelope.event), Not(IsOk()));
}

TEST(ControlPlaneEvent, RoundTripsThroughItsJsonWithoutTheCursor) {
  ControlPlaneEvent event;
  event.service_id = "svc-a";
  event.ingest_method = IngestMethod::kPush;
  event.ingested_at = "2026-01-01T12:00:00+00:00";
  event.dedupe_key = "svc-a:status:e1";
  event.out_of_order = true;
  event.event = ReadEventEnvelope(Json(kEnvelope)).value().event;
  ASSERT_OK_AND_ASSIGN(const std::string json, python::PydanticJson(ToValue(event)));
  EXPECT_EQ(json, R"({"service_id":"svc-a","ingest_method":"push",)"
                  R"("ingested_at":"2026-01-01T12:00:00+00:00","dedupe_key":"svc-a:status:e1",)"
                  R"("out_of_order":true,"task_id":"t1","event_type":"status.running",)"
                  R"("source_kind":"status","component":null,"timestamp":"2026-01-01T10:00:07Z",)"
                  R"("event_id":null,"correlation_id":null,"parent_task_id":null,)"
                  R"("payload":{"task_id":"t1","b":1.5,"a":"ü"}})");
  event.event.cursor.clear();
  EXPECT_THAT(ParseControlPlaneEvent(json), IsOkAndHolds(event));
}

TEST(ReadEventEnvelope, RefusesWhatIsNoEvent) {
  const char* const kCases[] = {"[]",
                                "{}",
                                R"({"service_id": "", "ingest_method": "pull", "event": {}})",
                                R"({"service_id": "a", "ingest_method": "fetch", "event": {}})",
                                R"({"service_id": "a", "ingest_method": "pull", "event": []})",
                                R"({"service_id": "a", "ingest_method": "pull",
          "event": {"cursor": "c", "task_id": 7, "event_type": "x", "source_kind": "status"}})",
                                R"({"service_id": "a", "ingest_method": "pull",
          "event": {"cursor": "c", "task_id": "t", "event_type": "x", "source_kind": "other"}})",
                                R"({"service_id": "a", "ingest_method": "pull",
          "event": {"cursor": "c", "task_id": "t", "event_type": "x", "source_kind": "status",
                    "payload": []}})"};
  for (const char* text : kCases) {
    EXPECT_EQ(python::ErrorType(ReadEventEnvelope(Json(text)).status()), "ValidationError") << text;
  }
  EXPECT_EQ(python::ErrorType(ParseControlPlaneEvent("{bad").status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(ParseControlPlaneEvent("{}").status()), "ValidationError");
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
