#include "redouble/tests/differential/effect_stream.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/core/store/resp/request_parser.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// A connection that no program uses.
constexpr int kOperator = 98;

// Appends the effects to the bytes of a log whose reader has selected database 0.
class LogWriter final : public memory::EffectSink {
 public:
  LogWriter() {
    const memory::Effect first[] = {{.words = {"PING"}}};
    std::string ignored;
    writer_.Append(first, /*is_atomic=*/false, ignored);
  }

  void OnEffects(std::span<const memory::Effect> effects, bool is_atomic) override {
    writer_.Append(effects, is_atomic, bytes_);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  memory::EffectWriter writer_{memory::EffectTargets::kLog};
  std::string bytes_;
};

std::vector<Words> CommandsOf(std::string_view bytes) {
  std::vector<Words> commands;
  store::RequestParser parser;
  while (!bytes.empty()) {
    if (parser.Parse(bytes, {}) != store::RequestParser::Progress::kCommand) {
      throw std::runtime_error(absl::StrCat("a broken log: ", parser.error()));
    }
    commands.emplace_back(parser.words().begin(), parser.words().end());
    bytes.remove_prefix(parser.consumed());
  }
  return commands;
}

bool IsRemoval(const Words& words) {
  return words.size() == 2 && (words[0] == "DEL" || words[0] == "UNLINK");
}

void SortRemovals(std::vector<Words>& commands) {
  for (auto begin = commands.begin(); begin != commands.end();) {
    const auto end = std::find_if_not(begin, commands.end(), IsRemoval);
    std::sort(begin, end);
    begin = std::find_if(end, commands.end(), IsRemoval);
  }
}

std::string TextOf(const std::vector<Words>& commands, size_t from) {
  std::string text;
  for (size_t i = from; i < std::min(commands.size(), from + 4); ++i) {
    absl::StrAppend(&text, "  ", JoinWords(commands[i]), "\n");
  }
  return text.empty() ? "  (nothing)\n" : text;
}

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kOperator, std::span(&command, 1))[0];
}

std::vector<std::string> ServerConfig(const std::vector<Words>& config) {
  // A server writes its log before it sends a reply, whenever it flushes the file to the disk.
  std::vector<std::string> lines = {"appendonly yes", "appendfsync no",
                                    "auto-aof-rewrite-percentage 0", "enable-debug-command yes"};
  for (const Words& line : config) lines.push_back(line[0] + " " + line[1]);
  return lines;
}

}  // namespace

// The engine whose effects are recorded since the last Reset.
class EffectStreamPair::Engine final : public Target {
 public:
  explicit Engine(std::vector<Words> config) : config_(std::move(config)) {}

  std::string name() const override { return "memory"; }
  void Reset(absl::Time now) override {
    target_.Reset(now);
    log_ = LogWriter();
    target_.engine().set_active_expire(false);
    for (const Words& line : config_) Ask(target_, {"CONFIG", "SET", line[0], line[1]});
    target_.engine().AddEffectSink(log_, memory::EffectTargets::kLog);
  }
  absl::Time now() const override { return target_.now(); }
  void SetTime(absl::Time now) override { target_.SetTime(now); }
  void Settle() override { target_.Settle(); }
  std::optional<absl::Time> NextDeadline() override { return target_.NextDeadline(); }
  std::vector<Reply> RunAll(int connection, std::span<const Words> commands) override {
    return target_.RunAll(connection, commands);
  }
  std::optional<Reply> Run(int connection, const Words& command) override {
    return target_.Run(connection, command);
  }
  std::optional<Reply> Poll(int connection) override { return target_.Poll(connection); }

  const std::string& log() const { return log_.bytes(); }

 private:
  const std::vector<Words> config_;
  LogWriter log_;
  MemoryTarget target_;
};

// The server, whose log is read from the place where it was at the last Reset.
class EffectStreamPair::Server final : public Target {
 public:
  explicit Server(const std::vector<Words>& config) : target_(ServerConfig(config)) {
    Ask(target_, {"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
    path_ = Ask(target_, {"CONFIG", "GET", "dir"}).elements()[1].text() +
            "/appendonlydir/appendonly.aof.1.incr.aof";
  }

  std::string name() const override { return "server"; }
  void Reset(absl::Time now) override {
    target_.Reset(now);
    // Selects database 0 in the log.
    Ask(target_, {"FLUSHALL"});
    begin_ = Read().size();
  }
  absl::Time now() const override { return target_.now(); }
  void SetTime(absl::Time now) override { target_.SetTime(now); }
  void Settle() override { target_.Settle(); }
  std::vector<Reply> RunAll(int connection, std::span<const Words> commands) override {
    return target_.RunAll(connection, commands);
  }
  std::optional<Reply> Run(int connection, const Words& command) override {
    return target_.Run(connection, command);
  }
  std::optional<Reply> Poll(int connection) override { return target_.Poll(connection); }

  std::string log() const { return Read().substr(begin_); }

 private:
  std::string Read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ServerTarget target_;
  std::string path_;
  size_t begin_ = 0;
};

EffectStreamPair::EffectStreamPair(std::vector<Words> config)
    : engine_(std::make_unique<Engine>(config)), server_(std::make_unique<Server>(config)) {}

EffectStreamPair::~EffectStreamPair() = default;

std::optional<std::string> EffectStreamPair::Compare(absl::FunctionRef<void(Target&)> run) {
  run(*engine_);
  run(*server_);
  std::vector<Words> actual = CommandsOf(engine_->log());
  std::vector<Words> expected = CommandsOf(server_->log());
  SortRemovals(actual);
  SortRemovals(expected);
  if (actual == expected) return std::nullopt;
  const auto [at, other] =
      std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end());
  const auto index = static_cast<size_t>(at - actual.begin());
  return absl::StrCat("effect ", index, "\nserver:\n", TextOf(expected, index), "engine:\n",
                      TextOf(actual, index));
}

}  // namespace redouble::inline v0_1::tests
