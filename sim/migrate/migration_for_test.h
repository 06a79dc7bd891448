// MigrationTest: two servers, a single one and a cluster, for the tests of migrations.
//
// Thread-safety: one thread. For tests only.
#ifndef REDOUBLE_SIM_MIGRATE_MIGRATION_FOR_TEST_H_
#define REDOUBLE_SIM_MIGRATE_MIGRATION_FOR_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/migrate/key_value.h"
#include "redouble/sim/migrate/migration.h"

namespace redouble::inline v0_1::sim {

using store::KeyLayout;
using store::Reply;

inline constexpr LayoutPair kToCluster{KeyLayout::kDocumented, KeyLayout::kCluster};
inline constexpr LayoutPair kToDocumented{KeyLayout::kCluster, KeyLayout::kDocumented};
inline constexpr store::KeyBinding kPrefixes[] = {{"status_prefix", "status"},
                                                  {"observation_prefix", "observations"},
                                                  {"feed_prefix", "studio"},
                                                  {"dlq_prefix", "worker"},
                                                  {"workflow_prefix", "flow"}};
inline constexpr const char* kId = "0b5c1f4e-8a0d-4a4f-9a6e-3f1d2c4b5a60";

// A server without and one with the slots of a cluster, on one clock.
class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    cluster_engine_ = std::make_unique<memory::Engine>(clock_, options);
    cluster_ = cluster_engine_->Connect();
    single_ = engine_.Connect();
  }

  static Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      co_return co_await store.Execute(command);
    };
    Reply reply = base::Run(send()).value();
    EXPECT_FALSE(reply.is_error()) << words[0];
    return reply;
  }

  // Keys of each type, with and without deadline, and a key of another program.
  void FillRelayna() { Fill(*single_); }
  static void Fill(store::Store& store) {
    Ask(store, {"RPUSH", "status:history:t1", "{\"a\":1}", "{\"a\":2}"});
    Ask(store, {"EXPIRE", "status:history:t1", "86400"});
    Ask(store, {"SET", "status:event:t1:5f2d", "1", "PX", "86400000"});
    Ask(store, {"SADD", "status:children:t1", "t3", "t2"});
    Ask(store, {"RPUSH", "studio:feed", "{}"});
    Ask(store, {"SET", "studio:event:c:1", "1"});
    Ask(store, {"HSET", "flow:workflow:contract:pay:inflight:t1", "s1", "x", "s0", ""});
    Ask(store, {"ZADD", "flow:workflow:run:t1", "1.5", "b", "-inf", "a"});
    Ask(store, {"SET", "other", "1"});
  }

  static void FillStream(store::Store& store, std::string_view key) {
    for (const char* id : {"1-0", "2-0", "3-0", "7-0"}) {
      Ask(store, {"XADD", key, id, "f", id, "g", ""});
    }
    Ask(store, {"XGROUP", "CREATE", key, "g", "0"});
    Ask(store, {"XREADGROUP", "GROUP", "g", "c1", "COUNT", "1", "STREAMS", key, ">"});
    Ask(store, {"XREADGROUP", "GROUP", "g", "c2", "COUNT", "1", "STREAMS", key, ">"});
    Ask(store, {"XGROUP", "CREATECONSUMER", key, "g", "idle"});
    Ask(store, {"XDEL", key, "2-0"});
    Ask(store, {"XGROUP", "CREATE", key, "h", "$", "ENTRIESREAD", "90"});
  }

  static Migration Relayna(LayoutPair layouts) {
    return Migration::Create("relayna", layouts, kPrefixes).value();
  }
  static absl::StatusOr<CopyReport> Copy(const Migration& migration, store::Store& from,
                                         store::Store& to, CopyOptions options = {}) {
    return base::Run(migration.Copy(from, to, std::move(options)));
  }
  static VerifyReport Verify(const Migration& migration, store::Store& from, store::Store& to) {
    return base::Run(migration.Verify(from, to)).value();
  }
  static std::optional<KeyValue> Read(store::Store& store, std::string_view key) {
    const std::string one[] = {std::string(key)};
    return base::Run(ReadKeys(store, one)).value().front();
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'778'335'382)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Engine> cluster_engine_;
  std::unique_ptr<memory::Session> single_;
  std::unique_ptr<memory::Session> cluster_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_MIGRATION_FOR_TEST_H_
