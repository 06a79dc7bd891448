// The cache of an ExecMachine on a connection to a model of a server with CLIENT TRACKING: whatever
// other clients write, however the bytes are split and whenever the connection is lost, a reply is
// never older than the part of the server's output that the client has read.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/exec_connection_for_test.h"
#include "redouble/backends/redis/fsm/exec_machine.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Protocol;
using store::Reply;

// The values are numbers that only grow, so that a newer value of a key is a greater one.
class TrackingServer {
 public:
  explicit TrackingServer(bool broadcast) : broadcast_(broadcast) {}

  // Runs the commands in `bytes`; an incomplete one stays in front of the next bytes.
  void Read(std::string_view bytes) {
    input_ += bytes;
    store::RequestParser parser;
    size_t used = 0;
    while (parser.Parse(std::string_view(input_).substr(used), {}) ==
           store::RequestParser::Progress::kCommand) {
      Execute(std::vector<std::string>(parser.words().begin(), parser.words().end()));
      used += parser.consumed();
    }
    input_.erase(0, used);
  }

  // Another client, or this one, writes.
  void Write(const std::string& key) {
    values_[key] = ++last_value_;
    NoteChange(key);
    Invalidate(key);
  }
  void Flush() {
    for (auto& [key, value] : values_) {
      value = ++last_value_;
      NoteChange(key);
    }
    read_.clear();
    changed_.clear();
    Push(Reply::Nil());
  }
  // Redis sends broadcasts when it has run the commands of all clients.
  void EndTurn() {
    if (changed_.empty()) return;
    std::vector<Reply> keys;
    for (const std::string& key : changed_) keys.push_back(Reply::Bulk(key));
    changed_.clear();
    Push(Reply::Array(std::move(keys)));
  }
  // The connection is lost: nothing of it is left.
  void Lose() {
    input_.clear();
    output.clear();
    read_.clear();
    changed_.clear();
    NoteSent();
  }

  // The least value that a reply may have if the client has read all output but the last `unread`
  // bytes: the newest one whose invalidation, or whose reply if the client wrote it, it has read.
  int64_t LeastValue(const std::string& key, size_t unread) const {
    int64_t least = 0;
    const auto changes = changes_.find(key);
    if (changes == changes_.end()) return least;
    for (const auto& [value, position] : changes->second) {
      if (position <= written_ - unread) least = std::max(least, value);
    }
    return least;
  }

  std::string output;

 private:
  void Execute(const std::vector<std::string>& words) {
    if (words[0] == "SET") {
      // The invalidation of an own write follows its reply.
      values_[words[1]] = ++last_value_;
      Answer(Reply::Ok());
      changes_[words[1]].emplace_back(last_value_, written_);
      return Invalidate(words[1]);
    }
    std::vector<Reply> found;
    for (size_t i = 1; i < words.size(); ++i) {
      if (!broadcast_) read_.insert(words[i]);
      found.push_back(Reply::Bulk(absl::StrCat(values_[words[i]])));
    }
    Answer(words[0] == "GET" ? found[0] : Reply::Array(found));
  }
  // The value counts for the client once it has read the next message.
  void NoteChange(const std::string& key) {
    changes_[key].emplace_back(values_[key], kUnsent);
    unsent_.push_back(key);
  }
  void Invalidate(const std::string& key) {
    if (broadcast_) {
      changed_.insert(key);
    } else if (read_.erase(key) > 0) {
      Push(Reply::Array({Reply::Bulk(key)}));
    } else {
      NoteSent();
    }
  }
  void Push(Reply keys) {
    Answer(Reply::Push({Reply::Bulk("invalidate"), std::move(keys)}));
    NoteSent();
  }
  void NoteSent() {
    for (const std::string& key : unsent_) {
      for (auto& [value, position] : changes_[key]) {
        if (position == kUnsent) position = written_;
      }
    }
    unsent_.clear();
  }
  void Answer(const Reply& reply) {
    const size_t before = output.size();
    AppendReply(reply, Protocol::kResp3, output);
    written_ += output.size() - before;
  }

  static constexpr size_t kUnsent = SIZE_MAX;

  const bool broadcast_;
  std::string input_;
  std::map<std::string, int64_t> values_;
  std::map<std::string, std::vector<std::pair<int64_t, size_t>>> changes_;
  std::vector<std::string> unsent_;
  std::set<std::string> read_;
  std::set<std::string> changed_;
  int64_t last_value_ = 0;
  size_t written_ = 0;
};

// A request and the least value of each of its keys when it was submitted.
struct Read {
  Read(std::string text, std::vector<std::string> read_keys)
      : line(std::move(text)), request(line), keys(std::move(read_keys)) {}

  const std::string line;
  RequestForTest request;
  const std::vector<std::string> keys;
  std::vector<int64_t> least;
};

class Run {
 public:
  explicit Run(bool broadcast) : server_(broadcast), connection_(CachingOptions()) {}

  void Connect() {
    connection_.pending = {};
    const ConnectionAction action = connection_.machine.Resume(
        ConnectionEvent::Connected(connection_.now_us, Protocol::kResp3, true));
    connection_.pending = action.write;
  }
  void Reconnect() {
    server_.Lose();
    connection_.LoseForNow();
    Connect();
  }
  void SubmitRead(const std::vector<std::string>& keys) {
    std::string line = keys.size() == 1 ? "GET" : "MGET";
    for (const std::string& key : keys) absl::StrAppend(&line, " ", key);
    auto read = std::make_unique<Read>(line, keys);
    for (const std::string& key : keys) {
      read->least.push_back(server_.LeastValue(key, server_.output.size()));
    }
    connection_.Submit(read->request);
    reads_.push_back(std::move(read));
  }
  void SubmitWrite(const std::string& key) {
    writes_.push_back(std::make_unique<Read>("SET " + key + " x", std::vector<std::string>{key}));
    connection_.Submit(writes_.back()->request);
  }
  void WriteElsewhere(const std::string& key) { server_.Write(key); }
  void Flush() { server_.Flush(); }
  void EndTurn() { server_.EndTurn(); }

  // The network moves some bytes.
  void MoveToServer(size_t size) {
    const size_t before = connection_.sent.size();
    if (!connection_.pending.empty()) connection_.Take(size);
    server_.Read(std::string_view(connection_.sent).substr(before));
  }
  void MoveToClient(size_t size) {
    if (server_.output.empty()) return;
    const std::string bytes = server_.output.substr(0, size);
    server_.output.erase(0, bytes.size());
    RC_ASSERT(!connection_.Receive(bytes));
    connection_.EndTurn();
  }
  void Settle() {
    server_.EndTurn();
    while (!connection_.pending.empty() || !server_.output.empty()) {
      MoveToServer(SIZE_MAX);
      server_.EndTurn();
      MoveToClient(SIZE_MAX);
    }
  }

  // Every reply is at least as new as what had been read when the request was submitted.
  void Check() {
    for (const auto& read : reads_) {
      if (!read->request.completed() || !read->request.result().ok()) continue;
      const Reply& reply = *read->request.result();
      for (size_t i = 0; i < read->keys.size(); ++i) {
        const Reply& value = reply.is_array() ? reply.elements()[i] : reply;
        RC_ASSERT(std::stoll(value.text()) >= read->least[i]);
      }
    }
    std::erase_if(reads_, [](const auto& read) { return read->request.completed(); });
  }

  uint64_t hits() const { return counters_.cache_hits; }
  bool all_completed() const { return reads_.empty(); }

 private:
  ExecOptions CachingOptions() {
    ExecOptions options = TestOptions();
    options.connected = false;
    options.reconnects = true;
    options.command_timeout_us = ExecOptions::kNoTimeout;
    options.cache = TrackingCache::Limits{.max_bytes = 2000};
    options.counters = &counters_;
    return options;
  }

  Counters counters_;
  TrackingServer server_;
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<std::unique_ptr<Read>> writes_;
  ExecConnection connection_;
};

const std::vector<std::string> kKeys = {"a", "b", "c"};

void Step(Run& run) {
  const std::string key = kKeys[*rc::gen::inRange<size_t>(0, kKeys.size())];
  switch (*rc::gen::weightedElement<int>(
      {{6, 0}, {2, 1}, {2, 2}, {3, 3}, {6, 4}, {8, 5}, {1, 6}, {1, 7}, {2, 8}, {2, 9}})) {
    case 0:
      return run.SubmitRead({key});
    case 1:
      return run.SubmitRead(kKeys);
    case 2:
      return run.SubmitWrite(key);
    case 3:
      return run.WriteElsewhere(key);
    case 4:
      return run.MoveToServer(*rc::gen::inRange<size_t>(1, 80));
    case 5:
      return run.MoveToClient(*rc::gen::inRange<size_t>(1, 80));
    case 6:
      return run.Flush();
    case 7:
      return run.Reconnect();
    case 8:
      return run.EndTurn();
    default:
      return run.Settle();
  }
}

void CheckFreshness(bool broadcast) {
  Run run(broadcast);
  run.Connect();
  const int steps = *rc::gen::inRange(1, 120);
  for (int i = 0; i < steps; ++i) {
    Step(run);
    run.Check();
  }
  run.Settle();
  run.Check();
  RC_ASSERT(run.all_completed());
  // In peace, one read fills the cache, and the next one costs nothing.
  for (const std::string& key : kKeys) {
    run.SubmitRead({key});
    run.Settle();
    const uint64_t hits = run.hits();
    run.SubmitRead({key});
    run.Check();
    RC_ASSERT(run.hits() == hits + 1);
    RC_ASSERT(run.all_completed());
  }
  RC_CLASSIFY(run.hits() > kKeys.size(), "hits in between");
}

RC_GTEST_PROP(TrackingProperty, AReplyIsNeverOlderThanTheInvalidationsThatWereRead, ()) {
  CheckFreshness(/*broadcast=*/false);
}

RC_GTEST_PROP(TrackingProperty, NorWithBroadcasts, ()) { CheckFreshness(/*broadcast=*/true); }

}  // namespace
}  // namespace redouble::inline v0_1::redis
