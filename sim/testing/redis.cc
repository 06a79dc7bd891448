#include "redouble/sim/testing/redis.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/command_line.h"
#include "redouble/sim/fault/faulty_store.h"
#include "redouble/sim/scenario/keyspace.h"

namespace redouble::inline v0_1::testing {
namespace {

// The command with its name in upper case.
std::string LineOf(const store::Command& command) {
  const std::string name = absl::AsciiStrToUpper(base::ToAbsl(command.name()));
  std::vector<std::string_view> words = {name};
  words.insert(words.end(), command.arguments().begin(), command.arguments().end());
  return store::CommandLine(words);
}

sim::FaultRule Nth(sim::Fault fault, std::string_view command, int64_t nth) {
  return {.fault = fault, .command = std::string(command), .nth = nth};
}

}  // namespace

// A session, behind the faults of the test and a log of the commands.
class Redis::Connection final : public store::Store {
 public:
  Connection(Redis& redis, std::vector<sim::FaultRule> faults)
      : redis_(redis),
        session_(redis.engine_.Connect()),
        faulty_(*session_, redis.clock_, {.faults = std::move(faults)}) {}

  void Submit(store::Request& request) override {
    for (const store::Command& command : request.commands()) {
      redis_.commands_.push_back(LineOf(command));
    }
    faulty_.Submit(request);
  }

 private:
  Redis& redis_;
  const std::unique_ptr<memory::Session> session_;
  sim::FaultyStore faulty_;
};

Redis::Redis(RedisOptions options)
    : print_on_failure_(options.print_on_failure),
      clock_(options.start),
      engine_(clock_, std::move(options.engine)),
      look_(engine_.ConnectTrusted()) {}

Redis::Redis(const std::string& path, RedisOptions options, const memory::RdbLoadOptions& load)
    : Redis(std::move(options)) {
  const absl::StatusOr<memory::RdbLoadReport> report = memory::LoadRdbFile(engine_, path, load);
  if (!report.ok()) ADD_FAILURE() << report.status();
}

Redis Redis::FromRdb(const std::string& path, RedisOptions options,
                     const memory::RdbLoadOptions& load) {
  return Redis(path, std::move(options), load);
}

Redis::~Redis() {
  if (!print_on_failure_ || !::testing::Test::HasFailure()) return;
  std::fprintf(stderr, "The keyspace of the failed test:\n%s\n", Dump().c_str());
}

std::unique_ptr<store::Store> Redis::Connect(std::vector<sim::FaultRule> faults) {
  return std::make_unique<Connection>(*this, std::move(faults));
}

store::Reply Redis::Do(std::span<const std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  return Run(views);
}

store::Reply Redis::Run(std::span<const std::string_view> words) const {
  if (words.empty()) {
    ADD_FAILURE() << "Do({}) needs the name of a command";
    return store::Reply::Nil();
  }
  const auto command = store::Command::Named(words[0], words.subspan(1));
  base::Task<absl::StatusOr<store::Reply>> task =
      [](store::Store& store,
         const store::Command& sent) -> base::Task<absl::StatusOr<store::Reply>> {
    co_return co_await store.Execute(sent);
  }(*look_, command);
  task.Start();
  if (!task.done()) {
    ADD_FAILURE() << LineOf(command) << " blocks; use Await";
    return store::Reply::Nil();
  }
  absl::StatusOr<store::Reply> reply = task.TakeResult();
  EXPECT_TRUE(reply.ok()) << LineOf(command) << ": " << reply.status();
  return reply.ok() ? *std::move(reply) : store::Reply::Nil();
}

std::optional<std::string> Redis::Get(std::string_view key) const {
  const store::Reply reply = Ask("GET", key);
  if (reply.is_bulk()) return std::string(reply.text());
  EXPECT_TRUE(reply.is_nil()) << "GET " << key << ": " << reply.DebugString();
  return std::nullopt;
}

::testing::AssertionResult Redis::CheckGet(std::string_view key, std::string_view expected) const {
  const store::Reply reply = Ask("GET", key);
  if (reply.is_bulk() && reply.text() == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "the value of " << key << " is " << reply.DebugString() << ", expected: " << expected;
}

bool Redis::Exists(std::string_view key) const { return Ask("EXISTS", key).integer() == 1; }

std::string Redis::Type(std::string_view key) const { return std::string(Ask("TYPE", key).text()); }

std::optional<absl::Duration> Redis::Ttl(std::string_view key) const {
  const int64_t milliseconds = Ask("PTTL", key).integer();
  if (milliseconds == -2) return std::nullopt;
  return milliseconds == -1 ? absl::InfiniteDuration() : absl::Milliseconds(milliseconds);
}

std::vector<std::string> Redis::Keys(std::string_view pattern) const {
  std::vector<std::string> keys;
  for (const store::Reply& key : Ask("KEYS", pattern).elements()) keys.emplace_back(key.text());
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string Redis::Dump() const {
  const absl::StatusOr<sim::Keyspace> keyspace = base::Run(sim::DumpKeyspace(*look_));
  if (!keyspace.ok()) return absl::StrCat("cannot be read: ", keyspace.status().ToString());
  return sim::KeyspaceToJson(*keyspace).dump(2);
}

void PrintTo(const Redis& redis, std::ostream* os) { *os << "a Redis with " << redis.Dump(); }

sim::FaultRule FailNth(std::string_view command, int64_t nth, std::string_view text) {
  sim::FaultRule rule = Nth(sim::Fault::kErrorReply, command, nth);
  rule.error = std::string(text);
  return rule;
}

sim::FaultRule LoseNth(std::string_view command, int64_t nth) {
  return Nth(sim::Fault::kDropRequest, command, nth);
}

sim::FaultRule LoseNthReply(std::string_view command, int64_t nth) {
  return Nth(sim::Fault::kDropReply, command, nth);
}

sim::FaultRule DelayNth(std::string_view command, int64_t nth, absl::Duration delay) {
  sim::FaultRule rule = Nth(sim::Fault::kDelay, command, nth);
  rule.duration = delay;
  return rule;
}

}  // namespace redouble::inline v0_1::testing
