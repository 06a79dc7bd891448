// Shared parts of Studio's tests: sample services and events, fake HTTP fetchers, and a fixture on
// all backends, in both layouts of the keys, that fails each request of an operation in turn.
//
// A test names keys as documented (backends/testing/spelled_test.h), and passes the options of a
// store through the fixture, which sets the layout:
//
//   template <typename Backend>
//   class RegistryTest : public StudioBackendTest<Backend> {};
//   TYPED_TEST_SUITE(RegistryTest, tests::LayoutBackends, tests::BackendNames);
//
//   TYPED_TEST(RegistryTest, IsEmpty) {
//     RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
//   }
//
// It is in Studio's namespace, because it mostly uses Studio's names. For tests only.
//
// Thread-safety: one thread.
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

#include "redouble/backends/testing/spelled_test.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/studio/registry/capabilities.h"
#include "redouble/core/studio/registry/service_record.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::studio {

inline python::Value Json(std::string_view text) { return *python::ParseJson(text); }

// Returns the exception class of an error, the name of its code if it has none, or "OK".
inline std::string ErrorOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  return python::ErrorType(status).value_or(absl::StatusCodeToString(status.code()));
}

// Returns a service in the environment "prod" whose name is its id.
inline ServiceRecord Service(const std::string& id, const std::string& url) {
  ServiceRecord record;
  record.service_id = id;
  record.name = id;
  record.base_url = url;
  record.environment = "prod";
  record.auth_mode = "none";
  return record;
}

// Returns a status event of task "t1" and service "a".
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

// Returns a capability document with the given routes, for example "\"events.feed\"".
inline std::string CapabilitiesWith(std::string_view routes) {
  return R"({"relayna_version": "1.4.11", "topology_kind": "simple", "supported_routes": [)" +
         std::string(routes) +
         R"(], "feature_flags": [], "service_metadata": {"service_title": null,)"
         R"( "capability_path": "/relayna/capabilities", "discovery_source": "live",)"
         R"( "compatibility": "capabilities_v1"}})";
}

// Returns the same response for all services and records which were requested.
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

struct StudioFamilies {
  static tests::SystemFamilies Families() {
    return {KeyFamilies(), KeyFamilies(store::KeyLayout::kCluster), DefaultBindings()};
  }
};

template <typename Backend>
class StudioBackendTest : public tests::SpelledTest<Backend, StudioFamilies> {
 protected:
  using Spelled = tests::SpelledTest<Backend, StudioFamilies>;
  using Operation = std::function<absl::Status(store::Store&)>;

  // Returns the options of a store, with the layout of the test.
  template <typename StoreOptions>
  static StoreOptions Options(StoreOptions options) {
    options.key_layout = Spelled::layout();
    return options;
  }

  // The values of an option that needs a script with the keys of several tags: in the cluster
  // layout it is without effect, so that only false says what happens.
  static std::vector<bool> OffAndOn() {
    return Spelled::in_cluster_layout() ? std::vector<bool>{false} : std::vector<bool>{false, true};
  }

  store::Reply Ask(const std::vector<std::string_view>& words) {
    std::vector<std::string> named;
    for (const std::string_view word : words) named.push_back(WithService(word));
    return Spelled::Ask({named.begin(), named.end()});
  }
  std::string Value(std::string_view key) { return Spelled::Value(WithService(key)); }
  int64_t Ttl(std::string_view key) { return Spelled::Ttl(WithService(key)); }

  // Runs the operation repeatedly after `setup` on an empty server, failing its first request, then
  // its second, and so on. Expects that it returns each failure and succeeds if no request fails.
  // Returns the number of its requests.
  size_t ExpectFailuresPassedOn(const std::function<void()>& setup, const Operation& operation) {
    this->Ask({"FLUSHALL"});
    setup();
    EXPECT_TRUE(operation(this->store()).ok()) << "and the server has its scripts from now on";
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

  // Returns the commands that the operation sends, a line per command.
  std::vector<std::string> LogOf(const Operation& operation) {
    tests::InterceptedStore watched(this->store());
    (void)operation(watched);
    return Spelled::Documented(watched.log());
  }

  // Runs the operation, and `meanwhile` before its request with that index, which it must have.
  absl::Status RunWith(size_t index, const std::function<void()>& meanwhile,
                       const Operation& operation) {
    tests::InterceptedStore watched(this->store());
    watched.on_request = [&](size_t now) -> std::optional<absl::StatusOr<store::Reply>> {
      if (now == index) meanwhile();
      return std::nullopt;
    };
    const absl::Status status = operation(watched);
    EXPECT_GT(watched.requests(), index) << "nothing ran meanwhile";
    return status;
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

 private:
  // Returns the documented key of an event in the layout of the test, any other word unchanged. The
  // documented key has the service only as the first part of the dedupe key.
  static std::string WithService(std::string_view word) {
    static const std::string& prefix = *new std::string(EventKeys().Event({"", ""}));
    if (!Spelled::in_cluster_layout() || !word.starts_with(prefix)) return std::string(word);
    const std::string_view dedupe_key = word.substr(prefix.size());
    const EventKeys keys(kDefaultEventPrefix, store::KeyLayout::kCluster);
    return keys.Event({dedupe_key.substr(0, dedupe_key.find(':')), dedupe_key});
  }
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_TESTS_SUPPORT_STUDIO_TEST_H_
