// Compares the cluster client's choice of slots and nodes with the memory engine's cluster. The two
// implementations share the command table and nothing else.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/cluster_redirect.h"
#include "redouble/backends/redis/fsm/cluster/cluster_route.h"
#include "redouble/backends/redis/fsm/cluster/slot_map.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using memory::ClusterView;
using store::Command;
using store::CommandId;
using store::Reply;
using Words = std::vector<std::string>;

// Three shards of different sizes; shard i listens on port 7000 + i.
bool NoKey(std::string_view) { return false; }

memory::ClusterOptions ThreeShards(size_t self = 0) {
  memory::ClusterOptions options;
  options.shards.clear();
  constexpr int kBounds[] = {0, 3000, 9000, base::kClusterSlots};
  for (int i = 0; i < 3; ++i) {
    memory::ClusterShard shard;
    shard.master.host = "127.0.0.1";
    shard.master.port = 7000 + i;
    shard.slots = {{kBounds[i], kBounds[i + 1] - 1}};
    options.shards.push_back(shard);
  }
  options.self = self;
  return options;
}

std::vector<std::string_view> Views(const Words& words) { return {words.begin(), words.end()}; }

Command MakeCommand(std::span<const std::string_view> words) {
  return Command::Named(words[0], words.subspan(1));
}

rc::Gen<std::string> AnyWord() {
  return rc::gen::elementOf(Words{"a",     "b",     "{t}a",    "{t}b", "{t}c",  "k:1",  "k:2",
                                  "0",     "1",     "2",       "3",    "STORE", "KEYS", "STREAMS",
                                  "COUNT", "BLOCK", "GROUP",   ">",    "$",     "LEFT", "{}x",
                                  "{",     "",      "WEIGHTS", "GET",  "-1",    "BY",   "\xff"});
}

rc::Gen<Words> AnyArguments() { return rc::gen::container<Words>(AnyWord()); }

// A command of the table with random arguments.
rc::Gen<Words> AnyCommand() {
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange<size_t>(0, store::kCommandCount), AnyArguments()),
      [](std::pair<size_t, Words> drawn) {
        const store::CommandSpec& spec = store::AllCommands()[drawn.first];
        Words words;
        if (spec.is_subcommand()) words.emplace_back(spec.container());
        words.emplace_back(spec.subcommand());
        words.insert(words.end(), drawn.second.begin(), drawn.second.end());
        return words;
      });
}

RC_GTEST_PROP(ClusterRouteProperty, ChoosesTheSlotThatTheEngineChooses, ()) {
  const ClusterView view(ThreeShards());
  const Words words = *AnyCommand();
  const std::vector<std::string_view> views = Views(words);
  const Command command = MakeCommand(views);
  const CommandId row = store::RowOf(command);
  RC_ASSERT(row != CommandId::kUnknown);
  ClusterView::Keys keys(view);
  keys.Add(store::SpecOf(row), command.arguments(), NoKey);
  const absl::StatusOr<Route> route = RouteOf(command);
  RC_ASSERT(route.ok() == (keys.verdict({}) != ClusterView::Verdict::kCrossSlot));
  if (!route.ok()) return;
  RC_ASSERT((route->kind == Route::Kind::kSlot) == (keys.slot() != ClusterView::kNoSlot));
  if (route->kind == Route::Kind::kSlot) RC_ASSERT(route->slot == keys.slot());
}

RC_GTEST_PROP(ClusterRouteProperty, TakesTheTransactionsThatTheEngineTakes, ()) {
  const ClusterView view(ThreeShards());
  const std::vector<Words> lines = *rc::gen::container<std::vector<Words>>(AnyCommand());
  std::vector<std::vector<std::string_view>> views;
  for (const Words& words : lines) views.push_back(Views(words));
  std::vector<Command> commands;
  ClusterView::Keys keys(view);
  bool concerns_all = false;
  bool crosses = false;
  for (const std::vector<std::string_view>& words : views) {
    const Command& command = commands.emplace_back(MakeCommand(words));
    keys.Add(store::SpecOf(store::RowOf(command)), command.arguments(), NoKey);
    const absl::StatusOr<Route> route = RouteOf(command);
    crosses = crosses || !route.ok();
    concerns_all = concerns_all || (route.ok() && (route->kind == Route::Kind::kAllMasters ||
                                                   route->kind == Route::Kind::kScan));
  }
  const absl::StatusOr<Route> route = RouteOfTransaction(commands);
  crosses = crosses || keys.verdict({}) == ClusterView::Verdict::kCrossSlot;
  RC_ASSERT(route.ok() == (!crosses && !concerns_all));
  if (!route.ok() || keys.slot() == ClusterView::kNoSlot) return;
  RC_ASSERT(route->slot == keys.slot());
}

base::Task<absl::StatusOr<Reply>> Execute(store::Store& store, const Command& command) {
  co_return co_await store.Execute(command);
}

Reply Ask(store::Store& store, const Words& words) {
  const std::vector<std::string_view> views = Views(words);
  const Command command = MakeCommand(views);
  return base::Run(Execute(store, command)).value();
}

// Three engines, each a master of the same cluster.
class Engines {
 public:
  Engines() {
    for (size_t self = 0; self < 3; ++self) {
      memory::EngineOptions options;
      options.cluster = ThreeShards(self);
      engines_.push_back(std::make_unique<memory::Engine>(clock_, options));
      sessions_.push_back(engines_.back()->Connect());
    }
  }
  store::Store& node(size_t index) { return *sessions_[index]; }

 private:
  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  std::vector<std::unique_ptr<memory::Engine>> engines_;
  std::vector<std::unique_ptr<store::Store>> sessions_;
};

TEST(ClusterRouteProperty, ReadsTheMapThatTheEngineTells) {
  Engines engines;
  const ClusterView view(ThreeShards());
  const absl::StatusOr<SlotMap> map =
      SlotMap::FromReply(Ask(engines.node(1), {"CLUSTER", "SLOTS"}), TcpAddress());
  ASSERT_THAT(map, IsOk());
  for (int slot = 0; slot < base::kClusterSlots; ++slot) {
    ASSERT_NE(map->MasterOf(slot), nullptr);
    EXPECT_EQ(map->MasterOf(slot)->port, 7000 + view.ShardOf(slot)) << slot;
  }
}

RC_GTEST_PROP(ClusterRouteProperty, GoesWhereTheEngineWouldSendItOn, ()) {
  Engines engines;
  const std::string key = *rc::gen::arbitrary<std::string>();
  const SlotMap map =
      SlotMap::FromReply(Ask(engines.node(0), {"CLUSTER", "SLOTS"}), TcpAddress()).value();
  const std::vector<std::string_view> views = {"GET", key};
  const TcpAddress expected = *map.MasterOf(RouteOf(MakeCommand(views))->slot);
  for (uint16_t node = 0; node < 3; ++node) {
    const Reply reply = Ask(engines.node(node), {"GET", key});
    const std::optional<Redirect> redirect = ReadRedirect(reply, TcpAddress());
    RC_ASSERT(redirect.has_value() == (expected.port != 7000 + node));
    if (redirect) RC_ASSERT(redirect->node == expected);
  }
}

// A request that keeps its result.
class Request final : public store::Request {
 public:
  Request(Kind kind, std::span<const Command> commands) : store::Request(kind, commands) {}
  std::optional<absl::StatusOr<Reply>> result;

 private:
  void OnComplete(absl::StatusOr<Reply>&& done) override { result.emplace(std::move(done)); }
};

// Runs a request through the cluster client's state machine, with the engines as nodes. If `stale`,
// the client's first slot map assigns all slots to the first node.
absl::StatusOr<Reply> RunOnCluster(Engines& engines, store::Request::Kind kind,
                                   std::span<const Command> commands, bool stale) {
  Options options;
  options.address = TcpAddress{"127.0.0.1", 7000};
  options.cluster = true;
  ClusterMachine machine(options);
  Request request(kind, commands);
  machine.Start(0);
  int64_t now_us = 0;
  bool told = false;
  while (!request.result) {
    const std::optional<ClusterAction> action = machine.NextAction();
    RC_ASSERT(action.has_value());
    if (action->kind == ClusterAction::Kind::kWake) {
      now_us = action->at_us;
      machine.Timer(now_us);
      continue;
    }
    store::Store& node = engines.node(machine.Address(action->node).port - 7000u);
    if (action->kind == ClusterAction::Kind::kAskMap) {
      const Reply self = Reply::Array({Reply::Bulk("127.0.0.1"), Reply::Integer(7000)});
      const Reply all = Reply::Array(
          {Reply::Array({Reply::Integer(0), Reply::Integer(base::kClusterSlots - 1), self})});
      const Reply slots = stale ? all : Ask(node, {"CLUSTER", "SLOTS"});
      machine.MapAnswered(action->node, Reply::Array({slots, Ask(node, {"CLUSTER", "INFO"})}),
                          now_us);
      if (!std::exchange(told, true)) machine.Submit(request, now_us);
      continue;
    }
    Request part(machine.Part(action->part).kind(), machine.Part(action->part).commands());
    node.Submit(part);
    machine.PartAnswered(action->part, *std::move(part.result), now_us);
  }
  return *std::move(request.result);
}

// Commands on a few keys, to which a single engine and a cluster must reply equally.
rc::Gen<Words> KeyCommand() {
  const auto key = rc::gen::elementOf(Words{"a", "b", "c", "{t}a", "{t}b", "k:1", "k:2"});
  return rc::gen::oneOf(rc::gen::map(key,
                                     [](std::string k) {
                                       return Words{"INCR", k};
                                     }),
                        rc::gen::map(key,
                                     [](std::string k) {
                                       return Words{"GET", k};
                                     }),
                        rc::gen::map(key,
                                     [](std::string k) {
                                       return Words{"LPUSH", k, "x"};
                                     }),
                        rc::gen::map(key,
                                     [](std::string k) {
                                       return Words{"APPEND", k, "1"};
                                     }),
                        rc::gen::map(key,
                                     [](std::string k) {
                                       return Words{"DEL", k};
                                     }),
                        rc::gen::just(Words{"MSET", "{t}a", "1", "{t}b", "2"}),
                        rc::gen::just(Words{"ECHO", "hello"}));
}

RC_GTEST_PROP(ClusterRouteProperty, AnswersAPipelineAsOneEngineDoes, ()) {
  base::VirtualClock clock(absl::FromUnixSeconds(1'700'000'000));
  memory::Engine plain(clock);
  const std::unique_ptr<store::Store> session = plain.Connect();
  Engines engines;
  const bool stale = *rc::gen::arbitrary<bool>();
  for (int round = 0; round < 3; ++round) {
    const auto lines = *rc::gen::nonEmpty(rc::gen::container<std::vector<Words>>(KeyCommand()));
    std::vector<std::vector<std::string_view>> views;
    for (const Words& words : lines) views.push_back(Views(words));
    std::vector<Command> commands;
    for (const auto& words : views) commands.push_back(MakeCommand(words));
    Request expected(store::Request::Kind::kPipeline, commands);
    session->Submit(expected);
    const absl::StatusOr<Reply> answered =
        RunOnCluster(engines, store::Request::Kind::kPipeline, commands, stale);
    if (!answered.ok()) RC_FAIL(answered.status().ToString());
    RC_ASSERT(*answered == **expected.result);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
