#include "redouble/core/relayna/tokens.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using python::Object;
using ::testing::Not;

Value Event(std::string_view text) { return python::ParseJson(text).value(); }

TEST(StatusToken, IsTheEventIdStripped) {
  EXPECT_THAT(StatusToken(Event(R"({"event_id": " e1 ", "status": "x"})")), IsOkAndHolds("e1"));
}

// From tests/data/golden/relayna/status_hash_token.json.
TEST(StatusToken, IsAHashOfTheWholeEventWithoutAUsableId) {
  EXPECT_THAT(StatusToken(Event(R"({"task_id": "t1", "status": "queued"})")),
              IsOkAndHolds("a140e4db7db59c913bed7f7a0216ad2d701336c1c5e0acaa4f52b7dd289bc927"));
  EXPECT_THAT(StatusToken(Event(R"({"task_id": "t1", "status": "queued", "event_id": "   "})")),
              IsOkAndHolds("170a2ada8d7abdcdf2c5406c06736bb9fc6d43fcd0dfc5a9e0f1a384281ac4b2"));
  EXPECT_THAT(StatusToken(Event(R"({"task_id": "t1", "status": "queued", "event_id": 7})")),
              IsOkAndHolds("6f67a930ba2067a708df31275a0343d52467136600ee5fbb9c4c0b5d4d5d8606"));
  EXPECT_THAT(StatusToken(Event(R"({"task_id": "t1", "status": "queued", "event_id": null})")),
              IsOkAndHolds("467562d3095667d83dc0c78665045a2805ee01152846dc16e6c04a178b28259f"));
}

TEST(StatusToken, DoesNotDependOnTheOrderOfMembers) {
  EXPECT_THAT(StatusToken(Event(R"({"task_id": "t1", "status": "queued"})")),
              IsOkAndHolds(StatusToken(Event(R"({"status": "queued", "task_id": "t1"})")).value()));
}

TEST(StatusToken, RejectsAValueWithoutAJsonForm) {
  EXPECT_EQ(python::ErrorType(StatusToken(Value("text")).status()), "TypeError");
  const Value opaque = Object({{"x", python::Opaque{"set", "{}"}}});
  EXPECT_EQ(python::ErrorType(StatusToken(opaque).status()), "TypeError");
  EXPECT_EQ(python::ErrorType(StatusToken(Event(R"({"x": "\ud800"})")).status()),
            "UnicodeEncodeError");
}

struct Family {
  std::string_view event;
  std::optional<std::string> parent;
};

TEST(ParentTaskId, IsWhatMetaSays) {
  const Family rows[] = {
      {R"({"task_id": "c", "meta": {"parent_task_id": " p "}})", "p"},
      {R"({"task_id": "c", "meta": {"parent_task_id": 42}})", "42"},
      {R"({"task_id": "c", "meta": {"parent_task_id": true}})", "True"},
      {R"({"task_id": "c", "meta": {"parent_task_id": 0}})", std::nullopt},
      {R"({"task_id": "c", "meta": {"parent_task_id": false}})", std::nullopt},
      {R"({"task_id": "c", "meta": {"parent_task_id": ""}})", std::nullopt},
      {R"({"task_id": "c", "meta": {"parent_task_id": "  "}})", std::nullopt},
      {R"({"task_id": "c", "meta": {"parent_task_id": null}})", std::nullopt},
      {R"({"task_id": "c", "meta": {}})", std::nullopt},
      {R"({"task_id": "c", "meta": ["parent_task_id"]})", std::nullopt},
      {R"({"task_id": "c"})", std::nullopt},
      {R"({"task_id": " p ", "meta": {"parent_task_id": "p"}})", std::nullopt},
      {R"({"meta": {"parent_task_id": "p"}})", "p"},
      {R"({"task_id": 0, "meta": {"parent_task_id": "0"}})", "0"},
      {R"({"task_id": false, "meta": {"parent_task_id": "False"}})", "False"},
      {R"({"task_id": [], "meta": {"parent_task_id": "p"}})", "p"},
  };
  for (const Family& row : rows)
    EXPECT_THAT(ParentTaskId(Event(row.event)), IsOkAndHolds(row.parent)) << row.event;
}

TEST(ParentTaskId, RefusesAnArrayOrAnObject) {
  EXPECT_THAT(ParentTaskId(Event(R"({"meta": {"parent_task_id": ["p"]}})")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParentTaskId(Event(R"({"task_id": {"x": 1}, "meta": {"parent_task_id": "p"}})")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// From tests/data/golden/relayna/status_event_id_generation.json.
TEST(CanonicalStatusEventId, IsAHashWithoutTheId) {
  EXPECT_THAT(CanonicalStatusEventId(Event(R"({"task_id": "t1", "status": "queued"})")),
              IsOkAndHolds("d281e8abcb473bd06ff31d7ea449e0b2ab55cb00f66d3503faed7a8344df9f0d"));
  EXPECT_THAT(CanonicalStatusEventId(Event(R"({"task_id":"t1","status":"queued","event_id":9})")),
              IsOkAndHolds("d281e8abcb473bd06ff31d7ea449e0b2ab55cb00f66d3503faed7a8344df9f0d"));
}

TEST(CanonicalStatusEventId, HashesForeignValuesAsText) {
  const Value time = Object({{"at", python::DateTime{absl::FromUnixSeconds(1767268800)}}});
  EXPECT_THAT(CanonicalStatusEventId(time),
              IsOkAndHolds(
                  CanonicalStatusEventId(Event(R"({"at": "2026-01-01T12:00:00+00:00"})")).value()));
  const Value opaque = Object({{"x", python::Opaque{"UUID", "u"}}});
  EXPECT_THAT(CanonicalStatusEventId(opaque),
              IsOkAndHolds(CanonicalStatusEventId(Event(R"({"x": "u"})")).value()));
  EXPECT_EQ(python::ErrorType(CanonicalStatusEventId(Value(1)).status()), "TypeError");
}

TEST(WithStatusEventId, KeepsOrMakesAnId) {
  const auto text = [](std::string_view event) {
    return python::PyJson(WithStatusEventId(Event(event)).value(), {.compact = true}).value();
  };
  EXPECT_EQ(text(R"({"event_id": " x ", "status": "s"})"), R"({"event_id":"x","status":"s"})");
  EXPECT_EQ(text(R"({"task_id": "t1", "event_id": "", "status": "queued"})"),
            R"({"task_id":"t1","event_id":)"
            R"("d281e8abcb473bd06ff31d7ea449e0b2ab55cb00f66d3503faed7a8344df9f0d",)"
            R"("status":"queued"})");
  EXPECT_EQ(python::ErrorType(WithStatusEventId(Value()).status()), "TypeError");
  EXPECT_THAT(WithStatusEventId(Event(R"({"x": "\ud800"})")), Not(IsOk()));
}

// From tests/data/golden/relayna/workflow_contract_basic.json.
TEST(WorkflowSignature, IsThatOfTheOriginal) {
  const Value payload = Event(R"({"doc": "D1", "page": 2, "junk": "x"})");
  const std::string fields[] = {"doc", "page", "missing"};
  EXPECT_THAT(WorkflowSignature({"t1", "extract", &payload, fields}),
              IsOkAndHolds("cb639ddb0a3c48e98613c80edb28027a20654a850698134f71a966185f1b1a89"));
  const Value unicode = Event("{\"doc\": \"na\u00EFve \u2603\", \"page\": 1.0}");
  const std::string reversed[] = {"page", "doc"};
  EXPECT_THAT(WorkflowSignature({"t1", std::nullopt, &unicode, reversed}),
              IsOkAndHolds("8dd3859584b800356271f98ec9b627783cb0edcd38e93e490e89f8603e910e9a"));
  // With U+007F, which Python escapes; from json.dumps of CPython 3.11.
  const Value control = Object({{"doc",
                                 "D\x7f"
                                 "1"}});
  const std::string doc[] = {"doc"};
  EXPECT_THAT(WorkflowSignature({"t\x7f"
                                 "1",
                                 "extract", &control, doc}),
              IsOkAndHolds("8b0ca2cc7a0a1c8ffbc4df2dbc4fffbd5bc5f91931ef420370623f57ccaf6a9f"));
}

TEST(WorkflowSignature, DependsOnValuesButNotOnTheOrder) {
  const auto sign = [](std::string_view payload, std::vector<std::string> fields,
                       std::optional<std::string_view> action = "a") {
    const Value value = Event(payload);
    return WorkflowSignature({"t", action, &value, fields}).value();
  };
  const std::string one = sign(R"({"a": 1, "b": 2})", {"a", "b"});
  EXPECT_EQ(sign(R"({"b": 2, "a": 1, "c": 3})", {"b", "a", "b"}), one);
  EXPECT_NE(sign(R"({"a": 1.0, "b": 2})", {"a", "b"}), one);
  EXPECT_NE(sign(R"({"a": 1, "b": 2})", {"a", "b"}, std::nullopt),
            sign(R"({"a": 1, "b": 2})", {"a", "b"}, ""));
  EXPECT_EQ(sign(R"({"a": null})", {"a"}), sign(R"({})", {"a"}));
}

TEST(WorkflowSignature, AcceptsAMissingPayloadAndForeignValues) {
  const std::string fields[] = {"a"};
  const Value empty = Object();
  EXPECT_THAT(WorkflowSignature({"t", "a", nullptr, fields}),
              IsOkAndHolds(WorkflowSignature({"t", "a", &empty, fields}).value()));
  const Value opaque = Object({{"a", python::Opaque{"UUID", "u"}}});
  const Value text = Object({{"a", "u"}});
  EXPECT_THAT(WorkflowSignature({"t", "a", &opaque, fields}),
              IsOkAndHolds(WorkflowSignature({"t", "a", &text, fields}).value()));
  EXPECT_THAT(WorkflowSignature({"\xFF", "a", nullptr, {}}), Not(IsOk()));
}

// From tests/data/golden/relayna/observation_basic.json.
TEST(ObservationToken, IsThatOfTheOriginal) {
  EXPECT_THAT(ObservationToken(Event(
                  R"({"consumer_name": "c1", "queue_name": "q1", "task_id": "t1", "delivery_tag": 3,
                "redelivered": false, "correlation_id": "c-1", "retry_attempt": 0,
                "task_type": null, "timestamp": "2026-01-01T11:00:00+00:00",
                "component": "consumer", "event_type": "TaskMessageReceived"})")),
              IsOkAndHolds("010e30138934e2277e146e74910f46023758843c59d5be98be8444aa0972c347"));
}

RC_GTEST_PROP(StatusToken, IsTheSameInEveryOrder, ()) {
  auto names = *rc::gen::unique<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  std::erase(names, "event_id");
  Object forwards, backwards;
  for (const std::string& name : names) forwards.Set(name, name.size());
  std::reverse(names.begin(), names.end());
  for (const std::string& name : names) backwards.Set(name, name.size());
  RC_ASSERT(StatusToken(forwards).value() == StatusToken(backwards).value());
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
