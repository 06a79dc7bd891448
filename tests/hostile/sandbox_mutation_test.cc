// Goal: whatever a script does, the engine goes on, and later scripts see the same globals.
//
// Mutates and combines the attempts of sandbox_attempts.txt. Each mutant runs as a script, as a
// function and as the body of a library. Environment variables: SANDBOX_SEED is the first seed,
// SANDBOX_SECONDS runs new seeds for so long instead of the few of the test.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/tests/fuzz/hostile_engine.h"
#include "redouble/tests/support/target/reply_text.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr char kFolder[] = "tests/hostile/";
constexpr int kMutantsOfOneSeed = 40;
constexpr uint64_t kSeeds = 5;

// Numbers at which sizes and positions overflow.
constexpr std::string_view kNumbers[] = {
    "0",    "-1",  "1e308",  "(0/0)",       "(1/0)",      "2^31",      "-2^31", "2147483647",
    "2^53", "255", "100000", "-2147483649", "4294967296", "'\\27Lua'", "nil"};

std::string FileText(const std::string& name) { return memory::ReadFile(kFolder + name).value(); }

// The scripts of the file.
std::vector<std::string> ReadAttempts() {
  std::vector<std::string> attempts;
  for (const absl::string_view line : absl::StrSplit(FileText("sandbox_attempts.txt"), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '@') {
      attempts.emplace_back();
    } else {
      absl::StrAppend(&attempts.back(), line, "\n");
    }
  }
  return attempts;
}

bool IsWordByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// Words, quoted strings, and single other bytes.
std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    if (IsWordByte(text[begin])) {
      while (end < text.size() && IsWordByte(text[end])) ++end;
    } else if (text[begin] == '\'') {
      while (end < text.size() && text[end] != '\'') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    }
    tokens.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

class Mutator {
  template <typename Pool>
  const auto& Pick(const Pool& pool) {
    return pool[rng_.Below(std::size(pool))];
  }

 public:
  Mutator(std::vector<std::string> attempts, uint64_t seed)
      : attempts_(std::move(attempts)), rng_(seed) {}

  std::string Make() {
    std::vector<std::string> tokens = Tokens(Pick(attempts_));
    for (uint64_t left = rng_.Below(6); left > 0 && !tokens.empty(); --left) Change(tokens);
    std::string body = absl::StrJoin(tokens, "");
    switch (rng_.Below(6)) {
      case 0:
        return absl::StrCat("pcall(function() ", body, " end)\n", Pick(attempts_));
      case 1:
        return absl::StrCat("return coroutine.wrap(function() ", body, " end)()");
      case 2:
        return absl::StrCat("return {xpcall(function() ", body, " end, function(e) ",
                            Pick(attempts_), " end)}");
      default:
        return body;
    }
  }

 private:
  void Change(std::vector<std::string>& tokens) {
    const size_t at = rng_.Below(tokens.size());
    const auto position = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (rng_.Below(5)) {
      case 0:
        tokens.erase(position);
        break;
      case 1:
        tokens.insert(position, tokens[rng_.Below(tokens.size())]);
        break;
      case 2:
        std::swap(tokens[at], tokens[rng_.Below(tokens.size())]);
        break;
      case 3:
        tokens[at] = std::string(Pick(kNumbers));
        break;
      default:
        const std::vector<std::string> others = Tokens(Pick(attempts_));
        tokens[at] = Pick(others);
    }
  }

  const std::vector<std::string> attempts_;
  base::Rng rng_;
};

std::string LibraryOf(std::string_view name, const std::string& function, const std::string& top) {
  return absl::StrCat("#!lua name=", std::string(name), "\n", top, "\nredis.register_function('",
                      std::string(name), "', function(KEYS, ARGV)\n", function, "\nend)");
}

class SandboxMutation : public testing::Test {
 protected:
  // What a script and a function see.
  std::vector<store::Reply> Probe() {
    engine_.Run({"FUNCTION", "LOAD", "REPLACE", LibraryOf("probe", probe_, "")});
    return {engine_.Run({"EVAL", probe_, "0"}), engine_.Run({"FCALL", "probe", "0"})};
  }

  void Try(const std::string& script) {
    engine_.Run({"EVAL", script, "1", "k", "a"});
    engine_.Run({"FUNCTION", "LOAD", "REPLACE", LibraryOf("door", script, "")});
    engine_.Run({"FCALL", "door", "1", "k", "a"});
    engine_.Run(
        {"FUNCTION", "LOAD", "REPLACE",
         LibraryOf("door", "", absl::StrCat("local function f()\n", script, "\nend\nf()"))});
  }

  void RunSeed(uint64_t seed) {
    Mutator mutator(ReadAttempts(), seed);
    for (int i = 0; i < kMutantsOfOneSeed; ++i) {
      const std::string script = mutator.Make();
      // A crash shows no script otherwise.
      if (std::getenv("SANDBOX_VERBOSE") != nullptr) std::cerr << script << "\n----\n";
      Try(script);
      ASSERT_EQ(Probe(), intact_) << "SANDBOX_SEED=" << seed << ", after this script:\n" << script;
    }
  }

  const std::string probe_ = FileText("sandbox_probe.lua");
  HostileEngine engine_;
  const std::vector<store::Reply> intact_ = Probe();
};

TEST_F(SandboxMutation, LeavesTheGlobalsIntact) {
  ASSERT_FALSE(intact_[0].is_error()) << ReplyText(intact_[0]);
  const char* first = std::getenv("SANDBOX_SEED");
  const char* seconds = std::getenv("SANDBOX_SECONDS");
  uint64_t seed = first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
  const uint64_t end = seed + kSeeds;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  std::cerr << "SANDBOX_SEED=" << seed << "\n";
  while (seconds == nullptr ? seed < end : std::chrono::steady_clock::now() < deadline) {
    RunSeed(seed++);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
