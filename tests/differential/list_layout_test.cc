// Goal: lists have the nodes and the encodings that each version of Redis gives them, whatever the
// commands and limits that made them. DUMP shows the nodes.
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;
using store::Version;

constexpr int kConnection = 1;
constexpr int kCommands = 7000;
constexpr uint64_t kSeed = 20261127;
constexpr std::array kKeys = {"a", "b", "c"};
// The values of list-max-listpack-size, each for a number of commands.
constexpr std::array kLimits = {"-2", "-1", "3", "-3", "8", "0", "1"};
constexpr int kCommandsOfLimit = 500;

struct Server {
  std::string_view name;  // "redis-7.0", or a judge.
  Version version;
};

// Draws commands on three lists, with elements whose sizes matter for nodes of 4 to 16 KiB.
class Commands {
 public:
  explicit Commands(uint64_t seed) : random_(seed) {}

  size_t Below(size_t bound) { return random_() % bound; }
  std::string Key() { return kKeys.at(Below(kKeys.size())); }
  // A number from `first` to `last`.
  std::string Number(int first, int last) {
    return std::to_string(first + static_cast<int>(Below(last - first + 1)));
  }

  Words Next() {
    switch (Below(16)) {
      case 0:
      case 1:
      case 2:
      case 13:
        return Push();
      case 3:
      case 4:
        return {"LINSERT", Key(), Below(2) == 0 ? "BEFORE" : "AFTER", Known(), Element()};
      case 5:
      case 6:
        return {"LSET", Key(), Number(-12, 11), Element()};
      case 7:
        return {End("POP"), Key()};
      case 8:
        return {End("POP"), Key(), Number(0, 11)};
      case 9:
        return {"LTRIM", Key(), Number(0, 3), Number(-4, -1)};
      case 10:
        return {"LREM", Key(), Number(-3, 3), Known()};
      case 11:
        return {"LMOVE", Key(), Key(), Side(), Side()};
      case 12:
        return {"SORT", Key(), "BY", "nosort", "STORE", Key()};
      case 14:
        return {"COPY", Key(), Key(), "REPLACE"};
      default:
        return {"LMPOP", "2", Key(), Key(), Side(), "COUNT", Number(1, 8)};
    }
  }

 private:
  Words Push() {
    Words words = {End("PUSH"), Key()};
    for (size_t count = Below(3) == 0 ? 1 + Below(12) : 1; count > 0; --count) {
      words.push_back(Element());
    }
    return words;
  }

  std::string End(std::string_view name) { return (Below(2) == 0 ? "L" : "R") + std::string(name); }
  std::string Side() { return Below(2) == 0 ? "LEFT" : "RIGHT"; }

  std::string Element() {
    constexpr std::array kIntegers = {"0", "127", "128", "-1", "99999", "1099511627776"};
    constexpr std::array kEdges = {60, 64, 4000, 4090, 8180, 8185, 8192, 8193, 9000, 20000};
    std::string element;
    const size_t kind = Below(20);
    if (kind < 5) {
      element = kIntegers.at(Below(kIntegers.size()));
    } else if (kind < 18) {
      element = std::string(Below(900), 'v') + std::to_string(Below(5));
    } else {
      element = std::string(kEdges.at(Below(kEdges.size())), 'w');
    }
    known_.at(Below(known_.size())) = element;
    return element;
  }
  // An element that was drawn before and may still be in a list.
  std::string Known() { return known_.at(Below(known_.size())); }

  std::mt19937_64 random_;
  std::array<std::string, 24> known_;
};

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kConnection, std::span(&command, 1))[0];
}

// Replaces a list by what the target itself loads of its dump.
void Reload(Target& target, const std::string& key) {
  const Reply dump = Ask(target, {"DUMP", key});
  if (!dump.is_nil()) Ask(target, {"RESTORE", key, "0", std::string(dump.text()), "REPLACE"});
}

class ListLayout : public testing::TestWithParam<Server> {};

TEST_P(ListLayout, IsThatOfTheServer) {
  const auto [name, version] = GetParam();
  std::vector<std::string> config;
  if (version != Version::kRedis70) config = JudgeConfig();
  const std::optional<std::string> program = ServerProgram(name);
  if (!program) GTEST_SKIP() << name << " is not there: run tools/judges";
  ServerTarget server(config, /*resp3=*/false, *program);
  memory::EngineOptions options;
  options.compatibility = version;
  MemoryTarget memory(options);
  const std::array<Target*, 2> targets = {&memory, &server};
  for (Target* target : targets) target->Reset(absl::FromUnixSeconds(1'800'000'000));
  Commands commands(kSeed);
  for (int step = 0; step < kCommands; ++step) {
    if (step % kCommandsOfLimit == 0) {
      const std::string limit = kLimits.at(step / kCommandsOfLimit % kLimits.size());
      for (Target* target : targets) {
        Ask(*target, {"FLUSHALL"});
        Ask(*target, {"CONFIG", "SET", "list-max-listpack-size", limit});
      }
    }
    const Words command = commands.Next();
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", step " + std::to_string(step) + ": " +
                 JoinWords(command).substr(0, 100));
    ASSERT_EQ(Ask(memory, command), Ask(server, command));
    if (commands.Below(10) == 0) {
      const std::string key = commands.Key();
      Reload(memory, key);
      Reload(server, key);
    }
    for (const std::string key : kKeys) {
      ASSERT_EQ(Ask(memory, {"OBJECT", "ENCODING", key}), Ask(server, {"OBJECT", "ENCODING", key}));
      const Reply of_memory = Ask(memory, {"DUMP", key});
      const Reply of_server = Ask(server, {"DUMP", key});
      ASSERT_TRUE(of_memory == of_server) << key << ": the dumps have " << of_memory.text().size()
                                          << " and " << of_server.text().size() << " bytes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, ListLayout,
                         testing::Values(Server{"redis-7.0", Version::kRedis70},
                                         Server{"redis-8.0", Version::kRedis80},
                                         Server{"valkey-8.0", Version::kValkey80},
                                         Server{"valkey-8.1", Version::kValkey81}),
                         [](const auto& info) { return TestName(info.param.name); });

}  // namespace
}  // namespace redouble::inline v0_1::tests
