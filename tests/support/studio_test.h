// What Studio's tests share: services and events as they need them, services that answer from
// memory, and a fixture on both backends that lets every request fail in its turn.
//
// It stands in Studio's own namespace, whose names it is full of. Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_STUDIO_TEST_H_
#define REDOUBLE_TESTS_SUPPORT_STUDIO_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/python/error.h"
#include "core/python/json.h"
#include "core/store/errors.h"
#include "core/studio/capabilities.h"
#include "core/studio/health_service.h"
#include "core/studio/ingest_service.h"
#include "core/studio/service_event.h"
#include "core/studio/service_record.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::studio {

inline python::Value Json(std::string_view text) { return *python::ParseJson(text); }

// The class of an error; its code's name for an error that is Redis's own; "OK".
inline std::string ErrorOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  return python::ErrorType(status).value_or(absl::StatusCodeToString(status.code()));
}

// A service of "prod" whose name is its id.
inline ServiceRecord Service(const std::string& id, const std::string& url) {
  ServiceRecord record;
  record.service_id = id;
  record.name = id;
  record.base_url = url;
  record.environment = "prod";
  record.auth_mode = "none";
  return record;
}

// A status event of task "t1" of service "a".
inline EventEnvelope Event(const std::string& id, const std::string& timestamp) {
  EventEnvelope envelope;
  envelope.service_id = "a";
  envelope.event.cursor = id;
  envelope.event.task_id = "t1";
  envelope.event.event_type = "status.running";
  envelope.event.event_id = id;
  envelope.event.timestamp = timestamp;
  envelope.event.payload = Json(R"({"status": "running"})");
  return envelope;
}

// A capability document with these routes: "\"events.feed\", \"health.workers\"".
inline std::string CapabilitiesWith(std::string_view routes) {
  return R"({"relayna_version": "1.4.11", "topology_kind": "simple", "supported_routes": [)" +
         std::string(routes) +
         R"(], "feature_flags": [], "service_metadata": {"service_title": null,)"
         R"( "capability_path": "/relayna/capabilities", "discovery_source": "live",)"
         R"( "compatibility": "capabilities_v1"}})";
}

// Services that give one answer, and note who was asked.
class FixedCapabilities final : public CapabilityFetcher {
 public:
  base::Task<absl::StatusOr<HttpResponse>> Fetch(std::string_view base_url) override {
    asked.emplace_back(base_url);
    if (on_fetch) on_fetch();
    co_return response;
  }

  absl::StatusOr<HttpResponse> response = absl::UnavailableError("no answer");
  std::vector<std::string> asked;
  std::function<void()> on_fetch;
};

class FixedWorkers final : public WorkerHealthFetcher {
 public:
  base::Task<absl::StatusOr<std::string>> Fetch(std::string_view base_url) override {
    asked.emplace_back(base_url);
    co_return body;
  }

  absl::StatusOr<std::string> body = absl::UnavailableError("no answer");
  std::vector<std::string> asked;
};

template <typename Backend>
class StudioBackendTest : public tests::BackendTest<Backend> {
 protected:
  using Operation = std::function<absl::Status(store::Store&)>;

  // Runs the operation again and again on what `setup` leaves, with its first request failing, its
  // second and so on: it passes each failure on. Ends when it makes no more requests, and then it
  // succeeds. How many requests it makes.
  size_t ExpectFailuresPassedOn(const std::function<void()>& setup, const Operation& operation) {
    this->Ask({"FLUSHALL"});
    setup();
    EXPECT_TRUE(operation(this->store()).ok()) << "and the server knows its scripts from now on";
    for (size_t failing = 0;; ++failing) {
      this->Ask({"FLUSHALL"});
      setup();
      tests::InterceptedStore watched(this->store());
      watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
        if (index != failing) return std::nullopt;
        return absl::StatusOr<store::Reply>(store::OutcomeUnknownError("gone"));
      };
      const absl::Status status = operation(watched);
      if (watched.requests() <= failing) {
        EXPECT_TRUE(status.ok()) << status;
        return failing;
      }
      EXPECT_TRUE(absl::IsUnavailable(status)) << "request " << failing << ": " << status;
    }
  }

  // What the operation sends, a line per command.
  std::vector<std::string> LogOf(const Operation& operation) {
    tests::InterceptedStore watched(this->store());
    (void)operation(watched);
    return watched.log();
  }

  // Runs the operation, and `meanwhile` in front of its request of that number.
  absl::Status RunWith(size_t index, const std::function<void()>& meanwhile,
                       const Operation& operation) {
    tests::InterceptedStore watched(this->store());
    watched.on_request = [&](size_t now) -> std::optional<absl::StatusOr<store::Reply>> {
      if (now == index) meanwhile();
      return std::nullopt;
    };
    return operation(watched);
  }

  std::vector<std::string> Members(std::string_view key) {
    std::vector<std::string> members;
    const store::Reply reply = this->Ask({"SMEMBERS", key});
    for (const store::Reply& member : reply.elements()) {
      members.push_back(member.text());
    }
    std::sort(members.begin(), members.end());
    return members;
  }

  bool Exists(std::string_view key) { return this->Ask({"EXISTS", key}).integer() == 1; }
};

}  // namespace redouble::studio

#endif  // REDOUBLE_TESTS_SUPPORT_STUDIO_TEST_H_
